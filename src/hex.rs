//! Hexadecimal text of digests, in both directions and strictly; base64 for names in JSON.

use data_encoding::{BASE64, HEXLOWER, HEXLOWER_PERMISSIVE};

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
    if text.is_empty() {
        return None;
    }
    HEXLOWER_PERMISSIVE.decode(text).ok()
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

/// Reads standard base64 with padding; `None` if it is anything else, or empty.
///
/// # Examples
///
/// ```
/// assert_eq!(multisum::hex::decode_base64(b"Zm9vYmE="), Some(b"fooba".to_vec()));
/// assert_eq!(multisum::hex::decode_base64(b"Zm9vYmE"), None);
/// ```
pub fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    if text.is_empty() {
        return None;
    }
    BASE64.decode(text).ok()
}

/// Reads hexadecimal digits of either case into a buffer; gives the bytes that were written.
///
/// `None` under the conditions of [`decode`], and if the buffer is too small.
pub fn decode_into<'a>(text: &[u8], buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    if text.is_empty() || !text.len().is_multiple_of(2) {
        return None;
    }
    let bytes = buffer.get_mut(..text.len() / 2)?;
    HEXLOWER_PERMISSIVE.decode_mut(text, bytes).ok()?;
    Some(bytes)
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
}
