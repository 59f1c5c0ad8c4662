//! `search_docs`: the documentation, the rules' pages and the workflows, searched.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ctx::Ctx;
use crate::envelope::bounds;
use crate::envelope::{Fields, into_fields, set_field};
use crate::options::Set;
use crate::tool::{Annotations, Tool};

/// Sections that a call gives unless it says how many.
const DEFAULT_LIMIT: usize = 5;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// A question, words, a code such as `SM304`, or a key such as `max_iterations`.
    query: String,
    /// Most sections; 5 if it isn't given, 25 at most.
    limit: Option<usize>,
    /// Leave out so many sections.
    #[serde(default)]
    cursor: usize,
}

pub(super) fn tool() -> Tool {
    Tool::own(
        ("search_docs", Set::Author, Annotations::READ_ONLY),
        (
            "Search the documentation",
            "How specs are written, what findings mean, what commands and tools do, and what the served workflows say. The \
             best sections first; the resource `uri` has the whole of one.",
        ),
        &[
            ("hits", "array"),
            ("total", "integer"),
            ("cursor", "integer"),
            ("meant", "object"),
        ],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let limit = input.limit.unwrap_or(DEFAULT_LIMIT);
    let found = ctx.docs().query(&input.query, input.cursor, limit)?;
    let hits: Vec<Value> = found.hits.iter().map(|hit| json!(hit)).collect();
    let mut answer = json!({"total": found.total});
    if !found.meant.is_empty() {
        set_field(&mut answer, "meant", json!(found.meant));
    }
    let hits = bounds::take_fitting(hits, answer.to_string().len());
    let behind = input.cursor.saturating_add(hits.len());
    set_field(&mut answer, "hits", json!(hits));
    if behind < found.total && !hits.is_empty() {
        set_field(&mut answer, "cursor", json!(behind));
    }
    Ok(into_fields(answer))
}
