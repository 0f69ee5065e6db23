//! Records as bytes.

use std::path::Path;

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::engine::{Hashed, Identity, Saved, Status};
use crate::hasher::new_hasher;
use crate::relpath::RelPath;
use crate::timestamp::Timestamp;

use super::mounts::Mount;
use super::{Recorded, Term};

/// How every journal begins. Another layout of records has another number.
pub(super) const BEGINNING: &[u8] = b"multisum journal 3\n";

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
    Mounts(Vec<Mount>),
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

pub(super) fn mounts(mounts: &[Mount]) -> Vec<u8> {
    let mut out = vec![b'M'];
    put_number(&mut out, mounts.len() as u64);
    for mount in mounts {
        put_bytes(&mut out, mount.folder.as_bytes());
        put_bytes(&mut out, mount.id.as_bytes());
    }
    out
}

/// `None` for what could not be recognised again.
pub(super) fn entry(
    name: &RelPath,
    hashed: &Hashed,
    mount: Option<u64>,
    since: Timestamp,
) -> Option<Vec<u8>> {
    let status = Status {
        size: hashed.size,
        modified: Some(Timestamp::from_system(hashed.modified?)?),
        identity: hashed.identity,
    };
    let mut out = vec![b'E'];
    put_bytes(&mut out, name.as_bytes());
    put_moment(&mut out, since);
    put_mount(&mut out, mount);
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

pub(super) fn saved(saved: &Saved, mount: Option<u64>, since: Timestamp) -> Vec<u8> {
    let mut out = vec![b'S'];
    put_bytes(&mut out, RelPath::from_path(&saved.path).as_bytes());
    put_bytes(&mut out, VERSION.as_bytes());
    put_moment(&mut out, since);
    put_mount(&mut out, mount);
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
        b'M' => fields.mounts().map(Record::Mounts),
        b'E' => fields.name().map(Record::Entry),
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
    let mut fields = Fields(payload.strip_prefix(b"E")?);
    let name = fields.name()?;
    let recorded = Recorded {
        since: fields.moment()?,
        mount: fields.mount()?,
        status: fields.status()?,
        retried_reads: fields.number()?.try_into().ok()?,
        direct_refused: fields.is_there()?,
        digests: fields.digests()?,
    };
    fields.0.is_empty().then_some((name, recorded))
}

/// States, since when the file must not have been touched, and its mount; `None` also for those of
/// another version.
pub(super) fn read_saved(payload: &[u8]) -> Option<(Saved, Timestamp, Option<u64>)> {
    let mut fields = Fields(payload.strip_prefix(b"S")?);
    let path = fields.name()?.to_path()?;
    let is_ours = fields.bytes()? == VERSION.as_bytes();
    let since = fields.moment()?;
    let mount = fields.mount()?;
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
    (is_ours && fields.0.is_empty()).then_some((saved, since, mount))
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

fn put_mount(out: &mut Vec<u8>, mount: Option<u64>) {
    out.push(u8::from(mount.is_some()));
    put_number(out, mount.unwrap_or(0));
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

    fn digests(&mut self) -> Option<Vec<Digest>> {
        (0..self.number()?)
            .map(|_| Digest::new(self.algorithm()?, self.bytes()?))
            .collect()
    }

    fn mounts(&mut self) -> Option<Vec<Mount>> {
        (0..self.number()?)
            .map(|_| {
                Some(Mount {
                    folder: self.name()?,
                    id: self.name()?,
                })
            })
            .collect()
    }

    /// The outer `None` for what is no such thing.
    #[expect(clippy::option_option, reason = "the inner one was recorded")]
    fn mount(&mut self) -> Option<Option<u64>> {
        let is_there = self.is_there()?;
        let number = self.number()?;
        Some(is_there.then_some(number))
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
