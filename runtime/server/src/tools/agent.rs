//! Letting another agent do a task.

mod run_agent;

use crate::tool::Tool;

pub(super) fn all() -> Vec<Tool> {
    vec![run_agent::tool()]
}
