//! Ctrl-C and its kin: the first one asks everything to stop, the second one ends the program at
//! once.

use std::fs;
use std::io::{self, Write};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGXFSZ};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::engine::Cancel;

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

/// How often the watch looks, and how long a run that was asked to stop may go on without a sign that
/// it knows: together under two seconds.
const WATCH: Duration = Duration::from_millis(250);
const PATIENCE: Duration = Duration::from_millis(1_250);

/// Whether the run has noticed that it was asked to stop, or is past the point where it could be stuck.
static NOTICED: AtomicBool = AtomicBool::new(false);

/// From here on the run ends by itself, however long it takes: nothing cuts it off but a second signal.
pub(super) fn noticed() {
    NOTICED.store(true, Ordering::Relaxed);
}

/// Ends the program if it does not notice that it was asked to: a pipe that nobody opens or reads holds
/// up whoever opens or writes it, and no flag reaches that thread. What is written by then is as after
/// a kill: the old manifest, and a journal that can be gone on with.
fn end_what_is_stuck(asked: Arc<AtomicBool>) {
    let watch = move || {
        while !asked.load(Ordering::Relaxed) {
            thread::sleep(WATCH);
        }
        thread::sleep(PATIENCE);
        if !NOTICED.load(Ordering::Relaxed) {
            // If standard error fails as well, the exit code is all that is left.
            writeln!(io::stderr(), "multisum: interrupted").ok();
            end();
        }
    };
    let thread = thread::Builder::new().name("multisum-signals".to_owned());
    // Without it a second signal is needed, and that is all.
    thread.spawn(watch).ok();
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
    end_what_is_stuck(Arc::clone(&asked));
    Ok(Cancel::from_flag(asked))
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
