//! Where manifests go, and what stays if something goes wrong.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::common::skipped;
use crate::harness::{MD5_OF_ABC, SHA256_OF_ABC, Started, Tree};

fn one_file() -> Tree {
    let tree = Tree::new();
    tree.file("a", "abc");
    tree
}

#[test]
fn one_read_fills_a_list_for_each_algorithm() {
    let tree = one_file();
    let lists = [
        "hash",
        "-o",
        "MD5SUMS",
        "-o",
        "SHA256SUMS",
        "-o",
        "all.txt",
        "-f",
    ];
    let output = tree
        .cmd(["hash", "-o", "MD5SUMS", "-o", "SHA256SUMS"])
        .run();
    output.stderr_has("hashed 1 file, 3 bytes").check();
    assert_eq!(
        tree.read("MD5SUMS"),
        format!("{MD5_OF_ABC}  a\n").as_bytes()
    );
    assert_eq!(
        tree.read("SHA256SUMS"),
        format!("{SHA256_OF_ABC}  a\n").as_bytes()
    );
    let tagged = tree.cmd(lists).arg("bsd").arg("--force").arg("a").run();
    tagged.stderr_any().check();
    let both = format!("MD5 (a) = {MD5_OF_ABC}\nSHA256 (a) = {SHA256_OF_ABC}\n");
    assert_eq!(tree.read("all.txt"), both.as_bytes());
}

#[test]
fn contradictions_are_told_before_anything_is_written() {
    for (args, told) in [
        ("-a md5 -o SHA256SUMS", "the name says sha256"),
        ("-a md5,sha1 -o MD5SUMS", "sha1 would be written nowhere"),
        ("-a md5,sha1 -f gnu -o L", "cannot hold several"),
        ("-a md5,sha1 -f gnu", "cannot hold several"),
        ("-o L -o ./L", "./L: named by more than one -o"),
        ("-o - -o -", "-: named by more than one -o"),
        (
            "-o nowhere/L",
            "nowhere/L: create: No such file or directory (os error 2)\n",
        ),
        ("-o d", "d: it is a folder"),
        ("-o L -o a", "a: it exists; --force replaces it"),
    ] {
        let tree = one_file();
        tree.file("d/b", "");
        let output = tree.cmd(["hash"].into_iter().chain(args.split(' '))).run();
        assert_eq!(
            output.stderr.iter().filter(|byte| **byte == b'\n').count(),
            1
        );
        output.stderr_has(told).code(2).check();
        assert_eq!(tree.names_in(""), ["a", "d"], "{args}");
    }
}

#[test]
fn the_name_of_the_output_and_the_options_choose_the_format() {
    let gnu = format!("{MD5_OF_ABC}  a\n");
    let bsd = format!("MD5 (a) = {MD5_OF_ABC}\n");
    let zero = format!("{MD5_OF_ABC}  a\0");
    for (args, expected) in [
        ("-o MD5SUMS", &gnu),
        ("-o x.md5", &gnu),
        ("-a md5 -o any", &gnu),
        ("-a md5 -o any -f bsd", &bsd),
        ("-a md5 -o any -z", &zero),
        ("-a md5 -o any -f gnu-zero", &zero),
    ] {
        let tree = one_file();
        let args: Vec<&str> = args.split(' ').collect();
        let output = tree.cmd(["hash"].iter().chain(&args)).run();
        output.stderr_any().check();
        let list = args[args.iter().position(|arg| *arg == "-o").unwrap() + 1];
        assert_eq!(tree.read(list), expected.as_bytes(), "{args:?}");
    }
}

#[test]
fn a_run_never_hashes_what_it_writes() {
    let list = format!("{MD5_OF_ABC}  a\n");
    for script in [
        "$M hash -a md5 >L",
        "$M hash -a md5 >>L",
        "$M hash -a md5 . -o L",
        "echo old >L; $M hash -a md5 . -o L --force",
        "echo old >real; ln -s real L; $M hash -a md5 -o L --force; rm real L; cp L2 L",
        "$M hash -a md5 -o d/L . ; mv d/L L",
    ] {
        let tree = one_file();
        tree.dir("d").file("../L2", &list);
        let script = script.replace("L2", "../L2");
        tree.shell(&script).run().stderr_any().check();
        assert_eq!(tree.read("L"), list.as_bytes(), "{script}");
    }
}

#[test]
fn a_link_to_the_old_list_stays_a_link_to_the_new_one() {
    let tree = one_file();
    tree.file("real", "old").link("L", "real");
    let output = tree.cmd(["hash", "-a", "md5", "-o", "L", "--force"]).run();
    output.stderr_any().check();
    assert_eq!(tree.read("real"), format!("{MD5_OF_ABC}  a\n").as_bytes());
    assert!(fs::symlink_metadata(tree.path("L")).unwrap().is_symlink());
}

#[test]
fn an_incomplete_run_still_publishes_its_list_with_the_gap() {
    let tree = one_file();
    let output = tree
        .cmd(["hash", "-a", "md5", "-o", "L", "a", "gone"])
        .run();
    output
        .stdout("")
        .stderr_has("unreadable  gone: stat: No such file or directory")
        .code(2)
        .check();
    let list = format!("{MD5_OF_ABC}  a\n# multisum gap: unreadable gone\n");
    assert_eq!(tree.read("L"), list.as_bytes());
    let verified = tree.cmd(["verify", "L"]).run();
    verified
        .stdout_has("unverified  gone: ")
        .stderr_has("1 ok, 1 unverified")
        .code(2)
        .check();
}

/// A run that will not end by itself, once its temporary file is there.
fn endless(tree: &Tree, args: &[&str]) -> Started {
    tree.sparse("big", 1 << 42).file("L", "old");
    let all = ["hash", "-o", "L", "--force", "big"].iter().chain(args);
    let started = tree.cmd(all).start();
    let begun = Instant::now();
    while tree.names_in("").len() < 4 {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "it does not begin"
        );
        thread::sleep(Duration::from_millis(5));
    }
    thread::sleep(Duration::from_millis(50));
    started
}

#[test]
fn a_stopped_run_leaves_the_old_list_and_nothing_else() {
    for (signal, args, code) in [
        ("INT", ["-j", "2"], 130),
        ("TERM", ["-j", "1"], 143),
        ("INT", ["--io", "mmap"], 130),
        ("INT", ["--io", "direct"], 130),
        ("HUP", ["--io", "read"], 129),
    ] {
        let tree = one_file();
        let started = endless(&tree, &args);
        let begun = Instant::now();
        started.signal(signal);
        let output = started.wait();
        assert!(
            begun.elapsed() < Duration::from_secs(5),
            "{signal} {args:?}"
        );
        output.stderr("multisum: interrupted\n").code(code).check();
        assert_eq!(tree.read("L"), b"old");
        assert_eq!(tree.names_in(""), ["L", "a", "big"], "{signal} {args:?}");
    }
}

#[test]
fn a_list_that_appears_during_the_run_is_not_replaced_unasked() {
    for (force, code) in [("", 2), ("--force", 0)] {
        let tree = one_file();
        tree.fifo("pipe").dir("out");
        let script = format!(
            "(sleep 0.3; echo theirs >out/L; printf abc >pipe) & $M hash -q -o out/L {force} pipe"
        );
        let output = tree.shell(&script).run();
        let told = "multisum: out/L: it exists; --force replaces it, \
                    'multisum verify' checks against it, 'multisum update' brings it up to date\n";
        let told = if code == 2 { told } else { "" };
        output.stderr(told).code(code).check();
        assert_eq!(tree.read("out/L") == b"theirs\n", code == 2);
        assert_eq!(tree.names_in("out"), ["L"]);
    }
}

#[test]
fn a_link_that_leads_nowhere_is_refused() {
    let tree = one_file();
    tree.link("L", "nowhere");
    for args in [
        &["hash", "-o", "L", "a"][..],
        &["hash", "-o", "L", "--force", "a"],
    ] {
        let told = "multisum: L: it is a symbolic link that leads nowhere; name the file itself, or remove the link\n";
        tree.cmd(args).run().stderr(told).code(2).check();
    }
    assert!(fs::symlink_metadata(tree.path("L")).unwrap().is_symlink());
    assert_eq!(tree.names_in(""), ["L", "a"]);
}

#[test]
fn a_name_that_no_line_can_hold_is_told_and_the_rest_is_written() {
    let tree = one_file();
    for format in ["gnu", "gnu-zero", "bsd"] {
        let args = ["hash", "-a", "md5", "-f", format, "--files-from", "-"];
        let clean = tree.cmd(args).stdin("a\n").run();
        let output = tree
            .cmd(args)
            .stdin("x\0y\na\n")
            .run()
            .stdout(&clean.stdout);
        clean.stdout_has("a").stderr_any().check();
        output
            .stderr_has("unreadable  x\\u{0}y: ")
            .stderr_has("hashed 1 file, 3 bytes in [TIME]: 1 unreadable;")
            .code(2)
            .check();
    }
}

#[test]
fn a_run_that_hashed_nothing_says_so() {
    let tree = one_file();
    tree.dir("empty");
    let said = "no file was hashed\n";
    for (args, stderr) in [
        ("-q empty", said),
        ("-q --exclude *", said),
        ("-q --files-from -", said),
        ("--status empty", ""),
        ("-q a", ""),
    ] {
        let output = tree.cmd(["hash"].into_iter().chain(args.split(' '))).run();
        output.stdout_any().stderr(stderr).check();
    }
}

#[test]
fn new_lists_obey_the_umask_and_replaced_ones_keep_their_mode() {
    let tree = one_file();
    let mode = |name: &str| fs::metadata(tree.path(name)).unwrap().permissions().mode() & 0o777;
    let run = |script: &str| tree.shell(script).run().stderr_any().check();
    run("umask 027; $M hash -o L a");
    assert_eq!(mode("L"), 0o640);
    let inode = fs::metadata(tree.path("L")).unwrap().ino();
    run("chmod 604 L; umask 077; $M hash -o L --force a");
    assert_eq!(mode("L"), 0o604);
    assert_ne!(fs::metadata(tree.path("L")).unwrap().ino(), inode);
}

#[test]
fn a_file_that_is_hashed_is_not_replaced_by_its_manifest() {
    let tree = Tree::new();
    tree.file("precious", "abc");
    for force in [&["--force"][..], &[]] {
        let args = [&["hash", "-o", "precious", "./precious"], force].concat();
        tree.cmd(args)
            .run()
            .code(2)
            .stderr("multisum: precious: named both to be hashed and to be written\n")
            .check();
    }
    assert_eq!(tree.read("precious"), b"abc");
}

#[test]
fn a_manifest_that_is_replaced_keeps_its_owner() {
    let tree = Tree::new();
    tree.file("a", "abc").file("MD5SUMS", "old");
    let path = tree.path("MD5SUMS");
    if std::os::unix::fs::chown(&path, Some(65_534), Some(65_534)).is_err() {
        return skipped("giving files away needs root");
    }
    tree.cmd(["hash", "-q", "--force", "-o", "MD5SUMS", "a"])
        .run()
        .check();
    let now = fs::metadata(path).unwrap();
    assert_eq!((now.uid(), now.gid()), (65_534, 65_534));
}
