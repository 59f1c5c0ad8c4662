//! The profile of Statewright.
//!
//! Statewright's tools name no run: each is about the session's (`ctx/target.rs`). Errors are sentences. Those of its document
//! begin as they do there, and continue with what would be legal instead.
//!
//! `statewright.md` says where this departs from the document, and why: users read it, too.

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
        "No workflow is active. {}Available: {}",
        to_call(
            ctx,
            "statewright_load_workflow",
            "Load one with statewright_load_workflow. "
        ),
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

/// Returns what a sentence says about a tool, if the caller has the tool.
fn to_call<'t>(ctx: &Ctx<'_>, tool: &str, text: &'t str) -> &'t str {
    if ctx.can_call(tool) { text } else { "" }
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
