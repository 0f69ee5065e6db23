//! Files that are not listed, and listed ones that have moved.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::engine::{self, Hashed, Job, Links, Outcome, Source, Task};
use crate::error::{Error, FileError};
use crate::event::{Event, Sink, Verdict};
use crate::relpath::RelPath;
use crate::walk::{self, Found, FoundKind, Input, Root};

use super::base::{BaseReason, PlacedBase};
use super::listing::{Listed, Listing};
use super::{ExactScope, VerifyOptions};

/// Walks every base and tells `sink` of the entries in `missing` (as missing or moved, in the order
/// of the lists) and of the files that are not listed (in the order of the walk).
pub(super) fn search(
    listing: &Listing,
    missing: Vec<usize>,
    options: &VerifyOptions,
    engine: &engine::Options,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    let bases: Vec<PlacedBase> = listing.bases().into_iter().map(PlacedBase::new).collect();
    let scopes = scopes(listing, options);
    // Bases may overlap: what one list names is not new to another, and is met more than once.
    let mut known = places(listing, &bases);
    let mut strays = Vec::new();
    for (base, scope) in &scopes {
        strays.extend(strays_under(base, scope, &mut known, options, engine)?);
    }
    let wanted = Wanted::new(listing, missing);
    let strays = wanted.hash_strays(strays, engine)?;
    let (moves, strays) = wanted.pair(strays);
    for (index, to) in moves {
        let name = &listing.entries[index].name;
        let verdict = to.map_or(Verdict::Missing, |to| Verdict::Moved { to });
        sink.event(Event::Verdict {
            name,
            verdict: &verdict,
        })
        .map_err(Error::Output)?;
    }
    for stray in strays {
        let name = &stray.name;
        match stray.finding {
            Finding::Unread | Finding::Read(_) => sink.event(Event::Verdict {
                name,
                verdict: &Verdict::New,
            }),
            Finding::Bad(verdict) => sink.event(Event::Verdict {
                name,
                verdict: &verdict,
            }),
            Finding::Skipped(kind) => sink.event(Event::Skipped { name, kind }),
        }
        .map_err(Error::Output)?;
    }
    Ok(())
}

/// Something under a base that no list names.
struct Stray {
    name: RelPath,
    path: PathBuf,
    finding: Finding,
}

enum Finding {
    Unread,
    Read(Hashed),
    Bad(Verdict),
    Skipped(walk::Special),
}

/// Where every listed name leads.
fn places(listing: &Listing, bases: &[PlacedBase]) -> HashSet<PathBuf> {
    let place = |entry| {
        let base = listing.base_of(entry);
        let placed = bases.iter().find(|placed| placed.base == *base)?;
        placed.place(entry.target())
    };
    listing.entries.iter().filter_map(place).collect()
}

/// Every base that is to hold nothing but listed files, and where in it.
fn scopes(listing: &Listing, options: &VerifyOptions) -> Vec<(PlacedBase, ExactScope)> {
    let mut scopes: Vec<(PlacedBase, ExactScope)> = Vec::new();
    for source in &listing.sources {
        let base = || PlacedBase::new(source.base.clone());
        if let Some(scope) = &source.exact {
            scopes.push((base(), scope.clone()));
        } else if options.exact && scopes.iter().all(|(placed, _)| placed.base != source.base) {
            scopes.push((base(), ExactScope::default()));
        }
    }
    scopes
}

/// What is found under a base at a place that is not known yet, and then is.
fn strays_under(
    placed: &PlacedBase,
    scope: &ExactScope,
    known: &mut HashSet<PathBuf>,
    options: &VerifyOptions,
    engine: &engine::Options,
) -> Result<Vec<Stray>, Error> {
    let base = &placed.base;
    let below = scope.below.to_path().unwrap_or_default();
    let folder = base.folder.join(&below);
    let root = match base.reason {
        BaseReason::CommonFolder => Root::as_typed(&folder),
        _ => Root {
            name: scope.below.clone(),
            ..Root::relative(&folder)
        },
    };
    let walk_options = walk::Options {
        leave_out: options.leave_out.clone(),
        filter: scope.filter.clone(),
        ..walk::Options::default()
    };
    let mut strays = Vec::new();
    for found in walk::walk([Input::Path(root)], walk_options) {
        if engine.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        if placed
            .place(&found.name)
            .is_none_or(|place| known.insert(place))
        {
            strays.push(stray(found));
        }
    }
    Ok(strays)
}

fn stray(found: Found) -> Stray {
    let finding = match found.kind {
        FoundKind::Special(kind) => Finding::Skipped(kind),
        FoundKind::Failed(error) => Finding::Bad(Verdict::Unreadable(error)),
        FoundKind::File | FoundKind::Stream | FoundKind::Stdin => Finding::Unread,
    };
    Stray {
        name: found.name,
        path: found.path,
        finding,
    }
}

/// The entries that are not there, by what they must contain.
struct Wanted {
    missing: Vec<usize>,
    by_digests: HashMap<Vec<Digest>, VecDeque<usize>>,
    /// Every set of algorithms that an entry needs.
    algorithm_sets: BTreeSet<Vec<Algorithm>>,
}

impl Wanted {
    fn new(listing: &Listing, missing: Vec<usize>) -> Self {
        let mut by_digests: HashMap<_, VecDeque<usize>> = HashMap::new();
        let mut algorithm_sets = BTreeSet::new();
        for &index in &missing {
            let digests = sorted_digests(&listing.entries[index]);
            algorithm_sets.insert(digests.iter().map(Digest::algorithm).collect());
            by_digests.entry(digests).or_default().push_back(index);
        }
        Self {
            missing,
            by_digests,
            algorithm_sets,
        }
    }

    /// Reads the strays if anything is wanted at all. Empty files are not read: one empty file is
    /// like any other, so it cannot be said to have moved.
    fn hash_strays(
        &self,
        strays: Vec<Stray>,
        engine: &engine::Options,
    ) -> Result<Vec<Stray>, Error> {
        let all: BTreeSet<Algorithm> = self.algorithm_sets.iter().flatten().copied().collect();
        if all.is_empty() {
            return Ok(strays);
        }
        let algorithms: Arc<[Algorithm]> = all.into_iter().collect();
        let jobs = strays.into_iter().map(move |stray| {
            let unread = matches!(stray.finding, Finding::Unread) && !is_empty(&stray);
            let task = unread.then(|| {
                let source = Source::File {
                    path: stray.path.clone(),
                    links: Links::Refuse,
                };
                Task::new(source, Arc::clone(&algorithms))
            });
            Job { token: stray, task }
        });
        let mut read = Vec::new();
        engine::run(jobs, engine, &mut |mut stray, outcome| {
            match outcome {
                Some(Outcome::Hashed(hashed)) => stray.finding = Finding::Read(hashed),
                Some(Outcome::Failed(error)) => stray.finding = unreadable(error),
                Some(Outcome::Unstable(how)) => {
                    stray.finding = Finding::Bad(Verdict::Unstable(how));
                }
                Some(Outcome::Unread(_)) | None => {}
            }
            read.push(stray);
            Ok(())
        })?;
        Ok(read)
    }

    /// Pairs each wanted entry with at most one stray of the same content. Gives every missing
    /// entry with the name it moved to, if any, and the strays that are left.
    fn pair(mut self, strays: Vec<Stray>) -> (Vec<(usize, Option<RelPath>)>, Vec<Stray>) {
        let mut moved: HashMap<usize, RelPath> = HashMap::new();
        let mut left = Vec::new();
        for stray in strays {
            match self.claim(&stray) {
                Some(index) => {
                    moved.insert(index, stray.name);
                }
                None => left.push(stray),
            }
        }
        let moves = self
            .missing
            .into_iter()
            .map(|index| (index, moved.remove(&index)));
        (moves.collect(), left)
    }

    fn claim(&mut self, stray: &Stray) -> Option<usize> {
        let Finding::Read(hashed) = &stray.finding else {
            return None;
        };
        if hashed.size == 0 {
            return None;
        }
        self.algorithm_sets.iter().find_map(|set| {
            let fitting = hashed
                .digests
                .iter()
                .filter(|digest| set.contains(&digest.algorithm()));
            let digests: Vec<Digest> = fitting.copied().collect();
            self.by_digests.get_mut(&digests)?.pop_front()
        })
    }
}

fn unreadable(error: FileError) -> Finding {
    Finding::Bad(Verdict::Unreadable(error))
}

fn is_empty(stray: &Stray) -> bool {
    stray
        .path
        .symlink_metadata()
        .is_ok_and(|metadata| metadata.len() == 0)
}

/// In the order of algorithms, so that entries compare equal whatever order their lines had.
fn sorted_digests(entry: &Listed) -> Vec<Digest> {
    let mut digests: Vec<Digest> = entry.known().copied().collect();
    digests.sort_by_key(Digest::algorithm);
    digests
}
