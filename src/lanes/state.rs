//! One message on its way through the lanes.

use crate::algorithm::Algorithm;
use crate::digest::Digest;

use super::backend::Lanes;
use super::padding::{Core, Order};
use super::{md5, sha1, sha256, sha512};

/// The cores of the families, each with its number of words and bytes a block.
#[derive(Clone, Debug)]
pub(super) enum Family {
    Md5(Core<u32, 4, 64>),
    Sha1(Core<u32, 5, 64>),
    Sha256(Core<u32, 8, 64>),
    Sha512(Core<u64, 8, 128>),
}

impl Family {
    /// How many bytes are missing to a whole block; none at a block's edge.
    pub(super) fn missing_bytes(&self) -> usize {
        match self {
            Self::Md5(core) => core.missing_bytes(),
            Self::Sha1(core) => core.missing_bytes(),
            Self::Sha256(core) => core.missing_bytes(),
            Self::Sha512(core) => core.missing_bytes(),
        }
    }
}

/// One message of MD5, SHA-1 or a SHA-2: state words, the bytes of an unfinished block, and the length.
///
/// Fed by [`Lanes::advance`], together with other messages, or by [`Lanes::advance_together`].
/// About 350 bytes; reusable.
#[derive(Clone, Debug)]
pub struct LaneState {
    algorithm: Algorithm,
    pub(super) family: Family,
}

impl LaneState {
    /// An empty message; `None` if the algorithm has no lanes.
    pub fn new(algorithm: Algorithm) -> Option<Self> {
        let sha256 = |initial| Family::Sha256(Core::new(initial, Order::Big));
        let sha512 = |initial| Family::Sha512(Core::new(initial, Order::Big));
        let family = match algorithm {
            Algorithm::Md5 => Family::Md5(Core::new(&md5::INITIAL, Order::Little)),
            Algorithm::Sha1 => Family::Sha1(Core::new(&sha1::INITIAL, Order::Big)),
            Algorithm::Sha224 => sha256(&sha256::INITIAL_224),
            Algorithm::Sha256 => sha256(&sha256::INITIAL_256),
            Algorithm::Sha384 => sha512(&sha512::INITIAL_384),
            Algorithm::Sha512 | Algorithm::C4 => sha512(&sha512::INITIAL_512),
            Algorithm::Sha512_224 => sha512(&sha512::INITIAL_512_224),
            Algorithm::Sha512_256 => sha512(&sha512::INITIAL_512_256),
            _ => return None,
        };
        Some(Self { algorithm, family })
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Whether a stitched kernel can take the algorithm together with others.
    pub fn can_be_stitched(&self) -> bool {
        matches!(
            self.family,
            Family::Md5(_) | Family::Sha1(_) | Family::Sha256(_)
        )
    }

    /// Forgets what was fed and starts anew.
    pub fn reset(&mut self) {
        match &mut self.family {
            Family::Md5(core) => core.reset(),
            Family::Sha1(core) => core.reset(),
            Family::Sha256(core) => core.reset(),
            Family::Sha512(core) => core.reset(),
        }
    }

    /// What is needed to go on later: the words, the length, and the bytes that fill no block yet, all
    /// in little-endian order. `None` if the message has its padding.
    pub fn save(&self) -> Option<Box<[u8]>> {
        match &self.family {
            Family::Md5(core) => save(core, u32::to_le_bytes),
            Family::Sha1(core) => save(core, u32::to_le_bytes),
            Family::Sha256(core) => save(core, u32::to_le_bytes),
            Family::Sha512(core) => save(core, u64::to_le_bytes),
        }
    }

    /// Goes on from what was saved of a message of the same algorithm; false, and an empty message, if
    /// these bytes are nothing of the kind.
    pub fn restore(&mut self, saved: &[u8]) -> bool {
        match &mut self.family {
            Family::Md5(core) => restore(core, saved, u32::from_le_bytes),
            Family::Sha1(core) => restore(core, saved, u32::from_le_bytes),
            Family::Sha256(core) => restore(core, saved, u32::from_le_bytes),
            Family::Sha512(core) => restore(core, saved, u64::from_le_bytes),
        }
    }

    /// Gives the digest of everything since the start or the last `finish`, and starts anew.
    ///
    /// If the last chunk was not marked as [`Stream::last`], the padding is hashed here, alone and
    /// therefore slower.
    pub fn finish(&mut self) -> Digest {
        if !self.is_padded() {
            Lanes::portable().advance(&mut [Stream {
                state: self,
                chunk: &[],
                last: true,
            }]);
        }
        let mut bytes = [0; Algorithm::MAX_DIGEST_LEN_BYTES];
        self.write_words(&mut bytes);
        let bytes = &bytes[..self.algorithm.digest_len_bytes()];
        self.reset();
        match Digest::new(self.algorithm, bytes) {
            Some(digest) => digest,
            None => unreachable!("the slice has the algorithm's length"),
        }
    }

    fn is_padded(&self) -> bool {
        match &self.family {
            Family::Md5(core) => core.is_padded(),
            Family::Sha1(core) => core.is_padded(),
            Family::Sha256(core) => core.is_padded(),
            Family::Sha512(core) => core.is_padded(),
        }
    }

    fn write_words(&self, bytes: &mut [u8; Algorithm::MAX_DIGEST_LEN_BYTES]) {
        match &self.family {
            Family::Md5(core) => write_u32(core, bytes),
            Family::Sha1(core) => write_u32(core, bytes),
            Family::Sha256(core) => write_u32(core, bytes),
            Family::Sha512(core) => {
                for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(&core.words) {
                    *bytes = word.to_be_bytes();
                }
            }
        }
    }
}

fn save<T: Copy, const WORDS: usize, const BLOCK: usize, const BYTES: usize>(
    core: &Core<T, WORDS, BLOCK>,
    to_bytes: fn(T) -> [u8; BYTES],
) -> Option<Box<[u8]>> {
    let (length_bytes, kept) = core.progress()?;
    let mut saved = Vec::with_capacity(WORDS * BYTES + 8 + kept.len());
    for word in core.words {
        saved.extend_from_slice(&to_bytes(word));
    }
    saved.extend_from_slice(&length_bytes.to_le_bytes());
    saved.extend_from_slice(kept);
    Some(saved.into())
}

fn restore<T: Copy, const WORDS: usize, const BLOCK: usize, const BYTES: usize>(
    core: &mut Core<T, WORDS, BLOCK>,
    saved: &[u8],
    from_bytes: fn([u8; BYTES]) -> T,
) -> bool {
    core.reset();
    let mut words = core.words;
    let Some((head, rest)) = saved.split_at_checked(WORDS * BYTES) else {
        return false;
    };
    for (word, bytes) in words.iter_mut().zip(head.as_chunks().0) {
        *word = from_bytes(*bytes);
    }
    match rest.split_first_chunk() {
        Some((length, kept)) => core.go_on(words, u64::from_le_bytes(*length), kept),
        None => false,
    }
}

fn write_u32<const WORDS: usize, const BLOCK: usize>(
    core: &Core<u32, WORDS, BLOCK>,
    bytes: &mut [u8],
) {
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(&core.words) {
        *bytes = match core.order() {
            Order::Little => word.to_le_bytes(),
            Order::Big => word.to_be_bytes(),
        };
    }
}

/// The next chunk of one message.
#[derive(Debug)]
pub struct Stream<'a> {
    /// The message. If its last chunk was hashed and its digest not taken, a new message begins.
    pub state: &'a mut LaneState,
    /// The next bytes of the message: any length, none included, at any address.
    pub chunk: &'a [u8],
    /// Whether the message ends here: the padding is hashed too, and the digest is ready afterwards.
    pub last: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hasher::new_hasher;

    #[test]
    fn a_saved_state_goes_on_at_any_length() {
        let bytes: Vec<u8> = (0..=250).cycle().take(700).collect();
        for algorithm in Algorithm::all() {
            let Some(mut first) = LaneState::new(algorithm) else {
                continue;
            };
            let mut whole = new_hasher(algorithm);
            whole.update(&bytes);
            let expected = whole.finish();
            for len in [0, 1, 63, 64, 65, 127, 128, 129, 600] {
                let advance = |state: &mut LaneState, chunk, last| {
                    Lanes::portable().advance(&mut [Stream { state, chunk, last }]);
                };
                first.reset();
                advance(&mut first, &bytes[..len], false);
                let saved = first.save().unwrap();
                let mut second = LaneState::new(algorithm).unwrap();
                advance(&mut second, b"forgotten", false);
                assert!(second.restore(&saved), "{algorithm} {len}");
                advance(&mut second, &bytes[len..], true);
                assert!(second.save().is_none(), "padded");
                assert_eq!(second.finish(), expected, "{algorithm} {len}");
                assert!(!second.restore(&saved[..7]), "{algorithm} {len}");
            }
        }
    }
}
