//! Why a report is refused, in words that say what is legal instead.
//!
//! The sentences are those that rp1's agents know: `Valid states: [a, b].`, `Valid transitions from "a": [b].`, with names in
//! quotes, so that one that was made to read them can mend its next report by ours.

use std::fmt::Write as _;

use super::{Advance, Registered, Report};
use crate::body::{Refused, Subject};
use crate::hash::Hash;
use crate::runs::advance::enter::is_end;
use crate::runs::{Legal, Loaded, RunError};
use crate::state::Status;
use crate::workflow::Workflow;

/// What the report asked for.
pub(super) fn subject(advance: &Advance) -> Subject {
    let name = advance.step.clone().unwrap_or_default();
    let operation = |name: &str| Subject::Operation {
        name: name.to_owned(),
        on: None,
    };
    match &advance.report {
        Report::Status { status, .. } => Subject::Step {
            name,
            status: status.name().to_owned(),
        },
        Report::Waiting { .. } => Subject::Step {
            name,
            status: "waiting".to_owned(),
        },
        Report::Artifact(_) => operation("register an artifact"),
        Report::Annotation(_) => operation("annotate"),
        Report::Note(_) => operation("note"),
        Report::Subflow(_) => operation("register a subflow"),
    }
}

fn refused(loaded: &Loaded, advance: &Advance, code: &str, reason: String) -> Refused {
    let mut legal: Vec<String> = Vec::new();
    let status = loaded.state.status();
    // Of a run that hasn't begun, no event is legal.
    let next = if loaded.head.hash == Hash::ZERO || status.is_over() || status == Status::Paused {
        Vec::new()
    } else {
        loaded.legal().unwrap_or_default()
    };
    for it in next.into_iter().filter(|it| it.enabled) {
        if !legal.contains(&it.event) {
            legal.push(it.event);
        }
    }
    Refused {
        subject: subject(advance),
        code: code.to_owned(),
        reason,
        legal,
    }
}

/// No machine has the step. `agents` have one of that name, and the report may have meant theirs.
pub(super) fn unknown_step(loaded: &Loaded, advance: &Advance, agents: &[String]) -> Refused {
    let step = match (&advance.report, &advance.step) {
        (Report::Subflow(subflow), _) => &subflow.parent,
        (_, step) => step.as_deref().unwrap_or_default(),
    };
    let mut reason = not_a_state(step, &loaded.workflow);
    // Before its first record there is no current state to speak of.
    if loaded.head.hash != Hash::ZERO {
        reason += &wherefrom(loaded);
    }
    for agent in agents {
        let _ = write!(
            reason,
            " The agent \"{agent}\" has such a step: report it as \"{agent}:{step}\"."
        );
    }
    refused(loaded, advance, "unknown_step", reason)
}

/// An agent's machine doesn't have the step.
pub(super) fn unknown_agent_step(
    loaded: &Loaded,
    advance: &Advance,
    agent: &Workflow,
    step: &str,
) -> Refused {
    refused(loaded, advance, "unknown_step", not_a_state(step, agent))
}

fn not_a_state(step: &str, workflow: &Workflow) -> String {
    let states: Vec<&str> = workflow.visible_states().map(|(_, name)| name).collect();
    format!(
        "step \"{step}\" is not a valid state in the \"{}\" state machine. Valid states: [{}].",
        workflow.id(),
        states.join(", ")
    )
}

/// The run is where no transition leads to the step.
pub(super) fn unreachable(
    loaded: &Loaded,
    advance: &Advance,
    step: &str,
) -> Result<Refused, RunError> {
    let mut reason = format!(
        "step \"{step}\" can't be entered from {}: no transition in the \"{}\" state machine leads there now.",
        quoted(&loaded.state.leaves),
        loaded.workflow.id()
    );
    reason += &wherefrom(loaded);
    let legal = loaded.legal()?;
    let aims = |it: &&Legal| it.to.iter().any(|to| to == step);
    for it in legal.iter().filter(aims).filter(|it| !it.holds) {
        let _ = write!(reason, " The guard of \"{}\" doesn't hold", it.event);
        for (fact, between) in it
            .facts
            .iter()
            .zip([": "].into_iter().chain(std::iter::repeat(", ")))
        {
            let _ = match &fact.value {
                Some(value) => write!(reason, "{between}\"{}\" is {value}", fact.field),
                None => write!(reason, "{between}\"{}\" is absent", fact.field),
            };
        }
        reason.push('.');
    }
    Ok(refused(loaded, advance, "unreachable_step", reason))
}

/// Several events lead to the step and do different things.
pub(super) fn ambiguous(
    loaded: &Loaded,
    advance: &Advance,
    step: &str,
    events: Vec<String>,
) -> Refused {
    let reason = format!(
        "several events lead from {} to \"{step}\" and do different things: [{}]. Send the one that has happened.",
        quoted(&loaded.state.leaves),
        events.join(", ")
    );
    Refused {
        legal: events,
        ..refused(loaded, advance, "ambiguous_step", reason)
    }
}

/// A run can't begin with the report.
pub(super) fn not_initial(loaded: &Loaded, advance: &Advance) -> Result<Refused, RunError> {
    let step = advance.step.as_deref().unwrap_or_default();
    let workflow = &loaded.workflow;
    let is_visible = |name: &&String| super::is_step(workflow, name);
    let mut initial: Vec<String> = loaded
        .state
        .leaves
        .iter()
        .filter(is_visible)
        .cloned()
        .collect();
    if initial.is_empty() {
        initial = next(loaded)?;
    }
    let reason = format!(
        "the first report on a run is on an initial step, and \"{step}\" isn't one in the \"{}\" state machine. Initial steps: [{}].",
        workflow.id(),
        initial.join(", ")
    );
    Ok(refused(loaded, advance, "not_initial", reason))
}

/// The run is of another workflow than the report says.
pub(super) fn other_workflow(loaded: &Loaded, advance: &Advance) -> Option<Refused> {
    let wanted = &advance.start.as_ref()?.workflow;
    if *wanted == loaded.state.workflow {
        return None;
    }
    let reason = format!(
        "run \"{}\" has workflow \"{}\", but the report is for \"{wanted}\". Give the run's own workflow, or another run id.",
        loaded.run, loaded.state.workflow
    );
    Some(refused(loaded, advance, "other_workflow", reason))
}

/// The run takes no reports on steps.
pub(super) fn standstill(loaded: &Loaded, advance: &Advance, status: Status) -> Refused {
    let leaves = quoted(&loaded.state.leaves);
    let (code, reason) = match status {
        Status::Cancelled => ("cancelled", "the run was cancelled.".to_owned()),
        Status::Paused => (
            "paused",
            format!("the run is paused in {leaves}: continue it first."),
        ),
        _ if loaded.state.ended.is_some() => ("ended", format!("the run has ended in {leaves}.")),
        _ => ("closed", format!("the run was closed in {leaves}.")),
    };
    refused(loaded, advance, code, reason)
}

/// A unit was reported in a step that nobody has entered.
pub(super) fn unit_first(loaded: &Loaded, advance: &Advance, step: &str) -> Refused {
    let unit = advance.unit.as_deref().unwrap_or_default();
    let mut reason = format!(
        "unit \"{unit}\" is reported in step \"{step}\", which isn't entered yet, and a unit's report doesn't enter it. Report the step without a unit first."
    );
    reason += &wherefrom(loaded);
    refused(loaded, advance, "unit_first", reason)
}

/// The report names no step, and not exactly one is active.
pub(super) fn which_step(loaded: &Loaded, advance: &Advance) -> Refused {
    let leaves = quoted(&loaded.state.leaves);
    let reason = format!("the report names no step, and active is {leaves}: name the step.");
    refused(loaded, advance, "which_step", reason)
}

/// The workflow takes no agents that it doesn't know.
pub(super) fn unknown_agent(
    loaded: &Loaded,
    advance: &Advance,
    agent: &str,
    known: &[String],
) -> Refused {
    let reason = format!(
        "no spec has an agent \"{agent}\", and \"{}\" takes no untracked agents. Known: [{}].",
        loaded.workflow.id(),
        known.join(", ")
    );
    refused(loaded, advance, "unknown_agent", reason)
}

/// Several agents have the step.
pub(super) fn ambiguous_agent(
    loaded: &Loaded,
    advance: &Advance,
    step: &str,
    agents: &[String],
) -> Refused {
    let names: Vec<String> = agents
        .iter()
        .map(|agent| format!("{agent}:{step}"))
        .collect();
    let reason = format!(
        "several agents have a step \"{step}\". Say which is meant: [{}].",
        names.join(", ")
    );
    refused(loaded, advance, "ambiguous_agent", reason)
}

/// The workflow says what such an artifact must be like, and a path alone can't be checked.
pub(super) fn has_contract(loaded: &Loaded, advance: &Advance, registered: &Registered) -> Refused {
    let name = &registered.path;
    let reason = format!(
        "\"{name}\" is an artifact with a contract in \"{}\": submit its content instead of registering a path.",
        loaded.workflow.id()
    );
    refused(loaded, advance, "has_contract", reason)
}

/// The report's data can't come with an event.
pub(super) fn bad_data(loaded: &Loaded, advance: &Advance, error: &str) -> Refused {
    let reason = format!("the data can't be kept: {error}.");
    refused(loaded, advance, "bad_data", reason)
}

/// Where the run is, and where it could go from there.
fn wherefrom(loaded: &Loaded) -> String {
    let leaves = &loaded.state.leaves;
    let current = match leaves.as_slice() {
        [_] => "Current state",
        _ => "Current states",
    };
    let names = quoted(leaves);
    let next = next(loaded).unwrap_or_default();
    format!(
        " {current}: {names}. Valid transitions from {names}: [{}].",
        next.join(", ")
    )
}

/// The states that a report could enter now, and `[*]` where the machine could end.
fn next(loaded: &Loaded) -> Result<Vec<String>, RunError> {
    let table = loaded.workflow.table();
    let mut names: Vec<String> = Vec::new();
    for it in loaded.legal()?.into_iter().filter(|it| it.enabled) {
        let targets: Vec<_> = it
            .to
            .iter()
            .filter_map(|to| table.state_named(to))
            .collect();
        let told = if is_end(&loaded.workflow, &targets) {
            vec!["[*]".to_owned()]
        } else {
            it.to
        };
        for name in told {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    Ok(names)
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    names.join(", ")
}
