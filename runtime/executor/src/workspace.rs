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

/// Takes in what was committed in a worktree.
///
/// What can't be taken in stays there, and the log says why.
pub(crate) fn take_in(run: &RunId, made: &WorktreeMade) {
    match take_in_work(made) {
        Ok(None) => {}
        Ok(Some(reason)) => {
            tracing::warn!(run = %run, branch = made.branch, "the branch stays where it was: {reason}");
        }
        Err(error) => tracing::warn!(run = %run, branch = made.branch, "{error}"),
    }
}

/// Takes in what regions and the runs right below a run have committed.
///
/// So whoever is told of a branch finds it there.
///
/// # Errors
///
/// A run can't be read.
pub(crate) fn take_in_others(runs: &Runs, run: &Loaded) -> Result<(), RunError> {
    for work in run.state.regions.values() {
        take_in(&run.run, &work.worktree);
    }
    for (id, below) in runs_below(runs, run)? {
        if let Some(made) = &below.state.worktree {
            take_in(&id, made);
        }
    }
    Ok(())
}

/// Loads the runs right below a run.
fn runs_below(runs: &Runs, run: &Loaded) -> Result<Vec<(RunId, Loaded)>, RunError> {
    let mut below = Vec::new();
    for id in run.state.children.keys() {
        let Ok(id) = id.parse::<RunId>() else {
            continue;
        };
        match runs.load(&id) {
            Ok(loaded) => below.push((id, loaded)),
            Err(RunError::Store(StoreError::NotFound { .. })) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(below)
}

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
    for (id, below) in runs_below(runs, run)? {
        let child = run.state.children.get(id.as_str());
        if let Some(made) = &below.state.worktree {
            branches.push(BranchBelow {
                run: id,
                unit: child.and_then(|child| child.unit.clone()),
                branch: made.branch.clone(),
            });
        }
    }
    Ok(branches)
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
    let branches = regions.map(|(region, work)| BranchOfRegion {
        region: region.clone(),
        branch: work.worktree.branch.clone(),
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
