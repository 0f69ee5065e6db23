//! ASC media hash list histories: a folder `ascmhl` with a generation for every run, and a chain that
//! guards them.
//!
//! A history in a folder below is a history of its own: it alone records what lies there, and the
//! generations above refer to its generations.

mod folders;
mod history;
mod package;
mod session;

pub(super) use package::mhl_package;
pub use session::{Document, MhlSession, NewGenerations, Renamed};

use std::path::Path;

use crate::relpath::RelPath;
use crate::walk::{FilterBuilder, FilterError};

/// The folder that holds a history.
const HISTORY: &str = "ascmhl";

/// The list of a history's generations.
const CHAIN: &str = "ascmhl_chain.xml";

/// What every history leaves out.
const DEFAULT_IGNORE: [&str; 3] = [".DS_Store", "ascmhl", "ascmhl/"];

/// Whether a folder has a history.
pub(super) fn has_mhl_history(folder: &Path) -> bool {
    folder.join(HISTORY).is_dir()
}

/// Adds the patterns of a history in the folder `name` below the top.
fn ignore_below<'a>(
    filter: &mut FilterBuilder,
    name: &RelPath,
    patterns: impl IntoIterator<Item = &'a str>,
) -> Result<(), FilterError> {
    let folder = std::str::from_utf8(name.as_bytes()).unwrap_or("*");
    for pattern in patterns {
        if DEFAULT_IGNORE.contains(&pattern) || folder.is_empty() {
            filter.exclude(pattern)?;
            continue;
        }
        let (sign, pattern) = match pattern.strip_prefix('!') {
            Some(pattern) => ("!", pattern),
            None => ("", pattern),
        };
        let anchored = pattern.trim_end_matches('/').contains('/');
        let between = if anchored { "" } else { "**/" };
        let pattern = pattern.trim_start_matches('/');
        let folder = escape_glob(folder);
        filter.exclude(&format!("{sign}/{folder}/{between}{pattern}"))?;
    }
    Ok(())
}

/// A name as a pattern that matches nothing else.
fn escape_glob(name: &str) -> String {
    let mut escaped = String::new();
    for letter in name.chars() {
        if matches!(letter, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!' | '#') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}
