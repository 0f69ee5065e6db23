//! Every listed file through the engine, and its digests against the claims.

use std::collections::BTreeSet;
use std::fs::FileType;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::algorithm::{Algorithm, Strength};
use crate::engine::{self, Hashed, Job, Links, Outcome, Source, Task};
use crate::error::{Error, FileError, Operation};
use crate::event::{Difference, Event, Note, OutcomeWord, Sink, Unverified, Verdict};
use crate::manifest::{Kind, Malformed};
use crate::relpath::RelPath;
use crate::timestamp::Timestamp;

use super::super::asides::Asides;
use super::listing::{Listed, Listing};
use super::{Verified, VerifyOptions};

/// What is left to do after the comparison.
pub(super) enum Compared {
    /// Entries that are not there and have not been told, since they may have moved.
    Missing(Vec<usize>),
    /// The first finding ended it.
    Stopped,
}

/// Tells `sink` of every entry in the order of the lists.
pub(super) fn compare(
    listing: &Arc<Listing>,
    options: &VerifyOptions,
    engine: &engine::Options,
    sink: &mut dyn Sink,
    verified: &mut Verified,
) -> Result<Compared, Error> {
    let mut missing = Vec::new();
    let mut tally = Tally::new(listing);
    let mut stopped = false;
    let ended = engine::run(jobs(listing), engine, &mut |index: usize, outcome| {
        let entry = &listing.entries[index];
        tally.seen += 1;
        tally.asides.count(outcome.as_ref());
        let verdict = judge(listing, entry, outcome);
        tally.sum(listing, entry, &verdict);
        if matches!(verdict, Verdict::Missing) && options.ignore_missing {
            tally.ignored[entry.source as usize] += 1;
            return Ok(());
        }
        let exact = options.exact || listing.sources[entry.source as usize].exact.is_some();
        if matches!(verdict, Verdict::Missing) && exact && !options.fail_fast {
            missing.push(index);
            return Ok(());
        }
        tally.add(entry, &verdict, verified);
        sink.event(Event::Verdict {
            name: &entry.name,
            verdict: &verdict,
        })?;
        stopped = options.fail_fast && verdict.word() != OutcomeWord::Ok;
        if stopped {
            Err(io::ErrorKind::Interrupted.into())
        } else {
            Ok(())
        }
    });
    match ended {
        Err(Error::Output(_)) if stopped => {
            verified.not_checked = (listing.entries.len() - tally.seen) as u64;
        }
        other => other?,
    }
    tally.tell(listing, sink, verified).map_err(Error::Output)?;
    Ok(if stopped {
        Compared::Stopped
    } else {
        Compared::Missing(missing)
    })
}

/// What adds up over all entries.
struct Tally {
    asides: Asides,
    seen: usize,
    /// For each list how many of its entries were passed over.
    ignored: Vec<u64>,
    /// What lies in the packages.
    sums: Vec<Sum>,
    compared: u64,
    /// Files that were compared with no algorithm that withstands people, and with which.
    weak_files: u64,
    weak_algorithms: BTreeSet<Algorithm>,
}

/// The files of one package that are well.
#[derive(Clone, Debug, Default)]
struct Sum {
    files: u64,
    bytes: u64,
    findings: bool,
}

fn is_below(name: &RelPath, folder: &RelPath) -> bool {
    let mut parts = name.components();
    folder.components().all(|part| parts.next() == Some(part))
}

impl Tally {
    fn new(listing: &Listing) -> Self {
        Self {
            asides: Asides::default(),
            seen: 0,
            ignored: vec![0; listing.sources.len()],
            sums: vec![Sum::default(); listing.sources.len()],
            compared: 0,
            weak_files: 0,
            weak_algorithms: BTreeSet::new(),
        }
    }

    fn add(&mut self, entry: &Listed, verdict: &Verdict, verified: &mut Verified) {
        let algorithms = entry.algorithms();
        let word = verdict.word();
        let compared = [OutcomeWord::Ok, OutcomeWord::Changed, OutcomeWord::Corrupt];
        if !compared.contains(&word) || algorithms.is_empty() {
            return;
        }
        self.compared += 1;
        if algorithms
            .iter()
            .all(|algorithm| algorithm.strength() < Strength::Strong)
        {
            self.weak_files += 1;
            self.weak_algorithms.extend(&algorithms);
        }
        verified.algorithms.extend(algorithms);
    }

    /// Adds to what a package says of its files together.
    fn sum(&mut self, listing: &Listing, entry: &Listed, verdict: &Verdict) {
        let sum = &mut self.sums[entry.source as usize];
        let total = listing.sources[entry.source as usize].total.as_ref();
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
    fn tell_totals(&self, listing: &Listing, sink: &mut dyn Sink) -> io::Result<()> {
        if self.seen < listing.entries.len() {
            return Ok(());
        }
        for (source, sum) in listing.sources.iter().zip(&self.sums) {
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

    fn tell(
        &self,
        listing: &Listing,
        sink: &mut dyn Sink,
        verified: &mut Verified,
    ) -> io::Result<()> {
        self.tell_totals(listing, sink)?;
        verified.ignored = self.ignored.iter().sum();
        // Where all files are weakly proved, the summary says so anyway.
        if self.weak_files > 0 && self.weak_files < self.compared {
            let names: Vec<String> = self
                .weak_algorithms
                .iter()
                .map(Algorithm::to_string)
                .collect();
            let (files, algorithms) = (self.weak_files, names.join(", "));
            sink.event(Event::Note(&Note::WeaklyProved { files, algorithms }))?;
        }
        for (source, ignored) in listing.sources.iter().zip(&self.ignored) {
            if source.entries == *ignored {
                verified.idle_lists += 1;
                if listing.sources.len() > 1 {
                    let manifest = source.name.clone();
                    sink.event(Event::Note(&Note::NothingVerified { manifest }))?;
                }
            }
        }
        self.asides.tell(sink)
    }
}

fn jobs(listing: &Arc<Listing>) -> impl Iterator<Item = Job<usize>> + Send + 'static {
    let listing = Arc::clone(listing);
    let mut interned = Interned::default();
    (0..listing.entries.len()).map(move |index| {
        let entry = &listing.entries[index];
        Job {
            token: index,
            task: task(&listing, entry, &mut interned),
        }
    })
}

fn task(listing: &Listing, entry: &Listed, interned: &mut Interned) -> Option<Task> {
    let algorithms = entry.algorithms();
    if entry.trouble.is_some() || *entry.kind() != Kind::File || algorithms.is_empty() {
        return None;
    }
    // The name that every tool writes for standard input.
    let source = if entry.target().as_bytes() == b"-" {
        Source::Stdin
    } else {
        Source::File {
            path: listing.path_of(entry)?,
            links: Links::Follow,
        }
    };
    Some(Task::new(source, interned.get(algorithms)))
}

/// The few sets of algorithms that a list names, each kept once.
#[derive(Default)]
struct Interned(Vec<Arc<[Algorithm]>>);

impl Interned {
    fn get(&mut self, algorithms: Vec<Algorithm>) -> Arc<[Algorithm]> {
        if let Some(known) = self.0.iter().find(|known| ***known == *algorithms) {
            return Arc::clone(known);
        }
        let new: Arc<[Algorithm]> = algorithms.into();
        self.0.push(Arc::clone(&new));
        new
    }
}

fn judge(listing: &Listing, entry: &Listed, outcome: Option<Outcome>) -> Verdict {
    match outcome {
        Some(Outcome::Hashed(hashed)) => judge_contents(entry, &hashed),
        Some(Outcome::Failed(error)) if is_missing(&error) => Verdict::Missing,
        Some(Outcome::Failed(error)) => Verdict::Unreadable(error),
        Some(Outcome::Unstable(instability)) => Verdict::Unstable(instability),
        Some(Outcome::Unread(_)) => Verdict::Unread,
        None => match (&entry.trouble, listing.path_of(entry)) {
            (Some(reason), _) => Verdict::Unverified(reason.clone()),
            (None, None) => Verdict::Unverified(Unverified::ImpossibleName),
            (None, Some(path)) => judge_unread(entry, &path),
        },
    }
}

/// Every recorded digest and the size against what was read. A difference is a difference whatever
/// else could not be compared; without one, all must have been compared.
fn judge_contents(entry: &Listed, hashed: &Hashed) -> Verdict {
    let pairs = entry.known().zip(&hashed.digests);
    let compared = pairs.clone().count();
    let mut differences: Vec<Difference> = pairs
        .filter(|(expected, actual)| expected != actual)
        .map(|(&expected, &actual)| Difference::Digest { expected, actual })
        .collect();
    let size = hashed.size;
    if let Some(expected) = entry.size().filter(|expected| *expected != size) {
        differences.insert(
            0,
            Difference::Size {
                expected,
                actual: size,
            },
        );
    } else if !differences.is_empty() && is_untouched(entry, hashed) {
        return Verdict::Corrupt { differences, size };
    }
    if !differences.is_empty() {
        Verdict::Changed { differences, size }
    } else if let Some(name) = entry.unsupported() {
        Verdict::Unverified(Unverified::UnsupportedAlgorithm(name.into()))
    } else if compared == 0 || compared != entry.digests.len() || compared != hashed.digests.len() {
        Verdict::Unverified(Unverified::UnknownAlgorithm)
    } else {
        Verdict::Ok { size }
    }
}

/// Whether size and modification time are recorded and as recorded, so that nobody seems to have
/// written to the file.
fn is_untouched(entry: &Listed, hashed: &Hashed) -> bool {
    let now = hashed.modified.and_then(Timestamp::from_system);
    let same_time = entry
        .modified()
        .zip(now)
        .is_some_and(|(recorded, now)| recorded.agrees_with(now));
    same_time && entry.size() == Some(hashed.size)
}

/// What needs no reading: folders, links and devices, and files with no digest that can be computed.
fn judge_unread(entry: &Listed, path: &Path) -> Verdict {
    let failed = |error| FileError::new(Operation::Stat, path, error);
    let metadata = match path.symlink_metadata().map_err(failed) {
        Ok(metadata) => metadata,
        Err(error) if is_missing(&error) => return Verdict::Missing,
        Err(error) => return Verdict::Unreadable(error),
    };
    let expected = match entry.kind() {
        Kind::File => {
            return Verdict::Unverified(match entry.unsupported() {
                Some(name) => Unverified::UnsupportedAlgorithm(name.into()),
                None => Unverified::UnknownAlgorithm,
            });
        }
        Kind::Directory => "folder",
        Kind::Link(_) => "symbolic link",
        Kind::Special => "device, socket or pipe",
    };
    if !entry.digests.is_empty() {
        return Verdict::Unverified(Unverified::DigestOfNoFile);
    }
    let actual = kind_of(metadata.file_type());
    if expected != actual {
        let differences = vec![Difference::Kind { expected, actual }];
        return Verdict::Changed {
            differences,
            size: 0,
        };
    }
    match entry.kind() {
        Kind::Link(Some(target)) => judge_link(target, path),
        _ => Verdict::Present,
    }
}

fn judge_link(expected: &RelPath, path: &Path) -> Verdict {
    match std::fs::read_link(path) {
        Ok(target) => {
            let actual = RelPath::from_path(&target);
            if actual == *expected {
                return Verdict::Present;
            }
            let expected = expected.clone();
            let differences = vec![Difference::Target { expected, actual }];
            Verdict::Changed {
                differences,
                size: 0,
            }
        }
        Err(error) => Verdict::Unreadable(FileError::new(Operation::Read, path, error)),
    }
}

fn kind_of(file_type: FileType) -> &'static str {
    if file_type.is_file() {
        "file"
    } else if file_type.is_dir() {
        "folder"
    } else if file_type.is_symlink() {
        "symbolic link"
    } else {
        "device, socket or pipe"
    }
}

/// Only a name that leads nowhere is missing; one that may not be looked at is unreadable.
fn is_missing(error: &FileError) -> bool {
    error.io_error().kind() == io::ErrorKind::NotFound
}
