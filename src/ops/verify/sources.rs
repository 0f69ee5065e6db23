//! The lists themselves, without their entries.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::event::{Event, Note, Sink, Unverified};
use crate::manifest::{Header, Kind};
use crate::relpath::RelPath;

use super::base::{BaseReason, Links, PlacedBase};
use super::listed::Listed;
use super::{Base, ExactScope, RecordedTotal};

/// All lists, in their order.
#[derive(Debug, Default)]
pub(super) struct Sources(pub(super) Vec<ListSource>);

/// One of the lists.
#[derive(Debug)]
pub(super) struct ListSource {
    pub(super) name: RelPath,
    /// Where it lies, if it is no stream.
    path: Option<PathBuf>,
    pub(super) place: PlacedBase,
    /// Entries that stand in it, those joined with an entry of another list included; 0 while they
    /// have not been counted.
    pub(super) entries: u64,
    /// Whether no name of it may lead out of the base.
    pub(super) confined: bool,
    /// What it says of itself.
    pub(super) header: Option<Header>,
    /// Where every file must be listed, whatever the options say.
    pub(super) exact: Option<ExactScope>,
    /// How much it says there must be.
    pub(super) total: Option<RecordedTotal>,
    /// Whether files that it does not list are looked for.
    pub(super) searched: bool,
}

impl ListSource {
    /// A list of which nothing has been read.
    pub(super) fn new(name: RelPath, path: Option<PathBuf>) -> Self {
        Self {
            name,
            path,
            place: PlacedBase::new(Base::current_folder()),
            entries: 0,
            confined: false,
            header: None,
            exact: None,
            total: None,
            searched: false,
        }
    }

    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    pub(super) fn recorded_base(&self) -> Option<&RelPath> {
        self.header.as_ref()?.base.as_ref()
    }

    /// Tells of a base that may not be the one that is expected.
    pub(super) fn tell_base(&self, sink: &mut dyn Sink) -> Result<(), Error> {
        let manifest = self.name.clone();
        let recorded = self.recorded_base().filter(|base| base.is_absolute());
        let note = match (self.place.base.reason, recorded) {
            (BaseReason::Recorded, Some(base)) => Note::RecordedElsewhere {
                manifest,
                base: base.clone(),
            },
            (BaseReason::CurrentFolder, _) if self.path.is_some() => {
                Note::CurrentFolder { manifest }
            }
            _ => return Ok(()),
        };
        sink.event(Event::Note(&note)).map_err(Error::Output)
    }
}

impl Sources {
    /// The list that an entry stands in.
    pub(super) fn of(&self, entry: &Listed) -> &ListSource {
        &self.0[entry.source as usize]
    }

    /// The path of an entry; `None` if this platform cannot have such a name.
    pub(super) fn path_of(&self, entry: &Listed) -> Option<PathBuf> {
        let path = entry.target().to_path()?;
        Some(self.of(entry).place.base.folder.join(path))
    }

    /// The bases of all lists, each once.
    pub(super) fn bases(&self) -> Vec<Base> {
        let mut bases: Vec<Base> = Vec::new();
        for source in &self.0 {
            if !bases.contains(&source.place.base) {
                bases.push(source.place.base.clone());
            }
        }
        bases
    }
}

/// Refuses entries of a confined list that lead out of its base.
#[derive(Debug)]
pub(super) struct Gate {
    place: PlacedBase,
    /// `None` if links were followed when the list was made, so that they may lead anywhere.
    links: Option<Links>,
}

impl Gate {
    /// `None` if the names of the list may lead anywhere.
    pub(super) fn of(source: &ListSource) -> Option<Self> {
        let header = source.header.as_ref();
        let follows_links = header.is_some_and(|header| header.scope.follow_links);
        source.confined.then(|| Self {
            place: source.place.clone(),
            links: (!follows_links).then(|| Links::new(source.place.clone())),
        })
    }

    /// Marks the entry if it leads out.
    pub(super) fn refuse(&mut self, entry: &mut Listed) {
        let name = entry.target();
        let follow = *entry.kind() == Kind::File;
        let leaves = name.is_absolute() || self.place.is_left_by(name);
        let links = self.links.as_mut();
        if leaves || links.is_some_and(|links| links.lead_out(name, follow)) {
            entry.trouble = Some(Unverified::OutsideBase);
        }
    }
}
