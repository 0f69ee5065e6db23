//! Which files of a tree are hashed.

use std::process::Command;

use crate::common::skipped;
use crate::harness::{MD5_OF_ABC, Tree};

/// Hashes and compares the names in the manifest; gaps stand as their comments.
#[track_caller]
fn expect(tree: &Tree, args: &[&str], names: &[&str], code: i32) {
    let output = tree.cmd(["hash", "-a", "md5"].iter().chain(args)).run();
    let list = String::from_utf8(output.stdout.clone()).unwrap();
    let found: Vec<&str> = list
        .lines()
        .map(|l| l.split_once("  ").map_or(l, |(_, n)| n))
        .collect();
    assert_eq!(found, names, "{args:?}\n{output}");
    output.stdout_any().stderr_any().code(code).check();
}

fn tree() -> Tree {
    let tree = Tree::new();
    for path in ["a.txt", "b.tmp", "d/c.txt", "d/e/f.txt", "d/e/g.tmp"] {
        tree.file(path, "abc");
    }
    tree
}

#[test]
fn globs_choose_files_and_folders() {
    let tree = tree();
    tree.file("../globs", "# comment\n*.tmp\n\nd/e\n");
    let cases: [(&[&str], &[&str]); 7] = [
        (&["--exclude", "*.tmp"], &["a.txt", "d/c.txt", "d/e/f.txt"]),
        (&["--exclude", "/d"], &["a.txt", "b.tmp"]),
        (&["--include", "*.tmp"], &["b.tmp", "d/e/g.tmp"]),
        (
            &["--include", "*.txt", "--exclude", "e"],
            &["a.txt", "d/c.txt"],
        ),
        (&["--exclude-from", "../globs"], &["a.txt", "d/c.txt"]),
        (&["--max-depth", "1"], &["a.txt", "b.tmp"]),
        (
            &["--max-depth", "2", "d"],
            &["d/c.txt", "d/e/f.txt", "d/e/g.tmp"],
        ),
    ];
    for (args, names) in cases {
        expect(&tree, args, names, 0);
    }
}

#[test]
fn a_glob_that_is_none_is_bad_usage() {
    let tree = tree();
    let output = tree.cmd(["hash", "--include", "{a"]).run();
    output.stderr_has("multisum: ").code(2).check();
    let output = tree.cmd(["hash", "--exclude-from", "nowhere"]).run();
    output.stderr_has("nowhere").code(2).check();
}

#[test]
fn paths_can_come_from_a_file_or_standard_input() {
    let tree = tree();
    tree.file("lines", "b.tmp\n./d/e\n")
        .file("nuls", "b.tmp\0d/e\0");
    tree.file("new\nline", "");
    let names = ["b.tmp", "d/e/f.txt", "d/e/g.tmp"];
    expect(&tree, &["--files-from", "lines"], &names, 0);
    expect(&tree, &["-0", "--files-from", "nuls"], &names, 0);
    for (args, input) in [
        (&["hash", "-a", "md5", "--files-from", "-"][..], "a.txt\n"),
        (&["hash", "-a", "md5", "-0", "--files-from", "-"], "a.txt\0"),
    ] {
        let output = tree.cmd(args).stdin(input).run();
        output
            .stdout(format!("{MD5_OF_ABC}  a.txt\n"))
            .stderr_any()
            .check();
    }
    let found = tree.shell("find . -type f -print0 | $M hash -0 --files-from - | $M verify -");
    found
        .run()
        .stderr_has("hashed 8 files")
        .stderr_has("8 ok")
        .check();
}

#[test]
fn a_path_from_a_list_that_is_not_there_is_a_gap() {
    let gap = "# multisum gap: unreadable gone";
    let tree = tree();
    tree.file("lines", "gone\na.txt\n");
    expect(&tree, &["--files-from", "lines"], &[gap, "a.txt"], 2);
    expect(&tree, &["--files-from", "/dev/null"], &[], 0);
    let output = tree.cmd(["hash", "--files-from", "nowhere"]).run();
    output.stderr_has("multisum: nowhere: ").code(2).check();
}

#[test]
fn links_are_followed_when_asked_and_loops_are_named() {
    let tree = Tree::new();
    tree.file("d/a", "abc")
        .link("d/loop", "../d")
        .link("file", "d/a");
    tree.link("folder", "d");
    expect(&tree, &["."], &["d/a"], 0);
    let gap = |name: &str| format!("# multisum gap: unreadable {name}");
    let (inner, outer) = (gap("d/loop"), gap("folder/loop"));
    expect(
        &tree,
        &["-L"],
        &["d/a", &inner, "file", "folder/a", &outer],
        2,
    );
    let output = tree.cmd(["hash", "-L", "d"]).run();
    output.stdout_any().stderr_has("link loop").code(2).check();
    tree.remove("d/loop").link("dangling", "nowhere");
    expect(
        &tree,
        &["-L"],
        &["d/a", &gap("dangling"), "file", "folder/a"],
        2,
    );
}

#[test]
fn other_file_systems_are_left_out_when_asked() {
    let tree = Tree::new();
    tree.file("a", "abc").dir("mounted");
    let script = "mount -t tmpfs none mounted && printf abc >mounted/b && $M hash -a md5 \
                  && echo -- && $M hash -a md5 -x";
    let mut unshare = Command::new("unshare");
    let possible = unshare.args(["-m", "true"]).output();
    if !possible.is_ok_and(|output| output.status.success()) {
        return skipped("mounting needs root");
    }
    let output = tree.tool("unshare", ["-m", "sh", "-c", script]).unwrap();
    let output = output.env("M", crate::harness::BINARY).run();
    if output.code == Some(32) {
        output.stdout_any().stderr_any().code(32).check();
        return skipped("a tmpfs cannot be mounted here");
    }
    let here = format!("{MD5_OF_ABC}  a\n");
    output
        .stdout(format!("{here}{MD5_OF_ABC}  mounted/b\n--\n{here}"))
        .stderr_any()
        .check();
}

#[test]
fn every_way_of_reading_gives_the_same_bytes() {
    let tree = Tree::new();
    for len in [0, 1, 511, 512, 4095, 4096, 65_537, 1_000_001] {
        tree.painted(format!("f{len}"), len);
    }
    let run = |io: &str, threads: &str| {
        tree.cmd(["hash", "-a", "md5,sha256", "--io", io, "-j", threads])
            .run()
    };
    let read = run("read", "1");
    for io in ["auto", "mmap", "direct"] {
        for threads in ["1", "2", "64"] {
            run(io, threads).stdout(&read.stdout).stderr_any().check();
        }
    }
    read.stdout_any().stderr_any().check();
}

#[test]
fn what_another_user_may_not_read_is_a_gap_and_stays_one() {
    let tree = Tree::new();
    tree.file("a", "abc")
        .file("closed/b", "")
        .file("file", "")
        .file("z", "abc");
    tree.mode("closed", 0).mode("file", 0);
    let Some(cmd) = tree.cmd(["hash", "-a", "md5"]).unprivileged() else {
        return;
    };
    let list = format!(
        "{MD5_OF_ABC}  a\n# multisum gap: unreadable closed\n# multisum gap: unreadable file\n\
         {MD5_OF_ABC}  z\n"
    );
    let output = cmd.run();
    output
        .stdout(&list)
        .stderr_has("unreadable  closed: ")
        .stderr_has("unreadable  file: open: Permission denied")
        .stderr_has("hashed 2 files")
        .stderr_has("2 unreadable")
        .code(2)
        .check();
    tree.file("L", list);
    let output = tree.cmd(["verify", "L"]).run();
    output
        .stdout_has("unverified  closed: recorded as not hashed; 'multisum update' hashes what can be read now")
        .stdout_has("unverified  file: ")
        .stderr_has("2 ok, 2 unverified")
        .code(2)
        .check();
}
