//! Escapes of names, each beside its inverse.
//!
//! GNU: a name that holds a backslash, a line feed or a carriage return is written with `\\`, `\n`
//! and `\r` in their places, and the line starts with one more backslash to say so. Nothing else is
//! escaped. Source: GNU coreutils manual, *md5sum invocation*; carriage returns since 9.0.

use std::borrow::Cow;

/// Whether a name cannot stand in a line as it is.
pub(super) fn needs_gnu_escape(name: &[u8]) -> bool {
    name.iter()
        .any(|byte| matches!(byte, b'\\' | b'\n' | b'\r'))
}

/// Appends a name with its backslashes, line feeds and carriage returns escaped.
pub fn gnu_escape_into(name: &[u8], out: &mut Vec<u8>) {
    for &byte in name {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            plain => out.push(plain),
        }
    }
}

/// Undoes [`gnu_escape_into`]; `None` if a backslash is followed by anything but `\`, `n` or `r`.
pub fn gnu_unescape(name: &[u8]) -> Option<Cow<'_, [u8]>> {
    if !name.contains(&b'\\') {
        return Some(Cow::Borrowed(name));
    }
    let mut plain = Vec::with_capacity(name.len());
    let mut bytes = name.iter();
    while let Some(&byte) = bytes.next() {
        plain.push(match byte {
            b'\\' => match bytes.next()? {
                b'\\' => b'\\',
                b'n' => b'\n',
                b'r' => b'\r',
                _ => return None,
            },
            plain => plain,
        });
    }
    Some(Cow::Owned(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(name: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        gnu_escape_into(name, &mut out);
        out
    }

    #[test]
    fn only_three_bytes_are_escaped() {
        assert_eq!(escaped(b"a\\b\nc\rd\te\0f"), b"a\\\\b\\nc\\rd\te\0f");
        assert!(needs_gnu_escape(b"cr\rx"));
        assert!(!needs_gnu_escape(b"tab\t\x1b\xff"));
    }

    #[test]
    fn every_byte_comes_back() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(gnu_unescape(&escaped(&all)).as_deref(), Some(&all[..]));
    }

    #[test]
    fn an_unknown_or_cut_escape_is_refused() {
        for bad in ["a\\", "a\\t", "\\x41", "\\\\\\"] {
            assert_eq!(gnu_unescape(bad.as_bytes()), None, "{bad}");
        }
    }
}
