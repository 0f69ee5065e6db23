//! `--io direct` reads the medium and not memory: the page cache shows it.

use std::fs::File;

use rustix::fs::{Advice, fadvise};

use crate::common::skipped;
use crate::harness::Tree;

const LEN: usize = 8 << 20;

/// How many bytes of the file are in the page cache.
fn cached(tree: &Tree) -> Option<u64> {
    let args = ["--bytes", "--noheadings", "--output", "RES", "t/big"];
    let output = tree.tool("fincore", args)?.run();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    output.stdout_any().check();
    // It prints nothing of a file without a page.
    Some(text.trim().parse().unwrap_or(0))
}

/// Writes the file's pages to the medium and asks the system to forget them.
fn forget(tree: &Tree) {
    let file = File::open(tree.path("t/big")).unwrap();
    file.sync_all().unwrap();
    fadvise(&file, 0, None, Advice::DontNeed).unwrap();
}

#[test]
fn direct_reading_leaves_no_page_behind_and_plain_reading_does() {
    let tree = Tree::new();
    tree.painted("t/big", LEN);
    tree.cmd(["hash", "-o", "m.jsonl", "t"])
        .run()
        .stderr_any()
        .check();
    forget(&tree);
    match cached(&tree) {
        None => return,
        Some(0) => {}
        Some(_) => return skipped("this file system keeps its files in memory"),
    }
    let direct = tree.cmd(["verify", "--io", "direct", "m.jsonl"]).run();
    if String::from_utf8_lossy(&direct.stderr).contains("--io direct") {
        return skipped("this file system refuses to bypass the page cache");
    }
    direct.stderr_has(": 1 ok;").check();
    assert_eq!(cached(&tree), Some(0), "bytes that came by way of memory");

    let plain = tree.cmd(["verify", "m.jsonl"]).run();
    plain.stderr_has(": 1 ok;").check();
    assert!(cached(&tree) > Some(LEN as u64 / 2));
}
