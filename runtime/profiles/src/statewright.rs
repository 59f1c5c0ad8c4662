//! The profile of Statewright.
//!
//! Statewright's tools name no run: each is about the session's (`ctx/target.rs`). Errors are sentences. Those of its document
//! begin as they do there, and continue with what would be legal instead.
//!
//! Where this departs from the document, on purpose:
//!
//! - Nothing is metered: `usage.limit` and `usage.remaining` are null, and there is no `usage.warning`.
//! - No tool frees the agent's tools. `statewright_deactivate` cancels the run; only a workflow that says
//!   `"deactivate": "release"` releases them. `statewright_pause` keeps the grants, too.
//! - A transition that somebody has to approve isn't made before that: `transitioned` is false, `request_id` names what a
//!   person has to decide, and the transition is made as soon as they do.
//! - `statewright_force_state` needs `meta.debug`, as documented, and a person's credential.
//! - `statewright_load_workflow` starts over where it names the workflow of the live run, and is refused where it names
//!   another, or where the file has become another workflow under the same name: else an agent could swap its rules for
//!   laxer ones. What a person has paused it neither resumes nor starts over.
//! - With `resume`, a live run is joined as it is. So is the run that the server or the token is bound to: nobody asked for
//!   a new one.
//! - Counts of calls continue when a run is resumed: else pausing would give an agent more of them.
//! - `statewright_run_agent` answers `executor_unavailable`: this server has no executor.
//! - A guard without a definition never holds, and an event that no transition takes moves nothing.
//!
//! Where the document leaves something open or contradicts itself:
//!
//! - `allowed_tools` is documented as a list alone, and an absent one means that nothing is restricted: that is `["*"]`
//!   here, so that an empty list can mean what it says. In a final state it is empty, as Statewright has it.
//! - Data of a transition's own event: its guards see it, as the examples have it, whatever Statewright's engine does.
//! - `transition_count` counts "in this session" for one tool and "since the workflow was loaded" for another: both are the
//!   run's.
//! - Only `statewright_load_workflow` is documented with `session_id`. Every tool that is about the run takes it here, since
//!   no other could tell two sessions' runs apart; it may be left out where only one run is live.
//! - `project_id` and `session_id` scope runs. The project of the connection wins over a given one, because a caller's
//!   project decides which runs it may mean.
//! - No document says what the lists and the status are called: `workflows` and `active`, with `state` in the status.
//! - Over several active states `state` names them all, with commas between.

mod run;
mod workflows;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use statemark_runs::{Loaded, Status};
use statemark_tools::{Ctx, Problem, ProfileTool, Set, Tool, target};

use crate::text_errors;

/// The set of these tools.
pub(super) const SET: Set = Set::Profile("statewright");

pub(super) fn all() -> Vec<Tool> {
    let mut all = run::all();
    all.extend(workflows::all());
    all
}

/// Creates a tool of this profile.
fn tool<I: DeserializeOwned + JsonSchema + 'static>(tool: &ProfileTool<I>) -> Tool {
    Tool::profile(SET, text_errors, tool)
}

/// The arguments of tools that are documented without any.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SessionInput {
    /// The session of the run, as it was given to load_workflow.
    session_id: Option<String>,
}

/// Returns the names of the active states, as one.
fn active(loaded: &Loaded) -> String {
    loaded.state.leaves.join(", ")
}

/// Returns the run to be driven, or the problem that there is none.
fn driven(ctx: &Ctx<'_>, session: Option<&str>) -> Result<Loaded, Problem> {
    let driven = target::driven_run(ctx, session)?;
    driven.map_or_else(|| Err(no_workflow(ctx)?), Ok)
}

/// Returns the live run that was loaded, or the problem that there is none.
fn require_live(ctx: &Ctx<'_>, session: Option<&str>) -> Result<Loaded, Problem> {
    let live = find_live(ctx, session)?;
    live.map_or_else(|| Err(no_workflow(ctx)?), Ok)
}

/// Finds the live run that was loaded.
fn find_live(ctx: &Ctx<'_>, session: Option<&str>) -> Result<Option<Loaded>, Problem> {
    let outer = target::session_run(ctx, session)?;
    Ok(outer.filter(|it| !it.state.status().is_over()))
}

/// Returns the problem that no workflow is active. Names the runs of other sessions.
fn no_workflow(ctx: &Ctx<'_>) -> Result<Problem, Problem> {
    let known = ctx.catalog().ids();
    let mut message = format!(
        "No workflow is active. Load one with statewright_load_workflow. Available: {}",
        known.join(", ")
    );
    let live = match ctx.bound_run() {
        None => target::live_runs(ctx)?,
        Some(_) => Vec::new(),
    };
    if !live.is_empty() {
        let names = target::name_runs(&live);
        message += &format!(". Of other sessions are active: {names}");
    }
    Ok(Problem::new("no_run", message).with(json!({"known": known})))
}

/// Returns Statewright's word for a status.
const fn map_status(status: Status) -> &'static str {
    match status {
        Status::Running | Status::Waiting => "running",
        Status::Paused => "paused",
        // The final state tells success from failure.
        Status::Completed | Status::Failed => "completed",
        Status::Cancelled => "stopped",
    }
}
