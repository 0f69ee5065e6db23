//! One command, and what it cost by the operating system's accounting.
//!
//! The accounts of finished children are kept by process, and the peak of memory among them never
//! comes down. So each command is started by a process of its own, which is this program again: it
//! starts the command, waits for it, writes down the accounts of its children, and ends. They cover
//! the command and all that it has waited for itself, such as the processes of `xargs`; the peak is
//! that of the largest process.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Result;

/// What tells this program that it is to measure.
const MEASURE: &str = "measure-one-command";

/// How often a running command is asked whether it has ended. Its time is taken elsewhere.
const POLL: Duration = Duration::from_millis(2);

/// A command as it is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Launch(pub(crate) Vec<String>);

impl Launch {
    /// A script for the shell.
    pub(crate) fn shell(script: String) -> Self {
        Self(vec!["sh".to_owned(), "-c".to_owned(), script])
    }

    /// The command as one would type it.
    pub(crate) fn typed(&self) -> String {
        match self.0.as_slice() {
            [shell, option, script] if shell == "sh" && option == "-c" => script.clone(),
            words => words
                .iter()
                .map(|w| quoted(w))
                .collect::<Vec<_>>()
                .join(" "),
        }
    }
}

/// A word as the shell reads it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Where commands run and how long they may take.
#[derive(Debug)]
pub(crate) struct Bench {
    /// This program.
    pub(crate) itself: PathBuf,
    /// Holds the output of the command last run.
    pub(crate) scratch: PathBuf,
    /// When a command is ended by force.
    pub(crate) limit: Duration,
}

/// What one run cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Seconds from the start of the command to its end.
    pub(crate) wall: f64,
    /// Seconds of processor time, in the program and in the kernel for it.
    pub(crate) cpu: Option<f64>,
    /// Bytes of memory that the largest process held at its peak.
    pub(crate) peak_bytes: Option<u64>,
}

impl Bench {
    /// Standard output of the command last run.
    pub(crate) fn output(&self) -> PathBuf {
        self.scratch.join("output")
    }

    /// Runs a command to its end in `folder`.
    pub(crate) fn run(&self, launch: &Launch, folder: &Path) -> Result<Cost> {
        let report = self.scratch.join("cost.json");
        let errors = self.scratch.join("errors");
        if report.exists() {
            fs::remove_file(&report)?;
        }
        let mut command = Command::new(&self.itself);
        command
            .arg(MEASURE)
            .arg(&report)
            .args(&launch.0)
            .current_dir(folder)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(File::create(self.output())?)
            .stderr(File::create(&errors)?);
        own_group(&mut command);
        let status = self.wait(command.spawn()?)?;
        if !status.success() {
            return Err(format!("{status}: {}", last_line(&errors)?).into());
        }
        read_cost(&fs::read(&report)?)
    }

    fn wait(&self, mut child: Child) -> Result<ExitStatus> {
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if start.elapsed() > self.limit {
                end_group(&mut child)?;
                child.wait()?;
                return Err(format!("not done after {} s", self.limit.as_secs()).into());
            }
            thread::sleep(POLL);
        }
    }
}

fn last_line(errors: &Path) -> io::Result<String> {
    let bytes = fs::read(errors)?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    Ok(line.unwrap_or("it says nothing").trim().to_owned())
}

fn read_cost(bytes: &[u8]) -> Result<Cost> {
    let cost: Value = serde_json::from_slice(bytes)?;
    Ok(Cost {
        wall: cost["wall"].as_f64().ok_or("no time in the accounts")?,
        cpu: cost["cpu"].as_f64(),
        peak_bytes: cost["peak_bytes"].as_u64(),
    })
}

/// Measures, if that is what this process was started for.
pub(crate) fn asked_to_measure() -> Option<Result<ExitCode>> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != MEASURE {
        return None;
    }
    Some(measure(arguments))
}

fn measure(mut arguments: impl Iterator<Item = OsString>) -> Result<ExitCode> {
    let report = arguments.next().ok_or("no file for the accounts")?;
    let program = arguments.next().ok_or("no command")?;
    let mut command = Command::new(program);
    command.args(arguments);
    let start = Instant::now();
    let status = command.status()?;
    let wall = start.elapsed().as_secs_f64();
    let (cpu, peak_bytes) = children()?.unzip();
    let cost = json!({ "wall": wall, "cpu": cpu, "peak_bytes": peak_bytes });
    fs::write(report, cost.to_string())?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Seconds of processor time and peak of memory of all children that have ended.
#[cfg(unix)]
fn children() -> Result<Option<(f64, u64)>> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;

    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    // Apple counts bytes where everybody else counts KiB.
    let unit = if cfg!(target_vendor = "apple") {
        1
    } else {
        1024
    };
    let peak = u64::try_from(usage.max_rss())? * unit;
    Ok(Some((
        Duration::from_micros(u64::try_from(micros)?).as_secs_f64(),
        peak,
    )))
}

#[cfg(not(unix))]
fn children() -> Result<Option<(f64, u64)>> {
    Ok(None)
}

/// Makes the command and all that it starts one group, so that they can be ended together.
#[cfg(unix)]
fn own_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

#[cfg(unix)]
fn end_group(child: &mut Child) -> Result<()> {
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;

    let group = Pid::from_raw(i32::try_from(child.id())?);
    Ok(killpg(group, Signal::SIGKILL)?)
}

#[cfg(not(unix))]
fn end_group(child: &mut Child) -> Result<()> {
    Ok(child.kill()?)
}
