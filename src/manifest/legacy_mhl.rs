//! Media Hash Lists 1.0 and 1.1, as `mhl`, Silverstack, ShotPut and their kin wrote them.
//!
//! `xxhash` is an XXH32 in decimal, `xxhash64` an XXH64 with its bytes the wrong way round, and
//! `xxhash64be` the same the right way round. `null` stands for no hash at all.

use std::io;

use super::ascmhl::{moment, number, only, path};
use super::decoder::{Context, Decoder, Records, Text};
use super::detect::Sample;
use super::evidence::AlgorithmEvidence;
use super::xml::{self, LineEnds, Node, XmlReader};
use super::{Claim, ClaimedDigest, Content, Malformed};
use crate::hex;
use crate::relpath::RelPath;

pub(super) fn begins(sample: Sample<'_>) -> bool {
    xml::root(sample.bytes).is_some_and(|root| {
        let version = root.version.as_deref().unwrap_or("1.0");
        root.name == "hashlist" && root.namespace.is_none() && version.starts_with("1.")
    })
}

#[allow(
    clippy::needless_pass_by_value,
    reason = "all decoders have this signature"
)]
pub(super) fn decoder<'r>(text: Text<'r>, context: Context) -> Box<dyn Decoder + 'r> {
    Box::new(LegacyMhl {
        xml: XmlReader::new(text, LineEnds::Normal),
        algorithms: context.algorithms,
        claim: Claim::bare(RelPath::default()),
        named: None,
        problem: None,
    })
}

#[derive(Debug)]
struct LegacyMhl<'r> {
    xml: XmlReader<'r>,
    algorithms: AlgorithmEvidence,
    claim: Claim,
    named: Option<RelPath>,
    problem: Option<Malformed>,
}

impl Decoder for LegacyMhl<'_> {
    fn advance(&mut self, records: &mut Records) -> io::Result<bool> {
        match self.xml.next() {
            Ok(Node::Start) if self.xml.depth() == 2 => self.begin(records),
            Ok(Node::Start) => {}
            Ok(Node::End) if self.xml.name_at(2) != "hash" => {}
            Ok(Node::End) if self.xml.depth() == 2 => self.finish(records),
            Ok(Node::End) if self.xml.depth() == 3 => {
                if let Err(reason) = self.field() {
                    self.problem.get_or_insert(reason);
                }
            }
            Ok(Node::End) => {}
            Ok(Node::Done) => return Ok(false),
            Err(error) => {
                error.tell(self.xml.line(), records)?;
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl LegacyMhl<'_> {
    fn begin(&mut self, records: &mut Records) {
        self.claim = Claim::bare(RelPath::default());
        self.named = None;
        self.problem = None;
        let name = self.xml.name();
        // Any other could be an entry that is spelt otherwise.
        if !matches!(name, "hash" | "creatorinfo" | "metadata") {
            let reason = Malformed::bad_field("element", name.as_bytes());
            records.push(self.xml.start_line(), Content::Malformed(reason));
        }
    }

    fn finish(&mut self, records: &mut Records) {
        let claim = std::mem::replace(&mut self.claim, Claim::bare(RelPath::default()));
        let claim = match (self.problem.take(), self.named.take()) {
            (Some(reason), _) => Err(reason),
            (None, None) => Err(Malformed::NoField("file")),
            (None, Some(name)) => Ok(Claim { name, ..claim }.maybe_from_windows()),
        };
        records.push_claim(self.xml.start_line(), claim);
    }

    fn field(&mut self) -> Result<(), Malformed> {
        let text = self.xml.text();
        let text = text.ok_or_else(|| Malformed::Rule("elements within a field".to_owned()))?;
        let word = text.trim_ascii();
        match self.xml.name() {
            "file" => only(&mut self.named, "file", path(Some(text))?),
            "size" => {
                let digits = std::str::from_utf8(word).unwrap_or("?");
                only(&mut self.claim.size, "size", number("size", digits)?)
            }
            "lastmodificationdate" => {
                let field = "lastmodificationdate";
                let time = moment(word).ok_or_else(|| Malformed::bad_field(field, word))?;
                only(&mut self.claim.modified, field, time)
            }
            "hashdate" | "creationdate" | "null" => Ok(()),
            element => match self.digest(element, word)? {
                Some(digest) => self.claim.add_digest(digest),
                None => Ok(()),
            },
        }
    }

    fn digest(&self, element: &str, word: &[u8]) -> Result<Option<ClaimedDigest>, Malformed> {
        match element {
            "xxhash" => {
                let digits = std::str::from_utf8(word).unwrap_or("?");
                let value = number("xxhash", digits)?;
                let value =
                    u32::try_from(value).map_err(|_| Malformed::bad_field("xxhash", word))?;
                let digits = hex::encode(&value.to_be_bytes());
                self.algorithms.named("xxh32", digits.as_bytes())
            }
            "xxhash64" => {
                let mut bytes =
                    hex::decode(word).ok_or_else(|| Malformed::bad_field("xxhash64", word))?;
                bytes.reverse();
                self.algorithms
                    .named("xxh64", hex::encode(&bytes).as_bytes())
            }
            "xxhash64be" => self.algorithms.named("xxh64", word),
            other => self.algorithms.named(other, word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{Format, Hints, Reader};

    fn read(inside: &str) -> Vec<(u64, Content)> {
        let list = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<hashlist version=\"1.1\">\n\
             <creatorinfo><name>x</name></creatorinfo>\n{inside}</hashlist>\n"
        );
        let reader = Reader::new(list.as_bytes(), &Hints::default()).unwrap();
        assert_eq!(reader.format(), Format::LegacyMhl);
        let records = reader.map(|record| record.unwrap());
        records
            .map(|record| (record.line, record.content))
            .collect()
    }

    /// The three spellings of one file's hashes stand in the test files of the original tool.
    #[test]
    fn the_spellings_of_xxhash_are_told_apart() {
        let all = read(
            "<hash><file>d/file0.txt</file><size>555</size>\
             <lastmodificationdate>2016-04-18T14:45:35Z</lastmodificationdate>\n\
             <xxhash64>e338d99e661114f6</xxhash64><xxhash64be>f61411669ed938e3</xxhash64be>\
             <xxhash>3204945916</xxhash><hashdate>2016-04-18T14:45:36Z</hashdate></hash>",
        );
        let [(4, Content::Claim(claim))] = &all[..] else {
            panic!("{all:?}");
        };
        let digests: Vec<String> = claim
            .digests
            .iter()
            .map(|digest| format!("{digest:?}"))
            .collect();
        let xxh64 = "Known(xxh64:f61411669ed938e3)";
        assert_eq!(digests, [xxh64, "Known(xxh32:bf0797fc)"]);
        assert_eq!(claim.size, Some(555));
    }

    #[test]
    fn no_hash_is_no_digest_and_an_unknown_one_is_not_dropped() {
        let all = read(
            "<hash><file>a</file><size>1</size><null/></hash>\n\
             <hash><file>b</file><size>1</size><crc64>0011223344556677</crc64></hash>\n\
             <hash><file>c</file><xxhash>4294967296</xxhash></hash>",
        );
        let Content::Claim(claim) = &all[0].1 else {
            panic!("{all:?}")
        };
        assert!(claim.digests.is_empty());
        let Content::Claim(claim) = &all[1].1 else {
            panic!("{all:?}")
        };
        assert_eq!(claim.digests, [ClaimedDigest::Unsupported("crc64".into())]);
        assert!(matches!(&all[2], (6, Content::Malformed(_))));
    }

    #[test]
    fn what_is_told_twice_or_spelt_otherwise_is_not_passed_over() {
        let md5 = "<md5>6cbfd919baa7c9e03c8471ae4d8f8bb0</md5>";
        for inside in [
            format!("<hash><file>a</file><file>b</file>{md5}</hash>"),
            format!("<hash><file>a</file><size>1</size><size>1</size>{md5}</hash>"),
            "<hash><file>a</file><xxhash>1</xxhash><xxhash>2</xxhash></hash>".to_owned(),
            format!("<hash><file>a</file><null>{md5}</null></hash>"),
            format!("<Hash><file>a</file>{md5}</Hash>"),
            format!("<hashes><hash><file>a</file>{md5}</hash></hashes>"),
        ] {
            let all = read(&inside);
            assert!(matches!(&all[..], [(4, Content::Malformed(_))]), "{all:?}");
        }
        let twice = read(&format!("<hash><file>a</file>{md5}{md5}</hash>"));
        assert!(
            matches!(&twice[..], [(4, Content::Claim(claim))] if claim.digests.len() == 1),
            "{twice:?}"
        );
    }
}
