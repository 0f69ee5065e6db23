//! The folder that relative names of a list start from.

use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};
use std::path::{Component, Path, PathBuf};

use crate::quote::Quoted;
use crate::relpath::RelPath;

/// How the base of a list is chosen.
#[derive(Clone, Debug, Default)]
pub enum BaseChoice {
    /// The list's own folder; or the current one if no listed file exists in the former and one
    /// does in the latter. For a list from standard input, the current folder.
    #[default]
    Find,
    /// This folder.
    Given(PathBuf),
}

/// A folder that relative names start from, and why it is that one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// The folder.
    pub folder: PathBuf,
    /// Why.
    pub reason: BaseReason,
}

/// Why a folder is the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseReason {
    /// The user named it.
    Asked,
    /// The list lies there.
    OwnFolder,
    /// It is the current folder.
    CurrentFolder,
    /// All names are absolute, and it is the folder that they have in common.
    CommonFolder,
    /// The list says so.
    Recorded,
    /// It holds its own manifests.
    Package,
}

/// A base and where it really lies.
#[derive(Clone, Debug)]
pub(super) struct PlacedBase {
    pub(super) base: Base,
    real: PathBuf,
}

impl PlacedBase {
    pub(super) fn new(base: Base) -> Self {
        // A base that cannot be looked at holds no file either; the walk reports it.
        let real = base.folder.canonicalize();
        let real = real.unwrap_or_else(|_| base.folder.clone());
        Self { base, real }
    }

    /// Where a name leads, the same for every spelling of the base; `None` if this platform cannot
    /// have such a name.
    pub(super) fn place(&self, name: &RelPath) -> Option<PathBuf> {
        let path = name.normalised().to_path()?;
        Some(match path.strip_prefix(&self.base.folder) {
            Ok(below) if name.is_absolute() => self.real.join(below),
            _ => self.real.join(path),
        })
    }

    /// Whether a name leads out of the base, as far as names can tell.
    pub(super) fn is_left_by(&self, name: &RelPath) -> bool {
        // Elsewhere than on Unix there are more ways to start at a root than a slash.
        let only_descends = || name.components().all(|part| part != b"..");
        if cfg!(unix) && !name.is_absolute() && only_descends() {
            return false;
        }
        let Some(place) = self.place(name) else {
            return false;
        };
        let Ok(below) = place.strip_prefix(&self.real) else {
            return true;
        };
        let mut depth = 0_i64;
        below.components().any(|part| {
            depth += if part == Component::ParentDir { -1 } else { 1 };
            depth < 0
        })
    }
}

/// Whether links on the way to a name lead out of its base.
#[derive(Debug)]
pub(super) struct Links {
    placed: PlacedBase,
    /// What is known of the folders of names, since most of them hold many.
    folders: HashMap<PathBuf, bool>,
}

/// Neighbouring names share folders, so that few need be remembered.
const MOST_FOLDERS: usize = 4096;

impl Links {
    /// Knows no folder yet.
    pub(super) fn new(placed: PlacedBase) -> Self {
        Self {
            placed,
            folders: HashMap::new(),
        }
    }

    /// Whether a link leads out: one of the folders, or the name itself, if it is to be followed.
    /// A name that leads nowhere does not lead out.
    pub(super) fn lead_out(&mut self, name: &RelPath, follow: bool) -> bool {
        let Some(path) = self.placed.place(name) else {
            return false;
        };
        let real = &self.placed.real;
        let leaves = |path: &Path| {
            path.canonicalize()
                .is_ok_and(|path| !path.starts_with(real))
        };
        let folder_leaves = path.parent().is_some_and(|folder| {
            let known = self.folders.get(folder).copied();
            known.unwrap_or_else(|| {
                let found = leaves(folder);
                if self.folders.len() >= MOST_FOLDERS {
                    self.folders.clear();
                }
                self.folders.insert(folder.to_owned(), found);
                found
            })
        });
        folder_leaves || (follow && path.is_symlink() && leaves(&path))
    }
}

impl Base {
    /// The folder that the program runs in.
    pub(super) fn current_folder() -> Self {
        Self {
            folder: PathBuf::from("."),
            reason: BaseReason::CurrentFolder,
        }
    }

    /// Whether something has that name.
    pub(super) fn holds(&self, name: &RelPath) -> bool {
        name.to_path()
            .is_some_and(|path| self.folder.join(path).symlink_metadata().is_ok())
    }
}

impl Display for Base {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let reason = match self.reason {
            BaseReason::Asked => "",
            BaseReason::OwnFolder => " (the folder of the list)",
            BaseReason::CurrentFolder => " (the current folder)",
            BaseReason::CommonFolder => " (the common folder of the listed names)",
            BaseReason::Recorded => " (as the list records)",
            BaseReason::Package => " (the folder that was named)",
        };
        write!(f, "{}{reason}", Quoted::path(&self.folder))
    }
}

impl BaseChoice {
    /// The base of one list, given where the list lies and where its names lead after relocation.
    pub(super) fn resolve<'a>(
        &self,
        list: Option<&Path>,
        recorded: Option<&RelPath>,
        names: &(impl Iterator<Item = &'a RelPath> + Clone),
    ) -> Base {
        if let Some(base) = self.settled(list, recorded) {
            return base;
        }
        if let Some(folder) = common_folder(names.clone()) {
            return Base {
                folder,
                reason: BaseReason::CommonFolder,
            };
        }
        let exists_under = |folder: &Path| names.clone().any(|name| exists(folder, name));
        found(list, exists_under)
    }

    /// The base of a list, if that needs no look at its names.
    pub(super) fn settled(&self, list: Option<&Path>, recorded: Option<&RelPath>) -> Option<Base> {
        if let Self::Given(folder) = self {
            return Some(Base {
                folder: folder.clone(),
                reason: BaseReason::Asked,
            });
        }
        let recorded = recorded?.to_path()?;
        let own = list.map_or_else(|| PathBuf::from("."), own_folder);
        let folder = own.join(&recorded);
        let is_plain = own == Path::new(".") && recorded != own;
        Some(Base {
            // As components, so that it does not end in `/.`.
            folder: match is_plain {
                true => recorded,
                false => folder.components().collect(),
            },
            reason: BaseReason::Recorded,
        })
    }
}

/// The own folder of a list of relative names, or the current one if they lead only there.
pub(super) fn found(list: Option<&Path>, mut exists_under: impl FnMut(&Path) -> bool) -> Base {
    let current = Base::current_folder();
    let Some(own) = list.map(own_folder) else {
        return current;
    };
    if own != current.folder && !exists_under(&own) && exists_under(&current.folder) {
        return current;
    }
    Base {
        folder: own,
        reason: BaseReason::OwnFolder,
    }
}

fn own_folder(list: &Path) -> PathBuf {
    match list.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Whether something below the folder has that name.
pub(super) fn exists(folder: &Path, name: &RelPath) -> bool {
    !name.is_absolute()
        && name
            .to_path()
            .is_some_and(|path| folder.join(path).symlink_metadata().is_ok())
}

/// The deepest folder that holds every name, if all names are absolute and there are any.
fn common_folder<'a>(mut names: impl Iterator<Item = &'a RelPath>) -> Option<PathBuf> {
    let first = names.next()?.to_path().filter(|path| path.has_root())?;
    let mut common = first.parent()?.to_owned();
    for name in names {
        let path = name.to_path().filter(|path| path.has_root())?;
        while !path.starts_with(&common) {
            if !common.pop() {
                return None;
            }
        }
    }
    Some(common)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(list: Option<&Path>, names: &[&str]) -> Base {
        let names: Vec<RelPath> = names.iter().map(|&name| RelPath::from(name)).collect();
        BaseChoice::Find.resolve(list, None, &names.iter())
    }

    #[test]
    fn the_own_folder_wins_unless_only_the_current_one_has_a_listed_file() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("here"), b"").unwrap();
        let list = directory.path().join("SUMS");
        let own = resolve(Some(&list), &["gone", "here"]);
        assert_eq!(
            (own.folder.as_path(), own.reason),
            (directory.path(), BaseReason::OwnFolder)
        );
        // Tests run in the folder of the package.
        assert_eq!(
            resolve(Some(&list), &["Cargo.toml"]).reason,
            BaseReason::CurrentFolder
        );
        assert_eq!(
            resolve(Some(&list), &["gone"]).reason,
            BaseReason::OwnFolder
        );
        assert_eq!(resolve(None, &["gone"]).reason, BaseReason::CurrentFolder);
    }

    #[test]
    fn a_name_leaves_the_base_where_it_climbs_above_it_or_starts_elsewhere() {
        let directory = tempfile::tempdir().unwrap();
        let placed = PlacedBase::new(Base {
            folder: directory.path().to_owned(),
            reason: BaseReason::OwnFolder,
        });
        let inside = placed.real.join("x");
        for inside in [Path::new("a"), Path::new("a/../b"), &inside] {
            assert!(
                !placed.is_left_by(&RelPath::from_path(inside)),
                "{inside:?}"
            );
        }
        let climbing = placed.real.join("../x");
        for outside in [Path::new("../a"), Path::new("a/../../b"), &climbing] {
            assert!(
                placed.is_left_by(&RelPath::from_path(outside)),
                "{outside:?}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn absolute_names_have_their_common_folder_as_base() {
        let base = resolve(
            None,
            &["/usr/share/a/b", "/usr/share/ab/c", "/usr/share/a/d"],
        );
        assert_eq!(base.folder, Path::new("/usr/share"));
        assert_eq!(base.reason, BaseReason::CommonFolder);
        assert_eq!(
            resolve(None, &["/a", "b"]).reason,
            BaseReason::CurrentFolder
        );
    }
}
