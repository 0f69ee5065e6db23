//! What PowerShell's `Get-FileHash` shows and exports: a table, a list, CSV or JSON.
//!
//! Each object has an Algorithm, a Hash and a Path. A table that was too wide for the console has
//! lost the ends of its digests or names, which then cannot be compared.

use std::borrow::Cow;
use std::io;

use super::csv::{Row, Rows};
use super::decoder::{Context, Decoder, Grammar, Method, Records, Text};
use super::detect::Sample;
use super::evidence::AlgorithmEvidence;
use super::json_text::{
    At, Choice, JsonDecoder, Object, Outline, Roots, Shape, Value, by_line, name_of_bytes,
    skip_blanks,
};
use super::lines::{trim_blanks, words};
use super::{Claim, Content, Malformed};

const FIELDS: [&str; 3] = ["Algorithm", "Hash", "Path"];

/// What stands in the place of what had no room, in PowerShell 5 and 7.
const ELLIPSES: [&str; 2] = ["...", "\u{2026}"];

const TYPE_MARK: &[u8] = b"#TYPE ";

pub(super) fn begins(sample: Sample<'_>) -> bool {
    if let Some(outline) = Outline::of(sample.bytes) {
        return FIELDS.iter().all(|field| outline.has(field));
    }
    let mut lines = sample.bytes.split(|&byte| byte == b'\n').map(trim_line);
    let Some(first) = lines.find(|line| !line.is_empty()) else {
        return false;
    };
    let second = lines.next().unwrap_or_default();
    is_csv_heading(first)
        || first.starts_with(TYPE_MARK) && is_csv_heading(second)
        || is_table_heading(first) && is_rule(second)
        || list_field(first).is_some_and(|(at, _)| at == 0)
            && list_field(second).is_some_and(|(at, _)| at == 1)
}

fn trim_line(line: &[u8]) -> &[u8] {
    trim_blanks(line.strip_suffix(b"\r").unwrap_or(line))
}

fn is_csv_heading(line: &[u8]) -> bool {
    let unquoted = |field: &'_ [u8]| -> Vec<u8> {
        let inner = field
            .strip_prefix(b"\"")
            .and_then(|field| field.strip_suffix(b"\""));
        inner.unwrap_or(field).to_vec()
    };
    let fields: Vec<Vec<u8>> = line.split(|&byte| byte == b',').map(unquoted).collect();
    FIELDS
        .iter()
        .all(|name| fields.iter().any(|field| field == name.as_bytes()))
}

fn is_table_heading(line: &[u8]) -> bool {
    words(line).eq(FIELDS.map(str::as_bytes))
}

/// Whether a line is the dashes below a heading.
fn is_rule(line: &[u8]) -> bool {
    let is_dashes = |word: &[u8]| word.iter().all(|byte| *byte == b'-');
    words(line).all(is_dashes) && words(line).count() == FIELDS.len()
}

/// Splits `Hash      : VALUE` into the place of its field and the value.
fn list_field(line: &[u8]) -> Option<(usize, &[u8])> {
    FIELDS.iter().enumerate().find_map(|(at, field)| {
        let rest = line.strip_prefix(field.as_bytes())?;
        let value = trim_blanks(rest).strip_prefix(b":")?;
        Some((at, trim_blanks(value)))
    })
}

pub(super) fn method(_context: &Context) -> Method {
    Method::Document(decoder)
}

fn decoder<'r>(text: Text<'r>, context: Context) -> Box<dyn Decoder + 'r> {
    Box::new(Choice::new(text, context, choose))
}

fn choose<'r>(sample: &[u8], text: Text<'r>, context: &Context) -> Box<dyn Decoder + 'r> {
    let algorithms = context.algorithms;
    let start = skip_blanks(sample);
    if matches!(start, [b'{' | b'[', ..]) {
        let shape = Json {
            algorithms,
            lone: None,
        };
        return Box::new(JsonDecoder::new(text, Roots::One, shape));
    }
    let first = start.split(|&byte| byte == b'\n').next().map(trim_line);
    if first.is_some_and(|line| is_csv_heading(line) || line.starts_with(TYPE_MARK)) {
        return Box::new(Csv {
            rows: Rows::new(text),
            algorithms,
            heading: None,
        });
    }
    by_line(
        text,
        Box::new(Shown {
            algorithms,
            in_table: false,
            open: None,
        }),
    )
}

/// Joins the three fields of an object.
fn claim(fields: &[Cow<'_, [u8]>; 3], algorithms: &AlgorithmEvidence) -> Result<Claim, Malformed> {
    let [algorithm, hash, path] = fields;
    if fields.iter().any(|field| is_cut_off(field)) {
        let reason =
            "cut off by the width of the console; export with ConvertTo-Json or Export-Csv";
        return Err(Malformed::Rule(reason.to_owned()));
    }
    if let Some(at) = fields.iter().position(|field| field.is_empty()) {
        return Err(Malformed::NoField(FIELDS[at]));
    }
    let word = std::str::from_utf8(algorithm).ok();
    let word = word.ok_or_else(|| Malformed::UnknownTag(algorithm.to_vec()))?;
    let digest = algorithms.named(word, hash)?;
    let mut claim = Claim::bare(name_of_bytes(path.to_vec())?).maybe_from_windows();
    if let Some(digest) = digest {
        claim.add_digest(digest)?;
    }
    Ok(claim)
}

fn is_cut_off(field: &[u8]) -> bool {
    ELLIPSES.iter().any(|mark| field.ends_with(mark.as_bytes()))
}

/// A table or a list.
#[derive(Debug)]
struct Shown {
    algorithms: AlgorithmEvidence,
    in_table: bool,
    open: Option<Open>,
}

/// A list's object that is not complete yet.
#[derive(Debug)]
struct Open {
    line: u64,
    fields: [Vec<u8>; 3],
    last: usize,
}

impl Shown {
    fn close(&mut self, records: &mut Records) {
        if let Some(Open { line, fields, .. }) = self.open.take() {
            let fields = fields.map(Cow::Owned);
            records.push_claim(line, claim(&fields, &self.algorithms));
        }
    }

    fn list_line(&mut self, number: u64, at: usize, value: &[u8], records: &mut Records) {
        let again = |open: &Open| at <= open.last;
        if self.open.as_ref().is_some_and(again) {
            self.close(records);
        }
        let open = self.open.get_or_insert(Open {
            line: number,
            fields: [const { Vec::new() }; 3],
            last: at,
        });
        open.last = at;
        open.fields[at] = value.to_vec();
    }

    fn row(&self, line: &[u8]) -> Result<Claim, Malformed> {
        let mut rest = line;
        let mut word = || {
            let len = rest.iter().take_while(|byte| **byte != b' ').count();
            let (word, after) = rest.split_at(len);
            rest = trim_blanks(after);
            Cow::Borrowed(word)
        };
        let (algorithm, hash) = (word(), word());
        claim(&[algorithm, hash, Cow::Borrowed(rest)], &self.algorithms)
    }
}

impl Grammar for Shown {
    fn line(&mut self, number: u64, text: &[u8], records: &mut Records) {
        let line = trim_blanks(text);
        let is_indented = text
            .first()
            .is_some_and(|byte| matches!(byte, b' ' | b'\t'));
        if line.is_empty() {
            return self.close(records);
        }
        match (&mut self.open, list_field(text)) {
            (_, Some((at, value))) => return self.list_line(number, at, value, records),
            // A value that was too long for one line.
            (Some(open), None) if is_indented => {
                open.fields[open.last].extend_from_slice(line);
                return;
            }
            _ => self.close(records),
        }
        if is_table_heading(line) {
            self.in_table = true;
        } else if self.in_table && is_rule(line) {
        } else if self.in_table && !is_indented {
            records.push_claim(number, self.row(line));
        } else {
            records.push(number, Content::Malformed(Malformed::NoShape));
        }
    }

    fn unusable(&mut self, number: u64, reason: Malformed, records: &mut Records) {
        self.close(records);
        records.push(number, Content::Malformed(reason));
    }

    fn end(&mut self, _number: u64, records: &mut Records) {
        self.close(records);
    }
}

/// What `Export-Csv` writes.
#[derive(Debug)]
struct Csv<'r> {
    rows: Rows<'r>,
    algorithms: AlgorithmEvidence,
    heading: Option<Heading>,
}

#[derive(Clone, Copy, Debug)]
struct Heading {
    /// Where the three fields stand.
    places: [usize; 3],
    /// How many fields there are.
    count: usize,
}

impl Heading {
    fn of(row: &Row) -> Option<Self> {
        let place = |name: &str| {
            let mut places = (0..row.len()).filter(|at| row.get(*at) == Some(name.as_bytes()));
            places.next().filter(|_| places.next().is_none())
        };
        let [algorithm, hash, path] = FIELDS.map(place);
        Some(Self {
            places: [algorithm?, hash?, path?],
            count: row.len(),
        })
    }

    fn claim(self, row: &Row, algorithms: &AlgorithmEvidence) -> Result<Claim, Malformed> {
        if row.len() != self.count {
            let (count, expected) = (row.len(), self.count);
            return Err(Malformed::Rule(format!(
                "{count} fields, and not {expected}"
            )));
        }
        let field = |at| Cow::Borrowed(row.get(at).unwrap_or_default());
        claim(&self.places.map(field), algorithms)
    }
}

impl Decoder for Csv<'_> {
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
        if let Some(heading) = self.heading {
            records.push_claim(line, heading.claim(row, &self.algorithms));
            return Ok(true);
        }
        if row.get(0).is_some_and(|field| field.starts_with(TYPE_MARK)) {
            return Ok(true);
        }
        self.heading = Heading::of(row);
        if self.heading.is_none() {
            records.push(line, Content::Malformed(Malformed::NoShape));
        }
        Ok(self.heading.is_some())
    }
}

/// What `ConvertTo-Json` writes: an array, or one object for one file.
#[derive(Debug)]
struct Json {
    algorithms: AlgorithmEvidence,
    /// What has been read of an object that stands alone, and its line.
    lone: Option<Lone>,
}

#[derive(Debug)]
struct Lone {
    line: u64,
    fields: [String; 3],
    /// The first line beside it that holds something else.
    stray: Option<u64>,
}

impl Json {
    fn element(&self, value: &Value<'_>) -> Result<Claim, Malformed> {
        let object: &Object<'_> = value.as_object().ok_or(Malformed::NoShape)?;
        let text = |field| object.text(field).map(Option::unwrap_or_default);
        let fields = [text("Algorithm")?, text("Hash")?, text("Path")?];
        claim(
            &fields.map(|field| field.as_bytes().into()),
            &self.algorithms,
        )
    }
}

impl Json {
    /// Names what is neither the lone object nor one of the list; behind the lone object's record,
    /// whose line comes first.
    fn stray(&mut self, line: u64, records: &mut Records) {
        match &mut self.lone {
            Some(lone) => lone.stray = lone.stray.or(Some(line)),
            None => records.push(line, Content::Malformed(Malformed::NoShape)),
        }
    }
}

impl Shape for Json {
    fn piece(&mut self, line: u64, at: At<'_>, value: Value<'_>, records: &mut Records) {
        match at {
            At::Element => records.push_claim(line, self.element(&value)),
            At::ElementOf("value") if self.lone.is_none() => {
                records.push_claim(line, self.element(&value));
            }
            At::ElementOf(_) => self.stray(line, records),
            At::Member(key) => {
                let is_hashed = |object: &Object<'_>| object.get("Hash").is_some();
                if value.as_object().is_some_and(is_hashed) {
                    self.stray(line, records);
                }
                if let Some(at) = FIELDS.iter().position(|field| *field == key) {
                    let lone = self.lone.get_or_insert(Lone {
                        line,
                        fields: [const { String::new() }; 3],
                        stray: None,
                    });
                    lone.fields[at] = value.as_text().unwrap_or_default().to_owned();
                }
            }
        }
    }

    fn root_end(&mut self, _line: u64, records: &mut Records) {
        let Some(lone) = self.lone.take() else { return };
        let fields = lone.fields.map(|field| Cow::Owned(field.into_bytes()));
        records.push_claim(lone.line, claim(&fields, &self.algorithms));
        if let Some(line) = lone.stray {
            records.push(line, Content::Malformed(Malformed::NoShape));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::manifest::Format;
    use crate::manifest::json_entry::testing::{any_text, contents, shown};
    use crate::relpath::RelPath;

    const MD5: &str = "B1946AC92492D2347C6235B4D2611184";

    /// `H!` stands for an MD5.
    fn found(text: &str) -> Vec<String> {
        shown(&text.replace("H!", MD5), None)
    }

    const TABLE: &str = "\r\nAlgorithm       Hash                                Path\r\n\
        ---------       ----                                ----\r\n\
        MD5             H!    C:\\data\\a  b.txt   \r\n\
        MD5             H!    C:\\Users\\somebody\\Docum...\r\n\
        MD5             B1946AC92492D2347C6235B4D26…    C:\\data\\a.txt\r\n\r\n";

    #[test]
    fn a_table_is_read_and_rows_that_were_cut_off_are_refused() {
        let cut = "cut off by the width of the console; export with ConvertTo-Json or Export-Csv";
        let expected = [
            "4:C:\\\\data\\\\a  b.txt".to_owned(),
            format!("5!{cut}"),
            format!("6!{cut}"),
        ];
        assert_eq!(found(TABLE), expected);
    }

    #[test]
    fn a_list_is_read_with_its_wrapped_values() {
        let text = "\n\nAlgorithm : MD5\nHash      : B1946AC92492D2347C\n            6235B4D2611184\n\
            Path      : /data/a very long na\n            me.txt\n\n\
            Algorithm : MD5\nPath      : /data/b\n\nAlgorithm : MD5\nHash      : H!\nPath      : /c\n\n";
        let expected = ["3:/data/a very long name.txt", "9!no Hash", "12:/c"];
        assert_eq!(found(text), expected);
    }

    #[test]
    fn csv_is_read_with_and_without_its_type_and_in_any_order() {
        let rows = "\"MD5\",\"H!\",\"C:\\a, b\"\r\n";
        for head in ["", "#TYPE Microsoft.PowerShell.Commands.FileHashInfo\r\n"] {
            let text = format!("{head}\"Algorithm\",\"Hash\",\"Path\"\r\n{rows}");
            let line = if head.is_empty() { 2 } else { 3 };
            assert_eq!(found(&text), [format!("{line}:C:\\\\a, b")]);
        }
        assert_eq!(
            found("Path,Hash,Algorithm\n/a,H!,MD5\n/b,H!\n"),
            ["2:/a", "3!2 fields, and not 3"]
        );
    }

    #[test]
    fn csv_rows_that_the_heading_does_not_explain_are_refused() {
        let more = "Algorithm,Hash,Path\nMD5,H!,/a, b\nMD5,H!,\n";
        assert_eq!(found(more), ["2!4 fields, and not 3", "3!no Path"]);
        let twice = "Algorithm,Hash,Path,Hash\nMD5,H!,/a,H!\n";
        assert_eq!(found(twice), ["1!not a checksum line"]);
    }

    #[test]
    fn json_beside_a_single_object_is_not_passed_over() {
        let object = r#""Algorithm":"MD5","Hash":"H!","Path":"/a""#;
        for more in [
            format!("\"more\":[{{{object}}}]"),
            format!("\"value\":[{{{object}}}]"),
            format!("\"more\":{{{object}}}"),
        ] {
            let behind = found(&format!("{{{object},\n{more}}}"));
            assert_eq!(behind, ["1:/a", "2!not a checksum line"], "{more}");
            let before = found(&format!("{{{more},\n{object}}}"));
            let is_list = more.starts_with("\"value\"");
            let first = if is_list {
                "1:/a"
            } else {
                "1!not a checksum line"
            };
            assert_eq!(before, [first, "2:/a"], "{more}");
        }
    }

    #[test]
    fn json_is_read_as_array_and_as_single_object() {
        let object = "{\n  \"Algorithm\":  \"MD5\",\n  \"Hash\":  \"H!\",\n  \"Path\":  \"/a\"\n}";
        assert_eq!(found(object), ["2:/a"]);
        assert_eq!(found(&format!("[\n{object},\n{object}]")), ["2:/a", "7:/a"]);
    }

    #[test]
    fn a_name_from_windows_may_lead_to_slashes_and_unknown_algorithms_are_kept() {
        let text = "Algorithm,Hash,Path\nMACTripleDES,0011223344556677,d\\a\n";
        let [Content::Claim(claim)] = &contents(text.as_bytes(), None)[..] else {
            panic!();
        };
        assert_eq!(
            claim.other_name.as_ref().map(RelPath::as_bytes),
            Some(&b"d/a"[..])
        );
        let unsupported = crate::manifest::ClaimedDigest::Unsupported("MACTripleDES".into());
        assert_eq!(claim.digests, [unsupported]);
    }

    #[test]
    fn other_texts_are_not_taken_for_it() {
        for text in [
            "Algorithm Hash Path\nfoo\n",
            "Algorithm : MD5\n",
            "Hash : x\nAlgorithm : y\n",
            "9dd4e461268c8034f5c8564e155c67a6  Algorithm,Hash,Path\n",
            "[{\"Path\":\"a\",\"Hash\":\"\"}]",
        ] {
            let sample = Sample {
                bytes: text.as_bytes(),
                complete: true,
                list_name: None,
            };
            assert!(!begins(sample), "{text}");
        }
    }

    proptest! {
        #[test]
        fn anything_is_read_to_its_end(text in any_text(&[
            "Algorithm Hash Path\n", "--- --- ---\n", "Algorithm : MD5", "Hash : 00", "Path : a", "\n",
            "MD5 00 a", "\"", ",", "Algorithm,Hash,Path\n", "{\"Algorithm\":\"MD5\",", "\"Hash\":", "[", "]", "}", " ",
        ])) {
            contents(&text, Some(Format::PowerShell));
        }
    }
}
