//! Digests as in subresource integrity: `sha256-BASE64`, with a name behind them.
//!
//! ```text
//! line = INTEGRITY *(SP INTEGRITY) [SP [SP | "*"] NAME] LF
//! INTEGRITY = ("md5" | "sha1" | "sha256" | "sha384" | "sha512") "-" BASE64 ["?" OPTIONS]
//! ```
//!
//! Browsers take the strongest of several; here all of them must match. A list of one line without a
//! name is of the file that the list is named after. Source: W3C Subresource Integrity, 3.5, and
//! npm's package-lock.json for the two old algorithms.

use super::decoder::{self, Context, Records};
use super::evidence::AlgorithmEvidence;
use super::{Claim, ClaimedDigest, Malformed};
use super::{bare, plain};
use crate::algorithm::Algorithm;
use crate::relpath::RelPath;

const ALGORITHMS: [Algorithm; 5] = [
    Algorithm::Md5,
    Algorithm::Sha1,
    Algorithm::Sha256,
    Algorithm::Sha384,
    Algorithm::Sha512,
];

#[derive(Debug)]
struct Grammar {
    algorithms: AlgorithmEvidence,
    /// What a line without a name is of.
    list_is_of: Option<RelPath>,
}

/// The grammar of these lists.
pub(super) fn grammar(context: &Context) -> Box<dyn decoder::Grammar> {
    let list_is_of = context.list_name.as_deref().and_then(bare::name_of_file);
    Box::new(Grammar {
        algorithms: context.algorithms,
        list_is_of,
    })
}

/// Whether a line begins with such a digest.
pub(super) fn is_entry(line: &[u8]) -> bool {
    integrity(line).is_some()
}

/// The algorithm and the base64 of the digest that a text begins with, and what follows it.
fn integrity(text: &[u8]) -> Option<(Algorithm, &[u8], &[u8])> {
    let end = text.iter().position(|&byte| byte == b' ');
    let (word, rest) = text.split_at(end.unwrap_or(text.len()));
    let options = word.iter().position(|&byte| byte == b'?');
    let word = &word[..options.unwrap_or(word.len())];
    let dash = word.iter().position(|&byte| byte == b'-')?;
    let (name, base64) = (&word[..dash], &word[dash + 1..]);
    let algorithm = ALGORITHMS
        .into_iter()
        .find(|algorithm| algorithm.info().name.as_bytes() == name)?;
    let len = algorithm.digest_len_bytes().div_ceil(3) * 4;
    (base64.len() == len).then_some((algorithm, base64, rest))
}

impl decoder::Grammar for Grammar {
    fn line(&mut self, number: u64, text: &[u8], records: &mut Records) {
        plain::entry_line(number, text, records, |text| self.claim(text));
    }
}

impl Grammar {
    fn claim(&mut self, text: &[u8]) -> Result<Claim, Malformed> {
        let mut claim = Claim::bare(RelPath::default());
        let mut rest = text;
        let mut digests = 0;
        while let Some((algorithm, base64, behind)) = integrity(rest) {
            claim.digests.extend(self.digest(algorithm, base64)?);
            digests += 1;
            rest = behind.strip_prefix(b" ").unwrap_or(behind);
        }
        if digests == 0 {
            return Err(Malformed::NoShape);
        }
        let name = match rest {
            // Once only: two such lines cannot both be of that file.
            [] => return self.nameless(claim),
            [b' ' | b'*', name @ ..] => name,
            name => name,
        };
        self.list_is_of = None;
        claim.name = plain::name(name, false)?;
        Ok(claim.maybe_from_windows())
    }

    fn nameless(&mut self, claim: Claim) -> Result<Claim, Malformed> {
        let name = self.list_is_of.take().ok_or(Malformed::EmptyName)?;
        Ok(Claim { name, ..claim })
    }

    fn digest(
        &self,
        algorithm: Algorithm,
        base64: &[u8],
    ) -> Result<Option<ClaimedDigest>, Malformed> {
        self.algorithms.named(algorithm.info().name, base64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::testing::{
        asking, called, in_format, made_of, no_hints, read_to_the_end, shown,
    };
    use super::*;
    use proptest::prelude::*;

    const SHA256: &str = "sha256-LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE=";
    const SHA1: &str = "sha1-EfatjsUqKYSrqv18O1FlA3hcIHI=";

    fn read(list: &str) -> Vec<String> {
        let list = list.replace("S256!", SHA256).replace("S1!", SHA1);
        let (format, records) = shown(&list, &called("x.js.sri"));
        assert_eq!(format, Format::Sri, "{list}");
        records
    }

    #[test]
    fn all_digests_before_the_name_are_kept() {
        assert_eq!(
            read("S256! a b\nS1! S256!?ct=text/js  c\nS256! *d\n"),
            ["1:a b sha256", "2:c sha1 sha256", "3:d sha256"]
        );
    }

    #[test]
    fn one_line_without_a_name_is_of_the_file_that_the_list_is_named_after() {
        assert_eq!(read("S256!\n"), ["1:x.js sha256"]);
        assert_eq!(read("S256! S1!\n"), ["1:x.js sha256 sha1"]);
        assert_eq!(read("S256!\nS1!\n")[1], "2!the name is empty");
        assert_eq!(read("S256! a\nS1!\n")[1], "2!the name is empty");
        assert_eq!(shown(SHA256, &no_hints()).1, ["1!the name is empty"]);
    }

    #[test]
    fn a_wrong_length_or_alphabet_is_refused() {
        let mut bad = SHA256.to_owned();
        bad.replace_range(10..11, "!");
        let list = format!("{bad} a\n{SHA256}= a\nsha512-AA== a\n");
        assert_eq!(
            shown(&list, &in_format(Format::Sri)).1,
            [
                "1!not a sha256 digest, which has 64 hexadecimal digits",
                "2!not a checksum line",
                "3!not a checksum line"
            ]
        );
    }

    #[test]
    fn only_what_was_asked_for_is_taken() {
        let list = format!("{SHA1} {SHA256} a\n");
        assert_eq!(shown(&list, &asking(Algorithm::Sha1)).1, ["1:a sha1"]);
        assert_eq!(shown(&list, &asking(Algorithm::Sm3)).1, ["1:a"]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(list in made_of(&[
            "sha256-", "LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE=", "?", "sha1-EfatjsUqKYSrqv18O1FlA3hcIHI=",
        ])) {
            read_to_the_end(&list, Format::Sri)?;
        }
    }
}
