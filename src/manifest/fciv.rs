//! Microsoft File Checksum Integrity Verifier: what it prints, and its XML databases.

use std::io::{self, Read};

use super::ascmhl::{only, path};
use super::decoder::{ByLine, Context, Decoder, Grammar, Records, Text};
use super::detect::Sample;
use super::evidence::AlgorithmEvidence;
use super::lines::{Encoding, Lines, Terminator};
use super::wrapper::Wrapper;
use super::xml::{self, LineEnds, Node, XmlReader};
use super::{Claim, Malformed};
use crate::hex;
use crate::relpath::RelPath;

const TITLE: &[u8] = b"File Checksum Integrity Verifier";

pub(super) fn begins(sample: Sample<'_>) -> bool {
    let mut lines = sample.bytes.split(|&byte| byte == b'\n').take(5);
    let is_title = |line: &[u8]| {
        let title = line.trim_ascii().strip_prefix(b"//").unwrap_or_default();
        title.trim_ascii().starts_with(TITLE)
    };
    lines.any(is_title) || xml::root(sample.bytes).is_some_and(|root| root.name == "FCIV")
}

pub(super) fn decoder<'r>(text: Text<'r>, context: Context) -> Box<dyn Decoder + 'r> {
    Box::new(Fciv(State::Unread(Some((text, context)))))
}

/// Decides by the first character which of the two notations it is.
#[derive(Debug)]
struct Fciv<'r>(State<'r>);

enum State<'r> {
    Unread(Option<(Text<'r>, Context)>),
    Read(Box<dyn Decoder + 'r>),
}

impl std::fmt::Debug for State<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unread(_) => f.write_str("Unread"),
            Self::Read(decoder) => f.debug_tuple("Read").field(decoder).finish(),
        }
    }
}

impl Decoder for Fciv<'_> {
    fn advance(&mut self, records: &mut Records) -> io::Result<bool> {
        match &mut self.0 {
            State::Read(decoder) => decoder.advance(records),
            State::Unread(unread) => {
                let Some((text, context)) = unread.take() else {
                    return Ok(false);
                };
                self.0 = State::Read(choose(text, &context)?);
                Ok(true)
            }
        }
    }
}

fn choose<'r>(mut text: Text<'r>, context: &Context) -> io::Result<Box<dyn Decoder + 'r>> {
    let mut head = Vec::new();
    while head.last().is_none_or(u8::is_ascii_whitespace) {
        if text.by_ref().take(1).read_to_end(&mut head)? == 0 {
            break;
        }
    }
    let is_xml = head.last() == Some(&b'<');
    let text: Text<'r> = Box::new(io::Cursor::new(head).chain(text));
    Ok(if is_xml {
        Box::new(Database {
            xml: XmlReader::new(text, LineEnds::Normal),
            algorithms: context.algorithms,
            claim: Claim::bare(RelPath::default()),
            named: None,
            problem: None,
        })
    } else {
        let lines = Lines::new(text, Encoding::Bytes, Terminator::Line);
        let printed = Printed {
            algorithms: context.algorithms,
            both: false,
        };
        Box::new(ByLine::new(lines, Wrapper::None, Box::new(printed)))
    })
}

/// `fciv FILE` and `fciv -both FILE`.
#[derive(Debug)]
struct Printed {
    algorithms: AlgorithmEvidence,
    /// Whether a heading announces two digests.
    both: bool,
}

impl Grammar for Printed {
    fn line(&mut self, number: u64, text: &[u8], records: &mut Records) {
        let trimmed = text.trim_ascii();
        let words = trimmed
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let is_rule = trimmed.iter().all(|byte| *byte == b'-');
        let heading: [&[u8]; 2] = [b"MD5", b"SHA-1"];
        if words.eq(heading) {
            self.both = true;
        } else if !is_rule && !trimmed.starts_with(b"//") {
            records.push_claim(number, self.claim(text));
        }
    }
}

impl Printed {
    fn claim(&self, text: &[u8]) -> Result<Claim, Malformed> {
        let (first, rest) = cut(text)?;
        let mut digests = Vec::new();
        let name = if self.both {
            let (second, name) = cut(rest)?;
            digests.extend(self.algorithms.named("md5", first)?);
            digests.extend(self.algorithms.named("sha1", second)?);
            name
        } else {
            let algorithm = match first.len() {
                32 => "md5",
                40 => "sha1",
                _ => return Err(Malformed::NoShape),
            };
            digests.extend(self.algorithms.named(algorithm, first)?);
            rest
        };
        let claim = Claim::bare(path(Some(name))?);
        Ok(Claim { digests, ..claim }.maybe_from_windows())
    }
}

/// The digits before the first blank, and what follows it.
fn cut(text: &[u8]) -> Result<(&[u8], &[u8]), Malformed> {
    let place = text.iter().position(|byte| matches!(byte, b' ' | b'\t'));
    let (digits, rest) = text.split_at(place.ok_or(Malformed::NoShape)?);
    if hex::decode(digits).is_none() {
        return Err(Malformed::NoShape);
    }
    Ok((digits, &rest[1..]))
}

/// `fciv -xml DATABASE`, with digests in base64.
#[derive(Debug)]
struct Database<'r> {
    xml: XmlReader<'r>,
    algorithms: AlgorithmEvidence,
    claim: Claim,
    named: Option<RelPath>,
    problem: Option<Malformed>,
}

impl Decoder for Database<'_> {
    fn advance(&mut self, records: &mut Records) -> io::Result<bool> {
        match self.xml.next() {
            Ok(Node::Start) if self.xml.depth() == 2 => {
                self.claim = Claim::bare(RelPath::default());
                self.named = None;
                self.problem = None;
            }
            Ok(Node::End) if self.xml.depth() == 2 => self.finish(records),
            Ok(Node::End) if self.xml.depth() == 3 => {
                if let Err(reason) = self.field() {
                    self.problem.get_or_insert(reason);
                }
            }
            Ok(Node::Start | Node::End) => {}
            Ok(Node::Done) => return Ok(false),
            Err(error) => {
                error.tell(self.xml.line(), records)?;
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Database<'_> {
    fn finish(&mut self, records: &mut Records) {
        let claim = std::mem::replace(&mut self.claim, Claim::bare(RelPath::default()));
        let claim = match (self.problem.take(), self.named.take()) {
            (Some(reason), _) => Err(reason),
            (None, None) => Err(Malformed::NoField("name")),
            (None, Some(name)) => Ok(Claim { name, ..claim }.maybe_from_windows()),
        };
        records.push_claim(self.xml.start_line(), claim);
    }

    fn field(&mut self) -> Result<(), Malformed> {
        if self.xml.name() == "name" {
            return only(&mut self.named, "name", path(self.xml.text())?);
        }
        let text = self.xml.text().unwrap_or_default().trim_ascii();
        let digits = hex::decode_base64(text).ok_or(Malformed::BadField {
            field: "digest in base64",
            value: text.to_vec(),
        })?;
        let digits = hex::encode(&digits);
        let named = self.algorithms.named(self.xml.name(), digits.as_bytes());
        match named? {
            Some(digest) => self.claim.add_digest(digest),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{Content, Format, Hints, Reader};

    fn read(list: &str) -> Vec<(u64, String, Vec<String>)> {
        let reader = Reader::new(list.as_bytes(), &Hints::default()).unwrap();
        assert_eq!(reader.format(), Format::Fciv);
        let shown = |record: io::Result<crate::manifest::Record>| {
            let record = record.unwrap();
            match record.content {
                Content::Claim(claim) => {
                    let name = claim.other_name.as_ref().unwrap_or(&claim.name);
                    let digests = claim.digests.iter().map(|digest| format!("{digest:?}"));
                    (record.line, name.to_string(), digests.collect())
                }
                other => (record.line, format!("{other:?}"), Vec::new()),
            }
        };
        reader.map(shown).collect()
    }

    const MD5: &str = "Known(md5:6cbfd919baa7c9e03c8471ae4d8f8bb0)";

    #[test]
    fn a_database_has_base64() {
        let all = read(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n<FCIV>\r\n<FILE_ENTRY><name>d\\ntdll.dll</name>\
             <MD5>bL/ZGbqnyeA8hHGuTY+LsA==</MD5></FILE_ENTRY></FCIV>",
        );
        assert_eq!(all, [(3, "d/ntdll.dll".to_owned(), vec![MD5.to_owned()])]);
    }

    #[test]
    fn an_entry_has_one_name_and_one_digest_of_a_kind() {
        let md5 = "<MD5>bL/ZGbqnyeA8hHGuTY+LsA==</MD5>";
        let other = "<MD5>kAFQmDzST7DWlj99KOF/cg==</MD5>";
        for (inside, malformed) in [
            (format!("<name>a</name><name>b</name>{md5}"), true),
            (format!("<name>a</name>{md5}{other}"), true),
            (format!("<name>a</name>{md5}{md5}"), false),
        ] {
            let all = read(&format!("<FCIV><FILE_ENTRY>{inside}</FILE_ENTRY></FCIV>"));
            assert_eq!(all.len(), 1);
            assert_eq!(all[0].1.starts_with("Malformed"), malformed, "{all:?}");
            assert_eq!(all[0].2.len(), usize::from(!malformed));
        }
    }

    #[test]
    fn printed_lists_have_one_digest_or_two() {
        let head = "//\r\n// File Checksum Integrity Verifier version 2.05.\r\n//\r\n";
        let md5 = "6cbfd919baa7c9e03c8471ae4d8f8bb0";
        let sha1 = "a9993e364706816aba3e25717850c26c9cd0d89d";
        let all = read(&format!("{head}{md5} c:\\a b\\c\r\n{sha1} x\r\nhello\r\n"));
        assert_eq!(all[0], (4, "c:/a b/c".to_owned(), vec![MD5.to_owned()]));
        assert_eq!(all[1].2, [format!("Known(sha1:{sha1})")]);
        assert_eq!(all[2], (6, "Malformed(NoShape)".to_owned(), Vec::new()));
        let table = format!("{head}\t\tMD5\t\t\t\tSHA-1\r\n---------\r\n{md5} {sha1} a\r\n");
        let all = read(&table);
        let both = vec![MD5.to_owned(), format!("Known(sha1:{sha1})")];
        assert_eq!(all, [(6, "a".to_owned(), both)]);
    }
}
