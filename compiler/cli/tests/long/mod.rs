//! A run of 100,000 records, and how long the command line takes to say where it is.
//!
//! ```text
//! cargo test --release -p statemark-cli --test cli long -- --ignored --nocapture
//! ```
//!
//! prints the median of whole processes, from their start to their end, and the most memory that `store verify` took. The
//! run is left where the test says, for whoever wants to measure more. `STATEMARK_RECORDS` makes it longer or shorter.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use statemark_compiler::source::Sources;
use statemark_compiler::{Options, back, compile};
use statemark_runs::body::{Body, EffectStatus, Message};
use statemark_runs::maintenance::{ignore_progress, migrate};
use statemark_runs::runs::{ReportEffect, WriteRaw};
use statemark_runs::{
    Actor, Loaded, Order, Role, RunId, Runs, SendEvent, StartRun, SystemClock, Workflow,
};
use statemark_stores::{MemoryStore, SqliteStore};

use crate::shell::{BINARY, statemark, untouched};

const SPEC: &str = r#"## STATE-MACHINE

```mermaid
stateDiagram-v2
    [*] --> plan
    plan --> build : go / count(), tell()
    build --> plan : again
    build --> late : after 10h
    late --> plan : again
    plan --> [*] : stop
```

```json definition
{
  "id": "loop",
  "context": {"rounds": 0},
  "actions": {"count": {"assign": {"rounds": "rounds + 1"}}, "tell": {"effect": true, "idempotent": true}}
}
```
"#;

/// Most time that `state` may take. Why: a person doesn't notice it, and an agent asks before each step.
const MOST: Duration = Duration::from_millis(20);

#[test]
#[ignore = "writes 100,000 records, and measures the release build"]
fn a_long_run_is_read_at_once() {
    #[expect(clippy::disallowed_methods, reason = "a test asks the machine")]
    let records = std::env::var("STATEMARK_RECORDS").ok();
    let records: u64 = records.map_or(100_000, |it| it.parse().unwrap());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("long-{records}"));
    if !folder.join("runs.db").exists() {
        fill(&folder, records);
    }
    println!("the store is {}", folder.join("runs.db").display());
    let state = median(&folder, &["state", "long"], 21);
    let others: [&[&str]; 4] = [
        &["why", "long"],
        &["send", "long", "nothing"],
        &["runs"],
        &["effect", "list", "long", "--open"],
    ];
    println!("state: {state:?}");
    for command in others {
        println!("{command:?}: {:?}", median(&folder, command, 11));
    }
    for command in [&["store", "verify"][..], &["replay", "long"]] {
        let (time, memory) = once(&folder, command);
        println!("{command:?}: {time:?}, {memory}");
    }
    assert!(state < MOST || cfg!(debug_assertions), "{state:?}");
}

/// A run of so many records: events, some with an effect that is reported, and what was said in between. It is made in
/// memory, where nobody waits for a disk, and moved.
fn fill(folder: &Path, records: u64) {
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("statemark.toml"), "store = \"runs.db\"\n").unwrap();
    let memory = Arc::new(MemoryStore::new(SystemClock));
    let workflow = Arc::new(Workflow::from_bytes(table()).unwrap());
    let workflows = BTreeMap::from([("loop".to_owned(), workflow)]);
    let runs = Runs::new(
        Arc::clone(&memory) as Arc<_>,
        Arc::new(workflows),
        Arc::new(SystemClock),
    );
    let run: RunId = "long".parse().unwrap();
    let order = Order::new(run, Actor::new(Role::Agent));
    let start = StartRun {
        workflow: "loop".to_owned(),
        ..StartRun::default()
    };
    let mut seq = runs.execute(&order, &start).unwrap().loaded.head.seq;
    while seq < records {
        for event in ["go", "again"] {
            seq = work(&runs, &order, seq, event);
        }
    }
    let file = SqliteStore::open(&folder.join("runs.db"), SystemClock).unwrap();
    println!(
        "{}",
        migrate(&*memory, &file, &mut ignore_progress).unwrap()
    );
}

/// An event, what became of its effect, and what was said: the last record.
fn work(runs: &Runs, order: &Order, seq: u64, event: &str) -> u64 {
    let send = SendEvent {
        event: event.to_owned(),
        data: Some(json!({"note": format!("behind record {seq}")})),
        ..SendEvent::default()
    };
    let keyed = Order {
        key: Some(format!("{event} {seq}").parse().unwrap()),
        ..order.clone()
    };
    let last = runs.execute(&keyed, &send).unwrap().loaded.head.seq;
    if event == "go" {
        let report = ReportEffect {
            key: format!("long:{last}:1"),
            status: EffectStatus::Succeeded,
            detail: json!(null),
        };
        runs.execute(order, &report).unwrap();
    }
    let message = Body::Message(Message {
        role: "assistant".to_owned(),
        text: "Something was said, which is about as long as what people say.".to_owned(),
        attempt: None,
    });
    let bodies = vec![message; 20];
    let said = WriteRaw(|_: &Loaded, _| bodies.clone());
    runs.execute(order, &said).unwrap().loaded.head.seq
}

fn table() -> Vec<u8> {
    let mut sources = Sources::new();
    sources.add("loop.md", SPEC);
    let compiled = compile(&sources, &Options::default());
    let machine = compiled.machines.first();
    back::table::write(machine.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics)))
}

/// The median time of a process from its start to its end.
fn median(folder: &Path, command: &[&str], times: usize) -> Duration {
    let mut all: Vec<Duration> = (0..times).map(|_| once(folder, command).0).collect();
    all.sort();
    all[times / 2]
}

/// How long a process takes, and the most memory that it had, where `time` can tell.
fn once(folder: &Path, command: &[&str]) -> (Duration, String) {
    let time = PathBuf::from("/usr/bin/time");
    let is_measured = command[0] != "state" && time.exists();
    let mut process = if is_measured {
        let mut process = untouched(time, folder);
        process.args(["-f", "%M KiB", BINARY]);
        process
    } else {
        statemark(folder)
    };
    process.args(command).stdout(Stdio::null());
    let begun = Instant::now();
    let output = process.stderr(Stdio::piped()).output().unwrap();
    let time = begun.elapsed();
    let words = String::from_utf8(output.stderr).unwrap();
    (time, words.lines().last().unwrap_or_default().to_owned())
}
