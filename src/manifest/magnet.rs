//! Magnet links and ed2k links, one a line.
//!
//! ```text
//! magnet:?xl=SIZE&dn=NAME&xt=urn:ALGORITHM:DIGEST&xt=…
//! ed2k://|file|NAME|SIZE|ED2K|h=AICH|/
//! ```
//!
//! Names are percent-encoded. Digests are hexadecimal, a SHA-1 also base32, which is how it is written
//! here as elsewhere. Parameters that say where to find the file are passed over; a digest of an
//! algorithm that is not computed here leaves its entry unverified. Source: the output and behaviour
//! of RHash 1.4.3.

use super::decoder::{self, Context, Records};
use super::encoder::{self, Setup};
use super::evidence::AlgorithmEvidence;
use super::lines::{self, Terminator, decimal};
use super::writer::{Column, EntryError, WriterError};
use super::{Claim, ClaimedDigest, Entry, GapKind, Malformed};
use super::{gap, plain};
use crate::algorithm::Algorithm;
use crate::hex;
use crate::relpath::RelPath;

const MAGNET: &[u8] = b"magnet:?";
const ED2K: &[u8] = b"ed2k://|file|";

/// The number of base32 characters of a SHA-1.
const SHA1_BASE32_LEN: usize = 32;

#[derive(Debug)]
struct Grammar {
    algorithms: AlgorithmEvidence,
}

/// The grammar of these lists.
pub(super) fn grammar(context: &Context) -> Box<dyn decoder::Grammar> {
    Box::new(Grammar {
        algorithms: context.algorithms,
    })
}

/// Whether a line begins as a link of either kind.
pub(super) fn is_entry(line: &[u8]) -> bool {
    line.starts_with(MAGNET) || line.starts_with(ED2K)
}

impl decoder::Grammar for Grammar {
    fn line(&mut self, number: u64, text: &[u8], records: &mut Records) {
        plain::entry_line(number, text, records, |text| self.claim(text));
    }
}

impl Grammar {
    fn claim(&self, text: &[u8]) -> Result<Claim, Malformed> {
        if let Some(parameters) = text.strip_prefix(MAGNET) {
            self.magnet(parameters)
        } else if let Some(fields) = text.strip_prefix(ED2K) {
            self.ed2k(fields)
        } else {
            Err(Malformed::NoShape)
        }
    }

    fn magnet(&self, parameters: &[u8]) -> Result<Claim, Malformed> {
        let mut claim = Claim::bare(RelPath::default());
        let mut named = false;
        for parameter in lines::split(parameters, b'&') {
            let (key, value) = match lines::find(b'=', parameter) {
                Some(equals) => (&parameter[..equals], &parameter[equals + 1..]),
                None => (parameter, &b""[..]),
            };
            let is = |known: &[u8]| key.eq_ignore_ascii_case(known);
            if is(b"dn") {
                if named {
                    return Err(Malformed::bad_field("name", value));
                }
                claim.name = name(value)?;
                named = true;
            } else if is(b"xl") {
                if claim.size.is_some() {
                    return Err(Malformed::bad_field("size", value));
                }
                claim.size = Some(size(value)?);
            } else if is_topic(key)
                && let Some(digest) = self.topic(value)?
            {
                claim.add_digest(digest)?;
            }
        }
        if named {
            Ok(claim)
        } else {
            Err(Malformed::NoField("name (dn=)"))
        }
    }

    /// The digest of an exact topic.
    fn topic(&self, value: &[u8]) -> Result<Option<ClaimedDigest>, Malformed> {
        let text = std::str::from_utf8(value).ok();
        let (word, digits) = text
            .and_then(|text| text.strip_prefix("urn:")?.rsplit_once(':'))
            .ok_or_else(|| Malformed::bad_field("exact topic (xt=)", value))?;
        if word.eq_ignore_ascii_case("sha1") && digits.len() == SHA1_BASE32_LEN {
            let bytes = hex::decode_base32(digits.as_bytes()).unwrap_or_default();
            return self.algorithms.named(word, hex::encode(&bytes).as_bytes());
        }
        self.algorithms.named(word, digits.as_bytes())
    }

    fn ed2k(&self, fields: &[u8]) -> Result<Claim, Malformed> {
        let mut fields = fields.split(|&byte| byte == b'|');
        let mut next = || fields.next().ok_or(Malformed::NoShape);
        let mut claim = Claim::bare(name(next()?)?);
        claim.size = Some(size(next()?)?);
        let digits = next()?;
        if digits.len() != 32 || !hex::is_hex(digits) {
            return Err(Malformed::bad_field("ed2k digest", digits));
        }
        if self.algorithms.asked.is_none() {
            claim
                .digests
                .push(ClaimedDigest::Unsupported("ed2k".into()));
        }
        Ok(claim)
    }
}

/// `xt`, or one of several topics: `xt.1`.
fn is_topic(key: &[u8]) -> bool {
    matches!(
        key,
        [b'x' | b'X', b't' | b'T'] | [b'x' | b'X', b't' | b'T', b'.', ..]
    )
}

fn size(value: &[u8]) -> Result<u64, Malformed> {
    decimal(value).ok_or_else(|| Malformed::bad_field("size", value))
}

fn name(value: &[u8]) -> Result<RelPath, Malformed> {
    let decoded = percent_decode(value).ok_or(Malformed::BadEscape)?;
    plain::name(&decoded, false)
}

fn percent_decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(percent) = lines::find(b'%', rest) {
        plain.extend_from_slice(&rest[..percent]);
        let (digits, behind) = rest[percent + 1..].split_at_checked(2)?;
        plain.extend_from_slice(hex::decode_into(digits, &mut [0])?);
        rest = behind;
    }
    plain.extend_from_slice(rest);
    Some(plain)
}

fn percent_encode_into(name: &[u8], out: &mut Vec<u8>) {
    for &byte in name {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/') {
            out.push(byte);
        } else {
            out.push(b'%');
            hex::encode_into(&[byte], out);
        }
    }
}

/// Writes one link an entry.
#[derive(Debug)]
struct Encoder {
    columns: Vec<Column>,
}

/// The encoder of magnet links.
pub(super) fn encoder(setup: Setup) -> Result<Box<dyn encoder::Encoder>, WriterError> {
    Ok(Box::new(Encoder {
        columns: setup.columns,
    }))
}

impl encoder::Encoder for Encoder {
    fn entry(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) -> Result<(), EntryError> {
        out.extend_from_slice(MAGNET);
        if let Some(size) = entry.size {
            out.extend_from_slice(format!("xl={size}&").as_bytes());
        }
        out.extend_from_slice(b"dn=");
        percent_encode_into(entry.name.as_bytes(), out);
        for column in &self.columns {
            let digest = column.digest_of(entry)?;
            out.extend_from_slice(format!("&xt=urn:{}:", column.algorithm).as_bytes());
            if column.algorithm == Algorithm::Sha1 {
                out.extend_from_slice(hex::encode_base32(digest.as_bytes()).as_bytes());
            } else {
                hex::encode_into(digest.as_bytes(), out);
            }
        }
        out.push(b'\n');
        Ok(())
    }

    fn gap(&mut self, name: &RelPath, kind: GapKind, out: &mut Vec<u8>) -> Result<(), EntryError> {
        gap::write_into(name, kind, Terminator::Line, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{
        File, any_file, asking, in_format, made_of, no_hints, read_to_the_end, round_trip, shown,
    };
    use super::super::{Format, Writer, WriterOptions};
    use super::*;
    use proptest::prelude::*;

    fn read(list: &str) -> Vec<String> {
        let (format, records) = shown(list, &no_hints());
        assert_eq!(format, Format::Magnet, "{list}");
        records
    }

    #[test]
    fn links_of_rhash_are_read() {
        let magnet = "magnet:?xl=1&dn=sp%20ace%2fx&xt=urn:md5:MD5!&xt=urn:sha1:ch3k3dwffiuyjk5k7v6dwulfan4fyids\
                      &xt=urn:tree:tiger:hfplurr6kehk3sit5gwl3szwmvcvkeopnn6ew6a&tr=x\n";
        assert_eq!(read(magnet), ["1:sp ace/x 1 md5 sha1 !tree:tiger"]);
        assert_eq!(
            read("magnet:?xt.1=urn:sha1:SHA1!&dn=a&xt.2=urn:btih:SHA1!\n"),
            ["1:a sha1 !btih"]
        );
        let ed2k = "ed2k://|file|%c3%a9|1|51b834b7c1ef0b59ea50888fcb39ace2|h=ch3k3dwffiuyjk5k7v6dwulfan4fyids|/\n";
        assert_eq!(read(ed2k), ["1:é 1 !ed2k"]);
        assert_eq!(
            shown(magnet, &asking(Algorithm::Md5)).1,
            ["1:sp ace/x 1 md5"]
        );
        assert_eq!(shown(ed2k, &asking(Algorithm::Md5)).1, ["1:é 1"]);
    }

    #[test]
    fn a_link_that_is_not_understood_is_malformed() {
        let one = |link: &str| read(&format!("{link}\n")).remove(0);
        assert_eq!(one("magnet:?xt=urn:md5:MD5!"), "1!no name (dn=)");
        assert_eq!(one("magnet:?dn=&xt=urn:md5:MD5!"), "1!the name is empty");
        assert_eq!(one("magnet:?dn=a&dn=b"), "1!bad name: 'b'");
        assert_eq!(one("magnet:?dn=a%2"), "1!bad escape in the name");
        assert_eq!(one("magnet:?dn=a%+1"), "1!bad escape in the name");
        assert_eq!(one("magnet:?dn=a%00b"), "1!NUL byte in the name");
        assert_eq!(one("magnet:?dn=a&xl=1k"), "1!bad size: '1k'");
        assert_eq!(one("magnet:?dn=a&xt=md5"), "1!bad exact topic (xt=): 'md5'");
        assert_eq!(
            one("magnet:?dn=a&xt=urn:md5:SHA1!"),
            "1!not a md5 digest, which has 32 hexadecimal digits"
        );
        assert_eq!(
            one("magnet:?dn=a&xt=urn:sha1:1h3k3dwffiuyjk5k7v6dwulfan4fyids"),
            "1!not a sha1 digest, which has 40 hexadecimal digits"
        );
        assert_eq!(one("ed2k://|file|a|1|00|/"), "1!bad ed2k digest: '00'");
        assert_eq!(one("ed2k://|file|a"), "1!not a checksum line");
        let mixed = shown("magnet:?dn=a\nhello\n", &in_format(Format::Magnet));
        assert_eq!(mixed.1, ["1:a", "2!not a checksum line"]);
    }

    #[test]
    fn a_size_or_digest_that_stands_there_twice_must_not_hide_the_first() {
        assert_eq!(read("magnet:?xl=1&dn=a&xl=2\n"), ["1!bad size: '2'"]);
        let md5 = "xt=urn:md5:MD5!";
        assert_eq!(read(&format!("magnet:?dn=a&{md5}&{md5}\n")), ["1:a md5"]);
        let other = "xt.2=urn:md5:00000000000000000000000000000000";
        assert_eq!(
            read(&format!("magnet:?dn=a&{md5}&{other}\n")),
            ["1!two different md5 digests"]
        );
        assert_eq!(
            read(&format!("magnet:?XL=1&DN=a&XT=urn:sha1:SHA1!&{md5}\n")),
            ["1:a 1 sha1 md5"]
        );
    }

    #[test]
    fn links_are_written_as_rhash_writes_them() {
        let algorithms = [Algorithm::Crc32, Algorithm::Sha1];
        let mut writer = Writer::new(WriterOptions::new(Format::Magnet, &algorithms)).unwrap();
        let file = File {
            name: RelPath::from("d/+plus&=%41\né"),
            size: Some(1),
            modified: None,
            seed: 0,
        };
        let entry = Entry {
            name: &file.name,
            digests: &file.digests(&algorithms),
            size: file.size,
            modified: None,
        };
        let mut out = Vec::new();
        writer.write_entry(&mut out, &entry).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "magnet:?xl=1&dn=d/%2bplus%26%3d%2541%0a%c3%a9&xt=urn:crc32:00010203\
             &xt=urn:sha1:aaaqeayeaudaocajbifqydiob4ibceqt\n"
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            files in prop::collection::vec(any_file(), 1..8),
            algorithms in prop::sample::subsequence(Algorithm::all().collect::<Vec<_>>(), 1..6),
        ) {
            let without_time = |_: &File, claim| Claim { modified: None, ..claim };
            round_trip(Format::Magnet, &algorithms, &files, &no_hints(), without_time)?;
        }

        #[test]
        fn any_text_is_read_to_its_end(list in made_of(&[
            "magnet:?", "&", "dn=", "xl=1", "xt=urn:", "md5:", "%", "%41", "ed2k://|file|", "|",
        ])) {
            read_to_the_end(&list, Format::Magnet)?;
        }
    }
}
