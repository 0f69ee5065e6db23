//! Writes the lines of a manifest, as version 1.0 has them.

use super::super::encoder::{self, Setup};
use super::super::writer::{self, Column, EntryError, WriterError};
use super::super::{Entry, Format};
use super::{algorithm_word, name};

#[derive(Debug)]
struct Encoder(Column);

/// The encoder of one `manifest-ALG.txt`.
pub(in super::super) fn encoder(setup: Setup) -> Result<Box<dyn encoder::Encoder>, WriterError> {
    if setup.base64 {
        return Err(WriterError::NoSuchOption {
            format: Format::Bagit,
            option: "digests in base64",
        });
    }
    let column = writer::only(setup.columns, Format::Bagit)?;
    if algorithm_word(column.algorithm).is_none() {
        return Err(WriterError::NotCarried {
            format: Format::Bagit,
            algorithm: column.algorithm,
            carried: "every algorithm but cksum and the shortened BLAKE2b",
        });
    }
    Ok(Box::new(Encoder(column)))
}

impl encoder::Encoder for Encoder {
    fn entry(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) -> Result<(), EntryError> {
        let bytes = entry.name.as_bytes();
        let refused = |what| EntryError::NameNotCarried {
            name: entry.name.clone(),
            format: Format::Bagit,
            what,
        };
        if std::str::from_utf8(bytes).is_err() {
            return Err(refused("bytes that are no UTF-8"));
        }
        // Any number of blanks may stand before a path.
        if bytes.starts_with(b" ") || bytes.starts_with(b"\t") {
            return Err(refused("a leading blank"));
        }
        let digits = encoder::spell(self.0.digest_of(entry)?, false);
        out.extend_from_slice(digits.as_bytes());
        out.extend_from_slice(b"  ");
        name::escape_into(bytes, out);
        out.push(b'\n');
        Ok(())
    }
}
