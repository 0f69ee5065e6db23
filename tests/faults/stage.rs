//! Where faults are made: strace, mounts, images of disks, and runs in a world of their own.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use crate::common::{refused, tool};
use crate::harness::{BINARY, Cmd, Output, Tree};

const OWN_MOUNTS: &str = "MULTISUM_FAULTS_OWN_MOUNTS";

/// Goes on in a mount namespace of its own where the system lets it: what a killed run has left
/// mounted vanishes with it.
pub(crate) fn enter_own_mounts() {
    let can = || {
        let status = Command::new("unshare").args(["-m", "true"]).output();
        status.is_ok_and(|output| output.status.success())
    };
    if env::var_os(OWN_MOUNTS).is_some() || !can() {
        return;
    }
    let mut command = Command::new("unshare");
    command.arg("-m").arg(env::current_exe().unwrap());
    command.args(env::args_os().skip(1)).env(OWN_MOUNTS, "yes");
    let error = command.exec();
    panic!("unshare: {error}");
}

fn run(program: &str, args: &[&str]) -> Result<(), String> {
    let output = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(format!("{program} {args:?}: {told}"))
}

/// A file system that is mounted for as long as this lives.
#[derive(Debug)]
pub(crate) struct Mounted {
    at: PathBuf,
}

impl Mounted {
    /// `None`, and said, where the system does not let it. Never outside a mount namespace of its own.
    pub(crate) fn new(kind: &str, options: &str, source: &str, at: &Path) -> Option<Self> {
        if env::var_os(OWN_MOUNTS).is_none() {
            refused("mounting is not allowed here");
            return None;
        }
        fs::create_dir_all(at).unwrap();
        let args = ["-t", kind, "-o", options, source, at.to_str().unwrap()];
        match run("mount", &args) {
            Ok(()) => Some(Self { at: at.to_owned() }),
            Err(told) => {
                refused(&told);
                None
            }
        }
    }

    pub(crate) fn tmpfs(options: &str, at: &Path) -> Option<Self> {
        Self::new("tmpfs", options, "none", at)
    }

    pub(crate) fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        run("mount", &["-o", &options, self.at.to_str().unwrap()]).unwrap();
    }

    pub(crate) fn unmount(self) {
        run("umount", &[self.at.to_str().unwrap()]).unwrap();
        std::mem::forget(self);
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Whatever still holds it lets go of it later.
        run("umount", &["-l", self.at.to_str().unwrap()]).ok();
    }
}

/// A file with a file system in it.
#[derive(Debug)]
pub(crate) struct Image {
    pub(crate) file: PathBuf,
    kind: &'static str,
    at: PathBuf,
}

impl Image {
    /// Beside the tree, to be mounted at `at` in it. `None`, and said, without the tool that makes it.
    #[track_caller]
    pub(crate) fn new(tree: &Tree, kind: &'static str, options: &[&str], at: &str) -> Option<Self> {
        let name = format!("mkfs.{kind}");
        let mkfs = tool(&name).or_else(|| in_sbin(&name))?;
        let file = tree.path(format!("../{kind}.img"));
        File::create(&file).unwrap().set_len(320 << 20).unwrap();
        let made = mkfs.command().arg("-q").args(options).arg(&file).output();
        let made = made.unwrap();
        assert!(made.status.success(), "{made:?}");
        Some(Self {
            file,
            kind,
            at: tree.path(at),
        })
    }

    pub(crate) fn mount(&self) -> Option<Mounted> {
        let file = self.file.to_str().unwrap();
        Mounted::new(self.kind, "loop", file, &self.at)
    }

    /// From now on nothing reaches the disk, as when the power fails; `xfs_io` knows the request, and
    /// ext4 has taken it over.
    #[track_caller]
    pub(crate) fn cut_power(&self) -> Option<()> {
        let xfs_io = tool("xfs_io").or_else(|| in_sbin("xfs_io"))?;
        let mut command = xfs_io.command();
        let done = command
            .args(["-x", "-c", "shutdown"])
            .arg(&self.at)
            .output();
        assert!(done.unwrap().status.success());
        Some(())
    }
}

/// Tools of administrators stand where users do not always look.
fn in_sbin(name: &str) -> Option<crate::common::Tool> {
    let path = ["/usr/sbin", "/sbin"].map(|folder| Path::new(folder).join(name));
    path.into_iter().find(|path| path.is_file()).map(Into::into)
}

static MAY_TRACE: LazyLock<bool> = LazyLock::new(|| {
    let args = ["-qq", "-o", "/dev/null", "true"];
    let traced = Command::new("strace").args(args).output();
    traced.is_ok_and(|output| output.status.success())
});

/// The built binary under strace with these options; `None`, and said, where there is no strace or it
/// may not trace.
#[track_caller]
pub(crate) fn traced(tree: &Tree, options: &[&str], args: &[&str]) -> Option<Cmd> {
    tool("strace")?;
    if !*MAY_TRACE {
        refused("strace may not trace here");
        return None;
    }
    let mut all: Vec<OsString> = ["-f", "-qq"].map(OsString::from).into();
    if !options.contains(&"-o") {
        all.extend(["-o", "/dev/null"].map(OsString::from));
    }
    all.extend(options.iter().map(OsString::from));
    all.push(BINARY.into());
    all.extend(args.iter().map(OsString::from));
    tree.tool("strace", all)
}

/// As [`traced`], with this fault injected into the calls on `path` only.
#[track_caller]
pub(crate) fn faulty(tree: &Tree, path: &str, fault: &str, args: &[&str]) -> Option<Cmd> {
    let (whole, dotted) = (tree.path(path), format!("./{path}"));
    let inject = format!("inject={fault}");
    let mut options = vec!["-P", path, "-P", &dotted, "-P", whole.to_str()?];
    let last = Path::new(path).file_name()?.to_str()?;
    if last != path {
        options.extend(["-P", last]);
    }
    options.extend(["-e", &inject]);
    traced(tree, &options, args)
}

/// Everything in a folder but what is mounted there: kinds, modes, sizes, times and contents.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snapshot(Vec<(PathBuf, String)>);

impl Snapshot {
    pub(crate) fn of(tree: &Tree) -> Self {
        use std::os::unix::fs::MetadataExt;
        let paths = tree.list().into_iter();
        let state = |path: PathBuf| {
            let seen = fs::symlink_metadata(tree.path(&path)).unwrap();
            let content = match seen.is_file() && seen.len() < 1 << 24 {
                true => fs::read(tree.path(&path)).unwrap_or_default(),
                false => Vec::new(),
            };
            let (mode, size, time) = (seen.mode(), seen.len(), seen.mtime_nsec());
            let state = format!("{mode:o} {size} {}.{time} {content:?}", seen.mtime());
            (path, state)
        };
        Self(paths.map(state).collect())
    }
}

/// The list of what a run over an unharmed tree writes to standard output.
#[track_caller]
pub(crate) fn clean_list(tree: &Tree, args: &[&str]) -> Vec<u8> {
    let clean: Output = tree.cmd(args).run();
    let list = clean.stdout.clone();
    clean.stdout_any().stderr_any().check();
    list
}
