//! Every system call that can fail, made to fail: each time it is made, with each error.
//!
//! A call is made to fail the Nth time that a thread makes it, for N = 1, 2, 3 … until there is no Nth
//! time. What then comes of a run is: code 0 (or what the clean run gives) with the clean run's output,
//! or code 2 with the old manifest or a whole new one. What fails in the loader of programs and in the
//! language's runtime, before or below the program's own code, is counted apart and by name.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::fs;
use std::time::{Duration, SystemTime};

use crate::harness::{Output, Tree, holds};
use crate::stage::traced;

const CALLS: [&str; 12] = [
    "openat",
    "statx",
    "read",
    "getdents64",
    "write",
    "fdatasync",
    "fsync",
    "/^rename",
    "close",
    "clone3",
    "mmap",
    "pwrite64",
];

const ERRORS: [&str; 5] = ["EIO", "ENOMEM", "EINTR", "EACCES", "ENOSPC"];

/// Those that are to be made again when a signal has interrupted them.
const RETRIED: [&str; 5] = ["openat", "read", "write", "fsync", "fdatasync"];

/// More than any of the runs makes in one thread.
const MOST: usize = 600;

/// A command on a small tree.
pub(crate) struct Scenario {
    pub(crate) tree: Tree,
    args: Vec<&'static str>,
    /// What the run writes, what stands there before, and when that was written.
    target: Option<(&'static str, Vec<u8>, SystemTime)>,
    clean_code: i32,
    clean_stdout: Vec<u8>,
    clean_target: Vec<u8>,
    names: Vec<String>,
}

/// A run to which something was done.
pub(crate) struct Injected {
    pub(crate) output: Output,
    /// Whether it was done, because there was such a call.
    fired: bool,
    /// Whether the loader of programs had done its work, all but the last touches.
    loaded: bool,
}

fn small_tree() -> Tree {
    let tree = Tree::new();
    tree.file("t/a", "abc")
        .painted("t/b", 70_000)
        .file("t/d/c", "hello");
    tree
}

impl Scenario {
    /// With its clean run made.
    fn new(tree: Tree, args: &[&'static str], target: Option<&'static str>) -> Self {
        let target = target.map(|name| {
            let modified = fs::metadata(tree.path(name)).unwrap().modified().unwrap();
            (name, tree.read(name), modified)
        });
        let mut scenario = Self {
            args: args.to_vec(),
            target,
            clean_code: 0,
            clean_stdout: Vec::new(),
            clean_target: Vec::new(),
            names: names(&tree),
            tree,
        };
        scenario.reset();
        let cmd = scenario
            .tree
            .cmd(args)
            .env("SOURCE_DATE_EPOCH", "1000000000");
        let clean = cmd.run();
        scenario.clean_code = clean.code.unwrap();
        scenario.clean_stdout.clone_from(&clean.stdout);
        clean.stdout_any().stderr_any().check_code(&[0, 1]);
        scenario.clean_target = scenario.read_target();
        scenario
    }

    pub(crate) fn hash() -> Self {
        let tree = small_tree();
        tree.file("L", "old\n");
        let args = ["hash", "-j1", "--force", "-f", "jsonl", "-o", "L", "t"];
        Self::new(tree, &args, Some("L"))
    }

    /// As [`Scenario::hash`], where a journal that was left is gone on with.
    pub(crate) fn resumed_hash() -> Self {
        let mut hash = Self::hash();
        hash.args.insert(1, "--resume");
        hash
    }

    pub(crate) fn verify() -> Self {
        let tree = small_tree();
        let hashed = tree
            .cmd(["hash", "-q", "-f", "jsonl", "-o", "L", "t"])
            .run();
        hashed.check();
        Self::new(tree, &["verify", "-v", "-j1", "L"], None)
    }

    pub(crate) fn update() -> Self {
        let tree = small_tree();
        let cmd = tree.cmd(["hash", "-q", "-f", "jsonl", "-o", "L", "t"]);
        cmd.env("SOURCE_DATE_EPOCH", "1000000000").run().check();
        tree.file("t/a", "hello").file("t/new", "new");
        Self::new(tree, &["update", "-j1", "L"], Some("L"))
    }

    pub(crate) fn merge() -> Self {
        let tree = small_tree();
        for (part, slice) in [("1.jsonl", "1/2"), ("2.jsonl", "2/2")] {
            let args = ["hash", "-q", "--slice", slice, "-o", part, "t"];
            let cmd = tree.cmd(args).env("SOURCE_DATE_EPOCH", "1000000000");
            cmd.run().check();
        }
        tree.file("L", "old\n");
        let args = [
            "merge", "1.jsonl", "2.jsonl", "--force", "-f", "jsonl", "-o", "L",
        ];
        Self::new(tree, &args, Some("L"))
    }

    pub(crate) fn read_target(&self) -> Vec<u8> {
        let target = self.target.as_ref();
        target.map_or(Vec::new(), |(name, ..)| self.tree.read(name))
    }

    /// Everything as it was before the first run.
    pub(crate) fn reset(&self) {
        for name in names(&self.tree) {
            if !self.names.contains(&name) {
                fs::remove_file(self.tree.path(name)).unwrap();
            }
        }
        if let Some((name, old, modified)) = &self.target {
            self.tree.file(name, old).modified(name, *modified);
        }
    }

    /// The run under strace, which does this to these calls. `None`, and said, without strace.
    #[track_caller]
    pub(crate) fn under(&self, call: &str, inject: &str) -> Option<Injected> {
        let log = self.tree.path("../calls");
        let trace = format!("trace={call},set_tid_address");
        let inject = format!("inject={call}:{inject}");
        let options = ["-o", log.to_str()?, "-e", &trace, "-e", &inject];
        let cmd = traced(&self.tree, &options, &self.args)?;
        let cmd = cmd.env("SOURCE_DATE_EPOCH", "1000000000");
        let output = cmd.limit(Duration::from_secs(30)).run();
        let calls = fs::read(log).unwrap_or_default();
        Some(Injected {
            output,
            fired: holds(&calls, b"INJECTED"),
            loaded: holds(&calls, b"set_tid_address("),
        })
    }

    /// The run once more, with nothing going wrong.
    pub(crate) fn plainly(&self) -> Output {
        let cmd = self.tree.cmd(&self.args);
        cmd.env("SOURCE_DATE_EPOCH", "1000000000").run()
    }

    pub(crate) fn is_old(&self) -> bool {
        let old = self.target.as_ref().map_or(&[][..], |(_, old, _)| old);
        self.read_target() == old
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.read_target() == self.clean_target
    }

    /// A whole list, though it may have gaps.
    fn is_closed(&self) -> bool {
        let text = String::from_utf8(self.read_target()).unwrap_or_default();
        let last = text.lines().last().unwrap_or_default();
        text.ends_with('\n') && last.starts_with("{\"files\":")
    }

    /// What is wrong with what is left of a run; `None` if nothing is.
    fn wrong(&self, output: &Output) -> Option<String> {
        if holds(&output.stderr, b"panicked") {
            return Some("panic".to_owned());
        }
        let known = [".L.journal"];
        let stray: Vec<String> = names(&self.tree)
            .into_iter()
            .filter(|name| !self.names.contains(name) && !known.contains(&&**name))
            .collect();
        match output.code {
            None => Some("ended by a signal".to_owned()),
            Some(code) if code == self.clean_code => {
                let is_same = output.stdout == self.clean_stdout && self.is_clean();
                (!is_same).then(|| "well, with another output".to_owned())
            }
            Some(0) => Some("well, though the clean run is not".to_owned()),
            Some(1 | 2) if !(self.is_old() || self.is_closed()) => Some("half a list".to_owned()),
            Some(1 | 2) if !stray.is_empty() => Some(format!("left behind: {stray:?}")),
            Some(1 | 2) => None,
            Some(code) => Some(format!("code {code}")),
        }
    }
}

fn names(tree: &Tree) -> Vec<String> {
    let names = tree.names_in("").into_iter();
    names.map(|name| name.into_string().unwrap()).collect()
}

/// Whose failure it is, if it is not that of the program's own code.
fn not_ours(injected: &Injected) -> Option<&'static str> {
    let output = &injected.output;
    let says = |text: &str| holds(&output.stderr, text.as_bytes());
    // It does not ask of every map whether it worked.
    if !injected.loaded || output.code == Some(127) && says("loading shared libraries") {
        return Some("the loader of programs");
    }
    // The standard library gives up where a thread begins or a directory is closed.
    if says("failed to allocate an alternative stack") || says("failed to set up alternative stack")
    {
        return Some("the start of a thread");
    }
    says("unexpected error during closedir").then_some("the close of a directory")
}

/// What came of how many runs.
#[derive(Debug, Default)]
struct Tally {
    runs: usize,
    not_ours: BTreeMap<&'static str, usize>,
    codes: BTreeMap<i32, usize>,
    interrupted: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

impl Display for Tally {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} runs, by code {:?}", self.runs, self.codes)?;
        write!(f, ", not ours {:?}", self.not_ours)?;
        write!(f, ", interruptions told {:?}", self.interrupted)
    }
}

/// Fails each call at these times.
fn sweep(name: &str, scenario: &Scenario, is_whole: bool) {
    let mut tally = Tally::default();
    for (number, call) in CALLS.iter().enumerate() {
        for (index, error) in ERRORS.iter().enumerate() {
            for nth in 1..MOST {
                // A sample takes few of the high numbers, and one error at a time.
                let is_sampled = (nth + number) % 5 == index && (nth < 4 || nth % 7 == number % 7);
                if !is_whole && !is_sampled && nth < 60 {
                    continue;
                }
                scenario.reset();
                let inject = format!("error={error}:when={nth}");
                let Some(injected) = scenario.under(call, &inject) else {
                    return;
                };
                if !injected.fired {
                    break;
                }
                count(&mut tally, scenario, &injected, call, error, nth);
                drop(injected.output.stdout_any().stderr_any());
                if !is_whole && nth >= 60 {
                    break;
                }
            }
        }
    }
    eprintln!("sweep of {name}: {tally}");
    assert!(tally.runs > 0);
    assert!(
        tally.wrong.is_empty(),
        "{} wrong:\n{}",
        tally.wrong.len(),
        tally.wrong.join("\n")
    );
}

fn count(
    tally: &mut Tally,
    scenario: &Scenario,
    injected: &Injected,
    call: &str,
    error: &str,
    nth: usize,
) {
    let output = &injected.output;
    tally.runs += 1;
    if let Some(whose) = not_ours(injected) {
        *tally.not_ours.entry(whose).or_default() += 1;
        return;
    }
    *tally.codes.entry(output.code.unwrap_or(-1)).or_default() += 1;
    let mut wrong = scenario.wrong(output);
    if error == "EINTR" && output.code != Some(scenario.clean_code) {
        *tally.interrupted.entry(call.to_owned()).or_default() += 1;
        // The C library's way to open a directory does not try again, and neither does who uses it.
        let told = [&*output.stdout, &*output.stderr].concat();
        let is_listing = holds(&told, b"list: Interrupted");
        if RETRIED.contains(&call) && !is_listing && wrong.is_none() {
            wrong = Some("an interruption that shows".to_owned());
        }
    }
    if let Some(wrong) = wrong {
        let told = String::from_utf8_lossy(&output.stderr);
        let told: Vec<&str> = told
            .lines()
            .filter(|line| !line.contains("strace:"))
            .collect();
        let told = told.join(" | ");
        tally
            .wrong
            .push(format!("{call} {error} {nth}: {wrong}: {told}"));
    }
}

pub(crate) fn sampled_hash() {
    sweep("hash", &Scenario::hash(), false);
}

pub(crate) fn sampled_verify() {
    sweep("verify", &Scenario::verify(), false);
}

pub(crate) fn sampled_update() {
    sweep("update", &Scenario::update(), false);
}

pub(crate) fn sampled_merge() {
    sweep("merge", &Scenario::merge(), false);
}

pub(crate) fn whole_hash() {
    sweep("hash", &Scenario::hash(), true);
}

pub(crate) fn whole_verify() {
    sweep("verify", &Scenario::verify(), true);
}

pub(crate) fn whole_update() {
    sweep("update", &Scenario::update(), true);
}

pub(crate) fn whole_merge() {
    sweep("merge", &Scenario::merge(), true);
}
