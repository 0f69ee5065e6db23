//! Exit codes: one table, the same for every command.

use std::process;

use crate::event::Severity;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExitCode {
    /// All was done and all is well.
    Well,
    /// All was done and differences were found.
    Different,
    /// The job could not be done in full.
    Incomplete,
    /// Stopped by a signal; the code says by which.
    Interrupted(u8),
}

impl ExitCode {
    /// The number that the caller of the program sees. It never counts anything.
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Well => 0,
            Self::Different => 1,
            Self::Incomplete => 2,
            Self::Interrupted(code) => code,
        }
    }
}

impl From<Severity> for ExitCode {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Well => Self::Well,
            Severity::Different => Self::Different,
            Severity::Incomplete => Self::Incomplete,
        }
    }
}

impl From<ExitCode> for process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.number())
    }
}
