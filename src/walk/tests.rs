//! Walks over real trees.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Filter, Found, FoundKind, Input, LeaveOut, Options, Root, walk};
use crate::error::{FileError, Operation};
use crate::relpath::RelPath;

struct Tree(tempfile::TempDir);

impl Tree {
    /// Makes files with their directories; a slash at the end makes a directory.
    fn new(names: &[&str]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for name in names {
            let path = tree.at(name);
            if name.ends_with('/') {
                fs::create_dir_all(path).unwrap();
            } else {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, name).unwrap();
            }
        }
        tree
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A root below the tree, under the name that it would have if it was typed there.
    fn root(&self, name: &str) -> Input {
        Input::Path(Root {
            path: self.at(name),
            ..Root::as_typed(Path::new(name))
        })
    }

    fn walk(&self, roots: &[&str], options: &Options) -> Vec<String> {
        self.found(roots, options).iter().map(shown).collect()
    }

    fn found(&self, roots: &[&str], options: &Options) -> Vec<Found> {
        let inputs: Vec<_> = roots.iter().map(|root| self.root(root)).collect();
        walk(inputs, options.clone()).collect()
    }
}

/// The name, and what it is if it is no file.
fn shown(found: &Found) -> String {
    let name = &found.name;
    match &found.kind {
        FoundKind::File => name.to_string(),
        FoundKind::Stream => format!("{name} (stream)"),
        FoundKind::Stdin => format!("{name} (stdin)"),
        FoundKind::Special(special) => format!("{name} ({special})"),
        FoundKind::Failed(error) => format!("{name} ({error})"),
    }
}

fn error_of(found: &Found) -> &FileError {
    match &found.kind {
        FoundKind::Failed(error) => error,
        other => panic!("{other:?}"),
    }
}

fn filtered(include: &[&str], exclude: &[&str]) -> Options {
    Options {
        filter: Filter::new(include, exclude).unwrap(),
        ..Options::default()
    }
}

fn follow() -> Options {
    Options {
        follow_links: true,
        ..Options::default()
    }
}

fn depth(max: usize) -> Options {
    Options {
        max_depth: Some(max),
        ..Options::default()
    }
}

#[test]
fn a_walk_can_be_sent_to_a_thread() {
    fn check<T: Send + 'static>(_: &T) {}
    check(&walk(Vec::new(), Options::default()));
}

#[test]
fn order_is_by_component_and_the_same_every_time() {
    let tree = Tree::new(&[
        "b", "a.txt", "a/b", "a/b.c/d", "a-b", ".hidden", "a/.x/y", "B",
    ]);
    let want = [
        ".hidden", "B", "a/.x/y", "a/b", "a/b.c/d", "a-b", "a.txt", "b",
    ];
    assert_eq!(tree.walk(&["."], &Options::default()), want);
    assert_eq!(tree.walk(&["."], &Options::default()), want);
    let mut sorted: Vec<_> = want.map(RelPath::from).into();
    sorted.sort();
    assert_eq!(sorted, want.map(RelPath::from));
}

#[test]
fn roots_come_in_the_order_given() {
    let tree = Tree::new(&["a/x", "b/x", "c"]);
    assert_eq!(
        tree.walk(&["c", "b/", "./a"], &Options::default()),
        ["c", "b/x", "a/x"]
    );
}

#[test]
fn paths_lead_to_the_files_that_the_names_mean() {
    let tree = Tree::new(&["a/x", "c"]);
    for found in tree.found(&["c", "a/"], &Options::default()) {
        let content = fs::read(&found.path).unwrap();
        assert_eq!(RelPath::from_bytes(content), found.name);
    }
}

#[test]
fn a_missing_root_is_one_error_and_the_walk_goes_on() {
    let tree = Tree::new(&["a"]);
    let found = tree.found(&["gone", "a"], &Options::default());
    let error = error_of(&found[0]);
    assert_eq!(error.operation(), Operation::Stat);
    assert_eq!(error.path(), tree.at("gone"));
    assert_eq!(error.io_error().kind(), std::io::ErrorKind::NotFound);
    assert_eq!(found[0].name, RelPath::from("gone"));
    assert_eq!(shown(&found[1]), "a");
    assert_eq!(found.len(), 2);
}

#[test]
fn standard_input_is_taken_once_and_failed_inputs_keep_their_place() {
    let failed = Input::Failed {
        name: RelPath::from("list"),
        error: FileError::new(Operation::Read, "list", std::io::Error::other("broken")),
    };
    let found: Vec<_> = walk([Input::Stdin, failed, Input::Stdin], Options::default())
        .map(|found| shown(&found))
        .collect();
    assert_eq!(found, ["- (stdin)", "list (read: broken)"]);
}

#[test]
fn max_depth_counts_from_the_root() {
    let tree = Tree::new(&["a/b/c", "a/d", "e"]);
    assert!(tree.walk(&["."], &depth(0)).is_empty());
    assert_eq!(tree.walk(&["e"], &depth(0)), ["e"]);
    assert_eq!(tree.walk(&["."], &depth(1)), ["e"]);
    assert_eq!(tree.walk(&["."], &depth(2)), ["a/d", "e"]);
    assert_eq!(tree.walk(&["a"], &depth(1)), ["a/d"]);
}

#[test]
fn excluded_directories_are_pruned_and_their_siblings_kept() {
    let tree = Tree::new(&["a/x.tmp", "b/c/d", "b/e", "build/x", "sub/build/y"]);
    assert_eq!(
        tree.walk(&["."], &filtered(&[], &["*.tmp", "c/", "/build"])),
        ["b/e", "sub/build/y"]
    );
    let mut options = filtered(&[], &["c/"]);
    options.one_file_system = true;
    assert_eq!(tree.walk(&["b"], &options), ["b/e"]);
}

#[test]
fn a_directory_root_is_never_filtered_and_a_file_root_is_by_its_name() {
    let tree = Tree::new(&["d.tmp/x", "y.tmp", "z"]);
    assert_eq!(
        tree.walk(&["d.tmp", "y.tmp", "z"], &filtered(&[], &["*.tmp"])),
        ["d.tmp/x", "z"]
    );
    assert_eq!(
        tree.walk(&["z", "d.tmp"], &filtered(&["x"], &[])),
        ["d.tmp/x"]
    );
}

#[test]
fn includes_are_found_below_directories_that_do_not_match() {
    let tree = Tree::new(&["a/b/c.jpg", "a/b/d", "pics/e/f"]);
    assert_eq!(
        tree.walk(&["."], &filtered(&["*.jpg", "/pics/"], &[])),
        ["a/b/c.jpg", "pics/e/f"]
    );
}

#[test]
fn a_file_that_several_roots_reach_is_reported_once() {
    let tree = Tree::new(&["a/b/c", "a/d", "e"]);
    let walk = |roots: &[&str]| tree.walk(roots, &Options::default());
    assert_eq!(walk(&["e", "e", "./e"]), ["e"]);
    assert_eq!(walk(&["a", "a/b", "a/d", "a/"]), ["a/b/c", "a/d"]);
    assert_eq!(walk(&["a/d", "a/b", "a", "."]), ["a/d", "a/b/c", "e"]);
    assert_eq!(walk(&["a/b/c", "."]), ["a/b/c", "a/d", "e"]);
    assert_eq!(walk(&["a/../e", "e"]), ["a/../e", "e"]);
}

#[test]
fn overlapping_roots_lose_nothing_to_depth_or_filters() {
    let tree = Tree::new(&["a/b/c/d", "a/b/e", "a/f", "g"]);
    assert_eq!(tree.walk(&["a", "a/b"], &depth(1)), ["a/f", "a/b/e"]);
    assert_eq!(
        tree.walk(&["a/b", "."], &depth(2)),
        ["a/b/c/d", "a/b/e", "a/f", "g"]
    );
    assert_eq!(
        tree.walk(&["a", "a/b"], &filtered(&[], &["b/"])),
        ["a/f", "a/b/c/d", "a/b/e"]
    );
    assert_eq!(
        tree.walk(&["a/b", "a"], &filtered(&["/b/e", "f"], &[])),
        ["a/b/e", "a/f"]
    );
    assert_eq!(
        tree.walk(&["a/b", "a"], &filtered(&[], &["/e"])),
        ["a/b/c/d", "a/b/e", "a/f"]
    );
}

#[test]
fn files_of_the_run_itself_are_left_out_under_every_name() {
    let tree = Tree::new(&["a", "out", "d/e"]);
    fs::hard_link(tree.at("out"), tree.at("d/linked")).unwrap();
    let mut options = Options::default();
    options.leave_out.add_path(&tree.at("d/../out")).unwrap();
    assert_eq!(tree.walk(&["."], &options), ["a", "d/e"]);
    assert!(tree.walk(&["out"], &options).is_empty());
    assert!(LeaveOut::new().add_path(&tree.at("none")).is_err());
}

#[cfg(unix)]
mod unix {
    use super::*;
    use crate::walk::Special;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    #[expect(clippy::print_stderr, reason = "a skipped test must say so")]
    fn skipped(why: &str) {
        eprintln!("skipped: {why}");
    }

    fn fifo(path: &Path) {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    #[test]
    fn an_open_file_is_left_out() {
        let tree = Tree::new(&["a", "out"]);
        let mut options = Options::default();
        let file = fs::File::open(tree.at("out")).unwrap();
        options.leave_out.add_file(&file).unwrap();
        assert_eq!(tree.walk(&["."], &options), ["a"]);
    }

    #[test]
    fn a_link_to_a_file_of_the_run_is_left_out_too() {
        let tree = Tree::new(&["a", "out"]);
        symlink("out", tree.at("link")).unwrap();
        let mut options = follow();
        options.leave_out.add_path(&tree.at("out")).unwrap();
        assert_eq!(tree.walk(&["."], &options), ["a"]);
        assert_eq!(tree.walk(&["link"], &options), [""; 0]);
    }

    #[test]
    fn names_of_any_bytes_come_back() {
        let tree = Tree::new(&["-"]);
        let names: [&[u8]; 4] = [b"\x01\n\x7f", b"\\", b"\xc3", b"\xff\xfe"];
        for name in names {
            fs::write(tree.0.path().join(OsStr::from_bytes(name)), "").unwrap();
        }
        let found = tree.found(&["."], &Options::default());
        let got: Vec<_> = found.iter().map(|found| found.name.as_bytes()).collect();
        assert_eq!(got, [names[0], b"./-", names[1], names[2], names[3]]);
        assert!(found.iter().all(|found| found.path.is_file()));
    }

    #[test]
    fn what_cannot_be_read_in_a_tree_is_skipped_and_as_a_root_a_stream() {
        let tree = Tree::new(&["d/z"]);
        fifo(&tree.at("d/fifo"));
        let _listener = UnixListener::bind(tree.at("d/socket")).unwrap();
        symlink("z", tree.at("d/link")).unwrap();
        symlink("/dev/null", tree.at("d/null")).unwrap();
        let want = [
            "d/fifo (named pipe)",
            "d/link (symbolic link)",
            "d/null (symbolic link)",
        ];
        assert_eq!(tree.walk(&["d"], &Options::default())[..3], want);
        assert_eq!(
            tree.walk(&["d"], &follow()),
            [
                "d/fifo (named pipe)",
                "d/link",
                "d/null (device)",
                "d/socket (socket)",
                "d/z"
            ]
        );
        assert_eq!(
            tree.walk(
                &["d/fifo", "d/socket", "d/null", "d/link"],
                &Options::default()
            ),
            [
                "d/fifo (stream)",
                "d/socket (stream)",
                "d/null (stream)",
                "d/link"
            ]
        );
        let found = tree.found(&["."], &filtered(&["fifo"], &[]));
        assert!(matches!(found[0].kind, FoundKind::Special(Special::Fifo)));
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn a_link_as_a_root_is_followed_and_marked() {
        let tree = Tree::new(&["d/x", "d/y/z", "f"]);
        symlink("d", tree.at("to_d")).unwrap();
        symlink("f", tree.at("to_f")).unwrap();
        symlink("gone", tree.at("dangling")).unwrap();
        let found = tree.found(&["to_d", "to_f", "f"], &Options::default());
        let got: Vec<_> = found
            .iter()
            .map(|found| (shown(found), found.through_link))
            .collect();
        let want = [
            ("to_d/x", false),
            ("to_d/y/z", false),
            ("to_f", true),
            ("f", false),
        ];
        assert_eq!(got, want.map(|(name, link)| (name.to_owned(), link)));
        let found = tree.found(&["dangling"], &Options::default());
        assert_eq!(error_of(&found[0]).operation(), Operation::Stat);
    }

    #[test]
    fn links_are_followed_in_their_place_and_marked() {
        let tree = Tree::new(&["a", "t/c", "t/x/y", "u/v"]);
        symlink("../u", tree.at("t/b")).unwrap();
        symlink("../a", tree.at("t/d")).unwrap();
        let found = tree.found(&["t"], &follow());
        let got: Vec<_> = found
            .iter()
            .map(|found| (shown(found), found.through_link))
            .collect();
        let want = [
            ("t/b/v", false),
            ("t/c", false),
            ("t/d", true),
            ("t/x/y", false),
        ];
        assert_eq!(got, want.map(|(name, link)| (name.to_owned(), link)));

        let options = Options {
            max_depth: Some(1),
            ..follow()
        };
        assert_eq!(tree.walk(&["t"], &options), ["t/c", "t/d"]);
        let options = Options {
            follow_links: true,
            ..filtered(&[], &["b/"])
        };
        assert_eq!(tree.walk(&["t"], &options), ["t/c", "t/d", "t/x/y"]);
    }

    #[test]
    fn every_link_loop_is_named_once() {
        let tree = Tree::new(&["t/a/x", "other/y", "t/z"]);
        symlink("..", tree.at("t/a/up")).unwrap();
        symlink("../..", tree.at("t/a/above")).unwrap();
        symlink("self", tree.at("t/self")).unwrap();
        symlink("../other", tree.at("t/out")).unwrap();
        symlink("../t", tree.at("other/back")).unwrap();
        symlink(".", tree.at("other/here")).unwrap();
        let real = fs::canonicalize(tree.0.path()).unwrap();
        let leads = |name: &str, to: &str| {
            let to = real.join(to);
            let to = to.to_str().unwrap().trim_end_matches('/');
            format!("{name} (stat: link loop: leads back to {to})")
        };
        let mut found = tree.walk(&["t"], &follow());
        let selfish = found.remove(6);
        assert!(selfish.starts_with("t/self (stat: "), "{selfish}");
        assert_eq!(
            found,
            [
                leads("t/a/above", ""),
                leads("t/a/up", "t"),
                "t/a/x".into(),
                leads("t/out/back", "t"),
                leads("t/out/here", "other"),
                "t/out/y".into(),
                "t/z".into(),
            ]
        );
    }

    #[test]
    fn links_that_share_a_target_or_cross_no_ancestor_are_no_loops() {
        let tree = Tree::new(&["t/a/x", "far/near/y", "far/z"]);
        symlink("a", tree.at("t/b")).unwrap();
        symlink("../far/near", tree.at("t/c")).unwrap();
        symlink("..", tree.at("far/near/up")).unwrap();
        let real = fs::canonicalize(tree.at("far/near")).unwrap();
        let found = tree.walk(&["t"], &follow());
        assert_eq!(found[..2], ["t/a/x", "t/b/x"]);
        // far lies above far/near, but only far/near was on the way: z is reached through it.
        assert_eq!(
            found[2],
            "t/c/up/near/up (stat: link loop: leads back to ".to_owned()
                + real.parent().unwrap().to_str().unwrap()
                + ")"
        );
        assert_eq!(found[3..], ["t/c/up/near/y", "t/c/up/z", "t/c/y"]);
    }

    #[test]
    fn a_dangling_link_fails_unless_it_is_excluded() {
        let tree = Tree::new(&["a"]);
        symlink("gone", tree.at("b.tmp")).unwrap();
        let found = tree.found(&["."], &follow());
        assert_eq!(
            error_of(&found[1]).io_error().kind(),
            std::io::ErrorKind::NotFound
        );
        let options = Options {
            follow_links: true,
            ..filtered(&[], &["*.tmp"])
        };
        assert_eq!(tree.walk(&["."], &options), ["a"]);
    }

    #[test]
    fn links_between_overlapping_roots_do_not_hide_files() {
        let tree = Tree::new(&["a/x", "b/y"]);
        symlink("../b", tree.at("a/link")).unwrap();
        assert_eq!(
            tree.walk(&["a", "a/link"], &Options::default()),
            ["a/link (symbolic link)", "a/x", "a/link/y"]
        );
        assert_eq!(
            tree.walk(&["a/link", "a"], &Options::default()),
            ["a/link/y", "a/x"]
        );
        assert_eq!(tree.walk(&["a/link", "a"], &follow()), ["a/link/y", "a/x"]);
        assert_eq!(tree.walk(&["a", "a/link"], &follow()), ["a/link/y", "a/x"]);
    }

    #[test]
    fn a_directory_that_cannot_be_listed_is_one_error_in_its_place() {
        let tree = Tree::new(&["a/x", "b/x", "c"]);
        fs::set_permissions(tree.at("b"), fs::Permissions::from_mode(0o000)).unwrap();
        if fs::read_dir(tree.at("b")).is_ok() {
            skipped("permissions do not bind this user");
            return;
        }
        symlink("b", tree.at("l")).unwrap();
        for options in [Options::default(), filtered(&["*"], &[]), follow()] {
            let mut found = tree.found(&["."], &options);
            let error = error_of(&found[1]);
            assert_eq!(error.operation(), Operation::List);
            assert_eq!(error.path(), tree.at("./b"));
            assert_eq!(found[1].name, RelPath::from("b"));
            if options.follow_links {
                let through_link = found.remove(3);
                assert_eq!(error_of(&through_link).operation(), Operation::List);
                assert_eq!(through_link.name, RelPath::from("l"));
            } else if options.filter.is_empty() {
                assert_eq!(shown(&found.remove(3)), "l (symbolic link)");
            }
            assert_eq!(shown(&found[2]), "c");
        }
        assert_eq!(tree.walk(&["b"], &Options::default()).len(), 1);
        let without = tree.walk(&["."], &filtered(&[], &["b", "l"]));
        assert_eq!(without, ["a/x", "c"]);
        fs::set_permissions(tree.at("b"), fs::Permissions::from_mode(0o700)).unwrap();
    }

    #[test]
    fn a_directory_replaced_by_a_link_while_it_is_walked_is_not_read() {
        let tree = Tree::new(&["t/a", "t/b/x", "t/c", "outside/secret"]);
        let mut walk = walk([tree.root("t")], Options::default());
        assert_eq!(shown(&walk.next().unwrap()), "t/a");
        fs::rename(tree.at("t/b"), tree.at("elsewhere")).unwrap();
        symlink("../outside", tree.at("t/b")).unwrap();
        let rest: Vec<_> = walk.map(|found| shown(&found)).collect();
        assert_eq!(rest, ["t/b (list: no longer a directory)", "t/c"]);
    }

    #[test]
    fn a_directory_that_vanishes_is_one_error() {
        let tree = Tree::new(&["t/a", "t/b/x", "t/c"]);
        let mut walk = walk([tree.root("t")], Options::default());
        assert_eq!(shown(&walk.next().unwrap()), "t/a");
        fs::remove_dir_all(tree.at("t/b")).unwrap();
        let rest: Vec<_> = walk.collect();
        assert_eq!(error_of(&rest[0]).operation(), Operation::List);
        assert_eq!(rest[0].name, RelPath::from("t/b"));
        assert_eq!(shown(&rest[1]), "t/c");
        assert_eq!(rest.len(), 2);
    }

    #[test]
    fn other_file_systems_are_left_alone_on_request() {
        let device = |path: &str| fs::metadata(path).map(|metadata| metadata.dev()).ok();
        let (Some(dev), Some(shm)) = (device("/dev"), device("/dev/shm")) else {
            skipped("no /dev/shm");
            return;
        };
        if dev == shm {
            skipped("/dev/shm is no file system of its own");
            return;
        }
        let file = tempfile::NamedTempFile::new_in("/dev/shm").unwrap();
        let met = |one_file_system, exclude: &[&str], roots: &[&str]| {
            let options = Options {
                one_file_system,
                ..filtered(&[], exclude)
            };
            let inputs: Vec<_> = roots
                .iter()
                .map(|root| Input::Path(Root::as_typed(root.as_ref())))
                .collect();
            let paths: Vec<_> = walk(inputs, options).map(|found| found.path).collect();
            let count = paths
                .iter()
                .filter(|path| path.as_ref() == file.path())
                .count();
            (
                count,
                paths
                    .iter()
                    .any(|path| path.as_ref() == Path::new("/dev/zero")),
            )
        };
        assert_eq!(met(false, &[], &["/dev"]), (1, true));
        assert_eq!(met(true, &[], &["/dev"]), (0, true));
        // Excluding what was not listed must not drop the rest of its parent.
        assert_eq!(met(true, &["shm"], &["/dev"]), (0, true));
        assert_eq!(met(true, &[], &["/dev", "/dev/shm"]), (1, true));
        assert_eq!(met(false, &[], &["/dev", "/dev/shm"]), (1, true));
    }

    /// A path ends at 4096 bytes or earlier, so what lies deeper can be opened by no path.
    #[test]
    fn trees_deeper_than_any_path_are_walked_to_their_bottom() {
        let tree = Tree::new(&["t/zz", "u/"]);
        let deep = format!("{}/", "d".repeat(200)).repeat(15);
        for top in ["t", "u"] {
            fs::create_dir_all(tree.at(top).join(&deep)).unwrap();
        }
        fs::write(tree.at("u").join(&deep).join("bottom"), "deep").unwrap();
        fs::rename(tree.at("u"), tree.at("t").join(&deep).join("u")).unwrap();
        let found = tree.found(&["t"], &Options::default());
        let text = found[0].path.open(0).map(std::io::read_to_string);
        // The standard library needs an open directory for each level to remove it.
        let removed = Command::new("rm").arg("-rf").arg(tree.at("t")).status();
        assert!(removed.unwrap().success());
        assert_eq!(text.unwrap().unwrap(), "deep");
        assert!(matches!(found[0].kind, FoundKind::File));
        assert!(found[0].path.as_os_str().len() > 4096);
        assert_eq!(shown(&found[1]), "t/zz");
        assert_eq!(found.len(), 2);
    }
}
