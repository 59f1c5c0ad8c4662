//! `statewright_search_docs`: the documentation and the workflows, searched.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::bounds;
use crate::call::Call;
use crate::profiles::words;
use crate::tool::{Hints, Outcome, Set, Tool};
use crate::tools::author::search_docs::searched;

/// How many snippets are given.
const SNIPPETS: usize = 5;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Search query (e.g. guard operators, allowed_tools, approval gate).
    query: String,
}

pub(super) fn tool() -> Tool {
    Tool::foreign(
        ("statewright_search_docs", Set::Statewright, Hints::READS),
        (
            "Search the documentation",
            "Search documentation for workflow schema fields, tools, patterns, and troubleshooting.",
        ),
        words,
        run,
    )
    .like("search_docs")
}

fn run(call: &Call<'_>, input: &Input) -> Outcome {
    let found = searched(call, &input.query, 0, SNIPPETS)?;
    let results = found
        .hits
        .iter()
        .map(|hit| json!({"title": hit.title, "uri": hit.uri, "snippet": hit.snippet}));
    let results: Vec<Value> = bounds::fitting(results.collect(), 0);
    Ok(json!({"query": input.query, "results": results}))
}
