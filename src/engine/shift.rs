//! What a worker does between picking up its first waiting job and finding none left.

use std::cell::Cell;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crossbeam_channel::{Receiver, Sender};
use rayon::ThreadPool;

use crate::algorithm::Algorithm;
use crate::error::FileError;
use crate::hasher::MultiHasher;

use super::buffer::Buffer;
use super::gauges::{LARGE_FILE_BYTES, LargeGuard};
use super::open_file::OpenFile;
use super::run::Finished;
use super::{Cancel, Gauges, IoMode, Outcome, Task, spread};

/// Bytes that are read at a time. On trees of files that are in the page cache 256 KiB and 1 MiB
/// measured the same; single large files gain from longer reads, since algorithms are handed out
/// to other threads once a buffer.
const BUFFER_BYTES: usize = 512 * 1024;

/// How many files a worker holds open at the same time.
const OPEN_FILES: usize = 1;

/// Rounds that a worker without jobs helps others or yields before its shift ends; starting a new
/// shift costs a few microseconds.
const IDLE_ROUNDS: usize = 32;

/// A job with its place in the order.
pub(super) struct Waiting<T> {
    pub(super) sequence: u64,
    pub(super) token: T,
    pub(super) task: Task,
}

/// What the feeder needs to hand on jobs.
pub(super) struct Shared<T> {
    pub(super) pool: ThreadPool,
    pub(super) sender: Sender<Waiting<T>>,
    pub(super) worker: Worker<T>,
}

impl<T: Send + 'static> Shared<T> {
    /// Starts another shift unless enough are at work.
    pub(super) fn call_worker(&self) {
        if self.worker.take_place() {
            let worker = self.worker.clone();
            self.pool.spawn(move || worker.start_shift());
        }
    }
}

/// What every worker knows.
pub(super) struct Worker<T> {
    pub(super) waiting: Receiver<Waiting<T>>,
    pub(super) finished: Sender<Finished<T>>,
    /// Shifts that have been called and have not ended.
    pub(super) at_work: Arc<AtomicUsize>,
    pub(super) readers: usize,
    pub(super) io: IoMode,
    pub(super) stop: Cancel,
    pub(super) gauges: Arc<Gauges>,
}

impl<T> Clone for Worker<T> {
    fn clone(&self) -> Self {
        Self {
            waiting: self.waiting.clone(),
            finished: self.finished.clone(),
            at_work: Arc::clone(&self.at_work),
            readers: self.readers,
            io: self.io,
            stop: self.stop.clone(),
            gauges: Arc::clone(&self.gauges),
        }
    }
}

thread_local! {
    /// Whether this thread is inside a shift. While it waits there for an algorithm that another
    /// thread took over, rayon may offer it the start of a second shift.
    static IN_SHIFT: Cell<bool> = const { Cell::new(false) };
}

impl<T: Send + 'static> Worker<T> {
    /// Takes one of the places for readers, if one is free.
    fn take_place(&self) -> bool {
        let one_more = |at_work| (at_work < self.readers).then_some(at_work + 1);
        self.at_work
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more)
            .is_ok()
    }

    /// Works until no job is waiting. On a thread that is already inside a shift the start is put
    /// back for another thread: nested, it would hold up the outer file for as long as jobs come.
    fn start_shift(self) {
        if IN_SHIFT.get() {
            thread::yield_now();
            rayon::spawn(move || self.start_shift());
            return;
        }
        IN_SHIFT.set(true);
        let finished = self.finished.clone();
        let ended = catch_unwind(AssertUnwindSafe(|| self.work_while_jobs_wait()));
        IN_SHIFT.set(false);
        if ended.is_err() {
            // Without a receiver nobody is left to be told.
            finished.send(Finished::Died).ok();
        }
    }

    fn work_while_jobs_wait(self) {
        let mut shift = Shift {
            worker: self,
            open: Vec::new(),
            kits: Vec::new(),
        };
        loop {
            shift.work();
            shift.worker.at_work.fetch_sub(1, Ordering::SeqCst);
            // A job that came before the place was given back may have found no free place.
            let leave = shift.worker.waiting.is_empty() || shift.worker.stop.is_cancelled();
            if leave || !shift.worker.take_place() {
                return;
            }
        }
    }
}

/// A worker with the files it holds open and what it keeps for the next ones.
struct Shift<T> {
    worker: Worker<T>,
    open: Vec<Slot<T>>,
    kits: Vec<Kit>,
}

impl<T: Send + 'static> Shift<T> {
    fn work(&mut self) {
        loop {
            self.pick_up_jobs();
            if self.open.is_empty() || self.worker.stop.is_cancelled() {
                return;
            }
            self.advance_files();
        }
    }

    fn pick_up_jobs(&mut self) {
        let mut idle_rounds = 0;
        while self.open.len() < OPEN_FILES {
            if let Ok(job) = self.worker.waiting.try_recv() {
                self.open_job(job);
            } else if !self.open.is_empty() || idle_rounds == IDLE_ROUNDS {
                return;
            } else {
                idle_rounds += 1;
                if rayon::yield_now() != Some(rayon::Yield::Executed) {
                    thread::yield_now();
                }
            }
        }
    }

    fn open_job(&mut self, job: Waiting<T>) {
        let Waiting {
            sequence,
            token,
            task,
        } = job;
        match OpenFile::open(&task.source, self.worker.io) {
            Ok(file) => {
                let gauges = &self.worker.gauges;
                let large = (file.size() >= LARGE_FILE_BYTES)
                    .then(|| gauges.begin_large(file.path(), file.size()));
                let kit = self.take_kit(&task.algorithms);
                self.open.push(Slot {
                    sequence,
                    token,
                    file,
                    kit,
                    filled: None,
                    large,
                });
            }
            Err(error) => self.worker.finish(sequence, token, Outcome::Failed(error)),
        }
    }

    fn take_kit(&mut self, algorithms: &[Algorithm]) -> Kit {
        let fitting = self
            .kits
            .iter()
            .position(|kit| kit.hasher.algorithms() == algorithms);
        match fitting {
            Some(place) => self.kits.swap_remove(place),
            None => Kit::new(algorithms),
        }
    }

    /// Moves every open file on by one buffer and takes out those that are done.
    fn advance_files(&mut self) {
        for slot in mem::take(&mut self.open) {
            match slot.step(&self.worker.gauges) {
                Step::More(slot) => self.open.push(slot),
                Step::Done {
                    sequence,
                    token,
                    outcome,
                    kit,
                } => {
                    self.worker.finish(sequence, token, outcome);
                    self.kits.push(kit);
                }
            }
        }
    }
}

impl<T> Worker<T> {
    fn finish(&self, sequence: u64, token: T, outcome: Outcome) {
        self.gauges.add_file();
        let outcome = Some(outcome);
        // Without a receiver the run is over, and the stop flag ends this shift as well.
        self.finished
            .send(Finished::Job {
                sequence,
                token,
                outcome,
            })
            .ok();
    }
}

/// Buffers and hashers that go from file to file.
struct Kit {
    hasher: MultiHasher,
    front: Buffer,
    back: Buffer,
}

impl Kit {
    fn new(algorithms: &[Algorithm]) -> Self {
        Self {
            hasher: MultiHasher::new(algorithms),
            front: Buffer::new(BUFFER_BYTES),
            back: Buffer::new(BUFFER_BYTES),
        }
    }
}

/// An open file with everything needed to move it on.
struct Slot<T> {
    sequence: u64,
    token: T,
    file: OpenFile,
    kit: Kit,
    /// Bytes in the front buffer that are not hashed yet; `None` before the first read.
    filled: Option<usize>,
    large: Option<LargeGuard>,
}

enum Step<T> {
    More(Slot<T>),
    Done {
        sequence: u64,
        token: T,
        outcome: Outcome,
        kit: Kit,
    },
}

impl<T> Slot<T> {
    fn step(mut self, gauges: &Gauges) -> Step<T> {
        let moved = if self.file.is_mapped() {
            self.hash_window()
        } else {
            self.hash_buffer()
        };
        match moved {
            Ok(bytes) => {
                gauges.add_bytes(bytes);
                if let Some(large) = &self.large {
                    large.add_bytes(bytes);
                }
                if self.file.has_ended() && self.filled.unwrap_or(0) == 0 {
                    let digests = self.kit.hasher.finish();
                    let Self {
                        sequence,
                        token,
                        file,
                        kit,
                        ..
                    } = self;
                    return Step::Done {
                        sequence,
                        token,
                        outcome: file.finish(digests),
                        kit,
                    };
                }
                Step::More(self)
            }
            Err(error) => {
                self.kit.hasher.reset();
                let Self {
                    sequence,
                    token,
                    kit,
                    ..
                } = self;
                Step::Done {
                    sequence,
                    token,
                    outcome: Outcome::Failed(error),
                    kit,
                }
            }
        }
    }

    fn hash_window(&mut self) -> Result<u64, FileError> {
        let window = self.file.next_window()?;
        spread::update(&mut self.kit.hasher, window, || ());
        Ok(window.len() as u64)
    }

    /// Hashes the front buffer while the back buffer is filled.
    fn hash_buffer(&mut self) -> Result<u64, FileError> {
        let Kit {
            hasher,
            front,
            back,
        } = &mut self.kit;
        let file = &mut self.file;
        let filled = match self.filled {
            Some(filled) => filled,
            None => file.fill(front.as_mut_slice())?,
        };
        let bytes = &front.as_slice()[..filled];
        let next = spread::update(hasher, bytes, || file.fill(back.as_mut_slice()))?;
        mem::swap(front, back);
        self.filled = Some(next);
        Ok(filled as u64)
    }
}
