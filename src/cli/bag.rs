//! `multisum hash --bag`.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use crate::algorithm::Algorithm;
use crate::engine::Totals;
use crate::error::Error;
use crate::event::{Event, Note, Sink};
use crate::ops::{self, BagSettings};
use crate::report::{
    BesideBars, Command, Counts, MalformedLines, Progress, Report, Summary, TextReport,
};

use super::args::HashArgs;
use super::console::Console;
use super::exit::ExitCode;
use super::header;
use super::plan::{self, Failure};
use super::signals::{self, Reporting};

/// Makes a folder a bag, in place or as a copy.
pub(super) fn run(folder: &Path, args: &HashArgs, console: &Console) -> Result<ExitCode, Failure> {
    let start = Instant::now();
    let copy_to = match &args.output[..] {
        [] => None,
        [only] => Some(only.as_path()),
        _ => return Err(Failure::SeveralBags),
    };
    let settings = settings(args)?;
    let engine = plan::engine(&args.machine, folder)?;
    let target = console.progress(&args.report);
    let totals = Arc::new(Totals::default());
    let progress =
        Progress::start(Arc::clone(&engine.gauges), totals, target).map_err(Error::Threads)?;
    let colour = console.colour(args.report.color, false);
    let (out, err) = (progress.beside(io::stderr()), progress.beside(io::stderr()));
    let mut sink = BagSink {
        report: TextReport::new(out, err, plan::verbosity(&args.report), colour),
        counts: Counts::default(),
        notes: Vec::new(),
    };
    // It may begin with files to be put back that a stopped run has moved.
    signals::keeping();
    let report = &mut Reporting(&mut sink);
    let made = ops::make_bag(folder, copy_to, &settings, &engine, report);
    signals::telling();
    let shown = progress.finish();
    made?;
    let code = sink.finish(start, settings.algorithms)?;
    shown.map_err(Error::Output)?;
    Ok(code)
}

fn settings(args: &HashArgs) -> Result<BagSettings, Failure> {
    let mut algorithms = plan::algorithms(&args.algorithm)?;
    if algorithms.is_empty() {
        // What RFC 8493 recommends for new bags.
        algorithms.push(Algorithm::Sha512);
    }
    let today = header::created()?.to_seconds();
    Ok(BagSettings {
        algorithms,
        bagging_date: today.chars().take_while(|&letter| letter != 'T').collect(),
        software_agent: concat!("multisum ", env!("CARGO_PKG_VERSION")).to_owned(),
    })
}

struct BagSink {
    report: TextReport<BesideBars<io::Stderr>, BesideBars<io::Stderr>>,
    counts: Counts,
    notes: Vec<Note>,
}

impl Sink for BagSink {
    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        self.counts.add(&event);
        if let Event::Note(note) = event {
            self.notes.push(note.clone());
        }
        self.report.event(&event)
    }
}

impl BagSink {
    fn finish(mut self, start: Instant, algorithms: Vec<Algorithm>) -> Result<ExitCode, Error> {
        let code = ExitCode::from(self.counts.severity(Command::Hash, MalformedLines::Fail));
        let mut summary = Summary::new(Command::Hash, self.counts, start.elapsed());
        summary.algorithms = algorithms;
        summary.notes = self.notes;
        summary.exit_code = code.number();
        self.report.finish(&summary).map_err(Error::Output)?;
        Ok(code)
    }
}
