//! Reasons that a report on a step can't be taken.
//!
//! The sentences are those that rp1's agents know (`Valid states: [a, b].`, `Valid transitions from "a": [b].`, names in
//! double quotes), so that an agent that was made to read them can mend its next report.

use std::fmt::Write as _;

use super::{Blocker, Code};
use crate::guard::Fact;

/// A reason that a report on a step can't be taken.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReportBlocker {
    /// The machine has no such step.
    #[error(
        "step \"{step}\" is not a valid state in the \"{workflow}\" state machine. Valid states: [{}].{}{}",
        .valid.join(", "), position.as_ref().map_or_else(String::new, Position::message), name_agents(step, agents)
    )]
    UnknownStep {
        /// The step.
        step: String,
        /// The workflow.
        workflow: String,
        /// Its steps.
        valid: Vec<String>,
        /// The position of the run, if it has started.
        position: Option<Position>,
        /// The agents that have such a step.
        agents: Vec<String>,
    },
    /// No transition leads to the step now.
    #[error(
        "no transition in the \"{workflow}\" state machine leads from {} to step \"{step}\" now.{}{}{}",
        quoted(&position.states), position.message(), false_guards(guards), claims_needed(claims)
    )]
    Unreachable {
        /// The step.
        step: String,
        /// The workflow.
        workflow: String,
        /// The position of the run.
        position: Position,
        /// The events that would lead there, with the facts that their false guards read.
        guards: Vec<(String, Vec<Fact>)>,
        /// The claims with which a report would be taken, of each transition that claims alone would open.
        claims: Vec<Vec<String>>,
    },
    /// Several events lead to the step, and do different things.
    #[error(
        "several events lead from {} to \"{step}\" and do different things: [{}]. Send the one that happened.",
        quoted(states), .events.join(", ")
    )]
    AmbiguousStep {
        /// The step.
        step: String,
        /// The active states.
        states: Vec<String>,
        /// The events.
        events: Vec<String>,
    },
    /// A run can't start with the step.
    #[error(
        "step \"{step}\" is not an initial step of the \"{workflow}\" state machine. Initial steps: [{}].",
        .initial.join(", ")
    )]
    NotInitial {
        /// The step.
        step: String,
        /// The workflow.
        workflow: String,
        /// The steps that it can start with.
        initial: Vec<String>,
    },
    /// The run has another workflow.
    #[error(
        "run \"{run}\" has workflow \"{workflow}\", not \"{reported}\". Report its own workflow, or use another run id."
    )]
    OtherWorkflow {
        /// The run.
        run: String,
        /// Its workflow.
        workflow: String,
        /// The report's.
        reported: String,
    },
    /// The report names no step, and not exactly one is active.
    #[error(
        "the report names no step, and active is {}: name the step.",
        quoted(states)
    )]
    NoStep {
        /// The active states.
        states: Vec<String>,
    },
    /// No spec has the agent, and the workflow takes no untracked ones.
    #[error(
        "no spec has an agent \"{agent}\", and \"{workflow}\" takes no untracked agents. Known: [{}].",
        .known.join(", ")
    )]
    UnknownAgent {
        /// The agent.
        agent: String,
        /// The workflow.
        workflow: String,
        /// The known agents.
        known: Vec<String>,
    },
    /// Several agents have the step.
    #[error(
        "several agents have a step \"{step}\". Name one: [{}].",
        .agents.iter().map(|agent| format!("{agent}:{step}")).collect::<Vec<_>>().join(", ")
    )]
    AmbiguousAgent {
        /// The step.
        step: String,
        /// The agents.
        agents: Vec<String>,
    },
    /// An artifact with a contract can't be registered by its path: a path can't be checked.
    #[error(
        "\"{artifact}\" has a contract in \"{workflow}\": submit its content instead of a path."
    )]
    HasContract {
        /// The artifact.
        artifact: String,
        /// The workflow.
        workflow: String,
    },
}

/// The position of a run, with the states that a report could enter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The active states.
    pub states: Vec<String>,
    /// The states that a report could enter now; `[*]` where the machine could end.
    pub next: Vec<String>,
}

impl From<ReportBlocker> for Blocker {
    fn from(blocker: ReportBlocker) -> Self {
        Self::Report(Box::new(blocker))
    }
}

impl ReportBlocker {
    pub(super) const fn code(&self) -> Code {
        match self {
            Self::UnknownStep { .. } => Code::UnknownStep,
            Self::Unreachable { .. } => Code::UnreachableStep,
            Self::AmbiguousStep { .. } => Code::AmbiguousStep,
            Self::NotInitial { .. } => Code::NotInitial,
            Self::OtherWorkflow { .. } => Code::OtherWorkflow,
            Self::NoStep { .. } => Code::WhichStep,
            Self::UnknownAgent { .. } => Code::UnknownAgent,
            Self::AmbiguousAgent { .. } => Code::AmbiguousAgent,
            Self::HasContract { .. } => Code::HasContract,
        }
    }
}

impl Position {
    fn message(&self) -> String {
        let current = match self.states.as_slice() {
            [_] => "Current state",
            _ => "Current states",
        };
        let states = quoted(&self.states);
        format!(
            " {current}: {states}. Valid transitions from {states}: [{}].",
            self.next.join(", ")
        )
    }
}

/// Names the agents that have a step.
fn name_agents(step: &str, agents: &[String]) -> String {
    let mut text = String::new();
    for agent in agents {
        let _ = write!(
            text,
            " The agent \"{agent}\" has such a step: report it as \"{agent}:{step}\"."
        );
    }
    text
}

/// Describes the guards that are false, with the facts that they read.
fn false_guards(guards: &[(String, Vec<Fact>)]) -> String {
    let mut text = String::new();
    for (event, facts) in guards {
        let facts: Vec<String> = facts.iter().map(quoted_fact).collect();
        let facts = match facts.as_slice() {
            [] => String::new(),
            facts => format!(": {}", facts.join(", ")),
        };
        let _ = write!(text, " The guard of \"{event}\" is false{facts}.");
    }
    text
}

/// Names the claims with which a report would be taken.
fn claims_needed(paths: &[Vec<String>]) -> String {
    let paths: Vec<String> = paths.iter().map(|claims| quoted(claims)).collect();
    match paths.as_slice() {
        [] => String::new(),
        paths => format!(
            " Reported with the claim {}, it is taken.",
            paths.join(" or ")
        ),
    }
}

fn quoted_fact(fact: &Fact) -> String {
    match &fact.value {
        Some(value) => format!("\"{}\" is {value}", fact.field),
        None => format!("\"{}\" is absent", fact.field),
    }
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    names.join(", ")
}
