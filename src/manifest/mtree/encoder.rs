//! From entries to lines, of a kind that NetBSD's `mtree` and libarchive both take.

use super::super::encoder::{self, Setup};
use super::super::lines::Terminator;
use super::super::writer::{Column, EntryError, WriterError};
use super::super::{Entry, Format, GapKind, gap};
use super::vis;
use crate::algorithm::Algorithm;
use crate::hex;
use crate::relpath::RelPath;

/// The spelling of digests that all programs know; NetBSD's own, without `digest`, is younger.
const KEYWORDS: [(Algorithm, &str); 6] = [
    (Algorithm::Md5, "md5digest"),
    (Algorithm::Sha1, "sha1digest"),
    (Algorithm::Sha256, "sha256digest"),
    (Algorithm::Sha384, "sha384digest"),
    (Algorithm::Sha512, "sha512digest"),
    (Algorithm::Ripemd160, "rmd160digest"),
];

/// Writes one line an entry, and one for each folder on the way to it.
#[derive(Debug)]
struct Encoder {
    columns: Vec<(&'static str, Column)>,
    /// The folder of the entry before.
    folder: Vec<u8>,
}

/// The encoder of specifications.
pub(in super::super) fn encoder(setup: Setup) -> Result<Box<dyn encoder::Encoder>, WriterError> {
    let columns = setup.columns.into_iter().map(|column| {
        let keyword = KEYWORDS.iter().find(|(of, _)| *of == column.algorithm);
        match keyword {
            Some((_, keyword)) => Ok((*keyword, column)),
            None => Err(WriterError::NotCarried {
                format: Format::Mtree,
                algorithm: column.algorithm,
                carried: "md5, sha1, sha256, sha384, sha512, ripemd160",
            }),
        }
    });
    Ok(Box::new(Encoder {
        columns: columns.collect::<Result<_, _>>()?,
        folder: Vec::new(),
    }))
}

impl encoder::Encoder for Encoder {
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<(), EntryError> {
        // NetBSD's mtree looks for every name in a folder that has a line, and for those in the root.
        out.extend_from_slice(b"#mtree\n. type=dir\n");
        Ok(())
    }

    fn entry(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) -> Result<(), EntryError> {
        let digests = self.columns.iter().map(|(keyword, column)| {
            let digest = column.digest_of(entry)?;
            Ok((*keyword, hex::encode(digest.as_bytes())))
        });
        let digests = digests.collect::<Result<Vec<_>, EntryError>>()?;
        self.folders(entry.name.as_bytes(), out);
        path_into(entry.name.as_bytes(), out);
        out.extend_from_slice(b" type=file");
        if let Some(size) = entry.size {
            out.extend_from_slice(format!(" size={size}").as_bytes());
        }
        if let Some(modified) = entry.modified {
            // With all nine digits the number is the same whether it is read as a count of nanoseconds,
            // as it is meant, or as a decimal fraction.
            let (seconds, nanoseconds) = (modified.time.seconds(), modified.time.nanoseconds());
            out.extend_from_slice(format!(" time={seconds}.{nanoseconds:09}").as_bytes());
        }
        for (keyword, digits) in digests {
            out.extend_from_slice(format!(" {keyword}={digits}").as_bytes());
        }
        out.push(b'\n');
        Ok(())
    }

    fn gap(&mut self, name: &RelPath, kind: GapKind, out: &mut Vec<u8>) -> Result<(), EntryError> {
        gap::write_into(name, kind, Terminator::Line, out);
        Ok(())
    }
}

impl Encoder {
    /// Writes a line for each folder that leads to a name and not to the one before.
    fn folders(&mut self, name: &[u8], out: &mut Vec<u8>) {
        let mut parts = name.split(|&byte| byte == b'/');
        // Only below the root are there folders to be named.
        if parts.any(|part| matches!(part, b"" | b"." | b"..")) {
            return;
        }
        let ends = name.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        for (end, _) in ends {
            let folder = &name[..end];
            if !is_in(&self.folder, folder) {
                path_into(folder, out);
                out.extend_from_slice(b" type=dir\n");
                self.folder = folder.to_vec();
            }
        }
    }
}

/// Whether `folder` is `outer` or lies in it.
fn is_in(folder: &[u8], outer: &[u8]) -> bool {
    folder
        .strip_prefix(outer)
        .is_some_and(|below| below.is_empty() || below.starts_with(b"/"))
}

/// Appends a path that has a slash after its first byte, so that no reader takes it for a name in the
/// folder above.
fn path_into(name: &[u8], out: &mut Vec<u8>) {
    if !name.starts_with(b"/") {
        out.extend_from_slice(b"./");
    } else if !name[1..].contains(&b'/') {
        out.extend_from_slice(b"/.");
    }
    vis::encode_into(name, out);
}

#[cfg(test)]
mod tests {
    use super::super::super::{
        Claim, ClaimedDigest, Content, Hints, Reader, Writer, WriterOptions,
    };
    use super::*;
    use crate::digest::Digest;
    use crate::timestamp::{Modified, Timestamp};
    use proptest::prelude::*;

    fn carried() -> Vec<Algorithm> {
        KEYWORDS.iter().map(|(algorithm, _)| *algorithm).collect()
    }

    fn digests(algorithms: &[Algorithm], seed: u8) -> Vec<Digest> {
        let digest = |algorithm: &Algorithm| {
            Digest::new(*algorithm, &vec![seed; algorithm.digest_len_bytes()]).unwrap()
        };
        algorithms.iter().map(digest).collect()
    }

    fn written(names: &[&str]) -> String {
        let mut writer = Writer::new(WriterOptions::new(Format::Mtree, &[Algorithm::Md5])).unwrap();
        let mut out = Vec::new();
        for name in names {
            let entry = Entry {
                name: &RelPath::from(*name),
                digests: &digests(&[Algorithm::Md5], 0xab),
                size: Some(1),
                modified: Timestamp::new(-2, 42).map(Modified::exactly),
            };
            writer.write_entry(&mut out, &entry).unwrap();
        }
        writer.finish(&mut out).unwrap();
        String::from_utf8(out)
            .unwrap()
            .replace(&"ab".repeat(16), "MD5!")
            .replace(" size=1 time=-2.000000042 md5digest=MD5!", " +")
    }

    #[test]
    fn every_folder_has_its_line_before_the_names_in_it() {
        assert_eq!(
            written(&[
                "a", "d/e/f", "d/e/g", "d/h", "de/i", "/abs", "/x/y", "../z", "a\nb"
            ]),
            "#mtree\n. type=dir\n./a type=file +\n./d type=dir\n./d/e type=dir\n./d/e/f type=file +\n\
             ./d/e/g type=file +\n./d/h type=file +\n./de type=dir\n./de/i type=file +\n\
             /./abs type=file +\n/x/y type=file +\n./../z type=file +\n./a\\012b type=file +\n"
        );
    }

    #[test]
    fn an_algorithm_without_a_keyword_is_refused() {
        let options = WriterOptions::new(Format::Mtree, &[Algorithm::Blake3]);
        let message = Writer::new(options).unwrap_err().to_string();
        assert!(message.contains("mtree cannot carry blake3"), "{message}");
    }

    type Given = (Vec<u8>, Option<u64>, Option<(i64, u32)>, u8);

    fn any_entry() -> impl Strategy<Value = Given> {
        let byte = prop_oneof![
            2 => 1_u8..=255,
            2 => prop::sample::select(b"./\\ \n\t#=*ab".to_vec()),
        ];
        (
            prop::collection::vec(byte, 1..16),
            any::<Option<u64>>(),
            prop::option::of((-9_000_000_000_i64..9_000_000_000, 0_u32..1_000_000_000)),
            any::<u8>(),
        )
    }

    proptest! {
        #[test]
        fn what_is_written_comes_back(
            entries in prop::collection::vec(any_entry(), 0..8),
            chosen in prop::sample::subsequence(carried(), 1..=KEYWORDS.len()),
        ) {
            let mut writer = Writer::new(WriterOptions::new(Format::Mtree, &chosen)).unwrap();
            let (mut out, mut expected) = (Vec::new(), Vec::new());
            for (name, size, time, seed) in entries {
                let name = RelPath::from_bytes(name);
                let modified = time.and_then(|(seconds, nanoseconds)| {
                    Timestamp::new(seconds, nanoseconds).map(Modified::exactly)
                });
                let digests = digests(&chosen, seed);
                let entry = Entry { name: &name, digests: &digests, size, modified };
                writer.write_entry(&mut out, &entry).unwrap();
                let known = digests.into_iter().map(ClaimedDigest::Known).collect();
                expected.push(Claim { digests: known, size, modified, ..Claim::bare(name) });
            }
            writer.finish(&mut out).unwrap();
            let reader = Reader::new(&out[..], &Hints::default()).unwrap();
            prop_assert_eq!(reader.format(), Format::Mtree);
            let mut found = Vec::new();
            for record in reader {
                match record.unwrap().content {
                    Content::Claim(claim) => found.push(claim),
                    other => prop_assert!(false, "{:?}", other),
                }
            }
            for (found, expected) in found.iter_mut().zip(&expected) {
                // A name of one component below the root has a dot to tell it from other names.
                if *found.name.normalised() == *expected.name.normalised() {
                    found.name = expected.name.clone();
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
