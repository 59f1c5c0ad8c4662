//! Random commands of all kinds, done to runs over SQLite and over memory: the same answers, and a replay of what came of
//! them finds no difference.
//!
//! The commands are lines of transcripts, so that a failure reads like one. Names and numbers come from small sets, so that
//! commands meet: requests are answered that were opened, events sent that are held up, effects reported that a step had.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use statemark_runs::{Hash, ManualClock, Store, replay_run, state};
use statemark_stores::SqliteStore;

use crate::harness::{BEGIN, Bench};
use crate::script::answer;
use crate::stores::sqlite::folder;

/// Two machines that have everything that a run can meet.
pub(crate) const SPECS: [(&str, &str); 2] = [
    (
        "all.md",
        r#"# All

## STATE-MACHINE

```json definition
{
  "id": "all",
  "initial": "work",
  "meta": {"debug": true},
  "context": {"n": 0},
  "merge": "all",
  "actions": {
    "count": {"assign": {"n": "n + 1"}},
    "mail": {"effect": "a letter", "compensate": "sorry"},
    "sorry": {"effect": "another letter"}
  },
  "interrupts": {
    "schema": {"trigger": {"file_pattern": "db/*.sql"}, "target": "migrate"},
    "migrated": {"trigger": {"file_pattern": "db/DONE"}, "target": "$return"}
  },
  "states": {
    "work": {
      "type": "parallel",
      "while_waiting": ["tick"],
      "states": {
        "code": {
          "initial": "plan",
          "states": {
            "plan": {"max_visits": 3, "on": {"go": {"target": "write", "actions": ["count"]}}},
            "write": {
              "max_iterations": 2,
              "on_max_iterations": "back",
              "entry": "mail",
              "on": {"back": "plan", "ok": {"target": "plan", "guard": "n > 1"}},
              "after": {"10s": "plan"}
            }
          }
        },
        "docs": {
          "initial": "read",
          "states": {
            "read": {
              "on": {
                "ask": {"target": "told", "requires_approval": true},
                "tick": {"internal": true, "actions": ["count"]}
              }
            },
            "told": {"after": {"5s": "read"}, "on": {"approval_denied": "read", "changes_requested": "read"}}
          }
        }
      },
      "on": {"sub": "test", "end": "over"}
    },
    "migrate": {"on": {"done_with_it": "work"}, "after": {"20s": "work"}},
    "test": {
      "invoke": {"src": "child", "on_done": "work", "on_error": "migrate"},
      "on": {"stop": "work", "request.expired": "work"}
    },
    "over": {"type": "final"}
  }
}
```
"#,
    ),
    (
        "child.md",
        r#"# Child

## STATE-MACHINE

```json definition
{
  "id": "child",
  "initial": "run",
  "states": {
    "run": {"on": {"ok": {"target": "good", "requires_approval": true}, "bad": "lost"}, "after": {"30s": "lost"}},
    "good": {"type": "final"},
    "lost": {"type": "final", "outcome": "failure"}
  }
}
```
"#,
    ),
];

fn any_of(texts: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(texts).prop_map(str::to_owned)
}

fn request() -> impl Strategy<Value = String> {
    (any_of(&["r", "r", "r", "r/test/1", "f"]), 1..16_u64)
        .prop_map(|(run, seq)| format!("{run}:{seq}"))
}

fn caller() -> impl Strategy<Value = String> {
    any_of(&["", "", "", "as ann ", "as agent bo "])
}

/// What is done to the run, and by whom.
fn deeds() -> impl Strategy<Value = String> {
    let send = any_of(&[
        "send go",
        "send go",
        "send go",
        "send back",
        "send ok",
        "send ask",
        "send ask",
        "send tick",
        "send sub",
        "send sub",
        "send stop",
        "send done_with_it",
        "send bad",
        "send nothing",
        "send done",
        "send tick {\"n\": 7}",
        "keyed k go",
        "keyed k ask",
        "keyed l sub",
    ]);
    let tool = any_of(&[
        "used Edit",
        "used Edit {\"files\": [\"db/a.sql\"]}",
        "used Edit {\"files\": [\"db/DONE\"]}",
        "used Edit {\"call\": \"1\"}",
        "reserve Edit {\"call\": \"1\"}",
        "reserve Edit {\"call\": \"2\"}",
        "used Edit {\"call\": \"2\", \"files\": [\"db/b.sql\"]}",
    ]);
    let open = any_of(&[
        "open text {\"prompt\": \"Who?\", \"blocking\": true}",
        "open select {\"prompt\": \"Which?\", \"choices\": [\"a\", \"b\"], \"expires_in\": 7000}",
        "open review {\"prompt\": \"Fine?\"}",
        "open approval {\"prompt\": \"May I?\", \"expires_in\": 9000}",
    ]);
    let control = any_of(&[
        "pause",
        "pause",
        "continue",
        "continue",
        "continue",
        "cancel",
        "force write",
        "force told",
        "force test",
        "force migrate",
        "force work",
        "bind claude:one",
        "hold claude:two",
        "end claude:one",
        "release",
    ]);
    let settle = (
        any_of(&[
            "approve",
            "approve",
            "approve",
            "deny",
            "send_back",
            "withdraw",
        ]),
        request(),
        any_of(&["", " well"]),
    )
        .prop_map(|(how, request, words)| format!("{how} {request}{words}"));
    let value = request().prop_map(|request| format!("answer {request} \"a\""));
    let done = prop_oneof![
        12 => (any_of(&["", "", "", "@f ", "@r/test/1 "]), caller(), send).prop_map(|(run, who, send)| {
            // A line under a key is nobody's but the agent's.
            let who = if send.starts_with("keyed") { "" } else { &who };
            format!("{run}{who}{send}")
        }),
        3 => tool,
        2 => open,
        2 => (any_of(&["", "", "as ann "]), control).prop_map(|(who, deed)| format!("{who}{deed}")),
        6 => (any_of(&["as ann ", "as ann ", "as agent bo ", "as nobody "]), settle)
            .prop_map(|(who, deed)| format!("{who}{deed}")),
        2 => value.prop_map(|deed| format!("as ann {deed}")),
    ];
    prop_oneof![
        14 => done,
        3 => (1..12_u64).prop_map(|seconds| format!("wait {seconds}s")),
        1 => (1..12_u64).prop_map(|seconds| format!("pass {seconds}s")),
        2 => (1..14_u64, any_of(&["", " force", " without", " with 1-1-state-0"]))
            .prop_map(|(to, how)| format!("rewind {to}{how}")),
        1 => (1..14_u64, any_of(&["", "", " before write", " before work", " before told,plan", " before test"]))
            .prop_map(|(at, before)| format!("@f fork r {at}{before}")),
        1 => (1..14_u64, any_of(&["plan", "write", "read", "told", "docs", "test,migrate", "over"]))
            .prop_map(|(at, before)| format!("forking r {at} before {before}")),
        2 => (2..14_u64, 1..3_u64, any_of(&["intended", "succeeded", "unknown", "failed", "compensated"]))
            .prop_map(|(seq, number, status)| format!("effect r:{seq}:{number} {status}")),
        1 => (any_of(&["plan", "write", "read", "test", "nowhere"]), any_of(&["running", "waiting", "completed", "failed"]))
            .prop_map(|(step, status)| format!("report all {step} {status}")),
        1 => Just("why".to_owned()),
    ]
}

fn over(store: Arc<dyn Store>, clock: Arc<ManualClock>) -> Bench {
    Bench::over(&SPECS, clock, store)
}

/// What a line comes to, and whether everything is in order afterwards.
fn play_line(bench: &Bench, line: &str) -> String {
    let mut line = line;
    // `why` of a transcript holds its own answers against the run.
    if let Some(rest) = line.strip_prefix("@f ").filter(|it| it.starts_with("why")) {
        line = rest;
    }
    answer(bench, line)
}

const RUNS: [&str; 4] = ["r", "f", "r/test/1", "r/test/2"];

fn checked(bench: &Bench) -> Vec<String> {
    let mut all = vec![answer(bench, "runs")];
    for run in RUNS {
        let id = run.parse().unwrap();
        let Ok(loaded) = bench.runs.load(&id) else {
            continue;
        };
        let anew = state::replay(bench.runs.store(), &id, None).unwrap();
        assert_eq!(anew, *loaded.state, "the fold of {run}");
        let replay = replay_run(&bench.runs, &id, None).unwrap();
        assert_eq!(replay.difference, None, "the replay of {run}");
        assert_eq!(replay.records, loaded.head.seq);
        all.push(answer(bench, &format!("@{run} records")));
        all.push(answer(bench, &format!("@{run} timeline")));
        all.push(format!("{:?}", loaded.legality().transitions().unwrap()));
        all.push(format!(
            "{:?}",
            Hash::digest(format!("{:?}", loaded.head).as_bytes())
        ));
    }
    all
}

/// Sequences that were found to go wrong.
const FOUND: [&[&str]; 1] = [
    // A step that is completed by the report on the next one has a record before the event, whose effects are told by its own.
    &["report all plan running", "report all write running"],
];

/// Plays lines over memory and over a file, and compares what came of them.
fn compare(lines: &[&str]) -> Result<(), TestCaseError> {
    let (one, other) = (
        Arc::new(ManualClock::new(BEGIN)),
        Arc::new(ManualClock::new(BEGIN)),
    );
    let memory = Arc::new(statemark_stores::MemoryStore::new(Arc::clone(&one)));
    let memory = over(memory, one);
    let place = folder();
    std::fs::create_dir_all(&place).unwrap();
    let file = SqliteStore::open(&place.join("runs.db"), Arc::clone(&other)).unwrap();
    let file = over(Arc::new(file), other);
    for &line in ["start"].iter().chain(lines) {
        prop_assert_eq!(play_line(&memory, line), play_line(&file, line), "{}", line);
    }
    prop_assert_eq!(checked(&memory), checked(&file));
    std::fs::remove_dir_all(place).unwrap();
    Ok(())
}

#[test]
fn sqlite_and_memory_give_the_same_answers_and_replay_to_the_same() {
    for lines in FOUND {
        compare(lines).unwrap();
    }
    let config = Config {
        cases: 64,
        failure_persistence: None,
        ..Config::default()
    };
    let lines = prop::collection::vec(deeds(), 5..50);
    TestRunner::new(config)
        .run(&lines, |lines| {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            compare(&lines)
        })
        .unwrap();
}
