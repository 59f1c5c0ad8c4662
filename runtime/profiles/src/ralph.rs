//! The profile of Ralph Workflow: its tools for artifacts, plans and coordination.
//!
//! `ralph.md` has its words in ours, where this departs from the document, and why: users read it, too.
//!
//! The document names the tools, their capabilities and the types of artifacts, but no arguments or answers. The arguments
//! are those of its system's clients: `artifact_type` and `content` (JSON in a text), `section`, `content` and `mode`,
//! `status` and `note`, `summary`, `action` with `work_unit_id` and `payload`. Answers and errors are texts, as in its system.
//!
//! Deliberately not here: its tools for the workspace, processes, git, environment, web and media.

mod artifacts;
mod coordination;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use statemark_runs::policy::Gating;
use statemark_tools::{Outcome, ProfileTool, Set, Tool};

use crate::text_errors;

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

/// Gives errors the shape of texts, with the ids of the runs that could be meant.
fn shape(outcome: Outcome) -> (Value, bool) {
    text_errors(outcome.map_err(|mut problem| {
        if problem.code == "no_run" {
            // None of these tools starts one.
            let message = "no run is active: name one with `run_id`, or have one started, as by `statemark start`";
            message.clone_into(&mut problem.message);
        }
        if let Some(runs) = problem.details.get("runs").and_then(Value::as_array) {
            let ids = runs.iter().filter_map(|it| it.get("run_id")?.as_str());
            let ids: Vec<String> = ids.map(|id| format!("`{id}`")).collect();
            problem.message = format!("{}: {}", problem.message, ids.join(", "));
        }
        problem
    }))
}
