//! Everything that the lists claim, one entry for each file.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::error::{Error, FileError, Operation};
use crate::event::{Event, Note, Sink, Unverified};
use crate::manifest::{Claim, ClaimedDigest, Content, Hints, Kind, Record};
use crate::relpath::RelPath;
use crate::timestamp::Modified;

use super::super::asides::{open_manifest, tell_malformed, tell_remark};
use super::base::BaseReason;
use super::base::{Links, PlacedBase};
use super::{Base, ExactScope, List, ListInput, Package, RecordedTotal, Relocation, VerifyOptions};

/// All lists, read.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) sources: Vec<ListSource>,
    /// In the order of the lists.
    pub(super) entries: Vec<Listed>,
    /// Whether one of the lists is standard input, which then is no file to verify.
    reads_stdin: bool,
}

/// One of the lists.
#[derive(Debug)]
pub(super) struct ListSource {
    pub(super) name: RelPath,
    pub(super) base: Base,
    /// Entries that stand in it, those joined with an entry of another list included.
    pub(super) entries: u64,
    /// Whether no name of it may lead out of the base.
    confined: bool,
    /// Whether links were followed when it was made, so that they may lead anywhere.
    follows_links: bool,
    /// Where every file must be listed, whatever the options say.
    pub(super) exact: Option<ExactScope>,
    /// How much it says there must be.
    pub(super) total: Option<RecordedTotal>,
}

/// What the lists claim of one file.
#[derive(Debug)]
pub(super) struct Listed {
    /// The name as listed.
    pub(super) name: RelPath,
    /// The name after relocation, where that is another.
    relocated: Option<RelPath>,
    /// The list it stands in, as an index into [`Listing::sources`].
    pub(super) source: u32,
    pub(super) digests: Vec<ClaimedDigest>,
    /// Why it cannot be compared, if so.
    pub(super) trouble: Option<Unverified>,
    /// What few formats say. Boxed, since a million entries are kept.
    extras: Option<Box<Extras>>,
}

/// What an entry says beside digests.
#[derive(Clone, Debug)]
struct Extras {
    size: Option<u64>,
    modified: Option<Modified>,
    kind: Kind,
    other_name: Option<RelPath>,
}

impl Listed {
    /// The name that leads to the file.
    pub(super) fn target(&self) -> &RelPath {
        self.relocated.as_ref().unwrap_or(&self.name)
    }

    /// The size that it must have, in bytes.
    pub(super) fn size(&self) -> Option<u64> {
        self.extras.as_ref()?.size
    }

    /// When it was last modified before it was hashed.
    pub(super) fn modified(&self) -> Option<Modified> {
        self.extras.as_ref()?.modified
    }

    /// What must stand there.
    pub(super) fn kind(&self) -> &Kind {
        self.extras
            .as_ref()
            .map_or(&Kind::File, |extras| &extras.kind)
    }

    /// The algorithm of a digest that cannot be computed.
    pub(super) fn unsupported(&self) -> Option<&str> {
        self.digests.iter().find_map(|digest| match digest {
            ClaimedDigest::Unsupported(name) => Some(&**name),
            _ => None,
        })
    }

    /// The digests whose algorithm is known, which is all of them once algorithms are settled.
    pub(super) fn known(&self) -> impl Iterator<Item = &Digest> + Clone {
        self.digests.iter().filter_map(|digest| match digest {
            ClaimedDigest::Known(digest) => Some(digest),
            ClaimedDigest::OneOf { .. } | ClaimedDigest::Unsupported(_) => None,
        })
    }
}

impl Listing {
    /// Reads every list and tells `sink` of the lines that cannot be understood.
    pub(super) fn read(
        lists: Vec<List>,
        options: &VerifyOptions,
        sink: &mut dyn Sink,
    ) -> Result<Self, Error> {
        let reads_stdin = lists.iter().any(|list| list.path.is_none());
        let mut listing = Self {
            sources: Vec::new(),
            entries: Vec::new(),
            reads_stdin,
        };
        for list in lists {
            listing.read_list(list, options, sink)?;
        }
        Ok(listing)
    }

    fn read_list(
        &mut self,
        list: List,
        options: &VerifyOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let List { name, path, input } = list;
        let mut source = ListSource {
            name,
            base: Base::current_folder(),
            entries: 0,
            confined: false,
            follows_links: false,
            exact: None,
            total: None,
        };
        let first = self.entries.len();
        match input {
            ListInput::Stream(stream) => {
                self.read_stream(stream, path.as_deref(), &mut source, options, sink)?;
            }
            ListInput::Package(package) => {
                self.read_package(package, &mut source, options, sink)?;
            }
        }
        source.entries = (self.entries.len() - first) as u64;
        if source.confined {
            self.confine(first, &source);
        }
        self.spell_otherwise(first, &source, sink)?;
        self.sources.push(source);
        Ok(())
    }

    fn read_stream(
        &mut self,
        stream: Box<dyn Read + Send>,
        path: Option<&Path>,
        source: &mut ListSource,
        options: &VerifyOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let failed = |error| FileError::new(Operation::Read, shown(path), error);
        let first = self.entries.len();
        let hints = Hints {
            list_name: path.map(Path::to_owned),
            algorithm: options.algorithm,
            format: options.format,
        };
        let mut reader = open_manifest(stream, &hints, &shown(path))?;
        let mut recorded = None;
        let mut follows_links = false;
        for record in reader.by_ref() {
            let record = record.map_err(failed)?;
            if let Content::Header(header) = &record.content {
                recorded.clone_from(&header.base);
                follows_links = header.scope.follow_links;
            }
            self.take(record, &source.name, options, sink)?;
        }
        let taken = Event::Taken {
            manifest: &source.name,
            evidence: &reader.evidence(),
        };
        sink.event(taken).map_err(Error::Output)?;
        let names = self.entries[first..].iter().flat_map(Listed::spellings);
        source.base = options.base.resolve(path, recorded.as_ref(), &names);
        source.confined = reader.format().info().confined;
        source.follows_links = follows_links;
        if source.base.reason == BaseReason::Recorded
            && let Some(base) = recorded.filter(RelPath::is_absolute)
        {
            let manifest = source.name.clone();
            let note = Note::RecordedElsewhere { manifest, base };
            sink.event(Event::Note(&note)).map_err(Error::Output)?;
        }
        if source.base.reason == BaseReason::CurrentFolder && path.is_some() {
            let manifest = source.name.clone();
            let note = Note::CurrentFolder { manifest };
            sink.event(Event::Note(&note)).map_err(Error::Output)?;
        }
        Ok(())
    }

    fn read_package(
        &mut self,
        package: Package,
        source: &mut ListSource,
        options: &VerifyOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        for part in package.parts {
            for record in part.records {
                self.take(record, &part.name, options, sink)?;
            }
        }
        source.base = Base {
            folder: package.folder,
            reason: BaseReason::Package,
        };
        source.confined = true;
        source.exact = package.exact;
        source.total = package.total;
        Ok(())
    }

    /// Takes one record of the list that is being read.
    fn take(
        &mut self,
        record: Record,
        manifest: &RelPath,
        options: &VerifyOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let line = record.line;
        match record.content {
            Content::Claim(claim) => self.push(claim, &options.relocation),
            Content::Gap { name, .. } => {
                self.push_entry(
                    Claim::bare(name),
                    &options.relocation,
                    Some(Unverified::Gap),
                );
            }
            Content::Header(_) => {}
            Content::Malformed(reason) => tell_malformed(manifest, line, &reason, sink)?,
            Content::Remark(remark) => tell_remark(manifest, line, remark, sink)?,
        }
        Ok(())
    }

    fn push(&mut self, claim: Claim, relocation: &Relocation) {
        let nothing = claim.kind == Kind::File && claim.digests.is_empty();
        let trouble = nothing.then_some(Unverified::NoDigest);
        self.push_entry(claim, relocation, trouble);
    }

    fn push_entry(&mut self, claim: Claim, relocation: &Relocation, trouble: Option<Unverified>) {
        let Claim {
            name,
            other_name,
            digests,
            size,
            modified,
            kind,
        } = claim;
        let reads_itself = self.reads_stdin && name.as_bytes() == b"-";
        let trouble = trouble.or(reads_itself.then_some(Unverified::StandardInput));
        let (relocated, trouble) = match relocation.apply(&name) {
            Ok(relocated) => (relocated, trouble),
            Err(reason) => (None, Some(reason)),
        };
        // The other spelling is relocated as the first one is, or it leads nowhere.
        let other_name = other_name.and_then(|other| match relocation.apply(&other) {
            Ok(relocated) => Some(relocated.unwrap_or(other)),
            Err(_) => None,
        });
        let plain = size.is_none() && modified.is_none() && other_name.is_none();
        let extras = (!plain || kind != Kind::File).then(|| {
            Box::new(Extras {
                size,
                modified,
                kind,
                other_name,
            })
        });
        self.entries.push(Listed {
            name,
            relocated,
            source: u32::try_from(self.sources.len()).unwrap_or(u32::MAX),
            digests,
            trouble,
            extras,
        });
    }

    /// Refuses the entries from `first` on that lead out of their base.
    fn confine(&mut self, first: usize, source: &ListSource) {
        let placed = PlacedBase::new(source.base.clone());
        let mut links = (!source.follows_links).then(|| Links::new(&placed));
        for entry in &mut self.entries[first..] {
            let name = entry.target();
            let follow = *entry.kind() == Kind::File;
            let leaves = name.is_absolute() || placed.is_left_by(name);
            if leaves
                || links
                    .as_mut()
                    .is_some_and(|links| links.lead_out(name, follow))
            {
                entry.trouble = Some(Unverified::OutsideBase);
            }
        }
    }

    /// Takes the other spelling of a name where only that leads to a file.
    fn spell_otherwise(
        &mut self,
        first: usize,
        source: &ListSource,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let mut names = 0;
        for entry in &mut self.entries[first..] {
            let Some(extras) = &mut entry.extras else {
                continue;
            };
            let Some(other) = extras.other_name.take() else {
                continue;
            };
            let target = entry.relocated.as_ref().unwrap_or(&entry.name);
            if !source.base.holds(target) && source.base.holds(&other) {
                entry.relocated = Some(other);
                names += 1;
            }
        }
        if names > 0 {
            let manifest = source.name.clone();
            let note = Note::OtherSpelling { manifest, names };
            sink.event(Event::Note(&note)).map_err(Error::Output)?;
        }
        Ok(())
    }

    /// The bases of all lists, each once.
    pub(super) fn bases(&self) -> Vec<Base> {
        let mut bases: Vec<Base> = Vec::new();
        for source in &self.sources {
            if !bases.contains(&source.base) {
                bases.push(source.base.clone());
            }
        }
        bases
    }

    /// How many names lead out of their base.
    pub(super) fn outside_base(&self) -> u64 {
        let placed = |source: &ListSource| PlacedBase::new(source.base.clone());
        let bases: Vec<PlacedBase> = self.sources.iter().map(placed).collect();
        let leaves = |entry: &&Listed| bases[entry.source as usize].is_left_by(entry.target());
        self.entries.iter().filter(leaves).count() as u64
    }

    /// The folder that an entry's name starts from.
    pub(super) fn base_of(&self, entry: &Listed) -> &Base {
        &self.sources[entry.source as usize].base
    }

    /// The path of an entry; `None` if this platform cannot have such a name.
    pub(super) fn path_of(&self, entry: &Listed) -> Option<PathBuf> {
        entry
            .target()
            .to_path()
            .map(|path| self.base_of(entry).folder.join(path))
    }

    /// Joins entries of the same file into the first of them, and marks contradictions.
    pub(super) fn join_same_files(&mut self) {
        let order = self.order_by_file();
        let mut taken = vec![false; self.entries.len()];
        for pair in order.windows(2) {
            let (earlier, later) = (pair[0] as usize, pair[1] as usize);
            taken[later] = self.same_file(&self.entries[earlier], &self.entries[later]);
        }
        let mut keeper = 0;
        for &index in &order {
            let index = index as usize;
            if taken[index] {
                let later = &mut self.entries[index];
                let digests = std::mem::take(&mut later.digests);
                let (trouble, extras) = (later.trouble.take(), later.extras.take());
                self.entries[keeper].absorb(digests, trouble, extras);
            } else {
                keeper = index;
            }
        }
        let mut taken = taken.into_iter();
        self.entries.retain(|_| !taken.next().unwrap_or(false));
    }

    fn same_file(&self, a: &Listed, b: &Listed) -> bool {
        self.key(a) == self.key(b)
    }

    /// What two entries of the same listed name have in common. Absolute names need no base. Names
    /// that only a relocation leads to the same file are entries of their own.
    fn key<'a>(
        &'a self,
        entry: &'a Listed,
    ) -> (Option<&'a PathBuf>, std::borrow::Cow<'a, RelPath>) {
        let target = entry.target();
        let base = (!target.is_absolute()).then(|| &self.base_of(entry).folder);
        (base, entry.name.normalised())
    }

    /// Indexes of the entries, sorted by file and then by place in the lists.
    fn order_by_file(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..).take(self.entries.len()).collect();
        let keyed = |index: &u32| self.key(&self.entries[*index as usize]);
        order.sort_by(|a, b| {
            let ((base_a, name_a), (base_b, name_b)) = (keyed(a), keyed(b));
            base_a
                .cmp(&base_b)
                .then_with(|| name_a.as_bytes().cmp(name_b.as_bytes()))
                .then(a.cmp(b))
        });
        order
    }
}

impl Listed {
    /// Takes over what a later line says of the same file.
    fn absorb(
        &mut self,
        digests: Vec<ClaimedDigest>,
        trouble: Option<Unverified>,
        extras: Option<Box<Extras>>,
    ) {
        // Contradicted once is enough; a list of nothing but contradictions must not cost more.
        if matches!(self.trouble, Some(Unverified::Contradiction(_))) {
            return;
        }
        for claimed in digests {
            if let ClaimedDigest::Known(later) = &claimed {
                let known = self
                    .known()
                    .find(|known| known.algorithm() == later.algorithm());
                if known.is_some_and(|known| known != later) {
                    self.trouble = Some(Unverified::Contradiction(later.algorithm()));
                }
            }
            if !self.digests.contains(&claimed) {
                self.digests.push(claimed);
            }
        }
        self.trouble = self.trouble.take().or(trouble);
        let later_kind = extras.as_ref().map_or(&Kind::File, |extras| &extras.kind);
        if self.kind() != later_kind {
            self.trouble = Some(Unverified::ContradictoryField("type"));
        }
        let Some(later) = extras else { return };
        match &mut self.extras {
            None => self.extras = Some(later),
            Some(extras) => match (extras.size, later.size) {
                (Some(first), Some(second)) if first != second => {
                    self.trouble = Some(Unverified::ContradictoryField("size"));
                }
                (None, size) => (extras.size, extras.modified) = (size, later.modified),
                _ => {}
            },
        }
    }

    /// Every spelling of the name that may lead to the file.
    fn spellings(&self) -> impl Iterator<Item = &RelPath> + Clone {
        let other = self
            .extras
            .as_ref()
            .and_then(|extras| extras.other_name.as_ref());
        std::iter::once(self.target()).chain(other)
    }

    /// The algorithms to compute, in the order of the digests.
    pub(super) fn algorithms(&self) -> Vec<Algorithm> {
        self.known().map(Digest::algorithm).collect()
    }
}

/// The path of a list for messages.
fn shown(path: Option<&Path>) -> PathBuf {
    path.map_or_else(|| PathBuf::from("standard input"), Path::to_owned)
}

impl Relocation {
    /// `Ok(None)` if the name stays as it is.
    fn apply(&self, name: &RelPath) -> Result<Option<RelPath>, Unverified> {
        let stripped = match self.strip {
            0 => None,
            count => Some(name.strip(count).ok_or(Unverified::NothingLeft)?),
        };
        let current = stripped.as_ref().unwrap_or(name);
        let mapped = self.map.iter().find_map(|(old, new)| current.map(old, new));
        Ok(mapped.or(stripped))
    }
}
