//! The command line: parses, plans, runs one subcommand, and chooses the exit code.
//!
//! [`run`] is the whole program. Nothing outside this module prints, asks the environment or knows
//! of exit codes.

mod args;
mod bag;
mod bench;
mod console;
mod convert;
mod diff;
mod exit;
mod hash;
mod header;
mod journal;
mod merge;
mod mhl;
mod names;
mod output;
mod pages;
mod plan;
mod scrub;
mod signals;
mod signature;
mod sink;
mod slice;
mod streams;
mod update;
mod verify;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process;

use clap::Parser;
use clap::error::ErrorKind;

use args::{Arguments, Command};
use console::Console;
use exit::ExitCode;
use plan::Failure;

use crate::error::{FileError, Operation};
use crate::quote::OneLine;

/// Runs the program with its arguments, the first of which is its own name.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> process::ExitCode {
    let console = Console::new();
    if let Some(stream) = streams::closed() {
        return console.fail(&Failure::Closed(stream)).into();
    }
    let code = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => dispatch(arguments.command, &console),
        Err(message) => return show_usage(&message, &console),
    };
    code.unwrap_or_else(|failure| console.fail(&failure)).into()
}

fn dispatch(command: Command, console: &Console) -> Result<ExitCode, Failure> {
    match command {
        Command::Hash(args) => hash::run(&args, console),
        Command::Verify(args) => verify::run(&args, console),
        Command::Diff(args) => diff::run(&args, console),
        Command::Update(args) => update::run(&args, console),
        Command::Convert(args) => convert::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Bench(args) => bench::run(&args, console),
        Command::Completions(args) => pages::completions(args.shell),
        Command::Man(args) => pages::man(args.folder.as_deref()),
    }
}

/// Help and version are asked for and go to standard output; anything else is bad usage.
fn show_usage(message: &clap::Error, console: &Console) -> process::ExitCode {
    let code = if message.use_stderr() {
        ExitCode::Incomplete
    } else {
        ExitCode::Well
    };
    let is_help = message.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    let shown = if message.use_stderr() && !is_help {
        writeln!(io::stderr(), "multisum: {}", in_one_line(message))
    } else {
        message.print()
    };
    let shown = shown
        .map_err(|error| FileError::new(Operation::Write, "standard output", error).into())
        .map(|()| code);
    shown
        .unwrap_or_else(|failure| console.fail(&failure))
        .into()
}

/// What is wrong and what may have been meant, without the usage that `--help` shows.
fn in_one_line(message: &clap::Error) -> String {
    let text = message.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let told = text.split("\n\n").map(str::trim).filter(|paragraph| {
        !paragraph.starts_with("Usage:") && !paragraph.starts_with("For more information")
    });
    let told: Vec<String> = told
        .map(|paragraph| {
            paragraph
                .lines()
                .map(str::trim)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    OneLine(told.join("; ")).to_string()
}
