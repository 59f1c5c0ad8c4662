//! `rstn_read_spec`: a document of the feature at hand.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::shape;
use crate::ctx::Ctx;
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::project::{Feature, Files, current_project};
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Artifact to read.
    artifact: Artifact,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Artifact {
    Spec,
    Plan,
    Tasks,
    Checklist,
    Analysis,
}

pub(super) fn tool() -> Tool {
    Tool::profile(
        ("rstn_read_spec", Set::Rstn, Annotations::READ_ONLY),
        (
            "Read a spec artifact",
            "Read a spec artifact of the current feature.",
        ),
        shape,
        run,
    )
    .equivalent_to("read_document")
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Outcome {
    let word = match input.artifact {
        Artifact::Spec => "spec",
        Artifact::Plan => "plan",
        Artifact::Tasks => "tasks",
        Artifact::Checklist => "checklist",
        Artifact::Analysis => "analysis",
    };
    let files = Files::of(&current_project(ctx)?)?;
    let feature = Feature::of(&files);
    let path = feature.document(word).filter(|path| files.is_file(path));
    let Some(path) = path else {
        let context = feature.feature_number.zip(feature.feature_name);
        let context = context.map(|(number, name)| format!("{number}-{name}"));
        let context = context.unwrap_or_else(|| "None".to_owned());
        let message = format!("Artifact '{word}' not found. Feature context: {context}");
        return Err(Problem::new("not_found", message));
    };
    Ok(json!(files.read(&path)?))
}
