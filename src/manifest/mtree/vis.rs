//! Escapes of names: the octal ones that everybody reads, and those that vis(3) makes.

use std::borrow::Cow;

/// Appends a name with everything outside a small safe set in octal.
pub(super) fn encode_into(name: &[u8], out: &mut Vec<u8>) {
    for &byte in name {
        if byte.is_ascii_alphanumeric() || b"/._-+,:@%~".contains(&byte) {
            out.push(byte);
        } else {
            let digit = |shift: u8| b'0' + ((byte >> shift) & 7);
            out.extend_from_slice(&[b'\\', digit(6), digit(3), digit(0)]);
        }
    }
}

/// Undoes the escapes; `None` if one is unknown or cut off.
pub(super) fn decode(word: &[u8]) -> Option<Cow<'_, [u8]>> {
    if !word.contains(&b'\\') {
        return Some(Cow::Borrowed(word));
    }
    let mut plain = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'\\' {
            let (decoded, after) = escape(after)?;
            plain.push(decoded);
            rest = after;
        } else {
            plain.push(byte);
            rest = after;
        }
    }
    Some(Cow::Owned(plain))
}

/// What follows a backslash: the byte that it stands for, and the rest.
fn escape(text: &[u8]) -> Option<(u8, &[u8])> {
    let (byte, rest) = match text {
        [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', rest @ ..] => {
            ((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'), rest)
        }
        [b'M', b'-', low @ b' '..=b'~', rest @ ..] => (low | 0x80, rest),
        [b'M', b'^', low, rest @ ..] => (control(*low)? | 0x80, rest),
        [b'^', low, rest @ ..] => (control(*low)?, rest),
        [letter, rest @ ..] => (named(*letter)?, rest),
        [] => return None,
    };
    Some((byte, rest))
}

/// The control character that `^` and this byte stand for.
fn control(byte: u8) -> Option<u8> {
    match byte {
        b'?' => Some(0x7f),
        b'@'..=b'_' => Some(byte & 0x1f),
        _ => None,
    }
}

fn named(letter: u8) -> Option<u8> {
    Some(match letter {
        b'a' => 0x07,
        b'b' => 0x08,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 0x0b,
        b'f' => 0x0c,
        b'r' => b'\r',
        b'E' => 0x1b,
        b's' => b' ',
        b'0' => 0,
        // Not of vis(3), but of whoever puts a backslash before what has a meaning elsewhere.
        b'\\' | b'#' | b'*' | b'?' | b'[' | b']' | b'=' | b'"' | b'\'' => letter,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(word: &[u8]) -> Vec<u8> {
        decode(word).expect("valid").into_owned()
    }

    #[test]
    fn every_byte_comes_back_and_none_could_end_a_word_or_a_line() {
        let all: Vec<u8> = (0..=255).collect();
        let mut out = Vec::new();
        encode_into(&all, &mut out);
        assert_eq!(decoded(&out), all);
        assert!(out.iter().all(u8::is_ascii_graphic));
        assert!(!out.iter().any(|byte| b"#*?[=".contains(byte)));
    }

    #[test]
    fn what_netbsd_and_libarchive_write_is_understood() {
        for (escaped, plain) in [
            (&b"sp\\sace"[..], &b"sp ace"[..]),
            (b"sp\\040ace", b"sp ace"),
            (b"new\\nline", b"new\nline"),
            (b"back\\\\slash", b"back\\slash"),
            (b"back\\134slash", b"back\\slash"),
            (b"\\#hash", b"#hash"),
            (b"\\M-C\\M-)", "é".as_bytes()),
            (b"bad\\M^?utf", b"bad\xffutf"),
            (b"del\\^?", b"del\x7f"),
            (b"esc\\^[x", b"esc\x1bx"),
            (b"\\^A\\M^A\\377", b"\x01\x81\xff"),
            (b"*star[a]?", b"*star[a]?"),
        ] {
            assert_eq!(decoded(escaped), plain);
        }
    }

    #[test]
    fn unknown_and_cut_escapes_are_refused() {
        for bad in [
            "a\\", "\\q", "\\M", "\\M-", "\\^", "\\^\x01", "\\400", "\\12", "\\x41",
        ] {
            assert_eq!(decode(bad.as_bytes()), None, "{bad}");
        }
    }
}
