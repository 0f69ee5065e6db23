//! The paths in manifests: escapes, and what a path must not do.

use std::borrow::Cow;

use super::Version;
use crate::relpath::RelPath;

/// One path as it may be meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// As the rules say.
    pub name: RelPath,
    /// As it stands there, where that is another name; some programs escape and unescape less than
    /// they should.
    pub literal: Option<RelPath>,
}

/// Why a path must not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutOfScope {
    /// It is absolute, climbs with `..`, or is not below `data/` in a manifest of the payload.
    #[error("the path is not below data/")]
    NotBelowData,
    /// It is absolute or climbs with `..`.
    #[error("the path leads out of the bag")]
    LeavesBag,
    /// A tag manifest lists a file of the payload.
    #[error("a tag manifest must not list the payload")]
    Payload,
}

impl Spelling {
    /// Undoes the escapes that a version has.
    pub(super) fn new(written: &[u8], version: Version) -> Self {
        let name = unescape(written, version.escapes_percent());
        let literal = (*name != *written).then(|| RelPath::from_bytes(written));
        Self {
            name: RelPath::from_bytes(name),
            literal,
        }
    }
}

fn unescape(written: &[u8], percent: bool) -> Cow<'_, [u8]> {
    if !written.contains(&b'%') {
        return Cow::Borrowed(written);
    }
    let mut name = Vec::with_capacity(written.len());
    let mut rest = written;
    while let Some((&byte, after)) = rest.split_first() {
        let (byte, length) = match (byte, after) {
            (b'%', [b'0', b'A' | b'a', ..]) => (b'\n', 3),
            (b'%', [b'0', b'D' | b'd', ..]) => (b'\r', 3),
            (b'%', [b'2', b'5', ..]) if percent => (b'%', 3),
            _ => (byte, 1),
        };
        name.push(byte);
        rest = &rest[length..];
    }
    Cow::Owned(name)
}

/// Appends a path as version 1.0 spells it.
pub(super) fn escape_into(name: &[u8], out: &mut Vec<u8>) {
    for &byte in name {
        match byte {
            b'\n' => out.extend_from_slice(b"%0A"),
            b'\r' => out.extend_from_slice(b"%0D"),
            b'%' => out.extend_from_slice(b"%25"),
            plain => out.push(plain),
        }
    }
}

/// Checks the path of a file of the payload, and drops needless `./` and slashes.
///
/// One rule keeps out absolute paths, drive letters, `~` and shares: the path must begin with
/// `data/`, and hold no `..`.
pub fn payload_name(name: &RelPath) -> Result<RelPath, OutOfScope> {
    let clean = inside(name).ok_or(OutOfScope::NotBelowData)?;
    if is_below_data(&clean) {
        Ok(clean)
    } else {
        Err(OutOfScope::NotBelowData)
    }
}

/// Checks the path of a file that is none of the payload, and drops needless `./` and slashes.
pub fn tag_name(name: &RelPath) -> Result<RelPath, OutOfScope> {
    let clean = inside(name).ok_or(OutOfScope::LeavesBag)?;
    let first = clean.components().next().map(<[u8]>::to_vec);
    match first.as_deref() {
        None => Err(OutOfScope::LeavesBag),
        Some(b"data") => Err(OutOfScope::Payload),
        Some(part) if part.starts_with(b"~") || is_windows_root(part) => Err(OutOfScope::LeavesBag),
        Some(_) => Ok(clean),
    }
}

/// Beginnings that mean another folder somewhere.
fn is_windows_root(part: &[u8]) -> bool {
    matches!(part, [b'\\', ..] | [b'A'..=b'Z' | b'a'..=b'z', b':', ..] | [b'%', .., b'%'])
}

fn is_below_data(name: &RelPath) -> bool {
    let mut parts = name.components();
    parts.next() == Some(b"data") && parts.next().is_some()
}

fn inside(name: &RelPath) -> Option<RelPath> {
    let climbs = name.components().any(|part| part == b"..");
    (!climbs && !name.is_absolute()).then(|| name.normalised().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(written: &str, version: Version) -> String {
        let spelling = Spelling::new(written.as_bytes(), version);
        String::from_utf8(spelling.name.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn three_bytes_are_escaped_and_no_other() {
        let mut out = Vec::new();
        escape_into(b"data/a\nb\rc%d~e \xff", &mut out);
        assert_eq!(out, b"data/a%0Ab%0Dc%25d~e \xff");
    }

    #[test]
    fn escapes_depend_on_the_version() {
        let written = "%0A%0a%0D%0d%25%7E%test%2";
        assert_eq!(read(written, Version::V1_0), "\n\n\r\r%%7E%test%2");
        assert_eq!(read(written, Version::new(0, 97)), "\n\n\r\r%25%7E%test%2");
        assert_eq!(read("%250A", Version::V1_0), "%0A");
    }

    #[test]
    fn the_literal_name_is_kept_where_it_is_another() {
        let literal = |written: &str| Spelling::new(written.as_bytes(), Version::V1_0).literal;
        assert_eq!(literal("data/%0A"), Some(RelPath::from("data/%0A")));
        assert_eq!(literal("data/%7E"), None);
    }

    #[test]
    fn a_payload_path_stays_below_data() {
        for good in [
            "data/a",
            "./data/a",
            "data//a/./b",
            "data/~a",
            "data/..a",
            "data/a\\b",
        ] {
            assert!(payload_name(&RelPath::from(good)).is_ok(), "{good}");
        }
        for bad in [
            "",
            ".",
            "data",
            "data/",
            "data/.",
            "a",
            "Data/a",
            "/data/a",
            "../data/a",
            "data/../a",
            "data/a/../b",
            "~/data/a",
            "~root/foo",
            "C:\\data\\a",
            "\\\\?\\UNC\\a",
            "%HomeDrive%\\a",
            "/tmp/foo",
            "data\\a",
            "data/..",
        ] {
            assert!(payload_name(&RelPath::from(bad)).is_err(), "{bad}");
        }
        assert_eq!(
            payload_name(&RelPath::from("./data//a")),
            Ok(RelPath::from("data/a"))
        );
    }

    #[test]
    fn a_tag_path_stays_in_the_bag_and_out_of_data() {
        for good in ["bag-info.txt", "./a/b", "dat/a", "a~", "100%"] {
            assert!(tag_name(&RelPath::from(good)).is_ok(), "{good}");
        }
        for bad in [
            "",
            ".",
            "data",
            "data/a",
            "./data/a",
            "../a",
            "a/../b",
            "/a",
            "~/a",
            "~root/a",
            "C:\\a",
            "\\\\a\\b",
            "%HomeDrive%/a",
        ] {
            assert!(tag_name(&RelPath::from(bad)).is_err(), "{bad}");
        }
    }
}
