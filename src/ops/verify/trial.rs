//! Which algorithm made the digests of a list that does not say.
//!
//! The usual algorithm for the length is tried on a few of the listed files. Where it fails, the
//! others of that length are tried on the same files; a single one that fits is taken for the whole
//! list. Two that fit on different files are a reason to refuse, since a list that lets every line
//! choose its algorithm lets an attacker choose the weakest.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::engine::{self, Job, Links, Outcome, Source, Task};
use crate::error::Error;
use crate::event::{Event, Note, Sink, Unverified};
use crate::manifest::ClaimedDigest;

use super::listing::Listing;

/// How many of the listed files are tried.
const FILES: usize = 3;

/// The smallest files are taken among this many that exist.
const LOOK_AT: usize = 64;

/// A list, and the algorithms that its digests of one length may belong to.
type Group = (u32, &'static [Algorithm]);

/// Gives every digest an algorithm, or its entry a reason why it has none.
pub(super) fn settle_algorithms(
    listing: &mut Listing,
    engine: &engine::Options,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    let mut groups: BTreeMap<Group, Vec<usize>> = BTreeMap::new();
    for (index, entry) in listing.entries.iter().enumerate() {
        for digest in &entry.digests {
            if let ClaimedDigest::OneOf { candidates, .. } = digest {
                groups
                    .entry((entry.source, candidates))
                    .or_default()
                    .push(index);
            }
        }
    }
    for ((source, candidates), entries) in groups {
        let found = try_candidates(listing, candidates, &entries, engine)?;
        let manifest = listing.sources.0[source as usize].name.clone();
        let usual = candidates.first().copied();
        let note = match &found {
            Found::One { algorithm, files } if Some(*algorithm) != usual => {
                Some(Note::FoundByTrial {
                    manifest,
                    algorithm: *algorithm,
                    files: *files,
                })
            }
            Found::Nothing { tried, .. } => usual.map(|taken| Note::TrialFailed {
                manifest,
                taken,
                tried: names(&tried[1..]),
            }),
            _ => None,
        };
        if let Some(note) = note {
            sink.event(Event::Note(&note)).map_err(Error::Output)?;
        }
        let algorithm = match found {
            Found::One { algorithm, .. } => Some(algorithm),
            Found::NoFiles | Found::Nothing { .. } => usual,
            Found::Several => None,
        };
        for index in entries {
            settle_entry(listing, index, candidates, algorithm);
        }
    }
    Ok(())
}

fn names(algorithms: &[Algorithm]) -> String {
    algorithms
        .iter()
        .map(Algorithm::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

fn settle_entry(
    listing: &mut Listing,
    index: usize,
    group: &'static [Algorithm],
    algorithm: Option<Algorithm>,
) {
    let entry = &mut listing.entries[index];
    for digest in &mut entry.digests {
        let ClaimedDigest::OneOf { bytes, candidates } = digest else {
            continue;
        };
        if *candidates != group {
            continue;
        }
        match algorithm.and_then(|algorithm| Digest::new(algorithm, bytes)) {
            Some(known) => *digest = ClaimedDigest::Known(known),
            None => entry.trouble = Some(Unverified::UnknownAlgorithm),
        }
    }
}

enum Found {
    /// None of the listed files is there.
    NoFiles,
    Nothing {
        tried: &'static [Algorithm],
    },
    One {
        algorithm: Algorithm,
        files: usize,
    },
    Several,
}

fn try_candidates(
    listing: &Listing,
    candidates: &'static [Algorithm],
    entries: &[usize],
    engine: &engine::Options,
) -> Result<Found, Error> {
    let samples = samples(listing, entries);
    if samples.is_empty() {
        return Ok(Found::NoFiles);
    }
    let mut fitting: BTreeMap<Algorithm, usize> = BTreeMap::new();
    let (usual, others) = candidates.split_at(1);
    let left = try_on(listing, samples, usual, engine, &mut fitting)?;
    try_on(listing, left, others, engine, &mut fitting)?;
    Ok(match (fitting.len(), fitting.pop_first()) {
        (1, Some((algorithm, files))) => Found::One { algorithm, files },
        (0, _) | (_, None) => Found::Nothing { tried: candidates },
        _ => Found::Several,
    })
}

/// A file to try on: the entry that lists it, and its path.
type Sample = (usize, PathBuf);

/// The smallest of the first listed files that exist, so that a trial costs little.
fn samples(listing: &Listing, entries: &[usize]) -> Vec<Sample> {
    let mut existing: Vec<(u64, Sample)> = entries
        .iter()
        .filter_map(|&index| {
            let path = listing.sources.path_of(&listing.entries[index])?;
            let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some((metadata.len(), (index, path)))
        })
        .take(LOOK_AT)
        .collect();
    existing.sort_by_key(|(size, _)| *size);
    existing
        .into_iter()
        .take(FILES)
        .map(|(_, sample)| sample)
        .collect()
}

/// Counts the files that each algorithm fits, and gives back the files that none fits.
fn try_on(
    listing: &Listing,
    samples: Vec<Sample>,
    algorithms: &[Algorithm],
    engine: &engine::Options,
    fitting: &mut BTreeMap<Algorithm, usize>,
) -> Result<Vec<Sample>, Error> {
    let jobs: Vec<Job<Sample>> = samples
        .into_iter()
        .map(|(index, path)| {
            let source = Source::File {
                path: path.clone().into(),
                links: Links::Follow,
            };
            Job {
                token: (index, path),
                task: Some(Task::new(source, algorithms)),
            }
        })
        .collect();
    let mut left = Vec::new();
    engine::run(jobs.into_iter(), engine, &mut |sample, outcome| {
        let claimed = &listing.entries[sample.0].digests;
        let digests = match outcome {
            Some(Outcome::Hashed(hashed)) => hashed.digests,
            _ => Vec::new(),
        };
        let fits = digests
            .iter()
            .find(|digest| claimed.iter().any(|c| claims(c, digest)));
        match fits {
            Some(digest) => *fitting.entry(digest.algorithm()).or_default() += 1,
            None => left.push(sample),
        }
        Ok(())
    })?;
    Ok(left)
}

fn claims(claimed: &ClaimedDigest, digest: &Digest) -> bool {
    match claimed {
        ClaimedDigest::OneOf { bytes, candidates } => {
            candidates.contains(&digest.algorithm()) && **bytes == *digest.as_bytes()
        }
        ClaimedDigest::Known(_) | ClaimedDigest::Unsupported(_) => false,
    }
}
