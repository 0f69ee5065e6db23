//! Runs that are told to stop.

use std::thread;
use std::time::{Duration, Instant};

use crate::harness::{MD5_OF_ABC, Started, Tree};
use crate::stage::traced;

fn one_file() -> Tree {
    let tree = Tree::new();
    tree.file("a", "abc");
    tree
}

pub(crate) fn a_run_that_shall_outlive_its_terminal_does() {
    let tree = one_file();
    tree.fifo("pipe");
    // It waits in the pipe until the signal has been sent.
    let script = "trap '' HUP; $M hash -a md5 pipe & sleep 0.3; kill -s HUP $!; sleep 0.1; \
                  printf abc >pipe; wait $!";
    let output = tree.shell(script).run();
    output
        .stdout(format!("{MD5_OF_ABC}  pipe\n"))
        .stderr_any()
        .check();
}

/// A silent pipe is something that only the first signal ends.
#[track_caller]
fn ends_at_the_first_signal(tree: &Tree, args: &[&str], ready: Duration) {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let started = tree.cmd(args).start();
        thread::sleep(ready);
        let asked = Instant::now();
        started.signal(signal);
        let output = started.wait();
        let took = asked.elapsed();
        assert!(took < Duration::from_secs(2), "{args:?} {signal}: {took:?}");
        output
            .stdout_any()
            .stderr_has("multisum: interrupted")
            .code(code)
            .check();
    }
}

const READY: Duration = Duration::from_millis(500);

pub(crate) fn a_silent_pipe_as_input_is_left_at_the_first_signal() {
    let tree = one_file();
    tree.fifo("pipe");
    ends_at_the_first_signal(&tree, &["hash", "a", "pipe"], READY);
    ends_at_the_first_signal(&tree, &["hash", "-o", "L", "--force", "a", "pipe"], READY);
}

pub(crate) fn a_silent_pipe_as_manifest_is_left_at_the_first_signal() {
    let tree = one_file();
    tree.fifo("pipe");
    for signal in ["INT", "TERM", "HUP"] {
        // Nothing has begun, and the signal has its usual effect.
        let started = tree.cmd(["verify", "-f", "gnu", "pipe"]).start();
        thread::sleep(READY);
        let asked = Instant::now();
        started.signal(signal);
        let output = started.wait();
        assert!(asked.elapsed() < Duration::from_secs(2), "{signal}");
        assert_eq!(output.code, None, "{output}");
    }
}

pub(crate) fn a_silent_pipe_as_list_or_output_is_left_at_the_first_signal() {
    let tree = one_file();
    tree.fifo("pipe");
    ends_at_the_first_signal(&tree, &["hash", "--files-from", "pipe"], READY);
    ends_at_the_first_signal(&tree, &["hash", "-o", "pipe", "a"], READY);
}

/// A run that has begun on something that takes days.
fn long_run(tree: &Tree) -> Started {
    tree.sparse("big", 1 << 42).file("L", "old");
    let started = tree.cmd(["hash", "--force", "-o", "L", "a", "big"]).start();
    let begun = Instant::now();
    while std::fs::metadata(tree.path(".L.journal")).map_or(0, |journal| journal.len()) == 0 {
        assert!(begun.elapsed() < Duration::from_secs(20), "no journal");
        thread::sleep(Duration::from_millis(20));
    }
    started
}

pub(crate) fn each_signal_has_its_code_and_spares_the_old_list() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let tree = one_file();
        let started = long_run(&tree);
        let asked = Instant::now();
        started.signal(signal);
        let output = started.wait();
        assert!(asked.elapsed() < Duration::from_secs(2), "{signal}");
        output
            .stderr_has("interrupted; --resume goes on from there: 1 file is done")
            .code(code)
            .check();
        assert_eq!(tree.read("L"), b"old");
        assert_eq!(tree.names_in(""), [".L.journal", "L", "a", "big"]);
    }
}

/// Starts a run whose calls take as long as `fault` says, and asks it to stop once `begun` is true.
#[track_caller]
fn asked_when(
    tree: &Tree,
    fault: &str,
    args: &[&str],
    begun: impl Fn() -> bool,
) -> Option<Started> {
    let inject = format!("inject={fault}");
    // With -D it is the run that is started, and not its tracer, so that the signal reaches it.
    let started = traced(tree, &["-D", "-e", &inject], args)?.start();
    let since = Instant::now();
    while !begun() {
        assert!(since.elapsed() < Duration::from_secs(30), "{args:?}");
        thread::sleep(Duration::from_millis(20));
    }
    started.signal("TERM");
    Some(started)
}

const SLOW_SYNC: &str = "fsync,fdatasync:delay_enter=3000000";

/// A good file and one that takes days.
fn long_list() -> Tree {
    let tree = one_file();
    tree.sparse("big", 1 << 42);
    tree.file("L", format!("{MD5_OF_ABC}  a\n{MD5_OF_ABC}  big\n"));
    tree
}

pub(crate) fn what_was_verified_is_kept_however_long_that_takes() {
    let tree = long_list();
    let begun = Instant::now();
    let args = ["verify", "--scrub-state", "s", "L"];
    let ready = || begun.elapsed() > Duration::from_secs(2);
    let Some(started) = asked_when(&tree, SLOW_SYNC, &args, ready) else {
        return;
    };
    let kept = "interrupted; what was verified until then is in s";
    let output = started.wait();
    output.stdout_any().stderr_has(kept).code(143).check();
    assert_eq!(tree.names_in(""), ["L", "a", "big", "s"]);
}

pub(crate) fn a_journal_is_ended_however_long_that_takes() {
    let tree = long_list();
    let args = ["verify", "--journal", "J", "L"];
    let begun = Instant::now();
    // What the journal begins with is synced, slowly, before anything is read.
    let ready = || begun.elapsed() > Duration::from_secs(10);
    let Some(started) = asked_when(&tree, SLOW_SYNC, &args, ready) else {
        return;
    };
    let output = started.wait();
    let told = "interrupted; --resume goes on from there";
    output.stdout_any().stderr_has(told).code(143).check();
}

pub(crate) fn a_bag_is_made_to_its_end() {
    let tree = Tree::new();
    tree.dir("d").file("d/a", "abc").file("d/b", "abc");
    let fault = "rename,renameat,renameat2:delay_enter=1500000";
    let moved = || tree.path("d/.multisum-bag/payload").exists();
    let args = ["hash", "--bag", "d"];
    let Some(started) = asked_when(&tree, fault, &args, moved) else {
        return;
    };
    started.wait().stderr_any().code(0).check();
    assert!(!tree.path("d/.multisum-bag").exists());
    let output = tree.cmd(["verify", "d"]).run();
    output.stdout_any().stderr_any().check();
}

pub(crate) fn a_generation_is_written_to_its_end() {
    let tree = Tree::new();
    tree.dir("d").file("d/a", "abc");
    let args = ["hash", "--mhl", "d"];
    let begun = || tree.path("d/ascmhl").exists();
    let Some(started) = asked_when(&tree, SLOW_SYNC, &args, begun) else {
        return;
    };
    started.wait().stderr_any().code(0).check();
    let again = tree.cmd(args).run();
    again.stdout_any().stderr_any().check();
}

pub(crate) fn a_standard_error_that_nobody_reads_holds_up_no_end() {
    let tree = one_file();
    tree.fifo("pipe").sparse("big", 1 << 42);
    // One run hangs in its report, one in its last words.
    for input in ["missing", "big"] {
        let script = format!(
            "exec 3<>pipe; head -c 65536 /dev/zero >&3; ( exec $M hash -a md5 {input} 2>&3 ) & sleep 1; \
             kill -s TERM $!; wait $!"
        );
        let asked = Instant::now();
        let output = tree.shell(&script).limit(Duration::from_secs(20)).run();
        let took = asked.elapsed();
        output.stderr_any().code(143).check();
        assert!(took < Duration::from_secs(4), "{input}: {took:?}");
    }
}
