//! Every manifest that is kept as data, read as every format: what fuzzing found stays mended.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::path::{Path, PathBuf};

use multisum::manifest::{Format, Hints, Reader};

/// All files below a folder.
fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, all);
        } else {
            all.push(path);
        }
    }
}

#[test]
fn no_manifest_makes_any_parser_panic_or_lose_its_place() {
    let mut all = Vec::new();
    for folder in ["lists", "manifests", "fuzz"] {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
        files(&data.join(folder), &mut all);
    }
    assert!(!all.is_empty());
    for path in all {
        let bytes = fs::read(&path).unwrap();
        for format in Format::all().map(Some).chain([None]) {
            let hints = Hints {
                format,
                list_name: Some(path.clone()),
                ..Hints::default()
            };
            let Ok(reader) = Reader::new(&bytes[..], &hints) else {
                continue;
            };
            let records: Vec<_> = reader.map_while(Result::ok).collect();
            let lines = records.iter().map(|record| record.line);
            assert!(lines.is_sorted(), "{path:?} as {format:?}");
        }
    }
}
