//! `--key`, `--signature` and `--require-signature`: manifests that are used only if they are signed.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{FileError, Operation};
use crate::event::Note;
use crate::quote::Quoted;
use crate::relpath::RelPath;
use crate::signature::{self, SignatureError};

use super::plan::Failure;

/// Where the signature of `NAME` may lie: `NAME.minisig`, `NAME.sig`.
const ENDINGS: [&str; 2] = ["minisig", "sig"];

/// No signature, and no key either, is longer.
const MOST_BYTES: u64 = 1 << 20;

/// Why a manifest is not used.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotProved {
    #[error("{}: {reason}", Quoted::path(.signature))]
    Bad {
        signature: PathBuf,
        reason: SignatureError,
    },
    #[error(
        "{}: it has no signature beside it (.minisig or .sig); --signature names another place",
        Quoted::path(.0)
    )]
    Unsigned(PathBuf),
    #[error("{}: a folder has no signature to check", Quoted::path(.0))]
    Folder(PathBuf),
    #[error("--signature is the signature of one manifest, and several are named")]
    Several,
    #[error("{}: too large for a signature or a key", Quoted::path(.0))]
    TooLarge(PathBuf),
    #[error("{}: not text, as signatures and keys are", Quoted::path(.0))]
    NoText(PathBuf),
    #[error("{}: not a regular file, as signatures and keys are", Quoted::path(.0))]
    NoFile(PathBuf),
}

/// What is asked of the signatures of manifests.
#[derive(Debug)]
pub(super) struct Signatures {
    keys: String,
    /// Where the signature lies, if not beside the manifest.
    named: Option<PathBuf>,
    required: bool,
}

/// A manifest that is what somebody signed.
#[derive(Debug)]
pub(super) struct Proved {
    /// The very bytes that were checked.
    pub(super) bytes: Vec<u8>,
    /// What to say of it.
    pub(super) note: Note,
}

impl Signatures {
    /// Reads the key.
    pub(super) fn new(
        key: &OsString,
        named: Option<PathBuf>,
        required: bool,
        manifests: &[PathBuf],
    ) -> Result<Self, Failure> {
        if named.is_some() && manifests.len() > 1 {
            return Err(NotProved::Several.into());
        }
        Ok(Self {
            keys: read_key(key)?,
            named,
            required,
        })
    }

    /// Reads the manifest at `path`, `-` for standard input, and checks its signature. `None` if it has
    /// none and need not have one.
    pub(super) fn prove(
        &self,
        path: &Path,
        read: impl FnOnce() -> Result<Vec<u8>, Failure>,
    ) -> Result<Option<Proved>, Failure> {
        if path.is_dir() {
            return match self.required || self.named.is_some() {
                true => Err(NotProved::Folder(path.to_owned()).into()),
                false => Ok(None),
            };
        }
        let Some(place) = self.named.clone().or_else(|| beside(path)) else {
            return match self.required {
                true => Err(NotProved::Unsigned(path.to_owned()).into()),
                false => Ok(None),
            };
        };
        let text = read_text(&place)?;
        let bytes = read()?;
        let kind = signature::check(&bytes, &text, &self.keys).map_err(|reason| {
            let signature = place.clone();
            NotProved::Bad { signature, reason }
        })?;
        let note = Note::Signed {
            manifest: RelPath::from_path(path),
            kind,
        };
        Ok(Some(Proved { bytes, note }))
    }
}

/// Where the signatures of a manifest may lie; a folder has none.
pub(super) fn places(path: &Path) -> impl Iterator<Item = PathBuf> {
    let manifest = (!path.is_dir()).then(|| path.as_os_str().to_owned());
    manifest.into_iter().flat_map(|manifest| {
        ENDINGS.map(|ending| {
            let mut name = manifest.clone();
            name.push(".");
            name.push(ending);
            PathBuf::from(name)
        })
    })
}

/// The signature that lies beside a manifest, if there is one.
pub(super) fn beside(path: &Path) -> Option<PathBuf> {
    places(path).find(|place| place.symlink_metadata().is_ok())
}

/// A file with the key; or the key itself, which is no name of a file that is there.
fn read_key(key: &OsString) -> Result<String, Failure> {
    let path = Path::new(key);
    match key.to_str() {
        Some(text) if text.starts_with("RW") && !path.exists() => Ok(text.to_owned()),
        _ => read_text(path),
    }
}

fn read_text(path: &Path) -> Result<String, Failure> {
    let failed = |operation| move |error| FileError::new(operation, path, error);
    let metadata = fs::metadata(path).map_err(failed(Operation::Stat))?;
    // To open a pipe would be to wait for somebody to write to it.
    if !metadata.is_file() {
        return Err(NotProved::NoFile(path.to_owned()).into());
    }
    if metadata.len() > MOST_BYTES {
        return Err(NotProved::TooLarge(path.to_owned()).into());
    }
    let bytes = fs::read(path).map_err(failed(Operation::Read))?;
    String::from_utf8(bytes).map_err(|_| NotProved::NoText(path.to_owned()).into())
}
