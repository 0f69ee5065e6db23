//! `multisum verify`: several lists, several digests, and lists that are hard on a reader.

use std::fmt::Write as _;

use crate::harness::Tree;

const MD5_OF_ABC: &str = "900150983cd24fb0d6963f7d28e17f72";
const CRC32_OF_ABC: &str = "352441c2";
const SHA256_OF_ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

#[test]
fn an_empty_list_does_not_pass_beside_a_good_one() {
    let tree = Tree::new();
    tree.file("a", "abc")
        .file("MD5SUMS", format!("{MD5_OF_ABC}  a\n"));
    tree.file("EMPTY", "").file("COMMENT", "# nothing\n");
    tree.file("GONE", format!("{MD5_OF_ABC}  gone\n"));
    for idle in ["EMPTY", "COMMENT", "GONE"] {
        let args = ["verify", "-q", "--ignore-missing", "MD5SUMS", idle];
        let output = tree.cmd(args).run();
        output
            .stderr_has(&format!("{idle}: nothing was verified"))
            .code(2)
            .check();
    }
}

#[test]
fn one_strong_digest_does_not_hide_that_another_file_has_only_a_weak_one() {
    let tree = Tree::new();
    tree.file("a", "abc").file("b", "abc");
    let list = format!("SHA256 (a) = {SHA256_OF_ABC}\nCRC32 (b) = {CRC32_OF_ABC}\n");
    tree.file("list", list);
    let told = "not proof against tampering: 1 file was compared with crc32 only";
    tree.cmd(["verify", "-q", "list"])
        .run()
        .stderr_has(told)
        .check();
    // What was not compared proves nothing for the others.
    tree.file(
        "list",
        format!("MD5 (a) = {MD5_OF_ABC}\nSHA256 (gone) = {SHA256_OF_ABC}\n"),
    );
    let told = "not proof against tampering: only md5 was compared";
    tree.cmd(["verify", "list"])
        .run()
        .stdout_any()
        .stderr_has(told)
        .code(1)
        .check();
}

#[test]
fn the_first_finding_ends_an_exact_run_too_and_no_entry_is_lost() {
    let tree = Tree::new();
    tree.file("z", "abc").file("new", "abc");
    let list = format!("{MD5_OF_ABC}  gone1\n{MD5_OF_ABC}  gone2\n{MD5_OF_ABC}  z\n");
    tree.file("MD5SUMS", list);
    let args = ["verify", "--exact", "--fail-fast", "MD5SUMS"];
    let output = tree.cmd(args).run();
    output
        .stdout("missing     gone1\n")
        .stderr_has("1 missing")
        .stderr_has("2 entries were not checked")
        .code(1)
        .check();
}

#[test]
fn a_flood_of_contradictions_costs_no_more_than_other_lines() {
    let tree = Tree::new();
    let mut list = String::new();
    for number in 0..100_000 {
        writeln!(list, "{number:032x}  f").unwrap();
    }
    tree.file("MD5SUMS", list).file("f", "abc");
    let output = tree.cmd(["verify", "MD5SUMS"]).run();
    output
        .stdout_has("unverified  f: contradictory")
        .stderr_has("1 unverified")
        .code(2)
        .check();
}

#[test]
fn a_list_from_standard_input_cannot_name_standard_input() {
    let tree = Tree::new();
    let list = "d41d8cd98f00b204e9800998ecf8427e  -\n";
    let output = tree.cmd(["verify", "-"]).stdin(list).run();
    output
        .stdout_has("unverified  -: standard input is a list itself")
        .stderr_has("1 unverified")
        .code(2)
        .check();
}

#[test]
fn that_the_current_folder_was_taken_is_said_even_quietly() {
    let tree = Tree::new();
    tree.file("photos/a", "abc")
        .file("backup/MD5SUMS", format!("{MD5_OF_ABC}  a\n"));
    let output = tree
        .cmd(["verify", "-q", "../backup/MD5SUMS"])
        .cwd("photos")
        .run();
    output
        .stderr_has("no listed file is in its own folder; the current folder was taken")
        .check();
}

#[test]
fn many_threads_with_few_descriptors_lose_no_folder() {
    let tree = Tree::new();
    let mut names = 0;
    for folder in 0..60 {
        for file in 0..20 {
            tree.file(format!("t/{folder}/{file}"), "abc");
            names += 1;
        }
    }
    for io in ["auto", "direct", "mmap"] {
        let script = format!("ulimit -n 48; $M hash -q -a md5 -j 16 --io {io} t | wc -l");
        let output = tree.shell(&script).run();
        output.stdout(format!("{names}\n")).stderr_any().check();
    }
}
