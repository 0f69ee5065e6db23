//! What a directory holds, by its own descriptor where there are descriptors.
//!
//! `walkdir` lists directories by their paths. Such a path ends at the length that the system
//! allows, and may lead elsewhere by the time it is used. So on Unix a directory is opened from the
//! one above it, without following a link, and listed through what was opened.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use super::Special;
use crate::location::Anchor;

/// One name in a directory.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: OsString,
    pub(super) kind: Kind,
    /// As the listing has it, which is only a hint.
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no inodes"))]
    pub(super) inode: u64,
}

/// What a name stands for, without following links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
    Link,
    Special(Special),
    /// The listing does not say.
    #[cfg_attr(
        not(unix),
        expect(dead_code, reason = "listings say what everything is")
    )]
    Unknown,
}

/// The names in a directory, sorted.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) entries: Vec<Entry>,
    /// Why there may be more names.
    pub(super) broken_off: Option<io::Error>,
    pub(super) handle: Handle,
}

/// Lists a directory below an anchor. `parent` is the directory that it lies in, if that is open.
pub(super) fn list(anchor: &Anchor, path: &Path, parent: Option<&Handle>) -> io::Result<Listing> {
    let mut listing = platform::list(anchor, path, parent)?;
    listing.entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(listing)
}

pub(super) use platform::{Handle, device_in};

#[cfg(unix)]
mod platform {
    use std::ffi::OsStr;
    use std::os::fd::BorrowedFd;
    use std::os::unix::ffi::OsStrExt;

    use rustix::fs::{AtFlags, CWD, Dir, FileType, statat};
    use rustix::io::Errno;

    use super::{Anchor, Entry, Kind, Listing, Path, Special, io};

    /// A directory that is held open.
    #[derive(Debug)]
    pub(in super::super) struct Handle(Dir);

    impl Handle {
        fn descriptor(&self) -> io::Result<BorrowedFd<'_>> {
            Ok(self.0.fd()?)
        }
    }

    /// The file system of a directory in `parent`, if that is open, or else by its path.
    pub(in super::super) fn device_in(parent: Option<&Handle>, path: &Path) -> io::Result<u64> {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let flags = flags | AtFlags::NO_AUTOMOUNT;
        let stat = match (parent, path.file_name()) {
            (Some(parent), Some(name)) => statat(parent.descriptor()?, name, flags),
            _ => statat(CWD, path, flags),
        };
        #[allow(clippy::unnecessary_cast, reason = "the type differs between systems")]
        Ok(stat?.st_dev as u64)
    }

    pub(super) fn list(
        anchor: &Anchor,
        path: &Path,
        parent: Option<&Handle>,
    ) -> io::Result<Listing> {
        loop {
            let parent = parent.and_then(|parent| parent.descriptor().ok());
            let mut handle = Handle(Dir::new(anchor.open_directory(path, parent)?)?);
            let (entries, broken_off) = entries(&mut handle.0);
            // There is no going on where a signal came.
            if broken_off == Some(Errno::INTR) {
                continue;
            }
            return Ok(Listing {
                entries,
                broken_off: broken_off.map(io::Error::from),
                handle,
            });
        }
    }

    fn entries(directory: &mut Dir) -> (Vec<Entry>, Option<Errno>) {
        let mut entries = Vec::new();
        while let Some(read) = directory.read() {
            let read = match read {
                Ok(read) => read,
                Err(error) => return (entries, Some(error)),
            };
            let name = read.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            entries.push(Entry {
                name: OsStr::from_bytes(name).to_owned(),
                kind: kind(read.file_type()),
                inode: read.ino(),
            });
        }
        (entries, None)
    }

    fn kind(file_type: FileType) -> Kind {
        match file_type {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            FileType::Fifo => Kind::Special(Special::Fifo),
            FileType::Socket => Kind::Special(Special::Socket),
            FileType::CharacterDevice | FileType::BlockDevice => Kind::Special(Special::Device),
            FileType::Unknown => Kind::Unknown,
        }
    }
}

#[cfg(not(unix))]
mod platform {
    use walkdir::WalkDir;

    use super::{Anchor, Entry, Kind, Listing, Path, Special, io};
    use crate::walk::tree::{Device, device};

    /// There is nothing to hold a directory by.
    #[derive(Debug)]
    pub(in super::super) struct Handle;

    pub(in super::super) fn device_in(_parent: Option<&Handle>, path: &Path) -> io::Result<Device> {
        device(path)
    }

    pub(super) fn list(
        anchor: &Anchor,
        path: &Path,
        _parent: Option<&Handle>,
    ) -> io::Result<Listing> {
        let metadata = match path == anchor.path() {
            true => std::fs::metadata(path)?,
            false => std::fs::symlink_metadata(path)?,
        };
        if !metadata.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let mut entries = Vec::new();
        let mut broken_off = None;
        for entry in WalkDir::new(path).min_depth(1).max_depth(1) {
            match entry {
                Ok(entry) => entries.push(Entry {
                    kind: kind(entry.file_type()),
                    name: entry.file_name().to_owned(),
                    inode: 0,
                }),
                Err(error) if entries.is_empty() => return Err(error.into()),
                Err(error) => broken_off = Some(error.into()),
            }
        }
        Ok(Listing {
            entries,
            broken_off,
            handle: Handle,
        })
    }

    fn kind(file_type: std::fs::FileType) -> Kind {
        if file_type.is_file() {
            Kind::File
        } else if file_type.is_dir() {
            Kind::Directory
        } else if file_type.is_symlink() {
            Kind::Link
        } else {
            Kind::Special(Special::Other)
        }
    }
}
