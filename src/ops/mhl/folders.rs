//! The folders of a tree, and their hashes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::error::{FileError, Operation};
use crate::hasher::{StreamHasher, new_hasher};
use crate::manifest::ascmhl::FolderDigest;
use crate::relpath::RelPath;

/// Every folder below `top`, each before those in it, that `descends` lets in. Links are no folders.
pub(super) fn folders_below(
    top: &Path,
    descends: &dyn Fn(&Path) -> bool,
) -> Result<Vec<RelPath>, FileError> {
    let mut found = Vec::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(below) = waiting.pop() {
        let folder = top.join(&below);
        let failed = |error| FileError::new(Operation::List, &folder, error);
        for entry in folder.read_dir().map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_type().map_err(failed)?.is_dir() {
                let inner = below.join(entry.file_name());
                if descends(&inner) {
                    found.push(RelPath::from_path(&inner));
                    waiting.push(inner);
                }
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The hashes of every folder, the top under the empty name; by one algorithm.
///
/// A folder's content hash is that of the hashes of what is in it, in their order; its structure hash
/// that of the hashes of each name followed by the hash of what has it.
pub(super) fn folder_digests<'a>(
    algorithm: Algorithm,
    folders: &[RelPath],
    files: impl Iterator<Item = (&'a RelPath, Digest)>,
) -> BTreeMap<RelPath, FolderDigest> {
    let mut hasher = new_hasher(algorithm);
    let mut open: BTreeMap<RelPath, Children> = BTreeMap::new();
    open.insert(RelPath::default(), Children::default());
    for folder in folders {
        open.insert(folder.clone(), Children::default());
    }
    for (name, digest) in files {
        let (folder, own) = split(name);
        let structure = with_name(own, &digest, &mut *hasher);
        // A file in a folder that was not listed has come since; its folder comes with it.
        open.entry(folder).or_default().push(digest, structure);
    }
    let mut closed = BTreeMap::new();
    // What is inside sorts behind, so it is closed first.
    while let Some((name, children)) = open.pop_last() {
        let digest = FolderDigest {
            content: children.content(&mut *hasher),
            structure: children.structure(&mut *hasher),
        };
        if !name.as_bytes().is_empty() {
            let (folder, own) = split(&name);
            let structure = with_name(own, &digest.structure, &mut *hasher);
            open.entry(folder)
                .or_default()
                .push(digest.content, structure);
        }
        closed.insert(name, digest);
    }
    closed
}

fn with_name(name: &[u8], digest: &Digest, hasher: &mut dyn StreamHasher) -> Digest {
    hasher.update(name);
    hasher.update(digest.as_bytes());
    hasher.finish()
}

/// The folder of a name, and the name in it.
pub(super) fn split(name: &RelPath) -> (RelPath, &[u8]) {
    let bytes = name.as_bytes();
    match bytes.iter().rposition(|byte| *byte == b'/') {
        Some(place) => (RelPath::from_bytes(&bytes[..place]), &bytes[place + 1..]),
        None => (RelPath::default(), bytes),
    }
}

#[derive(Default)]
struct Children {
    contents: Vec<Digest>,
    structures: Vec<Digest>,
}

impl Children {
    fn push(&mut self, content: Digest, structure: Digest) {
        self.contents.push(content);
        self.structures.push(structure);
    }

    fn content(&self, hasher: &mut dyn StreamHasher) -> Digest {
        of_sorted(&self.contents, hasher)
    }

    fn structure(&self, hasher: &mut dyn StreamHasher) -> Digest {
        of_sorted(&self.structures, hasher)
    }
}

/// The order is that of the spellings, which for hexadecimal digits and base 58 is that of the bytes.
fn of_sorted(digests: &[Digest], hasher: &mut dyn StreamHasher) -> Digest {
    let mut sorted: Vec<&[u8]> = digests.iter().map(Digest::as_bytes).collect();
    sorted.sort_unstable();
    for digest in sorted {
        hasher.update(digest);
    }
    hasher.finish()
}
