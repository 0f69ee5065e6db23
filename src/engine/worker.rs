//! Workers: called when jobs wait, and gone when none do.

use std::cell::Cell;
use std::num::NonZeroU64;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use crossbeam_channel::{Receiver, Sender};
use rayon::ThreadPool;

use crate::lanes::{Blake2State, Lanes};

use super::job::{Done, Finished};
use super::message::Message;
use super::shift::{Kit, Shift};
use super::{Cancel, Gauges, IoMode, Saved, Task};

/// Files that a worker holds open at most, for the widest kernel with some to refill it from.
pub(super) const MOST_OPEN: usize = 48;

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
    /// Files that all workers together hold open.
    pub(super) open_files: Arc<AtomicUsize>,
    /// What ended shifts have left for the next ones.
    pub(super) kits: Arc<Mutex<Vec<Kit>>>,
    pub(super) readers: usize,
    /// Files that each of them may hold open at most.
    pub(super) files_each: usize,
    pub(super) io: IoMode,
    pub(super) kernels: Lanes,
    pub(super) save_every: Option<NonZeroU64>,
    pub(super) stop: Cancel,
    pub(super) gauges: Arc<Gauges>,
}

impl<T> Clone for Worker<T> {
    fn clone(&self) -> Self {
        Self {
            waiting: self.waiting.clone(),
            finished: self.finished.clone(),
            at_work: Arc::clone(&self.at_work),
            open_files: Arc::clone(&self.open_files),
            kits: Arc::clone(&self.kits),
            readers: self.readers,
            files_each: self.files_each,
            io: self.io,
            kernels: self.kernels,
            save_every: self.save_every,
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
        let mut shift = Shift::new(self);
        loop {
            shift.work();
            shift.worker.at_work.fetch_sub(1, Ordering::SeqCst);
            // A job that came before the place was given back may have found no free place.
            let leave = shift.worker.waiting.is_empty() || shift.worker.stop.is_cancelled();
            if leave || !shift.worker.take_place() {
                break;
            }
        }
        shift.leave_kit();
    }
}

impl<T> Worker<T> {
    /// How many files with such messages are worth holding open: twice what the widest kernel
    /// takes, so that lanes are refilled as files end.
    pub(super) fn most_open(&self, message: &Message) -> usize {
        let algorithms = message.algorithms().iter();
        let widths = algorithms.map(|&algorithm| {
            self.kernels
                .width(algorithm, usize::MAX)
                .max(Blake2State::width(algorithm))
        });
        match widths.max().unwrap_or(1) {
            1 => 1,
            width => (2 * width).min(MOST_OPEN),
        }
    }

    /// Hands states to the consumer.
    pub(super) fn tell_saved(&self, saved: Saved) {
        // As above: without a receiver nobody needs them.
        self.finished.send(Finished::Saved(Box::new(saved))).ok();
    }

    /// Hands outcomes to the consumer.
    pub(super) fn finish(&self, jobs: Vec<Done<T>>) {
        self.gauges.add_files(jobs.len() as u64);
        // Without a receiver the run is over, and the stop flag ends this shift as well.
        self.finished.send(Finished::Jobs(jobs)).ok();
    }

    /// Every kit is whole, so a panic elsewhere cannot spoil them.
    pub(super) fn lock_kits(&self) -> MutexGuard<'_, Vec<Kit>> {
        self.kits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
