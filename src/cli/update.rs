//! `multisum update`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use crate::algorithm::Algorithm;
use crate::engine::Totals;
use crate::error::{Error, FileError, Operation};
use crate::event::{Note, OutcomeWord, Severity};
use crate::manifest::{Entry, Format, GapKind, Header, Hints, Scope, Writer};
use crate::ops::{self, Ledger, ManifestFile, Renewal, Survey, UpdateOptions, Updated, WalkOrder};
use crate::relpath::RelPath;
use crate::report::{Command, MalformedLines, Progress, Summary};
use crate::timestamp::Timestamp;
use crate::walk::{self, Input, Root};

use super::args::UpdateArgs;
use super::console::Console;
use super::exit::ExitCode;
use super::header;
use super::journal;
use super::names;
use super::output::{Output, folder_of};
use super::plan::{self, Failure};
use super::signals;
use super::signature;
use super::sink::{self, ReportSink};

/// Brings the manifest that the arguments name up to date.
pub(super) fn run(args: &UpdateArgs, console: &Console) -> Result<ExitCode, Failure> {
    let start = Instant::now();
    let created = header::created()?;
    plan::base(args.base.as_ref())?;
    let asked = args.algorithm.as_ref().map(|name| name.parse());
    let asked = asked.transpose()?;
    let manifest = open(args, asked)?;
    let place = args.base.as_deref().unwrap_or(folder_of(&args.manifest));
    let mut engine = plan::engine(&args.machine, place)?;
    engine.save_every = Some(plan::save_every()?);
    let bars = console.progress(&args.report);
    let totals = Arc::new(Totals::default());
    let progress =
        Progress::start(Arc::clone(&engine.gauges), totals, bars).map_err(Error::Threads)?;
    let report = sink::report(Command::Update, args.json, &args.report, console, &progress);
    let mut sink = ReportSink::new(report);

    let survey = manifest.survey(&mut sink)?;
    let target = Target::of(args);
    let renewal = Renewal::of(&manifest, &survey, asked, &target.path);
    let renewal = renewal.map_err(|reason| refused(args, reason))?;
    let scope = Walked::plan(args, &survey)?;
    let base = scope.base.clone();
    let mut header = scope.header(&target.path, created)?;
    let mut walk_options = scope.options;
    let output = target.open(args, &mut walk_options)?;
    let mut begun = journal::of_update(
        args,
        output.target().unwrap_or(&target.path),
        &renewal.algorithms,
        &header,
        &base,
        &mut walk_options.leave_out,
    )?;
    header.created = Some(begun.created);
    sink.notes.append(&mut begun.notes);
    let elsewhere = target.note(renewal.format, &header);
    let recorded_at = ops::recorded_at(&manifest, &survey);
    let options = UpdateOptions {
        algorithms: renewal.algorithms.clone(),
        recorded_at,
        base: base.clone(),
        order: WalkOrder::new(&scope.roots),
        through_links: !scope.recorded && !scope.only_listed,
        only_listed: scope.only_listed,
        roots: match scope.recorded {
            true => scope.roots,
            false => Vec::new(),
        },
        prune: args.prune,
    };
    let found = walk::walk(scope.inputs, walk_options);
    let renew = || {
        let mut copy = Copy::new(output, renewal.writer(header.clone())?);
        let items = manifest.items(&survey)?;
        let journal = Some(&mut begun.journal);
        let (ledger, sink) = (&mut copy, &mut sink);
        let ended = ops::update_journalled(found, items, &options, &engine, journal, ledger, sink);
        copy.failure.take().map_or(Ok(()), Err)?;
        let updated = ended?;
        if updated.found == 0 && survey.claims > 0 {
            return Err(Failure::NothingThere(base.clone()));
        }
        if let Some(root) = &updated.deserted {
            let root = base.join(root.to_path().unwrap_or_default());
            return Err(Failure::NothingThere(root));
        }
        let publish = || publish(args, copy, &target, &renewal, header, &options, &updated);
        progress.suspend(publish)?;
        Ok(updated)
    };
    let renewed = renew();
    let ended = begun.end(renewed);
    signals::telling();
    let updated = ended?;
    sink.notes.extend(elsewhere);
    sink.notes
        .extend(signature::beside(&target.path).map(|signature| outdated(&signature)));
    let shown = progress.finish();
    let code = finish(sink, start, &updated, &base, renewal.algorithms)?;
    shown.map_err(Error::Output)?;
    Ok(code)
}

/// Gives the new manifest its name, when it says of itself what is true.
fn publish(
    args: &UpdateArgs,
    copy: Copy,
    target: &Target,
    renewal: &Renewal,
    header: Header,
    options: &UpdateOptions,
    updated: &Updated,
) -> Result<(), Failure> {
    let mut output = copy.finish()?;
    let is_dated = matches!(renewal.format, Format::Jsonl | Format::Dfxml);
    let is_backdated = updated.unconfirmed && is_dated;
    if is_backdated || !updated.moved_away.is_empty() {
        let header = true_header(header, updated, options.recorded_at);
        let again = Copy::new(target.create(args)?, renewal.writer(header)?);
        output = written_again(output, again, renewal, updated, &options.order, target)?;
    }
    // What was kept unproved stays to be read until it is proved.
    let unproved = options.recorded_at.filter(|_| updated.unconfirmed);
    if let Some(moment) = unproved.and_then(Timestamp::to_system) {
        output.date(moment);
    }
    let published = output.publish();
    published.map_err(|reason| Failure::output(&target.path, reason))
}

/// What the manifest says of itself once everything is known: of a moment at which not all of its
/// entries were proved it must not say that they were true then.
fn true_header(header: Header, updated: &Updated, recorded_at: Option<Timestamp>) -> Header {
    let created = match updated.unconfirmed {
        true => header.created.min(recorded_at),
        false => header.created,
    };
    Header { created, ..header }
}

fn outdated(signature: &Path) -> Note {
    Note::SignatureOutdated {
        signature: RelPath::from_path(signature),
    }
}

fn refused(args: &UpdateArgs, reason: ops::RenewalError) -> Failure {
    match reason {
        ops::RenewalError::Run(error) => Failure::Run(error),
        reason => Failure::Update {
            path: args.manifest.clone(),
            reason,
        },
    }
}

fn open(args: &UpdateArgs, asked: Option<Algorithm>) -> Result<ManifestFile, Failure> {
    let path = &args.manifest;
    if path.is_dir() {
        return Err(Failure::UpdateOfFolder(path.clone()));
    }
    let failed = |error| FileError::new(Operation::Open, path, error);
    // To open a pipe would wait for whoever writes to it.
    if path.as_os_str() == "-" || !path.metadata().map_err(failed)?.is_file() {
        return Err(refused(args, ops::RenewalError::NoRegularFile));
    }
    // Windows replaces no file that is open.
    let may_stay_open = cfg!(not(windows));
    plan::manifest_file(path, plan::hints(path, asked, args.format), may_stay_open)
}

/// The file that is written.
struct Target {
    path: PathBuf,
    in_place: bool,
}

impl Target {
    fn of(args: &UpdateArgs) -> Self {
        let path = args.output.as_ref().unwrap_or(&args.manifest);
        let same = || Some(path.canonicalize().ok()? == args.manifest.canonicalize().ok()?);
        Self {
            path: path.clone(),
            in_place: args.output.is_none() || same() == Some(true),
        }
    }

    fn create(&self, args: &UpdateArgs) -> Result<Output, Failure> {
        let exists = self.path.exists();
        if self.path.as_os_str() == "-" || (exists && !self.path.is_file() && !self.path.is_dir()) {
            return Err(Failure::UpdateToStream(self.path.clone()));
        }
        let output = Output::create(&self.path, self.in_place || args.force);
        output.map_err(|reason| Failure::output(&self.path, reason))
    }

    /// Where another file than the old one verifies from, unless it says so itself.
    fn note(&self, format: Format, header: &Header) -> Option<Note> {
        let base = header.base.clone().filter(|base| base.as_bytes() != b".")?;
        let is_said = self.in_place || format == Format::Jsonl;
        (!is_said).then_some(Note::RelativeTo { base })
    }

    /// Opens it, and keeps it, the old manifest and the report out of the walk.
    fn open(&self, args: &UpdateArgs, walk: &mut walk::Options) -> Result<Output, Failure> {
        let output = self.create(args)?;
        let leave_out = &mut walk.leave_out;
        plan::leave_out_stream(&io::stdout(), "standard output", leave_out)?;
        for path in [&args.manifest, &self.path] {
            if path.exists() {
                let stat = |error| FileError::new(Operation::Stat, path, error);
                leave_out.add_path(path).map_err(stat)?;
            }
            journal::leave_out_beside(path, leave_out);
        }
        if let Some(file) = output.file() {
            let stat = |error| FileError::new(Operation::Stat, &self.path, error);
            leave_out.add_file(file).map_err(stat)?;
        }
        Ok(output)
    }
}

/// What is walked, and how.
struct Walked {
    base: PathBuf,
    /// Whether the manifest says so.
    recorded: bool,
    /// Nothing was walked to make the manifest, and nothing is now: it holds what was named.
    only_listed: bool,
    inputs: Vec<Input>,
    /// The names of the inputs.
    roots: Vec<RelPath>,
    options: walk::Options,
    /// The same as the new manifest records it.
    paths: Vec<RelPath>,
    scope: Scope,
}

impl Walked {
    /// What the manifest records, or else, if it could have and does not, what it lists; of another
    /// list the whole base as far as the arguments say.
    fn plan(args: &UpdateArgs, survey: &Survey) -> Result<Self, Failure> {
        let recorded = survey.header.clone().unwrap_or_default();
        let base = base(args, &recorded);
        if !base.is_dir() {
            return Err(Failure::NothingThere(base));
        }
        let asked = plan::walk_options(&args.scope)?;
        let failed = |reason| Failure::Scope {
            path: args.manifest.clone(),
            reason,
        };
        let walked = ops::recorded_walk(&recorded, &base).map_err(failed)?;
        let only_listed = walked.is_none() && survey.evidence.format == Format::Jsonl;
        let nothing = || (Vec::new(), walk::Options::default());
        if let Some((inputs, options)) = walked.or_else(|| only_listed.then(nothing)) {
            ops::agree(&recorded.scope, &asked).map_err(failed)?;
            return Ok(Self {
                base,
                recorded: !only_listed,
                only_listed,
                roots: inputs.iter().map(name_of).collect(),
                inputs,
                options,
                paths: recorded.paths,
                scope: recorded.scope,
            });
        }
        Ok(Self {
            recorded: false,
            only_listed: false,
            inputs: vec![Input::Path(Root::relative(&base))],
            roots: vec![RelPath::default()],
            base,
            paths: vec![RelPath::from(".")],
            scope: header::scope_of(&asked),
            options: asked,
        })
    }

    /// What the manifest at `target` says of itself.
    fn header(&self, target: &Path, created: Timestamp) -> Result<Header, FileError> {
        let base = names::base_seen_from(Some(target), &self.base)
            .map_err(|error| FileError::new(Operation::Stat, &self.base, error))?;
        Ok(Header {
            base: Some(base),
            created: Some(created),
            algorithms: Vec::new(),
            paths: self.paths.clone(),
            scope: self.scope.clone(),
        })
    }
}

fn name_of(input: &Input) -> RelPath {
    match input {
        Input::Path(root) => root.name.clone(),
        Input::Stdin => RelPath::from("-"),
        Input::Failed { name, .. } => name.clone(),
    }
}

/// The folder that names are relative to: the one that was named, else the one that is recorded,
/// else that of the manifest.
fn base(args: &UpdateArgs, recorded: &Header) -> PathBuf {
    let own = folder_of(&args.manifest);
    let said = || recorded.base.as_ref().and_then(RelPath::to_path);
    match (&args.base, said()) {
        (Some(base), _) => base.clone(),
        (None, Some(said)) if said != Path::new(".") => own.join(said),
        _ => own.to_owned(),
    }
}

/// The new manifest while it is written.
struct Copy {
    output: Output,
    writer: Writer,
    /// Why it could not be written; whoever gives the entries only learns that they have to stop.
    failure: Option<Failure>,
}

impl Copy {
    fn new(output: Output, writer: Writer) -> Self {
        Self {
            output,
            writer,
            failure: None,
        }
    }

    fn append(
        &mut self,
        write: impl FnOnce(&mut Writer, &mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<()> {
        let Self { output, writer, .. } = self;
        output
            .append(|buffer| write(writer, buffer))
            .map_err(|error| {
                self.failure = Some(error.into());
                io::ErrorKind::WriteZero.into()
            })
    }

    fn finish(mut self) -> Result<Output, Failure> {
        let Self { output, writer, .. } = &mut self;
        output.append(|buffer| writer.finish(buffer))?;
        Ok(self.output)
    }
}

impl Ledger for Copy {
    fn entry(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        self.append(|writer, buffer| writer.write_entry(buffer, entry))
    }

    fn gap(&mut self, name: &RelPath, kind: GapKind) -> io::Result<()> {
        // A name that no line can hold is in the report alone.
        if !Writer::can_name(name) {
            return Ok(());
        }
        self.append(|writer, buffer| writer.write_gap(buffer, name, kind))
    }
}

/// What was written, with another header and without the old names of files that have moved: neither
/// was known before all files were read.
fn written_again(
    mut written: Output,
    mut again: Copy,
    renewal: &Renewal,
    updated: &Updated,
    order: &WalkOrder,
    target: &Target,
) -> Result<Output, Failure> {
    let path = &target.path;
    let Some(file) = written.reopen()? else {
        return Err(Failure::UpdateToStream(path.clone()));
    };
    let only = match renewal.algorithms[..] {
        [only] if !renewal.format.names_algorithms() => Some(only),
        _ => None,
    };
    let hints = Hints {
        list_name: Some(path.clone()),
        algorithm: only,
        format: Some(renewal.format),
    };
    let written = ManifestFile::of_file(RelPath::from_path(path), file, hints);
    let copied = ops::without(&written, &updated.moved_away, order, &mut again);
    again.failure.take().map_or(Ok(()), Err)?;
    copied?;
    again.finish()
}

fn finish(
    mut sink: ReportSink,
    start: Instant,
    updated: &Updated,
    base: &Path,
    algorithms: Vec<Algorithm>,
) -> Result<ExitCode, Failure> {
    let missing = sink.counts.of(OutcomeWord::Missing);
    let Updated {
        damaged, by_date, ..
    } = *updated;
    let (kept, gone) = match updated.pruned {
        0 => (sink.counts.clone(), (missing, Note::GoneKept(missing))),
        pruned => (
            sink.counts.without_missing(),
            (pruned, Note::Pruned(pruned)),
        ),
    };
    let notes = [
        (by_date, Note::TrustedDate { files: by_date }),
        (damaged, Note::DamageKept(damaged)),
        gone,
    ];
    let told = notes.into_iter().filter(|(count, _)| *count > 0);
    sink.notes.extend(told.map(|(_, note)| note));
    let severity = kept.severity(Command::Update, MalformedLines::Fail);
    // What has changed is well, unless it was not taken up.
    let code = ExitCode::from(match damaged {
        0 => severity,
        _ => severity.max(Severity::Different),
    });
    let mut summary = Summary::new(Command::Update, sink.counts, start.elapsed());
    summary.read = Some((updated.read, updated.bytes));
    summary.from_journal = updated.before.files;
    summary.bases = vec![RelPath::from_path(base)];
    summary.algorithms = algorithms;
    summary.notes = sink.notes;
    summary.exit_code = code.number();
    sink.report.finish(&summary).map_err(Error::Output)?;
    Ok(code)
}
