//! Listed files that are gone, and new files with the same contents.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::engine::Hashed;
use crate::relpath::RelPath;

use super::super::Item;

/// A file that was not listed.
#[derive(Debug)]
pub(super) struct Fresh {
    pub(super) name: RelPath,
    size: u64,
    /// In the order of algorithms.
    digests: Vec<Digest>,
}

impl Fresh {
    pub(super) fn new(name: RelPath, hashed: &Hashed) -> Self {
        Self {
            name,
            size: hashed.size,
            digests: sorted(&hashed.digests),
        }
    }
}

/// Pairs each file that is gone with at most one new file of the same contents. Empty files are like
/// any other empty file, and cannot be said to have moved.
///
/// Gives those that are gone, each with its new name if it has one, and the new files that are left.
pub(super) fn pair(
    gone: Vec<Item>,
    fresh: Vec<Fresh>,
) -> (Vec<(Item, Option<RelPath>)>, Vec<RelPath>) {
    let mut wanted: HashMap<Vec<Digest>, VecDeque<usize>> = HashMap::new();
    let mut sets: BTreeSet<Vec<Algorithm>> = BTreeSet::new();
    for (place, item) in gone.iter().enumerate() {
        if item.digests.is_empty() || item.trouble.is_some() {
            continue;
        }
        let digests = sorted(&item.digests);
        sets.insert(digests.iter().map(Digest::algorithm).collect());
        wanted.entry(digests).or_default().push_back(place);
    }
    let mut moved: HashMap<usize, RelPath> = HashMap::new();
    let mut left = Vec::new();
    for file in fresh {
        match claim(&file, &gone, &sets, &mut wanted) {
            Some(place) => {
                moved.insert(place, file.name);
            }
            None => left.push(file.name),
        }
    }
    let gone = gone.into_iter().enumerate();
    let gone = gone.map(|(place, item)| (item, moved.remove(&place)));
    (gone.collect(), left)
}

fn claim(
    file: &Fresh,
    gone: &[Item],
    sets: &BTreeSet<Vec<Algorithm>>,
    wanted: &mut HashMap<Vec<Digest>, VecDeque<usize>>,
) -> Option<usize> {
    if file.size == 0 {
        return None;
    }
    sets.iter().find_map(|set| {
        let fitting = file.digests.iter();
        let fitting = fitting.filter(|digest| set.contains(&digest.algorithm()));
        let places = wanted.get_mut(&fitting.copied().collect::<Vec<_>>())?;
        let fits = |place: &usize| gone[*place].size.is_none_or(|size| size == file.size);
        let at = places.iter().position(fits)?;
        places.remove(at)
    })
}

fn sorted(digests: &[Digest]) -> Vec<Digest> {
    let mut digests = digests.to_vec();
    digests.sort_by_key(Digest::algorithm);
    digests
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(byte: u8) -> Vec<Digest> {
        vec![Digest::new(Algorithm::Md5, &[byte; 16]).unwrap()]
    }

    fn gone(name: &str, byte: u8, size: Option<u64>) -> Item {
        Item {
            digests: digest(byte),
            size,
            ..Item::new(RelPath::from(name))
        }
    }

    fn fresh(name: &str, byte: u8, size: u64) -> Fresh {
        Fresh {
            name: RelPath::from(name),
            size,
            digests: digest(byte),
        }
    }

    fn paired(gone: Vec<Item>, fresh: Vec<Fresh>) -> (Vec<String>, Vec<String>) {
        let (gone, left) = pair(gone, fresh);
        let shown = gone.iter().map(|(item, to)| match to {
            Some(to) => format!("{}>{to}", item.name),
            None => item.name.to_string(),
        });
        (
            shown.collect(),
            left.iter().map(ToString::to_string).collect(),
        )
    }

    #[test]
    fn each_is_paired_once_and_the_rest_is_missing_or_new() {
        let listed = vec![gone("a", 1, None), gone("b", 1, None), gone("c", 2, None)];
        let found = vec![fresh("x", 1, 9), fresh("y", 3, 9)];
        let (told, left) = paired(listed, found);
        assert_eq!(told, ["a>x", "b", "c"]);
        assert_eq!(left, ["y"]);
    }

    #[test]
    fn empty_files_and_files_of_another_size_do_not_move() {
        let (told, left) = paired(vec![gone("a", 1, Some(0))], vec![fresh("x", 1, 0)]);
        assert_eq!((told, left), (vec!["a".into()], vec!["x".into()]));
        let (told, _) = paired(vec![gone("a", 1, Some(5))], vec![fresh("x", 1, 6)]);
        assert_eq!(told, ["a"]);
    }
}
