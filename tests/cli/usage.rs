//! Bad usage: one line, code 2, and what may have been meant.

use crate::harness::{Output, Tree};

fn run(args: &[&str]) -> Output {
    let tree = Tree::new();
    tree.file("a", "abc");
    tree.cmd(args).run()
}

#[test]
fn bad_usage_is_one_line_with_what_may_have_been_meant() {
    for (args, told) in [
        (
            &["hash", "-a", "sha265"][..],
            "multisum: unknown algorithm 'sha265' (did you mean sha256?)",
        ),
        (
            &["hash", "-a", "foo"],
            "unknown algorithm 'foo'; 'multisum hash -a list' shows all",
        ),
        (&["verify", "-a", "foo", "a"], "unknown algorithm 'foo'"),
        (
            &["hash", "-f", "foo"],
            "unknown format 'foo' (known: gnu, gnu-zero, bsd, jsonl, ",
        ),
        (
            &["verify", "-f", "mtre", "a"],
            "unknown format 'mtre' (did you mean mtree? known: gnu, ",
        ),
        (
            &["verify", "--max-time", "soon", "a"],
            "a time is a number with s, m, h or d behind it, or several: 90s, 1.5h, 2h30m",
        ),
        (
            &["verify", "--max-bytes", "1GiB", "a"],
            "a size is a number, with K, M, G or T behind it if need be: 500M, 1.5G",
        ),
        (
            &["hash", "--folow"],
            "unexpected argument '--folow' found; tip: a similar argument exists: '--follow'",
        ),
        (
            &["hsah"],
            "unrecognized subcommand 'hsah'; tip: a similar subcommand exists: 'hash'",
        ),
        (&["hash", "-j", "1025"], "at most 1024 threads"),
        (
            &["hash", "-j", "0"],
            "invalid value '0' for '--threads <N>'",
        ),
        (&["hash", "-0"], "--files-from"),
        (&["hash", "a", "--files-from", "a"], "cannot be used with"),
        (
            &["hash", "--io", "x"],
            "[possible values: auto, read, mmap, direct]",
        ),
        (&["verify"], "<MANIFEST>..."),
        (&["hash", "--\x1b[2J"], "unexpected argument '--' found"),
    ] {
        let output = run(args);
        let lines = output.stderr.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(lines, 1, "{output}");
        assert!(output.stderr.starts_with(b"multisum: "), "{output}");
        assert!(!output.stderr.contains(&0x1b), "{output}");
        output.stderr_has(told).code(2).check();
    }
}

#[test]
fn no_command_at_all_gets_the_help_and_is_a_mistake() {
    run(&[])
        .stderr_has("Usage: multisum <COMMAND>")
        .code(2)
        .check();
}

#[test]
fn help_and_version_are_no_mistakes() {
    run(&["--help"])
        .stdout_has("Usage: multisum <COMMAND>")
        .check();
    run(&["--version"])
        .stdout(concat!("multisum ", env!("CARGO_PKG_VERSION"), "\n"))
        .check();
}

#[test]
fn the_algorithms_are_listed() {
    let output = run(&["hash", "-a", "list"]);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    for algorithm in multisum::Algorithm::all().map(|algorithm| algorithm.to_string()) {
        let listed = |line: &str| line.split(' ').next() == Some(&algorithm);
        assert!(
            text.lines().any(listed) || algorithm.starts_with("blake2b-"),
            "{algorithm}\n{text}"
        );
    }
    output.stdout_has("SHA2-256").check();
}

#[test]
fn an_option_like_name_needs_a_dash_dash() {
    let tree = Tree::new();
    tree.file("-rf", "abc");
    let output = tree.cmd(["hash", "-a", "md5", "--", "-rf"]).run();
    output.stdout_has("  -rf\n").stderr_any().check();
    let output = tree.shell("$M hash | $M verify -").run();
    output.stderr_has("1 ok").check();
}
