//! The lists themselves, without their entries.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::error::Error;
use crate::event::{Event, Note, Sink, Unverified};
use crate::location::{Anchor, Location};
use crate::manifest::{Format, Header, Kind};
use crate::relpath::RelPath;

use super::base::{BaseReason, Links, PlacedBase};
use super::listed::Listed;
use super::{Base, ExactScope, RecordedTotal};

/// All lists, in their order.
#[derive(Debug, Default)]
pub(super) struct Sources(pub(super) Vec<ListSource>);

/// Why no name of a list may lead out of its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Confinement {
    /// Lists of its format hold names of what lies there only.
    ByFormat,
    /// The user says so, whatever the list does.
    Asked,
}

impl Confinement {
    /// That of a list of a format, where the user has or has not asked for one.
    pub(super) fn of(asked: bool, format: Format) -> Option<Self> {
        match asked {
            true => Some(Self::Asked),
            false => format.info().confined.then_some(Self::ByFormat),
        }
    }
}

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
    pub(super) confined: Option<Confinement>,
    /// What its files are opened from, if they are confined.
    anchor: OnceLock<Option<Arc<Anchor>>>,
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
            confined: None,
            anchor: OnceLock::new(),
            header: None,
            exact: None,
            total: None,
            searched: false,
        }
    }

    /// Whether links on the way to a name may lead out of the base.
    fn links_are_confined(&self) -> bool {
        let header = self.header.as_ref();
        let follows_links = header.is_some_and(|header| header.scope.follow_links);
        match self.confined {
            None => false,
            // If links were followed when the list was made they may lead anywhere.
            Some(Confinement::ByFormat) => !follows_links,
            Some(Confinement::Asked) => true,
        }
    }

    fn anchor(&self) -> Option<&Arc<Anchor>> {
        let open = || {
            let folder = &self.place.base.folder;
            // Whoever opens a file says why its base cannot be opened.
            let anchor = || Anchor::open(folder).unwrap_or_else(|_| Anchor::at(folder));
            self.links_are_confined().then(anchor).map(Arc::new)
        };
        self.anchor.get_or_init(open).as_ref()
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

    /// What is opened for an entry. A list that is confined is opened from its base, since links may
    /// have come in between since its names were looked at.
    pub(super) fn location_of(&self, entry: &Listed) -> Option<Location> {
        let path = self.path_of(entry)?;
        Some(match self.of(entry).anchor() {
            Some(anchor) => Location::confined(anchor, path),
            None => path.into(),
        })
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
        source.confined.map(|_| Self {
            place: source.place.clone(),
            links: source
                .links_are_confined()
                .then(|| Links::new(source.place.clone())),
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
