//! The commands in `README.md` give the output that stands there.
//!
//! In a block marked `console`, a line that begins with `$ ` is a command (one that ends with a
//! backslash goes on in the next line), and the lines up to the next command are all that it writes
//! to standard output and standard error. `…` stands for any text within a line. The commands of a
//! block share one shell; all blocks share one directory, empty at first.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use common::process::{Running, clean_environment};
use common::skipped;

const LIMIT: Duration = Duration::from_secs(60);

/// Written by the shell after each command.
const MARK: &str = "\u{1}end of command\u{1}";

#[derive(Debug, PartialEq)]
struct Step {
    /// Counted from 1, in the whole text.
    line: usize,
    command: String,
    expected: Vec<String>,
}

/// The steps of every `console` block.
fn blocks(text: &str) -> Vec<Vec<Step>> {
    let mut blocks = Vec::new();
    let mut open: Option<Vec<Step>> = None;
    for (number, line) in text.lines().enumerate() {
        match &mut open {
            None if line.trim_end() == "```console" => open = Some(Vec::new()),
            None => {}
            Some(_) if line.trim_end() == "```" => blocks.extend(open.take()),
            Some(steps) => add_line(steps, number + 1, line),
        }
    }
    assert!(open.is_none(), "a console block is not closed");
    blocks
}

fn add_line(steps: &mut Vec<Step>, number: usize, line: &str) {
    let unfinished = steps.last_mut().filter(|step| step.command.ends_with('\\'));
    if let Some(step) = unfinished {
        step.command = format!("{}\n{line}", step.command);
    } else if let Some(command) = line.strip_prefix("$ ") {
        steps.push(Step {
            line: number,
            command: command.to_owned(),
            expected: Vec::new(),
        });
    } else {
        let step = steps.last_mut();
        let step = step.unwrap_or_else(|| panic!("line {number}: output before any command"));
        step.expected.push(line.to_owned());
    }
}

/// One script for all steps. The status of a command is there for the next, as `$?`.
fn script(steps: &[Step]) -> String {
    let mut script = "exec 2>&1\n".to_owned();
    for step in steps {
        script += &step.command;
        script += &format!("\nstatus=$?; printf '{MARK}'; (exit \"$status\")\n");
    }
    script
}

/// `…` in `expected` stands for any text, also none.
fn line_matches(expected: &str, actual: &str) -> bool {
    let mut pieces = expected.split('…');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = actual.strip_prefix(first) else {
        return false;
    };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else {
        return rest.is_empty();
    };
    for piece in pieces {
        let Some(place) = rest.find(piece) else {
            return false;
        };
        rest = &rest[place + piece.len()..];
    }
    rest.ends_with(last)
}

fn matches(expected: &[String], actual: &str) -> bool {
    let actual: Vec<&str> = actual.lines().collect();
    let mut pairs = expected.iter().zip(&actual);
    expected.len() == actual.len() && pairs.all(|(one, other)| line_matches(one, other))
}

/// Runs a block and says what is not as it stands there.
fn faults(steps: &[Step], folder: &Path) -> Vec<String> {
    let mut command = Command::new("sh");
    clean_environment(&mut command);
    let bin = Path::new(env!("CARGO_BIN_EXE_multisum")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(
        [bin.to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&path)),
    );
    command
        .args(["-c", &script(steps)])
        .current_dir(folder)
        .env("PATH", path.unwrap());
    let (output, is_finished) = match Running::start(&mut command, Vec::new(), LIMIT).wait() {
        Ok(finished) => (finished.stdout, true),
        Err(partial) => (partial.stdout, false),
    };
    let output = String::from_utf8(output).expect("a page shows text");
    let parts: Vec<&str> = output.split(MARK).collect();
    let mut faults = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        // What follows the last mark belongs to a command that did not end.
        let actual = parts[..parts.len() - 1].get(index);
        if actual.is_none_or(|actual| !matches(&step.expected, actual)) {
            let end = if is_finished {
                ""
            } else {
                " (killed after a minute)"
            };
            let actual = actual.or(parts.get(index)).unwrap_or(&"[did not run]");
            faults.push(format!(
                "line {}: $ {}\nexpected:\n{}\ngot{end}:\n{actual}",
                step.line,
                step.command,
                step.expected.join("\n")
            ));
        }
    }
    faults
}

fn faults_of(text: &str) -> Vec<String> {
    let folder = tempfile::TempDir::new().unwrap();
    let blocks = blocks(text);
    blocks
        .iter()
        .flat_map(|steps| faults(steps, folder.path()))
        .collect()
}

#[test]
fn the_readme_is_true() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    if !path.exists() {
        skipped("README.md is not written yet");
        return;
    }
    let text = fs::read_to_string(path).unwrap();
    assert!(!blocks(&text).is_empty(), "no console block at all");
    let faults = faults_of(&text);
    assert!(faults.is_empty(), "README.md\n{}", faults.join("\n\n"));
}

fn block(lines: &str) -> String {
    format!("Text\n\n```console\n{lines}\n```\n")
}

#[test]
fn a_true_page_passes() {
    let text =
        block("$ echo a; echo b >&2\na\nb\n$ printf x >file\n$ cat file; false\nx\n$ echo $?\n1")
            + "```sh\n$ exit 7\n```\n"
            + &block("$ cat \\\n  file\nx\n$ date +%s.%N\n….…\n$ echo; echo\n\n");
    assert_eq!(faults_of(&text), Vec::<String>::new());
}

#[test]
fn every_untruth_is_found() {
    for untrue in [
        "$ echo a\nb",
        "$ echo a",
        "$ true\na",
        "$ echo a\na\n",
        "$ echo a\n b…",
        "$ echo abc\na…b",
        "$ echo 'a\na",
        "$ exit 0\n$ echo a\na",
    ] {
        assert!(!faults_of(&block(untrue)).is_empty(), "{untrue}");
    }
    let faults = faults_of(&block("$ true\n$ echo a\nb"));
    assert_eq!(faults, ["line 5: $ echo a\nexpected:\nb\ngot:\na\n"]);
}

#[test]
fn an_ellipsis_is_any_text_within_a_line() {
    for (expected, actual) in [
        ("…", ""),
        ("a…", "abc"),
        ("…c", "abc"),
        ("a…b…c", "a--b-b-c"),
        ("a…a", "aa"),
    ] {
        assert!(line_matches(expected, actual), "{expected} {actual}");
    }
    for (expected, actual) in [
        ("", "a"),
        ("a…a", "a"),
        ("a…b…c", "ac"),
        ("…b", "abc"),
        ("a", "a "),
    ] {
        assert!(!line_matches(expected, actual), "{expected} {actual}");
    }
}

#[test]
fn the_readme_lists_every_algorithm_and_format() {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    for algorithm in multisum::Algorithm::all() {
        let name = algorithm.to_string();
        let listed = text
            .split(|c: char| !c.is_alphanumeric() && c != '-')
            .any(|word| word == name);
        assert!(listed, "{name} is missing");
    }
    for format in multisum::manifest::Format::all() {
        let row = row_of(format.info());
        assert!(text.contains(&row), "missing: {row}");
    }
}

/// The row of the README's table that describes a format.
fn row_of(info: &multisum::manifest::FormatInfo) -> String {
    let carries = info.carries;
    let mut holds = vec![if carries.algorithms {
        "digests"
    } else {
        "a digest"
    }];
    if carries.size {
        holds.push("size");
    }
    if carries.modified {
        holds.push("time");
    }
    let written = if info.writable { "yes" } else { "no" };
    let (name, holds, text) = (info.name, holds.join(", "), info.description);
    format!("| `{name}` | {written} | {holds} | {text} |\n")
}
