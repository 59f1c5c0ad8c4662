//! Owners of steps: the run itself, a known agent, or one that nobody can check.

use super::{Advance, Report, is_step, refusal};
use crate::body::Refused;
use crate::runs::{Loaded, Runs};
use crate::state::Child;

/// The owner of a step.
pub(super) enum Owner {
    /// The run's own, or the report names none.
    Own,
    /// A known agent's.
    Agent(Agent),
    /// An agent's that nobody knows.
    Unchecked,
    /// Nobody's.
    Refused(Refused),
}

/// An agent, and its step.
pub(super) struct Agent {
    /// The agent's workflow.
    pub(super) id: String,
    /// The step of its machine.
    pub(super) step: String,
}

/// Finds the owner of the step that a report is on.
pub(super) fn find_owner(runs: &Runs, loaded: &Loaded, advance: &Advance) -> Owner {
    let Some(step) = advance.step.as_deref() else {
        return Owner::Own;
    };
    if is_step(&loaded.workflow, step) {
        return Owner::Own;
    }
    match step.split_once(':') {
        Some((agent, rest)) if !agent.is_empty() && !rest.is_empty() => {
            named_agent_owner(runs, loaded, advance, agent, rest)
        }
        Some(_) => Owner::Refused(refusal::unknown_step(loaded, advance, &[])),
        None => unnamed_agent_owner(runs, loaded, advance, step),
    }
}

fn named_agent_owner(
    runs: &Runs,
    loaded: &Loaded,
    advance: &Advance,
    agent: &str,
    step: &str,
) -> Owner {
    let is_known = runs.workflows().find(agent).is_some();
    let works = |(_, child): (&String, &Child)| child.workflow == agent;
    if is_known || children(loaded).any(works) {
        return agent_owner(runs, loaded, advance, agent, step);
    }
    let denied = loaded.workflow.meta().get("untracked_agents");
    if denied.and_then(|it| it.as_str()) == Some("deny") {
        let known = runs.workflows().ids();
        let why = refusal::unknown_agent(loaded, advance, agent, &known);
        return Owner::Refused(why);
    }
    Owner::Unchecked
}

/// Finds the agent of a step that names none.
///
/// Exactly one of the agents at work under the active step must have it, or for a unit, one of those that had the unit, or of
/// all known agents.
fn unnamed_agent_owner(runs: &Runs, loaded: &Loaded, advance: &Advance, step: &str) -> Owner {
    let has_step = |id: &str| {
        let workflow = runs.workflows().find(id);
        workflow.is_some_and(|workflow| is_step(&workflow, step))
    };
    let unit = advance.unit.as_deref();
    let of_children = |same_unit: bool| -> Vec<String> {
        let at_work = children(loaded).map(|(_, child)| child);
        let at_work = at_work.filter(|child| !same_unit || child.unit.as_deref() == unit);
        distinct(at_work.map(|child| child.workflow.clone()), has_step)
    };
    let of_former = || -> Vec<String> {
        let former = loaded.state.children.values();
        let former = former.filter(|child| child.unit.as_deref() == unit);
        distinct(former.map(|child| child.workflow.clone()), has_step)
    };
    let others = runs.workflows().ids().into_iter();
    let others = others.filter(|id| id != loaded.workflow.id());
    let known = distinct(others, has_step);
    let mut agents = of_children(true);
    if agents.is_empty() {
        agents = of_children(false);
    }
    if agents.is_empty() && unit.is_some() {
        agents = of_former();
    }
    if agents.is_empty() && unit.is_some() {
        agents.clone_from(&known);
    }
    match agents.as_slice() {
        [] => Owner::Refused(refusal::unknown_step(loaded, advance, &known)),
        [agent] => agent_owner(runs, loaded, advance, agent, step),
        several => Owner::Refused(refusal::ambiguous_agent(loaded, advance, step, several)),
    }
}

/// Returns the owner of an agent's step.
///
/// A report on its status is for the agent's run; any other is for the run's own.
fn agent_owner(runs: &Runs, loaded: &Loaded, advance: &Advance, agent: &str, step: &str) -> Owner {
    if matches!(
        advance.report,
        Report::Status { .. } | Report::Waiting { .. }
    ) {
        return Owner::Agent(Agent {
            id: agent.to_owned(),
            step: step.to_owned(),
        });
    }
    match runs.workflows().find(agent) {
        Some(workflow) if !step.contains(':') && !is_step(&workflow, step) => Owner::Refused(
            refusal::unknown_agent_step(loaded, advance, &workflow, step),
        ),
        _ => Owner::Own,
    }
}

/// Returns the children of the present visits of active states.
pub(super) fn children(loaded: &Loaded) -> impl Iterator<Item = (&String, &Child)> {
    let state = &loaded.state;
    let children = state.children.iter();
    children.filter(|(_, child)| state.is_current_child(child))
}

fn distinct(ids: impl Iterator<Item = String>, keep: impl Fn(&str) -> bool) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for id in ids.filter(|id| keep(id)) {
        if !distinct.contains(&id) {
            distinct.push(id);
        }
    }
    distinct
}
