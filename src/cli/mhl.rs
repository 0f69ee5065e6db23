//! `multisum hash --mhl`: a new generation in the history of a folder.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use crate::algorithm::Algorithm;
use crate::engine::Totals;
use crate::error::{Error, FileError, Operation};
use crate::event::{Event, Note, OutcomeWord, Sink, Verdict};
use crate::manifest::EntryError;
use crate::ops::{self, Document, MhlSession, NewGenerations};
use crate::report::{
    BesideBars, Command, Counts, MalformedLines, Progress, Report, Summary, TextReport,
};
use crate::timestamp::Timestamp;
use crate::walk::{self, Input, Root};

use super::args::HashArgs;
use super::console::Console;
use super::exit::ExitCode;
use super::header;
use super::output::{Output, folder_of};
use super::plan::{self, Failure};
use super::signals;

/// Hashes a folder, compares it with its history and adds what came of it; nothing is written unless every
/// file could be read.
pub(super) fn run(args: &HashArgs, top: &Path, console: &Console) -> Result<ExitCode, Failure> {
    let start = Instant::now();
    let created = header::created()?;
    plan::base(Some(&top.to_owned()))?;
    let mut asked = plan::algorithms(&args.algorithm)?;
    if asked.is_empty() {
        asked.push(Algorithm::C4);
    }
    let session = MhlSession::open(top, &asked, &args.walk.scope.exclude)?;
    let algorithms = session.algorithms();
    let engine = plan::engine(&args.machine, top)?;
    let options = walk::Options {
        filter: session.filter().clone(),
        ..plan::walk_options(&args.walk.scope)?
    };
    let target = console.progress(&args.report);
    let totals = Arc::new(Totals::default());
    let progress =
        Progress::start(Arc::clone(&engine.gauges), totals, target).map_err(Error::Threads)?;
    let colour = console.colour(args.report.color, false);
    let verbosity = plan::verbosity(&args.report);
    let (out, err) = (progress.beside(io::stderr()), progress.beside(io::stderr()));
    let mut sink = SessionSink {
        session,
        report: TextReport::new(out, err, verbosity, colour),
        counts: Counts::default(),
        notes: Vec::new(),
        refused: None,
    };
    for note in sink.session.notes() {
        sink.tell(&Event::Note(&note)).map_err(Error::Output)?;
    }
    let found = walk::walk([Input::Path(Root::relative(top))], options);
    let ended = ops::hash(found, &algorithms, &engine, &mut sink);
    // Nothing is written before all is known, and of a run that ended early never.
    signals::telling();
    if let Some(refused) = sink.refused.take() {
        return Err(Error::Output(refused.into()).into());
    }
    ended?;
    let code = sink.finish(start, created, algorithms)?;
    progress.finish().map_err(Error::Output)?;
    Ok(code)
}

/// What the format demands to be written down.
fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "unknown".to_owned(),
        name => name.to_owned(),
    }
}

fn write(document: &Document) -> Result<(), Failure> {
    let Document {
        path,
        replace,
        bytes,
    } = document;
    let folder = folder_of(path);
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(FileError::new(Operation::Create, folder, error).into());
        }
        _ => {}
    }
    let failed = |reason| Failure::output(path, reason);
    let mut output = Output::create(path, *replace).map_err(failed)?;
    output.append(|buffer| buffer.write_all(bytes))?;
    output.publish().map_err(failed)
}

/// Removes what a run left that was stopped: beside a newer chain it would count as added behind its back.
fn remove(leftover: &Path) -> Result<(), Failure> {
    let failed = |error| FileError::new(Operation::Write, leftover, error);
    Ok(fs::remove_file(leftover).map_err(failed)?)
}

/// Passes files on to the session, and everything to the report.
struct SessionSink {
    session: MhlSession,
    report: TextReport<BesideBars<io::Stderr>, BesideBars<io::Stderr>>,
    counts: Counts,
    notes: Vec<Note>,
    /// A name that cannot be recorded; the engine only learns that it has to stop.
    refused: Option<EntryError>,
}

impl SessionSink {
    fn tell(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.counts.add(event);
        if let Event::Note(note) = event {
            self.notes.push((*note).clone());
        }
        self.report.event(event)
    }

    fn finish(
        mut self,
        start: Instant,
        created: Timestamp,
        algorithms: Vec<Algorithm>,
    ) -> Result<ExitCode, Failure> {
        let unread = [OutcomeWord::Unreadable, OutcomeWord::Unstable];
        let whole = unread.iter().all(|word| self.counts.of(*word) == 0);
        let taken = self.counts.hashed()
            + self.counts.of(OutcomeWord::Changed)
            + self.counts.of(OutcomeWord::Unverified);
        if whole && taken > 0 {
            self.publish(created)?;
        } else {
            let note = Note::NoGeneration;
            self.tell(&Event::Note(&note)).map_err(Error::Output)?;
        }
        let code = ExitCode::from(self.counts.severity(Command::Hash, MalformedLines::Fail));
        let code = if whole && taken == 0 {
            ExitCode::Incomplete
        } else {
            code
        };
        let mut summary = Summary::new(Command::Hash, self.counts, start.elapsed());
        summary.algorithms = algorithms;
        summary.notes = self.notes;
        summary.exit_code = code.number();
        self.report.finish(&summary).map_err(Error::Output)?;
        Ok(code)
    }

    fn publish(&mut self, created: Timestamp) -> Result<(), Failure> {
        let NewGenerations {
            missing,
            renamed,
            leftovers,
            documents,
        } = self.session.finish(created, &host())?;
        for name in &missing {
            let verdict = &Verdict::Missing;
            self.tell(&Event::Verdict { name, verdict })
                .map_err(Error::Output)?;
        }
        for renamed in renamed {
            let note = Note::Renamed {
                from: renamed.from,
                to: renamed.to,
            };
            self.tell(&Event::Note(&note)).map_err(Error::Output)?;
        }
        // A manifest that no chain names would be refused from then on.
        signals::keeping();
        let removed = leftovers.iter().try_for_each(|path| remove(path));
        let written = removed.and_then(|()| documents.iter().try_for_each(write));
        signals::telling();
        written
    }
}

impl Sink for SessionSink {
    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        let Event::Hashed { name, hashed } = event else {
            return self.tell(&event);
        };
        match self.session.take(name, hashed) {
            Ok(None) => self.tell(&event),
            Ok(Some(verdict)) => {
                let verdict = &verdict;
                self.tell(&Event::Verdict { name, verdict })
            }
            Err(refused) => {
                self.refused = Some(refused);
                Err(io::ErrorKind::InvalidInput.into())
            }
        }
    }
}
