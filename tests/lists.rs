//! Lists that other tools wrote, read and compared with the contents that those tools were given.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::fs::File;
use std::path::{Path, PathBuf};

use multisum::hasher::new_hasher;
use multisum::manifest::{
    Claim, ClaimedDigest, Content, Encoding, Format, Hints, Malformed, Reader, Terminator,
};
use multisum::{Algorithm, Digest};

fn path(list: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/lists")
        .join(list)
}

fn open(list: &str) -> Reader<'static> {
    let hints = Hints {
        list_name: Some(path(list)),
        ..Hints::default()
    };
    Reader::new(File::open(path(list)).unwrap(), &hints).unwrap()
}

fn claims(list: &str) -> Vec<Claim> {
    let claim = |content| match content {
        Content::Claim(claim) => claim,
        other => panic!("{list}: {other:?}"),
    };
    open(list)
        .map(|record| claim(record.unwrap().content))
        .collect()
}

fn true_digest(algorithm: Algorithm, name: &[u8]) -> Digest {
    let mut hasher = new_hasher(algorithm);
    hasher.update(if name == b"a.txt" { b"hello\n" } else { b"x" });
    hasher.finish()
}

/// The names and algorithms of a list, all of whose digests are what the contents give.
fn verified(list: &str) -> Vec<(Vec<u8>, Algorithm)> {
    let check = |claim: Claim| {
        let [ClaimedDigest::Known(digest)] = claim.digests[..] else {
            panic!("{list}: {claim:?}");
        };
        let name = claim.name.as_bytes().to_vec();
        assert_eq!(digest, true_digest(digest.algorithm(), &name), "{list}");
        (name, digest.algorithm())
    };
    claims(list).into_iter().map(check).collect()
}

fn names(list: &str, algorithm: Algorithm) -> Vec<Vec<u8>> {
    let one = |(name, found)| {
        assert_eq!(found, algorithm, "{list}");
        name
    };
    verified(list).into_iter().map(one).collect()
}

fn algorithms(list: &str) -> Vec<String> {
    let one = |(name, algorithm): (Vec<u8>, Algorithm)| {
        assert_eq!(name, b"a.txt", "{list}");
        algorithm.to_string()
    };
    verified(list).into_iter().map(one).collect()
}

/// In the order of `LC_ALL=C`.
const HARD_NAMES: [&[u8]; 10] = [
    b" lead",
    b"#hash",
    b"a.txt",
    b"back\\slash",
    b"bad\xff.txt",
    b"cr\rx",
    b"new\nline",
    b"tail ",
    b"x) = y",
    "é".as_bytes(),
];

#[test]
fn hard_names_of_coreutils_survive_in_every_mode() {
    for (list, format, terminator) in [
        ("coreutils.sha256", Format::Gnu, Terminator::Line),
        ("coreutils-binary.sha256", Format::Gnu, Terminator::Line),
        ("coreutils-zero.sha256", Format::GnuZero, Terminator::Nul),
        ("coreutils-tag.txt", Format::Bsd, Terminator::Line),
        ("coreutils-tag-zero.txt", Format::Bsd, Terminator::Nul),
    ] {
        let evidence = open(list).evidence();
        assert_eq!((evidence.format, evidence.terminator), (format, terminator));
        assert_eq!(names(list, Algorithm::Sha256), HARD_NAMES, "{list}");
    }
}

#[test]
fn tags_of_cksum_are_known() {
    let expected = "md5 sha1 sha224 sha384 sha512 blake2b sm3 blake2b-256";
    assert_eq!(algorithms("cksum-mixed.txt").join(" "), expected);
}

#[test]
fn tags_of_openssl_are_known() {
    let expected = "md5 sha1 sha224 sha256 sha384 sha512 sha512-224 sha512-256 sha3-224 sha3-256 \
                    sha3-384 sha3-512 blake2b blake2s ripemd160 sm3";
    assert_eq!(algorithms("openssl.txt").join(" "), expected);
    assert_eq!(algorithms("openssl-colons.txt"), ["sha256"]);
    assert_eq!(algorithms("openssl.sha1"), ["sha1"]);
}

#[test]
fn padded_tags_of_rhash_are_known() {
    let expected =
        "crc32 md5 sha1 tiger whirlpool ripemd160 sha256 sha3-256 crc32c blake2s blake2b";
    let found = algorithms("rhash-bsd.txt");
    let mut found: Vec<_> = found.iter().map(String::as_str).collect();
    let mut expected: Vec<_> = expected.split(' ').collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn b3sum_shasum_and_xxhsum_are_read() {
    let b3 = names("b3sum.b3", Algorithm::Blake3);
    assert_eq!(b3, [&b"a.txt"[..], b"new\nline", b"back\\slash"]);
    assert_eq!(algorithms("shasum-tag.txt"), ["sha512-256"]);
    let xxh = ["xxh32", "xxh64", "xxh128", "xxh3"];
    assert_eq!(algorithms("XXHSUMS"), xxh);
    assert_eq!(algorithms("xxhsum-tag.txt"), xxh);
}

#[test]
fn the_universal_newline_mode_of_shasum_is_read_as_a_name_and_not_guessed_at() {
    let claims = claims("shasum-universal.sha1");
    assert_eq!(claims[0].name.as_bytes(), b"Ua.txt");
}

#[test]
fn byte_reversed_xxhsum_values_are_refused() {
    let record = open("xxhsum-little-endian.txt").next().unwrap().unwrap();
    let unknown = Malformed::UnknownTag(b"XXH64_LE".to_vec());
    assert_eq!(record.content, Content::Malformed(unknown));
}

#[test]
fn windows_encodings_lose_no_line() {
    for (list, encoding) in [
        ("crlf.sha256", Encoding::Bytes),
        ("utf8-mark.sha256", Encoding::Bytes),
        ("utf16le.sha256", Encoding::Utf16Le),
        ("utf16be.sha256", Encoding::Utf16Be),
    ] {
        assert_eq!(open(list).evidence().encoding, encoding);
        let expected = [&b"a.txt"[..], "é".as_bytes(), b"#hash"];
        assert_eq!(names(list, Algorithm::Sha256), expected, "{list}");
    }
}
