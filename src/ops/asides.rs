//! What happens beside the outcomes and concerns a run as a whole.

use std::io;

use crate::engine::Outcome;
use crate::event::{Event, Note, Sink};

/// What happened beside the outcomes and concerns the run as a whole.
#[derive(Debug, Default)]
pub(super) struct Asides {
    retried_reads: u64,
    direct_refused: u64,
}

impl Asides {
    pub(super) fn count(&mut self, outcome: Option<&Outcome>) {
        if let Some(Outcome::Hashed(hashed)) = outcome {
            self.retried_reads += u64::from(hashed.retried_reads);
            self.direct_refused += u64::from(hashed.direct_refused);
        }
    }

    pub(super) fn tell(&self, sink: &mut dyn Sink) -> io::Result<()> {
        if self.retried_reads > 0 {
            sink.event(Event::Note(&Note::RetriedReads(self.retried_reads)))?;
        }
        if self.direct_refused > 0 {
            sink.event(Event::Note(&Note::DirectRefused(self.direct_refused)))?;
        }
        Ok(())
    }
}
