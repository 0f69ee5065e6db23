//! `multisum verify --key`: manifests are used only if they are what somebody signed.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::harness::{Tree, holds};

/// A manifest with signatures made by minisign 0.11 and OpenSSH 9.2, and the keys.
fn data(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/signatures");
    fs::read(folder.join(name)).unwrap()
}

/// The file that the manifest lists, the manifest, and a key of each kind.
fn signed() -> Tree {
    let tree = Tree::new();
    tree.file("x.txt", "x");
    for name in ["SHA256SUMS", "minisign.pub", "ed25519.pub", "rsa.pub"] {
        tree.file(name, data(name));
    }
    tree
}

#[test]
fn a_signature_beside_the_manifest_is_checked_with_the_key() {
    for (signature, beside, key) in [
        ("SHA256SUMS.minisig", "SHA256SUMS.minisig", "minisign.pub"),
        ("SHA256SUMS.ed25519.sig", "SHA256SUMS.sig", "ed25519.pub"),
    ] {
        let tree = signed();
        tree.file(beside, data(signature));
        let args = ["verify", "--require-signature", "--key", key, "SHA256SUMS"];
        let kind = if beside.ends_with("minisig") {
            "minisign"
        } else {
            "SSH"
        };
        let told = format!("SHA256SUMS: its {kind} signature is good");
        tree.cmd(args).run().stderr_has(&told).check();
        tree.flip("SHA256SUMS", 3);
        let told = format!("multisum: {beside}: the signature does not belong to these bytes\n");
        tree.cmd(args).run().stderr(&told).code(2).check();
    }
}

#[test]
fn a_key_may_stand_on_the_command_line_and_the_signature_elsewhere() {
    let tree = signed();
    tree.file("elsewhere/s", data("SHA256SUMS.minisig"));
    let key = String::from_utf8(data("minisign.pub")).unwrap();
    let key = key.lines().nth(1).unwrap();
    let args = [
        "verify",
        "--key",
        key,
        "--signature",
        "elsewhere/s",
        "SHA256SUMS",
    ];
    let told = "SHA256SUMS: its minisign signature is good";
    tree.cmd(args).run().stderr_has(told).check();
    // From a pipe, too: what was checked is what is used.
    let args = ["verify", "--key", key, "--signature", "elsewhere/s", "-"];
    let piped = tree.cmd(args).stdin(data("SHA256SUMS"));
    piped
        .run()
        .stderr_has("its minisign signature is good")
        .check();
}

#[test]
fn a_manifest_without_signature_is_used_only_if_none_is_required() {
    let tree = signed();
    let args = ["verify", "--key", "minisign.pub", "SHA256SUMS"];
    let unsigned = "it has no signature; nothing vouches for it (--require-signature refuses it)";
    let told = format!("SHA256SUMS: {unsigned}");
    tree.cmd(args).run().stderr_has(&told).check();
    let told = "multisum: SHA256SUMS: it has no signature beside it (.minisig or .sig); \
                --signature names another place\n";
    tree.cmd(args)
        .arg("--require-signature")
        .run()
        .stderr(told)
        .code(2)
        .check();
    tree.file("bag/a", "abc");
    let bag = tree.cmd(["hash", "--bag", "bag"]).run();
    bag.stdout_any().stderr_any().check();
    let args = ["verify", "--key", "minisign.pub", "bag"];
    let told = format!("bag: {unsigned}");
    tree.cmd(args).run().stderr_has(&told).check();
    tree.cmd([
        "verify",
        "--key",
        "minisign.pub",
        "--require-signature",
        "bag",
    ])
    .run()
    .stderr("multisum: bag: a folder has no signature to check\n")
    .code(2)
    .check();
}

#[test]
fn nothing_is_verified_by_a_manifest_whose_signature_cannot_be_checked() {
    for (signature, key, told) in [
        (
            "SHA256SUMS.minisig",
            "ed25519.pub",
            "it is a minisign signature, and the key is no minisign public key",
        ),
        (
            "SHA256SUMS.ed25519.sig",
            "rsa.pub",
            "the signature was made by another key",
        ),
        (
            "SHA256SUMS.git.sig",
            "ed25519.pub",
            "the signature is not over a file: its namespace is \"git\"",
        ),
        (
            "SHA256SUMS.rsa.sig",
            "rsa.pub",
            "keys of type ssh-rsa are not supported",
        ),
        (
            "SHA256SUMS",
            "ed25519.pub",
            "neither a minisign nor an SSH signature",
        ),
    ] {
        let tree = signed();
        tree.file("signature", data(signature));
        let args = [
            "verify",
            "--key",
            key,
            "--signature",
            "signature",
            "SHA256SUMS",
        ];
        tree.cmd(args).run().stderr_has(told).code(2).check();
    }
    let tree = signed();
    tree.file("SHA256SUMS.sig", b"\xff\xfe");
    let args = ["verify", "--key", "ed25519.pub", "SHA256SUMS"];
    let told = "multisum: SHA256SUMS.sig: not text, as signatures and keys are\n";
    tree.cmd(args).run().stderr(told).code(2).check();
    let args = ["verify", "--key", "gone.pub", "SHA256SUMS"];
    tree.cmd(args).run().stderr_has("gone.pub").code(2).check();
}

#[test]
fn a_pipe_where_a_signature_or_a_key_should_be_is_refused_and_not_waited_for() {
    for (pipe, args) in [
        ("SHA256SUMS.sig", &["--key", "ed25519.pub"][..]),
        ("SHA256SUMS.minisig", &["--key", "minisign.pub"]),
        ("pipe", &["--key", "pipe"]),
        ("pipe", &["--key", "ed25519.pub", "--signature", "pipe"]),
    ] {
        let tree = signed();
        tree.fifo(pipe);
        let args = [&["verify"], args, &["SHA256SUMS"]].concat();
        let told = format!("multisum: {pipe}: not a regular file, as signatures and keys are\n");
        let run = tree.cmd(args).limit(Duration::from_secs(20)).run();
        run.stderr(&told).code(2).check();
    }
}

#[test]
fn the_signatures_of_a_manifest_are_no_files_of_the_tree() {
    let tree = Tree::new();
    tree.file("t/a", "abc");
    let hash = ["hash", "-q", "--force", "-o", "t/m.jsonl", "t"];
    tree.cmd(hash).run().check();
    for ending in ["minisig", "sig"] {
        tree.file(format!("t/m.jsonl.{ending}"), "untrusted");
    }
    let verify = ["verify", "t/m.jsonl"];
    tree.cmd(verify).run().stderr_has("1 ok").check();
    let update = tree.cmd(["update", "t/m.jsonl"]).run();
    update.stderr_has("sign it again").check();
    assert!(!holds(&tree.read("t/m.jsonl"), b"sig\""));
    tree.cmd(hash).run().check();
    assert!(!holds(&tree.read("t/m.jsonl"), b"sig\""));
    tree.cmd(verify).run().stderr_has("1 ok").check();
    // The signature of a file is a file.
    tree.file("t/a.sig", "untrusted");
    let output = tree.cmd(verify).run().stdout("new         a.sig\n");
    output.stderr_has("1 ok, 1 new").code(1).check();
}
