//! `--max-bytes`, `--max-time` and `--scrub-state`: a manifest verified in portions, run by run.

use std::fs;
use std::io::{self, Write};
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use crate::error::{FileError, Operation};
use crate::event::Note;
use crate::ops::{Portion, ScrubState, Scrubbed};
use crate::timestamp::Timestamp;
use crate::walk::LeaveOut;

use super::args::PortionArgs;
use super::output::Output;
use super::plan::Failure;

const SECONDS_OF_DAY: i128 = 24 * 60 * 60;

/// The portion that the arguments name, and what earlier runs have left.
pub(super) fn portion(args: &PortionArgs, start: Instant) -> Result<Portion, Failure> {
    let state = args.scrub_state.as_ref().map(read).transpose()?;
    Ok(Portion {
        state: state.map(Arc::new),
        bytes: args.max_bytes.map(NonZeroU64::get),
        until: args.max_time.and_then(|time| start.checked_add(time)),
    })
}

/// A state that is not there is that of a first run.
fn read(path: &PathBuf) -> Result<ScrubState, Failure> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(ScrubState::default()),
        Err(error) => return Err(FileError::new(Operation::Read, path, error).into()),
    };
    ScrubState::read(&text).map_err(|reason| Failure::ScrubState {
        path: path.clone(),
        reason,
    })
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

/// Writes the state for the next run, and says what has waited longest.
pub(super) fn keep(args: &PortionArgs, scrubbed: &Scrubbed) -> Result<Vec<Note>, Failure> {
    if let Some(path) = &args.scrub_state {
        let failed = |reason| Failure::output(path, reason);
        let mut output = Output::create(path, true).map_err(failed)?;
        output.append(|buffer| buffer.write_all(&scrubbed.state.to_bytes()))?;
        output.publish().map_err(failed)?;
    }
    let mut notes = Vec::new();
    if scrubbed.never > 0 {
        notes.push(Note::NeverProved(scrubbed.never));
    }
    if let Some(since) = scrubbed.oldest {
        let waited = Timestamp::now().nanoseconds_after(since) / 1_000_000_000;
        let days = u64::try_from(waited / SECONDS_OF_DAY).unwrap_or(0);
        notes.push(Note::LongestWait { since, days });
    }
    Ok(notes)
}
