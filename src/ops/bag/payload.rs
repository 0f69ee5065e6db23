//! The files that are to be in a bag.

use std::fs;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::engine;
use crate::error::{FileError, Operation};
use crate::event::{Event, Sink};
use crate::relpath::RelPath;
use crate::walk::{self, Found, FoundKind, Input, Root};

use super::BagError;
use super::stage::STAGE;

/// A file as it was read.
#[derive(Debug)]
pub(super) struct PayloadFile {
    /// Its name in the folder.
    pub(super) name: RelPath,
    /// In the order of the algorithms.
    pub(super) digests: Vec<Digest>,
    pub(super) size: u64,
    pub(super) modified: Option<SystemTime>,
}

fn walk_all(folder: &Path) -> impl Iterator<Item = Found> + Send + use<> {
    let root = Input::Path(Root::relative(folder));
    walk::walk([root], walk::Options::default())
}

/// Walks once before a byte is read, so that a refusal comes early.
pub(super) fn refuse_what_no_bag_holds(folder: &Path) -> Result<(), BagError> {
    for Found { name, kind, .. } in walk_all(folder) {
        match kind {
            FoundKind::Special(kind) => return Err(BagError::NotAFile { name, kind }),
            FoundKind::Failed(error) => return Err(error.into()),
            FoundKind::File | FoundKind::Stream | FoundKind::Stdin => {}
        }
        if std::str::from_utf8(name.as_bytes()).is_err() {
            return Err(BagError::NotText(name));
        }
    }
    Ok(())
}

/// Reads every file, in the order of the walk.
pub(super) fn hash(
    folder: &Path,
    algorithms: &[Algorithm],
    engine: &engine::Options,
    sink: &mut dyn Sink,
) -> Result<Vec<PayloadFile>, BagError> {
    let mut collected = Collected {
        files: Vec::new(),
        failed: 0,
        sink,
    };
    super::super::hash(walk_all(folder), algorithms, engine, &mut collected)?;
    match collected.failed {
        0 => Ok(collected.files),
        count => Err(BagError::NotHashed(count)),
    }
}

struct Collected<'a> {
    files: Vec<PayloadFile>,
    failed: u64,
    sink: &'a mut dyn Sink,
}

impl Sink for Collected<'_> {
    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        match &event {
            Event::Hashed { name, hashed } => self.files.push(PayloadFile {
                name: (*name).clone(),
                digests: hashed.digests.clone(),
                size: hashed.size,
                modified: hashed.modified,
            }),
            Event::Verdict { .. } | Event::Skipped { .. } => self.failed += 1,
            Event::Line { .. } | Event::Taken { .. } | Event::Note(_) => {}
        }
        self.sink.event(event)
    }
}

/// Looks at everything once more, so that a bag is not wrong from the beginning; not at the stage of
/// this run.
pub(super) fn refuse_changes(folder: &Path, files: &[PayloadFile]) -> Result<(), BagError> {
    let mut hashed = files.iter();
    let of_stage = |found: &Found| found.name.components().next() == Some(STAGE.as_bytes());
    for found in walk_all(folder).filter(|found| !of_stage(found)) {
        let same = hashed.next().filter(|file| file.name == found.name);
        if !same.is_some_and(|file| is_untouched(&found.path, file)) {
            return Err(BagError::Changed(found.name));
        }
    }
    match hashed.next() {
        Some(gone) => Err(BagError::Changed(gone.name.clone())),
        None => Ok(()),
    }
}

fn is_untouched(path: &Path, file: &PayloadFile) -> bool {
    path.symlink_metadata().is_ok_and(|now| {
        now.is_file() && now.len() == file.size && now.modified().ok() == file.modified
    })
}

/// Folders with nothing in them, the one that is bagged not counted.
pub(super) fn count_empty_folders(folder: &Path) -> Result<u64, FileError> {
    let mut count = 0;
    let mut left = vec![folder.to_owned()];
    while let Some(current) = left.pop() {
        let failed = |error| FileError::new(Operation::List, &current, error);
        let mut is_empty = true;
        for entry in fs::read_dir(&current).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            is_empty = false;
            if entry.file_type().map_err(failed)?.is_dir() {
                left.push(entry.path());
            }
        }
        count += u64::from(is_empty && current != folder);
    }
    Ok(count)
}
