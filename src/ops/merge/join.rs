//! Many streams in the order of names as one, each name once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::event::Unverified;
use crate::relpath::RelPath;

use super::super::manifests::{Item, Items, SurveyedManifest};
use super::MergeError;

/// What all parts say of each name.
pub(super) struct Joined<'p> {
    names: Vec<&'p RelPath>,
    streams: Vec<Items>,
    /// What stands next in each part, if anything is left of it.
    heads: Vec<Option<Item>>,
    /// The names of the heads, in normal form.
    order: BinaryHeap<Reverse<(RelPath, usize)>>,
}

impl<'p> Joined<'p> {
    pub(super) fn new(parts: &'p [SurveyedManifest]) -> Result<Self, MergeError> {
        let mut joined = Self {
            names: parts.iter().map(|part| part.file.name()).collect(),
            streams: Vec::new(),
            heads: Vec::new(),
            order: BinaryHeap::new(),
        };
        for (place, part) in parts.iter().enumerate() {
            joined.streams.push(part.items()?);
            joined.heads.push(None);
            joined.advance(place)?;
        }
        Ok(joined)
    }

    /// The first entry of the first part that has one.
    pub(super) fn first(&self) -> Option<&Item> {
        let mut heads = self.heads.iter().flatten();
        heads.find(|item| !item.digests.is_empty())
    }

    /// Puts the next item of a part in the place of its head, which is given back.
    fn advance(&mut self, place: usize) -> Result<Option<Item>, MergeError> {
        let next = self.streams[place].next().transpose()?;
        if let Some(item) = &next {
            let key = item.name.normalised().into_owned();
            self.order.push(Reverse((key, place)));
        }
        Ok(std::mem::replace(&mut self.heads[place], next))
    }

    /// What the parts say of the next name.
    fn item(&mut self) -> Result<Option<Item>, MergeError> {
        let Some(Reverse((key, first))) = self.order.pop() else {
            return Ok(None);
        };
        let Some(mut item) = self.advance(first)? else {
            return Ok(None);
        };
        self.usable(&item, first)?;
        while let Some(Reverse((name, _))) = self.order.peek()
            && *name == key
        {
            let Some(Reverse((_, second))) = self.order.pop() else {
                break;
            };
            if let Some(other) = self.advance(second)? {
                self.usable(&other, second)?;
                let name = item.name.clone();
                agree(&mut item, other).map_err(|what| MergeError::Contradiction {
                    name,
                    first: self.names[first].clone(),
                    second: self.names[second].clone(),
                    what,
                })?;
            }
        }
        Ok(Some(item))
    }

    fn usable(&self, item: &Item, place: usize) -> Result<(), MergeError> {
        match &item.trouble {
            Some(reason) => Err(MergeError::Unusable {
                part: self.names[place].clone(),
                name: item.name.clone(),
                reason: reason.clone(),
            }),
            None => Ok(()),
        }
    }
}

impl Iterator for Joined<'_> {
    type Item = Result<Item, MergeError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.item().transpose()
    }
}

/// Adds what another part says of the name, unless both cannot be right.
fn agree(item: &mut Item, other: Item) -> Result<(), String> {
    if item.gap != other.gap {
        return Err("one of them says that it could not be hashed".to_owned());
    }
    item.absorb(other);
    match &item.trouble {
        None => Ok(()),
        Some(Unverified::Contradiction(algorithm)) => {
            Err(format!("they give two different {algorithm} digests"))
        }
        Some(Unverified::ContradictoryField(field)) => {
            Err(format!("they give two different values of its {field}"))
        }
        Some(other) => Err(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Algorithm;
    use crate::digest::Digest;
    use crate::manifest::GapKind;

    fn item(byte: u8) -> Item {
        let algorithm = Algorithm::Md5;
        let digest = Digest::new(algorithm, &vec![byte; algorithm.digest_len_bytes()]);
        Item {
            digests: vec![digest.unwrap()],
            size: Some(1),
            ..Item::new(RelPath::from("a"))
        }
    }

    #[test]
    fn equal_items_agree_and_others_do_not() {
        let told = |one: Item, other: Item| agree(&mut { one }, other).err().unwrap_or_default();
        assert_eq!(told(item(1), item(1)), "");
        assert_eq!(
            told(item(1), item(2)),
            "they give two different md5 digests"
        );
        let longer = Item {
            size: Some(2),
            ..item(1)
        };
        assert_eq!(
            told(item(1), longer),
            "they give two different values of its size"
        );
        let gap = || Item::of_gap(RelPath::from("a"), GapKind::Unreadable);
        assert_eq!(told(gap(), gap()), "");
        let said = "one of them says that it could not be hashed";
        assert_eq!(told(gap(), item(1)), said);
        assert_eq!(told(item(1), gap()), said);
    }
}
