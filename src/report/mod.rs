//! Turns events into text, JSON, a summary and progress bars.
//!
//! A [`Report`] is given every event of a run in order and at its end a [`Summary`]:
//! [`TextReport`] writes for people, [`JsonReport`] for programs. [`Counts`] keeps the tally that
//! the summary and the exit code are made from. [`Progress`] stands beside them: it samples the
//! engine's gauges from a thread of its own, and lets report lines pass between its bars.
//!
//! Everything is written to writers that the caller passes in, and every failure to write is
//! returned. Nothing here looks at the environment or decides whether an output is a terminal,
//! except that [`Progress`] asks the terminal for its width.

pub mod chart;
mod columns;
mod counts;
pub mod figures;
mod json;
mod pace;
mod progress;
#[cfg(test)]
mod samples;
mod snapshot;
mod summary;
mod text;

pub use counts::{Command, Counts, MalformedLines};
pub use json::JsonReport;
pub use progress::{BesideBars, Progress, Target};
pub use summary::Summary;
pub use text::{Colour, TextReport, Verbosity};

use std::io;

use crate::event::Event;

/// A form in which the events of a run are written down.
pub trait Report {
    /// Writes what there is to say about one event.
    fn event(&mut self, event: &Event<'_>) -> io::Result<()>;

    /// Writes the end of the report and flushes it.
    fn finish(&mut self, summary: &Summary) -> io::Result<()>;
}
