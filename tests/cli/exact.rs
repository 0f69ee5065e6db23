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
