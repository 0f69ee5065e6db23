//! Lists of other programs read here, and ours read there; a flipped byte is found both ways.

use std::ffi::OsString;

use crate::common::skipped;
use crate::harness::{Tree, name};

/// Files whose names every tool can carry.
const PLAIN: [&str; 4] = ["a", "b c", "d/(e) = f", "empty"];

fn plain_tree() -> Tree {
    let tree = Tree::new();
    for (index, path) in PLAIN.iter().enumerate() {
        tree.painted(path, 3000 * (3 - index));
    }
    tree
}

/// A program, its arguments before the names, and the name of the list, which is all that `verify`
/// is told.
type Row = (&'static str, &'static str, &'static str);

const WRITERS: &[Row] = &[
    ("md5sum", "", "MD5SUMS"),
    ("sha1sum", "", "SHA1SUMS"),
    ("sha224sum", "", "SHA224SUMS"),
    ("sha256sum", "", "SHA256SUMS"),
    ("sha256sum", "-b", "list.sha256"),
    ("sha256sum", "-z", "list.sha256"),
    ("sha384sum", "", "list.txt"),
    ("sha512sum", "", "SHA512SUMS"),
    ("sha512sum", "--tag", "list"),
    ("b2sum", "", "B2SUMS"),
    ("b2sum", "-l 256 --tag", "list"),
    ("b3sum", "", "list.b3"),
    ("cksum", "--tag -a md5", "list"),
    ("cksum", "--tag -a sha1", "list"),
    ("cksum", "--tag -a sha224", "list"),
    ("cksum", "--tag -a sha384", "list"),
    ("cksum", "--tag -a blake2b", "list"),
    ("cksum", "--tag -a blake2b -l 160", "list"),
    ("cksum", "--tag -a sm3", "list"),
    ("openssl", "dgst -sha256", "list"),
    ("openssl", "dgst -sha512-256", "list"),
    ("openssl", "dgst -sha3-384", "list"),
    ("openssl", "dgst -blake2s256", "list"),
    ("openssl", "dgst -md5 -r", "list.md5"),
    ("openssl", "dgst -sha256 -r", "list"),
    ("shasum", "", "list.sha1"),
    ("shasum", "-a 256", "list"),
    ("shasum", "-a 512 -b", "list"),
    ("shasum", "--tag -a 384", "list"),
    ("rhash", "--md5", "list.md5"),
    ("rhash", "--sha256", "list.sha256"),
    ("rhash", "--sha3-256", "list"),
    ("rhash", "--bsd --sha1", "list"),
    ("rhash", "--bsd --md5 --sha256 --whirlpool", "list"),
    ("xxhsum", "-H2", "list.xxh128"),
];

#[test]
fn lists_of_other_programs_are_read_with_nothing_but_their_name() {
    for (program, args, list) in WRITERS {
        let tree = plain_tree();
        let args = args.split(' ').filter(|arg| !arg.is_empty()).chain(PLAIN);
        let Some(tool) = tree.tool(program, args.clone()) else {
            continue;
        };
        let written = tool.run();
        if written.code != Some(0) {
            skipped(&format!("{written}"));
            continue;
        }
        let what = format!("{program} {:?}", args.collect::<Vec<_>>());
        tree.file(list, &written.stdout);
        written.stdout_any().stderr_any().check();
        let good = tree.cmd(["verify", list]).run();
        assert_eq!(good.code, Some(0), "{what}: {good}");
        good.stderr_has("4 ok; base .;").check();
        tree.flip("b c", 5999);
        let bad = tree.cmd(["verify", list]).run();
        assert_eq!(bad.code, Some(1), "{what}: {bad}");
        bad.stdout_has("changed     b c  ")
            .stderr_has("3 ok, 1 changed")
            .code(1)
            .check();
    }
}

/// Names that take an escape in a list, or look like a piece of one.
fn hostile_tree() -> (Tree, usize) {
    let tree = Tree::new();
    let names: [&[u8]; 14] = [
        b"plain",
        b"new\nline",
        b"back\\slash",
        b"cr\r",
        b"\\",
        b"\n",
        b" lead",
        b"trail ",
        b"tab\t",
        b"\xff\xfe",
        b"x) = y",
        b"# not a comment",
        b"*star",
        b"esc\x1b[2J",
    ];
    for bytes in names {
        tree.painted(name(bytes), 100 + bytes.len());
    }
    (tree, names.len())
}

/// Our algorithm and format, and the program that checks the list.
const CHECKERS: &[(&str, &str, &str, &str)] = &[
    ("md5", "gnu", "md5sum", "--strict --quiet -c"),
    ("sha1", "gnu", "sha1sum", "--strict --quiet -c"),
    ("sha224", "gnu", "sha224sum", "--strict --quiet -c"),
    ("sha256", "gnu", "sha256sum", "--strict --quiet -c"),
    ("sha384", "gnu", "sha384sum", "--strict --quiet -c"),
    ("sha512", "gnu", "sha512sum", "--strict --quiet -c"),
    ("blake2b", "gnu", "b2sum", "--strict --quiet -c"),
    ("sha256", "bsd", "sha256sum", "--strict --quiet -c"),
    (
        "md5,sha256,sha512",
        "bsd",
        "cksum",
        "--strict --quiet --check",
    ),
    ("blake2b,sm3", "bsd", "cksum", "--strict --quiet --check"),
    ("blake2b-160", "bsd", "cksum", "--strict --quiet --check"),
];

#[test]
fn other_programs_accept_our_lists_whatever_the_names() {
    for (algorithm, format, program, args) in CHECKERS {
        let (tree, count) = hostile_tree();
        let hashed = tree
            .cmd([
                "hash", "-a", algorithm, "-f", format, "-C", ".", "-o", "../L",
            ])
            .run();
        hashed.stderr_has(&format!("hashed {count} files")).check();
        let check = || tree.tool(program, args.split(' ').chain(["../L"]));
        let Some(tool) = check() else { continue };
        tool.run().check();
        tree.flip("plain", 7);
        let output = check().unwrap().run();
        output
            .stdout_has("plain: FAILED")
            .stderr_any()
            .code(1)
            .check();
    }
}

#[test]
fn hostile_names_come_back_from_coreutils() {
    for (program, args) in [
        ("sha256sum", ""),
        ("sha256sum", "-z"),
        ("sha256sum", "--tag"),
    ] {
        let (tree, count) = hostile_tree();
        let options = args
            .split(' ')
            .filter(|arg| !arg.is_empty())
            .map(OsString::from);
        let names = tree.list().into_iter().map(OsString::from);
        let all: Vec<OsString> = options.chain(["--".into()]).chain(names).collect();
        let Some(tool) = tree.tool(program, all) else {
            return;
        };
        let written = tool.run();
        tree.file("../L.sha256", &written.stdout);
        written.stdout_any().check();
        let output = tree
            .cmd(["verify", "-C", ".", "--exact", "../L.sha256"])
            .run();
        output.stderr_has(&format!(": {count} ok; base .;")).check();
    }
}

#[test]
fn programs_beside_coreutils_accept_our_lists() {
    for (algorithm, list, program, args) in [
        ("blake3", "../L", "b3sum", "--quiet --check"),
        ("sha256", "../L", "shasum", "-a 256 -s -c"),
        ("sha512", "../L", "shasum", "-a 512 -s -c"),
        ("md5", "../L.md5", "rhash", "--skip-ok --brief -c"),
    ] {
        let tree = plain_tree();
        let hashed = tree
            .cmd(["hash", "-a", algorithm, "-C", ".", "-o", list])
            .run();
        hashed.stderr_any().check();
        let check = || tree.tool(program, args.split(' ').chain([list]));
        let Some(tool) = check() else { continue };
        tool.run().stdout_any().stderr_any().check();
        tree.flip("b c", 0);
        let output = check().unwrap().run();
        output.stdout_any().stderr_any().code(1).check();
    }
}
