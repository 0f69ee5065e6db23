//! What md5deep, sha1deep and their kin write with options; without, it is the untagged format.
//!
//! ```text
//! line = [SIZE "  "] HEX [" " TIME] ("  " | " *") NAME       SIZE is right-aligned in ten columns
//! line = [SIZE ", "] HEX "," [TIME ","] NAME                 with -c
//! ```
//!
//! `-z` adds the size and `-t` the time of the last change of the inode, `YYYY:MM:DD:HH:MM:SS`, which
//! is no modification time and is not used. Nothing is escaped. The first good line settles which
//! of the shapes the list has, since the name in one shape may look like a field of another. Source:
//! the manual and the output of md5deep 4.4.

use super::decoder::{self, Context, Records};
use super::evidence::{AlgorithmEvidence, AlgorithmSource};
use super::lines::{self, skip_blanks};
use super::plain;
use super::{Claim, Malformed};

/// Which fields a line has, and what is between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    size: bool,
    time: bool,
    commas: bool,
}

/// A line, cut in pieces.
#[derive(Debug)]
struct Line<'a> {
    shape: Shape,
    size: Option<u64>,
    digits: &'a [u8],
    name: &'a [u8],
}

#[derive(Debug)]
struct Grammar {
    algorithms: AlgorithmEvidence,
    shape: Option<Shape>,
}

/// The grammar of these lists.
pub(super) fn grammar(context: &Context) -> Box<dyn decoder::Grammar> {
    Box::new(Grammar {
        algorithms: context.algorithms,
        shape: None,
    })
}

/// Whether a line has a shape that is not that of an untagged one.
pub(super) fn is_entry(line: &[u8]) -> bool {
    split(line).is_some_and(|line| line.shape.size || line.shape.time || line.shape.commas)
}

impl decoder::Grammar for Grammar {
    fn line(&mut self, number: u64, text: &[u8], records: &mut Records) {
        plain::entry_line(number, text, records, |text| self.claim(text));
    }

    fn algorithm_source(&self) -> AlgorithmSource {
        self.algorithms.source()
    }
}

impl Grammar {
    fn claim(&mut self, text: &[u8]) -> Result<Claim, Malformed> {
        let line = split(text).ok_or(Malformed::NoShape)?;
        if self.shape.is_some_and(|shape| shape != line.shape) {
            return Err(Malformed::NoShape);
        }
        let name = plain::name(line.name, false)?;
        let mut claim = Claim::new(name, self.algorithms.untagged(line.digits)?);
        claim.size = line.size;
        self.shape = Some(line.shape);
        Ok(claim.maybe_from_windows())
    }
}

fn split(text: &[u8]) -> Option<Line<'_>> {
    let with_size = split_size(text)
        .and_then(|(size, commas, rest)| Some((Some(size), commas, split_digest(rest)?)));
    let (size, commas, rest) = match with_size {
        Some((size, commas, rest)) if commas == rest.commas => (size, commas, rest),
        _ => {
            let rest = split_digest(text)?;
            (None, rest.commas, rest)
        }
    };
    Some(Line {
        shape: Shape {
            size: size.is_some(),
            time: rest.time,
            commas,
        },
        size,
        digits: rest.digits,
        name: rest.name,
    })
}

/// The size, whether a comma follows it, and the rest.
fn split_size(text: &[u8]) -> Option<(u64, bool, &[u8])> {
    const WIDTH: usize = 10;
    let number = skip_blanks(text);
    let len = number.iter().take_while(|b| b.is_ascii_digit()).count();
    if text.len() - number.len() + len < WIDTH {
        return None;
    }
    let (number, rest) = number.split_at(len);
    let commas = rest.starts_with(b", ");
    let rest = rest.strip_prefix(if commas { b", " } else { b"  " })?;
    Some((lines::decimal(number)?, commas, rest))
}

/// What follows the size.
struct Rest<'a> {
    digits: &'a [u8],
    time: bool,
    commas: bool,
    name: &'a [u8],
}

fn split_digest(text: &[u8]) -> Option<Rest<'_>> {
    let len = text.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    if !matches!(len, 32 | 40 | 48 | 64 | 128) {
        return None;
    }
    let (digits, rest) = text.split_at(len);
    let (&separator, rest) = rest.split_first()?;
    let time = split_time(rest);
    let (commas, name) = match (separator, time) {
        (b',', None) => (true, rest),
        (b',', Some(rest)) => (true, rest.strip_prefix(b",")?),
        (b' ', time) => (
            false,
            after_mode(time.map_or(Some(rest), |rest| rest.strip_prefix(b" "))?)?,
        ),
        _ => return None,
    };
    Some(Rest {
        digits,
        time: time.is_some(),
        commas,
        name,
    })
}

fn after_mode(text: &[u8]) -> Option<&[u8]> {
    text.strip_prefix(b" ").or_else(|| text.strip_prefix(b"*"))
}

/// What follows a time.
fn split_time(text: &[u8]) -> Option<&[u8]> {
    const PATTERN: &[u8] = b"0000:00:00:00:00:00";
    let (time, rest) = text.split_at_checked(PATTERN.len())?;
    let fits = time.iter().zip(PATTERN).all(|(byte, model)| match model {
        b'0' => byte.is_ascii_digit(),
        colon => byte == colon,
    });
    fits.then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::testing::{called, in_format, made_of, no_hints, read_to_the_end, shown};
    use proptest::prelude::*;

    fn read(list: &str) -> Vec<String> {
        let (format, records) = shown(list, &no_hints());
        assert_eq!(format, Format::Md5deep, "{list}");
        records
    }

    #[test]
    fn every_shape_is_told_from_untagged_lines() {
        assert_eq!(read("         6  MD5!  a b\n"), ["1:a b 6 md5"]);
        assert_eq!(read("12345678901  MD5! *a\n"), ["1:a 12345678901 md5"]);
        assert_eq!(read("MD5! 2026:11:30:15:01:34  a\n"), ["1:a md5"]);
        assert_eq!(
            read("         6  SHA1! 2026:11:30:15:01:34  a\n"),
            ["1:a 6 sha1?"]
        );
        assert_eq!(read("TIGER!,a,b\n"), ["1:a,b tiger?"]);
        assert_eq!(read("         6, MD5!,a\n"), ["1:a 6 md5"]);
        assert_eq!(
            read("         6, MD5!,2026:11:30:15:01:34,a\n"),
            ["1:a 6 md5"]
        );
        assert_eq!(
            read("MD5!,2026:11:30:15:01:34,d\\e\n"),
            ["1:d\\\\e (d/e) md5"]
        );
    }

    #[test]
    fn untagged_lines_stay_what_they_are() {
        for list in [
            "MD5!  a\n",
            "CRC32!  MD5!  a\n",
            "12345678  MD5!  a\n",
            "MD5! 2026:11:30  a\n",
        ] {
            assert_eq!(shown(list, &no_hints()).0, Format::Gnu, "{list}");
        }
        let asked = in_format(Format::Md5deep);
        assert_eq!(
            shown("MD5!  a\nMD5! *b\n", &asked).1,
            ["1:a md5", "2:b md5"]
        );
    }

    #[test]
    fn the_first_line_settles_the_shape() {
        let list = "         6  MD5!  a\nMD5!  b\n         6  MD5! 2026:11:30:15:01:34  c\n";
        let asked = in_format(Format::Md5deep);
        let no = "not a checksum line";
        assert_eq!(
            shown(list, &asked).1,
            ["1:a 6 md5", &format!("2!{no}"), &format!("3!{no}")]
        );
        let swapped = "MD5!,a\nMD5!,2026:11:30:15:01:34,b\n";
        assert_eq!(shown(swapped, &asked).1[1], format!("2!{no}"));
    }

    #[test]
    fn the_name_of_the_list_counts() {
        assert_eq!(
            shown("         6  SHA1!  a\n", &called("x.sha1")).1,
            ["1:a 6 sha1"]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(list in made_of(&[
            "         6  ", "         6, ", "2026:11:30:15:01:34", "*", "99999999999999999999",
        ])) {
            read_to_the_end(&list, Format::Md5deep)?;
        }
    }
}
