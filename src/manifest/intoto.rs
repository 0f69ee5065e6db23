//! in-toto statements, bare or in DSSE envelopes, one document or one a line.
//!
//! The subjects of a statement are files with their digests. Signatures are not checked, which a
//! remark says.

use super::decoder::{Context, Decoder, Records, Text};
use super::detect::Sample;
use super::json_text::{At, JsonDecoder, Object, Outline, Roots, Shape, Value, bad, name};
use super::{Claim, Content, Malformed, Remark};
use crate::hex;

const STATEMENT: &str = "https://in-toto.io/Statement/";
const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

pub(super) fn begins(sample: Sample<'_>) -> bool {
    Outline::of(sample.bytes).is_some_and(|outline| {
        let kind = outline.text("_type").unwrap_or_default();
        // The payload may be so long that the key behind it is not in sight.
        let is_long = outline.keys().eq([b"payload"]) && !sample.complete;
        let is_envelope = outline.has("payload") && (outline.has("payloadType") || is_long);
        let is_bundle = outline.has("dsseEnvelope");
        !outline.in_array && (kind.starts_with(STATEMENT.as_bytes()) || is_envelope || is_bundle)
    })
}

pub(super) fn decoder<'r>(text: Text<'r>, context: Context) -> Box<dyn Decoder + 'r> {
    let shape = Attestations {
        context,
        root: Root::default(),
    };
    Box::new(JsonDecoder::new(text, Roots::Many, shape))
}

#[derive(Debug)]
struct Attestations {
    context: Context,
    root: Root,
}

/// What has been seen of one document.
#[derive(Debug, Default)]
struct Root {
    is_statement: bool,
    has_subject: bool,
    is_enveloped: bool,
    payload_type: Option<String>,
    payload: Option<String>,
}

impl Attestations {
    fn claim(&self, subject: &Value<'_>) -> Result<Claim, Malformed> {
        let subject = subject.as_object().ok_or_else(|| bad("subject", subject))?;
        let mut claim = Claim::bare(name(subject.needed_text("name")?)?);
        let digests = subject.get("digest").ok_or(Malformed::NoField("digest"))?;
        let digests = digests.as_object().ok_or_else(|| bad("digest", digests))?;
        for (word, value) in &digests.0 {
            let digits = value.as_text().ok_or_else(|| bad("digest", value))?;
            let word = match &**word {
                "sha512_224" => "sha512-224",
                "sha512_256" => "sha512-256",
                other => other,
            };
            if let Some(digest) = self.context.algorithms.named(word, digits.as_bytes())? {
                claim.add_digest(digest)?;
            }
        }
        Ok(claim)
    }

    fn envelope(&self, line: u64, kind: &str, payload: &str, records: &mut Records) {
        records.remark(line, Remark::SignatureNotChecked("DSSE"));
        if let Err(reason) = self.payload(line, kind, payload, records) {
            records.push(line, Content::Malformed(reason));
        }
    }

    fn payload(
        &self,
        line: u64,
        kind: &str,
        payload: &str,
        records: &mut Records,
    ) -> Result<(), Malformed> {
        let wrong = |field, text: &str| Malformed::BadField {
            field,
            value: text.into(),
        };
        if kind != PAYLOAD_TYPE {
            return Err(wrong("payloadType", kind));
        }
        let bytes = hex::decode_base64(payload.as_bytes());
        let bytes = bytes.ok_or_else(|| wrong("base64", payload))?;
        let statement = Value::parse(&bytes)?;
        let statement = statement.as_object().ok_or(Malformed::NoShape)?;
        let kind = statement.needed_text("_type")?;
        if !kind.starts_with(STATEMENT) {
            return Err(wrong("_type", kind));
        }
        let subjects = statement
            .get("subject")
            .ok_or(Malformed::NoField("subject"))?;
        let subjects = subjects.as_list().ok_or_else(|| bad("subject", subjects))?;
        if subjects.is_empty() {
            return Err(Malformed::NoField("subject"));
        }
        for subject in subjects {
            records.push_claim(line, self.claim(subject));
        }
        Ok(())
    }

    /// An envelope that stands in a bundle.
    fn inner_envelope(&mut self, line: u64, value: &Value<'_>, records: &mut Records) {
        self.root.is_enveloped = true;
        let parts = |envelope: &Object<'_>| -> Result<(String, String), Malformed> {
            let kind = envelope.needed_text("payloadType")?.to_owned();
            Ok((kind, envelope.needed_text("payload")?.to_owned()))
        };
        let envelope = value.as_object().ok_or_else(|| bad("dsseEnvelope", value));
        match envelope.and_then(parts) {
            Ok((kind, payload)) => self.envelope(line, &kind, &payload, records),
            Err(reason) => records.push(line, Content::Malformed(reason)),
        }
    }
}

impl Shape for Attestations {
    fn piece(&mut self, line: u64, at: At<'_>, value: Value<'_>, records: &mut Records) {
        let text = value.as_text();
        match (at, text) {
            (At::Member("_type"), Some(kind)) if kind.starts_with(STATEMENT) => {
                self.root.is_statement = true;
            }
            (At::Member("_type"), _) => {
                records.push(line, Content::Malformed(bad("_type", &value)));
            }
            (At::Member("payloadType"), Some(kind)) => self.root.payload_type = Some(kind.into()),
            (At::Member("payload"), Some(text)) => self.root.payload = Some(text.into()),
            (At::Member("dsseEnvelope"), _) => self.inner_envelope(line, &value, records),
            (At::ElementOf("subject"), _) => {
                self.root.has_subject = true;
                records.push_claim(line, self.claim(&value));
            }
            (At::Member("subject"), _) => {
                self.root.has_subject = true;
                records.push(line, Content::Malformed(bad("subject", &value)));
            }
            (At::Element, _) => records.push(line, Content::Malformed(Malformed::NoShape)),
            _ => {}
        }
    }

    fn root_end(&mut self, line: u64, records: &mut Records) {
        let root = std::mem::take(&mut self.root);
        if root.is_statement && !root.has_subject {
            records.push(line, Content::Malformed(Malformed::NoField("subject")));
        }
        match (root.payload_type, root.payload) {
            (Some(kind), Some(payload)) => self.envelope(line, &kind, &payload, records),
            (None, None) if root.is_statement || root.is_enveloped => {}
            _ => records.push(line, Content::Malformed(Malformed::NoShape)),
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

    fn statement() -> String {
        format!(
            r#"{{"_type":"https://in-toto.io/Statement/v1","subject":[{{"name":"a.txt","digest":{{"sha1":"{SHA1}","gitCommit":"00"}}}},{{"name":"b","digest":{{"sha1":"00"}}}},{{"name":"c"}}],"predicateType":"x","predicate":{{}}}}"#
        )
    }

    fn envelope(kind: &str, payload: &str) -> String {
        let payload = hex::encode_base64(payload.as_bytes());
        format!(r#"{{"payloadType":"{kind}","payload":"{payload}","signatures":[{{"sig":"x"}}]}}"#)
    }

    fn subjects(line: u64) -> [String; 3] {
        [
            format!("{line}:a.txt"),
            format!("{line}!not a sha1 digest, which has 40 hexadecimal digits"),
            format!("{line}!no digest"),
        ]
    }

    #[test]
    fn a_statement_is_read_bare_wrapped_and_in_lines() {
        assert_eq!(shown(&statement(), None), subjects(1));
        let signed = envelope(PAYLOAD_TYPE, &statement());
        let remark = |line: u64| format!("{line}?signature not checked (DSSE)");
        let wrapped = |line| [&[remark(line)][..], &subjects(line)].concat();
        assert_eq!(shown(&signed, None), wrapped(1));
        let bundle = format!("{{\"mediaType\":\"x\",\n\"dsseEnvelope\":{signed}}}");
        assert_eq!(shown(&bundle, None), wrapped(2));
        let lines = format!("{signed}\n{signed}\n");
        assert_eq!(shown(&lines, None), [wrapped(1), wrapped(2)].concat());
    }

    #[test]
    fn what_is_no_statement_is_named() {
        let last = |text: &str| shown(text, Some(Format::InToto)).pop().unwrap();
        assert_eq!(
            last(&envelope("text/plain", &statement())),
            "1!bad payloadType: 'text/plain'"
        );
        assert_eq!(last(&envelope(PAYLOAD_TYPE, "{}")), "1!no _type");
        assert_eq!(last("{\"payloadType\":\"x\"}"), "1!not a checksum line");
        assert_eq!(last("{}"), "1!not a checksum line");
        assert_eq!(last("{\"_type\":\"link\"}"), "1!not a checksum line");
        let cut = envelope(PAYLOAD_TYPE, &statement()).replace("=\"", "\"");
        assert!(last(&cut).starts_with("1!bad base64") || !cut.contains("=\""));
    }

    #[test]
    fn a_statement_about_nothing_is_not_passed_over() {
        let subject = format!(r#"{{"name":"a","digest":{{"sha1":"{SHA1}"}}}}"#);
        for (subjects, reason) in [
            (String::new(), "1!no subject"),
            (r#","subject":[]"#.to_owned(), "1!no subject"),
            (format!(r#","subject":{subject}"#), "1!bad subject: '{...}'"),
            (r#","subject":null"#.to_owned(), "1!bad subject: 'null'"),
        ] {
            let statement = format!(r#"{{"_type":"{STATEMENT}v1"{subjects}}}"#);
            assert_eq!(shown(&statement, None), [reason], "{statement}");
            let signed = envelope(PAYLOAD_TYPE, &statement);
            assert_eq!(shown(&signed, None)[1..], [reason], "{statement}");
        }
    }

    #[test]
    fn a_digest_under_two_spellings_counts_once_and_must_agree() {
        let twice = |one: &str, two: &str| {
            let (one, two) = (one.repeat(32), two.repeat(32));
            let digests = format!(r#"{{"sha512_256":"{one}","sha512-256":"{two}"}}"#);
            let subject = format!(r#"{{"name":"a","digest":{digests}}}"#);
            let statement = format!(r#"{{"_type":"{STATEMENT}v1","subject":[{subject}]}}"#);
            contents(statement.as_bytes(), None)
        };
        assert!(
            matches!(&twice("00", "00")[..], [Content::Claim(claim)] if claim.digests.len() == 1)
        );
        assert!(matches!(&twice("00", "01")[..], [Content::Malformed(_)]));
    }

    #[test]
    fn the_known_digest_and_the_unknown_are_both_kept() {
        let [Content::Claim(claim), ..] = &contents(statement().as_bytes(), None)[..] else {
            panic!();
        };
        assert_eq!(claim.digests.len(), 2);
    }

    proptest! {
        #[test]
        fn anything_is_read_to_its_end(text in any_text(&[
            "{\"_type\":\"https://in-toto.io/Statement/v1\",", "\"subject\":[", "{\"name\":\"a\",\"digest\":{}}",
            "]", "}", "\n", "{\"payloadType\":\"application/vnd.in-toto+json\",\"payload\":\"e30=\"}", ",",
        ])) {
            contents(&text, Some(Format::InToto));
        }
    }
}
