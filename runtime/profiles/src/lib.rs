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

use serde_json::Value;
use statemark_runs::{Operation, Order, Record, RunId, StoreError, Written};
use statemark_tools::{Ctx, Outcome, Problem, Set, Tool};

/// The sets of tools, one for each system.
pub const SETS: [Set; 4] = [statewright::SET, smithers::SET, ralph::SET, rstn::SET];

/// The page of each system, by the name of its set: where its tools depart from its document, and why.
pub const PAGES: [(&str, &str); 4] = [
    (statewright::SET.name(), include_str!("statewright.md")),
    (smithers::SET.name(), include_str!("smithers.md")),
    (ralph::SET.name(), include_str!("ralph.md")),
    (rstn::SET.name(), include_str!("rstn.md")),
];

/// The variables of the environment that these tools read, if the server's options have them.
pub const VARIABLES: [&str; 3] = smithers::VARIABLES;

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
