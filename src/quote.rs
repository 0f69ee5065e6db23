//! Names made safe for people to look at.
//!
//! A name may hold any byte that the file system allows: line breaks, terminal escapes, marks that
//! reverse the reading direction. [`Quoted`] shows each name on one line, so that no byte of it can
//! act on a terminal and two different names never look alike.

use std::ffi::OsStr;
use std::fmt::{self, Display, Formatter, Write};
use std::path::Path;

/// Shows bytes as text, with everything that is not plainly printable escaped.
///
/// Printable Unicode stands for itself. A backslash becomes `\\`; the usual controls become `\n`,
/// `\r` and `\t`; other control, invisible and direction-changing characters become `\u{…}`; bytes
/// that are not UTF-8 become `\xHH`. The result can be turned back into the same bytes.
///
/// # Examples
///
/// ```
/// use multisum::quote::Quoted;
/// assert_eq!(Quoted::new("plain é.txt").to_string(), "plain é.txt");
/// assert_eq!(Quoted::from_bytes(b"a\nb\x1b[2J\xff").to_string(), r"a\nb\u{1b}[2J\xff");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Quoted<'a>(&'a [u8]);

impl<'a> Quoted<'a> {
    /// Quotes a path, an OS string or a string.
    pub fn new(name: &'a (impl AsRef<OsStr> + ?Sized)) -> Self {
        Self(name.as_ref().as_encoded_bytes())
    }

    /// Quotes bytes, for instance a name as a manifest spells it.
    pub fn from_bytes(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Quotes a path; the same as [`Quoted::new`], for use where type inference needs help.
    pub fn path(path: &'a Path) -> Self {
        Self::new(path)
    }
}

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                write_char(f, c)?;
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

/// Shows text that is not a name, such as an error message, on one line and unable to act on a
/// terminal. A backslash stands for itself, since parts of such a text may be quoted already.
///
/// # Examples
///
/// ```
/// use multisum::quote::OneLine;
/// assert_eq!(OneLine("C:\\new\nline").to_string(), r"C:\new\nline");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OneLine<D>(pub D);

impl<D: Display> Display for OneLine<D> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(OneLineWriter(f), "{}", self.0)
    }
}

struct OneLineWriter<'a, 'b>(&'a mut Formatter<'b>);

impl Write for OneLineWriter<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|c| match c {
            '\\' => self.0.write_char(c),
            c => write_char(self.0, c),
        })
    }
}

fn write_char(f: &mut Formatter<'_>, c: char) -> fmt::Result {
    match c {
        '\\' => f.write_str("\\\\"),
        '\n' => f.write_str("\\n"),
        '\r' => f.write_str("\\r"),
        '\t' => f.write_str("\\t"),
        c if acts_on_a_terminal(c) => write!(f, "\\u{{{:x}}}", u32::from(c)),
        c => f.write_char(c),
    }
}

/// Controls (C0, DEL, C1), line and paragraph separators, and characters that are invisible or
/// change the direction of what follows (Unicode categories Cc, Zl, Zp and most of Cf).
pub(crate) fn acts_on_a_terminal(c: char) -> bool {
    c.is_control()
        || matches!(
            u32::from(c),
            0x00ad
                | 0x061c
                | 0x115f..=0x1160
                | 0x17b4..=0x17b5
                | 0x180b..=0x180f
                | 0x200b..=0x200f
                | 0x2028..=0x202e
                | 0x2060..=0x206f
                | 0x3164
                | 0xfe00..=0xfe0f
                | 0xfeff
                | 0xffa0
                | 0xfff0..=0xfffb
                | 0xe0000..=0xe0fff
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_and_direction_mark_is_escaped() {
        let hostile = "\u{1b}\u{7}\u{9b}\u{7f}\u{202e}\u{2066}\u{200b}\u{feff}\u{2028}\u{e0041}";
        let shown = Quoted::new(hostile).to_string();
        assert!(shown.is_ascii(), "{shown}");
        assert_eq!(shown.matches("\\u{").count(), hostile.chars().count());
    }

    #[test]
    fn a_backslash_cannot_imitate_an_escape() {
        assert_eq!(Quoted::from_bytes(b"a\\nb").to_string(), "a\\\\nb");
        assert_eq!(Quoted::from_bytes(b"\\xff").to_string(), "\\\\xff");
    }

    #[test]
    fn a_message_stays_on_its_line_and_keeps_its_backslashes() {
        let shown = OneLine("a\\x\r\n\u{1b}[2J\u{202e}").to_string();
        assert_eq!(shown, r"a\x\r\n\u{1b}[2J\u{202e}");
    }
}
