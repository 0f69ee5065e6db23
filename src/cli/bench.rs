//! `multisum bench`.

use std::hint::black_box;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::algorithm::Algorithm;
use crate::engine::Cancel;
use crate::error::{Error, FileError, Operation};
use crate::hasher::new_hasher;
use crate::lanes::{Blake2State, LaneState, Lanes, Stream};
use crate::report::chart::{self, Glyphs, Row};
use crate::report::figures;

use super::args::BenchArgs;
use super::console::Console;
use super::exit::ExitCode;
use super::plan::{self, Failure};
use super::signals::cancel_on_signals;

/// Bytes of each of several messages that are hashed at a time: what the engine reads of a file.
const CHUNK_BYTES: usize = 64 * 1024;

/// The distance of two messages in memory, so that they do not meet in one set of the cache.
const STRIDE_BYTES: usize = CHUNK_BYTES + 64;

/// Measures every algorithm on one thread over memory: one message by the crate, one message by the
/// kernels, and as many side by side as each backend takes.
pub(super) fn run(args: &BenchArgs, console: &Console) -> Result<ExitCode, Failure> {
    let mut algorithms = plan::algorithms(&args.algorithm)?;
    if algorithms.is_empty() {
        algorithms.extend(Algorithm::all());
    }
    let cancel = cancel_on_signals().map_err(Error::Threads)?;
    let bench = Bench {
        buffer: painted(usize::try_from(args.size.get()).unwrap_or(usize::MAX)),
        time: Duration::from_secs_f64(args.time),
    };
    let mut measured = Vec::new();
    for algorithm in algorithms {
        measured.extend(bench.algorithm(algorithm, &cancel)?);
    }
    let text = if args.json {
        json_lines(&measured)
    } else {
        table(console, &measured)
    };
    write_stdout(&text.map_err(write_error)?).map_err(write_error)?;
    Ok(ExitCode::Well)
}

/// One figure.
struct Measured {
    algorithm: Algorithm,
    /// The kernel, or `crate` for the library that the algorithm comes from.
    kernel: String,
    /// Messages side by side.
    streams: usize,
    chunk_bytes: usize,
    bytes_per_second: f64,
}

struct Bench {
    buffer: Vec<u8>,
    time: Duration,
}

impl Bench {
    fn algorithm(&self, algorithm: Algorithm, cancel: &Cancel) -> Result<Vec<Measured>, Error> {
        let mut measured = vec![self.crate_alone(algorithm)];
        for (_, kernels) in Lanes::backends().collect::<Vec<_>>().into_iter().rev() {
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let Ok(kernels) = kernels else { continue };
            for open in [1, usize::MAX] {
                if let Some(kernel) = kernels.kernel_name(algorithm, open) {
                    let known = measured
                        .iter()
                        .any(|known: &Measured| known.kernel == kernel);
                    if !known {
                        measured.push(self.side_by_side(algorithm, kernels, kernel, open));
                    }
                }
            }
        }
        measured.extend(self.blake2(algorithm));
        Ok(measured)
    }

    fn crate_alone(&self, algorithm: Algorithm) -> Measured {
        let mut hasher = new_hasher(algorithm);
        let bytes_per_second =
            self.rate(self.buffer.len(), || hasher.update(black_box(&self.buffer)));
        black_box(hasher.finish());
        let (kernel, streams, chunk_bytes) = ("crate".to_owned(), 1, self.buffer.len());
        Measured {
            algorithm,
            kernel,
            streams,
            chunk_bytes,
            bytes_per_second,
        }
    }

    fn side_by_side(
        &self,
        algorithm: Algorithm,
        kernels: Lanes,
        kernel: &str,
        open: usize,
    ) -> Measured {
        let streams = kernels.width(algorithm, open);
        let memory = painted(streams * STRIDE_BYTES);
        let mut states: Vec<LaneState> = (0..streams)
            .filter_map(|_| LaneState::new(algorithm))
            .collect();
        let bytes_per_second = self.rate(streams * CHUNK_BYTES, || {
            let chunks = memory
                .chunks(STRIDE_BYTES)
                .map(|chunk| &chunk[..CHUNK_BYTES]);
            let streams = states.iter_mut().zip(chunks);
            let mut streams: Vec<Stream<'_>> = streams
                .map(|(state, chunk)| Stream {
                    state,
                    chunk,
                    last: false,
                })
                .collect();
            kernels.advance(black_box(&mut streams));
        });
        let (kernel, chunk_bytes) = (kernel.to_owned(), CHUNK_BYTES);
        Measured {
            algorithm,
            kernel,
            streams,
            chunk_bytes,
            bytes_per_second,
        }
    }

    fn blake2(&self, algorithm: Algorithm) -> Option<Measured> {
        let streams = Blake2State::width(algorithm);
        let mut states = vec![Blake2State::new(algorithm)?; streams];
        let memory = painted(streams * STRIDE_BYTES);
        let bytes_per_second = self.rate(streams * CHUNK_BYTES, || {
            let chunks = memory
                .chunks(STRIDE_BYTES)
                .map(|chunk| &chunk[..CHUNK_BYTES]);
            let mut messages: Vec<_> = states.iter_mut().zip(chunks).collect();
            Blake2State::update_many(black_box(&mut messages));
        });
        let (kernel, chunk_bytes) = ("crate, many".to_owned(), CHUNK_BYTES);
        Some(Measured {
            algorithm,
            kernel,
            streams,
            chunk_bytes,
            bytes_per_second,
        })
    }

    /// Bytes a second: the best of the rounds that fit into the time, since whatever else the
    /// machine does can only slow a round down.
    fn rate(&self, bytes: usize, mut round: impl FnMut()) -> f64 {
        round();
        let begun = Instant::now();
        let mut best = f64::INFINITY;
        while begun.elapsed() < self.time || best.is_infinite() {
            let start = Instant::now();
            round();
            best = best.min(start.elapsed().as_secs_f64());
        }
        bytes as f64 / best.max(f64::EPSILON)
    }
}

fn write_error(error: io::Error) -> Failure {
    FileError::new(Operation::Write, "standard output", error).into()
}

fn write_stdout(text: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text)?;
    stdout.flush()
}

fn painted(len: usize) -> Vec<u8> {
    (0..=250).cycle().take(len).collect()
}

fn table(console: &Console, measured: &[Measured]) -> io::Result<Vec<u8>> {
    let row = |one: &Measured| {
        let side_by_side = if one.streams > 1 {
            format!(", {} files", one.streams)
        } else {
            String::new()
        };
        Row {
            label: format!("{} ({}{side_by_side})", one.algorithm, one.kernel),
            value: one.bytes_per_second,
            note: format!("{}/s", figures::size(one.bytes_per_second as u64)),
        }
    };
    let rows: Vec<Row> = measured.iter().map(row).collect();
    let mut text = Vec::new();
    chart::write(&mut text, &rows, console.columns(), Glyphs::Blocks)?;
    Ok(text)
}

fn json_lines(measured: &[Measured]) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    for one in measured {
        let line = json!({
            "algorithm": one.algorithm.to_string(),
            "kernel": one.kernel,
            "streams": one.streams,
            "chunk_bytes": one.chunk_bytes,
            "bytes_per_second": one.bytes_per_second.round(),
        });
        writeln!(text, "{line}")?;
    }
    Ok(text)
}
