//! What POSIX `cksum` writes: `CRC SIZE NAME`.
//!
//! ```text
//! line = DECIMAL SP DECIMAL SP NAME LF
//! ```
//!
//! Nothing is escaped. `cksum -a crc32b` writes the CRC-32 of SFV lists in the same shape, which only
//! the user can tell. The sums of 16 bits of `sum` and of `cksum -a bsd` and `-a sysv`, which count
//! blocks and not bytes, are refused: they prove nothing. Source: POSIX.1-2017, *cksum*, and GNU
//! coreutils 9.1.

use super::decoder::{self, Context, Records};
use super::evidence::{AlgorithmEvidence, AlgorithmSource, NamedAlgorithm};
use super::lines::{decimal, skip_blanks};
use super::plain;
use super::{Claim, ClaimedDigest, Malformed};
use crate::algorithm::Algorithm;
use crate::digest::Digest;

/// The largest sum of 16 bits.
const MAX_SUM: u32 = 0xffff;

/// In how many digits `sum` writes one.
const SUM_DIGITS: usize = 5;

#[derive(Debug)]
struct Grammar {
    algorithms: AlgorithmEvidence,
    /// Whether a value was read that has more than 16 bits.
    proved: bool,
}

/// The grammar of these lists.
pub(super) fn grammar(context: &Context) -> Box<dyn decoder::Grammar> {
    Box::new(Grammar {
        algorithms: context.algorithms,
        proved: false,
    })
}

/// Whether a line is two numbers and a name.
pub(super) fn is_entry(line: &[u8]) -> bool {
    split(line).is_some_and(|line| !line.name.is_empty())
}

/// A line, cut in three.
struct Line<'a> {
    value: u32,
    size: u64,
    /// As from `sum`, which pads the size.
    padded: bool,
    name: &'a [u8],
}

fn split(line: &[u8]) -> Option<Line<'_>> {
    let (value, rest) = word(line)?;
    let size = skip_blanks(rest);
    let padded = size.len() < rest.len();
    let (size, name) = word(size).unwrap_or((size, b""));
    let line = Line {
        value: decimal(value)?,
        size: decimal(size)?,
        padded,
        name,
    };
    // Eight digits and two blanks may be a CRC-32 in the untagged format.
    let is_sum = padded && value.len() == SUM_DIGITS && line.value <= MAX_SUM;
    let is_count = size == b"0" || !size.starts_with(b"0");
    (is_count && (is_sum || !padded)).then_some(line)
}

fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|&byte| byte == b' ')?;
    Some((&text[..end], &text[end + 1..]))
}

impl decoder::Grammar for Grammar {
    fn line(&mut self, number: u64, text: &[u8], records: &mut Records) {
        plain::entry_line(number, text, records, |text| self.claim(text));
    }
}

impl Grammar {
    fn claim(&mut self, text: &[u8]) -> Result<Claim, Malformed> {
        let line = split(text).ok_or(Malformed::NoShape)?;
        self.proved |= line.value > MAX_SUM;
        // One in 65536 files has a CRC as small as a sum.
        if line.padded || !self.proved {
            return Err(Malformed::TooShort(16));
        }
        let claim = Claim::new(plain::name(line.name, false)?, self.digest(line.value)?);
        Ok(Claim {
            size: Some(line.size),
            ..claim
        })
    }

    fn digest(&self, value: u32) -> Result<ClaimedDigest, Malformed> {
        let algorithm = match self.algorithms.source() {
            AlgorithmSource::Asked(algorithm)
            | AlgorithmSource::Comment(NamedAlgorithm::Exactly(algorithm))
            | AlgorithmSource::ListName(NamedAlgorithm::Exactly(algorithm)) => algorithm,
            _ => Algorithm::Cksum,
        };
        let line = Algorithm::Cksum;
        Some(algorithm)
            .filter(|algorithm| matches!(algorithm, Algorithm::Cksum | Algorithm::Crc32))
            .and_then(|algorithm| Digest::new(algorithm, &value.to_be_bytes()))
            .map(ClaimedDigest::Known)
            .ok_or(Malformed::AlgorithmConflict {
                line,
                asked: algorithm,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::testing::{
        asking, called, in_format, made_of, no_hints, read_to_the_end, shown,
    };
    use super::*;
    use proptest::prelude::*;

    fn read(list: &str) -> Vec<String> {
        let (format, records) = shown(list, &no_hints());
        assert_eq!(format, Format::Cksum, "{list}");
        records
    }

    #[test]
    fn two_numbers_and_a_name_are_read() {
        assert_eq!(
            read("3015617425 6 a.txt\n12738659 1 sp ace \n4294967295 0  x\n"),
            ["1:a.txt 6 cksum", "2:sp ace  1 cksum", "3: x 0 cksum"]
        );
    }

    #[test]
    fn a_value_of_more_than_32_bits_or_without_a_name_is_refused() {
        let asked = in_format(Format::Cksum);
        assert_eq!(
            shown(
                "4294967296 6 a\n3015617425 6\n3015617425 6 \n-1 6 a\nx\n",
                &asked
            )
            .1,
            [
                "1!not a checksum line",
                "2!the name is empty",
                "3!the name is empty",
                "4!not a checksum line",
                "5!not a checksum line"
            ]
        );
    }

    #[test]
    fn sums_of_16_bits_are_refused() {
        let short = "1!a digest of 16 bits proves nothing";
        assert_eq!(read("36979     1 a.txt\n"), [short]);
        assert_eq!(read("542 1 a.txt\n"), [short]);
        assert_eq!(read("3015617425 6 a\n542 1 b\n")[1], "2:b 1 cksum");
    }

    #[test]
    fn a_crc32_in_the_untagged_format_is_no_cksum() {
        for list in [
            "12345678  01 Track\n",
            "12345678 01 Track\n",
            "12345678  6 a\n",
        ] {
            assert_eq!(shown(list, &no_hints()).0, Format::Gnu, "{list}");
        }
    }

    #[test]
    fn another_crc_must_be_asked_for() {
        let list = "909783072 6 a.txt\n";
        assert_eq!(
            shown(list, &asking(Algorithm::Crc32)).1,
            ["1:a.txt 6 crc32"]
        );
        assert_eq!(shown(list, &called("x.crc32")).1, ["1:a.txt 6 crc32"]);
        assert_eq!(
            shown(list, &asking(Algorithm::Md5)).1,
            ["1!the line says cksum and -a says md5"]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(list in made_of(&["3015617425 6 a", "542 1 ", "1"])) {
            read_to_the_end(&list, Format::Cksum)?;
        }
    }
}
