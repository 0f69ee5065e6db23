//! Standard output and standard error: what they are, and errors in words.

use std::env;
use std::io::{self, IsTerminal, Write};

use crate::error::{Error, FileError};
use crate::report;

use super::args::{Colour, ReportArgs, When};
use super::exit::ExitCode;
use super::plan::Failure;
use super::signals;

/// What the program knows of its standard streams.
#[derive(Debug)]
pub(super) struct Console {
    stdout_is_terminal: bool,
    stderr_is_terminal: bool,
    no_color: bool,
    /// A terminal that cannot move its cursor.
    is_dumb: bool,
}

impl Console {
    pub(super) fn new() -> Self {
        let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            stdout_is_terminal: io::stdout().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
            no_color: env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) || is_dumb,
            is_dumb,
        }
    }

    /// Whether report lines on standard output (or error) are coloured.
    pub(super) fn colour(&self, asked: Colour, on_stdout: bool) -> report::Colour {
        let terminal = if on_stdout {
            self.stdout_is_terminal
        } else {
            self.stderr_is_terminal
        };
        match asked {
            Colour::Always => report::Colour::Always,
            Colour::Auto if terminal && !self.no_color => report::Colour::Always,
            Colour::Auto | Colour::Never => report::Colour::Never,
        }
    }

    /// Where progress is shown.
    pub(super) fn progress(&self, args: &ReportArgs) -> report::Target {
        match args.progress {
            When::Json => report::Target::Json,
            When::Always => report::Target::Bars,
            When::Never => report::Target::Hidden,
            When::Auto => {
                let is_wanted = !args.quiet && !args.status;
                if is_wanted && self.stderr_is_terminal && !self.is_dumb {
                    report::Target::Bars
                } else {
                    report::Target::Hidden
                }
            }
        }
    }

    /// How wide a table may be.
    pub(super) fn columns(&self) -> usize {
        let asked = env::var("COLUMNS")
            .ok()
            .and_then(|columns| columns.parse().ok());
        asked.unwrap_or(80)
    }

    /// Says on standard error why the program ends, unless nobody is left to read the output.
    pub(super) fn fail(&self, failure: &Failure) -> ExitCode {
        signals::telling();
        if failure.is_closed_pipe() {
            return ExitCode::Incomplete;
        }
        let code = match failure.cause() {
            Failure::Run(Error::Cancelled) => ExitCode::Interrupted(signals::exit_code()),
            _ => ExitCode::Incomplete,
        };
        // If standard error fails as well, the exit code is all that is left.
        writeln!(io::stderr(), "multisum: {failure}").ok();
        code
    }
}

/// Whether an error only says that the reader of a pipe has gone.
pub(super) fn is_closed_pipe(error: &FileError) -> bool {
    error.io_error().kind() == io::ErrorKind::BrokenPipe
}
