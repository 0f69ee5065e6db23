//! Moments of a file system's clock: as manifests record them, and how exactly they do.

use std::fmt::{self, Display, Formatter};
use std::time::{Duration, SystemTime};

use jiff::fmt::temporal::DateTimePrinter;

/// A moment in UTC, to the nanosecond.
///
/// `Display` is RFC 3339 with all nine digits: `2026-01-02T03:04:05.123456789Z`.
///
/// # Examples
///
/// ```
/// use multisum::timestamp::Timestamp;
/// let moment = Timestamp::new(1_704_164_645, 678_901_234).ok_or("range")?;
/// assert_eq!(moment.to_string(), "2024-01-02T03:04:05.678901234Z");
/// assert_eq!(moment.to_seconds(), "2024-01-02T03:04:05Z");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(jiff::Timestamp);

impl Timestamp {
    /// The moment so many seconds and nanoseconds after 1970 began; `None` outside the years -9999
    /// to 9999, and for a billion nanoseconds or more.
    pub fn new(seconds: i64, nanoseconds: u32) -> Option<Self> {
        let nanoseconds = i32::try_from(nanoseconds).ok()?;
        if nanoseconds >= 1_000_000_000 {
            return None;
        }
        jiff::Timestamp::new(seconds, nanoseconds).ok().map(Self)
    }

    /// A moment of the system's clock, if it lies within the years that can be spelled.
    pub fn from_system(time: SystemTime) -> Option<Self> {
        jiff::Timestamp::try_from(time).ok().map(Self)
    }

    /// The moment as the system's clock counts; `None` if that does not reach so far.
    pub fn to_system(self) -> Option<SystemTime> {
        let seconds = Duration::from_secs(self.seconds().unsigned_abs());
        let whole = match self.seconds() < 0 {
            true => SystemTime::UNIX_EPOCH.checked_sub(seconds),
            false => SystemTime::UNIX_EPOCH.checked_add(seconds),
        };
        whole?.checked_add(Duration::from_nanos(self.nanoseconds().into()))
    }

    /// The present moment.
    pub fn now() -> Self {
        Self(jiff::Timestamp::now())
    }

    /// Whole seconds since 1970 began, rounded down.
    pub fn seconds(self) -> i64 {
        self.0
            .as_nanosecond()
            .div_euclid(NANOSECONDS)
            .try_into()
            .unwrap_or(i64::MIN)
    }

    /// Nanoseconds after [`seconds`](Self::seconds).
    pub fn nanoseconds(self) -> u32 {
        self.0
            .as_nanosecond()
            .rem_euclid(NANOSECONDS)
            .try_into()
            .unwrap_or(0)
    }

    /// The coarsest step, in nanoseconds, of a file system that could have kept this moment: two
    /// seconds on FAT, one on others, 10 ms on exFAT, 100 ns on NTFS.
    fn coarsest_step_ns(self) -> u32 {
        const STEPS_NS: [u32; 4] = [2_000_000_000, 1_000_000_000, 10_000_000, 100];
        let moment = self.0.as_nanosecond();
        let keeps = |step: &&u32| moment.rem_euclid(i128::from(**step)) == 0;
        STEPS_NS.iter().find(keeps).copied().unwrap_or(1)
    }

    /// The moment so many seconds later, or earlier if they are negative.
    pub fn plus_seconds(self, seconds: i64) -> Option<Self> {
        self.0
            .checked_add(jiff::SignedDuration::from_secs(seconds))
            .ok()
            .map(Self)
    }

    /// How much later this moment is than another, in nanoseconds.
    pub fn nanoseconds_after(self, other: Self) -> i128 {
        self.0.as_nanosecond() - other.0.as_nanosecond()
    }

    /// RFC 3339 in UTC, cut to the second.
    pub fn to_seconds(self) -> String {
        let cut = Self::new(self.seconds(), 0).unwrap_or(self);
        DateTimePrinter::new()
            .precision(Some(0))
            .timestamp_to_string(&cut.0)
    }

    /// The moment in the local time of this machine, as `strftime` spells it with `format`.
    pub fn to_local(self, format: &str) -> String {
        let local = self.0.to_zoned_datetime(jiff::tz::TimeZone::system());
        local.strftime(format).to_string()
    }

    /// The moment that was spelled in the local time of this machine, as `strptime` reads it with
    /// `format`; `None` if the text is spelled otherwise.
    ///
    /// Of two moments that the clock showed when it was set back, the first is taken.
    pub fn from_local(text: &str, format: &str) -> Option<Self> {
        let clock = jiff::civil::DateTime::strptime(format, text).ok()?;
        let moment = jiff::tz::TimeZone::system().to_timestamp(clock).ok()?;
        Some(Self(moment))
    }
}

const NANOSECONDS: i128 = 1_000_000_000;

impl Display for Timestamp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(
            &DateTimePrinter::new()
                .precision(Some(9))
                .timestamp_to_string(&self.0),
        )
    }
}

/// A modification time as a manifest records it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modified {
    /// The moment, cut to what the manifest can spell.
    pub time: Timestamp,
    /// The step between two moments that the manifest can spell, in nanoseconds.
    pub step_ns: u32,
}

impl Modified {
    /// A moment recorded in full.
    pub fn exactly(time: Timestamp) -> Self {
        Self { time, step_ns: 1 }
    }

    /// A moment of which only the seconds are recorded.
    pub fn to_the_second(time: Timestamp) -> Self {
        Self {
            time,
            step_ns: 1_000_000_000,
        }
    }

    /// Reads RFC 3339, with an offset; the digits after the second tell the step.
    ///
    /// # Examples
    ///
    /// ```
    /// use multisum::timestamp::Modified;
    /// let modified = Modified::parse("2026-11-30T12:02:31.5+02:00").ok_or("spelling")?;
    /// assert_eq!(modified.time.to_string(), "2026-11-30T10:02:31.500000000Z");
    /// assert_eq!(modified.step_ns, 100_000_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let time: jiff::Timestamp = text.parse().ok()?;
        let point = text.bytes().position(|byte| matches!(byte, b'.' | b','));
        let digits = point.map_or(0, |point| {
            let fraction = text.bytes().skip(point + 1);
            fraction.take_while(u8::is_ascii_digit).count()
        });
        let digits = u32::try_from(digits.min(9)).ok()?;
        Some(Self {
            time: Timestamp(time),
            step_ns: 10_u32.pow(9 - digits),
        })
    }

    /// Whether a file with that time may be the recorded one, though its file system may keep times
    /// less exactly than they are recorded: FAT keeps every second one.
    ///
    /// # Examples
    ///
    /// ```
    /// use multisum::timestamp::{Modified, Timestamp};
    /// let recorded = Modified::parse("2024-01-02T03:04:05.678901234Z").ok_or("spelling")?;
    /// let on_fat = Timestamp::new(1_704_164_644, 0).ok_or("range")?;
    /// assert!(recorded.may_agree_with(on_fat) && !recorded.agrees_with(on_fat));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn may_agree_with(&self, time: Timestamp) -> bool {
        let distance = (self.time.0.as_nanosecond() - time.0.as_nanosecond()).abs();
        self.agrees_with(time) || distance < i128::from(time.coarsest_step_ns())
    }

    /// Whether a file with that time may be the recorded one: equal at the recorded step.
    pub fn agrees_with(&self, time: Timestamp) -> bool {
        let step = i128::from(self.step_ns.max(1));
        let steps = |time: Timestamp| time.0.as_nanosecond().div_euclid(step);
        steps(self.time) == steps(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_before_1970_count_their_nanoseconds_upwards() {
        let moment = Timestamp::new(-2, 500_000_000).unwrap();
        assert_eq!((moment.seconds(), moment.nanoseconds()), (-2, 500_000_000));
        assert_eq!(moment.to_string(), "1969-12-31T23:59:58.500000000Z");
        assert_eq!(moment.to_seconds(), "1969-12-31T23:59:58Z");
    }

    #[test]
    fn moments_go_to_the_systems_clock_and_back() {
        for (seconds, nanoseconds) in [(1_704_164_645, 678_901_234), (-2, 500_000_000), (0, 0)] {
            let moment = Timestamp::new(seconds, nanoseconds).unwrap();
            let back = moment.to_system().and_then(Timestamp::from_system);
            assert_eq!(back, Some(moment));
        }
    }

    #[test]
    fn what_cannot_be_spelled_is_no_moment() {
        assert_eq!(Timestamp::new(0, 1_000_000_000), None);
        assert_eq!(Timestamp::new(i64::MAX, 0), None);
        for bad in [
            "",
            "2026-01-02",
            "2026-01-02T03:04:05",
            "yesterday",
            "2026-13-02T03:04:05Z",
        ] {
            assert_eq!(Modified::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn local_times_come_back_and_others_are_refused() {
        let format = "%H:%M.%S %Y-%m-%d";
        let moment = Timestamp::new(1_704_164_645, 0).unwrap();
        let text = moment.to_local(format);
        assert_eq!(Timestamp::from_local(&text, format), Some(moment));
        for bad in [
            "",
            "03:04:05 2024-01-02",
            "03:04.05 2024-13-02",
            "25:04.05 2024-01-02",
        ] {
            assert_eq!(Timestamp::from_local(bad, format), None, "{bad}");
        }
    }

    #[test]
    fn file_systems_that_keep_coarser_times_agree_and_finer_ones_do_not() {
        let recorded = Modified::parse("2024-01-02T03:04:05.678901234Z").unwrap();
        let at = |seconds: i64, nanoseconds| {
            Timestamp::new(1_704_164_640 + seconds, nanoseconds).unwrap()
        };
        for (time, agrees) in [
            (at(5, 678_901_234), true),
            (at(5, 678_901_200), true),
            (at(5, 670_000_000), true),
            (at(5, 0), true),
            (at(4, 0), true),
            (at(6, 0), true),
            (at(2, 0), false),
            (at(7, 0), false),
            (at(5, 678_901_235), false),
            (at(5, 678_901_100), false),
        ] {
            assert_eq!(recorded.may_agree_with(time), agrees, "{time}");
        }
    }

    #[test]
    fn times_are_compared_as_exactly_as_they_are_recorded() {
        let file = Timestamp::new(1_704_164_645, 678_901_234).unwrap();
        for (text, agrees) in [
            ("2024-01-02T03:04:05Z", true),
            ("2024-01-02T03:04:06Z", false),
            ("2024-01-02T03:04:05.67Z", true),
            ("2024-01-02T03:04:05.68Z", false),
            ("2024-01-02T05:04:05.678901234+02:00", true),
            ("2024-01-02T03:04:05.678901235Z", false),
        ] {
            assert_eq!(
                Modified::parse(text).unwrap().agrees_with(file),
                agrees,
                "{text}"
            );
        }
    }
}
