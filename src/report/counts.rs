//! How often each outcome occurred, and what that makes of the run.

use crate::event::{Event, OutcomeWord, Severity, Verdict};

/// What a run was for; it decides how the counts are judged and put into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Files were hashed for a manifest.
    Hash,
    /// Files were compared with a manifest.
    Verify,
    /// A manifest was brought up to date.
    Update,
    /// Two manifests or trees were compared.
    Diff,
}

impl Command {
    /// The name of the subcommand.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hash => "hash",
            Self::Verify => "verify",
            Self::Update => "update",
            Self::Diff => "diff",
        }
    }

    /// The word by which reports of this command call an outcome.
    pub fn word(self, outcome: OutcomeWord) -> &'static str {
        match (self, outcome) {
            (Self::Diff, OutcomeWord::Ok) => "unchanged",
            (Self::Diff, OutcomeWord::Missing) => "removed",
            (Self::Diff, OutcomeWord::New) => "added",
            _ => outcome.as_str(),
        }
    }
}

/// What lines that cannot be understood do to a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MalformedLines {
    /// They leave it incomplete.
    #[default]
    Fail,
    /// They are reported and otherwise tolerated, as GNU coreutils do without `--strict`.
    Tolerate,
}

/// How often each outcome occurred.
///
/// Each listed name and each unlisted file has one outcome, so [`Counts::outcomes`] is the number
/// of entries and new files together. Malformed lines and skipped specials are counted apart,
/// since neither is an entry; so are the files that `hash` read, which were compared with nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    by_word: [u64; OutcomeWord::ALL.len()],
    /// Those of them that are ok and were not read.
    present: u64,
    hashed: u64,
    from_before: u64,
    skipped: u64,
    malformed: u64,
    /// A manifest is damaged as a whole.
    spoiled: bool,
    bytes: u64,
}

impl Counts {
    /// Takes note of one event.
    pub fn add(&mut self, event: &Event<'_>) {
        match event {
            Event::Hashed { hashed, .. } => {
                let from_before = hashed.is_from_before();
                self.hashed += u64::from(!from_before);
                self.from_before += u64::from(from_before);
                self.add_bytes(hashed.read_now());
            }
            Event::Verdict { verdict, .. } => self.add_verdict(verdict),
            Event::Line { reason, .. } => {
                self.malformed += 1;
                self.spoiled |= reason.spoils_the_manifest();
            }
            Event::Skipped { .. } => self.skipped += 1,
            Event::Taken { .. } | Event::Note(_) => {}
        }
    }

    fn add_verdict(&mut self, verdict: &Verdict) {
        self.by_word[verdict.word() as usize] += 1;
        self.present += u64::from(matches!(verdict, Verdict::Present));
        if let Verdict::Ok { size }
        | Verdict::Changed { size, .. }
        | Verdict::Corrupt { size, .. } = verdict
        {
            self.add_bytes(*size);
        }
    }

    fn add_bytes(&mut self, size: u64) {
        self.bytes = self.bytes.saturating_add(size);
    }

    /// How many names had this outcome.
    pub fn of(&self, word: OutcomeWord) -> u64 {
        self.by_word[word as usize]
    }

    /// The sum over all outcomes: entries and new files.
    pub fn outcomes(&self) -> u64 {
        self.by_word.iter().sum()
    }

    /// Files that were read to their end and compared with recorded digests, whatever came of it.
    pub fn verified(&self) -> u64 {
        [OutcomeWord::Ok, OutcomeWord::Changed, OutcomeWord::Corrupt]
            .into_iter()
            .map(|word| self.of(word))
            .sum::<u64>()
            - self.present
    }

    /// Files that `hash` or `update` read to their end.
    pub fn hashed(&self) -> u64 {
        self.hashed
    }

    /// Files that `hash` did not read, since an earlier run that was stopped had.
    pub fn from_before(&self) -> u64 {
        self.from_before
    }

    /// Links, pipes, sockets and devices that were not opened.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Lines of manifests that could not be understood or used.
    pub fn malformed(&self) -> u64 {
        self.malformed
    }

    /// Bytes that were read of all files that were read to their end.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether a run of `verify` came to no finding about any listed name: no file was compared, none
    /// was found to be missing or moved, and none was left unread as was asked.
    pub fn nothing_verified(&self) -> bool {
        let findings = [
            OutcomeWord::Missing,
            OutcomeWord::Moved,
            OutcomeWord::Unread,
        ];
        let found: u64 = findings.into_iter().map(|word| self.of(word)).sum();
        self.verified() + found == 0
    }

    /// The worst of everything that was counted.
    ///
    /// A run of `verify` in which nothing was verified is incomplete, whatever else holds, and so is
    /// one of `diff` that met no name at all. For a run of `update`, what it took up is well: files that
    /// were changed, new or moved. What is missing and corrupt is not; see [`Counts::without_missing`].
    pub fn severity(&self, command: Command, malformed: MalformedLines) -> Severity {
        let idle = match command {
            Command::Verify => self.nothing_verified(),
            Command::Diff => self.outcomes() == 0,
            Command::Hash | Command::Update => false,
        };
        let misread = self.spoiled || (self.malformed > 0 && malformed == MalformedLines::Fail);
        if idle || misread {
            return Severity::Incomplete;
        }
        OutcomeWord::ALL
            .into_iter()
            .filter(|word| self.of(*word) > 0)
            .map(|word| match (command, word) {
                (Command::Update, OutcomeWord::Changed | OutcomeWord::New | OutcomeWord::Moved) => {
                    Severity::Well
                }
                _ => word.severity(),
            })
            .max()
            .unwrap_or_default()
    }

    /// The same counts without the missing files, for an update that dropped their entries.
    #[must_use]
    pub fn without_missing(&self) -> Self {
        let mut counts = self.clone();
        counts.by_word[OutcomeWord::Missing as usize] = 0;
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{self, name};
    use super::*;
    use crate::event::Unverified;
    use crate::manifest::Malformed;
    use crate::walk::Special;

    fn counts(verdicts: &[Verdict]) -> Counts {
        let mut counts = Counts::default();
        for verdict in verdicts {
            counts.add(&Event::Verdict {
                name: &name("a"),
                verdict,
            });
        }
        counts
    }

    fn add_malformed(counts: &mut Counts) {
        counts.add(&Event::Line {
            manifest: &name("MANIFEST"),
            line: 1,
            reason: &Malformed::NoShape,
        });
    }

    #[test]
    fn leniency_towards_lines_does_not_cover_a_manifest_that_is_spoiled() {
        for (reason, severity) in [
            (Malformed::NoShape, Severity::Well),
            (Malformed::Package("rule".to_owned()), Severity::Incomplete),
        ] {
            let mut counts = counts(&[Verdict::Ok { size: 1 }]);
            counts.add(&Event::Line {
                manifest: &name("SUMS"),
                line: 1,
                reason: &reason,
            });
            assert_eq!(
                counts.severity(Command::Verify, MalformedLines::Tolerate),
                severity
            );
        }
    }

    #[test]
    fn every_word_has_a_counter_of_its_own() {
        for (index, word) in OutcomeWord::ALL.into_iter().enumerate() {
            assert_eq!(word as usize, index, "{word}");
        }
    }

    #[test]
    fn the_sum_is_the_number_of_entries_and_new_files() {
        let all = samples::verdicts();
        let mut counts = counts(&all);
        assert_eq!(counts.outcomes(), all.len() as u64);
        add_malformed(&mut counts);
        counts.add(&Event::Skipped {
            name: &name("pipe"),
            kind: Special::Fifo,
        });
        assert_eq!(counts.outcomes(), all.len() as u64);
        assert_eq!((counts.malformed(), counts.skipped()), (1, 1));
    }

    #[test]
    fn bytes_are_those_of_files_read_to_their_end() {
        let mut counts = counts(&[
            Verdict::Ok { size: 5 },
            samples::changed(7),
            samples::unreadable(),
        ]);
        counts.add(&Event::Hashed {
            name: &name("a"),
            hashed: &samples::hashed(30),
        });
        assert_eq!((counts.bytes(), counts.hashed()), (42, 1));
        counts.add(&Event::Hashed {
            name: &name("a"),
            hashed: &samples::hashed(u64::MAX),
        });
        assert_eq!(counts.bytes(), u64::MAX);
    }

    #[test]
    fn incomplete_wins_over_different_and_different_over_well() {
        let judge =
            |verdicts: &[Verdict]| counts(verdicts).severity(Command::Verify, MalformedLines::Fail);
        let ok = || Verdict::Ok { size: 0 };
        assert_eq!(judge(&[ok()]), Severity::Well);
        assert_eq!(judge(&[ok(), Verdict::New]), Severity::Different);
        assert_eq!(judge(&[ok(), samples::changed(1)]), Severity::Different);
        let both = [ok(), Verdict::Missing, samples::unreadable()];
        assert_eq!(judge(&both), Severity::Incomplete);
    }

    #[test]
    fn a_verify_run_without_a_finding_is_incomplete() {
        let judge = |counts: &Counts| counts.severity(Command::Verify, MalformedLines::Tolerate);
        assert_eq!(judge(&Counts::default()), Severity::Incomplete);
        assert_eq!(judge(&counts(&[Verdict::New])), Severity::Incomplete);
        let gap = Verdict::Unverified(Unverified::Gap);
        assert_eq!(judge(&counts(&[gap])), Severity::Incomplete);
        assert_eq!(judge(&counts(&[Verdict::Missing])), Severity::Different);
        let hash = Counts::default().severity(Command::Hash, MalformedLines::Fail);
        assert_eq!(hash, Severity::Well);
    }

    #[test]
    fn a_diff_that_met_no_name_is_incomplete_and_one_that_met_only_new_ones_is_not() {
        let judge = |counts: &Counts| counts.severity(Command::Diff, MalformedLines::Fail);
        assert_eq!(judge(&Counts::default()), Severity::Incomplete);
        assert_eq!(judge(&counts(&[Verdict::New])), Severity::Different);
        assert_eq!(judge(&counts(&[Verdict::Ok { size: 1 }])), Severity::Well);
    }

    #[test]
    fn an_update_is_well_if_everything_was_taken_up() {
        let judge = |counts: &Counts| counts.severity(Command::Update, MalformedLines::Fail);
        let moved = Verdict::Moved { to: name("b") };
        let taken = counts(&[Verdict::New, samples::changed(1), moved, Verdict::Unread]);
        assert_eq!(judge(&taken), Severity::Well);
        let kept = counts(&[Verdict::Missing, Verdict::New]);
        assert_eq!(judge(&kept), Severity::Different);
        assert_eq!(judge(&kept.without_missing()), Severity::Well);
        assert_eq!(
            judge(&counts(&[samples::unreadable()])),
            Severity::Incomplete
        );
    }

    #[test]
    fn files_left_unread_are_never_ok_and_never_nothing() {
        let counts = counts(&[Verdict::Unread, Verdict::Unread]);
        let unread = (counts.of(OutcomeWord::Unread), counts.outcomes());
        assert_eq!(unread, (2, 2));
        assert_eq!((counts.verified(), counts.of(OutcomeWord::Ok)), (0, 0));
        let judged = counts.severity(Command::Verify, MalformedLines::Fail);
        assert_eq!(judged, Severity::Well);
    }

    #[test]
    fn malformed_lines_fail_unless_tolerated() {
        let mut counts = counts(&[Verdict::Ok { size: 0 }]);
        add_malformed(&mut counts);
        let judge = |lines| counts.severity(Command::Verify, lines);
        assert_eq!(judge(MalformedLines::Fail), Severity::Incomplete);
        assert_eq!(judge(MalformedLines::Tolerate), Severity::Well);
    }
}
