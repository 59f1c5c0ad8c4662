//! A process that is killed at each named point of an approval: afterwards the journals have all of it or nothing, and
//! whoever comes along does the rest.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use statemark_runs::runs::Failpoint;
use statemark_runs::{
    Actor, AnswerRequest, Order, RecordCall, Reply, Role, Runs, SendEvent, StartRun, SystemClock,
    reconcile_children, replay_run, state,
};

use super::{Told, begin, new_folder, open, process};
use crate::harness::workflows;
use crate::stores::all;

/// An approval that arms a timer, starts a child run, and lets go on what has waited.
const SPEC: &str = r#"# Gate

## STATE-MACHINE

```json definition
{
  "id": "gate",
  "initial": "shut",
  "states": {
    "shut": {
      "max_iterations": 1,
      "on_max_iterations": "noted",
      "on": {
        "open": {"target": "wide", "requires_approval": true},
        "noted": {"internal": true, "actions": ["note"]}
      }
    },
    "wide": {
      "invoke": {"src": "guest", "on_done": "over", "on_error": "shut"},
      "after": {"1h": "shut"},
      "on": {"noted": {"internal": true, "actions": ["note"]}}
    },
    "over": {"type": "final"}
  }
}
```

# Guest

## STATE-MACHINE

```json definition
{
  "id": "guest",
  "initial": "inside",
  "states": {"inside": {"on": {"leave": "gone"}}, "gone": {"type": "final"}}
}
```
"#;

fn runs(folder: &Path) -> Runs {
    let (gate, guest) = SPEC.split_once("\n# Guest").unwrap();
    let guest = format!("# Guest{guest}");
    let specs = workflows(&[("gate.md", gate), ("guest.md", &guest)]);
    Runs::new(
        Arc::new(open(folder)),
        Arc::new(specs),
        Arc::new(SystemClock),
    )
}

fn order(role: Role) -> Order {
    Order::new("r".parse().unwrap(), Actor::new(role))
}

fn approve(runs: &Runs) -> bool {
    let order = Order {
        key: Some("k".parse().unwrap()),
        ..order(Role::Person)
    };
    let answer = AnswerRequest::new("r:2", Reply::Approve);
    runs.execute(&order, &answer).unwrap().replayed
}

/// Dies at the point of the number that is its name.
fn dying(at: usize, folder: &Path) -> Failpoint {
    let count = AtomicUsize::new(0);
    let folder = folder.to_path_buf();
    Arc::new(move |point: &str| {
        if count.fetch_add(1, Ordering::SeqCst) < at {
            return;
        }
        std::fs::write(folder.join("point"), point).unwrap();
        let own = std::process::id().to_string();
        let mut kill = std::process::Command::new("kill");
        kill.args(["-KILL", &own]).status().unwrap();
        std::thread::sleep(Duration::from_secs(60));
    })
}

pub(super) fn approver(told: &Told) {
    let at = told.name.parse().unwrap();
    let runs = runs(&told.folder).with_failpoint(dying(at, &told.folder));
    approve(&runs);
}

/// A run that waits for its approval, with an event behind it.
fn scene(folder: &Path) -> Runs {
    let runs = runs(folder);
    let start = StartRun {
        workflow: "gate".to_owned(),
        ..StartRun::default()
    };
    runs.execute(&order(Role::Agent), &start).unwrap();
    let send = SendEvent {
        event: "open".to_owned(),
        data: None,
        ..SendEvent::default()
    };
    runs.execute(&order(Role::Agent), &send).unwrap();
    let used = RecordCall {
        tool: "Edit".to_owned(),
        ..RecordCall::default()
    };
    runs.execute(&order(Role::Agent), &used).unwrap();
    runs
}

fn summaries(runs: &Runs, run: &str) -> Vec<String> {
    let records = all(runs.store(), run);
    records.iter().map(|it| it.summary()).collect()
}

/// Everything of an approval, from its answer on.
const WHOLE: [&str; 4] = [
    "`r:2` approved",
    "`open` by request `r:2` → `wide`",
    "child `r/wide/1` began `guest`",
    "`noted` by `max_iterations` of `shut` → `wide`",
];

/// What has to be true of a run at any moment, whoever has died.
fn is_whole(runs: &Runs, before: &[String], point: &str) {
    let run = "r".parse().unwrap();
    let loaded = runs.load(&run).unwrap();
    let anew = state::replay(runs.store(), &run, None).unwrap();
    assert_eq!(anew, *loaded.state, "{point}");
    assert_eq!(loaded.head.summary, loaded.state.summary(), "{point}");
    assert_eq!(
        replay_run(runs, &run, None).unwrap().difference,
        None,
        "{point}"
    );
    let told = summaries(runs, "r");
    assert_eq!(told[..before.len()], *before, "{point}");
    let after = &told[before.len()..];
    assert!(after.is_empty() || after == WHOLE, "{point}: {after:#?}");
    let armed = runs.store().next_due().unwrap().is_some();
    assert_eq!(armed, !after.is_empty(), "{point}");
    let decided = loaded.state.requests["r:2"].resolved.is_some();
    assert_eq!(decided, !after.is_empty(), "{point}");
    let listed = loaded.head.summary.requests.is_empty();
    assert_eq!(listed, decided, "{point}");
}

#[test]
fn an_approval_is_whole_or_not_at_all_wherever_its_process_is_killed() {
    let mut points = Vec::new();
    for at in 0.. {
        let folder = new_folder();
        let before = summaries(&scene(&folder), "r");
        let mut child = begin(process("approver", &folder, &at.to_string()));
        let ended = child.wait().unwrap().success();
        let runs = runs(&folder);
        let point = std::fs::read_to_string(folder.join("point")).unwrap_or_default();
        is_whole(&runs, &before, &point);
        let decided = summaries(&runs, "r").len() > before.len();
        // Whoever got no answer asks again, and somebody looks after what is missing between two runs.
        assert_eq!(approve(&runs), decided, "{point}");
        reconcile_children(&runs, &"r".parse().unwrap()).unwrap();
        is_whole(&runs, &before, &point);
        assert_eq!(
            summaries(&runs, "r/wide/1"),
            ["began `guest` in `inside`"],
            "{point}"
        );
        let leave = SendEvent {
            event: "leave".to_owned(),
            data: None,
            ..SendEvent::default()
        };
        let guest = Order::new("r/wide/1".parse().unwrap(), Actor::new(Role::Agent));
        runs.execute(&guest, &leave).unwrap();
        let state = runs.load(&"r".parse().unwrap()).unwrap().state;
        assert_eq!(
            (state.leaves.clone(), state.ended),
            (vec!["over".to_owned()], Some(true)),
            "{point}"
        );
        if ended {
            break;
        }
        points.push(point);
    }
    assert_eq!(points, ["append", "appended", "begin", "begun"]);
}
