//! What a project has: its feature, its documents, its tasks, its checks. A state can restrict these, and limits count them.

mod complete_task;
mod get_project_context;
mod read_document;
mod run_check;

use crate::tool::Tool;

pub(super) fn all() -> Vec<Tool> {
    vec![
        get_project_context::tool(),
        read_document::tool(),
        complete_task::tool(),
        run_check::tool(),
    ]
}
