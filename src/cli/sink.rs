//! Where events go in commands that compare: into the counts, and into a report on standard output.

use std::io::{self, BufWriter, IsTerminal, Write};

use crate::event::{Event, Note, Sink};
use crate::manifest::Evidence;
use crate::relpath::RelPath;
use crate::report::{Command, Counts, JsonReport, Progress, Report, TextReport};

use super::args::ReportArgs;
use super::console::Console;
use super::plan;

/// The report that goes to standard output, with its summary on standard error if it is text.
pub(super) fn report(
    command: Command,
    json: bool,
    args: &ReportArgs,
    console: &Console,
    progress: &Progress,
) -> Box<dyn Report> {
    // Whole lines on a terminal, so that the bars can make room; large pieces elsewhere.
    let stdout: Box<dyn Write> = if io::stdout().is_terminal() {
        Box::new(progress.beside(io::stdout()))
    } else {
        Box::new(BufWriter::with_capacity(64 * 1024, io::stdout()))
    };
    if json && !args.status {
        return Box::new(JsonReport::new(stdout).for_command(command));
    }
    let stderr = progress.beside(io::stderr());
    let colour = console.colour(args.color, true);
    let report = TextReport::new(stdout, stderr, plan::verbosity(args), colour);
    Box::new(report.for_command(command))
}

/// Counts every event and reports it.
pub(super) struct ReportSink {
    pub(super) report: Box<dyn Report>,
    pub(super) counts: Counts,
    pub(super) notes: Vec<Note>,
    pub(super) manifests: Vec<(RelPath, Evidence)>,
    /// Whether lines that cannot be understood are only counted.
    pub(super) hide_lines: bool,
}

impl ReportSink {
    pub(super) fn new(report: Box<dyn Report>) -> Self {
        Self {
            report,
            counts: Counts::default(),
            notes: Vec::new(),
            manifests: Vec::new(),
            hide_lines: false,
        }
    }
}

impl Sink for ReportSink {
    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        self.counts.add(&event);
        match event {
            Event::Note(note) => self.notes.push(note.clone()),
            Event::Taken { manifest, evidence } => {
                self.manifests.push((manifest.clone(), *evidence));
            }
            Event::Line { reason, .. } if self.hide_lines && !reason.spoils_the_manifest() => {
                return Ok(());
            }
            _ => {}
        }
        self.report.event(&event)
    }
}
