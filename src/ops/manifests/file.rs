//! A manifest that is read more than once.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::error::{Error, FileError, Operation};
use crate::event::{Event, Sink};
use crate::manifest::{
    Claim, ClaimedDigest, Content, Evidence, Header, Hints, Kind, Reader, Record,
};
use crate::relpath::RelPath;

use super::super::asides::{open_manifest, tell_malformed, tell_remark};
use super::Item;

/// A manifest that is read more than once, so that little of it need be kept in memory.
#[derive(Debug)]
pub struct ManifestFile {
    name: RelPath,
    contents: Contents,
    hints: Hints,
}

#[derive(Debug)]
enum Contents {
    File(File),
    Memory(Arc<[u8]>),
}

impl ManifestFile {
    /// A regular file. It stays open, so that every reading is of the same file, whatever its name
    /// leads to meanwhile. `name` is for reports.
    pub fn of_file(name: RelPath, file: File, hints: Hints) -> Self {
        let contents = Contents::File(file);
        Self {
            name,
            contents,
            hints,
        }
    }

    /// Bytes that could be read only once, or were proved to be what somebody signed.
    pub fn of_bytes(name: RelPath, bytes: impl Into<Arc<[u8]>>, hints: Hints) -> Self {
        let contents = Contents::Memory(bytes.into());
        Self {
            name,
            contents,
            hints,
        }
    }

    /// Its name for reports.
    pub fn name(&self) -> &RelPath {
        &self.name
    }

    /// Where it lies, if it is no stream.
    pub fn path(&self) -> Option<&Path> {
        self.hints.list_name.as_deref()
    }

    /// What says when it was written, if it is a file.
    pub fn file(&self) -> Option<&File> {
        match &self.contents {
            Contents::File(file) => Some(file),
            Contents::Memory(_) => None,
        }
    }

    fn shown(&self) -> PathBuf {
        self.path()
            .map_or_else(|| PathBuf::from("standard input"), Path::to_owned)
    }

    /// Its records, from the beginning. Only one reading can be under way.
    fn reader(&self) -> Result<Reader<'static>, Error> {
        open_manifest(self.bytes()?, &self.hints, &self.shown())
    }

    /// Its bytes as they are stored, from the beginning. It counts as a reading.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub(in super::super) fn bytes(&self) -> Result<Box<dyn Read + Send>, Error> {
        let failed = |error| FileError::new(Operation::Read, self.shown(), error);
        match &self.contents {
            Contents::Memory(bytes) => Ok(Box::new(Cursor::new(Arc::clone(bytes)))),
            Contents::File(file) => {
                let mut file = file.try_clone().map_err(failed)?;
                file.rewind().map_err(failed)?;
                Ok(Box::new(file))
            }
        }
    }

    /// Reads all of it once and tells `sink` of the lines that cannot be used.
    ///
    /// # Errors
    ///
    /// It cannot be read, is no manifest at all, or what `sink` says.
    pub fn survey(&self, sink: &mut dyn Sink) -> Result<Survey, Error> {
        let mut reader = self.reader()?;
        let mut survey = Survey::new(reader.evidence());
        let mut last = None;
        for record in reader.by_ref() {
            let record =
                record.map_err(|error| FileError::new(Operation::Read, self.shown(), error))?;
            survey.take(record, &self.name, &mut last, sink)?;
        }
        survey.evidence = reader.evidence();
        Ok(survey)
    }

    /// What it says of each name, in the order of names, each once.
    ///
    /// Untagged digests that could belong to several algorithms are taken for those of the usual one.
    /// The iterator gives an error if the manifest is no longer what it was when it was surveyed.
    ///
    /// # Memory
    ///
    /// One item, if the survey says that they stand in that order; else all of them.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn items(&self, survey: &Survey) -> Result<Items, Error> {
        let joined = Joined {
            reader: self.reader()?,
            path: self.shown(),
            pending: None,
            left: survey.records,
        };
        if survey.in_order {
            return Ok(Items(Source::Stream(Box::new(joined))));
        }
        let mut items = joined.collect::<Result<Vec<_>, _>>()?;
        items.sort_by(|a, b| a.name.normalised().cmp(&b.name.normalised()));
        items.dedup_by(|later, earlier| {
            let same = later.name.normalised() == earlier.name.normalised();
            if same {
                let name = later.name.clone();
                earlier.absorb(std::mem::replace(later, Item::new(name)));
            }
            same
        });
        Ok(Items(Source::Memory(items.into_iter())))
    }
}

/// A manifest that has been read once.
#[derive(Debug)]
pub struct SurveyedManifest {
    /// The manifest.
    pub file: ManifestFile,
    /// What the reading has shown.
    pub survey: Survey,
}

impl SurveyedManifest {
    /// Reads all of it once and tells `sink` of the lines that cannot be used and of what it was
    /// taken for.
    ///
    /// # Errors
    ///
    /// Those of [`ManifestFile::survey`].
    pub fn new(file: ManifestFile, sink: &mut dyn Sink) -> Result<Self, Error> {
        let survey = file.survey(sink)?;
        let taken = Event::Taken {
            manifest: file.name(),
            evidence: &survey.evidence,
        };
        sink.event(taken).map_err(Error::Output)?;
        Ok(Self { file, survey })
    }

    /// What it says of each name; see [`ManifestFile::items`].
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn items(&self) -> Result<Items, Error> {
        self.file.items(&self.survey)
    }
}

/// What one reading of a manifest has shown.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Format and algorithm, with the reasons.
    pub evidence: Evidence,
    /// What it says of itself.
    pub header: Option<Header>,
    /// Lines or records with a claim.
    pub claims: u64,
    /// Files that were known and not hashed.
    pub gaps: u64,
    /// The sum of all sizes that are recorded.
    pub bytes: u64,
    /// Names, each once if they stand in their order.
    pub names: u64,
    /// Some of them are absolute.
    pub absolute: bool,
    /// Lines that cannot be used.
    pub malformed: u64,
    /// It is incomplete, was altered or is otherwise damaged as a whole.
    pub spoiled: bool,
    /// The names stand in their order, in normal form, with the lines of one name together.
    pub in_order: bool,
    /// Nothing but files with digests of known algorithms, under names that have one meaning.
    pub plain: bool,
    /// The algorithms of all digests as `items` gives them, in the order in which they are met.
    pub met: Vec<Algorithm>,
    /// Algorithms that cannot be computed, and how many entries have a digest of each.
    pub unsupported: BTreeMap<Box<str>, u64>,
    /// Every record but headers and remarks.
    records: u64,
}

impl Survey {
    fn new(evidence: Evidence) -> Self {
        Self {
            evidence,
            header: None,
            claims: 0,
            gaps: 0,
            bytes: 0,
            names: 0,
            absolute: false,
            malformed: 0,
            spoiled: false,
            in_order: true,
            plain: true,
            met: Vec::new(),
            unsupported: BTreeMap::new(),
            records: 0,
        }
    }

    fn take(
        &mut self,
        record: Record,
        manifest: &RelPath,
        last: &mut Option<RelPath>,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let line = record.line;
        match record.content {
            Content::Claim(claim) => {
                self.claim(&claim);
                self.place(claim.name, last);
            }
            Content::Gap { name, .. } => {
                self.gaps += 1;
                self.records += 1;
                self.place(name, last);
            }
            Content::Header(header) => self.header = Some(*header),
            Content::Malformed(reason) => {
                self.malformed += 1;
                self.records += 1;
                self.spoiled |= reason.spoils_the_manifest();
                tell_malformed(manifest, line, &reason, sink)?;
            }
            Content::Remark(remark) => tell_remark(manifest, line, remark, sink)?,
        }
        Ok(())
    }

    fn claim(&mut self, claim: &Claim) {
        self.claims += 1;
        self.records += 1;
        self.bytes = self.bytes.saturating_add(claim.size.unwrap_or(0));
        let mut known = true;
        for digest in &claim.digests {
            match digest {
                ClaimedDigest::Known(digest) => {
                    self.meet(Some(digest.algorithm()));
                }
                ClaimedDigest::OneOf { candidates, .. } => {
                    self.meet(candidates.first().copied());
                    known = false;
                }
                ClaimedDigest::Unsupported(name) => {
                    *self.unsupported.entry(name.clone()).or_default() += 1;
                    known = false;
                }
            }
        }
        let is_file = claim.kind == Kind::File && claim.other_name.is_none();
        self.plain &= known && is_file && !claim.digests.is_empty();
    }

    /// Whether each name is known to stand only once, so that nothing can contradict it.
    pub(in super::super) fn names_stand_once(&self) -> bool {
        self.in_order && self.names == self.claims + self.gaps
    }

    fn meet(&mut self, algorithm: Option<Algorithm>) {
        self.met
            .extend(algorithm.filter(|algorithm| !self.met.contains(algorithm)));
    }

    fn place(&mut self, name: RelPath, last: &mut Option<RelPath>) {
        let normal = matches!(name.normalised(), std::borrow::Cow::Borrowed(_));
        self.in_order &= normal && last.as_ref().is_none_or(|last| *last <= name);
        self.names += u64::from(last.as_ref() != Some(&name));
        self.absolute |= name.is_absolute();
        *last = Some(name);
    }
}

/// What a manifest says of each name, in order; made by [`ManifestFile::items`].
#[derive(Debug)]
pub struct Items(Source);

#[derive(Debug)]
enum Source {
    Stream(Box<Joined>),
    Memory(std::vec::IntoIter<Item>),
}

impl Iterator for Items {
    type Item = Result<Item, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Source::Stream(joined) => joined.next(),
            Source::Memory(items) => items.next().map(Ok),
        }
    }
}

/// Joins neighbouring records of the same name.
struct Joined {
    reader: Reader<'static>,
    path: PathBuf,
    pending: Option<Item>,
    /// Records that the survey has counted and that are still to come.
    left: u64,
}

impl Debug for Joined {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Joined")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl Joined {
    fn failed(&self, error: io::Error) -> Error {
        FileError::new(Operation::Read, &self.path, error).into()
    }

    fn changed(&self) -> Error {
        self.failed(io::Error::other("it was changed meanwhile"))
    }

    /// The item that an item of the next record completes, if it is of another name.
    fn push(&mut self, next: Item) -> Option<Item> {
        match &mut self.pending {
            Some(pending) if pending.name == next.name => {
                pending.absorb(next);
                None
            }
            pending => pending.replace(next),
        }
    }
}

impl Iterator for Joined {
    type Item = Result<Item, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some(record) = self.reader.next() else {
                return match self.left {
                    0 => self.pending.take().map(Ok),
                    _ => {
                        self.left = 0;
                        self.pending = None;
                        Some(Err(self.changed()))
                    }
                };
            };
            let record = match record {
                Ok(record) => record,
                Err(error) => return Some(Err(self.failed(error))),
            };
            let next = match record.content {
                Content::Claim(claim) => Some(Item::of_claim(with_usual_algorithms(claim))),
                Content::Gap { name, kind } => Some(Item::of_gap(name, kind)),
                Content::Malformed(_) => None,
                Content::Header(_) | Content::Remark(_) => continue,
            };
            let Some(left) = self.left.checked_sub(1) else {
                return Some(Err(self.changed()));
            };
            self.left = left;
            if let Some(complete) = next.and_then(|next| self.push(next)) {
                return Some(Ok(complete));
            }
        }
    }
}

/// Takes digests that could belong to several algorithms for those of the usual one.
fn with_usual_algorithms(mut claim: Claim) -> Claim {
    for digest in &mut claim.digests {
        let usual = match &*digest {
            ClaimedDigest::OneOf { bytes, candidates } => candidates
                .first()
                .and_then(|usual| Digest::new(*usual, bytes)),
            _ => None,
        };
        if let Some(usual) = usual {
            *digest = ClaimedDigest::Known(usual);
        }
    }
    claim
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Quiet(u64);

    impl Sink for Quiet {
        fn event(&mut self, event: Event<'_>) -> io::Result<()> {
            self.0 += u64::from(matches!(event, Event::Line { .. }));
            Ok(())
        }
    }

    const MD5: &str = "9dd4e461268c8034f5c8564e155c67a6";

    fn manifest(text: &str) -> ManifestFile {
        let text = text.replace("MD5!", MD5);
        ManifestFile::of_bytes(RelPath::from("M"), text.into_bytes(), Hints::default())
    }

    fn names(manifest: &ManifestFile) -> (bool, Vec<String>) {
        let survey = manifest.survey(&mut Quiet(0)).unwrap();
        let items = manifest.items(&survey).unwrap();
        let names = items.map(|item| item.unwrap().name.to_string());
        (survey.in_order, names.collect())
    }

    #[test]
    fn names_come_in_order_whether_or_not_they_stand_so() {
        let sorted = manifest("MD5!  a\nMD5!  a/b\nMD5!  a.txt\n");
        assert_eq!(
            names(&sorted),
            (true, ["a", "a/b", "a.txt"].map(String::from).into())
        );
        let unsorted = manifest("MD5!  a.txt\nMD5!  a\nMD5!  a/b\n");
        assert_eq!(names(&unsorted), (false, names(&sorted).1));
        let odd = manifest("MD5!  ./a\nMD5!  b\n");
        assert!(!names(&odd).0);
    }

    #[test]
    fn lines_of_one_name_are_one_item_near_or_far() {
        let sha1 = "da39a3ee5e6b4b0d3255bfef95601890afd80709";
        let near = format!("MD5 (a) = MD5!\nSHA1 (a) = {sha1}\nMD5 (b) = MD5!\n");
        let far = format!("MD5 (a) = MD5!\nMD5 (b) = MD5!\nSHA1 (a) = {sha1}\n");
        for (text, in_order) in [(near, true), (far, false)] {
            let manifest = manifest(&text);
            let survey = manifest.survey(&mut Quiet(0)).unwrap();
            assert_eq!(survey.in_order, in_order);
            let items: Vec<Item> = manifest
                .items(&survey)
                .unwrap()
                .map(Result::unwrap)
                .collect();
            let digests = items.iter().map(|item| item.digests.len());
            assert_eq!(digests.collect::<Vec<_>>(), [2, 1]);
        }
    }

    #[test]
    fn a_manifest_that_changes_between_two_readings_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("SUMS");
        for (before, after) in [
            ("MD5!  a\nMD5!  b\n", "MD5!  a\n"),
            ("MD5!  a\n", "MD5!  a\nMD5!  b\n"),
        ] {
            std::fs::write(&path, before.replace("MD5!", MD5)).unwrap();
            let file = File::open(&path).unwrap();
            let manifest = ManifestFile::of_file(RelPath::from("M"), file, Hints::default());
            let survey = manifest.survey(&mut Quiet(0)).unwrap();
            std::fs::write(&path, after.replace("MD5!", MD5)).unwrap();
            let ended: Result<Vec<Item>, Error> = manifest.items(&survey).unwrap().collect();
            assert!(matches!(ended, Err(Error::File(_))), "{ended:?}");
        }
    }

    #[test]
    fn lines_that_cannot_be_used_are_told_once() {
        let manifest = manifest("MD5!  a\njunk\nMD5!  b\n");
        let mut sink = Quiet(0);
        let survey = manifest.survey(&mut sink).unwrap();
        assert_eq!((sink.0, survey.malformed, survey.claims), (1, 1, 2));
        assert_eq!(manifest.items(&survey).unwrap().count(), 2);
    }
}
