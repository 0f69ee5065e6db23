//! A journal that this run holds and no other.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{FileError, Operation};

use super::{JournalError, file};

/// Where the journal of an output lies: `.NAME.journal` in the folder of `NAME`. `None` for a path
/// that ends in no name.
pub fn journal_beside(output: &Path) -> Option<PathBuf> {
    let mut name = OsString::from(".");
    name.push(output.file_name()?);
    name.push(".journal");
    Some(output.with_file_name(name))
}

/// A journal that is open and locked, before it is known what is in it.
#[derive(Debug)]
pub struct Lock {
    pub(super) file: File,
    pub(super) path: PathBuf,
}

impl Lock {
    /// Opens the journal at `path`, which is made if there is none, and keeps other runs from it until
    /// it is closed.
    ///
    /// # Errors
    ///
    /// [`JournalError::Busy`] if another run holds it, [`JournalError::Foreign`] if no file lies there
    /// but something else does, and what the system says.
    pub fn take(path: PathBuf) -> Result<Self, JournalError> {
        loop {
            match path.symlink_metadata() {
                Ok(found) if !found.is_file() => return Err(JournalError::Foreign(path)),
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(FileError::new(Operation::Stat, path, error).into());
                }
                _ => {}
            }
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            let opened = options.open(&path);
            let file = opened.map_err(|error| FileError::new(Operation::Create, &path, error))?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Err(JournalError::Busy(path)),
                // A file system without locks is no reason to do without the journal.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
            // A run that has just ended may have removed the file before it could be locked.
            let is_there = file::has_name(&file, &path)
                .map_err(|error| FileError::new(Operation::Stat, &path, error))?;
            if is_there {
                return Ok(Self { file, path });
            }
        }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open file, to keep it out of the tree that is read.
    pub fn file(&self) -> &File {
        &self.file
    }
}
