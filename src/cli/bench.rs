//! `multisum bench`.

use std::hint::black_box;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::algorithm::Algorithm;
use crate::error::{Error, FileError, Operation};
use crate::hasher::new_hasher;
use crate::report::chart::{self, Glyphs, Row};
use crate::report::figures;

use super::args::BenchArgs;
use super::console::Console;
use super::exit::ExitCode;
use super::plan::{self, Failure};
use super::signals::cancel_on_signals;

/// Measures one stream of each algorithm on one thread, over a buffer in memory.
pub(super) fn run(args: &BenchArgs, console: &Console) -> Result<ExitCode, Failure> {
    let mut algorithms = plan::algorithms(&args.algorithm)?;
    if algorithms.is_empty() {
        algorithms.extend(Algorithm::all());
    }
    let cancel = cancel_on_signals().map_err(Error::Threads)?;
    let buffer = painted(usize::try_from(args.size.get()).unwrap_or(usize::MAX));
    let time = Duration::from_secs_f64(args.time);
    let mut measured = Vec::new();
    for algorithm in algorithms {
        if cancel.is_cancelled() {
            return Err(Error::Cancelled.into());
        }
        measured.push((algorithm, measure(algorithm, &buffer, time)));
    }
    let text = if args.json {
        json_lines(args, &measured)
    } else {
        table(console, &measured)
    };
    write_stdout(&text.map_err(write_error)?).map_err(write_error)?;
    Ok(ExitCode::Well)
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

/// Bytes a second: the best of the rounds that fit into the time, since whatever else the machine
/// does can only slow a round down.
fn measure(algorithm: Algorithm, buffer: &[u8], time: Duration) -> f64 {
    let mut hasher = new_hasher(algorithm);
    hasher.update(buffer);
    let begun = Instant::now();
    let mut best = f64::INFINITY;
    while begun.elapsed() < time || best.is_infinite() {
        let round = Instant::now();
        hasher.update(black_box(buffer));
        best = best.min(round.elapsed().as_secs_f64());
    }
    black_box(hasher.finish());
    buffer.len() as f64 / best.max(f64::EPSILON)
}

fn table(console: &Console, measured: &[(Algorithm, f64)]) -> io::Result<Vec<u8>> {
    let rows: Vec<Row> = measured
        .iter()
        .map(|&(algorithm, rate)| Row {
            label: algorithm.to_string(),
            value: rate,
            note: format!("{}/s", figures::size(rate as u64)),
        })
        .collect();
    let mut text = Vec::new();
    chart::write(&mut text, &rows, console.columns(), Glyphs::Blocks)?;
    Ok(text)
}

fn json_lines(args: &BenchArgs, measured: &[(Algorithm, f64)]) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    for (algorithm, rate) in measured {
        let line = json!({
            "algorithm": algorithm.to_string(),
            "buffer_bytes": args.size.get(),
            "bytes_per_second": rate.round(),
        });
        writeln!(text, "{line}")?;
    }
    Ok(text)
}
