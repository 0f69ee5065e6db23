//! hashdeep's lists: every digest of a file in one line, with its size.
//!
//! ```text
//! head  = "%%%% HASHDEEP-1.0" LF "%%%% size," WORD *("," WORD) ",filename" LF
//! entry = SIZE *("," HEX) "," NAME LF       comment = "#" anything
//! ```
//!
//! The columns may come in any order, but for the name, which is everything after the last comma
//! that the columns need, and is not escaped: a name with a line break forges a line, and is refused
//! on writing. A second heading begins another list. Source: the manual of hashdeep 4.4, and what it
//! writes and accepts; its audit mode takes no notice of the size or of a second digest that differs,
//! which is not imitated here.

use super::decoder::{self, Context, Records};
use super::detect::Sample;
use super::encoder::{self, Setup};
use super::evidence::AlgorithmEvidence;
use super::plain;
use super::writer::{Column, EntryError, WriterError};
use super::{Claim, Content, Entry, Format, GapKind, Malformed};
use super::{gap, lines};
use crate::algorithm::Algorithm;
use crate::hex;
use crate::relpath::RelPath;

const MAGIC: &[u8] = b"%%%% HASHDEEP-1.0";
const MARK: &[u8] = b"%%%% ";

/// The algorithms that hashdeep computes, in the order in which it writes them.
const CARRIED: [Algorithm; 5] = [
    Algorithm::Md5,
    Algorithm::Sha1,
    Algorithm::Sha256,
    Algorithm::Tiger,
    Algorithm::Whirlpool,
];

/// What a field before the name holds.
#[derive(Debug, PartialEq, Eq)]
enum Field {
    Size,
    Digest(String),
}

#[derive(Debug)]
struct Grammar {
    algorithms: AlgorithmEvidence,
    /// Empty until a heading was read.
    fields: Vec<Field>,
}

/// The grammar of these lists.
pub(super) fn grammar(context: &Context) -> Box<dyn decoder::Grammar> {
    Box::new(Grammar {
        algorithms: context.algorithms,
        fields: Vec::new(),
    })
}

/// Whether the first line with text is the heading.
pub(super) fn begins(sample: Sample<'_>) -> bool {
    sample.bytes.trim_ascii_start().starts_with(MAGIC)
}

impl decoder::Grammar for Grammar {
    fn line(&mut self, number: u64, text: &[u8], records: &mut Records) {
        if let Some(gap) = gap::read(text) {
            records.push(number, gap);
        } else if text.is_empty() || text.starts_with(b"#") {
        } else if text.starts_with(MARK) {
            if let Err(reason) = self.heading(text) {
                self.fields.clear();
                records.push(number, Content::Malformed(reason));
            }
        } else {
            records.push_claim(number, self.claim(text));
        }
    }
}

impl Grammar {
    fn heading(&mut self, text: &[u8]) -> Result<(), Malformed> {
        if text == MAGIC {
            self.fields.clear();
            return Ok(());
        }
        let bad = || Malformed::BadField {
            field: "line of columns",
            value: text.to_vec(),
        };
        let words = std::str::from_utf8(&text[MARK.len()..]).map_err(|_| bad())?;
        let words = words.strip_suffix(",filename").ok_or_else(bad)?;
        self.fields = words.split(',').map(field).collect();
        let sizes = self.fields.iter().filter(|field| **field == Field::Size);
        if sizes.count() == 1 {
            Ok(())
        } else {
            Err(bad())
        }
    }

    fn claim(&self, text: &[u8]) -> Result<Claim, Malformed> {
        let Some(last_field) = self.fields.len().checked_sub(1) else {
            return Err(Malformed::NoField("line of columns above"));
        };
        let comma = lines::find_all(b',', text).nth(last_field);
        let (parts, name) = text.split_at(comma.ok_or(Malformed::NoShape)?);
        let mut claim = Claim::bare(RelPath::default());
        for (field, part) in self.fields.iter().zip(lines::split(parts, b',')) {
            match field {
                Field::Size => claim.size = Some(size(part)?),
                Field::Digest(word) => {
                    if let Some(digest) = self.algorithms.named(word, part)? {
                        claim.add_digest(digest)?;
                    }
                }
            }
        }
        claim.name = plain::name(&name[1..], false)?;
        Ok(claim.maybe_from_windows())
    }
}

fn field(word: &str) -> Field {
    if word.eq_ignore_ascii_case("size") {
        Field::Size
    } else {
        Field::Digest(word.to_owned())
    }
}

fn size(part: &[u8]) -> Result<u64, Malformed> {
    lines::decimal(part).ok_or_else(|| Malformed::bad_field("size", part))
}

/// Writes one line an entry, with the columns in hashdeep's order.
#[derive(Debug)]
struct Encoder {
    columns: Vec<Column>,
}

/// The encoder of these lists.
pub(super) fn encoder(mut setup: Setup) -> Result<Box<dyn encoder::Encoder>, WriterError> {
    let place = |column: &Column| CARRIED.iter().position(|a| *a == column.algorithm);
    if let Some(column) = setup.columns.iter().find(|column| place(column).is_none()) {
        return Err(WriterError::NotCarried {
            format: Format::Hashdeep,
            algorithm: column.algorithm,
            carried: "md5, sha1, sha256, tiger, whirlpool",
        });
    }
    setup.columns.sort_by_key(place);
    Ok(Box::new(Encoder {
        columns: setup.columns,
    }))
}

impl encoder::Encoder for Encoder {
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<(), EntryError> {
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(b"\n%%%% size");
        for column in &self.columns {
            out.push(b',');
            out.extend_from_slice(column.algorithm.info().name.as_bytes());
        }
        out.extend_from_slice(b",filename\n");
        Ok(())
    }

    fn entry(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) -> Result<(), EntryError> {
        let name = entry.name.as_bytes();
        if name.contains(&b'\n') || name.ends_with(b"\r") {
            return Err(EntryError::NameNotCarried {
                name: entry.name.clone(),
                format: Format::Hashdeep,
                what: "a line break",
            });
        }
        let size = entry.size.ok_or_else(|| EntryError::NoField {
            name: entry.name.clone(),
            format: Format::Hashdeep,
            field: "size",
        })?;
        out.extend_from_slice(size.to_string().as_bytes());
        for column in &self.columns {
            out.push(b',');
            hex::encode_into(column.digest_of(entry)?.as_bytes(), out);
        }
        out.push(b',');
        out.extend_from_slice(name);
        out.push(b'\n');
        Ok(())
    }

    fn gap(&mut self, name: &RelPath, kind: GapKind, out: &mut Vec<u8>) -> Result<(), EntryError> {
        gap::write_into(name, kind, lines::Terminator::Line, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{
        File, any_file, asking, in_format, made_of, no_hints, read_to_the_end, round_trip, shown,
    };
    use super::super::{Writer, WriterOptions};
    use super::*;
    use proptest::prelude::*;

    fn read(list: &str) -> Vec<String> {
        let (format, records) = shown(list, &no_hints());
        assert_eq!(format, Format::Hashdeep);
        records
    }

    #[test]
    fn columns_are_as_the_heading_says() {
        let list = "%%%% HASHDEEP-1.0\n%%%% size,sha256,MD5,filename\n## Invoked from: /x\n## \n\
                    1,SHA256!,MD5!,a, \"b\" \n# multisum gap: unreadable c\n";
        assert_eq!(read(list), ["5:a, \"b\"  1 sha256 md5", "6 Unreadable c"]);
        let other = "\n%%%% HASHDEEP-1.0\r\n%%%% sha1,size,gost,filename\r\nSHA1!,1,00,d\\e\r\n";
        assert_eq!(read(other), ["4:d\\\\e (d/e) 1 sha1 !gost"]);
    }

    #[test]
    fn a_line_of_another_shape_is_malformed() {
        let head = "%%%% HASHDEEP-1.0\n%%%% size,md5,filename\n";
        let one = |line: &str| read(&format!("{head}{line}\n")).remove(0);
        assert_eq!(one("1,MD5!"), "3!not a checksum line");
        assert_eq!(one("line,MD5!,a"), "3!bad size: 'line'");
        assert_eq!(one("+1,MD5!,a"), "3!bad size: '+1'");
        assert_eq!(
            one("1,MD5!00,a"),
            "3!not a md5 digest, which has 32 hexadecimal digits"
        );
        assert_eq!(one("1,MD5!,"), "3!the name is empty");
        assert_eq!(one("MD5!  a"), "3!not a checksum line");
        assert_eq!(
            one("%%%% md5,filename\n1,MD5!,a"),
            "3!bad line of columns: '%%%% md5,filename'"
        );
    }

    #[test]
    fn a_column_that_comes_twice_counts_once_and_must_not_contradict_itself() {
        let head = "%%%% HASHDEEP-1.0\n%%%% size,md5,md5,filename\n";
        let list = format!("{head}1,MD5!,MD5!,a\n1,MD5!,00000000000000000000000000000000,b\n");
        assert_eq!(read(&list), ["3:a 1 md5", "4!two different md5 digests"]);
    }

    #[test]
    fn without_columns_nothing_is_guessed() {
        let records = read("%%%% HASHDEEP-1.0\n1,MD5!,a\n");
        assert_eq!(records, ["2!no line of columns above"]);
        let (_, records) = shown("1,MD5!,a\n", &in_format(Format::Hashdeep));
        assert_eq!(records, ["1!no line of columns above"]);
    }

    #[test]
    fn of_several_digests_the_one_asked_for_is_taken() {
        let list = "%%%% HASHDEEP-1.0\n%%%% size,md5,sha1,filename\n1,MD5!,SHA1!,a\n";
        assert_eq!(shown(list, &asking(Algorithm::Sha1)).1, ["3:a 1 sha1"]);
        assert_eq!(shown(list, &asking(Algorithm::Tiger)).1, ["3:a 1"]);
    }

    #[test]
    fn columns_are_written_in_the_order_of_hashdeep() {
        let options = WriterOptions::new(Format::Hashdeep, &[Algorithm::Tiger, Algorithm::Md5]);
        let mut writer = Writer::new(options).unwrap();
        let mut out = Vec::new();
        let name = RelPath::from("a,b");
        let file = File {
            name: name.clone(),
            size: Some(3),
            modified: None,
            seed: 0,
        };
        let digests = file.digests(&[Algorithm::Tiger, Algorithm::Md5]);
        let entry = |size| Entry {
            name: &name,
            digests: &digests,
            size,
            modified: None,
        };
        assert!(writer.write_entry(&mut out, &entry(None)).is_err());
        writer.write_entry(&mut out, &entry(Some(3))).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "%%%% HASHDEEP-1.0\n%%%% size,md5,tiger,filename\n\
             3,000102030405060708090a0b0c0d0e0f,000102030405060708090a0b0c0d0e0f1011121314151617,a,b\n"
        );
        let options = WriterOptions::new(Format::Hashdeep, &[Algorithm::Sha512]);
        assert!(matches!(
            Writer::new(options),
            Err(WriterError::NotCarried { .. })
        ));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            files in prop::collection::vec(any_file(), 1..8),
            algorithms in prop::sample::subsequence(CARRIED.to_vec(), 1..=5),
        ) {
            let without_time = |_: &File, claim| Claim { modified: None, ..claim };
            round_trip(Format::Hashdeep, &algorithms, &files, &no_hints(), without_time)?;
        }

        #[test]
        fn any_text_is_read_to_its_end(list in made_of(&[
            "%%%% HASHDEEP-1.0\n", "%%%% size,md5,filename\n", "%%%% ", "size", "1,", ",filename",
        ])) {
            read_to_the_end(&list, Format::Hashdeep)?;
            read_to_the_end(&[b"%%%% HASHDEEP-1.0\n%%%% md5,size,filename\n", &list[..]].concat(), Format::Hashdeep)?;
        }
    }
}
