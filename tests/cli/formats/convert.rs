//! From any format to any other.

use std::collections::BTreeMap;

use multisum::manifest::Format;
use serde_json::Value;

use crate::harness::Tree;

/// Every format that is written, with algorithms that it carries.
const WRITABLE: &[(&str, &str)] = &[
    ("gnu", "sha256"),
    ("gnu-zero", "sha256"),
    ("bsd", "md5,sha256"),
    ("jsonl", "md5,sha256"),
    ("json", "md5,sha256"),
    ("csv", "md5,sha256"),
    ("hashdeep", "md5,sha256"),
    ("dfxml", "md5,sha256"),
    ("sfv", "crc32"),
    ("magnet", "md5,sha256"),
    ("bagit", "sha256"),
    ("mtree", "md5,sha256"),
    ("mhl", "md5,c4"),
    ("gentoo", "md5,sha256"),
];

#[test]
fn the_table_above_names_every_format_that_is_written() {
    let written: Vec<String> = Format::all()
        .filter(|format| format.info().writable)
        .map(|format| format.to_string())
        .collect();
    let mut named: Vec<&str> = WRITABLE.iter().map(|(format, _)| *format).collect();
    for format in &written {
        assert!(named.contains(&&**format), "{format}");
        named.retain(|name| name != format);
    }
    assert!(named.is_empty(), "{named:?}");
}

fn tree() -> Tree {
    let tree = Tree::new();
    tree.file("t/a.txt", "hello\n")
        .file("t/data/b c", "x")
        .file("t/data/é", "")
        .file("t/#x", "y");
    tree
}

/// What a native manifest says of each name, without the fields that `format` does not carry.
fn entries(tree: &Tree, manifest: &str, format: Format) -> BTreeMap<String, Value> {
    let text = String::from_utf8(tree.read(manifest)).unwrap();
    let mut entries = BTreeMap::new();
    for line in text.lines() {
        let mut value: Value = serde_json::from_str(line).unwrap();
        let fields = value.as_object_mut().unwrap();
        let Some(path) = fields.remove("path") else {
            continue;
        };
        let carries = format.info().carries;
        if !carries.size {
            fields.remove("size");
        }
        match fields.remove("mtime") {
            Some(time) if carries.modified && format != Format::Sfv => {
                // Some formats cut it to the second.
                let second = time.as_str().unwrap()[..19].to_owned();
                fields.insert("mtime".to_owned(), second.into());
            }
            _ => {}
        }
        entries.insert(path.as_str().unwrap().to_owned(), value);
    }
    assert_eq!(entries.len(), 4, "{text}");
    entries
}

#[test]
fn every_written_format_comes_back_with_all_that_it_carries() {
    for (name, algorithms) in WRITABLE {
        let format: Format = name.parse().unwrap();
        let tree = tree();
        let hash = ["hash", "-q", "-a", algorithms, "-o", "t/from.jsonl", "t"];
        tree.cmd(hash).run().code(0).check();
        tree.cmd(["convert", "-q", "t/from.jsonl", "-f", name, "-o", "t/to"])
            .run()
            .code(0)
            .check();
        let mut back = vec![
            "convert",
            "-q",
            "--from",
            name,
            "t/to",
            "-o",
            "t/back.jsonl",
        ];
        if !format.names_algorithms() {
            back.extend(["-a", algorithms]);
        }
        tree.cmd(back).run().code(0).check();
        let expected = entries(&tree, "t/from.jsonl", format);
        assert_eq!(entries(&tree, "t/back.jsonl", format), expected, "{name}");
    }
}

#[test]
fn what_was_converted_is_verified_without_options_and_a_flipped_byte_is_found() {
    for (name, algorithms) in WRITABLE {
        let tree = tree();
        let hash = ["hash", "-q", "-a", algorithms, "-o", "t/from.jsonl", "t"];
        tree.cmd(hash).run().code(0).check();
        tree.cmd(["convert", "-q", "t/from.jsonl", "-f", name, "-o", "t/to"])
            .run()
            .code(0)
            .check();
        // No list of that name belongs to a bag.
        let taken = if *name == "bagit" { "gnu" } else { name };
        tree.cmd(["verify", "-v", "t/to"])
            .run()
            .code(0)
            .stdout_any()
            .stderr_has(&format!("t/to: format {taken} ("))
            .check();
        tree.flip("t/a.txt", 2);
        tree.cmd(["verify", "-q", "t/to"])
            .run()
            .code(1)
            .stdout_any()
            .stderr_any()
            .check();
    }
}

#[test]
fn digests_are_not_lost_unless_that_is_allowed() {
    let tree = tree();
    tree.cmd([
        "hash",
        "-q",
        "-a",
        "md5,sha256",
        "-o",
        "t/from.bsd",
        "-f",
        "bsd",
        "t",
    ])
    .run()
    .code(0)
    .check();
    tree.cmd(["convert", "t/from.bsd", "-o", "t/MD5SUMS"])
        .run()
        .code(2)
        .stderr_has("not carried over: the sha256 digests of 4 entries (gnu carries one algorithm)")
        .stderr_has("nothing was written")
        .check();
    assert!(!tree.path("t/MD5SUMS").exists());
    tree.cmd(["convert", "--lossy", "t/from.bsd", "-o", "t/MD5SUMS"])
        .run()
        .code(0)
        .stderr_has("converted 4 entries to gnu; md5")
        .check();
    // Without a name that says otherwise the stronger one stays.
    tree.cmd(["convert", "--lossy", "-f", "gnu", "t/from.bsd"])
        .run()
        .code(0)
        .stdout_any()
        .stderr_has("converted 4 entries to gnu; sha256")
        .check();
}

#[test]
fn what_cannot_be_used_is_named_and_nothing_is_written() {
    let tree = Tree::new();
    let md5 = crate::harness::MD5_OF_ABC;
    let other = crate::harness::MD5_OF_HELLO;
    tree.file(
        "MD5SUMS",
        format!("{md5}  a\nhello\n{md5}  b\n{other}  b\n"),
    );
    tree.cmd(["convert", "MD5SUMS", "-o", "x.bsd", "-f", "bsd"])
        .run()
        .code(2)
        .stderr_has("MD5SUMS:2: not a checksum line")
        .stderr_has("unverified b: contradictory entries: two different md5 digests are listed")
        .stderr_has("not carried over: 2 lines that cannot be used")
        .check();
    assert!(!tree.path("x.bsd").exists());
    let sha256 = crate::harness::SHA256_OF_ABC;
    tree.file("SUMS", format!("{sha256}  a\n"));
    tree.cmd(["convert", "SUMS", "-f", "bsd"])
        .run()
        .code(2)
        .stderr_has("SUMS: no entry with a digest that could be written")
        .stderr_has(
            "unverified a: no way to tell which algorithm the digest belongs to; name it with -a",
        )
        .check();
    tree.cmd(["convert", "-a", "sha256", "SUMS", "-f", "bsd"])
        .run()
        .code(0)
        .stdout(format!("SHA256 (a) = {sha256}\n"))
        .stderr_any()
        .check();
}

#[test]
fn a_gap_stays_a_gap() {
    let tree = Tree::new();
    let md5 = crate::harness::MD5_OF_ABC;
    let list = format!("# multisum gap: unreadable b\n{md5}  a\n");
    tree.file("MD5SUMS", &list);
    tree.cmd(["convert", "-q", "MD5SUMS", "-f", "gnu"])
        .run()
        .code(0)
        .stdout(&list)
        .check();
}

#[test]
fn entries_with_different_algorithms_are_carried_where_every_line_says_its_own() {
    let tree = Tree::new();
    let (md5, sha256) = (crate::harness::MD5_OF_ABC, crate::harness::SHA256_OF_ABC);
    let list = format!("SHA256 (a) = {sha256}\nMD5 (b) = {md5}\n");
    tree.file("L", &list);
    tree.cmd(["convert", "-q", "L", "-f", "bsd"])
        .run()
        .code(0)
        .stdout(&list)
        .check();
    tree.cmd(["convert", "-q", "L", "-f", "jsonl"])
        .run()
        .code(2)
        .stderr_has("not carried over: the sha256 digests of 1 entry (not every entry has one)")
        .check();
}

#[test]
fn an_entry_without_a_digest_and_a_gap_are_not_lost_silently() {
    let tree = Tree::new();
    let sha256 = crate::harness::SHA256_OF_ABC;
    tree.file(
        "L.mtree",
        format!("#mtree\n./a type=file sha256digest={sha256}\n./b type=file size=3\n"),
    );
    tree.cmd(["convert", "L.mtree", "-o", "L.jsonl"])
        .run()
        .code(2)
        .stderr_has("not carried over: 1 entry without a digest")
        .check();
    assert!(!tree.path("L.jsonl").exists());
    tree.file(
        "L",
        format!("# multisum gap: unreadable b\nSHA256 (a) = {sha256}\n"),
    );
    tree.cmd(["convert", "L", "-f", "gentoo", "-o", "Manifest"])
        .run()
        .code(2)
        .stderr_any()
        .check();
    assert!(!tree.path("Manifest").exists());
}

#[test]
fn a_contradictory_name_is_not_written_even_if_losses_are_allowed() {
    let tree = Tree::new();
    let (md5, other) = (crate::harness::MD5_OF_ABC, crate::harness::MD5_OF_HELLO);
    tree.file("MD5SUMS", format!("{md5}  a\n{md5}  b\n{other}  ./b\n"));
    tree.cmd(["convert", "-q", "--lossy", "MD5SUMS", "-f", "bsd"])
        .run()
        .code(2)
        .stdout(format!("MD5 (a) = {md5}\n"))
        .stderr_any()
        .check();
}
