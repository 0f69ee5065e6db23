//! A bag as a copy.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::algorithm::Algorithm;
use crate::engine::{self, Job, Links, Outcome, Source, Task};
use crate::error::{Error, FileError, Operation};
use crate::relpath::RelPath;

use super::payload::PayloadFile;
use super::tags::TagFile;
use super::{BagError, BagSettings, create_folder, sync_folder, write_new};

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
    for file in files {
        if engine.cancel.is_cancelled() {
            return Err(Error::Cancelled.into());
        }
        copy(folder, &data, file)?;
    }
    compare(&data, files, &settings.algorithms, engine)?;
    for (name, bytes) in tags {
        write_new(&target.join(name), bytes)?;
    }
    Ok(sync_folder(target)?)
}

fn path_in(folder: &Path, name: &RelPath) -> Result<PathBuf, BagError> {
    let path = name.to_path().map(|path| folder.join(path));
    path.ok_or_else(|| BagError::NotText(name.clone()))
}

fn copy(folder: &Path, data: &Path, file: &PayloadFile) -> Result<(), BagError> {
    let (from, to) = (path_in(folder, &file.name)?, path_in(data, &file.name)?);
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)
            .map_err(|error| FileError::new(Operation::Create, parent, error))?;
    }
    fs::copy(&from, &to).map_err(|error| FileError::new(Operation::Write, &to, error))?;
    if let Some(modified) = file.modified {
        // A file that may not be written keeps that permission in its copy, and today's date.
        if let Ok(copied) = fs::File::options().write(true).open(&to) {
            copied
                .set_modified(modified)
                .map_err(|error| FileError::new(Operation::Write, &to, error))?;
        }
    }
    Ok(())
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
    let jobs = paths?
        .into_iter()
        .enumerate()
        .map(move |(index, path)| Job {
            token: index,
            task: Some(Task {
                source: Source::File {
                    path,
                    links: Links::Refuse,
                },
                algorithms: Arc::clone(&algorithms),
            }),
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
