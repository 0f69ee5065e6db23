//! What turns lines and documents into records, and which format is read by which.

use std::collections::VecDeque;
use std::fmt::{self, Debug, Formatter};
use std::io::{self, Read};
use std::path::PathBuf;

use super::evidence::{AlgorithmEvidence, AlgorithmSource};
use super::lines::{Lines, Terminator};
use super::wrapper::{Part, Wrapper};
use super::{Claim, Content, Format, Malformed, Record, Remark};
use super::{
    bagit, bare, certutil, cksum, csv, cyclonedx, debian, dfxml, fciv, gentoo, hashdeep, intoto,
    json, jsonl, legacy_mhl, magnet, md5deep, mhl, mtree, plain, powershell, rclone, rhash, sfv,
    spdx, sri,
};

/// Records that have been read and not been asked for yet.
#[derive(Debug, Default)]
pub(super) struct Records(VecDeque<Record>);

impl Records {
    /// Adds whatever stands at a line.
    pub(super) fn push(&mut self, line: u64, content: Content) {
        self.0.push_back(Record { line, content });
    }

    /// Adds an entry, or the reason why there is none.
    pub(super) fn push_claim(&mut self, line: u64, claim: Result<Claim, Malformed>) {
        self.push(line, claim.map_or_else(Content::Malformed, Content::Claim));
    }

    /// Adds something that the user should know.
    pub(super) fn remark(&mut self, line: u64, remark: Remark) {
        self.push(line, Content::Remark(remark));
    }

    /// Takes the oldest record.
    pub(super) fn pop(&mut self) -> Option<Record> {
        self.0.pop_front()
    }
}

/// A format that is read line by line.
pub(super) trait Grammar: Debug + Send {
    /// Takes the next line, without its end, and pushes the records that it completes. A line that
    /// is no comment, not empty and part of no record gives a [`Content::Malformed`].
    fn line(&mut self, number: u64, text: &[u8], records: &mut Records);

    /// Takes notice of the next line, which cannot be decoded or may not be used. A grammar that holds
    /// back something of earlier lines pushes that first.
    fn unusable(&mut self, number: u64, reason: Malformed, records: &mut Records) {
        records.push(number, Content::Malformed(reason));
    }

    /// Whether the end of the last line is part of the format, so that a text without it was cut.
    fn ends_every_line(&self) -> bool {
        false
    }

    /// Pushes what is left when the lines are over. `number` is that of the last line.
    fn end(&mut self, _number: u64, _records: &mut Records) {}

    /// Where the algorithm of its digests comes from.
    fn algorithm_source(&self) -> AlgorithmSource {
        AlgorithmSource::Entries
    }
}

/// A format that is read in a way of its own.
pub(super) trait Decoder: Debug + Send {
    /// Reads on, a bounded piece, and pushes the records that it completes; `false` if nothing is left
    /// to read. It is not called again after that, or after an error.
    fn advance(&mut self, records: &mut Records) -> io::Result<bool>;

    /// Where the algorithm of its digests comes from.
    fn algorithm_source(&self) -> AlgorithmSource {
        AlgorithmSource::Entries
    }
}

/// What is known of a manifest when its first byte is decoded.
#[derive(Clone, Debug)]
pub(super) struct Context {
    /// Whose the digests are, as far as the entries do not say.
    pub(super) algorithms: AlgorithmEvidence,
    /// What ends the records.
    pub(super) terminator: Terminator,
    /// The manifest's own path.
    pub(super) list_name: Option<PathBuf>,
    /// Whether the user named the format, so that lines of another are refused.
    pub(super) asked: bool,
}

/// Text without its wrapping and in UTF-8, if it was in UTF-16; other bytes are as they were.
pub(super) type Text<'r> = Box<dyn Read + Send + 'r>;

/// How a format wants its input.
pub(super) enum Method {
    Lines(Box<dyn Grammar>),
    /// The whole text; records with their lines are up to the decoder.
    Document(for<'r> fn(Text<'r>, Context) -> Box<dyn Decoder + 'r>),
}

/// How a format is read.
pub(super) fn method(format: Format, context: &Context) -> Method {
    let lines = |grammar: Box<dyn Grammar>| Method::Lines(grammar);
    match format {
        Format::Gnu | Format::GnuZero | Format::Bsd => lines(plain::grammar(format, context)),
        Format::Hashdeep => lines(hashdeep::grammar(context)),
        Format::Md5deep => lines(md5deep::grammar(context)),
        Format::Dfxml => Method::Document(dfxml::decoder),
        Format::Sfv => lines(sfv::grammar(context)),
        Format::Rhash => lines(rhash::grammar(context)),
        Format::Magnet => lines(magnet::grammar(context)),
        Format::Bagit => lines(bagit::grammar(context)),
        Format::Mtree => lines(mtree::grammar(context)),
        Format::Mhl => Method::Document(mhl::decoder),
        Format::LegacyMhl => Method::Document(legacy_mhl::decoder),
        Format::Jsonl => lines(jsonl::grammar(context)),
        Format::Csv => Method::Document(csv::decoder),
        Format::Json => Method::Document(json::decoder),
        Format::PowerShell => powershell::method(context),
        Format::Certutil => lines(certutil::grammar(context)),
        Format::Fciv => Method::Document(fciv::decoder),
        Format::Gentoo => lines(gentoo::grammar(context)),
        Format::Debian => lines(debian::grammar(context)),
        Format::Rclone => Method::Document(rclone::decoder),
        Format::Spdx => Method::Document(spdx::decoder),
        Format::CycloneDx => Method::Document(cyclonedx::decoder),
        Format::InToto => Method::Document(intoto::decoder),
        Format::Sri => lines(sri::grammar(context)),
        Format::Cksum => lines(cksum::grammar(context)),
        Format::Bare => lines(bare::grammar(context)),
    }
}

/// Feeds lines to a grammar.
pub(super) struct ByLine<R> {
    lines: Lines<R>,
    wrapper: Wrapper,
    grammar: Box<dyn Grammar>,
}

impl<R: Read> ByLine<R> {
    pub(super) fn new(lines: Lines<R>, wrapper: Wrapper, grammar: Box<dyn Grammar>) -> Self {
        Self {
            lines,
            wrapper,
            grammar,
        }
    }
}

impl<R> Debug for ByLine<R> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByLine")
            .field("lines", &self.lines)
            .field("grammar", &self.grammar)
            .finish_non_exhaustive()
    }
}

impl<R: Read + Send> Decoder for ByLine<R> {
    fn advance(&mut self, records: &mut Records) -> io::Result<bool> {
        let Some(line) = self.lines.next_line()? else {
            let last = self.lines.number();
            if let Err(reason) = self.wrapper.end() {
                records.push(last, Content::Malformed(reason));
            }
            if self.lines.is_cut() && self.grammar.ends_every_line() {
                let reason = Malformed::Truncated("its last line has no end");
                records.push(last, Content::Malformed(reason));
            }
            self.grammar.end(last, records);
            return Ok(false);
        };
        match line.text.map(|text| self.wrapper.unwrap(text)) {
            Ok(Part::Body(text)) => self.grammar.line(line.number, text, records),
            Ok(Part::Wrapping) => {}
            Ok(Part::Outside(reason)) | Err(reason) => {
                self.grammar.unusable(line.number, reason, records);
            }
        }
        Ok(true)
    }

    fn algorithm_source(&self) -> AlgorithmSource {
        self.grammar.algorithm_source()
    }
}
