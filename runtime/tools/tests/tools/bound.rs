//! Who is bound to a run, by the server or by a token, begins no other: with no tool of any set.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use statemark_runs::{Query, RunId};
use statemark_tools::{Caller, Options, Set};

use crate::bench::Bench;
use crate::profiles::{caller, object, prepared};

/// A run that nobody has begun yet.
const MINE: &str = "mine";

/// Calls of ours that begin runs or might.
const OWN: &str = r#"[
    ["start_run", {"workflow": "door"}],
    ["start_run", {"workflow": "door", "run_id": "other"}],
    ["start_run", {"workflow": "door", "idempotency_key": "k"}],
    ["start_run", {"workflow": "door", "resume": true}],
    ["fork_run", {"at_seq": 1}],
    ["fork_run", {"run_id": "r", "at_seq": 1, "new_run_id": "other"}],
    ["fork_run", {"at_seq": 1, "idempotency_key": "k"}],
    ["run_agent", {"workflow": "door", "task": "all of it"}]
]"#;

const DOOR: &str = r#"{"id": "door", "initial": "shut", "states": {
    "shut": {"on": {"GO": "open"}}, "open": {"type": "final"}}}"#;

#[test]
fn who_is_bound_to_a_run_begins_no_other_with_a_tool_of_ours() {
    let calls: Value = serde_json::from_str(OWN).unwrap();
    for call in calls.as_array().unwrap() {
        let make = || {
            let mut bench = Bench::new(&[("door.workflow.json", DOOR)]);
            serve(&mut bench, &Set::OWN, None);
            let begin = object(&json!({"workflow": "door", "run_id": "r"}));
            let (answer, is_error) = bench.call(&caller(None), "start_run", begin).unwrap();
            assert!(!is_error, "{answer}");
            bench
        };
        let name = call[0].as_str().unwrap();
        begins_no_other(&Set::OWN, &make, &caller(None), (name, &call[1]));
    }
}

#[test]
fn who_is_bound_to_a_run_begins_no_other_with_a_tool_of_a_profile() {
    let mut begun = BTreeSet::new();
    for set in statemark_profiles::SETS {
        let path = format!("tests/profiles/{}.json", set.name());
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let document: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        for (tool, said) in document["tools"].as_object().unwrap() {
            for call in said["calls"].as_array().unwrap() {
                let make = || prepared(set, &document, tool, call, &mut String::new());
                let by = caller(call["as"].as_str());
                if begins_no_other(&[set], &make, &by, (tool, &call["arguments"])) {
                    begun.insert(tool.clone());
                }
            }
        }
    }
    // What begins runs begins the one that the caller is bound to; each of Ralph's tools does where no run is active.
    let expected = [
        "coordinate",
        "declare_complete",
        "ralph_discard_plan_draft",
        "ralph_finalize_plan",
        "ralph_get_plan_draft",
        "ralph_submit_artifact",
        "ralph_submit_plan_section",
        "report_progress",
        "run_workflow",
        "statewright_load_workflow",
    ]
    .map(str::to_owned);
    assert_eq!(begun, BTreeSet::from(expected));
}

/// Makes a call bound to each run that there is, and to one that isn't there, by the server and by a token. Whether it has
/// begun the one that wasn't there.
fn begins_no_other(
    sets: &[Set],
    make: &dyn Fn() -> Bench,
    by: &Caller,
    (tool, arguments): (&str, &Value),
) -> bool {
    let mut has_begun = false;
    for number in 0..=outer(&make()).len() {
        for by_server in [true, false] {
            let mut bench = make();
            let before = outer(&bench);
            // Ids are minted anew on each bench.
            let bound = before.iter().nth(number).map_or(MINE, String::as_str);
            let run: RunId = bound.parse().unwrap();
            let mut by = by.clone();
            if by_server {
                serve(&mut bench, sets, Some(run.clone()));
            } else {
                serve(&mut bench, sets, None);
                by.run = Some(run.clone());
            }
            let answer = bench.call(&by, tool, object(arguments));
            let mut after = outer(&bench);
            has_begun |= bound == MINE && after.remove(MINE);
            assert_eq!(
                after, before,
                "{tool} {arguments}, bound to {bound}: {answer:?}"
            );
        }
    }
    has_begun
}

/// The runs that nobody has invoked.
fn outer(bench: &Bench) -> BTreeSet<String> {
    let query = Query {
        limit: 100,
        ..Query::default()
    };
    let heads = bench.store.list(&query).unwrap().heads.into_iter();
    let outer = heads.filter(|head| head.summary.parent.is_none());
    outer.map(|head| head.run.to_string()).collect()
}

fn serve(bench: &mut Bench, sets: &[Set], run: Option<RunId>) {
    let options = Options {
        sets: sets.to_vec(),
        run,
        ..Options::default()
    };
    bench.serve(options).unwrap();
}
