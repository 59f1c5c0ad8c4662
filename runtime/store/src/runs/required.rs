//! What has to be handed in before a state is left.
//!
//! `"requires": ["plan"]` of a state names artifacts without a final revision of which no event that somebody sends leaves
//! it; `{"submit": ["plan"]}` says so of one event. What the run itself sends — timers, limits, interrupts, outcomes of
//! children and of requests — isn't held up, so that a run can always be stopped.
//!
//! Deliberately not here: checks and facts. A fact is a guard; checks aren't recorded yet.

use serde_json::Value;
use statemark_runtime::EventId;

use super::{Loaded, RunError, list};
use crate::body::StepRecord;
use crate::step::{Moment, Move, Stepper};
use crate::why::{Call, Reason};

/// The artifacts that a `requires` names: for an event, or for any.
pub(super) fn names(requires: Option<&Value>, event: Option<&str>) -> Vec<String> {
    let lists: Vec<&Value> = match requires {
        Some(Value::Object(events)) => events
            .iter()
            .filter(|(name, _)| event.is_none_or(|event| event == *name))
            .map(|(_, list)| list)
            .collect(),
        other => other.into_iter().collect(),
    };
    let names = lists.into_iter().filter_map(Value::as_array).flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

impl Loaded {
    /// The artifacts without which a step that an event begins can't be taken, each once.
    pub(super) fn lacks(&self, event: &str, step: &StepRecord) -> Vec<String> {
        let table = self.workflow.table();
        let left = step.steps.first().into_iter().flat_map(|it| &it.exited);
        let mut lacking: Vec<String> = Vec::new();
        for state in left.filter_map(|it| table.state_named(it)) {
            let requires = self.workflow.state_meta(state).get("requires");
            for name in names(requires, Some(event)) {
                if self.state.standing(&name).is_none() && !lacking.contains(&name) {
                    lacking.push(name);
                }
            }
        }
        lacking
    }

    /// The artifacts that an event would need now.
    pub(super) fn lacks_for(
        &self,
        event: EventId,
        data: Option<&Value>,
    ) -> Result<Vec<String>, RunError> {
        let table = self.workflow.table();
        let mut states = table.states();
        if !states.any(|(id, _)| self.workflow.state_meta(id).get("requires").is_some()) {
            return Ok(Vec::new());
        }
        let mut stepper = Stepper::restored(&self.workflow, &self.state)?;
        let moment = Moment {
            run: &self.run,
            seq: self.head.seq,
            now: self.state.updated,
        };
        let (_, step) = stepper.step(Move::Event(event), data, moment)?;
        Ok(self.lacks(table.event_name(event), &step))
    }

    /// Why an artifact doesn't count, and what would make it count.
    pub(crate) fn lacking(&self, name: &str) -> Reason {
        let current = self.state.current(name).map(|it| &it.artifact);
        let submit = Call::SubmitArtifact {
            artifact: name.to_owned(),
        };
        let (text, next) = match current {
            None if self.state.artifacts.contains_key(name) => {
                (format!("`{name}` was discarded: hand in another"), submit)
            }
            None => (format!("`{name}` is missing: hand it in"), submit),
            Some(it) if it.holds() => (
                format!(
                    "revision {} of `{name}` is a draft: make it final",
                    it.revision
                ),
                Call::FinalizeArtifact {
                    artifact: name.to_owned(),
                    revision: it.revision,
                },
            ),
            Some(it) => {
                let finding = it.verdict.as_ref().and_then(|it| it.findings.first());
                let finding = finding.map_or_else(String::new, |it| {
                    format!(" (line {}: {})", it.line, it.what)
                });
                let revision = it.revision;
                let text = format!(
                    "revision {revision} of `{name}` is a draft, and not as its contract says{finding}: mend it"
                );
                (text, submit)
            }
        };
        Reason {
            code: "artifact_missing",
            text,
            next: Some(next),
        }
    }

    /// Why an event doesn't leave what it would leave.
    pub(super) fn held_back(&self, event: &str, lacking: &[String]) -> (&'static str, String) {
        let told: Vec<String> = lacking.iter().map(|it| self.lacking(it).text).collect();
        let (names, told) = (list(lacking), told.join("; "));
        let leaves = list(&self.state.leaves);
        let reason = format!("`{event}` leads out of {leaves} only with {names}; {told}");
        ("artifact_missing", reason)
    }
}
