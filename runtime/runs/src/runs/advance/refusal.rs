//! Refusals of reports.

use super::{Advance, Registered, Report, is_end, is_step};
use crate::blocker::{Blocker, DataFault, Position, ReportBlocker, Surface};
use crate::body::{Refused, Subject};
use crate::hash::Hash;
use crate::legality::Legal;
use crate::runs::{Loaded, RunError};
use crate::workflow::Workflow;

/// Returns what a report is on.
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

fn refused(loaded: &Loaded, advance: &Advance, blocker: impl Into<Blocker>) -> Refused {
    // Of a run that hasn't begun, no event is enabled.
    let enabled = if loaded.head.hash == Hash::ZERO {
        Vec::new()
    } else {
        loaded.legality().enabled_events()
    };
    Refused::new(subject(advance), Surface::Report, &blocker.into(), enabled)
}

/// Refuses a report on a step that no machine has.
///
/// `agents` have one of that name, and the report may have meant theirs.
pub(super) fn unknown_step(loaded: &Loaded, advance: &Advance, agents: &[String]) -> Refused {
    let step = match (&advance.report, &advance.step) {
        (Report::Subflow(subflow), _) => &subflow.parent,
        (_, step) => step.as_deref().unwrap_or_default(),
    };
    // Before its first record a run is nowhere.
    let has_begun = loaded.head.hash != Hash::ZERO;
    let blocker = ReportBlocker::UnknownStep {
        step: step.to_owned(),
        workflow: loaded.workflow.id().to_owned(),
        valid: steps(&loaded.workflow),
        position: has_begun.then(|| position(loaded)),
        agents: agents.to_vec(),
    };
    refused(loaded, advance, blocker)
}

/// Refuses a report on a step that an agent's machine doesn't have.
pub(super) fn unknown_agent_step(
    loaded: &Loaded,
    advance: &Advance,
    agent: &Workflow,
    step: &str,
) -> Refused {
    let blocker = ReportBlocker::UnknownStep {
        step: step.to_owned(),
        workflow: agent.id().to_owned(),
        valid: steps(agent),
        position: None,
        agents: Vec::new(),
    };
    refused(loaded, advance, blocker)
}

/// Refuses a report on a step that no transition leads to now.
pub(super) fn unreachable(
    loaded: &Loaded,
    advance: &Advance,
    step: &str,
) -> Result<Refused, RunError> {
    let legality = loaded.legality().claiming(advance.claims.as_slice());
    let transitions = legality.transitions()?.into_iter();
    let aims = |it: &Legal| it.to.iter().any(|to| to == step);
    let guarded = transitions.filter(|it| aims(it) && !it.holds);
    let (guarded, claimed): (Vec<Legal>, Vec<Legal>) = guarded.partition(|it| it.claims.is_empty());
    let blocker = ReportBlocker::Unreachable {
        step: step.to_owned(),
        workflow: loaded.workflow.id().to_owned(),
        position: position(loaded),
        guards: guarded.into_iter().map(|it| (it.event, it.facts)).collect(),
        claims: claimed.into_iter().map(|it| it.claims).collect(),
    };
    Ok(refused(loaded, advance, blocker))
}

/// Refuses a report on a step that several events lead to that do different things.
pub(super) fn ambiguous(
    loaded: &Loaded,
    advance: &Advance,
    step: &str,
    events: Vec<String>,
) -> Refused {
    let blocker = ReportBlocker::AmbiguousStep {
        step: step.to_owned(),
        states: loaded.state.leaves.clone(),
        events: events.clone(),
    };
    Refused {
        legal: events,
        ..refused(loaded, advance, blocker)
    }
}

/// Refuses a report that a run can't begin with.
pub(super) fn not_initial(loaded: &Loaded, advance: &Advance) -> Refused {
    let workflow = &loaded.workflow;
    let leaves = loaded.state.leaves.iter();
    let visible = leaves.filter(|name| is_step(workflow, name));
    let mut initial: Vec<String> = visible.cloned().collect();
    if initial.is_empty() {
        initial = position(loaded).next;
    }
    let blocker = ReportBlocker::NotInitial {
        step: advance.step.clone().unwrap_or_default(),
        workflow: workflow.id().to_owned(),
        initial,
    };
    refused(loaded, advance, blocker)
}

/// Refuses a report that names another workflow than the run's.
pub(super) fn other_workflow(loaded: &Loaded, advance: &Advance) -> Option<Refused> {
    let reported = &advance.start.as_ref()?.workflow;
    if *reported == loaded.state.workflow {
        return None;
    }
    let blocker = ReportBlocker::OtherWorkflow {
        run: loaded.run.to_string(),
        workflow: loaded.state.workflow.clone(),
        reported: reported.clone(),
    };
    Some(refused(loaded, advance, blocker))
}

/// Refuses a report on a run that is paused or over.
pub(super) fn stopped(loaded: &Loaded, advance: &Advance) -> Option<Refused> {
    let blocker = loaded.legality().stopped()?;
    Some(refused(loaded, advance, blocker))
}

/// Refuses a report that names no step where not exactly one is active.
pub(super) fn no_step(loaded: &Loaded, advance: &Advance) -> Refused {
    let states = loaded.state.leaves.clone();
    refused(loaded, advance, ReportBlocker::NoStep { states })
}

/// Refuses a report of an agent that nobody knows, where the workflow takes none such.
pub(super) fn unknown_agent(
    loaded: &Loaded,
    advance: &Advance,
    agent: &str,
    known: &[String],
) -> Refused {
    let blocker = ReportBlocker::UnknownAgent {
        agent: agent.to_owned(),
        workflow: loaded.workflow.id().to_owned(),
        known: known.to_vec(),
    };
    refused(loaded, advance, blocker)
}

/// Refuses a report on a step that several agents have.
pub(super) fn ambiguous_agent(
    loaded: &Loaded,
    advance: &Advance,
    step: &str,
    agents: &[String],
) -> Refused {
    let blocker = ReportBlocker::AmbiguousAgent {
        step: step.to_owned(),
        agents: agents.to_vec(),
    };
    refused(loaded, advance, blocker)
}

/// Refuses a path in place of an artifact whose contract the workflow has.
pub(super) fn has_contract(loaded: &Loaded, advance: &Advance, registered: &Registered) -> Refused {
    let blocker = ReportBlocker::HasContract {
        artifact: registered.path.clone(),
        workflow: loaded.workflow.id().to_owned(),
    };
    refused(loaded, advance, blocker)
}

/// Refuses what the event of a report would be refused for.
pub(super) fn blocked(loaded: &Loaded, advance: &Advance, blocker: Blocker) -> Refused {
    refused(loaded, advance, blocker)
}

/// Refuses data that can't come with an event.
pub(super) fn bad_data(loaded: &Loaded, advance: &Advance, error: &str) -> Refused {
    let fault = DataFault::Unstorable(error.to_owned());
    refused(loaded, advance, Blocker::BadData { event: None, fault })
}

/// Returns where the run is, and the states that a report could enter now.
///
/// `[*]` stands where the machine could end.
fn position(loaded: &Loaded) -> Position {
    let table = loaded.workflow.table();
    let mut next: Vec<String> = Vec::new();
    let transitions = loaded.legality().transitions().unwrap_or_default();
    for legal in transitions.into_iter().filter(|it| it.enabled) {
        let targets = legal.to.iter().filter_map(|to| table.state_named(to));
        let targets: Vec<_> = targets.collect();
        let names = if is_end(&loaded.workflow, &targets) {
            vec!["[*]".to_owned()]
        } else {
            legal.to
        };
        for name in names {
            if !next.contains(&name) {
                next.push(name);
            }
        }
    }
    Position {
        states: loaded.state.leaves.clone(),
        next,
    }
}

fn steps(workflow: &Workflow) -> Vec<String> {
    let steps = workflow.visible_states();
    steps.map(|(_, name)| name.to_owned()).collect()
}
