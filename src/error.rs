//! Errors as data: what was being done, to which path, and what the system said.
//!
//! A [`FileError`] concerns one path and never ends a run; it travels to the report in its place in
//! the order. An [`Error`] ends the run. Both become prose only by their `Display`.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::{Path, PathBuf};

use crate::quote::Quoted;

/// What was being done to a path when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// Opening a file for reading.
    Open,
    /// Reading the contents of a file.
    Read,
    /// Asking for size, times and kind.
    Stat,
    /// Listing a directory.
    List,
    /// Mapping a file into memory.
    Map,
    /// Creating a temporary file or an output.
    Create,
    /// Writing an output.
    Write,
    /// Forcing an output to the medium.
    Sync,
    /// Giving an output its final name.
    Rename,
    /// Removing a file that is needed no more.
    Remove,
}

impl Display for Operation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::Read => "read",
            Self::Stat => "stat",
            Self::List => "list",
            Self::Map => "map",
            Self::Create => "create",
            Self::Write => "write",
            Self::Sync => "sync",
            Self::Rename => "rename",
            Self::Remove => "remove",
        })
    }
}

/// One operation on one path that failed.
///
/// Its `Display` gives operation and cause without the path, since reports show the name in a place
/// of its own: `read at byte 4096: Input/output error (os error 5)`.
#[derive(Debug)]
pub struct FileError {
    path: PathBuf,
    operation: Operation,
    offset: Option<u64>,
    source: io::Error,
}

impl FileError {
    /// Joins an operation, its path and what the system answered.
    pub fn new(operation: Operation, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self {
            path: path.into(),
            operation,
            offset: None,
            source,
        }
    }

    /// Adds the number of bytes that had been read before the failure.
    #[must_use]
    pub fn at(mut self, offset: u64) -> Self {
        self.offset = Some(offset);
        self
    }

    /// The path as it was given to the system.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was being done.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// How many bytes had been read before the failure, if reading was what failed.
    pub fn offset(&self) -> Option<u64> {
        self.offset
    }

    /// The system's own error.
    pub fn io_error(&self) -> &io::Error {
        &self.source
    }

    /// Whether nothing has the name; see [`leads_nowhere`].
    pub fn is_missing(&self) -> bool {
        leads_nowhere(&self.source)
    }
}

/// Whether nothing has the name, also where a folder above it has become a file. One that may not be
/// looked at is there all the same.
pub fn leads_nowhere(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

impl Display for FileError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.operation)?;
        if let Some(offset) = self.offset {
            write!(f, " at byte {offset}")?;
        }
        write!(f, ": {}", self.source)
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// An error that ends a whole run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that the run itself depends on (a manifest, an output) failed.
    #[error("{}: {}", Quoted::new(.0.path()), .0)]
    File(#[from] FileError),
    /// A manifest is no list of digests at all.
    #[error("{}: {reason}", Quoted::path(.path))]
    NoManifest {
        /// The manifest.
        path: PathBuf,
        /// Why.
        reason: Box<dyn std::error::Error + Send + Sync>,
    },
    /// What a manifest records of the walk that it was made from cannot be used.
    #[error("{}: {reason}", Quoted::path(.manifest))]
    Scope {
        /// The manifest.
        manifest: PathBuf,
        /// Why.
        reason: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The receiver of the results refused one; nothing is hashed after that.
    #[error("the report could not be written: {0}")]
    Output(#[source] io::Error),
    /// The worker or walker threads could not be started.
    #[error("cannot start the threads: {0}")]
    Threads(#[source] io::Error),
    /// A thread died of a defect in this program; results after it are unknown.
    #[error("a thread died; this is a defect in multisum")]
    WorkerDied,
    /// The run was told to stop.
    #[error("interrupted")]
    Cancelled,
}
