//! What kind of disk a path lies on.

use std::path::Path;

/// Whether reading several files at once would make a disk arm jump between them.
///
/// On Linux this is the kernel's `queue/rotational` of the block device, or of the disk that the
/// partition belongs to. Virtual disks report 1 there for want of knowledge, so they do not count
/// as rotating; neither does anything that cannot be found out, as network file systems.
///
/// # Examples
///
/// ```
/// // Memory file systems never rotate, and a missing path tells nothing.
/// assert!(!multisum::engine::is_rotating("/no/such/path".as_ref()));
/// ```
pub fn is_rotating(path: &Path) -> bool {
    imp::is_rotating(path).unwrap_or(false)
}

#[cfg(target_os = "linux")]
mod imp {
    use std::fs;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    /// Buses of virtual machines, whose rotational flag is only a default.
    const VIRTUAL: [&str; 4] = ["/virtio", "/vbd-", "/vmbus", "/xen"];

    pub(super) fn is_rotating(path: &Path) -> Option<bool> {
        let device = fs::metadata(path).ok()?.dev();
        let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
        let link = format!("/sys/dev/block/{major}:{minor}");
        let node = fs::read_link(&link).ok()?;
        if VIRTUAL.iter().any(|bus| contains(&node, bus)) {
            return Some(false);
        }
        // A partition has no queue of its own; above what the link leads to is the disk.
        let queue = ["queue", "../queue"].map(|queue| format!("{link}/{queue}/rotational"));
        let flag = queue.iter().find_map(|file| fs::read(file).ok())?;
        Some(flag.starts_with(b"1"))
    }

    fn contains(node: &Path, bus: &str) -> bool {
        node.to_str().is_some_and(|text| text.contains(bus))
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use std::path::Path;

    pub(super) fn is_rotating(_path: &Path) -> Option<bool> {
        None
    }
}
