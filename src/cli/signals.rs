//! Ctrl-C: the first one asks everything to stop, the second one ends the program at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::engine::Cancel;

/// Connects the signals with a flag that a run looks at.
pub(super) fn cancel_on_signals() -> io::Result<Cancel> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Registered first, so that the signal that sets the flag does not find it set.
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&asked))?;
        flag::register(signal, Arc::clone(&asked))?;
    }
    Ok(Cancel::from_flag(asked))
}
