//! `merge`: parts into a whole.

use crate::harness::{Cmd, MD5_OF_ABC, MD5_OF_HELLO, Tree};

fn md5(name: &str) -> String {
    format!("{MD5_OF_ABC}  {name}\n")
}

/// Runs whose manifests say that they were made at one moment.
fn at_one_moment(cmd: Cmd) -> Cmd {
    cmd.env("SOURCE_DATE_EPOCH", "1700000000")
}

#[track_caller]
fn hash(tree: &Tree, args: &[&str]) {
    let cmd = tree.cmd(["hash"].iter().chain(args));
    at_one_moment(cmd).run().stderr_any().check();
}

#[track_caller]
fn merge(tree: &Tree, args: &[&str]) {
    let cmd = tree.cmd(["merge", "-q"].iter().chain(args));
    at_one_moment(cmd).run().check();
}

/// Merging fails with this message, and the output does not come to be.
#[track_caller]
fn refused(tree: &Tree, args: &[&str], told: &str) {
    let cmd = tree.cmd(["merge", "-o", "out"].iter().chain(args));
    cmd.run().stderr_has(told).code(2).check();
    assert!(!tree.path("out").exists());
}

/// A tree `t`, its manifest `whole.jsonl` and its slices `part-N.jsonl`.
fn sliced(count: u32) -> Tree {
    let tree = Tree::new();
    for number in 0..60 {
        tree.file(format!("t/d{}/{number}", number % 5), number.to_string());
    }
    hash(
        &tree,
        &["-a", "sha256,md5", "-C", "t", "-o", "whole.jsonl", "."],
    );
    for index in 1..=count {
        let (slice, part) = (format!("{index}/{count}"), format!("part-{index}.jsonl"));
        hash_slice(&tree, &slice, &part, ".");
    }
    tree
}

#[track_caller]
fn hash_slice(tree: &Tree, slice: &str, output: &str, path: &str) {
    let options = ["-a", "sha256,md5", "-C", "t"];
    hash(
        tree,
        &[&options[..], &["--slice", slice, "-o", output, path]].concat(),
    );
}

fn parts(count: u32) -> Vec<String> {
    (1..=count)
        .map(|index| format!("part-{index}.jsonl"))
        .collect()
}

fn args(parts: &[String]) -> Vec<&str> {
    parts.iter().map(String::as_str).collect()
}

#[test]
fn all_slices_make_what_one_run_would_have_written() {
    let tree = sliced(7);
    let mut all = parts(7);
    for _ in 0..2 {
        let all_args = [&["-o", "out.jsonl"][..], &args(&all)].concat();
        merge(&tree, &all_args);
        assert!(tree.read("out.jsonl") == tree.read("whole.jsonl"));
        tree.remove("out.jsonl");
        all.reverse();
    }
    tree.dir("elsewhere");
    let all_args = [&["-o", "elsewhere/out.jsonl"][..], &args(&all)].concat();
    merge(&tree, &all_args);
    let output = tree.cmd(["verify", "-q", "elsewhere/out.jsonl"]).run();
    output.stdout("").stderr_any().check();
}

#[test]
fn slices_in_other_formats_make_what_one_run_would_have_written_too() {
    let tree = Tree::new();
    for number in 0..20 {
        tree.file(format!("t/d{}/{number}", number % 3), number.to_string());
    }
    for format in ["gnu", "bsd", "hashdeep", "csv"] {
        let run = |slice: &[&str], output: &str| {
            let options = ["-C", "t", "-f", format, "-o", output, "."];
            hash(&tree, &[slice, &options].concat());
        };
        run(&[], "whole");
        for index in ["1", "2", "3"] {
            run(&["--slice", &format!("{index}/3")], index);
        }
        merge(&tree, &["-o", "out", "3", "1", "2"]);
        assert!(tree.read("out") == tree.read("whole"), "{format}");
        for output in ["whole", "1", "2", "3", "out"] {
            tree.remove(output);
        }
    }
}

#[test]
fn a_missing_slice_is_named_and_nothing_is_written() {
    let tree = sliced(7);
    let mut some = parts(7);
    some.remove(2);
    refused(&tree, &args(&some), "multisum: slice 3/7 is missing\n");
    some.remove(4);
    refused(
        &tree,
        &args(&some),
        "multisum: slices 3/7, 6/7 are missing\n",
    );
    // Twice the same slice is not two slices.
    some.push("part-1.jsonl".to_owned());
    refused(&tree, &args(&some), "slices 3/7, 6/7 are missing");
    // The whole needs no slices.
    some.push("whole.jsonl".to_owned());
    let whole = [&["-o", "out.jsonl"][..], &args(&some)].concat();
    merge(&tree, &whole);
    assert!(tree.read("out.jsonl") == tree.read("whole.jsonl"));
}

#[test]
fn slices_of_different_trees_or_numbers_are_not_taken_for_a_whole() {
    let tree = sliced(2);
    hash_slice(&tree, "3/3", "third.jsonl", ".");
    let told = "part-1.jsonl and third.jsonl do not go together: the slice is 1/2 in one, 3/3 in the other";
    refused(
        &tree,
        &["part-1.jsonl", "part-2.jsonl", "third.jsonl"],
        told,
    );
    hash_slice(&tree, "2/2", "d1-2.jsonl", "d1");
    let told = "slice 1/2 of d1 is missing\n";
    refused(&tree, &["part-1.jsonl", "part-2.jsonl", "d1-2.jsonl"], told);
}

#[test]
fn a_truncated_or_altered_part_is_named_and_nothing_is_written() {
    let tree = sliced(2);
    let text = String::from_utf8(tree.read("part-2.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    tree.file("cut.jsonl", lines[..lines.len() - 1].join("\n") + "\n");
    let told = "multisum: cut.jsonl: it is damaged as a whole or incomplete";
    refused(&tree, &["part-1.jsonl", "cut.jsonl"], told);
    tree.file("edited.jsonl", text.replacen("\"size\":2", "\"size\":3", 1));
    let told = "multisum: edited.jsonl: it is damaged as a whole or incomplete";
    refused(&tree, &["part-1.jsonl", "edited.jsonl"], told);
    // A line that cannot be used is enough where nothing seals the whole.
    tree.file("MD5A", md5("a") + "junk\n")
        .file("MD5B", md5("b"));
    refused(
        &tree,
        &["MD5A", "MD5B"],
        "multisum: MD5A: 1 line cannot be used",
    );
}

#[test]
fn disjoint_trees_make_what_one_run_over_both_would_have_written() {
    let tree = Tree::new();
    tree.file("a/x", "abc").file("a/y z", "").file("a/d/1", "1");
    tree.file("b/x", "abc")
        .file("b/k l", "2")
        .file("a.txt", "3");
    for (ending, options) in [
        ("jsonl", &["-a", "sha256,md5"][..]),
        ("csv", &["-a", "sha256,md5"]),
        ("hashdeep", &["-a", "sha256,md5"]),
        ("json", &["-a", "sha256,md5"]),
        ("mtree", &["-a", "sha256,md5"]),
        ("sha256", &[]),
        ("bsd", &["-a", "sha256,md5", "-f", "bsd"]),
        ("zero", &["-a", "md5", "-f", "gnu-zero"]),
    ] {
        let names = ["whole", "1", "2", "3", "out"].map(|name| format!("{name}.{ending}"));
        let [whole, one, two, three, out] = names.each_ref().map(String::as_str);
        for (output, paths) in [
            (whole, &["a", "a.txt", "b"][..]),
            (one, &["a"]),
            (two, &["a.txt"]),
            (three, &["b"]),
        ] {
            hash(&tree, &[options, &["-o", output], paths].concat());
        }
        merge(&tree, &["-o", out, one, two, three]);
        assert_eq!(
            tree.read(out).escape_ascii().to_string(),
            tree.read(whole).escape_ascii().to_string(),
            "{ending}"
        );
        if ending != "jsonl" {
            merge(&tree, &["-o", out, "--force", three, one, two]);
            assert!(tree.read(out) == tree.read(whole), "{ending}");
        }
    }
}

#[test]
fn overlaps_that_agree_are_one_and_those_that_do_not_are_named() {
    let tree = Tree::new();
    tree.file("MD5A", md5("a") + &md5("c"))
        .file("MD5B", md5("b") + &md5("./a"));
    let output = tree.cmd(["merge", "MD5A", "MD5B", "-o", "-"]).run();
    output
        .stdout(md5("a") + &md5("b") + &md5("c"))
        .stderr(
            "the parts do not say what was walked; whether one is missing cannot be told\n\
             merged 3 entries of 2 parts to gnu; md5\n",
        )
        .check();
    tree.file("MD5C", md5("0") + &format!("{MD5_OF_HELLO}  c\n"));
    let told =
        "multisum: c: MD5A and MD5C contradict each other: they give two different md5 digests\n";
    refused(&tree, &["MD5A", "MD5B", "MD5C"], told);
    let output = tree.cmd(["merge", "MD5A", "MD5C", "-o", "-"]).run();
    output.stdout("").stderr(told).code(2).check();
    let gap = "# multisum gap: unreadable c\n";
    tree.file("MD5C", gap);
    let told =
        "c: MD5A and MD5C contradict each other: one of them says that it could not be hashed";
    refused(&tree, &["MD5A", "MD5C"], told);
    tree.file("MD5A", md5("a") + gap);
    let output = tree.cmd(["merge", "-q", "MD5A", "MD5C", "-o", "-"]).run();
    output
        .stdout(md5("a") + gap)
        .stderr("1 file is recorded as not hashed\n")
        .code(2)
        .check();
}

#[test]
fn gaps_are_told_and_no_success_and_the_rest_is_written() {
    let tree = Tree::new();
    let gaps = "# multisum gap: unreadable c\n# multisum gap: unreadable d\n";
    tree.file("MD5A", md5("a") + gaps).file("MD5B", md5("b"));
    let output = tree.cmd(["merge", "MD5A", "MD5B", "-o", "MD5SUMS"]).run();
    output
        .stderr(
            "2 files are recorded as not hashed\n\
             the parts do not say what was walked; whether one is missing cannot be told\n\
             merged 2 entries of 2 parts to gnu; md5\n",
        )
        .code(2)
        .check();
    let written = String::from_utf8(tree.read("MD5SUMS")).unwrap();
    assert_eq!(written, md5("a") + &md5("b") + gaps);
}

const NOT_SAID: &str =
    "the parts do not say what was walked; whether one is missing cannot be told\n";

#[test]
fn slices_of_lists_are_not_known_to_belong_together() {
    let tree = Tree::new();
    for (slice, list, numbers, output) in [
        ("1/2", "list1", 0..20, "1.jsonl"),
        ("2/2", "list2", 20..40, "2.jsonl"),
    ] {
        let names: Vec<String> = numbers.map(|number| number.to_string()).collect();
        for name in &names {
            tree.file(name, name);
        }
        tree.file(list, names.join("\n") + "\n");
        hash(
            &tree,
            &["--slice", slice, "--files-from", list, "-o", output],
        );
    }
    let output = tree.cmd(["merge", "1.jsonl", "2.jsonl", "-o", "all.jsonl"]);
    output.run().stderr_has(NOT_SAID).check();
    refused(&tree, &["1.jsonl"], "multisum: slice 2/2 is missing\n");
    hash(&tree, &["-o", "walked.jsonl", "0"]);
    let output = tree.cmd(["merge", "walked.jsonl", "-o", "whole.jsonl"]);
    output
        .run()
        .stderr("merged 1 entry of 1 part to jsonl; sha256\n")
        .check();
}

#[test]
fn what_came_from_standard_input_is_no_tree() {
    let tree = Tree::new();
    let cmd = tree.cmd(["hash", "-o", "s.jsonl", "-"]).stdin("abc");
    cmd.run().stderr_any().check();
    let output = tree.cmd(["merge", "s.jsonl", "-o", "all.jsonl"]).run();
    output.stderr_has(NOT_SAID).check();
}

#[test]
fn the_names_of_parts_from_pipes_are_relative_to_the_current_folder() {
    let tree = Tree::new();
    tree.file("t/a/x", "abc").file("t/b/x", "abc");
    for name in ["a", "b"] {
        let output = format!("{name}.jsonl");
        hash(&tree, &["-C", "t", "-o", &output, name]);
    }
    let script = |output: &str| {
        let merge = format!("$M merge -q /dev/fd/3 - -o {output}");
        tree.shell(&format!("cat a.jsonl | {{ cat b.jsonl | {merge}; }} 3<&0"))
            .run()
    };
    let paths = "\"paths\":[\"a\",\"b\"]";
    script("-")
        .stdout_has(&format!("\"base\":\"t\",{paths}"))
        .check();
    script("t/all.jsonl").check();
    let text = String::from_utf8(tree.read("t/all.jsonl")).unwrap();
    assert!(text.contains(&format!("\"base\":\".\",{paths}")), "{text}");
}

#[test]
fn parts_of_different_algorithms_scopes_bases_or_kinds_are_refused() {
    let tree = Tree::new();
    tree.file("a/x", "abc").file("b/x", "abc");
    hash(&tree, &["-a", "md5", "-o", "MD5A", "a"]);
    hash(&tree, &["-a", "sha1", "-o", "SHA1B", "b"]);
    let told =
        "MD5A and SHA1B do not go together: the algorithms are md5 in one, sha1 in the other";
    refused(&tree, &["MD5A", "SHA1B"], told);
    hash(&tree, &["-o", "a.jsonl", "a"]);
    hash(&tree, &["-o", "b.jsonl", "--exclude", "*.tmp", "b"]);
    let told =
        "a.jsonl and b.jsonl do not go together: --exclude is none in one, *.tmp in the other";
    refused(&tree, &["a.jsonl", "b.jsonl"], told);
    hash(&tree, &["-C", "b", "-o", "c.jsonl", "."]);
    let told = "the base is [TREE] in one, [TREE]/b in the other";
    refused(&tree, &["a.jsonl", "c.jsonl"], told);
    let told = "a.jsonl and MD5A do not go together: the format is jsonl in one, gnu in the other";
    refused(&tree, &["a.jsonl", "MD5A"], told);
}

#[test]
fn what_the_target_cannot_carry_is_not_written() {
    let tree = Tree::new();
    tree.file("a/x", "abc").file("b/x", "abc");
    for name in ["a", "b"] {
        let output = format!("{name}.bsd");
        hash(
            &tree,
            &["-a", "md5,sha256", "-f", "bsd", "-o", &output, name],
        );
    }
    let told = "not carried over: the md5 digests of 2 entries (gnu carries one algorithm)\n";
    refused(&tree, &["-f", "gnu", "a.bsd", "b.bsd"], told);
    refused(
        &tree,
        &["-f", "gnu", "a.bsd", "b.bsd"],
        "multisum: nothing was written",
    );
    let told = "format powershell can be read but not written";
    refused(&tree, &["-f", "powershell", "a.bsd"], told);
    // Sizes and times are no digests.
    hash(&tree, &["-o", "a.jsonl", "a"]);
    let output = tree.cmd(["merge", "a.jsonl", "-o", "SHA256SUMS"]).run();
    output
        .stderr(
            "not carried over: the sizes of 1 entry\n\
             not carried over: the modification times of 1 entry\n\
             merged 1 entry of 1 part to gnu; sha256\n",
        )
        .check();
    let verify = tree.cmd(["verify", "-q", "SHA256SUMS"]).run();
    verify.check();
}

#[test]
fn the_base_of_native_parts_is_kept_and_that_of_lists_is_told() {
    let tree = Tree::new();
    tree.file("t/a/x", "abc").file("t/b/x", "abc").dir("parts");
    for name in ["a", "b"] {
        let output = format!("parts/{name}.jsonl");
        hash(&tree, &["-C", "t", "-o", &output, name]);
        let output = format!("parts/{name}.sha256");
        hash(&tree, &["-C", "t", "-o", &output, name]);
    }
    merge(
        &tree,
        &["parts/a.jsonl", "parts/b.jsonl", "-o", "t/all.jsonl"],
    );
    let text = String::from_utf8(tree.read("t/all.jsonl")).unwrap();
    assert!(
        text.contains("\"base\":\".\",\"paths\":[\"a\",\"b\"]"),
        "{text}"
    );
    let verify = tree.cmd(["verify", "t/all.jsonl"]).run();
    verify.stderr_has(": 2 ok;").check();
    let cmd = tree.cmd([
        "merge",
        "parts/a.sha256",
        "parts/b.sha256",
        "-o",
        "SHA256SUMS",
    ]);
    cmd.run()
        .stderr_has("names are relative to parts; verify with -C from there\n")
        .check();
    tree.file("1/MD5SUMS", md5("x")).file("2/MD5SUMS", md5("y"));
    let cmd = tree.cmd(["merge", "1/MD5SUMS", "2/MD5SUMS", "-o", "MD5SUMS"]);
    cmd.run()
        .stderr_has("the parts lie in different folders; their names were taken to be relative to one and the same\n")
        .check();
    let cmd = tree.cmd(["merge", "1/MD5SUMS", "2/MD5SUMS", "-o", "m.jsonl"]);
    cmd.run()
        .stderr_has("multisum: the parts lie in different folders, and the names")
        .code(2)
        .check();
}

#[test]
fn an_existing_output_is_kept_unless_told_otherwise() {
    let tree = Tree::new();
    tree.file("MD5A", md5("a")).file("MD5SUMS", "old");
    let cmd = tree.cmd(["merge", "MD5A", "-o", "MD5SUMS"]);
    cmd.run().stderr_has("--force replaces it").code(2).check();
    assert_eq!(tree.read("MD5SUMS"), b"old");
    merge(&tree, &["MD5A", "-o", "MD5SUMS", "--force"]);
    assert_eq!(tree.read("MD5SUMS"), md5("a").as_bytes());
}
