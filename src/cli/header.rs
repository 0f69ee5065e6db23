//! What a manifest says of itself.

use std::env;
use std::path::Path;

use crate::error::{FileError, Operation};
use crate::manifest::{Header, Scope};
use crate::relpath::RelPath;
use crate::timestamp::Timestamp;
use crate::walk;

use super::args::HashArgs;
use super::hash::or_current;
use super::names::Naming;
use super::plan::Failure;

/// When the run began, or the moment that SOURCE_DATE_EPOCH names, so that builds can be repeated
/// byte by byte.
pub(super) fn created() -> Result<Timestamp, Failure> {
    let Some(said) = env::var_os("SOURCE_DATE_EPOCH") else {
        return Ok(Timestamp::now());
    };
    let seconds = said.to_str().and_then(|text| text.parse().ok());
    let moment = seconds.and_then(|seconds| Timestamp::new(seconds, 0));
    moment.ok_or(Failure::SourceDate(said))
}

/// What all manifests of a run say, which is everything but their bases and each other.
pub(super) fn of_run(
    args: &HashArgs,
    walk: &walk::Options,
    naming: &Naming,
    created: Timestamp,
) -> Header {
    // Names from a list are no trees to walk again.
    let paths = match args.walk.files_from {
        Some(_) => Vec::new(),
        None => or_current(&args.paths),
    };
    Header {
        base: None,
        created: Some(created),
        algorithms: Vec::new(),
        paths: paths.iter().map(|path| recorded(path, naming)).collect(),
        scope: scope_of(walk),
    }
}

/// How a tree is walked, but for the files that the run itself writes.
pub(super) fn scope_of(walk: &walk::Options) -> Scope {
    Scope {
        include: walk.filter.included().to_vec(),
        exclude: walk.filter.excluded().to_vec(),
        follow_links: walk.follow_links,
        one_file_system: walk.one_file_system,
        max_depth: walk.max_depth.map(|depth| depth as u64),
        slice: walk.slice,
        left_out: Vec::new(),
    }
}

/// A PATH, seen from the base.
fn recorded(path: &Path, naming: &Naming) -> RelPath {
    let name = naming.root(path).name;
    match name.as_bytes() {
        b"" => RelPath::from("."),
        _ => name,
    }
}

/// What the manifest at `output` says, of which the run writes `others` as well.
pub(super) fn of_output<'o>(
    header: &Header,
    naming: &Naming,
    output: Option<&Path>,
    others: impl Iterator<Item = &'o Path>,
) -> Result<Header, FileError> {
    let base = naming.recorded_base(output).map_err(|error| {
        FileError::new(Operation::Stat, output.unwrap_or(Path::new(".")), error)
    })?;
    let mut header = Header {
        base: Some(base),
        ..header.clone()
    };
    header.scope.left_out = others
        .filter_map(|other| naming.below_base(other))
        .collect();
    Ok(header)
}
