//! `rstn_complete_task`: a task of the feature is done.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::shape;
use crate::call::Call;
use crate::tool::{Hints, Outcome, Set, Tool};
use crate::tools::project::complete_task::completed;

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
    Tool::foreign(
        ("rstn_complete_task", Set::Rstn, Hints::WRITES),
        (
            "Complete a task",
            "Mark a task as complete in the feature's tasks.md.",
        ),
        shape,
        run,
    )
    .like("complete_task")
}

fn run(call: &Call<'_>, input: &Input) -> Outcome {
    let id = &input.task_id;
    let completed = completed(call, id, input.skip_validation);
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
