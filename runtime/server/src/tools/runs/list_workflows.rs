//! `list_workflows`: what can be started.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::Call;
use crate::tool::{Data, Hints, Set, Tool};
use crate::tools::{fields, put};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Only those whose id, title or description has this.
    query: Option<String>,
    /// Go on behind this id.
    cursor: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::new(
        ("list_workflows", Set::Runs, Hints::READS),
        (
            "List workflows",
            "The workflows that runs can be started of, with what each is for.",
        ),
        &[("workflows", "array"), ("cursor", "string")],
        run,
    )
}

fn run(call: &Call<'_>, input: &Input) -> Data {
    let query = input.query.clone().unwrap_or_default().to_lowercase();
    let mut specs = call.desk.catalog().specs();
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
    let workflows = Call::fitting(all, &json!({}));
    let mut answer = json!({"workflows": workflows});
    if workflows.len() < count {
        let last = workflows.last().and_then(|it| it.get("id")).cloned();
        put(&mut answer, "cursor", last.unwrap_or_default());
    }
    Ok(fields(answer))
}
