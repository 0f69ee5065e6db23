//! Every algorithm against the tools of other projects, on painted bytes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use common::{Tool, lengths, painted, skipped, tool};
use multisum::hasher::new_hasher;
use multisum::{Algorithm, hex};

/// A tool, the arguments that make it hash its standard input, and the algorithm meant by them.
type Row = (&'static str, &'static [&'static str], &'static str);

const ROWS: &[Row] = &[
    ("md5sum", &[], "md5"),
    ("sha1sum", &[], "sha1"),
    ("sha224sum", &[], "sha224"),
    ("sha256sum", &[], "sha256"),
    ("sha384sum", &[], "sha384"),
    ("sha512sum", &[], "sha512"),
    // The same value in another spelling, which src/digest.rs compares with published ones.
    ("sha512sum", &[], "c4"),
    ("b2sum", &[], "blake2b"),
    ("b2sum", &["-l", "8"], "blake2b-8"),
    ("b2sum", &["-l", "160"], "blake2b-160"),
    ("b2sum", &["-l", "256"], "blake2b-256"),
    ("b2sum", &["-l", "384"], "blake2b-384"),
    ("b3sum", &[], "blake3"),
    ("cksum", &[], "cksum"),
    ("cksum", &["-a", "md5"], "md5"),
    ("cksum", &["-a", "sha1"], "sha1"),
    ("cksum", &["-a", "sha224"], "sha224"),
    ("cksum", &["-a", "sha256"], "sha256"),
    ("cksum", &["-a", "sha384"], "sha384"),
    ("cksum", &["-a", "sha512"], "sha512"),
    ("cksum", &["-a", "blake2b"], "blake2b"),
    ("cksum", &["-a", "blake2b", "-l", "256"], "blake2b-256"),
    ("cksum", &["-a", "sm3"], "sm3"),
    ("openssl", &["dgst", "-md5"], "md5"),
    ("openssl", &["dgst", "-sha1"], "sha1"),
    ("openssl", &["dgst", "-sha224"], "sha224"),
    ("openssl", &["dgst", "-sha256"], "sha256"),
    ("openssl", &["dgst", "-sha384"], "sha384"),
    ("openssl", &["dgst", "-sha512"], "sha512"),
    ("openssl", &["dgst", "-sha512-224"], "sha512-224"),
    ("openssl", &["dgst", "-sha512-256"], "sha512-256"),
    ("openssl", &["dgst", "-sha3-224"], "sha3-224"),
    ("openssl", &["dgst", "-sha3-256"], "sha3-256"),
    ("openssl", &["dgst", "-sha3-384"], "sha3-384"),
    ("openssl", &["dgst", "-sha3-512"], "sha3-512"),
    ("openssl", &["dgst", "-blake2b512"], "blake2b"),
    ("openssl", &["dgst", "-blake2s256"], "blake2s"),
    ("openssl", &["dgst", "-sm3"], "sm3"),
    (
        "openssl",
        &[
            "dgst",
            "-provider",
            "legacy",
            "-provider",
            "default",
            "-rmd160",
        ],
        "ripemd160",
    ),
    (
        "openssl",
        &[
            "dgst",
            "-provider",
            "legacy",
            "-provider",
            "default",
            "-whirlpool",
        ],
        "whirlpool",
    ),
    ("rhash", &["--simple", "--md5", "-"], "md5"),
    ("rhash", &["--simple", "--sha1", "-"], "sha1"),
    ("rhash", &["--simple", "--sha224", "-"], "sha224"),
    ("rhash", &["--simple", "--sha256", "-"], "sha256"),
    ("rhash", &["--simple", "--sha384", "-"], "sha384"),
    ("rhash", &["--simple", "--sha512", "-"], "sha512"),
    ("rhash", &["--simple", "--sha3-224", "-"], "sha3-224"),
    ("rhash", &["--simple", "--sha3-256", "-"], "sha3-256"),
    ("rhash", &["--simple", "--sha3-384", "-"], "sha3-384"),
    ("rhash", &["--simple", "--sha3-512", "-"], "sha3-512"),
    ("rhash", &["--simple", "--blake2b", "-"], "blake2b"),
    ("rhash", &["--simple", "--blake2s", "-"], "blake2s"),
    ("rhash", &["--simple", "--crc32", "-"], "crc32"),
    ("rhash", &["--simple", "--crc32c", "-"], "crc32c"),
    ("rhash", &["--simple", "--ripemd160", "-"], "ripemd160"),
    ("rhash", &["--simple", "--tiger", "-"], "tiger"),
    ("rhash", &["--simple", "--whirlpool", "-"], "whirlpool"),
    ("hashdeep", &["-s", "-c", "md5"], "md5"),
    ("hashdeep", &["-s", "-c", "sha1"], "sha1"),
    ("hashdeep", &["-s", "-c", "sha256"], "sha256"),
    ("hashdeep", &["-s", "-c", "tiger"], "tiger"),
    ("hashdeep", &["-s", "-c", "whirlpool"], "whirlpool"),
    ("xxhsum", &["-H0"], "xxh32"),
    ("xxhsum", &["-H1"], "xxh64"),
    ("xxhsum", &["-H2"], "xxh128"),
    ("xxhsum", &["-H3"], "xxh3"),
];

/// The last word of `output` that is as many hexadecimal digits as the algorithm has; for the POSIX
/// checksum the first word, which is decimal.
fn digest_in(output: &[u8], algorithm: Algorithm) -> Option<Vec<u8>> {
    if algorithm == Algorithm::Cksum {
        let words = std::str::from_utf8(output).ok()?;
        let value: u32 = words.split(' ').next()?.parse().ok()?;
        return Some(value.to_be_bytes().to_vec());
    }
    output
        .split(|byte| !byte.is_ascii_alphanumeric())
        .filter(|word| word.len() == 2 * algorithm.digest_len_bytes())
        .filter_map(hex::decode)
        .next_back()
}

fn agree(tool: &Tool, args: &[&str], algorithm: Algorithm) {
    let block = usize::from(algorithm.info().block_len_bytes);
    for length in lengths(block) {
        let input = painted(length);
        let Some(output) = tool.output(args, &input) else {
            skipped(&format!("{tool:?} refuses {args:?}"));
            return;
        };
        let mut hasher = new_hasher(algorithm);
        hasher.update(&input);
        assert_eq!(
            digest_in(&output, algorithm).as_deref(),
            Some(hasher.finish().as_bytes()),
            "{tool:?} {args:?}, {length} bytes: {}",
            output.escape_ascii()
        );
    }
}

fn agree_with(name: &str) {
    let Some(tool) = tool(name) else { return };
    let rows: Vec<&Row> = ROWS.iter().filter(|row| row.0 == name).collect();
    assert!(!rows.is_empty(), "{name}: nothing to compare");
    for (_, args, algorithm) in rows {
        agree(&tool, args, algorithm.parse().unwrap());
    }
}

macro_rules! agree_with {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            agree_with(stringify!($name));
        })*

        #[test]
        fn no_tool_of_the_table_is_forgotten() {
            let tested = [$(stringify!($name)),*];
            for (name, ..) in ROWS {
                assert!(tested.contains(name), "{name}");
            }
        }
    };
}

agree_with! {
    md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum b3sum cksum openssl rhash hashdeep
    xxhsum
}

#[test]
fn every_algorithm_meets_a_tool() {
    for algorithm in Algorithm::all() {
        let met = ROWS
            .iter()
            .any(|(_, _, name)| name.parse() == Ok(algorithm));
        assert!(met, "{algorithm}: no tool to compare with");
    }
}
