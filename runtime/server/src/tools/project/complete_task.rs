//! `complete_task`: a task of the feature is done. It answers when that is written.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::{Role, RunError};

use crate::call::Call;
use crate::problem::Problem;
use crate::project::{Completed, Feature, Files, complete};
use crate::tool::{Data, Hints, Set, Tool};
use crate::tools::{fields, put};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// As `tasks.md` calls it, such as `T001`.
    task_id: String,
    /// Don't ask whether the tasks below it are done.
    #[serde(default)]
    skip_validation: bool,
    /// The run that it is for; may be left out where only one is meant.
    #[expect(dead_code, reason = "policy reads it before the tool is called")]
    run_id: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::new(
        ("complete_task", Set::Project, Hints::WRITES),
        (
            "Complete a task",
            "Marks a task of the feature's `tasks.md` as done (`- [ ] T001` becomes `- [x] T001`). The file is written when \
             this answers.",
        ),
        &[
            ("task_id", "string"),
            ("done", "integer"),
            ("total", "integer"),
            ("already", "boolean"),
            ("changed", "array"),
        ],
        run,
    )
}

fn run(call: &Call<'_>, input: &Input) -> Data {
    let id = &input.task_id;
    let (path, completed) = completed(call, id, input.skip_validation)?;
    let mut answer = json!({
        "task_id": id,
        "already": completed.already,
        "done": completed.tasks.done,
        "total": completed.tasks.total,
    });
    let changed: Vec<Value> = if completed.already {
        Vec::new()
    } else {
        vec![json!(path)]
    };
    put(&mut answer, "changed", json!(changed));
    Ok(fields(answer))
}

/// Marks a task of the feature as done; gives the file that has it.
pub(crate) fn completed(
    call: &Call<'_>,
    id: &str,
    skip_validation: bool,
) -> Result<(String, Completed), Problem> {
    let actor = call.actor();
    if actor.role < Role::Agent {
        return Err(RunError::ReadOnly { actor }.into());
    }
    let files = Files::of(&super::project(call)?)?;
    let feature = Feature::of(&files);
    if feature.feature_number.is_none() {
        let message = "the branch is no feature's; a feature's is called like `060-some-name`";
        return Err(Problem::new("no_feature", message).mended_by("get_project_context", json!({})));
    }
    let path = feature.document("tasks");
    let Some(path) = path.filter(|path| files.is_file(path)) else {
        let message = "the feature has no `tasks.md` yet";
        return Err(Problem::new("no_tasks", message).mended_by("get_project_context", json!({})));
    };
    let completed = complete(&files, &path, id, skip_validation)?;
    if !completed.already {
        call.has_changed(&path);
    }
    Ok((path, completed))
}
