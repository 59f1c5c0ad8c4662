//! The result of a report.

use crate::body::{Body, Cause, Event, Refused, Step};
use crate::id::RunId;
use crate::runs::{RunError, Written};

/// The result of a report.
///
/// It is read from the records that the report wrote, so that a repetition gives an equal result.
#[derive(Clone, Debug)]
pub struct Advanced {
    /// The run whose journal has it: an agent's own for an agent's step.
    pub run: RunId,
    /// True if the run started with it.
    pub started: bool,
    /// The event that led to the step, if it wasn't active.
    pub entered: Option<Event>,
    /// The steps before it that are completed by that.
    pub completed: Vec<Step>,
    /// The step's status now; none if the report wasn't on a step's status.
    pub step: Option<Step>,
    /// The event that ended with the step, if it was completed and leads to `[*]`.
    pub left: Option<Event>,
    /// The request that has to be decided before an event of it is taken.
    pub request: Option<String>,
    /// The refusal; with a step, that of the event that would have ended with it.
    pub refused: Option<Refused>,
    /// The records and the run; none if nothing was written.
    pub written: Option<Written>,
    /// True if nothing is recorded because the workflow has no machine.
    pub untracked: bool,
}

impl Advanced {
    /// Reads the result from the records of a report.
    ///
    /// # Errors
    ///
    /// One of them can't be read.
    pub(super) fn from_written(written: Written) -> Result<Self, RunError> {
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
                Body::Step(step) if step.implied => all.completed.push(step),
                Body::Step(step) => all.step = Some(step),
                Body::Opened(opened) => all.request = Some(opened.request),
                Body::Refused(refused) => all.refused = Some(refused),
                _ => {}
            }
        }
        all.written = Some(written);
        Ok(all)
    }

    /// Makes the result of a refusal that no journal has, because there is no run.
    pub(super) fn refused(run: RunId, refused: Refused) -> Self {
        let mut all = Self::nothing(run);
        all.refused = Some(refused);
        all
    }

    /// Makes the result of a report on a workflow without a machine.
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
            completed: Vec::new(),
            step: None,
            left: None,
            request: None,
            refused: None,
            written: None,
            untracked: false,
        }
    }

    /// Returns the reason that nothing of it was done, if nothing was.
    #[must_use]
    pub const fn refusal(&self) -> Option<&Refused> {
        match &self.step {
            None => self.refused.as_ref(),
            Some(_) => None,
        }
    }
}
