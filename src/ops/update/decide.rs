//! What becomes of an entry whose file was read, and what need not be read.

use crate::algorithm::Algorithm;
use crate::engine::{Hashed, Known};
use crate::event::{Difference, Verdict};
use crate::manifest::Kind;
use crate::timestamp::Timestamp;

use super::super::Item;

/// Which entry stands in the manifest from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stands {
    /// The one that was recorded.
    Old,
    /// What was read.
    New,
}

/// What proves a file unchanged without reading it; `None` if nothing does.
///
/// `since` is a moment from which on the file must not have been touched.
pub(super) fn known(
    item: &Item,
    algorithms: &[Algorithm],
    since: Option<Timestamp>,
) -> Option<Box<Known>> {
    let complete = algorithms
        .iter()
        .all(|algorithm| item.digest(*algorithm).is_some());
    let usable = item.trouble.is_none() && item.gap.is_none() && item.unsupported.is_empty();
    if !complete || !usable || item.kind != Kind::File {
        return None;
    }
    Some(Box::new(Known {
        size: item.size,
        modified: item.modified,
        rounded: false,
        identity: None,
        untouched_since: Some(since?),
    }))
}

/// Judges a file that was read by what is recorded of it.
///
/// `since` is a moment before which whoever wrote to the file did so before it was recorded.
pub(super) fn judge(item: &Item, hashed: &Hashed, since: Option<Timestamp>) -> (Verdict, Stands) {
    if let Some(reason) = &item.trouble {
        return (Verdict::Unverified(reason.clone()), Stands::New);
    }
    if item.digests.is_empty() {
        return (Verdict::New, Stands::New);
    }
    let size = hashed.size;
    let mut differences: Vec<Difference> = hashed
        .digests
        .iter()
        .filter_map(|&actual| {
            let expected = *item.digest(actual.algorithm())?;
            (expected != actual).then_some(Difference::Digest { expected, actual })
        })
        .collect();
    let other_size = item.size.filter(|recorded| *recorded != size);
    let stands = match seems_untouched(item, hashed, since) {
        true => Stands::Old,
        false => Stands::New,
    };
    let is_recorded = item.modified.is_some() && item.size == Some(size);
    if !differences.is_empty() && is_recorded && stands == Stands::Old {
        return (Verdict::Corrupt { differences, size }, Stands::Old);
    }
    if let Some(expected) = other_size {
        let actual = size;
        differences.insert(0, Difference::Size { expected, actual });
    }
    if differences.is_empty() {
        return (Verdict::Ok { size }, Stands::New);
    }
    (Verdict::Changed { differences, size }, stands)
}

/// Whether nobody seems to have written to the file: its modification time is as recorded, or, if
/// none is recorded, earlier than `since`.
fn seems_untouched(item: &Item, hashed: &Hashed, since: Option<Timestamp>) -> bool {
    let Some(now) = hashed.modified.and_then(Timestamp::from_system) else {
        return false;
    };
    match item.modified {
        Some(recorded) => recorded.agrees_with(now),
        None => since.is_some_and(|since| now < since),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::digest::Digest;
    use crate::event::{OutcomeWord, Unverified};
    use crate::manifest::GapKind;
    use crate::relpath::RelPath;
    use crate::timestamp::Modified;

    fn digest(algorithm: Algorithm, byte: u8) -> Digest {
        Digest::new(algorithm, &vec![byte; algorithm.digest_len_bytes()]).unwrap()
    }

    fn at(seconds: u64) -> Option<Modified> {
        let time = Timestamp::new(seconds.try_into().unwrap(), 7).unwrap();
        Some(Modified::exactly(time))
    }

    fn recorded() -> Item {
        Item {
            digests: vec![digest(Algorithm::Md5, 1)],
            size: Some(3),
            modified: at(100),
            ..Item::new(RelPath::from("a"))
        }
    }

    fn read(byte: u8, size: u64, seconds: u64) -> Hashed {
        Hashed {
            digests: vec![digest(Algorithm::Md5, byte)],
            size,
            modified: Some(SystemTime::UNIX_EPOCH + Duration::new(seconds, 7)),
            identity: None,
            read_before: None,
            retried_reads: 0,
            direct_refused: false,
        }
    }

    #[test]
    fn every_row_of_the_table_has_its_verdict_and_its_entry() {
        use OutcomeWord::{Changed, Corrupt, New, Ok, Unverified as Unv};
        let timeless = || Item {
            modified: None,
            ..recorded()
        };
        let sizeless = || Item {
            size: None,
            ..timeless()
        };
        let gap = Item::of_gap(RelPath::from("a"), GapKind::Unreadable);
        let trouble = Item {
            trouble: Some(Unverified::ContradictoryField("size")),
            ..recorded()
        };
        let since = Timestamp::new(150, 0);
        let grown = || Item {
            size: Some(2),
            ..timeless()
        };
        let rows = [
            (recorded(), read(1, 3, 100), Ok, Stands::New),
            (recorded(), read(1, 3, 200), Ok, Stands::New),
            (recorded(), read(2, 3, 100), Corrupt, Stands::Old),
            (recorded(), read(2, 3, 101), Changed, Stands::New),
            (recorded(), read(2, 4, 100), Changed, Stands::Old),
            (recorded(), read(1, 4, 100), Changed, Stands::Old),
            (recorded(), read(2, 4, 101), Changed, Stands::New),
            (timeless(), read(2, 3, 100), Changed, Stands::Old),
            (timeless(), read(2, 3, 150), Changed, Stands::New),
            (sizeless(), read(2, 3, 100), Changed, Stands::Old),
            (sizeless(), read(2, 3, 200), Changed, Stands::New),
            (grown(), read(1, 3, 100), Changed, Stands::Old),
            (sizeless(), read(1, 3, 100), Ok, Stands::New),
            (gap, read(1, 3, 100), New, Stands::New),
            (trouble, read(1, 3, 100), Unv, Stands::New),
        ];
        for (number, (item, hashed, word, stands)) in rows.into_iter().enumerate() {
            let (verdict, kept) = judge(&item, &hashed, since);
            assert_eq!((verdict.word(), kept), (word, stands), "row {number}");
        }
    }

    #[test]
    fn a_digest_that_was_not_recorded_is_no_difference() {
        let mut hashed = read(1, 3, 100);
        hashed.digests.push(digest(Algorithm::Sha1, 9));
        let (verdict, stands) = judge(&recorded(), &hashed, None);
        assert_eq!((verdict.word(), stands), (OutcomeWord::Ok, Stands::New));
    }

    #[test]
    fn what_is_not_wholly_and_clearly_recorded_is_read() {
        let since = Timestamp::new(1_000, 0);
        let md5 = [Algorithm::Md5];
        let sure = known(&recorded(), &md5, since).unwrap();
        assert_eq!((sure.size, sure.modified), (Some(3), at(100)));
        assert_eq!((sure.rounded, sure.untouched_since), (false, since));
        assert!(known(&recorded(), &md5, None).is_none());
        assert!(known(&recorded(), &[Algorithm::Md5, Algorithm::Sha1], since).is_none());
        let unclear = [
            Item {
                gap: Some(GapKind::Unstable),
                ..recorded()
            },
            Item {
                trouble: Some(Unverified::NoDigest),
                ..recorded()
            },
            Item {
                unsupported: vec!["edonr".into()],
                ..recorded()
            },
            Item {
                kind: Kind::Directory,
                ..recorded()
            },
        ];
        for item in unclear {
            assert!(known(&item, &md5, since).is_none(), "{item:?}");
        }
    }
}
