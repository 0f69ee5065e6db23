//! Which mount something is reached through.

use std::io;
use std::path::Path;

/// The number of the mount through which `path` is reached, links followed. While the machine runs, no
/// other mount is ever given it, unlike a device number, which the next medium may have. `None` where
/// the system does not tell: only Linux does, since 6.8.
///
/// # Errors
///
/// What the system says.
#[cfg(target_os = "linux")]
pub fn mount_of(path: &Path) -> io::Result<Option<u64>> {
    use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
    use rustix::io::Errno;
    // STATX_MNT_ID_UNIQUE, for which there is no name yet.
    let unique = StatxFlags::from_bits_retain(0x4000);
    match statx(CWD, path, AtFlags::empty(), unique) {
        Ok(found) => {
            let told = StatxFlags::from_bits_retain(found.stx_mask).contains(unique);
            Ok(told.then_some(found.stx_mnt_id))
        }
        Err(Errno::NOSYS) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Always `None`: only Linux tells.
///
/// # Errors
///
/// None here.
#[cfg(not(target_os = "linux"))]
pub fn mount_of(_path: &Path) -> io::Result<Option<u64>> {
    Ok(None)
}

/// What tells this start of the machine from every other, without which numbers of mounts mean nothing.
///
/// # Errors
///
/// What the system says; on other systems than Linux there is no such thing.
pub fn boot_id() -> io::Result<String> {
    if cfg!(target_os = "linux") {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
        Ok(id.trim().to_owned())
    } else {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_mount_keeps_its_number_and_others_have_others() {
        let folder = tempfile::tempdir().unwrap();
        let own = mount_of(folder.path()).unwrap();
        assert_eq!(mount_of(&folder.path().join(".")).unwrap(), own);
        if own.is_some() {
            assert_ne!(mount_of(Path::new("/proc")).unwrap(), own);
        }
        assert!(mount_of(&folder.path().join("none")).is_err());
    }
}
