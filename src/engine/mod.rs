//! Reads files and computes digests on all cores, in order and in bounded memory.
//!
//! ```text
//!  caller's thread        feeder thread                rayon pool               caller's thread
//!  run(jobs, …)  ──────►  permit, then job ─bounded─►  shifts: open files, ─►  reorder ─► sink
//!                             ▲              channel   buffers, hashers              │
//!                             └──────────────── a permit comes back ◄────────────────┘
//! ```
//!
//! Nothing that runs in the pool ever waits for something that needs the pool: a worker's *shift*
//! ends when no job is waiting and starts again when one is, so that in between its thread is free
//! to take over single algorithms of a large file that another worker is reading.

mod buffer;
mod cancel;
mod disk;
mod feed;
mod gauges;
mod job;
mod limits;
mod message;
#[cfg(unix)]
mod mmap;
mod open_file;
mod options;
mod reorder;
mod run;
mod shift;
mod slot;
mod stamp;
mod worker;

pub use cancel::Cancel;
pub use disk::is_rotating;
pub use gauges::{Gauges, LARGE_FILE_BYTES, LargeFile, LargeGuard, Totals};
pub use job::{Hashed, Instability, Job, Links, Outcome, Source, Task};
pub use options::{IoMode, Options};
pub use run::run;
