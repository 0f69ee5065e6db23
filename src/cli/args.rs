//! The command line as it is typed: names, help and nothing else.

use std::ffi::OsString;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::manifest::Format;
use crate::slice::Slice;

use super::slice;

macro_rules! exit_codes {
    () => {
        "\
Exit codes: 0 all was done and all is well, 1 differences were found, 2 the job could not be done in full,
130, 143 or 129 stopped by Ctrl-C, TERM or HUP."
    };
}

const EXIT_CODES: &str = exit_codes!();

const TOP_EXAMPLES: &str = concat!(
    "\
Examples:
  multisum hash -o photos/SHA256SUMS photos        hash a tree
  multisum verify photos/SHA256SUMS                prove it, or a copy of it
  multisum verify --exact photos/SHA256SUMS        also report what is not listed

Each command has examples of its own: multisum hash --help.

",
    exit_codes!()
);

/// Hash whole trees with several algorithms in one read, and prove copies against the manifests.
#[derive(Debug, Parser)]
#[command(name = "multisum", version, max_term_width = 100, after_help = EXIT_CODES, after_long_help = TOP_EXAMPLES)]
#[command(disable_help_subcommand = true, subcommand_required = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Hash files and trees, and write a manifest.
    Hash(HashArgs),
    /// Prove the files that manifests list.
    Verify(VerifyArgs),
    /// Compare two manifests, two folders, or one of each.
    Diff(DiffArgs),
    /// Bring a manifest up to date, reading only what may have changed.
    Update(UpdateArgs),
    /// Rewrite a manifest in another format; no listed file is read.
    Convert(ConvertArgs),
    /// Join the manifests of slices or of disjoint trees; no listed file is read.
    Merge(MergeArgs),
    /// Measure the speed of every algorithm on this machine.
    Bench(BenchArgs),
    /// Print the completions of a shell.
    Completions(CompletionsArgs),
    /// Write the manual pages.
    Man(ManArgs),
}

const HASH_EXAMPLES: &str = "\
Examples:
  multisum hash photos > photos.sha256             a manifest that sha256sum -c reads
  multisum hash -o photos/SHA256SUMS photos        names relative to photos, never lists itself
  multisum hash -a md5,sha512 -o MD5SUMS -o SHA512SUMS .
                                                   two manifests from one read of the tree
  multisum hash --resume -o SUMS.jsonl .           go on after a power cut, or begin
  multisum hash --bag letters                      letters becomes a BagIt bag
  find . -newer last -print0 | multisum hash -0 --files-from -";

#[derive(Debug, Args)]
#[command(after_long_help = HASH_EXAMPLES)]
pub(super) struct HashArgs {
    /// Files and folders to hash; - is standard input; none means the current folder
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,

    /// Algorithms, or 'list' to see them all [default: sha256]
    ///
    /// Several are separated by commas, or the option is repeated.
    #[arg(
        help_heading = "The manifest",
        short,
        long,
        value_name = "NAME,...",
        value_delimiter = ','
    )]
    pub(super) algorithm: Vec<String>,

    /// Write a manifest to FILE; may be repeated; - is standard output
    ///
    /// FILE is written whole or not at all.
    #[arg(help_heading = "The manifest", short, long, value_name = "FILE")]
    pub(super) output: Vec<PathBuf>,

    /// Format of the manifest [default: by the name of FILE]
    ///
    /// Where the name does not say: gnu for one algorithm, bsd for several.
    #[arg(help_heading = "The manifest", short, long, value_name = "FORMAT", value_parser = parse_format)]
    pub(super) format: Option<Format>,

    /// End each line with NUL and escape nothing, as sha256sum --zero
    #[arg(help_heading = "The manifest", short, long)]
    pub(super) zero: bool,

    /// Write digests in base64, as cksum --base64
    #[arg(help_heading = "The manifest", long)]
    pub(super) base64: bool,

    /// Replace an existing FILE
    ///
    /// What an earlier run that was stopped has left is not used.
    #[arg(help_heading = "The manifest", long)]
    pub(super) force: bool,

    /// Go on from where an earlier run was stopped, or begin
    ///
    /// An earlier run with the same options has left a journal beside FILE; without one, begin. A long
    /// file is gone on with every 2 GiB, unless blake2 or an xxh hash is asked for.
    #[arg(help_heading = "The manifest", long, requires = "output", conflicts_with_all = ["mhl", "bag"])]
    pub(super) resume: bool,

    /// Add a generation to the ASC MHL history in DIR
    ///
    /// DIR is compared with its history first; where there is none, it begins. The default algorithm is
    /// c4.
    #[arg(help_heading = "Packages of archives and film", long, value_name = "DIR", conflicts_with_all = [
        "paths", "output", "format", "zero", "base64", "force", "base", "files_from", "include",
        "exclude_from", "max_depth", "one_file_system", "slice",
    ])]
    pub(super) mhl: Option<PathBuf>,

    /// Take PATHs from DIR, and write names relative to it
    #[arg(help_heading = "What is walked", short = 'C', long, value_name = "DIR")]
    pub(super) base: Option<PathBuf>,

    /// Hash only the I-th of N parts of the names
    ///
    /// Counted from 1 (ZI/N: from 0); auto asks the array job of Slurm or AWS Batch that this is a task
    /// of, auto/N that of any.
    #[arg(help_heading = "What is walked", long, value_name = "I/N", value_parser = slice::parse)]
    pub(super) slice: Option<Slice>,

    /// Make DIR a BagIt bag, in place or with -o as a copy
    ///
    /// The copy is made in a new folder. The default algorithm is sha512.
    #[arg(help_heading = "Packages of archives and film", long, value_name = "DIR", conflicts_with_all = [
        "mhl", "paths", "format", "zero", "base64", "force", "base", "follow", "one_file_system", "include",
        "exclude", "exclude_from", "max_depth", "files_from", "slice",
    ])]
    pub(super) bag: Option<PathBuf>,

    #[command(flatten)]
    pub(super) walk: WalkArgs,
    #[command(flatten)]
    pub(super) machine: MachineArgs,
    #[command(flatten)]
    pub(super) report: ReportArgs,
}

/// How trees are walked.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is walked")]
pub(super) struct ScopeArgs {
    /// Follow symbolic links
    #[arg(short = 'L', long)]
    pub(super) follow: bool,

    /// Stay on one file system
    #[arg(short = 'x', long)]
    pub(super) one_file_system: bool,

    /// Take only files that match GLOB; may be repeated
    ///
    /// Globs are those of .gitignore.
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true)]
    pub(super) include: Vec<String>,

    /// Leave out what matches GLOB; may be repeated
    ///
    /// Files and folders; globs are those of .gitignore.
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true)]
    pub(super) exclude: Vec<String>,

    /// Read globs to leave out from FILE
    ///
    /// One a line, as in .gitignore; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub(super) exclude_from: Vec<PathBuf>,

    /// Descend at most N folders
    ///
    /// 1 means the files directly in PATH.
    #[arg(long, value_name = "N")]
    pub(super) max_depth: Option<usize>,
}

/// What is walked.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is walked")]
pub(super) struct WalkArgs {
    #[command(flatten)]
    pub(super) scope: ScopeArgs,

    /// Read PATHs from FILE, one a line; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "paths")]
    pub(super) files_from: Option<PathBuf>,

    /// The names in --files-from end with NUL
    #[arg(short = '0', long, requires = "files_from")]
    pub(super) null: bool,
}

/// How the machine is used.
#[derive(Debug, Args)]
#[command(next_help_heading = "How the machine is used")]
pub(super) struct MachineArgs {
    /// Threads [default: one a core]
    ///
    /// At most 1024; by default one reader on a rotating disk.
    #[arg(short = 'j', long, value_name = "N", value_parser = parse_threads)]
    pub(super) threads: Option<NonZeroUsize>,

    /// How files are read
    #[arg(long, value_name = "MODE", default_value = "auto")]
    pub(super) io: Io,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Io {
    /// What was measured to be fastest
    Auto,
    /// Read into a buffer
    Read,
    /// Map files into memory
    Mmap,
    /// Past the page cache: read the medium, not memory
    Direct,
}

/// What is shown.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is shown")]
pub(super) struct ReportArgs {
    /// Show also what is well and what is skipped
    ///
    /// And what was found out about the manifests.
    #[arg(short, long, overrides_with_all = ["quiet", "status"])]
    pub(super) verbose: bool,

    /// Show no summary if all is well
    #[arg(short, long, overrides_with_all = ["verbose", "status"])]
    pub(super) quiet: bool,

    /// Show nothing; the exit code tells
    ///
    /// A manifest that is asked for is written nevertheless.
    #[arg(long, overrides_with_all = ["verbose", "quiet"])]
    pub(super) status: bool,

    /// Progress
    ///
    /// On standard error; by default if that is a terminal.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(super) progress: When,

    /// Colour
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(super) color: Colour,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    /// If standard error is a terminal
    Auto,
    /// Bars, whatever standard error is
    Always,
    /// None
    Never,
    /// One JSON object a second
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Colour {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

const VERIFY_EXAMPLES: &str = "\
Examples:
  multisum verify SHA256SUMS                       files are looked for beside the manifest
  multisum verify -C /mnt/copy SHA256SUMS          prove a copy elsewhere
  multisum verify --exact photos/SHA256SUMS        also report unlisted files, and moves
  multisum verify photos.jsonl                     the same: it records what was walked
  multisum verify --quick photos.jsonl             read only what seems to have been touched
  multisum verify --journal j --resume photos.jsonl
                                                   go on after an interruption, or begin
  multisum verify --slice 3/30 --io direct photos.jsonl
                                                   a thirtieth of the names, from the medium
  multisum verify letters                          a BagIt bag, by all of its manifests
  multisum verify --json SHA256SUMS | jq -r 'select(.outcome == \"changed\").path'";

#[derive(Debug, Args)]
#[command(after_long_help = VERIFY_EXAMPLES)]
pub(super) struct VerifyArgs {
    /// Manifests, and folders that hold their own (BagIt bags); - is standard input
    #[arg(value_name = "MANIFEST", required = true)]
    pub(super) manifests: Vec<PathBuf>,

    /// The public key that manifests must be signed with
    ///
    /// A file, or the text of a minisign key.
    #[arg(long, value_name = "KEY", help_heading = "Signatures")]
    pub(super) key: Option<OsString>,

    /// The signature [default: MANIFEST.minisig or MANIFEST.sig]
    ///
    /// By minisign or ssh-keygen -Y sign -n file.
    #[arg(
        long,
        value_name = "FILE",
        requires = "key",
        help_heading = "Signatures"
    )]
    pub(super) signature: Option<PathBuf>,

    /// Use no manifest without a signature
    ///
    /// Otherwise --key checks those that have one, and names the others.
    #[arg(long, requires = "key", help_heading = "Signatures")]
    pub(super) require_signature: bool,

    /// The algorithm of digests whose lines do not say
    #[arg(help_heading = "The manifest", short, long, value_name = "NAME")]
    pub(super) algorithm: Option<String>,

    /// Format of the manifests [default: detected]
    #[arg(help_heading = "The manifest", short, long, value_name = "FORMAT", value_parser = parse_format)]
    pub(super) format: Option<Format>,

    /// The folder that names are relative to
    ///
    /// By default the one that the manifest records, else its own, or the current one if only that has
    /// a listed file.
    #[arg(
        help_heading = "Where the files are",
        short = 'C',
        long,
        value_name = "DIR"
    )]
    pub(super) base: Option<PathBuf>,

    /// Replace the leading folders OLD of listed names by NEW
    ///
    /// May be repeated; the first that fits is taken.
    #[arg(help_heading = "Where the files are", long, value_name = "OLD=NEW")]
    pub(super) map: Vec<OsString>,

    /// Drop N leading folders of listed names
    #[arg(
        help_heading = "Where the files are",
        long,
        value_name = "N",
        default_value_t = 0
    )]
    pub(super) strip: usize,

    /// Refuse listed names that lead out of the base
    ///
    /// Nothing there is opened. Always so for native manifests, bags and media hash lists.
    #[arg(help_heading = "What is checked", long)]
    pub(super) confine: bool,

    /// Also find files that are not listed, and moves
    ///
    /// The default for manifests that record what was walked.
    #[arg(help_heading = "What is checked", long, overrides_with = "no_exact")]
    pub(super) exact: bool,

    /// Do not look for files that are not listed
    #[arg(help_heading = "What is checked", long, overrides_with = "exact")]
    pub(super) no_exact: bool,

    /// Do not read files whose size and time are as recorded
    ///
    /// They are counted apart, and not as ok.
    #[arg(help_heading = "What is checked", long)]
    pub(super) quick: bool,

    /// Verify only the I-th of N parts of the names
    ///
    /// As hash understands it: counted from 1; ZI/N, auto, auto/N.
    #[arg(help_heading = "A portion of a manifest", long, value_name = "I/N", value_parser = slice::parse)]
    pub(super) slice: Option<Slice>,

    /// Pass over listed files that are not there
    #[arg(help_heading = "What is checked", long)]
    pub(super) ignore_missing: bool,

    #[command(flatten)]
    pub(super) portion: PortionArgs,

    /// Keep in FILE what was read, until all is
    ///
    /// It must not exist, or be such a journal.
    #[arg(help_heading = "Going on after a stop", long, value_name = "FILE", conflicts_with_all = ["max_bytes", "max_time", "scrub_state"])]
    pub(super) journal: Option<PathBuf>,

    /// Go on from where an earlier run was stopped, or begin
    ///
    /// By the journal that a run with the same manifests and options has left. What it has read is
    /// reported too, and what it could not read is tried again. It is of no use once a base was mounted
    /// anew, as far as the system tells.
    #[arg(help_heading = "Going on after a stop", long, requires = "journal")]
    pub(super) resume: bool,

    /// Stop at the first finding
    #[arg(help_heading = "What is checked", long)]
    pub(super) fail_fast: bool,

    /// They are a failure [the default]
    #[arg(
        help_heading = "Lines that are not understood",
        long,
        overrides_with = "lenient"
    )]
    pub(super) strict: bool,

    /// They are only counted, as sha256sum -c does
    #[arg(
        help_heading = "Lines that are not understood",
        long,
        overrides_with = "strict"
    )]
    pub(super) lenient: bool,

    /// With --lenient, name them
    #[arg(help_heading = "Lines that are not understood", short, long)]
    pub(super) warn: bool,

    /// One JSON object a line instead of text
    ///
    /// For what is well, too.
    #[arg(help_heading = "What is shown", long)]
    pub(super) json: bool,

    #[command(flatten)]
    pub(super) scope: ScopeArgs,
    #[command(flatten)]
    pub(super) machine: MachineArgs,
    #[command(flatten)]
    pub(super) report: ReportArgs,
}

const UPDATE_EXAMPLES: &str = "\
Only files that are new, or that may have been written to since the manifest was, are read: those with another size or
modification time than recorded, and those whose modification or status change is not older than the manifest.

A file with other contents, though nobody seems to have written to it (its modification time is as recorded or, if
none is recorded, older than the manifest), keeps its entry, so that 'multisum verify' goes on reporting it. Restore
the file; or, if its contents are right, touch it and update again. Lists without modification times are trusted by
their own date: verify a list that was copied before you update it.

Examples:
  multisum update photos/tree.jsonl                what the manifest records is walked again
  multisum update --prune SHA256SUMS               drop the entries of files that are gone
  multisum update --resume tree.jsonl              go on after a power cut, or begin
  multisum update --exclude '*.tmp' -C /srv a.sha256   a list that does not say what was walked
  multisum update -o new.jsonl tree.jsonl          leave the old manifest as it is";

#[derive(Debug, Args)]
#[command(after_long_help = UPDATE_EXAMPLES)]
pub(super) struct UpdateArgs {
    /// The manifest
    #[arg(value_name = "MANIFEST")]
    pub(super) manifest: PathBuf,

    /// Write to FILE [default: replace MANIFEST]
    ///
    /// FILE is written whole or not at all.
    #[arg(help_heading = "The manifest", short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// Replace an existing FILE, and begin anew where an earlier run was stopped
    #[arg(help_heading = "The manifest", long)]
    pub(super) force: bool,

    /// Go on from where an earlier run was stopped, or begin
    ///
    /// By the journal that a run with the same options has left beside the file that is written.
    #[arg(help_heading = "The manifest", long)]
    pub(super) resume: bool,

    /// Drop the entries of files that are gone; without it they stay
    #[arg(help_heading = "The manifest", long)]
    pub(super) prune: bool,

    /// The folder that names are relative to
    ///
    /// By default the one that the manifest records, else its own.
    #[arg(help_heading = "The manifest", short = 'C', long, value_name = "DIR")]
    pub(super) base: Option<PathBuf>,

    /// The algorithm of a list whose lines do not say
    #[arg(help_heading = "The manifest", short, long, value_name = "NAME")]
    pub(super) algorithm: Option<String>,

    /// Format of MANIFEST [default: detected]
    #[arg(help_heading = "The manifest", short, long, value_name = "FORMAT", value_parser = parse_format)]
    pub(super) format: Option<Format>,

    /// One JSON object a line instead of text
    ///
    /// For what is well, too.
    #[arg(help_heading = "What is shown", long)]
    pub(super) json: bool,

    #[command(flatten)]
    pub(super) scope: ScopeArgs,
    #[command(flatten)]
    pub(super) machine: MachineArgs,
    #[command(flatten)]
    pub(super) report: ReportArgs,
}

const CONVERT_EXAMPLES: &str = "\
Examples:
  multisum convert SHA256SUMS -o list.jsonl        the format by the name of the output
  multisum convert -f bsd tree.hashdeep            to standard output
  multisum convert --lossy tree.jsonl -o MD5SUMS   the md5 digests alone";

#[derive(Debug, Args)]
#[command(after_long_help = CONVERT_EXAMPLES)]
pub(super) struct ConvertArgs {
    /// The manifest; - is standard input
    #[arg(value_name = "MANIFEST")]
    pub(super) manifest: PathBuf,

    /// Write to FILE, whole or not at all [default: standard output]
    #[arg(help_heading = "The manifest", short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// Format to write [default: by the name of FILE, else jsonl]
    #[arg(help_heading = "The manifest", short, long, value_name = "FORMAT", value_parser = parse_format)]
    pub(super) format: Option<Format>,

    /// Format of MANIFEST [default: detected]
    #[arg(help_heading = "The manifest", long, value_name = "FORMAT", value_parser = parse_format)]
    pub(super) from: Option<Format>,

    /// The algorithm of digests whose lines do not say
    ///
    /// Of entries with several digests, the one to keep.
    #[arg(help_heading = "The manifest", short, long, value_name = "NAME")]
    pub(super) algorithm: Option<String>,

    /// Write what the format can carry, though digests or names are lost
    #[arg(help_heading = "The manifest", long)]
    pub(super) lossy: bool,

    /// End each line with NUL and escape nothing
    #[arg(help_heading = "The manifest", short, long)]
    pub(super) zero: bool,

    /// Write digests in base64
    #[arg(help_heading = "The manifest", long)]
    pub(super) base64: bool,

    /// Replace an existing FILE
    #[arg(help_heading = "The manifest", long)]
    pub(super) force: bool,

    /// Say only what is wrong
    #[arg(short, long)]
    pub(super) quiet: bool,
}

const DIFF_EXAMPLES: &str = "\
Examples:
  multisum diff 2025.jsonl 2026.jsonl              what changed; no file is read
  multisum diff photos.jsonl /mnt/copy             a folder stands for the base of the manifest
  multisum diff photos /mnt/copy                   reads only files of equal sizes
  multisum diff --json old new | jq -r 'select(.outcome == \"moved\") | .path, .to'";

#[derive(Debug, Args)]
#[command(after_long_help = DIFF_EXAMPLES)]
pub(super) struct DiffArgs {
    /// A manifest or a folder; - is standard input
    #[arg(value_name = "OLD")]
    pub(super) old: PathBuf,

    /// A manifest or a folder; - is standard input
    #[arg(value_name = "NEW")]
    pub(super) new: PathBuf,

    /// The algorithms to compare folders by [default: sha256]
    ///
    /// Separated by commas, or repeated. With a manifest, the algorithm of digests whose lines do not
    /// say.
    #[arg(
        help_heading = "The manifest",
        short,
        long,
        value_name = "NAME,...",
        value_delimiter = ','
    )]
    pub(super) algorithm: Vec<String>,

    /// Format of the manifests [default: detected]
    #[arg(help_heading = "The manifest", short, long, value_name = "FORMAT", value_parser = parse_format)]
    pub(super) format: Option<Format>,

    /// One JSON object a line instead of text
    ///
    /// For what is unchanged, too.
    #[arg(help_heading = "What is shown", long)]
    pub(super) json: bool,

    #[command(flatten)]
    pub(super) scope: ScopeArgs,
    #[command(flatten)]
    pub(super) machine: MachineArgs,
    #[command(flatten)]
    pub(super) report: ReportArgs,
}

const MERGE_EXAMPLES: &str = "\
Examples:
  multisum merge part-*.jsonl -o tree.jsonl        all slices of one tree
  multisum merge a.sha256 b.sha256 -o SHA256SUMS   the manifests of two trees with one base";

#[derive(Debug, Args)]
#[command(after_long_help = MERGE_EXAMPLES)]
pub(super) struct MergeArgs {
    /// Manifests; - is standard input
    #[arg(value_name = "PART", required = true)]
    pub(super) parts: Vec<PathBuf>,

    /// Write to FILE, whole or not at all; - is standard output
    #[arg(
        help_heading = "The manifest",
        short,
        long,
        value_name = "FILE",
        required = true
    )]
    pub(super) output: PathBuf,

    /// Format to write [default: by the name of FILE, else that of the PARTs]
    #[arg(help_heading = "The manifest", short, long, value_name = "FORMAT", value_parser = parse_format)]
    pub(super) format: Option<Format>,

    /// Format of the PARTs [default: detected]
    #[arg(help_heading = "The manifest", long, value_name = "FORMAT", value_parser = parse_format)]
    pub(super) from: Option<Format>,

    /// The algorithm of digests whose lines do not say
    #[arg(help_heading = "The manifest", short, long, value_name = "NAME")]
    pub(super) algorithm: Option<String>,

    /// End each line with NUL and escape nothing
    #[arg(help_heading = "The manifest", short, long)]
    pub(super) zero: bool,

    /// Write digests in base64
    #[arg(help_heading = "The manifest", long)]
    pub(super) base64: bool,

    /// Replace an existing FILE
    #[arg(help_heading = "The manifest", long)]
    pub(super) force: bool,

    /// Say only what is wrong
    #[arg(short, long)]
    pub(super) quiet: bool,
}

const BENCH_EXAMPLES: &str = "\
Examples:
  multisum bench                                   every algorithm
  multisum bench -a md5,sha256 --size 64K          files of 64 KiB";

#[derive(Debug, Args)]
#[command(after_long_help = BENCH_EXAMPLES)]
pub(super) struct BenchArgs {
    /// Algorithms, separated by commas [default: all]
    ///
    /// May be repeated.
    #[arg(short, long, value_name = "NAME,...", value_delimiter = ',')]
    pub(super) algorithm: Vec<String>,

    /// Bytes to hash at a time; K, M and G multiply by 1024
    #[arg(long, value_name = "BYTES", default_value = "1M", value_parser = parse_size)]
    pub(super) size: NonZeroU64,

    /// Seconds to measure each algorithm
    #[arg(long, value_name = "SECONDS", default_value_t = 0.3, value_parser = parse_seconds)]
    pub(super) time: f64,

    /// One JSON object a line instead of a table
    #[arg(long)]
    pub(super) json: bool,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  multisum completions bash > ~/.local/share/bash-completion/completions/multisum
  multisum completions zsh > ~/.local/share/zsh/site-functions/_multisum
                                                   a folder that is in $fpath
  multisum completions fish > ~/.config/fish/completions/multisum.fish
  multisum completions powershell >> $PROFILE      in PowerShell";

#[derive(Debug, Args)]
#[command(after_long_help = COMPLETIONS_EXAMPLES)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(super) shell: Shell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
}

const MAN_EXAMPLES: &str = "\
Examples:
  multisum man ~/.local/share/man/man1             then: man multisum, man multisum-hash";

#[derive(Debug, Args)]
#[command(after_long_help = MAN_EXAMPLES)]
pub(super) struct ManArgs {
    /// The folder to write all pages into [default: print that of multisum]
    #[arg(value_name = "DIR")]
    pub(super) folder: Option<PathBuf>,
}

/// How much of a manifest one run verifies.
#[derive(Debug, Args)]
#[command(next_help_heading = "A portion of a manifest")]
pub(super) struct PortionArgs {
    /// Begin no further file after so many bytes: 1.5G
    ///
    /// Files of which the state says that they were not well do not count. K, M, G and T multiply by
    /// 1024.
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(super) max_bytes: Option<NonZeroU64>,

    /// Begin no further file after such a time: 90s, 2h30m
    ///
    /// A number with s, m, h or d behind it, or several.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(super) max_time: Option<Duration>,

    /// Keep in FILE when each file was last found well
    ///
    /// Files that were not well are begun with, then those that have waited longest. Each copy needs a
    /// FILE of its own.
    #[arg(long, value_name = "FILE")]
    pub(super) scrub_state: Option<PathBuf>,
}

fn parse_format(text: &str) -> Result<Format, String> {
    text.parse().map_err(|error| format!("{error}"))
}

/// Starting and parking threads costs time that grows with the square of their number.
const MOST_THREADS: usize = 1024;

fn parse_threads(text: &str) -> Result<NonZeroUsize, String> {
    let threads: NonZeroUsize = text.parse().map_err(|error| format!("{error}"))?;
    if threads.get() <= MOST_THREADS {
        Ok(threads)
    } else {
        Err(format!("at most {MOST_THREADS} threads"))
    }
}

fn parse_size(text: &str) -> Result<NonZeroU64, String> {
    let bytes = parse_bytes(text)?;
    match bytes.get() <= 4 << 30 {
        true => Ok(bytes),
        false => Err("from 1 byte to 4G".to_owned()),
    }
}

fn parse_bytes(text: &str) -> Result<NonZeroU64, String> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &text[number.len()..] {
        "" => 0,
        "K" | "k" => 10,
        "M" | "m" => 20,
        "G" | "g" => 30,
        "T" | "t" => 40,
        _ => return Err(NO_SIZE.to_owned()),
    };
    let bytes = multiple(number, 1 << shift).ok_or(NO_SIZE)?;
    let bytes = bytes.and_then(NonZeroU64::new);
    bytes.ok_or_else(|| "at least 1 byte, and less than 16 million T".to_owned())
}

const NO_SIZE: &str = "a size is a number, with K, M, G or T behind it if need be: 500M, 1.5G";

/// A decimal number times `unit`, rounded down: `1.5` of 60 is 90. `None` if it is no number; the
/// inner `None` if the result is too large.
fn multiple(number: &str, unit: u64) -> Option<Option<u64>> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    if !are_digits(whole) || !are_digits(fraction) || fraction.len() > 18 {
        return None;
    }
    let whole = whole.parse::<u64>().ok();
    let scale = 10_u128.pow(fraction.len() as u32);
    let part = u128::from(fraction.parse::<u64>().ok()?) * u128::from(unit) / scale;
    let part = u64::try_from(part).ok()?;
    Some(whole.and_then(|whole| whole.checked_mul(unit)?.checked_add(part)))
}

const NO_TIME: &str =
    "a time is a number with s, m, h or d behind it, or several: 90s, 1.5h, 2h30m";

fn parse_duration(text: &str) -> Result<Duration, String> {
    let mut rest = text;
    let mut seconds = 0_u64;
    loop {
        let letters = |c: char| c.is_ascii_alphabetic();
        let (number, after) = rest.split_at(rest.find(letters).unwrap_or(rest.len()));
        let end = after.find(|c| !letters(c)).unwrap_or(after.len());
        let unit = match &after[..end] {
            // A number alone is of seconds.
            "" if number.len() == text.len() => 1,
            "s" => 1,
            "m" => 60,
            "h" => 60 * 60,
            "d" => 24 * 60 * 60,
            _ => return Err(NO_TIME.to_owned()),
        };
        let part = multiple(number, unit).ok_or(NO_TIME)?;
        let sum = part.and_then(|part| seconds.checked_add(part));
        seconds = sum.ok_or("too long")?;
        rest = &after[end..];
        if rest.is_empty() {
            break;
        }
    }
    match seconds {
        0 => Err("at least one second".to_owned()),
        seconds => Ok(Duration::from_secs(seconds)),
    }
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|error| format!("{error}"))?;
    if (0.01..=3600.0).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("from 0.01 to 3600 seconds".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definitions_agree_with_each_other() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn sizes_have_units_and_bounds() {
        assert_eq!(parse_size("64K").unwrap().get(), 65_536);
        for wrong in ["", "K", "0", "5G", "1T", "-1"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_bytes("1T").unwrap().get(), 1 << 40);
        assert_eq!(parse_bytes("1.5G").unwrap().get(), 3 << 29);
        assert_eq!(parse_bytes("0.1K").unwrap().get(), 102);
        for wrong in [
            "0",
            "16777216T",
            "1X",
            "1.G",
            ".5G",
            "1.5.5G",
            "1,5G",
            "0.5",
        ] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_have_units() {
        for (text, seconds) in [
            ("90", 90),
            ("90s", 90),
            ("30m", 1_800),
            ("2h", 7_200),
            ("1d", 86_400),
            ("1.5h", 5_400),
            ("2h30m", 9_000),
            ("1d2h3m4s", 93_784),
        ] {
            assert_eq!(parse_duration(text).unwrap().as_secs(), seconds, "{text}");
        }
        for wrong in [
            "",
            "h",
            "0",
            "0h",
            "-1h",
            "1w",
            "2h30",
            "2h 30m",
            "0.1s",
            "99999999999999999999d",
        ] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }
}
