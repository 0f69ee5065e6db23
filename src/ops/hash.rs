//! A walk through the engine into a sink.

use std::io;
use std::sync::Arc;

use crate::algorithm::Algorithm;
use crate::engine::{self, Job, Links, Outcome, Source, Task};
use crate::error::{Error, FileError};
use crate::event::{Event, Sink, Verdict};
use crate::relpath::RelPath;
use crate::walk::{Found, FoundKind, Special};

use super::asides::Asides;

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
    let algorithms: Arc<[Algorithm]> = algorithms.into();
    let jobs = found.map(move |found| job(found, &algorithms));
    let mut asides = Asides::default();
    engine::run(jobs, options, &mut |place, outcome| {
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

fn job(found: Found, algorithms: &Arc<[Algorithm]>) -> Job<Place> {
    let Found {
        name,
        path,
        kind,
        through_link,
    } = found;
    let links = if through_link {
        Links::Follow
    } else {
        Links::Refuse
    };
    let source = match kind {
        FoundKind::File => Source::File { path, links },
        FoundKind::Stream => Source::Stream(path),
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
