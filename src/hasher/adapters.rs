//! The digest crates behind [`StreamHasher`]; no other file names them, but for BLAKE3.

use digest::FixedOutputReset;
use digest::common::hazmat::{SerializableState, SerializedState};

use crate::algorithm::Algorithm;
use crate::digest::Digest;

use super::StreamHasher;
use super::blake3::Blake3;

/// Makes the hasher of an algorithm, ready for the first byte.
///
/// # Examples
///
/// ```
/// use multisum::{Algorithm, hasher::new_hasher};
/// let mut hasher = new_hasher(Algorithm::Sha1);
/// hasher.update(b"abc");
/// assert_eq!(hasher.finish().to_string(), "a9993e364706816aba3e25717850c26c9cd0d89d");
/// ```
pub fn new_hasher(algorithm: Algorithm) -> Box<dyn StreamHasher> {
    match algorithm {
        Algorithm::Md5 => boxed::<md5::Md5>(algorithm),
        Algorithm::Sha1 => boxed::<sha1::Sha1>(algorithm),
        Algorithm::Sha224 => boxed::<sha2::Sha224>(algorithm),
        Algorithm::Sha256 => boxed::<sha2::Sha256>(algorithm),
        Algorithm::Sha384 => boxed::<sha2::Sha384>(algorithm),
        Algorithm::Sha512 | Algorithm::C4 => boxed::<sha2::Sha512>(algorithm),
        Algorithm::Sha512_224 => boxed::<sha2::Sha512_224>(algorithm),
        Algorithm::Sha512_256 => boxed::<sha2::Sha512_256>(algorithm),
        Algorithm::Sha3_224 => boxed::<sha3::Sha3_224>(algorithm),
        Algorithm::Sha3_256 => boxed::<sha3::Sha3_256>(algorithm),
        Algorithm::Sha3_384 => boxed::<sha3::Sha3_384>(algorithm),
        Algorithm::Sha3_512 => boxed::<sha3::Sha3_512>(algorithm),
        Algorithm::Sm3 => boxed::<sm3::Sm3>(algorithm),
        Algorithm::Ripemd160 => boxed::<ripemd::Ripemd160>(algorithm),
        Algorithm::Tiger => boxed::<tiger::Tiger>(algorithm),
        Algorithm::Whirlpool => boxed::<whirlpool::Whirlpool>(algorithm),
        Algorithm::Blake2b(_) => Box::new(Blake2b::new(algorithm)),
        Algorithm::Blake2s => Box::new(Blake2s(blake2s_simd::State::new())),
        Algorithm::Blake3 => Box::new(Blake3::new()),
        Algorithm::Crc32 => Box::new(Crc::new(algorithm, crc_fast::CrcAlgorithm::Crc32IsoHdlc)),
        Algorithm::Crc32c => Box::new(Crc::new(algorithm, crc_fast::CrcAlgorithm::Crc32Iscsi)),
        Algorithm::Cksum => Box::new(Cksum::new()),
        Algorithm::Xxh32 => Box::new(Xxh32(twox_hash::XxHash32::with_seed(0))),
        Algorithm::Xxh64 => Box::new(Xxh64(twox_hash::XxHash64::with_seed(0))),
        Algorithm::Xxh3 => Box::new(Xxh3(twox_hash::XxHash3_64::new())),
        Algorithm::Xxh128 => Box::new(Xxh128(twox_hash::XxHash3_128::new())),
    }
}

/// Joins bytes that have the algorithm's length by construction; another length would be a defect of
/// the crate in question, and stopping is the only honest answer to it.
pub(super) fn digest_of(algorithm: Algorithm, bytes: &[u8]) -> Digest {
    match Digest::new(algorithm, bytes) {
        Some(digest) => digest,
        None => unreachable!("{algorithm} gave {} bytes", bytes.len()),
    }
}

/// Any algorithm of the RustCrypto project.
struct RustCrypto<D> {
    algorithm: Algorithm,
    state: D,
}

fn boxed<D>(algorithm: Algorithm) -> Box<dyn StreamHasher>
where
    D: digest::Digest + FixedOutputReset + SerializableState + Send + 'static,
{
    Box::new(RustCrypto {
        algorithm,
        state: D::new(),
    })
}

impl<D> StreamHasher for RustCrypto<D>
where
    D: digest::Digest + FixedOutputReset + SerializableState + Send,
{
    fn update(&mut self, bytes: &[u8]) {
        digest::Digest::update(&mut self.state, bytes);
    }

    fn finish(&mut self) -> Digest {
        digest_of(self.algorithm, &self.state.finalize_reset())
    }

    fn reset(&mut self) {
        digest::Digest::reset(&mut self.state);
    }

    fn save(&self) -> Option<Box<[u8]>> {
        Some(self.state.serialize().as_slice().into())
    }

    fn restore(&mut self, saved: &[u8]) -> bool {
        let Ok(saved) = <&SerializedState<D>>::try_from(saved) else {
            return false;
        };
        let restored = D::deserialize(saved);
        restored.map(|state| self.state = state).is_ok()
    }
}

struct Blake2b {
    algorithm: Algorithm,
    state: blake2b_simd::State,
}

impl Blake2b {
    fn new(algorithm: Algorithm) -> Self {
        let state = blake2b_simd::Params::new()
            .hash_length(algorithm.digest_len_bytes())
            .to_state();
        Self { algorithm, state }
    }
}

impl StreamHasher for Blake2b {
    fn update(&mut self, bytes: &[u8]) {
        self.state.update(bytes);
    }

    fn finish(&mut self) -> Digest {
        let digest = digest_of(self.algorithm, self.state.finalize().as_bytes());
        self.reset();
        digest
    }

    fn reset(&mut self) {
        *self = Self::new(self.algorithm);
    }
}

struct Blake2s(blake2s_simd::State);

impl StreamHasher for Blake2s {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&mut self) -> Digest {
        let digest = digest_of(Algorithm::Blake2s, self.0.finalize().as_bytes());
        self.reset();
        digest
    }

    fn reset(&mut self) {
        self.0 = blake2s_simd::State::new();
    }
}

struct Crc {
    algorithm: Algorithm,
    parameters: crc_fast::CrcAlgorithm,
    state: crc_fast::Digest,
}

impl Crc {
    fn new(algorithm: Algorithm, parameters: crc_fast::CrcAlgorithm) -> Self {
        Self {
            algorithm,
            parameters,
            state: crc_fast::Digest::new(parameters),
        }
    }
}

impl StreamHasher for Crc {
    fn update(&mut self, bytes: &[u8]) {
        self.state.update(bytes);
    }

    fn finish(&mut self) -> Digest {
        // The crate returns every width in the low bits of a u64.
        let value = self.state.finalize_reset().to_be_bytes();
        digest_of(
            self.algorithm,
            &value[value.len() - self.algorithm.digest_len_bytes()..],
        )
    }

    fn reset(&mut self) {
        self.state.reset();
    }

    fn save(&self) -> Option<Box<[u8]>> {
        Some(self.state.get_state().to_le_bytes().into())
    }

    fn restore(&mut self, saved: &[u8]) -> bool {
        let Ok(saved) = saved.try_into() else {
            return false;
        };
        let state = u64::from_le_bytes(saved);
        self.state = crc_fast::Digest::new_with_init_state(self.parameters, state);
        true
    }
}

/// The checksum of POSIX `cksum`: a CRC of the bytes and then of their number, least significant byte
/// first and without zero bytes above the last that counts. Source: POSIX.1-2017, *cksum*.
struct Cksum {
    crc: Crc,
    len_bytes: u64,
}

impl Cksum {
    fn new() -> Self {
        Self {
            crc: Crc::new(Algorithm::Cksum, crc_fast::CrcAlgorithm::Crc32Cksum),
            len_bytes: 0,
        }
    }
}

impl StreamHasher for Cksum {
    fn update(&mut self, bytes: &[u8]) {
        self.crc.update(bytes);
        self.len_bytes = self.len_bytes.wrapping_add(bytes.len() as u64);
    }

    fn finish(&mut self) -> Digest {
        let length = self.len_bytes.to_le_bytes();
        let zeros = self.len_bytes.leading_zeros() as usize / 8;
        self.crc.update(&length[..length.len() - zeros]);
        self.len_bytes = 0;
        self.crc.finish()
    }

    fn reset(&mut self) {
        self.crc.reset();
        self.len_bytes = 0;
    }

    fn save(&self) -> Option<Box<[u8]>> {
        let mut saved = self.len_bytes.to_le_bytes().to_vec();
        saved.extend_from_slice(&self.crc.save()?);
        Some(saved.into())
    }

    fn restore(&mut self, saved: &[u8]) -> bool {
        let Some((length, crc)) = saved.split_first_chunk() else {
            return false;
        };
        self.len_bytes = u64::from_le_bytes(*length);
        self.crc.restore(crc)
    }
}

/// The four xxHash variants, with seed 0 and the canonical (big-endian) digest.
macro_rules! xxhash {
    ($name:ident, $state:ty, $new:expr, $write:path, $finish:path) => {
        struct $name($state);

        impl StreamHasher for $name {
            fn update(&mut self, bytes: &[u8]) {
                $write(&mut self.0, bytes);
            }

            fn finish(&mut self) -> Digest {
                let digest = digest_of(Algorithm::$name, &$finish(&self.0).to_be_bytes());
                self.reset();
                digest
            }

            fn reset(&mut self) {
                self.0 = $new;
            }
        }
    };
}

xxhash!(
    Xxh32,
    twox_hash::XxHash32,
    twox_hash::XxHash32::with_seed(0),
    std::hash::Hasher::write,
    twox_hash::XxHash32::finish_32
);
xxhash!(
    Xxh64,
    twox_hash::XxHash64,
    twox_hash::XxHash64::with_seed(0),
    std::hash::Hasher::write,
    std::hash::Hasher::finish
);
xxhash!(
    Xxh3,
    twox_hash::XxHash3_64,
    twox_hash::XxHash3_64::new(),
    std::hash::Hasher::write,
    std::hash::Hasher::finish
);
xxhash!(
    Xxh128,
    twox_hash::XxHash3_128,
    twox_hash::XxHash3_128::new(),
    twox_hash::XxHash3_128::write,
    twox_hash::XxHash3_128::finish_128
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_state_goes_on_where_the_crate_gives_it_away() {
        let bytes: Vec<u8> = (0..=250).cycle().take(2 << 20).collect();
        let (head, tail) = bytes.split_at(1 << 20);
        for algorithm in Algorithm::all() {
            let mut first = new_hasher(algorithm);
            first.update(head);
            let saved = first.save();
            let name = algorithm.to_string();
            let cannot = name.starts_with("xxh") || name.starts_with("blake2");
            assert_eq!(saved.is_none(), cannot, "{algorithm}");
            let Some(saved) = saved else { continue };
            first.update(tail);
            let mut second = new_hasher(algorithm);
            second.update(b"forgotten");
            assert!(second.restore(&saved), "{algorithm}");
            second.update(tail);
            assert_eq!(second.finish(), first.finish(), "{algorithm}");
            assert!(!second.restore(&saved[1..]), "{algorithm}");
        }
    }
}
