//! `verify --exact`: what is not listed, and where listed files went.

use crate::harness::{MD5_OF_ABC, MD5_OF_HELLO, MD5_OF_NOTHING, Tree};

fn md5(name: &str) -> String {
    format!("{MD5_OF_ABC}  {name}\n")
}

#[track_caller]
fn expect(tree: &Tree, args: &[&str], told: &str, counts: &str, code: i32) {
    let args = ["verify", "--exact"].iter().chain(args);
    let output = tree.cmd(args).run();
    output.stdout(told).stderr_has(counts).code(code).check();
}

#[test]
fn a_new_file_is_found_only_when_asked_and_the_list_is_not_new() {
    let tree = Tree::new();
    tree.file("a", "abc")
        .file("d/.new", "")
        .file("MD5SUMS", md5("a"));
    let output = tree.cmd(["verify", "MD5SUMS"]).run();
    output.stderr_has(": 1 ok;").check();
    expect(
        &tree,
        &["MD5SUMS"],
        "new         d/.new\n",
        "1 ok, 1 new",
        1,
    );
    tree.remove("d/.new");
    expect(&tree, &["MD5SUMS"], "", ": 1 ok;", 0);
    let redirected = tree.shell("$M verify --exact - <MD5SUMS").run();
    redirected.stderr_has(": 1 ok;").check();
}

#[test]
fn moved_files_are_paired_one_to_one() {
    let tree = Tree::new();
    tree.file("b1", "abc")
        .file("b2", "hello")
        .file("b3", "abc")
        .file("kept", "abc");
    let list = md5("a1") + &format!("{MD5_OF_HELLO}  a2\n") + &md5("kept");
    tree.file("MD5SUMS", list);
    let told = "moved       a1 -> b1\nmoved       a2 -> b2\nnew         b3\n";
    expect(&tree, &["MD5SUMS"], told, "1 ok, 2 moved, 1 new", 1);
    // Two listed, one found.
    tree.file(
        "MD5SUMS",
        md5("a1") + &md5("a3") + &md5("kept") + &md5("b3"),
    );
    let told = "moved       a1 -> b1\nmissing     a3\nnew         b2\n";
    expect(
        &tree,
        &["MD5SUMS"],
        told,
        "2 ok, 1 missing, 1 moved, 1 new",
        1,
    );
}

#[test]
fn a_copy_of_a_file_that_is_there_is_new() {
    let tree = Tree::new();
    tree.file("a", "abc")
        .file("copy", "abc")
        .file("MD5SUMS", md5("a"));
    expect(&tree, &["MD5SUMS"], "new         copy\n", "1 ok, 1 new", 1);
}

#[test]
fn an_empty_file_never_moves() {
    let tree = Tree::new();
    tree.file("b", "")
        .file("MD5SUMS", format!("{MD5_OF_NOTHING}  a\n"));
    expect(
        &tree,
        &["MD5SUMS"],
        "missing     a\nnew         b\n",
        "1 missing, 1 new",
        1,
    );
}

#[test]
fn a_changed_file_that_moved_has_not_moved() {
    let tree = Tree::new();
    tree.file("b", "abd").file("MD5SUMS", md5("a"));
    expect(
        &tree,
        &["MD5SUMS"],
        "missing     a\nnew         b\n",
        "1 missing, 1 new",
        1,
    );
}

#[test]
fn every_digest_must_agree_for_a_move() {
    let tree = Tree::new();
    let list = format!("MD5 (a) = {MD5_OF_ABC}\nSHA1 (a) = {:040}\n", 0);
    tree.file("b", "abc").file("L", list);
    expect(
        &tree,
        &["L"],
        "missing     a\nnew         b\n",
        "1 missing, 1 new",
        1,
    );
}

#[test]
fn absolute_names_are_searched_in_their_common_folder() {
    let tree = Tree::new();
    tree.file("t/a", "abc")
        .file("t/d/b", "abc")
        .file("t/new", "")
        .file("outside", "");
    let name = |path| tree.path(path).into_os_string().into_string().unwrap();
    tree.file("L", md5(&name("t/a")) + &md5(&name("t/d/b")));
    expect(
        &tree,
        &["L"],
        "new         [TREE]/t/new\n",
        "2 ok, 1 new; base [TREE]/t;",
        1,
    );
    // One relative name among them: the base is the folder of the list.
    tree.file("L", md5(&name("t/a")) + &md5("t/d/b"));
    let told = "new         outside\nnew         t/new\n";
    expect(&tree, &["L"], told, "2 ok, 2 new; base .;", 1);
}

#[test]
fn lists_whose_folders_overlap_share_what_they_know() {
    let tree = Tree::new();
    tree.file("a", "abc").file("d/b", "abc").file("d/new", "");
    tree.file("L", md5("a")).file("d/L", md5("b"));
    expect(
        &tree,
        &["L", "d/L"],
        "new         d/new\n",
        "2 ok, 1 new; bases ., d;",
        1,
    );
    expect(
        &tree,
        &["d/L", "L"],
        "new         new\n",
        "2 ok, 1 new; bases d, .;",
        1,
    );
}

#[test]
fn what_lay_in_a_folder_that_is_a_file_now_is_missing() {
    let tree = Tree::new();
    tree.file("d", "x").file("a", "abc");
    tree.file("MD5SUMS", md5("a") + &md5("d/b"));
    let told = "missing     d/b\nnew         d\n";
    expect(&tree, &["MD5SUMS"], told, "1 ok, 1 missing, 1 new", 1);
    let output = tree.cmd(["verify", "MD5SUMS"]).run();
    output
        .stdout("missing     d/b\n")
        .stderr_has(": 1 ok, 1 missing; ")
        .code(1)
        .check();
    // Nothing need be read of a link to know that it is not there.
    let list = format!("#mtree\n./a type=file md5={MD5_OF_ABC}\n./d/l type=link link=x\n");
    tree.file("t.mtree", list);
    let output = tree.cmd(["verify", "t.mtree"]).run();
    output
        .stdout("missing     d/l\n")
        .stderr_has(": 1 ok, 1 missing; ")
        .code(1)
        .check();
}

#[test]
fn other_spellings_of_a_name_are_the_same_file() {
    let tree = Tree::new();
    tree.file("d/a", "abc")
        .file("L", md5("./d//a") + &md5("d/./a"));
    expect(&tree, &["L"], "", ": 1 ok;", 0);
}

#[test]
fn pipes_and_links_are_not_new_and_not_opened() {
    let tree = Tree::new();
    tree.file("a", "abc")
        .fifo("pipe")
        .link("link", "a")
        .file("L", md5("a"));
    expect(&tree, &["L"], "", "1 ok, 2 skipped", 0);
    expect(
        &tree,
        &["-v", "L"],
        "ok          a\nskipped     link  (symbolic link)\nskipped     pipe  (named pipe)\n",
        "1 ok",
        0,
    );
}

#[test]
fn what_cannot_be_searched_is_told() {
    let tree = Tree::new();
    tree.file("a", "abc")
        .file("closed/b", "abc")
        .file("L", md5("a"))
        .mode("closed", 0);
    let Some(cmd) = tree.cmd(["verify", "--exact", "L"]).unprivileged() else {
        return;
    };
    let output = cmd.run();
    output
        .stdout_has("unreadable  closed: ")
        .stderr_has("1 ok, 1 unreadable")
        .code(2)
        .check();
}

/// A tree `t` with a native manifest in it.
fn recorded(options: &[&str]) -> Tree {
    let tree = Tree::new();
    tree.file("t/a", "abc")
        .file("t/d/b", "hello")
        .file("t/d/c.tmp", "c");
    let args = ["hash", "-o", "t/m.jsonl"].iter().chain(options);
    let output = tree.cmd(args.chain(&["t"])).run();
    output.stderr_any().check();
    tree
}

#[track_caller]
fn expect_by_default(tree: &Tree, args: &[&str], told: &str, counts: &str, code: i32) {
    let args = ["verify"].iter().chain(args);
    let output = tree.cmd(args).run();
    output.stdout(told).stderr_has(counts).code(code).check();
}

#[test]
fn a_manifest_that_records_what_was_walked_is_exact_unless_told_otherwise() {
    let tree = recorded(&[]);
    tree.file("t/d/new", "").file("t/.m.jsonl.journal", "");
    let m = "t/m.jsonl";
    expect_by_default(&tree, &[m], "new         d/new\n", "3 ok, 1 new", 1);
    expect_by_default(&tree, &["--no-exact", m], "", ": 3 ok;", 0);
    let both = ["--exact", "--no-exact", m];
    expect_by_default(&tree, &both, "", ": 3 ok;", 0);
    // Held in memory, since it comes from a pipe.
    let piped = tree.shell("cat t/m.jsonl | $M verify -C t -").run();
    let told = "new         .m.jsonl.journal\nnew         d/new\nnew         m.jsonl\n";
    piped.stdout(told).stderr_has("3 ok, 3 new").code(1).check();
}

#[test]
fn what_was_left_out_is_not_new_and_other_globs_are_refused() {
    let tree = recorded(&["--exclude", "*.tmp"]);
    tree.file("t/e.tmp", "").file("t/e.bak", "");
    let m = "t/m.jsonl";
    let new = "new         e.bak\n";
    expect_by_default(&tree, &[m], new, "2 ok, 1 new", 1);
    expect_by_default(&tree, &["--exclude", "*.tmp", m], new, "2 ok, 1 new", 1);
    let output = tree.cmd(["verify", "--exclude", "*.bak", m]).run();
    let told =
        "t/m.jsonl: --exclude: the manifest records '*.tmp', not '*.bak'; leave the option out";
    output.stderr_has(told).code(2).check();
    for (option, said) in [
        (
            &["-L"][..],
            "-L: the manifest records links that are skipped",
        ),
        (&["-x"], "-x: the manifest records all file systems"),
        (&["--max-depth", "1"], "records no limit, not 1"),
        (
            &["--include", "a"],
            "--include: the manifest records none, not 'a'",
        ),
    ] {
        let first = ["verify", m];
        let args = first.iter().chain(option);
        tree.cmd(args).run().stderr_has(said).code(2).check();
    }
}

#[test]
fn only_what_was_walked_is_searched() {
    let tree = Tree::new();
    for name in ["a/1", "b/2", "c/3"] {
        tree.file(format!("t/{name}"), name);
    }
    for paths in [["t/a", "t/b"], ["t/b", "t/a"]] {
        let hash = ["hash", "--force", "-o", "t/m.jsonl"].iter().chain(&paths);
        tree.cmd(hash).run().stderr_any().check();
        tree.file("t/c/new", "").file("t/b/new", "");
        let m = "t/m.jsonl";
        expect_by_default(&tree, &[m], "new         b/new\n", "2 ok, 1 new", 1);
        expect_by_default(
            &tree,
            &["--exact", m],
            "new         b/new\n",
            "2 ok, 1 new",
            1,
        );
        tree.remove("t/b/new");
    }
}

#[test]
fn a_copy_is_searched_as_the_original_was() {
    let tree = recorded(&["--exclude", "*.tmp", "-o", "t/SHA256SUMS"]);
    tree.shell("cp -a t copy; : >copy/x.tmp; : >copy/x; : >t/y")
        .run()
        .check();
    let args = ["-C", "copy", "t/m.jsonl"];
    let told = "new         x\n";
    expect_by_default(&tree, &args, told, "2 ok, 1 new; base copy;", 1);
    tree.remove("copy/x")
        .remove("copy/SHA256SUMS")
        .remove("copy/m.jsonl");
    expect_by_default(&tree, &args, "", ": 2 ok; base copy;", 0);
}

#[test]
fn a_list_without_a_scope_is_walked_as_the_options_say() {
    let tree = Tree::new();
    tree.file("a", "abc")
        .file("d/x.tmp", "")
        .file("d/y", "")
        .file("L", md5("a"));
    let new = "new         d/y\n";
    expect(&tree, &["--exclude", "*.tmp", "L"], new, "1 ok, 1 new", 1);
    expect(&tree, &["--max-depth", "1", "L"], "", ": 1 ok;", 0);
    let output = tree.cmd(["verify", "--exclude", "*.tmp", "L"]).run();
    output.stderr_has("add --exact").code(2).check();
}

#[test]
fn a_folder_that_is_gone_is_missing_and_nothing_else() {
    let tree = Tree::new();
    tree.file("t/a/1", "1").file("t/b/2", "2");
    let hash = ["hash", "-o", "t/m.jsonl", "t/a", "t/b"];
    tree.cmd(hash).run().stderr_any().check();
    tree.shell("rm -r t/a").run().check();
    let told = "missing     a/1\n";
    expect_by_default(&tree, &["t/m.jsonl"], told, "1 ok, 1 missing", 1);
}

#[test]
fn the_life_of_a_tree() {
    let tree = Tree::new();
    for (name, content) in [
        ("keep", "k"),
        ("edit", "e1"),
        ("gone", "g"),
        ("ren", "r"),
        ("dup1", "s"),
        ("dup2", "s"),
        ("empty1", ""),
        ("empty2", ""),
    ] {
        tree.file(format!("t/{name}"), content);
    }
    tree.cmd(["hash", "-o", "t/m.jsonl", "t"])
        .run()
        .stderr_any()
        .check();
    tree.file("t/edit", "e2").file("t/new", "n");
    tree.shell("cd t; rm gone dup2 empty2; mv ren ren2")
        .run()
        .check();
    let output = tree.cmd(["verify", "-v", "t/m.jsonl"]).run();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let told: Vec<&str> = text
        .lines()
        .map(|line| line.split("  (").next().unwrap())
        .collect();
    assert_eq!(
        told,
        [
            "ok          dup1",
            "changed     edit",
            "ok          empty1",
            "ok          keep",
            "missing     dup2",
            "missing     empty2",
            "missing     gone",
            "moved       ren -> ren2",
            "new         new",
        ]
    );
    let counts = "3 ok, 1 changed, 3 missing, 1 moved, 1 new;";
    output.stdout_any().stderr_has(counts).code(1).check();
}

#[test]
fn only_new_files_of_a_missing_size_are_read() {
    let tree = recorded(&[]);
    tree.shell("mv t/d/b t/moved").run().check();
    tree.file("t/other", "longer than any").mode("t/other", 0);
    tree.file("t/same", "olleh");
    let cmd = tree.cmd(["verify", "t/m.jsonl"]);
    let Some(cmd) = cmd.unprivileged() else {
        return;
    };
    let output = cmd.run();
    output
        .stdout("moved       d/b -> moved\nnew         other\nnew         same\n")
        .stderr_has("2 ok, 1 moved, 2 new")
        .code(1)
        .check();
}

#[test]
fn a_missing_folder_has_moved_nowhere() {
    let tree = Tree::new();
    let mtree = "#mtree\n. type=dir\n    d type=dir\n    ..\n    f type=file size=3 \
                 md5digest=900150983cd24fb0d6963f7d28e17f72\n..\n";
    tree.file("g", "abc").file("h", "abc").file("L", mtree);
    let told = "missing     d\nmoved       f -> g\nnew         h\n";
    let output = tree.cmd(["verify", "--exact", "-f", "mtree", "L"]).run();
    output.stdout(told).stderr_any().code(1).check();
}

/// Held in memory, so many entries and the files found would take twice as much.
#[test]
fn a_sorted_list_is_compared_with_its_tree_in_little_memory() {
    let tree = Tree::new();
    let mut list = String::new();
    for folder in 100..200 {
        tree.file(format!("t/{folder}/100"), "abc");
        for number in 100..1100 {
            let name = format!("t/{folder}/{number:04}");
            tree.hard_link(&name, format!("t/{folder}/100"));
            list += &format!("{MD5_OF_ABC}  {name}\n");
        }
        tree.remove(format!("t/{folder}/100"));
    }
    tree.file("MD5SUMS", list);
    let args = ["verify", "--exact", "MD5SUMS"];
    let started = tree.cmd(args).start();
    let mut peak = 0;
    loop {
        match started.peak_kilobytes() {
            0 => break,
            kilobytes => peak = peak.max(kilobytes),
        }
    }
    started.wait().stderr_has("100,000 ok; base .").check();
    assert!(peak < 40 * 1024, "{peak} kB");
}
