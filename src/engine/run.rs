//! Starts the threads, hands results on in order, and stops everything when asked.

use std::io;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};

use crate::error::Error;

use super::feed::Feeder;
use super::job::{Done, Finished};
use super::limits;
use super::reorder::Reorder;
use super::worker::{Shared, Worker};
use super::{Cancel, Job, Observer, Options, Outcome};

/// How often a waiting consumer looks whether it was told to stop.
const CANCEL_POLL: Duration = Duration::from_millis(50);

/// Hashes every job and hands the outcomes to `sink` in job order.
///
/// Each source is opened once and read front to back; every algorithm of its task sees each byte
/// once. A job without a task reaches the sink with `None`, in its place.
///
/// # Order
///
/// Workers finish in any order; `sink` is called in the order of `jobs`, always from the calling
/// thread. Two runs over unchanged files make the same calls, whatever the options are.
///
/// # Memory
///
/// At most `options.window` jobs are taken from `jobs` and not yet handed to `sink`. Each reader
/// owns a few buffers. Nothing grows with the number or the size of files.
///
/// # Errors
///
/// A file that cannot be read is not an error here: it arrives as [`Outcome::Failed`] in its place.
/// [`Error::Output`] if `sink` refused an outcome (nothing is hashed after that),
/// [`Error::Cancelled`] if `options.cancel` was set, [`Error::Threads`] if no thread could be
/// started, [`Error::WorkerDied`] if a hasher panicked.
///
/// # Examples
///
/// ```
/// use multisum::Algorithm;
/// use multisum::engine::{Job, Links, Options, Outcome, Source, Task, run};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("a");
/// std::fs::write(&path, b"abc")?;
/// let source = Source::File { path: path.into(), links: Links::Follow };
/// let task = Task::new(source, [Algorithm::Md5]);
/// let jobs = [Job { token: "a", task: Some(task) }];
/// let mut seen = Vec::new();
/// run(jobs.into_iter(), &Options::default(), &mut |token, outcome| {
///     if let Some(Outcome::Hashed(hashed)) = outcome {
///         seen.push(format!("{token} {}", hashed.digests[0]));
///     }
///     Ok(())
/// })?;
/// assert_eq!(seen, ["a 900150983cd24fb0d6963f7d28e17f72"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run<T: Send + 'static>(
    jobs: impl Iterator<Item = Job<T>> + Send + 'static,
    options: &Options,
    sink: &mut dyn FnMut(T, Option<Outcome>) -> io::Result<()>,
) -> Result<(), Error> {
    run_observed(jobs, options, &mut (), sink)
}

/// As [`run`], and tells `observer` of each outcome when it comes, before its turn.
///
/// # Errors
///
/// Those of [`run`], and those of the observer.
pub fn run_observed<T: Send + 'static>(
    jobs: impl Iterator<Item = Job<T>> + Send + 'static,
    options: &Options,
    observer: &mut dyn Observer<T>,
    sink: &mut dyn FnMut(T, Option<Outcome>) -> io::Result<()>,
) -> Result<(), Error> {
    let window = options.window.get();
    // Whoever ends programs that hang must let this one alone once its results are being kept.
    let _reading = options.cancel.reading();
    // The permits bound all channels: each message is at least one job under way, or one permit.
    // Channels with a bound of their own would touch all of their memory before the first job.
    let (finished_sender, finished) = unbounded();
    let (permit_sender, permits) = unbounded();
    permit_sender.send(window).map_err(|_| Error::WorkerDied)?;
    // Ends the feeder and the workers when this function is left in whatever way.
    let stop = StopOnDrop(Cancel::default());
    let feeder = Feeder {
        permits,
        shared: shared(options, finished_sender, stop.0.clone())?,
    };
    thread::Builder::new()
        .name("multisum-walk".to_owned())
        .spawn(move || feeder.feed(jobs))
        .map_err(Error::Threads)?;
    consume(&finished, &permit_sender, &options.cancel, observer, sink)
}

fn shared<T>(
    options: &Options,
    finished: Sender<Finished<T>>,
    stop: Cancel,
) -> Result<Shared<T>, Error> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(options.threads.get())
        .thread_name(|index| format!("multisum-{index}"))
        .build()
        .map_err(|error| Error::Threads(io::Error::other(error)))?;
    let (sender, waiting) = unbounded();
    let readers = options.readers.get().min(options.threads.get());
    let worker = Worker {
        waiting,
        finished,
        at_work: Arc::new(AtomicUsize::new(0)),
        open_files: Arc::new(AtomicUsize::new(0)),
        kits: Arc::new(Mutex::new(Vec::new())),
        readers,
        files_each: (limits::files_at_once(options.io) / readers).max(1),
        io: options.io,
        kernels: options.kernels,
        save_every: options.save_every,
        stop,
        gauges: Arc::clone(&options.gauges),
    };
    Ok(Shared {
        pool,
        sender,
        worker,
    })
}

/// Ends well when every sender of results is gone, every job was taken from the iterator, and every
/// one of them has been handed to the sink. Anything less means that a thread died.
fn consume<T>(
    finished: &Receiver<Finished<T>>,
    permits: &Sender<usize>,
    cancel: &Cancel,
    observer: &mut dyn Observer<T>,
    sink: &mut dyn FnMut(T, Option<Outcome>) -> io::Result<()>,
) -> Result<(), Error> {
    let mut reorder = Reorder::new();
    let mut fed = None;
    loop {
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        match finished.recv_timeout(CANCEL_POLL) {
            Ok(Finished::Jobs(jobs)) => {
                for Done {
                    sequence,
                    token,
                    outcome,
                } in jobs
                {
                    if let Some(outcome) = &outcome {
                        observer.finished(&token, outcome)?;
                    }
                    reorder.put(sequence, (token, outcome));
                }
            }
            Ok(Finished::Saved(saved)) => observer.saved(&saved)?,
            Ok(Finished::Fed(count)) => fed = Some(count),
            Ok(Finished::Died) => return Err(Error::WorkerDied),
            Err(RecvTimeoutError::Timeout) => observer.waited()?,
            // Whoever ends the program may also have ended the list of jobs.
            Err(RecvTimeoutError::Disconnected) if cancel.is_cancelled() => {}
            Err(RecvTimeoutError::Disconnected) if fed == Some(reorder.taken()) => return Ok(()),
            Err(RecvTimeoutError::Disconnected) => return Err(Error::WorkerDied),
        }
        let mut handed_on = 0;
        while let Some((token, outcome)) = reorder.take() {
            sink(token, outcome).map_err(Error::Output)?;
            handed_on += 1;
        }
        if handed_on > 0 {
            // The feeder is gone once it has taken the last job.
            permits.send(handed_on).ok();
        }
    }
}

struct StopOnDrop(Cancel);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::num::NonZeroUsize;
    use std::path::Path;

    use super::*;
    use crate::algorithm::Algorithm;
    use crate::engine::{Instability, IoMode, Links, Saved, Source, Task};
    use crate::hasher::MultiHasher;

    const BOTH: [Algorithm; 2] = [Algorithm::Md5, Algorithm::Sha256];
    const IO_MODES: [IoMode; 4] = [IoMode::Auto, IoMode::Read, IoMode::Mmap, IoMode::Direct];

    fn task(path: &Path) -> Task {
        let source = Source::File {
            path: path.to_owned().into(),
            links: Links::Refuse,
        };
        Task::new(source, BOTH)
    }

    fn painted(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i % 251) as u8).collect()
    }

    /// Hashes jobs named by number and gives what came of each, in the order of arrival.
    fn outcomes(paths: Vec<Option<std::path::PathBuf>>, options: &Options) -> Vec<Option<Outcome>> {
        let jobs = paths
            .into_iter()
            .map(|path| path.as_deref().map(task))
            .enumerate();
        let jobs = jobs
            .map(|(token, task)| Job { token, task })
            .collect::<Vec<_>>();
        let mut seen = Vec::new();
        run(jobs.into_iter(), options, &mut |token, outcome| {
            assert_eq!(token, seen.len());
            seen.push(outcome);
            Ok(())
        })
        .unwrap();
        seen
    }

    fn options(threads: usize, io: IoMode) -> Options {
        let threads = NonZeroUsize::new(threads).unwrap();
        Options {
            io,
            window: NonZeroUsize::new(3).unwrap(),
            ..Options::with_threads(threads)
        }
    }

    #[test]
    fn every_io_mode_and_thread_count_gives_the_digests_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let lengths = [
            0, 1, 4095, 4096, 524_287, 524_288, 524_289, 1_048_576, 9_000_001, 100,
        ];
        let mut paths = Vec::new();
        let mut expected = Vec::new();
        for (index, len) in lengths.into_iter().enumerate() {
            let path = directory.path().join(index.to_string());
            fs::write(&path, painted(len)).unwrap();
            paths.extend([Some(path), None]);
            let mut hasher = MultiHasher::new(&BOTH);
            hasher.update(&painted(len));
            expected.push((len as u64, hasher.finish()));
        }
        for io in IO_MODES {
            for threads in [1, 2, 7] {
                let seen = outcomes(paths.clone(), &options(threads, io));
                assert_eq!(seen.len(), paths.len());
                let hashed = seen.into_iter().flatten().map(|outcome| match outcome {
                    Outcome::Hashed(hashed) => (hashed.size, hashed.digests),
                    other => panic!("{io:?} {threads}: {other:?}"),
                });
                assert_eq!(hashed.collect::<Vec<_>>(), expected, "{io:?} {threads}");
            }
        }
    }

    #[test]
    fn what_is_no_regular_file_is_refused_in_its_place() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, b"x").unwrap();
        let missing = directory.path().join("missing");
        let paths = vec![Some(missing), Some(directory.path().to_owned()), Some(file)];
        let seen = outcomes(paths, &options(2, IoMode::Auto));
        assert!(matches!(seen[0], Some(Outcome::Failed(_))));
        assert!(matches!(seen[1], Some(Outcome::Failed(_))));
        assert!(matches!(seen[2], Some(Outcome::Hashed(_))));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_or_pipe_in_the_place_of_a_file_neither_leads_away_nor_blocks() {
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink("/etc/passwd", &link).unwrap();
        let pipe = directory.path().join("pipe");
        assert!(
            std::process::Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        for io in IO_MODES {
            let paths = vec![
                Some(link.clone()),
                Some(pipe.clone()),
                Some("/dev/zero".into()),
            ];
            for outcome in outcomes(paths, &options(2, io)) {
                assert!(matches!(outcome, Some(Outcome::Failed(_))), "{outcome:?}");
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn files_that_the_kernel_makes_up_are_read_whole() {
        let seen = outcomes(
            vec![Some("/proc/version".into())],
            &options(1, IoMode::Mmap),
        );
        let Some(Outcome::Hashed(hashed)) = &seen[0] else {
            panic!("{seen:?}")
        };
        assert_eq!(hashed.size, fs::read("/proc/version").unwrap().len() as u64);
    }

    #[test]
    fn a_growing_file_is_unstable_and_ends() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        fs::write(&path, painted(64 << 20)).unwrap();
        let writer = {
            let path = path.clone();
            thread::spawn(move || {
                use std::io::Write;
                let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
                for _ in 0..2_000 {
                    file.write_all(&[1; 4096]).unwrap();
                    thread::yield_now();
                }
            })
        };
        let seen = outcomes(vec![Some(path)], &options(2, IoMode::Auto));
        writer.join().unwrap();
        let stable = matches!(seen[0], Some(Outcome::Hashed(_)));
        let grown = matches!(
            seen[0],
            Some(Outcome::Unstable(Instability::Resized { .. }))
        );
        // On a slow machine the writer may end before the file is opened.
        assert!(stable || grown, "{seen:?}");
    }

    #[test]
    fn jobs_that_end_in_a_panic_are_no_success() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, b"x").unwrap();
        let jobs = (0..100).map(move |token| {
            assert!(token < 50, "the walk dies here");
            Job {
                token,
                task: Some(task(&path)),
            }
        });
        let ended = run(jobs, &options(2, IoMode::Auto), &mut |_, _| Ok(()));
        assert!(matches!(ended, Err(Error::WorkerDied)), "{ended:?}");
    }

    #[test]
    fn jobs_that_end_because_the_run_is_stopped_are_no_success() {
        let options = options(2, IoMode::Auto);
        let cancel = options.cancel.clone();
        // As where Ctrl-C also ends the program that names the files.
        let jobs = std::iter::from_fn(move || -> Option<Job<()>> {
            cancel.cancel();
            None
        });
        let ended = run(jobs, &options, &mut |(), _| Ok(()));
        assert!(matches!(ended, Err(Error::Cancelled)), "{ended:?}");
    }

    #[test]
    fn no_more_jobs_are_taken_than_the_window_holds() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        assert!(
            std::process::Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        let taken = Arc::new(AtomicUsize::new(0));
        let (count, path) = (Arc::clone(&taken), pipe.clone());
        let jobs = (0..10_000).map(move |token: usize| {
            count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let task = (token == 0).then(|| {
                let source = Source::Stream(path.clone());
                Task::new(source, BOTH)
            });
            Job { token, task }
        });
        let window = 16;
        let options = Options {
            window: NonZeroUsize::new(window).unwrap(),
            ..options(2, IoMode::Auto)
        };
        let while_blocked = Arc::clone(&taken);
        let opener = thread::spawn(move || {
            thread::sleep(Duration::from_millis(200));
            let before = while_blocked.load(std::sync::atomic::Ordering::SeqCst);
            fs::write(pipe, b"x").unwrap();
            before
        });
        run(jobs, &options, &mut |_, _| Ok(())).unwrap();
        assert!(opener.join().unwrap() <= window + 1);
        assert_eq!(taken.load(std::sync::atomic::Ordering::SeqCst), 10_000);
    }

    #[test]
    fn a_refusing_sink_and_a_set_flag_end_the_run() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, b"x").unwrap();
        let jobs = || {
            (0..).map({
                let task = task(&path);
                move |token: u64| Job {
                    token,
                    task: Some(task.clone()),
                }
            })
        };
        let options = options(2, IoMode::Auto);
        let mut seen = 0;
        let refused = run(jobs(), &options, &mut |_, _| {
            seen += 1;
            if seen == 5 {
                Err(io::ErrorKind::BrokenPipe.into())
            } else {
                Ok(())
            }
        });
        assert!(matches!(refused, Err(Error::Output(_))), "{refused:?}");
        assert_eq!(seen, 5);
        let cancelled = run(jobs(), &options, &mut |token, _| {
            if token == 9 {
                options.cancel.cancel();
            }
            Ok(())
        });
        assert!(matches!(cancelled, Err(Error::Cancelled)), "{cancelled:?}");
    }

    /// Keeps what a run tells.
    #[derive(Default)]
    struct Watcher {
        finished: Vec<usize>,
        saved: Vec<Saved>,
    }

    impl Observer<usize> for Watcher {
        fn finished(&mut self, token: &usize, _: &Outcome) -> Result<(), Error> {
            self.finished.push(*token);
            Ok(())
        }

        fn saved(&mut self, saved: &Saved) -> Result<(), Error> {
            self.saved.push(saved.clone());
            Ok(())
        }
    }

    fn watch(task: &Task, options: &Options) -> (Watcher, Outcome) {
        let mut watcher = Watcher::default();
        let mut seen = None;
        let jobs = [Job {
            token: 0,
            task: Some(task.clone()),
        }];
        run_observed(
            jobs.into_iter(),
            options,
            &mut watcher,
            &mut |_, outcome| {
                seen = outcome;
                Ok(())
            },
        )
        .unwrap();
        (watcher, seen.unwrap())
    }

    #[test]
    fn a_long_file_goes_on_from_every_place_where_it_was_saved() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("big");
        let bytes = painted(5_500_000);
        fs::write(&path, &bytes).unwrap();
        let algorithms = [
            Algorithm::Md5,
            Algorithm::Sha512,
            Algorithm::Blake3,
            Algorithm::Sha3_256,
            Algorithm::Crc32c,
        ];
        let source = Source::File {
            path: path.clone().into(),
            links: Links::Refuse,
        };
        let task = Task::new(source, algorithms);
        let mut hasher = MultiHasher::new(&algorithms);
        hasher.update(&bytes);
        let expected = hasher.finish();
        for io in IO_MODES {
            let options = Options {
                save_every: std::num::NonZeroU64::new(1 << 20),
                ..options(2, io)
            };
            let (watcher, _) = watch(&task, &options);
            assert_eq!(watcher.finished, [0]);
            let places: Vec<u64> = watcher
                .saved
                .iter()
                .map(|saved| saved.offset >> 20)
                .collect();
            // A mapped file is seen in longer pieces.
            if io != IoMode::Mmap {
                assert_eq!(places, [1, 2, 3, 4], "{io:?}");
            }
            for saved in watcher.saved {
                let offset = saved.offset;
                let mut task = task.clone();
                task.begun = Some(Box::new(saved));
                let (_, outcome) = watch(&task, &options);
                let Outcome::Hashed(hashed) = outcome else {
                    panic!("{outcome:?}")
                };
                assert_eq!(hashed.digests, expected, "{io:?} from {offset}");
                assert_eq!(hashed.read_now(), bytes.len() as u64 - offset);
            }
        }
    }

    #[test]
    fn a_file_that_has_changed_or_is_fed_to_something_else_is_read_from_its_beginning() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("big");
        fs::write(&path, painted(2_500_000)).unwrap();
        let options = Options {
            save_every: std::num::NonZeroU64::new(1 << 20),
            ..options(1, IoMode::Read)
        };
        let mut task = task(&path);
        let (watcher, _) = watch(&task, &options);
        let saved = watcher.saved[0].clone();
        let read_before = |task: &Task| match watch(task, &options).1 {
            Outcome::Hashed(hashed) => hashed.read_before,
            other => panic!("{other:?}"),
        };
        task.begun = Some(Box::new(saved.clone()));
        assert_eq!(read_before(&task), Some(1 << 20));
        let mut others = task.clone();
        others.algorithms = [Algorithm::Md5].into();
        assert_eq!(read_before(&others), None);
        let mut torn = saved;
        torn.states[1] = Box::new([]);
        others = task.clone();
        others.begun = Some(Box::new(torn));
        assert_eq!(read_before(&others), None);
        thread::sleep(Duration::from_millis(20));
        fs::write(&path, painted(2_500_000)).unwrap();
        assert_eq!(read_before(&task), None);
    }

    #[test]
    fn blake2_and_xxhash_are_not_saved() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("big");
        fs::write(&path, painted(2_500_000)).unwrap();
        let options = Options {
            save_every: std::num::NonZeroU64::new(1 << 20),
            ..options(1, IoMode::Read)
        };
        for algorithm in [Algorithm::Blake2s, Algorithm::BLAKE2B, Algorithm::Xxh64] {
            let mut task = task(&path);
            task.algorithms = [Algorithm::Sha256, algorithm].into();
            assert!(watch(&task, &options).0.saved.is_empty(), "{algorithm}");
        }
    }
}
