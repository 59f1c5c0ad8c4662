//! `statewright_search_docs`: the documentation and the workflows, searched.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ctx::Ctx;
use crate::envelope::bounds;
use crate::options::Set;
use crate::problem::Outcome;
use crate::profiles::words;
use crate::tool::{Annotations, Tool};

/// How many snippets are given.
const SNIPPETS: usize = 5;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Search query (e.g. guard operators, allowed_tools, approval gate).
    query: String,
}

pub(super) fn tool() -> Tool {
    Tool::profile(
        ("statewright_search_docs", Set::Statewright, Annotations::READ_ONLY),
        (
            "Search the documentation",
            "Search documentation for workflow schema fields, tools, patterns, and troubleshooting.",
        ),
        words,
        run,
    )
    .equivalent_to("search_docs")
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Outcome {
    let found = ctx.docs().query(&input.query, 0, SNIPPETS)?;
    let results = found
        .hits
        .iter()
        .map(|hit| json!({"title": hit.title, "uri": hit.uri, "snippet": hit.snippet}));
    let results: Vec<Value> = bounds::take_fitting(results.collect(), 0);
    Ok(json!({"query": input.query, "results": results}))
}
