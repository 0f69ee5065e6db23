//! What goes wrong on a machine, made to happen: 32 rows of faults, each with what must come of it.
//!
//! Every run is held to a time limit and may not panic (`Output::check`). What this machine cannot
//! make is named as skipped; a tool that is not installed is a failure where
//! `MULTISUM_REQUIRE_TOOLS` is set. The long runs are ignored unless asked for:
//! `cargo test --test faults -- --include-ignored`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking, and counts are for whoever runs them"
)]
#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "these faults are made by means of Linux")
)]

#[cfg(target_os = "linux")]
#[path = "../common/mod.rs"]
mod common;
#[cfg(target_os = "linux")]
#[path = "../common/harness.rs"]
mod harness;

#[cfg(target_os = "linux")]
mod changing;
#[cfg(target_os = "linux")]
mod disks;
#[cfg(target_os = "linux")]
mod faulty_fs;
#[cfg(target_os = "linux")]
mod kills;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod manifests;
#[cfg(target_os = "linux")]
mod names;
#[cfg(target_os = "linux")]
mod output;
#[cfg(target_os = "linux")]
mod power;
#[cfg(target_os = "linux")]
mod reading;
#[cfg(target_os = "linux")]
mod rows;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(target_os = "linux")]
mod stage;
#[cfg(target_os = "linux")]
mod sweep;
#[cfg(target_os = "linux")]
mod walking;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    rows::run()
}

#[cfg(not(target_os = "linux"))]
fn main() {}
