//! The view of a run: `--json`, the server's answers and the dashboard show this object.

use serde::Serialize;
use serde_json::Value;

use crate::body::{Opened, StepStatus};
use crate::id::RunId;
use crate::legality::Legal;
use crate::loaded::Loaded;
use crate::runs::RunError;
use crate::state::{Context, Status, WaitingFor};
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
    /// The steps that were reported on, in document order, with their units.
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

/// A step that was reported on.
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
    fn steps(&self) -> Vec<StepView> {
        let table = self.workflow.table();
        let mut all: Vec<_> = self.state.steps.iter().collect();
        all.sort_by_key(|(step, _)| {
            let id = table.state_named(step);
            (id.is_none(), id)
        });
        let rows = all.into_iter().flat_map(|(step, units)| {
            units.iter().map(move |(unit, reported)| StepView {
                step: step.clone(),
                unit: (!unit.is_empty()).then(|| unit.clone()),
                status: reported.status,
                message: reported.message.clone(),
            })
        });
        rows.collect()
    }
}
