//! The effect of each kind of record on the state of a run.
//!
//! A rewind takes back what the journal says of the run. It doesn't take back the world: money that was spent, effects that
//! have left, attempts, commits that hold a working copy, children that have started. Nor does it hide that a person set a state by
//! hand, or rewound. [`Apply::outlast`] is what a kind leaves after a rewind.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    Allowance, AttemptState, CheckState, Checkpoint, Child, EffectState, RegionWork, Request,
    Revision, RunState, SessionState, SignedRun, StepState, TakenBack, Visit,
};
use crate::actor::Role;
use crate::body::{
    Annotation, Artifact, AttemptEnded, AttemptStarted, Body, Cancelled, Cause, Check,
    CheckpointRestored, CheckpointTaken, ChildEnded, ChildStarted, ClockSetBack, Closed, Continued,
    Effect, EffectStatus, Event, Forced, Forked, Imported, Message, Migrated, Note, Opened, Paused,
    Progress, Queued, Refused, Resolved, Rewound, Scope, Session, Spent, Started, Step, StepRecord,
    StepStatus, Subflow, Tie, Tool, ToolVerdict, Usage, WorktreeMade, for_each_kind,
};
use crate::record::Record;
use crate::store::PendingTimer;

/// The effect of a kind of record on the state of a run.
///
/// A kind that says nothing changes nothing, and leaves nothing.
trait Apply: Sized {
    /// Changes the state by a record that counts.
    fn apply(self, state: &mut RunState, record: &Record) {
        let _ = (state, record);
    }

    /// Changes the state by what is left of a record that a rewind has taken back.
    fn outlast(self, state: &mut RunState, record: &Record) {
        let _ = (state, record);
    }
}

impl Apply for Progress {}
impl Apply for Message {}
impl Apply for Note {}
impl Apply for Annotation {}

macro_rules! apply_each {
    ($($(#[$docs:meta])* $variant:ident($type:ty) = $kind:literal $version:literal;)*) => {
        /// Changes the state by a record that counts.
        pub(super) fn apply(state: &mut RunState, record: &Record, body: Body) {
            match body {
                $(Body::$variant(body) => <$type as Apply>::apply(body, state, record),)*
                Body::Unknown { .. } => state.unknown += 1,
            }
        }

        /// Changes the state by what is left of a record that a rewind has taken back.
        pub(super) fn outlast(state: &mut RunState, record: &Record, body: Body) {
            match body {
                $(Body::$variant(body) => <$type as Apply>::outlast(body, state, record),)*
                Body::Unknown { .. } => {}
            }
        }
    };
}

for_each_kind!(apply_each);

impl Apply for Started {
    fn apply(mut self, state: &mut RunState, record: &Record) {
        let step = std::mem::take(&mut self.step);
        let signed = self.signing.take().map(|signing| SignedRun {
            signing,
            first: record.hash(),
        });
        state.signing = signed.map(Into::into);
        state.begin(self);
        move_machine(state, record, step, true);
    }
}

impl Apply for Forked {
    fn apply(self, state: &mut RunState, record: &Record) {
        // What the other run still owes or waits for stays the other's.
        state.created = record.time;
        if let Some(signing) = &mut state.signing {
            signing.first = record.hash();
        }
        state.forked.push((self.from, self.at));
        state.context.extend(self.input);
        state.title = self.title.or(state.title.take());
        state.parent = None;
        state.restoring = None;
        state.effects.clear();
        state.usage = Usage::default();
        state.worktree = None;
        state.regions.clear();
        // They go on in the other run.
        state.attempts.clear();
        state.allowance = None;
        state.children.retain(|_, child| child.ended.is_some());
        state.orphans.clear();
        state.sessions.clear();
        if self.drop_artifacts {
            state.artifacts.clear();
        }
        for (old, new) in self.requests {
            if let Some(mut request) = state.requests.remove(&old) {
                request.opened.request.clone_from(&new);
                // It is another request, over what this run's data is.
                if let Some(asked) = request.opened.event.as_mut()
                    && asked.context.is_some()
                {
                    asked.context = Some(state.context.digest());
                }
                if let Some(asked) = request.opened.event.as_mut()
                    && asked.artifacts.is_some()
                {
                    asked.artifacts = Some(state.handed_in());
                }
                state.requests.insert(new.clone(), request);
            }
            let (old, new) = (format!("request:{old}"), format!("request:{new}"));
            for timer in state.timers.iter_mut().filter(|timer| timer.name == old) {
                timer.name.clone_from(&new);
            }
        }
        state.timers.sort();
    }
}

impl Apply for Event {
    fn apply(self, state: &mut RunState, record: &Record) {
        if let Some(Cause::Interrupt { returns, .. }) = &self.cause
            && !self.step.steps.is_empty()
        {
            detour(state, *returns);
        }
        let mut steps = self.step.steps.iter();
        state.transitions += u64::from(steps.any(|it| !it.transitions.is_empty()));
        if let Some(cause) = &self.cause {
            use_up(state, cause);
        }
        if let Some(Cause::Limit { .. }) = &self.cause {
            state.limits_reached = state.limits_reached.saturating_add(1);
        }
        let is_itemized = matches!(
            self.cause,
            Some(Cause::Advance {
                completions: true,
                ..
            })
        );
        move_machine(state, record, self.step, !is_itemized);
    }
}

impl Apply for Queued {
    fn apply(self, state: &mut RunState, _: &Record) {
        state.queue.push(self);
    }
}

impl Apply for Refused {
    fn apply(self, state: &mut RunState, record: &Record) {
        state.refused = Some((record.seq, self));
    }
}

impl Apply for Step {
    fn apply(self, state: &mut RunState, record: &Record) {
        let units = state.steps.entry(self.step).or_default();
        let unit = self.unit.unwrap_or_default();
        let before = units.get(&unit);
        let begun = before
            .filter(|step| step.is_open())
            .and_then(|step| step.detached);
        let reported = StepState {
            status: self.status,
            message: self.message,
            data: self.data,
            seq: record.seq,
            time: record.time,
            unchecked: self.unchecked,
            detached: begun.or(self.detached.then_some(record.seq)),
        };
        units.insert(unit, reported);
    }
}

impl Apply for Tool {
    fn apply(self, state: &mut RunState, _: &Record) {
        let is_first = self.reserved || self.verdict == ToolVerdict::Denied;
        let attempt = self.attempt.filter(|_| is_first);
        if let Some(attempt) = attempt.and_then(|number| state.attempts.get_mut(&number)) {
            attempt.calls += 1;
        }
        if self.verdict == ToolVerdict::Denied {
            return;
        }
        // A call counts once in every active state: when it is reserved, or if it wasn't, when it has run.
        let call = self.call.as_ref();
        let was_reserved = call.is_some_and(|it| state.running.remove(it));
        if let Some(call) = call.filter(|_| self.reserved) {
            state.running.insert(call.clone());
        }
        let visits = state.visits.values_mut();
        for visit in visits.filter(|visit| visit.left.is_none()) {
            if !was_reserved {
                visit.iterations += 1;
                visit.calls.extend(self.call.clone());
            }
            visit.files.extend(self.files.iter().cloned());
            visit.bytes = visit.bytes.saturating_add(self.output.unwrap_or_default());
        }
    }
}

impl Apply for Session {
    fn apply(self, state: &mut RunState, record: &Record) {
        match self.tie {
            Tie::Bound => state.hold_session(self.session, true, record.time),
            Tie::Held | Tie::Ended => state.hold_session(self.session, false, record.time),
            Tie::Released => {
                let released = SessionState {
                    released: true,
                    seen: record.time,
                    ..SessionState::default()
                };
                state.sessions.insert(self.session, released);
            }
        }
    }

    /// Keeps who works on the run: that isn't taken back.
    fn outlast(self, state: &mut RunState, record: &Record) {
        self.apply(state, record);
    }
}

impl Apply for Opened {
    fn apply(self, state: &mut RunState, record: &Record) {
        if let Some(cause) = self.event.as_ref().and_then(|it| it.cause.as_ref()) {
            use_up(state, cause);
        }
        if let Some(due) = self.expires {
            let name = format!("request:{}", self.request);
            let seq = record.seq;
            arm(state, PendingTimer { due, name, seq });
        }
        let request = Request {
            seq: record.seq,
            time: record.time,
            asker: match &self.again {
                Some(again) => again.asker.clone(),
                None => record.actor.clone(),
            },
            record: state.signing.as_ref().map(|_| record.hash()),
            resolved: None,
            opened: self,
        };
        let id = request.opened.request.clone();
        state.requests.insert(id, request);
    }
}

impl Apply for Resolved {
    fn apply(self, state: &mut RunState, record: &Record) {
        disarm(state, &format!("request:{}", self.request));
        if let Some(request) = state.requests.get_mut(&self.request) {
            request.resolved = Some((self, record.actor.clone(), record.seq));
        }
    }
}

impl Apply for Artifact {
    fn apply(self, state: &mut RunState, record: &Record) {
        let revisions = state.artifacts.entry(self.name.clone()).or_default();
        let mut known = revisions.iter_mut();
        let known = known.find(|it| it.artifact.revision == self.revision);
        if let Some(known) = known {
            known.artifact = self;
            known.changed = record.seq;
            return;
        }
        revisions.push(Revision {
            seq: record.seq,
            time: record.time,
            changed: record.seq,
            artifact: self,
        });
    }
}

impl Apply for Check {
    fn apply(self, state: &mut RunState, record: &Record) {
        // With other arguments it was another check.
        if !self.arguments.is_empty() {
            return;
        }
        // What a person runs is the program from then on: it may have been updated since the run began.
        let is_persons = record.actor.role == Role::Person && self.ran.root == state.root;
        if let Some(program) = self.ran.program.as_ref().filter(|_| is_persons)
            && state.programs.contains_key(&self.name)
        {
            state.programs.insert(self.name.clone(), program.clone());
        }
        let found = CheckState {
            root: self.ran.root.clone(),
            program: self.ran.program.clone(),
            passed: self.ran.passed,
            cancelled: self.ran.cancelled,
            outcome: self.ran.outcome(),
            declaration: self.declaration,
            seq: record.seq,
            time: record.time,
        };
        let mut regions = state.regions.values_mut();
        match regions.find(|work| found.root.as_ref() == Some(&work.worktree.root)) {
            Some(work) => work.checks.insert(self.name, found),
            None => state.checks.insert(self.name, found),
        };
    }
}

impl Apply for CheckpointTaken {
    fn apply(self, state: &mut RunState, record: &Record) {
        state.workspace = Some(self.name.clone());
        self.outlast(state, record);
    }

    fn outlast(self, state: &mut RunState, record: &Record) {
        let name = self.name.clone();
        let checkpoint = Checkpoint {
            seq: record.seq,
            time: record.time,
            taken: self,
        };
        state.checkpoints.insert(name, checkpoint);
    }
}

impl Apply for WorktreeMade {
    fn apply(self, state: &mut RunState, record: &Record) {
        self.outlast(state, record);
    }

    fn outlast(self, state: &mut RunState, _: &Record) {
        // It is there, whatever was taken back.
        match self.region.clone() {
            None => state.worktree = Some(self),
            Some(region) => {
                let work = RegionWork {
                    worktree: self,
                    checks: BTreeMap::new(),
                };
                state.regions.insert(region, work);
            }
        }
    }
}

impl Apply for CheckpointRestored {
    fn apply(self, state: &mut RunState, record: &Record) {
        if self.done {
            state.workspace = Some(self.name.clone());
        }
        self.outlast(state, record);
    }

    fn outlast(self, state: &mut RunState, _: &Record) {
        // Journals of former versions don't say of the copy itself what it is.
        let before = self.before.as_ref();
        if let Some(copy) = before.and_then(|name| state.checkpoints.get_mut(name)) {
            copy.taken.safety = true;
        }
        let is_over = self.done || self.given_up.is_some();
        state.restoring = (!is_over).then_some(self);
    }
}

impl Apply for Effect {
    fn apply(self, state: &mut RunState, _: &Record) {
        report_effect(state, self, false);
    }

    fn outlast(self, state: &mut RunState, _: &Record) {
        report_effect(state, self, true);
    }
}

impl Apply for Paused {
    fn apply(self, state: &mut RunState, record: &Record) {
        state.paused = Some(self.reason.unwrap_or_default());
        state.paused_by = Some(record.actor.clone());
    }
}

impl Apply for Continued {
    fn apply(self, state: &mut RunState, record: &Record) {
        state.paused = None;
        state.paused_by = None;
        state.limits_reached = 0;
        // An agent could pause and go on to get more calls than its state allows.
        if record.actor.role >= Role::Person {
            for visit in state.visits.values_mut() {
                visit.iterations = 0;
                visit.owes = None;
            }
            state.allowance = Some(Allowance {
                seq: record.seq,
                time: record.time,
                usage: state.usage.clone(),
                below: self.below,
            });
        }
    }
}

impl Apply for Cancelled {
    fn apply(self, state: &mut RunState, record: &Record) {
        state.cancelled = Some(self.reason.unwrap_or_default());
        state.cancelled_by = Some(record.actor.clone());
        state.holds = self.holds;
        state.timers.clear();
        state.queue.clear();
    }
}

impl Apply for Forced {
    fn apply(self, state: &mut RunState, record: &Record) {
        state.forced.push((record.seq, self.to));
        state.context.extend(self.context);
        move_machine(state, record, self.step, true);
    }

    fn outlast(self, state: &mut RunState, record: &Record) {
        state.forced.push((record.seq, self.to));
    }
}

impl Apply for Rewound {
    fn apply(self, state: &mut RunState, record: &Record) {
        count_spent(state, record, &self.spent);
        self.outlast(state, record);
    }

    fn outlast(self, state: &mut RunState, record: &Record) {
        // Of one that is taken back itself, too: that an attempt hadn't ended by then is known here alone.
        if self.scope != Scope::Workspace {
            take_back_attempts(state, record, self.to);
        }
        state.rewinds.push((record.seq, self.to));
        for compensation in self.compensations {
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
}

impl Apply for Migrated {
    fn apply(self, state: &mut RunState, record: &Record) {
        state.table = Some(self.to);
        if let Some(workflow) = self.workflow {
            state.workflow = workflow;
        }
        state.invokes.extend(self.invokes);
        state.invoking = self.invoking.into();
        state.leaves = self.leaves;
        state.history = self.history;
        let mut absent = self.context;
        absent.retain(|field, _| state.context.get(field).is_none());
        if !absent.is_empty() {
            extend_asked_context(state, absent);
        }
        rename_states(state, &self.mapping);
        for (request, transitions) in self.approvals {
            let request = state.requests.get_mut(&request);
            if let Some(waiting) = request.and_then(|it| it.opened.event.as_mut()) {
                waiting.transitions = transitions;
            }
        }
        for timer in &mut state.timers {
            let name = timer.name.strip_prefix("timer:");
            if let Some(new) = name.and_then(|name| self.timers.get(name)) {
                timer.name = format!("timer:{new}");
            }
        }
        state.timers.sort();
        for (name, visit) in &mut state.visits {
            if visit.left.is_none() && !self.active.contains(name) {
                visit.left = Some(record.seq);
            }
        }
        for name in self.active {
            let visit = state.visits.entry(name).or_default();
            if visit.count == 0 || visit.left.is_some() {
                visit.count += 1;
                visit.entered = record.seq;
                visit.since = record.time;
                visit.left = None;
            }
        }
    }
}

impl Apply for Imported {
    fn apply(self, state: &mut RunState, record: &Record) {
        let mut foreign = state.foreign_decisions();
        if foreign.is_empty() {
            let guarded = self.guarded.iter();
            foreign.extend(guarded.map(|seq| format!("record {seq} took what needs an approval")));
        }
        if !foreign.is_empty() && !state.status().is_over() {
            // The importing person's pause: only a person continues the run, and so decides it here.
            state.paused = Some(format!(
                "imported with decisions of another store ({}): a person continues the run, and so decides them here",
                foreign.join(", ")
            ));
            state.paused_by = Some(record.actor.clone());
        }
        self.outlast(state, record);
    }

    fn outlast(self, state: &mut RunState, record: &Record) {
        state.imported_by = Some(record.actor.to_string());
        // They are folders of another machine, or were never made.
        state.worktree = None;
        state.regions.clear();
    }
}

impl Apply for ClockSetBack {
    fn apply(self, state: &mut RunState, record: &Record) {
        self.outlast(state, record);
    }

    fn outlast(self, state: &mut RunState, _: &Record) {
        // A rewind takes no time back: what it leaves armed is due by today's clock, too.
        for timer in &mut state.timers {
            if timer.seq > self.after {
                timer.due = timer.due.saturating_sub(self.by);
            }
        }
        state.timers.sort();
        for request in state.requests.values_mut() {
            if request.seq > self.after && request.resolved.is_none() {
                let expires = &mut request.opened.expires;
                *expires = expires.map(|due| due.saturating_sub(self.by));
            }
        }
    }
}

impl Apply for Closed {
    fn apply(self, state: &mut RunState, _: &Record) {
        state.closed = Some(self.success);
        state.holds = self.holds;
        state.timers.clear();
        state.queue.clear();
    }
}

impl Apply for Usage {
    fn apply(self, state: &mut RunState, record: &Record) {
        self.outlast(state, record);
    }

    fn outlast(self, state: &mut RunState, _: &Record) {
        let number = self.attempt;
        if let Some(attempt) = number.and_then(|number| state.attempts.get_mut(&number)) {
            attempt.usage.add(&self);
        }
        state.usage.add(&Self {
            attempt: None,
            ..self
        });
    }
}

impl Apply for AttemptStarted {
    fn apply(self, state: &mut RunState, record: &Record) {
        // Those of its former visits are in the journal alone: a state may be visited without end.
        let visit = state.visits.get(&self.state);
        let (entered, count) = visit.map_or((0, 0), |it| (it.entered, it.count));
        let attempts = &mut state.attempts;
        attempts.retain(|_, it| {
            let counts = match it.taken_back {
                Some(taken) => taken.visit >= count,
                None => it.seq >= entered,
            };
            counts || it.state != self.state || it.ended.is_none()
        });
        state.limits_reached = 0;
        if self.task.is_some() {
            state.task.clone_from(&self.task);
        }
        self.outlast(state, record);
    }

    // An agent that could take its attempts back would have as many as it likes.
    fn outlast(self, state: &mut RunState, record: &Record) {
        state.attempted = state.attempted.max(self.attempt);
        let attempt = AttemptState {
            number: self.number,
            executor: self.executor,
            model: self.model,
            state: self.state,
            seq: record.seq,
            time: record.time,
            ..AttemptState::default()
        };
        state.attempts.insert(self.attempt, attempt);
    }
}

impl Apply for AttemptEnded {
    fn apply(self, state: &mut RunState, record: &Record) {
        self.outlast(state, record);
    }

    fn outlast(self, state: &mut RunState, record: &Record) {
        if let Some(attempt) = state.attempts.get_mut(&self.attempt) {
            attempt.ended = Some((self.outcome, self.reason, record.time));
        }
    }
}

impl Apply for ChildStarted {
    fn apply(self, state: &mut RunState, record: &Record) {
        let id = self.run.to_string();
        state.children.insert(id, new_child(record, self));
    }

    fn outlast(self, state: &mut RunState, record: &Record) {
        // The child is there, although its start doesn't count.
        let id = self.run.to_string();
        state.orphans.insert(id, new_child(record, self));
    }
}

impl Apply for ChildEnded {
    fn apply(self, state: &mut RunState, _: &Record) {
        let id = self.run.as_str();
        let child = state.children.get_mut(id);
        if let Some(child) = child.or_else(|| state.orphans.get_mut(id)) {
            child.ended = Some(self.success);
        }
    }

    fn outlast(self, state: &mut RunState, _: &Record) {
        // A state that waits for its outcome needs another child: this one stays over.
        let id = self.run.as_str();
        if let Some(child) = state.children.remove(id) {
            state.orphans.insert(id.to_owned(), child);
        }
        if let Some(orphan) = state.orphans.get_mut(id) {
            orphan.ended = Some(self.success);
        }
    }
}

impl Apply for Subflow {
    fn apply(self, state: &mut RunState, _: &Record) {
        let parent = self.parent.clone();
        state.subflows.entry(parent).or_default().push(self);
    }
}

/// Returns a child as it starts.
fn new_child(record: &Record, started: ChildStarted) -> Child {
    Child {
        workflow: started.workflow,
        table: started.table,
        step: started.step,
        unit: started.unit,
        ended: None,
        seq: record.seq,
    }
}

/// Moves the machine by a macrostep. `completes` says whether leaving a step completes it.
fn move_machine(state: &mut RunState, record: &Record, step: StepRecord, completes: bool) {
    for microstep in &step.steps {
        for left in &microstep.exited {
            if let Some(visit) = state.visits.get_mut(left) {
                visit.left = Some(record.seq);
            }
            if completes {
                complete(state, record, left);
            }
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
            reset_reports(state, record, entered);
        }
    }
    state.context.apply_step(step.changed);
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

/// Completes what was reported as running or waiting in a state that was left.
fn complete(state: &mut RunState, record: &Record, left: &str) {
    let own = state
        .steps
        .get_mut(left)
        .and_then(|units| units.get_mut(""));
    if let Some(step) = own
        && step.is_open()
    {
        step.status = StepStatus::Completed;
        step.seq = record.seq;
        step.time = record.time;
    }
}

/// Resets the reports on a state that is entered: they belong to the visit before.
fn reset_reports(state: &mut RunState, record: &Record, entered: &str) {
    let units = state.steps.get_mut(entered);
    if let Some(step) = units.and_then(|units| units.get_mut("")) {
        *step = StepState {
            status: StepStatus::NotStarted,
            message: None,
            data: Value::Null,
            seq: record.seq,
            time: record.time,
            unchecked: step.unchecked,
            detached: None,
        };
    }
}

/// Removes the timer or the queued event that has caused something.
fn use_up(state: &mut RunState, cause: &Cause) {
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

/// Most detours that a run returns from. Unit: detours.
///
/// Why: a run whose interrupts never return must not grow without end.
const MAX_DETOURS: usize = 64;

/// Begins a detour of an interrupt, or returns from the last one.
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

fn arm(state: &mut RunState, timer: PendingTimer) {
    let place = state.timers.partition_point(|other| *other <= timer);
    state.timers.insert(place, timer);
}

fn disarm(state: &mut RunState, name: &str) {
    state.timers.retain(|timer| timer.name != name);
}

/// Updates an effect by a report.
///
/// `taken_back` says that its step doesn't count any more: it had left before that.
fn report_effect(state: &mut RunState, effect: Effect, taken_back: bool) {
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
    let compensated = found.compensates.clone();
    if effect.status == EffectStatus::Succeeded
        && let Some(taken) = compensated.and_then(|key| state.effects.get_mut(&key))
    {
        taken.status = Some(EffectStatus::Compensated);
    }
}

/// Returns the record of the step that an effect belongs to: its key is `<run>:<seq>:<n>`.
fn step_of(key: &str) -> u64 {
    let seq = key.rsplit(':').nth(1);
    seq.and_then(|seq| seq.parse().ok()).unwrap_or_default()
}

/// Lets limits count what was taken back.
fn count_spent(state: &mut RunState, record: &Record, spent: &BTreeMap<String, Spent>) {
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

/// Counts the attempts after a record where the run goes on, or forgets them if a person has rewound.
fn take_back_attempts(state: &mut RunState, record: &Record, to: u64) {
    if record.actor.role >= Role::Person {
        state.attempts.retain(|_, it| it.seq <= to);
        return;
    }
    for attempt in state.attempts.values_mut().filter(|it| it.seq > to) {
        let visit = state.visits.get(&attempt.state);
        let next = |it: &Visit| it.count + u64::from(it.left.is_some());
        attempt.taken_back = Some(TakenBack {
            visit: visit.map_or(1, next),
            unfinished: attempt.ended.is_none()
                || attempt.taken_back.is_some_and(|it| it.unfinished),
        });
    }
}

/// Adds fields to the context, and to what open approvals are over.
///
/// They are asked over the fields as the new table has them.
fn extend_asked_context(state: &mut RunState, fields: Map<String, Value>) {
    let before = state.context.digest();
    state.context.extend(fields);
    let after = state.context.digest();
    let open = state.requests.values_mut();
    for request in open.filter(|it| it.resolved.is_none()) {
        if let Some(asked) = &mut request.opened.event
            && asked.context == Some(before)
        {
            asked.context = Some(after);
        }
    }
}

/// Gives everything that is named after a state the state's new name.
fn rename_states(state: &mut RunState, names: &BTreeMap<String, String>) {
    let named = |old: &String| names.get(old).unwrap_or(old).clone();
    // All at once, so that two states can swap their names.
    rename(&mut state.visits, &named);
    rename(&mut state.steps, &named);
    rename(&mut state.subflows, &named);
    rename(&mut state.regions, &named);
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
    for attempt in state.attempts.values_mut() {
        attempt.state = named(&attempt.state);
    }
    for request in state.requests.values_mut() {
        let states = &mut request.opened.states;
        states.iter_mut().for_each(|state| *state = named(state));
        if let Some(waiting) = &mut request.opened.event {
            waiting.takes.clear();
            let cause = waiting.cause.iter_mut();
            cause.for_each(|it| rename_waiting_state(it, &named));
        }
    }
    for queued in &mut state.queue {
        rename_waiting_state(&mut queued.cause, &named);
    }
}

/// Renames the state that waits for a child.
fn rename_waiting_state(cause: &mut Cause, named: &impl Fn(&String) -> String) {
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
