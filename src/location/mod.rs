//! Where a file lies, and how it is opened without falling for what has changed on the way to it.
//!
//! A tree is walked first and its files are opened later. In between a directory may give way to a
//! symbolic link, and its path lead out of the tree. So what a walk finds is opened relative to the
//! [`Anchor`] of the tree, from which no link is followed.

#[cfg(unix)]
mod unix;

use std::fs::{self, File, Metadata};
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A path, and the directory from which it is reached without following a link, if there is one.
///
/// As a [`Path`] it is the whole path.
///
/// # Examples
///
/// ```
/// use std::io::Read;
/// use std::path::PathBuf;
/// use std::sync::Arc;
/// use multisum::location::{Anchor, Location};
/// let dir = tempfile::tempdir()?;
/// std::fs::create_dir(dir.path().join("a"))?;
/// std::fs::write(dir.path().join("a/b"), "bytes")?;
///
/// let tree = Arc::new(Anchor::open(dir.path())?);
/// let mut text = String::new();
/// Location::below(&tree, dir.path().join("a/b")).open(0)?.read_to_string(&mut text)?;
/// assert_eq!(text, "bytes");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Location {
    path: PathBuf,
    anchor: Option<Arc<Anchor>>,
}

impl Location {
    /// What lies at `path`, which begins with the path of the anchor.
    pub fn below(anchor: &Arc<Anchor>, path: PathBuf) -> Self {
        Self {
            path,
            anchor: Some(Arc::clone(anchor)),
        }
    }

    /// The whole path.
    pub fn into_path(self) -> PathBuf {
        self.path
    }

    /// Whether no link is followed on the way.
    pub fn is_anchored(&self) -> bool {
        self.anchor.is_some()
    }

    /// Opens the file for reading. `flags` are those of `open(2)`, in addition; on other systems
    /// than Unix they must be 0.
    ///
    /// # Errors
    ///
    /// What the system says; [`LinkInTheWay`] if the location is anchored and a link has taken the
    /// place of the file or of a directory on the way to it.
    pub fn open(&self, flags: i32) -> io::Result<File> {
        match &self.anchor {
            Some(anchor) => anchor.open_below(&self.path, flags),
            None => plainly(&self.path, flags),
        }
    }

    /// What the system says of the file; of the link itself, if there is one and it is not to be
    /// followed.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn metadata(&self, follow: bool) -> io::Result<Metadata> {
        let looked = match follow {
            true => fs::metadata(&self.path),
            false => fs::symlink_metadata(&self.path),
        };
        match (looked, &self.anchor) {
            (Err(error), Some(anchor)) if error.kind() == io::ErrorKind::InvalidFilename => {
                anchor.metadata_below(&self.path)
            }
            (looked, _) => looked,
        }
    }
}

impl From<PathBuf> for Location {
    fn from(path: PathBuf) -> Self {
        Self { path, anchor: None }
    }
}

impl Deref for Location {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl AsRef<Path> for Location {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

/// Compares the paths.
impl PartialEq for Location {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for Location {}

/// Why something was not opened that lies below an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a symbolic link has taken the place of the file or of a folder above it")]
pub struct LinkInTheWay;

/// A directory that paths below it are opened from.
///
/// On Unix it is held open, so that it stays the same whatever becomes of its path; if many are held
/// already, only its path is kept. On other systems there is only the path, and no more is known of
/// what is opened than that it is no link itself.
#[derive(Debug)]
pub struct Anchor {
    path: PathBuf,
    #[cfg(unix)]
    held: Option<unix::Held>,
}

/// The part of `path` below `root`, from which it was made by appending names.
#[cfg(unix)]
pub fn below<'a>(path: &'a Path, root: &Path) -> &'a Path {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let bytes = path.as_os_str().as_bytes();
    // Ten times as fast as Path::strip_prefix, which compares component by component.
    let below = bytes
        .strip_prefix(root.as_os_str().as_bytes())
        .unwrap_or(bytes);
    Path::new(OsStr::from_bytes(below.strip_prefix(b"/").unwrap_or(below)))
}

/// The part of `path` below `root`, from which it was made by appending names.
#[cfg(not(unix))]
pub fn below<'a>(path: &'a Path, root: &Path) -> &'a Path {
    path.strip_prefix(root).unwrap_or(path)
}

impl Anchor {
    /// The path that it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(not(unix))]
impl Anchor {
    /// Remembers a directory.
    ///
    /// # Errors
    ///
    /// None here.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_path_buf(),
        })
    }

    fn open_below(&self, path: &Path, flags: i32) -> io::Result<File> {
        if fs::symlink_metadata(path)?.is_symlink() {
            return Err(io::Error::other(LinkInTheWay));
        }
        plainly(path, flags)
    }

    fn metadata_below(&self, path: &Path) -> io::Result<Metadata> {
        fs::symlink_metadata(path)
    }
}

#[cfg(not(unix))]
fn plainly(path: &Path, _flags: i32) -> io::Result<File> {
    File::open(path)
}

#[cfg(unix)]
fn plainly(path: &Path, flags: i32) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)
}
