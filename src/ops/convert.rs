//! One manifest into another format. No listed file is read.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Display, Formatter};
use std::io::{self, Write};

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::error::Error;
use crate::event::{Event, Sink, Verdict};
use crate::manifest::{
    Claim, Content, Entry, EntryError, Format, Header, Kind, Record, Writer, WriterError,
    WriterOptions,
};
use crate::relpath::RelPath;

use super::asides::{tell_malformed, tell_remark};
use super::manifests::Item;

/// Everything that a manifest says, one item for each name.
#[derive(Debug, Default)]
pub struct Inventory {
    items: Vec<Item>,
    by_name: HashMap<RelPath, usize>,
    header: Header,
    /// Lines that could not be understood, and names of which contradictory things are said.
    spoiled: u64,
    /// Folders, links and devices.
    not_files: u64,
}

/// Something that the target does not hold and the source does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// Digests of an algorithm that the format, or this program, has no place for.
    Digests {
        /// The algorithm.
        algorithm: String,
        /// Why they are left out.
        reason: String,
        /// How many.
        entries: u64,
    },
    /// An entry that cannot be written.
    Entry(EntryError),
    /// Lines that could not be understood.
    Lines(u64),
    /// Folders, symbolic links and devices.
    NotFiles(u64),
    /// Sizes.
    Sizes(u64),
    /// Modification times.
    Times(u64),
    /// Entries without any digest.
    WithoutDigest(u64),
    /// Files that are known and were not hashed.
    Gaps(u64),
    /// Second spellings of names with backslashes or escapes.
    Spellings(u64),
}

impl Loss {
    /// Whether a digest or a name is lost, so that files can no longer be proved.
    pub fn is_grave(&self) -> bool {
        match self {
            Self::Digests { .. }
            | Self::Entry(_)
            | Self::Lines(_)
            | Self::WithoutDigest(_)
            | Self::Gaps(_) => true,
            Self::NotFiles(_) | Self::Sizes(_) | Self::Times(_) | Self::Spellings(_) => false,
        }
    }
}

impl Display for Loss {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Digests {
                algorithm,
                reason,
                entries,
            } => {
                write!(
                    f,
                    "the {algorithm} digests of {} ({reason})",
                    counted(*entries)
                )
            }
            Self::Entry(error) => write!(f, "{error}"),
            Self::Lines(1) => f.write_str("1 line that cannot be used"),
            Self::Lines(count) => write!(f, "{count} lines that cannot be used"),
            Self::WithoutDigest(count) => write!(f, "{} without a digest", counted(*count)),
            Self::Gaps(count) => write!(f, "{} of files that were not hashed", counted(*count)),
            Self::Spellings(count) => write!(
                f,
                "the other way to read the names of {}, which are kept as they are",
                counted(*count)
            ),
            Self::NotFiles(count) => write!(f, "{} of folders, links and devices", counted(*count)),
            Self::Sizes(count) => write!(f, "the sizes of {}", counted(*count)),
            Self::Times(count) => write!(f, "the modification times of {}", counted(*count)),
        }
    }
}

fn told(losses: &[Loss]) -> String {
    let told = losses
        .iter()
        .map(|loss| format!("; not carried over: {loss}"));
    told.collect()
}

fn counted(entries: u64) -> String {
    match entries {
        1 => "1 entry".to_owned(),
        many => format!("{many} entries"),
    }
}

/// What came of a conversion.
#[derive(Debug)]
pub struct Converted {
    /// Entries written, gaps not counted.
    pub entries: u64,
    /// The algorithms that the target carries.
    pub algorithms: Vec<Algorithm>,
    /// What it does not hold.
    pub losses: Vec<Loss>,
}

/// Why there is nothing to write.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The source holds no digest that can be written.
    #[error("no entry with a digest that could be written{}", told(.0))]
    Nothing(Vec<Loss>),
    /// The format cannot carry what it was asked to.
    #[error(transparent)]
    Writer(#[from] WriterError),
    /// The target could not be written.
    #[error(transparent)]
    Output(#[from] io::Error),
}

impl Inventory {
    /// Takes a record of the source; `sink` is told of what cannot be used.
    ///
    /// # Errors
    ///
    /// What `sink` says.
    pub fn take(
        &mut self,
        manifest: &RelPath,
        record: Record,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let line = record.line;
        match record.content {
            Content::Claim(claim) if claim.kind == Kind::File => return self.claim(claim, sink),
            Content::Claim(_) => self.not_files += 1,
            Content::Gap { name, kind } => {
                let item = self.item(name);
                item.gap = Some(kind);
            }
            Content::Header(header) => self.header = *header,
            Content::Malformed(reason) => {
                self.spoiled += 1;
                tell_malformed(manifest, line, &reason, sink)?;
            }
            Content::Remark(remark) => tell_remark(manifest, line, remark, sink)?,
        }
        Ok(())
    }

    /// What the source says of itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    fn item(&mut self, name: RelPath) -> &mut Item {
        let next = self.items.len();
        let key = name.normalised().into_owned();
        let at = *self.by_name.entry(key).or_insert(next);
        if at == next {
            self.items.push(Item::new(name));
        }
        &mut self.items[at]
    }

    fn claim(&mut self, claim: Claim, sink: &mut dyn Sink) -> Result<(), Error> {
        let name = claim.name.clone();
        let item = self.item(claim.name.clone());
        let Err(reason) = item.try_join(claim) else {
            return Ok(());
        };
        item.trouble = Some(reason.clone());
        self.spoiled += 1;
        let verdict = &Verdict::Unverified(reason);
        let event = Event::Verdict {
            name: &name,
            verdict,
        };
        sink.event(event).map_err(Error::Output)
    }
}

/// What a manifest becomes.
#[derive(Clone, Debug)]
pub struct Target {
    /// The format.
    pub format: Format,
    /// Of a format that carries one algorithm, which; otherwise the strongest that every entry has.
    pub algorithm: Option<Algorithm>,
    /// NUL bytes instead of line ends.
    pub zero: bool,
    /// Digests in base64.
    pub base64: bool,
    /// What the target says of itself.
    pub header: Header,
}

impl Inventory {
    /// Writes everything into `out`, in the order of the source, and tells what the target does not
    /// hold. It is up to the caller to keep what was written.
    ///
    /// # Errors
    ///
    /// There is nothing to write, or the target could not be written.
    pub fn write(&self, target: &Target, out: &mut dyn Write) -> Result<Converted, ConvertError> {
        let mut losses = Vec::new();
        let algorithms = self.algorithms(target.format, &mut losses);
        let (mut writer, algorithms) = writer_for(target, algorithms, self.hashed(), &mut losses)?;
        let mut entries = 0;
        for item in self.items.iter().filter(|item| item.trouble.is_none()) {
            if let Some(kind) = item.gap {
                let written = refused(writer.write_gap(out, &item.name, kind))?;
                losses.extend(written.map(Loss::Entry));
            }
            let digests: Vec<Digest> = algorithms
                .iter()
                .filter_map(|&algorithm| item.digest(algorithm).copied())
                .collect();
            if digests.is_empty() {
                continue;
            }
            let entry = Entry {
                digests: &digests,
                ..item.entry()
            };
            match refused(writer.write_entry(out, &entry))? {
                None => entries += 1,
                Some(error) => losses.push(Loss::Entry(error)),
            }
        }
        writer.finish(out)?;
        self.tell_fields(target.format, &mut losses);
        Ok(Converted {
            entries,
            algorithms,
            losses,
        })
    }

    fn hashed(&self) -> u64 {
        self.items
            .iter()
            .filter(|item| !item.digests.is_empty())
            .count() as u64
    }

    /// The algorithms that the format can hold digests of, in the order in which they are met: those
    /// that every entry has, unless entries may differ.
    fn algorithms(&self, format: Format, losses: &mut Vec<Loss>) -> Vec<Algorithm> {
        let mut counts: Vec<(Algorithm, u64)> = Vec::new();
        let mut unsupported: BTreeMap<&str, u64> = BTreeMap::new();
        for item in &self.items {
            for digest in &item.digests {
                match counts
                    .iter_mut()
                    .find(|(known, _)| *known == digest.algorithm())
                {
                    Some((_, count)) => *count += 1,
                    None => counts.push((digest.algorithm(), 1)),
                }
            }
            for name in &item.unsupported {
                *unsupported.entry(name).or_default() += 1;
            }
        }
        for (name, entries) in unsupported {
            losses.push(Loss::Digests {
                algorithm: name.to_owned(),
                reason: "unknown to multisum".to_owned(),
                entries,
            });
        }
        let hashed = self.hashed();
        let (common, partial): (Vec<_>, Vec<_>) = counts
            .into_iter()
            .partition(|(_, count)| *count == hashed || format.entries_may_differ());
        for (algorithm, entries) in partial {
            losses.push(Loss::Digests {
                algorithm: algorithm.to_string(),
                reason: "not every entry has one".to_owned(),
                entries,
            });
        }
        common.into_iter().map(|(algorithm, _)| algorithm).collect()
    }

    /// What entries have beside digests and the format has no place for.
    fn tell_fields(&self, format: Format, losses: &mut Vec<Loss>) {
        let count =
            |has: fn(&Item) -> bool| self.items.iter().filter(|item| has(item)).count() as u64;
        let carries = format.info().carries;
        let gaps = count(|item| item.gap.is_some());
        let bare = count(Item::lacks_digests);
        let sizes = count(|item| item.size.is_some());
        let times = count(|item| item.modified.is_some());
        let told = [
            (!carries.size, sizes, Loss::Sizes as fn(u64) -> Loss),
            (!carries.modified, times, Loss::Times),
            (true, self.not_files, Loss::NotFiles),
            (true, self.spoiled, Loss::Lines),
            (true, bare, Loss::WithoutDigest),
            (!carries.gaps, gaps, Loss::Gaps),
            (true, count(|item| item.ambiguous), Loss::Spellings),
        ];
        for (lost, count, loss) in told {
            if lost && count > 0 {
                losses.push(loss(count));
            }
        }
    }
}

/// A writer for as many of the algorithms as the format carries.
pub(super) fn writer_for(
    target: &Target,
    mut algorithms: Vec<Algorithm>,
    entries: u64,
    losses: &mut Vec<Loss>,
) -> Result<(Writer, Vec<Algorithm>), ConvertError> {
    let format = target.format;
    if !format.names_algorithms() || format == Format::Sfv {
        let wanted = target
            .algorithm
            .or_else(|| algorithms.iter().copied().max_by_key(strength));
        for &algorithm in algorithms
            .iter()
            .filter(|&&algorithm| Some(algorithm) != wanted)
        {
            losses.push(lost(
                algorithm,
                format!("{format} carries one algorithm"),
                entries,
            ));
        }
        algorithms.retain(|&algorithm| Some(algorithm) == wanted);
    }
    loop {
        if algorithms.is_empty() {
            return Err(ConvertError::Nothing(std::mem::take(losses)));
        }
        let options = WriterOptions {
            partial: true,
            zero: target.zero,
            base64: target.base64,
            header: Header {
                algorithms: algorithms.clone(),
                ..target.header.clone()
            },
            ..WriterOptions::new(format, &algorithms)
        };
        match Writer::new(options) {
            Ok(writer) => return Ok((writer, algorithms)),
            Err(WriterError::NotCarried {
                algorithm, carried, ..
            }) => {
                losses.push(lost(
                    algorithm,
                    format!("{format} carries {carried}"),
                    entries,
                ));
                algorithms.retain(|known| *known != algorithm);
            }
            Err(WriterError::TooShort(algorithm)) => {
                losses.push(lost(
                    algorithm,
                    "too short to prove anything".to_owned(),
                    entries,
                ));
                algorithms.retain(|known| *known != algorithm);
            }
            Err(other) => return Err(other.into()),
        }
    }
}

fn lost(algorithm: Algorithm, reason: String, entries: u64) -> Loss {
    Loss::Digests {
        algorithm: algorithm.to_string(),
        reason,
        entries,
    }
}

fn strength(algorithm: &Algorithm) -> impl Ord + use<> {
    (algorithm.strength(), algorithm.digest_bits())
}

/// An entry that the format refuses is a loss; anything else is a failure.
pub(super) fn refused(written: io::Result<()>) -> io::Result<Option<EntryError>> {
    let Err(error) = written else { return Ok(None) };
    match error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<EntryError>())
    {
        Some(refused) => Ok(Some(refused.clone())),
        None => Err(error),
    }
}
