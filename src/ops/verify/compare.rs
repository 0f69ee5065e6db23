//! Every listed file through the engine, and its digests against the claims.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use crate::algorithm::{Algorithm, Strength};
use crate::engine::{self, Hashed, Job, Links, Outcome, Source, Task};
use crate::error::{Error, FileError};
use crate::event::{Difference, Event, Note, OutcomeWord, Sink, Unverified, Verdict};

use super::super::asides::Asides;
use super::listing::{Listed, Listing};
use super::{Verified, VerifyOptions};

/// What is left to do after the comparison.
pub(super) enum Compared {
    /// Entries that are not there and have not been told, since they may have moved.
    Missing(Vec<usize>),
    /// The first finding ended it.
    Stopped,
}

/// Tells `sink` of every entry in the order of the lists.
pub(super) fn compare(
    listing: &Arc<Listing>,
    options: &VerifyOptions,
    engine: &engine::Options,
    sink: &mut dyn Sink,
    verified: &mut Verified,
) -> Result<Compared, Error> {
    let mut missing = Vec::new();
    let mut tally = Tally::new(listing);
    let mut stopped = false;
    let ended = engine::run(jobs(listing), engine, &mut |index: usize, outcome| {
        let entry = &listing.entries[index];
        tally.seen += 1;
        tally.asides.count(outcome.as_ref());
        let verdict = judge(entry, outcome);
        if matches!(verdict, Verdict::Missing) && options.ignore_missing {
            tally.ignored[entry.source as usize] += 1;
            return Ok(());
        }
        if matches!(verdict, Verdict::Missing) && options.exact && !options.fail_fast {
            missing.push(index);
            return Ok(());
        }
        tally.add(entry, &verdict, verified);
        sink.event(Event::Verdict {
            name: &entry.name,
            verdict: &verdict,
        })?;
        stopped = options.fail_fast && verdict.word() != OutcomeWord::Ok;
        if stopped {
            Err(io::ErrorKind::Interrupted.into())
        } else {
            Ok(())
        }
    });
    match ended {
        Err(Error::Output(_)) if stopped => {
            verified.not_checked = (listing.entries.len() - tally.seen) as u64;
        }
        other => other?,
    }
    tally.tell(listing, sink, verified).map_err(Error::Output)?;
    Ok(if stopped {
        Compared::Stopped
    } else {
        Compared::Missing(missing)
    })
}

/// What adds up over all entries.
struct Tally {
    asides: Asides,
    seen: usize,
    /// For each list how many of its entries were passed over.
    ignored: Vec<u64>,
    compared: u64,
    /// Files that were compared with no algorithm that withstands people, and with which.
    weak_files: u64,
    weak_algorithms: BTreeSet<Algorithm>,
}

impl Tally {
    fn new(listing: &Listing) -> Self {
        Self {
            asides: Asides::default(),
            seen: 0,
            ignored: vec![0; listing.sources.len()],
            compared: 0,
            weak_files: 0,
            weak_algorithms: BTreeSet::new(),
        }
    }

    fn add(&mut self, entry: &Listed, verdict: &Verdict, verified: &mut Verified) {
        if !matches!(verdict, Verdict::Ok { .. } | Verdict::Changed { .. }) {
            return;
        }
        let algorithms = entry.algorithms();
        self.compared += 1;
        if algorithms
            .iter()
            .all(|algorithm| algorithm.strength() < Strength::Strong)
        {
            self.weak_files += 1;
            self.weak_algorithms.extend(&algorithms);
        }
        verified.algorithms.extend(algorithms);
    }

    fn tell(
        &self,
        listing: &Listing,
        sink: &mut dyn Sink,
        verified: &mut Verified,
    ) -> io::Result<()> {
        verified.ignored = self.ignored.iter().sum();
        // Where all files are weakly proved, the summary says so anyway.
        if self.weak_files > 0 && self.weak_files < self.compared {
            let names: Vec<String> = self
                .weak_algorithms
                .iter()
                .map(Algorithm::to_string)
                .collect();
            let (files, algorithms) = (self.weak_files, names.join(", "));
            sink.event(Event::Note(&Note::WeaklyProved { files, algorithms }))?;
        }
        for (source, ignored) in listing.sources.iter().zip(&self.ignored) {
            if source.entries == *ignored {
                verified.idle_lists += 1;
                if listing.sources.len() > 1 {
                    let manifest = source.name.clone();
                    sink.event(Event::Note(&Note::NothingVerified { manifest }))?;
                }
            }
        }
        self.asides.tell(sink)
    }
}

fn jobs(listing: &Arc<Listing>) -> impl Iterator<Item = Job<usize>> + Send + 'static {
    let listing = Arc::clone(listing);
    let mut interned = Interned::default();
    (0..listing.entries.len()).map(move |index| {
        let entry = &listing.entries[index];
        Job {
            token: index,
            task: task(&listing, entry, &mut interned),
        }
    })
}

fn task(listing: &Listing, entry: &Listed, interned: &mut Interned) -> Option<Task> {
    if entry.trouble.is_some() {
        return None;
    }
    // The name that every tool writes for standard input.
    let source = if entry.target().as_bytes() == b"-" {
        Source::Stdin
    } else {
        Source::File {
            path: listing.path_of(entry)?,
            links: Links::Follow,
        }
    };
    Some(Task {
        source,
        algorithms: interned.get(entry.algorithms()),
    })
}

/// The few sets of algorithms that a list names, each kept once.
#[derive(Default)]
struct Interned(Vec<Arc<[Algorithm]>>);

impl Interned {
    fn get(&mut self, algorithms: Vec<Algorithm>) -> Arc<[Algorithm]> {
        if let Some(known) = self.0.iter().find(|known| ***known == *algorithms) {
            return Arc::clone(known);
        }
        let new: Arc<[Algorithm]> = algorithms.into();
        self.0.push(Arc::clone(&new));
        new
    }
}

fn judge(entry: &Listed, outcome: Option<Outcome>) -> Verdict {
    match outcome {
        Some(Outcome::Hashed(hashed)) => judge_digests(entry, &hashed),
        Some(Outcome::Failed(error)) if is_missing(&error) => Verdict::Missing,
        Some(Outcome::Failed(error)) => Verdict::Unreadable(error),
        Some(Outcome::Unstable(instability)) => Verdict::Unstable(instability),
        None => {
            let reason = entry.trouble.clone().unwrap_or(Unverified::ImpossibleName);
            Verdict::Unverified(reason)
        }
    }
}

fn judge_digests(entry: &Listed, hashed: &Hashed) -> Verdict {
    let pairs = entry.known().zip(&hashed.digests);
    let compared = pairs.clone().count();
    if compared == 0 || compared != entry.digests.len() || compared != hashed.digests.len() {
        return Verdict::Unverified(Unverified::UnknownAlgorithm);
    }
    let differences: Vec<Difference> = pairs
        .filter(|(expected, actual)| expected != actual)
        .map(|(&expected, &actual)| Difference { expected, actual })
        .collect();
    let size = hashed.size;
    if differences.is_empty() {
        Verdict::Ok { size }
    } else {
        Verdict::Changed { differences, size }
    }
}

/// Only a name that leads nowhere is missing; one that may not be looked at is unreadable.
fn is_missing(error: &FileError) -> bool {
    error.io_error().kind() == io::ErrorKind::NotFound
}
