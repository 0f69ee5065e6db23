//! One tree, in order.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::vec;

use super::links::{Stretch, refuse_loop};
use super::listing::{Entry, Handle, Kind, Listing, device_in, list};
use super::names::Root;
use super::overlap::Overlap;
use super::walker::{Options, kind_in_tree};
use super::{Found, FoundKind, Special};
use crate::error::{FileError, Operation};
use crate::location::{Anchor, Location, below, is_link_in_the_way};

/// The walk of one root.
#[derive(Debug)]
pub(super) struct Tree {
    root: Root,
    overlap: Overlap,
    /// The root, and the links to directories that were followed to where the walk is.
    starts: Vec<Start>,
    /// The directories from the root to where the walk is.
    levels: Vec<Level>,
    /// The path of the last of them.
    path: PathBuf,
    /// What failed at the root.
    failed: Option<Found>,
    device: Option<Device>,
}

/// A directory that everything below is opened from, up to the next link.
#[derive(Debug)]
struct Start {
    anchor: Arc<Anchor>,
    /// Where a link led to it: its canonical path.
    real: Option<PathBuf>,
    /// Where a link led to it: the way from the start before to that link.
    way: Option<Stretch>,
    /// How many levels lie above it.
    above: usize,
}

/// A directory that is being walked.
#[derive(Debug)]
struct Level {
    entries: vec::IntoIter<Entry>,
    broken_off: Option<io::Error>,
    /// To open the directories in it, unless so many are open below it that this one is closed.
    handle: Option<Handle>,
}

/// How many directories of a tree are held open at most. Those further up are opened anew when the
/// walk comes back to them.
const MOST_HELD: usize = 8;

/// How many bytes a path may have: more than trees are deep, so that one without a bottom ends.
const LONGEST_PATH: usize = 128 * 1024;

impl Tree {
    pub(super) fn new(root: Root, overlap: Overlap, options: &Options) -> Self {
        let device = match options.one_file_system {
            true => device(&root.path).ok(),
            false => None,
        };
        let mut tree = Self {
            root,
            overlap,
            starts: Vec::new(),
            levels: Vec::new(),
            path: PathBuf::new(),
            failed: None,
            device,
        };
        if options.max_depth != Some(0) {
            let path = tree.root.path.clone();
            tree.failed = tree.start(path, None, None).err();
        }
        tree
    }

    /// The next thing to report.
    pub(super) fn next(&mut self, options: &Options) -> Option<Found> {
        if let Some(failed) = self.failed.take() {
            return Some(failed);
        }
        loop {
            let level = self.levels.last_mut()?;
            if let Some(error) = level.broken_off.take() {
                let path = self.path.clone();
                return Some(self.list_failed(path, incomplete(error)));
            }
            let found = match level.entries.next() {
                Some(entry) => {
                    let path = self.path.join(&entry.name);
                    self.entry(&entry, path, options)
                }
                None => {
                    self.leave();
                    None
                }
            };
            if found.is_some() {
                return found;
            }
        }
    }

    fn entry(&mut self, entry: &Entry, path: PathBuf, options: &Options) -> Option<Found> {
        match entry.kind {
            Kind::Directory => self.directory(path, options),
            Kind::Link if options.follow_links => self.link(entry, path, options),
            Kind::File => self.leaf(entry, path, FoundKind::File, false, options),
            Kind::Link => {
                let link = FoundKind::Special(Special::Link);
                self.leaf(entry, path, link, false, options)
            }
            Kind::Special(special) => {
                self.leaf(entry, path, FoundKind::Special(special), false, options)
            }
            Kind::Unknown => self.unknown(entry, path, options),
        }
    }

    /// Some file systems list names only.
    fn unknown(&mut self, entry: &Entry, path: PathBuf, options: &Options) -> Option<Found> {
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => self.directory(path, options),
            Ok(metadata) if metadata.is_symlink() && options.follow_links => {
                self.link(entry, path, options)
            }
            Ok(metadata) => {
                let kind = kind_in_tree(metadata.file_type());
                self.leaf(entry, path, kind, false, options)
            }
            Err(error) => self
                .wants_unknown(&path, options)
                .then(|| self.stat_failed(path, error, false)),
        }
    }

    fn directory(&mut self, path: PathBuf, options: &Options) -> Option<Found> {
        if self.is_too_deep(options) || !self.wants_directory(&path, options) {
            return None;
        }
        if path.as_os_str().len() > LONGEST_PATH {
            let error = io::ErrorKind::InvalidFilename.into();
            return Some(self.list_failed(path, error));
        }
        match self.crosses_border(&path) {
            Ok(true) => return None,
            Ok(false) => {}
            Err(error) => return Some(self.stat_failed(path, error, false)),
        }
        let anchor = Arc::clone(&self.starts.last()?.anchor);
        let parent = self.levels.last().and_then(|level| level.handle.as_ref());
        match list(&anchor, &path, parent) {
            Ok(listing) => {
                self.enter(path, listing);
                None
            }
            Err(error) => Some(self.list_failed(path, error)),
        }
    }

    /// Begins to walk what an anchor leads to.
    fn start(
        &mut self,
        path: PathBuf,
        real: Option<PathBuf>,
        way: Option<Stretch>,
    ) -> Result<(), Found> {
        let opened = Anchor::open(&path).and_then(|anchor| {
            let listing = list(&anchor, &path, None)?;
            Ok((anchor, listing))
        });
        let (anchor, listing) = match opened {
            Ok(opened) => opened,
            Err(error) => return Err(self.list_failed(path, error)),
        };
        self.starts.push(Start {
            anchor: Arc::new(anchor),
            real,
            way,
            above: self.levels.len(),
        });
        self.enter(path, listing);
        Ok(())
    }

    fn enter(&mut self, path: PathBuf, listing: Listing) {
        self.path = path;
        self.levels.push(Level {
            entries: listing.entries.into_iter(),
            broken_off: listing.broken_off,
            handle: Some(listing.handle),
        });
        let above = self.levels.len().checked_sub(MOST_HELD + 1);
        if let Some(level) = above.and_then(|above| self.levels.get_mut(above)) {
            level.handle = None;
        }
    }

    fn leave(&mut self) {
        self.levels.pop();
        let left = self.levels.len();
        match left {
            // As it was typed, with whatever slashes.
            1 => self.path.clone_from(&self.root.path),
            _ => drop(self.path.pop()),
        }
        if self.starts.last().is_some_and(|start| start.above == left) {
            self.starts.pop();
        }
    }

    /// Whether what lies in a directory of the last level is below the depth that was asked for.
    fn is_too_deep(&self, options: &Options) -> bool {
        options
            .max_depth
            .is_some_and(|max| self.levels.len() >= max)
    }

    fn link(&mut self, entry: &Entry, path: PathBuf, options: &Options) -> Option<Found> {
        let kind = match fs::metadata(&path) {
            Ok(target) if target.is_dir() => return self.linked_directory(path, options),
            Ok(target) => kind_in_tree(target.file_type()),
            Err(error) => {
                return self
                    .wants_unknown(&path, options)
                    .then(|| self.stat_failed(path, error, true));
            }
        };
        self.leaf(entry, path, kind, true, options)
    }

    /// Starts a walk of the directory that a link leads to.
    fn linked_directory(&mut self, path: PathBuf, options: &Options) -> Option<Found> {
        if self.is_too_deep(options) || !self.wants_directory(&path, options) {
            return None;
        }
        match self.way(&path) {
            Ok(Some((target, way))) => self.start(path, Some(target), Some(way)).err(),
            Ok(None) => None,
            Err(error) => Some(self.stat_failed(path, error, true)),
        }
    }

    /// Where a link leads and how it was reached; `None` if that is another file system.
    fn way(&self, path: &Path) -> io::Result<Option<(PathBuf, Stretch)>> {
        if let Some(own) = &self.device
            && device(path)? != *own
        {
            return Ok(None);
        }
        let target = fs::canonicalize(path)?;
        let stretch = Stretch {
            from: self.starts.last().and_then(|start| start.real.clone()),
            to: fs::canonicalize(path.parent().unwrap_or(&self.root.path))?,
        };
        let ways = self.starts.iter().filter_map(|start| start.way.as_ref());
        refuse_loop(&target, ways.chain([&stretch]))?;
        Ok(Some((target, stretch)))
    }

    /// Whether a directory of the last level lies on another file system. It is not opened for that:
    /// what is mounted there may be forbidden, dead or wait to be mounted.
    fn crosses_border(&self, path: &Path) -> io::Result<bool> {
        let Some(own) = &self.device else {
            return Ok(false);
        };
        let parent = self.levels.last().and_then(|level| level.handle.as_ref());
        Ok(device_in(parent, path)? != *own)
    }

    fn leaf(
        &self,
        entry: &Entry,
        path: PathBuf,
        kind: FoundKind,
        through_link: bool,
        options: &Options,
    ) -> Option<Found> {
        let below = below(&path, &self.root.path);
        if !options.filter.reports(below) || self.overlap.covers(below, false, options) {
            return None;
        }
        let is_file = matches!(kind, FoundKind::File);
        if is_file && options.leave_out.holds_entry(entry, &path) {
            return None;
        }
        let name = self.root.name_of(below);
        let path = match self.starts.last() {
            Some(start) if is_file && !through_link => Location::below(&start.anchor, path),
            _ => Location::from(path),
        };
        Some(Found {
            name,
            path,
            kind,
            through_link,
        })
    }

    fn wants_directory(&self, path: &Path, options: &Options) -> bool {
        let below = below(path, &self.root.path);
        options.filter.descends(below) && !self.overlap.covers_tree(below, options)
    }

    /// Nobody knows whether this is a file or a directory, so only what is excluded as both is
    /// passed over.
    fn wants_unknown(&self, path: &Path, options: &Options) -> bool {
        let below = below(path, &self.root.path);
        (options.filter.descends(below) || options.filter.reports(below))
            && !self.overlap.covers(below, false, options)
    }

    fn list_failed(&self, path: PathBuf, error: io::Error) -> Found {
        let error = if is_no_directory(&error) {
            io::Error::new(io::ErrorKind::NotADirectory, "no longer a directory")
        } else {
            error
        };
        self.failed(Operation::List, path, error, false)
    }

    fn stat_failed(&self, path: PathBuf, error: io::Error, through_link: bool) -> Found {
        self.failed(Operation::Stat, path, error, through_link)
    }

    fn failed(
        &self,
        operation: Operation,
        path: PathBuf,
        error: io::Error,
        through_link: bool,
    ) -> Found {
        Found {
            name: self.root.name_of(below(&path, &self.root.path)),
            kind: FoundKind::Failed(FileError::new(operation, &path, error)),
            path: path.into(),
            through_link,
        }
    }
}

/// Whether what was a directory a moment ago is none any more.
fn is_no_directory(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotADirectory || is_link_in_the_way(error)
}

/// A listing that failed after it had begun: some names are known, others are not.
fn incomplete(error: io::Error) -> io::Error {
    #[derive(Debug, thiserror::Error)]
    #[error("listing incomplete: {0}")]
    struct Incomplete(#[source] io::Error);
    io::Error::new(error.kind(), Incomplete(error))
}

#[cfg(unix)]
type Device = u64;

/// Tells file systems apart.
#[cfg(unix)]
pub(super) fn device(path: &Path) -> io::Result<Device> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).map(|metadata| metadata.dev())
}

/// The drive or share.
#[cfg(not(unix))]
pub(super) type Device = PathBuf;

#[cfg(not(unix))]
pub(super) fn device(path: &Path) -> io::Result<Device> {
    let path = fs::canonicalize(path)?;
    Ok(path.components().take(1).collect())
}
