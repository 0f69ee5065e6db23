//! Trees to work on, the built binary to run in them, and outputs that are compared whole.
#![allow(dead_code, reason = "a tool box; not every test needs every tool")]

use std::ffi::{OsStr, OsString};
use std::fmt::{self, Display, Formatter};
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use crate::common::process::{Finished, Running, clean_environment};
pub(crate) use crate::common::tool;
use crate::common::{painted, skipped};

pub(crate) const BINARY: &str = match option_env!("MULTISUM_BINARY") {
    // The program for another platform, behind an emulator: see tests/platforms/run.
    Some(other) => other,
    None => env!("CARGO_BIN_EXE_multisum"),
};

pub(crate) const MD5_OF_ABC: &str = "900150983cd24fb0d6963f7d28e17f72";
pub(crate) const MD5_OF_NOTHING: &str = "d41d8cd98f00b204e9800998ecf8427e";
/// Of the five bytes `hello`.
pub(crate) const MD5_OF_HELLO: &str = "5d41402abc4b2a76b9719d911017c592";
pub(crate) const SHA256_OF_ABC: &str =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// A file name of any bytes.
pub(crate) fn name(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

/// A temporary directory that vanishes with it. Every path is relative to it; folders on the way
/// are made.
#[derive(Debug)]
pub(crate) struct Tree {
    holder: TempDir,
    root: PathBuf,
}

impl Tree {
    pub(crate) fn new() -> Self {
        let holder = TempDir::new().expect("a temporary directory");
        let root = fs::canonicalize(holder.path()).unwrap().join("tree");
        fs::create_dir(&root).unwrap();
        // Other users must be able to come in, see `Cmd::unprivileged`.
        for folder in [holder.path(), &root] {
            fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
        }
        Self { holder, root }
    }

    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }

    fn new_path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    pub(crate) fn file(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> &Self {
        fs::write(self.new_path(path), content).unwrap();
        self
    }

    pub(crate) fn painted(&self, path: impl AsRef<Path>, len: usize) -> &Self {
        self.file(path, painted(len))
    }

    /// A file with a hole of this many bytes and nothing else.
    pub(crate) fn sparse(&self, path: impl AsRef<Path>, len: u64) -> &Self {
        let file = File::create(self.new_path(path)).unwrap();
        file.set_len(len).unwrap();
        self
    }

    pub(crate) fn dir(&self, path: impl AsRef<Path>) -> &Self {
        fs::create_dir_all(self.path(path)).unwrap();
        self
    }

    /// A symbolic link at `path` that says `target`, whether or not that exists.
    pub(crate) fn link(&self, path: impl AsRef<Path>, target: impl AsRef<Path>) -> &Self {
        symlink(target, self.new_path(path)).unwrap();
        self
    }

    pub(crate) fn hard_link(&self, path: impl AsRef<Path>, existing: impl AsRef<Path>) -> &Self {
        fs::hard_link(self.path(existing), self.new_path(path)).unwrap();
        self
    }

    pub(crate) fn fifo(&self, path: impl AsRef<Path>) -> &Self {
        let mode = Mode::from_raw_mode(0o644);
        mknodat(CWD, self.new_path(path), FileType::Fifo, mode, 0).unwrap();
        self
    }

    pub(crate) fn socket(&self, path: impl AsRef<Path>) -> &Self {
        UnixListener::bind(self.new_path(path)).unwrap();
        self
    }

    pub(crate) fn mode(&self, path: impl AsRef<Path>, mode: u32) -> &Self {
        fs::set_permissions(self.path(path), Permissions::from_mode(mode)).unwrap();
        self
    }

    pub(crate) fn modified(&self, path: impl AsRef<Path>, time: SystemTime) -> &Self {
        let file = File::open(self.path(path)).unwrap();
        file.set_modified(time).unwrap();
        self
    }

    /// Changes one byte and puts the old modification time back: silent damage.
    pub(crate) fn flip(&self, path: impl AsRef<Path>, offset: usize) -> &Self {
        let path = self.path(path);
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        let mut content = fs::read(&path).unwrap();
        content[offset] ^= 1;
        fs::write(&path, content).unwrap();
        self.modified(path, modified)
    }

    pub(crate) fn remove(&self, path: impl AsRef<Path>) -> &Self {
        fs::remove_file(self.path(path)).unwrap();
        self
    }

    pub(crate) fn read(&self, path: impl AsRef<Path>) -> Vec<u8> {
        let path = self.path(path);
        fs::read(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
    }

    /// Everything that is not a folder, sorted by component.
    pub(crate) fn list(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        list(&self.root, &mut found);
        let mut names: Vec<PathBuf> = found
            .iter()
            .map(|path| path.strip_prefix(&self.root).unwrap().to_owned())
            .collect();
        names.sort();
        names
    }

    /// The built binary with these arguments, to be run in the root of the tree.
    pub(crate) fn cmd<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Cmd {
        let args = args.into_iter().map(|arg| arg.as_ref().to_owned());
        Cmd {
            program: BINARY.into(),
            args: args.collect(),
            cwd: self.root.clone(),
            tree: self.root.clone(),
            env: Vec::new(),
            stdin: Vec::new(),
            limit: Duration::from_secs(60),
        }
    }

    /// A shell script, in which `$M` is the built binary.
    pub(crate) fn shell(&self, script: &str) -> Cmd {
        let shell = self.tool("sh", ["-c", script]);
        shell.expect("every unix has sh").env("M", BINARY)
    }

    /// The built binary under strace, which injects this fault into system calls on `path`.
    #[track_caller]
    pub(crate) fn faulty(&self, path: &str, fault: &str, args: &[&str]) -> Option<Cmd> {
        let whole = self.path(path);
        let mut all: Vec<OsString> = ["-f", "-qq", "-o", "/dev/null"].map(OsString::from).into();
        let dotted = format!("./{path}");
        for option in ["-P", path, "-P", &dotted, "-P", whole.to_str()?, "-e"] {
            all.push(option.into());
        }
        all.extend([format!("inject={fault}").into(), BINARY.into()]);
        all.extend(args.iter().map(OsString::from));
        self.tool("strace", all)
    }

    /// The names directly in a folder, sorted.
    pub(crate) fn names_in(&self, path: impl AsRef<Path>) -> Vec<OsString> {
        let entries = fs::read_dir(self.path(path)).unwrap();
        let mut names: Vec<OsString> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    /// Another project's program with these arguments, to be run in the root of the tree; `None`
    /// if it is not installed.
    #[track_caller]
    pub(crate) fn tool<A: AsRef<OsStr>>(
        &self,
        program: &str,
        args: impl IntoIterator<Item = A>,
    ) -> Option<Cmd> {
        let found = tool(program)?;
        let program = found.command().get_program().into();
        Some(Cmd {
            program,
            ..self.cmd(args)
        })
    }
}

/// Whether `locale -a` lists this name; said if not.
#[track_caller]
pub(crate) fn has_locale(name: &str) -> bool {
    let listed = tool("locale").and_then(|locale| locale.output(&["-a"], b""));
    let found =
        listed.is_some_and(|names| names.split(|b| *b == b'\n').any(|n| n == name.as_bytes()));
    if !found {
        skipped(&format!("locale {name} not installed"));
    }
    found
}

fn list(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            list(&entry.path(), found);
        } else {
            found.push(entry.path());
        }
    }
}

impl Drop for Tree {
    /// Makes closed folders removable again.
    fn drop(&mut self) {
        open_up(&self.root);
    }
}

fn open_up(folder: &Path) {
    // What cannot be opened up here is left behind in the temporary directory; no test is wrong
    // for that.
    fs::set_permissions(folder, Permissions::from_mode(0o755)).ok();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

/// A run to be made: the binary, its arguments, and all that it can see of the world.
#[must_use = "nothing runs before `run` or `start`"]
#[derive(Debug)]
pub(crate) struct Cmd {
    program: PathBuf,
    args: Vec<OsString>,
    cwd: PathBuf,
    tree: PathBuf,
    env: Vec<(OsString, OsString)>,
    stdin: Vec<u8>,
    limit: Duration,
}

impl Cmd {
    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Another folder of the tree to run in.
    pub(crate) fn cwd(mut self, path: impl AsRef<Path>) -> Self {
        self.cwd = self.tree.join(path);
        self
    }

    pub(crate) fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let pair = (name.as_ref().to_owned(), value.as_ref().to_owned());
        self.env.push(pair);
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.stdin = bytes.as_ref().to_vec();
        self
    }

    /// How long the run may take, if not 60 seconds.
    pub(crate) fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// The same run by a user whom permissions stop: whoever runs the tests, or nobody if that is
    /// root. `None`, and said, where root cannot become nobody.
    #[track_caller]
    pub(crate) fn unprivileged(mut self) -> Option<Self> {
        if fs::metadata(&self.tree).unwrap().uid() != 0 {
            return Some(self);
        }
        let setpriv = tool("setpriv")?;
        // The build folder may lie where nobody cannot come.
        let program = self.tree.parent().unwrap().join("multisum");
        if !program.exists() {
            // A copy may still be open for writing in a process that another test starts just now,
            // and then cannot be run.
            let linked = fs::hard_link(&self.program, &program);
            linked
                .or_else(|_| fs::copy(&self.program, &program).map(drop))
                .unwrap();
        }
        let switch = ["--reuid=65534", "--regid=65534", "--clear-groups", "--"];
        let mut args: Vec<OsString> = switch.iter().map(OsString::from).collect();
        args.push(program.into());
        args.append(&mut self.args);
        self.args = args;
        self.program = setpriv.command().get_program().into();
        Some(self)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        clean_environment(&mut command);
        command.args(&self.args).current_dir(&self.cwd);
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Starts the run and returns at once.
    pub(crate) fn start(self) -> Started {
        let running = Running::start(&mut self.command(), self.stdin.clone(), self.limit);
        Started { running, cmd: self }
    }

    /// Runs to the end. A run that takes longer than its limit is killed and fails.
    #[track_caller]
    pub(crate) fn run(self) -> Output {
        self.start().wait()
    }
}

/// A run under way.
#[must_use = "a run under way is killed when it is dropped"]
#[derive(Debug)]
pub(crate) struct Started {
    running: Running,
    cmd: Cmd,
}

impl Started {
    /// Sends a signal by name, such as `INT`.
    pub(crate) fn signal(&self, name: &str) {
        self.running.signal(name);
    }

    /// As [`Started::signal`], for a run that may have ended already.
    pub(crate) fn signal_if_running(&self, name: &str) {
        self.running.signal_if_running(name);
    }

    /// The most memory that the run has held so far, where the system tells.
    pub(crate) fn peak_kilobytes(&self) -> u64 {
        self.running.peak_kilobytes()
    }

    /// Waits, and gives the most memory in kB that the run was seen to hold.
    #[track_caller]
    pub(crate) fn wait_and_weigh(mut self) -> (Output, u64) {
        let mut peak = 0;
        while self.running.is_running() {
            peak = peak.max(self.peak_kilobytes());
            std::thread::sleep(Duration::from_millis(5));
        }
        (self.wait(), peak)
    }

    #[track_caller]
    pub(crate) fn wait(self) -> Output {
        match self.running.wait() {
            Ok(finished) => Output::new(&self.cmd, &finished),
            Err(partial) => panic!(
                "{:?} took longer than {:?} and was killed\n{}",
                self.cmd.args,
                self.cmd.limit,
                streams(&partial.stdout, &partial.stderr)
            ),
        }
    }
}

/// What is expected of one stream.
#[derive(Debug)]
enum Expected {
    Exactly(Vec<u8>),
    Holds(Vec<String>),
}

impl Expected {
    fn is_met_by(&self, actual: &[u8]) -> bool {
        match self {
            Self::Exactly(expected) => expected == actual,
            Self::Holds(pieces) => pieces.iter().all(|piece| holds(actual, piece.as_bytes())),
        }
    }
}

impl Display for Expected {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(bytes) => f.write_str(&shown(bytes)),
            Self::Holds(pieces) if pieces.is_empty() => f.write_str("  anything\n"),
            Self::Holds(pieces) => {
                let mut lines = pieces.iter();
                lines.try_for_each(|piece| writeln!(f, "  … {piece} …"))
            }
        }
    }
}

pub(crate) fn holds(text: &[u8], piece: &[u8]) -> bool {
    piece.is_empty() || text.windows(piece.len()).any(|window| window == piece)
}

/// What a run has left, and what is expected of it: no output and code 0, unless told otherwise.
///
/// In both streams the path of the tree reads `[TREE]`; in standard error the time that a run took,
/// and the rate after it, read `[TIME]`.
#[must_use = "nothing is compared before `check`"]
#[derive(Debug)]
pub(crate) struct Output {
    program: PathBuf,
    args: Vec<OsString>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// `None` if a signal ended the run.
    pub(crate) code: Option<i32>,
    expected_stdout: Expected,
    expected_stderr: Expected,
    expected_code: i32,
}

impl Output {
    fn new(cmd: &Cmd, finished: &Finished) -> Self {
        let tree = cmd.tree.as_os_str().as_bytes();
        let stderr = replaced(&finished.stderr, tree, b"[TREE]");
        Self {
            program: cmd.program.clone(),
            args: cmd.args.clone(),
            stdout: replaced(&finished.stdout, tree, b"[TREE]"),
            stderr: without_times(&stderr),
            code: finished.status.code(),
            expected_stdout: Expected::Exactly(Vec::new()),
            expected_stderr: Expected::Exactly(Vec::new()),
            expected_code: 0,
        }
    }

    /// Exactly these bytes.
    pub(crate) fn stdout(mut self, expected: impl AsRef<[u8]>) -> Self {
        self.expected_stdout = Expected::Exactly(expected.as_ref().to_vec());
        self
    }

    /// Exactly these bytes.
    pub(crate) fn stderr(mut self, expected: impl AsRef<[u8]>) -> Self {
        self.expected_stderr = Expected::Exactly(expected.as_ref().to_vec());
        self
    }

    /// This piece somewhere; more than one may be asked for.
    pub(crate) fn stdout_has(mut self, piece: &str) -> Self {
        add_piece(&mut self.expected_stdout, piece);
        self
    }

    /// This piece somewhere; more than one may be asked for.
    pub(crate) fn stderr_has(mut self, piece: &str) -> Self {
        add_piece(&mut self.expected_stderr, piece);
        self
    }

    pub(crate) fn stdout_any(mut self) -> Self {
        self.expected_stdout = Expected::Holds(Vec::new());
        self
    }

    pub(crate) fn stderr_any(mut self) -> Self {
        self.expected_stderr = Expected::Holds(Vec::new());
        self
    }

    pub(crate) fn code(mut self, expected: i32) -> Self {
        self.expected_code = expected;
        self
    }

    /// As [`Output::check`], where one of several codes may come.
    #[track_caller]
    pub(crate) fn check_code(self, codes: &[i32]) {
        let code = self.code.filter(|code| codes.contains(code));
        let expected = code.or(codes.first().copied()).unwrap_or(0);
        self.code(expected).check();
    }

    /// Compares standard output, standard error and the code. Nothing that runs may panic.
    #[track_caller]
    pub(crate) fn check(self) {
        assert!(!holds(&self.stderr, b"panicked"), "a panic\n{self}");
        let wrong: Vec<&str> = [
            ("stdout", self.expected_stdout.is_met_by(&self.stdout)),
            ("stderr", self.expected_stderr.is_met_by(&self.stderr)),
            ("code", self.code == Some(self.expected_code)),
        ]
        .iter()
        .filter_map(|(what, is_met)| (!is_met).then_some(*what))
        .collect();
        assert!(
            wrong.is_empty(),
            "{} not as expected\n{self}expected stdout:\n{}expected stderr:\n{}expected code {}\n",
            wrong.join(", "),
            self.expected_stdout,
            self.expected_stderr,
            self.expected_code
        );
    }
}

fn add_piece(expected: &mut Expected, piece: &str) {
    match expected {
        Expected::Holds(pieces) => pieces.push(piece.to_owned()),
        Expected::Exactly(_) => *expected = Expected::Holds(vec![piece.to_owned()]),
    }
}

impl Display for Output {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?} {:?}", self.program, self.args)?;
        f.write_str(&streams(&self.stdout, &self.stderr))?;
        match self.code {
            Some(code) => writeln!(f, "code {code}"),
            None => writeln!(f, "ended by a signal"),
        }
    }
}

fn streams(stdout: &[u8], stderr: &[u8]) -> String {
    format!("stdout:\n{}stderr:\n{}", shown(stdout), shown(stderr))
}

/// Line by line and indented, with everything that is not plain escaped.
fn shown(bytes: &[u8]) -> String {
    bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| format!("  {}\n", line.escape_ascii()))
        .collect()
}

fn replaced(text: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.first() {
        if let Some(after) = rest.strip_prefix(old) {
            result.extend_from_slice(new);
            rest = after;
        } else {
            result.push(*first);
            rest = &rest[1..];
        }
    }
    result
}

/// Turns ` in 3.1 s (1.35 GB/s)`, with or without the rate, into ` in [TIME]`.
fn without_times(text: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.first() {
        let after = rest.strip_prefix(b" in ").and_then(after_time);
        if let Some(after) = after {
            result.extend_from_slice(b" in [TIME]");
            rest = after_rate(after);
        } else {
            result.push(*first);
            rest = &rest[1..];
        }
    }
    result
}

/// What follows `under 1 ms`, `12 ms`, `3.1 s`, `4 min 05 s`, …; `None` if there is no time.
fn after_time(text: &[u8]) -> Option<&[u8]> {
    const UNITS: [&[u8]; 5] = [b"ms", b"min", b"s", b"h", b"d"];
    let mut rest = text.strip_prefix(b"under ").unwrap_or(text);
    let mut end = None;
    loop {
        let digits = rest
            .iter()
            .take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','))
            .count();
        let unit = rest[digits..].strip_prefix(b" ").and_then(|after| {
            let mut units = UNITS.iter();
            units.find_map(|unit| after.strip_prefix(*unit))
        });
        match unit {
            Some(after) if digits > 0 => end = Some(after),
            _ => return end,
        }
        match end.and_then(|after| after.strip_prefix(b" ")) {
            Some(after) => rest = after,
            None => return end,
        }
    }
}

fn after_rate(text: &[u8]) -> &[u8] {
    let Some(inner) = text.strip_prefix(b" (") else {
        return text;
    };
    match inner.iter().position(|byte| *byte == b')') {
        Some(end) if inner[..end].ends_with(b"/s") => &inner[end + 1..],
        _ => text,
    }
}

#[test]
fn times_and_rates_are_taken_out_and_nothing_else() {
    let clean = |text: &str| String::from_utf8(without_times(text.as_bytes())).unwrap();
    for time in [
        "under 1 ms",
        "12 ms",
        "3.1 s",
        "4 min 05 s",
        "2 h 07 min",
        "3 d 4 h",
        "3.1 s (1.35 GB/s)",
    ] {
        let text = format!("hashed 2 files, 3 bytes in {time}: 2 ok");
        assert_eq!(clean(&text), "hashed 2 files, 3 bytes in [TIME]: 2 ok");
    }
    let kept = "2 files in 3 folders (1 B/s), in 4, in d/s";
    assert_eq!(clean(kept), kept);
}

#[test]
fn a_tree_holds_what_was_put_there() {
    let tree = Tree::new();
    tree.file("b/a", "abc").painted("c", 252).dir("empty");
    tree.link("link", "nowhere").fifo("pipe").socket("socket");
    tree.file(name(b"\xff"), "").sparse("sparse", 1 << 40);
    tree.flip("b/a", 1);
    assert_eq!(tree.read("b/a"), b"acc");
    assert_eq!(tree.read("c")[250..], [250, 0]);
    let names: Vec<PathBuf> = ["b/a", "c", "link", "pipe", "socket", "sparse"]
        .iter()
        .map(PathBuf::from)
        .chain([name(b"\xff").into()])
        .collect();
    assert_eq!(tree.list(), names);
    let gone = tree.path("");
    tree.dir("closed/inner").mode("closed", 0);
    drop(tree);
    assert!(!gone.exists());
}

fn sh(tree: &Tree, script: &str) -> Cmd {
    tree.tool("sh", ["-c", script]).expect("every unix has sh")
}

#[test]
fn a_run_sees_its_arguments_input_and_variables_and_no_others() {
    let tree = Tree::new();
    tree.dir("d");
    let script = "pwd; cat; echo \"$X:$NO_COLOR:$LANG\" >&2; exit 3";
    let output = sh(&tree, script).stdin("in\n").env("X", "1").cwd("d").run();
    output
        .stdout("[TREE]/d\nin\n")
        .stderr("1::\n")
        .code(3)
        .check();
}

#[test]
#[should_panic(expected = "stdout, stderr, code not as expected")]
fn forgetting_to_expect_an_output_is_a_failure() {
    sh(&Tree::new(), "echo a; echo b >&2; exit 1").run().check();
}

#[test]
#[should_panic(expected = "was killed")]
fn a_run_that_hangs_is_killed_with_its_children() {
    let limit = Duration::from_millis(100);
    let run = sh(&Tree::new(), "sleep 1000 & wait").limit(limit).run();
    run.check();
}

#[test]
fn a_run_can_be_interrupted() {
    let tree = Tree::new();
    let script = "trap 'exit 130' INT; : >ready; while :; do sleep 0.01; done";
    let started = sh(&tree, script).start();
    while !tree.path("ready").exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    started.signal("INT");
    started.wait().code(130).check();
}
