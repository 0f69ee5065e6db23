//! The `multisum` command: hands its arguments to the library and returns the exit code.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    multisum::cli::run(std::env::args_os())
}
