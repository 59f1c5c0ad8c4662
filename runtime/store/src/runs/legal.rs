//! What a run could do next, and what is in the way.

use serde::Serialize;
use serde_json::Value;
use statemark_runtime::{Candidate, Instruction, Table, TransitionId};

use super::{Loaded, RunError};
use crate::step::Stepper;

/// A transition that an event from outside could take.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Legal {
    /// The event.
    pub event: String,
    /// The event as its author wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The state that it leads from.
    pub from: String,
    /// The states that it leads to; none for one that stays.
    pub to: Vec<String>,
    /// Whether sending the event now would take it.
    pub enabled: bool,
    /// Whether its guard holds.
    pub holds: bool,
    /// What its guard reads, and what that is now; `null` in `absent` fields' place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    /// Whether somebody has to approve it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub requires_approval: bool,
    /// The artifacts that have to be handed in first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
    /// The number of the transition in the table.
    pub transition: u16,
}

/// A field that a guard reads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fact {
    /// Its path.
    pub field: String,
    /// Its value; none if it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

impl Loaded {
    /// What could be taken next, in the order of selection.
    ///
    /// # Errors
    ///
    /// The state isn't one of the workflow's machine.
    pub fn legal(&self) -> Result<Vec<Legal>, RunError> {
        self.legal_with(None)
    }

    /// What could be taken next, if an event came with that data: guards see it merged into the context.
    ///
    /// # Errors
    ///
    /// As for [`Loaded::legal`]; the data can't be kept.
    pub fn legal_with(&self, data: Option<&Value>) -> Result<Vec<Legal>, RunError> {
        let mut stepper = Stepper::restored(&self.workflow, &self.state)?;
        let candidates = stepper.candidates(data)?;
        let table = self.workflow.table();
        let is_sent = |it: &&Candidate| !super::send::OWN.contains(&table.event_name(it.event));
        let candidates = candidates.iter().filter(is_sent);
        let mut told: Vec<Legal> = Vec::new();
        for candidate in candidates {
            let mut legal = self.told(candidate, &stepper);
            if legal.enabled {
                // An event at which the machine would fail leaves nothing.
                legal.lacks = self.lacks_for(candidate.event, data).unwrap_or_default();
                legal.enabled = legal.lacks.is_empty();
            }
            told.push(legal);
        }
        Ok(told)
    }

    fn told(&self, candidate: &Candidate, stepper: &Stepper<'_>) -> Legal {
        let table = self.workflow.table();
        let row = table.transition(candidate.transition);
        let targets = row.map(|row| table.sections().targets.get(range(&row.targets)));
        let targets = targets.flatten().unwrap_or_default();
        let title = self.workflow.event_meta(candidate.event).get("title");
        Legal {
            event: table.event_name(candidate.event).to_owned(),
            title: title.and_then(Value::as_str).map(str::to_owned),
            from: row.map_or_else(String::new, |row| table.state_name(row.source).to_owned()),
            to: targets
                .iter()
                .map(|id| table.state_name(*id).to_owned())
                .collect(),
            enabled: candidate.enabled,
            holds: candidate.holds,
            facts: facts(table, candidate.transition, stepper),
            requires_approval: self.workflow.requires_approval(candidate.transition),
            lacks: Vec::new(),
            transition: candidate.transition.raw(),
        }
    }
}

fn range(range: &std::ops::Range<u32>) -> std::ops::Range<usize> {
    let at = |place: u32| usize::try_from(place).unwrap_or(usize::MAX);
    at(range.start)..at(range.end)
}

/// What the guard of a transition reads, each field once.
fn facts(table: &Table, transition: TransitionId, stepper: &Stepper<'_>) -> Vec<Fact> {
    let code = table
        .transition(transition)
        .and_then(|row| table.sections().code.get(range(&row.guard)));
    let mut facts: Vec<Fact> = Vec::new();
    for instruction in code.unwrap_or_default() {
        let (Instruction::Load(field) | Instruction::Has(field) | Instruction::Compare(field, ..)) =
            instruction
        else {
            continue;
        };
        let name = table.field_name(*field);
        if facts.iter().any(|fact| fact.field == name) {
            continue;
        }
        let value = stepper
            .machine()
            .map(|machine| machine.host().data().get(*field));
        let datum = value.and_then(|value| value.to_datum().ok());
        facts.push(Fact {
            field: name.to_owned(),
            value: datum.and_then(|datum| serde_json::from_str(&datum.to_string()).ok()),
        });
    }
    facts
}
