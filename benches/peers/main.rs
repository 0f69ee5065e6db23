//! multisum against the other tools that hash files: whole processes, each at its best.
//!
//! ```text
//! cargo bench --bench peers                        every row; well over half an hour
//! cargo bench --bench peers -- --quick             under two minutes
//! cargo bench --bench peers -- --only tree-md5     one row
//! ```
//!
//! The rows are in `rows`, the tools and their commands in `tools`, and how each is given its best
//! chance in `candidates`. `contest` runs a row: everybody once for the digests, which must agree,
//! once for each variant of the command, and then in turns. Results go to `target/peers/`.

mod candidates;
mod check;
mod contest;
mod inputs;
mod machine;
mod measure;
mod options;
mod read;
mod rows;
mod stats;
mod tables;
mod tools;

use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use std::{env, fs};

use clap::Parser;

use contest::{Contest, Fault};
use machine::Machine;
use measure::{Bench, Launch};
use options::Options;
use read::Speed;
use rows::Row;
use tools::{Missing, Tool};

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// What stays the same through a run.
#[derive(Debug)]
struct Setup {
    options: Options,
    machine: Machine,
    tools: Vec<Tool>,
    missing: Missing,
    inputs: PathBuf,
    bench: Bench,
    /// The program that is measured.
    multisum: String,
    /// This program.
    itself: String,
}

/// What a run has brought so far.
#[derive(Debug, Default)]
struct Harvest {
    contests: Vec<Contest>,
    buffers: Vec<Speed>,
    /// Names of rows, and why they were left out.
    skipped: Vec<(String, String)>,
    /// The peak of memory of a program that does nothing.
    floor_bytes: Option<u64>,
    load_after: Option<f64>,
}

/// The row that is not a contest.
const BUFFERS: &str = "buffers";

fn main() -> Result<ExitCode> {
    if let Some(done) = measure::asked_to_measure().or_else(read::asked_to_read) {
        return done;
    }
    let options = Options::parse();
    let rows = rows::all(&options);
    if options.only.iter().any(|name| name == "list") {
        return list(&rows);
    }
    let setup = set_up(options)?;
    introduce(&setup)?;
    let results = results_folder()?;
    let mut harvest = Harvest {
        floor_bytes: floor(&setup),
        ..Harvest::default()
    };
    for row in rows.iter().filter(|row| is_wanted(&setup, row.name)) {
        run_row(row, &setup, &mut harvest)?;
        tables::write_all(&results, &setup, &harvest)?;
    }
    if is_wanted(&setup, BUFFERS) {
        match read::buffers(&setup) {
            Ok(buffers) => harvest.buffers = buffers,
            Err(error) => skip(BUFFERS, &error.to_string(), &mut harvest)?,
        }
    }
    harvest.load_after = machine::load();
    finish(&results, &setup, &harvest)
}

/// Says something to whoever waits.
fn say(text: &str) -> Result<()> {
    writeln!(io::stderr(), "{text}")?;
    Ok(())
}

fn list(rows: &[Row]) -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    for row in rows {
        writeln!(out, "{:<30} {}", row.name, row.title())?;
    }
    writeln!(
        out,
        "{BUFFERS:<30} plain reads with buffers of several sizes"
    )?;
    Ok(ExitCode::SUCCESS)
}

fn is_wanted(setup: &Setup, name: &str) -> bool {
    let only = &setup.options.only;
    only.is_empty() || only.iter().any(|part| name.contains(part.as_str()))
}

fn set_up(options: Options) -> Result<Setup> {
    let inputs = options
        .inputs
        .clone()
        .unwrap_or_else(|| env::temp_dir().join("multisum-peers"));
    fs::create_dir_all(&inputs)?;
    let inputs = fs::canonicalize(inputs)?;
    let scratch = inputs.join("scratch");
    fs::create_dir_all(&scratch)?;
    let built = Path::new(env!("CARGO_BIN_EXE_multisum"));
    let multisum = fs::canonicalize(options.multisum.as_deref().unwrap_or(built))?;
    let multisum = multisum
        .to_str()
        .ok_or("the path of multisum is not text")?
        .to_owned();
    let (tools, missing) = tools::find(&options.path, &scratch)?;
    let itself = env::current_exe()?;
    Ok(Setup {
        machine: Machine::look(&multisum)?,
        tools,
        missing,
        inputs,
        multisum,
        itself: itself
            .to_str()
            .ok_or("the path of this program is not text")?
            .to_owned(),
        bench: Bench {
            itself,
            scratch,
            limit: Duration::from_secs(options.limit),
        },
        options,
    })
}

fn introduce(setup: &Setup) -> Result<()> {
    say(&setup.machine.prose())?;
    for tool in &setup.tools {
        say(&format!("  {} {}", tool.name, tool.version))?;
    }
    if !setup.missing.is_empty() {
        say(&format!("  not installed: {}", setup.missing.join(", ")))?;
    }
    if setup.machine.is_busy() {
        say("  other work is going on: the figures will be of no use")?;
    }
    Ok(())
}

/// The folder for results, beside everything else that cargo builds.
fn results_folder() -> Result<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    Ok(target.ok_or("no folder for results")?.join("peers"))
}

/// What a command that does nothing is said to take.
fn floor(setup: &Setup) -> Option<u64> {
    let nothing = Launch(vec!["true".to_owned()]);
    let cost = setup.bench.run(&nothing, &setup.inputs);
    cost.ok().and_then(|cost| cost.peak_bytes)
}

fn run_row(row: &Row, setup: &Setup, harvest: &mut Harvest) -> Result<()> {
    if row.cold && !contest::can_empty_cache() {
        return skip(row.name, "only root can empty the page cache", harvest);
    }
    if row.one_core && tools::find_program("taskset", &[]).is_none() {
        return skip(row.name, "taskset is not installed", harvest);
    }
    match contest::run(row, setup) {
        Ok(contest) => {
            say(&tables::line(&contest))?;
            harvest.contests.push(contest);
            Ok(())
        }
        Err(error) => skip(row.name, &error.to_string(), harvest),
    }
}

fn skip(row: &str, why: &str, harvest: &mut Harvest) -> Result<()> {
    say(&format!("{row}: left out: {why}"))?;
    harvest.skipped.push((row.to_owned(), why.to_owned()));
    Ok(())
}

/// Writes everything; fails if multisum did, or if any tool had other digests.
fn finish(results: &Path, setup: &Setup, harvest: &Harvest) -> Result<ExitCode> {
    tables::write_all(results, setup, harvest)?;
    let page = results.join("summary.md");
    let mut out = io::stdout().lock();
    out.write_all(tables::ratios(harvest)?.as_bytes())?;
    say(&format!("written: {page:?}"))?;
    if let Some(folder) = &setup.options.record {
        let page = tables::record(results, folder, setup)?;
        say(&format!("recorded: {page:?}"))?;
    }
    let entries = harvest.contests.iter().flat_map(|contest| &contest.entries);
    let disagree = entries.filter(|entry| match entry.fault {
        Some(Fault::Disagrees(_)) => true,
        Some(Fault::Failed(_)) => entry.ours,
        None => false,
    });
    Ok(match disagree.count() {
        0 => ExitCode::SUCCESS,
        count => {
            say(&format!("{count} results do not agree with each other"))?;
            ExitCode::FAILURE
        }
    })
}
