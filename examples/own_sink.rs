//! Uses the engine alone: finds files with the same content under the directories given.
//!
//! ```sh
//! cargo run --release --example own_sink -- DIRECTORY...
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write};

use multisum::engine::{self, Job, Links, Outcome, Source, Task};
use multisum::walk::{self, FoundKind, Input};
use multisum::{Algorithm, Digest, RelPath};

fn main() -> Result<(), Box<dyn Error>> {
    let directories = std::env::args_os()
        .skip(1)
        .map(|name| Input::from_argument(&name));
    let inputs: Vec<Input> = directories.collect();
    let found = walk::walk(inputs, walk::Options::default());
    let files = found.filter(|found| matches!(found.kind, FoundKind::File));
    let jobs = files.map(|found| {
        let source = Source::File {
            path: found.path,
            links: Links::Refuse,
        };
        Job {
            token: found.name,
            task: Some(Task::new(source, [Algorithm::Blake3])),
        }
    });

    let mut same: BTreeMap<String, Vec<RelPath>> = BTreeMap::new();
    engine::run(jobs, &engine::Options::default(), &mut |name, outcome| {
        if let Some(Outcome::Hashed(hashed)) = outcome {
            let key = hashed.digests.iter().map(Digest::to_string).collect();
            same.entry(key).or_default().push(name);
        }
        Ok(())
    })?;

    let mut out = io::stdout().lock();
    for names in same.values().filter(|names| names.len() > 1) {
        for name in names {
            writeln!(out, "{name}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}
