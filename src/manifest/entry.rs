//! One entry of a manifest, as it is written and as it was read.

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::relpath::RelPath;

/// What a writer is given for one file.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The name.
    pub name: &'a RelPath,
    /// The digests, one for each algorithm of the run; a format takes those it was asked to carry.
    pub digests: &'a [Digest],
}

/// Why a file has no digest in the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapKind {
    /// It could not be opened or read to the end.
    Unreadable,
    /// It changed while it was being read.
    Unstable,
}

/// What a manifest claims of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The name as the manifest spells it, unescaped.
    pub name: RelPath,
    /// The digest that the file must have.
    pub digest: ClaimedDigest,
}

/// A digest with its algorithm, as far as the manifest tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimedDigest {
    /// The algorithm is known.
    Known(Digest),
    /// Only the length is known; one of these algorithms made it, most likely the first.
    OneOf {
        /// The bytes of the digest.
        bytes: Box<[u8]>,
        /// The algorithms with that digest length, the usual one first; at least two.
        candidates: &'static [Algorithm],
    },
}

/// One line or record of a manifest, with comments and empty lines left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The line (or NUL-terminated record), counted from 1.
    pub line: u64,
    /// What stands there.
    pub content: Content,
}

/// What stands in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A claim to be verified.
    Claim(Claim),
    /// A file that the writer knew of and could not hash.
    Gap {
        /// Its name.
        name: RelPath,
        /// Why it was not hashed.
        kind: GapKind,
    },
    /// A line that cannot be understood or must not be used.
    Malformed(super::Malformed),
}
