//! A state's worktree, and the branches of regions and of runs below, as agents and programs are told.
//!
//! Nothing is merged by itself. Whoever works in the state that comes after the regions, or after the runs below, takes what
//! it wants of their branches.

use std::fmt::Write as _;

use serde::Serialize;
use statemark_runs::body::WorktreeMade;
use statemark_runs::runs::take_in_work;
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
            take_in(&id, made);
            branches.push(BranchBelow {
                run: id,
                unit: child.unit.clone(),
                branch: made.branch.clone(),
            });
        }
    }
    Ok(branches)
}

/// Takes in what was committed in a worktree: whoever is told of its branch finds it there.
///
/// What can't be taken in stays in the worktree, and the log says why.
pub(crate) fn take_in(run: &RunId, made: &WorktreeMade) {
    match take_in_work(made) {
        Ok(None) => {}
        Ok(Some(reason)) => {
            tracing::warn!(run = %run, branch = made.branch, "the branch stays where it was: {reason}");
        }
        Err(error) => tracing::warn!(run = %run, branch = made.branch, "{error}"),
    }
}

/// The branch on which a region has left its work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct BranchOfRegion {
    region: String,
    branch: String,
}

/// Lists the branches of the regions that were left, for a state.
pub(crate) fn branches_of_regions(run: &Loaded) -> Vec<BranchOfRegion> {
    let regions = run.state.regions.iter().filter(|(region, _)| {
        let visit = run.state.visits.get(*region);
        visit.is_some_and(|visit| visit.left.is_some())
    });
    let branches = regions.map(|(region, work)| {
        take_in(&run.run, &work.worktree);
        BranchOfRegion {
            region: region.clone(),
            branch: work.worktree.branch.clone(),
        }
    });
    branches.collect()
}

/// Describes for a prompt where a state is worked on; nothing if that is the project's own folder.
pub(crate) fn describe_workspace(run: &Loaded, state: &str, below: &[BranchBelow]) -> String {
    let mut text = String::new();
    if let Some(made) = run.worktree_of(state) {
        let owner = match &made.region {
            Some(region) => format!("the region `{region}`"),
            None => "this run".to_owned(),
        };
        let _ = write!(
            text,
            "\nYou work in a git worktree of {owner} alone, `{}`, on its branch `{}`. Commit there what is to be kept.\n",
            made.root, made.branch
        );
    }
    let regions = branches_of_regions(run);
    let regions = regions
        .iter()
        .map(|it| format!("`{}` (region `{}`)", it.branch, it.region));
    list_branches(&mut text, "regions", regions);
    let below = below.iter().map(|BranchBelow { run, unit, branch }| {
        let unit = unit.as_ref();
        let unit = unit.map_or_else(String::new, |unit| format!(", for `{unit}`"));
        format!("`{branch}` (run `{run}`{unit})")
    });
    list_branches(&mut text, "runs below", below);
    text
}

/// Lists the branches on which somebody has left work; nothing if there are none.
fn list_branches(
    text: &mut String,
    authors: &str,
    branches: impl ExactSizeIterator<Item = String>,
) {
    let count = branches.len();
    if count == 0 {
        return;
    }
    let _ = write!(
        text,
        "\nThe {authors} have left their work on branches. Nothing is merged by itself:\n\n"
    );
    for branch in branches.take(MOST_LISTED) {
        let _ = writeln!(text, "- {branch}");
    }
    if count > MOST_LISTED {
        let _ = writeln!(text, "- and {} more", count - MOST_LISTED);
    }
}
