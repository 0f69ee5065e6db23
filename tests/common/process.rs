//! Child processes with bytes in, bytes out and a time limit.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A child at work. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    deadline: Instant,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
}

/// What a child that ended by itself has left.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Running {
    /// Starts `command` in a process group of its own. `stdin` is written by a thread, so a child
    /// that does not read it hangs nothing.
    pub(crate) fn start(command: &mut Command, stdin: Vec<u8>, limit: Duration) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let mut to_child = child.stdin.take().expect("piped");
        // A child may go away without reading; whether that is right, its status tells.
        thread::spawn(move || to_child.write_all(&stdin).ok());
        let stdout = Some(collect(child.stdout.take().expect("piped")));
        let stderr = Some(collect(child.stderr.take().expect("piped")));
        Self {
            child,
            deadline: Instant::now() + limit,
            stdout,
            stderr,
        }
    }

    /// Sends a signal by name, such as `INT`.
    pub(crate) fn signal(&self, name: &str) {
        assert!(self.kill("", name), "SIG{name} could not be sent");
    }

    /// As [`Running::signal`], for a child that may have ended already.
    pub(crate) fn signal_if_running(&self, name: &str) {
        self.kill("", name);
    }

    /// The most memory that the child has held so far, where the system tells.
    pub(crate) fn peak_kilobytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = peak.and_then(|peak| peak.split_whitespace().next()?.parse().ok());
        number.unwrap_or(0)
    }

    /// Whether it has neither ended nor taken longer than it may.
    pub(crate) fn is_running(&mut self) -> bool {
        let status = self.child.try_wait().expect("a child can be waited for");
        status.is_none() && Instant::now() < self.deadline
    }

    /// `-` as `group` means the whole process group.
    fn kill(&self, group: &str, signal: &str) -> bool {
        let script = format!("kill -s {signal} -- {group}{}", self.child.id());
        let status = Command::new("sh")
            .args(["-c", &script])
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    }

    /// Waits for the end; a child that takes longer than its limit is killed, which is an error.
    pub(crate) fn wait(mut self) -> Result<Finished, TimedOut> {
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
                break Some(status);
            }
            if Instant::now() >= self.deadline {
                break None;
            }
            thread::sleep(Duration::from_millis(2));
        };
        if status.is_none() {
            self.stop();
        }
        let output = |stream: &mut Option<JoinHandle<Vec<u8>>>| {
            let reader = stream.take().expect("waited for once");
            reader.join().expect("the reader does not panic")
        };
        let stdout = output(&mut self.stdout);
        let stderr = output(&mut self.stderr);
        match status {
            Some(status) => Ok(Finished {
                status,
                stdout,
                stderr,
            }),
            None => Err(TimedOut { stdout, stderr }),
        }
    }

    fn stop(&mut self) {
        let group_is_gone = self.kill("-", "KILL");
        if !group_is_gone {
            self.child.kill().ok();
        }
        self.child.wait().expect("a killed child ends");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            self.stop();
        }
    }
}

/// What a child had written when its time was up.
#[derive(Debug)]
pub(crate) struct TimedOut {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

fn collect(mut stream: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("a pipe can be read");
        bytes
    })
}

/// The parent's environment but for what changes the output of programs.
pub(crate) fn clean_environment(command: &mut Command) {
    command.env_clear();
    for name in ["PATH", "HOME", "TMPDIR", "LLVM_PROFILE_FILE", "SYSTEMROOT"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
}
