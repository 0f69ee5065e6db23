//! Runs that are killed at every system call by which they write, and gone on with.

use crate::sweep::{Injected, Scenario};

/// All by which the journal and the manifest are written and published, and some more.
const WRITING: [&str; 9] = [
    "pwrite64",
    "write",
    "fdatasync",
    "fsync",
    "/^rename",
    "/^link",
    "/^unlink",
    "ftruncate",
    "utimensat",
];

const OTHERS: [&str; 7] = [
    "openat",
    "statx",
    "read",
    "getdents64",
    "close",
    "clone3",
    "mmap",
];

/// Kills at the calls whose numbers are chosen, goes on, and compares.
#[track_caller]
fn kill(name: &str, scenario: &Scenario, calls: &[&str], step: usize) {
    let mut runs = 0;
    for call in calls {
        for nth in (1..).step_by(step) {
            scenario.reset();
            let Some(Injected { output, .. }) =
                scenario.under(call, &format!("signal=KILL:when={nth}"))
            else {
                return;
            };
            let was_killed = output.code.is_none();
            drop(output.stdout_any().stderr_any());
            if !was_killed {
                break;
            }
            runs += 1;
            let is_whole = scenario.is_old() || scenario.is_clean();
            assert!(is_whole, "{name}: half a list after a kill at {call} {nth}");
            let again = scenario.plainly();
            again.stdout_any().stderr_any().check_code(&[0, 1]);
            assert!(
                scenario.is_clean(),
                "{name}: another list after a kill at {call} {nth}"
            );
        }
    }
    eprintln!("{name}: {runs} kills, and {runs} runs after them");
    assert!(runs > 0);
}

pub(crate) fn at_every_call_that_writes_in_hash() {
    kill("hash", &Scenario::resumed_hash(), &WRITING, 1);
}

pub(crate) fn at_every_call_that_writes_in_update() {
    kill("update", &Scenario::update(), &WRITING, 1);
}

pub(crate) fn at_every_call_that_writes_in_merge() {
    kill("merge", &Scenario::merge(), &WRITING, 1);
}

pub(crate) fn at_some_of_the_other_calls() {
    kill("hash", &Scenario::resumed_hash(), &OTHERS, 11);
    kill("update", &Scenario::update(), &OTHERS, 17);
}

pub(crate) fn at_every_other_call() {
    kill("hash", &Scenario::resumed_hash(), &OTHERS, 1);
    kill("update", &Scenario::update(), &OTHERS, 1);
    kill("merge", &Scenario::merge(), &OTHERS, 1);
}
