//! The states of a file's algorithms in the middle of it, and who is told of them.

use std::path::PathBuf;
use std::sync::Arc;

use crate::algorithm::Algorithm;
use crate::error::Error;

use super::{Outcome, Status};

/// From where a later run can go on with a file that it had begun to read.
///
/// The states of MD5, SHA-1, SHA-2, C4, SHA-3, SM3, RIPEMD-160, Tiger, Whirlpool, BLAKE3 and the
/// CRCs can be saved. Those of BLAKE2 and xxHash cannot, since their crates do not give them away: a
/// file that is fed to one of these is read from its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The path that was opened.
    pub path: PathBuf,
    /// What the file was when it was opened. With any other status the states are of no use.
    pub status: Status,
    /// Bytes that every one of the states has seen.
    pub offset: u64,
    /// The algorithms of the task.
    pub algorithms: Arc<[Algorithm]>,
    /// One state for each of them, in the same order. They mean something to the same version of this
    /// crate only.
    pub states: Vec<Box<[u8]>>,
}

/// Is told of results as they come, before they are put in order; always on the thread that called
/// [`run_observed`](super::run_observed).
///
/// Whatever it returns as an error ends the run.
pub trait Observer<T> {
    /// A file is done, well or badly.
    fn finished(&mut self, token: &T, outcome: &Outcome) -> Result<(), Error> {
        let (_, _) = (token, outcome);
        Ok(())
    }

    /// A file that is still being read has come so far; see
    /// [`Options::save_every`](super::Options::save_every).
    fn saved(&mut self, saved: &Saved) -> Result<(), Error> {
        let _ = saved;
        Ok(())
    }

    /// Nothing has come for a moment. Called several times a second while that lasts.
    fn waited(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// Does not care.
impl<T> Observer<T> for () {}
