//! Files that tools change count in their runs.

use serde_json::{Map, Value, json};
use statemark_runs::{Actor, Order, ReserveCall, ReserveOutcome, Role, StartRun};
use statemark_tools::{Caller, Options, Set};

use crate::bench::Bench;

const SPEC: &str = r#"{
  "id": "sew",
  "initial": "sewing",
  "states": {
    "sewing": {"max_files_per_state": 1, "on": {"sewn": "flying"}},
    "flying": {"type": "final"}
  }
}"#;

const TASKS: &str = "- [ ] T001 sew the hull\n";

#[test]
fn a_task_that_is_completed_changes_a_file_by_whatever_name_it_is_called() {
    for (set, tool) in [
        (Set::Project, "complete_task"),
        (Set::Profile("rstn"), "rstn_complete_task"),
    ] {
        let mut bench = Bench::new(&[("sew.workflow.json", SPEC)]);
        bench.found(&json!({
            "branch": "060-zeppelin",
            "files": {"specs/060-zeppelin/tasks.md": TASKS},
        }));
        let options = Options {
            sets: vec![set],
            ..Options::default()
        };
        bench.serve(options).unwrap();
        let order = Order::new("r".parse().unwrap(), Actor::new(Role::Agent));
        let start = StartRun {
            workflow: "sew".to_owned(),
            ..StartRun::default()
        };
        let runs = bench.dispatcher.runs();
        runs.execute(&order, &start).unwrap();
        let reserve = ReserveCall {
            tool: "Edit".to_owned(),
            files: vec!["hull.rs".to_owned()],
            ..ReserveCall::default()
        };
        let arguments = Map::from_iter([("task_id".to_owned(), json!("T001"))]);
        // The second time nothing is left to be changed.
        for _ in 0..2 {
            let answer = bench.call(&Caller::agent(), tool, arguments.clone());
            let (answer, is_error) = answer.expect("a tool");
            assert!(!is_error, "{tool}: {answer}");
            let loaded = runs.load(&order.run).unwrap();
            let files = &loaded.state.visits["sewing"].files;
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            assert_eq!(files, ["specs/060-zeppelin/tasks.md"], "{tool}");
        }
        let told = runs.store().records(&order.run, 0, 100).unwrap();
        let told = told.iter().filter(|it| it.kind == "tool");
        let with_files = told.filter(|it| body(it)["files"] != Value::Null).count();
        assert_eq!(with_files, 1, "{tool}");
        let written = runs.execute(&order, &reserve).unwrap();
        let ReserveOutcome::No { reason } = &written.outcome else {
            panic!("{tool}: a second file is one too many");
        };
        let why =
            "`hull.rs` would make 2 files changed in `sewing`, whose `max_files_per_state` is 1";
        assert!(reason.starts_with(why), "{tool}: {reason}");
    }
}

fn body(record: &statemark_runs::Record) -> Value {
    serde_json::from_str(&record.body).unwrap()
}
