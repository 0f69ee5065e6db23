//! Lists as people and programs leave them, and what their options do.

use serde_json::Value;

use crate::harness::{MD5_OF_ABC, MD5_OF_HELLO, MD5_OF_NOTHING, Output, SHA256_OF_ABC, Tree};

/// Two files, to be listed in various ways.
fn tree(list: impl AsRef<[u8]>) -> Tree {
    let tree = Tree::new();
    tree.file("a", "abc").file("b", "hello").file("L", list);
    tree
}

fn verify(tree: &Tree, args: &[&str]) -> Output {
    tree.cmd(["verify", "L"].iter().chain(args)).run()
}

fn good() -> String {
    format!("{MD5_OF_ABC}  a\n{MD5_OF_HELLO}  b\n")
}

fn utf16(text: &str) -> Vec<u8> {
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}

#[test]
fn lists_are_read_in_every_dress() {
    let lists: [Vec<u8>; 9] = [
        good().into(),
        good().trim_end().into(),
        good().replace('\n', "\r\n").into(),
        format!("\u{feff}{}", good()).into(),
        utf16(&good()),
        utf16(&good().replace('\n', "\r\n")),
        good().replace("  ", " *").into(),
        good()
            .to_uppercase()
            .replace(" A", " a")
            .replace(" B", " b")
            .into(),
        format!("# comment\n\n{}", good()).into(),
    ];
    for list in lists {
        let output = verify(&tree(&list), &[]);
        output
            .stderr_has("verified 2 files, 8 bytes in [TIME]: 2 ok;")
            .check();
    }
}

#[test]
fn no_dress_hides_a_tampered_file() {
    let lists: [Vec<u8>; 4] = [
        good().trim_end().into(),
        good().replace('\n', "\r\n").into(),
        format!("\u{feff}{}", good()).into(),
        utf16(&good()),
    ];
    for list in lists {
        let tree = tree(&list);
        tree.file("a", "abd");
        let output = verify(&tree, &[]);
        output
            .stdout_has("changed     a  (md5: ")
            .stderr_has("1 ok, 1 changed")
            .code(1)
            .check();
    }
}

#[test]
fn a_list_that_was_cut_in_a_line_fails() {
    let whole = good();
    for len in [whole.len() - 2, whole.len() - 5, whole.len() - 20] {
        let output = verify(&tree(&whole[..len]), &[]);
        output
            .stdout_has("L:2: ")
            .stderr_has("1 line is malformed")
            .code(2)
            .check();
    }
}

#[test]
fn lists_that_verify_nothing_are_no_success() {
    let missing = format!("{MD5_OF_ABC}  gone\n");
    for (list, args) in [
        ("", &[][..]),
        ("# only\n# comments\n", &[]),
        ("Dear reader,\nthese are the sums.\n", &[]),
        (&missing, &["--ignore-missing"]),
        ("", &["--lenient"]),
        ("prose\n", &["--lenient"]),
        ("", &["--quiet"]),
        ("", &["--exact"]),
    ] {
        let output = verify(&tree(list), args);
        output
            .stdout_any()
            .stderr_has("nothing was verified")
            .code(2)
            .check();
        let silent: Vec<&str> = args.iter().copied().chain(["--status"]).collect();
        verify(&tree(list), &silent).code(2).check();
    }
}

#[test]
fn all_digests_of_a_name_must_match_in_whichever_lines_they_stand() {
    let zeros = "0".repeat(64);
    let md5 = format!("MD5 (a) = {MD5_OF_ABC}\n");
    let (good, bad) = (
        format!("SHA256 (a) = {SHA256_OF_ABC}\n"),
        format!("SHA256 (a) = {zeros}\n"),
    );
    let output = verify(&tree(md5.clone() + &good), &[]);
    output.stderr_has(": 1 ok; base .; md5, sha256\n").check();
    for list in [md5.clone() + &bad, bad.clone() + &md5] {
        let output = verify(&tree(list), &[]);
        output
            .stdout(format!(
                "changed     a  (sha256: expected {zeros}, got {SHA256_OF_ABC})\n"
            ))
            .stderr_has(": 1 changed;")
            .code(1)
            .check();
    }
    // Also across lists.
    let tree = tree(md5);
    tree.file("L2", bad);
    let output = tree.cmd(["verify", "L", "L2"]).run();
    output
        .stdout_has("changed     a  (sha256: ")
        .stderr_has(": 1 changed;")
        .code(1)
        .check();
}

#[test]
fn lines_that_contradict_each_other_verify_nothing() {
    let list = format!("{MD5_OF_ABC}  a\n{MD5_OF_NOTHING}  a\n{MD5_OF_HELLO}  b\n");
    let output = verify(&tree(list), &[]);
    output
        .stdout("unverified  a: contradictory entries: two different md5 digests are listed\n")
        .stderr_has("1 ok, 1 unverified")
        .code(2)
        .check();
    let twice = format!("{MD5_OF_ABC}  a\n{MD5_OF_ABC}  ./a\n");
    let output = verify(&tree(twice), &[]);
    output
        .stderr_has("verified 1 file, 3 bytes in [TIME]: 1 ok;")
        .check();
}

#[test]
fn several_lists_are_one_job() {
    let tree = tree(good());
    tree.file("sub/L", format!("{MD5_OF_ABC}  c\n"))
        .file("sub/c", "abc");
    let output = tree.cmd(["verify", "L", "sub/L"]).run();
    output.stderr_has("3 ok; bases ., sub; md5").check();
    let output = tree.cmd(["verify", "L", "nowhere"]).run();
    output
        .stderr("multisum: nowhere: open: No such file or directory (os error 2)\n")
        .code(2)
        .check();
    let output = tree.cmd(["verify", "sub"]).run();
    output
        .stderr("multisum: sub: a folder without manifests of its own (bagit.txt makes it a BagIt bag, ascmhl a media hash list history)\n")
        .code(2)
        .check();
}

#[test]
fn malformed_lines_fail_unless_they_are_tolerated() {
    let tree = tree(good() + "what is this\n");
    let told = "L:3: ";
    for args in [
        &[][..],
        &["--strict"],
        &["--lenient", "--strict"],
        &["--lenient", "--warn"],
    ] {
        let code = if args.contains(&"--warn") { 0 } else { 2 };
        let output = verify(&tree, args);
        output
            .stdout_has(told)
            .stderr_has("1 line is malformed")
            .code(code)
            .check();
    }
    let output = verify(&tree, &["--lenient"]);
    output
        .stderr_has("2 ok")
        .stderr_has("1 line is malformed")
        .check();
}

#[test]
fn less_can_be_said() {
    let tree = tree(good() + &format!("{MD5_OF_ABC}  gone\n"));
    let missing = "missing     gone\n";
    verify(&tree, &["--status"]).code(1).check();
    let weak = "not proof against tampering: only md5 was compared\n";
    let output = verify(&tree, &["--quiet"]);
    output.stdout(missing).stderr(weak).code(1).check();
    let output = verify(&tree, &["--quiet", "--ignore-missing"]);
    output.stderr(weak).check();
    let output = verify(&tree, &["--ignore-missing"]);
    output
        .stderr_has(": 2 ok, 1 missing and passed over; base .;")
        .check();
    let output = verify(&tree, &["-v"]);
    output
        .stdout(format!("ok          a\nok          b\n{missing}"))
        .stderr_has("2 ok, 1 missing;")
        .code(1)
        .check();
}

#[test]
fn only_what_is_not_there_is_passed_over() {
    let list = good() + &format!("{MD5_OF_ABC}  dangling\n{MD5_OF_ABC}  a/x\n{MD5_OF_ABC}  d\n");
    let tree = tree(list);
    tree.dir("d").link("dangling", "nowhere");
    let output = verify(&tree, &["--ignore-missing"]);
    output
        .stdout_has("unreadable  d: open: is a directory")
        .stderr_has("2 ok, 1 unreadable, 2 missing and passed over")
        .code(2)
        .check();
}

#[test]
fn the_first_finding_can_end_the_run_and_the_rest_is_counted() {
    let tree = tree(format!(
        "{MD5_OF_ABC}  a\n{MD5_OF_ABC}  b\n{MD5_OF_ABC}  a2\n{MD5_OF_ABC}  a3\n"
    ));
    let output = verify(&tree, &["--fail-fast"]);
    output
        .stdout_has("changed     b  ")
        .stderr_has("1 ok, 1 changed;")
        .stderr_has("stopped at the first finding: 2 entries were not checked\n")
        .code(1)
        .check();
    let json = verify(&tree, &["--fail-fast", "--json"]);
    json.stdout_has("\"not_checked\":2").code(1).check();
}

#[test]
fn special_files_in_a_list_are_never_opened() {
    let names = ["pipe", "d", "/dev/zero", "/dev/null", "to-folder", "socket"];
    let lines = names.map(|name| format!("{MD5_OF_NOTHING}  {name}\n"));
    let tree = tree(lines.concat() + &format!("{MD5_OF_ABC}  to-file\n"));
    tree.fifo("pipe")
        .dir("d")
        .socket("socket")
        .link("to-folder", "d")
        .link("to-file", "a");
    let output = verify(&tree, &[]);
    for name in names {
        assert!(String::from_utf8_lossy(&output.stdout).contains(&format!("unreadable  {name}: ")));
    }
    output
        .stdout_any()
        .stderr_has("1 ok, 6 unreadable")
        .code(2)
        .check();
}

#[test]
fn backslashes_in_names_are_understood() {
    let list = format!("\\{MD5_OF_ABC}  back\\\\slash\n{MD5_OF_ABC}  plain\\name\n");
    let tree = tree(list);
    tree.file("back\\slash", "abc").file("plain\\name", "abc");
    verify(&tree, &[]).stderr_has("2 ok").check();
}

#[test]
fn json_is_one_object_a_line_and_its_counts_add_up() {
    let list = good() + &format!("{MD5_OF_ABC}  gone\n{MD5_OF_ABC}  ");
    let mut list = list.into_bytes();
    list.extend_from_slice(b"\xff\nprose\n");
    let tree = tree(list);
    tree.file(crate::harness::name(b"\xff"), "abc")
        .file("new", "")
        .file("b", "x");
    let output = verify(&tree, &["--json", "--exact"]);
    let text = std::str::from_utf8(&output.stdout).unwrap();
    let values: Vec<Value> = text
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let (summary, entries) = values.split_last().unwrap();
    let summary = &summary["summary"];
    let of = |word: &'static str| {
        entries
            .iter()
            .filter(move |e| e["outcome"] == word && e["line"].is_null())
    };
    for (word, count) in [("ok", 2), ("changed", 1), ("missing", 1), ("new", 1)] {
        assert_eq!(summary[word], count, "{text}");
        assert_eq!(of(word).count(), count, "{text}");
    }
    assert_eq!(
        (&summary["malformed"], &summary["exit_code"]),
        (&1.into(), &2.into())
    );
    assert!(
        entries
            .iter()
            .any(|entry| entry["path_b64"] == "/w==" && entry["outcome"] == "ok")
    );
    let changed = of("changed").next().unwrap();
    assert_eq!(
        (&changed["algorithm"], &changed["expected"]),
        (&"md5".into(), &MD5_OF_HELLO.into())
    );
    output.stdout_any().code(2).check();
}

#[test]
fn standard_input_can_be_listed() {
    let tree = tree(format!("{MD5_OF_ABC}  -\n"));
    let output = tree.cmd(["verify", "L"]).stdin("abc").run();
    output.stderr_has("1 ok").check();
    let output = tree.cmd(["verify", "L"]).stdin("abd").run();
    output
        .stdout_has("changed     -  ")
        .stderr_any()
        .code(1)
        .check();
}

#[test]
fn what_is_no_file_proves_no_digest_and_is_no_file_that_was_verified() {
    let tree = Tree::new();
    let wrong = "0".repeat(64);
    tree.file("x", "abc").dir("d").link("l", "x");
    for list in [
        format!("./d type=file sha256digest={wrong}\n./d type=dir\n"),
        format!("./d type=dir\n./d type=file sha256digest={wrong}\n"),
        format!("./d type=dir sha256digest={wrong}\n"),
        format!("./l type=link link=x sha256digest={wrong}\n"),
        // A folder alone is nothing that was read.
        "./d type=dir\n".to_owned(),
    ] {
        let sha256 = SHA256_OF_ABC;
        let beside = format!("./x type=file sha256digest={sha256}\n");
        for rest in ["", &beside] {
            tree.file("L", format!("#mtree\n{list}{rest}"));
            let output = tree.cmd(["verify", "L"]).run();
            let expected = if list == "./d type=dir\n" && !rest.is_empty() {
                0
            } else {
                2
            };
            assert_eq!(output.code, Some(expected), "{list}{rest}{output}");
            output.stdout_any().stderr_any().code(expected).check();
        }
    }
    tree.file("A.sha256", format!("{wrong}  d\n"))
        .file("B.mtree", "#mtree\n./d type=dir\n");
    for lists in [["A.sha256", "B.mtree"], ["B.mtree", "A.sha256"]] {
        tree.cmd(["verify", lists[0], lists[1]])
            .run()
            .code(2)
            .stdout_has("contradictory entries: two different values of its type")
            .stderr_any()
            .check();
    }
}

#[test]
fn no_link_leads_out_of_a_manifest_that_describes_its_folder() {
    let tree = Tree::new();
    tree.file("t/s/x", "abc").file("other/s/x", "abc");
    tree.cmd(["hash", "-q", "-o", "t/m.jsonl", "t"])
        .run()
        .code(0)
        .check();
    tree.remove("t/s/x");
    std::fs::remove_dir(tree.path("t/s")).unwrap();
    tree.link("t/s", "../other/s");
    tree.cmd(["verify", "t/m.jsonl"])
        .run()
        .code(2)
        .stdout_has("unverified  s/x: the name leads out of the base")
        .stderr_any()
        .check();
    let md5 = MD5_OF_ABC;
    tree.file(
        "t/m.mhl",
        format!(
            "<hashlist version=\"1.0\"><hash><file>../other/s/x</file><size>3</size>\
             <md5>{md5}</md5></hash></hashlist>"
        ),
    );
    tree.cmd(["verify", "t/m.mhl"])
        .run()
        .code(2)
        .stdout_has("the name leads out of the base")
        .stderr_any()
        .check();
}
