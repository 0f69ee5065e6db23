//! A manifest or a tree as a stream of things in the order of names.

use std::borrow::Cow;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use crate::engine::{Links, Source};
use crate::error::{Error, FileError, Operation, leads_nowhere};
use crate::location::Location;
use crate::relpath::RelPath;
use crate::walk::{self, Found, FoundKind, Input, Special};

use super::super::manifests::Item;
use super::{DiffOptions, DiffSide, FolderSide};

/// Something with a name on one side.
#[derive(Debug)]
pub(super) enum Thing {
    /// An entry of a manifest.
    Listed(Item),
    /// A file of a tree.
    File(TreeFile),
    /// A link, pipe, socket or device of a tree.
    Special {
        name: RelPath,
        path: PathBuf,
        kind: Special,
    },
    /// Something that could not be looked at, or a folder that could not be listed.
    Failed { name: RelPath, error: FileError },
}

/// A file that was found and not read yet.
#[derive(Debug)]
pub(super) struct TreeFile {
    pub(super) name: RelPath,
    pub(super) path: Location,
    pub(super) links: Links,
    /// Bytes, once it has been looked at.
    pub(super) size: Option<u64>,
}

impl TreeFile {
    /// Looks at it, without opening it.
    pub(super) fn look(&mut self) {
        let looked = self.path.metadata(self.links.follows());
        self.size = looked.ok().map(|metadata| metadata.len());
    }

    pub(super) fn source(&self) -> Source {
        Source::File {
            path: self.path.clone(),
            links: self.links,
        }
    }
}

impl Thing {
    pub(super) fn name(&self) -> &RelPath {
        match self {
            Self::Listed(item) => &item.name,
            Self::File(file) => &file.name,
            Self::Special { name, .. } | Self::Failed { name, .. } => name,
        }
    }

    pub(super) fn key(&self) -> Cow<'_, RelPath> {
        self.name().normalised()
    }

    /// Whether it may stand for a folder of which not every file is known.
    pub(super) fn hides_what_is_below(&self) -> bool {
        match self {
            Self::Listed(item) => item.gap.is_some(),
            Self::Failed { .. } => true,
            Self::File(_) | Self::Special { .. } => false,
        }
    }

    /// What a walk found; `None` for what is not there any more.
    fn of(found: Found) -> Option<Self> {
        let Found {
            name,
            path,
            kind,
            through_link,
        } = found;
        Some(match kind {
            FoundKind::File => Self::File(TreeFile {
                name,
                path,
                links: Links::follow_if(through_link),
                size: None,
            }),
            FoundKind::Special(kind) => Self::Special {
                name,
                path: path.into_path(),
                kind,
            },
            // A pipe has no contents to compare with.
            FoundKind::Stream | FoundKind::Stdin => Self::Special {
                name,
                path: path.into_path(),
                kind: Special::Other,
            },
            FoundKind::Failed(error) if is_gone(&error) => return None,
            FoundKind::Failed(error) => Self::Failed { name, error },
        })
    }
}

/// A link that leads nowhere is there, unlike a name that nothing has.
fn is_gone(error: &FileError) -> bool {
    let looked = || error.path().symlink_metadata();
    error.is_missing() && looked().is_err_and(|now| leads_nowhere(&now))
}

/// Things in the order of names.
pub(super) type Things = Box<dyn Iterator<Item = Result<Thing, Error>> + Send>;

/// The stream of a side.
pub(super) fn things(side: DiffSide, options: &DiffOptions) -> Result<Things, Error> {
    match side {
        DiffSide::Manifest(manifest) => {
            let options = options.clone();
            let looked_at = move |item: &Item| is_looked_at(&item.name, &options);
            let items = manifest.items()?.filter_map(move |item| match item {
                Ok(item) => looked_at(&item).then_some(Ok(Thing::Listed(item))),
                Err(error) => Some(Err(error)),
            });
            Ok(Box::new(items))
        }
        DiffSide::Folder(folder) => Ok(tree(folder)),
    }
}

fn is_looked_at(name: &RelPath, options: &DiffOptions) -> bool {
    let shallow = || {
        options
            .max_depth
            .is_none_or(|most| name.components().count() <= most)
    };
    // A name that this platform cannot have is in no tree, whatever globs say.
    let is_meant = || {
        name.normalised().to_path().is_none_or(|path| {
            let mut folders = path.ancestors().skip(1);
            let descends =
                |folder: &Path| folder.as_os_str().is_empty() || options.names.descends(folder);
            options.names.reports(&path) && folders.all(descends)
        })
    };
    shallow() && is_meant()
}

fn tree(folder: FolderSide) -> Things {
    let FolderSide { inputs, walk, .. } = folder;
    let (inputs, nested) = in_order(inputs);
    let things = walk::walk(inputs, walk).filter_map(Thing::of);
    if !nested {
        return Box::new(things.map(Ok));
    }
    // Inside each other they may be walked to different depths, which leaves names out of order.
    let mut all: Vec<Thing> = things.collect();
    all.sort_by(|a, b| a.key().cmp(&b.key()));
    Box::new(all.into_iter().map(Ok))
}

/// The inputs in the order of their names, and whether one lies in another.
fn in_order(mut inputs: Vec<Input>) -> (Vec<Input>, bool) {
    let name = |input: &Input| match input {
        Input::Path(root) => root.name.normalised().into_owned(),
        Input::Stdin | Input::Failed { .. } => RelPath::default(),
    };
    inputs.sort_by_key(name);
    let names: Vec<RelPath> = inputs.iter().map(name).collect();
    // What lies in a folder follows it directly.
    let nested = names.windows(2).any(|pair| is_below(&pair[1], &pair[0]));
    (inputs, nested)
}

/// Whether the name is that of the folder or of something in it.
pub(super) fn is_below(name: &RelPath, folder: &RelPath) -> bool {
    let mut parts = name.components();
    let absolute = name.as_bytes().starts_with(b"/") == folder.as_bytes().starts_with(b"/");
    absolute && folder.components().all(|part| parts.next() == Some(part))
}

/// What stands at a name of a tree that lists no folders; `None` if nothing does.
///
/// # Errors
///
/// It cannot be looked at.
pub(super) fn stands_at(folder: &Path, name: &RelPath) -> Result<Option<Metadata>, FileError> {
    let climbs = name.components().any(|part| part == b"..");
    let Some(below) = name.to_path().filter(|_| !climbs && !name.is_absolute()) else {
        return Ok(None);
    };
    let path = folder.join(below);
    match path.symlink_metadata() {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if leads_nowhere(&error) => Ok(None),
        Err(error) => Err(FileError::new(Operation::Stat, path, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::{Filter, Root};

    #[test]
    fn names_below_a_folder_are_told_by_whole_components() {
        let below =
            |name: &str, folder: &str| is_below(&RelPath::from(name), &RelPath::from(folder));
        assert!(below("a/b", "a") && below("a", "a") && below("a/b", "") && below("./a//b", "a/b"));
        assert!(!below("ab", "a") && !below("a", "a/b") && !below("/a/b", "a"));
    }

    #[test]
    fn trees_come_in_the_order_of_names_whatever_the_order_of_their_roots() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path();
        for name in ["b/x", "a/z/y", "a/k", "c"] {
            let path = base.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, name).unwrap();
        }
        let root = |name: &str| {
            Input::Path(Root {
                path: base.join(name),
                name: RelPath::from(name),
            })
        };
        let names = |roots: &[&str], walk: walk::Options| {
            let side = FolderSide {
                folder: base.to_owned(),
                inputs: roots.iter().map(|name| root(name)).collect(),
                walk,
            };
            let things = tree(side).map(|thing| thing.unwrap().name().to_string());
            things.collect::<Vec<_>>()
        };
        let plain = walk::Options::default;
        assert_eq!(
            names(&["c", "b", "a"], plain()),
            ["a/k", "a/z/y", "b/x", "c"]
        );
        // The second root goes deeper than the first one.
        let shallow = walk::Options {
            max_depth: Some(1),
            ..plain()
        };
        assert_eq!(names(&["b", "a/z", "a"], shallow), ["a/k", "a/z/y", "b/x"]);
        // What is not there is no failure of the walk.
        assert_eq!(names(&["gone", "c"], plain()), ["c"]);
    }

    #[test]
    fn names_of_manifests_are_filtered_as_those_of_trees() {
        let mut filter = Filter::builder();
        filter.exclude("*.tmp").unwrap();
        filter.exclude("/cache/").unwrap();
        let options = DiffOptions {
            names: filter.build().unwrap(),
            max_depth: Some(2),
            ..DiffOptions::default()
        };
        let looked_at = |name: &str| is_looked_at(&RelPath::from(name), &options);
        assert!(looked_at("a") && looked_at("./a/b") && looked_at("a/cache"));
        assert!(!looked_at("a/x.tmp") && !looked_at("cache/x") && !looked_at("a/b/c"));
    }
}
