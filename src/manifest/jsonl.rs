//! The native manifest: JSON Lines that say of themselves whether they are complete.
//!
//! The first line says how the tree was walked, one line an entry follows, and the last line counts
//! them and holds the SHA-256 of all lines above, line feeds included.

use std::fmt::{self, Debug, Formatter};

use super::decoder::{Context, Grammar, Records};
use super::detect::Sample;
use super::encoder::{Encoder, Setup};
use super::evidence::AlgorithmEvidence;
use super::json_entry::{
    content, entry_into, gap_into, has_keys_of_entry, named_into, unknown_field,
};
use super::json_text::{Object, Outline, Value, bad, name, name_of_bytes, text_into};
use super::writer::{Column, EntryError, WriterError};
use super::{Claim, ClaimedDigest, Content, Entry, GapKind, Header, Malformed, Remark, Scope};
use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::hasher::MultiHasher;
use crate::hex;
use crate::relpath::RelPath;
use crate::timestamp::Modified;

const VERSION: u64 = 1;

pub(super) fn begins(sample: Sample<'_>) -> bool {
    Outline::of(sample.bytes).is_some_and(|outline| {
        let is_native = outline.has("multisum") || has_keys_of_entry(outline.keys());
        is_native && !outline.in_array
    })
}

/// What the closing record counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    files: u64,
    bytes: u64,
    gaps: u64,
}

/// The digest of all lines so far.
struct Seal {
    hasher: MultiHasher,
    /// Lines that are still to be hashed: many at once, which is faster than one by one.
    pending: Vec<u8>,
}

const MOST_PENDING_BYTES: usize = 32 << 10;

impl Seal {
    fn new() -> Self {
        Self {
            hasher: MultiHasher::new(&[Algorithm::Sha256]),
            pending: Vec::new(),
        }
    }

    /// Takes a line without its end. A carriage return before it does not count, so that a manifest
    /// survives an editor's or a transfer's line ends.
    fn line(&mut self, text: &[u8]) {
        self.pending.extend_from_slice(text);
        self.pending.push(b'\n');
        if self.pending.len() >= MOST_PENDING_BYTES {
            self.hash_pending();
        }
    }

    fn hash_pending(&mut self) {
        self.hasher.update(&self.pending);
        self.pending.clear();
    }

    fn digest(&mut self) -> Option<Digest> {
        self.hash_pending();
        self.hasher.finish().pop()
    }
}

impl Debug for Seal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Seal")
    }
}

pub(super) fn grammar(context: &Context) -> Box<dyn Grammar> {
    Box::new(Parser {
        algorithms: context.algorithms,
        announced: Vec::new(),
        announced_unknown: Vec::new(),
        counts: Counts::default(),
        seal: Seal::new(),
        begun: false,
        closed: false,
    })
}

#[derive(Debug)]
struct Parser {
    algorithms: AlgorithmEvidence,
    /// What the header says that every entry has.
    announced: Vec<Algorithm>,
    /// The same of algorithms that this program does not compute.
    announced_unknown: Vec<String>,
    counts: Counts,
    seal: Seal,
    begun: bool,
    closed: bool,
}

impl Grammar for Parser {
    fn line(&mut self, number: u64, text: &[u8], records: &mut Records) {
        if self.closed {
            let reason = altered("text after the closing record");
            records.push(number, Content::Malformed(reason));
            return;
        }
        if !text.iter().all(u8::is_ascii_whitespace) {
            let content = self.record(number, text, records);
            let content = content.unwrap_or_else(|reason| Some(Content::Malformed(reason)));
            if let Some(content) = content {
                records.push(number, content);
            }
        }
        self.seal.line(text);
    }

    /// Whoever cuts a manifest anywhere is found out, also right before its last byte.
    fn ends_every_line(&self) -> bool {
        self.closed
    }

    fn end(&mut self, number: u64, records: &mut Records) {
        if !self.closed {
            let reason = Malformed::Truncated("it has no closing record");
            records.push(number.max(1), Content::Malformed(reason));
        }
    }
}

impl Parser {
    /// What stands in a line; `None` for a closing record that is right.
    fn record(
        &mut self,
        number: u64,
        text: &[u8],
        records: &mut Records,
    ) -> Result<Option<Content>, Malformed> {
        let value = Value::parse(text)?;
        let object = value.as_object().ok_or(Malformed::NoShape)?;
        if let Some(version) = object.get("multisum") {
            return self.header(number, version, object, records).map(Some);
        }
        if !self.begun {
            self.begun = true;
            let reason = altered("its first line is missing");
            records.push(number, Content::Malformed(reason));
        }
        if object.get("files").is_some() && object.get("path").is_none() {
            return self.closing(object).map(|()| None);
        }
        self.entry(object).map(Some)
    }

    fn header(
        &mut self,
        number: u64,
        version: &Value<'_>,
        object: &Object<'_>,
        records: &mut Records,
    ) -> Result<Content, Malformed> {
        if self.begun {
            return Err(altered("another manifest begins here"));
        }
        self.begun = true;
        if *version != Value::Unsigned(VERSION) {
            return Err(Malformed::Notation {
                notation: "native manifest",
                reason: format!(
                    "version {} is not known",
                    String::from_utf8_lossy(&version.shown())
                ),
            });
        }
        let mut unknown = Vec::new();
        let header = header(object, |word| {
            let remark = format!("algorithm {word:?} is not known");
            records.remark(number, Remark::Ignored(remark));
            unknown.push(word.to_owned());
        })?;
        self.announced_unknown = unknown;
        self.announced.clone_from(&header.algorithms);
        Ok(Content::Header(Box::new(header)))
    }

    fn entry(&mut self, object: &Object<'_>) -> Result<Content, Malformed> {
        let content = content(object, &self.algorithms)?;
        match &content {
            Content::Claim(claim) => {
                self.counts.files += 1;
                self.counts.bytes = self.counts.bytes.saturating_add(claim.size.unwrap_or(0));
                self.check_announced(claim)?;
            }
            _ => self.counts.gaps += 1,
        }
        Ok(content)
    }

    fn check_announced(&self, claim: &Claim) -> Result<(), Malformed> {
        let has = |algorithm| {
            let of = |digest: &ClaimedDigest| match digest {
                ClaimedDigest::Known(digest) => digest.algorithm() == algorithm,
                _ => false,
            };
            claim.digests.iter().any(of)
        };
        let wanted = self.announced.iter().filter(|algorithm| {
            let asked = self.algorithms.asked;
            asked.is_none_or(|asked| asked == **algorithm)
        });
        if let Some(missing) = wanted.copied().find(|algorithm| !has(*algorithm)) {
            return Err(Malformed::Rule(format!("no {missing} digest")));
        }
        let has_unknown = |word: &str| {
            let of = |digest: &ClaimedDigest| match digest {
                ClaimedDigest::Unsupported(name) => name.eq_ignore_ascii_case(word),
                _ => false,
            };
            claim.digests.iter().any(of)
        };
        let mut unknown = self.announced_unknown.iter();
        match unknown.find(|word| self.algorithms.asked.is_none() && !has_unknown(word)) {
            Some(missing) => Err(Malformed::Rule(format!("no {missing} digest"))),
            None => Ok(()),
        }
    }

    fn closing(&mut self, object: &Object<'_>) -> Result<(), Malformed> {
        self.closed = true;
        let mut said = Counts::default();
        let mut digest = None;
        for (key, value) in &object.0 {
            match (&**key, value) {
                ("files", Value::Unsigned(count)) => said.files = *count,
                ("bytes", Value::Unsigned(count)) => said.bytes = *count,
                ("gaps", Value::Unsigned(count)) => said.gaps = *count,
                // Written in one way only: another letter is an alteration.
                ("sha256", Value::Text(digits)) if !has_capitals(digits) => {
                    digest = hex::decode(digits.as_bytes());
                }
                _ => return Err(altered(&format!("its closing record has a bad {key:?}"))),
            }
        }
        if said != self.counts {
            return Err(altered(&difference(said, self.counts)));
        }
        let actual = self.seal.digest();
        if actual.as_ref().map(Digest::as_bytes) != digest.as_deref() {
            return Err(altered("its lines are not those that it was closed with"));
        }
        Ok(())
    }
}

fn has_capitals(digits: &str) -> bool {
    digits.bytes().any(|digit| digit.is_ascii_uppercase())
}

fn altered(how: &str) -> Malformed {
    Malformed::Altered(how.to_owned())
}

fn difference(said: Counts, found: Counts) -> String {
    let counts = [
        ("files", said.files, found.files),
        ("bytes", said.bytes, found.bytes),
        ("gaps", said.gaps, found.gaps),
    ];
    let differing = counts.iter().filter(|(_, said, found)| said != found);
    let told: Vec<String> = differing
        .map(|(what, said, found)| format!("{found} {what} and not {said}"))
        .collect();
    format!("it lists {}, as it says", told.join(", "))
}

/// Reads the first line. `unknown` is told of algorithms that this program does not compute.
fn header(object: &Object<'_>, mut unknown: impl FnMut(&str)) -> Result<Header, Malformed> {
    let mut header = Header::default();
    for (key, value) in &object.0 {
        match (&**key, value) {
            ("multisum", _) => {}
            ("algorithms", Value::List(words)) => {
                for word in texts("algorithms", words)? {
                    match word.parse() {
                        Ok(algorithm) => header.algorithms.push(algorithm),
                        Err(_) => unknown(word),
                    }
                }
            }
            ("base", Value::Text(text)) => header.base = Some(name(text)?),
            ("base_b64", Value::Text(text)) => header.base = Some(from_base64(text, value)?),
            ("paths", Value::List(paths)) => {
                header.paths = self::paths(paths)?;
            }
            ("scope", Value::Object(object)) => header.scope = scope(object)?,
            ("created", Value::Text(text)) => {
                let created = Modified::parse(text).ok_or_else(|| bad("created", value))?;
                header.created = Some(created.time);
            }
            ("algorithms", other) => return Err(bad("algorithms", other)),
            ("base" | "base_b64", other) => return Err(bad("base", other)),
            ("paths", other) => return Err(bad("paths", other)),
            ("scope", other) => return Err(bad("scope", other)),
            ("created", other) => return Err(bad("created", other)),
            (key, _) => return Err(unknown_field(key)),
        }
    }
    Ok(header)
}

fn from_base64(text: &str, value: &Value<'_>) -> Result<RelPath, Malformed> {
    let bytes = hex::decode_base64(text.as_bytes()).ok_or_else(|| bad("base64", value))?;
    name_of_bytes(bytes)
}

fn paths(values: &[Value<'_>]) -> Result<Vec<RelPath>, Malformed> {
    values.iter().map(path).collect()
}

/// One of the paths: a text, or an object for one that is not UTF-8.
fn path(value: &Value<'_>) -> Result<RelPath, Malformed> {
    match value {
        Value::Text(text) => name(text),
        Value::Object(Object(members)) => match &members[..] {
            [(key, Value::Text(text))] if key == "path_b64" => from_base64(text, value),
            _ => Err(bad("path", value)),
        },
        other => Err(bad("path", other)),
    }
}

fn texts<'v>(field: &'static str, values: &'v [Value<'_>]) -> Result<Vec<&'v str>, Malformed> {
    values
        .iter()
        .map(|value| value.as_text().ok_or_else(|| bad(field, value)))
        .collect()
}

fn scope(object: &Object<'_>) -> Result<Scope, Malformed> {
    let mut scope = Scope::default();
    let globs = |field, values: &[Value<'_>]| -> Result<Vec<String>, Malformed> {
        Ok(texts(field, values)?
            .into_iter()
            .map(str::to_owned)
            .collect())
    };
    for (key, value) in &object.0 {
        match (&**key, value) {
            ("include", Value::List(values)) => scope.include = globs("include", values)?,
            ("exclude", Value::List(values)) => scope.exclude = globs("exclude", values)?,
            ("links", Value::Text(text)) if text == LINKS[0] => scope.follow_links = false,
            ("links", Value::Text(text)) if text == LINKS[1] => scope.follow_links = true,
            ("one_file_system", Value::Bool(stays)) => scope.one_file_system = *stays,
            ("max_depth", Value::Unsigned(depth)) => scope.max_depth = Some(*depth),
            ("slice", Value::Text(text)) => {
                let slice = text.parse().map_err(|_| bad("slice", value))?;
                scope.slice = Some(slice);
            }
            ("left_out", Value::List(names)) => scope.left_out = paths(names)?,
            (
                "include" | "exclude" | "links" | "one_file_system" | "max_depth" | "slice"
                | "left_out",
                other,
            ) => return Err(bad("scope", other)),
            (key, _) => return Err(unknown_field(key)),
        }
    }
    Ok(scope)
}

/// Whether links are followed: no, yes.
const LINKS: [&str; 2] = ["skip", "follow"];

pub(super) fn encoder(setup: Setup) -> Result<Box<dyn Encoder>, WriterError> {
    Ok(Box::new(JsonLines {
        columns: setup.columns,
        header: setup.header,
        counts: Counts::default(),
        seal: Seal::new(),
    }))
}

#[derive(Debug)]
struct JsonLines {
    columns: Vec<Column>,
    header: Header,
    counts: Counts,
    seal: Seal,
}

impl JsonLines {
    /// Ends the line that begins at `start`.
    fn end_line(&mut self, start: usize, out: &mut Vec<u8>) {
        self.seal.line(&out[start..]);
        out.push(b'\n');
    }
}

impl Encoder for JsonLines {
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<(), EntryError> {
        // It may be asked to begin again if the first entry could not be written.
        (self.counts, self.seal) = (Counts::default(), Seal::new());
        let start = out.len();
        header_into(&self.header, &self.columns, out);
        self.end_line(start, out);
        Ok(())
    }

    fn entry(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) -> Result<(), EntryError> {
        let start = out.len();
        entry_into(entry, &self.columns, out)?;
        self.counts.files += 1;
        self.counts.bytes = self.counts.bytes.saturating_add(entry.size.unwrap_or(0));
        self.end_line(start, out);
        Ok(())
    }

    fn gap(&mut self, name: &RelPath, kind: GapKind, out: &mut Vec<u8>) -> Result<(), EntryError> {
        let start = out.len();
        gap_into(name, kind, out);
        self.counts.gaps += 1;
        self.end_line(start, out);
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), EntryError> {
        let Counts { files, bytes, gaps } = self.counts;
        let counted =
            format!("{{\"files\":{files},\"bytes\":{bytes},\"gaps\":{gaps},\"sha256\":\"");
        out.extend_from_slice(counted.as_bytes());
        if let Some(digest) = self.seal.digest() {
            hex::encode_into(digest.as_bytes(), out);
        }
        out.extend_from_slice(b"\"}\n");
        Ok(())
    }
}

fn header_into(header: &Header, columns: &[Column], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{{\"multisum\":{VERSION},\"algorithms\":").as_bytes());
    list_into(columns, out, |column, out| {
        text_into(&column.algorithm.to_string(), out);
    });
    if let Some(base) = &header.base {
        out.push(b',');
        named_into("base", base, out);
    }
    out.extend_from_slice(b",\"paths\":");
    list_into(&header.paths, out, path_into);
    out.extend_from_slice(b",\"scope\":");
    scope_into(&header.scope, out);
    if let Some(created) = header.created {
        out.extend_from_slice(b",\"created\":");
        text_into(&created.to_seconds(), out);
    }
    out.push(b'}');
}

fn path_into(path: &RelPath, out: &mut Vec<u8>) {
    match std::str::from_utf8(path.as_bytes()) {
        Ok(text) => text_into(text, out),
        Err(_) => {
            out.push(b'{');
            named_into("path", path, out);
            out.push(b'}');
        }
    }
}

fn scope_into(scope: &Scope, out: &mut Vec<u8>) {
    let glob = |glob: &String, out: &mut Vec<u8>| text_into(glob, out);
    out.push(b'{');
    if !scope.include.is_empty() {
        out.extend_from_slice(b"\"include\":");
        list_into(&scope.include, out, glob);
        out.push(b',');
    }
    out.extend_from_slice(b"\"exclude\":");
    list_into(&scope.exclude, out, glob);
    let links = LINKS[usize::from(scope.follow_links)];
    let rest = format!(
        ",\"links\":\"{links}\",\"one_file_system\":{}",
        scope.one_file_system
    );
    out.extend_from_slice(rest.as_bytes());
    if let Some(depth) = scope.max_depth {
        out.extend_from_slice(format!(",\"max_depth\":{depth}").as_bytes());
    }
    if let Some(slice) = scope.slice {
        out.extend_from_slice(format!(",\"slice\":\"{slice}\"").as_bytes());
    }
    if !scope.left_out.is_empty() {
        out.extend_from_slice(b",\"left_out\":");
        list_into(&scope.left_out, out, path_into);
    }
    out.push(b'}');
}

fn list_into<T>(items: &[T], out: &mut Vec<u8>, item_into: impl Fn(&T, &mut Vec<u8>)) {
    out.push(b'[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        item_into(item, out);
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::manifest::Format;
    use crate::manifest::json_entry::testing::{
        Item, any_algorithms, any_items, any_name, any_text, contents, expected, shown, write,
    };
    use crate::slice::Slice;
    use crate::timestamp::Timestamp;

    fn item(name: &[u8]) -> Item {
        Item::File {
            name: RelPath::from_bytes(name),
            seed: 7,
            size: Some(3),
            modified: Timestamp::new(1_767_323_045, 123_456_789).map(Modified::exactly),
        }
    }

    fn manifest(items: &[Item]) -> String {
        let header = Header {
            base: Some(RelPath::from(".")),
            created: Timestamp::new(1_767_323_045, 0),
            paths: vec![RelPath::from("photos"), RelPath::from_bytes(*b"\xff")],
            scope: Scope {
                exclude: vec!["*.tmp".to_owned()],
                ..Scope::default()
            },
            ..Header::default()
        };
        String::from_utf8(write(Format::Jsonl, &header, &[Algorithm::Crc32], items)).unwrap()
    }

    fn three() -> String {
        let gap = Item::Gap(RelPath::from("d/secret"), GapKind::Unreadable);
        manifest(&[item(b"a/\"b\n"), item(b"f\xff"), gap])
    }

    #[test]
    fn a_manifest_is_spelled_as_it_is_documented() {
        let text = three();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[..4],
            [
                r#"{"multisum":1,"algorithms":["crc32"],"base":".","paths":["photos",{"path_b64":"/w=="}],"scope":{"exclude":["*.tmp"],"links":"skip","one_file_system":false},"created":"2026-01-02T03:04:05Z"}"#,
                r#"{"path":"a/\"b\n","size":3,"mtime":"2026-01-02T03:04:05.123456789Z","crc32":"07070707"}"#,
                r#"{"path_b64":"Zv8=","size":3,"mtime":"2026-01-02T03:04:05.123456789Z","crc32":"07070707"}"#,
                r#"{"path":"d/secret","error":"unreadable"}"#,
            ]
        );
        assert!(lines[4].starts_with(r#"{"files":2,"bytes":6,"gaps":1,"sha256":""#));
        assert_eq!(lines.len(), 5);
        assert_eq!(
            shown(&text, None),
            ["2:a/\"b\\n", "3:f\\xff", "4 gap d/secret"]
        );
        assert_eq!(shown(&text.replace('\n', "\r\n"), None).len(), 3);
    }

    #[test]
    fn an_incomplete_manifest_is_said_to_be_incomplete_wherever_it_is_cut() {
        let text = three();
        for cut in 1..text.len() - 1 {
            let cut = text.get(..cut).unwrap();
            let found = shown(cut, Some(Format::Jsonl));
            let incomplete = "the manifest is incomplete: it has no closing record";
            assert!(
                found.iter().any(|record| record.ends_with(incomplete)),
                "{cut}: {found:?}"
            );
        }
        assert_eq!(shown("", Some(Format::Jsonl)).len(), 1);
    }

    #[test]
    fn every_change_of_a_line_is_found() {
        let text = three();
        let closing_len = text.lines().last().unwrap().len() + 1;
        for at in 0..text.len() - closing_len {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
            let spoiled = contents(&changed, Some(Format::Jsonl)).into_iter().any(|content| {
                matches!(content, Content::Malformed(reason) if reason.spoils_the_manifest())
            });
            assert!(spoiled, "{}", String::from_utf8_lossy(&changed));
        }
    }

    #[test]
    fn lines_that_were_added_or_taken_away_are_named() {
        let text = three();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let last = |changed: &[&str]| shown(&changed.concat(), None).pop().unwrap();
        let altered = |line: u64, how: &str| format!("{line}!the manifest was altered: {how}");
        let count = "it lists 1 files and not 2, 3 bytes and not 6, as it says";
        assert_eq!(
            last(&[lines[0], lines[1], lines[3], lines[4]]),
            altered(4, count)
        );
        let order = "its lines are not those that it was closed with";
        assert_eq!(
            last(&[lines[0], lines[2], lines[1], lines[3], lines[4]]),
            altered(5, order)
        );
        let blank = [lines[0], "\n", lines[1], lines[2], lines[3], lines[4]];
        assert_eq!(last(&blank), altered(6, order));
        let after = "text after the closing record";
        assert_eq!(last(&[&text, "\n"]), altered(6, after));
        assert_eq!(last(&[&text, &text]), altered(10, after));
        let twice = [lines[0], lines[0], lines[4]];
        assert!(shown(&twice.concat(), None)[0].ends_with("another manifest begins here"));
        let beheaded = shown(&lines[1..].concat(), None);
        assert_eq!(beheaded[0], altered(1, "its first line is missing"));
    }

    #[test]
    fn what_is_not_understood_is_never_skipped() {
        let line = |line: &str| {
            let head = "{\"multisum\":1,\"algorithms\":[],\"paths\":[],\"scope\":{}}\n";
            let found = shown(&format!("{head}{line}\n"), None);
            found[0].clone()
        };
        for (entry, message) in [
            (r#"{"path":"a","size":-1}"#, "2!bad size: '-1'"),
            (r#"{"path":"a","size":"1"}"#, "2!bad size: '1'"),
            (r#"{"path":"a","mtime":"today"}"#, "2!bad mtime: 'today'"),
            (r#"{"path":"a","kind":"x"}"#, "2!unknown field \"kind\""),
            (
                r#"{"path":"a","path_b64":"YQ=="}"#,
                "2!two names in one entry",
            ),
            (
                r#"{"path":"a","path":"b"}"#,
                "2!not valid JSON: the key \"path\" stands twice",
            ),
            (r#"{"path_b64":"YR=="}"#, "2!bad path_b64: 'YR=='"),
            (r#"{"path":""}"#, "2!the name is empty"),
            (r#"{"path":"\u0000"}"#, "2!NUL byte in the name"),
            (r#"{"size":1}"#, "2!no path"),
            (
                r#"{"path":"a","crc32":"0707070"}"#,
                "2!not a crc32 digest, which has 8 hexadecimal digits",
            ),
            (
                r#"{"path":"a","crc32":"07070707","CRC-32":"07070707"}"#,
                "2!two CRC-32 digests in one entry",
            ),
            (
                r#"{"path":"a","error":"x","crc32":"07070707"}"#,
                "2!an error and a digest in one entry",
            ),
            ("[1]", "2!not a checksum line"),
            ("{", "2!not valid JSON: EOF while parsing an object"),
            (r#"{"path":"a","gost":"0707070707"}"#, "2:a"),
        ] {
            assert_eq!(line(entry), message, "{entry}");
        }
    }

    #[test]
    fn an_entry_that_lacks_an_announced_digest_is_refused() {
        let text = three().replace(r#","crc32":"07070707""#, "");
        assert_eq!(shown(&text, None)[0], "2!no crc32 digest");
    }

    #[test]
    fn an_entry_that_lacks_an_announced_digest_of_an_unknown_algorithm_is_refused() {
        let text = three().replace(r#"["crc32"]"#, r#"["crc32","gost"]"#);
        let found = shown(&text, None);
        assert_eq!(found[0], "1?algorithm \"gost\" is not known");
        assert_eq!(found[1], "2!no gost digest");
        let text = text.replace("07070707\"", "07070707\",\"gost\":\"0707070707\"");
        assert_eq!(shown(&text, None)[1], "2:a/\"b\\n");
    }

    #[test]
    fn lists_of_other_formats_are_not_taken_for_it() {
        for text in [
            "9dd4e461268c8034f5c8564e155c67a6  {\"path\":1,\"size\":2}\n",
            "[{\"path\":\"a\",\"size\":1}]",
            "{\"Path\":\"a\",\"Hash\":\"\"}",
            "{ hello }",
            "{\"path\":\"a\"}",
        ] {
            let sample = Sample {
                bytes: text.as_bytes(),
                complete: true,
                list_name: None,
            };
            assert!(!begins(sample), "{text}");
        }
    }

    fn any_header() -> impl Strategy<Value = Header> {
        let globs = || prop::collection::vec("[^\\x00]{0,5}", 0..3);
        let scope = (
            globs(),
            globs(),
            any::<bool>(),
            any::<bool>(),
            any::<Option<u64>>(),
            prop::option::of(1_u32..100),
            prop::collection::vec(any_name(), 0..2),
        );
        let scope = scope.prop_map(
            |(include, exclude, follow_links, one_file_system, max_depth, slice, left_out)| Scope {
                include,
                exclude,
                follow_links,
                one_file_system,
                max_depth,
                slice: slice.and_then(|index| Slice::new(index, 100).ok()),
                left_out,
            },
        );
        let created = prop::option::of(-60_000_000_000_i64..200_000_000_000);
        let paths = prop::collection::vec(any_name(), 0..3);
        (prop::option::of(any_name()), created, paths, scope).prop_map(
            |(base, created, paths, scope)| Header {
                base,
                created: created.and_then(|seconds| Timestamp::new(seconds, 0)),
                algorithms: Vec::new(),
                paths,
                scope,
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            header in any_header(),
            items in any_items(),
            algorithms in any_algorithms(),
            asked in any::<bool>(),
        ) {
            let text = write(Format::Jsonl, &header, &algorithms, &items);
            let said = Header { algorithms: algorithms.clone(), ..header };
            let mut expected = expected(&items, &algorithms);
            expected.insert(0, Content::Header(Box::new(said)));
            prop_assert_eq!(contents(&text, asked.then_some(Format::Jsonl)), expected);
        }

        #[test]
        fn anything_is_read_to_its_end(text in any_text(&[
            "{\"multisum\":1", "}", "{", "[", "]", ",", "\"path\":\"a\"", ":", "\n",
            "{\"path\":\"a\",\"size\":1}\n", "{\"files\":1,\"bytes\":1,\"gaps\":0}\n", "\"",
        ])) {
            prop_assert!(!contents(&text, Some(Format::Jsonl)).is_empty());
        }
    }
}
