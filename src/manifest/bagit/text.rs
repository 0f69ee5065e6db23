//! The bytes of tag files as text, and text as lines.

use std::fmt::{self, Display, Formatter};

use super::super::lines::Encoding;

/// What `bagit.txt` says of the other tag files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextEncoding {
    encoding: &'static encoding_rs::Encoding,
    /// Said without the order of the bytes, which the byte order mark tells then.
    either_order: bool,
}

/// The text of a tag file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// UTF-8; where the file is said to be in UTF-8 already, its very bytes.
    pub text: Vec<u8>,
    /// Whether a byte order mark of UTF-8 was dropped.
    pub marked: bool,
    /// Whether it is not in the encoding that it is said to be in.
    pub faulty: bool,
}

const UTF_8_MARK: &[u8] = b"\xef\xbb\xbf";

impl TextEncoding {
    /// UTF-8, which every new bag has.
    pub const UTF_8: Self = Self {
        encoding: encoding_rs::UTF_8,
        either_order: false,
    };

    /// Looks up the name of an encoding, in any case; `None` if it is not known.
    pub fn from_label(label: &str) -> Option<Self> {
        let encoding = encoding_rs::Encoding::for_label(label.as_bytes())?;
        Some(Self {
            encoding,
            either_order: label.eq_ignore_ascii_case("utf-16"),
        })
    }

    /// Decodes all of a tag file.
    pub fn decode(self, bytes: Vec<u8>) -> Decoded {
        if self.encoding == encoding_rs::UTF_8 {
            return decode_utf8(bytes);
        }
        let (encoding, mark_len) = self.order_of(&bytes);
        let (text, faulty) = encoding.decode_without_bom_handling(&bytes[mark_len..]);
        Decoded {
            text: text.into_owned().into_bytes(),
            marked: false,
            faulty,
        }
    }

    /// The order of the bytes, and the length of the mark that tells it.
    fn order_of(self, bytes: &[u8]) -> (&'static encoding_rs::Encoding, usize) {
        let is_utf16 = [encoding_rs::UTF_16LE, encoding_rs::UTF_16BE].contains(&self.encoding);
        match Encoding::sniff(bytes) {
            Some((Encoding::Utf16Le, mark)) if is_utf16 => (encoding_rs::UTF_16LE, mark),
            Some((Encoding::Utf16Be, mark)) if is_utf16 => (encoding_rs::UTF_16BE, mark),
            // Without a mark the high byte comes first: RFC 2781, 4.3.
            _ if self.either_order => (encoding_rs::UTF_16BE, 0),
            _ => (self.encoding, 0),
        }
    }
}

impl Display for TextEncoding {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.encoding.name())
    }
}

fn decode_utf8(mut bytes: Vec<u8>) -> Decoded {
    let marked = bytes.starts_with(UTF_8_MARK);
    if marked {
        bytes.drain(..UTF_8_MARK.len());
    }
    let faulty = std::str::from_utf8(&bytes).is_err();
    Decoded {
        text: bytes,
        marked,
        faulty,
    }
}

/// Lines with their numbers, whichever of LF, CR and CRLF ends each of them.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let mut rest = Some(text).filter(|text| !text.is_empty());
    let cut = std::iter::from_fn(move || {
        let text = rest?;
        let end = text.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let (line, after) = match end {
            None => (text, None),
            Some(end) if text[end..].starts_with(b"\r\n") => (&text[..end], Some(&text[end + 2..])),
            Some(end) => (&text[..end], Some(&text[end + 1..])),
        };
        rest = after.filter(|after| !after.is_empty());
        Some(line)
    });
    (1..).zip(cut)
}

/// Whether nothing stands in a line.
pub(super) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_end_ends_one_line() {
        let cut: Vec<_> = lines(b"a\nb\rc\r\n\r\rd").collect();
        let expected: [(u64, &[u8]); 6] = [
            (1, b"a"),
            (2, b"b"),
            (3, b"c"),
            (4, b""),
            (5, b""),
            (6, b"d"),
        ];
        assert_eq!(cut, expected);
        assert_eq!(lines(b"a\r\n").count(), 1);
        assert_eq!(lines(b"").count(), 0);
    }

    #[test]
    fn declared_encodings_become_utf8() {
        let latin = TextEncoding::from_label("ISO-8859-1").unwrap();
        assert_eq!(latin.decode(b"\xe9".to_vec()).text, "é".as_bytes());
        let utf16 = TextEncoding::from_label("UTF-16").unwrap();
        for bytes in [
            &b"\xfe\xff\0a\0\xe9"[..],
            b"\xff\xfea\0\xe9\0",
            b"\0a\0\xe9",
        ] {
            assert_eq!(
                utf16.decode(bytes.to_vec()).text,
                "aé".as_bytes(),
                "{bytes:?}"
            );
        }
        let low_first = TextEncoding::from_label("utf-16le").unwrap();
        assert_eq!(low_first.decode(b"a\0".to_vec()).text, b"a");
        assert_eq!(TextEncoding::from_label("EBCDIC-XX"), None);
    }

    #[test]
    fn what_is_not_utf8_is_said_and_kept() {
        let decoded = TextEncoding::UTF_8.decode(b"\xef\xbb\xbfa\xff".to_vec());
        assert_eq!(decoded.text, b"a\xff");
        assert!(decoded.marked && decoded.faulty);
    }
}
