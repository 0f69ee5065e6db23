//! Which other tools are installed, and how each is told to hash.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use multisum::Algorithm;

use crate::Result;

/// A tool, or a way to hash from a scripting language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Gnu,
    Uutils,
    OpenSsl,
    Hashdeep,
    Rhash,
    B3sum,
    Xxhsum,
    Rclone,
    Shasum,
    Perl,
    Node,
    Python,
    PowerShell,
    Certutil,
}

/// How a tool writes what it found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One of the formats that multisum reads.
    Manifest,
    /// Lines of commas with a heading, as hashdeep writes them.
    Hashdeep,
    /// A line with the digest of the only file and nothing else, among lines of prose.
    Bare,
}

/// A tool that is there.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    pub(crate) kind: Kind,
    /// What tables call it.
    pub(crate) name: &'static str,
    /// What it says of its version.
    pub(crate) version: String,
    program: String,
    /// Folder of scripts that have to be files.
    scripts: PathBuf,
}

/// Kind, name in tables, programs that may be it, arguments that make it tell its version, and a word
/// that the answer must hold, since several programs go by the same name.
type Known = (
    Kind,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    &'static str,
);

#[rustfmt::skip]
const KNOWN: &[Known] = &[
    (Kind::Gnu, "GNU coreutils", &["md5sum", "gmd5sum"], &["--version"], "GNU"),
    (Kind::Uutils, "uutils coreutils", &["coreutils", "uu-coreutils", "uutils"], &["--version"], "multi-call"),
    (Kind::OpenSsl, "openssl dgst", &["openssl"], &["version"], ""),
    (Kind::Hashdeep, "hashdeep", &["hashdeep"], &["-V"], ""),
    (Kind::Rhash, "rhash", &["rhash"], &["--version"], "RHash"),
    (Kind::B3sum, "b3sum", &["b3sum"], &["--version"], "b3sum"),
    (Kind::Xxhsum, "xxhsum", &["xxhsum"], &["--version"], "xxhsum"),
    (Kind::Rclone, "rclone", &["rclone"], &["version"], "rclone"),
    (Kind::Shasum, "perl shasum", &["shasum"], &["--version"], ""),
    (Kind::Perl, "perl Digest::SHA", &["perl"],
        &["-MDigest::SHA", "-MDigest::MD5", "-e", "printf '%s, perl %vd', $Digest::SHA::VERSION, $^V"], ""),
    (Kind::Node, "node crypto", &["node", "nodejs"],
        &["-p", "`${process.version}, OpenSSL ${process.versions.openssl}`"], ""),
    (Kind::Python, "python hashlib", &["python3"],
        &["-c", "import sys, ssl; print(sys.version.split()[0] + ', ' + ' '.join(ssl.OPENSSL_VERSION.split()[:2]))"], ""),
    (Kind::PowerShell, "PowerShell Get-FileHash", &["pwsh", "powershell"],
        &["-NoProfile", "-NonInteractive", "-Command", "$PSVersionTable.PSVersion.ToString()"], ""),
    (Kind::Certutil, "certutil", &["certutil"], &["-hashfile", "-?"], "hashfile"),
];

/// Names of tools that are not installed.
pub(crate) type Missing = Vec<&'static str>;

/// Looks for every known tool. `scripts` is a folder for scripts that have to be files.
pub(crate) fn find(first: &[PathBuf], scripts: &Path) -> Result<(Vec<Tool>, Missing)> {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for known in KNOWN {
        match look_for(known, first, scripts) {
            Some(tool) => found.push(tool),
            None => missing.push(known.1),
        }
    }
    std::fs::write(scripts.join("get-filehash.ps1"), POWERSHELL)?;
    Ok((found, missing))
}

fn look_for(known: &Known, first: &[PathBuf], scripts: &Path) -> Option<Tool> {
    let (kind, name, programs, arguments, word) = *known;
    // Elsewhere a program of this name does something else.
    if kind == Kind::Certutil && !cfg!(windows) {
        return None;
    }
    programs.iter().find_map(|program| {
        let program = find_program(program, first)?;
        let version = first_line(&program, arguments)?;
        // A shim that looks for the right version of Python each time would be measured with it.
        let program = match kind {
            Kind::Python => first_line(&program, &["-c", "import sys; print(sys.executable)"])?,
            _ => program,
        };
        version.contains(word).then(|| Tool {
            kind,
            name,
            version: shortened(&version),
            program,
            scripts: scripts.to_owned(),
        })
    })
}

/// The version without the name of the tool before it and remarks behind it.
fn shortened(version: &str) -> String {
    let is_number = |word: &&str| {
        let word = word.trim_start_matches('v');
        word.starts_with(|c: char| c.is_ascii_digit())
    };
    match version.split_whitespace().find(is_number) {
        Some(word) if word.ends_with(',') => version.to_owned(),
        Some(word) => word.trim_start_matches('v').to_owned(),
        None => version.to_owned(),
    }
}

/// The path of a program.
pub(crate) fn find_program(name: &str, first: &[PathBuf]) -> Option<String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders = first.iter().cloned().chain(env::split_paths(&path));
    let file_name = format!("{name}{}", env::consts::EXE_SUFFIX);
    folders.find_map(|folder| {
        let program = std::path::absolute(folder.join(&file_name)).ok()?;
        program
            .is_file()
            .then(|| program.to_str().map(str::to_owned))?
    })
}

/// The first line that a command says, if it ends well.
fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    let output = command.output().ok()?;
    let all = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(all).ok()?;
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    output.status.success().then(|| line.trim().to_owned())
}

impl Tool {
    /// How it writes.
    pub(crate) fn shape(&self) -> Shape {
        match self.kind {
            Kind::Hashdeep => Shape::Hashdeep,
            Kind::Certutil => Shape::Bare,
            _ => Shape::Manifest,
        }
    }

    /// The commands, each to be followed by names of files, that together hash with `algorithms`.
    pub(crate) fn commands(&self, algorithms: &[Algorithm]) -> Option<Vec<Vec<String>>> {
        if let Some(command) = self.in_one_read(algorithms) {
            return Some(vec![command]);
        }
        let one_each = |algorithm: &Algorithm| self.in_one_read(&[*algorithm]);
        match self.kind {
            Kind::Gnu | Kind::Uutils | Kind::OpenSsl => algorithms.iter().map(one_each).collect(),
            _ => None,
        }
    }

    /// The command, to be followed by names of files, that hashes with all algorithms in one read.
    fn in_one_read(&self, algorithms: &[Algorithm]) -> Option<Vec<String>> {
        let names: Vec<String> = algorithms.iter().map(ToString::to_string).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut command = vec![self.program.clone()];
        match (self.kind, names.as_slice()) {
            (Kind::Gnu, [name]) => command = vec![self.gnu(name)?],
            (Kind::Uutils, [name]) => command.push(sum_program(name)?),
            (Kind::OpenSsl, [name]) => add(&mut command, &["dgst", openssl_option(name)?]),
            (Kind::Hashdeep, names) if only(names, "md5 sha1 sha256") => {
                add(&mut command, &["-l", "-c", &names.join(",")]);
            }
            (Kind::Rhash, names) if only(names, "md5 sha1 sha256 sha512 blake2b crc32") => {
                command.push("--bsd".to_owned());
                command.extend(names.iter().map(|name| format!("--{name}")));
            }
            (Kind::B3sum, ["blake3"]) => {}
            (Kind::Xxhsum, ["xxh128"]) => command.push("-H2".to_owned()),
            (Kind::Rclone, [name]) if only(&names, "md5 sha1 sha256 sha512 blake3 xxh128") => {
                add(&mut command, &["--config", "/dev/null", "hashsum", name]);
            }
            (Kind::Shasum, [name]) => add(&mut command, &["-a", sha_length(name)?]),
            (Kind::Perl, ["md5"]) => add(&mut command, &["-e", PERL_MD5]),
            (Kind::Perl, [name]) => add(&mut command, &["-e", PERL_SHA, sha_length(name)?]),
            (Kind::Node, names) => add(&mut command, &["-e", NODE, &openssl_names(names)?]),
            (Kind::Python, names) if only(names, "md5 sha1 sha256 sha512 blake2b") => {
                add(&mut command, &["-c", PYTHON, &names.join(",")]);
            }
            (Kind::PowerShell, [name]) if only(&names, "md5 sha1 sha256 sha512") => {
                let script = self.scripts.join("get-filehash.ps1");
                let options = [
                    "-NoProfile",
                    "-NonInteractive",
                    "-File",
                    script.to_str()?,
                    name,
                ];
                add(&mut command, &options);
            }
            // The file stands before the algorithm, and only SHA-1 needs no algorithm.
            (Kind::Certutil, ["sha1"]) => command.push("-hashfile".to_owned()),
            _ => return None,
        }
        Some(command)
    }

    /// The program for one algorithm, beside the one that was found.
    fn gnu(&self, algorithm: &str) -> Option<String> {
        let found = Path::new(&self.program);
        let prefix = if found.file_name()?.to_str()?.starts_with('g') {
            "g"
        } else {
            ""
        };
        let program = found.with_file_name(format!("{prefix}{}", sum_program(algorithm)?));
        program
            .is_file()
            .then(|| program.to_str().map(str::to_owned))?
    }

    /// The command that hashes all files below the current folder, if the tool walks by itself.
    pub(crate) fn recursive(&self, algorithms: &[Algorithm]) -> Option<Vec<String>> {
        let mut command = self.in_one_read(algorithms)?;
        match self.kind {
            Kind::Hashdeep | Kind::Rhash => add(&mut command, &["-r", "."]),
            Kind::Rclone => command.push(".".to_owned()),
            _ => return None,
        }
        Some(command)
    }

    /// Options that make it better at many files than its defaults.
    pub(crate) fn for_many_files(&self) -> &'static [&'static [&'static str]] {
        match self.kind {
            // Its threads are of use inside a file only.
            Kind::B3sum => &[&[], &["--num-threads", "1"]],
            _ => &[&[]],
        }
    }

    /// Whether it is a scripting language, which no row is ever won by.
    pub(crate) fn is_slow(&self) -> bool {
        matches!(
            self.kind,
            Kind::Shasum | Kind::Perl | Kind::Node | Kind::Python | Kind::PowerShell
        )
    }

    /// Whether it takes several files at a time, as `xargs` gives them.
    pub(crate) fn takes_files(&self) -> bool {
        !matches!(self.kind, Kind::Hashdeep | Kind::Rclone | Kind::Certutil)
    }
}

fn add(command: &mut Vec<String>, words: &[&str]) {
    command.extend(words.iter().map(|word| (*word).to_owned()));
}

fn only(names: &[&str], known: &str) -> bool {
    names
        .iter()
        .all(|name| known.split(' ').any(|k| k == *name))
}

fn sum_program(algorithm: &str) -> Option<String> {
    match algorithm {
        "md5" | "sha1" | "sha256" | "sha512" => Some(format!("{algorithm}sum")),
        "blake2b" => Some("b2sum".to_owned()),
        _ => None,
    }
}

fn openssl_option(algorithm: &str) -> Option<&'static str> {
    Some(match algorithm {
        "md5" => "-md5",
        "sha1" => "-sha1",
        "sha256" => "-sha256",
        "sha512" => "-sha512",
        "blake2b" => "-blake2b512",
        _ => return None,
    })
}

fn openssl_names(algorithms: &[&str]) -> Option<String> {
    let name = |name: &&str| openssl_option(name).map(|option| &option[1..]);
    let names: Option<Vec<&str>> = algorithms.iter().map(name).collect();
    names.map(|names| names.join(","))
}

fn sha_length(algorithm: &str) -> Option<&'static str> {
    Some(match algorithm {
        "sha1" => "1",
        "sha256" => "256",
        "sha512" => "512",
        _ => return None,
    })
}

const PERL_MD5: &str = "use Digest::MD5; for (@ARGV) { open my $f, '<:raw', $_ or die $!; \
    print Digest::MD5->new->addfile($f)->hexdigest, qq{  $_\\n} }";

const PERL_SHA: &str = "use Digest::SHA; my $a = shift; for (@ARGV) { \
    print Digest::SHA->new($a)->addfile($_, 'b')->hexdigest, qq{  $_\\n} }";

const NODE: &str = "const fs = require('fs'), crypto = require('crypto'); \
    const [names, ...files] = process.argv.slice(1), buffer = Buffer.alloc(1 << 16); \
    let text = ''; \
    for (const file of files) { \
      const hashes = names.split(',').map(name => crypto.createHash(name)), fd = fs.openSync(file); \
      for (let n; (n = fs.readSync(fd, buffer)) > 0;) \
        for (const hash of hashes) hash.update(buffer.subarray(0, n)); \
      fs.closeSync(fd); \
      for (const hash of hashes) text += `${hash.digest('hex')}  ${file}\\n`; \
    } \
    fs.writeSync(1, text);";

const PYTHON: &str = "\
import hashlib, sys
names, buffer = sys.argv[1].split(','), memoryview(bytearray(1 << 16))
for path in sys.argv[2:]:
    hashes = [hashlib.new(name, usedforsecurity=False) for name in names]
    with open(path, 'rb', buffering=0) as file:
        while n := file.readinto(buffer):
            for hash in hashes:
                hash.update(buffer[:n])
    for hash in hashes:
        print(hash.hexdigest(), '', path)
";

const POWERSHELL: &str = "\
$algorithm, $files = $args
foreach ($file in $files) {
    $hash = Get-FileHash -Algorithm $algorithm -LiteralPath $file
    '{0}  {1}' -f $hash.Hash.ToLower(), $file
}
";
