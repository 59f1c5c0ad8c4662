//! Loaded runs, and their children as the journal knows them.

use std::sync::Arc;

use serde_json::Value;

use crate::hash::Hash;
use crate::id::{MAX_NAME, RunId};
use crate::state::{Child, RunState};
use crate::step::{CannotStep, Stepper};
use crate::store::Head;
use crate::workflow::Workflow;

/// A run as it is now.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its id.
    pub run: RunId,
    /// The end of its journal.
    pub head: Head,
    /// Its state.
    pub state: Arc<RunState>,
    /// Its workflow.
    pub workflow: Arc<Workflow>,
    /// True if the workflow of a run that began unreviewed has been accepted since.
    pub is_accepted: bool,
}

impl Loaded {
    /// Reports whether nobody has accepted its workflow, in a store where workflows are accepted.
    #[must_use]
    pub fn is_unreviewed(&self) -> bool {
        self.state.unreviewed && !self.is_accepted
    }

    /// Reports whether its journal has to be what its machine makes of it, since its decisions are signed.
    pub(crate) fn needs_proof(&self) -> bool {
        self.workflow.demands_signatures() || self.state.signing.is_some()
    }

    /// Returns the workflow that a state invokes.
    pub(crate) fn invokes(&self, state: &str) -> Option<&str> {
        let id = self.workflow.table().state_named(state)?;
        self.workflow.invoked_workflow(id)
    }

    /// Reports whether steps between the run and its children may be missing.
    pub(crate) fn needs_reconciling(&self) -> bool {
        self.childless_states().next().is_some()
            || !self.unsettled_children().is_empty()
            || !self.open_orphans().is_empty()
            || self.has_abandoned_agents()
    }

    /// Returns the children that haven't ended yet, as far as the journal knows.
    pub(crate) fn open_children(&self) -> Vec<RunId> {
        let open = self
            .invoked_children()
            .filter(|(_, child)| child.ended.is_none());
        open.map(|(id, _)| id).collect()
    }

    /// Returns the open children whose start was taken back.
    pub(crate) fn open_orphans(&self) -> Vec<RunId> {
        let orphans = self.state.orphans.iter();
        let open = orphans.filter(|(_, child)| child.ended.is_none());
        open.filter_map(|(id, _)| id.parse().ok()).collect()
    }

    /// Returns the invoked children with which something may be left to do.
    ///
    /// Those are the open ones, and of those that failed or were given up the latest, which may have to be cancelled yet.
    pub(crate) fn unsettled_children(&self) -> Vec<(RunId, Child)> {
        /// Most children looked at again. Unit: children. Why: a run may have had any number of them.
        const MOST_GIVEN_UP: usize = 64;
        let mut children: Vec<(RunId, Child)> = self
            .invoked_children()
            .filter(|(_, child)| child.ended != Some(true))
            .collect();
        let given_up = children.iter().filter(|(_, child)| child.ended.is_some());
        let mut given_up: Vec<u64> = given_up.map(|(_, child)| child.seq).collect();
        given_up.sort_unstable_by(|one, other| other.cmp(one));
        let earliest = given_up.get(MOST_GIVEN_UP - 1).copied().unwrap_or(0);
        children.retain(|(_, child)| child.ended.is_none() || child.seq >= earliest);
        children
    }

    /// Returns the children that states have invoked.
    pub(crate) fn invoked_children(&self) -> impl Iterator<Item = (RunId, Child)> {
        let children = self.state.children.iter();
        let children = children.filter(|(_, child)| child.table.is_some());
        children.filter_map(|(id, child)| Some((id.parse().ok()?, child.clone())))
    }

    /// Reports whether agents' runs continue that nobody waits for any more.
    pub(crate) fn has_abandoned_agents(&self) -> bool {
        let agents = self.open_agents();
        agents.iter().any(|id| self.abandonment(id).is_some())
    }

    /// Returns the reason that nobody waits for the run of an agent any more.
    ///
    /// Its parent is over, or its step was left.
    pub(crate) fn abandonment(&self, agent: &RunId) -> Option<String> {
        let (state, run) = (&self.state, &self.run);
        if state.cancelled.is_some() {
            return Some(format!("run `{run}` was cancelled"));
        }
        if state.status().is_over() {
            return Some(format!("run `{run}` has ended"));
        }
        let child = state.children.get(agent.as_str())?;
        let step = child.step.as_ref()?;
        let visit = state.visits.get(step)?;
        let left = visit.left.is_some() || child.seq < visit.entered;
        left.then(|| format!("`{step}` of run `{run}` was left"))
    }

    /// Returns the runs of agents under this one that aren't over, as far as its journal says.
    pub(crate) fn open_agents(&self) -> Vec<RunId> {
        let invoked: Vec<RunId> = self.invoked_children().map(|(id, _)| id).collect();
        let open = self.state.children.iter();
        let open = open.filter(|(_, child)| child.ended.is_none());
        open.filter_map(|(id, _)| id.parse().ok())
            .filter(|id| !invoked.contains(id))
            .collect()
    }

    /// Returns the active states that invoke a workflow.
    pub(crate) fn invoking_states(&self) -> impl Iterator<Item = Invoking> {
        let visits = self.state.visits.iter().filter(|(_, it)| it.left.is_none());
        visits.filter_map(|(state, visit)| {
            let workflow = self.invokes(state)?;
            let children = self.invoked_children().filter(|(_, child)| {
                child.workflow == workflow
                    && child.step.as_ref() == Some(state)
                    && self.state.is_current_child(child)
            });
            // A migration there and back leaves one behind in the same visit.
            let child = children.max_by_key(|(_, child)| (child.ended.is_none(), child.seq));
            Some(Invoking {
                workflow: workflow.to_owned(),
                step: state.clone(),
                visit: visit.count,
                child,
            })
        })
    }

    /// Returns the active states that invoke a workflow and have no child yet.
    ///
    /// While files are restored, none is wanted: they aren't what it would find.
    pub(crate) fn childless_states(&self) -> impl Iterator<Item = Invoking> {
        let wants = !self.state.status().is_over() && self.state.restoring.is_none();
        self.invoking_states()
            .filter(move |it| wants && it.child.is_none())
    }

    /// Returns the child that an event is the outcome of, unless it has come to that.
    ///
    /// The state that invoked it would take the event, and nobody else sends it then. Of several children, the one that
    /// this state has invoked.
    pub(crate) fn awaited_child(
        &self,
        event: &str,
        data: Option<&Value>,
        from: Option<&str>,
    ) -> Result<Option<Invoking>, CannotStep> {
        if event != "done" && event != "error" {
            return Ok(None);
        }
        let invoking = self.invoking_states();
        let mut invoking = invoking.filter(|it| !it.came_to(event)).peekable();
        if invoking.peek().is_none() {
            return Ok(None);
        }
        let table = self.workflow.table();
        let mut stepper = Stepper::restored(&self.workflow, &self.state)?;
        let candidates = stepper.candidates(table.event_named(event), data)?;
        let takers = candidates.iter().filter(|it| it.enabled);
        let takers = takers.filter(|it| table.event_name(it.event) == event);
        let takers = takers.filter_map(|it| table.transition(it.transition));
        let states: Vec<_> = takers.map(|row| table.state_name(row.source)).collect();
        let awaited = invoking.filter(|it| states.contains(&it.step.as_str()));
        // The first of the largest: of several that aren't the state's own, any says why.
        Ok(awaited.max_by_key(|it| from == Some(it.step.as_str())))
    }

    /// Returns an id for a new child.
    ///
    /// One whose start was taken back keeps its id, so that nothing of it is taken for the new one's.
    pub(crate) fn child_id(&self, invoking: &Invoking) -> Option<RunId> {
        let (run, state) = (&self.run, &invoking.step);
        let ids =
            (invoking.visit..).filter_map(|number| parse_id(&format!("{run}/{state}/{number}")));
        let is_free = |id: &RunId| {
            let id = id.as_str();
            !self.state.children.contains_key(id) && !self.state.orphans.contains_key(id)
        };
        ids.take(self.state.children.len() + self.state.orphans.len() + 1)
            .find(is_free)
    }
}

/// Returns a run's id, or a hash of it if it is too long.
fn parse_id(id: &str) -> Option<RunId> {
    if id.chars().count() <= MAX_NAME {
        return id.parse().ok();
    }
    format!("child-{}", Hash::digest(id.as_bytes()))
        .parse()
        .ok()
}

/// An active state that invokes a workflow.
pub(crate) struct Invoking {
    /// The state.
    pub(crate) step: String,
    /// The workflow's id.
    pub(crate) workflow: String,
    /// The child of this visit, if there is one.
    pub(crate) child: Option<(RunId, Child)>,
    /// The number of the state's visits.
    visit: u64,
}

impl Invoking {
    /// Reports whether the child has come to the outcome that an event says.
    ///
    /// It may be sent again then: a guard may have kept it from being taken. Any other outcome would be untrue, whoever has
    /// ended the child.
    fn came_to(&self, event: &str) -> bool {
        self.ended() == Some(event == "done")
    }

    /// Returns the outcome of the child, once it is over.
    pub(crate) fn ended(&self) -> Option<bool> {
        self.child.as_ref()?.1.ended
    }
}
