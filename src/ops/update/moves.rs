//! Listed files that are gone, and new files with the same contents.

use std::collections::HashMap;

use crate::digest::Digest;
use crate::engine::Hashed;
use crate::relpath::RelPath;

use super::super::Item;
use super::super::moves::Wanted;

/// A file that was not listed.
#[derive(Debug)]
pub(super) struct Fresh {
    pub(super) name: RelPath,
    size: u64,
    digests: Vec<Digest>,
}

impl Fresh {
    pub(super) fn new(name: RelPath, hashed: &Hashed) -> Self {
        Self {
            name,
            size: hashed.size,
            digests: hashed.digests.clone(),
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
    let mut wanted = Wanted::default();
    for (place, item) in gone.iter().enumerate() {
        if !item.digests.is_empty() && item.trouble.is_none() {
            wanted.add(place, item.digests.clone(), item.size);
        }
    }
    let mut moved: HashMap<usize, RelPath> = HashMap::new();
    let mut left = Vec::new();
    for file in fresh {
        match wanted.claim(&file.digests, file.size) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Algorithm;

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
