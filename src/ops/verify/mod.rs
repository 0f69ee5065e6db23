//! Lists against files: one verdict for every listed name, and for every file found.

mod base;
mod compare;
mod exact;
mod judge;
mod listed;
mod listing;
mod scrub;
mod search;
mod shift;
mod sources;
mod stream;
mod tally;
#[cfg(test)]
mod tests;
mod totals;
mod trial;

use std::collections::BTreeSet;
use std::fmt::{self, Debug, Formatter};
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use crate::algorithm::Algorithm;
use crate::engine;
use crate::error::Error;
use crate::event::Sink;
use crate::manifest::{Format, Record};
use crate::relpath::RelPath;
use crate::slice::Slice;
use crate::timestamp::Timestamp;
use crate::walk::{self, Filter, LeaveOut};

use super::asides::Before;
use super::journal::Journal;
pub use base::{Base, BaseChoice};
use compare::{Compared, Token};
use listed::Listed;
use listing::Listing;
pub use scrub::{Portion, ScrubState, ScrubStateError, Scrubbed};
use search::Search;
use sources::Sources;
use stream::Opened;
use tally::Tally;

/// A list to verify.
#[derive(Debug)]
pub struct List {
    /// Its name for reports.
    pub name: RelPath,
    /// Its path, whose name and folder are evidence; `None` for standard input.
    pub path: Option<PathBuf>,
    /// Its contents.
    pub input: ListInput,
}

/// Where the entries of a list come from.
pub enum ListInput {
    /// Bytes, in whatever format they are.
    Stream(Box<dyn Read + Send>),
    /// A regular file. It is read twice where that saves holding it in memory.
    File(File),
    /// Bytes that were read before, for instance to check their signature.
    Bytes(Arc<[u8]>),
    /// A folder that holds its own manifests, already read.
    Package(Package),
}

impl Debug for ListInput {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stream(_) => f.write_str("Stream"),
            Self::File(file) => f.debug_tuple("File").field(file).finish(),
            Self::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
            Self::Package(package) => f.debug_tuple("Package").field(package).finish(),
        }
    }
}

/// A folder that is verified as a whole, by manifests that lie in it. No name may lead out of it.
#[derive(Clone, Debug)]
pub struct Package {
    /// The folder that names are relative to.
    pub folder: PathBuf,
    /// The manifests, with what stands in them.
    pub parts: Vec<Part>,
    /// Where in it every file must be listed.
    pub exact: Option<ExactScope>,
    /// How much must lie in it.
    pub total: Option<RecordedTotal>,
}

/// What a package says of its files together. It is compared if every file is well: else that tells
/// why it does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedTotal {
    /// The manifest that says it.
    pub manifest: RelPath,
    /// Its line, counted from 1.
    pub line: u64,
    /// The folder in the package whose files are counted.
    pub below: RelPath,
    /// How many listed files there are.
    pub files: u64,
    /// How many bytes they have.
    pub bytes: u64,
}

/// One manifest of a package.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its name, for reports.
    pub name: RelPath,
    /// What stands in it.
    pub records: Vec<Record>,
}

/// Where every file must be listed.
#[derive(Clone, Debug, Default)]
pub struct ExactScope {
    /// A folder in the package; empty for all of it.
    pub below: RelPath,
    /// What need not be listed.
    pub filter: Filter,
}

/// How listed names lead to files elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Relocation {
    /// Leading components to drop.
    pub strip: usize,
    /// Leading components to replace; the first pair that fits is used.
    pub map: Vec<(RelPath, RelPath)>,
}

/// What is asked of a verification.
#[derive(Clone, Debug, Default)]
pub struct VerifyOptions {
    /// The folder that relative names start from; found out for each list if not given.
    pub base: BaseChoice,
    /// How listed names lead to files elsewhere.
    pub relocation: Relocation,
    /// The algorithm of digests whose lines do not say.
    pub algorithm: Option<Algorithm>,
    /// The format of the lists, if it is not to be detected.
    pub format: Option<Format>,
    /// Names that lead out of the base are refused, whatever the format, and nothing is opened there.
    pub confine: bool,
    /// Listed files that are not there are passed over.
    pub ignore_missing: bool,
    /// Whether to look also for files that are not listed, and for where missing ones went. If it is
    /// not said, this is done for lists that record what was walked when they were made.
    pub exact: Option<bool>,
    /// How to walk the bases of lists that do not record it. What is not as by default must be as
    /// recorded.
    pub walk: walk::Options,
    /// Files of which size and modification time are recorded and as recorded are not read.
    pub quick: bool,
    /// Only names of this slice are verified and looked for.
    pub slice: Option<Slice>,
    /// Stop at the first verdict that is not ok.
    pub fail_fast: bool,
    /// Files that never count as new: the lists themselves.
    pub leave_out: LeaveOut,
    /// How much is verified, and in which order.
    pub portion: Portion,
    /// Told the number and sizes of the listed files, by a thread that looks at each of them.
    pub totals: Option<Arc<engine::Totals>>,
}

/// What a verification did, beside its verdicts.
#[derive(Debug, Default)]
pub struct Verified {
    /// The folders that were used, each once.
    pub bases: Vec<Base>,
    /// Every algorithm that was compared.
    pub algorithms: BTreeSet<Algorithm>,
    /// Entries that were passed over because they are not there.
    pub ignored: u64,
    /// Entries that were not looked at because of `fail_fast`, or because the portion was done.
    pub not_checked: u64,
    /// Whether it was the portion that was done.
    pub portion_done: bool,
    /// What was not read of the listed files, since an earlier run that was stopped had read it.
    pub before: Before,
    /// Lists of which nothing was verified: they list nothing, or all of it was passed over. A run
    /// with such a list has not done its job, whatever the others prove.
    pub idle_lists: u64,
}

/// What a verification leaves however it ends.
#[derive(Debug, Default)]
pub struct Kept<'j> {
    /// Is kept up with the run. What an earlier run has left there and is still true is not read again:
    /// it is judged as if it had been. What could not be read is tried again. A run that ends before it
    /// has looked at everything leaves it.
    pub journal: Option<&'j mut Journal>,
    /// What is known for the next portion, if the options say what was known before. `None` also
    /// where a run failed before any entry was tried.
    pub scrubbed: Option<Scrubbed>,
}

/// Verifies lists and tells `sink` of every listed name once, in the order of the lists.
///
/// All digests that the lists record for a file must match, in whichever lines they stand. Lines
/// that cannot be understood are told first. Where unlisted files are looked for, names that are not
/// there follow when the tree has been searched for them, and then the files that are not listed.
///
/// A file is [`Moved`](crate::event::Verdict::Moved) if one that is not listed has all of its
/// digests and its size; each of the latter is taken for one of the former. Empty files never move.
///
/// # Memory
///
/// A single list that is no pipe and has its names in their order is read twice and streamed: what is
/// held is the names that are missing and those that are not listed. The names and digests of other
/// lists are held in memory, about 200 bytes an entry, and where unlisted files are looked for also
/// the whole path of every file that is listed or found.
///
/// # Errors
///
/// Those of [`engine::run`]; [`Error::File`] if a list cannot be read; [`Error::Scope`] if what it
/// records of its walk cannot be used, or if the options say otherwise. Whatever concerns a single
/// name is a verdict.
///
/// # Examples
///
/// See `examples/verify_copy.rs`.
pub fn verify(
    lists: Vec<List>,
    options: &VerifyOptions,
    engine: &engine::Options,
    sink: &mut dyn Sink,
) -> Result<Verified, Error> {
    verify_keeping(lists, options, engine, &mut Kept::default(), sink)
}

/// As [`verify`], with what is to be kept however it ends.
///
/// # Errors
///
/// Those of [`verify`], and [`Error::File`] if the journal cannot be written, or is of a run for which a
/// base was mounted otherwise ([`JournalError::MountedAnew`](super::JournalError::MountedAnew)).
pub fn verify_keeping(
    lists: Vec<List>,
    options: &VerifyOptions,
    engine: &engine::Options,
    kept: &mut Kept<'_>,
    sink: &mut dyn Sink,
) -> Result<Verified, Error> {
    let opened = match options.portion.is_limited() {
        true => Opened::Lists(lists),
        false => stream::open(lists, options, sink)?,
    };
    let prepared = match opened {
        Opened::Streamed(prepared) => *prepared,
        Opened::Lists(lists) => prepare(lists, options, engine, sink)?,
    };
    prepared.run(options, engine, kept, sink)
}

/// Everything that is to be compared, whether it is streamed or lies in memory.
struct Prepared {
    sources: Arc<Sources>,
    /// The entries; what limits or reorders them belongs round this iterator. What is met between
    /// them and is not listed comes along.
    tokens: Box<dyn Iterator<Item = Token> + Send>,
    /// How many entries there are.
    names: u64,
    /// The files that are listed, if somebody asks how much there is to read.
    paths: Option<Box<dyn Iterator<Item = Option<PathBuf>> + Send>>,
    /// What is left to be searched when all entries have been compared.
    late: Option<Late>,
}

/// Walks that need to know of every entry.
struct Late {
    entries: Arc<Vec<Listed>>,
    searches: Vec<Search>,
}

/// Reads everything into memory.
fn prepare(
    lists: Vec<List>,
    options: &VerifyOptions,
    engine: &engine::Options,
    sink: &mut dyn Sink,
) -> Result<Prepared, Error> {
    let mut listing = Listing::read(lists, options, sink)?;
    let searches = search::searches(&mut listing.sources, options)?;
    trial::settle_algorithms(&mut listing, engine, sink)?;
    let in_slice = in_slice(options.slice);
    if options.slice.is_some() {
        listing.count_entries(in_slice);
    }
    listing.join_same_files(in_slice);
    let (sources, entries) = (Arc::new(listing.sources), Arc::new(listing.entries));
    let names = entries.iter().filter(|entry| in_slice(entry)).count() as u64;
    let now = Timestamp::now();
    let asked = |entries: &Arc<Vec<Listed>>| {
        let order = options.portion.arrange(entries, now);
        let entries = Arc::clone(entries);
        let all = order
            .into_iter()
            .filter_map(move |index| entries.get(index).cloned());
        all.filter(move |entry| in_slice(entry))
    };
    let paths = options.totals.is_some().then(|| {
        let sources = Arc::clone(&sources);
        let paths = asked(&entries).map(move |entry| sources.path_of(&entry));
        Box::new(paths) as Box<dyn Iterator<Item = Option<PathBuf>> + Send>
    });
    let tokens = asked(&entries).map(Token::Entry);
    let tokens = options
        .portion
        .limit(tokens, Arc::clone(&sources), now, options.quick);
    Ok(Prepared {
        sources,
        tokens: Box::new(tokens),
        names,
        paths,
        late: Some(Late { entries, searches }),
    })
}

fn in_slice(slice: Option<Slice>) -> impl Fn(&Listed) -> bool + Copy + Send + 'static {
    move |entry| slice.is_none_or(|slice| slice.holds(entry.target()))
}

impl Prepared {
    fn run(
        self,
        options: &VerifyOptions,
        engine: &engine::Options,
        kept: &mut Kept<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Verified, Error> {
        let running = Arc::new(());
        if let (Some(paths), Some(totals)) = (self.paths, &options.totals) {
            totals::count(paths, Arc::downgrade(&running), totals, &engine.cancel)?;
        }
        let sources = self.sources;
        let mut tally = Tally::new(&sources);
        let mut verified = Verified {
            bases: sources.bases(),
            ..Verified::default()
        };
        if let Some(journal) = kept.journal.as_deref_mut() {
            journal.mind_mounts(verified.bases.iter().map(|base| &*base.folder))?;
        }
        let mut compared = Compared::default();
        let sums = (&mut tally, &mut verified, &mut compared);
        let journal = kept.journal.as_deref_mut();
        let ended = compare::compare(self.tokens, &sources, options, engine, sink, sums, journal);
        let has_tried = ended.is_ok() || !compared.tried.is_empty();
        if let (Some(before), Some(late), true) = (&options.portion.state, &self.late, has_tried) {
            let (tried, entries) = (std::mem::take(&mut compared.tried), &late.entries);
            kept.scrubbed = Some(Scrubbed::new(before, tried, entries, Timestamp::now()));
        }
        ended?;
        verified.before = tally.asides.before;
        let limited = options.portion.is_limited();
        if compared.stopped || limited {
            verified.not_checked = self.names.saturating_sub(tally.seen);
        }
        verified.portion_done = !compared.stopped && verified.not_checked > 0;
        if let (Some(journal), true) = (kept.journal.as_deref_mut(), compared.stopped) {
            journal.leave();
        }
        if !compared.stopped {
            if !verified.portion_done {
                tally.tell_totals(&sources, sink).map_err(Error::Output)?;
            }
            let mut strays = compared.strays;
            if let Some(late) = self.late.filter(|late| !late.searches.is_empty()) {
                if let Some(journal) = kept.journal.as_deref_mut() {
                    // A walk may take long, and tells the journal nothing.
                    journal.secure()?;
                }
                let mut known = listing::places(&sources, &late.entries);
                strays.extend(exact::strays(late.searches, &mut known, &engine.cancel)?);
            }
            let journal = kept.journal.as_deref_mut();
            let asides = &mut tally.asides;
            exact::settle(&compared.missing, strays, engine, journal, sink, asides)?;
        }
        tally
            .tell(&sources, sink, &mut verified)
            .map_err(Error::Output)?;
        Ok(verified)
    }
}
