//! One tree, in order.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::links::{Stretch, refuse_loop};
use super::names::Root;
use super::overlap::Overlap;
use super::walker::{Options, kind_in_tree, look};
use super::{Found, FoundKind};
use crate::error::{FileError, Operation};

/// The walk of one root.
///
/// Links to directories are followed here and not by `walkdir`, each by a walk of its own on top of
/// `levels`, because `walkdir` gives no path with some of the errors it meets on the way.
#[derive(Debug)]
pub(super) struct Tree {
    root: Root,
    overlap: Overlap,
    levels: Vec<Level>,
    /// What lies between the links that were followed to the last of the levels.
    way: Vec<Stretch>,
    /// The directory that was met last: errors of its listing follow directly.
    directory: PathBuf,
    device: Option<Device>,
}

/// A directory and what is reached from it without another link.
#[derive(Debug)]
struct Level {
    entries: walkdir::IntoIter,
    /// How deep below the root of the tree the directory is.
    depth: usize,
    /// Canonical path of the directory; known where a link led to it.
    real: Option<PathBuf>,
}

impl Level {
    fn new(path: &Path, depth: usize, real: Option<PathBuf>, options: &Options) -> Self {
        let max_depth = options
            .max_depth
            .map_or(usize::MAX, |max| max.saturating_sub(depth));
        let entries = WalkDir::new(path)
            .max_depth(max_depth)
            .same_file_system(options.one_file_system)
            // Siblings share all but their names, and comparing whole paths needs no search for
            // the last slash.
            .sort_by(|a, b| a.path().as_os_str().cmp(b.path().as_os_str()))
            .into_iter();
        Self {
            entries,
            depth,
            real,
        }
    }
}

impl Tree {
    pub(super) fn new(root: Root, overlap: Overlap, options: &Options) -> Self {
        let device = match options.one_file_system {
            true => device(&root.path).ok(),
            false => None,
        };
        Self {
            levels: vec![Level::new(&root.path, 0, None, options)],
            root,
            overlap,
            way: Vec::new(),
            directory: PathBuf::new(),
            device,
        }
    }

    /// The next thing to report.
    pub(super) fn next(&mut self, options: &Options) -> Option<Found> {
        loop {
            let found = match self.levels.last_mut()?.entries.next() {
                Some(Ok(entry)) => self.entry(entry, options),
                Some(Err(error)) => self.failed(error, options),
                None => {
                    self.levels.pop();
                    self.way.pop();
                    None
                }
            };
            if found.is_some() {
                return found;
            }
        }
    }

    fn entry(&mut self, entry: DirEntry, options: &Options) -> Option<Found> {
        if entry.depth() == 0 {
            return self.level_root(&entry);
        }
        let file_type = entry.file_type();
        if file_type.is_dir() {
            self.directory(&entry, options)
        } else if file_type.is_symlink() && options.follow_links {
            self.link(entry, options)
        } else {
            self.leaf(entry, kind_in_tree(file_type), false, options)
        }
    }

    /// `walkdir` says nothing if what was a directory a moment ago is none any more.
    fn level_root(&mut self, entry: &DirEntry) -> Option<Found> {
        set(&mut self.directory, entry.path());
        match look(entry.path()) {
            Ok((file_type, _)) if !file_type.is_dir() => {
                if let Some(level) = self.levels.last_mut() {
                    level.entries.skip_current_dir();
                }
                Some(self.replaced(entry.path()))
            }
            // A root that is gone has an error for its listing.
            _ => None,
        }
    }

    fn directory(&mut self, entry: &DirEntry, options: &Options) -> Option<Found> {
        set(&mut self.directory, entry.path());
        if !self.wants_directory(entry.path(), options) {
            self.skip(entry, options);
            return None;
        }
        // By now the directory is listed, by its path. If the path has become a link, the list
        // may be that of another directory. One that is gone has an error in its listing.
        let replaced = fs::symlink_metadata(entry.path()).is_ok_and(|now| !now.is_dir());
        if replaced {
            self.skip(entry, options);
            return Some(self.replaced(entry.path()));
        }
        None
    }

    fn link(&mut self, entry: DirEntry, options: &Options) -> Option<Found> {
        let kind = match fs::metadata(entry.path()) {
            Ok(target) if target.is_dir() => match self.linked_directory(&entry, options) {
                Ok(()) => return None,
                Err(error) => return Some(self.stat_failed(entry.into_path(), error, true)),
            },
            Ok(target) => kind_in_tree(target.file_type()),
            Err(error) => {
                return self
                    .wants_unknown(entry.path(), options)
                    .then(|| self.stat_failed(entry.into_path(), error, true));
            }
        };
        self.leaf(entry, kind, true, options)
    }

    /// Starts a walk of the directory that a link leads to.
    fn linked_directory(&mut self, entry: &DirEntry, options: &Options) -> io::Result<()> {
        let path = entry.path();
        let depth = self.levels.last().map_or(0, |level| level.depth) + entry.depth();
        let too_deep = options.max_depth.is_some_and(|max| depth >= max);
        if too_deep || !self.wants_directory(path, options) || self.crosses_border(path, options)? {
            return Ok(());
        }
        let target = fs::canonicalize(path)?;
        let stretch = Stretch {
            from: self.levels.last().and_then(|level| level.real.clone()),
            to: fs::canonicalize(path.parent().unwrap_or(&self.root.path))?,
        };
        refuse_loop(&target, self.way.iter().chain([&stretch]))?;
        self.way.push(stretch);
        self.levels
            .push(Level::new(path, depth, Some(target), options));
        Ok(())
    }

    fn leaf(
        &self,
        entry: DirEntry,
        kind: FoundKind,
        through_link: bool,
        options: &Options,
    ) -> Option<Found> {
        let below = below(entry.path(), &self.root.path);
        if !options.filter.reports(below) || self.overlap.covers(below, false, options) {
            return None;
        }
        if matches!(kind, FoundKind::File) && options.leave_out.holds_entry(&entry) {
            return None;
        }
        Some(self.found(entry.into_path(), kind, through_link))
    }

    fn failed(&self, error: walkdir::Error, options: &Options) -> Option<Found> {
        let is_root = error.depth() == 0;
        let path = error.path().map(Path::to_path_buf);
        // A loop is never met, since walkdir follows no links here.
        let error = error
            .into_io_error()
            .unwrap_or_else(|| io::Error::other("link loop"));
        match path {
            None => Some(self.list_failed(&self.directory, incomplete(error))),
            Some(path) if path == self.directory => Some(self.list_failed(&path, error)),
            Some(path) => (is_root || self.wants_unknown(&path, options))
                .then(|| self.stat_failed(path, error, false)),
        }
    }

    /// Drops what `walkdir` has listed of a directory.
    fn skip(&mut self, entry: &DirEntry, options: &Options) {
        // Beyond a border nothing was listed, and skipping would drop the rest of the parent.
        let listed = !matches!(
            self.crosses_border(entry.path(), options),
            Ok(true) | Err(_)
        );
        if let Some(level) = self.levels.last_mut().filter(|_| listed) {
            level.entries.skip_current_dir();
        }
    }

    fn crosses_border(&self, path: &Path, options: &Options) -> io::Result<bool> {
        Ok(options.one_file_system && Some(device(path)?) != self.device)
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

    fn replaced(&self, path: &Path) -> Found {
        let error = io::Error::new(io::ErrorKind::NotADirectory, "no longer a directory");
        self.list_failed(path, error)
    }

    fn list_failed(&self, path: &Path, error: io::Error) -> Found {
        let error = FileError::new(Operation::List, path, error);
        self.found(path.to_path_buf(), FoundKind::Failed(error), false)
    }

    fn stat_failed(&self, path: PathBuf, error: io::Error, through_link: bool) -> Found {
        let error = FileError::new(Operation::Stat, &path, error);
        self.found(path, FoundKind::Failed(error), through_link)
    }

    fn found(&self, path: PathBuf, kind: FoundKind, through_link: bool) -> Found {
        Found {
            name: self.root.name_of(below(&path, &self.root.path)),
            path,
            kind,
            through_link,
        }
    }
}

/// A listing that failed after it had begun: some names are known, others are not.
fn incomplete(error: io::Error) -> io::Error {
    #[derive(Debug, thiserror::Error)]
    #[error("listing incomplete: {0}")]
    struct Incomplete(#[source] io::Error);
    io::Error::new(error.kind(), Incomplete(error))
}

/// Copies without a new allocation for every directory.
fn set(path: &mut PathBuf, to: &Path) {
    path.clear();
    path.push(to);
}

/// The part of `path` below `root`, from which `walkdir` made it.
#[cfg(unix)]
fn below<'a>(path: &'a Path, root: &Path) -> &'a Path {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let bytes = path.as_os_str().as_bytes();
    // Ten times as fast as Path::strip_prefix, which compares component by component.
    let below = bytes
        .strip_prefix(root.as_os_str().as_bytes())
        .unwrap_or(bytes);
    Path::new(OsStr::from_bytes(below.strip_prefix(b"/").unwrap_or(below)))
}

#[cfg(not(unix))]
fn below<'a>(path: &'a Path, root: &Path) -> &'a Path {
    path.strip_prefix(root).unwrap_or(path)
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
type Device = PathBuf;

#[cfg(not(unix))]
pub(super) fn device(path: &Path) -> io::Result<Device> {
    let path = fs::canonicalize(path)?;
    Ok(path.components().take(1).collect())
}
