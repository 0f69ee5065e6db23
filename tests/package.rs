//! What is handed out: the package for crates.io and the one for Debian.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use common::{skipped, tool};

/// crates.io refuses more than ten million bytes.
const MOST_BYTES: u64 = 5_000_000;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a command to its good end and gives what it printed.
fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_crate_holds_what_is_needed_and_no_more() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let args = ["package", "--list", "--allow-dirty", "--offline"];
    let list = printed(Command::new(cargo).args(args).current_dir(root()));
    let names: Vec<&str> = list.lines().collect();
    for needed in [
        "Cargo.lock",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
        "SECURITY.md",
        "src/main.rs",
        "tests/cli/main.rs",
    ] {
        assert!(names.contains(&needed), "{needed} is missing");
    }
    for name in &names {
        let is_spare = ["target/", "fuzz/", ".ci/", "benches/record/"]
            .iter()
            .any(|folder| name.starts_with(folder));
        assert!(!is_spare, "{name}");
    }
    let sizes = names
        .iter()
        .filter_map(|name| fs::metadata(root().join(name)).ok());
    let bytes: u64 = sizes.map(|metadata| metadata.len()).sum();
    assert!(bytes < MOST_BYTES, "{bytes} bytes");
}

/// Said, but never a failure: no distribution packages it, and it takes minutes to build.
fn has_cargo_deb() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join("cargo-deb").is_file());
    if !found {
        writeln!(std::io::stderr(), "skipped: cargo-deb not installed")
            .expect("standard error takes a line");
    }
    found
}

/// Takes the program that this test was built with, so that nothing is compiled; and nothing is
/// compressed for long, manual pages not at all.
#[test]
fn the_debian_package_holds_program_pages_and_completions() {
    if !has_cargo_deb() || tool("dpkg").is_none() {
        return;
    }
    let target = tempfile::tempdir().unwrap();
    let target = target.path();
    let program = env!("CARGO_BIN_EXE_multisum");
    fs::create_dir_all(target.join("release")).unwrap();
    fs::copy(program, target.join("release/multisum")).unwrap();
    let pages = target.join("release/pages");
    printed(Command::new(program).arg("man").arg(pages.join("man")));
    for (shell, name) in [
        ("bash", "multisum.bash"),
        ("zsh", "_multisum"),
        ("fish", "multisum.fish"),
    ] {
        let text = printed(Command::new(program).args(["completions", shell]));
        fs::write(pages.join(name), text).unwrap();
    }
    let package = target.join("multisum.deb");
    let mut deb = Command::new("cargo-deb");
    deb.args(["--no-build", "--strip", "--fast", "--offline", "--output"])
        .arg(&package)
        .env("CARGO_TARGET_DIR", target)
        .current_dir(root());
    printed(&mut deb);
    let installed = target.join("installed");
    install(&package, &installed);
    for name in [
        "usr/bin/multisum",
        "usr/share/man/man1/multisum.1",
        "usr/share/man/man1/multisum-verify.1",
        "usr/share/bash-completion/completions/multisum",
        "usr/share/zsh/vendor-completions/_multisum",
        "usr/share/fish/vendor_completions.d/multisum.fish",
        "usr/share/doc/multisum/copyright",
    ] {
        assert!(installed.join(name).is_file(), "{name} is missing");
    }
    let version = printed(Command::new(installed.join("usr/bin/multisum")).arg("--version"));
    assert_eq!(
        version,
        concat!("multisum ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

/// By dpkg, into a root of its own; who is not root can only unpack.
fn install(package: &Path, root: &Path) {
    if fs::metadata("/proc/self").is_ok_and(|this| this.uid() != 0) {
        skipped("installing needs root; the package was unpacked");
        printed(Command::new("dpkg-deb").arg("-x").arg(package).arg(root));
        return;
    }
    for folder in ["info", "updates"] {
        fs::create_dir_all(root.join("var/lib/dpkg").join(folder)).unwrap();
    }
    fs::write(root.join("var/lib/dpkg/status"), "").unwrap();
    let mut dpkg = Command::new("dpkg");
    dpkg.arg("--root").arg(root);
    printed(dpkg.args(["--force-depends", "--install"]).arg(package));
}
