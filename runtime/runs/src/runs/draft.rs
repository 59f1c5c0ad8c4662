//! Drafts: the records that a decision is about to write, and the run with them.
//!
//! A decision that takes several records sees each of them done before it thinks of the next, by the same fold that will
//! read them back.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use statemark_runtime::{Outcome, StateId, TransitionId};

use super::{Change, InvalidRequest, Loaded, RunError};
use crate::actor::{Actor, Role};
use crate::blocker::Blocker;
use crate::body::{
    Again, Body, Cause, Event, Microstep, Opened, Paused, Queued, RequestKind, Resolution,
    StepRecord, Waiting,
};
use crate::hash::Hash;
use crate::id::RunId;
use crate::phrase::list;
use crate::record::{NewRecord, Record};
use crate::state::RunState;
use crate::step::{Moment, StepInput, Stepper};
use crate::store::{Head, RunSummary};
use crate::workflow::Workflow;

/// The records of a decision, and the run with them.
pub(super) struct Draft {
    loaded: Loaded,
    now: u64,
    actor: Actor,
    bodies: Vec<Body>,
}

/// The records that a new run continues.
pub(super) struct Base {
    /// Another run, and the last of its records that counts here, too.
    pub(super) other: Option<(RunId, u64)>,
    /// The hash of that record.
    pub(super) last: Hash,
    /// The state at that record.
    pub(super) state: Arc<RunState>,
}

impl Base {
    /// Makes the base of a run that continues no other.
    pub(super) fn none() -> Self {
        Self {
            other: None,
            last: Hash::ZERO,
            state: Arc::default(),
        }
    }

    /// Returns a run of which nothing is written yet.
    pub(super) fn to_loaded(&self, run: &RunId, workflow: Arc<Workflow>, now: u64) -> Loaded {
        let head = Head {
            run: run.clone(),
            seq: self.other.as_ref().map_or(0, |(_, at)| *at),
            hash: self.last,
            created: now,
            updated: now,
            forked: self.other.clone(),
            summary: RunSummary::default(),
        };
        Loaded {
            run: run.clone(),
            head,
            state: Arc::clone(&self.state),
            workflow,
            is_accepted: false,
        }
    }
}

/// An event that is about to be taken.
pub(super) struct Taking<'t> {
    /// The input of the machine.
    pub(super) moves: StepInput<'t>,
    /// Its name.
    pub(super) event: &'t str,
    /// Its data.
    pub(super) data: Option<&'t Value>,
    /// The claims of its sender, in their author's words.
    pub(super) claims: &'t [String],
    /// The cause, if nobody sent it by name.
    pub(super) cause: Option<Cause>,
    /// The approved event, with the request that was approved.
    pub(super) approved: Option<(&'t Waiting, &'t Again)>,
}

impl Taking<'_> {
    /// Reports whether somebody has sent it, rather than the run itself.
    const fn is_sent(&self) -> bool {
        let by_name = matches!(self.cause, None | Some(Cause::SafeNext { .. }));
        matches!(self.moves, StepInput::Event(_)) && (by_name || self.approved.is_some())
    }
}

/// The result.
pub(super) enum Took {
    /// The event was taken.
    Taken,
    /// Nothing takes it.
    Ignored,
    /// Somebody has to approve it first: the request.
    Asked,
    /// The event would do something else now than was approved.
    Unapproved,
    /// The context isn't the one that was looked at: the request that asks again.
    AskedAgain(String),
    /// Something is missing that a state requires, or a state would be entered too often.
    Blocked(Blocker),
}

impl Draft {
    /// Makes an empty draft.
    pub(super) fn new(loaded: &Loaded, actor: &Actor, now: u64) -> Self {
        Self {
            loaded: loaded.clone(),
            now,
            actor: actor.clone(),
            bodies: Vec::new(),
        }
    }

    /// Makes the draft of a new run, with its first record.
    pub(super) fn start(
        run: &RunId,
        actor: &Actor,
        workflow: Arc<Workflow>,
        body: Body,
        now: u64,
    ) -> Result<Self, RunError> {
        Self::start_from(run, actor, workflow, &Base::none(), body, now)
    }

    /// Makes the draft of a new run that continues another's first records.
    pub(super) fn start_from(
        run: &RunId,
        actor: &Actor,
        workflow: Arc<Workflow>,
        base: &Base,
        body: Body,
        now: u64,
    ) -> Result<Self, RunError> {
        let loaded = base.to_loaded(run, workflow, now);
        let mut draft = Self::new(&loaded, actor, now);
        draft.push(body)?;
        Ok(draft)
    }

    /// Returns the run with the draft's records.
    pub(super) const fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// Returns the state with the draft's records.
    pub(super) fn state(&self) -> &RunState {
        &self.loaded.state
    }

    /// Returns the role of the caller.
    pub(super) const fn role(&self) -> Role {
        self.actor.role
    }

    /// Returns the time of writing. Unit: milliseconds since 1970.
    pub(super) const fn now(&self) -> u64 {
        self.now
    }

    /// Returns the number of the next record.
    pub(super) fn next(&self) -> u64 {
        self.loaded.head.seq + 1
    }

    /// Adds a record.
    pub(super) fn push(&mut self, body: Body) -> Result<(), RunError> {
        let record = NewRecord::new(self.now, &self.actor, &body);
        self.loaded.apply(&record)?;
        self.bodies.push(body);
        Ok(())
    }

    /// Returns the records.
    pub(super) fn finish(self) -> Change {
        Change {
            bodies: self.bodies,
        }
    }

    /// Takes an event, or opens the request without which it can't be.
    pub(super) fn take(&mut self, taking: Taking<'_>) -> Result<Took, RunError> {
        let (took, body) = try_take(&self.loaded, taking, self.now)?;
        body.map_or(Ok(()), |body| self.push(body))?;
        Ok(took)
    }

    /// Takes an event that nobody sent by name, now or after its blockers.
    ///
    /// Returns false if nothing came of it.
    pub(super) fn deliver(
        &mut self,
        event: &str,
        data: Option<Value>,
        cause: Cause,
    ) -> Result<bool, RunError> {
        let workflow = Arc::clone(&self.loaded.workflow);
        let Some(moves) = moves_by(&workflow, self.state(), event, Some(&cause)) else {
            return Ok(false);
        };
        if self.state().is_held() {
            let event = event.to_owned();
            self.push(Body::Queued(Queued { event, data, cause }))?;
            return Ok(true);
        }
        let taking = Taking {
            moves,
            event,
            data: data.as_ref(),
            claims: &[],
            cause: Some(cause.clone()),
            approved: None,
        };
        match self.take(taking)? {
            Took::Taken | Took::Asked => Ok(true),
            Took::Blocked(Blocker::VisitLimit { state, max, .. }) => {
                self.stop_at(&state, max, event, data.clone(), cause)?;
                Ok(true)
            }
            Took::Ignored | Took::Unapproved | Took::AskedAgain(_) | Took::Blocked(_) => Ok(false),
        }
    }

    /// Returns the step that enters states by no transition.
    pub(super) fn jump(&mut self, targets: &[StateId]) -> Result<StepRecord, RunError> {
        self.jump_with(targets, &Map::new())
    }

    /// Returns the step that enters states by no transition, after a change of the context.
    pub(super) fn jump_with(
        &mut self,
        targets: &[StateId],
        context: &Map<String, Value>,
    ) -> Result<StepRecord, RunError> {
        let mut state = RunState::clone(&self.loaded.state);
        state.context.extend(context.clone());
        let mut stepper = Stepper::restored(&self.loaded.workflow, &state)?;
        let moment = Moment {
            run: &self.loaded.run,
            seq: self.next(),
            now: self.now,
        };
        let (_, step) = stepper.step(StepInput::Jump(targets), None, moment)?;
        Ok(step)
    }

    /// Returns the id of the next request.
    pub(super) fn request_id(&self) -> String {
        next_request_id(&self.loaded)
    }

    /// Records an event that would enter a state too often: it isn't taken, and the run pauses.
    pub(super) fn stop_at(
        &mut self,
        state: &str,
        most: u64,
        event: &str,
        data: Option<Value>,
        cause: Cause,
    ) -> Result<(), RunError> {
        let step = self.unmoved();
        let cause = Some(cause);
        self.push(Body::Event(Event {
            event: event.to_owned(),
            data,
            claims: Vec::new(),
            cause,
            step,
        }))?;
        let reason = format!(
            "`{event}` would exceed `max_visits` of `{state}` ({most}); a person continues the run without it, or cancels it"
        );
        let reason = Some(reason);
        self.push(Body::Paused(Paused { reason }))
    }
}

impl Loaded {
    /// Changes the run by a record that isn't written yet, by the same fold that will read it back.
    ///
    /// Its hash is another one than it will have: only a signed run's state has hashes of records, and is folded again.
    pub(super) fn apply(&mut self, new: &NewRecord) -> Result<(), RunError> {
        let seq = self.head.seq + 1;
        self.apply_record(&new.to_record(seq, None, Hash::ZERO))
    }

    /// Changes the run by its next record.
    pub(super) fn apply_record(&mut self, record: &Record) -> Result<(), RunError> {
        let applied = Arc::make_mut(&mut self.state).apply(record);
        applied.map_err(|error| InvalidRequest::UnreadableRecord {
            kind: record.kind.clone(),
            cause: error.to_string(),
        })?;
        self.head.seq = record.seq;
        Ok(())
    }
}

/// Tries to take an event. Returns what comes of it, and the record that says so if there is one.
pub(super) fn try_take(
    loaded: &Loaded,
    taking: Taking<'_>,
    now: u64,
) -> Result<(Took, Option<Body>), RunError> {
    let (outcome, step) = {
        let mut stepper = Stepper::restored(&loaded.workflow, &loaded.state)?;
        stepper.claim(taking.claims);
        let moment = Moment {
            run: &loaded.run,
            seq: loaded.head.seq + 1,
            now,
        };
        stepper.step(taking.moves, taking.data, moment)?
    };
    if outcome == Outcome::Ignored {
        return Ok((Took::Ignored, None));
    }
    let guarded = guarded(&loaded.workflow, &step);
    let again = taking
        .approved
        .filter(|(asked, _)| loaded.state.is_other_than_asked(asked));
    let unlike = |(asked, _): (&Waiting, &Again)| !is_same(asked, &guarded, &step);
    let is_outdated = match again {
        Some(_) => guarded.is_empty(),
        None => taking.approved.is_some_and(unlike),
    };
    if is_outdated {
        return Ok((Took::Unapproved, None));
    }
    if taking.is_sent() {
        let missing = loaded.legality().missing(taking.event, taking.data, &step);
        if !missing.is_empty() {
            let event = taking.event.to_owned();
            return Ok((Took::Blocked(Blocker::Requires { event, missing }), None));
        }
    }
    if let Some(blocker) = loaded.visit_limit(taking.event, &step) {
        return Ok((Took::Blocked(blocker), None));
    }
    if let Some((asked, before)) = again {
        let taking = Taking {
            cause: asked.cause.clone(),
            ..taking
        };
        let opened = Opened {
            again: Some(before.clone()),
            ..ask_leave(loaded, &taking, &guarded, &step)
        };
        let took = Took::AskedAgain(opened.request.clone());
        return Ok((took, Some(Body::Opened(opened))));
    }
    if taking.approved.is_none() && !guarded.is_empty() {
        let opened = ask_leave(loaded, &taking, &guarded, &step);
        return Ok((Took::Asked, Some(Body::Opened(opened))));
    }
    let event = Event {
        event: taking.event.to_owned(),
        data: taking.data.cloned(),
        claims: taking.claims.to_vec(),
        cause: taking.cause,
        step,
    };
    Ok((Took::Taken, Some(Body::Event(event))))
}

/// Returns the transitions of a step that somebody has to approve.
///
/// One deep in the macrostep counts as the first does: a macrostep is taken whole or not at all.
fn guarded(workflow: &Workflow, step: &StepRecord) -> Vec<u16> {
    step_transitions(step)
        .map(TransitionId::new)
        .filter(|it| workflow.requires_approval(*it))
        .map(TransitionId::raw)
        .collect()
}

/// Returns the question for leave to take transitions. The configuration stays as it is.
fn ask_leave(loaded: &Loaded, taking: &Taking<'_>, guarded: &[u16], step: &StepRecord) -> Opened {
    let workflow = &loaded.workflow;
    let table = workflow.table();
    let rows = guarded
        .iter()
        .filter_map(|it| table.transition(TransitionId::new(*it)));
    let sources = rows.map(|row| table.state_name(row.source).to_owned());
    // The root is always active; what leads from it is about no state.
    let root = table.states().next().map(|(id, _)| table.state_name(id));
    let states: Vec<String> = sources.filter(|it| Some(it.as_str()) != root).collect();
    let messages = guarded.iter().filter_map(|transition| {
        let meta = workflow.transition_meta(TransitionId::new(*transition));
        meta.get("approval_message")?.as_str().map(str::to_owned)
    });
    let messages: Vec<String> = messages.collect();
    let prompt = if messages.is_empty() {
        let from = list(&loaded.state.leaves);
        let to = list(&step.leaves);
        format!("allow `{}` ({from} → {to})?", taking.event)
    } else {
        messages.join("\n")
    };
    Opened {
        request: next_request_id(loaded),
        kind: RequestKind::Approval,
        prompt,
        choices: Vec::new(),
        schema: None,
        details: effects_of(workflow, step),
        event: Some(Waiting {
            event: taking.event.to_owned(),
            data: taking.data.cloned(),
            claims: taking.claims.to_vec(),
            cause: taking.cause.clone(),
            transitions: guarded.to_vec(),
            takes: step_transitions(step).collect(),
            context: Some(loaded.state.context.digest()),
            artifacts: asked_artifacts(loaded),
        }),
        states,
        approvers: loaded.approvers(),
        blocking: true,
        expires: None,
        signed: loaded.state.signing.is_some(),
        again: None,
    }
}

/// Returns the artifacts that an approval is about, if there are any, or may be.
fn asked_artifacts(loaded: &Loaded) -> Option<BTreeMap<String, u64>> {
    let handed_in = loaded.state.handed_in();
    let is_declared = loaded.workflow.meta().get("artifacts").is_some();
    (is_declared || !handed_in.is_empty()).then_some(handed_in)
}

/// Returns what a step does to the world, in the words of its actions.
///
/// Whoever gives leave for the step sees them.
fn effects_of(workflow: &Workflow, step: &StepRecord) -> Value {
    let effects = step.effects.iter().filter_map(|made| {
        let words = workflow.action_meta(&made.name).get("effect")?;
        Some(json!({"action": made.name, "effect": words}))
    });
    let effects: Vec<Value> = effects.collect();
    match effects.is_empty() {
        true => Value::Null,
        false => json!({"effects": effects}),
    }
}

/// Returns the id of the run's next request. It names the run, so that it suffices to find it.
fn next_request_id(loaded: &Loaded) -> String {
    format!("{}:{}", loaded.run, loaded.head.seq + 1)
}

impl RunState {
    /// Reports whether events of the run itself have to wait.
    ///
    /// The run is paused, its files are being restored, or a request has to be settled first.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.paused.is_some() || self.restoring.is_some() || self.held_by().is_some()
    }

    /// Returns the first request that has to be settled before other events are taken.
    #[must_use]
    pub fn held_by(&self) -> Option<&crate::state::Request> {
        let mut open = self.open_requests().into_iter();
        open.find(|it| it.opened.blocking || it.opened.kind == RequestKind::Approval)
    }
}

impl Loaded {
    /// Returns a limit of a state, if it has it.
    #[must_use]
    pub fn limit(&self, state: &str, key: &str) -> Option<u64> {
        let id = self.workflow.table().state_named(state)?;
        self.workflow.state_meta(id).get(key)?.as_u64()
    }

    /// Returns the limit of visits that an event's step would exceed.
    pub(crate) fn visit_limit(&self, event: &str, step: &StepRecord) -> Option<Blocker> {
        let (state, max) = spent(&self.workflow, &self.state, step)?;
        Some(Blocker::VisitLimit {
            event: event.to_owned(),
            visits: self.state.visits.get(&state).map_or(0, |visit| visit.count),
            state,
            max,
        })
    }

    /// Returns an entry of the definition's `meta`.
    #[must_use]
    pub fn policy(&self, key: &str) -> Option<&Value> {
        self.workflow.meta().get("meta")?.get(key)
    }

    /// Returns the persons who may answer requests; everybody but the asker if it is empty.
    #[must_use]
    pub fn approvers(&self) -> Vec<String> {
        self.workflow.approvers().names
    }
}

/// Returns the transitions of a step, in the order in which they are taken.
fn step_transitions(step: &StepRecord) -> impl Iterator<Item = u16> {
    let taken = step.steps.iter().flat_map(|it: &Microstep| &it.transitions);
    taken.copied()
}

/// Reports whether a step is the approved one: it takes the same transitions.
///
/// Where the journal doesn't have those, the ones that needed the approval.
fn is_same(approved: &Waiting, guarded: &[u16], step: &StepRecord) -> bool {
    let looked_at =
        approved.takes.is_empty() || step_transitions(step).eq(approved.takes.iter().copied());
    let sorted = |transitions: &[u16]| {
        let mut sorted = transitions.to_vec();
        sorted.sort_unstable();
        sorted
    };
    looked_at && sorted(guarded) == sorted(&approved.transitions)
}

/// Returns the state that a step would enter too often, and its limit.
pub(super) fn spent(
    workflow: &Workflow,
    state: &RunState,
    step: &StepRecord,
) -> Option<(String, u64)> {
    let entered = || step.steps.iter().flat_map(|it| &it.entered);
    entered().find_map(|name| {
        let most = *workflow.max_visits().get(name)?;
        let visits = state.visits.get(name).map_or(0, |it| it.count);
        let now = entered().filter(|it| *it == name).count();
        let now = u64::try_from(now).unwrap_or(u64::MAX);
        (visits.saturating_add(now) > most).then(|| (name.clone(), most))
    })
}

/// Returns the input of the machine for an event.
///
/// None if the table has nothing of that name, or if it is the outcome of a run that nobody waits for any more.
pub(super) fn moves_by(
    workflow: &Workflow,
    state: &RunState,
    event: &str,
    cause: Option<&Cause>,
) -> Option<StepInput<'static>> {
    let table = workflow.table();
    match asked_by(state, event, cause) {
        Some(Cause::Timer { timer }) => table.timer_named(timer).map(StepInput::Timer),
        Some(Cause::Child {
            run,
            step: Some(step),
        }) => {
            // What an earlier visit has waited for is nothing to the one that goes on.
            let child = state.children.get(run.as_str())?;
            let (event, step) = (table.event_named(event)?, table.state_named(step)?);
            let is_awaited = state.is_current_child(child);
            is_awaited.then_some(StepInput::Outcome(event, step))
        }
        _ => table.event_named(event).map(StepInput::Event),
    }
}

/// Returns the cause of an event; of an approved one, the cause of its request.
fn asked_by<'s>(state: &'s RunState, event: &str, cause: Option<&'s Cause>) -> Option<&'s Cause> {
    if let Some(Cause::Request { request }) = cause
        && let Some(request) = state.requests.get(request)
        && let Some((resolved, ..)) = &request.resolved
        && resolved.resolution == Resolution::Approved
        && let Some(waiting) = request.opened.event.as_ref().filter(|it| it.event == event)
    {
        return waiting.cause.as_ref();
    }
    cause
}
