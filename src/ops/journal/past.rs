//! What an earlier run has left.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::engine::{Hashed, Instability, Known, Outcome, Saved, Status};
use crate::error::{FileError, Operation};
use crate::relpath::RelPath;
use crate::timestamp::{Modified, Timestamp};

use super::record::{self, BEGINNING, FRAME_BYTES, Header, Record};
use super::{JournalError, Lock, Term, file};

/// What was found in a journal.
#[derive(Debug)]
pub struct Contents {
    /// What an earlier run has left; `None` if that is nothing.
    pub past: Option<Past>,
    /// The place from which on nothing is believed, if something stands there.
    pub damaged_at: Option<u64>,
}

/// The part of a journal that is believed.
#[derive(Debug)]
pub struct Past {
    pub(super) header: Header,
    /// Hashes of names and the places of their entries, in order: 16 bytes an entry, so that a
    /// journal of any length can be gone on from.
    index: Vec<(u64, u64)>,
    /// The places of the last states of long files, by path.
    saved: HashMap<RelPath, u64>,
    /// Where the next record goes.
    pub(super) end: u64,
}

impl Past {
    /// When the first run began.
    pub fn created(&self) -> Timestamp {
        self.header.created
    }

    /// How many files are done, well or badly.
    pub fn files(&self) -> u64 {
        self.index.len() as u64
    }

    /// Whether anything would be lost with it.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty() && self.saved.is_empty()
    }

    pub(super) fn agree(&self, path: &Path, terms: &[Term]) -> Result<(), JournalError> {
        let theirs = &self.header.terms;
        // Lists of another kind are of another command; the first term says which.
        let differs = |(theirs, ours): &(&Term, &Term)| theirs != ours;
        match theirs.iter().zip(terms).find(differs) {
            Some((theirs, ours)) => Err(JournalError::OtherTerms {
                path: path.to_owned(),
                theirs: theirs.clone(),
                ours: ours.value.clone(),
            }),
            None if theirs.len() == terms.len() => Ok(()),
            None => Err(JournalError::Foreign(path.to_owned())),
        }
    }

    pub(super) fn resumed(self, file: Arc<File>) -> Resumed {
        Resumed {
            file,
            index: self.index,
            saved: self.saved,
        }
    }
}

impl Lock {
    /// Reads the journal from its beginning to the first record that is not whole.
    ///
    /// # Errors
    ///
    /// [`JournalError::Foreign`] if it does not begin as a journal, and what the system says.
    pub fn contents(&mut self) -> Result<Contents, JournalError> {
        let failed = |error| FileError::new(Operation::Read, &self.path, error);
        let len = self.file.metadata().map_err(failed)?.len();
        self.file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let mut input = BufReader::with_capacity(1 << 20, &self.file);
        let mut beginning = Vec::new();
        let upto = BEGINNING.len() as u64;
        let read = (&mut input).take(upto).read_to_end(&mut beginning);
        read.map_err(failed)?;
        // A power cut may leave zeros where nothing had been forced to the medium.
        let is_blank = beginning.iter().all(|byte| *byte == 0);
        if beginning != BEGINNING && (is_blank || BEGINNING.starts_with(&beginning)) {
            return Ok(Contents {
                past: None,
                damaged_at: (len > 0).then_some(0),
            });
        }
        if beginning != BEGINNING {
            return Err(JournalError::Foreign(self.path.clone()));
        }
        let past = read_records(&mut input, len).map_err(failed)?;
        let end = past.as_ref().map_or(upto, |past| past.end);
        Ok(Contents {
            past,
            damaged_at: (end < len).then_some(end),
        })
    }
}

fn read_records(input: &mut impl Read, len: u64) -> io::Result<Option<Past>> {
    let mut place = BEGINNING.len() as u64;
    let mut payload = Vec::new();
    let mut past: Option<Past> = None;
    while let Some(after) = next_record(input, place, len, &mut payload)? {
        match (record::read(&payload), &mut past) {
            (Some(Record::Header(header)), None) => {
                past = Some(Past {
                    header,
                    index: Vec::new(),
                    saved: HashMap::new(),
                    end: after,
                });
            }
            (Some(Record::Entry(name)), Some(past)) => {
                past.index.push((record::name_hash(&name), place));
            }
            (Some(Record::Saved(path)), Some(past)) => {
                past.saved.insert(path, place);
            }
            _ => break,
        }
        place = after;
        if let Some(past) = &mut past {
            past.end = place;
        }
    }
    if let Some(past) = &mut past {
        past.index.sort_unstable();
    }
    Ok(past)
}

/// Reads the payload of the record at `place`, and gives the place after it; `None` at the end and at
/// a record that is not whole.
fn next_record(
    input: &mut impl Read,
    place: u64,
    len: u64,
    payload: &mut Vec<u8>,
) -> io::Result<Option<u64>> {
    if len.saturating_sub(place) < FRAME_BYTES as u64 {
        return Ok(None);
    }
    let mut frame = [0; FRAME_BYTES];
    input.read_exact(&mut frame)?;
    let (bytes, sum) = record::frame(frame);
    let start = place + FRAME_BYTES as u64;
    if len - start < u64::from(bytes) {
        return Ok(None);
    }
    payload.resize(bytes as usize, 0);
    input.read_exact(payload)?;
    let is_whole = record::checksum(place, payload) == sum;
    Ok(is_whole.then_some(start + u64::from(bytes)))
}

/// What an earlier run has found of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// What the file was then.
    pub status: Status,
    /// Since when it must not have been touched, if it was found to be readable.
    pub(super) since: Option<Timestamp>,
    /// What came of it.
    pub finding: Finding,
}

/// What came of a file in an earlier run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It was read to its end.
    Hashed {
        /// What came out, in the order of the algorithms of its task.
        digests: Vec<Digest>,
        /// As in [`Hashed`].
        retried_reads: u32,
        /// As in [`Hashed`].
        direct_refused: bool,
    },
    /// It could not be read.
    Failed {
        /// The path that was given to the system.
        path: PathBuf,
        /// What was being done.
        operation: Operation,
        /// How many bytes had been read.
        offset: Option<u64>,
        /// The system's number for the error.
        code: i32,
    },
    /// It changed while it was being read.
    Unstable(Instability),
}

impl Recorded {
    /// What must still hold for it to be of use.
    pub fn known(&self) -> Known {
        known(&self.status, self.since)
    }

    /// The digests, if it was read to its end.
    pub fn digests(&self) -> Option<&[Digest]> {
        match &self.finding {
            Finding::Hashed { digests, .. } => Some(digests),
            Finding::Failed { .. } | Finding::Unstable(_) => None,
        }
    }

    /// The same as if it had been found now.
    pub fn outcome(self) -> Outcome {
        match self.finding {
            Finding::Hashed {
                digests,
                retried_reads,
                direct_refused,
            } => Outcome::Hashed(Hashed {
                digests,
                size: self.status.size,
                read_before: Some(self.status.size),
                modified: self.status.modified.and_then(Timestamp::to_system),
                identity: self.status.identity,
                retried_reads,
                direct_refused,
            }),
            Finding::Failed {
                path,
                operation,
                offset,
                code,
            } => {
                let error = FileError::new(operation, path, io::Error::from_raw_os_error(code));
                Outcome::Failed(match offset {
                    Some(offset) => error.at(offset),
                    None => error,
                })
            }
            Finding::Unstable(how) => Outcome::Unstable(how),
        }
    }
}

fn known(status: &Status, since: Option<Timestamp>) -> Known {
    Known {
        size: Some(status.size),
        modified: status.modified.map(Modified::exactly),
        rounded: false,
        identity: status.identity,
        untouched_since: since,
    }
}

/// What an earlier run has left, to be asked file by file.
#[derive(Debug)]
pub struct Resumed {
    file: Arc<File>,
    index: Vec<(u64, u64)>,
    saved: HashMap<RelPath, u64>,
}

impl Resumed {
    /// What is recorded under this name, the last time it was recorded; digests only if they are of
    /// exactly these algorithms. A record that cannot be read any more is none.
    pub fn entry(&self, name: &RelPath, algorithms: &[Algorithm]) -> Option<Recorded> {
        let hash = record::name_hash(name);
        let from = self.index.partition_point(|(other, _)| *other < hash);
        let same = self.index[from..].iter();
        let same: Vec<u64> = same
            .take_while(|(other, _)| *other == hash)
            .map(|(_, place)| *place)
            .collect();
        same.into_iter().rev().find_map(|place| {
            let (found, recorded) = record::read_entry(&self.payload(place)?)?;
            let is_of_these = recorded.digests().is_none_or(|digests| {
                let computed = digests.iter().map(Digest::algorithm);
                computed.eq(algorithms.iter().copied())
            });
            (found == *name && is_of_these).then_some(recorded)
        })
    }

    /// How far the file at this path had been read.
    pub fn begun(&self, path: &Path) -> Option<Saved> {
        if self.saved.is_empty() {
            return None;
        }
        let place = *self.saved.get(&record::name_of(path))?;
        let (saved, since) = record::read_saved(&self.payload(place)?)?;
        // The states are checked against the file when it is opened; this rules out the files that
        // may have changed again within a tick.
        known(&saved.status, Some(since))
            .holds(&saved.status)
            .then_some(saved)
    }

    fn payload(&self, place: u64) -> Option<Vec<u8>> {
        let mut frame = [0; FRAME_BYTES];
        file::read_exact_at(&self.file, &mut frame, place).ok()?;
        let (len, sum) = record::frame(frame);
        let mut payload = vec![0; len as usize];
        file::read_exact_at(&self.file, &mut payload, place + FRAME_BYTES as u64).ok()?;
        (record::checksum(place, &payload) == sum).then_some(payload)
    }
}
