//! What is wrong with a line, and what is worth saying of one that is right.

use crate::algorithm::Algorithm;
use crate::quote::Quoted;

/// Why a line is not an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// The line has the shape of no format that the manifest may hold.
    #[error("not a checksum line")]
    NoShape,
    /// A tag that stands for no known algorithm.
    #[error("unknown algorithm '{}'", Quoted::from_bytes(.0))]
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
    /// Text before or after the part of a file that its signature covers.
    #[error("text outside the signed part")]
    OutsideSignature,
    /// The end of a signed text is missing.
    #[error("the signed text has no end")]
    UnendedSignature,
    /// The manifest ends before its last record.
    #[error("the manifest is incomplete: {0}")]
    Truncated(&'static str),
    /// The manifest contradicts what it says of itself.
    #[error("the manifest was altered: {0}")]
    Altered(String),
    /// A document that breaks the rules of its notation.
    #[error("not valid {notation}: {reason}")]
    Notation {
        /// XML, JSON or CSV.
        notation: &'static str,
        /// What the parser says.
        reason: String,
    },
    /// A value that the format does not allow in this place.
    #[error("bad {field}: '{}'", Quoted::from_bytes(.value))]
    BadField {
        /// What it should be.
        field: &'static str,
        /// What stands there.
        value: Vec<u8>,
    },
    /// Something that every entry of the format must have.
    #[error("no {0}")]
    NoField(&'static str),
    /// A rule of the format that has no name of its own here.
    #[error("{0}")]
    Rule(String),
    /// A rule for the folder that the manifest describes, or for its manifests together.
    #[error("{0}")]
    Package(String),
}

impl Malformed {
    /// A value that the format does not allow in this place.
    pub(super) fn bad_field(field: &'static str, value: &[u8]) -> Self {
        Self::BadField {
            field,
            value: value.to_vec(),
        }
    }

    /// Whether the manifest as a whole is damaged, so that leniency towards single lines does not
    /// help.
    pub fn spoils_the_manifest(&self) -> bool {
        matches!(
            self,
            Self::Truncated(_)
                | Self::Altered(_)
                | Self::OutsideSignature
                | Self::UnendedSignature
                | Self::Notation { .. }
                | Self::Package(_)
        )
    }
}

/// Something that the user should know of a manifest and that spoils nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Remark {
    /// A signature that stands around or in the manifest.
    #[error("signature not checked ({0})")]
    SignatureNotChecked(&'static str),
    /// Something that was passed over, with its reason.
    #[error("{0}")]
    Ignored(String),
}
