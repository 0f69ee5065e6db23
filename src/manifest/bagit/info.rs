//! `bag-info.txt`: what people want to know of a bag, and how much lies in it.

use super::super::{Content, Malformed, Record, Remark};
use super::Version;
use super::text;

/// How much the payload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oxum {
    /// Bytes of all its files.
    pub octets: u64,
    /// Its files.
    pub streams: u64,
}

/// What `bag-info.txt` says that can be checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// The value of `Payload-Oxum`, with its line.
    pub oxum: Option<(u64, Oxum)>,
    /// What is wrong, and what is worth saying.
    pub records: Vec<Record>,
}

/// Reads `bag-info.txt`, or `package-info.txt` of the oldest bags.
pub fn read_info(text: &[u8], version: Version) -> Info {
    let mut info = Info::default();
    let mut begun = false;
    let mut oxum_seen = false;
    for (number, line) in text::lines(text) {
        if line
            .first()
            .is_some_and(|byte| matches!(byte, b' ' | b'\t'))
            && begun
        {
            continue;
        }
        if text::is_blank(line) {
            info.remark(number, "an empty line", version);
            continue;
        }
        let Some((label, value)) = split(line) else {
            info.broken(number, "the line is not 'LABEL: VALUE'");
            continue;
        };
        begun = true;
        if label.eq_ignore_ascii_case(b"payload-oxum") {
            if oxum_seen {
                info.broken(number, "Payload-Oxum must not be repeated");
            }
            oxum_seen = true;
            info.take_oxum(number, value);
        } else if label.eq_ignore_ascii_case(b"bagging-date") && !is_date(value) {
            info.remark(number, "Bagging-Date is not YYYY-MM-DD", version);
        }
    }
    info
}

impl Info {
    fn broken(&mut self, line: u64, rule: &str) {
        let content = Content::Malformed(Malformed::Package(rule.to_owned()));
        self.records.push(Record { line, content });
    }

    /// Only the newest rules are firm enough for a remark.
    fn remark(&mut self, line: u64, what: &str, version: Version) {
        if version.is_strict() {
            let content = Content::Remark(Remark::Ignored(what.to_owned()));
            self.records.push(Record { line, content });
        }
    }

    fn take_oxum(&mut self, line: u64, value: &[u8]) {
        match oxum(value) {
            Some(oxum) => self.oxum = Some((line, oxum)),
            None => self.broken(line, "Payload-Oxum is not OCTETS.FILES"),
        }
    }
}

fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    let label = line[..colon].trim_ascii();
    (!label.is_empty()).then(|| (label, line[colon + 1..].trim_ascii()))
}

fn oxum(value: &[u8]) -> Option<Oxum> {
    let (octets, streams) = std::str::from_utf8(value).ok()?.split_once('.')?;
    let number = |digits: &str| {
        let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
        all_digits.then(|| digits.parse().ok()).flatten()
    };
    Some(Oxum {
        octets: number(octets)?,
        streams: number(streams)?,
    })
}

fn is_date(value: &[u8]) -> bool {
    value.len() == 10
        && value.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Info {
        read_info(text.as_bytes(), Version::V1_0)
    }

    fn is_broken(info: &Info) -> bool {
        let broken = |record: &Record| matches!(record.content, Content::Malformed(_));
        info.records.iter().any(broken)
    }

    #[test]
    fn the_payload_is_counted_whatever_the_spelling_of_the_label() {
        for line in [
            "Payload-Oxum: 13.8",
            "payload-oxum:13.8",
            "PAYLOAD-OXUM :\t13.8 ",
        ] {
            let info = read(&format!("A: b\r\n  c: d\r\n{line}\r\n"));
            let oxum = Oxum {
                octets: 13,
                streams: 8,
            };
            assert_eq!(info.oxum, Some((3, oxum)), "{line}");
            assert!(!is_broken(&info));
        }
    }

    #[test]
    fn what_is_no_label_and_value_is_found() {
        for text in [
            "no colon",
            ": value",
            "  leading: blank",
            "Payload-Oxum: 1",
            "Payload-Oxum: 1.x",
            "Payload-Oxum: -1.2",
            "Payload-Oxum: 1.1\nPayload-Oxum: 1.1",
        ] {
            let expected = text != "  leading: blank";
            assert_eq!(is_broken(&read(text)), expected, "{text}");
        }
    }

    #[test]
    fn labels_may_repeat_and_values_may_be_continued() {
        let info = read("A: 1\nA: 2\nB: x\n\ty: z\nBagging-Date: 2026-11-30\n");
        assert_eq!(info, Info::default());
        assert_eq!(read("Bagging-Date: yesterday\n").records.len(), 1);
    }
}
