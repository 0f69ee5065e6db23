//! The tagged format of BSD, `sha256sum --tag` and OpenSSL: `SHA256 (NAME) = DIGEST`.
//!
//! ```text
//! line = ["\"] TAG *SP "(" NAME ")" *WSP "=" *WSP DIGEST *WSP LF
//! ```
//!
//! DIGEST is hexadecimal, or base64 as `cksum --base64` and OpenBSD's `-b` write it. GNU and BSD write
//! one blank before the parenthesis, OpenSSL none, RHash pads the tag. Parentheses and ` = ` in names
//! are not escaped, so the last `)` of the line ends the name. Source: GNU coreutils manual, *cksum
//! output modes*; the output of OpenSSL 3.0.19 and RHash 1.4.3.

use std::borrow::Cow;

use super::encoder::{self, Setup};
use super::lines::{Terminator, find_any, find_last, skip_blanks, trim_blanks};
use super::writer::{Column, EntryError};
use super::{Entry, GapKind};
use super::{escape, gap};
use crate::relpath::RelPath;

/// A tagged line, cut in three.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tagged<'a> {
    /// The spelling of the algorithm.
    pub(super) tag: &'a [u8],
    /// The name, still escaped.
    pub(super) name: &'a [u8],
    /// The digest as it stands there.
    digest: &'a [u8],
}

/// Cuts a line that has lost leading blanks and backslash; `None` if it has another shape.
pub(super) fn split(text: &[u8]) -> Option<Tagged<'_>> {
    let tag_end = find_any([b' ', b'\t', b'('], text)?;
    let (tag, rest) = text.split_at(tag_end);
    let rest = skip_blanks(rest).strip_prefix(b"(")?;
    let name_end = find_last(b')', rest)?;
    let digest = skip_blanks(&rest[name_end + 1..]).strip_prefix(b"=")?;
    let is_word = !tag.is_empty() && tag.iter().all(u8::is_ascii_graphic);
    is_word.then_some(Tagged {
        tag,
        name: &rest[..name_end],
        digest: trim_blanks(digest),
    })
}

/// Whether a line is tagged and its digest one word, whether or not the tag is known. Lists with their
/// digests behind the names must not take such a line for one of theirs.
pub(super) fn looks_tagged(text: &[u8]) -> bool {
    split(text).is_some_and(|line| !line.digest.iter().any(|byte| matches!(byte, b' ' | b'\t')))
}

impl<'a> Tagged<'a> {
    /// The hexadecimal digits, without the colons that `openssl dgst -c` puts between bytes.
    pub(super) fn digits(&self) -> Cow<'a, [u8]> {
        let with_colons = self.digest.len() % 3 == 2
            && self
                .digest
                .iter()
                .skip(2)
                .step_by(3)
                .all(|&byte| byte == b':');
        if with_colons && self.digest.len() > 2 {
            Cow::Owned(
                self.digest
                    .chunks(3)
                    .flat_map(|byte| byte[..2].to_vec())
                    .collect(),
            )
        } else {
            Cow::Borrowed(self.digest)
        }
    }
}

/// Writes a line for each algorithm of an entry.
#[derive(Debug)]
struct Encoder {
    columns: Vec<Column>,
    terminator: Terminator,
    base64: bool,
    /// Every line says what it is of, so entries may differ in what they have.
    partial: bool,
}

/// The encoder of the tagged format.
pub(super) fn encoder(setup: Setup) -> Box<dyn encoder::Encoder> {
    Box::new(Encoder {
        columns: setup.columns,
        terminator: setup.terminator,
        base64: setup.base64,
        partial: setup.partial,
    })
}

impl encoder::Encoder for Encoder {
    fn entry(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) -> Result<(), EntryError> {
        let escaping = self.terminator == Terminator::Line;
        for column in &self.columns {
            if self.partial && column.digest_in(entry).is_none() {
                continue;
            }
            let digits = encoder::spell(column.digest_of(entry)?, self.base64);
            write_into(
                &column.tag,
                digits.as_bytes(),
                entry.name.as_bytes(),
                escaping,
                out,
            );
            out.push(self.terminator.byte());
        }
        Ok(())
    }

    fn gap(&mut self, name: &RelPath, kind: GapKind, out: &mut Vec<u8>) -> Result<(), EntryError> {
        gap::write_into(name, kind, self.terminator, out);
        Ok(())
    }
}

/// Appends a line without its terminator.
fn write_into(tag: &str, digits: &[u8], name: &[u8], escaping: bool, out: &mut Vec<u8>) {
    let escaped = escaping && escape::needs_gnu_escape(name);
    if escaped {
        out.push(b'\\');
    }
    out.extend_from_slice(tag.as_bytes());
    out.extend_from_slice(b" (");
    if escaped {
        escape::gnu_escape_into(name, out);
    } else {
        out.extend_from_slice(name);
    }
    out.extend_from_slice(b") = ");
    out.extend_from_slice(digits);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(line: &str) -> Option<[String; 3]> {
        let tagged = split(line.as_bytes())?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Some([text(tagged.tag), text(tagged.name), text(&tagged.digits())])
    }

    #[test]
    fn all_spellings_of_blanks_are_read() {
        for line in [
            "SHA1 (a.txt) = f572",
            "SHA1(a.txt)= f572",
            "SHA1(a.txt)=f572",
            "SHA1  (a.txt) = f572",
            "SHA1 (a.txt)\t=\tf572",
            "SHA1 (a.txt) = f572 ",
            "SHA1(a.txt)= f5:72",
        ] {
            let expected = ["SHA1", "a.txt", "f572"].map(str::to_owned);
            assert_eq!(parts(line), Some(expected), "{line}");
        }
    }

    #[test]
    fn the_last_parenthesis_ends_the_name() {
        let line = "MD5 (x) = y) = 9dd4e461268c8034f5c8564e155c67a6";
        assert_eq!(parts(line).unwrap()[1], "x) = y");
        assert_eq!(parts("MD5 ((a)) = 9dd4").unwrap()[1], "(a)");
        assert_eq!(parts("MD5 ( b ) = 9dd4").unwrap()[1], " b ");
    }

    #[test]
    fn colons_are_dropped_only_between_bytes() {
        for odd in ["f5:7:2", "f:57:2", ":f5:72", "f5:72:", "f5::72", "f57:2"] {
            assert_eq!(parts(&format!("MD5(a)= {odd}")).unwrap()[2], odd);
        }
    }

    #[test]
    fn other_shapes_are_refused() {
        for line in [
            "(stdin)= f572",
            "a\nSHA1 (a.txt) = f572",
            "SHA1 a.txt = f572",
            "SHA1 (a.txt = f572",
            "SHA1 (a.txt) f572",
            "SHA1",
            "",
        ] {
            assert_eq!(parts(line), None, "{line}");
        }
    }

    #[test]
    fn a_name_is_written_as_coreutils_writes_it() {
        let written = |name: &str, escaping| {
            let mut out = Vec::new();
            write_into("SHA256", b"2d71", name.as_bytes(), escaping, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written("x) = y", true), "SHA256 (x) = y) = 2d71");
        assert_eq!(written("new\nline", true), "\\SHA256 (new\\nline) = 2d71");
        assert_eq!(written("new\nline", false), "SHA256 (new\nline) = 2d71");
    }
}
