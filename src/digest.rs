//! A digest: which algorithm, and the bytes that came out.

use std::fmt::{self, Debug, Display, Formatter};

use crate::algorithm::Algorithm;
use crate::hex;

/// The value that an algorithm gave, or that a manifest claims.
///
/// `Display` is lower-case hexadecimal. Two digests are equal only if their algorithms are.
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
        f.write_str(&hex::encode(self.as_bytes()))
    }
}

impl Debug for Digest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{self}", self.algorithm)
    }
}
