//! All that a manifest says of one name.

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::event::Unverified;
use crate::manifest::{Claim, ClaimedDigest, Entry, GapKind, Kind};
use crate::relpath::RelPath;
use crate::timestamp::Modified;

/// All that a manifest says of one name, from however many lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The name as it is spelled.
    pub name: RelPath,
    /// One digest for each algorithm that is named and can be computed.
    pub digests: Vec<Digest>,
    /// Algorithms that are named and cannot be computed.
    pub unsupported: Vec<Box<str>>,
    /// Bytes.
    pub size: Option<u64>,
    /// The modification time.
    pub modified: Option<Modified>,
    /// What it is.
    pub kind: Kind,
    /// Why it was not hashed, if it was not.
    pub gap: Option<GapKind>,
    /// Another spelling may be meant, which only the files could tell.
    pub ambiguous: bool,
    /// Why none of it may be used.
    pub trouble: Option<Unverified>,
}

impl Item {
    /// A name of which nothing is said yet.
    pub fn new(name: RelPath) -> Self {
        Self {
            name,
            digests: Vec::new(),
            unsupported: Vec::new(),
            size: None,
            modified: None,
            kind: Kind::File,
            gap: None,
            ambiguous: false,
            trouble: None,
        }
    }

    /// What the first line says of a name.
    pub fn of_claim(claim: Claim) -> Self {
        let mut item = Self::new(claim.name.clone());
        item.kind.clone_from(&claim.kind);
        item.join(claim);
        item
    }

    /// A file that was known and not hashed.
    pub fn of_gap(name: RelPath, kind: GapKind) -> Self {
        Self {
            gap: Some(kind),
            ..Self::new(name)
        }
    }

    /// Adds what one more line says of the name. A contradiction makes all of it unusable.
    pub fn join(&mut self, claim: Claim) {
        if let Err(reason) = self.try_join(claim) {
            self.trouble.get_or_insert(reason);
        }
    }

    /// As [`join`](Self::join), for whoever tells of the contradiction where it is met.
    pub(crate) fn try_join(&mut self, claim: Claim) -> Result<(), Unverified> {
        self.ambiguous |= claim.other_name.is_some();
        if self.kind != claim.kind {
            return Err(Unverified::ContradictoryField("type"));
        }
        for digest in claim.digests {
            match digest {
                ClaimedDigest::Known(digest) => self.add(digest)?,
                ClaimedDigest::Unsupported(name) => self.unsupported.push(name),
                ClaimedDigest::OneOf { .. } => return Err(Unverified::UnknownAlgorithm),
            }
        }
        match (self.size, claim.size) {
            (Some(first), Some(second)) if first != second => {
                return Err(Unverified::ContradictoryField("size"));
            }
            (None, size) => self.size = size,
            _ => {}
        }
        self.modified = self.modified.or(claim.modified);
        Ok(())
    }

    fn add(&mut self, digest: Digest) -> Result<(), Unverified> {
        let algorithm = digest.algorithm();
        match self.digest(algorithm) {
            Some(known) if *known != digest => Err(Unverified::Contradiction(algorithm)),
            Some(_) => Ok(()),
            None => {
                self.digests.push(digest);
                Ok(())
            }
        }
    }

    /// Adds all that another item says of the same name.
    pub fn absorb(&mut self, other: Self) {
        self.gap = self.gap.or(other.gap);
        let trouble = other.trouble;
        let is_gap_alone = other.gap.is_some() && other.digests.is_empty();
        if !is_gap_alone {
            let digests = other.digests.into_iter().map(ClaimedDigest::Known);
            let unsupported = other
                .unsupported
                .into_iter()
                .map(ClaimedDigest::Unsupported);
            self.join(Claim {
                digests: digests.chain(unsupported).collect(),
                size: other.size,
                modified: other.modified,
                kind: other.kind,
                ..Claim::bare(other.name)
            });
        }
        self.trouble = self.trouble.take().or(trouble);
        self.ambiguous |= other.ambiguous;
    }

    /// The digest of one algorithm.
    pub fn digest(&self, algorithm: Algorithm) -> Option<&Digest> {
        self.digests
            .iter()
            .find(|digest| digest.algorithm() == algorithm)
    }

    /// Whether nothing could be said of it elsewhere, though the manifest names it.
    pub fn lacks_digests(&self) -> bool {
        self.digests.is_empty() && self.gap.is_none() && self.trouble.is_none()
    }

    /// What a writer is given.
    pub fn entry(&self) -> Entry<'_> {
        Entry {
            name: &self.name,
            digests: &self.digests,
            size: self.size,
            modified: self.modified,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(algorithm: Algorithm, byte: u8) -> Digest {
        Digest::new(algorithm, &vec![byte; algorithm.digest_len_bytes()]).unwrap()
    }

    fn item(algorithm: Algorithm, byte: u8) -> Item {
        let digest = ClaimedDigest::Known(digest(algorithm, byte));
        Item::of_claim(Claim::new(RelPath::from("a"), digest))
    }

    #[test]
    fn lines_of_one_name_become_one_item_and_contradictions_spoil_it() {
        let mut both = item(Algorithm::Md5, 1);
        both.absorb(item(Algorithm::Sha256, 2));
        both.absorb(item(Algorithm::Md5, 1));
        assert_eq!(both.digests.len(), 2);
        assert_eq!(both.trouble, None);
        both.absorb(item(Algorithm::Sha256, 3));
        let expected = Unverified::Contradiction(Algorithm::Sha256);
        assert_eq!(both.trouble, Some(expected));
    }

    #[test]
    fn a_gap_beside_a_digest_keeps_both_and_loses_neither() {
        let gap = Item::of_gap(RelPath::from("a"), GapKind::Unreadable);
        let mut first = item(Algorithm::Md5, 1);
        first.absorb(gap.clone());
        let mut second = gap;
        second.absorb(item(Algorithm::Md5, 1));
        for item in [first, second] {
            assert_eq!(
                (item.digests.len(), item.gap),
                (1, Some(GapKind::Unreadable))
            );
            assert_eq!(item.trouble, None);
        }
    }

    #[test]
    fn two_sizes_or_two_kinds_are_a_contradiction() {
        let claim = |size, kind| Claim {
            size: Some(size),
            kind,
            ..Claim::bare(RelPath::from("a"))
        };
        for (second, field) in [
            (claim(2, Kind::File), "size"),
            (claim(1, Kind::Directory), "type"),
        ] {
            let mut item = Item::of_claim(claim(1, Kind::File));
            item.join(second);
            let expected = Unverified::ContradictoryField(field);
            assert_eq!(item.trouble, Some(expected));
        }
    }
}
