//! Power that fails while a manifest is being written: what had been promised is on the disk.

use std::thread;
use std::time::{Duration, SystemTime};

use crate::harness::{Cmd, Tree, holds};
use crate::stage::Image;

/// Slow, so that there is something to interrupt.
const ALGORITHMS: &str = "whirlpool,sm3,ripemd160";
const EPOCH: (&str, &str) = ("SOURCE_DATE_EPOCH", "1000000000");

fn random() -> impl FnMut(u64) -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let mut state = u64::from(now.unwrap().subsec_nanos()) | 1;
    eprintln!("power cuts from the seed {state}");
    move |below| {
        // Marsaglia's xorshift, of 2003.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    }
}

fn tree() -> Tree {
    let tree = Tree::new();
    for number in 0..64 {
        tree.painted(format!("t/{number}"), 300_000 + number);
    }
    tree.painted("t/large", 16 << 20);
    tree
}

/// A command that writes `m/L`, what stands there before, and what stands there after.
struct Job<'t> {
    tree: &'t Tree,
    args: &'static [&'static str],
    /// What the command is called by after the cut.
    again: &'static [&'static str],
    old: Vec<u8>,
    new: Vec<u8>,
}

impl Job<'_> {
    fn cmd(&self, args: &[&str]) -> Cmd {
        let cmd = self.tree.cmd(args).env(EPOCH.0, EPOCH.1);
        cmd.env("MULTISUM_SAVE_EVERY", (2 << 20).to_string())
    }

    /// Whether the cut came before the end, and whether the run after it had less to do.
    #[track_caller]
    fn cut(&self, image: &Image, after: Duration) -> Option<(bool, bool)> {
        let mounted = image.mount()?;
        self.tree.file("m/L", &self.old);
        std::fs::remove_file(self.tree.path("m/.L.journal")).ok();
        rustix::fs::sync();
        let started = self.cmd(self.args).start();
        thread::sleep(after);
        image.cut_power()?;
        started.signal_if_running("KILL");
        let output = started.wait();
        let was_cut = output.code != Some(0) && output.code != Some(1);
        let code = output.code;
        assert!(!holds(&output.stderr, b"panicked"), "{output}");
        assert!(matches!(code, None | Some(0..=2)), "{output}");
        drop(output.stdout_any().stderr_any());
        mounted.unmount();
        let _mounted = image.mount()?;
        let list = self.tree.read("m/L");
        let (is_old, is_new) = (list == self.old, list == self.new);
        assert!(
            is_old || is_new,
            "neither the old nor the new list after {after:?}"
        );
        let output = self.cmd(self.again).run();
        let went_on = holds(&output.stderr, b"from the journal");
        let code = output.code.filter(|code| [0, 1].contains(code));
        output
            .stdout_any()
            .stderr_any()
            .code(code.unwrap_or(0))
            .check();
        assert!(
            self.tree.read("m/L") == self.new,
            "another list after {after:?}"
        );
        Some((was_cut, went_on))
    }
}

#[track_caller]
fn cuts(job: &Job<'_>, kind: &'static str, count: u32) {
    let Some(image) = Image::new(job.tree, kind, &[], "m") else {
        return;
    };
    let mut next = random();
    // First how long it takes.
    let Some(mounted) = image.mount() else { return };
    job.tree.file("m/L", &job.old);
    let begun = std::time::Instant::now();
    job.cmd(job.args)
        .run()
        .stdout_any()
        .stderr_any()
        .check_code(&[0, 1]);
    let whole = u64::try_from(begun.elapsed().as_millis()).unwrap();
    mounted.unmount();
    let (mut cut, mut gone_on) = (0, 0);
    for _ in 0..count {
        let after = Duration::from_millis(next(whole + whole / 8));
        let Some((was_cut, went_on)) = job.cut(&image, after) else {
            return;
        };
        cut += u32::from(was_cut);
        gone_on += u32::from(went_on);
    }
    eprintln!(
        "{kind} {}: {count} cuts, {cut} before the end, {gone_on} gone on from",
        job.args[0]
    );
}

fn during_hash(kind: &'static str, count: u32) {
    let tree = tree();
    let made = [
        "hash", "-q", "-a", ALGORITHMS, "-f", "jsonl", "-C", "t", "-o", "new", ".",
    ];
    tree.dir("m");
    // The manifest names its base from where it lies.
    let at = |place: &'static str| {
        let cmd = tree.cmd(
            made.iter()
                .map(|arg| if *arg == "new" { place } else { arg }),
        );
        cmd.env(EPOCH.0, EPOCH.1).run().check();
        tree.read(place)
    };
    let job = Job {
        tree: &tree,
        args: &[
            "hash", "-q", "--force", "-a", ALGORITHMS, "-f", "jsonl", "-C", "t", "-o", "m/L", ".",
        ],
        again: &[
            "hash", "--force", "--resume", "-a", ALGORITHMS, "-f", "jsonl", "-C", "t", "-o", "m/L",
            ".",
        ],
        old: b"old".to_vec(),
        new: at("m/L"),
    };
    cuts(&job, kind, count);
}

fn during_update(kind: &'static str, count: u32) {
    let tree = tree();
    tree.dir("m");
    let hash = [
        "hash", "-q", "-a", ALGORITHMS, "-f", "jsonl", "-C", "t", "-o", "m/L", ".",
    ];
    tree.cmd(hash).env(EPOCH.0, EPOCH.1).run().check();
    let old = tree.read("m/L");
    for number in 0..32 {
        tree.painted(format!("t/{number}"), 300_001 + number);
        tree.painted(format!("t/new {number}"), 300_000);
    }
    let args = &["update", "-q", "m/L"];
    let updated = tree.cmd(args).env(EPOCH.0, EPOCH.1).run();
    updated.stdout_any().stderr_any().check_code(&[0, 1]);
    let job = Job {
        tree: &tree,
        args,
        again: args,
        old,
        new: tree.read("m/L"),
    };
    assert_ne!(job.old, job.new);
    cuts(&job, kind, count);
}

/// A run that is at work on a pipe when the power fails, after it has been for a while: what it did
/// first is not done again.
fn little_is_lost(kind: &'static str) {
    let tree = Tree::new();
    for number in 0..20 {
        tree.file(format!("t/{number}"), "abc");
    }
    tree.fifo("pipe");
    let Some(image) = Image::new(&tree, kind, &[], "m") else {
        return;
    };
    let Some(mounted) = image.mount() else { return };
    // What was touched right before a run is read again in any case.
    thread::sleep(Duration::from_millis(2_100));
    let args = "hash -a md5 -f bsd -o m/L t pipe";
    let started = tree.shell(&format!("exec $M {args}")).start();
    thread::sleep(Duration::from_secs(8));
    if image.cut_power().is_none() {
        return;
    }
    started.signal_if_running("KILL");
    let output = started.wait();
    assert!(matches!(output.code, None | Some(2)), "{output}");
    drop(output.stdout_any().stderr_any());
    mounted.unmount();
    let Some(_mounted) = image.mount() else {
        return;
    };
    let again = format!("(printf abc >pipe) & exec $M {args} --resume");
    tree.shell(&again)
        .run()
        .stderr_has("hashed 1 file, 3 bytes")
        .stderr_has("20 from the journal")
        .check();
}

pub(crate) fn little_work_is_lost_on_ext4() {
    little_is_lost("ext4");
}

pub(crate) fn little_work_is_lost_on_xfs() {
    little_is_lost("xfs");
}

const FEW: u32 = 2;
const MANY: u32 = 20;

pub(crate) fn cuts_during_hash_on_ext4() {
    during_hash("ext4", FEW);
}

pub(crate) fn cuts_during_hash_on_xfs() {
    during_hash("xfs", FEW);
}

pub(crate) fn cuts_during_update_on_ext4() {
    during_update("ext4", FEW);
}

pub(crate) fn cuts_during_update_on_xfs() {
    during_update("xfs", FEW);
}

pub(crate) fn twenty_cuts_each() {
    for kind in ["ext4", "xfs"] {
        during_hash(kind, MANY);
        during_update(kind, MANY);
    }
}
