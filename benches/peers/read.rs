//! Reading without multisum: what a loop of plain reads can do at best.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use multisum::Algorithm;
use multisum::hasher::new_hasher;

use crate::inputs::Input;
use crate::{Result, Setup, say, stats};

/// What tells this program that it is to read a tree.
pub(crate) const READ_ALL: &str = "read-all-files";

/// Bytes in a buffer, divided by 1024.
const BUFFER_KIB: [usize; 7] = [8, 16, 32, 64, 128, 256, 1024];

/// What is done with the bytes: nothing, or one stream of an algorithm.
const USES: [Option<Algorithm>; 4] = [
    None,
    Some(Algorithm::Md5),
    Some(Algorithm::Sha256),
    Some(Algorithm::Blake3),
];

/// Bytes a second with one size of buffer.
#[derive(Clone, Debug)]
pub(crate) struct Speed {
    pub(crate) buffer_kib: usize,
    /// `None` where the bytes are only read.
    pub(crate) algorithm: Option<Algorithm>,
    /// One for each run.
    pub(crate) bytes_a_second: Vec<f64>,
}

impl Speed {
    pub(crate) fn median(&self) -> f64 {
        stats::median(&self.bytes_a_second)
    }
}

/// Reads a file on one thread with buffers of several sizes, the sizes alternating.
pub(crate) fn buffers(setup: &Setup) -> Result<Vec<Speed>> {
    let bytes = if setup.options.quick { 64 } else { 256 } << 20;
    let made = Input::File(bytes).make(&setup.inputs)?;
    say("buffers")?;
    let path = made.folder.join("data");
    let mut speeds: Vec<Speed> = USES
        .iter()
        .flat_map(|algorithm| BUFFER_KIB.map(|kib| (*algorithm, kib)))
        .map(|(algorithm, buffer_kib)| Speed {
            buffer_kib,
            algorithm,
            bytes_a_second: Vec::new(),
        })
        .collect();
    read_file(&path, &mut vec![0; 1 << 20], |_| {})?;
    for _ in 0..setup.options.runs.get() {
        for speed in &mut speeds {
            let seconds = time(&path, speed)?;
            speed.bytes_a_second.push(made.bytes as f64 / seconds);
        }
    }
    Ok(speeds)
}

fn time(path: &Path, speed: &Speed) -> io::Result<f64> {
    let mut buffer = vec![0; speed.buffer_kib << 10];
    let start = Instant::now();
    match speed.algorithm {
        None => read_file(path, &mut buffer, |bytes| {
            black_box(bytes);
        })?,
        Some(algorithm) => {
            let mut hasher = new_hasher(algorithm);
            read_file(path, &mut buffer, |bytes| hasher.update(bytes))?;
            black_box(hasher.finish());
        }
    }
    Ok(start.elapsed().as_secs_f64())
}

fn read_file(path: &Path, buffer: &mut [u8], mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut file = File::open(path)?;
    loop {
        match file.read(buffer)? {
            0 => return Ok(()),
            count => each(&buffer[..count]),
        }
    }
}

/// Reads a tree, if that is what this process was started for.
pub(crate) fn asked_to_read() -> Option<Result<ExitCode>> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != READ_ALL {
        return None;
    }
    let folder = arguments.next()?;
    let done = read_folder(Path::new(&folder), &mut vec![0; 64 << 10]);
    Some(done.map(|()| ExitCode::SUCCESS).map_err(Into::into))
}

fn read_folder(folder: &Path, buffer: &mut [u8]) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type()?;
        if kind.is_dir() {
            read_folder(&entry.path(), buffer)?;
        } else if kind.is_file() {
            read_file(&entry.path(), buffer, |bytes| {
                black_box(bytes);
            })?;
        }
    }
    Ok(())
}
