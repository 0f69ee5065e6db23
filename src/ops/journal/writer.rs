//! A journal that grows.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::engine::{Hashed, Saved};
use crate::error::{FileError, Operation};
use crate::relpath::RelPath;
use crate::timestamp::Timestamp;

use super::record::{self, BEGINNING, Header};
use super::{JournalError, Lock, Past, Resumed, Term, file, mounts};

/// What a killed run may lose.
const WRITE_EVERY: Duration = Duration::from_secs(1);

/// What a power cut may lose.
const SYNC_EVERY: Duration = Duration::from_secs(5);

/// Bytes that are collected at most.
const BUFFER_BYTES: usize = 64 * 1024;

/// The coarsest clock of a file system, FAT's: a file that was touched so shortly before a run began
/// may be touched again without a trace.
const TICK_SECONDS: i64 = 2;

/// The journal of a run.
///
/// Dropped before anything was written, it vanishes; else it stays for a later run, but for what had
/// not been written yet: that takes [`Journal::stop`].
#[derive(Debug)]
pub struct Journal {
    file: Arc<File>,
    path: PathBuf,
    /// What an earlier run has left.
    pub(super) resumed: Option<Arc<Resumed>>,
    since: Timestamp,
    buffer: Vec<u8>,
    /// Where in the file the buffer goes.
    place: u64,
    /// Files that are recorded, by earlier runs too.
    files: u64,
    has_content: bool,
    /// Whether what is recorded counts only while files are reached through the same mounts.
    pub(super) minds_mounts: bool,
    is_left: bool,
    written: Instant,
    synced: Instant,
    syncer: Option<Syncer>,
}

impl Lock {
    /// Begins a journal of a run that is made on these terms. Whatever was in it is gone.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn begin(self, created: Timestamp, terms: &[Term]) -> Result<Journal, JournalError> {
        // Cut to nothing, it might be taken for a file of the user's after a kill.
        let kept = match self.has_beginning {
            true => BEGINNING.len() as u64,
            false => 0,
        };
        let cut = self.file.set_len(kept);
        cut.map_err(|error| FileError::new(Operation::Write, &self.path, error))?;
        let mut journal = self.open(kept);
        if kept == 0 {
            journal.buffer.extend_from_slice(BEGINNING);
        }
        let header = Header {
            created,
            terms: terms.to_vec(),
        };
        journal.put(&record::header(&header));
        Ok(journal)
    }

    /// Goes on with the journal of a run that was made on the same terms; what is not believed is cut
    /// off. What that run has done is spared to the one that is given the journal.
    ///
    /// # Errors
    ///
    /// [`JournalError::OtherTerms`], and what the system says.
    pub fn go_on(self, past: Past, terms: &[Term]) -> Result<Journal, JournalError> {
        past.agree(&self.path, terms)?;
        let cut = self.file.set_len(past.end);
        cut.map_err(|error| FileError::new(Operation::Write, &self.path, error))?;
        let mut journal = self.open(past.end);
        journal.files = past.files();
        journal.has_content = !past.is_empty();
        journal.resumed = Some(Arc::new(past.resumed(Arc::clone(&journal.file))));
        Ok(journal)
    }

    fn open(self, place: u64) -> Journal {
        let now = Timestamp::now();
        let moment = Instant::now();
        Journal {
            file: Arc::new(self.file),
            path: self.path,
            resumed: None,
            since: now.plus_seconds(-TICK_SECONDS).unwrap_or(now),
            buffer: Vec::new(),
            place,
            files: 0,
            has_content: false,
            minds_mounts: false,
            is_left: false,
            written: moment,
            synced: moment,
            syncer: None,
        }
    }
}

impl Journal {
    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether nothing has been written to it yet, as in the first second of a run: it will not be
    /// left behind.
    pub fn is_blank(&self) -> bool {
        self.place <= BEGINNING.len() as u64
    }

    /// How many files are recorded, by earlier runs too.
    pub fn files(&self) -> u64 {
        self.files
    }

    /// Records a file that was read to its end, and through which mount if that matters. What has no
    /// modification time, such as a stream, could not be recognised again, and is left out.
    ///
    /// # Errors
    ///
    /// The journal cannot be written.
    pub fn add(
        &mut self,
        name: &RelPath,
        hashed: &Hashed,
        mount: Option<u64>,
    ) -> Result<(), FileError> {
        if let Some(payload) = record::entry(name, hashed, mount, self.since) {
            self.put(&payload);
            self.files += 1;
            self.has_content = true;
        }
        self.keep_up()
    }

    /// Records how far a file has been read.
    ///
    /// # Errors
    ///
    /// The journal cannot be written.
    pub fn add_saved(&mut self, saved: &Saved) -> Result<(), FileError> {
        let mount = self.minds_mounts.then(|| mounts::number(&saved.path));
        self.put(&record::saved(saved, mount.flatten(), self.since));
        self.has_content = true;
        self.keep_up()
    }

    /// Writes what has waited for long enough. To be called often: whatever is not written when the run
    /// is killed has to be read again.
    ///
    /// # Errors
    ///
    /// The journal cannot be written.
    pub fn keep_up(&mut self) -> Result<(), FileError> {
        if !self.has_content {
            return Ok(());
        }
        let now = Instant::now();
        let is_late = now.duration_since(self.written) >= WRITE_EVERY;
        if self.buffer.len() >= BUFFER_BYTES || (is_late && !self.buffer.is_empty()) {
            self.write()?;
            self.written = now;
        }
        if now.duration_since(self.synced) >= SYNC_EVERY {
            self.synced = now;
            self.ask_for_sync()?;
        }
        Ok(())
    }

    /// Forces everything to the medium, for a while in which [`Journal::keep_up`] is not called.
    ///
    /// # Errors
    ///
    /// The journal cannot be written.
    pub fn secure(&mut self) -> Result<(), FileError> {
        if !self.has_content {
            return Ok(());
        }
        self.write()?;
        let synced = self.file.sync_data();
        let synced = synced.and_then(|()| file::sync_folder(&self.path));
        synced.map_err(|error| FileError::new(Operation::Sync, &self.path, error))
    }

    /// Forces everything to the medium and leaves it for a later run, unless it is blank.
    ///
    /// # Errors
    ///
    /// The journal cannot be written.
    pub fn stop(mut self) -> Result<(), FileError> {
        if self.is_blank() {
            // Removed when it is dropped.
            return Ok(());
        }
        self.secure()
    }

    /// From now on the end of the run is no reason to remove it: not all was done.
    pub fn leave(&mut self) {
        self.is_left = true;
    }

    /// Removes it, since the output says everything, or [stops](Journal::stop) it where there is more to
    /// do.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn finish(self) -> Result<(), FileError> {
        if self.is_left {
            return self.stop();
        }
        if self.is_blank() {
            // Removed when it is dropped, and no harm if it cannot be.
            return Ok(());
        }
        let removed = fs::remove_file(&self.path);
        removed.map_err(|error| FileError::new(Operation::Remove, &self.path, error))
    }

    pub(super) fn put(&mut self, payload: &[u8]) {
        let place = self.place + self.buffer.len() as u64;
        record::put_record(&mut self.buffer, place, payload);
    }

    pub(super) fn write(&mut self) -> Result<(), FileError> {
        let written = file::write_all_at(&self.file, &self.buffer, self.place);
        written.map_err(|error| FileError::new(Operation::Write, &self.path, error))?;
        self.place += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    fn ask_for_sync(&mut self) -> Result<(), FileError> {
        let failed = |error| FileError::new(Operation::Sync, &self.path, error);
        let syncer = match self.syncer.take() {
            Some(syncer) => syncer,
            None => Syncer::start(Arc::clone(&self.file), self.path.clone()).map_err(failed)?,
        };
        syncer.ask().map_err(failed)?;
        self.syncer = Some(syncer);
        Ok(())
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.is_blank() {
            // It holds nothing, so that it is no loss if it stays.
            fs::remove_file(&self.path).ok();
        }
    }
}

/// A thread that forces the journal to the medium, which may take long.
#[derive(Debug)]
struct Syncer {
    requests: SyncSender<()>,
    failure: Arc<Mutex<Option<io::Error>>>,
}

impl Syncer {
    fn start(file: Arc<File>, path: PathBuf) -> io::Result<Self> {
        let (requests, asked) = sync_channel(1);
        let failure = Arc::new(Mutex::new(None));
        let failed = Arc::clone(&failure);
        let sync = move || {
            // The name of a new file, once.
            let mut synced = file::sync_folder(&path);
            while synced.is_ok() && asked.recv().is_ok() {
                synced = file.sync_data();
            }
            *failed.lock().unwrap_or_else(PoisonError::into_inner) = synced.err();
        };
        thread::Builder::new()
            .name("multisum-sync".to_owned())
            .spawn(sync)?;
        Ok(Self { requests, failure })
    }

    /// Asks for one more, unless one is asked for already, and tells of one that has failed.
    fn ask(&self) -> io::Result<()> {
        match self.requests.try_send(()) {
            Ok(()) | Err(TrySendError::Full(())) => Ok(()),
            Err(TrySendError::Disconnected(())) => {
                let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                Err(failure
                    .take()
                    .unwrap_or_else(|| io::ErrorKind::Other.into()))
            }
        }
    }
}
