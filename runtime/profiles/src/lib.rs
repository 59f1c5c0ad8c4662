//! Profiles: the tools of other systems under their own names.
//!
//! Clients and prompts call them already.
//!
//! A profile is a map over the same operations as our own tools: each tool takes its documented arguments, executes one
//! operation, and answers in its documented shape. Where a profile departs from its document, its page says so and why ([`PAGES`]).
//! No profile has a memory of its own, a path around policy, or a tool that lets an agent switch enforcement off.
//!
//! Each tool names its equivalent of ours: a state that grants or restricts one of the two means both.

mod ralph;
mod rstn;
mod smithers;
mod statewright;

use serde_json::{Value, json};
use statemark_runs::{Operation, Order, Record, RunId, StartRun, StoreError, Written};
use statemark_tools::{Ctx, Outcome, Problem, Set, Tool};

/// The sets of tools, one for each system.
pub const SETS: [Set; 4] = [statewright::SET, smithers::SET, ralph::SET, rstn::SET];

/// The system whose agents have its packs as well: tools for files.
pub const WITH_PACKS: Set = ralph::SET;

/// The page of each system, by the name of its set: where its tools depart from its document, and why.
pub const PAGES: [(&str, &str); 4] = [
    (statewright::SET.name(), include_str!("statewright.md")),
    (smithers::SET.name(), include_str!("smithers.md")),
    (ralph::SET.name(), include_str!("ralph.md")),
    (rstn::SET.name(), include_str!("rstn.md")),
];

/// The variables of the environment that these tools read, if the server's options have them.
pub const VARIABLES: [&str; 3] = smithers::VARIABLES;

/// The spec of the workflow of sessions that no workflow of the project is about.
pub const SESSION_SPEC: &str = include_str!("session.md");

/// The id of that workflow.
const SESSION: &str = "session";

/// Returns whether a profile begins a session where no run is active.
#[must_use]
pub fn brings_session(set: Set) -> bool {
    [ralph::SET, rstn::SET].contains(&set)
}

/// Returns our own tools that a profile offers too, so that its callers can do what they are told.
#[must_use]
pub const fn extra_tools(set: Set) -> &'static [&'static str] {
    match set {
        Set::Profile(name) => match name.as_bytes() {
            b"smithers" => &["checkpoint", "run_check", "send_event", "submit_artifact"],
            b"ralph" => &["run_check", "send_event", "start_run"],
            _ => &[],
        },
        _ => &[],
    }
}

/// Returns the beginning of the names of other servers' tools, if a profile's document gives them one.
#[must_use]
pub fn upstream_base(set: Set) -> &'static str {
    if set == ralph::SET {
        "ralph_upstream__"
    } else {
        ""
    }
}

/// Creates the tools of all profiles.
#[must_use]
pub fn all() -> Vec<Tool> {
    let mut all = statewright::all();
    all.extend(smithers::all());
    all.extend(ralph::all());
    all.extend(rstn::all());
    all
}

/// Gives errors the shape of systems that have them as text alone.
fn text_errors(outcome: Outcome) -> (Value, bool) {
    match outcome {
        Ok(answer) => (answer, false),
        Err(problem) => (Value::String(problem.message), true),
    }
}

/// Executes an operation on a run.
fn execute<O, T>(ctx: &Ctx<'_>, run: &RunId, operation: &O) -> Result<Written<T>, Problem>
where
    O: Operation<Order = Order, Response = Written<T>>,
{
    let order = ctx.order(run.clone(), None, None)?;
    let written = ctx.runs().execute(&order, operation)?;
    match written.refusal() {
        Some(refused) => Err(Problem::refused(refused)),
        None => Ok(written),
    }
}

/// Reads a record of a run.
fn read_record(ctx: &Ctx<'_>, run: &RunId, seq: u64) -> Result<Option<Record>, StoreError> {
    let store = ctx.runs().store();
    let records = store.records(run, seq.saturating_sub(1), 1)?;
    Ok(records.into_iter().next())
}

/// Starts a run of a workflow for the caller, under the id that it is bound to or a random one.
fn start(ctx: &Ctx<'_>, workflow: &str) -> Result<RunId, Problem> {
    let run = ctx.new_run_id(None)?;
    let order = ctx.order(run.clone(), None, None)?;
    let start = StartRun {
        workflow: workflow.to_owned(),
        input: json!({}),
        project: ctx.caller.project.clone(),
        ..StartRun::default()
    };
    ctx.runs().execute(&order, &start)?;
    Ok(run)
}
