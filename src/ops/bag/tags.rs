//! The files that describe a bag.

use std::io;

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::hasher::MultiHasher;
use crate::manifest::bagit::algorithm_word;
use crate::manifest::{Entry, Format, Writer, WriterError, WriterOptions};
use crate::relpath::RelPath;

use super::payload::PayloadFile;
use super::{BagError, BagSettings};

/// A file by name and contents.
pub(super) type TagFile = (String, Vec<u8>);

/// The file that makes a folder a bag, and the last to be put in place.
pub(super) const DECLARATION: &str = "bagit.txt";

/// What people want to know of the bag.
pub(super) const INFO: &str = "bag-info.txt";

/// Every tag file, [`DECLARATION`] last.
pub(super) fn tag_files(
    files: &[PayloadFile],
    settings: &BagSettings,
) -> Result<Vec<TagFile>, BagError> {
    let payload = files.iter().map(|file| {
        let mut name = b"data/".to_vec();
        name.extend_from_slice(file.name.as_bytes());
        (RelPath::from_bytes(name), file.digests.clone())
    });
    let mut tags = manifests("manifest", payload, settings)?;
    tags.push((INFO.to_owned(), info(files, settings)));
    let declaration = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";
    tags.push((DECLARATION.to_owned(), declaration.into()));
    let mut listed: Vec<(RelPath, Vec<Digest>)> = tags
        .iter()
        .map(|(name, bytes)| {
            let mut hasher = MultiHasher::new(&settings.algorithms);
            hasher.update(bytes);
            (RelPath::from(&**name), hasher.finish())
        })
        .collect();
    listed.sort_by(|(a, _), (b, _)| a.cmp(b));
    let of_tags = manifests("tagmanifest", listed.into_iter(), settings)?;
    let last = tags.len() - 1;
    tags.splice(last..last, of_tags);
    Ok(tags)
}

/// Refuses algorithms of which a bag has no manifest.
pub(super) fn refuse_what_no_bag_names(algorithms: &[Algorithm]) -> Result<(), BagError> {
    writers(algorithms).map(drop)
}

/// One for each algorithm, with the word for it.
fn writers(algorithms: &[Algorithm]) -> Result<Vec<(String, Writer)>, BagError> {
    let writer = |(place, algorithm): (usize, &Algorithm)| {
        let writer = Writer::new(WriterOptions {
            carried: vec![place],
            ..WriterOptions::new(Format::Bagit, algorithms)
        })?;
        let word = algorithm_word(*algorithm).ok_or(WriterError::NoSuchIndex(place))?;
        Ok((word, writer))
    };
    let failed =
        |error: WriterError| BagError::Manifest(io::Error::new(io::ErrorKind::InvalidInput, error));
    let writers = algorithms.iter().enumerate().map(writer);
    writers.collect::<Result<_, _>>().map_err(failed)
}

/// One manifest for each algorithm.
fn manifests(
    kind: &str,
    entries: impl Iterator<Item = (RelPath, Vec<Digest>)>,
    settings: &BagSettings,
) -> Result<Vec<TagFile>, BagError> {
    let mut writers = writers(&settings.algorithms)?;
    let mut texts = vec![Vec::new(); writers.len()];
    for (name, digests) in entries {
        let entry = Entry {
            name: &name,
            digests: &digests,
            size: None,
            modified: None,
        };
        for ((_, writer), text) in writers.iter_mut().zip(&mut texts) {
            let written = writer.write_entry(text, &entry);
            written.map_err(BagError::Manifest)?;
        }
    }
    let names = writers.iter().map(|(word, _)| format!("{kind}-{word}.txt"));
    Ok(names.zip(texts).collect())
}

fn info(files: &[PayloadFile], settings: &BagSettings) -> Vec<u8> {
    let octets: u64 = files.iter().map(|file| file.size).sum();
    let BagSettings {
        bagging_date,
        software_agent,
        ..
    } = settings;
    format!(
        "Bag-Software-Agent: {software_agent}\nBagging-Date: {bagging_date}\n\
         Payload-Oxum: {octets}.{}\n",
        files.len()
    )
    .into_bytes()
}
