//! On what, and when, it was measured.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::Result;

/// The machine, as far as it tells.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// The processor's name.
    pub(crate) processor: String,
    /// Processors that this process may use.
    pub(crate) cores: usize,
    /// Those features of the processor that kernels make use of.
    pub(crate) features: Vec<&'static str>,
    /// GiB of memory.
    pub(crate) memory_gib: Option<u64>,
    /// Distribution and kernel.
    pub(crate) system: String,
    /// Processes that wanted to run when the benchmark began, as a mean of one minute.
    pub(crate) load: Option<f64>,
    /// The day, in UTC.
    pub(crate) date: String,
    /// Version of multisum, and the commit it was built from.
    pub(crate) multisum: String,
}

const FEATURES: &[&str] = &[
    "sse4_1",
    "avx2",
    "avx512f",
    "avx512bw",
    "avx512vl",
    "sha_ni",
    "vaes",
    "vpclmulqdq",
    "asimd",
    "sha1",
    "sha2",
    "sha512",
];

impl Machine {
    /// Looks at the machine. `multisum` is the program to be measured.
    pub(crate) fn look(multisum: &str) -> Result<Self> {
        let cpuinfo = read("/proc/cpuinfo");
        let flags = field(&cpuinfo, &["flags", "Features"]).unwrap_or_default();
        let flags: Vec<&str> = flags.split_whitespace().collect();
        let has = |feature: &&&'static str| flags.contains(*feature);
        let processor = field(&cpuinfo, &["model name", "Hardware", "CPU part"]);
        Ok(Self {
            processor: processor.unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores: thread::available_parallelism()?.get(),
            features: FEATURES.iter().filter(has).copied().collect(),
            memory_gib: memory_gib(),
            system: system(),
            load: load(),
            date: today()?,
            multisum: version(multisum),
        })
    }

    /// A name for a folder.
    pub(crate) fn slug(&self) -> String {
        let text = format!("{} {} cores", self.processor, self.cores).to_lowercase();
        let words = text.split(|c: char| !c.is_ascii_alphanumeric());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        words.join("-")
    }

    /// One paragraph for people.
    pub(crate) fn prose(&self) -> String {
        let memory = self
            .memory_gib
            .map_or_else(String::new, |gib| format!(", {gib} GiB of memory"));
        let load = self
            .load
            .map_or_else(String::new, |load| format!(" Load before: {load:.2}."));
        format!(
            "multisum {}; {}, {} cores ({}){memory}; {}; {}.{load}",
            self.multisum,
            self.processor,
            self.cores,
            self.features.join(" "),
            self.system,
            self.date,
        )
    }

    /// Whether other work was going on, so that the figures are of no use.
    pub(crate) fn is_busy(&self) -> bool {
        self.load.is_some_and(|load| load > 0.5)
    }
}

/// The file as text, or nothing where there is no such file.
fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn field(text: &str, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    })
}

fn memory_gib() -> Option<u64> {
    let total = field(&read("/proc/meminfo"), &["MemTotal"])?;
    let kib: u64 = total.split_whitespace().next()?.parse().ok()?;
    Some((kib + (1 << 19)) >> 20)
}

/// The load of the last minute.
pub(crate) fn load() -> Option<f64> {
    read("/proc/loadavg")
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

fn system() -> String {
    let release = read("/etc/os-release");
    let name = release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .map_or(std::env::consts::OS, |name| name.trim_matches('"'));
    let kernel = read("/proc/sys/kernel/osrelease");
    if kernel.is_empty() {
        name.to_owned()
    } else {
        format!("{name}, Linux {}", kernel.trim())
    }
}

/// What the program says of itself, and the commit that the sources are at.
fn version(multisum: &str) -> String {
    let said = answer(multisum, &["--version"]).unwrap_or_default();
    let version = said.trim_start_matches("multisum ").to_owned();
    let root = env!("CARGO_MANIFEST_DIR");
    let commit = answer("git", &["-C", root, "describe", "--always", "--dirty"]);
    commit.map_or(version.clone(), |commit| format!("{version} ({commit})"))
}

fn answer(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn today() -> Result<String> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let (mut year, mut day) = (1970, seconds / 86_400);
    while day >= days_in_year(year) {
        day -= days_in_year(year);
        year += 1;
    }
    let february = days_in_year(year) - 337;
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < days {
            break;
        }
        day -= days;
        month += 1;
    }
    Ok(format!("{year}-{month:02}-{:02}", day + 1))
}

fn days_in_year(year: u64) -> u64 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    365 + u64::from(leap)
}
