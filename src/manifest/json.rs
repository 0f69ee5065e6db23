//! An array of JSON objects, one an entry and one a line, spelled as in the native manifest.

use super::decoder::{Context, Decoder, Records, Text};
use super::detect::Sample;
use super::encoder::{Encoder, Setup};
use super::json_entry::{content, entry_into, gap_into, has_keys_of_entry};
use super::json_text::{At, JsonDecoder, Outline, Roots, Shape, Value};
use super::writer::{Column, EntryError, WriterError};
use super::{Content, Entry, GapKind, Malformed};
use crate::relpath::RelPath;

pub(super) fn begins(sample: Sample<'_>) -> bool {
    let is_entry = |outline: &Outline<'_>| {
        outline.in_array && (outline.is_empty() || has_keys_of_entry(outline.keys()))
    };
    Outline::of(sample.bytes).is_some_and(|outline| is_entry(&outline))
}

pub(super) fn decoder<'r>(text: Text<'r>, context: Context) -> Box<dyn Decoder + 'r> {
    let shape = Array { context };
    Box::new(JsonDecoder::new(text, Roots::One, shape))
}

#[derive(Debug)]
struct Array {
    context: Context,
}

impl Shape for Array {
    fn piece(&mut self, line: u64, at: At<'_>, value: Value<'_>, records: &mut Records) {
        let content = match value.as_object() {
            Some(object) if at == At::Element => content(object, &self.context.algorithms),
            _ => Err(Malformed::NoShape),
        };
        records.push(line, content.unwrap_or_else(Content::Malformed));
    }
}

pub(super) fn encoder(setup: Setup) -> Result<Box<dyn Encoder>, WriterError> {
    Ok(Box::new(Objects {
        columns: setup.columns,
        count: 0,
    }))
}

#[derive(Debug)]
struct Objects {
    columns: Vec<Column>,
    count: u64,
}

impl Objects {
    /// Ends the line before the next object.
    fn separate(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.count == 0 { b"\n" } else { b",\n" });
    }
}

impl Encoder for Objects {
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<(), EntryError> {
        out.push(b'[');
        Ok(())
    }

    fn entry(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) -> Result<(), EntryError> {
        self.separate(out);
        entry_into(entry, &self.columns, out)?;
        self.count += 1;
        Ok(())
    }

    fn gap(&mut self, name: &RelPath, kind: GapKind, out: &mut Vec<u8>) -> Result<(), EntryError> {
        self.separate(out);
        gap_into(name, kind, out);
        self.count += 1;
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), EntryError> {
        out.extend_from_slice(b"\n]\n");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::manifest::json_entry::testing::{
        any_algorithms, any_items, any_text, contents, expected, shown, write,
    };
    use crate::manifest::{Format, Header};

    #[test]
    fn each_entry_has_the_line_where_it_begins() {
        let text = "[\n{\"path\":\"a\",\"size\":1},\n\n{\n\"path\":\"b\",\"error\":\"x\"},\n3]";
        assert_eq!(
            shown(text, None),
            ["2:a", "4 gap b", "6!not a checksum line"]
        );
    }

    #[test]
    fn an_array_that_is_cut_off_is_said_to_be() {
        let text = "[\n{\"path\":\"a\",\"size\":1},\n{\"path\":\"b\",\"size\":2}\n]\n";
        for cut in 1..text.len() - 2 {
            let found = shown(&text[..cut], Some(Format::Json));
            let message = found.last().unwrap();
            assert!(
                message.ends_with("the text ends within the document"),
                "{cut}: {message}"
            );
        }
    }

    #[test]
    fn arrays_of_other_objects_are_not_taken_for_it() {
        for (text, is_own) in [
            ("[]", true),
            ("[{\"size\":1,\"path_b64\":", true),
            ("[{\"path\":\"a\",\"SHA-256\":\"\"}]", true),
            ("[{\"path\":\"a\"}]", false),
            ("[{\"Path\":\"a\",\"Size\":1}]", false),
            ("{\"path\":\"a\",\"size\":1}", false),
            ("[1]", false),
            ("[info] {\"path\":\"a\",\"size\":1}", false),
        ] {
            let sample = Sample {
                bytes: text.as_bytes(),
                complete: true,
                list_name: None,
            };
            assert_eq!(begins(sample), is_own, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            items in any_items(),
            algorithms in any_algorithms(),
            asked in any::<bool>(),
        ) {
            let text = write(Format::Json, &Header::default(), &algorithms, &items);
            let found = contents(&text, asked.then_some(Format::Json));
            prop_assert_eq!(found, expected(&items, &algorithms));
        }

        #[test]
        fn anything_is_read_to_its_end(text in any_text(&[
            "{", "}", "[", "]", ",", "\"path\":\"a\"", ":", "\n", "\"", "\\", "1",
            "{\"path\":\"a\",\"size\":1}", "{\"path\":\"a\",\"error\":\"x\"},",
        ])) {
            contents(&text, Some(Format::Json));
        }
    }
}
