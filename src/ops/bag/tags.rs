//! The files that describe a bag.

use std::io;

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
    tags.push(("bag-info.txt".to_owned(), info(files, settings)));
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

/// One manifest for each algorithm.
fn manifests(
    kind: &str,
    entries: impl Iterator<Item = (RelPath, Vec<Digest>)>,
    settings: &BagSettings,
) -> Result<Vec<TagFile>, BagError> {
    let failed =
        |error: WriterError| BagError::Manifest(io::Error::new(io::ErrorKind::InvalidInput, error));
    let writer = |place| {
        Writer::new(WriterOptions {
            carried: vec![place],
            ..WriterOptions::new(Format::Bagit, &settings.algorithms)
        })
    };
    let writers: Result<Vec<Writer>, _> = (0..settings.algorithms.len()).map(writer).collect();
    let mut writers = writers.map_err(failed)?;
    let mut texts = vec![Vec::new(); writers.len()];
    for (name, digests) in entries {
        let entry = Entry {
            name: &name,
            digests: &digests,
            size: None,
            modified: None,
        };
        for (writer, text) in writers.iter_mut().zip(&mut texts) {
            let written = writer.write_entry(text, &entry);
            written.map_err(BagError::Manifest)?;
        }
    }
    let names = settings.algorithms.iter().map(|algorithm| {
        let word = algorithm_word(*algorithm);
        format!("{kind}-{word}.txt")
    });
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
