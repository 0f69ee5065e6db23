//! What a list is, from its beginning.

use std::path::Path;

use super::lines::Terminator;
use super::plain::{self, Shape, Shapes};
use super::reader::FormatSource;
use super::{Format, Malformed};
use super::{
    bagit, bare, certutil, cksum, csv, cyclonedx, debian, dfxml, fciv, gentoo, hashdeep, intoto,
    json, jsonl, legacy_mhl, magnet, md5deep, mhl, mtree, powershell, rclone, rhash, sfv, spdx,
    sri,
};

/// The beginning of an input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample<'a> {
    /// Its bytes, decoded and without a byte order mark.
    pub(super) bytes: &'a [u8],
    /// Whether this is all there is.
    pub(super) complete: bool,
    /// The path of the file that it is the beginning of.
    pub(super) list_name: Option<&'a Path>,
}

/// What the lines of a list look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `DIGEST  NAME`
    Untagged,
    /// `TAG (NAME) = DIGEST`
    Tagged,
}

/// What ends the records; `None` if there are NUL bytes and no way to make sense of them.
///
/// A list is of NUL-terminated records if all of them in the sample are entries, and what follows the
/// last NUL starts like one. A list of lines into which a NUL byte has strayed is not, and the line
/// with the NUL must not be cut there.
pub(super) fn terminator(sample: Sample<'_>) -> Option<Terminator> {
    if !sample.bytes.contains(&0) {
        return Some(Terminator::Line);
    }
    if is_nul_list(sample) {
        return Some(Terminator::Nul);
    }
    kind(sample, Terminator::Line).map(|_| Terminator::Line)
}

fn is_nul_list(sample: Sample<'_>) -> bool {
    let mut records = sample.bytes.split(|&byte| byte == 0);
    let Some(rest) = records.next_back() else {
        return false;
    };
    let rest_fits = match (rest, sample.complete) {
        ([], _) => true,
        (rest, true) => fits(rest),
        (rest, false) => starts_like_a_record(rest),
    };
    rest_fits && records.all(fits)
}

/// Whether a record is a comment or has the shape of an entry, if only with an unknown tag.
fn fits(record: &[u8]) -> bool {
    let (text, _) = plain::unwrap_line(record, Terminator::Nul);
    plain::comment(record, Terminator::Nul).is_some()
        || matches!(
            plain::shape(text, Shapes::Mixed),
            Ok(_) | Err(Malformed::UnknownTag(_))
        )
}

/// Whether the first word, if all of it is there, is a tag, a digest or a comment sign.
fn starts_like_a_record(rest: &[u8]) -> bool {
    let Some(end) = rest.iter().position(|byte| matches!(byte, b' ' | b'(')) else {
        return !rest.contains(&b'\n');
    };
    let word = &rest[..end];
    fits(&[word, b" (x) = x"].concat())
}

/// What the format of a text is, and how we know.
pub(super) fn format(sample: Sample<'_>, terminator: Terminator) -> (Format, FormatSource) {
    if terminator == Terminator::Nul {
        let kind = kind(sample, terminator);
        let format = if kind == Some(Kind::Tagged) {
            Format::Bsd
        } else {
            Format::GnuZero
        };
        return (format, source_of(kind));
    }
    if let Some((format, _)) = BY_BEGINNING.iter().find(|(_, begins)| begins(sample)) {
        return (*format, FormatSource::Beginning);
    }
    if let Some(format) = elect(sample) {
        return (format, FormatSource::Entries);
    }
    let is_sfv = |path: &Path| {
        path.extension()
            .is_some_and(|end| end.eq_ignore_ascii_case("sfv"))
    };
    if sample.list_name.is_some_and(is_sfv) {
        return (Format::Sfv, FormatSource::ListName);
    }
    let kind = kind(sample, terminator);
    let format = if kind == Some(Kind::Tagged) {
        Format::Bsd
    } else {
        Format::Gnu
    };
    (format, source_of(kind))
}

fn source_of(kind: Option<Kind>) -> FormatSource {
    kind.map_or(FormatSource::Assumed, |_| FormatSource::Entries)
}

/// Whether a text starts as a format does.
type Begins = fn(Sample<'_>) -> bool;

/// Whether a line has the shape of an entry.
type IsEntry = fn(&[u8], Sample<'_>) -> bool;

/// Formats whose first line, heading or root element is their own, in the order in which they are
/// tried.
const BY_BEGINNING: &[(Format, Begins)] = &[
    (Format::Hashdeep, hashdeep::begins),
    (Format::Mtree, mtree::begins),
    (Format::Mhl, mhl::begins),
    (Format::LegacyMhl, legacy_mhl::begins),
    (Format::Dfxml, dfxml::begins),
    (Format::Fciv, fciv::begins),
    (Format::Spdx, spdx::begins),
    (Format::CycloneDx, cyclonedx::begins),
    (Format::InToto, intoto::begins),
    (Format::Rclone, rclone::begins),
    (Format::PowerShell, powershell::begins),
    (Format::Jsonl, jsonl::begins),
    (Format::Json, json::begins),
    (Format::Csv, csv::begins),
    (Format::Debian, debian::begins),
    (Format::Certutil, certutil::begins),
];

/// Formats that are told by the shape of their lines, in the order in which they are preferred.
const BY_LINES: &[(Format, IsEntry)] = &[
    (Format::Bagit, bagit::is_entry),
    (Format::Sfv, sfv::is_entry_of_sfv_file),
    (Format::Gentoo, |line, _| gentoo::is_entry(line)),
    (Format::Bsd, |line, _| {
        kind_of(line, Terminator::Line) == Some(Kind::Tagged)
    }),
    (Format::Mtree, |line, _| mtree::is_entry(line)),
    (Format::Debian, |line, _| debian::is_entry(line)),
    (Format::Md5deep, |line, _| md5deep::is_entry(line)),
    (Format::Cksum, |line, _| cksum::is_entry(line)),
    (Format::Gnu, |line, _| {
        kind_of(line, Terminator::Line).is_some()
    }),
    (Format::Magnet, |line, _| magnet::is_entry(line)),
    (Format::Sfv, |line, _| sfv::is_entry(line)),
    (Format::Rhash, |line, _| rhash::is_entry(line)),
    (Format::Sri, |line, _| sri::is_entry(line)),
    (Format::Bare, bare::is_entry),
];

/// So many lines are looked at.
const VOTERS: usize = 200;

/// The format that the first entry and nine lines of ten have the shape of.
fn elect(sample: Sample<'_>) -> Option<Format> {
    let lines = entry_lines(sample);
    let first = *lines.first()?;
    let wins = |is_entry: IsEntry| {
        let votes = lines.iter().filter(|line| is_entry(line, sample)).count();
        is_entry(first, sample) && votes * 10 >= lines.len() * 9
    };
    BY_LINES
        .iter()
        .find(|(_, is_entry)| wins(*is_entry))
        .map(|(format, _)| *format)
}

/// The first lines that are no comments, without one that is cut off.
fn entry_lines(sample: Sample<'_>) -> Vec<&[u8]> {
    let end = if sample.complete {
        sample.bytes.len()
    } else {
        sample
            .bytes
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(sample.bytes.len(), |at| at + 1)
    };
    sample.bytes[..end]
        .split(|&byte| byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .filter(|line| !line.is_empty() && plain::comment(line, Terminator::Line).is_none())
        .take(VOTERS)
        .collect()
}

/// What the first line or record with a known shape looks like.
fn kind(sample: Sample<'_>, terminator: Terminator) -> Option<Kind> {
    sample
        .bytes
        .split(|&byte| byte == terminator.byte())
        .find_map(|record| kind_of(record, terminator))
}

fn kind_of(record: &[u8], terminator: Terminator) -> Option<Kind> {
    let (text, _) = plain::unwrap_line(record, terminator);
    match plain::shape(text, Shapes::Mixed).ok()? {
        Shape::Tagged(..) => Some(Kind::Tagged),
        Shape::Untagged(_) => Some(Kind::Untagged),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MD5: &str = "9dd4e461268c8034f5c8564e155c67a6";

    fn found(text: &str, complete: bool) -> Option<Terminator> {
        let text = text.replace("MD5!", MD5);
        terminator(Sample {
            bytes: text.as_bytes(),
            complete,
            list_name: None,
        })
    }

    #[test]
    fn zero_lists_are_recognised() {
        for list in [
            "MD5!  a\0MD5!  new\nline\0",
            "MD5!  a\0",
            "MD5!  a\0MD5!  b",
            "MD5 (a) = MD5!\0MD5 (new\nline) = MD5!\0",
            "# multisum gap: unreadable x\0MD5!  a\0",
            "MD5 (a) = MD5!\0GOST (a) = MD5!\0",
        ] {
            assert_eq!(found(list, true), Some(Terminator::Nul), "{list:?}");
        }
        for cut in [
            "MD5!  a\0MD",
            "MD5!  a\0MD5!  new\nli",
            "MD5!  a\0MD5 (n\nx",
            "MD5!  a\0# m",
        ] {
            assert_eq!(found(cut, false), Some(Terminator::Nul), "{cut:?}");
        }
    }

    #[test]
    fn a_stray_nul_does_not_make_a_zero_list() {
        for list in [
            "MD5!  a\0b\nMD5!  c\n",
            "MD5!  a\nMD5!  b\0\n",
            "MD5!  a\0\nMD5!  b\0\n",
            "# x\nMD5!  a\0MD5!  c\n",
            "MD5 (a\0) = MD5!\nMD5 (b) = MD5!\n",
            "MD5!  a\0b\nMD5 (b) = MD5!\n",
        ] {
            assert_eq!(found(list, true), Some(Terminator::Line), "{list:?}");
        }
        let cut = "MD5!  a\nMD5!  b\0c\nMD5!  d\n";
        assert_eq!(found(cut, false), Some(Terminator::Line));
        assert_eq!(found("MD5!  a\0b", false), Some(Terminator::Nul));
    }

    #[test]
    fn other_binary_files_are_no_lists() {
        assert_eq!(found("\x7fELF\x02\x01\0\0\0", true), None);
        assert_eq!(found("\0", true), None);
        assert_eq!(found("hello\0", true), None);
    }

    #[test]
    fn text_without_nul_is_lines() {
        assert_eq!(found("", true), Some(Terminator::Line));
        assert_eq!(found("hello", false), Some(Terminator::Line));
    }
}
