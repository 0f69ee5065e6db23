//! Nothing but a digest: of the file that the list is named after.
//!
//! ```text
//! list = HEX LF        in a list called NAME.ENDING, or NAME.ENDING.txt
//! ```
//!
//! As release tools write it for each of their files, and as RHash reads it. A second line makes it
//! something else, and neither is taken. Source: the behaviour of RHash 1.4.3, and of goreleaser with
//! `split: true`.

use std::path::Path;

use super::decoder::{self, Context, Records};
use super::detect::Sample;
use super::evidence::{AlgorithmEvidence, AlgorithmSource};
use super::gnu::{self, Digits};
use super::lines::{Terminator, trim_blanks};
use super::{Claim, Content, Malformed};
use super::{gap, plain};
use crate::algorithm::Algorithm;
use crate::relpath::RelPath;

#[derive(Debug)]
struct Grammar {
    algorithms: AlgorithmEvidence,
    name: Option<RelPath>,
    /// The only line so far and its claim, which a second line would refute.
    first: Option<(u64, Result<Claim, Malformed>)>,
    /// Whether there was a second line.
    several: bool,
}

/// The grammar of these lists.
pub(super) fn grammar(context: &Context) -> Box<dyn decoder::Grammar> {
    Box::new(Grammar {
        algorithms: context.algorithms,
        name: context.list_name.as_deref().and_then(name_of_file),
        first: None,
        several: false,
    })
}

/// Whether a line is the only one of its list, a digest, and the list named after a file.
pub(super) fn is_entry(line: &[u8], sample: Sample<'_>) -> bool {
    let is_text = |line: &&[u8]| {
        let is_comment = plain::comment(line, Terminator::Line).is_some();
        !trim_blanks(line).is_empty() && !is_comment
    };
    let mut lines = sample.bytes.split(|byte| matches!(byte, b'\n' | b'\r'));
    sample.complete
        && sample.list_name.and_then(name_of_file).is_some()
        && gnu::digits(trim_blanks(line)).is_some()
        && lines.by_ref().filter(is_text).count() == 1
}

/// What a list is named after: its own file name without the ending that says that it is a list.
pub(super) fn name_of_file(list: &Path) -> Option<RelPath> {
    let wrapping = ["txt", "asc", "sig", "gpg"];
    let mut name = Path::new(list.file_name()?);
    while name
        .extension()
        .is_some_and(|ending| wrapping.iter().any(|w| ending.eq_ignore_ascii_case(w)))
    {
        name = Path::new(name.file_stem()?);
    }
    name.extension()?;
    Some(RelPath::from_path(Path::new(name.file_stem()?)))
}

impl decoder::Grammar for Grammar {
    fn line(&mut self, number: u64, text: &[u8], records: &mut Records) {
        let text = trim_blanks(text);
        let is_comment = plain::comment(text, Terminator::Line).is_some();
        if let Some(gap) = gap::read(text) {
            return records.push(number, gap);
        }
        if text.is_empty() || is_comment {
            return;
        }
        let claim = self.claim(text);
        self.refuse_the_first(records);
        if self.several {
            records.push(number, Content::Malformed(Malformed::NoShape));
        } else {
            self.first = Some((number, claim));
        }
    }

    fn unusable(&mut self, number: u64, reason: Malformed, records: &mut Records) {
        self.refuse_the_first(records);
        records.push(number, Content::Malformed(reason));
    }

    fn end(&mut self, _number: u64, records: &mut Records) {
        if let Some((number, claim)) = self.first.take() {
            records.push_claim(number, claim);
        }
    }

    fn algorithm_source(&self) -> AlgorithmSource {
        self.algorithms.source()
    }
}

impl Grammar {
    /// A digest that is not alone belongs to no file.
    fn refuse_the_first(&mut self, records: &mut Records) {
        if let Some((number, _)) = self.first.take() {
            self.several = true;
            records.push(number, Content::Malformed(Malformed::NoShape));
        }
    }

    fn claim(&mut self, text: &[u8]) -> Result<Claim, Malformed> {
        let digest = match gnu::digits(text).ok_or(Malformed::NoShape)? {
            Digits::Plain(digits) => self.algorithms.untagged(digits)?,
            Digits::Xxh3(digits) => self.algorithms.tagged(Algorithm::Xxh3, digits)?,
        };
        let name = self.name.take().ok_or(Malformed::EmptyName)?;
        Ok(Claim::new(name, digest))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::testing::{called, in_format, made_of, no_hints, read_to_the_end, shown};
    use proptest::prelude::*;

    #[test]
    fn the_name_of_the_list_is_that_of_the_file() {
        let read = |list: &str, name: &str| {
            let (format, records) = shown(list, &called(name));
            assert_eq!(format, Format::Bare, "{list}");
            records
        };
        assert_eq!(read("MD5!\n", "d/a.txt.md5"), ["1:a.txt md5"]);
        assert_eq!(read("SHA256!", "x.zip.sha256"), ["1:x.zip sha256"]);
        assert_eq!(
            read("\n# note\n SHA256!\r\n", "x.zip.sha256.txt"),
            ["3:x.zip sha256"]
        );
        assert_eq!(read("SHA256!\n", "x.zip.checksum"), ["1:x.zip sha256?"]);
        assert_eq!(read("XXH3_99fc819aaba2462a\n", "x.xxh3"), ["1:x xxh3"]);
        assert_eq!(
            read("LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE=\n", "x.sha256"),
            ["1:x sha256"]
        );
    }

    #[test]
    fn a_digest_alone_is_no_entry_where_nothing_has_a_name() {
        let no = vec!["1!not a checksum line".to_owned()];
        for name in ["SHA256SUMS", ".md5", "x.txt"] {
            assert_eq!(shown("MD5!\n", &called(name)).1, no, "{name}");
        }
        assert_eq!(shown("MD5!\n", &no_hints()).1, no);
        assert_eq!(
            shown("MD5!\n", &in_format(Format::Bare)).1,
            ["1!the name is empty"]
        );
    }

    #[test]
    fn several_digests_are_of_no_file() {
        let no = |line| format!("{line}!not a checksum line");
        assert_eq!(shown("MD5!\nMD5!\n", &called("a.md5")).1, [no(1), no(2)]);
        let hints = super::super::Hints {
            list_name: Some("a.md5".into()),
            ..in_format(Format::Bare)
        };
        assert_eq!(
            shown("MD5!\n\nMD5!\nMD5!\n", &hints).1,
            [no(1), no(3), no(4)]
        );
    }

    #[test]
    fn a_wrong_length_is_refused() {
        assert_eq!(
            shown("SHA256!\n", &called("x.md5")).1,
            ["1!not a md5 digest, which has 32 hexadecimal digits"]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(list in made_of(&["XXH3_99fc819aaba2462a"])) {
            read_to_the_end(&list, Format::Bare)?;
        }
    }
}
