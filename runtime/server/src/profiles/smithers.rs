//! Smithers' tools, as its document has them.
//!
//! | its word | ours |
//! |---|---|
//! | workflow | a workflow; `workflowName` is its id |
//! | node | a state that a person sees, by its name |
//! | iteration | a visit of the state, counted from 0 |
//! | attempt | the visit itself, and one more for each report that begins the step again after it had failed or was done |
//! | frame | a record at which an append ends: the run as it was then; `frameNo` is the record's number |
//! | approval | an open request that is answered with yes or no: an approval, a confirmation, a review |
//! | snapshot, checkpoint | a saved working copy |
//! | output table, artifact | an artifact by its name |
//!
//! Statuses of runs: *running*; waiting is *waiting-approval* for a request of that kind and *waiting-event* for all else
//! that must come from outside, *waiting-timer* where nothing but a timer leads on; *finished*, *failed*, *cancelled*. A
//! paused run is *waiting-event*: the document counts every status that it doesn't list as terminal, and a client would stop
//! watching a run that goes on.
//!
//! Where the document leaves something open or contradicts itself:
//!
//! - The kind of a blocker is `approval` in its only example, and its system says `waiting-approval`. Clients were written
//!   against the document, so it is `approval`; all other kinds are the statuses' words.
//! - `heartbeatAtMs` is null: no process owns a run, so none beats.
//! - `watch_run` waits 25 s at most and then says `timedOut`, for which the document says to call again; and `snapshots`
//!   has only what differs from the snapshot before.
//! - `run_workflow` with `force` on a run that is there goes back to its beginning: journals aren't overwritten.
//! - An artifact's id has the artifact's name behind it if the visit handed in several.
//! - The node of `fork_run` and `replay_run` to be reset is one that was passed, so the fork begins before it was entered:
//!   `parentFrameNo` says at which frame.
//!
//! Where it departs from the document on purpose: nothing runs without an executor (`executor_unavailable`), else a run
//! waits for its agent; `ask_human` says `approved` only for an affirmative answer, and returns at the wait limit as
//! `pending`; `decidedBy` is the caller, and a given one is part of the note; what would leave effects behind that nothing
//! takes back needs `confirm: true`.
//!
//! Deliberately not here: options of an engine (`maxConcurrency`, `rootDir`, …). They are taken, and `ignored` names them.

mod affirmative;
mod approvals;
mod artifacts;
mod ask_human;
mod checkpoints;
mod events;
mod explain_run;
mod fork;
mod get_node_detail;
mod nodes;
mod rewind;
mod run_workflow;
mod runs;
mod summary;
mod timeline;
mod transcript;
mod watch_run;

use serde_json::{Map, Value, json};
use statemark_runs::Loaded;

use crate::ctx::Ctx;
use crate::problem::{Outcome, Problem};
use crate::tool::{Annotations, Tool};

pub(super) fn all() -> Vec<Tool> {
    let mut all = vec![
        run_workflow::list(),
        run_workflow::tool(),
        runs::list(),
        runs::get(),
        watch_run::tool(),
        explain_run::tool(),
        approvals::list(),
        approvals::resolve(),
        ask_human::tool(),
        get_node_detail::tool(),
        fork::fork(),
        fork::replay(),
        checkpoints::list(),
        checkpoints::restore(),
        timeline::tool(),
        artifacts::tool(),
        transcript::tool(),
        events::tool(),
    ];
    all.extend(rewind::all());
    all
}

/// What can't be taken back by calling it again.
const ENDS: Annotations = Annotations {
    idempotent: false,
    ..Annotations::DESTRUCTIVE
};

/// The document's envelope.
fn shape(outcome: Outcome) -> (Value, bool) {
    match outcome {
        Ok(data) => (json!({"ok": true, "data": data}), false),
        Err(problem) => (json!({"ok": false, "error": error(problem)}), true),
    }
}

fn error(problem: Problem) -> Value {
    let mut details = match problem.details {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    let code = code(&problem.code);
    if code != problem.code {
        details.insert("reason".to_owned(), json!(problem.code));
    }
    let details = (!details.is_empty()).then_some(details);
    let message = problem.message.replace("`run_id`", "`runId`");
    json!({"code": code, "message": message, "details": details, "docsUrl": null})
}

/// The document's code for one of ours; those that it doesn't have are its system's. What is no code of ours stays.
fn code(ours: &str) -> &str {
    match ours {
        "unknown_run" | "unknown_workflow" => "RUN_NOT_FOUND",
        "read_only" | "other_run" | "not_a_person" | "not_named" | "own_request" | "elicited"
        | "relayed" | "not_granted" | "disallowed" | "unreadable_policy" => "UNAUTHORIZED",
        "store_failed" | "corrupt" | "failed" | "bad_table" | "step_failed" => "INTERNAL_ERROR",
        "executor_unavailable" => ours,
        _ if ours.chars().all(|it| it.is_ascii_uppercase() || it == '_') => ours,
        _ => "INVALID_INPUT",
    }
}

/// An argument that makes no sense.
fn invalid(message: impl Into<String>) -> Problem {
    Problem::new("INVALID_INPUT", message)
}

/// A run that is named, as it is now.
fn load(ctx: &Ctx<'_>, run: &str) -> Result<Loaded, Problem> {
    ctx.load_run(Some(run))
}

/// A number of journals as one of answers.
fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
