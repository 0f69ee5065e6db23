//! Names that are one to some systems and two to others.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

use crate::relpath::RelPath;

/// The composed form of a name that is text and has more than one form.
pub(super) fn composed(name: &RelPath) -> Option<String> {
    let text = std::str::from_utf8(name.as_bytes()).ok()?;
    (!text.is_ascii()).then(|| text.nfc().collect())
}

/// All names so far, by what is left of them where neither case nor normalisation counts.
#[derive(Debug, Default)]
pub(super) struct Lookalikes<'a>(HashMap<Vec<u8>, &'a RelPath>);

impl<'a> Lookalikes<'a> {
    /// Adds a name, and says what it may be taken for.
    pub(super) fn add(&mut self, name: &'a RelPath) -> Option<String> {
        let folded = match composed(name) {
            Some(text) => text.to_lowercase().into_bytes(),
            None => name.as_bytes().to_ascii_lowercase(),
        };
        let earlier = *self.0.entry(folded).or_insert(name);
        if *earlier != *name {
            let same_letters = composed(earlier).is_some() && composed(earlier) == composed(name);
            let difference = if same_letters {
                "Unicode normalisation"
            } else {
                "case"
            };
            return Some(format!(
                "{name}: differs from {earlier} in {difference} only"
            ));
        }
        is_left_about(name).then(|| format!("{name}: a file that systems make on their own"))
    }
}

fn is_left_about(name: &RelPath) -> bool {
    let own: [&[u8]; 3] = [b"thumbs.db", b"desktop.ini", b".ds_store"];
    let last = name
        .components()
        .next_back()
        .map(<[u8]>::to_ascii_lowercase);
    last.is_some_and(|last| own.contains(&last.as_slice()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_normalisation_are_told_apart_and_a_name_is_no_double_of_itself() {
        let names = [
            "data/a",
            "data/A",
            "data/a",
            "data/\u{e9}",
            "data/e\u{301}",
            "data/b",
        ];
        let names = names.map(RelPath::from);
        let mut seen = Lookalikes::default();
        let said: Vec<bool> = names.iter().map(|name| seen.add(name).is_some()).collect();
        assert_eq!(said, [false, true, false, false, true, false]);
        let again = seen.add(&names[4]).unwrap();
        assert!(again.contains("normalisation"), "{again}");
    }

    #[test]
    fn names_that_are_no_text_are_compared_as_bytes() {
        let names = [&b"data/\xff"[..], b"data/\xfe"].map(RelPath::from_bytes);
        let mut seen = Lookalikes::default();
        assert!(names.iter().all(|name| seen.add(name).is_none()));
    }
}
