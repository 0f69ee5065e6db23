//! Which algorithm a digest belongs to, and how we know.
//!
//! Evidence counts in this order: the tag of the line, what the user says, a comment in the list
//! (`# SHA512 HASH`), the name of the list, and last the length of the digest, if only one algorithm
//! has it. What contradicts the evidence is an error, never a reason to try the next.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use super::Malformed;
use super::entry::ClaimedDigest;
use crate::algorithm::{Algorithm, Blake2bLength};
use crate::digest::Digest;
use crate::hex;

use Algorithm as A;

/// How many hexadecimal digits a digest has or, if it stands there in base64, would have.
///
/// A text of nothing but hexadecimal digits is never base64, so that a SHA-256 cannot be taken for a
/// SHA-384.
fn hex_digits(text: &[u8]) -> usize {
    if hex::is_hex(text) {
        return text.len();
    }
    hex::decode_base64(text).map_or(text.len(), |bytes| bytes.len() * 2)
}

/// Whether a word is a digest in base64, of whatever algorithm: padded, or of 192 or 384 bits, which
/// need no padding.
pub(super) fn is_base64(word: &[u8]) -> bool {
    let fits = match word.len() {
        32 | 64 => true,
        8..=88 => word.ends_with(b"="),
        _ => false,
    };
    fits && !hex::is_hex(word) && hex::decode_base64(word).is_some()
}

/// The shortest digest that is accepted; an even shorter one is met by trying a few files.
pub(super) const MIN_DIGEST_BITS: u16 = 32;

const fn blake2b(bits: u16) -> Algorithm {
    match Blake2bLength::from_bits(bits) {
        Some(length) => A::Blake2b(length),
        None => unreachable!(),
    }
}

const BLAKE2B_192: Algorithm = blake2b(192);
const BLAKE2B_224: Algorithm = blake2b(224);
const BLAKE2B_256: Algorithm = blake2b(256);
const BLAKE2B_384: Algorithm = blake2b(384);

/// The algorithms that a digest of so many hexadecimal digits may come from, the usual one first.
///
/// For 32 digits that is MD5 alone: nobody may pass off another, weaker value as an MD5.
pub fn candidates(hex_digits: usize) -> &'static [Algorithm] {
    match hex_digits {
        8 => &[A::Crc32, A::Crc32c, A::Xxh32],
        16 => &[A::Xxh64, A::Xxh3],
        32 => &[A::Md5],
        40 => &[A::Sha1, A::Ripemd160],
        48 => &[A::Tiger, BLAKE2B_192],
        56 => &[A::Sha224, A::Sha3_224, A::Sha512_224, BLAKE2B_224],
        64 => &[
            A::Sha256,
            A::Sha3_256,
            A::Sha512_256,
            A::Blake2s,
            BLAKE2B_256,
            A::Blake3,
            A::Sm3,
        ],
        96 => &[A::Sha384, A::Sha3_384, BLAKE2B_384],
        128 => &[A::Sha512, A::Sha3_512, A::BLAKE2B, A::Whirlpool],
        _ => &[],
    }
}

/// What the name of a list, or a comment in it, says about its digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedAlgorithm {
    /// One algorithm: `SHA256SUMS`, `x.md5`.
    Exactly(Algorithm),
    /// BLAKE2b of whatever length the digests have, as `b2sum -l` writes it: `B2SUMS`.
    Blake2b,
    /// XXH32, XXH64 or XXH128 by length, as `xxhsum` reads it: `XXHSUMS`.
    Xxh,
    /// SHA-1 or a SHA-2 by length, as `shasum` reads it: `x.sha`.
    Sha,
}

impl NamedAlgorithm {
    /// Reads one word in any case: a name from the table, or such a word as `b2`, `xxh`, `sha`.
    fn from_word(word: &str) -> Option<Self> {
        match &*word.to_ascii_lowercase() {
            "b2" | "blake2" | "blake2b" => Some(Self::Blake2b),
            "xxh" | "xxhash" => Some(Self::Xxh),
            "sha" => Some(Self::Sha),
            _ => word.parse().ok().map(Self::Exactly),
        }
    }

    /// The one algorithm to write, if it is clear which.
    pub(super) fn to_write(self) -> Option<Algorithm> {
        match self {
            Self::Exactly(algorithm) => Some(algorithm),
            Self::Blake2b => Some(Algorithm::BLAKE2B),
            Self::Xxh | Self::Sha => None,
        }
    }

    /// The algorithm for digests of that length; if none fits, the one that was most likely meant.
    fn for_digits(self, hex_digits: usize) -> Algorithm {
        match self {
            Self::Exactly(algorithm) => algorithm,
            Self::Blake2b => u16::try_from(hex_digits * 4)
                .ok()
                .and_then(Blake2bLength::from_bits)
                .map_or(Algorithm::BLAKE2B, Algorithm::Blake2b),
            Self::Xxh => match hex_digits {
                8 => A::Xxh32,
                32 => A::Xxh128,
                _ => A::Xxh64,
            },
            Self::Sha => match hex_digits {
                56 => A::Sha224,
                64 => A::Sha256,
                96 => A::Sha384,
                128 => A::Sha512,
                _ => A::Sha1,
            },
        }
    }
}

impl Display for NamedAlgorithm {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(algorithm) => write!(f, "{algorithm}"),
            Self::Blake2b => f.write_str("blake2b of the digests' length"),
            Self::Xxh => f.write_str("xxh32, xxh64 or xxh128 by length"),
            Self::Sha => f.write_str("sha1 or sha2 by length"),
        }
    }
}

/// What the file name of a list says, for instance `SHA256SUMS`, `md5sums.txt`, `x.b3`,
/// `manifest-sha512.txt` or `checksums_sha256.txt`; `None` if nothing.
///
/// Case does not matter. `SHASUMS`, `CHECKSUMS` and the like say nothing.
pub(super) fn from_list_name(path: &Path) -> Option<NamedAlgorithm> {
    let name = path.file_name()?.as_encoded_bytes().to_ascii_lowercase();
    let mut stem = &name[..];
    while let Some(shorter) = [".txt", ".asc", ".sig", ".gpg"]
        .iter()
        .find_map(|ending| stem.strip_suffix(ending.as_bytes()))
    {
        stem = shorter;
    }
    whole_name(stem).or_else(|| last_part(stem))
}

/// A name that is nothing but the algorithm: `sha256sums`, `shasums512`, `sha256`.
fn whole_name(stem: &[u8]) -> Option<NamedAlgorithm> {
    let stem = std::str::from_utf8(stem).ok()?;
    if let Some(bits) = stem.strip_prefix("shasums") {
        return NamedAlgorithm::from_word(&format!("sha-{bits}"));
    }
    match sums_of(stem) {
        Some(word) => NamedAlgorithm::from_word(word).filter(|named| *named != NamedAlgorithm::Sha),
        // `tiger.txt` may hold anything, `sha256.txt` hardly.
        None => stem
            .contains(|c: char| c.is_ascii_digit())
            .then(|| stem.parse().ok())
            .flatten()
            .map(NamedAlgorithm::Exactly),
    }
}

/// `x.sha256`, `x.sha256sum`, `x-sha256sums`, `manifest-sha256`, `checksums_sha256`.
fn last_part(stem: &[u8]) -> Option<NamedAlgorithm> {
    let separators = stem.iter().enumerate();
    let separators = separators.filter(|(_, byte)| matches!(byte, b'.' | b'-' | b'_'));
    // From the left, so that `x.sha512-256` is not read as something named 256.
    separators.into_iter().find_map(|(at, byte)| {
        let word = std::str::from_utf8(&stem[at + 1..]).ok()?;
        let before = &stem[..at];
        let listed = [&b"manifest"[..], b"checksums", b"checksum", b"sums"];
        if *byte == b'.' || listed.iter().any(|ending| before.ends_with(ending)) {
            NamedAlgorithm::from_word(sums_of(word).filter(|&w| w != "sha").unwrap_or(word))
        } else {
            whole_name(&stem[at + 1..]).filter(|_| sums_of(word).is_some())
        }
    })
}

fn sums_of(word: &str) -> Option<&str> {
    word.strip_suffix("sums")
        .or_else(|| word.strip_suffix("sum"))
}

/// What a comment says about the lines below it: `SHA512 HASH` alone, or `MD5 checksums` anywhere.
///
/// The marks that make it a comment must be gone.
pub(super) fn from_comment(text: &[u8]) -> Option<NamedAlgorithm> {
    let text = std::str::from_utf8(text).ok()?;
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    if let [word, "HASH"] = words[..] {
        return NamedAlgorithm::from_word(word);
    }
    words.windows(2).find_map(|pair| {
        let [word, noun] = [pair[0], pair[1].trim_end_matches([':', '.', ','])];
        let counted = ["checksum", "checksums"];
        counted
            .iter()
            .any(|known| noun.eq_ignore_ascii_case(known))
            .then(|| NamedAlgorithm::from_word(word))
            .flatten()
    })
}

/// Where the algorithm of untagged lines comes from, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlgorithmSource {
    /// The user named it.
    Asked(Algorithm),
    /// A comment in the list names it.
    Comment(NamedAlgorithm),
    /// The name of the list says it.
    ListName(NamedAlgorithm),
    /// Nothing but the length of each digest.
    Length,
    /// Every entry says it.
    Entries,
}

impl Display for AlgorithmSource {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked(algorithm) => write!(f, "{algorithm}, as asked"),
            Self::Comment(named) => write!(f, "{named}, from a comment in the list"),
            Self::ListName(named) => write!(f, "{named}, from the name of the list"),
            Self::Length => f.write_str("from the tags or the length of the digests"),
            Self::Entries => f.write_str("as each entry says"),
        }
    }
}

/// All that is known about the algorithms of one list, but for the tags in its lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct AlgorithmEvidence {
    pub(super) asked: Option<Algorithm>,
    pub(super) comment: Option<NamedAlgorithm>,
    pub(super) list_name: Option<NamedAlgorithm>,
}

impl AlgorithmEvidence {
    pub(super) fn source(&self) -> AlgorithmSource {
        if let Some(algorithm) = self.asked {
            AlgorithmSource::Asked(algorithm)
        } else if let Some(named) = self.comment {
            AlgorithmSource::Comment(named)
        } else if let Some(named) = self.list_name {
            AlgorithmSource::ListName(named)
        } else {
            AlgorithmSource::Length
        }
    }

    /// The digest of a line that names its algorithm.
    pub(super) fn tagged(
        &self,
        line: Algorithm,
        digits: &[u8],
    ) -> Result<ClaimedDigest, Malformed> {
        match self.asked {
            Some(asked) if asked != line => Err(Malformed::AlgorithmConflict { line, asked }),
            _ => known(line, digits),
        }
    }

    /// The digest in a field whose algorithm the format names by a word; `None` if the user asked
    /// for another algorithm only.
    ///
    /// For formats whose entries hold several digests. What an unknown word stands for cannot be
    /// compared, and the entry is not verified without it.
    pub(super) fn named(
        &self,
        word: &str,
        digits: &[u8],
    ) -> Result<Option<ClaimedDigest>, Malformed> {
        match (word.parse::<Algorithm>(), self.asked) {
            (Ok(algorithm), Some(asked)) if asked != algorithm => Ok(None),
            (Ok(algorithm), _) => known(algorithm, digits).map(Some),
            (Err(_), Some(_)) => Ok(None),
            (Err(unknown), None) => Ok(Some(ClaimedDigest::Unsupported(unknown.0.into()))),
        }
    }

    /// The digest of a line that does not.
    pub(super) fn untagged(&self, digits: &[u8]) -> Result<ClaimedDigest, Malformed> {
        match self.source() {
            AlgorithmSource::Asked(algorithm)
            | AlgorithmSource::Comment(NamedAlgorithm::Exactly(algorithm))
            | AlgorithmSource::ListName(NamedAlgorithm::Exactly(algorithm)) => {
                known(algorithm, digits)
            }
            AlgorithmSource::Comment(named) | AlgorithmSource::ListName(named) => {
                known(named.for_digits(hex_digits(digits)), digits)
            }
            AlgorithmSource::Length | AlgorithmSource::Entries => by_length(digits),
        }
    }

    /// One digest of several in an entry that names none of their algorithms; `None` if the user
    /// asked for an algorithm of another length.
    ///
    /// A comment or the name of the list counts for digests of the length that it names.
    pub(super) fn one_of_several(&self, digits: &[u8]) -> Result<Option<ClaimedDigest>, Malformed> {
        let count = hex_digits(digits);
        let fits = |algorithm: &Algorithm| algorithm.digest_len_bytes() * 2 == count;
        let named = match self.source() {
            AlgorithmSource::Asked(algorithm) if fits(&algorithm) => Some(algorithm),
            AlgorithmSource::Asked(_) => return Ok(None),
            AlgorithmSource::Comment(named) | AlgorithmSource::ListName(named) => {
                Some(named.for_digits(count)).filter(fits)
            }
            AlgorithmSource::Length | AlgorithmSource::Entries => None,
        };
        named
            .map_or_else(|| by_length(digits), |algorithm| known(algorithm, digits))
            .map(Some)
    }
}

/// A digest of a known algorithm, in hexadecimal digits or in base64.
pub(super) fn known(algorithm: Algorithm, digits: &[u8]) -> Result<ClaimedDigest, Malformed> {
    let bits = algorithm.digest_bits();
    if bits < MIN_DIGEST_BITS {
        return Err(Malformed::TooShort(bits));
    }
    digest(algorithm, digits)
        .map(ClaimedDigest::Known)
        .ok_or(Malformed::BadDigest {
            algorithm,
            expected: usize::from(bits / 4),
        })
}

fn digest(algorithm: Algorithm, digits: &[u8]) -> Option<Digest> {
    if let Some(digest) = Digest::parse(algorithm, digits) {
        return Some(digest);
    }
    let is_hex = hex::is_hex(digits);
    let bytes = hex::decode_base64(digits).filter(|_| !is_hex)?;
    Digest::new(algorithm, &bytes)
}

fn by_length(digits: &[u8]) -> Result<ClaimedDigest, Malformed> {
    let count = hex_digits(digits);
    match candidates(count) {
        [] => Err(Malformed::NoAlgorithm(count)),
        [only] => known(*only, digits),
        candidates => one_of(digits, candidates),
    }
}

/// A digest of one of these algorithms, in hexadecimal digits or in base64.
pub(super) fn one_of(
    digits: &[u8],
    candidates: &'static [Algorithm],
) -> Result<ClaimedDigest, Malformed> {
    let bytes = hex::decode(digits)
        .or_else(|| hex::decode_base64(digits))
        .ok_or(Malformed::NoShape)?
        .into();
    Ok(ClaimedDigest::OneOf { bytes, candidates })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: AlgorithmEvidence = AlgorithmEvidence {
        asked: None,
        comment: None,
        list_name: None,
    };

    fn digits(count: usize) -> Vec<u8> {
        b"0123456789abcdef"
            .iter()
            .copied()
            .cycle()
            .take(count)
            .collect()
    }

    fn algorithm(claimed: &ClaimedDigest) -> Algorithm {
        match claimed {
            ClaimedDigest::Known(digest) => digest.algorithm(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_algorithm_is_a_candidate_for_its_length_but_for_three() {
        // XXH128 is no MD5, POSIX checksums are written in decimal, and C4 is no SHA-512.
        let left_out = [Algorithm::Xxh128, Algorithm::Cksum, Algorithm::C4];
        for candidate in Algorithm::all().filter(|a| !left_out.contains(a)) {
            let length = candidate.digest_len_bytes() * 2;
            assert!(candidates(length).contains(&candidate), "{candidate}");
        }
        for length in 0..200 {
            let fits = |a: &Algorithm| a.digest_len_bytes() * 2 == length;
            assert!(candidates(length).iter().all(fits), "{length}");
        }
    }

    #[test]
    fn nothing_weaker_passes_for_md5_or_sha1() {
        assert_eq!(candidates(32), [Algorithm::Md5]);
        assert_eq!(candidates(40), [Algorithm::Sha1, Algorithm::Ripemd160]);
        assert_eq!(
            algorithm(&NOTHING.untagged(&digits(32)).unwrap()),
            Algorithm::Md5
        );
    }

    #[test]
    fn an_ambiguous_length_is_not_guessed() {
        for length in [8, 16, 40, 48, 56, 64, 96, 128] {
            let claimed = NOTHING.untagged(&digits(length)).unwrap();
            assert!(matches!(claimed, ClaimedDigest::OneOf { .. }), "{length}");
        }
        assert_eq!(
            NOTHING.untagged(&digits(10)),
            Err(Malformed::NoAlgorithm(10))
        );
    }

    #[test]
    fn better_evidence_wins() {
        let mut evidence = NOTHING;
        evidence.list_name = Some(NamedAlgorithm::Exactly(Algorithm::Sha3_256));
        let found = |e: &AlgorithmEvidence| algorithm(&e.untagged(&digits(64)).unwrap());
        assert_eq!(found(&evidence), Algorithm::Sha3_256);
        evidence.comment = Some(NamedAlgorithm::Exactly(Algorithm::Sm3));
        assert_eq!(found(&evidence), Algorithm::Sm3);
        evidence.asked = Some(Algorithm::Blake3);
        assert_eq!(found(&evidence), Algorithm::Blake3);
        assert_eq!(
            evidence.tagged(Algorithm::Sha256, &digits(64)),
            Err(Malformed::AlgorithmConflict {
                line: Algorithm::Sha256,
                asked: Algorithm::Blake3
            })
        );
    }

    #[test]
    fn a_name_that_contradicts_the_length_is_an_error_and_no_guess() {
        let evidence = AlgorithmEvidence {
            list_name: Some(NamedAlgorithm::Exactly(Algorithm::Md5)),
            ..NOTHING
        };
        assert_eq!(
            evidence.untagged(&digits(64)),
            Err(Malformed::BadDigest {
                algorithm: Algorithm::Md5,
                expected: 32
            })
        );
    }

    #[test]
    fn base64_is_told_from_hexadecimal_by_its_alphabet() {
        let sha384 = [0xfb; 48];
        let base64 = hex::encode_base64(&sha384);
        let found = NOTHING.untagged(base64.as_bytes()).unwrap();
        let ClaimedDigest::OneOf { bytes, candidates } = found else {
            panic!("{found:?}");
        };
        assert_eq!(*bytes, sha384);
        assert_eq!(candidates[0], Algorithm::Sha384);
        // As long as a SHA-384 in base64.
        assert!(NOTHING.tagged(Algorithm::Sha384, &digits(64)).is_err());
        let url_safe = base64.replace('+', "-").replace('/', "_");
        for text in [&base64, &url_safe] {
            let found = NOTHING.tagged(Algorithm::Sha384, text.as_bytes()).unwrap();
            assert_eq!(algorithm(&found), Algorithm::Sha384);
        }
        for word in [
            "WJG1tSLV3whtD/CxEPvZ0hu0/HFjrzTQgoai6Eb2vgM=",
            "NjowIA==",
            &base64,
        ] {
            assert!(is_base64(word.as_bytes()), "{word}");
        }
        for word in [
            "WJG1tSLV3whtD/CxEPvZ0hu0/HFjrzTQgoai6Eb2vgM",
            "Subject",
            "Document",
            "a/b/c/de",
            "9dd4e461268c8034f5c8564e155c67a6",
            "NjowIB==",
            "====",
        ] {
            assert!(!is_base64(word.as_bytes()), "{word}");
        }
    }

    #[test]
    fn of_several_digests_the_named_length_is_taken() {
        let mut evidence = NOTHING;
        evidence.list_name = Some(NamedAlgorithm::Exactly(Algorithm::Blake3));
        let found = |e: &AlgorithmEvidence, count| e.one_of_several(&digits(count)).unwrap();
        assert_eq!(algorithm(&found(&evidence, 64).unwrap()), Algorithm::Blake3);
        assert_eq!(algorithm(&found(&evidence, 32).unwrap()), Algorithm::Md5);
        evidence.asked = Some(Algorithm::Sha1);
        assert_eq!(algorithm(&found(&evidence, 40).unwrap()), Algorithm::Sha1);
        assert_eq!(found(&evidence, 64), None);
    }

    #[test]
    fn a_digest_of_a_few_bits_is_refused() {
        let tiny = blake2b(8);
        assert_eq!(NOTHING.tagged(tiny, b"58"), Err(Malformed::TooShort(8)));
        let evidence = AlgorithmEvidence {
            list_name: Some(NamedAlgorithm::Blake2b),
            ..NOTHING
        };
        assert_eq!(evidence.untagged(b"585858"), Err(Malformed::TooShort(24)));
    }

    #[test]
    fn list_names_that_tell_the_algorithm() {
        use NamedAlgorithm::{Blake2b, Exactly, Sha, Xxh};
        let cases = [
            ("MD5SUMS", Exactly(A::Md5)),
            ("md5sum.txt", Exactly(A::Md5)),
            ("dir.d/SHA1SUM", Exactly(A::Sha1)),
            ("SHA224SUMS", Exactly(A::Sha224)),
            ("SHA256SUMS.txt.asc", Exactly(A::Sha256)),
            ("SHASUMS256.txt", Exactly(A::Sha256)),
            ("SHASUMS512", Exactly(A::Sha512)),
            ("B2SUMS", Blake2b),
            ("B3SUMS", Exactly(A::Blake3)),
            ("BLAKE3SUMS", Exactly(A::Blake3)),
            ("XXHSUMS", Xxh),
            ("SHA256", Exactly(A::Sha256)),
            ("x.iso.md5", Exactly(A::Md5)),
            ("x.SHA256", Exactly(A::Sha256)),
            ("x.sha256sum", Exactly(A::Sha256)),
            ("x.sha3-256", Exactly(A::Sha3_256)),
            ("x.sha512-256", Exactly(A::Sha512_256)),
            ("x.b2", Blake2b),
            ("x.b2sum", Blake2b),
            ("x.blake2b", Blake2b),
            ("x.b3", Exactly(A::Blake3)),
            ("x.xxh32", Exactly(A::Xxh32)),
            ("x.xxh128", Exactly(A::Xxh128)),
            ("x.crc32", Exactly(A::Crc32)),
            ("x.sha", Sha),
            ("x.tiger", Exactly(A::Tiger)),
            ("manifest-sha256.txt", Exactly(A::Sha256)),
            ("tagmanifest-sha3256.txt", Exactly(A::Sha3_256)),
            ("checksums_sha256.txt", Exactly(A::Sha256)),
            ("tool_1.2.3_SHA256SUMS", Exactly(A::Sha256)),
        ];
        for (name, named) in cases {
            assert_eq!(from_list_name(Path::new(name)), Some(named), "{name}");
        }
        for name in [
            "CHECKSUM",
            "CHECKSUMS",
            "x_checksums.txt",
            "SHASUMS",
            "SHASUMS.txt",
            "x.shasum",
            "DIGESTS",
            "HASHES",
            "tiger.txt",
            "b2.txt",
            "list",
            "x.txt",
            "notes-on-sha1",
            ".",
            "",
        ] {
            assert_eq!(from_list_name(Path::new(name)), None, "{name}");
        }
    }

    #[test]
    fn comments_that_tell_the_algorithm() {
        use NamedAlgorithm::{Blake2b, Exactly};
        let cases = [
            (" SHA512 HASH", Some(Exactly(A::Sha512))),
            (" BLAKE2B HASH", Some(Blake2b)),
            (
                " MD5 checksums generated by TeraCopy",
                Some(Exactly(A::Md5)),
            ),
            (
                " This file holds SHA-256 checksums.",
                Some(Exactly(A::Sha256)),
            ),
            (" a.txt: 6 bytes", None),
            (" MD5 checksums.txt", None),
            (" checksums", None),
            (" no HASH", None),
        ];
        for (text, named) in cases {
            assert_eq!(from_comment(text.as_bytes()), named, "{text}");
        }
    }
}
