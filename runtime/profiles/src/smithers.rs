//! The profile of Smithers.
//!
//! `smithers.md` has its words in ours, where this departs from the document, and why: users read it, too.

mod affirmative;
mod history;
mod nodes;
mod output;
mod requests;
mod runs;
mod summary;
mod travel;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use statemark_runs::body::RequestKind;
use statemark_runs::state::Request;
use statemark_tools::{Annotations, Outcome, Problem, ProfileTool, Set, Tool};

/// The annotations of tools that undo something else with each call.
const ENDING: Annotations = Annotations {
    idempotent: false,
    ..Annotations::DESTRUCTIVE
};

/// The annotations of tools that add something and reach people or programs.
const REACHING: Annotations = Annotations {
    open_world: true,
    ..Annotations::ADDITIVE
};

/// The variables that name the task of `ask_human`: its run, its node, and the node's iteration.
pub(super) const VARIABLES: [&str; 3] = [RUN, NODE, ITERATION];
const RUN: &str = "SMITHERS_RUN_ID";
const NODE: &str = "SMITHERS_NODE_ID";
const ITERATION: &str = "SMITHERS_ITERATION";

/// The page on this profile, as resources are addressed.
const DOCS: &str = "statemark://docs/profile/smithers";

const READ_ONLY: Annotations = Annotations::READ_ONLY;

/// Longest wait of a call. Unit: milliseconds. Why: clients give up after 30 seconds or more.
const MAX_WAIT: u64 = 25_000;

// No doc: it would become the schema's description.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RunInput {
    /// The run.
    run_id: String,
}

/// Creates a tool of this profile.
fn tool<I: DeserializeOwned + JsonSchema + 'static>(tool: &ProfileTool<I>) -> Tool {
    Tool::profile(SET, shape, tool)
}

/// The set of these tools.
pub(super) const SET: Set = Set::Profile("smithers");

pub(super) fn all() -> Vec<Tool> {
    let mut all = runs::all();
    all.extend(requests::all());
    all.extend(output::all());
    all.extend(history::all());
    all.extend(travel::all());
    all
}

/// Gives an outcome the document's envelope.
fn shape(outcome: Outcome) -> (Value, bool) {
    match outcome {
        Ok(data) => (json!({"ok": true, "data": data}), false),
        Err(problem) => (json!({"ok": false, "error": describe(problem)}), true),
    }
}

/// Returns a problem as the document's error.
fn describe(problem: Problem) -> Value {
    let mut details = match problem.details {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    let code = map_code(&problem.code);
    if code != problem.code {
        details.insert("reason".to_owned(), json!(problem.code));
    }
    let details = (!details.is_empty()).then_some(details);
    let message = problem.message.replace("`run_id`", "`runId`");
    json!({"code": code, "message": message, "details": details, "docsUrl": DOCS})
}

/// Returns the document's code for one of ours. Codes that aren't ours stay.
fn map_code(ours: &str) -> &str {
    match ours {
        "unknown_run" | "unknown_workflow" => "RUN_NOT_FOUND",
        "read_only" | "other_run" | "not_a_person" | "not_named" | "own_request" | "elicited"
        | "relayed" | "not_granted" | "disallowed" | "unreadable_policy" => "UNAUTHORIZED",
        "store_failed" | "corrupt" | "failed" | "bad_table" | "step_failed" => "INTERNAL_ERROR",
        _ if ours.chars().all(|it| it.is_ascii_uppercase() || it == '_') => ours,
        _ => "INVALID_INPUT",
    }
}

/// Creates the problem of an argument that makes no sense.
fn invalid(message: impl Into<String>) -> Problem {
    Problem::new("INVALID_INPUT", message)
}

/// Checks whether a request is answered with yes or no.
const fn is_approval(request: &Request) -> bool {
    matches!(
        request.opened.kind,
        RequestKind::Approval | RequestKind::Confirm | RequestKind::Review
    )
}

/// Converts a length into a number of an answer.
fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
