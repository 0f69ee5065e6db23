//! The walk that a manifest records, to be made again.

use std::path::Path;

use crate::error::{FileError, Operation};
use crate::manifest::{Header, Scope};
use crate::quote::Quoted;
use crate::relpath::RelPath;
use crate::walk::{self, Filter, FilterError, Input, Root};

/// Why a recorded walk cannot be made again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScopeError {
    /// What was walked lies elsewhere, and no name of such a manifest may lead there.
    #[error("the recorded path {0} leads out of the base")]
    OutOfBase(RelPath),
    /// A glob that cannot be understood.
    #[error("a recorded glob cannot be used: {0}")]
    Filter(#[from] FilterError),
    /// An option that says otherwise than the manifest.
    #[error("{option}: the manifest records {recorded}, not {given}; leave the option out")]
    Differs {
        /// The option.
        option: &'static str,
        /// What the manifest records.
        recorded: String,
        /// What is asked for.
        given: String,
    },
    /// Options that say how to walk what says itself what must be listed.
    #[error("it says itself what it must hold, and no option can say otherwise")]
    SaysItself,
    /// Options that say how to walk, where nothing is walked.
    #[error(
        "--include, --exclude, -L, -x and --max-depth say where to look for files that are not \
         listed; add --exact"
    )]
    NotWalked,
    /// A file that was passed over when the manifest was made cannot be looked at.
    #[error("{}: {}", Quoted::path(.0.path()), .0)]
    File(#[from] FileError),
}

/// What was walked below `base` when the manifest with that header was made, and how. `None` if it
/// does not say.
///
/// # Errors
///
/// What it says cannot be used.
pub fn recorded_walk(
    header: &Header,
    base: &Path,
) -> Result<Option<(Vec<Input>, walk::Options)>, ScopeError> {
    // Standard input cannot be walked again.
    let paths = header.paths.iter().filter(|path| path.as_bytes() != b"-");
    let inputs = paths
        .map(|path| root(path, base).map(Input::Path))
        .collect::<Result<Vec<_>, _>>()?;
    if inputs.is_empty() {
        return Ok(None);
    }
    let scope = &header.scope;
    let mut filter = Filter::builder();
    for glob in &scope.include {
        filter.include(glob)?;
    }
    for glob in &scope.exclude {
        filter.exclude(glob)?;
    }
    let mut options = walk::Options {
        follow_links: scope.follow_links,
        one_file_system: scope.one_file_system,
        max_depth: scope
            .max_depth
            .map(|depth| usize::try_from(depth).unwrap_or(usize::MAX)),
        filter: filter.build()?,
        slice: scope.slice,
        ..walk::Options::default()
    };
    for name in &scope.left_out {
        let root = root(name, base)?;
        let added = options.leave_out.add_if_there(&root.path);
        added.map_err(|error| FileError::new(Operation::Stat, root.path, error))?;
    }
    Ok(Some((inputs, options)))
}

fn root(path: &RelPath, base: &Path) -> Result<Root, ScopeError> {
    let outside = || ScopeError::OutOfBase(path.clone());
    let leaves = path.is_absolute() || path.components().any(|part| part == b"..");
    let below = path.to_path().filter(|_| !leaves).ok_or_else(outside)?;
    let name = path.normalised().into_owned();
    Ok(match name.as_bytes() {
        b"" | b"." => Root::relative(base),
        _ => Root {
            path: base.join(below),
            name,
        },
    })
}

/// Refuses options that say otherwise than what is recorded. Those that are not given are as recorded.
///
/// # Errors
///
/// [`ScopeError::Differs`].
pub fn agree(recorded: &Scope, given: &walk::Options) -> Result<(), ScopeError> {
    let differs = |option, recorded: String, given: String| ScopeError::Differs {
        option,
        recorded,
        given,
    };
    for (option, recorded, given) in [
        ("--include", &recorded.include, given.filter.included()),
        ("--exclude", &recorded.exclude, given.filter.excluded()),
    ] {
        if !given.is_empty() && given != recorded.as_slice() {
            return Err(differs(option, globs(recorded), globs(given)));
        }
    }
    let depth = given.max_depth.map(|depth| depth as u64);
    if let Some(depth) = depth.filter(|depth| recorded.max_depth != Some(*depth)) {
        let recorded = recorded.max_depth;
        let recorded = recorded.map_or_else(|| "no limit".to_owned(), |depth| depth.to_string());
        return Err(differs("--max-depth", recorded, depth.to_string()));
    }
    if given.follow_links && !recorded.follow_links {
        let (recorded, given) = ("links that are skipped", "links that are followed");
        return Err(differs("-L", recorded.to_owned(), given.to_owned()));
    }
    if given.one_file_system && !recorded.one_file_system {
        let (recorded, given) = ("all file systems", "one file system");
        return Err(differs("-x", recorded.to_owned(), given.to_owned()));
    }
    Ok(())
}

fn globs(globs: &[String]) -> String {
    let quoted = globs
        .iter()
        .map(|glob| format!("'{}'", Quoted::new(glob)))
        .collect::<Vec<_>>();
    match &quoted[..] {
        [] => "none".to_owned(),
        _ => quoted.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Scope;

    fn names(header: &Header, base: &Path) -> Vec<String> {
        let (inputs, options) = recorded_walk(header, base).unwrap().unwrap();
        let found = walk::walk(inputs, options);
        found.map(|found| found.name.to_string()).collect()
    }

    #[test]
    fn exactly_what_was_walked_is_walked_again() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path();
        for name in ["a/b/c.tmp", "a/b/d", "a/e", "f", "SUMS"] {
            let path = base.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, name).unwrap();
        }
        let header = |paths: &[&str], scope| Header {
            paths: paths.iter().map(|path| RelPath::from(*path)).collect(),
            scope,
            ..Header::default()
        };
        let plain = header(&["."], Scope::default());
        assert_eq!(
            names(&plain, base),
            ["SUMS", "a/b/c.tmp", "a/b/d", "a/e", "f"]
        );
        let scope = Scope {
            exclude: vec!["*.tmp".to_owned()],
            left_out: vec![RelPath::from("SUMS"), RelPath::from("gone")],
            ..Scope::default()
        };
        assert_eq!(
            names(&header(&["a", "SUMS"], scope), base),
            ["a/b/d", "a/e"]
        );
        let shallow = Scope {
            max_depth: Some(1),
            ..Scope::default()
        };
        assert_eq!(names(&header(&["a"], shallow), base), ["a/e"]);
    }

    #[test]
    fn paths_out_of_the_base_are_refused_and_streams_are_no_scope() {
        for path in ["..", "a/../..", "/etc"] {
            let header = Header {
                paths: vec![RelPath::from(path)],
                ..Header::default()
            };
            let walk = recorded_walk(&header, Path::new("."));
            assert!(matches!(walk, Err(ScopeError::OutOfBase(_))), "{path}");
        }
        let header = Header {
            paths: vec![RelPath::from("-")],
            ..Header::default()
        };
        assert!(matches!(recorded_walk(&header, Path::new(".")), Ok(None)));
    }
}
