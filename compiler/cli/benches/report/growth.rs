//! Commands over stores with few runs and with many: what has nothing to do with a run must not cost more for it.

use serde_json::json;

use crate::bench::{Bench, millions, table};
use crate::client::Client;
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
    String::from("Whole processes over an SQLite store.\n\n") + &table(&columns, &rows)
}
