//! Too few of everything, and too much of some things.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process;
use std::time::{Duration, SystemTime};

use crate::common::{refused, tool};
use crate::harness::{MD5_OF_ABC, MD5_OF_NOTHING, Output, Tree, holds};
use crate::stage::{Mounted, traced};

/// Two hundred files of three bytes, and their list.
fn tree() -> (Tree, String) {
    let tree = Tree::new();
    let mut list = String::new();
    for number in 100..300 {
        tree.file(format!("d/{number}"), "abc");
        writeln!(list, "{MD5_OF_ABC}  d/{number}").unwrap();
    }
    (tree, list)
}

/// All of it is there and it ends with 0, or it ends with 2.
#[track_caller]
fn whole_or_told(output: Output, list: &str) {
    let code = match output.code {
        Some(2) => 2,
        _ => 0,
    };
    if code == 0 {
        output.stdout(list).stderr_any().check();
    } else {
        assert!(!output.stderr.is_empty(), "{output}");
        output.stdout_any().stderr_any().code(2).check();
    }
}

pub(crate) fn few_descriptors_are_enough() {
    let (tree, list) = tree();
    let output = tree.shell("ulimit -n 16; $M hash -a md5 -j 8").run();
    output.stdout(&list).stderr_any().check();
    for few in [4, 5, 6, 8, 12] {
        let script = format!("ulimit -n {few}; $M hash -a md5 -j 8");
        whole_or_told(tree.shell(&script).run(), &list);
    }
}

pub(crate) fn refused_threads_are_no_reason_to_hang() {
    let (tree, list) = tree();
    for when in ["", ":when=2+", ":when=3+"] {
        let inject = format!("inject=clone3,clone:error=EAGAIN{when}");
        let args = ["hash", "-a", "md5", "-j", "8"];
        let Some(cmd) = traced(&tree, &["-e", &inject], &args) else {
            return;
        };
        whole_or_told(cmd.limit(Duration::from_secs(20)).run(), &list);
    }
}

/// A group of processes that may hold so much memory; `None`, and said, where none can be made.
struct Cgroup(PathBuf);

impl Cgroup {
    fn new(bytes: u64) -> Option<Self> {
        let places = ["/sys/fs/cgroup", "/sys/fs/cgroup/memory"];
        let name = format!("multisum-faults-{}", process::id());
        for place in places {
            let path = PathBuf::from(place).join(&name);
            if fs::create_dir(&path).is_err() {
                continue;
            }
            let group = Self(path);
            for limit in ["memory.max", "memory.limit_in_bytes"] {
                let file = group.0.join(limit);
                if file.exists() && fs::write(file, bytes.to_string()).is_ok() {
                    return Some(group);
                }
            }
        }
        refused("memory cannot be limited by control groups here");
        None
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        fs::remove_dir(&self.0).ok();
    }
}

pub(crate) fn sixty_four_mebibytes_are_enough() {
    let Some(group) = Cgroup::new(64 << 20) else {
        return;
    };
    let (tree, list) = tree();
    tree.painted("big", 200 << 20);
    let enter = format!("echo $$ >{}/cgroup.procs", group.0.to_str().unwrap());
    let script = format!("{enter} && $M hash -a md5 -j 8 d big | grep -v big");
    tree.shell(&script).run().stdout(&list).stderr_any().check();
}

pub(crate) fn too_little_address_space_is_told() {
    let Some(_) = tool("prlimit") else { return };
    let (tree, list) = tree();
    for mebibytes in [64, 96, 128, 192, 256, 512] {
        let script = format!("prlimit --as={} $M hash -a md5 -j 2", mebibytes << 20_u64);
        let output = tree.shell(&script).limit(Duration::from_secs(20)).run();
        // The loader of programs may find no room for the program itself.
        let loader = holds(&output.stderr, b"error while loading shared libraries");
        if loader && output.code == Some(127) {
            output.stderr_any().code(127).check();
            continue;
        }
        whole_or_told(output, &list);
    }
}

pub(crate) fn sizes_and_times_beyond_measure_give_no_absurd_figures() {
    let tree = Tree::new();
    let Some(_mounted) = Mounted::tmpfs("size=1m", &tree.path("t")) else {
        return;
    };
    for name in ["a", "b", "c"] {
        tree.sparse(format!("t/{name}"), i64::MAX as u64);
    }
    for args in [
        ["hash", "--progress", "json", "t"],
        ["hash", "--progress", "always", "t"],
    ] {
        let started = tree.cmd(args).start();
        std::thread::sleep(Duration::from_millis(2_500));
        started.signal("INT");
        let output = started.wait();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        for absurd in ["-1", ": -", "NaN", "inf ", "overflow"] {
            assert!(!told.contains(absurd), "{absurd:?} in {told}");
        }
        output.stderr_has("interrupted").code(130).check();
    }
}

pub(crate) fn a_tebibyte_of_nothing_begins_and_can_be_left() {
    let tree = Tree::new();
    tree.sparse("t", 1 << 40);
    let started = tree.cmd(["hash", "--progress", "json", "t"]).start();
    std::thread::sleep(Duration::from_millis(2_500));
    started.signal("INT");
    started
        .wait()
        .stderr_has("\"total_bytes\":1099511627776,")
        .stderr_has("multisum: interrupted")
        .code(130)
        .check();
}

pub(crate) fn odd_times_come_back() {
    let tree = Tree::new();
    let epoch = SystemTime::UNIX_EPOCH;
    // 1901, 1970, 2038, 2100 and 2446.
    for (name, time) in [
        ("1901", epoch - Duration::from_secs(2_147_483_648)),
        ("1970", epoch),
        ("2038", epoch + Duration::from_secs(2_147_483_648)),
        ("2100", epoch + Duration::from_secs(4_102_444_800)),
        ("2446", epoch + Duration::from_secs(15_032_385_535)),
    ] {
        tree.file(name, "").modified(name, time);
    }
    tree.cmd(["hash", "-q", "-o", "L.jsonl"]).run().check();
    for year in ["1901-", "1970-", "2038-", "2100-", "2446-"] {
        let quoted = format!("\"mtime\":\"{year}");
        assert!(holds(&tree.read("L.jsonl"), quoted.as_bytes()), "{year}");
    }
    tree.cmd(["verify", "L.jsonl"])
        .run()
        .stderr_has(": 5 ok")
        .check();
    tree.cmd(["verify", "--quick", "L.jsonl"])
        .run()
        .stderr_any()
        .check();
    let list = format!("{MD5_OF_NOTHING}  1901\n");
    tree.cmd(["verify", "-"])
        .stdin(list)
        .run()
        .stderr_any()
        .check();
}
