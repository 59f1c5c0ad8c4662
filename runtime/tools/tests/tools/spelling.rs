//! Whatever way an argument is spelled, policy and the tool see the same run.

use serde_json::{Map, Value, json};
use statemark_runs::body::Body;
use statemark_runs::policy::Gating;
use statemark_runs::{Actor, MAX_PAGE, Order, Role, RunId, StartRun};
use statemark_tools::{Caller, Credential, Options, Set};

use crate::bench::Bench;

const SPEC: &str = r#"# Pair

## STATE-MACHINE

```json definition
{
  "id": "pair",
  "initial": "open",
  "states": {
    "open": {"on": {"lock": "locked"}},
    "locked": {"allowed_tools": [], "capabilities": []}
  }
}
```
"#;

/// All ways to write `run_id` with small and capital letters, with and without the line between.
fn spellings() -> Vec<String> {
    let letters = ["r", "u", "n", "_", "i", "d"];
    let mut all = vec![String::new()];
    for letter in letters {
        let ways = match letter {
            "_" => vec![String::new(), "_".to_owned()],
            letter => vec![letter.to_owned(), letter.to_uppercase()],
        };
        let with = |begun: &String| -> Vec<String> {
            ways.iter().map(|way| format!("{begun}{way}")).collect()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

/// How many calls a run has refused, and that it has refused whatever else it was told.
fn refused(bench: &Bench, run: &RunId) -> usize {
    let loaded = bench.dispatcher.runs().load(run).unwrap();
    let records = bench.store.records(run, 2, MAX_PAGE).unwrap();
    for record in &records {
        let Ok(Body::Tool(tool)) = record.read() else {
            panic!("{record:?}");
        };
        assert!(tool.reason.is_some(), "{tool:?}");
    }
    assert_eq!(loaded.state.leaves, ["locked"]);
    records.len()
}

#[test]
fn whatever_the_spelling_policy_and_the_tool_see_the_same_run() {
    let mut bench = Bench::new(&[("pair.md", SPEC)]);
    let options = |sets: &[Set]| Options {
        sets: sets.to_vec(),
        ..Options::default()
    };
    // Judged by the run that a call means; without a token, a run of another project would be out of reach.
    let caller = Caller {
        actor: Actor::new(Role::Agent).with_name("bot"),
        project: Some("p".to_owned()),
        credential: Credential::ManyRuns,
        ..Caller::agent()
    };
    let order = |run: &str| Order::new(run.parse().unwrap(), Actor::new(Role::Agent));
    let start = |project: &str| StartRun {
        workflow: "pair".to_owned(),
        project: Some(project.to_owned()),
        ..StartRun::default()
    };
    let runs = bench.dispatcher.runs();
    runs.execute(&order("free"), &start("p")).unwrap();
    runs.execute(&order("held"), &start("q")).unwrap();
    let lock = json!({"run_id": "held", "event": "lock"});
    let (answer, is_error) = call(&bench, &caller, "send_event", lock);
    assert!(!is_error, "{answer}");
    let held: RunId = "held".parse().unwrap();
    let mut tried = 0;
    for sets in [Set::OWN.to_vec(), vec![Set::Profile("smithers")]] {
        bench.serve(options(&sets)).unwrap();
        let tools = bench.dispatcher.tools().iter().filter(|tool| {
            let names = tool.input.get("properties").and_then(Value::as_object);
            let has = |name| names.is_some_and(|it| it.contains_key(name));
            tool.gating != Gating::Free && !has("parentRunId") && (has("run_id") || has("runId"))
        });
        let tools: Vec<&str> = tools.map(|tool| tool.own_name().unwrap()).collect();
        for tool in tools {
            let before = refused(&bench, &held);
            for spelled in spellings() {
                let (answer, is_error) = call(&bench, &caller, tool, json!({&spelled: "held"}));
                assert!(is_error, "{tool} {spelled}: {answer}");
            }
            let by_state = refused(&bench, &held) - before;
            assert_eq!(
                by_state, 4,
                "`run_id`, `runId`, `Run_id` and `RunId` of `{tool}`"
            );
            tried += 1;
        }
    }
    assert!(tried > 10, "{tried} tools");
}

fn call(bench: &Bench, caller: &Caller, tool: &str, arguments: Value) -> (Value, bool) {
    let arguments: Map<String, Value> = serde_json::from_value(arguments).unwrap();
    bench.call(caller, tool, arguments).expect("a tool")
}
