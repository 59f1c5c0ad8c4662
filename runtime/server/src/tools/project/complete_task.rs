//! `complete_task`: a task of the feature is done. It answers when that is written.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ctx::Ctx;
use crate::envelope::{Fields, into_fields, set_field};
use crate::options::Set;
use crate::project;
use crate::tool::{Annotations, Tool};

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
    Tool::own(
        ("complete_task", Set::Project, Annotations::IDEMPOTENT),
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

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let id = &input.task_id;
    let (path, completed) = project::complete_task(ctx, id, input.skip_validation)?;
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
    set_field(&mut answer, "changed", json!(changed));
    Ok(into_fields(answer))
}
