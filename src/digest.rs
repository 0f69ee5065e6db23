//! A digest: which algorithm, and the bytes that came out.

use std::fmt::{self, Debug, Display, Formatter};

use crate::algorithm::Algorithm;
use crate::c4;
use crate::hex;

/// The value that an algorithm gave, or that a manifest claims.
///
/// `Display` is lower-case hexadecimal, but for C4, which is spelled in base 58 (see [`crate::c4`]). Two digests are equal only if their algorithms are.
///
/// # Examples
///
/// ```
/// use multisum::{Algorithm, Digest};
/// let digest = Digest::new(Algorithm::Crc32, &[0xcb, 0xf4, 0x39, 0x26]).expect("4 bytes");
/// assert_eq!(digest.to_string(), "cbf43926");
/// assert!(Digest::new(Algorithm::Sha256, &[0; 4]).is_none());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest {
    algorithm: Algorithm,
    /// Zero beyond the algorithm's length.
    bytes: [u8; Algorithm::MAX_DIGEST_LEN_BYTES],
}

impl Digest {
    /// Joins an algorithm and its bytes; `None` unless the length is the algorithm's.
    pub fn new(algorithm: Algorithm, bytes: &[u8]) -> Option<Self> {
        if bytes.len() != algorithm.digest_len_bytes() {
            return None;
        }
        let mut digest = Self {
            algorithm,
            bytes: [0; Algorithm::MAX_DIGEST_LEN_BYTES],
        };
        digest.bytes[..bytes.len()].copy_from_slice(bytes);
        Some(digest)
    }

    /// Reads a digest as manifests spell it: hexadecimal digits of either case, for C4 also its own
    /// spelling; `None` unless it has the algorithm's length.
    ///
    /// # Examples
    ///
    /// ```
    /// use multisum::{Algorithm, Digest};
    /// let digest = Digest::parse(Algorithm::Crc32, b"CBF43926").expect("8 digits");
    /// assert_eq!(digest.to_string(), "cbf43926");
    /// ```
    pub fn parse(algorithm: Algorithm, text: &[u8]) -> Option<Self> {
        if algorithm == Algorithm::C4
            && let Some(bytes) = c4::decode(text)
        {
            return Self::new(algorithm, &bytes);
        }
        let mut buffer = [0; Algorithm::MAX_DIGEST_LEN_BYTES];
        Self::new(algorithm, hex::decode_into(text, &mut buffer)?)
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The bytes, most significant first, as many as the algorithm gives.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.algorithm.digest_len_bytes()]
    }
}

impl Display for Digest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match <&[u8; 64]>::try_from(self.as_bytes()) {
            Ok(bytes) if self.algorithm == Algorithm::C4 => f.write_str(&c4::encode(bytes)),
            _ => f.write_str(&hex::encode(self.as_bytes())),
        }
    }
}

impl Debug for Digest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{self}", self.algorithm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hasher::new_hasher;

    /// Of the messages of `tests/test_hasher.py` in the reference implementation of ASC MHL.
    #[test]
    fn c4_is_spelled_as_published() {
        let expected = "c456LycWwpMMS7VDZEKvYv2L1uJS6s4qAFnaJdnQiy5JVbBFZMA8aLDS6SPaJjLqxXH4qZdnbuktopMt9frtC2qL1R";
        let mut hasher = new_hasher(Algorithm::C4);
        hasher.update(b"media-hash-list");
        let digest = hasher.finish();
        assert_eq!(digest.to_string(), expected);
        assert_eq!(
            Digest::parse(Algorithm::C4, expected.as_bytes()),
            Some(digest)
        );
        let digits = hex::encode(digest.as_bytes());
        assert_eq!(
            Digest::parse(Algorithm::C4, digits.as_bytes()),
            Some(digest)
        );
        assert_eq!(Digest::parse(Algorithm::Sha512, expected.as_bytes()), None);
    }
}
