//! Comma-separated values: our own with a heading, and those of cfv without one.
//!
//! Ours has a row `path,size,mtime,ALGORITHM…` and one a file below it, quoted as RFC 4180 says. Names
//! stand there as bytes, whatever their encoding. A file known but not hashed has a word in place of
//! its digests. cfv's rows end with a comma: `NAME,SIZE,CRC32,`, `NAME,SIZE,` and
//! `NAME,SIZE,CRC32,FOLDER,`.

use std::fmt::{self, Debug, Formatter};
use std::io::{self, BufRead, BufReader, Read};

use csv::{ByteRecord, ReaderBuilder, Terminator, WriterBuilder};

use super::decoder::{Context, Decoder, Records, Text};
use super::detect::Sample;
use super::encoder::{Encoder, Setup};
use super::evidence::AlgorithmEvidence;
use super::json_entry::{gap_word, spell, unknown_digest};
use super::json_text::name_of_bytes;
use super::lines::{MAX_LINE_LEN_BYTES, decimal, find};
use super::writer::{Column, EntryError, WriterError};
use super::{Claim, Content, Entry, Format, GapKind, Malformed};
use crate::algorithm::Algorithm;
use crate::hex;
use crate::relpath::RelPath;
use crate::timestamp::Modified;

const BUFFER_LEN_BYTES: usize = 128 << 10;

/// So many rows are looked at to recognise a list without a heading.
const VOTERS: usize = 20;

pub(super) fn begins(sample: Sample<'_>) -> bool {
    let ending = sample.list_name.and_then(|path| path.extension());
    let is_named = ending.is_some_and(|ending| {
        ["csv", "csv2", "csv4"]
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known))
    });
    let rows = first_rows(sample);
    let Some(first) = rows.first() else {
        return false;
    };
    is_heading(first)
        || rows.iter().all(|row| match Shape::of_cfv(row) {
            Some(Shape::Sizes) => is_named,
            Some(_) => !starts_like_gnu(row),
            None => false,
        })
}

/// The first rows, without one that is cut off.
fn first_rows(sample: Sample<'_>) -> Vec<ByteRecord> {
    let mut rows = Rows::new(Box::new(sample.bytes));
    let mut first = Vec::new();
    while first.len() < VOTERS {
        match rows.next_row() {
            Ok(Some(Ok(_))) => first.push(rows.row.clone()),
            _ => break,
        }
    }
    if !sample.complete && first.len() > 1 && first.len() < VOTERS {
        first.pop();
    }
    first
}

fn is_heading(row: &ByteRecord) -> bool {
    let mut fields = row.iter();
    let is_known = |field: &[u8]| {
        matches!(field, b"size" | b"mtime")
            || std::str::from_utf8(field).is_ok_and(|word| word.parse::<Algorithm>().is_ok())
    };
    fields.next() == Some(b"path") && fields.any(is_known)
}

/// Whether a name looks like a digest and a name.
fn starts_like_gnu(row: &ByteRecord) -> bool {
    let name = row.get(0).unwrap_or_default();
    let digits = name
        .iter()
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    digits >= 8 && name.get(digits) == Some(&b' ')
}

/// The fields of one row, with any bytes.
pub(super) type Row = ByteRecord;

/// Rows of fields, with their lines, from a stream. Memory is bounded by one row.
pub(super) struct Rows<'r> {
    input: BufReader<Text<'r>>,
    line: u64,
    raw: Vec<u8>,
    fields: csv::Reader<Portion>,
    pub(super) row: ByteRecord,
}

/// The text of one row, which is handed to the parser.
#[derive(Default)]
struct Portion {
    text: Vec<u8>,
    given: usize,
}

impl Read for Portion {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = (&self.text[self.given..]).read(buffer)?;
        self.given += count;
        Ok(count)
    }
}

impl<'r> Rows<'r> {
    pub(super) fn new(text: Text<'r>) -> Self {
        Self {
            input: BufReader::with_capacity(BUFFER_LEN_BYTES, text),
            line: 0,
            raw: Vec::new(),
            fields: ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .terminator(Terminator::Any(b'\n'))
                .from_reader(Portion::default()),
            row: ByteRecord::new(),
        }
    }

    /// Reads the next row that is not empty into `row` and gives the line where it begins; or the
    /// line and the reason why nothing more can be read.
    pub(super) fn next_row(&mut self) -> io::Result<Option<Result<u64, (u64, Malformed)>>> {
        loop {
            let line = self.line + 1;
            if let Err(reason) = self.read_raw()? {
                return Ok(Some(Err((line, reason))));
            }
            if self.raw.is_empty() {
                return Ok(None);
            }
            if self.raw == b"\n" {
                continue;
            }
            let portion = self.fields.get_mut();
            std::mem::swap(&mut portion.text, &mut self.raw);
            portion.given = 0;
            let read = self.fields.read_byte_record(&mut self.row);
            read.map_err(io::Error::from)?;
            return Ok(Some(Ok(line)));
        }
    }

    /// Reads the text of a row, up to a line feed outside quotes, and makes that its only line end.
    fn read_raw(&mut self) -> io::Result<Result<(), Malformed>> {
        self.raw.clear();
        let mut quotes = Quotes::FieldStart;
        loop {
            let before = self.raw.len();
            let room = (MAX_LINE_LEN_BYTES + 1 - before) as u64;
            self.input
                .by_ref()
                .take(room)
                .read_until(b'\n', &mut self.raw)?;
            let added = &self.raw[before..];
            if added.is_empty() && before > 0 {
                return Ok(Err(broken("a quoted field has no end")));
            }
            if self.raw.len() > MAX_LINE_LEN_BYTES {
                return Ok(Err(Malformed::TooLong(MAX_LINE_LEN_BYTES)));
            }
            self.line += u64::from(!added.is_empty());
            // Without a quote, the text is as far inside or outside of one as before.
            if find(b'"', added).is_some() {
                quotes = added
                    .iter()
                    .fold(quotes, |quotes, byte| quotes.after(*byte));
            }
            if quotes != Quotes::Inside {
                break;
            }
        }
        if !self.raw.is_empty() {
            let text = self.raw.strip_suffix(b"\n").unwrap_or(&self.raw);
            let len = text.strip_suffix(b"\r").unwrap_or(text).len();
            self.raw.truncate(len);
            self.raw.push(b'\n');
        }
        Ok(Ok(()))
    }
}

impl Debug for Rows<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows")
            .field("line", &self.line)
            .finish_non_exhaustive()
    }
}

fn broken(reason: &str) -> Malformed {
    Malformed::Notation {
        notation: "CSV",
        reason: reason.to_owned(),
    }
}

/// Whether a line end counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    FieldStart,
    Plain,
    Inside,
    /// Behind a quote that either ends the field or is the first half of a quote in it.
    Behind,
}

impl Quotes {
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Inside, b'"') => Self::Behind,
            (Self::Inside, _) | (Self::FieldStart | Self::Behind, b'"') => Self::Inside,
            (_, b',' | b'\n') => Self::FieldStart,
            _ => Self::Plain,
        }
    }
}

pub(super) fn decoder<'r>(text: Text<'r>, context: Context) -> Box<dyn Decoder + 'r> {
    Box::new(Table {
        rows: Rows::new(text),
        context,
        shape: None,
    })
}

/// What the rows consist of.
#[derive(Debug, PartialEq, Eq)]
enum Shape {
    /// Ours, with what the heading says of each field.
    Own(Vec<Field>),
    /// `NAME,SIZE,`
    Sizes,
    /// `NAME,SIZE,CRC32,`
    Sums,
    /// `NAME,SIZE,CRC32,FOLDER,`
    Folders,
}

#[derive(Debug, PartialEq, Eq)]
enum Field {
    Path,
    Size,
    Modified,
    Digest(String),
}

impl Shape {
    fn of_cfv(row: &ByteRecord) -> Option<Self> {
        let (name, size) = (row.get(0)?, row.get(1)?);
        let is_sum =
            |field: Option<&[u8]>| field.is_some_and(|sum| sum.len() == 8 && hex::is_hex(sum));
        let shape = match row.len() {
            3 => Self::Sizes,
            4 if is_sum(row.get(2)) => Self::Sums,
            5 if is_sum(row.get(2)) => Self::Folders,
            _ => return None,
        };
        let is_size = !size.is_empty() && size.iter().all(u8::is_ascii_digit);
        let ends_empty = row.get(row.len() - 1) == Some(b"");
        (is_size && ends_empty && !name.is_empty()).then_some(shape)
    }

    fn own(heading: &ByteRecord) -> Result<Self, Malformed> {
        let mut fields = Vec::new();
        for word in heading {
            let field = match word {
                b"path" => Field::Path,
                b"size" => Field::Size,
                b"mtime" => Field::Modified,
                word => match std::str::from_utf8(word) {
                    Ok(word) if !word.is_empty() => Field::Digest(word.to_owned()),
                    _ => return Err(Malformed::bad_field("heading", word)),
                },
            };
            if fields.contains(&field) {
                return Err(Malformed::bad_field("heading", word));
            }
            fields.push(field);
        }
        Ok(Self::Own(fields))
    }
}

#[derive(Debug)]
struct Table<'r> {
    rows: Rows<'r>,
    context: Context,
    shape: Option<Shape>,
}

impl Decoder for Table<'_> {
    fn advance(&mut self, records: &mut Records) -> io::Result<bool> {
        let line = match self.rows.next_row()? {
            None => return Ok(false),
            Some(Ok(line)) => line,
            Some(Err((line, reason))) => {
                records.push(line, Content::Malformed(reason));
                return Ok(false);
            }
        };
        let row = &self.rows.row;
        let Some(shape) = &self.shape else {
            if is_heading(row) {
                match Shape::own(row) {
                    Ok(shape) => self.shape = Some(shape),
                    Err(reason) => {
                        records.push(line, Content::Malformed(reason));
                        return Ok(false);
                    }
                }
                return Ok(true);
            }
            let shape = Shape::of_cfv(row);
            let Some(shape) = shape else {
                let reason = broken("neither a heading with path nor a row of cfv");
                records.push(line, Content::Malformed(reason));
                return Ok(false);
            };
            records.push(line, content(row, &shape, &self.context.algorithms));
            self.shape = Some(shape);
            return Ok(true);
        };
        records.push(line, content(row, shape, &self.context.algorithms));
        Ok(true)
    }
}

fn content(row: &ByteRecord, shape: &Shape, algorithms: &AlgorithmEvidence) -> Content {
    let content = match shape {
        Shape::Own(fields) => own_row(row, fields, algorithms),
        _ if Shape::of_cfv(row).as_ref() != Some(shape) => Err(Malformed::NoShape),
        _ => cfv_row(row, algorithms).map(Content::Claim),
    };
    content.unwrap_or_else(Content::Malformed)
}

fn own_row(
    row: &ByteRecord,
    fields: &[Field],
    algorithms: &AlgorithmEvidence,
) -> Result<Content, Malformed> {
    if row.len() != fields.len() {
        let (count, expected) = (row.len(), fields.len());
        return Err(Malformed::Rule(format!(
            "{count} fields, and not {expected}"
        )));
    }
    let mut claim = Claim::bare(RelPath::default());
    let mut gaps = Vec::new();
    let mut empty = Vec::new();
    let mut has_digest = false;
    for (field, value) in fields.iter().zip(row) {
        match field {
            Field::Path => claim.name = name_of_bytes(value.to_vec())?,
            Field::Digest(word) => match gap_kind(value) {
                Some(kind) => gaps.push(kind),
                None if value.is_empty() => empty.push(word),
                None => {
                    has_digest = true;
                    add(&mut claim, word, value, algorithms)?;
                }
            },
            _ if value.is_empty() => {}
            Field::Size => claim.size = Some(size(value)?),
            Field::Modified => {
                let modified = std::str::from_utf8(value).ok().and_then(Modified::parse);
                claim.modified =
                    Some(modified.ok_or_else(|| Malformed::bad_field("mtime", value))?);
            }
        }
    }
    match gaps.first() {
        None => {
            for word in empty {
                add(&mut claim, word, b"", algorithms)?;
            }
            Ok(Content::Claim(claim))
        }
        Some(kind) if !has_digest && gaps.iter().all(|gap| gap == kind) => {
            let (name, kind) = (claim.name, *kind);
            Ok(Content::Gap { name, kind })
        }
        Some(_) => Err(Malformed::Rule("an error and a digest in one row".into())),
    }
}

fn add(
    claim: &mut Claim,
    word: &str,
    digits: &[u8],
    algorithms: &AlgorithmEvidence,
) -> Result<(), Malformed> {
    unknown_digest(word, digits)?;
    match algorithms.named(word, digits)? {
        Some(digest) => claim.add_digest(digest),
        None => Ok(()),
    }
}

fn gap_kind(word: &[u8]) -> Option<GapKind> {
    let kinds = [GapKind::Unreadable, GapKind::Unstable];
    kinds
        .into_iter()
        .find(|kind| gap_word(*kind).as_bytes() == word)
}

fn size(digits: &[u8]) -> Result<u64, Malformed> {
    decimal(digits).ok_or_else(|| Malformed::bad_field("size", digits))
}

fn cfv_row(row: &ByteRecord, algorithms: &AlgorithmEvidence) -> Result<Claim, Malformed> {
    let field = |at| row.get(at).unwrap_or_default();
    let folder = if row.len() == 5 { field(3) } else { b"" };
    let name = match folder {
        b"" => field(0).to_vec(),
        folder => [folder, field(0)].join(&b'/'),
    };
    let mut claim = Claim::bare(name_of_bytes(name)?);
    claim.size = Some(size(field(1))?);
    if row.len() > 3 {
        add(&mut claim, "crc32", field(2), algorithms)?;
    }
    Ok(claim.maybe_from_windows())
}

pub(super) fn encoder(setup: Setup) -> Result<Box<dyn Encoder>, WriterError> {
    Ok(Box::new(Written {
        columns: setup.columns,
    }))
}

#[derive(Debug)]
struct Written {
    columns: Vec<Column>,
}

impl Encoder for Written {
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<(), EntryError> {
        let mut fields: Vec<Vec<u8>> = ["path", "size", "mtime"].map(Vec::from).into();
        let algorithms = self
            .columns
            .iter()
            .map(|column| column.algorithm.to_string());
        fields.extend(algorithms.map(String::into_bytes));
        row_into(&fields, out).map_err(|_| EntryError::EmptyName)
    }

    fn entry(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) -> Result<(), EntryError> {
        let size = entry.size.map(|size| size.to_string().into_bytes());
        let modified = entry.modified.map(|modified| spell(modified).into_bytes());
        let mut fields = vec![
            entry.name.as_bytes().to_vec(),
            size.unwrap_or_default(),
            modified.unwrap_or_default(),
        ];
        for column in &self.columns {
            let digest = column.digest_of(entry)?;
            fields.push(hex::encode(digest.as_bytes()).into_bytes());
        }
        row_into(&fields, out).map_err(|_| refused(entry.name))
    }

    fn gap(&mut self, name: &RelPath, kind: GapKind, out: &mut Vec<u8>) -> Result<(), EntryError> {
        let mut fields = vec![name.as_bytes().to_vec(), Vec::new(), Vec::new()];
        fields.extend(self.columns.iter().map(|_| gap_word(kind).into()));
        row_into(&fields, out).map_err(|_| refused(name))
    }
}

fn refused(name: &RelPath) -> EntryError {
    EntryError::NameNotCarried {
        name: name.clone(),
        format: Format::Csv,
        what: "such bytes",
    }
}

fn row_into(fields: &[Vec<u8>], out: &mut Vec<u8>) -> Result<(), csv::Error> {
    let mut writer = WriterBuilder::new().buffer_capacity(512).from_writer(out);
    writer.write_record(fields)?;
    Ok(writer.flush()?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::manifest::Header;
    use crate::manifest::json_entry::testing::{
        Item, any_algorithms, any_items, any_text, contents, expected, shown, write,
    };

    #[test]
    fn a_table_is_spelled_as_rfc_4180_says() {
        let item = |name: &[u8]| Item::File {
            name: RelPath::from_bytes(name),
            seed: 1,
            size: Some(2),
            modified: Modified::parse("2026-01-02T03:04:05.5Z"),
        };
        let gap = Item::Gap(RelPath::from("x"), GapKind::Unstable);
        let items = [item(b"a"), item(b"\"b\",\n\xff"), gap];
        let algorithms = [Algorithm::Crc32, Algorithm::Xxh32];
        let text = write(Format::Csv, &Header::default(), &algorithms, &items);
        let expected = b"path,size,mtime,crc32,xxh32\n\
            a,2,2026-01-02T03:04:05.5Z,01010101,01010101\n\
            \"\"\"b\"\",\n\xff\",2,2026-01-02T03:04:05.5Z,01010101,01010101\n\
            x,,,unstable,unstable\n";
        assert_eq!(
            text.escape_ascii().to_string(),
            expected.escape_ascii().to_string()
        );
    }

    #[test]
    fn rows_have_the_lines_where_they_begin_whatever_the_line_ends() {
        let text = "path,crc32\n\n\"a\nb\",01010101\nc\rd,01010101\n";
        let found = ["3:a\\nb", "5:c\\rd"];
        assert_eq!(shown(text, None), found);
        let windows = "path,crc32\r\n\r\n\"a\r\nb\",01010101\r\nc,01010101";
        assert_eq!(shown(windows, None), ["3:a\\r\\nb", "5:c"]);
    }

    #[test]
    fn rows_that_are_not_understood_are_named() {
        for (row, message) in [
            ("a", "2!1 fields, and not 4"),
            ("a,1,x,01010101", "2!bad mtime: 'x'"),
            ("a,+1,,01010101", "2!bad size: '+1'"),
            (
                "a,1,,0101010",
                "2!not a crc32 digest, which has 8 hexadecimal digits",
            ),
            (",1,,01010101", "2!the name is empty"),
            (
                "\"a,1,,01010101",
                "2!not valid CSV: a quoted field has no end",
            ),
            (
                "a,,,",
                "2!not a crc32 digest, which has 8 hexadecimal digits",
            ),
        ] {
            let text = format!("path,size,mtime,crc32\n{row}\n");
            assert_eq!(shown(&text, None), [message], "{row}");
        }
        let unknown = shown("path,size,remark\na,1,hello\n", None);
        assert_eq!(unknown, ["2!unknown field \"remark\""]);
        let unknown = shown("path,size,remark\na,1,\n", None);
        assert_eq!(unknown, ["2!unknown field \"remark\""]);
        let twice = shown("path,crc32,path\na,01010101,b\n", None);
        assert_eq!(twice, ["1!bad heading: 'path'"]);
    }

    #[test]
    fn a_row_without_one_of_its_digests_is_a_gap_or_refused() {
        let row = |row: &str| shown(&format!("path,crc32,xxh32\na,{row}\n"), None);
        assert_eq!(row("unreadable,"), ["2 gap a"]);
        let empty = "2!not a xxh32 digest, which has 8 hexadecimal digits";
        assert_eq!(row("01010101,"), [empty]);
        let both = "2!an error and a digest in one row";
        assert_eq!(row("01010101,unreadable"), [both]);
        assert_eq!(row("unstable,unreadable"), [both]);
    }

    #[test]
    fn two_columns_of_one_algorithm_count_once_and_must_agree() {
        let row = |two: &str| {
            let text = format!("path,crc32,CRC-32\na,01010101,{two}\n");
            contents(text.as_bytes(), None)
        };
        assert!(
            matches!(&row("01010101")[..], [Content::Claim(claim)] if claim.digests.len() == 1)
        );
        assert!(matches!(&row("01010102")[..], [Content::Malformed(_)]));
    }

    #[test]
    fn the_tables_of_cfv_are_read() {
        let found = contents(b"e.txt,1,FBDB2615,d,,\n", Some(Format::Csv));
        assert!(matches!(found[..], [Content::Malformed(_)]));
        let found = contents(b"a.txt,6,363a3020,,\ne.txt,1,FBDB2615,d,\n", None);
        let [Content::Claim(_), Content::Claim(claim)] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(
            (claim.name.as_bytes(), claim.size),
            (&b"d/e.txt"[..], Some(1))
        );
        assert_eq!(claim.digests.len(), 1);
        let text = "a.txt,6,363a3020,\n\"b, \"\"q\"\" c.txt\",1,8cdc1683,\nx,1,\n";
        let expected = ["1:a.txt", "2:b, \"q\" c.txt", "3!not a checksum line"];
        assert_eq!(shown(text, Some(Format::Csv)), expected);
    }

    #[test]
    fn lists_of_other_formats_are_not_taken_for_it() {
        let is_own = |text: &str, name: &str| {
            begins(Sample {
                bytes: text.as_bytes(),
                complete: true,
                list_name: Some(name.as_ref()),
            })
        };
        assert!(is_own("a.txt,6,\n", "x.csv2"));
        assert!(!is_own("a.txt,6,\n", "x.txt"));
        assert!(!is_own(
            "9dd4e461268c8034f5c8564e155c67a6  a,6,363a3020,\n",
            "x.csv"
        ));
        assert!(!is_own("path,name\na,b\n", "x.csv"));
        assert!(!is_own("6,363a3020,a.txt\n", "x.csv"));
        assert!(!is_own("", "x.csv"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            items in any_items(),
            algorithms in any_algorithms(),
            asked in any::<bool>(),
        ) {
            let text = write(Format::Csv, &Header::default(), &algorithms, &items);
            let found = contents(&text, asked.then_some(Format::Csv));
            prop_assert_eq!(found, expected(&items, &algorithms));
        }

        #[test]
        fn anything_is_read_to_its_end(text in any_text(&[
            "path,size,crc32", "a", ",", "\"", "\r", "\n", "01010101", "1", "a,1,01010101,\n",
        ])) {
            contents(&text, Some(Format::Csv));
        }
    }
}
