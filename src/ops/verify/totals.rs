//! How much there is to verify, for a progress bar.

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::thread;

use crate::engine::{Cancel, Totals};
use crate::error::Error;

/// Starts a thread that looks at every listed file, until nothing holds `run` any more. What is not
/// there counts nothing.
pub(super) fn count(
    paths: impl Iterator<Item = Option<PathBuf>> + Send + 'static,
    run: Weak<()>,
    totals: &Arc<Totals>,
    cancel: &Cancel,
) -> Result<(), Error> {
    let (totals, cancel) = (Arc::clone(totals), cancel.clone());
    let count = move || {
        for path in paths {
            if run.strong_count() == 0 || cancel.is_cancelled() {
                return;
            }
            let metadata = path.and_then(|path| path.metadata().ok());
            if let Some(metadata) = metadata.filter(std::fs::Metadata::is_file) {
                totals.add(metadata.len());
            }
        }
        totals.complete();
    };
    let thread = thread::Builder::new()
        .name("multisum-count".to_owned())
        .spawn(count);
    thread.map(drop).map_err(Error::Threads)
}
