//! The journal of a run: begun, gone on with, left behind or removed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use crate::algorithm::Algorithm;
use crate::error::{Error, FileError, Operation};
use crate::event::Note;
use crate::hasher::{StreamHasher, new_hasher};
use crate::manifest::{Header, Scope};
use crate::ops::{Contents, Journal, JournalError, List, ListInput, Lock, Term, journal_beside};
use crate::relpath::RelPath;
use crate::timestamp::Timestamp;
use crate::walk::LeaveOut;

use super::args::{HashArgs, Io, ReportArgs, UpdateArgs, VerifyArgs};
use super::header;
use super::names::Naming;
use super::output::partials_beside;
use super::plan::{self, Failure};
use super::signature;

/// The journal of a run that has begun, or goes on.
pub(super) struct Begun {
    pub(super) journal: Journal,
    /// When the first of the runs began.
    pub(super) created: Timestamp,
    /// What the user should know, for the summary.
    pub(super) notes: Vec<Note>,
}

/// What the user wants to happen to what an earlier run has left.
#[derive(Clone, Copy)]
pub(super) struct Wish {
    resume: bool,
    force: bool,
    quiet: bool,
    /// What begins anew where an earlier run was stopped.
    anew: &'static str,
}

impl Wish {
    /// That of a command with `--force`.
    pub(super) fn new(resume: bool, force: bool, report: &ReportArgs) -> Self {
        Self {
            resume,
            force,
            quiet: report.quiet || report.status,
            anew: "--force",
        }
    }
}

/// Leaves out what a run that writes this manifest keeps beside it, or has left there, and its
/// signatures: they are made when it is complete, so that it cannot list them.
pub(super) fn leave_out_beside(output: &Path, leave_out: &mut LeaveOut) {
    for path in journal_beside(output)
        .into_iter()
        .chain(partials_beside(output))
        .chain(signature::places(output))
    {
        // Most of the time nothing is there.
        leave_out.add_path(&path).ok();
    }
}

/// The journal beside the first output of `hash` that is a file, if one is.
pub(super) fn of_hash(
    args: &HashArgs,
    target: Option<&Path>,
    algorithms: &[Algorithm],
    header: &Header,
    naming: &Naming,
    leave_out: &mut LeaveOut,
) -> Result<Option<Begun>, Failure> {
    let Some(path) = target.and_then(journal_beside) else {
        return match args.resume {
            true => Err(Failure::NothingToResume),
            false => Ok(None),
        };
    };
    let base = naming.whole_base();
    let base = base.map_err(|error| FileError::new(Operation::Stat, ".", error))?;
    let list = args.walk.files_from.as_deref().unwrap_or(Path::new(""));
    let mut terms = terms("hash", algorithms, header, &base);
    terms.push(Term::new("--files-from", bytes_of(list)));
    let wish = Wish::new(args.resume, args.force, &args.report);
    let created = header.created.unwrap_or_else(Timestamp::now);
    Begun::new(Lock::take(path)?, wish, created, &terms, leave_out).map(Some)
}

/// The journal beside the manifest that `update` writes.
pub(super) fn of_update(
    args: &UpdateArgs,
    target: &Path,
    algorithms: &[Algorithm],
    header: &Header,
    base: &Path,
    leave_out: &mut LeaveOut,
) -> Result<Begun, Failure> {
    let no_name = || {
        FileError::new(
            Operation::Create,
            target,
            io::ErrorKind::InvalidInput.into(),
        )
    };
    let path = journal_beside(target).ok_or_else(no_name)?;
    let mut terms = terms("update", algorithms, header, &whole(base)?);
    terms.push(Term::new("manifest", bytes_of(&whole(&args.manifest)?)));
    let wish = Wish::new(args.resume, args.force, &args.report);
    let created = header.created.unwrap_or_else(Timestamp::now);
    Begun::new(Lock::take(path)?, wish, created, &terms, leave_out)
}

/// The journal that `verify` is asked for, if it is. Lists that can be read only once are read now.
pub(super) fn of_verify(
    args: &VerifyArgs,
    lists: &mut [List],
    leave_out: &mut LeaveOut,
) -> Result<Option<Begun>, Failure> {
    let Some(path) = &args.journal else {
        return Ok(None);
    };
    let wish = Wish {
        anew: "removing it",
        ..Wish::new(args.resume, false, &args.report)
    };
    let terms = verify_terms(args, lists)?;
    let lock = Lock::take_named(path.clone())?;
    Begun::new(lock, wish, Timestamp::now(), &terms, leave_out).map(Some)
}

impl Begun {
    /// Begins or goes on, as the user wishes, and keeps the journal out of the walk.
    fn new(
        mut lock: Lock,
        wish: Wish,
        created: Timestamp,
        terms: &[Term],
        leave_out: &mut LeaveOut,
    ) -> Result<Self, Failure> {
        let stat = |error| FileError::new(Operation::Stat, lock.path(), error);
        leave_out.add_path(lock.path()).map_err(stat)?;
        let Contents { past, damaged_at } = lock.contents()?;
        let name = RelPath::from_path(lock.path());
        let past = past.filter(|past| !past.is_empty());
        let mut notes = Vec::new();
        match (past, damaged_at) {
            (Some(past), place) if wish.resume => {
                let created = past.created();
                let journal = lock.go_on(past, terms)?;
                let damaged = |place| Note::JournalDamaged {
                    journal: name,
                    place,
                };
                notes.extend(place.map(damaged));
                return Ok(Self {
                    journal,
                    created,
                    notes,
                });
            }
            (Some(past), _) if !wish.force => {
                return Err(Failure::JournalLeft {
                    journal: lock.path().to_owned(),
                    files: past.files(),
                    anew: wish.anew,
                });
            }
            (Some(past), _) => notes.push(Note::JournalUnused {
                journal: name,
                files: past.files(),
            }),
            (None, Some(place)) if wish.resume => notes.push(Note::JournalDamaged {
                journal: name,
                place,
            }),
            (None, _) if wish.resume && !wish.quiet => notes.push(Note::NothingToResume),
            (None, _) => {}
        }
        Ok(Self {
            journal: lock.begin(created, terms)?,
            created,
            notes,
        })
    }

    /// Removes the journal if the run has done everything; leaves it for a later one, and says so, if
    /// it was stopped.
    pub(super) fn end<T>(self, ended: Result<T, Failure>) -> Result<T, Failure> {
        let journal = self.journal;
        let cause = match ended {
            Ok(end) => {
                journal.finish()?;
                return Ok(end);
            }
            // There is no way to go on from it.
            Err(failure) if is_refusal(&failure) => return Err(failure),
            Err(failure) => failure,
        };
        let (path, files) = (journal.path().to_owned(), journal.files());
        let is_blank = journal.is_blank();
        // Why the run ended is worth more than why its journal could not be completed; and what had
        // been written of it before is of use all the same.
        let stopped = journal.stop();
        if is_blank || stopped.is_err() {
            return Err(cause);
        }
        Err(Failure::Stopped {
            cause: Box::new(cause),
            journal: path,
            files,
        })
    }
}

/// Whether the journal turned out to be of no use when the run had begun.
fn is_refusal(failure: &Failure) -> bool {
    let Failure::Run(Error::File(error)) = failure else {
        return false;
    };
    let cause = error.io_error().get_ref();
    cause
        .and_then(|cause| cause.downcast_ref::<JournalError>())
        .is_some()
}

/// Ends a run with or without a journal.
pub(super) fn end<T>(begun: Option<Begun>, ended: Result<T, Failure>) -> Result<T, Failure> {
    match begun {
        Some(begun) => begun.end(ended),
        None => ended,
    }
}

/// What must be equal for digests of one run to be of use to another that makes a manifest.
fn terms(command: &str, algorithms: &[Algorithm], header: &Header, base: &Path) -> Vec<Term> {
    let algorithms: Vec<String> = algorithms.iter().map(ToString::to_string).collect();
    let paths: Vec<&[u8]> = header.paths.iter().map(RelPath::as_bytes).collect();
    let mut terms = vec![
        Term::new("command", command),
        Term::new("algorithms", algorithms.join(",")),
        Term::new("base", bytes_of(base)),
        Term::new("paths", paths.join(&b'\n')),
    ];
    terms.extend(scope_terms(&header.scope));
    terms
}

fn scope_terms(scope: &Scope) -> Vec<Term> {
    let number = |number: Option<String>| number.unwrap_or_default();
    vec![
        Term::new("--include", scope.include.join("\n")),
        Term::new("--exclude", scope.exclude.join("\n")),
        Term::new("--follow", scope.follow_links.to_string()),
        Term::new("--one-file-system", scope.one_file_system.to_string()),
        Term::new(
            "--max-depth",
            number(scope.max_depth.map(|depth| depth.to_string())),
        ),
        Term::new(
            "--slice",
            number(scope.slice.map(|slice| slice.to_string())),
        ),
    ]
}

/// What must be equal for the findings of one verification to stand in the report of another.
fn verify_terms(args: &VerifyArgs, lists: &mut [List]) -> Result<Vec<Term>, Failure> {
    let mut terms = vec![Term::new("command", "verify")];
    for list in lists {
        let path = list.path.as_deref().map(whole).transpose()?;
        terms.push(Term::new(
            "manifest",
            path.as_deref().map_or(b"-".into(), bytes_of),
        ));
        terms.push(Term::new("contents of the manifest", contents_of(list)?));
    }
    let base = args.base.as_deref().map(whole).transpose()?;
    let maps: Vec<Vec<u8>> = args
        .map
        .iter()
        .map(|map| bytes_of(Path::new(map)))
        .collect();
    let exact = match (args.exact, args.no_exact) {
        (false, false) => "",
        (true, _) => "--exact",
        (_, true) => "--no-exact",
    };
    let format = args.format.map(|format| format.to_string());
    let is_direct = matches!(args.machine.io, Io::Direct);
    terms.extend([
        Term::new("base", base.as_deref().map(bytes_of).unwrap_or_default()),
        Term::new("--map", maps.join(&b'\n')),
        Term::new("--strip", args.strip.to_string()),
        Term::new("--algorithm", args.algorithm.as_deref().unwrap_or_default()),
        Term::new("--format", format.unwrap_or_default()),
        Term::new("--exact", exact),
        Term::new("--quick", args.quick.to_string()),
        Term::new("--ignore-missing", args.ignore_missing.to_string()),
        Term::new("--io direct", is_direct.to_string()),
    ]);
    let mut scope = header::scope_of(&plan::walk_options(&args.scope)?);
    scope.slice = args.slice;
    terms.extend(scope_terms(&scope));
    Ok(terms)
}

/// A digest of all that a list says.
fn contents_of(list: &mut List) -> Result<String, Failure> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| FileError::new(Operation::Read, path, error)
    };
    let mut hasher = new_hasher(Algorithm::Sha256);
    let path = list.path.clone().unwrap_or_else(|| "standard input".into());
    match &mut list.input {
        ListInput::Bytes(bytes) => hasher.update(bytes),
        ListInput::File(file) => {
            feed(hasher.as_mut(), &*file).map_err(failed(&path))?;
            file.rewind().map_err(failed(&path))?;
        }
        ListInput::Stream(stream) => {
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).map_err(failed(&path))?;
            hasher.update(&bytes);
            list.input = ListInput::Bytes(bytes.into());
        }
        ListInput::Package(package) => {
            for path in package.parts.iter().filter_map(|part| part.name.to_path()) {
                let part = File::open(&path).map_err(failed(&path))?;
                feed(hasher.as_mut(), part).map_err(failed(&path))?;
            }
        }
    }
    Ok(hasher.finish().to_string())
}

fn feed(hasher: &mut dyn StreamHasher, input: impl Read) -> io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 16, input);
    loop {
        let piece = input.fill_buf()?;
        if piece.is_empty() {
            return Ok(());
        }
        hasher.update(piece);
        let len = piece.len();
        input.consume(len);
    }
}

fn whole(path: &Path) -> Result<PathBuf, FileError> {
    let whole = path.canonicalize();
    whole.map_err(|error| FileError::new(Operation::Stat, path, error))
}

fn bytes_of(path: &Path) -> Vec<u8> {
    RelPath::from_path(path).as_bytes().to_vec()
}
