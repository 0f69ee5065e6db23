//! A new generation in every history of a tree.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::engine::Hashed;
use crate::error::{Error, FileError, Operation};
use crate::event::{Difference, Note, Unverified, Verdict};
use crate::manifest::ascmhl::{self, Action, ChainLink, FolderDigest, NewGeneration, NewItem};
use crate::manifest::{EntryError, Format, Remark, WriterError};
use crate::relpath::RelPath;
use crate::timestamp::Timestamp;
use crate::walk::{Filter, FilterError};

use super::folders::{folder_digests, folders_below, split};
use super::history::{History, Recorded, c4_of, nearest, read_histories};
use super::package::join;
use super::{CHAIN, DEFAULT_IGNORE, HISTORY, ignore_below};

/// A run that adds a generation to the history of a folder, and to those in folders below.
///
/// It compares every file with what former generations say, and notes what came of it. The result is
/// bytes; nothing is written here.
#[derive(Debug)]
pub struct MhlSession {
    top: PathBuf,
    histories: Vec<History>,
    /// The algorithms that the user named.
    asked: Vec<Algorithm>,
    /// What the user leaves out beside what the histories do.
    ignore: Vec<String>,
    filter: Filter,
    /// Every file found, by its name below the top.
    files: BTreeMap<RelPath, New>,
}

/// A file of the new generation.
#[derive(Debug)]
struct New {
    size: u64,
    modified: Option<Timestamp>,
    /// Whether a former generation has a hash of it.
    known: bool,
    /// By all algorithms of the run.
    digests: Vec<Digest>,
    /// What is recorded.
    noted: Vec<(Digest, Action)>,
}

/// A file that former generations record, and that is not there.
struct Gone<'a> {
    from: &'a RelPath,
    /// The history that records it, as an index.
    history: usize,
    /// Those of its digests.
    algorithms: Vec<Algorithm>,
    /// All that are recorded, in the order of their algorithms.
    digests: Vec<Digest>,
}

/// Names of files by their history and their digests.
type ByDigests<'a> = HashMap<(usize, Vec<Digest>), VecDeque<&'a RelPath>>;

/// A file that is recorded under another name than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// The name in former generations.
    pub from: RelPath,
    /// The name now.
    pub to: RelPath,
}

/// A file to be written, whole or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Where.
    pub path: PathBuf,
    /// Whether something may be there: the former chain.
    pub replace: bool,
    /// What it contains.
    pub bytes: Vec<u8>,
}

/// What a session leads to.
#[derive(Debug)]
pub struct NewGenerations {
    /// Files that former generations record, and that are not there under any name.
    pub missing: Vec<RelPath>,
    /// Files that have another name now.
    pub renamed: Vec<Renamed>,
    /// Files that runs left which were stopped. They must be removed before anything is written.
    pub leftovers: Vec<PathBuf>,
    /// The files of the new generations, in the order in which they must be written.
    pub documents: Vec<Document>,
}

impl MhlSession {
    /// Reads the histories at and below `top`; there may be none yet. `ignore` are patterns as in
    /// `.gitignore` of files to leave out from now on.
    ///
    /// # Errors
    ///
    /// [`Error::NoManifest`] if a history is damaged, an algorithm is none of
    /// [`ascmhl::ALGORITHMS`], or a pattern cannot be used; else what cannot be read.
    pub fn open(top: &Path, asked: &[Algorithm], ignore: &[String]) -> Result<Self, Error> {
        let refused =
            |path: &Path, reason: Box<dyn std::error::Error + Send + Sync>| Error::NoManifest {
                path: path.to_owned(),
                reason,
            };
        let unknown = |algorithm: &&Algorithm| !ascmhl::ALGORITHMS.contains(algorithm);
        if let Some(&algorithm) = asked.iter().find(unknown) {
            let reason = WriterError::NotCarried {
                format: Format::Mhl,
                algorithm,
                carried: "c4, md5, sha1, xxh128, xxh3 and xxh64",
            };
            return Err(refused(top, reason.into()));
        }
        let histories = read_histories(top, None)?;
        for history in &histories {
            if let Some(problem) = history.problems.first() {
                let path = history.folder(top).join(&problem.file);
                return Err(refused(&path, problem.reason.clone().into()));
            }
        }
        let filter = filter(&histories, ignore).map_err(|error| refused(top, error.into()))?;
        Ok(Self {
            top: top.to_owned(),
            histories,
            asked: asked.to_vec(),
            ignore: ignore.to_vec(),
            filter,
            files: BTreeMap::new(),
        })
    }

    /// What a walk of the folder must leave out.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Every algorithm that must be computed: those asked for, and those of former generations.
    pub fn algorithms(&self) -> Vec<Algorithm> {
        let mut algorithms = self.asked.clone();
        let recorded = self
            .histories
            .iter()
            .flat_map(|history| history.files.values());
        for digest in recorded.flat_map(Recorded::known) {
            let algorithm = digest.algorithm();
            if !algorithms.contains(&algorithm) {
                algorithms.push(algorithm);
            }
        }
        algorithms
    }

    /// Takes a file that was hashed by all of [`Self::algorithms`]; gives a verdict if it is not what former
    /// generations say, or if none of their hashes can be computed.
    ///
    /// # Errors
    ///
    /// The name is one that the format cannot hold.
    pub fn take(&mut self, name: &RelPath, hashed: &Hashed) -> Result<Option<Verdict>, EntryError> {
        ascmhl::check(name)?;
        let (index, below) = nearest(&self.histories, name);
        let recorded = self.histories[index].files.get(&below);
        let known: Vec<Digest> =
            recorded.map_or_else(Vec::new, |file| file.known().copied().collect());
        let unsupported = recorded.and_then(Recorded::unsupported);
        let differences: Vec<Difference> = hashed
            .digests
            .iter()
            .flat_map(|&actual| {
                let same = known
                    .iter()
                    .filter(move |known| known.algorithm() == actual.algorithm());
                let wrong = same.filter(move |&&expected| expected != actual);
                wrong.map(move |&expected| Difference::Digest { expected, actual })
            })
            .collect();
        let of = |known: &Digest| {
            let mut computed = hashed.digests.iter();
            computed.any(|digest| digest.algorithm() == known.algorithm())
        };
        let compared = known.iter().any(of);
        let unverified = match unsupported {
            Some(name) if !compared => Some(Unverified::UnsupportedAlgorithm(name.into())),
            _ if !compared && !known.is_empty() => Some(Unverified::NoDigest),
            _ => None,
        };
        let action = match (&unverified, compared, differences.is_empty()) {
            (Some(_), ..) => Action::Unstated,
            (None, false, _) => Action::Original,
            (None, true, true) => Action::Verified,
            (None, true, false) => Action::Failed,
        };
        let noted = hashed.digests.iter().filter(|digest| {
            let algorithm = digest.algorithm();
            let again = || known.iter().any(|known| known.algorithm() == algorithm);
            ascmhl::ALGORITHMS.contains(&algorithm) && (self.asked.contains(&algorithm) || again())
        });
        let new = New {
            size: hashed.size,
            modified: hashed.modified.and_then(Timestamp::from_system),
            known: action != Action::Original,
            digests: hashed.digests.clone(),
            noted: noted
                .map(|&digest| (digest, action_of(digest, action, &known)))
                .collect(),
        };
        self.files.insert(name.clone(), new);
        let size = hashed.size;
        Ok(match unverified {
            Some(why) => Some(Verdict::Unverified(why)),
            None if differences.is_empty() => None,
            None => Some(Verdict::Changed { differences, size }),
        })
    }

    /// Makes the new generations, when every file has been taken. `host` is the name of the computer.
    ///
    /// # Errors
    ///
    /// A folder that cannot be listed, and [`Error::Output`] for a name that the format cannot hold.
    pub fn finish(&self, created: Timestamp, host: &str) -> Result<NewGenerations, Error> {
        let missing = self.missing();
        let renamed = self.renamed(&missing);
        let found: HashSet<&RelPath> = renamed.iter().map(|renamed| &renamed.from).collect();
        let mut missing = missing;
        missing.retain(|name| !found.contains(name));
        let documents = self.documents(created, host, &renamed)?;
        Ok(NewGenerations {
            missing,
            renamed,
            leftovers: self.leftovers(),
            documents,
        })
    }

    /// What is to be told of the former generations.
    pub fn notes(&self) -> Vec<Note> {
        let of = |history: &History| {
            let folder = RelPath::from_path(&history.folder(&self.top));
            let note = |(file, line, remark): &(String, u64, Remark)| Note::Remark {
                manifest: folder.join(Path::new(file)),
                line: *line,
                remark: remark.clone(),
            };
            history.remarks.iter().map(note).collect::<Vec<_>>()
        };
        self.histories.iter().flat_map(of).collect()
    }

    fn leftovers(&self) -> Vec<PathBuf> {
        let of = |history: &History| {
            let folder = history.folder(&self.top);
            let paths = history.leftovers.iter().map(|name| folder.join(name));
            paths.collect::<Vec<_>>()
        };
        self.histories.iter().flat_map(of).collect()
    }

    fn missing(&self) -> Vec<RelPath> {
        let recorded = self.histories.iter().flat_map(|history| {
            let names = history.files.keys();
            names.map(|name| join(&history.name, name))
        });
        let mut missing: Vec<RelPath> = recorded
            .filter(|name| !self.files.contains_key(name))
            .filter(|name| !self.is_ignored(name))
            .collect();
        missing.sort();
        missing.dedup();
        missing
    }

    fn is_ignored(&self, name: &RelPath) -> bool {
        let Some(path) = name.to_path() else {
            return false;
        };
        !self.filter.reaches(&path) || !self.filter.reports(&path)
    }

    /// Pairs files that are gone with new ones in the same history that have all of their hashes. Empty
    /// files are all alike, and have no former name.
    fn renamed(&self, missing: &[RelPath]) -> Vec<Renamed> {
        let gone: Vec<Gone<'_>> = missing.iter().filter_map(|from| self.gone(from)).collect();
        let sets: BTreeSet<&Vec<Algorithm>> = gone.iter().map(|gone| &gone.algorithms).collect();
        let mut new: HashMap<_, _> = sets
            .into_iter()
            .map(|algorithms| (algorithms, self.new_by(algorithms)))
            .collect();
        let mut taken: HashSet<&RelPath> = HashSet::new();
        let mut renamed = Vec::new();
        for one in &gone {
            let key = (one.history, one.digests.clone());
            let candidates = new.get_mut(&one.algorithms);
            let Some(candidates) = candidates.and_then(|new| new.get_mut(&key)) else {
                continue;
            };
            while let Some(to) = candidates.pop_front() {
                if taken.insert(to) {
                    let (from, to) = (one.from.clone(), to.clone());
                    renamed.push(Renamed { from, to });
                    break;
                }
            }
        }
        renamed
    }

    /// A missing file, if it has known hashes.
    fn gone<'a>(&'a self, from: &'a RelPath) -> Option<Gone<'a>> {
        let (history, below) = nearest(&self.histories, from);
        let recorded = self.histories[history].files.get(&below)?;
        let mut digests: Vec<Digest> = recorded.known().copied().collect();
        digests.sort_by_key(Digest::algorithm);
        let algorithms: Vec<Algorithm> = digests.iter().map(Digest::algorithm).collect();
        (!digests.is_empty()).then_some(Gone {
            from,
            history,
            algorithms,
            digests,
        })
    }

    /// The new files of each history by their digests of these algorithms, in the order of their names.
    fn new_by(&self, algorithms: &[Algorithm]) -> ByDigests<'_> {
        let mut new = ByDigests::new();
        for (name, file) in &self.files {
            if file.known || file.size == 0 {
                continue;
            }
            let of = |algorithm: &Algorithm| {
                let mut digests = file.digests.iter();
                digests.find(|digest| digest.algorithm() == *algorithm)
            };
            let digests: Option<Vec<Digest>> =
                algorithms.iter().map(|one| of(one).copied()).collect();
            if let Some(digests) = digests {
                let (history, _) = nearest(&self.histories, name);
                new.entry((history, digests)).or_default().push_back(name);
            }
        }
        new
    }

    /// The generations of the histories, those below before those above, since these refer to them; for each
    /// the generation before the chain that names it.
    fn documents(
        &self,
        created: Timestamp,
        host: &str,
        renamed: &[Renamed],
    ) -> Result<Vec<Document>, Error> {
        let filter = self.filter.clone();
        let folders = folders_below(&self.top, &|below| filter.descends(below))?;
        let digests = self.folder_digests(&folders);
        let folder_digest = |name: &RelPath| -> Vec<FolderDigest> {
            digests
                .iter()
                .filter_map(|digests| digests.get(name).copied())
                .collect()
        };
        let mut items = self.items(&folders, &folder_digest, renamed);
        let mut order: Vec<usize> = (0..self.histories.len()).collect();
        order.sort_by_key(|&index| {
            std::cmp::Reverse(self.histories[index].name.components().count())
        });
        let mut references: Vec<Vec<(RelPath, Digest)>> =
            self.histories.iter().map(|_| Vec::new()).collect();
        let mut documents = Vec::new();
        for index in order {
            let history = &self.histories[index];
            let generation = NewGeneration {
                created,
                host: host.to_owned(),
                ignore: self.patterns(index),
                root: folder_digest(&history.name),
                items: std::mem::take(&mut items[index]),
                references: std::mem::take(&mut references[index]),
            };
            let refused = |error: EntryError| Error::Output(error.into());
            let bytes = generation.to_bytes().map_err(refused)?;
            let link = ChainLink {
                sequence: history.links.len() as u64 + 1,
                path: self.file_name(index, created)?,
                c4: c4_of(&bytes),
            };
            if !history.name.as_bytes().is_empty() {
                let (above, below) = self.above(&history.name);
                let path = join(&below, &join(&RelPath::from(HISTORY), &link.path));
                references[above].push((path, link.c4));
            }
            let folder = history.folder(&self.top);
            let file = link.path.to_path().unwrap_or_default();
            let links: Vec<ChainLink> = history.links.iter().cloned().chain([link]).collect();
            let chain = ascmhl::write_chain(&links).map_err(refused)?;
            for (path, replace, bytes) in [
                (folder.join(file), false, bytes),
                (folder.join(CHAIN), true, chain),
            ] {
                documents.push(Document {
                    path,
                    replace,
                    bytes,
                });
            }
        }
        Ok(documents)
    }

    /// The hashes of every folder, by each algorithm that was asked for.
    fn folder_digests(&self, folders: &[RelPath]) -> Vec<BTreeMap<RelPath, FolderDigest>> {
        let by = |&algorithm: &Algorithm| {
            let files = self.files.iter().filter_map(|(name, file)| {
                let mut digests = file.digests.iter();
                let own = digests.find(|digest| digest.algorithm() == algorithm)?;
                Some((name, *own))
            });
            folder_digests(algorithm, folders, files)
        };
        self.asked.iter().map(by).collect()
    }

    /// What each history records, in the order of the histories.
    fn items(
        &self,
        folders: &[RelPath],
        folder_digest: &dyn Fn(&RelPath) -> Vec<FolderDigest>,
        renamed: &[Renamed],
    ) -> Vec<Vec<NewItem>> {
        let mut items: Vec<Vec<NewItem>> = self.histories.iter().map(|_| Vec::new()).collect();
        let former: HashMap<&RelPath, &RelPath> = renamed
            .iter()
            .map(|renamed| (&renamed.to, &renamed.from))
            .collect();
        for (name, file) in &self.files {
            let (index, below) = nearest(&self.histories, name);
            let previous = former.get(name);
            items[index].push(NewItem::File {
                name: below,
                size: file.size,
                modified: file.modified,
                digests: file.noted.clone(),
                previous: previous.map(|from| nearest(&self.histories, from).1),
            });
        }
        for folder in folders {
            let (index, name) = self.above(folder);
            let digests = folder_digest(folder);
            items[index].push(NewItem::Folder { name, digests });
        }
        items
    }

    /// The history around a folder, which may have one of its own, and the folder's name in it.
    fn above(&self, folder: &RelPath) -> (usize, RelPath) {
        let (around, own) = split(folder);
        let own = RelPath::from_bytes(own);
        if let Some(index) = self
            .histories
            .iter()
            .position(|history| history.name == around)
        {
            return (index, own);
        }
        let (index, below) = nearest(&self.histories, &around);
        (index, join(&below, &own))
    }

    /// Those of the last generation, and for the top those that the user adds.
    fn patterns(&self, index: usize) -> Vec<String> {
        let former = &self.histories[index].ignore;
        let mut patterns = if former.is_empty() {
            DEFAULT_IGNORE.map(str::to_owned).to_vec()
        } else {
            former.clone()
        };
        if index == 0 {
            for pattern in &self.ignore {
                if !patterns.contains(pattern) {
                    patterns.push(pattern.clone());
                }
            }
        }
        patterns
    }

    /// `0001_FOLDER_2026-01-02_030405Z.mhl`
    fn file_name(&self, index: usize, created: Timestamp) -> Result<RelPath, Error> {
        let history = &self.histories[index];
        let number = history.links.len() + 1;
        let folder = self.top.join(history.name.to_path().unwrap_or_default());
        let stat = |error| FileError::new(Operation::Stat, &folder, error);
        let folder = folder.canonicalize().map_err(stat)?;
        let name = folder.file_name().and_then(|name| name.to_str());
        // A name that the chain could not hold, or that would hide the file, is no use in it.
        let usable = |name: &&str| !name.contains(char::is_control);
        let name = name.filter(usable).unwrap_or("root");
        let time = created.to_seconds().replace('T', "_").replace(':', "");
        Ok(RelPath::from(&*format!("{number:04}_{name}_{time}.mhl")))
    }
}

/// A hash by a new algorithm is as good as those by the old ones that it came with.
fn action_of(digest: Digest, of_file: Action, known: &[Digest]) -> Action {
    let mut same = known
        .iter()
        .filter(|known| known.algorithm() == digest.algorithm())
        .peekable();
    if of_file != Action::Failed || same.peek().is_none() {
        return of_file;
    }
    if same.all(|known| *known == digest) {
        Action::Verified
    } else {
        Action::Failed
    }
}

fn filter(histories: &[History], ignore: &[String]) -> Result<Filter, FilterError> {
    let mut filter = Filter::builder();
    for history in histories {
        let patterns = history.ignore.iter().map(String::as_str);
        ignore_below(&mut filter, &history.name, DEFAULT_IGNORE)?;
        ignore_below(&mut filter, &history.name, patterns)?;
    }
    for pattern in ignore {
        filter.exclude(pattern)?;
    }
    filter.build()
}

#[cfg(test)]
mod tests {
    use super::super::history::tests::{entry, written};
    use super::*;

    fn open(top: &Path) -> MhlSession {
        MhlSession::open(top, &[Algorithm::C4], &[]).unwrap()
    }

    /// What an engine gives for a file whose digests all are of one repeated byte.
    fn hashed(session: &MhlSession, byte: u8) -> Hashed {
        let digest = |algorithm: Algorithm| {
            Digest::new(algorithm, &vec![byte; algorithm.digest_len_bytes()]).unwrap()
        };
        Hashed {
            digests: session.algorithms().into_iter().map(digest).collect(),
            size: 1,
            read_before: None,
            modified: None,
            identity: None,
            retried_reads: 0,
            direct_refused: false,
        }
    }

    fn take(session: &mut MhlSession, name: &str, byte: u8) -> Option<Verdict> {
        let hashed = hashed(session, byte);
        session.take(&RelPath::from(name), &hashed).unwrap()
    }

    fn actions(session: &MhlSession, name: &str) -> Vec<(Algorithm, Action)> {
        let noted = session.files[&RelPath::from(name)].noted.iter();
        noted
            .map(|(digest, action)| (digest.algorithm(), *action))
            .collect()
    }

    #[test]
    fn nothing_is_verified_that_was_not_compared() {
        let sha256 = "11".repeat(32);
        let entries = format!(
            "<hash><path>a</path><sha256>{sha256}</sha256></hash>\
             <hash><path>b</path><sha999>00</sha999></hash>"
        );
        let holder = written(&[&entries]);
        let mut session = open(holder.path());
        assert_eq!(session.algorithms(), [Algorithm::C4, Algorithm::Sha256]);
        assert!(matches!(
            take(&mut session, "a", 0x22),
            Some(Verdict::Changed { .. })
        ));
        assert!(take(&mut session, "a", 0x11).is_none());
        let verified = [(Algorithm::C4, Action::Verified)];
        assert_eq!(actions(&session, "a"), verified);
        let why = Unverified::UnsupportedAlgorithm("sha999".into());
        let verdict = take(&mut session, "b", 0x11);
        assert_eq!(
            format!("{verdict:?}"),
            format!("{:?}", Some(Verdict::Unverified(why)))
        );
        assert_eq!(actions(&session, "b"), [(Algorithm::C4, Action::Unstated)]);
        assert!(take(&mut session, "c", 0x11).is_none());
        assert_eq!(actions(&session, "c"), [(Algorithm::C4, Action::Original)]);
        let created = Timestamp::new(0, 0).unwrap();
        let generations = session.finish(created, "host").unwrap();
        let text = String::from_utf8_lossy(&generations.documents[0].bytes);
        assert!(text.contains(">b</path>\n      <c4 hashdate="), "{text}");
    }

    #[test]
    fn many_alike_files_that_moved_are_paired_in_their_order() {
        let count = 20_000;
        let entries: String = (0..count)
            .map(|index| entry(&format!("old/{index:05}"), '1', None))
            .collect();
        let holder = written(&[&entries]);
        let mut session = open(holder.path());
        for index in 0..count {
            take(&mut session, &format!("new/{index:05}"), 0x11);
        }
        take(&mut session, "other", 0x22);
        let missing = session.missing();
        assert_eq!(missing.len(), count);
        let renamed = session.renamed(&missing);
        assert_eq!(renamed.len(), count);
        for (index, renamed) in renamed.iter().enumerate() {
            assert_eq!(renamed.from, RelPath::from(&*format!("old/{index:05}")));
            assert_eq!(renamed.to, RelPath::from(&*format!("new/{index:05}")));
        }
    }

    #[test]
    fn what_a_stopped_run_left_is_told_and_goes() {
        let holder = written(&[&entry("a", '1', None)]);
        let stray = holder.path().join(HISTORY).join("0002_y.mhl");
        std::fs::write(&stray, "").unwrap();
        let mut session = open(holder.path());
        assert_eq!(session.notes().len(), 1);
        take(&mut session, "a", 0x11);
        let created = Timestamp::new(0, 0).unwrap();
        let generations = session.finish(created, "host").unwrap();
        assert_eq!(generations.leftovers, [stray]);
    }
}
