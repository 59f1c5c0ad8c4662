//! A canary through every input of every operation, then a search of every file of the store.

mod operations;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use statemark_harness::root;
use statemark_runs::maintenance::{export, ignore_progress, import_with};
use statemark_runs::runs::PutArtifact;
use statemark_runs::{
    Actor, ManualClock, Order, PauseRun, Redactor, Role, Runs, StartRun, cache_state, replay_run,
};
use statemark_stores::{MemoryStore, SqliteStore};

use super::{GITHUB, JWT, KNOWN, PEM, redactor};
use crate::harness::{BEGIN, Bench};
use crate::stores::sqlite::folder;
use operations::OPERATIONS;

const SPEC: &str = r#"# Fix

## STATE-MACHINE

```mermaid
stateDiagram-v2
    [*] --> plan
    plan --> work : go / keep()
    work --> plan : back
    work --> secret : tell [event.word == "open"]
    plan --> seen : seen
```

```json definition
{
  "id": "fix",
  "context": {"word": "none", "seed": "none"},
  "meta": {"debug": true},
  "actions": {"keep": {"assign": {"word": "event.word"}}},
  "interrupts": {"seen": {"trigger": {"file_pattern": "*.lock"}, "target": "seen"}},
  "events": {"go": {"data": true}}
}
```
"#;

/// What is in the files of a folder, by their names. Canaries are plain letters, which stay as they are.
fn files(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap());
    let texts = entries.map(|it| {
        let bytes = fs::read(it.path()).unwrap();
        let name = it.file_name().to_string_lossy().into_owned();
        (name, String::from_utf8_lossy(&bytes).into_owned())
    });
    texts.collect()
}

/// What would give a canary away: itself, as JSON has it, and its middle.
fn traces(canary: &str) -> [String; 3] {
    let escaped = Value::from(canary).to_string();
    let middle: String = canary
        .chars()
        .skip(canary.chars().count() / 3)
        .take(12)
        .collect();
    [canary, escaped.trim_matches('"'), &middle].map(str::to_owned)
}

#[test]
fn no_canary_reaches_a_file_of_the_store() {
    let folder = folder();
    let clock = Arc::new(ManualClock::new(BEGIN));
    let store = SqliteStore::open(&folder.join("runs.db"), Arc::clone(&clock)).unwrap();
    let Bench { runs, .. } = Bench::over(&[("fix.md", SPEC)], clock, Arc::new(store));
    let runs = runs.with_redactor(redactor());
    let canaries = KNOWN.iter().map(|(_, value)| *value).chain([
        GITHUB,
        JWT,
        PEM,
        "sk-ant-api03-canary0123456789",
    ]);
    for (number, canary) in canaries.enumerate() {
        let order = Order::new(
            format!("r{number}").parse().unwrap(),
            Actor::new(Role::Agent),
        );
        for (name, act) in OPERATIONS {
            act(&runs, &order, canary);
            if let Ok(loaded) = runs.load(&order.run) {
                cache_state(&runs, &loaded).unwrap();
            }
            for (file, text) in files(&folder) {
                for trace in traces(canary) {
                    let is_in = text.contains(&trace);
                    assert!(!is_in, "`{name}` has written `{canary}` to {file}");
                }
            }
        }
        let replay = replay_run(&runs, &order.run, None).unwrap();
        assert_eq!(
            replay.difference, None,
            "the machine saw what the journal says"
        );
    }
    // It isn't that nothing was written.
    let text: String = files(&folder).into_iter().map(|(_, text)| text).collect();
    for name in ["VAULT_PASSWORD", "private_key", "jwt", "github_token"] {
        assert!(text.contains(&format!("[redacted:{name}]")), "{name}");
    }
}

/// All operations, and what names an owner of a lease.
#[test]
fn every_operation_has_its_canary() {
    let mut names = BTreeSet::new();
    let mut folders = vec![root().join("runtime/runs/src/runs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(path).unwrap();
            for line in text.lines().filter(|line| line.starts_with("impl")) {
                let operation = [" Decide for ", " Operation for "]
                    .iter()
                    .find_map(|of| line.split_once(of));
                let Some((_, operation)) = operation else {
                    continue;
                };
                let word = |c: char| !c.is_alphanumeric();
                let name = operation.split(word).next().unwrap();
                // The one that stands for all that decide.
                if name != "O" {
                    names.insert(name.to_owned());
                }
            }
            for function in text.split("\npub fn ").skip(1) {
                let (head, _) = function.split_once(" {\n").unwrap();
                let (name, arguments) = head.split_once('(').unwrap();
                if arguments.contains("owner: &str") {
                    names.insert(name.to_owned());
                }
            }
        }
    }
    let own = OPERATIONS.iter().map(|(name, _)| (*name).to_owned());
    let own: BTreeSet<String> = own.filter(|name| !name.contains(' ')).collect();
    assert_eq!(own, names);
}

#[test]
fn a_run_with_a_secret_isnt_taken_in() {
    let clock = Arc::new(ManualClock::new(BEGIN));
    let Bench { runs, .. } = Bench::new(&[("fix.md", SPEC)]);
    let runs = runs.with_redactor(Redactor::default());
    let order = Order::new("r".parse().unwrap(), Actor::new(Role::Agent));
    let start = StartRun {
        workflow: "fix".to_owned(),
        ..StartRun::default()
    };
    runs.execute(&order, &start).unwrap();
    let put = PutArtifact::draft("notes", "the password is hunter2-canary-7731");
    runs.execute(&order, &put).unwrap();
    let message = |runs: &Runs| {
        let mut lines = Vec::new();
        export(runs.store(), None, &mut lines, &mut ignore_progress).unwrap();
        let other = MemoryStore::new(Arc::clone(&clock));
        let error = import_with(&other, &mut &lines[..], &redactor()).unwrap_err();
        import_with(&other, &mut &lines[..], &Redactor::default()).unwrap();
        error.cause.to_string()
    };
    assert_eq!(
        message(&runs),
        "run `r` has a secret in it (`VAULT_PASSWORD`); nothing of it was kept"
    );
    let reason = Some("hunter2-canary-7731".to_owned());
    runs.execute(&order, &PauseRun { reason }).unwrap();
    assert_eq!(
        message(&runs),
        "run `r` has a secret in it at record 3 (`VAULT_PASSWORD`); nothing of it was kept"
    );
}

#[test]
fn words_of_the_workflow_are_no_secrets() {
    let Bench { runs, .. } = Bench::new(&[(
        "wait.md",
        "# Wait\n\n## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n    [*] --> waiting_for_customer\n    waiting_for_customer --> done_with_it : go\n```\n",
    )]);
    let secrets = [("SORT_KEY".to_owned(), "waiting_for_customer".to_owned())];
    let runs = runs.with_redactor(Redactor::new(secrets));
    let order = Order::new("r".parse().unwrap(), Actor::new(Role::Agent));
    let workflow = runs.workflows().ids().remove(0);
    let written = runs
        .execute(
            &order,
            &StartRun {
                workflow,
                ..StartRun::default()
            },
        )
        .unwrap();
    assert_eq!(written.loaded.state.leaves, ["waiting_for_customer"]);
}
