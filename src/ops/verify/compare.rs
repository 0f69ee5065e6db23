//! Every listed file through the engine, and its digests against the claims.

use std::io;
use std::sync::Arc;

use crate::algorithm::Algorithm;
use crate::engine::{self, Hashed, Job, Links, Outcome, Source, Task};
use crate::error::{Error, FileError};
use crate::event::{Difference, Event, OutcomeWord, Sink, Unverified, Verdict};

use super::super::asides::Asides;
use super::listing::{Listed, Listing};
use super::{Verified, VerifyOptions};

/// Tells `sink` of every entry in the order of the lists. With `exact`, entries that are not there
/// are not told but returned, since they may have moved.
pub(super) fn compare(
    listing: &Arc<Listing>,
    options: &VerifyOptions,
    engine: &engine::Options,
    sink: &mut dyn Sink,
    verified: &mut Verified,
) -> Result<Vec<usize>, Error> {
    let mut missing = Vec::new();
    let mut asides = Asides::default();
    let mut seen = 0;
    let mut stopped = false;
    let ended = engine::run(jobs(listing), engine, &mut |index: usize, outcome| {
        let entry = &listing.entries[index];
        seen += 1;
        asides.count(outcome.as_ref());
        let verdict = judge(entry, outcome);
        if matches!(verdict, Verdict::Missing) && options.ignore_missing {
            verified.ignored += 1;
            return Ok(());
        }
        if matches!(verdict, Verdict::Missing) && options.exact {
            missing.push(index);
            return Ok(());
        }
        verified.algorithms.extend(entry.algorithms());
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
            verified.not_checked = (listing.entries.len() - seen) as u64;
        }
        other => other?,
    }
    asides.tell(sink).map_err(Error::Output)?;
    Ok(missing)
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
