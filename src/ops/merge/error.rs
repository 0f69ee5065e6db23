//! Why parts cannot be merged.

use crate::counted::counted;
use crate::error::Error;
use crate::event::Unverified;
use crate::relpath::RelPath;

use super::super::convert::ConvertError;

/// Why parts cannot be merged. Nothing that was written until then is of any use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// A part is incomplete or was altered.
    #[error(
        "{0}: it is damaged as a whole or incomplete, which a merged manifest would hide; hash that part again"
    )]
    Damaged(RelPath),
    /// A part has lines that cannot be used.
    #[error(
        "{part}: {} cannot be used, which a merged manifest would hide; hash that part again",
        counted(*.lines, "line")
    )]
    Malformed {
        /// The part.
        part: RelPath,
        /// How many.
        lines: u64,
    },
    /// Two parts cannot be of one run.
    #[error(
        "{first} and {second} do not go together: {what} {of_first} in one, {of_second} in the other"
    )]
    Different {
        /// A part.
        first: RelPath,
        /// Another.
        second: RelPath,
        /// What differs: the base, the algorithms.
        what: &'static str,
        /// What the first part says of it.
        of_first: String,
        /// What the second part says of it.
        of_second: String,
    },
    /// Not all slices of a tree are there.
    #[error("{} missing", missing_slices(.missing, *.count, .paths))]
    MissingSlices {
        /// Which, counted from 1.
        missing: Vec<u32>,
        /// Of how many.
        count: u32,
        /// What was walked.
        paths: Vec<RelPath>,
    },
    /// Two parts say different things of one name.
    #[error("{name}: {first} and {second} contradict each other: {what}")]
    Contradiction {
        /// The name.
        name: RelPath,
        /// A part.
        first: RelPath,
        /// Another.
        second: RelPath,
        /// What they say different things about.
        what: String,
    },
    /// One part says contradictory things of one name.
    #[error("{part}: {name}: {reason}")]
    Unusable {
        /// The part.
        part: RelPath,
        /// The name.
        name: RelPath,
        /// What is wrong.
        reason: Unverified,
    },
    /// The result cannot be written.
    #[error(transparent)]
    Write(#[from] ConvertError),
    /// A part cannot be read.
    #[error(transparent)]
    Run(#[from] Error),
}

/// Missing slices are named up to this many.
const NAMED: usize = 10;

fn missing_slices(missing: &[u32], count: u32, paths: &[RelPath]) -> String {
    let named = missing.iter().take(NAMED);
    let mut named: Vec<String> = named.map(|index| format!("{index}/{count}")).collect();
    if missing.len() > NAMED {
        named.push(format!("and {} more", missing.len() - NAMED));
    }
    let (noun, verb) = match missing.len() {
        1 => ("slice", "is"),
        _ => ("slices", "are"),
    };
    format!("{noun} {}{} {verb}", named.join(", "), of_paths(paths))
}

fn of_paths(paths: &[RelPath]) -> String {
    match paths {
        [] => String::new(),
        [only] if only.as_bytes() == b"." => String::new(),
        _ => {
            let names: Vec<String> = paths.iter().map(ToString::to_string).collect();
            format!(" of {}", names.join(", "))
        }
    }
}
