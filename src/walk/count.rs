//! How much there is to hash, for a progress bar.

use super::names::Input;
use super::walker::{Options, walk};
use super::{Found, FoundKind};

/// Regular files, and the bytes in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// How many files.
    pub files: u64,
    /// The sum of their sizes; stays at its greatest value where it would overflow.
    pub bytes: u64,
}

/// Counts what [`walk`] would report as regular files, and their sizes.
///
/// `on` gets the totals so far after every file; `stop` is asked before every file, and `true` ends
/// the count. What cannot be looked at counts nothing, since the walk proper reports it. Returns the
/// last totals.
pub fn count(
    inputs: impl IntoIterator<Item = Input>,
    options: Options,
    on: &mut dyn FnMut(Totals),
    stop: &dyn Fn() -> bool,
) -> Totals {
    let mut totals = Totals::default();
    for found in walk(inputs, options) {
        if stop() {
            break;
        }
        if let Some(size) = size_of(&found) {
            totals.files += 1;
            totals.bytes = totals.bytes.saturating_add(size);
            on(totals);
        }
    }
    totals
}

fn size_of(found: &Found) -> Option<u64> {
    if !matches!(found.kind, FoundKind::File) {
        return None;
    }
    // An error counts nothing: see above.
    found
        .path
        .metadata(found.through_link)
        .ok()
        .map(|metadata| metadata.len())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::walk::Root;

    #[test]
    fn files_and_bytes_are_counted_until_stopped() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("d")).unwrap();
        for (name, size) in [("a", 3), ("d/b", 5), ("e", 0)] {
            fs::write(dir.path().join(name), vec![0; size]).unwrap();
        }
        let inputs = || {
            let tree = Input::Path(Root::relative(dir.path()));
            let gone = Input::Path(Root::relative(dir.path().join("gone")));
            [gone, Input::Stdin, tree]
        };
        let mut seen = Vec::new();
        let on = &mut |totals: Totals| seen.push((totals.files, totals.bytes));
        let totals = count(inputs(), Options::default(), on, &|| false);
        assert_eq!(totals, Totals { files: 3, bytes: 8 });
        assert_eq!(seen, [(1, 3), (2, 8), (3, 8)]);

        let totals = count(inputs(), Options::default(), &mut |_| {}, &|| true);
        assert_eq!(totals, Totals::default());
    }
}
