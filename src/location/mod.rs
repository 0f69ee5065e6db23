//! Where a file lies, and how it is opened without falling for what has changed on the way to it.
//!
//! A tree is walked first and its files are opened later. In between a directory may give way to a
//! symbolic link, and its path lead out of the tree. So what a walk finds is opened relative to the
//! [`Anchor`] of the tree, from which no link is followed.

mod mount;
#[cfg(unix)]
mod unix;

use std::error::Error;
use std::fs::{self, File, Metadata};
use std::io;
use std::ops::Deref;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

pub use mount::{boot_id, mount_of};

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
    anchor: Option<(Arc<Anchor>, Way)>,
}

/// How what lies below an anchor is reached from it.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// Through no link at all.
    Straight,
    /// Through links that stay below the anchor.
    Confined,
}

impl Location {
    /// What lies at `path`, which begins with the path of the anchor.
    pub fn below(anchor: &Arc<Anchor>, path: PathBuf) -> Self {
        Self {
            path,
            anchor: Some((Arc::clone(anchor), Way::Straight)),
        }
    }

    /// As [`Location::below`], but links are followed for as long as they lead to what lies below the
    /// anchor.
    pub fn confined(anchor: &Arc<Anchor>, path: PathBuf) -> Self {
        Self {
            path,
            anchor: Some((Arc::clone(anchor), Way::Confined)),
        }
    }

    /// The whole path.
    pub fn into_path(self) -> PathBuf {
        self.path
    }

    /// Opens the file for reading. `flags` are those of `open(2)`, in addition; on other systems
    /// than Unix they must be 0.
    ///
    /// # Errors
    ///
    /// What the system says; [`LinkInTheWay`] if the location is anchored and a link has taken the
    /// place of the file or of a directory on the way to it; [`OutsideAnchor`] if it is confined and
    /// does not lie below its anchor.
    pub fn open(&self, flags: i32) -> io::Result<File> {
        match &self.anchor {
            Some((anchor, Way::Straight)) => anchor.open_below(&self.path, flags),
            Some((anchor, Way::Confined)) => anchor.open_confined(&self.path, flags),
            None => plainly(&self.path, flags),
        }
    }

    /// What the system says of the file; of the link itself, if there is one and it is not to be
    /// followed. It is looked for by its path, so that what is found proves nothing of what
    /// [`Location::open`] opens.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn metadata(&self, follow: bool) -> io::Result<Metadata> {
        let looked = match follow {
            true => fs::metadata(&self.path),
            false => fs::symlink_metadata(&self.path),
        };
        match looked {
            Err(error) if error.kind() == io::ErrorKind::InvalidFilename => {
                self.open(TO_LOOK)?.metadata()
            }
            looked => looked,
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

/// Why something was not opened that is confined to an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a symbolic link leads out of the folder that the list is confined to")]
pub struct OutsideAnchor;

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

    /// Opens without following a link what `path` leads to, if that lies below.
    fn open_confined(&self, path: &Path, flags: i32) -> io::Result<File> {
        let only_descends = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if below(path, &self.path).components().all(only_descends) {
            match self.open_below(path, flags) {
                Err(error) if is_link_in_the_way(&error) => {}
                opened => return opened,
            }
        }
        let real = self.path.canonicalize()?;
        let target = path.canonicalize()?;
        let target = target.strip_prefix(&real);
        let target = target.map_err(|_| io::Error::other(OutsideAnchor))?;
        self.open_below(&self.path.join(target), flags)
    }
}

/// Whether an error is [`LinkInTheWay`].
pub fn is_link_in_the_way(error: &io::Error) -> bool {
    let inner = error.get_ref();
    inner.is_some_and(<dyn Error + Send + Sync>::is::<LinkInTheWay>)
}

#[cfg(not(unix))]
impl Anchor {
    /// Remembers a directory.
    ///
    /// # Errors
    ///
    /// None here.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self::at(path))
    }

    /// Remembers a directory.
    pub fn at(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
        }
    }

    fn open_below(&self, path: &Path, flags: i32) -> io::Result<File> {
        plainly(path, flags)
    }
}

#[cfg(unix)]
use unix::{TO_LOOK, plainly};

#[cfg(not(unix))]
const TO_LOOK: i32 = 0;

#[cfg(not(unix))]
fn plainly(path: &Path, _flags: i32) -> io::Result<File> {
    File::open(path)
}
