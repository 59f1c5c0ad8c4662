//! Growth: commands over stores with few runs and with many, where what has nothing to do with a run must not cost more for
//! it; and how much is written for each send, run and part of a machine.

use serde_json::json;

use crate::bench::{Bench, millions, table};
use crate::client::Client;
use crate::measure::figures;
use crate::served::spec;
use crate::shell::Scratch;

/// Runs in the store.
const RUNS: [usize; 3] = [10, 1_000, 20_000];

pub(crate) fn section(bench: &Bench) -> String {
    let commands: &[&[&str]] = &[
        &["runs"],
        &["runs", "--workflow", "other"],
        &["inbox"],
        &["state", "run-7"],
        &["why", "run-7"],
        &["send", "run-7", "tick", "--data", r#"{"by":"ann"}"#],
        &["fork", "run-7"],
    ];
    let mut rows: Vec<Vec<String>> = commands
        .iter()
        .map(|command| {
            vec![format!(
                "`{}`",
                command.get(..2).unwrap_or(command).join(" ")
            )]
        })
        .collect();
    for runs in RUNS {
        let scratch = Scratch::new("bench-growth");
        scratch.write("tick.md", &spec(2));
        let mut client = Client::start(&scratch.path, &[]);
        for number in 0..runs {
            let answer = client.call(
                "start_run",
                &json!({"workflow": "tick", "run_id": format!("run-{number}")}),
            );
            assert_eq!(answer["ok"], true, "{answer}");
        }
        assert_eq!(client.leave(), Some(0));
        for (row, command) in rows.iter_mut().zip(commands) {
            let count = bench.count_own(&scratch.path, command);
            row.push(format!("{:.2}", millions(count)));
        }
    }
    let columns = [
        "million instructions",
        "10 runs",
        "1,000 runs",
        "20,000 runs",
    ];
    let written = figures().into_iter();
    let written = written.map(|(what, unit, count)| vec![what, format!("{count} {unit}")]);
    let written: Vec<Vec<String>> = written.collect();
    format!(
        "Whole processes over an SQLite store.\n\n{}\nWhat is written for one more of them. A test holds it (`compiler/cli/tests/growth/`).\n\n{}",
        table(&columns, &rows),
        table(&["one more", "writes"], &written)
    )
}
