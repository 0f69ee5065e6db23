//! `diff`: manifests and trees against each other.

use crate::harness::{MD5_OF_ABC, MD5_OF_HELLO, MD5_OF_NOTHING, Output, Tree};

fn md5(name: &str) -> String {
    format!("{MD5_OF_ABC}  {name}\n")
}

/// What was told of each name, without the digests.
fn told(output: &Output) -> Vec<String> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let line = |line: &str| line.split("  (").next().unwrap().to_owned();
    text.lines().map(line).collect()
}

/// A tree before and after a year: folders `a` and `b`, each with a native manifest and a list.
fn year() -> Tree {
    let tree = Tree::new();
    for folder in ["a", "b"] {
        let file = |name: &str, content: &str| {
            tree.file(format!("{folder}/{name}"), content);
        };
        file("keep", "k");
        file("dup1", "s");
        file("empty1", "");
    }
    for (name, content) in [
        ("edit", "e1"),
        ("gone", "g"),
        ("d/ren", "r"),
        ("dup2", "s"),
        ("empty2", ""),
    ] {
        tree.file(format!("a/{name}"), content);
    }
    for (name, content) in [("edit", "e2"), ("ren2", "r"), ("new", "n")] {
        tree.file(format!("b/{name}"), content);
    }
    for folder in ["a", "b"] {
        for output in ["jsonl", "sha256"] {
            let output = format!("{folder}.{output}");
            let hash = tree.cmd(["hash", "-C", folder, "-o", &output, "."]);
            hash.run().stderr_any().check();
        }
    }
    tree
}

const YEAR: [&str; 6] = [
    "changed     edit",
    "moved       d/ren -> ren2",
    "removed     dup2",
    "removed     empty2",
    "removed     gone",
    "added       new",
];

const COUNTS: &str =
    ": 3 unchanged, 1 changed, 3 removed, 1 moved, 1 added; old a.jsonl, new b.jsonl; sha256\n";

#[test]
fn a_year_is_told_the_same_whatever_the_sides_are() {
    let tree = year();
    for old in ["a.jsonl", "a.sha256", "a"] {
        for new in ["b.jsonl", "b.sha256", "b"] {
            let output = tree.cmd(["diff", old, new]).run();
            assert_eq!(told(&output), YEAR, "{old} {new}");
            let counts = COUNTS.replace("a.jsonl", old).replace("b.jsonl", new);
            output.stdout_any().stderr_has(&counts).code(1).check();
        }
    }
}

#[test]
fn what_is_unchanged_is_shown_when_asked_and_no_difference_is_code_0() {
    let tree = year();
    let output = tree.cmd(["diff", "-v", "a.jsonl", "a"]).run();
    assert_eq!(told(&output).len(), 8);
    output
        .stdout_has("unchanged   d/ren\n")
        .stderr_has("a.jsonl: format jsonl")
        .check();
    let output = tree.cmd(["diff", "a.jsonl", "a.sha256"]).run();
    output
        .stderr("compared 8 files in [TIME]: 8 unchanged; old a.jsonl, new a.sha256; sha256\n")
        .check();
    tree.cmd(["diff", "-q", "a", "a"]).run().check();
}

#[test]
fn another_time_is_no_difference() {
    let tree = year();
    let later = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(86_400);
    tree.modified("a/keep", later);
    let hash = tree.cmd(["hash", "-C", "a", "-o", "later.jsonl", "."]);
    hash.run().stderr_any().check();
    let output = tree.cmd(["diff", "a.jsonl", "later.jsonl"]).run();
    output.stderr_has(": 8 unchanged; ").check();
}

#[test]
fn manifests_are_compared_by_what_both_have_and_nothing_in_common_is_no_equality() {
    let tree = Tree::new();
    let sha1 = "a9993e364706816aba3e25717850c26c9cd0d89d";
    let both = format!("MD5 (a) = {MD5_OF_ABC}\nSHA1 (a) = {sha1}\n");
    tree.file("both", both).file("MD5SUMS", md5("a"));
    tree.file("SHA1SUMS", format!("{sha1}  a\n"));
    let output = tree.cmd(["diff", "both", "MD5SUMS"]).run();
    let weak = "not proof against tampering: only md5 was compared\n";
    output
        .stderr_has(": 1 unchanged; ")
        .stderr_has(weak)
        .check();
    let output = tree.cmd(["diff", "MD5SUMS", "SHA1SUMS"]).run();
    output
        .stdout("unverified  a: no algorithm in common: md5 in the old one, sha1 in the new one\n")
        .stderr_has(": 1 unverified; ")
        .code(2)
        .check();
}

#[test]
fn a_move_is_one_to_one_and_found_by_whatever_both_have() {
    let tree = Tree::new();
    let list = |names: &[&str]| names.iter().map(|name| md5(name)).collect::<String>();
    tree.file("MD5OLD", list(&["a1", "a2", "kept"]));
    tree.file("MD5NEW", list(&["b", "kept"]));
    let output = tree.cmd(["diff", "MD5OLD", "MD5NEW"]).run();
    output
        .stdout("moved       a1 -> b\nremoved     a2\n")
        .stderr_any()
        .code(1)
        .check();
    // An empty file is like any other, also where no size is recorded.
    tree.file("MD5OLD", format!("{MD5_OF_NOTHING}  a\n"));
    tree.file("MD5NEW", format!("{MD5_OF_NOTHING}  b\n"));
    let output = tree.cmd(["diff", "MD5OLD", "MD5NEW"]).run();
    output
        .stdout("removed     a\nadded       b\n")
        .stderr_any()
        .code(1)
        .check();
}

#[test]
fn gaps_are_unverified_and_what_lies_below_them_may_be_there() {
    let tree = Tree::new();
    tree.file("MD5OLD", md5("a") + &md5("d/x") + &md5("da"));
    let gap = "# multisum gap: unreadable d\n";
    tree.file("MD5NEW", md5("a") + gap + &md5("da"));
    for (old, new) in [("MD5OLD", "MD5NEW"), ("MD5NEW", "MD5OLD")] {
        let output = tree.cmd(["diff", old, new]).run();
        output
            .stdout(
                "unverified  d: recorded as not hashed; 'multisum update' hashes what can be read now\n\
                 unverified  d/x: it may lie in a folder that could not be read\n",
            )
            .stderr_has(": 2 unchanged, 2 unverified; ")
            .code(2)
            .check();
    }
}

#[test]
fn what_lies_in_a_closed_folder_of_a_tree_is_not_removed() {
    let tree = Tree::new();
    tree.file("t/a", "abc").file("t/closed/b", "abc");
    tree.file("MD5SUMS", md5("a") + &md5("closed/b"));
    tree.mode("t/closed", 0);
    let Some(cmd) = tree.cmd(["diff", "MD5SUMS", "t"]).unprivileged() else {
        return;
    };
    cmd.run()
        .stdout_has("unreadable  closed: ")
        .stdout_has("unverified  closed/b: it may lie in a folder that could not be read\n")
        .stderr_has("1 unchanged, 1 unreadable, 1 unverified")
        .code(2)
        .check();
}

#[test]
fn a_damaged_manifest_is_compared_and_the_run_is_incomplete() {
    let tree = year();
    let text = String::from_utf8(tree.read("b.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    tree.file("b.jsonl", lines[..lines.len() - 1].join("\n") + "\n");
    let output = tree.cmd(["diff", "a.jsonl", "b.jsonl"]).run();
    output
        .stdout_has("the manifest is incomplete: it has no closing record\n")
        .stdout_has("moved       d/ren -> ren2\n")
        .stderr_has("1 line is malformed\n")
        .code(2)
        .check();
}

#[test]
fn only_files_that_may_be_equal_are_read() {
    let tree = Tree::new();
    tree.file("a/same", "abc").file("b/same", "abc");
    tree.file("a/longer", "abc").file("b/longer", "abcd");
    tree.file("b/new", "12345").file("a/gone", "1234567");
    let bytes = |old: &str, new: &str| {
        let output = tree.cmd(["diff", "--json", old, new]).run();
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        output.stdout_any().code(1).check();
        let (_, rest) = text.split_once("\"bytes\":").unwrap();
        rest.split(',').next().unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(bytes("a", "b"), 6);
    let hash = tree.cmd(["hash", "-C", "a", "-o", "a.jsonl", "."]);
    hash.run().stderr_any().check();
    assert_eq!(bytes("a.jsonl", "b"), 3);
    assert_eq!(bytes("b", "a.jsonl"), 3);
    // A list says no sizes, so that every new file may be the one that is gone.
    tree.file("MD5SUMS", md5("same") + &md5("longer") + &md5("gone"));
    assert_eq!(bytes("MD5SUMS", "b"), 3 + 4 + 5);
}

#[test]
fn a_tree_is_walked_as_the_manifest_says_and_options_may_not_say_otherwise() {
    let tree = Tree::new();
    tree.file("t/a", "abc").file("t/x.tmp", "x");
    let hash = tree.cmd([
        "hash",
        "-C",
        "t",
        "--exclude",
        "*.tmp",
        "-o",
        "t.jsonl",
        ".",
    ]);
    hash.run().stderr_any().check();
    tree.file("t/y.tmp", "y");
    tree.cmd(["diff", "-q", "t.jsonl", "t"]).run().check();
    let again = tree.cmd(["diff", "-q", "--exclude", "*.tmp", "t.jsonl", "t"]);
    again.run().check();
    let other = tree.cmd(["diff", "--exclude", "*.bak", "t.jsonl", "t"]);
    other
        .run()
        .stderr_has("--exclude")
        .stderr_has("*.bak")
        .stderr_has("*.tmp")
        .code(2)
        .check();
    // Nothing is recorded here, and the globs are for both sides.
    tree.file("MD5SUMS", md5("a") + &md5("z.tmp"));
    let list = tree.cmd(["diff", "-q", "--exclude", "*.tmp", "MD5SUMS", "t"]);
    list.run()
        .stderr("not proof against tampering: only md5 was compared\n")
        .check();
}

#[test]
fn a_manifest_in_the_tree_is_no_part_of_it() {
    let tree = Tree::new();
    tree.file("t/a", "abc");
    let hash = tree.cmd(["hash", "-o", "t/SHA256SUMS", "t"]);
    hash.run().stderr_any().check();
    tree.cmd(["diff", "-q", "t/SHA256SUMS", "t"]).run().check();
    tree.shell("$M diff -q - t <t/SHA256SUMS").run().check();
}

#[test]
fn folders_and_links_that_a_manifest_lists_are_looked_for() {
    let tree = Tree::new();
    let list = format!(
        "#mtree\n./e type=dir\n./d/a type=file md5={MD5_OF_ABC}\n./l type=link link=d/a\n./gone type=dir\n"
    );
    tree.file("t/d/a", "abc")
        .dir("t/e")
        .link("t/l", "d/a")
        .file("t.mtree", list);
    let output = tree.cmd(["diff", "t.mtree", "t"]).run();
    output
        .stdout("removed     gone\n")
        .stderr_has(": 3 unchanged, 1 removed; ")
        .code(1)
        .check();
    tree.remove("t/l").link("t/l", "d/b");
    let output = tree.cmd(["diff", "t.mtree", "t"]).run();
    output
        .stdout("changed     l  (link: d/a became d/b)\nremoved     gone\n")
        .stderr_any()
        .code(1)
        .check();
}

#[test]
fn links_of_two_trees_are_compared_by_their_targets_and_other_kinds_by_kind() {
    let tree = Tree::new();
    tree.file("a/file", "abc").link("b/file", "keep");
    tree.link("a/kind", "x").fifo("b/kind");
    tree.link("a/link", "x").link("b/link", "y");
    for folder in ["a", "b"] {
        tree.file(format!("{folder}/keep"), "abc")
            .link(format!("{folder}/same"), "x")
            .fifo(format!("{folder}/pipe"));
    }
    let output = tree.cmd(["diff", "a", "b"]).run();
    output
        .stdout(
            "changed     file  (type: file became symbolic link)\n\
             changed     kind  (type: symbolic link became device, socket or pipe)\n\
             changed     link  (link: x became y)\n",
        )
        .stderr_has(": 1 unchanged, 3 changed, 2 skipped; ")
        .code(1)
        .check();
    let output = tree.cmd(["diff", "-v", "a", "a"]).run();
    output
        .stdout_has("skipped     link  (symbolic link)\n")
        .stdout_has("skipped     pipe  (named pipe)\n")
        .stderr_has(": 2 unchanged, 4 skipped; ")
        .check();
}

#[test]
fn what_lay_in_a_folder_that_is_a_file_now_is_removed() {
    let tree = Tree::new();
    tree.file("t/p/d/x", "abc");
    let hash = tree.cmd(["hash", "-C", "t", "-o", "m.jsonl", "p/d"]);
    hash.run().stderr_any().check();
    std::fs::remove_dir_all(tree.path("t/p")).unwrap();
    tree.file("t/p", "abc");
    let output = tree.cmd(["diff", "m.jsonl", "t"]).run();
    output
        .stdout("removed     p/d/x\n")
        .stderr_has(": 1 removed; ")
        .code(1)
        .check();
}

#[test]
fn json_has_the_words_of_the_comparison() {
    let tree = Tree::new();
    tree.file("MD5OLD", md5("a") + &md5("b") + &md5("c"));
    tree.file(
        "MD5NEW",
        md5("a") + &format!("{MD5_OF_HELLO}  b\n") + &md5("d"),
    );
    let output = tree.cmd(["diff", "--json", "MD5OLD", "MD5NEW"]).run();
    output
        .stdout_has("{\"path\":\"a\",\"outcome\":\"unchanged\"}\n")
        .stdout_has("{\"path\":\"b\",\"outcome\":\"changed\",\"algorithm\":\"md5\",")
        .stdout_has("{\"path\":\"c\",\"outcome\":\"moved\",\"to\":\"d\"}\n")
        .stdout_has(
            "\"command\":\"diff\",\"unchanged\":1,\"changed\":1,\"corrupt\":0,\"removed\":0,",
        )
        .stdout_has("\"old\":\"MD5OLD\",\"new\":\"MD5NEW\",\"algorithms\":[\"md5\"]")
        .stdout_has("\"exit_code\":1}}\n")
        .code(1)
        .check();
}

#[test]
fn nothing_to_compare_is_no_success() {
    let tree = Tree::new();
    tree.dir("a").dir("b");
    let output = tree.cmd(["diff", "a", "b"]).run();
    output.stderr_has("nothing was compared\n").code(2).check();
    let output = tree.cmd(["diff", "-", "-"]).run();
    output
        .stderr("multisum: standard input can be read only once\n")
        .code(2)
        .check();
    let output = tree.cmd(["diff", "a", "gone"]).run();
    output.stderr_has("multisum: gone: open: ").code(2).check();
}

/// Only what differs by name is kept.
#[test]
fn sorted_manifests_are_compared_in_little_memory() {
    let tree = Tree::new();
    let list = |changed: &str| {
        let line = |number: u32| {
            let changed = if number.is_multiple_of(10_000) {
                changed
            } else {
                "0"
            };
            format!(
                "{changed}{number:031x}  folder/{:03}/a long enough name {number:06}\n",
                number / 1000
            )
        };
        (0..100_000).map(line).collect::<String>()
    };
    tree.file("MD5OLD", list("0")).file("MD5NEW", list("1"));
    let started = tree.cmd(["diff", "-q", "MD5OLD", "MD5NEW"]).start();
    let mut peak = 0;
    loop {
        match started.peak_kilobytes() {
            0 => break,
            kilobytes => peak = peak.max(kilobytes),
        }
    }
    let output = started.wait();
    assert_eq!(told(&output).len(), 10);
    output.stdout_any().stderr_any().code(1).check();
    assert!(peak < 24 * 1024, "{peak} kB");
}
