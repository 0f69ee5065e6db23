//! Making a BagIt bag of a folder: in place, or as a copy.
//!
//! Everything is read and hashed before anything is changed. A bag in place is made of renames only, in
//! an order that leaves every file under exactly one name whenever the program or the machine stops,
//! and from which the next run goes back or on; see `stage`.

mod copy;
mod payload;
mod stage;
mod tags;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::algorithm::Algorithm;
use crate::counted::counted;
use crate::engine;
use crate::error::{Error, FileError, Operation};
use crate::event::{Event, Note, Sink};
use crate::quote::Quoted;
use crate::relpath::RelPath;
use crate::walk::Special;

use payload::PayloadFile;
use stage::{Recovered, Stage};
use tags::TagFile;

/// What a new bag says of itself, and with what it is protected.
#[derive(Clone, Debug)]
pub struct BagSettings {
    /// One manifest is written for each; at least one.
    pub algorithms: Vec<Algorithm>,
    /// The day, as `YYYY-MM-DD`.
    pub bagging_date: String,
    /// The program and its version.
    pub software_agent: String,
}

/// Why there is no bag. Where nothing else is said, the folder is as it was before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BagError {
    /// The folder is one already.
    #[error("{}: a bag already; 'multisum verify' checks it", Quoted::path(.0))]
    AlreadyBag(PathBuf),
    /// A run was stopped in it, or is at work.
    #[error(
        "{}: a run that was to make it a bag is at work or was stopped; run 'multisum hash --bag' \
         without -o to end that first",
        Quoted::path(.0)
    )]
    Unfinished(PathBuf),
    /// Another run is at work in it.
    #[error("{}: another run is making it a bag", Quoted::path(.0))]
    Busy(PathBuf),
    /// Something that no run leaves stands where one keeps its files.
    #[error(
        "{}: not what a stopped run leaves in {}; nothing was touched (move that folder away, if it \
         is yours)",
        Quoted::path(.path),
        Quoted::path(.stage)
    )]
    Foreign {
        /// What is missing, or should not be there.
        path: PathBuf,
        /// The folder where runs keep their files.
        stage: PathBuf,
    },
    /// The place for the copy is taken.
    #[error("{}: it exists; a bag is copied into a new folder", Quoted::path(.0))]
    Exists(PathBuf),
    /// The copy would lie in what is copied.
    #[error("{}: it lies in the folder that is to be copied", Quoted::path(.0))]
    Inside(PathBuf),
    /// A name that no manifest of a bag can hold.
    #[error("{0}: the name is no UTF-8, so a bag cannot hold the file; nothing was changed")]
    NotText(RelPath),
    /// Something that is no file and no folder.
    #[error("{name}: a {kind}, which a bag cannot hold; nothing was changed")]
    NotAFile {
        /// Its name.
        name: RelPath,
        /// What it is.
        kind: Special,
    },
    /// Files that were told to the sink.
    #[error("{} could not be hashed; nothing was changed", counted(*.0, "file"))]
    NotHashed(u64),
    /// Something else happened to the folder meanwhile.
    #[error("{0}: changed, came or went after it was hashed; nothing was changed")]
    Changed(RelPath),
    /// A copy that is not what was read; it was removed.
    #[error("{0}: the copy differs from what was read; the new folder was removed")]
    CopyDiffers(RelPath),
    /// Something has come to be where a file must go.
    #[error(
        "{}: in the way; move it, and run the command again to go on (files that were moved are in {})",
        Quoted::path(.path),
        Quoted::path(.stage)
    )]
    InTheWay {
        /// What is in the way.
        path: PathBuf,
        /// Where the files are.
        stage: PathBuf,
    },
    /// A step failed and so did the way back.
    #[error(
        "{}: {error}; the files that were moved are in {}, and running the command again puts them back",
        Quoted::path(.error.path()),
        Quoted::path(.stage)
    )]
    Stuck {
        /// What failed.
        error: FileError,
        /// Where the files are.
        stage: PathBuf,
    },
    /// A manifest could not be written.
    #[error("{0}")]
    Manifest(io::Error),
    /// An operation on one path failed.
    #[error("{}: {}", Quoted::path(.0.path()), .0)]
    File(#[from] FileError),
    /// The hashing ended early.
    #[error(transparent)]
    Run(#[from] Error),
}

/// Makes `folder` a bag of version 1.0; with `copy_to`, makes the bag there and leaves `folder` alone.
///
/// `sink` is told of every file that was hashed or could not be. Symbolic links and whatever else is no
/// file or folder are refused; so is a name that is not UTF-8. Empty folders stay, and are told in a
/// note, since no manifest can list them.
///
/// # Memory
///
/// The name and digests of every file, and the text of the manifests.
///
/// # Errors
///
/// See [`BagError`].
pub fn make_bag(
    folder: &Path,
    copy_to: Option<&Path>,
    settings: &BagSettings,
    engine: &engine::Options,
    sink: &mut dyn Sink,
) -> Result<(), BagError> {
    tags::refuse_what_no_bag_names(&settings.algorithms)?;
    if copy_to.is_some() {
        stage::refuse_unfinished(folder)?;
    } else if end_unfinished(folder, sink)? == Recovered::Completed {
        return Ok(());
    }
    refuse_bag(folder)?;
    if let Some(target) = copy_to {
        refuse_target(folder, target)?;
    }
    payload::refuse_what_no_bag_holds(folder)?;
    let files = payload::hash(folder, &settings.algorithms, engine, sink)?;
    let tags = tags::tag_files(&files, settings)?;
    match payload::count_empty_folders(folder)? {
        0 => {}
        count => tell(sink, &Note::EmptyFolders(count))?,
    }
    match copy_to {
        Some(target) => {
            stage::refuse_unfinished(folder)?;
            copy::make(folder, target, &files, &tags, settings, engine)
        }
        None => make_in_place(folder, &files, &tags),
    }
}

/// Ends what a stopped run began.
fn end_unfinished(folder: &Path, sink: &mut dyn Sink) -> Result<Recovered, BagError> {
    let recovered = stage::recover(folder)?;
    if recovered != Recovered::Nothing {
        let note = Note::UnfinishedBag {
            folder: RelPath::from_path(folder),
            completed: recovered == Recovered::Completed,
        };
        tell(sink, &note)?;
    }
    Ok(recovered)
}

fn make_in_place(folder: &Path, files: &[PayloadFile], tags: &[TagFile]) -> Result<(), BagError> {
    let stage = Stage::begin(folder)?;
    match payload::refuse_changes(folder, files) {
        Ok(()) => stage.make(tags),
        Err(changed) => {
            stage.abandon()?;
            Err(changed)
        }
    }
}

fn tell(sink: &mut dyn Sink, note: &Note) -> Result<(), Error> {
    sink.event(Event::Note(note)).map_err(Error::Output)
}

fn refuse_bag(folder: &Path) -> Result<(), BagError> {
    let declaration = folder.join("bagit.txt");
    match declaration.symlink_metadata() {
        Ok(_) => Err(BagError::AlreadyBag(folder.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(FileError::new(Operation::Stat, declaration, error).into()),
    }
}

fn refuse_target(folder: &Path, target: &Path) -> Result<(), BagError> {
    if target.symlink_metadata().is_ok() {
        return Err(BagError::Exists(target.to_owned()));
    }
    let real = |path: &Path| {
        let failed = |error| FileError::new(Operation::Stat, path, error);
        path.canonicalize().map_err(failed)
    };
    if real(parent_of(target))?.starts_with(real(folder)?) {
        return Err(BagError::Inside(target.to_owned()));
    }
    Ok(())
}

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Writes a new file and forces it to the medium.
fn write_new(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let created = fs::File::create_new(path);
    let mut file = created.map_err(|error| FileError::new(Operation::Create, path, error))?;
    io::Write::write_all(&mut file, bytes)
        .map_err(|error| FileError::new(Operation::Write, path, error))?;
    file.sync_all()
        .map_err(|error| FileError::new(Operation::Sync, path, error))
}

fn create_folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir(path).map_err(|error| FileError::new(Operation::Create, path, error))
}

/// Makes what was created and renamed in a folder survive a power cut. Other systems than Unix offer
/// nothing like it.
fn sync_folder(path: &Path) -> Result<(), FileError> {
    if !cfg!(unix) {
        return Ok(());
    }
    let synced = fs::File::open(path).and_then(|folder| folder.sync_all());
    synced.map_err(|error| FileError::new(Operation::Sync, path, error))
}
