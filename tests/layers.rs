//! The rules of the code base that no compiler checks: who may use whom, which outside crate belongs
//! to whom, where `unsafe` may stand, which words are not left behind.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The modules of `src/` from the lowest layer to the highest. A module may use the modules of the
/// rows above its own, and itself.
const LAYERS: &[&[&str]] = &[
    &[
        "c4",
        "counted",
        "error",
        "hex",
        "location",
        "nearest",
        "quote",
        "relpath",
        "signature",
        "timestamp",
    ],
    &["algorithm"],
    &["digest"],
    &["hasher", "lanes"],
    &["slice"],
    &["walk", "manifest", "engine"],
    &["event"],
    &["ops", "report"],
    &["cli"],
];

/// Within the lowest layer, the modules that the others may use.
const USED_WITHIN_L0: &[&str] = &["quote"];

/// Outside crates by the name that code uses, and the files or directories that may name them.
const OWNERS: &[(&str, &[&str])] = &[
    ("md5", &["src/hasher/"]),
    ("sha1", &["src/hasher/"]),
    ("sha2", &["src/hasher/"]),
    ("sha3", &["src/hasher/"]),
    ("sm3", &["src/hasher/"]),
    ("ripemd", &["src/hasher/"]),
    ("tiger", &["src/hasher/"]),
    ("whirlpool", &["src/hasher/"]),
    ("digest", &["src/hasher/"]),
    ("blake2b_simd", &["src/hasher/", "src/lanes/"]),
    ("blake2s_simd", &["src/hasher/", "src/lanes/"]),
    ("blake3", &["src/hasher/"]),
    ("crc_fast", &["src/hasher/"]),
    ("twox_hash", &["src/hasher/"]),
    ("data_encoding", &["src/hex.rs"]),
    ("thiserror", &["src/"]),
    ("walkdir", &["src/walk/"]),
    ("ignore", &["src/walk/"]),
    ("unicode_normalization", &["src/ops/package/"]),
    ("rayon", &["src/engine/"]),
    ("crossbeam_channel", &["src/engine/"]),
    (
        "rustix",
        &["src/engine/", "src/location/", "src/walk/listing.rs"],
    ),
    ("memmap2", &["src/engine/mmap.rs"]),
    ("libc", &["src/engine/mmap.rs", "src/cli/streams.rs"]),
    ("memchr", &["src/manifest/lines.rs"]),
    ("encoding_rs", &["src/manifest/"]),
    ("flate2", &["src/manifest/unpack.rs"]),
    ("quick_xml", &["src/manifest/xml.rs"]),
    ("csv", &["src/manifest/csv.rs"]),
    ("jiff", &["src/timestamp.rs"]),
    ("minisign_verify", &["src/signature.rs"]),
    ("ssh_key", &["src/signature.rs"]),
    ("clap", &["src/cli/"]),
    ("clap_complete", &["src/cli/pages.rs"]),
    ("clap_mangen", &["src/cli/pages.rs"]),
    ("strsim", &["src/nearest.rs"]),
    ("signal_hook", &["src/cli/"]),
    ("tempfile", &["src/cli/"]),
    ("indicatif", &["src/report/progress.rs"]),
    ("console", &["src/report/"]),
    ("serde_core", &["src/manifest/json_text.rs"]),
    (
        "serde_json",
        &[
            "src/manifest/",
            "src/report/json.rs",
            "src/report/progress.rs",
            "src/cli/bench.rs",
        ],
    ),
];

/// Where `unsafe` may stand.
const UNSAFE_IN: &[&str] = &["src/lanes/", "src/engine/mmap.rs", "src/cli/streams.rs"];

/// Where the program talks to the user and looks at its environment.
const OUTSIDE_WORLD_IN: &[&str] = &["src/cli/", "src/main.rs"];

const LONGEST_FUNCTION_LINES: usize = 100;

/// A source file in three shapes, all with the same lines.
struct Source {
    /// From the root of the package, with slashes: `src/hasher/multi.rs`.
    path: String,
    /// As it stands there.
    raw: String,
    /// Comments and the insides of literals blanked out.
    code: String,
    /// As `code`, with `#[cfg(test)]` items blanked out as well.
    product: String,
}

impl Source {
    fn new(path: &str, raw: &str) -> Self {
        let code = without_comments_and_literals(raw);
        Self {
            path: path.to_owned(),
            raw: raw.to_owned(),
            product: without_tests(&code),
            code,
        }
    }

    fn is_in(&self, places: &[&str]) -> bool {
        places.iter().any(|place| is_under(&self.path, place))
    }

    /// The modules that lead to this file: `["hasher", "multi"]`; none for the roots.
    fn module(&self) -> Vec<&str> {
        let inner = self.path.trim_start_matches("src/").trim_end_matches(".rs");
        let mut parts: Vec<&str> = inner.split('/').collect();
        if matches!(parts.last(), Some(&("mod" | "lib" | "main"))) {
            parts.pop();
        }
        parts
    }
}

fn is_under(path: &str, place: &str) -> bool {
    if place.ends_with('/') {
        path.starts_with(place)
    } else {
        path == place
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        assert!(!folder.exists(), "{folder:?} cannot be listed");
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn sources() -> Vec<Source> {
    let mut files = Vec::new();
    rust_files(&root().join("src"), &mut files);
    files.sort();
    assert!(!files.is_empty());
    let read = |file: &PathBuf| {
        let path = file.strip_prefix(root()).unwrap().to_str().unwrap();
        Source::new(&path.replace('\\', "/"), &fs::read_to_string(file).unwrap())
    };
    let mut sources: Vec<Source> = files.iter().map(read).collect();
    blank_test_files(&mut sources);
    sources
}

/// A file that is declared by `#[cfg(test)] mod name;` is no product either.
fn blank_test_files(sources: &mut [Source]) {
    let of_tests: Vec<String> = sources.iter().flat_map(test_modules).collect();
    for source in sources {
        let is_test = |module: &String| {
            source.path == format!("{module}.rs") || is_under(&source.path, &format!("{module}/"))
        };
        if of_tests.iter().any(is_test) {
            source.product = blank(&source.code);
        }
    }
}

/// The modules for tests that a file declares: `src/walk/tests`.
fn test_modules(source: &Source) -> Vec<String> {
    let folder = ["src"].into_iter().chain(source.module());
    let folder = folder.collect::<Vec<_>>().join("/");
    test_items(&source.code)
        .into_iter()
        .filter_map(|item| {
            let declaration = source.code[item].strip_suffix(';')?;
            let name = declaration
                .split_once(" mod ")
                .or(declaration.split_once("\nmod "))?
                .1;
            Some(format!("{folder}/{}", name.trim()))
        })
        .collect()
}

/// Replaces every byte by a blank, but for line ends, so that line numbers stay.
fn blank(text: &str) -> String {
    text.bytes()
        .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
        .collect()
}

/// The length of the comment or literal that `text` begins with, if it does.
fn comment_or_literal(text: &str, after_word: bool) -> Option<usize> {
    let until = |end: &str, from: usize| {
        let found = text[from..].find(end);
        found.map_or(text.len(), |place| from + place + end.len())
    };
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return Some(until("*/", 2));
    }
    if text.starts_with('"') {
        return Some(quoted(text, 1, '"'));
    }
    if !after_word && text.starts_with(['r', 'b', 'c']) {
        let prefix = text.find(['"', '#', '\'']).filter(|&place| place <= 2)?;
        let letters = &text[..prefix];
        if letters.contains('r') {
            let hashes = text[prefix..].bytes().take_while(|&b| b == b'#').count();
            let opening = prefix + hashes;
            let is_string =
                matches!(letters, "r" | "br" | "cr") && text[opening..].starts_with('"');
            return is_string.then(|| until(&format!("\"{}", "#".repeat(hashes)), opening + 1));
        }
        let quote = text[prefix..].chars().next()?;
        let is_literal = matches!(letters, "b" | "c") && quote != '#';
        return is_literal.then(|| quoted(text, prefix + 1, quote));
    }
    if let Some(rest) = text.strip_prefix('\'') {
        // A lifetime has no closing quote after one character.
        let mut chars = rest.chars();
        let first = chars.next()?;
        let is_char = first == '\\' || chars.next() == Some('\'');
        return is_char.then(|| quoted(text, 1, '\''));
    }
    None
}

/// The end of a literal with backslash escapes whose inside begins at `start`.
fn quoted(text: &str, start: usize, quote: char) -> usize {
    let mut escaped = false;
    for (place, letter) in text[start..].char_indices() {
        if !escaped && letter == quote {
            return start + place + 1;
        }
        escaped = !escaped && letter == '\\';
    }
    text.len()
}

fn without_comments_and_literals(raw: &str) -> String {
    let mut code = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(letter) = rest.chars().next() {
        let after_word = code.ends_with(is_word_letter);
        let skip = comment_or_literal(rest, after_word);
        let length = skip.unwrap_or(letter.len_utf8());
        let piece = &rest[..length];
        if skip.is_some() {
            code.push_str(&blank(piece));
        } else {
            code.push_str(piece);
        }
        rest = &rest[length..];
    }
    code
}

fn is_word_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// From `start`, the end of the item: past its closing brace or its semicolon, whichever is first.
fn end_of_item(code: &str, start: usize) -> usize {
    let mut depth = 0_usize;
    let mut brackets = 0_usize;
    for (place, letter) in code[start..].char_indices() {
        match letter {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets = brackets.saturating_sub(1),
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return start + place + 1;
                }
            }
            ';' if depth == 0 && brackets == 0 => return start + place + 1,
            _ => {}
        }
    }
    code.len()
}

/// Where the items are that are compiled for tests only, with their attribute.
fn test_items(code: &str) -> Vec<Range<usize>> {
    let mut items = Vec::new();
    let mut from = 0;
    while let Some(place) = code[from..].find("#[cfg(") {
        let start = from + place;
        let condition = &code[start + "#[cfg(".len()..];
        let is_test = ["test)", "all(test"]
            .iter()
            .any(|test| condition.starts_with(test));
        let end = if is_test {
            end_of_item(code, start)
        } else {
            start + 1
        };
        if is_test {
            items.push(start..end);
        }
        from = end;
    }
    items
}

fn without_tests(code: &str) -> String {
    let mut product = code.to_owned();
    for item in test_items(code) {
        product.replace_range(item.clone(), &blank(&code[item]));
    }
    product
}

/// Every path of the code with its line: `crate::a::b` as `["crate", "a", "b"]`. Trees of `use`
/// are spread out.
fn paths(code: &str) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    let mut line = 1;
    let mut rest = code;
    let mut before = ' ';
    while let Some(letter) = rest.chars().next() {
        let starts_word = is_word_letter(letter) && !is_word_letter(before);
        let is_tail = code[..code.len() - rest.len()].trim_end().ends_with("::");
        if starts_word && !is_tail {
            let mut spread = Vec::new();
            spread_path(rest, Vec::new(), &mut spread);
            found.extend(spread.into_iter().map(|path| (line, path)));
        }
        line += usize::from(letter == '\n');
        before = letter;
        rest = &rest[letter.len_utf8()..];
    }
    found
}

/// Reads one path at the start of `text` and gives what follows it.
fn spread_path<'a>(
    text: &'a str,
    mut prefix: Vec<String>,
    found: &mut Vec<Vec<String>>,
) -> &'a str {
    let mut rest = text.trim_start();
    loop {
        if let Some(tree) = rest.strip_prefix('{') {
            return spread_tree(tree, &prefix, found);
        }
        let length = rest.find(|c| !is_word_letter(c)).unwrap_or(rest.len());
        if length == 0 {
            break;
        }
        prefix.push(rest[..length].to_owned());
        rest = &rest[length..];
        match rest.trim_start().strip_prefix("::") {
            Some(tail) => rest = tail.trim_start(),
            None => break,
        }
    }
    found.push(prefix);
    rest
}

fn spread_tree<'a>(text: &'a str, prefix: &[String], found: &mut Vec<Vec<String>>) -> &'a str {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('}') {
            return after;
        }
        let Some(next) = rest.chars().next() else {
            return rest;
        };
        let after = if is_word_letter(next) || next == '{' {
            spread_path(rest, prefix.to_vec(), found)
        } else {
            rest
        };
        // What is no path in a tree (a comma, a star, `as name`) is passed over letter by letter.
        rest = match after.len() == rest.len() {
            true => &rest[next.len_utf8()..],
            false => after,
        };
    }
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|row| row.contains(&module))
}

/// What `lib.rs` gives a second name at the root: `Algorithm` → `algorithm`.
fn root_names(sources: &[Source]) -> BTreeMap<String, String> {
    let lib = sources.iter().find(|source| source.path == "src/lib.rs");
    let paths = paths(&lib.expect("a library").product);
    let named = paths.into_iter().filter(|(_, path)| path.len() >= 2);
    named
        .map(|(_, path)| (path[path.len() - 1].clone(), path[0].clone()))
        .collect()
}

/// The modules of this package that a file uses, with lines.
fn used_modules(source: &Source, root_names: &BTreeMap<String, String>) -> Vec<(usize, String)> {
    let module = source.module();
    let mut used = Vec::new();
    for (line, path) in paths(&source.product) {
        let supers = path.iter().take_while(|part| *part == "super").count();
        let start = match path[0].as_str() {
            "crate" => 1,
            "super" if supers == module.len() => supers,
            _ => continue,
        };
        if let Some(first) = path.get(start) {
            let target = root_names.get(first).unwrap_or(first);
            used.push((line, target.clone()));
        }
    }
    used
}

/// What is wrong with using `target` from `source`, if anything.
fn layer_fault(source: &Source, target: &str) -> Option<String> {
    let own = source.module().first().copied()?.to_owned();
    let Some(own_layer) = layer(&own) else {
        return Some(format!("module {own} has no layer in this test"));
    };
    let Some(target_layer) = layer(target) else {
        return Some(format!("crate::{target} has no layer in this test"));
    };
    let allowed = target == own
        || target_layer < own_layer
        || own_layer == 0 && USED_WITHIN_L0.contains(&target);
    (!allowed).then(|| format!("{own} uses crate::{target}, which is not in a lower layer"))
}

/// The names that belong to the package itself in this file: declared or imported modules.
fn own_names(source: &Source) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let words: Vec<&str> = source
        .product
        .split(|letter| !is_word_letter(letter))
        .filter(|word| !word.is_empty())
        .collect();
    for pair in words.windows(2) {
        if pair[0] == "mod" {
            names.insert(pair[1].to_owned());
        }
    }
    for (_, path) in paths(&source.product) {
        if matches!(path[0].as_str(), "crate" | "super" | "self") {
            names.insert(path[path.len() - 1].clone());
        }
    }
    names
}

/// The outside crates that a file names, with lines.
fn used_crates(source: &Source) -> Vec<(usize, &'static str)> {
    let own = own_names(source);
    let mut used = Vec::new();
    for (line, path) in paths(&source.product) {
        let owned = OWNERS.iter().find(|(name, _)| *name == path[0]);
        let Some((name, _)) = owned else { continue };
        let is_path = path.len() > 1 || is_imported_whole(source, line, name);
        if is_path && !own.contains(*name) {
            used.push((line, *name));
        }
    }
    used
}

/// `use name;` or `use name as other;`, which is a path of one part.
fn is_imported_whole(source: &Source, line: usize, name: &str) -> bool {
    let text = source.product.lines().nth(line - 1).unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    words
        .windows(2)
        .any(|pair| matches!(pair[0], "use" | "crate") && pair[1].trim_end_matches(';') == name)
}

#[track_caller]
fn assert_none(rule: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{rule}:\n  {}", faults.join("\n  "));
}

#[test]
fn a_module_uses_lower_layers_only() {
    let sources = sources();
    let root_names = root_names(&sources);
    let mut faults = Vec::new();
    for source in &sources {
        for (line, target) in used_modules(source, &root_names) {
            let fault = layer_fault(source, &target);
            faults.extend(fault.map(|fault| format!("{}:{line}: {fault}", source.path)));
        }
    }
    assert_none("imports against the layers", &faults);
}

#[test]
fn an_outside_crate_is_named_by_its_owner_only() {
    let mut faults = Vec::new();
    for source in &sources() {
        for (line, name) in used_crates(source) {
            let owners = OWNERS.iter().find(|row| row.0 == name).unwrap().1;
            if !source.is_in(owners) {
                faults.push(format!(
                    "{}:{line}: {name} belongs to {owners:?}",
                    source.path
                ));
            }
        }
    }
    assert_none("outside crates in foreign hands", &faults);
}

#[test]
fn every_dependency_has_an_owner() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let mut tables = vec![manifest["dependencies"].as_table().unwrap()];
    for target in manifest["target"].as_table().unwrap().values() {
        tables.extend(
            target
                .get("dependencies")
                .and_then(|table| table.as_table()),
        );
    }
    let library_name = |package: &String| match package.as_str() {
        "md-5" => "md5".to_owned(),
        other => other.replace('-', "_"),
    };
    let needed: BTreeSet<String> = tables
        .into_iter()
        .flat_map(|t| t.keys())
        .map(library_name)
        .collect();
    let owned: BTreeSet<String> = OWNERS.iter().map(|row| row.0.to_owned()).collect();
    let without_owner: Vec<&String> = needed.difference(&owned).collect();
    let without_use: Vec<&String> = owned.difference(&needed).collect();
    assert!(
        without_owner.is_empty() && without_use.is_empty(),
        "not in OWNERS: {without_owner:?}; in OWNERS, but not in Cargo.toml: {without_use:?}"
    );
}

#[test]
fn unsafe_stands_where_it_may_and_says_why() {
    let mut faults = Vec::new();
    for source in &sources() {
        for line in lines_with_word(&source.code, "unsafe") {
            if !source.is_in(UNSAFE_IN) {
                faults.push(format!("{}:{line}: unsafe", source.path));
            } else if is_unsafe_block(&source.code, line) && !has_safety_note(&source.raw, line) {
                faults.push(format!("{}:{line}: no SAFETY comment above", source.path));
            }
        }
    }
    assert_none("unsafe", &faults);
}

fn lines_with_word(code: &str, word: &str) -> Vec<usize> {
    let has = |line: &str| {
        line.split(|c| !is_word_letter(c))
            .any(|found| found == word)
    };
    let lines = code.lines().enumerate();
    lines
        .filter(|(_, line)| has(line))
        .map(|(n, _)| n + 1)
        .collect()
}

fn is_unsafe_block(code: &str, line: usize) -> bool {
    let from = code.lines().skip(line - 1).collect::<Vec<_>>().join("\n");
    let after = from
        .find("unsafe")
        .map(|place| from[place + 6..].trim_start());
    after.is_some_and(|after| after.starts_with('{'))
}

/// The note stands in the comment right above the statement that holds the block; the statement may
/// have begun up to three lines earlier.
fn has_safety_note(raw: &str, line: usize) -> bool {
    let above: Vec<&str> = raw.lines().take(line).map(str::trim).collect();
    let is_comment = |line: &&&str| line.starts_with("//");
    let mut upwards = above.iter().rev().skip(1).peekable();
    for _ in 0..3 {
        if upwards.peek().is_some_and(|line| !is_comment(line)) {
            upwards.next();
        }
    }
    let on_the_line = above.last().is_some_and(|line| line.contains("SAFETY:"));
    on_the_line
        || upwards
            .take_while(is_comment)
            .any(|line| line.contains("SAFETY:"))
}

#[test]
fn only_the_command_line_talks_to_the_outside_world() {
    let words = [
        "println!",
        "eprintln!",
        "print!",
        "eprint!",
        "std::env::",
        "use std::env",
    ];
    let mut faults = Vec::new();
    for source in sources()
        .iter()
        .filter(|source| !source.is_in(OUTSIDE_WORLD_IN))
    {
        for (number, line) in source.product.lines().enumerate() {
            if let Some(word) = words.iter().find(|word| line.contains(**word)) {
                faults.push(format!("{}:{}: {word}", source.path, number + 1));
            }
        }
    }
    assert_none(
        "printing or looking at the environment outside src/cli/",
        &faults,
    );
}

#[test]
fn no_forbidden_words() {
    // In halves, so that this file does not hold them.
    let words = [
        concat!("to", "do!"),
        concat!("db", "g!"),
        concat!("fix", "me"),
        concat!("xx", "x"),
        concat!("unimp", "lemented!"),
    ];
    let mut files = Vec::new();
    for folder in ["src", "tests", "benches", "examples"] {
        rust_files(&root().join(folder), &mut files);
    }
    let mut faults = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).unwrap().to_lowercase();
        for (number, line) in text.lines().enumerate() {
            if let Some(word) = words.iter().find(|word| has_word(line, word)) {
                faults.push(format!("{file:?}:{}: {word}", number + 1));
            }
        }
    }
    assert_none("words that are not left behind", &faults);
}

fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(place, _)| {
        let before = line[..place].chars().next_back();
        let after = line[place + word.len()..].chars().next();
        !before.is_some_and(is_word_letter) && !after.is_some_and(is_word_letter)
    })
}

/// Name, first line and number of lines of every function.
fn functions(code: &str) -> Vec<(String, usize, usize)> {
    let mut found = Vec::new();
    for (place, _) in code.match_indices("fn ") {
        let starts_word = !code[..place].ends_with(is_word_letter);
        let name: String = code[place + 3..]
            .chars()
            .take_while(|c| is_word_letter(*c))
            .collect();
        if starts_word && !name.is_empty() {
            let body = &code[place..end_of_item(code, place)];
            let line = code[..place].matches('\n').count() + 1;
            found.push((name, line, body.matches('\n').count() + 1));
        }
    }
    found
}

#[test]
fn functions_are_short() {
    let mut faults = Vec::new();
    for source in &sources() {
        for (name, line, lines) in functions(&source.code) {
            if lines > LONGEST_FUNCTION_LINES {
                faults.push(format!("{}:{line}: {name} has {lines} lines", source.path));
            }
        }
    }
    assert_none("functions that nobody can take in at one look", &faults);
}

/// The checks themselves, on made-up sources.
mod checks {
    use super::*;

    fn faults(path: &str, raw: &str) -> Vec<String> {
        let source = Source::new(path, raw);
        let names = BTreeMap::from([("Algorithm".to_owned(), "algorithm".to_owned())]);
        used_modules(&source, &names)
            .iter()
            .filter_map(|(line, target)| {
                layer_fault(&source, target).map(|_| format!("{line} {target}"))
            })
            .collect()
    }

    #[test]
    fn an_import_upwards_or_sideways_is_found_in_every_spelling() {
        assert_eq!(
            faults("src/walk/a.rs", "use crate::engine::Job;"),
            ["1 engine"]
        );
        assert_eq!(
            faults("src/walk/a.rs", "\n use crate::{hex, event::{Sink, Note}};"),
            ["2 event", "2 event"]
        );
        assert_eq!(faults("src/walk/mod.rs", "use super::cli;"), ["1 cli"]);
        assert_eq!(
            faults("src/walk/a.rs", "use super::super::cli::run;"),
            ["1 cli"]
        );
        assert_eq!(
            faults("src/hex.rs", "fn f(a: crate::Algorithm) {}"),
            ["1 algorithm"]
        );
        assert_eq!(
            faults("src/walk/a.rs", "use crate\n  ::engine;"),
            ["1 engine"]
        );
        assert_eq!(
            faults("src/walk/a.rs", "use crate::newcomer;"),
            ["1 newcomer"]
        );
        assert_eq!(faults("src/newcomer.rs", "use crate::hex;"), ["1 hex"]);
    }

    #[test]
    fn lower_layers_own_directory_comments_and_tests_are_no_faults() {
        let text = r##"
            use crate::walk::Found; use super::Other; use crate::Algorithm;
            // use crate::cli;
            /* crate::cli */
            const A: &str = "crate::cli"; const B: &str = r#"crate::cli " "#; const C: char = '"';
            fn f<'a>(x: &'a str) -> &'a str { x }
            #[cfg(test)]
            mod tests { use crate::cli; fn g() { let x = [0; 3]; } }
        "##;
        assert!(faults("src/walk/a.rs", text).is_empty());
    }

    #[test]
    fn code_after_a_test_module_is_still_seen() {
        let text = "#[cfg(test)]\nmod tests { const A: [u8; 2] = [1, 2]; }\nuse crate::cli;";
        assert_eq!(faults("src/walk/a.rs", text), ["3 cli"]);
        let text = "#[cfg(test)]\nuse crate::event;\nuse crate::cli;";
        assert_eq!(faults("src/walk/a.rs", text), ["3 cli"]);
    }

    #[test]
    fn a_file_of_tests_is_known_by_its_declaration() {
        let mut sources = [
            Source::new(
                "src/walk/mod.rs",
                "mod a;\n#[cfg(test)]\nmod tests;\n#[cfg(unix)]\nmod b;",
            ),
            Source::new("src/walk/tests.rs", "use crate::cli;"),
            Source::new("src/walk/tests/more.rs", "use crate::cli;"),
            Source::new("src/walk/b.rs", "use crate::cli;"),
            Source::new("src/engine/tests.rs", "use crate::cli;"),
        ];
        blank_test_files(&mut sources);
        let is_product = sources
            .each_ref()
            .map(|source| !source.product.trim().is_empty());
        assert_eq!(is_product, [true, false, false, true, true]);
    }

    fn crates(path: &str, raw: &str) -> Vec<(usize, &'static str)> {
        used_crates(&Source::new(path, raw))
    }

    #[test]
    fn outside_crates_are_told_from_own_modules_of_the_same_name() {
        assert_eq!(crates("src/a.rs", "use rayon::prelude::x;"), [(1, "rayon")]);
        assert_eq!(crates("src/a.rs", "use libc;"), [(1, "libc")]);
        assert_eq!(
            crates("src/a.rs", "fn f() { digest::go() }"),
            [(1, "digest")]
        );
        assert!(crates("src/a.rs", "use crate::digest; fn f() { digest::go() }").is_empty());
        assert!(crates("src/lanes/mod.rs", "mod md5; fn f() { md5::go() }").is_empty());
        assert!(crates("src/a.rs", "fn f(digest: u8) { g(digest) }").is_empty());
    }

    #[test]
    fn an_unsafe_block_needs_its_note() {
        let bare = "fn f() {\n    unsafe { g() }\n}";
        let noted = "fn f() {\n    // SAFETY: because\n    // of this\n    let x =\n        unsafe { g() };\n}";
        assert_eq!(lines_with_word(bare, "unsafe"), [2]);
        assert!(is_unsafe_block(bare, 2) && !has_safety_note(bare, 2));
        assert!(has_safety_note(noted, 5));
        assert!(!is_unsafe_block("unsafe fn f() {}", 1));
    }

    #[test]
    fn the_length_of_a_function_is_its_lines() {
        let code = "fn a(x: [u8; 2]) {\n  b();\n}\nfn c();";
        assert_eq!(functions(code), [("a".into(), 1, 3), ("c".into(), 4, 1)]);
    }
}
