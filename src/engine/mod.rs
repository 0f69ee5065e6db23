//! Reads files and computes digests on all cores, in order and in bounded memory.
//!
//! ```text
//!  caller's thread        feeder thread                rayon pool               caller's thread
//!  run(jobs, …)  ──────►  permit, then job ─────────►  shifts: open files, ─►  reorder ─► sink
//!                             ▲                        buffers, hashers              │
//!                             └──────────────── a permit comes back ◄────────────────┘
//! ```
//!
//! Nothing that runs in the pool ever waits for something that needs the pool: a worker's *shift*
//! ends when no job is waiting and starts again when one is, so that in between its thread is free
//! to take over single algorithms of a large file that another worker is reading.
//!
//! # System calls of a small file
//!
//! Five: open, status, one read, status, close. They take two thirds of the CPU time of a tree of
//! small files that are in the page cache. What was measured and left out, on 100,000 files of 1 to
//! 8 KiB (Zen 3, Linux 6.18, whole program unless said otherwise):
//!
//! - io_uring with linked open, read and close through direct descriptors: 1.12 to 1.14 times as
//!   fast warm, once both status calls are kept that prove a file unchanged; cold 1.4 to 2.2 times,
//!   less than asking for the next files' pages while others are hashed, which needs no second way
//!   to read.
//! - Opening relative to the folder's descriptor: 1.02 to 1.04 times.
//! - `fstat` and `read` in place of `statx` and `preadv2`: 6.2 instead of 6.4 microseconds for the five
//!   calls alone.
//! - 16 or 24 files open where the kernel takes 4; a window of 8192 jobs: no difference.
//! - Leaving out the second status call and comparing times with the clock: a file on another
//!   machine's disk could change unnoticed.

mod buffer;
mod cancel;
mod disk;
mod feed;
mod gauges;
mod job;
mod known;
mod limits;
mod message;
#[cfg(unix)]
mod mmap;
mod open_file;
mod options;
mod reorder;
mod run;
mod saved;
mod shift;
mod slot;
mod stamp;
mod worker;

pub use cancel::Cancel;
pub use disk::is_rotating;
pub use gauges::{Gauges, LARGE_FILE_BYTES, LargeFile, LargeGuard, Totals};
pub use job::{Hashed, Instability, Job, Links, Outcome, Source, Task};
pub use known::{Identity, Known, Status};
pub use options::{IoMode, Options};
pub use run::{run, run_observed};
pub use saved::{Observer, Saved};
