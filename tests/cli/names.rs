//! Which name each file gets in the manifest.

use crate::harness::{MD5_OF_ABC, MD5_OF_HELLO, Tree};

fn tree() -> Tree {
    let tree = Tree::new();
    tree.file("in/a", "abc").file("out/b", "hello");
    tree
}

/// Runs and compares the manifest, given as pairs of digest and name.
#[track_caller]
fn expect(tree: &Tree, args: &[&str], lines: &[(&str, &str)]) {
    let list: String = lines
        .iter()
        .map(|(digest, name)| format!("{digest}  {name}\n"))
        .collect();
    let args = ["hash", "-a", "md5"].iter().chain(args);
    let output = tree.cmd(args).run();
    output.stdout(list).stderr_any().check();
}

#[test]
fn names_stay_as_typed_whatever_way_a_folder_is_spelled() {
    let tree = tree();
    let absolute = tree.path("in/a").into_os_string().into_string().unwrap();
    expect(&tree, &["in/"], &[(MD5_OF_ABC, "in/a")]);
    expect(&tree, &["./in/./a"], &[(MD5_OF_ABC, "in/a")]);
    expect(&tree, &["out/../in"], &[(MD5_OF_ABC, "out/../in/a")]);
    expect(&tree, &[&absolute], &[(MD5_OF_ABC, "[TREE]/in/a")]);
}

#[test]
fn a_base_is_where_paths_and_names_start() {
    let tree = tree();
    let absolute = |path| tree.path(path).into_os_string().into_string().unwrap();
    expect(&tree, &["-C", "in"], &[(MD5_OF_ABC, "a")]);
    expect(&tree, &["-C", "in", "."], &[(MD5_OF_ABC, "a")]);
    expect(&tree, &["-C", "in", "a"], &[(MD5_OF_ABC, "a")]);
    expect(
        &tree,
        &["-C", "in", &absolute("in/a")],
        &[(MD5_OF_ABC, "a")],
    );
    expect(
        &tree,
        &["-C", "in", &absolute("out")],
        &[(MD5_OF_HELLO, "[TREE]/out/b")],
    );
    expect(
        &tree,
        &["-C", "in", "../out"],
        &[(MD5_OF_HELLO, "../out/b")],
    );
}

#[test]
fn a_base_that_is_no_folder_is_an_error_and_writes_nothing() {
    let tree = tree();
    for base in ["nowhere", "in/a"] {
        for args in [
            ["hash", "-C", base, "-o", "L"],
            ["verify", "-C", base, "in/a", "-v"],
        ] {
            let output = tree.cmd(args).run();
            output
                .stderr_has(&format!("multisum: {base}: "))
                .code(2)
                .check();
        }
    }
    assert!(!tree.path("L").exists());
}

#[test]
fn a_manifest_in_the_tree_has_names_relative_to_its_folder() {
    let tree = tree();
    for (output, path) in [("in/L", "in"), ("L", "in"), ("in/L2", "./out/../in")] {
        let hashed = tree.cmd(["hash", "-a", "md5", "-o", output, path]).run();
        hashed.stderr_any().check();
    }
    assert_eq!(tree.read("in/L"), format!("{MD5_OF_ABC}  a\n").as_bytes());
    // The first manifest is an ordinary file for the second.
    assert!(
        tree.read("L")
            .ends_with(format!("{MD5_OF_ABC}  in/a\n").as_bytes())
    );
    assert!(
        tree.read("in/L2")
            .ends_with(format!("{MD5_OF_ABC}  a\n").as_bytes())
    );
}

#[test]
fn a_manifest_outside_the_tree_has_names_as_typed() {
    let tree = tree();
    let hashed = tree.cmd(["hash", "-a", "md5", "-o", "out/L", "in"]).run();
    hashed.stderr_any().check();
    assert_eq!(
        tree.read("out/L"),
        format!("{MD5_OF_ABC}  in/a\n").as_bytes()
    );
    let output = tree.cmd(["verify", "out/L"]).run();
    output.stderr_has("1 ok; base .;").stderr_has("md5").check();
}

#[test]
fn a_path_that_is_a_link_is_followed_and_keeps_its_name() {
    let tree = tree();
    tree.link("file", "in/a").link("folder", "out");
    let lines = [(MD5_OF_ABC, "file"), (MD5_OF_HELLO, "folder/b")];
    expect(&tree, &["file", "folder"], &lines);
    expect(&tree, &["folder/"], &lines[1..]);
    let hashed = tree
        .cmd(["hash", "-a", "md5", "-o", "L", "file", "folder"])
        .run();
    hashed.stderr_any().check();
    let list = format!("{MD5_OF_ABC}  file\n{MD5_OF_HELLO}  folder/b\n");
    assert_eq!(tree.read("L"), list.as_bytes());
}

#[test]
fn a_stream_keeps_the_name_that_was_typed() {
    let tree = tree();
    tree.fifo("pipe");
    for (script, name) in [
        ("printf abc | $M hash -a md5 /dev/stdin", "/dev/stdin"),
        ("$M hash -a md5 /dev/stdin <in/a", "/dev/stdin"),
        ("printf abc | $M hash -a md5 -", "-"),
        ("printf abc >pipe & $M hash -a md5 pipe", "pipe"),
    ] {
        let output = tree.shell(script).run();
        output
            .stdout(format!("{MD5_OF_ABC}  {name}\n"))
            .stderr_any()
            .check();
    }
}

#[test]
fn paths_that_overlap_are_hashed_once() {
    let tree = tree();
    expect(&tree, &["in", "in/a", "./in"], &[(MD5_OF_ABC, "in/a")]);
}
