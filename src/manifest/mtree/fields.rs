//! Keywords and their values.

use super::super::evidence::AlgorithmEvidence;
use super::super::{ClaimedDigest, Kind, Malformed};
use super::vis;
use crate::algorithm::Algorithm;
use crate::hex;
use crate::relpath::RelPath;
use crate::timestamp::{Modified, Timestamp};

/// What the words after a name, or after `/set`, say.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    pub(super) kind: Option<Type>,
    pub(super) size: Option<u64>,
    pub(super) modified: Option<Modified>,
    pub(super) link: Option<RelPath>,
    pub(super) digests: Vec<ClaimedDigest>,
}

/// Values of `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    File,
    Folder,
    Link,
    Special,
}

/// What is to be done with a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keyword<'a> {
    Type,
    Size,
    Time,
    Link,
    Cksum,
    /// A digest of the algorithm with this name.
    Digest(&'a str),
    /// Known, and of no use here.
    Unused,
}

/// A word that is neither a known keyword nor one with a value that makes sense.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Unknown,
    Malformed(Malformed),
}

impl From<Malformed> for Refused {
    fn from(reason: Malformed) -> Self {
        Self::Malformed(reason)
    }
}

impl Keyword<'_> {
    fn of(key: &[u8]) -> Option<Keyword<'_>> {
        Some(match key {
            b"type" => Keyword::Type,
            b"size" => Keyword::Size,
            b"time" => Keyword::Time,
            b"link" => Keyword::Link,
            b"cksum" => Keyword::Cksum,
            b"md5" | b"md5digest" => Keyword::Digest("md5"),
            b"sha1" | b"sha1digest" => Keyword::Digest("sha1"),
            b"sha256" | b"sha256digest" => Keyword::Digest("sha256"),
            b"sha384" | b"sha384digest" => Keyword::Digest("sha384"),
            b"sha512" | b"sha512digest" => Keyword::Digest("sha512"),
            b"rmd160" | b"rmd160digest" | b"ripemd160" | b"ripemd160digest" => {
                Keyword::Digest("rmd160")
            }
            b"uid" | b"gid" | b"uname" | b"gname" | b"mode" | b"flags" | b"nlink" | b"inode"
            | b"device" | b"resdevice" | b"tags" | b"contents" | b"nochange" | b"ignore"
            | b"optional" => Keyword::Unused,
            other => Keyword::Digest(unlisted_digest(other)?),
        })
    }
}

/// The algorithm of a keyword that no manual lists, if it looks like one of a digest.
fn unlisted_digest(key: &[u8]) -> Option<&str> {
    let key = std::str::from_utf8(key).ok()?;
    match key.strip_suffix("digest") {
        Some(algorithm) if !algorithm.is_empty() => Some(algorithm),
        _ => key.parse::<Algorithm>().is_ok().then_some(key),
    }
}

/// Whether no keyword that is unknown could have such a value unless it is a digest.
fn looks_like_digest(value: &[u8]) -> bool {
    let digits = hex_digits(value);
    digits.len() >= 32 && hex::is_hex(digits)
}

fn hex_digits(value: &[u8]) -> &[u8] {
    value.strip_prefix(b"0x").unwrap_or(value)
}

/// Whether a word is a keyword with its value, or one that has none.
pub(super) fn is_keyword(word: &[u8]) -> bool {
    match split(word) {
        (b"nochange" | b"ignore" | b"optional", None) => true,
        (_, None) => false,
        (key, Some(value)) => {
            Keyword::of(key).is_some() || (!key.is_empty() && looks_like_digest(value))
        }
    }
}

/// Key and value.
pub(super) fn split(word: &[u8]) -> (&[u8], Option<&[u8]>) {
    match word.iter().position(|&byte| byte == b'=') {
        Some(at) => (&word[..at], Some(&word[at + 1..])),
        None => (word, None),
    }
}

impl Fields {
    /// Takes one word.
    pub(super) fn take(
        &mut self,
        word: &[u8],
        algorithms: &AlgorithmEvidence,
    ) -> Result<(), Refused> {
        let (key, value) = split(word);
        let keyword = match (Keyword::of(key), value) {
            (Some(keyword), _) => keyword,
            (None, Some(value)) if looks_like_digest(value) => Keyword::Digest(
                std::str::from_utf8(key).map_err(|_| Malformed::bad_field("keyword", key))?,
            ),
            (None, _) => return Err(Refused::Unknown),
        };
        let value = match (value, keyword) {
            (_, Keyword::Unused) => return Ok(()),
            (Some(value), _) => value,
            (None, _) => return Err(Malformed::bad_field("value", word).into()),
        };
        match keyword {
            Keyword::Type => once(&mut self.kind, kind(value), "type", value)?,
            Keyword::Size => once(&mut self.size, number(value), "size", value)?,
            Keyword::Time => once(&mut self.modified, time(value), "time", value)?,
            Keyword::Link => once(&mut self.link, target(value), "link", value)?,
            Keyword::Cksum => {
                let sum = number(value).and_then(|sum| u32::try_from(sum).ok());
                let sum = sum.ok_or_else(|| Malformed::bad_field("cksum", value))?;
                let digits = format!("{sum:08x}");
                self.add(algorithms.named("cksum", digits.as_bytes())?)?;
            }
            Keyword::Digest(name) => {
                self.add(algorithms.named(name, hex_digits(value))?)?;
            }
            Keyword::Unused => {}
        }
        Ok(())
    }

    fn add(&mut self, digest: Option<ClaimedDigest>) -> Result<(), Malformed> {
        let Some(digest) = digest else { return Ok(()) };
        match self
            .digests
            .iter()
            .find(|known| same_algorithm(known, &digest))
        {
            None => self.digests.push(digest),
            Some(known) if *known == digest => {}
            Some(_) => return Err(Malformed::Rule("two digests of one algorithm".to_owned())),
        }
        Ok(())
    }

    /// Puts what `word` says in the place of what stands there, as a later `/set` does.
    pub(super) fn replace(
        &mut self,
        word: &[u8],
        algorithms: &AlgorithmEvidence,
    ) -> Result<(), Refused> {
        self.forget(split(word).0);
        self.take(word, algorithms)
    }

    /// Drops what stands under a key.
    pub(super) fn forget(&mut self, key: &[u8]) {
        match Keyword::of(key) {
            Some(Keyword::Type) => self.kind = None,
            Some(Keyword::Size) => self.size = None,
            Some(Keyword::Time) => self.modified = None,
            Some(Keyword::Link) => self.link = None,
            Some(Keyword::Cksum) => self.forget_digest("cksum"),
            Some(Keyword::Digest(name)) => self.forget_digest(name),
            Some(Keyword::Unused) => {}
            None => {
                if let Ok(name) = std::str::from_utf8(key) {
                    self.forget_digest(name);
                }
            }
        }
    }

    fn forget_digest(&mut self, name: &str) {
        let algorithm = name.parse::<Algorithm>().ok();
        self.digests.retain(|digest| match digest {
            ClaimedDigest::Known(digest) => Some(digest.algorithm()) != algorithm,
            ClaimedDigest::Unsupported(other) => **other != *name,
            ClaimedDigest::OneOf { .. } => true,
        });
    }

    /// Fills what is missing from the defaults.
    pub(super) fn or(mut self, defaults: &Self) -> Self {
        self.kind = self.kind.or(defaults.kind);
        self.size = self.size.or(defaults.size);
        self.modified = self.modified.or(defaults.modified);
        if self.link.is_none() {
            self.link.clone_from(&defaults.link);
        }
        // Nobody means that all folders have one digest.
        let is_file = self.kind.is_none_or(|kind| kind == Type::File);
        for digest in defaults.digests.iter().filter(|_| is_file) {
            if !self
                .digests
                .iter()
                .any(|known| same_algorithm(known, digest))
            {
                self.digests.push(digest.clone());
            }
        }
        self
    }

    /// What the entry must be.
    pub(super) fn claimed_kind(&mut self) -> Kind {
        match self.kind.unwrap_or(Type::File) {
            Type::File => Kind::File,
            Type::Folder => Kind::Directory,
            Type::Link => Kind::Link(self.link.take()),
            Type::Special => Kind::Special,
        }
    }
}

fn same_algorithm(a: &ClaimedDigest, b: &ClaimedDigest) -> bool {
    match (a, b) {
        (ClaimedDigest::Known(a), ClaimedDigest::Known(b)) => a.algorithm() == b.algorithm(),
        (ClaimedDigest::Unsupported(a), ClaimedDigest::Unsupported(b)) => a == b,
        _ => false,
    }
}

/// Sets a field that may have one value only.
fn once<T: PartialEq>(
    place: &mut Option<T>,
    found: Option<T>,
    field: &'static str,
    value: &[u8],
) -> Result<(), Malformed> {
    let found = found.ok_or_else(|| Malformed::bad_field(field, value))?;
    match place {
        Some(known) if *known != found => Err(Malformed::Rule(format!("{field} is given twice"))),
        _ => {
            *place = Some(found);
            Ok(())
        }
    }
}

fn kind(value: &[u8]) -> Option<Type> {
    Some(match value {
        b"file" => Type::File,
        b"dir" => Type::Folder,
        b"link" => Type::Link,
        b"block" | b"char" | b"fifo" | b"socket" | b"door" | b"port" | b"whiteout" => Type::Special,
        _ => return None,
    })
}

/// Decimal without sign. With a leading zero some readers would take it for octal.
fn number(value: &[u8]) -> Option<u64> {
    match value {
        b"0" => Some(0),
        [b'1'..=b'9', ..] if value.iter().all(u8::is_ascii_digit) => {
            std::str::from_utf8(value).ok()?.parse().ok()
        }
        _ => None,
    }
}

/// Seconds, and after a dot a count of nanoseconds.
fn time(value: &[u8]) -> Option<Modified> {
    let text = std::str::from_utf8(value).ok()?;
    let (seconds, nanoseconds) = text.split_once('.').unwrap_or((text, ""));
    let digits = seconds.strip_prefix('-').unwrap_or(seconds);
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if digits.is_empty() || !is_number(digits) || !is_number(nanoseconds) {
        return None;
    }
    let seconds = seconds.parse().ok()?;
    if nanoseconds.is_empty() {
        return Timestamp::new(seconds, 0).map(Modified::to_the_second);
    }
    Timestamp::new(seconds, nanoseconds.parse().ok()?).map(Modified::exactly)
}

fn target(value: &[u8]) -> Option<RelPath> {
    let name = vis::decode(value)?;
    (!name.is_empty() && !name.contains(&0)).then(|| RelPath::from_bytes(name.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_are_a_count_and_no_fraction() {
        for (text, shown) in [
            ("5.42", "1970-01-01T00:00:05.000000042Z"),
            ("5.000000042", "1970-01-01T00:00:05.000000042Z"),
            ("5.420000000", "1970-01-01T00:00:05.420000000Z"),
            ("5.0", "1970-01-01T00:00:05.000000000Z"),
            // As NetBSD's mtree and bsdtar write 1960-01-02T03:04:05.25Z.
            ("-315521755.250000000", "1960-01-02T03:04:05.250000000Z"),
        ] {
            let time = time(text.as_bytes()).unwrap();
            assert_eq!(
                (time.time.to_string(), time.step_ns),
                (shown.to_owned(), 1),
                "{text}"
            );
        }
        for text in ["5", "5."] {
            assert_eq!(time(text.as_bytes()).unwrap().step_ns, 1_000_000_000);
        }
        for bad in [
            "",
            ".",
            "-",
            ".5",
            "+5",
            "5.1234567890",
            "5.-1",
            "1e3",
            "99999999999999999",
        ] {
            assert_eq!(time(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn sizes_are_plain_decimal() {
        assert_eq!(number(b"0"), Some(0));
        assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
        for bad in ["", "-1", "+1", "010", "0x10", "1k", "18446744073709551616"] {
            assert_eq!(number(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn keywords_are_told_from_names() {
        for word in [
            "type=file",
            "sha256digest=0",
            "optional",
            "sha3-256=00",
            "mode=0644",
            "skein256=0123456789abcdef0123456789abcdef",
        ] {
            assert!(is_keyword(word.as_bytes()), "{word}");
        }
        let nameless = "=0123456789abcdef0123456789abcdef";
        for word in ["a.txt", "x=y", "=", "type", "sha256", "digest=0", nameless] {
            assert!(!is_keyword(word.as_bytes()), "{word}");
        }
    }
}
