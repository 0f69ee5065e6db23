//! What a progress display samples: running totals that workers raise and nobody waits for.
//!
//! Counters are relaxed: a display may be a moment behind, and nothing is decided by them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Files of at least this many bytes are named while they are being read.
pub const LARGE_FILE_BYTES: u64 = 64 << 20;

/// What has been done so far. Workers add once per buffer, a display looks when it likes.
///
/// # Examples
///
/// ```
/// use multisum::engine::Gauges;
/// use std::sync::Arc;
/// let gauges = Arc::new(Gauges::default());
/// let large = gauges.begin_large("disk.img", 1 << 30);
/// gauges.add_bytes(4096);
/// large.add_bytes(4096);
/// assert_eq!(gauges.large_files()[0].done(), 4096);
/// drop(large);
/// gauges.add_files(1);
/// assert_eq!((gauges.files(), gauges.bytes()), (1, 4096));
/// assert!(gauges.large_files().is_empty());
/// ```
#[derive(Debug, Default)]
pub struct Gauges {
    bytes: AtomicU64,
    spared: AtomicU64,
    files: AtomicU64,
    large: Mutex<Vec<Arc<LargeFile>>>,
    watched: AtomicBool,
    waits: Mutex<Vec<Arc<Wait>>>,
}

impl Gauges {
    /// Adds bytes that were read, of whatever file.
    pub fn add_bytes(&self, count: u64) {
        self.bytes.fetch_add(count, Ordering::Relaxed);
    }

    /// Adds bytes that need not be read, since they were by an earlier run.
    pub fn add_spared(&self, count: u64) {
        self.spared.fetch_add(count, Ordering::Relaxed);
    }

    /// Adds files that are done, well or badly.
    pub fn add_files(&self, count: u64) {
        self.files.fetch_add(count, Ordering::Relaxed);
    }

    /// Bytes read so far.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Bytes that need not be read, so far.
    pub fn spared(&self) -> u64 {
        self.spared.load(Ordering::Relaxed)
    }

    /// Files done so far.
    pub fn files(&self) -> u64 {
        self.files.load(Ordering::Relaxed)
    }

    /// Shows a file by name until the guard is dropped; meant for [`LARGE_FILE_BYTES`] and more.
    ///
    /// What the guard counts belongs to that file alone: its bytes go to [`Gauges::add_bytes`] too.
    pub fn begin_large(self: &Arc<Self>, path: impl Into<PathBuf>, size: u64) -> LargeGuard {
        let file = Arc::new(LargeFile {
            path: path.into(),
            size,
            done: AtomicU64::new(0),
        });
        self.lock_large().push(Arc::clone(&file));
        LargeGuard {
            gauges: Arc::clone(self),
            file,
        }
    }

    /// The large files that are being read, in the order in which they were begun.
    pub fn large_files(&self) -> Vec<Arc<LargeFile>> {
        self.lock_large().clone()
    }

    /// Asks workers to say what they wait for, from now on. Otherwise they need not take the trouble.
    pub fn watch(&self) {
        self.watched.store(true, Ordering::Relaxed);
    }

    /// Says that the system was asked for something of a file, until the guard is dropped.
    pub(super) fn wait_for(self: &Arc<Self>, path: &Path) -> Option<WaitGuard> {
        self.watched.load(Ordering::Relaxed).then(|| {
            let wait = Arc::new(Wait {
                path: path.to_path_buf(),
                since: Instant::now(),
            });
            self.lock_waits().push(Arc::clone(&wait));
            WaitGuard {
                gauges: Arc::clone(self),
                wait,
            }
        })
    }

    /// The file that a worker has waited for longest, and how long.
    pub fn longest_wait(&self) -> Option<(PathBuf, Duration)> {
        let waits = self.lock_waits();
        let longest = waits.iter().min_by_key(|wait| wait.since)?;
        Some((longest.path.clone(), longest.since.elapsed()))
    }

    fn lock_waits(&self) -> MutexGuard<'_, Vec<Arc<Wait>>> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The list is whole between any two of its operations, so a panic elsewhere cannot spoil it.
    fn lock_large(&self) -> MutexGuard<'_, Vec<Arc<LargeFile>>> {
        self.large.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file that takes long enough to be watched by itself.
#[derive(Debug)]
pub struct LargeFile {
    path: PathBuf,
    size: u64,
    done: AtomicU64,
}

impl LargeFile {
    /// The path that was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes when it was opened.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Bytes read so far.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}

/// Keeps a large file among those shown.
#[derive(Debug)]
pub struct LargeGuard {
    gauges: Arc<Gauges>,
    file: Arc<LargeFile>,
}

impl LargeGuard {
    /// Adds bytes that were read of this file.
    pub fn add_bytes(&self, count: u64) {
        self.file.done.fetch_add(count, Ordering::Relaxed);
    }
}

impl Drop for LargeGuard {
    fn drop(&mut self) {
        self.gauges
            .lock_large()
            .retain(|file| !Arc::ptr_eq(file, &self.file));
    }
}

/// A file that the system was asked for, and when.
#[derive(Debug)]
struct Wait {
    path: PathBuf,
    since: Instant,
}

/// Keeps a file among those that are waited for.
#[derive(Debug)]
pub(super) struct WaitGuard {
    gauges: Arc<Gauges>,
    wait: Arc<Wait>,
}

impl Drop for WaitGuard {
    fn drop(&mut self) {
        self.gauges
            .lock_waits()
            .retain(|wait| !Arc::ptr_eq(wait, &self.wait));
    }
}

/// What there is to do, as far as a counting walk has got.
#[derive(Debug, Default)]
pub struct Totals {
    files: AtomicU64,
    bytes: AtomicU64,
    complete: AtomicBool,
}

impl Totals {
    /// Adds one file of that many bytes.
    pub fn add(&self, bytes: u64) {
        self.files.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Says that everything has been counted.
    pub fn complete(&self) {
        // Pairs with the load in `is_complete`: who sees the flag also sees the last additions.
        self.complete.store(true, Ordering::Release);
    }

    /// Whether everything has been counted.
    pub fn is_complete(&self) -> bool {
        self.complete.load(Ordering::Acquire)
    }

    /// Files counted so far.
    pub fn files(&self) -> u64 {
        self.files.load(Ordering::Relaxed)
    }

    /// Bytes counted so far.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_wait_is_told_while_it_lasts_and_somebody_asks() {
        let gauges = Arc::new(Gauges::default());
        assert!(gauges.wait_for(Path::new("unwatched")).is_none());
        gauges.watch();
        let first = gauges.wait_for(Path::new("first"));
        let second = gauges.wait_for(Path::new("second"));
        let longest = || gauges.longest_wait().map(|(path, _)| path);
        assert_eq!(longest(), Some("first".into()));
        drop(first);
        assert_eq!(longest(), Some("second".into()));
        drop(second);
        assert_eq!(longest(), None);
    }

    #[test]
    fn two_reads_of_one_path_are_two_files() {
        let gauges = Arc::new(Gauges::default());
        let first = gauges.begin_large("same", 10);
        let second = gauges.begin_large("same", 10);
        second.add_bytes(7);
        drop(first);
        let left = gauges.large_files();
        assert_eq!(left.len(), 1);
        assert_eq!((left[0].done(), left[0].size()), (7, 10));
    }
}
