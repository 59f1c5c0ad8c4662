//! Whoever is told what to do can do it: every tool that is named to a client is one that the client is offered.
//!
//! Each choice of tools is walked: what is said at connect, the descriptions and schemas, the prompts, and the answers of
//! every tool to calls that go wrong and to calls about runs that are blocked in different ways.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::client::{Client, serve};
use crate::shell::{Run, Scratch, perform};

/// The choices of tools: what `serve` is called with.
const CHOICES: [&[&str]; 25] = [
    &[],
    &["--read-only"],
    &["--toolsets", "runs"],
    &["--toolsets", "human"],
    &["--toolsets", "artifacts"],
    &["--toolsets", "time"],
    &["--toolsets", "author"],
    &["--toolsets", "project"],
    &["--toolsets", "agent"],
    &[
        "--toolsets",
        "runs,human,artifacts,time,author,project,agent",
    ],
    &["--allowed-tools", "get_run,explain_run"],
    &["--allowed-tools", "send_event,start_run"],
    &["--profile", "statewright"],
    &["--profile", "smithers"],
    &["--profile", "ralph"],
    &["--profile", "rstn"],
    &["--profile", "statewright", "--read-only"],
    &["--profile", "smithers", "--read-only"],
    &["--profile", "ralph", "--read-only"],
    &["--profile", "rstn", "--read-only"],
    &["--profile", "rstn", "--toolsets", "human"],
    &["--profile", "statewright", "--toolsets", "project"],
    &[
        "--profile",
        "statewright",
        "--allowed-tools",
        "statewright_transition,statewright_run_agent",
    ],
    &[
        "--profile",
        "statewright",
        "--allowed-tools",
        "statewright_load_workflow,statewright_pause",
    ],
    &[
        "--profile",
        "smithers",
        "--allowed-tools",
        "explain_run,list_workflows,replay_run",
    ],
];

/// A workflow with everything that can be in a run's way.
const DESK: &str = r##"# Desk

## STATE-MACHINE: desk

```mermaid
stateDiagram-v2
    [*] --> writing
    writing --> checking : done
    checking --> published : accept
    checking --> writing : reject
    checking --> testing : test
    testing --> published : tested [is_green]
    writing --> delegating : delegate
    delegating --> published : delegated
```

```json definition
{
  "artifacts": {"text": {"required_sections": ["Aim"]}},
  "checks": {"spell": {"command": ["true"]}},
  "context": {"green": false},
  "guards": {"is_green": {"field": "green", "op": "eq", "value": true}},
  "states": {
    "writing": {"requires": ["text", "spell"], "max_iterations": 50},
    "checking": {"on": {"accept": {"target": "published", "requires_approval": true}}},
    "delegating": {"invoke": "helper"},
    "published": {"type": "final"}
  }
}
```
"##;

/// A workflow of no consequence, and one that is broken.
const HELPER: &str = "# Helper\n\n## STATE-MACHINE: helper\n\n```mermaid\nstateDiagram-v2\n    [*] --> helping\n    helping --> [*] : helped\n```\n";
const BROKEN: &str =
    r#"{"id": "broken", "initial": "nowhere", "states": {"a": {"type": "final"}}}"#;

/// The runs, and what has happened to them.
const RUNS: [&str; 11] = [
    "statemark start helper --run-id fresh",
    "statemark start desk --run-id lacking",
    "statemark send lacking done",
    "statemark start helper --run-id paused",
    "statemark pause paused",
    "statemark start helper --run-id over",
    "statemark send over helped",
    "statemark start helper --run-id given-up",
    "statemark cancel given-up",
    "statemark start helper --run-id asking",
    "statemark ask asking --kind question --prompt 'Which?'",
];

/// What is tried for arguments of these names.
const VALUES: [(&str, &[&str]); 9] = [
    (
        "run_id",
        &[
            "fresh", "lacking", "paused", "over", "given-up", "asking", "nope", "a b",
        ],
    ),
    (
        "runId",
        &[
            "fresh", "lacking", "paused", "over", "given-up", "asking", "nope", "a b",
        ],
    ),
    ("workflow", &["desk", "broken", "nope"]),
    ("workflowId", &["desk", "broken", "nope"]),
    ("name", &["desk", "broken", "text", "spell", "nope"]),
    ("event", &["done", "helped", "nope"]),
    ("request_id", &["asking:2", "nope:1"]),
    ("artifact_type", &["plan", "text", "nope"]),
    ("status", &["completed", "needs_input", "nope"]),
];

/// Arguments that keep a call from waiting.
const AT_ONCE: [(&str, u64); 5] = [
    ("timeout_ms", 1),
    ("timeoutMs", 1),
    ("waitForStartMs", 1),
    ("timeoutSeconds", 1),
    ("pollSeconds", 1),
];

#[test]
fn nobody_is_told_of_a_tool_that_is_not_offered() {
    let scratch = Scratch::new("offers");
    scratch.write("desk.md", DESK);
    scratch.write("helper.md", HELPER);
    scratch.write("broken.workflow.json", BROKEN);
    for run in RUNS {
        perform(&Run::new(run), &scratch.path);
    }
    let folders = CHOICES.map(|choice| {
        let folder = scratch
            .path
            .join(choice.join("_").replace([',', '-'], "_") + "-");
        copy(&scratch.path, &folder);
        folder
    });
    let mut clients = CHOICES.map(|_| None);
    let mut known = BTreeSet::new();
    for ((client, choice), folder) in clients.iter_mut().zip(CHOICES).zip(&folders) {
        let (mut served, greeting) = Client::greet(serve(folder, choice)).unwrap();
        let tools = served.ask("tools/list", &json!({}))["result"]["tools"].take();
        let tools: Vec<Value> = serde_json::from_value(tools).unwrap();
        known.extend(tools.iter().map(name_of));
        *client = Some((served, greeting, tools));
    }
    let mut wrong = BTreeSet::new();
    let mut said = 0;
    for (client, choice) in clients.iter_mut().zip(CHOICES) {
        let (client, greeting, tools) = client.as_mut().unwrap();
        let own: BTreeSet<String> = tools.iter().map(name_of).collect();
        let mut check = |what: &str, value: &Value| {
            said += 1;
            for name in mentions(value, &known) {
                if !own.contains(&name) {
                    wrong.insert(format!("{choice:?} {what} names `{name}`"));
                }
            }
        };
        check("at connect", &greeting["result"]["instructions"]);
        for tool in &*tools {
            check(
                &name_of(tool),
                &json!([tool["description"], tool["inputSchema"]]),
            );
        }
        let prompts = client.ask("prompts/list", &json!({}))["result"]["prompts"].take();
        for prompt in prompts.as_array().unwrap() {
            check("prompts/list", prompt);
            for arguments in [
                json!({}),
                json!({"run_id": "fresh"}),
                json!({"workflow": "nope"}),
            ] {
                let params = json!({"name": prompt["name"], "arguments": arguments});
                check("prompts/get", &client.ask("prompts/get", &params));
            }
        }
        for uri in [
            "statemark://nothing",
            "statemark://workflow/broken",
            "statemark://run/nope",
        ] {
            check(
                "resources/read",
                &client.ask("resources/read", &json!({"uri": uri})),
            );
        }
        // Those that only read come first: the runs are still as they were.
        let reads = |tool: &&Value| tool["annotations"]["readOnlyHint"] == true;
        let (first, then): (Vec<_>, Vec<_>) = tools.iter().partition(reads);
        for tool in first.into_iter().chain(then) {
            let name = name_of(tool);
            // What the documentation says is about all tools.
            if name.ends_with("search_docs") || name == "ask_human" {
                continue;
            }
            for arguments in calls(tool) {
                let answer =
                    client.ask("tools/call", &json!({"name": name, "arguments": arguments}));
                check(&format!("{name} {arguments}"), &answer["result"]["content"]);
            }
        }
    }
    let wrong: Vec<String> = wrong.into_iter().collect();
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(said > 1_500, "only {said} answers");
}

fn name_of(tool: &Value) -> String {
    tool["name"].as_str().unwrap().to_owned()
}

/// Returns calls of a tool: without arguments, and with each value that there is for one, beside the required ones.
fn calls(tool: &Value) -> Vec<Value> {
    let properties = tool["inputSchema"]["properties"].as_object();
    let properties = properties.cloned().unwrap_or_default();
    let required = tool["inputSchema"]["required"].as_array();
    let required = required.into_iter().flatten();
    let mut base: Map<String, Value> = required
        .map(|name| {
            let name = name.as_str().unwrap();
            (name.to_owned(), filler(name, &properties[name]))
        })
        .collect();
    for (name, value) in AT_ONCE {
        if properties.contains_key(name) {
            base.insert(name.to_owned(), json!(value));
        }
    }
    let mut calls = vec![json!({}), json!(base)];
    for (name, values) in VALUES {
        if properties.contains_key(name) {
            calls.extend(values.iter().map(|value| {
                let mut call = base.clone();
                call.insert(name.to_owned(), json!(value));
                json!(call)
            }));
        }
    }
    calls
}

/// Returns a value for a required argument.
fn filler(name: &str, schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    let known = VALUES.iter().find(|(known, _)| *known == name);
    match schema["type"].as_str() {
        Some("object") => json!({}),
        Some("array") => json!([]),
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        _ => json!(known.map_or("x", |(_, values)| values[0])),
    }
}

/// Returns the tools that a value names: under `tool`, or as words that are nothing else.
fn mentions(value: &Value, known: &BTreeSet<String>) -> BTreeSet<String> {
    match value {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner @ (Value::Object(_) | Value::Array(_))) => mentions(&inner, known),
            _ => words(text, known),
        },
        Value::Array(items) => items
            .iter()
            .flat_map(|item| mentions(item, known))
            .collect(),
        Value::Object(fields) => {
            let inner = fields.iter().flat_map(|(key, value)| match value {
                Value::String(name) if key == "tool" && known.contains(name) => {
                    BTreeSet::from([name.clone()])
                }
                value => mentions(value, known),
            });
            inner.collect()
        }
        _ => BTreeSet::new(),
    }
}

/// Returns the names of tools in a text. A single English word is none.
fn words(text: &str, known: &BTreeSet<String>) -> BTreeSet<String> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let names = words.filter(|word| word.contains('_') && known.contains(*word));
    names.map(str::to_owned).collect()
}

/// Copies the files and the store of a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_file() {
            fs::copy(&path, &target).unwrap();
        } else if path.ends_with(".statemark") {
            copy(&path, &target);
        }
    }
}
