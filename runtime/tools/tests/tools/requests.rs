//! Pages of requests: what is settled between two of them hides no other.

use serde_json::{Map, Value, json};
use statemark_runs::{Actor, Role};
use statemark_tools::Caller;

use crate::bench::Bench;

const SPEC: &str = "# Desk

## STATE-MACHINE

```json definition
{\"id\": \"desk\", \"initial\": \"open\", \"states\": {\"open\": {}}}
```
";

fn call(bench: &Bench, caller: &Caller, tool: &str, arguments: Value) -> Value {
    let arguments: Map<String, Value> = serde_json::from_value(arguments).unwrap();
    let (answer, is_error) = bench.call(caller, tool, arguments).expect("a tool");
    assert!(!is_error, "{tool}: {answer}");
    answer["data"].clone()
}

#[test]
fn no_page_leaves_out_what_is_open() {
    let bench = Bench::new(&[("desk.md", SPEC)]);
    let agent = Caller::agent();
    let ann = Caller {
        actor: Actor::new(Role::Person),
        ..Caller::agent()
    };
    let mut open = Vec::new();
    for run in ["r2", "r1"] {
        call(
            &bench,
            &agent,
            "start_run",
            json!({"workflow": "desk", "run_id": run}),
        );
        for _ in 0..9 {
            let ask = json!({"run_id": run, "kind": "text", "prompt": "x".repeat(3000)});
            let asked = call(&bench, &agent, "request_human", ask);
            open.push(asked["request_id"].as_str().unwrap().to_owned());
        }
    }
    // One that is told in pieces.
    let ask = json!({"run_id": "r1", "kind": "text", "prompt": "y".repeat(40_000)});
    let large = call(&bench, &agent, "request_human", ask)["request_id"].clone();
    let (mut seen, mut pieces, mut cursor) = (Vec::new(), 0, Value::Null);
    loop {
        let page = call(&bench, &agent, "list_requests", json!({"cursor": cursor}));
        for one in page["requests"].as_array().unwrap() {
            match one["request_id"].as_str() {
                Some(id) if large == id => pieces += 1,
                Some(id) => seen.push(id.to_owned()),
                None => pieces += 1,
            }
        }
        cursor = page["cursor"].clone();
        if cursor.is_null() {
            break;
        }
        // Somebody settles what has been told, and the one that would be told next.
        let rest = open.iter().find(|it| !seen.contains(it)).cloned();
        for id in seen.iter().cloned().chain(rest.filter(|_| seen.len() < 6)) {
            if open.contains(&id) {
                let answer = json!({"request_id": id, "action": "answer", "answer": "z"});
                call(&bench, &ann, "resolve_request", answer);
                open.retain(|it| *it != id);
            }
        }
    }
    let missed: Vec<&String> = open.iter().filter(|it| !seen.contains(it)).collect();
    assert!(missed.is_empty(), "{missed:?}");
    seen.sort();
    let all = seen.len();
    seen.dedup();
    assert_eq!(seen.len(), all, "each once");
    assert!(pieces > 2, "{pieces}");
}

#[test]
fn what_no_record_holds_is_too_large() {
    let bench = Bench::new(&[("desk.md", SPEC)]);
    let agent = Caller::agent();
    let dispatcher = json!({"workflow": "desk", "run_id": "r"});
    call(&bench, &agent, "start_run", dispatcher);
    let (large, larger) = ("x".repeat(700_000), "x".repeat(2 << 20));
    for (tool, arguments, code) in [
        (
            "start_run",
            json!({"workflow": "desk", "input": {"large": large}}),
            "too_large",
        ),
        (
            "start_run",
            json!({"workflow": "desk", "input": {"large": larger}}),
            "bad_data",
        ),
        (
            "report_progress",
            json!({"run_id": "r", "message": larger}),
            "too_large",
        ),
        (
            "request_human",
            json!({"run_id": "r", "kind": "text", "prompt": larger}),
            "too_large",
        ),
    ] {
        let arguments: Map<String, Value> = serde_json::from_value(arguments).unwrap();
        let (answer, _) = bench.call(&agent, tool, arguments).expect("a tool");
        let error = &answer["error"];
        assert_eq!(error["code"], code, "{tool}: {error}");
    }
}
