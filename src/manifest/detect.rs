//! What a list is, from its beginning.

use super::Malformed;
use super::lines::Terminator;
use super::parser::{self, Grammar, Shape};

/// The beginning of an input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample<'a> {
    /// Its bytes, decoded and without a byte order mark.
    pub(super) bytes: &'a [u8],
    /// Whether this is all there is.
    pub(super) complete: bool,
}

/// What the lines of a list look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `DIGEST  NAME`
    Untagged,
    /// `TAG (NAME) = DIGEST`
    Tagged,
}

/// What ends the records; `None` if there are NUL bytes and no way to make sense of them.
///
/// A list is of NUL-terminated records if all of them in the sample are entries, and what follows the
/// last NUL starts like one. A list of lines into which a NUL byte has strayed is not, and the line
/// with the NUL must not be cut there.
pub(super) fn terminator(sample: Sample<'_>) -> Option<Terminator> {
    if !sample.bytes.contains(&0) {
        return Some(Terminator::Line);
    }
    if is_nul_list(sample) {
        return Some(Terminator::Nul);
    }
    kind(sample, Terminator::Line).map(|_| Terminator::Line)
}

fn is_nul_list(sample: Sample<'_>) -> bool {
    let mut records = sample.bytes.split(|&byte| byte == 0);
    let Some(rest) = records.next_back() else {
        return false;
    };
    let rest_fits = match (rest, sample.complete) {
        ([], _) => true,
        (rest, true) => fits(rest),
        (rest, false) => starts_like_a_record(rest),
    };
    rest_fits && records.all(fits)
}

/// Whether a record is a comment or has the shape of an entry, if only with an unknown tag.
fn fits(record: &[u8]) -> bool {
    let (text, _) = parser::unwrap_line(record, Terminator::Nul);
    parser::comment(record, Terminator::Nul).is_some()
        || matches!(
            parser::shape(text, Grammar::Mixed),
            Ok(_) | Err(Malformed::UnknownTag(_))
        )
}

/// Whether the first word, if all of it is there, is a tag, a digest or a comment sign.
fn starts_like_a_record(rest: &[u8]) -> bool {
    let Some(end) = rest.iter().position(|byte| matches!(byte, b' ' | b'(')) else {
        return !rest.contains(&b'\n');
    };
    let word = &rest[..end];
    fits(&[word, b" (x) = x"].concat())
}

/// What the first line or record with a known shape looks like.
pub(super) fn kind(sample: Sample<'_>, terminator: Terminator) -> Option<Kind> {
    sample
        .bytes
        .split(|&byte| byte == terminator.byte())
        .find_map(|record| kind_of(record, terminator))
}

fn kind_of(record: &[u8], terminator: Terminator) -> Option<Kind> {
    let (text, _) = parser::unwrap_line(record, terminator);
    match parser::shape(text, Grammar::Mixed).ok()? {
        Shape::Tagged(..) => Some(Kind::Tagged),
        Shape::Untagged(_) => Some(Kind::Untagged),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MD5: &str = "9dd4e461268c8034f5c8564e155c67a6";

    fn found(text: &str, complete: bool) -> Option<Terminator> {
        let text = text.replace("MD5!", MD5);
        terminator(Sample {
            bytes: text.as_bytes(),
            complete,
        })
    }

    #[test]
    fn zero_lists_are_recognised() {
        for list in [
            "MD5!  a\0MD5!  new\nline\0",
            "MD5!  a\0",
            "MD5!  a\0MD5!  b",
            "MD5 (a) = MD5!\0MD5 (new\nline) = MD5!\0",
            "# multisum gap: unreadable x\0MD5!  a\0",
            "MD5 (a) = MD5!\0GOST (a) = MD5!\0",
        ] {
            assert_eq!(found(list, true), Some(Terminator::Nul), "{list:?}");
        }
        for cut in [
            "MD5!  a\0MD",
            "MD5!  a\0MD5!  new\nli",
            "MD5!  a\0MD5 (n\nx",
            "MD5!  a\0# m",
        ] {
            assert_eq!(found(cut, false), Some(Terminator::Nul), "{cut:?}");
        }
    }

    #[test]
    fn a_stray_nul_does_not_make_a_zero_list() {
        for list in [
            "MD5!  a\0b\nMD5!  c\n",
            "MD5!  a\nMD5!  b\0\n",
            "MD5!  a\0\nMD5!  b\0\n",
            "# x\nMD5!  a\0MD5!  c\n",
            "MD5 (a\0) = MD5!\nMD5 (b) = MD5!\n",
            "MD5!  a\0b\nMD5 (b) = MD5!\n",
        ] {
            assert_eq!(found(list, true), Some(Terminator::Line), "{list:?}");
        }
        let cut = "MD5!  a\nMD5!  b\0c\nMD5!  d\n";
        assert_eq!(found(cut, false), Some(Terminator::Line));
        assert_eq!(found("MD5!  a\0b", false), Some(Terminator::Nul));
    }

    #[test]
    fn other_binary_files_are_no_lists() {
        assert_eq!(found("\x7fELF\x02\x01\0\0\0", true), None);
        assert_eq!(found("\0", true), None);
        assert_eq!(found("hello\0", true), None);
    }

    #[test]
    fn text_without_nul_is_lines() {
        assert_eq!(found("", true), Some(Terminator::Line));
        assert_eq!(found("hello", false), Some(Terminator::Line));
    }
}
