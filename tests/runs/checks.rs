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
use std::fs;

use statemark_runs::check::{CheckResult, Declaration};
use statemark_runs::{Key, Order, Pause, RecordCheck, RunCheck, RunCheckIn, RunError, Start};

use crate::harness::Bench;
use crate::transcripts::shown;

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

const SPEC: &str = r#"# Ship

## STATE-MACHINE

```json definition
{
  "id": "ship",
  "initial": "working",
  "checks": {"count": {"command": ["sh", "-c", "echo once >> count.txt; cat count.txt"], "cwd": "inner"}},
  "states": {"working": {"requires": ["count"], "on": {"ship": "over"}}, "over": {"type": "final"}}
}
```
"#;

#[test]
fn the_same_key_is_not_run_again_and_a_refused_check_is_not_run_at_all() {
    let root = crate::stores::sqlite::folder();
    fs::create_dir_all(root.join("inner")).unwrap();
    let bench = Bench::new(&[("ship.md", SPEC)]);
    let start = Start {
        workflow: "ship".to_owned(),
        ..Start::default()
    };
    let order = bench.order("r");
    let begun = bench.runs.execute(&order, &start).unwrap();
    let what = RunCheck {
        name: "count".to_owned(),
        declared: begun.loaded.check("count").unwrap().unwrap(),
        arguments: Vec::new(),
    };
    let check = RunCheckIn {
        what,
        root: &root,
        cancelled: &|| false,
    };
    let keyed = Order {
        key: Some("k".parse::<Key>().unwrap()),
        ..order.clone()
    };
    for replayed in [false, true] {
        let written = bench.runs.execute(&keyed, &check).unwrap();
        let check = written.outcome.check.unwrap();
        assert_eq!(
            (check.ran.stdout.as_str(), check.ran.passed),
            ("once\n", true)
        );
        assert_eq!(written.replayed, replayed);
    }
    bench.runs.execute(&order, &Pause::default()).unwrap();
    let paused = bench.runs.execute(&order, &check).unwrap();
    let refused = paused.outcome.refused.unwrap();
    assert_eq!(refused.code, "paused");
    assert_eq!(
        fs::read_to_string(root.join("inner/count.txt")).unwrap(),
        "once\n"
    );
}
