//! Numbers of things in sentences: grouped digits, and words that agree with the number.

/// A whole number with a comma between groups of three digits.
///
/// # Examples
///
/// ```
/// assert_eq!(multisum::counted::grouped(1_234_567), "1,234,567");
/// ```
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun, the plural of which is regular.
///
/// # Examples
///
/// ```
/// use multisum::counted::counted;
/// assert_eq!(counted(1, "file"), "1 file");
/// assert_eq!(counted(1_000, "entry"), "1,000 entries");
/// assert_eq!(counted(0, "day"), "0 days");
/// ```
pub fn counted(number: u64, noun: &str) -> String {
    format!(
        "{} {}",
        grouped(number),
        agreeing(number, noun, &plural(noun))
    )
}

/// The word that agrees with a number of things: the first for one, the second for any other.
///
/// # Examples
///
/// ```
/// use multisum::counted::agreeing;
/// assert_eq!(agreeing(1, "was", "were"), "was");
/// assert_eq!(agreeing(0, "was", "were"), "were");
/// ```
pub fn agreeing<'a>(number: u64, one: &'a str, many: &'a str) -> &'a str {
    if number == 1 { one } else { many }
}

fn plural(noun: &str) -> String {
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{noun}s"),
    }
}
