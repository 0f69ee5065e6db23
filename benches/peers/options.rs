//! The command line of the benchmark.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Parser;

/// Measure multisum against the other tools that hash files, as whole processes.
#[derive(Debug, Parser)]
#[command(name = "peers", max_term_width = 100)]
pub(crate) struct Options {
    /// Fewer rows, smaller inputs and no scripting languages: under two minutes
    #[arg(long)]
    pub(crate) quick: bool,

    /// Only rows whose name contains ROW; may be repeated; 'list' shows the names
    #[arg(long, value_name = "ROW")]
    pub(crate) only: Vec<String>,

    /// Measured runs of each tool in each row, after a warm-up; at least 3, and more for short work
    #[arg(long, value_name = "N", default_value = "3")]
    pub(crate) runs: NonZeroUsize,

    /// Where the inputs are made, and kept for the next time [default: multisum-peers in the folder
    /// for temporary files]
    #[arg(long, value_name = "DIR")]
    pub(crate) inputs: Option<PathBuf>,

    /// Look for tools in DIR before PATH; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Vec<PathBuf>,

    /// The multisum to measure [default: the one built with this benchmark]
    #[arg(long, value_name = "FILE")]
    pub(crate) multisum: Option<PathBuf>,

    /// Seconds after which a command is ended and counts as failed
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub(crate) limit: u64,

    /// Copy the tables to DIR/MACHINE/DATE.csv and .md
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "benches/record")]
    pub(crate) record: Option<PathBuf>,

    /// `cargo bench` says this to every benchmark
    #[arg(long, hide = true)]
    pub(crate) bench: bool,
}
