//! Digital Forensics XML, as `hashdeep -d` writes it.
//!
//! Names stand there as they are but for `&`, `<`, `>` and quotes: bytes that are no UTF-8 and line ends
//! are read as they stand. Hashes of pieces of a file are passed over, and those of images and volumes.

use std::io;

use super::ascmhl::{moment, number, only, path};
use super::decoder::{Context, Decoder, Records, Text};
use super::detect::Sample;
use super::encoder::{Encoder, Setup};
use super::evidence::AlgorithmEvidence;
use super::writer::{Column, EntryError, WriterError};
use super::xml::{self, LineEnds, Node, XmlReader};
use super::{Claim, Content, Entry, Format, Header, Kind, Malformed};
use crate::algorithm::Algorithm;
use crate::hex;
use crate::relpath::RelPath;
use crate::timestamp::{Modified, Timestamp};

pub(super) fn begins(sample: Sample<'_>) -> bool {
    xml::root(sample.bytes).is_some_and(|root| root.name == "dfxml")
}

#[allow(
    clippy::needless_pass_by_value,
    reason = "all decoders have this signature"
)]
pub(super) fn decoder<'r>(text: Text<'r>, context: Context) -> Box<dyn Decoder + 'r> {
    Box::new(FileObjects {
        xml: XmlReader::new(text, LineEnds::Raw),
        algorithms: context.algorithms,
        depth: None,
        claim: Claim::bare(RelPath::default()),
        named: None,
        kind: None,
        problem: None,
    })
}

#[derive(Debug)]
struct FileObjects<'r> {
    xml: XmlReader<'r>,
    algorithms: AlgorithmEvidence,
    /// Where the `fileobject` is that is being read: at any depth, in volumes too.
    depth: Option<usize>,
    claim: Claim,
    named: Option<RelPath>,
    kind: Option<Kind>,
    problem: Option<Malformed>,
}

impl Decoder for FileObjects<'_> {
    fn advance(&mut self, records: &mut Records) -> io::Result<bool> {
        match self.xml.next() {
            Ok(Node::Start) => self.start(records),
            Ok(Node::End) => self.end(records),
            Ok(Node::Done) => return Ok(false),
            Err(error) => {
                error.tell(self.xml.line(), records)?;
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl FileObjects<'_> {
    fn start(&mut self, records: &mut Records) {
        if let Some(reason) = self.misplaced() {
            match self.depth {
                Some(_) => {
                    self.problem.get_or_insert(reason);
                }
                None => records.push(self.xml.start_line(), Content::Malformed(reason)),
            }
        } else if self.depth.is_none() && self.xml.name() == "fileobject" {
            self.depth = Some(self.xml.depth());
            self.claim = Claim::bare(RelPath::default());
            self.named = None;
            self.kind = None;
            self.problem = None;
        }
    }

    /// What is wrong with a file or digest that begins where none is looked for.
    fn misplaced(&self) -> Option<Malformed> {
        let (name, around) = (self.xml.name(), self.xml.parent());
        let is = |word: &str| name.eq_ignore_ascii_case(word);
        let in_place = match self.depth {
            _ if !is("fileobject") && !is("hashdigest") => true,
            None if name == "fileobject" => true,
            None => name == "hashdigest" && CONTAINERS.contains(&around),
            Some(depth) => {
                let direct = self.xml.depth() == depth + 1;
                name == "hashdigest" && (direct || around == PIECE)
            }
        };
        (!in_place).then(|| Malformed::Rule(format!("<{name}> within <{around}>")))
    }

    fn end(&mut self, records: &mut Records) {
        let Some(depth) = self.depth else { return };
        if self.xml.depth() == depth {
            self.depth = None;
            let claim = self.finish();
            records.push_claim(self.xml.start_line(), claim);
        } else if self.xml.depth() == depth + 1
            && let Err(reason) = self.field()
        {
            self.problem.get_or_insert(reason);
        }
    }

    fn finish(&mut self) -> Result<Claim, Malformed> {
        let claim = std::mem::replace(&mut self.claim, Claim::bare(RelPath::default()));
        if let Some(reason) = self.problem.take() {
            return Err(reason);
        }
        let name = self.named.take().ok_or(Malformed::NoField("filename"))?;
        let kind = self.kind.take().unwrap_or(Kind::File);
        let claim = Claim {
            name,
            kind,
            ..claim
        };
        Ok(claim.maybe_from_windows())
    }

    /// Takes an element that stands directly in the `fileobject`.
    fn field(&mut self) -> Result<(), Malformed> {
        let text = self.xml.text();
        let word = text.unwrap_or_default().trim_ascii();
        match self.xml.name() {
            "filename" => only(&mut self.named, "filename", path(text)?),
            "filesize" => {
                let digits = std::str::from_utf8(word).unwrap_or("?");
                let size = number("filesize", digits)?;
                only(&mut self.claim.size, "filesize", size)
            }
            "mtime" if !word.is_empty() => {
                let time = moment(word).or_else(|| since_1970(word));
                let time = time.ok_or_else(|| Malformed::bad_field("mtime", word))?;
                only(&mut self.claim.modified, "mtime", time)
            }
            "hashdigest" => {
                let algorithm = self.xml.attribute("type");
                let algorithm = algorithm.ok_or(Malformed::NoField("type of the hashdigest"))?;
                add_named(&mut self.claim, &self.algorithms, algorithm, word)
            }
            "name_type" => {
                let kind = match word {
                    b"d" => Kind::Directory,
                    b"l" => Kind::Link(None),
                    b"b" | b"c" | b"p" | b"s" => Kind::Special,
                    _ => Kind::File,
                };
                only(&mut self.kind, "name_type", kind)
            }
            // So older programs write them.
            algorithm if algorithm.parse::<Algorithm>().is_ok() => {
                add_named(&mut self.claim, &self.algorithms, algorithm, word)
            }
            _ => Ok(()),
        }
    }
}

fn add_named(
    claim: &mut Claim,
    algorithms: &AlgorithmEvidence,
    algorithm: &str,
    digits: &[u8],
) -> Result<(), Malformed> {
    match algorithms.named(algorithm, digits)? {
        Some(digest) => claim.add_digest(digest),
        None => Ok(()),
    }
}

/// A range of bytes in a file, which may have digests of its own.
const PIECE: &str = "byte_run";

/// What may have a digest beside files: parts of a disk and its image, which this program does not compare.
const CONTAINERS: [&str; 7] = [
    PIECE,
    "source",
    "diskimageobject",
    "diskimagesystemobject",
    "partitionobject",
    "partitionsystemobject",
    "volume",
];

/// Older programs write the seconds since 1970.
fn since_1970(digits: &[u8]) -> Option<Modified> {
    let seconds = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Timestamp::new(seconds, 0).map(Modified::to_the_second)
}

pub(super) fn encoder(setup: Setup) -> Result<Box<dyn Encoder>, WriterError> {
    Ok(Box::new(DfxmlEncoder {
        columns: setup.columns,
        header: setup.header,
    }))
}

#[derive(Debug)]
struct DfxmlEncoder {
    columns: Vec<Column>,
    header: Header,
}

impl Encoder for DfxmlEncoder {
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<(), EntryError> {
        out.extend_from_slice(BEGINNING.as_bytes());
        if let Some(created) = self.header.created {
            let time = created.to_seconds();
            let started = format!(
                "    <execution_environment>\n      <start_time>{time}</start_time>\n    \
                 </execution_environment>\n"
            );
            out.extend_from_slice(started.as_bytes());
        }
        out.extend_from_slice(b"  </creator>\n");
        Ok(())
    }

    fn entry(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) -> Result<(), EntryError> {
        out.extend_from_slice(b"  <fileobject>\n    <filename>");
        let escaped = xml::escape(entry.name.as_bytes(), out);
        escaped.map_err(|what| EntryError::NameNotCarried {
            name: entry.name.clone(),
            format: Format::Dfxml,
            what,
        })?;
        out.extend_from_slice(b"</filename>\n");
        if let Some(size) = entry.size {
            out.extend_from_slice(format!("    <filesize>{size}</filesize>\n").as_bytes());
        }
        if let Some(modified) = entry.modified {
            let time = modified.time.to_seconds();
            out.extend_from_slice(format!("    <mtime>{time}</mtime>\n").as_bytes());
        }
        for column in &self.columns {
            let digits = hex::encode(column.digest_of(entry)?.as_bytes());
            let name = column.tag.to_ascii_uppercase();
            let line = format!("    <hashdigest type='{name}'>{digits}</hashdigest>\n");
            out.extend_from_slice(line.as_bytes());
        }
        out.extend_from_slice(b"  </fileobject>\n");
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), EntryError> {
        out.extend_from_slice(b"</dfxml>\n");
        Ok(())
    }
}

const BEGINNING: &str = concat!(
    "<?xml version='1.0' encoding='UTF-8'?>\n",
    "<dfxml xmlns='http://www.forensicswiki.org/wiki/Category:Digital_Forensics_XML'\n",
    "  xmlns:dc='http://purl.org/dc/elements/1.1/' version='1.0'>\n",
    "  <metadata>\n    <dc:type>Hash List</dc:type>\n  </metadata>\n",
    "  <creator version='1.0'>\n    <program>multisum</program>\n    <version>",
    env!("CARGO_PKG_VERSION"),
    "</version>\n"
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{Content, Hints, Reader};

    fn records(document: &str) -> Vec<String> {
        let reader = Reader::new(document.as_bytes(), &Hints::default()).unwrap();
        assert_eq!(reader.format(), Format::Dfxml);
        let shown = |record: io::Result<super::super::Record>| {
            let record = record.unwrap();
            match record.content {
                Content::Claim(claim) => format!("{}:{claim:?}", record.line),
                other => format!("{}:{other:?}", record.line),
            }
        };
        reader.map(shown).collect()
    }

    #[test]
    fn hashes_of_pieces_are_not_those_of_the_file() {
        let all = records(
            "<dfxml version='1.0'>\n<volume><fileobject><filename>a</filename>\
             <byte_run file_offset='0' len='2'><hashdigest type='MD5'>00</hashdigest></byte_run>\
             <hashdigest type='crc32'>CBF43926</hashdigest></fileobject></volume></dfxml>",
        );
        assert_eq!(all.len(), 1);
        assert!(all[0].starts_with("2:Claim"), "{all:?}");
        assert!(all[0].contains("[Known(crc32:cbf43926)]"), "{all:?}");
    }

    #[test]
    fn digests_and_files_out_of_place_are_not_passed_over() {
        let digest = "<hashdigest type='crc32'>CBF43926</hashdigest>";
        for inside in [
            format!("<fileobject><filename>a</filename><x>{digest}</x></fileobject>"),
            format!(
                "<fileobject><filename>a</filename><fileobject><filename>b</filename>\
                 {digest}</fileobject></fileobject>"
            ),
            "<fileobject><filename>a</filename><HashDigest type='md5'>00</HashDigest></fileobject>"
                .to_owned(),
            "<FileObject><filename>a</filename></FileObject>".to_owned(),
            format!("<file><filename>a</filename>{digest}</file>"),
            format!(
                "<fileobject><filename>a</filename><filename>b</filename>{digest}</fileobject>"
            ),
            "<fileobject><filename>a</filename><filesize>1</filesize><filesize>1</filesize>\
             </fileobject>"
                .to_owned(),
            "<fileobject><filename>a</filename><hashdigest type='crc32'>00000000</hashdigest>\
             <hashdigest type='crc32'>00000001</hashdigest></fileobject>"
                .to_owned(),
        ] {
            let all = records(&format!("<dfxml>\n{inside}</dfxml>"));
            assert_eq!(all.len(), 1, "{inside}: {all:?}");
            assert!(all[0].starts_with("2:Malformed"), "{inside}: {all:?}");
        }
        let image = records(&format!("<dfxml><volume>{digest}</volume></dfxml>"));
        assert!(image.is_empty(), "{image:?}");
    }

    #[test]
    fn every_digest_is_kept_once_whatever_has_it() {
        let all = records(
            "<dfxml><fileobject><filename>a</filename><name_type>d</name_type>\
             <hashdigest type='crc32'>CBF43926</hashdigest>\
             <hashdigest type='CRC32'>cbf43926</hashdigest></fileobject>\n\
             <fileobject><filename>b</filename><crc32>cbf43926</crc32></fileobject></dfxml>",
        );
        for (record, kind) in all.iter().zip(["Directory", "File"]) {
            assert!(
                record.contains("digests: [Known(crc32:cbf43926)]"),
                "{record}"
            );
            assert!(record.contains(&format!("kind: {kind}")), "{record}");
        }
        assert_eq!(all.len(), 2);
    }

    #[test]
    fn a_bad_field_spoils_its_entry_and_no_other() {
        let all = records(
            "<dfxml>\n<fileobject><filename>a</filename><filesize>-1</filesize></fileobject>\n\
             <fileobject><filesize>1</filesize></fileobject>\n\
             <fileobject><filename>b</filename><hashdigest type='x'>00</hashdigest></fileobject>\n\
             <fileobject><filename>c</filename><mtime>then</mtime></fileobject></dfxml>",
        );
        for (index, expected) in ["BadField", "NoField", "Unsupported", "BadField"]
            .iter()
            .enumerate()
        {
            assert!(
                all[index].starts_with(&format!("{}:", index + 2)),
                "{all:?}"
            );
            assert!(all[index].contains(expected), "{all:?}");
        }
    }
}
