//! The order in which a walk meets names, and the items of a manifest in that order.

use std::cmp::Ordering;

use crate::error::Error;
use crate::relpath::RelPath;

use super::super::{Item, Items};

/// The order of a walk of several roots: root by root as they were named, and in each by name.
#[derive(Clone, Debug)]
pub struct WalkOrder {
    /// The names of the roots; none if they stand in the order of names, as one root does.
    roots: Vec<RelPath>,
}

/// Items one by one, each of another name.
pub(super) type ItemIter = Box<dyn Iterator<Item = Result<Item, Error>> + Send>;

impl WalkOrder {
    /// The order of a walk of roots with these names.
    pub fn new(roots: &[RelPath]) -> Self {
        let sorted = roots.is_sorted();
        Self {
            roots: if sorted { Vec::new() } else { roots.to_vec() },
        }
    }

    pub(super) fn compare(&self, a: &RelPath, b: &RelPath) -> Ordering {
        let by_root = || self.rank(a).cmp(&self.rank(b));
        match self.roots.is_empty() {
            true => a.cmp(b),
            false => by_root().then_with(|| a.cmp(b)),
        }
    }

    /// Which root reports a name: the first that leads to it.
    fn rank(&self, name: &RelPath) -> usize {
        let leads = |root: &RelPath| is_at_or_below(name, root);
        let found = self.roots.iter().position(leads);
        found.unwrap_or(self.roots.len())
    }

    /// The items in this order: streamed, if it is that of names.
    ///
    /// # Errors
    ///
    /// The manifest cannot be read.
    pub(super) fn arrange(&self, items: Items) -> Result<ItemIter, Error> {
        if self.roots.is_empty() {
            return Ok(Box::new(items));
        }
        let mut all = items.collect::<Result<Vec<Item>, Error>>()?;
        all.sort_by(|a, b| self.compare(&a.name.normalised(), &b.name.normalised()));
        Ok(Box::new(all.into_iter().map(Ok)))
    }
}

/// Whether `name` is `folder` or lies in it.
pub(super) fn is_at_or_below(name: &RelPath, folder: &RelPath) -> bool {
    let mut parts = name.components();
    folder.components().all(|part| parts.next() == Some(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(roots: &[&str], names: &[&str]) -> Vec<String> {
        let roots: Vec<RelPath> = roots.iter().map(|root| RelPath::from(*root)).collect();
        let order = WalkOrder::new(&roots);
        let mut names: Vec<RelPath> = names.iter().map(|name| RelPath::from(*name)).collect();
        names.sort_by(|a, b| order.compare(a, b));
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn names_come_root_by_root_and_those_of_no_root_last() {
        assert_eq!(sorted(&[""], &["a.txt", "a/b"]), ["a/b", "a.txt"]);
        let names = ["a", "a/b", "b/x", "b/a", "c"];
        assert_eq!(sorted(&["b", "a"], &names), ["b/a", "b/x", "a", "a/b", "c"]);
        let inner_first = sorted(&["a/z", "a"], &["a/b", "a/z/q"]);
        assert_eq!(inner_first, ["a/z/q", "a/b"]);
    }
}
