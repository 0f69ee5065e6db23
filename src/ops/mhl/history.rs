//! What a history on the disk says, and what is wrong with it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::error::{Error, FileError, Operation};
use crate::hasher::new_hasher;
use crate::manifest::ascmhl::{self, Action, ChainLink, MhlFile, MhlItem, MhlReader};
use crate::manifest::{ClaimedDigest, Malformed, Remark};
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
    /// What spoils nothing: in which of its files, at which line, and what.
    pub(super) remarks: Vec<(String, u64, Remark)>,
    /// Files of the generation that is due, of a run that was stopped before the chain named them.
    pub(super) leftovers: Vec<String>,
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

    /// An algorithm of the others, which cannot be computed.
    pub(super) fn unsupported(&self) -> Option<&str> {
        self.digests.iter().find_map(|digest| match digest {
            ClaimedDigest::Unsupported(name) => Some(&**name),
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
            remarks: Vec::new(),
            leftovers: Vec::new(),
        };
        let folder = history.folder(top);
        match folder.symlink_metadata() {
            Ok(known) if known.is_dir() => {}
            Ok(_) => {
                let reason = format!("{HISTORY} is no folder of its own");
                history.problem(CHAIN, 1, Malformed::Altered(reason));
                return Ok(history);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(history),
            Err(error) => return Err(FileError::new(Operation::Stat, folder, error).into()),
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
        let failed = |error| FileError::new(Operation::Read, &path, error);
        let bytes = match read_plain(&path).map_err(failed)? {
            Contents::Bytes(bytes) => bytes,
            Contents::Missing => {
                let reason = "the chain of its generations is missing".to_owned();
                self.problem(CHAIN, 1, Malformed::Altered(reason));
                return Ok(());
            }
            Contents::Refused(reason) => {
                self.problem(CHAIN, 1, Malformed::Altered(reason));
                return Ok(());
            }
        };
        let links = ascmhl::read_chain(&bytes[..]).map_err(failed)?;
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
        let failed = |error| FileError::new(Operation::Read, &path, error);
        let reason = match read_plain(&path).map_err(failed)? {
            Contents::Bytes(bytes) if c4_of(&bytes) == link.c4 => return Ok(Some(bytes)),
            Contents::Bytes(_) => "it is not what the chain of generations records".to_owned(),
            Contents::Missing => {
                "the chain of generations records it, and it is missing".to_owned()
            }
            Contents::Refused(reason) => reason,
        };
        self.problem(&name, 1, Malformed::Altered(reason));
        Ok(None)
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
        self.rename(&name, &files);
        for (line, file) in files {
            self.record(file, (index, line));
        }
        Ok(())
    }

    /// Moves what is known of files that a generation has under another name, all at once.
    ///
    /// What would take the place of another file stays where it is, and is missing there.
    fn rename(&mut self, generation: &str, files: &[(u64, MhlFile)]) {
        let mut moves: HashMap<&RelPath, (&RelPath, u64)> = HashMap::new();
        let mut gone: HashSet<&RelPath> = HashSet::new();
        let mut blocked: Vec<(&RelPath, &RelPath, u64)> = Vec::new();
        for (line, file) in files {
            let (Some(from), to) = (&file.previous, &file.name) else {
                continue;
            };
            if from == to || !self.files.contains_key(from) || gone.contains(from) {
                continue;
            }
            if moves.contains_key(to) {
                blocked.push((from, to, *line));
            } else {
                gone.insert(from);
                moves.insert(to, (from, *line));
            }
        }
        let mut held: Vec<&RelPath> = moves.keys().copied().collect();
        held.retain(|to| self.files.contains_key(to) && !gone.contains(to));
        while let Some(to) = held.pop() {
            // A name that stays taken holds up the file that was to have it, whose name stays taken too.
            if let Some((from, line)) = moves.remove(to) {
                blocked.push((from, to, line));
                held.push(from);
            }
        }
        let taken = |(to, (from, _)): (&RelPath, (&RelPath, u64))| {
            self.files.remove(from).map(|known| (to.clone(), known))
        };
        let moved: Vec<(RelPath, Recorded)> = moves.into_iter().filter_map(taken).collect();
        self.files.extend(moved);
        blocked.sort_by_key(|(_, _, line)| *line);
        for (from, to, line) in blocked {
            let text = format!("{from} cannot have become {to}, which was recorded before");
            let remark = (generation.to_owned(), line, Remark::Ignored(text));
            self.remarks.push(remark);
        }
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

    /// Generations that nothing guards are not used; that they are there is told. One with the number that
    /// is due comes from a run that was stopped before it wrote the chain.
    fn find_strays(&mut self, folder: &Path) -> Result<(), Error> {
        let failed = |error| FileError::new(Operation::List, folder, error);
        let linked: HashSet<&RelPath> = self.links.iter().map(|link| &link.path).collect();
        let mut strays = Vec::new();
        for entry in folder.read_dir().map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = RelPath::from_path(Path::new(&entry.file_name()));
            let bytes = name.as_bytes();
            let is_list = bytes.ends_with(b".mhl") && !bytes.starts_with(b"._");
            if is_list && !linked.contains(&name) {
                let is_file = entry.file_type().map_err(failed)?.is_file();
                strays.push((entry.file_name(), is_file));
            }
        }
        strays.sort();
        for (stray, is_file) in strays {
            match stray.to_str().filter(|name| is_file && self.is_due(name)) {
                Some(name) => self.leftover(name),
                None => {
                    let reason = "it is not in the chain of generations".to_owned();
                    let name = RelPath::from_path(Path::new(&stray)).to_string();
                    self.problem(&name, 1, Malformed::Altered(reason));
                }
            }
        }
        Ok(())
    }

    /// Whether a file is named as the next generation would be. Without a chain nothing tells how many
    /// generations there were, so that none is due.
    fn is_due(&self, name: &str) -> bool {
        let number = name.split_once('_').map(|(number, _)| number);
        let due = format!("{:04}", self.links.len() + 1);
        self.problems.is_empty() && !self.links.is_empty() && number == Some(&*due)
    }

    fn leftover(&mut self, name: &str) {
        let text = "it comes from a run that was stopped, and is not used".to_owned();
        self.remarks
            .push((name.to_owned(), 1, Remark::Ignored(text)));
        self.leftovers.push(name.to_owned());
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
        // What is wrong with it has been told when it was read for its files.
        let Ok(Contents::Bytes(bytes)) = read_plain(&path) else {
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
    let below = path.to_path()?;
    let mut folders = below.ancestors().skip(1);
    if folders.any(|folder| around.join(folder).is_symlink() && !folder.as_os_str().is_empty()) {
        return Some(format!("{path} lies behind a link"));
    }
    match read_plain(&around.join(&below)) {
        Ok(Contents::Bytes(bytes)) if c4_of(&bytes) == c4 => None,
        Ok(Contents::Bytes(_)) => {
            Some(format!("{path} is not what it was when it was referred to"))
        }
        Ok(Contents::Missing) => Some(format!("{path}, to which it refers, is missing")),
        Ok(Contents::Refused(reason)) => Some(format!("{path}, to which it refers: {reason}")),
        Err(error) => Some(format!("{path}, to which it refers: {error}")),
    }
}

/// The longest file of a history that is read, in bytes.
const MAX_FILE_LEN_BYTES: u64 = 1 << 30;

/// What a file of a history holds.
enum Contents {
    Bytes(Vec<u8>),
    Missing,
    /// It is nothing that may be read, for this reason.
    Refused(String),
}

/// Reads a file of a history: no link, which could lead out of it, and nothing that never ends.
fn read_plain(path: &Path) -> io::Result<Contents> {
    match path.symlink_metadata() {
        Ok(known) if known.is_file() => {}
        Ok(_) => return Ok(Contents::Refused("it is no file of its own".to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Contents::Missing),
        Err(error) => return Err(error),
    }
    let file = File::open(path)?;
    let mut bytes = Vec::new();
    if file.metadata()?.len() <= MAX_FILE_LEN_BYTES {
        file.take(MAX_FILE_LEN_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 <= MAX_FILE_LEN_BYTES {
            return Ok(Contents::Bytes(bytes));
        }
    }
    let reason = format!("it is longer than {MAX_FILE_LEN_BYTES} bytes");
    Ok(Contents::Refused(reason))
}

pub(super) fn c4_of(bytes: &[u8]) -> Digest {
    let mut hasher = new_hasher(Algorithm::C4);
    hasher.update(bytes);
    hasher.finish()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::fs;

    /// Writes a history with these entries, one text for each generation.
    pub(in crate::ops::mhl) fn written(generations: &[&str]) -> tempfile::TempDir {
        let holder = tempfile::tempdir().unwrap();
        let folder = holder.path().join(HISTORY);
        fs::create_dir(&folder).unwrap();
        let mut links = Vec::new();
        for (sequence, entries) in (1..).zip(generations) {
            let text = format!("<hashlist><hashes>{entries}</hashes></hashlist>");
            let path = format!("{sequence:04}_x.mhl");
            fs::write(folder.join(&path), &text).unwrap();
            links.push(ChainLink {
                sequence,
                path: RelPath::from(&*path),
                c4: c4_of(text.as_bytes()),
            });
        }
        let chain = ascmhl::write_chain(&links).unwrap();
        fs::write(folder.join(CHAIN), chain).unwrap();
        holder
    }

    /// An entry with an MD5 of one repeated digit.
    pub(in crate::ops::mhl) fn entry(name: &str, digit: char, previous: Option<&str>) -> String {
        let md5 = digit.to_string().repeat(32);
        let previous = previous.map_or_else(String::new, |name| {
            format!("<previousPath>{name}</previousPath>")
        });
        format!("<hash><path>{name}</path><md5>{md5}</md5>{previous}</hash>")
    }

    fn read(top: &Path) -> History {
        read_histories(top, None).unwrap().remove(0)
    }

    fn known(history: &History) -> Vec<String> {
        let digits = |recorded: &Recorded| -> String {
            let known = recorded.known().map(ToString::to_string);
            known.map(|digest| digest[..1].to_owned()).collect()
        };
        let files = history.files.iter();
        files
            .map(|(name, recorded)| format!("{name}={}", digits(recorded)))
            .collect()
    }

    #[test]
    fn a_name_that_is_taken_holds_up_who_was_to_have_it() {
        let first = [('a', '1'), ('b', '2'), ('x', '3')];
        let first: String = first
            .map(|(name, digit)| entry(&name.to_string(), digit, None))
            .concat();
        for (second, expected, remarks) in [
            (entry("x", '3', Some("a")), "a=1 b=2 x=3", 1),
            (
                entry("x", '3', Some("a")) + &entry("a", '2', Some("b")),
                "a=12 b=2 x=3",
                2,
            ),
            (
                entry("n", '1', Some("a")) + &entry("n", '1', Some("b")),
                "b=2 n=1 x=3",
                1,
            ),
            (
                entry("a", '2', Some("b")) + &entry("b", '1', Some("a")),
                "a=2 b=1 x=3",
                0,
            ),
            (
                entry("b", '1', Some("a")) + &entry("n", '2', Some("b")),
                "b=1 n=2 x=3",
                0,
            ),
        ] {
            let holder = written(&[&first, &second]);
            let history = read(holder.path());
            assert!(history.problems.is_empty(), "{:?}", history.problems);
            assert_eq!(known(&history).join(" "), expected, "{second}");
            assert_eq!(history.remarks.len(), remarks, "{second}");
        }
    }

    #[test]
    fn only_a_generation_that_is_due_is_a_leftover() {
        for (name, leftover) in [
            ("0002_y.mhl", true),
            ("0003_y.mhl", false),
            ("0001_y.mhl", false),
            ("0002y.mhl", false),
        ] {
            let holder = written(&[&entry("a", '1', None)]);
            fs::write(holder.path().join(HISTORY).join(name), "").unwrap();
            let history = read(holder.path());
            assert_eq!(history.leftovers.len(), usize::from(leftover), "{name}");
            assert_eq!(history.remarks.len(), usize::from(leftover), "{name}");
            assert_eq!(history.problems.len(), usize::from(!leftover), "{name}");
        }
        let holder = written(&[]);
        let folder = holder.path().join(HISTORY);
        fs::write(folder.join("0001_y.mhl"), "").unwrap();
        assert!(read(holder.path()).leftovers.is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_of_the_history_is_not_opened() {
        use std::os::unix::fs::symlink;
        for name in ["0001_x.mhl", CHAIN] {
            let holder = written(&[&entry("a", '1', None)]);
            let path = holder.path().join(HISTORY).join(name);
            fs::rename(&path, holder.path().join("outside")).unwrap();
            symlink("../outside", &path).unwrap();
            let history = read(holder.path());
            assert!(!history.problems.is_empty(), "{name}");
            assert!(history.files.is_empty(), "{name}");
            fs::remove_file(&path).unwrap();
            symlink("/dev/zero", &path).unwrap();
            assert!(!read(holder.path()).problems.is_empty(), "{name}");
            fs::remove_file(&path).unwrap();
            let long = File::create(&path).unwrap();
            long.set_len(MAX_FILE_LEN_BYTES + 1).unwrap();
            assert!(!read(holder.path()).problems.is_empty(), "{name}");
        }
        let holder = written(&[&entry("a", '1', None)]);
        let folder = holder.path().join(HISTORY);
        fs::rename(&folder, holder.path().join("elsewhere")).unwrap();
        symlink("elsewhere", &folder).unwrap();
        assert_eq!(read(holder.path()).problems.len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_reference_does_not_lead_through_links() {
        let holder = written(&[]);
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("g.mhl"), "g").unwrap();
        std::os::unix::fs::symlink(outside.path(), holder.path().join("d")).unwrap();
        let wrong = wrong_reference(holder.path(), &RelPath::from("d/g.mhl"), c4_of(b"g"));
        assert_eq!(wrong.as_deref(), Some("d/g.mhl lies behind a link"));
        let own = wrong_reference(outside.path(), &RelPath::from("g.mhl"), c4_of(b"g"));
        assert_eq!(own, None);
    }
}
