//! One list in the order of names, compared with a walk in the same order, in constant memory.

use std::cmp::Ordering;
use std::fs::File;
use std::io;
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, FileError, Operation};
use crate::event::{Event, Note, Sink};
use crate::manifest::{Hints, Malformed};
use crate::relpath::RelPath;
use crate::slice::Slice;
use crate::walk::Found;

use super::super::manifests::{Item, Items, ManifestFile, Survey};
use super::base::{self, Base, PlacedBase};
use super::compare::Token;
use super::exact::Stray;
use super::listed::Listed;
use super::listing::hints;
use super::search::{Search, searches};
use super::sources::{Confinement, Gate, ListSource, Sources};
use super::{List, ListInput, Prepared, VerifyOptions};

/// What looking at the lists has shown.
pub(super) enum Opened {
    /// They need not be held in memory.
    Streamed(Box<Prepared>),
    /// They must be.
    Lists(Vec<List>),
}

/// Takes a list that can be streamed: the only one, no pipe, with its names in order, each of
/// which has one meaning and digests of known algorithms. `sink` is told of it only then.
pub(super) fn open(
    lists: Vec<List>,
    options: &VerifyOptions,
    sink: &mut dyn Sink,
) -> Result<Opened, Error> {
    // What was not checked of a slice could only be counted by reading all of it once more.
    let must_count = options.fail_fast && options.slice.is_some();
    let [List { name, path, input }] = &lists[..] else {
        return Ok(Opened::Lists(lists));
    };
    if !options.relocation.is_none() || must_count {
        return Ok(Opened::Lists(lists));
    }
    let hints = hints(path.as_deref(), options);
    let manifest = match input {
        ListInput::File(file) => {
            let read =
                |error| FileError::new(Operation::Read, path.clone().unwrap_or_default(), error);
            ManifestFile::of_file(name.clone(), file.try_clone().map_err(read)?, hints)
        }
        ListInput::Bytes(bytes) => ManifestFile::of_bytes(name.clone(), Arc::clone(bytes), hints),
        ListInput::Stream(_) | ListInput::Package(_) => return Ok(Opened::Lists(lists)),
    };
    let mut held = Held::default();
    let surveyed = manifest.survey(&mut held);
    if held.is_full {
        return Ok(Opened::Lists(lists));
    }
    let survey = match surveyed {
        Ok(survey) if !can_be_streamed(&survey) => {
            return Ok(Opened::Lists(lists));
        }
        Ok(survey) => survey,
        Err(error) => {
            held.tell(name, sink)?;
            return Err(error);
        }
    };
    let mut source = ListSource::new(name.clone(), path.clone());
    source.header.clone_from(&survey.header);
    source.confined = Confinement::of(options.confine, survey.evidence.format);
    source.place = PlacedBase::new(find_base(&manifest, &survey, &source, options)?);
    let mut sources = Sources(vec![source]);
    let search = searches(&mut sources, options)?.pop();
    if search.as_ref().is_some_and(|search| !search.in_order) {
        return Ok(Opened::Lists(lists));
    }
    held.tell(name, sink)?;
    let taken = Event::Taken {
        manifest: name,
        evidence: &survey.evidence,
    };
    sink.event(taken).map_err(Error::Output)?;
    sources.0[0].tell_base(sink)?;
    prepare(&manifest, &survey, sources, search, options).map(|all| Opened::Streamed(Box::new(all)))
}

fn prepare(
    manifest: &ManifestFile,
    survey: &Survey,
    sources: Sources,
    search: Option<Search>,
    options: &VerifyOptions,
) -> Result<Prepared, Error> {
    let source = &sources.0[0];
    let folder = source.place.base.folder.clone();
    let found: Option<Box<dyn Iterator<Item = Found> + Send>> = match search {
        Some(search) => Some(Box::new(search.found())),
        None => None,
    };
    let tokens = Merge {
        gate: Gate::of(source),
        entries: manifest.items(survey)?.peekable(),
        found: found.map(Iterator::peekable),
        slice: options.slice,
        last_stray: None,
    };
    let paths = options.totals.is_some().then(|| {
        let again = Again {
            name: source.name.clone(),
            path: source.path().map(Path::to_owned),
            hints: hints(source.path(), options),
            survey: survey.clone(),
            folder,
        };
        Box::new(again.paths()) as Box<dyn Iterator<Item = Option<PathBuf>> + Send>
    });
    Ok(Prepared {
        sources: sources.into(),
        tokens: Box::new(tokens),
        names: survey.names,
        paths,
        late: None,
    })
}

fn can_be_streamed(survey: &Survey) -> bool {
    survey.in_order && survey.plain && !survey.spoiled && !survey.absolute
}

fn find_base(
    manifest: &ManifestFile,
    survey: &Survey,
    source: &ListSource,
    options: &VerifyOptions,
) -> Result<Base, Error> {
    if let Some(base) = options.base.settled(source.path(), source.recorded_base()) {
        return Ok(base);
    }
    let mut failed = None;
    let exists_under = |folder: &Path| {
        let mut is_there = |item: Result<Item, Error>| match item {
            Ok(item) => base::exists(folder, &item.name),
            Err(error) => {
                failed = Some(error);
                true
            }
        };
        match manifest.items(survey) {
            Ok(mut items) => items.any(is_there),
            Err(error) => is_there(Err(error)),
        }
    };
    let base = base::found(source.path(), exists_under);
    failed.map_or(Ok(base), Err)
}

/// Entries and what is found, merged by name.
struct Merge {
    gate: Option<Gate>,
    entries: Peekable<Items>,
    found: Option<Peekable<Box<dyn Iterator<Item = Found> + Send>>>,
    slice: Option<Slice>,
    /// Something that could not be looked at may be met twice.
    last_stray: Option<RelPath>,
}

impl Merge {
    /// Which of the two comes next; both, if they are equal.
    fn next_is(&mut self) -> Option<Ordering> {
        let found = self.found.as_mut().and_then(Peekable::peek);
        match (self.entries.peek(), found) {
            (None, None) => None,
            (Some(_), None) | (Some(Err(_)), Some(_)) => Some(Ordering::Less),
            (None, Some(_)) => Some(Ordering::Greater),
            (Some(Ok(entry)), Some(found)) => Some(entry.name.cmp(&found.name.normalised())),
        }
    }

    fn entry(&mut self) -> Option<Token> {
        let item = match self.entries.next()? {
            Ok(item) => item,
            Err(error) => return Some(Token::Broken(error)),
        };
        let mut entry = Listed::of_item(item);
        if !self.slice.is_none_or(|slice| slice.holds(entry.target())) {
            return None;
        }
        if let Some(gate) = &mut self.gate {
            gate.refuse(&mut entry);
        }
        Some(Token::Entry(entry))
    }

    fn stray(&mut self) -> Option<Token> {
        let found = self.found.as_mut()?.next()?;
        let name = found.name.normalised().into_owned();
        if self.last_stray.as_ref() == Some(&name) {
            return None;
        }
        self.last_stray = Some(name);
        Some(Token::Stray(Stray::new(found)))
    }
}

impl Iterator for Merge {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            let token = match self.next_is()? {
                Ordering::Less => self.entry(),
                Ordering::Greater => self.stray(),
                // It is listed; the entry follows when nothing more of its name is found.
                Ordering::Equal => {
                    self.found.as_mut().and_then(Iterator::next);
                    None
                }
            };
            if token.is_some() {
                return token;
            }
        }
    }
}

/// A second reading of a list, to learn how much there is to read.
struct Again {
    name: RelPath,
    path: Option<PathBuf>,
    hints: Hints,
    survey: Survey,
    folder: PathBuf,
}

impl Again {
    /// The listed files. A failure only ends them: whoever compares them will say why.
    fn paths(self) -> impl Iterator<Item = Option<PathBuf>> + Send {
        let file = self.path.and_then(|path| File::open(path).ok());
        let manifest = file.map(|file| ManifestFile::of_file(self.name, file, self.hints));
        let items = manifest.and_then(|manifest| manifest.items(&self.survey).ok());
        let items = items.into_iter().flatten().map_while(Result::ok);
        items.map(move |item| Some(self.folder.join(item.name.to_path()?)))
    }
}

/// More lines than these that cannot be used, or that something is to be said of, are not held back.
const MOST_HELD: usize = 4096;

/// What is to be told of a list if it is streamed.
#[derive(Default)]
struct Held {
    lines: Vec<Line>,
    is_full: bool,
}

enum Line {
    Malformed(u64, Malformed),
    Note(Note),
}

impl Held {
    fn tell(self, manifest: &RelPath, sink: &mut dyn Sink) -> Result<(), Error> {
        for line in self.lines {
            let event = match &line {
                Line::Malformed(line, reason) => Event::Line {
                    manifest,
                    line: *line,
                    reason,
                },
                Line::Note(note) => Event::Note(note),
            };
            sink.event(event).map_err(Error::Output)?;
        }
        Ok(())
    }
}

impl Sink for Held {
    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        if self.lines.len() >= MOST_HELD {
            self.is_full = true;
            return Err(io::Error::other("too many lines to hold"));
        }
        match event {
            Event::Line { line, reason, .. } => {
                self.lines.push(Line::Malformed(line, reason.clone()));
            }
            Event::Note(note) => self.lines.push(Line::Note(note.clone())),
            Event::Hashed { .. }
            | Event::Verdict { .. }
            | Event::Taken { .. }
            | Event::Skipped { .. } => {}
        }
        Ok(())
    }
}
