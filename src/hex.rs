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
