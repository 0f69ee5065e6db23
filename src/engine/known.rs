//! What the file system says of a file, and whether that proves it to be the one that is known.

use std::fs::Metadata;

use crate::timestamp::{Modified, Timestamp};

/// Which file it is and when its status last changed, where the file system tells.
///
/// The moment of the status change cannot be put back by whoever writes to a file, unlike the
/// modification time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The file system.
    pub device: u64,
    /// The file in it.
    pub inode: u64,
    /// When contents, owner, mode or names last changed.
    pub changed: Timestamp,
}

/// What a file system says of a regular file without opening it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Bytes.
    pub size: u64,
    /// The modification time, where there is one.
    pub modified: Option<Timestamp>,
    /// Which file it is.
    pub identity: Option<Identity>,
}

impl Status {
    /// Takes what concerns the contents.
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            size: metadata.len(),
            modified: metadata.modified().ok().and_then(Timestamp::from_system),
            identity: Identity::of(metadata),
        }
    }
}

impl Identity {
    /// `None` where the platform does not tell.
    #[cfg(unix)]
    pub(super) fn of(metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let nanoseconds = u32::try_from(metadata.ctime_nsec()).ok()?;
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            changed: Timestamp::new(metadata.ctime(), nanoseconds)?,
        })
    }

    /// `None` where the platform does not tell.
    #[cfg(not(unix))]
    pub(super) fn of(_metadata: &Metadata) -> Option<Self> {
        None
    }
}

/// What is known of a file from an earlier time. All that is given must hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Bytes.
    pub size: Option<u64>,
    /// The modification time.
    pub modified: Option<Modified>,
    /// Whether a file system that keeps times less exactly may have rounded it.
    pub rounded: bool,
    /// Which file it is, with the moment of its last status change.
    pub identity: Option<Identity>,
    /// A moment since when it must not have been touched: neither the modification nor, where there
    /// is one, the status change may be so late.
    pub untouched_since: Option<Timestamp>,
}

impl Known {
    /// Whether a file with that status is the one that is known, so far as can be said without
    /// reading it. Nothing is known of a file without a modification time where one is asked for.
    pub fn holds(&self, now: &Status) -> bool {
        let size = self.size.is_none_or(|size| size == now.size);
        let identity = self.identity.is_none() || self.identity == now.identity;
        let modified = self.modified.is_none_or(|known| {
            let agrees = |time| match self.rounded {
                true => known.may_agree_with(time),
                false => known.agrees_with(time),
            };
            now.modified.is_some_and(agrees)
        });
        size && identity && modified && self.is_untouched(now)
    }

    fn is_untouched(&self, now: &Status) -> bool {
        let Some(since) = self.untouched_since else {
            return true;
        };
        let changed = now.identity.map(|identity| identity.changed);
        now.modified.is_some_and(|time| time < since) && changed.is_none_or(|time| time < since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::new(1_700_000_000 + seconds, 5).unwrap()
    }

    fn status() -> Status {
        let identity = Identity {
            device: 1,
            inode: 2,
            changed: at(20),
        };
        Status {
            size: 10,
            modified: Some(at(10)),
            identity: Some(identity),
        }
    }

    fn all() -> Known {
        Known {
            size: Some(10),
            modified: Some(Modified::exactly(at(10))),
            rounded: false,
            identity: status().identity,
            untouched_since: Some(at(21)),
        }
    }

    #[test]
    fn everything_that_is_known_must_hold() {
        assert!(all().holds(&status()));
        let bigger = Status {
            size: 11,
            ..status()
        };
        let later = Status {
            modified: Some(at(11)),
            ..status()
        };
        let timeless = Status {
            modified: None,
            ..status()
        };
        let identity = status().identity.map(|identity| Identity {
            changed: at(19),
            ..identity
        });
        let touched = Status {
            identity,
            ..status()
        };
        let nameless = Status {
            identity: None,
            ..status()
        };
        for other in [bigger, later, timeless, touched, nameless] {
            assert!(!all().holds(&other), "{other:?}");
        }
    }

    #[test]
    fn a_status_change_that_is_too_late_counts_though_the_modification_time_was_put_back() {
        let known = |since| Known {
            untouched_since: Some(at(since)),
            ..Known::default()
        };
        assert!(known(21).holds(&status()));
        assert!(!known(20).holds(&status()));
        assert!(!known(10).holds(&Status {
            identity: None,
            ..status()
        }));
        assert!(known(11).holds(&Status {
            identity: None,
            ..status()
        }));
    }

    #[test]
    fn rounded_times_agree_only_where_that_is_allowed() {
        let now = Status {
            modified: Timestamp::new(1_700_000_010, 0),
            ..status()
        };
        let known = Known {
            modified: Some(Modified::exactly(at(10))),
            ..Known::default()
        };
        assert!(!known.holds(&now));
        assert!(
            Known {
                rounded: true,
                ..known
            }
            .holds(&now)
        );
    }
}
