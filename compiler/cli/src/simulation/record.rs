//! Records of a simulation.
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
//!   is the transition as its author would write it, for people, with `[*]` for an end.
//! - `transitions`, if several regions take one each in the step, has all of them; `transition` is then the first.
//! - `approval`, if the transition requires one (`requires_approval`), is `granted`: a simulation asks nobody.
//! - `granted`, if there are any, names what `requires` asks for and a simulation doesn't have: artifacts, checks, fields.
//! - `verdict`, if the machine has ended, is `success` or `failure`.
//! - `outcome` is `taken`, `ended` (taken, and the machine has ended), `ignored` (nothing takes the event here: neither
//!   the configuration nor the context changes) or `refused` (it can't be sent). An ignored or refused record has
//!   `reason`, and `legal`: the events that could be taken now.
//! - States are named by their ids, also one that stands for a `[*]`.
//! - `from` and `to` are the innermost active states, where several regions are active those of the first;
//!   `configuration` has all active states after the event, outermost first.
//! - `assigned`, if anything was, has what was assigned in the step, in order: `{"field": "attempts", "value": 1}`.
//! - `at`, if the machine has timers, is the time in milliseconds since the start; only `:wait` moves the clock.
//! - `waiting`, if timers are armed after the event, has them, the next first: `{"timer": "after.heating.1", "due": 90000}`,
//!   with the time `at` which it sends its event. That event has a record of its own, with the timer's event as `event`.
//! - `absent` names the fields that a guard reads and that the context doesn't have.
//! - `unanswered`, if there are any, names the guards that nobody has answered; they counted as false.
//! - `unknown`, if the event stood for a name that the machine doesn't have (`safe_next`), is that name.
//!
//! For a spec with errors, there is one object instead, that of `lint --output-format json`, and the exit code is 1.

use serde::Serialize;
use serde_json::Value;
use statemark_runs::body::Microstep;
use statemark_runtime::{Outcome, Table, TransitionId};

use crate::describe::{self, StateLabel};

/// The record of an event.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct EventRecord {
    pub(crate) seq: usize,
    pub(crate) event: Option<String>,
    pub(crate) outcome: EventOutcome,
    pub(crate) from: Option<StateLabel>,
    pub(crate) to: StateLabel,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verdict: Option<&'static str>,
    pub(crate) steps: Vec<MicrostepRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) granted: Vec<String>,
    pub(crate) absent: Vec<String>,
    pub(crate) configuration: Vec<StateLabel>,
    /// The configuration for people.
    #[serde(skip)]
    pub(crate) active: String,
    /// True if several regions were active before, so that `from` says little to people.
    #[serde(skip)]
    pub(crate) was_parallel: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) assigned: Vec<Assignment>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) waiting: Vec<ArmedTimer>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unanswered: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unknown: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) legal: Option<Vec<String>>,
}

/// A field and its new value.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Assignment {
    pub(crate) field: String,
    pub(crate) value: Value,
}

/// A timer, and when it is due.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ArmedTimer {
    pub(crate) timer: String,
    pub(crate) due: u64,
}

/// The outcome of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EventOutcome {
    Taken,
    Ended,
    Ignored,
    Refused,
}

impl From<Outcome> for EventOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Taken => Self::Taken,
            Outcome::Ended => Self::Ended,
            _ => Self::Ignored,
        }
    }
}

/// A microstep, with names in place of numbers.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MicrostepRecord {
    pub(crate) transition: Option<String>,
    pub(crate) transition_id: Option<u16>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) transitions: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approval: Option<&'static str>,
    pub(crate) exited: Vec<StateLabel>,
    pub(crate) actions: Vec<String>,
    pub(crate) entered: Vec<StateLabel>,
    pub(crate) raised: Vec<String>,
}

impl MicrostepRecord {
    /// Describes a microstep of a run.
    pub(super) fn new(table: &Table, step: Microstep) -> Self {
        let ids = || step.transitions.iter().copied().map(TransitionId::new);
        let labels = |names: &[String]| {
            let states = names.iter().filter_map(|name| table.state_named(name));
            states.map(|state| StateLabel::new(table, state)).collect()
        };
        let needs_approval = |id| describe::needs_approval(&describe::transition_meta(table, id));
        let transitions: Vec<String> = ids().map(|id| describe::statement(table, id)).collect();
        Self {
            transition: transitions.first().cloned(),
            transition_id: step.transitions.first().copied(),
            approval: ids().any(needs_approval).then_some("granted"),
            transitions: if transitions.len() > 1 {
                transitions
            } else {
                Vec::new()
            },
            exited: labels(&step.exited),
            entered: labels(&step.entered),
            actions: step.actions,
            raised: step.raised,
        }
    }
}
