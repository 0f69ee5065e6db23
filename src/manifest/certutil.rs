//! What `certutil -hashfile FILE ALGORITHM` of Windows shows, in any language.
//!
//! ```text
//! SHA256 hash of a.txt:
//! 5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03
//! CertUtil: -hashfile command completed successfully.
//! ```
//! Older Windows writes `hash of file a.txt` and blanks between the bytes of the digest.

use super::decoder::{Context, Grammar, Records};
use super::detect::Sample;
use super::evidence::AlgorithmEvidence;
use super::json_text::name_of_bytes;
use super::lines::trim_blanks;
use super::{Claim, Content, Malformed};
use crate::algorithm::Algorithm;
use crate::hex;
use crate::relpath::RelPath;

/// What stands between the algorithm and the name. Behind the first of them a name may begin that
/// itself begins with the word for file.
const BETWEEN: &[&str] = &[
    " hash of ",
    "-Hash von ",
    " hachage de ",
    " hash de ",
    " hash di ",
    "-hash van ",
    " hash av ",
];

const FILE: &[u8] = b"file ";

/// What begins what certutil says of itself.
const OWN: &[u8] = b"CertUtil: ";

/// What begins its last line on a file, which goes on in the language of the system.
const CLOSING: &[u8] = b"CertUtil: -hashfile";

/// So many hexadecimal digits together may be a digest, which no closing line holds.
const SHORTEST_DIGEST: usize = 32;

pub(super) fn begins(sample: Sample<'_>) -> bool {
    let mut lines = sample.bytes.split(|&byte| byte == b'\n');
    let mut next = || {
        let line = lines.find(|line| !line.iter().all(u8::is_ascii_whitespace))?;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    };
    let (first, second) = (next().unwrap_or_default(), next().unwrap_or_default());
    heading(first).is_some_and(|(algorithm, _)| {
        digits(second).is_some_and(|digits| digits.len() == algorithm.digest_len_bytes() * 2)
    })
}

/// Splits `SHA256 hash of NAME:` into the algorithm and what follows it.
fn heading(line: &[u8]) -> Option<(Algorithm, &[u8])> {
    let text = trim_blanks(line).strip_suffix(b":")?;
    let len = text
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    let word = std::str::from_utf8(&text[..len]).ok()?;
    Some((word.parse().ok()?, &text[len..]))
}

/// A digest without the blanks between its bytes; `None` if the line is anything else.
fn digits(line: &[u8]) -> Option<Vec<u8>> {
    let digits: Vec<u8> = line.iter().copied().filter(|byte| *byte != b' ').collect();
    (!digits.is_empty() && hex::is_hex(&digits)).then_some(digits)
}

/// The name in a heading, and what else may be meant.
fn name(between: &[u8], is_old: bool) -> Result<(RelPath, Option<RelPath>), Malformed> {
    let known = BETWEEN
        .iter()
        .find_map(|words| between.strip_prefix(words.as_bytes()));
    let text = known
        .or_else(|| after_two_words(between))
        .ok_or(Malformed::NoShape)?;
    let text = text.strip_suffix(b" ").unwrap_or(text);
    let whole = name_of_bytes(text.to_vec())?;
    match text
        .strip_prefix(FILE)
        .map(|rest| name_of_bytes(rest.to_vec()))
    {
        Some(Ok(rest)) if is_old => Ok((rest, Some(whole))),
        Some(Ok(rest)) => Ok((whole, Some(rest))),
        _ => Ok((whole, None)),
    }
}

/// What is left of ` hash of NAME` in a language that is not known.
fn after_two_words(text: &[u8]) -> Option<&[u8]> {
    let mut rest = text.trim_ascii_start();
    for _ in 0..2 {
        let end = rest.iter().position(|byte| *byte == b' ')?;
        rest = &rest[end + 1..];
    }
    Some(rest)
}

/// Whether a line closes the lines of a file, and says nothing else.
fn is_closing(line: &[u8]) -> bool {
    let Some(said) = line.strip_prefix(CLOSING) else {
        return false;
    };
    let mut words = said.split(|byte| !byte.is_ascii_hexdigit());
    matches!(said, [b' ' | b'-', ..])
        && !trim_blanks(said).ends_with(b":")
        && !words.any(|word| word.len() >= SHORTEST_DIGEST)
}

pub(super) fn grammar(context: &Context) -> Box<dyn Grammar> {
    Box::new(Parser {
        algorithms: context.algorithms,
        open: None,
        failed: false,
    })
}

#[derive(Debug)]
struct Parser {
    algorithms: AlgorithmEvidence,
    /// A heading whose digest is still to come.
    open: Option<(u64, Algorithm, Vec<u8>)>,
    /// Whether the last line says that certutil failed; the next one may say why.
    failed: bool,
}

impl Parser {
    fn claim(&self, algorithm: Algorithm, between: &[u8], line: &[u8]) -> Result<Claim, Malformed> {
        let digits = digits(line).ok_or(Malformed::BadDigest {
            algorithm,
            expected: algorithm.digest_len_bytes() * 2,
        })?;
        let (name, other) = name(between, trim_blanks(line).contains(&b' '))?;
        let digest = self.algorithms.named(&algorithm.to_string(), &digits)?;
        let mut claim = Claim::bare(name).maybe_from_windows();
        claim.other_name = claim.other_name.or(other);
        claim.digests.extend(digest);
        Ok(claim)
    }
}

impl Grammar for Parser {
    fn line(&mut self, number: u64, text: &[u8], records: &mut Records) {
        if text.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let is_reason = std::mem::take(&mut self.failed) && text.starts_with(OWN);
        if let Some((line, algorithm, between)) = self.open.take() {
            records.push_claim(line, self.claim(algorithm, &between, text));
        } else if let Some((algorithm, between)) = heading(text) {
            self.open = Some((number, algorithm, between.to_vec()));
        } else if is_reason {
        } else if !is_closing(text) {
            records.push(number, Content::Malformed(Malformed::NoShape));
        } else if text.windows(3).any(|three| three == b"0x8") {
            self.failed = true;
            let reason = Malformed::Rule("certutil failed on a file".to_owned());
            records.push(number, Content::Malformed(reason));
        }
    }

    fn unusable(&mut self, number: u64, reason: Malformed, records: &mut Records) {
        self.close(records);
        records.push(number, Content::Malformed(reason));
    }

    fn end(&mut self, _number: u64, records: &mut Records) {
        self.close(records);
    }
}

impl Parser {
    /// Gives up a heading whose digest has not come.
    fn close(&mut self, records: &mut Records) {
        if let Some((line, ..)) = self.open.take() {
            records.push(line, Content::Malformed(Malformed::NoField("digest")));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::manifest::Format;
    use crate::manifest::json_entry::testing::{any_text, contents, shown};

    const MD5: &str = "b1946ac92492d2347c6235b4d2611184";
    const SPACED: &str = "b1 94 6a c9 24 92 d2 34 7c 62 35 b4 d2 61 11 84";

    fn claim(text: &str) -> (String, Option<String>) {
        let text = text.replace("H!", MD5).replace("S!", SPACED);
        match &contents(text.as_bytes(), None)[..] {
            [Content::Claim(claim)] => {
                assert_eq!(claim.digests.len(), 1);
                let other = claim.other_name.as_ref().map(ToString::to_string);
                (claim.name.to_string(), other)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_name_is_found_in_every_language() {
        for heading in [
            "MD5 hash of a b.txt:",
            "MD5-Hash von a b.txt:",
            "MD5 hachage de a b.txt :",
            "MD5 hash de a b.txt:",
            "MD5 hash di a b.txt:",
            "MD5 hasz pliku a b.txt:",
        ] {
            let closing = "CertUtil: -hashfile command completed successfully.";
            let text = format!("{heading}\r\nH!\r\n{closing}\r\n");
            assert_eq!(claim(&text), ("a b.txt".to_owned(), None), "{heading}");
        }
    }

    #[test]
    fn old_windows_says_file_and_a_name_may_begin_so() {
        let some = |name: &str| Some(name.to_owned());
        assert_eq!(
            claim("MD5 hash of file a:\nS!\n"),
            ("a".to_owned(), some("file a"))
        );
        assert_eq!(
            claim("MD5 hash of file a:\nH!\n"),
            ("file a".to_owned(), some("a"))
        );
        assert_eq!(
            claim("MD5 hash of d\\a:\nH!\n"),
            ("d\\\\a".to_owned(), some("d/a"))
        );
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let text = format!(
            "MD5 hash of a:\n{MD5}\nhello\nMD5 hash of b:\nCertUtil: x\nMD5 hash of c:\n{MD5}00\n\
             CertUtil: -hashfile command FAILED: 0x80070002 (WIN32: 2)\nMD5 hash of d:\n"
        );
        let wrong = "not a md5 digest, which has 32 hexadecimal digits";
        let expected = [
            "1:a".to_owned(),
            "3!not a checksum line".to_owned(),
            format!("4!{wrong}"),
            format!("6!{wrong}"),
            "8!certutil failed on a file".to_owned(),
            "9!no digest".to_owned(),
        ];
        assert_eq!(shown(&text, None), expected);
    }

    #[test]
    fn a_line_that_only_begins_like_the_closing_one_is_not_passed_over() {
        let no_shape = "3!not a checksum line";
        for line in [
            "CertUtil: MD5 hash of b:".to_owned(),
            format!("CertUtil: {MD5}"),
            format!("CertUtil: -hashfile {MD5}"),
            "CertUtil: -hashfile MD5 hash of b:".to_owned(),
            "CertUtil: -hashfiles b".to_owned(),
        ] {
            let text = format!("MD5 hash of a:\n{MD5}\n{line}\n");
            assert_eq!(shown(&text, None), ["1:a", no_shape], "{line}");
        }
    }

    #[test]
    fn a_failure_is_named_once_with_its_reason() {
        let text = format!(
            "MD5 hash of a:\n{MD5}\nCertUtil: -hashfile command FAILED: 0x80070002 (WIN32: 2)\n\
             CertUtil: The system cannot find the file specified.\nCertUtil: more\n"
        );
        let expected = [
            "1:a",
            "3!certutil failed on a file",
            "5!not a checksum line",
        ];
        assert_eq!(shown(&text, None), expected);
    }

    #[test]
    fn other_texts_are_not_taken_for_it() {
        for text in [
            "MD5 hash of a:\nhello\n",
            "MD5 hash of a:\n00\n",
            "MD5 (a) = b1946ac92492d2347c6235b4d2611184\n",
            "The hash of a:\nb1946ac92492d2347c6235b4d2611184\n",
        ] {
            let sample = Sample {
                bytes: text.as_bytes(),
                complete: true,
                list_name: None,
            };
            assert!(!begins(sample), "{text}");
        }
    }

    proptest! {
        #[test]
        fn anything_is_read_to_its_end(text in any_text(&[
            "MD5 hash of a:", "\n", "b1946ac92492d2347c6235b4d2611184", "CertUtil: ", "0x8", "file ", " ", ":",
        ])) {
            contents(&text, Some(Format::Certutil));
        }
    }
}
