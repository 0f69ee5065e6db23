//! Inputs that repeat or contain each other: every file is reported by the first that reaches it.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};

use super::tree::device;
use super::walker::Options;

/// The inputs that were walked so far, by their paths without `.` components. Takes memory for each
/// of them, some hundred bytes.
#[derive(Debug, Default)]
pub(super) struct Earlier(BTreeMap<PathBuf, Walked>);

/// What an input turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Walked {
    /// One thing, or an error.
    Single,
    /// A directory that was walked.
    Tree,
}

impl Earlier {
    pub(super) fn add(&mut self, path: &Path, walked: Walked) {
        self.0.insert(key(path), walked);
    }

    /// What the earlier inputs have in common with a new one.
    pub(super) fn overlap(&self, path: &Path, options: &Options) -> Overlap {
        if self.0.is_empty() {
            return Overlap::default();
        }
        let path = key(path);
        Overlap {
            repeats: self.0.contains_key(&path),
            above: self.above(&path, options),
            below: self.below(&path),
        }
    }

    /// The way to `path` from every earlier tree that comes to it.
    fn above(&self, path: &Path, options: &Options) -> Vec<PathBuf> {
        path.ancestors()
            .skip(1)
            .filter(|tree| self.0.get(*tree) == Some(&Walked::Tree))
            .filter_map(|tree| Some((tree, descent(path, tree)?)))
            .filter(|(tree, way)| comes_to(tree, way, options))
            .map(|(_, way)| way.to_path_buf())
            .collect()
    }

    fn below(&self, path: &Path) -> BTreeMap<PathBuf, Walked> {
        self.0
            .range::<Path, _>((Bound::Excluded(path), Bound::Unbounded))
            .take_while(|(other, _)| other.starts_with(path))
            .filter_map(|(other, walked)| Some((descent(other, path)?.to_path_buf(), *walked)))
            .collect()
    }
}

/// The path without `.`, so that equal spellings compare equal.
fn key(path: &Path) -> PathBuf {
    path.components()
        .filter(|component| *component != Component::CurDir)
        .collect()
}

/// The way down from `tree` to `path`, if it goes only down.
fn descent<'a>(path: &'a Path, tree: &Path) -> Option<&'a Path> {
    let way = path.strip_prefix(tree).ok()?;
    way.components()
        .all(|component| matches!(component, Component::Normal(_)))
        .then_some(way)
}

/// Whether links and borders of file systems let a walk of `tree` go down `way`. In doubt it does
/// not: a file listed twice is a lesser evil than one not listed.
fn comes_to(tree: &Path, way: &Path, options: &Options) -> bool {
    let start = if tree.as_os_str().is_empty() {
        Path::new(".")
    } else {
        tree
    };
    let crosses_link = |path: &Path| {
        !options.follow_links
            && fs::symlink_metadata(path).map_or(true, |metadata| metadata.is_symlink())
    };
    let crosses_border = |path: &Path| {
        options.one_file_system
            && !matches!((device(start), device(path)), (Ok(here), Ok(there)) if here == there)
    };
    let mut steps = way.ancestors().filter(|step| !step.as_os_str().is_empty());
    steps.all(|step| {
        let path = start.join(step);
        !crosses_link(&path) && !crosses_border(&path)
    })
}

/// What the earlier inputs have in common with the one that is walked.
#[derive(Debug, Default)]
pub(super) struct Overlap {
    repeats: bool,
    above: Vec<PathBuf>,
    below: BTreeMap<PathBuf, Walked>,
}

impl Overlap {
    /// Whether earlier inputs have reported everything at and below `below`, whatever there is.
    pub(super) fn covers_tree(&self, below: &Path, options: &Options) -> bool {
        let whole = options.filter.is_empty() && options.max_depth.is_none();
        self.repeats || whole && self.covers(below, true, options)
    }

    /// Whether an earlier input has reported the one thing at `below`.
    pub(super) fn covers(&self, below: &Path, is_dir: bool, options: &Options) -> bool {
        self.repeats
            || self.above.iter().any(|way| {
                let below = join(way, below);
                let depth = below.components().count();
                options.max_depth.is_none_or(|max| depth <= max) && admits(&below, is_dir, options)
            })
            || self.covered_from_below(below, is_dir, options)
    }

    fn covered_from_below(&self, below: &Path, is_dir: bool, options: &Options) -> bool {
        if self.below.is_empty() {
            return false;
        }
        below.ancestors().any(|start| match self.below.get(start) {
            None => false,
            Some(Walked::Single) => start == below,
            Some(Walked::Tree) => {
                start == below
                    || descent(below, start).is_some_and(|way| admits(way, is_dir, options))
            }
        })
    }
}

fn admits(below: &Path, is_dir: bool, options: &Options) -> bool {
    let filter = &options.filter;
    filter.reaches(below)
        && if is_dir {
            filter.descends(below)
        } else {
            filter.reports(below)
        }
}

/// As [`Path::join`], but without a slash at the end if there is nothing to join.
fn join(way: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() {
        way.to_path_buf()
    } else {
        way.join(below)
    }
}
