//! What the README promises to those who come from another tool: the same digests, the same verdict.

use std::collections::BTreeSet;

use crate::common::{skipped, tool};
use crate::harness::{Output, Tree};

const README: &str = include_str!("../../README.md");

/// Not to be had here; only our side of the row is run. What they write is kept in
/// `tests/data/manifests/` and read by other tests.
const OF_WINDOWS: [&str; 2] = ["Get-FileHash", "certutil"];

/// The rows of the table with this heading: what was typed, what is typed now.
fn rows(heading: &str) -> Vec<(&'static str, &'static str)> {
    let start = README.find(heading).unwrap();
    let rows = README[start..].lines().skip(2);
    let rows = rows.take_while(|row| row.starts_with("| `"));
    let rows: Vec<_> = rows
        .map(|row| {
            let cells = row.trim_matches(['|', ' ', '`']);
            cells.split_once("` | `").unwrap()
        })
        .collect();
    assert!(rows.len() > 5, "{rows:?}");
    rows
}

fn tree() -> Tree {
    let tree = Tree::new();
    for folder in ["photos", "copy"] {
        tree.file(format!("{folder}/2024/a.jpg"), "sunrise");
        tree.file(format!("{folder}/b.jpg"), "noon");
        tree.file(format!("{folder}/c.jpg"), "sunset");
    }
    tree.file("letters/1.txt", "Dear");
    tree
}

/// The lists and the bag that the second table speaks of.
fn with_lists() -> Tree {
    let tree = tree();
    let script = "cp -r letters bag; $M hash --bag bag
        for list in SHA256SUMS MD5SUMS photos.sha256 photos.sfv; do $M hash -o $list photos; done
        $M hash -a blake3 photos > photos.b3
        $M hash -a md5,sha256 -f hashdeep photos > list.hashdeep
        $M hash -C photos . > RELATIVE; $M hash -C photos -o photos.mtree .";
    tree.shell(&format!("set -e; exec >&2; {script}"))
        .run()
        .stderr_any()
        .check();
    tree
}

fn damage(tree: &Tree) {
    tree.flip("photos/c.jpg", 3);
    if tree.path("bag").exists() {
        tree.flip("bag/data/1.txt", 1);
    }
}

fn run(tree: &Tree, command: &str) -> Output {
    let script = format!("multisum() {{ $M \"$@\"; }}; {command}");
    tree.shell(&script).env("TZ", "UTC").run()
}

/// Whether the tool of a row is there; said if not.
fn is_there(typed: &str) -> bool {
    let program = typed.split(' ').next().unwrap();
    if OF_WINDOWS.contains(&program) {
        return false;
    }
    // The row of find calls sha256sum, which every machine has that has find.
    tool(program).is_some()
}

/// Digests in standard output and in the files that were written; a tag manifest has those of a file
/// with dates in it.
fn digests(command: &str, tree: &Tree, before: &Tree, output: &Output) -> BTreeSet<String> {
    let old = before.list();
    let written = tree.list().into_iter().filter(|name| !old.contains(name));
    let mut text = output.stdout.clone();
    for name in written {
        let name = name.to_str().unwrap().to_owned();
        if !name.contains("tagmanifest") && !name.contains("/data/") {
            text.extend(tree.read(&name));
        }
    }
    let text = String::from_utf8(text).unwrap().to_lowercase();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    // Elsewhere eight digits may be a part of a time.
    let shortest = if command.contains("sfv") { 8 } else { 32 };
    let is_digest = |word: &&str| {
        let is_hex = word.bytes().all(|c| c.is_ascii_hexdigit());
        is_hex && word.len() >= shortest && [8, 32, 40, 64, 128].contains(&word.len())
    };
    words.filter(is_digest).map(str::to_owned).collect()
}

#[test]
fn what_hashed_before_gives_the_same_digests_now() {
    for (typed, now) in rows("| to hash you typed |") {
        let untouched = tree();
        let ours = tree();
        let output = run(&ours, now);
        let found = digests(now, &ours, &untouched, &output);
        assert!(
            output.code == Some(0) && !found.is_empty(),
            "{now}\n{output}"
        );
        if !is_there(typed) {
            continue;
        }
        let theirs = tree();
        let output = run(&theirs, typed);
        if output.code != Some(0) {
            skipped(&format!("{typed}\n{output}"));
            continue;
        }
        let expected = digests(now, &theirs, &untouched, &output);
        assert_eq!(found, expected, "{typed}: {now}");
    }
}

#[test]
fn what_verified_before_gives_the_same_verdict_now() {
    for (typed, now) in rows("| to verify you typed |") {
        let good = with_lists();
        let bad = with_lists();
        damage(&bad);
        let verdicts = |command: &str| {
            let [good, bad] = [&good, &bad].map(|tree| run(tree, command));
            let well = [good.code == Some(0), bad.code == Some(0)];
            (well, format!("{command}\n{good}\n{bad}"))
        };
        let (ours, shown) = verdicts(now);
        assert_eq!(ours, [true, false], "{shown}");
        if is_there(typed) {
            let (theirs, shown) = verdicts(typed);
            assert_eq!(theirs, [true, false], "{shown}");
        }
    }
}
