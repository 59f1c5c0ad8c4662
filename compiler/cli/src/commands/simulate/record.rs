//! What came of an event, with names in place of numbers.
//!
//! As JSON, one object a line:
//!
//! ```json
//! {
//!   "seq": 1,
//!   "event": "ready",
//!   "outcome": "taken",
//!   "from": "planning",
//!   "to": "implementing",
//!   "steps": [
//!     {
//!       "transition": "planning --> implementing : ready [steps > 0]",
//!       "exited": ["planning"], "actions": [], "entered": ["implementing"], "raised": []
//!     }
//!   ],
//!   "absent": [],
//!   "configuration": ["implementing"]
//! }
//! ```
//!
//! - `seq` counts from 0, which is the start of the machine: its `event` and `from`, and the `transition` of its first
//!   step, are `null`.
//! - `outcome` is `taken`, `ended` (taken, and the machine has ended), `ignored` (nothing takes the event here: neither
//!   the configuration nor the context changes) or `refused` (it can't be sent). An ignored or refused record has
//!   `reason`, and `legal`: the events that could be taken now.
//! - `from` and `to` are the innermost active states; `configuration` is all of them after the event, outermost first.
//! - `absent` names the fields that a guard wanted and that the context doesn't have.
//! - `unanswered`, if there are any, names the guards that nobody has answered; they counted as false.
//! - `unknown`, if the event stood for a name that the machine doesn't have (`safe_next`), is that name.

use serde::Serialize;
use statemark_runtime::{Microstep, Outcome, Record, Table};

use crate::wording;

/// What came of one event.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Told {
    pub(super) seq: usize,
    pub(super) event: Option<String>,
    pub(super) outcome: Became,
    pub(super) from: Option<String>,
    pub(super) to: String,
    pub(super) steps: Vec<ToldStep>,
    pub(super) absent: Vec<String>,
    pub(super) configuration: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) unanswered: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unknown: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) legal: Option<Vec<String>>,
}

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Became {
    Taken,
    Ended,
    Ignored,
    Refused,
}

/// One microstep.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ToldStep {
    pub(super) transition: Option<String>,
    pub(super) exited: Vec<String>,
    pub(super) actions: Vec<String>,
    pub(super) entered: Vec<String>,
    pub(super) raised: Vec<String>,
}

impl Told {
    /// The record as one line of JSON.
    pub(super) fn json(&self) -> String {
        format!("{}\n", serde_json::to_string(self).unwrap_or_default())
    }
}

impl From<Outcome> for Became {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Taken => Self::Taken,
            Outcome::Ended => Self::Ended,
            _ => Self::Ignored,
        }
    }
}

/// The microsteps of a record.
pub(super) fn steps(table: &Table, record: &Record) -> Vec<ToldStep> {
    record
        .steps
        .iter()
        .map(|step| told_step(table, step))
        .collect()
}

/// The fields that a record says were absent, each once.
pub(super) fn absent(table: &Table, record: &Record) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for &field in &record.absent {
        let name = table.field_name(field);
        if !names.iter().any(|other| other == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn told_step(table: &Table, step: &Microstep) -> ToldStep {
    let states = |ids: &[_]| {
        ids.iter()
            .map(|&id| wording::state_name(table, id))
            .collect()
    };
    ToldStep {
        transition: step.transition.map(|id| wording::statement(table, id)),
        exited: states(&step.exited),
        actions: wording::actions(table, &step.actions),
        entered: states(&step.entered),
        raised: step
            .raised
            .iter()
            .map(|&event| table.event_name(event).to_owned())
            .collect(),
    }
}
