//! Formats of one line a file: hashdeep, md5deep, SFV, RHash, magnet links, cksum, SRI, base64.

use crate::common::skipped;
use crate::harness::{Cmd, Tree, name};

/// Files whose names every tool can carry.
const PLAIN: [&str; 4] = ["a", "b c", "d/(e) = f", "empty"];

fn plain_tree() -> Tree {
    let tree = Tree::new();
    for (index, path) in PLAIN.iter().enumerate() {
        tree.painted(path, 3000 * (3 - index));
    }
    tree
}

/// A list that somebody else wrote verifies as it is and fails after a flipped byte, and is taken for
/// what it is.
fn verifies(tree: &Tree, list: &str, format: &str, files: usize, what: &str) {
    let good = tree.cmd(["verify", "-v", list]).run();
    assert_eq!(good.code, Some(0), "{what}: {good}");
    good.stdout_any()
        .stderr_has(&format!("{list}: format {format} ("))
        .stderr_has(&format!("{files} ok; base .;"))
        .check();
    tree.flip("b c", 5999);
    let bad = tree.cmd(["verify", list]).run();
    assert_eq!(bad.code, Some(1), "{what}: {bad}");
    bad.stdout_has("b c  ").stderr_any().code(1).check();
    tree.flip("b c", 5999);
}

/// A program, its arguments before the names, the name of the list, and the format.
type Row = (&'static str, &'static str, &'static str, &'static str);

const WRITERS: &[Row] = &[
    ("hashdeep", "-l", "list", "hashdeep"),
    ("hashdeep", "-l -c tiger", "list", "hashdeep"),
    (
        "hashdeep",
        "-l -c md5,sha1,sha256,tiger,whirlpool",
        "list.txt",
        "hashdeep",
    ),
    ("md5deep", "-l", "list", "gnu"),
    ("md5deep", "-l -z", "list", "md5deep"),
    ("md5deep", "-l -t", "list", "md5deep"),
    ("md5deep", "-l -z -t", "list", "md5deep"),
    ("md5deep", "-l -c", "list", "md5deep"),
    ("md5deep", "-l -z -c", "list", "md5deep"),
    ("md5deep", "-l -z -t -c", "list", "md5deep"),
    ("md5deep", "-l -0", "list", "gnu-zero"),
    ("sha1deep", "-l -z", "list", "md5deep"),
    ("sha256deep", "-l -c", "list", "md5deep"),
    ("tigerdeep", "-l -z", "list", "md5deep"),
    ("whirlpooldeep", "-l -z", "list", "md5deep"),
    ("cksfv", "", "list.sfv", "sfv"),
    ("cksfv", "", "list", "sfv"),
    ("rhash", "--sfv", "list.sfv", "sfv"),
    ("rhash", "--sfv", "list", "sfv"),
    ("rhash", "--simple --crc32 --md5 --sha1", "list", "rhash"),
    ("rhash", "--simple --md5 --crc32c", "list", "rhash"),
    (
        "rhash",
        "--simple --sha1 --ripemd160 --sha256 --sha3-256 --sha512 --whirlpool",
        "list",
        "rhash",
    ),
    (
        "rhash",
        "--simple --tiger --blake2s --blake2b",
        "list",
        "rhash",
    ),
    ("cksum", "", "list", "cksum"),
    ("cksum", "", "list.txt", "cksum"),
];

#[test]
fn lists_of_other_programs_are_read_with_nothing_but_their_name() {
    for (program, args, list, format) in WRITERS {
        let tree = plain_tree();
        let args = args.split(' ').filter(|arg| !arg.is_empty()).chain(PLAIN);
        let Some(tool) = tree.tool(program, args.clone()) else {
            continue;
        };
        let written = tool.run();
        let what = format!("{program} {:?}", args.collect::<Vec<_>>());
        if written.code != Some(0) {
            skipped(&format!("{what}: {written}"));
            continue;
        }
        tree.file(list, &written.stdout);
        written.stdout_any().stderr_any().check();
        verifies(&tree, list, format, 4, &what);
    }
}

#[test]
fn magnet_links_of_rhash_are_read() {
    let tree = plain_tree();
    let args = "--magnet --crc32 --md5 --sha1 --tiger --sha256 --sha3-256 --sha512 --whirlpool \
                --ripemd160 --blake2b --blake2s --crc32c";
    let files = ["a", "b c", "empty"];
    let Some(tool) = tree.tool(
        "rhash",
        args.split(' ').filter(|a| !a.is_empty()).chain(files),
    ) else {
        return;
    };
    let written = tool.run();
    tree.file("list", &written.stdout);
    written.stdout_any().check();
    verifies(&tree, "list", "magnet", 3, args);
}

#[test]
fn of_digests_of_one_length_the_asked_one_alone_is_compared() {
    let tree = plain_tree();
    let Some(tool) = tree.tool("rhash", "--simple --sha1 --ripemd160 a".split(' ')) else {
        return;
    };
    let written = tool.run();
    tree.file("list", &written.stdout);
    written.stdout_any().check();
    for algorithm in ["sha1", "ripemd160"] {
        let output = tree.cmd(["verify", "-a", algorithm, "list"]).run();
        output
            .stdout_any()
            .stderr_has(&format!("1 ok; base .; {algorithm}"))
            .check();
    }
    let output = tree.cmd(["verify", "-a", "sha256", "list"]).run();
    output
        .stdout_has("unverified  a")
        .stderr_any()
        .code(2)
        .check();
}

#[test]
fn a_link_with_a_digest_that_is_not_computed_here_proves_nothing() {
    let tree = plain_tree();
    for args in ["--magnet --md5 --ed2k", "--ed2k-link"] {
        let Some(tool) = tree.tool("rhash", args.split(' ').chain(["b c"])) else {
            return;
        };
        let written = tool.run();
        tree.file("list", &written.stdout);
        written.stdout_any().check();
        let output = tree.cmd(["verify", "list"]).run();
        output
            .stdout(
                "unverified  b c: a ed2k digest cannot be computed; -a names one of the others\n",
            )
            .stderr_any()
            .code(2)
            .check();
    }
}

/// A script that prints a list of the files, and the rest of a row.
const SCRIPTS: &[(&str, &str, &str)] = &[
    (
        r#"printf '%s  %s\n' "$(digest sha256 "$f")" "$f""#,
        "SHA256SUMS",
        "gnu",
    ),
    (
        r#"printf '%s  %s\n' "$(digest sha384 "$f")" "$f""#,
        "list",
        "gnu",
    ),
    (
        r#"printf '%s  %s\n' "$(digest md5 "$f" | tr /+ _-)" "$f""#,
        "list",
        "gnu",
    ),
    (
        r#"printf 'SHA256 (%s) = %s\n' "$f" "$(digest sha256 "$f")""#,
        "list",
        "bsd",
    ),
    (
        r#"printf 'sha384-%s %s\n' "$(digest sha384 "$f")" "$f""#,
        "list",
        "sri",
    ),
    (
        r#"printf 'sha256-%s sha512-%s  %s\n' "$(digest sha256 "$f")" "$(digest sha512 "$f")" "$f""#,
        "list",
        "sri",
    ),
];

/// The standard base64 of a digest in one line.
const DIGEST: &str = r#"digest() { openssl dgst -"$1" -binary "$2" | openssl base64 -A; }"#;

#[test]
fn digests_in_base64_are_read() {
    for (script, list, format) in SCRIPTS {
        let tree = plain_tree();
        if tree.tool("openssl", ["version"]).is_none() {
            return;
        }
        let script = format!("{DIGEST}; for f in a 'b c' 'd/(e) = f' empty; do {script}; done");
        let written = tree.shell(&script).run();
        tree.file(list, &written.stdout);
        written.stdout_any().check();
        verifies(&tree, list, format, 4, &script);
    }
}

#[test]
fn digests_in_base64_are_written_as_openssl_writes_them() {
    let tree = plain_tree();
    if tree.tool("openssl", ["version"]).is_none() {
        return;
    }
    for (options, script) in [
        (
            "-f gnu",
            r#"printf '%s  %s\n' "$(digest sha256 "$f")" "$f""#,
        ),
        (
            "-f bsd",
            r#"printf 'SHA256 (%s) = %s\n' "$f" "$(digest sha256 "$f")""#,
        ),
    ] {
        let expected = tree
            .shell(&format!(
                "{DIGEST}; for f in a 'b c' 'd/(e) = f' empty; do {script}; done"
            ))
            .run();
        let args = ["hash", "-a", "sha256", "--base64"].into_iter();
        let output = tree.cmd(args.chain(options.split(' ')).chain(PLAIN)).run();
        output.stdout(&expected.stdout).stderr_any().check();
        expected.stdout_any().check();
    }
}

#[test]
fn a_list_of_nothing_but_a_digest_is_of_the_file_that_it_is_named_after() {
    let tree = plain_tree();
    for (program, list) in [("sha256sum", "b c.sha256"), ("md5sum", "b c.checksum")] {
        let script = format!("{program} <'b c' | cut -d' ' -f1");
        let written = tree.shell(&script).run();
        tree.file(list, &written.stdout);
        written.stdout_any().check();
        verifies(&tree, list, "bare", 1, &script);
    }
}

#[test]
fn sums_of_16_bits_are_refused_by_their_number_of_bits() {
    let tree = plain_tree();
    for algorithm in ["bsd", "sysv"] {
        let Some(tool) = tree.tool("cksum", ["-a", algorithm, "a", "b c"]) else {
            return;
        };
        let written = tool.run();
        tree.file("list", &written.stdout);
        written.stdout_any().check();
        let output = tree.cmd(["verify", "list"]).run();
        output
            .stdout_has("list:1: a digest of 16 bits proves nothing")
            .stdout_has("list:2: ")
            .stderr_any()
            .code(2)
            .check();
    }
}

/// Names that hold a piece of one of these formats, and no line break.
fn hostile_tree() -> Tree {
    let tree = Tree::new();
    let names: [&[u8]; 12] = [
        b"plain",
        b"back\\slash",
        b"cr\rx",
        b" lead",
        b"trail ",
        b"tab\tx",
        b"\xff\xfe",
        b"a,b,c",
        b"x 8CDC1683",
        b"*star",
        b"%41&xt=urn:md5:00",
        b"+plus",
    ];
    for bytes in names {
        tree.painted(name(bytes), 100 + bytes.len());
    }
    tree
}

#[test]
fn hashdeep_audits_our_lists() {
    for algorithms in ["md5", "sha256,md5", "tiger,whirlpool,sha1"] {
        let tree = hostile_tree();
        let hashed = tree
            .cmd([
                "hash", "-a", algorithms, "-f", "hashdeep", "-C", ".", "-o", "../L",
            ])
            .run();
        hashed.stderr_has("hashed 12 files").check();
        let audit = || tree.tool("hashdeep", ["-l", "-a", "-k", "../L"]);
        let with_names = || Some(tree.list().into_iter().fold(audit()?, Cmd::arg));
        let Some(tool) = with_names() else { return };
        tool.run().stdout("hashdeep: Audit passed\n").check();
        let output = tree.cmd(["verify", "-C", ".", "--exact", "../L"]).run();
        output.stderr_has("12 ok; base .;").check();
        tree.flip("plain", 7);
        let output = with_names().unwrap().run();
        output.stdout("hashdeep: Audit failed\n").code(1).check();
    }
}

#[test]
fn a_second_digest_that_differs_is_found_which_hashdeep_does_not_do() {
    let tree = plain_tree();
    let hashed = tree
        .cmd(["hash", "-a", "md5,sha256", "-f", "hashdeep", "-o", "L", "a"])
        .run();
    hashed.stderr_any().check();
    let list = String::from_utf8(tree.read("L")).unwrap();
    let last = list.rfind(',').unwrap();
    let other = if list.as_bytes()[last - 1] == b'0' {
        "1"
    } else {
        "0"
    };
    let mut forged = list.clone();
    forged.replace_range(last - 1..last, other);
    tree.file("L", &forged);
    let output = tree.cmd(["verify", "L"]).run();
    output
        .stdout_has("changed     a  (sha256: ")
        .stderr_any()
        .code(1)
        .check();
    let mut longer = list;
    let size = longer.find("\n9000,").unwrap();
    longer.replace_range(size + 1..size + 5, "9001");
    tree.file("L", &longer);
    let output = tree.cmd(["verify", "L"]).run();
    output
        .stdout_has("changed     a  ")
        .stderr_any()
        .code(1)
        .check();
}

#[test]
fn a_name_that_would_forge_a_line_is_not_written_for_hashdeep() {
    let tree = Tree::new();
    tree.painted(name(b"new\nline"), 10);
    let output = tree.cmd(["hash", "-a", "md5", "-f", "hashdeep", "."]).run();
    assert!(
        !output.stdout.windows(5).any(|piece| piece == b"\nline"),
        "{output}"
    );
    output
        .stdout_any()
        .stderr_has("format hashdeep cannot hold a line break in a name")
        .code(2)
        .check();
}

/// Ours, written into the tree; the program that checks it, and what it says of a flipped byte.
const CHECKERS: &[(&str, &str, &str, &str)] = &[
    ("crc32", "L.sfv", "cksfv", "-q -f"),
    ("crc32", "L.sfv", "rhash", "--skip-ok --brief -c"),
    ("crc32", "L.sfv", "cfv", "-q -f"),
    (
        "md5,sha1,sha256",
        "L.magnet",
        "rhash",
        "--skip-ok --brief -c",
    ),
    (
        "crc32,tiger,sha512,blake2b",
        "L.magnet",
        "rhash",
        "--skip-ok --brief -c",
    ),
];

#[test]
fn other_programs_accept_our_lists() {
    for (algorithms, list, program, args) in CHECKERS {
        let tree = plain_tree();
        let hashed = tree.cmd(["hash", "-a", algorithms, "-o", list, "."]).run();
        hashed.stderr_any().check();
        let check = || tree.tool(program, args.split(' ').chain([*list]));
        let Some(tool) = check() else { continue };
        let output = tool.run();
        assert_eq!(output.code, Some(0), "{program}: {output}");
        output.stdout_any().stderr_any().check();
        tree.flip("b c", 0);
        let output = check().unwrap().run();
        assert!(
            output.code.is_some_and(|code| code > 0),
            "{program}: {output}"
        );
        let code = output.code.unwrap();
        output.stdout_any().stderr_any().code(code).check();
    }
}

#[test]
fn hostile_names_come_back_from_our_own_lists() {
    for (algorithms, list) in [("crc32", "L.sfv"), ("md5,sha1", "L.magnet")] {
        let tree = hostile_tree();
        tree.painted(name(b"new\nline"), 10)
            .painted("#hash", 5)
            .painted(";semi", 6);
        let hashed = tree.cmd(["hash", "-a", algorithms, "-o", list, "."]).run();
        hashed.stderr_any().check();
        let output = tree.cmd(["verify", "--exact", list]).run();
        output.stderr_has(": 15 ok; base .;").check();
        tree.flip(name(b"new\nline"), 3);
        let output = tree.cmd(["verify", list]).run();
        output
            .stdout_has("  new\\nline  ")
            .stderr_any()
            .code(1)
            .check();
    }
}
