//! Which names a walk reports: `--include`, `--exclude` and `--exclude-from`.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::error::{FileError, Operation};
use crate::quote::Quoted;

/// A glob that cannot be understood, or a list of globs that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// A glob of the command line.
    #[error("glob '{}': {reason}", Quoted::new(glob))]
    Glob {
        /// As it was given.
        glob: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A glob of the command line that matches nothing, because nothing is in it.
    #[error("glob '{}' is empty", Quoted::new(.0))]
    Empty(String),
    /// A line in a list of globs.
    #[error(
        "{}:{line}: glob '{}': {reason}",
        Quoted::path(file),
        Quoted::new(glob)
    )]
    Line {
        /// The list.
        file: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// As it stands there.
        glob: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A line in a list of globs that is not UTF-8.
    #[error("{}:{line}: not UTF-8", Quoted::path(file))]
    NotUtf8 {
        /// The list.
        file: PathBuf,
        /// The line, counted from 1.
        line: u64,
    },
    /// A list of globs that cannot be read.
    #[error("{}: {}", Quoted::path(.0.path()), .0)]
    Read(#[source] FileError),
    /// Each glob is well formed, but together they are too large.
    #[error("the globs are too many or too large: {0}")]
    TooLarge(String),
}

/// Globs that decide which names below a root are reported.
///
/// Globs are those of `.gitignore` files (gitignore(5)), matched bytewise against the path below
/// the root: `*.tmp` anywhere, `/build` only at the root, `cache/` only directories, `!keep.tmp`
/// takes back an earlier exclude, and the last glob that matches decides.
///
/// * An excluded directory is not descended. (Its own list is read once, unheeded, because the
///   traversal has it before it can be refused.)
/// * If there are includes, a file is reported only if it or a directory above it is included and
///   nothing excludes it. Directories are descended all the same.
/// * What cannot be looked at may be a file or a directory; it is reported as failed unless it is
///   excluded as both.
/// * The root itself is never filtered if it is a directory. If it is a file, its file name is
///   matched.
///
/// The default reports everything. Clones share their globs.
#[derive(Clone, Debug, Default)]
pub struct Filter(Option<Arc<Globs>>);

#[derive(Debug)]
struct Globs {
    include: Option<Gitignore>,
    exclude: Gitignore,
    said: Said,
}

/// The globs as arguments would give them.
#[derive(Clone, Debug, Default)]
struct Said {
    include: Vec<String>,
    exclude: Vec<String>,
}

impl Filter {
    /// Makes a filter of globs as the command line gives them: unlike a line of a file, a leading
    /// `#` and spaces at the end belong to the glob.
    ///
    /// # Errors
    ///
    /// [`FilterError::Glob`] or [`FilterError::Empty`] for the first bad glob.
    ///
    /// # Examples
    ///
    /// ```
    /// use multisum::walk::Filter;
    /// let filter = Filter::new(&["*.jpg"], &["/cache/"])?;
    /// assert!(Filter::new(&["{a"], &[]).is_err());
    /// # Ok::<(), multisum::walk::FilterError>(())
    /// ```
    pub fn new(include: &[&str], exclude: &[&str]) -> Result<Self, FilterError> {
        let mut builder = Self::builder();
        for glob in include {
            builder.include(glob)?;
        }
        for glob in exclude {
            builder.exclude(glob)?;
        }
        builder.build()
    }

    /// Starts a filter that reports everything.
    pub fn builder() -> FilterBuilder {
        FilterBuilder {
            include: GitignoreBuilder::new(""),
            exclude: GitignoreBuilder::new(""),
            includes: 0,
            excludes: 0,
            said: Said::default(),
        }
    }

    /// The included globs, such that [`Filter::new`] makes the same filter of them and the excluded.
    pub fn included(&self) -> &[String] {
        self.0.as_ref().map_or(&[], |globs| &globs.said.include)
    }

    /// The excluded globs, those of files among them.
    pub fn excluded(&self) -> &[String] {
        self.0.as_ref().map_or(&[], |globs| &globs.said.exclude)
    }

    /// Whether everything is reported.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether to descend the directory at `below`, if the directories above it are descended.
    pub fn descends(&self, below: &Path) -> bool {
        self.0
            .as_ref()
            .is_none_or(|globs| !globs.excludes(below, true))
    }

    /// Whether to report the file at `below`, if the directories above it are descended.
    pub fn reports(&self, below: &Path) -> bool {
        self.0
            .as_ref()
            .is_none_or(|globs| globs.includes(below) && !globs.excludes(below, false))
    }

    /// Whether a walk from the root would come to the directories above `below`.
    pub fn reaches(&self, below: &Path) -> bool {
        self.is_empty()
            || below
                .ancestors()
                .skip(1)
                .filter(|above| !above.as_os_str().is_empty())
                .all(|above| self.descends(above))
    }
}

impl Globs {
    fn excludes(&self, below: &Path, is_dir: bool) -> bool {
        self.exclude.matched(below, is_dir).is_ignore()
    }

    fn includes(&self, below: &Path) -> bool {
        let Some(include) = &self.include else {
            return true;
        };
        let own = include.matched(below, false);
        let above = below
            .ancestors()
            .skip(1)
            .filter(|above| !above.as_os_str().is_empty());
        let decided = std::iter::once(own)
            .chain(above.map(|above| include.matched(above, true)))
            .find(|found| !found.is_none());
        matches!(decided, Some(Match::Ignore(_)))
    }
}

/// Collects globs for a [`Filter`]; see there for what they mean.
#[derive(Debug)]
pub struct FilterBuilder {
    include: GitignoreBuilder,
    exclude: GitignoreBuilder,
    includes: usize,
    excludes: usize,
    said: Said,
}

impl FilterBuilder {
    /// Reports only what matches this or another included glob.
    ///
    /// # Errors
    ///
    /// [`FilterError::Glob`] or [`FilterError::Empty`].
    pub fn include(&mut self, glob: &str) -> Result<&mut Self, FilterError> {
        self.includes += 1;
        add_argument(&mut self.include, glob)?;
        self.said.include.push(glob.to_owned());
        Ok(self)
    }

    /// Leaves out what matches.
    ///
    /// # Errors
    ///
    /// [`FilterError::Glob`] or [`FilterError::Empty`].
    pub fn exclude(&mut self, glob: &str) -> Result<&mut Self, FilterError> {
        self.excludes += 1;
        add_argument(&mut self.exclude, glob)?;
        self.said.exclude.push(glob.to_owned());
        Ok(self)
    }

    /// Leaves out what matches a line of a file: one glob a line, with comments, blank lines and
    /// spaces at the end as in `.gitignore`. A byte order mark and carriage returns are ignored.
    ///
    /// # Errors
    ///
    /// [`FilterError::Line`] and [`FilterError::NotUtf8`] name the line; [`FilterError::Read`].
    pub fn exclude_from(&mut self, path: &Path) -> Result<&mut Self, FilterError> {
        let file = File::open(path)
            .map_err(|error| FilterError::Read(FileError::new(Operation::Open, path, error)))?;
        self.exclude_lines(BufReader::new(file), path)
    }

    /// As [`Self::exclude_from`], for a list that is already open; `path` is for messages.
    ///
    /// # Errors
    ///
    /// As [`Self::exclude_from`].
    pub fn exclude_lines(
        &mut self,
        list: impl BufRead,
        path: &Path,
    ) -> Result<&mut Self, FilterError> {
        for (line, bytes) in (1..).zip(list.split(b'\n')) {
            let bytes = bytes
                .map_err(|error| FilterError::Read(FileError::new(Operation::Read, path, error)))?;
            let glob = std::str::from_utf8(&bytes).map_err(|_| FilterError::NotUtf8 {
                file: path.to_path_buf(),
                line,
            })?;
            let glob = glob.strip_suffix('\r').unwrap_or(glob);
            let glob = match line {
                1 => glob.strip_prefix('\u{feff}').unwrap_or(glob),
                _ => glob,
            };
            self.exclude
                .add_line(None, glob)
                .map_err(|error| FilterError::Line {
                    file: path.to_path_buf(),
                    line,
                    glob: glob.to_owned(),
                    reason: reason(error),
                })?;
            self.excludes += 1;
            self.said.exclude.extend(as_argument(glob));
        }
        Ok(self)
    }

    /// Makes the filter.
    ///
    /// # Errors
    ///
    /// [`FilterError::TooLarge`].
    pub fn build(&self) -> Result<Filter, FilterError> {
        if self.includes + self.excludes == 0 {
            return Ok(Filter::default());
        }
        let compile = |globs: &GitignoreBuilder| {
            globs
                .build()
                .map_err(|error| FilterError::TooLarge(reason(error)))
        };
        let include = match self.includes {
            0 => None,
            _ => Some(compile(&self.include)?),
        };
        Ok(Filter(Some(Arc::new(Globs {
            include,
            exclude: compile(&self.exclude)?,
            said: self.said.clone(),
        }))))
    }
}

fn add_argument(globs: &mut GitignoreBuilder, glob: &str) -> Result<(), FilterError> {
    if glob.trim_start_matches('!').trim_matches('/').is_empty() {
        return Err(FilterError::Empty(glob.to_owned()));
    }
    globs
        .add_line(None, &as_line(glob))
        .map_err(|error| FilterError::Glob {
            glob: glob.to_owned(),
            reason: reason(error),
        })?;
    Ok(())
}

/// Escapes what means something at the ends of a line of `.gitignore`, but not in an argument.
fn as_line(glob: &str) -> String {
    let mut line = glob.to_owned();
    if line.starts_with('#') {
        line.insert(0, '\\');
    }
    if line.ends_with(' ') && !line.ends_with("\\ ") {
        line.pop();
        line.push_str("\\ ");
    }
    line
}

/// The glob in a line of `.gitignore`, such that [`as_line`] gives its meaning back; `None` if there
/// is none.
fn as_argument(line: &str) -> Option<String> {
    let is_escaped = line.ends_with("\\ ");
    let glob = if is_escaped { line } else { line.trim_end() };
    (!glob.is_empty() && !glob.starts_with('#')).then(|| glob.to_owned())
}

fn reason(error: ignore::Error) -> String {
    match error {
        ignore::Error::Glob { err, .. } => err,
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reports(filter: &Filter, below: &str) -> bool {
        filter.reaches(Path::new(below)) && filter.reports(Path::new(below))
    }

    fn reported<'a>(include: &[&str], exclude: &[&str], names: &[&'a str]) -> Vec<&'a str> {
        let filter = Filter::new(include, exclude).unwrap();
        let kept = names.iter().copied().filter(|name| reports(&filter, name));
        kept.collect()
    }

    #[test]
    fn excludes_follow_gitignore() {
        let names = ["a.tmp", "d/a.tmp", "d/keep.tmp", "build", "d/build", "x"];
        assert_eq!(
            reported(&[], &["*.tmp", "!keep.tmp", "/build"], &names),
            ["d/keep.tmp", "d/build", "x"]
        );
        assert_eq!(reported(&[], &["d/"], &names), ["a.tmp", "build", "x"]);
        assert_eq!(reported(&[], &["x/"], &["x", "x/y"]), ["x"]);
        assert_eq!(
            reported(&[], &["**/d/*.c"], &["d/a.c", "d/e/a.c"]),
            ["d/e/a.c"]
        );
    }

    #[test]
    fn includes_take_files_and_all_below_directories() {
        let names = ["a.jpg", "d/b.jpg", "d/c", "pics/c", "pics/e/f.raw", "x"];
        assert_eq!(
            reported(&["*.jpg", "pics/"], &["*.raw"], &names),
            ["a.jpg", "d/b.jpg", "pics/c"]
        );
        assert_eq!(reported(&["*.jpg", "!a.jpg"], &[], &names), ["d/b.jpg"]);
    }

    #[test]
    fn an_argument_is_a_glob_to_its_last_byte() {
        assert_eq!(reported(&[], &["#a"], &["#a", "a"]), ["a"]);
        assert_eq!(reported(&[], &["a "], &["a", "a "]), ["a"]);
        assert_eq!(reported(&[], &["a  "], &["a ", "a  "]), ["a "]);
        assert_eq!(reported(&[], &["a\\ "], &["a", "a "]), ["a"]);
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_utf8_are_matched() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let filter = Filter::new(&[], &["*.tmp"]).unwrap();
        let below = |bytes| Path::new(OsStr::from_bytes(bytes));
        assert!(!filter.reports(below(b"\xff\n.tmp")));
        assert!(filter.reports(below(b"\xff.tmp\xff")));
    }

    #[test]
    fn bad_globs_are_named() {
        let error = Filter::new(&[], &["a{b"]).unwrap_err().to_string();
        assert!(error.starts_with("glob 'a{b': "), "{error}");
        for empty in ["", "/", "!", "!/"] {
            let error = Filter::new(&[empty], &[]).unwrap_err();
            assert!(matches!(error, FilterError::Empty(_)), "{error}");
        }
    }

    #[test]
    fn a_list_has_comments_and_names_its_bad_line() {
        let mut builder = Filter::builder();
        let list = b"\xef\xbb\xbf*.tmp\r\n# comment\n\n!keep.tmp\n";
        builder.exclude_lines(&list[..], Path::new("list")).unwrap();
        let filter = builder.build().unwrap();
        assert!(!reports(&filter, "a.tmp"));
        assert!(reports(&filter, "keep.tmp"));
        assert!(reports(&filter, "# comment"));

        let bad = |list: &[u8]| {
            let error = Filter::builder()
                .exclude_lines(list, Path::new("li\nst"))
                .unwrap_err();
            error.to_string()
        };
        assert!(bad(b"a\n[z-a]\n").starts_with("li\\nst:2: glob '[z-a]': "));
        assert_eq!(bad(b"a\n\n\xff"), "li\\nst:3: not UTF-8");
    }

    #[test]
    fn a_list_that_is_missing_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let error = Filter::builder()
            .exclude_from(&dir.path().join("none"))
            .unwrap_err();
        assert!(matches!(error, FilterError::Read(_)));
    }
}
