//! What goes into the engine and what comes out.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::error::FileError;
use crate::location::Location;

use super::Saved;
use super::known::{Identity, Known, Status};

/// One place in the order of a run.
///
/// The token comes back with the outcome. A job without a task has nothing to hash; it only keeps
/// its place, so that errors of a walk and skipped files are reported in order.
#[derive(Debug)]
pub struct Job<T> {
    /// Whatever the caller needs to make sense of the outcome.
    pub token: T,
    /// What to hash, if anything.
    pub task: Option<Task>,
}

/// Something to read to its end, and the algorithms to feed with it.
#[derive(Clone, Debug)]
pub struct Task {
    /// Where the bytes come from.
    pub source: Source,
    /// The algorithms; the digests come out in this order. Shared, since a million jobs may name
    /// the same few.
    pub algorithms: Arc<[Algorithm]>,
    /// What is known of the file from an earlier time: if that still holds, it is not read.
    pub known: Option<Box<Known>>,
    /// How far an earlier run had come with the file: if it is still the same, it is read from there.
    pub begun: Option<Box<Saved>>,
}

impl Task {
    /// A task to read everything, whatever is known.
    pub fn new(source: Source, algorithms: impl Into<Arc<[Algorithm]>>) -> Self {
        Self {
            source,
            algorithms: algorithms.into(),
            known: None,
            begun: None,
        }
    }
}

/// Where bytes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A regular file. Anything else under the path is refused without being read.
    File {
        /// What to open.
        path: Location,
        /// What to do if the path is a symbolic link by the time it is opened.
        links: Links,
    },
    /// A pipe, socket or device that the user named; read until it ends.
    Stream(PathBuf),
    /// Standard input.
    Stdin,
}

/// Whether a final symbolic link is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// The file that the link points to is read.
    Follow,
    /// A link is refused, since the walk saw a plain file there.
    Refuse,
}

impl Links {
    /// Whether a final link is followed.
    pub fn follows(self) -> bool {
        self == Self::Follow
    }

    /// What a walk that came through a link, or did not, means to be opened.
    pub fn follow_if(through_link: bool) -> Self {
        match through_link {
            true => Self::Follow,
            false => Self::Refuse,
        }
    }
}

/// What came of a task.
#[derive(Debug)]
pub enum Outcome {
    /// Read to its end without a change in between.
    Hashed(Hashed),
    /// Could not be opened or read to its end.
    Failed(FileError),
    /// Changed while it was being read, so that its digest belongs to no state of it.
    Unstable(Instability),
    /// Not read, because what is known of it still holds.
    Unread(Status),
}

/// A source that was read to its end.
#[derive(Debug)]
pub struct Hashed {
    /// One digest for each algorithm of the task, in the same order.
    pub digests: Vec<Digest>,
    /// Its bytes.
    pub size: u64,
    /// How many of them, from the first on, were read by an earlier run and not by this one: those
    /// before [`Task::begun`], or all. `None` if this run has read everything.
    pub read_before: Option<u64>,
    /// The modification time, where there is one.
    pub modified: Option<SystemTime>,
    /// What else the file system says of it, where it tells files apart.
    pub identity: Option<Identity>,
    /// Reads that failed once and succeeded when tried again.
    pub retried_reads: u32,
    /// The file system refused to bypass the page cache, so the file was read in the plain way.
    pub direct_refused: bool,
}

impl Hashed {
    /// Whether this run has read nothing of it.
    pub fn is_from_before(&self) -> bool {
        self.read_before == Some(self.size)
    }

    /// Bytes that this run has read.
    pub fn read_now(&self) -> u64 {
        self.size.saturating_sub(self.read_before.unwrap_or(0))
    }
}

/// How a file changed while it was being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Instability {
    /// Fewer or more bytes came than the size promised.
    #[error("read {read} of {size} bytes")]
    Length {
        /// Bytes that were read.
        read: u64,
        /// The size when the file was opened.
        size: u64,
    },
    /// The size is another than before.
    #[error("size went from {before} to {after} bytes while it was read")]
    Resized {
        /// Bytes when the file was opened.
        before: u64,
        /// Bytes when it had been read.
        after: u64,
    },
    /// The modification time is another than before.
    #[error("modified while it was read")]
    Modified,
    /// The name leads to another file than before.
    #[error("replaced by another file while it was read")]
    Replaced,
    /// The name is gone.
    #[error("removed while it was read")]
    Removed,
}

/// A job that is done, with its place in the order.
pub(super) struct Done<T> {
    pub(super) sequence: u64,
    pub(super) token: T,
    pub(super) outcome: Option<Outcome>,
}

/// What is on its way from the pool to the sink.
pub(super) enum Finished<T> {
    /// Together, since each message costs more than what is done for a small file.
    Jobs(Vec<Done<T>>),
    /// The states of a file that is still being read.
    Saved(Box<Saved>),
    /// The jobs are used up; so many were taken.
    Fed(u64),
    /// A worker panicked; what it was reading is lost.
    Died,
}
