//! The comment that records a file known but not hashed.
//!
//! `# multisum gap: unreadable NAME` or `# multisum gap: unstable NAME`. Every tool that knows
//! comments skips it; [`Reader`](super::Reader) gives it back. A name that holds a backslash or a
//! line break is preceded by a backslash and escaped, also between NUL bytes, so that a gap is one
//! line everywhere.

use super::Malformed;
use super::entry::{Content, GapKind};
use super::escape;
use super::lines::Terminator;
use crate::relpath::RelPath;

const MARK: &[u8] = b"# multisum gap: ";

const WORDS: [(GapKind, &[u8]); 2] = [
    (GapKind::Unreadable, b"unreadable "),
    (GapKind::Unstable, b"unstable "),
];

/// Appends the comment, a line or a record of its own.
pub(super) fn write_into(name: &RelPath, kind: GapKind, terminator: Terminator, out: &mut Vec<u8>) {
    out.extend_from_slice(MARK);
    for (_, word) in WORDS.iter().filter(|(of, _)| *of == kind) {
        out.extend_from_slice(word);
    }
    if escape::needs_gnu_escape(name.as_bytes()) {
        out.push(b'\\');
        escape::gnu_escape_into(name.as_bytes(), out);
    } else {
        out.extend_from_slice(name.as_bytes());
    }
    out.push(terminator.byte());
}

/// Reads the comment; `None` if the line is not one.
///
/// A line that starts like a gap and does not go on like one is malformed, since skipping it could
/// hide a file that was never hashed.
pub(super) fn read(line: &[u8]) -> Option<Content> {
    let text = line.strip_prefix(MARK)?;
    Some(match gap(text) {
        Ok((name, kind)) => Content::Gap { name, kind },
        Err(reason) => Content::Malformed(reason),
    })
}

fn gap(text: &[u8]) -> Result<(RelPath, GapKind), Malformed> {
    let (kind, name) = WORDS
        .iter()
        .find_map(|(kind, word)| Some((*kind, text.strip_prefix(*word)?)))
        .ok_or(Malformed::NoShape)?;
    let name = match name.strip_prefix(b"\\") {
        Some(escaped) => escape::gnu_unescape(escaped).ok_or(Malformed::BadEscape)?,
        None => name.into(),
    };
    if name.is_empty() {
        return Err(Malformed::EmptyName);
    }
    if name.contains(&0) {
        return Err(Malformed::NulInName);
    }
    Ok((RelPath::from_bytes(name.into_owned()), kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_one_line_and_comes_back() {
        for name in ["plain", " x ", "a\nb", "\\n", "cr\r", "é"] {
            for kind in [GapKind::Unreadable, GapKind::Unstable] {
                let name = RelPath::from(name);
                let mut line = Vec::new();
                write_into(&name, kind, Terminator::Nul, &mut line);
                assert_eq!(line.pop(), Some(0));
                assert!(!line.contains(&b'\n') && !line.contains(&b'\r'));
                assert_eq!(read(&line), Some(Content::Gap { name, kind }));
            }
        }
    }

    #[test]
    fn a_gap_that_is_not_understood_is_not_skipped_as_a_comment() {
        let malformed = |line: &str| match read(line.as_bytes()) {
            Some(Content::Malformed(reason)) => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(malformed("# multisum gap: lost x"), Malformed::NoShape);
        assert_eq!(malformed("# multisum gap: unstable"), Malformed::NoShape);
        assert_eq!(malformed("# multisum gap: unstable "), Malformed::EmptyName);
        assert_eq!(
            malformed("# multisum gap: unstable \\a\\q"),
            Malformed::BadEscape
        );
        assert_eq!(read(b"# multisum 1.0"), None);
    }
}
