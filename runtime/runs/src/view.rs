//! A run as faces show it: the command line's `--json`, the server's answers and the dashboard's page are this object.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::body::{Opened, StepStatus};
use crate::id::RunId;
use crate::legality::Legal;
use crate::runs::{Loaded, RunError};
use crate::state::{Status, WaitingFor};
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
    /// What it has come to.
    pub status: Status,
    /// Why it stands still or was given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Everything that it waits for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting_for: Vec<WaitingFor>,
    /// The active leaves, in document order.
    pub active: Vec<ActiveState>,
    /// The machine's data.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
    /// What events could do next, those that can't be taken now included.
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
    /// When the run began. Unit: milliseconds since 1970.
    pub created: u64,
    /// When the last record was written.
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
    /// What is to be done in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Since when. Unit: milliseconds since 1970.
    pub since: u64,
    /// How often it was entered.
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
    /// How it is getting on.
    pub status: StepStatus,
    /// In words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Loaded {
    /// The run as faces show it.
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
            status: state.status(),
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

    /// In document order; what the machine doesn't have comes behind.
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
