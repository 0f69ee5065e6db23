//! Everything that the lists claim, one entry for each file.

use std::path::{Path, PathBuf};

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::error::{Error, FileError, Operation};
use crate::event::{Event, Note, Sink, Unverified};
use crate::manifest::{Claim, ClaimedDigest, Content, Hints, OpenError, Reader};
use crate::relpath::RelPath;

use super::base::BaseReason;
use super::base::PlacedBase;
use super::{Base, List, Relocation, VerifyOptions};

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
}

impl Listed {
    /// The name that leads to the file.
    pub(super) fn target(&self) -> &RelPath {
        self.relocated.as_ref().unwrap_or(&self.name)
    }

    /// The digests whose algorithm is known, which is all of them once algorithms are settled.
    pub(super) fn known(&self) -> impl Iterator<Item = &Digest> + Clone {
        self.digests.iter().filter_map(|digest| match digest {
            ClaimedDigest::Known(digest) => Some(digest),
            ClaimedDigest::OneOf { .. } => None,
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
        let failed = |error| FileError::new(Operation::Read, shown(path.as_deref()), error);
        let first = self.entries.len();
        let source = u32::try_from(self.sources.len()).unwrap_or(u32::MAX);
        let hints = Hints {
            list_name: path.clone(),
            algorithm: options.algorithm,
            format: options.format,
        };
        let reader = Reader::new(input, &hints).map_err(|reason| match reason {
            OpenError::Read(error) => Error::File(failed(error)),
            other => Error::NoManifest {
                path: shown(path.as_deref()),
                reason: other.into(),
            },
        })?;
        for record in reader {
            let record = record.map_err(failed)?;
            match record.content {
                Content::Claim(claim) => self.push(claim, source, &options.relocation),
                Content::Gap { name, .. } => self.push_gap(name, source, &options.relocation),
                Content::Malformed(reason) => {
                    let event = Event::Line {
                        manifest: &name,
                        line: record.line,
                        reason: &reason,
                    };
                    sink.event(event).map_err(Error::Output)?;
                }
            }
        }
        let targets = self.entries[first..].iter().map(Listed::target);
        let base = options.base.resolve(path.as_deref(), &targets);
        if base.reason == BaseReason::CurrentFolder && path.is_some() {
            let note = Note::CurrentFolder {
                manifest: name.clone(),
            };
            sink.event(Event::Note(&note)).map_err(Error::Output)?;
        }
        let entries = (self.entries.len() - first) as u64;
        self.sources.push(ListSource {
            name,
            base,
            entries,
        });
        Ok(())
    }

    fn push(&mut self, claim: Claim, source: u32, relocation: &Relocation) {
        let Claim { name, digest } = claim;
        self.push_entry(name, source, relocation, vec![digest], None);
    }

    fn push_gap(&mut self, name: RelPath, source: u32, relocation: &Relocation) {
        self.push_entry(name, source, relocation, Vec::new(), Some(Unverified::Gap));
    }

    fn push_entry(
        &mut self,
        name: RelPath,
        source: u32,
        relocation: &Relocation,
        digests: Vec<ClaimedDigest>,
        trouble: Option<Unverified>,
    ) {
        let reads_itself = self.reads_stdin && name.as_bytes() == b"-";
        let trouble = trouble.or(reads_itself.then_some(Unverified::StandardInput));
        let (relocated, trouble) = match relocation.apply(&name) {
            Ok(relocated) => (relocated, trouble),
            Err(reason) => (None, Some(reason)),
        };
        self.entries.push(Listed {
            name,
            relocated,
            source,
            digests,
            trouble,
        });
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
                let later = std::mem::take(&mut self.entries[index].digests);
                let trouble = self.entries[index].trouble.take();
                self.entries[keeper].absorb(later, trouble);
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
    fn absorb(&mut self, digests: Vec<ClaimedDigest>, trouble: Option<Unverified>) {
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
