//! What became of a report.

use crate::body::{Body, Cause, Event, Refused, Step};
use crate::id::RunId;
use crate::runs::{RunError, Written};

/// What became of a report: all of it is read from the records that it wrote, so that asking again gives the same.
#[derive(Clone, Debug)]
pub struct Advanced {
    /// The run whose journal has it: an agent's own for an agent's step.
    pub run: RunId,
    /// Whether the run began with it.
    pub started: bool,
    /// The event that led to the step, if it wasn't active.
    pub entered: Option<Event>,
    /// What is known of the step now; none if the report wasn't on a step's status.
    pub step: Option<Step>,
    /// The event that ended with the step, if it was completed and leads to `[*]`.
    pub left: Option<Event>,
    /// The request that has to be decided before an event of it is taken.
    pub request: Option<String>,
    /// Why it was refused; beside a step, why the event that would have ended with it was.
    pub refused: Option<Refused>,
    /// The records and the run; none if nothing was written.
    pub written: Option<Written>,
    /// Whether nothing is recorded because the workflow has no machine.
    pub untracked: bool,
}

impl Advanced {
    /// The answer that the records of a report give.
    ///
    /// # Errors
    ///
    /// One of them can't be read.
    pub(super) fn of(written: Written) -> Result<Self, RunError> {
        let mut all = Self::nothing(written.loaded.run.clone());
        for body in written.bodies.iter().cloned() {
            match body {
                Body::Started(_) => all.started = true,
                Body::Event(event) if matches!(event.cause, Some(Cause::Advance { .. })) => {
                    let slot = match all.step {
                        None => &mut all.entered,
                        Some(_) => &mut all.left,
                    };
                    *slot = Some(event);
                }
                Body::Step(step) => all.step = Some(step),
                Body::Opened(opened) => all.request = Some(opened.request),
                Body::Refused(refused) => all.refused = Some(refused),
                _ => {}
            }
        }
        all.written = Some(written);
        Ok(all)
    }

    /// A refusal that no journal has, because there is no run.
    pub(super) fn refused(run: RunId, refused: Refused) -> Self {
        let mut all = Self::nothing(run);
        all.refused = Some(refused);
        all
    }

    /// A report on a workflow without a machine.
    pub(super) fn untracked(run: RunId) -> Self {
        let mut all = Self::nothing(run);
        all.untracked = true;
        all
    }

    const fn nothing(run: RunId) -> Self {
        Self {
            run,
            started: false,
            entered: None,
            step: None,
            left: None,
            request: None,
            refused: None,
            written: None,
            untracked: false,
        }
    }

    /// Why nothing of it was done, if nothing was.
    #[must_use]
    pub const fn refusal(&self) -> Option<&Refused> {
        match &self.step {
            None => self.refused.as_ref(),
            Some(_) => None,
        }
    }
}
