//! What a terminal shows, by way of `script` from util-linux, and what a pipe gets.

use std::time::{Duration, Instant};

use crate::common::skipped;
use crate::harness::{Cmd, Output, Tree};

/// Runs a shell command on a terminal of its own; its output is on standard output. `None` without
/// `script`.
fn on_terminal(tree: &Tree, command: &str) -> Option<Cmd> {
    let script = tree.tool("script", ["-qefc", command, "/dev/null"])?;
    let cmd = script.env("M", crate::harness::BINARY).env("TERM", "xterm");
    Some(cmd.env("SHELL", "/bin/sh"))
}

/// A run that is stopped by Ctrl-C after a second, on a file that takes for ever.
const STOPPED: &str = "timeout --foreground --preserve-status -s INT 1.2 $M hash";

fn shown(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

/// The text without the sequences that move the cursor or colour, cut where a line begins anew.
fn lines(text: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("\x1b[") {
        plain += &rest[..start];
        plain.push('\r');
        let after = &rest[start + 2..];
        let end = after
            .find(|c: char| c.is_ascii_alphabetic())
            .map_or(after.len(), |at| at + 1);
        rest = &after[end..];
    }
    plain += rest;
    let pieces = plain.split(['\r', '\n']).map(str::trim_end);
    pieces
        .filter(|piece| !piece.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn bars_appear_on_a_terminal_and_nowhere_else() {
    let tree = Tree::new();
    tree.sparse("big", 1 << 42);
    let Some(cmd) = on_terminal(&tree, &format!("{STOPPED} -o L big")) else {
        return;
    };
    // Without states that would be worth a journal.
    let output = cmd.env("MULTISUM_SAVE_EVERY", "1000000000000").run();
    assert!(shown(&output).contains("big"), "{output}");
    assert!(shown(&output).contains("/s"), "{output}");
    output.stdout_any().code(130).check();
    assert_eq!(tree.names_in(""), ["big"]);
    for more in ["--progress never", "--quiet"] {
        let output = on_terminal(&tree, &format!("{STOPPED} {more} big"))
            .unwrap()
            .run();
        assert!(!shown(&output).contains("/s"), "{output}");
        output.stdout_any().code(130).check();
    }
    let piped = tree.shell(&format!("{STOPPED} big 2>&1 | cat")).run();
    assert!(
        !shown(&piped).contains('\r') && !shown(&piped).contains('\x1b'),
        "{piped}"
    );
    piped.stdout_any().check();
}

#[test]
fn progress_can_be_had_without_a_terminal() {
    let tree = Tree::new();
    tree.sparse("big", 1 << 42);
    let always = tree
        .shell(&format!("{STOPPED} --progress always big"))
        .run();
    always.stderr_has("/s").code(130).check();
    let json = tree.shell(&format!("{STOPPED} --progress json big")).run();
    let stderr = std::str::from_utf8(&json.stderr).unwrap();
    let objects = stderr
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    assert!(objects.count() >= 1, "{json}");
    json.stderr_any().code(130).check();
}

#[test]
fn the_report_and_the_bars_never_garble_each_other() {
    let tree = Tree::new();
    for number in 0..200 {
        tree.file(format!("f{number:03}"), "abc");
    }
    // Long enough for bars, short enough to wait for.
    tree.sparse("big", 1_500_000_000);
    tree.cmd(["hash", "-a", "crc32,md5", "-f", "bsd", "-o", "L"])
        .run()
        .stderr_any()
        .check();
    let Some(cmd) = on_terminal(&tree, "$M verify -v --color never -j 2 L") else {
        return;
    };
    let output = cmd.run();
    let text = shown(&output);
    assert!(text.contains("/s"), "no bar was drawn: {output}");
    let told: Vec<String> = lines(&text)
        .into_iter()
        .filter(|l| l.starts_with("ok "))
        .collect();
    let mut expected = vec!["ok          big".to_owned()];
    expected.extend((0..200).map(|number| format!("ok          f{number:03}")));
    assert_eq!(told, expected);
    let last = lines(&text);
    assert!(
        last.iter().any(|l| l.starts_with("verified 201 files")),
        "{output}"
    );
    output.stdout_any().check();
}

#[test]
fn colour_is_for_terminals_that_want_it() {
    let tree = Tree::new();
    let md5 = crate::harness::MD5_OF_ABC;
    tree.file("L", format!("{md5}  gone\n{md5}  a\n"))
        .file("a", "abc");
    let coloured = "\x1b[31mmissing\x1b[0m     gone";
    let plain = "missing     gone";
    for (command, variable, expected) in [
        ("$M verify L", ("X", "1"), coloured),
        ("$M verify L", ("NO_COLOR", "1"), plain),
        ("$M verify L", ("NO_COLOR", ""), coloured),
        ("$M verify L", ("TERM", "dumb"), plain),
        ("$M verify --color never L", ("X", "1"), plain),
        ("$M verify --color always L", ("NO_COLOR", "1"), coloured),
        ("$M verify L | cat; exit 1", ("X", "1"), plain),
        (
            "$M verify --color always L | cat; exit 1",
            ("X", "1"),
            coloured,
        ),
    ] {
        let Some(cmd) = on_terminal(&tree, command) else {
            return;
        };
        let output = cmd.env(variable.0, variable.1).run();
        let has_colour = shown(&output).contains("\x1b[31m");
        assert_eq!(
            has_colour,
            expected == coloured,
            "{command} {variable:?}: {output}"
        );
        output.stdout_has(expected).code(1).check();
    }
}

#[test]
fn a_dumb_terminal_gets_no_escapes() {
    let tree = Tree::new();
    tree.sparse("big", 1 << 42);
    let Some(cmd) = on_terminal(&tree, &format!("{STOPPED} big")) else {
        return;
    };
    let output = cmd.env("TERM", "dumb").run();
    assert!(!shown(&output).contains('\x1b'), "{output}");
    output.stdout_any().code(130).check();
}

#[test]
fn a_second_signal_ends_a_run_that_cannot_stop() {
    let tree = Tree::new();
    tree.fifo("pipe").fifo("never");
    // Somebody holds the pipe open and writes nothing, so that reading it waits for ever.
    let script = "sleep 30 >pipe & echo $! >pid; exec $M hash pipe";
    let started = tree.shell(script).start();
    std::thread::sleep(Duration::from_millis(400));
    started.signal("INT");
    std::thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    started.signal("INT");
    let ended = begun.elapsed();
    tree.shell("kill $(cat pid)").run().check();
    let output = started.wait();
    assert!(ended < Duration::from_secs(2));
    output.stdout_any().stderr_any().code(130).check();
}

#[test]
fn ctrl_c_stops_verify_too() {
    let tree = Tree::new();
    tree.sparse("big", 1 << 42)
        .file("L", format!("{}  big\n", crate::harness::MD5_OF_ABC));
    let stopped = STOPPED.replace("hash", "verify");
    let output = tree.shell(&format!("{stopped} L")).run();
    if output.code == Some(125) {
        output.stdout_any().stderr_any().code(125).check();
        return skipped("timeout does not know these options");
    }
    output.stderr_any().code(130).check();
}
