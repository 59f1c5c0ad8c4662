//! What is done with a canary: every operation that writes for somebody.
//!
//! A test compares the names with those of the functions of `Runs` that take an order.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};
use statemark_runs::body::{
    Annotation, EffectStatus, Note, Progress, RequestKind, Scope, StepStatus, Subflow,
};
use statemark_runs::check::{Declared, Ran};
use statemark_runs::runs::{
    Checkpoint, DiscardArtifact, Edit, EditArtifact, FinalizeArtifact, Fork, Migrate, PutArtifact,
    ReportEffect, ReportProgress, Restore, Rewind,
};
use statemark_runs::{
    Actor, Advance, Answer, Ask, Body, Change, Checked, Force, Hash, Order, Registered, Reply,
    Report, Reserve, Role, RunCheck, RunError, Runs, Send, Start, Used, Withdraw,
};

use crate::secrets::redactor;
use crate::stores::sqlite::folder;

pub(super) type Act = fn(&Runs, &Order, &str);

/// Every operation that writes for somebody, with the canary wherever a text goes in.
pub(super) const OPERATIONS: [(&str, Act); 31] = [
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
        let before = Fork {
            reset: vec![it.to_owned()],
            ..Fork::new(order.run.clone(), 1)
        };
        runs.fork(&copy, &before).unwrap_err();
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
    // Some of them couldn't be an id anyway.
    let is_refused = error.contains("has a secret in it") || error.starts_with("the id of a run ");
    assert!(is_refused, "{error}");
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
