//! `multisum convert`.

use std::io::{self, Write};
use std::path::PathBuf;

use crate::error::{Error, FileError, Operation};
use crate::event::{Event, Note, Sink, Verdict};
use crate::manifest::{Format, Header, Hints, output_hint};
use crate::ops::{self, Converted, Inventory, Loss, Target};
use crate::quote::OneLine;
use crate::relpath::RelPath;

use super::args::ConvertArgs;
use super::exit::ExitCode;
use super::header;
use super::names::{self, Naming};
use super::output::{Output, folder_of};
use super::plan::{self, Failure};

/// Rewrites the manifest that the arguments name.
pub(super) fn run(args: &ConvertArgs) -> Result<ExitCode, Failure> {
    let source = RelPath::from_path(&args.manifest);
    let mut told = Told::default();
    let inventory = read(args, &source, &mut told)?;
    let target = target(args, inventory.header())?;
    let mut output = match &args.output {
        Some(path) if path.as_os_str() != "-" => {
            Output::create(path, args.force).map_err(|reason| Failure::output(path, reason))?
        }
        _ => Output::stdout(),
    };
    let failed = |reason| Failure::Convert {
        path: args.manifest.clone(),
        reason,
    };
    let mut text = Vec::new();
    let converted = inventory.write(&target, &mut text).map_err(failed)?;
    let grave = converted.losses.iter().any(Loss::is_grave);
    // A seal that does not hold must not be followed by one that does.
    let refused = told.ruined || (grave && !args.lossy);
    if !refused {
        output.append(|buffer| buffer.write_all(&text))?;
        let path = output.path().to_owned();
        output
            .publish()
            .map_err(|reason| Failure::output(&path, reason))?;
    }
    tell(args, &converted, &target, refused, told.ruined).map_err(Error::Output)?;
    Ok(if refused || told.spoiled {
        ExitCode::Incomplete
    } else {
        ExitCode::Well
    })
}

fn read(args: &ConvertArgs, source: &RelPath, told: &mut Told) -> Result<Inventory, Failure> {
    let path = &args.manifest;
    let failed = |error| FileError::new(Operation::Read, path, error);
    let hints = Hints {
        list_name: Some(path.clone()).filter(|path| path.as_os_str() != "-"),
        algorithm: args
            .algorithm
            .as_ref()
            .map(|name| name.parse())
            .transpose()?,
        format: args.from,
    };
    let reader = ops::open_manifest(plan::open_list(path)?, &hints, path)?;
    let mut inventory = Inventory::default();
    for record in reader {
        inventory.take(source, record.map_err(failed)?, told)?;
    }
    Ok(inventory)
}

fn target(args: &ConvertArgs, header: &Header) -> Result<Target, Failure> {
    let hint = args.output.as_deref().map(output_hint).unwrap_or_default();
    let created = header.created.map_or_else(header::created, Ok)?;
    let mut scope = header.scope.clone();
    // The source was no part of the tree that was walked, since that run wrote it.
    let source = Naming::Base(base_folder(args, header)).below_base(&args.manifest);
    let is_new = |source: &RelPath| !scope.left_out.contains(source);
    let source = source.filter(|source| !header.paths.is_empty() && is_new(source));
    scope.left_out.extend(source);
    Ok(Target {
        format: args.format.or(hint.format).unwrap_or(Format::Jsonl),
        algorithm: hint.algorithm,
        zero: args.zero,
        base64: args.base64,
        header: Header {
            base: Some(base(args, header)),
            created: Some(created),
            scope,
            ..header.clone()
        },
    })
}

/// The base of the source, seen from the folder of the target.
fn base(args: &ConvertArgs, header: &Header) -> RelPath {
    let base = base_folder(args, header);
    names::base_seen_from(args.output.as_deref(), &base).unwrap_or(RelPath::from_path(&base))
}

fn base_folder(args: &ConvertArgs, header: &Header) -> PathBuf {
    let own = folder_of(&args.manifest);
    let recorded = header
        .base
        .as_ref()
        .and_then(RelPath::to_path)
        .unwrap_or_default();
    own.join(recorded)
}

fn tell(
    args: &ConvertArgs,
    converted: &Converted,
    target: &Target,
    refused: bool,
    ruined: bool,
) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    for loss in &converted.losses {
        if loss.is_grave() || !args.quiet {
            writeln!(stderr, "{}", OneLine(format!("not carried over: {loss}")))?;
        }
    }
    if ruined {
        return writeln!(
            stderr,
            "multisum: nothing was written, since the manifest is damaged as a whole"
        );
    }
    if refused {
        return writeln!(
            stderr,
            "multisum: nothing was written, since digests or names would be lost; --lossy writes \
             the rest"
        );
    }
    if !args.quiet {
        let names: Vec<String> = converted
            .algorithms
            .iter()
            .map(ToString::to_string)
            .collect();
        let Converted { entries, .. } = converted;
        let base = target.header.base.as_ref();
        let base = base.filter(|base| args.output.is_some() && base.as_bytes() != b".");
        if let Some(base) = base.filter(|_| target.format != Format::Jsonl) {
            writeln!(
                stderr,
                "names are relative to {base}; verify with -C from there"
            )?;
        }
        writeln!(
            stderr,
            "converted {entries} {} to {}; {}",
            if *entries == 1 { "entry" } else { "entries" },
            target.format,
            names.join(", ")
        )?;
    }
    Ok(())
}

/// Says on standard error what is wrong with a source while it is read.
#[derive(Debug, Default)]
pub(super) struct Told {
    spoiled: bool,
    /// The manifest is damaged as a whole.
    ruined: bool,
}

impl Sink for Told {
    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        let mut stderr = io::stderr().lock();
        match event {
            Event::Line {
                manifest,
                line,
                reason,
            } => {
                self.spoiled = true;
                self.ruined |= reason.spoils_the_manifest();
                writeln!(
                    stderr,
                    "{}",
                    OneLine(format!("{manifest}:{line}: {reason}"))
                )
            }
            Event::Verdict {
                name,
                verdict: Verdict::Unverified(why),
            } => {
                self.spoiled = true;
                writeln!(stderr, "{}", OneLine(format!("unverified {name}: {why}")))
            }
            Event::Note(note @ Note::Remark { .. }) => {
                writeln!(stderr, "{}", OneLine(note.to_string()))
            }
            _ => Ok(()),
        }
    }
}
