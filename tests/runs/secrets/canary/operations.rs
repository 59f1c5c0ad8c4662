//! What is done with a canary: every operation that writes for somebody.
//!
//! A test compares the names with those of the functions of `Runs` that take an order.

use std::fs;

use serde_json::{Map, Value, json};
use statemark_runs::body::{
    Annotation, EffectStatus, Note, Progress, RequestKind, Scope, StepStatus, Subflow,
};
use statemark_runs::check::{CheckPlace, CheckResult, Declaration};
use statemark_runs::runs::{
    DiscardArtifact, Edit, EditArtifact, FinalizeArtifact, ForkRun, MigrateRun, PutArtifact,
    ReportEffect, ReportProgress, RestoreFiles, RewindRun, TakeCheckpoint, WriteRaw,
};
use statemark_runs::{
    Actor, Advance, AnswerRequest, BindSession, Body, CancelRun, Claims, ContinueRun, DenyTool,
    EndSession, FinishRestore, ForceState, GiveUpRestore, Hash, HoldSession, Loaded, OpenRequest,
    Order, PauseRun, RecordCall, RecordCheck, Registered, ReleaseSession, Reply, Report,
    ReserveCall, Role, RunCheck, RunCheckIn, RunError, Runs, SendEvent, StartRun, WithdrawRequest,
    acquire_lease, plan_rewind, release_lease,
};

use crate::secrets::redactor;
use crate::stores::sqlite::folder;

pub(super) type Act = fn(&Runs, &Order, &str);

/// Every operation that writes for somebody, with the canary wherever a text goes in.
pub(super) const OPERATIONS: [(&str, Act); 40] = [
    ("StartRun", |runs, order, it| {
        let start = StartRun {
            workflow: "fix".to_owned(),
            input: json!({"seed": it, it: [it]}),
            project: Some(it.to_owned()),
            session: Some(it.to_owned()),
            title: Some(it.to_owned()),
            parent: None,
        };
        let _ = runs.execute(
            order,
            &StartRun {
                workflow: it.to_owned(),
                ..start.clone()
            },
        );
        runs.execute(order, &start).unwrap();
    }),
    ("StartAttempt", |runs, order, it| {
        let lease = acquire_lease(runs, &order.run, "executor", 60_000).unwrap();
        let order = Order {
            fence: Some(lease.fence),
            ..order.clone()
        };
        let start = statemark_runs::runs::StartAttempt {
            state: "plan".to_owned(),
            executor: it.to_owned(),
            model: Some(it.to_owned()),
            task: Some(it.to_owned()),
            prompt: runs.store().put_blob(b"work").unwrap(),
            left_out: vec![it.to_owned()],
        };
        runs.execute(&order, &start).unwrap();
        release_lease(runs, &lease).unwrap();
    }),
    ("RecordTurn", |runs, order, it| {
        let turn = statemark_runs::runs::RecordTurn {
            messages: vec![(it.to_owned(), it.to_owned())],
            usage: Some((1, 1, None)),
            model: Some(it.to_owned()),
        };
        let order = Order {
            attempt: Some(1),
            ..order.clone()
        };
        runs.execute(&order, &turn).unwrap();
    }),
    ("EndAttempt", |runs, order, it| {
        let end = statemark_runs::runs::EndAttempt {
            outcome: statemark_runs::body::AttemptOutcome::Failed,
            reason: Some(it.to_owned()),
        };
        let order = Order {
            attempt: Some(1),
            ..order.clone()
        };
        runs.execute(&order, &end).unwrap();
    }),
    // A worktree is at a place that the caller doesn't choose, and a run has one.
    ("RecordWorktree", |runs, order, it| {
        let made = statemark_runs::body::WorktreeMade {
            region: Some(it.to_owned()),
            folder: it.to_owned(),
            root: it.to_owned(),
            branch: it.to_owned(),
            base: it.to_owned(),
        };
        let record = statemark_runs::runs::RecordWorktree { made };
        // It is an executor's under its lease alone.
        runs.execute(order, &record).unwrap_err();
    }),
    // In a state that isn't active, so that the run goes on.
    ("ReachLimit", |runs, order, it| {
        let reach = statemark_runs::runs::ReachLimit {
            limit: it.to_owned(),
            state: it.to_owned(),
            reason: it.to_owned(),
        };
        runs.execute(order, &reach).unwrap();
    }),
    ("SendEvent", |runs, order, it| {
        let send = |event: &str, data: Value| {
            let (event, data) = (event.to_owned(), Some(data));
            runs.execute(
                order,
                &SendEvent {
                    event,
                    data,
                    ..SendEvent::default()
                },
            )
            .unwrap();
        };
        // A name of two lines is no event's.
        if !it.contains('\n') {
            send(it, json!({it: it}));
        }
        send("go", json!({"word": it, it: {"deep": [it]}}));
        send("tell", json!({"word": it}));
        send("back", json!({"word": it}));
        // What nobody's guard says is refused, and stands in the refusal.
        if let Ok(claims) = Claims::new(vec![it.to_owned()]) {
            let claimed = SendEvent {
                event: "go".to_owned(),
                claims,
                ..SendEvent::default()
            };
            runs.execute(order, &claimed).unwrap();
        }
    }),
    ("Advance", |runs, order, it| {
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
            runs.execute(order, &Advance::new(report.clone()).on("plan"))
                .unwrap();
            runs.execute(order, &Advance::new(report.clone()).on("plan").for_unit(it))
                .unwrap();
            runs.execute(order, &Advance::new(report).on(it)).unwrap();
        }
        let begins = Order {
            run: format!("{}-b", order.run).parse().unwrap(),
            ..order.clone()
        };
        let start = StartRun {
            workflow: "fix".to_owned(),
            input: json!({"seed": it}),
            ..StartRun::default()
        };
        let first = Advance::status("plan", StepStatus::Running).starting(start);
        runs.execute(&begins, &first).unwrap();
    }),
    ("OpenRequest", |runs, order, it| {
        for kind in [
            RequestKind::Select,
            RequestKind::Json,
            RequestKind::Text,
            RequestKind::Review,
        ] {
            let ask = OpenRequest {
                choices: match kind {
                    RequestKind::Select => vec![it.to_owned(), "other".to_owned()],
                    _ => Vec::new(),
                },
                schema: (kind == RequestKind::Json).then(|| json!({"description": it})),
                details: json!({it: it}),
                approvers: Vec::new(),
                ..OpenRequest::new(kind, it)
            };
            runs.execute(order, &ask).unwrap();
            runs.execute(
                order,
                &OpenRequest {
                    state: Some(it.to_owned()),
                    approvers: vec![it.to_owned()],
                    ..ask
                },
            )
            .unwrap();
        }
    }),
    ("AnswerRequest", |runs, order, it| {
        let person = Order {
            actor: Actor::new(Role::Person).with_name("ann"),
            ..order.clone()
        };
        let open = runs.load(&order.run).unwrap().state;
        let mut answered = 0;
        for request in open.open_requests() {
            let id = &request.opened.request;
            for reply in [Reply::Value(json!(it)), Reply::SendBack] {
                let answer = AnswerRequest {
                    comment: Some(it.to_owned()),
                    ..AnswerRequest::new(id, reply)
                };
                let written = runs.execute(&person, &answer).unwrap();
                answered += usize::from(
                    written
                        .records
                        .iter()
                        .any(|it| it.kind == "request.resolved"),
                );
            }
        }
        assert!(answered >= 3, "a choice that was redacted can be chosen");
        runs.execute(&person, &AnswerRequest::new(it, Reply::Approve))
            .unwrap();
    }),
    ("WithdrawRequest", |runs, order, it| {
        let asked = runs
            .execute(order, &OpenRequest::new(RequestKind::Text, "?"))
            .unwrap();
        let open = asked.loaded.state.open_requests();
        let request = open.last().unwrap().opened.request.clone();
        let reason = Some(it.to_owned());
        runs.execute(
            order,
            &WithdrawRequest {
                request: it.to_owned(),
                reason: reason.clone(),
            },
        )
        .unwrap();
        runs.execute(order, &WithdrawRequest { request, reason })
            .unwrap();
    }),
    ("ReserveCall", |runs, order, it| {
        let reserve = ReserveCall {
            tool: it.to_owned(),
            call: Some(it.to_owned()),
            input: Some(Hash::digest(it.as_bytes())),
            files: vec![it.to_owned()],
            observe: true,
            ungranted: Some(it.to_owned()),
        };
        runs.execute(order, &reserve).unwrap();
        let again = runs.execute(order, &reserve).unwrap();
        assert!(again.records.is_empty(), "a call is known again");
    }),
    ("BindSession", |runs, order, it| {
        // A session's name tells sessions apart: none that has a secret in it is held.
        let session = it.to_owned();
        drop(runs.execute(order, &BindSession { session }));
    }),
    ("HoldSession", |runs, order, it| {
        let session = it.to_owned();
        drop(runs.execute(order, &HoldSession { session }));
    }),
    ("EndSession", |runs, order, it| {
        let session = it.to_owned();
        drop(runs.execute(order, &EndSession { session }));
    }),
    ("ReleaseSession", |runs, order, it| {
        let session = Some(it.to_owned());
        drop(runs.execute(order, &ReleaseSession { session }));
    }),
    ("DenyTool", |runs, order, it| {
        let denied = DenyTool {
            tool: it.to_owned(),
            reason: it.to_owned(),
        };
        runs.execute(order, &denied).unwrap();
    }),
    ("RecordCall", |runs, order, it| {
        let used = RecordCall {
            tool: it.to_owned(),
            call: Some(it.to_owned()),
            files: vec![it.to_owned(), format!("{it}.lock")],
            ..RecordCall::default()
        };
        runs.execute(order, &used).unwrap();
        runs.execute(
            &Order {
                actor: Actor::new(Role::Person).with_name("ann"),
                ..order.clone()
            },
            &ForceState {
                to: "plan".to_owned(),
                ..ForceState::default()
            },
        )
        .unwrap();
    }),
    ("RunCheckIn", |runs, order, it| {
        let what = check("echoing", it);
        let check = RunCheckIn {
            what,
            place: &CheckPlace::new("/"),
            cancelled: &|| false,
        };
        let written = runs.execute(order, &check).unwrap();
        let checked = written.outcome.check.unwrap();
        assert!(checked.ran.passed, "{:?}", checked.ran);
    }),
    ("RecordCheck", |runs, order, it| {
        let name: String = it.chars().filter(|it| !it.is_control()).take(128).collect();
        let ran = CheckResult {
            problem: Some(it.to_owned()),
            milliseconds: 1,
            stdout: it.to_owned(),
            stderr: format!("at {it}"),
            ..CheckResult::default()
        };
        let what = check(&name, it);
        runs.execute(order, &RecordCheck { what, ran }).unwrap();
    }),
    ("PauseRun", |runs, order, it| {
        let reason = Some(it.to_owned());
        runs.execute(order, &PauseRun { reason }).unwrap();
    }),
    ("ContinueRun", |runs, order, it| {
        let reason = Some(it.to_owned());
        runs.execute(order, &ContinueRun { reason }).unwrap();
    }),
    ("ForceState", |runs, order, it| {
        let person = Order {
            actor: Actor::new(Role::Person).with_name("ann"),
            ..order.clone()
        };
        let reason = Some(it.to_owned());
        runs.execute(
            &person,
            &ForceState {
                to: it.to_owned(),
                context: Map::from_iter([("n".to_owned(), json!(it))]),
                reason: reason.clone(),
            },
        )
        .unwrap();
        runs.execute(
            &person,
            &ForceState {
                to: "plan".to_owned(),
                context: Map::from_iter([("note".to_owned(), json!(it))]),
                reason,
            },
        )
        .unwrap();
    }),
    ("ReportProgress", |runs, order, it| {
        let report = ReportProgress {
            message: it.to_owned(),
            fraction: Some(0.5),
            unit: Some(it.to_owned()),
        };
        runs.execute(order, &report).unwrap();
    }),
    ("TakeCheckpoint", |runs, order, it| {
        let checkpoint = TakeCheckpoint {
            folder: work(order),
            name: Some(it.to_owned()),
            reason: Some(it.to_owned()),
        };
        runs.execute(order, &checkpoint).unwrap();
    }),
    ("RestoreFiles", |runs, order, it| {
        let written = runs
            .execute(
                order,
                &RestoreFiles {
                    name: it.to_owned(),
                },
            )
            .unwrap();
        assert!(
            written.records.iter().all(|it| it.kind != "refused"),
            "its name is known again"
        );
        runs.execute(
            order,
            &RestoreFiles {
                name: format!("{it}?"),
            },
        )
        .unwrap();
    }),
    ("FinishRestore", |runs, order, _| {
        let _ = runs.execute(order, &FinishRestore);
    }),
    ("GiveUpRestore", |runs, order, it| {
        let reason = it.to_owned();
        let _ = runs.execute(order, &GiveUpRestore { reason });
    }),
    ("PutArtifact", |runs, order, it| {
        let put = PutArtifact {
            media: Some(it.to_owned()),
            step: Some(it.to_owned()),
            unit: Some(it.to_owned()),
            ..PutArtifact::draft("notes", format!("# {it}\n\n{it}\n"))
        };
        runs.execute(order, &put).unwrap();
        runs.execute(order, &PutArtifact::draft(it, it)).unwrap();
    }),
    ("EditArtifact", |runs, order, it| {
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
            runs.execute(order, &edit).unwrap();
        };
        edit(&format!("# {it}"), &format!("# {it}{it}\n{one}@@"));
        edit("@@", other);
        edit(it, it);
    }),
    ("FinalizeArtifact", |runs, order, it| {
        let finalize = |name: &str| FinalizeArtifact {
            name: name.to_owned(),
            revision: None,
        };
        runs.execute(order, &finalize(it)).unwrap();
        runs.execute(order, &finalize("notes")).unwrap();
    }),
    ("DiscardArtifact", |runs, order, it| {
        let discard = |name: &str| DiscardArtifact {
            name: name.to_owned(),
            revision: Some(1),
            reason: Some(it.to_owned()),
        };
        runs.execute(order, &discard(it)).unwrap();
        runs.execute(order, &discard("notes")).unwrap();
    }),
    ("ReportEffect", |runs, order, it| {
        let report = ReportEffect {
            key: it.to_owned(),
            status: EffectStatus::Intended,
            detail: json!({it: it}),
        };
        runs.execute(order, &report).unwrap();
    }),
    ("MigrateRun", |runs, order, it| {
        let states = [(it.to_owned(), it.to_owned())].into();
        let timers = [(it.to_owned(), it.to_owned())].into();
        runs.execute(
            order,
            &MigrateRun {
                workflow: None,
                states,
                timers,
            },
        )
        .unwrap();
        let _ = runs.execute(
            order,
            &MigrateRun {
                workflow: Some(it.to_owned()),
                ..MigrateRun::default()
            },
        );
    }),
    ("ForkRun", |runs, order, it| {
        let copy = Order {
            run: format!("{}-f", order.run).parse().unwrap(),
            ..order.clone()
        };
        let fork = ForkRun {
            input: json!({"seed": it, it: it}),
            title: Some(it.to_owned()),
            ..ForkRun::new(order.run.clone(), 1)
        };
        // Only a person sets a field that the definition doesn't list.
        let copy = Order {
            actor: Actor::new(Role::Person).with_name("ann"),
            ..copy
        };
        runs.execute(&copy, &fork).unwrap();
        let before = ForkRun {
            reset: vec![it.to_owned()],
            ..ForkRun::new(order.run.clone(), 1)
        };
        runs.execute(&copy, &before).unwrap_err();
    }),
    ("RewindRun", |runs, order, it| {
        let person = Order {
            actor: Actor::new(Role::Person).with_name("ann"),
            ..order.clone()
        };
        let mut rewind = RewindRun {
            reason: Some(it.to_owned()),
            token: Some(it.to_owned()),
            ..RewindRun::to(1)
        };
        rewind.scope = Scope::Workspace;
        rewind.checkpoint = Some(it.to_owned());
        let _ = runs.execute(&person, &rewind);
        let mut rewind = RewindRun {
            reason: Some(it.to_owned()),
            force: true,
            ..RewindRun::to(1)
        };
        rewind.token = Some(plan_rewind(runs, &order.run, &rewind).unwrap().token);
        runs.execute(&person, &rewind).unwrap();
    }),
    ("WriteRaw", |runs, order, it| {
        let progress = Progress {
            message: it.to_owned(),
            done: None,
            step: None,
            unit: None,
        };
        let raw = WriteRaw(|_: &Loaded, _| {
            vec![
                Body::Progress(progress.clone()),
                Body::Unknown {
                    kind: "later".to_owned(),
                    v: 9,
                    body: json!({it: [it]}),
                },
            ]
        });
        runs.execute(order, &raw).unwrap();
    }),
    ("acquire_lease", |runs, order, it| {
        refused(acquire_lease(runs, &order.run, it, 10).map(drop));
    }),
    ("CancelRun", |runs, order, it| {
        runs.execute(order, &CancelRun::because(it)).unwrap();
    }),
    ("an order itself", |runs, order, it| {
        let send = SendEvent {
            event: "go".to_owned(),
            data: None,
            ..SendEvent::default()
        };
        let plain: String = it.chars().filter(|it| !it.is_control()).take(128).collect();
        if !is_whole(&plain) {
            return;
        }
        let named = Order {
            actor: Actor::new(Role::Agent).with_name(it),
            ..order.clone()
        };
        refused(runs.execute(&named, &send).map(drop));
        let mut session = order.clone();
        session.actor.session = Some(it.to_owned());
        refused(runs.execute(&session, &send).map(drop));
        let keyed = Order {
            key: Some(plain.parse().unwrap()),
            ..order.clone()
        };
        refused(runs.execute(&keyed, &send).map(drop));
        let other = Order {
            run: plain.parse().unwrap(),
            ..order.clone()
        };
        let start = StartRun {
            workflow: "fix".to_owned(),
            ..StartRun::default()
        };
        refused(runs.execute(&other, &start).map(drop));
        refused(
            runs.execute(&other, &ForkRun::new(order.run.clone(), 1))
                .map(drop),
        );
        refused(
            runs.execute(
                &other,
                &Advance::status("plan", StepStatus::Running).starting(start),
            )
            .map(drop),
        );
    }),
];

/// Whether a name that was made of a canary still is one.
fn is_whole(name: &str) -> bool {
    redactor().find(name.as_bytes()).is_some()
}

/// A check that says a canary.
fn check(name: &str, canary: &str) -> RunCheck {
    RunCheck {
        name: name.to_owned(),
        declared: Declaration {
            command: vec!["echo".to_owned(), canary.to_owned()],
            cwd: None,
            env: [("CANARY".to_owned(), canary.to_owned())].into(),
            inherit: Vec::new(),
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
