//! Whole processes: what somebody pays who types a command, or a hook that runs one.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::bench::{Bench, millions, table};
use crate::client::Client;
use crate::served::spec;
use crate::shell::{Scratch, statemark};

/// A workflow whose first state grants one tool of a client's own.
const GATED: &str = r#"{"id": "gated", "initial": "look", "states": {
    "look": {"allowed_tools": ["Read"], "on": {"TURN": "back"}},
    "back": {"allowed_tools": ["Read"], "on": {"TURN": "look"}}
}}"#;

pub(crate) fn section(bench: &Bench) -> String {
    let scratch = Scratch::new("bench-start");
    scratch.write("tick.md", &spec(2));
    let mut client = Client::start(&scratch.path, &[]);
    client.call("start_run", &json!({"workflow": "tick", "run_id": "r"}));
    assert_eq!(client.leave(), Some(0));
    let empty = bench.peers.join("empty");
    fs::write(empty.with_extension("rs"), "fn main() {}\n").unwrap();
    let mut rustc = Command::new("rustc");
    rustc
        .args(["-O", "-o"])
        .arg(&empty)
        .arg(empty.with_extension("rs"));
    assert!(rustc.status().unwrap().success());
    let mut rows = vec![vec![
        "an empty Rust program".to_owned(),
        million(bench.count(&Command::new(&empty))),
    ]];
    let commands: &[&[&str]] = &[
        &["--version"],
        &["--help"],
        &["state", "r"],
        &["send", "r", "tick", "--data", r#"{"by":"ann"}"#],
        &["send", "r", "tock"],
    ];
    for arguments in commands {
        let count = bench.count_own(&scratch.path, arguments);
        rows.push(vec![
            format!("`statemark {}`", arguments.join(" ")),
            million(count),
        ]);
    }
    for records in [10, 10_000] {
        let count = count_hook(bench, records);
        rows.push(vec![
            format!("`statemark hook claude`, in a run of {records} records"),
            million(count),
        ]);
    }
    table(&["whole process", "million instructions"], &rows)
}

/// Counts what the hook costs that a client runs before a tool which the state grants.
fn count_hook(bench: &Bench, records: usize) -> u64 {
    let scratch = Scratch::new("bench-hook");
    scratch.write("gated.workflow.json", GATED);
    let mut client = Client::start(&scratch.path, &[]);
    client.call("start_run", &json!({"workflow": "gated", "run_id": "r"}));
    for _ in 1..records {
        let sent = client.call("send_event", &json!({"run_id": "r", "event": "TURN"}));
        assert_eq!(sent["ok"], true, "{sent}");
    }
    assert_eq!(client.leave(), Some(0));
    let call = json!({
        "session_id": "s", "hook_event_name": "PreToolUse", "cwd": scratch.path,
        "tool_name": "Read", "tool_input": {"file_path": scratch.path.join("gated.workflow.json")},
    });
    let input = scratch.path.join("call.json");
    fs::write(&input, call.to_string()).unwrap();
    let mut hook = statemark(&scratch.path);
    hook.args(["hook", "claude"]).env("STATEMARK_RUN", "r");
    bench.count_fed(&hook, Stdio::from(File::open(&input).unwrap()))
}

fn million(count: u64) -> String {
    format!("{:.2}", millions(count))
}
