//! Profiles: the tools of other systems under their own names, for clients and prompts that call them already.
//!
//! A profile is a thin face over the same operations as our own tools. Its arguments, fields and errors are those of its
//! system's document; where it departs from that, its module says so and why. What no profile has: a memory of its own, a
//! way around policy, and a tool that lets an agent switch enforcement off.
//!
//! Each tool names its kin, the tool of ours that does the same ([`Tool::like`]): a state that grants or restricts one of
//! the two names means both.

mod ralph;
mod rstn;
mod smithers;
mod statewright;

use serde_json::Value;

use crate::problem::Outcome;
use crate::tool::Tool;

/// The tools of all profiles.
pub(crate) fn all() -> Vec<Tool> {
    let mut all = statewright::all();
    all.extend(smithers::all());
    all.extend(ralph::all());
    all.extend(rstn::all());
    all
}

/// The shape of systems that tell errors in words alone.
fn words(outcome: Outcome) -> (Value, bool) {
    match outcome {
        Ok(answer) => (answer, false),
        Err(problem) => (Value::String(problem.message), true),
    }
}
