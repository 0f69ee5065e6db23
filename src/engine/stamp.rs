//! The identity, size and time of a file, compared before and after reading.

use std::fs::Metadata;
use std::time::SystemTime;

use super::Instability;

/// What must not change while a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) size: u64,
    pub(super) modified: Option<SystemTime>,
    identity: Option<(u64, u64)>,
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            size: metadata.len(),
            // Some file systems have no modification time; then it is not compared.
            modified: metadata.modified().ok(),
            identity: identity(metadata),
        }
    }

    /// Says how `after` differs, the weightiest difference first.
    pub(super) fn change_to(&self, after: &Self) -> Option<Instability> {
        if self.identity != after.identity {
            Some(Instability::Replaced)
        } else if self.size != after.size {
            Some(Instability::Resized {
                before: self.size,
                after: after.size,
            })
        } else if self.modified != after.modified {
            Some(Instability::Modified)
        } else {
            None
        }
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_metadata: &Metadata) -> Option<(u64, u64)> {
    None
}
