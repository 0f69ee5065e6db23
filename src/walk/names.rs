//! What to walk, and how the names of what is found are spelled.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::error::FileError;
use crate::relpath::RelPath;

/// One thing to walk or to read.
#[derive(Debug)]
pub enum Input {
    /// A file or a tree.
    Path(Root),
    /// Standard input, reported under the name `-`.
    Stdin,
    /// Something that should have named an input and could not, for instance a list of names that
    /// failed in the middle. It is reported in its place.
    Failed {
        /// The name to report.
        name: RelPath,
        /// What failed.
        error: FileError,
    },
}

impl Input {
    /// Takes an argument of the command line: `-` is standard input, anything else is a path with
    /// names as typed.
    pub fn from_argument(argument: &OsStr) -> Self {
        if argument == "-" {
            Self::Stdin
        } else {
            Self::Path(Root::as_typed(Path::new(argument)))
        }
    }
}

/// A file or a tree: where it is, and what its names start with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The path to open. A link is followed.
    pub path: PathBuf,
    /// What the names of everything below start with; the name itself if `path` is a file. Empty
    /// for names relative to `path`.
    pub name: RelPath,
}

impl Root {
    /// Names as the user typed them, without `.` components and needless slashes: `./src/` gives
    /// `src/main.rs`, `.` gives `src/main.rs` too, `..` gives `../x` and `/usr` gives `/usr/bin/x`.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::path::Path;
    /// use multisum::{RelPath, walk::Root};
    /// assert_eq!(Root::as_typed(Path::new("./a/../b/")).name, RelPath::from("a/../b"));
    /// assert_eq!(Root::as_typed(Path::new(".")).name, RelPath::from(""));
    /// ```
    pub fn as_typed(path: &Path) -> Self {
        let name = RelPath::from_path(path);
        // `\\server\share` must keep both of its slashes.
        let name = if cfg!(windows) && name.as_bytes().starts_with(b"//") {
            name
        } else {
            name.normalised().into_owned()
        };
        Self {
            path: path.to_path_buf(),
            name,
        }
    }

    /// Names relative to `path`.
    pub fn relative(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            name: RelPath::from(""),
        }
    }

    /// The name of what lies at `below` under the root; of the root itself if `below` is empty.
    pub(super) fn name_of(&self, below: &Path) -> RelPath {
        let mut name = self.name.join(below);
        if name.as_bytes().is_empty() {
            name = self.own_name();
        }
        if name.as_bytes() == b"-" {
            name = RelPath::from("./-");
        }
        name
    }

    /// A name for a root that has none: a file by its own name, a directory as `.`.
    fn own_name(&self) -> RelPath {
        match self.path.file_name() {
            Some(name) if !self.path.is_dir() => RelPath::from_path(Path::new(name)),
            _ if self.path.as_os_str().is_empty() => self.name.clone(),
            _ => RelPath::from("."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(path: &str, below: &str) -> String {
        Root::as_typed(Path::new(path))
            .name_of(Path::new(below))
            .to_string()
    }

    #[test]
    fn names_are_as_typed_but_for_dots_and_slashes() {
        assert_eq!(typed(".", "src/main.rs"), "src/main.rs");
        assert_eq!(typed("./", "x"), "x");
        assert_eq!(typed("src", "main.rs"), "src/main.rs");
        assert_eq!(typed("././/src//", "main.rs"), "src/main.rs");
        assert_eq!(typed("/usr/", "bin/x"), "/usr/bin/x");
        assert_eq!(typed("/", "x"), "/x");
        assert_eq!(typed("..", "x"), "../x");
        assert_eq!(typed("./a/../b", ""), "a/../b");
    }

    #[test]
    fn no_name_is_mistaken_for_standard_input() {
        assert_eq!(typed(".", "-"), "./-");
        assert_eq!(typed("./-", ""), "./-");
        assert_eq!(typed("d", "-"), "d/-");
        assert_eq!(typed("-", "x"), "-/x");
    }

    #[test]
    fn a_root_without_a_name_still_has_one_in_reports() {
        assert_eq!(typed(".", ""), ".");
        assert_eq!(typed("", ""), "");
        let dir = tempfile::tempdir().unwrap();
        let file = Root::relative(dir.path().join("gone"));
        assert_eq!(file.name_of(Path::new("")), RelPath::from("gone"));
    }

    #[test]
    fn a_dash_is_standard_input_only_as_an_argument() {
        assert!(matches!(
            Input::from_argument(OsStr::new("-")),
            Input::Stdin
        ));
        assert!(matches!(
            Input::from_argument(OsStr::new("./-")),
            Input::Path(_)
        ));
    }
}
