//! Runs that are stopped or killed, and gone on with.

use std::ffi::OsString;
use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::common::skipped;
use crate::harness::{BINARY, Cmd, Output, Started, Tree, holds};

const FILES: usize = 20;

/// Longer than the coarsest clock of a file system stands still: what was touched more lately when a
/// run began is read again.
const TICK: Duration = Duration::from_millis(2_100);

/// Files `d/0` to `d/19`, untouched for long enough, and a pipe that keeps a run from ending.
fn tree() -> Tree {
    let tree = Tree::new();
    for number in 0..FILES {
        tree.painted(format!("d/{number}"), 1000 + number);
    }
    tree.fifo("pipe");
    thread::sleep(TICK);
    tree
}

/// Waits until something stands in the journal, which is all that was done in the first second.
#[track_caller]
fn wait_for_journal(tree: &Tree) {
    let begun = Instant::now();
    let path = tree.path(".L.journal");
    while fs::metadata(&path).map_or(0, |journal| journal.len()) == 0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no journal");
        thread::sleep(Duration::from_millis(20));
    }
}

const ARGS: [&str; 7] = ["hash", "-o", "L", "-f", "jsonl", "d", "pipe"];

/// A run that has done all but the pipe, and has said so in its journal.
fn begun(tree: &Tree, more: &[&str]) -> Started {
    let cmd = tree.cmd(ARGS.iter().chain(more));
    let started = cmd.env("SOURCE_DATE_EPOCH", "1000000000").start();
    wait_for_journal(tree);
    started
}

fn killed(tree: &Tree, more: &[&str]) {
    let started = begun(tree, more);
    started.signal("KILL");
    assert_eq!(started.wait().code, None);
}

/// The same run to its end, with something to read in the pipe.
fn whole(tree: &Tree, more: &str) -> Cmd {
    let args = ARGS.join(" ");
    tree.shell(&format!("(printf abc >pipe) & exec $M {args} {more}"))
}

fn names(names: &[&str]) -> Vec<OsString> {
    names.iter().map(OsString::from).collect()
}

/// What an uninterrupted run of that moment writes.
fn expected(tree: &Tree) -> Vec<u8> {
    let script = "(printf abc >pipe) & exec $M hash -o - -C . -f jsonl d pipe";
    let clean = tree
        .shell(script)
        .env("SOURCE_DATE_EPOCH", "1000000000")
        .run();
    let list = clean.stdout.clone();
    clean.stdout_any().stderr_any().check();
    list
}

#[test]
fn a_killed_run_goes_on_and_reads_nothing_twice() {
    let tree = tree();
    killed(&tree, &[]);
    assert_eq!(tree.names_in("").len(), 4, "journal and temporary file");
    // It says when it was begun, not when it was gone on with.
    let output = whole(&tree, "--resume").run();
    output
        .stderr_has("hashed 1 file, 3 bytes")
        .stderr_has("20 from the journal")
        .check();
    assert_eq!(tree.names_in(""), names(&["L", "d", "pipe"]));
    assert_eq!(
        String::from_utf8(tree.read("L")).unwrap(),
        String::from_utf8(expected(&tree)).unwrap()
    );
}

#[test]
fn a_file_that_changed_in_between_is_read_again() {
    let tree = tree();
    killed(&tree, &[]);
    tree.flip("d/3", 5).remove("d/4").file("d/new", "new");
    let output = whole(&tree, "--resume").run();
    output
        .stderr_has("hashed 3 files, 1.01 kB")
        .stderr_has("18 from the journal")
        .check();
    assert_eq!(tree.read("L"), expected(&tree));
}

#[test]
fn what_was_touched_when_the_run_began_is_read_again() {
    let tree = tree();
    tree.painted("d/3", 10);
    killed(&tree, &[]);
    let output = whole(&tree, "--resume").run();
    output.stderr_has("19 from the journal").check();
}

#[test]
fn a_journal_is_not_thrown_away_unasked() {
    let tree = tree();
    killed(&tree, &[]);
    let journal = tree.read(".L.journal");
    for (more, told) in [
        (
            &[][..],
            "an earlier run was stopped after 20 files; --resume goes on",
        ),
        (
            &["--resume", "-a", "md5"],
            "other algorithms: 'sha256', and now 'md5'",
        ),
        (
            &["--resume", "--exclude", "x"],
            "other --exclude: '', and now 'x'",
        ),
        (
            &["--resume", "-L"],
            "other --follow: 'false', and now 'true'",
        ),
        (
            &["--resume", "--force", "d/1"],
            r"other paths: 'd\npipe', and now 'd\npipe\nd/1'",
        ),
    ] {
        let output = tree.cmd(ARGS.iter().chain(more)).run();
        output.stderr_has(told).code(2).check();
        assert_eq!(tree.read(".L.journal"), journal, "{more:?}");
        assert!(!tree.path("L").exists());
    }
    let output = whole(&tree, "--force").run();
    output
        .stderr_has("hashed 21 files")
        .stderr_has("20 files that an earlier run had done were hashed anew")
        .check();
    assert_eq!(tree.names_in(""), names(&["L", "d", "pipe"]));
}

#[test]
fn a_damaged_journal_is_used_as_far_as_it_is_whole() {
    let tree = tree();
    killed(&tree, &[]);
    let mut journal = tree.read(".L.journal");
    let middle = journal.len() / 2;
    journal[middle] ^= 0x10;
    tree.file(".L.journal", journal);
    let output = whole(&tree, "--resume").run();
    output
        .stderr_has("from the journal")
        .stderr_has(".L.journal: damaged or cut off at byte ")
        .check();
    assert_eq!(tree.read("L"), expected(&tree));
    tree.file(".L.journal", "something of the user's")
        .remove("L");
    let output = tree.cmd(ARGS.iter().chain(&["--resume"])).run();
    output.stderr_has("it is in the way").code(2).check();
    assert_eq!(tree.read(".L.journal"), b"something of the user's");
}

#[test]
fn without_a_journal_a_run_begins() {
    let tree = Tree::new();
    tree.file("a", "abc");
    let output = tree.cmd(["hash", "--resume", "-o", "L"]).run();
    output
        .stderr_has("hashed 1 file, 3 bytes")
        .stderr_has("--resume: there was no journal")
        .check();
    let again = tree.cmd(["hash", "--resume", "-q", "-o", "L", "--force"]);
    again.run().check();
    assert_eq!(tree.names_in(""), names(&["L", "a"]));
    tree.cmd(["hash", "--resume"])
        .run()
        .stderr_has("--output")
        .code(2)
        .check();
    tree.cmd(["hash", "--resume", "-o", "-"])
        .run()
        .stderr_has("no -o is a file")
        .code(2)
        .check();
}

#[test]
fn what_a_killed_run_has_left_is_no_new_file_to_verify() {
    let tree = tree();
    let args = ["hash", "-q", "-o", "L", "d"];
    tree.cmd(args).run().check();
    killed(&tree, &["--force"]);
    let left = tree.names_in("");
    tree.cmd(["verify", "--exact", "L"])
        .run()
        .stderr_has(": 20 ok")
        .check();
    assert_eq!(tree.names_in(""), left);
}

#[test]
fn two_runs_do_not_write_one_list() {
    let tree = tree();
    let started = begun(&tree, &[]);
    for more in [&[][..], &["--resume"], &["--force"]] {
        let output = tree.cmd(ARGS.iter().chain(more)).run();
        output
            .stderr("multisum: .L.journal: held by another run, which is writing the same output; wait for its end\n")
            .code(2)
            .check();
    }
    tree.shell("printf abc >pipe").run().check();
    started.wait().stderr_has("hashed 21 files").check();
    assert_eq!(tree.read("L"), expected(&tree));
    assert_eq!(tree.names_in(""), names(&["L", "d", "pipe"]));
}

#[test]
fn a_signal_leaves_the_journal_and_says_how_to_go_on() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let tree = tree();
        tree.file("L", "old");
        let started = begun(&tree, &["--force"]);
        let asked = Instant::now();
        started.signal(signal);
        let output = started.wait();
        assert!(asked.elapsed() < Duration::from_secs(5), "{signal}");
        output
            .stderr(
                "multisum: interrupted; --resume goes on from there: 20 files are done, by \
                 [TREE]/.L.journal\n",
            )
            .code(code)
            .check();
        assert_eq!(tree.read("L"), b"old");
        let left = names(&[".L.journal", "L", "d", "pipe"]);
        assert_eq!(tree.names_in(""), left, "{signal}");
        let output = whole(&tree, "--resume --force").run();
        output.stderr_has("20 from the journal").check();
        assert_eq!(tree.read("L"), expected(&tree));
    }
}

#[test]
fn a_disk_that_takes_no_more_stops_the_run_and_spares_the_old_list() {
    let tree = Tree::new();
    for number in 0..3000 {
        tree.file(format!("d/a name that takes some room {number}"), "");
    }
    tree.file("L", "old").file(".L.journal", "");
    let args = ["hash", "-o", "L", "--force", "-a", "crc32", "d"];
    // Beside what strace says.
    let is_one_line = |output: &Output| {
        let told = String::from_utf8_lossy(&output.stderr);
        let lines = told.lines().filter(|line| !line.contains("strace: "));
        assert_eq!(lines.count(), 1, "{told}");
    };
    let expect = |output: Output| {
        is_one_line(&output);
        output
            .stderr_has("L.journal: write: No space left on device (os error 28)")
            .code(2)
            .check();
    };
    if let Some(cmd) = tree.faulty(".L.journal", "pwrite64:error=ENOSPC", &args) {
        let output = cmd.run();
        if holds(&output.stderr, b"PTRACE") {
            output.stderr_any().code(1).check();
            skipped("strace may not trace here");
        } else {
            expect(output);
            assert_eq!(tree.read("L"), b"old");
        }
    }
    let possible = Command::new("unshare").args(["-m", "true"]).output();
    if !possible.is_ok_and(|output| output.status.success()) {
        return skipped("mounting needs root");
    }
    tree.dir("small");
    // Room for the journal's first piece, and not for all of it.
    let script = "mount -t tmpfs -o size=128k none small && printf old >small/L || exit 32
                  $M hash -o small/L --force -a crc32 d; code=$?
                  cat small/L; ls -A small; exit $code";
    let output = tree.tool("unshare", ["-m", "sh", "-c", script]).unwrap();
    let output = output.env("M", BINARY).run();
    if output.code == Some(32) {
        output.stdout_any().stderr_any().code(32).check();
        return skipped("a tmpfs cannot be mounted here");
    }
    is_one_line(&output);
    output
        .stdout("old.L.journal\nL\n")
        .stderr_has(": write: No space left on device (os error 28)")
        .code(2)
        .check();
}

#[test]
fn a_long_file_goes_on_where_it_was() {
    const MIB: u64 = 1 << 20;
    let tree = Tree::new();
    // Slow, so that a second does not do.
    let size = 1536 * MIB;
    tree.sparse("big", size);
    thread::sleep(TICK);
    let args = ["hash", "-a", "sm3,blake3", "-f", "bsd", "big"];
    let run = |more: &[&str]| {
        tree.cmd(args.iter().chain(more))
            .env("MULTISUM_SAVE_EVERY", (16 * MIB).to_string())
            .limit(Duration::from_secs(300))
    };
    let started = run(&["-o", "L"]).start();
    wait_for_journal(&tree);
    started.signal("KILL");
    assert_eq!(started.wait().code, None);
    let output = run(&["-o", "L", "--resume"]).run();
    let told = String::from_utf8(output.stderr.clone()).unwrap();
    output.stderr_has("hashed 1 file, 1.").check();
    assert!(!told.contains("1.61 GB"), "{told}");
    let clean = run(&[]).run();
    assert_eq!(tree.read("L"), clean.stdout);
    clean.stdout_any().stderr_any().check();
}

/// As many as `MULTISUM_KILLS` says, over a tree of `MULTISUM_KILL_MIB`.
#[test]
fn kills_at_random_moments_change_nothing_in_the_end() {
    let number = |name: &str, default: usize| {
        let said = std::env::var(name).ok();
        said.map_or(default, |said| said.parse().expect("a number"))
    };
    let (kills, mebibytes) = (
        number("MULTISUM_KILLS", 10),
        number("MULTISUM_KILL_MIB", 64),
    );
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let seed = number("MULTISUM_KILL_SEED", now.unwrap().subsec_nanos() as usize);
    let of_seed = format!("with MULTISUM_KILL_SEED={seed}");
    let mut random = seed as u64 | 1;
    let mut next = |below: u64| {
        // Marsaglia's xorshift, of 2003.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    let tree = Tree::new();
    for number in 0..256 {
        let len = (mebibytes << 20) / 256 + usize::try_from(next(1000)).unwrap();
        tree.painted(format!("t/{}/{number}", number % 7), len);
    }
    tree.painted("t/3/large", (mebibytes << 20) / 2);
    thread::sleep(TICK);
    let algorithms = "whirlpool,sm3,sha3-512,ripemd160";
    let run = |more: &[&str]| {
        let args = ["hash", "-a", algorithms, "-f", "jsonl", "-C", "t", "."];
        tree.cmd(args.iter().chain(more))
            .env("SOURCE_DATE_EPOCH", "1000000000")
            .env("MULTISUM_SAVE_EVERY", (2 << 20).to_string())
            .limit(Duration::from_secs(600))
    };
    let clean = run(&["-o", "C"]).run();
    clean.stderr_any().check();
    let expected = tree.read("C");
    tree.remove("C").file("L", "old");
    let resume = ["-o", "L", "--force", "--resume", "-j", "2"];
    let mut ended = 0;
    for _ in 0..kills {
        let started = run(&resume).start();
        thread::sleep(Duration::from_millis(next(2_500)));
        started.signal("KILL");
        let output = started.wait();
        if output.code.is_some() {
            output.stderr_any().check();
            ended += 1;
        }
        let list = tree.read("L");
        assert!(list == b"old" || list == expected, "after a kill {of_seed}");
        if list == expected {
            tree.file("L", "old");
        }
    }
    let output = run(&resume).run();
    assert!(ended < kills, "no run was killed {of_seed}");
    output.stderr_any().check();
    assert!(tree.read("L") == expected, "in the end {of_seed}");
    assert_eq!(tree.names_in(""), names(&["L", "t"]));
}
