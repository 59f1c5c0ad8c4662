//! rstn's tools.
//!
//! Answers are texts, JSON in them where the document has fields; errors are sentences, those of arguments behind `Error: `.
//! What rstn calls the app is the server here: the workflows that it serves, and the runs of the caller's project.
//!
//! Where this departs from the document, on purpose:
//!
//! - `rstn_complete_task` answers when the file is written, so that it says how many tasks are done rather than that it is
//!   going to look. Unless validation is skipped, a task with open tasks below it isn't completed.
//! - `rstn_run_hook` runs a check that the workflow or `statemark.toml` declares (`statemark import` reads
//!   `.rstn/hooks.yaml`): a list of arguments, and no shell that would read those that are given. `hook_name` in the answer
//!   is the name that was asked for.
//! - `rstn_report_status` is about the run that the session means; without one there is nothing to report on. What somebody
//!   answers to `needs_input` stands in `rstn_get_app_state`, since no reply waits for it.
//!
//! Where the document leaves something open:
//!
//! - All of `rstn_get_context` is null where the branch is no feature's, the branch included.
//! - In `rstn_get_app_state`, commands are the workflows that can be started, the selected one is that of the run that the
//!   session means, and its output is what was last reported of each step.

mod complete_task;
mod get_app_state;
mod get_context;
mod read_spec;
mod report_status;
mod run_hook;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use statemark_runs::Loaded;

use crate::ctx::{Ctx, target};
use crate::problem::{Outcome, Problem};
use crate::tool::Tool;

pub(super) fn all() -> Vec<Tool> {
    vec![
        get_app_state::tool(),
        report_status::tool(),
        read_spec::tool(),
        get_context::tool(),
        complete_task::tool(),
        run_hook::tool(),
    ]
}

/// The arguments of tools that take none.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// Errors as rstn tells them.
fn shape(outcome: Outcome) -> (Value, bool) {
    let problem = match outcome {
        Ok(answer) => return (answer, false),
        Err(problem) => problem,
    };
    if problem.code != "invalid_arguments" {
        return (Value::String(problem.message), true);
    }
    let (_, missing) = problem
        .message
        .split_once("missing argument `")
        .unwrap_or_default();
    let text = match missing.split_once('`') {
        Some((name, _)) => format!("Error: Missing '{name}' field"),
        None => format!("Error: {}", problem.message),
    };
    (Value::String(text), true)
}

/// The run that is to be driven, or that there is none.
fn driven(ctx: &Ctx<'_>) -> Result<Loaded, Problem> {
    target::driven_run(ctx, None)?.ok_or_else(|| {
        let known = ctx.catalog().ids().join(", ");
        let message = format!(
            "no run is active: start one of {known} with `statemark start`, or with `start_run` of the set `runs`"
        );
        Problem::new("no_run", message)
    })
}
