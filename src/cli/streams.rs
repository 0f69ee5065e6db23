//! Whether standard output and standard error were open when the program was started.
//!
//! Before `main`, the language's runtime opens `/dev/null` in the place of what is closed, so that no
//! file of the program gets that number. Who asks later cannot tell this from a user who sends the
//! output there on purpose, and would report as written what nobody can ever read. So it is asked
//! before.

/// The first of the two that was closed.
pub(super) fn closed() -> Option<&'static str> {
    let [stdout, stderr] = before_main::closed();
    match (stdout, stderr) {
        (true, _) => Some("standard output"),
        (false, true) => Some("standard error"),
        (false, false) => None,
    }
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "nothing safe is run before main")]
mod before_main {
    use std::sync::atomic::{AtomicBool, Ordering};

    static CLOSED: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];

    pub(super) fn closed() -> [bool; 2] {
        [0, 1].map(|index: usize| CLOSED[index].load(Ordering::Relaxed))
    }

    // The loader of programs calls what stands in this section, each a function that takes no more
    // than C's `main`, before the runtime begins.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        for (closed, descriptor) in CLOSED.iter().zip(1..) {
            // SAFETY: asking for the flags of a descriptor changes nothing, and one that is not open
            // is a plain error.
            let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFD) };
            closed.store(flags == -1, Ordering::Relaxed);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod before_main {
    pub(super) fn closed() -> [bool; 2] {
        [false; 2]
    }
}
