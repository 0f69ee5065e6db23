//! ASC Media Hash Lists 2.0: one generation as a list of files.
//!
//! What `ascmhl` says of folders is passed over, since their hashes follow from those of the files.
//! A hash that is marked as failed is one that the file ought not to have, and is never compared.

use std::io;
use std::path::Path;

use super::ascmhl::{self, Action, MhlFile, MhlItem, MhlReader};
use super::decoder::{Context, Decoder, Records, Text};
use super::detect::Sample;
use super::encoder::{Encoder, Setup};
use super::writer::{Column, EntryError, WriterError};
use super::xml;
use super::{Claim, Content, Entry, Format, Header, Malformed};
use crate::relpath::RelPath;
use crate::timestamp::Timestamp;

/// The folder in which histories keep their generations. Names are relative to the folder around it.
const HISTORY: &str = "ascmhl";

pub(super) fn begins(sample: Sample<'_>) -> bool {
    xml::root(sample.bytes).is_some_and(|root| {
        root.name == "hashlist" && root.namespace.as_deref() == Some(ascmhl::NAMESPACE)
    })
}

pub(super) fn decoder<'r>(text: Text<'r>, context: Context) -> Box<dyn Decoder + 'r> {
    let in_history = context.list_name.is_some_and(|list| lies_in_history(&list));
    Box::new(Generation {
        reader: MhlReader::with_evidence(text, context.algorithms),
        base: in_history.then(|| RelPath::from("..")),
        told: false,
    })
}

fn lies_in_history(list: &Path) -> bool {
    // The folder of a list that is named without one is the current folder, whose name matters.
    let whole = std::path::absolute(list);
    let folder = whole.as_deref().unwrap_or(list).parent();
    folder
        .and_then(Path::file_name)
        .is_some_and(|name| name == HISTORY)
}

#[derive(Debug)]
struct Generation<'r> {
    reader: MhlReader<'r>,
    base: Option<RelPath>,
    /// Whether the header has been given.
    told: bool,
}

impl Generation<'_> {
    fn tell_header(&mut self, line: u64, created: Option<Timestamp>, records: &mut Records) {
        if !std::mem::replace(&mut self.told, true) {
            let header = Header {
                base: self.base.take(),
                created,
                ..Header::default()
            };
            records.push(line, Content::Header(Box::new(header)));
        }
    }
}

impl Decoder for Generation<'_> {
    fn advance(&mut self, records: &mut Records) -> io::Result<bool> {
        let Some((line, item)) = self.reader.next_item()? else {
            return Ok(false);
        };
        match item {
            MhlItem::Created(time) => self.tell_header(line, Some(time), records),
            MhlItem::File(file) => {
                self.tell_header(line, None, records);
                records.push_claim(line, claim(file));
            }
            MhlItem::Malformed(reason) => records.push(line, Content::Malformed(reason)),
            MhlItem::Ignore(_) | MhlItem::Folder { .. } | MhlItem::Reference { .. } => {}
        }
        Ok(true)
    }
}

fn claim(file: MhlFile) -> Result<Claim, Malformed> {
    let mut claim = Claim {
        size: file.size,
        modified: file.modified,
        ..Claim::bare(file.name)
    };
    for (digest, action) in file.digests {
        if action != Action::Failed {
            claim.add_digest(digest)?;
        }
    }
    Ok(claim)
}

pub(super) fn encoder(setup: Setup) -> Result<Box<dyn Encoder>, WriterError> {
    let mut columns = setup.columns;
    let place = |column: &Column| {
        let mut known = ascmhl::ALGORITHMS.iter();
        known.position(|known| *known == column.algorithm)
    };
    if let Some(column) = columns.iter().find(|column| place(column).is_none()) {
        return Err(WriterError::NotCarried {
            format: Format::Mhl,
            algorithm: column.algorithm,
            carried: "c4, md5, sha1, xxh128, xxh3 and xxh64",
        });
    }
    columns.sort_by_key(place);
    Ok(Box::new(MhlEncoder {
        columns,
        created: setup.header.created,
        open: false,
    }))
}

#[derive(Debug)]
struct MhlEncoder {
    columns: Vec<Column>,
    created: Option<Timestamp>,
    /// Whether there is an entry; the list of hashes must not be empty.
    open: bool,
}

/// The format demands the name of the computer, which is nobody's business in a list of files.
const HOST: &str = "unknown";

impl Encoder for MhlEncoder {
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<(), EntryError> {
        ascmhl::push_creator(self.created, HOST, out)?;
        out.extend_from_slice(
            b"  <processinfo>\n    <process>in-place</process>\n  </processinfo>\n",
        );
        Ok(())
    }

    fn entry(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) -> Result<(), EntryError> {
        if !self.open {
            out.extend_from_slice(b"  <hashes>\n");
        }
        let modified = entry.modified.map(|modified| modified.time);
        ascmhl::push_path(entry.name, entry.size, modified, out)?;
        for column in &self.columns {
            let digest = column.digest_of(entry)?;
            let element = digest.algorithm();
            let line = format!("      <{element} action=\"original\">{digest}</{element}>\n");
            out.extend_from_slice(line.as_bytes());
        }
        out.extend_from_slice(b"    </hash>\n");
        self.open = true;
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), EntryError> {
        if self.open {
            out.extend_from_slice(b"  </hashes>\n");
        }
        out.extend_from_slice(b"</hashlist>\n");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Algorithm;
    use crate::digest::Digest;
    use crate::manifest::{ClaimedDigest, Hints, Reader, Record, Writer, WriterOptions};
    use crate::timestamp::Modified;
    use proptest::prelude::*;

    const XXH64: &str = "de0327b0d25d92cc";

    fn read(list: &[u8], hints: &Hints) -> (Format, Vec<Record>) {
        let reader = Reader::new(list, hints).unwrap();
        let format = reader.format();
        (format, reader.map(Result::unwrap).collect())
    }

    fn generation(hashes: &str) -> String {
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <hashlist version=\"2.0\" xmlns=\"urn:ASC:MHL:v2.0\">\n\
             <creatorinfo><creationdate>2026-11-30T10:02:31+00:00</creationdate></creatorinfo>\n\
             <processinfo><roothash><content><c4>x</c4></content></roothash></processinfo>\n\
             <hashes>\n{hashes}</hashes></hashlist>\n"
        )
    }

    fn claims(hashes: &str) -> Vec<Content> {
        let (format, records) = read(generation(hashes).as_bytes(), &Hints::default());
        assert_eq!(format, Format::Mhl);
        let (header, rest) = records.split_first().unwrap();
        assert!(matches!(&header.content, Content::Header(header) if header.created.is_some()));
        rest.iter().map(|record| record.content.clone()).collect()
    }

    #[test]
    fn a_failed_hash_never_verifies_and_folders_are_no_files() {
        let all = claims(&format!(
            "<directoryhash><path>d</path><content><xxh64>{XXH64}</xxh64></content>\
             <structure><xxh64>{XXH64}</xxh64></structure></directoryhash>\n\
             <hash><path size=\"4\" lastmodificationdate=\"2026-11-30T11:02:31+01:00\">A &amp; B</path>\
             <xxh64 action=\"failed\">{XXH64}</xxh64><xxh3 action=\"verified\">{XXH64}</xxh3>\
             <metadata><path>x</path></metadata></hash>"
        ));
        let [Content::Claim(claim)] = &all[..] else {
            panic!("{all:?}");
        };
        assert_eq!(claim.name.as_bytes(), b"A & B");
        assert_eq!((claim.size, claim.digests.len()), (Some(4), 1));
        let modified = claim.modified.unwrap();
        assert_eq!(modified.time.to_seconds(), "2026-11-30T10:02:31Z");
        assert_eq!(modified.step_ns, 1_000_000_000);
        assert!(
            matches!(claim.digests[0], ClaimedDigest::Known(digest) if digest.algorithm() == Algorithm::Xxh3)
        );
    }

    #[test]
    fn what_cannot_be_understood_is_told() {
        let all = claims(&format!(
            "<hash><xxh64>{XXH64}</xxh64></hash><hash><path size=\"+1\">a</path></hash>\
             <hash><path>b<x/></path></hash><hash><path>c</path><xxh64>00</xxh64></hash>\
             <hash><path>d</path><xxh64 action=\"maybe\">{XXH64}</xxh64></hash>\
             <hash><path>e</path><sha999>00</sha999></hash>"
        ));
        assert!(
            all[..5]
                .iter()
                .all(|content| matches!(content, Content::Malformed(_))),
            "{all:?}"
        );
        assert!(
            matches!(&all[5], Content::Claim(claim) if claim.digests == [ClaimedDigest::Unsupported("sha999".into())])
        );
    }

    #[test]
    fn what_is_told_twice_or_spelt_otherwise_is_not_passed_over() {
        let hash = format!("<xxh64>{XXH64}</xxh64>");
        for inside in [
            format!("<Hash><path>a</path>{hash}</Hash>"),
            format!("<hashes><hash><path>a</path>{hash}</hash></hashes>"),
            format!("</hashes><Hashes><hash><path>a</path>{hash}</hash></Hashes><hashes>"),
            format!(
                "<hash><path>a</path>{hash}<previousPath>b</previousPath>\
                 <previousPath>c</previousPath></hash>"
            ),
            format!("<hash><path>a</path>{hash}<xxh64>0011223344556677</xxh64></hash>"),
            format!("<hash><path>a</path>{hash}<xxh64 action=\"failed\">{XXH64}</xxh64></hash>"),
        ] {
            let all = claims(&inside);
            assert!(
                matches!(&all[..], [Content::Malformed(_)]),
                "{inside}: {all:?}"
            );
        }
        let twice = claims(&format!("<hash><path>a</path>{hash}{hash}</hash>"));
        assert!(
            matches!(&twice[..], [Content::Claim(claim)] if claim.digests.len() == 1),
            "{twice:?}"
        );
    }

    #[test]
    fn a_chain_names_every_generation_once() {
        let c4 = format!("c4{}", "1".repeat(88));
        let chain = |inside: &str| {
            let chain = format!("<ascmhldirectory>{inside}</ascmhldirectory>");
            ascmhl::read_chain(chain.as_bytes()).unwrap()
        };
        let link = |inside: &str| {
            format!("<hashlist sequencenr=\"1\"><path>a</path><c4>{c4}</c4>{inside}</hashlist>")
        };
        assert!(matches!(&chain(&link(""))[..], [(1, Ok(_))]));
        for inside in [
            link("<path>b</path>"),
            link(&format!("<c4>{c4}</c4>")),
            link("").replace("hashlist", "HashList"),
        ] {
            assert!(matches!(&chain(&inside)[..], [(1, Err(_))]), "{inside}");
        }
    }

    #[test]
    fn names_of_a_generation_in_its_history_start_from_the_folder_around() {
        let list = generation("");
        for (list_name, base) in [
            ("x/ascmhl/0001_x.mhl", Some(RelPath::from(".."))),
            ("x/0001_x.mhl", None),
        ] {
            let hints = Hints {
                list_name: Some(list_name.into()),
                ..Hints::default()
            };
            let (_, records) = read(list.as_bytes(), &hints);
            assert!(matches!(&records[0].content, Content::Header(header) if header.base == base));
        }
    }

    #[test]
    fn only_what_the_schema_has_is_written() {
        let refused = Writer::new(WriterOptions::new(Format::Mhl, &[Algorithm::Sha256]));
        let message = refused.unwrap_err().to_string();
        assert_eq!(
            message,
            "format mhl cannot carry sha256 (it carries c4, md5, sha1, xxh128, xxh3 and xxh64)"
        );
    }

    fn any_name() -> impl Strategy<Value = RelPath> {
        let byte = prop_oneof![
            6 => 0x20_u8..0x7f,
            1 => 1_u8..=255,
            3 => prop::sample::select(b"\n\r\t &<>\"'/.;#".to_vec()),
        ];
        let bytes = prop::collection::vec(byte, 1..16).prop_map(RelPath::from_bytes);
        let text =
            any::<String>().prop_filter("a name", |text| !text.is_empty() && !text.contains('\0'));
        prop_oneof![bytes, text.prop_map(|text| RelPath::from(&*text))]
    }

    fn any_entries() -> impl Strategy<Value = Vec<(RelPath, Option<u64>, Option<i64>, u8)>> {
        let size = prop::option::of(any::<u64>());
        let time = prop::option::of(-10_000_000_000_i64..10_000_000_000);
        prop::collection::vec((any_name(), size, time, any::<u8>()), 0..4)
    }

    proptest! {
        #[test]
        fn what_is_written_comes_back(entries in any_entries(), format in prop::sample::select(vec![Format::Mhl, Format::Dfxml])) {
            let algorithms: &[Algorithm] = match format {
                Format::Mhl => &ascmhl::ALGORITHMS,
                _ => &[Algorithm::Md5, Algorithm::Sha512_256, Algorithm::BLAKE2B, Algorithm::Tiger],
            };
            let mut writer = Writer::new(WriterOptions::new(format, algorithms)).unwrap();
            let mut out = Vec::new();
            let mut expected = Vec::new();
            for (name, size, seconds, seed) in &entries {
                let digest = |algorithm: &Algorithm| {
                    Digest::new(*algorithm, &vec![*seed; algorithm.digest_len_bytes()]).unwrap()
                };
                let digests: Vec<Digest> = algorithms.iter().map(digest).collect();
                let time = seconds.and_then(|seconds| Timestamp::new(seconds, 0));
                let modified = time.map(Modified::to_the_second);
                let entry = Entry { name, digests: &digests, size: *size, modified };
                if writer.write_entry(&mut out, &entry).is_ok() {
                    let digests = digests.into_iter().map(ClaimedDigest::Known).collect();
                    expected.push(Claim { digests, size: *size, modified, ..Claim::bare(name.clone()) });
                }
            }
            writer.finish(&mut out).unwrap();
            let (found, records) = read(&out, &Hints::default());
            prop_assert_eq!(found, format);
            let claims = records.into_iter().filter_map(|record| match record.content {
                Content::Claim(claim) => Some(Ok(Claim { other_name: None, ..claim })),
                Content::Header(_) => None,
                other => Some(Err(other)),
            });
            prop_assert_eq!(claims.collect::<Result<Vec<_>, _>>(), Ok(expected));
        }

        #[test]
        fn fragments_are_read_to_their_end_without_a_panic(
            words in prop::collection::vec(prop::sample::select(FRAGMENTS.to_vec()), 0..60),
            format in prop::sample::select(vec![Format::Mhl, Format::LegacyMhl, Format::Dfxml, Format::Fciv]),
        ) {
            let list = words.concat();
            let hints = Hints { format: Some(format), ..Hints::default() };
            let (_, records) = read(list.as_bytes(), &hints);
            let lines: Vec<u64> = records.iter().map(|record| record.line).collect();
            prop_assert!(lines.is_sorted(), "{lines:?}");
        }
    }

    const FRAGMENTS: &[&str] = &[
        "<?xml version='1.0' encoding='latin1'?>",
        "<hashlist version='2.0'>",
        "</hashlist>",
        "<hashes>",
        "</hashes>",
        "<hash>",
        "</hash>",
        "<path size='1'>",
        "</path>",
        "<dfxml>",
        "</dfxml>",
        "<fileobject>",
        "</fileobject>",
        "<filename>",
        "</filename>",
        "<FCIV>",
        "</FCIV>",
        "<FILE_ENTRY>",
        "</FILE_ENTRY>",
        "<name>",
        "</name>",
        "<MD5>",
        "</MD5>",
        "<xxhash64>",
        "</xxhash64>",
        "<file>",
        "</file>",
        "<size>",
        "</size>",
        "<hashdigest type='md5'>",
        "</hashdigest>",
        "<c4 action='failed'/>",
        "<c4>",
        "</c4>",
        "a",
        "&amp;",
        "&#10;",
        "&x;",
        "\n",
        "bL/ZGbqnyeA8hHGuTY+LsA==",
        "6cbfd919baa7c9e03c8471ae4d8f8bb0",
        " ",
        "<!-- x -->",
        "<![CDATA[y]]>",
        "// File Checksum Integrity Verifier",
        "\t\tMD5\t\t\t\tSHA-1\n",
    ];
}
