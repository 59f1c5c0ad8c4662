//! The view of a run: `--json`, the server's answers and the dashboard show this object.

use serde::Serialize;
use serde_json::Value;

use crate::body::{Opened, StepStatus};
use crate::id::RunId;
use crate::legality::Legal;
use crate::loaded::Loaded;
use crate::runs::RunError;
use crate::state::{Context, Status, StepState, WaitingFor};
use crate::store::PendingTimer;

/// A run as it is now.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunView {
    /// Its id.
    pub run: RunId,
    /// The workflow's id.
    pub workflow: String,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// True if nobody has accepted its workflow, in a store where workflows are accepted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unreviewed: bool,
    /// Its status.
    pub status: Status,
    /// The actor who imported it, if its first records are another store's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported_by: Option<String>,
    /// The reason of its pause or cancellation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Everything that it waits for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting_for: Vec<WaitingFor>,
    /// The active leaves, in document order.
    pub active: Vec<ActiveState>,
    /// The machine's data.
    #[serde(skip_serializing_if = "Context::is_empty")]
    pub context: Context,
    /// The transitions that could be next, with those that can't be taken now.
    pub next: Vec<Legal>,
    /// The questions that are open, in the order of asking.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Opened>,
    /// The timers that are still to come.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub timers: Vec<PendingTimer>,
    /// The steps of a run on which somebody has reported, in document order, with their units.
    ///
    /// All of the machine's are there, also those that nobody has begun.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepView>,
    /// The last record.
    pub seq: u64,
    /// The time of its start. Unit: milliseconds since 1970.
    pub created: u64,
    /// The time of the last record. Unit: milliseconds since 1970.
    pub updated: u64,
}

/// A state that is active.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ActiveState {
    /// Its id.
    pub state: String,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Since when. Unit: milliseconds since 1970.
    pub since: u64,
    /// The number of its visits.
    pub visits: u64,
}

/// A step, or a unit of work in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepView {
    /// The state, or `agent:state`.
    pub step: String,
    /// The unit of work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Its status.
    pub status: StepStatus,
    /// In words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// True if it stands beside the active states, and moved nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub detached: bool,
}

impl Loaded {
    /// Returns the view of the run.
    ///
    /// # Errors
    ///
    /// The state isn't one of the workflow's machine.
    pub fn view(&self) -> Result<RunView, RunError> {
        let state = &self.state;
        let over = state.status().is_over();
        let reason = state.cancelled.as_ref().or(state.paused.as_ref());
        Ok(RunView {
            run: self.run.clone(),
            workflow: state.workflow.clone(),
            title: state.title.clone(),
            unreviewed: self.is_unreviewed(),
            status: state.status(),
            imported_by: state.imported_by.clone(),
            reason: reason.filter(|reason| !reason.is_empty()).cloned(),
            waiting_for: if over {
                Vec::new()
            } else {
                state.waiting_for()
            },
            active: state.leaves.iter().map(|leaf| self.active(leaf)).collect(),
            context: state.context.clone(),
            next: if over {
                Vec::new()
            } else {
                self.legality().transitions()?
            },
            requests: state
                .open_requests()
                .into_iter()
                .map(|request| request.opened.clone())
                .collect(),
            timers: state.timers.clone(),
            steps: self.steps(),
            seq: self.head.seq,
            created: state.created,
            updated: state.updated,
        })
    }

    fn active(&self, leaf: &str) -> ActiveState {
        let id = self.workflow.table().state_named(leaf);
        let meta = id.map_or(&Value::Null, |id| self.workflow.state_meta(id));
        let text = |key: &str| meta.get(key).and_then(Value::as_str).map(str::to_owned);
        let visit = self.state.visits.get(leaf);
        ActiveState {
            state: leaf.to_owned(),
            title: text("title"),
            instructions: text("instructions"),
            since: visit.map_or(self.state.updated, |visit| visit.since),
            visits: visit.map_or(0, |visit| visit.count),
        }
    }

    /// Returns the steps in document order; those that the machine doesn't have come last.
    ///
    /// A run on which nobody has reported has none: its states say enough.
    fn steps(&self) -> Vec<StepView> {
        let reported = &self.state.steps;
        if reported.is_empty() {
            return Vec::new();
        }
        let mut all = Vec::new();
        for (_, step) in self.workflow.visible_states() {
            let units = reported.get(step);
            if units.is_none_or(|units| !units.contains_key("")) {
                all.push(StepView {
                    step: step.to_owned(),
                    unit: None,
                    status: self.unreported_status(step),
                    message: None,
                    detached: false,
                });
            }
            all.extend(units.into_iter().flatten().map(|it| view_step(step, it)));
        }
        let table = self.workflow.table();
        let others = reported.iter().filter(|(step, _)| {
            let id = table.state_named(step);
            id.is_none_or(|id| self.workflow.is_implied(id))
        });
        for (step, units) in others {
            all.extend(units.iter().map(|it| view_step(step, it)));
        }
        all
    }

    /// Returns the status of a step on which nobody has reported: what the machine did there.
    ///
    /// The state that a run begins in isn't started by that alone.
    fn unreported_status(&self, step: &str) -> StepStatus {
        match self.state.visits.get(step) {
            Some(visit) if visit.count > 0 && visit.left.is_some() => StepStatus::Completed,
            Some(visit) if visit.entered > 1 => StepStatus::Running,
            _ => StepStatus::NotStarted,
        }
    }
}

/// Returns the view of a report on a step or on a unit in it.
fn view_step(step: &str, (unit, reported): (&String, &StepState)) -> StepView {
    StepView {
        step: step.to_owned(),
        unit: (!unit.is_empty()).then(|| unit.clone()),
        status: reported.status,
        message: reported.message.clone(),
        detached: reported.detached.is_some(),
    }
}
