//! Reports on steps: a worker says which step is under way, and the machine follows if it can.
//!
//! A report on a step that isn't active enters it first, by the transition that leads there; then its status is set. A
//! report on the active step only sets it. `completed` takes the step's way to `[*]`. So a reporter needs to know the
//! names of steps and none of events, and still can't say what the machine doesn't allow.
//!
//! The first report on an unknown run starts it. A report of a unit of work moves nothing. `agent:step` drives a run of
//! that agent's own machine under the active step, one for each unit (`advance/agent.rs`); the run's own journal has the
//! agent's report, too, under that name.
//!
//! A step that is reported as running completes those before it that are under way, each by a record just before its own.
//! In a machine that nothing holds up, another branch of a step that was left has a status of its own beside what is
//! active, and moves nothing.
//!
//! Deliberately not here: marking what was passed over. A step of a branch that wasn't taken isn't started.

mod agent;
mod answer;
mod enter;
mod owner;
mod refusal;
mod report;

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;
use statemark_runtime::{StateId, StateKind};

pub use answer::Advanced;
use owner::{Agent, Owner, find_owner};

use super::create::first_record;
use super::draft::Base;
use super::draft::Draft;
use super::operation::{Execution, Operation, Right};
use super::reconcile::{commit, create_run};
use super::{Change, InvalidRequest, Loaded, Order, RunError, Runs, StartRun};
use crate::body::{Annotation, Body, Note, StepStatus, Subflow};
use crate::claims::Claims;
use crate::store::StoreError;
use crate::workflow::Workflow;
use agent::{advance_agent, check_beginning, replayed_by_agent};

/// Most tries of a first report that loses the race to start its run.
///
/// Why: the second time there is a run.
const STARTS: u32 = 4;

/// A report on a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advance {
    /// The step: a state of the workflow, or `agent:step`. None: the only active one, where it matters.
    pub step: Option<String>,
    /// The unit of work in it.
    pub unit: Option<String>,
    /// The content of a report.
    pub report: Report,
    /// The claims of the reporter, for the guards of the transition that the report takes.
    ///
    /// Without claims it isn't in the digest of the key, which is older.
    #[serde(skip_serializing_if = "Claims::is_empty")]
    pub claims: Claims,
    /// The start of the run, if there is none of that id; none if there must be one.
    ///
    /// An existing run must have that workflow. The rest counts for the first report alone, and isn't in the digest of
    /// the key.
    #[serde(serialize_with = "workflow_of")]
    pub start: Option<StartRun>,
    /// True if the run shall be closed with it.
    pub close: bool,
}

/// The content of a report.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "type")]
#[non_exhaustive]
pub enum Report {
    /// The status of a step.
    Status {
        /// The way.
        status: StepStatus,
        /// In words.
        message: Option<String>,
        /// Further data. It comes with the event that the report sends, if it sends one.
        data: Value,
    },
    /// The step waits for a person.
    Waiting {
        /// The question.
        prompt: String,
        /// Further data.
        data: Value,
    },
    /// There is a file to look at.
    Artifact(Registered),
    /// A remark on a document.
    Annotation(Annotation),
    /// A remark on the run.
    Note(Note),
    /// Steps of somebody else's making.
    Subflow(Subflow),
}

/// A file that a step has made, where it lies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Registered {
    /// The path, which is the artifact's name, too.
    pub path: String,
    /// The folder that the path is relative to.
    pub storage_root: Option<String>,
    /// The feature of a project that it is about.
    pub feature: Option<String>,
    /// Its kind, in the reporter's words.
    pub kind: Option<String>,
    /// True for the diagram of a subflow.
    pub subflow: bool,
}

impl Advance {
    /// Makes a report on the status of a step.
    #[must_use]
    pub fn status(step: impl Into<String>, status: StepStatus) -> Self {
        let report = Report::Status {
            status,
            message: None,
            data: Value::Null,
        };
        Self::new(report).on(step)
    }

    /// Makes a report that names no step.
    #[must_use]
    pub const fn new(report: Report) -> Self {
        Self {
            step: None,
            unit: None,
            report,
            claims: Claims::none(),
            start: None,
            close: false,
        }
    }

    /// Sets the step.
    #[must_use]
    pub fn on(mut self, step: impl Into<String>) -> Self {
        self.step = Some(step.into());
        self
    }

    /// Sets the unit.
    #[must_use]
    pub fn for_unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = Some(unit.into());
        self
    }

    /// Sets what the reporter claims.
    #[must_use]
    pub fn claiming(mut self, claims: Claims) -> Self {
        self.claims = claims;
        self
    }

    /// Sets the start of a run that doesn't exist.
    #[must_use]
    pub fn starting(mut self, start: StartRun) -> Self {
        self.start = Some(start);
        self
    }
}

/// Reports on a run. What can't be is refused with what could; that is recorded if there is a run.
///
/// It is an error ([`RunError::UnknownWorkflow`]) if the run would have to be started and can't be.
impl Operation for Advance {
    const NAME: &'static str = "advance";
    const RIGHT: Right = Right::Drive;
    type Order = Order;
    type Response = Advanced;

    fn carry_out(&self, execution: &Execution<'_>) -> Result<Advanced, RunError> {
        let Execution { runs, order } = *execution;
        advance_within(runs, order, &runs.redact_request(self), 0)
    }
}

/// Carries out a report at some depth of agents under agents.
fn advance_within(
    runs: &Runs,
    order: &Order,
    advance: &Advance,
    depth: usize,
) -> Result<Advanced, RunError> {
    if advance.unit.as_deref() == Some("") || advance.step.as_deref() == Some("") {
        return Err(InvalidRequest::EmptyName.into());
    }
    for _ in 0..STARTS {
        let done = match runs.load(&order.run) {
            Ok(loaded) => advance_loaded(runs, order, advance, &loaded, depth),
            Err(RunError::Store(StoreError::NotFound { what })) => {
                open_by_report(runs, order, advance, &what)
            }
            Err(error) => Err(error),
        };
        match done {
            // Somebody else has started the run, or made an agent known, in between; or this has, for an agent's report.
            Err(RunError::Store(StoreError::Conflict { .. })) if order.expected.is_none() => {}
            done => return done,
        }
    }
    Err(RunError::Contention { tries: STARTS })
}

fn advance_loaded(
    runs: &Runs,
    order: &Order,
    advance: &Advance,
    loaded: &Loaded,
    depth: usize,
) -> Result<Advanced, RunError> {
    if let Some(key) = &order.key {
        if runs.store.key_use(&order.run, key)?.is_some() {
            return advance_own(runs, order, advance);
        }
        if let Some(done) = replayed_by_agent(runs, order, key, advance, loaded, depth)? {
            return Ok(done);
        }
    }
    match find_owner(runs, loaded, advance) {
        Owner::Agent(agent) => advance_agent(runs, order, advance, loaded, &agent, depth),
        _ => advance_own(runs, order, advance),
    }
}

fn advance_own(runs: &Runs, order: &Order, advance: &Advance) -> Result<Advanced, RunError> {
    let written = commit(runs, order, &(Advance::NAME, advance), |loaded, now| {
        let owner = find_owner(runs, loaded, advance);
        let draft = Draft::new(loaded, &order.actor, now);
        decide(draft, advance, owner)
    })?;
    Advanced::from_written(written)
}

/// Starts a run by its first report, if the report can be made on a run that has just started.
fn open_by_report(
    runs: &Runs,
    order: &Order,
    advance: &Advance,
    missing: &str,
) -> Result<Advanced, RunError> {
    let Some(start) = &advance.start else {
        let what = missing.to_owned();
        return Err(StoreError::NotFound { what }.into());
    };
    if runs.workflows.find(&start.workflow).is_none()
        && runs.workflows.lacks_machine(&start.workflow)
    {
        return Ok(Advanced::untracked(order.run.clone()));
    }
    if order.expected.is_some_and(|expected| expected != 0) {
        return Err(StoreError::Conflict { actual: 0 }.into());
    }
    // An agent's run has an id that is made of its parent's.
    if start.parent.is_none() {
        order.run.check_chosen()?;
    }
    let now = runs.now();
    let (workflow, body) = first_record(runs, order, start, now)?;
    let begun = Draft::start(&order.run, &order.actor, workflow, body, now)?;
    let opened = match find_owner(runs, begun.loaded(), advance) {
        Owner::Agent(agent) => return begin_with_agent(runs, order, advance, begun, &agent),
        Owner::Unchecked => report::reported(begun, advance, true)?,
        _ => report::add_first(begun, advance)?,
    };
    let draft = match opened {
        Ok(draft) => draft,
        // There is no journal that could say so, and a run that nobody wanted isn't begun for it.
        Err(refused) => return Ok(Advanced::refused(order.run.clone(), refused)),
    };
    let digest = runs.digest(order, &(Advance::NAME, advance))?;
    let workflow = Arc::clone(&draft.loaded().workflow);
    let bodies = draft.finish().bodies;
    let written = create_run(runs, order, digest, &Base::none(), workflow, &bodies, now)?;
    Advanced::from_written(written)
}

/// Starts a run whose first report is an agent's, and makes the report.
///
/// The run begins in its first step, on which nothing is reported by that.
fn begin_with_agent(
    runs: &Runs,
    order: &Order,
    advance: &Advance,
    begun: Draft,
    agent: &Agent,
) -> Result<Advanced, RunError> {
    if let Err(refused) = check_beginning(runs, order, advance, agent)? {
        return Ok(Advanced::refused(order.run.clone(), refused));
    }
    // The key is the report's, in the agent's journal.
    let order = Order {
        key: None,
        expected: None,
        ..order.clone()
    };
    let workflow = Arc::clone(&begun.loaded().workflow);
    let now = begun.now();
    let bodies = begun.finish().bodies;
    let digest = runs.digest(&order, &(Advance::NAME, advance))?;
    create_run(runs, &order, digest, &Base::none(), workflow, &bodies, now)?;
    // The run is there now: the caller reports on it.
    Err(StoreError::Conflict { actual: 0 }.into())
}

/// Decides a report on an existing run.
fn decide(draft: Draft, advance: &Advance, owner: Owner) -> Result<Change, RunError> {
    let outcome = match (refusal::other_workflow(draft.loaded(), advance), owner) {
        (Some(mismatch), _) => Err(mismatch),
        (None, Owner::Refused(why)) => Err(why),
        (None, Owner::Agent(_)) => {
            // It was nobody's a moment ago: the caller asks again.
            let actual = draft.loaded().head.seq;
            return Err(StoreError::Conflict { actual }.into());
        }
        (None, Owner::Own) => report::reported(draft, advance, false)?,
        (None, Owner::Unchecked) => report::reported(draft, advance, true)?,
    };
    let bodies = match outcome {
        Ok(draft) => draft.finish().bodies,
        Err(why) => vec![Body::Refused(why)],
    };
    Ok(Change { bodies })
}

/// Reports whether a transition's targets are the states that `[*]` becomes.
fn is_end(workflow: &Workflow, targets: &[StateId]) -> bool {
    let table = workflow.table();
    let is_end = |id: &StateId| {
        let row = table.state(*id);
        row.is_some_and(|row| row.kind == StateKind::Final) && workflow.is_implied(*id)
    };
    !targets.is_empty() && targets.iter().all(is_end)
}

/// Reports whether a step is a state of the workflow.
fn is_step(workflow: &Workflow, step: &str) -> bool {
    workflow.visible_states().any(|(_, name)| name == step)
}

/// Serializes the part of a start that tells one report from another.
fn workflow_of<S: Serializer>(start: &Option<StartRun>, serializer: S) -> Result<S::Ok, S::Error> {
    let workflow = start.as_ref().map(|start| &start.workflow);
    workflow.serialize(serializer)
}
