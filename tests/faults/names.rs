//! Names and trees made to break things.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use crate::harness::{Output, Tree, name};

/// Every byte that a name can hold, alone and between letters, and names that mean something to
/// shells, terminals, other systems or list formats.
fn hostile_names() -> Vec<OsString> {
    let bytes = (1..=255).filter(|byte| *byte != b'/');
    let mut names: Vec<Vec<u8>> = bytes.flat_map(|b| [vec![b], vec![b'x', b, b'y']]).collect();
    names.retain(|name| name != b".");
    for special in [
        "\u{202e}gpj.exe",
        "a\u{200b}b",
        "\u{feff}bom",
        "e\u{301}",
        "\u{e9}",
        "\x1b[31mred\x1b[0m",
        "\x1b]0;title\x07",
        "-rf",
        "--help",
        " lead",
        "trail ",
        "trail.",
        "CON",
        "aux.txt",
        "nul",
        "a:b",
        "*?",
        "\\back\\slash",
        "new\nline",
        "cr\r",
        "crlf\r\n",
        "tab\t",
        "\t",
        "..x",
        "...",
        "MD5 (x) = y",
        "x) = 0",
        "# comment",
        "\\n",
        "a  b",
        " *b",
        "\u{85}",
        "\u{9b}2J",
    ] {
        names.push(special.into());
    }
    names.extend([
        b"\xff\xfe\x80".to_vec(),
        b"\xed\xa0\x80".to_vec(),
        vec![b'x'; 255],
    ]);
    names.sort();
    names.dedup();
    names.iter().map(|bytes| name(bytes)).collect()
}

fn tree_of_names() -> (Tree, usize) {
    let tree = Tree::new();
    let names = hostile_names();
    for name in &names {
        tree.file(name, name.as_bytes());
    }
    assert!(names.len() > 530, "{}", names.len());
    (tree, names.len())
}

/// No byte but those of printable text, and nothing that changes the reading direction.
#[track_caller]
fn assert_harmless(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    let acts = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{200b}\u{feff}".contains(c);
    assert!(!text.contains(acts), "{}", text.escape_debug());
}

fn verified(tree: &Tree, list: &str, more: &[&str]) -> Output {
    tree.cmd(["verify", "-C", ".", "--exact", list].iter().chain(more))
        .run()
}

pub(crate) fn every_name_comes_back_through_every_format() {
    let (tree, count) = tree_of_names();
    for (format, more) in [
        ("gnu", None),
        ("gnu", Some("-z")),
        ("gnu-zero", None),
        ("bsd", None),
        ("jsonl", None),
    ] {
        let args = ["hash", "--force", "-C", ".", "-f", format, "-o", "../L"].into_iter();
        let hashed = tree.cmd(args.chain(more)).run();
        hashed.stderr_has(&format!("hashed {count} files")).check();
        verified(&tree, "../L", &[])
            .stderr_has(&format!(": {count} ok; base .;"))
            .check();
    }
}

pub(crate) fn another_tool_finds_every_name() {
    let (tree, count) = tree_of_names();
    let args = ["hash", "-q", "-C", ".", "-f", "gnu", "-o", "../L"];
    tree.cmd(args).run().check();
    let Some(cmd) = tree.tool("sha256sum", ["-c", "--strict", "--status", "../L"]) else {
        return;
    };
    cmd.run().check();
    let lines = tree
        .read("../L")
        .iter()
        .filter(|byte| **byte == b'\n')
        .count();
    assert_eq!(lines, count);
}

pub(crate) fn no_name_acts_on_a_terminal() {
    let (tree, count) = tree_of_names();
    let hashed = tree.cmd(["hash", "-v", "-C", ".", "-o", "../L"]).run();
    assert_harmless(&hashed.stderr);
    hashed.stderr_any().check();
    for more in [&["-v"][..], &["--json"]] {
        let output = verified(&tree, "../L", more);
        assert_harmless(&output.stdout);
        assert_harmless(&output.stderr);
        let lines = output.stdout.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(lines, count + usize::from(more == ["--json"]));
        output.stdout_any().stderr_any().check();
    }
    // The same for names that are gone, and for names that are only asked for.
    tree.dir("../empty");
    let output = tree.cmd(["verify", "-C", "../empty", "../L"]).run();
    assert_harmless(&output.stdout);
    output
        .stdout_any()
        .stderr_has(&format!("{count} missing"))
        .code(1)
        .check();
    let asked = tree.cmd([name(b"hash"), name(b"gone\x1b[2J\xff\n")]).run();
    assert_harmless(&asked.stderr);
    asked.stdout_any().stderr_any().code(2).check();
}

pub(crate) fn names_come_through_a_list_of_paths() {
    let (tree, count) = tree_of_names();
    let script = "find . -type f -print0 | $M hash -0 --files-from - | $M verify -";
    let output = tree.shell(script).run();
    output.stderr_has(&format!(": {count} ok;")).check();
}

fn odd_tree() -> Tree {
    let tree = Tree::new();
    tree.fifo("fifo")
        .socket("socket")
        .link("dangling", "nowhere")
        .link("d/loop", "..");
    tree.file("d/closed/x", "")
        .file("locked", "")
        .file(name(b"\xff\n\x1b"), "abc");
    tree.link("self", "self")
        .link("null", "/dev/null")
        .file("a", "");
    tree.mode("d/closed", 0).mode("locked", 0);
    tree
}

pub(crate) fn a_hostile_tree_ends_with_every_file_accounted_for() {
    let tree = odd_tree();
    let Some(cmd) = tree.cmd(["hash", "-v"]).unprivileged() else {
        return;
    };
    let output = cmd.limit(std::time::Duration::from_secs(10)).run();
    output
        .stdout_has("  a\n")
        .stdout_has("# multisum gap: unreadable d/closed\n")
        .stdout_has("# multisum gap: unreadable locked\n")
        .stderr_has("hashed 2 files, 3 bytes in [TIME]: 2 unreadable, 6 skipped;")
        .stderr_has("skipped     fifo  (named pipe)\n")
        .stderr_has("skipped     self  (symbolic link)\n")
        .code(2)
        .check();
}

pub(crate) fn a_hostile_tree_ends_also_when_links_are_followed() {
    let tree = odd_tree();
    let Some(cmd) = tree.cmd(["hash", "-L", "-v"]).unprivileged() else {
        return;
    };
    let output = cmd.limit(std::time::Duration::from_secs(10)).run();
    output
        .stdout_has("  a\n")
        .stderr_has("unreadable  dangling: ")
        .stderr_has("unreadable  self: ")
        .stderr_has("unreadable  d/loop: stat: link loop")
        .stderr_has("hashed 2 files")
        .code(2)
        .check();
}
