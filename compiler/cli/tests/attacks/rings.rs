//! Runs that begin each other without end: one call comes back, and the program goes on.

use serde_json::json;

use super::{attacked, done};
use crate::served::client::Client;
use crate::shell::Scratch;

/// A workflow whose two states invoke another, which ends at once: each outcome leads to the other state.
const RING: &str = r#"{"id": "ring", "initial": "a", "states": {
  "a": {"invoke": {"src": "flash", "on_done": "b", "on_error": "b"}, "on": {"stop": "z"}},
  "b": {"invoke": {"src": "flash", "on_done": "a", "on_error": "a"}},
  "z": {"type": "final"}
}}"#;

/// A workflow that ends where it begins.
const FLASH: &str =
    r#"{"id": "flash", "initial": "a", "states": {"a": {"always": "b"}, "b": {"type": "final"}}}"#;

/// A ring whose children fail: nothing of it is ever settled.
const FAILING: &str = r#"{"id": "failing", "initial": "a", "states": {
  "a": {"invoke": {"src": "flop", "on_done": "b", "on_error": "b"}},
  "b": {"invoke": {"src": "flop", "on_done": "a", "on_error": "a"}},
  "z": {"type": "final"}
}}"#;

const FLOP: &str = r#"{"id": "flop", "initial": "a", "states": {"a": {"always": "b"}, "b": {"type": "final", "outcome": "failure"}}}"#;

/// A workflow that invokes itself, in three regions at once.
const BOMB: &str = r#"## STATE-MACHINE: bomb

```mermaid
stateDiagram-v2
    [*] --> on
    state on {
        [*] --> a
        a --> a1 : done
        --
        [*] --> b
        b --> b1 : done
        --
        [*] --> c
        c --> c1 : done
    }
    on --> [*] : stop
```

```json definition
{
  "id": "bomb",
  "states": {
    "a": { "invoke": { "src": "bomb" } },
    "b": { "invoke": { "src": "bomb" } },
    "c": { "invoke": { "src": "bomb" } }
  }
}
```
"#;

fn project(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    for (id, text) in [
        ("ring", RING),
        ("flash", FLASH),
        ("failing", FAILING),
        ("flop", FLOP),
    ] {
        scratch.write(&format!("{id}.workflow.json"), text);
    }
    scratch.write("bomb.md", BOMB);
    scratch
}

/// A stack that overflows ends the process, whoever else it serves.
#[test]
fn second_a_ring_of_runs_ends_no_process() {
    for workflow in ["ring", "failing", "bomb"] {
        let scratch = project("second-ring");
        let mut agent = Client::start(&scratch.path, &["."]);
        let start = json!({"workflow": workflow, "run_id": "r"});
        let started = agent.call("start_run", &start);
        assert_eq!(started["ok"], true, "{workflow}: {started}");
        let listed = agent.call("list_runs", &json!({}));
        assert_eq!(listed["ok"], true, "{workflow}: {listed}");
        for words in [["state", "r"], ["why", "r"]] {
            done(&scratch, &words);
        }
        let cancelled = attacked(&scratch, &["cancel", "r"]);
        assert_eq!(cancelled.code, 0, "{workflow}: {}", cancelled.stderr);
        done(&scratch, &["store", "verify"]);
    }
}
