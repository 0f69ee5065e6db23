//! To be written.

use super::decoder::{Context, Method};
use super::detect::Sample;

pub(super) fn method(_context: &Context) -> Method {
    Method::Lines(Box::new(super::unwritten::Unwritten))
}

pub(super) fn begins(_sample: Sample<'_>) -> bool {
    false
}
