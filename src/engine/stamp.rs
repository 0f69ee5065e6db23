//! The identity, size and times of a file, compared before and after reading.

use std::fs::Metadata;
use std::time::SystemTime;

use super::{Identity, Instability, Status};
use crate::timestamp::Timestamp;

/// What must not change while a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) size: u64,
    pub(super) modified: Option<SystemTime>,
    inode: Option<Inode>,
}

/// What Unix tells beyond size and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Inode {
    device: u64,
    number: u64,
    links: u64,
    /// Status change time, in seconds and nanoseconds: moves with every change of the file, its
    /// names included.
    changed: (i64, i64),
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            size: metadata.len(),
            // Some file systems have no modification time; then it is not compared.
            modified: metadata.modified().ok(),
            inode: inode(metadata),
        }
    }

    pub(super) fn status(&self) -> Status {
        Status {
            size: self.size,
            modified: self.modified.and_then(Timestamp::from_system),
            identity: self.identity(),
        }
    }

    /// Which file it is, and when its status last changed.
    pub(super) fn identity(&self) -> Option<Identity> {
        let inode = self.inode?;
        let (seconds, nanoseconds) = inode.changed;
        Some(Identity {
            device: inode.device,
            inode: inode.number,
            changed: Timestamp::new(seconds, u32::try_from(nanoseconds).ok()?)?,
        })
    }

    /// Whether the open file alone proves that nothing happened: no write, and no rename or removal
    /// of its name either, since on the usual file systems of Unix those move the status change time
    /// or lower the number of links. On one that does neither, a file that loses its name while it is
    /// read is still read as it was when it was opened.
    pub(super) fn proves_unchanged(&self, after: &Self) -> bool {
        self.inode.is_some() && self == after
    }

    pub(super) fn is_same_file(&self, after: &Self) -> bool {
        let identity = |stamp: &Self| stamp.inode.map(|inode| (inode.device, inode.number));
        identity(self) == identity(after)
    }

    /// Says how `after`, taken by the name, differs, the weightiest difference first.
    ///
    /// A status change alone counts as a modification, since whoever writes can put the modification
    /// time back, but not that one. It may have been a change of owner, mode or links; then a second
    /// run tells.
    pub(super) fn change_to(&self, after: &Self) -> Option<Instability> {
        let changed = |stamp: &Self| stamp.inode.map(|inode| inode.changed);
        if !self.is_same_file(after) {
            Some(Instability::Replaced)
        } else if self.size != after.size {
            Some(Instability::Resized {
                before: self.size,
                after: after.size,
            })
        } else if self.modified != after.modified || changed(self) != changed(after) {
            Some(Instability::Modified)
        } else {
            None
        }
    }
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> Option<Inode> {
    use std::os::unix::fs::MetadataExt;
    Some(Inode {
        device: metadata.dev(),
        number: metadata.ino(),
        links: metadata.nlink(),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    })
}

#[cfg(not(unix))]
fn inode(_metadata: &Metadata) -> Option<Inode> {
    None
}
