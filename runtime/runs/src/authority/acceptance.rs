//! Accepted workflows: those that a person has read and takes as what agents are held to.
//!
//! An acceptance is of a workflow's behavior and policy; other texts need no new one. It is an entry of the store's journal,
//! so that no file of a project accepts anything.
//!
//! What to rely on:
//!
//! - A store in which nobody has accepted anything is for trying things out: every workflow counts as accepted. The first
//!   acceptance ends that, and [`AcceptWorkflows::all`] brings it back.
//! - Of several acceptances of one workflow the last counts for what may be started. Runs of earlier ones stay reviewed.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use statemark_runtime::Part;

use super::entry::{AllAccepted, Entry, WorkflowAccepted};
use super::{Authority, Right};
use crate::actor::Actor;
use crate::hash::Hash;
use crate::runs::operation::{Execution, Operation};
use crate::runs::{Order, RunError, Runs};
use crate::state::RunState;
use crate::workflow::Workflow;

/// The acceptance of a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Acceptance {
    /// The hash of its behavior.
    pub behavior: Hash,
    /// The hash of its policy.
    pub policy: Hash,
    /// The hash of its table, which the store keeps.
    pub table: Hash,
    /// The name of the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The time. Unit: milliseconds since 1970.
    pub at: u64,
}

impl Acceptance {
    /// Reports whether a workflow is as it was accepted, but for its texts.
    #[must_use]
    pub fn is_of(&self, workflow: &Workflow) -> bool {
        // The table's own hash spares writing its parts.
        self.table == workflow.hash()
            || self.behavior == workflow.part_hash(Part::Behavior)
                && self.policy == workflow.part_hash(Part::Policy)
    }
}

impl Authority {
    /// Reports whether every workflow counts as accepted: the store is for trying things out.
    #[must_use]
    pub const fn accepts_all(&self) -> bool {
        !self.reviews
    }

    /// Returns the last acceptance of a workflow's id.
    #[must_use]
    pub fn acceptance(&self, id: &str) -> Option<&Acceptance> {
        self.accepted.get(id)?.last()
    }

    /// Returns all acceptances by the workflow's id, in order.
    pub fn acceptances(&self) -> impl Iterator<Item = (&str, &Acceptance)> {
        let all = self.accepted.iter();
        all.flat_map(|(id, all)| all.iter().map(move |it| (id.as_str(), it)))
    }

    /// Reports whether a person has accepted a workflow as it is.
    #[must_use]
    pub fn lists(&self, workflow: &Workflow) -> bool {
        let last = self.acceptance(workflow.id());
        last.is_some_and(|it| it.is_of(workflow))
    }

    /// Reports whether a workflow counts as accepted as it is.
    #[must_use]
    pub fn has_accepted(&self, workflow: &Workflow) -> bool {
        self.accepts_all() || self.lists(workflow)
    }

    /// Reports whether a workflow counts as accepted as it is, or did once.
    #[must_use]
    pub fn had_accepted(&self, workflow: &Workflow) -> bool {
        let all = self.accepted.get(workflow.id()).into_iter().flatten();
        self.accepts_all() || all.into_iter().any(|it| it.is_of(workflow))
    }
}

impl Authority {
    /// Makes the error of a deed that needs an accepted workflow.
    pub(crate) fn unreviewed(&self, deed: String, workflow: &Workflow) -> RunError {
        RunError::Unreviewed {
            deed,
            workflow: workflow.id().to_owned(),
            was_accepted: self.acceptance(workflow.id()).is_some(),
        }
    }
}

impl Workflow {
    /// Returns what it declares that has programs run or changes what they get, by the definition's keys.
    ///
    /// Only a person may declare these, and only accepted workflows do.
    #[must_use]
    pub fn declared_powers(&self) -> Vec<(&'static str, &Value)> {
        let is_set = |value: &&Value| match value {
            Value::Null => false,
            Value::Object(fields) => !fields.is_empty(),
            Value::Array(items) => !items.is_empty(),
            _ => true,
        };
        let machine = ["checks", "upstream_servers"].map(|key| (key, self.meta()));
        let states = self.table().states();
        let states = states.map(|(id, _)| ("env_overrides", self.state_meta(id)));
        let all = machine.into_iter().chain(states);
        let declared = all.filter_map(|(key, meta)| Some((key, meta.get(key).filter(is_set)?)));
        declared.collect()
    }
}

/// Accepts workflows as they are, by a person. Answers how many weren't accepted like that before.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AcceptWorkflows {
    /// The workflows.
    #[serde(skip)]
    pub workflows: Vec<Arc<Workflow>>,
    /// True if every workflow counts as accepted from now on, until the next acceptance of one.
    pub all: bool,
}

impl Operation for AcceptWorkflows {
    const NAME: &'static str = "accept";
    const RIGHT: Right = Right::Accept;
    type Order = Actor;
    type Response = usize;

    fn carry_out(&self, execution: &Execution<'_, Actor>) -> Result<usize, RunError> {
        let (runs, actor) = (execution.runs(), execution.order());
        let new: Vec<WorkflowAccepted> = self.workflows.iter().map(accepted).collect();
        // A later acceptance is shown with what has changed since this one.
        for workflow in &self.workflows {
            runs.store().put_blob(workflow.bytes())?;
        }
        let before = runs.authority()?;
        let is_new = |it: &&WorkflowAccepted| !is_last(&before, it);
        let count = new.iter().filter(is_new).count();
        runs.amend_authority(actor, |authority, _| {
            let ends_trial = authority.accepts_all();
            let new = new.iter();
            let new = new.filter(|it| ends_trial || !is_last(authority, it));
            let mut entries: Vec<Entry> =
                new.map(|it| Entry::WorkflowAccepted(it.clone())).collect();
            if self.all {
                entries.push(Entry::AllAccepted(AllAccepted {}));
            }
            Ok(entries)
        })?;
        Ok(count)
    }
}

fn accepted(workflow: &Arc<Workflow>) -> WorkflowAccepted {
    WorkflowAccepted {
        workflow: workflow.id().to_owned(),
        behavior: workflow.part_hash(Part::Behavior),
        policy: workflow.part_hash(Part::Policy),
        table: workflow.hash(),
    }
}

/// Reports whether this is the last acceptance of its workflow already.
fn is_last(authority: &Authority, new: &WorkflowAccepted) -> bool {
    let last = authority.acceptance(&new.workflow);
    last.is_some_and(|it| (it.behavior, it.policy) == (new.behavior, new.policy))
}

impl Runs {
    /// Checks that runs of a workflow may begin here.
    ///
    /// A project can say that they have to be accepted, even in a store for trying things out; so can a caller's token.
    ///
    /// # Errors
    ///
    /// [`RunError::Unreviewed`], with the deed that fails.
    pub(crate) fn check_startable(
        &self,
        workflow: &Workflow,
        order: &Order,
        deed: impl FnOnce() -> String,
    ) -> Result<(), RunError> {
        if self.may_begin(workflow, order.only_accepted)? {
            return Ok(());
        }
        Err(self.authority()?.unreviewed(deed(), workflow))
    }

    /// Reports whether runs of a workflow may begin here, for somebody who may demand that it is accepted.
    pub(crate) fn may_begin(
        &self,
        workflow: &Workflow,
        is_demanded: bool,
    ) -> Result<bool, RunError> {
        if self.workflows().only_accepted() {
            return Ok(self.authority()?.lists(workflow));
        }
        Ok(!is_demanded || self.authority()?.has_accepted(workflow))
    }

    /// Reports whether a workflow counts as accepted as it is, or did once: so runs of it are reviewed.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    pub fn is_reviewed(&self, workflow: &Workflow) -> Result<bool, RunError> {
        Ok(self.authority()?.had_accepted(workflow))
    }

    /// Reports whether a run that began unreviewed counts as reviewed by now.
    ///
    /// Its workflow has to, and those of its children: it took whatever was there for these.
    pub(crate) fn is_accepted_since(
        &self,
        workflow: &Workflow,
        state: &RunState,
    ) -> Result<bool, RunError> {
        if !self.is_reviewed(workflow)? {
            return Ok(false);
        }
        for table in state.invokes.values() {
            if !self.is_reviewed(&*self.workflow_of(table)?)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
