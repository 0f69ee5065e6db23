//! Plain lists: untagged lines, tagged lines, or both.
//!
//! Each line is read by one grammar: tagged if all of it has that shape and its first word is a known
//! tag, else untagged. No word is both a tag and a digest, so the choice never depends on names.

use std::borrow::Cow;

use super::decoder::{self, Context, Records};
use super::evidence::{self, AlgorithmEvidence, AlgorithmSource};
use super::gnu::{Digits, Spacing, Untagged};
use super::lines::{Terminator, skip_blanks};
use super::{Claim, ClaimedDigest, Content, Format, Malformed};
use super::{bsd, escape, gap, gnu};
use crate::algorithm::Algorithm;
use crate::relpath::RelPath;

/// Which shapes of lines a list may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shapes {
    /// Only `DIGEST  NAME`.
    Untagged,
    /// Only `TAG (NAME) = DIGEST`.
    Tagged,
    /// Both, line by line.
    Mixed,
}

/// The shape of one line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shape<'a> {
    /// A tagged line whose tag is known.
    Tagged(bsd::Tagged<'a>, Algorithm),
    /// An untagged line.
    Untagged(Untagged<'a>),
}

/// Finds the shape of a line that has lost leading blanks and backslash.
pub(super) fn shape(text: &[u8], shapes: Shapes) -> Result<Shape<'_>, Malformed> {
    let tagged = bsd::split(text).filter(|_| shapes != Shapes::Untagged);
    if let Some(tagged) = tagged {
        if let Some(algorithm) = algorithm_of(tagged.tag) {
            return Ok(Shape::Tagged(tagged, algorithm));
        }
        // An untagged line may hold a name such as `(a) = b`.
        if gnu::digits(tagged.tag).is_none() {
            return Err(Malformed::UnknownTag(tagged.tag.to_vec()));
        }
    }
    gnu::split(text)
        .filter(|_| shapes != Shapes::Tagged)
        .map(Shape::Untagged)
        .ok_or(Malformed::NoShape)
}

fn algorithm_of(tag: &[u8]) -> Option<Algorithm> {
    std::str::from_utf8(tag).ok()?.parse().ok()
}

/// Drops leading blanks, and the backslash that says that the name is escaped.
pub(super) fn unwrap_line(line: &[u8], terminator: Terminator) -> (&[u8], bool) {
    let text = skip_blanks(line);
    match text {
        [b'\\', text @ ..] if terminator == Terminator::Line => (text, true),
        _ => (text, false),
    }
}

/// The text of a comment without its mark; `None` if the line is no comment.
///
/// `#` counts in the first column only, as for coreutils; `;` and `//` also after blanks. Between NUL
/// bytes only `#` without a line break counts, since anything may hide behind a line break.
pub(super) fn comment(line: &[u8], terminator: Terminator) -> Option<&[u8]> {
    let hash = line.strip_prefix(b"#");
    match terminator {
        Terminator::Nul => hash.filter(|text| !text.contains(&b'\n')),
        Terminator::Line => hash.or_else(|| {
            let text = skip_blanks(line);
            text.strip_prefix(b";").or_else(|| text.strip_prefix(b"//"))
        }),
    }
}

/// Reads a line of a format with the comments of plain lists: pushes a gap, or what `claim` makes of
/// the line; nothing for comments and empty lines.
pub(super) fn entry_line(
    number: u64,
    text: &[u8],
    records: &mut Records,
    claim: impl FnOnce(&[u8]) -> Result<Claim, Malformed>,
) {
    if let Some(gap) = gap::read(text) {
        records.push(number, gap);
    } else if !text.is_empty() && comment(text, Terminator::Line).is_none() {
        records.push_claim(number, claim(text));
    }
}

/// Reads lines one after the other, remembering what the earlier ones settled for the later.
#[derive(Debug)]
pub(super) struct Parser {
    terminator: Terminator,
    shapes: Shapes,
    algorithms: AlgorithmEvidence,
    spacing: Option<Spacing>,
}

/// The grammar of one of the plain formats; it takes the lines of the others too, unless the user
/// asked for the format.
pub(super) fn grammar(format: Format, context: &Context) -> Box<dyn decoder::Grammar> {
    let shapes = match format {
        _ if !context.asked => Shapes::Mixed,
        Format::Bsd => Shapes::Tagged,
        _ => Shapes::Untagged,
    };
    Box::new(Parser {
        terminator: context.terminator,
        shapes,
        algorithms: context.algorithms,
        spacing: None,
    })
}

impl decoder::Grammar for Parser {
    fn line(&mut self, number: u64, text: &[u8], records: &mut Records) {
        if let Some(content) = self.content(text) {
            records.push(number, content);
        }
    }

    fn algorithm_source(&self) -> AlgorithmSource {
        self.algorithms.source()
    }
}

impl Parser {
    /// What stands in a line; `None` for comments and empty lines.
    fn content(&mut self, line: &[u8]) -> Option<Content> {
        if line.is_empty() && self.terminator == Terminator::Line {
            return None;
        }
        if let Some(gap) = gap::read(line) {
            return Some(gap);
        }
        if let Some(text) = comment(line, self.terminator) {
            let said = evidence::from_comment(text);
            self.algorithms.comment = said.or(self.algorithms.comment);
            return None;
        }
        Some(match self.claim(line) {
            Ok(claim) => Content::Claim(claim),
            Err(reason) => Content::Malformed(reason),
        })
    }

    fn claim(&mut self, line: &[u8]) -> Result<Claim, Malformed> {
        let (text, escaped) = unwrap_line(line, self.terminator);
        match shape(text, self.shapes)? {
            Shape::Tagged(line, algorithm) => {
                let digest = self.algorithms.tagged(algorithm, &line.digits())?;
                Ok(claim(name(line.name, escaped)?, digest, escaped))
            }
            Shape::Untagged(line) => {
                let (bytes, spacing) = line.name(self.spacing)?;
                let digest = self.untagged_digest(line.digits)?;
                let claim = claim(name(bytes, escaped)?, digest, escaped);
                self.spacing = Some(spacing);
                Ok(claim)
            }
        }
    }

    fn untagged_digest(&self, digits: Digits<'_>) -> Result<ClaimedDigest, Malformed> {
        match digits {
            Digits::Plain(digits) => self.algorithms.untagged(digits),
            Digits::Xxh3(digits) => self.algorithms.tagged(Algorithm::Xxh3, digits),
        }
    }
}

fn claim(name: RelPath, digest: ClaimedDigest, escaped: bool) -> Claim {
    let claim = Claim::new(name, digest);
    if escaped {
        claim
    } else {
        claim.maybe_from_windows()
    }
}

/// A name as it stands in a line, unescaped and checked.
pub(super) fn name(bytes: &[u8], escaped: bool) -> Result<RelPath, Malformed> {
    let name = if escaped {
        escape::gnu_unescape(bytes).ok_or(Malformed::BadEscape)?
    } else {
        Cow::Borrowed(bytes)
    };
    if name.is_empty() {
        return Err(Malformed::EmptyName);
    }
    if name.contains(&0) {
        return Err(Malformed::NulInName);
    }
    Ok(RelPath::from_bytes(name))
}
