//! Manifests that were cut, altered, or made to harm whoever verifies them.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Duration;

use crate::harness::{MD5_OF_ABC, MD5_OF_HELLO, Output, Tree, holds};
use crate::stage::{Snapshot, traced};

fn native() -> (Tree, Vec<u8>) {
    let tree = Tree::new();
    tree.file("a", "abc").file("b", "hello");
    let hashed = tree.cmd(["hash", "-q", "-a", "md5", "-o", "L.jsonl"]);
    hashed.env("SOURCE_DATE_EPOCH", "1000000000").run().check();
    tree.cmd(["verify", "--status", "L.jsonl"]).run().check();
    let whole = tree.read("L.jsonl");
    (tree, whole)
}

#[track_caller]
fn refused(tree: &Tree, manifest: &[u8], what: &str) {
    tree.file("L.jsonl", manifest);
    let output = tree.cmd(["verify", "--status", "L.jsonl"]).run();
    assert_eq!(output.code, Some(2), "{what}: {output}");
    output.stdout_any().stderr_any().code(2).check();
}

pub(crate) fn a_native_manifest_cut_at_any_byte_is_refused() {
    let (tree, whole) = native();
    for len in 0..whole.len() {
        refused(&tree, &whole[..len], &format!("cut at {len}"));
    }
}

fn flip(bits: &[u8]) {
    let (tree, whole) = native();
    for at in 0..whole.len() {
        for bit in bits {
            // One bit of each byte, each of the eight in turn, where not all are asked for.
            let bit = if bits.len() == 1 {
                (at % 8) as u8
            } else {
                *bit
            };
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << bit;
            refused(&tree, &damaged, &format!("bit {bit} of byte {at}"));
        }
    }
}

pub(crate) fn a_native_manifest_with_a_bit_flipped_in_any_byte_is_refused() {
    flip(&[0]);
}

pub(crate) fn a_native_manifest_with_any_bit_flipped_is_refused() {
    flip(&[0, 1, 2, 3, 4, 5, 6, 7]);
}

/// Two good files, and a list of them with something more.
fn listed(more: impl AsRef<[u8]>) -> (Tree, Vec<u8>) {
    let tree = Tree::new();
    tree.file("a", "abc").file("b", "hello");
    let mut list = format!("{MD5_OF_ABC}  a\n{MD5_OF_HELLO}  b\n").into_bytes();
    list.extend_from_slice(more.as_ref());
    (tree, list)
}

#[track_caller]
fn verified(more: impl AsRef<[u8]>, args: &[&str]) -> Output {
    let (tree, list) = listed(more);
    tree.file("../L", list);
    let before = Snapshot::of(&tree);
    let all = ["verify", "-C", ".", "../L"].iter().chain(args);
    let output = tree.cmd(all).limit(Duration::from_secs(10)).run();
    assert_eq!(Snapshot::of(&tree), before);
    output
}

pub(crate) fn any_bad_line_fails_a_list_without_an_end() {
    for bad in [
        "no digest  c\n",
        "900150983cd24fb0d6963f7d28e17f7  short\n",
        "900150983cd24fb0d6963f7d28e17f72\n",
        "\x01\x02\n",
    ] {
        let output = verified(bad, &[]);
        output.stdout_any().stderr_has("malformed").code(2).check();
    }
}

pub(crate) fn a_list_that_proves_nothing_is_no_success() {
    let tree = Tree::new();
    tree.file("a", "abc")
        .file("gone-list", format!("{MD5_OF_ABC}  gone\n"));
    for list in ["", "\n\n", "# nothing\n", "; nothing\n# at all\n"] {
        let output = tree.cmd(["verify", "-"]).stdin(list).run();
        output
            .stdout_any()
            .stderr_has("nothing was verified")
            .code(2)
            .check();
    }
    let output = tree.cmd(["verify", "--ignore-missing", "gone-list"]).run();
    output
        .stdout_any()
        .stderr_has("nothing was verified")
        .code(2)
        .check();
}

pub(crate) fn weak_digests_are_compared_and_named() {
    for algorithm in ["md5", "sha1", "crc32", "xxh64"] {
        let (tree, _) = listed("");
        let args = [
            "hash", "-q", "-C", ".", "-f", "bsd", "-a", algorithm, "-o", "../L",
        ];
        tree.cmd(args).run().check();
        let told = format!("not proof against tampering: only {algorithm} was compared");
        let good = tree.cmd(["verify", "-C", ".", "../L"]).run();
        good.stderr_has(": 2 ok").stderr_has(&told).check();
        tree.file("a", "abd");
        let bad = tree.cmd(["verify", "-C", ".", "../L"]).run();
        bad.stdout_has("changed     a")
            .stderr_has(&told)
            .code(1)
            .check();
    }
    // Sums of 8 and 16 bits prove nothing.
    for sum in ["9a  a\n", "9a3c  a\n", "SUM (a) = 9a3c\n", "123 1 a\n"] {
        let output = verified(sum, &[]);
        output.stdout_any().stderr_any().code(2).check();
    }
}

pub(crate) fn entries_that_lead_outside_are_refused_when_confined() {
    let (tree, _) = listed("");
    tree.file("../secret", "abc").link("out", "..");
    let absolute = tree.path("../secret");
    let absolute = absolute.to_str().unwrap();
    let names = [
        "../secret",
        "../../../../../../../../etc/passwd",
        absolute,
        "out/secret",
    ];
    for name in names {
        tree.file("../L", format!("{MD5_OF_ABC}  {name}\n{MD5_OF_ABC}  a\n"));
        let log = tree.path("../calls");
        let options = [
            "-o",
            log.to_str().unwrap(),
            "-e",
            "trace=openat,openat2,open",
        ];
        let args = ["verify", "--confine", "-C", ".", "../L"];
        let Some(cmd) = traced(&tree, &options, &args) else {
            return;
        };
        cmd.run()
            .stdout_has("unverified  ")
            .stderr_has("1 ok, 1 unverified")
            .code(2)
            .check();
        let calls = std::fs::read_to_string(&log).unwrap();
        let opened = calls.lines().filter(|call| {
            let named = call.contains("secret\"") || call.contains("passwd\"");
            named && !call.contains("= -1 ")
        });
        assert_eq!(opened.count(), 0, "{name}: {calls}");
    }
}

pub(crate) fn a_list_does_not_lift_the_confinement_that_was_asked_for() {
    let (tree, _) = listed("");
    tree.file("../out/f", "abc").link("d", "../out");
    let hash = ["hash", "-q", "-L", "-C", ".", "-o", "../L.jsonl", "."];
    tree.cmd(hash).run().check();
    let verify = ["verify", "--no-exact", "-C", ".", "../L.jsonl"];
    let output = tree.cmd(verify).run();
    output.stderr_has(" ok").code(0).check();
    let confined = verify.iter().chain(&["--confine"]);
    let output = tree.cmd(confined).run();
    output
        .stdout_has("unverified  d/f")
        .stderr_has("1 unverified")
        .code(2)
        .check();
}

pub(crate) fn devices_and_pipes_in_a_list_are_not_opened() {
    let (tree, _) = listed("");
    tree.fifo("pipe").link("zero", "/dev/zero");
    for name in ["/dev/zero", "pipe", "zero", "/dev/stdin", "/proc/self/mem"] {
        tree.file("../L", format!("{MD5_OF_ABC}  {name}\n{MD5_OF_ABC}  a\n"));
        let cmd = tree.cmd(["verify", "-C", ".", "../L"]);
        let output = cmd.limit(Duration::from_secs(10)).run();
        output
            .stdout_has(name)
            .stderr_has("1 ok, 1 unreadable")
            .code(2)
            .check();
    }
}

/// No byte that acts on a terminal or turns the reading direction.
#[track_caller]
fn assert_clean(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    let acts = |c: char| {
        let turns = matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        (c.is_control() && c != '\n') || turns || c == '\u{feff}'
    };
    assert!(!text.contains(acts), "{}", text.escape_debug());
}

pub(crate) fn no_name_in_a_list_acts_on_a_terminal() {
    for name in [
        "\x1b[2Jx",
        "\x1b]0;title\x07",
        "\u{202e}gpj.exe",
        "\u{2066}x\u{2069}",
        "a\u{200b}b",
        "\u{9b}2J",
        "a\rb",
        "a\x08b",
        "\u{feff}a",
    ] {
        for args in [&[][..], &["-v"], &["--json"], &["--confine"]] {
            let output = verified(format!("{MD5_OF_ABC}  {name}\n"), args);
            assert_clean(&output.stdout);
            assert_clean(&output.stderr);
            output.stdout_any().stderr_any().code(1).check();
        }
    }
    // And where the line itself is what is wrong.
    let output = verified("x\x1b[2J\u{202e}  a\n", &["--warn"]);
    assert_clean(&output.stdout);
    assert_clean(&output.stderr);
    output.stdout_any().stderr_any().code(2).check();
}

pub(crate) fn names_that_cannot_be_and_entries_that_contradict_are_unverified() {
    let other = MD5_OF_HELLO;
    for more in [
        &b"900150983cd24fb0d6963f7d28e17f72  c\0d\n"[..],
        format!("{other}  a\n").as_bytes(),
        b"900150983cd24fb0d6963f7d28e17f72  \n",
        b"90  a\n",
    ] {
        let output = verified(more, &[]);
        output.stdout_any().stderr_any().code(2).check();
    }
}

#[track_caller]
fn big(tree: &Tree, seconds: u64, kilobytes: u64) {
    let args = ["verify", "-C", ".", "../L"];
    let cmd = tree.cmd(args).limit(Duration::from_secs(seconds));
    let (output, peak) = cmd.start().wait_and_weigh();
    assert!(peak < kilobytes, "{peak} kB");
    output.stdout_any().stderr_any().code(2).check();
}

pub(crate) fn a_line_of_a_hundred_megabytes_is_refused_in_bounded_memory() {
    let (tree, _) = listed("");
    for start in [
        &b""[..],
        b"900150983cd24fb0d6963f7d28e17f72  ",
        b"{\"multisum\":1,\"x\":\"",
    ] {
        let mut file = BufWriter::new(File::create(tree.path("../L")).unwrap());
        file.write_all(start).unwrap();
        for _ in 0..100 {
            file.write_all(&vec![b'x'; 1_000_000]).unwrap();
        }
        file.into_inner().unwrap();
        big(&tree, 20, 100_000);
    }
}

#[track_caller]
fn identical(count: usize, seconds: u64) {
    let (tree, _) = listed("");
    let mut line = String::new();
    for _ in 0..1000 {
        writeln!(line, "{MD5_OF_ABC}  gone").unwrap();
    }
    let mut file = BufWriter::new(File::create(tree.path("../L")).unwrap());
    for _ in 0..count / 1000 {
        file.write_all(line.as_bytes()).unwrap();
    }
    writeln!(file, "{MD5_OF_HELLO}  gone").unwrap();
    file.into_inner().unwrap();
    big(&tree, seconds, 300_000);
}

pub(crate) fn a_million_identical_lines_end_in_seconds_and_bounded_memory() {
    identical(1_000_000, 30);
}

pub(crate) fn ten_million_identical_lines_end_in_seconds_and_bounded_memory() {
    identical(10_000_000, 120);
}

pub(crate) fn a_native_manifest_never_leads_outside() {
    let (tree, whole) = native();
    tree.file("../secret", "abc");
    let text = String::from_utf8(whole).unwrap();
    tree.file(
        "L.jsonl",
        text.replace("\"path\":\"a\"", "\"path\":\"../secret\""),
    );
    let output = tree.cmd(["verify", "L.jsonl"]).run();
    assert!(!holds(&output.stdout, b"ok "), "{output}");
    output.stdout_any().stderr_any().code(2).check();
}
