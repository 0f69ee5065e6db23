//! XML as a stream of elements, and the escapes to write it.
//!
//! Names are bytes, and some programs write them into XML as they are. Bytes that are not valid in
//! UTF-8 therefore pass through the parser as private characters, and are bytes again in what comes out.
//!
//! No entity but the predefined ones is known, and no document type is looked at. An element's name is
//! that behind the colon. What a document may cost is bounded: 16 MiB an element or text, 64 elements deep.

use std::fmt::{self, Debug, Formatter};
use std::io::{self, BufReader, Read};

use encoding_rs::DecoderResult;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::decoder::Records;
use super::lines::MAX_LINE_LEN_BYTES;
use super::{Content, Malformed};

const MAX_DEPTH: usize = 64;

/// What comes next in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// An element begins.
    Start,
    /// The innermost element ends.
    End,
    /// The document is over and well formed.
    Done,
}

/// How line ends in texts are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnds {
    /// As XML demands: CR and CR LF become LF, unless written as references.
    Normal,
    /// As they are, for writers that do not escape them.
    Raw,
}

/// Why a document cannot be read on.
#[derive(Debug)]
pub(super) enum XmlError {
    Read(io::Error),
    Document(Malformed),
}

impl XmlError {
    fn notation(reason: &impl ToString) -> Self {
        Self::Document(Malformed::Notation {
            notation: "XML",
            reason: reason.to_string(),
        })
    }

    /// Tells what is wrong with the document; an error of the stream is passed on.
    pub(super) fn tell(self, line: u64, records: &mut Records) -> io::Result<()> {
        match self {
            Self::Read(error) => Err(error),
            Self::Document(reason) => {
                records.push(line, Content::Malformed(reason));
                Ok(())
            }
        }
    }
}

impl From<quick_xml::Error> for XmlError {
    fn from(error: quick_xml::Error) -> Self {
        match error {
            quick_xml::Error::Io(error) => {
                let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
                match inner {
                    Some(reason) => Self::Document(Malformed::clone(reason)),
                    None => Self::Read(io::Error::new(error.kind(), error)),
                }
            }
            other => Self::notation(&other),
        }
    }
}

/// One element that is open.
#[derive(Debug, Default)]
struct Open {
    name: String,
    line: u64,
}

/// Reads a document element by element.
pub(super) struct XmlReader<'r> {
    reader: quick_xml::Reader<BufReader<Utf8<'r>>>,
    line_ends: LineEnds,
    buffer: Vec<u8>,
    line: u64,
    /// From the root to the innermost element.
    open: Vec<Open>,
    /// Of the element that began last.
    attributes: Vec<(String, String)>,
    text: Vec<u8>,
    /// Whether nothing but text has come since an element began.
    leaf: bool,
    /// The innermost element is over, which the caller knows.
    over: bool,
    /// The innermost element was written as `<x/>`, and its end is still to be told.
    empty: bool,
    begun: bool,
}

impl Debug for XmlReader<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("XmlReader")
            .field("line", &self.line)
            .field("open", &self.open)
            .finish_non_exhaustive()
    }
}

impl<'r> XmlReader<'r> {
    pub(super) fn new(input: Box<dyn Read + Send + 'r>, line_ends: LineEnds) -> Self {
        let input = BufReader::with_capacity(64 << 10, Utf8::new(input));
        Self {
            reader: quick_xml::Reader::from_reader(input),
            line_ends,
            buffer: Vec::new(),
            line: 1,
            open: Vec::new(),
            attributes: Vec::new(),
            text: Vec::new(),
            leaf: false,
            over: false,
            empty: false,
            begun: false,
        }
    }

    /// Reads to where the next element begins or the innermost one ends.
    pub(super) fn next(&mut self) -> Result<Node, XmlError> {
        if std::mem::take(&mut self.over) {
            self.open.pop();
            self.leaf = false;
        }
        if std::mem::take(&mut self.empty) {
            self.over = true;
            return Ok(Node::End);
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let node = loop {
            buffer.clear();
            self.reader.get_mut().get_mut().grant();
            let event = self.reader.read_event_into(&mut buffer)?;
            let taken = self.take(event);
            let breaks = buffer.iter().filter(|byte| **byte == b'\n').count();
            self.line += breaks as u64;
            if let Some(node) = taken? {
                break node;
            }
        };
        self.buffer = buffer;
        Ok(node)
    }

    /// The line that was read last, counted from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// The number of open elements, with the one that has just begun or ended.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// The name of the element at a depth, the root being at 1; empty if there is none.
    pub(super) fn name_at(&self, depth: usize) -> &str {
        let place = depth.checked_sub(1);
        let open = place.and_then(|place| self.open.get(place));
        open.map_or("", |open| &open.name)
    }

    /// The name of the element that has just begun or ended.
    pub(super) fn name(&self) -> &str {
        self.name_at(self.depth())
    }

    /// The name of the element around it.
    pub(super) fn parent(&self) -> &str {
        self.name_at(self.depth().saturating_sub(1))
    }

    /// The line where the element that has just begun or ended begins.
    pub(super) fn start_line(&self) -> u64 {
        self.open.last().map_or(self.line, |open| open.line)
    }

    /// An attribute of the element that began last, by its whole name.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| &**value)
    }

    /// The text of the element that has just ended; `None` if there are elements in it.
    pub(super) fn text(&self) -> Option<&[u8]> {
        (self.over && self.leaf).then_some(&self.text)
    }

    fn take(&mut self, event: Event<'_>) -> Result<Option<Node>, XmlError> {
        match event {
            Event::Start(start) => self.start(&start).map(|()| Some(Node::Start)),
            Event::Empty(start) => {
                self.start(&start)?;
                self.empty = true;
                Ok(Some(Node::Start))
            }
            Event::End(_) => {
                self.over = true;
                Ok(Some(Node::End))
            }
            Event::Text(text) => match self.line_ends {
                LineEnds::Normal => self.append(&text.xml10_content()),
                LineEnds::Raw => self.append(&text),
            },
            Event::CData(text) => match self.line_ends {
                LineEnds::Normal => self.append(&text.xml10_content()),
                LineEnds::Raw => self.append(&text),
            },
            Event::GeneralRef(reference) => {
                let letter = resolve(&reference)?;
                self.outside_root("a reference")?;
                self.room_for(letter.len_utf8())?;
                if self.leaf {
                    self.text
                        .extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Ok(None)
            }
            Event::Eof => self.end().map(Some),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => Ok(None),
        }
    }

    fn start(&mut self, start: &BytesStart<'_>) -> Result<(), XmlError> {
        if self.open.is_empty() && std::mem::replace(&mut self.begun, true) {
            return Err(XmlError::notation(&"more than one root element"));
        }
        if self.open.len() == MAX_DEPTH {
            return Err(XmlError::notation(&format_args!(
                "elements in more than {MAX_DEPTH} others"
            )));
        }
        self.attributes.clear();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|error| XmlError::notation(&error))?;
            let value = attribute.normalized_value(XmlVersion::Implicit1_0)?;
            let name = attribute.key.into_inner().to_owned();
            self.attributes.push((name, value.into_owned()));
        }
        self.open.push(Open {
            name: start.local_name().into_inner().to_owned(),
            line: self.line,
        });
        self.text.clear();
        self.leaf = true;
        Ok(())
    }

    fn append(&mut self, text: &str) -> Result<Option<Node>, XmlError> {
        if !text.trim_ascii().is_empty() {
            self.outside_root("text")?;
        }
        self.room_for(text.len())?;
        if self.leaf {
            unmark(text, &mut self.text);
        }
        Ok(None)
    }

    fn room_for(&self, more: usize) -> Result<(), XmlError> {
        if self.text.len() + more > MAX_LINE_LEN_BYTES {
            return Err(XmlError::Document(Malformed::TooLong(MAX_LINE_LEN_BYTES)));
        }
        Ok(())
    }

    fn outside_root(&self, what: &str) -> Result<(), XmlError> {
        if self.open.is_empty() {
            return Err(XmlError::notation(&format_args!(
                "{what} outside the root element"
            )));
        }
        Ok(())
    }

    fn end(&mut self) -> Result<Node, XmlError> {
        if !self.open.is_empty() {
            return Err(XmlError::Document(Malformed::Truncated(
                "an element has no end",
            )));
        }
        if !self.begun {
            return Err(XmlError::notation(&"no element"));
        }
        Ok(Node::Done)
    }
}

fn resolve(reference: &BytesRef<'_>) -> Result<char, XmlError> {
    if let Some(letter) = reference.resolve_char_ref()? {
        return Ok(letter);
    }
    match &**reference {
        "amp" => Ok('&'),
        "lt" => Ok('<'),
        "gt" => Ok('>'),
        "quot" => Ok('"'),
        "apos" => Ok('\''),
        other => Err(XmlError::notation(&format_args!(
            "unknown entity '{other}'"
        ))),
    }
}

/// What a document is, as its first element says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Root {
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    pub(super) version: Option<String>,
}

/// The first element, if a text is XML as far as there.
pub(super) fn root(sample: &[u8]) -> Option<Root> {
    let sample = sample.trim_ascii_start();
    if !sample.starts_with(b"<") {
        return None;
    }
    let mut reader = XmlReader::new(Box::new(sample), LineEnds::Normal);
    (reader.next().ok()? == Node::Start).then(|| Root {
        name: reader.name().to_owned(),
        namespace: reader.namespace(),
        version: reader.attribute("version").map(str::to_owned),
    })
}

impl XmlReader<'_> {
    /// The namespace that the root element declares, as the default or under a prefix.
    pub(super) fn namespace(&self) -> Option<String> {
        let declared = |(name, _): &&(String, String)| name == "xmlns";
        let prefixed = |(name, _): &&(String, String)| name.starts_with("xmlns:");
        let mut attributes = self.attributes.iter();
        let found = attributes.find(declared);
        found
            .or_else(|| self.attributes.iter().find(prefixed))
            .map(|(_, value)| value.clone())
    }
}

/// Appends a text with everything escaped that an XML parser would not give back; attributes are to be
/// in double quotes.
///
/// # Errors
///
/// What XML 1.0 cannot hold, in prose; nothing is appended then.
pub(super) fn escape(text: &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
    let text = std::str::from_utf8(text).map_err(|_| "bytes that are not UTF-8")?;
    if !text.chars().all(is_allowed) {
        return Err("control characters");
    }
    for byte in text.bytes() {
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'"' => out.extend_from_slice(b"&quot;"),
            b'\t' => out.extend_from_slice(b"&#9;"),
            b'\n' => out.extend_from_slice(b"&#10;"),
            b'\r' => out.extend_from_slice(b"&#13;"),
            other => out.push(other),
        }
    }
    Ok(())
}

/// Production 2 of XML 1.0.
fn is_allowed(letter: char) -> bool {
    matches!(letter,
        '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
}

/// Any input as UTF-8: decoded as its XML declaration says, or with private characters for bytes that
/// are not valid.
struct Utf8<'r> {
    input: Box<dyn Read + Send + 'r>,
    coding: Coding,
    raw: Vec<u8>,
    ready: Vec<u8>,
    given: usize,
    ended: bool,
    /// How much may be read before the parser must have come to something.
    granted: usize,
}

enum Coding {
    Unknown,
    Utf8,
    Other(&'static encoding_rs::Encoding, Box<encoding_rs::Decoder>),
}

const CHUNK_LEN_BYTES: usize = 64 << 10;

impl<'r> Utf8<'r> {
    fn new(input: Box<dyn Read + Send + 'r>) -> Self {
        Self {
            input,
            coding: Coding::Unknown,
            raw: Vec::new(),
            ready: Vec::new(),
            given: 0,
            ended: false,
            granted: 0,
        }
    }

    fn grant(&mut self) {
        self.granted = MAX_LINE_LEN_BYTES;
    }

    fn refill(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.given = 0;
        while self.ready.is_empty() && !self.ended {
            let mut chunk = self.input.by_ref().take(CHUNK_LEN_BYTES as u64);
            let count = chunk.read_to_end(&mut self.raw)?;
            self.ended = count == 0;
            if matches!(self.coding, Coding::Unknown) {
                self.coding = coding(&self.raw)?;
            }
            self.decode()?;
        }
        Ok(())
    }

    fn decode(&mut self) -> io::Result<()> {
        let used = match &mut self.coding {
            Coding::Unknown | Coding::Utf8 => mark(&self.raw, self.ended, &mut self.ready),
            Coding::Other(encoding, decoder) => {
                let room = decoder.max_utf8_buffer_length_without_replacement(self.raw.len());
                self.ready.resize(room.unwrap_or(0), 0);
                let (result, used, written) = decoder.decode_to_utf8_without_replacement(
                    &self.raw,
                    &mut self.ready,
                    self.ended,
                );
                self.ready.truncate(written);
                if let DecoderResult::Malformed(..) = result {
                    return Err(refused(format!("not valid {}", encoding.name())));
                }
                used
            }
        };
        self.raw.drain(..used);
        Ok(())
    }
}

impl Read for Utf8<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.ready.len() {
            self.refill()?;
        }
        let count = (&self.ready[self.given..]).read(buffer)?;
        self.given += count;
        if count > self.granted {
            let reason = Malformed::TooLong(MAX_LINE_LEN_BYTES);
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        self.granted -= count;
        Ok(count)
    }
}

fn refused(reason: String) -> io::Error {
    let notation = "XML";
    io::Error::new(
        io::ErrorKind::InvalidData,
        Malformed::Notation { notation, reason },
    )
}

/// The encoding that the XML declaration names. UTF-16 has been decoded by now, whatever it says.
fn coding(head: &[u8]) -> io::Result<Coding> {
    let Some(label) = declared_encoding(head) else {
        return Ok(Coding::Utf8);
    };
    let known = encoding_rs::Encoding::for_label(label);
    let Some(encoding) = known else {
        let label = String::from_utf8_lossy(label).into_owned();
        return Err(refused(format!("unknown encoding '{label}'")));
    };
    if encoding == encoding_rs::UTF_8 || !encoding.is_ascii_compatible() {
        return Ok(Coding::Utf8);
    }
    let decoder = encoding.new_decoder_without_bom_handling();
    Ok(Coding::Other(encoding, Box::new(decoder)))
}

fn declared_encoding(head: &[u8]) -> Option<&[u8]> {
    let head = head.trim_ascii_start().strip_prefix(b"<?xml")?;
    let end = head.windows(2).position(|pair| pair == b"?>")?;
    let place = head[..end]
        .windows(8)
        .position(|word| word == b"encoding")?;
    let value = head[place + 8..end].trim_ascii_start().strip_prefix(b"=")?;
    let (quote, value) = value.trim_ascii_start().split_first()?;
    let length = value.iter().position(|byte| byte == quote)?;
    Some(&value[..length])
}

/// Stands for the byte 0x80, and the next 127 for the others up to 0xff.
const FIRST_MARK: char = '\u{10ff80}';

/// The byte that all marks begin with in UTF-8, and hardly anything else.
const LEAD_OF_MARKS: u8 = 0xf4;

/// Copies UTF-8 and marks every other byte, among them those that look like marks. Gives the number of
/// bytes that were used: all, but for the beginning of a character whose end may still come.
fn mark(raw: &[u8], ended: bool, out: &mut Vec<u8>) -> usize {
    let mut used = 0;
    while used < raw.len() {
        let rest = &raw[used..];
        let (valid, bad) = match std::str::from_utf8(rest) {
            Ok(text) => (text, 0),
            Err(error) => {
                let valid = std::str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or("");
                let bad = error.error_len();
                (
                    valid,
                    bad.unwrap_or(if ended { rest.len() - valid.len() } else { 0 }),
                )
            }
        };
        copy_but_marks(valid, out);
        for &byte in &rest[valid.len()..valid.len() + bad] {
            push_mark(byte, out);
        }
        used += valid.len() + bad;
        if valid.len() + bad == 0 || (bad == 0 && used < raw.len()) {
            break;
        }
    }
    used
}

fn push_mark(byte: u8, out: &mut Vec<u8>) {
    let mark = char::from_u32(0x10_ff00 + u32::from(byte)).unwrap_or(FIRST_MARK);
    out.extend_from_slice(mark.encode_utf8(&mut [0; 4]).as_bytes());
}

fn copy_but_marks(text: &str, out: &mut Vec<u8>) {
    if !text.as_bytes().contains(&LEAD_OF_MARKS) {
        return out.extend_from_slice(text.as_bytes());
    }
    for letter in text.chars() {
        let mut bytes = [0; 4];
        let bytes = letter.encode_utf8(&mut bytes).as_bytes();
        if letter < FIRST_MARK {
            out.extend_from_slice(bytes);
        } else {
            bytes.iter().for_each(|byte| push_mark(*byte, out));
        }
    }
}

/// Gives marked bytes back.
fn unmark(text: &str, out: &mut Vec<u8>) {
    if !text.as_bytes().contains(&LEAD_OF_MARKS) {
        return out.extend_from_slice(text.as_bytes());
    }
    for letter in text.chars() {
        match u8::try_from(u32::from(letter) & 0xff) {
            Ok(byte) if letter >= FIRST_MARK => out.push(byte),
            _ => out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(document: &[u8], line_ends: LineEnds) -> Vec<String> {
        let mut reader = XmlReader::new(Box::new(document), line_ends);
        let mut all = Vec::new();
        loop {
            let node = match reader.next() {
                Ok(Node::Done) => return all,
                Ok(node) => node,
                Err(XmlError::Document(reason)) => {
                    all.push(format!("{}!{reason}", reader.line()));
                    return all;
                }
                Err(XmlError::Read(error)) => panic!("{error}"),
            };
            let sign = if node == Node::Start { "" } else { "/" };
            let text = reader
                .text()
                .map(|text| format!("={}", text.escape_ascii()));
            let (line, name) = (reader.start_line(), reader.name());
            all.push(format!("{line}{sign}{name}{}", text.unwrap_or_default()));
        }
    }

    fn text_of(inside: &[u8]) -> String {
        let document = [b"<a>", inside, b"</a>"].concat();
        shown(&document, LineEnds::Normal).pop().unwrap()
    }

    #[test]
    fn pieces_of_a_text_are_joined() {
        assert_eq!(
            text_of(b"A &amp; B&#10;&#x41;<![CDATA[<x>]]><!-- c -->!"),
            "1/a=A & B\\nA<x>!"
        );
        assert_eq!(text_of(b" a "), "1/a= a ");
        assert_eq!(text_of(b"\r\n\r&#13;"), "1/a=\\n\\n\\r");
    }

    #[test]
    fn bytes_that_are_not_utf8_come_out_as_they_were() {
        assert_eq!(text_of(b"\xff\xe4x\xc3"), "1/a=\\xff\\xe4x\\xc3");
        let mark = FIRST_MARK.to_string();
        assert_eq!(text_of(mark.as_bytes()), "1/a=\\xf4\\x8f\\xbe\\x80");
    }

    #[test]
    fn the_declared_encoding_counts() {
        let document = b"<?xml version='1.0' encoding='iso-8859-1'?>\n<a>\xe4</a>";
        assert_eq!(shown(document, LineEnds::Normal), ["2a", "2/a=\\xc3\\xa4"]);
        let document = b"<?xml version='1.0' encoding='UTF-16'?><a>x</a>";
        assert_eq!(shown(document, LineEnds::Normal), ["1a", "1/a=x"]);
        let document = b"<?xml version='1.0' encoding='klingon'?><a>x</a>";
        let all = shown(document, LineEnds::Normal);
        assert_eq!(all, ["1!not valid XML: unknown encoding 'klingon'"]);
    }

    #[test]
    fn an_element_begins_where_its_tag_does() {
        let document = b"<?xml version='1.0'?>\n\n<a\n>\n<n:b x='1'\n y='2'/><b>c\n</b></a>\n";
        let expected = ["3a", "5b", "5/b=", "6b", "6/b=c\\n", "3/a"];
        assert_eq!(shown(document, LineEnds::Normal), expected);
    }

    #[test]
    fn what_breaks_the_rules_is_told() {
        for (document, reason) in [
            ("<a><b></a>", "1!not valid XML: "),
            ("<a>&x;</a>", "1!not valid XML: unknown entity 'x'"),
            ("<a>\n", "2!the manifest is incomplete: "),
            ("<a/><b/>", "1!not valid XML: more than one root element"),
            ("<a/>b", "1!not valid XML: text outside the root element"),
            ("", "1!not valid XML: no element"),
            ("<a>&#0;</a>", "1!not valid XML: "),
            ("<a b='&x;'/>", "1!not valid XML: "),
            ("<a>&amp", "1!not valid XML: "),
        ] {
            let last = shown(document.as_bytes(), LineEnds::Normal).pop().unwrap();
            assert!(last.starts_with(reason), "{document}: {last}");
        }
    }

    #[test]
    fn depth_and_length_are_bounded() {
        let last = shown("<a>".repeat(65).as_bytes(), LineEnds::Normal)
            .pop()
            .unwrap();
        assert_eq!(last, "1!not valid XML: elements in more than 64 others");
        for long in ["<a>", "<a b='", "<!--"] {
            let document = [long.as_bytes(), &vec![b'x'; MAX_LINE_LEN_BYTES + 1]].concat();
            let last = shown(&document, LineEnds::Normal).pop().unwrap();
            assert_eq!(last, "1!the line is longer than 16777216 bytes", "{long}");
        }
        let half = "x".repeat(MAX_LINE_LEN_BYTES / 2);
        let document = format!("<a>{half}<!-- -->{half}&amp;</a>");
        let last = shown(document.as_bytes(), LineEnds::Normal).pop().unwrap();
        assert_eq!(last, "1!the line is longer than 16777216 bytes");
    }

    #[test]
    fn entities_of_a_document_type_are_not_known() {
        let document = b"<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>";
        let last = shown(document, LineEnds::Normal).pop().unwrap();
        assert_eq!(last, "1!not valid XML: unknown entity 'x'");
    }

    #[test]
    fn what_xml_cannot_hold_is_refused() {
        for bad in [
            &b"\xff"[..],
            b"\x01",
            b"\x7f\x1b",
            "\u{fffe}".as_bytes(),
            b"\0",
        ] {
            let mut out = Vec::new();
            assert!(escape(bad, &mut out).is_err(), "{bad:?}");
            assert!(out.is_empty());
        }
    }

    proptest! {
        #[test]
        fn escaped_text_comes_back(text in prop::collection::vec(any::<u8>(), 0..20), any in any::<String>()) {
            for text in [&text[..], any.as_bytes()] {
                let mut escaped = Vec::new();
                if escape(text, &mut escaped).is_ok() {
                    let expected = format!("1/a={}", text.escape_ascii());
                    prop_assert_eq!(text_of(&escaped), expected);
                }
            }
        }

        #[test]
        fn marks_keep_every_byte(raw in prop::collection::vec(prop_oneof![any::<u8>(), Just(0xf4), Just(0x8f), Just(0xbe)], 0..40), cut in 0..40_usize) {
            let mut marked = Vec::new();
            let cut = cut.min(raw.len());
            let used = mark(&raw[..cut], false, &mut marked);
            mark(&raw[used..], true, &mut marked);
            let mut back = Vec::new();
            unmark(std::str::from_utf8(&marked).unwrap(), &mut back);
            prop_assert_eq!(back, raw);
        }
    }
}
