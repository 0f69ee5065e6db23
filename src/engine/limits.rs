//! How many files may be open at once.

use super::IoMode;

/// Descriptors that are left to the walk, the outputs and the standard streams.
#[cfg(unix)]
const RESERVED: u64 = 64;

/// Files that all workers together may hold open. The soft limit of the process is raised as far as
/// the system lets it, since the usual one is meant for programs that hold a few files.
#[cfg(unix)]
pub(super) fn files_at_once(io: IoMode) -> usize {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    let soft = limit.current;
    limit.current = limit.maximum;
    // Where raising is refused, the old limit holds.
    let raised = setrlimit(Resource::Nofile, limit).is_ok();
    let descriptors = if raised { limit.maximum } else { soft };
    // A small limit is split in halves instead.
    let files = descriptors.map_or(u64::MAX, |all| all.saturating_sub(RESERVED).max(all / 2));
    let windows = if io == IoMode::Mmap {
        super::mmap::MAX_WINDOWS
    } else {
        usize::MAX
    };
    usize::try_from(files).unwrap_or(usize::MAX).min(windows)
}

#[cfg(not(unix))]
pub(super) fn files_at_once(_io: IoMode) -> usize {
    usize::MAX
}
