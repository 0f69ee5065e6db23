//! The spelling of C4 identifiers: a SHA-512 value in base 58.
//!
//! Source: SMPTE ST 2114, and the ASC Media Hash List specification 1.0, which demands the padding.

const ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// The length of every identifier, `c4` included.
pub const LEN: usize = 90;

const PREFIX: &[u8] = b"c4";

/// Spells 64 bytes as `c4` and 88 digits in base 58, padded with `1`, which is the digit zero.
///
/// # Examples
///
/// ```
/// assert_eq!(multisum::c4::encode(&[0; 64]), format!("c4{}", "1".repeat(88)));
/// ```
pub fn encode(bytes: &[u8; 64]) -> String {
    let mut limbs = [0_u32; 16];
    for (limb, bytes) in limbs.iter_mut().zip(bytes.as_chunks().0) {
        *limb = u32::from_be_bytes(*bytes);
    }
    let mut text = [b'1'; LEN];
    text[..PREFIX.len()].copy_from_slice(PREFIX);
    for digit in text[PREFIX.len()..].iter_mut().rev() {
        *digit = ALPHABET[divide(&mut limbs)];
    }
    text.iter().copied().map(char::from).collect()
}

/// Divides by 58; gives the remainder.
fn divide(limbs: &mut [u32; 16]) -> usize {
    let mut rest = 0_u64;
    for limb in limbs {
        let value = rest << 32 | u64::from(*limb);
        *limb = u32::try_from(value / 58).unwrap_or(u32::MAX);
        rest = value % 58;
    }
    usize::try_from(rest).unwrap_or(0)
}

/// Reads an identifier; `None` unless it has 90 characters, begins with `c4`, and the rest are digits
/// of a number of at most 512 bits.
///
/// # Examples
///
/// ```
/// let text = multisum::c4::encode(&[7; 64]);
/// assert_eq!(multisum::c4::decode(text.as_bytes()), Some([7; 64]));
/// assert_eq!(multisum::c4::decode(b"c41"), None);
/// ```
pub fn decode(text: &[u8]) -> Option<[u8; 64]> {
    let digits = text.strip_prefix(PREFIX).filter(|_| text.len() == LEN)?;
    let mut limbs = [0_u32; 16];
    for digit in digits {
        let value = ALPHABET.iter().position(|letter| letter == digit)?;
        let mut carry = u64::try_from(value).ok()?;
        for limb in limbs.iter_mut().rev() {
            let sum = u64::from(*limb) * 58 + carry;
            *limb = (sum & u64::from(u32::MAX)).try_into().ok()?;
            carry = sum >> 32;
        }
        if carry != 0 {
            return None;
        }
    }
    let mut bytes = [0; 64];
    for (bytes, limb) in bytes.as_chunks_mut().0.iter_mut().zip(limbs) {
        *bytes = limb.to_be_bytes();
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_largest_value_is_the_largest_that_is_read() {
        let largest = encode(&[0xff; 64]);
        assert_eq!(decode(largest.as_bytes()), Some([0xff; 64]));
        assert_eq!(decode(format!("c4{}", "z".repeat(88)).as_bytes()), None);
    }

    #[test]
    fn only_ninety_characters_of_the_alphabet_are_an_identifier() {
        let good = encode(&[1; 64]);
        for bad in [
            &good[..89],
            &format!("{good}1"),
            &good.replacen("c4", "C4", 1),
            &format!("c4{}", "0".repeat(88)),
            &format!("c4{}", "l".repeat(88)),
            "",
        ] {
            assert_eq!(decode(bad.as_bytes()), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn every_value_comes_back(bytes in prop::collection::vec(any::<u8>(), 64)) {
            let bytes: [u8; 64] = bytes.try_into().unwrap();
            let text = encode(&bytes);
            prop_assert_eq!(text.len(), LEN);
            prop_assert_eq!(decode(text.as_bytes()), Some(bytes));
        }
    }
}
