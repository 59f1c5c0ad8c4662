//! Worktrees of runs, for workflows that say `"workspace": "worktree"`.
//!
//! Each of their runs works in a git worktree of its own. It is made once, before the first attempt, and recorded: whoever
//! comes later, in another process or after a kill, works in the same one, and checks that the run requires count there
//! alone. At the run's end it stays, with its branch; one whose workflow says `"worktree_end": "remove"` is removed if
//! everything in it is committed.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::operation::{Decide, DecideCx, Right};
use super::{Change, InvalidRequest, Loaded, Order, RunError, Runs};
use crate::body::{Body, WorktreeMade};
use crate::check::absolute;
use crate::git::{GitError, worktree};
use crate::store::StoreError;

/// Records the worktree that a run works in. The order has the fence of the run's lease.
#[derive(Clone, Debug, Serialize)]
pub struct RecordWorktree {
    /// The worktree.
    pub made: WorktreeMade,
}

impl Decide for RecordWorktree {
    const NAME: &'static str = "record_worktree";
    const RIGHT: Right = Right::Drive;
    type Outcome = ();

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        if cx.order.fence.is_none() {
            return Err(InvalidRequest::NoLease.into());
        }
        let body = Body::WorktreeMade(self.made.clone());
        Ok(Change {
            bodies: match run.state.worktree {
                Some(_) => Vec::new(),
                None => vec![body],
            },
        })
    }
}

/// The fate of a worktree at the end of its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorktreeEnd {
    /// The worktree stays.
    Kept,
    /// The worktree stays, because these files in it aren't committed.
    KeptFor(Vec<String>),
    /// The worktree was removed. Its branch stays.
    Removed,
}

impl Loaded {
    /// Reports whether the workflow has each run work in a worktree of its own.
    #[must_use]
    pub fn works_in_worktree(&self) -> bool {
        self.workspace_key("workspace") == Some("worktree")
    }

    fn workspace_key(&self, key: &str) -> Option<&str> {
        let meta = self.workflow.meta().get("meta")?;
        meta.get(key).and_then(Value::as_str)
    }
}

/// Opens the worktree of a run, and makes it if there is none yet.
///
/// None if the run works in the project's folder.
///
/// It begins with the commit of the worktree of the run above, if that has one, else with that of the project.
///
/// # Errors
///
/// [`RunError::Git`] says why there can't be one; the store's.
pub fn open_worktree(
    runs: &Runs,
    order: &Order,
    run: &Loaded,
) -> Result<Option<WorktreeMade>, RunError> {
    if let Some(made) = &run.state.worktree {
        worktree::check(Path::new(&made.folder), &made.branch)?;
        return Ok(Some(made.clone()));
    }
    if !run.works_in_worktree() {
        return Ok(None);
    }
    let root = run.state.root.as_ref().map(PathBuf::from);
    let root = root.or_else(|| runs.root.clone());
    let root =
        root.ok_or_else(|| GitError::new("making a worktree", "nobody knows the project's root"))?;
    let from = worktree_above(runs, run)?.unwrap_or_else(|| root.clone());
    let new = worktree::make(&root, &run.run, &from)?;
    let made = WorktreeMade {
        folder: absolute(&new.folder),
        root: absolute(&new.root),
        branch: new.branch,
        base: new.base,
    };
    runs.execute(order, &RecordWorktree { made: made.clone() })?;
    worktree::finish(&root, &run.run);
    Ok(Some(made))
}

/// Does with the worktree of a run that is over what its workflow says; none if it has none.
///
/// # Errors
///
/// Git fails.
pub fn end_worktree(run: &Loaded) -> Result<Option<WorktreeEnd>, RunError> {
    let Some(made) = &run.state.worktree else {
        return Ok(None);
    };
    let folder = Path::new(&made.folder);
    if run.workspace_key("worktree_end") != Some("remove") || !folder.is_dir() {
        return Ok(Some(WorktreeEnd::Kept));
    }
    let left = worktree::uncommitted(folder)?;
    if !left.is_empty() {
        return Ok(Some(WorktreeEnd::KeptFor(left)));
    }
    let root = run.state.root.as_deref().map_or(folder, Path::new);
    worktree::remove(root, folder)?;
    Ok(Some(WorktreeEnd::Removed))
}

/// Returns the worktree of the nearest run above that has one.
fn worktree_above(runs: &Runs, run: &Loaded) -> Result<Option<PathBuf>, RunError> {
    let mut parent = run.state.parent.clone();
    while let Some(above) = parent {
        let state = match runs.load(&above.run) {
            Ok(above) => above.state,
            Err(RunError::Store(StoreError::NotFound { .. })) => return Ok(None),
            Err(error) => return Err(error),
        };
        if let Some(made) = &state.worktree {
            return Ok(Some(PathBuf::from(&made.folder)));
        }
        parent = state.parent.clone();
    }
    Ok(None)
}
