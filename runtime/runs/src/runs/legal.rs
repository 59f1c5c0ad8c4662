//! What a run could do next, and what is in the way.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use statemark_runtime::{Candidate, EventId, TransitionId};

use super::{Loaded, RunError};
use crate::guard::{self, Fact, Question, Unmet};
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
    /// What keeps it from being taken although the machine would take it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_by: Option<Held>,
    /// Whether its guard holds.
    pub holds: bool,
    /// What its guard reads, and what that is now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    /// What keeps its guard from holding; none if it holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<Unmet>,
    /// Whether somebody has to approve it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub requires_approval: bool,
    /// What has to stand first: artifacts, checks and facts that a state requires.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
    /// The number of the transition in the table.
    pub transition: u16,
}

/// What has a say besides the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Held {
    /// For programs: the code of the refusal that sending it gets.
    pub code: &'static str,
    /// For people.
    pub reason: String,
}

impl Held {
    fn new(code: &'static str, reason: impl Into<String>) -> Self {
        Self {
            code,
            reason: reason.into(),
        }
    }
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
        let is_sent = |it: &&Candidate| !super::own::is_own(table.event_name(it.event));
        let candidates = candidates.iter().filter(is_sent);
        let requiring = self.requiring();
        let still = self.held_still();
        let waits = self.held_by_request();
        let mut held: BTreeMap<EventId, Option<Held>> = BTreeMap::new();
        let mut told: Vec<Legal> = Vec::new();
        for candidate in candidates {
            let mut legal = self.told(candidate, &mut stepper);
            if legal.enabled {
                // An event at which the machine would fail leaves nothing.
                let lacks = self.lacks_for(candidate.event, data, &requiring);
                legal.lacks = lacks.unwrap_or_default();
                legal.enabled = legal.lacks.is_empty();
            }
            if legal.enabled {
                let event = candidate.event;
                let waits = waits
                    .as_ref()
                    .filter(|(free, _)| !free.contains(&legal.event));
                let all = still.as_ref().or(waits.map(|(_, held)| held));
                let by = match (all, held.get(&event)) {
                    (Some(all), _) => Some(all.clone()),
                    (None, Some(known)) => known.clone(),
                    (None, None) => self.held_back_by(event, data, &legal.from)?,
                };
                // What a run ends with is about each state that waits for one.
                if by.as_ref().is_none_or(|it| it.code != "child_runs") {
                    held.insert(event, by.clone());
                }
                legal.enabled = by.is_none();
                legal.held_by = by;
            }
            told.push(legal);
        }
        Ok(told)
    }

    /// What the guard of a transition asks, question by question.
    #[must_use]
    pub fn questions(&self, transition: u16) -> Vec<Question> {
        guard::questions(self.workflow.table(), TransitionId::new(transition))
    }

    /// What keeps every event from being taken.
    fn held_still(&self) -> Option<Held> {
        let (code, _) = self.standstill()?;
        let reason = match code {
            "paused" => "the run is paused",
            "restoring" => "its files are being put back",
            _ => "the run is over",
        };
        Some(Held::new(code, reason))
    }

    /// What keeps every event from being taken but those that are free meanwhile.
    fn held_by_request(&self) -> Option<(BTreeSet<String>, Held)> {
        let request = &self.state.held_by()?.opened.request;
        let reason = format!("request `{request}` has to be settled first");
        let held = Held::new("waiting_for_request", reason);
        Some((self.meanwhile().into_iter().collect(), held))
    }

    /// What keeps one event from being taken that the machine would take.
    fn held_back_by(
        &self,
        event: EventId,
        data: Option<&Value>,
        from: &str,
    ) -> Result<Option<Held>, RunError> {
        let name = self.workflow.table().event_name(event);
        if let Some(invoking) = self.outcome_of(name, data, Some(from))? {
            return Ok(Some(match &invoking.child {
                Some((child, _)) => {
                    let reason = format!("the child run `{child}` ends with it");
                    Held::new("child_runs", reason)
                }
                None => {
                    let workflow = &invoking.workflow;
                    let reason =
                        format!("the run of `{workflow}`, which hasn't begun, ends with it");
                    Held::new("child_unknown", reason)
                }
            }));
        }
        let spent = self.spends_with(event, data);
        Ok(spent.map(|it| Held::new("max_visits", self.too_often(&it))))
    }

    fn told(&self, candidate: &Candidate, stepper: &mut Stepper<'_>) -> Legal {
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
            held_by: None,
            holds: candidate.holds,
            facts: guard::facts(table, candidate.transition, stepper),
            unmet: if candidate.holds {
                Vec::new()
            } else {
                guard::unmet(table, candidate.transition, stepper)
            },
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
