//! What several operations have in common: how manifests are opened, and what is told beside the
//! outcomes.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use crate::algorithm::{Algorithm, Strength};
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
    /// What was not read, since an earlier run that was stopped had read it.
    pub(super) before: Before,
}

/// What an earlier run that was stopped had read, so that it was not read again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// Files that it had read to their end.
    pub files: u64,
    /// Bytes, those of files that it had begun included.
    pub bytes: u64,
}

impl Asides {
    pub(super) fn count(&mut self, outcome: Option<&Outcome>) {
        if let Some(Outcome::Hashed(hashed)) = outcome {
            self.retried_reads += u64::from(hashed.retried_reads);
            self.direct_refused += u64::from(hashed.direct_refused);
            self.before.files += u64::from(hashed.is_from_before());
            self.before.bytes += hashed.size - hashed.read_now();
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

/// The few sets of algorithms that a list names, each kept once.
#[derive(Default)]
pub(super) struct Interned(Vec<Arc<[Algorithm]>>);

impl Interned {
    pub(super) fn get(&mut self, algorithms: Vec<Algorithm>) -> Arc<[Algorithm]> {
        if let Some(known) = self.0.iter().find(|known| ***known == *algorithms) {
            return Arc::clone(known);
        }
        let new: Arc<[Algorithm]> = algorithms.into();
        self.0.push(Arc::clone(&new));
        new
    }
}

/// By which algorithms files were compared, and how many by none that withstands people.
#[derive(Debug, Default)]
pub(super) struct Proofs {
    files: u64,
    weak_files: u64,
    weak_algorithms: BTreeSet<Algorithm>,
}

impl Proofs {
    /// Takes note of a file that was compared by these algorithms, of which there is one at least.
    pub(super) fn add(&mut self, algorithms: &[Algorithm]) {
        self.files += 1;
        let is_weak = |algorithm: &Algorithm| algorithm.strength() < Strength::Strong;
        if algorithms.iter().all(is_weak) {
            self.weak_files += 1;
            self.weak_algorithms.extend(algorithms);
        }
    }

    /// Says so if only some files were compared with weak algorithms alone: if all were, the
    /// summary says it.
    pub(super) fn tell(&self, sink: &mut dyn Sink) -> io::Result<()> {
        if self.weak_files == 0 || self.weak_files == self.files {
            return Ok(());
        }
        let names = self.weak_algorithms.iter().map(Algorithm::to_string);
        let algorithms = names.collect::<Vec<_>>().join(", ");
        let files = self.weak_files;
        sink.event(Event::Note(&Note::WeaklyProved { files, algorithms }))
    }
}
