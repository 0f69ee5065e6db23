//! All that the library says while it works: events, pushed into a [`Sink`] in order.

use std::fmt::{self, Display, Formatter};
use std::io;

use crate::algorithm::Algorithm;
use crate::counted::{agreeing, counted};
use crate::digest::Digest;
use crate::engine::{Hashed, Instability};
use crate::error::FileError;
use crate::manifest::{self, Malformed, Remark};
use crate::relpath::RelPath;
use crate::signature::SignatureKind;
use crate::timestamp::Timestamp;
use crate::walk::Special;

/// Receives events in order, always from one thread.
pub trait Sink {
    /// Takes one event. An error stops the run: it is passed on as [`crate::Error::Output`].
    fn event(&mut self, event: Event<'_>) -> io::Result<()>;
}

/// Something that happened to one name.
#[derive(Debug)]
pub enum Event<'a> {
    /// `hash`: a file was read to its end.
    Hashed {
        /// The name for the manifest.
        name: &'a RelPath,
        /// Its digests and size.
        hashed: &'a Hashed,
    },
    /// `hash`: a name that was found or asked for and has no digest. `verify`: every outcome.
    Verdict {
        /// The name as the manifest spells it, or as the walk found it.
        name: &'a RelPath,
        /// What came of it.
        verdict: &'a Verdict,
    },
    /// `verify`: a line of a manifest that could not be understood, or that cannot be used.
    Line {
        /// The manifest, as it was named on the command line.
        manifest: &'a RelPath,
        /// Its line (or record), counted from 1.
        line: u64,
        /// Why.
        reason: &'a Malformed,
    },
    /// `verify`: what a manifest was taken for, when all of it has been read.
    Taken {
        /// The manifest, as it was named on the command line.
        manifest: &'a RelPath,
        /// Format and algorithm, with the reasons.
        evidence: &'a manifest::Evidence,
    },
    /// Something in the tree that is never opened.
    Skipped {
        /// Its name.
        name: &'a RelPath,
        /// What it is.
        kind: Special,
    },
    /// Something that the user should know and that concerns no single name.
    Note(&'a Note),
}

/// Something that the user should know and that concerns no single name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Note {
    /// Nothing but the files themselves could tell the algorithm of a list.
    #[error("{manifest}: algorithm {algorithm}, found by trial on {}", counted(*.files as u64, "file"))]
    FoundByTrial {
        /// The list.
        manifest: RelPath,
        /// What the digests turned out to be.
        algorithm: Algorithm,
        /// How many files agreed.
        files: usize,
    },
    /// Trial found nothing, so the usual algorithm for the length is taken.
    #[error(
        "{manifest}: algorithm {taken} taken for want of evidence (also tried: {tried}); -a names another"
    )]
    TrialFailed {
        /// The list.
        manifest: RelPath,
        /// What is used.
        taken: Algorithm,
        /// What matched no file either, separated by commas.
        tried: String,
    },
    /// The file system refused to bypass the page cache.
    #[error(
        "--io direct: the file system refused it for {}, which {} read through the page cache",
        counted(*.0, "file"),
        agreeing(*.0, "was", "were")
    )]
    DirectRefused(u64),
    /// A manifest that records its base as an absolute path: wherever it is copied, it is the same
    /// folder that is verified.
    #[error(
        "{manifest}: records {base} as its base, and not the folder that it is in; -C names another"
    )]
    RecordedElsewhere {
        /// The manifest.
        manifest: RelPath,
        /// The folder.
        base: RelPath,
    },
    /// The names of a list lead nowhere from its own folder, and somewhere from the current one.
    #[error(
        "{manifest}: no listed file is in its own folder; the current folder was taken (-C names another)"
    )]
    CurrentFolder {
        /// The list.
        manifest: RelPath,
    },
    /// Something that the reader of a manifest noticed.
    #[error("{manifest}:{line}: {remark}")]
    Remark {
        /// The manifest.
        manifest: RelPath,
        /// Its line, counted from 1.
        line: u64,
        /// What was noticed.
        remark: Remark,
    },
    /// Names that were found under another spelling.
    #[error(
        "{manifest}: {} with backslashes or escapes {} found only under the other name that {} may \
         stand for",
        counted(*.names, "name"),
        agreeing(*.names, "was", "were"),
        agreeing(*.names, "it", "they")
    )]
    OtherSpelling {
        /// The list.
        manifest: RelPath,
        /// How many.
        names: u64,
    },
    /// The signature of a manifest was checked, and is good.
    #[error("{manifest}: its {} signature is good", .kind.as_str())]
    Signed {
        /// The manifest.
        manifest: RelPath,
        /// What it is signed with.
        kind: SignatureKind,
    },
    /// A key was given for the signatures of manifests, and this one has none.
    #[error(
        "{manifest}: it has no signature; nothing vouches for it (--require-signature refuses it)"
    )]
    Unsigned {
        /// The manifest, or a folder that holds its own.
        manifest: RelPath,
    },
    /// Files that no run with the present state has found to be as listed.
    #[error(
        "{} {} never found well since this state was begun",
        counted(*.0, "listed file"),
        agreeing(*.0, "was", "were")
    )]
    NeverProved(u64),
    /// The file that has waited longest to be verified again.
    #[error(
        "the file that has waited longest was last found well {} ago, at {}",
        counted(*.days, "day"),
        .since.to_seconds()
    )]
    LongestWait {
        /// When it was last found to be as listed.
        since: Timestamp,
        /// How many whole days ago.
        days: u64,
    },
    /// A list of which nothing was verified, beside others.
    #[error("{manifest}: nothing was verified")]
    NothingVerified {
        /// The list.
        manifest: RelPath,
    },
    /// Some of the files were compared with weak algorithms only.
    #[error(
        "not proof against tampering: {} {} compared with {algorithms} only",
        counted(*.files, "file"),
        agreeing(*.files, "was", "were")
    )]
    WeaklyProved {
        /// How many.
        files: u64,
        /// With what, separated by commas.
        algorithms: String,
    },
    /// A file that is recorded under a new name.
    #[error("renamed from {from} to {to}")]
    Renamed {
        /// The name that was recorded before.
        from: RelPath,
        /// The name now.
        to: RelPath,
    },
    /// Entries that an update left as they are, since the files do not agree with them though nobody
    /// seems to have written to them.
    #[error(
        "silent damage: {} {} other contents than recorded, though by the modification {} nobody has \
         written to {}; the old {} kept. Restore what is damaged; or, if the contents are right, touch \
         {} and update again",
        counted(*.0, "file"),
        agreeing(*.0, "has", "have"),
        agreeing(*.0, "time", "times"),
        agreeing(*.0, "it", "them"),
        agreeing(*.0, "entry is", "entries are"),
        agreeing(*.0, "it", "them")
    )]
    DamageKept(u64),
    /// Files that an update did not read, since nothing but the date of a list says that they are
    /// unchanged.
    #[error(
        "{} {} taken for unchanged by the date of the list alone; a list that was copied must be \
         checked with verify first",
        counted(*.files, "file"),
        agreeing(*.files, "was", "were")
    )]
    TrustedDate {
        /// How many.
        files: u64,
    },
    /// A list that lies elsewhere than in the folder that its names are relative to, and cannot say so.
    #[error("names are relative to {base}; verify with -C from there")]
    RelativeTo {
        /// The folder, seen from that of the list.
        base: RelPath,
    },
    /// Entries of files that are gone, which an update dropped.
    #[error(
        "{} of files that are gone {} dropped",
        counted(*.0, "entry"),
        agreeing(*.0, "was", "were")
    )]
    Pruned(u64),
    /// Entries of files that are gone, which an update kept.
    #[error(
        "{} of files that are gone {} kept; --prune drops {}",
        counted(*.0, "entry"),
        agreeing(*.0, "was", "were"),
        agreeing(*.0, "it", "them")
    )]
    GoneKept(u64),
    /// A signature beside a manifest that was written anew.
    #[error("{signature}: the signature is of the manifest as it was before; sign it again")]
    SignatureOutdated {
        /// The signature.
        signature: RelPath,
    },
    /// A history that was left as it is.
    #[error(
        "no generation was added to the history: there is no file, or not every one could be read"
    )]
    NoGeneration,
    /// Folders that no manifest can list.
    #[error("{} cannot be listed in a bag", counted(*.0, "empty folder"))]
    EmptyFolders(u64),
    /// A bag that an earlier run had begun to make.
    #[error(
        "{folder}: an earlier run had been stopped while it made the bag; {}",
        if *.completed { "it is complete now" } else { "all files were put back first" }
    )]
    UnfinishedBag {
        /// The folder.
        folder: RelPath,
        /// Whether that bag was completed; else everything was put back.
        completed: bool,
    },
    /// Files whose modification times all differ from the recorded ones by the same whole hours.
    #[error(
        "clock shift: the modification times of all {files} files that are ok differ from the \
         recorded ones by {hours:+} h, as where a file system keeps local time"
    )]
    ClockShift {
        /// By how much the files are later.
        hours: i64,
        /// How many.
        files: u64,
    },
    /// Files that a look at size and time could not settle.
    #[error(
        "--quick: {} {} read, since no size and modification time are recorded",
        counted(*.0, "file"),
        agreeing(*.0, "was", "were")
    )]
    NotQuick(u64),
    /// Nothing was left by an earlier run.
    #[error("--resume: there was no journal of an earlier run to go on from")]
    NothingToResume,
    /// What an earlier run had left was not used.
    #[error(
        "{journal}: {} that an earlier run had done {} hashed anew, since --resume was not given",
        counted(*.files, "file"),
        agreeing(*.files, "was", "were")
    )]
    JournalUnused {
        /// The journal.
        journal: RelPath,
        /// How many.
        files: u64,
    },
    /// What an earlier run had left is damaged; what was done after that is done again.
    #[error("{journal}: damaged or cut off at byte {place}; what followed was not used")]
    JournalDamaged {
        /// The journal.
        journal: RelPath,
        /// Where.
        place: u64,
    },
    /// Names that lead out of the base.
    #[error("{} {} outside the base", counted(*.0, "listed name"), agreeing(*.0, "lies", "lie"))]
    OutsideBase(u64),
    /// Reads that failed and succeeded when tried again.
    #[error("{} succeeded when tried again: the medium may be failing", counted(*.0, "failed read"))]
    RetriedReads(u64),
}

/// The words of every report. Each listed name and each file found gets exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OutcomeWord {
    /// Read to the end; all recorded digests match.
    Ok,
    /// A digest differs.
    Changed,
    /// Size and time are as recorded and a digest differs: silent damage.
    Corrupt,
    /// Listed and not there.
    Missing,
    /// Listed and not there, but an unlisted file has the same content.
    Moved,
    /// Found and not listed.
    New,
    /// Could not be opened or read to the end.
    Unreadable,
    /// Changed while it was being read.
    Unstable,
    /// Nothing usable to compare with.
    Unverified,
    /// Not read, as was asked, since size and modification time are as recorded.
    Unread,
}

impl OutcomeWord {
    /// All words, in the order of summaries.
    pub const ALL: [Self; 10] = [
        Self::Ok,
        Self::Changed,
        Self::Corrupt,
        Self::Missing,
        Self::Moved,
        Self::New,
        Self::Unreadable,
        Self::Unstable,
        Self::Unverified,
        Self::Unread,
    ];

    /// The word itself.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Changed => "changed",
            Self::Corrupt => "corrupt",
            Self::Missing => "missing",
            Self::Moved => "moved",
            Self::New => "new",
            Self::Unreadable => "unreadable",
            Self::Unstable => "unstable",
            Self::Unverified => "unverified",
            Self::Unread => "unread",
        }
    }

    /// What the word means for the run as a whole.
    pub fn severity(self) -> Severity {
        match self {
            Self::Ok | Self::Unread => Severity::Well,
            Self::Changed | Self::Corrupt | Self::Missing | Self::Moved | Self::New => {
                Severity::Different
            }
            Self::Unreadable | Self::Unstable | Self::Unverified => Severity::Incomplete,
        }
    }
}

impl Display for OutcomeWord {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How a run ended, worst last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// All was done and all is well.
    #[default]
    Well,
    /// All was done and something differs.
    Different,
    /// The job could not be done in full.
    Incomplete,
}

/// The outcome for one name, with its reasons.
#[derive(Debug)]
pub enum Verdict {
    /// Read to the end; all recorded digests match.
    Ok {
        /// Bytes read.
        size: u64,
    },
    /// A folder, link or device is there as recorded; nothing was read.
    Present,
    /// A digest or the size differs, or what the name leads to is something else.
    Changed {
        /// Everything that differs; never empty.
        differences: Vec<Difference>,
        /// Bytes read.
        size: u64,
    },
    /// A digest differs, though size and modification time are as recorded.
    Corrupt {
        /// Every digest that differs; never empty.
        differences: Vec<Difference>,
        /// Bytes read.
        size: u64,
    },
    /// Listed and not there.
    Missing,
    /// Listed and not there, but an unlisted file has the same content.
    Moved {
        /// The name of that file.
        to: RelPath,
    },
    /// Found and not listed.
    New,
    /// Could not be opened or read to the end.
    Unreadable(FileError),
    /// Changed while it was being read.
    Unstable(Instability),
    /// Nothing usable to compare with.
    Unverified(Unverified),
    /// Not read, as was asked, since size and modification time are as recorded.
    Unread,
}

/// Something that is not as recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// A digest.
    Digest {
        /// What the manifest says.
        expected: Digest,
        /// What the file gave.
        actual: Digest,
    },
    /// The size in bytes.
    Size {
        /// What the manifest says.
        expected: u64,
        /// What was read.
        actual: u64,
    },
    /// Where a symbolic link leads.
    Target {
        /// What the manifest says.
        expected: RelPath,
        /// Where it leads.
        actual: RelPath,
    },
    /// What stands there.
    Kind {
        /// What the manifest says.
        expected: &'static str,
        /// What is there.
        actual: &'static str,
    },
}

impl Difference {
    /// What differs, and the two values, for reports.
    pub fn parts(&self) -> (String, String, String) {
        match self {
            Self::Digest { expected, actual } => {
                let algorithm = expected.algorithm().to_string();
                (algorithm, expected.to_string(), actual.to_string())
            }
            Self::Size { expected, actual } => {
                ("size".to_owned(), expected.to_string(), actual.to_string())
            }
            Self::Target { expected, actual } => {
                ("link".to_owned(), expected.to_string(), actual.to_string())
            }
            Self::Kind { expected, actual } => (
                "type".to_owned(),
                (*expected).to_owned(),
                (*actual).to_owned(),
            ),
        }
    }
}

/// Why an entry could not be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unverified {
    /// Two lines claim different digests of the same algorithm.
    #[error("contradictory entries: two different {0} digests are listed")]
    Contradiction(Algorithm),
    /// Two lines claim different things of the same name.
    #[error("contradictory entries: two different values of its {0} are listed")]
    ContradictoryField(&'static str),
    /// The digest could belong to several algorithms and nothing says to which.
    #[error("no way to tell which algorithm the digest belongs to; name it with -a")]
    UnknownAlgorithm,
    /// The manifest gives a digest that this program does not compute.
    #[error("a {0} digest cannot be computed; -a names one of the others")]
    UnsupportedAlgorithm(Box<str>),
    /// The manifest gives the digest of something that is no file.
    #[error("a digest of something that is listed as a folder, link or device")]
    DigestOfNoFile,
    /// The manifest gives no digest, or none that may be used.
    #[error("no digest to compare with")]
    NoDigest,
    /// A name that leads out of the folder that the manifest is confined to.
    #[error("the name leads out of the base")]
    OutsideBase,
    /// The manifest itself says that the file was not hashed.
    #[error("recorded as not hashed; 'multisum update' hashes what can be read now")]
    Gap,
    /// The two sides of a comparison have digests of different algorithms.
    #[error("no algorithm in common: {old} in the old one, {new} in the new one")]
    NothingInCommon {
        /// Those of the old side, separated by commas.
        old: String,
        /// Those of the new side.
        new: String,
    },
    /// The walk was not to come there.
    #[error("listed, and left out of the walk")]
    NotWalked,
    /// Nobody knows whether it is there.
    #[error("it may lie in a folder that could not be read")]
    FolderUnread,
    /// Standard input, which is a list itself.
    #[error("standard input is a list itself")]
    StandardInput,
    /// The name cannot exist on this platform.
    #[error("this platform cannot have a file of that name")]
    ImpossibleName,
    /// `--strip` leaves nothing of the name.
    #[error("--strip leaves nothing of the name")]
    NothingLeft,
}

impl Verdict {
    /// The word for reports and counts.
    pub fn word(&self) -> OutcomeWord {
        match self {
            Self::Ok { .. } | Self::Present => OutcomeWord::Ok,
            Self::Changed { .. } => OutcomeWord::Changed,
            Self::Corrupt { .. } => OutcomeWord::Corrupt,
            Self::Missing => OutcomeWord::Missing,
            Self::Moved { .. } => OutcomeWord::Moved,
            Self::New => OutcomeWord::New,
            Self::Unreadable(_) => OutcomeWord::Unreadable,
            Self::Unstable(_) => OutcomeWord::Unstable,
            Self::Unverified(_) => OutcomeWord::Unverified,
            Self::Unread => OutcomeWord::Unread,
        }
    }
}
