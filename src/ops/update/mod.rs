//! A manifest and the tree that it lists, brought to agree again by reading only what may have
//! changed.

mod decide;
mod join;
mod moves;
mod order;
mod renewal;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::algorithm::Algorithm;
use crate::engine::{self, Hashed, Outcome};
use crate::error::Error;
use crate::event::{Event, Sink, Unverified, Verdict};
use crate::manifest::{Entry, GapKind};
use crate::relpath::RelPath;
use crate::timestamp::{Modified, Timestamp};
use crate::walk::Found;

use super::asides::{Asides, Before};
use super::journal::{self, Journal, Keyed};
use super::{Item, Items};
use decide::{Stands, judge};
use join::{Join, Place};
use moves::Fresh;

pub use order::WalkOrder;
pub use renewal::{Renewal, RenewalError, recorded_at, without};

/// Seconds before a manifest's time in which a file may have been written to although its own time
/// is earlier: the steps in which the coarsest file system (FAT) keeps times.
const CLOCK_STEP_SECONDS: i64 = 2;

/// How a manifest is brought up to date.
#[derive(Clone, Debug)]
pub struct UpdateOptions {
    /// The algorithms of every entry, in the order of the manifest.
    pub algorithms: Vec<Algorithm>,
    /// The moment of which everything in the manifest is true, see [`recorded_at`]. Without one
    /// everything is read.
    pub recorded_at: Option<Timestamp>,
    /// The folder that names are relative to.
    pub base: PathBuf,
    /// The order in which the walk meets names.
    pub order: WalkOrder,
    /// Whether links that are listed are read although the walk does not follow links.
    pub through_links: bool,
    /// Whether nothing is walked, so that whatever is listed is looked for by its name.
    pub only_listed: bool,
    /// The names of the folders that were walked, as far as the manifest records them: of one that
    /// holds no file any more nothing is dropped.
    pub roots: Vec<RelPath>,
    /// Drops the entries of files that are gone.
    pub prune: bool,
}

/// Takes the entries of the new manifest, in the order of the walk.
pub trait Ledger {
    /// An entry.
    fn entry(&mut self, entry: &Entry<'_>) -> io::Result<()>;
    /// A file that is known and could not be hashed.
    fn gap(&mut self, name: &RelPath, kind: GapKind) -> io::Result<()>;
}

/// What an update did, beside its verdicts.
#[derive(Debug, Default)]
pub struct Updated {
    /// Files that were found, whatever came of them.
    pub found: u64,
    /// Files that were read to their end.
    pub read: u64,
    /// Bytes that were read of them.
    pub bytes: u64,
    /// What was not read, since an earlier run that was stopped had read it.
    pub before: Before,
    /// Entries of files that are gone, and were left out of the ledger.
    pub pruned: u64,
    /// A recorded folder of which entries were to be dropped though not one file is in it. Nothing was
    /// told of what is gone, and the ledger must not be used.
    pub deserted: Option<RelPath>,
    /// Files that do not agree with their entries though nobody seems to have written to them; the
    /// entries were kept.
    pub damaged: u64,
    /// Files that were not read although no modification time is recorded of them.
    pub by_date: u64,
    /// Names in the ledger that must not stay there, since the files have moved.
    pub moved_away: BTreeSet<RelPath>,
    /// Entries were kept that nobody could compare with their files, or that do not agree with them:
    /// the new manifest is not true of a later moment than the old one.
    pub unconfirmed: bool,
}

/// Hashes what `found` and `items` do not prove unchanged, gives the entries of the new manifest to
/// `ledger`, and tells `sink` of every listed name and every new file once.
///
/// A file is not read if size and modification time are as recorded, as far as the manifest records
/// them, and neither modification nor status change is later than `options.recorded_at` less two
/// seconds. A file that nobody seems to have written to and that has other contents keeps its entry;
/// so does one that is listed and that `found` does not give. Names whose files are gone, and files
/// that are not listed, are told last, since they may turn out to belong together. If not a single
/// file is found, they are not told: the tree is not what it was, and the caller does well to refuse.
///
/// # Memory
///
/// Beside what `items` takes, about 200 bytes for each file that is new or gone.
///
/// # Errors
///
/// Those of [`engine::run`], of `items`, and [`Error::Output`] if `ledger` refuses an entry. Whatever
/// concerns a single name is a verdict.
pub fn update(
    found: impl Iterator<Item = Found> + Send + 'static,
    items: Items,
    options: &UpdateOptions,
    engine: &engine::Options,
    ledger: &mut dyn Ledger,
    sink: &mut dyn Sink,
) -> Result<Updated, Error> {
    update_journalled(found, items, options, engine, None, ledger, sink)
}

/// As [`update`], and keeps `journal` up with it. What an earlier run has left there and is still true is
/// not read again, and judged as if it had been.
///
/// # Errors
///
/// Those of [`update`], and [`Error::File`] if the journal cannot be written.
pub fn update_journalled(
    found: impl Iterator<Item = Found> + Send + 'static,
    items: Items,
    options: &UpdateOptions,
    engine: &engine::Options,
    journal: Option<&mut Journal>,
    ledger: &mut dyn Ledger,
    sink: &mut dyn Sink,
) -> Result<Updated, Error> {
    let items = options.order.arrange(items)?;
    let since = options.recorded_at;
    let since = since.and_then(|moment| moment.plus_seconds(-CLOCK_STEP_SECONDS));
    let jobs = Join {
        walk: found.peekable(),
        items: items.peekable(),
        order: options.order.clone(),
        algorithms: Arc::from(&*options.algorithms),
        since,
        base: options.base.clone(),
        through_links: options.through_links,
        only_listed: options.only_listed,
        blocked: Vec::new(),
    };
    let mut run = Run {
        ledger,
        sink,
        prune: options.prune,
        since,
        roots: Roots::new(&options.roots),
        asides: Asides::default(),
        updated: Updated::default(),
        gone: Vec::new(),
        fresh: Vec::new(),
        broken: None,
    };
    let ended = journal::run(jobs, journal, engine, &mut |place, outcome| {
        run.asides.count(outcome.as_ref());
        run.settle(place, outcome)
    });
    run.broken.take().map_or(Ok(()), Err)?;
    ended?;
    if run.updated.found == 0 {
        return Ok(run.updated);
    }
    run.updated.before = run.asides.before;
    run.updated.deserted = run.roots.deserted().filter(|_| options.prune);
    if run.updated.deserted.is_some() {
        return Ok(run.updated);
    }
    run.finish().map_err(Error::Output)
}

impl Keyed for Place {
    fn key(&self) -> Option<Cow<'_, RelPath>> {
        match self {
            Self::Found { name, .. } => Some(Cow::Borrowed(name)),
            _ => None,
        }
    }
}

struct Run<'r> {
    ledger: &'r mut dyn Ledger,
    sink: &'r mut dyn Sink,
    prune: bool,
    since: Option<Timestamp>,
    roots: Roots,
    asides: Asides,
    updated: Updated,
    gone: Vec<Item>,
    fresh: Vec<Fresh>,
    /// Why the run cannot go on; the engine only learns that it has to stop.
    broken: Option<Error>,
}

impl Run<'_> {
    fn settle(&mut self, place: Place, outcome: Option<Outcome>) -> io::Result<()> {
        match place {
            Place::Found { name, item } => {
                self.updated.found += 1;
                self.roots.holds(&name);
                self.found(name, item, outcome)
            }
            Place::Failed { name, error, item } => {
                self.updated.found += u64::from(item.is_some());
                self.roots.holds(&name);
                let verdict = Verdict::Unreadable(error);
                self.keep_or_gap(&name, item.as_deref(), GapKind::Unreadable, &verdict)
            }
            Place::Skipped(name, kind) => {
                let name = &name;
                self.sink.event(Event::Skipped { name, kind })
            }
            Place::Blocked(item, error) => {
                let (name, verdict) = (item.name.clone(), Verdict::Unreadable(error));
                self.keep_or_gap(&name, Some(&item), GapKind::Unreadable, &verdict)
            }
            Place::LeftOut(item) => {
                self.updated.unconfirmed = true;
                self.keep(&item)?;
                self.roots.holds(&item.name.normalised());
                let verdict = Verdict::Unverified(Unverified::NotWalked);
                self.tell(&item.name, &verdict)
            }
            Place::Gone(item) => self.is_gone(*item),
            Place::Broken(error) => {
                self.broken = Some(error);
                Err(io::ErrorKind::Interrupted.into())
            }
        }
    }

    fn found(
        &mut self,
        name: RelPath,
        item: Option<Box<Item>>,
        outcome: Option<Outcome>,
    ) -> io::Result<()> {
        match (outcome, item) {
            (Some(Outcome::Hashed(hashed)), item) => {
                self.updated.read += u64::from(!hashed.is_from_before());
                self.updated.bytes = self.updated.bytes.saturating_add(hashed.read_now());
                match item {
                    Some(item) => self.compare(&name, &item, &hashed),
                    None => {
                        self.take(&name, &hashed)?;
                        self.fresh.push(Fresh::new(name, &hashed));
                        Ok(())
                    }
                }
            }
            (Some(Outcome::Unread(_)), Some(item)) => {
                self.updated.by_date += u64::from(item.modified.is_none());
                self.keep(&item)?;
                self.tell(&name, &Verdict::Unread)
            }
            (Some(Outcome::Failed(error)), Some(item)) if error.is_missing() => self.is_gone(*item),
            (Some(Outcome::Failed(error)), item) => {
                let verdict = Verdict::Unreadable(error);
                self.keep_or_gap(&name, item.as_deref(), GapKind::Unreadable, &verdict)
            }
            (Some(Outcome::Unstable(how)), item) => {
                let verdict = Verdict::Unstable(how);
                self.keep_or_gap(&name, item.as_deref(), GapKind::Unstable, &verdict)
            }
            // Every file that is found has a task, and only what is listed may stay unread.
            (Some(Outcome::Unread(_)) | None, _) => Err(io::Error::other("no outcome")),
        }
    }

    fn compare(&mut self, name: &RelPath, item: &Item, hashed: &Hashed) -> io::Result<()> {
        let (verdict, stands) = judge(item, hashed, self.since);
        match stands {
            Stands::New => self.take(name, hashed)?,
            Stands::Old => {
                self.updated.unconfirmed = true;
                self.updated.damaged += 1;
                self.keep(item)?;
            }
        }
        self.tell(name, &verdict)
    }

    /// Writes what was read.
    fn take(&mut self, name: &RelPath, hashed: &Hashed) -> io::Result<()> {
        let modified = hashed.modified.and_then(Timestamp::from_system);
        self.ledger.entry(&Entry {
            name,
            digests: &hashed.digests,
            size: Some(hashed.size),
            modified: modified.map(Modified::exactly),
        })
    }

    /// Writes what was recorded.
    fn keep(&mut self, item: &Item) -> io::Result<()> {
        let name = &*item.name.normalised();
        // Of things that contradict each other none is written: the seal would be on one of them.
        let unusable = item.trouble.as_ref().map(|_| GapKind::Unreadable);
        if let Some(kind) = item.gap.or(unusable) {
            self.ledger.gap(name, kind)?;
        }
        if unusable.is_some() {
            return Ok(());
        }
        if item.digests.is_empty() {
            return Ok(());
        }
        self.ledger.entry(&Entry {
            name,
            ..item.entry()
        })
    }

    /// Keeps what was recorded of a file that cannot be hashed now, or else that it is there.
    fn keep_or_gap(
        &mut self,
        name: &RelPath,
        item: Option<&Item>,
        kind: GapKind,
        verdict: &Verdict,
    ) -> io::Result<()> {
        self.updated.unconfirmed |= item.is_some();
        match item.filter(|item| !item.digests.is_empty()) {
            Some(item) => self.keep(item)?,
            None => self.ledger.gap(name, kind)?,
        }
        self.tell(name, verdict)
    }

    fn is_gone(&mut self, item: Item) -> io::Result<()> {
        // That it could not be hashed is no loss any more.
        if item.digests.is_empty() {
            return Ok(());
        }
        self.roots.lacks(&item.name.normalised());
        if self.prune {
            self.updated.pruned += 1;
        } else {
            self.keep(&item)?;
        }
        self.gone.push(item);
        Ok(())
    }

    fn tell(&mut self, name: &RelPath, verdict: &Verdict) -> io::Result<()> {
        self.sink.event(Event::Verdict { name, verdict })
    }

    /// Tells of what is gone, has moved or is new.
    fn finish(mut self) -> io::Result<Updated> {
        let gone = std::mem::take(&mut self.gone);
        let fresh = std::mem::take(&mut self.fresh);
        let (gone, new) = moves::pair(gone, fresh);
        for (item, to) in gone {
            let Some(to) = to else {
                self.updated.unconfirmed |= !self.prune;
                self.tell(&item.name, &Verdict::Missing)?;
                continue;
            };
            match self.prune {
                true => self.updated.pruned -= 1,
                false => {
                    let name = item.name.normalised().into_owned();
                    self.updated.moved_away.insert(name);
                }
            }
            self.tell(&item.name, &Verdict::Moved { to })?;
        }
        for name in new {
            self.tell(&name, &Verdict::New)?;
        }
        self.asides.tell(self.sink)?;
        Ok(self.updated)
    }
}

/// Which of the recorded folders hold files, and of which files are gone.
#[derive(Default)]
struct Roots(HashMap<Vec<u8>, Root>);

#[derive(Default)]
struct Root {
    holds: bool,
    lacks: bool,
}

impl Roots {
    fn new(names: &[RelPath]) -> Self {
        let names = names.iter().map(|name| name.as_bytes().to_vec());
        Self(names.map(|name| (name, Root::default())).collect())
    }

    fn holds(&mut self, name: &RelPath) {
        self.around(name, |root| root.holds = true);
    }

    fn lacks(&mut self, name: &RelPath) {
        self.around(name, |root| root.lacks = true);
    }

    /// A file that was itself named lies in no recorded folder.
    fn around(&mut self, name: &RelPath, mark: impl Fn(&mut Root)) {
        let bytes = name.as_bytes();
        for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
            if let Some(root) = self.0.get_mut(&bytes[..at]) {
                mark(root);
            }
        }
    }

    fn deserted(&self) -> Option<RelPath> {
        let deserted = self.0.iter().filter(|(_, root)| root.lacks && !root.holds);
        let first = deserted.map(|(name, _)| name).min();
        first.map(|name| RelPath::from_bytes(name.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_folder_that_lost_all_of_its_files_is_deserted() {
        let mut roots = Roots::new(&["a", "b", "f", "a.x"].map(RelPath::from));
        roots.lacks(&"a/1".into());
        roots.lacks(&"f".into());
        roots.holds(&"a.x/1".into());
        assert_eq!(roots.deserted(), Some("a".into()));
        roots.holds(&"a/d/2".into());
        assert_eq!(roots.deserted(), None);
    }
}
