//! `multisum verify` in portions: `--max-bytes`, `--max-time`, `--scrub-state`.

use std::fs;
use std::time::SystemTime;

use crate::harness::Tree;

/// Ten files of a hundred bytes, and their manifest.
fn listed() -> Tree {
    let tree = Tree::new();
    for number in 0..10 {
        tree.painted(format!("t/{number}"), 100 + number);
    }
    tree.cmd(["hash", "-q", "-o", "t/m.jsonl", "t"])
        .run()
        .check();
    tree
}

const SCRUB: [&str; 6] = [
    "verify",
    "-v",
    "--scrub-state",
    "state",
    "--max-bytes",
    "300",
];

/// The names that a run found to be ok.
fn verified(tree: &Tree) -> Vec<String> {
    let args = [&SCRUB[..], &["t/m.jsonl"]].concat();
    let output = tree.cmd(args).run();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    output.stdout_any().stderr_any().check();
    let names = text.lines().filter_map(|line| line.strip_prefix("ok "));
    names.map(|name| name.trim().to_owned()).collect()
}

#[test]
fn runs_with_a_limit_go_through_everything_before_anything_comes_twice() {
    let tree = listed();
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.extend(verified(&tree));
    }
    let mut first: Vec<String> = seen[..10].to_vec();
    first.sort();
    first.dedup();
    assert_eq!(first.len(), 10, "{seen:?}");
    // The state is not in the tree that is looked through, and not new in it either.
    assert!(
        fs::read(tree.path("state"))
            .unwrap()
            .starts_with(b"# when multisum")
    );
}

#[test]
fn what_was_not_checked_and_what_has_waited_longest_is_said() {
    let tree = listed();
    let args = [&SCRUB[..], &["t/m.jsonl"]].concat();
    tree.cmd(&args)
        .run()
        .stdout_any()
        .stderr_has("the portion is done: 7 entries were not checked")
        .check();
    tree.cmd(&args)
        .run()
        .stdout_any()
        .stderr_has("4 listed file(s) were never found well since this state was begun")
        .check();
    tree.cmd(["verify", "--scrub-state", "state", "t/m.jsonl"])
        .run()
        .stderr_has("the file that has waited longest was last found well 0 day(s) ago")
        .check();
}

#[test]
fn a_file_that_is_not_well_keeps_its_turn() {
    let tree = listed();
    tree.flip("t/0", 3);
    tree.modified("t/0", SystemTime::now());
    for _ in 0..5 {
        let args = [&SCRUB[..], &["t/m.jsonl"]].concat();
        let report = tree.cmd(args).run().stderr_any();
        report.stdout_has("changed     0  ").code(1).check();
    }
}

#[test]
fn a_time_that_is_over_ends_a_run_that_has_verified_something() {
    let tree = listed();
    tree.cmd(["verify", "--max-time", "1d", "t/m.jsonl"])
        .run()
        .stderr_has("10 ok")
        .check();
    for bad in ["0", "1w", "soon"] {
        tree.cmd(["verify", "--max-time", bad, "t/m.jsonl"])
            .run()
            .stderr_has("--max-time")
            .code(2)
            .check();
    }
}

#[test]
fn a_state_that_is_something_else_is_never_overwritten() {
    let tree = listed();
    tree.file("photo.jpg", "not a state");
    tree.cmd(["verify", "--scrub-state", "photo.jpg", "t/m.jsonl"])
        .run()
        .stderr("multisum: photo.jpg: not a file with the state of earlier runs\n")
        .code(2)
        .check();
    assert_eq!(tree.read("photo.jpg"), b"not a state");
    tree.cmd(["verify", "--scrub-state", "s", "t/m.jsonl", "t/m.jsonl"])
        .run()
        .stderr_has("--scrub-state is of one manifest")
        .code(2)
        .check();
}
