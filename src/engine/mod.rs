//! Reads files and computes digests on all cores, in order and in bounded memory.

mod job;

pub use job::{Hashed, Instability, Job, Links, Outcome, Source, Task};
