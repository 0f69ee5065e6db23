//! Many messages side by side: MD5, SHA-1 and SHA-2 in the SIMD lanes of one core.
//!
//! One message of a Merkle-Damgård hash is a chain that no SIMD unit can shorten, but several messages
//! fit side by side. [`LaneState`] is one message, [`Stream`] its next chunk, and [`Lanes::advance`]
//! takes any number of them: it completes partial blocks, runs the widest kernel that pays, and hashes
//! the padding of those that end side by side too.
//!
//! It pays on many files: `table.rs` has the measured rates. A single message goes through a
//! single-stream kernel. [`Lanes::advance_together`] is for one message under several algorithms.
//!
//! Where to look: `kernel.rs` says what a kernel is, `schedule.rs` brings messages into lanes, `md5.rs`
//! to `sha512.rs` have the rounds, once each, `arch/` the operations of each instruction set, and
//! `backend.rs` finds out what the CPU has.

#[allow(
    clippy::needless_range_loop,
    reason = "lanes, words and groups are numbers that index several arrays at once"
)]
mod arch;
mod backend;
mod blake2;
mod kernel;
mod known_answers;
mod md5;
mod padding;
mod schedule;
mod sha1;
mod sha256;
mod sha512;
mod state;
mod table;
#[cfg(test)]
mod tests;
mod together;

pub use backend::{BackendError, Lanes};
pub use blake2::Blake2State;
pub use state::{LaneState, Stream};
