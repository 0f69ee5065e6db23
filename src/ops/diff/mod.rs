//! Two manifests, two trees, or one of each: what was added, removed, changed and moved.
//!
//! Both sides become streams of things in the order of names (`side`), which are joined by name
//! (`join`). Two manifests are compared as they stand; where a tree is involved, the files that may
//! be equal are read by the engine on the way (`run`). What only one side has is kept until all
//! names have been seen, to find out what has moved (`moves`).

mod compare;
mod join;
mod moves;
mod run;
mod side;

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::algorithm::Algorithm;
use crate::engine;
use crate::error::Error;
use crate::event::Sink;
use crate::walk::{self, Filter, Input};

use super::manifests::SurveyedManifest;

/// One of the two things to compare.
#[derive(Debug)]
pub enum DiffSide {
    /// A manifest. No file that it lists is opened.
    Manifest(Box<SurveyedManifest>),
    /// A folder, whose files are read where need be.
    Folder(FolderSide),
}

/// A folder to compare.
#[derive(Debug)]
pub struct FolderSide {
    /// The folder that names are relative to.
    pub folder: PathBuf,
    /// What of it is walked.
    pub inputs: Vec<Input>,
    /// How it is walked.
    pub walk: walk::Options,
}

/// What is asked of a comparison.
#[derive(Clone, Debug, Default)]
pub struct DiffOptions {
    /// What two folders are compared by.
    pub algorithms: Vec<Algorithm>,
    /// Which names of manifests are looked at.
    pub names: Filter,
    /// How many folders deep they may lie.
    pub max_depth: Option<usize>,
}

/// What a comparison did, beside its verdicts.
#[derive(Debug, Default)]
pub struct Diffed {
    /// Every algorithm that was compared.
    pub algorithms: BTreeSet<Algorithm>,
    /// Bytes that were read of the files of a tree.
    pub bytes_read: u64,
}

/// Compares two sides and tells `sink` of every name once.
///
/// Names that both sides have come first, in the order of names; then those that only the old side
/// has (as missing or moved), then those that only the new one has. Two entries are equal if the
/// digests of all algorithms that both have are equal, and size and type where both record them;
/// symbolic links are, if their targets are. Modification times do not count. A file has moved if its
/// name is gone and another, new name has equal digests and no other size: one to one, and never an
/// empty file.
///
/// A tree is read with the algorithms of the entry that a file is compared with. A file whose name
/// only the tree has is read if it may have moved.
///
/// # Memory
///
/// Manifests whose names are in order are streamed, and so are trees. What differs by name is kept,
/// about 300 bytes each.
///
/// # Errors
///
/// Those of [`engine::run`], and [`Error::File`] if a manifest cannot be read.
pub fn diff(
    old: DiffSide,
    new: DiffSide,
    options: &DiffOptions,
    engine: &engine::Options,
    sink: &mut dyn Sink,
) -> Result<Diffed, Error> {
    run::Run::new(options, engine, sink).run(old, new)
}
