//! What several operations have in common: how manifests are opened, and what is told beside the
//! outcomes.

use std::io::{self, Read};
use std::path::Path;

use crate::engine::Outcome;
use crate::error::{Error, FileError, Operation};
use crate::event::{Event, Note, Sink};
use crate::manifest::{Hints, Malformed, OpenError, Reader, Remark};
use crate::relpath::RelPath;

/// Reads the beginning of a manifest; `path` is where it lies, if it is no stream.
///
/// # Errors
///
/// It cannot be read, or is no manifest at all.
pub fn open_manifest<'r>(
    input: impl Read + Send + 'r,
    hints: &Hints,
    path: &Path,
) -> Result<Reader<'r>, Error> {
    Reader::new(input, hints).map_err(|reason| match reason {
        OpenError::Read(error) => FileError::new(Operation::Read, path, error).into(),
        other => Error::NoManifest {
            path: path.to_owned(),
            reason: other.into(),
        },
    })
}

/// Tells of a line that cannot be used.
pub(super) fn tell_malformed(
    manifest: &RelPath,
    line: u64,
    reason: &Malformed,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    let event = Event::Line {
        manifest,
        line,
        reason,
    };
    sink.event(event).map_err(Error::Output)
}

/// Tells of something in a manifest that spoils nothing.
pub(super) fn tell_remark(
    manifest: &RelPath,
    line: u64,
    remark: Remark,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    let manifest = manifest.clone();
    let note = Note::Remark {
        manifest,
        line,
        remark,
    };
    sink.event(Event::Note(&note)).map_err(Error::Output)
}

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
