//! The report for people: one line a file, outcome first.

use std::fmt::{Display, Write as _};
use std::io::{self, Write};

use super::{Command, Report, Summary};
use crate::event::{Difference, Event, OutcomeWord, Verdict};
use crate::quote::OneLine;
use crate::relpath::RelPath;

/// How much of a run is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Nothing; the exit code tells all.
    Status,
    /// What is not ok, and warnings; no summary of a run that went well.
    Quiet,
    /// What is not ok, and the summary.
    #[default]
    Normal,
    /// Every file, also those that are ok, and what was skipped.
    Verbose,
}

/// Whether outcome words are coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    /// Plain text.
    #[default]
    Never,
    /// Red for what is wrong, yellow for what is merely elsewhere or left out, green for good.
    Always,
}

/// Writes lines for people to `out` and the summary to `err`.
///
/// A line is the outcome word, padded to a column, the name and the details:
///
/// ```text
/// changed     a/b.jpg  (sha256: expected 5891…, got 0655…)
/// moved       a -> b
/// unreadable  a: open: Permission denied (os error 13)
/// SHA256SUMS:12: not a checksum line
/// ```
///
/// Names and messages are escaped, so that a file is one line and no control or direction-changing
/// character reaches a terminal. Digests are shown in full: whoever is told of a difference wants
/// to look for either digest in another list, and a shortened one cannot be searched for.
///
/// Each line reaches `out` in one call of `write_all`. Notes appear in the summary only.
#[derive(Debug)]
pub struct TextReport<W, E> {
    out: W,
    err: E,
    verbosity: Verbosity,
    colour: Colour,
    command: Command,
    line: String,
}

impl<W: Write, E: Write> TextReport<W, E> {
    /// Reports to `out`, with the summary on `err`.
    pub fn new(out: W, err: E, verbosity: Verbosity, colour: Colour) -> Self {
        Self {
            out,
            err,
            verbosity,
            colour,
            command: Command::Verify,
            line: String::new(),
        }
    }

    /// Words outcomes as that command does; without this, as `verify`.
    #[must_use]
    pub fn for_command(mut self, command: Command) -> Self {
        self.command = command;
        self
    }

    fn verdict(&mut self, name: &RelPath, verdict: &Verdict) -> io::Result<()> {
        let word = verdict.word();
        let least = match word {
            OutcomeWord::Ok | OutcomeWord::Unread => Verbosity::Verbose,
            _ => Verbosity::Quiet,
        };
        self.file(
            least,
            self.command.word(word),
            paint_of(word),
            name,
            &details(self.command, verdict),
        )
    }

    fn file(
        &mut self,
        least: Verbosity,
        word: &str,
        paint: Paint,
        name: &RelPath,
        details: &str,
    ) -> io::Result<()> {
        let (start, end) = match self.colour {
            Colour::Never => ("", ""),
            Colour::Always => (paint.start(), "\x1b[0m"),
        };
        let padding = WORD_COLUMNS.saturating_sub(word.len());
        let details = OneLine(details);
        self.line(
            least,
            format_args!("{start}{word}{end}{:padding$}  {name}{details}", ""),
        )
    }

    fn line(&mut self, least: Verbosity, content: impl Display) -> io::Result<()> {
        if self.verbosity < least {
            return Ok(());
        }
        self.line.clear();
        writeln!(self.line, "{content}").map_err(io::Error::other)?;
        self.out.write_all(self.line.as_bytes())
    }
}

impl<W: Write, E: Write> Report for TextReport<W, E> {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Hashed { name, hashed } => {
                let details = match hashed.is_from_before() {
                    true => "  (from the journal)",
                    false => "",
                };
                self.file(Verbosity::Verbose, "hashed", Paint::Green, name, details)
            }
            Event::Verdict { name, verdict } => self.verdict(name, verdict),
            Event::Line {
                manifest,
                line,
                reason,
            } => {
                let reason = OneLine(reason);
                self.line(
                    Verbosity::Quiet,
                    format_args!("{manifest}:{line}: {reason}"),
                )
            }
            Event::Skipped { name, kind } => {
                let details = format!("  ({kind})");
                self.file(Verbosity::Verbose, "skipped", Paint::Yellow, name, &details)
            }
            // Both are in the summary.
            Event::Taken { .. } | Event::Note(_) => Ok(()),
        }
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        self.out.flush()?;
        summary.write_text(&mut self.err, self.verbosity)?;
        self.err.flush()
    }
}

/// The length of the longest outcome word.
const WORD_COLUMNS: usize = 10;

/// What follows the name.
fn details(command: Command, verdict: &Verdict) -> String {
    match verdict {
        Verdict::Ok { .. }
        | Verdict::Present
        | Verdict::Missing
        | Verdict::New
        | Verdict::Unread => String::new(),
        Verdict::Changed { differences, .. } | Verdict::Corrupt { differences, .. } => {
            let told = differences.iter().map(|one| difference(command, one));
            let all: Vec<String> = told.collect();
            format!("  ({})", all.join("; "))
        }
        Verdict::Moved { to } => format!(" -> {to}"),
        Verdict::Unreadable(error) => format!(": {error}"),
        Verdict::Unstable(how) => format!(": {how}"),
        Verdict::Unverified(why) => format!(": {why}"),
    }
}

fn difference(command: Command, difference: &Difference) -> String {
    let (what, expected, actual) = difference.parts();
    match command {
        Command::Diff => format!("{what}: {expected} became {actual}"),
        _ => format!("{what}: expected {expected}, got {actual}"),
    }
}

#[derive(Clone, Copy)]
enum Paint {
    Red,
    Yellow,
    Green,
}

impl Paint {
    /// The SGR sequence (ECMA-48, 8.3.117) that begins the colour.
    fn start(self) -> &'static str {
        match self {
            Self::Red => "\x1b[31m",
            Self::Green => "\x1b[32m",
            Self::Yellow => "\x1b[33m",
        }
    }
}

fn paint_of(word: OutcomeWord) -> Paint {
    match word {
        OutcomeWord::Ok => Paint::Green,
        OutcomeWord::Moved | OutcomeWord::New | OutcomeWord::Unread => Paint::Yellow,
        OutcomeWord::Changed
        | OutcomeWord::Corrupt
        | OutcomeWord::Missing
        | OutcomeWord::Unreadable
        | OutcomeWord::Unstable
        | OutcomeWord::Unverified => Paint::Red,
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{self, name};
    use super::*;
    use crate::algorithm::Algorithm;
    use crate::error::{FileError, Operation};
    use crate::event::Note;
    use crate::manifest::Malformed;
    use crate::walk::Special;

    fn written(verbosity: Verbosity, colour: Colour, events: &[Event<'_>]) -> String {
        let mut out = Vec::new();
        let mut report = TextReport::new(&mut out, io::sink(), verbosity, colour);
        for event in events {
            report.event(event).unwrap();
        }
        String::from_utf8(out).unwrap()
    }

    fn everything(verbosity: Verbosity, colour: Colour) -> String {
        let a = name("a");
        let verdicts = samples::verdicts();
        let mut events: Vec<_> = verdicts
            .iter()
            .map(|verdict| Event::Verdict { name: &a, verdict })
            .collect();
        let hashed = samples::hashed(1);
        events.push(Event::Hashed {
            name: &a,
            hashed: &hashed,
        });
        events.push(Event::Skipped {
            name: &a,
            kind: Special::Fifo,
        });
        events.push(Event::Line {
            manifest: &a,
            line: 12,
            reason: &Malformed::NoShape,
        });
        events.push(Event::Note(&Note::RetriedReads(1)));
        written(verbosity, colour, &events)
    }

    const NOT_OK: &str = "\
changed     a  (crc32: expected 58585858, got 06060606)
missing     a
moved       a -> b
new         a
unreadable  a: open: Permission denied (os error 13)
unstable    a: size went from 1 to 2 bytes while it was read
unverified  a: recorded as not hashed; 'multisum update' hashes what can be read now
";

    #[test]
    fn normally_only_what_is_not_ok_is_shown() {
        let expected = format!("{NOT_OK}a:12: not a checksum line\n");
        assert_eq!(everything(Verbosity::Normal, Colour::Never), expected);
        assert_eq!(everything(Verbosity::Quiet, Colour::Never), expected);
    }

    #[test]
    fn verbose_adds_ok_and_skipped_and_status_shows_nothing() {
        let all = format!(
            "ok          a\n{NOT_OK}unread      a\nhashed      a\nskipped     a  (named pipe)\na:12: not a checksum line\n"
        );
        assert_eq!(everything(Verbosity::Verbose, Colour::Never), all);
        assert_eq!(everything(Verbosity::Status, Colour::Never), "");
    }

    #[test]
    fn colour_wraps_the_word_and_leaves_the_columns_alone() {
        let coloured = everything(Verbosity::Verbose, Colour::Always);
        let lines: Vec<&str> = coloured.lines().collect();
        assert_eq!(lines[0], "\x1b[32mok\x1b[0m          a");
        assert_eq!(lines[2], "\x1b[31mmissing\x1b[0m     a");
        assert_eq!(lines[3], "\x1b[33mmoved\x1b[0m       a -> b");
        assert_eq!(lines[11], "a:12: not a checksum line");
        let plain = everything(Verbosity::Verbose, Colour::Never);
        let bare = ["\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"]
            .iter()
            .fold(coloured.clone(), |text, code| text.replace(code, ""));
        assert_eq!(bare, plain);
    }

    #[test]
    fn a_comparison_of_two_sides_has_words_of_its_own() {
        let a = name("a");
        let mut out = Vec::new();
        let report = TextReport::new(&mut out, io::sink(), Verbosity::Verbose, Colour::Never);
        let mut report = report.for_command(Command::Diff);
        for verdict in [
            Verdict::Ok { size: 1 },
            Verdict::Missing,
            Verdict::New,
            samples::changed(1),
        ] {
            let (name, verdict) = (&a, &verdict);
            report.event(&Event::Verdict { name, verdict }).unwrap();
        }
        let expected = "unchanged   a\nremoved     a\nadded       a\n\
                        changed     a  (crc32: 58585858 became 06060606)\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn every_differing_digest_is_shown_in_full() {
        let verdict = Verdict::Changed {
            differences: vec![
                samples::difference(Algorithm::Sha256),
                samples::difference(Algorithm::Md5),
            ],
            size: 0,
        };
        let event = Event::Verdict {
            name: &name("a/b.jpg"),
            verdict: &verdict,
        };
        assert_eq!(
            written(Verbosity::Normal, Colour::Never, &[event]),
            format!(
                "changed     a/b.jpg  (sha256: expected {}, got {}; md5: expected {}, got {})\n",
                "58".repeat(32),
                "06".repeat(32),
                "58".repeat(16),
                "06".repeat(16)
            )
        );
    }

    #[test]
    fn hostile_names_and_messages_stay_on_one_line_of_harmless_characters() {
        let hostile = RelPath::from_bytes(*b"x\n\x1b[2J\xe2\x80\xae\x9b\\\xff");
        let shown = r"x\n\u{1b}[2J\u{202e}\x9b\\\xff";
        let message = io::Error::other("loop at \x1b]0;x\x07\n\u{2066}c:\\d");
        let unreadable = Verdict::Unreadable(FileError::new(Operation::List, "/", message));
        let moved = Verdict::Moved {
            to: hostile.clone(),
        };
        let events = [
            Event::Verdict {
                name: &hostile,
                verdict: &moved,
            },
            Event::Verdict {
                name: &hostile,
                verdict: &unreadable,
            },
            Event::Line {
                manifest: &hostile,
                line: u64::MAX,
                reason: &Malformed::UnknownTag(b"\x1b\\\xff".to_vec()),
            },
        ];
        assert_eq!(
            written(Verbosity::Normal, Colour::Never, &events),
            format!(
                "moved       {shown} -> {shown}\n\
                 unreadable  {shown}: list: loop at \\u{{1b}}]0;x\\u{{7}}\\n\\u{{2066}}c:\\d\n\
                 {shown}:18446744073709551615: unknown algorithm '\\u{{1b}}\\\\\\xff'\n"
            )
        );
    }

    #[test]
    fn a_failing_writer_is_not_swallowed() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut report = TextReport::new(Full, io::sink(), Verbosity::Normal, Colour::Never);
        let event = Event::Verdict {
            name: &name("a"),
            verdict: &Verdict::Missing,
        };
        let error = report.event(&event).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
