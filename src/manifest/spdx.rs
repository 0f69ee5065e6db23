//! SPDX bills of materials: version 2 as JSON and as tags with values, version 3 as JSON.
//!
//! Only files are taken; packages name no files here.

use super::decoder::{Context, Decoder, Grammar, Records, Text};
use super::detect::Sample;
use super::evidence::AlgorithmEvidence;
use super::json_text::{
    At, Choice, JsonDecoder, Object, Outline, Roots, Shape, Value, bad, by_line, name_of_bytes,
    skip_blanks,
};
use super::lines::trim_blanks;
use super::{Claim, Content, Malformed};

const FIRST_TAG: &[u8] = b"SPDXVersion:";

pub(super) fn begins(sample: Sample<'_>) -> bool {
    if let Some(outline) = Outline::of(sample.bytes) {
        let is_version_2 = outline.has("spdxVersion") || outline.has("SPDXID");
        let is_version_3 = outline.has("@context") && holds(sample.bytes, b"spdx.org/rdf/");
        return !outline.in_array && (is_version_2 || is_version_3);
    }
    let mut lines = sample
        .bytes
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"#"));
    first.is_some_and(|line| line.starts_with(FIRST_TAG))
}

pub(super) fn decoder<'r>(text: Text<'r>, context: Context) -> Box<dyn Decoder + 'r> {
    Box::new(Choice::new(text, context, choose))
}

fn choose<'r>(sample: &[u8], text: Text<'r>, context: &Context) -> Box<dyn Decoder + 'r> {
    let algorithms = context.algorithms;
    if skip_blanks(sample).starts_with(b"{") {
        Box::new(JsonDecoder::new(text, Roots::One, Json { algorithms }))
    } else {
        let tags = Tags {
            algorithms,
            open: None,
            in_text: false,
        };
        by_line(text, Box::new(tags))
    }
}

fn holds(text: &[u8], piece: &[u8]) -> bool {
    text.windows(piece.len()).any(|at| at == piece)
}

/// A file of this name, which starts at the root of what is described: `./a.txt`.
fn file(name: &[u8]) -> Result<Claim, Malformed> {
    let name = name.strip_prefix(b"./").unwrap_or(name);
    name_of_bytes(name.to_vec()).map(Claim::bare)
}

/// Adds a digest, of an algorithm as version 2 or 3 spells it.
fn add(
    claim: &mut Claim,
    word: &str,
    digits: &[u8],
    algorithms: &AlgorithmEvidence,
) -> Result<(), Malformed> {
    let word = match word {
        "blake2b256" => "blake2b-256",
        "blake2b384" => "blake2b-384",
        other => other,
    };
    match algorithms.named(word, digits)? {
        Some(digest) => claim.add_digest(digest),
        None => Ok(()),
    }
}

/// Whether an element of version 3 is a file: `software_File`, also as a whole IRI and among other
/// types. One that has digests must say what it is.
fn is_file(object: &Object<'_>) -> Result<bool, Malformed> {
    let Some(kind) = object.get("type").or_else(|| object.get("@type")) else {
        return match object.get("verifiedUsing") {
            None | Some(Value::Null) => Ok(false),
            Some(_) => Err(Malformed::NoField("type")),
        };
    };
    let kinds = match kind {
        Value::List(kinds) => kinds,
        one => std::slice::from_ref(one),
    };
    let mut is_file = false;
    for kind in kinds {
        let word = kind.as_text().ok_or_else(|| bad("type", kind))?;
        let last = word.rsplit(['/', '#', ':', '_']).next();
        is_file |= last.is_some_and(|last| last.eq_ignore_ascii_case("file"));
    }
    Ok(is_file)
}

#[derive(Debug)]
struct Json {
    algorithms: AlgorithmEvidence,
}

impl Json {
    fn of_version_2(&self, object: &Object<'_>) -> Result<Claim, Malformed> {
        self.claim(object, ["fileName", "checksums", "checksumValue"])
    }

    fn of_version_3(&self, object: &Object<'_>) -> Result<Claim, Malformed> {
        self.claim(object, ["name", "verifiedUsing", "hashValue"])
    }

    /// A file whose members are called so: its name, the list of its digests, and in it the value.
    fn claim(&self, object: &Object<'_>, members: [&'static str; 3]) -> Result<Claim, Malformed> {
        let [name, sums, value] = members;
        let mut claim = file(object.needed_text(name)?.as_bytes())?;
        for sum in object.objects(sums)? {
            let digits = sum.needed_text(value)?.as_bytes();
            let algorithm = sum.needed_text("algorithm")?;
            add(&mut claim, algorithm, digits, &self.algorithms)?;
        }
        Ok(claim)
    }
}

impl Shape for Json {
    fn piece(&mut self, line: u64, at: At<'_>, value: Value<'_>, records: &mut Records) {
        let claim = match (at, value.as_object()) {
            (At::ElementOf("files"), Some(object)) => self.of_version_2(object),
            (At::ElementOf("@graph"), Some(object)) => match is_file(object) {
                Ok(true) => self.of_version_3(object),
                Ok(false) => return,
                Err(reason) => Err(reason),
            },
            (At::ElementOf("files" | "@graph"), None) => Err(Malformed::NoShape),
            // Digests that stand in no list of elements.
            (At::ElementOf("checksums" | "verifiedUsing"), _)
            | (At::Member("files" | "@graph" | "checksums" | "verifiedUsing"), Some(_)) => {
                Err(Malformed::NoShape)
            }
            _ => return,
        };
        records.push_claim(line, claim);
    }
}

/// Lines of `Tag: value`.
#[derive(Debug)]
struct Tags {
    algorithms: AlgorithmEvidence,
    /// The last file and the line of its name.
    open: Option<(u64, Result<Claim, Malformed>)>,
    /// Whether these lines are inside `<text>`.
    in_text: bool,
}

impl Tags {
    fn close(&mut self, records: &mut Records) {
        if let Some((line, claim)) = self.open.take() {
            records.push_claim(line, claim);
        }
    }

    fn tag(&mut self, number: u64, tag: &[u8], value: &[u8], records: &mut Records) {
        let tag = tag.to_ascii_lowercase();
        match &tag[..] {
            b"filename" => {
                self.close(records);
                self.open = Some((number, file(value)));
            }
            b"filechecksum" => {
                let added = match &mut self.open {
                    Some((_, Ok(claim))) => checksum(claim, value, &self.algorithms),
                    Some((_, Err(_))) => Ok(()),
                    None => Err(Malformed::NoField("FileName")),
                };
                if let Err(reason) = added {
                    self.spoil(number, reason, records);
                }
            }
            tag if tag.starts_with(b"file") && holds(tag, b"checksum") => {
                self.spoil(number, Malformed::NoShape, records);
            }
            _ => {}
        }
    }

    /// Refuses the open file, or the line if there is none.
    fn spoil(&mut self, number: u64, reason: Malformed, records: &mut Records) {
        match &mut self.open {
            Some((_, claim)) => *claim = Err(reason),
            None => records.push(number, Content::Malformed(reason)),
        }
    }
}

/// Reads `SHA1: HEX`.
fn checksum(
    claim: &mut Claim,
    value: &[u8],
    algorithms: &AlgorithmEvidence,
) -> Result<(), Malformed> {
    let text = std::str::from_utf8(value).ok();
    let parts = text.and_then(|text| text.split_once(':'));
    let (word, digits) = parts.ok_or_else(|| Malformed::BadField {
        field: "FileChecksum",
        value: value.to_vec(),
    })?;
    add(claim, word.trim(), digits.trim().as_bytes(), algorithms)
}

impl Grammar for Tags {
    fn line(&mut self, number: u64, text: &[u8], records: &mut Records) {
        if self.in_text {
            self.in_text = !holds(text, b"</text>");
            return;
        }
        let line = trim_blanks(text);
        if line.is_empty() || line.starts_with(b"#") {
            return;
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(0);
        let (tag, value) = line.split_at(colon);
        if colon == 0 || !tag.iter().all(u8::is_ascii_alphanumeric) {
            self.close(records);
            return records.push(number, Content::Malformed(Malformed::NoShape));
        }
        let value = trim_blanks(&value[1..]);
        self.in_text = value.starts_with(b"<text>") && !holds(value, b"</text>");
        self.tag(number, tag, value, records);
    }

    fn end(&mut self, number: u64, records: &mut Records) {
        self.close(records);
        if self.in_text {
            let reason = Malformed::Truncated("a <text> has no end");
            records.push(number, Content::Malformed(reason));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::manifest::Format;
    use crate::manifest::json_entry::testing::{any_text, contents, shown};

    const SHA1: &str = "f572d396fae9206628714fb2ce00f72e94f2258f";
    const MD5: &str = "b1946ac92492d2347c6235b4d2611184";

    fn claims(text: &str) -> Vec<(String, usize)> {
        let text = text.replace("S!", SHA1).replace("M!", MD5);
        let content = |content| match content {
            Content::Claim(claim) => (claim.name.to_string(), claim.digests.len()),
            other => panic!("{other:?}"),
        };
        contents(text.as_bytes(), None)
            .into_iter()
            .map(content)
            .collect()
    }

    fn pair(name: &str, digests: usize) -> (String, usize) {
        (name.to_owned(), digests)
    }

    #[test]
    fn json_of_version_2_and_3_is_read() {
        let two = r#"{"spdxVersion":"SPDX-2.3","packages":[{"name":"p","checksums":[{"algorithm":"SHA1","checksumValue":"S!"}]}],
            "files":[{"fileName":"./a.txt","checksums":[{"algorithm":"SHA1","checksumValue":"S!"},{"algorithm":"MD5","checksumValue":"M!"}]},
            {"fileName":"d/b"}]}"#;
        assert_eq!(claims(two), [pair("a.txt", 2), pair("d/b", 0)]);
        let three = r#"{"@context":"https://spdx.org/rdf/3.0.1/spdx-context.jsonld","@graph":[
            {"type":"software_Package","name":"p","verifiedUsing":[{"type":"Hash","algorithm":"md5","hashValue":"M!"}]},
            {"type":"software_File","name":"a.txt","verifiedUsing":[{"type":"Hash","algorithm":"sha1","hashValue":"S!"},
            {"type":"Hash","algorithm":"crystalsKyber","hashValue":"00"}]}]}"#;
        assert_eq!(claims(three), [pair("a.txt", 2)]);
    }

    #[test]
    fn tags_and_values_are_read_and_text_between_marks_is_not() {
        let text = "SPDXVersion: SPDX-2.3\n# a comment\nPackageName: p\nPackageChecksum: SHA1: S!\n\n\
            FileName: ./a.txt\nFileChecksum: SHA1: S!\nFileComment: <text>one\nFileName: forged\n</text>\n\
            FileChecksum: MD5: M!\nFileName: b\nLicenseComments: <text>x</text>\nFileChecksum: SHA1: S!\n";
        assert_eq!(claims(text), [pair("a.txt", 2), pair("b", 1)]);
    }

    #[test]
    fn a_file_of_version_3_is_one_however_its_type_is_spelled() {
        let element = |kind: &str| {
            let text = r#"{"@context":"https://spdx.org/rdf/3.0.1/spdx-context.jsonld","@graph":[
{KIND"name":"a","verifiedUsing":[{"algorithm":"sha1","hashValue":"S!"}]}]}"#;
            shown(&text.replace("KIND", kind).replace("S!", SHA1), None)
        };
        for kind in [
            r#""type":["software_File"],"#,
            r#""@type":["Element","https://spdx.org/rdf/3.0.1/terms/Software/File"],"#,
            r#""type":"https://spdx.org/rdf/3.0.1/terms/Software/File","#,
            r#""type":"spdx:Software/File","#,
        ] {
            assert_eq!(element(kind), ["2:a"], "{kind}");
        }
        assert_eq!(element(""), ["2!no type"]);
        assert_eq!(element(r#""type":7,"#), ["2!bad type: '7'"]);
        assert!(element(r#""type":["software_Package"],"#).is_empty());
    }

    #[test]
    fn digests_outside_the_lists_of_files_are_not_passed_over() {
        for text in [
            r#"{"spdxVersion":"","files":{"fileName":"a"}}"#,
            r#"{"spdxVersion":"","fileName":"a","checksums":[{}]}"#,
            r#"{"@context":"https://spdx.org/rdf/3","@graph":{"type":"software_File"}}"#,
            r#"{"@context":"https://spdx.org/rdf/3","type":"software_File","verifiedUsing":[{}]}"#,
        ] {
            assert_eq!(shown(text, None), ["1!not a checksum line"], "{text}");
        }
    }

    #[test]
    fn tags_in_other_case_count_and_similar_ones_are_named() {
        let text = "SPDXVersion: SPDX-2.3\nFileName: a\nFilechecksum: SHA1: S!\n\
            Filename: b\nFILECHECKSUM: MD5: M!\n";
        assert_eq!(claims(text), [pair("a", 1), pair("b", 1)]);
        let text = "SPDXVersion: SPDX-2.3\nFileName: a\nFileChecksums: SHA1: 00\n";
        assert_eq!(shown(text, None), ["2!not a checksum line"]);
    }

    #[test]
    fn a_digest_that_stands_twice_counts_once_and_must_agree() {
        let text =
            "SPDXVersion: SPDX-2.3\nFileName: a\nFileChecksum: SHA1: S!\nFileChecksum: SHA1: S!\n";
        assert_eq!(claims(text), [pair("a", 1)]);
        let differing = text.replacen("S!", SHA1, 1).replace("S!", &"0".repeat(40));
        assert_eq!(shown(&differing, None), ["2!two different sha1 digests"]);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let text = "SPDXVersion: SPDX-2.3\nFileChecksum: MD5: 00\nhello\nFileName: a\nFileChecksum: MD5: 00\n\
            FileName: b\nFileChecksum: MD5\nFileComment: <text>\nFileName: c\n";
        let expected = [
            "2!no FileName",
            "3!not a checksum line",
            "4!not a md5 digest, which has 32 hexadecimal digits",
            "6!bad FileChecksum: 'MD5'",
            "9!the manifest is incomplete: a <text> has no end",
        ];
        assert_eq!(shown(text, None), expected);
        let json = "{\"spdxVersion\":\"\",\"files\":[1,\n{\"fileName\":\"a\",\"checksums\":[{}]},{\"fileName\":1}]}";
        let expected = [
            "1!not a checksum line",
            "2!no checksumValue",
            "2!bad fileName: '1'",
        ];
        assert_eq!(shown(json, None), expected);
    }

    proptest! {
        #[test]
        fn anything_is_read_to_its_end(text in any_text(&[
            "SPDXVersion: 2\n", "FileName: a\n", "FileChecksum: MD5: 00\n", "<text>", "</text>", "\n",
            "{\"spdxVersion\":\"\",", "\"files\":[", "{\"fileName\":\"a\"}", "]", "}", ",",
        ])) {
            contents(&text, Some(Format::Spdx));
        }
    }
}
