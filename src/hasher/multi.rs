//! Several algorithms fed from the same buffer.

use std::fmt::{self, Debug, Formatter};

use crate::algorithm::Algorithm;
use crate::digest::Digest;

use super::{StreamHasher, new_hasher};

/// Feeds every chosen algorithm from one buffer.
///
/// # Examples
///
/// ```
/// use multisum::{Algorithm, MultiHasher};
/// let mut hasher = MultiHasher::new(&[Algorithm::Md5, Algorithm::Crc32]);
/// hasher.update(b"123456");
/// hasher.update(b"789");
/// let digests = hasher.finish();
/// assert_eq!(digests[0].to_string(), "25f9e794323b453885f5181f1b624d0b");
/// assert_eq!(digests[1].to_string(), "cbf43926");
/// ```
pub struct MultiHasher {
    algorithms: Vec<Algorithm>,
    hashers: Vec<Box<dyn StreamHasher>>,
}

impl MultiHasher {
    /// Makes one hasher for each algorithm; the digests come out in this order.
    pub fn new(algorithms: &[Algorithm]) -> Self {
        Self {
            algorithms: algorithms.to_vec(),
            hashers: algorithms
                .iter()
                .map(|&algorithm| new_hasher(algorithm))
                .collect(),
        }
    }

    /// The algorithms in the order of their digests.
    pub fn algorithms(&self) -> &[Algorithm] {
        &self.algorithms
    }

    /// Takes the next bytes of the stream.
    pub fn update(&mut self, bytes: &[u8]) {
        for hasher in &mut self.hashers {
            hasher.update(bytes);
        }
    }

    /// Gives the digests in the order of the algorithms, and starts anew.
    pub fn finish(&mut self) -> Vec<Digest> {
        self.hashers
            .iter_mut()
            .map(|hasher| hasher.finish())
            .collect()
    }

    /// Forgets what was fed and starts anew.
    pub fn reset(&mut self) {
        for hasher in &mut self.hashers {
            hasher.reset();
        }
    }
}

impl Debug for MultiHasher {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MultiHasher")
            .field(&self.algorithms)
            .finish()
    }
}
