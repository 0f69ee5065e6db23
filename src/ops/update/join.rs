//! The walk and the manifest side by side.

use std::cmp::Ordering;
use std::io;
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::algorithm::Algorithm;
use crate::engine::{Job, Links, Source, Task};
use crate::error::{Error, FileError, Operation};
use crate::relpath::RelPath;
use crate::timestamp::Timestamp;
use crate::walk::{Found, FoundKind, Special};

use super::super::Item;
use super::decide::known;
use super::order::{ItemIter, WalkOrder, is_at_or_below};

/// What is known of one name before its file is looked at.
pub(super) enum Place {
    /// It was found, and may be listed.
    Found {
        name: RelPath,
        item: Option<Box<Item>>,
    },
    /// It was found and could not be looked at, or is a folder that could not be listed.
    Failed {
        name: RelPath,
        error: FileError,
        item: Option<Box<Item>>,
    },
    /// It is not listed and never opened.
    Skipped(RelPath, Special),
    /// It is listed and lies where the walk could not come.
    Blocked(Box<Item>, FileError),
    /// It is listed and there, and the walk was not to come to it.
    LeftOut(Box<Item>),
    /// It is listed and not there.
    Gone(Box<Item>),
    /// The manifest cannot be read to its end, or cannot be brought up to date.
    Broken(Error),
}

/// Merges the two, which stand in the same order, into the jobs of a run.
pub(super) struct Join<W: Iterator<Item = Found>> {
    pub(super) walk: Peekable<W>,
    pub(super) items: Peekable<ItemIter>,
    pub(super) order: WalkOrder,
    pub(super) algorithms: Arc<[Algorithm]>,
    /// Files touched at this moment or later are read.
    pub(super) since: Option<Timestamp>,
    pub(super) base: PathBuf,
    /// Links that are listed are followed, since the manifest does not say that they were not.
    pub(super) through_links: bool,
    /// Nothing is walked, and whatever is listed is looked for.
    pub(super) only_listed: bool,
    /// The folders around the present name that could not be listed.
    pub(super) blocked: Vec<(RelPath, FileError)>,
}

impl<W: Iterator<Item = Found>> Iterator for Join<W> {
    type Item = Job<Place>;

    fn next(&mut self) -> Option<Self::Item> {
        let first = match (self.walk.peek(), self.items.peek()) {
            (None, None) => return None,
            (_, Some(Err(_))) | (None, Some(Ok(_))) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(found), Some(Ok(item))) => {
                self.order.compare(&found.name, &item.name.normalised())
            }
        };
        if first == Ordering::Less {
            let found = self.walk.next()?;
            return Some(self.found(found, None));
        }
        let item = match self.items.next()? {
            Ok(item) => Box::new(item),
            Err(error) => return Some(without_task(Place::Broken(error))),
        };
        if first == Ordering::Equal {
            let found = self.walk.next()?;
            return Some(self.found(found, Some(item)));
        }
        Some(self.not_found(item))
    }
}

impl<W: Iterator<Item = Found>> Join<W> {
    fn found(&mut self, found: Found, item: Option<Box<Item>>) -> Job<Place> {
        let Found {
            name,
            path,
            kind,
            through_link,
        } = found;
        let links = Links::follow_if(through_link);
        let source = match kind {
            FoundKind::File => Source::File { path, links },
            FoundKind::Stream => Source::Stream(path.into_path()),
            FoundKind::Stdin => Source::Stdin,
            FoundKind::Special(kind) => match item {
                None => return without_task(Place::Skipped(name, kind)),
                Some(_) if self.through_links && path.is_file() => Source::File {
                    path,
                    links: Links::Follow,
                },
                // What is no file any more is gone as a file.
                Some(item) => return without_task(Place::Gone(item)),
            },
            FoundKind::Failed(error) => return without_task(self.failed(name, error, item)),
        };
        self.look_at(name, source, item)
    }

    fn look_at(&self, name: RelPath, source: Source, item: Option<Box<Item>>) -> Job<Place> {
        let mut known = item
            .as_ref()
            .and_then(|item| known(item, &self.algorithms, self.since));
        // A link may lead to another file than before, which nobody had to touch.
        if let Source::File {
            links: Links::Follow,
            ..
        } = source
        {
            known = known.filter(|known| known.modified.is_some());
        }
        Job {
            token: Place::Found { name, item },
            task: Some(Task {
                known,
                ..Task::new(source, Arc::clone(&self.algorithms))
            }),
        }
    }

    fn failed(&mut self, name: RelPath, error: FileError, item: Option<Box<Item>>) -> Place {
        match item {
            Some(item) if error.is_missing() => return Place::Gone(item),
            _ => {}
        }
        // Nobody knows whether it is a folder; a file has nothing below it.
        self.blocked
            .retain(|(folder, _)| is_at_or_below(&name, folder));
        self.blocked.push((name.clone(), again(&error)));
        Place::Failed { name, error, item }
    }

    fn not_found(&self, item: Box<Item>) -> Job<Place> {
        let mut blocked = self.blocked.iter();
        if let Some((_, error)) = blocked.find(|(folder, _)| is_at_or_below(&item.name, folder)) {
            return without_task(Place::Blocked(item, again(error)));
        }
        let leaves = item.name.components().any(|part| part == b"..");
        let path = item.name.to_path();
        let Some(path) = path.filter(|_| !leaves && !item.name.is_absolute()) else {
            let outside = io::Error::other("it is listed and leads out of the base");
            let path = self.base.join(item.name.to_path().unwrap_or_default());
            let broken = FileError::new(Operation::Stat, path, outside);
            return without_task(Place::Broken(broken.into()));
        };
        let path = self.base.join(path);
        let links = match self.through_links || self.only_listed {
            true => Links::Follow,
            false => Links::Refuse,
        };
        let status = match links {
            Links::Follow => path.metadata(),
            Links::Refuse => path.symlink_metadata(),
        };
        match status {
            Ok(there) if !there.is_file() => without_task(Place::Gone(item)),
            Ok(_) if self.only_listed || (self.through_links && self.is_behind_link(&path)) => {
                let name = item.name.normalised().into_owned();
                self.look_at(
                    name,
                    Source::File {
                        path: path.into(),
                        links,
                    },
                    Some(item),
                )
            }
            Ok(_) => without_task(Place::LeftOut(item)),
            Err(error) => {
                let error = FileError::new(Operation::Stat, path, error);
                without_task(match error.is_missing() {
                    true => Place::Gone(item),
                    false => Place::Blocked(item, error),
                })
            }
        }
    }

    /// Whether a folder on the way from the base to a file is a link, which no walk goes through
    /// unless it is told to.
    fn is_behind_link(&self, path: &Path) -> bool {
        let folders = path.ancestors().skip(1);
        let mut below = folders.take_while(|folder| *folder != self.base);
        below.any(Path::is_symlink)
    }
}

fn without_task(token: Place) -> Job<Place> {
    Job { token, task: None }
}

/// The same error once more.
fn again(error: &FileError) -> FileError {
    let source = error.io_error();
    let copy = match source.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => source.kind().into(),
    };
    FileError::new(error.operation(), error.path(), copy)
}
