//! What a project has: its feature, its documents, its tasks, its checks. A state can restrict these, and limits count them.

pub(crate) mod complete_task;
mod get_project_context;
mod read_document;
pub(crate) mod run_check;

use crate::call::Call;
use crate::problem::Problem;
use crate::project::Project;
use crate::tool::Tool;

pub(super) fn all() -> Vec<Tool> {
    vec![
        get_project_context::tool(),
        read_document::tool(),
        complete_task::tool(),
        run_check::tool(),
    ]
}

/// The project that the server is for.
pub(crate) fn project(call: &Call<'_>) -> Result<Project, Problem> {
    call.desk
        .catalog()
        .project()?
        .ok_or_else(|| Problem::new("no_project", "the server isn't for a project"))
}
