//! Who takes part in a row, and the commands by which each may do its best.

use std::path::PathBuf;

use crate::Setup;
use crate::inputs::{Input, Made};
use crate::measure::{Launch, quoted};
use crate::read::READ_ALL;
use crate::rows::{Rivals, Row, Task};
use crate::tools::{Kind, Shape, Tool};

/// How a command of a candidate is proved to have done its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Its output is read, and every digest is compared.
    Digests(Shape),
    /// Its output has as many bytes as that of the check: processes side by side may tear each
    /// other's lines, but not lose any.
    Length,
    /// It ends well.
    Status,
}

/// One way to do the work.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    pub(crate) launch: Launch,
    pub(crate) proof: Proof,
}

/// A tool in a row.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) ours: bool,
    /// Run once, before all others; it warms the cache too.
    pub(crate) check: Variant,
    /// The fastest of these, by one run each, is measured.
    pub(crate) variants: Vec<Variant>,
}

/// multisum first, then its rivals.
pub(crate) fn candidates(
    row: &Row,
    made: &Made,
    setup: &Setup,
    parts: &[PathBuf],
) -> Vec<Candidate> {
    let mut all = vec![ours(row, made, setup, parts)];
    match row.rivals {
        Rivals::Everybody => all.extend(tools(row, made, setup, parts, |_| true)),
        Rivals::Only(kind) => all.extend(tools(row, made, setup, parts, |tool| tool.kind == kind)),
        Rivals::ReadingAlone => all.push(reading_alone(setup)),
        Rivals::Mapped => all.push(mapped(row, made, setup)),
    }
    if row.one_core {
        for candidate in &mut all {
            let variants = candidate.variants.iter_mut();
            for variant in variants.chain([&mut candidate.check]) {
                let pinned = ["taskset", "-c", "0"].map(str::to_owned);
                variant.launch.0.splice(0..0, pinned);
            }
        }
    }
    all
}

fn ours(row: &Row, made: &Made, setup: &Setup, parts: &[PathBuf]) -> Candidate {
    let mut words = vec![setup.multisum.clone()];
    let proof = match row.task {
        Task::Hash => {
            words.extend(hash_words(row, made));
            Proof::Digests(Shape::Manifest)
        }
        Task::Verify => {
            words.extend(["verify", "-C", "."].map(str::to_owned));
            words.extend(whole_list(parts));
            Proof::Status
        }
    };
    if row.rivals == Rivals::Mapped {
        words.extend(["--io", "read"].map(str::to_owned));
    }
    let version = setup.machine.multisum.clone();
    single("multisum", version, true, Launch(words), proof)
}

fn hash_words(row: &Row, made: &Made) -> Vec<String> {
    let names: Vec<String> = row.algorithms.iter().map(ToString::to_string).collect();
    let target = made.file.clone().unwrap_or_else(|| ".".to_owned());
    vec!["hash".to_owned(), "-a".to_owned(), names.join(","), target]
}

fn mapped(row: &Row, made: &Made, setup: &Setup) -> Candidate {
    let mut words = vec![setup.multisum.clone()];
    words.extend(hash_words(row, made));
    words.extend(["--io", "mmap"].map(str::to_owned));
    let version = setup.machine.multisum.clone();
    let proof = Proof::Digests(Shape::Manifest);
    single("multisum --io mmap", version, false, Launch(words), proof)
}

fn reading_alone(setup: &Setup) -> Candidate {
    let words = vec![setup.itself.clone(), READ_ALL.to_owned(), ".".to_owned()];
    let name = "open, read and close, one thread";
    single(name, String::new(), false, Launch(words), Proof::Status)
}

fn single(name: &str, version: String, ours: bool, launch: Launch, proof: Proof) -> Candidate {
    let variant = Variant { launch, proof };
    Candidate {
        name: name.to_owned(),
        version,
        ours,
        check: variant.clone(),
        variants: vec![variant],
    }
}

fn tools(
    row: &Row,
    made: &Made,
    setup: &Setup,
    parts: &[PathBuf],
    wanted: impl Fn(&Tool) -> bool,
) -> Vec<Candidate> {
    let quick = setup.options.quick;
    let tools = setup.tools.iter().filter(|tool| !quick || !tool.is_slow());
    let wanted = tools.filter(|tool| wanted(tool));
    let candidates = wanted.filter_map(|tool| {
        let variants = match (row.task, &made.file) {
            (Task::Verify, _) => verifying(tool, row, setup, parts)?,
            (Task::Hash, Some(file)) => on_one_file(tool, row, file)?,
            (Task::Hash, None) => on_a_tree(tool, row, setup)?,
        };
        let (check, variants) = variants.split_first()?;
        Some(Candidate {
            name: tool.name.to_owned(),
            version: tool.version.clone(),
            ours: false,
            check: check.clone(),
            variants: variants.to_vec(),
        })
    });
    candidates.collect()
}

/// The check, then the variants.
fn on_one_file(tool: &Tool, row: &Row, file: &str) -> Option<Vec<Variant>> {
    let mut commands = tool.commands(&row.algorithms)?;
    for command in &mut commands {
        command.push(file.to_owned());
    }
    let launch = match commands.as_slice() {
        [command] => Launch(command.clone()),
        commands => Launch::shell(side_by_side(commands)),
    };
    let proof = Proof::Digests(tool.shape());
    Some(vec![Variant { launch, proof }; 2])
}

/// All commands at once; it ends badly if one of them does.
fn side_by_side(commands: &[Vec<String>]) -> String {
    let starts = commands.iter().enumerate();
    let starts = starts.map(|(i, command)| format!("{} & p{i}=$!", typed(command)));
    let waits = (0..commands.len()).map(|i| format!("wait $p{i}"));
    let (starts, waits): (Vec<_>, Vec<_>) = (starts.collect(), waits.collect());
    format!("{}; {}", starts.join("; "), waits.join(" && "))
}

/// The check, then the variants: batches of several sizes, and the tool's own way to walk.
fn on_a_tree(tool: &Tool, row: &Row, setup: &Setup) -> Option<Vec<Variant>> {
    let shape = tool.shape();
    let walked = tool.recursive(&row.algorithms).map(|words| Variant {
        launch: Launch(words),
        proof: Proof::Digests(shape),
    });
    if !tool.takes_files() {
        return walked.map(|variant| vec![variant; 2]);
    }
    let commands = tool.commands(&row.algorithms)?;
    let batches = batches(row.input, setup.options.quick);
    let variant = |script, proof| Variant {
        launch: Launch::shell(script),
        proof,
    };
    let check = by_xargs(&commands, &[], 1, batches[0]);
    let mut variants = vec![variant(check, Proof::Digests(shape))];
    for processes in processes(row, setup) {
        for batch in batches {
            for extra in tool.for_many_files() {
                let script = by_xargs(&commands, extra, processes, *batch);
                variants.push(variant(script, Proof::Length));
            }
        }
    }
    variants.extend(walked);
    Some(variants)
}

/// Files in each batch: enough that the start of a process does not count, and so few that no core is
/// left idle at the end.
fn batches(input: Input, quick: bool) -> &'static [usize] {
    match (input, quick) {
        (Input::File(_) | Input::Tree(_), true) => &[32],
        (Input::File(_) | Input::Tree(_), false) => &[32, 8, 128],
        (Input::Small(_) | Input::Mixed, true) => &[500],
        (Input::Small(_) | Input::Mixed, false) => &[500, 128, 2000],
    }
}

/// Processes at a time: one a core, and more where they wait for the disk.
fn processes(row: &Row, setup: &Setup) -> Vec<usize> {
    let cores = setup.machine.cores;
    if row.cold {
        vec![cores, 4 * cores]
    } else {
        vec![cores]
    }
}

fn by_xargs(commands: &[Vec<String>], extra: &[&str], processes: usize, batch: usize) -> String {
    let pass = |command: &Vec<String>| {
        let words = command
            .iter()
            .map(String::as_str)
            .chain(extra.iter().copied());
        let words: Vec<String> = words.map(quoted).collect();
        let words = words.join(" ");
        format!("find . -type f -print0 | xargs -0 -P{processes} -n{batch} {words}")
    };
    let passes: Vec<String> = commands.iter().map(pass).collect();
    passes.join(" && ")
}

/// The check, then the variants: the whole list at once, and one part of it for each core.
fn verifying(tool: &Tool, row: &Row, setup: &Setup, parts: &[PathBuf]) -> Option<Vec<Variant>> {
    let options: &[&str] = match tool.kind {
        Kind::Gnu | Kind::Uutils | Kind::B3sum => &["--check", "--quiet"],
        Kind::Rhash => &["--check", "--skip-ok"],
        Kind::Shasum => &["--check", "--status"],
        _ => return None,
    };
    let [command] = tool.commands(&row.algorithms)?.try_into().ok()?;
    let words = command
        .iter()
        .map(String::as_str)
        .chain(options.iter().copied());
    let words: Vec<String> = words.filter(|word| *word != "--bsd").map(quoted).collect();
    let parts: Vec<&str> = parts
        .iter()
        .skip(1)
        .filter_map(|part| part.to_str())
        .collect();
    let names = parts
        .iter()
        .copied()
        .map(quoted)
        .collect::<Vec<_>>()
        .join(" ");
    let script = format!(
        "printf '%s\\0' {names} | xargs -0 -P{} -n1 {}",
        setup.machine.cores,
        words.join(" ")
    );
    let launch = Launch::shell(script);
    let proof = Proof::Status;
    Some(vec![Variant { launch, proof }; 2])
}

/// The list that holds all the others.
fn whole_list(parts: &[PathBuf]) -> Option<String> {
    parts.first()?.to_str().map(str::to_owned)
}

fn typed(command: &[String]) -> String {
    let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}
