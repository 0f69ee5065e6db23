//! Lists against files: one verdict for every listed name, and for every file found.

mod base;
mod compare;
mod exact;
mod listing;
mod totals;
mod trial;

use std::collections::BTreeSet;
use std::fmt::{self, Debug, Formatter};
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use crate::algorithm::Algorithm;
use crate::engine;
use crate::error::Error;
use crate::event::{Event, Note, Sink};
use crate::manifest::{Format, Record};
use crate::relpath::RelPath;
use crate::walk::{Filter, LeaveOut};

pub use base::{Base, BaseChoice};
use compare::Compared;
use listing::Listing;

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
    /// A folder that holds its own manifests, already read.
    Package(Package),
}

impl Debug for ListInput {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stream(_) => f.write_str("Stream"),
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
    /// Listed files that are not there are passed over.
    pub ignore_missing: bool,
    /// Also look for files that are not listed, and for where missing ones went.
    pub exact: bool,
    /// Stop at the first verdict that is not ok.
    pub fail_fast: bool,
    /// Files that never count as new: the lists themselves.
    pub leave_out: LeaveOut,
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
    /// Entries that were not looked at because of `fail_fast`.
    pub not_checked: u64,
    /// Lists of which nothing was verified: they list nothing, or all of it was passed over. A run
    /// with such a list has not done its job, whatever the others prove.
    pub idle_lists: u64,
}

/// Verifies lists and tells `sink` of every listed name once, in the order of the lists.
///
/// All digests that the lists record for a file must match, in whichever lines they stand. Lines
/// that cannot be understood are told first. With `exact`, names that are not there follow when
/// the tree has been searched for them, and then the files that are not listed.
///
/// # Memory
///
/// The names and digests of the lists are held in memory, about 200 bytes an entry; with `exact`
/// also the whole path of every file that is listed or found.
///
/// # Errors
///
/// Those of [`engine::run`], and [`Error::File`] if a list cannot be read. Whatever concerns a
/// single name is a verdict.
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
    let mut listing = Listing::read(lists, options, sink)?;
    trial::settle_algorithms(&mut listing, engine, sink)?;
    listing.join_same_files();
    match listing.outside_base() {
        0 => {}
        names => sink
            .event(Event::Note(&Note::OutsideBase(names)))
            .map_err(Error::Output)?,
    }
    let listing = Arc::new(listing);
    if let Some(totals) = &options.totals {
        totals::count(&listing, totals, &engine.cancel)?;
    }
    let mut verified = Verified {
        bases: listing.bases(),
        ..Verified::default()
    };
    let compared = compare::compare(&listing, options, engine, sink, &mut verified)?;
    let exact = options.exact || listing.sources.iter().any(|source| source.exact.is_some());
    if let (true, Compared::Missing(missing)) = (exact, compared) {
        exact::search(&listing, missing, options, engine, sink)?;
    }
    Ok(verified)
}
