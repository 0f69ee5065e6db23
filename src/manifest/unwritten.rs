//! Placeholder.

use std::io;

use super::decoder::{Decoder, Grammar, Records};
use super::{Content, Malformed};

#[derive(Debug)]
pub(super) struct Unwritten;

impl Grammar for Unwritten {
    fn line(&mut self, number: u64, _text: &[u8], records: &mut Records) {
        records.push(number, Content::Malformed(Malformed::NoShape));
    }
}

impl Decoder for Unwritten {
    fn advance(&mut self, records: &mut Records) -> io::Result<bool> {
        records.push(1, Content::Malformed(Malformed::NoShape));
        Ok(false)
    }
}
