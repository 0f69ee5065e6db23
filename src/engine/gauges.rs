//! gauges (merged from report)
use std::path::Path;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Gauges
#[derive(Debug, Default)]
pub struct Gauges {
    /// b
    pub bytes: AtomicU64,
    /// f
    pub files: AtomicU64,
    large: Mutex<Vec<Arc<LargeFile>>>,
}
/// l
#[derive(Debug)]
pub struct LargeFile {
    /// p
    pub path: PathBuf,
    /// s
    pub size: u64,
    /// d
    pub done: AtomicU64,
}
/// g
#[derive(Debug)]
pub struct LargeGuard {
    gauges: Arc<Gauges>,
    file: Arc<LargeFile>,
}
impl LargeGuard {
    /// a
    pub fn add(&self, bytes: u64) {
        self.file.done.fetch_add(bytes, Ordering::Relaxed);
    }
}
impl Drop for LargeGuard {
    fn drop(&mut self) {
        self.gauges
            .large
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|f| !Arc::ptr_eq(f, &self.file));
    }
}
impl Gauges {
    /// b
    pub fn begin_large(self: &Arc<Self>, path: &Path, size: u64) -> LargeGuard {
        let file = Arc::new(LargeFile {
            path: path.to_owned(),
            size,
            done: AtomicU64::new(0),
        });
        self.large
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Arc::clone(&file));
        LargeGuard {
            gauges: Arc::clone(self),
            file,
        }
    }
}
