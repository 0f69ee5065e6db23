//! The state of a run at one moment, and how it is put into the columns of a terminal.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::columns::{padded, padded_left, shortened, width};
use super::figures::{per, rough_time, size};
use super::json::{Object, seconds};
use super::pace::Pace;
use crate::counted::{counted, grouped};
use crate::engine::{Gauges, LargeFile, Totals};
use crate::quote::Quoted;
use crate::relpath::RelPath;

/// A bar and what separates it from its text.
const LEAST_BAR_COLUMNS: usize = 13;

/// Files and their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) files: u64,
    pub(super) bytes: u64,
}

/// The state of a run at one moment.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) elapsed: Duration,
    pub(super) done: Amount,
    pub(super) counted: Amount,
    /// Whether `counted` is all that there is to do.
    pub(super) complete: bool,
    /// Bytes a second, smoothed.
    pub(super) rate: Option<u64>,
    pub(super) seconds_left: Option<u64>,
    pub(super) large: Vec<Arc<LargeFile>>,
    /// What has been waited for so long that the user should know.
    pub(super) stuck: Option<(PathBuf, Duration)>,
}

/// Longer than a disk takes to start.
const STUCK_AFTER: Duration = Duration::from_secs(10);

impl Snapshot {
    /// Samples the gauges, and the pace with them.
    pub(super) fn take(
        gauges: &Gauges,
        totals: &Totals,
        pace: &mut Pace,
        elapsed: Duration,
    ) -> Self {
        let read = gauges.bytes();
        let done = Amount {
            files: gauges.files(),
            bytes: read + gauges.spared(),
        };
        // Asked first: once it is true, the counts read after it are final.
        let complete = totals.is_complete();
        let counted = Amount {
            files: totals.files(),
            bytes: totals.bytes(),
        };
        pace.sample(elapsed, read);
        let left = counted.bytes.saturating_sub(done.bytes);
        Self {
            elapsed,
            done,
            counted,
            complete,
            rate: pace.per_second(),
            seconds_left: pace.seconds_for(left).filter(|_| complete),
            large: gauges.large_files(),
            stuck: gauges
                .longest_wait()
                .filter(|(_, waited)| *waited >= STUCK_AFTER),
        }
    }

    /// What stands below the bars while nothing comes of a file.
    pub(super) fn stuck(&self, columns: usize) -> Option<String> {
        let (path, waited) = self.stuck.as_ref()?;
        let said = format!("waiting {} for ", rough_time(waited.as_secs()));
        let room = columns.saturating_sub(width(&said)).max(8);
        Some(said + &shortened(&Quoted::path(path).to_string(), room))
    }

    /// What stands beside the overall bar, as much as leaves room for one.
    pub(super) fn overall(&self, columns: usize) -> String {
        let room = columns.saturating_sub(LEAST_BAR_COLUMNS);
        if self.complete {
            widest_that_fits(self.forms_with_totals(), room)
        } else {
            widest_that_fits(self.forms_without_totals(), columns.saturating_sub(2))
        }
    }

    fn forms_with_totals(&self) -> [Vec<String>; 4] {
        let rate = self.rate.map(per);
        let left = self
            .seconds_left
            .map(|seconds| format!("{} left", rough_time(seconds)));
        let bytes = format!("{} / {}", size(self.done.bytes), size(self.counted.bytes));
        let files = format!(
            "{} / {}",
            grouped(self.done.files),
            counted(self.counted.files, "file")
        );
        let percent = percent(self.done.bytes, self.counted.bytes);
        [
            present([Some(bytes.clone()), Some(files), rate.clone(), left.clone()]),
            present([Some(bytes), rate, left.clone()]),
            present([Some(percent.clone()), left]),
            vec![percent],
        ]
    }

    fn forms_without_totals(&self) -> [Vec<String>; 4] {
        let rate = self.rate.map(per);
        let bytes = size(self.done.bytes);
        let files = counted(self.done.files, "file");
        let so_far = (self.counted.files > 0).then(|| {
            format!(
                "counted {} in {} so far",
                size(self.counted.bytes),
                counted(self.counted.files, "file")
            )
        });
        [
            present([
                Some(bytes.clone()),
                Some(files.clone()),
                rate.clone(),
                so_far,
            ]),
            present([Some(bytes.clone()), Some(files), rate.clone()]),
            present([Some(bytes.clone()), rate]),
            vec![bytes],
        ]
    }

    /// The record for programs; totals that are not yet known are null.
    pub(super) fn json(&self) -> Object {
        let known = |total| self.complete.then_some(total);
        let progress = Object::new()
            .field("bytes", self.done.bytes)
            .field("total_bytes", known(self.counted.bytes))
            .field("files", self.done.files)
            .field("total_files", known(self.counted.files))
            .field("seconds", seconds(self.elapsed))
            .field("rate", self.rate);
        let progress = match &self.stuck {
            None => progress,
            Some((path, waited)) => progress
                .name("waiting_for", &RelPath::from_path(path))
                .field("waiting_seconds", waited.as_secs()),
        };
        Object::new().object("progress", progress)
    }
}

/// The name of a large file in a column of fixed width, the same for all of them.
pub(super) fn file_name(file: &LargeFile, columns: usize) -> String {
    let room = (columns / 3).clamp(8, 60);
    padded(
        &shortened(&Quoted::path(file.path()).to_string(), room),
        room,
    )
}

/// What stands beside the bar of a large file.
pub(super) fn file_state(file: &LargeFile, columns: usize) -> String {
    let percent = padded_left(&percent(file.done(), file.size()), 4);
    if columns < 40 {
        percent
    } else {
        format!("{percent} of {}", padded_left(&size(file.size()), 7))
    }
}

fn present<const N: usize>(parts: [Option<String>; N]) -> Vec<String> {
    parts.into_iter().flatten().collect()
}

/// The first form that fits, or else the last.
fn widest_that_fits<const N: usize>(forms: [Vec<String>; N], columns: usize) -> String {
    let mut text = String::new();
    for form in forms {
        text = form.join(", ");
        if width(&text) <= columns {
            break;
        }
    }
    text
}

/// Cut off, so that 100% means all of it.
fn percent(done: u64, total: u64) -> String {
    let percent = (u128::from(done) * 100).checked_div(u128::from(total));
    format!("{}%", percent.unwrap_or(100).min(100))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(complete: bool) -> Snapshot {
        Snapshot {
            elapsed: Duration::from_millis(12_345),
            done: Amount {
                files: 1_234,
                bytes: 12_300_000_000,
            },
            counted: Amount {
                files: 5_678,
                bytes: 45_600_000_000,
            },
            complete,
            rate: Some(450_000_000),
            seconds_left: complete.then_some(74),
            large: Vec::new(),
            stuck: None,
        }
    }

    #[test]
    fn what_is_waited_for_is_named() {
        let mut stuck = snapshot(true);
        assert_eq!(stuck.stuck(80), None);
        stuck.stuck = Some((
            PathBuf::from("a/dead disk/film\x1b.mov"),
            Duration::from_secs(75),
        ));
        assert_eq!(
            stuck.stuck(80).as_deref(),
            Some(r"waiting 1 min 15 s for a/dead disk/film\u{1b}.mov")
        );
        assert!(width(&stuck.stuck(40).unwrap()) <= 40);
        let mut out = Vec::new();
        stuck.json().write_line(&mut out).unwrap();
        let line = String::from_utf8(out).unwrap();
        let told = r#""waiting_for":"a/dead disk/film\u001b.mov","waiting_seconds":75}}"#;
        assert!(line.trim_end().ends_with(told), "{line}");
    }

    #[test]
    fn the_overall_text_leaves_room_for_its_bar_at_every_width() {
        let long = "12.3 GB / 45.6 GB, 1,234 / 5,678 files, 450 MB/s, 1 min 14 s left";
        let cases = [
            (200, long),
            (80, long),
            (60, "12.3 GB / 45.6 GB, 450 MB/s, 1 min 14 s left"),
            (40, "26%, 1 min 14 s left"),
            (20, "26%"),
            (0, "26%"),
        ];
        for (columns, text) in cases {
            assert_eq!(snapshot(true).overall(columns), text, "{columns} columns");
        }
    }

    #[test]
    fn no_time_left_is_claimed_while_totals_are_not_known() {
        let long = "12.3 GB, 1,234 files, 450 MB/s, counted 45.6 GB in 5,678 files so far";
        let cases = [
            (80, long),
            (40, "12.3 GB, 1,234 files, 450 MB/s"),
            (20, "12.3 GB, 450 MB/s"),
            (5, "12.3 GB"),
        ];
        for (columns, text) in cases {
            assert_eq!(snapshot(false).overall(columns), text, "{columns} columns");
        }
    }

    #[test]
    fn a_percentage_never_reaches_100_early_nor_exceeds_it() {
        assert_eq!(percent(u64::MAX - 1, u64::MAX), "99%");
        assert_eq!(percent(5, 4), "100%");
        assert_eq!(percent(0, 0), "100%");
    }

    #[test]
    fn records_for_programs_say_null_for_what_is_not_known() {
        let line = |snapshot: &Snapshot| {
            let mut out = Vec::new();
            snapshot.json().write_line(&mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            line(&snapshot(true)),
            "{\"progress\":{\"bytes\":12300000000,\"total_bytes\":45600000000,\"files\":1234,\
             \"total_files\":5678,\"seconds\":12.345,\"rate\":450000000}}\n"
        );
        let mut early = snapshot(false);
        early.rate = None;
        assert_eq!(
            line(&early),
            "{\"progress\":{\"bytes\":12300000000,\"total_bytes\":null,\"files\":1234,\
             \"total_files\":null,\"seconds\":12.345,\"rate\":null}}\n"
        );
    }

    #[test]
    fn names_of_large_files_are_escaped_and_fitted() {
        let gauges = Arc::new(Gauges::default());
        let guard = gauges.begin_large("photos/2024\x1b[2J/a very long name.tiff", 100_000_000);
        guard.add_bytes(5_000_000);
        let file = &gauges.large_files()[0];
        assert_eq!(file_name(file, 80), "photos/2…ry long name.tiff");
        assert_eq!(
            file_name(file, 200).trim_end(),
            r"photos/2024\u{1b}[2J/a very long name.tiff"
        );
        assert_eq!(file_state(file, 80), "  5% of  100 MB");
        assert_eq!(file_state(file, 39), "  5%");
    }
}
