//! Keeping stores: a damaged one is noticed, and what is copied is the same.

mod damage;
mod folds;
mod lines;
mod moving;
mod pruning;

use std::sync::Arc;

use statemark_runs::runs::ForkRun;
use statemark_runs::{Actor, ManualClock, Role, SendEvent, StartRun, Store, cache_state};

use crate::harness::{BEGIN, Bench};
use crate::stores::Made;

const SPEC: &str = r#"# Ship

## STATE-MACHINE

```mermaid
stateDiagram-v2
    [*] --> plan
    plan --> build : go / count()
    build --> [*] : ok
    build --> plan : again
    build --> late : after 10s
    late --> plan : again
```

```json definition
{
  "id": "ship",
  "context": {"retries": 0},
  "actions": {"count": {"assign": {"retries": "retries + 1"}}}
}
```
"#;

/// Three runs: one that is over, one that waits for a timer, and a fork of the first from before its end.
fn filled((store, clock): Made) -> Arc<dyn Store> {
    let bench = Bench::over(&[("ship.md", SPEC)], clock, Arc::clone(&store));
    for (run, events) in [
        ("done", &["go", "again", "go", "ok"][..]),
        ("open", &["go"]),
    ] {
        let order = |key: Option<usize>| {
            let mut order = bench.order(run);
            order.actor = Actor::new(Role::Agent).with_name("Ann");
            order.key = key.map(|key| format!("key {key}").parse().unwrap());
            order
        };
        let start = StartRun {
            workflow: "ship".to_owned(),
            ..StartRun::default()
        };
        bench.runs.execute(&order(Some(0)), &start).unwrap();
        for (number, event) in events.iter().enumerate() {
            let send = SendEvent {
                event: (*event).to_owned(),
                data: None,
                ..SendEvent::default()
            };
            // Every other order has a key.
            let key = (number % 2 == 0).then_some(number + 1);
            bench.runs.execute(&order(key), &send).unwrap();
        }
        let loaded = bench.runs.load(&run.parse().unwrap()).unwrap();
        cache_state(&bench.runs, &loaded).unwrap();
    }
    fork(&store, "done", 3, "fork");
    store
}

/// A run that begins with the first records of another.
fn fork(store: &Arc<dyn Store>, from: &str, at: u64, run: &str) {
    let clock = Arc::new(ManualClock::new(BEGIN));
    let bench = Bench::over(&[("ship.md", SPEC)], clock, Arc::clone(store));
    let fork = ForkRun::new(from.parse().unwrap(), at);
    bench.runs.execute(&bench.order(run), &fork).unwrap();
}
