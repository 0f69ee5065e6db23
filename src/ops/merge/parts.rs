//! What parts say of themselves, and whether that makes a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::algorithm::Algorithm;
use crate::manifest::{Format, Header, Scope, Terminator};
use crate::relpath::RelPath;
use crate::slice::Slice;

use super::super::manifests::SurveyedManifest;
use super::MergeError;

/// Manifests that together make one.
#[derive(Debug)]
pub struct Parts {
    pub(super) parts: Vec<SurveyedManifest>,
    header: Header,
    base: Option<PathBuf>,
    format: Option<Format>,
}

impl Parts {
    /// Checks that these manifests go together. There must be at least one.
    ///
    /// Every part must be complete and of the same algorithms as the others. Of native manifests,
    /// base and scope must be the same as well, but for what was walked; and if one is a slice, all
    /// slices of what it walked must be there. Slices that do not say what was walked are taken for
    /// slices of one and the same; see [`Parts::say_what_was_walked`].
    ///
    /// # Errors
    ///
    /// They do not go together, with the reason.
    pub fn new(parts: Vec<SurveyedManifest>) -> Result<Self, MergeError> {
        parts.iter().try_for_each(whole)?;
        all_or_none_native(&parts)?;
        same_algorithms(&parts)?;
        let native = parts.iter().any(is_native);
        if native {
            same_scope(&parts)?;
            all_slices(&parts)?;
        }
        let base = match same_base(&parts) {
            Ok(base) => Some(base),
            Err(error) if native => return Err(error),
            Err(_) => None,
        };
        let formats: Vec<Format> = parts.iter().map(format).collect();
        let common = formats.iter().all(|one| *one == formats[0]);
        Ok(Self {
            header: joined_header(&parts),
            base,
            format: formats.first().copied().filter(|_| common),
            parts,
        })
    }

    /// What the parts say of themselves together, but for the base.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The folder that the names of all parts are relative to: the one that they record, else their
    /// own, if that is the same for all.
    pub fn base(&self) -> Option<&Path> {
        self.base.as_deref()
    }

    /// The format that all parts have, if it is the same.
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// Whether the records of all parts end with NUL.
    pub fn end_with_nul(&self) -> bool {
        let mut ends = self
            .parts
            .iter()
            .map(|part| part.survey.evidence.terminator);
        ends.all(|end| end == Terminator::Nul)
    }

    /// Whether the parts say what was walked, so that a missing one is found.
    pub fn say_what_was_walked(&self) -> bool {
        self.parts.iter().all(says_what_was_walked)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.parts.len()
    }

    /// The algorithms of the parts, in the order in which native ones name them.
    pub(super) fn algorithms(&self) -> Vec<Algorithm> {
        let mut algorithms = self.header.algorithms.clone();
        let digests = self.parts.iter().flat_map(|part| &part.survey.met);
        for algorithm in digests {
            if !algorithms.contains(algorithm) {
                algorithms.push(*algorithm);
            }
        }
        algorithms
    }
}

fn whole(part: &SurveyedManifest) -> Result<(), MergeError> {
    let name = part.file.name();
    if part.survey.spoiled {
        return Err(MergeError::Damaged(name.clone()));
    }
    match part.survey.malformed {
        0 => Ok(()),
        lines => Err(MergeError::Malformed {
            part: name.clone(),
            lines,
        }),
    }
}

fn format(part: &SurveyedManifest) -> Format {
    part.survey.evidence.format
}

fn is_native(part: &SurveyedManifest) -> bool {
    format(part) == Format::Jsonl
}

fn different(
    first: &SurveyedManifest,
    second: &SurveyedManifest,
    what: &'static str,
    of_first: String,
    of_second: String,
) -> MergeError {
    MergeError::Different {
        first: first.file.name().clone(),
        second: second.file.name().clone(),
        what,
        of_first,
        of_second,
    }
}

/// A list that says nothing of what was walked would be taken for a part of a tree of which every
/// file is listed.
fn all_or_none_native(parts: &[SurveyedManifest]) -> Result<(), MergeError> {
    let other = parts
        .iter()
        .find(|part| is_native(part) != is_native(&parts[0]));
    match other {
        Some(other) => {
            let (one, two) = (format(&parts[0]).to_string(), format(other).to_string());
            Err(different(&parts[0], other, "the format is", one, two))
        }
        None => Ok(()),
    }
}

/// What every entry of the part has, if it says so, else what all of its entries have together;
/// `None` if it lists nothing.
fn algorithms(part: &SurveyedManifest) -> Option<BTreeSet<Algorithm>> {
    let said = part.survey.header.as_ref().map(|header| &header.algorithms);
    match said.filter(|said| !said.is_empty()) {
        Some(said) => Some(said.iter().copied().collect()),
        None => Some(part.survey.met.iter().copied().collect())
            .filter(|found: &BTreeSet<Algorithm>| !found.is_empty()),
    }
}

fn same_algorithms(parts: &[SurveyedManifest]) -> Result<(), MergeError> {
    let mut known = parts
        .iter()
        .filter_map(|part| Some((part, algorithms(part)?)));
    let Some((first, of_first)) = known.next() else {
        return Ok(());
    };
    match known.find(|(_, algorithms)| *algorithms != of_first) {
        Some((second, of_second)) => {
            let (one, two) = (listed(&of_first), listed(&of_second));
            Err(different(first, second, "the algorithms are", one, two))
        }
        None => Ok(()),
    }
}

fn listed<'t, T: ToString + 't>(items: impl IntoIterator<Item = &'t T>) -> String {
    let items: Vec<String> = items.into_iter().map(ToString::to_string).collect();
    match items.is_empty() {
        true => "none".to_owned(),
        false => items.join(", "),
    }
}

fn scope(part: &SurveyedManifest) -> Scope {
    let header = part.survey.header.as_ref();
    header
        .map(|header| header.scope.clone())
        .unwrap_or_default()
}

fn paths(part: &SurveyedManifest) -> &[RelPath] {
    let header = part.survey.header.as_ref();
    header.map(|header| &*header.paths).unwrap_or_default()
}

/// Names from a list and standard input are nothing that others can be known to be slices of.
fn says_what_was_walked(part: &SurveyedManifest) -> bool {
    is_native(part) && paths(part).iter().any(|path| path.as_bytes() != b"-")
}

fn same_scope(parts: &[SurveyedManifest]) -> Result<(), MergeError> {
    let first = &parts[0];
    let of_first = told_scope(first);
    for second in &parts[1..] {
        for (one, two) in of_first.iter().zip(told_scope(second)) {
            if one.1 != two.1 {
                return Err(different(first, second, one.0, one.1.clone(), two.1));
            }
        }
    }
    Ok(())
}

/// What must be the same in all parts, in words.
fn told_scope(part: &SurveyedManifest) -> Vec<(&'static str, String)> {
    let scope = scope(part);
    let walked = if paths(part).is_empty() {
        "not recorded"
    } else {
        "recorded"
    };
    vec![
        ("what was walked is", walked.to_owned()),
        ("--include is", listed(&scope.include)),
        ("--exclude is", listed(&scope.exclude)),
        ("following links is", scope.follow_links.to_string()),
        ("--one-file-system is", scope.one_file_system.to_string()),
        ("--max-depth is", listed(scope.max_depth.as_ref())),
    ]
}

/// For each thing that was walked, all slices must be there, unless one part is all of it.
fn all_slices(parts: &[SurveyedManifest]) -> Result<(), MergeError> {
    let mut walked: BTreeMap<&[RelPath], Vec<(&SurveyedManifest, Option<Slice>)>> = BTreeMap::new();
    for part in parts {
        let slices = walked.entry(paths(part)).or_default();
        slices.push((part, scope(part).slice));
    }
    for (paths, slices) in walked {
        let is_whole = slices.iter().any(|(_, slice)| slice.is_none());
        let mut sliced = slices
            .iter()
            .filter_map(|(part, slice)| Some((*part, (*slice)?)));
        let Some((first, one)) = sliced.next().filter(|_| !is_whole) else {
            continue;
        };
        if let Some((second, two)) = sliced.find(|(_, slice)| slice.count() != one.count()) {
            let (one, two) = (one.to_string(), two.to_string());
            return Err(different(first, second, "the slice is", one, two));
        }
        let there: BTreeSet<u32> = slices
            .iter()
            .filter_map(|(_, slice)| Some((*slice)?.index()))
            .collect();
        let missing: Vec<u32> = (1..=one.count())
            .filter(|index| !there.contains(index))
            .collect();
        if !missing.is_empty() {
            return Err(MergeError::MissingSlices {
                missing,
                count: one.count(),
                paths: paths.to_vec(),
            });
        }
    }
    Ok(())
}

/// The folder that the names of a part are relative to. What is not there on this machine is taken
/// as it is spelled.
fn base(part: &SurveyedManifest) -> PathBuf {
    let header = part.survey.header.as_ref();
    let recorded = header.and_then(|header| header.base.as_ref()?.to_path());
    let base = own_folder(part).join(recorded.unwrap_or_default());
    base.canonicalize().unwrap_or(base)
}

/// The folder that a part lies in. A pipe lies in none that its names could be relative to, wherever
/// the system keeps it: it counts as lying in the current one, like standard input.
fn own_folder(part: &SurveyedManifest) -> &Path {
    let is_stream = |path: &Path| path.metadata().is_ok_and(|found| !found.is_file());
    let path = part.file.path().filter(|path| !is_stream(path));
    let own = path.and_then(Path::parent);
    own.filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

fn same_base(parts: &[SurveyedManifest]) -> Result<PathBuf, MergeError> {
    let first = base(&parts[0]);
    let others = parts[1..].iter().map(|part| (part, base(part)));
    for (second, other) in others {
        if other != first {
            let told = |base: &Path| RelPath::from_path(base).to_string();
            let (one, two) = (told(&first), told(&other));
            return Err(different(&parts[0], second, "the base is", one, two));
        }
    }
    Ok(first)
}

fn joined_header(parts: &[SurveyedManifest]) -> Header {
    let mut joined = Header::default();
    let headers = parts.iter().filter_map(|part| part.survey.header.as_ref());
    for (place, header) in headers.enumerate() {
        if place == 0 {
            joined.algorithms.clone_from(&header.algorithms);
            joined.scope = Scope {
                slice: None,
                left_out: Vec::new(),
                ..header.scope.clone()
            };
        }
        unite(&mut joined.paths, &header.paths);
        unite(&mut joined.scope.left_out, &header.scope.left_out);
        joined.created = match (joined.created, header.created) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
    joined
}

fn unite(all: &mut Vec<RelPath>, more: &[RelPath]) {
    for name in more {
        if !all.contains(name) {
            all.push(name.clone());
        }
    }
}
