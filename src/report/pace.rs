//! A rate that neither jumps nor lags, from samples of a running total.

use std::time::Duration;

/// The time over which the rate forgets two thirds of what it knew.
const MEMORY: Duration = Duration::from_secs(10);

/// An exponential average of the growth of a running total.
///
/// The average begins with no history rather than with a rate of zero: the weights of what has been
/// seen are divided out, so that the first samples already give the true rate.
#[derive(Debug, Default)]
pub(super) struct Pace {
    last: Option<(Duration, u64)>,
    weighted: f64,
    weight: f64,
}

impl Pace {
    /// Takes the total at a time, counted from any fixed moment.
    pub(super) fn sample(&mut self, now: Duration, total: u64) {
        let Some((then, before)) = self.last.replace((now, total)) else {
            return;
        };
        let seconds = now.saturating_sub(then).as_secs_f64();
        if seconds <= 0.0 {
            self.last = Some((then, before));
            return;
        }
        let kept = (-seconds / MEMORY.as_secs_f64()).exp();
        let growth = total.saturating_sub(before) as f64 / seconds;
        self.weighted = self.weighted * kept + growth * (1.0 - kept);
        self.weight = self.weight * kept + (1.0 - kept);
    }

    /// Units a second; `None` until two samples are known.
    pub(super) fn per_second(&self) -> Option<u64> {
        (self.weight > 0.0).then(|| (self.weighted / self.weight) as u64)
    }

    /// Whole seconds, rounded up, that so much more takes; `None` while nothing moves.
    pub(super) fn seconds_for(&self, remaining: u64) -> Option<u64> {
        match self.per_second()? {
            0 => None,
            rate => Some(remaining.div_ceil(rate)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(pace: &mut Pace, from_tenth: u64, to_tenth: u64, start: u64, per_tenth: u64) -> u64 {
        let mut total = start;
        for tenth in from_tenth..to_tenth {
            total += per_tenth;
            pace.sample(Duration::from_millis(100 * (tenth + 1)), total);
        }
        total
    }

    #[test]
    fn a_steady_rate_is_exact_from_the_second_sample_on() {
        let mut pace = Pace::default();
        pace.sample(Duration::ZERO, 0);
        assert_eq!(pace.per_second(), None);
        assert_eq!(pace.seconds_for(1), None);
        after(&mut pace, 0, 1, 0, 1_000_000);
        let rate = pace.per_second().unwrap();
        assert!(rate.abs_diff(10_000_000) <= 1, "{rate}");
        assert_eq!(pace.seconds_for(rate * 3), Some(3));
        assert_eq!(pace.seconds_for(rate * 3 + 1), Some(4));
        assert_eq!(pace.seconds_for(0), Some(0));
    }

    #[test]
    fn one_stall_of_a_second_moves_the_rate_by_a_tenth_not_to_nothing() {
        let mut pace = Pace::default();
        pace.sample(Duration::ZERO, 0);
        let total = after(&mut pace, 0, 600, 0, 100);
        after(&mut pace, 600, 610, total, 0);
        let rate = pace.per_second().unwrap();
        assert!((890..920).contains(&rate), "{rate}");
    }

    #[test]
    fn a_lasting_change_is_followed() {
        let mut pace = Pace::default();
        pace.sample(Duration::ZERO, 0);
        let total = after(&mut pace, 0, 600, 0, 100);
        after(&mut pace, 600, 1100, total, 10);
        let rate = pace.per_second().unwrap();
        assert!((100..110).contains(&rate), "{rate}");
    }

    #[test]
    fn samples_without_time_between_them_and_falling_totals_do_no_harm() {
        let mut pace = Pace::default();
        for total in [5, 9, 3] {
            pace.sample(Duration::ZERO, total);
        }
        assert_eq!(pace.per_second(), None);
        pace.sample(Duration::from_secs(1), 0);
        assert_eq!(pace.per_second(), Some(0));
        assert_eq!(pace.seconds_for(u64::MAX), None);
    }
}
