//! Which fields of an event's data become fields of the context, in runs under tables of today and of format 2.

use serde_json::{Map, Value, json};
use statemark_compiler::source::Sources;
use statemark_compiler::{Options, back, compile};
use statemark_runs::{Moment, RunId, StepInput, Stepper, Workflow};

/// The keys of a definition that decide, the data of `go`, the context after it, and what wasn't merged.
const RULES: &[(&str, &str, &str, &str)] = &[
    // An action assigns `done`; nobody who sends an event does.
    (
        "",
        r#"{"done": true, "word": 1}"#,
        r#"{"done": false, "word": 1}"#,
        "done",
    ),
    // A field of it is a part of it.
    (
        "",
        r#"{"deep": {"n": 9}, "flat": 1}"#,
        r#"{"deep": {"n": 1, "m": 2}, "flat": 1}"#,
        "deep",
    ),
    // A schema lists what an event brings, assigned or not.
    (
        r#""events": {"go": {"data": {"properties": {"done": {}}}}},"#,
        r#"{"done": true, "word": 1}"#,
        r#"{"done": true}"#,
        "word",
    ),
    (
        r#""events": {"go": {"data": {"properties": {}}}},"#,
        r#"{"word": 1}"#,
        "{}",
        "word",
    ),
    // A schema that lists nothing is none.
    (
        r#""events": {"go": {"data": {"type": "object"}}},"#,
        r#"{"word": 1, "done": 1}"#,
        r#"{"word": 1}"#,
        "done",
    ),
    // The rule of another event isn't this one's.
    (
        r#""events": {"stop": {"data": {"properties": {"done": {}}}}},"#,
        r#"{"done": true}"#,
        r#"{"done": false}"#,
        "done",
    ),
    // What the context doesn't declare isn't in it.
    (
        r#""context_schema": {"properties": {"word": {}, "done": {}, "deep": {}}},"#,
        r#"{"word": 1, "done": true, "other": 1}"#,
        r#"{"word": 1, "done": false}"#,
        "done other",
    ),
    (
        r#""context_schema": {"properties": {"word": {}, "done": {}, "deep": {}}}, "events": {"go": {"data": {"properties": {"done": {}, "other": {}}}}},"#,
        r#"{"word": 1, "done": true, "other": 1}"#,
        r#"{"done": true}"#,
        "other word",
    ),
    (
        r#""merge": "all","#,
        r#"{"done": true, "word": 1}"#,
        r#"{"done": true, "word": 1}"#,
        "",
    ),
    (
        r#""merge": "shallow","#,
        r#"{"done": true}"#,
        r#"{"done": true}"#,
        "",
    ),
    (
        r#""merge": "all", "context_schema": {"properties": {"done": {}, "deep": {}}},"#,
        r#"{"done": true, "word": 1}"#,
        r#"{"done": true}"#,
        "word",
    ),
    (
        r#""merge": "all", "events": {"go": {"data": {"properties": {"word": {}}}}},"#,
        r#"{"done": true, "word": 1}"#,
        r#"{"done": true, "word": 1}"#,
        "",
    ),
    (
        r#""merge": "none","#,
        r#"{"done": true, "word": 1}"#,
        "{}",
        "done word",
    ),
    (
        r#""merge": "none", "events": {"go": {"data": {"properties": {"word": {}}}}},"#,
        r#"{"word": 1}"#,
        "{}",
        "word",
    ),
];

fn table(keys: &str) -> Vec<u8> {
    let spec = format!(
        r#"{{
          "id": "m", {keys}
          "context": {{"done": false, "deep": {{"n": 1, "m": 2}}}},
          "actions": {{"reset": {{"assign": {{"done": false, "deep.n": 1}}}}}},
          "initial": "a",
          "states": {{
            "a": {{"on": {{"go": "b", "stop": "c"}}}},
            "b": {{"on": {{"again": {{"target": "a", "actions": "reset"}}, "end": "c"}}}},
            "c": {{"type": "final"}}
          }}
        }}"#
    );
    let mut sources = Sources::new();
    sources.add("m.workflow.json", spec.as_str());
    let compiled = compile(&sources, &Options::default());
    let machine = compiled.machines.first();
    back::table::write(machine.unwrap_or_else(|| panic!("{:?}\n{spec}", compiled.diagnostics)))
}

/// Sends `go` with data; returns the context after it, and what wasn't merged.
fn send(bytes: Vec<u8>, data: &Value) -> (Value, String) {
    let workflow = Workflow::from_bytes(bytes).unwrap();
    let initial: Map<String, Value> = workflow.meta()["context"].as_object().unwrap().clone();
    let run: RunId = "r".parse().unwrap();
    let moment = Moment {
        run: &run,
        seq: 1,
        now: 0,
    };
    let mut stepper = Stepper::fresh(&workflow, &initial).unwrap();
    let _ = stepper.step(StepInput::Start, None, moment).unwrap();
    let go = workflow.table().event_named("go").unwrap();
    let _ = stepper
        .step(StepInput::Event(go), Some(data), moment)
        .unwrap();
    let unmerged = workflow.unmerged_fields("go", Some(data)).join(" ");
    (Value::Object(stepper.context().to_map()), unmerged)
}

/// The initial context with other fields.
fn context(fields: &str) -> Value {
    let mut context = json!({"done": false, "deep": {"n": 1, "m": 2}});
    let fields: Map<String, Value> = serde_json::from_str(fields).unwrap();
    context.as_object_mut().unwrap().extend(fields);
    context
}

#[test]
fn data_is_merged_by_the_rule_of_its_event() {
    for (keys, data, after, unmerged) in RULES {
        let data = serde_json::from_str(data).unwrap();
        let expected = (context(after), (*unmerged).to_owned());
        assert_eq!(send(table(keys), &data), expected, "{keys} {data}");
    }
}

/// A table of format 2 has no rules, and keeps the one of its time: what an action assigns is merged, too.
#[test]
fn a_table_of_format_2_merges_as_it_did() {
    let rows = |keys: &str| {
        let mut rows = statemark_runtime::decode(&table(keys)).unwrap();
        rows.merges.clear();
        let mut bytes = statemark_runtime::encode(&rows).unwrap();
        // All of its programs are constants, which both formats write alike.
        bytes[8] = 2;
        bytes
    };
    let schema = r#""context_schema": {"properties": {"done": {}, "deep": {}}},"#;
    for (keys, after, unmerged) in [
        ("", r#"{"done": true, "word": 1}"#, ""),
        (schema, r#"{"done": true}"#, "word"),
        (r#""merge": "none","#, "{}", "done word"),
    ] {
        let expected = (context(after), unmerged.to_owned());
        let data = json!({"done": true, "word": 1});
        assert_eq!(send(rows(keys), &data), expected, "{keys}");
    }
}
