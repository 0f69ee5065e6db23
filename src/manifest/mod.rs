//! Manifests: one file a format, and what they share.
//!
//! Reading goes from bytes to [`Record`]s. `unpack` undoes gzip, `lines` cuts text into lines or
//! NUL-terminated records and undoes UTF-16, `wrapper` takes signed text out of its wrapping, and
//! `detect` looks at the beginning and decides what it is. Then a `Grammar` is given one
//! line after another, or a `Decoder` reads a document of XML or JSON in one go.
//! `evidence` says whose digest a digest is. Writing goes the other way, through one [`Writer`]
//! whatever the format.
//!
//! A format has a file of its own with its grammar and its encoder side by side, a row in the table
//! of `format`, a row in the order of `detect`, an arm in `decoder` and, if it is written, one in
//! `encoder`.

pub mod ascmhl;
pub mod bagit;
mod bare;
mod bsd;
mod certutil;
mod cksum;
mod csv;
mod cyclonedx;
mod debian;
mod decoder;
mod detect;
mod dfxml;
mod encoder;
mod entry;
mod escape;
mod evidence;
mod fciv;
mod format;
mod gap;
mod gentoo;
mod gnu;
mod hashdeep;
mod intoto;
mod json;
mod json_entry;
mod json_text;
mod jsonl;
mod legacy_mhl;
mod lines;
mod magnet;
mod md5deep;
mod mhl;
mod mtree;
mod plain;
mod powershell;
mod rclone;
mod reader;
mod remark;
mod rhash;
mod sfv;
mod spdx;
mod sri;
#[cfg(test)]
mod testing;
mod unpack;
mod wrapper;
mod writer;
mod xml;

pub use entry::{Claim, ClaimedDigest, Content, Entry, GapKind, Header, Kind, Record, Scope};
pub use escape::{gnu_escape_into, gnu_unescape};
pub use evidence::{AlgorithmSource, NamedAlgorithm, candidates};
pub use format::{Carries, Format, FormatInfo, OutputHint, UnknownFormat, output_hint};
pub use lines::{Encoding, MAX_LINE_LEN_BYTES, Terminator};
pub use reader::{Evidence, FormatSource, Hints, OpenError, Reader};
pub use remark::{Malformed, Remark};
pub use writer::{EntryError, Writer, WriterError, WriterOptions};
