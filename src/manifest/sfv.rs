//! Simple File Verification: the CRC-32 of a file behind its name.
//!
//! ```text
//! entry   = NAME SP 8HEX LF        escaped = "\" NAME SP 8HEX LF
//! comment = ";" anything LF        stat    = ";" SIZE "  HH:MM.SS YYYY-MM-DD " NAME LF
//! ```
//!
//! A comment with the size and the local modification time of a file may stand anywhere above its
//! entry; both carry the same spelling of the name. Blanks before the last one belong to the name, as
//! cksfv has it; if there is no such file, they pad a column. cksfv and cfv escape nothing, so a line
//! break in a name breaks their lists. Newer versions of RHash escape such names as GNU does, and so
//! do we; also those that begin like a comment or like an escaped name. A line that begins with a
//! backslash is read escaped if it can be, and as it stands if there is no such file. `#` begins a
//! comment unless the line is an entry. Source: the output and behaviour of cksfv 1.3.15, cfv 3.2.0
//! and RHash 1.4.3 and 1.4.6.

use std::collections::HashMap;

use super::decoder::{self, Context, Records};
use super::detect::Sample;
use super::encoder::{self, Setup};
use super::evidence::{self, AlgorithmEvidence, AlgorithmSource};
use super::lines::{self, Terminator, skip_blanks, trim_blanks};
use super::writer::{self, Column, EntryError, WriterError};
use super::{Claim, ClaimedDigest, Entry, Format, GapKind, Malformed};
use super::{bsd, escape, gap, plain};
use crate::algorithm::Algorithm;
use crate::hex;
use crate::relpath::RelPath;
use crate::timestamp::{Modified, Timestamp};

const DIGITS: usize = 8;

/// How a comment spells a local time, and how long that is between the years 1 and 9999.
const TIME: &str = "%H:%M.%S %Y-%m-%d";
const TIME_LEN: usize = "03:04.05 2024-01-02".len();

const GAP: &[u8] = b"; multisum gap: ";

/// What a comment says of a file.
type Stat = (u64, Modified);

#[derive(Debug)]
struct Grammar {
    algorithms: AlgorithmEvidence,
    /// What comments have said of entries that are still to come, by the spelling of the name.
    stats: HashMap<Box<[u8]>, Stat>,
}

/// The grammar of these lists.
pub(super) fn grammar(context: &Context) -> Box<dyn decoder::Grammar> {
    Box::new(Grammar {
        algorithms: context.algorithms,
        stats: HashMap::new(),
    })
}

/// Whether a line is a name and eight digits, and no digest of another kind stands before
/// them. A tagged line is none, whether or not its tag is known.
pub(super) fn is_entry(line: &[u8]) -> bool {
    let is_digest = |word: &[u8]| word.len() >= 32 && hex::is_hex(word);
    split(line).is_some_and(|(name, _)| {
        let before = name
            .rsplit(|byte| *byte == b' ')
            .find(|word| !word.is_empty());
        !bsd::looks_tagged(line) && !before.is_some_and(is_digest)
    })
}

/// Whether a line is an entry in a list whose name says that it is in this format. It counts more
/// than other shapes, since a name may look like a digest and a digest like a name.
pub(super) fn is_entry_of_sfv_file(line: &[u8], sample: Sample<'_>) -> bool {
    let ending = sample.list_name.and_then(|path| path.extension());
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("sfv")) && split(line).is_some()
}

/// Cuts a line into the spelling of the name and the digits.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = trim_end(line);
    let (name, digits) = line.split_at_checked(line.len().checked_sub(DIGITS)?)?;
    let (separator, name) = name.split_last()?;
    let fits = matches!(separator, b' ' | b'\t')
        && hex::is_hex(digits)
        && !trim_blanks(name).is_empty()
        && !name.starts_with(b";");
    fits.then_some((name, digits))
}

fn trim_end(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| !matches!(byte, b' ' | b'\t'));
    &text[..end.map_or(0, |last| last + 1)]
}

impl decoder::Grammar for Grammar {
    fn line(&mut self, number: u64, text: &[u8], records: &mut Records) {
        if let Some(gap) = read_gap(text) {
            records.push(number, gap);
        } else if let Some(comment) = text.strip_prefix(b";") {
            self.comment(comment);
        } else if let Some((spelling, digits)) = split(text) {
            records.push_claim(number, self.claim(spelling, digits));
        } else if text.is_empty() || plain::comment(text, Terminator::Line).is_some() {
        } else {
            records.push_claim(number, Err(Malformed::NoShape));
        }
    }

    fn algorithm_source(&self) -> AlgorithmSource {
        match self.algorithms.source() {
            AlgorithmSource::Length => AlgorithmSource::Entries,
            named => named,
        }
    }
}

impl Grammar {
    fn comment(&mut self, text: &[u8]) {
        if let Some((name, stat)) = stat(text) {
            self.stats.insert(name.into(), stat);
        } else {
            let said = evidence::from_comment(text);
            self.algorithms.comment = said.or(self.algorithms.comment);
        }
    }

    fn claim(&mut self, spelling: &[u8], digits: &[u8]) -> Result<Claim, Malformed> {
        let stat = self.stats.remove(spelling);
        let mut claim = named(spelling)?;
        claim.digests.push(self.digest(digits)?);
        if let Some((size, modified)) = stat {
            claim.size = Some(size);
            claim.modified = Some(modified);
        }
        Ok(claim)
    }

    fn digest(&self, digits: &[u8]) -> Result<ClaimedDigest, Malformed> {
        match self.algorithms.source() {
            AlgorithmSource::Length => evidence::known(Algorithm::Crc32, digits),
            _ => self.algorithms.untagged(digits),
        }
    }
}

/// A claim with the name that is spelled so, and with the one that may be meant instead.
fn named(spelling: &[u8]) -> Result<Claim, Malformed> {
    let literal = plain::name(spelling, false)?;
    let escaped = spelling.strip_prefix(b"\\");
    if let Some(name) = escaped.and_then(|text| plain::name(text, true).ok()) {
        return Ok(Claim {
            other_name: Some(literal),
            ..Claim::bare(name)
        });
    }
    let mut claim = Claim::bare(literal).maybe_from_windows();
    let trimmed = trim_end(spelling);
    if claim.other_name.is_none() && trimmed.len() < spelling.len() {
        claim.other_name = Some(RelPath::from_bytes(trimmed));
    }
    Ok(claim)
}

/// What a comment without its semicolon says of which name.
fn stat(text: &[u8]) -> Option<(&[u8], Stat)> {
    let text = skip_blanks(text);
    let (size, rest) = text.split_at(text.iter().position(|&byte| byte == b' ')?);
    let size = lines::decimal(size)?;
    let (time, name) = rest.strip_prefix(b"  ")?.split_at_checked(TIME_LEN)?;
    let time = std::str::from_utf8(time).ok()?;
    let time = Timestamp::from_local(time, TIME)?;
    Some((
        name.strip_prefix(b" ")?,
        (size, Modified::to_the_second(time)),
    ))
}

fn read_gap(line: &[u8]) -> Option<super::Content> {
    if !line.starts_with(GAP) {
        return gap::read(line);
    }
    let mut line = line.to_vec();
    line[0] = b'#';
    gap::read(&line)
}

/// Writes an entry as one or two lines.
#[derive(Debug)]
struct Encoder {
    column: Column,
}

/// The encoder of these lists.
pub(super) fn encoder(setup: Setup) -> Result<Box<dyn encoder::Encoder>, WriterError> {
    let column = writer::only(setup.columns, Format::Sfv)?;
    if column.algorithm != Algorithm::Crc32 {
        return Err(WriterError::NotCarried {
            format: Format::Sfv,
            algorithm: column.algorithm,
            carried: "crc32",
        });
    }
    Ok(Box::new(Encoder { column }))
}

impl encoder::Encoder for Encoder {
    fn entry(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) -> Result<(), EntryError> {
        let digest = self.column.digest_of(entry)?.to_string();
        let name = spelled(entry.name.as_bytes());
        if let (Some(size), Some(modified)) = (entry.size, entry.modified) {
            let time = modified.time.to_local(TIME);
            if time.len() == TIME_LEN && !time.contains(" -") {
                out.extend_from_slice(format!(";{size:>13}  {time} ").as_bytes());
                out.extend_from_slice(&name);
                out.push(b'\n');
            }
        }
        out.extend_from_slice(&name);
        out.push(b' ');
        out.extend_from_slice(digest.to_ascii_uppercase().as_bytes());
        out.push(b'\n');
        Ok(())
    }

    fn gap(&mut self, name: &RelPath, kind: GapKind, out: &mut Vec<u8>) -> Result<(), EntryError> {
        let start = out.len();
        gap::write_into(name, kind, Terminator::Line, out);
        // What the other formats begin a comment with would begin a name here.
        out[start] = b';';
        Ok(())
    }
}

/// A name, escaped if it would break the line or read as a comment or as an escaped name, or if it
/// consists of blanks.
fn spelled(name: &[u8]) -> Vec<u8> {
    let breaks = name.iter().any(|byte| matches!(byte, b'\n' | b'\r'));
    let misleads = name.starts_with(b"\\")
        || plain::comment(name, Terminator::Line).is_some()
        || trim_blanks(name).is_empty();
    let mut spelling = Vec::with_capacity(name.len() + 1);
    if breaks || misleads {
        spelling.push(b'\\');
        escape::gnu_escape_into(name, &mut spelling);
    } else {
        spelling.extend_from_slice(name);
    }
    spelling
}

#[cfg(test)]
mod tests {
    use super::super::testing::{
        File, any_file, asking, called, in_format, made_of, no_hints, read_to_the_end, round_trip,
        shown,
    };
    use super::super::{Writer, WriterOptions};
    use super::*;
    use proptest::prelude::*;

    fn read(list: &str) -> Vec<String> {
        let (format, records) = shown(list, &no_hints());
        assert_eq!(format, Format::Sfv, "{list}");
        records
    }

    #[test]
    fn comments_carry_size_and_time_of_the_name_below() {
        let time = Timestamp::from_local("03:04.05 2024-01-02", TIME)
            .unwrap()
            .seconds();
        let list = "; Generated by cksfv v1.3.15 on 2026-11-30 at 15:02.33\n;\n\
                    ;            6  03:04.05 2024-01-02 a b\n;            1  03:04.05 2024-01-02  lead\n\
                    ;            1  99:04.05 2024-01-02 c\n a CRC32!\na b CRC32!\n lead CRC32!\nc CRC32!\n";
        assert_eq!(
            read(list),
            [
                "6: a crc32",
                &format!("7:a b 6 @{time} crc32"),
                &format!("8: lead 1 @{time} crc32"),
                "9:c crc32"
            ]
        );
    }

    #[test]
    fn blanks_belong_to_the_name_or_pad_it() {
        assert_eq!(
            read("a CRC32!\ntail  CRC32!\n lead CRC32! \ntab\tCRC32!\n"),
            [
                "1:a crc32",
                "2:tail  (tail) crc32",
                "3: lead crc32",
                "4:tab crc32"
            ]
        );
    }

    #[test]
    fn a_leading_backslash_escapes_if_it_can() {
        assert_eq!(
            read("a CRC32!\n\\new\\nline CRC32!\n\\share\\x CRC32!\nd\\e CRC32!\n"),
            [
                "1:a crc32",
                "2:new\\nline (\\\\new\\\\nline) crc32",
                "3:\\\\share\\\\x (/share/x) crc32",
                "4:d\\\\e (d/e) crc32"
            ]
        );
    }

    #[test]
    fn what_is_no_entry_is_a_comment_or_malformed() {
        let list =
            "a CRC32!\n#hash CRC32!\n# note\n//note\n; x CRC32!\nCRC32!\nb CRC32!0\n  CRC32!\n";
        let no = |line| format!("{line}!not a checksum line");
        let asked = in_format(Format::Sfv);
        let expected = [
            "1:a crc32".into(),
            "2:#hash crc32".into(),
            no(6),
            no(7),
            no(8),
        ];
        assert_eq!(shown(list, &asked).1, expected);
        let gap = "a CRC32!\n; multisum gap: unstable b\n; multisum gap: x\n";
        assert_eq!(read(gap), ["1:a crc32", "2 Unstable b", &no(3)]);
    }

    #[test]
    fn the_name_of_the_list_decides_what_could_be_either() {
        assert_eq!(shown("deadbeef CRC32!\n", &no_hints()).0, Format::Gnu);
        let sfv = called("x.SFV");
        assert_eq!(
            shown("deadbeef CRC32!\n", &sfv),
            (Format::Sfv, vec!["1:deadbeef crc32".into()])
        );
        assert_eq!(shown("MD5!  a\n", &sfv).0, Format::Gnu);
        assert_eq!(shown("a MD5! CRC32!\n", &no_hints()).0, Format::Rhash);
    }

    #[test]
    fn other_checksums_of_that_length_must_be_asked_for() {
        let hints = asking(Algorithm::Crc32c);
        assert_eq!(shown("a CRC32!\n", &hints).1, ["1:a crc32c"]);
        assert_eq!(
            shown("; CRC32C checksums\na CRC32!\n", &no_hints()).1,
            ["2:a crc32c"]
        );
        let refused = "1!not a md5 digest, which has 32 hexadecimal digits";
        assert_eq!(shown("a CRC32!\n", &called("a.md5")).1, [refused]);
    }

    fn written(name: &str) -> String {
        let options = WriterOptions::new(Format::Sfv, &[Algorithm::Crc32]);
        let mut writer = Writer::new(options).unwrap();
        let mut out = Vec::new();
        let file = File {
            name: RelPath::from(name),
            size: Some(6),
            modified: Timestamp::from_local("03:04.05 2024-01-02", TIME).map(Modified::exactly),
            seed: 15,
        };
        let entry = Entry {
            name: &file.name,
            digests: &file.digests(&[Algorithm::Crc32]),
            size: file.size,
            modified: file.modified,
        };
        writer.write_entry(&mut out, &entry).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn entries_are_written_as_cksfv_writes_them() {
        assert_eq!(
            written("sp ace.txt"),
            ";            6  03:04.05 2024-01-02 sp ace.txt\nsp ace.txt D1D2D3D4\n"
        );
        assert!(written("a\n; x").ends_with(" \\a\\n; x\n\\a\\n; x D1D2D3D4\n"));
        for name in [";x", "#x", "//x", "\\x", " "] {
            assert!(
                written(name)
                    .lines()
                    .all(|line| line.starts_with(['\\', ';'])),
                "{name}"
            );
        }
        let options = WriterOptions::new(Format::Sfv, &[Algorithm::Crc32c]);
        assert!(matches!(
            Writer::new(options),
            Err(WriterError::NotCarried { .. })
        ));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(files in prop::collection::vec(any_file(), 1..8)) {
            let both_or_none = |file: &File, claim| {
                // The hour that a clock shows twice is read as the first.
                let again = |m: Modified| Timestamp::from_local(&m.time.to_local(TIME), TIME);
                let pair = file.size.zip(file.modified.and_then(again).map(Modified::to_the_second));
                Claim { size: pair.map(|p| p.0), modified: pair.map(|p| p.1), ..claim }
            };
            let files: Vec<File> = files.into_iter().enumerate().map(|(at, file)| {
                // Comments are found by the name, so that names must differ.
                let mut name = file.name.as_bytes().to_vec();
                name.push(b'A' + u8::try_from(at).unwrap());
                File { name: RelPath::from_bytes(name), ..file }
            }).collect();
            for hints in [in_format(Format::Sfv), called("x.sfv")] {
                round_trip(Format::Sfv, &[Algorithm::Crc32], &files, &hints, both_or_none)?;
            }
        }

        #[test]
        fn any_text_is_read_to_its_end(list in made_of(&[
            "; ", ";            6  03:04.05 2024-01-02 a", " 8CDC1683\n", "; multisum gap: ", "//",
        ])) {
            read_to_the_end(&list, Format::Sfv)?;
        }
    }
}
