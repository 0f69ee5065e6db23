//! The scripts in `examples/cluster/`, by the schedulers that they are for.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use common::{painted, skipped, tool};

const LIMIT: Duration = Duration::from_secs(90);
const EPOCH: &str = "1700000000";

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples/cluster")
        .join(name)
}

/// The folder of the built program goes first in PATH.
fn path_with_binary() -> std::ffi::OsString {
    let bin = Path::new(env!("CARGO_BIN_EXE_multisum")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(bin.to_owned()).chain(std::env::split_paths(&path));
    std::env::join_paths(all).unwrap()
}

fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command
        .env("PATH", path_with_binary())
        .env("SOURCE_DATE_EPOCH", EPOCH);
    command
}

fn well(output: Output) -> Output {
    let shown = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{shown}", output.status);
    output
}

/// A tree in `folder`, and what one run writes of it.
fn tree(folder: &Path) -> (PathBuf, Vec<u8>) {
    let tree = folder.join("tree");
    for number in 0..200 {
        let path = tree.join(format!("{}/{number}", number % 7));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, painted(number * 37)).unwrap();
    }
    let whole = folder.join("whole.jsonl");
    let hash = ["hash", "-q", "-C"].map(std::ffi::OsString::from);
    let mut run = command(env!("CARGO_BIN_EXE_multisum"));
    run.args(hash).arg(&tree).arg("-o").arg(&whole).arg(".");
    well(run.output().unwrap());
    let expected = fs::read(&whole).unwrap();
    fs::remove_file(whole).unwrap();
    (tree, expected)
}

/// moreutils has a program of the same name that does something else.
#[track_caller]
fn has_gnu_parallel() -> bool {
    let Some(parallel) = tool("parallel") else {
        return false;
    };
    let version = parallel.output(&["--version"], b"").unwrap_or_default();
    let is_gnu = version.starts_with(b"GNU parallel");
    if !is_gnu {
        skipped("GNU parallel not installed");
    }
    is_gnu
}

#[test]
fn gnu_parallel_makes_the_manifest_of_one_run() {
    if !has_gnu_parallel() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let (tree, expected) = tree(&folder);
    let manifest = folder.join("tree.jsonl");
    let mut run = command(script("parallel.sh"));
    run.arg(&tree).arg(&manifest).args(["5", "-j", "2"]);
    well(run.env("HOME", &folder).output().unwrap());
    assert_eq!(fs::read(&manifest).unwrap(), expected);
    assert!(!folder.join("tree.jsonl.parts").exists());
}

#[test]
fn gnu_parallel_writes_no_manifest_if_a_slice_fails() {
    if !has_gnu_parallel() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let manifest = folder.path().join("tree.jsonl");
    let gone = folder.path().join("gone");
    let mut run = command(script("parallel.sh"));
    run.arg(gone).arg(&manifest).args(["3", "-j", "2"]);
    let output = run.env("HOME", folder.path()).output().unwrap();
    assert!(!output.status.success());
    assert!(!manifest.exists());
}

/// Programs that run until the test ends, the last one stopped first.
struct Services(Vec<Child>);

impl Services {
    fn start(&mut self, command: &mut Command) {
        use std::process::Stdio;
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.stderr(Stdio::null()).spawn();
        self.0.push(child.expect("the service starts"));
    }
}

impl Drop for Services {
    fn drop(&mut self) {
        for service in self.0.iter_mut().rev() {
            // One that has ended already needs no end.
            service.kill().ok();
            service.wait().ok();
        }
    }
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < LIMIT, "{what} takes too long");
        thread::sleep(Duration::from_millis(200));
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

fn slurm_conf(folder: &Path, host: &str) -> String {
    let folder = folder.to_str().expect("a plain name");
    format!(
        "ClusterName=test\n\
         SlurmctldHost={host}(127.0.0.1)\n\
         SlurmUser=root\n\
         SlurmdUser=root\n\
         AuthType=auth/munge\n\
         AuthInfo=socket={folder}/munge.socket\n\
         StateSaveLocation={folder}/state\n\
         SlurmdSpoolDir={folder}/spool\n\
         SlurmctldPidFile={folder}/ctld.pid\n\
         SlurmdPidFile={folder}/d.pid\n\
         SlurmctldLogFile={folder}/ctld.log\n\
         SlurmdLogFile={folder}/d.log\n\
         ProctrackType=proctrack/linuxproc\n\
         TaskPlugin=task/none\n\
         SchedulerType=sched/builtin\n\
         SelectType=select/cons_tres\n\
         SelectTypeParameters=CR_Core\n\
         SwitchType=switch/none\n\
         MpiDefault=none\n\
         ReturnToService=2\n\
         NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN\n\
         PartitionName=p Nodes={host} Default=YES MaxTime=INFINITE State=UP\n"
    )
}

/// A cluster of one node on loopback, with all of its state in `folder`.
fn start_slurm(folder: &Path) -> Services {
    let host = well(Command::new("hostname").arg("-s").output().unwrap()).stdout;
    let host = String::from_utf8(host).unwrap();
    let conf = folder.join("slurm.conf");
    fs::write(&conf, slurm_conf(folder, host.trim())).unwrap();
    for name in ["state", "spool", "munge"] {
        fs::create_dir(folder.join(name)).unwrap();
    }
    let key = folder.join("munge/key");
    fs::write(&key, painted(1024)).unwrap();
    let mut private = fs::metadata(&key).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut private, 0o400);
    fs::set_permissions(&key, private).unwrap();
    let mut services = Services(Vec::new());
    let mut munged = Command::new("munged");
    munged.args(["--foreground", "--force"]);
    for (option, file) in [
        ("key-file", "munge/key"),
        ("socket", "munge.socket"),
        ("pid-file", "munge/pid"),
        ("log-file", "munge/log"),
        ("seed-file", "munge/seed"),
    ] {
        let mut argument = std::ffi::OsString::from(format!("--{option}="));
        argument.push(folder.join(file));
        munged.arg(argument);
    }
    services.start(&mut munged);
    let socket = folder.join("munge.socket");
    wait_until("munge", || socket.exists());
    services.start(Command::new("slurmctld").arg("-D").arg("-f").arg(&conf));
    services.start(Command::new("slurmd").arg("-D").arg("-f").arg(&conf));
    wait_until("slurm", || {
        let state = Command::new("sinfo")
            .args(["-h", "-o", "%T"])
            .env("SLURM_CONF", &conf)
            .output();
        state.is_ok_and(|state| state.stdout.starts_with(b"idle"))
    });
    services
}

#[test]
fn a_slurm_array_makes_the_manifest_of_one_run() {
    for program in ["sbatch", "slurmctld", "slurmd", "munged"] {
        if tool(program).is_none() {
            return;
        }
    }
    if !is_root() {
        return skipped("Slurm needs root");
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let (tree, expected) = tree(&folder);
    let _services = start_slurm(&folder);
    let (parts, manifest) = (folder.join("parts"), folder.join("tree.jsonl"));
    fs::create_dir(&parts).unwrap();
    let sbatch = || {
        let mut sbatch = command("sbatch");
        sbatch.current_dir(&folder);
        sbatch.env("SLURM_CONF", folder.join("slurm.conf"));
        sbatch.args(["--parsable", "--mem=1"]);
        sbatch
    };
    let mut array = sbatch();
    array.arg("--array=1-4").arg(script("slurm-array.sh"));
    let array = well(array.arg(&tree).arg(&parts).output().unwrap()).stdout;
    let array = String::from_utf8(array).unwrap();
    let merge = "multisum merge parts/*.jsonl -o tree.jsonl";
    let mut joined = sbatch();
    joined.arg(format!("--dependency=afterok:{}", array.trim()));
    well(joined.args(["--wrap", merge]).output().unwrap());
    wait_until("the array", || manifest.exists());
    assert_eq!(fs::read(&manifest).unwrap(), expected);
}
