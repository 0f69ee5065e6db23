//! Which name each PATH has in the manifest.

use std::io;
use std::path::{Component, Path, PathBuf};

use crate::relpath::RelPath;
use crate::walk::Root;

use super::output::folder_of;

/// What names are relative to.
#[derive(Clone, Debug)]
pub(super) enum Naming {
    /// Names as they were typed.
    AsTyped,
    /// PATHs are taken from this folder, and names are relative to it.
    Base(PathBuf),
    /// All PATHs lie under this (absolute) folder, in which the manifests are written.
    Under(PathBuf),
    /// All PATHs lie under this (absolute) folder, which is the deepest of that kind.
    Above(PathBuf),
}

impl Naming {
    /// `--base` if it was given; else the folder of the outputs, if they have one in common and
    /// every PATH lies under it.
    pub(super) fn choose(base: Option<PathBuf>, outputs: &[PathBuf], paths: &[PathBuf]) -> Self {
        if let Some(base) = base {
            return Self::Base(base);
        }
        match common_folder(outputs) {
            Some(folder) if paths.iter().all(|path| under(&folder, path).is_some()) => {
                Self::Under(folder)
            }
            _ => Self::AsTyped,
        }
    }

    /// Other names for PATHs that lie elsewhere than in the current folder, as manifests need them
    /// whose names may not lead out of their base.
    pub(super) fn confined(self, paths: &[PathBuf]) -> Self {
        let inside = paths.iter().all(|path| stays_inside(path));
        match self {
            Self::AsTyped if !inside => folder_above(paths).map_or(self, Self::Above),
            _ => self,
        }
    }

    /// Whether the name of this PATH leads out of the folder that names are relative to.
    pub(super) fn is_left_by(&self, path: &Path) -> bool {
        let name = self.root(path).name.to_path();
        !name.is_some_and(|name| stays_inside(&name))
    }

    /// The folder that names are relative to, as a manifest in the folder of `output` records it:
    /// relative to that folder if it lies there, else absolute.
    pub(super) fn recorded_base(&self, output: Option<&Path>) -> io::Result<RelPath> {
        base_seen_from(output, self.folder())
    }

    /// The folder that names are relative to, whole.
    pub(super) fn whole_base(&self) -> io::Result<PathBuf> {
        self.folder().canonicalize()
    }

    /// The name of a file that lies in the folder that names are relative to.
    pub(super) fn below_base(&self, path: &Path) -> Option<RelPath> {
        under(&self.folder().canonicalize().ok()?, path)
    }

    fn folder(&self) -> &Path {
        match self {
            Self::AsTyped => Path::new("."),
            Self::Base(folder) | Self::Under(folder) | Self::Above(folder) => folder,
        }
    }

    /// The path to open and the name to write for a PATH.
    pub(super) fn root(&self, path: &Path) -> Root {
        match self {
            Self::AsTyped => Root::as_typed(path),
            Self::Base(base) => {
                let name = match path.is_absolute() {
                    true => base.canonicalize().ok().and_then(|base| under(&base, path)),
                    false => Some(Root::as_typed(path).name),
                };
                let name = name.unwrap_or_else(|| Root::as_typed(path).name);
                Root {
                    path: base.join(path),
                    name,
                }
            }
            Self::Under(folder) | Self::Above(folder) => {
                let typed = Root::as_typed(path);
                Root {
                    name: under(folder, path).unwrap_or(typed.name),
                    path: typed.path,
                }
            }
        }
    }
}

/// A folder as a manifest in the folder of `output` (or, without one, in the current folder) records
/// it: relative to that folder if it lies there, else absolute.
pub(super) fn base_seen_from(output: Option<&Path>, base: &Path) -> io::Result<RelPath> {
    let base = base.canonicalize()?;
    let own = output.map_or(Path::new("."), folder_of).canonicalize()?;
    Ok(match base.strip_prefix(&own) {
        Ok(below) if below.as_os_str().is_empty() => RelPath::from("."),
        Ok(below) => RelPath::from_path(below),
        Err(_) => RelPath::from_path(&base),
    })
}

fn stays_inside(path: &Path) -> bool {
    let mut parts = path.components();
    parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// The deepest folder that holds every PATH; a PATH that is a folder holds itself.
fn folder_above(paths: &[PathBuf]) -> Option<PathBuf> {
    let mut above: Option<PathBuf> = None;
    for path in paths {
        let mut folder = absolute(path).ok()?;
        if !folder.is_dir() || folder.is_symlink() {
            folder.pop();
        }
        let mut common = above.unwrap_or_else(|| folder.clone());
        while !folder.starts_with(&common) && common.pop() {}
        above = Some(common);
    }
    above
}

fn common_folder(outputs: &[PathBuf]) -> Option<PathBuf> {
    let mut folders = outputs
        .iter()
        .map(|output| folder_of(output).canonicalize().ok());
    let first = folders.next()??;
    folders
        .all(|folder| folder.as_ref() == Some(&first))
        .then_some(first)
}

/// The name of `path` relative to the absolute `folder`, if it lies there; empty for the folder
/// itself.
fn under(folder: &Path, path: &Path) -> Option<RelPath> {
    let absolute = absolute(path).ok()?;
    let rest = absolute.strip_prefix(folder).ok()?;
    Some(RelPath::from_path(rest))
}

/// The absolute path with links resolved, but for the last component: a PATH that is itself a link
/// keeps its name.
fn absolute(path: &Path) -> io::Result<PathBuf> {
    match (path.file_name(), path.components().next_back()) {
        (Some(name), Some(Component::Normal(_))) => Ok(folder_of(path).canonicalize()?.join(name)),
        _ => path.canonicalize(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn names_are_relative_to_the_manifest_if_every_path_lies_there() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path();
        fs::create_dir_all(top.join("photos/2020")).unwrap();
        let output = [top.join("photos/SHA256SUMS")];
        let naming = |paths: &[PathBuf]| Naming::choose(None, &output, paths);
        let inside = naming(&[top.join("photos/2020"), top.join("photos")]);
        assert_eq!(
            inside.root(&top.join("photos/2020")).name,
            RelPath::from("2020")
        );
        assert_eq!(inside.root(&top.join("photos")).name, RelPath::from(""));
        assert!(matches!(
            naming(&[top.join("photos"), top.to_owned()]),
            Naming::AsTyped
        ));
        let elsewhere = [top.join("a/SUMS"), top.join("photos/SUMS")];
        let paths = [top.join("photos")];
        assert!(matches!(
            Naming::choose(None, &elsewhere, &paths),
            Naming::AsTyped
        ));
    }

    #[test]
    fn with_a_base_paths_are_taken_from_there() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().to_owned();
        let naming = Naming::choose(Some(base.clone()), &[], &[]);
        let root = naming.root(Path::new("./x"));
        assert_eq!(
            (root.path, root.name),
            (base.join("./x"), RelPath::from("x"))
        );
        let absolute = base.canonicalize().unwrap().join("y");
        assert_eq!(naming.root(&absolute).name, RelPath::from("y"));
    }
}
