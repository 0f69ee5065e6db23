//! Trees that are strange, deep, wide or closed.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::process::Command;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, OFlags, makedev, mkdirat, mknodat, openat};

use crate::common::refused;
use crate::harness::{MD5_OF_ABC, MD5_OF_NOTHING, Tree, holds};
use crate::stage::{Mounted, Snapshot, clean_list, faulty};

pub(crate) fn a_folder_whose_listing_breaks_off_is_unreadable() {
    let tree = Tree::new();
    tree.file("a", "abc").file("d/b", "abc").file("z", "abc");
    let args = ["hash", "-a", "md5"];
    for when in ["", ":when=2"] {
        let fault = format!("getdents64:error=EIO{when}");
        let Some(cmd) = faulty(&tree, "d", &fault, &args) else {
            return;
        };
        cmd.run()
            .stdout_has(&format!("{MD5_OF_ABC}  a\n"))
            .stdout_has("# multisum gap: unreadable d\n")
            .stdout_has(&format!("{MD5_OF_ABC}  z\n"))
            .stderr_has("unreadable  d: ")
            .stderr_has("Input/output error")
            .code(2)
            .check();
    }
}

/// A list of `a`, `d/closed/x`, `locked`, the last two of which nobody may read any more.
fn closed_tree() -> Tree {
    let tree = Tree::new();
    tree.file("a", "abc")
        .file("d/closed/x", "abc")
        .file("locked", "abc");
    let hashed = tree
        .cmd(["hash", "-q", "-C", ".", "-o", "../L.jsonl"])
        .run();
    hashed.check();
    tree.mode("d/closed", 0).mode("locked", 0);
    tree
}

pub(crate) fn what_may_not_be_read_is_never_missing() {
    let tree = closed_tree();
    let args = ["verify", "-C", ".", "../L.jsonl"];
    let Some(cmd) = tree.cmd(args).unprivileged() else {
        return;
    };
    let output = cmd.run();
    assert!(!holds(&output.stdout, b"missing"), "{output}");
    output
        .stdout_has("unreadable  d/closed/x: ")
        .stdout_has("unreadable  locked: open: Permission denied (os error 13)\n")
        .stderr_has("1 ok, ")
        .code(2)
        .check();
}

pub(crate) fn what_may_not_be_read_is_a_gap_in_every_list() {
    for (format, gap) in [
        ("jsonl", "{\"path\":\"locked\",\"error\":\""),
        ("bsd", "# multisum gap: unreadable locked\n"),
        ("gnu", "# multisum gap: unreadable d/closed\n"),
    ] {
        let tree = closed_tree();
        let args = ["hash", "-f", format];
        let Some(cmd) = tree.cmd(args).unprivileged() else {
            return;
        };
        cmd.run()
            .stdout_has(gap)
            .stderr_has("hashed 1 file, 3 bytes in [TIME]: 2 unreadable")
            .code(2)
            .check();
    }
}

pub(crate) fn pipes_sockets_and_devices_are_counted_and_not_opened() {
    let tree = Tree::new();
    tree.file("a", "abc").fifo("fifo").socket("socket");
    let mode = Mode::from_raw_mode(0o644);
    let zero = makedev(1, 5);
    let made = mknodat(
        CWD,
        tree.path("zero"),
        FileType::CharacterDevice,
        mode,
        zero,
    );
    if made.is_err() {
        refused("devices cannot be made here");
    }
    let skipped = 2 + usize::from(made.is_ok());
    let before = Snapshot::of(&tree);
    tree.cmd(["hash", "-a", "md5"])
        .limit(Duration::from_secs(10))
        .run()
        .stdout(format!("{MD5_OF_ABC}  a\n"))
        .stderr_has(&format!("{skipped} skipped"))
        .check();
    assert_eq!(Snapshot::of(&tree), before);
}

pub(crate) fn a_mount_is_walked_unless_told_otherwise() {
    let tree = Tree::new();
    tree.file("a", "abc").file("z", "abc");
    let Some(_mounted) = Mounted::tmpfs("size=1m", &tree.path("m")) else {
        return;
    };
    tree.file("m/f", "abc");
    for (more, listed) in [(&[][..], &["a", "m/f", "z"][..]), (&["-x"], &["a", "z"])] {
        let args = ["hash", "-a", "md5"].iter().chain(more);
        let list: String = listed.iter().fold(String::new(), |mut list, name| {
            writeln!(list, "{MD5_OF_ABC}  {name}").unwrap();
            list
        });
        tree.cmd(args).run().stdout(list).stderr_any().check();
    }
}

pub(crate) fn a_mount_that_is_to_be_left_alone_is_not_opened() {
    let tree = Tree::new();
    tree.file("a", "abc").mode("", 0o755);
    let Some(_mounted) = Mounted::tmpfs("size=1m,mode=0700", &tree.path("m")) else {
        return;
    };
    let Some(cmd) = tree.cmd(["hash", "-a", "md5", "-x"]).unprivileged() else {
        return;
    };
    let list = format!("{MD5_OF_ABC}  a\n");
    cmd.run().stdout(list).stderr_any().check();
}

/// Folders of this name within each other, as many as that, with the file `f` in the last; no path
/// names them all.
fn dig(tree: &Tree, name: &str, levels: usize) {
    let mode = Mode::from_raw_mode(0o755);
    tree.dir("deep");
    let open =
        |at: &OwnedFd, name: &str| openat(at, name, OFlags::DIRECTORY, Mode::empty()).unwrap();
    let mut here: OwnedFd = File::open(tree.path("deep")).unwrap().into();
    for _ in 0..levels {
        mkdirat(&here, name, mode).unwrap();
        here = open(&here, name);
    }
    let flags = OFlags::CREATE | OFlags::WRONLY;
    let file = openat(&here, "f", flags, Mode::from_raw_mode(0o644)).unwrap();
    rustix::io::write(&file, b"abc").unwrap();
}

#[track_caller]
fn deep(name: &str, levels: usize) {
    let tree = Tree::new();
    tree.file("a", "abc").file("z", "abc");
    dig(&tree, name, levels);
    let output = tree
        .cmd(["hash", "-a", "md5"])
        .limit(Duration::from_secs(60))
        .run();
    let mut whole = OsString::from(format!("{MD5_OF_ABC}  deep/"));
    for _ in 0..levels {
        whole.push(format!("{name}/"));
    }
    whole.push("f\n");
    let is_there = holds(&output.stdout, whole.as_encoded_bytes());
    let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let told = if is_there { "" } else { "unreadable  deep/" };
        output
            .stdout_has(&format!("{MD5_OF_ABC}  a\n"))
            .stdout_has(&format!("{MD5_OF_ABC}  z\n"))
            .stderr_has(told)
            .code(if is_there { 0 } else { 2 })
            .check();
    }));
    // Other tools go down by descriptors, too.
    let removed = Command::new("rm")
        .arg("-rf")
        .arg(tree.path("deep"))
        .status();
    assert!(removed.unwrap().success());
    if let Err(failed) = checked {
        std::panic::resume_unwind(failed);
    }
}

pub(crate) fn a_path_longer_than_the_system_takes_is_hashed_or_told() {
    deep(&"x".repeat(250), 20);
}

pub(crate) fn twenty_thousand_levels_are_hashed_or_told() {
    deep("d", 20_000);
}

/// Files of no bytes, all in one folder, named so that their order is that of their numbers.
fn wide(count: usize) {
    let tree = Tree::new();
    let mounted = Mounted::tmpfs("size=4g,nr_inodes=0", &tree.path("w"));
    if mounted.is_none() {
        tree.dir("w");
    }
    for number in 0..count {
        File::create(tree.path(format!("w/{number:07}"))).unwrap();
    }
    let started = tree
        .cmd(["hash", "-q", "-a", "md5", "-o", "L", "w"])
        .limit(Duration::from_secs(300))
        .start();
    let (output, peak) = started.wait_and_weigh();
    output.check();
    let list = String::from_utf8(tree.read("L")).unwrap();
    let mut lines = list.lines();
    for number in 0..count {
        let expected = format!("{MD5_OF_NOTHING}  w/{number:07}");
        assert_eq!(lines.next(), Some(&*expected));
    }
    assert_eq!(lines.next(), None);
    // One listing is held whole to be sorted.
    let documented = 60_000 + count as u64;
    assert!(peak < documented, "{peak} kB for {count} files");
    if mounted.is_none() {
        fs::remove_dir_all(tree.path("w")).unwrap();
    }
}

pub(crate) fn a_folder_of_a_hundred_thousand_is_listed_in_order() {
    wide(100_000);
}

pub(crate) fn a_folder_of_a_million_is_listed_in_order() {
    wide(1_000_000);
}

pub(crate) fn a_run_over_a_tree_changes_nothing_in_it() {
    let tree = Tree::new();
    tree.file("a", "abc")
        .painted("d/f", 300_000)
        .link("l", "a")
        .fifo("p");
    let before = Snapshot::of(&tree);
    let list = clean_list(&tree, &["hash", "-f", "jsonl", "--io", "direct"]);
    assert!(holds(&list, b"d/f"));
    tree.cmd(["verify", "-C", ".", "-"])
        .stdin(list)
        .run()
        .stderr_any()
        .check();
    assert_eq!(Snapshot::of(&tree), before);
}
