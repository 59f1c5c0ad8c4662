//! Profiles against the documents of their systems: `profiles/<profile>.json` has what each document says of each tool.
//!
//! ```text
//! "specs"     the workflows that there are, by id
//! "shapes"    objects that several fields are, by name: fields with types
//! "tools"     by name:
//!   "arguments"  names with types; `!` behind a type: required
//!   "more"       arguments that a tool takes beside the documented ones, for where it departs from its document
//!   "hints"      what is documented of its manners: `read_only`, `destructive`, `idempotent`, `open_world`
//!   "fields"     paths into the answer with types: `string[]`, `integer|null`; `?` behind a type: may be absent
//!   "calls"      "before": calls of tools of the profile or of ours, each with a role if it isn't the caller's;
//!                "as": the role, else agent; "arguments";
//!                "gives": fields with these values, or "text": the whole answer, or "begins": how it begins;
//!                or "error": how the error begins, or "code": its code;
//!                "project": another than the document's
//! "project"   the project that the server is for, as transcripts have it
//! ```
//!
//! Tools have no other arguments than those, and a profile no other tools; answers may have more fields.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};
use statemark_runs::{Actor, Role};
use statemark_tools::{Caller, Options, Set};

use crate::bench::Bench;

#[test]
fn every_tool_is_as_its_document_says() {
    let mut wrong = String::new();
    let mut seen = 0;
    for set in statemark_profiles::SETS {
        let path = format!("tests/profiles/{}.json", set.name());
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let Ok(text) = fs::read_to_string(path) else {
            continue;
        };
        let document: Value = serde_json::from_str(&text).unwrap();
        seen += 1;
        check(set, &document, &mut wrong);
    }
    assert!(seen > 0);
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_workflow_cannot_become_a_laxer_one_under_its_own_name() {
    let name = "door.workflow.json";
    let strict = r#"{"id": "door", "initial": "shut", "states": {
        "shut": {"allowed_tools": [], "on": {"GO": "open"}}, "open": {"type": "final"}}}"#;
    let lax = strict.replace("[]", r#"["Bash"]"#);
    let mut bench = Bench::new(&[(name, strict)]);
    serve(&mut bench, &[Set::Profile("statewright")]);
    let load = |bench: &Bench, role| {
        let arguments = object(&json!({"name": "door"}));
        let answer = bench.call(&caller(role), "statewright_load_workflow", arguments);
        answer.expect("a tool")
    };
    assert!(!load(&bench, None).1);
    assert!(!load(&bench, None).1, "the same one starts over");
    bench.edit(&[(name, &lax)]);
    serve(&mut bench, &[Set::Profile("statewright")]);
    let (refused, is_error) = load(&bench, None);
    assert!(is_error);
    let text = refused.as_str().unwrap();
    assert!(text.starts_with("'door' has changed since run '"), "{text}");
    let (state, _) = bench
        .call(&caller(None), "statewright_get_state", Map::new())
        .unwrap();
    assert_eq!(state["allowed_tools"], json!([]));
    let (loaded, is_error) = load(&bench, Some("person"));
    assert!(!is_error, "{loaded}");
    assert_eq!(loaded["allowed_tools"], json!(["Bash"]));
}

fn check(set: Set, document: &Value, wrong: &mut String) {
    let tools = document["tools"].as_object().unwrap();
    let bench = stage(set, document);
    let offered: Vec<&str> = bench
        .dispatcher
        .tools()
        .iter()
        .map(|tool| tool.own_name().unwrap())
        .collect();
    let mut documented: Vec<&str> = tools.keys().map(String::as_str).collect();
    documented.sort_unstable();
    if offered != documented {
        let _ = writeln!(
            wrong,
            "{}: offered are {offered:?}, documented {documented:?}",
            set.name()
        );
    }
    for (name, said) in tools {
        let Some(tool) = bench
            .dispatcher
            .tools()
            .iter()
            .find(|tool| tool.name == name.as_str())
        else {
            continue;
        };
        let mut documented = object(&said["arguments"]);
        documented.extend(object(&said["more"]));
        takes(name, &tool.input, &Value::Object(documented), wrong);
        for (hint, documented) in object(&said["hints"]) {
            let is = match hint.as_str() {
                "read_only" => tool.annotations.read_only,
                "destructive" => tool.annotations.destructive,
                "idempotent" => tool.annotations.idempotent,
                "open_world" => tool.annotations.open_world,
                other => panic!("`{other}` is no hint"),
            };
            if documented != is {
                let _ = writeln!(wrong, "{name}: `{hint}` is {is}, documented {documented}");
            }
        }
        for call in said["calls"].as_array().unwrap() {
            play_call(set, document, (name, said), call, wrong);
        }
    }
}

/// Only the profile's tools, over the document's workflows.
fn stage(set: Set, document: &Value) -> Bench {
    let specs = document["specs"].as_object().unwrap();
    let specs: Vec<(String, String)> = specs
        .iter()
        .map(|(id, spec)| (format!("{id}.workflow.json"), spec.to_string()))
        .collect();
    let specs: Vec<(&str, &str)> = specs.iter().map(|(name, it)| (&**name, &**it)).collect();
    let mut bench = Bench::new(&specs);
    serve(&mut bench, &[set]);
    bench
}

fn serve(bench: &mut Bench, sets: &[Set]) {
    let options = Options {
        sets: sets.to_vec(),
        ..Options::default()
    };
    bench.serve(options).unwrap();
}

/// Whether a tool takes what is documented, and nothing else.
fn takes(tool: &str, schema: &Map<String, Value>, documented: &Value, wrong: &mut String) {
    let schema = Value::Object(schema.clone());
    let none = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    let documented = documented.as_object().unwrap();
    for name in properties.keys().filter(|it| !documented.contains_key(*it)) {
        let _ = writeln!(wrong, "{tool}: `{name}` isn't documented");
    }
    for (name, kind) in documented {
        let kind = kind.as_str().unwrap();
        let required = schema["required"].as_array().into_iter().flatten();
        let is_required = required.into_iter().any(|it| it == name);
        let Some(property) = properties.get(name) else {
            let _ = writeln!(wrong, "{tool}: doesn't take `{name}`");
            continue;
        };
        let kinds = kind.trim_end_matches('!');
        if !kinds.split('|').any(|kind| admits(property, kind)) {
            let _ = writeln!(wrong, "{tool}: `{name}` is {property}, documented {kind}");
        }
        if is_required != kind.ends_with('!') {
            let _ = writeln!(
                wrong,
                "{tool}: `{name}` is required or not, against its document"
            );
        }
    }
}

/// Whether a schema takes values of a type.
fn admits(schema: &Value, kind: &str) -> bool {
    let kind = if kind.ends_with("[]") { "array" } else { kind };
    let any = |key: &str| {
        let all = schema[key].as_array().into_iter().flatten();
        all.into_iter().any(|it| admits(it, kind))
    };
    let of_type = match &schema["type"] {
        Value::String(one) => one == kind,
        Value::Array(all) => all.iter().any(|it| it == kind),
        _ => schema.as_object().is_none_or(|it| {
            !["anyOf", "oneOf", "enum"]
                .iter()
                .any(|key| it.contains_key(*key))
        }),
    };
    let listed = schema["enum"].as_array().into_iter().flatten();
    of_type || any("anyOf") || any("oneOf") || listed.into_iter().any(|it| is(it, kind))
}

/// The stage of a documented call, when what comes before it has been done.
pub(crate) fn prepared(
    set: Set,
    document: &Value,
    tool: &str,
    call: &Value,
    wrong: &mut String,
) -> Bench {
    let mut bench = stage(set, document);
    let project = match &call["project"] {
        Value::Null => &document["project"],
        own => own,
    };
    if !project.is_null() {
        bench.found(project);
        serve(&mut bench, &[set]);
    }
    let caller = caller(call["as"].as_str());
    for before in call["before"].as_array().into_iter().flatten() {
        let (name, arguments) = (before[0].as_str().unwrap(), object(&before[1]));
        let own = bench
            .dispatcher
            .tools()
            .iter()
            .all(|tool| tool.name != name);
        if own {
            serve(&mut bench, &Set::OWN);
        }
        let by = before[2].as_str().map(|role| self::caller(Some(role)));
        let by = by.unwrap_or_else(|| caller.clone());
        let (answer, is_error) = bench.call(&by, name, arguments).expect("a tool");
        if is_error {
            let _ = writeln!(wrong, "{tool}: before it, {name} fails: {answer}");
        }
        if own {
            serve(&mut bench, &[set]);
        }
    }
    bench
}

/// Makes one of the document's calls, and looks at the answer.
fn play_call(
    set: Set,
    document: &Value,
    (tool, said): (&str, &Value),
    call: &Value,
    wrong: &mut String,
) {
    let bench = prepared(set, document, tool, call, wrong);
    let caller = caller(call["as"].as_str());
    let arguments = object(&call["arguments"]);
    let made = format!("{tool} {}", call["arguments"]);
    let Some((answer, is_error)) = bench.call(&caller, tool, arguments) else {
        return;
    };
    if let Some(begins) = call["error"].as_str() {
        let text = answer
            .as_str()
            .map_or_else(|| answer.to_string(), str::to_owned);
        if !is_error || !text.starts_with(begins) {
            let _ = writeln!(wrong, "{made}: isn't the error `{begins}` but {text}");
        }
        return;
    }
    if let Some(code) = call["code"].as_str() {
        if !is_error || answer["error"]["code"] != code {
            let _ = writeln!(wrong, "{made}: isn't the error `{code}` but {answer}");
        }
        return;
    }
    if is_error {
        let _ = writeln!(wrong, "{made}: {answer}");
        return;
    }
    if call["text"].is_string() && call["text"] != answer {
        let _ = writeln!(wrong, "{made}: says {answer}, expected {}", call["text"]);
    }
    if let Some(begins) = call["begins"].as_str()
        && !answer.as_str().is_some_and(|it| it.starts_with(begins))
    {
        let _ = writeln!(wrong, "{made}: doesn't begin with `{begins}`: {answer}");
    }
    // Some systems answer with JSON in a text.
    let answer = match &answer {
        Value::String(text) => serde_json::from_str(text).unwrap_or(answer),
        _ => answer,
    };
    let shapes = &document["shapes"];
    gives((&made, shapes), &answer, said, call, wrong);
}

fn gives(
    (made, shapes): (&str, &Value),
    answer: &Value,
    said: &Value,
    call: &Value,
    wrong: &mut String,
) {
    for (path, kind) in said["fields"].as_object().unwrap() {
        let kind = kind.as_str().unwrap();
        let place = format!("/{}", path.replace('.', "/"));
        match answer.pointer(&place) {
            Some(value) => {
                let kinds = kind.trim_end_matches('?');
                if !kinds.split('|').any(|kind| is_of(value, kind, shapes)) {
                    let _ = writeln!(wrong, "{made}: `{path}` is {value}, documented {kind}");
                }
            }
            None if kind.ends_with('?') => {}
            None => {
                let _ = writeln!(wrong, "{made}: doesn't give `{path}`: {answer}");
            }
        }
    }
    for (name, value) in call["gives"].as_object().into_iter().flatten() {
        if answer.get(name) != Some(value) {
            let given = &answer[name];
            let _ = writeln!(wrong, "{made}: `{name}` is {given}, expected {value}");
        }
    }
}

/// Whether a value is of a type, one of the shapes included.
fn is_of(value: &Value, kind: &str, shapes: &Value) -> bool {
    if let Some(items) = kind.strip_suffix("[]") {
        let all = value.as_array();
        return all.is_some_and(|all| all.iter().all(|it| is_of(it, items, shapes)));
    }
    let Some(shape) = shapes[kind].as_object() else {
        return is(value, kind);
    };
    shape.iter().all(|(name, kind)| {
        let kind = kind.as_str().unwrap();
        let kinds = kind.trim_end_matches('?');
        match value.get(name) {
            Some(value) => kinds.split('|').any(|kind| is_of(value, kind, shapes)),
            None => kind.ends_with('?'),
        }
    })
}

/// Whether a value is of a type.
fn is(value: &Value, kind: &str) -> bool {
    if let Some(items) = kind.strip_suffix("[]") {
        let all = value.as_array();
        return all.is_some_and(|all| all.iter().all(|it| is(it, items)));
    }
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        "any" => true,
        other => panic!("`{other}` is no type"),
    }
}

pub(crate) fn caller(role: Option<&str>) -> Caller {
    let role = match role {
        Some("person") => Role::Person,
        Some("observer") => Role::Observer,
        _ => Role::Agent,
    };
    Caller {
        actor: Actor::new(role),
        ..Caller::agent()
    }
}

pub(crate) fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}
