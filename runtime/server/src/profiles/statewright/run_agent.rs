//! `statewright_run_agent`: letting another agent do a state's work.

use schemars::JsonSchema;
use serde::Deserialize;

use super::driven;
use crate::call::Call;
use crate::problem::Problem;
use crate::profiles::words;
use crate::tool::{Hints, Outcome, Set, Tool};
use crate::tools::agent::run_agent::check_state;

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
    Tool::foreign(
        ("statewright_run_agent", Set::Statewright, Hints::WRITES),
        (
            "Run an agent",
            "Run an agent that is held to the workflow's states, on one state or on the whole workflow.",
        ),
        words,
        run,
    )
    .like("start_run")
}

fn run(call: &Call<'_>, input: &Input) -> Outcome {
    if input.task.trim().is_empty() {
        return Err(Problem::argument(
            "task",
            "it is empty; say what is to be done",
        ));
    }
    let loaded = driven(call, input.session_id.as_deref())?;
    check_state(&loaded.workflow, input.state.as_deref())?;
    Err(Problem::new(
        "executor_unavailable",
        "executor_unavailable: no executor is configured. Do the state's work with your own tools, then call \
         statewright_transition.",
    ))
}
