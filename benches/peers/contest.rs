//! One row: everybody is checked, then measured in turns.

use std::error::Error;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::candidates::{Candidate, Proof, Variant, candidates};
use crate::check::{self, Digests};
use crate::inputs::Made;
use crate::measure::Cost;
use crate::rows::{Row, Task};
use crate::{Result, Setup, say, stats};

/// What became of a tool in a row.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) ours: bool,
    /// The command that was measured.
    pub(crate) command: String,
    pub(crate) costs: Vec<Cost>,
    /// Why it was left out.
    pub(crate) fault: Option<Fault>,
}

/// Why a tool was left out.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// It could not do the work, or not in time.
    Failed(String),
    /// It has other digests than multisum.
    Disagrees(String),
}

/// A row that was run.
#[derive(Clone, Debug)]
pub(crate) struct Contest {
    pub(crate) row: Row,
    pub(crate) bytes: u64,
    pub(crate) files: u64,
    /// multisum first.
    pub(crate) entries: Vec<Entry>,
}

impl Entry {
    fn walls(&self) -> Vec<f64> {
        self.costs.iter().map(|cost| cost.wall).collect()
    }

    /// Seconds: the median.
    pub(crate) fn wall(&self) -> f64 {
        stats::median(&self.walls())
    }

    /// Seconds: the least and the most.
    pub(crate) fn range(&self) -> (f64, f64) {
        (stats::least(&self.walls()), stats::most(&self.walls()))
    }

    /// Processor time, as a percentage of the time of one core: the median.
    pub(crate) fn cpu_percent(&self) -> Option<f64> {
        let percent = |cost: &Cost| cost.cpu.map(|cpu| 100.0 * cpu / cost.wall);
        let percents: Option<Vec<f64>> = self.costs.iter().map(percent).collect();
        percents.map(|percents| stats::median(&percents))
    }

    /// Bytes: the most of all runs.
    pub(crate) fn peak_bytes(&self) -> Option<u64> {
        self.costs.iter().filter_map(|cost| cost.peak_bytes).max()
    }

    /// Whether there are figures that count.
    pub(crate) fn stands(&self) -> bool {
        self.fault.is_none() && !self.costs.is_empty()
    }
}

impl Contest {
    /// multisum, if it could do the work.
    pub(crate) fn ours(&self) -> Option<&Entry> {
        self.entries
            .iter()
            .find(|entry| entry.ours && entry.stands())
    }

    /// The fastest of the others.
    pub(crate) fn best_peer(&self) -> Option<&Entry> {
        let peers = self
            .entries
            .iter()
            .filter(|entry| !entry.ours && entry.stands());
        peers.min_by(|a, b| a.wall().total_cmp(&b.wall()))
    }

    /// How many times as fast as the fastest peer multisum is.
    pub(crate) fn ratio(&self) -> Option<f64> {
        Some(self.best_peer()?.wall() / self.ours()?.wall())
    }
}

/// A candidate on its way through a row.
struct Runner {
    candidate: Candidate,
    /// The variant to measure.
    chosen: Option<Variant>,
    output_len: u64,
    costs: Vec<Cost>,
    fault: Option<Fault>,
}

/// What all runs of a row share.
struct Track<'a> {
    setup: &'a Setup,
    row: &'a Row,
    made: &'a Made,
    /// What multisum found.
    expected: Digests,
}

/// Runs a row.
pub(crate) fn run(row: &Row, setup: &Setup) -> Result<Contest> {
    let made = row.input.make(&setup.inputs)?;
    say(&format!("{}: {}", row.name, row.title()))?;
    let parts = match row.task {
        Task::Hash => Vec::new(),
        Task::Verify => write_lists(row, &made, setup)?,
    };
    let mut track = Track {
        setup,
        row,
        made: &made,
        expected: Digests::new(),
    };
    let mut runners: Vec<Runner> = candidates(row, &made, setup, &parts)
        .into_iter()
        .map(Runner::new)
        .collect();
    for runner in &mut runners {
        track.prepare(runner);
        report_fault(runner)?;
        if runner.is_ours_and_fails() {
            // There is nothing to compare the others with.
            runners.truncate(1);
            break;
        }
    }
    for round in 0..setup.options.runs.get().max(row.least_runs) {
        let count = runners.len();
        for turn in 0..count {
            // Each time somebody else begins.
            track.measure(&mut runners[(turn + round) % count]);
        }
    }
    Ok(Contest {
        row: row.clone(),
        bytes: made.bytes,
        files: made.files,
        entries: runners.into_iter().map(Runner::into_entry).collect(),
    })
}

fn report_fault(runner: &Runner) -> Result<()> {
    match &runner.fault {
        None => Ok(()),
        Some(Fault::Failed(why)) => say(&format!("  {}: {why}", runner.candidate.name)),
        Some(Fault::Disagrees(why)) => {
            say(&format!("  {} DISAGREES: {why}", runner.candidate.name))
        }
    }
}

impl Runner {
    fn new(candidate: Candidate) -> Self {
        Self {
            candidate,
            chosen: None,
            output_len: 0,
            costs: Vec::new(),
            fault: None,
        }
    }

    fn is_ours_and_fails(&self) -> bool {
        self.candidate.ours && self.fault.is_some()
    }

    fn into_entry(self) -> Entry {
        let variant = self.chosen.unwrap_or(self.candidate.check);
        Entry {
            name: self.candidate.name,
            version: self.candidate.version,
            ours: self.candidate.ours,
            command: variant.launch.typed(),
            costs: self.costs,
            fault: self.fault,
        }
    }
}

impl Track<'_> {
    /// Checks the digests and chooses the fastest variant.
    fn prepare(&mut self, runner: &mut Runner) {
        runner.fault = self.check(runner).and_then(|()| self.choose(runner)).err();
    }

    fn check(&mut self, runner: &mut Runner) -> Result<(), Fault> {
        let check = &runner.candidate.check;
        self.launch(check, false)?;
        let output = self.setup.bench.output();
        runner.output_len = fs::metadata(&output).map_err(failed)?.len();
        if runner.candidate.ours && check.proof != Proof::Status {
            self.expected = self.read(check)?;
            self.check_completeness()?;
        }
        self.prove(check, runner.output_len)
    }

    /// Nobody can be compared with a list that lacks something.
    fn check_completeness(&self) -> Result<(), Fault> {
        let due = self.made.files * self.row.algorithms.len() as u64;
        let found = self.expected.len();
        if found as u64 == due {
            return Ok(());
        }
        Err(Fault::Disagrees(format!("{found} of {due} digests")))
    }

    fn choose(&self, runner: &mut Runner) -> Result<(), Fault> {
        let mut best = f64::INFINITY;
        let variants = &runner.candidate.variants;
        for variant in variants {
            // Where there is no choice, the check was the warm-up.
            if let [only] = variants.as_slice()
                && *only.launch.0 == runner.candidate.check.launch.0
            {
                runner.chosen = Some(only.clone());
                break;
            }
            let cost = self.launch(variant, self.row.cold)?;
            self.prove(variant, runner.output_len)?;
            if cost.wall < best {
                best = cost.wall;
                runner.chosen = Some(variant.clone());
            }
        }
        Ok(())
    }

    fn measure(&self, runner: &mut Runner) {
        let (None, Some(variant)) = (&runner.fault, &runner.chosen) else {
            return;
        };
        let cost = self.launch(variant, self.row.cold).and_then(|cost| {
            self.prove(variant, runner.output_len)?;
            Ok(cost)
        });
        match cost {
            Ok(cost) => runner.costs.push(cost),
            Err(fault) => runner.fault = Some(fault),
        }
    }

    fn launch(&self, variant: &Variant, cold: bool) -> Result<Cost, Fault> {
        if cold {
            empty_cache().map_err(failed)?;
        }
        let cost = self.setup.bench.run(&variant.launch, &self.made.folder);
        cost.map_err(failed)
    }

    fn read(&self, variant: &Variant) -> Result<Digests, Fault> {
        let Proof::Digests(shape) = variant.proof else {
            return Ok(Digests::new());
        };
        let output = fs::read(self.setup.bench.output()).map_err(failed)?;
        let algorithms = &self.row.algorithms;
        check::read(&output, shape, algorithms, self.made.file.as_deref())
            .map_err(|error| Fault::Disagrees(error.to_string()))
    }

    /// Proves that the run just ended did the work.
    fn prove(&self, variant: &Variant, output_len: u64) -> Result<(), Fault> {
        match variant.proof {
            Proof::Status => Ok(()),
            Proof::Length => {
                let output = fs::metadata(self.setup.bench.output()).map_err(failed)?;
                if output.len() == output_len {
                    return Ok(());
                }
                let difference = format!("{} bytes of output, not {output_len}", output.len());
                Err(Fault::Disagrees(difference))
            }
            Proof::Digests(_) => check::compare(&self.read(variant)?, &self.expected)
                .map_err(|error| Fault::Disagrees(error.to_string())),
        }
    }
}

fn failed(error: impl Into<Box<dyn Error>>) -> Fault {
    Fault::Failed(error.into().to_string())
}

/// Whether the page cache can be emptied: only root may, and only Linux has a way.
pub(crate) fn can_empty_cache() -> bool {
    File::options().write(true).open(DROP_CACHES).is_ok()
}

const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

fn empty_cache() -> Result<()> {
    #[cfg(target_os = "linux")]
    rustix::fs::sync();
    File::options()
        .write(true)
        .open(DROP_CACHES)?
        .write_all(b"3\n")?;
    Ok(())
}

/// Writes the list of all digests, and the same in as many parts as there are cores.
fn write_lists(row: &Row, made: &Made, setup: &Setup) -> Result<Vec<PathBuf>> {
    let hash = Row {
        task: Task::Hash,
        ..row.clone()
    };
    let candidates = candidates(&hash, made, setup, &[]);
    let ours = candidates.first().ok_or("nobody to write a list")?;
    setup.bench.run(&ours.check.launch, &made.folder)?;
    let list = fs::read(setup.bench.output())?;
    let lines: Vec<&[u8]> = list.split_inclusive(|byte| *byte == b'\n').collect();
    let whole = setup.bench.scratch.join("list");
    fs::write(&whole, &list)?;
    let mut paths = vec![whole];
    for (index, part) in lines
        .chunks(lines.len().div_ceil(setup.machine.cores).max(1))
        .enumerate()
    {
        paths.push(write_part(&setup.bench.scratch, index, part)?);
    }
    Ok(paths)
}

fn write_part(scratch: &Path, index: usize, lines: &[&[u8]]) -> Result<PathBuf> {
    let path = scratch.join(format!("list-{index}"));
    fs::write(&path, lines.concat())?;
    Ok(path)
}
