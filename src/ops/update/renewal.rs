//! Whether and how a manifest can be written again so that nothing but comments is lost.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use crate::algorithm::Algorithm;
use crate::error::{Error, FileError, Operation};
use crate::event::{Event, Sink, Unverified};
use crate::manifest::{
    AlgorithmSource, Encoding, Format, Header, Kind, Terminator, Writer, WriterError,
    WriterOptions, candidates, output_hint,
};
use crate::relpath::RelPath;
use crate::timestamp::Timestamp;

use super::super::{Item, Loss, ManifestFile, Survey};
use super::Ledger;
use super::order::WalkOrder;

/// Why a manifest cannot be brought up to date.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenewalError {
    /// It is incomplete, was altered, or holds lines that cannot be used.
    #[error(
        "it is damaged, and a damaged manifest is not written anew; restore it, or make another with \
         'multisum hash'; nothing was written"
    )]
    Damaged,
    /// Its lines contradict each other.
    #[error("{name}: {reason}; correct that first; nothing was written")]
    Contradicted {
        /// What they are about.
        name: RelPath,
        /// In what.
        reason: Unverified,
    },
    /// It cannot be replaced, or not be read twice.
    #[error("only a regular file can be brought up to date; save the manifest to one first")]
    NoRegularFile,
    /// It holds no digest.
    #[error("it holds no digest that says what to compute; make it with 'multisum hash'")]
    NoDigest,
    /// Its signature would not be of what is written.
    #[error(
        "it carries a {0} signature, which an update would break; 'multisum convert' gives a \
         manifest without it, to be updated and signed again"
    )]
    Signed(&'static str),
    /// It is stored in a way that nothing is written in.
    #[error("it is stored as {0}; 'multisum convert' gives a manifest that can be updated")]
    Stored(&'static str),
    /// Its format is only read.
    #[error(
        "format {0} can be read but not written; 'multisum convert' gives a manifest that can be \
         updated"
    )]
    NotWritable(Format),
    /// It describes the payload of a bag.
    #[error(
        "it belongs to a bag, whose manifests change together; take the files out of the bag and \
         make a new one with 'multisum hash --bag FOLDER'"
    )]
    Bag,
    /// It is a generation of a history.
    #[error(
        "it belongs to a media hash list history, whose generations are never changed; 'multisum \
         hash --mhl FOLDER' adds one"
    )]
    History,
    /// Nothing says which of several algorithms made the digests.
    #[error("its digests may be of several algorithms; -a says which")]
    UncertainAlgorithm,
    /// The manifest would no longer be read with the right algorithm.
    #[error(
        "nothing in {} would say that the digests are {algorithm}; choose a format that does with \
         'multisum convert'",
        crate::quote::Quoted::path(.target)
    )]
    Unsaid {
        /// The algorithm.
        algorithm: Algorithm,
        /// The manifest to be written.
        target: std::path::PathBuf,
    },
    /// Every digest says its algorithm.
    #[error("its entries say which algorithms they are of; -a is for lists that do not")]
    AlgorithmAsked,
    /// Something that would be lost.
    #[error("an update would lose {0}")]
    Loses(Loss),
    /// It holds something that no entry here has.
    #[error(
        "it says more than multisum writes in format {0}, or in another way, and an update would \
         lose that; 'multisum convert' gives a manifest that can be updated"
    )]
    Foreign(Format),
    /// The format cannot carry all of the algorithms.
    #[error(transparent)]
    Writer(#[from] WriterError),
    /// It cannot be read.
    #[error(transparent)]
    Run(#[from] Error),
}

/// How a manifest is written again.
#[derive(Clone, Debug)]
pub struct Renewal {
    /// The format.
    pub format: Format,
    /// The algorithms of every entry, in the order in which they stand.
    pub algorithms: Vec<Algorithm>,
    zero: bool,
    base64: bool,
}

impl Renewal {
    /// Finds out how to write `manifest` again at `target`. `asked` is the algorithm that the user
    /// named, if any.
    ///
    /// # Errors
    ///
    /// It must not be written again, or would lose something.
    pub fn of(
        manifest: &ManifestFile,
        survey: &Survey,
        asked: Option<Algorithm>,
        target: &Path,
    ) -> Result<Self, RenewalError> {
        let evidence = &survey.evidence;
        let format = evidence.format;
        refuse_format(format)?;
        if asked.is_some() && format.names_algorithms() {
            return Err(RenewalError::AlgorithmAsked);
        }
        if let Some(signature) = evidence.signed {
            return Err(RenewalError::Signed(signature));
        }
        if evidence.compressed {
            return Err(RenewalError::Stored("gzip"));
        }
        if evidence.encoding != Encoding::Bytes {
            return Err(RenewalError::Stored("UTF-16"));
        }
        if survey.spoiled || survey.malformed > 0 {
            return Err(RenewalError::Damaged);
        }
        refuse_contradictions(manifest, survey)?;
        if let Some((algorithm, entries)) = survey.unsupported.first_key_value() {
            return Err(RenewalError::Loses(Loss::Digests {
                algorithm: algorithm.to_string(),
                reason: "unknown to multisum".to_owned(),
                entries: *entries,
            }));
        }
        let announced = survey.header.as_ref().map(|header| &header.algorithms);
        let mut algorithms = announced.cloned().unwrap_or_default();
        let more = survey.met.iter().filter(|met| !algorithms.contains(met));
        algorithms.extend(more.copied().collect::<Vec<_>>());
        if algorithms.is_empty() {
            return Err(RenewalError::NoDigest);
        }
        let plain = matches!(format, Format::Gnu | Format::Bsd);
        let renewal = Self {
            format,
            algorithms,
            zero: evidence.terminator == Terminator::Nul && plain,
            base64: plain && starts_in_base64(manifest, evidence.terminator)?,
        };
        renewal.writer(Header::default())?;
        renewal.refuse_unsaid(survey, target)?;
        renewal.refuse_foreign(manifest, survey)?;
        Ok(renewal)
    }

    /// A writer for the new manifest, which says `header` of itself where it can.
    ///
    /// # Errors
    ///
    /// The format cannot carry the algorithms.
    pub fn writer(&self, header: Header) -> Result<Writer, WriterError> {
        Writer::new(WriterOptions {
            zero: self.zero,
            base64: self.base64,
            partial: self.format.entries_may_differ(),
            header,
            ..WriterOptions::new(self.format, &self.algorithms)
        })
    }

    /// Refuses if lines that do not say their algorithm would be taken for those of another one.
    fn refuse_unsaid(&self, survey: &Survey, target: &Path) -> Result<(), RenewalError> {
        let [algorithm] = self.algorithms[..] else {
            return Ok(());
        };
        if !matches!(self.format, Format::Gnu | Format::GnuZero) {
            return Ok(());
        }
        let possible = candidates(algorithm.digest_len_bytes() * 2);
        let source = survey.evidence.algorithm;
        if source == AlgorithmSource::Length && possible != [algorithm] {
            return Err(RenewalError::UncertainAlgorithm);
        }
        let by_name = matches!(
            source,
            AlgorithmSource::ListName(_) | AlgorithmSource::Asked(_)
        );
        let said = output_hint(target).algorithm;
        let is_said = said.map_or(possible.first() == Some(&algorithm), |said| {
            said == algorithm
        });
        if by_name || is_said {
            return Ok(());
        }
        Err(RenewalError::Unsaid {
            algorithm,
            target: target.to_owned(),
        })
    }

    /// Refuses a manifest that does not come out again line by line, in formats whose entries can
    /// hold more than is read.
    fn refuse_foreign(&self, manifest: &ManifestFile, survey: &Survey) -> Result<(), RenewalError> {
        let whole = [
            Format::Jsonl,
            Format::Gnu,
            Format::GnuZero,
            Format::Bsd,
            Format::Sfv,
            Format::Hashdeep,
        ];
        if whole.contains(&self.format) {
            return Ok(());
        }
        let mut stored = Lines::new(self.format);
        let failed = |error| {
            let path = manifest.path().unwrap_or(Path::new("-"));
            Error::from(FileError::new(Operation::Read, path, error))
        };
        let mut bytes = BufReader::new(manifest.bytes()?);
        loop {
            let block = bytes.fill_buf().map_err(failed)?;
            if block.is_empty() {
                break;
            }
            stored.take(block);
            let taken = block.len();
            bytes.consume(taken);
        }
        let mut written = Lines::new(self.format);
        let mut writer = self.writer(Header::default())?;
        for item in manifest.items(survey)? {
            let item = item?;
            if copy(&item, &mut writer, &mut written).is_err() {
                return Err(RenewalError::Foreign(self.format));
            }
        }
        let ended = writer.finish(&mut written).is_ok();
        match ended && stored.finish() == written.finish() {
            true => Ok(()),
            false => Err(RenewalError::Foreign(self.format)),
        }
    }
}

fn refuse_format(format: Format) -> Result<(), RenewalError> {
    match format {
        Format::Bagit => Err(RenewalError::Bag),
        Format::Mhl => Err(RenewalError::History),
        _ if !format.info().writable => Err(RenewalError::NotWritable(format)),
        _ => Ok(()),
    }
}

/// Refuses a manifest of which some lines must be wrong: what is read now would hide which.
fn refuse_contradictions(manifest: &ManifestFile, survey: &Survey) -> Result<(), RenewalError> {
    if survey.names_stand_once() {
        return Ok(());
    }
    for item in manifest.items(survey)? {
        let Item { name, trouble, .. } = item?;
        if let Some(reason @ (Unverified::Contradiction(_) | Unverified::ContradictoryField(_))) =
            trouble
        {
            return Err(RenewalError::Contradicted { name, reason });
        }
    }
    Ok(())
}

fn copy(item: &Item, writer: &mut Writer, out: &mut Lines) -> io::Result<()> {
    if let Some(kind) = item.gap {
        writer.write_gap(out, &item.name, kind)?;
    }
    // Folders are written by whoever needs them on the way to files.
    if item.kind == Kind::File && !item.digests.is_empty() {
        writer.write_entry(out, &item.entry())?;
    }
    Ok(())
}

/// Lines with what they say, whatever their order; comments, blank lines and the heading of a
/// document do not count.
#[derive(Debug)]
struct Lines {
    /// Before this everything is heading.
    begins: Option<&'static [u8]>,
    partial: Vec<u8>,
    /// A sum, so that the order of the lines does not matter.
    sum: u64,
    count: u64,
}

impl Lines {
    fn new(format: Format) -> Self {
        let begins: Option<&[u8]> = match format {
            Format::Dfxml => Some(b"<fileobject"),
            _ => None,
        };
        Self {
            begins,
            partial: Vec::new(),
            sum: 0,
            count: 0,
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.partial);
        let text = line.trim_ascii();
        let text = text.strip_suffix(b",").unwrap_or(text);
        if let Some(begins) = self.begins {
            if !text.starts_with(begins) {
                return;
            }
            self.begins = None;
        }
        if text.is_empty() || text.starts_with(b"#") {
            return;
        }
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        self.sum = self.sum.wrapping_add(hasher.finish());
        self.count += 1;
    }

    fn finish(mut self) -> (u64, u64) {
        self.end_line();
        (self.sum, self.count)
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.take(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How much of a list is looked at to see how digests are spelled.
const SAMPLE_LEN_BYTES: u64 = 64 * 1024;

/// Whether the first digest of a list stands there in base64.
fn starts_in_base64(manifest: &ManifestFile, terminator: Terminator) -> Result<bool, Error> {
    let mut sample = Vec::new();
    let read = manifest
        .bytes()?
        .take(SAMPLE_LEN_BYTES)
        .read_to_end(&mut sample);
    read.map_err(|error| {
        FileError::new(
            Operation::Read,
            manifest.path().unwrap_or(Path::new("-")),
            error,
        )
    })?;
    let end = match terminator {
        Terminator::Nul => 0,
        Terminator::Line => b'\n',
    };
    let mut lines = sample.split(|byte| *byte == end).map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"#"));
    Ok(first.is_some_and(|line| !is_hexadecimal(digest_in(line))))
}

/// The digest of a tagged line, behind its last `= `, or of an untagged one, before its first blank.
fn digest_in(line: &[u8]) -> &[u8] {
    let tagged = line.windows(2).rposition(|pair| pair == b"= ");
    let is_tagged = line.contains(&b'(') && tagged.is_some();
    if let Some(at) = tagged.filter(|_| is_tagged)
        && !line[at + 2..].contains(&b' ')
    {
        return &line[at + 2..];
    }
    let line = line.strip_prefix(b"\\").unwrap_or(line);
    line.split(|byte| *byte == b' ').next().unwrap_or_default()
}

fn is_hexadecimal(digits: &[u8]) -> bool {
    digits.iter().all(u8::is_ascii_hexdigit)
}

/// The moment of which everything in a manifest is true: when the run that wrote it began, as far as
/// that can be told. What was written to a file since then may not be in it.
///
/// That is the earliest of three: what it records; when it was last written to; and when its file
/// came to be, which a run that takes hours does at its beginning. `None` if nothing tells.
pub fn recorded_at(manifest: &ManifestFile, survey: &Survey) -> Option<Timestamp> {
    let metadata = manifest.file()?.metadata().ok()?;
    let written = metadata.modified().ok().and_then(Timestamp::from_system)?;
    // File systems that do not know it may give the beginning of their count.
    let born = metadata.created().ok().and_then(Timestamp::from_system);
    let born = born.filter(|born| born.seconds() > 0);
    let said = survey.header.as_ref().and_then(|header| header.created);
    let others = [born, said].into_iter().flatten();
    Some(others.fold(written, Timestamp::min))
}

/// Copies a manifest that was just written, in its order, without some names.
///
/// # Errors
///
/// It cannot be read, is not what was written, or `ledger` refuses an entry.
pub fn without(
    manifest: &ManifestFile,
    names: &BTreeSet<RelPath>,
    order: &WalkOrder,
    ledger: &mut dyn Ledger,
) -> Result<(), Error> {
    let survey = manifest.survey(&mut Deaf)?;
    if survey.malformed > 0 {
        let path = manifest.path().unwrap_or(Path::new("-"));
        let error = io::Error::other("it is not what was written");
        return Err(FileError::new(Operation::Read, path, error).into());
    }
    for item in order.arrange(manifest.items(&survey)?)? {
        let item = item?;
        if names.contains(&item.name) || item.kind != Kind::File {
            continue;
        }
        if let Some(kind) = item.gap {
            ledger.gap(&item.name, kind).map_err(Error::Output)?;
        }
        if !item.digests.is_empty() {
            ledger.entry(&item.entry()).map_err(Error::Output)?;
        }
    }
    Ok(())
}

/// Hears nothing: everything was told when the lines were first met.
struct Deaf;

impl Sink for Deaf {
    fn event(&mut self, _event: Event<'_>) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Hints;

    fn renewal(text: &str, name: &str) -> Result<Renewal, RenewalError> {
        let hints = Hints {
            list_name: Some(name.into()),
            ..Hints::default()
        };
        let manifest = ManifestFile::of_bytes(RelPath::from(name), text.as_bytes().to_vec(), hints);
        let survey = manifest.survey(&mut Deaf).unwrap();
        Renewal::of(&manifest, &survey, None, Path::new(name))
    }

    fn refused(text: &str, name: &str) -> String {
        renewal(text, name).unwrap_err().to_string()
    }

    const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";
    const SHA1: &str = "a9993e364706816aba3e25717850c26c9cd0d89d";

    #[test]
    fn several_algorithms_keep_the_order_in_which_they_stand() {
        let text = format!("SHA1 (a) = {SHA1}\nMD5 (a) = {MD5}\nMD5 (b) = {MD5}\n");
        let renewal = renewal(&text, "x").unwrap();
        assert_eq!(renewal.algorithms, [Algorithm::Sha1, Algorithm::Md5]);
        assert!(!renewal.base64 && !renewal.zero);
    }

    #[test]
    fn untagged_digests_of_several_algorithms_are_refused() {
        let text = format!("{SHA1}  a\n{MD5}  b\n");
        assert!(refused(&text, "x").contains("exactly one algorithm"));
    }

    #[test]
    fn an_algorithm_that_only_the_length_tells_must_be_the_only_one_of_it() {
        assert!(renewal(&format!("{MD5}  a\n"), "sums").is_ok());
        assert!(refused(&format!("{SHA1}  a\n"), "sums").contains("-a"));
        assert!(renewal(&format!("{SHA1}  a\n"), "x.sha1").is_ok());
        // The comment would be lost.
        let comment = format!("# RIPEMD160 HASH\n{SHA1}  a\n");
        assert!(refused(&comment, "sums").contains("nothing in sums"));
        assert!(renewal(&format!("# SHA1 HASH\n{SHA1}  a\n"), "sums").is_ok());
    }

    #[test]
    fn entries_that_contradict_each_other_are_refused() {
        let other = MD5.replace('9', "8");
        let told = refused(&format!("{MD5}  a\n{other}  a\n"), "MD5SUMS");
        assert!(told.contains("contradictory entries"), "{told}");
        assert!(renewal(&format!("{MD5}  a\n{MD5}  a\n"), "MD5SUMS").is_ok());
    }

    #[test]
    fn base64_stays_base64() {
        let untagged = "kAFQmDzST7DWlj99KOF/cg==  a\n";
        assert!(renewal(untagged, "MD5SUMS").unwrap().base64);
        let tagged = "MD5 (a = b) = kAFQmDzST7DWlj99KOF/cg==\n";
        assert!(renewal(tagged, "x").unwrap().base64);
        assert!(
            !renewal(&format!("MD5 (a = b) = {MD5}\n"), "x")
                .unwrap()
                .base64
        );
    }

    #[test]
    fn what_would_be_lost_or_broken_is_refused() {
        let mtree = format!("#mtree\n./a type=file uid=0 size=3 md5digest={MD5}\n");
        assert!(refused(&mtree, "x.mtree").contains("format mtree"));
        let ours = format!("#mtree\n. type=dir\n./a type=file size=3 md5digest={MD5}\n");
        assert!(renewal(&ours, "x.mtree").is_ok());
        assert!(refused(&format!("{MD5}  a\njunk\n"), "x").contains("damaged"));
        let rhash = format!("a {MD5} {SHA1}\n");
        assert!(renewal(&rhash, "x").is_err());
        assert!(refused(&format!("{MD5}  data/a\n"), "manifest-md5.txt").contains("bag"));
    }
}
