//! The mounts that a verification reads through.
//!
//! A clone of a medium has the device number, inodes and times of the other, and may be mounted in its
//! place: that a file seems to be the one that was read proves nothing unless its mount is the same.

use std::io;
use std::path::Path;

use crate::error::{FileError, Operation};
use crate::location::{Location, boot_id, mount_of};
use crate::relpath::RelPath;

use super::{Journal, JournalError, record};

/// A folder, and what tells the mount through which it is reached from all others; empty where the
/// system does not tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) folder: RelPath,
    pub(super) id: RelPath,
}

impl Mount {
    fn of(folder: &Path, boot: &str) -> Self {
        let real = folder.canonicalize();
        let real = real.unwrap_or_else(|_| folder.to_owned());
        let id = match mount_of(&real.join(".")) {
            Ok(None) => String::new(),
            Ok(Some(number)) => format!("{boot} {number}"),
            // It may be mounted later, and must then be told from what is not there.
            Err(_) => format!("{boot} none"),
        };
        Self {
            folder: RelPath::from_path(&real),
            id: RelPath::from_bytes(id.into_bytes()),
        }
    }
}

/// How a file is reached.
#[derive(Debug)]
pub(super) struct Reached {
    place: Location,
    pub(super) mount: Option<u64>,
}

impl Reached {
    pub(super) fn now(place: &Location) -> Self {
        Self {
            place: place.clone(),
            mount: number(place),
        }
    }

    /// Whether the file is still reached through the same mount, so that it was read from there.
    pub(super) fn is_still(&self) -> bool {
        number(&self.place) == self.mount
    }
}

/// The number of the mount of a file; whoever reads one that cannot be looked at will say why.
pub(super) fn number(path: &Path) -> Option<u64> {
    mount_of(path).ok().flatten()
}

impl Journal {
    /// Whatever was recorded counts from now on only for files that are reached through the mount that
    /// they were read through, and these folders must be on the same mounts as in the earlier run. To be
    /// called before anything is read. Does nothing where the system tells no mount from another.
    ///
    /// # Errors
    ///
    /// [`JournalError::MountedAnew`], as the cause of a failure to read the journal. The journal is as it
    /// was.
    pub fn mind_mounts<'f>(
        &mut self,
        folders: impl IntoIterator<Item = &'f Path>,
    ) -> Result<(), FileError> {
        // Without it a number could be one of an earlier start of the machine.
        let Ok(boot) = boot_id() else {
            return Ok(());
        };
        self.minds_mounts = true;
        let folders = folders.into_iter();
        let ours: Vec<Mount> = folders.map(|folder| Mount::of(folder, &boot)).collect();
        let theirs = self.resumed.as_ref().map(|resumed| &*resumed.mounts);
        let theirs = theirs.unwrap_or_default();
        let known = |mount: &Mount| theirs.iter().find(|other| other.folder == mount.folder);
        let is_other = |mount: &&Mount| known(mount).is_some_and(|other| other.id != mount.id);
        if let Some(mount) = ours.iter().find(is_other) {
            let anew = JournalError::MountedAnew(mount.folder.clone());
            let error = io::Error::other(anew);
            return Err(FileError::new(Operation::Read, self.path(), error));
        }
        let new: Vec<Mount> = ours
            .into_iter()
            .filter(|ours| known(ours).is_none())
            .collect();
        if !new.is_empty() {
            self.put(&record::mounts(&new));
        }
        Ok(())
    }
}
