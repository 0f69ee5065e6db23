//! Manifests of Gentoo's repositories (GLEP 74).
//!
//! ```text
//! line = TYPE SP PATH SP SIZE 1*(SP ALGORITHM SP HEX)      TYPE = DATA, MANIFEST, EBUILD, MISC, AUX, DIST
//!      | ("IGNORE" | "OPTIONAL") SP PATH
//!      | "TIMESTAMP" SP YYYY-MM-DDTHH:MM:SSZ
//! ```
//!
//! Paths are UTF-8, relative to the manifest's folder, those of AUX to `files/` in it. Blanks, control
//! characters and backslashes are spelled `\xHH`, `\uHHHH` or `\UHHHHHHHH`, by the number of the
//! character. DIST lines name files that are kept in a place of their own, not in the tree; they are
//! counted and passed over, and so is what IGNORE and OPTIONAL name. A MANIFEST is verified as a file;
//! what it lists is not. Source: GLEP 74; the output of gemato.

use super::decoder::{self, Context, Records};
use super::encoder::{self, Setup};
use super::evidence::AlgorithmEvidence;
use super::lines::{decimal, words};
use super::writer::{Column, EntryError, WriterError};
use super::{Claim, Content, Entry, Format, Header, Malformed, Remark};
use crate::algorithm::Algorithm;
use crate::hex;
use crate::relpath::RelPath;
use crate::timestamp::Modified;

/// What the specification calls the algorithms, of those that are known here.
const WORDS: [(Algorithm, &str); 10] = [
    (Algorithm::BLAKE2B, "BLAKE2B"),
    (Algorithm::Blake2s, "BLAKE2S"),
    (Algorithm::Md5, "MD5"),
    (Algorithm::Ripemd160, "RMD160"),
    (Algorithm::Sha1, "SHA1"),
    (Algorithm::Sha256, "SHA256"),
    (Algorithm::Sha512, "SHA512"),
    (Algorithm::Sha3_256, "SHA3_256"),
    (Algorithm::Sha3_512, "SHA3_512"),
    (Algorithm::Whirlpool, "WHIRLPOOL"),
];

/// Reads entries, counting those that claim nothing about the tree.
#[derive(Debug)]
struct Parser {
    algorithms: AlgorithmEvidence,
    claims: u64,
    distfiles: u64,
    ignored: u64,
    manifests: u64,
}

pub(super) fn grammar(context: &Context) -> Box<dyn decoder::Grammar> {
    Box::new(Parser {
        algorithms: context.algorithms,
        claims: 0,
        distfiles: 0,
        ignored: 0,
        manifests: 0,
    })
}

/// Whether a line has the shape of an entry.
pub(super) fn is_entry(line: &[u8]) -> bool {
    let words: Vec<&[u8]> = words(line).collect();
    match words[..] {
        [b"IGNORE" | b"OPTIONAL", _] => true,
        [b"TIMESTAMP", time] => timestamp(time).is_some(),
        [kind, _, size, _, _, ..] => {
            let is_digest = |pair: &[&[u8]]| match pair {
                [name, digits] => name[0].is_ascii_uppercase() && hex::is_hex(digits),
                _ => false,
            };
            is_file(kind) && decimal::<u64>(size).is_some() && words[3..].chunks(2).all(is_digest)
        }
        _ => false,
    }
}

fn is_file(kind: &[u8]) -> bool {
    matches!(
        kind,
        b"DATA" | b"MANIFEST" | b"EBUILD" | b"MISC" | b"AUX" | b"DIST"
    )
}

impl decoder::Grammar for Parser {
    fn line(&mut self, number: u64, text: &[u8], records: &mut Records) {
        let words: Vec<&[u8]> = words(text).collect();
        match words[..] {
            [] => {}
            [first, ..] if first[0] == b'#' => {}
            [b"IGNORE" | b"OPTIONAL", path] => match name(path) {
                Ok(_) => self.ignored += 1,
                Err(reason) => records.push(number, Content::Malformed(reason)),
            },
            [b"TIMESTAMP", time] => match timestamp(time) {
                Some(modified) => self.header(number, modified, records),
                None => records.push_claim(number, Err(Malformed::bad_field("time", time))),
            },
            [kind, path, size, ..] if is_file(kind) => {
                let claim = self.claim(kind, path, size, &words[3..]);
                match (kind, claim) {
                    (b"DIST", Ok(_)) => self.distfiles += 1,
                    (_, claim) => {
                        self.claims += 1;
                        self.manifests += u64::from(kind == b"MANIFEST");
                        records.push_claim(number, claim);
                    }
                }
            }
            _ => records.push(number, Content::Malformed(Malformed::NoShape)),
        }
    }

    fn end(&mut self, number: u64, records: &mut Records) {
        for (count, what) in [
            (
                self.distfiles,
                "DIST lines passed over: their files are not in the tree",
            ),
            (
                self.ignored,
                "IGNORE or OPTIONAL lines: nothing is verified there",
            ),
            (
                self.manifests,
                "MANIFEST lines: verified as files, but what they list is not",
            ),
        ] {
            if count > 0 {
                records.remark(number, Remark::Ignored(format!("{count} {what}")));
            }
        }
    }
}

impl Parser {
    /// The time stands where its writer has put it, but counts only in front of all entries.
    fn header(&self, number: u64, modified: Modified, records: &mut Records) {
        if self.claims == 0 {
            let header = Header {
                created: Some(modified.time),
                ..Header::default()
            };
            records.push(number, Content::Header(Box::new(header)));
        }
    }

    fn claim(
        &self,
        kind: &[u8],
        path: &[u8],
        size: &[u8],
        digests: &[&[u8]],
    ) -> Result<Claim, Malformed> {
        let mut path = name(path)?;
        if kind == b"AUX" {
            path = [b"files/", &path[..]].concat();
        }
        let mut claim = Claim::bare(RelPath::from_bytes(path));
        claim.size = Some(decimal(size).ok_or_else(|| Malformed::bad_field("size", size))?);
        for pair in digests.chunks(2) {
            let [word, digits] = pair else {
                return Err(Malformed::NoField("digest behind the last algorithm"));
            };
            let word =
                std::str::from_utf8(word).map_err(|_| Malformed::bad_field("algorithm", word))?;
            if let Some(digest) = self.algorithms.named(word, digits)? {
                claim.add_digest(digest)?;
            }
        }
        Ok(claim)
    }
}

fn timestamp(text: &[u8]) -> Option<Modified> {
    let text = std::str::from_utf8(text).ok()?;
    Modified::parse(text).filter(|_| text.ends_with('Z'))
}

/// A path without its escapes.
fn name(path: &[u8]) -> Result<Vec<u8>, Malformed> {
    let name = unescape(path).ok_or(Malformed::BadEscape)?;
    if name.contains(&0) {
        return Err(Malformed::NulInName);
    }
    if name.starts_with(b"/") {
        return Err(Malformed::bad_field("relative path", path));
    }
    Ok(name)
}

fn unescape(path: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            plain.push(byte);
            continue;
        }
        let (&letter, after) = rest.split_first()?;
        let len = match letter {
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            _ => return None,
        };
        let digits = after.get(..len)?;
        if !hex::is_hex(digits) {
            return None;
        }
        let number = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        let mut buffer = [0; 4];
        plain.extend_from_slice(char::from_u32(number)?.encode_utf8(&mut buffer).as_bytes());
        rest = &after[len..];
    }
    Some(plain)
}

/// Writes one DATA line an entry.
#[derive(Debug)]
struct Encoder {
    columns: Vec<(&'static str, Column)>,
}

pub(super) fn encoder(setup: Setup) -> Result<Box<dyn encoder::Encoder>, WriterError> {
    let columns = setup.columns.into_iter().map(|column| {
        let word = WORDS.iter().find(|(of, _)| *of == column.algorithm);
        match word {
            Some((_, word)) => Ok((*word, column)),
            None => Err(WriterError::NotCarried {
                format: Format::Gentoo,
                algorithm: column.algorithm,
                carried: "blake2b, blake2s, md5, ripemd160, sha1, sha256, sha512, sha3-256, \
                          sha3-512, whirlpool",
            }),
        }
    });
    let columns = columns.collect::<Result<_, _>>()?;
    Ok(Box::new(Encoder { columns }))
}

impl encoder::Encoder for Encoder {
    fn entry(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) -> Result<(), EntryError> {
        let path = escape(entry.name)?;
        let size = entry.size.ok_or_else(|| EntryError::NoField {
            name: entry.name.clone(),
            format: Format::Gentoo,
            field: "size",
        })?;
        let mut line = format!("DATA {path} {size}");
        for (word, column) in &self.columns {
            let digits = hex::encode(column.digest_of(entry)?.as_bytes());
            line += &format!(" {word} {digits}");
        }
        line.push('\n');
        out.extend_from_slice(line.as_bytes());
        Ok(())
    }
}

/// A path with escapes for all that could end a word or a line, in any script.
fn escape(name: &RelPath) -> Result<String, EntryError> {
    let refused = |what| EntryError::NameNotCarried {
        name: name.clone(),
        format: Format::Gentoo,
        what,
    };
    let text =
        std::str::from_utf8(name.as_bytes()).map_err(|_| refused("bytes that are no UTF-8"))?;
    if text.starts_with('/') {
        return Err(refused("a slash at the beginning"));
    }
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        let number = u32::from(letter);
        match letter {
            _ if !(letter.is_control() || letter.is_whitespace() || letter == '\\') => {
                escaped.push(letter);
            }
            '\0'..='\x7f' => escaped += &format!("\\x{number:02X}"),
            _ => escaped += &format!("\\u{number:04X}"),
        }
    }
    Ok(escaped)
}

#[cfg(test)]
mod tests {
    use super::super::{ClaimedDigest, Hints, Reader, Writer, WriterOptions};
    use super::*;
    use crate::digest::Digest;
    use proptest::prelude::*;

    const MD5: &str = "9dd4e461268c8034f5c8564e155c67a6";
    const SHA256: &str = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";

    fn contents(list: &[u8], hints: &Hints) -> Vec<(u64, Content)> {
        let reader = Reader::new(list, hints).unwrap();
        reader
            .map(|record| record.map(|record| (record.line, record.content)).unwrap())
            .collect()
    }

    fn shown_with(list: &str, hints: &Hints) -> Vec<String> {
        let list = list.replace("MD5!", MD5).replace("SHA256!", SHA256);
        let spell = |digest: &ClaimedDigest| match digest {
            ClaimedDigest::Known(digest) => digest.algorithm().to_string(),
            other => format!("{other:?}"),
        };
        contents(list.as_bytes(), hints)
            .into_iter()
            .map(|(line, content)| match content {
                Content::Claim(claim) => {
                    let digests: Vec<String> = claim.digests.iter().map(spell).collect();
                    let size = claim.size.unwrap();
                    format!("{line}:{} {size} {}", claim.name, digests.join(" "))
                }
                Content::Malformed(reason) => format!("{line}!{reason}"),
                Content::Remark(remark) => format!("{line}~{remark}"),
                Content::Header(header) => format!("{line}@{}", header.created.unwrap()),
                Content::Gap { .. } => unreachable!(),
            })
            .collect()
    }

    fn shown(list: &str) -> Vec<String> {
        let hints = Hints {
            format: Some(Format::Gentoo),
            ..Hints::default()
        };
        shown_with(list, &hints)
    }

    #[test]
    fn every_type_of_line_is_understood() {
        let list = "TIMESTAMP 2026-01-02T03:04:05Z\nDATA sp\\x20ace.txt 1 MD5 MD5! SHA256 SHA256!\n\
             EBUILD a.ebuild 2 SHA256 SHA256!\nMISC é\\u00E9\\U0001F600 3 RMD160 \
             0123456789012345678901234567890123456789\nAUX x.patch 4 STREEBOG256 SHA256!\n\
             DIST a.tar.gz 9 MD5 MD5!\nDIST b.tar.gz 9 MD5 MD5!\nIGNORE distfiles\nOPTIONAL x\n\
             MANIFEST b/Manifest.gz 5 SHA3_256 SHA256!\nTIMESTAMP 2026-01-02T03:04:05Z\n# comment\n";
        assert_eq!(
            shown(list),
            [
                "1@2026-01-02T03:04:05.000000000Z",
                "2:sp ace.txt 1 md5 sha256",
                "3:a.ebuild 2 sha256",
                "4:éé😀 3 ripemd160",
                "5:files/x.patch 4 Unsupported(\"STREEBOG256\")",
                "10:b/Manifest.gz 5 sha3-256",
                "12~2 DIST lines passed over: their files are not in the tree",
                "12~2 IGNORE or OPTIONAL lines: nothing is verified there",
                "12~1 MANIFEST lines: verified as files, but what they list is not",
            ]
        );
    }

    #[test]
    fn lines_with_a_fault_are_told() {
        let list = "DATA /a 1 MD5 MD5!\nDATA a x MD5 MD5!\nDATA a 1 MD5\nDATA a 1 MD5 12\n\
             DATA a\\ 1 MD5 MD5!\nDATA a\\x2 1 MD5 MD5!\nDATA a\\x00 1 MD5 MD5!\n\
             DATA a\\uD800 1 MD5 MD5!\nDATA a 1 MD5 MD5! MD5 00000000000000000000000000000000\n\
             DATA a\nHELLO a 1 MD5 MD5!\nTIMESTAMP now\nDATA a -1 MD5 MD5!\nDIST /x 1\n";
        assert_eq!(
            shown(list),
            [
                "1!bad relative path: '/a'",
                "2!bad size: 'x'",
                "3!no digest behind the last algorithm",
                "4!not a md5 digest, which has 32 hexadecimal digits",
                "5!bad escape in the name",
                "6!bad escape in the name",
                "7!NUL byte in the name",
                "8!bad escape in the name",
                "9!two different md5 digests",
                "10!not a checksum line",
                "11!not a checksum line",
                "12!bad time: 'now'",
                "13!bad size: '-1'",
                "14!bad relative path: '/x'",
            ]
        );
    }

    #[test]
    fn an_asked_algorithm_leaves_the_others_out() {
        let hints = Hints {
            algorithm: Some(Algorithm::Sha256),
            ..Hints::default()
        };
        let list = "DATA a 1 MD5 MD5! SHA256 SHA256! STREEBOG256 SHA256!\n";
        assert_eq!(shown_with(list, &hints), ["1:a 1 sha256"]);
    }

    #[test]
    fn lists_of_other_kinds_are_left_alone() {
        let line = format!("DATA a 1 MD5 {MD5}");
        assert!(is_entry(line.as_bytes()) && is_entry(b"TIMESTAMP 2026-01-02T03:04:05Z"));
        for other in [
            &*format!("MD5 (DATA) = {MD5}"),
            &format!("{MD5}  DATA a 1"),
            "DATA a 1",
            "DATA a 1 MD5",
            "DATA is not information at all",
            "TIMESTAMP now",
            "IGNORE this line please",
        ] {
            assert!(!is_entry(other.as_bytes()), "{other}");
        }
    }

    fn digests(algorithms: &[Algorithm], seed: u8) -> Vec<Digest> {
        let digest = |algorithm: &Algorithm| {
            Digest::new(*algorithm, &vec![seed; algorithm.digest_len_bytes()]).unwrap()
        };
        algorithms.iter().map(digest).collect()
    }

    fn write(name: &RelPath, size: Option<u64>, algorithms: &[Algorithm]) -> Option<Vec<u8>> {
        let mut writer = Writer::new(WriterOptions::new(Format::Gentoo, algorithms)).unwrap();
        let entry = Entry {
            name,
            digests: &digests(algorithms, 7),
            size,
            modified: None,
        };
        let mut out = Vec::new();
        writer.write_entry(&mut out, &entry).ok()?;
        writer.finish(&mut out).unwrap();
        Some(out)
    }

    #[test]
    fn what_cannot_be_carried_is_refused() {
        for name in [&b"\xff"[..], b"/a"] {
            assert_eq!(
                write(&RelPath::from_bytes(name), Some(1), &[Algorithm::Md5]),
                None
            );
        }
        assert_eq!(write(&RelPath::from("a"), None, &[Algorithm::Md5]), None);
        let options = WriterOptions::new(Format::Gentoo, &[Algorithm::Blake3]);
        assert!(Writer::new(options).is_err());
    }

    #[test]
    fn blanks_of_every_script_are_escaped() {
        let line = write(
            &RelPath::from("a b\\\n\u{85}\u{3000}é"),
            Some(1),
            &[Algorithm::Md5],
        );
        let expected = format!(
            "DATA a\\x20b\\x5C\\x0A\\u0085\\u3000é 1 MD5 {}\n",
            "07".repeat(16)
        );
        assert_eq!(String::from_utf8(line.unwrap()).unwrap(), expected);
    }

    fn listlike() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            3 => prop::sample::select(vec![
                "\n", " ", "DATA ", "DIST ", "AUX ", "IGNORE ", "TIMESTAMP ", "a", " 1 ", " MD5 ", MD5,
                "\\x20", "\\u", "/", "2026-01-02T03:04:05Z", "#", " GOST ff",
            ])
            .prop_map(|text| text.as_bytes().to_vec()),
            1 => prop::collection::vec(any::<u8>(), 0..4),
        ];
        prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn what_is_written_comes_back(
            name in prop_oneof![".{1,12}", "[a\\\\ x20\u{2028}\u{a0}\t./]{1,8}"],
            size: u64,
            chosen in prop::sample::subsequence(
                WORDS.iter().map(|(algorithm, _)| *algorithm).collect::<Vec<_>>(),
                1..=WORDS.len(),
            ),
        ) {
            let name = RelPath::from(name.replace('\0', "0").as_str());
            if let Some(line) = write(&name, Some(size), &chosen) {
                let mut expected = Claim::bare(name);
                expected.size = Some(size);
                expected.digests =
                    digests(&chosen, 7).into_iter().map(ClaimedDigest::Known).collect();
                let found = contents(&line, &Hints::default());
                prop_assert_eq!(found, [(1, Content::Claim(expected))]);
            } else {
                prop_assert!(name.as_bytes().starts_with(b"/"));
            }
        }

        #[test]
        fn anything_is_read_to_its_end_in_the_order_of_its_lines(list in listlike()) {
            let hints = Hints { format: Some(Format::Gentoo), ..Hints::default() };
            let lines: Vec<u64> = contents(&list, &hints).iter().map(|(line, _)| *line).collect();
            prop_assert!(lines.is_sorted(), "{lines:?}");
        }
    }
}
