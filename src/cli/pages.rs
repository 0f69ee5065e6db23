//! `multisum completions` and `multisum man`: what packages install, from the definitions of the
//! command line, so that neither can lag behind them.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::aot;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use super::args::{Arguments, Shell};
use super::exit::ExitCode;
use super::plan::Failure;

use crate::error::{FileError, Operation};

const EXAMPLES: &str = "Examples:\n";

/// Prints the completions of a shell.
pub(super) fn completions(shell: Shell) -> Result<ExitCode, Failure> {
    let shell = match shell {
        Shell::Bash => aot::Shell::Bash,
        Shell::Zsh => aot::Shell::Zsh,
        Shell::Fish => aot::Shell::Fish,
        Shell::Powershell => aot::Shell::PowerShell,
    };
    // The generator panics where writing fails, and memory does not.
    let mut text = Vec::new();
    aot::generate(shell, &mut Arguments::command(), "multisum", &mut text);
    let failed = |error| FileError::new(Operation::Write, "standard output", error);
    io::stdout().write_all(&text).map_err(failed)?;
    Ok(ExitCode::Well)
}

/// Prints the manual page of the program. Into a folder, which is made if it is not there, go
/// `multisum.1`, and `multisum-COMMAND.1` for each command.
pub(super) fn man(folder: Option<&Path>) -> Result<ExitCode, Failure> {
    match folder {
        Some(folder) => all_pages(folder)?,
        None => {
            let failed = |error| FileError::new(Operation::Write, "standard output", error);
            let text = page(&Arguments::command()).map_err(failed)?;
            io::stdout().write_all(&text).map_err(failed)?;
        }
    }
    Ok(ExitCode::Well)
}

fn all_pages(folder: &Path) -> Result<(), FileError> {
    let failed = |error| FileError::new(Operation::Create, folder, error);
    fs::create_dir_all(folder).map_err(failed)?;
    let mut top = Arguments::command();
    // Names of commands become those of their pages, and their options are all there.
    top.build();
    let commands = top.get_subcommands().filter(|one| !one.is_hide_set());
    for command in commands.chain([&top]) {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let path = folder.join(format!("{name}.1"));
        let failed = |error| FileError::new(Operation::Write, &path, error);
        let text = page(command).map_err(failed)?;
        fs::write(&path, text).map_err(failed)?;
    }
    Ok(())
}

/// A manual page. Examples stand as they are typed, which the generator would not leave so.
fn page(command: &Command) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let man = Man::new(command.clone());
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    if let Some(after) = command.get_after_long_help() {
        after_options(&after.to_string()).to_writer(&mut text)?;
    }
    if command.get_version().is_some() {
        man.render_version_section(&mut text)?;
    }
    Ok(text)
}

/// Paragraphs, of which the one that begins with "Examples:" is typed text.
fn after_options(text: &str) -> Roff {
    let mut roff = Roff::new();
    let mut is_noted = false;
    for paragraph in text.split("\n\n") {
        if let Some(examples) = paragraph.strip_prefix(EXAMPLES) {
            roff.control("SH", ["EXAMPLES"]);
            roff.control("nf", []);
            for line in examples.lines() {
                roff.text([roman(line)]);
            }
            roff.control("fi", []);
        } else {
            let heading = if is_noted { "PP" } else { "SH" };
            roff.control(heading, ["NOTES"].into_iter().filter(|_| !is_noted));
            roff.text([roman(paragraph.replace('\n', " "))]);
            is_noted = true;
        }
    }
    roff
}
