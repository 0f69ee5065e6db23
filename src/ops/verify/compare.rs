//! Every listed file through the engine, and what comes of it to the sink.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use crate::engine::{self, Job, Known, Links, Outcome, Source, Task};
use crate::error::Error;
use crate::event::{Event, Severity, Sink, Verdict};
use crate::manifest::Kind;
use crate::relpath::RelPath;
use crate::timestamp::Timestamp;

use super::super::asides::Interned;
use super::super::journal::{self, Journal, Keyed};
use super::exact::Stray;
use super::judge::judge;
use super::listed::Listed;
use super::scrub::Tried;
use super::sources::Sources;
use super::tally::Tally;
use super::{Verified, VerifyOptions};

/// What travels through the engine, in the order of the report.
pub(super) enum Token {
    /// An entry, to be compared.
    Entry(Listed),
    /// Something that no list names; it is told when all entries have been.
    Stray(Stray),
    /// The entries cannot be read any further.
    Broken(Error),
}

/// A token, and where its file really lies, if that is to be found again in a journal.
struct Placed {
    token: Token,
    place: Option<RelPath>,
}

impl Keyed for Placed {
    fn key(&self) -> Option<Cow<'_, RelPath>> {
        self.place.as_ref().map(Cow::Borrowed)
    }
}

/// What is left to do after the comparison.
#[derive(Default)]
pub(super) struct Compared {
    /// Entries that are not there and have not been told, since they may have moved.
    pub(super) missing: Vec<Listed>,
    /// What was met that no list names.
    pub(super) strays: Vec<Stray>,
    /// What came of the entries, if somebody asks. One that was only looked at tells nothing.
    pub(super) tried: Vec<Tried>,
    /// The first finding ended it.
    pub(super) stopped: bool,
}

/// Tells `sink` of every entry in the order of the tokens. What has come of them is in `compared` also
/// where this fails.
pub(super) fn compare(
    tokens: impl Iterator<Item = Token> + Send + 'static,
    sources: &Arc<Sources>,
    options: &VerifyOptions,
    engine: &engine::Options,
    sink: &mut dyn Sink,
    (tally, verified, compared): (&mut Tally, &mut Verified, &mut Compared),
    journal: Option<&mut Journal>,
) -> Result<(), Error> {
    let mut broken = None;
    let jobs = jobs(tokens, Arc::clone(sources), options.quick);
    let is_journalled = journal.is_some();
    let of = Arc::clone(sources);
    let jobs = jobs.map(move |Job { token, task }| {
        let place = match &token {
            Token::Entry(entry) if is_journalled => of.of(entry).place.place(entry.target()),
            _ => None,
        };
        let place = place.map(|place| RelPath::from_path(&place));
        let token = Placed { token, place };
        Job { token, task }
    });
    let ended = journal::run(jobs, journal, engine, &mut |placed, outcome| {
        let entry = match placed.token {
            Token::Entry(entry) => entry,
            Token::Stray(stray) => {
                compared.strays.push(stray);
                return Ok(());
            }
            Token::Broken(error) => {
                broken = Some(error);
                return Err(io::ErrorKind::Interrupted.into());
            }
        };
        tally.see(sources, &entry, outcome.as_ref());
        if options.quick && outcome.is_some() && !can_be_quick(&entry) {
            tally.read_all_the_same();
        }
        let now = outcome.as_ref().and_then(modified);
        let verdict = judge(sources, &entry, outcome, &tally.shift);
        if matches!(verdict, Verdict::Ok { .. } | Verdict::Unread) {
            tally.shift.see(entry.modified(), now);
        }
        tally.sum(sources, &entry, &verdict);
        if options.portion.state.is_some() && !matches!(verdict, Verdict::Unread) {
            compared.tried.push(Tried {
                name: entry.name.clone(),
                is_well: verdict.word().severity() == Severity::Well,
            });
        }
        if matches!(verdict, Verdict::Missing) && options.ignore_missing {
            tally.ignore(&entry);
            return Ok(());
        }
        let may_have_moved = sources.of(&entry).searched && !options.fail_fast;
        if matches!(verdict, Verdict::Missing) && may_have_moved {
            compared.missing.push(entry);
            return Ok(());
        }
        tally.add(&entry, &verdict, verified);
        sink.event(Event::Verdict {
            name: &entry.name,
            verdict: &verdict,
        })?;
        compared.stopped = options.fail_fast && verdict.word().severity() != Severity::Well;
        match compared.stopped {
            true => Err(io::ErrorKind::Interrupted.into()),
            false => Ok(()),
        }
    });
    match (broken, ended) {
        (Some(error), _) => Err(error),
        (None, Err(Error::Output(_))) if compared.stopped => Ok(()),
        (None, ended) => ended,
    }
}

/// When the file was last modified, as far as its reading has shown.
fn modified(outcome: &Outcome) -> Option<Timestamp> {
    match outcome {
        Outcome::Hashed(hashed) => hashed.modified.and_then(Timestamp::from_system),
        Outcome::Unread(status) => status.modified,
        Outcome::Failed(_) | Outcome::Unstable(_) => None,
    }
}

fn jobs(
    tokens: impl Iterator<Item = Token> + Send + 'static,
    sources: Arc<Sources>,
    quick: bool,
) -> impl Iterator<Item = Job<Token>> + Send + 'static {
    let mut interned = Interned::default();
    tokens.map(move |token| {
        let task = match &token {
            Token::Entry(entry) => task(&sources, entry, quick, &mut interned),
            Token::Stray(_) | Token::Broken(_) => None,
        };
        Job { token, task }
    })
}

fn task(sources: &Sources, entry: &Listed, quick: bool, interned: &mut Interned) -> Option<Task> {
    if !is_read(entry) {
        return None;
    }
    // The name that every tool writes for standard input.
    let source = if entry.target().as_bytes() == b"-" {
        Source::Stdin
    } else {
        Source::File {
            path: sources.location_of(entry)?,
            links: Links::Follow,
        }
    };
    let mut task = Task::new(source, interned.get(entry.algorithms()));
    if quick && can_be_quick(entry) {
        task.known = Some(Box::new(Known {
            size: entry.size(),
            modified: entry.modified(),
            rounded: true,
            ..Known::default()
        }));
    }
    Some(task)
}

/// Whether there is anything to compare the contents of a file with.
pub(super) fn is_read(entry: &Listed) -> bool {
    let is_comparable = entry.trouble.is_none() && entry.known().next().is_some();
    is_comparable && *entry.kind() == Kind::File
}

/// Whether enough is recorded to tell by a look that the file is as it was.
pub(super) fn can_be_quick(entry: &Listed) -> bool {
    entry.size().is_some() && entry.modified().is_some()
}
