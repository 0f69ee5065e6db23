//! `update`: what is read, what becomes of each entry, and what is refused.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::common::skipped;
use crate::harness::{MD5_OF_ABC, MD5_OF_HELLO, SHA256_OF_ABC, Tree, holds};

/// Lets files grow older than the steps of the coarsest clock, so that a manifest made from now on
/// proves them.
fn age() {
    thread::sleep(Duration::from_millis(3_200));
}

fn hash(tree: &Tree, args: &[&str]) {
    let all = ["hash", "--quiet"].iter().chain(args);
    tree.cmd(all).run().check();
}

#[track_caller]
fn expect(tree: &Tree, args: &[&str], told: &str, summary: &str, code: i32) {
    let args = ["update"].iter().chain(args);
    let output = tree.cmd(args).run();
    output.stdout(told).stderr_has(summary).code(code).check();
}

/// A manifest that records another moment but says the same otherwise.
fn without_created(manifest: &[u8]) -> String {
    let text = String::from_utf8(manifest.to_vec()).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("{\"files\""));
    let cut = lines.map(|line| line.split(",\"created\"").next().unwrap());
    cut.collect::<Vec<_>>().join("\n")
}

#[test]
fn of_an_unchanged_tree_nothing_is_read() {
    let tree = Tree::new();
    for number in 0..300 {
        tree.file(format!("files/f{number}"), number.to_string());
    }
    age();
    hash(&tree, &["-o", "t.jsonl", "files"]);
    hash(&tree, &["-o", "SHA256SUMS", "files"]);
    tree.dir("list");
    fs::rename(tree.path("SHA256SUMS"), tree.path("list/SHA256SUMS")).unwrap();
    let before = tree.read("t.jsonl");
    let nothing = "read 0 files, 0 bytes in [TIME]: 300 unread; base .; sha256\n";
    expect(&tree, &["t.jsonl"], "", nothing, 0);
    assert_eq!(
        without_created(&tree.read("t.jsonl")),
        without_created(&before)
    );
    // Once more, by the manifest that an update has written.
    expect(&tree, &["t.jsonl"], "", nothing, 0);
    let list = tree.read("list/SHA256SUMS");
    let args = ["-C", ".", "--exclude", "t.jsonl", "list/SHA256SUMS"];
    expect(
        &tree,
        &args,
        "",
        "read 0 files, 0 bytes in [TIME]: 300 unread",
        0,
    );
    assert_eq!(tree.read("list/SHA256SUMS"), list);

    let trace = tree.path("../trace");
    let options = ["-f", "-qq", "-e", "trace=open,openat,openat2", "-o"];
    let Some(strace) = tree.tool("strace", options) else {
        return;
    };
    let strace = strace.arg(&trace).arg(crate::harness::BINARY);
    let output = strace.arg("update").arg("t.jsonl").run();
    output.stderr_has(nothing).check();
    let trace = fs::read(trace).unwrap();
    assert!(holds(&trace, b"t.jsonl") && !holds(&trace, b"files/f"));
}

/// Changes a tree in every way that an update takes up.
fn change(tree: &Tree) {
    tree.file("edit", "hello")
        .remove("gone")
        .file("d/new", "n")
        .file("a0", "first");
    fs::rename(tree.path("d/ren"), tree.path("d/zren")).unwrap();
}

fn original() -> Tree {
    let tree = Tree::new();
    tree.file("keep", "k")
        .file("d/keep 2", "kk")
        .file("d.x/keep", "kkk")
        .file("edit", "e1")
        .file("gone", "g")
        .file("d/ren", "r")
        .file("empty", "");
    tree
}

#[test]
fn the_result_is_that_of_a_fresh_run_in_every_format() {
    let formats: &[&[&str]] = &[
        &["-o", "t.jsonl", "-a", "sha256,md5"],
        &["-o", "SHA256SUMS"],
        &["-o", "MD5SUMS", "-z"],
        &["-o", "MD5SUMS", "--base64"],
        &["-o", "sums", "-f", "bsd", "-a", "sha1,md5"],
        &["-o", "sums", "-f", "bsd", "-a", "md5", "--base64"],
        &["-o", "t.hashdeep", "-a", "md5,sha256"],
        &["-o", "t.sfv", "-a", "crc32"],
        &["-o", "t.csv", "-a", "xxh3,sha256"],
        &["-o", "t.json", "-a", "md5,sha256"],
        &["-o", "t.mtree", "-a", "sha256,md5"],
        &["-o", "t.dfxml", "-a", "md5,sha1"],
        &["-o", "t.magnet", "-a", "sha1"],
        &["-o", "Manifest", "-f", "gentoo", "-a", "sha512"],
    ];
    let trees: Vec<Tree> = formats.iter().map(|_| original()).collect();
    age();
    for (tree, options) in trees.iter().zip(formats) {
        let whole: Vec<&str> = options.iter().copied().chain(["."]).collect();
        hash(tree, &whole);
        change(tree);
        let epoch = |cmd: crate::harness::Cmd| cmd.env("SOURCE_DATE_EPOCH", "1700000000");
        let name = options[1];
        let updated = epoch(tree.cmd(["update", "--prune", name])).run();
        let told = "changed     edit  (";
        let summary =
            "read 4 files, 12 bytes in [TIME]: 1 changed, 1 missing, 1 moved, 2 new, 4 unread";
        updated.stdout_has(told).stderr_has(summary).check();
        let updated = tree.read(name);
        let fresh = ["hash", "--quiet", "--force"].iter().chain(&whole);
        epoch(tree.cmd(fresh)).run().check();
        assert_eq!(
            String::from_utf8_lossy(&updated),
            String::from_utf8_lossy(&tree.read(name)),
            "{options:?}"
        );
    }
}

#[test]
fn a_life_of_a_manifest_gives_each_name_one_outcome() {
    let tree = Tree::new();
    tree.file("keep", "k")
        .file("edit", "e1")
        .file("gone", "g")
        .file("ren", "r");
    tree.file("dup1", "s")
        .file("dup2", "s")
        .file("empty1", "")
        .file("empty2", "");
    hash(&tree, &["-o", "t.jsonl", "."]);
    tree.file("edit", "e2!").file("new", "n");
    tree.remove("gone").remove("dup2").remove("empty2");
    fs::rename(tree.path("ren"), tree.path("ren2")).unwrap();
    let output = tree.cmd(["update", "t.jsonl"]).run();
    let told = "missing     dup2\nmissing     empty2\nmissing     gone\nmoved       ren -> ren2\nnew         new\n";
    output
        .stdout_has(told)
        .stdout_has("changed     edit  (size: expected 2, got 3; sha256: expected ")
        .stderr_has(": 3 ok, 1 changed, 3 missing, 1 moved, 1 new; base .; sha256")
        .stderr_has("3 entries of files that are gone were kept; --prune drops them")
        .code(1)
        .check();
    let verified = tree.cmd(["verify", "--exact", "t.jsonl"]).run();
    let told = "missing     dup2\nmissing     empty2\nmissing     gone\n";
    verified
        .stdout(told)
        .stderr_has(": 6 ok, 3 missing")
        .code(1)
        .check();
    let missing = told;
    expect(
        &tree,
        &["--prune", "t.jsonl"],
        missing,
        "3 entries of files that are gone were dropped",
        0,
    );
    let verified = tree.cmd(["verify", "--exact", "t.jsonl"]).run();
    verified.stderr_has(": 6 ok;").check();
}

#[test]
fn silent_damage_is_never_taken_up() {
    let tree = Tree::new();
    tree.file("a", "abc").file("b", "b");
    age();
    hash(&tree, &["-o", "t.jsonl", "."]);
    let before = tree.read("t.jsonl");
    tree.flip("a", 1);
    for _ in 0..2 {
        let output = tree.cmd(["update", "t.jsonl"]).run();
        output
            .stdout_has("corrupt     a  (sha256: expected ba7816bf")
            .stderr_has("read 1 file, 3 bytes in [TIME]: 1 corrupt, 1 unread; base .")
            .stderr_has("the old entry is kept")
            .code(1)
            .check();
        assert_eq!(
            without_created(&tree.read("t.jsonl")),
            without_created(&before)
        );
        // It stays to be read, however old the damage is.
        age();
    }
    let verified = tree.cmd(["verify", "t.jsonl"]).run();
    verified
        .stdout_has("corrupt     a")
        .stderr_any()
        .code(1)
        .check();
    tree.modified("a", std::time::SystemTime::now());
    let output = tree.cmd(["update", "t.jsonl"]).run();
    output
        .stdout_has("changed     a")
        .stderr_has(": 1 changed, 1 unread")
        .check();
    tree.cmd(["verify", "t.jsonl"])
        .run()
        .stderr_has(": 2 ok")
        .check();
}

#[test]
fn without_sizes_and_times_another_digest_is_a_change() {
    let tree = Tree::new();
    tree.file("a", "abd")
        .file("MD5SUMS", format!("{MD5_OF_ABC}  a\n"));
    tree.file("a", "hello");
    let output = tree.cmd(["update", "MD5SUMS"]).run();
    output
        .stdout_has("changed     a")
        .stderr_has("1 changed")
        .check();
    assert_eq!(
        tree.read("MD5SUMS"),
        format!("{MD5_OF_HELLO}  a\n").as_bytes()
    );
}

#[test]
fn files_as_young_as_the_manifest_are_read() {
    let tree = Tree::new();
    tree.file("a", "abc").file("b", "hello");
    hash(&tree, &["-o", "t.jsonl", "."]);
    hash(&tree, &["-o", "MD5SUMS", "--exclude", "t.jsonl", "."]);
    expect(
        &tree,
        &["t.jsonl"],
        "new         MD5SUMS\n",
        ": 2 ok, 1 new",
        0,
    );
    let args = ["--exclude", "t.jsonl", "MD5SUMS"];
    expect(
        &tree,
        &args,
        "",
        "read 2 files, 8 bytes in [TIME]: 2 ok;",
        0,
    );
    // The modification time may be put back, the status change may not.
    age();
    hash(
        &tree,
        &["--force", "-o", "MD5SUMS", "--exclude", "t.jsonl", "."],
    );
    let before = tree.read("MD5SUMS");
    tree.flip("a", 0);
    let update = || {
        let args = ["update", "--exclude", "t.jsonl", "MD5SUMS"];
        let output = tree.cmd(args).run().stdout_has("changed     a");
        output.stderr_has(": 1 changed, 1 unread")
    };
    let told = "silent damage: 1 file has other contents than recorded";
    update().stderr_has(told).code(1).check();
    assert_eq!(tree.read("MD5SUMS"), before);
    tree.modified("a", std::time::SystemTime::now());
    update().check();
    assert!(tree.read("MD5SUMS") != before);
}

#[test]
fn another_size_with_the_recorded_time_is_damage_too() {
    let tree = Tree::new();
    tree.file("a", "abc");
    hash(&tree, &["-o", "t.jsonl", "."]);
    let before = tree.read("t.jsonl");
    let time = fs::metadata(tree.path("a")).unwrap().modified().unwrap();
    tree.file("a", "cut")
        .file("a", "longer")
        .modified("a", time);
    let output = tree.cmd(["update", "t.jsonl"]).run();
    output
        .stdout_has("changed     a  (size: expected 3, got 6; sha256: expected ba7816bf")
        .stderr_has("silent damage: 1 file has other contents than recorded")
        .code(1)
        .check();
    assert_eq!(
        without_created(&tree.read("t.jsonl")),
        without_created(&before)
    );
}

#[test]
fn a_copy_of_a_manifest_with_unproved_entries_does_not_prove_them() {
    let tree = Tree::new();
    tree.file("a", "abc");
    age();
    hash(&tree, &["-o", "t.jsonl", "."]);
    tree.flip("a", 1);
    age();
    for (from, to) in [("t.jsonl", "u.jsonl"), ("u.jsonl", "v.jsonl")] {
        let output = tree.cmd(["update", from]).run();
        let output = output.stdout_has("corrupt     a").stderr_has(": 1 corrupt");
        output.code(1).check();
        let bytes = tree.read(from);
        tree.remove(from).file(to, bytes);
    }
}

#[test]
fn files_that_only_the_date_of_the_list_proves_are_told() {
    let tree = Tree::new();
    tree.file("a", "abc").file("b", "hello");
    age();
    hash(&tree, &["-o", "MD5SUMS", "."]);
    let told = "2 files were taken for unchanged by the date of the list alone; a list that was \
                copied must be checked with verify first\n";
    expect(&tree, &["MD5SUMS"], "", told, 0);
}

#[test]
fn listed_files_behind_a_link_to_a_folder_are_read() {
    let tree = Tree::new();
    let list = format!("{MD5_OF_ABC}  d/x\n{MD5_OF_HELLO}  d/y\n");
    tree.file("away/x", "other").file("away/y", "hello");
    age();
    tree.file("t/MD5SUMS", &list).link("t/d", "../away");
    let output = tree.cmd(["update", "--prune", "t/MD5SUMS"]).run();
    output
        .stdout_has("changed     d/x")
        .stderr_has("read 2 files, 10 bytes in [TIME]: 1 ok, 1 changed")
        .code(1)
        .check();
    assert_eq!(tree.read("t/MD5SUMS"), list.as_bytes());
}

#[test]
fn entries_of_a_recorded_walk_that_lie_behind_a_link_now_are_not_said_to_be_well() {
    let tree = Tree::new();
    tree.file("t/d/x", "abc").file("t/keep", "k");
    age();
    hash(&tree, &["-C", "t", "-o", "t.jsonl", "."]);
    let before = tree.read("t.jsonl");
    fs::rename(tree.path("t/d"), tree.path("away")).unwrap();
    tree.link("t/d", "../away");
    let output = tree.cmd(["update", "--prune", "t.jsonl"]).run();
    output
        .stdout_has("unverified  d/x")
        .stdout_has("listed, and left out of the walk")
        .stderr_has("1 unverified, 1 unread")
        .code(2)
        .check();
    assert_eq!(
        without_created(&tree.read("t.jsonl")),
        without_created(&before)
    );
}

#[test]
fn entries_that_contradict_each_other_are_not_replaced_by_what_is_there_now() {
    let tree = Tree::new();
    let list = format!("{MD5_OF_ABC}  a\n{MD5_OF_HELLO}  a\n");
    tree.file("a", "neither").file("MD5SUMS", list);
    refused(&tree, "MD5SUMS", "contradictory entries");
}

#[test]
fn of_a_manifest_that_records_no_walk_only_the_listed_names_are_looked_at() {
    let tree = Tree::new();
    tree.file("a", "abc").file("d/b", "b").file("d/other", "o");
    let listed = tree.cmd(["hash", "-q", "-o", "t.jsonl", "--files-from", "-"]);
    listed.stdin("a\nd/b\n").run().check();
    tree.file("a", "hello!");
    let output = tree.cmd(["update", "t.jsonl"]).run();
    output
        .stdout_has("changed     a")
        .stderr_has("read 2 files, 7 bytes in [TIME]: 1 ok, 1 changed;")
        .check();
    assert!(!holds(&tree.read("t.jsonl"), b"other"));
    tree.remove("a");
    expect(
        &tree,
        &["--prune", "t.jsonl"],
        "missing     a\n",
        ": 1 ok, 1 missing",
        0,
    );
}

#[test]
fn of_a_recorded_folder_that_lost_all_of_its_files_nothing_is_pruned() {
    let tree = Tree::new();
    tree.file("disk1/a", "abc")
        .file("disk2/b", "b")
        .file("c", "c");
    hash(&tree, &["-o", "t.jsonl", "disk1", "disk2"]);
    hash(&tree, &["-o", "files.jsonl", "disk1/a", "c"]);
    let before = tree.read("t.jsonl");
    tree.remove("disk1/a");
    let output = tree.cmd(["update", "--prune", "t.jsonl"]).run();
    output
        .stdout_any()
        .stderr_has("disk1: no file is there, and the manifest lists some; is the disk mounted?")
        .code(2)
        .check();
    assert_eq!(tree.read("t.jsonl"), before);
    let missing = "missing     disk1/a\n";
    expect(&tree, &["t.jsonl"], missing, ": 1 ok, 1 missing", 1);
    // A file that was itself named is not there, and that is all.
    let dropped = "1 entry of files that are gone was dropped";
    expect(&tree, &["--prune", "files.jsonl"], missing, dropped, 0);
}

#[test]
fn a_list_written_elsewhere_says_where_it_verifies_from() {
    let tree = Tree::new();
    tree.file("a", "abc").dir("out");
    hash(&tree, &["-o", "MD5SUMS", "a"]);
    let args = ["-o", "out/MD5SUMS", "MD5SUMS"];
    expect(&tree, &args, "", "; verify with -C from there\n", 0);
}

#[test]
fn pipes_are_refused_and_not_waited_for() {
    let tree = Tree::new();
    tree.fifo("pipe");
    for name in ["-", "pipe"] {
        expect(
            &tree,
            &[name],
            "",
            "only a regular file can be brought up to date",
            2,
        );
    }
}

#[test]
fn a_list_that_was_touched_later_does_not_prove_more_than_when_it_came_to_be() {
    let tree = Tree::new();
    tree.file("a", "abc");
    if fs::metadata(tree.path("a")).unwrap().created().is_err() {
        return skipped("the file system does not say when a file came to be");
    }
    age();
    hash(&tree, &["-o", "MD5SUMS", "a"]);
    tree.file("a", "hello");
    age();
    // As other programs do in a long run: the list is created when it begins, and written to until
    // it ends.
    tree.modified("MD5SUMS", std::time::SystemTime::now());
    let output = tree.cmd(["update", "MD5SUMS"]).run();
    output
        .stdout_has("changed     a")
        .stderr_has("1 changed")
        .check();
}

#[test]
fn nothing_is_pruned_where_nothing_is() {
    let tree = Tree::new();
    tree.file("disk/a", "abc").file("disk/b", "b");
    hash(&tree, &["-C", "disk", "-o", "t.jsonl", "."]);
    hash(&tree, &["-C", "disk", "-o", "MD5SUMS", "."]);
    let (native, list) = (tree.read("t.jsonl"), tree.read("MD5SUMS"));
    tree.remove("disk/a").remove("disk/b");
    for args in [
        &["--prune", "t.jsonl"][..],
        &["t.jsonl"],
        &["--prune", "-C", "disk", "MD5SUMS"],
    ] {
        let output = tree.cmd(["update"].iter().chain(args)).run();
        output
            .stdout_any()
            .stderr_has("is the disk mounted?")
            .code(2)
            .check();
    }
    fs::remove_dir(tree.path("disk")).unwrap();
    let output = tree.cmd(["update", "--prune", "t.jsonl"]).run();
    output.stderr_has("is the disk mounted?").code(2).check();
    assert_eq!((tree.read("t.jsonl"), tree.read("MD5SUMS")), (native, list));
    assert_eq!(tree.names_in("."), ["MD5SUMS", "t.jsonl"]);
}

#[test]
fn what_cannot_be_read_keeps_its_entry_or_becomes_a_gap() {
    let tree = Tree::new();
    tree.file("a", "abc")
        .file("d/b", "b")
        .file("d/e/c", "c")
        .file("z", "z");
    hash(&tree, &["-o", "t.jsonl", "."]);
    let before = String::from_utf8(tree.read("t.jsonl")).unwrap();
    tree.file("a", "hello")
        .mode("a", 0)
        .mode("d", 0)
        .file("new", "n")
        .mode("new", 0);
    tree.dir("out").mode("out", 0o777).mode("t.jsonl", 0o644);
    let Some(cmd) = tree
        .cmd(["update", "--prune", "-o", "out/t.jsonl", "t.jsonl"])
        .unprivileged()
    else {
        return;
    };
    cmd.run()
        .stdout_has("unreadable  a: open: ")
        .stdout_has("unreadable  d: list: ")
        .stdout_has("unreadable  d/b: list: ")
        .stdout_has("unreadable  d/e/c: list: ")
        .stdout_has("unreadable  new: open: ")
        .stderr_has(": 1 ok, 5 unreadable")
        .code(2)
        .check();
    let after = String::from_utf8(tree.read("out/t.jsonl")).unwrap();
    for line in before.lines().filter(|line| line.starts_with("{\"path\"")) {
        assert!(after.contains(line), "{line}\n{after}");
    }
    assert!(after.contains("{\"path\":\"new\",\"error\":\"unreadable\"}"));
    assert!(after.contains("{\"path\":\"d\",\"error\":\"unreadable\"}"));
    // What may have changed meanwhile is not taken for proved by the newer manifest.
    tree.mode("a", 0o644)
        .mode("d", 0o755)
        .mode("new", 0o644)
        .remove("t.jsonl");
    let output = tree.cmd(["update", "out/t.jsonl"]).run();
    output
        .stdout_has("changed     a")
        .stderr_has(": 3 ok, 1 changed, 1 new")
        .check();
    assert!(!holds(&tree.read("out/t.jsonl"), b"error"));
}

#[test]
fn options_that_differ_from_what_is_recorded_are_refused() {
    let tree = Tree::new();
    tree.file("a", "abc").file("b.tmp", "b");
    hash(&tree, &["-o", "t.jsonl", "--exclude", "*.tmp", "."]);
    for (args, option, recorded, given) in [
        (&["--exclude", "*.bak"][..], "--exclude", "*.tmp", "*.bak"),
        (&["-L"], "-", "records", "follow"),
        (&["--max-depth", "3"], "--max-depth", "no limit", "3"),
        (&["--include", "*.c"], "--include", "none", "*.c"),
    ] {
        let args = ["update"].iter().chain(args).chain(&["t.jsonl"]);
        let refused = tree.cmd(args).run().stderr_has(option).code(2);
        refused.stderr_has(recorded).stderr_has(given).check();
    }
    expect(&tree, &["--exclude", "*.tmp", "t.jsonl"], "", ": 1 ok;", 0);
    expect(&tree, &["t.jsonl"], "", ": 1 ok;", 0);
}

#[test]
fn an_entry_that_the_options_leave_out_stays() {
    let tree = Tree::new();
    tree.file("a", "abc").file("b.tmp", "hello");
    let list = format!("{MD5_OF_ABC}  a\n{MD5_OF_HELLO}  b.tmp\n");
    tree.file("MD5SUMS", &list);
    let args = ["--prune", "--exclude", "*.tmp", "MD5SUMS"];
    let output = tree.cmd(["update"].iter().chain(&args)).run();
    output
        .stdout_has("unverified  b.tmp")
        .stderr_has(": 1 ok, 1 unverified")
        .code(2)
        .check();
    assert_eq!(tree.read("MD5SUMS"), list.as_bytes());
}

#[test]
fn trees_are_walked_in_the_order_in_which_they_were_named() {
    let tree = Tree::new();
    tree.file("b/x", "x")
        .file("a/y", "y")
        .file("a/old", "moved")
        .file("c/q", "q");
    hash(&tree, &["-o", "t.jsonl", "b", "a"]);
    tree.file("b/a", "new");
    fs::rename(tree.path("a/old"), tree.path("b/zz")).unwrap();
    let epoch = |cmd: crate::harness::Cmd| cmd.env("SOURCE_DATE_EPOCH", "1700000000");
    let updated = epoch(tree.cmd(["update", "t.jsonl"])).run();
    let told = "moved       a/old -> b/zz\nnew         b/a\n";
    updated
        .stdout(told)
        .stderr_has(": 2 ok, 1 moved, 1 new")
        .check();
    let updated = tree.read("t.jsonl");
    epoch(tree.cmd(["hash", "-q", "--force", "-o", "t.jsonl", "b", "a"]))
        .run()
        .check();
    assert_eq!(
        String::from_utf8_lossy(&updated),
        String::from_utf8_lossy(&tree.read("t.jsonl"))
    );
}

#[track_caller]
fn refused(tree: &Tree, name: &str, told: &str) {
    let before = tree.read(name);
    let output = tree.cmd(["update", name]).run();
    output.stdout_any().stderr_has(told).code(2).check();
    assert!(tree.read(name) == before);
}

#[test]
fn what_must_not_be_rewritten_is_refused_with_what_to_do() {
    let tree = Tree::new();
    tree.file("a", "abc");
    hash(&tree, &["-o", "t.jsonl", "a"]);
    let whole = tree.read("t.jsonl");
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    tree.file("cut.jsonl", lines[..lines.len() - 1].concat());
    refused(&tree, "cut.jsonl", "it is damaged");
    let edited = String::from_utf8(whole.clone())
        .unwrap()
        .replace("\"size\":3", "\"size\":4");
    tree.file("edited.jsonl", edited);
    refused(&tree, "edited.jsonl", "it is damaged");
    tree.file("junk.md5", format!("{MD5_OF_ABC}  a\nwhat is this\n"));
    refused(&tree, "junk.md5", "it is damaged");
    let signed = format!(
        "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n{SHA256_OF_ABC}  a\n\
         -----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----\n"
    );
    tree.file("SHA256SUMS.asc", signed);
    refused(
        &tree,
        "SHA256SUMS.asc",
        "signature, which an update would break",
    );
    tree.file(
        "sri",
        "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0= a\n",
    );
    refused(
        &tree,
        "sri",
        "format sri can be read but not written; 'multisum convert'",
    );
    tree.file("manifest-md5.txt", format!("{MD5_OF_ABC}  data/a\n"));
    refused(&tree, "manifest-md5.txt", "'multisum hash --bag FOLDER'");
    tree.file("sums", format!("{SHA256_OF_ABC}  a\n"));
    refused(&tree, "sums", "-a says which");
    expect(
        &tree,
        &["--include", "/a", "-a", "sha256", "sums"],
        "",
        ": 1 ok;",
        0,
    );
    tree.file("out.md5", format!("{MD5_OF_ABC}  ../a\n"));
    refused(&tree, "out.md5", "leads out of the base");
    let mtree = format!("#mtree\n./a type=file uid=7 md5digest={MD5_OF_ABC}\n");
    tree.file("x.mtree", mtree);
    refused(
        &tree,
        "x.mtree",
        "an update would lose that; 'multisum convert'",
    );
    tree.dir("folder");
    let output = tree.cmd(["update", "folder"]).run();
    output
        .stderr_has("'multisum hash --mhl' adds")
        .code(2)
        .check();
    let zipped = Command::new("gzip").arg(tree.path("t.jsonl")).status();
    if zipped.is_ok_and(|status| status.success()) {
        refused(&tree, "t.jsonl.gz", "it is stored as gzip");
    }
}

#[test]
fn a_signature_beside_the_manifest_is_said_to_be_outdated() {
    let tree = Tree::new();
    tree.file("d/a", "abc").file("t.jsonl.minisig", "untrusted");
    hash(&tree, &["-o", "t.jsonl", "d"]);
    let told =
        "t.jsonl.minisig: the signature is of the manifest as it was before; sign it again\n";
    expect(&tree, &["t.jsonl"], "", told, 0);
}

#[test]
fn links_and_permissions_of_the_manifest_stay_and_other_outputs_are_spared() {
    let tree = Tree::new();
    tree.file("a", "abc");
    hash(&tree, &["-o", "t.jsonl", "a"]);
    tree.mode("t.jsonl", 0o640);
    symlink("t.jsonl", tree.path("link.jsonl")).unwrap();
    tree.file("a", "hello");
    let output = tree.cmd(["update", "link.jsonl"]).run();
    output
        .stdout_has("changed     a")
        .stderr_has("1 changed")
        .check();
    assert!(tree.path("link.jsonl").is_symlink());
    let mode = fs::metadata(tree.path("t.jsonl"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
    tree.file("other.jsonl", "precious");
    let args = ["-o", "other.jsonl", "t.jsonl"];
    expect(&tree, &args, "", "it exists; --force replaces it", 2);
    assert_eq!(tree.read("other.jsonl"), b"precious");
    expect(
        &tree,
        &["--force", "-o", "other.jsonl", "t.jsonl"],
        "",
        ": 1 ok;",
        0,
    );
    assert_eq!(
        without_created(&tree.read("other.jsonl")),
        without_created(&tree.read("t.jsonl"))
    );
    expect(
        &tree,
        &["-o", "-", "t.jsonl"],
        "",
        "an update is written to a file",
        2,
    );
}

#[test]
fn programs_are_told_what_was_read() {
    let tree = Tree::new();
    tree.file("a", "abc");
    hash(&tree, &["-o", "t.jsonl", "."]);
    tree.file("b", "hello");
    let output = tree.cmd(["update", "--json", "t.jsonl"]).run();
    output
        .stdout_has("{\"path\":\"a\",\"outcome\":\"ok\",\"size\":3}\n{\"path\":\"b\",\"outcome\":\"new\"}\n")
        .stdout_has("{\"summary\":{\"command\":\"update\",\"ok\":1,")
        .stdout_has("\"bytes\":8,")
        .stdout_has("\"read\":2,")
        .stdout_has("\"exit_code\":0}}\n")
        .check();
}

#[test]
fn links_in_a_list_that_does_not_say_are_read_as_it_lists_them() {
    let tree = Tree::new();
    tree.file("a", "abc").link("l", "a");
    let list = format!("{MD5_OF_ABC}  a\n{MD5_OF_ABC}  l\n");
    tree.file("MD5SUMS", &list);
    expect(&tree, &["--prune", "MD5SUMS"], "", ": 2 ok;", 0);
    assert_eq!(tree.read("MD5SUMS"), list.as_bytes());
}

#[test]
fn names_are_written_as_the_walk_spells_them_and_comments_go() {
    let tree = Tree::new();
    tree.file("a", "abc").file("b", "hello");
    let list = format!("# by hand\n{MD5_OF_HELLO} *./b\n{MD5_OF_ABC} *./a\n");
    tree.file("MD5SUMS", list);
    expect(&tree, &["MD5SUMS"], "", ": 2 ok;", 0);
    let expected = format!("{MD5_OF_ABC}  a\n{MD5_OF_HELLO}  b\n");
    assert_eq!(tree.read("MD5SUMS"), expected.as_bytes());
}

#[test]
fn entries_with_fewer_algorithms_are_completed_where_the_format_allows() {
    let tree = Tree::new();
    tree.file("a", "abc").file("b", "hello");
    age();
    let list = format!(
        "MD5 (a) = {MD5_OF_ABC}\nSHA256 (a) = {SHA256_OF_ABC}\nMD5 (b) = {MD5_OF_HELLO}\nMD5 (c) = {MD5_OF_ABC}\n"
    );
    tree.file("sums", list);
    expect(
        &tree,
        &["sums"],
        "missing     c\n",
        "read 1 file, 5 bytes in [TIME]: 1 ok, 1 missing, 1 unread",
        1,
    );
    let text = String::from_utf8(tree.read("sums")).unwrap();
    assert!(text.contains("SHA256 (b) = 2cf24dba"), "{text}");
    assert!(
        text.ends_with(&format!("MD5 (c) = {MD5_OF_ABC}\n")),
        "{text}"
    );
}
