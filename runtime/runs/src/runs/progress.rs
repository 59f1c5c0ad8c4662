//! Progress of long work. Nothing in a run depends on it.

use serde::Serialize;

use super::operation::{Decide, DecideCx, Right};
use super::order::refuse_alone;
use super::{Change, InvalidRequest, Loaded, RunError};
use crate::body::{Body, Progress, Refused};

/// A report on the progress of work.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReportProgress {
    /// In words.
    pub message: String,
    /// The fraction that is done, from 0 to 1.
    pub fraction: Option<f64>,
    /// The unit of work.
    pub unit: Option<String>,
}

/// Records how far some work is. It moves nothing; what is over or stands still makes none.
impl Decide for ReportProgress {
    const NAME: &'static str = "progress";
    const RIGHT: Right = Right::Drive;
    type Outcome = Result<(), Refused>;

    fn validate(&self) -> Result<(), RunError> {
        if self.message.trim().is_empty() {
            return Err(InvalidRequest::NoProgressMessage.into());
        }
        if self.fraction.is_some_and(|it| !(0.0..=1.0).contains(&it)) {
            return Err(InvalidRequest::FractionOutOfRange.into());
        }
        Ok(())
    }

    fn decide(&self, run: &Loaded, _: &DecideCx<'_>) -> Result<Change, RunError> {
        if let Some(blocker) = run.legality().standstill() {
            let body = refuse_alone("progress", None, blocker);
            return Ok(Change { bodies: vec![body] });
        }
        let body = Body::Progress(Progress {
            message: self.message.clone(),
            done: self.fraction,
            step: match run.state.leaves.as_slice() {
                [only] => Some(only.clone()),
                _ => None,
            },
            unit: self.unit.clone(),
        });
        Ok(Change { bodies: vec![body] })
    }
}
