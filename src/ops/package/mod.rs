//! Folders that hold their own manifests: what they are, and everything that their manifests say.

mod bagit;

use std::fs;
use std::io;
use std::path::Path;

use crate::algorithm::Algorithm;
use crate::error::{Error, FileError, Operation};

use super::Package;
use super::mhl::{has_mhl_history, mhl_package};

/// Why a folder cannot be verified as a whole.
#[derive(Debug, thiserror::Error)]
#[error(
    "a folder without manifests of its own (bagit.txt makes it a BagIt bag, ascmhl a media hash list \
     history)"
)]
struct NoPackage;

/// Reads the manifests that lie in a folder and describe it.
///
/// `algorithm` is the only one to compare, if the user named one.
///
/// # Errors
///
/// [`Error::NoManifest`] if the folder holds nothing that makes it a package, and [`Error::File`] if
/// one of the manifests cannot be read. What is wrong with the package itself is told by its records.
pub fn package_of(folder: &Path, algorithm: Option<Algorithm>) -> Result<Package, Error> {
    if exists(&folder.join(bagit::DECLARATION))? {
        return bagit::read(folder, algorithm);
    }
    if has_mhl_history(folder) {
        return mhl_package(folder, algorithm);
    }
    Err(Error::NoManifest {
        path: folder.to_owned(),
        reason: Box::new(NoPackage),
    })
}

/// Whether anything has that name: a link that leads nowhere is no file that is missing.
fn exists(path: &Path) -> Result<bool, FileError> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(FileError::new(Operation::Stat, path, error)),
    }
}
