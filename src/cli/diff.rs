//! `multisum diff`.

use std::io::{self};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use crate::algorithm::Algorithm;
use crate::engine::Totals;
use crate::error::{Error, FileError, Operation};
use crate::event::Sink;
use crate::ops::{self, DiffOptions, DiffSide, Diffed, FolderSide, SurveyedManifest};
use crate::relpath::RelPath;
use crate::report::{Command, MalformedLines, Progress, Summary};
use crate::walk::{self, Input, LeaveOut, Root};

use super::args::DiffArgs;
use super::console::Console;
use super::exit::ExitCode;
use super::journal;
use super::plan::{self, Failure};
use super::signals;
use super::sink::{self, ReportSink};

/// Compares the two sides that the arguments name.
pub(super) fn run(args: &DiffArgs, console: &Console) -> Result<ExitCode, Failure> {
    let start = Instant::now();
    let sides = [&*args.old, &*args.new];
    if sides.iter().all(|side| side.as_os_str() == "-") {
        return Err(Failure::StdinTwice);
    }
    let walk = plan::walk_options(&args.scope)?;
    let algorithms = algorithms(args)?;
    let place = sides.iter().find(|side| side.is_dir());
    let engine = plan::engine(&args.machine, place.copied().unwrap_or(Path::new(".")))?;
    let target = console.progress(&args.report);
    let progress = Progress::start(
        Arc::clone(&engine.gauges),
        Arc::new(Totals::default()),
        target,
    )
    .map_err(Error::Threads)?;
    let report = sink::report(Command::Diff, args.json, &args.report, console, &progress);
    let mut sink = ReportSink::new(report);
    let (old, new, options) = open(args, walk, algorithms, &mut sink)?;
    let diffed = ops::diff(old, new, &options, &engine, &mut sink);
    signals::telling();
    let diffed = diffed?;
    let shown = progress.finish();
    let code = finish(sink, args, start, diffed)?;
    shown.map_err(Error::Output)?;
    Ok(code)
}

/// What two folders are compared by, or the algorithm of digests whose lines do not say.
fn algorithms(args: &DiffArgs) -> Result<Vec<Algorithm>, Failure> {
    let algorithms = plan::algorithms(&args.algorithm)?;
    if args.old.is_dir() && args.new.is_dir() {
        return Ok(match algorithms.is_empty() {
            true => vec![Algorithm::Sha256],
            false => algorithms,
        });
    }
    match algorithms.len() {
        0 | 1 => Ok(algorithms),
        _ => Err(Failure::SeveralForLists),
    }
}

fn open(
    args: &DiffArgs,
    mut walk: walk::Options,
    algorithms: Vec<Algorithm>,
    sink: &mut dyn Sink,
) -> Result<(DiffSide, DiffSide, DiffOptions), Failure> {
    let mut manifest = |path: &Path| -> Result<Option<Box<SurveyedManifest>>, Failure> {
        if path.is_dir() {
            return Ok(None);
        }
        let hints = plan::hints(path, algorithms.first().copied(), args.format);
        let file = plan::manifest_file(path, hints, true)?;
        Ok(Some(Box::new(SurveyedManifest::new(file, sink)?)))
    };
    let (old, new) = (manifest(&args.old)?, manifest(&args.new)?);
    let mut options = DiffOptions {
        names: walk.filter.clone(),
        max_depth: walk.max_depth,
        algorithms,
    };
    leave_out(args, &mut walk.leave_out)?;
    let (old, new) = match (old, new) {
        (Some(old), Some(new)) => (DiffSide::Manifest(old), DiffSide::Manifest(new)),
        (Some(old), None) => {
            let new = folder_beside(&args.new, &old, args, walk, &mut options)?;
            (DiffSide::Manifest(old), new)
        }
        (None, Some(new)) => {
            let old = folder_beside(&args.old, &new, args, walk, &mut options)?;
            (old, DiffSide::Manifest(new))
        }
        (None, None) => (folder(&args.old, walk.clone()), folder(&args.new, walk)),
    };
    Ok((old, new, options))
}

/// The manifests and the report may lie in a tree that is compared.
fn leave_out(args: &DiffArgs, leave_out: &mut LeaveOut) -> Result<(), FileError> {
    for path in [&args.old, &args.new] {
        if path.as_os_str() == "-" {
            plan::leave_out_stream(&io::stdin(), "standard input", leave_out)?;
        } else if !path.is_dir() {
            let stat = |error| FileError::new(Operation::Stat, path, error);
            leave_out.add_path(path).map_err(stat)?;
            journal::leave_out_beside(path, leave_out);
        }
    }
    plan::leave_out_stream(&io::stdout(), "standard output", leave_out)
}

fn folder(folder: &Path, walk: walk::Options) -> DiffSide {
    DiffSide::Folder(FolderSide {
        folder: folder.to_owned(),
        inputs: vec![Input::Path(Root::relative(folder))],
        walk,
    })
}

/// A folder as it was walked when the manifest was made, if that says so, so that like is compared
/// with like. Its globs are relative to what was walked, and its entries have passed them.
fn folder_beside(
    path: &Path,
    manifest: &SurveyedManifest,
    args: &DiffArgs,
    walk: walk::Options,
    options: &mut DiffOptions,
) -> Result<DiffSide, Failure> {
    let failed = |reason| Failure::Scope {
        path: shown(manifest),
        reason,
    };
    let header = manifest.survey.header.as_ref();
    let recorded = header.map(|header| ops::recorded_walk(header, path));
    let recorded = recorded.transpose().map_err(failed)?.flatten();
    let (Some(header), Some((inputs, mut recorded))) = (header, recorded) else {
        return Ok(folder(path, walk));
    };
    ops::agree(&header.scope, &walk).map_err(failed)?;
    options.names = walk::Filter::default();
    options.max_depth = None;
    leave_out(args, &mut recorded.leave_out)?;
    Ok(DiffSide::Folder(FolderSide {
        folder: path.to_owned(),
        inputs,
        walk: recorded,
    }))
}

fn shown(manifest: &SurveyedManifest) -> PathBuf {
    let path = manifest.file.path().map(Path::to_owned);
    path.unwrap_or_else(|| "standard input".into())
}

fn finish(
    mut sink: ReportSink,
    args: &DiffArgs,
    start: Instant,
    diffed: Diffed,
) -> Result<ExitCode, Failure> {
    let severity = sink.counts.severity(Command::Diff, MalformedLines::Fail);
    let code = ExitCode::from(severity);
    let mut summary = Summary::new(Command::Diff, sink.counts, start.elapsed());
    summary.sides = Some([&args.old, &args.new].map(|side| RelPath::from_path(side)));
    summary.bytes_read = Some(diffed.bytes_read);
    summary.algorithms = diffed.algorithms.into_iter().collect();
    summary.manifests = sink.manifests;
    summary.notes = sink.notes;
    summary.exit_code = code.number();
    sink.report.finish(&summary).map_err(Error::Output)?;
    Ok(code)
}
