//! Files that are not listed, and listed ones that have moved.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::engine::{self, Cancel, Hashed, Job, Links, Outcome, Source, Task};
use crate::error::Error;
use crate::event::{Event, Sink, Verdict};
use crate::location::Location;
use crate::manifest::Kind;
use crate::relpath::RelPath;
use crate::walk::{self, Found, FoundKind};

use super::super::asides::Asides;
use super::super::journal::{self, Journal, Keyed};
use super::super::moves::Wanted;
use super::listed::Listed;
use super::search::Search;

/// Something under a base that no list names.
#[derive(Debug)]
pub(super) struct Stray {
    name: RelPath,
    path: Location,
    /// What to do if the path is a link: only one that the walk has followed may lead on.
    links: Links,
    finding: Finding,
}

impl Keyed for Stray {
    fn key(&self) -> Option<Cow<'_, RelPath>> {
        Some(Cow::Owned(RelPath::from_path(&self.path)))
    }
}

#[derive(Debug)]
enum Finding {
    Unread,
    Read(Box<Hashed>),
    Bad(Box<Verdict>),
    Skipped(walk::Special),
}

impl Stray {
    pub(super) fn new(found: Found) -> Self {
        let finding = match found.kind {
            FoundKind::Special(kind) => Finding::Skipped(kind),
            FoundKind::Failed(error) => Finding::Bad(Box::new(Verdict::Unreadable(error))),
            FoundKind::File | FoundKind::Stream | FoundKind::Stdin => Finding::Unread,
        };
        Self {
            name: found.name,
            path: found.path,
            links: Links::follow_if(found.through_link),
            finding,
        }
    }

    fn is_unread(&self) -> bool {
        matches!(self.finding, Finding::Unread)
    }
}

/// What the searches find at places that are not known yet, and then are: bases may overlap, and
/// what one list names is not new to another.
pub(super) fn strays(
    searches: Vec<Search>,
    known: &mut HashSet<PathBuf>,
    cancel: &Cancel,
) -> Result<Vec<Stray>, Error> {
    let mut strays = Vec::new();
    for search in searches {
        let placed = search.place.clone();
        for found in search.found() {
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let place = placed.place(&found.name);
            if place.is_none_or(|place| known.insert(place)) {
                strays.push(Stray::new(found));
            }
        }
    }
    Ok(strays)
}

/// Tells `sink` of the entries in `missing` (as missing or moved, in their order) and of the strays
/// (in theirs).
pub(super) fn settle(
    missing: &[Listed],
    strays: Vec<Stray>,
    engine: &engine::Options,
    journal: Option<&mut Journal>,
    sink: &mut dyn Sink,
    asides: &mut Asides,
) -> Result<(), Error> {
    let mut gone = Missing::new(missing);
    let strays = gone.read(strays, engine, journal, asides)?;
    let (mut moved, strays) = gone.pair(strays);
    for (index, entry) in missing.iter().enumerate() {
        let to = moved.remove(&index);
        let verdict = to.map_or(Verdict::Missing, |to| Verdict::Moved { to });
        sink.event(Event::Verdict {
            name: &entry.name,
            verdict: &verdict,
        })
        .map_err(Error::Output)?;
    }
    for stray in strays {
        let name = &stray.name;
        let event = match &stray.finding {
            Finding::Unread | Finding::Read(_) => Event::Verdict {
                name,
                verdict: &Verdict::New,
            },
            Finding::Bad(verdict) => Event::Verdict { name, verdict },
            Finding::Skipped(kind) => Event::Skipped { name, kind: *kind },
        };
        sink.event(event).map_err(Error::Output)?;
    }
    Ok(())
}

/// The entries that are not there, by what they must contain, and the sizes that are worth a look.
#[derive(Default)]
struct Missing {
    wanted: Wanted,
    sizes: Sizes,
}

#[derive(Default)]
struct Sizes {
    known: HashSet<u64>,
    /// An entry may have any size, since none is recorded.
    any: bool,
}

impl Sizes {
    /// Whether a stray of that size may be what is wanted. Empty files are not read: one empty file
    /// is like any other, so it cannot be said to have moved.
    fn hold(&self, size: u64) -> bool {
        size > 0 && (self.any || self.known.contains(&size))
    }
}

impl Missing {
    /// Only a file with digests that can all be computed may be found again.
    fn new(missing: &[Listed]) -> Self {
        let mut gone = Self::default();
        for (index, entry) in missing.iter().enumerate() {
            let digests: Vec<Digest> = entry.known().copied().collect();
            let size = entry.size();
            let is_file = *entry.kind() == Kind::File && entry.unsupported().is_none();
            if !is_file || digests.is_empty() || size == Some(0) {
                continue;
            }
            match size {
                Some(size) => drop(gone.sizes.known.insert(size)),
                None => gone.sizes.any = true,
            }
            gone.wanted.add(index, digests, size);
        }
        gone
    }

    /// Reads the strays that may be what is wanted, by their sizes.
    fn read(
        &mut self,
        strays: Vec<Stray>,
        engine: &engine::Options,
        journal: Option<&mut Journal>,
        asides: &mut Asides,
    ) -> Result<Vec<Stray>, Error> {
        let all = self.wanted.algorithms();
        if all.is_empty() {
            return Ok(strays);
        }
        let algorithms: Arc<[Algorithm]> = all.into_iter().collect();
        let sizes = std::mem::take(&mut self.sizes);
        let jobs = strays.into_iter().map(move |stray| {
            let fits = || size_of(&stray).is_none_or(|size| sizes.hold(size));
            let task = (stray.is_unread() && fits()).then(|| {
                let source = Source::File {
                    path: stray.path.clone(),
                    links: stray.links,
                };
                Task::new(source, Arc::clone(&algorithms))
            });
            Job { token: stray, task }
        });
        let mut read = Vec::new();
        journal::run(jobs, journal, engine, &mut |mut stray, outcome| {
            asides.count(outcome.as_ref());
            let bad = |verdict| Finding::Bad(Box::new(verdict));
            match outcome {
                Some(Outcome::Hashed(hashed)) => stray.finding = Finding::Read(Box::new(hashed)),
                Some(Outcome::Failed(error)) => stray.finding = bad(Verdict::Unreadable(error)),
                Some(Outcome::Unstable(how)) => stray.finding = bad(Verdict::Unstable(how)),
                Some(Outcome::Unread(_)) | None => {}
            }
            read.push(stray);
            Ok(())
        })?;
        Ok(read)
    }

    /// Pairs each wanted entry with at most one stray of the same content. Gives the names that
    /// entries moved to, and the strays that are left.
    fn pair(mut self, strays: Vec<Stray>) -> (HashMap<usize, RelPath>, Vec<Stray>) {
        let mut moved = HashMap::new();
        let mut left = Vec::new();
        for stray in strays {
            match self.claim(&stray) {
                Some(index) => {
                    moved.insert(index, stray.name);
                }
                None => left.push(stray),
            }
        }
        (moved, left)
    }

    fn claim(&mut self, stray: &Stray) -> Option<usize> {
        let Finding::Read(hashed) = &stray.finding else {
            return None;
        };
        self.wanted.claim(&hashed.digests, hashed.size)
    }
}

/// `None` if it cannot be said; whoever reads it will say why.
fn size_of(stray: &Stray) -> Option<u64> {
    let metadata = stray.path.metadata(stray.links.follows());
    Some(metadata.ok()?.len())
}
