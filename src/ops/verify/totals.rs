//! How much there is to verify, for a progress bar.

use std::sync::Arc;
use std::thread;

use crate::engine::{Cancel, Totals};
use crate::error::Error;

use super::listing::Listing;

/// Starts a thread that looks at every listed file. What is not there counts nothing.
pub(super) fn count(
    listing: &Arc<Listing>,
    totals: &Arc<Totals>,
    cancel: &Cancel,
) -> Result<(), Error> {
    // The listing is dropped when the run is over, which ends the count as well.
    let (listing, totals, cancel) = (Arc::downgrade(listing), Arc::clone(totals), cancel.clone());
    let count = move || {
        for index in 0.. {
            let Some(listing) = listing.upgrade().filter(|_| !cancel.is_cancelled()) else {
                return;
            };
            let Some(entry) = listing.entries.get(index) else {
                break;
            };
            let metadata = listing.path_of(entry).and_then(|path| path.metadata().ok());
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
