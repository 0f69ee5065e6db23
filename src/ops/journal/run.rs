//! A run of the engine that a journal is kept up with, and that is spared what an earlier run has done.

use std::borrow::Cow;
use std::io;

use crate::engine::{self, Job, Observer, Outcome, Saved, Source};
use crate::error::{Error, FileError};
use crate::relpath::RelPath;

use super::mounts::Reached;
use super::{Journal, Recorded, Resumed};

/// What a job brings that can be found again in a journal.
pub(in super::super) trait Keyed {
    /// The name of the file in the journal, the same in every run on the same terms.
    fn key(&self) -> Option<Cow<'_, RelPath>>;
}

/// As [`engine::run`]. What the journal knows and is still true is not read again; it arrives in its
/// place all the same, as if it had been. What could not be read is not recorded, and so tried again.
pub(in super::super) fn run<T: Keyed + Send + 'static>(
    jobs: impl Iterator<Item = Job<T>> + Send + 'static,
    journal: Option<&mut Journal>,
    options: &engine::Options,
    sink: &mut dyn FnMut(T, Option<Outcome>) -> io::Result<()>,
) -> Result<(), Error> {
    let Some(journal) = journal else {
        return engine::run(jobs, options, sink);
    };
    let (resumed, minds_mounts) = (journal.resumed.clone(), journal.minds_mounts);
    let jobs = jobs.map(move |job| spared(job, resumed.as_deref(), minds_mounts));
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
    /// How it was reached before it was read, if that matters.
    reached: Option<Reached>,
}

/// Adds what an earlier run knew of a file. That goes before what else is known of it: it was read
/// because the latter did not hold.
fn spared<T: Keyed>(job: Job<T>, resumed: Option<&Resumed>, minds_mounts: bool) -> Job<Spared<T>> {
    let Job { token, mut task } = job;
    let (mut before, mut reached) = (None, None);
    if let Some(task) = &mut task
        && let Source::File { path, .. } = &task.source
    {
        reached = minds_mounts.then(|| Reached::now(path));
        let mount = reached.as_ref().and_then(|reached| reached.mount);
        if let Some(resumed) = resumed {
            let recorded = token.key();
            let recorded = recorded.and_then(|key| resumed.entry(&key, &task.algorithms));
            if let Some(recorded) = recorded.filter(|recorded| recorded.mount == mount) {
                task.known = Some(Box::new(recorded.known()));
                before = Some(Box::new(recorded));
            }
            task.begun = resumed.begun(path, mount).map(Box::new);
        }
    }
    let token = Spared {
        token,
        before,
        reached,
    };
    Job { token, task }
}

/// Keeps the journal up with the engine.
struct Recorder<'j>(&'j mut Journal);

impl Recorder<'_> {
    fn record<T: Keyed>(&mut self, file: &Spared<T>, outcome: &Outcome) -> Result<(), FileError> {
        let journal = &mut *self.0;
        let reached = file.reached.as_ref();
        match (file.token.key(), outcome) {
            (Some(key), Outcome::Hashed(hashed)) if reached.is_none_or(Reached::is_still) => {
                journal.add(&key, hashed, reached.and_then(|reached| reached.mount))
            }
            _ => journal.keep_up(),
        }
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::algorithm::Algorithm;
    use crate::engine::{Links, Task};
    use crate::ops::{Lock, Term};
    use crate::timestamp::Timestamp;

    #[derive(Debug)]
    struct File(RelPath);

    impl Keyed for File {
        fn key(&self) -> Option<Cow<'_, RelPath>> {
            Some(Cow::Borrowed(&self.0))
        }
    }

    /// A run over one file with the journal beside it, that ends without removing the journal.
    fn run_over(path: &Path) -> Outcome {
        let journal = path.with_extension("journal");
        let mut lock = Lock::take(journal).unwrap();
        let terms = [Term::new("command", "test")];
        let mut journal = match lock.contents().unwrap().past {
            Some(past) => lock.go_on(past, &terms).unwrap(),
            None => lock.begin(Timestamp::now(), &terms).unwrap(),
        };
        let source = Source::File {
            path: path.to_owned().into(),
            links: Links::Refuse,
        };
        let job = Job {
            token: File(RelPath::from("file")),
            task: Some(Task::new(source, [Algorithm::Md5])),
        };
        let mut seen = None;
        let options = engine::Options::default();
        run(
            [job].into_iter(),
            Some(&mut journal),
            &options,
            &mut |_, outcome| {
                seen = outcome;
                Ok(())
            },
        )
        .unwrap();
        journal.write().unwrap();
        journal.stop().unwrap();
        seen.unwrap()
    }

    fn old_file(path: &Path, content: &[u8]) {
        fs::write(path, content).unwrap();
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(60))
            .unwrap();
        // Longer than what was touched when a run began is not believed.
        std::thread::sleep(Duration::from_millis(2_100));
    }

    fn is_from_before(outcome: &Outcome) -> bool {
        matches!(outcome, Outcome::Hashed(hashed) if hashed.is_from_before())
    }

    #[test]
    fn what_was_read_is_not_read_again_unless_the_file_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        old_file(&path, b"abc");
        let first = run_over(&path);
        assert!(matches!(&first, Outcome::Hashed(hashed) if hashed.read_now() == 3));
        assert!(is_from_before(&run_over(&path)));
        // Another file of the same content, size and time.
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        fs::copy(&path, folder.path().join("other")).unwrap();
        fs::rename(folder.path().join("other"), &path).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(modified).unwrap();
        assert!(!is_from_before(&run_over(&path)));
    }

    #[test]
    fn what_could_not_be_read_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let other = folder.path().join("other");
        old_file(&other, b"abc");
        fs::create_dir(&path).unwrap();
        assert!(matches!(run_over(&path), Outcome::Failed(_)));
        fs::remove_dir(&path).unwrap();
        fs::rename(&other, &path).unwrap();
        let read = run_over(&path);
        assert!(matches!(read, Outcome::Hashed(_)), "{read:?}");
    }
}
