//! What each kind of record changes.

use super::{Child, EffectState, Request, Revision, RunState, StepState};
use crate::body::{Body, Cause, Step, StepRecord, StepStatus, Tool, ToolVerdict};
use crate::record::Record;
use crate::store::PendingTimer;

/// Changes the state by what a record says.
pub(super) fn apply(state: &mut RunState, record: &Record, body: Body) {
    match body {
        Body::Started(mut started) => {
            let step = std::mem::take(&mut started.step);
            state.begin(started);
            stepped(state, record, step);
        }
        Body::Forked(forked) => {
            state.forked.push((forked.from, forked.at));
            state.context.extend(forked.input);
            if forked.drop_artifacts {
                state.artifacts.clear();
            }
        }
        Body::Event(event) => {
            let took = event.step.steps.iter().any(|it| !it.transitions.is_empty());
            state.transitions += u64::from(took);
            if let Some(Cause::Timer { timer }) = &event.cause {
                // A timer may be armed several times; the earliest is the one that was due.
                let name = format!("timer:{timer}");
                if let Some(place) = state.timers.iter().position(|it| it.name == name) {
                    state.timers.remove(place);
                }
            }
            stepped(state, record, event.step);
        }
        Body::Forced(forced) => {
            state.forced.push((record.seq, forced.to));
            stepped(state, record, forced.step);
        }
        Body::Step(step) => reported(state, record, step),
        Body::Tool(tool) => called(state, &tool),
        Body::Opened(opened) => {
            if let Some(due) = opened.expires {
                let name = format!("request:{}", opened.request);
                let seq = record.seq;
                arm(state, PendingTimer { due, name, seq });
            }
            let request = Request {
                seq: record.seq,
                time: record.time,
                asker: record.actor.clone(),
                resolved: None,
                opened,
            };
            state
                .requests
                .insert(request.opened.request.clone(), request);
        }
        Body::Resolved(resolved) => {
            disarm(state, &format!("request:{}", resolved.request));
            if let Some(request) = state.requests.get_mut(&resolved.request) {
                request.resolved = Some((resolved, record.actor.clone(), record.seq));
            }
        }
        Body::Artifact(artifact) => {
            let revision = Revision {
                seq: record.seq,
                time: record.time,
                artifact,
            };
            let name = revision.artifact.name.clone();
            state.artifacts.entry(name).or_default().push(revision);
        }
        Body::CheckpointTaken(taken) => {
            state.checkpoints.insert(taken.name.clone(), taken);
        }
        Body::Effect(effect) => {
            let entry = state.effects.entry(effect.key);
            let found = entry.or_insert_with(|| EffectState {
                name: effect.name,
                seq: record.seq,
                status: None,
            });
            found.status = Some(effect.status);
        }
        Body::Paused(paused) => {
            state.paused = Some(paused.reason.unwrap_or_default());
        }
        Body::Continued(_) => {
            state.paused = None;
            for visit in state.visits.values_mut() {
                visit.iterations = 0;
            }
        }
        Body::Cancelled(cancelled) => {
            state.cancelled = Some(cancelled.reason.unwrap_or_default());
            state.timers.clear();
        }
        Body::Closed(closed) => {
            state.closed = Some(closed.success);
            state.timers.clear();
        }
        Body::Rewound(rewound) => state.rewinds.push((record.seq, rewound.to)),
        Body::Migrated(migrated) => migrate(state, migrated),
        Body::Usage(usage) => {
            let sum = &mut state.usage;
            sum.input_tokens = sum.input_tokens.saturating_add(usage.input_tokens);
            sum.output_tokens = sum.output_tokens.saturating_add(usage.output_tokens);
            if let Some(cost) = usage.cost {
                sum.cost = Some(sum.cost.unwrap_or_default().saturating_add(cost));
            }
            sum.model = usage.model.or(sum.model.take());
        }
        Body::ChildStarted(started) => {
            let child = Child {
                workflow: started.workflow,
                step: started.step,
                unit: started.unit,
                ended: None,
                seq: record.seq,
            };
            state.children.insert(started.run.to_string(), child);
        }
        Body::ChildEnded(ended) => {
            if let Some(child) = state.children.get_mut(ended.run.as_str()) {
                child.ended = Some(ended.success);
            }
        }
        Body::Subflow(subflow) => {
            let parent = subflow.parent.clone();
            state.subflows.entry(parent).or_default().push(subflow);
        }
        Body::Unknown { .. } => state.unknown += 1,
        Body::Refused(_)
        | Body::Progress(_)
        | Body::Message(_)
        | Body::CheckpointRestored(_)
        | Body::Note(_)
        | Body::Annotation(_) => {}
    }
}

/// A macrostep moved the machine.
fn stepped(state: &mut RunState, record: &Record, step: StepRecord) {
    for microstep in &step.steps {
        for left in &microstep.exited {
            leave(state, record, left);
        }
        for entered in &microstep.entered {
            let visit = state.visits.entry(entered.clone()).or_default();
            visit.count += 1;
            visit.entered = record.seq;
            visit.since = record.time;
            visit.left = None;
            visit.iterations = 0;
            visit.files.clear();
            visit.bytes = 0;
        }
    }
    state.context.extend(step.changed);
    for arming in step.timers {
        let name = format!("timer:{}", arming.timer);
        match arming.due {
            Some(due) => {
                let seq = record.seq;
                arm(state, PendingTimer { due, name, seq });
            }
            None => disarm(state, &name),
        }
    }
    for effect in step.effects {
        let found = EffectState {
            name: effect.name,
            seq: record.seq,
            status: None,
        };
        state.effects.insert(effect.key, found);
    }
    state.leaves = step.leaves;
    state.history = step.history;
    state.ended = step.ended;
    if state.ended.is_some() {
        state.timers.clear();
    }
}

/// A state was left: what ran or waited in it is done by that.
fn leave(state: &mut RunState, record: &Record, left: &str) {
    if let Some(visit) = state.visits.get_mut(left) {
        visit.left = Some(record.seq);
    }
    let own = state
        .steps
        .get_mut(left)
        .and_then(|units| units.get_mut(""));
    if let Some(step) = own
        && matches!(step.status, StepStatus::Running | StepStatus::Waiting)
    {
        step.status = StepStatus::Completed;
        step.seq = record.seq;
        step.time = record.time;
    }
}

fn reported(state: &mut RunState, record: &Record, step: Step) {
    let reported = StepState {
        status: step.status,
        message: step.message,
        data: step.data,
        seq: record.seq,
        time: record.time,
        unchecked: step.unchecked,
    };
    let units = state.steps.entry(step.step).or_default();
    units.insert(step.unit.unwrap_or_default(), reported);
}

/// A call of a tool counts in every active state.
fn called(state: &mut RunState, tool: &Tool) {
    if tool.verdict == ToolVerdict::Denied {
        return;
    }
    for visit in state
        .visits
        .values_mut()
        .filter(|visit| visit.left.is_none())
    {
        visit.iterations += 1;
        visit.files.extend(tool.files.iter().cloned());
        visit.bytes = visit.bytes.saturating_add(tool.output.unwrap_or_default());
    }
}

fn arm(state: &mut RunState, timer: PendingTimer) {
    let place = state.timers.partition_point(|other| *other <= timer);
    state.timers.insert(place, timer);
}

fn disarm(state: &mut RunState, name: &str) {
    state.timers.retain(|timer| timer.name != name);
}

fn migrate(state: &mut RunState, migrated: crate::body::Migrated) {
    state.table = Some(migrated.to);
    state.leaves = migrated.leaves;
    state.history = migrated.history;
    for (old, new) in migrated.mapping {
        if let Some(visit) = state.visits.remove(&old) {
            state.visits.insert(new.clone(), visit);
        }
        if let Some(units) = state.steps.remove(&old) {
            state.steps.insert(new, units);
        }
    }
}
