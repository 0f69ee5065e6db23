//! Bytes a second by algorithm, backend and number of streams, all on one core.
//!
//! `cargo bench --bench kernels -- md5` runs the cases whose names contain `md5`. The column "fastest" is
//! the one to compare when the machine has other work.

use std::fmt::{self, Display, Formatter};

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use multisum::Algorithm;
use multisum::hasher::new_hasher;
use multisum::lanes::{LaneState, Lanes, Stream};

/// Bytes that each stream is given in one call.
const CHUNK_BYTES: usize = 16 << 10;

const ALGORITHMS: [Algorithm; 4] = [
    Algorithm::Md5,
    Algorithm::Sha1,
    Algorithm::Sha256,
    Algorithm::Sha512,
];

fn main() {
    divan::main();
}

struct Case {
    lanes: Lanes,
    algorithm: Algorithm,
    streams: usize,
}

impl Display for Case {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (backend, kernel) = (
            self.lanes.name(),
            self.lanes
                .kernel_name(self.algorithm, self.streams)
                .unwrap_or("none"),
        );
        write!(
            f,
            "{} {backend} {:02} ({kernel})",
            self.algorithm, self.streams
        )
    }
}

/// Full kernels, and the numbers of streams at which the choice of kernel changes.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for algorithm in ALGORITHMS {
        for (_, lanes) in Lanes::backends() {
            let Ok(lanes) = lanes else { continue };
            for streams in 1..=lanes.width(algorithm, usize::MAX) {
                let name = |streams| lanes.kernel_name(algorithm, streams);
                if streams == 1
                    || name(streams) != name(streams - 1)
                    || name(streams) != name(streams + 1)
                    || streams == lanes.width(algorithm, usize::MAX)
                {
                    cases.push(Case {
                        lanes,
                        algorithm,
                        streams,
                    });
                }
            }
        }
    }
    cases
}

#[divan::bench(args = ALGORITHMS, min_time = 0.2)]
fn crates(bencher: Bencher<'_, '_>, algorithm: Algorithm) {
    let chunk = vec![0x5a; CHUNK_BYTES];
    let mut hasher = new_hasher(algorithm);
    bencher
        .counter(BytesCount::new(chunk.len()))
        .bench_local(|| hasher.update(black_box(&chunk)));
}

#[divan::bench(args = cases(), min_time = 0.2)]
fn lanes(bencher: Bencher<'_, '_>, case: &Case) {
    let mut states: Vec<_> = (0..case.streams)
        .filter_map(|_| LaneState::new(case.algorithm))
        .collect();
    // Staggered by a cache line, so that the chunks do not fight for the same sets of the cache.
    let buffer = vec![0x5a; case.streams * (CHUNK_BYTES + 64)];
    bencher
        .counter(BytesCount::new(case.streams * CHUNK_BYTES))
        .bench_local(|| {
            let chunks = black_box(&buffer).chunks_exact(CHUNK_BYTES + 64);
            let mut streams: Vec<_> = states
                .iter_mut()
                .zip(chunks)
                .map(|(state, chunk)| Stream {
                    state,
                    chunk: &chunk[..CHUNK_BYTES],
                    last: false,
                })
                .collect();
            case.lanes.advance(&mut streams);
        });
}

/// One message under several algorithms.
#[divan::bench(args = [2, 3, 4])]
fn together(bencher: Bencher<'_, '_>, algorithms: usize) {
    let chunk = vec![0x5a; CHUNK_BYTES];
    let chosen = ALGORITHMS[..algorithms].iter();
    let mut states: Vec<_> = chosen
        .filter_map(|&algorithm| LaneState::new(algorithm))
        .collect();
    let lanes = Lanes::detect();
    bencher
        .counter(BytesCount::new(chunk.len()))
        .bench_local(|| lanes.advance_together(&mut states, black_box(&chunk), false));
}

/// Messages of 1 to 8 KiB with their padding, as many in each call as the kernel has lanes, or several times
/// as many, so that lanes are refilled.
#[divan::bench(args = ALGORITHMS, consts = [1, 4, 16])]
fn small<const TIMES: usize>(bencher: Bencher<'_, '_>, algorithm: Algorithm) {
    let buffer = vec![0x5a; 8 << 10];
    let messages: Vec<_> = (0..960)
        .map(|i| &buffer[..1024 + i * 2617 % 7168])
        .collect();
    let lanes = Lanes::detect();
    let width = TIMES * lanes.width(algorithm, usize::MAX);
    let mut states: Vec<_> = (0..width)
        .filter_map(|_| LaneState::new(algorithm))
        .collect();
    let bytes: usize = messages.iter().map(|message| message.len()).sum();
    bencher.counter(BytesCount::new(bytes)).bench_local(|| {
        for batch in messages.chunks(width) {
            let mut streams: Vec<_> = states
                .iter_mut()
                .zip(batch)
                .map(|(state, &chunk)| Stream {
                    state,
                    chunk,
                    last: true,
                })
                .collect();
            lanes.advance(&mut streams);
            for state in &mut states[..batch.len()] {
                black_box(state.finish());
            }
        }
    });
}

/// The same by the digest crates.
#[divan::bench(args = ALGORITHMS)]
fn small_crates(bencher: Bencher<'_, '_>, algorithm: Algorithm) {
    let buffer = vec![0x5a; 8 << 10];
    let messages: Vec<_> = (0..960)
        .map(|i| &buffer[..1024 + i * 2617 % 7168])
        .collect();
    let mut hasher = new_hasher(algorithm);
    let bytes: usize = messages.iter().map(|message| message.len()).sum();
    bencher.counter(BytesCount::new(bytes)).bench_local(|| {
        for message in &messages {
            hasher.update(message);
            black_box(hasher.finish());
        }
    });
}
