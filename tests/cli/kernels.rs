//! The kernels that `MULTISUM_LANES` forces, seen through whole runs.

use multisum::lanes::Lanes;

use crate::harness::{Output, Tree};

const ALGORITHMS: &str = "md5,sha1,sha224,sha256,sha384,sha512,sha512-256";

/// The tag that a list has, and the tool that computes the same.
const TOOLS: [(&str, &str); 6] = [
    ("MD5", "md5sum"),
    ("SHA1", "sha1sum"),
    ("SHA224", "sha224sum"),
    ("SHA256", "sha256sum"),
    ("SHA384", "sha384sum"),
    ("SHA512", "sha512sum"),
];

/// Files with lengths round the edges of blocks, of their padding, and of what is read at a time.
fn tree_of_lengths() -> (Tree, Vec<String>) {
    let edges = [0, 64, 128, 256, 512, 4096, 16_384, 65_536, 131_072, 200_000];
    let mut lengths: Vec<usize> = edges
        .iter()
        .flat_map(|edge| [edge.max(&17) - 17, edge.max(&9) - 9, edge.max(&1) - 1])
        .chain(edges.iter().flat_map(|edge| [*edge, edge + 1, edge + 56]))
        .collect();
    lengths.extend([2, 3, 5, 100, 1000]);
    lengths.sort_unstable();
    let tree = Tree::new();
    let names: Vec<String> = (0..lengths.len())
        .map(|number| format!("{number:02}"))
        .collect();
    for (name, length) in names.iter().zip(&lengths) {
        tree.painted(name, *length);
    }
    assert!(names.len() > 60, "{}", names.len());
    (tree, names)
}

fn hash(tree: &Tree, backend: &str, threads: &str) -> Output {
    let args = ["hash", "--quiet", "-a", ALGORITHMS, "-j", threads];
    tree.cmd(args).env("MULTISUM_LANES", backend).run()
}

/// The lines of one algorithm, as its tool writes them.
fn untagged(list: &str, tag: &str) -> String {
    let start = format!("{tag} (");
    let pairs = list
        .lines()
        .filter_map(|line| line.strip_prefix(&start)?.split_once(") = "));
    pairs
        .map(|(name, digest)| format!("{digest}  {name}\n"))
        .collect()
}

#[test]
fn every_backend_gives_the_bytes_that_other_tools_give() {
    let (tree, names) = tree_of_lengths();
    let portable = hash(&tree, "portable", "1");
    let list = String::from_utf8(portable.stdout.clone()).unwrap();
    assert_eq!(list.lines().count(), 7 * names.len());
    portable.stdout_any().check();
    for (tag, tool) in TOOLS {
        if let Some(cmd) = tree.tool(tool, &names) {
            cmd.run().stdout(untagged(&list, tag)).check();
        }
    }
    let backends: Vec<_> = Lanes::backends().collect();
    assert!(backends.iter().any(|(name, _)| *name == "portable"));
    for (backend, _) in backends.iter().filter(|(_, lanes)| lanes.is_ok()) {
        for threads in ["1", "2"] {
            hash(&tree, backend, threads).stdout(&list).check();
        }
    }
}

#[test]
fn a_backend_that_cannot_be_had_is_one_line() {
    let tree = Tree::new();
    tree.file("a", "abc");
    let missing = Lanes::backends().filter_map(|(name, lanes)| Some((name, lanes.err()?)));
    let told = missing.map(|(name, error)| (name, error.to_string()));
    let unknown = (
        "abacus",
        "unknown kernels abacus; this build has ".to_owned(),
    );
    for (backend, told) in told.chain([unknown]) {
        let output = hash(&tree, backend, "1");
        let lines = output.stderr.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(lines, 1, "{output}");
        let told = format!("multisum: MULTISUM_LANES: {told}");
        output.stderr_has(&told).code(2).check();
    }
}
