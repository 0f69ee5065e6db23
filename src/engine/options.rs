//! How a run uses the machine.

use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::Arc;
use std::thread;

use crate::lanes::Lanes;

use super::{Cancel, Gauges};

/// How files are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoMode {
    /// Whatever was measured to be fastest: reads into a buffer for every size, and none that waits
    /// for the disk while other files are there to be hashed. Mapping took 0.97 of the time on one
    /// 1 GiB file and 1.09 on many of 1 MiB (`benches/record/`).
    #[default]
    Auto,
    /// Reads into a reusable buffer.
    Read,
    /// Memory maps, in windows, safe against truncation. Like `Read` where there are no maps.
    Mmap,
    /// Past the page cache, so that the medium is read and not memory. A file system that refuses
    /// is read in the plain way, and [`super::Hashed::direct_refused`] says so.
    Direct,
}

/// How a run uses the machine. None of it changes the results.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads of the pool; default: the number of cores.
    pub threads: NonZeroUsize,
    /// How many of them read files at the same time; default: all. One is right for a rotating
    /// disk; the other threads then still take over algorithms of the file being read.
    pub readers: NonZeroUsize,
    /// How files are read.
    pub io: IoMode,
    /// The kernels that hash side by side; default: the best that this CPU has.
    pub kernels: Lanes,
    /// Jobs that may be under way between the iterator and the sink; default: 512 for each
    /// thread and at least 4096. It bounds memory when a huge file stands before many small ones.
    pub window: NonZeroUsize,
    /// Every how many bytes of a file the states of its algorithms are handed to the observer of the
    /// run; default: never.
    pub save_every: Option<NonZeroU64>,
    /// Stops the run from outside.
    pub cancel: Cancel,
    /// Counts what is being read, for a progress display.
    pub gauges: Arc<Gauges>,
}

const WINDOW_PER_THREAD: NonZeroUsize = NonZeroUsize::MIN.saturating_add(511);
const WINDOW_AT_LEAST: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4095);

impl Default for Options {
    fn default() -> Self {
        Self::with_threads(thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }
}

impl Options {
    /// The defaults for a given number of threads.
    pub fn with_threads(threads: NonZeroUsize) -> Self {
        Self {
            threads,
            readers: threads,
            io: IoMode::default(),
            kernels: Lanes::detect(),
            window: threads
                .saturating_mul(WINDOW_PER_THREAD)
                .max(WINDOW_AT_LEAST),
            save_every: None,
            cancel: Cancel::default(),
            gauges: Arc::default(),
        }
    }
}
