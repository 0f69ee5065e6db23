//! What the tests of several formats share.

use proptest::prelude::*;

use super::{
    Claim, ClaimedDigest, Content, Entry, EntryError, Format, Hints, Reader, Record, Writer,
    WriterOptions,
};
use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::relpath::RelPath;
use crate::timestamp::{Modified, Timestamp};

/// Of the byte `x`.
const DIGESTS: &[(&str, &str)] = &[
    ("CRC32!", "8cdc1683"),
    ("MD5!", "9dd4e461268c8034f5c8564e155c67a6"),
    ("SHA1!", "11f6ad8ec52a2984abaafd7c3b516503785c2072"),
    (
        "SHA256!",
        "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
    ),
    ("TIGER!", "bbc1627a054f0f34d6de631f1097094736a4ebbf0b24dd31"),
];

/// Nothing is known beforehand.
pub(super) fn no_hints() -> Hints {
    Hints::default()
}

/// The list has this name.
pub(super) fn called(list_name: &str) -> Hints {
    Hints {
        list_name: Some(list_name.into()),
        ..Hints::default()
    }
}

/// The user named the format.
pub(super) fn in_format(format: Format) -> Hints {
    Hints {
        format: Some(format),
        ..Hints::default()
    }
}

/// The user named the algorithm.
pub(super) fn asking(algorithm: Algorithm) -> Hints {
    Hints {
        algorithm: Some(algorithm),
        ..Hints::default()
    }
}

/// The format that a list is taken for, and each record as `LINE:NAME (OTHER NAME) SIZE @TIME DIGESTS`
/// or `LINE!REASON`. A digest of one of several algorithms is shown as `sha1?`, one that cannot be
/// computed as `!ed2k`. `MD5!` and the like stand for digests.
pub(super) fn shown(list: &str, hints: &Hints) -> (Format, Vec<String>) {
    let list = DIGESTS
        .iter()
        .fold(list.to_owned(), |list, (mark, digits)| {
            list.replace(mark, digits)
        });
    let reader = Reader::new(list.as_bytes(), hints).unwrap();
    let format = reader.format();
    (
        format,
        reader.map(|record| show(&record.unwrap())).collect(),
    )
}

fn show(record: &Record) -> String {
    let line = record.line;
    match &record.content {
        Content::Claim(claim) => format!("{line}:{}", show_claim(claim)),
        Content::Gap { name, kind } => format!("{line} {kind:?} {name}"),
        Content::Malformed(reason) => format!("{line}!{reason}"),
        other => panic!("{other:?}"),
    }
}

fn show_claim(claim: &Claim) -> String {
    let mut text = claim.name.to_string();
    if let Some(name) = &claim.other_name {
        text.push_str(&format!(" ({name})"));
    }
    if let Some(size) = claim.size {
        text.push_str(&format!(" {size}"));
    }
    if let Some(modified) = claim.modified {
        text.push_str(&format!(" @{}", modified.time.seconds()));
    }
    for digest in &claim.digests {
        let word = match digest {
            ClaimedDigest::Known(digest) => digest.algorithm().to_string(),
            ClaimedDigest::OneOf { candidates, .. } => format!("{}?", candidates[0]),
            ClaimedDigest::Unsupported(name) => format!("!{name}"),
        };
        text.push_str(&format!(" {word}"));
    }
    text
}

/// What a writer may be given for one file; `seed` makes its digests.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) name: RelPath,
    pub(super) size: Option<u64>,
    pub(super) modified: Option<Modified>,
    pub(super) seed: u8,
}

impl File {
    pub(super) fn digests(&self, algorithms: &[Algorithm]) -> Vec<Digest> {
        let digest = |algorithm: &Algorithm| {
            let bytes: Vec<u8> = (0..algorithm.digest_len_bytes())
                .map(|at| self.seed.wrapping_mul(31).wrapping_add(at.to_le_bytes()[0]))
                .collect();
            Digest::new(*algorithm, &bytes).unwrap()
        };
        algorithms.iter().map(digest).collect()
    }
}

/// A name of any bytes but NUL.
pub(super) fn any_name() -> impl Strategy<Value = RelPath> {
    let byte = prop_oneof![
        3 => 1_u8..=255,
        2 => prop::sample::select(b"\n\r\\ \t*()=#;/-,%&+0a".to_vec()),
    ];
    prop::collection::vec(byte, 1..24).prop_map(RelPath::from_bytes)
}

/// A file with or without size and time; the time is of whole seconds.
pub(super) fn any_file() -> impl Strategy<Value = File> {
    let time =
        (0_i64..4_000_000_000).prop_map(|s| Modified::to_the_second(Timestamp::new(s, 0).unwrap()));
    let fields = (
        any_name(),
        prop::option::of(any::<u64>()),
        prop::option::of(time),
        any::<u8>(),
    );
    fields.prop_map(|(name, size, modified, seed)| File {
        name,
        size,
        modified,
        seed,
    })
}

/// Writes files and reads them back. A file that the writer refused by its name or for want of a
/// field is left out. `expect` says what of the others has to come back.
pub(super) fn round_trip(
    format: Format,
    algorithms: &[Algorithm],
    files: &[File],
    hints: &Hints,
    expect: impl Fn(&File, Claim) -> Claim,
) -> Result<(), TestCaseError> {
    let mut writer = Writer::new(WriterOptions::new(format, algorithms)).unwrap();
    let (mut out, mut expected) = (Vec::new(), Vec::new());
    for file in files {
        let digests = file.digests(algorithms);
        let entry = Entry {
            name: &file.name,
            digests: &digests,
            size: file.size,
            modified: file.modified,
        };
        if let Err(error) = writer.write_entry(&mut out, &entry) {
            let refused = error.get_ref().and_then(|e| e.downcast_ref::<EntryError>());
            let by_name = matches!(
                refused,
                Some(EntryError::NameNotCarried { .. } | EntryError::NoField { .. })
            );
            prop_assert!(by_name, "{error}");
            continue;
        }
        let mut claim = Claim::bare(file.name.clone());
        claim.digests = digests.into_iter().map(ClaimedDigest::Known).collect();
        claim.size = file.size;
        claim.modified = file.modified;
        expected.push(Content::Claim(expect(file, claim)));
    }
    writer.finish(&mut out).unwrap();
    let literal = |content| match content {
        Content::Claim(claim) => Content::Claim(Claim {
            other_name: None,
            ..claim
        }),
        other => other,
    };
    let reader = Reader::new(&out[..], hints).unwrap();
    let read: Vec<_> = reader
        .map(|record| literal(record.unwrap().content))
        .collect();
    prop_assert_eq!(read, expected, "{:?}", String::from_utf8_lossy(&out));
    Ok(())
}

/// Bytes made of pieces that a format is made of, and of others.
pub(super) fn made_of(pieces: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let common = [
        "\n",
        "\r\n",
        " ",
        "  ",
        ",",
        "#",
        ";",
        "\\",
        "a",
        "9dd4e461268c8034f5c8564e155c67a6",
        "8CDC1683",
    ];
    let all: Vec<&str> = pieces.iter().copied().chain(common).collect();
    let piece = prop_oneof![
        4 => prop::sample::select(all).prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Reads a list to its end, with the format asked for and without.
pub(super) fn read_to_the_end(list: &[u8], format: Format) -> Result<(), TestCaseError> {
    for hints in [in_format(format), called("x.sfv"), called("a.txt.md5")] {
        let Ok(reader) = Reader::new(list, &hints) else {
            continue;
        };
        let numbers: Vec<u64> = reader.map(|record| record.unwrap().line).collect();
        prop_assert!(numbers.is_sorted());
        prop_assert!(numbers.len() <= list.len());
    }
    Ok(())
}
