//! mtree, Gentoo, Debian, and what is signed or compressed.

use std::fs;
use std::path::Path;

use crate::common::skipped;
use crate::harness::{Output, Tree, holds, name};

/// A manifest that another program has written.
fn fixture(path: &str) -> Vec<u8> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/manifests");
    fs::read(data.join(path)).unwrap()
}

/// That the run says this somewhere.
#[track_caller]
fn says(output: &Output, piece: &str) {
    let said = [&output.stdout[..], &output.stderr].concat();
    assert!(
        holds(&said, piece.as_bytes()),
        "'{piece}' is not said\n{output}"
    );
}

/// That all is well, for this reason.
#[track_caller]
fn is_good(tree: &Tree, args: &[&str], pieces: &[&str]) {
    let output = tree.cmd(["verify", "-v"].iter().chain(args)).run();
    for piece in pieces {
        says(&output, piece);
    }
    assert_eq!(output.code, Some(0), "{output}");
    output.stdout_any().stderr_any().check();
}

/// That this one file differs and no other.
#[track_caller]
fn is_bad(tree: &Tree, args: &[&str], verdict: &str, counts: &str) {
    let output = tree.cmd(["verify"].iter().chain(args)).run();
    output
        .stdout_has(verdict)
        .stderr_has(counts)
        .code(1)
        .check();
}

/// What the lists in `tests/data/manifests/mtree` describe.
fn described_tree() -> Tree {
    let tree = Tree::new();
    tree.file("a.txt", "hello\n")
        .file("d/e/f", "x")
        .dir("empty");
    tree.link("link", "d/sp ace").fifo("pipe");
    let names: [&[u8]; 10] = [
        b"sp ace",
        b"#hash",
        b"*star[a]?",
        b"back\\slash",
        b"eq=x",
        b"new\nline",
        b"bad\xffutf",
        "é".as_bytes(),
        b"esc\x1bx",
        b"del\x7f",
    ];
    for bytes in names {
        tree.file(Path::new("d").join(name(bytes)), "x");
    }
    tree
}

#[test]
fn specifications_of_every_style_are_verified() {
    for (list, count) in [
        ("bsdtar.mtree", 15),
        ("bsdtar-set.mtree", 15),
        ("netbsd.mtree", 15),
        ("netbsd-C.mtree", 15),
        ("netbsd-D.mtree", 15),
        ("pacman.MTREE", 4),
    ] {
        let tree = described_tree();
        tree.file(list, fixture(&format!("mtree/{list}")));
        let ok = format!(": {count} ok; base .;");
        is_good(
            &tree,
            &[list],
            &[&ok, &format!("{list}: format mtree (from its ")],
        );
        tree.flip("d/e/f", 0);
        let counts = format!("{} ok, 1 changed;", count - 1);
        is_bad(&tree, &[list], "changed     d/e/f  (", &counts);
    }
}

#[test]
fn links_folders_and_pipes_must_be_what_the_specification_says() {
    let tree = described_tree();
    tree.file("L", fixture("mtree/netbsd.mtree"));
    tree.remove("link")
        .link("link", "a.txt")
        .remove("pipe")
        .file("pipe", "");
    fs::remove_dir(tree.path("empty")).unwrap();
    let output = tree.cmd(["verify", "L"]).run();
    output
        .stdout_has("changed     link  (")
        .stdout_has("changed     pipe  (")
        .stdout_has("missing     empty\n")
        .stderr_has("12 ok, 2 changed, 1 missing;")
        .code(1)
        .check();
}

/// Names that take an escape, or look like a piece of a specification.
fn hostile_tree() -> (Tree, usize) {
    let tree = Tree::new();
    let names: [&[u8]; 20] = [
        b"plain",
        b"d/e/deep",
        b"d/new\nline",
        b"d/x y",
        b"back\\slash",
        b"cr\r",
        b"\\",
        b"\n",
        b" lead",
        b"trail ",
        b"tab\t",
        b"\xff\xfe",
        b"# not a comment",
        b"*star[a]?",
        b"esc\x1b[2J",
        b"size=1",
        b"d/type=dir",
        b"~",
        b"(e) = f",
        "é".as_bytes(),
    ];
    for bytes in names {
        tree.painted(name(bytes), 100 + bytes.len());
    }
    (tree, names.len())
}

#[test]
fn specifications_of_other_programs_are_read_whatever_the_names() {
    let keywords = "--options=!all,type,size,time,link,md5,sha512";
    for (program, args) in [
        ("bsdtar", vec!["-cf", "-", "--format=mtree", keywords, "."]),
        (
            "mtree",
            vec!["-c", "-k", "type,size,time,link,sha256,rmd160", "-p", "."],
        ),
    ] {
        let (tree, count) = hostile_tree();
        let Some(tool) = tree.tool(program, args) else {
            continue;
        };
        let written = tool.run();
        tree.file("../L", &written.stdout);
        written.stdout_any().check();
        let ok = format!(": {count} ok; base .;");
        is_good(
            &tree,
            &["-C", ".", "--exact", "../L"],
            &[&ok, "L: format mtree (from its "],
        );
        tree.flip("d/e/deep", 7);
        let counts = format!("{} ok, 1 corrupt;", count - 1);
        is_bad(
            &tree,
            &["-C", ".", "../L"],
            "corrupt     d/e/deep  (",
            &counts,
        );
    }
}

/// A tree and our specification of it, in a file beside it.
fn specified_tree() -> (Tree, usize) {
    let (tree, count) = hostile_tree();
    let algorithms = "md5,sha1,sha256,sha384,sha512,ripemd160";
    let hash = [
        "hash", "-a", algorithms, "-f", "mtree", "-C", ".", "-o", "../L",
    ];
    let output = tree.cmd(hash).run();
    output.stderr_has(&format!("hashed {count} files")).check();
    (tree, count)
}

#[test]
fn netbsd_accepts_our_specifications_and_finds_what_changed() {
    let (tree, count) = specified_tree();
    let ok = format!(": {count} ok; base .;");
    is_good(
        &tree,
        &["-C", ".", "../L"],
        &[&ok, "L: format mtree (from its beginning)"],
    );
    let check = || tree.tool("mtree", ["-e", "-p", ".", "-f", "../L"]);
    let Some(tool) = check() else { return };
    tool.run().check();
    tree.flip("d/e/deep", 7);
    let output = check().unwrap().run();
    output
        .stdout_has("d/e/deep:")
        .stdout_has("sha256 (0x")
        .code(2)
        .check();
}

#[test]
fn libarchive_takes_our_specifications_and_loses_nothing() {
    let (tree, count) = specified_tree();
    // It reads our list, takes each file from the disk and describes it again.
    let keywords = "--options=!all,type,size,time,sha256";
    let args = ["-cf", "-", "--format=mtree", keywords, "@../L"];
    let Some(tool) = tree.tool("bsdtar", args) else {
        return;
    };
    let written = tool.run();
    tree.file("../L2", &written.stdout);
    written.stdout_any().check();
    is_good(
        &tree,
        &["-C", ".", "--exact", "../L2"],
        &[&format!(": {count} ok; base .;")],
    );
}

#[test]
fn a_gentoo_manifest_is_verified_also_compressed() {
    for list in ["Manifest", "Manifest.gz"] {
        let tree = Tree::new();
        tree.file("a.txt", "hello\n").file("files/x.patch", "x");
        for name in [
            "sp ace",
            "#hash",
            "back\\slash",
            "new\nline",
            "é",
            "esc\x1bx",
            "nb\u{a0}sp",
        ] {
            tree.file(name, "x");
        }
        tree.file(list, fixture(&format!("gentoo/{list}")));
        let format = format!("{list}: format gentoo (from its entries");
        is_good(
            &tree,
            &[list],
            &[
                ": 9 ok; base .; md5, sha256, sha512, sha3-256, blake2b",
                &format,
            ],
        );
        tree.flip("files/x.patch", 0);
        is_bad(
            &tree,
            &[list],
            "changed     files/x.patch  (",
            "8 ok, 1 changed;",
        );
    }
}

fn gentoo_tree() -> (Tree, usize) {
    let tree = Tree::new();
    let names = [
        "a",
        "d/b c",
        "d/new\nline",
        "back\\slash",
        "é\u{3000}\u{85}",
        "# x",
        "cr\r",
        "(e)",
    ];
    for name in names {
        tree.painted(name, 50 + name.len());
    }
    (tree, names.len())
}

#[test]
fn gemato_and_we_accept_each_others_manifests() {
    let hashes = "BLAKE2B BLAKE2S MD5 SHA1 SHA256 SHA512 SHA3_256 SHA3_512";
    let (tree, count) = gentoo_tree();
    let create = ["create", "-p", "default", "-H", hashes, "-S", "-t", "."];
    let Some(tool) = tree.tool("gemato", create) else {
        return;
    };
    tool.run().stdout_any().stderr_any().check();
    let ok = format!(": {count} ok; base .;");
    is_good(
        &tree,
        &["Manifest"],
        &[&ok, "Manifest: format gentoo (from its entries)"],
    );
    tree.flip("d/b c", 3);
    let counts = format!("{} ok, 1 changed;", count - 1);
    is_bad(&tree, &["Manifest"], "changed     d/b c  (", &counts);

    let (tree, count) = gentoo_tree();
    let algorithms = "blake2b,blake2s,md5,sha1,sha256,sha512,sha3-256,sha3-512";
    let hash = ["hash", "-a", algorithms, "-f", "gentoo", "-o", "Manifest"];
    tree.cmd(hash).run().stderr_any().check();
    is_good(&tree, &["Manifest"], &[&format!(": {count} ok; base .;")]);
    let check = || tree.tool("gemato", ["verify", "."]).unwrap().run();
    check().stdout_any().stderr_any().check();
    tree.flip("d/b c", 3);
    let output = check();
    output
        .stdout_any()
        .stderr_has("Manifest mismatch for d/b c")
        .code(1)
        .check();
}

#[test]
fn names_that_gentoo_cannot_spell_are_refused_by_name() {
    let tree = Tree::new();
    tree.file(name(b"\xff"), "x");
    let output = tree.cmd(["hash", "-f", "gentoo"]).run();
    output
        .stdout_any()
        .stderr_has("\\xff: format gentoo cannot hold bytes that are no UTF-8 in a name")
        .code(2)
        .check();
}

#[test]
fn what_a_gentoo_manifest_keeps_elsewhere_is_passed_over_and_counted() {
    let tree = Tree::new();
    let md5 = crate::harness::MD5_OF_ABC;
    tree.file("a", "abc");
    tree.file(
        "Manifest",
        format!("DIST x.tar.gz 3 MD5 {md5}\nDATA a 3 MD5 {md5}\nIGNORE b\n"),
    );
    let output = tree.cmd(["verify", "Manifest"]).run();
    says(
        &output,
        "1 DIST lines passed over: their files are not in the tree",
    );
    output.stderr_has("1 ok;").check();
}

#[test]
fn indexes_of_debian_are_verified() {
    let tree = Tree::new();
    tree.file(
        "src/DEBIAN/control",
        "Package: tiny\nVersion: 1\nArchitecture: all\nMaintainer: T <t@example.org>\n\
         Description: tiny\n",
    );
    tree.mode("src", 0o755)
        .mode("src/DEBIAN", 0o755)
        .dir("pool");
    let build = ["-b", "--root-owner-group", "src", "pool/tiny_1_all.deb"];
    let Some(tool) = tree.tool("dpkg-deb", build) else {
        return;
    };
    tool.run().stdout_any().check();
    let Some(tool) = tree.tool("apt-ftparchive", ["packages", "pool"]) else {
        return;
    };
    let packages = tool.run();
    tree.file("Packages", &packages.stdout)
        .file("dists/Packages", &packages.stdout);
    packages.stdout_any().stderr_any().check();
    let release = tree
        .tool("apt-ftparchive", ["release", "dists"])
        .unwrap()
        .run();
    tree.file("dists/Release", &release.stdout);
    release.stdout_any().stderr_any().check();

    let format = "Packages: format debian (from its beginning)";
    is_good(
        &tree,
        &["Packages"],
        &[": 1 ok; base .; md5, sha1, sha256, sha512", format],
    );
    let format = "Release: format debian (from its beginning)";
    is_good(
        &tree,
        &["dists/Release"],
        &[": 1 ok; base dists; md5, sha1, sha256, sha512", format],
    );
    tree.flip("pool/tiny_1_all.deb", 100);
    is_bad(
        &tree,
        &["Packages"],
        "changed     pool/tiny_1_all.deb  (",
        " 1 changed;",
    );
    tree.flip("dists/Packages", 0);
    is_bad(
        &tree,
        &["dists/Release"],
        "changed     Packages  (",
        " 1 changed;",
    );
}

#[test]
fn descriptions_of_debian_list_each_file_once() {
    for (list, missing) in [
        ("tiny_1.dsc", "1 missing"),
        ("tiny_1.signed.dsc", "1 missing"),
        ("tiny_1.changes", "3 missing"),
        ("Sources", "2 missing"),
        ("Packages", "1 missing"),
        ("Release", "2 missing"),
    ] {
        let tree = Tree::new();
        tree.file(format!("debian/{list}"), fixture(&format!("debian/{list}")));
        let output = tree.cmd(["verify", "-v", &format!("debian/{list}")]).run();
        says(
            &output,
            &format!("{list}: format debian (from its beginning"),
        );
        output.stdout_any().stderr_has(missing).code(1).check();
    }
}

#[test]
fn a_file_of_a_release_without_the_asked_digest_is_unverified() {
    let tree = Tree::new();
    tree.file("x", "x").file("y", "x");
    let sha256 = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
    tree.file(
        "Release",
        format!(
            "Origin: x\nMD5Sum:\n 9dd4e461268c8034f5c8564e155c67a6 1 x\n \
             9dd4e461268c8034f5c8564e155c67a6 1 y\nSHA256:\n {sha256} 1 x\n"
        ),
    );
    is_good(&tree, &["Release"], &[": 2 ok;"]);
    let output = tree.cmd(["verify", "-a", "sha256", "Release"]).run();
    output
        .stdout_has("unverified  y")
        .stderr_has("1 ok, 1 unverified;")
        .code(2)
        .check();
}

#[test]
fn lists_of_installed_packages_are_verified_from_the_root() {
    let tree = Tree::new();
    tree.file("root/usr/share/x", "x")
        .file("root/usr/share/a b", "hello\n");
    let list = "b1946ac92492d2347c6235b4d2611184  usr/share/a b\n\
                9dd4e461268c8034f5c8564e155c67a6  usr/share/x\n";
    tree.file("info/tiny.md5sums", list);
    let args = ["-C", "root", "info/tiny.md5sums"];
    let why = "algorithm md5, from the name of the list";
    is_good(
        &tree,
        &args,
        &[": 2 ok; base root; md5", "tiny.md5sums: format gnu (", why],
    );
    tree.flip("root/usr/share/x", 0);
    is_bad(
        &tree,
        &args,
        "changed     usr/share/x  (",
        "1 ok, 1 changed;",
    );
    let output = tree.cmd(["verify", "info/tiny.md5sums"]).run();
    output.stdout_any().stderr_has("2 missing").code(1).check();
}

/// What the lists in `tests/data/manifests/signed` name.
fn signed_tree() -> Tree {
    let tree = Tree::new();
    tree.file("a.txt", "hello\n").file("-b", "x");
    tree
}

#[test]
fn signed_lists_are_read_and_their_signature_is_said_not_to_be_checked() {
    for (list, format, signature) in [
        ("SHA256SUMS.asc", "gnu", "PGP"),
        ("CHECKSUM", "bsd", "PGP"),
        ("SHA256.sig", "bsd", "signify"),
    ] {
        let tree = signed_tree();
        tree.file(list, fixture(&format!("signed/{list}")));
        let format = format!(
            "{list}: format {format} (from its entries, {signature} signature not checked)"
        );
        let remark = format!("{list}:1: signature not checked ({signature})");
        is_good(
            &tree,
            &[list],
            &[": 2 ok; base .; sha256", &format, &remark],
        );
        tree.flip("-b", 0);
        is_bad(&tree, &[list], "changed     -b  (", "1 ok, 1 changed;");
    }
}

#[test]
fn what_no_signature_covers_is_never_used() {
    let signed = String::from_utf8(fixture("signed/SHA256SUMS.asc")).unwrap();
    // Of the one byte `y`, which is what the altered file holds.
    let smuggled = "a1fce4363854ff888cff4b8e7875d600c2682390412a8cf79b37d0b11148b0fa  a.txt\n";
    let header = "Hash: SHA256\n";
    let outside = "text outside the signed part";
    for (list, reason) in [
        (format!("{smuggled}{signed}"), outside),
        (format!("{signed}{smuggled}"), outside),
        (format!("{signed}\n{signed}"), outside),
        (
            signed.replace(header, &format!("{header}{smuggled}")),
            outside,
        ),
        (
            signed.replace(header, &format!("{smuggled}{header}")),
            outside,
        ),
        (
            signed
                .split("-----BEGIN PGP SIGNATURE")
                .next()
                .unwrap()
                .to_owned(),
            "the signed text has no end",
        ),
    ] {
        let tree = signed_tree();
        tree.file("L", &list);
        let output = tree.cmd(["verify", "L"]).run();
        says(&output, &format!(": {reason}\n"));
        output.stdout_any().stderr_any().code(2).check();
        tree.file("a.txt", "y");
        let output = tree.cmd(["verify", "L"]).run();
        output
            .stdout_has("changed     a.txt  (")
            .stderr_any()
            .code(2)
            .check();
    }
}

#[test]
fn compressed_lists_are_read_and_damaged_ones_are_refused() {
    let tree = described_tree();
    let whole = fixture("mtree/pacman.MTREE");
    tree.file("L", &whole);
    is_good(
        &tree,
        &["L"],
        &["L: format mtree (from its beginning, gzip)"],
    );
    let refused = |bytes: &[u8], reason: &str| {
        tree.file("L", bytes);
        let output = tree.cmd(["verify", "L"]).run();
        output
            .stdout_any()
            .stderr_has(&format!("L: read: {reason}"))
            .code(2)
            .check();
    };
    for end in [3, 50, whole.len() / 2, whole.len() - 1] {
        refused(&whole[..end], "the compressed data is cut off");
    }
    let mut damaged = whole.clone();
    damaged[whole.len() - 5] ^= 1;
    refused(&damaged, "the compressed data is damaged");
    refused(
        &[&whole[..], b"# and something else behind it\n"].concat(),
        "the compressed data is damaged",
    );
}

#[test]
fn a_list_that_unpacks_to_far_more_than_memory_is_refused_in_little_of_it() {
    let tree = Tree::new();
    let pack = "head -c 64M /dev/zero | tr '\\0' x | gzip -1 >piece && \
                for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28; \
                do cat piece; done >bomb.gz";
    tree.shell(pack).run().check();
    // Less than a gigabyte, of which the stacks of threads take the most.
    let output = tree
        .shell("ulimit -v 900000; exec \"$M\" verify -j 2 bomb.gz")
        .run();
    says(&output, "bomb.gz:1: the line is longer than 16777216 bytes");
    output
        .stdout_any()
        .stderr_has("nothing was verified")
        .code(2)
        .check();
}

fn utf16(text: &str, big: bool) -> Vec<u8> {
    let units = text.encode_utf16();
    let bytes = |unit: u16| {
        if big {
            unit.to_be_bytes()
        } else {
            unit.to_le_bytes()
        }
    };
    units.flat_map(bytes).collect()
}

#[test]
fn lists_that_windows_wrote_are_read_as_they_were_meant() {
    let text = format!(
        "{}  a.txt\r\n{}  d\\y\r\n",
        "5891B5B522D5DF086D0FF0B110FBD9D21BB4FC7163AF34D08286A2E846F6BE03",
        "2D711642B726B04401627CA9FBAC32F5C8530FB1903CC4DB02258717921A4881",
    );
    for list in [
        // Windows PowerShell 5.1: `tool >list`.
        utf16(&format!("\u{feff}{text}"), false),
        utf16(&format!("\u{feff}{text}"), true),
        utf16(&text, false),
        format!("\u{feff}{text}").into_bytes(),
        text.clone().into_bytes(),
        text.replace("\r\n", "\n").into_bytes(),
    ] {
        let tree = Tree::new();
        tree.file("a.txt", "hello\n")
            .file("d/y", "x")
            .file("L", &list);
        let note = "1 name with backslashes or escapes was found only under the other name";
        is_good(&tree, &["L"], &[": 2 ok; base .; sha256", note]);
        // A file of exactly that name comes first.
        tree.file("d\\y", "z");
        is_bad(&tree, &["L"], "changed     d\\\\y  (", "1 ok, 1 changed;");
    }
}

const SHA256_LIST: &str = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03  a.txt\n\
    2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881  b\n";

#[test]
fn lists_of_releases_are_verified_by_their_name_or_by_what_fits() {
    for (list, reason) in [
        (
            "tool_1.0_checksums.txt",
            "from the tags or the length of the digests",
        ),
        (
            "SHASUMS256.txt",
            "algorithm sha256, from the name of the list",
        ),
        (
            "checksums_sha256.txt",
            "algorithm sha256, from the name of the list",
        ),
    ] {
        let tree = Tree::new();
        tree.file("a.txt", "hello\n")
            .file("b", "x")
            .file(list, SHA256_LIST);
        is_good(&tree, &[list], &[": 2 ok; base .; sha256", reason]);
        tree.flip("b", 0);
        is_bad(&tree, &[list], "changed     b  (", "1 ok, 1 changed;");
    }
}

#[test]
fn digests_of_blake3_are_found_by_name_or_by_trial() {
    // The output of b3sum 1.2.0.
    let written = "8e4c7c1b99dbfd50e7a95185fead5ee1448fa904a2fdd778eaf5f2dbfd629a99  a.txt\n\
                   3ae7d805f6789a6402acb70ad4096a85a56bf6804eaf25c0493ac697548d30b5  b\n";
    let named = "algorithm blake3, from the name of the list";
    for (list, reason) in [
        ("SUMS", "SUMS: algorithm blake3, found by trial on 2 files"),
        ("B3SUMS", named),
        ("x.blake3", named),
        ("x.b3", named),
    ] {
        let tree = Tree::new();
        tree.file("a.txt", "hello\n")
            .file("b", "x")
            .file(list, written);
        is_good(&tree, &[list], &[": 2 ok; base .; blake3", reason]);
        tree.flip("b", 0);
        is_bad(
            &tree,
            &[list],
            "changed     b  (blake3: ",
            "1 ok, 1 changed;",
        );
    }
    let tree = Tree::new();
    tree.file("a.txt", "hello\n")
        .file("b", "x")
        .file("SHA256SUMS", written);
    is_bad(
        &tree,
        &["SHA256SUMS"],
        "changed     b  (sha256: ",
        "2 changed;",
    );
}

#[test]
fn signify_still_accepts_the_list_that_is_read_here() {
    let tree = signed_tree();
    tree.file("L.sig", fixture("signed/SHA256.sig"))
        .file("k.pub", fixture("signed/k.pub"));
    let args = ["-V", "-e", "-p", "k.pub", "-x", "L.sig", "-m", "L"];
    let tool = ["signify-openbsd", "signify"].into_iter().find(|name| {
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .any(|folder| folder.join(name).is_file())
    });
    let Some(tool) = tool.and_then(|tool| tree.tool(tool, args)) else {
        skipped("signify not installed");
        return;
    };
    tool.run().stdout_any().stderr_any().check();
    is_good(&tree, &["L"], &[": 2 ok; base .; sha256"]);
}

#[test]
fn gpg_signs_and_we_read() {
    let tree = signed_tree();
    let Some(gpg) = tree.tool("gpg", ["--version"]) else {
        return;
    };
    gpg.run().stdout_any().check();
    tree.file("SUMS", SHA256_LIST.replace("  b\n", "  -b\n"))
        .dir("keys")
        .mode("keys", 0o700);
    let script = "gpg='gpg --homedir keys --batch --quiet --no-tty'; \
         $gpg --passphrase '' --quick-gen-key 'throwaway <t@example.org>' ed25519 sign never && \
         $gpg --clearsign --output SHA256SUMS.asc SUMS; code=$?; \
         gpgconf --homedir keys --kill all; exit $code";
    tree.shell(script).run().stdout_any().stderr_any().check();
    is_good(
        &tree,
        &["SHA256SUMS.asc"],
        &[": 2 ok; base .; sha256", "PGP signature not checked"],
    );
}
