//! `read_document`: a document of the feature, or a text of the project.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use statemark_runs::Hash;

use crate::ctx::Ctx;
use crate::envelope::bounds;
use crate::envelope::{Fields, into_fields, set_field};
use crate::options::Set;
use crate::problem::Problem;
use crate::project::{DOCUMENTS, Feature, Files, current_project};
use crate::tool::{Annotations, Tool};

/// Most bytes of a text in one answer. Why: quotes and line ends take two bytes each in JSON, and the reply has its bound.
const MOST: usize = bounds::MAX_REPLY / 2;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// `spec`, `plan`, `tasks`, `checklist` or `analysis` of the feature; or a path below the project's root.
    name: String,
    /// Go on behind so many bytes.
    #[serde(default)]
    cursor: usize,
    /// The run that it is for; may be left out where only one is meant.
    #[expect(dead_code, reason = "policy reads it before the tool is called")]
    run_id: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::own(
        ("read_document", Set::Project, Annotations::READ_ONLY),
        (
            "Read a document",
            "A document of the feature at hand, or any text of the project by its path; long ones in parts.",
        ),
        &[
            ("path", "string"),
            ("text", "string"),
            ("size", "integer"),
            ("hash", "string"),
            ("cursor", "integer"),
        ],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let files = Files::of(&current_project(ctx)?)?;
    let path = path(&files, &input.name)?;
    let text = files
        .read(&path)
        .map_err(|problem| absent(problem, input))?;
    let Some(rest) = text.get(input.cursor..) else {
        let message = format!(
            "`cursor`: `{path}` has {} bytes, and no character begins at {}",
            text.len(),
            input.cursor
        );
        return Err(Problem::new("invalid_arguments", message).with(json!({"path": "cursor"})));
    };
    let (mut shown, mut is_cut) = bounds::truncate(rest, MOST);
    // Control characters take six bytes each.
    while json!(shown).to_string().len() > bounds::MAX_REPLY - bounds::ENVELOPE {
        (shown, is_cut) = (bounds::truncate(shown, shown.len() / 2).0, true);
    }
    let mut answer = json!({
        "path": path,
        "text": shown,
        "size": text.len(),
        "hash": Hash::digest(text.as_bytes()),
    });
    if is_cut {
        let behind = input.cursor.saturating_add(shown.len());
        set_field(&mut answer, "cursor", json!(behind));
    }
    Ok(into_fields(answer))
}

/// That a document of the feature isn't there yet is no mistake of the name.
fn absent(problem: Problem, input: &Input) -> Problem {
    let is_document = DOCUMENTS.iter().any(|(word, _)| *word == input.name);
    if problem.code != "not_found" || !is_document {
        return problem;
    }
    let message = format!(
        "the feature has no `{}` yet: {}",
        input.name, problem.message
    );
    Problem::new("not_found", message).mended_by("get_project_context", json!({}))
}

/// The path that a name means.
fn path(files: &Files, name: &str) -> Result<String, Problem> {
    if !DOCUMENTS.iter().any(|(word, _)| *word == name) {
        return Ok(name.to_owned());
    }
    let feature = Feature::of(files);
    feature.document(name).ok_or_else(|| {
        let message = match &feature.feature_number {
            Some(number) => format!("there is no folder `specs/{number}-…` that `{name}` could be in"),
            None => format!("`{name}` is a feature's, and the branch is none's; a feature's is called like `060-some-name`"),
        };
        Problem::new("no_feature", message).mended_by("get_project_context", json!({}))
    })
}
