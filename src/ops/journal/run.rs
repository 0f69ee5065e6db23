//! A run of the engine that a journal is kept up with, and that is spared what an earlier run has done.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::PathBuf;

use crate::engine::{self, Job, Links, Observer, Outcome, Saved, Source, Status};
use crate::error::{Error, FileError};
use crate::relpath::RelPath;

use super::{Journal, Recorded, Resumed};

/// What a job brings that can be found again in a journal.
pub(in super::super) trait Keyed {
    /// Whether what could not be read is recorded too, and is found so again for as long as the file
    /// stays as it is. Otherwise it is tried anew.
    const KEEPS_FAILURES: bool = false;

    /// The name of the file in the journal, the same in every run on the same terms.
    fn key(&self) -> Option<Cow<'_, RelPath>>;
}

/// As [`engine::run`]. What the journal knows and is still true is not read again; it arrives in its
/// place all the same, as if it had been.
pub(in super::super) fn run<T: Keyed + Send + 'static>(
    jobs: impl Iterator<Item = Job<T>> + Send + 'static,
    journal: Option<&mut Journal>,
    options: &engine::Options,
    sink: &mut dyn FnMut(T, Option<Outcome>) -> io::Result<()>,
) -> Result<(), Error> {
    let Some(journal) = journal else {
        return engine::run(jobs, options, sink);
    };
    let resumed = journal.resumed.clone();
    let jobs = jobs.map(move |job| spared(job, resumed.as_deref()));
    let observer = &mut Recorder(journal);
    engine::run_observed(jobs, options, observer, &mut |spared, outcome| {
        let Spared { token, before, .. } = spared;
        let outcome = match (outcome, before) {
            (Some(Outcome::Unread(_)), Some(before)) => Some(before.outcome()),
            (outcome, _) => outcome,
        };
        sink(token, outcome)
    })
}

/// What travels through the engine.
struct Spared<T> {
    token: T,
    /// What an earlier run has found.
    before: Option<Box<Recorded>>,
    /// Where to look when the file could not be read, if that is recorded.
    place: Option<(PathBuf, Links)>,
}

/// Adds what an earlier run knew of a file. That goes before what else is known of it: it was read
/// because the latter did not hold.
fn spared<T: Keyed>(job: Job<T>, resumed: Option<&Resumed>) -> Job<Spared<T>> {
    let Job { token, mut task } = job;
    let (mut before, mut place) = (None, None);
    if let Some(task) = &mut task
        && let Source::File { path, links } = &task.source
    {
        place = T::KEEPS_FAILURES.then(|| (path.clone(), *links));
        if let Some(resumed) = resumed {
            let recorded = token.key();
            let recorded = recorded.and_then(|key| resumed.entry(&key, &task.algorithms));
            if let Some(recorded) = recorded {
                task.known = Some(Box::new(recorded.known()));
                before = Some(Box::new(recorded));
            }
            task.begun = resumed.begun(path).map(Box::new);
        }
    }
    let token = Spared {
        token,
        before,
        place,
    };
    Job { token, task }
}

/// Keeps the journal up with the engine.
struct Recorder<'j>(&'j mut Journal);

impl Recorder<'_> {
    fn record<T: Keyed>(&mut self, file: &Spared<T>, outcome: &Outcome) -> Result<(), FileError> {
        let journal = &mut *self.0;
        let Some(key) = file.token.key() else {
            return journal.keep_up();
        };
        match outcome {
            Outcome::Hashed(hashed) => return journal.add(&key, hashed),
            Outcome::Failed(error) => {
                if let Some(status) = file.status() {
                    return journal.add_failed(&key, error, &status);
                }
            }
            Outcome::Unstable(how) => {
                if let Some(status) = file.status() {
                    return journal.add_unstable(&key, *how, &status);
                }
            }
            Outcome::Unread(_) => {}
        }
        journal.keep_up()
    }
}

impl<T> Spared<T> {
    /// What the file is now, where that is wanted. One that cannot even be looked at is tried again.
    fn status(&self) -> Option<Status> {
        let (path, links) = self.place.as_ref()?;
        let metadata = match links {
            Links::Follow => fs::metadata(path),
            Links::Refuse => fs::symlink_metadata(path),
        };
        Some(Status::of(&metadata.ok()?))
    }
}

impl<T: Keyed> Observer<Spared<T>> for Recorder<'_> {
    fn finished(&mut self, file: &Spared<T>, outcome: &Outcome) -> Result<(), Error> {
        Ok(self.record(file, outcome)?)
    }

    fn saved(&mut self, saved: &Saved) -> Result<(), Error> {
        Ok(self.0.add_saved(saved)?)
    }

    fn waited(&mut self) -> Result<(), Error> {
        Ok(self.0.keep_up()?)
    }
}
