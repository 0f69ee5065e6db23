//! One stream through one or several algorithms.
//!
//! [`StreamHasher`] is one algorithm; [`MultiHasher`] feeds every chosen algorithm from the same
//! buffer while it is in the cache, so that a file is read once whatever the number of algorithms.

mod adapters;
mod blake3;
mod multi;

pub use adapters::new_hasher;
pub use multi::MultiHasher;

use crate::digest::Digest;

/// One algorithm at work on one stream of bytes.
pub trait StreamHasher: Send {
    /// Takes the next bytes of the stream; any length, also none.
    fn update(&mut self, bytes: &[u8]);

    /// As [`StreamHasher::update`], but may use other threads of the current rayon pool if the
    /// algorithm can work on parts of a stream at the same time.
    fn update_wide(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }

    /// Gives the digest of everything since the start or the last `finish`, and starts anew.
    fn finish(&mut self) -> Digest;

    /// Forgets what was fed and starts anew.
    fn reset(&mut self);

    /// What is needed to go on later, at a multiple of 1 MiB; `None` if the algorithm's crate does not
    /// give it away.
    fn save(&self) -> Option<Box<[u8]>> {
        None
    }

    /// Goes on from what was saved of a stream of the same algorithm, by the same version of this
    /// crate; false if these bytes are nothing of the kind. There must be more to come.
    fn restore(&mut self, saved: &[u8]) -> bool {
        let _ = saved;
        false
    }
}
