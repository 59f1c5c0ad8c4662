//! One story told twice: once in peace, and once by a client whose server is killed in the middle of every call.
//!
//! Whoever is cut off calls again with the same key. In the end the journals are the same, hashes and all.
//! `STATEMARK_CHAOS=long` kills at 200 moments of each call.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::Client;
use crate::keeping::said;
use crate::shell::Scratch;

const SPEC: &str = include_str!("release.md");

/// What happens, one line after the other.
enum Step {
    /// A tool is called, and its envelope has these values.
    Call(&'static str, Value, Vec<(&'static str, Value)>),
    /// The same, and the value at the place stands for `KEPT` in later calls.
    Keep(&'static str, Value, &'static str),
    /// Somebody types a command.
    Command(&'static str),
}

const KEPT: &str = "KEPT";

fn story() -> Vec<Step> {
    let ok = |path: &'static str, value: Value| vec![("/ok", json!(true)), (path, value)];
    let no = |code: &str| vec![("/ok", json!(false)), ("/error/code", json!(code))];
    let notes = |content: &str, mode: &str, key: &str| json!({"run_id": "r1", "name": "notes", "mode": mode, "content": content, "idempotency_key": key});
    vec![
        Step::Call(
            "list_workflows",
            json!({}),
            ok("/data/workflows/0/id", json!("release")),
        ),
        Step::Call(
            "start_run",
            json!({"workflow": "release", "run_id": "r1", "title": "One", "idempotency_key": "k1"}),
            ok("/data/next/configuration", json!(["planning"])),
        ),
        Step::Call(
            "send_event",
            json!({"run_id": "r1", "event": "built", "idempotency_key": "k2"}),
            vec![
                ("/ok", json!(false)),
                ("/error/details/legal", json!([])),
                ("/error/details/next/legal/0/event", json!("planned")),
            ],
        ),
        Step::Call(
            "send_event",
            json!({"run_id": "r1", "event": "planned", "data": {"tasks": 2}, "expected_seq": 2, "idempotency_key": "k3"}),
            ok("/data/to", json!(["building"])),
        ),
        Step::Call(
            "send_event",
            json!({"run_id": "r1", "event": "built", "idempotency_key": "k4"}),
            no("artifact_missing"),
        ),
        Step::Call(
            "submit_artifact",
            notes("## Changes\n\n- one\n", "draft", "k5"),
            ok("/data/valid", json!(false)),
        ),
        Step::Call(
            "submit_artifact",
            notes("## Changes\n\n- one\n- two\n", "final", "k6"),
            ok("/data/valid", json!(true)),
        ),
        Step::Call(
            "send_event",
            json!({"run_id": "r1", "event": "built", "idempotency_key": "k7"}),
            ok("/data/to", json!(["review"])),
        ),
        Step::Call(
            "request_human",
            json!({"run_id": "r1", "kind": "text", "prompt": "Which version?", "blocking": true, "idempotency_key": "k8"}),
            ok("/data/next/status", json!("waiting")),
        ),
        Step::Call(
            "resolve_request",
            json!({"run_id": "r1", "action": "answer", "answer": "1.0", "idempotency_key": "k9"}),
            no("not_a_person"),
        ),
        Step::Command("AS=Ada statemark answer r1:8 '1.0' --store runs.db --key k10"),
        Step::Call(
            "send_event",
            json!({"run_id": "r1", "event": "accept", "idempotency_key": "k11"}),
            ok("/data/taken", json!(false)),
        ),
        Step::Command("AS=Ada statemark approve r1:11 --store runs.db --key k12"),
        Step::Call(
            "get_run",
            json!({"run_id": "r1"}),
            ok("/data/next/configuration", json!(["released"])),
        ),
        Step::Call(
            "fork_run",
            json!({"run_id": "r1", "at_seq": 3, "new_run_id": "r2", "idempotency_key": "k13"}),
            ok("/data/next/configuration", json!(["building"])),
        ),
        Step::Call(
            "submit_artifact",
            json!({"run_id": "r2", "name": "notes", "mode": "final", "content": "## Changes\n\n- all\n- other\n", "idempotency_key": "k14"}),
            ok("/data/valid", json!(true)),
        ),
        Step::Call(
            "send_event",
            json!({"run_id": "r2", "event": "built", "idempotency_key": "k15"}),
            ok("/data/to", json!(["review"])),
        ),
        Step::Keep(
            "rewind_run",
            json!({"run_id": "r2", "to": 4, "dry_run": true}),
            "/data/confirm_token",
        ),
        Step::Call(
            "rewind_run",
            json!({"run_id": "r2", "to": 4, "confirm_token": KEPT, "idempotency_key": "k16"}),
            ok("/data/next/configuration", json!(["building"])),
        ),
        Step::Call(
            "send_event",
            json!({"run_id": "r2", "event": "built", "idempotency_key": "k17"}),
            no("artifact_missing"),
        ),
        Step::Call(
            "rewind_run",
            json!({"run_id": "r1", "to": 3, "confirm_token": KEPT, "idempotency_key": "k18"}),
            no("not_a_person"),
        ),
        Step::Call(
            "control_run",
            json!({"run_id": "r2", "action": "cancel", "idempotency_key": "k19"}),
            ok("/data/next/status", json!("cancelled")),
        ),
        Step::Call(
            "send_event",
            json!({"run_id": "r1", "event": "archive", "idempotency_key": "k20"}),
            ok("/data/next/is_final", json!(true)),
        ),
    ]
}

/// The folder that a story happens in.
fn folder(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.write("release.md", SPEC);
    scratch.write("statemark.toml", "store = \"runs.db\"\n");
    scratch
}

/// What the server is told besides the story's own arguments.
const ARGUMENTS: &[&str] = &[".", "--toolsets", "runs,human,artifacts,time"];

/// Tells the story; `kill` says at which moments of each call the server dies before the call is let through.
fn play_story(scratch: &Scratch, kill: &[Duration]) -> usize {
    let mut client = Client::start(&scratch.path, ARGUMENTS);
    let mut kept = Value::Null;
    let mut killed = 0;
    for step in story() {
        let (tool, mut arguments, expected, keep) = match step {
            Step::Command(line) => {
                said(scratch, &format!("STATEMARK_NOW=1800000000000 {line}"), 0);
                continue;
            }
            Step::Call(tool, arguments, expected) => (tool, arguments, expected, None),
            Step::Keep(tool, arguments, place) => (tool, arguments, Vec::new(), Some(place)),
        };
        for (_, value) in arguments.as_object_mut().unwrap() {
            if value == KEPT {
                value.clone_from(&kept);
            }
        }
        for moment in kill {
            client.begin("tools/call", &json!({"name": tool, "arguments": arguments}));
            std::thread::sleep(*moment);
            client.kill();
            killed += 1;
            client = Client::start(&scratch.path, ARGUMENTS);
        }
        let answer = client.call(tool, &arguments);
        for (place, value) in expected {
            assert_eq!(
                answer.pointer(place),
                Some(&value),
                "{tool} {arguments}: {answer:#}"
            );
        }
        if let Some(place) = keep {
            kept = answer
                .pointer(place)
                .cloned()
                .unwrap_or_else(|| panic!("{answer:#}"));
        }
    }
    killed
}

/// The journals of both runs.
fn journals(folder: &Scratch) -> Vec<String> {
    let journal = |run| said(folder, &format!("statemark events {run} --json"), 0).stdout;
    ["r1", "r2"].map(journal).to_vec()
}

#[test]
fn a_server_killed_within_every_call_leaves_the_same_journals() {
    let calm = folder("served-calm");
    assert_eq!(play_story(&calm, &[]), 0);
    let wild = folder("served-wild");
    #[expect(clippy::disallowed_methods, reason = "a test asks the machine")]
    let long = std::env::var("STATEMARK_CHAOS").is_ok_and(|it| it == "long");
    let moments: Vec<Duration> = if long {
        (0..200).map(|it| Duration::from_micros(it * 100)).collect()
    } else {
        [0, 300, 1000, 3000, 9000]
            .map(Duration::from_micros)
            .to_vec()
    };
    let killed = play_story(&wild, &moments);
    println!("{killed} kills");
    for (calm, wild) in journals(&calm).iter().zip(journals(&wild)) {
        assert_eq!(calm, &wild);
    }
    for folder in [&calm, &wild] {
        said(folder, "statemark store verify", 0);
        said(folder, "statemark replay r1", 0);
    }
}
