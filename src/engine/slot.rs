//! A file that is open, and what it needs to be moved on.

use std::mem;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;

use crate::error::FileError;
use crate::lanes::Lanes;

use super::buffer::Buffer;
use super::gauges::LargeGuard;
use super::job::Done;
use super::message::Message;
use super::open_file::OpenFile;
use super::{Gauges, Outcome, Saved};

/// Bytes that are read at a time of each of several files. With more, the chunks of all lanes no
/// longer stay in the cache while one algorithm after the other takes them.
pub(super) const CHUNK_BYTES: usize = 64 * 1024;

/// Bytes that are read at a time of a file that is alone. It is handed out to other threads chunk
/// by chunk, so longer is better, until a chunk leaves the cache.
const LONG_CHUNK_BYTES: usize = 1024 * 1024;

/// The same for mapped files: a mapping costs more than a read, and nothing is copied.
const MAPPED_CHUNK_BYTES: u64 = 256 * 1024;
const LONG_MAPPED_BYTES: u64 = 8 << 20;

/// States are saved at multiples of this, where long chunks meet, every way of reading can go on and
/// BLAKE3 has whole subtrees.
const SAVED_AT_BYTES: u64 = LONG_CHUNK_BYTES as u64;

/// Buffers of a file that is alone: one is hashed while the other is filled.
pub(super) struct LongBuffers {
    front: Buffer,
    back: Buffer,
}

impl LongBuffers {
    pub(super) fn new() -> Self {
        Self {
            front: Buffer::new(LONG_CHUNK_BYTES),
            back: Buffer::new(LONG_CHUNK_BYTES),
        }
    }
}

/// The part of a long buffer that is read next. After a short read in between, the chunks meet at
/// multiples of their length again.
fn to_next_edge<'b>(file: &OpenFile, buffer: &'b mut Buffer) -> &'b mut [u8] {
    let over = file.read_bytes() % LONG_CHUNK_BYTES as u64;
    // Less than the buffer's length.
    let over = usize::try_from(over).unwrap_or(0);
    &mut buffer.as_mut_slice()[..LONG_CHUNK_BYTES - over]
}

/// An open file with its place in the order.
pub(super) struct Slot<T> {
    sequence: u64,
    token: T,
    file: OpenFile,
    message: Message,
    /// Its own buffer for when it is one of several.
    buffer: Buffer,
    large: Option<LargeGuard>,
    /// Bytes that the message has taken.
    hashed: u64,
    /// Of those, how many when the states were last saved.
    saved_at: u64,
    /// Bytes of the chunk that is to be hashed next; `None` if none has been read.
    ready: Option<usize>,
    /// Bytes in the long front buffer that are to be hashed before anything else.
    ahead: usize,
    failed: Option<FileError>,
}

impl<T> Slot<T> {
    pub(super) fn new(
        (sequence, token): (u64, T),
        file: OpenFile,
        message: Message,
        buffer: Buffer,
        large: Option<LargeGuard>,
    ) -> Self {
        let (ready, ahead, failed) = (None, 0, None);
        let begun_at = file.begun_at();
        Self {
            sequence,
            token,
            file,
            message,
            buffer,
            large,
            hashed: begun_at,
            saved_at: begun_at,
            ready,
            ahead,
            failed,
        }
    }

    pub(super) fn is_stream(&self) -> bool {
        self.file.is_stream()
    }

    pub(super) fn message(&self) -> &Message {
        &self.message
    }

    /// Whether nothing is left to do but to look at the file once more.
    pub(super) fn is_done(&self) -> bool {
        let hashed = self.ready.is_none() && self.ahead == 0;
        self.failed.is_some() || (self.file.has_ended() && hashed)
    }

    /// Reads the next chunk, for hashing side by side with other files; nothing if that would mean
    /// to wait for the disk.
    pub(super) fn read_cached_chunk(&mut self) {
        let read = match self.file.is_mapped() {
            true => self.file.map_next(MAPPED_CHUNK_BYTES).map(Some),
            false => self.file.fill_from_cache(self.buffer.as_mut_slice()),
        };
        match read {
            Ok(bytes) => self.ready = bytes,
            Err(error) => self.failed = Some(error),
        }
    }

    /// Reads the next chunk, however long it takes.
    pub(super) fn wait_for_chunk(&mut self) {
        match self.file.fill(self.buffer.as_mut_slice()) {
            Ok(bytes) => self.ready = Some(bytes),
            Err(error) => self.failed = Some(error),
        }
    }

    /// The path for reports of progress.
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Whether its next chunk has to come from the disk.
    pub(super) fn is_waiting(&self) -> bool {
        self.ready.is_none() && !self.is_done()
    }

    /// The chunk that was read, the states that take it, and whether it is the last one.
    pub(super) fn chunk(&mut self) -> Option<(&mut Message, &[u8], bool)> {
        let bytes = self.ready?;
        let last = self.file.has_ended();
        let chunk = match self.file.window() {
            Some(window) => window,
            None => &self.buffer.as_slice()[..bytes],
        };
        Some((&mut self.message, chunk, last))
    }

    /// Takes note that the chunk has been hashed, and gives its length. The caller counts it for all
    /// files together.
    pub(super) fn count_chunk(&mut self) -> u64 {
        let bytes = self.ready.take().unwrap_or(0) as u64;
        self.hashed += bytes;
        if let Some(large) = &self.large {
            large.add_bytes(bytes);
        }
        bytes
    }

    fn count(&mut self, bytes: u64, gauges: &Gauges) {
        self.hashed += bytes;
        gauges.add_bytes(bytes);
        if let Some(large) = &self.large {
            large.add_bytes(bytes);
        }
    }

    /// Whether it is worth long buffers: longer than its own one, or of unknown length.
    pub(super) fn is_long(&self) -> bool {
        self.is_stream() || self.file.is_mapped() || self.file.size() > CHUNK_BYTES as u64
    }

    /// Moves a file that is alone on by one long chunk, reading the next one at the same time.
    pub(super) fn step_alone(&mut self, kernels: &Lanes, long: &mut LongBuffers, gauges: &Gauges) {
        match self.try_step_alone(kernels, long) {
            Ok(bytes) => self.count(bytes as u64, gauges),
            Err(error) => self.failed = Some(error),
        }
    }

    fn try_step_alone(
        &mut self,
        kernels: &Lanes,
        long: &mut LongBuffers,
    ) -> Result<usize, FileError> {
        let Self { file, message, .. } = self;
        if file.is_mapped() {
            let bytes = file.map_next(LONG_MAPPED_BYTES)?;
            let last = file.has_ended();
            message.update_alone(kernels, file.window().unwrap_or(&[]), last, || ());
            return Ok(bytes);
        }
        let LongBuffers { front, back } = long;
        if self.ahead == 0 {
            self.ahead = file.fill(to_next_edge(file, front))?;
        }
        let bytes = mem::take(&mut self.ahead);
        let (chunk, last) = (&front.as_slice()[..bytes], file.has_ended());
        let read = || file.fill(to_next_edge(file, back));
        self.ahead = message.update_alone(kernels, chunk, last, read)?;
        mem::swap(front, back);
        Ok(bytes)
    }

    /// Hashes what was read ahead, before the file is one of several.
    pub(super) fn catch_up(&mut self, kernels: &Lanes, long: &LongBuffers, gauges: &Gauges) {
        let bytes = mem::take(&mut self.ahead);
        if bytes > 0 {
            let last = self.file.has_ended();
            self.message
                .update_alone(kernels, &long.front.as_slice()[..bytes], last, || ());
            self.count(bytes as u64, gauges);
        }
    }

    /// The states, if the file is now so many bytes further than when they were last saved.
    ///
    /// Not after the end, where the message has its padding.
    pub(super) fn save(&mut self, every: NonZeroU64) -> Option<Saved> {
        let is_due = self.hashed - self.saved_at >= every.get();
        let is_open = self.failed.is_none() && !self.file.has_ended();
        // Every byte that was read is hashed or waits to be: the offset is that of the states.
        let is_all = self.hashed + self.ahead as u64 == self.file.read_bytes();
        if !is_due || !is_open || !is_all || !self.hashed.is_multiple_of(SAVED_AT_BYTES) {
            return None;
        }
        let states = self.message.save()?;
        self.saved_at = self.hashed;
        Some(Saved {
            path: self.file.path().to_owned(),
            status: self.file.status()?,
            offset: self.hashed,
            algorithms: Arc::clone(self.message.algorithms()),
            states,
        })
    }

    /// What came of the file. The message is ready for the next one.
    pub(super) fn finish(self) -> (Done<T>, Message, Buffer) {
        let Self {
            sequence,
            token,
            file,
            mut message,
            buffer,
            failed,
            ..
        } = self;
        let outcome = match failed {
            Some(error) => {
                message.reset();
                Outcome::Failed(error)
            }
            None => file.finish(message.finish()),
        };
        let done = Done {
            sequence,
            token,
            outcome: Some(outcome),
        };
        (done, message, buffer)
    }
}
