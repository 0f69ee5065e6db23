//! To be written.

use super::decoder::{Context, Grammar};
use super::detect::Sample;
use super::encoder::{Encoder, Setup};
use super::writer::WriterError;

pub(super) fn grammar(_context: &Context) -> Box<dyn Grammar> {
    Box::new(super::unwritten::Unwritten)
}

pub(super) fn begins(_sample: Sample<'_>) -> bool {
    false
}

pub(super) fn encoder(_setup: Setup) -> Result<Box<dyn Encoder>, WriterError> {
    Err(WriterError::NoAlgorithm)
}
