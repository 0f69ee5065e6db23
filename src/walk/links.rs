//! What following links takes: where a link leads, and whether that is a loop.

use std::io;
use std::path::{Path, PathBuf};

use crate::quote::Quoted;

/// Directories on the way from the root of a walk to the one being listed, as far as they were
/// reached without a link in between.
#[derive(Debug)]
pub(super) struct Stretch {
    /// Canonical path of the first directory, or nothing if all directories above it count as
    /// well: a link to a directory above the root leads back into the root.
    pub(super) from: Option<PathBuf>,
    /// Canonical path of the last.
    pub(super) to: PathBuf,
}

impl Stretch {
    fn contains(&self, directory: &Path) -> bool {
        self.to.starts_with(directory)
            && self
                .from
                .as_ref()
                .is_none_or(|from| directory.starts_with(from))
    }
}

/// The directory that a link leads back to.
#[derive(Debug, thiserror::Error)]
#[error("link loop: leads back to {}", Quoted::path(.0))]
pub(super) struct LinkLoop(PathBuf);

/// Refuses a link whose target lies on the way to it.
pub(super) fn refuse_loop<'a>(
    target: &Path,
    mut way: impl Iterator<Item = &'a Stretch>,
) -> io::Result<()> {
    if way.any(|stretch| stretch.contains(target)) {
        Err(io::Error::other(LinkLoop(target.to_path_buf())))
    } else {
        Ok(())
    }
}
