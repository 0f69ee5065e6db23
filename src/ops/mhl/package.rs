//! A folder with a history as something to verify.

use std::path::Path;

use crate::algorithm::Algorithm;
use crate::error::Error;
use crate::manifest::{Claim, ClaimedDigest, Content, Malformed, Record};
use crate::ops::verify::{ExactScope, Package, Part};
use crate::relpath::RelPath;

use super::history::{History, Recorded, read_histories};
use crate::walk::Filter;

use super::{CHAIN, DEFAULT_IGNORE, ignore_below};

/// Reads the history of a folder, and those in folders below.
///
/// Each file has the hashes of all generations that did not fail; the size and time are those of the last
/// generation that has such a hash. If a generation was altered, removed or added behind the back of the
/// chain, the package says so, and nothing of that generation is used. Hashes by other algorithms than
/// `asked` are left out, if it is given.
///
/// # Errors
///
/// A file of the history that cannot be read.
pub(in crate::ops) fn mhl_package(
    folder: &Path,
    asked: Option<Algorithm>,
) -> Result<Package, Error> {
    let histories = read_histories(folder, asked)?;
    let mut filter = Filter::builder();
    let mut parts = Vec::new();
    for history in &histories {
        let name = &history.name;
        let patterns = history.ignore.iter().map(String::as_str);
        let ignored = ignore_below(&mut filter, name, DEFAULT_IGNORE)
            .and_then(|()| ignore_below(&mut filter, name, patterns));
        let unusable = ignored.err().map(|error| error.to_string());
        parts.extend(parts_of(folder, history));
        if let Some(reason) = unusable {
            let reason = Malformed::Rule(reason);
            parts.push(part(
                folder,
                history,
                CHAIN,
                vec![record(1, Content::Malformed(reason))],
            ));
        }
    }
    let (filter, unusable) = match filter.build() {
        Ok(filter) => (filter, None),
        Err(error) => (Filter::default(), Some(error.to_string())),
    };
    if let (Some(reason), Some(top)) = (unusable, histories.first()) {
        let content = Content::Malformed(Malformed::Rule(reason));
        parts.push(part(folder, top, CHAIN, vec![record(1, content)]));
    }
    Ok(Package {
        folder: folder.to_owned(),
        parts,
        exact: Some(ExactScope {
            below: RelPath::default(),
            filter,
        }),
        total: None,
    })
}

fn record(line: u64, content: Content) -> Record {
    Record { line, content }
}

fn part(top: &Path, history: &History, file: &str, records: Vec<Record>) -> Part {
    let name = RelPath::from_path(&history.folder(top)).join(Path::new(file));
    Part { name, records }
}

/// What is wrong or noticed, and then the files, each where it was recorded last.
fn parts_of(top: &Path, history: &History) -> Vec<Part> {
    let problems = history.problems.iter().map(|problem| {
        let content = Content::Malformed(problem.reason.clone());
        part(
            top,
            history,
            &problem.file,
            vec![record(problem.line, content)],
        )
    });
    let remarks = history.remarks.iter().map(|(file, line, remark)| {
        let content = Content::Remark(remark.clone());
        part(top, history, file, vec![record(*line, content)])
    });
    let mut parts: Vec<Part> = problems.chain(remarks).collect();
    let mut generations: Vec<Vec<Record>> = history.links.iter().map(|_| Vec::new()).collect();
    for (name, recorded) in &history.files {
        // Also what a history below records by now: nothing drops out by being recorded again.
        let whole = join(&history.name, name);
        if let Some(records) = generations.get_mut(recorded.place.0) {
            records.extend(claims(whole, recorded));
        }
    }
    for (link, mut records) in history.links.iter().zip(generations) {
        records.sort_by_key(|record| record.line);
        let file = String::from_utf8_lossy(link.path.as_bytes());
        parts.push(part(top, history, &file, records));
    }
    parts
}

pub(super) fn join(folder: &RelPath, name: &RelPath) -> RelPath {
    if folder.as_bytes().is_empty() {
        return name.clone();
    }
    RelPath::from_bytes([folder.as_bytes(), name.as_bytes()].join(&b'/'))
}

/// One claim; another for each hash that contradicts it, for the contradiction to be told.
fn claims(name: RelPath, recorded: &Recorded) -> Vec<Record> {
    let mut first = Claim {
        size: recorded.size,
        modified: recorded.modified,
        ..Claim::bare(name)
    };
    let mut contradictions = Vec::new();
    for digest in &recorded.digests {
        let again = |other: &ClaimedDigest| match (other, digest) {
            (ClaimedDigest::Known(a), ClaimedDigest::Known(b)) => a.algorithm() == b.algorithm(),
            _ => false,
        };
        if first.digests.iter().any(again) {
            contradictions.push(Claim::new(first.name.clone(), digest.clone()));
        } else {
            first.digests.push(digest.clone());
        }
    }
    let claims = std::iter::once(first).chain(contradictions);
    claims
        .map(|claim| record(recorded.place.1, Content::Claim(claim)))
        .collect()
}
