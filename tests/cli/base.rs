//! The folder that listed names start from.

use crate::harness::{MD5_OF_ABC, MD5_OF_HELLO, Tree};

/// A list beside its files, and a copy of the files elsewhere in which one differs.
fn tree() -> Tree {
    let tree = Tree::new();
    tree.file("t/d/a", "abc")
        .file("copy/d/a", "hello")
        .file("b", "abc");
    tree.file("t/MD5SUMS", format!("{MD5_OF_ABC}  d/a\n"));
    tree
}

#[test]
fn names_start_at_the_folder_of_the_list() {
    let tree = tree();
    for (cwd, list, base) in [
        ("", "t/MD5SUMS", "t"),
        ("t", "MD5SUMS", "."),
        ("b/..", "", ""),
    ] {
        if list.is_empty() {
            continue;
        }
        let output = tree.cmd(["verify", list]).cwd(cwd).run();
        output
            .stderr_has(&format!("1 ok; base {base}; md5"))
            .check();
    }
    let list = tree.path("t/MD5SUMS");
    let output = tree.cmd(["verify"]).arg(list).cwd("copy").run();
    output.stderr_has("1 ok; base [TREE]/t; md5").check();
}

#[test]
fn names_start_at_the_current_folder_if_only_that_has_one() {
    let tree = tree();
    tree.file("lists/L", format!("{MD5_OF_ABC}  gone\n{MD5_OF_ABC}  b\n"));
    let output = tree.cmd(["verify", "lists/L"]).run();
    output
        .stdout("missing     gone\n")
        .stderr_has("1 ok, 1 missing; base .;")
        .code(1)
        .check();
    tree.file("lists/gone", "abc");
    let output = tree.cmd(["verify", "lists/L"]).run();
    output
        .stdout("missing     b\n")
        .stderr_has("1 ok, 1 missing; base lists;")
        .code(1)
        .check();
}

#[test]
fn a_list_from_standard_input_starts_at_the_current_folder() {
    let tree = tree();
    let list = tree.read("t/MD5SUMS");
    let output = tree.cmd(["verify", "-"]).cwd("t").stdin(&list).run();
    output.stderr_has("1 ok; base .;").check();
    let output = tree.cmd(["verify", "-", "-C", "t"]).stdin(&list).run();
    output.stderr_has("1 ok; base t;").check();
}

#[test]
fn a_base_that_is_given_is_the_only_one() {
    let tree = tree();
    let output = tree.cmd(["verify", "-C", "copy", "t/MD5SUMS"]).run();
    let told = format!("changed     d/a  (md5: expected {MD5_OF_ABC}, got {MD5_OF_HELLO})\n");
    output
        .stdout(told)
        .stderr_has("1 changed; base copy;")
        .code(1)
        .check();
    tree.dir("empty");
    let output = tree.cmd(["verify", "-C", "empty", "t/MD5SUMS"]).run();
    output
        .stdout("missing     d/a\n")
        .stderr_has("not one listed file is there; is the base right?")
        .code(1)
        .check();
}

#[test]
fn listed_names_can_be_moved_elsewhere() {
    let tree = tree();
    let list = format!("{MD5_OF_ABC}  /old/disk/d/a\n{MD5_OF_ABC}  /old/disks/a\n");
    tree.file("L", list).file("t/a", "abc");
    let run = |args: &[&str]| tree.cmd(["verify", "L"].iter().chain(args)).run();
    // Whole components are replaced, and names are told as listed.
    let output = run(&["--map", "/old/disk=t", "--map", "/old/disks=t"]);
    output.stderr_has("2 ok; base .;").check();
    let output = run(&["--map", "/old/disk=t"]);
    output
        .stdout("missing     /old/disks/a\n")
        .stderr_has("1 ok, 1 missing")
        .code(1)
        .check();
    let output = run(&["--strip", "2", "-C", "t", "-v"]);
    output
        .stdout("ok          /old/disk/d/a\nok          /old/disks/a\n")
        .stderr_any()
        .check();
    let output = run(&["--strip", "2", "--map", "d=t/d", "--map", "a=t/a"]);
    output.stderr_has("2 ok").check();
}

#[test]
fn what_cannot_be_moved_is_unverified() {
    let tree = tree();
    let output = tree.cmd(["verify", "--strip", "2", "t/MD5SUMS"]).run();
    output
        .stdout("unverified  d/a: --strip leaves nothing of the name\n")
        .stderr_has("nothing was verified")
        .code(2)
        .check();
    for wrong in ["x", "=x"] {
        let output = tree.cmd(["verify", "--map", wrong, "t/MD5SUMS"]).run();
        output.stderr_has("--map takes OLD=NEW").code(2).check();
    }
}

#[test]
fn names_that_leave_the_base_are_honoured() {
    let tree = tree();
    let absolute = tree.path("b").into_os_string().into_string().unwrap();
    let list = format!("{MD5_OF_ABC}  ../b\n{MD5_OF_ABC}  {absolute}\n");
    tree.file("t/L", list);
    let output = tree.cmd(["verify", "t/L"]).run();
    output
        .stderr_has("2 ok")
        .stderr_has("outside the base")
        .check();
}

#[test]
fn two_names_that_lead_to_one_file_have_two_outcomes() {
    let tree = Tree::new();
    let md5 = "900150983cd24fb0d6963f7d28e17f72";
    tree.file("f", "abc");
    tree.file("MD5SUMS", format!("{md5}  a/f\n{}  b/f\n", "0".repeat(32)));
    let output = tree.cmd(["verify", "--strip", "1", "-v", "MD5SUMS"]).run();
    output
        .stdout_has("ok          a/f\n")
        .stdout_has("changed     b/f")
        .stderr_has("1 ok, 1 changed")
        .code(1)
        .check();
}
