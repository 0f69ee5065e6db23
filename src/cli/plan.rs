//! From arguments to what they mean: validated, and with the environment asked.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::thread;

use crate::algorithm::{Algorithm, UnknownAlgorithm};
use crate::counted::{agreeing, counted};
use crate::engine::{self, IoMode};
use crate::error::{Error, FileError, Operation};
use crate::lanes::{BackendError, Lanes};
use crate::manifest::{Format, Hints, WriterError};
use crate::ops::{
    BagError, ConvertError, JournalError, ManifestFile, MergeError, RenewalError, ScopeError,
    ScrubStateError,
};
use crate::quote::Quoted;
use crate::relpath::RelPath;
use crate::report::Verbosity;
use crate::walk::{self, Filter, FilterError, Input, LeaveOut};

use super::args::{Io, MachineArgs, ReportArgs, ScopeArgs, WalkArgs};
use super::console::is_closed_pipe;
use super::names::Naming;
use super::output::OutputError;
use super::signals::cancel_on_signals;
use super::signature::NotProved;

/// Why a command ends before its job is done.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("{0}; 'multisum hash -a list' shows all")]
    Algorithm(#[from] UnknownAlgorithm),
    #[error(transparent)]
    Filter(#[from] FilterError),
    #[error("MULTISUM_LANES: {0}")]
    Lanes(#[from] BackendError),
    #[error("{}: {reason}", Quoted::path(.path))]
    Output { path: PathBuf, reason: OutputError },
    #[error(
        "{}: the name says {said} and -a does not; add it to -a, or name a format with -f",
        Quoted::path(.path)
    )]
    OutputAlgorithm { path: PathBuf, said: Algorithm },
    #[error(
        "{0} would be written nowhere: add an -o for it, or -f bsd to write several algorithms \
         into one manifest"
    )]
    NoOutputFor(Algorithm),
    #[error(
        "{format} lines do not say which algorithm they are of, so {} cannot hold several; give \
         one -o for each, or -f bsd",
        Quoted::path(.path)
    )]
    SeveralInOne { format: Format, path: PathBuf },
    #[error("{}: named both to be hashed and to be written", Quoted::path(.0))]
    OutputIsInput(PathBuf),
    #[error(
        "{}: a manifest of a bag is known by its name, manifest-{word}.txt or \
         tagmanifest-{word}.txt",
        Quoted::path(.path)
    )]
    NoBagManifest { path: PathBuf, word: String },
    #[error("{}: named by more than one -o", Quoted::path(.0))]
    SameOutput(PathBuf),
    #[error(
        "{}: no name in a native manifest may lead out of its base; choose another --base",
        Quoted::path(.0)
    )]
    OutOfBase(PathBuf),
    #[error(
        "names in a native manifest are relative to its base, those in the other manifests as \
         typed; give a --base, or write them in runs of their own"
    )]
    TwoNamings,
    #[error("SOURCE_DATE_EPOCH is to be a number of seconds, not '{}'", Quoted::new(.0))]
    SourceDate(OsString),
    #[error("--map takes OLD=NEW, not '{}'", Quoted::new(.0))]
    Map(OsString),
    #[error("{}: {reason}", Quoted::path(.path))]
    Convert { path: PathBuf, reason: ConvertError },
    #[error("{}: {reason}", Quoted::path(.path))]
    Update { path: PathBuf, reason: RenewalError },
    #[error(transparent)]
    Merge(MergeError),
    #[error(
        "the parts are of different formats, and the name of the output does not tell which to write; \
         name one with -f"
    )]
    NoCommonFormat,
    #[error(
        "the parts lie in different folders, and the names in a native manifest have one base; put them \
         into one folder, or write another format with -f"
    )]
    NoCommonBase,
    #[error("{}: {reason}", Quoted::path(.path))]
    Scope { path: PathBuf, reason: ScopeError },
    #[error("standard input can be read only once")]
    StdinTwice,
    #[error("of manifests, -a names the one algorithm of digests whose lines do not say")]
    SeveralForLists,
    #[error(
        "{}: it is a folder; 'multisum update' takes the manifest in it, 'multisum hash --mhl' adds \
         to a history, and a bag is made anew with 'multisum hash --bag'",
        Quoted::path(.0)
    )]
    UpdateOfFolder(PathBuf),
    #[error("{}: an update is written to a file", Quoted::path(.0))]
    UpdateToStream(PathBuf),
    #[error(
        "{}: no file is there, and the manifest lists some; is the disk mounted? -C names another base; \
         nothing was written",
        Quoted::path(.0)
    )]
    NothingThere(PathBuf),
    #[error("{}: a folder is verified where it lies, and -C names another", Quoted::path(.0))]
    BaseOfFolder(PathBuf),
    #[error(transparent)]
    Bag(BagError),
    #[error("a bag is made once: --bag takes one -o")]
    SeveralBags,
    #[error("{}: {reason}", Quoted::path(.path))]
    ScrubState {
        path: PathBuf,
        reason: ScrubStateError,
    },
    #[error("{}: the state of another copy or manifest; each needs one of its own", Quoted::path(.0))]
    OtherScrubState(PathBuf),
    #[error("--scrub-state is of one manifest, and several are named")]
    SeveralScrubbed,
    #[error("{0}: closed")]
    Closed(&'static str),
    #[error(transparent)]
    Signature(#[from] NotProved),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(
        "{}: an earlier run was stopped after {}; --resume goes on from there, {anew} begins anew",
        Quoted::path(.journal),
        counted(*.files, "file")
    )]
    JournalLeft {
        journal: PathBuf,
        files: u64,
        anew: &'static str,
    },
    #[error("--resume: no -o is a file, so that there is nothing to go on from")]
    NothingToResume,
    #[error(
        "{cause}; --resume goes on from there: {} {} done, by {}",
        counted(*.files, "file"),
        agreeing(*.files, "is", "are"),
        Quoted::path(.journal)
    )]
    Stopped {
        cause: Box<Failure>,
        journal: PathBuf,
        files: u64,
    },
    #[error(
        "{cause}; what was verified until then is in {}",
        Quoted::path(.state)
    )]
    PortionKept { cause: Box<Failure>, state: PathBuf },
    #[error("{cause}; what was verified until then is lost: {lost}")]
    PortionLost {
        cause: Box<Failure>,
        lost: Box<Failure>,
    },
    #[error("MULTISUM_SAVE_EVERY is to be a number of bytes, not '{}'", Quoted::new(.0))]
    SaveEvery(OsString),
    #[error(transparent)]
    Writer(#[from] WriterError),
    #[error("{}: {}", Quoted::path(.0.path()), .0)]
    File(#[from] FileError),
    #[error(transparent)]
    Run(#[from] Error),
}

impl From<BagError> for Failure {
    fn from(error: BagError) -> Self {
        match error {
            BagError::Run(error) => Self::Run(error),
            other => Self::Bag(other),
        }
    }
}

impl From<MergeError> for Failure {
    fn from(error: MergeError) -> Self {
        match error {
            MergeError::Run(error) => Self::Run(error),
            other => Self::Merge(other),
        }
    }
}

impl Failure {
    /// An output that could not be opened or published.
    pub(super) fn output(path: &Path, reason: OutputError) -> Self {
        match reason {
            OutputError::File(error) => Self::File(error),
            reason => Self::Output {
                path: path.to_owned(),
                reason,
            },
        }
    }

    /// Why a run ended, without what can be done about it.
    pub(super) fn cause(&self) -> &Self {
        match self {
            Self::Stopped { cause, .. }
            | Self::PortionKept { cause, .. }
            | Self::PortionLost { cause, .. } => cause.cause(),
            other => other,
        }
    }

    /// Whether this only says that the reader of a pipe has gone.
    pub(super) fn is_closed_pipe(&self) -> bool {
        match self.cause() {
            Self::File(error) | Self::Run(Error::File(error)) => is_closed_pipe(error),
            Self::Run(Error::Output(error)) => error.kind() == io::ErrorKind::BrokenPipe,
            _ => false,
        }
    }
}

/// The algorithms that were named, each once, in the order given.
pub(super) fn algorithms(names: &[String]) -> Result<Vec<Algorithm>, UnknownAlgorithm> {
    let mut algorithms = Vec::new();
    for name in names {
        let algorithm = name.trim().parse()?;
        if !algorithms.contains(&algorithm) {
            algorithms.push(algorithm);
        }
    }
    Ok(algorithms)
}

/// How much is told.
pub(super) fn verbosity(args: &ReportArgs) -> Verbosity {
    match args {
        ReportArgs { status: true, .. } => Verbosity::Status,
        ReportArgs { quiet: true, .. } => Verbosity::Quiet,
        ReportArgs { verbose: true, .. } => Verbosity::Verbose,
        _ => Verbosity::Normal,
    }
}

/// Checks the folder of `--base`: a name that leads nowhere is a finding, a base that does is a
/// mistake.
pub(super) fn base(folder: Option<&PathBuf>) -> Result<(), FileError> {
    let Some(folder) = folder else { return Ok(()) };
    let failed = |error| FileError::new(Operation::Stat, folder, error);
    if folder.metadata().map_err(failed)?.is_dir() {
        Ok(())
    } else {
        Err(failed(io::ErrorKind::NotADirectory.into()))
    }
}

/// Leaves out the file that a standard stream is redirected to or from: it may lie in the tree.
pub(super) fn leave_out_stream(
    #[cfg(unix)] stream: &impl std::os::fd::AsFd,
    #[cfg(windows)] stream: &impl std::os::windows::io::AsHandle,
    name: &str,
    leave_out: &mut LeaveOut,
) -> Result<(), FileError> {
    #[cfg(unix)]
    let stream = stream.as_fd().try_clone_to_owned();
    #[cfg(windows)]
    let stream = stream.as_handle().try_clone_to_owned();
    let stat = |error| FileError::new(Operation::Stat, name, error);
    let stream = stream.map(File::from).map_err(stat)?;
    // Consoles on some systems have no identity, and are no files in a tree either.
    leave_out.add_file(&stream).or(Ok(()))
}

/// How the machine is used; `place` is a path on the disk that is read.
pub(super) fn engine(args: &MachineArgs, place: &Path) -> Result<engine::Options, Failure> {
    let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let mut options = engine::Options::with_threads(args.threads.unwrap_or(cores));
    if args.threads.is_none() && engine::is_rotating(place) {
        options.readers = NonZeroUsize::MIN;
    }
    options.io = match args.io {
        Io::Auto => IoMode::Auto,
        Io::Read => IoMode::Read,
        Io::Mmap => IoMode::Mmap,
        Io::Direct => IoMode::Direct,
    };
    options.kernels = kernels()?;
    options.cancel = cancel_on_signals().map_err(Error::Threads)?;
    Ok(options)
}

/// Every how many bytes the states of a long file are saved, unless tests ask for less.
pub(super) fn save_every() -> Result<NonZeroU64, Failure> {
    const TWO_GIBIBYTES: NonZeroU64 = NonZeroU64::MIN.saturating_add((2 << 30) - 1);
    let Some(said) = env::var_os("MULTISUM_SAVE_EVERY") else {
        return Ok(TWO_GIBIBYTES);
    };
    let bytes = said.to_str().and_then(|text| text.parse().ok());
    bytes.ok_or(Failure::SaveEvery(said))
}

/// The best kernels of this CPU, or those that the environment forces for tests and comparisons.
fn kernels() -> Result<Lanes, BackendError> {
    match env::var_os("MULTISUM_LANES") {
        None => Ok(Lanes::detect()),
        Some(name) => match name.to_str() {
            Some(name) => Lanes::forced(name),
            None => Err(BackendError::Unknown(Quoted::new(&name).to_string())),
        },
    }
}

/// What the walk descends and reports, but for the files to leave out.
pub(super) fn walk_options(args: &ScopeArgs) -> Result<walk::Options, Failure> {
    let mut filter = Filter::builder();
    for glob in &args.include {
        filter.include(glob)?;
    }
    for glob in &args.exclude {
        filter.exclude(glob)?;
    }
    for file in &args.exclude_from {
        filter.exclude_from(file)?;
    }
    Ok(walk::Options {
        follow_links: args.follow,
        one_file_system: args.one_file_system,
        max_depth: args.max_depth,
        filter: filter.build()?,
        ..walk::Options::default()
    })
}

/// The inputs of a walk: those of the command line, or those of `--files-from`.
pub(super) fn inputs(
    args: &WalkArgs,
    paths: Vec<PathBuf>,
    naming: Naming,
) -> Result<Box<dyn Iterator<Item = Input> + Send>, Failure> {
    let Some(list) = &args.files_from else {
        let paths = if paths.is_empty() {
            vec![PathBuf::from(".")]
        } else {
            paths
        };
        return Ok(Box::new(
            paths.into_iter().map(move |path| input(&path, &naming)),
        ));
    };
    let path = list.clone();
    let names = walk::files_from(BufReader::new(open_list(list)?), args.null);
    Ok(Box::new(names.map(move |name| match name {
        Ok(name) => listed_input(name, &naming),
        Err(error) => Input::Failed {
            name: RelPath::from_path(&path),
            error: FileError::new(Operation::Read, &path, error),
        },
    })))
}

fn input(path: &Path, naming: &Naming) -> Input {
    if path.as_os_str() == "-" {
        Input::Stdin
    } else {
        Input::Path(naming.root(path))
    }
}

fn listed_input(name: RelPath, naming: &Naming) -> Input {
    match name.to_path() {
        Some(path) => Input::Path(naming.root(&path)),
        None => {
            let impossible = io::Error::from(io::ErrorKind::InvalidFilename);
            Input::Failed {
                name,
                error: FileError::new(Operation::Stat, "", impossible),
            }
        }
    }
}

/// Opens a manifest that is read more than once; `-` is standard input. What is no regular file is
/// read into memory, and so is every one that may not stay open.
pub(super) fn manifest_file(
    path: &Path,
    hints: Hints,
    may_stay_open: bool,
) -> Result<ManifestFile, Failure> {
    let failed = |operation| move |error| FileError::new(operation, path, error);
    let name = RelPath::from_path(path);
    let mut bytes = Vec::new();
    if path.as_os_str() == "-" {
        let read = io::stdin().read_to_end(&mut bytes);
        read.map_err(failed(Operation::Read))?;
        return Ok(ManifestFile::of_bytes(name, bytes, hints));
    }
    let mut file = File::open(path).map_err(failed(Operation::Open))?;
    let metadata = file.metadata().map_err(failed(Operation::Stat))?;
    if metadata.is_file() && may_stay_open {
        return Ok(ManifestFile::of_file(name, file, hints));
    }
    let read = file.read_to_end(&mut bytes);
    read.map_err(failed(Operation::Read))?;
    Ok(ManifestFile::of_bytes(name, bytes, hints))
}

/// What is known of a manifest beside its bytes.
pub(super) fn hints(path: &Path, algorithm: Option<Algorithm>, format: Option<Format>) -> Hints {
    Hints {
        list_name: Some(path.to_owned()).filter(|path| path.as_os_str() != "-"),
        algorithm,
        format,
    }
}

/// Opens a list that the user names; `-` is standard input.
pub(super) fn open_list(path: &Path) -> Result<Box<dyn Read + Send>, Failure> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdin()));
    }
    let file = File::open(path).map_err(|error| FileError::new(Operation::Open, path, error))?;
    Ok(Box::new(file))
}
