//! Where manifests go: standard output, or a file that appears whole or not at all.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

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
    Beside {
        file: NamedTempFile,
        replace: bool,
        /// When it was opened, by the clock of its file system.
        opened: Option<SystemTime>,
        /// The modification time that it must have in the end.
        date: Option<SystemTime>,
    },
}

/// Why an output cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum OutputError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(
        "it exists; --force replaces it, 'multisum verify' checks against it, 'multisum update' brings it \
         up to date"
    )]
    Exists,
    #[error("it is a folder; name a file in it")]
    Folder,
    #[error("it is a symbolic link that leads nowhere; name the file itself, or remove the link")]
    Dangling,
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
    ///
    /// A link to a file stays a link, and the file is replaced. A link that leads nowhere is refused:
    /// a file in its place would hide where the user meant the list to go.
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
                keep_owner(beside.as_file(), &existing);
                let permissions = beside.as_file().set_permissions(existing.permissions());
                permissions.map_err(failed(Operation::Create))?;
                return Ok(Self {
                    place: beside_the_target(beside, true),
                    path: target,
                    buffer: Vec::new(),
                });
            }
            Ok(_) => {
                let stream = OpenOptions::new().write(true).open(path);
                Place::Stream(stream.map_err(failed(Operation::Open))?)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if path.is_symlink() {
                    return Err(OutputError::Dangling);
                }
                let file = create_beside(path).map_err(failed(Operation::Create))?;
                beside_the_target(file, force)
            }
            Err(error) => return Err(FileError::new(Operation::Stat, path, error).into()),
        };
        Ok(Self {
            place,
            path: path.to_owned(),
            buffer: Vec::new(),
        })
    }

    /// The file that will be written, if it is one.
    pub(super) fn target(&self) -> Option<&Path> {
        matches!(self.place, Place::Beside { .. }).then_some(&*self.path)
    }

    /// The open file, to keep it out of the tree that is hashed.
    pub(super) fn file(&self) -> Option<&File> {
        match &self.place {
            Place::Stdout => None,
            Place::Stream(file) => Some(file),
            Place::Beside { file, .. } => Some(file.as_file()),
        }
    }

    /// Whether nothing of it is to be seen before it is published.
    pub(super) fn appears_whole(&self) -> bool {
        matches!(self.place, Place::Beside { .. })
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
            Place::Beside { file, .. } => file.as_file_mut().write_all(&self.buffer),
        };
        self.buffer.clear();
        written.map_err(|error| FileError::new(Operation::Write, &self.path, error))
    }

    /// What has been written so far, open for reading; `None` for what is no file yet to appear.
    pub(super) fn reopen(&mut self) -> Result<Option<File>, FileError> {
        self.write()?;
        let Place::Beside { file, .. } = &self.place else {
            return Ok(None);
        };
        let reopened = file.reopen();
        reopened
            .map(Some)
            .map_err(|error| FileError::new(Operation::Open, &self.path, error))
    }

    /// Lets the file have another modification time than that at which it was opened.
    pub(super) fn date(&mut self, time: SystemTime) {
        if let Place::Beside { date, .. } = &mut self.place {
            *date = Some(time);
        }
    }

    /// What errors call it.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Forces everything to the medium and gives the file its name.
    ///
    /// The file's modification time becomes the moment at which it was opened, by the clock of its file
    /// system: what was written to the listed files since then may not be in the list, and this is the
    /// only time that most formats have.
    pub(super) fn publish(mut self) -> Result<(), OutputError> {
        self.write()?;
        let Place::Beside {
            file,
            replace,
            opened,
            date,
        } = self.place
        else {
            return Ok(());
        };
        let path = self.path;
        let failed = |operation| {
            let path = path.clone();
            move |error| FileError::new(operation, path, error)
        };
        let date_is_optional = date.is_none();
        if let Some(date) = date.or(opened) {
            let dated = file.as_file().set_modified(date);
            // Some file systems keep the time that they have set.
            dated
                .or_else(|error| date_is_optional.then_some(()).ok_or(error))
                .map_err(failed(Operation::Write))?;
        }
        file.as_file().sync_all().map_err(failed(Operation::Sync))?;
        match give_name(file, &path, replace) {
            Err(error) if !replace && error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(OutputError::Exists);
            }
            named => named.map_err(failed(Operation::Rename))?,
        }
        Ok(sync_folder(&path).map_err(failed(Operation::Sync))?)
    }
}

fn beside_the_target(file: NamedTempFile, replace: bool) -> Place {
    let opened = file.as_file().metadata();
    Place::Beside {
        // A file system that does not tell keeps no time either.
        opened: opened.and_then(|metadata| metadata.modified()).ok(),
        date: None,
        file,
        replace,
    }
}

/// Unless it may replace, it fails with `AlreadyExists` if something has the name by now.
fn give_name(file: NamedTempFile, path: &Path, replace: bool) -> io::Result<()> {
    let file = if replace {
        file
    } else {
        match file.persist_noclobber(path) {
            Ok(_) => return Ok(()),
            Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(refused.error);
            }
            // Some file systems know no rename that spares the target and no hard links.
            Err(refused) if path.symlink_metadata().is_err() => refused.file,
            Err(_) => return Err(io::ErrorKind::AlreadyExists.into()),
        }
    };
    file.persist(path)
        .map(drop)
        .map_err(|refused| refused.error)
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

/// What temporary files are called: the prefix, so many random letters and digits, the suffix.
const RANDOM_CHARS: usize = 6;
const SUFFIX: &str = ".partial";

fn prefix_of(target: &Path) -> Option<OsString> {
    let mut prefix = OsString::from(".");
    prefix.push(target.file_name()?);
    prefix.push(".");
    Some(prefix)
}

/// Makes a temporary file, which is locked for as long as this run lives.
fn create_beside(target: &Path) -> io::Result<NamedTempFile> {
    remove_abandoned(target);
    loop {
        let file = make_beside(target)?;
        // Another run may have taken it for abandoned before it was locked, and be about to remove it.
        // Without locks, it is merely not removed when this run is killed.
        let is_taken = matches!(file.as_file().try_lock(), Err(TryLockError::WouldBlock));
        if !is_taken && file.path().exists() {
            return Ok(file);
        }
    }
}

/// Gives a new file the owner of the one that it replaces, where this user may do so.
#[cfg(unix)]
fn keep_owner(file: &File, replaced: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    // Whoever may not is the owner from now on, as with any file that is written anew.
    fchown(file, Some(replaced.uid()), Some(replaced.gid())).ok();
}

#[cfg(not(unix))]
fn keep_owner(_file: &File, _replaced: &fs::Metadata) {}

/// Temporary files of this and other runs beside a target.
pub(super) fn partials_beside(target: &Path) -> Vec<PathBuf> {
    let Some(prefix) = prefix_of(target) else {
        return Vec::new();
    };
    let is_partial = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        let name = name.strip_prefix(prefix.as_encoded_bytes());
        let random = name.and_then(|name| name.strip_suffix(SUFFIX.as_bytes()));
        random.is_some_and(|random| {
            random.len() == RANDOM_CHARS && random.iter().all(u8::is_ascii_alphanumeric)
        })
    };
    // In a folder that cannot be listed, nothing is removed and nothing is walked.
    let entries = fs::read_dir(folder_of(target)).into_iter().flatten();
    entries
        .flatten()
        .filter(|entry| is_partial(&entry.file_name()))
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.path())
        .collect()
}

/// Removes what killed runs have left: the system has given their locks back.
fn remove_abandoned(target: &Path) {
    for path in partials_beside(target) {
        let Ok(file) = OpenOptions::new().read(true).write(true).open(&path) else {
            continue;
        };
        if file.try_lock().is_ok() {
            // One that cannot be removed is left out of the walk like those of others.
            fs::remove_file(&path).ok();
        }
    }
}

fn make_beside(target: &Path) -> io::Result<NamedTempFile> {
    let prefix = prefix_of(target).ok_or(io::ErrorKind::InvalidInput)?;
    let mut builder = tempfile::Builder::new();
    builder
        .prefix(&prefix)
        .rand_bytes(RANDOM_CHARS)
        .suffix(SUFFIX);
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
    fn what_has_come_to_be_meanwhile_is_not_replaced_unasked() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("SUMS");
        for (force, expected) in [(false, b"theirs"), (true, b"mine..")] {
            let mut output = Output::create(&path, force).unwrap();
            output.append(|buffer| buffer.write_all(b"mine..")).unwrap();
            fs::write(&path, b"theirs").unwrap();
            let published = output.publish();
            assert_eq!(matches!(published, Err(OutputError::Exists)), !force);
            assert_eq!(fs::read(&path).unwrap(), expected);
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn the_file_is_as_old_as_the_beginning_of_the_run() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("SUMS");
        let mut output = Output::create(&path, false).unwrap();
        let opened = output.file().unwrap().metadata().unwrap().modified();
        std::thread::sleep(std::time::Duration::from_millis(30));
        output.append(|buffer| buffer.write_all(b"late")).unwrap();
        output.publish().unwrap();
        let modified = fs::metadata(&path).unwrap().modified();
        assert_eq!(modified.unwrap(), opened.unwrap());
        let mut output = Output::create(&path, true).unwrap();
        let date = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        output.date(date);
        output.publish().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), date);
    }

    #[test]
    fn a_folder_is_no_output() {
        let directory = tempfile::tempdir().unwrap();
        let refused = Output::create(directory.path(), true);
        assert!(matches!(refused, Err(OutputError::Folder)));
    }

    #[test]
    fn only_what_no_living_run_holds_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("SUMS");
        let mut first = Output::create(&path, true).unwrap();
        first.append(|buffer| buffer.write_all(b"first")).unwrap();
        let left = directory.path().join(".SUMS.Ab3xyZ.partial");
        let others = [
            ".SUMS.Ab3xyZ7.partial",
            ".SUM.Ab3xyZ.partial",
            ".SUMS.Ab3x-Z.partial",
        ];
        let others = others.map(|name| directory.path().join(name));
        for path in others.iter().chain([&left]) {
            fs::write(path, b"left").unwrap();
        }
        let second = Output::create(&path, true).unwrap();
        assert!(!left.exists());
        assert!(others.iter().all(|path| path.exists()));
        assert_eq!(partials_beside(&path).len(), 2);
        drop(second);
        first.publish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first");
    }
}
