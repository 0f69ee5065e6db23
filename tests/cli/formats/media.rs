//! Media hash lists, Digital Forensics XML and FCIV.

use std::fs;

use crate::harness::{MD5_OF_ABC, Output, Tree, holds, name};

/// Names that XML can hold, and that suffer where a program escapes too little.
const NAMES: [&str; 7] = [
    "Clips/A & B <1>.mov",
    "Clips/b\"'.mov",
    "new\nline",
    "cr\r",
    " lead",
    "tab\t",
    "é/]]>",
];

fn tree_of(names: &[&str]) -> Tree {
    let tree = Tree::new();
    for (index, name) in names.iter().enumerate() {
        tree.painted(name, 10 + index);
    }
    tree
}

/// Runs a program of the reference implementation; `None` if it is not installed.
#[track_caller]
fn ascmhl(tree: &Tree, args: &str, code: i32) -> Option<Output> {
    let (program, args) = args.split_once(' ').unwrap();
    let output = tree.tool(program, args.split(' '))?.run();
    assert_eq!(output.code, Some(code), "{program} {args}: {output}");
    Some(output)
}

/// What the manifest was taken for, which `verify -v` tells.
#[track_caller]
fn says(output: &Output, evidence: &str) {
    let told = [&output.stdout[..], &output.stderr[..]].concat();
    assert!(holds(&told, evidence.as_bytes()), "{evidence}: {output}");
}

/// What the reference implementation makes of a history that is whole.
#[track_caller]
fn accepted(tree: &Tree, folder: &str) {
    for args in ["ascmhl diff", "ascmhl info", "ascmhl-debug verify"] {
        if let Some(output) = ascmhl(tree, &format!("{args} {folder}"), 0) {
            output.stdout_any().stderr_any().check();
        }
    }
    let schema = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/manifests/mhl/ASCMHL.xsd"
    );
    for list in tree.names_in(format!("{folder}/ascmhl")) {
        let list = list.into_string().unwrap();
        if list.ends_with(".mhl") {
            let args =
                format!("ascmhl-debug xsd-schema-check -xsd {schema} {folder}/ascmhl/{list}");
            if let Some(output) = ascmhl(tree, &args, 0) {
                output.stdout_has("validated").stderr_any().check();
            }
        }
    }
}

#[track_caller]
fn verified(tree: &Tree, folder: &str, told: &str, counts: &str, code: i32) {
    let output = tree.cmd(["verify", folder]).run();
    output.stdout(told).stderr_has(counts).code(code).check();
}

#[track_caller]
fn recorded(tree: &Tree, args: &[&str], told: &str, code: i32) {
    let output = tree.cmd(["hash", "--mhl"].iter().chain(args)).run();
    output.stderr_has(told).code(code).check();
}

/// The name of a generation, which holds the time when it was made.
fn generation(tree: &Tree, folder: &str, number: &str) -> String {
    let names = tree.names_in(format!("{folder}/ascmhl"));
    let mut names = names.into_iter().map(|name| name.into_string().unwrap());
    let name = names.find(|name| name.starts_with(number)).unwrap();
    format!("{folder}/ascmhl/{name}")
}

#[test]
fn what_hashdeep_writes_in_xml_is_read() {
    let tree = tree_of(&NAMES);
    tree.painted(name(b"\xff\xfe"), 3)
        .painted("esc\x1b[2J", 2)
        .painted("empty", 0);
    let Some(tool) = tree.tool("hashdeep", ["-r", "-l", "-d", "."]) else {
        return;
    };
    let written = tool.run();
    tree.file("../L", &written.stdout);
    written.stdout_any().check();
    let args = ["verify", "-v", "--exact", "-C", ".", "../L"];
    let good = tree.cmd(args).run();
    says(&good, "../L: format dfxml (from its beginning)");
    good.stdout_any()
        .stderr_has("10 ok; base .; md5, sha256")
        .check();
    tree.flip("Clips/b\"'.mov", 0);
    let bad = tree.cmd(args).run();
    bad.stdout_has("./Clips/b\"'.mov  (md5: expected ")
        .stderr_any()
        .code(1)
        .check();
}

#[test]
fn our_forensics_xml_is_xml_to_others() {
    let tree = tree_of(&NAMES);
    let args = "hash -f dfxml -a md5,sha256 -C . -o ../L .".split(' ');
    tree.cmd(args).run().stderr_any().check();
    let output = tree.cmd(["verify", "-C", ".", "--exact", "../L"]).run();
    output.stderr_has("7 ok; base .; md5, sha256").check();
    let script = "import sys, xml.etree.ElementTree as t\n\
        space = '{http://www.forensicswiki.org/wiki/Category:Digital_Forensics_XML}'\n\
        names = [n.text for n in t.parse('../L').iter(space + 'filename')]\n\
        sys.stdout.buffer.write('\\0'.join(sorted(names)).encode())";
    let Some(python) = tree.tool("python3", ["-c", script]) else {
        return;
    };
    let mut names = NAMES;
    names.sort_unstable();
    python.run().stdout(names.join("\0")).check();
}

#[test]
fn a_list_of_ours_is_a_packing_list_to_others() {
    let names = ["Clips/A & B <1>.mov", "Clips/b\"'.mov", " lead", "é/]]>"];
    let tree = tree_of(&names);
    let args = "hash -a xxh64,c4,md5 -C . -o ../L.mhl .".split(' ');
    tree.cmd(args).run().stderr_any().check();
    let output = tree.cmd(["verify", "-v", "-C", ".", "../L.mhl"]).run();
    says(&output, "format mhl (from its beginning)");
    output
        .stdout_any()
        .stderr_has("4 ok; base .; md5, xxh64, c4")
        .check();
    let check = |code| ascmhl(&tree, "ascmhl-debug verify -pl ../L.mhl .", code);
    let Some(output) = check(0) else { return };
    output.stdout_any().stderr_any().check();
    tree.flip(" lead", 0);
    let output = check(11).unwrap();
    output.stdout_any().stderr_any().code(11).check();
    let output = tree.cmd(["verify", "-C", ".", "../L.mhl"]).run();
    output
        .stdout_has(" lead  (c4: expected ")
        .stderr_any()
        .code(1)
        .check();
}

#[test]
fn a_history_goes_on_whoever_adds_to_it() {
    let tree = tree_of(&[
        "R/Clips/a & b.mov",
        "R/Clips/c.mov",
        "R/empty/e/f",
        "R/side.txt",
    ]);
    tree.dir("R/nothing").painted("R/nil", 0);
    recorded(&tree, &["R", "-a", "xxh64"], "hashed 5 files", 0);
    accepted(&tree, "R");
    if let Some(output) = ascmhl(&tree, "ascmhl-debug verify -dh R", 0) {
        output.stdout_any().stderr_any().check();
        let output = ascmhl(&tree, "ascmhl create -h c4 R", 0).unwrap();
        output.stdout_any().stderr_any().check();
    } else {
        recorded(&tree, &["R"], "c4, xxh64", 0);
    }
    verified(&tree, "R", "", ": 5 ok; base R; xxh64, c4", 0);

    fs::rename(tree.path("R/Clips/c.mov"), tree.path("R/Clips/d.mov")).unwrap();
    let moved = "moved       Clips/c.mov -> Clips/d.mov\n";
    verified(&tree, "R", moved, "4 ok, 1 moved", 1);
    recorded(&tree, &["R"], "renamed from Clips/c.mov to Clips/d.mov", 0);
    accepted(&tree, "R");
    verified(&tree, "R", "", ": 5 ok;", 0);

    tree.flip("R/side.txt", 0).remove("R/nil");
    tree.painted("R/new", 5);
    recorded(&tree, &["R"], "changed     side.txt", 1);
    for (args, code) in [("ascmhl-debug verify R", 11), ("ascmhl create -h c4 R", 11)] {
        if let Some(output) = ascmhl(&tree, args, code) {
            output.stdout_any().stderr_any().code(code).check();
        }
    }
    let output = tree.cmd(["verify", "R"]).run();
    output
        .stdout_has("side.txt  (xxh64: expected ")
        .stdout_has("missing     nil\n")
        .stderr_has("4 ok, 1 ")
        .code(1)
        .check();
}

#[test]
fn folders_have_the_hashes_that_others_compute() {
    let tree = tree_of(&["R/a", "R/d/b", "R/d/e/c"]);
    tree.dir("R/d/nothing");
    recorded(
        &tree,
        &["R", "-a", "md5,sha1,xxh3,xxh64,xxh128,c4"],
        "hashed 3 files",
        0,
    );
    accepted(&tree, "R");
    let Some(output) = ascmhl(&tree, "ascmhl-debug verify -dh R", 0) else {
        return;
    };
    output.stdout_any().stderr_any().check();
    tree.painted("R/d/nothing/new", 1);
    let output = ascmhl(&tree, "ascmhl-debug verify -dh R", 12).unwrap();
    output.stdout_any().stderr_any().code(12).check();
}

#[test]
fn what_the_chain_does_not_guard_is_refused() {
    for fault in ["altered", "missing", "added", "chainless", "disordered"] {
        let tree = tree_of(&["R/a", "R/b"]);
        recorded(&tree, &["R"], "hashed 2 files", 0);
        recorded(&tree, &["R"], "hashed 2 files", 0);
        let second = tree.path(generation(&tree, "R", "0002"));
        let chain = tree.path("R/ascmhl/ascmhl_chain.xml");
        match fault {
            "altered" => {
                let text = fs::read_to_string(&second).unwrap();
                fs::write(&second, text.replace("</hashlist>", "</hashlist> ")).unwrap();
            }
            "missing" => fs::remove_file(&second).unwrap(),
            "added" => {
                fs::copy(&second, tree.path("R/ascmhl/0004_R.mhl")).unwrap();
            }
            "chainless" => fs::remove_file(&chain).unwrap(),
            _ => {
                let text = fs::read_to_string(&chain).unwrap();
                fs::write(&chain, text.replace("sequencenr=\"2\"", "sequencenr=\"3\"")).unwrap();
            }
        }
        let output = tree.cmd(["verify", "R"]).run();
        output
            .stdout_has("the manifest was altered")
            .stderr_any()
            .code(2)
            .check();
        let before = tree.names_in("R/ascmhl");
        recorded(&tree, &["R"], "the manifest was altered", 2);
        assert_eq!(tree.names_in("R/ascmhl"), before, "{fault}");
    }
}

#[test]
fn a_run_that_was_stopped_does_not_end_a_history() {
    let tree = tree_of(&["R/a"]);
    recorded(&tree, &["R"], "hashed 1 file", 0);
    let first = tree.path(generation(&tree, "R", "0001"));
    fs::copy(&first, tree.path("R/ascmhl/0002_R_stopped.mhl")).unwrap();
    let told = "0002_R_stopped.mhl:1: it comes from a run that was stopped";
    let output = tree.cmd(["verify", "R"]).run();
    output.stderr_has(told).stderr_has("1 ok").check();
    recorded(&tree, &["R"], told, 0);
    assert!(!tree.path("R/ascmhl/0002_R_stopped.mhl").exists());
    accepted(&tree, "R");
    verified(&tree, "R", "", ": 1 ok;", 0);
}

#[test]
fn a_history_below_records_what_lies_there() {
    let tree = tree_of(&["R/a", "R/Sub/b", "R/Sub/d/c"]);
    recorded(&tree, &["R/Sub"], "hashed 2 files", 0);
    recorded(&tree, &["R"], "hashed 3 files", 0);
    accepted(&tree, "R");
    if let Some(output) = ascmhl(&tree, "ascmhl create -h c4 R", 0) {
        output.stdout_any().stderr_any().check();
    }
    recorded(&tree, &["R"], "hashed 3 files", 0);
    accepted(&tree, "R");
    if let Some(output) = ascmhl(&tree, "ascmhl-debug verify -dh R", 0) {
        output.stdout_any().stderr_any().check();
    }
    verified(&tree, "R", "", ": 3 ok; base R; c4", 0);
    verified(&tree, "R/Sub", "", ": 2 ok; base R/Sub; c4", 0);
    tree.remove("R/Sub/d/c").painted("R/Sub/n", 99);
    let told = "missing     Sub/d/c\nnew         Sub/n\n";
    verified(&tree, "R", told, "2 ok, 1 missing, 1 new", 1);
    fs::remove_dir_all(tree.path("R/Sub/ascmhl")).unwrap();
    let output = tree.cmd(["verify", "R"]).run();
    output
        .stdout_has("the manifest was altered: Sub/ascmhl/")
        .stderr_any()
        .code(2)
        .check();
}

#[test]
fn what_a_history_leaves_out_is_not_new() {
    let tree = tree_of(&["R/a", "R/b.tmp", "R/.DS_Store"]);
    recorded(&tree, &["R", "--exclude", "*.tmp"], "hashed 1 file", 0);
    accepted(&tree, "R");
    verified(&tree, "R", "", ": 1 ok;", 0);
    recorded(&tree, &["R"], "hashed 1 file", 0);
    tree.painted("R/c", 1);
    verified(&tree, "R", "new         c\n", "1 ok, 1 new", 1);
}

#[test]
fn nothing_is_recorded_that_cannot_be_recorded_whole() {
    let tree = tree_of(&["R/a"]);
    recorded(
        &tree,
        &["R", "-a", "sha256"],
        "format mhl cannot carry sha256",
        2,
    );
    tree.painted(name(b"R/\xff"), 3);
    recorded(&tree, &["R"], "bytes that are not UTF-8", 2);
    assert!(!tree.path("R/ascmhl").exists());
    let tree = tree_of(&["R/a", "R/closed"]);
    tree.mode("R/closed", 0);
    if let Some(cmd) = tree.cmd(["hash", "--mhl", "R"]).unprivileged() {
        let output = cmd.run();
        output.stderr_has("no generation was added").code(2).check();
        assert!(!tree.path("R/ascmhl").exists());
    }
}

#[test]
fn one_generation_is_a_list_that_starts_from_the_folder_around() {
    let tree = tree_of(&["R/a", "R/d/b"]);
    recorded(&tree, &["R"], "hashed 2 files", 0);
    let list = generation(&tree, "R", "0001");
    let output = tree.cmd(["verify", &list]).run();
    output.stderr_has(": 2 ok;").check();
}

#[test]
fn older_hash_lists_and_fciv_are_read() {
    let legacy = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<hashlist version=\"1.1\">\n\
        <hash><file>d/a</file><size>3</size><xxhash>852579327</xxhash>\
        <xxhash64>990977adf52cbc44</xxhash64><xxhash64be>44bc2cf5ad770999</xxhash64be></hash>\n\
        </hashlist>\n";
    let database = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n<FCIV><FILE_ENTRY><name>d\\a</name>\
        <MD5>kAFQmDzST7DWlj99KOF/cg==</MD5><SHA1>qZk+NkcGgWq6PiVxeFDCbJzQ2J0=</SHA1></FILE_ENTRY></FCIV>";
    let printed = format!(
        "//\r\n// File Checksum Integrity Verifier version 2.05.\r\n//\r\n{MD5_OF_ABC} d\\a\r\n"
    );
    for (list, format, algorithms) in [
        (legacy, "legacy-mhl", "xxh32, xxh64"),
        (database, "fciv", "md5, sha1"),
        (&*printed, "fciv", "md5"),
    ] {
        let tree = Tree::new();
        tree.file("d/a", "abc").file("L", list);
        let output = tree.cmd(["verify", "-v", "L"]).run();
        says(&output, &format!("format {format} (from its beginning)"));
        output
            .stdout_any()
            .stderr_has(&format!("1 ok; base .; {algorithms}"))
            .check();
        tree.flip("d/a", 0);
        let output = tree.cmd(["verify", "L"]).run();
        output.stdout_any().stderr_any().code(1).check();
    }
}

#[test]
fn kept_lists_of_the_real_tools_are_understood() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/manifests");
    for (list, entries) in [("dfxml/hashdeep.xml", 7), ("mhl/0001_kept.mhl", 4)] {
        let tree = Tree::new();
        let path = format!("{folder}/{list}");
        let output = tree.cmd(["verify", "-C", ".", &path]).run();
        output
            .stdout_any()
            .stderr_has(&format!("{entries} missing"))
            .code(1)
            .check();
    }
}
