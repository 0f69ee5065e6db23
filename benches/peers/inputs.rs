//! The files that are hashed: the same bytes on every machine, but for the source tree, which is a
//! copy of what cargo has unpacked here.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::Result;
use crate::say;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The source tree is cut off after so many bytes.
const MIXED_CAP: u64 = 512 * MIB;

/// What is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Input {
    /// One file of so many bytes.
    File(u64),
    /// So many files of 1 MiB, 100 in a folder.
    Tree(u64),
    /// So many files of 1 to 8 KiB, 1,000 in a folder.
    Small(u64),
    /// A copy of sources of other packages.
    Mixed,
}

/// An input on the disk.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    /// The folder in which tools run: that of the file, or the tree.
    pub(crate) folder: PathBuf,
    /// The name of the file in it, unless a tree is hashed.
    pub(crate) file: Option<String>,
    /// Bytes in all.
    pub(crate) bytes: u64,
    /// Files in all.
    pub(crate) files: u64,
}

impl Input {
    /// The input in words.
    pub(crate) fn title(self) -> String {
        match self {
            Self::File(0) => "an empty file".to_owned(),
            Self::File(bytes) if bytes >= 1 << 30 => format!("one {} GiB file", bytes >> 30),
            Self::File(bytes) => format!("one {} MiB file", bytes / MIB),
            Self::Tree(files) => format!("tree of {files} files of 1 MiB"),
            Self::Small(files) => format!("tree of {files} files of 1-8 KiB"),
            Self::Mixed => "tree of sources".to_owned(),
        }
    }

    fn name(self) -> String {
        match self {
            Self::File(bytes) => format!("file-{bytes}"),
            Self::Tree(files) => format!("tree-{files}"),
            Self::Small(files) => format!("small-{files}"),
            Self::Mixed => "mixed".to_owned(),
        }
    }

    /// Bytes on the disk, roughly.
    fn need(self) -> u64 {
        match self {
            Self::File(bytes) => bytes,
            Self::Tree(files) => files * MIB,
            Self::Small(files) => files * 8 * KIB,
            Self::Mixed => MIXED_CAP * 5 / 4,
        }
    }

    /// Makes the input under `root`, or takes the one that is there.
    pub(crate) fn make(self, root: &Path) -> Result<Made> {
        let name = self.name();
        let folder = root.join(&name);
        let seal = root.join(format!("{name}.made"));
        let (bytes, files) = match read_seal(&seal)? {
            Some(counts) => counts,
            None => {
                check_space(root, self.need())?;
                say(&format!("making {}", self.title()))?;
                if folder.exists() {
                    fs::remove_dir_all(&folder)?;
                }
                fs::create_dir_all(&folder)?;
                let counts = self.fill(&folder)?;
                fs::write(&seal, format!("{} {}\n", counts.0, counts.1))?;
                counts
            }
        };
        let file = matches!(self, Self::File(_)).then(|| "data".to_owned());
        Ok(Made {
            folder,
            file,
            bytes,
            files,
        })
    }

    /// Writes the files; gives bytes and files.
    fn fill(self, folder: &Path) -> Result<(u64, u64)> {
        match self {
            Self::File(bytes) => {
                write_file(&folder.join("data"), bytes, 1)?;
                Ok((bytes, 1))
            }
            Self::Tree(files) => fill_tree(folder, files, 100, |_| MIB),
            Self::Small(files) => fill_tree(folder, files, 1000, |random| {
                KIB + random.next() % (7 * KIB + 1)
            }),
            Self::Mixed => copy_sources(folder),
        }
    }
}

/// Bytes and files of an input that was made before.
fn read_seal(seal: &Path) -> Result<Option<(u64, u64)>> {
    if !seal.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(seal)?;
    let mut numbers = text.split_whitespace().map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(bytes)), Some(Ok(files))) => Ok(Some((bytes, files))),
        _ => Ok(None),
    }
}

#[cfg(unix)]
fn check_space(root: &Path, need: u64) -> Result<()> {
    let space = rustix::fs::statvfs(root)?;
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    if free < need.saturating_add(256 * MIB) {
        return Err(format!("{} MiB are free, {} are needed", free / MIB, need / MIB).into());
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_space(_: &Path, _: u64) -> Result<()> {
    Ok(())
}

/// SplitMix64, by Steele, Lea and Flood.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

fn write_file(path: &Path, mut bytes: u64, seed: u64) -> io::Result<()> {
    let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let mut file = File::create(path)?;
    let mut chunk = vec![0; 64 << 10];
    while bytes > 0 {
        for word in chunk.chunks_exact_mut(8) {
            word.copy_from_slice(&random.next().to_le_bytes());
        }
        let part = usize::try_from(bytes).map_or(chunk.len(), |left| left.min(chunk.len()));
        file.write_all(&chunk[..part])?;
        bytes -= part as u64;
    }
    Ok(())
}

fn fill_tree(
    folder: &Path,
    files: u64,
    in_each_folder: u64,
    mut size: impl FnMut(&mut Random) -> u64,
) -> Result<(u64, u64)> {
    let mut random = Random(files);
    let mut sum = 0;
    for index in 0..files {
        let below = folder.join(format!("{:04}", index / in_each_folder));
        if index % in_each_folder == 0 {
            fs::create_dir(&below)?;
        }
        let bytes = size(&mut random);
        write_file(&below.join(format!("{index:06}")), bytes, index + 2)?;
        sum += bytes;
    }
    Ok((sum, files))
}

fn copy_sources(folder: &Path) -> Result<(u64, u64)> {
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let cargo = cargo
        .or(home.map(|home| home.join(".cargo")))
        .ok_or("neither CARGO_HOME nor HOME is set")?;
    let mut sums = (0, 0);
    copy_folder(&cargo.join("registry/src"), folder, &mut sums)?;
    Ok(sums)
}

/// Copies plain files, in the order of their names, until the cap is reached.
fn copy_folder(from: &Path, to: &Path, sums: &mut (u64, u64)) -> Result<()> {
    fs::create_dir_all(to)?;
    let mut entries = fs::read_dir(from)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (kind, copy) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_folder(&entry.path(), &copy, sums)?;
        } else if kind.is_file() && sums.0 < MIXED_CAP {
            sums.0 += fs::copy(entry.path(), copy)?;
            sums.1 += 1;
        }
    }
    Ok(())
}
