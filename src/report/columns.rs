//! Text fitted to the columns of a terminal.

use console::measure_text_width;

/// The columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    measure_text_width(text)
}

/// Fills a text with blanks on the right up to `columns`.
pub(super) fn padded(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{text}{:missing$}", "")
}

/// Fills a text with blanks on the left up to `columns`.
pub(super) fn padded_left(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{:missing$}{text}", "")
}

/// Takes an ellipsis for the middle of a text that is wider than `columns`.
///
/// The end gets the larger part, since the end of a path tells more than its beginning. The result
/// may be a column short where a wide character does not fit.
pub(super) fn shortened(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else {
        return String::new();
    };
    let head = head_of(text.chars(), room / 3);
    let tail = head_of(text.chars().rev(), room - room / 3);
    let head: String = head.into_iter().collect();
    let tail: String = tail.into_iter().rev().collect();
    format!("{head}…{tail}")
}

fn head_of(chars: impl Iterator<Item = char>, columns: usize) -> Vec<char> {
    let mut taken = 0;
    chars
        .take_while(|c| {
            taken += width(c.encode_utf8(&mut [0; 4]));
            taken <= columns
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_fits_is_left_alone() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("日本", 4), "日本");
    }

    #[test]
    fn the_middle_goes_and_the_end_of_a_path_stays() {
        assert_eq!(
            shortened("photos/2024/summer/beach.jpg", 16),
            "photo…/beach.jpg"
        );
    }

    #[test]
    fn no_result_is_wider_than_asked() {
        for text in [
            "日本語の長い名前.txt",
            "e\u{301}e\u{301}e\u{301}abc",
            "plain name",
        ] {
            for columns in 0..12 {
                let short = shortened(text, columns);
                assert!(width(&short) <= columns, "{short} in {columns}");
            }
        }
        assert_eq!(shortened("日本語", 1), "…");
        assert_eq!(shortened("日本語", 0), "");
    }

    #[test]
    fn padding_counts_columns_not_bytes() {
        assert_eq!(padded("é日", 5), "é日  ");
        assert_eq!(padded_left("é日", 5), "  é日");
        assert_eq!(padded("long", 2), "long");
    }
}
