//! How entries become bytes, and which format is written by which.

use std::fmt::Debug;

use super::lines::Terminator;
use super::writer::{Column, EntryError, WriterError};
use super::{Entry, Format, GapKind, Header};
use super::{bagit, bsd, csv, dfxml, gentoo, gnu, hashdeep, json, jsonl, magnet, mhl, mtree, sfv};
use crate::digest::Digest;
use crate::hex;
use crate::relpath::RelPath;

/// How one format spells entries. Each method appends whole lines to `out`.
pub(super) trait Encoder: Debug + Send {
    /// What precedes the first entry.
    fn begin(&mut self, _out: &mut Vec<u8>) -> Result<(), EntryError> {
        Ok(())
    }

    /// One entry, whose name is not empty and holds no NUL byte.
    fn entry(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) -> Result<(), EntryError>;

    /// A file known but not hashed, with a name of the same kind; nothing, if the format cannot say
    /// so.
    fn gap(
        &mut self,
        _name: &RelPath,
        _kind: GapKind,
        _out: &mut Vec<u8>,
    ) -> Result<(), EntryError> {
        Ok(())
    }

    /// What follows the last entry. `begin` was called before, also if there is none.
    fn finish(&mut self, _out: &mut Vec<u8>) -> Result<(), EntryError> {
        Ok(())
    }
}

/// What an encoder is made from.
#[derive(Debug)]
pub(super) struct Setup {
    /// The algorithms to carry; at least one.
    pub(super) columns: Vec<Column>,
    /// What ends the records, in the formats that have a choice.
    pub(super) terminator: Terminator,
    /// Whether digests are written in base64, in the formats that have a choice.
    pub(super) base64: bool,
    /// Whether entries may lack some of the digests.
    pub(super) partial: bool,
    /// What the manifest says of itself.
    pub(super) header: Header,
}

/// The encoder of a format.
pub(super) fn encoder(format: Format, setup: Setup) -> Result<Box<dyn Encoder>, WriterError> {
    match format {
        Format::Gnu | Format::GnuZero => gnu::encoder(format, setup),
        Format::Bsd => Ok(bsd::encoder(setup)),
        Format::Jsonl => jsonl::encoder(setup),
        Format::Json => json::encoder(setup),
        Format::Csv => csv::encoder(setup),
        Format::Hashdeep => hashdeep::encoder(setup),
        Format::Dfxml => dfxml::encoder(setup),
        Format::Sfv => sfv::encoder(setup),
        Format::Magnet => magnet::encoder(setup),
        Format::Bagit => bagit::encoder(setup),
        Format::Mtree => mtree::encoder(setup),
        Format::Mhl => mhl::encoder(setup),
        Format::Gentoo => gentoo::encoder(setup),
        _ => Err(WriterError::NotWritable(format)),
    }
}

/// A digest as lines spell it.
pub(super) fn spell(digest: &Digest, base64: bool) -> String {
    if base64 {
        hex::encode_base64(digest.as_bytes())
    } else {
        hex::encode(digest.as_bytes())
    }
}
