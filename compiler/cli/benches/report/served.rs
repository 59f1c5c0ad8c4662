//! Calls of `statemark serve` over standard input and output: a send and a read, by the size of context and journal.

use serde_json::{Value, json};
use statemark_harness::instructions::{Cost, counted};

use crate::bench::{Bench, table};
use crate::client::{Client, serve};
use crate::shell::Scratch;

/// Calls of which the difference is taken, so that the start doesn't count.
const CALLS: [u64; 2] = [20, 120];

/// Context fields of the runs.
const FIELDS: [usize; 4] = [2, 100, 1_000, 10_000];

/// Records of the runs before the calls that count.
const RECORDS: [u64; 3] = [10, 1_000, 10_000];

pub(crate) fn section(bench: &Bench) -> String {
    let mut rows = Vec::new();
    for fields in FIELDS {
        rows.push(row(bench, format!("{fields} context fields"), fields, 0));
    }
    for records in RECORDS {
        rows.push(row(bench, format!("{records} records before"), 2, records));
    }
    String::from(
        "`serve` over standard input and output, JSON and protocol included, each send committed to SQLite. \
         The send's event has data that are checked, a guard, and an assignment.\n\n",
    ) + &table(
        &["instructions of a call", "`send_event`", "`get_run`"],
        &rows,
    )
}

fn row(bench: &Bench, name: String, fields: usize, records: u64) -> Vec<String> {
    let scratch = Scratch::new("bench-served");
    scratch.write("tick.md", &spec(fields));
    let mut client = Client::start(&scratch.path, &[]);
    expect_ok(&client.call("start_run", &json!({"workflow": "tick", "run_id": "r"})));
    for _ in 0..records {
        expect_ok(&client.call("send_event", &send()));
    }
    assert_eq!(client.leave(), Some(0));
    let cost = |tool: &str, arguments: &Value| {
        let [few, many] = CALLS.map(|calls| {
            let profile = bench.profile();
            let server = counted(&serve(&scratch.path, &[]), &profile);
            let mut client = Client::try_start(server).unwrap();
            for _ in 0..calls {
                expect_ok(&client.call(tool, arguments));
            }
            assert_eq!(client.leave(), Some(0));
            // What looks for changes by others does so by the clock.
            let cost = Cost::of_profile(&profile).unwrap();
            cost.without("statemark_server::notifications")
        });
        Cost::of_one((&few, CALLS[0]), (&many, CALLS[1]))
            .total
            .to_string()
    };
    vec![
        name,
        cost("send_event", &send()),
        cost("get_run", &json!({"run_id": "r"})),
    ]
}

fn send() -> Value {
    json!({"run_id": "r", "event": "tick", "data": {"by": "ann"}})
}

fn expect_ok(answer: &Value) {
    assert_eq!(answer["ok"], true, "{answer}");
}

/// Returns a machine with that many context fields, of which an event reads and changes one.
pub(crate) fn spec(fields: usize) -> String {
    let others: Vec<String> = (1..fields)
        .map(|at| format!(", \"field_{at}\": {at}"))
        .collect();
    let others = others.concat();
    format!(
        "## STATE-MACHINE: tick\n\n```mermaid\nstateDiagram-v2\n    [*] --> on\n    on --> on : tick [count < 1000000] / add\n\
         \x20   on --> [*] : stop\n```\n\n```json definition\n{{\"context\": {{\"count\": 0{others}}},\n\
         \"actions\": {{\"add\": {{\"assign\": {{\"count\": \"count + 1\"}}}}}},\n\
         \"events\": {{\"tick\": {{\"data\": {{\"properties\": {{\"by\": {{\"type\": \"string\"}}}}, \"required\": [\"by\"]}}}}}}}}\n```\n"
    )
}
