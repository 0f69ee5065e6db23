//! Indexes and descriptions of Debian's archives: `Release`, `InRelease`, `Packages`, `Sources`,
//! `.dsc`, `.changes`, `.buildinfo`.
//!
//! ```text
//! stanza   = 1*(FIELD ":" VALUE *(WSP more of the value))     stanzas have blank lines between them
//! Release  : "MD5Sum:" | "SHA1:" | "SHA256:" | "SHA512:"      rows WSP HEX WSP SIZE WSP PATH
//! Packages : "Filename:" PATH, "Size:" N, "MD5sum:" HEX, "SHA256:" HEX ...
//! .dsc     : "Checksums-Sha256:"                              rows WSP HEX WSP SIZE WSP NAME
//!            "Files:"                                         rows WSP MD5 WSP SIZE [WSP SECTION WSP PRIORITY] WSP NAME
//! ```
//!
//! A file has a row in each section, and each row is a claim of its own. In `Sources` the names of
//! rows lie in the folder that `Directory:` names. Paths of `Packages` and `Sources` start at the root
//! of the archive, those of the others at the folder of the list. Rows in front of every field, as in
//! a piece cut out of a `Release`, are read too. Rows below a field that is not known here are of an
//! algorithm with its name. Source: deb822(5); the Debian policy manual, section 5; the Debian
//! repository format.

use std::collections::HashSet;

use super::decoder::{self, Context, Records};
use super::detect::Sample;
use super::evidence::AlgorithmEvidence;
use super::lines::{decimal, words};
use super::{Claim, ClaimedDigest, Malformed, Remark};
use crate::algorithm::Algorithm;
use crate::hex;
use crate::relpath::RelPath;

/// Reads stanza by stanza.
#[derive(Debug)]
struct Parser {
    algorithms: AlgorithmEvidence,
    section: Section,
    stanza: Stanza,
    /// Rows of algorithms that were not asked for.
    left_out: u64,
}

/// Where the next row belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Section {
    /// No field has begun.
    Outside,
    /// The field of this name, below which no files are looked for. A row there must be of an
    /// algorithm of that name.
    Other(String),
    /// Rows of this algorithm; whether section and priority may stand before the name.
    Rows(String, bool),
}

/// What has been read of a stanza.
#[derive(Debug, Default)]
struct Stanza {
    begun: Option<u64>,
    filename: Option<Vec<u8>>,
    directory: Option<Vec<u8>>,
    size: Option<Vec<u8>>,
    digests: Vec<(String, Vec<u8>)>,
    rows: Vec<(u64, Result<Row, Malformed>)>,
}

/// One file in a section.
#[derive(Debug)]
struct Row {
    name: Vec<u8>,
    size: u64,
    /// `None` if another algorithm was asked for.
    digest: Option<ClaimedDigest>,
}

pub(super) fn grammar(context: &Context) -> Box<dyn decoder::Grammar> {
    Box::new(Parser {
        algorithms: context.algorithms,
        section: Section::Outside,
        stanza: Stanza::default(),
        left_out: 0,
    })
}

/// Whether the text begins with a stanza that lists files.
pub(super) fn begins(sample: Sample<'_>) -> bool {
    let mut rows = false;
    let (mut filename, mut digest) = (false, false);
    let mut fields = 0_u32;
    for line in sample.bytes.split(|&byte| byte == b'\n') {
        let line = line.trim_ascii_end();
        match Line::of(line) {
            Line::Blank if fields == 0 => {}
            Line::Comment => {}
            Line::More if rows && is_entry(line) => return true,
            Line::More if fields > 0 => rows = false,
            Line::Field(name, value) => {
                fields += 1;
                rows = value.is_empty() && !matches!(section(name), Section::Other(_));
                filename |= name.eq_ignore_ascii_case("Filename") && !value.is_empty();
                digest |= single_digest(name).is_some() && !value.is_empty();
                if filename && digest {
                    return true;
                }
            }
            Line::Blank | Line::More | Line::Other => return false,
        }
    }
    false
}

/// Whether a line is a row: a blank, a digest, a size, a name.
pub(super) fn is_entry(line: &[u8]) -> bool {
    let words: Vec<&[u8]> = words(line).collect();
    let is_digest =
        |word: &[u8]| matches!(word.len(), 32 | 40 | 64 | 96 | 128) && hex::is_hex(word);
    line.starts_with(b" ")
        && matches!(words[..], [digest, size, _] | [digest, size, _, _, _]
            if is_digest(digest) && decimal::<u64>(size).is_some())
}

/// Whether a line below a field of any kind is hardly anything but a row.
fn looks_like_row(line: &[u8]) -> bool {
    let is_digest = |word: &[u8]| word.len() >= 32 && hex::is_hex(word);
    let words: Vec<&[u8]> = words(line).collect();
    matches!(words[..], [digest, size, _] | [digest, size, _, _, _]
        if is_digest(digest) && decimal::<u64>(size).is_some())
}

/// The shape of a line.
enum Line<'a> {
    Blank,
    Comment,
    /// It goes on with the field above.
    More,
    Field(&'a str, &'a [u8]),
    Other,
}

impl<'a> Line<'a> {
    fn of(line: &'a [u8]) -> Self {
        match line {
            [] => return Self::Blank,
            [b'#', ..] => return Self::Comment,
            [b' ' | b'\t', ..] if line.trim_ascii().is_empty() => return Self::Blank,
            [b' ' | b'\t', ..] => return Self::More,
            _ => {}
        }
        let Some(colon) = line.iter().position(|&byte| byte == b':') else {
            return Self::Other;
        };
        let name = &line[..colon];
        let fits = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        match std::str::from_utf8(name) {
            Ok(text) if !text.is_empty() && name.iter().all(fits) => {
                Self::Field(text, line[colon + 1..].trim_ascii())
            }
            _ => Self::Other,
        }
    }
}

/// The algorithm of a field that has one digest, or rows of them.
fn single_digest(name: &str) -> Option<&str> {
    if name.eq_ignore_ascii_case("MD5Sum") {
        return Some("MD5");
    }
    name.parse::<Algorithm>().is_ok().then_some(name)
}

/// What the lines below a field are.
fn section(name: &str) -> Section {
    if let Some(algorithm) = single_digest(name) {
        return Section::Rows(algorithm.to_owned(), false);
    }
    if name.eq_ignore_ascii_case("Files") {
        return Section::Rows("MD5".to_owned(), true);
    }
    let (head, algorithm) = name.split_at_checked(10).unwrap_or((name, ""));
    if head.eq_ignore_ascii_case("Checksums-") && !algorithm.is_empty() {
        return Section::Rows(algorithm.to_ascii_uppercase(), false);
    }
    Section::Other(name.to_owned())
}

impl decoder::Grammar for Parser {
    fn line(&mut self, number: u64, text: &[u8], records: &mut Records) {
        match Line::of(text) {
            Line::Blank => self.end_stanza(records),
            Line::Comment => {}
            Line::Field(name, value) => {
                self.stanza.begun.get_or_insert(number);
                self.field(number, name, value);
            }
            Line::More => {
                self.stanza.begun.get_or_insert(number);
                match self.row(text) {
                    Ok(Some(row)) => self.stanza.rows.push((number, Ok(row))),
                    Ok(None) => {}
                    Err(reason) => self.stanza.rows.push((number, Err(reason))),
                }
            }
            Line::Other => {
                self.stanza.begun.get_or_insert(number);
                self.stanza.rows.push((number, Err(Malformed::NoShape)));
            }
        }
        if self.section == Section::Outside {
            // Nothing that is still to come can say more of such a row.
            self.end_stanza(records);
        }
    }

    fn unusable(&mut self, number: u64, reason: Malformed, _records: &mut Records) {
        self.stanza.begun.get_or_insert(number);
        self.stanza.rows.push((number, Err(reason)));
    }

    fn end(&mut self, number: u64, records: &mut Records) {
        self.end_stanza(records);
        if self.left_out > 0 {
            let text = format!("rows of other algorithms passed over: {}", self.left_out);
            records.remark(number, Remark::Ignored(text));
        }
    }
}

impl Parser {
    fn field(&mut self, number: u64, name: &str, value: &[u8]) {
        self.section = section(name);
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        let place = if is("Filename") {
            &mut self.stanza.filename
        } else if is("Directory") {
            &mut self.stanza.directory
        } else if is("Size") {
            &mut self.stanza.size
        } else {
            if !value.is_empty() {
                match single_digest(name) {
                    Some(algorithm) => {
                        let digest = (algorithm.to_owned(), value.to_vec());
                        self.stanza.digests.push(digest);
                    }
                    None if matches!(self.section, Section::Rows(..)) => {
                        self.stanza.rows.push((number, Err(Malformed::NoShape)));
                    }
                    None => {}
                }
            }
            return;
        };
        if place.replace(value.to_vec()).is_some() {
            let reason = Malformed::Rule(format!("the stanza has {name} twice"));
            self.stanza.rows.push((number, Err(reason)));
        }
    }

    /// The file that a line below a field lists, if it lists one.
    fn row(&self, text: &[u8]) -> Result<Option<Row>, Malformed> {
        let words: Vec<&[u8]> = words(text).collect();
        let (algorithm, long) = match &self.section {
            Section::Other(_) if !looks_like_row(text) => return Ok(None),
            Section::Other(name) if name.is_empty() => return Err(Malformed::NoShape),
            Section::Other(name) => (Some(name), true),
            Section::Outside => (None, false),
            Section::Rows(algorithm, long) => (Some(algorithm), *long),
        };
        let (digits, size, name) = match words[..] {
            [digits, size, name] => (digits, size, name),
            [digits, size, _, _, name] if long => (digits, size, name),
            _ => return Err(Malformed::NoShape),
        };
        let digest = match algorithm {
            Some(algorithm) => self.algorithms.named(algorithm, digits)?,
            None => Some(self.algorithms.untagged(digits)?),
        };
        let size = decimal(size).ok_or_else(|| Malformed::bad_field("size", size))?;
        let name = checked(name)?.to_vec();
        Ok(Some(Row { name, size, digest }))
    }

    fn end_stanza(&mut self, records: &mut Records) {
        let mut stanza = std::mem::take(&mut self.stanza);
        let Some(begun) = stanza.begun else { return };
        if self.section != Section::Outside {
            self.section = Section::Other(String::new());
        }
        if stanza.filename.is_some() || !stanza.digests.is_empty() {
            records.push_claim(begun, stanza.package(&self.algorithms));
        }
        let mut told: HashSet<Vec<u8>> = stanza.names_with_digest();
        for (number, row) in stanza.rows {
            // A file without the digest that was asked for must not go unmentioned.
            if let Ok(row) = &row
                && row.digest.is_none()
                && !told.insert(row.name.clone())
            {
                self.left_out += 1;
                continue;
            }
            let claim = row.map(|row| row.claim(stanza.directory.as_deref()));
            records.push_claim(number, claim);
        }
    }
}

impl Stanza {
    /// The files of which a row has a digest to be compared, if there are others.
    fn names_with_digest(&self) -> HashSet<Vec<u8>> {
        let rows = || self.rows.iter().filter_map(|(_, row)| row.as_ref().ok());
        if rows().all(|row| row.digest.is_some()) {
            return HashSet::new();
        }
        rows()
            .filter(|row| row.digest.is_some())
            .map(|row| row.name.clone())
            .collect()
    }

    /// The one file that a stanza of `Packages` describes.
    fn package(&mut self, algorithms: &AlgorithmEvidence) -> Result<Claim, Malformed> {
        let name = self.filename.take().ok_or(Malformed::NoField("Filename"))?;
        let mut claim = Claim::bare(RelPath::from_bytes(checked(&name)?));
        if let Some(size) = &self.size {
            claim.size = Some(decimal(size).ok_or_else(|| Malformed::bad_field("size", size))?);
        }
        for (algorithm, digits) in &self.digests {
            if let Some(digest) = algorithms.named(algorithm, digits)? {
                claim.add_digest(digest)?;
            }
        }
        Ok(claim)
    }
}

impl Row {
    fn claim(self, directory: Option<&[u8]>) -> Claim {
        let name = match directory {
            None | Some(b"" | b".") => self.name,
            Some(directory) => [directory, b"/", &self.name].concat(),
        };
        let mut claim = Claim::bare(RelPath::from_bytes(name));
        claim.digests.extend(self.digest);
        claim.size = Some(self.size);
        claim
    }
}

fn checked(name: &[u8]) -> Result<&[u8], Malformed> {
    match name {
        [] => Err(Malformed::EmptyName),
        name if name.contains(&0) => Err(Malformed::NulInName),
        name => Ok(name),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Content, Format, Hints, Reader};
    use super::*;
    use proptest::prelude::*;

    const MD5: &str = "9dd4e461268c8034f5c8564e155c67a6";
    const SHA1: &str = "11f6ad8ec52a2984abaafd7c3b516503785c2072";
    const SHA256: &str = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";

    fn records(list: &[u8], hints: &Hints) -> Vec<(u64, Content)> {
        let reader = Reader::new(list, hints).unwrap();
        reader
            .map(|record| record.map(|record| (record.line, record.content)).unwrap())
            .collect()
    }

    fn filled(list: &str) -> String {
        list.replace("MD5!", MD5)
            .replace("SHA1!", SHA1)
            .replace("SHA256!", SHA256)
    }

    fn shown_with(list: &str, hints: &Hints) -> Vec<String> {
        let spell = |digest: &ClaimedDigest| match digest {
            ClaimedDigest::Known(digest) => digest.algorithm().to_string(),
            ClaimedDigest::Unsupported(name) => format!("?{name}"),
            ClaimedDigest::OneOf { .. } => "?".to_owned(),
        };
        records(filled(list).as_bytes(), hints)
            .into_iter()
            .map(|(line, content)| match content {
                Content::Claim(claim) => {
                    let digests: Vec<String> = claim.digests.iter().map(spell).collect();
                    let size = claim.size.map_or("-".to_owned(), |size| size.to_string());
                    format!("{line}:{} {size} {}", claim.name, digests.join(" "))
                }
                Content::Malformed(reason) => format!("{line}!{reason}"),
                Content::Remark(remark) => format!("{line}~{remark}"),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    fn asking() -> Hints {
        Hints {
            format: Some(Format::Debian),
            ..Hints::default()
        }
    }

    fn shown(list: &str) -> Vec<String> {
        shown_with(list, &asking())
    }

    const RELEASE: &str = "Origin: Debian\nComponents: main\nMD5Sum:\n MD5!      1 main/x.gz\n \
        MD5! 22 main/y\nSHA256:\n SHA256!      1 main/x.gz\nSigned-By:\n aaaa\n bbbb\n";

    #[test]
    fn rows_of_a_release_belong_to_the_section_above_them() {
        assert_eq!(
            shown(RELEASE),
            [
                "4:main/x.gz 1 md5",
                "5:main/y 22 md5",
                "7:main/x.gz 1 sha256"
            ]
        );
    }

    #[test]
    fn a_stanza_of_packages_is_one_claim() {
        let list = "Package: x\nDepends: y,\n z\nFilename: pool/x.deb\nSize: 1\nMD5sum: MD5!\n\
            SHA256: SHA256!\nDescription: x\n .\n more\n\nPackage: y\nFilename: pool/y.deb\nSize: 2\n\
            SHA1: SHA1!\n\n\nPackage: z\nSHA1: SHA1!\n\nFilename: q\nSize: big\n\nFilename: r\n\
            SHA256: 12\n";
        assert_eq!(
            shown(list),
            [
                "1:pool/x.deb 1 md5 sha256",
                "12:pool/y.deb 2 sha1",
                "18!no Filename",
                "21!bad size: 'big'",
                "24!not a sha256 digest, which has 64 hexadecimal digits"
            ]
        );
    }

    #[test]
    fn sources_name_the_folder_of_their_files_before_or_after_them() {
        let list = "Package: x\nFiles:\n MD5! 1 x.dsc\nChecksums-Sha256:\n SHA256! 1 x.dsc\n\
            Directory: pool/x\n\nDirectory: .\nChecksums-Sha1:\n SHA1! 2 y.dsc\n";
        assert_eq!(
            shown(list),
            [
                "3:pool/x/x.dsc 1 md5",
                "5:pool/x/x.dsc 1 sha256",
                "10:y.dsc 2 sha1"
            ]
        );
    }

    #[test]
    fn changes_have_section_and_priority_before_the_name() {
        let list = "Format: 1.8\nFiles:\n MD5! 1 utils optional x.deb\nChecksums-Sha1:\n SHA1! 1 x.deb\n\
            Checksums-Gost:\n 12ab 1 x.deb\nChecksums-Sha256:\n SHA256! 1 utils optional x.deb\n";
        assert_eq!(
            shown(list),
            [
                "3:x.deb 1 md5",
                "5:x.deb 1 sha1",
                "7:x.deb 1 ?GOST",
                "9!not a checksum line"
            ]
        );
    }

    #[test]
    fn rows_without_a_field_and_faulty_ones_are_told_apart() {
        let list = " SHA256! 1 a\n MD5! 2 b\nSHA256:\n SHA256! x a\n MD5! 1 a\n SHA256! 1\nhello\n\
            Files: MD5! 1 a\n";
        assert_eq!(
            shown(list),
            [
                "1:a 1 ?",
                "2:b 2 md5",
                "4!bad size: 'x'",
                "5!not a sha256 digest, which has 64 hexadecimal digits",
                "6!not a checksum line",
                "7!not a checksum line",
                "8!not a checksum line"
            ]
        );
    }

    #[test]
    fn an_asked_algorithm_leaves_the_rows_of_others_out_and_says_so() {
        let hints = Hints {
            algorithm: Some(Algorithm::Sha256),
            ..asking()
        };
        assert_eq!(
            shown_with(RELEASE, &hints),
            [
                "5:main/y 22 ",
                "7:main/x.gz 1 sha256",
                "10~rows of other algorithms passed over: 1"
            ]
        );
    }

    #[test]
    fn a_file_without_the_asked_digest_is_told_once() {
        let hints = Hints {
            algorithm: Some(Algorithm::Sha512),
            ..asking()
        };
        assert_eq!(
            shown_with(RELEASE, &hints),
            [
                "4:main/x.gz 1 ",
                "5:main/y 22 ",
                "10~rows of other algorithms passed over: 1"
            ]
        );
    }

    #[test]
    fn rows_below_an_unknown_field_are_no_mere_text() {
        let list = "SHA3-256:\n SHA256! 1 a\nSHA3-257:\n SHA256! 1 b\n SHA256! big c\nBLAKE2b:\n 12 1 d\n\
            Signed-By:\n SHA1!\nPackage-List:\n x deb utils optional arch=all\n";
        assert_eq!(
            shown(list),
            [
                "2:a 1 sha3-256",
                "4:b 1 ?SHA3-257",
                "7!not a blake2b digest, which has 128 hexadecimal digits"
            ]
        );
        assert_eq!(shown("X: y\n\n SHA256! 1 a\n"), ["3!not a checksum line"]);
        assert_eq!(
            shown(
                "Filename: a\nSize: 1\nSHA3-256: SHA256!\nBuild-Ids: SHA1!\nDescription-md5: MD5!\n"
            ),
            ["1:a 1 sha3-256"]
        );
        let twice = "Filename: a\nSHA1: SHA1!\nSHA-1: 00000000000000000000000000000000000000ff\n";
        assert_eq!(shown(twice), ["1!two different sha1 digests"]);
    }

    #[test]
    fn lists_are_recognised_by_stanzas_that_list_files() {
        let found = |list: &str| {
            let list = filled(list);
            Reader::new(list.as_bytes(), &Hints::default())
                .unwrap()
                .format()
        };
        for list in [
            RELEASE,
            "Format: 3.0 (quilt)\nFiles:\n MD5! 1 x\n",
            "\nPackage: x\nFilename: x\nSHA256: SHA256!\n",
            " SHA256!  1 main/x\n SHA256!  2 main/y\n",
        ] {
            assert_eq!(found(list), Format::Debian, "{list}");
        }
        for list in [
            "SHA256: SHA256!\n",
            "Algorithm : SHA256\nHash      : SHA256!\nPath      : C:\\x\n",
            "Origin: x\n\nSHA256! *x\n",
            "MD5!  1 x\n",
            "Note: see below\nMD5!  x\n",
        ] {
            assert_ne!(found(list), Format::Debian, "{list}");
        }
    }

    fn listlike() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            3 => prop::sample::select(vec![
                "\n", "\n\n", " ", "SHA256:\n", "Files:", "Filename: a\n", "Directory: d\n", "Size: 1\n",
                " 1 x\n", " 1 a b x\n", MD5, SHA256, "MD5sum: ", "Checksums-X:\n", "#", "Size: 2\n",
            ])
            .prop_map(|text| text.as_bytes().to_vec()),
            1 => prop::collection::vec(any::<u8>(), 0..4),
        ];
        prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn anything_is_read_to_its_end_in_the_order_of_its_lines(list in listlike()) {
            let lines: Vec<u64> =
                records(&list, &asking()).iter().map(|(line, _)| *line).collect();
            prop_assert!(lines.is_sorted(), "{lines:?}");
        }
    }
}
