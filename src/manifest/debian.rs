//! To be written.

use super::decoder::{Context, Grammar};
use super::detect::Sample;

pub(super) fn grammar(_context: &Context) -> Box<dyn Grammar> {
    Box::new(super::unwritten::Unwritten)
}

pub(super) fn begins(_sample: Sample<'_>) -> bool {
    false
}

pub(super) fn is_entry(_line: &[u8]) -> bool {
    false
}
