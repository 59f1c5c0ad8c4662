//! Statewright's tools.
//!
//! Every tool is about the run that the session means (`session.rs`), since Statewright's name none. Errors are
//! sentences; those that its document has begin as they stand there, and go on with what would be legal instead.
//!
//! Where this departs from the document, on purpose:
//!
//! - Nothing is metered: `usage.limit` and `usage.remaining` are null, and there is no `usage.warning`.
//! - No tool frees the agent's tools. `statewright_deactivate` cancels the run; only a workflow that says
//!   `"deactivate": "release"` lets go of them. `statewright_pause` keeps the grants, too.
//! - A transition that somebody has to approve isn't made before that: `transitioned` is false, `request_id` names what a
//!   person has to decide, and the transition is made as soon as they do.
//! - `statewright_force_state` needs `meta.debug`, as documented, and a person's credential.
//! - `statewright_load_workflow` starts over where it names the workflow of the live run, and is refused where it names
//!   another, or where the file has become another workflow under the same name: else an agent could swap its rules for
//!   laxer ones. What a person has paused it neither resumes nor starts over.
//! - With `resume`, a run that goes on is joined as it is, and so is the run that the server or the token is bound to:
//!   starting afresh would throw away what nobody asked to be thrown away.
//! - Calls of tools are counted on where a run is resumed: else pausing would give an agent more of them.
//! - `statewright_run_agent` answers `executor_unavailable`: this server has no executor.
//! - A guard that nobody defines never holds, and an event that no transition takes moves nothing, also where a tool of
//!   another state was asked for.
//!
//! Where the document leaves open or contradicts itself:
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

mod control;
mod create_workflow;
mod list;
mod load;
mod run_agent;
mod search_docs;
mod state;
mod transition;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use statemark_runs::{Loaded, Status};

use crate::ctx::{Ctx, target};
use crate::problem::Problem;
use crate::tool::Tool;

pub(super) fn all() -> Vec<Tool> {
    vec![
        state::tool(),
        transition::tool(),
        load::tool(),
        list::workflows(),
        list::status(),
        control::deactivate(),
        control::pause(),
        control::force(),
        create_workflow::tool(),
        run_agent::tool(),
        search_docs::tool(),
    ]
}

/// The arguments of tools that are documented without any.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfSession {
    /// The session whose run is meant, as it was given to load_workflow.
    session_id: Option<String>,
}

/// The names of the active states, as one.
fn active(loaded: &Loaded) -> String {
    loaded.state.leaves.join(", ")
}

/// The run that is to be driven, or that there is none.
fn driven(ctx: &Ctx<'_>, session: Option<&str>) -> Result<Loaded, Problem> {
    let driven = target::driven_run(ctx, session)?;
    driven.map_or_else(|| Err(no_workflow(ctx)?), Ok)
}

/// The run that was loaded and still goes on, or that there is none.
fn loaded(ctx: &Ctx<'_>, session: Option<&str>) -> Result<Loaded, Problem> {
    let live = live(ctx, session)?;
    live.map_or_else(|| Err(no_workflow(ctx)?), Ok)
}

/// The run that was loaded and still goes on, if there is one.
fn live(ctx: &Ctx<'_>, session: Option<&str>) -> Result<Option<Loaded>, Problem> {
    let outer = target::session_run(ctx, session)?;
    Ok(outer.filter(|it| !it.state.status().is_over()))
}

/// That there is none; runs of other sessions are named.
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

/// What Statewright calls what a run has come to.
const fn status(status: Status) -> &'static str {
    match status {
        Status::Running | Status::Waiting => "running",
        Status::Paused => "paused",
        // How well it has ended, its state says.
        Status::Completed | Status::Failed => "completed",
        Status::Cancelled => "stopped",
    }
}
