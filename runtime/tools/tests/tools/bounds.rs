//! Replies stay within their bound, however large a run or a workflow is, and the rest can be had.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use statemark_runs::body::RequestKind;
use statemark_runs::runs::{PutArtifact, WriteRaw};
use statemark_runs::{Actor, Body, Loaded, OpenRequest, Order, Role, Runs, SendEvent, StartRun};
use statemark_tools::{Caller, Options, Set};

use crate::bench::Bench;

/// Most bytes of a reply.
const MOST: usize = 16 << 10;

/// Most bytes of the list of tools that are offered unless others are named.
const LIST: usize = 25 << 10;

/// How long the longest run is, and how long it is where there is no time. Unit: records.
const RECORDS: u64 = 100_000;
const FEW: u64 = 3_000;

/// How many artifacts and open requests the widest run has.
const MANY: usize = 500;

/// How many states the largest workflow has.
const STATES: usize = 2_000;

const PING: &str = r#"# Ping

## STATE-MACHINE

```json definition
{
  "id": "ping",
  "initial": "here",
  "states": {"here": {"on": {"go": "there"}}, "there": {"on": {"back": "here"}}}
}
```
"#;

fn order(run: &str) -> Order {
    Order::new(run.parse().unwrap(), Actor::new(Role::Agent))
}

/// A workflow whose first state leads to all others, and says a lot.
fn large() -> String {
    let mut states = String::new();
    for number in 1..STATES {
        let _ = write!(states, ", \"s{number}\": {{\"on\": {{\"back\": \"hub\"}}}}");
    }
    let ways: Vec<String> = (1..STATES)
        .map(|it| format!("\"to{it}\": \"s{it}\""))
        .collect();
    let tools: Vec<String> = (0..300).map(|it| format!("\"tool_number_{it}\"")).collect();
    let artifacts: Vec<String> = (0..200).map(|it| format!("\"paper{it}\": {{}}")).collect();
    let said = "Do this, and then that. ".repeat(1_000);
    format!(
        "# Large\n\n## STATE-MACHINE\n\n```json definition\n{{\"id\": \"large\", \"initial\": \"hub\", \
         \"artifacts\": {{{}}}, \"states\": {{\"hub\": {{\"instructions\": \"{said}\", \
         \"allowed_tools\": [{}], \"on\": {{{}}}}}{states}}}}}\n```\n",
        artifacts.join(", "),
        tools.join(", "),
        ways.join(", "),
    )
}

/// A run of so many records: the same two events again and again.
fn lengthen(runs: &Runs, records: u64) {
    let start = StartRun {
        workflow: "ping".to_owned(),
        ..StartRun::default()
    };
    runs.execute(&order("long"), &start).unwrap();
    let mut pair: Vec<Body> = Vec::new();
    for event in ["go", "back"] {
        let event = event.to_owned();
        let sent = runs
            .execute(
                &order("long"),
                &SendEvent {
                    event,
                    data: None,
                    ..SendEvent::default()
                },
            )
            .unwrap();
        pair.push(sent.records[0].read().unwrap());
    }
    let bodies: Vec<Body> = pair.iter().cycle().take(1_000).cloned().collect();
    loop {
        let raw = WriteRaw(|_: &Loaded, _| bodies.clone());
        let written = runs.execute(&order("long"), &raw).unwrap();
        if written.loaded.head.seq >= records {
            break;
        }
    }
}

/// A run with many artifacts, requests and a large context.
fn widen(runs: &Runs) {
    let start = StartRun {
        workflow: "ping".to_owned(),
        ..StartRun::default()
    };
    runs.execute(&order("wide"), &start).unwrap();
    for number in 0..MANY {
        let put = PutArtifact::draft(format!("paper {number}"), format!("Number {number}."));
        runs.execute(&order("wide"), &put).unwrap();
        let ask = OpenRequest {
            details: json!("Look at this. ".repeat(30)),
            ..OpenRequest::new(RequestKind::Text, format!("Question {number}?"))
        };
        runs.execute(&order("wide"), &ask).unwrap();
    }
    let put = PutArtifact::draft("long paper", "Ein \"Täg\".\n".repeat(20_000));
    runs.execute(&order("wide"), &put).unwrap();
    let ask = OpenRequest {
        details: json!("Look at this. ".repeat(5_000)),
        ..OpenRequest::new(RequestKind::Text, "A long question? ".repeat(2_000))
    };
    runs.execute(&order("wide"), &ask).unwrap();
    for (number, event) in ["go", "back", "go", "back"].into_iter().enumerate() {
        let event = event.to_owned();
        let data = json!({format!("field{number}"): "ö".repeat(130_000), format!("list{number}"): vec![1; 1_000]});
        let send = SendEvent {
            event,
            data: Some(data),
            ..SendEvent::default()
        };
        runs.execute(&order("wide"), &send).unwrap();
    }
}

fn bench() -> Bench {
    let mut bench = Bench::new(&[("ping.md", PING), ("large.md", &large())]);
    let sets = vec![Set::Runs, Set::Human, Set::Artifacts, Set::Time];
    let options = Options {
        sets,
        ..Options::default()
    };
    bench.serve(options).unwrap();
    bench
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().expect("arguments").clone()
}

/// What a tool answers; within the bound.
fn answer_within_bound(bench: &Bench, tool: &str, arguments: &Value) -> Value {
    answer_to(&Caller::agent(), bench, tool, arguments)
}

/// The same to another caller.
fn answer_to(caller: &Caller, bench: &Bench, tool: &str, arguments: &Value) -> Value {
    let began = std::time::Instant::now();
    let (answer, _) = bench.call(caller, tool, object(arguments)).expect("a tool");
    let size = answer.to_string().len();
    if std::env::var_os("SHOW").is_some() {
        eprintln!("{:>9.1?} {tool} {arguments}", began.elapsed());
    }
    assert!(size <= MOST, "{tool} {arguments}: {size} bytes");
    answer
}

/// Calls that ask for as much as there is, of tools that need more for it than a run.
const CALLS: &[(&str, &str)] = &[
    ("list_workflows", "{}"),
    ("describe_workflow", r#"{"workflow": "large"}"#),
    (
        "describe_workflow",
        r#"{"workflow": "large", "format": "mermaid"}"#,
    ),
    (
        "describe_workflow",
        r#"{"workflow": "large", "format": "markdown"}"#,
    ),
    ("describe_workflow", r#"{"workflow": "larch"}"#),
    ("start_run", r#"{"workflow": "large", "run_id": "many"}"#),
    ("start_run", r#"{"workflow": "larch"}"#),
    ("list_runs", "{}"),
    (
        "get_run",
        r#"{"run_id": "$", "include": ["visits", "context", "artifacts", "requests", "children", "config"], "visit": "here"}"#,
    ),
    ("send_event", r#"{"run_id": "$", "event": "none"}"#),
    (
        "send_event",
        r#"{"run_id": "$", "step": "nowhere", "status": "running"}"#,
    ),
    (
        "wait_run",
        r#"{"run_id": "$", "after_seq": 0, "timeout_ms": 0}"#,
    ),
    ("explain_run", r#"{"run_id": "$"}"#),
    ("explain_run", r#"{"run_id": "$", "event": "none"}"#),
    ("get_events", r#"{"run_id": "$", "limit": 500}"#),
    (
        "get_events",
        r#"{"run_id": "$", "limit": 500, "view": "transcript", "state": "here"}"#,
    ),
    (
        "get_events",
        r#"{"run_id": "$", "kinds": ["refused"], "limit": 500}"#,
    ),
    (
        "control_run",
        r#"{"run_id": "$", "action": "force", "state": "nowhere"}"#,
    ),
    (
        "request_human",
        r#"{"run_id": "$", "kind": "text", "prompt": ""}"#,
    ),
    ("list_requests", r#"{"run_id": "$"}"#),
    ("list_requests", "{}"),
    ("resolve_request", r#"{"run_id": "$", "action": "approve"}"#),
    (
        "resolve_request",
        r#"{"request_id": "$:1", "action": "approve"}"#,
    ),
    (
        "submit_artifact",
        r#"{"run_id": "$", "name": "paper x", "mode": "check"}"#,
    ),
    (
        "submit_artifact",
        r#"{"run_id": "$", "name": "a\nb", "mode": "draft", "content": "x"}"#,
    ),
    ("get_artifact", r#"{"run_id": "$"}"#),
    ("get_artifact", r#"{"run_id": "$", "name": "long paper"}"#),
    ("report_progress", r#"{"run_id": "$", "message": ""}"#),
    (
        "fork_run",
        r#"{"run_id": "$", "at_seq": 1, "dry_run": true}"#,
    ),
    ("rewind_run", r#"{"run_id": "$", "to": 1}"#),
    (
        "migrate_run",
        r#"{"run_id": "$", "workflow": "large", "dry_run": true}"#,
    ),
    (
        "migrate_run",
        r#"{"run_id": "$", "workflow": "ping", "dry_run": true}"#,
    ),
    ("checkpoint", r#"{"run_id": "$", "action": "list"}"#),
];

#[test]
fn every_reply_is_within_its_bound() {
    let bench = bench();
    widen(bench.dispatcher.runs());
    lengthen(bench.dispatcher.runs(), FEW);
    ask(&bench, &["many", "wide", "long"]);
    whole(&bench);
}

#[test]
#[ignore = "takes minutes where nothing is optimized"]
fn every_reply_about_a_long_run_is_within_its_bound() {
    let bench = bench();
    lengthen(bench.dispatcher.runs(), RECORDS);
    ask(&bench, &["long"]);
}

/// Asks everything of each run. A tool without a call of its own is asked about the run.
fn ask(bench: &Bench, runs: &[&str]) {
    let tools = bench
        .dispatcher
        .tools()
        .iter()
        .map(|tool| tool.own_name().unwrap());
    let others = tools.filter(|name| CALLS.iter().all(|(tool, _)| tool != name));
    let others: Vec<&str> = others.collect();
    for run in runs {
        for tool in &others {
            let answer = answer_within_bound(bench, tool, &json!({"run_id": run}));
            let needs_more = answer["error"]["code"] == "invalid_arguments";
            assert!(
                !needs_more,
                "`{tool}` has no call in `CALLS` of {}",
                file!()
            );
        }
        for (tool, arguments) in CALLS {
            let arguments = serde_json::from_str(&arguments.replace('$', run)).unwrap();
            answer_within_bound(bench, tool, &arguments);
        }
    }
}

/// What was cut is all there, page by page.
fn whole(bench: &Bench) {
    answer_within_bound(
        bench,
        "start_run",
        &json!({"workflow": "large", "run_id": "many"}),
    );
    let described = json!({"workflow": "large"});
    let mut states = pages(bench, "describe_workflow", &described, "states");
    // What the hub says comes in pieces.
    states.retain(|it| it.get("json").is_none());
    let transitions = pages(bench, "describe_workflow", &described, "transitions");
    assert_eq!(
        (states.len(), transitions.len()),
        (STATES - 1, 2 * (STATES - 1))
    );
    let wide = json!({"run_id": "wide"});
    assert_eq!(
        pages(bench, "get_artifact", &wide, "artifacts").len(),
        MANY + 1
    );
    let runs = bench.dispatcher.runs();
    let loaded = runs.load(&"wide".parse().unwrap()).unwrap();
    let mut blockers = pages(bench, "explain_run", &wide, "blockers");
    // The long question comes in pieces.
    blockers.retain(|it| it.get("json").is_none());
    assert_eq!(
        blockers.len() + 1,
        statemark_runs::explain(&loaded, None)
            .unwrap()
            .reasons
            .len()
    );
    // The other run doesn't grant it to an agent.
    let ann = Caller {
        actor: Actor::new(Role::Person),
        ..Caller::agent()
    };
    let visits = pages_to(&ann, bench, "get_timeline", &wide, "visits");
    assert_eq!(visits.len(), 5);
    let asked = pages(bench, "list_requests", &wide, "requests");
    let pieces = asked.iter().filter_map(|it| it.get("json")?.as_str());
    let long: Value = serde_json::from_str(&pieces.collect::<String>()).unwrap();
    assert_eq!(long["details"], json!("Look at this. ".repeat(5_000)));
    assert_eq!(
        asked.iter().filter(|it| it.get("json").is_none()).count(),
        MANY
    );

    let mut text = String::new();
    let mut offset = json!(0);
    while !offset.is_null() {
        let arguments = json!({"run_id": "wide", "name": "long paper", "offset": offset});
        let answer = answer_within_bound(bench, "get_artifact", &arguments);
        text += answer["data"]["content"].as_str().unwrap();
        offset = answer["data"]["next_offset"].clone();
    }
    assert_eq!(text, "Ein \"Täg\".\n".repeat(20_000));

    let state = &loaded.state;
    assert!(json!(state.context).to_string().len() > 1_000_000);
    let shown = answer_within_bound(
        bench,
        "get_run",
        &json!({"run_id": "wide", "include": ["context"]}),
    );
    let rest = shown["data"]["cursors"][0].as_str().unwrap();
    assert!(rest.starts_with("context:0:"), "{rest}");
    assert_eq!(
        parts(bench, "many", "instructions")["hub"],
        json!("Do this, and then that. ".repeat(1_000))
    );
    assert_eq!(
        parts(bench, "many", "legal").as_array().unwrap().len(),
        STATES - 1
    );
}

/// All items of a list, by its cursors.
fn pages(bench: &Bench, tool: &str, arguments: &Value, name: &str) -> Vec<Value> {
    pages_to(&Caller::agent(), bench, tool, arguments, name)
}

/// The same to another caller.
fn pages_to(
    caller: &Caller,
    bench: &Bench,
    tool: &str,
    arguments: &Value,
    name: &str,
) -> Vec<Value> {
    let mut arguments = object(arguments);
    let mut all = Vec::new();
    loop {
        let answer = answer_to(caller, bench, tool, &Value::Object(arguments.clone()));
        let data = &answer["data"];
        all.extend(data[name].as_array().cloned().unwrap_or_default());
        let Some(cursor) = data.get("cursor") else {
            return all;
        };
        arguments.insert("cursor".to_owned(), cursor.clone());
    }
}

/// A part of a run, by the cursors of `get_run`.
fn parts(bench: &Bench, run: &str, part: &str) -> Value {
    let mut all = Vec::new();
    let mut cursor = format!("{part}:0");
    loop {
        let answer =
            answer_within_bound(bench, "get_run", &json!({"run_id": run, "cursor": cursor}));
        match &answer["data"][part] {
            Value::Array(items) => all.extend(items.iter().map(|it| (String::new(), it.clone()))),
            items => all.extend(object(items)),
        }
        match answer["data"]["cursors"].as_array().unwrap().as_slice() {
            [next] => cursor = next.as_str().unwrap().to_owned(),
            _ => break,
        }
    }
    if all.iter().all(|(name, _)| name.is_empty()) {
        return Value::Array(all.into_iter().map(|(_, it)| it).collect());
    }
    let mut joined: Map<String, Value> = Map::new();
    let mut texts: Map<String, Value> = Map::new();
    for (name, item) in all {
        match item.get("json") {
            Some(Value::String(piece)) => {
                let before = texts.get(&name).and_then(Value::as_str).unwrap_or_default();
                let text = format!("{before}{piece}");
                texts.insert(name, json!(text));
            }
            _ => drop(joined.insert(name, item)),
        }
    }
    for (name, text) in texts {
        joined.insert(name, serde_json::from_str(text.as_str().unwrap()).unwrap());
    }
    Value::Object(joined)
}

#[test]
fn the_list_of_tools_is_small() {
    let bench = Bench::new(&[("ping.md", PING)]);
    // As clients are sent it.
    let tools = bench.dispatcher.tools().iter().map(|tool| {
        json!({
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.input,
            "outputSchema": tool.output,
            "annotations": {
                "readOnlyHint": tool.annotations.read_only,
                "destructiveHint": tool.annotations.destructive,
                "idempotentHint": tool.annotations.idempotent,
                "openWorldHint": false,
            },
        })
    });
    let list = json!({"tools": tools.collect::<Vec<_>>()}).to_string();
    assert!(list.len() <= LIST, "{} bytes", list.len());
}
