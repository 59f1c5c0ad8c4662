//! `search_docs`: the documentation, the rules' pages and the workflows, searched.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::Call;
use crate::docs::Found;
use crate::problem::Problem;
use crate::tool::{Data, Hints, Set, Tool};
use crate::tools::{fields, put};

/// How many sections are given if nobody says, and at most.
const USUAL: usize = 5;
const MOST: usize = 25;

/// Longest question. Unit: bytes. Why: a question, not a document.
const LONGEST: usize = 1_000;

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
    Tool::new(
        ("search_docs", Set::Author, Hints::READS),
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

fn run(call: &Call<'_>, input: &Input) -> Data {
    let limit = input.limit.unwrap_or(USUAL);
    let found = searched(call, &input.query, input.cursor, limit)?;
    let hits: Vec<Value> = found.hits.iter().map(|hit| json!(hit)).collect();
    let mut answer = json!({"total": found.total});
    if !found.meant.is_empty() {
        put(&mut answer, "meant", json!(found.meant));
    }
    let hits = Call::fitting(hits, &answer);
    let behind = input.cursor.saturating_add(hits.len());
    put(&mut answer, "hits", json!(hits));
    if behind < found.total && !hits.is_empty() {
        put(&mut answer, "cursor", json!(behind));
    }
    Ok(fields(answer))
}

/// What is found, behind the first `skip`.
pub(crate) fn searched(
    call: &Call<'_>,
    query: &str,
    skip: usize,
    limit: usize,
) -> Result<Found, Problem> {
    if query.len() > LONGEST {
        let length = query.len();
        let why = format!("it has {length} bytes; most are {LONGEST}");
        return Err(Problem::argument("query", why));
    }
    if query.trim().is_empty() {
        return Err(Problem::argument("query", "it is empty; ask for something"));
    }
    Ok(call.desk.docs().search(query, skip, limit.clamp(1, MOST)))
}
