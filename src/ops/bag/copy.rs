//! A bag as a copy.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::algorithm::Algorithm;
use crate::engine::{self, Job, Links, Outcome, Source, Task};
use crate::error::{Error, FileError, Operation};
use crate::relpath::RelPath;

use super::payload::PayloadFile;
use super::tags::TagFile;
use super::{BagError, BagSettings, create_folder, parent_of, sync_folder, write_new};

/// Copies every file, reads the copies, and writes the tag files if they are what was read before. The
/// new folder is removed if anything fails.
pub(super) fn make(
    folder: &Path,
    target: &Path,
    files: &[PayloadFile],
    tags: &[TagFile],
    settings: &BagSettings,
    engine: &engine::Options,
) -> Result<(), BagError> {
    create_folder(target)?;
    let made = fill(folder, target, files, tags, settings, engine);
    if made.is_err() {
        // Nobody else has put anything into a folder that this run has made. What failed first is
        // told; what is left then is no bag, since the declaration comes last.
        fs::remove_dir_all(target).ok();
    }
    made
}

fn fill(
    folder: &Path,
    target: &Path,
    files: &[PayloadFile],
    tags: &[TagFile],
    settings: &BagSettings,
    engine: &engine::Options,
) -> Result<(), BagError> {
    let data = target.join("data");
    create_folder(&data)?;
    let mut folders = BTreeSet::from([data.clone()]);
    for file in files {
        if engine.cancel.is_cancelled() {
            return Err(Error::Cancelled.into());
        }
        let (from, to) = (path_in(folder, &file.name)?, path_in(&data, &file.name)?);
        create_folders(&to, &mut folders)?;
        copy(&from, &to, file)?;
    }
    for made in &folders {
        sync_folder(made)?;
    }
    compare(&data, files, &settings.algorithms, engine)?;
    for (name, bytes) in tags {
        write_new(&target.join(name), bytes)?;
    }
    sync_folder(target)?;
    Ok(sync_folder(parent_of(target))?)
}

fn path_in(folder: &Path, name: &RelPath) -> Result<PathBuf, BagError> {
    let path = name.to_path().map(|path| folder.join(path));
    path.ok_or_else(|| BagError::NotText(name.clone()))
}

/// Makes the folders above a file that are not among those that were made, and adds them.
fn create_folders(file: &Path, made: &mut BTreeSet<PathBuf>) -> Result<(), FileError> {
    let above = file.ancestors().skip(1);
    let missing: Vec<&Path> = above.take_while(|path| !made.contains(*path)).collect();
    for path in missing.into_iter().rev() {
        create_folder(path)?;
        made.insert(path.to_owned());
    }
    Ok(())
}

/// Copies contents, permissions and the time of the last change, and forces them to the medium.
fn copy(from: &Path, to: &Path, file: &PayloadFile) -> Result<(), FileError> {
    let unread = |error| FileError::new(Operation::Open, from, error);
    let mut source = File::open(from).map_err(unread)?;
    let permissions = source.metadata().map_err(unread)?.permissions();
    let created = File::create_new(to);
    let mut copied = created.map_err(|error| FileError::new(Operation::Create, to, error))?;
    let written = io::copy(&mut source, &mut copied)
        .and_then(|_| {
            file.modified
                .map_or(Ok(()), |modified| copied.set_modified(modified))
        })
        .and_then(|()| copied.set_permissions(permissions));
    written.map_err(|error| FileError::new(Operation::Write, to, error))?;
    copied
        .sync_all()
        .map_err(|error| FileError::new(Operation::Sync, to, error))
}

/// Reads the copies.
fn compare(
    data: &Path,
    files: &[PayloadFile],
    algorithms: &[Algorithm],
    engine: &engine::Options,
) -> Result<(), BagError> {
    let algorithms: Arc<[Algorithm]> = algorithms.into();
    let paths: Result<Vec<PathBuf>, _> =
        files.iter().map(|file| path_in(data, &file.name)).collect();
    let jobs = paths?.into_iter().enumerate().map(move |(index, path)| {
        let links = Links::Refuse;
        let source = Source::File {
            path: path.into(),
            links,
        };
        Job {
            token: index,
            task: Some(Task::new(source, Arc::clone(&algorithms))),
        }
    });
    let mut differing = None;
    engine::run(jobs, engine, &mut |index: usize, outcome| {
        let file = &files[index];
        let same = matches!(&outcome, Some(Outcome::Hashed(copy)) if copy.digests == file.digests);
        if !same && differing.is_none() {
            differing = Some(file.name.clone());
        }
        Ok(())
    })?;
    match differing {
        Some(name) => Err(BagError::CopyDiffers(name)),
        None => Ok(()),
    }
}
