//! What is found on disk.

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

use crate::error::FileError;
use crate::relpath::RelPath;

/// One thing that a walk met, in its place in the order.
#[derive(Debug)]
pub struct Found {
    /// The name to report and to write into manifests.
    pub name: RelPath,
    /// The path to open.
    pub path: PathBuf,
    /// What it is.
    pub kind: FoundKind,
}

/// What a walk met.
#[derive(Debug)]
pub enum FoundKind {
    /// A regular file that is no link.
    File,
    /// A regular file that a link leads to which is to be followed.
    LinkedFile,
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
