//! `verify` and what size and time say: silent damage, clocks that were set, files left unread.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::harness::{MD5_OF_ABC, Tree};

const HOUR: Duration = Duration::from_secs(3600);

/// Three files in `t` and a native manifest beside it.
fn recorded() -> Tree {
    let tree = Tree::new();
    tree.file("t/a", "abc")
        .file("t/b", "hello")
        .painted("t/c", 9000);
    tree.cmd(["hash", "-o", "m.jsonl", "t"])
        .run()
        .stderr_any()
        .check();
    tree
}

fn time_of(tree: &Tree, path: &str) -> SystemTime {
    fs::metadata(tree.path(path)).unwrap().modified().unwrap()
}

fn shift(tree: &Tree, paths: &[&str], by: Duration) {
    for path in paths {
        tree.modified(path, time_of(tree, path) + by);
    }
}

#[test]
fn damage_is_told_apart_also_where_the_file_system_keeps_coarser_times() {
    let tree = recorded();
    tree.flip("t/b", 1);
    let verify = || tree.cmd(["verify", "m.jsonl"]).run();
    let counts = "2 ok, 1 corrupt";
    verify()
        .stdout_has("corrupt     t/b  (")
        .stderr_has(counts)
        .code(1)
        .check();
    let exact = time_of(&tree, "t/b");
    let since = exact.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let second = SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs());
    tree.modified("t/b", second);
    verify()
        .stdout_has("corrupt     t/b  (")
        .stderr_has(counts)
        .code(1)
        .check();
    tree.modified("t/b", second + Duration::from_secs(3));
    verify()
        .stdout_has("changed     t/b  (")
        .stderr_any()
        .code(1)
        .check();
}

#[test]
fn a_clock_shift_is_told_once_and_explains_the_time_of_a_damaged_file() {
    let tree = recorded();
    shift(&tree, &["t/a", "t/b", "t/c"], HOUR);
    let verify = || tree.cmd(["verify", "m.jsonl"]).run();
    let told = "clock shift: the modification times of all 3 files that are ok differ from the \
                recorded ones by +1 h";
    verify().stderr_has(": 3 ok;").stderr_has(told).check();
    tree.flip("t/c", 1);
    let output = verify();
    output
        .stdout_has("corrupt     t/c")
        .stderr_has("2 ok, 1 corrupt")
        .stderr_has("all 2 files")
        .code(1)
        .check();
    // One file that is not shifted, and there is no shift.
    shift(&tree, &["t/b"], HOUR);
    let output = verify();
    assert!(!String::from_utf8_lossy(&output.stderr).contains("clock"));
    output
        .stdout_has("changed     t/c")
        .stderr_any()
        .code(1)
        .check();
}

#[test]
fn quick_reads_only_what_was_touched_and_counts_the_rest_apart() {
    let tree = recorded();
    let quick = || tree.cmd(["verify", "--quick", "m.jsonl"]).run();
    let unread = "3 not read: size and time are as recorded";
    quick()
        .stderr_has("verified 0 files, 0 bytes in [TIME]: 3 unread;")
        .stderr_has(unread)
        .check();
    // What a look cannot see is not said to be well either.
    tree.flip("t/a", 0);
    quick().stderr_has(": 3 unread;").stderr_has(unread).check();
    shift(&tree, &["t/a"], Duration::from_secs(1));
    tree.file("t/b", "longer now");
    let output = quick();
    output
        .stdout_has("changed     t/a  (")
        .stdout_has("changed     t/b  (size: ")
        .stderr_has("2 changed, 1 unread;")
        .stderr_has("1 not read: ")
        .code(1)
        .check();
    let json = tree.cmd(["verify", "--quick", "--json", "m.jsonl"]).run();
    json.stdout_has("{\"path\":\"t/c\",\"outcome\":\"unread\"}\n")
        .stdout_has("\"unread\":1,")
        .stdout_has("\"ok\":0,")
        .code(1)
        .check();
    tree.remove("t/c");
    quick()
        .stdout_has("missing     t/c\n")
        .stderr_any()
        .code(1)
        .check();
}

#[test]
fn quick_without_sizes_and_times_reads_everything_and_says_so() {
    let tree = Tree::new();
    tree.file("a", "abc")
        .file("L", format!("{MD5_OF_ABC}  a\n"));
    let output = tree.cmd(["verify", "--quick", "L"]).run();
    output
        .stderr_has(": 1 ok;")
        .stderr_has("--quick: 1 file was read, since no size and modification time")
        .check();
    tree.file("L", "");
    let empty = tree.cmd(["verify", "--quick", "L"]).run();
    empty.stderr_has("nothing was verified").code(2).check();
}

/// The outcome of every name, and the summary.
fn outcomes(tree: &Tree, args: &[&str]) -> (BTreeMap<String, String>, Value) {
    let all = ["verify", "--json"].iter().chain(args);
    let output = tree.cmd(all).run();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut found = BTreeMap::new();
    let mut summary = Value::Null;
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        if let Some(path) = value["path"].as_str() {
            let outcome = value["outcome"].as_str().unwrap_or("skipped");
            let before = found.insert(path.to_owned(), outcome.to_owned());
            assert_eq!(before, None, "{path} was told twice");
        } else if let Some(end) = value.get("summary") {
            summary = end.clone();
        }
    }
    (found, summary)
}

#[test]
fn slices_are_everything_and_share_nothing() {
    let tree = Tree::new();
    for number in 0..40 {
        tree.file(format!("t/{}/f{number}", number % 3), format!("{number}"));
    }
    tree.cmd(["hash", "-o", "m.jsonl", "t"])
        .run()
        .stderr_any()
        .check();
    for number in 0..40 {
        tree.file(format!("t/{}/new{number}", number % 3), "new");
    }
    tree.remove("t/0/f0").remove("t/1/f1").flip("t/2/f2", 0);
    let (whole, _) = outcomes(&tree, &["m.jsonl"]);
    let mut joined = BTreeMap::new();
    for index in 1..=5 {
        let slice = format!("{index}/5");
        let (part, _) = outcomes(&tree, &["--slice", &slice, "m.jsonl"]);
        assert!(!part.is_empty() && part.len() < whole.len());
        let before = joined.len();
        let len = part.len();
        joined.extend(part);
        assert_eq!(joined.len(), before + len, "slice {slice} is not its own");
    }
    assert_eq!(joined, whole);
    let output = tree.cmd(["verify", "--slice", "6/5", "m.jsonl"]).run();
    output.stderr_has("no slice 6 of 5").code(2).check();
}

#[test]
fn every_outcome_has_its_count_and_they_add_up() {
    let tree = Tree::new();
    for name in [
        "ok", "changed", "corrupt", "missing", "moved", "folder", "twice",
    ] {
        tree.file(format!("t/{name}"), format!("content of {name}"));
    }
    tree.cmd(["hash", "-o", "m.csv", "t"])
        .run()
        .stderr_any()
        .check();
    let list = String::from_utf8(tree.read("m.csv")).unwrap();
    let twice = list.lines().find(|line| line.contains("twice")).unwrap();
    let digest = twice.rsplit(',').next().unwrap();
    let other = twice.replace(digest, &"0".repeat(64));
    tree.file("m.csv", format!("{list}{other}\n"));
    tree.file("t/changed", "other")
        .flip("t/corrupt", 0)
        .file("t/new", "new");
    tree.shell("cd t; rm missing folder; mkdir folder; mv moved away; ln -s ok link")
        .run()
        .check();
    let (found, summary) = outcomes(&tree, &["--exact", "m.csv"]);
    let expected = [
        ("t/changed", "changed"),
        ("t/corrupt", "corrupt"),
        ("t/folder", "unreadable"),
        ("t/link", "skipped"),
        ("t/missing", "missing"),
        ("t/moved", "moved"),
        ("t/new", "new"),
        ("t/ok", "ok"),
        ("t/twice", "unverified"),
    ];
    let expected = expected.map(|(name, word)| (name.to_owned(), word.to_owned()));
    assert_eq!(found, BTreeMap::from(expected));
    let words = [
        "ok",
        "changed",
        "corrupt",
        "missing",
        "moved",
        "new",
        "unreadable",
        "unstable",
        "unverified",
        "unread",
    ];
    let mut sum = 0;
    for word in words {
        let count = found.values().filter(|outcome| *outcome == word).count();
        assert_eq!(summary[word], count, "{word}");
        sum += count;
    }
    assert_eq!(sum + 1, found.len(), "all but the link");
    assert_eq!(summary["skipped"], 1);
}
