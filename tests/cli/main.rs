//! The command line as a user meets it: one binary for all of these tests.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/harness.rs"]
mod harness;

// Behaviour by subcommand.
mod diff;
mod hash;
mod merge;
mod update;
mod verify;

// `hash` by theme.
mod names;
mod outputs;
mod resume;
mod selection;
mod several;
mod slices;

// `verify` by theme.
mod base;
mod direct;
mod exact;
mod reading;
mod scrub;
mod signatures;
mod touched;

// Formats of manifests.
mod formats;

// Both.
mod coming;
mod help;
mod interop;
mod kernels;
mod promises;
mod terminal;
mod usage;

#[test]
fn every_file_here_is_listed() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli");
    let listed = include_str!("main.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        let is_listed = listed.lines().any(|line| line == format!("mod {module};"));
        assert!(
            is_listed || name == "main.rs",
            "tests/cli/{name} is not listed in main.rs"
        );
    }
}
