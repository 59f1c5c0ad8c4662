//! Where commands are measured, and how.

use std::cell::Cell;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use statemark_harness::instructions::{Cost, can_count, counted};
use statemark_harness::root;

use crate::shell::{BINARY, Scratch, statemark};

/// The folders and programs of one run of the report.
pub(crate) struct Bench {
    /// A folder for programs of others. It stays, so that they are installed once.
    pub(crate) peers: PathBuf,
    profiles: Scratch,
    number: Cell<u64>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        assert!(can_count(), "valgrind counts the instructions: install it");
        let peers = Path::new(env!("CARGO_TARGET_TMPDIR")).join("peers");
        fs::create_dir_all(&peers).unwrap();
        Self {
            peers,
            profiles: Scratch::new("bench-profiles"),
            number: Cell::new(0),
        }
    }

    /// Describes what the figures depend on.
    pub(crate) fn describe(&self) -> String {
        let told = |program: &str, argument: &str| {
            let output = Command::new(program).arg(argument).output().unwrap();
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        };
        let size = fs::metadata(BINARY).map_or(0, |file| file.len());
        format!(
            "{}, {}, {} cores; the program has {:.1} MB.",
            told("rustc", "--version"),
            told("valgrind", "--version"),
            std::thread::available_parallelism().map_or(1, usize::from),
            millions(size),
        )
    }

    /// Returns the file for the next profile.
    pub(crate) fn profile(&self) -> PathBuf {
        self.number.set(self.number.get() + 1);
        self.profiles
            .path
            .join(format!("{}.out", self.number.get()))
    }

    /// Counts the instructions of a command without input; the exit code doesn't matter.
    pub(crate) fn count(&self, command: &Command) -> u64 {
        self.count_fed(command, Stdio::null())
    }

    /// Counts the instructions of a command with an input; the exit code doesn't matter.
    pub(crate) fn count_fed(&self, command: &Command, input: Stdio) -> u64 {
        let profile = self.profile();
        let mut command = counted(command, &profile);
        let output = command.stdin(input).output().unwrap();
        let cost = Cost::of_profile(&profile);
        cost.unwrap_or_else(|error| panic!("{error}: {output:?}"))
            .total
    }

    /// Counts the instructions of the program with some arguments.
    pub(crate) fn count_own(&self, folder: &Path, arguments: &[&str]) -> u64 {
        self.count(statemark(folder).args(arguments))
    }

    /// Builds a benchmark of the workspace, as it is built already, and returns its program.
    pub(crate) fn executable(&self, bench: &str) -> PathBuf {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["bench", "--workspace", "--no-run", "--bench", bench]);
        let output = cargo.current_dir(root()).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        let line = told.lines().find(|line| line.contains("Executable"));
        let path = line.and_then(|line| line.split(['(', ')']).nth(1));
        root().join(path.unwrap_or_else(|| panic!("{bench} isn't built: {told}")))
    }
}

/// A build that cargo has made.
pub(crate) struct Built {
    /// The CPU's time for it, of all its processes.
    pub(crate) cpu: Duration,
    /// The number of crates that were compiled.
    pub(crate) crates: usize,
}

/// Runs cargo in a folder.
pub(crate) fn cargo(folder: &Path, words: &[&str]) -> Built {
    let mut shell = Command::new("bash");
    shell.args(["-c", "\"$CARGO\" \"$@\" && times", "cargo"]);
    let output = shell.args(words).env("CARGO", env!("CARGO"));
    let output = output.current_dir(folder).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let compiling = |line: &&str| line.trim_start().starts_with("Compiling ");
    let times = String::from_utf8(output.stdout).unwrap();
    Built {
        cpu: cpu_of_children(&times),
        crates: told.lines().filter(compiling).count(),
    }
}

/// Reads the CPU's time of what a shell has started off the output of its `times`.
pub(crate) fn cpu_of_children(times: &str) -> Duration {
    // The second line is the children's: user and system, as `0m1.250s`.
    let children = times.lines().nth(1).unwrap().split_whitespace();
    let seconds = children.map(|time| {
        let (minutes, seconds) = time.trim_end_matches('s').split_once('m').unwrap();
        minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
    });
    Duration::from_secs_f64(seconds.sum())
}

/// Returns how busy the machine is, as a sentence.
pub(crate) fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    format!("The load of the machine was {load} at the end.")
}

/// Returns a number in millions.
#[expect(clippy::cast_precision_loss, reason = "figures below 2^53")]
pub(crate) fn millions(count: u64) -> f64 {
    count as f64 / 1e6
}

/// Returns a ratio.
#[expect(clippy::cast_precision_loss, reason = "figures below 2^53")]
pub(crate) fn ratio(one: u64, other: u64) -> f64 {
    one as f64 / other.max(1) as f64
}

/// Writes a table in Markdown.
pub(crate) fn table(columns: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = format!(
        "| {} |\n|---|{}\n",
        columns.join(" | "),
        "--:|".repeat(columns.len() - 1)
    );
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}
