//! The status of a run.

use serde::Serialize;

use super::{Child, RunState};
use crate::body::{RequestKind, StepStatus};

/// The status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A run that can continue.
    Running,
    /// A run that waits for something that isn't its driver's to do.
    Waiting,
    /// Somebody has paused it.
    Paused,
    /// A run that ended in success.
    Completed,
    /// A run that ended in failure.
    Failed,
    /// A cancellation.
    Cancelled,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 6] = [
        Self::Running,
        Self::Waiting,
        Self::Paused,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Reports whether nothing more will happen.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// Things that a run waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "for")]
pub enum WaitingFor {
    /// Leave to take a transition.
    Approval {
        /// The request.
        request: String,
    },
    /// The answer to a question.
    Question {
        /// The request.
        request: String,
    },
    /// Something outside that its step waits for.
    Step {
        /// The step.
        step: String,
    },
    /// A child run.
    Child {
        /// Its id.
        run: String,
    },
    /// A child run that hasn't begun, since nobody has had its workflow yet.
    Workflow {
        /// The workflow.
        workflow: String,
        /// The state that invokes it.
        step: String,
    },
}

impl RunState {
    /// Returns its status.
    #[must_use]
    pub fn status(&self) -> Status {
        if self.cancelled.is_some() {
            return Status::Cancelled;
        }
        match self.ended.or(self.closed) {
            Some(true) => return Status::Completed,
            Some(false) => return Status::Failed,
            None => {}
        }
        if self.paused.is_some() {
            Status::Paused
        } else if self.waiting_for().is_empty() {
            Status::Running
        } else {
            Status::Waiting
        }
    }

    /// Returns the things that it waits for.
    #[must_use]
    pub fn waiting_for(&self) -> Vec<WaitingFor> {
        let mut all = Vec::new();
        for request in self.open_requests() {
            let id = request.opened.request.clone();
            if request.opened.kind == RequestKind::Approval {
                all.push(WaitingFor::Approval { request: id });
            } else if request.opened.blocking {
                all.push(WaitingFor::Question { request: id });
            }
        }
        for (step, units) in &self.steps {
            let waits = units
                .get("")
                .is_some_and(|it| it.status == StepStatus::Waiting);
            if waits && self.is_active(step) {
                all.push(WaitingFor::Step { step: step.clone() });
            }
        }
        for (run, child) in &self.children {
            // What an earlier visit has left behind, nobody waits for.
            if child.ended.is_none() && self.is_current_child(child) {
                all.push(WaitingFor::Child { run: run.clone() });
            }
        }
        for (step, workflow) in &self.invoking {
            if self.is_active(step) && !self.has_invoked(step, workflow) {
                let (workflow, step) = (workflow.clone(), step.clone());
                all.push(WaitingFor::Workflow { workflow, step });
            }
        }
        all
    }

    /// Reports whether a state has the child that it invokes, in the present visit.
    fn has_invoked(&self, step: &str, workflow: &str) -> bool {
        self.children.values().any(|child| {
            child.table.is_some()
                && child.workflow == workflow
                && child.step.as_deref() == Some(step)
                && self.is_current_child(child)
        })
    }

    /// Reports whether a child works for a present visit.
    #[must_use]
    pub fn is_current_child(&self, child: &Child) -> bool {
        let visit = child.step.as_ref().and_then(|step| self.visits.get(step));
        visit.is_some_and(|visit| visit.left.is_none() && child.seq >= visit.entered)
    }

    /// Reports whether a state is active: it was entered, and not left since.
    #[must_use]
    pub fn is_active(&self, state: &str) -> bool {
        self.visits
            .get(state)
            .is_some_and(|visit| visit.count > 0 && visit.left.is_none())
    }
}
