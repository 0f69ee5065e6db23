//! What two sides say of one name.

use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::event::{Difference, Unverified, Verdict};
use crate::manifest::Kind;

use super::super::manifests::Item;

/// Compares what two sides say of one name, by all that both say.
pub(super) fn compare(old: &Item, new: &Item) -> Verdict {
    if let Some(reason) = unusable(old).or_else(|| unusable(new)) {
        return Verdict::Unverified(reason);
    }
    let size = new.size.or(old.size).unwrap_or(0);
    let (expected, actual) = (word(&old.kind), word(&new.kind));
    if expected != actual {
        let differences = vec![Difference::Kind { expected, actual }];
        return Verdict::Changed { differences, size };
    }
    match (&old.kind, &new.kind) {
        (Kind::File, _) => files(old, new, size),
        (Kind::Link(Some(expected)), Kind::Link(Some(actual))) if expected != actual => {
            let (expected, actual) = (expected.clone(), actual.clone());
            let differences = vec![Difference::Target { expected, actual }];
            Verdict::Changed { differences, size }
        }
        _ => Verdict::Present,
    }
}

/// Why nothing can be said of an entry, if so.
pub(super) fn unusable(item: &Item) -> Option<Unverified> {
    let gap = item.gap.map(|_| Unverified::Gap);
    item.trouble.clone().or(gap)
}

fn files(old: &Item, new: &Item, size: u64) -> Verdict {
    let mut differences = Vec::new();
    if let (Some(expected), Some(actual)) = (old.size, new.size)
        && expected != actual
    {
        differences.push(Difference::Size { expected, actual });
    }
    let mut common = 0;
    for (expected, actual) in common_digests(old, new) {
        common += 1;
        if expected != actual {
            differences.push(Difference::Digest { expected, actual });
        }
    }
    if !differences.is_empty() {
        Verdict::Changed { differences, size }
    } else if common == 0 {
        Verdict::Unverified(nothing_in_common(old, new))
    } else {
        Verdict::Ok { size }
    }
}

/// The digests of the algorithms that both have.
pub(super) fn common_digests<'i>(
    old: &'i Item,
    new: &'i Item,
) -> impl Iterator<Item = (Digest, Digest)> + 'i {
    old.digests
        .iter()
        .filter_map(|digest| Some((*digest, *new.digest(digest.algorithm())?)))
}

fn nothing_in_common(old: &Item, new: &Item) -> Unverified {
    let mut unsupported = old.unsupported.iter().chain(&new.unsupported);
    if old.digests.is_empty() || new.digests.is_empty() {
        return match unsupported.next() {
            Some(name) => Unverified::UnsupportedAlgorithm(name.clone()),
            None => Unverified::NoDigest,
        };
    }
    Unverified::NothingInCommon {
        old: names(&old.digests),
        new: names(&new.digests),
    }
}

fn names(digests: &[Digest]) -> String {
    let names = digests.iter().map(Digest::algorithm);
    let names: Vec<String> = names
        .map(|algorithm: Algorithm| algorithm.to_string())
        .collect();
    names.join(", ")
}

fn word(kind: &Kind) -> &'static str {
    match kind {
        Kind::File => "file",
        Kind::Directory => "folder",
        Kind::Link(_) => "symbolic link",
        Kind::Special => "device, socket or pipe",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::GapKind;
    use crate::relpath::RelPath;
    use crate::timestamp::{Modified, Timestamp};

    fn item(size: Option<u64>, digests: &[(Algorithm, u8)]) -> Item {
        let digest = |(algorithm, byte): &(Algorithm, u8)| {
            Digest::new(*algorithm, &vec![*byte; algorithm.digest_len_bytes()]).unwrap()
        };
        Item {
            size,
            digests: digests.iter().map(digest).collect(),
            ..Item::new(RelPath::from("a"))
        }
    }

    fn told(old: &Item, new: &Item) -> String {
        match compare(old, new) {
            Verdict::Changed { differences, .. } => {
                let what = differences.iter().map(|one| one.parts().0);
                what.collect::<Vec<_>>().join(",")
            }
            Verdict::Unverified(reason) => format!("?{reason}"),
            other => other.word().to_string(),
        }
    }

    #[test]
    fn all_common_algorithms_must_agree_and_others_do_not_matter() {
        use Algorithm::{Md5, Sha256};
        let old = item(None, &[(Md5, 1), (Sha256, 1)]);
        assert_eq!(told(&old, &item(Some(3), &[(Sha256, 1)])), "ok");
        assert_eq!(told(&old, &item(None, &[(Sha256, 1), (Md5, 2)])), "md5");
        assert_eq!(told(&old, &item(None, &[(Sha256, 2)])), "sha256");
    }

    #[test]
    fn nothing_in_common_is_never_unchanged() {
        use Algorithm::{Md5, Sha256};
        let (old, new) = (item(Some(3), &[(Md5, 1)]), item(Some(3), &[(Sha256, 1)]));
        let reason = "?no algorithm in common: md5 in the old one, sha256 in the new one";
        assert_eq!(told(&old, &new), reason);
        assert_eq!(told(&old, &item(Some(4), &[(Sha256, 1)])), "size");
        assert_eq!(
            told(&old, &item(Some(3), &[])),
            "?no digest to compare with"
        );
        let gost = Item {
            unsupported: vec!["gost".into()],
            ..item(Some(3), &[])
        };
        let reason = "?a gost digest cannot be computed; -a names one of the others";
        assert_eq!(told(&old, &gost), reason);
    }

    #[test]
    fn another_time_is_no_change_and_another_kind_is_one() {
        let old = item(Some(3), &[(Algorithm::Md5, 1)]);
        let mut new = old.clone();
        new.modified = Timestamp::new(1, 0).map(Modified::exactly);
        assert_eq!(told(&old, &new), "ok");
        new.kind = Kind::Directory;
        assert_eq!(told(&old, &new), "type");
        let link = |target: Option<&str>| Item {
            kind: Kind::Link(target.map(RelPath::from)),
            ..item(None, &[])
        };
        assert_eq!(told(&link(Some("x")), &link(Some("y"))), "link");
        assert_eq!(told(&link(Some("x")), &link(None)), "ok");
    }

    #[test]
    fn a_gap_or_a_contradiction_on_either_side_is_unverified() {
        let plain = item(Some(3), &[(Algorithm::Md5, 1)]);
        let gap = Item {
            gap: Some(GapKind::Unreadable),
            ..plain.clone()
        };
        let torn = Item {
            trouble: Some(Unverified::ContradictoryField("size")),
            ..plain.clone()
        };
        for item in [gap, torn] {
            assert!(told(&item, &plain).starts_with('?'));
            assert!(told(&plain, &item).starts_with('?'));
        }
    }
}
