//! Manifests: one file a format, and what they share.
//!
//! Reading goes from bytes to [`Record`]s: `lines` cuts the input into lines or NUL-terminated
//! records and undoes UTF-16, `detect` looks at its beginning and decides what it is, `parser` gives
//! each line to the grammars in `gnu` and `bsd`, and `evidence` says whose digest it is. Writing goes
//! the other way, through one [`Writer`] whatever the format.
//!
//! A format has a file of its own with its grammar and its encoder side by side, a row in the table
//! of `format`, and an arm in [`Writer::new`] and [`Reader::new`].

mod bsd;
mod detect;
mod entry;
mod escape;
mod evidence;
mod format;
mod gap;
mod gnu;
mod lines;
mod parser;
mod reader;
mod writer;

pub use entry::{Claim, ClaimedDigest, Content, Entry, GapKind, Record};
pub use evidence::{AlgorithmSource, NamedAlgorithm, candidates};
pub use format::{Format, OutputHint, UnknownFormat, output_hint};
pub use lines::{Encoding, MAX_LINE_LEN_BYTES, Terminator};
pub use reader::{Evidence, FormatSource, Hints, OpenError, Reader};
pub use writer::{EntryError, Writer, WriterError};

use crate::algorithm::Algorithm;

/// Why a line is not an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// The line has the shape of no format that the manifest may hold.
    #[error("not a checksum line")]
    NoShape,
    /// A tag that stands for no known algorithm.
    #[error("unknown algorithm '{}'", crate::quote::Quoted::from_bytes(.0))]
    UnknownTag(Vec<u8>),
    /// The digest is not hexadecimal or not of the algorithm's length.
    #[error("not a {algorithm} digest, which has {expected} hexadecimal digits")]
    BadDigest {
        /// The algorithm that the line, the list or the user names.
        algorithm: Algorithm,
        /// The number of digits it has.
        expected: usize,
    },
    /// No known algorithm has digests of this length.
    #[error("no known algorithm has digests of {0} hexadecimal digits")]
    NoAlgorithm(usize),
    /// A digest so short that anybody can find a file for it by trying.
    #[error("a digest of {0} bits proves nothing")]
    TooShort(u16),
    /// The line names one algorithm and the user another.
    #[error("the line says {line} and -a says {asked}")]
    AlgorithmConflict {
        /// What the line says.
        line: Algorithm,
        /// What the user says.
        asked: Algorithm,
    },
    /// A backslash in an escaped name is followed by something unknown.
    #[error("bad escape in the name")]
    BadEscape,
    /// The name is empty.
    #[error("the name is empty")]
    EmptyName,
    /// The name holds a NUL byte, which no file name can.
    #[error("NUL byte in the name")]
    NulInName,
    /// The line is longer than any name can make it.
    #[error("the line is longer than {0} bytes")]
    TooLong(usize),
    /// One-space and two-space lines are mixed, so that names with leading blanks are ambiguous.
    #[error("one space after the digest, where the lines before have two")]
    MixedSpacing,
    /// Text that is not valid in the encoding that the byte order mark announces.
    #[error("not valid UTF-16")]
    BadEncoding,
}
