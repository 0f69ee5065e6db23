//! The lines of `manifest-ALG.txt` and `tagmanifest-ALG.txt`.

use std::path::Path;

use super::super::decoder::{self, Context, Records};
use super::super::detect::Sample;
use super::super::evidence::{self, AlgorithmEvidence, AlgorithmSource};
use super::super::lines::skip_blanks;
use super::super::{Claim, ClaimedDigest, Content, Malformed, Remark};
use super::name::Spelling;
use super::{Version, text};
use crate::algorithm::Algorithm;
use crate::hex;

/// What the name of a manifest says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestName {
    /// Whether it lists the tag files and not the payload.
    pub of_tags: bool,
    /// The word for its algorithm: `sha512`.
    pub word: String,
}

impl ManifestName {
    /// Reads a file name; `None` if it is not that of a manifest.
    ///
    /// # Examples
    ///
    /// ```
    /// use multisum::manifest::bagit::ManifestName;
    /// let name = ManifestName::of(b"tagmanifest-sha512.txt").ok_or("name")?;
    /// assert!(name.of_tags);
    /// assert_eq!(name.word, "sha512");
    /// assert_eq!(ManifestName::of(b"bag-info.txt"), None);
    /// # Ok::<(), &str>(())
    /// ```
    pub fn of(file_name: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(file_name).ok()?;
        let (of_tags, rest) = match text.strip_prefix("tag") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let word = rest.strip_prefix("manifest-")?.strip_suffix(".txt")?;
        (!word.is_empty()).then(|| Self {
            of_tags,
            word: word.to_owned(),
        })
    }
}

/// An algorithm as the names of manifests spell it: in lower case, letters and digits only. `None` if
/// no manifest can be of it, since nobody would be led back to it by the name.
pub fn algorithm_word(algorithm: Algorithm) -> Option<String> {
    let mut word = algorithm.to_string();
    word.retain(|letter| letter.is_ascii_alphanumeric());
    let name = format!("manifest-{word}.txt");
    let named = evidence::from_list_name(Path::new(&name))?.to_write();
    // POSIX checksums are written in decimal, which no bag holds.
    (named == Some(algorithm) && algorithm != Algorithm::Cksum).then_some(word)
}

/// A line of a manifest, cut in three.
#[derive(Debug, PartialEq, Eq)]
struct Cut<'a> {
    digits: &'a [u8],
    /// Whether `md5sum -b` seems to have written it.
    starred: bool,
    path: &'a [u8],
}

/// Fewer digits than the shortest checksum make a word of prose: `add`, `face`.
const MIN_DIGITS: usize = evidence::MIN_DIGEST_BITS as usize / 4;

fn cut(line: &[u8]) -> Option<Cut<'_>> {
    let end = line.iter().position(|byte| matches!(byte, b' ' | b'\t'))?;
    let (digits, rest) = line.split_at(end);
    let is_digest = !digits.is_empty() && hex::is_hex(digits);
    let unstarred = rest.strip_prefix(b" *").filter(|path| !path.is_empty());
    is_digest.then(|| Cut {
        digits,
        starred: unstarred.is_some(),
        path: unstarred.unwrap_or_else(|| skip_blanks(rest)),
    })
}

/// One entry of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its path.
    pub spelling: Spelling,
    /// Its digest; `None` if the user asked for another algorithm.
    pub digest: Option<ClaimedDigest>,
    /// What is tolerated.
    pub remarks: Vec<Remark>,
}

/// Reads all of a manifest whose version is known: each line with its number.
///
/// `asked` is the only algorithm that the user wants to compare. Empty lines are left out; there are
/// no comments in a bag.
pub fn read_manifest(
    text: &[u8],
    manifest: &ManifestName,
    version: Version,
    asked: Option<Algorithm>,
) -> Vec<(u64, Result<Listed, Malformed>)> {
    let whose = Whose::new(manifest);
    let read = |(number, line)| {
        let listed = listed(line, version, |digits| whose.digest(digits, asked));
        (number, listed)
    };
    let lines = text::lines(text).filter(|(_, line)| !text::is_blank(line));
    lines.map(read).collect()
}

/// Whose the digests of a manifest are.
enum Whose<'a> {
    Known(AlgorithmEvidence),
    Unknown(&'a str),
}

impl<'a> Whose<'a> {
    fn new(manifest: &'a ManifestName) -> Self {
        let path = format!("manifest-{}.txt", manifest.word);
        let list_name = evidence::from_list_name(Path::new(&path));
        match list_name {
            None => Self::Unknown(&manifest.word),
            Some(_) => Self::Known(AlgorithmEvidence {
                asked: None,
                comment: None,
                list_name,
            }),
        }
    }

    fn digest(
        &self,
        digits: &[u8],
        asked: Option<Algorithm>,
    ) -> Result<Option<ClaimedDigest>, Malformed> {
        let claimed = match self {
            Self::Known(evidence) => evidence.untagged(digits)?,
            Self::Unknown(word) => ClaimedDigest::Unsupported((*word).into()),
        };
        let algorithm = match &claimed {
            ClaimedDigest::Known(digest) => Some(digest.algorithm()),
            ClaimedDigest::OneOf { .. } | ClaimedDigest::Unsupported(_) => None,
        };
        Ok((asked.is_none() || asked == algorithm).then_some(claimed))
    }
}

fn listed(
    line: &[u8],
    version: Version,
    digest: impl FnOnce(&[u8]) -> Result<Option<ClaimedDigest>, Malformed>,
) -> Result<Listed, Malformed> {
    let Cut {
        digits,
        starred,
        path,
    } = cut(line).ok_or(Malformed::NoShape)?;
    if path.is_empty() {
        return Err(Malformed::EmptyName);
    }
    if path.contains(&0) {
        return Err(Malformed::NulInName);
    }
    let mut remarks = Vec::new();
    if starred {
        remarks.push(said(
            "the star before the path, which md5sum writes, was left out",
        ));
    }
    if path.starts_with(b"./") {
        remarks.push(said("the path begins with a needless ./"));
    }
    Ok(Listed {
        spelling: Spelling::new(path, version),
        digest: digest(digits)?,
        remarks,
    })
}

fn said(what: &str) -> Remark {
    Remark::Ignored(what.to_owned())
}

/// Whether a line is one of a manifest of a bag, in a list that has the name of one.
pub(in super::super) fn is_entry(line: &[u8], sample: Sample<'_>) -> bool {
    let named = sample.list_name.is_some_and(is_manifest_name);
    // A list with carriage returns alone is one line to whoever cuts at line feeds.
    let first = line.split(|&byte| byte == b'\r').next();
    let is_whole = |cut: Cut<'_>| cut.digits.len() >= MIN_DIGITS && !cut.path.is_empty();
    named && first.and_then(cut).is_some_and(is_whole)
}

/// Whether a list has the name of a manifest of a bag, with an algorithm that is known.
pub(in super::super) fn is_manifest_name(list: &Path) -> bool {
    let name = list.file_name().map(std::ffi::OsStr::as_encoded_bytes);
    name.and_then(ManifestName::of).is_some() && evidence::from_list_name(list).is_some()
}

/// A manifest that is read alone.
#[derive(Debug)]
struct Alone {
    algorithms: AlgorithmEvidence,
    /// Carriage returns that ended a line where no line feed did.
    lone_returns: u64,
}

/// The grammar of a manifest without its bag.
pub(in super::super) fn grammar(context: &Context) -> Box<dyn decoder::Grammar> {
    Box::new(Alone {
        algorithms: context.algorithms,
        lone_returns: 0,
    })
}

impl decoder::Grammar for Alone {
    fn line(&mut self, number: u64, text: &[u8], records: &mut Records) {
        for (index, line) in text.split(|&byte| byte == b'\r').enumerate() {
            if index > 0 {
                self.lone_returns += 1;
            }
            if !text::is_blank(line) {
                self.entry(number + self.lone_returns, line, records);
            }
        }
    }

    fn unusable(&mut self, number: u64, reason: Malformed, records: &mut Records) {
        records.push(number + self.lone_returns, Content::Malformed(reason));
    }

    fn algorithm_source(&self) -> AlgorithmSource {
        self.algorithms.source()
    }
}

impl Alone {
    fn entry(&self, number: u64, line: &[u8], records: &mut Records) {
        let digest = |digits: &[u8]| self.algorithms.untagged(digits).map(Some);
        let listed = match listed(line, Version::V1_0, digest) {
            Ok(listed) => listed,
            Err(reason) => return records.push(number, Content::Malformed(reason)),
        };
        for remark in listed.remarks {
            records.remark(number, remark);
        }
        let claim = Claim {
            digests: listed.digest.into_iter().collect(),
            other_name: listed.spelling.literal,
            ..Claim::bare(listed.spelling.name)
        };
        records.push(number, Content::Claim(claim));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;
    use crate::manifest::{
        Entry, Format, Hints, Reader, Record, Writer, WriterError, WriterOptions,
    };
    use crate::relpath::RelPath;
    use proptest::prelude::*;

    const MD5: &str = "9dd4e461268c8034f5c8564e155c67a6";

    fn records(list: &[u8], name: &str) -> (Format, Vec<Record>) {
        let hints = Hints {
            list_name: Some(name.into()),
            ..Hints::default()
        };
        let reader = Reader::new(list, &hints).unwrap();
        let format = reader.format();
        (format, reader.map(Result::unwrap).collect())
    }

    fn shown(list: &str, name: &str) -> (Format, Vec<String>) {
        let (format, records) = records(list.replace("MD5!", MD5).as_bytes(), name);
        let shown = |record: &Record| match &record.content {
            Content::Claim(claim) => format!("{}:{}", record.line, claim.name),
            Content::Malformed(reason) => format!("{}!{reason:?}", record.line),
            Content::Remark(_) => format!("{}?", record.line),
            other => panic!("{other:?}"),
        };
        (format, records.iter().map(shown).collect())
    }

    #[test]
    fn the_name_of_the_list_makes_it_bagit() {
        let list = "MD5!  data/a\nMD5! data/%0Ab  c\nMD5!\tdata/d\n";
        let lines = ["1:data/a", "2:data/\\nb  c", "3:data/d"].map(str::to_owned);
        for name in ["manifest-md5.txt", "x/tagmanifest-md5.txt"] {
            assert_eq!(shown(list, name), (Format::Bagit, lines.to_vec()));
        }
        for name in [
            "manifest.txt",
            "my-manifest-md5.txt",
            "manifest-xyz.txt",
            "MD5SUMS",
        ] {
            assert_eq!(shown("MD5!  data/a\n", name).0, Format::Gnu, "{name}");
        }
    }

    #[test]
    fn a_list_of_coreutils_that_has_the_name_stays_one() {
        let list = "\\MD5!  data/a\\nb\n";
        assert_eq!(shown(list, "manifest-md5.txt").0, Format::Gnu);
        assert_eq!(shown("MD5 (a) = MD5!\n", "manifest-md5.txt").0, Format::Bsd);
    }

    #[test]
    fn carriage_returns_alone_end_lines() {
        let (format, lines) = shown("MD5!  data/a\rMD5!  data/b\r", "manifest-md5.txt");
        assert_eq!(format, Format::Bagit);
        assert_eq!(lines, ["1:data/a", "2:data/b"]);
        let mixed = "MD5!  data/a\rMD5!  data/b\nMD5!  data/c\r\nMD5!  data/d";
        let (_, lines) = shown(mixed, "manifest-md5.txt");
        assert_eq!(lines, ["1:data/a", "2:data/b", "3:data/c", "4:data/d"]);
    }

    #[test]
    fn star_and_dot_are_tolerated_and_said() {
        let (_, lines) = shown(
            "MD5! *data/a\nMD5!  ./data/b\nMD5!  *c\n",
            "manifest-md5.txt",
        );
        assert_eq!(lines, ["1?", "1:data/a", "2?", "2:./data/b", "3:*c"]);
    }

    #[test]
    fn what_is_no_entry_is_malformed() {
        let (_, lines) = shown(
            "MD5!  data/a\nMD5! \nhello\n\nMD5\n9dd4  data/b\n",
            "manifest-md5.txt",
        );
        assert_eq!(lines.len(), 5);
        assert!(
            lines[1..].iter().all(|line| line.contains('!')),
            "{lines:?}"
        );
    }

    #[test]
    fn an_algorithm_that_is_not_known_is_not_dropped() {
        let name = ManifestName::of(b"manifest-gost.txt").unwrap();
        let read = read_manifest(b"00ff data/a", &name, Version::V1_0, None);
        let digest = read[0].1.as_ref().unwrap().digest.clone();
        assert_eq!(digest, Some(ClaimedDigest::Unsupported("gost".into())));
    }

    #[test]
    fn a_comment_is_no_entry() {
        let list = "MD5!  data/a\n#MD5!  data/b\n# text\n";
        let (_, lines) = shown(list, "manifest-md5.txt");
        assert_eq!(lines, ["1:data/a", "2!NoShape", "3!NoShape"]);
        let name = ManifestName::of(b"manifest-md5.txt").unwrap();
        let read = read_manifest(b"#x\n\n \n", &name, Version::V1_0, None);
        assert_eq!(read, [(1, Err(Malformed::NoShape))]);
    }

    #[test]
    fn whatever_has_a_word_is_led_back_to_by_it() {
        for algorithm in Algorithm::all().filter(|a| *a != Algorithm::Cksum) {
            let word = algorithm_word(algorithm).unwrap();
            let name = format!("manifest-{word}.txt");
            let named = evidence::from_list_name(Path::new(&name));
            assert_eq!(
                named.and_then(evidence::NamedAlgorithm::to_write),
                Some(algorithm),
                "{name}"
            );
        }
    }

    #[test]
    fn a_manifest_that_nobody_can_read_is_not_written() {
        for spelling in ["cksum", "blake2b-256", "blake2b-160"] {
            let algorithm: Algorithm = spelling.parse().unwrap();
            assert_eq!(algorithm_word(algorithm), None, "{spelling}");
            let options = WriterOptions::new(Format::Bagit, &[algorithm]);
            assert!(
                matches!(
                    Writer::new(options),
                    Err(WriterError::NotCarried { algorithm: refused, .. }) if refused == algorithm
                ),
                "{spelling}"
            );
        }
    }

    fn any_name() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            4 => any::<char>().prop_map(|letter| letter.to_string().into_bytes()),
            3 => prop::sample::select(vec!["%", "%0A", "%25", "\n", "\r", " ", "*", "./", "data/"])
                .prop_map(|piece| piece.as_bytes().to_vec()),
            1 => (1_u8..=255).prop_map(|byte| vec![byte]),
        ];
        prop::collection::vec(piece, 1..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back_or_refused_by_name(
            names in prop::collection::vec(any_name(), 1..8),
            seed in any::<u8>(),
        ) {
            let mut writer = Writer::new(WriterOptions::new(Format::Bagit, &[Algorithm::Md5])).unwrap();
            let digest = Digest::new(Algorithm::Md5, &[seed; 16]).unwrap();
            let (mut out, mut expected) = (Vec::new(), Vec::new());
            for name in names {
                let name = RelPath::from_bytes(name);
                let entry = Entry { name: &name, digests: &[digest], size: None, modified: None };
                let refusable = std::str::from_utf8(name.as_bytes()).is_err()
                    || name.as_bytes().contains(&0)
                    || name.as_bytes().starts_with(b" ") || name.as_bytes().starts_with(b"\t");
                let before = out.len();
                match writer.write_entry(&mut out, &entry) {
                    Ok(()) => {
                        prop_assert!(!refusable);
                        expected.push(name);
                    }
                    Err(error) => {
                        prop_assert!(refusable, "{error}");
                        prop_assert!(error.to_string().contains(&name.to_string()));
                        prop_assert_eq!(out.len(), before);
                    }
                }
            }
            let hints = Hints {
                list_name: Some("manifest-md5.txt".into()),
                format: Some(Format::Bagit),
                ..Hints::default()
            };
            let mut read = Vec::new();
            for record in Reader::new(&out[..], &hints).unwrap() {
                match record.unwrap().content {
                    Content::Claim(claim) => {
                        prop_assert_eq!(&claim.digests, &[ClaimedDigest::Known(digest)]);
                        read.push(claim.name);
                    }
                    Content::Remark(_) => {}
                    other => prop_assert!(false, "{:?}", other),
                }
            }
            prop_assert_eq!(read, expected);
        }

        #[test]
        fn any_text_is_read_to_its_end(
            pieces in prop::collection::vec(
                prop_oneof![
                    Just(MD5.as_bytes().to_vec()),
                    prop::sample::select(vec![" ", "  ", "*", "./", "data/", "%0", "A", "\r", "\n", "#", ":", "- "])
                        .prop_map(|piece| piece.as_bytes().to_vec()),
                    prop::collection::vec(any::<u8>(), 0..4),
                ],
                0..40,
            ),
        ) {
            let text = pieces.concat();
            let hints = Hints { format: Some(Format::Bagit), ..Hints::default() };
            if let Ok(reader) = Reader::new(&text[..], &hints) {
                let numbers: Vec<u64> = reader.map(|record| record.unwrap().line).collect();
                prop_assert!(numbers.is_sorted());
            }
            let name = ManifestName::of(b"manifest-md5.txt").unwrap();
            let lines = read_manifest(&text, &name, Version::V1_0, None);
            prop_assert!(lines.is_sorted_by_key(|(number, _)| *number));
            super::super::read_fetch(&text, Version::V1_0);
            super::super::read_info(&text, Version::V1_0);
            super::super::read_declaration(&text);
        }
    }
}
