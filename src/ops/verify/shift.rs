//! A clock that is set to another zone than it was: FAT keeps local time, and so do some network
//! file systems and archivers, so that all times seem to move twice a year.

use crate::timestamp::{Modified, Timestamp};

const HOUR_SECONDS: i64 = 3600;

/// Zones differ by at most 26 hours, from UTC-12 to UTC+14.
const MOST_HOURS: i64 = 26;

/// So many files must agree before anything is concluded from them.
const AT_LEAST_FILES: u64 = 2;

/// Whether the times of all files that are well differ from the recorded ones by the same number of
/// hours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ClockShift {
    /// No file with a recorded time was seen.
    #[default]
    Unknown,
    /// So far all differ by so many hours, which is not 0.
    Agreed { hours: i64, files: u64 },
    /// A file is not shifted, or otherwise than another.
    Nothing,
}

impl ClockShift {
    /// Takes note of a file that is well.
    pub(super) fn see(&mut self, recorded: Option<Modified>, now: Option<Timestamp>) {
        let (Some(recorded), Some(now)) = (recorded, now) else {
            return;
        };
        let seen = match recorded.may_agree_with(now) {
            true => None,
            false => whole_hours(recorded, now),
        };
        *self = match (*self, seen) {
            (Self::Unknown, Some(hours)) => Self::Agreed { hours, files: 1 },
            (Self::Agreed { hours, files }, Some(seen)) if seen == hours => Self::Agreed {
                hours,
                files: files + 1,
            },
            _ => Self::Nothing,
        };
    }

    /// The hours by which the files are later than recorded, and how many files; `None` if there is
    /// no such shift.
    pub(super) fn found(&self) -> Option<(i64, u64)> {
        match *self {
            Self::Agreed { hours, files } if files >= AT_LEAST_FILES => Some((hours, files)),
            _ => None,
        }
    }

    /// Whether the shift that the files so far agree on is all that a file's time differs by.
    pub(super) fn explains(&self, recorded: Modified, now: Timestamp) -> bool {
        self.found()
            .is_some_and(|(hours, _)| agrees_after(recorded, hours, now))
    }
}

fn whole_hours(recorded: Modified, now: Timestamp) -> Option<i64> {
    let hour = i128::from(HOUR_SECONDS) * 1_000_000_000;
    let nearest = (now.nanoseconds_after(recorded.time) + hour / 2).div_euclid(hour);
    let hours = i64::try_from(nearest).ok()?;
    let possible = hours != 0 && hours.abs() <= MOST_HOURS;
    (possible && agrees_after(recorded, hours, now)).then_some(hours)
}

fn agrees_after(recorded: Modified, hours: i64, now: Timestamp) -> bool {
    let moved = recorded.time.plus_seconds(hours * HOUR_SECONDS);
    moved.is_some_and(|time| Modified { time, ..recorded }.may_agree_with(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::new(1_700_000_001 + seconds, 123_456_789).unwrap()
    }

    fn seen(deltas: &[i64]) -> Option<(i64, u64)> {
        let mut shift = ClockShift::default();
        for (place, delta) in (0..).zip(deltas) {
            let recorded = Modified::exactly(at(place * 1000));
            shift.see(Some(recorded), Some(at(place * 1000 + delta)));
        }
        shift.found()
    }

    #[test]
    fn only_whole_hours_that_all_files_share_are_a_shift() {
        assert_eq!(seen(&[3600, 3600]), Some((1, 2)));
        assert_eq!(seen(&[-7200, -7200, -7200]), Some((-2, 3)));
        assert_eq!(seen(&[26 * 3600; 2]), Some((26, 2)));
        for deltas in [
            &[][..],
            &[3600],
            &[0, 0],
            &[3600, 7200],
            &[3600, 3600, 0],
            &[0, 3600, 3600],
            &[3601, 3601],
            &[1800, 1800],
            &[27 * 3600; 2],
        ] {
            assert_eq!(seen(deltas), None, "{deltas:?}");
        }
    }

    #[test]
    fn files_without_a_time_say_nothing() {
        let mut shift = ClockShift::default();
        shift.see(None, Some(at(0)));
        shift.see(Some(Modified::exactly(at(0))), None);
        assert_eq!(shift, ClockShift::Unknown);
    }

    #[test]
    fn a_shift_explains_the_time_of_a_file_once_two_agree() {
        let recorded = Modified::exactly(at(0));
        let mut shift = ClockShift::default();
        for agreed in [false, false, true] {
            assert_eq!(shift.explains(recorded, at(3600)), agreed);
            shift.see(Some(recorded), Some(at(3600)));
        }
        assert!(!shift.explains(recorded, at(3601)));
        assert!(!shift.explains(recorded, at(7200)));
        assert!(!shift.explains(recorded, at(0)));
    }

    #[test]
    fn coarse_times_are_shifted_as_well() {
        let mut shift = ClockShift::default();
        for second in [1, 3] {
            let on_fat = Timestamp::new(1_700_000_000 + second - 1 + 3600, 0).unwrap();
            let recorded = Modified::exactly(Timestamp::new(1_700_000_000 + second, 5).unwrap());
            shift.see(Some(recorded), Some(on_fat));
        }
        assert_eq!(shift.found(), Some((1, 2)));
    }
}
