//! What Smithers' tools tell of things that only other programs record: effects, messages, calls of tools, saved files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use statemark_runs::body::EffectStatus;
use statemark_runs::runs::{PutArtifact, ReportEffect, TakeCheckpoint};
use statemark_runs::{Actor, Order, RecordCall, Role, SendEvent, StartRun};
use statemark_tools::{Caller, Options, Set};

use crate::bench::Bench;

const SPEC: &str = r#"{
  "id": "rollout",
  "initial": "draft",
  "states": {
    "draft": {"on": {"send": {"target": "sent", "actions": ["mail"]}}},
    "sent": {"on": {"again": "draft", "keep": "kept"}},
    "kept": {"type": "final"}
  }
}"#;

/// A desk with Smithers' tools, and a run in `draft`.
fn stage() -> Bench {
    let mut bench = Bench::new(&[("rollout.workflow.json", SPEC)]);
    let options = Options {
        sets: vec![Set::Profile("smithers")],
        ..Options::default()
    };
    bench.serve(options).unwrap();
    let start = StartRun {
        workflow: "rollout".to_owned(),
        ..StartRun::default()
    };
    bench.dispatcher.runs().execute(&order(), &start).unwrap();
    bench
}

fn order() -> Order {
    Order::new("r".parse().unwrap(), Actor::new(Role::Agent))
}

fn call(bench: &Bench, tool: &str, arguments: Value) -> Value {
    let Value::Object(arguments) = arguments else {
        panic!("arguments");
    };
    let answer = bench.call(&Caller::agent(), tool, arguments);
    answer.expect("a tool").0
}

fn send(bench: &Bench, event: &str) {
    let send = SendEvent {
        event: event.to_owned(),
        data: None,
        ..SendEvent::default()
    };
    bench.dispatcher.runs().execute(&order(), &send).unwrap();
}

fn left(bench: &Bench, key: &str) {
    for status in [EffectStatus::Intended, EffectStatus::Succeeded] {
        let report = ReportEffect {
            key: key.to_owned(),
            status,
            detail: Value::Null,
        };
        bench.dispatcher.runs().execute(&order(), &report).unwrap();
    }
}

#[test]
fn what_nothing_takes_back_needs_a_confirmation() {
    let calls = [
        (
            "time_travel",
            json!({"runId": "r", "nodeId": "draft", "force": true}),
        ),
        (
            "replay_run",
            json!({"parentRunId": "r", "frameNo": 1, "runId": "again"}),
        ),
        (
            "replay_run",
            json!({"parentRunId": "r", "frameNo": 2, "resetNodes": ["sent"], "runId": "again"}),
        ),
        (
            "run_workflow",
            json!({"workflowId": "rollout", "runId": "r", "force": true}),
        ),
    ];
    for (tool, mut arguments) in calls {
        let bench = stage();
        send(&bench, "send");
        left(&bench, "r:2:1");
        let refused = call(&bench, tool, arguments.clone());
        assert_eq!(
            refused["error"]["code"], "TIME_TRAVEL_SIDE_EFFECT_BLOCKED",
            "{tool}"
        );
        assert_eq!(
            refused["error"]["details"]["effects"][0]["key"], "r:2:1",
            "{tool}"
        );
        let loaded = bench.dispatcher.runs().load(&"r".parse().unwrap()).unwrap();
        assert_eq!(loaded.state.leaves, ["sent"], "{tool}");
        arguments["confirm"] = json!(true);
        let done = call(&bench, tool, arguments);
        assert_eq!(done["ok"], true, "{tool}: {done}");
        let data = &done["data"];
        let run = data.get("run").unwrap_or(&data["observedRun"]);
        assert_eq!(run["activeNodeId"], "draft", "{tool}");
    }
}

#[test]
fn a_node_tells_what_was_done_said_and_handed_in() {
    let bench = stage();
    let runs = bench.dispatcher.runs();
    for (name, content) in [("letter", "{\"text\": \"Hello\"}"), ("memo", "on Monday")] {
        let put = PutArtifact::draft(name, content).finally();
        runs.execute(&order(), &put).unwrap();
    }
    let used = RecordCall {
        tool: "Read".to_owned(),
        call: None,
        failed: false,
        milliseconds: Some(12),
        input: None,
        output: Some(4),
        files: Vec::new(),
    };
    runs.execute(&order(), &used).unwrap();
    let detail = call(
        &bench,
        "get_node_detail",
        json!({"runId": "r", "nodeId": "draft"}),
    );
    let detail = &detail["data"]["detail"];
    assert_eq!(detail["toolCalls"][0]["toolName"], "Read");
    assert_eq!(detail["output"]["source"], "output-table");
    assert_eq!(detail["output"]["validated"], "on Monday");
    assert_eq!(detail["node"]["outputTable"], "memo");
    let listed = call(
        &bench,
        "list_artifacts",
        json!({"runId": "r", "nodeId": "draft", "includeRaw": true}),
    );
    let ids = listed["data"]["artifacts"].as_array().unwrap();
    let ids: Vec<&Value> = ids.iter().map(|it| &it["artifactId"]).collect();
    assert_eq!(ids, ["r:draft:0:letter", "r:draft:0:memo"]);
    let first = &listed["data"]["artifacts"][0];
    assert_eq!(first["value"], json!({"text": "Hello"}));
    assert_eq!(first["rawValue"], "{\"text\": \"Hello\"}");
    assert_eq!(first["kind"], "node-output");
}

/// A working copy with one file, gone when it is dropped.
struct Copy(PathBuf);

impl Copy {
    fn new() -> Self {
        let folder =
            std::env::temp_dir().join(format!("statemark-smithers-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let copy = Self(fs::canonicalize(folder).unwrap());
        let git = Command::new("git")
            .args(["init", "-q"])
            .current_dir(&copy.0)
            .status();
        assert!(git.unwrap().success());
        copy
    }

    fn file(&self) -> PathBuf {
        self.0.join("letter.txt")
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn save(bench: &Bench, folder: &Path) {
    let checkpoint = TakeCheckpoint {
        folder: folder.to_owned(),
        name: Some("first".to_owned()),
        reason: Some("before it is sent".to_owned()),
    };
    bench
        .dispatcher
        .runs()
        .execute(&order(), &checkpoint)
        .unwrap();
}

#[test]
fn files_come_back_from_snapshots_and_with_time_travel() {
    let copy = Copy::new();
    let bench = stage();
    fs::write(copy.file(), "as it was").unwrap();
    save(&bench, &copy.0);
    fs::write(copy.file(), "as it is").unwrap();
    let listed = call(&bench, "list_snapshots", json!({"runId": "r"}));
    let snapshot = &listed["data"]["snapshots"][0];
    for (field, value) in [
        ("seq", json!(2)),
        ("nodeId", json!("draft")),
        ("iteration", json!(0)),
        ("attempt", json!(1)),
        ("label", json!("before it is sent")),
        ("operationId", Value::Null),
        ("cwd", json!(copy.0)),
    ] {
        assert_eq!(snapshot[field], value, "{field}");
    }
    for field in ["tier", "source", "commitId"] {
        assert!(snapshot[field].is_string(), "{field}");
    }
    assert!(snapshot["createdAtMs"].is_u64());
    let restored = call(
        &bench,
        "restore_checkpoint",
        json!({"runId": "r", "nodeId": "draft"}),
    );
    let data = &restored["data"];
    assert_eq!(data["success"], true, "{restored}");
    assert_eq!(data["seq"], 2);
    assert_eq!(data["commitId"], snapshot["commitId"]);
    assert_eq!(data["cwd"], json!(copy.0));
    assert_eq!(fs::read_to_string(copy.file()).unwrap(), "as it was");
    let head = bench
        .dispatcher
        .runs()
        .load(&"r".parse().unwrap())
        .unwrap()
        .head
        .seq;
    send(&bench, "send");
    fs::write(copy.file(), "as it was sent").unwrap();
    let replayed =
        json!({"parentRunId": "r", "frameNo": head, "restoreVcs": true, "cwd": "/elsewhere"});
    let replayed = call(&bench, "replay_run", replayed);
    assert_eq!(replayed["data"]["vcsRestored"], false);
    assert!(
        replayed["data"]["vcsError"]
            .as_str()
            .unwrap()
            .contains("/elsewhere")
    );
    let replayed = json!({"parentRunId": "r", "frameNo": head, "restoreVcs": true, "cwd": copy.0});
    let replayed = call(&bench, "replay_run", replayed);
    assert_eq!(replayed["data"]["vcsRestored"], true, "{replayed}");
    assert_eq!(replayed["data"]["vcsPointer"], snapshot["commitId"]);
    assert_eq!(fs::read_to_string(copy.file()).unwrap(), "as it was");
}
