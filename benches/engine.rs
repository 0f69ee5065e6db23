//! Whole runs of the engine over trees in the page cache: many small files, some middling ones, one
//! large one.

#![allow(
    clippy::expect_used,
    reason = "a benchmark that cannot make its files has to die"
)]

use std::fs;
use std::path::Path;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use multisum::engine::{IoMode, Job, Links, Options, Source, Task, run};
use multisum::{Algorithm, Digest};

fn main() {
    divan::main();
}

const MODES: [IoMode; 2] = [IoMode::Read, IoMode::Mmap];

/// Hashes `count` files of `len` bytes.
fn files(bencher: Bencher<'_, '_>, count: usize, len: usize, io: IoMode, algorithms: &[Algorithm]) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let content: Vec<u8> = (0..=250).cycle().take(len).collect();
    for index in 0..count {
        fs::write(directory.path().join(index.to_string()), &content).expect("a written file");
    }
    let options = Options {
        io,
        ..Options::default()
    };
    bencher
        .counter(BytesCount::new(count * len))
        .counter(ItemsCount::new(count))
        .bench_local(|| hash_all(directory.path(), count, &options, algorithms));
}

fn hash_all(folder: &Path, count: usize, options: &Options, algorithms: &[Algorithm]) -> u64 {
    let folder = folder.to_owned();
    let algorithms: std::sync::Arc<[Algorithm]> = algorithms.into();
    let jobs = (0..count).map(move |index| {
        let path = folder.join(index.to_string());
        let source = Source::File {
            path: path.into(),
            links: Links::Refuse,
        };
        Job {
            token: (),
            task: Some(Task::new(source, algorithms.clone())),
        }
    });
    let mut sum = 0;
    run(jobs, options, &mut |(), outcome| {
        if let Some(multisum::engine::Outcome::Hashed(hashed)) = outcome {
            sum += hashed
                .digests
                .iter()
                .map(|d: &Digest| u64::from(d.as_bytes()[0]))
                .sum::<u64>();
        }
        Ok(())
    })
    .expect("a run to its end");
    sum
}

#[divan::bench(args = MODES, sample_count = 10)]
fn small_files(bencher: Bencher<'_, '_>, io: IoMode) {
    files(bencher, 10_000, 4_096, io, &[Algorithm::Sha256]);
}

#[divan::bench(args = MODES, sample_count = 10)]
fn middling_files(bencher: Bencher<'_, '_>, io: IoMode) {
    files(bencher, 256, 1 << 20, io, &[Algorithm::Sha256]);
}

#[divan::bench(args = MODES, sample_count = 10)]
fn one_large_file(bencher: Bencher<'_, '_>, io: IoMode) {
    files(bencher, 1, 256 << 20, io, &[Algorithm::Sha256]);
}

#[divan::bench(args = MODES, sample_count = 5)]
fn one_large_file_four_algorithms(bencher: Bencher<'_, '_>, io: IoMode) {
    let four = [
        Algorithm::Md5,
        Algorithm::Sha1,
        Algorithm::Sha256,
        Algorithm::Sha512,
    ];
    files(bencher, 1, 128 << 20, io, &four);
}
