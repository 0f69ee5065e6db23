//! Two streams in the order of names, joined by name.

use std::cmp::Ordering;

use crate::error::Error;
use crate::relpath::RelPath;

use super::side::{Thing, Things, is_below};

/// What the two sides have under one name; at least one of them has something.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) old: Option<Thing>,
    pub(super) new: Option<Thing>,
    /// The side that has nothing may have it nevertheless, in a folder of which not everything is
    /// known.
    pub(super) hidden: bool,
}

/// Gives a [`Pair`] for each name.
pub(super) struct Join {
    old: Stream,
    new: Stream,
}

struct Stream {
    things: Things,
    next: Option<Thing>,
    /// The last folder of which not everything is known: what lies in it follows directly.
    closed: Option<RelPath>,
    started: bool,
}

impl Join {
    pub(super) fn new(old: Things, new: Things) -> Self {
        let stream = |things| Stream {
            things,
            next: None,
            closed: None,
            started: false,
        };
        Self {
            old: stream(old),
            new: stream(new),
        }
    }

    fn pair(&mut self) -> Result<Option<Pair>, Error> {
        self.old.start()?;
        self.new.start()?;
        let order = match (&self.old.next, &self.new.next) {
            (None, None) => return Ok(None),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) => old.key().cmp(&new.key()),
        };
        let old = match order {
            Ordering::Less | Ordering::Equal => self.old.take()?,
            Ordering::Greater => None,
        };
        let new = match order {
            Ordering::Greater | Ordering::Equal => self.new.take()?,
            Ordering::Less => None,
        };
        let hidden = match (&old, &new) {
            (Some(old), None) => self.new.may_hold(old),
            (None, Some(new)) => self.old.may_hold(new),
            _ => false,
        };
        Ok(Some(Pair { old, new, hidden }))
    }
}

impl Iterator for Join {
    type Item = Result<Pair, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.pair().transpose()
    }
}

impl Stream {
    fn start(&mut self) -> Result<(), Error> {
        if !std::mem::replace(&mut self.started, true) {
            self.next = self.things.next().transpose()?;
        }
        Ok(())
    }

    fn take(&mut self) -> Result<Option<Thing>, Error> {
        let following = self.things.next().transpose()?;
        let taken = std::mem::replace(&mut self.next, following);
        if let Some(thing) = taken.as_ref().filter(|thing| thing.hides_what_is_below()) {
            self.closed = Some(thing.key().into_owned());
        }
        Ok(taken)
    }

    fn may_hold(&self, thing: &Thing) -> bool {
        let closed = self.closed.as_ref();
        closed.is_some_and(|closed| is_below(thing.name(), closed))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::manifests::Item;
    use super::*;
    use crate::manifest::GapKind;

    fn things(names: &str) -> Things {
        let thing = |name: &str| {
            Ok(Thing::Listed(match name.strip_suffix('!') {
                Some(name) => Item::of_gap(RelPath::from(name), GapKind::Unreadable),
                None => Item::new(RelPath::from(name)),
            }))
        };
        let all: Vec<_> = names.split_whitespace().map(thing).collect();
        Box::new(all.into_iter())
    }

    fn joined(old: &str, new: &str) -> String {
        let told = Join::new(things(old), things(new)).map(|pair| {
            let pair = pair.unwrap();
            let name = |thing: &Option<Thing>| {
                let name = thing.as_ref().map(|thing| thing.name().to_string());
                name.unwrap_or_default()
            };
            let mark = if pair.hidden { "?" } else { "" };
            format!("{}|{}{mark}", name(&pair.old), name(&pair.new))
        });
        told.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_name_comes_once_in_order() {
        assert_eq!(joined("a a/b c", "a a.txt c d"), "a|a a/b| |a.txt c|c |d");
        assert_eq!(joined("", "x"), "|x");
        assert_eq!(joined("./a", "a"), "./a|a");
    }

    #[test]
    fn what_may_lie_in_a_closed_folder_is_marked() {
        assert_eq!(joined("a d/x d/y e", "a d! e"), "a|a |d d/x|? d/y|? e|e");
        assert_eq!(joined("d! e", "d/x da e"), "d| |d/x? |da e|e");
    }
}
