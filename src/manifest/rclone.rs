//! `rclone lsjson --hash`: an array of objects, one a file or folder.

use super::decoder::{Context, Decoder, Records, Text};
use super::detect::Sample;
use super::evidence::AlgorithmEvidence;
use super::json_text::{At, JsonDecoder, Object, Outline, Roots, Shape, Value, bad, name};
use super::{Claim, Kind, Malformed};
use crate::relpath::RelPath;
use crate::timestamp::Modified;

pub(super) fn begins(sample: Sample<'_>) -> bool {
    Outline::of(sample.bytes).is_some_and(|outline| {
        let others = ["IsDir", "Hashes", "ModTime", "MimeType"];
        let has_other = others.iter().any(|key| outline.has(key));
        outline.in_array && outline.has("Path") && has_other
    })
}

pub(super) fn decoder<'r>(text: Text<'r>, context: Context) -> Box<dyn Decoder + 'r> {
    let shape = Listing { context };
    Box::new(JsonDecoder::new(text, Roots::One, shape))
}

#[derive(Debug)]
struct Listing {
    context: Context,
}

impl Shape for Listing {
    fn piece(&mut self, line: u64, at: At<'_>, value: Value<'_>, records: &mut Records) {
        let claim = match value.as_object() {
            Some(object) if at == At::Element => claim(object, &self.context.algorithms),
            _ => Err(Malformed::NoShape),
        };
        records.push_claim(line, claim);
    }
}

fn claim(object: &Object<'_>, algorithms: &AlgorithmEvidence) -> Result<Claim, Malformed> {
    let path = object.needed_text("Path")?;
    let mut claim = Claim::bare(name(path)?);
    claim.other_name = with_controls(path);
    match object.get("IsDir") {
        None | Some(Value::Null | Value::Bool(false)) => {}
        Some(Value::Bool(true)) => {
            add_hashes(&mut claim, object, algorithms)?;
            claim.kind = Kind::Directory;
            return Ok(claim);
        }
        Some(other) => return Err(bad("IsDir", other)),
    }
    claim.size = match object.get("Size") {
        Some(Value::Unsigned(size)) => Some(*size),
        // The storage does not know it.
        None | Some(Value::Null | Value::Negative(-1)) => None,
        Some(other) => return Err(bad("Size", other)),
    };
    if let Some(text) = object.text("ModTime")?.filter(|text| !text.is_empty()) {
        let modified = Modified::parse(text).ok_or_else(|| Malformed::BadField {
            field: "ModTime",
            value: text.into(),
        })?;
        claim.modified = Some(modified);
    }
    add_hashes(&mut claim, object, algorithms)?;
    Ok(claim)
}

fn add_hashes(
    claim: &mut Claim,
    object: &Object<'_>,
    algorithms: &AlgorithmEvidence,
) -> Result<(), Malformed> {
    let hashes = match object.get("Hashes") {
        None | Some(Value::Null) => return Ok(()),
        Some(value) => value.as_object().ok_or_else(|| bad("Hashes", value))?,
    };
    for (word, value) in &hashes.0 {
        let digits = value.as_text().ok_or_else(|| bad("Hashes", value))?;
        // The storage has no hash of this kind.
        if digits.is_empty() {
            continue;
        }
        if let Some(digest) = algorithms.named(word, digits.as_bytes())? {
            claim.add_digest(digest)?;
        }
    }
    Ok(())
}

/// The name with control characters where rclone writes their pictures, U+2401 for byte 1.
fn with_controls(path: &str) -> Option<RelPath> {
    let control = |c: char| match u32::from(c) {
        picture @ 0x2401..=0x241f => char::from_u32(picture - 0x2400).unwrap_or(c),
        0x2421 => '\x7f',
        _ => c,
    };
    let plain: String = path.chars().map(control).collect();
    (plain != path).then(|| RelPath::from(&*plain))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::manifest::json_entry::testing::{any_text, contents, shown};
    use crate::manifest::{ClaimedDigest, Content, Format};

    const LIST: &str = r#"[
{"Path":"a.txt","Name":"a.txt","Size":6,"MimeType":"text/plain","ModTime":"2024-01-02T03:04:05.678901234Z","IsDir":false,"Hashes":{"md5":"b1946ac92492d2347c6235b4d2611184","quickxor":"AAAA","sha1":""}},
{"Path":"d","Name":"d","Size":-1,"MimeType":"inode/directory","ModTime":"2024-01-02T03:04:05+01:00","IsDir":true},
{"Path":"d/new␊line","Size":-1,"ModTime":"","IsDir":false}
]
"#;

    #[test]
    fn files_and_folders_are_told_apart_and_nothing_is_lost() {
        let [
            Content::Claim(file),
            Content::Claim(folder),
            Content::Claim(other),
        ] = &contents(LIST.as_bytes(), None)[..]
        else {
            panic!();
        };
        assert_eq!(file.size, Some(6));
        let time = file.modified.unwrap();
        assert_eq!(time.time.to_string(), "2024-01-02T03:04:05.678901234Z");
        assert!(matches!(file.digests[0], ClaimedDigest::Known(_)));
        assert_eq!(
            file.digests[1..],
            [ClaimedDigest::Unsupported("quickxor".into())]
        );
        assert_eq!((&folder.kind, folder.size), (&Kind::Directory, None));
        assert_eq!((other.size, other.modified), (None, None));
        assert_eq!(other.other_name, Some(RelPath::from("d/new\nline")));
    }

    #[test]
    fn a_folder_keeps_the_digests_that_it_cannot_have() {
        let text =
            r#"[{"Path":"d","IsDir":true,"Hashes":{"md5":"b1946ac92492d2347c6235b4d2611184"}}]"#;
        let [Content::Claim(folder)] = &contents(text.as_bytes(), None)[..] else {
            panic!();
        };
        assert_eq!((&folder.kind, folder.digests.len()), (&Kind::Directory, 1));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let text = "[{\"Path\":\"a\",\"Size\":\"1\"},\n{\"Name\":\"a\"},\n[],\n{\"Path\":\"a\",\"Hashes\":[]},\n\
            {\"Path\":\"a\",\"Hashes\":{\"md5\":\"00\"}},\n{\"Path\":\"a\",\"ModTime\":\"x\"},\n\
            {\"Path\":\"a\",\"Size\":99.0},\n{\"Path\":\"a\",\"Size\":-2},\n{\"Path\":\"a\",\"IsDir\":\"true\"},\n\
            {\"Path\":\"a\",\"Hashes\":{\"md5\":\"b1946ac92492d2347c6235b4d2611184\",\"MD5\":\"00946ac92492d2347c6235b4d2611184\"}}]";
        let expected = [
            "1!bad Size: '1'",
            "2!no Path",
            "3!not a checksum line",
            "4!bad Hashes: '[...]'",
            "5!not a md5 digest, which has 32 hexadecimal digits",
            "6!bad ModTime: 'x'",
            "7!bad Size: 'a number that is no size'",
            "8!bad Size: '-2'",
            "9!bad IsDir: 'true'",
            "10!two different md5 digests",
        ];
        assert_eq!(shown(text, Some(Format::Rclone)), expected);
    }

    proptest! {
        #[test]
        fn anything_is_read_to_its_end(text in any_text(&[
            "{\"Path\":\"a\"", ",\"Size\":", "1", "{", "}", "[", "]", ",", "\"Hashes\":", "\n", "\"md5\":\"",
        ])) {
            contents(&text, Some(Format::Rclone));
        }
    }
}
