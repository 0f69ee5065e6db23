//! What came of one entry.

use std::fs::FileType;
use std::path::Path;

use crate::engine::{Hashed, Outcome};
use crate::error::{FileError, Operation};
use crate::event::{Difference, Unverified, Verdict};
use crate::manifest::Kind;
use crate::relpath::RelPath;
use crate::timestamp::Timestamp;

use super::listed::Listed;
use super::shift::ClockShift;
use super::sources::Sources;

/// What came of an entry. `shift` has seen the entries before it.
pub(super) fn judge(
    sources: &Sources,
    entry: &Listed,
    outcome: Option<Outcome>,
    shift: &ClockShift,
) -> Verdict {
    match outcome {
        Some(Outcome::Hashed(hashed)) => judge_contents(entry, &hashed, shift),
        Some(Outcome::Failed(error)) if error.is_missing() => Verdict::Missing,
        Some(Outcome::Failed(error)) => Verdict::Unreadable(error),
        Some(Outcome::Unstable(instability)) => Verdict::Unstable(instability),
        Some(Outcome::Unread(_)) => Verdict::Unread,
        None => match (&entry.trouble, sources.path_of(entry)) {
            (Some(reason), _) => Verdict::Unverified(reason.clone()),
            (None, None) => Verdict::Unverified(Unverified::ImpossibleName),
            (None, Some(path)) => judge_unread(entry, &path),
        },
    }
}

/// Every recorded digest and the size against what was read. A difference is a difference whatever
/// else could not be compared; without one, all must have been compared.
fn judge_contents(entry: &Listed, hashed: &Hashed, shift: &ClockShift) -> Verdict {
    let pairs = entry.known().zip(&hashed.digests);
    let compared = pairs.clone().count();
    let mut differences: Vec<Difference> = pairs
        .filter(|(expected, actual)| expected != actual)
        .map(|(&expected, &actual)| Difference::Digest { expected, actual })
        .collect();
    let size = hashed.size;
    if let Some(expected) = entry.size().filter(|expected| *expected != size) {
        differences.insert(
            0,
            Difference::Size {
                expected,
                actual: size,
            },
        );
    } else if !differences.is_empty() && is_untouched(entry, hashed, shift) {
        return Verdict::Corrupt { differences, size };
    }
    if !differences.is_empty() {
        Verdict::Changed { differences, size }
    } else if let Some(name) = entry.unsupported() {
        Verdict::Unverified(Unverified::UnsupportedAlgorithm(name.into()))
    } else if compared == 0 || compared != entry.digests.len() || compared != hashed.digests.len() {
        Verdict::Unverified(Unverified::UnknownAlgorithm)
    } else {
        Verdict::Ok { size }
    }
}

/// Whether size and modification time are recorded and as recorded, so that nobody seems to have
/// written to the file. The file system may keep times less exactly, and its clock may be set to
/// another zone, as the other files show.
fn is_untouched(entry: &Listed, hashed: &Hashed, shift: &ClockShift) -> bool {
    let now = hashed.modified.and_then(Timestamp::from_system);
    let same_time = entry.modified().zip(now).is_some_and(|(recorded, now)| {
        recorded.may_agree_with(now) || shift.explains(recorded, now)
    });
    same_time && entry.size() == Some(hashed.size)
}

/// What needs no reading: folders, links and devices, and files with no digest that can be computed.
fn judge_unread(entry: &Listed, path: &Path) -> Verdict {
    let failed = |error| FileError::new(Operation::Stat, path, error);
    let metadata = match path.symlink_metadata().map_err(failed) {
        Ok(metadata) => metadata,
        Err(error) if error.is_missing() => return Verdict::Missing,
        Err(error) => return Verdict::Unreadable(error),
    };
    let expected = match entry.kind() {
        Kind::File => {
            return Verdict::Unverified(match entry.unsupported() {
                Some(name) => Unverified::UnsupportedAlgorithm(name.into()),
                None => Unverified::UnknownAlgorithm,
            });
        }
        Kind::Directory => "folder",
        Kind::Link(_) => "symbolic link",
        Kind::Special => "device, socket or pipe",
    };
    if !entry.digests.is_empty() {
        return Verdict::Unverified(Unverified::DigestOfNoFile);
    }
    let actual = kind_of(metadata.file_type());
    if expected != actual {
        let differences = vec![Difference::Kind { expected, actual }];
        return Verdict::Changed {
            differences,
            size: 0,
        };
    }
    match entry.kind() {
        Kind::Link(Some(target)) => judge_link(target, path),
        _ => Verdict::Present,
    }
}

fn judge_link(expected: &RelPath, path: &Path) -> Verdict {
    match std::fs::read_link(path) {
        Ok(target) => {
            let actual = RelPath::from_path(&target);
            if actual == *expected {
                return Verdict::Present;
            }
            let expected = expected.clone();
            let differences = vec![Difference::Target { expected, actual }];
            Verdict::Changed {
                differences,
                size: 0,
            }
        }
        Err(error) => Verdict::Unreadable(FileError::new(Operation::Read, path, error)),
    }
}

fn kind_of(file_type: FileType) -> &'static str {
    if file_type.is_file() {
        "file"
    } else if file_type.is_dir() {
        "folder"
    } else if file_type.is_symlink() {
        "symbolic link"
    } else {
        "device, socket or pipe"
    }
}
