//! The formats, and the table that their names come from.

use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::str::FromStr;

use super::evidence;
use crate::algorithm::Algorithm;

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
pub enum Format {
    /// `DIGEST  NAME`, as `sha256sum` writes it; one algorithm.
    Gnu,
    /// The same, ended by NUL bytes and without escapes, as `sha256sum -z` writes it.
    GnuZero,
    /// `SHA256 (NAME) = DIGEST`, as `sha256sum --tag` and BSD systems write it.
    Bsd,
}

/// Every format and the name by which options know it.
const TABLE: &[(Format, &str)] = &[
    (Format::Gnu, "gnu"),
    (Format::GnuZero, "gnu-zero"),
    (Format::Bsd, "bsd"),
];

impl Format {
    /// Every format once, in the order of help texts.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|(format, _)| *format)
    }

    /// Whether every entry says which algorithm its digest is of, so that a manifest can hold
    /// several.
    pub fn names_algorithms(self) -> bool {
        match self {
            Self::Gnu | Self::GnuZero => false,
            Self::Bsd => true,
        }
    }
}

impl Display for Format {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = TABLE.iter().find(|(format, _)| format == self);
        f.pad(name.map_or("", |(_, name)| *name))
    }
}

/// A name that stands for no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format '{}' (known: {})", crate::quote::Quoted::new(.0), names())]
pub struct UnknownFormat(pub String);

fn names() -> String {
    let names: Vec<&str> = TABLE.iter().map(|(_, name)| *name).collect();
    names.join(", ")
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        TABLE
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(format, _)| *format)
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
/// assert_eq!(output_hint("sums.txt".as_ref()).format, None);
/// ```
pub fn output_hint(path: &Path) -> OutputHint {
    evidence::from_list_name(path).map_or_else(OutputHint::default, |named| OutputHint {
        format: Some(Format::Gnu),
        algorithm: named.to_write(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_a_name_that_leads_back_to_it() {
        for format in Format::all() {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        let message = "gnuu".parse::<Format>().unwrap_err().to_string();
        assert_eq!(message, "unknown format 'gnuu' (known: gnu, gnu-zero, bsd)");
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
