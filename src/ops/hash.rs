//! A walk through the engine into a sink.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use crate::algorithm::Algorithm;
use crate::engine::{self, Job, Links, Outcome, Source, Task};
use crate::error::{Error, FileError};
use crate::event::{Event, Sink, Verdict};
use crate::relpath::RelPath;
use crate::walk::{Found, FoundKind, Special};

use super::asides::Asides;
use super::journal::{self, Journal, Keyed};

/// Hashes everything that a walk finds and tells `sink` of each name once, in the walk's order.
///
/// A file that was read to its end arrives as [`Event::Hashed`]; what could not be read, or changed
/// meanwhile, as [`Event::Verdict`]; what is never opened as [`Event::Skipped`].
///
/// # Errors
///
/// Those of [`engine::run`]; a file that cannot be read is none of them.
///
/// # Examples
///
/// See `examples/hash_tree.rs`.
pub fn hash(
    found: impl Iterator<Item = Found> + Send + 'static,
    algorithms: &[Algorithm],
    options: &engine::Options,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    run(found, algorithms, options, None, sink)
}

/// As [`hash`], and keeps `journal` up with it. What an earlier run has left there and is still true is
/// not read again; it arrives as [`Event::Hashed`] all the same.
///
/// # Errors
///
/// Those of [`hash`], and [`Error::File`] if the journal cannot be written.
pub fn hash_journalled(
    found: impl Iterator<Item = Found> + Send + 'static,
    algorithms: &[Algorithm],
    options: &engine::Options,
    journal: &mut Journal,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    run(found, algorithms, options, Some(journal), sink)
}

fn run(
    found: impl Iterator<Item = Found> + Send + 'static,
    algorithms: &[Algorithm],
    options: &engine::Options,
    journal: Option<&mut Journal>,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    let algorithms: Arc<[Algorithm]> = algorithms.into();
    let jobs = found.map(move |found| job(found, &algorithms));
    let mut asides = Asides::default();
    journal::run(jobs, journal, options, &mut |place, outcome| {
        asides.count(outcome.as_ref());
        tell(place, outcome, sink)
    })?;
    asides.tell(sink).map_err(Error::Output)
}

/// What the walk knows of one place in the order.
enum Place {
    File(RelPath),
    Failed(RelPath, FileError),
    Skipped(RelPath, Special),
}

impl Keyed for Place {
    fn key(&self) -> Option<Cow<'_, RelPath>> {
        match self {
            Self::File(name) => Some(Cow::Borrowed(name)),
            Self::Failed(..) | Self::Skipped(..) => None,
        }
    }
}

fn job(found: Found, algorithms: &Arc<[Algorithm]>) -> Job<Place> {
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
        FoundKind::Special(kind) => {
            return Job {
                token: Place::Skipped(name, kind),
                task: None,
            };
        }
        FoundKind::Failed(error) => {
            return Job {
                token: Place::Failed(name, error),
                task: None,
            };
        }
    };
    Job {
        token: Place::File(name),
        task: Some(Task::new(source, Arc::clone(algorithms))),
    }
}

fn tell(place: Place, outcome: Option<Outcome>, sink: &mut dyn Sink) -> io::Result<()> {
    let (name, verdict) = match (place, outcome) {
        (Place::File(name), Some(Outcome::Hashed(hashed))) => {
            return sink.event(Event::Hashed {
                name: &name,
                hashed: &hashed,
            });
        }
        (Place::Skipped(name, kind), _) => {
            return sink.event(Event::Skipped { name: &name, kind });
        }
        (Place::File(name), Some(Outcome::Failed(error))) | (Place::Failed(name, error), _) => {
            (name, Verdict::Unreadable(error))
        }
        (Place::File(name), Some(Outcome::Unstable(instability))) => {
            (name, Verdict::Unstable(instability))
        }
        (Place::File(_), Some(Outcome::Unread(_)) | None) => return Ok(()),
    };
    sink.event(Event::Verdict {
        name: &name,
        verdict: &verdict,
    })
}
