//! `statewright_run_agent`: letting another agent do a state's work.

use schemars::JsonSchema;
use serde::Deserialize;

use super::driven;
use crate::ctx::Ctx;
use crate::lookup::check_state;
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::profiles::words;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "there is no executor yet that they would be handed to"
)]
struct Input {
    /// What to fix or build, with the details that the agent needs.
    task: String,
    /// Execute only this state.
    state: Option<String>,
    /// The model to use.
    model: Option<String>,
    /// The endpoint of the model's API.
    ollama_url: Option<String>,
    /// The working directory.
    workdir: Option<String>,
    /// The session whose run is meant, as it was given to load_workflow.
    session_id: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::profile(
        ("statewright_run_agent", Set::Statewright, Annotations::IDEMPOTENT),
        (
            "Run an agent",
            "Run an agent that is held to the workflow's states, on one state or on the whole workflow.",
        ),
        words,
        run,
    )
    .equivalent_to("start_run")
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Outcome {
    if input.task.trim().is_empty() {
        return Err(Problem::argument(
            "task",
            "it is empty; say what is to be done",
        ));
    }
    let loaded = driven(ctx, input.session_id.as_deref())?;
    check_state(&loaded.workflow, input.state.as_deref())?;
    Err(Problem::new(
        "executor_unavailable",
        "executor_unavailable: no executor is configured. Do the state's work with your own tools, then call \
         statewright_transition.",
    ))
}
