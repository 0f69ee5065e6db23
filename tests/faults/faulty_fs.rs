//! A file system whose files fail, lie and hang, as their names say.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, UNIX_EPOCH};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory,
    ReplyEntry, ReplyOpen, Request,
};

use crate::common::{painted, refused};
use crate::harness::{MD5_OF_ABC, Output, Tree};
use crate::stage::Mounted;

const LEN: usize = 1_000_000;
const TOLD: u64 = LEN as u64;

/// What is wrong with a file, and its name. Without a fault it holds a painted megabyte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    None,
    FailsAtHalf,
    FailsOnce,
    Stale,
    NoDevice,
    Hangs,
    SaysTwice,
    SaysHalf,
    SaysNothing,
    /// A directory that holds one of its like, and so on.
    Endless,
    /// A directory whose listing breaks off after its first entry.
    BreaksOff,
}

const KINDS: &[(&str, Flaw)] = &[
    ("good", Flaw::None),
    ("fails-at-half", Flaw::FailsAtHalf),
    ("fails-once", Flaw::FailsOnce),
    ("stale", Flaw::Stale),
    ("no-device", Flaw::NoDevice),
    ("hangs", Flaw::Hangs),
    ("says-twice", Flaw::SaysTwice),
    ("says-half", Flaw::SaysHalf),
    ("says-nothing", Flaw::SaysNothing),
    ("endless", Flaw::Endless),
    ("breaks-off", Flaw::BreaksOff),
];

/// Beyond the numbers of [`KINDS`]: each level of the endless directory is one of its own.
const FIRST_LEVEL: u64 = 1000;

#[derive(Debug)]
struct Faulty {
    present: Vec<&'static str>,
    content: Vec<u8>,
    has_failed: AtomicBool,
    /// Never answered.
    hanging: Mutex<Vec<ReplyData>>,
}

fn flaw_of(ino: INodeNo) -> Option<Flaw> {
    match u64::from(ino) {
        FIRST_LEVEL.. => Some(Flaw::Endless),
        number => {
            let index = usize::try_from(number).ok()?.checked_sub(2)?;
            KINDS.get(index).map(|kind| kind.1)
        }
    }
}

fn number_of(name: &str) -> Option<u64> {
    let index = KINDS.iter().position(|kind| kind.0 == name)?;
    Some(index as u64 + 2)
}

fn attributes(ino: INodeNo) -> FileAttr {
    let flaw = flaw_of(ino);
    let is_folder = matches!(flaw, None | Some(Flaw::Endless | Flaw::BreaksOff));
    let size = match flaw {
        Some(Flaw::SaysTwice) => 2 * TOLD,
        Some(Flaw::SaysHalf) => TOLD / 2,
        Some(Flaw::SaysNothing) => 0,
        _ => TOLD,
    };
    let (kind, perm) = match is_folder {
        true => (FileType::Directory, 0o755),
        false => (FileType::RegularFile, 0o644),
    };
    FileAttr {
        ino,
        size,
        blocks: size.div_ceil(512),
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind,
        perm,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}

impl Filesystem for Faulty {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let name = name.to_str().unwrap_or_default();
        let found = match flaw_of(parent) {
            None => number_of(name).filter(|_| self.present.contains(&name)),
            Some(Flaw::Endless) if name == "endless" => {
                Some(u64::from(parent).max(FIRST_LEVEL) + 1)
            }
            Some(Flaw::Endless | Flaw::BreaksOff) if name == "good" => number_of(name),
            Some(_) => None,
        };
        match found {
            Some(ino) => {
                reply.entry(&Duration::ZERO, &attributes(INodeNo(ino)), Generation(0));
            }
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&Duration::ZERO, &attributes(ino));
    }

    fn open(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match flaw_of(ino) {
            Some(Flaw::Stale) => reply.error(Errno::ESTALE),
            _ => reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO),
        }
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let end = (offset + u64::from(size)).min(TOLD);
        let fails = match flaw_of(ino) {
            Some(Flaw::Hangs) => return self.hanging.lock().unwrap().push(reply),
            Some(Flaw::FailsAtHalf) if end > TOLD / 2 => Some(Errno::EIO),
            Some(Flaw::NoDevice) => Some(Errno::ENXIO),
            Some(Flaw::FailsOnce) if !self.has_failed.swap(true, Ordering::SeqCst) => {
                Some(Errno::EIO)
            }
            _ => None,
        };
        match fails {
            Some(error) => reply.error(error),
            None => {
                let at = |byte: u64| usize::try_from(byte.min(end)).unwrap();
                reply.data(&self.content[at(offset)..at(end)]);
            }
        }
    }

    fn readdir(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let flaw = flaw_of(ino);
        let names: Vec<&str> = match flaw {
            None => self.present.clone(),
            Some(Flaw::Endless) => vec!["endless", "good"],
            Some(_) => vec!["good"],
        };
        if flaw == Some(Flaw::BreaksOff) && offset > 0 {
            return reply.error(Errno::EIO);
        }
        for (index, name) in names
            .iter()
            .enumerate()
            .skip(usize::try_from(offset).unwrap())
        {
            let number = number_of(name).unwrap();
            let kind = attributes(INodeNo(number)).kind;
            if reply.add(INodeNo(number), index as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }
}

/// The faulty file system at `m` in a tree that has good files before and after it.
#[derive(Debug)]
struct Stage {
    tree: Tree,
    at: PathBuf,
    session: Option<BackgroundSession>,
}

impl Stage {
    /// With these of its files; `None`, and said, where this machine has no FUSE.
    fn new(present: &[&'static str]) -> Option<Self> {
        let tree = Tree::new();
        tree.file("a", "abc").file("z", "abc").dir("m");
        let at = tree.path("m");
        let faulty = Faulty {
            present: present.to_vec(),
            content: painted(LEN),
            has_failed: AtomicBool::new(false),
            hanging: Mutex::default(),
        };
        let mut config = Config::default();
        config.mount_options = vec![MountOption::RO, MountOption::FSName("faulty".to_owned())];
        match fuser::spawn_mount(faulty, &at, &config) {
            Ok(session) => Some(Self {
                tree,
                at,
                session: Some(session),
            }),
            Err(error) => {
                refused(&format!("FUSE: {error}"));
                None
            }
        }
    }

    fn hash(&self, more: &[&str]) -> Output {
        let args = ["hash", "-a", "md5", "a", "m", "z"];
        self.tree.cmd(args.iter().chain(more)).run()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Nobody is to wait for an answer that never comes.
        abort(&self.at);
        drop(self.session.take());
    }
}

/// Ends the connection of a file system, as when its server has died. `None`, and said, where the
/// system does not let it.
fn abort(at: &Path) -> Option<()> {
    let device = fs::symlink_metadata(at).ok()?.dev();
    let control = at.parent()?.join("../control");
    let mounted = Mounted::new("fusectl", "rw", "none", &control)?;
    // Small numbers of anonymous devices are their minor numbers.
    let aborted = fs::write(control.join(format!("{device}/abort")), "1");
    drop(mounted);
    aborted.ok()
}

const MD5_OF_PAINTED: fn() -> String = || {
    let tree = Tree::new();
    tree.painted("p", LEN);
    let list = crate::stage::clean_list(&tree, &["hash", "-a", "md5", "p"]);
    String::from_utf8(list).unwrap()[..32].to_owned()
};

#[track_caller]
fn gap(present: &[&'static str], told: &[&str], io: &str) {
    let Some(stage) = Stage::new(present) else {
        return;
    };
    let mut output = stage.hash(&["--io", io]).code(2);
    output = output.stdout_has("  a\n").stdout_has("  z\n");
    for told in told {
        output = output.stderr_has(told);
    }
    let good = present.iter().filter(|name| **name == "good").count();
    let listed = String::from_utf8_lossy(&output.stdout)
        .matches(&MD5_OF_PAINTED())
        .count();
    assert_eq!(listed, good, "{output}");
    output.check();
}

pub(crate) fn a_disk_that_fails_half_way_gives_no_digest_of_the_first_half() {
    let told = [
        "unreadable  m/fails-at-half: read at byte ",
        "Input/output error (os error 5)",
        "unreadable  m/no-device: read at byte 0: ",
        "unreadable  m/stale: open: ",
        "hashed 3 files, 1.00 MB",
        "3 unreadable",
    ];
    for io in ["read", "auto", "direct"] {
        gap(&["fails-at-half", "good", "no-device", "stale"], &told, io);
    }
}

pub(crate) fn a_map_of_a_disk_that_fails_kills_nobody() {
    // What cannot be mapped is told as such; what can be gives no digest.
    gap(
        &["fails-at-half"],
        &["unreadable  m/fails-at-half: "],
        "mmap",
    );
}

pub(crate) fn a_disk_that_fails_once_is_asked_again() {
    let Some(stage) = Stage::new(&["fails-once"]) else {
        return;
    };
    stage
        .hash(&["--io", "read"])
        .stdout_has(&format!("{}  m/fails-once\n", MD5_OF_PAINTED()))
        .stderr_has("1 failed read succeeded when tried again")
        .check();
}

pub(crate) fn a_size_that_is_a_lie_is_unstable() {
    for io in ["read", "auto"] {
        let told = ["unstable    m/says-twice: read 1000000 of 2000000 bytes"];
        gap(&["says-twice"], &told, io);
    }
}

pub(crate) fn a_file_of_no_size_with_bytes_in_it_is_read() {
    let Some(stage) = Stage::new(&["says-nothing"]) else {
        return;
    };
    let list = format!("{}  m/says-nothing\n", MD5_OF_PAINTED());
    stage.hash(&[]).stdout_has(&list).stderr_any().check();
}

pub(crate) fn a_directory_without_end_ends() {
    let Some(stage) = Stage::new(&["endless", "good"]) else {
        return;
    };
    let args = ["hash", "-a", "crc32", "a", "m", "z", "--exclude", "good"];
    let output = stage.tree.cmd(args).run();
    output
        .stdout_has("  a\n")
        .stdout_has("  z\n")
        .stderr_has("unreadable  m/endless/endless/")
        .code(2)
        .check();
}

pub(crate) fn a_listing_that_breaks_off_is_told() {
    let Some(stage) = Stage::new(&["breaks-off", "good"]) else {
        return;
    };
    stage
        .hash(&[])
        .stdout_has("# multisum gap: unreadable m/breaks-off\n")
        .stdout_has("  m/good\n")
        .stderr_has("unreadable  m/breaks-off: ")
        .code(2)
        .check();
}

pub(crate) fn a_dead_file_system_is_unreadable() {
    let Some(stage) = Stage::new(&["good"]) else {
        return;
    };
    if abort(&stage.at).is_none() {
        return refused("FUSE connections cannot be ended here");
    }
    stage
        .hash(&[])
        .stdout_has("  a\n# multisum gap: unreadable m\n")
        .stdout_has("  z\n")
        .stderr_has("unreadable  m: ")
        .stderr_has("Transport endpoint is not connected")
        .code(2)
        .check();
}

/// Ends the connection on every way out: a process that waits for an answer cannot be killed before.
struct Released<'s>(&'s Stage);

impl Drop for Released<'_> {
    fn drop(&mut self) {
        abort(&self.0.at);
    }
}

/// Waits for this in what a run has told.
#[track_caller]
fn wait_for(told: &Path, piece: &str, limit: Duration) {
    let begun = Instant::now();
    while !fs::read_to_string(told).unwrap_or_default().contains(piece) {
        let text = fs::read_to_string(told).unwrap_or_default();
        assert!(begun.elapsed() < limit, "no {piece:?} in {text}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Runs this on a file that hangs, with what is told in `../told`, and interrupts it. That is noticed
/// within two seconds; the process ends when the system lets go of its thread.
#[track_caller]
fn interrupted(stage: &Stage, args: &str, signal: &str, code: i32, told: &str) {
    let script = format!("exec $M {args} 2>../told");
    let started = stage.tree.shell(&script).start();
    let released = Released(stage);
    let path = stage.tree.path("../told");
    wait_for(&path, "\"seconds\":2", Duration::from_secs(20));
    started.signal(signal);
    wait_for(&path, told, Duration::from_secs(2));
    drop(released);
    started.wait().stdout_any().code(code).check();
}

pub(crate) fn a_file_that_hangs_can_be_left() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let Some(stage) = Stage::new(&["hangs"]) else {
            return;
        };
        let args = "hash -a md5 --progress json -o L a m z";
        let told = "interrupted; --resume goes on from there";
        interrupted(&stage, args, signal, code, told);
        assert_eq!(stage.tree.names_in(""), [".L.journal", "a", "m", "z"]);
    }
}

pub(crate) fn a_file_that_hangs_can_be_left_while_it_is_verified() {
    let Some(stage) = Stage::new(&["hangs"]) else {
        return;
    };
    stage.tree.file("../L", format!("{MD5_OF_ABC}  m/hangs\n"));
    let args = "verify --progress json -C . ../L";
    interrupted(&stage, args, "INT", 130, "multisum: interrupted");
}

pub(crate) fn a_file_that_hangs_is_named() {
    let Some(stage) = Stage::new(&["hangs"]) else {
        return;
    };
    let script = "exec $M hash --progress json a m z 2>../told";
    let started = stage.tree.shell(script).start();
    let released = Released(&stage);
    wait_for(
        &stage.tree.path("../told"),
        "m/hangs",
        Duration::from_secs(20),
    );
    started.signal("INT");
    drop(released);
    started.wait().stdout_any().code(130).check();
}
