//! Where files that are not listed are looked for.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::{Error, FileError, Operation};
use crate::manifest::Header;
use crate::relpath::RelPath;
use crate::slice::Slice;
use crate::walk::{self, Found, FoundKind, Input, LeaveOut, Root};

use super::super::manifests::{ScopeError, agree, recorded_walk};
use super::base::{BaseReason, PlacedBase};
use super::sources::{ListSource, Sources};
use super::tally::is_below;
use super::{ExactScope, VerifyOptions};

/// A walk that meets every file that should be listed.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) place: PlacedBase,
    inputs: Vec<Input>,
    options: walk::Options,
    /// Only these names are asked for.
    slice: Option<Slice>,
    /// Whether what is found comes in the order of names.
    pub(super) in_order: bool,
}

/// All walks that the lists and the options ask for, each base once. Marks the lists.
pub(super) fn searches(
    sources: &mut Sources,
    options: &VerifyOptions,
) -> Result<Vec<Search>, Error> {
    let mut whole: Vec<PathBuf> = Vec::new();
    let mut searches = Vec::new();
    for source in &mut sources.0 {
        let search = Search::of(source, options).map_err(|reason| Error::Scope {
            manifest: source.path().unwrap_or(Path::new("-")).to_owned(),
            reason: reason.into(),
        })?;
        let Some(search) = search else { continue };
        source.searched = true;
        let is_whole = source.exact.is_none() && recorded(source).is_none();
        if is_whole && whole.contains(&search.place.base.folder) {
            continue;
        }
        if is_whole {
            whole.push(search.place.base.folder.clone());
        }
        searches.push(search);
    }
    match searches.is_empty() && says_something(&options.walk) {
        true => Err(Error::Scope {
            manifest: sources
                .0
                .first()
                .and_then(ListSource::path)
                .map_or("-".into(), Path::to_owned),
            reason: ScopeError::NotWalked.into(),
        }),
        false => Ok(searches),
    }
}

/// What the list says of the walk that it was made from.
fn recorded(source: &ListSource) -> Option<&Header> {
    let walked = |header: &&Header| header.paths.iter().any(|path| path.as_bytes() != b"-");
    source.header.as_ref().filter(walked)
}

impl Search {
    fn of(source: &ListSource, options: &VerifyOptions) -> Result<Option<Self>, ScopeError> {
        let base = &source.place.base;
        let by_list = if let Some(scope) = &source.exact {
            if says_something(&options.walk) {
                return Err(ScopeError::SaysItself);
            }
            Some(package_walk(scope, base.folder.as_path()))
        } else if let Some(header) = recorded(source)
            && options.exact != Some(false)
        {
            agree(&header.scope, &options.walk)?;
            recorded_walk(header, &base.folder)?
        } else {
            None
        };
        let (mut inputs, mut walk) = match by_list {
            Some(walk) => walk,
            None if options.exact == Some(true) => {
                let root = match base.reason {
                    BaseReason::CommonFolder => Root::as_typed(&base.folder),
                    _ => Root::relative(&base.folder),
                };
                (vec![Input::Path(root)], options.walk.clone())
            }
            None => return Ok(None),
        };
        walk.leave_out.add_all(&options.leave_out);
        leave_out_own(source, &mut walk.leave_out)?;
        let in_order = sort_if_disjoint(&mut inputs);
        Ok(Some(Self {
            place: source.place.clone(),
            inputs,
            options: walk,
            slice: options.slice,
            in_order,
        }))
    }

    /// What is there, in the order of the walk.
    pub(super) fn found(self) -> impl Iterator<Item = Found> + Send + 'static {
        let slice = self.slice;
        let roots: Vec<RelPath> = names(&self.inputs).cloned().collect();
        walk::walk(self.inputs, self.options).filter(move |found| match &found.kind {
            // What is gone as a whole holds nothing new; what is listed there is missing.
            FoundKind::Failed(error) => !error.is_missing() || !roots.contains(&found.name),
            _ => slice.is_none_or(|slice| slice.holds(&found.name)),
        })
    }
}

fn package_walk(scope: &ExactScope, folder: &Path) -> (Vec<Input>, walk::Options) {
    let root = Root {
        name: scope.below.clone(),
        ..Root::relative(folder.join(scope.below.to_path().unwrap_or_default()))
    };
    let options = walk::Options {
        filter: scope.filter.clone(),
        ..walk::Options::default()
    };
    (vec![Input::Path(root)], options)
}

fn names(inputs: &[Input]) -> impl Iterator<Item = &RelPath> {
    inputs.iter().filter_map(|input| match input {
        Input::Path(root) => Some(&root.name),
        Input::Stdin | Input::Failed { .. } => None,
    })
}

/// Whether no input lies in another. If so, they are put in the order of their names, and then what
/// is found has it as well.
fn sort_if_disjoint(inputs: &mut [Input]) -> bool {
    let mut sorted: Vec<RelPath> = names(inputs).cloned().collect();
    sorted.sort();
    let is_disjoint = |pair: &[RelPath]| !is_below(&pair[1], &pair[0]);
    let disjoint = sorted.len() == inputs.len() && sorted.windows(2).all(is_disjoint);
    if disjoint {
        inputs.sort_by_cached_key(|input| match input {
            Input::Path(root) => root.name.clone(),
            Input::Stdin | Input::Failed { .. } => RelPath::default(),
        });
    }
    disjoint
}

/// The journal that lies beside the list while it is made; and, where the base is a copy of the
/// folder in which the list lies, the copies of both.
fn leave_out_own(source: &ListSource, leave_out: &mut LeaveOut) -> Result<(), FileError> {
    let Some(name) = source.path().and_then(Path::file_name) else {
        return Ok(());
    };
    let mut journal = OsString::from(".");
    journal.push(name);
    journal.push(".journal");
    let beside = source.path().map(|path| path.with_file_name(&journal));
    let base = &source.place.base;
    let lies_in_base = source
        .recorded_base()
        .is_some_and(|base| base.normalised().as_bytes().is_empty());
    let is_copy = base.reason == BaseReason::Asked && lies_in_base;
    let copies = [name.to_owned(), journal].map(|name| base.folder.join(name));
    for path in beside
        .into_iter()
        .chain(copies.into_iter().filter(|_| is_copy))
    {
        let added = leave_out.add_if_there(&path);
        added.map_err(|error| FileError::new(Operation::Stat, path, error))?;
    }
    Ok(())
}

/// Whether any of the options limits or widens a walk.
fn says_something(given: &walk::Options) -> bool {
    !given.filter.is_empty()
        || given.follow_links
        || given.one_file_system
        || given.max_depth.is_some()
}
