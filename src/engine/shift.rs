//! The files that a worker holds open: picked up, moved on side by side, and handed in.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use crate::algorithm::Algorithm;
use crate::error::FileError;
use crate::lanes::{Blake2State, Lanes, Stream};

use super::buffer::Buffer;
use super::gauges::LARGE_FILE_BYTES;
use super::job::Done;
use super::message::Message;
use super::open_file::{self, OpenFile, Opened};
use super::slot::{CHUNK_BYTES, LongBuffers, Slot};
use super::worker::{MOST_OPEN, Waiting, Worker};
use super::{IoMode, Outcome, Source, Status, Task};

/// Rounds that a worker without jobs helps others or yields before its shift ends; starting a new
/// shift costs a few microseconds.
const IDLE_ROUNDS: usize = 32;

/// How long a worker without files waits for others to close theirs.
const DESCRIPTOR_WAIT: Duration = Duration::from_millis(1);

#[cfg(unix)]
fn is_want_of_descriptors(error: &FileError) -> bool {
    use rustix::io::Errno;
    let wants = [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error);
    error
        .io_error()
        .raw_os_error()
        .is_some_and(|code| wants.contains(&code))
}

#[cfg(not(unix))]
fn is_want_of_descriptors(_error: &FileError) -> bool {
    false
}

/// The status of a file that need not be read, since what is known of it holds. One that cannot be
/// looked at, or is no regular file, is opened, which tells why.
fn unchanged(task: &Task) -> Option<Status> {
    let known = task.known.as_ref()?;
    let Source::File { path, links } = &task.source else {
        return None;
    };
    let metadata = path.metadata(links.follows()).ok()?;
    let status = metadata.is_file().then(|| Status::of(&metadata))?;
    known.holds(&status).then_some(status)
}

/// What a worker keeps for the next files. It outlasts the shift: memory that was given back would
/// have to be zeroed again.
#[derive(Default)]
pub(super) struct Kit {
    /// Messages and buffers of files that are done.
    spare: Vec<(Message, Buffer)>,
    long: Option<LongBuffers>,
}

/// A worker with the files it holds open.
pub(super) struct Shift<T> {
    pub(super) worker: Worker<T>,
    open: Vec<Slot<T>>,
    /// Jobs that are done and have not been handed in.
    done: Vec<Done<T>>,
    kit: Kit,
    /// A job whose file could not be opened for want of descriptors.
    postponed: Option<Waiting<T>>,
    /// Files that could be open at once before descriptors ran out.
    most_open: usize,
}

impl<T: Send + 'static> Shift<T> {
    pub(super) fn new(worker: Worker<T>) -> Self {
        let most_open = worker.files_each.min(MOST_OPEN);
        let kit = worker.lock_kits().pop().unwrap_or_default();
        Self {
            worker,
            open: Vec::new(),
            done: Vec::new(),
            kit,
            postponed: None,
            most_open,
        }
    }

    /// Works until no job is waiting and no file is open, or the run is stopped.
    pub(super) fn work(&mut self) {
        loop {
            self.pick_up_jobs();
            self.hand_in();
            if self.open.is_empty() || self.worker.stop.is_cancelled() {
                break;
            }
            match &self.open[..] {
                [slot] if slot.is_long() => self.move_on_alone(),
                _ => self.move_on_side_by_side(),
            }
            self.save_states();
            self.close_done();
            self.hand_in();
        }
        self.worker
            .open_files
            .fetch_sub(self.open.len(), Ordering::Relaxed);
    }

    /// Leaves what later shifts can use.
    pub(super) fn leave_kit(self) {
        self.worker.lock_kits().push(self.kit);
    }

    fn pick_up_jobs(&mut self) {
        let mut idle_rounds = 0;
        let mut room = self.room();
        while room > 0 {
            if let Some(job) = self.next_job() {
                if !self.open_job(job) {
                    return;
                }
                room -= 1;
                if room == 0 {
                    room = self.room();
                }
            } else if !self.open.is_empty() || idle_rounds == IDLE_ROUNDS {
                return;
            } else {
                idle_rounds += 1;
                self.hand_in();
                if rayon::yield_now() != Some(rayon::Yield::Executed) {
                    thread::yield_now();
                }
            }
        }
    }

    fn next_job(&mut self) -> Option<Waiting<T>> {
        self.postponed
            .take()
            .or_else(|| self.worker.waiting.try_recv().ok())
    }

    /// How many more jobs to take: no more than a fair share, so that nobody is idle while another
    /// holds many files, and nothing beside a stream, which may keep everybody waiting.
    fn room(&self) -> usize {
        let Some(first) = self.open.first() else {
            return 1;
        };
        if first.is_stream() {
            return 0;
        }
        let all = self.worker.waiting.len() + self.worker.open_files.load(Ordering::SeqCst);
        let most = self.worker.most_open(first.message()).min(self.most_open);
        most.min(all / self.worker.readers)
            .saturating_sub(self.open.len())
    }

    /// Opens the file of a job, or hands in why not. False if it has to wait until a file has been
    /// closed: a stream until it can be alone, anything for want of descriptors.
    fn open_job(&mut self, job: Waiting<T>) -> bool {
        let is_stream = !matches!(job.task.source, Source::File { .. });
        if let Some(status) = unchanged(&job.task) {
            self.worker.gauges.add_spared(status.size);
            self.add_done(job.sequence, job.token, Outcome::Unread(status));
            return true;
        }
        if is_stream && !self.open.is_empty() {
            self.postponed = Some(job);
            return false;
        }
        if is_stream {
            // Opening it may take as long as it takes somebody to write to it.
            self.hand_in();
        }
        self.worker.open_files.fetch_add(1, Ordering::SeqCst);
        let waiting = self
            .worker
            .gauges
            .wait_for(open_file::path_of(&job.task.source));
        let opened = open_file::open(&job.task.source, self.worker.io);
        drop(waiting);
        let Waiting {
            sequence,
            token,
            task,
        } = job;
        let error = match opened {
            Ok(opened) => {
                self.add(sequence, token, opened, task);
                return true;
            }
            Err(error) => error,
        };
        let others = self.worker.open_files.fetch_sub(1, Ordering::SeqCst) - 1;
        if is_want_of_descriptors(&error) && others > 0 {
            self.postponed = Some(Waiting {
                sequence,
                token,
                task,
            });
            self.most_open = self.open.len().max(1);
            if self.open.is_empty() {
                thread::sleep(DESCRIPTOR_WAIT);
            }
            return self.open.is_empty() && !self.worker.stop.is_cancelled();
        }
        self.add_done(sequence, token, Outcome::Failed(error));
        true
    }

    /// Takes the outcome of a job whose file was not read.
    fn add_done(&mut self, sequence: u64, token: T, outcome: Outcome) {
        self.done.push(Done {
            sequence,
            token,
            outcome: Some(outcome),
        });
        if self.done.len() >= MOST_OPEN {
            self.hand_in();
        }
    }

    fn add(&mut self, sequence: u64, token: T, opened: Opened, task: Task) {
        let Task {
            source,
            algorithms,
            begun,
            ..
        } = task;
        let mut file = OpenFile::new(source, opened);
        let (mut message, buffer) = self.take_spare(&algorithms);
        if let Some(saved) = begun
            && saved.algorithms == algorithms
            && message.restore(&saved.states)
            && !file.skip(&saved)
        {
            message.reset();
        }
        let gauges = &self.worker.gauges;
        let large =
            (file.size() >= LARGE_FILE_BYTES).then(|| gauges.begin_large(file.path(), file.size()));
        gauges.add_spared(file.begun_at());
        if let Some(large) = &large {
            large.add_bytes(file.begun_at());
        }
        self.open
            .push(Slot::new((sequence, token), file, message, buffer, large));
    }

    /// Keeps no more than can be open, however many sets of algorithms a list has.
    fn keep_spare(&mut self, message: Message, buffer: Buffer) {
        let spare = &mut self.kit.spare;
        if spare.len() >= MOST_OPEN {
            spare.swap_remove(0);
        }
        spare.push((message, buffer));
    }

    fn take_spare(&mut self, algorithms: &Arc<[Algorithm]>) -> (Message, Buffer) {
        let fits = |(message, _): &(Message, _)| message.algorithms() == algorithms;
        let spare = &mut self.kit.spare;
        match spare.iter().rposition(fits) {
            Some(place) => spare.swap_remove(place),
            None => {
                let buffer = match self.worker.io {
                    IoMode::Direct => Buffer::new(CHUNK_BYTES),
                    _ => Buffer::staggered(CHUNK_BYTES, self.open.len()),
                };
                (Message::new(algorithms), buffer)
            }
        }
    }

    fn move_on_alone(&mut self) {
        let Self {
            open, kit, worker, ..
        } = self;
        let long = kit.long.get_or_insert_with(LongBuffers::new);
        let _waiting = worker.gauges.wait_for(open[0].path());
        open[0].step_alone(&worker.kernels, long, &worker.gauges);
    }

    fn move_on_side_by_side(&mut self) {
        let Self {
            open, kit, worker, ..
        } = self;
        for slot in open.iter_mut() {
            if let Some(long) = &kit.long {
                slot.catch_up(&worker.kernels, long, &worker.gauges);
            }
            if slot.is_waiting() {
                let _waiting = worker.gauges.wait_for(slot.path());
                slot.read_cached_chunk();
            }
        }
        // The disk is busy for all of them; the one that asked first is served first.
        if open.iter().all(Slot::is_waiting) {
            let _waiting = worker.gauges.wait_for(open[0].path());
            open[0].wait_for_chunk();
        }
        hash_side_by_side(open, &worker.kernels);
        let bytes = open.iter_mut().map(Slot::count_chunk).sum();
        worker.gauges.add_bytes(bytes);
    }

    /// Tells how far long files have come.
    fn save_states(&mut self) {
        let Some(every) = self.worker.save_every else {
            return;
        };
        let saved = self.open.iter_mut().filter_map(|slot| slot.save(every));
        for saved in saved {
            self.worker.tell_saved(saved);
        }
    }

    /// Closes the files that are done, and keeps the others open.
    fn close_done(&mut self) {
        let before = self.open.len();
        let mut place = 0;
        while place < self.open.len() {
            if self.open[place].is_done() {
                let (done, message, buffer) = self.open.swap_remove(place).finish();
                self.done.push(done);
                self.keep_spare(message, buffer);
            } else {
                place += 1;
            }
        }
        // Only now are their descriptors free.
        let closed = before - self.open.len();
        self.worker.open_files.fetch_sub(closed, Ordering::SeqCst);
    }

    /// Hands in the jobs that are done.
    fn hand_in(&mut self) {
        if !self.done.is_empty() {
            self.worker.finish(mem::take(&mut self.done));
        }
    }
}

fn hash_side_by_side<T>(open: &mut [Slot<T>], kernels: &Lanes) {
    let mut streams = Vec::with_capacity(open.len() * 4);
    let mut blake2 = Vec::new();
    for slot in open {
        let Some((message, chunk, last)) = slot.chunk() else {
            continue;
        };
        message.update_hashers(chunk);
        let (lane_states, blake2_states) = message.side_by_side();
        streams.extend(
            lane_states
                .iter_mut()
                .map(|state| Stream { state, chunk, last }),
        );
        blake2.extend(blake2_states.iter_mut().map(|state| (state, chunk)));
    }
    kernels.advance(&mut streams);
    Blake2State::update_many(&mut blake2);
}
