//! Races against bare SQLite and a bare server, which time alone can tell: ratios of one run.

use std::path::Path;
use std::process::Command;

use crate::bench::Bench;

pub(crate) fn section(bench: &Bench) -> String {
    let races = ["stores", "latency"].map(|name| race(&bench.executable(name)));
    format!(
        "Each in turns within one run, so that the machine is the same for both. \
         The bare server is a tool on rmcp that reads the same rows and answers with them.\n\n```text\n{}```\n",
        races.concat()
    )
}

/// Returns what a race prints. A missed bar is printed too, and stops nothing.
fn race(program: &Path) -> String {
    let output = Command::new(program).arg("--bench").output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    let missed = if output.status.success() {
        ""
    } else {
        "(the race's own bar was missed)\n"
    };
    told + missed
}
