//! CycloneDX bills of materials in JSON: the components that are files.

use super::decoder::{Context, Decoder, Records, Text};
use super::detect::Sample;
use super::json_text::{At, JsonDecoder, Object, Outline, Roots, Shape, Value, bad, name};
use super::{Claim, Content, Malformed};

/// Components that are no files, whose digests are those of something else.
const NO_FILES: [&str; 12] = [
    "application",
    "framework",
    "library",
    "container",
    "platform",
    "operating-system",
    "device",
    "device-driver",
    "firmware",
    "machine-learning-model",
    "data",
    "cryptographic-asset",
];

/// The key that names the format may stand at the end, far from the beginning.
pub(super) fn begins(sample: Sample<'_>) -> bool {
    let mark: &[u8] = b"\"bom-ref\"";
    let has_mark = || sample.bytes.windows(mark.len()).any(|at| at == mark);
    Outline::of(sample.bytes).is_some_and(|outline| {
        let is_named = outline.text("bomFormat") == Some(b"CycloneDX");
        !outline.in_array && (is_named || outline.has("components") && has_mark())
    })
}

pub(super) fn decoder<'r>(text: Text<'r>, context: Context) -> Box<dyn Decoder + 'r> {
    let shape = Components { context };
    Box::new(JsonDecoder::new(text, Roots::One, shape))
}

#[derive(Debug)]
struct Components {
    context: Context,
}

impl Components {
    /// Takes a component and those in it.
    fn take(&self, line: u64, value: &Value<'_>, records: &mut Records) {
        let Some(component) = value.as_object() else {
            return records.push(line, Content::Malformed(bad("component", value)));
        };
        match is_file(component) {
            Ok(true) => records.push_claim(line, self.claim(component)),
            Ok(false) => {}
            Err(reason) => records.push(line, Content::Malformed(reason)),
        }
        match component.get("components") {
            None | Some(Value::Null) => {}
            Some(Value::List(inner)) => {
                for value in inner {
                    self.take(line, value, records);
                }
            }
            Some(other) => records.push(line, Content::Malformed(bad("components", other))),
        }
    }

    fn claim(&self, component: &Object<'_>) -> Result<Claim, Malformed> {
        let mut claim = Claim::bare(name(component.needed_text("name")?)?);
        for hash in component.objects("hashes")? {
            let digits = hash.needed_text("content")?.as_bytes();
            let word = hash.needed_text("alg")?;
            if let Some(digest) = self.context.algorithms.named(word, digits)? {
                claim.add_digest(digest)?;
            }
        }
        Ok(claim)
    }
}

/// Whether a component is a file. One that has digests must say what it is.
fn is_file(component: &Object<'_>) -> Result<bool, Malformed> {
    let kind = component.get("type");
    match kind.and_then(Value::as_text) {
        Some(word) if word.eq_ignore_ascii_case("file") => return Ok(true),
        Some(word) if NO_FILES.contains(&word) => return Ok(false),
        _ => {}
    }
    match (component.get("hashes"), kind) {
        (None | Some(Value::Null), _) => Ok(false),
        (Some(_), None) => Err(Malformed::NoField("type")),
        (Some(_), Some(kind)) => Err(bad("type", kind)),
    }
}

impl Shape for Components {
    fn piece(&mut self, line: u64, at: At<'_>, value: Value<'_>, records: &mut Records) {
        match at {
            At::ElementOf("components") => self.take(line, &value, records),
            At::Member("metadata") => {
                let described = value.as_object().and_then(|object| object.get("component"));
                if let Some(component) = described {
                    self.take(line, component, records);
                }
            }
            At::Member("components") if value != Value::Null => {
                records.push(line, Content::Malformed(bad("components", &value)));
            }
            _ => {}
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

    #[test]
    fn files_are_found_at_every_depth_and_nothing_else() {
        let text = r#"{"bomFormat":"CycloneDX","specVersion":"1.5",
"metadata":{"component":{"type":"application","name":"m","components":[{"type":"file","name":"in"}]}},
"components":[
{"type":"library","name":"l","hashes":[{"alg":"SHA-1","content":"S!"}],
"components":[{"type":"file","name":"deep"}]},
{"type":"file","name":"a.txt","hashes":[{"alg":"SHA-1","content":"S!"},{"alg":"Streebog-256","content":"00"}]},
{"type":"file"},
{"type":"file","name":"b","hashes":[{"alg":"SHA-1","content":"00"}]},
7]}"#;
        let text = text.replace("S!", SHA1);
        let expected = [
            "2:in",
            "4:deep",
            "6:a.txt",
            "7!no name",
            "8!not a sha1 digest, which has 40 hexadecimal digits",
            "9!bad component: '7'",
        ];
        assert_eq!(shown(&text, None), expected);
        let Content::Claim(claim) = &contents(text.as_bytes(), None)[2] else {
            panic!();
        };
        assert_eq!(claim.digests.len(), 2);
    }

    #[test]
    fn components_with_digests_that_may_be_files_are_not_passed_over() {
        let text = r#"{"bomFormat":"CycloneDX","components":[
{"type":"File","name":"a","hashes":[{"alg":"SHA-1","content":"S!"}]},
{"name":"b","hashes":[{"alg":"SHA-1","content":"S!"}]},
{"type":["file"],"name":"c","hashes":[{"alg":"SHA-1","content":"S!"}]},
{"type":"fil","name":"d","hashes":[{"alg":"SHA-1","content":"S!"}]},
{"type":"firmware","name":"e","hashes":[{"alg":"SHA-1","content":"S!"}]},
{"name":"f"}]}"#;
        let expected = [
            "2:a",
            "3!no type",
            "4!bad type: '[...]'",
            "5!bad type: 'fil'",
        ];
        assert_eq!(shown(&text.replace("S!", SHA1), None), expected);
        let single = r#"{"bomFormat":"CycloneDX","components":{"type":"file","name":"a"}}"#;
        assert_eq!(shown(single, None), ["1!bad components: '{...}'"]);
    }

    #[test]
    fn a_digest_that_stands_twice_counts_once_and_must_agree() {
        let twice = |two: &str| {
            let text = r#"{"bomFormat":"CycloneDX","components":[{"type":"file","name":"a","hashes":[
                {"alg":"SHA-1","content":"1!"},{"alg":"sha1","content":"2!"}]}]}"#;
            let text = text.replace("1!", SHA1).replace("2!", two);
            contents(text.as_bytes(), None)
        };
        assert!(matches!(&twice(SHA1)[..], [Content::Claim(claim)] if claim.digests.len() == 1));
        assert!(matches!(
            &twice(&"0".repeat(40))[..],
            [Content::Malformed(_)]
        ));
    }

    proptest! {
        #[test]
        fn anything_is_read_to_its_end(text in any_text(&[
            "{\"bomFormat\":\"CycloneDX\",", "\"components\":[", "{\"type\":\"file\",", "\"name\":\"a\"", "{", "}", "]", ",",
        ])) {
            contents(&text, Some(Format::CycloneDx));
        }
    }
}
