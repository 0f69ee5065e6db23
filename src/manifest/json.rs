//! To be written.

use super::decoder::{Context, Decoder, Text};
use super::detect::Sample;
use super::encoder::{Encoder, Setup};
use super::writer::WriterError;

pub(super) fn decoder<'r>(_text: Text<'r>, _context: Context) -> Box<dyn Decoder + 'r> {
    Box::new(super::unwritten::Unwritten)
}

pub(super) fn begins(_sample: Sample<'_>) -> bool {
    false
}

pub(super) fn encoder(_setup: Setup) -> Result<Box<dyn Encoder>, WriterError> {
    Err(WriterError::NoAlgorithm)
}
