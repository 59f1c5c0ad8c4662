//! Checks that runs have run.

use std::fs;

use statemark_runs::check::CheckPlace;
use statemark_runs::{Key, Order, PauseRun, RunCheck, RunCheckIn, StartRun};

use crate::harness::Bench;

const SPEC: &str = r#"# Ship

## STATE-MACHINE

```json definition
{
  "id": "ship",
  "initial": "working",
  "checks": {"count": {"command": ["sh", "-c", "echo once >> count.txt; cat count.txt"], "cwd": "inner"}},
  "states": {"working": {"requires": ["count"], "on": {"ship": "over"}}, "over": {"type": "final"}}
}
```
"#;

#[test]
fn the_same_key_is_not_run_again_and_a_refused_check_is_not_run_at_all() {
    let root = crate::stores::sqlite::folder();
    fs::create_dir_all(root.join("inner")).unwrap();
    let bench = Bench::new(&[("ship.md", SPEC)]);
    let start = StartRun {
        workflow: "ship".to_owned(),
        ..StartRun::default()
    };
    let order = bench.order("r");
    let begun = bench.runs.execute(&order, &start).unwrap();
    let what = RunCheck {
        name: "count".to_owned(),
        declared: begun.loaded.check("count").unwrap().unwrap(),
        arguments: Vec::new(),
    };
    let check = RunCheckIn {
        what,
        place: &CheckPlace::new(&root),
        cancelled: &|| false,
    };
    let keyed = Order {
        key: Some("k".parse::<Key>().unwrap()),
        ..order.clone()
    };
    for replayed in [false, true] {
        let written = bench.runs.execute(&keyed, &check).unwrap();
        let check = written.outcome.check.unwrap();
        assert_eq!(
            (check.ran.stdout.as_str(), check.ran.passed),
            ("once\n", true)
        );
        assert_eq!(written.replayed, replayed);
    }
    bench.runs.execute(&order, &PauseRun::default()).unwrap();
    let paused = bench.runs.execute(&order, &check).unwrap();
    let refused = paused.outcome.refused.unwrap();
    assert_eq!(refused.code, "paused");
    assert_eq!(
        fs::read_to_string(root.join("inner/count.txt")).unwrap(),
        "once\n"
    );
}
