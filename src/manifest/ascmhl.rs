//! The documents of an ASC media hash list history: generations and the chain.
//!
//! Source: ASC MHL specification 1.0 of 2022-03-15 and its schemas. A generation says of every file what
//! was done with each hash: made for the first time, verified, or found to be wrong.

use std::io::{self, Read};

use super::evidence::AlgorithmEvidence;
use super::lines::decimal;
use super::writer::EntryError;
use super::xml::{self, LineEnds, Node, XmlError, XmlReader};
use super::{ClaimedDigest, Format, Malformed};
use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::relpath::RelPath;
use crate::timestamp::{Modified, Timestamp};

/// The algorithms that a list can hold, in the order in which its schema wants them.
pub const ALGORITHMS: [Algorithm; 6] = [
    Algorithm::C4,
    Algorithm::Md5,
    Algorithm::Sha1,
    Algorithm::Xxh128,
    Algorithm::Xxh3,
    Algorithm::Xxh64,
];

/// What a generation consists of.
const SECTIONS: [&str; 5] = [
    "creatorinfo",
    "processinfo",
    "hashes",
    "metadata",
    "references",
];

/// The namespace of a generation's elements.
pub(super) const NAMESPACE: &str = "urn:ASC:MHL:v2.0";

/// What was done when a hash was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The file had no hash before.
    Original,
    /// The file was as recorded before.
    Verified,
    /// The file was not as recorded before; the hash proves nothing.
    Failed,
    /// Nothing is said: what was recorded before could not be compared.
    Unstated,
}

impl Action {
    fn word(self) -> Option<&'static str> {
        match self {
            Self::Original => Some("original"),
            Self::Verified => Some("verified"),
            Self::Failed => Some("failed"),
            Self::Unstated => None,
        }
    }

    /// The schema lets it be left out.
    fn read(word: Option<&str>) -> Result<Self, Malformed> {
        match word {
            None => Ok(Self::Unstated),
            Some("original") => Ok(Self::Original),
            Some("verified") => Ok(Self::Verified),
            Some("failed") => Ok(Self::Failed),
            Some(other) => Err(Malformed::bad_field("action", other.as_bytes())),
        }
    }
}

/// What a generation says of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MhlFile {
    /// Its name below the history's folder.
    pub name: RelPath,
    /// Its size in bytes.
    pub size: Option<u64>,
    /// When it was last modified.
    pub modified: Option<Modified>,
    /// Its hashes.
    pub digests: Vec<(ClaimedDigest, Action)>,
    /// The name that it had in former generations.
    pub previous: Option<RelPath>,
}

/// One thing that stands in a generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MhlItem {
    /// When it was made.
    Created(Timestamp),
    /// A pattern, as in `.gitignore`, of what was left out.
    Ignore(String),
    /// A file.
    File(MhlFile),
    /// A folder.
    Folder {
        /// Its name below the history's folder.
        name: RelPath,
        /// The name that it had in former generations.
        previous: Option<RelPath>,
    },
    /// A generation of a history in a folder below.
    Reference {
        /// The file of that generation.
        path: RelPath,
        /// What it must contain.
        c4: Digest,
    },
    /// Something that cannot be understood.
    Malformed(Malformed),
}

/// Reads a generation item by item, each with the line where it begins.
#[derive(Debug)]
pub struct MhlReader<'r> {
    xml: XmlReader<'r>,
    algorithms: AlgorithmEvidence,
    entry: Entry,
    ended: bool,
}

/// The element that is being read: a file, a folder, a reference.
#[derive(Debug, Default)]
struct Entry {
    name: Option<RelPath>,
    size: Option<u64>,
    modified: Option<Modified>,
    digests: Vec<(ClaimedDigest, Action)>,
    previous: Option<RelPath>,
    c4: Option<Digest>,
    problem: Option<Malformed>,
}

impl<'r> MhlReader<'r> {
    /// Reads from any stream. Of the hashes only those of `asked` are taken, if given.
    pub fn new(input: impl Read + Send + 'r, asked: Option<Algorithm>) -> Self {
        let algorithms = AlgorithmEvidence {
            asked,
            comment: None,
            list_name: None,
        };
        Self::with_evidence(Box::new(input), algorithms)
    }

    pub(super) fn with_evidence(
        input: Box<dyn Read + Send + 'r>,
        algorithms: AlgorithmEvidence,
    ) -> Self {
        Self {
            xml: XmlReader::new(input, LineEnds::Normal),
            algorithms,
            entry: Entry::default(),
            ended: false,
        }
    }

    /// The next item; `None` at the end. What breaks the rules of XML is the last item.
    ///
    /// # Errors
    ///
    /// Those of the stream.
    pub fn next_item(&mut self) -> io::Result<Option<(u64, MhlItem)>> {
        while !self.ended {
            let item = match self.xml.next() {
                Ok(Node::Start) => self.start(),
                Ok(Node::End) => self.end(),
                Ok(Node::Done) => {
                    self.ended = true;
                    None
                }
                Err(XmlError::Read(error)) => {
                    self.ended = true;
                    return Err(error);
                }
                Err(XmlError::Document(reason)) => {
                    self.ended = true;
                    return Ok(Some((self.xml.line(), MhlItem::Malformed(reason))));
                }
            };
            if let Some(item) = item {
                return Ok(Some((self.xml.start_line(), item)));
            }
        }
        Ok(None)
    }

    fn start(&mut self) -> Option<MhlItem> {
        let is_root = self.xml.depth() == 1;
        if is_root && self.xml.name() != "hashlist" {
            let name = self.xml.name().as_bytes();
            return Some(MhlItem::Malformed(Malformed::bad_field(
                "root element",
                name,
            )));
        }
        if self.xml.depth() == 3 {
            self.entry = Entry::default();
        }
        self.unknown().map(MhlItem::Malformed)
    }

    /// What stands where only known elements may, since another could be an entry spelt otherwise.
    fn unknown(&self) -> Option<Malformed> {
        let known: &[&str] = match (self.xml.depth(), self.xml.name_at(2)) {
            (2, _) => &SECTIONS,
            (3, "hashes") => &["hash", "directoryhash"],
            (3, "references") => &["hashlistreference"],
            _ => return None,
        };
        let name = self.xml.name();
        (!known.contains(&name)).then(|| Malformed::bad_field("element", name.as_bytes()))
    }

    fn end(&mut self) -> Option<MhlItem> {
        let section = self.xml.name_at(2);
        match (section, self.xml.depth()) {
            ("creatorinfo", 3) if self.xml.name() == "creationdate" => {
                let time = moment(self.xml.text().unwrap_or_default())?;
                Some(MhlItem::Created(time.time))
            }
            ("processinfo", 4) if self.xml.name() == "pattern" => {
                let pattern = self.xml.text().map(|text| std::str::from_utf8(text));
                Some(match pattern {
                    Some(Ok(pattern)) => MhlItem::Ignore(pattern.to_owned()),
                    _ => MhlItem::Malformed(Malformed::NoField("pattern that is text")),
                })
            }
            ("hashes" | "references", 4) => {
                if let Err(reason) = self.field() {
                    self.entry.problem.get_or_insert(reason);
                }
                None
            }
            ("hashes" | "references", 3) => {
                let entry = std::mem::take(&mut self.entry);
                entry.finish(self.xml.name())
            }
            _ => None,
        }
    }

    /// Takes an element in a file, a folder or a reference.
    fn field(&mut self) -> Result<(), Malformed> {
        let (around, name) = (self.xml.parent(), self.xml.name());
        match (around, name) {
            (_, "metadata") | ("directoryhash", "content" | "structure") => {}
            (_, "path") => {
                let size = self.xml.attribute("size");
                self.entry.size = size.map(|text| number("size", text)).transpose()?;
                let time = self.xml.attribute("lastmodificationdate");
                self.entry.modified = time
                    .map(|text| {
                        moment(text.as_bytes()).ok_or(Malformed::bad_field("time", text.as_bytes()))
                    })
                    .transpose()?;
                let path = path(self.xml.text())?;
                if self.entry.name.replace(path).is_some() {
                    return Err(Malformed::Rule("two paths in one entry".to_owned()));
                }
            }
            (_, "previousPath") => {
                let path = path(self.xml.text())?;
                only(&mut self.entry.previous, "previousPath", path)?;
            }
            ("hashlistreference", "c4") => {
                let text = self.xml.text().unwrap_or_default().trim_ascii();
                let c4 = Digest::parse(Algorithm::C4, text)
                    .ok_or_else(|| Malformed::bad_field("c4", text))?;
                only(&mut self.entry.c4, "c4", c4)?;
            }
            ("hash", word) => {
                let action = Action::read(self.xml.attribute("action"))?;
                let text = self.xml.text().unwrap_or_default().trim_ascii();
                if let Some(digest) = self.algorithms.named(word, text)? {
                    self.entry.add(digest, action)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Entry {
    /// Adds a hash, once if it stands there twice.
    fn add(&mut self, digest: ClaimedDigest, action: Action) -> Result<(), Malformed> {
        let same = |(known, _): &&(ClaimedDigest, Action)| match (known, &digest) {
            (ClaimedDigest::Known(a), ClaimedDigest::Known(b)) => a.algorithm() == b.algorithm(),
            (known, digest) => known == digest,
        };
        match self.digests.iter().find(same) {
            Some(known) if *known == (digest.clone(), action) => {}
            Some(_) => return Err(Malformed::Rule("two hashes by one algorithm".to_owned())),
            None => self.digests.push((digest, action)),
        }
        Ok(())
    }

    fn finish(self, element: &str) -> Option<MhlItem> {
        let known = matches!(element, "hash" | "directoryhash" | "hashlistreference");
        if let Some(reason) = self.problem.filter(|_| known) {
            return Some(MhlItem::Malformed(reason));
        }
        let name = match self.name {
            Some(name) => name,
            None if known => return Some(MhlItem::Malformed(Malformed::NoField("path"))),
            None => return None,
        };
        let (previous, size, modified, digests) =
            (self.previous, self.size, self.modified, self.digests);
        match (element, self.c4) {
            ("hash", _) => Some(MhlItem::File(MhlFile {
                name,
                size,
                modified,
                digests,
                previous,
            })),
            ("directoryhash", _) => Some(MhlItem::Folder { name, previous }),
            ("hashlistreference", Some(c4)) => Some(MhlItem::Reference { path: name, c4 }),
            ("hashlistreference", None) => Some(MhlItem::Malformed(Malformed::NoField("c4"))),
            _ => None,
        }
    }
}

/// Takes the value of a field that an entry has once.
pub(super) fn only<T>(
    place: &mut Option<T>,
    field: &'static str,
    value: T,
) -> Result<(), Malformed> {
    match place.replace(value) {
        Some(_) => Err(Malformed::Rule(format!("more than one {field}"))),
        None => Ok(()),
    }
}

/// A name that is the text of an element.
pub(super) fn path(text: Option<&[u8]>) -> Result<RelPath, Malformed> {
    let text = text.ok_or_else(|| Malformed::Rule("elements within a name".to_owned()))?;
    if text.is_empty() {
        return Err(Malformed::EmptyName);
    }
    if text.contains(&0) {
        return Err(Malformed::NulInName);
    }
    Ok(RelPath::from_bytes(text))
}

pub(super) fn number(field: &'static str, text: &str) -> Result<u64, Malformed> {
    let number = decimal(text.trim_ascii().as_bytes());
    number.ok_or_else(|| Malformed::bad_field(field, text.as_bytes()))
}

pub(super) fn moment(text: &[u8]) -> Option<Modified> {
    Modified::parse(std::str::from_utf8(text).ok()?.trim_ascii())
}

/// One generation of a history, as its chain names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainLink {
    /// Its number, counted from 1.
    pub sequence: u64,
    /// The name of its file.
    pub path: RelPath,
    /// What the file must contain.
    pub c4: Digest,
}

/// Reads `ascmhl_chain.xml`: every generation with the line where it is named, or what is wrong there.
///
/// # Errors
///
/// Those of the stream.
pub fn read_chain(input: impl Read + Send) -> io::Result<Vec<(u64, Result<ChainLink, Malformed>)>> {
    let mut xml = XmlReader::new(Box::new(input), LineEnds::Normal);
    let mut links = Vec::new();
    let mut link = Link::default();
    loop {
        match xml.next() {
            Ok(Node::Done) => return Ok(links),
            Ok(Node::Start) if xml.depth() == 1 && xml.name() != "ascmhldirectory" => {
                links.push((
                    1,
                    Err(Malformed::bad_field("root element", xml.name().as_bytes())),
                ));
            }
            Ok(Node::Start) if xml.depth() == 2 => {
                link = Link::default();
                link.sequence = xml.attribute("sequencenr").map(str::to_owned);
                if xml.name() != "hashlist" {
                    links.push((
                        xml.start_line(),
                        Err(Malformed::bad_field("element", xml.name().as_bytes())),
                    ));
                }
            }
            Ok(Node::End) if xml.depth() == 3 => {
                if let Err(reason) = link.field(&xml) {
                    link.problem.get_or_insert(reason);
                }
            }
            Ok(Node::End) if xml.depth() == 2 && xml.name() == "hashlist" => {
                links.push((xml.start_line(), std::mem::take(&mut link).finish()));
            }
            Ok(Node::Start | Node::End) => {}
            Err(XmlError::Read(error)) => return Err(error),
            Err(XmlError::Document(reason)) => {
                links.push((xml.line(), Err(reason)));
                return Ok(links);
            }
        }
    }
}

#[derive(Debug, Default)]
struct Link {
    sequence: Option<String>,
    path: Option<RelPath>,
    c4: Option<Vec<u8>>,
    problem: Option<Malformed>,
}

impl Link {
    fn field(&mut self, xml: &XmlReader<'_>) -> Result<(), Malformed> {
        match xml.name() {
            "path" => only(&mut self.path, "path", path(xml.text())?),
            "c4" => {
                let text = xml.text().unwrap_or_default().trim_ascii();
                only(&mut self.c4, "c4", text.to_vec())
            }
            _ => Ok(()),
        }
    }

    fn finish(self) -> Result<ChainLink, Malformed> {
        if let Some(reason) = self.problem {
            return Err(reason);
        }
        let sequence = self.sequence.ok_or(Malformed::NoField("sequencenr"))?;
        let c4 = self.c4.ok_or(Malformed::NoField("c4"))?;
        Ok(ChainLink {
            sequence: number("sequencenr", &sequence)?,
            path: self.path.ok_or(Malformed::NoField("path"))?,
            c4: Digest::parse(Algorithm::C4, &c4).ok_or_else(|| Malformed::bad_field("c4", &c4))?,
        })
    }
}

/// Writes `ascmhl_chain.xml`.
///
/// # Errors
///
/// A name that XML cannot hold.
pub fn write_chain(links: &[ChainLink]) -> Result<Vec<u8>, EntryError> {
    let mut out = PROLOG.to_vec();
    out.extend_from_slice(b"<ascmhldirectory xmlns=\"urn:ASC:MHL:DIRECTORY:v2.0\">\n");
    for link in links {
        let sequence = link.sequence;
        out.extend_from_slice(format!("  <hashlist sequencenr=\"{sequence}\">\n").as_bytes());
        out.extend_from_slice(b"    <path>");
        push_name(&link.path, &mut out)?;
        let c4 = link.c4;
        let rest = format!("</path>\n    <c4>{c4}</c4>\n  </hashlist>\n");
        out.extend_from_slice(rest.as_bytes());
    }
    out.extend_from_slice(b"</ascmhldirectory>\n");
    Ok(out)
}

pub(super) const PROLOG: &[u8] = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

/// Hashes of a folder: of what is in it, and of that with the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FolderDigest {
    /// The hash of the hashes of everything in it.
    pub content: Digest,
    /// The same with every name.
    pub structure: Digest,
}

/// What a new generation says of one file or folder.
#[derive(Clone, Debug)]
pub enum NewItem {
    /// A file.
    File {
        /// Its name below the history's folder.
        name: RelPath,
        /// Its size in bytes.
        size: u64,
        /// When it was last modified.
        modified: Option<Timestamp>,
        /// Its hashes, in any order.
        digests: Vec<(Digest, Action)>,
        /// The name that it had in former generations.
        previous: Option<RelPath>,
    },
    /// A folder.
    Folder {
        /// Its name below the history's folder.
        name: RelPath,
        /// Its hashes, in any order.
        digests: Vec<FolderDigest>,
    },
}

/// A generation to be written.
#[derive(Clone, Debug)]
pub struct NewGeneration {
    /// When the run that makes it began.
    pub created: Timestamp,
    /// The computer that it is made on.
    pub host: String,
    /// Patterns of what is left out.
    pub ignore: Vec<String>,
    /// The hashes of the history's folder.
    pub root: Vec<FolderDigest>,
    /// Files and folders.
    pub items: Vec<NewItem>,
    /// Generations of histories below: their files and what these contain.
    pub references: Vec<(RelPath, Digest)>,
}

impl NewGeneration {
    /// Spells it in XML.
    ///
    /// # Errors
    ///
    /// A name that XML or the format cannot hold, or a text of that kind.
    pub fn to_bytes(&self) -> Result<Vec<u8>, EntryError> {
        let mut out = Vec::new();
        push_creator(Some(self.created), &self.host, &mut out)?;
        out.extend_from_slice(b"  <processinfo>\n    <process>in-place</process>\n");
        if !self.root.is_empty() {
            out.extend_from_slice(b"    <roothash>\n");
            push_folder_digests(&self.root, &mut out);
            out.extend_from_slice(b"    </roothash>\n");
        }
        if !self.ignore.is_empty() {
            out.extend_from_slice(b"    <ignore>\n");
            for pattern in &self.ignore {
                out.extend_from_slice(b"      <pattern>");
                push_name(&RelPath::from(&**pattern), &mut out)?;
                out.extend_from_slice(b"</pattern>\n");
            }
            out.extend_from_slice(b"    </ignore>\n");
        }
        out.extend_from_slice(b"  </processinfo>\n");
        if !self.items.is_empty() {
            out.extend_from_slice(b"  <hashes>\n");
            for item in &self.items {
                item.push(self.created, &mut out)?;
            }
            out.extend_from_slice(b"  </hashes>\n");
        }
        if !self.references.is_empty() {
            out.extend_from_slice(b"  <references>\n");
            for (path, c4) in &self.references {
                out.extend_from_slice(b"    <hashlistreference>\n      <path>");
                push_name(path, &mut out)?;
                let rest = format!("</path>\n      <c4>{c4}</c4>\n    </hashlistreference>\n");
                out.extend_from_slice(rest.as_bytes());
            }
            out.extend_from_slice(b"  </references>\n");
        }
        out.extend_from_slice(b"</hashlist>\n");
        Ok(out)
    }
}

impl NewItem {
    fn push(&self, date: Timestamp, out: &mut Vec<u8>) -> Result<(), EntryError> {
        match self {
            Self::File {
                name,
                size,
                modified,
                digests,
                previous,
            } => {
                push_path(name, Some(*size), *modified, out)?;
                for (digest, action) in sorted(digests, |(digest, _)| digest.algorithm()) {
                    let (algorithm, date) = (digest.algorithm(), date.to_seconds());
                    let word = action.word();
                    let action =
                        word.map_or_else(String::new, |word| format!(" action=\"{word}\""));
                    let line = format!(
                        "      <{algorithm}{action} hashdate=\"{date}\">{digest}</{algorithm}>\n"
                    );
                    out.extend_from_slice(line.as_bytes());
                }
                if let Some(previous) = previous {
                    out.extend_from_slice(b"      <previousPath>");
                    push_name(previous, out)?;
                    out.extend_from_slice(b"</previousPath>\n");
                }
                out.extend_from_slice(b"    </hash>\n");
            }
            Self::Folder { name, digests } => {
                out.extend_from_slice(b"    <directoryhash>\n      <path>");
                check_name(name)?;
                push_name(name, out)?;
                out.extend_from_slice(b"</path>\n");
                push_folder_digests(digests, out);
                out.extend_from_slice(b"    </directoryhash>\n");
            }
        }
        Ok(())
    }
}

fn sorted<T>(items: &[T], algorithm: impl Fn(&T) -> Algorithm) -> Vec<&T> {
    let mut sorted: Vec<&T> = items.iter().collect();
    sorted.sort_by_key(|item| {
        ALGORITHMS
            .iter()
            .position(|known| *known == algorithm(item))
    });
    sorted
}

fn push_folder_digests(digests: &[FolderDigest], out: &mut Vec<u8>) {
    type Part = fn(&FolderDigest) -> Digest;
    let parts: [(&str, Part); 2] = [
        ("content", |digest| digest.content),
        ("structure", |digest| digest.structure),
    ];
    for (element, part) in parts {
        out.extend_from_slice(format!("      <{element}>\n").as_bytes());
        for digest in sorted(digests, |digest| digest.content.algorithm()) {
            let digest = part(digest);
            let algorithm = digest.algorithm();
            let line = format!("        <{algorithm}>{digest}</{algorithm}>\n");
            out.extend_from_slice(line.as_bytes());
        }
        out.extend_from_slice(format!("      </{element}>\n").as_bytes());
    }
}

/// The beginning of a generation, up to the information on the process.
pub(super) fn push_creator(
    created: Option<Timestamp>,
    host: &str,
    out: &mut Vec<u8>,
) -> Result<(), EntryError> {
    let created = created.map_or_else(|| "1970-01-01T00:00:00Z".to_owned(), Timestamp::to_seconds);
    out.extend_from_slice(PROLOG);
    let head = format!(
        "<hashlist version=\"2.0\" xmlns=\"{NAMESPACE}\">\n  <creatorinfo>\n    \
         <creationdate>{created}</creationdate>\n    <hostname>"
    );
    out.extend_from_slice(head.as_bytes());
    push_name(&RelPath::from(host), out)?;
    let rest = format!(
        "</hostname>\n    <tool version=\"{}\">multisum</tool>\n  </creatorinfo>\n",
        env!("CARGO_PKG_VERSION")
    );
    out.extend_from_slice(rest.as_bytes());
    Ok(())
}

/// The beginning of a file's entry.
pub(super) fn push_path(
    name: &RelPath,
    size: Option<u64>,
    modified: Option<Timestamp>,
    out: &mut Vec<u8>,
) -> Result<(), EntryError> {
    check_name(name)?;
    out.extend_from_slice(b"    <hash>\n      <path");
    if let Some(size) = size {
        out.extend_from_slice(format!(" size=\"{size}\"").as_bytes());
    }
    if let Some(modified) = modified {
        let modified = modified.to_seconds();
        out.extend_from_slice(format!(" lastmodificationdate=\"{modified}\"").as_bytes());
    }
    out.push(b'>');
    push_name(name, out)?;
    out.extend_from_slice(b"</path>\n");
    Ok(())
}

/// Whether a generation can hold a name.
///
/// # Errors
///
/// Why not.
pub fn check(name: &RelPath) -> Result<(), EntryError> {
    check_name(name)?;
    push_name(name, &mut Vec::new())
}

/// The format knows only names below the history's folder.
fn check_name(name: &RelPath) -> Result<(), EntryError> {
    let refused = |what| EntryError::NameNotCarried {
        name: name.clone(),
        format: Format::Mhl,
        what,
    };
    if name.is_absolute() {
        return Err(refused("a leading slash"));
    }
    if name.components().any(|part| part == b"..") {
        return Err(refused("'..'"));
    }
    Ok(())
}

fn push_name(name: &RelPath, out: &mut Vec<u8>) -> Result<(), EntryError> {
    let escaped = xml::escape(name.as_bytes(), out);
    escaped.map_err(|what| EntryError::NameNotCarried {
        name: name.clone(),
        format: Format::Mhl,
        what,
    })
}
