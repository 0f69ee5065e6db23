//! Names that are gone, and files with the same contents that have turned up elsewhere.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::algorithm::Algorithm;
use crate::digest::Digest;

/// A name that is gone: its place among them, and the size that its file must have, if that is
/// recorded.
type Gone = (usize, Option<u64>);

/// The names that are gone, by what their files must contain. Each is given away once. Empty files are
/// like any other empty file, and cannot be said to have moved.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    by_digests: HashMap<Vec<Digest>, VecDeque<Gone>>,
    /// Every set of algorithms that one of them needs.
    algorithm_sets: BTreeSet<Vec<Algorithm>>,
}

impl Wanted {
    /// Adds the name at a place, with all of its digests, of which there is one at least.
    pub(super) fn add(&mut self, place: usize, mut digests: Vec<Digest>, size: Option<u64>) {
        // So that they are equal whatever order their lines had.
        digests.sort_by_key(Digest::algorithm);
        let algorithms = digests.iter().map(Digest::algorithm).collect();
        self.algorithm_sets.insert(algorithms);
        let queue = self.by_digests.entry(digests).or_default();
        queue.push_back((place, size));
    }

    /// All algorithms that one of them needs.
    pub(super) fn algorithms(&self) -> BTreeSet<Algorithm> {
        self.algorithm_sets.iter().flatten().copied().collect()
    }

    /// The first of those that a file with these digests and that size may be.
    pub(super) fn claim(&mut self, digests: &[Digest], size: u64) -> Option<usize> {
        if size == 0 {
            return None;
        }
        let mut digests = digests.to_vec();
        digests.sort_by_key(Digest::algorithm);
        self.algorithm_sets.iter().find_map(|set| {
            let fitting = digests.iter();
            let fitting = fitting.filter(|digest| set.contains(&digest.algorithm()));
            let key: Vec<Digest> = fitting.copied().collect();
            let queue = self.by_digests.get_mut(&key)?;
            let fits = |gone: &Gone| gone.1.is_none_or(|recorded| recorded == size);
            let at = queue.iter().position(fits)?;
            queue.remove(at).map(|(place, _)| place)
        })
    }
}
