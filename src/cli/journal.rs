//! The journal of a run: begun, gone on with, left behind or removed.

use std::path::Path;

use crate::algorithm::Algorithm;
use crate::engine;
use crate::error::{Error, FileError, Operation};
use crate::event::{Note, Sink};
use crate::manifest::{Header, Scope};
use crate::ops::{self, Contents, Journal, Lock, Resumed, Term, journal_beside};
use crate::relpath::RelPath;
use crate::timestamp::Timestamp;
use crate::walk::{Found, LeaveOut};

use super::args::{HashArgs, ReportArgs};
use super::names::Naming;
use super::output::partials_beside;
use super::plan::Failure;
use super::signature;

/// A journal with what an earlier run has left.
pub(super) struct Begun {
    journal: Journal,
    resumed: Option<Resumed>,
    /// When the first of the runs began.
    pub(super) created: Timestamp,
    /// What the user should know, for the summary.
    pub(super) notes: Vec<Note>,
}

/// What the user wants to happen to what an earlier run has left.
struct Wish {
    resume: bool,
    force: bool,
    quiet: bool,
}

/// Leaves out what a run that writes this manifest keeps beside it, or has left there, and its
/// signatures: they are made when it is complete, so that it cannot list them.
pub(super) fn leave_out_beside(output: &Path, leave_out: &mut LeaveOut) {
    for path in journal_beside(output)
        .into_iter()
        .chain(partials_beside(output))
        .chain(signature::places(output))
    {
        // Most of the time nothing is there.
        leave_out.add_path(&path).ok();
    }
}

/// The journal beside the first output of `hash` that is a file, if one is.
pub(super) fn of_hash(
    args: &HashArgs,
    target: Option<&Path>,
    algorithms: &[Algorithm],
    header: &Header,
    naming: &Naming,
    leave_out: &mut LeaveOut,
) -> Result<Option<Begun>, Failure> {
    let Some(path) = target.and_then(journal_beside) else {
        return match args.resume {
            true => Err(Failure::NothingToResume),
            false => Ok(None),
        };
    };
    let base = naming.whole_base();
    let base = base.map_err(|error| FileError::new(Operation::Stat, ".", error))?;
    let terms = terms(args, algorithms, header, &base);
    let created = header.created.unwrap_or_else(Timestamp::now);
    let lock = Lock::take(path)?;
    let stat = |error| FileError::new(Operation::Stat, lock.path(), error);
    leave_out.add_path(lock.path()).map_err(stat)?;
    let ReportArgs { quiet, status, .. } = args.report;
    let wish = Wish {
        resume: args.resume,
        force: args.force,
        quiet: quiet || status,
    };
    begin(lock, &wish, created, algorithms, &terms).map(Some)
}

fn begin(
    mut lock: Lock,
    wish: &Wish,
    created: Timestamp,
    algorithms: &[Algorithm],
    terms: &[Term],
) -> Result<Begun, Failure> {
    let Contents { past, damaged_at } = lock.contents()?;
    let name = RelPath::from_path(lock.path());
    let past = past.filter(|past| !past.is_empty());
    let mut notes = Vec::new();
    match (past, damaged_at) {
        (Some(past), place) if wish.resume => {
            let created = past.created();
            let (journal, resumed) = lock.go_on(past, terms)?;
            let damaged = |place| Note::JournalDamaged {
                journal: name,
                place,
            };
            notes.extend(place.map(damaged));
            return Ok(Begun {
                journal,
                resumed: Some(resumed),
                created,
                notes,
            });
        }
        (Some(past), _) if !wish.force => {
            return Err(Failure::JournalLeft {
                journal: lock.path().to_owned(),
                files: past.files(),
            });
        }
        (Some(past), _) => notes.push(Note::JournalUnused {
            journal: name,
            files: past.files(),
        }),
        (None, Some(place)) if wish.resume => notes.push(Note::JournalDamaged {
            journal: name,
            place,
        }),
        (None, _) if wish.resume && !wish.quiet => notes.push(Note::NothingToResume),
        (None, _) => {}
    }
    Ok(Begun {
        journal: lock.begin(created, algorithms, terms)?,
        resumed: None,
        created,
        notes,
    })
}

impl Begun {
    /// As [`ops::hash`], but for what is done already.
    pub(super) fn hash(
        &mut self,
        found: impl Iterator<Item = Found> + Send + 'static,
        algorithms: &[Algorithm],
        options: &engine::Options,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let Self {
            journal, resumed, ..
        } = self;
        ops::hash_journalled(found, algorithms, options, journal, resumed.take(), sink)
    }

    /// Removes the journal if the run ended well, and else leaves it for a later one and says so.
    pub(super) fn end<T>(self, ended: Result<T, Failure>) -> Result<T, Failure> {
        let journal = self.journal;
        let cause = match ended {
            Ok(end) => {
                journal.finish()?;
                return Ok(end);
            }
            Err(failure) => failure,
        };
        let (path, files) = (journal.path().to_owned(), journal.files());
        let is_blank = journal.is_blank();
        // Why the run ended is worth more than why its journal could not be completed; and what had
        // been written of it before is of use all the same.
        let stopped = journal.stop();
        if is_blank || stopped.is_err() {
            return Err(cause);
        }
        Err(Failure::Stopped {
            cause: Box::new(cause),
            journal: path,
            files,
        })
    }
}

/// What must be equal for digests of one run to be of use to another.
fn terms(args: &HashArgs, algorithms: &[Algorithm], header: &Header, base: &Path) -> Vec<Term> {
    let Scope {
        include,
        exclude,
        follow_links,
        one_file_system,
        max_depth,
        slice,
        ..
    } = &header.scope;
    let algorithms: Vec<String> = algorithms.iter().map(ToString::to_string).collect();
    let paths: Vec<&[u8]> = header.paths.iter().map(RelPath::as_bytes).collect();
    let list = args.walk.files_from.as_deref().unwrap_or(Path::new(""));
    let number = |number: Option<String>| number.unwrap_or_default();
    vec![
        Term::new("command", "hash"),
        Term::new("algorithms", algorithms.join(",")),
        Term::new("base", RelPath::from_path(base).as_bytes()),
        Term::new("paths", paths.join(&b'\n')),
        Term::new("--files-from", RelPath::from_path(list).as_bytes()),
        Term::new("--include", include.join("\n")),
        Term::new("--exclude", exclude.join("\n")),
        Term::new("--follow", follow_links.to_string()),
        Term::new("--one-file-system", one_file_system.to_string()),
        Term::new(
            "--max-depth",
            number(max_depth.map(|depth| depth.to_string())),
        ),
        Term::new("--slice", number(slice.map(|slice| slice.to_string()))),
    ]
}
