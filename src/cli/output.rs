//! Where manifests go: standard output, or a file that appears whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{FileError, Operation};

/// Bytes that are collected before they are written.
const BUFFER_BYTES: usize = 64 * 1024;

/// A place for the bytes of one manifest.
#[derive(Debug)]
pub(super) struct Output {
    place: Place,
    /// For error messages.
    path: PathBuf,
    buffer: Vec<u8>,
}

#[derive(Debug)]
enum Place {
    Stdout,
    /// A pipe or device: written to as it is.
    Stream(File),
    /// A file beside the target, which takes its name when everything has been written.
    Beside(NamedTempFile),
}

/// Why an output cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum OutputError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("it exists; --force replaces it, 'multisum verify' checks against it")]
    Exists,
    #[error("it is a folder")]
    Folder,
}

impl Output {
    pub(super) fn stdout() -> Self {
        Self {
            place: Place::Stdout,
            path: "standard output".into(),
            buffer: Vec::new(),
        }
    }

    /// Prepares to write `path`. An existing file stays as it is until [`Output::publish`].
    pub(super) fn create(path: &Path, force: bool) -> Result<Self, OutputError> {
        let failed = |operation| move |error| FileError::new(operation, path, error);
        let place = match fs::metadata(path) {
            Ok(existing) if existing.is_dir() => return Err(OutputError::Folder),
            Ok(existing) if existing.is_file() => {
                if !force {
                    return Err(OutputError::Exists);
                }
                let target = path.canonicalize().map_err(failed(Operation::Stat))?;
                let beside = create_beside(&target).map_err(failed(Operation::Create))?;
                let permissions = beside.as_file().set_permissions(existing.permissions());
                permissions.map_err(failed(Operation::Create))?;
                return Ok(Self {
                    place: Place::Beside(beside),
                    path: target,
                    buffer: Vec::new(),
                });
            }
            Ok(_) => {
                let stream = OpenOptions::new().write(true).open(path);
                Place::Stream(stream.map_err(failed(Operation::Open))?)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Place::Beside(create_beside(path).map_err(failed(Operation::Create))?)
            }
            Err(error) => return Err(FileError::new(Operation::Stat, path, error).into()),
        };
        Ok(Self {
            place,
            path: path.to_owned(),
            buffer: Vec::new(),
        })
    }

    /// The open file, to keep it out of the tree that is hashed.
    pub(super) fn file(&self) -> Option<&File> {
        match &self.place {
            Place::Stdout => None,
            Place::Stream(file) => Some(file),
            Place::Beside(beside) => Some(beside.as_file()),
        }
    }

    /// Lets `write` append to the bytes that are collected, and writes them once they are many.
    pub(super) fn append(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> Result<(), FileError> {
        let appended = write(&mut self.buffer);
        appended.map_err(|error| FileError::new(Operation::Write, &self.path, error))?;
        if self.buffer.len() < BUFFER_BYTES {
            Ok(())
        } else {
            self.write()
        }
    }

    /// Writes what is left in the buffer; nothing appears under a file's name yet.
    fn write(&mut self) -> Result<(), FileError> {
        let written = match &mut self.place {
            Place::Stdout => write_stdout(&self.buffer),
            Place::Stream(file) => file.write_all(&self.buffer),
            Place::Beside(beside) => beside.as_file_mut().write_all(&self.buffer),
        };
        self.buffer.clear();
        written.map_err(|error| FileError::new(Operation::Write, &self.path, error))
    }

    /// Forces everything to the medium and gives the file its name.
    pub(super) fn publish(mut self) -> Result<(), FileError> {
        self.write()?;
        let Place::Beside(beside) = self.place else {
            return Ok(());
        };
        let path = self.path;
        let failed = |operation| {
            let path = path.clone();
            move |error| FileError::new(operation, path, error)
        };
        beside
            .as_file()
            .sync_all()
            .map_err(failed(Operation::Sync))?;
        beside
            .persist(&path)
            .map_err(|error| failed(Operation::Rename)(error.error))?;
        sync_folder(&path).map_err(failed(Operation::Sync))
    }
}

fn write_stdout(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// The folder that a file lies or will lie in.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn create_beside(target: &Path) -> io::Result<NamedTempFile> {
    let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".partial");
    // Opened here and not by the crate, for the permissions that the user's umask leaves to any new
    // file, and for an error that does not repeat the path.
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    builder.make_in(folder_of(target), |path| options.open(path))
}

/// Makes a rename survive a power cut. Other systems than Unix offer nothing like it.
fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder_of(path))?.sync_all()
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_appears_before_publishing_and_nothing_stays_without_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("SUMS");
        let mut output = Output::create(&path, false).unwrap();
        output
            .append(|buffer| buffer.write_all(&[b'x'; 2 * BUFFER_BYTES]))
            .unwrap();
        assert!(!path.exists());
        drop(output);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_existing_file_needs_force_and_keeps_its_permissions() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("SUMS");
        fs::write(&path, b"old").unwrap();
        assert!(matches!(
            Output::create(&path, false),
            Err(OutputError::Exists)
        ));
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        #[cfg(unix)]
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o640);
        fs::set_permissions(&path, permissions).unwrap();
        let permissions = fs::metadata(&path).unwrap().permissions();
        let mut output = Output::create(&path, true).unwrap();
        output.append(|buffer| buffer.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        output.publish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions(), permissions);
    }

    #[test]
    fn a_folder_is_no_output() {
        let directory = tempfile::tempdir().unwrap();
        let refused = Output::create(directory.path(), true);
        assert!(matches!(refused, Err(OutputError::Folder)));
    }
}
