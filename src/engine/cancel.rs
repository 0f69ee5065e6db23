//! A flag that stops a run from outside.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Shared by whoever may stop a run and by everything that has to stop.
///
/// A signal handler may set the flag directly, since it is a plain atomic.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    asked: Arc<AtomicBool>,
    reached: Arc<Mutex<Reached>>,
}

/// How far whoever can be stopped has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// What is read is found and opened.
    Opening,
    /// The engine is at work.
    Reading,
    /// What was read is put where it stays.
    Keeping,
    /// Nothing is left but to say how it went.
    Telling,
}

#[derive(Debug)]
struct Reached {
    stage: Stage,
    since: Instant,
}

impl Default for Reached {
    fn default() -> Self {
        Self {
            stage: Stage::Opening,
            since: Instant::now(),
        }
    }
}

impl Cancel {
    /// Uses an existing flag, for instance one that a signal handler sets.
    pub fn from_flag(flag: Arc<AtomicBool>) -> Self {
        Self {
            asked: flag,
            ..Self::default()
        }
    }

    /// Asks everything to stop.
    pub fn cancel(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    pub fn is_cancelled(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The engine is at work until what this gives is dropped; from then on, results are kept.
    pub(super) fn reading(&self) -> Reading<'_> {
        self.reach(Stage::Reading);
        Reading(self)
    }

    /// From here on something is written that must not be left half done. So it is after every run of
    /// the engine, without a call.
    pub(crate) fn keeping(&self) {
        self.reach(Stage::Keeping);
    }

    /// From here on nothing is lost if the program ends.
    pub(crate) fn telling(&self) {
        self.reach(Stage::Telling);
    }

    /// Nothing is lost if the program ends while `tell` is called; afterwards all is as before.
    pub(crate) fn while_telling<R>(&self, tell: impl FnOnce() -> R) -> R {
        let stage = self.reached().stage;
        self.telling();
        let told = tell();
        self.reach(stage);
        told
    }

    /// Calls `end` if nothing is being kept and no stage was reached for `patience`. Until it returns, no
    /// other stage is reached: a program that is being ended does not begin to write.
    pub(crate) fn if_stuck(&self, patience: Duration, end: impl FnOnce()) {
        let reached = self.reached();
        if reached.stage != Stage::Keeping && reached.since.elapsed() >= patience {
            end();
        }
    }

    fn reach(&self, stage: Stage) {
        *self.reached() = Reached {
            stage,
            since: Instant::now(),
        };
    }

    fn reached(&self) -> MutexGuard<'_, Reached> {
        self.reached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// See [`Cancel::reading`].
#[derive(Debug)]
pub(super) struct Reading<'c>(&'c Cancel);

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.0.keeping();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_stuck(cancel: &Cancel, patience: Duration) -> bool {
        let mut stuck = false;
        cancel.if_stuck(patience, || stuck = true);
        stuck
    }

    #[test]
    fn nothing_is_ended_between_the_engine_and_the_report() {
        let cancel = Cancel::default();
        assert!(is_stuck(&cancel, Duration::ZERO));
        let reading = cancel.reading();
        assert!(is_stuck(&cancel, Duration::ZERO));
        drop(reading);
        assert!(!is_stuck(&cancel, Duration::ZERO));
        drop(cancel.reading());
        assert!(!is_stuck(&cancel, Duration::ZERO));
        assert!(cancel.while_telling(|| is_stuck(&cancel, Duration::ZERO)));
        assert!(!is_stuck(&cancel, Duration::ZERO));
        cancel.clone().telling();
        assert!(is_stuck(&cancel, Duration::ZERO));
        assert!(!is_stuck(&cancel, Duration::from_secs(60)));
    }
}
