//! Finds what is on disk: trees in sorted order, single files, streams and standard input.
//!
//! [`walk`] turns [`Input`]s into an iterator of [`Found`]. Nothing is opened but directories, and
//! on Unix a file in a tree costs no system call of its own.
//!
//! # Order
//!
//! Inputs come in the order given; inside a tree names are sorted by component, bytewise, so that
//! `a/b` comes before `a.txt`. This is the order of [`RelPath`], the same on every platform and
//! under every locale.
//!
//! # Once each
//!
//! Inputs may repeat or contain each other (`src src/main.rs .`). A file is then reported by the
//! first input that reaches it and by no other. Whether two inputs overlap is decided by their
//! spelling, not by following links: `src` and `/home/me/src` are two inputs with two sets of
//! names.
//!
//! # Errors
//!
//! What cannot be looked at is reported in its place as [`FoundKind::Failed`], once, and the walk
//! goes on.

mod count;
mod files_from;
mod filter;
mod leave_out;
mod links;
mod listing;
mod names;
mod overlap;
mod tree;
mod walker;

#[cfg(test)]
mod tests;

use std::fmt::{self, Display, Formatter};

use crate::error::FileError;
use crate::location::Location;
use crate::relpath::RelPath;

pub use count::{Totals, count};
pub use files_from::{FilesFrom, files_from};
pub use filter::{Filter, FilterBuilder, FilterError};
pub use leave_out::LeaveOut;
pub use names::{Input, Root};
pub use walker::{Options, Walk, walk};

/// One thing that a walk met, in its place in the order.
#[derive(Debug)]
pub struct Found {
    /// The name to report and to write into manifests.
    pub name: RelPath,
    /// The path to open; empty for standard input.
    pub path: Location,
    /// What it is.
    pub kind: FoundKind,
    /// Whether the last component of `path` is a symbolic link that the walk followed: a link that
    /// the user named, or any link where links are followed. Where this is `false`, a link under
    /// `path` has been put there since and must not be followed.
    pub through_link: bool,
}

/// What a walk met.
#[derive(Debug)]
pub enum FoundKind {
    /// A regular file met inside a tree, or through a link where links are followed.
    File,
    /// A pipe, socket or device that the user named: to be read as a stream.
    Stream,
    /// Standard input, asked for by `-`.
    Stdin,
    /// Something in a tree that is never opened.
    Special(Special),
    /// Something that could not be looked at, or a directory that could not be listed.
    Failed(FileError),
}

/// What is never opened when it is met in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Special {
    /// A symbolic link, where links are not followed.
    Link,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A block or character device.
    Device,
    /// None of these, and no regular file or directory either.
    Other,
}

impl Display for Special {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Link => "symbolic link",
            Self::Fifo => "named pipe",
            Self::Socket => "socket",
            Self::Device => "device",
            Self::Other => "not a regular file",
        })
    }
}
