//! One entry as the native manifest and the plain array of JSON objects spell it.
//!
//! `{"path":"a/b","size":1,"mtime":"2026-01-02T03:04:05.123456789Z","sha256":"…"}`; a name that is
//! not UTF-8 stands under `path_b64`, in base64. A file known but not hashed has an `error` and no
//! digest.

use super::evidence::AlgorithmEvidence;
use super::json_text::{Object, Value, bad, name, name_of_bytes, text_into};
use super::writer::{Column, EntryError};
use super::{Claim, ClaimedDigest, Content, Entry, GapKind, Malformed};
use crate::algorithm::Algorithm;
use crate::hex;
use crate::relpath::RelPath;
use crate::timestamp::Modified;

const UNREADABLE: &str = "unreadable";
const UNSTABLE: &str = "unstable";

/// The shortest text that may be the digest of an algorithm that is not known.
const MIN_UNKNOWN_DIGITS: usize = 8;

/// Whether an object with these keys may be an entry.
pub(super) fn has_keys_of_entry<'a>(mut keys: impl Iterator<Item = &'a [u8]> + Clone) -> bool {
    let is_digest =
        |key: &[u8]| std::str::from_utf8(key).is_ok_and(|word| word.parse::<Algorithm>().is_ok());
    keys.clone().any(|key| key == b"path" || key == b"path_b64")
        && keys.any(|key| matches!(key, b"size" | b"mtime" | b"error") || is_digest(key))
}

/// What an object says: a claim, or that a file was not hashed.
pub(super) fn content(
    object: &Object<'_>,
    algorithms: &AlgorithmEvidence,
) -> Result<Content, Malformed> {
    let mut found = Found::default();
    for (key, value) in &object.0 {
        found.take(key, value, algorithms)?;
    }
    let name = found.name.ok_or(Malformed::NoField("path"))?;
    if let Some(kind) = found.error {
        return if found.has_digest {
            Err(Malformed::Rule("an error and a digest in one entry".into()))
        } else {
            Ok(Content::Gap { name, kind })
        };
    }
    Ok(Content::Claim(Claim {
        digests: found.digests,
        size: found.size,
        modified: found.modified,
        ..Claim::bare(name)
    }))
}

#[derive(Default)]
struct Found {
    name: Option<RelPath>,
    digests: Vec<ClaimedDigest>,
    has_digest: bool,
    size: Option<u64>,
    modified: Option<Modified>,
    error: Option<GapKind>,
}

impl Found {
    fn take(
        &mut self,
        key: &str,
        value: &Value<'_>,
        algorithms: &AlgorithmEvidence,
    ) -> Result<(), Malformed> {
        match (key, value) {
            ("path", Value::Text(text)) => self.name_is(name(text)?),
            ("path_b64", Value::Text(text)) => {
                let bytes = hex::decode_base64(text.as_bytes());
                self.name_is(name_of_bytes(bytes.ok_or_else(|| bad("path_b64", value))?)?)
            }
            ("size", Value::Unsigned(size)) => {
                self.size = Some(*size);
                Ok(())
            }
            ("mtime", Value::Text(text)) => {
                let modified = Modified::parse(text).ok_or_else(|| bad("mtime", value))?;
                self.modified = Some(modified);
                Ok(())
            }
            ("error", Value::Text(text)) => {
                self.error = Some(match &**text {
                    UNSTABLE => GapKind::Unstable,
                    _ => GapKind::Unreadable,
                });
                Ok(())
            }
            ("path", other) => Err(bad("path", other)),
            ("path_b64", other) => Err(bad("path_b64", other)),
            ("size", other) => Err(bad("size", other)),
            ("mtime", other) => Err(bad("mtime", other)),
            ("error", other) => Err(bad("error", other)),
            _ => self.digest(key, value, algorithms),
        }
    }

    fn name_is(&mut self, name: RelPath) -> Result<(), Malformed> {
        match self.name.replace(name) {
            Some(_) => Err(Malformed::Rule("two names in one entry".into())),
            None => Ok(()),
        }
    }

    fn digest(
        &mut self,
        key: &str,
        value: &Value<'_>,
        algorithms: &AlgorithmEvidence,
    ) -> Result<(), Malformed> {
        let digits = value.as_text().map(str::as_bytes).unwrap_or_default();
        unknown_digest(key, digits)?;
        self.has_digest = true;
        if let Some(digest) = algorithms.named(key, digits)? {
            let again = |other: &ClaimedDigest| match (other, &digest) {
                (ClaimedDigest::Known(one), ClaimedDigest::Known(two)) => {
                    one.algorithm() == two.algorithm()
                }
                _ => false,
            };
            if self.digests.iter().any(again) {
                return Err(Malformed::Rule(format!("two {key} digests in one entry")));
            }
            self.digests.push(digest);
        }
        Ok(())
    }
}

/// Refuses a field that neither has the name of an algorithm nor holds what looks like a digest.
pub(super) fn unknown_digest(key: &str, digits: &[u8]) -> Result<(), Malformed> {
    let is_even = digits.len().is_multiple_of(2);
    let looks_like_one = digits.len() >= MIN_UNKNOWN_DIGITS && is_even && hex::is_hex(digits);
    if looks_like_one || key.parse::<Algorithm>().is_ok() {
        Ok(())
    } else {
        Err(unknown_field(key))
    }
}

/// A key that means nothing here, and might change what the record means.
pub(super) fn unknown_field(key: &str) -> Malformed {
    Malformed::Rule(format!("unknown field {key:?}"))
}

/// Appends an entry as an object, without a line end.
pub(super) fn entry_into(
    entry: &Entry<'_>,
    columns: &[Column],
    out: &mut Vec<u8>,
) -> Result<(), EntryError> {
    name_into(entry.name, out);
    if let Some(size) = entry.size {
        out.extend_from_slice(b",\"size\":");
        out.extend_from_slice(size.to_string().as_bytes());
    }
    if let Some(modified) = entry.modified {
        out.extend_from_slice(b",\"mtime\":\"");
        out.extend_from_slice(spell(modified).as_bytes());
        out.push(b'"');
    }
    for column in columns {
        let digest = column.digest_of(entry)?;
        out.extend_from_slice(b",\"");
        out.extend_from_slice(column.algorithm.to_string().as_bytes());
        out.extend_from_slice(b"\":\"");
        hex::encode_into(digest.as_bytes(), out);
        out.push(b'"');
    }
    out.push(b'}');
    Ok(())
}

/// Appends the object of a file that was not hashed, without a line end.
pub(super) fn gap_into(name: &RelPath, kind: GapKind, out: &mut Vec<u8>) {
    name_into(name, out);
    out.extend_from_slice(b",\"error\":\"");
    out.extend_from_slice(gap_word(kind).as_bytes());
    out.extend_from_slice(b"\"}");
}

/// Why a file has no digest, in a word.
pub(super) fn gap_word(kind: GapKind) -> &'static str {
    match kind {
        GapKind::Unreadable => UNREADABLE,
        GapKind::Unstable => UNSTABLE,
    }
}

fn name_into(name: &RelPath, out: &mut Vec<u8>) {
    out.push(b'{');
    named_into("path", name, out);
}

/// Appends `"KEY":"NAME"`, or `"KEY_b64"` and base64 for a name that is not UTF-8.
pub(super) fn named_into(key: &str, name: &RelPath, out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(key.as_bytes());
    match std::str::from_utf8(name.as_bytes()) {
        Ok(text) => {
            out.extend_from_slice(b"\":");
            text_into(text, out);
        }
        Err(_) => {
            out.extend_from_slice(b"_b64\":");
            text_into(&hex::encode_base64(name.as_bytes()), out);
        }
    }
}

/// RFC 3339 in UTC with as many digits as are known.
pub(super) fn spell(modified: Modified) -> String {
    let known = modified.step_ns.max(1).ilog10().min(9) as usize;
    let mut text = modified.time.to_string();
    // The fraction and the Z: all of them, or as many as stand for something.
    let kept = text.len() - 1 - known;
    text.truncate(if known == 9 { kept - 1 } else { kept });
    text.push('Z');
    text
}

#[cfg(test)]
pub(super) mod testing {
    //! Manifests of arbitrary entries, written and read back.

    use proptest::prelude::*;

    use super::*;
    use crate::digest::Digest;
    use crate::manifest::{Format, Header, Hints, Reader, Record, Writer, WriterOptions};
    use crate::timestamp::Timestamp;

    #[derive(Clone, Debug)]
    pub(in crate::manifest) enum Item {
        File {
            name: RelPath,
            seed: u8,
            size: Option<u64>,
            modified: Option<Modified>,
        },
        Gap(RelPath, GapKind),
    }

    fn digest(algorithm: Algorithm, seed: u8) -> Digest {
        let bytes = vec![seed; algorithm.digest_len_bytes()];
        Digest::new(algorithm, &bytes).unwrap()
    }

    pub(in crate::manifest) fn any_name() -> impl Strategy<Value = RelPath> {
        let byte = prop_oneof![
            3 => 1_u8..=255,
            2 => prop::sample::select(b"\n\r\\ \t\",{}[]:#/a".to_vec()),
        ];
        let bytes = prop::collection::vec(byte, 1..16).prop_map(RelPath::from_bytes);
        prop_oneof![
            bytes,
            "[^\\x00]{1,8}".prop_map(|text| RelPath::from(&*text))
        ]
    }

    fn any_modified() -> impl Strategy<Value = Modified> {
        let digits = prop::sample::select(vec![0_u32, 3, 6, 7, 9]);
        (
            -60_000_000_000_i64..200_000_000_000,
            0_u32..1_000_000_000,
            digits,
        )
            .prop_map(|(seconds, nanoseconds, digits)| {
                let step_ns = 10_u32.pow(9 - digits);
                let nanoseconds = nanoseconds / step_ns * step_ns;
                let time = Timestamp::new(seconds, nanoseconds).unwrap();
                Modified { time, step_ns }
            })
    }

    pub(in crate::manifest) fn any_items() -> impl Strategy<Value = Vec<Item>> {
        let kind = prop::sample::select(vec![GapKind::Unreadable, GapKind::Unstable]);
        let size = prop::option::of(any::<u64>());
        let modified = prop::option::of(any_modified());
        let file = (any_name(), any::<u8>(), size, modified);
        let item = prop_oneof![
            4 => file.prop_map(|(name, seed, size, modified)| Item::File { name, seed, size, modified }),
            1 => (any_name(), kind).prop_map(|(name, kind)| Item::Gap(name, kind)),
        ];
        prop::collection::vec(item, 0..10)
    }

    pub(in crate::manifest) fn any_algorithms() -> impl Strategy<Value = Vec<Algorithm>> {
        let short = "blake2b-160".parse().unwrap();
        let all: Vec<Algorithm> = Algorithm::all().chain([short]).collect();
        prop::sample::subsequence(all, 1..4)
    }

    pub(in crate::manifest) fn write(
        format: Format,
        header: &Header,
        algorithms: &[Algorithm],
        items: &[Item],
    ) -> Vec<u8> {
        let mut writer = Writer::new(WriterOptions {
            header: header.clone(),
            ..WriterOptions::new(format, algorithms)
        })
        .unwrap();
        let mut out = Vec::new();
        for item in items {
            match item {
                Item::File {
                    name,
                    seed,
                    size,
                    modified,
                } => {
                    let digests: Vec<_> = algorithms.iter().map(|a| digest(*a, *seed)).collect();
                    let entry = Entry {
                        name,
                        digests: &digests,
                        size: *size,
                        modified: *modified,
                    };
                    writer.write_entry(&mut out, &entry).unwrap();
                }
                Item::Gap(name, kind) => writer.write_gap(&mut out, name, *kind).unwrap(),
            }
        }
        writer.finish(&mut out).unwrap();
        out
    }

    pub(in crate::manifest) fn expected(items: &[Item], algorithms: &[Algorithm]) -> Vec<Content> {
        let content = |item: &Item| match item.clone() {
            Item::File {
                name,
                seed,
                size,
                modified,
            } => Content::Claim(Claim {
                digests: algorithms
                    .iter()
                    .map(|algorithm| ClaimedDigest::Known(digest(*algorithm, seed)))
                    .collect(),
                size,
                modified,
                ..Claim::bare(name)
            }),
            Item::Gap(name, kind) => Content::Gap { name, kind },
        };
        items.iter().map(content).collect()
    }

    /// Every record of a manifest that is taken for this format.
    pub(in crate::manifest) fn read(bytes: &[u8], asked: Option<Format>) -> Vec<Record> {
        let hints = Hints {
            format: asked,
            ..Hints::default()
        };
        let reader = Reader::new(bytes, &hints).unwrap();
        let records: Vec<Record> = reader.map(Result::unwrap).collect();
        assert!(
            records.is_sorted_by_key(|record| record.line),
            "{records:?}"
        );
        records
    }

    pub(in crate::manifest) fn contents(bytes: &[u8], asked: Option<Format>) -> Vec<Content> {
        read(bytes, asked)
            .into_iter()
            .map(|record| record.content)
            .collect()
    }

    /// `LINE:NAME`, `LINE gap NAME`, `LINE!MESSAGE` or `LINE?REMARK` for each record but headers.
    pub(in crate::manifest) fn shown(text: &str, asked: Option<Format>) -> Vec<String> {
        let shown = |record: Record| {
            let line = record.line;
            match record.content {
                Content::Claim(claim) => Some(format!("{line}:{}", claim.name)),
                Content::Gap { name, .. } => Some(format!("{line} gap {name}")),
                Content::Malformed(reason) => Some(format!("{line}!{reason}")),
                Content::Remark(remark) => Some(format!("{line}?{remark}")),
                Content::Header(_) => None,
            }
        };
        read(text.as_bytes(), asked)
            .into_iter()
            .filter_map(shown)
            .collect()
    }

    /// Pieces of text that a format might choke on, put together at random.
    pub(in crate::manifest) fn any_text(
        pieces: &'static [&'static str],
    ) -> impl Strategy<Value = Vec<u8>> {
        let known = prop::sample::select(pieces).prop_map(|piece| piece.as_bytes().to_vec());
        let piece = prop_oneof![8 => known, 1 => prop::collection::vec(any::<u8>(), 0..4)];
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }
}
