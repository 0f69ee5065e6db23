//! `multisum merge`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::counted::{counted, grouped};
use crate::error::{Error, FileError};
use crate::manifest::{Format, Header, output_hint};
use crate::ops::{Converted, Loss, Parts, SurveyedManifest, Target};
use crate::quote::OneLine;
use crate::relpath::RelPath;

use super::args::MergeArgs;
use super::convert::Told;
use super::exit::ExitCode;
use super::header;
use super::names;
use super::output::Output;
use super::plan::{self, Failure};

/// Parts that are kept open, each twice, while they are read side by side; further ones are read into
/// memory. Systems allow a process few open files.
const MOST_OPEN: usize = 200;

/// Joins the manifests that the arguments name.
pub(super) fn run(args: &MergeArgs) -> Result<ExitCode, Failure> {
    let parts = Parts::new(open(args)?)?;
    let target = target(args, &parts)?;
    let mut output = match args.output.as_os_str() == "-" {
        true => Output::stdout(),
        false => Output::create(&args.output, args.force)
            .map_err(|reason| Failure::output(&args.output, reason))?,
    };
    if !output.appears_whole() {
        // What has been written to a pipe cannot be taken back.
        let (merged, gaps) = parts.write(&target, &mut io::sink())?;
        if is_refused(&merged) {
            return tell(args, &parts, &merged, gaps, &target).map_err(write_failed);
        }
    }
    let mut out = Appending {
        output: &mut output,
        failure: None,
    };
    let merged = parts.write(&target, &mut out);
    out.failure.map_or(Ok(()), Err)?;
    let (merged, gaps) = merged?;
    if !is_refused(&merged) {
        let path = output.path().to_owned();
        let published = output.publish();
        published.map_err(|reason| Failure::output(&path, reason))?;
    }
    tell(args, &parts, &merged, gaps, &target).map_err(write_failed)
}

fn write_failed(error: io::Error) -> Failure {
    Error::Output(error).into()
}

/// Whether a digest or a name would be lost.
fn is_refused(merged: &Converted) -> bool {
    merged.losses.iter().any(Loss::is_grave)
}

fn open(args: &MergeArgs) -> Result<Vec<SurveyedManifest>, Failure> {
    let is_stdin = |path: &&PathBuf| path.as_os_str() == "-";
    if args.parts.iter().filter(is_stdin).count() > 1 {
        return Err(Failure::StdinTwice);
    }
    let algorithm = args
        .algorithm
        .as_ref()
        .map(|name| name.parse())
        .transpose()?;
    let mut told = Told::default();
    let surveyed = args.parts.iter().enumerate().map(|(place, path)| {
        let hints = plan::hints(path, algorithm, args.from);
        let file = plan::manifest_file(path, hints, place < MOST_OPEN)?;
        Ok(SurveyedManifest::new(file, &mut told)?)
    });
    surveyed.collect()
}

fn target(args: &MergeArgs, parts: &Parts) -> Result<Target, Failure> {
    let hint = output_hint(&args.output);
    let said = args.format.or(hint.format);
    let header = parts.header();
    let created = header.created.map_or_else(header::created, Ok)?;
    let format = said.or(parts.format());
    let format = format.ok_or(Failure::NoCommonFormat)?;
    if format == Format::Jsonl && parts.base().is_none() {
        return Err(Failure::NoCommonBase);
    }
    Ok(Target {
        format,
        algorithm: hint.algorithm,
        zero: args.zero || (said.is_none() && parts.end_with_nul()),
        base64: args.base64,
        header: Header {
            base: parts.base().map(|base| seen_from_output(args, base)),
            created: Some(created),
            ..header.clone()
        },
    })
}

fn seen_from_output(args: &MergeArgs, base: &Path) -> RelPath {
    let output = Some(args.output.as_path()).filter(|path| path.as_os_str() != "-");
    names::base_seen_from(output, base).unwrap_or(RelPath::from_path(base))
}

/// Collects what is written, and keeps the reason if that fails.
struct Appending<'o> {
    output: &'o mut Output,
    failure: Option<FileError>,
}

impl Write for Appending<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.output.append(|buffer| buffer.write_all(bytes)) {
            Ok(()) => Ok(bytes.len()),
            Err(error) => {
                self.failure = Some(error);
                Err(io::ErrorKind::Other.into())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn tell(
    args: &MergeArgs,
    parts: &Parts,
    merged: &Converted,
    gaps: u64,
    target: &Target,
) -> io::Result<ExitCode> {
    let mut stderr = io::stderr().lock();
    for loss in &merged.losses {
        if loss.is_grave() || !args.quiet {
            writeln!(stderr, "{}", OneLine(format!("not carried over: {loss}")))?;
        }
    }
    if is_refused(merged) {
        writeln!(
            stderr,
            "multisum: nothing was written, since digests or names would be lost"
        )?;
        return Ok(ExitCode::Incomplete);
    }
    let code = match gaps {
        0 => ExitCode::Well,
        _ => ExitCode::Incomplete,
    };
    if gaps > 0 {
        let verb = if gaps == 1 { "is" } else { "are" };
        let files = counted(gaps, "file");
        writeln!(stderr, "{files} {verb} recorded as not hashed")?;
    }
    if !args.quiet {
        tell_whole(&mut stderr, parts, merged, target)?;
    }
    Ok(code)
}

fn tell_whole(
    stderr: &mut dyn Write,
    parts: &Parts,
    merged: &Converted,
    target: &Target,
) -> io::Result<()> {
    if !parts.say_what_was_walked() {
        writeln!(
            stderr,
            "the parts do not say what was walked; whether one is missing cannot be told"
        )?;
    }
    if let Some(note) = base_note(target) {
        writeln!(stderr, "{}", OneLine(note))?;
    }
    let entries = match merged.entries {
        1 => "1 entry".to_owned(),
        many => format!("{} entries", grouped(many)),
    };
    let names: Vec<String> = merged.algorithms.iter().map(ToString::to_string).collect();
    writeln!(
        stderr,
        "merged {entries} of {} to {}; {}",
        counted(parts.count() as u64, "part"),
        target.format,
        names.join(", ")
    )
}

/// What formats do not say that have no place for a base.
fn base_note(target: &Target) -> Option<String> {
    let says_its_base = target.format == Format::Jsonl;
    match &target.header.base {
        _ if says_its_base => None,
        None => Some(
            "the parts lie in different folders; their names were taken to be relative to one and \
             the same"
                .to_owned(),
        ),
        Some(base) if base.as_bytes() == b"." => None,
        Some(base) => Some(format!(
            "names are relative to {base}; verify with -C from there"
        )),
    }
}
