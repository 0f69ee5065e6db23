//! A bag in place, by renames.
//!
//! ```text
//! 1  FOLDER/.multisum-bag/payload/      made, empty
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

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{FileError, Operation};

use super::tags::{DECLARATION, TagFile};
use super::{BagError, create_folder, sync_folder, write_new};

const STAGE: &str = ".multisum-bag";

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

struct Stage<'a> {
    folder: &'a Path,
    own: PathBuf,
    payload: PathBuf,
    tags: PathBuf,
}

impl<'a> Stage<'a> {
    fn of(folder: &'a Path) -> Self {
        let own = folder.join(STAGE);
        Self {
            folder,
            payload: own.join("payload"),
            tags: own.join("tags"),
            own,
        }
    }
}

/// Goes back or on where an earlier run was stopped.
pub(super) fn recover(folder: &Path) -> Result<Recovered, BagError> {
    let stage = Stage::of(folder);
    if !exists(&stage.own)? {
        return Ok(Recovered::Nothing);
    }
    if !exists(&stage.payload)? && exists(&stage.tags)? {
        stage.publish()?;
        return Ok(Recovered::Completed);
    }
    stage.undo()?;
    Ok(Recovered::Undone)
}

/// Makes a bag of everything in the folder. After a failure all is as it was, or the error says where
/// it is.
pub(super) fn make(folder: &Path, tags: &[TagFile]) -> Result<(), BagError> {
    let stage = Stage::of(folder);
    if let Err(error) = stage.fill(tags) {
        return match (stage.undo(), error) {
            (Ok(()), error) => Err(error),
            (Err(_), BagError::File(error)) => Err(BagError::Stuck {
                error,
                stage: stage.own,
            }),
            (Err(_), error) => Err(error),
        };
    }
    stage.publish()
}

impl Stage<'_> {
    /// Steps 1 to 4.
    fn fill(&self, tags: &[TagFile]) -> Result<(), BagError> {
        create_folder(&self.own)?;
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
        remove_folder(&self.own)?;
        Ok(sync_folder(self.folder)?)
    }

    /// Back to the beginning. Without `tags` first, since `tags` without `payload` means the opposite.
    fn undo(&self) -> Result<(), BagError> {
        if exists(&self.tags)? {
            for name in names_in(&self.tags)? {
                let path = self.tags.join(name);
                fs::remove_file(&path)
                    .map_err(|error| FileError::new(Operation::Write, &path, error))?;
            }
            remove_folder(&self.tags)?;
        }
        if exists(&self.payload)? {
            for name in names_in(&self.payload)? {
                self.rename(&self.payload.join(&name), &self.folder.join(&name))?;
            }
            sync_folder(self.folder)?;
            remove_folder(&self.payload)?;
        }
        if exists(&self.own)? {
            remove_folder(&self.own)?;
        }
        Ok(sync_folder(self.folder)?)
    }

    /// Never replaces anything: whatever is found there by now was put there by somebody else.
    fn rename(&self, from: &Path, to: &Path) -> Result<(), BagError> {
        if exists(to)? {
            return Err(BagError::InTheWay {
                path: to.to_owned(),
                stage: self.own.clone(),
            });
        }
        fs::rename(from, to).map_err(|error| FileError::new(Operation::Rename, from, error).into())
    }
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

fn remove_folder(path: &Path) -> Result<(), FileError> {
    fs::remove_dir(path).map_err(|error| FileError::new(Operation::Write, path, error))
}

fn exists(path: &Path) -> Result<bool, FileError> {
    match path.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
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
            if entry.file_type().unwrap().is_dir() {
                contents(&entry.path(), &name, found);
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
        make(holder.path(), &tags()).unwrap();
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
            let stage = Stage::of(holder.path());
            create_folder(&stage.own).unwrap();
            create_folder(&stage.payload).unwrap();
            create_folder(&stage.tags).unwrap();
            write_new(&stage.tags.join(DECLARATION), b"x").unwrap();
            let names = names_in(holder.path()).unwrap();
            for name in names.iter().filter(|n| **n != Path::new(STAGE)).take(moved) {
                stage
                    .rename(&holder.path().join(name), &stage.payload.join(name))
                    .unwrap();
            }
            assert_eq!(recover(holder.path()).unwrap(), Recovered::Undone);
            assert_eq!(all(holder.path()), before);
        }
    }

    #[test]
    fn what_is_in_the_way_is_never_replaced() {
        let holder = folder();
        let stage = Stage::of(holder.path());
        create_folder(&stage.own).unwrap();
        create_folder(&stage.payload).unwrap();
        stage
            .rename(&holder.path().join("a"), &stage.payload.join("a"))
            .unwrap();
        fs::write(holder.path().join("a"), b"another").unwrap();
        assert!(matches!(
            recover(holder.path()),
            Err(BagError::InTheWay { .. })
        ));
        assert_eq!(fs::read(holder.path().join("a")).unwrap(), b"another");
        assert_eq!(fs::read(stage.payload.join("a")).unwrap(), b"a");
    }
}
