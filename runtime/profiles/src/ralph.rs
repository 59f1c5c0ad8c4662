//! The profile of Ralph Workflow: its tools for artifacts, plans and coordination.
//!
//! `ralph.md` has its words in ours, where this departs from the document, and why: users read it, too.
//!
//! The document names the tools, their capabilities and the types of artifacts, but no arguments or answers. The arguments
//! are those of its system's clients: `artifact_type` and `content` (JSON in a text), `section`, `content` and `mode`,
//! `status` and `note`, `summary`, `action` with `work_unit_id` and `payload`. Answers and errors are texts, as in its system.
//!
//! Its tools for files are the pack `fs`. Deliberately not here: those for processes, git, environment, web and media.

mod artifacts;
mod coordination;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use statemark_runs::policy::Gating;
use statemark_runs::{RunId, StoreError};
use statemark_tools::{Ctx, Outcome, Problem, ProfileTool, Set, Tool};

use crate::{SESSION, start, text_errors};

/// The set of these tools.
pub(super) const SET: Set = Set::Profile("ralph");

pub(super) fn all() -> Vec<Tool> {
    let mut all = artifacts::all();
    all.extend(coordination::all());
    all
}

/// Creates a tool of this profile.
///
/// The capability of artifacts covers all but reports.
fn tool<I: DeserializeOwned + JsonSchema + 'static>(tool: &ProfileTool<I>) -> Tool {
    let tool = Tool::profile(SET, shape, tool);
    match tool.equivalent {
        Some(_) => tool,
        None => tool.gated_by(Gating::Needs("run.report_progress")),
    }
}

/// Returns the run that a call means. Begins one where none is active.
fn run_or_begin(ctx: &Ctx<'_>, named: Option<&str>) -> Result<RunId, Problem> {
    let run = match ctx.resolve_run(named) {
        Err(problem) if problem.code == "no_run" => return start(ctx, &workflow_to_begin(ctx)?),
        found => found?,
    };
    let is_to_begin = named.is_none() && ctx.bound_run() == Some(&run);
    match ctx.runs().store().head(&run) {
        Err(StoreError::NotFound { .. }) if is_to_begin => start(ctx, &workflow_to_begin(ctx)?),
        _ => Ok(run),
    }
}

/// Returns the workflow of a run that begins by itself: the project's only one, or that of sessions.
fn workflow_to_begin(ctx: &Ctx<'_>) -> Result<String, Problem> {
    let known = ctx.catalog().ids();
    let own: Vec<&String> = known.iter().filter(|id| *id != SESSION).collect();
    match own.as_slice() {
        [only] => Ok((*only).clone()),
        [] if known.iter().any(|id| id == SESSION) => Ok(SESSION.to_owned()),
        several => {
            let names: Vec<String> = several.iter().map(|id| format!("`{id}`")).collect();
            let how = if ctx.can_call("start_run") {
                "`start_run`"
            } else {
                "`statemark start`"
            };
            let message = format!(
                "no run is active, and it isn't clear which of {} is meant: start one with {how}",
                names.join(", ")
            );
            Err(Problem::new("no_run", message))
        }
    }
}

/// Gives errors the shape of texts, with the ids of the runs that could be meant.
fn shape(outcome: Outcome) -> (Value, bool) {
    text_errors(outcome.map_err(|mut problem| {
        if let Some(runs) = problem.details.get("runs").and_then(Value::as_array) {
            let ids = runs.iter().filter_map(|it| it.get("run_id")?.as_str());
            let ids: Vec<String> = ids.map(|id| format!("`{id}`")).collect();
            problem.message = format!("{}: {}", problem.message, ids.join(", "));
        }
        problem
    }))
}
