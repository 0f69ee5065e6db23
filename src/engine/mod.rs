//! Reads files and computes digests on all cores, in order and in bounded memory.

mod gauges;
mod job;

pub use gauges::{Gauges, LARGE_FILE_BYTES, LargeFile, LargeGuard, Totals};
pub use job::{Hashed, Instability, Job, Links, Outcome, Source, Task};
