//! The formats, and the table that everything about them comes from.

use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::str::FromStr;

use super::{bagit, evidence};
use crate::algorithm::Algorithm;
use crate::nearest::nearest;

/// A manifest format.
///
/// # Examples
///
/// ```
/// use multisum::manifest::Format;
/// assert_eq!("gnu-zero".parse(), Ok(Format::GnuZero));
/// assert_eq!(Format::Bsd.to_string(), "bsd");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the table below describes each of them")]
pub enum Format {
    Gnu,
    GnuZero,
    Bsd,
    Jsonl,
    Json,
    Csv,
    Hashdeep,
    Md5deep,
    Dfxml,
    Sfv,
    Magnet,
    Rhash,
    Bagit,
    Mtree,
    Mhl,
    LegacyMhl,
    Gentoo,
    Debian,
    PowerShell,
    Certutil,
    Fciv,
    Rclone,
    Spdx,
    CycloneDx,
    InToto,
    Sri,
    Cksum,
    Bare,
}

/// What an entry of a format can hold beside a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carries {
    /// Digests of more than one algorithm, each with its name.
    pub algorithms: bool,
    /// The size.
    pub size: bool,
    /// The modification time.
    pub modified: bool,
    /// That a file is known and was not hashed.
    pub gaps: bool,
}

/// One row of the table.
#[derive(Debug)]
#[non_exhaustive]
pub struct FormatInfo {
    /// The format that this row describes.
    pub format: Format,
    /// The name that options take.
    pub name: &'static str,
    /// Other names that options take.
    pub aliases: &'static [&'static str],
    /// Endings of file names that choose it for an output, without the dot.
    pub endings: &'static [&'static str],
    /// Whether it can be written.
    pub writable: bool,
    /// What an entry holds.
    pub carries: Carries,
    /// Whether a manifest describes the folder that it lies in and nothing else, so that no name in
    /// it may lead out.
    pub confined: bool,
    /// What it is, for tables and help texts.
    pub description: &'static str,
}

macro_rules! table {
    ($($format:ident $name:literal $aliases:expr, $endings:expr, $writable:ident,
        $algorithms:ident $size:ident $modified:ident $gaps:ident, $confined:ident, $description:literal;)*) => {
        &[$(FormatInfo {
            format: Format::$format,
            name: $name,
            aliases: &$aliases,
            endings: &$endings,
            writable: $writable,
            carries: Carries {
                algorithms: $algorithms,
                size: $size,
                modified: $modified,
                gaps: $gaps,
            },
            confined: $confined,
            description: $description,
        }),*]
    };
}

/// Written as well as read, or only read.
const W: bool = true;
const R: bool = false;

/// Carried or not.
const Y: bool = true;
const N: bool = false;

/// Every format: name, other names, endings; whether it is written; whether it carries several
/// algorithms, the size, the modification time, gaps; whether it is confined; what it is.
#[rustfmt::skip]
static TABLE: &[FormatInfo] = table! {
    Gnu "gnu" ["md5sum", "sha256sum", "b3sum", "xxhsum"], [], W, N N N Y, N, "`DIGEST  NAME`, as sha256sum and its kin, b3sum, xxhsum, shasum and RHash write it";
    GnuZero "gnu-zero" [], [], W, N N N Y, N, "the same between NUL bytes, `sha256sum --zero`";
    Bsd "bsd" ["openssl", "tag"], [], W, Y N N Y, N, "`SHA256 (NAME) = DIGEST`, as BSD systems, `sha256sum --tag` and OpenSSL write it";
    Jsonl "jsonl" ["native"], ["jsonl", "ndjson"], W, Y Y Y Y, Y, "the native manifest, one JSON object a line";
    Json "json" [], ["json"], W, Y Y Y Y, N, "an array of JSON objects";
    Csv "csv" [], ["csv"], W, Y Y Y Y, N, "comma-separated values with a heading";
    Hashdeep "hashdeep" [], ["hashdeep"], W, Y Y N Y, N, "hashdeep's lists, also for its audit mode";
    Md5deep "md5deep" [], [], R, N Y N N, N, "md5deep, sha1deep and so on, also with -z and -c";
    Dfxml "dfxml" [], ["dfxml"], W, Y Y Y N, N, "Digital Forensics XML, `hashdeep -d`";
    Sfv "sfv" ["cksfv"], ["sfv"], W, N Y Y Y, N, "Simple File Verification, `NAME CRC32`";
    Magnet "magnet" ["ed2k"], ["magnet"], W, Y Y N Y, N, "magnet links, `rhash --magnet`; ed2k links are read";
    Rhash "rhash" [], [], R, Y N N N, N, "RHash's lines with all digests behind the name, `rhash --simple`";
    Bagit "bagit" [], [], W, N N N N, Y, "the manifests of BagIt bags; a folder is verified as a bag";
    Mtree "mtree" [], ["mtree"], W, Y Y Y Y, N, "BSD mtree specifications, `bsdtar --format=mtree`, pacman's .MTREE";
    Mhl "mhl" ["ascmhl"], ["mhl"], W, Y Y Y N, Y, "ASC Media Hash Lists 2.0; a folder is verified as a history";
    LegacyMhl "legacy-mhl" [], [], R, Y Y Y N, Y, "Media Hash Lists 1.0 and 1.1";
    Gentoo "gentoo" [], [], W, Y Y N N, N, "Gentoo Manifest, GLEP 74";
    Debian "debian" [], [], R, Y Y N N, N, "Release, Packages, .dsc and .changes of Debian";
    PowerShell "powershell" ["get-filehash"], [], R, Y N N N, N, "Get-FileHash as table, list, CSV or JSON";
    Certutil "certutil" [], [], R, Y N N N, N, "`certutil -hashfile` of Windows";
    Fciv "fciv" [], [], R, Y N N N, N, "Microsoft File Checksum Integrity Verifier, as text or XML";
    Rclone "rclone" [], [], R, Y Y Y N, N, "`rclone lsjson --hash`";
    Spdx "spdx" [], [], R, Y N N N, N, "SPDX 2 and 3 bills of materials";
    CycloneDx "cyclonedx" [], [], R, Y N N N, N, "CycloneDX bills of materials";
    InToto "in-toto" ["dsse", "slsa"], [], R, Y N N N, N, "in-toto statements, also in DSSE envelopes";
    Sri "sri" [], [], R, Y N N N, N, "`sha256-BASE64 NAME`, as in subresource integrity";
    Cksum "cksum" [], [], R, N Y N N, N, "`CRC SIZE NAME` of POSIX cksum";
    Bare "bare" [], [], R, N N N N, N, "nothing but the digest of the file that the list is named after";
};

impl Format {
    /// Every format once, in the order of help texts.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.format)
    }

    /// The row of the table.
    pub fn info(self) -> &'static FormatInfo {
        // A test walks every variant, so the first row is never taken for want of another.
        TABLE
            .iter()
            .find(|row| row.format == self)
            .unwrap_or(&TABLE[0])
    }

    /// Whether entries of one manifest may have digests of different algorithms when it is written.
    pub fn entries_may_differ(self) -> bool {
        self == Self::Bsd
    }

    /// Whether every entry says which algorithm its digest is of, so that a manifest can hold
    /// several.
    pub fn names_algorithms(self) -> bool {
        self.info().carries.algorithms
    }
}

impl Display for Format {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(self.info().name)
    }
}

/// A name that stands for no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown format '{}' ({}known: {})",
    crate::quote::Quoted::new(.0),
    suggestion(.0),
    names()
)]
pub struct UnknownFormat(pub String);

fn suggestion(spelling: &str) -> String {
    let close = nearest(spelling, TABLE.iter().map(|row| row.name));
    close.map_or_else(String::new, |name| format!("did you mean {name}? "))
}

fn names() -> String {
    let names: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
    names.join(", ")
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        TABLE
            .iter()
            .find(|row| row.name == name || row.aliases.contains(&name))
            .map(|row| row.format)
            .ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

/// What the name of an output says about its contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputHint {
    /// The format, if the name tells.
    pub format: Option<Format>,
    /// The only algorithm that the output can carry, if the name tells.
    pub algorithm: Option<Algorithm>,
}

/// Reads format and algorithm off the name of an output.
///
/// # Examples
///
/// ```
/// use multisum::{Algorithm, manifest::{Format, output_hint}};
/// let hint = output_hint("dist/SHA256SUMS".as_ref());
/// assert_eq!(hint.format, Some(Format::Gnu));
/// assert_eq!(hint.algorithm, Some(Algorithm::Sha256));
/// assert_eq!(output_hint("tree.mtree".as_ref()).format, Some(Format::Mtree));
/// assert_eq!(output_hint("sums.txt".as_ref()).format, None);
/// ```
pub fn output_hint(path: &Path) -> OutputHint {
    if let Some(format) = from_ending(path) {
        let algorithm = match format {
            Format::Sfv => Some(Algorithm::Crc32),
            // The only strong one that it has.
            Format::Mhl => Some(Algorithm::C4),
            _ => None,
        };
        return OutputHint {
            format: Some(format),
            algorithm,
        };
    }
    let format = if bagit::is_manifest_name(path) {
        Format::Bagit
    } else {
        Format::Gnu
    };
    evidence::from_list_name(path).map_or_else(OutputHint::default, |named| OutputHint {
        format: Some(format),
        algorithm: named.to_write(),
    })
}

fn from_ending(path: &Path) -> Option<Format> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    let row = TABLE.iter().find(|row| row.endings.contains(&&*ending))?;
    Some(row.format)
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_a_name_that_leads_back_to_it() {
        for format in Format::all() {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        let message = |name: &str| name.parse::<Format>().unwrap_err().to_string();
        let known = "known: gnu, gnu-zero, bsd, jsonl, ";
        assert!(message("foo").starts_with(&format!("unknown format 'foo' ({known}")));
        let told = format!("unknown format 'hashdep' (did you mean hashdeep? {known}");
        assert!(message("hashdep").starts_with(&told));
    }

    #[test]
    fn an_ambiguous_output_name_does_not_choose_a_weak_algorithm() {
        for name in ["x.sha", "XXHSUMS"] {
            let hint = output_hint(Path::new(name));
            assert_eq!((hint.format, hint.algorithm), (Some(Format::Gnu), None));
        }
        let hint = output_hint(Path::new("B2SUMS"));
        assert_eq!(hint.algorithm, Some(Algorithm::BLAKE2B));
    }
}
