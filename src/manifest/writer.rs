//! From entries to bytes.

use std::io::{self, Write};

use super::encoder::{self, Encoder, Setup};
use super::evidence::MIN_DIGEST_BITS;
use super::lines::Terminator;
use super::{Entry, Format, GapKind, Header};
use crate::algorithm::Algorithm;
use crate::digest::Digest;
use crate::relpath::RelPath;

/// Why a format cannot carry what it was asked to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriterError {
    /// Lines without tags can hold only one algorithm.
    #[error("format {format} carries exactly one algorithm, not {count}")]
    OneAlgorithm {
        /// The format.
        format: Format,
        /// How many were asked for.
        count: usize,
    },
    /// No algorithm at all.
    #[error("a manifest needs an algorithm")]
    NoAlgorithm,
    /// An index that is beyond the algorithms of the run.
    #[error("the run has no algorithm with index {0}")]
    NoSuchIndex(usize),
    /// A digest so short that no reader accepts it.
    #[error("{0} is too short to prove anything")]
    TooShort(Algorithm),
    /// An algorithm that the format has no word for.
    #[error("format {format} cannot carry {algorithm} (it carries {carried})")]
    NotCarried {
        /// The format.
        format: Format,
        /// The algorithm.
        algorithm: Algorithm,
        /// The algorithms that it can carry, in prose.
        carried: &'static str,
    },
    /// A format that is only read.
    #[error("format {0} can be read but not written")]
    NotWritable(Format),
    /// An option that the format has no use for.
    #[error("format {format} has no {option}")]
    NoSuchOption {
        /// The format.
        format: Format,
        /// The option.
        option: &'static str,
    },
}

/// Why an entry cannot be written. It travels inside an [`io::Error`] of kind `InvalidInput`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// No file has an empty name.
    #[error("the name is empty")]
    EmptyName,
    /// A NUL byte, which no file name can hold.
    #[error("{0}: NUL byte in the name")]
    NulInName(RelPath),
    /// The digests are not those that the writer was made for.
    #[error("{name}: no {algorithm} digest")]
    NoDigest {
        /// The entry.
        name: RelPath,
        /// The algorithm that is missing.
        algorithm: Algorithm,
    },
    /// A name that the format has no way to write.
    #[error("{name}: format {format} cannot hold {what} in a name")]
    NameNotCarried {
        /// The entry.
        name: RelPath,
        /// The format.
        format: Format,
        /// What it cannot hold: a line feed, bytes that are no UTF-8.
        what: &'static str,
    },
    /// A field that every entry of the format must have.
    #[error("{name}: format {format} needs the {field}, which is not known")]
    NoField {
        /// The entry.
        name: RelPath,
        /// The format.
        format: Format,
        /// What is missing.
        field: &'static str,
    },
}

impl From<EntryError> for io::Error {
    fn from(error: EntryError) -> Self {
        Self::new(io::ErrorKind::InvalidInput, error)
    }
}

/// One algorithm that a manifest carries.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) algorithm: Algorithm,
    /// The tag that BSD lines are written with.
    pub(super) tag: String,
}

impl Column {
    fn new(algorithms: &[Algorithm], index: usize) -> Result<Self, WriterError> {
        let algorithm = *algorithms
            .get(index)
            .ok_or(WriterError::NoSuchIndex(index))?;
        if algorithm.digest_bits() < MIN_DIGEST_BITS {
            return Err(WriterError::TooShort(algorithm));
        }
        Ok(Self {
            algorithm,
            tag: algorithm.tag(),
        })
    }

    /// This algorithm's digest.
    pub(super) fn digest_of<'a>(&self, entry: &'a Entry<'_>) -> Result<&'a Digest, EntryError> {
        self.digest_in(entry).ok_or_else(|| EntryError::NoDigest {
            name: entry.name.clone(),
            algorithm: self.algorithm,
        })
    }

    /// This algorithm's digest, if the entry has one.
    pub(super) fn digest_in<'a>(&self, entry: &'a Entry<'_>) -> Option<&'a Digest> {
        let mut digests = entry.digests.iter();
        digests.find(|digest| digest.algorithm() == self.algorithm)
    }
}

/// What a writer is made for.
#[derive(Clone, Debug)]
pub struct WriterOptions {
    /// The format.
    pub format: Format,
    /// End records with NUL bytes and escape nothing, in formats of lines.
    pub zero: bool,
    /// Write digests in base64, in formats that have it.
    pub base64: bool,
    /// Let entries lack some of the digests, in formats whose lines say what they are of.
    pub partial: bool,
    /// The algorithms that the run computes, in the order in which entries have their digests.
    pub algorithms: Vec<Algorithm>,
    /// Places in `algorithms`: what this manifest carries of them.
    pub carried: Vec<usize>,
    /// What the manifest says of itself, in formats that have a place for it.
    pub header: Header,
}

impl WriterOptions {
    /// A manifest that carries all of the algorithms and says nothing of itself.
    pub fn new(format: Format, algorithms: &[Algorithm]) -> Self {
        Self {
            format,
            zero: false,
            base64: false,
            partial: false,
            algorithms: algorithms.to_vec(),
            carried: (0..algorithms.len()).collect(),
            header: Header::default(),
        }
    }
}

/// Writes a manifest entry by entry.
///
/// Untagged formats write one line an entry; the tagged one writes a line for each algorithm it
/// carries, in the order in which they were asked for. Every call hands whole lines to the output, in
/// one write. Nothing is written before the first entry.
///
/// # Errors
///
/// What the output says, and [`EntryError`] for an entry that cannot be written; nothing of that
/// entry is written then.
///
/// # Examples
///
/// ```
/// use multisum::manifest::{Entry, Format, Writer, WriterOptions};
/// use multisum::{Algorithm, Digest, RelPath};
/// let digest = Digest::new(Algorithm::Crc32, &[0xcb, 0xf4, 0x39, 0x26]).ok_or("length")?;
/// let mut writer = Writer::new(WriterOptions::new(Format::Bsd, &[Algorithm::Crc32]))?;
/// let mut out = Vec::new();
/// let (name, digests) = (&RelPath::from("a b"), &[digest]);
/// writer.write_entry(&mut out, &Entry { name, digests, size: None, modified: None })?;
/// assert_eq!(out, b"CRC32 (a b) = cbf43926\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer {
    encoder: Box<dyn Encoder>,
    begun: bool,
    buffer: Vec<u8>,
}

impl Writer {
    /// Makes a writer.
    ///
    /// # Errors
    ///
    /// The format cannot carry the algorithms or has no use for an option; or there is no algorithm,
    /// or one with digests of fewer than 32 bits.
    pub fn new(options: WriterOptions) -> Result<Self, WriterError> {
        let columns = options
            .carried
            .iter()
            .map(|&index| Column::new(&options.algorithms, index))
            .collect::<Result<Vec<_>, _>>()?;
        if columns.is_empty() {
            return Err(WriterError::NoAlgorithm);
        }
        let format = options.format;
        let plain = matches!(format, Format::Gnu | Format::GnuZero | Format::Bsd);
        for (wanted, option) in [(options.zero, "--zero"), (options.base64, "--base64")] {
            if wanted && !plain {
                return Err(WriterError::NoSuchOption { format, option });
            }
        }
        let terminator = if options.zero || format == Format::GnuZero {
            Terminator::Nul
        } else {
            Terminator::Line
        };
        let setup = Setup {
            columns,
            terminator,
            base64: options.base64,
            partial: options.partial,
            header: options.header,
        };
        Ok(Self {
            encoder: encoder::encoder(format, setup)?,
            begun: false,
            buffer: Vec::new(),
        })
    }

    /// Whether there can be a line for this name: it is not empty and holds no NUL byte.
    pub fn can_name(name: &RelPath) -> bool {
        check_name(name).is_ok()
    }

    /// Writes all lines of one entry.
    pub fn write_entry(&mut self, out: &mut dyn Write, entry: &Entry<'_>) -> io::Result<()> {
        check_name(entry.name)?;
        self.write(out, |encoder, buffer| encoder.entry(entry, buffer))
    }

    /// Writes that a file is known but not hashed: in formats of lines as a comment, in some not at
    /// all.
    pub fn write_gap(
        &mut self,
        out: &mut dyn Write,
        name: &RelPath,
        kind: GapKind,
    ) -> io::Result<()> {
        check_name(name)?;
        self.write(out, |encoder, buffer| encoder.gap(name, kind, buffer))
    }

    /// Writes what follows the last entry. It does not flush.
    pub fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.write(out, Encoder::finish)
    }

    /// Writes what one call to the encoder gives, after the heading if that is still to come.
    fn write(
        &mut self,
        out: &mut dyn Write,
        encode: impl FnOnce(&mut (dyn Encoder + 'static), &mut Vec<u8>) -> Result<(), EntryError>,
    ) -> io::Result<()> {
        self.buffer.clear();
        if !self.begun {
            self.encoder.begin(&mut self.buffer)?;
        }
        encode(&mut *self.encoder, &mut self.buffer)?;
        self.begun = true;
        out.write_all(&self.buffer)
    }
}

/// The only column of a format that has room for one.
pub(super) fn only(columns: Vec<Column>, format: Format) -> Result<Column, WriterError> {
    <[Column; 1]>::try_from(columns)
        .map(|[column]| column)
        .map_err(|columns| WriterError::OneAlgorithm {
            format,
            count: columns.len(),
        })
}

fn check_name(name: &RelPath) -> Result<(), EntryError> {
    let bytes = name.as_bytes();
    if bytes.is_empty() {
        return Err(EntryError::EmptyName);
    }
    if bytes.contains(&0) {
        return Err(EntryError::NulInName(name.clone()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{Claim, ClaimedDigest, Content, Hints, Reader};
    use proptest::prelude::*;

    const RUN: [Algorithm; 3] = [Algorithm::Md5, Algorithm::Sha256, Algorithm::Crc32];

    fn digest(algorithm: Algorithm, seed: u8) -> Digest {
        let bytes: Vec<u8> = (0..algorithm.digest_len_bytes())
            .map(|at| {
                seed.wrapping_mul(31)
                    .wrapping_add(u8::try_from(at).unwrap())
            })
            .collect();
        Digest::new(algorithm, &bytes).unwrap()
    }

    fn options(
        format: Format,
        zero: bool,
        algorithms: &[Algorithm],
        carried: &[usize],
    ) -> WriterOptions {
        WriterOptions {
            zero,
            carried: carried.to_vec(),
            ..WriterOptions::new(format, algorithms)
        }
    }

    fn entry<'a>(name: &'a RelPath, digests: &'a [Digest]) -> Entry<'a> {
        Entry {
            name,
            digests,
            size: Some(3),
            modified: None,
        }
    }

    fn written(format: Format, zero: bool, carried: &[usize], names: &[&str]) -> String {
        let mut writer = Writer::new(options(format, zero, &RUN, carried)).unwrap();
        let mut out = Vec::new();
        for name in names {
            let name = &RelPath::from(*name);
            let digests = &RUN.map(|algorithm| digest(algorithm, 0));
            writer.write_entry(&mut out, &entry(name, digests)).unwrap();
        }
        writer.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_untagged_manifest_carries_the_digest_it_was_asked_for() {
        assert_eq!(
            written(Format::Gnu, false, &[2], &["a", "b\nc"]),
            "00010203  a\n\\00010203  b\\nc\n"
        );
        let zero = "00010203  a\\\x0000010203  b\nc\0";
        assert_eq!(
            written(Format::GnuZero, false, &[2], &["a\\", "b\nc"]),
            zero
        );
        assert_eq!(written(Format::Gnu, true, &[2], &["a\\", "b\nc"]), zero);
    }

    #[test]
    fn a_tagged_manifest_has_a_line_for_each_algorithm_in_the_order_asked() {
        let md5 = "000102030405060708090a0b0c0d0e0f";
        assert_eq!(
            written(Format::Bsd, false, &[2, 0], &["a"]),
            format!("CRC32 (a) = 00010203\nMD5 (a) = {md5}\n")
        );
        assert_eq!(
            written(Format::Bsd, true, &[2], &["a\nb\\"]),
            "CRC32 (a\nb\\) = 00010203\0"
        );
    }

    #[test]
    fn what_a_format_cannot_carry_is_refused_before_anything_is_written() {
        let new =
            |format, carried: &[usize]| Writer::new(options(format, false, &RUN, carried)).err();
        let two = WriterError::OneAlgorithm {
            format: Format::Gnu,
            count: 2,
        };
        assert_eq!(new(Format::Gnu, &[0, 1]), Some(two));
        assert_eq!(new(Format::Bsd, &[]), Some(WriterError::NoAlgorithm));
        assert_eq!(new(Format::Bsd, &[3]), Some(WriterError::NoSuchIndex(3)));
        let tiny: Algorithm = "blake2b-8".parse().unwrap();
        let refused = Writer::new(WriterOptions::new(Format::Bsd, &[tiny])).err();
        assert_eq!(refused, Some(WriterError::TooShort(tiny)));
    }

    #[test]
    fn an_entry_that_no_reader_could_take_is_refused_and_leaves_nothing_behind() {
        let mut writer = Writer::new(options(Format::Bsd, false, &RUN, &[0, 1])).unwrap();
        let mut out = Vec::new();
        let digests = [digest(Algorithm::Md5, 1), digest(Algorithm::Crc32, 1)];
        for name in ["a", "", "a\0b"] {
            let name = &RelPath::from(name);
            let error = writer
                .write_entry(&mut out, &entry(name, &digests))
                .unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        }
        let nothing = RelPath::from("");
        assert!(
            writer
                .write_gap(&mut out, &nothing, GapKind::Unstable)
                .is_err()
        );
        assert!(out.is_empty());
    }

    #[test]
    fn a_gap_comes_back_from_every_format_that_is_said_to_carry_gaps_and_from_no_other() {
        for format in Format::all().filter(|format| format.info().writable) {
            let algorithm = match format {
                Format::Sfv => Algorithm::Crc32,
                Format::Mhl => Algorithm::C4,
                _ => Algorithm::Sha256,
            };
            let mut writer = Writer::new(WriterOptions::new(format, &[algorithm])).unwrap();
            let mut out = Vec::new();
            let (name, listed) = (RelPath::from("data/gone"), RelPath::from("data/there"));
            writer
                .write_entry(&mut out, &entry(&listed, &[digest(algorithm, 1)]))
                .unwrap();
            writer
                .write_gap(&mut out, &name, GapKind::Unreadable)
                .unwrap();
            writer.finish(&mut out).unwrap();
            let hints = Hints {
                algorithm: Some(algorithm),
                format: Some(format),
                list_name: None,
            };
            let mut records = Reader::new(&out[..], &hints).unwrap();
            let is_gap = |content| matches!(content, Content::Gap { name: gap, .. } if gap == name);
            let told = records.any(|record| is_gap(record.unwrap().content));
            assert_eq!(told, format.info().carries.gaps, "{format}");
        }
    }

    fn any_algorithm() -> impl Strategy<Value = Algorithm> {
        let lengths = (32_u16..=512)
            .step_by(8)
            .filter_map(|bits| format!("blake2b-{bits}").parse().ok());
        prop::sample::select(Algorithm::all().chain(lengths).collect::<Vec<_>>())
    }

    fn any_name() -> impl Strategy<Value = RelPath> {
        let byte = prop_oneof![
            3 => 1_u8..=255,
            2 => prop::sample::select(b"\n\r\\ \t*()=#;/-".to_vec()),
        ];
        prop::collection::vec(byte, 1..24).prop_map(RelPath::from_bytes)
    }

    #[derive(Debug, Clone)]
    enum Item {
        Entry(RelPath, u8),
        Gap(RelPath, GapKind),
    }

    fn any_item() -> impl Strategy<Value = Item> {
        let kind = prop::sample::select(vec![GapKind::Unreadable, GapKind::Unstable]);
        prop_oneof![
            4 => (any_name(), any::<u8>()).prop_map(|(name, seed)| Item::Entry(name, seed)),
            1 => (any_name(), kind).prop_map(|(name, kind)| Item::Gap(name, kind)),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            items in prop::collection::vec(any_item(), 1..12),
            algorithms in prop::collection::vec(any_algorithm(), 1..4),
            format in prop::sample::select(vec![Format::Gnu, Format::GnuZero, Format::Bsd]),
            zero in any::<bool>(),
            base64 in any::<bool>(),
            asked_format in any::<bool>(),
        ) {
            // Without padding, base64 is told from a word only in the two lengths that are common.
            let length = algorithms[0].digest_len_bytes();
            let told = length % 3 != 0 || length == 24 || length == 48;
            let base64 = base64 && (told || format == Format::Bsd);
            let count = if format == Format::Bsd { algorithms.len() } else { 1 };
            let carried: Vec<usize> = (0..count).collect();
            let options = WriterOptions {
                base64,
                ..options(format, zero, &algorithms, &carried)
            };
            let mut writer = Writer::new(options).unwrap();
            let (mut out, mut expected) = (Vec::new(), Vec::new());
            for item in items {
                match item {
                    Item::Entry(name, seed) => {
                        let digests: Vec<_> = algorithms.iter().map(|a| digest(*a, seed)).collect();
                        writer.write_entry(&mut out, &entry(&name, &digests)).unwrap();
                        expected.extend(digests[..count].iter().map(|digest| {
                            let known = ClaimedDigest::Known(*digest);
                            Content::Claim(Claim::new(name.clone(), known))
                        }));
                    }
                    Item::Gap(name, kind) => {
                        writer.write_gap(&mut out, &name, kind).unwrap();
                        expected.push(Content::Gap { name, kind });
                    }
                }
            }
            writer.finish(&mut out).unwrap();
            let as_read = if zero && format == Format::Gnu { Format::GnuZero } else { format };
            let hints = Hints {
                algorithm: (format != Format::Bsd).then_some(algorithms[0]),
                format: asked_format.then_some(as_read),
                list_name: None,
            };
            let reader = Reader::new(&out[..], &hints).unwrap();
            let literal = |content| match content {
                Content::Claim(claim) => Content::Claim(Claim { other_name: None, ..claim }),
                other => other,
            };
            let read: Vec<_> = reader.map(|record| literal(record.unwrap().content)).collect();
            prop_assert_eq!(read, expected, "{:?}", String::from_utf8_lossy(&out));
        }
    }
}
