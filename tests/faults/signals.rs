//! Runs that are told to stop.

use std::thread;
use std::time::{Duration, Instant};

use crate::harness::{MD5_OF_ABC, Started, Tree};

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
