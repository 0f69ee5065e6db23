//! What must be equal between two runs, and why there is no journal.

use std::path::PathBuf;

use crate::error::FileError;
use crate::quote::Quoted;
use crate::relpath::RelPath;

/// Something that must be equal for the results of one run to be of use to another, such as the
/// algorithms or a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// What it is, in words for the user.
    pub what: String,
    /// Its value; compared byte by byte.
    pub value: RelPath,
}

impl Term {
    /// Joins the two.
    pub fn new(what: &str, value: impl AsRef<[u8]>) -> Self {
        Self {
            what: what.to_owned(),
            value: RelPath::from_bytes(value.as_ref()),
        }
    }
}

/// Why there is no journal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// It cannot be opened, read or written.
    #[error("{}: {}", Quoted::path(.0.path()), .0)]
    File(#[from] FileError),
    /// Another run holds it.
    #[error(
        "{}: held by another run, which is still going on; wait for its end",
        Quoted::path(.0)
    )]
    Busy(PathBuf),
    /// Something else has its name. It is not touched.
    #[error(
        "{}: it is in the way, and no journal that this version can read; move or remove it",
        Quoted::path(.0)
    )]
    Foreign(PathBuf),
    /// It is of a run that was made on other terms. It is not touched.
    #[error(
        "{}: the run that was stopped had other {}: '{}', and now '{}'; repeat it as it was, or remove \
         the journal to begin anew",
        Quoted::path(.path), .theirs.what, .theirs.value, .ours
    )]
    OtherTerms {
        /// The journal.
        path: PathBuf,
        /// What the journal says.
        theirs: Term,
        /// What is asked for now.
        ours: RelPath,
    },
    /// What was verified is not what is there now, whatever its files look like. The journal is not
    /// touched.
    #[error(
        "'{0}' was mounted anew since the run that was stopped, so that nothing that was read before \
         proves anything; remove the journal to begin anew"
    )]
    MountedAnew(RelPath),
}
