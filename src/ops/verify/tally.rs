//! What adds up over all entries.

use std::io;

use crate::engine::Outcome;
use crate::event::{Event, Note, OutcomeWord, Sink, Verdict};
use crate::manifest::Malformed;
use crate::relpath::RelPath;

use super::super::asides::{Asides, Proofs};
use super::Verified;
use super::listed::Listed;
use super::shift::ClockShift;
use super::sources::Sources;

/// What adds up over all entries.
pub(super) struct Tally {
    /// What happened beside the outcomes.
    pub(super) asides: Asides,
    /// How the times of the files differ from those that are recorded.
    pub(super) shift: ClockShift,
    /// Entries so far.
    pub(super) seen: u64,
    /// For each list how many entries came of it, and how many of them were passed over.
    of_lists: Vec<OfList>,
    /// Names that lead out of their base.
    outside_base: u64,
    /// Entries that had to be read though nobody asked for it, since nothing is recorded that a look
    /// could be compared with.
    not_quick: u64,
    /// What lies in the packages.
    sums: Vec<Sum>,
    proofs: Proofs,
}

#[derive(Clone, Copy, Debug, Default)]
struct OfList {
    seen: u64,
    ignored: u64,
}

/// The files of one package that are well.
#[derive(Clone, Debug, Default)]
struct Sum {
    files: u64,
    bytes: u64,
    findings: bool,
}

/// Whether a name lies in a folder or is that folder.
pub(super) fn is_below(name: &RelPath, folder: &RelPath) -> bool {
    let mut parts = name.components();
    folder.components().all(|part| parts.next() == Some(part))
}

impl Tally {
    pub(super) fn new(sources: &Sources) -> Self {
        Self {
            asides: Asides::default(),
            shift: ClockShift::default(),
            seen: 0,
            of_lists: vec![OfList::default(); sources.0.len()],
            outside_base: 0,
            not_quick: 0,
            sums: vec![Sum::default(); sources.0.len()],
            proofs: Proofs::default(),
        }
    }

    /// Takes note of an entry and of what the engine made of it.
    pub(super) fn see(&mut self, sources: &Sources, entry: &Listed, outcome: Option<&Outcome>) {
        self.seen += 1;
        self.of_lists[entry.source as usize].seen += 1;
        let place = &sources.of(entry).place;
        self.outside_base += u64::from(place.is_left_by(entry.target()));
        self.asides.count(outcome);
    }

    /// Takes note of an entry that is passed over because it is not there.
    pub(super) fn ignore(&mut self, entry: &Listed) {
        self.of_lists[entry.source as usize].ignored += 1;
    }

    /// Takes note of an entry that a look could not settle, though that was asked for.
    pub(super) fn read_all_the_same(&mut self) {
        self.not_quick += 1;
    }

    /// Takes note of what was compared.
    pub(super) fn add(&mut self, entry: &Listed, verdict: &Verdict, verified: &mut Verified) {
        let algorithms = entry.algorithms();
        let word = verdict.word();
        let compared = [OutcomeWord::Ok, OutcomeWord::Changed, OutcomeWord::Corrupt];
        if !compared.contains(&word) || algorithms.is_empty() {
            return;
        }
        self.proofs.add(&algorithms);
        verified.algorithms.extend(algorithms);
    }

    /// Adds to what a package says of its files together.
    pub(super) fn sum(&mut self, sources: &Sources, entry: &Listed, verdict: &Verdict) {
        let sum = &mut self.sums[entry.source as usize];
        let total = sources.of(entry).total.as_ref();
        match (total, verdict) {
            (Some(total), Verdict::Ok { size }) => {
                if is_below(&entry.name, &total.below) {
                    sum.files += 1;
                    sum.bytes += size;
                }
            }
            _ => sum.findings = true,
        }
    }

    /// Tells of packages that hold another number of files or bytes than they say.
    pub(super) fn tell_totals(&self, sources: &Sources, sink: &mut dyn Sink) -> io::Result<()> {
        for (source, sum) in sources.0.iter().zip(&self.sums) {
            let Some(total) = source.total.as_ref().filter(|_| !sum.findings) else {
                continue;
            };
            if (sum.files, sum.bytes) != (total.files, total.bytes) {
                let reason = Malformed::Package(format!(
                    "there should be {} files with {} bytes, and there are {} with {}",
                    total.files, total.bytes, sum.files, sum.bytes
                ));
                sink.event(Event::Line {
                    manifest: &total.manifest,
                    line: total.line,
                    reason: &reason,
                })?;
            }
        }
        Ok(())
    }

    /// Tells what concerns the run as a whole.
    pub(super) fn tell(
        &self,
        sources: &Sources,
        sink: &mut dyn Sink,
        verified: &mut Verified,
    ) -> io::Result<()> {
        verified.ignored = self.of_lists.iter().map(|list| list.ignored).sum();
        if self.outside_base > 0 {
            sink.event(Event::Note(&Note::OutsideBase(self.outside_base)))?;
        }
        if self.not_quick > 0 {
            sink.event(Event::Note(&Note::NotQuick(self.not_quick)))?;
        }
        if let Some((hours, files)) = self.shift.found() {
            sink.event(Event::Note(&Note::ClockShift { hours, files }))?;
        }
        self.proofs.tell(sink)?;
        for (source, of_list) in sources.0.iter().zip(&self.of_lists) {
            if source.entries.max(of_list.seen) == of_list.ignored {
                verified.idle_lists += 1;
                if sources.0.len() > 1 {
                    let manifest = source.name.clone();
                    sink.event(Event::Note(&Note::NothingVerified { manifest }))?;
                }
            }
        }
        self.asides.tell(sink)
    }
}
