//! Records as bytes.

use std::path::Path;

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::engine::{Hashed, Identity, Instability, Saved, Status};
use crate::error::{FileError, Operation};
use crate::hasher::new_hasher;
use crate::relpath::RelPath;
use crate::timestamp::Timestamp;

use super::{Finding, Recorded, Term};

/// How every journal begins. Another layout of records has another number.
pub(super) const BEGINNING: &[u8] = b"multisum journal 2\n";

/// Length and checksum before a payload.
pub(super) const FRAME_BYTES: usize = 12;

/// States mean something to the version that saved them.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// On what terms a run was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// When the first of the runs began.
    pub(super) created: Timestamp,
    pub(super) terms: Vec<Term>,
}

/// One payload that was understood.
#[derive(Debug)]
pub(super) enum Record {
    Header(Header),
    /// The bytes are decoded when they are asked for; this is the name.
    Entry(RelPath),
    /// The path of a file in the middle of which states were saved.
    Saved(RelPath),
}

/// Appends a record that will stand at this place of the file.
pub(super) fn put_record(out: &mut Vec<u8>, place: u64, payload: &[u8]) {
    // A payload is a name and a few digests or states.
    let len = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(&checksum(place, payload).to_le_bytes());
    out.extend_from_slice(payload);
}

/// The length of a payload and the checksum that it should have.
pub(super) fn frame(bytes: [u8; FRAME_BYTES]) -> (u32, u64) {
    let [a, b, c, d, sum @ ..] = bytes;
    (u32::from_le_bytes([a, b, c, d]), u64::from_le_bytes(sum))
}

/// The place counts too, so that no record is believed that a file system has put elsewhere.
pub(super) fn checksum(place: u64, payload: &[u8]) -> u64 {
    let mut hasher = new_hasher(Algorithm::Xxh3);
    hasher.update(&place.to_le_bytes());
    hasher.update(&(payload.len() as u64).to_le_bytes());
    hasher.update(payload);
    number(&hasher.finish())
}

/// By what entries are found again.
pub(super) fn name_hash(name: &RelPath) -> u64 {
    let mut hasher = new_hasher(Algorithm::Xxh3);
    hasher.update(name.as_bytes());
    number(&hasher.finish())
}

fn number(digest: &Digest) -> u64 {
    let bytes = digest.as_bytes().first_chunk();
    bytes.map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

pub(super) fn header(header: &Header) -> Vec<u8> {
    let mut out = vec![b'H'];
    put_moment(&mut out, header.created);
    put_number(&mut out, header.terms.len() as u64);
    for term in &header.terms {
        put_bytes(&mut out, term.what.as_bytes());
        put_bytes(&mut out, term.value.as_bytes());
    }
    out
}

/// `None` for what could not be recognised again.
pub(super) fn entry(name: &RelPath, hashed: &Hashed, since: Timestamp) -> Option<Vec<u8>> {
    let status = Status {
        size: hashed.size,
        modified: Some(Timestamp::from_system(hashed.modified?)?),
        identity: hashed.identity,
    };
    let mut out = vec![b'E'];
    put_bytes(&mut out, name.as_bytes());
    put_moment(&mut out, since);
    put_status(&mut out, &status);
    put_number(&mut out, hashed.retried_reads.into());
    out.push(u8::from(hashed.direct_refused));
    put_number(&mut out, hashed.digests.len() as u64);
    for digest in &hashed.digests {
        put_bytes(&mut out, digest.algorithm().to_string().as_bytes());
        put_bytes(&mut out, digest.as_bytes());
    }
    Some(out)
}

/// The operations that may fail on a file that is to be read, by the byte that stands for each.
const OPERATIONS: [(u8, Operation); 4] = [
    (b'o', Operation::Open),
    (b'r', Operation::Read),
    (b's', Operation::Stat),
    (b'm', Operation::Map),
];

/// `None` for what the system did not say: it costs nothing to find out again.
pub(super) fn failed(name: &RelPath, error: &FileError, status: &Status) -> Option<Vec<u8>> {
    let code = error.io_error().raw_os_error()?;
    let mut operations = OPERATIONS.iter();
    let (operation, _) = operations.find(|(_, operation)| *operation == error.operation())?;
    let mut out = vec![b'F'];
    put_bytes(&mut out, name.as_bytes());
    put_status(&mut out, status);
    put_bytes(&mut out, RelPath::from_path(error.path()).as_bytes());
    out.push(*operation);
    out.extend_from_slice(&code.to_le_bytes());
    out.push(u8::from(error.offset().is_some()));
    put_number(&mut out, error.offset().unwrap_or(0));
    Some(out)
}

pub(super) fn unstable(name: &RelPath, how: Instability, status: &Status) -> Vec<u8> {
    let mut out = vec![b'U'];
    put_bytes(&mut out, name.as_bytes());
    put_status(&mut out, status);
    let (kind, numbers) = match how {
        Instability::Length { read, size } => (b'l', [read, size]),
        Instability::Resized { before, after } => (b's', [before, after]),
        Instability::Modified => (b'm', [0; 2]),
        Instability::Replaced => (b'p', [0; 2]),
        Instability::Removed => (b'r', [0; 2]),
    };
    out.push(kind);
    for number in numbers {
        put_number(&mut out, number);
    }
    out
}

pub(super) fn saved(saved: &Saved, since: Timestamp) -> Vec<u8> {
    let mut out = vec![b'S'];
    put_bytes(&mut out, RelPath::from_path(&saved.path).as_bytes());
    put_bytes(&mut out, VERSION.as_bytes());
    put_moment(&mut out, since);
    put_status(&mut out, &saved.status);
    put_number(&mut out, saved.offset);
    put_number(&mut out, saved.states.len() as u64);
    for (algorithm, state) in saved.algorithms.iter().zip(&saved.states) {
        put_bytes(&mut out, algorithm.to_string().as_bytes());
        put_bytes(&mut out, state);
    }
    out
}

/// What a payload is; `None` if it is nothing that this version writes.
pub(super) fn read(payload: &[u8]) -> Option<Record> {
    let (kind, rest) = payload.split_first()?;
    let mut fields = Fields(rest);
    match kind {
        b'H' => read_header(fields).map(Record::Header),
        b'E' | b'F' | b'U' => fields.name().map(Record::Entry),
        b'S' => fields.name().map(Record::Saved),
        _ => None,
    }
}

fn read_header(mut fields: Fields<'_>) -> Option<Header> {
    let created = fields.moment()?;
    let terms = (0..fields.number()?)
        .map(|_| {
            let what = std::str::from_utf8(fields.bytes()?).ok()?;
            Some(Term::new(what, fields.bytes()?))
        })
        .collect::<Option<_>>()?;
    Some(Header { created, terms })
}

pub(super) fn read_entry(payload: &[u8]) -> Option<(RelPath, Recorded)> {
    let (kind, rest) = payload.split_first()?;
    let mut fields = Fields(rest);
    let name = fields.name()?;
    let since = match kind {
        b'E' => Some(fields.moment()?),
        _ => None,
    };
    let status = fields.status()?;
    let finding = match kind {
        b'E' => fields.hashed()?,
        b'F' => fields.failed()?,
        b'U' => Finding::Unstable(fields.instability()?),
        _ => return None,
    };
    let recorded = Recorded {
        status,
        since,
        finding,
    };
    fields.0.is_empty().then_some((name, recorded))
}

/// States, and since when the file must not have been touched; `None` also for those of another
/// version.
pub(super) fn read_saved(payload: &[u8]) -> Option<(Saved, Timestamp)> {
    let mut fields = Fields(payload.strip_prefix(b"S")?);
    let path = fields.name()?.to_path()?;
    let is_ours = fields.bytes()? == VERSION.as_bytes();
    let since = fields.moment()?;
    let status = fields.status()?;
    let offset = fields.number()?;
    let states = (0..fields.number()?)
        .map(|_| Some((fields.algorithm()?, Box::from(fields.bytes()?))))
        .collect::<Option<Vec<_>>>()?;
    let (algorithms, states): (Vec<_>, _) = states.into_iter().unzip();
    let saved = Saved {
        path,
        status,
        offset,
        algorithms: algorithms.into(),
        states,
    };
    (is_ours && fields.0.is_empty()).then_some((saved, since))
}

/// The name under which the states of a file are found again.
pub(super) fn name_of(path: &Path) -> RelPath {
    RelPath::from_path(path)
}

fn put_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn put_moment(out: &mut Vec<u8>, moment: Timestamp) {
    out.extend_from_slice(&moment.seconds().to_le_bytes());
    out.extend_from_slice(&moment.nanoseconds().to_le_bytes());
}

fn put_status(out: &mut Vec<u8>, status: &Status) {
    put_number(out, status.size);
    out.push(u8::from(status.modified.is_some()));
    if let Some(modified) = status.modified {
        put_moment(out, modified);
    }
    out.push(u8::from(status.identity.is_some()));
    if let Some(identity) = status.identity {
        put_number(out, identity.device);
        put_number(out, identity.inode);
        put_moment(out, identity.changed);
    }
}

/// What is left of a payload.
struct Fields<'p>(&'p [u8]);

impl<'p> Fields<'p> {
    fn array<const LEN: usize>(&mut self) -> Option<[u8; LEN]> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*head)
    }

    fn number(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn bytes(&mut self) -> Option<&'p [u8]> {
        let len = usize::try_from(self.number()?).ok()?;
        let (head, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(head)
    }

    fn name(&mut self) -> Option<RelPath> {
        self.bytes().map(RelPath::from_bytes)
    }

    fn algorithm(&mut self) -> Option<Algorithm> {
        std::str::from_utf8(self.bytes()?).ok()?.parse().ok()
    }

    fn hashed(&mut self) -> Option<Finding> {
        let retried_reads = self.number()?.try_into().ok()?;
        let direct_refused = self.is_there()?;
        let digests = (0..self.number()?)
            .map(|_| Digest::new(self.algorithm()?, self.bytes()?))
            .collect::<Option<_>>()?;
        Some(Finding::Hashed {
            digests,
            retried_reads,
            direct_refused,
        })
    }

    fn failed(&mut self) -> Option<Finding> {
        let path = self.name()?.to_path()?;
        let [kind] = self.array()?;
        let mut operations = OPERATIONS.iter();
        let (_, operation) = operations.find(|(byte, _)| *byte == kind)?;
        let code = i32::from_le_bytes(self.array()?);
        let has_offset = self.is_there()?;
        let offset = self.number()?;
        Some(Finding::Failed {
            path,
            operation: *operation,
            offset: has_offset.then_some(offset),
            code,
        })
    }

    fn instability(&mut self) -> Option<Instability> {
        let [kind] = self.array()?;
        let (first, second) = (self.number()?, self.number()?);
        Some(match kind {
            b'l' => Instability::Length {
                read: first,
                size: second,
            },
            b's' => Instability::Resized {
                before: first,
                after: second,
            },
            b'm' => Instability::Modified,
            b'p' => Instability::Replaced,
            b'r' => Instability::Removed,
            _ => return None,
        })
    }

    fn moment(&mut self) -> Option<Timestamp> {
        let seconds = i64::from_le_bytes(self.array()?);
        Timestamp::new(seconds, u32::from_le_bytes(self.array()?))
    }

    fn is_there(&mut self) -> Option<bool> {
        match self.array()? {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }

    fn status(&mut self) -> Option<Status> {
        let size = self.number()?;
        let modified = match self.is_there()? {
            true => Some(self.moment()?),
            false => None,
        };
        let identity = match self.is_there()? {
            true => Some(Identity {
                device: self.number()?,
                inode: self.number()?,
                changed: self.moment()?,
            }),
            false => None,
        };
        Some(Status {
            size,
            modified,
            identity,
        })
    }
}
