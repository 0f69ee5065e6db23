//! Names that are gone, and new names with the same contents.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::event::Verdict;
use crate::hasher::MultiHasher;
use crate::relpath::RelPath;

use super::side::TreeFile;

/// Something that only one side has.
#[derive(Debug)]
pub(super) struct Lone {
    pub(super) name: RelPath,
    /// Empty for what is no file.
    pub(super) digests: Vec<Digest>,
    pub(super) size: Option<u64>,
    /// Where its contents are, if they are there to be read.
    pub(super) file: Option<TreeFile>,
    /// What else is to be said of it than that the other side does not have it.
    pub(super) verdict: Option<Verdict>,
}

impl Lone {
    /// Whether it has contents by which it can be found again: one empty file is like any other.
    pub(super) fn may_move(&self) -> bool {
        let has_contents = self.file.is_some() || !self.digests.is_empty();
        has_contents && self.verdict.is_none() && self.size != Some(0)
    }
}

/// Sizes that a file may have that has moved.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    any: bool,
    known: HashSet<u64>,
}

impl Sizes {
    /// The sizes of all that may have moved, of one side.
    pub(super) fn of(lones: &[Lone]) -> Self {
        let mut sizes = Self::default();
        for lone in lones.iter().filter(|lone| lone.may_move()) {
            match lone.size {
                Some(size) => {
                    sizes.known.insert(size);
                }
                None => sizes.any = true,
            }
        }
        sizes
    }

    pub(super) fn hold(&self, size: Option<u64>) -> bool {
        self.any || size.is_none_or(|size| self.known.contains(&size))
    }
}

/// What has moved, and by which algorithms that was found.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// For each that is gone, its place among those that are new.
    pub(super) to: Vec<Option<usize>>,
    /// For each that is new, whether it has come from elsewhere.
    pub(super) taken: Vec<bool>,
    /// For each move, what both have digests of.
    pub(super) compared: Vec<Vec<Algorithm>>,
}

/// Pairs each that is gone with at most one that is new, both in the order of names.
pub(super) fn pair(removed: &[Lone], added: &[Lone]) -> Moves {
    let mut index = Index::new(removed);
    let mut moves = Moves {
        to: vec![None; removed.len()],
        taken: vec![false; added.len()],
        compared: Vec::new(),
    };
    for (place, lone) in added.iter().enumerate() {
        if let Some((from, common)) = index.claim(lone) {
            moves.to[from] = Some(place);
            moves.taken[place] = true;
            moves.compared.push(common);
        }
    }
    moves
}

/// Those that are gone, by their digests of some algorithms.
type ByDigests = HashMap<Vec<Digest>, VecDeque<usize>>;

struct Index<'l> {
    removed: &'l [Lone],
    taken: Vec<bool>,
    /// Every set of algorithms that one of them has.
    sets: BTreeSet<Vec<Algorithm>>,
    /// By such a set, and the part of it that others have as well.
    tables: HashMap<(Vec<Algorithm>, Vec<Algorithm>), ByDigests>,
    empty: Empty,
}

impl<'l> Index<'l> {
    fn new(removed: &'l [Lone]) -> Self {
        let sets = removed.iter().map(|lone| algorithms(&lone.digests));
        Self {
            removed,
            taken: vec![false; removed.len()],
            sets: sets.filter(|set| !set.is_empty()).collect(),
            tables: HashMap::new(),
            empty: Empty::default(),
        }
    }

    /// The first that is gone and has the same contents, with the algorithms that say so.
    fn claim(&mut self, lone: &Lone) -> Option<(usize, Vec<Algorithm>)> {
        if !lone.may_move() || self.empty.is(lone) {
            return None;
        }
        let has = algorithms(&lone.digests);
        let (removed, taken) = (self.removed, &mut self.taken);
        for set in &self.sets {
            let common: Vec<Algorithm> = set
                .iter()
                .filter(|algorithm| has.contains(algorithm))
                .copied()
                .collect();
            if common.is_empty() {
                continue;
            }
            let key = (set.clone(), common.clone());
            let empty = &mut self.empty;
            let table = self
                .tables
                .entry(key)
                .or_insert_with(|| table(removed, set, &common, empty));
            let Some(same) = table.get_mut(&restricted(&lone.digests, &common)) else {
                continue;
            };
            let fits = |place: &usize| {
                let sizes = (removed[*place].size, lone.size);
                !taken[*place] && !matches!(sizes, (Some(old), Some(new)) if old != new)
            };
            let place = same.iter().position(fits);
            if let Some(from) = place.and_then(|place| same.remove(place)) {
                taken[from] = true;
                return Some((from, common));
            }
        }
        None
    }
}

fn table(
    removed: &[Lone],
    set: &[Algorithm],
    common: &[Algorithm],
    empty: &mut Empty,
) -> ByDigests {
    let mut table = ByDigests::new();
    for (place, lone) in removed.iter().enumerate() {
        if lone.may_move() && algorithms(&lone.digests) == set && !empty.is(lone) {
            let key = restricted(&lone.digests, common);
            table.entry(key).or_default().push_back(place);
        }
    }
    table
}

/// Sorted, so that entries compare equal whatever order their lines had.
fn algorithms(digests: &[Digest]) -> Vec<Algorithm> {
    let mut algorithms: Vec<Algorithm> = digests.iter().map(Digest::algorithm).collect();
    algorithms.sort();
    algorithms
}

fn restricted(digests: &[Digest], algorithms: &[Algorithm]) -> Vec<Digest> {
    let of = |algorithm: &Algorithm| {
        let mut digests = digests.iter();
        digests
            .find(|digest| digest.algorithm() == *algorithm)
            .copied()
    };
    algorithms.iter().filter_map(of).collect()
}

/// The digests of nothing, by which empty files are known where no size is recorded.
#[derive(Debug, Default)]
struct Empty(HashMap<Algorithm, Option<Digest>>);

impl Empty {
    fn is(&mut self, lone: &Lone) -> bool {
        lone.size.is_none() && lone.digests.iter().any(|digest| self.is_of_nothing(digest))
    }

    fn is_of_nothing(&mut self, digest: &Digest) -> bool {
        let algorithm = digest.algorithm();
        let of_nothing = self
            .0
            .entry(algorithm)
            .or_insert_with(|| MultiHasher::new(&[algorithm]).finish().pop());
        of_nothing.as_ref() == Some(digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lone(name: &str, size: Option<u64>, digests: &[(Algorithm, u8)]) -> Lone {
        let digest = |(algorithm, byte): &(Algorithm, u8)| {
            Digest::new(*algorithm, &vec![*byte; algorithm.digest_len_bytes()]).unwrap()
        };
        Lone {
            name: RelPath::from(name),
            digests: digests.iter().map(digest).collect(),
            size,
            file: None,
            verdict: None,
        }
    }

    use Algorithm::{Md5, Sha1, Sha256};

    #[test]
    fn equal_contents_are_paired_one_to_one_in_order() {
        let file = |name, byte| lone(name, Some(1), &[(Md5, byte)]);
        let removed = [file("a", 1), file("b", 1), file("c", 2)];
        let added = [file("x", 1), file("y", 3), file("z", 2)];
        let moves = pair(&removed, &added);
        assert_eq!(moves.to, [Some(0), None, Some(2)]);
        assert_eq!(moves.taken, [true, false, true]);
    }

    #[test]
    fn the_algorithms_that_both_have_decide() {
        let removed = [
            lone("a", None, &[(Md5, 1), (Sha1, 1)]),
            lone("b", None, &[(Sha256, 2)]),
        ];
        let added = [
            lone("x", None, &[(Sha256, 2), (Md5, 9)]),
            lone("y", None, &[(Sha1, 1), (Md5, 2)]),
            lone("z", None, &[(Sha1, 1)]),
        ];
        let moves = pair(&removed, &added);
        assert_eq!(moves.to, [Some(2), Some(0)]);
        assert_eq!(moves.compared, [vec![Sha256], vec![Sha1]]);
    }

    #[test]
    fn sizes_that_differ_are_no_move_and_unknown_ones_may_be() {
        let removed = [
            lone("a", Some(1), &[(Md5, 1)]),
            lone("b", Some(2), &[(Md5, 1)]),
        ];
        let added = [
            lone("x", Some(2), &[(Md5, 1)]),
            lone("y", None, &[(Md5, 1)]),
        ];
        assert_eq!(pair(&removed, &added).to, [Some(1), Some(0)]);
        let (removed, added) = (&removed[..1], &added[..1]);
        assert_eq!(pair(removed, added).to, [None]);
    }

    #[test]
    fn an_empty_file_never_moves_whether_its_size_or_its_digest_tells() {
        let nothing = MultiHasher::new(&[Md5]).finish();
        let empty = |name, size| Lone {
            digests: nothing.clone(),
            ..lone(name, size, &[])
        };
        for size in [Some(0), None] {
            assert_eq!(pair(&[empty("a", size)], &[empty("b", size)]).to, [None]);
        }
    }

    #[test]
    fn only_files_of_fitting_sizes_need_be_read() {
        let known = [
            lone("a", Some(3), &[(Md5, 1)]),
            lone("b", Some(0), &[(Md5, 1)]),
        ];
        let sizes = Sizes::of(&known);
        assert!(sizes.hold(Some(3)) && !sizes.hold(Some(4)) && !sizes.hold(Some(0)));
        assert!(Sizes::of(&[lone("a", None, &[(Md5, 1)])]).hold(Some(4)));
        assert!(!Sizes::of(&[lone("a", None, &[])]).hold(Some(4)));
    }
}
