//! One policy at every door: the same calls by a client's own tools, which a hook judges, and by the packs of a server.
//!
//! `doors.json` has a row for each key of policy: what a state says, and calls with what must come of each. Every row is
//! played at each door, with a run of its own. A refusal is compared by a part of its text, since each door calls a tool by
//! its own name.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::served::client::Client;
use crate::shell::{Run, Scratch, perform};

/// A key of policy, with a state that has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// What is held, in words.
    what: String,
    /// The state.
    state: Value,
    calls: Vec<Call>,
}

/// A call, as each door has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    /// A tool of a pack, and its arguments.
    pack: (String, Value),
    /// A tool of Claude Code, and its input.
    native: (String, Value),
    /// A part of the refusal; none if the call is allowed.
    #[serde(default)]
    refused: Option<String>,
}

/// The keys of a state that are policy for calls. `env_overrides` is told by what a command sees, not by a verdict.
const KEYS: [&str; 10] = [
    "allowed_commands",
    "allowed_tools",
    "capabilities",
    "context_budget_bytes",
    "disallowed_tools",
    "drain",
    "max_edit_lines",
    "max_files_per_state",
    "max_iterations",
    "on_max_iterations",
];

fn rows() -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/doors/doors.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// A project with a run in the state of a row.
fn project(row: &Row, door: &str) -> Scratch {
    let name: String = row
        .what
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let scratch = Scratch::new(&format!("doors-{door}-{name}"));
    let mut state = row.state.clone();
    state["on"] = json!({"go": "after"});
    let definition = json!({
        "id": "w", "initial": "here",
        "states": {"here": state, "after": {"allowed_tools": []}},
    });
    scratch.write("w.workflow.json", &definition.to_string());
    scratch.write(".git/HEAD", "ref: refs/heads/main\n");
    for name in ["src/a.rs", "src/b.rs", "src/c.rs", "docs/a.md"] {
        scratch.write(name, "one\ntwo\nthree\n");
    }
    let started = perform(&Run::new("statemark start w --run-id r"), &scratch.path);
    assert_eq!(
        started.code, 0,
        "{}: {}{}",
        row.what, started.stdout, started.stderr
    );
    scratch
}

/// Plays a row by a server with packs: the refusal of each call, if there is one.
fn by_packs(row: &Row) -> Vec<Option<String>> {
    let scratch = project(row, "packs");
    let mut client = Client::start(&scratch.path, &["--toolsets", "fs,exec", "--run", "r"]);
    let calls = row.calls.iter().map(|call| {
        let (tool, arguments) = &call.pack;
        let answer = client.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        let is_refused = result["isError"] == true;
        is_refused.then(|| text.to_owned())
    });
    calls.collect()
}

/// Plays a row by the hook of a client: the refusal of each call, if there is one.
fn by_hook(row: &Row) -> Vec<Option<String>> {
    let scratch = project(row, "hook");
    let hook = |event: Value| {
        let run = Run {
            stdin: Some(event.to_string()),
            ..Run::new("statemark hook claude")
        };
        let said = perform(&run, &scratch.path);
        assert_eq!(said.code, 0, "{}: {}{}", row.what, said.stdout, said.stderr);
        serde_json::from_str::<Value>(&said.stdout).unwrap_or_default()
    };
    let calls = row.calls.iter().enumerate().map(|(turn, call)| {
        let (tool, input) = &call.native;
        let event = |name: &str| {
            json!({
                "session_id": "s", "transcript_path": "/t.jsonl", "cwd": scratch.path, "permission_mode": "default",
                "hook_event_name": name, "tool_name": tool, "tool_input": input, "tool_use_id": format!("t{turn}"),
            })
        };
        let judged = hook(event("PreToolUse"));
        let judged = &judged["hookSpecificOutput"];
        if judged["permissionDecision"] == "deny" {
            let reason = judged["permissionDecisionReason"].as_str();
            return Some(reason.unwrap_or_default().to_owned());
        }
        let mut after = event("PostToolUse");
        after["tool_response"] = json!({"stdout": "one\ntwo\nthree\n"});
        hook(after);
        None
    });
    calls.collect()
}

#[test]
fn every_door_has_the_same_policy() {
    let mut wrong = Vec::new();
    for row in rows() {
        for (door, judged) in [("packs", by_packs(&row)), ("hook", by_hook(&row))] {
            for ((turn, call), judged) in row.calls.iter().enumerate().zip(judged) {
                let is_right = match (&call.refused, &judged) {
                    (None, None) => true,
                    (Some(part), Some(text)) => text.contains(part.as_str()),
                    _ => false,
                };
                if !is_right {
                    let expected = &call.refused;
                    wrong.push(format!(
                        "{} ({door}, call {turn}): {judged:?}, not {expected:?}",
                        row.what
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_key_of_policy_has_a_row() {
    let rows = rows();
    let keys = rows
        .iter()
        .flat_map(|row| row.state.as_object().unwrap().keys());
    let keys: BTreeSet<&str> = keys.map(String::as_str).collect();
    assert_eq!(keys, BTreeSet::from(KEYS));
}
