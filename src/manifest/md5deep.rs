//! To be written.

use super::decoder::{Context, Grammar};

pub(super) fn grammar(_context: &Context) -> Box<dyn Grammar> {
    Box::new(super::unwritten::Unwritten)
}

pub(super) fn is_entry(_line: &[u8]) -> bool {
    false
}
