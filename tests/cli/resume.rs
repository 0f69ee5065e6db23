//! Runs that are stopped or killed, and gone on with.

use std::ffi::OsString;
use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::common::{skipped, tool};
use crate::harness::{BINARY, Cmd, Output, Started, Tree, holds};

const FILES: usize = 20;

const BEGINNING: &str = "multisum journal 3\n";

/// Longer than the coarsest clock of a file system stands still: what was touched more lately when a
/// run began is read again.
const TICK: Duration = Duration::from_millis(2_100);

/// Files `d/0` to `d/19`, untouched for long enough, and a pipe that keeps a run from ending.
fn tree() -> Tree {
    let tree = Tree::new();
    for number in 0..FILES {
        tree.painted(format!("d/{number}"), 1000 + number);
    }
    tree.fifo("pipe");
    thread::sleep(TICK);
    tree
}

/// Waits until something stands in the journal, which is all that was done in the first second.
#[track_caller]
fn wait_for_journal(tree: &Tree) {
    wait_for(tree, ".L.journal");
}

#[track_caller]
fn wait_for(tree: &Tree, journal: &str) {
    let begun = Instant::now();
    let path = tree.path(journal);
    // One at a place of the user's choice has its first line from the start.
    let beginning = BEGINNING.len() as u64;
    while fs::metadata(&path).map_or(0, |journal| journal.len()) <= beginning {
        assert!(begun.elapsed() < Duration::from_secs(60), "no journal");
        thread::sleep(Duration::from_millis(20));
    }
}

const ARGS: [&str; 7] = ["hash", "-o", "L", "-f", "jsonl", "d", "pipe"];

/// A run that has done all but the pipe, and has said so in its journal.
fn begun(tree: &Tree, more: &[&str]) -> Started {
    let cmd = tree.cmd(ARGS.iter().chain(more));
    let started = cmd.env("SOURCE_DATE_EPOCH", "1000000000").start();
    wait_for_journal(tree);
    started
}

fn killed(tree: &Tree, more: &[&str]) {
    let started = begun(tree, more);
    started.signal("KILL");
    assert_eq!(started.wait().code, None);
}

/// The same run to its end, with something to read in the pipe.
fn whole(tree: &Tree, more: &str) -> Cmd {
    let args = ARGS.join(" ");
    tree.shell(&format!("(printf abc >pipe) & exec $M {args} {more}"))
}

fn names(names: &[&str]) -> Vec<OsString> {
    names.iter().map(OsString::from).collect()
}

/// What an uninterrupted run of that moment writes.
fn expected(tree: &Tree) -> Vec<u8> {
    let script = "(printf abc >pipe) & exec $M hash -o - -C . -f jsonl d pipe";
    let clean = tree
        .shell(script)
        .env("SOURCE_DATE_EPOCH", "1000000000")
        .run();
    let list = clean.stdout.clone();
    clean.stdout_any().stderr_any().check();
    list
}

#[test]
fn a_killed_run_goes_on_and_reads_nothing_twice() {
    let tree = tree();
    killed(&tree, &[]);
    assert_eq!(tree.names_in("").len(), 4, "journal and temporary file");
    // It says when it was begun, not when it was gone on with.
    let output = whole(&tree, "--resume").run();
    output
        .stderr_has("hashed 1 file, 3 bytes")
        .stderr_has("20 from the journal")
        .check();
    assert_eq!(tree.names_in(""), names(&["L", "d", "pipe"]));
    assert_eq!(
        String::from_utf8(tree.read("L")).unwrap(),
        String::from_utf8(expected(&tree)).unwrap()
    );
}

#[test]
fn a_file_that_changed_in_between_is_read_again() {
    let tree = tree();
    killed(&tree, &[]);
    tree.flip("d/3", 5).remove("d/4").file("d/new", "new");
    let output = whole(&tree, "--resume").run();
    output
        .stderr_has("hashed 3 files, 1.01 kB")
        .stderr_has("18 from the journal")
        .check();
    assert_eq!(tree.read("L"), expected(&tree));
}

#[test]
fn what_was_touched_when_the_run_began_is_read_again() {
    let tree = tree();
    tree.painted("d/3", 10);
    killed(&tree, &[]);
    let output = whole(&tree, "--resume").run();
    output.stderr_has("19 from the journal").check();
}

#[test]
fn a_journal_is_not_thrown_away_unasked() {
    let tree = tree();
    killed(&tree, &[]);
    let journal = tree.read(".L.journal");
    for (more, told) in [
        (
            &[][..],
            "an earlier run was stopped after 20 files; --resume goes on",
        ),
        (
            &["--resume", "-a", "md5"],
            "other algorithms: 'sha256', and now 'md5'",
        ),
        (
            &["--resume", "--exclude", "x"],
            "other --exclude: '', and now 'x'",
        ),
        (
            &["--resume", "-L"],
            "other --follow: 'false', and now 'true'",
        ),
        (
            &["--resume", "--force", "d/1"],
            r"other paths: 'd\npipe', and now 'd\npipe\nd/1'",
        ),
    ] {
        let output = tree.cmd(ARGS.iter().chain(more)).run();
        output.stderr_has(told).code(2).check();
        assert_eq!(tree.read(".L.journal"), journal, "{more:?}");
        assert!(!tree.path("L").exists());
    }
    let output = whole(&tree, "--force").run();
    output
        .stderr_has("hashed 21 files")
        .stderr_has("20 files that an earlier run had done were hashed anew")
        .check();
    assert_eq!(tree.names_in(""), names(&["L", "d", "pipe"]));
}

#[test]
fn a_damaged_journal_is_used_as_far_as_it_is_whole() {
    let tree = tree();
    killed(&tree, &[]);
    let mut journal = tree.read(".L.journal");
    let middle = journal.len() / 2;
    journal[middle] ^= 0x10;
    tree.file(".L.journal", journal);
    let output = whole(&tree, "--resume").run();
    output
        .stderr_has("from the journal")
        .stderr_has(".L.journal: damaged or cut off at byte ")
        .check();
    assert_eq!(tree.read("L"), expected(&tree));
    tree.file(".L.journal", "something of the user's")
        .remove("L");
    let output = tree.cmd(ARGS.iter().chain(&["--resume"])).run();
    output.stderr_has("it is in the way").code(2).check();
    assert_eq!(tree.read(".L.journal"), b"something of the user's");
}

#[test]
fn without_a_journal_a_run_begins() {
    let tree = Tree::new();
    tree.file("a", "abc");
    let output = tree.cmd(["hash", "--resume", "-o", "L"]).run();
    output
        .stderr_has("hashed 1 file, 3 bytes")
        .stderr_has("--resume: there was no journal")
        .check();
    let again = tree.cmd(["hash", "--resume", "-q", "-o", "L", "--force"]);
    again.run().check();
    assert_eq!(tree.names_in(""), names(&["L", "a"]));
    tree.cmd(["hash", "--resume"])
        .run()
        .stderr_has("--output")
        .code(2)
        .check();
    tree.cmd(["hash", "--resume", "-o", "-"])
        .run()
        .stderr_has("no -o is a file")
        .code(2)
        .check();
}

#[test]
fn what_a_killed_run_has_left_is_no_new_file_to_verify() {
    let tree = tree();
    let args = ["hash", "-q", "-o", "L", "d"];
    tree.cmd(args).run().check();
    killed(&tree, &["--force"]);
    let left = tree.names_in("");
    tree.cmd(["verify", "--exact", "L"])
        .run()
        .stderr_has(": 20 ok")
        .check();
    assert_eq!(tree.names_in(""), left);
}

#[test]
fn two_runs_do_not_write_one_list() {
    let tree = tree();
    let started = begun(&tree, &[]);
    for more in [&[][..], &["--resume"], &["--force"]] {
        let output = tree.cmd(ARGS.iter().chain(more)).run();
        output
            .stderr(
                "multisum: .L.journal: held by another run, which is still going on; wait for its end\n",
            )
            .code(2)
            .check();
    }
    tree.shell("printf abc >pipe").run().check();
    started.wait().stderr_has("hashed 21 files").check();
    assert_eq!(tree.read("L"), expected(&tree));
    assert_eq!(tree.names_in(""), names(&["L", "d", "pipe"]));
}

#[test]
fn a_signal_leaves_the_journal_and_says_how_to_go_on() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let tree = tree();
        tree.file("L", "old");
        let started = begun(&tree, &["--force"]);
        let asked = Instant::now();
        started.signal(signal);
        let output = started.wait();
        assert!(asked.elapsed() < Duration::from_secs(5), "{signal}");
        output
            .stderr(
                "multisum: interrupted; --resume goes on from there: 20 files are done, by \
                 [TREE]/.L.journal\n",
            )
            .code(code)
            .check();
        assert_eq!(tree.read("L"), b"old");
        let left = names(&[".L.journal", "L", "d", "pipe"]);
        assert_eq!(tree.names_in(""), left, "{signal}");
        let output = whole(&tree, "--resume --force").run();
        output.stderr_has("20 from the journal").check();
        assert_eq!(tree.read("L"), expected(&tree));
    }
}

#[test]
fn a_disk_that_takes_no_more_stops_the_run_and_spares_the_old_list() {
    let tree = Tree::new();
    for number in 0..3000 {
        tree.file(format!("d/a name that takes some room {number}"), "");
    }
    tree.file("L", "old").file(".L.journal", "");
    let args = ["hash", "-o", "L", "--force", "-a", "crc32", "d"];
    // Beside what strace says.
    let is_one_line = |output: &Output| {
        let told = String::from_utf8_lossy(&output.stderr);
        let lines = told.lines().filter(|line| !line.contains("strace: "));
        assert_eq!(lines.count(), 1, "{told}");
    };
    let expect = |output: Output| {
        is_one_line(&output);
        output
            .stderr_has("L.journal: write: No space left on device (os error 28)")
            .code(2)
            .check();
    };
    if let Some(cmd) = tree.faulty(".L.journal", "pwrite64:error=ENOSPC", &args) {
        let output = cmd.run();
        if holds(&output.stderr, b"PTRACE") {
            output.stderr_any().code(1).check();
            skipped("strace may not trace here");
        } else {
            expect(output);
            assert_eq!(tree.read("L"), b"old");
        }
    }
    let possible = Command::new("unshare").args(["-m", "true"]).output();
    if !possible.is_ok_and(|output| output.status.success()) {
        return skipped("mounting needs root");
    }
    tree.dir("small");
    // Room for the journal's first piece, and not for all of it.
    let script = "mount -t tmpfs -o size=128k none small && printf old >small/L || exit 32
                  $M hash -o small/L --force -a crc32 d; code=$?
                  cat small/L; ls -A small; exit $code";
    let output = tree.tool("unshare", ["-m", "sh", "-c", script]).unwrap();
    let output = output.env("M", BINARY).run();
    if output.code == Some(32) {
        output.stdout_any().stderr_any().code(32).check();
        return skipped("a tmpfs cannot be mounted here");
    }
    is_one_line(&output);
    output
        .stdout("old.L.journal\nL\n")
        .stderr_has(": write: No space left on device (os error 28)")
        .code(2)
        .check();
}

#[test]
fn a_long_file_goes_on_where_it_was() {
    const MIB: u64 = 1 << 20;
    let tree = Tree::new();
    // Slow, so that a second does not do.
    let size = 1536 * MIB;
    tree.sparse("big", size);
    thread::sleep(TICK);
    let args = ["hash", "-a", "sm3,blake3", "-f", "bsd", "big"];
    let run = |more: &[&str]| {
        tree.cmd(args.iter().chain(more))
            .env("MULTISUM_SAVE_EVERY", (16 * MIB).to_string())
            .limit(Duration::from_secs(300))
    };
    let started = run(&["-o", "L"]).start();
    wait_for_journal(&tree);
    started.signal("KILL");
    assert_eq!(started.wait().code, None);
    let output = run(&["-o", "L", "--resume"]).run();
    let told = String::from_utf8(output.stderr.clone()).unwrap();
    output.stderr_has("hashed 1 file, 1.").check();
    assert!(!told.contains("1.61 GB"), "{told}");
    let clean = run(&[]).run();
    assert_eq!(tree.read("L"), clean.stdout);
    clean.stdout_any().stderr_any().check();
}

fn number(name: &str, default: usize) -> usize {
    let said = std::env::var(name).ok();
    said.map_or(default, |said| said.parse().expect("a number"))
}

/// Numbers that a seed in the environment brings back.
struct Random {
    seed: usize,
    state: u64,
}

impl Random {
    fn new() -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let seed = number("MULTISUM_KILL_SEED", now.unwrap().subsec_nanos() as usize);
        let state = seed as u64 | 1;
        Self { seed, state }
    }

    fn of_seed(&self) -> String {
        format!("with MULTISUM_KILL_SEED={}", self.seed)
    }

    /// Marsaglia's xorshift, of 2003.
    fn below(&mut self, bound: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % bound
    }
}

/// 256 files of so many mebibytes in `t`, and one of half as many.
fn large_tree(mebibytes: usize, random: &mut Random) -> Tree {
    let tree = Tree::new();
    for number in 0..256 {
        let more = usize::try_from(random.below(1000)).unwrap();
        tree.painted(
            format!("t/{}/{number}", number % 7),
            (mebibytes << 20) / 256 + more,
        );
    }
    tree.painted("t/3/large", (mebibytes << 20) / 2);
    tree
}

#[test]
fn a_file_that_is_no_journal_is_never_taken_for_one() {
    let tree = Tree::new();
    tree.file("d/a", "abc");
    tree.cmd(["hash", "-q", "-o", "L", "d"]).run().check();
    let image = [&[0; 1 << 16][..], b"data"].concat();
    for foreign in [&image[..], &[0; 40], b"", b"multisum jour", b"multisum"] {
        tree.file("j", foreign);
        for more in [&[][..], &["--resume"]] {
            let args = ["verify", "--journal", "j", "L"].iter().chain(more);
            tree.cmd(args)
                .run()
                .stderr(
                    "multisum: j: it is in the way, and no journal that this version can read; \
                     move or remove it\n",
                )
                .code(2)
                .check();
            assert_eq!(tree.read("j"), foreign);
        }
    }
    tree.file(".L.journal", &image);
    for args in [
        &["update", "-a", "sha256", "L"][..],
        &["update", "-a", "sha256", "--force", "L"],
        &["hash", "--force", "-o", "L", "d"],
    ] {
        let output = tree.cmd(args).run();
        output.stderr_has("it is in the way").code(2).check();
        assert_eq!(tree.read(".L.journal"), image);
    }
}

#[cfg(unix)]
#[test]
fn what_could_not_be_opened_is_tried_again() {
    use std::os::unix::fs::MetadataExt;
    let tree = tree();
    if fs::metadata(tree.path("d")).unwrap().uid() != 0 {
        return skipped("only root can give up what it may");
    }
    tree.cmd(["hash", "-q", "-f", "csv", "-o", "V", "d", "-"])
        .stdin("abc")
        .run()
        .check();
    tree.mode("d/6", 0).mode(".", 0o777).mode("pipe", 0o666);
    thread::sleep(TICK);
    // The build folder may lie where nobody cannot come.
    let script = "cp $M ../multisum && exec setpriv --reuid=65534 --regid=65534 --clear-groups -- \
                  ../multisum verify --journal j V <>pipe";
    if tool("setpriv").is_none() {
        return;
    }
    let started = tree.shell(script).start();
    wait_for(&tree, "j");
    started.signal("TERM");
    let output = started.wait().stdout_any();
    output.stderr_has(": 19 files are done").code(143).check();
    // To this user nothing is forbidden.
    tree.cmd(["verify", "--journal", "j", "--resume", "V"])
        .stdin("abc")
        .run()
        .stderr_has(": 21 ok, 19 from the journal")
        .check();
}

#[test]
fn a_verification_that_ends_at_its_first_finding_leaves_its_journal() {
    let tree = tree();
    tree.cmd(["hash", "-q", "-f", "csv", "-o", "V", "-", "d"])
        .stdin("abc")
        .run()
        .check();
    thread::sleep(TICK);
    tree.shell("(sleep 2; printf bad) | $M verify --fail-fast --journal j V")
        .run()
        .stdout_any()
        .stderr_has("not checked")
        .code(1)
        .check();
    tree.cmd(["verify", "--journal", "j", "--resume", "V"])
        .stdin("abc")
        .run()
        .stderr_has(": 21 ok, 20 from the journal")
        .check();
    assert_eq!(tree.names_in(""), names(&["V", "d", "pipe"]));
}

#[cfg(target_os = "linux")]
#[test]
fn a_verification_that_is_killed_while_it_looks_for_unlisted_files_keeps_all() {
    let tree = tree();
    for (list, folder) in [("V", "d"), ("W", "e")] {
        tree.painted("e/0", 10);
        let hash = ["hash", "-q", "-f", "csv", "-o", list, folder];
        tree.cmd(hash).run().check();
    }
    thread::sleep(TICK);
    let args = ["verify", "--exact", "--journal", "j", "V", "W"];
    let Some(cmd) = tree.faulty("d", "getdents64:signal=KILL", &args) else {
        return;
    };
    let output = cmd.run();
    if holds(&output.stderr, b"PTRACE") {
        output.stderr_any().code(1).check();
        return skipped("strace may not trace here");
    }
    assert_eq!(output.stdout_any().stderr_any().code, None);
    let output = tree.cmd(args.iter().chain(&["--resume"])).run();
    output
        .stdout_any()
        .stderr_has(", 21 from the journal")
        .check_code(&[0, 1]);
}

/// A clone of a medium has the inodes and times of the other, and here one byte that is not the same.
#[cfg(target_os = "linux")]
#[test]
fn a_medium_that_was_mounted_anew_is_not_proved_by_what_was_read_before() {
    let tree = Tree::new();
    tree.dir("m").fifo("pipe");
    let possible = Command::new("unshare").args(["-m", "true"]).output();
    if !possible.is_ok_and(|output| output.status.success()) {
        return skipped("mounting needs root");
    }
    let script = r#"
        PATH=$PATH:/usr/sbin:/sbin
        truncate -s 8M a && mkfs.ext4 -q a && mount -o loop a m || exit 32
        yes a-pattern | head -c 100000 >m/f; yes | head -c 100000 >x
        $M hash -q -f csv -o V m x - </dev/null
        (cd m && $M hash -q -f csv -o - f - </dev/null) >W; umount m || exit 32
        cp a b; at=$(grep -abo -m1 a-pattern b | head -n1 | cut -d: -f1)
        printf X | dd of=b bs=1 seek=$at conv=notrunc status=none
        mount -o loop a m || exit 32
        [ "$(uname -r | cut -d. -f1)" -gt 6 ] || [ "$(uname -r | cut -d. -f2)" -ge 8 ] || echo does not tell >&2
        sleep 2.2
        $M verify -q --no-exact --journal j V <>pipe & nested=$!
        $M verify -q --no-exact --journal k -C m W <>pipe & below=$!
        sleep 2.5; kill -KILL $nested $below; wait $nested $below
        umount m && mount -o loop b m || exit 32
        $M verify --no-exact --journal j --resume V </dev/null
        [ $? = 1 ] || echo false good >&2
        $M verify --no-exact --journal k --resume -C m W </dev/null; code=$?
        umount m; exit $code"#;
    let output = tree.tool("unshare", ["-m", "bash", "-c", script]).unwrap();
    let output = output.env("M", BINARY).run();
    if output.code == Some(32) {
        output.stdout_any().stderr_any().code(32).check();
        return skipped("a loop device cannot be mounted here");
    }
    if holds(&output.stderr, b"does not tell") {
        output.stdout_any().stderr_any().check_code(&[0, 1]);
        return skipped("mounts are told apart since Linux 6.8");
    }
    // Where the medium lies below the base, its files are read again, and no others.
    assert!(!holds(&output.stderr, b"false good"));
    output
        .stdout_has("corrupt     m/f ")
        .stderr_has(" 1 from the journal")
        .stderr_has("k: read: '[TREE]/m' was mounted anew since the run")
        .stderr_has("remove the journal to begin anew")
        .code(2)
        .check();
}

/// As many as `MULTISUM_KILLS` says, over a tree of `MULTISUM_KILL_MIB`.
#[test]
fn kills_at_random_moments_change_nothing_in_the_end() {
    let (kills, mebibytes) = (
        number("MULTISUM_KILLS", 10),
        number("MULTISUM_KILL_MIB", 64),
    );
    let mut random = Random::new();
    let of_seed = random.of_seed();
    let tree = large_tree(mebibytes, &mut random);
    thread::sleep(TICK);
    let algorithms = "whirlpool,sm3,sha3-512,ripemd160";
    let run = |more: &[&str]| {
        let args = ["hash", "-a", algorithms, "-f", "jsonl", "-C", "t", "."];
        tree.cmd(args.iter().chain(more))
            .env("SOURCE_DATE_EPOCH", "1000000000")
            .env("MULTISUM_SAVE_EVERY", (2 << 20).to_string())
            .limit(Duration::from_secs(600))
    };
    let clean = run(&["-o", "C"]).run();
    clean.stderr_any().check();
    let expected = tree.read("C");
    tree.remove("C").file("L", "old");
    let resume = ["-o", "L", "--force", "--resume", "-j", "2"];
    let mut ended = 0;
    for _ in 0..kills {
        let started = run(&resume).start();
        thread::sleep(Duration::from_millis(random.below(2_500)));
        started.signal("KILL");
        let output = started.wait();
        if output.code.is_some() {
            output.stderr_any().check();
            ended += 1;
        }
        let list = tree.read("L");
        assert!(list == b"old" || list == expected, "after a kill {of_seed}");
        if list == expected {
            tree.file("L", "old");
        }
    }
    let output = run(&resume).run();
    assert!(ended < kills, "no run was killed {of_seed}");
    output.stderr_any().check();
    assert!(tree.read("L") == expected, "in the end {of_seed}");
    assert_eq!(tree.names_in(""), names(&["L", "t"]));
}

/// A native manifest `L` of `d` and `pipe`, older than what was done to the tree since: `d/0` has grown,
/// `d/1` is damaged, `d/2` is gone, `d/3` has moved to `d/moved`; of `d/4` to `d/9` nothing but the status
/// has changed.
fn grown_tree() -> Tree {
    let tree = tree();
    // What is to stay unread must be older than the manifest by more than a tick.
    thread::sleep(TICK);
    whole(&tree, "-q").run().check();
    thread::sleep(TICK);
    let moved = (tree.path("d/3"), tree.path("d/moved"));
    tree.painted("d/0", 2000).flip("d/1", 7).remove("d/2");
    fs::rename(moved.0, moved.1).unwrap();
    for number in 4..10 {
        tree.mode(format!("d/{number}"), 0o600);
    }
    thread::sleep(TICK);
    tree
}

const UPDATE: &str = "update L";

/// An update to its end, with something to read in the pipe.
fn updated(tree: &Tree, more: &str) -> Cmd {
    piped(tree, &format!("{UPDATE} {more}"))
}

fn piped(tree: &Tree, args: &str) -> Cmd {
    let cmd = tree.shell(&format!("(printf abc >pipe) & exec $M {args}"));
    cmd.env("SOURCE_DATE_EPOCH", "1000000005")
}

/// An update that has done all but the pipe.
fn update_begun(tree: &Tree, more: &[&str]) -> Started {
    let cmd = tree.cmd(UPDATE.split(' ').chain(more.iter().copied()));
    let started = cmd.env("SOURCE_DATE_EPOCH", "1000000003").start();
    wait_for_journal(tree);
    started
}

/// Report, manifest and exit code of an update that nobody interrupts, which begins at the moment of
/// [`update_begun`].
fn expected_update(tree: &Tree) -> (Vec<u8>, Vec<u8>) {
    let old = tree.read("L");
    let copy = tree.path("kept");
    fs::copy(tree.path("L"), &copy).unwrap();
    let cmd = tree.shell("(printf abc >pipe) & exec $M update -C . --force -o kept L");
    let output = cmd.env("SOURCE_DATE_EPOCH", "1000000003").run();
    let told = output.stdout.clone();
    output.stdout_any().stderr_any().code(1).check();
    let list = tree.read("kept");
    tree.remove("kept");
    assert_eq!(tree.read("L"), old);
    (told, list)
}

#[test]
fn a_killed_update_goes_on_and_reads_nothing_twice() {
    let tree = grown_tree();
    let old = tree.read("L");
    let (told, list) = expected_update(&tree);
    let started = update_begun(&tree, &[]);
    started.signal("KILL");
    assert_eq!(started.wait().code, None);
    assert_eq!(tree.read("L"), old);
    // 9 files were read: 0, 1, moved and 4 to 9.
    let output = updated(&tree, "--resume").run();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&told)
    );
    output
        .stdout_any()
        .stderr_has("read 1 file, 3 bytes")
        .stderr_has(" 9 from the journal")
        .stderr_has("silent damage: 1 file ")
        .code(1)
        .check();
    assert_eq!(
        String::from_utf8(tree.read("L")).unwrap(),
        String::from_utf8(list).unwrap()
    );
    assert_eq!(tree.names_in(""), names(&["L", "d", "pipe"]));
}

#[test]
fn an_update_takes_up_no_damage_that_was_done_or_found_before_it_went_on() {
    let tree = grown_tree();
    let started = update_begun(&tree, &[]);
    started.signal("KILL");
    assert_eq!(started.wait().code, None);
    // d/1 was found damaged before; d/5 is damaged now, after its digest went into the journal.
    tree.flip("d/5", 3);
    let (_, list) = expected_update(&tree);
    let output = updated(&tree, "--resume").run();
    output
        .stdout_has("corrupt     d/1 ")
        .stdout_has("corrupt     d/5 ")
        .stderr_has(" 8 from the journal")
        .code(1)
        .check();
    assert_eq!(tree.read("L"), list);
    let verified = tree.cmd(["verify", "L"]).run();
    verified
        .stdout_has("corrupt     d/1 ")
        .stdout_has("corrupt     d/5 ")
        .stderr_any()
        .code(2)
        .check();
}

#[test]
fn what_was_touched_when_an_update_began_is_read_again() {
    let tree = grown_tree();
    tree.painted("d/4", 10);
    let started = update_begun(&tree, &[]);
    started.signal("KILL");
    assert_eq!(started.wait().code, None);
    let output = updated(&tree, "--resume").run().stdout_any();
    output
        .stderr_has("read 2 files, 13 bytes")
        .stderr_has(" 8 from the journal")
        .code(1)
        .check();
}

#[test]
fn a_signal_leaves_the_journal_of_an_update() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let tree = grown_tree();
        let old = tree.read("L");
        let (_, list) = expected_update(&tree);
        let started = update_begun(&tree, &[]);
        started.signal(signal);
        started
            .wait()
            .stdout_any()
            .stderr(
                "multisum: interrupted; --resume goes on from there: 9 files are done, by \
                 [TREE]/.L.journal\n",
            )
            .code(code)
            .check();
        assert_eq!(tree.read("L"), old);
        let left = names(&[".L.journal", "L", "d", "pipe"]);
        assert_eq!(tree.names_in(""), left, "{signal}");
        let output = updated(&tree, "--resume").run().stdout_any();
        output.stderr_has(" 9 from the journal").code(1).check();
        assert_eq!(tree.read("L"), list);
    }
}

#[test]
fn the_journal_of_an_update_is_not_thrown_away_unasked() {
    let tree = grown_tree();
    let started = update_begun(&tree, &[]);
    for more in [&["update", "L"][..], &["update", "--resume", "L"]] {
        tree.cmd(more)
            .run()
            .stderr("multisum: [TREE]/.L.journal: held by another run, which is still going on; wait for its end\n")
            .code(2)
            .check();
    }
    started.signal("KILL");
    assert_eq!(started.wait().code, None);
    let (old, journal) = (tree.read("L"), tree.read(".L.journal"));
    for (args, told) in [
        (
            &["update", "L"][..],
            "an earlier run was stopped after 9 files; --resume goes on from there, --force \
             begins anew",
        ),
        (
            &["hash", "--force", "--resume", "-o", "L", "d"],
            "other command: 'update', and now 'hash'",
        ),
        (
            &["update", "--resume", "-C", "d", "L"],
            "other base: '[TREE]', and now '[TREE]/d'",
        ),
    ] {
        let output = tree.cmd(args).run();
        output.stderr_has(told).code(2).check();
        assert_eq!(tree.read(".L.journal"), journal, "{args:?}");
        assert_eq!(tree.read("L"), old);
    }
    let output = updated(&tree, "--force").run().stdout_any();
    output
        .stderr_has("read 10 files")
        .stderr_has("9 files that an earlier run had done were hashed anew")
        .code(1)
        .check();
    assert_eq!(tree.names_in(""), names(&["L", "d", "pipe"]));
}

#[test]
fn a_long_file_of_an_update_or_a_verification_goes_on_where_it_was() {
    let tree = Tree::new();
    tree.file("L", format!("SM3 (big) = {:064}\n", 0)).dir("j");
    tree.sparse("big", 1 << 30);
    thread::sleep(TICK);
    let run = |args: &[&str]| {
        tree.cmd(args)
            .env("MULTISUM_SAVE_EVERY", (16 << 20).to_string())
            .limit(Duration::from_secs(300))
    };
    for (journal, args) in [
        ("j/v", &["verify", "--journal", "j/v", "L"][..]),
        (".L.journal", &["update", "--exclude", "j", "L"]),
    ] {
        let started = run(args).start();
        wait_for(&tree, journal);
        started.signal("KILL");
        assert_eq!(started.wait().code, None, "{args:?}");
        let args: Vec<&str> = args.iter().copied().chain(["--resume"]).collect();
        let output = run(&args).run().stdout_has("changed     big ");
        let told = String::from_utf8(output.stderr.clone()).unwrap();
        assert!(!told.contains("1.07 GB"), "{told}");
        let code = i32::from(args[0] == "verify");
        output.stderr_has(" 1 file, ").code(code).check();
        assert!(!tree.path(journal).exists());
    }
}

#[test]
fn a_disk_that_takes_no_more_stops_an_update_and_spares_the_old_list() {
    let tree = Tree::new();
    for number in 0..3000 {
        tree.file(format!("d/a name that takes some room {number}"), "");
    }
    tree.file("L", "00000000  *d/not there\n")
        .file(".L.journal", "");
    let old = tree.read("L");
    for args in [
        &["update", "-a", "crc32", "L"][..],
        &[
            "verify",
            "--exact",
            "--journal",
            ".L.journal",
            "-a",
            "crc32",
            "all",
        ],
    ] {
        if args[0] == "verify" {
            let args = ["hash", "-q", "-o", "all", "-a", "crc32", "d"];
            tree.cmd(args).run().check();
            tree.file(".L.journal", BEGINNING);
        }
        let Some(cmd) = tree.faulty(".L.journal", "pwrite64:error=ENOSPC", args) else {
            return;
        };
        let output = cmd.run();
        if holds(&output.stderr, b"PTRACE") {
            output.stderr_any().code(1).check();
            return skipped("strace may not trace here");
        }
        output
            .stdout_any()
            .stderr_has("L.journal: write: No space left on device (os error 28)")
            .code(2)
            .check();
        assert_eq!(tree.read("L"), old);
    }
}

/// A list `V` of `d` and standard input, and what was done to the tree since: `d/0` has grown, `d/1` is
/// damaged, `d/2` is gone, `d/3` has moved to `d/moved`, and a socket, which nobody can open, stands for
/// `d/6`.
fn listed_tree() -> Tree {
    let tree = tree();
    let hash = ["hash", "-q", "-f", "csv", "-o", "V", "d", "-"];
    tree.cmd(hash).stdin("abc").run().check();
    let moved = (tree.path("d/3"), tree.path("d/moved"));
    tree.painted("d/0", 2000).flip("d/1", 7).remove("d/2");
    fs::rename(moved.0, moved.1).unwrap();
    tree.remove("d/6").socket("d/6");
    thread::sleep(TICK);
    tree
}

/// A verification that has done all but standard input.
fn verify_begun(tree: &Tree) -> Started {
    let script = "exec $M verify --exact --journal j V <>pipe";
    let started = tree.shell(script).start();
    wait_for(tree, "j");
    started
}

/// One to its end.
fn verified(tree: &Tree, more: &str) -> Output {
    let args = ["verify", "--exact", "V"].into_iter();
    let args = args.chain(more.split_whitespace());
    tree.cmd(args).stdin("abc").run()
}

/// The report of a verification that nobody interrupts.
fn expected_report(tree: &Tree, more: &str) -> String {
    let output = verified(tree, more);
    let told = String::from_utf8(output.stdout.clone()).unwrap();
    output.stdout_any().stderr_any().code(2).check();
    told
}

#[test]
fn a_stopped_verification_goes_on_and_tells_everything_once_more() {
    for (signal, code) in [
        ("KILL", None),
        ("INT", Some(130)),
        ("TERM", Some(143)),
        ("HUP", Some(129)),
    ] {
        let tree = listed_tree();
        let expected = expected_report(&tree, "-v");
        let started = verify_begun(&tree);
        started.signal(signal);
        let output = started.wait().stdout_any();
        match code {
            None => assert_eq!(output.stderr_any().code, None),
            Some(code) => output
                .stderr(
                    "multisum: interrupted; --resume goes on from there: 17 files are done, by \
                     j\n",
                )
                .code(code)
                .check(),
        }
        // The file that has moved is looked for when all others have been compared.
        let output = verified(&tree, "-v --journal j --resume");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
        output
            .stdout_any()
            .stderr_has("verified 18 files, 3 bytes")
            .stderr_has(
                ": 16 ok, 1 changed, 1 corrupt, 1 missing, 1 moved, 1 unreadable, 17 from the",
            )
            .code(2)
            .check();
        assert_eq!(tree.names_in(""), names(&["V", "d", "pipe"]), "{signal}");
    }
}

#[test]
fn what_has_changed_since_it_was_proved_is_never_good() {
    let tree = listed_tree();
    let started = verify_begun(&tree);
    started.signal("KILL");
    assert_eq!(started.wait().code, None);
    // Damaged with its times put back; replaced by a copy of the same size and time; mended.
    tree.flip("d/15", 3);
    let copy = fs::read(tree.path("d/16")).unwrap();
    let time = fs::metadata(tree.path("d/16")).unwrap().modified().unwrap();
    tree.remove("d/16").file("other", "").file("d/16", copy);
    tree.remove("other").modified("d/16", time).flip("d/16", 9);
    tree.flip("d/1", 7);
    let expected = expected_report(&tree, "--exclude j");
    let output = verified(&tree, "--journal j --resume");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    output
        .stdout_has("corrupt     d/15 ")
        .stdout_has("corrupt     d/16 ")
        .stderr_has("14 from the journal")
        .code(2)
        .check();
}

#[test]
fn the_journal_of_another_verification_is_refused_by_name() {
    let tree = listed_tree();
    fs::copy(tree.path("V"), tree.path("M")).unwrap();
    tree.dir("e").file("d/note", "a file of the user");
    let started = verify_begun(&tree);
    tree.cmd(["verify", "--journal", "j", "V"])
        .run()
        .stderr_has("j: held by another run")
        .code(2)
        .check();
    started.signal("KILL");
    assert_eq!(started.wait().code, None);
    let journal = tree.read("j");
    for (args, told) in [
        (
            &["V"][..],
            "j: an earlier run was stopped after 17 files; --resume goes on from there, removing \
             it begins anew",
        ),
        (
            &["--resume", "--exact", "M"],
            "other manifest: '[TREE]/V', and now '[TREE]/M'",
        ),
        (
            &["--resume", "--exact", "-C", "e", "V"],
            "other base: '', and now '[TREE]/e'",
        ),
        (&["--resume", "V"], "other --exact: '--exact', and now ''"),
        (
            &["--resume", "--exact", "--io", "direct", "V"],
            "other --io direct: 'false', and now 'true'",
        ),
        (
            &["--resume", "--exact", "--slice", "1/2", "V"],
            "other --slice: '', and now '1/2'",
        ),
    ] {
        let args = ["verify", "--journal", "j"].iter().chain(args);
        let output = tree.cmd(args).run();
        output.stderr_has(told).code(2).check();
        assert_eq!(tree.read("j"), journal);
    }
    let list = tree.read("V");
    tree.file("V", [&list[..], b"\n"].concat());
    tree.cmd(["verify", "--journal", "j", "--resume", "V"])
        .run()
        .stderr_has("other contents of the manifest: '")
        .code(2)
        .check();
    tree.cmd(["verify", "--journal", "d/note", "M"])
        .run()
        .stderr_has("d/note: it is in the way, and no journal")
        .code(2)
        .check();
    assert_eq!(tree.read("d/note"), b"a file of the user");
    for args in [
        &["verify", "--resume", "V"][..],
        &["verify", "--journal", "k", "--max-bytes", "1", "V"],
    ] {
        tree.cmd(args).run().stderr_has("--journal").code(2).check();
    }
}

#[test]
fn a_verification_without_a_journal_writes_none_and_one_that_ends_leaves_none() {
    let tree = Tree::new();
    tree.file("d/a", "abc");
    tree.cmd(["hash", "-q", "-o", "L", "d"]).run().check();
    let all = names(&["L", "d"]);
    for (more, told) in [
        (&[][..], ": 1 ok; base ."),
        (&["--journal", "d/j"], ": 1 ok; base ."),
        (&["--exact", "--journal", "d/j"], ": 1 ok; base ."),
        (
            &["--journal", "d/j", "--resume"],
            "--resume: there was no journal",
        ),
    ] {
        let args = ["verify", "L"].iter().chain(more);
        tree.cmd(args).run().stderr_has(told).check();
        assert_eq!(
            (tree.names_in(""), tree.names_in("d").len()),
            (all.clone(), 1)
        );
    }
    let script = "cat L | $M verify -q --journal j --resume -";
    tree.shell(script).run().check();
    assert_eq!(tree.names_in(""), all);
}

#[test]
fn a_damaged_journal_of_a_verification_is_used_as_far_as_it_is_whole() {
    let tree = listed_tree();
    let started = verify_begun(&tree);
    started.signal("KILL");
    assert_eq!(started.wait().code, None);
    let expected = expected_report(&tree, "--exclude j");
    let mut journal = tree.read("j");
    let middle = journal.len() / 2;
    journal[middle] ^= 0x10;
    tree.file("j", journal);
    let output = verified(&tree, "--journal j --resume");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    output
        .stdout_any()
        .stderr_has("j: damaged or cut off at byte ")
        .stderr_has("from the journal")
        .code(2)
        .check();
}

/// As many as `MULTISUM_KILLS` says, over a tree of `MULTISUM_KILL_MIB`.
#[test]
fn updates_and_verifications_killed_at_random_moments_end_as_if_nothing_had_been() {
    let (kills, mebibytes) = (number("MULTISUM_KILLS", 6), number("MULTISUM_KILL_MIB", 24));
    let mut random = Random::new();
    let of_seed = random.of_seed();
    let tree = large_tree(mebibytes, &mut random);
    thread::sleep(TICK);
    let run = |args: &[&str]| {
        tree.cmd(args)
            .env("SOURCE_DATE_EPOCH", "1000000000")
            .env("MULTISUM_SAVE_EVERY", (1 << 20).to_string())
            .limit(Duration::from_secs(600))
    };
    let algorithms = "whirlpool,sm3,sha3-512,ripemd160";
    let hash = [
        "hash",
        "-q",
        "-a",
        algorithms,
        "-o",
        "old.jsonl",
        "-C",
        "t",
        ".",
    ];
    run(&hash).run().check();
    thread::sleep(TICK);
    for number in (0..256).step_by(2) {
        tree.modified(
            format!("t/{}/{number}", number % 7),
            SystemTime::now() - TICK,
        );
    }
    tree.flip("t/1/1", 5)
        .remove("t/2/2")
        .painted("t/3/large", mebibytes << 19);
    tree.painted("t/5/5", 77);
    thread::sleep(TICK);
    let update = ["update", "--force", "-o", "new.jsonl", "old.jsonl"];
    let verify = ["verify", "-v", "old.jsonl"];
    let expect = |args: &[&str]| {
        let start = Instant::now();
        let output = run(args).run();
        let told = output.stdout.clone();
        output.stdout_any().stderr_any().code(1).check();
        (told, start.elapsed())
    };
    let (told_by_update, told_by_verify) = (expect(&update), expect(&verify));
    let list = tree.read("new.jsonl");
    for (args, (told, whole)) in [
        (&[&update[..], &["--resume"]].concat(), told_by_update),
        (
            &[&verify[..], &["--journal", "j", "--resume"]].concat(),
            told_by_verify,
        ),
    ] {
        tree.file("new.jsonl", "old");
        let mut killed = 0;
        for _ in 0..kills {
            let started = run(args).start();
            let longest = u64::try_from(whole.as_micros()).unwrap();
            thread::sleep(Duration::from_micros(random.below(longest)));
            started.signal("KILL");
            let output = started.wait();
            if output.code.is_some() {
                assert_eq!(output.stdout, told, "{of_seed}");
                output.stdout_any().stderr_any().code(1).check();
            } else {
                killed += 1;
            }
            let now = tree.read("new.jsonl");
            assert!(now == b"old" || now == list, "after a kill {of_seed}");
        }
        assert!(killed > 0, "no run was killed {of_seed}");
        let output = run(args).run();
        assert!(output.stdout == told, "in the end {of_seed}");
        output.stdout_any().stderr_any().code(1).check();
        if args[0] == "update" {
            assert!(tree.read("new.jsonl") == list, "in the end {of_seed}");
        }
    }
    let left = names(&["new.jsonl", "old.jsonl", "t"]);
    assert_eq!(tree.names_in(""), left);
}
