//! Ralph Workflow's tools for artifacts, plans and coordination, as its document has them.
//!
//! Its server is one agent's, for one session; so no tool names a run, and the one that is meant is the caller's only active
//! one. `run_id` may be given where there are several.
//!
//! | its word | ours |
//! |---|---|
//! | artifact of a type | the artifact of that name, with the contract `ralph/<type>` where the definition has none |
//! | plan draft, with staged sections | the draft of the artifact `plan`: an object with the sections as fields |
//! | finalize, discard | final, discarded |
//! | work unit | a unit of the active step: claimed is *running*, by one worker at a time; released *not started* |
//! | complete | the active step is *completed*, which takes its way to the end if it has one |
//!
//! The document names the tools, their capabilities and the types of artifacts. It has no arguments, fields or answers for
//! these tools; they are those that its system's clients use: `artifact_type` and `content` (JSON in a text), `section`,
//! `content` and `mode`, `status` and `note`, `summary`, `action` with `work_unit_id` and `payload`. Answers are texts, and
//! errors are, too, as its system gives them.
//!
//! Where it departs from the document on purpose: a broken artifact's error points to the contract's page
//! (`statemark://workflow/<id>/artifact/<name>`) instead of a file in the workspace, and what is broken is kept as a draft.
//! Whether an agent may use a tool says the state that it is in (`capabilities`), not a drain.
//!
//! Deliberately not here: its tools for the workspace, processes, git, environment, web and media.

mod artifact;
mod coordinate;
mod plan;

use serde_json::Value;

use super::words;
use crate::problem::Outcome;
use crate::tool::Tool;

pub(super) fn all() -> Vec<Tool> {
    let mut all = vec![artifact::tool()];
    all.extend(plan::all());
    all.extend(coordinate::all());
    all
}

/// Errors in words; where several runs could be meant, with their ids.
fn shape(outcome: Outcome) -> (Value, bool) {
    words(outcome.map_err(|mut problem| {
        if problem.code == "no_run" {
            // None of these tools starts one.
            let message = "no run is active: name one with `run_id`, or have one started, as by `statemark start`";
            message.clone_into(&mut problem.message);
        }
        if let Some(runs) = problem.details.get("runs").and_then(Value::as_array) {
            let ids = runs.iter().filter_map(|it| it.get("run_id")?.as_str());
            let ids: Vec<String> = ids.map(|id| format!("`{id}`")).collect();
            problem.message = format!("{}: {}", problem.message, ids.join(", "));
        }
        problem
    }))
}
