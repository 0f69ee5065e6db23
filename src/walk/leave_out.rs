//! Files that a walk must not report because the run itself writes or reads them.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::listing::{Entry, Kind};
use crate::error::leads_nowhere;

/// Files that are never reported, under whatever name they are met: outputs, journals, the manifest
/// being verified, standard output where it is redirected into the tree.
///
/// Files are told apart by device and inode on Unix and by their canonical path elsewhere, so they
/// must exist when they are added. Clones share what was added before; later additions are the
/// clone's own.
#[derive(Clone, Debug, Default)]
pub struct LeaveOut {
    own: Arc<Vec<Own>>,
}

#[derive(Clone, Debug)]
struct Own {
    identity: Identity,
    /// Some file systems (FUSE, overlays) list other inode numbers than they report for the file,
    /// so an equal name is reason enough to look twice.
    name: Option<OsString>,
}

impl LeaveOut {
    /// Leaves out nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Leaves out the file at `path`; a link is followed.
    ///
    /// # Errors
    ///
    /// What the system says, also [`io::ErrorKind::NotFound`].
    pub fn add_path(&mut self, path: &Path) -> io::Result<()> {
        let identity = Identity::of_path(path)?;
        self.add(identity, path.file_name().map(OsStr::to_owned));
        Ok(())
    }

    /// As [`LeaveOut::add_path`], but a name that leads nowhere leaves out nothing.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn add_if_there(&mut self, path: &Path) -> io::Result<()> {
        match self.add_path(path) {
            Err(error) if leads_nowhere(&error) => Ok(()),
            added => added,
        }
    }

    /// Leaves out an open file, for instance standard output. Does nothing where the platform
    /// cannot tell which file a handle belongs to (all but Unix).
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn add_file(&mut self, file: &File) -> io::Result<()> {
        if let Some(identity) = Identity::of_file(file)? {
            self.add(identity, name_of(file));
        }
        Ok(())
    }

    /// Leaves out all that another leaves out.
    pub fn add_all(&mut self, other: &Self) {
        for own in other.own.iter() {
            self.add(own.identity.clone(), own.name.clone());
        }
    }

    fn add(&mut self, identity: Identity, name: Option<OsString>) {
        Arc::make_mut(&mut self.own).push(Own { identity, name });
    }

    /// Whether this entry of a directory is one of the files. Asks the system only if inode or name
    /// say that it may be.
    pub(super) fn holds_entry(&self, entry: &Entry, path: &Path) -> bool {
        // A link carries an inode of its own.
        let suspect = |own: &Own| {
            entry.kind == Kind::Link
                || own.identity.may_be(entry)
                || own.name.as_deref() == Some(&entry.name)
        };
        self.own.iter().any(suspect) && self.holds_path(path)
    }

    /// Whether the file at `path` is one of the files. One that cannot be looked at is not: whoever
    /// opens it will report why.
    pub(super) fn holds_path(&self, path: &Path) -> bool {
        !self.own.is_empty()
            && Identity::of_path(path)
                .is_ok_and(|identity| self.own.iter().any(|own| own.identity == identity))
    }
}

#[cfg(unix)]
#[derive(Clone, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

#[cfg(unix)]
impl Identity {
    fn of(metadata: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }

    fn of_path(path: &Path) -> io::Result<Self> {
        fs::metadata(path).map(|metadata| Self::of(&metadata))
    }

    fn of_file(file: &File) -> io::Result<Option<Self>> {
        file.metadata().map(|metadata| Some(Self::of(&metadata)))
    }

    fn may_be(&self, entry: &Entry) -> bool {
        self.inode == entry.inode
    }
}

#[cfg(not(unix))]
#[derive(Clone, Debug, PartialEq, Eq)]
struct Identity(std::path::PathBuf);

#[cfg(not(unix))]
impl Identity {
    fn of_path(path: &Path) -> io::Result<Self> {
        fs::canonicalize(path).map(Self)
    }

    fn of_file(_file: &File) -> io::Result<Option<Self>> {
        Ok(None)
    }

    fn may_be(&self, entry: &Entry) -> bool {
        self.0.file_name() == Some(&entry.name)
    }
}

/// The name under which a file was opened, where the system tells; only a hint.
#[cfg(target_os = "linux")]
fn name_of(file: &File) -> Option<OsString> {
    use std::os::fd::AsRawFd;
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    let path = fs::read_link(link).ok()?;
    path.file_name().map(OsStr::to_owned)
}

#[cfg(not(target_os = "linux"))]
fn name_of(_file: &File) -> Option<OsString> {
    None
}
