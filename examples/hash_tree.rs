//! Hashes a tree with two algorithms in one read and writes a manifest with tags.
//!
//! ```sh
//! cargo run --release --example hash_tree -- DIRECTORY
//! ```

use std::error::Error;
use std::io::{self, Write};

use multisum::event::{Event, Sink};
use multisum::manifest::{Entry, Format, Writer, WriterOptions};
use multisum::walk::{self, Input, Root};
use multisum::{Algorithm, engine, ops};

/// Writes what was hashed to standard output, and everything else to standard error.
struct Lines {
    writer: Writer,
    out: io::BufWriter<io::Stdout>,
}

impl Sink for Lines {
    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        match event {
            Event::Hashed { name, hashed } => {
                let entry = Entry {
                    name,
                    digests: &hashed.digests,
                    size: Some(hashed.size),
                    modified: None,
                };
                self.writer.write_entry(&mut self.out, &entry)
            }
            Event::Verdict { name, verdict } => {
                writeln!(io::stderr(), "{} {name}", verdict.word())
            }
            _ => Ok(()),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args_os()
        .nth(1)
        .ok_or("usage: hash_tree DIRECTORY")?;
    let algorithms = [Algorithm::Md5, Algorithm::Sha256];
    let found = walk::walk(
        [Input::Path(Root::relative(directory))],
        walk::Options::default(),
    );
    let writer = Writer::new(WriterOptions::new(Format::Bsd, &algorithms))?;
    let mut lines = Lines {
        writer,
        out: io::BufWriter::new(io::stdout()),
    };
    ops::hash(found, &algorithms, &engine::Options::default(), &mut lines)?;
    lines.out.flush()?;
    Ok(())
}
