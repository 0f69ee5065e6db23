//! From inputs to findings.

use std::fs::{self, FileType};
use std::io;
use std::iter::FusedIterator;
use std::path::{Path, PathBuf};

use super::filter::Filter;
use super::leave_out::LeaveOut;
use super::names::{Input, Root};
use super::overlap::{Earlier, Walked};
use super::tree::Tree;
use super::{Found, FoundKind, Special};
use crate::error::{FileError, Operation};
use crate::relpath::RelPath;
use crate::slice::Slice;

/// What a walk descends and reports. The default is everything below, without following links.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Follows links inside trees. Links that the user named are followed in any case.
    pub follow_links: bool,
    /// Does not descend directories on another file system than their root.
    pub one_file_system: bool,
    /// How deep to go: 0 is the root alone (nothing, if it is a directory), 1 takes the files
    /// directly in it.
    pub max_depth: Option<usize>,
    /// Which names are reported.
    pub filter: Filter,
    /// Files that are never reported.
    pub leave_out: LeaveOut,
    /// Reports only this part of the names, and everything that could not be looked at: what lies
    /// behind that may belong to any part.
    pub slice: Option<Slice>,
}

impl Options {
    fn is_in_slice(&self, found: &Found) -> bool {
        let failed = matches!(found.kind, FoundKind::Failed(_));
        failed || self.slice.is_none_or(|slice| slice.holds(&found.name))
    }
}

/// Walks the inputs one after the other.
///
/// Inputs are taken when their turn comes, so they may come from a pipe. See the
/// [module](crate::walk) for order, overlaps and errors.
///
/// * In a tree, regular files are [`FoundKind::File`]; links (unless followed), pipes, sockets and
///   devices are [`FoundKind::Special`]. Directories are not reported.
/// * An input that is a pipe, socket or device is a [`FoundKind::Stream`].
/// * Where links are followed, a dangling link and a link that leads back to a directory above it
///   are [`FoundKind::Failed`].
///
/// Memory: one directory listing for each level of the tree, and the path of each input.
///
/// # Examples
///
/// ```
/// use multisum::walk::{Input, Options, Root, walk};
/// let dir = tempfile::tempdir()?;
/// std::fs::create_dir(dir.path().join("a"))?;
/// std::fs::write(dir.path().join("a/b"), "")?;
/// std::fs::write(dir.path().join("a.txt"), "")?;
///
/// let inputs = [Input::Path(Root::relative(dir.path()))];
/// let names: Vec<_> = walk(inputs, Options::default()).map(|found| found.name.to_string()).collect();
/// assert_eq!(names, ["a/b", "a.txt"]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn walk<I: IntoIterator<Item = Input>>(inputs: I, options: Options) -> Walk<I::IntoIter> {
    Walk {
        inputs: inputs.into_iter().fuse(),
        options,
        earlier: Earlier::default(),
        stdin_seen: false,
        tree: None,
    }
}

/// What inputs lead to; made by [`walk`].
#[derive(Debug)]
pub struct Walk<I> {
    inputs: std::iter::Fuse<I>,
    options: Options,
    earlier: Earlier,
    stdin_seen: bool,
    tree: Option<Tree>,
}

impl<I: Iterator<Item = Input>> Iterator for Walk<I> {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        loop {
            let found = self.next_of_any_slice()?;
            if self.options.is_in_slice(&found) {
                return Some(found);
            }
        }
    }
}

impl<I: Iterator<Item = Input>> FusedIterator for Walk<I> {}

impl<I: Iterator<Item = Input>> Walk<I> {
    fn next_of_any_slice(&mut self) -> Option<Found> {
        loop {
            if let Some(tree) = &mut self.tree {
                if let Some(found) = tree.next(&self.options) {
                    return Some(found);
                }
                self.tree = None;
            }
            let found = match self.inputs.next()? {
                Input::Path(root) => self.start(root),
                Input::Stdin => self.stdin(),
                Input::Failed { name, error } => Some(Found {
                    name,
                    path: error.path().to_path_buf().into(),
                    kind: FoundKind::Failed(error),
                    through_link: false,
                }),
            };
            if found.is_some() {
                return found;
            }
        }
    }
}

impl<I> Walk<I> {
    /// Standard input can be read only once.
    fn stdin(&mut self) -> Option<Found> {
        let first = !std::mem::replace(&mut self.stdin_seen, true);
        first.then(|| Found {
            name: RelPath::from("-"),
            path: PathBuf::new().into(),
            kind: FoundKind::Stdin,
            through_link: false,
        })
    }

    fn start(&mut self, root: Root) -> Option<Found> {
        let here = Path::new("");
        let overlap = self.earlier.overlap(&root.path, &self.options);
        let (kind, through_link) = match look(&root.path) {
            Ok((file_type, _)) if file_type.is_dir() => {
                self.earlier.add(&root.path, Walked::Tree);
                if !overlap.covers_tree(here, &self.options) {
                    self.tree = Some(Tree::new(root, overlap, &self.options));
                }
                return None;
            }
            Ok((file_type, through_link)) => (kind_of_root(file_type), through_link),
            Err(error) => (
                FoundKind::Failed(FileError::new(Operation::Stat, &root.path, error)),
                false,
            ),
        };
        if !self.reports(&root.path, &kind) || overlap.covers(here, false, &self.options) {
            return None;
        }
        self.earlier.add(&root.path, Walked::Single);
        Some(Found {
            name: root.name_of(here),
            path: root.path.into(),
            kind,
            through_link,
        })
    }

    fn reports(&self, path: &Path, kind: &FoundKind) -> bool {
        let wanted = path
            .file_name()
            .is_none_or(|name| self.options.filter.reports(Path::new(name)));
        match kind {
            FoundKind::Failed(_) => true,
            FoundKind::File => wanted && !self.options.leave_out.holds_path(path),
            _ => wanted,
        }
    }
}

/// The kind of what lies at `path`, and whether a link leads there.
pub(super) fn look(path: &Path) -> io::Result<(FileType, bool)> {
    let file_type = fs::symlink_metadata(path)?.file_type();
    if file_type.is_symlink() {
        Ok((fs::metadata(path)?.file_type(), true))
    } else {
        Ok((file_type, false))
    }
}

fn kind_of_root(file_type: FileType) -> FoundKind {
    if file_type.is_file() {
        FoundKind::File
    } else {
        FoundKind::Stream
    }
}

/// What a thing in a tree is, once it is known to be no directory.
pub(super) fn kind_in_tree(file_type: FileType) -> FoundKind {
    if file_type.is_file() {
        FoundKind::File
    } else if file_type.is_symlink() {
        FoundKind::Special(Special::Link)
    } else {
        FoundKind::Special(special(file_type))
    }
}

#[cfg(unix)]
fn special(file_type: FileType) -> Special {
    use std::os::unix::fs::FileTypeExt;
    if file_type.is_fifo() {
        Special::Fifo
    } else if file_type.is_socket() {
        Special::Socket
    } else if file_type.is_block_device() || file_type.is_char_device() {
        Special::Device
    } else {
        Special::Other
    }
}

#[cfg(not(unix))]
fn special(_file_type: FileType) -> Special {
    Special::Other
}
