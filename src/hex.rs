//! Hexadecimal, base64 and base32 text of digests, in both directions and strictly; base64 for names
//! in JSON.

use data_encoding::{BASE32_NOPAD, BASE32_NOPAD_NOCASE, BASE64, BASE64URL, HEXLOWER};

/// Writes bytes as lower-case hexadecimal digits.
///
/// # Examples
///
/// ```
/// assert_eq!(multisum::hex::encode(&[0x00, 0xff]), "00ff");
/// ```
pub fn encode(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// Appends bytes as lower-case hexadecimal digits to a buffer.
pub fn encode_into(bytes: &[u8], text: &mut Vec<u8>) {
    let start = text.len();
    text.resize(start + HEXLOWER.encode_len(bytes.len()), 0);
    HEXLOWER.encode_mut(bytes, &mut text[start..]);
}

/// Reads hexadecimal digits of either case; `None` unless every byte is a digit and they are even
/// in number and not none.
///
/// # Examples
///
/// ```
/// assert_eq!(multisum::hex::decode(b"00Ff"), Some(vec![0x00, 0xff]));
/// assert_eq!(multisum::hex::decode(b"00f"), None);
/// assert_eq!(multisum::hex::decode(b""), None);
/// ```
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = vec![0; text.len() / 2];
    decode_into(text, &mut bytes)?;
    Some(bytes)
}

/// Whether there is nothing but hexadecimal digits of either case, any number of them.
///
/// # Examples
///
/// ```
/// assert!(multisum::hex::is_hex(b"00Ff9"));
/// assert!(!multisum::hex::is_hex(b"00 f"));
/// ```
pub fn is_hex(text: &[u8]) -> bool {
    // Without an early end, so that many bytes are looked at at once.
    text.iter()
        .fold(true, |all, byte| all & byte.is_ascii_hexdigit())
}

/// Writes bytes in standard base64 with padding (RFC 4648, section 4).
///
/// # Examples
///
/// ```
/// assert_eq!(multisum::hex::encode_base64(b"fooba"), "Zm9vYmE=");
/// ```
pub fn encode_base64(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// Reads base64 with padding, in the standard or in the URL-safe alphabet (RFC 4648, sections 4 and
/// 5); `None` for anything else, also for nothing.
///
/// # Examples
///
/// ```
/// assert_eq!(multisum::hex::decode_base64(b"Zm9vYmE="), Some(b"fooba".to_vec()));
/// assert_eq!(multisum::hex::decode_base64(b"_-8="), multisum::hex::decode_base64(b"/+8="));
/// assert_eq!(multisum::hex::decode_base64(b"Zm9vYmE"), None);
/// ```
pub fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    if text.is_empty() {
        return None;
    }
    let url_safe = text.iter().any(|byte| matches!(byte, b'-' | b'_'));
    let alphabet = if url_safe { BASE64URL } else { BASE64 };
    alphabet.decode(text).ok()
}

/// Writes bytes in lower-case base32 without padding, as magnet links hold a SHA-1.
///
/// # Examples
///
/// ```
/// assert_eq!(multisum::hex::encode_base32(b"fooba"), "mzxw6ytb");
/// ```
pub fn encode_base32(bytes: &[u8]) -> String {
    BASE32_NOPAD.encode(bytes).to_ascii_lowercase()
}

/// Reads base32 of either case without padding (RFC 4648, section 6); `None` for anything else, also
/// for nothing.
///
/// # Examples
///
/// ```
/// assert_eq!(multisum::hex::decode_base32(b"Mzxw6YTB"), Some(b"fooba".to_vec()));
/// assert_eq!(multisum::hex::decode_base32(b"mzxw6yt1"), None);
/// ```
pub fn decode_base32(text: &[u8]) -> Option<Vec<u8>> {
    if text.is_empty() {
        return None;
    }
    BASE32_NOPAD_NOCASE.decode(text).ok()
}

/// Reads hexadecimal digits of either case into a buffer; gives the bytes that were written.
///
/// `None` under the conditions of [`decode`], and if the buffer is too small.
pub fn decode_into<'a>(text: &[u8], buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    let (pairs, []) = text.as_chunks() else {
        return None;
    };
    if text.is_empty() || !is_hex(text) {
        return None;
    }
    let bytes = buffer.get_mut(..pairs.len())?;
    for (byte, pair) in bytes.iter_mut().zip(pairs) {
        *byte = byte_of(*pair);
    }
    Some(bytes)
}

/// The byte that two hexadecimal digits stand for.
///
/// Both are taken at once, since a loop over this is compiled to vector instructions.
fn byte_of(digits: [u8; 2]) -> u8 {
    let digits = u16::from_le_bytes(digits);
    // Letters of either case have the bit of 0x40, and their low bits count from 1.
    let letters = digits >> 6 & 0x0101;
    let [high, low] = ((digits & 0x0f0f) + 9 * letters).to_le_bytes();
    high << 4 | low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_gets_both_cases_and_nothing_that_is_not_hexadecimal() {
        let mut buffer = [9; 2];
        assert_eq!(decode_into(b"0aFF", &mut buffer), Some(&[0x0a, 0xff][..]));
        assert_eq!(decode_into(b"0a", &mut buffer), Some(&[0x0a][..]));
        for bad in ["", "0", "0aF", "0g", "0aff00", "+1", " 1"] {
            assert_eq!(decode_into(bad.as_bytes(), &mut buffer), None, "{bad}");
        }
    }

    #[test]
    fn of_all_pairs_of_bytes_exactly_the_digits_are_read() {
        for (high, low) in (0..=255).flat_map(|high| (0..=255).map(move |low| (high, low))) {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let expected = digit(high)
                .zip(digit(low))
                .map(|(high, low)| high * 16 + low);
            let found = decode(&[high, low]).map(|bytes| u32::from(bytes[0]));
            assert_eq!(found, expected, "{high} {low}");
        }
    }
}
