//! What a state can do to each tool: `gating.txt` has a line for every tool that there is.
//!
//! Each tool is called by an agent in states that grant in different ways; the states' names are the columns. A cell says
//! whether the call was let through and whether a list that is bound to the run has the tool: `yes`, `no`, or `no, listed`.
//! `counts` says whether a call takes a place in the visit's count. `UPDATE=1` rewrites the file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};
use statemark_harness::compare;
use statemark_runs::policy::{Gating, capability_tools};
use statemark_runs::{Actor, CancelRun, MAX_PAGE, Order, Role, SendEvent, StartRun};
use statemark_tools::{Caller, Options, Set, Tool};

use crate::bench::Bench;

/// The states, and what each says. `NAME` is the tool's own name, `KIN` that of the tool that it does the same as.
const STATES: [(&str, &str); 14] = [
    ("open", "{}"),
    ("nothing", r#"{"allowed_tools": []}"#),
    ("no_words", r#"{"capabilities": []}"#),
    ("submits", r#"{"capabilities": ["artifact.submit"]}"#),
    ("reports", r#"{"capabilities": ["run.report_progress"]}"#),
    ("reads", r#"{"capabilities": ["workspace.read"]}"#),
    ("own_word", r#"{"capabilities": ["mine"]}"#),
    ("named", r#"{"allowed_tools": ["NAME"]}"#),
    ("kin", r#"{"allowed_tools": ["KIN"]}"#),
    ("not_named", r#"{"disallowed_tools": ["NAME"]}"#),
    ("not_kin", r#"{"disallowed_tools": ["KIN"]}"#),
    (
        "named_no_words",
        r#"{"capabilities": [], "allowed_tools": ["NAME"]}"#,
    ),
    (
        "submits_named",
        r#"{"capabilities": ["artifact.submit"], "initial": "deep", "states":
            {"deep": {"capabilities": [], "allowed_tools": ["NAME"]}}}"#,
    ),
    ("unreadable", r#"{"capabilities": ["no_such_word"]}"#),
];

#[test]
fn every_tool_is_gated_as_the_table_says() {
    let mut table = String::from("tool | set | kin | counts");
    for (state, _) in STATES {
        let _ = write!(table, " | {state}");
    }
    table.push('\n');
    let sets = std::iter::once(Set::OWN.to_vec()).chain(
        statemark_profiles::SETS
            .into_iter()
            .chain(statemark_packs::SETS)
            .map(|set| vec![set]),
    );
    for sets in sets {
        let options = Options {
            sets,
            ..Options::default()
        };
        let mut bench = Bench::new(&[("one.md", &spec("NAME", "KIN"))]);
        bench.serve(options.clone()).unwrap();
        for tool in bench.dispatcher.tools() {
            table += &line(tool, &options);
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gating.txt");
    compare(&path, &table).unwrap();
}

/// `runs` lists the tools of a capability by name, since it knows no tool: here both lists meet.
#[test]
fn capabilities_list_the_tools_that_need_them() {
    let sets = Set::OWN
        .into_iter()
        .chain(statemark_profiles::SETS)
        .chain(statemark_packs::SETS);
    let mut needing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for set in sets {
        let options = Options {
            sets: vec![set],
            ..Options::default()
        };
        let mut bench = Bench::new(&[]);
        bench.serve(options).unwrap();
        for tool in bench.dispatcher.tools() {
            if let Gating::Needs(word) = tool.gating {
                needing
                    .entry(word)
                    .or_default()
                    .insert(tool.own_name().unwrap());
            }
        }
    }
    assert!(!needing.is_empty());
    for (word, tools) in needing {
        let listed = capability_tools(word).unwrap_or_default();
        assert_eq!(
            listed.iter().copied().collect::<BTreeSet<_>>(),
            tools,
            "{word}"
        );
    }
}

/// A machine with all states.
fn spec(name: &str, kin: &str) -> String {
    let mut states = String::new();
    let mut ways = String::new();
    for (state, says) in STATES {
        let _ = write!(states, ", \"{state}\": {says}");
        let _ = write!(ways, "\"to_{state}\": \"{state}\", ");
    }
    let ways = ways.trim_end_matches(", ");
    let states = states.replace("NAME", name).replace("KIN", kin);
    format!(
        "# Gates\n\n## STATE-MACHINE\n\n```json definition\n{{\"id\": \"gates\", \"initial\": \"hub\", \
         \"capabilities\": {{\"mine\": [\"{name}\"]}}, \"states\": {{\"hub\": {{\"on\": {{{ways}}}}}{states}}}}}\n```\n"
    )
}

/// The line of a tool.
fn line(tool: &Tool, options: &Options) -> String {
    let kin = tool.equivalent.unwrap_or("-");
    let mut bench = Bench::new(&[("one.md", &spec(&tool.name, kin))]);
    bench.serve(options.clone()).unwrap();
    let cells = STATES.map(|(state, _)| cell(&bench, tool, state));
    let counts = if counts(&bench) { "yes" } else { "no" };
    format!(
        "{} | {} | {kin} | {counts} | {}\n",
        tool.name,
        tool.set.name(),
        cells.join(" | ")
    )
}

/// What comes of a call, and of a list, in a state.
fn cell(bench: &Bench, tool: &Tool, state: &str) -> String {
    let run = state.replace('_', "-");
    let order = |role| Order::new(run.parse().unwrap(), Actor::new(role));
    let runs = bench.dispatcher.runs();
    let start = StartRun {
        workflow: "gates".to_owned(),
        ..StartRun::default()
    };
    runs.execute(&order(Role::Person), &start).unwrap();
    let send = SendEvent {
        event: format!("to_{state}"),
        data: None,
        ..SendEvent::default()
    };
    runs.execute(&order(Role::Person), &send).unwrap();
    let bound = Caller {
        run: Some(run.parse().unwrap()),
        ..Caller::agent()
    };
    let is_listed = bench
        .dispatcher
        .offered_tools(&bound, |it| it.name == tool.name)
        .contains(&true);
    let caller = Caller::agent();
    // Nobody waits: tools that would wait answer at once.
    let call = bench
        .dispatcher
        .ctx(&caller)
        .with_progress(&|| true, &|_, _| {});
    let reply = bench
        .dispatcher
        .call(&call, &tool.name, run_argument(tool, &run))
        .unwrap();
    let text = reply.answer.to_string();
    let loaded = runs.load(&run.parse().unwrap()).unwrap();
    let records = bench
        .store
        .records(&run.parse().unwrap(), 2, MAX_PAGE)
        .unwrap();
    let is_refused = records
        .iter()
        .any(|it| it.kind == "tool" && it.body.contains("\"denied\""));
    assert!(!text.contains("several_runs"), "{}: {text}", tool.name);
    if !loaded.state.status().is_over() {
        runs.execute(&order(Role::Person), &CancelRun::default())
            .unwrap();
    }
    match (is_refused, is_listed) {
        (false, true) => "yes".to_owned(),
        (true, false) => "no".to_owned(),
        (true, true) => "no, listed".to_owned(),
        (false, false) => "yes, not listed".to_owned(),
    }
}

/// The arguments that name the run, if the tool takes such.
fn run_argument(tool: &Tool, run: &str) -> Map<String, Value> {
    let names = tool.input.get("properties").and_then(Value::as_object);
    let names = names.into_iter().flat_map(Map::keys);
    let mut names = names.filter(|it| ["run_id", "runId", "parentRunId"].contains(&it.as_str()));
    names
        .next()
        .map(|name| (name.clone(), json!(run)))
        .into_iter()
        .collect()
}

/// Whether the call in the first state has taken a place.
fn counts(bench: &Bench) -> bool {
    let run = STATES[0].0.parse().unwrap();
    let records = bench.store.records(&run, 2, MAX_PAGE).unwrap();
    records
        .iter()
        .any(|it| it.kind == "tool" && it.body.contains("\"reserved\""))
}
