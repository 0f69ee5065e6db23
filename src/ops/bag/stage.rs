//! A bag in place, by renames.
//!
//! ```text
//! 1  FOLDER/.multisum-bag/lock          made, and locked until the end
//!    FOLDER/.multisum-bag/payload/      made, empty
//! 2  FOLDER/.multisum-bag/tags/…        written and forced to the medium
//! 3  FOLDER/x -> payload/x              for each name directly in FOLDER
//! 4  payload -> FOLDER/data
//! 5  tags/x -> FOLDER/x                 bagit.txt last
//! 6  the empty .multisum-bag is removed
//! ```
//!
//! Every step is one rename, so that a file has one name at any time. As long as `payload` is there,
//! everything can be put back; when it is gone and `tags` is there, step 4 is behind and the rest can
//! be done without looking at a file.
//!
//! What is found under the name of the stage may be anything, though: it is looked through first, and
//! if one thing in it is not as a stopped run leaves it, nothing is touched.

use std::fs::{self, File, FileType, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{FileError, Operation};
use crate::manifest::bagit::ManifestName;

use super::tags::{DECLARATION, INFO, TagFile};
use super::{BagError, create_folder, sync_folder, write_new};

pub(super) const STAGE: &str = ".multisum-bag";
const LOCK: &str = "lock";
const PAYLOAD: &str = "payload";
const TAGS: &str = "tags";

/// What an earlier run had left, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recovered {
    /// Nothing was left.
    Nothing,
    /// Everything is where it was before.
    Undone,
    /// The bag is complete now.
    Completed,
}

/// How far the run came that has left a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// Not to the end of step 4, or it was on the way back.
    Before,
    /// The payload is in its place.
    PayloadMoved,
}

/// The stage of a folder, which no other run may touch meanwhile.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    folder: &'a Path,
    own: PathBuf,
    lock: PathBuf,
    payload: PathBuf,
    tags: PathBuf,
    /// Locked until it is closed; `None` in a stage without anything in it.
    held: Option<File>,
}

/// Refuses a folder in which a run was stopped or is at work.
pub(super) fn refuse_unfinished(folder: &Path) -> Result<(), BagError> {
    match kind(&folder.join(STAGE))? {
        None => Ok(()),
        Some(_) => Err(BagError::Unfinished(folder.to_owned())),
    }
}

/// Goes back or on where an earlier run was stopped.
pub(super) fn recover(folder: &Path) -> Result<Recovered, BagError> {
    let mut stage = Stage::of(folder);
    if kind(&stage.own)?.is_none() {
        return Ok(Recovered::Nothing);
    }
    stage.take_over()?;
    match stage.look_through()? {
        Progress::Before => {
            stage.undo()?;
            Ok(Recovered::Undone)
        }
        Progress::PayloadMoved => {
            stage.publish()?;
            Ok(Recovered::Completed)
        }
    }
}

impl<'a> Stage<'a> {
    fn of(folder: &'a Path) -> Self {
        let own = folder.join(STAGE);
        Self {
            folder,
            lock: own.join(LOCK),
            payload: own.join(PAYLOAD),
            tags: own.join(TAGS),
            own,
            held: None,
        }
    }

    /// Makes an empty stage, which keeps other runs out.
    pub(super) fn begin(folder: &'a Path) -> Result<Self, BagError> {
        let mut stage = Self::of(folder);
        if let Err(error) = fs::create_dir(&stage.own) {
            return Err(match error.kind() {
                io::ErrorKind::AlreadyExists => BagError::Busy(folder.to_owned()),
                _ => FileError::new(Operation::Create, &stage.own, error).into(),
            });
        }
        let made = File::create_new(&stage.lock)
            .map_err(|error| FileError::new(Operation::Create, &stage.lock, error).into())
            .and_then(|lock| stage.hold(lock));
        match made {
            // Somebody else has taken it over, and removes it.
            Err(BagError::Busy(folder)) => return Err(BagError::Busy(folder)),
            Err(error) => {
                // What failed first is told; what cannot be removed is empty.
                fs::remove_file(&stage.lock).ok();
                fs::remove_dir(&stage.own).ok();
                return Err(error);
            }
            Ok(()) => {}
        }
        Ok(stage)
    }

    /// Makes a bag of everything in the folder. After a failure all is as it was, or the error says
    /// where it is.
    pub(super) fn make(self, tags: &[TagFile]) -> Result<(), BagError> {
        if let Err(error) = self.fill(tags) {
            return match (self.undo(), error) {
                (Ok(()), error) => Err(error),
                (Err(_), BagError::File(error)) => Err(BagError::Stuck {
                    error,
                    stage: self.own,
                }),
                (Err(_), error) => Err(error),
            };
        }
        self.publish()
    }

    /// Removes what [`Stage::begin`] made.
    pub(super) fn abandon(self) -> Result<(), BagError> {
        self.undo()
    }

    /// Locks a stage that is there already.
    fn take_over(&mut self) -> Result<(), BagError> {
        self.expect(&self.own, FileType::is_dir)?;
        if names_in(&self.own)?.is_empty() {
            return Ok(());
        }
        self.expect(&self.lock, FileType::is_file)?;
        let lock = File::options().read(true).write(true).open(&self.lock);
        let failed = |error| FileError::new(Operation::Open, &self.lock, error);
        let lock = lock.map_err(failed)?;
        self.hold(lock)
    }

    fn hold(&mut self, lock: File) -> Result<(), BagError> {
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(BagError::Busy(self.folder.to_owned())),
            Err(TryLockError::Error(error)) => {
                return Err(FileError::new(Operation::Open, &self.lock, error).into());
            }
        }
        // The run that held it may have removed it between the opening and the locking.
        if !is_still_at(&lock, &self.lock) {
            return Err(BagError::Busy(self.folder.to_owned()));
        }
        self.held = Some(lock);
        Ok(())
    }

    /// Finds out how far a stopped run came; refuses whatever cannot come from one.
    fn look_through(&self) -> Result<Progress, BagError> {
        for name in names_in(&self.own)? {
            let is_known = [LOCK, PAYLOAD, TAGS]
                .iter()
                .any(|known| name == Path::new(known));
            if !is_known {
                return Err(self.foreign(self.own.join(name)));
            }
        }
        let has_payload = self.is_folder_if_there(&self.payload)?;
        if !self.is_folder_if_there(&self.tags)? {
            return Ok(Progress::Before);
        }
        for name in names_in(&self.tags)? {
            let path = self.tags.join(&name);
            if !is_tag_name(&name) {
                return Err(self.foreign(path));
            }
            self.expect(&path, FileType::is_file)?;
        }
        if has_payload {
            return Ok(Progress::Before);
        }
        self.expect(&self.folder.join("data"), FileType::is_dir)?;
        if kind(&self.tags.join(DECLARATION))?.is_none() {
            self.expect(&self.folder.join(DECLARATION), FileType::is_file)?;
        }
        Ok(Progress::PayloadMoved)
    }

    fn is_folder_if_there(&self, path: &Path) -> Result<bool, BagError> {
        match kind(path)? {
            None => Ok(false),
            Some(kind) if kind.is_dir() => Ok(true),
            Some(_) => Err(self.foreign(path.to_owned())),
        }
    }

    fn expect(&self, path: &Path, is: fn(&FileType) -> bool) -> Result<(), BagError> {
        match kind(path)? {
            Some(kind) if is(&kind) => Ok(()),
            _ => Err(self.foreign(path.to_owned())),
        }
    }

    fn foreign(&self, path: PathBuf) -> BagError {
        BagError::Foreign {
            path,
            stage: self.own.clone(),
        }
    }

    /// Steps 1 to 4.
    fn fill(&self, tags: &[TagFile]) -> Result<(), BagError> {
        create_folder(&self.payload)?;
        create_folder(&self.tags)?;
        for (name, bytes) in tags {
            write_new(&self.tags.join(name), bytes)?;
        }
        sync_folder(&self.tags)?;
        sync_folder(&self.own)?;
        sync_folder(self.folder)?;
        for name in names_in(self.folder)? {
            if name != Path::new(STAGE) {
                self.rename(&self.folder.join(&name), &self.payload.join(&name))?;
            }
        }
        sync_folder(&self.payload)?;
        self.rename(&self.payload, &self.folder.join("data"))?;
        Ok(())
    }

    /// Steps 5 and 6.
    fn publish(&self) -> Result<(), BagError> {
        let mut names = names_in(&self.tags)?;
        names.sort_by_key(|name| name == Path::new(DECLARATION));
        for name in names {
            self.rename(&self.tags.join(&name), &self.folder.join(&name))?;
        }
        remove_folder(&self.tags)?;
        self.remove_own()
    }

    /// Back to the beginning. Without `tags` first, since `tags` without `payload` means the opposite.
    fn undo(&self) -> Result<(), BagError> {
        if kind(&self.tags)?.is_some() {
            for name in names_in(&self.tags)? {
                remove_file(&self.tags.join(name))?;
            }
            remove_folder(&self.tags)?;
        }
        if kind(&self.payload)?.is_some() {
            for name in names_in(&self.payload)? {
                self.rename(&self.payload.join(&name), &self.folder.join(&name))?;
            }
            sync_folder(self.folder)?;
            remove_folder(&self.payload)?;
        }
        self.remove_own()
    }

    fn remove_own(&self) -> Result<(), BagError> {
        if self.held.is_some() {
            remove_file(&self.lock)?;
        }
        remove_folder(&self.own)?;
        Ok(sync_folder(self.folder)?)
    }

    /// Never replaces anything: whatever is found there by now was put there by somebody else.
    fn rename(&self, from: &Path, to: &Path) -> Result<(), BagError> {
        if kind(to)?.is_some() {
            return Err(BagError::InTheWay {
                path: to.to_owned(),
                stage: self.own.clone(),
            });
        }
        fs::rename(from, to).map_err(|error| FileError::new(Operation::Rename, from, error).into())
    }
}

/// Whether a run may have written a tag file of this name.
fn is_tag_name(name: &Path) -> bool {
    name == Path::new(DECLARATION)
        || name == Path::new(INFO)
        || ManifestName::of(name.as_os_str().as_encoded_bytes()).is_some()
}

/// Whether a path still leads to the file that was opened by it.
#[cfg(unix)]
fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(opened), Ok(now)) => (opened.dev(), opened.ino()) == (now.dev(), now.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_still_at(_file: &File, path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The names directly in a folder, sorted.
fn names_in(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let failed = |error| FileError::new(Operation::List, folder, error);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let names = entries.map(|entry| entry.map(|entry| PathBuf::from(entry.file_name())));
    let mut names: Vec<PathBuf> = names.collect::<io::Result<_>>().map_err(failed)?;
    names.sort();
    Ok(names)
}

fn remove_file(path: &Path) -> Result<(), FileError> {
    fs::remove_file(path).map_err(|error| FileError::new(Operation::Write, path, error))
}

fn remove_folder(path: &Path) -> Result<(), FileError> {
    fs::remove_dir(path).map_err(|error| FileError::new(Operation::Write, path, error))
}

/// What stands at a path itself, not where a link leads; `None` if nothing does.
fn kind(path: &Path) -> Result<Option<FileType>, FileError> {
    match path.symlink_metadata() {
        Ok(metadata) => Ok(Some(metadata.file_type())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::new(Operation::Stat, path, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn tags() -> Vec<TagFile> {
        let names = ["manifest-md5.txt", DECLARATION];
        names.map(|name| (name.to_owned(), name.into())).into()
    }

    fn folder() -> tempfile::TempDir {
        let holder = tempfile::tempdir().unwrap();
        for name in ["a", "data", ".hidden", "manifest-md5.txt", "d/e"] {
            let path = holder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
        holder
    }

    fn contents(folder: &Path, below: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = below.join(entry.file_name());
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                contents(&entry.path(), &name, found);
            } else if kind.is_symlink() {
                let target = fs::read_link(entry.path()).unwrap();
                found.insert(name, target.into_os_string().into_encoded_bytes());
            } else {
                found.insert(name, fs::read(entry.path()).unwrap());
            }
        }
    }

    fn all(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        contents(folder, Path::new(""), &mut found);
        found
    }

    #[test]
    fn a_folder_named_data_and_a_file_named_as_a_manifest_are_payload_like_others() {
        let holder = folder();
        let before = all(holder.path());
        let stage = Stage::begin(holder.path()).unwrap();
        stage.make(&tags()).unwrap();
        let after = all(holder.path());
        for (name, bytes) in &before {
            assert_eq!(
                after.get(&Path::new("data").join(name)),
                Some(bytes),
                "{name:?}"
            );
        }
        assert_eq!(after.len(), before.len() + 2);
        assert!(!holder.path().join(STAGE).exists());
        assert_eq!(recover(holder.path()).unwrap(), Recovered::Nothing);
    }

    #[test]
    fn whatever_was_moved_is_put_back_as_long_as_it_can_be() {
        for moved in 0..=5 {
            let holder = folder();
            let before = all(holder.path());
            let stage = Stage::begin(holder.path()).unwrap();
            create_folder(&stage.payload).unwrap();
            create_folder(&stage.tags).unwrap();
            write_new(&stage.tags.join(DECLARATION), b"x").unwrap();
            let names = names_in(holder.path()).unwrap();
            for name in names.iter().filter(|n| **n != Path::new(STAGE)).take(moved) {
                stage
                    .rename(&holder.path().join(name), &stage.payload.join(name))
                    .unwrap();
            }
            drop(stage);
            assert_eq!(recover(holder.path()).unwrap(), Recovered::Undone);
            assert_eq!(all(holder.path()), before);
        }
    }

    #[test]
    fn what_is_in_the_way_is_never_replaced() {
        let holder = folder();
        let mut stage = Stage::begin(holder.path()).unwrap();
        create_folder(&stage.payload).unwrap();
        stage
            .rename(&holder.path().join("a"), &stage.payload.join("a"))
            .unwrap();
        fs::write(holder.path().join("a"), b"another").unwrap();
        stage.held = None;
        assert!(matches!(
            recover(holder.path()),
            Err(BagError::InTheWay { .. })
        ));
        assert_eq!(fs::read(holder.path().join("a")).unwrap(), b"another");
        assert_eq!(fs::read(stage.payload.join("a")).unwrap(), b"a");
    }

    /// Whatever stands there is refused by name, and is there afterwards.
    #[track_caller]
    fn is_refused(folder: &Path, named: &Path) {
        let before = all(folder);
        match recover(folder) {
            Err(BagError::Foreign { path, .. }) => assert_eq!(path, named),
            other => panic!("{other:?}"),
        }
        assert_eq!(all(folder), before);
    }

    /// A stage as a stopped run leaves it.
    fn left(folder: &Path) -> Stage<'_> {
        let mut stage = Stage::begin(folder).unwrap();
        create_folder(&stage.payload).unwrap();
        create_folder(&stage.tags).unwrap();
        stage.held = None;
        stage
    }

    #[test]
    #[cfg(unix)]
    fn a_link_in_the_place_of_a_folder_or_file_of_the_stage_is_not_followed() {
        use std::os::unix::fs::symlink;
        let outside = tempfile::tempdir().unwrap();
        for name in [DECLARATION, "manifest-md5.txt", "thesis.txt", LOCK] {
            fs::write(outside.path().join(name), "kept").unwrap();
        }
        create_folder(&outside.path().join(PAYLOAD)).unwrap();
        create_folder(&outside.path().join(TAGS)).unwrap();
        let victim = all(outside.path());
        let test = |change: &dyn Fn(&Stage<'_>) -> PathBuf| {
            let holder = folder();
            let stage = left(holder.path());
            let named = change(&stage);
            is_refused(holder.path(), &named);
            assert_eq!(all(outside.path()), victim);
        };
        let replaced = |path: &Path| {
            remove_folder(path).unwrap();
            symlink(outside.path(), path).unwrap();
            path.to_owned()
        };
        test(&|stage| replaced(&stage.tags));
        test(&|stage| replaced(&stage.payload));
        test(&|stage| {
            remove_folder(&stage.payload).unwrap();
            replaced(&stage.tags)
        });
        test(&|stage| {
            fs::remove_dir_all(&stage.own).unwrap();
            symlink(outside.path(), &stage.own).unwrap();
            stage.own.clone()
        });
        test(&|stage| {
            let path = stage.tags.join(DECLARATION);
            symlink(outside.path().join(DECLARATION), &path).unwrap();
            path
        });
        test(&|stage| {
            remove_file(&stage.lock).unwrap();
            symlink(outside.path().join(LOCK), &stage.lock).unwrap();
            stage.lock.clone()
        });
    }

    #[test]
    fn what_no_stopped_run_leaves_is_neither_deleted_nor_moved() {
        let test = |change: &dyn Fn(&Stage<'_>) -> PathBuf| {
            let holder = folder();
            let named = change(&left(holder.path()));
            is_refused(holder.path(), &named);
        };
        let written = |path: PathBuf| {
            fs::write(&path, "kept").unwrap();
            path
        };
        test(&|stage| written(stage.tags.join("thesis.txt")));
        test(&|stage| written(stage.own.join("thesis.txt")));
        test(&|stage| {
            let path = stage.tags.join("manifest-md5.txt");
            create_folder(&path).unwrap();
            path
        });
        test(&|stage| {
            remove_file(&stage.lock).unwrap();
            stage.lock.clone()
        });
        // Without the payload of a bag, none is completed.
        test(&|stage| {
            remove_folder(&stage.payload).unwrap();
            written(stage.tags.join(DECLARATION));
            stage.folder.join("data")
        });
    }

    #[test]
    fn a_second_run_leaves_the_stage_of_the_first_alone() {
        let holder = folder();
        let first = Stage::begin(holder.path()).unwrap();
        create_folder(&first.payload).unwrap();
        first
            .rename(&holder.path().join("a"), &first.payload.join("a"))
            .unwrap();
        let during = all(holder.path());
        assert!(matches!(recover(holder.path()), Err(BagError::Busy(_))));
        assert!(matches!(
            Stage::begin(holder.path()),
            Err(BagError::Busy(_))
        ));
        assert_eq!(all(holder.path()), during);
        drop(first);
        assert_eq!(recover(holder.path()).unwrap(), Recovered::Undone);
        assert!(holder.path().join("a").exists());
    }

    #[test]
    fn an_empty_stage_is_removed() {
        let holder = folder();
        let before = all(holder.path());
        create_folder(&holder.path().join(STAGE)).unwrap();
        assert_eq!(recover(holder.path()).unwrap(), Recovered::Undone);
        assert_eq!(all(holder.path()), before);
        let stage = Stage::begin(holder.path()).unwrap();
        stage.abandon().unwrap();
        assert!(!holder.path().join(STAGE).exists());
    }
}
