//! Everything that the lists claim, one entry for each file, in memory.

use std::collections::HashSet;
use std::io::{Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use crate::error::{Error, FileError, Operation};
use crate::event::{Event, Note, Sink, Unverified};
use crate::manifest::{Claim, Content, Hints, Kind, Record};
use crate::relpath::RelPath;

use super::super::asides::{open_manifest, tell_malformed, tell_remark};
use super::base::{BaseReason, PlacedBase};
use super::listed::Listed;
use super::sources::{Confinement, Gate, ListSource, Sources};
use super::{Base, List, ListInput, Package, Relocation, VerifyOptions};

/// All lists, read.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) sources: Sources,
    /// In the order of the lists.
    pub(super) entries: Vec<Listed>,
    /// Whether one of the lists is standard input, which then is no file to verify.
    reads_stdin: bool,
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
            sources: Sources::default(),
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
        let mut source = ListSource::new(name, path);
        let first = self.entries.len();
        match input {
            ListInput::Stream(stream) => self.read_stream(stream, &mut source, options, sink)?,
            ListInput::File(mut file) => {
                // It may have been looked at before.
                let failed = |error| FileError::new(Operation::Read, shown(source.path()), error);
                file.rewind().map_err(failed)?;
                self.read_stream(Box::new(file), &mut source, options, sink)?;
            }
            ListInput::Bytes(bytes) => {
                let bytes = Box::new(Cursor::new(bytes));
                self.read_stream(bytes, &mut source, options, sink)?;
            }
            ListInput::Package(package) => {
                self.read_package(package, &mut source, options, sink)?;
            }
        }
        source.entries = (self.entries.len() - first) as u64;
        if let Some(mut gate) = Gate::of(&source) {
            for entry in &mut self.entries[first..] {
                gate.refuse(entry);
            }
        }
        self.spell_otherwise(first, &source, sink)?;
        self.sources.0.push(source);
        Ok(())
    }

    fn read_stream(
        &mut self,
        stream: Box<dyn Read + Send>,
        source: &mut ListSource,
        options: &VerifyOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let path = source.path().map(Path::to_owned);
        let failed = |error| FileError::new(Operation::Read, shown(path.as_deref()), error);
        let first = self.entries.len();
        let hints = hints(path.as_deref(), options);
        let mut reader = open_manifest(stream, &hints, &shown(path.as_deref()))?;
        for record in reader.by_ref() {
            let record = record.map_err(failed)?;
            if let Content::Header(header) = &record.content {
                source.header = Some((**header).clone());
            }
            self.take(record, &source.name, options, sink)?;
        }
        let taken = Event::Taken {
            manifest: &source.name,
            evidence: &reader.evidence(),
        };
        sink.event(taken).map_err(Error::Output)?;
        let names = self.entries[first..].iter().flat_map(Listed::spellings);
        let base = options
            .base
            .resolve(path.as_deref(), source.recorded_base(), &names);
        source.place = PlacedBase::new(base);
        source.confined = Confinement::of(options.confine, reader.format());
        source.tell_base(sink)
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
        source.place = PlacedBase::new(Base {
            folder: package.folder,
            reason: BaseReason::Package,
        });
        source.confined = Some(Confinement::ByFormat);
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
        let reads_itself = self.reads_stdin && claim.name.as_bytes() == b"-";
        let trouble = trouble.or(reads_itself.then_some(Unverified::StandardInput));
        let source = u32::try_from(self.sources.0.len()).unwrap_or(u32::MAX);
        self.entries
            .push(Listed::new(claim, source, relocation, trouble));
    }

    /// Takes the other spelling of a name where only that leads to a file.
    fn spell_otherwise(
        &mut self,
        first: usize,
        source: &ListSource,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let base = &source.place.base;
        let mut names = 0;
        for entry in &mut self.entries[first..] {
            let taken = entry.spell_otherwise(|name, other| !base.holds(name) && base.holds(other));
            names += u64::from(taken);
        }
        if names > 0 {
            let manifest = source.name.clone();
            let note = Note::OtherSpelling { manifest, names };
            sink.event(Event::Note(&note)).map_err(Error::Output)?;
        }
        Ok(())
    }

    /// Joins entries of the same file into the first of them, and marks contradictions.
    pub(super) fn join_same_files(&mut self, is_asked: impl Fn(&Listed) -> bool) {
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
                // The keeper comes first, since the order keeps that of the lists.
                let (before, from) = self.entries.split_at_mut(index);
                if let (Some(keeper), Some(later)) = (before.get_mut(keeper), from.first_mut()) {
                    keeper.absorb(later);
                    if keeper.source == later.source && is_asked(later) {
                        self.sources.0[later.source as usize].entries -= 1;
                    }
                }
            } else {
                keeper = index;
            }
        }
        let mut taken = taken.into_iter();
        self.entries.retain(|_| !taken.next().unwrap_or(false));
    }

    /// Counts for each list those of its entries that are asked for.
    pub(super) fn count_entries(&mut self, is_asked: impl Fn(&Listed) -> bool) {
        for source in &mut self.sources.0 {
            source.entries = 0;
        }
        for entry in self.entries.iter().filter(|entry| is_asked(entry)) {
            self.sources.0[entry.source as usize].entries += 1;
        }
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
        let base = (!target.is_absolute()).then(|| &self.sources.of(entry).place.base.folder);
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

/// Where every listed name leads.
pub(super) fn places(sources: &Sources, entries: &[Listed]) -> HashSet<PathBuf> {
    let place = |entry: &Listed| sources.of(entry).place.place(entry.target());
    entries.iter().filter_map(place).collect()
}

/// What is known of a list before it is read.
pub(super) fn hints(path: Option<&Path>, options: &VerifyOptions) -> Hints {
    Hints {
        list_name: path.map(Path::to_owned),
        algorithm: options.algorithm,
        format: options.format,
    }
}

/// The path of a list for messages.
fn shown(path: Option<&Path>) -> PathBuf {
    path.map_or_else(|| PathBuf::from("standard input"), Path::to_owned)
}
