//! JSON Lines, JSON, CSV, PowerShell, certutil, rclone, bills of materials.

use std::fs;
use std::path::Path;

use crate::common::skipped;
use crate::harness::{Cmd, SHA256_OF_ABC, Tree, name};

/// What `verify -v` says: all is well, and which format it is.
#[track_caller]
fn is_well(cmd: Cmd, format: &str, summary: &str) {
    let output = cmd.arg("-v").run();
    assert_eq!(output.code, Some(0), "{output}");
    let format = format!("format {format} (");
    output
        .stdout_any()
        .stderr_has(&format)
        .stderr_has(summary)
        .check();
}

/// What `verify` says after a byte was flipped.
#[track_caller]
fn finds_a_difference(cmd: Cmd) {
    let output = cmd.run();
    assert_eq!(output.code, Some(1), "{output}");
    output.stdout_any().stderr_any().code(1).check();
}

fn hostile_tree() -> Tree {
    let tree = Tree::new();
    for bytes in [
        &b"a"[..],
        b"d/b, \"c\"",
        b"new\nline",
        b"\xff",
        b"back\\slash",
        b" ",
    ] {
        tree.file(name(&[b"x/", bytes].concat()), bytes);
    }
    tree
}

#[test]
fn formats_of_ours_are_verified_with_nothing_but_their_name() {
    for format in ["jsonl", "json", "csv"] {
        let tree = hostile_tree();
        let list = format!("x/tree.{format}");
        let args = ["hash", "-a", "md5,sha256,blake3", "-o", &list, "x"];
        tree.cmd(args).run().stderr_any().check();
        is_well(tree.cmd(["verify", &list]), format, "6 ok; base x");
        fs::rename(tree.path("x"), tree.path("y")).unwrap();
        let moved = format!("y/tree.{format}");
        is_well(tree.cmd(["verify", &moved]), format, "6 ok; base y");
        is_well(
            tree.cmd(["verify", "-C", "y", &moved]),
            format,
            "6 ok; base y",
        );
        tree.flip("y/d/b, \"c\"", 0);
        finds_a_difference(tree.cmd(["verify", &moved]));
    }
}

/// The documented spelling of a native manifest, with the SHA-256 of its lines by another program.
#[test]
fn the_native_manifest_says_what_was_walked_and_seals_it() {
    let tree = Tree::new();
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    tree.file("photos/a/b.jpg", "abc")
        .modified("photos/a/b.jpg", time);
    tree.file("globs", "# comment\n*.bak  \n");
    let args = [
        "hash",
        "-o",
        "photos/tree.jsonl",
        "--exclude",
        "*.tmp",
        "--exclude-from",
        "globs",
        "--max-depth",
        "7",
        "./photos",
    ];
    let run = tree.cmd(args).env("SOURCE_DATE_EPOCH", "1767323045");
    run.run().stderr_any().check();
    let text = String::from_utf8(tree.read("photos/tree.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let [head, entry, closing] = lines[..] else {
        panic!("{text}");
    };
    assert_eq!(
        head,
        r#"{"multisum":1,"algorithms":["sha256"],"base":".","paths":["."],"scope":{"exclude":["*.tmp","*.bak"],"links":"skip","one_file_system":false,"max_depth":7},"created":"2026-01-02T03:04:05Z"}"#
    );
    let mtime = "2023-11-14T22:13:20.000000000Z";
    assert_eq!(
        entry,
        format!(r#"{{"path":"a/b.jpg","size":3,"mtime":"{mtime}","sha256":"{SHA256_OF_ABC}"}}"#)
    );
    let Some(tool) = tree.tool("sha256sum", ["-"]) else {
        return;
    };
    let above = tool.stdin(format!("{head}\n{entry}\n")).run();
    let digest = String::from_utf8(above.stdout[..64].to_vec()).unwrap();
    above.stdout_any().check();
    let expected = format!(r#"{{"files":1,"bytes":3,"gaps":0,"sha256":"{digest}"}}"#);
    assert_eq!(closing, expected);
}

#[test]
fn the_base_is_recorded_relative_where_it_can_be() {
    let recorded = |tree: &Tree, list: &str| {
        let text = String::from_utf8(tree.read(list)).unwrap();
        let (_, rest) = text.split_once("\"base\":\"").unwrap();
        rest.split_once('"').unwrap().0.replace(
            tree.path("").to_str().unwrap().trim_end_matches('/'),
            "[TREE]",
        )
    };
    let absolute = |tree: &Tree| tree.path("x/d").to_str().unwrap().to_owned();
    for (cwd, list, arguments, base) in [
        ("", "m.jsonl", "-C x -o m.jsonl", "x"),
        ("", "x/m.jsonl", "-C x -o x/m.jsonl .", "."),
        ("", "o/m.jsonl", "-C x -o o/m.jsonl d a", "[TREE]/x"),
        ("", "o/m.jsonl", "-o o/m.jsonl x", "[TREE]"),
        ("o", "o/m.jsonl", "-o m.jsonl ../x", "[TREE]/x"),
        ("o", "o/m.jsonl", "-o m.jsonl ../x/a ABSOLUTE", "[TREE]/x"),
        ("", "o/m.jsonl", "-o o/m.jsonl ABSOLUTE/e", "[TREE]/x/d"),
    ] {
        let tree = Tree::new();
        tree.file("x/d/e", "e").file("x/a", "a").dir("o");
        let arguments = arguments.replace("ABSOLUTE", &absolute(&tree));
        let hashed = tree
            .cmd(["hash"].into_iter().chain(arguments.split(' ')))
            .cwd(cwd)
            .run();
        hashed.stderr_any().check();
        assert_eq!(recorded(&tree, list), base, "{arguments}");
        is_well(tree.cmd(["verify", list]).cwd(""), "jsonl", " ok; base ");
    }
}

#[test]
fn names_that_a_native_manifest_would_refuse_are_refused_at_once() {
    let tree = Tree::new();
    tree.file("x/a", "a").dir("o");
    let out = tree
        .cmd(["hash", "-C", "x", "-o", "o/m.jsonl", "../o"])
        .run();
    out.stderr_has("no name in a native manifest may lead out of its base")
        .code(2)
        .check();
    let two = tree
        .cmd(["hash", "-o", "m.jsonl", "-o", "SHA256SUMS", "../x"])
        .cwd("o")
        .run();
    two.stderr_has("give a --base").code(2).check();
    assert!(tree.names_in("o").is_empty());
    let date = tree
        .cmd(["hash", "x"])
        .env("SOURCE_DATE_EPOCH", "today")
        .run();
    date.stderr_has("SOURCE_DATE_EPOCH").code(2).check();
}

#[test]
fn a_native_manifest_that_was_cut_or_edited_is_named() {
    let tree = Tree::new();
    tree.file("a", "a").file("b", "b");
    tree.cmd(["hash", "-o", "tree.jsonl"])
        .run()
        .stderr_any()
        .check();
    let text = String::from_utf8(tree.read("tree.jsonl")).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let said = |changed: String, message: &str| {
        tree.file("tree.jsonl", changed);
        let found = tree.cmd(["verify", "tree.jsonl"]).run();
        found.stdout_has(message).stderr_any().code(2).check();
    };
    said(
        lines[..3].concat(),
        "the manifest is incomplete: it has no closing record",
    );
    said(
        [lines[0], lines[1], lines[3]].concat(),
        "the manifest was altered: it lists 1 files and not 2",
    );
    said(
        [lines[0], lines[2], lines[1], lines[3]].concat(),
        "the manifest was altered: its lines",
    );
    said([&text, lines[1]].concat(), "text after the closing record");
    said(lines[1..].concat(), "its first line is missing");
}

#[test]
fn a_file_that_could_not_be_read_is_a_gap_in_each_of_our_formats() {
    for format in ["jsonl", "json", "csv"] {
        let tree = Tree::new();
        tree.file("x/a", "a")
            .file("x/closed", "b")
            .mode("x/closed", 0)
            .mode("", 0o777);
        let list = format!("tree.{format}");
        let Some(cmd) = tree.cmd(["hash", "-o", &list, "x"]).unprivileged() else {
            return;
        };
        cmd.run().stdout_any().stderr_any().code(2).check();
        tree.mode("x/closed", 0o644);
        let found = tree.cmd(["verify", &list]).run();
        let gap = "unverified  x/closed: recorded as not hashed; 'multisum update' hashes what can be read now";
        found.stdout_has(gap).stderr_has("1 ok").code(2).check();
    }
}

/// A fixture, the name to give it, its format, and the files of it that are ok.
const READ: &[(&str, &str, &str)] = &[
    ("csv/cfv.csv", "cfv.csv", "csv"),
    ("csv/cfv.csv4", "list", "csv"),
    ("powershell/table.txt", "list", "powershell"),
    ("powershell/list.txt", "list", "powershell"),
    ("powershell/type.csv", "list.csv", "powershell"),
    ("powershell/plain.csv", "list", "powershell"),
    ("powershell/array.json", "list.json", "powershell"),
    ("certutil/english.txt", "list", "certutil"),
    ("certutil/old.txt", "list", "certutil"),
    ("certutil/german.txt", "list", "certutil"),
    ("rclone/lsjson.json", "list", "rclone"),
    ("spdx/tree.spdx.json", "list", "spdx"),
    ("spdx/tree.spdx", "list", "spdx"),
    ("spdx/tree3.spdx.json", "list", "spdx"),
    ("cyclonedx/bom.json", "list", "cyclonedx"),
    ("in-toto/statement.json", "list", "in-toto"),
    ("in-toto/envelope.json", "list", "in-toto"),
    ("in-toto/lines.intoto.jsonl", "list.intoto.jsonl", "in-toto"),
];

fn fixture(path: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/manifests");
    fs::read(folder.join(path)).unwrap()
}

#[test]
fn documents_of_other_programs_are_read_with_nothing_but_their_name() {
    for (path, list, format) in READ {
        let tree = Tree::new();
        tree.file("a.txt", "hello\n").file("d/sp ace.txt", "x");
        tree.file(list, fixture(path));
        is_well(tree.cmd(["verify", list]), format, " ok; base .");
        tree.flip("d/sp ace.txt", 0);
        finds_a_difference(tree.cmd(["verify", list]));
    }
}

#[test]
fn a_single_object_of_powershell_is_read_and_cut_off_rows_are_refused() {
    let tree = Tree::new();
    tree.file("a.txt", "hello\n")
        .file("list", fixture("powershell/single.json"));
    is_well(tree.cmd(["verify", "list"]), "powershell", "1 ok");
    tree.file("list", fixture("powershell/cut-off.txt"));
    let cut = tree.cmd(["verify", "list"]).run();
    let reason = "cut off by the width of the console";
    cut.stdout_has(reason).stderr_any().code(2).check();
}

/// Digests that say nothing good of a file must not be passed over beside one that is right.
#[test]
fn digests_in_unexpected_places_are_never_passed_over() {
    const MD5: &str = "b1946ac92492d2347c6235b4d2611184";
    let ok = format!(r#"{{"Path":"a.txt","Hashes":{{"md5":"{MD5}"}}}}"#);
    let folder = format!(r#"{{"Path":"d","IsDir":true,"Hashes":{{"md5":"{MD5}"}}}}"#);
    let object = format!(r#""Algorithm":"MD5","Hash":"{MD5}","Path":"a.txt""#);
    let hashes = format!(r#""hashes":[{{"alg":"MD5","content":"{MD5}"}}]"#);
    let file = format!(r#"{{"type":"file","name":"a.txt",{hashes}}}"#);
    let subject = format!(r#"{{"name":"a.txt","digest":{{"md5":"{MD5}"}}}}"#);
    let statement = r#"{"_type":"https://in-toto.io/Statement/v1""#;
    for text in [
        format!("[{ok},{folder}]"),
        format!(r#"{{{object},"more":[{{{object}}}]}}"#),
        format!(r#"{{"bomFormat":"CycloneDX","components":[{file},{{"name":"b",{hashes}}}]}}"#),
        format!("{statement},\"subject\":[{subject}]}}\n{statement},\"subject\":[]}}\n"),
        format!("path,md5,sha1\na.txt,{MD5},\n"),
        format!("MD5 hash of a.txt:\n{MD5}\nCertUtil: MD5 hash of b:\n"),
        format!(
            "SPDXVersion: SPDX-2.3\nFileName: a.txt\nFileChecksum: MD5: {MD5}\nFilechecksum: MD5: {}\n",
            "0".repeat(32)
        ),
    ] {
        let tree = Tree::new();
        tree.file("a.txt", "hello\n").dir("d").file("list", &text);
        let found = tree.cmd(["verify", "list"]).run();
        assert_eq!(found.code, Some(2), "{text}\n{found}");
        found.stdout_any().stderr_any().code(2).check();
    }
}

#[test]
fn a_table_of_sizes_alone_proves_nothing() {
    let tree = Tree::new();
    tree.file("a.txt", "hello\n").file("d/sp ace.txt", "x");
    tree.file("cfv.csv2", fixture("csv/cfv.csv2"));
    let found = tree.cmd(["verify", "cfv.csv2"]).run();
    found
        .stdout_any()
        .stderr_has("2 unverified")
        .code(2)
        .check();
}

#[test]
fn rclone_and_we_agree_both_ways() {
    let tree = Tree::new();
    tree.painted("t/a", 3000)
        .painted("t/d/b c", 5000)
        .file("t/empty", "");
    let listed = ["lsjson", "-R", "--hash", "--config", "", "t"];
    let Some(tool) = tree.tool("rclone", listed) else {
        return;
    };
    let written = tool.run();
    tree.file("t.json", &written.stdout);
    written.stdout_any().stderr_any().check();
    // By default there are hashes that only rclone computes.
    let verify = || tree.cmd(["verify", "-a", "sha256", "-C", "t", "t.json"]);
    is_well(verify(), "rclone", "4 ok");
    let all = tree.cmd(["verify", "-C", "t", "t.json"]).run();
    let unknown = "digest cannot be computed; -a names one of the others";
    all.stdout_has(unknown).stderr_any().code(2).check();
    tree.cmd(["hash", "-o", "t.sha256", "-C", "t"])
        .run()
        .stderr_any()
        .check();
    let check = |code| {
        let args = ["checksum", "sha256", "--config", "", "t.sha256", "t"];
        let checked = tree.tool("rclone", args).unwrap().run();
        checked.stdout_any().stderr_any().code(code).check();
    };
    check(0);
    tree.flip("t/d/b c", 4999);
    finds_a_difference(verify());
    check(1);
}

/// Reads each of our formats with the parsers of Python and hashes the files again.
const PYTHON: &str = r#"
import base64, csv, hashlib, json, os, sys
def name(entry):
    if "path_b64" in entry: return base64.b64decode(entry["path_b64"], validate=True)
    return entry["path"].encode()
lines = open("x/tree.jsonl", "rb").read().split(b"\n")
closing = json.loads(lines[-2])
assert hashlib.sha256(b"".join(line + b"\n" for line in lines[:-2])).hexdigest() == closing["sha256"]
native = [json.loads(line) for line in lines[1:-2]]
assert json.load(open("x/tree.json", "rb")) == native
assert [closing["files"], closing["gaps"]] == [len(native), 0]
assert closing["bytes"] == sum(entry["size"] for entry in native)
rows = list(csv.DictReader(open("x/tree.csv", encoding="latin-1", newline="")))
assert [row["path"].encode("latin-1") for row in rows] == [name(entry) for entry in native]
for entry, row in zip(native, rows):
    data = open(b"x/" + name(entry), "rb").read()
    for algorithm in ("md5", "sha256"):
        digest = hashlib.new(algorithm, data).hexdigest()
        assert digest == entry[algorithm] == row[algorithm], row
    assert str(entry["size"]) == row["size"] == str(len(data))
    assert entry["mtime"] == row["mtime"]
print(len(native))
"#;

#[test]
fn python_reads_our_formats_as_we_mean_them() {
    let tree = hostile_tree();
    let args = [
        "hash",
        "-a",
        "md5,sha256",
        "-o",
        "x/tree.jsonl",
        "-o",
        "x/tree.json",
        "-o",
        "x/tree.csv",
        "x",
    ];
    tree.cmd(args).run().stderr_any().check();
    match tree.tool("python3", ["-c", PYTHON]) {
        Some(python) => python.run().stdout("6\n").check(),
        None => skipped("python3 not installed"),
    }
}
