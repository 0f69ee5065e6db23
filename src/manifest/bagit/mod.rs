//! BagIt, versions 0.93 to 1.0: the text of every file that a bag is described by.
//!
//! ```text
//! bagit.txt            BagIt-Version: M.N
//!                      Tag-File-Character-Encoding: UTF-8
//! manifest-ALG.txt     HEX 1*(SP | TAB) PATH        the payload, everything below data/
//! tagmanifest-ALG.txt  the same for the other files
//! bag-info.txt         LABEL: VALUE, continued on lines that begin with a blank
//! fetch.txt            URL 1*(SP | TAB) (LENGTH | "-") 1*(SP | TAB) PATH
//! ```
//!
//! Lines end in LF, CR or CRLF. In a path LF is written `%0A` and CR `%0D`, since 1.0 also `%` as `%25`;
//! nothing else is escaped. What is tolerated beyond that gives a [`Remark`](super::Remark): the `*` of
//! `md5sum -b` before a path, and a leading `./`. Source: RFC 8493, its drafts back to 0.93, and what
//! bagit.py 1.9.0 writes and reads.
//!
//! A manifest that is read alone does not say its version: `%25` is then taken for a percent sign, and
//! the literal name if there is only that.

mod declaration;
mod encode;
mod fetch;
mod grammar;
mod info;
mod name;
mod text;

pub use declaration::{Declaration, Version, read_declaration};
pub use fetch::{Fetch, read_fetch};
pub use grammar::{Listed, ManifestName, algorithm_word, read_manifest};
pub use info::{Info, Oxum, read_info};
pub use name::{OutOfScope, Spelling, payload_name, tag_name};
pub use text::{Decoded, TextEncoding};

pub(super) use encode::encoder;
pub(super) use grammar::{grammar, is_entry, is_manifest_name};
