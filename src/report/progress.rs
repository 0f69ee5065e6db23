//! Progress while a run goes on: bars for people, JSON records for programs.
//!
//! Nothing here is told anything. A thread samples the gauges ten times a second, so that workers
//! pay two relaxed additions a buffer whether somebody watches or not.

use std::io::{self, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use console::Term;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

use super::pace::Pace;
use super::snapshot::{self, Snapshot};
use crate::engine::{Gauges, LargeFile, Totals};

/// Bars of single files that are shown at most; the terminal belongs to the report too.
const MOST_FILE_BARS: usize = 8;

/// Where and how progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Nowhere.
    Hidden,
    /// As bars on standard error, whether or not that is a terminal.
    Bars,
    /// As one JSON object a second on standard error, and a last one at the end:
    /// `{"progress":{"bytes":…,"total_bytes":…,"files":…,"total_files":…,"seconds":…,"rate":…}}`.
    /// Totals are null until they are known, and the rate (in bytes a second) until it is.
    Json,
}

/// A display of progress, from [`Progress::start`] to [`Progress::finish`].
///
/// # Examples
///
/// ```
/// use multisum::engine::{Gauges, Totals};
/// use multisum::report::{Progress, Target};
/// use std::sync::Arc;
/// let (gauges, totals) = (Arc::new(Gauges::default()), Arc::new(Totals::default()));
/// let progress = Progress::start(gauges, totals, Target::Hidden)?;
/// progress.suspend(|| { /* write a line to the terminal */ });
/// progress.finish()?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Progress {
    watcher: Option<Watcher>,
    bars: Option<MultiProgress>,
}

#[derive(Debug)]
struct Watcher {
    /// Dropping it stops the thread.
    stop: Sender<()>,
    thread: JoinHandle<io::Result<()>>,
}

impl Progress {
    /// Shows what the gauges say, and against which totals, until [`Progress::finish`].
    ///
    /// Bars are not drawn for the first 250 ms, so that short runs stay quiet.
    ///
    /// # Errors
    ///
    /// If the thread cannot be started.
    pub fn start(gauges: Arc<Gauges>, totals: Arc<Totals>, target: Target) -> io::Result<Self> {
        match target {
            Target::Hidden => Ok(Self::hidden()),
            Target::Bars => {
                let view = Bars::new(Term::buffered_stderr())?;
                let bars = view.multi.clone();
                Self::watch(gauges, totals, view, Timing::BARS, Some(bars))
            }
            Target::Json => {
                let view = JsonLines(io::stderr());
                Self::watch(gauges, totals, view, Timing::JSON, None)
            }
        }
    }

    /// Shows nothing.
    pub fn hidden() -> Self {
        Self {
            watcher: None,
            bars: None,
        }
    }

    fn watch(
        gauges: Arc<Gauges>,
        totals: Arc<Totals>,
        view: impl View + 'static,
        timing: Timing,
        bars: Option<MultiProgress>,
    ) -> io::Result<Self> {
        gauges.watch();
        let (stop, stopped) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("progress".to_owned())
            .spawn(move || watch(&gauges, &totals, view, timing, &stopped))?;
        Ok(Self {
            watcher: Some(Watcher { stop, thread }),
            bars,
        })
    }

    /// Takes the bars off the screen while `work` writes whole lines to the terminal.
    pub fn suspend<R>(&self, work: impl FnOnce() -> R) -> R {
        match &self.bars {
            Some(bars) => bars.suspend(work),
            None => work(),
        }
    }

    /// Wraps a writer to the same terminal, so that what it writes and the bars do not garble each
    /// other. Each call of `write` or `write_all` must end a line.
    pub fn beside<W: Write>(&self, out: W) -> BesideBars<W> {
        BesideBars {
            out,
            bars: self.bars.clone(),
        }
    }

    /// Stops the thread, waits for it and clears the bars.
    ///
    /// # Errors
    ///
    /// The first failure to write to standard error, after which nothing more was shown or what was
    /// shown may be incomplete.
    pub fn finish(mut self) -> io::Result<()> {
        self.stop()
    }

    fn stop(&mut self) -> io::Result<()> {
        let Some(Watcher { stop, thread }) = self.watcher.take() else {
            return Ok(());
        };
        drop(stop);
        thread
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the progress thread died")))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        // Only reached without `finish` when a run ends by an error, which is what will be told.
        drop(self.stop());
    }
}

/// A writer to the terminal that the bars are on; see [`Progress::beside`].
#[derive(Debug)]
pub struct BesideBars<W> {
    out: W,
    bars: Option<MultiProgress>,
}

impl<W: Write> BesideBars<W> {
    fn with<R>(&mut self, write: impl FnOnce(&mut W) -> io::Result<R>) -> io::Result<R> {
        let Some(bars) = &self.bars else {
            return write(&mut self.out);
        };
        bars.suspend(|| {
            let written = write(&mut self.out)?;
            self.out.flush()?;
            Ok(written)
        })
    }
}

impl<W: Write> Write for BesideBars<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|out| out.write(bytes))
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.with(|out| out.write_all(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[derive(Clone, Copy)]
struct Timing {
    /// Nothing is shown before.
    delay: Duration,
    every: Duration,
}

impl Timing {
    const BARS: Self = Self {
        delay: Duration::from_millis(250),
        every: Duration::from_millis(100),
    };
    const JSON: Self = Self {
        delay: Duration::ZERO,
        every: Duration::from_secs(1),
    };
}

/// A form in which snapshots are shown.
trait View: Send {
    fn show(&mut self, now: &Snapshot) -> io::Result<()>;
    fn end(&mut self, now: &Snapshot) -> io::Result<()>;
}

fn watch(
    gauges: &Gauges,
    totals: &Totals,
    mut view: impl View,
    timing: Timing,
    stopped: &Receiver<()>,
) -> io::Result<()> {
    let start = Instant::now();
    let mut pace = Pace::default();
    loop {
        let now = Snapshot::take(gauges, totals, &mut pace, start.elapsed());
        if now.elapsed >= timing.delay.max(timing.every) {
            view.show(&now)?;
        }
        if stopped.recv_timeout(timing.every) != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    view.end(&Snapshot::take(gauges, totals, &mut pace, start.elapsed()))
}

struct JsonLines<W>(W);

impl<W: Write + Send> View for JsonLines<W> {
    fn show(&mut self, now: &Snapshot) -> io::Result<()> {
        now.json().write_line(&mut self.0)?;
        self.0.flush()
    }

    fn end(&mut self, now: &Snapshot) -> io::Result<()> {
        self.show(now)
    }
}

/// One overall bar and, below it, one for each large file.
struct Bars<T> {
    screen: Screen<T>,
    multi: MultiProgress,
    overall: Option<ProgressBar>,
    files: Vec<(Arc<LargeFile>, ProgressBar)>,
    stuck: Option<ProgressBar>,
    styles: Styles,
}

struct Styles {
    counting: ProgressStyle,
    overall: ProgressStyle,
    file: ProgressStyle,
    stuck: ProgressStyle,
}

impl Styles {
    fn new() -> io::Result<Self> {
        let style = |template| ProgressStyle::with_template(template).map_err(io::Error::other);
        // ASCII, since not every console font has block elements.
        let bar = |template| Ok::<_, io::Error>(style(template)?.progress_chars("=>-"));
        Ok(Self {
            counting: style("{spinner} {msg}")?.tick_chars("|/-\\|"),
            overall: bar("[{wide_bar}] {msg}")?,
            file: bar("{prefix} [{wide_bar}] {msg}")?,
            stuck: style("{msg}")?,
        })
    }
}

impl<T: TermLike + Clone + 'static> Bars<T> {
    fn new(term: T) -> io::Result<Self> {
        let screen = Screen::new(term);
        // Every change of a bar asks for a redraw of all; the limit leaves that to `redraw`.
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(screen.clone()), 1);
        Ok(Self {
            screen,
            multi: MultiProgress::with_draw_target(target),
            overall: None,
            files: Vec::new(),
            stuck: None,
            styles: Styles::new()?,
        })
    }

    fn show_overall(&mut self, now: &Snapshot, columns: usize) {
        // A new bar is filled in before it joins the others, so that it never shows up empty.
        let bar = self.overall.clone().unwrap_or_else(ProgressBar::hidden);
        let style = if now.complete {
            &self.styles.overall
        } else {
            &self.styles.counting
        };
        bar.set_style(style.clone());
        bar.set_length(now.counted.bytes);
        bar.set_position(now.done.bytes.min(now.counted.bytes));
        bar.set_message(now.overall(columns));
        bar.tick();
        if self.overall.is_none() {
            self.overall = Some(self.multi.add(bar));
        }
    }

    fn show_files(&mut self, now: &Snapshot, columns: usize) {
        self.files.retain(|(file, bar)| {
            let goes_on = now.large.iter().any(|other| Arc::ptr_eq(file, other));
            if !goes_on {
                self.multi.remove(bar);
            }
            goes_on
        });
        for (file, bar) in &self.files {
            show_file(file, bar, columns);
        }
        for file in &now.large {
            let known = self.files.iter().any(|(other, _)| Arc::ptr_eq(file, other));
            if !known && self.files.len() < MOST_FILE_BARS {
                let bar = ProgressBar::hidden().with_style(self.styles.file.clone());
                show_file(file, &bar, columns);
                let bar = self.multi.add(bar);
                bar.tick();
                self.files.push((Arc::clone(file), bar));
            }
        }
    }

    fn show_stuck(&mut self, now: &Snapshot, columns: usize) {
        // Made anew each time, so that it stands below the others, of which there may be more by now.
        if let Some(bar) = self.stuck.take() {
            self.multi.remove(&bar);
        }
        self.stuck = now.stuck(columns).map(|told| {
            let bar = ProgressBar::hidden().with_style(self.styles.stuck.clone());
            bar.set_message(told);
            let bar = self.multi.add(bar);
            bar.tick();
            bar
        });
    }

    fn redraw(&self) {
        if let Some(bar) = &self.overall {
            bar.force_draw();
        }
    }
}

fn show_file(file: &LargeFile, bar: &ProgressBar, columns: usize) {
    bar.set_prefix(snapshot::file_name(file, columns));
    bar.set_length(file.size());
    bar.set_position(file.done().min(file.size()));
    bar.set_message(snapshot::file_state(file, columns));
}

impl<T: TermLike + Clone + 'static> View for Bars<T> {
    fn show(&mut self, now: &Snapshot) -> io::Result<()> {
        let columns = usize::from(self.screen.width());
        self.show_overall(now, columns);
        self.show_files(now, columns);
        self.show_stuck(now, columns);
        self.redraw();
        self.screen.result()
    }

    fn end(&mut self, _: &Snapshot) -> io::Result<()> {
        for (_, bar) in self.files.drain(..) {
            self.multi.remove(&bar);
        }
        let rest = [self.stuck.take(), self.overall.take()];
        for bar in rest.into_iter().flatten() {
            self.multi.remove(&bar);
        }
        self.multi.clear()?;
        self.screen.result()
    }
}

/// A terminal that keeps its first failure to itself until it is asked.
///
/// `MultiProgress::suspend` panics if the terminal fails, and a vanished terminal must not end the
/// run of whoever wants to write a line beside the bars.
#[derive(Clone, Debug)]
struct Screen<T> {
    term: T,
    failure: Arc<Mutex<Option<io::Error>>>,
}

impl<T: TermLike> Screen<T> {
    fn new(term: T) -> Self {
        Self {
            term,
            failure: Arc::new(Mutex::new(None)),
        }
    }

    /// The first failure, once.
    fn result(&self) -> io::Result<()> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take().map_or(Ok(()), Err)
    }

    fn keep(&self, result: io::Result<()>) -> io::Result<()> {
        if let Err(error) = result {
            let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            failure.get_or_insert(error);
        }
        Ok(())
    }
}

impl<T: TermLike> TermLike for Screen<T> {
    fn width(&self) -> u16 {
        // A terminal that does not know its size says 0.
        match self.term.width() {
            0 => 80,
            columns => columns,
        }
    }

    fn height(&self) -> u16 {
        match self.term.height() {
            0 => 24,
            rows => rows,
        }
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.keep(self.term.move_cursor_up(n))
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.keep(self.term.move_cursor_down(n))
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.keep(self.term.move_cursor_right(n))
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.keep(self.term.move_cursor_left(n))
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.keep(self.term.write_line(text))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.keep(self.term.write_str(text))
    }

    fn clear_line(&self) -> io::Result<()> {
        self.keep(self.term.clear_line())
    }

    fn flush(&self) -> io::Result<()> {
        self.keep(self.term.flush())
    }
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::Amount;
    use super::*;
    use indicatif::InMemoryTerm;

    const MIB: u64 = 1 << 20;

    fn snapshot(complete: bool, gauges: &Gauges) -> Snapshot {
        Snapshot {
            elapsed: Duration::from_secs(3),
            done: Amount {
                files: 12,
                bytes: 250_000_000,
            },
            counted: Amount {
                files: 34,
                bytes: 1_000_000_000,
            },
            complete,
            rate: Some(100_000_000),
            seconds_left: complete.then_some(8),
            large: gauges.large_files(),
            stuck: None,
        }
    }

    fn bars(columns: u16) -> (InMemoryTerm, Bars<InMemoryTerm>) {
        let term = InMemoryTerm::new(20, columns);
        (term.clone(), Bars::new(term).unwrap())
    }

    #[test]
    fn overall_and_file_bars_fill_their_lines_and_follow_the_files() {
        let (term, mut bars) = bars(80);
        let gauges = Arc::new(Gauges::default());
        let first = gauges.begin_large("a/film.mov", 100 * MIB);
        first.add_bytes(50 * MIB);
        let second = gauges.begin_large("b\x1b[31m.iso", 4_000 * MIB);
        bars.show(&snapshot(true, &gauges)).unwrap();
        assert_eq!(
            term.contents(),
            "\
[======>-------------------] 250 MB / 1.00 GB, 12 / 34 files, 100 MB/s, 8 s left
a/film.mov                 [=================>-----------------]  50% of  105 MB
b\\u{1b}[31m.iso            [-----------------------------------]   0% of 4.19 GB"
        );
        drop(first);
        bars.show(&snapshot(true, &gauges)).unwrap();
        assert_eq!(term.contents().lines().count(), 2);
        drop(second);
        bars.end(&snapshot(true, &gauges)).unwrap();
        assert_eq!(term.contents(), "");
    }

    #[test]
    fn no_line_wraps_on_a_narrow_terminal() {
        for columns in [10, 20, 30, 39, 40, 41, 60, 200] {
            let (term, mut bars) = bars(columns);
            let gauges = Arc::new(Gauges::default());
            let _guard = gauges.begin_large("日本語/とても長い名前/とても長い名前.mov", MIB);
            bars.show(&snapshot(true, &gauges)).unwrap();
            if columns >= 20 {
                assert_eq!(term.contents().lines().count(), 2, "{columns} columns");
            }
            bars.end(&snapshot(true, &gauges)).unwrap();
            assert_eq!(term.contents(), "", "{columns} columns");
        }
    }

    #[test]
    fn while_totals_are_counted_there_is_no_bar_and_no_time_left() {
        let (term, mut bars) = bars(80);
        bars.show(&snapshot(false, &Gauges::default())).unwrap();
        let text = "250 MB, 12 files, 100 MB/s, counted 1.00 GB in 34 files so far";
        assert!(term.contents().ends_with(text), "{}", term.contents());
        assert!(!term.contents().contains(['[', '=']));
    }

    #[test]
    fn many_large_files_do_not_fill_the_terminal() {
        let (term, mut bars) = bars(80);
        let gauges = Arc::new(Gauges::default());
        let mut guards: Vec<_> = (0..30)
            .map(|number| gauges.begin_large(format!("file{number:02}"), MIB))
            .collect();
        bars.show(&snapshot(true, &gauges)).unwrap();
        assert_eq!(term.contents().lines().count(), 1 + MOST_FILE_BARS);
        guards.drain(..3);
        bars.show(&snapshot(true, &gauges)).unwrap();
        assert_eq!(term.contents().lines().count(), 1 + MOST_FILE_BARS);
        assert!(term.contents().contains("file10") && !term.contents().contains("file02"));
    }

    #[test]
    fn report_lines_stand_above_the_bars() {
        let (term, mut bars) = bars(80);
        bars.show(&snapshot(true, &Gauges::default())).unwrap();
        let mut out = BesideBars {
            out: ToTerm(term.clone()),
            bars: Some(bars.multi.clone()),
        };
        writeln!(out, "changed     a").unwrap();
        out.write_all(b"missing     b\n").unwrap();
        let contents = term.contents();
        let lines: Vec<&str> = contents.lines().collect();
        assert_eq!(lines[..2], ["changed     a", "missing     b"]);
        assert!(lines[2].starts_with('[') && lines.len() == 3, "{contents}");
    }

    #[test]
    fn a_short_run_draws_nothing_and_a_long_one_leaves_nothing() {
        let run = |delay, wait_for_bars: bool| {
            let (term, view) = bars(80);
            let timing = Timing {
                delay,
                every: Duration::from_millis(1),
            };
            let (gauges, totals) = (Arc::default(), Arc::default());
            let progress = Progress::watch(gauges, totals, view, timing, None).unwrap();
            if wait_for_bars {
                while term.contents().is_empty() {
                    thread::sleep(Duration::from_millis(1));
                }
            } else {
                thread::sleep(Duration::from_millis(20));
                assert_eq!(term.contents(), "");
            }
            progress.finish().unwrap();
            assert_eq!(term.contents(), "");
        };
        run(Duration::from_secs(3600), false);
        run(Duration::ZERO, true);
    }

    #[test]
    fn a_lost_terminal_is_reported_and_does_not_end_the_run() {
        let mut bars = Bars::new(Lost).unwrap();
        let multi = bars.multi.clone();
        let error = bars.show(&snapshot(true, &Gauges::default())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(multi.suspend(|| 7), 7);
    }

    #[test]
    fn json_records_are_lines_and_the_last_one_has_the_final_figures() {
        let (gauges, totals) = (Arc::<Gauges>::default(), Arc::<Totals>::default());
        let out = Shared::default();
        let view = JsonLines(out.clone());
        let progress = Progress::watch(
            Arc::clone(&gauges),
            Arc::clone(&totals),
            view,
            Timing::JSON,
            None,
        )
        .unwrap();
        totals.add(5);
        totals.complete();
        gauges.add_bytes(5);
        gauges.add_files(1);
        progress.finish().unwrap();
        let text = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
        let last = text.lines().last().unwrap();
        let start =
            r#"{"progress":{"bytes":5,"total_bytes":5,"files":1,"total_files":1,"seconds":"#;
        assert!(last.starts_with(start) && text.ends_with("}}\n"), "{text}");
    }

    #[test]
    fn a_failing_writer_of_json_is_reported_at_the_end() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (gauges, totals) = (Arc::default(), Arc::default());
        let view = JsonLines(Full);
        let progress = Progress::watch(gauges, totals, view, Timing::JSON, None).unwrap();
        let error = progress.finish().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct ToTerm(InMemoryTerm);

    impl Write for ToTerm {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let text = str::from_utf8(bytes).unwrap();
            self.0.write_str(&text.replace('\n', "\r\n"))?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A terminal that has been closed.
    #[derive(Clone, Debug)]
    struct Lost;

    impl TermLike for Lost {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn write_line(&self, _: &str) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn write_str(&self, _: &str) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn clear_line(&self) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&self) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }
}
