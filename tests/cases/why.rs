//! `why`: is each reason true, and does what it proposes unblock?
//!
//! A file in `why/` is a transcript as those in `cases/` are. For each line `why`, every reason is held against the fold,
//! or against what a copy of the run answers; and what it proposes is done to another copy, of which the reason must not be
//! true any more. What came of it stands behind `=>`. A copy is made by doing again what was done before the line.
//!
//! ```text
//! > why go with {"n": 1}              where a call needs data, this is it
//! ```

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;
use statemark_harness::{Suite, files, root};
use statemark_runs::body::{EffectStatus, RequestKind, StepStatus};
use statemark_runs::runs::{ReportEffect, RewindRun};
use statemark_runs::{
    Actor, Advance, AnswerRequest, Claims, ContinueRun, Loaded, OpenRequest, Order, Reason, Remedy,
    Reply, Role, RunError, SendEvent, StartRun, explain, plan_rewind,
};

use crate::harness::Bench;
use crate::script::{Case, answer, reports, shown, travel};

/// Least number of reasons that the cases ask for.
const REASONS: usize = 60;

pub(crate) fn add(suite: &mut Suite) {
    let folder = root().join("tests/runs/why");
    let texts: Vec<_> = files(&folder).iter().map(fs::read_to_string).collect();
    suite.check("why::asks_for_many_reasons", move || {
        let texts = texts.iter().flatten();
        match texts.map(|text| reasons(text)).sum() {
            REASONS.. => Ok(()),
            reasons => Err(format!("{reasons} reasons, expected at least {REASONS}")),
        }
    });
    suite.documents("why", &folder, |case| play(&case.text));
}

/// Counts the reasons in a played transcript: the lines after a question, without what following them did.
fn reasons(text: &str) -> usize {
    let mut is_asked = false;
    let is_reason = |line: &&str| {
        if let Some(line) = line.strip_prefix("> ") {
            is_asked = Question::of(line).is_some();
            return false;
        }
        is_asked && !line.starts_with("=>") && !line.starts_with("```")
    };
    text.lines().filter(is_reason).count()
}

fn play(text: &str) -> String {
    let case = Case::of(text);
    let bench = Bench::new(&case.specs());
    let mut played = format!("{}```transcript\n", case.before);
    for (at, line) in case.lines.iter().enumerate() {
        let _ = writeln!(played, "> {line}");
        match Question::of(line) {
            Some(question) => {
                let copy = || again(&case, at);
                played += &question.ask_why(&bench, &copy);
            }
            None => played += &answer(&bench, line),
        }
    }
    played + "```" + case.after
}

/// Everything that was done before a line.
fn again(case: &Case<'_>, at: usize) -> Bench {
    let bench = Bench::new(&case.specs());
    for line in case.lines.iter().take(at) {
        if Question::of(line).is_none() {
            answer(&bench, line);
        }
    }
    bench
}

/// What a line `why` asks.
struct Question<'l> {
    run: &'l str,
    event: Option<&'l str>,
    /// What comes with a call that needs data.
    data: Option<Value>,
}

impl<'l> Question<'l> {
    fn of(line: &'l str) -> Option<Self> {
        let elsewhere = line.strip_prefix('@').and_then(|it| it.split_once(' '));
        let (run, line) = elsewhere.unwrap_or(("r", line));
        let rest = line.strip_prefix("why")?;
        let (event, data) = rest.split_once(" with ").unwrap_or((rest, ""));
        let event = Some(event.trim()).filter(|it| !it.is_empty());
        let data = (!data.is_empty()).then(|| serde_json::from_str(data).expect("JSON"));
        Some(Self { run, event, data })
    }

    fn why(&self, bench: &Bench) -> (Loaded, Vec<Reason>) {
        let loaded = bench.runs.load(&self.run.parse().unwrap()).unwrap();
        let why = explain(&loaded, self.event).unwrap();
        assert_eq!(why.status, loaded.state.status());
        (loaded, why.reasons)
    }

    fn ask_why(&self, bench: &Bench, copy: &dyn Fn() -> Bench) -> String {
        let (loaded, reasons) = self.why(bench);
        assert!(!reasons.is_empty(), "a run that nothing is to be said of");
        let mut text = String::new();
        for reason in &reasons {
            let _ = write!(text, "{}: {}", reason.code(), reason.text());
            assert!(
                self.is_true(&loaded, reason, copy),
                "it isn't so: {reason:#?}"
            );
            let Some(call) = &reason.remedy else {
                text.push('\n');
                continue;
            };
            let _ = writeln!(text, " ({})", serde_json::to_string(call).unwrap());
            let copied = copy();
            let came = self.follow(&copied, self.run, call).unwrap();
            for line in came.lines() {
                let _ = writeln!(text, "=> {line}");
            }
            let refused = came.contains("refused");
            assert!(
                !refused && !came.is_empty(),
                "{call:?} doesn't unblock: {came}"
            );
            // An event that could be sent has moved the run; that it can be sent again is no obstacle.
            let moves = matches!(reason.code(), "can_be_sent" | "unknown_event");
            if !moves && !matches!(call, Remedy::Start { .. }) {
                let (_, then) = self.why(&copied);
                let same = |it: &Reason| it == reason;
                assert!(
                    !then.iter().any(same),
                    "{call:?} leaves it as it was: {came}"
                );
            }
        }
        text
    }

    /// Whether a reason is as the fold has it, or as the run itself answers.
    fn is_true(&self, loaded: &Loaded, reason: &Reason, copy: &dyn Fn() -> Bench) -> bool {
        let state = &loaded.state;
        let text = &reason.text();
        let open = || {
            let mut open = state.open_requests().into_iter();
            open.any(|it| text.contains(&it.opened.prompt))
        };
        // Whoever sends it nevertheless gets this answer.
        let sent = |codes: &[&str]| {
            let any = || loaded.workflow.table().events().next().unwrap().0;
            let table = loaded.workflow.table();
            let told = text.split('`').nth(1);
            let told = told.filter(|name| table.event_named(name).is_some());
            let event = self.event.or(told);
            let event = event.unwrap_or_else(|| table.event_name(any()));
            let line = format!("@{} send {event}", self.run);
            let answer = answer(&copy(), &line);
            let is_one = |code: &&str| answer.starts_with(&format!("refused ({code})"));
            codes.iter().any(is_one)
        };
        let facts = || {
            let legal = loaded.legality().transitions().unwrap();
            let facts = legal
                .iter()
                .flat_map(|it| &it.unmet)
                .flat_map(|it| &it.facts);
            let mut facts = facts.filter(|it| !it.field.starts_with("event."));
            facts.all(|it| {
                let mut path = it.field.split('.');
                let top = state.context.get(path.next().unwrap());
                path.fold(top, |value, key| value?.get(key)) == it.value.as_ref()
            })
        };
        match reason.code() {
            "can_be_sent" | "caught" => reason.remedy.is_some(),
            "guard_false" | "guard_undecided" => {
                let event = text.split('`').nth(1).unwrap();
                let legal = loaded.legality().transitions().unwrap();
                let other = legal.iter().any(|it| it.enabled && it.event == event);
                facts() && (other || sent(&["not_taken", "bad_data"]))
            }
            code @ ("artifact_missing" | "check_missing" | "fact_missing") => sent(&[code]),
            "visits_spent" => sent(&["max_visits"]),
            "ambiguous_event" => sent(&["ambiguous_event"]),
            "held" => state.held_by().is_some() && sent(&["waiting_for_request"]),
            "unknown_event" | "internal_event" => sent(&["unknown_event"]),
            "not_here" => sent(&["not_taken"]),
            "child_unknown" => sent(&["child_unknown"]),
            "child_runs" => state.children.values().any(|it| it.ended.is_none()),
            "approval_open" | "question_blocks" => open() && state.held_by().is_some(),
            "question_open" => open(),
            "paused" => {
                let why = state.paused.as_ref().unwrap();
                let who = state.paused_by.as_ref().unwrap().to_string();
                text.contains(why) && text.contains(&who) && sent(&["paused"])
            }
            "cancelled" => state.cancelled.is_some() && sent(&["cancelled"]),
            "ended" => state.ended.or(state.closed).is_some() && sent(&["ended"]),
            "step_waits" => state
                .steps
                .values()
                .any(|it| it[""].status == StepStatus::Waiting),
            "timer_pending" | "timer_held" => {
                let mut timers = state.timers.iter();
                timers.any(|it| text.contains(it.name.trim_start_matches("timer:")))
            }
            "calls_spent" => {
                let state = text.split('`').nth(1).unwrap();
                let line = format!("@{} reserve Edit", self.run);
                let denied = answer(&copy(), &line);
                let moved = denied.contains("on_max_iterations");
                denied.contains("may not run")
                    && (moved || denied.contains(&format!("`{state}` has used its")))
            }
            "queued" => state
                .queue
                .iter()
                .any(|it| text.contains(&format!("`{}`", it.event))),
            "effect_unknown" => {
                let key = text.split('`').nth(3).unwrap();
                matches!(
                    state.effects[key].status,
                    Some(EffectStatus::Unknown | EffectStatus::Intended)
                )
            }
            "refused" => {
                let (seq, refused) = state.refused.as_ref().unwrap();
                *seq == loaded.head.seq && text.contains(&refused.reason)
            }
            "dead_end" | "preceded" => !loaded
                .legality()
                .transitions()
                .unwrap()
                .iter()
                .any(|it| it.enabled),
            other => panic!("nobody has said how `{other}` can be checked"),
        }
    }

    /// Does what was proposed, as the one who may.
    fn follow(&self, bench: &Bench, run: &str, call: &Remedy) -> Result<String, RunError> {
        let order = bench.order(run);
        let person = || Order {
            actor: Actor::new(Role::Person).with_name("zoe"),
            ..bench.order(run)
        };
        match call {
            Remedy::OneOf { remedies } => self.follow(bench, run, &remedies[0]),
            Remedy::Send {
                event,
                fields,
                claims,
            } => {
                let data = (!fields.is_empty()).then(|| {
                    let data = self.data.clone().expect("data, behind `with`");
                    for field in fields {
                        let mut path = field.split('.');
                        let there = path.try_fold(&data, |value, key| value.get(key));
                        assert!(there.is_some(), "{field} is wanted");
                    }
                    data
                });
                let event = event.clone();
                Ok(shown(&bench.runs.execute(
                    &order,
                    &SendEvent {
                        event,
                        data,
                        claims: Claims::new(claims.clone()).unwrap(),
                    },
                )?))
            }
            Remedy::Approve { request } | Remedy::Answer { request } => {
                self.answer_request(bench, run, request)
            }
            Remedy::Deny { request } => {
                let answer = AnswerRequest::new(request, Reply::Deny);
                Ok(shown(&bench.runs.execute(&person(), &answer)?))
            }
            Remedy::SendBack { request } => self.send_back(bench, run, request),
            Remedy::AskReview => {
                let ask = OpenRequest::new(RequestKind::Review, "Is it good?");
                let asked = bench.runs.execute(&order, &ask)?;
                let open = asked.loaded.state.open_requests();
                self.send_back(bench, run, &open.last().unwrap().opened.request)
            }
            Remedy::Continue => Ok(shown(
                &bench.runs.execute(&person(), &ContinueRun::default())?,
            )),
            Remedy::Report { step } => {
                let advance = Advance::status(step.clone(), StepStatus::Running);
                Ok(reports::shown(&bench.runs.execute(&order, &advance)?))
            }
            Remedy::Look { run: child } => self.bring_home(bench, run, child),
            Remedy::Wait { until } => {
                let now = bench.runs.now();
                let milliseconds = until.saturating_sub(now);
                let seconds = milliseconds.div_ceil(1_000);
                Ok(answer(bench, &format!("wait {seconds}s")))
            }
            Remedy::Start { workflow } => {
                let start = StartRun {
                    workflow: workflow.clone(),
                    ..StartRun::default()
                };
                let begun = bench.runs.execute(&bench.order("another"), &start)?;
                Ok(format!(
                    "another in {}",
                    begun.loaded.state.leaves.join(", ")
                ))
            }
            Remedy::Effect { key } => {
                let report = ReportEffect {
                    key: key.clone(),
                    status: EffectStatus::Failed,
                    detail: Value::Null,
                };
                Ok(travel::told(&bench.runs.execute(&order, &report)?))
            }
            Remedy::Rewind { to, force } => {
                let mut rewind = RewindRun::to(*to);
                rewind.force = *force;
                rewind.token = Some(plan_rewind(&bench.runs, &order.run, &rewind)?.token);
                Ok(travel::told(&bench.runs.execute(&order, &rewind)?))
            }
            Remedy::SubmitArtifact { artifact } => {
                let content = self.data.clone().expect("content, behind `with`");
                Ok(answer(bench, &format!("@{run} final {artifact} {content}")))
            }
            Remedy::RunCheck { check } => Ok(answer(bench, &format!("@{run} ran {check} 0"))),
            Remedy::FinalizeArtifact { artifact, revision } => Ok(answer(
                bench,
                &format!("@{run} finalize {artifact} {revision}"),
            )),
            other @ Remedy::Restore => panic!("transcripts have no files for {other:?}"),
        }
    }

    /// Sends a review back.
    fn send_back(&self, bench: &Bench, run: &str, request: &str) -> Result<String, RunError> {
        let answer = AnswerRequest {
            comment: Some("Not yet.".to_owned()),
            ..AnswerRequest::new(request, Reply::SendBack)
        };
        let order = Order {
            actor: Actor::new(Role::Person).with_name("zoe"),
            ..bench.order(run)
        };
        Ok(shown(&bench.runs.execute(&order, &answer)?))
    }

    /// Settles a request as one of those who may.
    fn answer_request(&self, bench: &Bench, run: &str, request: &str) -> Result<String, RunError> {
        let loaded = bench.runs.load(&run.parse().unwrap())?;
        let asked = &loaded.state.requests[request];
        let opened = &asked.opened;
        let other = |name: &&String| Some(*name) != asked.asker.name.as_ref();
        let name = opened.approvers.iter().find(other);
        let name = name.map_or("zoe", |it| it);
        let reply = match opened.kind {
            RequestKind::Approval | RequestKind::Confirm | RequestKind::Review => Reply::Approve,
            RequestKind::Select => Reply::Value(opened.choices[0].clone().into()),
            RequestKind::Text => Reply::Value("some words".into()),
            RequestKind::Json => Reply::Value(self.data.clone().expect("data, behind `with`")),
        };
        let order = Order {
            actor: Actor::new(Role::Person).with_name(name),
            ..bench.order(run)
        };
        let written = bench
            .runs
            .execute(&order, &AnswerRequest::new(request, reply))?;
        Ok(shown(&written))
    }

    /// Drives a child by what is proposed for it, until its parent doesn't wait for it any more.
    fn bring_home(&self, bench: &Bench, run: &str, child: &str) -> Result<String, RunError> {
        let mut text = String::new();
        for _ in 0..8 {
            let loaded = bench.runs.load(&run.parse().unwrap())?;
            if loaded.state.children[child].ended.is_some() {
                let _ = writeln!(text, "{run} in {}", loaded.state.leaves.join(", "));
                return Ok(text);
            }
            let loaded = bench.runs.load(&child.parse().unwrap())?;
            let reasons = explain(&loaded, None)?.reasons;
            let call = reasons.iter().find_map(|it| it.remedy.as_ref());
            let call = call.expect("a way on for the child");
            let _ = write!(text, "{child}: {}", self.follow(bench, child, call)?);
        }
        panic!("`{child}` doesn't end: {text}");
    }
}
