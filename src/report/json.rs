//! The report for programs: JSON Lines.

use std::io::{self, Write};

use serde_json::Value;

use super::{Command, Report, Summary};
use crate::event::{Difference, Event, OutcomeWord, Unverified, Verdict};
use crate::hex;
use crate::quote::acts_on_a_terminal;
use crate::relpath::RelPath;

/// Writes one JSON object a line.
///
/// Every entry and every new file gives one object, also those that are ok, with `path` and
/// `outcome` and, where they apply, `to` (of a move), `algorithm`, `expected`, `actual`, `size` (in
/// bytes) and `error`. If several digests differ, the first stands in the three flat fields and all
/// of them in `differences`. A name that is not UTF-8 stands as base64 (RFC 4648, section 4) in
/// `path_b64` or `to_b64` instead.
///
/// ```text
/// {"path":"a/b.jpg","outcome":"changed","size":3,"algorithm":"md5","expected":"…","actual":"…"}
/// {"path_b64":"Zv9v","outcome":"moved","to":"b"}
/// {"manifest":"MD5SUMS","line":12,"outcome":"unverified","error":"not a checksum line"}
/// {"path":"a/pipe","skipped":"named pipe"}
/// {"summary":{"command":"verify","ok":1,…,"exit_code":2}}
/// ```
///
/// The summary has every count, also those that are zero, `bytes` that were read, `seconds`, the
/// `base` (and all `bases` if there are several; of a comparison the two sides, `old` and `new`), the
/// entries without an outcome if there are any (`ignored`, `not_checked`), the files that `update` read
/// (`read`), those that an earlier run had read (`from_journal`), `algorithms`, `warnings` in words, and
/// `exit_code`.
///
/// A malformed line has the outcome `unverified`, and the summary counts it under `malformed`. What
/// was skipped has no outcome. `hash` gives `hashed` as the outcome of a file that it has read,
/// with its `digests` by algorithm, since nothing was there to be compared.
///
/// Characters that could act on a terminal are written as `\uXXXX`, which any parser turns back.
/// Each line reaches the writer in one call of `write_all`.
#[derive(Debug)]
pub struct JsonReport<W> {
    out: W,
    command: Command,
}

impl<W: Write> JsonReport<W> {
    /// Reports to `out`.
    pub fn new(out: W) -> Self {
        Self {
            out,
            command: Command::Verify,
        }
    }

    /// Words outcomes as that command does; without this, as `verify`.
    #[must_use]
    pub fn for_command(mut self, command: Command) -> Self {
        self.command = command;
        self
    }
}

impl<W: Write> Report for JsonReport<W> {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        let object = match event {
            Event::Hashed { name, hashed } => {
                let digests = hashed.digests.iter().fold(Object::new(), |all, digest| {
                    all.field(&digest.algorithm().to_string(), digest.to_string())
                });
                Object::new()
                    .name("path", name)
                    .field("outcome", "hashed")
                    .field("size", hashed.size)
                    .object("digests", digests)
            }
            Event::Verdict { name, verdict } => of_verdict(self.command, name, verdict),
            Event::Line {
                manifest,
                line,
                reason,
            } => Object::new()
                .name("manifest", manifest)
                .field("line", *line)
                .field("outcome", OutcomeWord::Unverified.as_str())
                .field("error", reason.to_string()),
            Event::Skipped { name, kind } => Object::new()
                .name("path", name)
                .field("skipped", kind.to_string()),
            // What was taken for what is in the summary, and the notes are among its warnings.
            Event::Taken { .. } | Event::Note(_) => return Ok(()),
        };
        object.write_line(&mut self.out)
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        Object::new()
            .object("summary", of_summary(summary))
            .write_line(&mut self.out)?;
        self.out.flush()
    }
}

fn of_verdict(command: Command, name: &RelPath, verdict: &Verdict) -> Object {
    let object = Object::new()
        .name("path", name)
        .field("outcome", command.word(verdict.word()));
    let sized = |object: Object, size: u64| match command {
        // Of two sizes none is that of the name.
        Command::Diff => object,
        _ => object.field("size", size),
    };
    match verdict {
        Verdict::Present | Verdict::Missing | Verdict::New | Verdict::Unread => object,
        Verdict::Ok { size } => sized(object, *size),
        Verdict::Changed { differences, size } | Verdict::Corrupt { differences, size } => {
            with_differences(sized(object, *size), differences)
        }
        Verdict::Moved { to } => object.name("to", to),
        Verdict::Unreadable(error) => object.field("error", error.to_string()),
        Verdict::Unstable(how) => object.field("error", how.to_string()),
        Verdict::Unverified(why) => {
            let object = match why {
                Unverified::Contradiction(algorithm) => {
                    object.field("algorithm", algorithm.to_string())
                }
                _ => object,
            };
            object.field("error", why.to_string())
        }
    }
}

fn with_differences(mut object: Object, differences: &[Difference]) -> Object {
    if let [first, ..] = differences {
        object = of_difference(object, first);
    }
    if differences.len() > 1 {
        let all = differences
            .iter()
            .map(|difference| of_difference(Object::new(), difference));
        object = object.array("differences", all);
    }
    object
}

fn of_difference(object: Object, difference: &Difference) -> Object {
    let (what, expected, actual) = difference.parts();
    let object = match difference {
        Difference::Digest { .. } => object.field("algorithm", what),
        _ => object.field("field", what),
    };
    object.field("expected", expected).field("actual", actual)
}

fn of_summary(summary: &Summary) -> Object {
    let counts = &summary.counts;
    let mut object = Object::new().field("command", summary.command.as_str());
    for word in OutcomeWord::ALL {
        object = object.field(summary.command.word(word), counts.of(word));
    }
    object = object
        .field("hashed", counts.hashed())
        .field("skipped", counts.skipped())
        .field("malformed", counts.malformed())
        .field("bytes", summary.bytes())
        .field("seconds", seconds(summary.elapsed));
    if let Some((files, _)) = summary.read {
        object = object.field("read", files);
    }
    if !summary.manifests.is_empty() {
        let all = summary.manifests.iter().map(|(manifest, evidence)| {
            Object::new()
                .name("path", manifest)
                .field("format", evidence.format.to_string())
                .field("evidence", evidence.to_string())
        });
        object = object.array("manifests", all);
    }
    if let Some([old, new]) = &summary.sides {
        object = object.name("old", old).name("new", new);
    }
    if let [first, ..] = summary.bases.as_slice() {
        object = object.name("base", first);
    }
    if summary.bases.len() > 1 {
        let all = summary
            .bases
            .iter()
            .map(|base| Object::new().name("path", base));
        object = object.array("bases", all);
    }
    for (name, count) in [
        ("from_journal", summary.from_journal),
        ("ignored", summary.ignored),
        ("not_checked", summary.not_checked),
    ] {
        if count > 0 {
            object = object.field(name, count);
        }
    }
    object
        .field("algorithms", strings(&summary.algorithms))
        .field("warnings", summary.warnings())
        .field("exit_code", summary.exit_code)
}

fn strings(items: &[impl ToString]) -> Vec<String> {
    items.iter().map(ToString::to_string).collect()
}

/// A time as a number of seconds, to the millisecond.
pub(super) fn seconds(elapsed: std::time::Duration) -> f64 {
    (elapsed.as_secs_f64() * 1000.0).round() / 1000.0
}

/// A JSON object whose fields keep the order in which they were added.
#[derive(Debug)]
pub(super) struct Object {
    text: String,
}

impl Object {
    pub(super) fn new() -> Self {
        Self {
            text: String::from("{"),
        }
    }

    pub(super) fn field(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.key(key);
        self.text.push_str(&value.into().to_string());
        self
    }

    /// A name under `key` if it is UTF-8, else in base64 under `key_b64`.
    pub(super) fn name(self, key: &str, name: &RelPath) -> Self {
        match str::from_utf8(name.as_bytes()) {
            Ok(text) => self.field(key, text),
            Err(_) => self.field(&format!("{key}_b64"), hex::encode_base64(name.as_bytes())),
        }
    }

    pub(super) fn object(mut self, key: &str, value: Self) -> Self {
        self.key(key);
        self.text.push_str(&value.closed());
        self
    }

    fn array(mut self, key: &str, values: impl Iterator<Item = Self>) -> Self {
        self.key(key);
        let all: Vec<String> = values.map(Self::closed).collect();
        self.text.push('[');
        self.text.push_str(&all.join(","));
        self.text.push(']');
        self
    }

    fn key(&mut self, key: &str) {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        self.text.push_str(&Value::from(key).to_string());
        self.text.push(':');
    }

    fn closed(mut self) -> String {
        self.text.push('}');
        self.text
    }

    pub(super) fn write_line(self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        let mut line = harmless(self.closed());
        line.push('\n');
        out.write_all(line.as_bytes())
    }
}

/// Replaces characters that could act on a terminal by their JSON escapes.
///
/// The structure of JSON is ASCII, so that such a character can only be part of a string; the C0
/// controls are escaped already.
fn harmless(json: String) -> String {
    if json.is_ascii() && !json.contains('\x7f') {
        return json;
    }
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if acts_on_a_terminal(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::Counts;
    use super::super::samples::{self, name};
    use super::*;
    use crate::algorithm::Algorithm;
    use crate::event::Note;
    use crate::manifest::Malformed;
    use crate::walk::Special;
    use std::time::Duration;

    fn written(event: &Event<'_>) -> String {
        let mut out = Vec::new();
        JsonReport::new(&mut out).event(event).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn verdict(name: &RelPath, verdict: &Verdict) -> String {
        let line = written(&Event::Verdict { name, verdict });
        assert!(serde_json::from_str::<Value>(&line).unwrap().is_object());
        line
    }

    #[test]
    fn a_comparison_of_two_sides_has_words_of_its_own_and_no_size() {
        let mut out = Vec::new();
        let mut report = JsonReport::new(&mut out).for_command(Command::Diff);
        let (name, verdict) = (&name("a"), &Verdict::Ok { size: 1 });
        report.event(&Event::Verdict { name, verdict }).unwrap();
        let expected = "{\"path\":\"a\",\"outcome\":\"unchanged\"}\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn every_outcome_is_one_object_on_one_line() {
        let all: String = samples::verdicts()
            .iter()
            .map(|one| verdict(&name("a"), one))
            .collect();
        assert_eq!(
            all,
            r#"{"path":"a","outcome":"ok","size":3}
{"path":"a","outcome":"changed","size":4,"algorithm":"crc32","expected":"58585858","actual":"06060606"}
{"path":"a","outcome":"missing"}
{"path":"a","outcome":"moved","to":"b"}
{"path":"a","outcome":"new"}
{"path":"a","outcome":"unreadable","error":"open: Permission denied (os error 13)"}
{"path":"a","outcome":"unstable","error":"size went from 1 to 2 bytes while it was read"}
{"path":"a","outcome":"unverified","error":"recorded as not hashed; 'multisum update' hashes what can be read now"}
{"path":"a","outcome":"unread"}
"#
        );
    }

    #[test]
    fn several_differences_are_listed_and_the_first_is_flat() {
        let changed = Verdict::Changed {
            differences: vec![
                samples::difference(Algorithm::Crc32),
                samples::difference(Algorithm::Xxh32),
            ],
            size: 0,
        };
        let flat = r#""algorithm":"crc32","expected":"58585858","actual":"06060606""#;
        let second = flat.replace("crc32", "xxh32");
        assert_eq!(
            verdict(&name("a"), &changed),
            format!(
                "{{\"path\":\"a\",\"outcome\":\"changed\",\"size\":0,{flat},\
                 \"differences\":[{{{flat}}},{{{second}}}]}}\n"
            )
        );
    }

    #[test]
    fn a_contradiction_names_its_algorithm() {
        let why = Verdict::Unverified(Unverified::Contradiction(Algorithm::Md5));
        assert!(verdict(&name("a"), &why).contains(r#""algorithm":"md5","error":"contra"#));
    }

    #[test]
    fn names_that_are_not_utf8_go_through_base64_unchanged() {
        let raw = RelPath::from_bytes(*b"f\xffo");
        let moved = Verdict::Moved { to: raw.clone() };
        assert_eq!(
            verdict(&raw, &moved),
            "{\"path_b64\":\"Zv9v\",\"outcome\":\"moved\",\"to_b64\":\"Zv9v\"}\n"
        );
    }

    #[test]
    fn hostile_names_are_ascii_escapes_and_come_back_whole() {
        let hostile = "q\"\\/\n\x1b[2J\x7f\u{9b}\u{202e}\u{e0041}é";
        let line = verdict(&name(hostile), &Verdict::New);
        assert_eq!(
            line,
            "{\"path\":\"q\\\"\\\\/\\n\\u001b[2J\\u007f\\u009b\\u202e\\udb40\\udc41é\",\
             \"outcome\":\"new\"}\n"
        );
        let parsed: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(parsed["path"], hostile);
    }

    #[test]
    fn what_is_no_entry_has_its_own_shape() {
        let line = Event::Line {
            manifest: &name("MD5SUMS"),
            line: 12,
            reason: &Malformed::NoShape,
        };
        assert_eq!(
            written(&line),
            "{\"manifest\":\"MD5SUMS\",\"line\":12,\"outcome\":\"unverified\",\
             \"error\":\"not a checksum line\"}\n"
        );
        let skipped = Event::Skipped {
            name: &name("p"),
            kind: Special::Fifo,
        };
        assert_eq!(
            written(&skipped),
            "{\"path\":\"p\",\"skipped\":\"named pipe\"}\n"
        );
        assert_eq!(written(&Event::Note(&Note::OutsideBase(1))), "");
    }

    #[test]
    fn a_hashed_file_gives_all_its_digests_in_order() {
        let event = Event::Hashed {
            name: &name("a"),
            hashed: &samples::hashed(9),
        };
        assert_eq!(
            written(&event),
            "{\"path\":\"a\",\"outcome\":\"hashed\",\"size\":9,\
             \"digests\":{\"xxh64\":\"abababababababab\",\"crc32\":\"01010101\"}}\n"
        );
    }

    #[test]
    fn the_summary_holds_every_count_also_those_that_are_zero() {
        let mut counts = Counts::default();
        for verdict in &samples::verdicts() {
            counts.add(&Event::Verdict {
                name: &name("a"),
                verdict,
            });
        }
        let mut summary = Summary::new(Command::Verify, counts, Duration::from_micros(3_100_400));
        summary.bases = vec![name("/srv"), RelPath::from_bytes(*b"/\xff")];
        summary.algorithms = vec![Algorithm::Crc32];
        summary.notes = vec![Note::OutsideBase(2)];
        summary.exit_code = 2;
        let mut out = Vec::new();
        JsonReport::new(&mut out).finish(&summary).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"summary\":{\"command\":\"verify\",\"ok\":1,\"changed\":1,\"corrupt\":0,\
             \"missing\":1,\"moved\":1,\"new\":1,\"unreadable\":1,\"unstable\":1,\"unverified\":1,\
             \"unread\":1,\"hashed\":0,\"skipped\":0,\"malformed\":0,\"bytes\":7,\"seconds\":3.1,\
             \"base\":\"/srv\",\"bases\":[{\"path\":\"/srv\"},{\"path_b64\":\"L/8=\"}],\
             \"algorithms\":[\"crc32\"],\"warnings\":[\"not proof against tampering: \
             only crc32 was compared\",\"1 not read: size and time are as recorded\",\"2 listed names lie outside the base\"],\
             \"exit_code\":2}}\n"
        );
    }
}
