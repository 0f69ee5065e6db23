//! `multisum hash`.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use crate::algorithm::{Algorithm, TABLE};
use crate::engine::{Cancel, Totals};
use crate::error::{Error, FileError, Operation};
use crate::event::{Event, Note, Sink, Verdict};
use crate::manifest::bagit::algorithm_word;
use crate::manifest::{Entry, Format, GapKind, Header, Writer, WriterOptions, output_hint};
use crate::ops;
use crate::report::{
    BesideBars, Command, Counts, MalformedLines, Progress, Report, Summary, Target, TextReport,
    Verbosity,
};
use crate::timestamp::{Modified, Timestamp};
use crate::walk::{self, LeaveOut};

use super::args::HashArgs;
use super::bag;
use super::console::Console;
use super::exit::ExitCode;
use super::header;
use super::journal::{self, Begun};
use super::mhl;
use super::names::Naming;
use super::output::{Output, folder_of};
use super::plan::{self, Failure};
use super::signals;

/// Hashes what the arguments name, and publishes the manifests when everything has been read.
pub(super) fn run(args: &HashArgs, console: &Console) -> Result<ExitCode, Failure> {
    if args.algorithm.iter().any(|name| name == "list") {
        return list_algorithms();
    }
    if let Some(folder) = &args.mhl {
        return mhl::run(args, folder, console);
    }
    if let Some(folder) = &args.bag {
        return bag::run(folder, args, console);
    }
    let start = Instant::now();
    let created = header::created()?;
    plan::base(args.base.as_ref())?;
    let (algorithms, plans) = plan_outputs(args)?;
    let naming = choose_naming(args, &plans)?;
    let place = args.paths.first().map_or(Path::new("."), PathBuf::as_path);
    let mut engine = plan::engine(&args.machine, place)?;
    let mut walk_options = plan::walk_options(&args.walk.scope)?;
    walk_options.slice = args.slice;
    let mut header = header::of_run(args, &walk_options, &naming, created);
    let outputs = open_outputs(&plans, args.force, &mut walk_options.leave_out)?;
    let target = outputs.iter().find_map(Output::target);
    let mut begun = journal::of_hash(
        args,
        target,
        &algorithms,
        &header,
        &naming,
        &mut walk_options.leave_out,
    )?;
    if let Some(Begun { created, .. }) = &begun {
        header.created = Some(*created);
        engine.save_every = Some(plan::save_every()?);
    }
    let manifests = write_into(outputs, &plans, &algorithms, &header, &naming)?;
    let inputs = || plan::inputs(&args.walk, args.paths.clone(), naming.clone());

    let target = console.progress(&args.report);
    let totals = Arc::new(Totals::default());
    let progress = Progress::start(Arc::clone(&engine.gauges), Arc::clone(&totals), target)
        .map_err(Error::Threads)?;
    let counting = Counting(Cancel::default());
    let from_stdin = args.walk.files_from.as_deref() == Some(Path::new("-"));
    if target != Target::Hidden && !from_stdin {
        counting.start(inputs()?, walk_options.clone(), totals)?;
    }

    let colour = console.colour(args.report.color, false);
    let verbosity = plan::verbosity(&args.report);
    let (out, err) = (progress.beside(io::stderr()), progress.beside(io::stderr()));
    let report = TextReport::new(out, err, verbosity, colour);
    let mut sink = ManifestSink::new(manifests, report);
    if let Some(begun) = &mut begun {
        sink.notes.append(&mut begun.notes);
    }
    let found = walk::walk(inputs()?, walk_options);
    let ended = match &mut begun {
        Some(Begun { journal, .. }) => {
            ops::hash_journalled(found, &algorithms, &engine, journal, &mut sink)
        }
        None => ops::hash(found, &algorithms, &engine, &mut sink),
    };
    drop(counting);
    let ended = match sink.failure.take() {
        Some(failure) => Err(failure),
        None => ended.map_err(Failure::from),
    };
    let published = ended.and_then(|()| progress.suspend(|| sink.publish()));
    let ended = journal::end(begun, published);
    signals::telling();
    let end = ended?;
    let shown = progress.finish();
    // A slice of a small tree may well be empty.
    let may_be_empty = args.slice.is_some();
    let code = end.tell(start, algorithms, verbosity, may_be_empty)?;
    shown.map_err(Error::Output)?;
    Ok(code)
}

/// Chooses names that every one of the manifests can hold.
fn choose_naming(args: &HashArgs, plans: &[OutputPlan]) -> Result<Naming, Failure> {
    let paths = or_current(&args.paths);
    let naming = Naming::choose(args.base.clone(), &args.output, &paths);
    let natives = plans.iter().filter(|plan| plan.format == Format::Jsonl);
    let natives = natives.count();
    if natives == 0 {
        return Ok(naming);
    }
    let confined = naming.confined(&paths);
    match (
        &confined,
        paths.iter().find(|path| confined.is_left_by(path)),
    ) {
        (Naming::Above(_), _) if natives < plans.len() => Err(Failure::TwoNamings),
        (Naming::Base(_), Some(path)) => Err(Failure::OutOfBase(path.clone())),
        _ => Ok(confined),
    }
}

pub(super) fn or_current(paths: &[PathBuf]) -> Vec<PathBuf> {
    if paths.is_empty() {
        vec![PathBuf::from(".")]
    } else {
        paths.to_vec()
    }
}

fn list_algorithms() -> Result<ExitCode, Failure> {
    let mut output = Output::stdout();
    let row = |name: &str, bits: &str, strength: &str, aliases: &str| {
        format!("{name:<12}{bits:>5}  {strength:<9} {aliases}")
            .trim_end()
            .to_owned()
            + "\n"
    };
    let mut text = row("name", "bits", "strength", "also understood as");
    for algorithm in TABLE {
        let bits = algorithm.bits.to_string();
        let aliases = algorithm.aliases.join(" ");
        text += &row(
            algorithm.name,
            &bits,
            &algorithm.strength.to_string(),
            &aliases,
        );
    }
    text += "blake2b-N gives N bits of BLAKE2b, a multiple of 8 up to 512.\n";
    output.append(|buffer| buffer.write_all(text.as_bytes()))?;
    publish(output)?;
    Ok(ExitCode::Well)
}

/// One manifest to write: where, in which format, and with which of the run's algorithms.
#[derive(Debug, PartialEq, Eq)]
struct OutputPlan {
    path: Option<PathBuf>,
    format: Format,
    zero: bool,
    base64: bool,
    /// Places in the list of algorithms of the run.
    algorithms: Vec<usize>,
}

/// Settles which algorithms are computed and which manifest holds which of them.
fn plan_outputs(args: &HashArgs) -> Result<(Vec<Algorithm>, Vec<OutputPlan>), Failure> {
    let mut algorithms = plan::algorithms(&args.algorithm)?;
    if algorithms.is_empty() {
        for said in args
            .output
            .iter()
            .filter_map(|path| output_hint(path).algorithm)
        {
            if !algorithms.contains(&said) {
                algorithms.push(said);
            }
        }
    }
    if algorithms.is_empty() {
        algorithms.push(Algorithm::Sha256);
    }
    let paths: Vec<Option<&Path>> = if args.output.is_empty() {
        vec![None]
    } else {
        args.output
            .iter()
            .map(|path| Some(path.as_path()).filter(|p| p.as_os_str() != "-"))
            .collect()
    };
    let plans = paths
        .into_iter()
        .map(|path| plan_output(args, path, &algorithms));
    let plans = plans.collect::<Result<Vec<_>, _>>()?;
    each_written_once(&plans)?;
    no_input_is_written(args, &plans)?;
    let written = |place| plans.iter().any(|plan| plan.algorithms.contains(&place));
    match (0..algorithms.len()).find(|&place| !written(place)) {
        Some(place) => Err(Failure::NoOutputFor(algorithms[place])),
        None => Ok((algorithms, plans)),
    }
}

/// Refuses two manifests in one file: the second would replace the first.
fn each_written_once(plans: &[OutputPlan]) -> Result<(), Failure> {
    let mut seen = HashSet::new();
    let again = |plan: &&OutputPlan| !seen.insert(plan.path.as_deref().map(whole_path));
    match plans.iter().find(again) {
        Some(plan) => Err(Failure::SameOutput(
            plan.path.clone().unwrap_or_else(|| PathBuf::from("-")),
        )),
        None => Ok(()),
    }
}

/// Refuses an output that is also named to be hashed: it would be replaced, and nobody means that.
fn no_input_is_written(args: &HashArgs, plans: &[OutputPlan]) -> Result<(), Failure> {
    let named = |output: &Path| args.paths.iter().any(|path| whole_path(path) == output);
    let outputs = plans.iter().filter_map(|plan| plan.path.as_deref());
    match outputs
        .into_iter()
        .find(|path| path.is_file() && named(&whole_path(path)))
    {
        Some(path) => Err(Failure::OutputIsInput(path.to_owned())),
        None => Ok(()),
    }
}

/// The same for every spelling of a file, whether or not it exists.
fn whole_path(path: &Path) -> PathBuf {
    let in_folder = || {
        let folder = folder_of(path).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    };
    let whole = path.canonicalize().ok().or_else(in_folder);
    whole.unwrap_or_else(|| path.to_owned())
}

fn plan_output(
    args: &HashArgs,
    path: Option<&Path>,
    algorithms: &[Algorithm],
) -> Result<OutputPlan, Failure> {
    let hint = path.map(output_hint).unwrap_or_default();
    let by_number = if algorithms.len() == 1 {
        Format::Gnu
    } else {
        Format::Bsd
    };
    let by_name = hint.format.or(hint.algorithm.map(|_| Format::Gnu));
    let format = args.format.or(by_name).unwrap_or(by_number);
    let carried = if format.names_algorithms() {
        (0..algorithms.len()).collect()
    } else {
        vec![the_one_algorithm(format, path, hint.algorithm, algorithms)?]
    };
    if format == Format::Bagit && hint.format != Some(Format::Bagit) {
        refuse_bag_manifest(path, algorithms[carried[0]])?;
    }
    Ok(OutputPlan {
        path: path.map(Path::to_owned),
        format,
        zero: args.zero,
        base64: args.base64,
        algorithms: carried,
    })
}

/// Under another name it would be read as a list of another format, whose names are not escaped.
fn refuse_bag_manifest(path: Option<&Path>, algorithm: Algorithm) -> Result<(), Failure> {
    match (path, algorithm_word(algorithm)) {
        (Some(path), Some(word)) => Err(Failure::NoBagManifest {
            path: path.to_owned(),
            word,
        }),
        // Standard output has no name, and without a word the writer refuses.
        _ => Ok(()),
    }
}

fn the_one_algorithm(
    format: Format,
    path: Option<&Path>,
    said: Option<Algorithm>,
    algorithms: &[Algorithm],
) -> Result<usize, Failure> {
    let path = || path.map_or_else(|| PathBuf::from("standard output"), Path::to_owned);
    match said {
        Some(said) => algorithms
            .iter()
            .position(|&algorithm| algorithm == said)
            .ok_or_else(|| Failure::OutputAlgorithm { path: path(), said }),
        None if algorithms.len() == 1 => Ok(0),
        None => Err(Failure::SeveralInOne {
            format,
            path: path(),
        }),
    }
}

/// One manifest that is being written.
struct Manifest {
    output: Output,
    writer: Writer,
}

fn open_outputs(
    plans: &[OutputPlan],
    force: bool,
    leave_out: &mut LeaveOut,
) -> Result<Vec<Output>, Failure> {
    plan::leave_out_stream(&io::stdout(), "standard output", leave_out)?;
    let open = |plan: &OutputPlan| match &plan.path {
        None => Ok(Output::stdout()),
        Some(path) => open_output(path, force, leave_out),
    };
    plans.iter().map(open).collect()
}

fn write_into(
    outputs: Vec<Output>,
    plans: &[OutputPlan],
    algorithms: &[Algorithm],
    header: &Header,
    naming: &Naming,
) -> Result<Vec<Manifest>, Failure> {
    let mut manifests = Vec::new();
    for (output, plan) in outputs.into_iter().zip(plans) {
        let others = plans
            .iter()
            .filter_map(|other| other.path.as_deref())
            .filter(|other| Some(*other) != plan.path.as_deref());
        let writer = Writer::new(WriterOptions {
            format: plan.format,
            zero: plan.zero,
            base64: plan.base64,
            partial: false,
            algorithms: algorithms.to_vec(),
            carried: plan.algorithms.clone(),
            header: header::of_output(header, naming, plan.path.as_deref(), others)?,
        })?;
        manifests.push(Manifest { output, writer });
    }
    Ok(manifests)
}

fn open_output(path: &Path, force: bool, leave_out: &mut LeaveOut) -> Result<Output, Failure> {
    let output = Output::create(path, force).map_err(|reason| Failure::output(path, reason))?;
    let stat = |error| FileError::new(Operation::Stat, path, error);
    if let Some(file) = output.file() {
        leave_out.add_file(file).map_err(stat)?;
    }
    if path.exists() {
        leave_out.add_path(path).map_err(stat)?;
    }
    if let Some(target) = output.target() {
        journal::leave_out_beside(target, leave_out);
    }
    Ok(output)
}

fn publish(output: Output) -> Result<(), Failure> {
    let path = output.path().to_owned();
    let published = output.publish();
    published.map_err(|reason| Failure::output(&path, reason))
}

/// The walk that counts what there is to do, stopped when the run ends before it.
struct Counting(Cancel);

impl Counting {
    fn start(
        &self,
        inputs: impl Iterator<Item = walk::Input> + Send + 'static,
        options: walk::Options,
        totals: Arc<Totals>,
    ) -> Result<(), Failure> {
        let stop = self.0.clone();
        let count = move || {
            let mut before = 0;
            let mut on = |now: walk::Totals| {
                totals.add(now.bytes - before);
                before = now.bytes;
            };
            walk::count(inputs, options, &mut on, &|| stop.is_cancelled());
            totals.complete();
        };
        let thread = std::thread::Builder::new()
            .name("multisum-count".to_owned())
            .spawn(count);
        thread
            .map(drop)
            .map_err(|error| Error::Threads(error).into())
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

type StderrReport = TextReport<BesideBars<io::Stderr>, BesideBars<io::Stderr>>;

/// Writes entries into the manifests, and everything else into the report.
struct ManifestSink {
    manifests: Vec<Manifest>,
    report: StderrReport,
    counts: Counts,
    notes: Vec<Note>,
    /// Why a manifest could not be written; the engine only learns that it has to stop.
    failure: Option<Failure>,
    /// Why nothing is reported any more. The manifests do not depend on it.
    unreported: Option<io::Error>,
}

impl ManifestSink {
    fn new(manifests: Vec<Manifest>, report: StderrReport) -> Self {
        Self {
            manifests,
            report,
            counts: Counts::default(),
            notes: Vec::new(),
            failure: None,
            unreported: None,
        }
    }

    fn write(&mut self, event: &Event<'_>) -> Result<(), FileError> {
        for Manifest { output, writer } in &mut self.manifests {
            match event {
                Event::Hashed { name, hashed } => {
                    let entry = Entry {
                        name,
                        digests: &hashed.digests,
                        size: Some(hashed.size),
                        modified: hashed
                            .modified
                            .and_then(Timestamp::from_system)
                            .map(Modified::exactly),
                    };
                    output.append(|buffer| writer.write_entry(buffer, &entry))?;
                }
                // A name that no line can hold is in the report alone.
                Event::Verdict { name, verdict } if Writer::can_name(name) => {
                    if let Some(kind) = gap_kind(verdict) {
                        output.append(|buffer| writer.write_gap(buffer, name, kind))?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Publishes the manifests.
    fn publish(mut self) -> Result<Self, Failure> {
        for Manifest {
            mut output,
            mut writer,
        } in self.manifests.drain(..)
        {
            if !output.appears_whole() {
                // What a pipe has taken cannot be taken back, and its reader may be gone for good.
                signals::telling();
            }
            output.append(|buffer| writer.finish(buffer))?;
            publish(output)?;
            signals::keeping();
        }
        Ok(self)
    }

    /// Says how the run went.
    fn tell(
        mut self,
        start: Instant,
        algorithms: Vec<Algorithm>,
        verbosity: Verbosity,
        may_be_empty: bool,
    ) -> Result<ExitCode, Error> {
        if let Some(error) = self.unreported {
            return Err(Error::Output(error));
        }
        let hashed = self.counts.hashed() + self.counts.from_before();
        let nothing = hashed == 0 && !may_be_empty;
        let code = ExitCode::from(self.counts.severity(Command::Hash, MalformedLines::Fail));
        let mut summary = Summary::new(Command::Hash, self.counts, start.elapsed());
        summary.algorithms = algorithms;
        summary.notes = self.notes;
        summary.exit_code = code.number();
        self.report.finish(&summary).map_err(Error::Output)?;
        if nothing && verbosity >= Verbosity::Quiet {
            writeln!(io::stderr(), "no file was hashed").map_err(Error::Output)?;
        }
        Ok(code)
    }
}

fn gap_kind(verdict: &Verdict) -> Option<GapKind> {
    match verdict {
        Verdict::Unreadable(_) => Some(GapKind::Unreadable),
        Verdict::Unstable(_) => Some(GapKind::Unstable),
        _ => None,
    }
}

impl Sink for ManifestSink {
    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        self.counts.add(&event);
        if let Event::Note(note) = event {
            self.notes.push(note.clone());
        }
        if let Err(error) = self.write(&event) {
            self.failure = Some(error.into());
            return Err(io::ErrorKind::WriteZero.into());
        }
        if self.unreported.is_none() {
            self.unreported = self.report.event(&event).err();
        }
        Ok(())
    }
}
