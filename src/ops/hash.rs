//! A walk through the engine into a sink.

use std::io;
use std::sync::Arc;

use crate::algorithm::Algorithm;
use crate::engine::{self, Hashed, Job, Links, Observer, Outcome, Saved, Source, Task};
use crate::error::{Error, FileError};
use crate::event::{Event, Sink, Verdict};
use crate::relpath::RelPath;
use crate::walk::{Found, FoundKind, Special};

use super::asides::Asides;
use super::journal::{Journal, Recorded, Resumed};

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
    run(found, algorithms, options, None, &mut (), sink)
}

/// As [`hash`], and keeps `journal` up with it. What is recorded in `resumed` and still true is not read
/// again; it arrives as [`Event::Hashed`] all the same.
///
/// # Errors
///
/// Those of [`hash`], and [`Error::File`] if the journal cannot be written.
pub fn hash_journalled(
    found: impl Iterator<Item = Found> + Send + 'static,
    algorithms: &[Algorithm],
    options: &engine::Options,
    journal: &mut Journal,
    resumed: Option<Resumed>,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    run(
        found,
        algorithms,
        options,
        resumed,
        &mut Recorder(journal),
        sink,
    )
}

fn run(
    found: impl Iterator<Item = Found> + Send + 'static,
    algorithms: &[Algorithm],
    options: &engine::Options,
    resumed: Option<Resumed>,
    observer: &mut dyn Observer<Place>,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    let algorithms: Arc<[Algorithm]> = algorithms.into();
    let jobs = found.map(move |found| {
        let job = job(found, &algorithms);
        match &resumed {
            Some(resumed) => spare(job, resumed),
            None => job,
        }
    });
    let mut asides = Asides::default();
    engine::run_observed(jobs, options, observer, &mut |place, outcome| {
        asides.count(outcome.as_ref());
        tell(place, outcome, sink)
    })?;
    asides.tell(sink).map_err(Error::Output)
}

/// Keeps the journal up with the engine.
struct Recorder<'j>(&'j mut Journal);

impl Observer<Place> for Recorder<'_> {
    fn finished(&mut self, place: &Place, outcome: &Outcome) -> Result<(), Error> {
        match (place, outcome) {
            (Place::File(name, _), Outcome::Hashed(hashed)) => Ok(self.0.add(name, hashed)?),
            _ => Ok(self.0.keep_up()?),
        }
    }

    fn saved(&mut self, saved: &Saved) -> Result<(), Error> {
        Ok(self.0.add_saved(saved)?)
    }

    fn waited(&mut self) -> Result<(), Error> {
        Ok(self.0.keep_up()?)
    }
}

/// Adds what an earlier run knew of a file.
fn spare(mut job: Job<Place>, resumed: &Resumed) -> Job<Place> {
    if let (Place::File(name, recorded), Some(task)) = (&mut job.token, &mut job.task)
        && let Source::File { path, .. } = &task.source
    {
        *recorded = resumed.entry(name, &task.algorithms).map(Box::new);
        task.known = recorded.as_ref().map(|recorded| Box::new(recorded.known()));
        task.begun = resumed.begun(path).map(Box::new);
    }
    job
}

/// What the walk knows of one place in the order.
enum Place {
    /// With what an earlier run has recorded.
    File(RelPath, Option<Box<Recorded>>),
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
        token: Place::File(name, None),
        task: Some(Task::new(source, Arc::clone(algorithms))),
    }
}

fn tell(place: Place, outcome: Option<Outcome>, sink: &mut dyn Sink) -> io::Result<()> {
    let hashed = |name: &RelPath, hashed: &Hashed, sink: &mut dyn Sink| {
        sink.event(Event::Hashed { name, hashed })
    };
    let (name, verdict) = match (place, outcome) {
        (Place::File(name, _), Some(Outcome::Hashed(now))) => return hashed(&name, &now, sink),
        (Place::File(name, Some(recorded)), Some(Outcome::Unread(_))) => {
            return hashed(&name, &recorded.hashed(), sink);
        }
        (Place::Skipped(name, kind), _) => {
            return sink.event(Event::Skipped { name: &name, kind });
        }
        (Place::File(name, _), Some(Outcome::Failed(error))) | (Place::Failed(name, error), _) => {
            (name, Verdict::Unreadable(error))
        }
        (Place::File(name, _), Some(Outcome::Unstable(instability))) => {
            (name, Verdict::Unstable(instability))
        }
        (Place::File(..), Some(Outcome::Unread(_)) | None) => return Ok(()),
    };
    sink.event(Event::Verdict {
        name: &name,
        verdict: &verdict,
    })
}
