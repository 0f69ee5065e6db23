//! What a run has done so far, so that a later run can go on from there.
//!
//! A [`Journal`] takes each file as it is done, in whatever order that happens, and the states of long
//! files in between. When the run ends by itself its output says everything, and the journal is removed.
//! When it is stopped, killed or struck by a power cut, the journal stays, and the next run reads it:
//! [`Lock::take`], [`Lock::contents`], then [`Lock::begin`] or [`Lock::go_on`].
//!
//! # What is believed
//!
//! An entry counts only while the file has the size, the modification time and, where the platform
//! tells them, the device, the inode and the time of the last status change that it had when it was
//! read. What a file gave is compared anew by the run that goes on, and what could not be read is tried
//! again. A file that was touched less than two seconds before the run began, or later, is not believed
//! at all: it could have changed again within one tick of the file system's clock. Where the platform
//! tells neither inode nor status change, size and modification time must do.
//!
//! All of that a clone of the medium has too. So a verification, which is there to find out whether what
//! is mounted now is good, believes an entry only while its file is reached through the mount that it was
//! read through, where the platform tells mounts apart ([`Journal::mind_mounts`]).
//!
//! # The file
//!
//! `.NAME.journal` beside the output `NAME`, or wherever the user wants that of a verification, if no
//! other file is there. It begins with a line that names it, followed by records:
//!
//! ```text
//! length of the payload, 4 bytes | XXH3 of the record's place and payload, 8 bytes | payload
//! ```
//!
//! All numbers are little-endian. The first byte of a payload says what it is: `H`, always first, on
//! what terms the run was made; `E`, a file that was read to its end; `F` and `U`, one that could not be read or
//! changed meanwhile; `S`, the states in the middle of a long one.
//! The first record that does not agree with its checksum ends what is believed, wherever it stands:
//! what a crash had torn off, zeros that a power cut left, or damage.
//!
//! # What may be lost
//!
//! A run that ends within its first second leaves no journal, or a blank one. Records are handed to the
//! system in large pieces, and otherwise by the first file that is done, or the first moment without one,
//! when a second has passed. So a killed run loses what it did in its last second; or since the
//! report was last taken, where whoever takes it holds the run up. They are forced to the medium every
//! five seconds, by a thread of their own, and when the run is stopped or begins to look for what is not
//! listed; a power cut loses what came after.
//!
//! # One run at a time
//!
//! The journal is locked while its run lives, and the system gives the lock back however the run ends.
//! Where a file system cannot lock, two runs over one output are not kept apart.

mod error;
mod file;
mod lock;
mod mounts;
mod past;
mod record;
mod run;
mod writer;

#[cfg(test)]
mod tests;

pub use error::{JournalError, Term};
pub use lock::{Lock, journal_beside};
pub use past::{Contents, Past, Recorded, Resumed};
pub(super) use run::{Keyed, run};
pub use writer::Journal;
