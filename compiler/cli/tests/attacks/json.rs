//! JSON that reads in two ways: a key that stands twice, of which each reader takes another.
//!
//! Whoever stands between, such as a proxy, a reviewer or another program, sees the first `accept`, and we would take the
//! second. So it is refused wherever something is decided by it, with both places.

use std::fs;

use serde_json::Value;
use statemark_runs::Hash;

use super::{attacked, done, in_time};
use crate::served::client::Client;
use crate::served::raw::Listening;
use crate::shell::{Run, Scratch, perform, statemark};

const DESK: &str = r#"# Desk

## STATE-MACHINE: desk

```mermaid
stateDiagram-v2
    [*] --> open
    open --> open : note
    open --> shut : shut
```

```json definition
{"id": "desk", "context": {"limit": 1}, "inputs": ["limit"], "artifacts": {
  "verdict": {"schema": {"type": "object"}},
  "report": {"sections": [{"heading": "Facts", "schema": {"type": "object"}}]}
}}
```
"#;

fn project(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.write("desk.md", DESK);
    done(&scratch, &["start", "desk", "--run-id", "d1"]);
    scratch
}

/// An object that has a key twice, once in other letters.
const TWICE: &str = r#"{"verdict": {"passed": false, "by": "ann", "p\u0061ssed": true}}"#;

fn is_refused(code: i32, told: &str) {
    assert_ne!(code, 0, "{told}");
    assert!(told.contains("`passed`"), "{told}");
    let both = [
        "column 14 and at column 44",
        ":1:44: `passed` stands twice in one object: first at line 1, column 14",
    ];
    assert!(both.iter().any(|places| told.contains(places)), "{told}");
}

#[test]
fn third_no_command_takes_a_key_twice() {
    let scratch = project("third-json-commands");
    scratch.write("verdict.json", TWICE);
    let request = done(
        &scratch,
        &[
            "ask",
            "d1",
            "how many?",
            "--kind",
            "json",
            "--schema",
            "{}",
            "--json",
        ],
    )
    .stdout;
    let request: Value = serde_json::from_str(&request).unwrap();
    let request = find(&request, "request").unwrap().to_owned();
    for words in [
        vec!["send", "d1", "note", "--data", TWICE],
        vec!["start", "desk", "--input", TWICE],
        vec![
            "artifacts",
            "put",
            "d1",
            "verdict",
            "verdict.json",
            "--final",
        ],
        vec!["artifacts", "check", "d1", "verdict", "verdict.json"],
    ] {
        let said = attacked(&scratch, &words);
        is_refused(
            said.code,
            &format!("{words:?}: {}{}", said.stdout, said.stderr),
        );
    }
    let answer = format!("AS=ann statemark answer {request} '{TWICE}'");
    let said = perform(&Run::new(&answer), &scratch.path);
    is_refused(said.code, &format!("{}{}", said.stdout, said.stderr));
    scratch.write(
        "events.txt",
        &format!("{{\"event\": \"note\", \"data\": {TWICE}}}\n"),
    );
    let said = attacked(&scratch, &["simulate", "desk.md", "--events", "events.txt"]);
    assert_ne!(said.code, 0, "{}", said.stdout);
    assert!(
        said.stderr.contains("`passed`"),
        "{}{}",
        said.stdout,
        said.stderr
    );
    // No event and no answer is in the journal, and the same without the second is taken.
    let events = done(&scratch, &["events", "d1", "--json"]).stdout;
    assert!(
        !events.contains("note") && !events.contains("resolved"),
        "{events}"
    );
    done(
        &scratch,
        &[
            "send",
            "d1",
            "note",
            "--data",
            r#"{"verdict": {"passed": true}}"#,
        ],
    );
}

/// The first text at a key, wherever it stands.
fn find<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    match value {
        Value::Object(fields) => {
            let own = fields.get(key).and_then(Value::as_str);
            own.or_else(|| fields.values().find_map(|value| find(value, key)))
        }
        Value::Array(items) => items.iter().find_map(|value| find(value, key)),
        _ => None,
    }
}

#[test]
fn third_no_server_takes_a_key_twice() {
    let scratch = project("third-json-served");
    let arguments = r#"{"run_id": "d1", "event": "note", "event": "shut"}"#;
    let call = format!(
        r#"{{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {{"name": "send_event", "arguments": {arguments}}}}}"#
    );
    let mut client = Client::start(&scratch.path, &[]);
    let answer = client.say_text(&call);
    assert_eq!(answer["id"], 5, "{answer}");
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("`event`"),
        "{answer}"
    );
    assert_eq!(client.leave(), Some(0));
    let server = Listening::start(&scratch.path, &[]);
    let head = |path: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n",
            server.at()
        )
    };
    for (path, body) in [
        ("/mcp", call.as_str()),
        (
            "/api/runs/d1/events",
            r#"{"event": "note", "event": "shut"}"#,
        ),
    ] {
        let answer = server.raw(&head(path), body.as_bytes());
        assert_eq!(answer.status, 400, "{path}: {answer:?}");
        assert!(answer.body.contains("stands twice"), "{path}: {answer:?}");
    }
    let state = done(&scratch, &["events", "d1", "--json"]).stdout;
    assert!(
        !state.contains("shut") && !state.contains("note"),
        "{state}"
    );
}

/// An export with the hash of its only run's lines, as whoever forges it makes it.
fn with_its_end(export: &str) -> String {
    let (header, rest) = export.split_once('\n').unwrap();
    let (lines, _) = rest.split_once("{\"end\"").unwrap();
    let hash = Hash::digest(lines.as_bytes());
    format!("{header}\n{lines}{{\"end\":\"{hash}\"}}\n")
}

#[test]
fn third_no_bundle_and_no_journal_has_a_key_twice() {
    let scratch = project("third-json-bundle");
    done(
        &scratch,
        &["send", "d1", "note", "--data", r#"{"by": "ann"}"#],
    );
    done(&scratch, &["store", "export", "runs.jsonl"]);
    let text = fs::read_to_string(scratch.path.join("runs.jsonl")).unwrap();
    let (one, other) = (r#"{\"by\":\"ann\"}"#, r#"{\"by\":\"eve\",\"by\":\"ann\"}"#);
    assert!(text.contains(one), "{text}");
    let head = text.replacen("{\"run\":{", "{\"run\":{\"seq\":1,", 1);
    for (name, forged) in [("body", text.replace(one, other)), ("line", head)] {
        scratch.write("forged.jsonl", &with_its_end(&forged));
        let import = "AS=ann statemark store import forged.jsonl --store other.db";
        let said = perform(&Run::new(import), &scratch.path);
        assert_ne!(said.code, 0, "{name}: {}", said.stdout);
        assert!(
            said.stderr.contains("stands twice"),
            "{name}: {}",
            said.stderr
        );
    }
    // Whoever can write to the file makes the chain again.
    super::proof::forge(
        &scratch,
        "d1",
        r#"{"by":"ann"}"#,
        r#"{"by":"eve","by":"ann"}"#,
    );
    let mut verify = statemark(&scratch.path);
    verify.args(["store", "verify"]);
    let said = in_time(verify);
    assert_eq!(said.code, 1, "{}", said.stdout);
    assert!(said.stdout.contains("`by` stands twice"), "{}", said.stdout);
}
