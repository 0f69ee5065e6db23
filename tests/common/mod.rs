//! What several test binaries share: painted bytes, and the tools of other people.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub(crate) mod process;

use std::cell::RefCell;
use std::ffi::OsStr;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Bytes 0, 1, …, 250, 0, 1, …: the period is prime, so that swapped blocks show.
pub(crate) fn painted(len: usize) -> Vec<u8> {
    (0..=250).cycle().take(len).collect()
}

/// Lengths in bytes round the edges of a block, and a megabyte.
pub(crate) fn lengths(block: usize) -> Vec<usize> {
    let edges = [
        0,
        1,
        block.saturating_sub(9),
        block.saturating_sub(8),
        block - 1,
        block,
        block + 1,
        2 * block - 1,
        2 * block,
        2 * block + 1,
        1 << 20,
    ];
    let mut lengths = edges.to_vec();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// An executable of another project, found on `PATH`.
#[derive(Clone, Debug)]
pub(crate) struct Tool(PathBuf);

impl From<PathBuf> for Tool {
    fn from(path: PathBuf) -> Self {
        Self(path)
    }
}

impl Tool {
    pub(crate) fn command(&self) -> Command {
        Command::new(&self.0)
    }

    /// Runs the tool with these arguments and standard input; `None` unless it ends well.
    pub(crate) fn output<A: AsRef<OsStr>>(&self, args: &[A], input: &[u8]) -> Option<Vec<u8>> {
        let mut child = self
            .command()
            .args(args)
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the tool was found");
        let mut stdin = child.stdin.take().expect("piped");
        let output = std::thread::scope(|scope| {
            // A tool that refuses its options goes away without reading; its status tells.
            scope.spawn(move || stdin.write_all(input).ok());
            child.wait_with_output().expect("the tool ran")
        });
        output.status.success().then_some(output.stdout)
    }
}

/// Finds a tool. One that is missing is named on standard error, and is a failure where
/// `MULTISUM_REQUIRE_TOOLS` is set.
#[track_caller]
pub(crate) fn tool(name: &str) -> Option<Tool> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|candidate| candidate.is_file());
    if found.is_none() {
        skipped(&format!("{name} not installed"));
    }
    found.map(Tool)
}

/// Says what is not tested here and why; fails where `MULTISUM_REQUIRE_TOOLS` is set.
///
/// Written past the capture of the test runner, so that a skip shows also where all is green.
#[track_caller]
pub(crate) fn skipped(what: &str) {
    assert!(
        std::env::var_os("MULTISUM_REQUIRE_TOOLS").is_none(),
        "skipped: {what}, and MULTISUM_REQUIRE_TOOLS is set"
    );
    refused(what);
}

/// As [`skipped`], for what no tool brings: the system of this machine does not let it happen.
pub(crate) fn refused(what: &str) {
    SKIPPED.with_borrow_mut(|all| all.push(what.to_owned()));
    writeln!(std::io::stderr(), "skipped: {what}").expect("standard error takes a line");
}

thread_local! {
    static SKIPPED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// What this thread has skipped since it was last asked.
pub(crate) fn taken_skips() -> Vec<String> {
    SKIPPED.take()
}
