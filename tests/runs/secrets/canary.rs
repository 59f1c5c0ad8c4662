//! A canary through every input of every operation, then a search of every file of the store.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use statemark_store::body::{
    Annotation, EffectStatus, Note, Progress, RequestKind, Scope, StepStatus, Subflow,
};
use statemark_store::check::{Declared, Ran};
use statemark_store::keep::{export, import_without, untold};
use statemark_store::runs::{
    Checkpoint, DiscardArtifact, Edit, EditArtifact, FinalizeArtifact, Fork, Migrate, PutArtifact,
    ReportEffect, ReportProgress, Restore, Rewind,
};
use statemark_store::{
    Actor, Advance, Answer, Ask, Body, Change, Checked, Force, Hash, ManualClock, MemoryStore,
    Order, Redactor, Registered, Reply, Report, Reserve, Role, RunCheck, RunError, Runs, Send,
    SqliteStore, Start, Used, Withdraw,
};

use super::{GITHUB, JWT, KNOWN, PEM, redactor};
use crate::golden::root;
use crate::harness::{BEGIN, Bench};
use crate::stores::sqlite::folder;

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

type Act = fn(&Runs, &Order, &str);

/// Every operation that writes for somebody, with the canary wherever a text goes in.
const OPERATIONS: [(&str, Act); 31] = [
    ("start", |runs, order, it| {
        let start = Start {
            workflow: "fix".to_owned(),
            input: json!({"seed": it, it: [it]}),
            project: Some(it.to_owned()),
            session: Some(it.to_owned()),
            title: Some(it.to_owned()),
            parent: None,
        };
        let _ = runs.start(
            order,
            &Start {
                workflow: it.to_owned(),
                ..start.clone()
            },
        );
        runs.start(order, &start).unwrap();
    }),
    ("send", |runs, order, it| {
        let send = |event: &str, data: Value| {
            let (event, data) = (event.to_owned(), Some(data));
            runs.send(order, &Send { event, data }).unwrap();
        };
        send(it, json!({it: it}));
        send("go", json!({"word": it, it: {"deep": [it]}}));
        send("tell", json!({"word": it}));
        send("back", json!({"word": it}));
    }),
    ("advance", |runs, order, it| {
        let text = || it.to_owned();
        let reports = [
            Report::Status {
                status: StepStatus::Running,
                message: Some(text()),
                data: json!({"word": it, it: it}),
            },
            Report::Waiting {
                prompt: text(),
                data: json!([it]),
            },
            Report::Artifact(Registered {
                path: text(),
                storage_root: Some(text()),
                feature: Some(text()),
                kind: Some(text()),
                subflow: false,
            }),
            Report::Annotation(Annotation {
                document: text(),
                text: text(),
                parent: Some(text()),
                data: json!(it),
            }),
            Report::Note(Note {
                text: text(),
                data: json!({it: it}),
            }),
            Report::Subflow(Subflow {
                parent: "plan".to_owned(),
                name: text(),
                steps: vec![text()],
                diagram: Some(text()),
            }),
            Report::Subflow(Subflow {
                parent: text(),
                name: text(),
                steps: vec![text()],
                diagram: Some(text()),
            }),
        ];
        for report in reports {
            runs.advance(order, &Advance::new(report.clone()).on("plan"))
                .unwrap();
            runs.advance(order, &Advance::new(report.clone()).on("plan").of(it))
                .unwrap();
            runs.advance(order, &Advance::new(report).on(it)).unwrap();
        }
        let begins = Order {
            run: format!("{}-b", order.run).parse().unwrap(),
            ..order.clone()
        };
        let start = Start {
            workflow: "fix".to_owned(),
            input: json!({"seed": it}),
            ..Start::default()
        };
        let first = Advance::status("plan", StepStatus::Running).starting(start);
        runs.advance(&begins, &first).unwrap();
    }),
    ("ask", |runs, order, it| {
        for kind in [
            RequestKind::Select,
            RequestKind::Json,
            RequestKind::Text,
            RequestKind::Review,
        ] {
            let ask = Ask {
                choices: match kind {
                    RequestKind::Select => vec![it.to_owned(), "other".to_owned()],
                    _ => Vec::new(),
                },
                schema: (kind == RequestKind::Json).then(|| json!({"description": it})),
                details: json!({it: it}),
                approvers: Vec::new(),
                ..Ask::new(kind, it)
            };
            runs.ask(order, &ask).unwrap();
            runs.ask(
                order,
                &Ask {
                    state: Some(it.to_owned()),
                    approvers: vec![it.to_owned()],
                    ..ask
                },
            )
            .unwrap();
        }
    }),
    ("answer", |runs, order, it| {
        let person = Order {
            actor: Actor::new(Role::Person).named("ann"),
            ..order.clone()
        };
        let open = runs.load(&order.run).unwrap().state;
        let mut answered = 0;
        for request in open.open_requests() {
            let id = &request.opened.request;
            for reply in [Reply::Value(json!(it)), Reply::SendBack] {
                let answer = Answer {
                    comment: Some(it.to_owned()),
                    ..Answer::new(id, reply)
                };
                let written = runs.answer(&person, &answer).unwrap();
                answered += usize::from(
                    written
                        .records
                        .iter()
                        .any(|it| it.kind == "request.resolved"),
                );
            }
        }
        assert!(answered >= 3, "a choice that was redacted can be chosen");
        runs.answer(&person, &Answer::new(it, Reply::Approve))
            .unwrap();
    }),
    ("withdraw", |runs, order, it| {
        let asked = runs.ask(order, &Ask::new(RequestKind::Text, "?")).unwrap();
        let open = asked.loaded.state.open_requests();
        let request = open.last().unwrap().opened.request.clone();
        let reason = Some(it.to_owned());
        runs.withdraw(
            order,
            &Withdraw {
                request: it.to_owned(),
                reason: reason.clone(),
            },
        )
        .unwrap();
        runs.withdraw(order, &Withdraw { request, reason }).unwrap();
    }),
    ("reserve", |runs, order, it| {
        let reserve = Reserve {
            tool: it.to_owned(),
            call: Some(it.to_owned()),
            input: Some(Hash::of(it.as_bytes())),
            files: vec![it.to_owned()],
        };
        runs.reserve(order, &reserve).unwrap();
        let again = runs.reserve(order, &reserve).unwrap();
        assert!(again.records.is_empty(), "a call is known again");
    }),
    ("deny_tool", |runs, order, it| {
        runs.deny_tool(order, it, it).unwrap();
    }),
    ("tool_used", |runs, order, it| {
        let used = Used {
            tool: it.to_owned(),
            call: Some(it.to_owned()),
            files: vec![it.to_owned(), format!("{it}.lock")],
            ..Used::default()
        };
        runs.tool_used(order, &used).unwrap();
        runs.force(
            &Order {
                actor: Actor::new(Role::Person).named("ann"),
                ..order.clone()
            },
            &Force {
                to: "plan".to_owned(),
                ..Force::default()
            },
        )
        .unwrap();
    }),
    ("run_check", |runs, order, it| {
        let what = check("echoing", it);
        let written = runs
            .run_check(order, &what, Path::new("/"), &|| false)
            .unwrap();
        let checked = Checked::of(&written).check.unwrap();
        assert!(checked.ran.passed, "{:?}", checked.ran);
    }),
    ("record_check", |runs, order, it| {
        let name: String = it.chars().filter(|it| !it.is_control()).take(128).collect();
        let ran = Ran {
            problem: Some(it.to_owned()),
            milliseconds: 1,
            stdout: it.to_owned(),
            stderr: format!("at {it}"),
            ..Ran::default()
        };
        runs.record_check(order, &check(&name, it), &ran).unwrap();
    }),
    ("pause", |runs, order, it| {
        runs.pause(order, Some(it)).unwrap();
    }),
    ("resume", |runs, order, it| {
        runs.resume(order, Some(it)).unwrap();
    }),
    ("force", |runs, order, it| {
        let person = Order {
            actor: Actor::new(Role::Person).named("ann"),
            ..order.clone()
        };
        let reason = Some(it.to_owned());
        runs.force(
            &person,
            &Force {
                to: it.to_owned(),
                context: Map::from_iter([("n".to_owned(), json!(it))]),
                reason: reason.clone(),
            },
        )
        .unwrap();
        runs.force(
            &person,
            &Force {
                to: "plan".to_owned(),
                context: Map::from_iter([("note".to_owned(), json!(it))]),
                reason,
            },
        )
        .unwrap();
    }),
    ("progress", |runs, order, it| {
        let report = ReportProgress {
            message: it.to_owned(),
            fraction: Some(0.5),
            unit: Some(it.to_owned()),
        };
        runs.progress(order, &report).unwrap();
    }),
    ("checkpoint", |runs, order, it| {
        let checkpoint = Checkpoint {
            folder: work(order),
            name: Some(it.to_owned()),
            reason: Some(it.to_owned()),
        };
        runs.checkpoint(order, &checkpoint).unwrap();
    }),
    ("restore", |runs, order, it| {
        let written = runs
            .restore(
                order,
                &Restore {
                    name: it.to_owned(),
                },
            )
            .unwrap();
        assert!(
            written.records.iter().all(|it| it.kind != "refused"),
            "its name is known again"
        );
        runs.restore(
            order,
            &Restore {
                name: format!("{it}?"),
            },
        )
        .unwrap();
    }),
    ("finish_restore", |runs, order, _| {
        let _ = runs.finish_restore(order);
    }),
    ("give_up_restore", |runs, order, it| {
        let _ = runs.give_up_restore(order, it);
    }),
    ("put_artifact", |runs, order, it| {
        let put = PutArtifact {
            media: Some(it.to_owned()),
            step: Some(it.to_owned()),
            unit: Some(it.to_owned()),
            ..PutArtifact::draft("notes", format!("# {it}\n\n{it}\n"))
        };
        runs.put_artifact(order, &put).unwrap();
        runs.put_artifact(order, &PutArtifact::draft(it, it))
            .unwrap();
    }),
    ("edit_artifact", |runs, order, it| {
        // What two edits put together is a secret, too.
        let (one, other) = it.split_at(4);
        let edit = |old: &str, new: &str| {
            let edits = vec![Edit {
                old: old.to_owned(),
                new: new.to_owned(),
            }];
            let edit = EditArtifact {
                name: "notes".to_owned(),
                edits,
                is_final: false,
                base: None,
            };
            runs.edit_artifact(order, &edit).unwrap();
        };
        edit(&format!("# {it}"), &format!("# {it}{it}\n{one}@@"));
        edit("@@", other);
        edit(it, it);
    }),
    ("finalize_artifact", |runs, order, it| {
        let finalize = |name: &str| FinalizeArtifact {
            name: name.to_owned(),
            revision: None,
        };
        runs.finalize_artifact(order, &finalize(it)).unwrap();
        runs.finalize_artifact(order, &finalize("notes")).unwrap();
    }),
    ("discard_artifact", |runs, order, it| {
        let discard = |name: &str| DiscardArtifact {
            name: name.to_owned(),
            revision: Some(1),
            reason: Some(it.to_owned()),
        };
        runs.discard_artifact(order, &discard(it)).unwrap();
        runs.discard_artifact(order, &discard("notes")).unwrap();
    }),
    ("effect", |runs, order, it| {
        let report = ReportEffect {
            key: it.to_owned(),
            status: EffectStatus::Intended,
            detail: json!({it: it}),
        };
        runs.effect(order, &report).unwrap();
    }),
    ("migrate", |runs, order, it| {
        let states = [(it.to_owned(), it.to_owned())].into();
        let timers = [(it.to_owned(), it.to_owned())].into();
        runs.migrate(
            order,
            &Migrate {
                workflow: None,
                states,
                timers,
            },
        )
        .unwrap();
        let _ = runs.migrate(
            order,
            &Migrate {
                workflow: Some(it.to_owned()),
                ..Migrate::default()
            },
        );
    }),
    ("fork", |runs, order, it| {
        let copy = Order {
            run: format!("{}-f", order.run).parse().unwrap(),
            ..order.clone()
        };
        let fork = Fork {
            input: json!({"seed": it, it: it}),
            title: Some(it.to_owned()),
            ..Fork::new(order.run.clone(), 1)
        };
        runs.fork(&copy, &fork).unwrap();
    }),
    ("rewind", |runs, order, it| {
        let person = Order {
            actor: Actor::new(Role::Person).named("ann"),
            ..order.clone()
        };
        let mut rewind = Rewind {
            reason: Some(it.to_owned()),
            token: Some(it.to_owned()),
            ..Rewind::to(1)
        };
        rewind.scope = Scope::Workspace;
        rewind.checkpoint = Some(it.to_owned());
        let _ = runs.rewind(&person, &rewind);
        let mut rewind = Rewind {
            reason: Some(it.to_owned()),
            force: true,
            ..Rewind::to(1)
        };
        rewind.token = Some(runs.plan_rewind(&order.run, &rewind).unwrap().token);
        runs.rewind(&person, &rewind).unwrap();
    }),
    ("change", |runs, order, it| {
        let progress = Progress {
            message: it.to_owned(),
            done: None,
            step: None,
            unit: None,
        };
        let written = runs.change(order, &it, |_, _| {
            let bodies = vec![
                Body::Progress(progress.clone()),
                Body::Unknown {
                    kind: "later".to_owned(),
                    v: 9,
                    body: json!({it: [it]}),
                },
            ];
            Ok(Change { bodies })
        });
        written.unwrap();
    }),
    ("lease", |runs, order, it| {
        refused(runs.lease(&order.run, it, 10).map(drop));
    }),
    ("cancel", |runs, order, it| {
        runs.cancel(order, Some(it)).unwrap();
    }),
    ("an order itself", |runs, order, it| {
        let send = Send {
            event: "go".to_owned(),
            data: None,
        };
        let plain: String = it.chars().filter(|it| !it.is_control()).take(128).collect();
        if !is_whole(&plain) {
            return;
        }
        let named = Order {
            actor: Actor::new(Role::Agent).named(it),
            ..order.clone()
        };
        refused(runs.send(&named, &send).map(drop));
        let mut session = order.clone();
        session.actor.session = Some(it.to_owned());
        refused(runs.send(&session, &send).map(drop));
        let keyed = Order {
            key: Some(plain.parse().unwrap()),
            ..order.clone()
        };
        refused(runs.send(&keyed, &send).map(drop));
        let other = Order {
            run: plain.parse().unwrap(),
            ..order.clone()
        };
        let start = Start {
            workflow: "fix".to_owned(),
            ..Start::default()
        };
        refused(runs.start(&other, &start).map(drop));
        refused(
            runs.fork(&other, &Fork::new(order.run.clone(), 1))
                .map(drop),
        );
        refused(
            runs.advance(
                &other,
                &Advance::status("plan", StepStatus::Running).starting(start),
            )
            .map(drop),
        );
    }),
];

/// Whether a name that was made of a canary still is one.
fn is_whole(name: &str) -> bool {
    redactor().finds(name.as_bytes()).is_some()
}

/// A check that says a canary.
fn check(name: &str, canary: &str) -> RunCheck {
    RunCheck {
        name: name.to_owned(),
        declared: Declared {
            command: vec!["echo".to_owned(), canary.to_owned()],
            cwd: None,
            env: [("CANARY".to_owned(), canary.to_owned())].into(),
            timeout: None,
        },
        arguments: vec![canary.to_owned()],
    }
}

fn refused(done: Result<(), RunError>) {
    let error = done.unwrap_err().to_string();
    assert!(error.contains("has a secret in it"), "{error}");
}

/// A working copy for a run.
fn work(order: &Order) -> std::path::PathBuf {
    let path = folder().with_file_name(format!("runs-work-{}-{}", std::process::id(), order.run));
    fs::create_dir_all(&path).unwrap();
    let done = std::process::Command::new("git")
        .arg("init")
        .arg("-q")
        .current_dir(&path)
        .status();
    assert!(done.unwrap().success());
    fs::write(path.join("file"), "text").unwrap();
    path
}

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
                runs.keep_fold(&loaded).unwrap();
            }
            for (file, text) in files(&folder) {
                for trace in traces(canary) {
                    let is_in = text.contains(&trace);
                    assert!(!is_in, "`{name}` has written `{canary}` to {file}");
                }
            }
        }
        let replay = runs.replay(&order.run, None).unwrap();
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

/// The names of all functions of `Runs` that take an order.
#[test]
fn every_operation_has_its_canary() {
    let mut names = BTreeSet::new();
    let mut folders = vec![root().join("runtime/store/src/runs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(path).unwrap();
            for function in text.split("\n    pub fn ").skip(1) {
                let (head, _) = function.split_once(" {\n").unwrap();
                let (name, arguments) = head.split_once('(').unwrap();
                if arguments.contains("order: &Order") || arguments.contains("owner: &str") {
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
    let start = Start {
        workflow: "fix".to_owned(),
        ..Start::default()
    };
    runs.start(&order, &start).unwrap();
    let put = PutArtifact::draft("notes", "the password is hunter2-canary-7731");
    runs.put_artifact(&order, &put).unwrap();
    let message = |runs: &Runs| {
        let mut lines = Vec::new();
        export(runs.store(), None, &mut lines, &mut untold).unwrap();
        let other = MemoryStore::new(Arc::clone(&clock));
        let error = import_without(&other, &mut &lines[..], &redactor()).unwrap_err();
        import_without(&other, &mut &lines[..], &Redactor::default()).unwrap();
        error.cause.to_string()
    };
    assert_eq!(
        message(&runs),
        "run `r` has a secret in it (`VAULT_PASSWORD`); nothing of it was kept"
    );
    runs.pause(&order, Some("hunter2-canary-7731")).unwrap();
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
        .start(
            &order,
            &Start {
                workflow,
                ..Start::default()
            },
        )
        .unwrap();
    assert_eq!(written.loaded.state.leaves, ["waiting_for_customer"]);
}
