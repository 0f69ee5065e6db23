//! What a history on the disk says, and what is wrong with it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::error::{Error, FileError, Operation};
use crate::hasher::new_hasher;
use crate::manifest::ascmhl::{self, Action, ChainLink, MhlFile, MhlItem, MhlReader};
use crate::manifest::{ClaimedDigest, Malformed};
use crate::relpath::RelPath;
use crate::timestamp::Modified;

use super::folders::folders_below;
use super::{CHAIN, HISTORY};

/// One history.
#[derive(Debug)]
pub(super) struct History {
    /// Its folder, below the top; empty for the top.
    pub(super) name: RelPath,
    /// The generations that its chain names, in order.
    pub(super) links: Vec<ChainLink>,
    /// The patterns of the last generation that has any.
    pub(super) ignore: Vec<String>,
    /// Every file that was ever recorded and not renamed since, by its name below the folder.
    pub(super) files: BTreeMap<RelPath, Recorded>,
    pub(super) problems: Vec<Problem>,
}

/// What is known of a file.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    /// The last generation that has a hash of it, as an index into the chain, and the line there.
    pub(super) place: (usize, u64),
    pub(super) size: Option<u64>,
    pub(super) modified: Option<Modified>,
    /// Every hash that did not fail, each once.
    pub(super) digests: Vec<ClaimedDigest>,
}

impl Recorded {
    /// The hashes of known algorithms.
    pub(super) fn known(&self) -> impl Iterator<Item = &Digest> {
        self.digests.iter().filter_map(|digest| match digest {
            ClaimedDigest::Known(digest) => Some(digest),
            _ => None,
        })
    }
}

/// Something wrong with a history: in which of its files, at which line, and what.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) file: String,
    pub(super) line: u64,
    pub(super) reason: Malformed,
}

/// The histories at and below a folder, the top's first.
///
/// Of hashes only those by `asked` are taken, if given.
///
/// # Errors
///
/// A folder or file that cannot be read. What is wrong with a history itself is told in it.
pub(super) fn read_histories(top: &Path, asked: Option<Algorithm>) -> Result<Vec<History>, Error> {
    let own = Path::new(HISTORY);
    let outside = |below: &Path| below.parent().and_then(Path::file_name) != Some(own.as_os_str());
    let mut names = vec![RelPath::default()];
    for folder in folders_below(top, &outside)? {
        let (around, name) = super::folders::split(&folder);
        if name == HISTORY.as_bytes() && !around.as_bytes().is_empty() {
            names.push(around);
        }
    }
    let read = |name| History::read(top, name, asked);
    let mut histories = names.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    check_references(top, &mut histories)?;
    Ok(histories)
}

/// The history that records a name, as an index, and the name below its folder.
pub(super) fn nearest(histories: &[History], name: &RelPath) -> (usize, RelPath) {
    let below = |history: &History| {
        let folder = history.name.as_bytes();
        if folder.is_empty() {
            return Some(name.clone());
        }
        let rest = name.as_bytes().strip_prefix(folder)?.strip_prefix(b"/")?;
        Some(RelPath::from_bytes(rest))
    };
    let candidates = histories.iter().enumerate();
    candidates
        .filter_map(|(index, history)| Some((index, below(history)?)))
        .min_by_key(|(_, rest)| rest.as_bytes().len())
        .unwrap_or((0, name.clone()))
}

impl History {
    fn read(top: &Path, name: RelPath, asked: Option<Algorithm>) -> Result<Self, Error> {
        let mut history = Self {
            name,
            links: Vec::new(),
            ignore: Vec::new(),
            files: BTreeMap::new(),
            problems: Vec::new(),
        };
        let folder = history.folder(top);
        if !folder.exists() {
            return Ok(history);
        }
        history.read_chain(&folder)?;
        for index in 0..history.links.len() {
            if let Some(bytes) = history.guarded(&folder, index)? {
                history.take(&bytes, index, asked)?;
            }
        }
        history.find_strays(&folder)?;
        Ok(history)
    }

    /// Where its files are.
    pub(super) fn folder(&self, top: &Path) -> PathBuf {
        let below = self.name.to_path().unwrap_or_default();
        top.join(below).join(HISTORY)
    }

    fn problem(&mut self, file: &str, line: u64, reason: Malformed) {
        let file = file.to_owned();
        self.problems.push(Problem { file, line, reason });
    }

    fn read_chain(&mut self, folder: &Path) -> Result<(), Error> {
        let path = folder.join(CHAIN);
        let failed = |operation| {
            let path = path.clone();
            move |error| FileError::new(operation, path, error)
        };
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let reason = "the chain of its generations is missing".to_owned();
                self.problem(CHAIN, 1, Malformed::Altered(reason));
                return Ok(());
            }
            Err(error) => return Err(failed(Operation::Open)(error).into()),
        };
        let links = ascmhl::read_chain(file).map_err(failed(Operation::Read))?;
        for (line, link) in links {
            match link.and_then(|link| self.in_order(link)) {
                Ok(link) => self.links.push(link),
                Err(reason) => self.problem(CHAIN, line, reason),
            }
        }
        Ok(())
    }

    /// Generations are numbered without a gap, and lie beside the chain.
    fn in_order(&self, link: ChainLink) -> Result<ChainLink, Malformed> {
        let due = self.links.len() as u64 + 1;
        if link.sequence != due {
            let number = link.sequence;
            let reason = format!("generation {number} stands where {due} is due");
            return Err(Malformed::Altered(reason));
        }
        let bytes = link.path.as_bytes();
        let plain = !bytes.contains(&b'/') && !matches!(bytes, b"." | b"..");
        if plain && std::str::from_utf8(bytes).is_ok() {
            Ok(link)
        } else {
            Err(Malformed::BadField {
                field: "name of a generation",
                value: bytes.to_vec(),
            })
        }
    }

    /// The contents of a generation, if they are what the chain records.
    fn guarded(&mut self, folder: &Path, index: usize) -> Result<Option<Vec<u8>>, Error> {
        let link = &self.links[index];
        let name = String::from_utf8_lossy(link.path.as_bytes()).into_owned();
        let path = folder.join(&name);
        match fs::read(&path) {
            Ok(bytes) if c4_of(&bytes) == link.c4 => Ok(Some(bytes)),
            Ok(_) => {
                let reason = "it is not what the chain of generations records".to_owned();
                self.problem(&name, 1, Malformed::Altered(reason));
                Ok(None)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let reason = "the chain of generations records it, and it is missing".to_owned();
                self.problem(&name, 1, Malformed::Altered(reason));
                Ok(None)
            }
            Err(error) => Err(FileError::new(Operation::Read, path, error).into()),
        }
    }

    /// Takes what a generation says. Names that changed count first, so that a new file under an old
    /// name is not taken for the one that had it.
    fn take(&mut self, bytes: &[u8], index: usize, asked: Option<Algorithm>) -> Result<(), Error> {
        let mut reader = MhlReader::new(bytes, asked);
        let name = String::from_utf8_lossy(self.links[index].path.as_bytes()).into_owned();
        let mut files = Vec::new();
        let mut ignore = Vec::new();
        let failed = |error| FileError::new(Operation::Read, &name, error);
        while let Some((line, item)) = reader.next_item().map_err(failed)? {
            match item {
                MhlItem::File(file) => files.push((line, file)),
                MhlItem::Ignore(pattern) => ignore.push(pattern),
                MhlItem::Malformed(reason) => self.problem(&name, line, reason),
                MhlItem::Created(_) | MhlItem::Folder { .. } | MhlItem::Reference { .. } => {}
            }
        }
        if !ignore.is_empty() {
            self.ignore = ignore;
        }
        for (_, file) in &files {
            let previous = file.previous.as_ref().filter(|name| **name != file.name);
            let former = previous.and_then(|previous| self.files.remove(previous));
            if let Some(former) = former {
                self.files.entry(file.name.clone()).or_insert(former);
            }
        }
        for (line, file) in files {
            self.record(file, (index, line));
        }
        Ok(())
    }

    fn record(&mut self, file: MhlFile, place: (usize, u64)) {
        let recorded = self.files.entry(file.name).or_insert(Recorded {
            place,
            size: None,
            modified: None,
            digests: Vec::new(),
        });
        let usable = file.digests.into_iter();
        let usable = usable.filter(|(_, action)| *action != Action::Failed);
        let mut any = false;
        for (digest, _) in usable {
            any = true;
            if !recorded.digests.contains(&digest) {
                recorded.digests.push(digest);
            }
        }
        if any {
            recorded.place = place;
            recorded.size = file.size.or(recorded.size);
            recorded.modified = file.modified.or(recorded.modified);
        }
    }

    /// Generations that nothing guards are not used; that they are there is told.
    fn find_strays(&mut self, folder: &Path) -> Result<(), Error> {
        let failed = |error| FileError::new(Operation::List, folder, error);
        let mut strays = Vec::new();
        for entry in folder.read_dir().map_err(failed)? {
            let name = RelPath::from_path(Path::new(&entry.map_err(failed)?.file_name()));
            let bytes = name.as_bytes();
            let is_list = bytes.ends_with(b".mhl") && !bytes.starts_with(b"._");
            if is_list && self.links.iter().all(|link| link.path != name) {
                strays.push(name.to_string());
            }
        }
        strays.sort();
        for stray in strays {
            let reason = "it is not in the chain of generations".to_owned();
            self.problem(&stray, 1, Malformed::Altered(reason));
        }
        Ok(())
    }
}

/// Compares what the last generations say of those below.
fn check_references(top: &Path, histories: &mut [History]) -> Result<(), Error> {
    for history in histories {
        let folder = history.folder(top);
        let Some(last) = history.links.last().map(|link| link.path.clone()) else {
            continue;
        };
        let name = String::from_utf8_lossy(last.as_bytes()).into_owned();
        let path = folder.join(&name);
        let Ok(bytes) = fs::read(&path) else {
            continue;
        };
        let around = folder.parent().unwrap_or(top);
        let mut reader = MhlReader::new(&bytes[..], None);
        let failed = |error| FileError::new(Operation::Read, &path, error);
        while let Some((line, item)) = reader.next_item().map_err(failed)? {
            if let MhlItem::Reference { path, c4 } = item
                && let Some(reason) = wrong_reference(around, &path, c4)
            {
                history.problem(&name, line, Malformed::Altered(reason));
            }
        }
    }
    Ok(())
}

fn wrong_reference(around: &Path, path: &RelPath, c4: Digest) -> Option<String> {
    let leads_out = path.is_absolute() || path.components().any(|part| part == b"..");
    if leads_out {
        return Some(format!("{path} lies in no folder below"));
    }
    match fs::read(around.join(path.to_path()?)) {
        Ok(bytes) if c4_of(&bytes) == c4 => None,
        Ok(_) => Some(format!("{path} is not what it was when it was referred to")),
        Err(error) => Some(format!("{path}, to which it refers: {error}")),
    }
}

pub(super) fn c4_of(bytes: &[u8]) -> Digest {
    let mut hasher = new_hasher(Algorithm::C4);
    hasher.update(bytes);
    hasher.finish()
}
