//! Files that fail or change while they are read. The faults are made by strace.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::common::painted;
use crate::harness::{MD5_OF_ABC, Output, Tree};
use crate::stage::faulty;

const MEGABYTE: usize = 1_000_000;

fn tree() -> Tree {
    let tree = Tree::new();
    tree.file("a", "abc")
        .painted("f", 4 * MEGABYTE)
        .file("z", "abc");
    tree
}

/// Hashes `f` between two good files while this fault is injected; `None` without strace.
fn hash(tree: &Tree, fault: &str) -> Option<Output> {
    let args = [
        "hash", "-a", "md5", "--io", "read", "-j", "1", "a", "f", "z",
    ];
    Some(faulty(tree, "f", fault, &args)?.run())
}

/// The good files are there in any case, and in place of `f` stands the gap.
#[track_caller]
fn expect_gap(output: Output, kind: &str, told: &str) {
    let list = format!("{MD5_OF_ABC}  a\n# multisum gap: {kind} f\n{MD5_OF_ABC}  z\n");
    output
        .stdout(list)
        .stderr_has(told)
        .stderr_has("hashed 2 files, 6 bytes")
        .code(2)
        .check();
}

#[track_caller]
fn expect_whole(tree: &Tree, output: Output) -> Output {
    let clean = tree.cmd(["hash", "-a", "md5", "a", "f", "z"]).run();
    let output = output.stdout(&clean.stdout);
    clean.stdout_any().stderr_any().check();
    output
}

pub(crate) fn a_read_that_fails_once_is_tried_again_and_noted() {
    let tree = tree();
    for fault in ["read:error=EIO:when=1", "read:error=EIO:when=3"] {
        let Some(output) = hash(&tree, fault) else {
            return;
        };
        let output = expect_whole(&tree, output);
        output
            .stderr_has("1 failed read succeeded when tried again")
            .check();
    }
}

pub(crate) fn a_read_that_fails_twice_leaves_the_file_unreadable_with_its_offset() {
    let tree = tree();
    let Some(output) = hash(&tree, "read:error=EIO") else {
        return;
    };
    expect_gap(
        output,
        "unreadable",
        "unreadable  f: read at byte 0: Input/output error",
    );
    let Some(output) = hash(&tree, "read:error=EIO:when=2+") else {
        return;
    };
    expect_gap(output, "unreadable", "unreadable  f: read at byte ");
}

pub(crate) fn interrupted_and_short_reads_are_invisible() {
    let tree = tree();
    for fault in ["read:error=EINTR:when=1", "read:error=EINTR:when=2..9"] {
        let Some(output) = hash(&tree, fault) else {
            return;
        };
        let output = expect_whole(&tree, output);
        output.stderr_has("hashed 3 files").check();
    }
    // A pipe gives what is there.
    let script = "(printf a; sleep 0.05; printf b; sleep 0.05; printf c) | $M hash -a md5 -";
    let output = tree.shell(script).run();
    output
        .stdout(format!("{MD5_OF_ABC}  -\n"))
        .stderr_any()
        .check();
}

pub(crate) fn an_end_of_file_too_early_is_no_end() {
    let tree = tree();
    let Some(output) = hash(&tree, "read:retval=0:when=2") else {
        return;
    };
    expect_gap(output, "unstable", "of 4000000 bytes");
}

pub(crate) fn a_file_that_cannot_be_opened_is_unreadable() {
    let tree = tree();
    for (error, told) in [
        ("EACCES", "Permission denied"),
        ("ENOENT", "No such file or directory"),
        ("ESTALE", "Stale file handle"),
    ] {
        let Some(output) = hash(&tree, &format!("openat:error={error}")) else {
            return;
        };
        expect_gap(
            output,
            "unreadable",
            &format!("unreadable  f: open: {told}"),
        );
    }
}

/// Makes every read of `f` slow, does something to it meanwhile, and expects that to be told.
#[track_caller]
fn changed_meanwhile(change: impl FnOnce(&Path)) {
    let tree = tree();
    let args = [
        "hash", "-a", "md5", "--io", "read", "-j", "1", "a", "f", "z",
    ];
    let Some(cmd) = faulty(&tree, "f", "read:delay_enter=100000:when=2..8", &args) else {
        return;
    };
    let started = cmd.start();
    thread::sleep(Duration::from_millis(350));
    change(&tree.path("f"));
    let output = started.wait();
    expect_gap(output, "unstable", "unstable    f: ");
}

pub(crate) fn a_file_that_is_truncated_while_it_is_read_is_unstable() {
    changed_meanwhile(|f| {
        OpenOptions::new()
            .write(true)
            .open(f)
            .unwrap()
            .set_len(1000)
            .unwrap();
    });
}

pub(crate) fn a_file_that_grows_while_it_is_read_is_unstable() {
    changed_meanwhile(|f| {
        let mut file = OpenOptions::new().append(true).open(f).unwrap();
        file.write_all(b"more").unwrap();
    });
}

pub(crate) fn a_file_that_is_rewritten_while_it_is_read_is_unstable() {
    changed_meanwhile(|f| fs::write(f, vec![1; 4 * MEGABYTE]).unwrap());
}

pub(crate) fn a_file_that_is_replaced_while_it_is_read_is_unstable() {
    changed_meanwhile(|f| {
        let beside = f.with_file_name("../beside");
        fs::write(&beside, painted(4 * MEGABYTE)).unwrap();
        fs::rename(beside, f).unwrap();
    });
}

pub(crate) fn a_file_that_is_removed_while_it_is_read_is_unstable() {
    changed_meanwhile(|f| fs::remove_file(f).unwrap());
}

pub(crate) fn truncation_kills_no_way_of_reading() {
    for io in ["read", "mmap", "direct", "auto"] {
        let tree = Tree::new();
        tree.file("a", "abc").sparse("f", 3 << 30).file("z", "abc");
        let args = ["hash", "-a", "md5", "--io", io, "-j", "1", "a", "f", "z"];
        let started = tree.cmd(args).start();
        thread::sleep(Duration::from_millis(300));
        let file = File::options().write(true).open(tree.path("f")).unwrap();
        file.set_len(1 << 20).unwrap();
        expect_gap(started.wait(), "unstable", "unstable    f: ");
    }
}

pub(crate) fn verify_says_the_same_of_files_that_fail_or_change() {
    let tree = tree();
    let hashed = tree
        .cmd(["hash", "-C", ".", "-o", "../L", "a", "f", "z"])
        .run();
    hashed.stderr_any().check();
    for (fault, told) in [
        (
            "read:error=EIO",
            "unreadable  f: read at byte 0: Input/output error (os error 5)\n",
        ),
        (
            "read:retval=0:when=1",
            "unstable    f: read 0 of 4000000 bytes\n",
        ),
        (
            "openat:error=EACCES",
            "unreadable  f: open: Permission denied (os error 13)\n",
        ),
        ("openat:error=ENOENT", "missing     f\n"),
    ] {
        let args = ["verify", "--io", "read", "-C", ".", "../L"];
        let Some(cmd) = faulty(&tree, "f", fault, &args) else {
            return;
        };
        let code = if fault.ends_with("ENOENT") { 1 } else { 2 };
        let output = cmd.run();
        output
            .stdout(told)
            .stderr_has("2 ok, 1 ")
            .code(code)
            .check();
    }
}

pub(crate) fn what_the_kernel_makes_up_is_read_whatever_its_size() {
    let tree = Tree::new();
    // Of no size, but with bytes; of a page, but with fewer; and one that cannot be read.
    let small = "/sys/kernel/mm/transparent_hugepage/enabled";
    for (path, code) in [("/proc/version", 0), (small, 2), ("/proc/self/mem", 2)] {
        if !Path::new(path).exists() {
            continue;
        }
        let output = tree.cmd(["hash", "-a", "md5", path]).run();
        output.stdout_has(path).stderr_any().code(code).check();
    }
}
