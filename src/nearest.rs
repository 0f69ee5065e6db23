//! What a misspelt word may have been meant to be.

/// The candidate that differs least from `word`, if it is near enough to be meant: one wrong, missing,
/// additional or swapped letter, or two in a word of six letters and more. Case does not matter. Of
/// equals, the first.
///
/// # Examples
///
/// ```
/// use multisum::nearest::nearest;
/// let names = ["md5", "sha1", "sha256"];
/// assert_eq!(nearest("SHA265", names), Some("sha256"));
/// assert_eq!(nearest("crc", names), None);
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Longer words are no slips of the finger, and the comparison takes the square of the length.
    const LONGEST: usize = 40;
    if word.len() > LONGEST {
        return None;
    }
    let word = word.to_lowercase();
    let most = if word.chars().count() < 6 { 1 } else { 2 };
    let distances = candidates
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&word, name), name));
    let near = distances.filter(|(distance, _)| *distance <= most);
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}
