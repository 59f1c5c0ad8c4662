//! Lines of transcripts that go through a run's time.
//!
//! ```text
//! > @f fork r 3 {"note": 1}         the run `f` begins with `r` up to record 3; with other data, if any is given
//! > @f fork r 3 before plan,work    the same before those states were entered
//! > forking r 3 before plan         where a fork would begin
//! > plan 3                          what a rewind to record 3 would undo
//! > rewind 3                        the same with the plan's token; `rewind 3 force` crosses effects
//! > rewind 3 with TOKEN             the same with some token; `rewind 3 without` with none
//! > effect r:2:1 succeeded          what became of an effect
//! > effects                         the effects that are open
//! > spend 5                         so many tokens were read
//! > keyed k go                      an event under the key `k`
//! > replay                          the journal is made again; `replay under w`: with the table of the workflow `w`
//! > forge plan                      an event is written that no machine has made
//! > forge plan by force             a forced state; `by force STATE`: another one; `by interrupt NAME`: a detour;
//!                                 `by request ID`: that it has expired
//! > moving w {"plan": "idea"}       what a migration to the workflow `w` would do, with other names of states
//! > migrate w {"plan": "idea"}      does it
//! > timeline                        everything that has become of the run
//! > pass 4s                         lets time pass; nothing that is due is taken
//! > ask ship it?                    an approval is opened, as if an agent had asked
//! ```

use std::fmt::Write as _;

use serde_json::{Map, Value};
use statemark_runs::body::{
    Cause, Event, Forced, Opened, RequestKind, Resolution, Resolved, StepRecord, Usage,
};
use statemark_runs::runs::{
    ForkRun, Marked, MigrateRun, ReportEffect, RewindRun, Timeline, WriteRaw,
};
use statemark_runs::{
    Body, Loaded, Order, RunError, SendEvent, Written, load_timeline, plan_fork, plan_migration,
    plan_rewind, replay_run,
};

use crate::harness::{BEGIN, Bench};

pub(crate) fn act(bench: &Bench, order: &Order, line: &str) -> Result<String, RunError> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let run = order.run.as_str();
    match word {
        "fork" | "forking" => {
            let mut words = rest.splitn(3, ' ');
            let from = words.next().unwrap().parse().unwrap();
            let at = words.next().unwrap().parse().unwrap();
            let mut fork = ForkRun::new(from, at);
            match words.next() {
                Some("without artifacts") => fork.drop_artifacts = true,
                Some(rest) => match rest.strip_prefix("before ") {
                    Some(states) => fork.reset = states.split(',').map(str::to_owned).collect(),
                    None => fork.input = serde_json::from_str(rest).unwrap(),
                },
                None => {}
            }
            if word == "forking" {
                let plan = plan_fork(&bench.runs, &fork)?;
                return Ok(format!("at {}: {}\n", plan.at, plan.leaves.join(", ")));
            }
            let forked = bench.runs.execute(order, &fork)?;
            let state = &forked.loaded.state;
            Ok(format!(
                "record {}: {}\n",
                state.seq,
                state.leaves.join(", ")
            ))
        }
        "ask" => {
            let ask = WriteRaw(|loaded: &Loaded, now| {
                let opened = Opened {
                    request: format!("{run}:{}", loaded.head.seq + 1),
                    kind: RequestKind::Approval,
                    prompt: rest.to_owned(),
                    choices: Vec::new(),
                    schema: None,
                    details: Value::Null,
                    event: None,
                    states: loaded.state.leaves.clone(),
                    approvers: Vec::new(),
                    blocking: true,
                    expires: Some(now + 60_000),
                    signed: false,
                    again: None,
                };
                vec![Body::Opened(opened)]
            });
            let written = bench.runs.execute(order, &ask)?;
            Ok(format!("record {}\n", written.loaded.head.seq))
        }
        "requests" => {
            let loaded = bench.runs.load(&order.run)?;
            let mut text = String::new();
            for (id, request) in &loaded.state.requests {
                let open = if request.resolved.is_some() {
                    "over"
                } else {
                    "open"
                };
                let asker = &request.asker;
                let _ = writeln!(text, "{id} {open}: {} ({asker})", request.opened.prompt);
            }
            Ok(text)
        }
        "pass" => {
            let seconds: u64 = rest.trim_end_matches('s').parse().unwrap();
            bench.clock.advance(seconds * 1_000);
            Ok(String::new())
        }
        "plan" => {
            let rewind = RewindRun::to(rest.parse().unwrap());
            let plan = plan_rewind(&bench.runs, &order.run, &rewind)?;
            Ok(serde_json::to_string_pretty(&plan).unwrap() + "\n")
        }
        "rewind" => {
            let (to, how) = rest.split_once(' ').unwrap_or((rest, ""));
            let mut rewind = RewindRun::to(to.parse().unwrap());
            rewind.force = how == "force";
            rewind.token = match how.split_once(' ') {
                Some((_, token)) => Some(token.to_owned()),
                None if how == "without" => None,
                None => plan_rewind(&bench.runs, &order.run, &rewind)
                    .ok()
                    .map(|it| it.token),
            };
            Ok(told(&bench.runs.execute(order, &rewind)?))
        }
        "effect" => {
            let (key, status) = rest.split_once(' ').unwrap();
            let report = ReportEffect {
                key: key.to_owned(),
                status: serde_json::from_value(status.into()).unwrap(),
                detail: Value::Null,
            };
            Ok(told(&bench.runs.execute(order, &report)?))
        }
        "effects" => {
            let loaded = bench.runs.load(&order.run)?;
            let lines = loaded.open_effects().into_iter();
            let lines = lines.map(|it| serde_json::to_string(&it).unwrap() + "\n");
            Ok(lines.collect())
        }
        "spend" => {
            let spend = WriteRaw(|_: &Loaded, _| {
                let usage = Usage {
                    input_tokens: rest.parse().unwrap(),
                    ..Usage::default()
                };
                vec![Body::Usage(usage)]
            });
            let written = bench.runs.execute(order, &spend)?;
            let spent = written.loaded.state.usage.input_tokens;
            Ok(format!("{spent} by now\n"))
        }
        "decide" => {
            let decide = WriteRaw(|_: &Loaded, _| {
                let resolved = Resolved {
                    request: rest.to_owned(),
                    resolution: Resolution::Approved,
                    value: None,
                    comment: None,
                    relayed: false,
                    elicited: false,
                    signature: None,
                };
                vec![Body::Resolved(resolved)]
            });
            let written = bench.runs.execute(order, &decide)?;
            Ok(told(&written))
        }
        "keyed" => {
            let (key, event) = rest.split_once(' ').unwrap();
            let mut order = order.clone();
            order.key = Some(key.parse().unwrap());
            let send = SendEvent {
                event: event.to_owned(),
                data: None,
                ..SendEvent::default()
            };
            let sent = bench.runs.execute(&order, &send)?;
            let again = if sent.replayed { "as before: " } else { "" };
            Ok(format!("{again}{}", told(&sent)))
        }
        "replay" => {
            let under = rest.strip_prefix("under ");
            let under = under.map(|id| bench.runs.workflows().find(id).unwrap());
            let replay = replay_run(&bench.runs, &order.run, under)?;
            Ok(serde_json::to_string(&replay).unwrap() + "\n")
        }
        "forge" => {
            let body = forged(rest);
            let forge = WriteRaw(|_: &Loaded, _| vec![body.clone()]);
            let written = bench.runs.execute(order, &forge)?;
            Ok(told(&written))
        }
        "moving" | "migrate" => {
            let (id, states) = rest.split_once(' ').unwrap_or((rest, "{}"));
            let migrate = MigrateRun {
                workflow: Some(id.to_owned()),
                states: serde_json::from_str(states).unwrap(),
                ..MigrateRun::default()
            };
            if word == "migrate" {
                return Ok(told(&bench.runs.execute(order, &migrate)?));
            }
            let plan = plan_migration(&bench.runs, &order.run, &migrate, order.actor.role)?;
            let mut text = String::new();
            for (kind, rows) in &plan.comparison.rows {
                for row in &rows.removed {
                    let _ = writeln!(text, "- {kind}: {row}");
                }
                for row in &rows.added {
                    let _ = writeln!(text, "+ {kind}: {row}");
                }
            }
            for obstacle in &plan.obstacles {
                let _ = writeln!(text, "{}: {}", obstacle.what, obstacle.reason);
            }
            Ok(text)
        }
        "timeline" => Ok(render_timeline(&load_timeline(&bench.runs, &order.run)?)),
        _ => panic!("no such line: {line}"),
    }
}

/// A step into a state that no machine has made.
fn forged(line: &str) -> Body {
    let (state, how) = line.split_once(" by ").unwrap_or((line, ""));
    let step = StepRecord {
        leaves: vec![state.to_owned()],
        ..StepRecord::default()
    };
    if let Some(to) = how.strip_prefix("force") {
        return Body::Forced(Forced {
            to: if to.is_empty() { state } else { to.trim() }.to_owned(),
            context: Map::new(),
            reason: None,
            step,
        });
    }
    if let Some(request) = how.strip_prefix("request ") {
        return Body::Event(Event {
            event: "request.expired".to_owned(),
            data: None,
            claims: Vec::new(),
            cause: Some(Cause::Request {
                request: request.to_owned(),
            }),
            step,
        });
    }
    let interrupt = how.strip_prefix("interrupt ");
    let cause = interrupt.map(|name| Cause::Interrupt {
        interrupt: name.to_owned(),
        path: "db/a.sql".to_owned(),
        returns: false,
    });
    Body::Event(Event {
        event: interrupt.map_or_else(|| "go".to_owned(), |name| format!("interrupt {name}")),
        data: None,
        claims: Vec::new(),
        cause,
        step,
    })
}

/// The records that were written, and where the run is.
pub(crate) fn told<T>(written: &Written<T>) -> String {
    let mut text = String::new();
    for record in &written.records {
        let _ = writeln!(text, "{} {}", record.seq, record.summary());
    }
    let state = &written.loaded.state;
    let _ = writeln!(text, "in {}", state.leaves.join(", "));
    text
}

fn render_timeline(timeline: &Timeline) -> String {
    let mut text = String::new();
    for (run, at) in &timeline.origins {
        let _ = writeln!(text, "begins with {run} up to {at}");
    }
    for branch in &timeline.branches {
        let from = branch.from.map(|from| format!(" from {from}"));
        let counts = match branch.counts {
            Some(last) if last == branch.last => String::new(),
            Some(last) => format!(", counts up to {last}"),
            None => ", taken back".to_owned(),
        };
        let (first, last) = (branch.first, branch.last);
        let from = from.unwrap_or_default();
        let _ = writeln!(text, "branch {first}-{last}{from}{counts}");
    }
    for mark in &timeline.marks {
        let what = match &mark.what {
            Marked::Started => "started".to_owned(),
            Marked::Forked { from, at } => format!("forked from {from} at {at}"),
            Marked::Forced { to } => format!("forced to {to}"),
            Marked::Rewound { to, crossed, .. } => format!("rewound to {to} {}", crossed.join(" ")),
            Marked::CheckpointTaken { name } => format!("checkpoint {name}"),
            Marked::CheckpointRestored { name, done } => format!("restored {name}: {done}"),
            Marked::Migrated { workflow } => {
                let workflow = workflow.iter().map(|it| format!(" to {it}"));
                format!("migrated{}", workflow.collect::<String>())
            }
            other => format!("{other:?}").to_lowercase(),
        };
        let dead = if mark.counts { "" } else { " (taken back)" };
        let _ = writeln!(text, "{} {} by {}{dead}", mark.seq, what.trim(), mark.actor);
    }
    for visit in &timeline.visits {
        let left = match (visit.left, visit.until) {
            (Some(left), Some(until)) => format!(" to {left} ({} ms)", until - BEGIN),
            _ => " on".to_owned(),
        };
        let dead = if visit.counts { "" } else { " (taken back)" };
        let (state, number, entered) = (&visit.state, visit.number, visit.entered);
        let since = visit.since - BEGIN;
        let _ = writeln!(text, "{state} {number}: {entered} ({since} ms){left}{dead}");
    }
    for fork in &timeline.forks {
        let (at, run, status) = (fork.at, &fork.run, &fork.status);
        let _ = writeln!(
            text,
            "fork at {at}: {run} {status} in {}",
            fork.leaves.join(", ")
        );
    }
    text
}
