//! Our own tools, one file each, in the folder of their set.

mod agent;
mod artifacts;
mod author;
mod human;
mod project;
mod runs;
mod time;

use crate::tool::Tool;

/// Lists all of our own tools.
pub(crate) fn all() -> Vec<Tool> {
    let sets = [
        runs::all(),
        human::all(),
        artifacts::all(),
        time::all(),
        author::all(),
        project::all(),
        agent::all(),
    ];
    sets.into_iter().flatten().collect()
}
