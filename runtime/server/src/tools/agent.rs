//! Letting another agent do a task.

pub(crate) mod run_agent;

use crate::tool::Tool;

pub(super) fn all() -> Vec<Tool> {
    vec![run_agent::tool()]
}
