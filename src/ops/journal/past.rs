//! What an earlier run has left.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::engine::{Hashed, Known, Outcome, Saved, Status};
use crate::error::{FileError, Operation};
use crate::relpath::RelPath;
use crate::timestamp::{Modified, Timestamp};

use super::mounts::Mount;
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
    mounts: Vec<Mount>,
    /// Where the next record goes.
    pub(super) end: u64,
}

impl Past {
    /// When the first run began.
    pub fn created(&self) -> Timestamp {
        self.header.created
    }

    /// How many files were read to their ends.
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
            mounts: self.mounts,
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
        self.has_beginning = beginning == BEGINNING;
        if !self.has_beginning {
            // A power cut may leave zeros where nothing had been forced to the medium.
            let is_torn = BEGINNING.starts_with(&beginning);
            let zeros = beginning.iter().all(|byte| *byte == 0);
            if is_torn || (zeros && is_zero(&mut input).map_err(failed)?) {
                return Ok(Contents {
                    past: None,
                    damaged_at: (len > 0).then_some(0),
                });
            }
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

fn is_zero(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let piece = input.fill_buf()?;
        if piece.is_empty() {
            return Ok(true);
        }
        if piece.iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        let len = piece.len();
        input.consume(len);
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
                    mounts: Vec::new(),
                    end: after,
                });
            }
            (Some(Record::Entry(name)), Some(past)) => {
                past.index.push((record::name_hash(&name), place));
            }
            (Some(Record::Mounts(mounts)), Some(past)) => past.mounts.extend(mounts),
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

/// What an earlier run has found of a file that it read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// What the file was then.
    pub status: Status,
    /// Since when it must not have been touched.
    pub(super) since: Timestamp,
    /// The mount that it was read through, if that matters and is known.
    pub(super) mount: Option<u64>,
    /// What came out, in the order of the algorithms of its task.
    pub digests: Vec<Digest>,
    /// As in [`Hashed`].
    pub retried_reads: u32,
    /// As in [`Hashed`].
    pub direct_refused: bool,
}

impl Recorded {
    /// What must still hold for it to be of use.
    pub fn known(&self) -> Known {
        known(&self.status, self.since)
    }

    /// The same as if it had been found now.
    pub fn outcome(self) -> Outcome {
        Outcome::Hashed(Hashed {
            digests: self.digests,
            size: self.status.size,
            read_before: Some(self.status.size),
            modified: self.status.modified.and_then(Timestamp::to_system),
            identity: self.status.identity,
            retried_reads: self.retried_reads,
            direct_refused: self.direct_refused,
        })
    }
}

fn known(status: &Status, since: Timestamp) -> Known {
    Known {
        size: Some(status.size),
        modified: status.modified.map(Modified::exactly),
        rounded: false,
        identity: status.identity,
        untouched_since: Some(since),
    }
}

/// What an earlier run has left, to be asked file by file.
#[derive(Debug)]
pub struct Resumed {
    file: Arc<File>,
    index: Vec<(u64, u64)>,
    saved: HashMap<RelPath, u64>,
    pub(super) mounts: Vec<Mount>,
}

impl Resumed {
    /// What is recorded under this name, the last time it was recorded, if the digests are of exactly
    /// these algorithms. A record that cannot be read any more is none.
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
            let computed = recorded.digests.iter().map(Digest::algorithm);
            let is_of_these = computed.eq(algorithms.iter().copied());
            (found == *name && is_of_these).then_some(recorded)
        })
    }

    /// How far the file at this path had been read, if it was through this mount.
    pub(super) fn begun(&self, path: &Path, mount: Option<u64>) -> Option<Saved> {
        if self.saved.is_empty() {
            return None;
        }
        let place = *self.saved.get(&record::name_of(path))?;
        let (saved, since, through) = record::read_saved(&self.payload(place)?)?;
        // The states are checked against the file when it is opened; this rules out the files that
        // may have changed again within a tick.
        let holds = known(&saved.status, since).holds(&saved.status);
        (holds && through == mount).then_some(saved)
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
