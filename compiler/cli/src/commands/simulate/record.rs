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
//!       "transition": "planning --> implementing : ready [steps > 0]", "transition_id": 0,
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
//! - `transition_id` is the row of the transition in the table, and its `id` in `show --output-format json`; `transition`
//!   is what its author would write, with `[*]` for an end, and for people.
//! - `transitions`, if several regions take one each in the step, is all of them; `transition` is then the first.
//! - `approval`, if the transition requires one (`requires_approval`), is `granted`: a simulation asks nobody.
//! - `verdict`, if the machine has ended, is `success` or `failure`.
//! - `outcome` is `taken`, `ended` (taken, and the machine has ended), `ignored` (nothing takes the event here: neither
//!   the configuration nor the context changes) or `refused` (it can't be sent). An ignored or refused record has
//!   `reason`, and `legal`: the events that could be taken now.
//! - States are named by their ids, also one that stands for a `[*]`.
//! - `from` and `to` are the innermost active states, where several regions are active those of the first;
//!   `configuration` is all active states after the event, outermost first.
//! - `assigned`, if anything was, is what was assigned in the step, in order: `{"field": "attempts", "value": 1}`.
//! - `at`, if the machine has timers, is the time in milliseconds since the start; the clock moves with `:wait` alone.
//! - `waiting`, if timers wait after the event, is which, the next first: `{"timer": "after.heating.1", "due": 90000}`,
//!   with the time `at` which it sends its event. That event has a record of its own, with the timer's event as `event`.
//! - `absent` names the fields that a guard wanted and that the context doesn't have.
//! - `unanswered`, if there are any, names the guards that nobody has answered; they counted as false.
//! - `unknown`, if the event stood for a name that the machine doesn't have (`safe_next`), is that name.
//!
//! For a spec with errors, there is one object instead, that of `lint --output-format json`, and the exit code is 1.

use serde::Serialize;
use serde_json::Value as Json;
use statemark_runtime::{Microstep, Outcome, Record, Table};

use crate::wording::{self, Place};

/// What came of one event.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Told {
    pub(super) seq: usize,
    pub(super) event: Option<String>,
    pub(super) outcome: Became,
    pub(super) from: Option<Place>,
    pub(super) to: Place,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) verdict: Option<&'static str>,
    pub(super) steps: Vec<ToldStep>,
    pub(super) absent: Vec<String>,
    pub(super) configuration: Vec<Place>,
    /// The configuration for people.
    #[serde(skip)]
    pub(super) shown: String,
    /// Whether several regions were active before, so that `from` says little to people.
    #[serde(skip)]
    pub(super) was_split: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) assigned: Vec<Assigned>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) waiting: Vec<Waiting>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) unanswered: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unknown: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) legal: Option<Vec<String>>,
}

/// A field and what it became.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Assigned {
    pub(super) field: String,
    pub(super) value: Json,
}

/// A timer that waits.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Waiting {
    pub(super) timer: String,
    pub(super) due: u64,
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
    pub(super) transition_id: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) transitions: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) approval: Option<&'static str>,
    pub(super) exited: Vec<Place>,
    pub(super) actions: Vec<String>,
    pub(super) entered: Vec<Place>,
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
    let states = |ids: &[_]| ids.iter().map(|&id| Place::of(table, id)).collect();
    let asks = |&id: &_| wording::needs_approval(&wording::transition_meta(table, id));
    let transitions: Vec<String> = (step.transitions.iter())
        .map(|&id| wording::statement(table, id))
        .collect();
    ToldStep {
        transition: transitions.first().cloned(),
        transition_id: step.transitions.first().map(|id| id.index()),
        transitions: if transitions.len() > 1 {
            transitions
        } else {
            Vec::new()
        },
        approval: step.transitions.iter().any(asks).then_some("granted"),
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
