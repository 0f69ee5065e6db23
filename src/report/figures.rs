//! Numbers for people: decimal sizes, rates, times.

use std::time::Duration;

use crate::counted::{counted, grouped};

const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];

/// A number of bytes with three significant digits in decimal units (1 kB is 1000 bytes); below
/// that, exact.
///
/// # Examples
///
/// ```
/// use multisum::report::figures::size;
/// assert_eq!(size(999), "999 bytes");
/// assert_eq!(size(4_200_000_000), "4.20 GB");
/// ```
pub fn size(bytes: u64) -> String {
    if bytes < 1000 {
        return counted(bytes, "byte");
    }
    let mut unit = 1u128;
    for name in UNITS {
        unit *= 1000;
        for (decimals, scale) in [(2, 100), (1, 10), (0, 1)] {
            let rounded = (u128::from(bytes) * scale + unit / 2) / unit;
            // Rounding may carry into a fourth digit; then the next coarser form is right.
            if rounded < 1000 {
                return format!("{} {name}", with_point(rounded, scale, decimals));
            }
        }
    }
    counted(bytes, "byte")
}

fn with_point(number: u128, scale: u128, decimals: usize) -> String {
    if decimals == 0 {
        number.to_string()
    } else {
        format!("{}.{:0decimals$}", number / scale, number % scale)
    }
}

/// Bytes a second, as [`size`] shows them; `None` if the time is too short to divide by, or if less
/// than one byte a second came.
pub fn rate(bytes: u64, elapsed: Duration) -> Option<String> {
    let micros = elapsed.as_micros();
    if micros < 1000 {
        return None;
    }
    match u128::from(bytes) * 1_000_000 / micros {
        0 => None,
        per_second => Some(per(u64::try_from(per_second).unwrap_or(u64::MAX))),
    }
}

/// Bytes a second that were computed elsewhere.
pub fn per(bytes_per_second: u64) -> String {
    format!("{}/s", size(bytes_per_second))
}

/// A time from milliseconds to days, cut off, not rounded: `12 ms`, `3.1 s`, `4 min 05 s`,
/// `2 h 07 min`, `3 d 4 h`.
pub fn time(elapsed: Duration) -> String {
    let millis = elapsed.subsec_millis();
    match elapsed.as_secs() {
        0 if millis == 0 && !elapsed.is_zero() => "under 1 ms".to_owned(),
        0 => format!("{millis} ms"),
        seconds @ 1..60 => format!("{seconds}.{} s", millis / 100),
        seconds => long_time(seconds),
    }
}

/// A time in whole seconds and more, for what is only estimated.
pub fn rough_time(seconds: u64) -> String {
    if seconds < 60 {
        format!("{seconds} s")
    } else {
        long_time(seconds)
    }
}

fn long_time(seconds: u64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    if hours == 0 {
        format!("{minutes} min {:02} s", seconds % 60)
    } else if days == 0 {
        format!("{hours} h {:02} min", minutes % 60)
    } else {
        format!("{} d {} h", grouped(days), hours % 24)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_counted_from_the_right() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (123_456, "123,456"),
        ];
        for (number, shown) in cases {
            assert_eq!(grouped(number), shown);
        }
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn only_one_is_singular() {
        assert_eq!(counted(0, "file"), "0 files");
        assert_eq!(counted(1, "file"), "1 file");
        assert_eq!(counted(2, "file"), "2 files");
    }

    #[test]
    fn sizes_never_show_a_fourth_digit_and_never_lose_a_unit() {
        let cases = [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1000, "1.00 kB"),
            (9_994, "9.99 kB"),
            (9_995, "10.0 kB"),
            (99_950, "100 kB"),
            (999_499, "999 kB"),
            (999_500, "1.00 MB"),
            (1_000_000_000, "1.00 GB"),
            (999_999_999_999, "1.00 TB"),
            (u64::MAX, "18.4 EB"),
        ];
        for (bytes, shown) in cases {
            assert_eq!(size(bytes), shown, "{bytes}");
        }
    }

    #[test]
    fn no_rate_is_claimed_for_no_time_or_no_bytes() {
        assert_eq!(rate(1, Duration::ZERO), None);
        assert_eq!(rate(u64::MAX, Duration::from_nanos(1)), None);
        assert_eq!(rate(0, Duration::from_secs(1)), None);
        assert_eq!(rate(1, Duration::from_secs(2)), None);
        let seconds = |count| Duration::from_secs(count);
        assert_eq!(rate(1000, seconds(2)).as_deref(), Some("500 bytes/s"));
        assert_eq!(rate(u64::MAX, seconds(1)).as_deref(), Some("18.4 EB/s"));
        let capped = rate(u64::MAX, Duration::from_millis(1));
        assert_eq!(capped.as_deref(), Some("18.4 EB/s"));
    }

    #[test]
    fn times_pass_from_unit_to_unit_without_a_sixtieth_second() {
        let cases = [
            (Duration::ZERO, "0 ms"),
            (Duration::from_micros(999), "under 1 ms"),
            (Duration::from_micros(12_900), "12 ms"),
            (Duration::from_micros(999_999), "999 ms"),
            (Duration::from_millis(3_149), "3.1 s"),
            (Duration::from_millis(59_999), "59.9 s"),
            (Duration::from_secs(60), "1 min 00 s"),
            (Duration::from_secs(3_599), "59 min 59 s"),
            (Duration::from_secs(7_620), "2 h 07 min"),
            (Duration::from_secs(86_399), "23 h 59 min"),
            (Duration::from_secs(273_600), "3 d 4 h"),
            (Duration::MAX, "213,503,982,334,601 d 7 h"),
        ];
        for (elapsed, shown) in cases {
            assert_eq!(time(elapsed), shown);
        }
    }
}
