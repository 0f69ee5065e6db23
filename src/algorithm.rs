//! The algorithms, and the one table that everything about them comes from.
//!
//! Names, aliases, tags, help texts, parsing and documentation are all derived from [`TABLE`].

use std::fmt::{self, Debug, Display, Formatter};
use std::num::NonZeroU16;
use std::str::FromStr;

use crate::nearest::nearest;

/// A hash algorithm or checksum with its digest length.
///
/// # Examples
///
/// ```
/// use multisum::Algorithm;
/// let algorithm: Algorithm = "SHA2-256".parse()?;
/// assert_eq!(algorithm, Algorithm::Sha256);
/// assert_eq!(algorithm.to_string(), "sha256");
/// assert_eq!(algorithm.digest_len_bytes(), 32);
/// # Ok::<(), multisum::algorithm::UnknownAlgorithm>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the table below describes each of them")]
pub enum Algorithm {
    Md5,
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
    Sha512_224,
    Sha512_256,
    Sha3_224,
    Sha3_256,
    Sha3_384,
    Sha3_512,
    Blake2b(Blake2bLength),
    Blake2s,
    Blake3,
    Crc32,
    Crc32c,
    Cksum,
    Xxh32,
    Xxh64,
    Xxh3,
    Xxh128,
    Sm3,
    Ripemd160,
    Tiger,
    Whirlpool,
    C4,
}

/// The digest length of a BLAKE2b variant: a multiple of 8 bits, from 8 to 512.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Blake2bLength(NonZeroU16);

impl Blake2bLength {
    /// The full length of 512 bits.
    pub const FULL: Self = match Self::from_bits(512) {
        Some(length) => length,
        None => unreachable!(),
    };

    /// Checks a length in bits.
    pub const fn from_bits(bits: u16) -> Option<Self> {
        match NonZeroU16::new(bits) {
            Some(bits) if bits.get() <= 512 && bits.get() % 8 == 0 => Some(Self(bits)),
            _ => None,
        }
    }

    /// The length in bits.
    pub fn bits(self) -> u16 {
        self.0.get()
    }
}

impl Debug for Blake2bLength {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// What an equal digest proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// Finds accidents only; anybody can make another file with the same value.
    Checksum,
    /// Made as a cryptographic hash, but two files with the same digest can be made.
    Broken,
    /// No practical way to make two files with the same digest is known.
    Strong,
}

impl Display for Strength {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Checksum => "checksum",
            Self::Broken => "broken",
            Self::Strong => "strong",
        })
    }
}

/// One row of the table.
#[derive(Debug)]
#[non_exhaustive]
pub struct AlgorithmInfo {
    /// The algorithm that this row describes; for BLAKE2b, its full length.
    pub algorithm: Algorithm,
    /// The name that options take and reports show.
    pub name: &'static str,
    /// The tag that BSD-style lines are written with.
    pub tag: &'static str,
    /// Other spellings that options and manifests may use, compared without regard to case.
    pub aliases: &'static [&'static str],
    /// Digest length in bits.
    pub bits: u16,
    /// The length in bytes of the block that the algorithm works on.
    pub block_len_bytes: u16,
    /// What an equal digest proves.
    pub strength: Strength,
    /// Rough cost of one stream in picoseconds a byte on current hardware; it only decides which
    /// algorithm of several is started first when they are spread over threads.
    pub cost: u16,
}

macro_rules! table {
    ($($variant:expr, $name:literal, $tag:literal, $bits:literal, $block:literal, $strength:ident,
        $cost:literal, [$($alias:literal),*];)*) => {
        &[$(AlgorithmInfo {
            algorithm: $variant,
            name: $name,
            tag: $tag,
            aliases: &[$($alias),*],
            bits: $bits,
            block_len_bytes: $block,
            strength: Strength::$strength,
            cost: $cost,
        }),*]
    };
}

use Algorithm as A;

/// Every algorithm: name, tag, digest bits, block bytes, strength, cost, other spellings.
///
/// `c4` is SHA-512 in another spelling, see [`crate::c4`]. `SHA512-256` means SHA-512/256, as OpenSSL 1.1.1 wrote it; GNU cksum reads the same tag as a
/// truncated SHA-512, which no list that it writes can contain.
#[rustfmt::skip]
pub static TABLE: &[AlgorithmInfo] = table! {
    A::Md5, "md5", "MD5", 128, 64, Broken, 1500, ["MD-5"];
    A::Sha1, "sha1", "SHA1", 160, 64, Broken, 530, ["SHA-1", "SHA"];
    A::Sha224, "sha224", "SHA224", 224, 64, Strong, 560, ["SHA-224", "SHA2-224"];
    A::Sha256, "sha256", "SHA256", 256, 64, Strong, 560, ["SHA-256", "SHA2-256"];
    A::Sha384, "sha384", "SHA384", 384, 128, Strong, 1670, ["SHA-384", "SHA2-384"];
    A::Sha512, "sha512", "SHA512", 512, 128, Strong, 1670, ["SHA-512", "SHA2-512"];
    A::Sha512_224, "sha512-224", "SHA512/224", 224, 128, Strong, 1670,
        ["SHA512-224", "SHA512t224", "SHA512224", "SHA-512/224", "SHA-512-224", "SHA2-512/224", "SHA2-512-224"];
    A::Sha512_256, "sha512-256", "SHA512/256", 256, 128, Strong, 1670,
        ["SHA512-256", "SHA512t256", "SHA512256", "SHA-512/256", "SHA-512-256", "SHA2-512/256", "SHA2-512-256"];
    A::Sha3_224, "sha3-224", "SHA3-224", 224, 144, Strong, 2100, ["SHA3_224", "SHA-3-224", "SHA3224"];
    A::Sha3_256, "sha3-256", "SHA3-256", 256, 136, Strong, 2200, ["SHA3_256", "SHA-3-256", "SHA3256"];
    A::Sha3_384, "sha3-384", "SHA3-384", 384, 104, Strong, 2900, ["SHA3_384", "SHA-3-384", "SHA3384"];
    A::Sha3_512, "sha3-512", "SHA3-512", 512, 72, Strong, 4100, ["SHA3_512", "SHA-3-512", "SHA3512"];
    A::Blake2b(Blake2bLength::FULL), "blake2b", "BLAKE2b", 512, 128, Strong, 870,
        ["BLAKE2", "BLAKE2b512", "BLAKE2b-512"];
    A::Blake2s, "blake2s", "BLAKE2s", 256, 64, Strong, 1500, ["BLAKE2s256", "BLAKE2s-256"];
    A::Blake3, "blake3", "BLAKE3", 256, 64, Strong, 250, ["B3", "BLAKE3-256"];
    A::Crc32, "crc32", "CRC32", 32, 1, Checksum, 30, ["CRC-32", "CRC32B"];
    A::Crc32c, "crc32c", "CRC32C", 32, 1, Checksum, 30, ["CRC-32C"];
    A::Cksum, "cksum", "CKSUM", 32, 1, Checksum, 30, ["POSIX-CKSUM", "CRC32-CKSUM"];
    A::Xxh32, "xxh32", "XXH32", 32, 16, Checksum, 140, ["XXHASH32", "XXHASH"];
    A::Xxh64, "xxh64", "XXH64", 64, 32, Checksum, 70, ["XXHASH64"];
    A::Xxh3, "xxh3", "XXH3", 64, 64, Checksum, 30, ["XXH3_64", "XXH3-64", "XXHASH3"];
    A::Xxh128, "xxh128", "XXH128", 128, 64, Checksum, 30, ["XXH3_128", "XXH3-128", "XXHASH128"];
    A::Sm3, "sm3", "SM3", 256, 64, Strong, 3000, ["SM-3"];
    A::Ripemd160, "ripemd160", "RMD160", 160, 64, Strong, 2500, ["RIPEMD160", "RIPEMD-160", "RMD-160"];
    A::Tiger, "tiger", "TIGER", 192, 64, Broken, 1600, ["TIGER192", "TIGER-192"];
    A::Whirlpool, "whirlpool", "WHIRLPOOL", 512, 64, Strong, 5000, ["WHIRLPOOL-512"];
    A::C4, "c4", "C4", 512, 128, Strong, 1670, ["C4ID", "C4-ID"];
};

impl Algorithm {
    /// The longest digest of any algorithm, in bytes.
    pub const MAX_DIGEST_LEN_BYTES: usize = 64;

    /// BLAKE2b with its usual length of 512 bits.
    pub const BLAKE2B: Self = Self::Blake2b(Blake2bLength::FULL);

    /// Every algorithm once, in the order of the table; BLAKE2b with its full length.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.algorithm)
    }

    /// The row of the table. For a shortened BLAKE2b it is the row of the full length.
    pub fn info(self) -> &'static AlgorithmInfo {
        let key = if matches!(self, Self::Blake2b(_)) {
            Self::BLAKE2B
        } else {
            self
        };
        // A test walks every variant, so the first row is never taken for want of another.
        TABLE
            .iter()
            .find(|row| row.algorithm == key)
            .unwrap_or(&TABLE[0])
    }

    /// Digest length in bits.
    pub fn digest_bits(self) -> u16 {
        match self {
            Self::Blake2b(length) => length.bits(),
            other => other.info().bits,
        }
    }

    /// Digest length in bytes.
    pub fn digest_len_bytes(self) -> usize {
        usize::from(self.digest_bits() / 8)
    }

    /// What an equal digest proves.
    ///
    /// A BLAKE2b cut to fewer than 128 bits is no better than a checksum.
    pub fn strength(self) -> Strength {
        if self.digest_bits() < 128 {
            Strength::Checksum
        } else {
            self.info().strength
        }
    }

    /// The tag of BSD-style lines: `SHA256`, `BLAKE2b-256`.
    pub fn tag(self) -> String {
        self.with_length(self.info().tag)
    }

    fn with_length(self, name: &str) -> String {
        match self {
            Self::Blake2b(length) if length != Blake2bLength::FULL => {
                format!("{name}-{}", length.bits())
            }
            _ => name.to_owned(),
        }
    }
}

impl Display for Algorithm {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(&self.with_length(self.info().name))
    }
}

/// A spelling that stands for no algorithm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown algorithm '{}'{}", crate::quote::Quoted::new(.0), suggestion(.0))]
pub struct UnknownAlgorithm(pub String);

fn suggestion(spelling: &str) -> String {
    let close = nearest(spelling, TABLE.iter().map(|row| row.name));
    close.map_or_else(String::new, |name| format!(" (did you mean {name}?)"))
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    /// Accepts names, tags and aliases in any case, and `BLAKE2b-BITS`.
    ///
    /// A length suffix is honoured on BLAKE2b alone: `MD5-8` or `SHA256-8` would be a digest too
    /// short to prove anything, and is refused.
    fn from_str(spelling: &str) -> Result<Self, Self::Err> {
        let is = |name: &str| name.eq_ignore_ascii_case(spelling);
        // Aliases are many and rare.
        let mut rows = TABLE.iter();
        rows.find(|row| is(row.name) || is(row.tag))
            .or_else(|| {
                let mut rows = TABLE.iter();
                rows.find(|row| row.aliases.iter().any(|alias| is(alias)))
            })
            .map(|row| row.algorithm)
            .or_else(|| shortened_blake2b(spelling))
            .ok_or_else(|| UnknownAlgorithm(spelling.to_owned()))
    }
}

fn shortened_blake2b(spelling: &str) -> Option<Algorithm> {
    let prefix = spelling.get(..8)?;
    let bits = spelling.get(8..)?;
    let plain_number = bits.bytes().all(|byte| byte.is_ascii_digit()) && !bits.starts_with('0');
    if !prefix.eq_ignore_ascii_case("blake2b-") || !plain_number {
        return None;
    }
    Blake2bLength::from_bits(bits.parse().ok()?).map(Algorithm::Blake2b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_leads_to_one_algorithm() {
        let mut seen = std::collections::HashMap::new();
        for row in TABLE {
            assert_eq!(row.algorithm.info().name, row.name);
            let spellings = row.aliases.iter().chain([&row.name, &row.tag]);
            for spelling in spellings {
                assert_eq!(spelling.parse(), Ok(row.algorithm), "{spelling}");
                assert_eq!(spelling.to_lowercase().parse(), Ok(row.algorithm));
                let owner = seen.insert(spelling.to_lowercase(), row.name);
                assert!(
                    owner.is_none_or(|name| name == row.name),
                    "{spelling} twice"
                );
            }
        }
    }

    #[test]
    fn lengths_are_honoured_on_blake2b_only() {
        let short = Algorithm::Blake2b(Blake2bLength::from_bits(256).unwrap());
        assert_eq!("BLAKE2b-256".parse(), Ok(short));
        assert_eq!(short.to_string(), "blake2b-256");
        assert_eq!(short.tag(), "BLAKE2b-256");
        assert_eq!("blake2b-512".parse(), Ok(Algorithm::BLAKE2B));
        for refused in [
            "MD5-8",
            "SHA256-8",
            "BLAKE2b-0",
            "BLAKE2b-12",
            "BLAKE2b-520",
            "BLAKE2b-+8",
            // The parallel BLAKE2bp is another function.
            "BLAKE2BP512",
        ] {
            assert!(refused.parse::<Algorithm>().is_err(), "{refused}");
        }
    }

    #[test]
    fn a_near_miss_gets_a_suggestion() {
        let message = |name: &str| name.parse::<Algorithm>().unwrap_err().to_string();
        assert_eq!(message("sha999"), "unknown algorithm 'sha999'");
        assert_eq!(
            message("sha265"),
            "unknown algorithm 'sha265' (did you mean sha256?)"
        );
        assert_eq!(
            message("sha25"),
            "unknown algorithm 'sha25' (did you mean sha256?)"
        );
        assert_eq!(
            message("blake4"),
            "unknown algorithm 'blake4' (did you mean blake3?)"
        );
    }

    #[test]
    fn digests_fit() {
        assert!(Algorithm::all().all(|a| a.digest_len_bytes() <= Algorithm::MAX_DIGEST_LEN_BYTES));
    }
}
