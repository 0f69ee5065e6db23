//! Any bytes as a manifest: no panic, no hang, lines in order, and nothing out of nothing.
//!
//! `MULTISUM_FUZZ_FORMAT` names the format to read them in; `any` or nothing has it detected.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use multisum::manifest::{Format, Hints, Reader};

fn format() -> Option<Format> {
    static FORMAT: OnceLock<Option<Format>> = OnceLock::new();
    *FORMAT.get_or_init(|| {
        let name = std::env::var("MULTISUM_FUZZ_FORMAT").ok()?;
        (name != "any").then(|| name.parse().expect("a format"))
    })
}

fuzz_target!(|bytes: &[u8]| {
    let hints = Hints {
        format: format(),
        list_name: Some("x/a.zip.sums".into()),
        ..Hints::default()
    };
    let Ok(reader) = Reader::new(bytes, &hints) else {
        return;
    };
    let mut last = 0;
    let mut records = 0;
    for record in reader {
        let Ok(record) = record else { return };
        assert!(record.line >= last, "line {} after line {last}", record.line);
        last = record.line;
        records += 1;
    }
    // Compressed input may hold more lines than bytes.
    assert!(records <= 4 * bytes.len() + 16 || bytes.starts_with(&[0x1f, 0x8b]));
});
