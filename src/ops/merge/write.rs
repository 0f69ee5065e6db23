//! Joined entries into the target.

use std::collections::BTreeMap;
use std::io::Write;

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::manifest::{Format, Kind, Writer};

use super::super::convert::{ConvertError, Converted, Loss, Target, refused, writer_for};
use super::super::manifests::Item;
use super::join::Joined;
use super::{MergeError, Parts};

impl Parts {
    /// Writes what all parts say into `out`, in the order of names, and tells what the target does
    /// not hold, and of how many names the parts say that they could not be hashed. It is up to the
    /// caller to keep what was written.
    ///
    /// This is what one run over everything would have written, unless it had been given several
    /// paths in another order than that of their names: such a run writes them in the order given,
    /// of which the parts know nothing.
    ///
    /// # Memory
    ///
    /// One entry for each part whose names are in order; all entries of the others.
    ///
    /// # Errors
    ///
    /// Two parts contradict each other, a part cannot be read, or the target cannot be written.
    pub fn write(
        &self,
        target: &Target,
        out: &mut dyn Write,
    ) -> Result<(Converted, u64), MergeError> {
        let joined = Joined::new(&self.parts)?;
        let mut losses = Vec::new();
        let algorithms = in_order_of(joined.first(), self.algorithms());
        let (writer, algorithms) = writer_for(target, algorithms, 0, &mut losses)?;
        let mut writing = Writing {
            writer,
            out,
            entries: 0,
            losses,
            tally: Tally::default(),
        };
        for item in joined {
            writing.item(&item?, &algorithms)?;
        }
        let finished = writing.writer.finish(writing.out);
        finished.map_err(ConvertError::Output)?;
        let mut losses = writing.losses;
        count_digests(&mut losses, writing.tally.hashed);
        let gaps = writing.tally.gaps;
        writing.tally.tell(target.format, &mut losses);
        let converted = Converted {
            entries: writing.entries,
            algorithms,
            losses,
        };
        Ok((converted, gaps))
    }
}

/// All entries lose the digests that the target cannot hold, since all have the same.
fn count_digests(losses: &mut [Loss], hashed: u64) {
    for loss in losses {
        if let Loss::Digests { entries, .. } = loss {
            *entries = hashed;
        }
    }
}

/// As the lines of the parts have them: first those of this entry, as far as it has them.
fn in_order_of(first: Option<&Item>, algorithms: Vec<Algorithm>) -> Vec<Algorithm> {
    let digests = first.map(|item| &*item.digests).unwrap_or_default();
    let mut ordered: Vec<Algorithm> = digests.iter().map(Digest::algorithm).collect();
    for algorithm in algorithms {
        if !ordered.contains(&algorithm) {
            ordered.push(algorithm);
        }
    }
    ordered
}

struct Writing<'o> {
    writer: Writer,
    out: &'o mut dyn Write,
    entries: u64,
    losses: Vec<Loss>,
    tally: Tally,
}

impl Writing<'_> {
    fn item(&mut self, item: &Item, algorithms: &[Algorithm]) -> Result<(), ConvertError> {
        self.tally.add(item);
        if item.kind != Kind::File {
            return Ok(());
        }
        if let Some(kind) = item.gap {
            let written = self.writer.write_gap(self.out, &item.name, kind);
            self.losses.extend(refused(written)?.map(Loss::Entry));
        }
        let mut has = item.digests.iter().map(Digest::algorithm);
        if !has.any(|algorithm| algorithms.contains(&algorithm)) {
            self.tally.bare += u64::from(!item.digests.is_empty());
            return Ok(());
        }
        match refused(self.writer.write_entry(self.out, &item.entry()))? {
            None => self.entries += 1,
            Some(error) => self.losses.push(Loss::Entry(error)),
        }
        Ok(())
    }
}

/// What entries have that the target may have no place for.
#[derive(Debug, Default)]
struct Tally {
    unsupported: BTreeMap<Box<str>, u64>,
    hashed: u64,
    not_files: u64,
    bare: u64,
    gaps: u64,
    ambiguous: u64,
    sizes: u64,
    times: u64,
}

impl Tally {
    fn add(&mut self, item: &Item) {
        if item.kind != Kind::File {
            self.not_files += 1;
            return;
        }
        for name in &item.unsupported {
            *self.unsupported.entry(name.clone()).or_default() += 1;
        }
        self.hashed += u64::from(!item.digests.is_empty());
        self.bare += u64::from(item.lacks_digests());
        self.gaps += u64::from(item.gap.is_some());
        self.ambiguous += u64::from(item.ambiguous);
        self.sizes += u64::from(item.size.is_some());
        self.times += u64::from(item.modified.is_some());
    }

    fn tell(self, format: Format, losses: &mut Vec<Loss>) {
        for (name, entries) in self.unsupported {
            losses.push(Loss::Digests {
                algorithm: name.into(),
                reason: "unknown to multisum".to_owned(),
                entries,
            });
        }
        let carries = format.info().carries;
        let told = [
            (!carries.size, self.sizes, Loss::Sizes as fn(u64) -> Loss),
            (!carries.modified, self.times, Loss::Times),
            (true, self.not_files, Loss::NotFiles),
            (true, self.bare, Loss::WithoutDigest),
            (!carries.gaps, self.gaps, Loss::Gaps),
            (true, self.ambiguous, Loss::Spellings),
        ];
        for (lost, count, loss) in told {
            if lost && count > 0 {
                losses.push(loss(count));
            }
        }
    }
}
