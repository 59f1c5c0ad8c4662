//! What has to stand before a state is left.
//!
//! `"requires": ["plan"]` of a state names what has to stand before an event that somebody sends leaves it;
//! `{"submit": ["plan"]}` says so of one event. A name is a *check* if the definition declares it in `checks`, an
//! *artifact* if it does in `artifacts`, a *fact* if it is a field of the context, and else an artifact without a contract.
//! An artifact stands by a final revision; a check, if it was run as it is declared since the state was entered, and has
//! passed when it was run last; a fact, if the field is there and neither null nor false, with the event's data merged in.
//!
//! What the run itself sends — timers, limits, interrupts, outcomes of children and of requests — isn't held up, so that a
//! run can always be stopped.

use std::collections::BTreeSet;

use serde_json::Value;
use statemark_runtime::{EventId, StateId};

use super::{Loaded, RunError, list};
use crate::body::StepRecord;
use crate::step::{Moment, StepInput, Stepper};
use crate::why::{Call, Reason};

/// What a name in `requires` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Required {
    /// A final revision of an artifact.
    Artifact,
    /// A check that has passed in this visit.
    Check,
    /// A field of the context that is set.
    Fact,
}

/// The names in a `requires`: for an event, or for any.
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
    /// What a name in `requires` means.
    pub(crate) fn required(&self, name: &str) -> Required {
        let meta = self.workflow.meta();
        let has = |path: &[&str]| {
            let place = path.iter().try_fold(meta, |value, key| value.get(key));
            place.is_some_and(|it| it.get(name).is_some())
        };
        if has(&["checks"]) {
            Required::Check
        } else if has(&["artifacts"]) {
            Required::Artifact
        } else if has(&["context"]) || has(&["context_schema", "properties"]) {
            Required::Fact
        } else {
            Required::Artifact
        }
    }

    /// What is missing for a step that an event begins, each name once.
    pub(super) fn lacks(
        &self,
        event: &str,
        data: Option<&Value>,
        step: &StepRecord,
    ) -> Vec<String> {
        let table = self.workflow.table();
        let left = step.steps.first().into_iter().flat_map(|it| &it.exited);
        let mut lacking: Vec<String> = Vec::new();
        for (state, id) in left.filter_map(|it| Some((it, table.state_named(it)?))) {
            let requires = self.workflow.state_meta(id).get("requires");
            for name in names(requires, Some(event)) {
                if !self.stands(state, &name, data) && !lacking.contains(&name) {
                    lacking.push(name);
                }
            }
        }
        lacking
    }

    fn stands(&self, state: &str, name: &str, data: Option<&Value>) -> bool {
        match self.required(name) {
            Required::Artifact => self.state.standing(name).is_some(),
            Required::Check => {
                let entered = self
                    .state
                    .visits
                    .get(state)
                    .map_or(0, |visit| visit.entered);
                self.unpassed(name, entered).is_none()
            }
            Required::Fact => {
                let data = data.and_then(Value::as_object);
                let merged = data
                    .map(|it| self.workflow.merged_fields(it))
                    .unwrap_or_default();
                let value = merged.get(name).or_else(|| self.state.context.get(name));
                !matches!(value, None | Some(Value::Null | Value::Bool(false)))
            }
        }
    }

    /// Why a check doesn't count in a visit that began with that record.
    fn unpassed(&self, name: &str, entered: u64) -> Option<String> {
        let declared = self.workflow.check(name).and_then(Result::ok);
        let Some(found) = self.state.checks.get(name) else {
            return Some(format!("check `{name}` hasn't run: run it"));
        };
        let seq = found.seq;
        if seq < entered {
            return Some(format!(
                "check `{name}` hasn't run since record {entered}, in which the state was entered: run it again"
            ));
        }
        if declared.is_none_or(|it| it.hash() != found.declaration) {
            return Some(format!(
                "check `{name}` was run as it was declared elsewhere (record {seq}): run the workflow's own"
            ));
        }
        if found.passed {
            return None;
        }
        let told = &found.outcome;
        let mend = match found.cancelled {
            true => "run it again",
            false => "mend that, and run it again",
        };
        Some(format!("check `{name}` {told} (record {seq}): {mend}"))
    }

    /// The record that entered last of the active states that require something of that name.
    fn required_since(&self, name: &str) -> u64 {
        let table = self.workflow.table();
        let visits = self.state.visits.iter().filter(|(_, it)| it.left.is_none());
        let wanting = visits.filter(|(state, _)| {
            let id = table.state_named(state);
            let requires = id.and_then(|id| self.workflow.state_meta(id).get("requires"));
            names(requires, None).iter().any(|it| it == name)
        });
        wanting.map(|(_, visit)| visit.entered).max().unwrap_or(0)
    }

    /// The `requires` of the active states: what isn't active isn't left.
    pub(super) fn requiring(&self) -> Vec<&Value> {
        let table = self.workflow.table();
        let around = |id: &StateId| table.state(*id).and_then(|row| row.parent);
        let leaves = self.state.leaves.iter();
        let leaves = leaves.filter_map(|leaf| table.state_named(leaf));
        let active = leaves.flat_map(|leaf| std::iter::successors(Some(leaf), around));
        let active: BTreeSet<StateId> = active.collect();
        let all = active.into_iter().map(|id| self.workflow.state_meta(id));
        all.filter_map(|meta| meta.get("requires")).collect()
    }

    /// What an event would lack now, if the active states require that. Takes a step unless none of them says anything of
    /// the event: many events are asked for at once.
    pub(super) fn lacks_for(
        &self,
        event: EventId,
        data: Option<&Value>,
        requiring: &[&Value],
    ) -> Result<Vec<String>, RunError> {
        let table = self.workflow.table();
        let name = Some(table.event_name(event));
        if requiring.iter().all(|it| names(Some(it), name).is_empty()) {
            return Ok(Vec::new());
        }
        let mut stepper = Stepper::restored(&self.workflow, &self.state)?;
        let moment = Moment {
            run: &self.run,
            seq: self.head.seq,
            now: self.state.updated,
        };
        let (_, step) = stepper.step(StepInput::Event(event), data, moment)?;
        Ok(self.lacks(table.event_name(event), data, &step))
    }

    /// Why something doesn't stand, and what would make it stand.
    pub(crate) fn lacking(&self, name: &str) -> Reason {
        let check = || Call::RunCheck {
            check: name.to_owned(),
        };
        match self.required(name) {
            Required::Artifact => self.lacking_artifact(name),
            Required::Check => Reason {
                code: "check_missing",
                text: self
                    .unpassed(name, self.required_since(name))
                    .unwrap_or_else(|| format!("check `{name}` has to pass")),
                next: Some(check()),
            },
            Required::Fact => Reason {
                code: "fact_missing",
                text: match self.state.context.get(name) {
                    None => format!("`{name}` isn't known yet"),
                    Some(value) => format!("`{name}` is {value}"),
                },
                next: None,
            },
        }
    }

    fn lacking_artifact(&self, name: &str) -> Reason {
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
        let reasons: Vec<Reason> = lacking.iter().map(|it| self.lacking(it)).collect();
        let told: Vec<&str> = reasons.iter().map(|it| it.text.as_str()).collect();
        let code = reasons.first().map_or("artifact_missing", |it| it.code);
        let (names, told) = (list(lacking), told.join("; "));
        let leaves = list(&self.state.leaves);
        let reason = format!("`{event}` leads out of {leaves} only with {names}; {told}");
        (code, reason)
    }
}
