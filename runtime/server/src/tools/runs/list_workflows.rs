//! `list_workflows`: what can be started.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ctx::Ctx;
use crate::envelope::bounds;
use crate::envelope::{Fields, into_fields, set_field};
use crate::options::Set;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Only those whose id, title or description has this.
    query: Option<String>,
    /// Go on behind this id.
    cursor: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::own(
        ("list_workflows", Set::Runs, Annotations::READ_ONLY),
        (
            "List workflows",
            "The workflows that runs can be started of, with what each is for.",
        ),
        &[("workflows", "array"), ("cursor", "string")],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let query = input.query.clone().unwrap_or_default().to_lowercase();
    let mut specs = ctx.catalog().specs();
    specs.sort_by(|a, b| a.id.cmp(&b.id));
    let cursor = input.cursor.clone().unwrap_or_default();
    let wanted = specs.into_iter().filter(|spec| {
        let texts = [
            Some(&spec.id),
            spec.title.as_ref(),
            spec.description.as_ref(),
        ];
        let mut texts = texts.into_iter().flatten();
        spec.id > cursor && texts.any(|text| text.to_lowercase().contains(&query))
    });
    let all: Vec<Value> = wanted.map(|spec| json!(spec)).collect();
    let count = all.len();
    let workflows = bounds::take_fitting(all, json!({}).to_string().len());
    let mut answer = json!({"workflows": workflows});
    if workflows.len() < count {
        let last = workflows.last().and_then(|it| it.get("id")).cloned();
        set_field(&mut answer, "cursor", last.unwrap_or_default());
    }
    Ok(into_fields(answer))
}
