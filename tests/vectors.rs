//! Published test vectors, kept as data in `data/vectors/`, against every implementation.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::path::Path;

use common::painted;
use multisum::hasher::new_hasher;
use multisum::{Algorithm, Digest, MultiHasher, hex};
use toml::{Table, Value};

struct Case {
    algorithm: Algorithm,
    input: Vec<u8>,
    digest: Digest,
    /// File and input as they stand there.
    place: String,
}

impl Display for Case {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} bytes)", self.place, self.input.len())
    }
}

/// Every case of every file; a file or a key that cannot be understood is a failure.
fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/vectors");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .collect();
    files.sort();
    files.iter().flat_map(|file| cases_of_file(file)).collect()
}

fn cases_of_file(file: &Path) -> Vec<Case> {
    let stem = file.file_stem().unwrap().to_str().unwrap();
    let table: Table = fs::read_to_string(file).unwrap().parse().unwrap();
    let name = table["algorithm"].as_str().unwrap();
    assert_eq!(name, stem, "a file is named after its algorithm");
    let algorithm: Algorithm = name.parse().unwrap();
    let groups = table["group"].as_array().unwrap();
    let mut cases = Vec::new();
    for group in groups {
        assert!(
            group["source"]
                .as_str()
                .is_some_and(|source| !source.is_empty()),
            "{stem}: a group without a source"
        );
        let listed = group["cases"].as_array().unwrap();
        cases.extend(listed.iter().map(|case| read_case(algorithm, stem, case)));
    }
    cases
}

fn read_case(algorithm: Algorithm, stem: &str, case: &Value) -> Case {
    let case = case.as_table().unwrap();
    assert_eq!(case.len(), 2, "{stem}: one input and one digest");
    let (kind, value) = case.iter().find(|(key, _)| *key != "digest").unwrap();
    let place = format!("{stem}.toml: {kind} = {value:?}");
    let digest = hex::decode(case["digest"].as_str().unwrap().as_bytes())
        .and_then(|bytes| Digest::new(algorithm, &bytes))
        .unwrap_or_else(|| panic!("{place}: not a digest of this algorithm"));
    Case {
        algorithm,
        input: read_input(kind, value).unwrap_or_else(|| panic!("{place}: not an input")),
        digest,
        place,
    }
}

fn read_input(kind: &str, value: &Value) -> Option<Vec<u8>> {
    match kind {
        "text" => Some(value.as_str()?.into()),
        "hex" => hex::decode(value.as_str()?.as_bytes()),
        "painted" => Some(painted(value.as_integer()?.try_into().ok()?)),
        "repeat" => {
            let repeat = value.as_table()?;
            let times = repeat.get("times")?.as_integer()?.try_into().ok()?;
            let (kind, unit) = repeat.iter().find(|(key, _)| *key != "times")?;
            Some(read_input(kind, unit)?.repeat(times))
        }
        _ => None,
    }
}

/// Calls `take` with pieces of `input` whose lengths go round `steps`.
fn in_pieces(mut input: &[u8], steps: &[usize], mut take: impl FnMut(&[u8])) {
    for &step in steps.iter().cycle() {
        if input.is_empty() {
            break;
        }
        let (piece, rest) = input.split_at(step.min(input.len()));
        take(piece);
        input = rest;
    }
}

/// Piece lengths that leave a block buffer filled to every degree; an update of none is among them.
const STEPS: &[&[usize]] = &[&[1, 0, 2, 61, 127, 4096], &[63, 1, 64, 65], &[129, 7, 1025]];

#[test]
fn every_algorithm_has_vectors_round_its_block_edges() {
    let cases = cases();
    for algorithm in Algorithm::all() {
        let lengths: Vec<usize> = cases
            .iter()
            .filter(|case| case.algorithm == algorithm)
            .map(|case| case.input.len())
            .collect();
        let block = usize::from(algorithm.info().block_len_bytes);
        for length in common::lengths(block) {
            assert!(
                lengths.contains(&length),
                "{algorithm}: no vector of {length} bytes"
            );
        }
    }
}

#[test]
fn in_one_update() {
    for case in cases() {
        let mut hasher = new_hasher(case.algorithm);
        hasher.update(&case.input);
        assert_eq!(hasher.finish(), case.digest, "{case}");
    }
}

#[test]
fn split_at_odd_places() {
    for case in cases() {
        for steps in STEPS {
            let mut hasher = new_hasher(case.algorithm);
            in_pieces(&case.input, steps, |piece| hasher.update(piece));
            assert_eq!(
                hasher.finish(),
                case.digest,
                "{case} in pieces of {steps:?}"
            );
        }
    }
}

#[test]
fn a_hasher_starts_anew_after_finish_and_after_reset() {
    for case in cases() {
        let mut hasher = new_hasher(case.algorithm);
        hasher.update(b"something else");
        hasher.finish();
        hasher.update(&case.input);
        assert_eq!(hasher.finish(), case.digest, "{case} after finish");
        hasher.update(b"something else");
        hasher.reset();
        hasher.update(&case.input);
        assert_eq!(hasher.finish(), case.digest, "{case} after reset");
    }
}

#[test]
fn all_algorithms_at_once() {
    let cases = cases();
    let mut algorithms: Vec<Algorithm> = cases.iter().map(|case| case.algorithm).collect();
    algorithms.dedup();
    let mut hasher = MultiHasher::new(&algorithms);
    let mut inputs: Vec<&[u8]> = cases.iter().map(|case| &*case.input).collect();
    inputs.sort_unstable();
    inputs.dedup();
    for input in inputs {
        in_pieces(input, STEPS[0], |piece| hasher.update(piece));
        let digests = hasher.finish();
        for case in cases.iter().filter(|case| case.input == input) {
            let place = algorithms.iter().position(|a| *a == case.algorithm);
            assert_eq!(digests[place.unwrap()], case.digest, "{case}");
        }
    }
}
