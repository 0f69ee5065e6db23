//! BagIt.
//!
//! The bags of the conformance suite of the Library of Congress, made anew from what each of them is
//! about; bags made here and read by bagit.py, and the other way round; and what is left when the
//! program is killed while it makes a bag.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use md5::{Digest, Md5};
use sha2::{Sha224, Sha256, Sha512};

use crate::harness::{Output, Tree, name};

/// A bag to be written down.
#[derive(Clone)]
struct Bag {
    declaration: String,
    payload: Vec<(&'static str, &'static str)>,
    algorithms: Vec<&'static str>,
    /// What stands between digest and path.
    gap: &'static str,
    /// What stands before each path.
    before: &'static str,
    end: &'static str,
    /// More lines for the manifest of the first algorithm.
    more_lines: Vec<String>,
    info_name: &'static str,
    info: Option<String>,
    fetch: Option<String>,
    /// More lines for the tag manifests.
    tag_lines: Vec<String>,
    encode: fn(&str) -> Vec<u8>,
}

fn plain(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

fn utf16(text: &str) -> Vec<u8> {
    let marked = format!("\u{feff}{text}");
    marked.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn latin1(text: &str) -> Vec<u8> {
    text.chars()
        .map(|letter| u8::try_from(u32::from(letter)).unwrap())
        .collect()
}

fn digest(algorithm: &str, bytes: &[u8]) -> String {
    let digest: Vec<u8> = match algorithm {
        "md5" => Md5::digest(bytes).to_vec(),
        "sha224" => Sha224::digest(bytes).to_vec(),
        "sha256" => Sha256::digest(bytes).to_vec(),
        "sha512" => Sha512::digest(bytes).to_vec(),
        other => panic!("{other}"),
    };
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Bag {
    fn of(version: &str) -> Self {
        let old = ["0.93", "0.94", "0.95"].contains(&version);
        Self {
            declaration: declaration(version, "UTF-8"),
            payload: vec![
                ("data/test1.txt", "abc"),
                ("data/dir1/test3.txt", "hello"),
                ("data/dir2/dir3/test5.txt", ""),
            ],
            algorithms: vec!["md5"],
            gap: "  ",
            before: "",
            end: "\r\n",
            more_lines: Vec::new(),
            info_name: if old {
                "package-info.txt"
            } else {
                "bag-info.txt"
            },
            info: Some("Contact-Name: Edna\r\n   Janssen\r\nPayload-Oxum: 8.3\r\n".to_owned()),
            fetch: None,
            tag_lines: Vec::new(),
            encode: plain,
        }
    }

    fn line(&self, algorithm: &str, path: &str, bytes: &[u8]) -> String {
        let digest = digest(algorithm, bytes);
        format!("{digest}{}{}{path}{}", self.gap, self.before, self.end)
    }

    /// Writes all of it into a folder, tag manifests last.
    fn write(&self, tree: &Tree, folder: &str) {
        for (path, content) in &self.payload {
            tree.file(Path::new(folder).join(path), content);
        }
        let mut tags = vec![("bagit.txt".to_owned(), plain(&self.declaration))];
        for (index, algorithm) in self.algorithms.iter().enumerate() {
            let lines = self.payload.iter();
            let lines = lines.map(|(path, content)| self.line(algorithm, path, content.as_bytes()));
            let more = self.more_lines.iter().filter(|_| index == 0).cloned();
            let text: String = lines.chain(more).collect();
            tags.push((format!("manifest-{algorithm}.txt"), (self.encode)(&text)));
        }
        let info = self.info.as_ref().map(|text| (self.info_name, text));
        let fetch = self.fetch.as_ref().map(|text| ("fetch.txt", text));
        for (name, text) in info.into_iter().chain(fetch) {
            tags.push((name.to_owned(), (self.encode)(text)));
        }
        for (name, bytes) in &tags {
            tree.file(Path::new(folder).join(name), bytes);
        }
        for algorithm in &self.algorithms {
            let lines = tags
                .iter()
                .map(|(name, bytes)| self.line(algorithm, name, bytes));
            let text: String = lines.chain(self.tag_lines.iter().cloned()).collect();
            let name = format!("tagmanifest-{algorithm}.txt");
            tree.file(Path::new(folder).join(name), (self.encode)(&text));
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

fn declaration(version: &str, encoding: &str) -> String {
    format!("BagIt-Version: {version}\nTag-File-Character-Encoding: {encoding}\n")
}

fn verify(tree: &Tree, bag: &str) -> Output {
    tree.cmd(["verify", bag]).run()
}

/// The code, and a piece of what is said on either stream.
#[track_caller]
fn check(what: &str, bag: &Bag, code: i32, piece: &str) {
    let tree = Tree::new();
    bag.write(&tree, "bag");
    check_tree(what, &tree, code, piece);
}

#[track_caller]
fn check_tree(what: &str, tree: &Tree, code: i32, piece: &str) {
    let output = verify(tree, "bag");
    assert_eq!(output.code, Some(code), "{what}: {output}");
    let said = [&output.stdout[..], &output.stderr].concat();
    assert!(
        crate::harness::holds(&said, piece.as_bytes()),
        "{what}: no '{piece}' in {output}"
    );
    output.stdout_any().stderr_any().code(code).check();
}

const OLD: [&str; 3] = ["0.93", "0.94", "0.95"];

fn repeated_labels(bag: &mut Bag) {
    bag.info = Some("Contact-Name: a\nContact-Name: b\ncontact-NAME: c".to_owned());
}

#[test]
fn valid_bags_of_the_oldest_versions() {
    for version in OLD {
        check("basic-bag", &Bag::of(version), 0, " ok; base");
        let repeated = Bag::of(version).with(repeated_labels);
        check("duplicate-metadata-entries", &repeated, 0, " ok; base");
    }
}

/// What 0.96 and 0.97 have in common.
fn common(version: &'static str) -> Vec<(&'static str, Bag)> {
    let one_blank = || Bag::of(version).with(|bag| bag.gap = " ");
    let payload = |payload: &[(&'static str, &'static str)]| {
        one_blank().with(|bag| {
            bag.payload = payload.to_vec();
            bag.info = None;
        })
    };
    vec![
        ("basic-bag", one_blank()),
        (
            "duplicate-metadata-entries",
            one_blank().with(repeated_labels),
        ),
        (
            "bag-in-a-bag",
            payload(&[
                (
                    "data/bag/bagit.txt",
                    "BagIt-Version: 0.96\nTag-File-Character-Encoding: UTF-8\n",
                ),
                ("data/bag/data/a", "abc"),
                ("data/bag/manifest-md5.txt", "00  data/a\n"),
                ("data/bag/tagmanifest-md5.txt", "not even a manifest\n"),
            ]),
        ),
        (
            "bag-with-encoded-names",
            payload(&[
                ("data/dir1/~test3.txt", "abc"),
                ("data/%7Edir2/dir3/test5.txt", "hello"),
                ("data/%7Etest1.txt", ""),
                ("data/%test2.txt", "x"),
                ("data/100%25", "y"),
            ]),
        ),
        (
            "bag-with-escapable-characters",
            payload(&[("data/test file with spaces.txt", "abc")]),
        ),
        (
            "bag-with-leading-dot-slash-in-manifest",
            payload(&[("data/a", "abc")]).with(|bag| bag.before = "./"),
        ),
        ("bag-with-space", payload(&[("data/test 1.txt", "abc")])),
        (
            "holey-bag",
            one_blank().with(|bag| {
                bag.fetch = Some(
                    "http://localhost/data/dir1/test3.txt - data/dir1/test3.txt\r\n\
                     http://localhost/data/test%201.txt 3 data/test1.txt\r\n"
                        .to_owned(),
                );
            }),
        ),
    ]
}

#[test]
fn valid_bags_of_0_96_and_0_97() {
    for version in ["0.96", "0.97"] {
        for (what, bag) in common(version) {
            check(what, &bag, 0, " ok; base");
        }
    }
}

#[test]
fn valid_bags_of_0_97_alone() {
    let latin = Bag::of("0.97").with(|bag| {
        bag.declaration = declaration("0.97", "ISO-8859-1");
        bag.payload = vec![("data/caf\u{e9}", "abc")];
        bag.info = Some("Contact-Name: Andr\u{e9}\n".to_owned());
        bag.encode = latin1;
    });
    check("ISO-8859-1-encoded-tag-files", &latin, 0, " ok; base");
    let wide = Bag::of("0.97").with(|bag| {
        bag.declaration = declaration("0.97", "UTF-16");
        bag.payload = vec![("data/caf\u{e9}", "abc")];
        bag.info = Some("Payload-Oxum: 3.1\n".to_owned());
        bag.encode = utf16;
    });
    check("UTF-16-encoded-tag-files", &wide, 0, " ok; base");
    let minimal = Bag::of("0.97").with(|bag| {
        bag.payload = vec![("data/data/bare-filename", "abc"), ("data/bagit.txt", "x")];
        bag.info = Some("Payload-Oxum: 4.2\n".to_owned());
        bag.end = "\n";
    });
    check("minimal-bag", &minimal, 0, " ok; base");
    let separators = Bag::of("0.97").with(|bag| {
        bag.algorithms = vec!["sha224"];
        bag.info = Some("Test-Tag:   2\nTest-Tag : 3\nTest-Tag    :   5\n".to_owned());
    });
    check("uncommon-metadata-separators", &separators, 0, " ok; base");
}

#[test]
fn valid_bag_of_1_0() {
    let basic = Bag::of("1.0").with(|bag| {
        bag.algorithms = vec!["sha512"];
        bag.end = "\n";
    });
    check("basicBag", &basic, 0, " ok; base");
    let carriage_returns = basic.with(|bag| bag.end = "\r");
    check("lines that end in CR", &carriage_returns, 0, " ok; base");
}

#[test]
fn invalid_bags_of_0_97_by_their_declaration() {
    for (what, text, piece) in [
        (
            "baginfo-missing-encoding",
            "BagIt-Version: 0.97\n",
            "bag/bagit.txt:2: the line is not 'Tag-File-Character-Encoding: …'",
        ),
        (
            "bom-in-bagit.txt",
            "\u{feff}BagIt-Version: 0.97\nTag-File-Character-Encoding: UTF-8\n",
            "bag/bagit.txt:1: a byte order mark",
        ),
        (
            "invalid-version-number",
            "BagIt-Version: .97\nTag-File-Character-Encoding: UTF-8\n",
            "bag/bagit.txt:1: the version is not two numbers",
        ),
    ] {
        let bag = Bag::of("0.97").with(|bag| bag.declaration = text.to_owned());
        check(what, &bag, 2, piece);
    }
    let tree = Tree::new();
    Bag::of("0.97").write(&tree, "bag");
    tree.remove("bag/bagit.txt");
    check_tree(
        "missing-bagit.txt",
        &tree,
        2,
        "bagit.txt makes it a BagIt bag",
    );
}

#[test]
fn invalid_bags_of_0_97_by_their_files() {
    let made = || {
        let tree = Tree::new();
        Bag::of("0.97").write(&tree, "bag");
        tree
    };
    let tree = made();
    tree.flip("bag/data/test1.txt", 1);
    check_tree("corrupt-data-file", &tree, 1, "changed     data/test1.txt");
    let tree = made();
    tree.flip("bag/bag-info.txt", 16);
    check_tree("corrupt-tag-file", &tree, 1, "changed     bag-info.txt");
    let tree = made();
    tree.file("bag/data/bar", "x");
    check_tree("extra-file-in-bag", &tree, 1, "new         data/bar");
    let tree = made();
    tree.remove("bag/bag-info.txt");
    check_tree("missing-baginfo", &tree, 1, "missing     bag-info.txt");
    let tree = made();
    tree.remove("bag/data/test1.txt");
    check_tree("a missing file", &tree, 1, "missing     data/test1.txt");
    let tree = made();
    tree.file("bag/data/test1.txt", "ab");
    check_tree("a shortened file", &tree, 1, "changed     data/test1.txt");
}

/// Paths that lead out of the payload, on one system or another.
const OUT_OF_SCOPE: [&str; 7] = [
    "../../../README.md",
    "/tmp/foo",
    "~/foo",
    "~root/foo",
    "C:\\Windows\\System32\\setx.exe",
    "%HomeDrive%\\Windows\\System32\\setx.exe",
    "\\\\?\\UNC\\server\\Windows\\System32\\setx.exe",
];

#[test]
fn paths_out_of_scope_are_refused_on_every_system() {
    for path in OUT_OF_SCOPE {
        let listed = Bag::of("0.97").with(|bag| {
            bag.more_lines = vec![format!("{}  {path}\n", digest("md5", b"x"))];
        });
        check(path, &listed, 2, "manifest-md5.txt:4: ");
        let fetched = Bag::of("0.97").with(|bag| {
            bag.fetch = Some(format!("https://localhost/x - {path}\n"));
        });
        check(path, &fetched, 2, "fetch.txt:1: ");
    }
}

#[test]
fn a_file_outside_is_not_even_opened() {
    let tree = Tree::new();
    tree.file("secret", "abc");
    let bag = Bag::of("0.97").with(|bag| {
        bag.more_lines = vec![
            format!("{}  data/../../secret\n", digest("md5", b"abc")),
            format!("{}  data/link\n", digest("md5", b"abc")),
            format!("{}  data/up/secret\n", digest("md5", b"abc")),
        ];
    });
    bag.write(&tree, "bag");
    tree.link("bag/data/link", "../../secret");
    tree.link("bag/data/up", "../..");
    let output = verify(&tree, "bag");
    let lines = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(lines.lines().count(), 3, "{output}");
    assert!(lines.contains("manifest-md5.txt:5: data/link: a symbolic link leads out of the bag"));
    assert!(lines.contains("manifest-md5.txt:6: data/up/secret: a symbolic link leads out"));
    output.stdout_any().stderr_any().code(2).check();
}

fn listed_twice(version: &str, content: &[u8]) -> Bag {
    Bag::of(version).with(|bag| {
        bag.algorithms = vec!["sha256", "sha512"];
        bag.more_lines = vec![format!("{}  data/test1.txt\n", digest("sha256", content))];
    })
}

#[test]
fn the_same_name_twice_is_invalid_or_a_warning() {
    check(
        "different hashes",
        &listed_twice("0.97", b"x"),
        2,
        "contradictory entries",
    );
    check(
        "different hashes",
        &listed_twice("1.0", b"x"),
        2,
        "contradictory entries",
    );
    check(
        "the same hash",
        &listed_twice("0.97", b"abc"),
        0,
        "manifest-sha256.txt:4: data/test1.txt: listed twice",
    );
    check(
        "the same hash",
        &listed_twice("1.0", b"abc"),
        2,
        "manifest-sha256.txt:4: data/test1.txt: listed twice",
    );
}

#[test]
fn invalid_bags_of_1_0() {
    let blanks = Bag::of("1.0").with(|bag| {
        bag.declaration = "BagIt-Version : 1.0\nTag-File-Character-Encoding : UTF-8\n".to_owned();
    });
    check(
        "bagit-with-invalid-whitespace",
        &blanks,
        2,
        "one blank belongs after the colon",
    );
    let tree = Tree::new();
    Bag::of("1.0").write(&tree, "bag");
    tree.file("bag/data/missingFromManifest.txt", "x");
    check_tree(
        "notAllManifestsListAllFiles",
        &tree,
        1,
        "new         data/missingFromManifest.txt",
    );
    // With two manifests, one of which lists it.
    let extra = |version| {
        Bag::of(version).with(|bag| {
            bag.algorithms = vec!["sha256", "sha512"];
            bag.more_lines = vec![format!("{}  data/extra\n", digest("sha256", b"abc"))];
            bag.info = None;
        })
    };
    for (version, code, piece) in [
        (
            "1.0",
            2,
            "manifest-sha512.txt:3: 1 file of another manifest is not listed, the first of them data/extra",
        ),
        ("0.97", 0, " ok; base"),
    ] {
        let tree = Tree::new();
        extra(version).write(&tree, "bag");
        tree.file("bag/data/extra", "abc");
        check_tree("listed by one of two", &tree, code, piece);
    }
}

#[test]
fn warnings_are_said_and_change_no_code() {
    let star = Bag::of("0.97").with(|bag| bag.gap = " *");
    check(
        "made-with-md5sum-tools",
        &star,
        0,
        "manifest-md5.txt:1: the star before the path",
    );
    let dot = Bag::of("0.97").with(|bag| bag.before = "./");
    check(
        "relative-path",
        &dot,
        0,
        "manifest-md5.txt:1: the path begins with a needless ./",
    );
    let forms = Bag::of("0.96").with(|bag| {
        bag.payload = vec![("data/N\u{fa}\u{f1}ez", "abc")];
        bag.info = None;
        bag.more_lines = vec![format!(
            "{}  data/Nu\u{301}n\u{303}ez\n",
            digest("md5", b"abc")
        )];
    });
    check(
        "different-normalization",
        &forms,
        0,
        "manifest-md5.txt:2: data/N",
    );
    // What is listed and not there is missing, whatever the reason.
    let case = Bag::of("0.97").with(|bag| {
        bag.more_lines = vec![format!("{}  data/TEST1.txt\n", digest("md5", b"abc"))];
    });
    check(
        "duplicate-file-with-different-case",
        &case,
        1,
        "manifest-md5.txt:4: data/TEST1.txt: differs from data/test1.txt in case only",
    );
    let special = Bag::of("0.97").with(|bag| {
        bag.payload.push(("data/Thumbs.db", ""));
        bag.info = None;
    });
    check(
        "special-system-files",
        &special,
        0,
        "manifest-md5.txt:4: data/Thumbs.db: a file that systems make",
    );
    let absent = special.with(|bag| {
        bag.more_lines = vec![format!("{}  data/.DS_Store\n", digest("md5", b""))];
    });
    check(
        "special-system-files",
        &absent,
        1,
        "missing     data/.DS_Store",
    );
}

#[test]
fn what_a_bag_says_of_itself_must_hold() {
    let oxum = Bag::of("0.97").with(|bag| bag.info = Some("A: b\nPayload-Oxum: 9.3\n".to_owned()));
    check(
        "octets",
        &oxum,
        2,
        "bag-info.txt:2: there should be 3 files with 9 bytes, and there are 3 with 8",
    );
    let info = |text: &str| Bag::of("1.0").with(|bag| bag.info = Some(text.to_owned()));
    check("no label", &info("hello\n"), 2, "bag-info.txt:1: ");
    check(
        "twice",
        &info("Payload-Oxum: 8.3\nPayload-Oxum: 8.3\n"),
        2,
        "bag-info.txt:2: ",
    );
    let holey = |path: &str, version| {
        let tree = Tree::new();
        Bag::of(version)
            .with(|bag| bag.fetch = Some(format!("http://localhost/x 3 {path}\n")))
            .write(&tree, "bag");
        tree
    };
    let tree = holey("data/test1.txt", "1.0");
    tree.remove("bag/data/test1.txt");
    check_tree("a hole", &tree, 1, "missing     data/test1.txt");
    check_tree("a hole", &tree, 1, "1 file is still to be fetched");
    check_tree(
        "unlisted",
        &holey("data/other", "1.0"),
        2,
        "fetch.txt:1: data/other: not listed",
    );
    check_tree("length", &holey("data/dir1/test3.txt", "1.0"), 1, "size");
    let tagged = Bag::of("1.0").with(|bag| {
        bag.tag_lines = vec![format!("{}  data/test1.txt\n", digest("md5", b"abc"))];
    });
    check(
        "payload as tag",
        &tagged,
        2,
        "a tag manifest must not list the payload",
    );
    let unknown = Bag::of("0.97").with(|bag| bag.info = None);
    let tree = Tree::new();
    unknown.write(&tree, "bag");
    tree.file("bag/manifest-gost.txt", "00ff  data/test1.txt\n");
    check_tree("unknown algorithm", &tree, 2, "unverified  data/test1.txt");
    tree.cmd(["verify", "-a", "md5", "bag"])
        .run()
        .stderr_any()
        .check();
    let leniency = tree.cmd(["verify", "--lenient", "bag"]).run();
    leniency.stdout_any().stderr_any().code(2).check();
    let tree = Tree::new();
    blanked(&tree);
    let lenient = tree.cmd(["verify", "--lenient", "bag"]).run();
    lenient
        .stdout_has("bag/bagit.txt:1: ")
        .stderr_any()
        .code(2)
        .check();
}

fn blanked(tree: &Tree) {
    let blanks = Bag::of("1.0").with(|bag| {
        bag.declaration = "BagIt-Version : 1.0\nTag-File-Character-Encoding: UTF-8\n".to_owned();
    });
    blanks.write(tree, "bag");
}

#[test]
fn a_folder_without_manifests_is_refused_by_name_and_a_base_does_not_apply() {
    let tree = Tree::new();
    tree.dir("plain");
    let output = tree.cmd(["verify", "plain"]).run();
    output
        .stderr("multisum: plain: a folder without manifests of its own (bagit.txt makes it a BagIt bag, ascmhl a media hash list history)\n")
        .code(2)
        .check();
    Bag::of("1.0").write(&tree, "bag");
    let output = tree.cmd(["verify", "-C", ".", "bag"]).run();
    output
        .stderr_has("a folder is verified where it lies")
        .code(2)
        .check();
}

#[test]
fn a_manifest_alone_is_known_by_its_name() {
    let tree = Tree::new();
    Bag::of("1.0").write(&tree, "bag");
    let output = tree.cmd(["verify", "-v", "bag/manifest-md5.txt"]).run();
    output
        .stdout_any()
        .stderr_has("format bagit (from its entries), algorithm md5, from the name of the list")
        .check();
    tree.flip("bag/data/test1.txt", 0);
    let output = tree.cmd(["verify", "bag/manifest-md5.txt"]).run();
    output
        .stdout_has("changed     data/test1.txt")
        .stderr_any()
        .code(1)
        .check();
}

#[test]
fn a_manifest_is_written_by_its_name_and_read_back_whatever_the_names() {
    let tree = Tree::new();
    for file in [
        "a%25b",
        "new\nline",
        "cr\rx",
        "back\\slash",
        "100%",
        "*star",
        "tail ",
    ] {
        tree.painted(Path::new("data").join(file), 10);
    }
    let hashed = tree
        .cmd(["hash", "-o", "manifest-sha512.txt", "data"])
        .run();
    hashed.stderr_any().check();
    let text = String::from_utf8(tree.read("manifest-sha512.txt")).unwrap();
    assert!(
        text.contains("  data/new%0Aline\n") && text.contains("  data/a%2525b\n"),
        "{text}"
    );
    let output = tree
        .cmd(["verify", "-v", "--exact", "manifest-sha512.txt"])
        .run();
    output
        .stdout_any()
        .stderr_has("format bagit")
        .stderr_has("7 ok")
        .check();
    tree.file(Path::new("data").join(name(b"\xff")), "x");
    let refused = tree.cmd(["hash", "-f", "bagit", "data"]).run();
    refused
        .stdout_any()
        .stderr_has("format bagit cannot hold bytes that are no UTF-8")
        .code(2)
        .check();
}

/// A folder with all that makes bagging hard and that a bag can hold.
fn letters(tree: &Tree) -> BTreeMap<PathBuf, Vec<u8>> {
    let names = [
        "a",
        "b c",
        "data",
        "manifest-md5.txt",
        ".hidden",
        "d/e/f",
        "d/new\nline",
        "d/cr\rx",
        "\u{e9}t\u{e9}",
        "z",
    ];
    for (index, file) in names.iter().enumerate() {
        tree.painted(Path::new("letters").join(file), 1000 + index);
    }
    contents(&tree.path("letters"))
}

fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fn collect(folder: &Path, below: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = below.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                collect(&entry.path(), &name, found);
            } else {
                found.insert(name, fs::read(entry.path()).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(folder, Path::new(""), &mut found);
    found
}

#[test]
fn a_folder_becomes_a_bag_and_only_once() {
    let tree = Tree::new();
    let before = letters(&tree);
    tree.dir("letters/empty/empty");
    let make = || {
        let command = tree.cmd(["hash", "--bag", "letters", "-a", "sha512,md5"]);
        command.env("SOURCE_DATE_EPOCH", "1704164645").run()
    };
    make()
        .stderr_has("hashed 10 files")
        .stderr_has("1 empty folder cannot")
        .check();
    assert_eq!(contents(&tree.path("letters/data")), before);
    let expected = [
        "bag-info.txt",
        "bagit.txt",
        "data",
        "manifest-md5.txt",
        "manifest-sha512.txt",
        "tagmanifest-md5.txt",
        "tagmanifest-sha512.txt",
    ];
    assert_eq!(tree.names_in("letters"), expected.map(OsString::from));
    let octets: usize = before.values().map(Vec::len).sum();
    let info = format!(
        "Bag-Software-Agent: multisum {}\nBagging-Date: 2024-01-02\nPayload-Oxum: {octets}.10\n",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(tree.read("letters/bag-info.txt"), info.as_bytes());
    verify(&tree, "letters")
        .stderr_has(" ok; base letters")
        .check();
    make().stderr_has("letters: a bag already").code(2).check();
    tree.flip("letters/data/d/e/f", 500);
    verify(&tree, "letters")
        .stdout_has("changed     data/d/e/f")
        .stderr_any()
        .code(1)
        .check();
}

#[test]
fn a_bag_as_a_copy_leaves_the_folder_alone() {
    let tree = Tree::new();
    let before = letters(&tree);
    let make = |target: &str| tree.cmd(["hash", "--bag", "letters", "-o", target]).run();
    make("bag").stderr_has("hashed 10 files").check();
    assert_eq!(contents(&tree.path("letters")), before);
    assert_eq!(contents(&tree.path("bag/data")), before);
    verify(&tree, "bag").stderr_has(" ok; base bag").check();
    make("bag").stderr_has("bag: it exists").code(2).check();
    make("letters/bag")
        .stderr_has("lies in the folder")
        .code(2)
        .check();
    assert_eq!(contents(&tree.path("letters")), before);
}

#[test]
fn what_a_bag_cannot_hold_is_refused_before_anything_moves() {
    for (what, piece) in [
        ("name", "\\xFF: the name is no UTF-8"),
        ("link", "link: a symbolic link, which a bag cannot hold"),
        ("fifo", "pipe: a named pipe, which a bag cannot hold"),
    ] {
        let tree = Tree::new();
        letters(&tree);
        match what {
            "name" => tree.file(Path::new("letters").join(name(b"\xff")), "x"),
            "link" => tree.link("letters/link", "a"),
            _ => tree.fifo("letters/pipe"),
        };
        let before = tree.list();
        let output = tree.cmd(["hash", "--bag", "letters"]).run();
        let said = String::from_utf8(output.stderr.clone()).unwrap();
        assert!(
            said.to_lowercase().contains(&piece.to_lowercase()),
            "{what}: {said}"
        );
        output.stderr_any().code(2).check();
        assert_eq!(tree.list(), before);
    }
}

/// Every payload file under exactly one name, wherever it is by now.
#[track_caller]
fn nothing_is_lost(tree: &Tree, before: &BTreeMap<PathBuf, Vec<u8>>, what: &str) {
    let now = contents(&tree.path("letters"));
    for (file, bytes) in before {
        let ours = now
            .iter()
            .filter(|(path, found)| path.ends_with(file) && *found == bytes);
        assert_eq!(
            ours.count(),
            1,
            "{what}: {file:?} in {now:?}",
            now = now.keys()
        );
    }
}

fn under_strace(tree: &Tree, fault: &str) -> Option<Output> {
    let inject = format!("inject={fault}");
    let options = [
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        &inject,
        crate::harness::BINARY,
    ];
    let args = options
        .into_iter()
        .chain(["hash", "--bag", "letters", "-j1"]);
    Some(tree.tool("strace", args)?.run())
}

#[test]
fn a_run_that_is_killed_loses_nothing_and_the_next_run_ends_well() {
    for step in 1..=14 {
        let tree = Tree::new();
        let before = letters(&tree);
        let Some(killed) = under_strace(&tree, &format!("/^rename:signal=SIGKILL:when={step}"))
        else {
            return;
        };
        let what = format!("killed at rename {step}");
        let ended = killed.code == Some(0);
        nothing_is_lost(&tree, &before, &what);
        if ended {
            // All renames were fewer than that.
            assert!(step > 9, "{what}: {killed}");
            killed.stderr_any().check();
        } else {
            drop(killed);
            let again = tree.cmd(["hash", "--bag", "letters"]).run();
            assert_eq!(again.code, Some(0), "{what}: {again}");
            again.stderr_has("an earlier run had been stopped").check();
        }
        assert_eq!(contents(&tree.path("letters/data")), before, "{what}");
        verify(&tree, "letters")
            .stderr_has(" ok; base letters")
            .check();
    }
}

#[test]
fn a_rename_that_fails_puts_everything_back() {
    for step in [1, 3, 7] {
        let tree = Tree::new();
        let before = letters(&tree);
        let Some(failed) = under_strace(&tree, &format!("/^rename:error=EIO:when={step}")) else {
            return;
        };
        failed.stderr_has("rename: ").code(2).check();
        assert_eq!(
            contents(&tree.path("letters")),
            before,
            "failed at rename {step}"
        );
    }
}

#[test]
fn bagit_py_accepts_our_bags_and_finds_a_flipped_byte() {
    for algorithms in ["sha512", "md5,sha1,sha256"] {
        let tree = Tree::new();
        letters(&tree);
        tree.cmd(["hash", "--bag", "letters", "-a", algorithms])
            .run()
            .stderr_any()
            .check();
        let validate = || tree.tool("bagit.py", ["--validate", "letters"]);
        let Some(tool) = validate() else { return };
        tool.run().stderr_has("is valid").check();
        tree.flip("letters/data/d/e/f", 7);
        let found = validate().unwrap().run();
        found.stdout_any().stderr_has("is invalid").code(1).check();
    }
}

#[test]
fn bags_of_bagit_py_are_accepted_and_a_flipped_byte_is_found() {
    for options in [
        "--sha512",
        "--md5",
        "--sha256 --sha512",
        "--sha3_256",
        "--blake2b",
    ] {
        let tree = Tree::new();
        let before = letters(&tree);
        let args = options
            .split(' ')
            .chain(["--contact-name", "Edna: J\u{e9}", "letters"]);
        let Some(tool) = tree.tool("bagit.py", args) else {
            return;
        };
        tool.run().stderr_any().check();
        assert_eq!(contents(&tree.path("letters/data")), before);
        let good = verify(&tree, "letters");
        assert_eq!(good.code, Some(0), "{options}: {good}");
        good.stderr_has(" ok; base letters").check();
        tree.flip("letters/data/d/e/f", 7);
        verify(&tree, "letters")
            .stdout_has("changed     data/d/e/f")
            .stderr_any()
            .code(1)
            .check();
    }
}

#[test]
fn a_percent_sign_that_bagit_py_does_not_escape_is_found_by_its_literal_name() {
    let tree = Tree::new();
    tree.file("letters/100%25", "abc")
        .file("letters/%0A.txt", "x");
    let Some(tool) = tree.tool("bagit.py", ["--sha256", "letters"]) else {
        return;
    };
    tool.run().stderr_any().check();
    tree.file("letters/bagit.txt", declaration("1.0", "UTF-8"));
    tree.remove("letters/tagmanifest-sha256.txt");
    let output = verify(&tree, "letters");
    output
        .stderr_has("data/100%25: the name is not escaped")
        .stderr_has("data/%0A.txt: the name is not escaped")
        .stderr_has("2 ok")
        .check();
}

#[test]
fn a_stage_that_leads_out_of_the_folder_is_refused_and_nothing_outside_is_touched() {
    for with_payload in [true, false] {
        let tree = Tree::new();
        tree.file("victim/thesis.txt", "kept")
            .file("victim/bagit.txt", "kept")
            .file("letters/a", "abc");
        tree.dir("letters/.multisum-bag");
        tree.file("letters/.multisum-bag/lock", "");
        if with_payload {
            tree.dir("letters/.multisum-bag/payload");
        }
        tree.link("letters/.multisum-bag/tags", "../../victim");
        let before = tree.list();
        let output = tree.cmd(["hash", "--bag", "letters"]).run();
        output
            .stderr_has("letters/.multisum-bag/tags: not what a stopped run leaves")
            .code(2)
            .check();
        assert_eq!(tree.list(), before);
        assert_eq!(tree.read("victim/thesis.txt"), b"kept");
    }
}

#[test]
fn a_copy_neither_ends_nor_undoes_what_a_stopped_run_began() {
    for step in [3, 11] {
        let tree = Tree::new();
        letters(&tree);
        let fault = format!("/^rename:signal=SIGKILL:when={step}");
        let Some(killed) = under_strace(&tree, &fault) else {
            return;
        };
        drop(killed);
        let before = contents(&tree.path("letters"));
        let output = tree.cmd(["hash", "--bag", "letters", "-o", "bag"]).run();
        output
            .stderr_has("letters: a run that was to make it a bag is at work or was stopped")
            .code(2)
            .check();
        assert_eq!(contents(&tree.path("letters")), before);
        assert!(!tree.path("bag").exists());
    }
}

#[test]
fn a_copy_is_on_the_medium_before_it_is_declared_a_bag() {
    let tree = Tree::new();
    letters(&tree);
    let options = [
        "-f",
        "-qq",
        "-y",
        "-e",
        "trace=fsync",
        "-o",
        "trace",
        crate::harness::BINARY,
    ];
    let args = options
        .into_iter()
        .chain(["hash", "--bag", "letters", "-o", "bag"]);
    let Some(tool) = tree.tool("strace", args) else {
        return;
    };
    tool.run().stderr_any().check();
    let trace = String::from_utf8_lossy(&tree.read("trace")).into_owned();
    let place = |path: &str| trace.find(&format!("/{path}>)"));
    let declared = place("bag/bagit.txt");
    assert!(declared.is_some(), "{trace}");
    for path in [
        "data/a",
        "data/d/e/f",
        "data/z",
        "data",
        "data/d",
        "data/d/e",
    ] {
        let synced = place(&format!("bag/{path}"));
        assert!(synced.is_some() && synced < declared, "{path}: {trace}");
    }
}

#[test]
fn an_algorithm_that_no_manifest_of_a_bag_can_name_is_refused_before_anything_is_read() {
    for algorithm in ["blake2b-256", "cksum"] {
        let tree = Tree::new();
        letters(&tree);
        let before = tree.list();
        for args in [
            &["hash", "--bag", "letters", "-a", algorithm][..],
            &["hash", "-f", "bagit", "letters", "-a", algorithm],
        ] {
            let output = tree.cmd(args).run();
            output
                .stderr_has("format bagit cannot carry")
                .code(2)
                .check();
        }
        assert_eq!(tree.list(), before);
    }
}

#[test]
fn a_manifest_of_a_bag_is_written_under_no_other_name() {
    let tree = Tree::new();
    tree.file("data/100%", "abc");
    let write = |path: &str| {
        let args = ["hash", "-f", "bagit", "-a", "sha512", "-o", path, "data"];
        tree.cmd(args).run()
    };
    for path in ["L", "L.txt", "sha512.txt", "my-manifest-sha512.txt"] {
        write(path)
            .stderr_has("known by its name, manifest-sha512.txt or tagmanifest-sha512.txt")
            .code(2)
            .check();
        assert!(!tree.path(path).exists());
    }
    for path in ["manifest-sha512.txt", "tagmanifest-sha512.txt"] {
        write(path).stderr_any().check();
        let read = tree.cmd(["verify", path]).run();
        read.stdout_any().stderr_has("1 ok").check();
    }
    write("-")
        .stdout_has("  data/100%25\n")
        .stderr_any()
        .check();
}

#[test]
fn a_comment_in_a_manifest_is_no_part_of_a_bag() {
    let bag = Bag::of("1.0").with(|bag| {
        bag.more_lines = vec![format!("#{}  data/test1.txt\n", digest("md5", b"x"))];
    });
    check("comment", &bag, 2, "manifest-md5.txt:4: ");
}

#[test]
fn a_manifest_that_is_a_link_is_not_read() {
    let tree = Tree::new();
    Bag::of("1.0").write(&tree, "bag");
    tree.remove("bag/manifest-md5.txt");
    tree.link("bag/manifest-md5.txt", "/dev/zero");
    check_tree(
        "link",
        &tree,
        2,
        "bag/manifest-md5.txt: read: no plain file",
    );
}

#[test]
fn two_lengths_for_one_file_are_a_contradiction() {
    let bag = Bag::of("1.0").with(|bag| {
        bag.fetch = Some("u 3 data/test1.txt\nv 4 data/test1.txt\n".to_owned());
    });
    check(
        "fetch",
        &bag,
        2,
        "fetch.txt:2: data/test1.txt: another length",
    );
}
