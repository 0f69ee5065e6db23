//! `multisum hash`.

use crate::harness::{MD5_OF_ABC, MD5_OF_NOTHING, Tree, has_locale, name};

const CRC32_OF_123456789: &str = "cbf43926";

#[test]
fn names_are_as_typed_but_for_a_leading_dot_slash() {
    let tree = Tree::new();
    tree.file("src/main.rs", "abc");
    let stdout = format!("{MD5_OF_ABC}  src/main.rs\n");
    for typed in ["src/main.rs", "./src/main.rs", "src", "./src", "."] {
        let output = tree.cmd(["hash", "-a", "md5", typed]).run();
        output.stdout(&stdout).stderr_any().check();
    }
    let output = tree.cmd(["hash", "-a", "md5"]).run();
    output
        .stdout(&stdout)
        .stderr_has("hashed 1 file, 3 bytes in [TIME]")
        .check();
}

#[test]
fn the_order_is_by_component_and_hidden_files_are_there() {
    let tree = Tree::new();
    for path in ["a.txt", "a/b", "a/.c", "B", ".hidden"] {
        tree.file(path, "");
    }
    let names = [".hidden", "B", "a/.c", "a/b", "a.txt"];
    let lines = names.map(|name| format!("{MD5_OF_NOTHING}  {name}\n"));
    let output = tree.cmd(["hash", "-a", "md5"]).run();
    output.stdout(lines.concat()).stderr_any().check();
}

#[test]
fn several_algorithms_are_written_with_tags() {
    let tree = Tree::new();
    tree.file("a", "123456789");
    let md5 = "25f9e794323b453885f5181f1b624d0b";
    let stdout = format!("MD5 (a) = {md5}\nCRC32 (a) = {CRC32_OF_123456789}\n");
    let output = tree.cmd(["hash", "-a", "md5,crc32", "a"]).run();
    output.stdout(stdout).stderr_any().check();
}

#[test]
fn the_bytes_do_not_depend_on_threads_or_locale() {
    let tree = Tree::new();
    for number in 0..300_usize {
        tree.painted(format!("d{}/i{number}", number % 7), number * 37);
    }
    tree.painted("big", 3_000_000);
    let run = |threads: &str, locale: &str| {
        let args = ["hash", "-a", "md5,sha512,blake3", "--threads", threads];
        tree.cmd(args).env("LC_ALL", locale).run()
    };
    let one = run("1", "C");
    for threads in ["2", "64"] {
        run(threads, "C").stdout(&one.stdout).stderr_any().check();
    }
    if has_locale("tr_TR.utf8") {
        let turkish = run("2", "tr_TR.UTF-8");
        turkish.stdout(&one.stdout).stderr_any().check();
    }
    assert_eq!(one.stdout.split(|byte| *byte == b'\n').count(), 301 * 3 + 1);
    one.stdout_any().stderr_any().check();
}

#[test]
fn sha256sum_accepts_any_name() {
    let tree = Tree::new();
    for bytes in [
        &b"plain"[..],
        b"two  blanks",
        b"\xff\xfe",
        b"new\nline",
        b"back\\slash",
    ] {
        tree.painted(name(bytes), bytes.len() * 100);
    }
    let list = tree.cmd(["hash", "-o", "SHA256SUMS"]).run();
    list.stderr_any().check();
    let check = ["-c", "--strict", "--quiet", "SHA256SUMS"];
    if let Some(sha256sum) = tree.tool("sha256sum", check) {
        sha256sum.run().check();
    }
    let verified = tree.cmd(["verify", "SHA256SUMS"]).run();
    verified.stderr_has("verified 5 files").check();
}

#[test]
fn pipes_sockets_and_links_in_a_tree_are_not_opened() {
    let tree = Tree::new();
    tree.file("a", "abc")
        .fifo("pipe")
        .socket("socket")
        .link("link", "a");
    let output = tree.cmd(["hash", "-a", "md5"]).run();
    let stdout = format!("{MD5_OF_ABC}  a\n");
    output.stdout(stdout).stderr_has("3 skipped").check();
}

#[test]
fn standard_input_is_a_file_named_dash() {
    let output = Tree::new()
        .cmd(["hash", "-a", "md5", "-"])
        .stdin("abc")
        .run();
    output
        .stdout(format!("{MD5_OF_ABC}  -\n"))
        .stderr_any()
        .check();
}

#[test]
fn a_folder_that_cannot_be_read_is_one_error_and_the_rest_is_hashed() {
    let tree = Tree::new();
    tree.file("a", "abc")
        .file("closed/b", "")
        .file("z", "abc")
        .mode("closed", 0);
    let Some(cmd) = tree.cmd(["hash", "-a", "md5"]).unprivileged() else {
        return;
    };
    let output = cmd.run();
    output
        .stdout_has(&format!("{MD5_OF_ABC}  a\n"))
        .stdout_has(&format!("{MD5_OF_ABC}  z\n"))
        .stderr_has("closed")
        .code(2)
        .check();
}

#[test]
fn the_output_is_not_part_of_the_tree_and_is_not_replaced_unasked() {
    let tree = Tree::new();
    tree.file("a", "abc");
    let run = |more: &[&str]| {
        let args = ["hash", "-a", "md5", "-o", "MD5SUMS", "."]
            .iter()
            .chain(more);
        tree.cmd(args).run()
    };
    run(&[]).stderr_any().check();
    let list = format!("{MD5_OF_ABC}  a\n");
    assert_eq!(tree.read("MD5SUMS"), list.as_bytes());
    tree.file("a", "");
    run(&[]).stderr_has("--force").code(2).check();
    assert_eq!(tree.read("MD5SUMS"), list.as_bytes());
    run(&["--force"]).stderr_any().check();
    assert_eq!(
        tree.read("MD5SUMS"),
        format!("{MD5_OF_NOTHING}  a\n").as_bytes()
    );
    assert_eq!(tree.list().len(), 2, "nothing temporary is left");
}
