//! How far long work is: told in the journal, and nothing rests on it.

use serde::Serialize;

use super::refusal::refusal;
use super::{Change, Order, RunError, Runs, Written};
use crate::body::{Body, Progress};

/// How far some work is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReportProgress {
    /// In words.
    pub message: String,
    /// How much of it is done, from 0 to 1.
    pub fraction: Option<f64>,
    /// The unit of work.
    pub unit: Option<String>,
}

impl Runs {
    /// Records how far some work is. It moves nothing; what is over or stands still makes none.
    ///
    /// # Errors
    ///
    /// [`RunError::Invalid`]: nothing is said, or the fraction isn't one. As for [`Runs::change`].
    pub fn progress(&self, order: &Order, report: &ReportProgress) -> Result<Written, RunError> {
        let report = &self.cleaned(report);
        let invalid = |what: &str| {
            Err(RunError::Invalid {
                what: what.to_owned(),
            })
        };
        if report.message.trim().is_empty() {
            return invalid("progress needs a `message`: say how far it is");
        }
        if report.fraction.is_some_and(|it| !(0.0..=1.0).contains(&it)) {
            return invalid("`fraction` is how much is done, from 0 to 1");
        }
        self.change(order, &("progress", report), |loaded, _| {
            if let Some((code, reason)) = loaded.standstill() {
                let body = refusal("progress", None, code, reason, &[]);
                return Ok(Change { bodies: vec![body] });
            }
            let body = Body::Progress(Progress {
                message: report.message.clone(),
                done: report.fraction,
                step: match loaded.state.leaves.as_slice() {
                    [only] => Some(only.clone()),
                    _ => None,
                },
                unit: report.unit.clone(),
            });
            Ok(Change { bodies: vec![body] })
        })
    }
}
