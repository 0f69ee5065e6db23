//! The last word on a run: what was done, how it went, and what it does not prove.

use std::io::{self, Write};
use std::time::Duration;

use super::figures::{rate, size, time};
use super::{Command, Counts, Verbosity};
use crate::algorithm::{Algorithm, Strength};
use crate::counted::{counted, grouped};
use crate::event::{Note, OutcomeWord};
use crate::manifest::Evidence;
use crate::quote::OneLine;
use crate::relpath::RelPath;

const NOT_ONE_IS_THERE: &str = "not one listed file is there; is the base right? -C names another, \
     --map and --strip change the listed names";

/// Everything that the end of a report tells.
#[derive(Clone, Debug)]
pub struct Summary {
    /// What the run was for.
    pub command: Command,
    /// How often each outcome occurred.
    pub counts: Counts,
    /// Wall-clock time of the run.
    pub elapsed: Duration,
    /// What each manifest was taken for, and why.
    pub manifests: Vec<(RelPath, Evidence)>,
    /// The directories that names are relative to; none where that means nothing.
    pub bases: Vec<RelPath>,
    /// The two sides of a comparison.
    pub sides: Option<[RelPath; 2]>,
    /// Bytes that were read, where the outcomes do not tell.
    pub bytes_read: Option<u64>,
    /// The algorithms that were computed or compared.
    pub algorithms: Vec<Algorithm>,
    /// Listed names that were passed over because they are not there.
    pub ignored: u64,
    /// Files that were read to their end and their bytes, for a run of `update`: it counts what it
    /// compared and what is new together.
    pub read: Option<(u64, u64)>,
    /// Files that `verify` or `update` did not read, since an earlier run that was stopped had.
    pub from_journal: u64,
    /// Listed names that were not looked at because the run stopped early.
    pub not_checked: u64,
    /// Whether it stopped because the portion that was asked for was done.
    pub portion_done: bool,
    /// What the run had to say that concerns no single name.
    pub notes: Vec<Note>,
    /// The code that the process will exit with.
    pub exit_code: u8,
}

impl Summary {
    /// A summary without base, algorithms and notes, for exit code 0.
    pub fn new(command: Command, counts: Counts, elapsed: Duration) -> Self {
        Self {
            command,
            counts,
            elapsed,
            manifests: Vec::new(),
            bases: Vec::new(),
            sides: None,
            bytes_read: None,
            algorithms: Vec::new(),
            ignored: 0,
            read: None,
            from_journal: 0,
            not_checked: 0,
            portion_done: false,
            notes: Vec::new(),
            exit_code: 0,
        }
    }

    /// Writes the summary as prose: with [`Verbosity::Verbose`] one line for each manifest, then one
    /// line of figures, then one line for each warning and note.
    ///
    /// With [`Verbosity::Quiet`] only warnings and notes are written, with [`Verbosity::Status`]
    /// nothing. Sizes are decimal: 1 kB is 1000 bytes.
    ///
    /// ```text
    /// verified 12,343 files, 4.20 GB in 3.1 s (1.35 GB/s): 12,340 ok, 3 changed, 2 missing; base /srv/photos; md5
    /// not proof against tampering: only md5 was compared
    /// ```
    ///
    /// The number before `files` is of those that were read to their end (and, by `verify`,
    /// compared): a missing file was not verified.
    pub fn write_text(&self, out: &mut impl Write, verbosity: Verbosity) -> io::Result<()> {
        if verbosity >= Verbosity::Verbose {
            for (manifest, evidence) in &self.manifests {
                writeln!(out, "{}", OneLine(format!("{manifest}: {evidence}")))?;
            }
        }
        if verbosity >= Verbosity::Normal {
            writeln!(out, "{}", self.figures())?;
        }
        if verbosity >= Verbosity::Quiet {
            for warning in self.warnings() {
                writeln!(out, "{}", OneLine(warning))?;
            }
        }
        Ok(())
    }

    fn figures(&self) -> String {
        let (verb, files) = match self.command {
            Command::Hash => ("hashed", self.counts.hashed()),
            Command::Update => ("read", self.read.map_or(0, |(files, _)| files)),
            Command::Verify => ("verified", self.counts.verified()),
            Command::Diff => ("compared", self.counts.outcomes()),
        };
        let mut text = format!("{verb} {}", counted(files, "file"));
        let bytes = self.bytes();
        if self.command != Command::Diff || bytes > 0 {
            text += &format!(", {}", size(bytes));
        }
        text += &format!(" in {}", time(self.elapsed));
        if let Some(rate) = rate(bytes, self.elapsed) {
            text += &format!(" ({rate})");
        }
        let outcomes = self.outcomes();
        if !outcomes.is_empty() {
            text += &format!(": {}", outcomes.join(", "));
        }
        if let Some([old, new]) = &self.sides {
            text += &format!("; old {old}, new {new}");
        }
        if !self.bases.is_empty() {
            let word = if self.bases.len() == 1 {
                "base"
            } else {
                "bases"
            };
            text += &format!("; {word} {}", listed(&self.bases));
        }
        if !self.algorithms.is_empty() {
            text += &format!("; {}", listed(&self.algorithms));
        }
        text
    }

    /// Bytes of all files that were read to their end.
    pub(super) fn bytes(&self) -> u64 {
        let read = self.read.map(|(_, bytes)| bytes);
        self.bytes_read.or(read).unwrap_or(self.counts.bytes())
    }

    fn outcomes(&self) -> Vec<String> {
        let mut parts: Vec<(u64, &str)> = OutcomeWord::ALL
            .iter()
            .map(|word| (self.counts.of(*word), self.command.word(*word)))
            .collect();
        let from_journal = self.counts.from_before() + self.from_journal;
        parts.push((from_journal, "from the journal"));
        parts.push((self.counts.skipped(), "skipped"));
        parts.push((self.ignored, "missing and passed over"));
        parts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{} {word}", grouped(count)))
            .collect()
    }

    /// What must not be overlooked, one line each; the notes come last.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut lines = Vec::new();
        match self.counts.malformed() {
            0 => {}
            1 => lines.push("1 line is malformed".to_owned()),
            many => lines.push(format!("{} lines are malformed", grouped(many))),
        }
        match self.command {
            Command::Verify => {
                lines.extend(self.verify_warnings());
                lines.extend(self.unread());
            }
            Command::Diff if self.counts.outcomes() == 0 => {
                lines.push("nothing was compared".to_owned());
            }
            Command::Diff => lines.extend(self.weakness()),
            Command::Hash | Command::Update => {}
        }
        if self.not_checked > 0 {
            let entries = match self.not_checked {
                1 => "1 entry was".to_owned(),
                many => format!("{} entries were", grouped(many)),
            };
            let why = match self.portion_done {
                true => "the portion is done",
                false => "stopped at the first finding",
            };
            lines.push(format!("{why}: {entries} not checked"));
        }
        lines.extend(self.notes.iter().map(ToString::to_string));
        lines
    }

    fn verify_warnings(&self) -> Option<String> {
        if self.counts.nothing_verified() {
            return Some("nothing was verified".to_owned());
        }
        if self.not_checked == 0 && self.counts.outcomes() == self.counts.of(OutcomeWord::Missing) {
            return Some(NOT_ONE_IS_THERE.to_owned());
        }
        self.weakness()
    }

    /// What was left unread is not proved to be as it was.
    fn unread(&self) -> Option<String> {
        let unread = self.counts.of(OutcomeWord::Unread);
        let text = || {
            format!(
                "{} not read: size and time are as recorded",
                grouped(unread)
            )
        };
        (unread > 0).then(text)
    }

    /// Says so if nothing that was compared withstands somebody who wants to deceive.
    fn weakness(&self) -> Option<String> {
        let strongest = self.algorithms.iter().map(|one| one.strength()).max()?;
        if strongest == Strength::Strong || self.counts.verified() == 0 {
            return None;
        }
        let names: Vec<String> = self.algorithms.iter().map(ToString::to_string).collect();
        let verb = if names.len() == 1 { "was" } else { "were" };
        let names = joined_by_and(&names);
        Some(format!(
            "not proof against tampering: only {names} {verb} compared"
        ))
    }
}

fn listed(items: &[impl ToString]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    items.join(", ")
}

fn joined_by_and(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{self, name};
    use super::*;
    use crate::event::{Event, Verdict};
    use crate::manifest::Malformed;

    fn add(counts: &mut Counts, times: u64, verdict: &Verdict) {
        for _ in 0..times {
            counts.add(&Event::Verdict {
                name: &name("a"),
                verdict,
            });
        }
    }

    fn text(summary: &Summary, verbosity: Verbosity) -> String {
        let mut out = Vec::new();
        summary.write_text(&mut out, verbosity).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn verify(verdicts: &[Verdict]) -> Summary {
        let mut counts = Counts::default();
        for verdict in verdicts {
            add(&mut counts, 1, verdict);
        }
        Summary::new(Command::Verify, counts, Duration::ZERO)
    }

    #[test]
    fn a_verify_run_reads_as_one_line() {
        let mut counts = Counts::default();
        add(&mut counts, 12_339, &Verdict::Ok { size: 0 });
        add(
            &mut counts,
            1,
            &Verdict::Ok {
                size: 4_200_000_000,
            },
        );
        add(&mut counts, 3, &samples::changed(0));
        add(&mut counts, 2, &Verdict::Missing);
        let mut summary = Summary::new(Command::Verify, counts, Duration::from_millis(3_100));
        summary.bases = vec![name("/srv/photos")];
        summary.algorithms = vec![Algorithm::Sha256];
        assert_eq!(
            text(&summary, Verbosity::Normal),
            "verified 12,343 files, 4.20 GB in 3.1 s (1.35 GB/s): 12,340 ok, 3 changed, 2 missing; \
             base /srv/photos; sha256\n"
        );
        assert_eq!(text(&summary, Verbosity::Quiet), "");
        assert_eq!(text(&summary, Verbosity::Status), "");
    }

    #[test]
    fn a_hash_run_names_only_what_went_wrong() {
        let mut counts = Counts::default();
        counts.add(&Event::Hashed {
            name: &name("a"),
            hashed: &samples::hashed(1),
        });
        let mut summary = Summary::new(Command::Hash, counts, Duration::from_millis(1));
        summary.algorithms = vec![Algorithm::Md5];
        assert_eq!(
            text(&summary, Verbosity::Normal),
            "hashed 1 file, 1 byte in 1 ms (1.00 kB/s); md5\n"
        );
        add(&mut summary.counts, 1, &samples::unreadable());
        assert_eq!(
            text(&summary, Verbosity::Normal),
            "hashed 1 file, 1 byte in 1 ms (1.00 kB/s): 1 unreadable; md5\n"
        );
    }

    #[test]
    fn an_update_says_how_much_it_read() {
        let mut counts = Counts::default();
        add(&mut counts, 99_997, &Verdict::Unread);
        add(&mut counts, 2, &Verdict::New);
        add(&mut counts, 1, &samples::changed(7));
        let mut summary = Summary::new(Command::Update, counts, Duration::from_secs(1));
        summary.read = Some((3, 12_000));
        assert_eq!(
            text(&summary, Verbosity::Normal),
            "read 3 files, 12.0 kB in 1.0 s (12.0 kB/s): 1 changed, 2 new, 99,997 unread\n"
        );
    }

    #[test]
    fn a_diff_that_reads_no_bytes_has_two_sides_and_its_own_words() {
        let mut counts = Counts::default();
        add(&mut counts, 2, &Verdict::New);
        let mut summary = Summary::new(Command::Diff, counts, Duration::from_secs(90));
        summary.sides = Some([name("a"), name("b\u{1b}")]);
        summary.bytes_read = Some(0);
        assert_eq!(
            text(&summary, Verbosity::Normal),
            "compared 2 files in 1 min 30 s: 2 added; old a, new b\\u{1b}\n"
        );
    }

    #[test]
    fn an_empty_run_is_said_to_prove_nothing() {
        let mut summary = verify(&[]);
        summary.algorithms = vec![Algorithm::Md5];
        let expected = "verified 0 files, 0 bytes in 0 ms; md5\nnothing was verified\n";
        assert_eq!(text(&summary, Verbosity::Normal), expected);
        assert_eq!(text(&summary, Verbosity::Quiet), "nothing was verified\n");
    }

    #[test]
    fn a_tree_of_which_nothing_is_there_suggests_a_wrong_base() {
        let warnings = |verdicts: &[Verdict]| verify(verdicts).warnings();
        assert_eq!(
            warnings(&[Verdict::Missing, Verdict::Missing]),
            [NOT_ONE_IS_THERE]
        );
        let ok = Verdict::Ok { size: 0 };
        assert!(warnings(&[Verdict::Missing, ok]).is_empty());
    }

    #[test]
    fn entries_without_an_outcome_are_counted() {
        let mut summary = verify(&[Verdict::Ok { size: 0 }, Verdict::Missing]);
        summary.ignored = 1_000;
        summary.not_checked = 1;
        let expected = "verified 1 file, 0 bytes in 0 ms: 1 ok, 1 missing, \
                        1,000 missing and passed over\n\
                        stopped at the first finding: 1 entry was not checked\n";
        assert_eq!(text(&summary, Verbosity::Normal), expected);
    }

    #[test]
    fn a_run_that_stopped_at_a_missing_file_says_nothing_of_the_base() {
        let mut summary = verify(&[Verdict::Missing]);
        summary.not_checked = 2;
        assert_eq!(
            summary.warnings(),
            ["stopped at the first finding: 2 entries were not checked"]
        );
    }

    #[test]
    fn weak_algorithms_are_named_unless_a_strong_one_stands_beside_them() {
        let warnings = |algorithms: &[Algorithm]| {
            let mut summary = verify(&[Verdict::Ok { size: 0 }]);
            summary.algorithms = algorithms.to_vec();
            summary.warnings()
        };
        let said = "not proof against tampering: only";
        assert_eq!(
            warnings(&[Algorithm::Md5]),
            [format!("{said} md5 was compared")]
        );
        assert_eq!(
            warnings(&[Algorithm::Crc32, Algorithm::Md5, Algorithm::Sha1]),
            [format!("{said} crc32, md5 and sha1 were compared")]
        );
        assert!(warnings(&[Algorithm::Md5, Algorithm::Sha256]).is_empty());
    }

    #[test]
    fn what_was_not_read_is_said_and_is_not_nothing() {
        let warnings = |verdicts: &[Verdict]| verify(verdicts).warnings();
        let said = ["2 not read: size and time are as recorded"];
        assert_eq!(warnings(&[Verdict::Unread, Verdict::Unread]), said);
        assert!(warnings(&[Verdict::Ok { size: 0 }]).is_empty());
    }

    #[test]
    fn weakness_is_no_matter_when_hashing() {
        let mut summary = verify(&[Verdict::Ok { size: 0 }]);
        summary.command = Command::Hash;
        summary.algorithms = vec![Algorithm::Md5];
        assert!(summary.warnings().is_empty());
    }

    #[test]
    fn malformed_lines_and_notes_follow_in_the_right_number() {
        let mut summary = verify(&[Verdict::Ok { size: 0 }]);
        let line = Event::Line {
            manifest: &name("m"),
            line: 1,
            reason: &Malformed::NoShape,
        };
        summary.counts.add(&line);
        summary.notes = vec![Note::DirectRefused(2)];
        let note = "--io direct: the file system refused it for 2 files, \
                    which were read through the page cache";
        assert_eq!(summary.warnings(), ["1 line is malformed", note]);
        summary.counts.add(&line);
        assert_eq!(summary.warnings(), ["2 lines are malformed", note]);
    }

    #[test]
    fn the_largest_figures_are_shown_without_a_panic() {
        let mut summary = verify(&[Verdict::Ok { size: u64::MAX }, Verdict::Ok { size: 1 }]);
        summary.elapsed = Duration::MAX;
        assert_eq!(
            text(&summary, Verbosity::Normal),
            "verified 2 files, 18.4 EB in 213,503,982,334,601 d 7 h: 2 ok\n"
        );
    }
}
