//! `multisum verify`: whatever is damaged must be found, and only that.

use crate::harness::{MD5_OF_ABC, MD5_OF_HELLO, MD5_OF_NOTHING, Output, Tree};

/// Three files and a list of them that is right.
fn listed() -> Tree {
    let tree = Tree::new();
    tree.file("a", "abc").file("d/b", "hello").file("empty", "");
    let list = format!("{MD5_OF_ABC}  a\n{MD5_OF_HELLO}  d/b\n{MD5_OF_NOTHING}  empty\n");
    tree.file("MD5SUMS", list);
    tree
}

fn verify(tree: &Tree) -> Output {
    tree.cmd(["verify", "MD5SUMS"]).run()
}

fn changed(name: &str, expected: &str, actual: &str) -> String {
    format!("changed     {name}  (md5: expected {expected}, got {actual})\n")
}

#[test]
fn what_is_whole_is_good_and_weakness_is_named() {
    let output = verify(&listed());
    output
        .stderr_has("verified 3 files, 8 bytes in [TIME]: 3 ok")
        .stderr_has("md5")
        .check();
}

#[test]
fn a_shortened_file_is_found() {
    let tree = listed();
    tree.file("d/b", "hell");
    let stdout = changed("d/b", MD5_OF_HELLO, "4229d691b07b13341da53f17ab9f2416");
    verify(&tree)
        .stdout(stdout)
        .stderr_has("2 ok, 1 changed")
        .code(1)
        .check();
}

#[test]
fn one_flipped_bit_is_found() {
    let tree = listed();
    tree.flip("d/b", 4);
    let output = verify(&tree);
    output
        .stdout_has("changed     d/b")
        .stderr_has("2 ok, 1 changed")
        .code(1)
        .check();
}

#[test]
fn two_swapped_files_are_both_found() {
    let tree = listed();
    tree.file("a", "hello").file("d/b", "abc");
    let stdout = changed("a", MD5_OF_ABC, MD5_OF_HELLO) + &changed("d/b", MD5_OF_HELLO, MD5_OF_ABC);
    verify(&tree)
        .stdout(stdout)
        .stderr_has("1 ok, 2 changed")
        .code(1)
        .check();
}

#[test]
fn a_missing_file_is_found() {
    let tree = listed();
    tree.remove("a");
    let output = verify(&tree);
    output
        .stdout("missing     a\n")
        .stderr_has("2 ok, 1 missing")
        .code(1)
        .check();
}

#[test]
fn a_line_that_cannot_be_understood_is_never_passed_over() {
    let tree = listed();
    let list = format!("{MD5_OF_ABC}  a\n{}  d/b\n", &MD5_OF_HELLO[1..]);
    tree.file("MD5SUMS", list);
    let output = verify(&tree);
    output
        .stdout_has("MD5SUMS:2: ")
        .stderr_has("1 line is malformed")
        .code(2)
        .check();
}

#[test]
fn an_empty_list_verifies_nothing_and_that_is_no_success() {
    let tree = listed();
    tree.file("MD5SUMS", "");
    let output = verify(&tree);
    output.stderr_has("nothing was verified").code(2).check();
}

#[test]
fn a_file_that_cannot_be_read_outweighs_one_that_differs() {
    let tree = listed();
    tree.file("a", "").mode("d/b", 0);
    let Some(cmd) = tree.cmd(["verify", "MD5SUMS"]).unprivileged() else {
        return;
    };
    let stdout = changed("a", MD5_OF_ABC, MD5_OF_NOTHING)
        + "unreadable  d/b: open: Permission denied (os error 13)\n";
    let output = cmd.run();
    output
        .stdout(stdout)
        .stderr_has("1 ok, 1 changed, 1 unreadable")
        .code(2)
        .check();
}

#[test]
fn a_list_of_sha256sum_is_read_back() {
    let tree = Tree::new();
    tree.painted("a b", 1000).painted("back\\slash", 70_000);
    let Some(sha256sum) = tree.tool("sha256sum", ["a b", "back\\slash"]) else {
        return;
    };
    let list = sha256sum.run();
    tree.file("SHA256SUMS", &list.stdout);
    list.stdout_any().check();
    let output = tree.cmd(["verify", "SHA256SUMS"]).run();
    output.stderr_has("2 ok").check();
}

#[test]
fn status_shows_nothing_not_even_objects() {
    let tree = Tree::new();
    tree.file("a", "abc")
        .file("L", format!("{MD5_OF_ABC}  a\n"));
    for args in [["--json", "--status"], ["--status", "--json"]] {
        let cmd = tree.cmd(["verify", "L"].iter().chain(&args));
        cmd.run().check();
        tree.file("a", "");
        let cmd = tree.cmd(["verify", "L"].iter().chain(&args));
        cmd.run().code(1).check();
        tree.file("a", "abc");
    }
}
