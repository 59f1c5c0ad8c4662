//! `rstn_complete_task`: a task of the feature is done.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::shape;
use crate::ctx::Ctx;
use crate::options::Set;
use crate::problem::Outcome;
use crate::project;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Task ID (e.g. T001).
    task_id: String,
    /// Skip validation checks.
    #[serde(default)]
    skip_validation: bool,
}

pub(super) fn tool() -> Tool {
    Tool::profile(
        ("rstn_complete_task", Set::Rstn, Annotations::IDEMPOTENT),
        (
            "Complete a task",
            "Mark a task as complete in the feature's tasks.md.",
        ),
        shape,
        run,
    )
    .equivalent_to("complete_task")
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Outcome {
    let id = &input.task_id;
    let completed = project::complete_task(ctx, id, input.skip_validation);
    let (_, completed) = completed.map_err(|mut problem| {
        problem.message = match problem.code.as_str() {
            "unknown_task" => format!("Task {id} not found"),
            "no_tasks" => "No task list loaded".to_owned(),
            "no_feature" => "No feature context".to_owned(),
            _ => problem.message,
        };
        problem
    })?;
    let tasks = completed.tasks;
    Ok(json!(format!(
        "Task {id} marked for completion. {}/{} tasks complete",
        tasks.done, tasks.total
    )))
}
