//! JSON as the formats need it: one record at a time, with the line where it begins.
//!
//! [`Pieces`] cuts a document of any size into the elements of its arrays, so that memory is bounded
//! by one of them; [`Value`] is one piece, read without copies where the text allows it. A key that
//! stands twice in one object is refused, since two readers could take different ones.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::{self, Debug, Formatter};
use std::io::{self, BufRead, BufReader, Cursor, Read};

use serde_core::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::decoder::{ByLine, Context, Decoder, Grammar, Records, Text};
use super::lines::{Encoding, Lines, MAX_LINE_LEN_BYTES, Terminator, read_sample};
use super::wrapper::Wrapper;
use super::{Content, Malformed};
use crate::relpath::RelPath;

const BUFFER_LEN_BYTES: usize = 128 << 10;

/// Objects with more members are checked for repeated keys by hashing.
const FEW_MEMBERS: usize = 16;

/// The most members that a document may have beside its lists.
const MOST_KEYS: usize = 10_000;

/// One piece of JSON.
#[derive(Debug, PartialEq)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    Unsigned(u64),
    Negative(i64),
    /// A number that is too large or has a fraction or an exponent.
    OtherNumber,
    Text(Cow<'a, str>),
    List(Vec<Value<'a>>),
    Object(Object<'a>),
}

/// The members of an object in their order, no key twice.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Object<'a>(pub(super) Vec<(Cow<'a, str>, Value<'a>)>);

impl<'a> Value<'a> {
    /// Reads a text that holds one value and nothing else.
    pub(super) fn parse(text: &'a [u8]) -> Result<Self, Malformed> {
        // Looked at once as a whole, and not once more for each text in it.
        let value = match std::str::from_utf8(text) {
            Ok(text) => serde_json::from_str(text),
            Err(_) => serde_json::from_slice(text),
        };
        value.map_err(|error| broken(&error))
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(values) => Some(values),
            _ => None,
        }
    }

    pub(super) fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// As it may stand in a message.
    pub(super) fn shown(&self) -> Vec<u8> {
        match self {
            Self::Null => b"null".to_vec(),
            Self::Bool(value) => value.to_string().into_bytes(),
            Self::Unsigned(value) => value.to_string().into_bytes(),
            Self::Negative(value) => value.to_string().into_bytes(),
            Self::OtherNumber => b"a number that is no size".to_vec(),
            Self::Text(text) => text.as_bytes().to_vec(),
            Self::List(_) => b"[...]".to_vec(),
            Self::Object(_) => b"{...}".to_vec(),
        }
    }
}

impl<'a> Object<'a> {
    pub(super) fn get(&self, key: &str) -> Option<&Value<'a>> {
        let mut members = self.0.iter();
        members
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    }

    /// The text under a key; `None` if there is no such key, or null.
    pub(super) fn text(&self, key: &'static str) -> Result<Option<&str>, Malformed> {
        match self.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(other) => Err(bad(key, other)),
        }
    }

    /// The text that must stand under a key.
    pub(super) fn needed_text(&self, key: &'static str) -> Result<&str, Malformed> {
        self.text(key)?.ok_or(Malformed::NoField(key))
    }

    /// The objects in the list under a key; none if there is no such key, or null.
    pub(super) fn objects(&self, key: &'static str) -> Result<Vec<&Object<'a>>, Malformed> {
        match self.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::List(values)) => values
                .iter()
                .map(|value| value.as_object().ok_or_else(|| bad(key, value)))
                .collect(),
            Some(other) => Err(bad(key, other)),
        }
    }

    fn repeated_key(&self) -> Option<&str> {
        let keys = || self.0.iter().map(|(key, _)| &**key);
        if self.0.len() > FEW_MEMBERS {
            let mut seen = HashSet::with_capacity(self.0.len());
            return keys().find(|key| !seen.insert(*key));
        }
        let mut numbered = keys().enumerate();
        numbered.find_map(|(at, key)| keys().take(at).any(|other| other == key).then_some(key))
    }
}

/// What a value of the wrong kind is called.
pub(super) fn bad(field: &'static str, value: &Value<'_>) -> Malformed {
    Malformed::bad_field(field, &value.shown())
}

/// A name, which may be neither empty nor hold a NUL.
pub(super) fn name(text: &str) -> Result<RelPath, Malformed> {
    name_of_bytes(text.as_bytes().to_vec())
}

/// The same of bytes that need be no UTF-8.
pub(super) fn name_of_bytes(bytes: Vec<u8>) -> Result<RelPath, Malformed> {
    if bytes.is_empty() {
        Err(Malformed::EmptyName)
    } else if bytes.contains(&0) {
        Err(Malformed::NulInName)
    } else {
        Ok(RelPath::from_bytes(bytes))
    }
}

/// Appends a text as JSON spells it, quotes included.
pub(super) fn text_into(text: &str, out: &mut Vec<u8>) {
    let spelled = serde_json::Value::from(text).to_string();
    out.extend_from_slice(spelled.as_bytes());
}

fn broken(error: &serde_json::Error) -> Malformed {
    let reason = error.to_string();
    // The place is counted from where the record begins, which would mislead.
    let end = reason.rfind(" at line ").unwrap_or(reason.len());
    notation(&reason[..end])
}

fn notation(reason: &str) -> Malformed {
    Malformed::Notation {
        notation: "JSON",
        reason: reason.to_owned(),
    }
}

impl<'de> Deserialize<'de> for Value<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Value::Unsigned(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(u64::try_from(value).map_or(Value::Negative(value), Value::Unsigned))
    }

    fn visit_f64<E>(self, _value: f64) -> Result<Self::Value, E> {
        Ok(Value::OtherNumber)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Value::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Value::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = elements.next_element()? {
            values.push(value);
        }
        Ok(Value::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut object = Object(Vec::with_capacity(4));
        while let Some((Key(key), value)) = members.next_entry()? {
            object.0.push((key, value));
        }
        match object.repeated_key() {
            Some(key) => Err(de::Error::custom(format_args!(
                "the key {key:?} stands twice"
            ))),
            None => Ok(Value::Object(object)),
        }
    }
}

struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyVisitor)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Key<'de>;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Key(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Key(Cow::Owned(text.to_owned())))
    }
}

/// How many documents a text holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Roots {
    One,
    /// One after the other, as in JSON Lines.
    Many,
}

/// Where a piece stands in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At<'a> {
    /// It is an element of the array that the document is.
    Element,
    /// It stands under this key of the object that the document is, and is no array.
    Member(&'a str),
    /// It is an element of the array under this key.
    ElementOf(&'a str),
}

/// What [`Pieces`] came to.
#[derive(Debug, PartialEq)]
enum Step {
    /// A piece that begins at this line.
    Piece(u64),
    /// The end of a document.
    RootEnd,
    /// Nothing follows.
    End,
}

/// Where [`Pieces`] is.
#[derive(Clone, Copy, Debug)]
enum Place {
    Outside,
    Members { first: bool },
    Elements { of_root: bool, first: bool },
}

enum Fault {
    Read(io::Error),
    Notation(&'static str),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

/// Cuts documents into the elements of their arrays and their other members.
struct Pieces<'r> {
    input: BufReader<Text<'r>>,
    roots: Roots,
    seen: u64,
    line: u64,
    place: Place,
    key: String,
    /// The keys of the document so far.
    keys: HashSet<String>,
    piece: Vec<u8>,
}

impl<'r> Pieces<'r> {
    fn new(text: Text<'r>, roots: Roots) -> Self {
        Self {
            input: BufReader::with_capacity(BUFFER_LEN_BYTES, text),
            roots,
            seen: 0,
            line: 1,
            place: Place::Outside,
            key: String::new(),
            keys: HashSet::new(),
            piece: Vec::new(),
        }
    }

    /// Where the last piece stands.
    fn at(&self) -> At<'_> {
        match self.place {
            Place::Elements { of_root: true, .. } => At::Element,
            Place::Elements { .. } => At::ElementOf(&self.key),
            Place::Members { .. } | Place::Outside => At::Member(&self.key),
        }
    }

    fn step(&mut self) -> Result<Step, Fault> {
        loop {
            match self.place {
                Place::Outside => {
                    if !self.open_root()? {
                        return Ok(Step::End);
                    }
                }
                Place::Members { first } => {
                    if !self.has_next(first, b'}')? {
                        return Ok(self.close_root());
                    }
                    self.member_key()?;
                    if self.peek()? == Some(b'[') {
                        self.take(1);
                        self.place = Place::Elements {
                            of_root: false,
                            first: true,
                        };
                    } else {
                        self.place = Place::Members { first: false };
                        return self.value();
                    }
                }
                Place::Elements { of_root, first } => {
                    let first_before = first;
                    self.place = Place::Elements {
                        of_root,
                        first: false,
                    };
                    if self.has_next(first_before, b']')? {
                        return self.value();
                    }
                    if of_root {
                        return Ok(self.close_root());
                    }
                    self.place = Place::Members { first: false };
                }
            }
        }
    }

    /// Goes into the next document; `false` if there is none.
    fn open_root(&mut self) -> Result<bool, Fault> {
        let Some(byte) = self.peek()? else {
            return match self.roots {
                Roots::One if self.seen == 0 => Err(Fault::Notation("there is nothing")),
                _ => Ok(false),
            };
        };
        if self.roots == Roots::One && self.seen > 0 {
            return Err(Fault::Notation("text after the end of the document"));
        }
        self.place = match byte {
            b'{' => Place::Members { first: true },
            b'[' => Place::Elements {
                of_root: true,
                first: true,
            },
            _ => return Err(Fault::Notation("neither an object nor an array")),
        };
        self.take(1);
        Ok(true)
    }

    fn close_root(&mut self) -> Step {
        self.seen += 1;
        self.keys.clear();
        self.place = Place::Outside;
        Step::RootEnd
    }

    /// Takes the comma before the next item, or the bracket behind the last.
    fn has_next(&mut self, first: bool, close: u8) -> Result<bool, Fault> {
        let next = self.peek()?;
        if next == Some(close) {
            self.take(1);
            return Ok(false);
        }
        if first {
            return Ok(true);
        }
        if next != Some(b',') {
            return Err(Fault::Notation(match next {
                None => "the text ends within the document",
                Some(_) => "no comma between two items",
            }));
        }
        self.take(1);
        match self.peek()? {
            Some(byte) if byte == close => Err(Fault::Notation("a comma behind the last item")),
            _ => Ok(true),
        }
    }

    fn member_key(&mut self) -> Result<(), Fault> {
        if self.peek()? != Some(b'"') {
            return Err(Fault::Notation("no key where one should be"));
        }
        self.value()?;
        self.key = serde_json::from_slice(&self.piece).map_err(|_| Fault::Notation("bad key"))?;
        if !self.keys.insert(self.key.clone()) {
            return Err(Fault::Notation("a key stands twice in the document"));
        }
        if self.keys.len() > MOST_KEYS {
            return Err(Fault::Notation("too many keys"));
        }
        if self.peek()? != Some(b':') {
            return Err(Fault::Notation("no colon behind a key"));
        }
        self.take(1);
        Ok(())
    }

    /// The next byte that is no blank, which is not taken.
    fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            let chunk = self.input.fill_buf()?;
            let blanks = chunk.iter().take_while(|byte| is_blank(**byte)).count();
            let next = chunk.get(blanks).copied();
            let at_end = chunk.is_empty();
            self.take(blanks);
            if next.is_some() || at_end {
                return Ok(next);
            }
        }
    }

    /// Passes over bytes of the buffer and counts their lines.
    fn take(&mut self, count: usize) {
        let taken = self.input.buffer().iter().take(count);
        self.line += taken.filter(|byte| **byte == b'\n').count() as u64;
        self.input.consume(count);
    }

    /// Reads the text of the value that begins here.
    fn value(&mut self) -> Result<Step, Fault> {
        self.peek()?;
        let line = self.line;
        self.piece.clear();
        let mut scan = Scan::default();
        loop {
            let chunk = self.input.fill_buf()?;
            if chunk.is_empty() {
                return Err(Fault::Notation("the text ends within the document"));
            }
            let (count, whole) = scan.advance(chunk);
            self.piece.extend_from_slice(&chunk[..count]);
            self.take(count);
            if whole {
                return Ok(Step::Piece(line));
            }
            if self.piece.len() > MAX_LINE_LEN_BYTES {
                return Err(Fault::Notation("one value is too long to be a record"));
            }
        }
    }
}

impl Debug for Pieces<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pieces")
            .field("line", &self.line)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Finds the end of a value, whatever is in it.
#[derive(Debug, Default)]
struct Scan {
    depth: usize,
    in_text: bool,
    escaped: bool,
}

impl Scan {
    /// How many of these bytes belong to the value, and whether it ends with them.
    fn advance(&mut self, chunk: &[u8]) -> (usize, bool) {
        for (at, &byte) in chunk.iter().enumerate() {
            if self.in_text {
                if self.escaped {
                    self.escaped = false;
                } else if byte == b'\\' {
                    self.escaped = true;
                } else if byte == b'"' {
                    self.in_text = false;
                    if self.depth == 0 {
                        return (at + 1, true);
                    }
                }
                continue;
            }
            match byte {
                b'"' => self.in_text = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth > 1 => self.depth -= 1,
                b'}' | b']' => return (at + self.depth, true),
                b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' if self.depth == 0 => return (at, true),
                _ => {}
            }
        }
        (chunk.len(), false)
    }
}

/// What a format makes of the pieces of a document.
pub(super) trait Shape: Debug + Send {
    /// Takes a piece that begins at a line.
    fn piece(&mut self, line: u64, at: At<'_>, value: Value<'_>, records: &mut Records);

    /// Takes notice that a document ends at a line.
    fn root_end(&mut self, _line: u64, _records: &mut Records) {}
}

/// Reads JSON in the shape of one format.
#[derive(Debug)]
pub(super) struct JsonDecoder<'r, S> {
    pieces: Pieces<'r>,
    shape: S,
}

impl<'r, S: Shape> JsonDecoder<'r, S> {
    pub(super) fn new(text: Text<'r>, roots: Roots, shape: S) -> Self {
        Self {
            pieces: Pieces::new(text, roots),
            shape,
        }
    }
}

impl<S: Shape> Decoder for JsonDecoder<'_, S> {
    fn advance(&mut self, records: &mut Records) -> io::Result<bool> {
        let Self { pieces, shape } = self;
        let line = match pieces.step() {
            Ok(Step::Piece(line)) => line,
            Ok(Step::RootEnd) => {
                shape.root_end(pieces.line, records);
                return Ok(true);
            }
            Ok(Step::End) => return Ok(false),
            Err(Fault::Read(error)) => return Err(error),
            Err(Fault::Notation(reason)) => {
                records.push(pieces.line, Content::Malformed(notation(reason)));
                return Ok(false);
            }
        };
        match Value::parse(&pieces.piece) {
            Ok(value) => {
                shape.piece(line, pieces.at(), value, records);
                Ok(true)
            }
            Err(reason) => {
                records.push(line, Content::Malformed(reason));
                Ok(false)
            }
        }
    }
}

/// Makes the decoder of a text from its beginning.
pub(super) type Choose = for<'r> fn(&[u8], Text<'r>, &Context) -> Box<dyn Decoder + 'r>;

/// Reads a format that comes in more than one notation.
pub(super) struct Choice<'r> {
    choose: Choose,
    unread: Option<(Text<'r>, Context)>,
    chosen: Option<Box<dyn Decoder + 'r>>,
}

impl<'r> Choice<'r> {
    pub(super) fn new(text: Text<'r>, context: Context, choose: Choose) -> Self {
        Self {
            choose,
            unread: Some((text, context)),
            chosen: None,
        }
    }
}

impl Debug for Choice<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Choice").field(&self.chosen).finish()
    }
}

impl Decoder for Choice<'_> {
    fn advance(&mut self, records: &mut Records) -> io::Result<bool> {
        if let Some((mut text, context)) = self.unread.take() {
            let sample = read_sample(&mut text)?;
            let whole = Box::new(Cursor::new(sample.clone()).chain(text));
            self.chosen = Some((self.choose)(&sample, whole, &context));
        }
        match &mut self.chosen {
            Some(chosen) => chosen.advance(records),
            None => Ok(false),
        }
    }
}

/// Reads a text line by line.
pub(super) fn by_line<'r>(text: Text<'r>, grammar: Box<dyn Grammar>) -> Box<dyn Decoder + 'r> {
    let lines = Lines::new(text, Encoding::Bytes, Terminator::Line);
    Box::new(ByLine::new(lines, Wrapper::None, grammar))
}

/// The first object of a text, as far as the beginning shows it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outline<'a> {
    /// Whether it stands in an array.
    pub(super) in_array: bool,
    /// Its keys with the text under each, which is empty for other values.
    members: Vec<(&'a [u8], &'a [u8])>,
}

impl<'a> Outline<'a> {
    /// Looks at the beginning of a text; `None` if it begins as no JSON document does.
    pub(super) fn of(sample: &'a [u8]) -> Option<Self> {
        let text = skip_blanks(sample);
        let inner = text.strip_prefix(b"[").map(skip_blanks);
        let mut outline = Self {
            in_array: inner.is_some(),
            members: Vec::new(),
        };
        match inner.unwrap_or(text).strip_prefix(b"{") {
            Some(members) => outline.scan(members),
            None if inner.is_some_and(|rest| rest.starts_with(b"]")) => {}
            None => return None,
        }
        Some(outline)
    }

    fn scan(&mut self, text: &'a [u8]) {
        let mut rest = text;
        let (mut depth, mut key) = (1_usize, None);
        let mut after_colon = false;
        while let [byte, after @ ..] = rest {
            rest = after;
            match byte {
                b'"' => {
                    let end = text_len(after);
                    if depth == 1 && !after_colon {
                        key = Some(&after[..end]);
                    } else if let Some(key) = key.take_if(|_| depth == 1) {
                        self.members.push((key, &after[..end]));
                    }
                    rest = after.get(end + 1..).unwrap_or_default();
                }
                b':' if depth == 1 => after_colon = true,
                b',' if depth == 1 => {
                    self.members.extend(key.take().map(|key| (key, &b""[..])));
                    after_colon = false;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        let last = key.filter(|_| after_colon);
        self.members.extend(last.map(|key| (key, &b""[..])));
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.keys().any(|name| name == key.as_bytes())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &'a [u8]> + Clone {
        self.members.iter().map(|(key, _)| *key)
    }

    /// The text under a key, as it is spelled.
    pub(super) fn text(&self, key: &str) -> Option<&'a [u8]> {
        let mut members = self.members.iter();
        let (_, text) = members.find(|(name, _)| *name == key.as_bytes())?;
        Some(text)
    }
}

/// Drops blanks and line ends at the beginning.
pub(super) fn skip_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|byte| is_blank(**byte)).count();
    &text[blanks..]
}

/// How many bytes precede the quote that ends a text.
fn text_len(text: &[u8]) -> usize {
    let mut escaped = false;
    let mut bytes = text.iter();
    let end = bytes.position(|&byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Value<'_>, String> {
        Value::parse(text.as_bytes()).map_err(|reason| reason.to_string())
    }

    #[test]
    fn a_key_that_stands_twice_is_refused_however_it_is_spelled() {
        for text in [r#"{"a":1,"a":1}"#, r#"{"a":1,"\u0061":2}"#] {
            let twice = "not valid JSON: the key \"a\" stands twice";
            assert_eq!(parse(text), Err(twice.to_owned()));
        }
        let many: Vec<String> = (0..40).map(|key| format!("\"{}\":0", key % 39)).collect();
        assert!(parse(&format!("{{{}}}", many.join(","))).is_err());
        assert!(parse(&format!("{{{}}}", many[..39].join(","))).is_ok());
    }

    #[test]
    fn numbers_that_are_no_sizes_are_told_apart() {
        assert_eq!(parse("18446744073709551615"), Ok(Value::Unsigned(u64::MAX)));
        assert_eq!(parse("-1"), Ok(Value::Negative(-1)));
        for text in [
            "1.0",
            "-1.0",
            "1e3",
            "18446744073709551616",
            "-9223372036854775809",
        ] {
            assert_eq!(parse(text), Ok(Value::OtherNumber), "{text}");
        }
        for text in ["01", "+1", "NaN", "1 2", ""] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn text_must_be_utf8_and_no_half_of_a_pair() {
        assert!(Value::parse(b"\"\xff\"").is_err());
        assert!(parse(r#""\ud800""#).is_err());
    }

    /// `LINE AT TEXT` for each piece, `end` for the end of a document, and the error, if any.
    fn pieces(text: &str, roots: Roots) -> Vec<String> {
        let mut pieces = Pieces::new(Box::new(text.as_bytes()), roots);
        let mut shown = Vec::new();
        loop {
            match pieces.step() {
                Ok(Step::Piece(line)) => {
                    let text = String::from_utf8_lossy(&pieces.piece);
                    shown.push(format!("{line} {:?} {text}", pieces.at()));
                }
                Ok(Step::RootEnd) => shown.push("end".to_owned()),
                Ok(Step::End) => return shown,
                Err(Fault::Notation(reason)) => {
                    shown.push(format!("{} {reason}", pieces.line));
                    return shown;
                }
                Err(Fault::Read(error)) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn documents_are_cut_into_elements_and_members() {
        assert_eq!(
            pieces("[\n {\"a\": [1, {}]},\n\n2 ,\"x]\\\"\"\n]\n", Roots::One),
            [
                "2 Element {\"a\": [1, {}]}",
                "4 Element 2",
                "4 Element \"x]\\\"\"",
                "end"
            ]
        );
        assert_eq!(
            pieces(
                "{\"k\": {\"a\":1},\n\"l\":[1,\n[2]],\"m\":[],\"n\":null}",
                Roots::One
            ),
            [
                "1 Member(\"k\") {\"a\":1}",
                "2 ElementOf(\"l\") 1",
                "3 ElementOf(\"l\") [2]",
                "3 Member(\"n\") null",
                "end"
            ]
        );
        assert_eq!(pieces("{}\n[]\n", Roots::Many), ["end", "end"]);
    }

    #[test]
    fn what_is_cut_off_or_no_json_is_said_to_be_so() {
        for (text, reason) in [
            ("", "1 there is nothing"),
            ("[1,\n", "2 the text ends within the document"),
            ("[1", "1 the text ends within the document"),
            ("[{\"a\":\"b", "1 the text ends within the document"),
            ("{\"a\":1", "1 the text ends within the document"),
            ("{\"a\" 1}", "1 no colon behind a key"),
            ("{a:1}", "1 no key where one should be"),
            ("[1 2]", "1 no comma between two items"),
            ("[1,]", "1 a comma behind the last item"),
            (
                "{\"a\":1,\"\\u0061\":2}",
                "1 a key stands twice in the document",
            ),
            ("{}{}", "1 text after the end of the document"),
            ("17", "1 neither an object nor an array"),
        ] {
            assert_eq!(
                pieces(text, Roots::One).pop().as_deref(),
                Some(reason),
                "{text}"
            );
        }
    }

    #[test]
    fn an_outline_shows_the_first_object_even_if_it_is_cut_off() {
        let keys = |text: &'static str| {
            let outline = Outline::of(text.as_bytes())?;
            let keys = outline
                .keys()
                .map(|key| String::from_utf8_lossy(key).into_owned());
            Some((outline.in_array, keys.collect::<Vec<_>>().join(" ")))
        };
        let found = |in_array, keys: &str| Some((in_array, keys.to_owned()));
        assert_eq!(
            keys("{\"a\":1,\"b\":{\"c\":[2]},\"d\":\"x\\\"\"} {\"e\":1}"),
            found(false, "a b d")
        );
        assert_eq!(keys("\n[ {\"a\":\"}\",\"b\""), found(true, "a"));
        assert_eq!(keys("[{\"a\":[1,"), found(true, "a"));
        assert_eq!(keys(" [ ]"), found(true, ""));
        assert_eq!(keys("[1]"), None);
        assert_eq!(keys("hello {\"a\":1}"), None);
        let outline = Outline::of(br#"{"t":"v","n":1}"#).unwrap();
        assert_eq!(
            (outline.text("t"), outline.text("n")),
            (Some(&b"v"[..]), Some(&b""[..]))
        );
    }
}
