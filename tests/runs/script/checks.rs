//! Checks in transcripts.
//!
//! ```text
//! > ran tests 0                     somebody has run the workflow's check `tests`, and it has ended with code 0
//! > ran tests 0 with --skip slow    the same with more arguments
//! > ran tests 0 as ["true"]         the same as somebody else has declared it
//! > ran tests stopped               it took too long
//! > ran tests cancelled             whoever had it run gave it up
//! > last                            what counts of the checks that were run
//! ```

use std::fmt::Write as _;

use statemark_runs::check::{CheckResult, Declaration};
use statemark_runs::{Order, RecordCheck, RunCheck, RunError};

use super::shown;
use crate::harness::Bench;

pub(crate) fn act(
    bench: &Bench,
    order: &Order,
    word: &str,
    rest: &str,
) -> Result<String, RunError> {
    let loaded = bench.runs.load(&order.run)?;
    if word == "last" {
        let mut text = String::new();
        for (name, check) in &loaded.state.checks {
            let _ = writeln!(text, "{name} {} (record {})", check.outcome, check.seq);
        }
        return Ok(text);
    }
    let (name, rest) = rest.split_once(' ').expect("a check and its end");
    let (code, how) = rest.split_once(' ').unwrap_or((rest, ""));
    let exit_code = code.parse().ok();
    let declared = match how.strip_prefix("as ") {
        Some(command) => Declaration {
            command: serde_json::from_str(command).expect("words"),
            cwd: None,
            env: std::collections::BTreeMap::new(),
            inherit: Vec::new(),
            timeout: None,
        },
        None => loaded.check(name)?.expect("a check of the workflow"),
    };
    let arguments = how.strip_prefix("with ").unwrap_or("");
    let what = RunCheck {
        name: name.to_owned(),
        declared,
        arguments: arguments.split_whitespace().map(str::to_owned).collect(),
    };
    let late = exit_code.is_none() && code != "cancelled";
    let problem = late.then(|| "it took longer than 1m and was stopped".to_owned());
    let ran = CheckResult {
        passed: exit_code == Some(0),
        exit_code,
        problem,
        milliseconds: 1_200,
        cancelled: code == "cancelled",
        stdout: "ok\n".to_owned(),
        ..CheckResult::default()
    };
    Ok(shown(
        &bench.runs.execute(order, &RecordCheck { what, ran })?,
    ))
}
