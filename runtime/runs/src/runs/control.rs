//! Control of runs: pausing, continuing, cancelling, and forcing a state.

use serde::Serialize;
use serde_json::{Map, Value};

use super::create::{StartRun, first_record};
use super::draft::Base;
use super::draft::Draft;
use super::operation::{Decide, DecideCx, Execution, Operation, Right};
use super::order::Order;
use super::reconcile::create_run;
use super::usage::usage_below;
use super::{Change, Loaded, RunError, Runs, Written};
use crate::actor::Role;
use crate::blocker::OperationBlocker;
use crate::body::{Body, Cancelled, Continued, Forced, Paused, Refused};
use crate::id::RunId;
use crate::state::Status;
use crate::step::CannotStep;
use crate::store::Query;

/// Pauses a run until somebody continues it: no event is taken, and no timer fires.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct PauseRun {
    /// The reason.
    pub reason: Option<String>,
}

/// Lets a paused run go on. Timers that have become due meanwhile fire at once.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct ContinueRun {
    /// The reason.
    pub reason: Option<String>,
}

/// Ends a run before its machine does.
///
/// One that an agent gives up where its states restrict tools goes on restricting its callers. A person who cancels it
/// then releases them.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct CancelRun {
    /// The reason.
    pub reason: Option<String>,
}

/// Sets a run to a state by hand.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ForceState {
    /// The state.
    pub to: String,
    /// Fields of the context that are different from then on.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
    /// The reason.
    pub reason: Option<String>,
}

/// Starts a run under the order's id.
///
/// It is an error if there is no such workflow, if the machine doesn't come to rest, or
/// ([`StoreError::Conflict`](crate::StoreError)) if there is a run of that id already.
impl Operation for StartRun {
    const NAME: &'static str = "start";
    const RIGHT: Right = Right::Drive;
    type Order = Order;
    type Response = Written;

    fn carry_out(&self, execution: &Execution<'_>) -> Result<Written, RunError> {
        let Execution { runs, order } = *execution;
        let start = &runs.redact_request(self);
        let digest = runs.digest(order, start)?;
        if let Some(key) = &order.key
            && let Some(seen) = runs.store.key_use(&order.run, key)?
            && seen.request == digest
        {
            return runs.written_before(order, seen.first, seen.last);
        }
        order.run.check_chosen()?;
        let now = runs.now();
        let (workflow, body) = first_record(runs, order, start, now)?;
        create_run(runs, order, digest, &Base::none(), workflow, &[body], now)
    }
}

impl Decide for PauseRun {
    const NAME: &'static str = "pause";
    const RIGHT: Right = Right::Drive;
    type Outcome = Result<(), Refused>;

    fn decide(&self, run: &Loaded, _: &DecideCx<'_>) -> Result<Change, RunError> {
        let reason = self.reason.clone();
        Ok(match run.state.status() {
            Status::Paused => Change::default(),
            _ => run.unless_over("pause", Body::Paused(Paused { reason })),
        })
    }
}

/// Continues a paused run. A pause by a person or by the run itself takes a person.
///
/// Then tool calls are counted from nothing again; an agent can't get more of them by pausing.
impl Decide for ContinueRun {
    const NAME: &'static str = "continue";
    const RIGHT: Right = Right::Drive;
    type Outcome = Result<(), Refused>;

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        let state = &run.state;
        if state.status() != Status::Paused {
            let status = state.status().name();
            let body = run.refuse_operation("continue", OperationBlocker::NotPaused { status });
            return Ok(Change { bodies: vec![body] });
        }
        let by_agent = state
            .paused_by
            .as_ref()
            .is_some_and(|it| !Right::Decide.is_granted(it.role));
        if !Right::Decide.is_granted(cx.order.actor.role) && !by_agent {
            let who = state.paused_by.as_ref().map(ToString::to_string);
            let who = who.unwrap_or_else(|| "somebody".to_owned());
            let body = run.refuse_operation("continue", OperationBlocker::PersonContinues { who });
            return Ok(Change { bodies: vec![body] });
        }
        let body = Body::Continued(Continued {
            reason: self.reason.clone(),
            below: usage_below(cx.runs, run)?,
        });
        Ok(Change { bodies: vec![body] })
    }
}

impl Decide for CancelRun {
    const NAME: &'static str = "cancel";
    const RIGHT: Right = Right::Drive;
    type Outcome = Result<(), Refused>;

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        let by = cx.order.actor.role;
        let body = Body::Cancelled(Cancelled {
            reason: self.reason.clone(),
            holds: run.holds_if_given_up(by),
        });
        let is_release = run.state.holds && Right::Decide.is_granted(by);
        Ok(if is_release {
            Change { bodies: vec![body] }
        } else if run.state.status() == Status::Cancelled {
            Change::default()
        } else {
            run.unless_over("cancel", body)
        })
    }
}

/// Enters a state by hand; other regions stay.
///
/// Only a person does it, and only where the definition says `"meta": {"debug": true}`. The journal shows it for ever.
impl Decide for ForceState {
    const NAME: &'static str = "force";
    const RIGHT: Right = Right::Drive;
    type Outcome = Result<(), Refused>;

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        let mut draft = Draft::new(run, &cx.order.actor, cx.now);
        let body = forced(&mut draft, self, cx.order.actor.role)?;
        draft.push(body)?;
        Ok(draft.finish())
    }
}

impl CancelRun {
    /// Makes it with a reason.
    #[must_use]
    pub fn because(reason: impl Into<String>) -> Self {
        let reason = Some(reason.into());
        Self { reason }
    }
}

/// Returns the run of a workflow that was paused last; of a project, if one is named.
///
/// # Errors
///
/// The store's.
pub fn latest_paused(
    runs: &Runs,
    workflow: &str,
    project: Option<&str>,
) -> Result<Option<RunId>, RunError> {
    let query = Query {
        statuses: vec![Status::Paused.name().to_owned()],
        workflow: Some(workflow.to_owned()),
        project: project.map(str::to_owned),
        limit: 1,
        ..Query::default()
    };
    let page = runs.store.list(&query)?;
    Ok(page.heads.into_iter().next().map(|head| head.run))
}

fn forced(draft: &mut Draft, force: &ForceState, role: Role) -> Result<Body, RunError> {
    let loaded = draft.loaded();
    let refuse = |blocker| Ok(loaded.refuse_operation("force", blocker));
    if !Right::Decide.is_granted(role) {
        let role = role.name();
        return refuse(OperationBlocker::PersonForces { role });
    }
    if loaded.state.signing.is_some() {
        let deed = "setting a state by hand";
        return refuse(OperationBlocker::SignedRun { deed });
    }
    if loaded.policy("debug") != Some(&Value::Bool(true)) {
        let workflow = loaded.workflow.id().to_owned();
        return refuse(OperationBlocker::NotDebug { workflow });
    }
    if let Some(blocker) = loaded.legality().over_or_restoring() {
        return Ok(loaded.refuse_operation("force", blocker));
    }
    let table = loaded.workflow.table();
    // The root is where every machine is; nobody enters it.
    let root = table.states().next().map(|(id, _)| id);
    let Some(target) = table.state_named(&force.to).filter(|id| Some(*id) != root) else {
        let known = loaded.workflow.visible_states();
        return refuse(OperationBlocker::UnknownState {
            state: force.to.clone(),
            known: known.map(|(_, name)| name.to_owned()).collect(),
        });
    };
    let before = &loaded.state.context;
    if let Some(defect) = loaded.workflow.context_defect(before, &force.context) {
        return refuse(OperationBlocker::BadContext { defect });
    }
    match draft.jump_with(&[target], &force.context) {
        Ok(step) => Ok(Body::Forced(Forced {
            to: force.to.clone(),
            context: force.context.clone(),
            reason: force.reason.clone(),
            step,
        })),
        Err(RunError::Step(CannotStep::Step(error))) => {
            let blocker = OperationBlocker::CannotEnter {
                state: force.to.clone(),
                cause: error.to_string(),
            };
            Ok(draft.loaded().refuse_operation("force", blocker))
        }
        Err(error) => Err(error),
    }
}
