//! Names as manifests write them: bytes, with `/` between components.
//!
//! This is the only place that turns names of the operating system into bytes and back.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::{self, Debug, Display, Formatter};
use std::path::{Path, PathBuf};

use crate::quote::Quoted;

/// A name in a manifest or a tree: any bytes, usually relative to a base directory.
///
/// On Unix these are the file system's own bytes. On Windows they are UTF-8 (with unpaired
/// surrogates in the same generalised encoding), and `\` has become `/`.
///
/// The order is by path component, bytewise, so `a/b` comes before `a.txt`: the order in which a
/// sorted walk meets files, the same under every locale and on every platform. `Display` escapes
/// what could act on a terminal.
///
/// # Examples
///
/// ```
/// use multisum::RelPath;
/// let mut names = [RelPath::from("a.txt"), RelPath::from("a/b")];
/// names.sort();
/// assert_eq!(names[0], RelPath::from("a/b"));
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct RelPath(Box<[u8]>);

impl RelPath {
    /// Takes the bytes of a name as they stand in a manifest.
    pub fn from_bytes(bytes: impl Into<Box<[u8]>>) -> Self {
        Self(bytes.into())
    }

    /// Takes a path of the operating system, without change but for the separator on Windows.
    pub fn from_path(path: &Path) -> Self {
        Self(Box::from(bytes_of(path)))
    }

    /// The name of what lies at `below` under this name. Nothing is normalised; an empty side adds
    /// nothing, not even a slash.
    pub fn join(&self, below: &Path) -> Self {
        let below = bytes_of(below);
        let slash = !self.0.is_empty() && !self.0.ends_with(b"/") && !below.is_empty();
        let mut joined = Vec::with_capacity(self.0.len() + usize::from(slash) + below.len());
        joined.extend_from_slice(&self.0);
        if slash {
            joined.push(b'/');
        }
        joined.extend_from_slice(&below);
        Self(joined.into())
    }

    /// The bytes of the name.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The path to hand to the operating system.
    ///
    /// `None` where the platform cannot express the name: never on Unix unless the name holds a NUL
    /// byte; on Windows if it is not (generalised) UTF-8.
    pub fn to_path(&self) -> Option<PathBuf> {
        if self.0.contains(&0) {
            None
        } else {
            path_from(&self.0)
        }
    }

    /// Whether the name starts at a root (`/…`; on Windows also `C:…` and `\\…`).
    pub fn is_absolute(&self) -> bool {
        let has_root = || self.to_path().is_some_and(|path| path.has_root());
        self.0.starts_with(b"/") || (cfg!(not(unix)) && has_root())
    }

    /// The parts of the name between slashes; empty ones and `.` are left out.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.0
            .split(|&byte| byte == b'/')
            .filter(|part| !part.is_empty() && *part != b".")
    }

    /// The same name without needless `.` and slashes, so that `./a//b` and `a/b` compare equal.
    /// `..` stays, since it cannot be resolved without looking at links.
    pub fn normalised(&self) -> Cow<'_, Self> {
        if self.is_normal() {
            Cow::Borrowed(self)
        } else {
            Cow::Owned(Self(self.normal_bytes().into()))
        }
    }

    fn is_normal(&self) -> bool {
        let relative = self.0.strip_prefix(b"/").unwrap_or(&self.0);
        relative.is_empty()
            || relative
                .split(|&byte| byte == b'/')
                .all(|part| !part.is_empty() && part != b".")
    }

    fn normal_bytes(&self) -> Vec<u8> {
        let mut clean = Vec::with_capacity(self.0.len());
        if self.0.starts_with(b"/") {
            clean.push(b'/');
        }
        for (index, part) in self.components().enumerate() {
            if index > 0 {
                clean.push(b'/');
            }
            clean.extend_from_slice(part);
        }
        clean
    }

    /// Drops `count` leading components, as `--strip` does; `None` if nothing would be left.
    pub fn strip(&self, count: usize) -> Option<Self> {
        if count == 0 {
            return Some(self.clone());
        }
        let left: Vec<&[u8]> = self.components().skip(count).collect();
        if left.is_empty() {
            None
        } else {
            Some(Self(left.join(&b'/').into()))
        }
    }

    /// Replaces the leading components `old` by `new`, as `--map` does; `None` if the name does not
    /// start with all of `old`.
    pub fn map(&self, old: &Self, new: &Self) -> Option<Self> {
        if old.is_absolute() != self.is_absolute() {
            return None;
        }
        let mut rest = self.components();
        for part in old.components() {
            if rest.next() != Some(part) {
                return None;
            }
        }
        let mut mapped = new.0.to_vec();
        for part in rest {
            if !mapped.is_empty() && !mapped.ends_with(b"/") {
                mapped.push(b'/');
            }
            mapped.extend_from_slice(part);
        }
        Some(Self(mapped.into()))
    }
}

impl Ord for RelPath {
    fn cmp(&self, other: &Self) -> Ordering {
        // A slash ends a component, and a component that ends first comes first.
        let rank = |byte: &u8| {
            if *byte == b'/' {
                0
            } else {
                u16::from(*byte) + 1
            }
        };
        self.0.iter().map(rank).cmp(other.0.iter().map(rank))
    }
}

impl PartialOrd for RelPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<&str> for RelPath {
    fn from(name: &str) -> Self {
        Self(name.as_bytes().into())
    }
}

impl Display for RelPath {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&Quoted::from_bytes(&self.0), f)
    }
}

impl Debug for RelPath {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "RelPath({self})")
    }
}

#[cfg(unix)]
fn bytes_of(path: &Path) -> Cow<'_, [u8]> {
    use std::os::unix::ffi::OsStrExt;
    Cow::Borrowed(path.as_os_str().as_bytes())
}

#[cfg(unix)]
fn path_from(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn bytes_of(path: &Path) -> Cow<'_, [u8]> {
    let mut bytes = path.as_os_str().as_encoded_bytes().to_vec();
    if std::path::MAIN_SEPARATOR == '\\' {
        for byte in &mut bytes {
            if *byte == b'\\' {
                *byte = b'/';
            }
        }
    }
    Cow::Owned(bytes)
}

#[cfg(not(unix))]
fn path_from(bytes: &[u8]) -> Option<PathBuf> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(PathBuf::from(text)),
        Err(_) => wide_path_from(bytes),
    }
}

/// Names with unpaired surrogates, which only Windows can have.
#[cfg(windows)]
fn wide_path_from(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::windows::ffi::OsStringExt;
    let mut wide = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        let valid = match std::str::from_utf8(rest) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&rest[..error.valid_up_to()]).ok()?,
        };
        wide.extend(valid.encode_utf16());
        rest = &rest[valid.len()..];
        if let [0xed, middle @ 0xa0..=0xbf, last @ 0x80..=0xbf, tail @ ..] = rest {
            wide.push(0xd000 | (u16::from(middle & 0x3f) << 6) | u16::from(last & 0x3f));
            rest = tail;
        } else if !rest.is_empty() {
            return None;
        }
    }
    Some(PathBuf::from(std::ffi::OsString::from_wide(&wide)))
}

#[cfg(all(not(unix), not(windows)))]
fn wide_path_from(_bytes: &[u8]) -> Option<PathBuf> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> RelPath {
        RelPath::from(text)
    }

    #[test]
    fn order_is_by_component_not_by_byte() {
        let mut names: Vec<_> = ["a.txt", "a/b", "a", "a-b", "a/b/c", "b"].map(name).into();
        names.sort();
        assert_eq!(names, ["a", "a/b", "a/b/c", "a-b", "a.txt", "b"].map(name));
    }

    #[test]
    fn normal_form_drops_dots_and_slashes_but_keeps_dot_dot() {
        assert_eq!(*name("./a//b/./c").normalised(), name("a/b/c"));
        assert_eq!(*name("../a/..").normalised(), name("../a/.."));
        assert_eq!(*name("//x").normalised(), name("/x"));
    }

    #[test]
    fn strip_and_map_work_on_whole_components() {
        assert_eq!(name("a/b/c").strip(2), Some(name("c")));
        assert_eq!(name("a/b").strip(2), None);
        assert_eq!(
            name("/old/x").map(&name("/old"), &name("/new")),
            Some(name("/new/x"))
        );
        assert_eq!(name("older/x").map(&name("old"), &name("new")), None);
        assert_eq!(name("old/x").map(&name("old"), &name("")), Some(name("x")));
    }

    #[test]
    fn joining_adds_exactly_the_slash_that_is_missing() {
        let join = |name: &str, below: &str| RelPath::from(name).join(Path::new(below));
        assert_eq!(join("a", "b/c"), name("a/b/c"));
        assert_eq!(join("/", "b"), name("/b"));
        assert_eq!(join("", "b"), name("b"));
        assert_eq!(join("a", ""), name("a"));
    }

    #[cfg(unix)]
    #[test]
    fn every_byte_but_nul_survives_the_operating_system() {
        let bytes: Vec<u8> = (1..=255).collect();
        let path = RelPath::from_bytes(bytes.clone()).to_path().unwrap();
        assert_eq!(RelPath::from_path(&path).as_bytes(), bytes);
        assert_eq!(RelPath::from_bytes(*b"a\0b").to_path(), None);
    }
}
