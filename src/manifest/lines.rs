//! Lines and NUL-terminated records as bytes, with their numbers, from any stream.
//!
//! Bytes are passed on as they are. UTF-16, which Windows shells write, becomes UTF-8 line by line. A
//! byte order mark at the start is dropped.

use std::borrow::Cow;
use std::fmt::{self, Debug, Formatter};
use std::io::{self, BufRead, BufReader, Read};
use std::iter;

use super::Malformed;
use super::wrapper::{Part, Wrapper};

/// The longest line that is read, in bytes before decoding and without its terminator. Longer ones
/// are reported and passed over without being held in memory.
pub const MAX_LINE_LEN_BYTES: usize = 16 << 20;

/// How much of the input is looked at to find out what it is.
pub(super) const SAMPLE_LEN_BYTES: usize = 64 << 10;

const BUFFER_LEN_BYTES: usize = 128 << 10;

/// What ends a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terminator {
    /// A line feed, possibly after one carriage return. The last line may lack it.
    Line,
    /// A NUL byte; line breaks are part of the record.
    Nul,
}

impl Terminator {
    /// The byte itself.
    pub(super) fn byte(self) -> u8 {
        match self {
            Self::Line => b'\n',
            Self::Nul => 0,
        }
    }

    /// A record without it.
    fn strip(self, record: &[u8]) -> &[u8] {
        let text = record.strip_suffix(&[self.byte()]).unwrap_or(record);
        match self {
            Self::Line => text.strip_suffix(b"\r").unwrap_or(text),
            Self::Nul => text,
        }
    }
}

/// How the bytes of a list stand for text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes, taken as they are: UTF-8 or whatever the names are in.
    Bytes,
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
}

impl Encoding {
    /// Looks at the first bytes: the encoding and the length of the byte order mark, or `None` for
    /// UTF-32.
    ///
    /// Without a mark, three ASCII characters in a row that have a zero byte on the same side are
    /// taken for UTF-16.
    pub(super) fn sniff(head: &[u8]) -> Option<(Self, usize)> {
        Some(match head {
            [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => return None,
            [0xef, 0xbb, 0xbf, ..] => (Self::Bytes, 3),
            [0xff, 0xfe, ..] => (Self::Utf16Le, 2),
            [0xfe, 0xff, ..] => (Self::Utf16Be, 2),
            [1..=255, 0, 1..=255, 0, 1..=255, 0, ..] => (Self::Utf16Le, 0),
            [0, 1..=255, 0, 1..=255, 0, 1..=255, ..] => (Self::Utf16Be, 0),
            _ => (Self::Bytes, 0),
        })
    }

    /// The beginning of a list as UTF-8 or bytes, good enough to recognise it by.
    pub(super) fn decode_sample(self, sample: &[u8]) -> Cow<'_, [u8]> {
        let Some(encoding) = self.utf16() else {
            return Cow::Borrowed(sample);
        };
        let (text, _) = encoding.decode_without_bom_handling(sample);
        Cow::Owned(text.into_owned().into_bytes())
    }

    fn utf16(self) -> Option<&'static encoding_rs::Encoding> {
        match self {
            Self::Bytes => None,
            Self::Utf16Le => Some(encoding_rs::UTF_16LE),
            Self::Utf16Be => Some(encoding_rs::UTF_16BE),
        }
    }
}

/// Reads the beginning of a stream, as much as detection looks at.
pub(super) fn read_sample(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut sample = Vec::new();
    input
        .take(SAMPLE_LEN_BYTES as u64)
        .read_to_end(&mut sample)?;
    Ok(sample)
}

/// Drops leading spaces and tabs.
pub(super) fn skip_blanks(text: &[u8]) -> &[u8] {
    let start = text.iter().take_while(|byte| is_blank(**byte)).count();
    &text[start..]
}

/// Drops spaces and tabs on both sides.
pub(super) fn trim_blanks(text: &[u8]) -> &[u8] {
    let text = skip_blanks(text);
    let end = text.iter().rposition(|&byte| !is_blank(byte));
    &text[..end.map_or(0, |last| last + 1)]
}

/// A number of decimal digits and nothing else.
pub(super) fn decimal<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(text).ok().filter(|_| is_number)?;
    text.parse().ok()
}

/// The pieces between blanks.
pub(super) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    let mut rest = text;
    iter::from_fn(move || {
        rest = skip_blanks(rest);
        let (word, behind) = rest.split_at(find_blank(rest).unwrap_or(rest.len()));
        rest = behind;
        (!word.is_empty()).then_some(word)
    })
}

/// The pieces between bytes of one kind, at least one.
pub(super) fn split(text: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    iter::from_fn(move || {
        let text = rest.take()?;
        let end = find(separator, text).unwrap_or(text.len());
        rest = text.get(end + 1..);
        Some(&text[..end])
    })
}

/// Where a byte stands first.
pub(super) fn find(byte: u8, text: &[u8]) -> Option<usize> {
    memchr::memchr(byte, text)
}

/// Where a byte stands, from the first to the last place.
pub(super) fn find_all(byte: u8, text: &[u8]) -> impl Iterator<Item = usize> {
    memchr::memchr_iter(byte, text)
}

/// Where the first space or tab stands.
pub(super) fn find_blank(text: &[u8]) -> Option<usize> {
    memchr::memchr2(b' ', b'\t', text)
}

/// Where the first of three bytes stands.
pub(super) fn find_any([one, two, three]: [u8; 3], text: &[u8]) -> Option<usize> {
    memchr::memchr3(one, two, three, text)
}

/// Where a byte stands last.
pub(super) fn find_last(byte: u8, text: &[u8]) -> Option<usize> {
    memchr::memrchr(byte, text)
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// One line or record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Its number, counted from 1.
    pub(super) number: u64,
    /// Its text without the terminator, unless it is too long or wrongly encoded.
    pub(super) text: Result<&'a [u8], Malformed>,
}

/// Cuts a stream into lines or records. Memory is bounded by the longest line.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    encoding: Encoding,
    terminator: Terminator,
    number: u64,
    max_len_bytes: usize,
    /// The length of the line that was handed out from the buffer of `input`, and is still in it.
    lent: usize,
    /// Whether the last line that was read has no terminator.
    cut: bool,
    /// A line that does not lie in one piece in that buffer.
    raw: Vec<u8>,
    decoded: String,
}

impl<R: Read> Lines<R> {
    /// `input` has lost its byte order mark.
    pub(super) fn new(input: R, encoding: Encoding, terminator: Terminator) -> Self {
        Self {
            input: BufReader::with_capacity(BUFFER_LEN_BYTES, input),
            encoding,
            terminator,
            number: 0,
            max_len_bytes: MAX_LINE_LEN_BYTES,
            lent: 0,
            cut: false,
            raw: Vec::new(),
            decoded: String::new(),
        }
    }

    /// How many lines have been read.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Whether the text ended in the middle of a line, as far as that shows.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    /// The next line, or `None` at the end.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.input.consume(std::mem::take(&mut self.lent));
        if self.encoding == Encoding::Bytes {
            let terminator = self.terminator.byte();
            let end = find(terminator, self.input.buffer());
            if let Some(len_bytes) = end.filter(|len_bytes| *len_bytes <= self.max_len_bytes) {
                self.lent = len_bytes + 1;
                self.number += 1;
                return Ok(Some(Line {
                    number: self.number,
                    text: Ok(self.terminator.strip(&self.input.buffer()[..self.lent])),
                }));
            }
        }
        self.next_in_pieces()
    }

    /// Reads a line that does not lie in the buffer of the input, or is to be decoded.
    fn next_in_pieces(&mut self) -> io::Result<Option<Line<'_>>> {
        self.raw.clear();
        let whole = match self.encoding {
            Encoding::Bytes => self.read_bytes()?,
            Encoding::Utf16Le | Encoding::Utf16Be => self.read_utf16()?,
        };
        if self.raw.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        let number = self.number;
        let text = if whole {
            self.text()
        } else {
            Err(Malformed::TooLong(self.max_len_bytes))
        };
        Ok(Some(Line { number, text }))
    }

    /// Reads to the terminator; false if the line is too long, and then the rest of it is skipped.
    fn read_bytes(&mut self) -> io::Result<bool> {
        let terminator = self.terminator.byte();
        // One byte more than a line may have is its terminator, or proof that it is too long.
        let limit = self.max_len_bytes as u64 + 1;
        let mut limited = self.input.by_ref().take(limit);
        limited.read_until(terminator, &mut self.raw)?;
        let ended = self.raw.last() == Some(&terminator);
        let whole = ended || self.raw.len() <= self.max_len_bytes;
        self.cut |= !ended && !self.raw.is_empty();
        if !whole {
            self.input.skip_until(terminator)?;
        }
        Ok(whole)
    }

    /// Reads to a line feed that is a code unit of its own; false if the line is too long.
    fn read_utf16(&mut self) -> io::Result<bool> {
        let mut whole = true;
        loop {
            let room = self.max_len_bytes as u64 + 2;
            let before = self.raw.len();
            let mut limited = self.input.by_ref().take(room);
            limited.read_until(b'\n', &mut self.raw)?;
            if self.raw.len() == before || self.ends_in_line_feed()? {
                return Ok(whole && self.raw.len() <= self.max_len_bytes + 2);
            }
            if self.raw.len() > self.max_len_bytes {
                whole = false;
                // Whole code units go, so that the next one starts where it should.
                let units = (self.raw.len() / 2 - 1) * 2;
                self.raw.drain(..units);
            }
        }
    }

    fn ends_in_line_feed(&mut self) -> io::Result<bool> {
        let odd = self.raw.len() % 2 == 1;
        if self.raw.last() != Some(&b'\n') {
            return Ok(false);
        }
        if self.encoding == Encoding::Utf16Be {
            return Ok(!odd && self.raw[self.raw.len() - 2] == 0);
        }
        if !odd {
            return Ok(false);
        }
        self.input.by_ref().take(1).read_to_end(&mut self.raw)?;
        Ok(self.raw.last() == Some(&0))
    }

    fn text(&mut self) -> Result<&[u8], Malformed> {
        let bytes = match self.encoding.utf16() {
            None => &self.raw[..],
            Some(encoding) => {
                self.decoded = encoding
                    .decode_without_bom_handling_and_without_replacement(&self.raw)
                    .ok_or(Malformed::BadEncoding)?
                    .into_owned();
                self.decoded.as_bytes()
            }
        };
        Ok(self.terminator.strip(bytes))
    }
}

impl<R> Debug for Lines<R> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines")
            .field("encoding", &self.encoding)
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

/// Text for decoders that read it in one go: in UTF-8, and without its wrapping.
///
/// Text that is neither in UTF-16 nor wrapped is passed on byte by byte.
pub(super) struct Unwrapped<R> {
    lines: Lines<R>,
    wrapper: Wrapper,
    line: Vec<u8>,
    given: usize,
}

impl<R: Read> Unwrapped<R> {
    /// Takes lines that have not been read yet.
    pub(super) fn new(lines: Lines<R>, wrapper: Wrapper) -> Self {
        Self {
            lines,
            wrapper,
            line: Vec::new(),
            given: 0,
        }
    }

    /// Reads the next line of the text; an empty one instead of wrapping, so that lines keep their
    /// numbers.
    fn refill(&mut self) -> io::Result<()> {
        self.line.clear();
        self.given = 0;
        let refused = |reason: Malformed| io::Error::new(io::ErrorKind::InvalidData, reason);
        let Some(line) = self.lines.next_line()? else {
            return self.wrapper.end().map_err(refused);
        };
        match self.wrapper.unwrap(line.text.map_err(refused)?) {
            Part::Body(text) => self.line.extend_from_slice(text),
            Part::Wrapping => {}
            Part::Outside(reason) => return Err(refused(reason)),
        }
        self.line.push(b'\n');
        Ok(())
    }
}

impl<R: Read> Read for Unwrapped<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.line.len() {
            self.refill()?;
        }
        let count = (&self.line[self.given..]).read(buffer)?;
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Read1 = (u64, Result<Vec<u8>, Malformed>);

    /// A stream that gives few bytes at a time.
    struct InPieces<'a>(&'a [u8], usize);

    impl Read for InPieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = self.1.min(buffer.len());
            self.0.read(&mut buffer[..len])
        }
    }

    /// Everything in a stream, in whatever pieces it comes.
    fn read_all(bytes: &[u8], terminator: Terminator, max_len_bytes: usize) -> Vec<Read1> {
        let (encoding, mark) = Encoding::sniff(bytes).unwrap();
        let read = |piece_len_bytes| {
            let input = InPieces(&bytes[mark..], piece_len_bytes);
            let mut lines = Lines::new(input, encoding, terminator);
            lines.max_len_bytes = max_len_bytes;
            let mut all = Vec::new();
            while let Some(line) = lines.next_line().unwrap() {
                all.push((line.number, line.text.map(<[u8]>::to_vec)));
            }
            all
        };
        let all = read(usize::MAX);
        for piece_len_bytes in 1..12 {
            assert_eq!(read(piece_len_bytes), all, "{piece_len_bytes}");
        }
        all
    }

    fn texts(bytes: &[u8]) -> Vec<Vec<u8>> {
        let lines = read_all(bytes, Terminator::Line, MAX_LINE_LEN_BYTES);
        lines.into_iter().map(|(_, text)| text.unwrap()).collect()
    }

    fn utf16(text: &str, be: bool) -> Vec<u8> {
        let swap = |unit: u16| {
            if be {
                unit.to_be_bytes()
            } else {
                unit.to_le_bytes()
            }
        };
        text.encode_utf16().flat_map(swap).collect()
    }

    #[test]
    fn pieces_are_those_that_slices_are_split_into() {
        for text in ["", ",", ",,", "a", "a,", ",a", "a,,bc,d", "ab"] {
            let text = text.as_bytes();
            let expected: Vec<&[u8]> = text.split(|&byte| byte == b',').collect();
            assert_eq!(split(text, b',').collect::<Vec<_>>(), expected);
        }
        for text in ["", " ", "a", " a", "a\t", " a \tbc  d"] {
            let expected: Vec<&str> = text.split_ascii_whitespace().collect();
            let words: Vec<&[u8]> = words(text.as_bytes()).collect();
            assert_eq!(
                words,
                expected.iter().map(|w| w.as_bytes()).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn crlf_and_a_missing_last_newline_are_line_ends() {
        assert_eq!(texts(b"a\r\nb\n\nc\r"), [&b"a"[..], b"b", b"", b"c"]);
        assert_eq!(texts(b"a\r\r\n"), [b"a\r"]);
        assert_eq!(texts(b""), Vec::<Vec<u8>>::new());
        assert_eq!(texts(b"\n"), [b""]);
    }

    #[test]
    fn nul_records_keep_their_line_breaks() {
        let records = read_all(b"a\n\0b\r\0\0c", Terminator::Nul, 99);
        let expected = [(1, &b"a\n"[..]), (2, b"b\r"), (3, b""), (4, b"c")];
        assert_eq!(records, expected.map(|(n, text)| (n, Ok(text.to_vec()))));
    }

    #[test]
    fn a_utf8_mark_is_not_part_of_line_1() {
        assert_eq!(texts(b"\xef\xbb\xbfa\nb"), [b"a", b"b"]);
    }

    #[test]
    fn utf16_is_read_with_and_without_a_mark() {
        // U+0A0A and U+010A hold bytes that look like a line feed.
        let text = "abc\r\n\u{0a0a}\u{010a}\u{0a00}x\né\u{1f600}";
        for be in [false, true] {
            for mark in ["", "\u{feff}"] {
                let lines = texts(&utf16(&format!("{mark}{text}"), be));
                let expected = ["abc", "\u{0a0a}\u{010a}\u{0a00}x", "é\u{1f600}"];
                assert_eq!(lines, expected.map(str::as_bytes), "be {be}");
            }
        }
    }

    #[test]
    fn bad_utf16_spoils_one_line_and_not_the_rest() {
        for be in [false, true] {
            let mut bytes = utf16("\u{feff}a\n", be);
            bytes.extend(if be { [0xd8, 0x00] } else { [0x00, 0xd8] });
            bytes.extend(utf16("\nb\n", be));
            bytes.push(b'c');
            let lines = read_all(&bytes, Terminator::Line, 99);
            let bad = || Err(Malformed::BadEncoding);
            let expected = [Ok(b"a".to_vec()), bad(), Ok(b"b".to_vec()), bad()];
            assert_eq!(
                lines.into_iter().map(|(_, text)| text).collect::<Vec<_>>(),
                expected
            );
        }
    }

    #[test]
    fn utf32_is_not_taken_for_utf16() {
        assert_eq!(Encoding::sniff(b"\xff\xfe\0\0a\0\0\0"), None);
        assert_eq!(Encoding::sniff(b"\0\0\xfe\xff\0\0\0a"), None);
    }

    #[test]
    fn a_line_that_is_too_long_is_reported_and_reading_goes_on() {
        let expected = |bytes: &[u8]| {
            let lines = read_all(bytes, Terminator::Line, 8);
            let numbers: Vec<_> = lines.iter().map(|(number, _)| *number).collect();
            assert_eq!(numbers, (1..=lines.len() as u64).collect::<Vec<_>>());
            lines.into_iter().map(|(_, text)| text).collect::<Vec<_>>()
        };
        let long = || Err(Malformed::TooLong(8));
        let ok = |text: &str| Ok(text.as_bytes().to_vec());
        assert_eq!(
            expected(b"12345678\n123456789\n1234567890123456789012345\nx\n123456789"),
            [ok("12345678"), long(), long(), ok("x"), long()]
        );
        for be in [false, true] {
            assert_eq!(
                expected(&utf16("\u{feff}abcd\nabcdefghijklmnopq\nx\n", be)),
                [ok("abcd"), long(), ok("x")],
                "be {be}"
            );
        }
    }
}
