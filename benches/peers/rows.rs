//! What is measured: one row for each kind of work.

use multisum::Algorithm;

use crate::inputs::Input;
use crate::options::Options;
use crate::tools::Kind;

/// Who is measured beside multisum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rivals {
    /// Every tool that can do it.
    Everybody,
    /// One tool.
    Only(Kind),
    /// One thread that opens, reads and closes file after file and hashes nothing.
    ReadingAlone,
    /// multisum itself, with files mapped into memory instead of read.
    Mapped,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Digests of everything.
    Hash,
    /// A list of digests is checked.
    Verify,
}

/// How the result is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Bytes a second.
    Rate,
    /// Seconds.
    Seconds,
    /// Thousandths of seconds.
    Milliseconds,
}

/// One line of the table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// By which `--only` knows it.
    pub(crate) name: &'static str,
    pub(crate) input: Input,
    pub(crate) algorithms: Vec<Algorithm>,
    pub(crate) rivals: Rivals,
    pub(crate) task: Task,
    pub(crate) unit: Unit,
    /// The page cache is emptied before each run.
    pub(crate) cold: bool,
    /// All processes are kept on one core.
    pub(crate) one_core: bool,
    /// Measured at least so often.
    pub(crate) least_runs: usize,
    /// Also part of a quick run.
    pub(crate) quick: bool,
}

const MD5: &[Algorithm] = &[Algorithm::Md5];
const SHA1: &[Algorithm] = &[Algorithm::Sha1];
const SHA256: &[Algorithm] = &[Algorithm::Sha256];
const SHA512: &[Algorithm] = &[Algorithm::Sha512];
const BLAKE2B: &[Algorithm] = &[Algorithm::BLAKE2B];
const BLAKE3: &[Algorithm] = &[Algorithm::Blake3];
const XXH128: &[Algorithm] = &[Algorithm::Xxh128];
const THREE: &[Algorithm] = &[Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha256];
const FOUR: &[Algorithm] = &[
    Algorithm::Md5,
    Algorithm::Sha1,
    Algorithm::Sha256,
    Algorithm::Sha512,
];

impl Row {
    fn new(name: &'static str, input: Input, algorithms: &[Algorithm]) -> Self {
        Self {
            name,
            input,
            algorithms: algorithms.to_vec(),
            rivals: Rivals::Everybody,
            task: Task::Hash,
            unit: match input {
                Input::Small(_) | Input::Mixed => Unit::Seconds,
                Input::File(0) => Unit::Milliseconds,
                Input::File(_) | Input::Tree(_) => Unit::Rate,
            },
            cold: false,
            one_core: false,
            // What takes little time is mostly start and chance.
            least_runs: match input {
                Input::File(bytes) if bytes <= 1 << 20 => 21,
                _ => 3,
            },
            quick: false,
        }
    }

    fn quick(self) -> Self {
        Self {
            quick: true,
            ..self
        }
    }

    fn against(self, rivals: Rivals) -> Self {
        Self { rivals, ..self }
    }

    fn cold(self) -> Self {
        Self { cold: true, ..self }
    }

    fn one_core(self) -> Self {
        Self {
            one_core: true,
            ..self
        }
    }

    fn verify(self) -> Self {
        Self {
            task: Task::Verify,
            ..self
        }
    }

    /// The work in words.
    pub(crate) fn title(&self) -> String {
        let names: Vec<String> = self.algorithms.iter().map(ToString::to_string).collect();
        let mut title = format!("{}, {}", self.input.title(), names.join("+"));
        if self.task == Task::Verify {
            title.push_str(", verify");
        }
        if self.one_core {
            title.push_str(", one core");
        }
        if self.cold {
            title.push_str(", cold cache");
        }
        title.push_str(match self.rivals {
            Rivals::Everybody => "",
            Rivals::Only(_) => ", against the same in one tool",
            Rivals::ReadingAlone => ", against reading alone",
            Rivals::Mapped => ", read against mapped",
        });
        title
    }
}

/// Every row, in the order of the table.
pub(crate) fn all(options: &Options) -> Vec<Row> {
    let quick = options.quick;
    let rows = [trees(quick), small_files(quick), single_files(quick)];
    let mut rows = rows.concat();
    rows.push(Row::new("start", Input::File(0), SHA256).quick());
    rows.extend(sizes());
    rows.extend(mapped(quick));
    // A row that is asked for by name is run, if with the smaller input.
    rows.retain(|row| row.quick || !quick || !options.only.is_empty());
    rows
}

/// The inputs for most rows: the tree, the small files and the large file.
fn inputs(quick: bool) -> (Input, Input, Input) {
    if quick {
        (
            Input::Tree(256),
            Input::Small(10_000),
            Input::File(256 << 20),
        )
    } else {
        (
            Input::Tree(2000),
            Input::Small(100_000),
            Input::File(1 << 30),
        )
    }
}

fn trees(quick: bool) -> Vec<Row> {
    let (tree, _, _) = inputs(quick);
    let hashdeep = Rivals::Only(Kind::Hashdeep);
    vec![
        Row::new("tree-md5", tree, MD5).quick(),
        Row::new("tree-sha1", tree, SHA1),
        Row::new("tree-sha256", tree, SHA256).quick(),
        Row::new("tree-sha512", tree, SHA512),
        Row::new("tree-four", tree, FOUR).quick(),
        Row::new("tree-three-hashdeep", tree, THREE).against(hashdeep),
        Row::new("tree-blake2b", tree, BLAKE2B),
        Row::new("tree-blake3", tree, BLAKE3),
        Row::new("tree-xxh128", tree, XXH128),
        Row::new("tree-sha256-verify", tree, SHA256).verify(),
        Row::new("tree-sha256-cold", tree, SHA256).cold(),
    ]
}

fn small_files(quick: bool) -> Vec<Row> {
    let (_, small, _) = inputs(quick);
    let hashdeep = Rivals::Only(Kind::Hashdeep);
    vec![
        Row::new("small-md5", small, MD5).quick(),
        Row::new("small-sha1", small, SHA1),
        Row::new("small-sha256", small, SHA256),
        Row::new("small-sha512", small, SHA512),
        Row::new("small-four", small, FOUR),
        Row::new("small-three-hashdeep", small, THREE).against(hashdeep),
        Row::new("small-sha256-verify", small, SHA256).verify(),
        Row::new("small-sha256-cold", small, SHA256).cold(),
        Row::new("small-sha256-cold-one-thread", small, SHA256)
            .cold()
            .against(Rivals::ReadingAlone),
        Row::new("mixed-sha256", Input::Mixed, SHA256),
        Row::new("mixed-four", Input::Mixed, FOUR),
    ]
}

fn single_files(quick: bool) -> Vec<Row> {
    let (_, _, file) = inputs(quick);
    vec![
        Row::new("file-md5", file, MD5),
        Row::new("file-sha1", file, SHA1),
        Row::new("file-sha256", file, SHA256).quick(),
        Row::new("file-sha512", file, SHA512),
        Row::new("file-blake2b", file, BLAKE2B),
        Row::new("file-blake3", file, BLAKE3),
        Row::new("file-xxh128", file, XXH128),
        Row::new("file-three-one-core", file, THREE).one_core(),
        Row::new("file-four", file, FOUR),
    ]
}

fn sizes() -> Vec<Row> {
    vec![
        Row::new("1m-md5", Input::File(1 << 20), MD5),
        Row::new("1m-sha256", Input::File(1 << 20), SHA256),
        Row::new("64m-md5", Input::File(64 << 20), MD5),
        Row::new("64m-sha256", Input::File(64 << 20), SHA256),
        Row::new("256m-md5", Input::File(256 << 20), MD5),
        Row::new("256m-sha256", Input::File(256 << 20), SHA256),
    ]
}

fn mapped(quick: bool) -> Vec<Row> {
    let (tree, small, file) = inputs(quick);
    [
        Row::new("io-file-sha256", file, SHA256),
        Row::new("io-file-blake3", file, BLAKE3),
        Row::new("io-tree-md5", tree, MD5),
        Row::new("io-tree-sha256", tree, SHA256),
        Row::new("io-small-sha256", small, SHA256),
    ]
    .map(|row| row.against(Rivals::Mapped))
    .to_vec()
}
