//! The thread that takes jobs from the caller's iterator and wakes workers for them.

use crossbeam_channel::Receiver;

use super::Job;
use super::job::{Done, Finished};
use super::worker::{Shared, Waiting};

/// Takes one permit for each job, so that it never runs ahead of the sink by more than the window.
pub(super) struct Feeder<T> {
    /// Each message is so many permits.
    pub(super) permits: Receiver<usize>,
    pub(super) shared: Shared<T>,
}

impl<T: Send + 'static> Feeder<T> {
    /// Runs until the jobs are used up or the consumer is gone.
    pub(super) fn feed(self, jobs: impl Iterator<Item = Job<T>>) {
        let mut taken = 0;
        let mut permits = 0;
        for (sequence, job) in (0..).zip(jobs) {
            if permits == 0 {
                let Ok(more) = self.permits.recv() else {
                    return;
                };
                permits = more;
            }
            if self.shared.worker.stop.is_cancelled() {
                return;
            }
            permits -= 1;
            let Job { token, task } = job;
            let handed_on = match task {
                Some(task) => self
                    .shared
                    .sender
                    .send(Waiting {
                        sequence,
                        token,
                        task,
                    })
                    .is_ok(),
                None => {
                    let done = Done {
                        sequence,
                        token,
                        outcome: None,
                    };
                    let finished = Finished::Jobs(vec![done]);
                    self.shared.worker.finished.send(finished).is_ok()
                }
            };
            if !handed_on {
                return;
            }
            self.shared.call_worker();
            taken = sequence + 1;
        }
        // Only said here: a feeder that dies on its way must not look like one that is done.
        self.shared.worker.finished.send(Finished::Fed(taken)).ok();
    }
}
