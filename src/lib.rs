//! Hashes whole trees with several algorithms in one read, writes manifests, and proves copies
//! against them.
//!
//! This is the library behind the `multisum` command. It never prints and never exits: everything
//! that it has to say is a return value or an [`event::Event`] pushed into a [`event::Sink`].
//!
//! # The parts, from the ground up
//!
//! | layer | modules | what they know |
//! |---|---|---|
//! | 0 | [`c4`], [`counted`](mod@counted), [`error`], [`hex`], [`location`], [`nearest`](mod@nearest), [`quote`], [`relpath`], [`signature`], [`timestamp`] | names, times and errors as data; what is opened without following links |
//! | 1 | [`algorithm`], [`digest`], [`hasher`], [`lanes`], [`slice`](mod@slice) | bytes in, digests out |
//! | 2 | [`walk`], [`manifest`], [`engine`] | the tree, the list, the machine; none knows another |
//! | 3 | [`event`] | what can be said of a name |
//! | 4 | [`ops`], [`report`] | what the commands do; how it is shown |
//! | 5 | [`cli`] | the command line |
//!
//! A file imports from lower layers and from its own folder only; `tests/layers.rs` checks it.
//!
//! # The threads
//!
//! ```text
//!  walk (sorted) ──► feeder thread ──bounded channel──► rayon pool: files, buffers, hashers
//!                       ▲ permits                             │ outcomes in any order
//!                       └──────── reorder, on the caller's thread ──► Sink: manifest, report
//! ```
//!
//! A permit is taken for each job and comes back when its outcome has been handed on, so memory
//! depends on the options and not on the number or size of files.
//!
//! # A tour in ten minutes
//!
//! `engine/mod.rs`, then `engine/run.rs` and `engine/shift.rs`; `lanes/mod.rs`; `manifest/mod.rs` and one format,
//! `manifest/gnu.rs`; `ops/verify/mod.rs`; `cli/mod.rs`.
//!
//! # Examples
//!
//! ```
//! use multisum::{Algorithm, MultiHasher};
//!
//! let mut hasher = MultiHasher::new(&[Algorithm::Md5, Algorithm::Sha256]);
//! hasher.update(b"abc");
//! let digests = hasher.finish();
//! assert_eq!(digests[0].to_string(), "900150983cd24fb0d6963f7d28e17f72");
//! ```
//!
//! Whole trees and verification: `examples/`.

pub mod algorithm;
pub mod c4;
#[doc(hidden)]
pub mod cli;
pub mod counted;
pub mod digest;
pub mod engine;
pub mod error;
pub mod event;
pub mod hasher;
pub mod hex;
pub mod lanes;
pub mod location;
pub mod manifest;
pub mod nearest;
pub mod ops;
pub mod quote;
pub mod relpath;
pub mod report;
pub mod signature;
pub mod slice;
pub mod timestamp;
pub mod walk;

pub use algorithm::Algorithm;
pub use digest::Digest;
pub use error::{Error, FileError, Operation};
pub use hasher::MultiHasher;
pub use relpath::RelPath;
