//! One open source: read to its end, and proved to have stayed the same meanwhile.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::digest::Digest;
use crate::error::{FileError, Operation};
use crate::location::Location;

#[cfg(unix)]
use super::mmap::Mapping;
use super::stamp::Stamp;
use super::{Hashed, Instability, IoMode, Links, Outcome, Saved, Source, Status};

/// A source that is being read.
#[derive(Debug)]
pub(super) struct OpenFile {
    source: Source,
    reader: Reader,
    /// `None` for streams, which have no size and no state to compare.
    before: Option<Stamp>,
    read: u64,
    /// Bytes at the beginning that an earlier run had read.
    begun_at: u64,
    ended: bool,
    retried_reads: u32,
    direct_refused: bool,
    /// Whether reads may be tried that fail instead of waiting for the disk.
    tries_cache: bool,
    /// Up to where the system was asked to fetch the file from the disk.
    asked_for: u64,
}

#[derive(Debug)]
enum Reader {
    Plain(File),
    /// Past the page cache, where only whole aligned blocks can be asked for, for as long as the
    /// flag says.
    Direct(File, bool),
    #[cfg(unix)]
    Mapped(Mapping),
    Stdin,
}

/// What opening a source gives.
#[derive(Debug)]
pub(super) struct Opened {
    reader: Reader,
    before: Option<Stamp>,
    direct_refused: bool,
    tries_cache: bool,
}

impl Opened {
    fn stream(reader: Reader) -> Self {
        Self {
            reader,
            before: None,
            direct_refused: false,
            tries_cache: false,
        }
    }
}

/// Opens a source. A path that is to be a regular file and is none is refused without being read: a
/// pipe put in its place neither blocks nor loses data.
pub(super) fn open(source: &Source, io: IoMode) -> Result<Opened, FileError> {
    match source {
        Source::File { path, links } => open_regular(path, *links, io),
        Source::Stream(path) => {
            let file = File::open(path).map_err(|e| failed(Operation::Open, path, e))?;
            Ok(Opened::stream(Reader::Plain(file)))
        }
        Source::Stdin => Ok(Opened::stream(Reader::Stdin)),
    }
}

fn open_regular(path: &Location, links: Links, io: IoMode) -> Result<Opened, FileError> {
    let (file, direct) =
        open_for(path, links, io).map_err(|error| failed(Operation::Open, path, error))?;
    let metadata = file
        .metadata()
        .map_err(|error| failed(Operation::Stat, path, error))?;
    if !metadata.is_file() {
        return Err(failed(Operation::Open, path, not_regular(&metadata)));
    }
    let before = Stamp::of(&metadata);
    let reader = match io {
        IoMode::Direct if direct => Reader::Direct(file, true),
        #[cfg(unix)]
        IoMode::Mmap if before.size > 0 => Reader::Mapped(
            Mapping::new(file, before.size).map_err(|e| failed(Operation::Map, path, e))?,
        ),
        _ => Reader::Plain(file),
    };
    Ok(Opened {
        reader,
        before: Some(before),
        direct_refused: io == IoMode::Direct && !direct,
        tries_cache: io == IoMode::Auto && now::SUPPORTED,
    })
}

impl OpenFile {
    pub(super) fn new(source: Source, opened: Opened) -> Self {
        let Opened {
            reader,
            before,
            direct_refused,
            tries_cache,
        } = opened;
        Self {
            source,
            reader,
            before,
            read: 0,
            begun_at: 0,
            ended: false,
            retried_reads: 0,
            direct_refused,
            tries_cache,
            asked_for: 0,
        }
    }

    /// Whether reading may have to wait for whoever writes at the other end.
    pub(super) fn is_stream(&self) -> bool {
        self.before.is_none()
    }

    /// The size at the time of opening; 0 for streams.
    pub(super) fn size(&self) -> u64 {
        self.before.map_or(0, |stamp| stamp.size)
    }

    /// Bytes read so far, those of an earlier run included.
    pub(super) fn read_bytes(&self) -> u64 {
        self.read
    }

    /// Bytes at the beginning that are not read.
    pub(super) fn begun_at(&self) -> u64 {
        self.begun_at
    }

    /// What the file was when it was opened; `None` for streams.
    pub(super) fn status(&self) -> Option<Status> {
        self.before.map(|stamp| stamp.status())
    }

    /// Leaves out what an earlier run had read, if the file is still the same and has more. False if
    /// it is to be read from its beginning.
    pub(super) fn skip(&mut self, saved: &Saved) -> bool {
        let is_same = self.status() == Some(saved.status) && saved.offset < self.size();
        if !is_same {
            return false;
        }
        let skipped = match &mut self.reader {
            Reader::Plain(file) | Reader::Direct(file, _) => {
                file.seek(SeekFrom::Start(saved.offset)).is_ok()
            }
            #[cfg(unix)]
            Reader::Mapped(mapping) => {
                mapping.skip_to(saved.offset);
                true
            }
            Reader::Stdin => false,
        };
        if skipped {
            self.read = saved.offset;
            self.begun_at = saved.offset;
        }
        skipped
    }

    /// Whether all has been read, as far as that can be known without another read.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// The path for reports of progress.
    pub(super) fn path(&self) -> &Path {
        path_of(&self.source)
    }

    /// Whether the file is read through [`OpenFile::map_next`] instead of [`OpenFile::fill`].
    pub(super) fn is_mapped(&self) -> bool {
        #[cfg(unix)]
        return matches!(self.reader, Reader::Mapped(_));
        #[cfg(not(unix))]
        return false;
    }

    /// Maps the next bytes of a mapped file, at most `len`, and returns their number.
    #[cfg_attr(
        not(unix),
        expect(unused_variables, reason = "there are no mapped files")
    )]
    pub(super) fn map_next(&mut self, len: u64) -> Result<usize, FileError> {
        #[cfg(unix)]
        if let Reader::Mapped(mapping) = &mut self.reader {
            let bytes = mapping.map_next(len).map_err(|error| {
                FileError::new(Operation::Map, path_of(&self.source), error).at(self.read)
            })?;
            self.read += bytes as u64;
            self.ended = self.read == self.before.map_or(0, |stamp| stamp.size);
            return Ok(bytes);
        }
        self.ended = true;
        Ok(0)
    }

    /// The bytes that were mapped last; `None` if the file is not mapped.
    pub(super) fn window(&self) -> Option<&[u8]> {
        #[cfg(unix)]
        if let Reader::Mapped(mapping) = &self.reader {
            return Some(mapping.window());
        }
        None
    }

    /// Reads until the buffer is full or the file ends, and returns the number of bytes.
    ///
    /// Interrupted and short reads are invisible. A regular file that has delivered as many bytes
    /// as it had when it was opened has ended; whether it grew is found out at the end.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, FileError> {
        let mut filled = 0;
        while filled < buffer.len() && !self.ended {
            let wanted = self.wanted(buffer.len() - filled);
            let got = self.read_some(&mut buffer[filled..filled + wanted])?;
            filled += got;
            self.read += got as u64;
            self.ended = got == 0 || (self.size() > 0 && self.read >= self.size());
        }
        Ok(filled)
    }

    /// As [`OpenFile::fill`], but if the next bytes are not in the page cache the system is asked to
    /// fetch them and `None` comes back at once: with many files open, their disk reads overlap.
    pub(super) fn fill_from_cache(
        &mut self,
        buffer: &mut [u8],
    ) -> Result<Option<usize>, FileError> {
        let wanted = self.wanted(buffer.len());
        let Reader::Plain(file) = &self.reader else {
            return self.fill(buffer).map(Some);
        };
        if !self.tries_cache || self.ended {
            return self.fill(buffer).map(Some);
        }
        match now::read(file, &mut buffer[..wanted]) {
            Ok(got) if got > 0 => {
                self.read += got as u64;
                self.ended = self.size() > 0 && self.read >= self.size();
                Ok(Some(got))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if self.asked_for <= self.read {
                    // Only a hint; without it the read that waits comes all the same.
                    now::fetch(file, self.read, FETCH_BYTES).ok();
                    self.asked_for = self.read + FETCH_BYTES;
                }
                Ok(None)
            }
            // The end, a file system that cannot answer at once, or an error of the medium.
            other => {
                let refused = [io::ErrorKind::Unsupported, io::ErrorKind::InvalidInput];
                let failed = other.is_err_and(|error| !refused.contains(&error.kind()));
                self.retried_reads += u32::from(failed);
                self.tries_cache = false;
                self.fill(buffer).map(Some)
            }
        }
    }

    /// No more than the file is known to hold, but whole blocks for unbuffered reads.
    fn wanted(&self, room: usize) -> usize {
        if self.size() == 0 || matches!(self.reader, Reader::Direct(..)) {
            return room;
        }
        usize::try_from(self.size() - self.read).map_or(room, |left| left.min(room))
    }

    /// One successful read. A failed one on a regular file is tried once more.
    fn read_some(&mut self, buffer: &mut [u8]) -> Result<usize, FileError> {
        let mut failures = 0;
        loop {
            match self.read_once(buffer) {
                Ok(got) => return Ok(got),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) if failures == 0 && self.before.is_some() => {
                    failures += 1;
                    self.retried_reads += 1;
                }
                Err(error) => {
                    return Err(failed(Operation::Read, self.path(), error).at(self.read));
                }
            }
        }
    }

    fn read_once(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.reader {
            Reader::Plain(file) => file.read(buffer),
            Reader::Direct(..) => self.read_direct(buffer),
            #[cfg(unix)]
            Reader::Mapped(_) => Ok(0),
            Reader::Stdin => io::stdin().lock().read(buffer),
        }
    }

    /// An unbuffered read. After one that comes up short the offset is odd, and the system takes
    /// no more of them; the rest, which is almost always nothing, is read in the plain way.
    fn read_direct(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Reader::Direct(file, bypass) = &mut self.reader else {
            return Ok(0);
        };
        let got = match file.read(buffer) {
            Err(error) if *bypass && error.kind() == io::ErrorKind::InvalidInput => {
                self.direct_refused = true;
                clear_direct(file)?;
                *bypass = false;
                return file.read(buffer);
            }
            other => other?,
        };
        // At the end of the file there is nothing more to read, whatever the offset.
        let at_end = self.read + got as u64 >= self.before.map_or(0, |stamp| stamp.size);
        if got < buffer.len() && *bypass && !at_end {
            clear_direct(file)?;
            *bypass = false;
        }
        Ok(got)
    }

    /// Looks whether the file is still what it was, and joins everything into the outcome.
    pub(super) fn finish(mut self, digests: Vec<Digest>) -> Outcome {
        match self.look_again() {
            Err(error) => Outcome::Failed(error),
            Ok(Some(instability)) => Outcome::Unstable(instability),
            Ok(None) => Outcome::Hashed(Hashed {
                digests,
                size: self.read,
                read_before: (self.begun_at > 0).then_some(self.begun_at),
                modified: self.before.and_then(|stamp| stamp.modified),
                identity: self.before.and_then(|stamp| stamp.identity()),
                retried_reads: self.retried_reads,
                direct_refused: self.direct_refused,
            }),
        }
    }

    fn look_again(&mut self) -> Result<Option<Instability>, FileError> {
        let damaged = self.is_damaged();
        let (Some(before), Source::File { path, links }) = (self.before, &self.source) else {
            return Ok(None);
        };
        if before.size > 0 && self.read != before.size {
            return Ok(Some(Instability::Length {
                read: self.read,
                size: before.size,
            }));
        }
        if self.open_file_proves(before) {
            return Ok(None);
        }
        let after = match path.metadata(links.follows()) {
            Ok(metadata) => Stamp::of(&metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Some(Instability::Removed));
            }
            Err(error) => return Err(failed(Operation::Stat, path, error)),
        };
        // Files that the kernel makes up while they are read keep a size of 0, and their time may
        // be that of the look.
        if before.size == 0 && self.read > 0 && after.size == 0 && before.is_same_file(&after) {
            return Ok(None);
        }
        match before.change_to(&after) {
            None if damaged => Err(failed(
                Operation::Read,
                path,
                io::Error::other("a mapped page was not there"),
            )),
            change => Ok(change),
        }
    }

    /// Whether a look at the open file, which is cheaper than one by its name, is enough.
    fn open_file_proves(&self, before: Stamp) -> bool {
        let file = match &self.reader {
            Reader::Plain(file) | Reader::Direct(file, _) => file,
            #[cfg(unix)]
            Reader::Mapped(_) => return false,
            Reader::Stdin => return false,
        };
        file.metadata()
            .is_ok_and(|metadata| before.proves_unchanged(&Stamp::of(&metadata)))
    }

    fn is_damaged(&mut self) -> bool {
        #[cfg(unix)]
        if let Reader::Mapped(mapping) = &mut self.reader {
            return mapping.is_damaged();
        }
        false
    }
}

pub(super) fn path_of(source: &Source) -> &Path {
    match source {
        Source::File { path, .. } => path,
        Source::Stream(path) => path,
        Source::Stdin => Path::new("-"),
    }
}

fn failed(operation: Operation, path: &Path, error: io::Error) -> FileError {
    FileError::new(operation, path, error)
}

fn not_regular(metadata: &Metadata) -> io::Error {
    if metadata.is_dir() {
        io::ErrorKind::IsADirectory.into()
    } else {
        io::Error::other("not a regular file")
    }
}

/// Opens for reading and says whether the page cache is bypassed.
fn open_for(path: &Location, links: Links, io: IoMode) -> io::Result<(File, bool)> {
    if io == IoMode::Direct && flags::DIRECT != 0 {
        match open_with(path, links, flags::DIRECT) {
            // What a file system answers that cannot do it.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
            other => return other.map(|file| (file, true)),
        }
    }
    open_with(path, links, 0).map(|file| (file, false))
}

fn open_with(path: &Location, links: Links, extra: i32) -> io::Result<File> {
    #[cfg(not(unix))]
    if links == Links::Refuse && path.symlink_metadata()?.is_symlink() {
        return Err(io::Error::other(crate::location::LinkInTheWay));
    }
    let nofollow = match links {
        Links::Refuse => flags::NOFOLLOW,
        Links::Follow => 0,
    };
    path.open(flags::BASE | nofollow | extra)
}

/// How much of a file is fetched from the disk while other files are hashed.
const FETCH_BYTES: u64 = 1 << 20;

/// Reads that do not wait for the disk.
#[cfg(target_os = "linux")]
mod now {
    use std::fs::File;
    use std::io::{self, IoSliceMut};
    use std::num::NonZeroU64;

    use rustix::fs::{Advice, fadvise};
    use rustix::io::{ReadWriteFlags, preadv2};

    pub(super) const SUPPORTED: bool = true;

    /// Reads at the file's own offset what is in the page cache, else fails with `WouldBlock`.
    pub(super) fn read(file: &File, buffer: &mut [u8]) -> io::Result<usize> {
        const OWN_OFFSET: u64 = u64::MAX;
        let buffers = &mut [IoSliceMut::new(buffer)];
        Ok(preadv2(file, buffers, OWN_OFFSET, ReadWriteFlags::NOWAIT)?)
    }

    /// Asks the system to fetch a part of the file into the page cache.
    pub(super) fn fetch(file: &File, offset: u64, len: u64) -> io::Result<()> {
        Ok(fadvise(
            file,
            offset,
            NonZeroU64::new(len),
            Advice::WillNeed,
        )?)
    }
}

#[cfg(not(target_os = "linux"))]
mod now {
    use std::fs::File;
    use std::io;

    pub(super) const SUPPORTED: bool = false;

    pub(super) fn read(_file: &File, _buffer: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn fetch(_file: &File, _offset: u64, _len: u64) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(unix)]
mod flags {
    use rustix::fs::OFlags;

    /// A pipe or device that has taken the place of a file must not block the opening.
    pub(super) const BASE: i32 = OFlags::NONBLOCK.union(OFlags::NOCTTY).bits() as i32;
    pub(super) const NOFOLLOW: i32 = OFlags::NOFOLLOW.bits() as i32;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(super) const DIRECT: i32 = OFlags::DIRECT.bits() as i32;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(super) const DIRECT: i32 = 0;
}

#[cfg(not(unix))]
mod flags {
    pub(super) const BASE: i32 = 0;
    pub(super) const NOFOLLOW: i32 = 0;
    pub(super) const DIRECT: i32 = 0;
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn clear_direct(file: &File) -> io::Result<()> {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    let flags = fcntl_getfl(file)?;
    Ok(fcntl_setfl(file, flags - OFlags::DIRECT)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn clear_direct(_file: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;

    use super::*;

    /// Opens a file, lets `meddle` change it, reads it, and says what came of it.
    fn read_while(content: &[u8], meddle: impl FnOnce(&Path)) -> Outcome {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, content).unwrap();
        // Longer than the clock of any file system here stands still.
        std::thread::sleep(std::time::Duration::from_millis(20));
        let source = Source::File {
            path: path.clone().into(),
            links: Links::Refuse,
        };
        let opened = open(&source, IoMode::Read).unwrap();
        let mut file = OpenFile::new(source, opened);
        meddle(&path);
        file.fill(&mut [0; 64]).unwrap();
        file.finish(Vec::new())
    }

    #[test]
    fn an_empty_file_that_is_written_to_is_unstable() {
        let outcome = read_while(b"", |path| fs::write(path, b"more").unwrap());
        assert!(matches!(outcome, Outcome::Unstable(_)), "{outcome:?}");
        assert!(matches!(read_while(b"", |_| ()), Outcome::Hashed(_)));
    }

    #[cfg(unix)]
    #[test]
    fn a_write_whose_time_is_put_back_is_unstable() {
        let outcome = read_while(b"abc", |path| {
            let mut file = OpenOptions::new().write(true).open(path).unwrap();
            let modified = file.metadata().unwrap().modified().unwrap();
            file.write_all(b"x").unwrap();
            file.set_modified(modified).unwrap();
        });
        assert!(
            matches!(outcome, Outcome::Unstable(Instability::Modified)),
            "{outcome:?}"
        );
    }

    #[test]
    fn a_file_that_loses_its_name_is_unstable() {
        let removed = read_while(b"abc", |path| fs::remove_file(path).unwrap());
        assert!(
            matches!(removed, Outcome::Unstable(Instability::Removed)),
            "{removed:?}"
        );
        let replaced = read_while(b"abc", |path| {
            fs::write(path.with_extension("new"), b"abc").unwrap();
            fs::rename(path.with_extension("new"), path).unwrap();
        });
        assert!(
            matches!(replaced, Outcome::Unstable(Instability::Replaced)),
            "{replaced:?}"
        );
    }
}
