//! `bagit.txt`: which rules a bag follows.

use std::fmt::{self, Display, Formatter};

use super::super::{Content, Malformed, Record, Remark};
use super::text::{self, TextEncoding};

/// A version of BagIt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    major: u32,
    minor: u32,
}

impl Version {
    /// RFC 8493, which every new bag follows.
    pub const V1_0: Self = Self::new(1, 0);

    /// A version by its numbers.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// Whether its rules are known here.
    pub fn is_known(self) -> bool {
        self == Self::V1_0 || (self.major == 0 && (93..=97).contains(&self.minor))
    }

    /// Whether the rules of RFC 8493 hold: no blanks before a colon in `bagit.txt`, every payload
    /// manifest lists every file and each once, `fetch.txt` names nothing that is not listed.
    pub fn is_strict(self) -> bool {
        self >= Self::V1_0
    }

    /// Whether a percent sign is escaped in paths.
    pub fn escapes_percent(self) -> bool {
        self.is_strict()
    }

    /// The name of the file with what people want to know of a bag.
    pub fn info_file(self) -> &'static str {
        if self < Self::new(0, 96) {
            "package-info.txt"
        } else {
            "bag-info.txt"
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let number = |digits: &str| {
            let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            all_digits.then(|| digits.parse().ok()).flatten()
        };
        let (major, minor) = text.split_once('.')?;
        Some(Self::new(number(major)?, number(minor)?))
    }
}

impl Display for Version {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// What `bagit.txt` says. What it fails to say is taken as 1.0 and UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The rules that the bag follows.
    pub version: Version,
    /// The encoding of the other tag files.
    pub encoding: TextEncoding,
}

const VERSION: &str = "BagIt-Version";
const ENCODING: &str = "Tag-File-Character-Encoding";

/// Reads `bagit.txt`: what it says, and what is wrong with it.
pub fn read_declaration(bytes: &[u8]) -> (Declaration, Vec<Record>) {
    let mut found = Findings::default();
    let unmarked = bytes.strip_prefix(b"\xef\xbb\xbf");
    if unmarked.is_some() {
        found.broken(1, "a byte order mark, which bagit.txt must not have");
    }
    let lines: Vec<(u64, &[u8])> = text::lines(unmarked.unwrap_or(bytes)).collect();
    let line = |index: usize| lines.get(index).map(|(_, text)| *text);
    let version = found.value(1, line(0), VERSION).and_then(|(value, loose)| {
        let version = Version::parse(&value);
        match version {
            None => found.broken(1, "the version is not two numbers with a dot between"),
            Some(version) if !version.is_known() => {
                found.broken(
                    1,
                    &format!("BagIt {version} is not known (0.93 to 0.97, and 1.0 are)"),
                );
            }
            Some(version) => found.looseness(1, loose, version),
        }
        version
    });
    let version = version.unwrap_or(Version::V1_0);
    let encoding = found
        .value(2, line(1), ENCODING)
        .and_then(|(value, loose)| {
            found.looseness(2, loose, version);
            let encoding = TextEncoding::from_label(&value);
            if encoding.is_none() {
                found.broken(2, "the character encoding is not known");
            }
            encoding
        });
    found.rest(&lines, version);
    let encoding = encoding.unwrap_or(TextEncoding::UTF_8);
    (Declaration { version, encoding }, found.records)
}

#[derive(Default)]
struct Findings {
    records: Vec<Record>,
}

impl Findings {
    fn broken(&mut self, line: u64, rule: &str) {
        let content = Content::Malformed(Malformed::Package(rule.to_owned()));
        self.records.push(Record { line, content });
    }

    /// The value behind a label, and whether there are blanks that 1.0 does not allow.
    fn value(&mut self, number: u64, line: Option<&[u8]>, label: &str) -> Option<(String, bool)> {
        let value = line
            .and_then(|line| std::str::from_utf8(line).ok())
            .and_then(|line| line.split_once(':'))
            .filter(|(found, _)| found.trim_end_matches([' ', '\t']) == label);
        let Some((found, value)) = value else {
            self.broken(number, &format!("the line is not '{label}: …'"));
            return None;
        };
        let trimmed = value.trim_matches([' ', '\t']);
        let loose = found != label || value.strip_prefix(' ') != Some(trimmed);
        Some((trimmed.to_owned(), loose))
    }

    fn looseness(&mut self, line: u64, loose: bool, version: Version) {
        let rule = "one blank belongs after the colon, and none elsewhere";
        if loose && version.is_strict() {
            self.broken(line, rule);
        } else if loose {
            let content = Content::Remark(Remark::Ignored(rule.to_owned()));
            self.records.push(Record { line, content });
        }
    }

    fn rest(&mut self, lines: &[(u64, &[u8])], version: Version) {
        let third = lines.get(2..).unwrap_or_default();
        let filled = third.iter().find(|(_, text)| !text::is_blank(text));
        let surplus = filled.or(third.first().filter(|_| version.is_strict()));
        if let Some((number, _)) = surplus {
            self.broken(*number, "bagit.txt has exactly two lines");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(text: &str) -> usize {
        let (_, records) = read_declaration(text.as_bytes());
        let is_broken = |record: &&Record| matches!(record.content, Content::Malformed(_));
        records.iter().filter(is_broken).count()
    }

    #[test]
    fn both_lines_are_read_whatever_ends_them() {
        for text in [
            "BagIt-Version: 0.97\nTag-File-Character-Encoding: ISO-8859-1\n",
            "BagIt-Version: 0.97\r\nTag-File-Character-Encoding: ISO-8859-1",
            "BagIt-Version: 0.97\rTag-File-Character-Encoding: iso-8859-1\r",
        ] {
            let (declaration, records) = read_declaration(text.as_bytes());
            assert_eq!(records, [], "{text}");
            assert_eq!(declaration.version, Version::new(0, 97));
            assert_eq!(
                Some(declaration.encoding),
                TextEncoding::from_label("latin1")
            );
        }
    }

    #[test]
    fn what_breaks_the_rules_is_found() {
        let second = "Tag-File-Character-Encoding: UTF-8\n";
        for first in [
            "BagIt-Version: .97",
            "BagIt-Version: 1",
            "BagIt-Version: 1.x",
            "BagIt-Version: +1.0",
            "BagIt-Version: 2.0",
            "BagIt-Version: 0.92",
            "BagIt-Version : 1.0",
            "BagIt-Version:1.0",
            "BagIt-Version: 1.0 ",
            "BagIt-Version:  1.0",
            "bagit-version: 1.0",
            "\u{feff}BagIt-Version: 1.0",
            "",
        ] {
            assert_eq!(broken(&format!("{first}\n{second}")), 1, "{first}");
        }
        let first = "BagIt-Version: 1.0\n";
        for second in [
            "",
            "Tag-File-Character-Encoding: UTF-9\n",
            "Tag-File-Character-Encoding : UTF-8\n",
            "Tag-File-Character-Encoding: UTF-8\n\n",
            "Tag-File-Character-Encoding: UTF-8\nx\n",
        ] {
            assert_eq!(broken(&format!("{first}{second}")), 1, "{second}");
        }
        assert_eq!(broken(""), 2);
    }

    #[test]
    fn older_versions_may_have_blanks_about() {
        let (_, records) =
            read_declaration(b"BagIt-Version : 0.97\nTag-File-Character-Encoding:   UTF-8\n\n");
        assert_eq!(records.len(), 2);
        assert!(
            records
                .iter()
                .all(|r| matches!(r.content, Content::Remark(_)))
        );
    }
}
