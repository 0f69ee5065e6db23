//! Disks that end too early or have rotted, by images under loop mounts.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::process::Command;

use crate::common::{painted, refused};
use crate::harness::{MD5_OF_ABC, Tree};
use crate::stage::{Image, Mounted};

const LEN: usize = 8 << 20;

fn tree() -> Tree {
    let tree = Tree::new();
    tree.file("a", "abc").file("z", "abc");
    tree
}

/// Whatever way it is read in: not one digest of `m/f`, and no signal.
#[track_caller]
fn unreadable(tree: &Tree) {
    let error = "Input/output error (os error 5)";
    for (io, told) in [
        ("read", error),
        ("auto", error),
        ("direct", error),
        ("mmap", "a mapped page was not there"),
    ] {
        let args = ["hash", "-a", "md5", "--io", io, "a", "m/f", "z"];
        let output = tree.cmd(args).run();
        output
            .stdout(format!(
                "{MD5_OF_ABC}  a\n# multisum gap: unreadable m/f\n{MD5_OF_ABC}  z\n"
            ))
            .stderr_has("unreadable  m/f: ")
            .stderr_has(told)
            .code(2)
            .check();
    }
}

/// A file on the image, which is mounted again without anything of it in memory.
fn with_file(tree: &Tree, image: &Image, spoil: impl FnOnce()) -> Option<Mounted> {
    let mounted = image.mount()?;
    tree.painted("m/f", LEN);
    mounted.unmount();
    spoil();
    image.mount()
}

pub(crate) fn a_disk_that_ends_too_early_is_unreadable() {
    let tree = tree();
    let Some(image) = Image::new(&tree, "ext4", &["-E", "lazy_itable_init=0"], "m") else {
        return;
    };
    let Some(_mounted) = with_file(&tree, &image, || ()) else {
        return;
    };
    // What leads to the file is in memory; its bytes are not.
    fs::metadata(tree.path("m/f")).unwrap();
    let file = OpenOptions::new().write(true).open(&image.file).unwrap();
    file.set_len(64 << 10).unwrap();
    unreadable(&tree);
}

pub(crate) fn rot_that_the_file_system_finds_is_unreadable() {
    let tree = tree();
    let options = ["-d", "single", "-m", "single"];
    let Some(image) = Image::new(&tree, "btrfs", &options, "m") else {
        return;
    };
    let rot = || {
        let content = fs::read(&image.file).unwrap();
        let block = painted(LEN)[1 << 20..(1 << 20) + 4096].to_vec();
        let at = content.chunks(4096).position(|chunk| chunk == block);
        let at = at.expect("the file's bytes lie in the image") as u64 * 4096;
        let file = OpenOptions::new().write(true).open(&image.file).unwrap();
        file.write_all_at(b"\xff", at + 100).unwrap();
    };
    let Some(_mounted) = with_file(&tree, &image, rot) else {
        return;
    };
    unreadable(&tree);
}

pub(crate) fn a_frozen_file_system_is_read() {
    let tree = tree();
    let Some(image) = Image::new(&tree, "ext4", &[], "m") else {
        return;
    };
    let Some(_mounted) = image.mount() else {
        return;
    };
    tree.file("m/f", "abc");
    File::open(tree.path("m")).unwrap().sync_all().unwrap();
    let freeze = |how: &str| {
        let done = Command::new("fsfreeze")
            .arg(how)
            .arg(tree.path("m"))
            .output();
        done.is_ok_and(|output| output.status.success())
    };
    if !freeze("-f") {
        return refused("file systems cannot be frozen here");
    }
    let output = tree.cmd(["hash", "-a", "md5", "m/f"]).run();
    assert!(freeze("-u"));
    output
        .stdout(format!("{MD5_OF_ABC}  m/f\n"))
        .stderr_any()
        .check();
}
