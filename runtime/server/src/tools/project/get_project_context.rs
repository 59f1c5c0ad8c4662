//! `get_project_context`: the feature that the branch is for, its documents, tasks and checks.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ctx::Ctx;
use crate::envelope::{Fields, into_fields, set_field};
use crate::options::Set;
use crate::project::checks::known_checks;
use crate::project::{DOCUMENTS, Feature, Files, Tasks, current_project};
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run that it is for; may be left out where only one is meant.
    #[expect(dead_code, reason = "policy reads it before the tool is called")]
    run_id: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::own(
        ("get_project_context", Set::Project, Annotations::READ_ONLY),
        (
            "Get the project's context",
            "The feature of the branch (`060-some-name`): number, name, folder, and the phase that is next; its documents, \
             tasks, and the checks that can be run. Fields are null where there is no feature.",
        ),
        &[
            ("feature_number", ""),
            ("feature_name", ""),
            ("branch", ""),
            ("phase", ""),
            ("spec_dir", ""),
            ("documents", "array"),
            ("tasks", "object"),
            ("checks", "array"),
        ],
        run,
    )
}

fn run(ctx: &Ctx<'_>, _: &Input) -> Fields {
    let project = current_project(ctx)?;
    let files = Files::of(&project)?;
    let feature = Feature::of(&files);
    let there = |(word, _): &&(&str, &str)| {
        let path = feature.document(word);
        path.is_some_and(|path| files.is_file(&path))
    };
    let documents: Vec<&str> = DOCUMENTS
        .iter()
        .filter(there)
        .map(|(word, _)| *word)
        .collect();
    let mut answer: Value = json!(feature);
    set_field(&mut answer, "documents", json!(documents));
    if documents.contains(&"tasks")
        && let Some(path) = feature.document("tasks")
    {
        let Tasks { done, total } = Tasks::of(&files.read(&path)?);
        set_field(&mut answer, "tasks", json!({"done": done, "total": total}));
    }
    set_field(&mut answer, "checks", json!(known_checks(ctx, &project)));
    Ok(into_fields(answer))
}
