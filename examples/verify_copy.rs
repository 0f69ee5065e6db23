//! Proves a copy of a tree against a manifest, and reports as the command does.
//!
//! ```sh
//! cargo run --release --example verify_copy -- MANIFEST COPY
//! ```

use std::error::Error;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::Instant;

use multisum::event::{Event, Sink};
use multisum::ops::{self, BaseChoice, List, ListInput, VerifyOptions};
use multisum::report::{
    Colour, Command, Counts, MalformedLines, Report, Summary, TextReport, Verbosity,
};
use multisum::{RelPath, engine};

struct Reported {
    report: TextReport<io::Stdout, io::Stderr>,
    counts: Counts,
}

impl Sink for Reported {
    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        self.counts.add(&event);
        self.report.event(&event)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(manifest), Some(copy)) = (arguments.next(), arguments.next()) else {
        return Err("usage: verify_copy MANIFEST COPY".into());
    };
    let start = Instant::now();
    let list = List {
        name: RelPath::from_path(&manifest),
        input: ListInput::Stream(Box::new(File::open(&manifest)?)),
        path: Some(manifest),
    };
    let options = VerifyOptions {
        base: BaseChoice::Given(copy),
        ..VerifyOptions::default()
    };
    let report = TextReport::new(io::stdout(), io::stderr(), Verbosity::Normal, Colour::Never);
    let mut sink = Reported {
        report,
        counts: Counts::default(),
    };
    let verified = ops::verify(vec![list], &options, &engine::Options::default(), &mut sink)?;

    let severity = sink.counts.severity(Command::Verify, MalformedLines::Fail);
    let mut summary = Summary::new(Command::Verify, sink.counts, start.elapsed());
    summary.algorithms = verified.algorithms.into_iter().collect();
    sink.report.finish(&summary)?;
    match severity {
        multisum::event::Severity::Well => Ok(()),
        _ => Err("the copy is not proved".into()),
    }
}
