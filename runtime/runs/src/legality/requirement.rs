//! Requirements: what has to exist before a state is exited.
//!
//! `"requires": ["plan"]` of a state names what an event that somebody sends needs to exit it; `{"submit": ["plan"]}` names
//! it for one event. A name is a *check* if the definition declares it in `checks`, an *artifact* if it does in `artifacts`,
//! a *fact* if it is a field of the context, and else an artifact without a contract. An artifact needs a final revision; a
//! check has to have passed in the last run since the state was entered, as the workflow declares it; a fact has to be set
//! and neither null nor false, with the event's data merged in.
//!
//! `"requires_new": ["findings"]` names those of its artifacts whose final revision of a former visit doesn't count: in a
//! loop they are handed in each time around.
//!
//! Events that the run itself sends (timers, limits, interrupts, outcomes of children and of requests) need none of it, so
//! that a run can always be stopped.

use std::collections::BTreeSet;

use serde_json::Value;
use statemark_runtime::{EventId, StateId};

use super::Legality;
use crate::blocker::{Missing, MissingArtifact, MissingCheck};
use crate::body::StepRecord;
use crate::runs::{Loaded, RunError};
use crate::state::Context;
use crate::step::StepInput;
use crate::workflow::Workflow;

/// The kinds of names in `requires`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Required {
    /// A final revision of an artifact.
    Artifact,
    /// A check that has passed since the state was entered.
    Check,
    /// A field of the context that is set.
    Fact,
}

impl Required {
    /// Returns the kind of a name in a `requires` of a workflow.
    pub(crate) fn find(workflow: &Workflow, name: &str) -> Self {
        let meta = workflow.meta();
        let has = |path: &[&str]| {
            let declared = path.iter().try_fold(meta, |value, key| value.get(key));
            declared.is_some_and(|it| it.get(name).is_some())
        };
        if has(&["checks"]) {
            Self::Check
        } else if has(&["artifacts"]) {
            Self::Artifact
        } else if has(&["context"]) || has(&["context_schema", "properties"]) {
            Self::Fact
        } else {
            Self::Artifact
        }
    }
}

/// Returns what a step needs besides its event, by name.
///
/// It is what the states that are exited require: artifacts, checks, and those fields that aren't set after it. A
/// simulation has none of them.
#[must_use]
pub fn required_for(
    workflow: &Workflow,
    event: &str,
    context: &Context,
    step: &StepRecord,
) -> Vec<String> {
    let mut required: Vec<String> = Vec::new();
    for state in exited(workflow, step) {
        let names = names(workflow.state_meta(state).get("requires"), Some(event));
        for name in names {
            let is_there =
                Required::find(workflow, &name) == Required::Fact && !is_unset(context.get(&name));
            if !is_there && !required.contains(&name) {
                required.push(name);
            }
        }
    }
    required
}

/// Returns the states that a step's event exits: what follows from it asks for nothing.
fn exited(workflow: &Workflow, step: &StepRecord) -> impl Iterator<Item = StateId> {
    let first = step.steps.first();
    let exited = first.into_iter().flat_map(|it| &it.exited);
    exited.filter_map(|state| workflow.table().state_named(state))
}

/// Reports whether a field that is required counts as missing.
const fn is_unset(value: Option<&Value>) -> bool {
    matches!(value, None | Some(Value::Null | Value::Bool(false)))
}

/// Returns the names in a `requires`: for an event, or for any.
pub(crate) fn names(requires: Option<&Value>, event: Option<&str>) -> Vec<String> {
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
    /// Returns the active states, with those around them.
    pub(crate) fn active_states(&self) -> BTreeSet<StateId> {
        let table = self.workflow.table();
        let leaves = self.state.leaves.iter();
        let leaves = leaves.filter_map(|leaf| table.state_named(leaf));
        leaves.flat_map(|leaf| table.chain(leaf)).collect()
    }
}

impl Legality<'_> {
    /// Reports whether an active state requires a check; any check if none is named.
    ///
    /// Such a check can be run whatever the state grants, or the state could never be exited.
    #[must_use]
    pub fn requires_check(&self, check: Option<&str>) -> bool {
        let names = self
            .requiring()
            .into_iter()
            .flat_map(|it| names(Some(it), None));
        let mut checks =
            names.filter(|name| Required::find(&self.run.workflow, name) == Required::Check);
        checks.any(|name| check.is_none_or(|check| name == check))
    }

    /// Returns what is missing for a step that an event begins, each name once.
    pub(crate) fn missing(
        &self,
        event: &str,
        data: Option<&Value>,
        step: &StepRecord,
    ) -> Vec<Missing> {
        let workflow = &self.run.workflow;
        let mut missing: Vec<Missing> = Vec::new();
        for id in exited(workflow, step) {
            let state = workflow.table().state_name(id);
            for name in names(workflow.state_meta(id).get("requires"), Some(event)) {
                if missing.iter().any(|it| it.name() == name) {
                    continue;
                }
                missing.extend(self.missing_of(state, &name, event, data));
            }
        }
        missing
    }

    /// Returns a requirement of a state, if it is missing.
    fn missing_of(
        &self,
        state: &str,
        name: &str,
        event: &str,
        data: Option<&Value>,
    ) -> Option<Missing> {
        let run = &self.run.state;
        let name = name.to_owned();
        match Required::find(&self.run.workflow, &name) {
            Required::Artifact => {
                let Some(found) = run.final_revision(&name) else {
                    return Some(Missing::Artifact {
                        status: self.missing_artifact(&name),
                        name,
                    });
                };
                let entered = self.entered_anew(state, &name)?;
                let status = MissingArtifact::Outdated {
                    revision: found.artifact.revision,
                    entered,
                };
                let is_outdated = found.changed < entered;
                is_outdated.then_some(Missing::Artifact { name, status })
            }
            Required::Check => {
                let entered = run.visits.get(state).map_or(0, |visit| visit.entered);
                let status = self.missing_check(state, &name, entered)?;
                Some(Missing::Check { name, status })
            }
            Required::Fact => {
                let table = self.run.workflow.table();
                let is_merged = table.merges(table.event_named(event), &name);
                let sent = data.filter(|_| is_merged).and_then(|it| it.get(&name));
                let value = sent.or_else(|| run.context.get(&name));
                let is_missing = is_unset(value);
                let value = value.cloned();
                is_missing.then_some(Missing::Fact { name, value })
            }
        }
    }

    /// Reports whether an active state wants an artifact anew, and its final revision is of a former visit.
    pub(crate) fn is_outdated(&self, name: &str) -> bool {
        let table = self.run.workflow.table();
        let run = &self.run.state;
        let leaves = run.leaves.iter().filter_map(|it| table.state_named(it));
        let mut active = leaves.flat_map(|leaf| table.chain(leaf));
        let changed = run.final_revision(name).map(|found| found.changed);
        active.any(|id| {
            let entered = self.entered_anew(table.state_name(id), name);
            changed.is_some_and(|changed| entered.is_some_and(|entered| changed < entered))
        })
    }

    /// Returns the record that entered a state, if that wants an artifact from this visit.
    fn entered_anew(&self, state: &str, name: &str) -> Option<u64> {
        let id = self.run.workflow.table().state_named(state)?;
        let wanted = self.run.workflow.state_meta(id).get("requires_new")?;
        let is_wanted = wanted
            .as_array()?
            .iter()
            .any(|it| it.as_str() == Some(name));
        let visit = self.run.state.visits.get(state)?;
        is_wanted.then_some(visit.entered)
    }

    /// Returns the reason that an artifact has no final revision.
    fn missing_artifact(&self, name: &str) -> MissingArtifact {
        let state = &self.run.state;
        let Some(current) = state.current(name) else {
            return match state.artifacts.contains_key(name) {
                true => MissingArtifact::Discarded,
                false => MissingArtifact::Absent,
            };
        };
        let revision = current.artifact.revision;
        if current.artifact.holds() {
            return MissingArtifact::Draft { revision };
        }
        let verdict = current.artifact.verdict.as_ref();
        let finding = verdict.and_then(|it| it.findings.first()).cloned();
        MissingArtifact::Broken { revision, finding }
    }

    /// Returns the reason that a check's last outcome doesn't count; none if it does.
    ///
    /// `entered` is the record with which the state was entered: an outcome from before is outdated.
    fn missing_check(&self, state: &str, name: &str, entered: u64) -> Option<MissingCheck> {
        let found = match self.run.region_work(state) {
            Some(work) => work.checks.get(name),
            None => self.run.state.checks.get(name),
        };
        let Some(found) = found else {
            return Some(MissingCheck::NotRun);
        };
        let seq = found.seq;
        if seq < entered {
            return Some(MissingCheck::Outdated { entered });
        }
        let declared = self.run.workflow.check(name).and_then(Result::ok);
        if declared.is_none_or(|it| it.hash() != found.declaration) {
            return Some(MissingCheck::Redeclared { seq });
        }
        let run = &self.run.state;
        if let Some(root) = &run.root {
            // Runs of former versions have no root, and their checks none either.
            let own_root = self.run.worktree_of(state).map_or(root, |it| &it.root);
            if found.root.as_ref() != Some(own_root) {
                let root = own_root.clone();
                return Some(MissingCheck::Elsewhere { seq, root });
            }
            let program = found.program.as_ref();
            let expected = run.programs.get(name);
            if let Some(expected) = expected
                && !program.is_some_and(|it| it.moved(own_root, root).is(expected, root))
            {
                return Some(MissingCheck::OtherProgram {
                    seq,
                    found: program.map(|it| it.path.clone()),
                    expected: expected.path.clone(),
                });
            }
        }
        if !found.passed && found.cancelled {
            return Some(MissingCheck::Cancelled { seq });
        }
        let outcome = found.outcome.clone();
        (!found.passed).then_some(MissingCheck::NotPassed { seq, outcome })
    }

    /// Returns the `requires` of the active states: no other state is exited.
    pub(super) fn requiring(&self) -> Vec<&Value> {
        let metas = self.run.active_states().into_iter();
        let metas = metas.map(|id| self.run.workflow.state_meta(id));
        metas.filter_map(|meta| meta.get("requires")).collect()
    }

    /// Returns the missing requirements of an event.
    ///
    /// Takes a trial step only if a `requires` names something for the event: many events are asked for at once.
    pub(super) fn missing_now(
        &self,
        event: EventId,
        data: Option<&Value>,
        requiring: &[&Value],
    ) -> Result<Vec<Missing>, RunError> {
        let name = self.run.workflow.table().event_name(event);
        let is_named = |requires: &&Value| !names(Some(requires), Some(name)).is_empty();
        if !requiring.iter().any(is_named) {
            return Ok(Vec::new());
        }
        let mut stepper = self.stepper()?;
        let (_, step) = stepper.step(StepInput::Event(event), data, self.moment())?;
        Ok(self.missing(name, data, &step))
    }
}
