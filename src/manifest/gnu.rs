//! The untagged format of GNU coreutils: `DIGEST  NAME`.
//!
//! ```text
//! line = ["\"] HEX SP MODE NAME LF       MODE = " " | "*"
//! line = ["\"] HEX (SP | TAB) NAME LF    the reversed form of BSD's `md5 -r`
//! ```
//!
//! HEX may also be base64, as `cksum --untagged --base64` and, URL-safe, `rclone hashsum --base64` write
//! it. The name is everything to the end of the line, blanks included. With a leading backslash it is
//! escaped. Which of the two forms a list is in is decided once, by its first good line: after a
//! one-space line, `HEX  b` means a file called ` b`, and after a two-space line a one-space line is
//! malformed; otherwise a name with a leading blank could be passed off as another one. Source: GNU
//! coreutils manual, *md5sum invocation*, and the behaviour of `sha256sum -c` 9.1.

use super::encoder::{self, Setup};
use super::lines::{Terminator, find_blank};
use super::writer::{self, Column, EntryError, WriterError};
use super::{Entry, Format, GapKind, Malformed};
use super::{escape, evidence, gap};
use crate::hex;
use crate::relpath::RelPath;

/// Which form a list is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spacing {
    /// One blank before the name.
    One,
    /// A blank and a mode character.
    Two,
}

/// An untagged line, cut in two.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Untagged<'a> {
    /// Hexadecimal digits, with the mark that `xxhsum` puts before an XXH3.
    pub(super) digits: Digits<'a>,
    /// What follows the first blank.
    rest: &'a [u8],
}

/// The digest as it stands in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Digits<'a> {
    /// Nothing but hexadecimal digits, or base64.
    Plain(&'a [u8]),
    /// The 16 digits after `XXH3_`, which tells them from an XXH64.
    Xxh3(&'a [u8]),
}

/// Fewer digits than the shortest checksum make a word of prose: `add`, `face`.
const MIN_DIGITS: usize = evidence::MIN_DIGEST_BITS as usize / 4;

/// Cuts a line that has lost leading blanks and backslash; `None` if it does not start with a digest
/// and a blank.
pub(super) fn split(text: &[u8]) -> Option<Untagged<'_>> {
    let end = find_blank(text)?;
    Some(Untagged {
        digits: digits(&text[..end])?,
        rest: &text[end + 1..],
    })
}

/// Tells whether a word is a digest.
pub(super) fn digits(word: &[u8]) -> Option<Digits<'_>> {
    if let Some(xxh3) = word.strip_prefix(b"XXH3_") {
        return (xxh3.len() == 16 && hex::is_hex(xxh3)).then_some(Digits::Xxh3(xxh3));
    }
    let is_digest = word.len() >= MIN_DIGITS && (hex::is_hex(word) || evidence::is_base64(word));
    is_digest.then_some(Digits::Plain(word))
}

impl<'a> Untagged<'a> {
    /// The name, still escaped, and the form that it was read in; `list` is the form that the lines
    /// before have settled.
    pub(super) fn name(&self, list: Option<Spacing>) -> Result<(&'a [u8], Spacing), Malformed> {
        match (list, self.rest) {
            (_, []) => Err(Malformed::EmptyName),
            (Some(Spacing::One), name) => Ok((name, Spacing::One)),
            // coreutils takes it for a name of one blank or star in the other form, which would then
            // decide how all names below are read.
            (_, [b' ' | b'*']) => Err(Malformed::EmptyName),
            (_, [b' ' | b'*', name @ ..]) => Ok((name, Spacing::Two)),
            (None, name) => Ok((name, Spacing::One)),
            (Some(Spacing::Two), _) => Err(Malformed::MixedSpacing),
        }
    }
}

/// Writes one line an entry.
#[derive(Debug)]
struct Encoder {
    column: Column,
    terminator: Terminator,
    base64: bool,
}

/// The encoder of the untagged formats.
pub(super) fn encoder(
    format: Format,
    setup: Setup,
) -> Result<Box<dyn encoder::Encoder>, WriterError> {
    Ok(Box::new(Encoder {
        column: writer::only(setup.columns, format)?,
        terminator: setup.terminator,
        base64: setup.base64,
    }))
}

impl encoder::Encoder for Encoder {
    fn entry(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) -> Result<(), EntryError> {
        let digits = encoder::spell(self.column.digest_of(entry)?, self.base64);
        let escaping = self.terminator == Terminator::Line;
        write_into(digits.as_bytes(), entry.name.as_bytes(), escaping, out);
        out.push(self.terminator.byte());
        Ok(())
    }

    fn gap(&mut self, name: &RelPath, kind: GapKind, out: &mut Vec<u8>) -> Result<(), EntryError> {
        gap::write_into(name, kind, self.terminator, out);
        Ok(())
    }
}

/// Appends a line without its terminator.
fn write_into(digits: &[u8], name: &[u8], escaping: bool, out: &mut Vec<u8>) {
    let escaped = escaping && escape::needs_gnu_escape(name);
    if escaped {
        out.push(b'\\');
    }
    out.extend_from_slice(digits);
    out.extend_from_slice(b"  ");
    if escaped {
        escape::gnu_escape_into(name, out);
    } else {
        out.extend_from_slice(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MD5: &str = "9dd4e461268c8034f5c8564e155c67a6";

    fn name(after_digest: &str, list: Option<Spacing>) -> Result<(String, Spacing), Malformed> {
        let line = format!("{MD5}{after_digest}");
        let split = split(line.as_bytes()).unwrap();
        let (name, spacing) = split.name(list)?;
        Ok((String::from_utf8(name.to_vec()).unwrap(), spacing))
    }

    fn is(name: &str, spacing: Spacing) -> Result<(String, Spacing), Malformed> {
        Ok((name.to_owned(), spacing))
    }

    #[test]
    fn blanks_belong_to_the_name() {
        assert_eq!(name("   b", None), is(" b", Spacing::Two));
        assert_eq!(name(" *tail \t", None), is("tail \t", Spacing::Two));
        assert_eq!(name("  *star", None), is("*star", Spacing::Two));
        assert_eq!(name("  #c", None), is("#c", Spacing::Two));
    }

    #[test]
    fn the_first_good_line_settles_the_form() {
        assert_eq!(name(" b", None), is("b", Spacing::One));
        assert_eq!(name("  b", Some(Spacing::One)), is(" b", Spacing::One));
        assert_eq!(name(" *b", Some(Spacing::One)), is("*b", Spacing::One));
        assert_eq!(name(" b", Some(Spacing::Two)), Err(Malformed::MixedSpacing));
    }

    #[test]
    fn a_tab_separates_as_a_blank_does() {
        assert_eq!(name("\ta.txt", None), is("a.txt", Spacing::One));
        assert_eq!(name("\t b", None), is("b", Spacing::Two));
    }

    #[test]
    fn a_line_cut_after_the_digest_does_not_settle_the_form() {
        assert_eq!(name(" ", None), Err(Malformed::EmptyName));
        assert_eq!(name("  ", None), Err(Malformed::EmptyName));
        assert_eq!(name(" *", None), Err(Malformed::EmptyName));
        assert_eq!(name("  ", Some(Spacing::Two)), Err(Malformed::EmptyName));
        assert_eq!(name("  ", Some(Spacing::One)), is(" ", Spacing::One));
    }

    #[test]
    fn words_are_not_digests() {
        for prose in [
            "add  x",
            "deadbee  x",
            "hello world",
            "",
            "deadbeef",
            "XXH3_9 a",
            "Document  x",
        ] {
            assert_eq!(split(prose.as_bytes()), None, "{prose}");
        }
    }

    #[test]
    fn an_xxh3_is_told_from_an_xxh64() {
        let line = split(b"XXH3_99fc819aaba2462a  a.txt").unwrap();
        assert_eq!(line.digits, Digits::Xxh3(b"99fc819aaba2462a"));
    }

    #[test]
    fn a_name_is_escaped_exactly_when_coreutils_does() {
        let written = |name: &str, escaping| {
            let mut out = Vec::new();
            write_into(b"9dd4", name.as_bytes(), escaping, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written("a b", true), "9dd4  a b");
        assert_eq!(written("new\nline", true), "\\9dd4  new\\nline");
        assert_eq!(written("cr\rx\\", true), "\\9dd4  cr\\rx\\\\");
        assert_eq!(written("new\nline\\", false), "9dd4  new\nline\\");
    }
}
