//! Opening relative to descriptors.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use super::{Anchor, LinkInTheWay, below};

/// Enough for the trees that are read at one time; the rest of the descriptors is for files.
const MOST_HELD: usize = 16;

static NOW_HELD: AtomicUsize = AtomicUsize::new(0);

/// A descriptor that is counted.
#[derive(Debug)]
pub(super) struct Held(OwnedFd);

impl Held {
    fn new(directory: OwnedFd) -> Self {
        NOW_HELD.fetch_add(1, Ordering::Relaxed);
        Self(directory)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        NOW_HELD.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
const TO_PASS: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const TO_PASS: OFlags = OFlags::DIRECTORY;

/// What `PATH_MAX` leaves on every system.
const LONGEST: usize = 1000;

impl Anchor {
    /// Opens a directory; links on the way are followed.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        let directory = follow(path)?;
        let held = NOW_HELD.load(Ordering::Relaxed) < MOST_HELD;
        Ok(Self {
            path: path.to_path_buf(),
            held: held.then(|| Held::new(directory)),
        })
    }

    /// A directory that is opened by its path whenever something below it is.
    pub fn at(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            held: None,
        }
    }

    /// Opens a directory below, to be listed. `parent` is the directory that it lies in, if that
    /// is open.
    ///
    /// # Errors
    ///
    /// As [`Location::open`](super::Location::open).
    pub fn open_directory(
        &self,
        path: &Path,
        parent: Option<BorrowedFd<'_>>,
    ) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK;
        let name = path.file_name().filter(|_| path != self.path);
        match (parent, name) {
            (Some(parent), Some(name)) => one(parent, Path::new(name), flags).map_err(named),
            _ => self.with(|anchor| without_links(anchor, below(path, &self.path), flags)),
        }
    }

    pub(super) fn open_below(&self, path: &Path, flags: i32) -> io::Result<File> {
        let flags = OFlags::from_bits_retain(flags.cast_unsigned()) | OFlags::RDONLY;
        self.with(|anchor| without_links(anchor, below(path, &self.path), flags))
            .map(File::from)
    }

    fn with(
        &self,
        act: impl FnOnce(BorrowedFd<'_>) -> Result<OwnedFd, Errno>,
    ) -> io::Result<OwnedFd> {
        match &self.held {
            Some(held) => act(held.0.as_fd()),
            None => follow(&self.path).and_then(|directory| act(directory.as_fd())),
        }
        .map_err(named)
    }
}

/// To ask what a file is, which takes no right to read it.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) const TO_LOOK: i32 = OFlags::PATH.bits().cast_signed();
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) const TO_LOOK: i32 = OFlags::NONBLOCK.bits() as i32;

/// Opens by path and follows links, whatever the length of the path.
pub(super) fn plainly(path: &Path, flags: i32) -> io::Result<File> {
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    match opened {
        Err(error) if error.kind() == io::ErrorKind::InvalidFilename => {
            Ok(in_stretches(path, flags)?)
        }
        opened => opened,
    }
}

fn in_stretches(path: &Path, flags: i32) -> Result<File, Errno> {
    let mut path = path.as_os_str().as_bytes();
    let mut reached: Option<OwnedFd> = None;
    let open = |reached: &Option<OwnedFd>, path: &[u8], flags: OFlags| {
        let from = reached.as_ref().map_or(CWD, AsFd::as_fd);
        retried(|| openat(from, as_path(path), flags | OFlags::CLOEXEC, Mode::empty()))
    };
    while let Some((first, rest)) = split(path) {
        reached = Some(open(&reached, first, TO_PASS)?);
        path = rest;
    }
    let flags = OFlags::from_bits_retain(flags.cast_unsigned());
    open(&reached, path, flags).map(File::from)
}

fn named(error: Errno) -> io::Error {
    match error {
        Errno::LOOP => io::Error::other(LinkInTheWay),
        error => error.into(),
    }
}

fn follow(path: &Path) -> Result<OwnedFd, Errno> {
    let path = match path.as_os_str().is_empty() {
        true => Path::new("."),
        false => path,
    };
    retried(|| openat(CWD, path, TO_PASS | OFlags::CLOEXEC, Mode::empty()))
}

/// Opens what lies at `path` below a directory, whatever its length, and follows no link.
fn without_links(directory: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut path = path.as_os_str().as_bytes();
    let mut reached: Option<OwnedFd> = None;
    while let Some((first, rest)) = split(path) {
        let from = reached.as_ref().map_or(directory, AsFd::as_fd);
        reached = Some(stretch(from, as_path(first), TO_PASS)?);
        path = rest;
    }
    let from = reached.as_ref().map_or(directory, AsFd::as_fd);
    stretch(from, as_path(path), flags)
}

/// Cuts off a beginning that is short enough for one call, if the whole is not.
fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    if path.len() <= LONGEST {
        return None;
    }
    let slash = path[..LONGEST].iter().rposition(|&byte| byte == b'/')?;
    Some((&path[..slash], &path[slash + 1..]))
}

fn as_path(bytes: &[u8]) -> &Path {
    let here = bytes.is_empty();
    Path::new(OsStr::from_bytes(if here { b"." } else { bytes }))
}

/// Whether the kernel has a call that follows no link on the whole way.
static IN_ONE_CALL: AtomicBool = AtomicBool::new(cfg!(target_os = "linux"));

fn stretch(from: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    #[cfg(target_os = "linux")]
    if IN_ONE_CALL.load(Ordering::Relaxed) {
        use rustix::fs::{ResolveFlags, openat2};
        let all = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let no_links = ResolveFlags::NO_SYMLINKS;
        match retried(|| openat2(from, path, all, Mode::empty(), no_links)) {
            // Some sandboxes answer so to every call that they do not know; and a link where a
            // directory is asked for is not told from a file.
            Err(Errno::PERM | Errno::NOTDIR) => {}
            Err(Errno::NOSYS) => IN_ONE_CALL.store(false, Ordering::Relaxed),
            other => return other,
        }
    }
    step_by_step(from, path, flags)
}

fn step_by_step(from: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut reached: Option<OwnedFd> = None;
    let mut names = path.iter().peekable();
    while let Some(name) = names.next() {
        let here = reached.as_ref().map_or(from, AsFd::as_fd);
        let flags = if names.peek().is_some() {
            TO_PASS
        } else {
            flags
        };
        reached = Some(one(here, Path::new(name), flags)?);
    }
    reached.ok_or(Errno::NOENT)
}

/// Opens what has a name in a directory, unless it is a link.
fn one(directory: BorrowedFd<'_>, name: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = retried(|| openat(directory, name, flags, Mode::empty()));
    // A link where a directory is asked for is no directory.
    let may_be_link = matches!(opened, Err(Errno::NOTDIR));
    if may_be_link && is_link(directory, name) {
        return Err(Errno::LOOP);
    }
    opened
}

fn is_link(directory: BorrowedFd<'_>, name: &Path) -> bool {
    use rustix::fs::{AtFlags, FileType, statat};
    statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

fn retried(open: impl Fn() -> Result<OwnedFd, Errno>) -> Result<OwnedFd, Errno> {
    loop {
        match open() {
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::symlink;
    use std::sync::Arc;

    use super::*;
    use crate::location::{Location, OutsideAnchor, is_link_in_the_way};

    fn text(file: io::Result<impl Into<File>>) -> String {
        let mut text = String::new();
        file.unwrap().into().read_to_string(&mut text).unwrap();
        text
    }

    fn is_refused<T: std::fmt::Debug>(opened: io::Result<T>) -> bool {
        let error = opened.unwrap_err();
        is_link_in_the_way(&error)
    }

    #[test]
    fn links_that_come_in_between_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(path("tree/a/b")).unwrap();
        std::fs::write(path("tree/a/b/c"), "inside").unwrap();
        std::fs::create_dir_all(path("out/b")).unwrap();
        std::fs::write(path("out/b/c"), "outside").unwrap();

        let anchor = Arc::new(Anchor::open(&path("tree")).unwrap());
        let file = Location::below(&anchor, path("tree/a/b/c"));
        assert_eq!(text(file.open(0)), "inside");

        std::fs::rename(path("tree/a"), path("tree/away")).unwrap();
        symlink(path("out"), path("tree/a")).unwrap();
        assert!(is_refused(file.open(0)));
        assert!(is_refused(anchor.open_directory(&path("tree/a"), None)));
        let open = follow(&path("tree")).unwrap();
        let open = open.as_fd();
        assert!(is_refused(
            anchor.open_directory(&path("tree/a"), Some(open))
        ));
        assert!(is_refused(
            step_by_step(open, Path::new("a/b/c"), OFlags::RDONLY).map_err(named)
        ));
    }

    #[test]
    fn what_is_confined_follows_only_links_that_stay_inside() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(path("tree/a")).unwrap();
        std::fs::write(path("tree/a/b"), "inside").unwrap();
        std::fs::write(path("out"), "outside").unwrap();
        symlink("a", path("tree/relative")).unwrap();
        symlink(path("tree/a/b"), path("tree/absolute")).unwrap();
        symlink("../out", path("tree/away")).unwrap();

        let anchor = Arc::new(Anchor::open(&path("tree")).unwrap());
        let open = |name: &str| Location::confined(&anchor, path(name)).open(0);
        for inside in [
            "tree/a/b",
            "tree/relative/b",
            "tree/absolute",
            "tree/a/../a/b",
        ] {
            assert_eq!(text(open(inside)), "inside");
        }
        for outside in ["tree/away", "tree/../out", "tree/a/../../out"] {
            let error = open(outside).unwrap_err();
            let inner = error.get_ref().unwrap();
            assert!(inner.is::<OutsideAnchor>(), "{outside}: {error}");
        }
    }

    #[test]
    fn the_anchor_stays_where_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(path("tree/a")).unwrap();
        std::fs::write(path("tree/a/b"), "inside").unwrap();
        let anchor = Arc::new(Anchor::open(&path("tree")).unwrap());
        std::fs::rename(path("tree"), path("moved")).unwrap();
        symlink(path("out"), path("tree")).unwrap();
        let file = Location::below(&anchor, path("tree/a/b"));
        assert_eq!(text(file.open(0)), "inside");
    }

    #[test]
    fn no_path_is_too_long() {
        let dir = tempfile::tempdir().unwrap();
        let name = "x".repeat(200);
        let mut path = dir.path().to_path_buf();
        let mut open = follow(dir.path()).unwrap();
        for _ in 0..30 {
            rustix::fs::mkdirat(&open, &*name, Mode::RWXU).unwrap();
            open = one(open.as_fd(), Path::new(&name), TO_PASS).unwrap();
            path.push(&name);
        }
        let flags = OFlags::CREATE | OFlags::WRONLY;
        openat(&open, "file", flags, Mode::RWXU).unwrap();
        path.push("file");
        let anchor = Arc::new(Anchor::open(dir.path()).unwrap());
        let file = Location::below(&anchor, path.clone());
        assert_eq!(text(file.open(0)), "");
        assert_eq!(file.metadata(false).unwrap().len(), 0);
        assert!(std::fs::metadata(&path).is_err());
        let plain = Location::from(path);
        assert_eq!(text(plain.open(0)), "");
        assert_eq!(plain.metadata(true).unwrap().len(), 0);
    }

    #[test]
    fn more_trees_than_are_held_are_opened_all_the_same() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "inside").unwrap();
        let anchors: Vec<_> = (0..=MOST_HELD)
            .map(|_| Arc::new(Anchor::open(dir.path()).unwrap()))
            .collect();
        for anchor in &anchors {
            let file = Location::below(anchor, dir.path().join("a"));
            assert_eq!(text(file.open(0)), "inside");
        }
        assert!(anchors.iter().any(|anchor| anchor.held.is_none()));
    }
}
