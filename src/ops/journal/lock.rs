//! A journal that this run holds and no other.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{FileError, Operation};

use super::record::BEGINNING;
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
    /// Whether the file is known to begin as a journal.
    pub(super) has_beginning: bool,
}

impl Lock {
    /// Opens the journal at `path`, which is made if there is none, and keeps other runs from it until
    /// it is closed. The path must be one that only journals have, since a blank file there is taken for
    /// one that was struck by a power cut; [`Lock::take_named`] is for others.
    ///
    /// # Errors
    ///
    /// [`JournalError::Busy`] if another run holds it, [`JournalError::Foreign`] if no file lies there
    /// but something else does, and what the system says.
    pub fn take(path: PathBuf) -> Result<Self, JournalError> {
        Ok(Self::held(path)?.0)
    }

    /// As [`Lock::take`], for a path that somebody has chosen: every file is refused that does not begin
    /// as a journal does, be it empty. A new one begins so at once, and is known again however soon the
    /// run is killed.
    ///
    /// # Errors
    ///
    /// Those of [`Lock::take`], and [`JournalError::Foreign`] also for a file that is no journal.
    pub fn take_named(path: PathBuf) -> Result<Self, JournalError> {
        let (mut lock, is_new) = Self::held(path)?;
        if is_new {
            lock.write_beginning()?;
        } else if !lock.read_beginning()? {
            return Err(JournalError::Foreign(lock.path));
        }
        lock.has_beginning = true;
        Ok(lock)
    }

    /// Also whether it was made.
    fn held(path: PathBuf) -> Result<(Self, bool), JournalError> {
        loop {
            let is_new = match path.symlink_metadata() {
                Ok(found) if !found.is_file() => return Err(JournalError::Foreign(path)),
                Ok(_) => false,
                Err(error) if error.kind() == io::ErrorKind::NotFound => true,
                Err(error) => return Err(FileError::new(Operation::Stat, path, error).into()),
            };
            let mut options = OpenOptions::new();
            options.read(true).write(true).create_new(is_new);
            let file = match options.open(&path) {
                Ok(file) => file,
                // Another run was faster.
                Err(error) if is_new && error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) if !is_new && error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(FileError::new(Operation::Create, path, error).into()),
            };
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Err(JournalError::Busy(path)),
                // A file system without locks is no reason to do without the journal.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
            // A run that has just ended may have removed the file before it could be locked.
            let is_there = file::has_name(&file, &path)
                .map_err(|error| FileError::new(Operation::Stat, &path, error))?;
            if is_there {
                let lock = Self {
                    file,
                    path,
                    has_beginning: false,
                };
                return Ok((lock, is_new));
            }
        }
    }

    fn write_beginning(&self) -> Result<(), FileError> {
        file::write_all_at(&self.file, BEGINNING, 0).map_err(|error| {
            // Half of it would be refused the next time.
            fs::remove_file(&self.path).ok();
            FileError::new(Operation::Write, &self.path, error)
        })
    }

    fn read_beginning(&self) -> Result<bool, FileError> {
        let mut beginning = [0; BEGINNING.len()];
        match file::read_exact_at(&self.file, &mut beginning, 0) {
            Ok(()) => Ok(beginning == BEGINNING),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(FileError::new(Operation::Read, &self.path, error)),
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
