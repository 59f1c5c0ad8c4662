//! `rstn_read_spec`: a document of the feature at hand.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::shape;
use crate::call::Call;
use crate::problem::Problem;
use crate::project::{Feature, Files};
use crate::tool::{Hints, Outcome, Set, Tool};
use crate::tools::project::project;

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
    Tool::foreign(
        ("rstn_read_spec", Set::Rstn, Hints::READS),
        (
            "Read a spec artifact",
            "Read a spec artifact of the current feature.",
        ),
        shape,
        run,
    )
    .like("read_document")
}

fn run(call: &Call<'_>, input: &Input) -> Outcome {
    let word = match input.artifact {
        Artifact::Spec => "spec",
        Artifact::Plan => "plan",
        Artifact::Tasks => "tasks",
        Artifact::Checklist => "checklist",
        Artifact::Analysis => "analysis",
    };
    let files = Files::of(&project(call)?)?;
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
