//! `fetch.txt`: which files of the payload lie elsewhere.

use super::super::Malformed;
use super::super::lines::{decimal, skip_blanks};
use super::name::Spelling;
use super::{Version, text};

/// One file that may have to be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// Its path in the bag.
    pub spelling: Spelling,
    /// Its length in bytes, if it is told.
    pub length: Option<u64>,
}

/// Reads `fetch.txt`, each line with its number. Nothing is ever fetched.
pub fn read_fetch(text: &[u8], version: Version) -> Vec<(u64, Result<Fetch, Malformed>)> {
    text::lines(text)
        .filter(|(_, line)| !text::is_blank(line))
        .map(|(number, line)| (number, entry(line, version)))
        .collect()
}

fn entry(line: &[u8], version: Version) -> Result<Fetch, Malformed> {
    let shape = || Malformed::Package("the line is not 'URL LENGTH PATH'".to_owned());
    let (_url, rest) = word(line).ok_or_else(shape)?;
    let (length, path) = word(rest).ok_or_else(shape)?;
    let length = match length {
        b"-" => None,
        digits => Some(decimal(digits).ok_or_else(|| Malformed::bad_field("length", digits))?),
    };
    if path.is_empty() {
        return Err(shape());
    }
    Ok(Fetch {
        spelling: Spelling::new(path, version),
        length,
    })
}

/// The first word, and what follows the blanks after it.
fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|byte| matches!(byte, b' ' | b'\t'))?;
    (end > 0).then(|| (&text[..end], skip_blanks(&text[end..])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relpath::RelPath;

    #[test]
    fn urls_lengths_and_paths_with_blanks() {
        let text = b"http://h/a%20b - data/a b\r\nhttp://h/c\t12  data/c%0A\r\n";
        let read: Vec<Fetch> = read_fetch(text, Version::V1_0)
            .into_iter()
            .map(|(_, entry)| entry.unwrap())
            .collect();
        assert_eq!(read[0].spelling.name, RelPath::from("data/a b"));
        assert_eq!(read[0].length, None);
        assert_eq!(read[1].spelling.name, RelPath::from("data/c\n"));
        assert_eq!(read[1].length, Some(12));
    }

    #[test]
    fn a_line_that_lacks_a_part_is_found() {
        for line in [
            "http://h/a",
            "http://h/a -",
            "http://h/a - ",
            "u x data/a",
            " u - data/a",
        ] {
            let read = read_fetch(line.as_bytes(), Version::V1_0);
            assert!(read[0].1.is_err(), "{line}");
        }
    }
}
