//! The worktree of a run and the branches of the runs below it, as agents and programs are told.
//!
//! Nothing is merged by itself. Whoever works in the state that comes after the runs below takes what it wants of their
//! branches.

use std::fmt::Write as _;

use serde::Serialize;
use statemark_runs::{Loaded, RunError, RunId, Runs, StoreError};

/// Most branches that a prompt lists. Why: the others are in the work of programs, and in git.
const MOST_LISTED: usize = 50;

/// The branch on which a run below has left its work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct BranchBelow {
    run: RunId,
    /// The unit of work that the run is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    branch: String,
}

/// Lists the branches of the runs right below a run.
///
/// # Errors
///
/// A run can't be read.
pub(crate) fn branches_below(runs: &Runs, run: &Loaded) -> Result<Vec<BranchBelow>, RunError> {
    let mut branches = Vec::new();
    for (id, child) in run.state.children.iter() {
        let Ok(id) = id.parse::<RunId>() else {
            continue;
        };
        let state = match runs.load(&id) {
            Ok(below) => below.state,
            Err(RunError::Store(StoreError::NotFound { .. })) => continue,
            Err(error) => return Err(error),
        };
        if let Some(made) = &state.worktree {
            branches.push(BranchBelow {
                run: id,
                unit: child.unit.clone(),
                branch: made.branch.clone(),
            });
        }
    }
    Ok(branches)
}

/// Describes for a prompt where a run works; nothing if that is the project's own folder.
pub(crate) fn describe_workspace(run: &Loaded, below: &[BranchBelow]) -> String {
    let mut text = String::new();
    if let Some(made) = &run.state.worktree {
        let _ = write!(
            text,
            "\nYou work in a git worktree of this run alone, `{}`, on its branch `{}`. Commit there what is to be kept.\n",
            made.root, made.branch
        );
    }
    if below.is_empty() {
        return text;
    }
    text += "\nThe runs below have left their work on branches, which nobody has merged:\n\n";
    for BranchBelow { run, unit, branch } in below.iter().take(MOST_LISTED) {
        let unit = unit.as_ref();
        let unit = unit.map_or_else(String::new, |unit| format!(", for `{unit}`"));
        let _ = writeln!(text, "- `{branch}` (run `{run}`{unit})");
    }
    if below.len() > MOST_LISTED {
        let _ = writeln!(text, "- and {} more", below.len() - MOST_LISTED);
    }
    text
}
