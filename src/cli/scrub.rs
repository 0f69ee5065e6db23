//! `--max-bytes`, `--max-time` and `--scrub-state`: a manifest verified in portions, run by run.

use std::fs;
use std::io::{self, Write};
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use crate::error::{FileError, Operation};
use crate::event::Note;
use crate::manifest::gnu_escape_into;
use crate::ops::{Portion, ScrubState, ScrubStateError, Scrubbed};
use crate::relpath::RelPath;
use crate::timestamp::Timestamp;
use crate::walk::LeaveOut;

use super::args::{PortionArgs, VerifyArgs};
use super::output::Output;
use super::plan::Failure;

const SECONDS_OF_DAY: i128 = 24 * 60 * 60;

/// What a state begins with: a line that says what it is of.
const OWNER: &[u8] = b"# of ";

/// The portion that the arguments name, and what earlier runs have left.
pub(super) fn portion(args: &VerifyArgs, start: Instant) -> Result<Portion, Failure> {
    let owner = owner(args);
    let args = &args.portion;
    let read = |path| read(path, &owner);
    let state = args.scrub_state.as_ref().map(read).transpose()?;
    Ok(Portion {
        state: state.map(Arc::new),
        bytes: args.max_bytes.map(NonZeroU64::get),
        until: args.max_time.and_then(|time| start.checked_add(time)),
    })
}

/// The line for the copy that the arguments name. Two copies list the same names, so that the state of
/// one would tell of the files of the other that they had been read.
fn owner(args: &VerifyArgs) -> Vec<u8> {
    let mut line = OWNER.to_vec();
    let places = args.manifests.iter().chain(&args.base);
    for (number, place) in places.enumerate() {
        if number > 0 {
            line.extend_from_slice(b" in ");
        }
        let whole = place.canonicalize().unwrap_or_else(|_| place.clone());
        gnu_escape_into(RelPath::from_path(&whole).as_bytes(), &mut line);
    }
    line.push(b'\n');
    line
}

/// A state that is not there is that of a first run.
fn read(path: &PathBuf, owner: &[u8]) -> Result<ScrubState, Failure> {
    let failed = |operation| move |error| FileError::new(operation, path, error);
    let refused = |reason| Failure::ScrubState {
        path: path.clone(),
        reason,
    };
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(ScrubState::default()),
        Err(error) => return Err(failed(Operation::Stat)(error).into()),
        // To open a pipe would be to wait for somebody to write to it.
        Ok(metadata) if !metadata.is_file() => return Err(refused(ScrubStateError::NoState)),
        Ok(_) => {}
    }
    let text = fs::read(path).map_err(failed(Operation::Read))?;
    match text.strip_prefix(owner) {
        Some(rest) => ScrubState::read(rest).map_err(refused),
        None if text.starts_with(OWNER) => Err(Failure::OtherScrubState(path.clone())),
        None => Err(refused(ScrubStateError::NoState)),
    }
}

/// The state is no file of the tree.
pub(super) fn leave_out(args: &PortionArgs, leave_out: &mut LeaveOut) -> Result<(), FileError> {
    let Some(path) = args.scrub_state.as_ref().filter(|path| path.exists()) else {
        return Ok(());
    };
    leave_out
        .add_path(path)
        .map_err(|error| FileError::new(Operation::Stat, path, error))
}

/// Begins to write the state for the next run, so that one that cannot be written is known before
/// anything is read.
pub(super) fn begin(args: &VerifyArgs) -> Result<Option<Output>, Failure> {
    let Some(path) = &args.portion.scrub_state else {
        return Ok(None);
    };
    let failed = |reason| Failure::output(path, reason);
    let mut output = Output::create(path, true).map_err(failed)?;
    output.append(|buffer| buffer.write_all(&owner(args)))?;
    Ok(Some(output))
}

/// What came of writing the state for the next run.
pub(super) struct KeptState {
    path: PathBuf,
    written: Result<(), Failure>,
}

/// Writes the state for the next run, however this one has ended.
pub(super) fn keep((output, scrubbed): (Output, Scrubbed)) -> KeptState {
    KeptState {
        path: output.path().to_owned(),
        written: write(output, &scrubbed),
    }
}

impl KeptState {
    /// The end of the run, with what became of its state.
    pub(super) fn and<T>(self, ended: Result<T, Failure>) -> Result<T, Failure> {
        match (ended, self.written) {
            (Ok(end), written) => written.map(|()| end),
            (Err(cause), Ok(())) => Err(Failure::PortionKept {
                cause: Box::new(cause),
                state: self.path,
            }),
            (Err(cause), Err(lost)) => Err(Failure::PortionLost {
                cause: Box::new(cause),
                lost: Box::new(lost),
            }),
        }
    }
}

fn write(mut output: Output, scrubbed: &Scrubbed) -> Result<(), Failure> {
    output.append(|buffer| buffer.write_all(&scrubbed.state.to_bytes()))?;
    let path = output.path().to_owned();
    let published = output.publish();
    published.map_err(|reason| Failure::output(&path, reason))
}

/// Says what has waited longest.
pub(super) fn notes(scrubbed: &Scrubbed) -> Vec<Note> {
    let mut notes = Vec::new();
    if scrubbed.never > 0 {
        notes.push(Note::NeverProved(scrubbed.never));
    }
    if let Some(since) = scrubbed.oldest {
        let waited = Timestamp::now().nanoseconds_after(since) / 1_000_000_000;
        let days = u64::try_from(waited / SECONDS_OF_DAY).unwrap_or(0);
        notes.push(Note::LongestWait { since, days });
    }
    notes
}
