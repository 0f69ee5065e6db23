//! Outputs that cannot be written, and what stays of the old ones then.

use std::fs;
use std::time::{Duration, Instant};

use crate::harness::{BINARY, MD5_OF_ABC, MD5_OF_NOTHING, Output, Tree, holds};
use crate::stage::{Mounted, Snapshot, faulty, traced};

fn one_file() -> Tree {
    let tree = Tree::new();
    tree.file("a", "abc");
    tree
}

pub(crate) fn a_disk_that_takes_no_more_is_one_clear_line() {
    let tree = one_file();
    for args in [
        &["hash", "a"][..],
        &["hash", "-o", "/dev/full", "a"],
        &["hash", "-a", "list"],
    ] {
        let output = tree
            .shell(&format!("$M {} >/dev/full", args.join(" ")))
            .run();
        assert_eq!(
            output.stderr.iter().filter(|byte| **byte == b'\n').count(),
            1
        );
        output
            .stderr_has(": write: No space left on device (os error 28)\n")
            .code(2)
            .check();
    }
    tree.file("L", format!("{MD5_OF_NOTHING}  a\n"));
    for args in [
        "verify L",
        "verify --json L",
        "bench -a md5 --size 1 --time 0.01",
        "--help",
        "--version",
    ] {
        let output = tree.shell(&format!("$M {args} >/dev/full")).run();
        let told = match args.starts_with("verify") {
            true => "multisum: the report could not be written: No space left on device",
            false => "multisum: standard output: write: No space left on device",
        };
        output.stderr_has(told).code(2).check();
    }
}

pub(crate) fn a_list_does_not_depend_on_standard_error() {
    for args in ["--progress json a", "-v a gone"] {
        let tree = one_file();
        tree.fifo("pipe");
        // It waits in the pipe until there has been progress to show.
        let script =
            format!("(sleep 1.3; printf abc >pipe) & $M hash -a md5 -o L {args} pipe 2>/dev/full");
        tree.shell(&script).run().code(2).check();
        let gap = match args.ends_with("gone") {
            true => "# multisum gap: unreadable gone\n",
            false => "",
        };
        let list = format!("{MD5_OF_ABC}  a\n{gap}{MD5_OF_ABC}  pipe\n");
        assert_eq!(tree.read("L"), list.as_bytes(), "{args}");
    }
}

pub(crate) fn a_file_that_may_not_grow_is_an_error_and_leaves_nothing() {
    let tree = one_file();
    let output = tree.shell("ulimit -f 0; $M hash -o L a").run();
    let told = "multisum: L: write: File too large (os error 27)\n";
    output.stderr(told).code(2).check();
    assert_eq!(tree.names_in(""), ["a"]);
}

pub(crate) fn a_disk_that_fails_leaves_the_old_list() {
    for fault in ["fsync:error=EIO", "rename,renameat,renameat2:error=ENOSPC"] {
        let tree = one_file();
        tree.file("L", "old");
        let inject = format!("inject={fault}");
        let strace = ["-f", "-qq", "-o", "/dev/null", "-e", &inject, BINARY];
        let args = ["hash", "-o", "L", "--force", "a"];
        let Some(cmd) = tree.tool("strace", strace.iter().chain(&args)) else {
            return;
        };
        cmd.run().stderr_has("L: ").code(2).check();
        assert_eq!(tree.read("L"), b"old");
        assert_eq!(tree.names_in(""), ["L", "a"], "{fault}");
    }
}

pub(crate) fn a_reader_that_goes_away_ends_the_run_quietly() {
    let tree = Tree::new();
    for number in 0..3000 {
        tree.file(format!("f{number}"), "");
    }
    tree.shell("$M hash 2>err | head -n1 >first; cat err")
        .run()
        .check();
    let first = tree.read("first");
    assert_eq!(first.iter().filter(|byte| **byte == b'\n').count(), 1);
    tree.shell("$M hash -o L; sed -i 's/^./x/' L")
        .run()
        .stderr_any()
        .check();
    tree.shell("$M verify -v L 2>err | head -n1 >/dev/null; cat err")
        .run()
        .check();
}

pub(crate) fn a_named_pipe_is_written_as_it_is() {
    let tree = one_file();
    tree.fifo("pipe");
    let output = tree
        .shell("cat pipe & $M hash -a md5 -o pipe a; wait")
        .run();
    output
        .stdout(format!("{MD5_OF_ABC}  a\n"))
        .stderr_any()
        .check();
}

pub(crate) fn a_folder_that_takes_no_files_is_told_before_anything_is_read() {
    let tree = one_file();
    tree.dir("closed").mode("closed", 0o555);
    let Some(cmd) = tree.cmd(["hash", "-o", "closed/L", "a"]).unprivileged() else {
        return;
    };
    let told = "multisum: closed/L: create: Permission denied (os error 13)\n";
    cmd.run().stderr(told).code(2).check();
}

pub(crate) fn an_update_without_room_leaves_the_old_manifest_whole() {
    let tree = Tree::new();
    for number in 0..1000 {
        tree.file(format!("d/a name that takes some room {number}"), "");
    }
    let Some(_mounted) = Mounted::tmpfs("size=400k", &tree.path("small")) else {
        return;
    };
    let hash = ["hash", "-q", "-C", "d", "-o", "small/M", "-f", "jsonl", "."];
    tree.cmd(hash).run().check();
    let old = tree.read("small/M");
    let fill = fs::write(tree.path("small/fill"), vec![0; 1 << 20]);
    assert!(fill.is_err());
    let output = tree.cmd(["update", "-C", "d", "small/M"]).run();
    output
        .stderr("multisum: [TREE]/small/.M.journal: write: No space left on device (os error 28)\n")
        .code(2)
        .check();
    assert_eq!(tree.read("small/M"), old);
    assert_eq!(tree.names_in("small"), ["M", "fill"]);
}

/// The old list is whole and nothing else was left in the tree.
#[track_caller]
fn spared(tree: &Tree, before: &Snapshot) {
    assert_eq!(&Snapshot::of(tree), before);
}

pub(crate) fn a_system_that_takes_no_files_is_told_before_anything_is_read() {
    let tree = Tree::new();
    tree.sparse("endless", 1 << 42);
    let Some(mounted) = Mounted::tmpfs("nr_inodes=8", &tree.path("../out")) else {
        return;
    };
    tree.file("../out/L", "old");
    let args = ["hash", "--force", "-o", "../out/L", "endless"];
    let fails = |told: &str| {
        let output = tree.cmd(args).limit(Duration::from_secs(10)).run();
        output.stderr_has(told).code(2).check();
        assert_eq!(tree.read("../out/L"), b"old");
    };
    mounted.remount("ro");
    fails("Read-only file system (os error 30)");
    mounted.remount("rw");
    // One more would be too many.
    for number in 0..8 {
        if fs::write(tree.path(format!("../out/{number}")), "").is_err() {
            break;
        }
    }
    fails("No space left on device (os error 28)");
}

pub(crate) fn a_journal_that_cannot_be_written_stops_a_long_run_at_once() {
    for fault in [
        "pwrite64,write:error=ENOSPC:when=2+",
        "fdatasync,fsync:error=EIO",
    ] {
        let tree = Tree::new();
        for number in 0..50 {
            tree.file(format!("d/{number}"), "abc");
        }
        // It would take days.
        tree.sparse("e", 1 << 43)
            .file("L", "old")
            .file(".L.journal", "");
        let args = ["hash", "--force", "-o", "L", "d", "e"];
        let Some(cmd) = faulty(&tree, ".L.journal", fault, &args) else {
            return;
        };
        let output = cmd.limit(Duration::from_secs(20)).run();
        output.stderr_has("L.journal: ").code(2).check();
        assert_eq!(tree.read("L"), b"old");
    }
}

pub(crate) fn a_list_that_could_not_be_synced_is_not_renamed() {
    let tree = one_file();
    tree.file("L", "old");
    let log = tree.path("../calls");
    let options = [
        "-o",
        log.to_str().unwrap(),
        "-e",
        "trace=/rename,/^link,fsync",
        "-e",
        "inject=fsync:error=EIO",
    ];
    let args = ["hash", "-o", "L", "--force", "a"];
    let Some(cmd) = traced(&tree, &options, &args) else {
        return;
    };
    cmd.run()
        .stderr_has("L: sync: Input/output error")
        .code(2)
        .check();
    let calls = fs::read_to_string(log).unwrap();
    assert!(calls.contains("INJECTED"), "{calls}");
    assert!(!calls.contains("\"L\""), "{calls}");
}

pub(crate) fn a_close_that_fails_after_the_sync_has_lost_nothing() {
    let tree = one_file();
    let clean = tree.cmd(["hash", "-q", "-o", "L", "a"]).run();
    clean.check();
    let list = tree.read("L");
    for nth in 1..40 {
        tree.file("L", "old");
        let inject = format!("inject=close:error=EIO:when={nth}");
        let args = ["hash", "-q", "-j1", "-o", "L", "--force", "a"];
        let Some(cmd) = traced(&tree, &["-e", &inject], &args) else {
            return;
        };
        let output = cmd.run();
        let says = |text: &str| holds(&output.stderr, text.as_bytes());
        // The loader of programs fails by it before there is a program, and the standard library
        // gives up on a directory.
        if says("loading shared libraries") || says("unexpected error during closedir") {
            continue;
        }
        match output.code {
            Some(0) => assert_eq!(tree.read("L"), list, "{nth}"),
            _ => assert_eq!(tree.read("L"), b"old", "{nth}"),
        }
        output.stderr_any().check_code(&[0, 2]);
    }
}

pub(crate) fn a_closed_standard_stream_is_an_error() {
    let tree = one_file();
    tree.file("L", format!("{MD5_OF_ABC}  a\n"));
    let before = Snapshot::of(&tree);
    for (args, closed) in [
        ("hash -a md5 a", ">&-"),
        ("hash -a md5 a", "2>&-"),
        ("hash -a md5 a", ">&- 2>&-"),
        ("hash -a md5 a", "<&- >&- 2>&-"),
        ("hash -a md5 -o ../out a", ">&-"),
        ("hash -a md5 -o ../out a", "2>&-"),
        ("verify L", ">&-"),
        ("verify L", "2>&-"),
        ("update L", ">&-"),
        ("diff L L", ">&-"),
        ("--help", ">&-"),
    ] {
        let output = tree.shell(&format!("$M {args} {closed}")).run();
        let told = match closed {
            ">&-" => "multisum: standard output: closed\n",
            _ => "",
        };
        output.stdout_any().stderr(told).code(2).check();
        spared(&tree, &before);
        assert!(!tree.path("../out").exists());
    }
    // What is not to be seen may be sent where nobody looks, in whichever way that is opened.
    for ignored in [">/dev/null", "1<>/dev/null", "2>/dev/null", "<&-"] {
        let output = tree.shell(&format!("$M verify -q L {ignored}")).run();
        output.stderr_any().check();
    }
}

pub(crate) fn an_output_in_a_closed_folder_or_held_by_another_run_is_refused_first() {
    let tree = Tree::new();
    tree.sparse("big", 1 << 42).file("L", "old");
    let begun = Instant::now();
    let started = tree.cmd(["hash", "--force", "-o", "L", "big"]).start();
    while !tree.path(".L.journal").exists() {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "it does not begin"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    let second = tree.cmd(["hash", "--force", "-o", "L", "big"]);
    let second = second.limit(Duration::from_secs(10)).run();
    second.stderr_has("held by another run").code(2).check();
    let unforced = tree
        .cmd(["hash", "-o", "L", "big"])
        .limit(Duration::from_secs(10))
        .run();
    unforced
        .stderr_has("L: it exists; --force replaces it")
        .code(2)
        .check();
    started.signal("INT");
    started.wait().stderr_any().code(130).check();
    assert_eq!(tree.read("L"), b"old");
}

pub(crate) fn a_run_hashes_neither_its_list_nor_an_old_one() {
    let tree = one_file();
    tree.file("L", "old");
    for _ in 0..2 {
        tree.cmd(["hash", "-q", "-a", "md5", "--force", "-o", "L"])
            .run()
            .check();
        assert_eq!(tree.read("L"), format!("{MD5_OF_ABC}  a\n").as_bytes());
    }
    let output: Output = tree.shell("$M hash -a md5 --exclude L >M; cat M").run();
    assert!(!holds(&output.stdout, b"  M"), "{output}");
    output
        .stdout(format!("{MD5_OF_ABC}  a\n"))
        .stderr_any()
        .check();
}
