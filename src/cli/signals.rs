//! Ctrl-C and its kin: the first one asks everything to stop, the second one ends the program at
//! once.

use std::fs;
use std::io::{self, Write};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGXFSZ};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::engine::Cancel;
use crate::event::{Event, Sink};

#[cfg(unix)]
const ASK_TO_STOP: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
#[cfg(not(unix))]
const ASK_TO_STOP: [i32; 2] = [SIGINT, SIGTERM];

/// The signal that asked first, as signals are: of the whole process. 0 before.
static ASKED_BY: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// The exit code of a run that was stopped: 128 and the number of the signal, as shells have it.
pub(super) fn exit_code() -> u8 {
    match u8::try_from(ASKED_BY.load(Ordering::Relaxed)) {
        Ok(signal @ 1..=127) => 128 + signal,
        _ => 130,
    }
}

/// How often the watch looks, how long a run that was asked to stop may stay where it is, and how long
/// its last words may take: together under two seconds.
const WATCH: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_millis(1_250);
const LAST_WORDS: Duration = Duration::from_millis(200);

/// What the watch looks at.
static WATCHED: OnceLock<Cancel> = OnceLock::new();

/// From here on something is written that must not be left half done, and nothing cuts it off but a
/// second signal. Once the engine has returned, that holds by itself.
pub(super) fn keeping() {
    if let Some(cancel) = WATCHED.get() {
        cancel.keeping();
    }
}

/// From here on everything is written that will be: nothing is lost by ending a run that hangs in its
/// report.
pub(super) fn telling() {
    if let Some(cancel) = WATCHED.get() {
        cancel.telling();
    }
}

/// Passes everything on. A run that hangs in its report may be ended even where its results are not kept
/// yet: nobody reads it.
pub(super) struct Reporting<'s>(pub(super) &'s mut dyn Sink);

impl Sink for Reporting<'_> {
    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        match WATCHED.get() {
            Some(cancel) => cancel.while_telling(|| self.0.event(event)),
            None => self.0.event(event),
        }
    }
}

/// Ends the program if it does not notice that it was asked to: a pipe that nobody opens or reads holds
/// up whoever opens or writes it, and no flag reaches that thread. What is written by then is as after
/// a kill: the old manifest, and a journal that can be gone on with.
fn end_what_is_stuck(cancel: Cancel) {
    let watch = move || {
        while !cancel.is_cancelled() {
            thread::sleep(WATCH);
        }
        let asked = Instant::now();
        loop {
            thread::sleep(WATCH);
            if asked.elapsed() >= PATIENCE {
                cancel.if_stuck(PATIENCE, || {
                    say_interrupted();
                    end()
                });
            }
        }
    };
    let thread = thread::Builder::new().name("multisum-signals".to_owned());
    // Without it a second signal is needed, and that is all.
    thread.spawn(watch).ok();
}

/// By a thread of its own: standard error may be the very pipe that nobody reads. If nothing comes of
/// it, the exit code is all that is left.
fn say_interrupted() {
    let (said, is_said) = mpsc::channel();
    let say = move || {
        writeln!(io::stderr(), "multisum: interrupted").ok();
        said.send(()).ok();
    };
    let thread = thread::Builder::new().name("multisum-last-words".to_owned());
    if thread.spawn(say).is_ok() {
        is_said.recv_timeout(LAST_WORDS).ok();
    }
}

#[expect(
    clippy::exit,
    clippy::disallowed_methods,
    reason = "the thread that could return is the one that is stuck"
)]
fn end() -> ! {
    process::exit(exit_code().into())
}

/// Connects the signals with a flag that a run looks at.
pub(super) fn cancel_on_signals() -> io::Result<Cancel> {
    let asked = Arc::new(AtomicBool::new(false));
    let ignored = ignored_signals();
    for signal in ASK_TO_STOP {
        // What `nohup` or a shell has set to be ignored stays so; where that cannot be known, a
        // hangup keeps its usual effect.
        let is_ignored = match ignored {
            Some(mask) => mask >> (signal - 1) & 1 == 1,
            None => ![SIGINT, SIGTERM].contains(&signal),
        };
        if is_ignored {
            continue;
        }
        // Registered first, so that the signal that sets the flag does not find it set.
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&asked))?;
        if let Ok(number) = usize::try_from(signal) {
            flag::register_usize(signal, Arc::clone(&ASKED_BY), number)?;
        }
        flag::register(signal, Arc::clone(&asked))?;
    }
    #[cfg(unix)]
    // Caught, so that a file that may grow no further is an error like any other of a write.
    flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    let cancel = Cancel::from_flag(asked);
    // A program has one run, and so one to watch.
    let watched = WATCHED.get_or_init(|| cancel.clone());
    end_what_is_stuck(watched.clone());
    Ok(cancel)
}

/// A bit for each signal that this process was told to ignore; `None` where the system does not
/// tell.
fn ignored_signals() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}
