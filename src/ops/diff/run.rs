//! The comparison itself: pairs in, verdicts out.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::engine::{self, Hashed, Job, Outcome, Task};
use crate::error::{Error, FileError, Operation};
use crate::event::{Event, Sink, Unverified, Verdict};
use crate::manifest::Kind;
use crate::relpath::RelPath;
use crate::walk::Special;

use super::super::asides::{Asides, Interned, Proofs};
use super::super::manifests::Item;
use super::compare::{common_digests, compare, unusable};
use super::join::{Join, Pair};
use super::moves::{self, Lone, Sizes};
use super::side::{Thing, TreeFile, stands_at, things};
use super::{DiffOptions, DiffSide, Diffed};

/// How many names of manifests are compared before somebody who wants to stop is heard.
const NAMES_BETWEEN_LOOKS: usize = 4096;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Old,
    New,
}

/// A comparison under way.
pub(super) struct Run<'r> {
    options: &'r DiffOptions,
    engine: &'r engine::Options,
    sink: &'r mut dyn Sink,
    /// The folders of the sides that are trees.
    old_folder: Option<PathBuf>,
    new_folder: Option<PathBuf>,
    removed: Vec<Lone>,
    added: Vec<Lone>,
    asides: Asides,
    tally: Tally,
    diffed: Diffed,
}

impl<'r> Run<'r> {
    pub(super) fn new(
        options: &'r DiffOptions,
        engine: &'r engine::Options,
        sink: &'r mut dyn Sink,
    ) -> Self {
        Self {
            options,
            engine,
            sink,
            old_folder: None,
            new_folder: None,
            removed: Vec::new(),
            added: Vec::new(),
            asides: Asides::default(),
            tally: Tally::default(),
            diffed: Diffed::default(),
        }
    }

    pub(super) fn run(mut self, old: DiffSide, new: DiffSide) -> Result<Diffed, Error> {
        self.old_folder = folder_of(&old);
        self.new_folder = folder_of(&new);
        let old = things(old, self.options)?;
        let join = Join::new(old, things(new, self.options)?);
        if self.old_folder.is_none() && self.new_folder.is_none() {
            self.listed(join)?;
        } else {
            self.read(join)?;
            self.read_lones()?;
        }
        self.tell_lones().map_err(Error::Output)?;
        self.tally.proofs.tell(self.sink).map_err(Error::Output)?;
        self.asides.tell(self.sink).map_err(Error::Output)?;
        self.diffed.algorithms = self.tally.algorithms;
        Ok(self.diffed)
    }

    /// Nothing is to be read but the manifests.
    fn listed(&mut self, join: Join) -> Result<(), Error> {
        for (count, pair) in join.enumerate() {
            if count % NAMES_BETWEEN_LOOKS == 0 && self.engine.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            self.pair(pair?, None, None).map_err(Error::Output)?;
        }
        Ok(())
    }

    /// Reads the files that both sides have and that may be equal.
    fn read(&mut self, join: Join) -> Result<(), Error> {
        let algorithms: Arc<[Algorithm]> = self.options.algorithms.as_slice().into();
        let mut first = None;
        let mut failure = None;
        let engine = self.engine;
        let ended = engine::run(jobs(join, algorithms), engine, &mut |token, outcome| {
            self.count(outcome.as_ref());
            match token {
                Token::OldFile => first = outcome,
                Token::Pair(pair) => self.pair(*pair, first.take(), outcome)?,
                Token::Failed(error) => {
                    failure = Some(error);
                    return Err(io::ErrorKind::Interrupted.into());
                }
            }
            Ok(())
        });
        failure.map_or(Ok(()), Err)?;
        ended
    }

    fn count(&mut self, outcome: Option<&Outcome>) {
        self.asides.count(outcome);
        if let Some(Outcome::Hashed(hashed)) = outcome {
            self.diffed.bytes_read = self.diffed.bytes_read.saturating_add(hashed.size);
        }
    }

    fn say(&mut self, name: &RelPath, verdict: &Verdict) -> io::Result<()> {
        self.sink.event(Event::Verdict { name, verdict })
    }

    /// Compares what stands under one name. The outcomes are those of the files: of the old one and
    /// of the new one if both are files, else the second is that of the only one.
    fn pair(
        &mut self,
        pair: Pair,
        first: Option<Outcome>,
        second: Option<Outcome>,
    ) -> io::Result<()> {
        let (old, new) = match (pair.old, pair.new) {
            (Some(old), Some(new)) => (old, new),
            (Some(old), None) => return self.lone(old, Side::Old, pair.hidden),
            (None, Some(new)) => return self.lone(new, Side::New, pair.hidden),
            (None, None) => return Ok(()),
        };
        let never_opened = match (&old, &new) {
            (Thing::Special { kind, .. }, Thing::Special { .. }) => Some(*kind),
            _ => None,
        };
        let (old_outcome, new_outcome) = match (&old, &new) {
            (Thing::File(_), Thing::File(_)) => (first, second),
            (Thing::File(_), _) => (second, None),
            _ => (None, second),
        };
        let items = item_of(old, old_outcome)
            .and_then(|old| item_of(new, new_outcome).map(|new| (old, new)));
        match items {
            Ok((old, new)) => {
                let verdict = compare(&old, &new);
                if let (Verdict::Present, Some(kind)) = (&verdict, never_opened) {
                    let name = &old.name;
                    return self.sink.event(Event::Skipped { name, kind });
                }
                self.tally.add(&old, &new, &verdict);
                self.say(&old.name, &verdict)
            }
            Err((name, verdict)) => self.say(&name, &verdict),
        }
    }

    /// Keeps what only one side has, unless there is something else to say of it.
    fn lone(&mut self, thing: Thing, side: Side, hidden: bool) -> io::Result<()> {
        let (name, verdict) = match thing {
            Thing::Special { name, kind, .. } => {
                return self.sink.event(Event::Skipped { name: &name, kind });
            }
            Thing::Failed { name, error } => (name, Verdict::Unreadable(error)),
            Thing::Listed(item) => match self.listed_verdict(&item, side, hidden) {
                Some(verdict) => (item.name, verdict),
                None => return self.keep(lone_of(item), side),
            },
            Thing::File(file) if hidden => {
                (file.name, Verdict::Unverified(Unverified::FolderUnread))
            }
            Thing::File(file) => {
                let lone = Lone {
                    name: file.name.clone(),
                    digests: Vec::new(),
                    size: None,
                    file: Some(file),
                    verdict: None,
                };
                return self.keep(lone, side);
            }
        };
        self.say(&name, &verdict)
    }

    fn keep(&mut self, lone: Lone, side: Side) -> io::Result<()> {
        match side {
            Side::Old => self.removed.push(lone),
            Side::New => self.added.push(lone),
        }
        Ok(())
    }

    /// What is to be said of an entry of which the other side says nothing.
    fn listed_verdict(&self, item: &Item, side: Side, hidden: bool) -> Option<Verdict> {
        if let Some(reason) = unusable(item) {
            return Some(Verdict::Unverified(reason));
        }
        if hidden {
            return Some(Verdict::Unverified(Unverified::FolderUnread));
        }
        let other = match side {
            Side::Old => self.new_folder.as_ref()?,
            Side::New => self.old_folder.as_ref()?,
        };
        // Walks do not report folders.
        if item.kind == Kind::File {
            return None;
        }
        match stands_at(other, &item.name) {
            Ok(None) => None,
            Ok(Some(metadata)) => {
                let there = Item {
                    kind: kind_of(&metadata),
                    ..Item::new(item.name.clone())
                };
                Some(match side {
                    Side::Old => compare(item, &there),
                    Side::New => compare(&there, item),
                })
            }
            Err(error) => Some(Verdict::Unreadable(error)),
        }
    }

    /// Reads the files that only one side has and that may have moved.
    fn read_lones(&mut self) -> Result<(), Error> {
        look(&mut self.removed, &self.added);
        look(&mut self.added, &self.removed);
        let mut jobs = Vec::new();
        let both = self.old_folder.is_some() && self.new_folder.is_some();
        for (side, lones, others) in [
            (Side::Old, &self.removed, &self.added),
            (Side::New, &self.added, &self.removed),
        ] {
            let algorithms: Arc<[Algorithm]> = match both {
                true => self.options.algorithms.as_slice().into(),
                false => algorithms_of(others),
            };
            let sizes = Sizes::of(others);
            let movable = lones.iter().enumerate().filter(|(_, lone)| lone.may_move());
            for (place, lone) in movable.filter(|(_, lone)| sizes.hold(lone.size)) {
                if let Some(file) = &lone.file {
                    let task = Task::new(file.source(), Arc::clone(&algorithms));
                    jobs.push(Job {
                        token: (side, place),
                        task: Some(task),
                    });
                }
            }
        }
        let engine = self.engine;
        engine::run(jobs.into_iter(), engine, &mut |(side, place), outcome| {
            self.count(outcome.as_ref());
            let lone = match side {
                Side::Old => &mut self.removed[place],
                Side::New => &mut self.added[place],
            };
            match outcome {
                Some(Outcome::Hashed(hashed)) => {
                    lone.size = Some(hashed.size);
                    lone.digests = hashed.digests;
                }
                Some(Outcome::Failed(error)) => lone.verdict = Some(Verdict::Unreadable(error)),
                Some(Outcome::Unstable(how)) => lone.verdict = Some(Verdict::Unstable(how)),
                Some(Outcome::Unread(_)) | None => {}
            }
            Ok(())
        })
    }

    /// Tells of what only one side has.
    fn tell_lones(&mut self) -> io::Result<()> {
        let (removed, added) = (
            std::mem::take(&mut self.removed),
            std::mem::take(&mut self.added),
        );
        let moves = moves::pair(&removed, &added);
        for algorithms in &moves.compared {
            self.tally.compared(algorithms);
        }
        for (lone, to) in removed.into_iter().zip(moves.to) {
            let to = to.map(|place| added[place].name.clone());
            let moved = to.map_or(Verdict::Missing, |to| Verdict::Moved { to });
            self.say(&lone.name, &lone.verdict.unwrap_or(moved))?;
        }
        for (lone, taken) in added.into_iter().zip(moves.taken) {
            if !taken {
                self.say(&lone.name, &lone.verdict.unwrap_or(Verdict::New))?;
            }
        }
        Ok(())
    }
}

fn folder_of(side: &DiffSide) -> Option<PathBuf> {
    match side {
        DiffSide::Manifest(_) => None,
        DiffSide::Folder(side) => Some(side.folder.clone()),
    }
}

/// Learns the sizes of the files, if any of them may be one of the others.
fn look(lones: &mut [Lone], others: &[Lone]) {
    if others.iter().any(Lone::may_move) {
        for lone in lones {
            if let Some(file) = &mut lone.file {
                file.look();
                lone.size = file.size;
            }
        }
    }
}

fn algorithms_of(lones: &[Lone]) -> Arc<[Algorithm]> {
    let movable = lones.iter().filter(|lone| lone.may_move());
    let digests = movable.flat_map(|lone| &lone.digests);
    let algorithms: BTreeSet<Algorithm> = digests.map(Digest::algorithm).collect();
    algorithms.into_iter().collect()
}

fn lone_of(item: Item) -> Lone {
    let digests = match item.kind {
        Kind::File => item.digests,
        _ => Vec::new(),
    };
    Lone {
        name: item.name,
        digests,
        size: item.size,
        file: None,
        verdict: None,
    }
}

/// What comes through the engine in the order of names.
enum Token {
    /// The old one of two files; the pair follows.
    OldFile,
    Pair(Box<Pair>),
    /// A manifest that could not be read to its end.
    Failed(Error),
}

fn jobs(
    join: Join,
    algorithms: Arc<[Algorithm]>,
) -> impl Iterator<Item = Job<Token>> + Send + 'static {
    let mut listed = Interned::default();
    join.flat_map(move |pair| {
        let mut pair = match pair {
            Ok(pair) => pair,
            Err(error) => {
                let token = Token::Failed(error);
                return None.into_iter().chain([Job { token, task: None }]);
            }
        };
        let (first, second) = tasks(&mut pair, &algorithms, &mut listed);
        let first = first.map(|task| Job {
            token: Token::OldFile,
            task: Some(task),
        });
        let second = Job {
            token: Token::Pair(Box::new(pair)),
            task: second,
        };
        first.into_iter().chain([second])
    })
}

/// What is to be read of a pair: of two files both, unless their sizes tell them apart.
fn tasks(
    pair: &mut Pair,
    algorithms: &Arc<[Algorithm]>,
    listed: &mut Interned,
) -> (Option<Task>, Option<Task>) {
    match (&mut pair.old, &mut pair.new) {
        (Some(Thing::File(old)), Some(Thing::File(new))) => {
            old.look();
            new.look();
            if matches!((old.size, new.size), (Some(old), Some(new)) if old != new) {
                return (None, None);
            }
            let task = |file: &TreeFile| Some(Task::new(file.source(), Arc::clone(algorithms)));
            (task(old), task(new))
        }
        (Some(Thing::Listed(item)), Some(Thing::File(file)))
        | (Some(Thing::File(file)), Some(Thing::Listed(item))) => {
            if item.kind != Kind::File || item.digests.is_empty() || unusable(item).is_some() {
                return (None, None);
            }
            if item.size.is_some() {
                file.look();
            }
            if matches!((item.size, file.size), (Some(one), Some(other)) if one != other) {
                return (None, None);
            }
            let wanted: Vec<Algorithm> = item.digests.iter().map(Digest::algorithm).collect();
            (None, Some(Task::new(file.source(), listed.get(wanted))))
        }
        _ => (None, None),
    }
}

/// What one side says of a name, once its file has been read; a verdict if nothing can be said.
fn item_of(thing: Thing, outcome: Option<Outcome>) -> Result<Item, (RelPath, Verdict)> {
    match (thing, outcome) {
        (Thing::Listed(item), _) => Ok(item),
        (Thing::File(file), Some(Outcome::Hashed(hashed))) => Ok(hashed_item(file.name, hashed)),
        (Thing::File(file), Some(Outcome::Failed(error))) => {
            Err((file.name, Verdict::Unreadable(error)))
        }
        (Thing::File(file), Some(Outcome::Unstable(how))) => {
            Err((file.name, Verdict::Unstable(how)))
        }
        (Thing::File(file), Some(Outcome::Unread(_)) | None) => Ok(Item {
            size: file.size,
            ..Item::new(file.name)
        }),
        (Thing::Special { name, path, kind }, _) => special_item(name, &path, kind),
        (Thing::Failed { name, error }, _) => Err((name, Verdict::Unreadable(error))),
    }
}

fn hashed_item(name: RelPath, hashed: Hashed) -> Item {
    Item {
        size: Some(hashed.size),
        digests: hashed.digests,
        ..Item::new(name)
    }
}

fn special_item(name: RelPath, path: &Path, kind: Special) -> Result<Item, (RelPath, Verdict)> {
    let kind = match kind {
        Special::Link => match path.read_link() {
            Ok(target) => Kind::Link(Some(RelPath::from_path(&target))),
            Err(error) => {
                let error = FileError::new(Operation::Read, path, error);
                return Err((name, Verdict::Unreadable(error)));
            }
        },
        _ => Kind::Special,
    };
    Ok(Item {
        kind,
        ..Item::new(name)
    })
}

fn kind_of(metadata: &Metadata) -> Kind {
    let file_type = metadata.file_type();
    if file_type.is_file() {
        Kind::File
    } else if file_type.is_dir() {
        Kind::Directory
    } else if file_type.is_symlink() {
        Kind::Link(None)
    } else {
        Kind::Special
    }
}

/// What adds up over all names.
#[derive(Debug, Default)]
struct Tally {
    algorithms: BTreeSet<Algorithm>,
    proofs: Proofs,
}

impl Tally {
    fn add(&mut self, old: &Item, new: &Item, verdict: &Verdict) {
        if matches!(verdict, Verdict::Ok { .. } | Verdict::Changed { .. }) {
            let common = common_digests(old, new).map(|(digest, _)| digest.algorithm());
            self.compared(&common.collect::<Vec<_>>());
        }
    }

    /// Takes note of a file that was compared by these algorithms.
    fn compared(&mut self, algorithms: &[Algorithm]) {
        if algorithms.is_empty() {
            return;
        }
        self.proofs.add(algorithms);
        self.algorithms.extend(algorithms);
    }
}
