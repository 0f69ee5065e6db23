//! What is claimed of one file.

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::event::Unverified;
use crate::manifest::{Claim, ClaimedDigest, Kind};
use crate::relpath::RelPath;
use crate::timestamp::Modified;

use super::super::manifests::Item;
use super::Relocation;

/// What the lists claim of one file.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    /// The name as listed.
    pub(super) name: RelPath,
    /// The name after relocation, where that is another.
    relocated: Option<RelPath>,
    /// The list it stands in, as its place among the sources.
    pub(super) source: u32,
    pub(super) digests: Vec<ClaimedDigest>,
    /// Why it cannot be compared, if so.
    pub(super) trouble: Option<Unverified>,
    /// What few formats say. Boxed, since a million entries may be kept.
    extras: Option<Box<Extras>>,
}

/// What an entry says beside digests.
#[derive(Clone, Debug)]
struct Extras {
    size: Option<u64>,
    modified: Option<Modified>,
    kind: Kind,
    other_name: Option<RelPath>,
}

impl Listed {
    /// What one line claims, in the list `source`.
    pub(super) fn new(
        claim: Claim,
        source: u32,
        relocation: &Relocation,
        trouble: Option<Unverified>,
    ) -> Self {
        let Claim {
            name,
            other_name,
            digests,
            size,
            modified,
            kind,
        } = claim;
        let (relocated, trouble) = match relocation.apply(&name) {
            Ok(relocated) => (relocated, trouble),
            Err(reason) => (None, Some(reason)),
        };
        // The other spelling is relocated as the first one is, or it leads nowhere.
        let other_name = other_name.and_then(|other| match relocation.apply(&other) {
            Ok(relocated) => Some(relocated.unwrap_or(other)),
            Err(_) => None,
        });
        let plain = size.is_none() && modified.is_none() && other_name.is_none();
        let extras = (!plain || kind != Kind::File).then(|| {
            Box::new(Extras {
                size,
                modified,
                kind,
                other_name,
            })
        });
        Self {
            name,
            relocated,
            source,
            digests,
            trouble,
            extras,
        }
    }

    /// What all lines of a name together claim, in the only list.
    pub(super) fn of_item(item: Item) -> Self {
        let gap = item.gap.map(|_| Unverified::Gap);
        let digests = item.digests.into_iter().map(ClaimedDigest::Known);
        let unsupported = item.unsupported.into_iter();
        let claim = Claim {
            digests: digests
                .chain(unsupported.map(ClaimedDigest::Unsupported))
                .collect(),
            size: item.size,
            modified: item.modified,
            kind: item.kind,
            ..Claim::bare(item.name)
        };
        Self::new(claim, 0, &Relocation::default(), item.trouble.or(gap))
    }

    /// The name that leads to the file.
    pub(super) fn target(&self) -> &RelPath {
        self.relocated.as_ref().unwrap_or(&self.name)
    }

    /// Takes the other spelling of its name, if it has one, for the one that leads to the file
    /// where `decide` says so of both.
    pub(super) fn spell_otherwise(
        &mut self,
        decide: impl FnOnce(&RelPath, &RelPath) -> bool,
    ) -> bool {
        let extras = self.extras.as_mut();
        let Some(other) = extras.and_then(|extras| extras.other_name.take()) else {
            return false;
        };
        let taken = decide(self.target(), &other);
        if taken {
            self.relocated = Some(other);
        }
        taken
    }

    /// The size that it must have, in bytes.
    pub(super) fn size(&self) -> Option<u64> {
        self.extras.as_ref()?.size
    }

    /// When it was last modified before it was hashed.
    pub(super) fn modified(&self) -> Option<Modified> {
        self.extras.as_ref()?.modified
    }

    /// What must stand there.
    pub(super) fn kind(&self) -> &Kind {
        self.extras
            .as_ref()
            .map_or(&Kind::File, |extras| &extras.kind)
    }

    /// The algorithm of a digest that cannot be computed.
    pub(super) fn unsupported(&self) -> Option<&str> {
        self.digests.iter().find_map(|digest| match digest {
            ClaimedDigest::Unsupported(name) => Some(&**name),
            _ => None,
        })
    }

    /// The digests whose algorithm is known, which is all of them once algorithms are settled.
    pub(super) fn known(&self) -> impl Iterator<Item = &Digest> + Clone {
        self.digests.iter().filter_map(|digest| match digest {
            ClaimedDigest::Known(digest) => Some(digest),
            ClaimedDigest::OneOf { .. } | ClaimedDigest::Unsupported(_) => None,
        })
    }

    /// The algorithms to compute, in the order of the digests.
    pub(super) fn algorithms(&self) -> Vec<Algorithm> {
        self.known().map(Digest::algorithm).collect()
    }

    /// Every spelling of the name that may lead to the file.
    pub(super) fn spellings(&self) -> impl Iterator<Item = &RelPath> + Clone {
        let other = self
            .extras
            .as_ref()
            .and_then(|extras| extras.other_name.as_ref());
        std::iter::once(self.target()).chain(other)
    }

    /// Takes over what a later line says of the same file.
    pub(super) fn absorb(&mut self, later: &mut Self) {
        let digests = std::mem::take(&mut later.digests);
        let (trouble, extras) = (later.trouble.take(), later.extras.take());
        // Contradicted once is enough; a list of nothing but contradictions must not cost more.
        if self.is_contradicted() {
            return;
        }
        self.trouble = match self.join(digests, extras) {
            Err(contradiction) => Some(contradiction),
            Ok(()) => self.trouble.take().or(trouble),
        };
    }

    fn is_contradicted(&self) -> bool {
        let trouble = self.trouble.as_ref();
        trouble.is_some_and(|trouble| {
            matches!(
                trouble,
                Unverified::Contradiction(_) | Unverified::ContradictoryField(_)
            )
        })
    }

    fn join(
        &mut self,
        digests: Vec<ClaimedDigest>,
        extras: Option<Box<Extras>>,
    ) -> Result<(), Unverified> {
        let later_kind = extras.as_ref().map_or(&Kind::File, |extras| &extras.kind);
        if self.kind() != later_kind {
            return Err(Unverified::ContradictoryField("type"));
        }
        for claimed in digests {
            if let ClaimedDigest::Known(later) = &claimed {
                let mut known = self.known();
                let known = known.find(|known| known.algorithm() == later.algorithm());
                if known.is_some_and(|known| known != later) {
                    return Err(Unverified::Contradiction(later.algorithm()));
                }
            }
            if !self.digests.contains(&claimed) {
                self.digests.push(claimed);
            }
        }
        let Some(later) = extras else { return Ok(()) };
        let Some(extras) = &mut self.extras else {
            self.extras = Some(later);
            return Ok(());
        };
        match (extras.size, later.size) {
            (Some(first), Some(second)) if first != second => {
                return Err(Unverified::ContradictoryField("size"));
            }
            (first, second) => extras.size = first.or(second),
        }
        extras.modified = extras.modified.or(later.modified);
        Ok(())
    }
}

impl Relocation {
    /// Whether every name stays as it is.
    pub(super) fn is_none(&self) -> bool {
        self.strip == 0 && self.map.is_empty()
    }

    /// `Ok(None)` if the name stays as it is.
    fn apply(&self, name: &RelPath) -> Result<Option<RelPath>, Unverified> {
        let stripped = match self.strip {
            0 => None,
            count => Some(name.strip(count).ok_or(Unverified::NothingLeft)?),
        };
        let current = stripped.as_ref().unwrap_or(name);
        let mapped = self.map.iter().find_map(|(old, new)| current.map(old, new));
        Ok(mapped.or(stripped))
    }
}
