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

/// Of every entry: its name, whether it has a size and a time, and its algorithms. Digests that can be
/// computed and sizes are what the contents give; of several algorithms, the most likely one gives it.
fn compared(list: &str, format: Format) -> Vec<String> {
    let list = format!("../manifests/{list}");
    assert_eq!(open(&list).format(), format, "{list}");
    let describe = |claim: Claim| {
        let name = claim.name.as_bytes();
        let mut text = claim.name.to_string();
        if let Some(size) = claim.size {
            assert_eq!(size, if name == b"a.txt" { 6 } else { 1 }, "{list}");
            text.push_str(" size");
        }
        if claim.modified.is_some() {
            text.push_str(" time");
        }
        for digest in &claim.digests {
            let algorithm = match digest {
                ClaimedDigest::Known(digest) => {
                    let computed = true_digest(digest.algorithm(), name);
                    assert_eq!(*digest, computed, "{list}");
                    digest.algorithm().to_string()
                }
                ClaimedDigest::OneOf { bytes, candidates } => {
                    let computed = true_digest(candidates[0], name);
                    assert_eq!(**bytes, *computed.as_bytes(), "{list}");
                    format!("{}?", candidates[0])
                }
                ClaimedDigest::Unsupported(name) => format!("!{name}"),
            };
            text.push_str(&format!(" {algorithm}"));
        }
        text
    };
    claims(&list).into_iter().map(describe).collect()
}

#[test]
fn lists_of_hashdeep_and_its_kin_are_read() {
    let five = "size md5 sha1 sha256 tiger whirlpool";
    let mut found = compared("hashdeep/all.txt", Format::Hashdeep);
    found.sort_unstable();
    let expected = [" lead", "a.txt", "sp ace.txt", "tail "].map(|name| format!("{name} {five}"));
    assert_eq!(found, expected);
    assert_eq!(
        compared("hashdeep/crlf.txt", Format::Hashdeep),
        ["a.txt size md5 sha256", "sp ace.txt size md5 sha256"]
    );
    let mut found = compared("md5deep/size.txt", Format::Md5deep);
    found.sort_unstable();
    let expected = [" lead", "a.txt", "sp ace.txt", "tail "].map(|name| format!("{name} size md5"));
    assert_eq!(found, expected);
    assert_eq!(
        compared("md5deep/size-time-comma.sha1", Format::Md5deep),
        ["a.txt size sha1", "sp ace.txt size sha1"]
    );
    assert_eq!(
        compared("md5deep/time.txt", Format::Md5deep),
        ["a.txt md5", "sp ace.txt md5"]
    );
}

#[test]
fn sfv_lists_are_read_with_their_comments() {
    assert_eq!(
        compared("sfv/cksfv.sfv", Format::Sfv),
        ["a.txt", "sp ace.txt", " lead", "tail "].map(|name| format!("{name} size time crc32"))
    );
    assert_eq!(
        compared("sfv/rhash.sfv", Format::Sfv),
        ["a.txt", "sp ace.txt"].map(|name| format!("{name} size time crc32"))
    );
    assert_eq!(
        compared("sfv/cfv.sfv", Format::Sfv),
        [" lead", "a.txt", "sp ace.txt", "tail "].map(|name| format!("{name} crc32"))
    );
}

#[test]
fn digests_behind_names_links_and_posix_checksums_are_read() {
    let several = "crc32 md5 sha1? sha256? sha3-256? crc32c";
    assert_eq!(
        compared("rhash/simple.txt", Format::Rhash),
        ["a.txt", "sp ace.txt"].map(|name| format!("{name} {several}"))
    );
    assert_eq!(
        compared("rhash/cfv-sfvmd5.txt", Format::Rhash),
        ["a.txt md5", "sp ace.txt md5"]
    );
    assert_eq!(
        compared("magnet/rhash.txt", Format::Magnet),
        ["a.txt", "sp ace.txt"].map(|name| format!("{name} size crc32 md5 sha1 tiger sha256"))
    );
    assert_eq!(
        compared("magnet/ed2k.txt", Format::Magnet),
        ["a.txt size !ed2k"]
    );
    assert_eq!(
        compared("cksum/cksum.txt", Format::Cksum),
        ["a.txt", "sp ace.txt", " lead", "tail "].map(|name| format!("{name} size cksum"))
    );
}
