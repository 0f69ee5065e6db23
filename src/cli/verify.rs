//! `multisum verify`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use crate::algorithm::Algorithm;
use crate::engine::Totals;
use crate::error::{Error, FileError, Operation};
use crate::event::{Note, Severity};
use crate::ops::{
    self, BaseChoice, Kept, List, ListInput, Package, Relocation, Verified, VerifyOptions,
};
use crate::relpath::RelPath;
use crate::report::{Command, MalformedLines, Progress, Summary, Target};
use crate::walk::LeaveOut;

use super::args::VerifyArgs;
use super::console::Console;
use super::exit::ExitCode;
use super::journal;
use super::output::Output;
use super::plan::{self, Failure};
use super::scrub;
use super::signals::{self, Reporting};
use super::signature::{Proved, Signatures};
use super::sink::{self, ReportSink};

/// Files that each thread may have begun, or be about to begin, where a run is to end in time.
const BEGUN_PER_THREAD: NonZeroUsize = NonZeroUsize::MIN.saturating_add(3);

/// Verifies the manifests that the arguments name.
pub(super) fn run(args: &VerifyArgs, console: &Console) -> Result<ExitCode, Failure> {
    let start = Instant::now();
    plan::base(args.base.as_ref())?;
    let (mut lists, notes) = open_lists(args)?;
    if args.portion.scrub_state.is_some() && args.manifests.len() > 1 {
        return Err(Failure::SeveralScrubbed);
    }
    let mut engine = plan::engine(&args.machine, base_place(args))?;
    if args.portion.max_time.is_some() {
        // What has been begun is finished, so not much may have been.
        engine.window = engine.threads.saturating_mul(BEGUN_PER_THREAD);
    }
    let target = console.progress(&args.report);
    let totals = Arc::new(Totals::default());
    let mut options = verify_options(args, start)?;
    let state = scrub::begin(args)?;
    if let Some(file) = state.as_ref().and_then(Output::file) {
        let stat = |error| FileError::new(Operation::Stat, "the new state", error);
        options.leave_out.add_file(file).map_err(stat)?;
    }
    let mut begun = journal::of_verify(args, &mut lists, &mut options.leave_out)?;
    if begun.is_some() {
        engine.save_every = Some(plan::save_every()?);
    }
    if target != Target::Hidden {
        options.totals = Some(Arc::clone(&totals));
    }
    let progress =
        Progress::start(Arc::clone(&engine.gauges), totals, target).map_err(Error::Threads)?;
    let report = sink::report(Command::Verify, args.json, &args.report, console, &progress);
    let mut sink = ReportSink {
        notes,
        hide_lines: args.lenient && !args.warn,
        ..ReportSink::new(report)
    };
    let mut kept = Kept::default();
    if let Some(begun) = &mut begun {
        sink.notes.append(&mut begun.notes);
        kept.journal = Some(&mut begun.journal);
    }
    let events = &mut Reporting(&mut sink);
    let verified = ops::verify_keeping(lists, &options, &engine, &mut kept, events);
    let scrubbed = kept.scrubbed;
    sink.notes.extend(scrubbed.iter().flat_map(scrub::notes));
    let state = state.zip(scrubbed).map(scrub::keep);
    signals::telling();
    // The progress of a run that failed is ended last: where nobody reads it, that takes for ever.
    let told = match verified {
        Ok(verified) => tell(progress, sink, args, start, verified),
        Err(error) => Err(error.into()),
    };
    signals::keeping();
    let told = match state {
        Some(state) => state.and(told),
        None => told,
    };
    let ended = journal::end(begun, told);
    signals::telling();
    ended
}

fn tell(
    progress: Progress,
    sink: ReportSink,
    args: &VerifyArgs,
    start: Instant,
    verified: Verified,
) -> Result<ExitCode, Failure> {
    let shown = progress.finish();
    let code = finish(sink, args, start, verified)?;
    shown.map_err(Error::Output)?;
    Ok(code)
}

/// A path on the disk that is read, as far as it can be known before the lists are.
fn base_place(args: &VerifyArgs) -> &Path {
    let own = || {
        args.manifests[0]
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
    };
    args.base.as_deref().or_else(own).unwrap_or(Path::new("."))
}

/// Opens every list, and gives what is to be said of their signatures.
fn open_lists(args: &VerifyArgs) -> Result<(Vec<List>, Vec<Note>), Failure> {
    let (named, required) = (args.signature.clone(), args.require_signature);
    let new = |key| Signatures::new(key, named, required, &args.manifests);
    let signatures = args.key.as_ref().map(new).transpose()?;
    let mut notes = Vec::new();
    let mut open = |path: &PathBuf| {
        let prove = |signatures: &Signatures| signatures.prove(path, || read_whole(path));
        let proved = signatures.as_ref().map(prove).transpose()?;
        if matches!(proved, Some(None)) {
            let manifest = RelPath::from_path(path);
            notes.push(Note::Unsigned { manifest });
        }
        let input = if let Some(Proved { bytes, note }) = proved.flatten() {
            notes.push(note);
            ListInput::Bytes(bytes.into())
        } else if path.is_dir() {
            ListInput::Package(open_folder(path, args)?)
        } else {
            open_list(path)?
        };
        Ok(List {
            name: RelPath::from_path(path),
            path: Some(path.clone()).filter(|path| path.as_os_str() != "-"),
            input,
        })
    };
    let lists = args.manifests.iter().map(&mut open);
    let lists = lists.collect::<Result<_, Failure>>()?;
    Ok((lists, notes))
}

/// What was checked must be what is used, so it is read once.
fn read_whole(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = plan::open_list(path)?.read_to_end(&mut bytes);
    read.map_err(|error| FileError::new(Operation::Read, path, error))?;
    Ok(bytes)
}

/// A pipe can be read only once, a file twice.
fn open_list(path: &Path) -> Result<ListInput, Failure> {
    let is_file = path.as_os_str() != "-" && path.is_file();
    if !is_file {
        return Ok(ListInput::Stream(plan::open_list(path)?));
    }
    let file = File::open(path).map_err(|error| FileError::new(Operation::Open, path, error))?;
    Ok(ListInput::File(file))
}

/// A folder that holds its own manifests is verified where it lies, by all of them.
fn open_folder(folder: &Path, args: &VerifyArgs) -> Result<Package, Failure> {
    if args.base.is_some() {
        return Err(Failure::BaseOfFolder(folder.to_owned()));
    }
    Ok(ops::package_of(folder, algorithm(args)?)?)
}

fn algorithm(args: &VerifyArgs) -> Result<Option<Algorithm>, Failure> {
    let named = args.algorithm.as_ref();
    Ok(named.map(|name| name.parse()).transpose()?)
}

fn verify_options(args: &VerifyArgs, start: Instant) -> Result<VerifyOptions, Failure> {
    let mut leave_out = LeaveOut::new();
    for manifest in args.manifests.iter().filter(|path| path.as_os_str() != "-") {
        let stat = |error| FileError::new(Operation::Stat, manifest, error);
        leave_out.add_path(manifest).map_err(stat)?;
        journal::leave_out_beside(manifest, &mut leave_out);
    }
    leave_out_signature(args.signature.as_deref(), &mut leave_out)?;
    scrub::leave_out(&args.portion, &mut leave_out)?;
    if args.manifests.iter().any(|path| path.as_os_str() == "-") {
        plan::leave_out_stream(&io::stdin(), "standard input", &mut leave_out)?;
    }
    Ok(VerifyOptions {
        base: args
            .base
            .clone()
            .map_or(BaseChoice::Find, BaseChoice::Given),
        relocation: Relocation {
            strip: args.strip,
            map: relocations(args)?,
        },
        algorithm: algorithm(args)?,
        format: args.format,
        confine: args.confine,
        ignore_missing: args.ignore_missing,
        exact: (args.exact || args.no_exact).then_some(args.exact),
        walk: plan::walk_options(&args.scope)?,
        quick: args.quick,
        slice: args.slice,
        fail_fast: args.fail_fast,
        leave_out,
        portion: scrub::portion(args, start)?,
        totals: None,
    })
}

/// A signature that is checked is no file of the tree, wherever it lies.
fn leave_out_signature(path: Option<&Path>, leave_out: &mut LeaveOut) -> Result<(), FileError> {
    let Some(path) = path else { return Ok(()) };
    let stat = |error| FileError::new(Operation::Stat, path, error);
    leave_out.add_path(path).map_err(stat)
}

fn relocations(args: &VerifyArgs) -> Result<Vec<(RelPath, RelPath)>, Failure> {
    let pair =
        |text: &std::ffi::OsString| split_at_equals(text).ok_or_else(|| Failure::Map(text.clone()));
    args.map.iter().map(pair).collect()
}

fn split_at_equals(text: &OsStr) -> Option<(RelPath, RelPath)> {
    let name = RelPath::from_path(Path::new(text));
    let place = name.as_bytes().iter().position(|&byte| byte == b'=')?;
    let (old, new) = (&name.as_bytes()[..place], &name.as_bytes()[place + 1..]);
    (!old.is_empty()).then(|| (RelPath::from_bytes(old), RelPath::from_bytes(new)))
}

fn finish(
    mut sink: ReportSink,
    args: &VerifyArgs,
    start: Instant,
    verified: Verified,
) -> Result<ExitCode, Failure> {
    let malformed = if args.lenient {
        MalformedLines::Tolerate
    } else {
        MalformedLines::Fail
    };
    let mut severity = sink.counts.severity(Command::Verify, malformed);
    if verified.idle_lists > 0 {
        severity = Severity::Incomplete;
    }
    let code = ExitCode::from(severity);
    let mut summary = Summary::new(Command::Verify, sink.counts, start.elapsed());
    summary.manifests = sink.manifests;
    summary.bases = verified
        .bases
        .iter()
        .map(|b| RelPath::from_path(&b.folder))
        .collect();
    summary.algorithms = verified.algorithms.into_iter().collect();
    if verified.before.bytes > 0 {
        let all = summary.counts.bytes();
        summary.bytes_read = Some(all.saturating_sub(verified.before.bytes));
    }
    summary.from_journal = verified.before.files;
    summary.ignored = verified.ignored;
    summary.not_checked = verified.not_checked;
    summary.portion_done = verified.portion_done;
    summary.notes = sink.notes;
    summary.exit_code = code.number();
    sink.report.finish(&summary).map_err(Error::Output)?;
    Ok(code)
}
