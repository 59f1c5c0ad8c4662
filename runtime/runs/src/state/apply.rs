//! What each kind of record changes.

use std::collections::BTreeMap;

use super::{
    CheckState, Checkpoint, Child, EffectState, Request, Revision, RunState, StepState, Visit,
};
use crate::actor::Role;
use crate::body::{
    Artifact, Body, Cause, Check, CheckpointTaken, ChildEnded, ChildStarted, Effect, EffectStatus,
    Forked, Migrated, Rewound, Spent, Step, StepRecord, StepStatus, Tool, ToolVerdict, Usage,
};
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
        Body::Forked(forked) => fork(state, record, forked),
        Body::Event(event) => {
            let moved = !event.step.steps.is_empty();
            if let Some(Cause::Interrupt { returns, .. }) = &event.cause
                && moved
            {
                detour(state, *returns);
            }
            let took = event.step.steps.iter().any(|it| !it.transitions.is_empty());
            state.transitions += u64::from(took);
            if let Some(cause) = &event.cause {
                came(state, cause);
            }
            stepped(state, record, event.step);
        }
        Body::Forced(forced) => {
            state.forced.push((record.seq, forced.to));
            state.context.extend(forced.context);
            stepped(state, record, forced.step);
        }
        Body::Step(step) => reported(state, record, step),
        Body::Tool(tool) => called(state, &tool),
        Body::Queued(queued) => state.queue.push(queued),
        Body::Opened(opened) => {
            if let Some(cause) = opened.event.as_ref().and_then(|it| it.cause.as_ref()) {
                came(state, cause);
            }
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
        Body::Artifact(artifact) => revise(state, record, artifact),
        Body::Check(check) => checked(state, record, check),
        Body::CheckpointTaken(taken) => {
            state.workspace = Some(taken.name.clone());
            save(state, record, taken);
        }
        Body::CheckpointRestored(restored) => {
            if restored.done {
                state.workspace = Some(restored.name.clone());
            }
            let over = restored.done || restored.given_up.is_some();
            state.restoring = (!over).then_some(restored);
        }
        Body::Effect(effect) => affected(state, effect, false),
        Body::Paused(paused) => {
            state.paused = Some(paused.reason.unwrap_or_default());
            state.paused_by = Some(record.actor.clone());
        }
        Body::Continued(_) => {
            state.paused = None;
            state.paused_by = None;
            // An agent could pause and go on to get more calls than its state allows.
            if record.actor.role >= Role::Person {
                for visit in state.visits.values_mut() {
                    visit.iterations = 0;
                    visit.owes = None;
                }
            }
        }
        Body::Cancelled(cancelled) => {
            state.cancelled = Some(cancelled.reason.unwrap_or_default());
            state.cancelled_by = Some(record.actor.clone());
            state.timers.clear();
            state.queue.clear();
        }
        Body::Closed(closed) => {
            state.closed = Some(closed.success);
            state.timers.clear();
            state.queue.clear();
        }
        Body::Rewound(rewound) => {
            keep(state, record, &rewound.spent);
            rewind(state, record, rewound);
        }
        Body::Migrated(migrated) => migrate(state, record, migrated),
        Body::Usage(usage) => spend(state, usage),
        Body::ChildStarted(started) => {
            let id = started.run.to_string();
            state.children.insert(id, child(record, started));
        }
        Body::ChildEnded(ended) => {
            let id = ended.run.as_str();
            let child = state.children.get_mut(id);
            if let Some(child) = child.or_else(|| state.orphans.get_mut(id)) {
                child.ended = Some(ended.success);
            }
        }
        Body::Subflow(subflow) => {
            let parent = subflow.parent.clone();
            state.subflows.entry(parent).or_default().push(subflow);
        }
        Body::Unknown { .. } => state.unknown += 1,
        Body::Refused(refused) => state.refused = Some((record.seq, refused)),
        Body::Progress(_) | Body::Message(_) | Body::Note(_) | Body::Annotation(_) => {}
    }
}

/// A child as it begins.
fn child(record: &Record, started: ChildStarted) -> Child {
    Child {
        workflow: started.workflow,
        table: started.table,
        step: started.step,
        unit: started.unit,
        ended: None,
        seq: record.seq,
    }
}

/// The beginning of a child doesn't count any more: the child itself is there nevertheless.
pub(super) fn orphan(state: &mut RunState, record: &Record, started: ChildStarted) {
    let id = started.run.to_string();
    state.orphans.insert(id, child(record, started));
}

/// The end of a child doesn't count any more: whoever waits for it needs another, since this one stays over.
pub(super) fn outlived(state: &mut RunState, ended: &ChildEnded) {
    let id = ended.run.as_str();
    if let Some(child) = state.children.remove(id) {
        state.orphans.insert(id.to_owned(), child);
    }
    if let Some(orphan) = state.orphans.get_mut(id) {
        orphan.ended = Some(ended.success);
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
            let owes = visit.owes.take().unwrap_or_default();
            visit.iterations = owes.calls;
            visit.calls.clear();
            visit.files.clear();
            visit.bytes = owes.bytes;
            begin_anew(state, record, entered);
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
            compensates: None,
            taken_back: false,
        };
        state.effects.insert(effect.key, found);
    }
    state.leaves = step.leaves;
    state.history = step.history;
    state.ended = step.ended;
    if state.ended.is_some() {
        state.timers.clear();
        state.queue.clear();
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

/// A state was entered: what was reported of it belongs to the visit before.
fn begin_anew(state: &mut RunState, record: &Record, entered: &str) {
    let units = state.steps.get_mut(entered);
    if let Some(step) = units.and_then(|units| units.get_mut("")) {
        *step = StepState {
            status: StepStatus::NotStarted,
            message: None,
            data: serde_json::Value::Null,
            seq: record.seq,
            time: record.time,
            unchecked: step.unchecked,
        };
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

/// A call of a tool counts in every active state, once: when its place is reserved, or if it wasn't, when it has run.
fn called(state: &mut RunState, tool: &Tool) {
    if tool.verdict == ToolVerdict::Denied {
        return;
    }
    let was_reserved = tool
        .call
        .as_ref()
        .is_some_and(|it| state.running.remove(it));
    if let Some(call) = tool.call.as_ref().filter(|_| tool.reserved) {
        state.running.insert(call.clone());
    }
    for visit in state
        .visits
        .values_mut()
        .filter(|visit| visit.left.is_none())
    {
        if !was_reserved {
            visit.iterations += 1;
            visit.calls.extend(tool.call.clone());
        }
        visit.files.extend(tool.files.iter().cloned());
        visit.bytes = visit.bytes.saturating_add(tool.output.unwrap_or_default());
    }
}

/// What was waited for has come: the timer, or the event that had to wait.
fn came(state: &mut RunState, cause: &Cause) {
    if let Cause::Timer { timer } = cause {
        // A timer may be armed several times; the earliest is the one that was due.
        let name = format!("timer:{timer}");
        if let Some(place) = state.timers.iter().position(|it| it.name == name) {
            state.timers.remove(place);
        }
    }
    if let Some(place) = state.queue.iter().position(|it| it.cause == *cause) {
        state.queue.remove(place);
    }
}

/// Most detours that are come back from. Why: a run whose interrupts never return must not grow without end.
const MAX_DETOURS: usize = 64;

/// An interrupt moves the run, or brings it back.
fn detour(state: &mut RunState, returns: bool) {
    if returns {
        state.detours.pop();
        return;
    }
    if state.detours.len() >= MAX_DETOURS {
        state.detours.remove(0);
    }
    state.detours.push(state.leaves.clone());
}

/// There is another revision, or one has another stage.
fn revise(state: &mut RunState, record: &Record, artifact: Artifact) {
    let revisions = state.artifacts.entry(artifact.name.clone()).or_default();
    let mut known = revisions.iter_mut();
    let known = known.find(|it| it.artifact.revision == artifact.revision);
    if let Some(known) = known {
        known.artifact = artifact;
        known.changed = record.seq;
        return;
    }
    revisions.push(Revision {
        seq: record.seq,
        time: record.time,
        changed: record.seq,
        artifact,
    });
}

/// What counts is what came last. With other arguments it was another check.
fn checked(state: &mut RunState, record: &Record, check: Check) {
    if !check.arguments.is_empty() {
        return;
    }
    let found = CheckState {
        passed: check.ran.passed,
        cancelled: check.ran.cancelled,
        outcome: check.ran.outcome(),
        declaration: check.declaration,
        seq: record.seq,
        time: record.time,
    };
    state.checks.insert(check.name, found);
}

fn arm(state: &mut RunState, timer: PendingTimer) {
    let place = state.timers.partition_point(|other| *other <= timer);
    state.timers.insert(place, timer);
}

fn disarm(state: &mut RunState, name: &str) {
    state.timers.retain(|timer| timer.name != name);
}

/// The run is another one from here on: what the other run still owes or waits for is the other's.
fn fork(state: &mut RunState, record: &Record, forked: Forked) {
    state.created = record.time;
    state.forked.push((forked.from, forked.at));
    state.context.extend(forked.input);
    state.title = forked.title.or(state.title.take());
    state.parent = None;
    state.restoring = None;
    state.effects.clear();
    state.usage = Usage::default();
    state.children.retain(|_, child| child.ended.is_some());
    state.orphans.clear();
    if forked.drop_artifacts {
        state.artifacts.clear();
    }
    for (old, new) in forked.requests {
        if let Some(mut request) = state.requests.remove(&old) {
            request.opened.request.clone_from(&new);
            state.requests.insert(new.clone(), request);
        }
        let (old, new) = (format!("request:{old}"), format!("request:{new}"));
        for timer in state.timers.iter_mut().filter(|timer| timer.name == old) {
            timer.name.clone_from(&new);
        }
    }
    state.timers.sort();
}

/// A commit holds a working copy from now on.
pub(super) fn save(state: &mut RunState, record: &Record, taken: CheckpointTaken) {
    let checkpoint = Checkpoint {
        seq: record.seq,
        time: record.time,
        taken,
    };
    let name = checkpoint.taken.name.clone();
    state.checkpoints.insert(name, checkpoint);
}

/// What became of an effect. If its step doesn't count any more, it had left before that.
pub(super) fn affected(state: &mut RunState, effect: Effect, taken_back: bool) {
    let status = Some(effect.status);
    let seq = step_of(&effect.key);
    let found = state.effects.entry(effect.key);
    let found = found.or_insert_with(|| EffectState {
        name: effect.name,
        seq,
        status,
        compensates: None,
        taken_back,
    });
    found.status = status;
    let of = found.compensates.clone();
    if effect.status == EffectStatus::Succeeded
        && let Some(taken) = of.and_then(|of| state.effects.get_mut(&of))
    {
        taken.status = Some(EffectStatus::Compensated);
    }
}

/// The record of the step that an effect belongs to: its key is `<run>:<seq>:<n>`.
fn step_of(key: &str) -> u64 {
    let seq = key.rsplit(':').nth(1);
    seq.and_then(|seq| seq.parse().ok()).unwrap_or_default()
}

/// Limits count what was taken back.
fn keep(state: &mut RunState, record: &Record, spent: &BTreeMap<String, Spent>) {
    for (name, spent) in spent {
        let absent = || Visit {
            left: Some(record.seq),
            ..Visit::default()
        };
        let visit = state.visits.entry(name.clone()).or_insert_with(absent);
        visit.count = visit.count.max(spent.visits);
        if visit.left.is_none() {
            visit.iterations = visit.iterations.max(spent.calls);
            visit.bytes = visit.bytes.max(spent.bytes);
        } else if spent.calls > 0 || spent.bytes > 0 {
            visit.owes = Some(*spent);
        }
    }
}

/// A rewind stays visible for ever, and so does what it owes.
pub(super) fn rewind(state: &mut RunState, record: &Record, rewound: Rewound) {
    state.rewinds.push((record.seq, rewound.to));
    for compensation in rewound.compensations {
        let owed = EffectState {
            name: compensation.name,
            seq: record.seq,
            status: None,
            compensates: Some(compensation.of),
            taken_back: false,
        };
        state.effects.insert(compensation.key, owed);
    }
}

/// What was spent is gone.
pub(super) fn spend(state: &mut RunState, usage: Usage) {
    let sum = &mut state.usage;
    sum.input_tokens = sum.input_tokens.saturating_add(usage.input_tokens);
    sum.output_tokens = sum.output_tokens.saturating_add(usage.output_tokens);
    if let Some(cost) = usage.cost {
        sum.cost = Some(sum.cost.unwrap_or_default().saturating_add(cost));
    }
    sum.model = usage.model.or(sum.model.take());
}

/// Everything that is named after a state goes by its new name.
fn migrate(state: &mut RunState, record: &Record, migrated: Migrated) {
    state.table = Some(migrated.to);
    if let Some(workflow) = migrated.workflow {
        state.workflow = workflow;
    }
    state.invokes.extend(migrated.invokes);
    state.invoking = migrated.invoking;
    state.leaves = migrated.leaves;
    state.history = migrated.history;
    let absent = migrated.context.into_iter();
    for (field, value) in absent {
        state.context.entry(field).or_insert(value);
    }
    let names = migrated.mapping;
    let named = |old: &String| names.get(old).unwrap_or(old).clone();
    // All at once, so that two states can swap their names.
    rename(&mut state.visits, &named);
    rename(&mut state.steps, &named);
    rename(&mut state.subflows, &named);
    for step in state
        .children
        .values_mut()
        .filter_map(|it| it.step.as_mut())
    {
        *step = named(step);
    }
    for leaf in state.detours.iter_mut().flatten() {
        *leaf = named(leaf);
    }
    for request in state.requests.values_mut() {
        let states = &mut request.opened.states;
        states.iter_mut().for_each(|state| *state = named(state));
        if let Some(waiting) = &mut request.opened.event {
            waiting.takes.clear();
            let cause = waiting.cause.iter_mut();
            cause.for_each(|it| invoked_by(it, &named));
        }
    }
    for queued in &mut state.queue {
        invoked_by(&mut queued.cause, &named);
    }
    for (request, transitions) in migrated.approvals {
        let request = state.requests.get_mut(&request);
        if let Some(waiting) = request.and_then(|it| it.opened.event.as_mut()) {
            waiting.transitions = transitions;
        }
    }
    for timer in &mut state.timers {
        let name = timer.name.strip_prefix("timer:");
        if let Some(new) = name.and_then(|name| migrated.timers.get(name)) {
            timer.name = format!("timer:{new}");
        }
    }
    state.timers.sort();
    for (name, visit) in &mut state.visits {
        if visit.left.is_none() && !migrated.active.contains(name) {
            visit.left = Some(record.seq);
        }
    }
    for name in migrated.active {
        let visit = state.visits.entry(name).or_default();
        if visit.count == 0 || visit.left.is_some() {
            visit.count += 1;
            visit.entered = record.seq;
            visit.since = record.time;
            visit.left = None;
        }
    }
}

/// A state that waits for a run has another name.
fn invoked_by(cause: &mut Cause, named: &impl Fn(&String) -> String) {
    if let Cause::Child {
        step: Some(step), ..
    } = cause
    {
        *step = named(step);
    }
}

fn rename<T>(all: &mut BTreeMap<String, T>, named: &impl Fn(&String) -> String) {
    let renamed = std::mem::take(all).into_iter();
    *all = renamed.map(|(old, it)| (named(&old), it)).collect();
}
