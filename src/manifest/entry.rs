//! One entry of a manifest, as it is written and as it was read.

use super::{Malformed, Remark};
use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::relpath::RelPath;
use crate::slice::Slice;
use crate::timestamp::{Modified, Timestamp};

/// What a writer is given for one file.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The name.
    pub name: &'a RelPath,
    /// The digests, one for each algorithm of the run; a format takes those it was asked to carry.
    pub digests: &'a [Digest],
    /// The size in bytes, if it is known.
    pub size: Option<u64>,
    /// The modification time, if it is known.
    pub modified: Option<Modified>,
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
    /// How the name may be meant if there is no file of that name.
    pub other_name: Option<RelPath>,
    /// Every digest that the file must have. Empty if the manifest gives none, or none that may be
    /// used.
    pub digests: Vec<ClaimedDigest>,
    /// The size that it must have, in bytes.
    pub size: Option<u64>,
    /// The time when it was last modified before it was hashed.
    pub modified: Option<Modified>,
    /// What it must be.
    pub kind: Kind,
}

/// What an entry is said to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file with contents.
    File,
    /// A directory; there is nothing to compare but that it is there.
    Directory,
    /// A symbolic link that leads to this name, if the manifest says where.
    Link(Option<RelPath>),
    /// A device, socket or pipe.
    Special,
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
    /// The manifest names an algorithm that this program does not compute.
    Unsupported(Box<str>),
}

impl Claim {
    /// A claim of a file with one digest and nothing else.
    pub fn new(name: RelPath, digest: ClaimedDigest) -> Self {
        Self {
            digests: vec![digest],
            ..Self::bare(name)
        }
    }

    /// A claim of a file of which nothing is said yet.
    pub fn bare(name: RelPath) -> Self {
        Self {
            name,
            other_name: None,
            digests: Vec::new(),
            size: None,
            modified: None,
            kind: Kind::File,
        }
    }

    /// Adds a digest that the entry has as well: once, if it stands there twice.
    ///
    /// # Errors
    ///
    /// Another digest of the same algorithm is there already.
    pub(super) fn add_digest(&mut self, digest: ClaimedDigest) -> Result<(), Malformed> {
        if self.digests.contains(&digest) {
            return Ok(());
        }
        if let ClaimedDigest::Known(new) = &digest {
            let algorithm = new.algorithm();
            let same = |known: &ClaimedDigest| matches!(known, ClaimedDigest::Known(known) if known.algorithm() == algorithm);
            if self.digests.iter().any(same) {
                return Err(Malformed::Rule(format!(
                    "two different {algorithm} digests"
                )));
            }
        }
        self.digests.push(digest);
        Ok(())
    }

    /// Lets backslashes stand for slashes where the name has no slash: Windows may have written it.
    ///
    /// The literal name is looked for first. Not for names that were escaped, in which a backslash
    /// is one.
    #[must_use]
    pub fn maybe_from_windows(mut self) -> Self {
        let bytes = self.name.as_bytes();
        if bytes.contains(&b'\\') && !bytes.contains(&b'/') {
            let slashes: Vec<u8> = bytes
                .iter()
                .map(|&byte| if byte == b'\\' { b'/' } else { byte })
                .collect();
            self.other_name = Some(RelPath::from_bytes(slashes));
        }
        self
    }
}

/// What a manifest says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The folder that names are relative to, itself relative to the manifest's folder or absolute.
    pub base: Option<RelPath>,
    /// When the run that wrote it began.
    pub created: Option<Timestamp>,
    /// The algorithms of every entry.
    pub algorithms: Vec<Algorithm>,
    /// What was walked, relative to the base; none if the names came from elsewhere.
    pub paths: Vec<RelPath>,
    /// How it was walked.
    pub scope: Scope,
}

/// How a tree was walked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Globs of which one had to match.
    pub include: Vec<String>,
    /// Globs of which none might match.
    pub exclude: Vec<String>,
    /// Whether symbolic links were followed.
    pub follow_links: bool,
    /// Whether the walk stayed on one file system.
    pub one_file_system: bool,
    /// How many folders deep it went.
    pub max_depth: Option<u64>,
    /// Which part of the names was taken; all of them, if none is named.
    pub slice: Option<Slice>,
    /// Files that were passed over because the same run wrote them, relative to the base.
    pub left_out: Vec<RelPath>,
}

/// One line or record of a manifest, with comments and empty lines left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The line (or NUL-terminated record) where it begins, counted from 1.
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
    /// What the manifest says of itself. It comes before every claim.
    Header(Box<Header>),
    /// A line that cannot be understood or must not be used.
    Malformed(Malformed),
    /// Something that the user should know and that spoils nothing.
    Remark(Remark),
}
