//! `multisum verify` in portions: `--max-bytes`, `--max-time`, `--scrub-state`.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::{Duration, SystemTime};

use crate::harness::{MD5_OF_ABC, Output, Tree, holds};

/// Ten files of a hundred bytes, and their manifest.
fn listed() -> Tree {
    let tree = Tree::new();
    for number in 0..10 {
        tree.painted(format!("t/{number}"), 100 + number);
    }
    tree.cmd(["hash", "-q", "-o", "t/m.jsonl", "t"])
        .run()
        .check();
    tree
}

const SCRUB: [&str; 6] = [
    "verify",
    "-v",
    "--scrub-state",
    "state",
    "--max-bytes",
    "300",
];

/// The names that a run found to be ok.
fn verified(tree: &Tree) -> Vec<String> {
    let args = [&SCRUB[..], &["t/m.jsonl"]].concat();
    let output = tree.cmd(args).run();
    let names = names_that_are_ok(&output);
    output.stdout_any().stderr_any().check();
    names
}

fn names_that_are_ok(output: &Output) -> Vec<String> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let names = text.lines().filter_map(|line| line.strip_prefix("ok "));
    names.map(|name| name.trim().to_owned()).collect()
}

#[test]
fn runs_with_a_limit_go_through_everything_before_anything_comes_twice() {
    let tree = listed();
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.extend(verified(&tree));
    }
    let mut first: Vec<String> = seen[..10].to_vec();
    first.sort();
    first.dedup();
    assert_eq!(first.len(), 10, "{seen:?}");
    // The state is not in the tree that is looked through, and not new in it either.
    assert!(fs::read(tree.path("state")).unwrap().starts_with(b"# of "));
}

#[test]
fn what_was_not_checked_and_what_has_waited_longest_is_said() {
    let tree = listed();
    let args = [&SCRUB[..], &["t/m.jsonl"]].concat();
    tree.cmd(&args)
        .run()
        .stdout_any()
        .stderr_has("the portion is done: 7 entries were not checked")
        .check();
    tree.cmd(&args)
        .run()
        .stdout_any()
        .stderr_has("4 listed files were never found well since this state was begun")
        .check();
    tree.cmd(["verify", "--scrub-state", "state", "t/m.jsonl"])
        .run()
        .stderr_has("the file that has waited longest was last found well 0 days ago")
        .check();
}

#[test]
fn a_file_that_is_not_well_is_told_every_night_and_uses_up_no_portion() {
    let tree = listed();
    tree.flip("t/0", 3);
    tree.modified("t/0", SystemTime::now());
    let mut well = Vec::new();
    for _ in 0..4 {
        let args = [&SCRUB[..], &["t/m.jsonl"]].concat();
        let output = tree.cmd(args).run();
        well.extend(names_that_are_ok(&output));
        let report = output.stderr_any().code(1);
        report.stdout_has("changed     0  ").check();
    }
    well.sort();
    well.dedup();
    assert_eq!(well.len(), 9, "{well:?}");
}

#[test]
fn what_is_large_and_gone_or_damaged_does_not_stop_the_others_for_ever() {
    let gone: fn(&Tree) = |tree| {
        tree.remove("t/a");
    };
    let damaged: fn(&Tree) = |tree| {
        tree.flip("t/a", 3);
    };
    for (harm, told) in [(gone, "missing     a"), (damaged, "corrupt     a")] {
        let tree = Tree::new();
        tree.painted("t/a", 5000)
            .painted("t/b", 100)
            .painted("t/c", 100);
        let hash = ["hash", "-q", "-o", "t/m.jsonl", "t"];
        tree.cmd(hash).run().check();
        harm(&tree);
        let mut well = Vec::new();
        for _ in 0..3 {
            let output = tree.cmd([&SCRUB[..], &["t/m.jsonl"]].concat()).run();
            well.extend(names_that_are_ok(&output));
            output.stdout_has(told).stderr_any().code(1).check();
        }
        well.sort();
        well.dedup();
        assert_eq!(well, ["b", "c"]);
        // Mended, it is a file like the others.
        tree.painted("t/a", 5000);
        let output = tree.cmd([&SCRUB[..], &["t/m.jsonl"]].concat()).run();
        assert!(names_that_are_ok(&output).contains(&"a".to_owned()));
        output.stdout_any().stderr_any().check();
    }
}

#[test]
fn a_file_that_was_found_well_in_the_future_is_verified_at_once() {
    let tree = listed();
    let all = ["verify", "--scrub-state", "state", "t/m.jsonl"];
    tree.cmd(all).run().stderr_has("10 ok").check();
    let state = String::from_utf8(tree.read("state")).unwrap();
    let ahead = "2999-01-01T00:00:00Z  2999-01-01T00:00:00Z  9";
    let lines = state.lines().map(|line| match line.ends_with("  9") {
        true => ahead,
        false => line,
    });
    let state: Vec<&str> = lines.collect();
    assert!(state.contains(&ahead), "{state:?}");
    tree.file("state", state.join("\n"));
    assert_eq!(verified(&tree)[0], "9");
}

#[test]
fn a_folder_that_is_there_as_listed_is_well() {
    let tree = Tree::new();
    tree.dir("d").file("f", "abc");
    let list = format!("#mtree\n./d type=dir\n./f type=file md5={MD5_OF_ABC}\n");
    tree.file("L", list);
    let args = ["verify", "-f", "mtree", "--scrub-state", "state", "L"];
    let output = tree.cmd(args).run();
    assert!(!holds(&output.stderr, b"never found well"), "{output}");
    output.stderr_has("last found well 0 days ago").check();
}

#[test]
fn files_that_a_look_proves_use_up_no_portion() {
    let tree = listed();
    let args = [&SCRUB[..], &["--quick", "t/m.jsonl"]].concat();
    let output = tree.cmd(args).run().stdout_any();
    output.stderr_has("10 unread").check();
}

#[test]
fn a_state_in_the_tree_is_no_file_of_it() {
    let tree = listed();
    for _ in 0..2 {
        tree.cmd(["verify", "--scrub-state", "t/state", "t/m.jsonl"])
            .run()
            .stderr_has("10 ok")
            .check();
    }
}

#[test]
fn a_state_that_is_a_pipe_is_refused_and_not_waited_for() {
    let tree = listed();
    tree.fifo("pipe");
    tree.cmd(["verify", "--scrub-state", "pipe", "t/m.jsonl"])
        .limit(Duration::from_secs(20))
        .run()
        .stderr("multisum: pipe: not a file with the state of earlier runs\n")
        .code(2)
        .check();
}

#[test]
fn a_time_that_is_over_ends_a_run_that_has_verified_something() {
    let tree = listed();
    tree.cmd(["verify", "--max-time", "1d", "t/m.jsonl"])
        .run()
        .stderr_has("10 ok")
        .check();
    for bad in ["0", "1w", "soon"] {
        tree.cmd(["verify", "--max-time", bad, "t/m.jsonl"])
            .run()
            .stderr_has("--max-time")
            .code(2)
            .check();
    }
}

#[test]
fn a_state_that_is_something_else_is_never_overwritten() {
    let tree = listed();
    tree.file("photo.jpg", "not a state");
    tree.cmd(["verify", "--scrub-state", "photo.jpg", "t/m.jsonl"])
        .run()
        .stderr("multisum: photo.jpg: not a file with the state of earlier runs\n")
        .code(2)
        .check();
    assert_eq!(tree.read("photo.jpg"), b"not a state");
    tree.cmd(["verify", "--scrub-state", "s", "t/m.jsonl", "t/m.jsonl"])
        .run()
        .stderr_has("--scrub-state is of one manifest")
        .code(2)
        .check();
}

/// Standard input stands in the list between the files, and keeps a run from going on.
#[test]
fn a_portion_that_is_stopped_keeps_what_it_has_verified() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let tree = listed();
        let hash = "hash -q -f csv -o t/list -C t 0 1 2 3 4 - 5 6 7 8 9";
        let hash = tree.cmd(hash.split(' ')).stdin("abc");
        hash.run().check();
        tree.fifo("pipe").flip("t/0", 3);
        let args = ["verify", "--scrub-state", "state", "t/list"];
        let first = tree.cmd(args).stdin("abc").run().stdout_any();
        first.stderr_any().code(1).check();
        let before = tree.read("state");
        let script = "exec $M verify --scrub-state state t/list <>pipe";
        let started = tree.shell(script).start();
        thread::sleep(Duration::from_secs(3));
        started.signal(signal);
        started
            .wait()
            .stdout_has("corrupt     0 ")
            .stderr("multisum: interrupted; what was verified until then is in [TREE]/state\n")
            .code(code)
            .check();
        let (old, new) = (times(&before), times(&tree.read("state")));
        assert_eq!((old.len(), new.len()), (11, 11));
        let tried = new.iter().filter(|(name, times)| old[*name] != **times);
        let tried: Vec<&str> = tried.map(|(name, _)| name.as_str()).collect();
        assert_eq!(tried, ["0", "1", "2", "3", "4"]);
        assert!(new["0"].ends_with("  -"), "{new:?}");
        assert_eq!(tree.names_in("").len(), 3, "state, t and the pipe");
        // What was verified waits longest until it is verified again.
        let output = tree.cmd(args.iter().chain(&["-v"])).stdin("abc").run();
        let names = names_that_are_ok(&output);
        output.stdout_any().stderr_any().code(1).check();
        assert_eq!(names, ["-", "5", "6", "7", "8", "9", "1", "2", "3", "4"]);
    }
}

#[test]
fn a_report_that_cannot_be_written_costs_no_state() {
    let tree = listed();
    let script = "exec $M verify -v --scrub-state state t/m.jsonl >/dev/full";
    let output = tree.shell(script).run();
    output
        .stderr_has("No space left on device (os error 28); what was verified until then is in ")
        .code(2)
        .check();
    let state = times(&tree.read("state"));
    assert_eq!(state.len(), 10, "{state:?}");
}

/// The lines of a state: by each name when it was tried and when it was well.
fn times(state: &[u8]) -> BTreeMap<String, String> {
    let text = String::from_utf8(state.to_vec()).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let split = lines.map(|line| {
        let (times, name) = line.rsplit_once("  ").unwrap();
        (name.to_owned(), times.to_owned())
    });
    split.collect()
}
