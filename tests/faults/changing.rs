//! Files and directories that are swapped for something else between the walk and the open.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

use crate::common::refused;
use crate::harness::{MD5_OF_ABC, MD5_OF_HELLO, Output, Tree, holds};
use crate::stage::faulty;

/// Names of the tree `a`, `d/f`, `z`, and of `outside` beside it, whose file no list may hold.
fn tree() -> Tree {
    let tree = Tree::new();
    tree.file("a", "abc").file("d/f", "abc").file("z", "abc");
    tree.file("../outside/f", "hello");
    tree
}

/// Hashes the tree; something happens while the open of `path` is held up.
fn held_up(tree: &Tree, path: &str, args: &[&str], change: impl FnOnce(&Path)) -> Option<Output> {
    let fault = "openat,openat2:delay_enter=700000:when=1";
    let cmd = faulty(tree, path, fault, args)?;
    let started = cmd.start();
    thread::sleep(Duration::from_millis(400));
    change(&tree.path(""));
    Some(started.wait())
}

const HASH: [&str; 5] = ["hash", "-a", "md5", "-j", "1"];

/// `a` and `z` are listed, `gone` is a gap, and nothing of what lies outside is read.
#[track_caller]
fn expect_gap(output: Output, gone: &str) {
    assert!(!holds(&output.stdout, MD5_OF_HELLO.as_bytes()), "{output}");
    output
        .stdout(format!(
            "{MD5_OF_ABC}  a\n# multisum gap: unreadable {gone}\n{MD5_OF_ABC}  z\n"
        ))
        .stderr_has(&format!("unreadable  {gone}: "))
        .stderr_has("hashed 2 files, 6 bytes")
        .code(2)
        .check();
}

#[track_caller]
fn swapped(change: impl FnOnce(&Path)) {
    let tree = tree();
    let change = |root: &Path| {
        fs::remove_file(root.join("d/f")).unwrap();
        change(&root.join("d/f"));
    };
    if let Some(output) = held_up(&tree, "d/f", &HASH, change) {
        expect_gap(output, "d/f");
    }
}

pub(crate) fn a_file_that_vanishes_is_unreadable_to_hash_and_missing_to_verify() {
    swapped(|_| ());
    let tree = tree();
    let hashed = tree.cmd(["hash", "-q", "-C", ".", "-o", "../L"]).run();
    hashed.check();
    let vanish = |root: &Path| fs::remove_file(root.join("d/f")).unwrap();
    let args = ["verify", "-j", "1", "-C", ".", "../L"];
    if let Some(output) = held_up(&tree, "d/f", &args, vanish) {
        output
            .stdout("missing     d/f\n")
            .stderr_has("2 ok, 1 missing")
            .code(1)
            .check();
    }
}

pub(crate) fn a_file_swapped_for_a_link_is_not_followed() {
    swapped(|path| symlink("../../outside/f", path).unwrap());
}

pub(crate) fn a_file_swapped_for_a_pipe_is_not_waited_for() {
    let mode = Mode::from_raw_mode(0o644);
    swapped(|path| mknodat(CWD, path, FileType::Fifo, mode, 0).unwrap());
}

pub(crate) fn a_file_swapped_for_a_device_is_not_read() {
    let (mode, zero) = (Mode::from_raw_mode(0o644), makedev(1, 5));
    let probe = Tree::new();
    if mknodat(
        CWD,
        probe.path("zero"),
        FileType::CharacterDevice,
        mode,
        zero,
    )
    .is_err()
    {
        return refused("devices cannot be made here");
    }
    swapped(|path| mknodat(CWD, path, FileType::CharacterDevice, mode, zero).unwrap());
}

pub(crate) fn verify_reads_no_file_that_was_swapped_for_a_pipe() {
    let tree = tree();
    tree.cmd(["hash", "-q", "-C", ".", "-o", "../L"])
        .run()
        .check();
    let swap = |root: &Path| {
        fs::remove_file(root.join("d/f")).unwrap();
        let mode = Mode::from_raw_mode(0o644);
        mknodat(CWD, root.join("d/f"), FileType::Fifo, mode, 0).unwrap();
    };
    let args = ["verify", "-j", "1", "-C", ".", "../L"];
    if let Some(output) = held_up(&tree, "d/f", &args, swap) {
        output
            .stdout_has("unreadable  d/f: ")
            .stderr_has("2 ok, 1 unreadable")
            .code(2)
            .check();
    }
}

fn swap_folder(root: &Path) {
    fs::rename(root.join("d"), root.join("../moved")).unwrap();
    symlink("../outside", root.join("d")).unwrap();
}

/// Nothing outside is read, the loss is told, and the rest is there.
#[track_caller]
fn expect_nothing_from_outside(output: Output) {
    assert!(!holds(&output.stdout, MD5_OF_HELLO.as_bytes()), "{output}");
    output
        .stdout_has(&format!("{MD5_OF_ABC}  a\n"))
        .stdout_has(&format!("{MD5_OF_ABC}  z\n"))
        .stdout_has("# multisum gap: unreadable d")
        .stderr_has("unreadable  d")
        .code(2)
        .check();
}

pub(crate) fn a_directory_swapped_for_a_link_before_it_is_listed_is_not_followed() {
    let tree = tree();
    if let Some(output) = held_up(&tree, "d", &HASH, swap_folder) {
        expect_nothing_from_outside(output);
    }
}

pub(crate) fn a_directory_swapped_for_a_link_before_its_files_are_opened_is_not_followed() {
    let tree = tree();
    if let Some(output) = held_up(&tree, "d/f", &HASH, swap_folder) {
        assert!(!holds(&output.stdout, MD5_OF_HELLO.as_bytes()), "{output}");
        // Whoever holds the directory open may still read the file that was found in it.
        let code = match holds(&output.stdout, format!("{MD5_OF_ABC}  d/f").as_bytes()) {
            true => 0,
            false => 2,
        };
        output
            .stdout_has(&format!("{MD5_OF_ABC}  a\n"))
            .stdout_has(&format!("{MD5_OF_ABC}  z\n"))
            .stderr_any()
            .code(code)
            .check();
    }
}

pub(crate) fn a_confined_list_is_not_led_out_by_a_directory_that_is_swapped() {
    for list in ["--confine", "native"] {
        let tree = tree();
        let format = if list == "native" { "jsonl" } else { "gnu" };
        // What lies outside is as listed, and what lies inside is not.
        tree.file("d/f", "hello");
        let hash = ["hash", "-q", "-f", format, "-C", ".", "-o", "../L", "."];
        tree.cmd(hash).run().check();
        tree.file("d/f", "abc");
        let args = ["verify", "-j", "1", "--no-exact", "-C", ".", "../L"];
        let args: Vec<&str> = match list {
            "native" => args.to_vec(),
            _ => args.iter().copied().chain([list]).collect(),
        };
        if let Some(output) = held_up(&tree, "d/f", &args, swap_folder) {
            output
                .stdout_has("unreadable  d/f: open: ")
                .stderr_has("2 ok, 1 unreadable")
                .code(2)
                .check();
        }
    }
}

pub(crate) fn a_directory_moved_out_leads_nowhere_else() {
    let tree = tree();
    tree.file("d/e/g", "abc");
    // Its parent is then another, in which something lies under the name that comes next.
    tree.file("../z", "hello");
    let moved = |root: &Path| fs::rename(root.join("d/e"), root.join("../e")).unwrap();
    if let Some(output) = held_up(&tree, "d/e", &HASH, moved) {
        assert!(!holds(&output.stdout, MD5_OF_HELLO.as_bytes()), "{output}");
        output
            .stdout_has(&format!("{MD5_OF_ABC}  d/f\n{MD5_OF_ABC}  z\n"))
            .stdout_has("# multisum gap: unreadable d/e\n")
            .stderr_has("unreadable  d/e: ")
            .code(2)
            .check();
    }
}
