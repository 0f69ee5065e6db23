//! BagIt bags: complete and valid by the rules of their version.
//!
//! Whatever concerns a single file (missing, changed, not listed) is left to the verification of the
//! entries; here are the rules for the bag. Source: RFC 8493, sections 2 and 3.

mod names;
mod places;

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::algorithm::Algorithm;
use crate::counted::{agreeing, counted};
use crate::error::{Error, FileError, Operation};
use crate::manifest::bagit::{
    self, Declaration, Listed, ManifestName, Spelling, payload_name, tag_name,
};
use crate::manifest::{Claim, Content, Malformed, Record, Remark};
use crate::relpath::RelPath;

use super::super::{ExactScope, Package, Part, RecordedTotal};
use names::Lookalikes;
use places::{Place, Places};

/// The file that makes a folder a bag.
pub(super) const DECLARATION: &str = "bagit.txt";

const PAYLOAD: &str = "data";
const FETCH: &str = "fetch.txt";

/// More than ten million lines of SHA-512.
const MAX_TAG_FILE_BYTES: u64 = 1 << 30;

/// Why a tag file is not read.
#[derive(Debug, thiserror::Error)]
enum NotRead {
    #[error("no plain file, which is what describes a bag")]
    NoPlainFile,
    #[error("longer than 1 GiB, which no file that describes a bag is")]
    TooLong,
}

/// Reads every tag file that has a meaning.
pub(super) fn read(folder: &Path, asked: Option<Algorithm>) -> Result<Package, Error> {
    let bytes = read_file(&folder.join(DECLARATION))?;
    let (declaration, records) = bagit::read_declaration(&bytes);
    let mut bag = Bag {
        folder,
        declaration,
        asked,
        places: Places::new(folder),
        parts: vec![Part {
            name: RelPath::from_path(&folder.join(DECLARATION)),
            records,
        }],
        payload: Vec::new(),
        total: None,
    };
    let has_payload = bag.check_payload_folder();
    bag.read_manifests()?;
    bag.read_info()?;
    bag.read_fetch()?;
    bag.compare_manifests();
    bag.find_lookalikes();
    let exact = has_payload.then(|| ExactScope {
        below: RelPath::from(PAYLOAD),
        ..ExactScope::default()
    });
    Ok(Package {
        folder: folder.to_owned(),
        parts: bag.parts,
        exact,
        total: bag.total,
    })
}

/// A bag that is being read.
struct Bag<'a> {
    folder: &'a Path,
    declaration: Declaration,
    asked: Option<Algorithm>,
    places: Places,
    /// One for each file, `bagit.txt` first.
    parts: Vec<Part>,
    payload: Vec<PayloadManifest>,
    total: Option<RecordedTotal>,
}

/// What one manifest of the payload lists.
struct PayloadManifest {
    part: usize,
    last_line: u64,
    names: Names,
}

/// The names that a manifest lists.
type Names = HashMap<RelPath, Stands>;

/// Where a name stands in its manifest.
#[derive(Clone, Copy)]
struct Stands {
    line: u64,
    /// The place of its claim among the records, if it is to be verified.
    record: Option<usize>,
}

impl Bag<'_> {
    fn begin_part(&mut self, file: &OsStr) -> usize {
        self.parts.push(Part {
            name: RelPath::from_path(&self.folder.join(file)),
            records: Vec::new(),
        });
        self.parts.len() - 1
    }

    fn push(&mut self, part: usize, line: u64, content: Content) {
        self.parts[part].records.push(Record { line, content });
    }

    fn broken(&mut self, part: usize, line: u64, rule: impl Into<String>) {
        let reason = Malformed::Package(rule.into());
        self.push(part, line, Content::Malformed(reason));
    }

    fn remark(&mut self, part: usize, line: u64, what: impl Into<String>) {
        self.push(part, line, Content::Remark(Remark::Ignored(what.into())));
    }

    fn check_payload_folder(&mut self) -> bool {
        let kind = self.folder.join(PAYLOAD).symlink_metadata();
        let exists = kind.is_ok_and(|metadata| metadata.is_dir());
        if !exists {
            self.broken(0, 1, "the bag has no folder data/");
        }
        exists
    }

    /// The text of a tag file, with what is wrong with it told in a part of its own.
    fn read_text(&mut self, file: &OsStr) -> Result<(usize, Vec<u8>), FileError> {
        let bytes = read_file(&self.folder.join(file))?;
        let part = self.begin_part(file);
        let encoding = self.declaration.encoding;
        let decoded = encoding.decode(bytes);
        if decoded.marked {
            self.remark(part, 1, "a byte order mark, which UTF-8 does not need");
        }
        if decoded.faulty {
            let rule = format!("not in {encoding}, as bagit.txt says");
            self.broken(part, 1, rule);
        }
        Ok((part, decoded.text))
    }

    fn read_manifests(&mut self) -> Result<(), FileError> {
        let (of_tags, of_payload): (Vec<_>, Vec<_>) = self
            .manifests()?
            .into_iter()
            .partition(|(_, name)| name.of_tags);
        if of_payload.is_empty() {
            self.broken(0, 1, "the bag has no manifest of its payload");
        }
        for (file, name) in &of_payload {
            self.read_payload_manifest(file, name)?;
        }
        for (file, name) in &of_tags {
            self.read_tag_manifest(file, name, &of_payload)?;
        }
        Ok(())
    }

    /// The manifests of the bag, sorted by their names.
    fn manifests(&self) -> Result<Vec<(PathBuf, ManifestName)>, FileError> {
        let failed = |error| FileError::new(Operation::List, self.folder, error);
        let mut found = Vec::new();
        for entry in fs::read_dir(self.folder).map_err(failed)? {
            let file = entry.map_err(failed)?.file_name();
            if let Some(name) = ManifestName::of(file.as_encoded_bytes()) {
                found.push((PathBuf::from(file), name));
            }
        }
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(found)
    }

    fn read_payload_manifest(&mut self, file: &Path, name: &ManifestName) -> Result<(), FileError> {
        let (part, text) = self.read_text(file.as_os_str())?;
        let version = self.declaration.version;
        let mut names = Names::new();
        let mut last_line = 1;
        for (line, listed) in bagit::read_manifest(&text, name, version, self.asked) {
            last_line = line;
            if let Some(claim) = self.settle(part, line, listed, payload_name) {
                self.take(part, line, claim, &mut names);
            }
        }
        self.payload.push(PayloadManifest {
            part,
            last_line,
            names,
        });
        Ok(())
    }

    fn read_tag_manifest(
        &mut self,
        file: &Path,
        name: &ManifestName,
        payload_manifests: &[(PathBuf, ManifestName)],
    ) -> Result<(), FileError> {
        let (part, text) = self.read_text(file.as_os_str())?;
        let version = self.declaration.version;
        let mut names = Names::new();
        let mut last_line = 1;
        for (line, listed) in bagit::read_manifest(&text, name, version, self.asked) {
            last_line = line;
            let Some(claim) = self.settle(part, line, listed, tag_name) else {
                continue;
            };
            if ManifestName::of(claim.name.as_bytes()).is_some_and(|listed| listed.of_tags) {
                self.broken(part, line, "a tag manifest must not list a tag manifest");
            } else {
                self.take(part, line, claim, &mut names);
            }
        }
        for (manifest, _) in payload_manifests {
            let manifest = RelPath::from_path(manifest);
            if !names.contains_key(&manifest) {
                self.remark(part, last_line, format!("{manifest} is not listed"));
            }
        }
        Ok(())
    }

    /// Checks one line and finds out which file it means; tells what is wrong with it.
    fn settle(
        &mut self,
        part: usize,
        line: u64,
        listed: Result<Listed, Malformed>,
        check: fn(&RelPath) -> Result<RelPath, bagit::OutOfScope>,
    ) -> Option<Claim> {
        let listed = match listed {
            Ok(listed) => listed,
            Err(reason) => {
                self.push(part, line, Content::Malformed(reason));
                return None;
            }
        };
        for remark in listed.remarks {
            self.push(part, line, Content::Remark(remark));
        }
        let name = self.locate(part, line, &listed.spelling, check)?;
        Some(Claim {
            digests: listed.digest.into_iter().collect(),
            ..Claim::bare(name)
        })
    }

    /// The name of the file that a path means, whether or not it is there; `None` if the path must not
    /// be used, which is told.
    fn locate(
        &mut self,
        part: usize,
        line: u64,
        spelling: &Spelling,
        check: fn(&RelPath) -> Result<RelPath, bagit::OutOfScope>,
    ) -> Option<RelPath> {
        let name = match check(&spelling.name) {
            Ok(name) => name,
            Err(reason) => {
                self.broken(part, line, format!("{}: {reason}", spelling.name));
                return None;
            }
        };
        match self.places.find(&name) {
            Place::There => Some(name),
            Place::LeadsOut => {
                let rule = format!("{name}: a symbolic link leads out of the bag");
                self.broken(part, line, rule);
                None
            }
            Place::Absent => Some(self.otherwise(part, line, name, spelling, check)),
        }
    }

    /// Another spelling under which the file is there, or the name as it is.
    fn otherwise(
        &mut self,
        part: usize,
        line: u64,
        name: RelPath,
        spelling: &Spelling,
        check: fn(&RelPath) -> Result<RelPath, bagit::OutOfScope>,
    ) -> RelPath {
        let literal = spelling.literal.as_ref().and_then(|name| check(name).ok());
        if let Some(literal) = literal.filter(|name| self.places.find(name) == Place::There) {
            let what = format!("{literal}: the name is not escaped as it should be");
            self.remark(part, line, what);
            return literal;
        }
        if let Some(same) = self.places.find_normalised(&name) {
            let what = format!("{name}: found in another Unicode normalisation");
            self.remark(part, line, what);
            return same;
        }
        name
    }

    /// Takes an entry, to be verified unless the user wants to see another algorithm only.
    ///
    /// A path that is listed twice with two different digests is a contradiction, which the
    /// verification finds.
    fn take(&mut self, part: usize, line: u64, claim: Claim, names: &mut Names) {
        if names.contains_key(&claim.name) {
            let what = format!("{}: listed twice", claim.name);
            if self.declaration.version.is_strict() {
                self.broken(part, line, what);
            } else {
                self.remark(part, line, what);
            }
        }
        let record = (!claim.digests.is_empty()).then_some(self.parts[part].records.len());
        let stands = Stands { line, record };
        names.entry(claim.name.clone()).or_insert(stands);
        if record.is_some() {
            self.push(part, line, Content::Claim(claim));
        }
    }

    fn read_info(&mut self) -> Result<(), FileError> {
        let version = self.declaration.version;
        let file = version.info_file();
        if !super::exists(&self.folder.join(file))? {
            return Ok(());
        }
        let (part, text) = self.read_text(OsStr::new(file))?;
        let info = bagit::read_info(&text, version);
        self.total = info.oxum.map(|(line, oxum)| RecordedTotal {
            manifest: self.parts[part].name.clone(),
            line,
            below: RelPath::from(PAYLOAD),
            files: oxum.streams,
            bytes: oxum.octets,
        });
        self.parts[part].records.extend(info.records);
        Ok(())
    }

    fn read_fetch(&mut self) -> Result<(), FileError> {
        if !super::exists(&self.folder.join(FETCH))? {
            return Ok(());
        }
        let (part, text) = self.read_text(OsStr::new(FETCH))?;
        let mut holes = 0;
        let mut lengths = HashMap::new();
        let mut last_line = 1;
        for (line, fetch) in bagit::read_fetch(&text, self.declaration.version) {
            last_line = line;
            let fetch = match fetch {
                Ok(fetch) => fetch,
                Err(reason) => {
                    self.push(part, line, Content::Malformed(reason));
                    continue;
                }
            };
            let Some(name) = self.locate(part, line, &fetch.spelling, payload_name) else {
                continue;
            };
            holes += u64::from(self.places.find(&name) == Place::Absent);
            if let Some(length) = fetch.length
                && *lengths.entry(name.clone()).or_insert(length) != length
            {
                self.broken(part, line, format!("{name}: another length than before"));
                continue;
            }
            self.join_fetch(part, line, &name, fetch.length);
        }
        if holes > 0 {
            let what = format!(
                "{} {} still to be fetched; nothing is fetched here",
                counted(holes, "file"),
                agreeing(holes, "is", "are")
            );
            self.remark(part, last_line, what);
        }
        Ok(())
    }

    /// A file to be fetched must be listed, and has the length that is told.
    fn join_fetch(&mut self, part: usize, line: u64, name: &RelPath, length: Option<u64>) {
        let listed: Vec<(usize, Stands)> = self
            .payload
            .iter()
            .filter_map(|manifest| Some((manifest.part, *manifest.names.get(name)?)))
            .collect();
        let wanted = if self.declaration.version.is_strict() {
            self.payload.len()
        } else {
            1
        };
        if listed.len() < wanted {
            self.broken(part, line, format!("{name}: not listed in the manifests"));
        }
        for (part, stands) in listed {
            let records = &mut self.parts[part].records;
            let record = stands.record.and_then(|record| records.get_mut(record));
            if let Some(Content::Claim(claim)) = record.map(|record| &mut record.content) {
                claim.size = length.or(claim.size);
            }
        }
    }

    /// Since 1.0 every manifest of the payload must list every file.
    fn compare_manifests(&mut self) {
        if !self.declaration.version.is_strict() {
            return;
        }
        let mut findings = Vec::new();
        for manifest in &self.payload {
            let others = self
                .payload
                .iter()
                .filter(|other| other.part != manifest.part);
            let mut absent: Vec<&RelPath> = others
                .flat_map(|other| other.names.keys())
                .filter(|name| !manifest.names.contains_key(*name))
                .collect();
            absent.sort();
            absent.dedup();
            if let Some(first) = absent.first() {
                let rule = format!(
                    "{} of another manifest {} not listed, the first of them {first}",
                    counted(absent.len() as u64, "file"),
                    agreeing(absent.len() as u64, "is", "are")
                );
                findings.push((manifest.part, manifest.last_line, rule));
            }
        }
        for (part, line, rule) in findings {
            self.broken(part, line, rule);
        }
    }

    /// Names that other systems take for one, and files that systems leave about.
    fn find_lookalikes(&mut self) {
        let mut remarks = Vec::new();
        let mut seen = Lookalikes::default();
        for manifest in &self.payload {
            let mut names: Vec<(&RelPath, &Stands)> = manifest.names.iter().collect();
            names.sort_by_key(|(_, stands)| stands.line);
            for (name, stands) in names {
                if let Some(what) = seen.add(name) {
                    remarks.push((manifest.part, stands.line, what));
                }
            }
        }
        for (part, line, what) in remarks {
            self.remark(part, line, what);
        }
    }
}

/// Reads a tag file: nothing but a plain file of the bag itself, since a link may lead anywhere and
/// whatever is no file may never end.
fn read_file(path: &Path) -> Result<Vec<u8>, FileError> {
    read_bounded(path).map_err(|refused| FileError::new(Operation::Read, path, refused))
}

fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let refused = |reason: NotRead| io::Error::new(io::ErrorKind::InvalidData, reason);
    if !path.symlink_metadata()?.is_file() {
        return Err(refused(NotRead::NoPlainFile));
    }
    let file = File::open(path)?;
    // It may have been replaced, and may grow.
    if !file.metadata()?.is_file() {
        return Err(refused(NotRead::NoPlainFile));
    }
    if file.metadata()?.len() > MAX_TAG_FILE_BYTES {
        return Err(refused(NotRead::TooLong));
    }
    let mut bytes = Vec::new();
    match file.take(MAX_TAG_FILE_BYTES + 1).read_to_end(&mut bytes)? {
        read if read as u64 > MAX_TAG_FILE_BYTES => Err(refused(NotRead::TooLong)),
        _ => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";

    fn bag() -> tempfile::TempDir {
        let holder = tempfile::tempdir().unwrap();
        let declaration = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";
        fs::create_dir(holder.path().join(PAYLOAD)).unwrap();
        for (name, text) in [
            (DECLARATION, declaration),
            ("data/a", "abc"),
            ("manifest-md5.txt", &format!("{MD5}  data/a\n")),
            (
                "manifest-sha1.txt",
                "a9993e364706816aba3e25717850c26c9cd0d89d  data/a\n",
            ),
        ] {
            fs::write(holder.path().join(name), text).unwrap();
        }
        holder
    }

    #[test]
    #[cfg(unix)]
    fn a_tag_file_that_is_no_plain_file_is_not_opened() {
        for name in [DECLARATION, "manifest-md5.txt", "bag-info.txt", FETCH] {
            for target in ["/dev/zero", "data/a", "/nowhere/at/all"] {
                let holder = bag();
                let path = holder.path().join(name);
                fs::remove_file(&path).ok();
                std::os::unix::fs::symlink(target, &path).unwrap();
                let error = super::super::package_of(holder.path(), None).unwrap_err();
                let Error::File(error) = error else {
                    panic!("{error:?}")
                };
                assert_eq!(error.path(), path);
                assert!(error.to_string().contains("no plain file"), "{error}");
            }
        }
    }

    #[test]
    fn a_tag_file_without_end_is_not_read_into_memory() {
        let holder = bag();
        let path = holder.path().join("manifest-md5.txt");
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(MAX_TAG_FILE_BYTES + 1).unwrap();
        let error = read(holder.path(), None).unwrap_err();
        assert!(error.to_string().contains("longer than"), "{error}");
    }

    /// What is broken in `fetch.txt`, and the sizes that the manifests then tell.
    fn fetched(text: &str) -> (usize, Vec<Option<u64>>) {
        let holder = bag();
        fs::write(holder.path().join(FETCH), text).unwrap();
        let package = read(holder.path(), None).unwrap();
        let records = || package.parts.iter().flat_map(|part| &part.records);
        let broken = |record: &&Record| matches!(record.content, Content::Malformed(_));
        let sizes = records().filter_map(|record| match &record.content {
            Content::Claim(claim) => Some(claim.size),
            _ => None,
        });
        (records().filter(broken).count(), sizes.collect())
    }

    #[test]
    fn a_length_in_fetch_is_neither_replaced_nor_dropped_by_a_later_line() {
        let both = |size| vec![size, size];
        assert_eq!(fetched("u 3 data/a\n"), (0, both(Some(3))));
        assert_eq!(fetched("u 3 data/a\nv 3 data/a\n"), (0, both(Some(3))));
        assert_eq!(fetched("u 3 data/a\nv - data/a\n"), (0, both(Some(3))));
        assert_eq!(fetched("u - data/a\nv 3 data/a\n"), (0, both(Some(3))));
        assert_eq!(fetched("u 4 data/a\nv 3 data/a\n"), (1, both(Some(4))));
        assert_eq!(fetched("u 4 data/a\nv 3 ./data//a\n"), (1, both(Some(4))));
    }
}
