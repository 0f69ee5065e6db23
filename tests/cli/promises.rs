//! One test for each promise that is made to users, named after it. Details stand in the files by
//! theme.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::harness::{MD5_OF_ABC, MD5_OF_HELLO, Output, Tree, name};

/// Whatever is done to a file, no run ends well and the file is not said to be.
#[test]
fn no_false_good() {
    let harms = [
        "printf X | dd of=f conv=notrunc bs=1 seek=69999",
        "printf X | dd of=f conv=notrunc bs=1 seek=0",
        "truncate -s 69999 f",
        "truncate -s 70001 f",
        ": >f",
        "rm f",
        "rm f; mkdir f",
        "rm f; mkfifo f",
        "rm f; ln -s nowhere f",
        "rm f; ln -s a f",
        "mv f g; mv a f; mv g a",
    ];
    for harm in harms {
        for options in [
            "-a sha256 -o L",
            "-a md5,sha256 -o L",
            "-a md5 -o L -o L2 -a sha1 -f bsd",
        ] {
            let tree = Tree::new();
            tree.painted("f", 70_000).file("a", "abc");
            let args = ["hash"].into_iter().chain(options.split(' '));
            tree.cmd(args.chain(["a", "f"])).run().stderr_any().check();
            let verify = || tree.cmd(["verify", "-v", "L"]).run();
            verify()
                .stdout("ok          a\nok          f\n")
                .stderr_any()
                .check();
            tree.shell(&format!("({harm}) 2>/dev/null")).run().check();
            assert_not_good(harm, &verify());
        }
    }
}

#[track_caller]
fn assert_not_good(harm: &str, output: &Output) {
    let is_good = output.stdout.ends_with(b"ok          f\n");
    assert!(
        !is_good && matches!(output.code, Some(1 | 2)),
        "{harm}: {output}"
    );
}

/// The same for whatever is done to its line.
#[test]
fn no_false_good_from_a_damaged_line() {
    let tree = Tree::new();
    tree.file("a", "abc").file("f", "abc").file("  g", "");
    let line = format!("{MD5_OF_ABC}  f\n");
    let damages = [
        line[1..].to_owned(),
        line[2..].to_owned(),
        format!("0{line}"),
        line.replace('9', "g"),
        line.replace("900", "901"),
        line.replace("  f", "f"),
        line.replace("  f", ""),
        line.replace("  f", "  "),
        line.replace("  f", "   f"),
        line.replace("  f", "  g"),
        line.replace("  f", "\0f"),
        line.replace("  f", "  f\0g"),
        format!("\\{}", line.replace("  f", "  f\\")),
        format!("MD5 (f) = {}", &line[..30]),
        format!("MD6 (f) = {MD5_OF_ABC}\n"),
        format!("MD5-64 (f) = {}\n", &MD5_OF_ABC[..16]),
        format!("SHA256 (f) = {MD5_OF_ABC}\n"),
    ];
    for damage in damages {
        tree.file("L", format!("{MD5_OF_ABC}  a\n{damage}"));
        assert_not_good(&damage, &tree.cmd(["verify", "-v", "L"]).run());
    }
}

/// Every prefix of a list either fails or lists only whole lines.
#[test]
fn no_false_good_from_a_list_that_was_cut() {
    let tree = Tree::new();
    tree.file("a", "abc").file("bb", "hello");
    let list = format!("{MD5_OF_ABC}  a\n{MD5_OF_HELLO}  bb\n");
    let second = list.find('\n').unwrap() + 1;
    for len in 0..list.len() - 1 {
        tree.file("L", &list[..len]);
        let output = tree.cmd(["verify", "L"]).run();
        let is_whole = len == second || len + 1 == second;
        assert_eq!(output.code == Some(0), is_whole, "{len}: {output}");
    }
}

/// Every listed name and every file found has one outcome, and the counts are those of the lines.
#[test]
fn once_each() {
    let tree = Tree::new();
    let mut list = String::new();
    for number in 0..400 {
        list += &format!("{MD5_OF_ABC}  d{}/f{number}\n", number % 5);
        match number % 4 {
            0 => tree.file(format!("d{}/f{number}", number % 5), "abc"),
            1 => tree.file(format!("d{}/f{number}", number % 5), "abd"),
            2 => tree.file(format!("moved/m{number}"), "abc"),
            _ => tree.dir(format!("d{}/f{number}", number % 5)),
        };
    }
    list += &format!("{MD5_OF_ABC}  d0/f0\n{MD5_OF_HELLO}  d4/f4\nprose\n");
    tree.file("L", &list).file("new/n", "n");
    for threads in ["1", "64"] {
        let args = ["verify", "--json", "--exact", "-j", threads, "L"];
        let output = tree.cmd(args).run();
        let text = std::str::from_utf8(&output.stdout).unwrap();
        let values: Vec<Value> = text
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect();
        let (summary, lines) = values.split_last().unwrap();
        let with_path: Vec<&Value> = lines.iter().filter(|v| v.get("path").is_some()).collect();
        let mut paths: Vec<&str> = with_path
            .iter()
            .map(|v| v["path"].as_str().unwrap())
            .collect();
        assert_eq!(paths.len(), 401);
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), 401, "a name was told twice");
        for word in [
            "ok",
            "changed",
            "missing",
            "moved",
            "new",
            "unreadable",
            "unverified",
        ] {
            let count = with_path.iter().filter(|v| v["outcome"] == word).count();
            assert_eq!(summary["summary"][word], count, "{word}");
        }
        output.stdout_any().code(2).check();
    }
}

/// Threads, ways of reading and locales leave the bytes as they are.
#[test]
fn same_bytes_out() {
    let tree = Tree::new();
    for number in 0..200_usize {
        tree.painted(format!("I{}/i{number}", number % 7), number * 997 % 9000);
        tree.file(name(&[b'n', u8::try_from(number).unwrap_or(0) | 0x80]), "");
    }
    let hash = |options: &[&str], locale: &str| {
        let args = ["hash", "-a", "md5,sha256,blake3"].iter().chain(options);
        tree.cmd(args).env("LC_ALL", locale).run()
    };
    let first = hash(&["-j", "1"], "C");
    let verify = |threads: &str| {
        let args = ["verify", "-v", "-j", threads, "-C", ".", "../L"];
        tree.cmd(args).run()
    };
    tree.file("../L", &first.stdout);
    tree.flip("I1/i8", 0).remove("I2/i9");
    let told = verify("1");
    for threads in ["2", "3", "64"] {
        verify(threads)
            .stdout(&told.stdout)
            .stderr_any()
            .code(1)
            .check();
    }
    tree.flip("I1/i8", 0).painted("I2/i9", 9 * 997);
    for options in [
        ["-j", "2"],
        ["-j", "64"],
        ["--io", "mmap"],
        ["--io", "direct"],
    ] {
        for locale in ["C", "tr_TR.UTF-8"] {
            hash(&options, locale)
                .stdout(&first.stdout)
                .stderr_any()
                .check();
        }
    }
    first.stdout_any().stderr_any().check();
    told.stdout_any().stderr_any().code(1).check();
}

/// A run that is killed outright leaves the old list whole under its name.
#[test]
fn nothing_lost() {
    let tree = Tree::new();
    tree.sparse("big", 1 << 42).file("L", "old");
    let started = tree.cmd(["hash", "-o", "L", "--force", "big"]).start();
    while tree.names_in("").len() < 3 {
        std::thread::sleep(Duration::from_millis(5));
    }
    started.signal("KILL");
    let output = started.wait();
    assert_eq!(output.code, None);
    assert_eq!(tree.read("L"), b"old");
    // What is left beside it is no part of the next run.
    fs::remove_file(tree.path("big")).unwrap();
}

/// The walk does not run far ahead of a file that takes for ever.
#[test]
fn bounded() {
    let tree = Tree::new();
    tree.sparse("0", 1 << 42);
    for number in 0..5000 {
        tree.file(format!("d/{number}"), "");
    }
    let started = tree.cmd(["hash", "-j", "2", "--io", "read"]).start();
    std::thread::sleep(Duration::from_millis(700));
    let kilobytes = started.peak_kilobytes();
    started.signal("INT");
    started.wait().stderr_any().code(130).check();
    assert!(kilobytes < 64 * 1024, "{kilobytes} kB");
}

/// Any bytes that a name can have come back.
#[test]
fn lossless_names() {
    let tree = Tree::new();
    for bytes in [
        &b"\xff\n\\\r\x1b"[..],
        b" a ",
        b"\\\\n",
        "é\u{202e}".as_bytes(),
    ] {
        tree.file(name(bytes), bytes);
    }
    for format in ["gnu", "gnu-zero", "bsd"] {
        let script = format!("$M hash -f {format} | $M verify --exact -");
        tree.shell(&script)
            .run()
            .stderr_has(": 4 ok; base .;")
            .check();
    }
    let json = tree.shell("$M hash | $M verify --json -").run();
    json.stdout_has("\"path_b64\":\"/wpcDRs=\"")
        .stderr_any()
        .check();
}
