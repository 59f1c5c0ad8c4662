//! What Statemark costs beside its peers: `tests/benches/run` makes `tests/bench.md` by it.
//!
//! Instructions are the measure wherever one program or one thread does the work: they are the same on any day. Times stand
//! only as ratios of one run. Arguments name the sections that are wanted; then nothing is written but to standard output.
//! What a machine doesn't have is left out, and said.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a benchmark prints, and stops where something is wrong, as a test does"
)]

#[path = "../../tests/executor/api.rs"]
mod api;
#[expect(dead_code, reason = "the tests use all of it")]
#[path = "../../tests/served/client.rs"]
mod client;
#[path = "../../tests/growth/measure.rs"]
mod measure;
#[expect(dead_code, reason = "the tests use all of it")]
#[path = "../../tests/served/raw.rs"]
mod raw;
#[expect(dead_code, reason = "the tests use all of it")]
#[path = "../../tests/shell/mod.rs"]
mod shell;

mod attempts;
mod bench;
mod built;
mod crowded;
mod growth;
mod lint;
mod races;
mod ratios;
mod served;
mod signed;
mod start;
mod steps;
mod writers;

use std::fmt::Write as _;

use bench::Bench;

/// A part of the report: its word, its title, and what it measures.
type Section = (&'static str, &'static str, fn(&Bench) -> String);

const SECTIONS: [Section; 12] = [
    ("steps", "A step", steps::section),
    ("lint", "Lint, show and build", lint::section),
    ("writers", "Compiling what is generated", writers::section),
    ("start", "A whole process", start::section),
    ("served", "A call of the server", served::section),
    ("signed", "Signed decisions", signed::section),
    ("attempts", "An attempt of an executor", attempts::section),
    ("growth", "Many runs", growth::section),
    ("races", "Many writers and many readers", races::section),
    ("crowded", "Beside others who wait", crowded::section),
    (
        "ratios",
        "Beside bare SQLite and a bare server",
        ratios::section,
    ),
    ("built", "Building", built::section),
];

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|it| it != "--bench")
        .collect();
    let words = SECTIONS.map(|(word, ..)| word);
    if let Some(unknown) = wanted.iter().find(|it| !words.contains(&it.as_str())) {
        panic!(
            "there is no section {unknown}; there are {}",
            words.join(", ")
        );
    }
    let path = statemark_harness::root().join("tests/bench.md");
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let bench = Bench::new();
    let mut report = format!(
        "# What it costs\n\n\
         Made by `tests/benches/run`. Instructions are counted by callgrind; `x` is a ratio of two figures of one run.\n\
         {}\n",
        bench.describe()
    );
    for (word, title, section) in SECTIONS {
        let text = if wanted.is_empty() || wanted.iter().any(|it| it == word) {
            let text = section(&bench);
            println!("\n## {title}\n\n{text}");
            text
        } else {
            kept(&before, title)
                .unwrap_or_else(|| format!("Measured by `tests/benches/run {word}`.\n"))
        };
        let _ = write!(report, "\n## {title}\n\n{text}");
    }
    let unreached = statemark_harness::root().join("tests/benches/unreached.md");
    let unreached = std::fs::read_to_string(unreached).unwrap();
    let _ = write!(report, "\n## What isn't reached\n\n{unreached}");
    std::fs::write(&path, report).unwrap();
    println!("written: tests/bench.md");
}

/// Returns a section of an earlier report.
fn kept(report: &str, title: &str) -> Option<String> {
    let mut sections = report.split("\n## ").skip(1);
    let body = sections.find_map(|it| it.strip_prefix(title)?.strip_prefix("\n\n"))?;
    Some(format!("{}\n", body.trim_end()))
}
