//! Worktrees of runs, for workflows that say `"workspace": "worktree"`.
//!
//! Each of their runs works in a git worktree of its own, and so does each region of one, since regions are worked on side
//! by side. They are made once, before the first attempt in them, and recorded: whoever comes later, in another process or
//! after a kill, works in the same ones, and checks that a state requires count in its worktree alone. At the run's end they
//! stay, with their branches; those whose workflow says `"worktree_end": "remove"` are removed if everything in them is
//! committed.
//!
//! A region's begins with the commit of the worktree around it. When the region is entered again, it follows that one,
//! unless that would be a merge: merging is a state's work.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use statemark_runtime::StateKind;

use super::operation::{Decide, DecideCx, Right};
use super::{Change, InvalidRequest, Loaded, Order, RunError, Runs};
use crate::body::{Body, WorktreeMade};
use crate::check::absolute;
use crate::git::worktree::{self, Name};
use crate::git::{GitError, borrower, project_of_worktree};
use crate::legality::required_names;
use crate::state::RegionWork;
use crate::store::StoreError;

/// Records the worktree that a run, or a region of it, works in.
///
/// The order has the fence of the run's lease.
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
        let is_there = match &self.made.region {
            Some(region) => run.state.regions.contains_key(region),
            None => run.state.worktree.is_some(),
        };
        let body = Body::WorktreeMade(self.made.clone());
        Ok(Change {
            bodies: if is_there { Vec::new() } else { vec![body] },
        })
    }
}

/// A check that states in several worktrees require, so that nobody knows where to run it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{check}` is required in several regions, which have worktrees of their own")]
pub struct SeveralWorktrees {
    check: String,
    /// The project's root in each of them.
    pub folders: Vec<String>,
}

/// The fate of a worktree at the end of its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorktreeEnd {
    /// The worktree stays.
    Kept,
    /// The worktree stays, for this reason: something in it isn't committed.
    KeptFor(String),
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

    /// Returns the regions that a state is in, the innermost first. A region may be a leaf itself.
    pub fn regions_around(&self, state: &str) -> impl Iterator<Item = &str> {
        let table = self.workflow.table();
        let chain = table.state_named(state).into_iter();
        let regions = chain.flat_map(|id| table.chain(id)).filter(|id| {
            let above = table.parent(*id).and_then(|above| table.state(above));
            above.is_some_and(|above| above.kind == StateKind::Parallel)
        });
        regions.map(|id| table.state_name(id))
    }

    /// Returns the work of the innermost region around a state that has a worktree of its own.
    pub(crate) fn region_work(&self, state: &str) -> Option<&RegionWork> {
        let mut regions = self.regions_around(state);
        regions.find_map(|region| self.state.regions.get(region))
    }

    /// Returns the worktree that a state is worked on in, if the run has any.
    ///
    /// It is that of the innermost region around it that has one, else the run's.
    #[must_use]
    pub fn worktree_of(&self, state: &str) -> Option<&WorktreeMade> {
        let of_region = self.region_work(state).map(|work| &work.worktree);
        of_region.or(self.state.worktree.as_ref())
    }

    /// Returns the worktree of the run, or of a region of it, that a folder is in.
    #[must_use]
    pub fn worktree_at(&self, folder: &Path) -> Option<&WorktreeMade> {
        let folder = std::fs::canonicalize(folder).ok()?;
        self.worktrees()
            .find(|made| folder.starts_with(&made.folder))
    }

    /// Returns the worktree that a check is run in, if the run has any.
    ///
    /// It is the one that the caller's folder is in, else that of the active state that requires the check.
    ///
    /// # Errors
    ///
    /// Active states in several worktrees require it.
    pub fn worktree_for_check(
        &self,
        check: &str,
        folder: Option<&Path>,
    ) -> Result<Option<&WorktreeMade>, SeveralWorktrees> {
        if let Some(made) = folder.and_then(|folder| self.worktree_at(folder)) {
            return Ok(Some(made));
        }
        let workflow = &self.workflow;
        let mut wanted: Vec<&WorktreeMade> = Vec::new();
        for id in self.active_states() {
            let requires = workflow.state_meta(id).get("requires");
            if required_names(requires, None).iter().any(|it| it == check)
                && let Some(made) = self.worktree_of(workflow.table().state_name(id))
                && !wanted.contains(&made)
            {
                wanted.push(made);
            }
        }
        match wanted.as_slice() {
            [] => Ok(self.state.worktree.as_ref()),
            [made] => Ok(Some(made)),
            several => Err(SeveralWorktrees {
                check: check.to_owned(),
                folders: several.iter().map(|made| made.root.clone()).collect(),
            }),
        }
    }

    /// Lists the run's worktree, if it has one, and those of its regions.
    pub fn worktrees(&self) -> impl Iterator<Item = &WorktreeMade> {
        let of_regions = self.state.regions.values().map(|work| &work.worktree);
        self.state.worktree.iter().chain(of_regions)
    }
}

/// Opens the worktree that a state is worked on in, and makes it if there is none yet.
///
/// None if the run works in the project's folder.
///
/// The run's begins with the commit of the worktree of the run above, if that has one, else with that of the project.
///
/// # Errors
///
/// [`RunError::Git`] says why there can't be one; the store's.
pub fn open_worktree(
    runs: &Runs,
    order: &Order,
    run: &Loaded,
    state: &str,
) -> Result<Option<WorktreeMade>, RunError> {
    let own = match &run.state.worktree {
        Some(made) => {
            check_worktree(run, made)?;
            made.clone()
        }
        None if !run.works_in_worktree() => return Ok(None),
        None => {
            let root = root_of(runs, run)?;
            let from = worktree_above(runs, run)?.unwrap_or_else(|| root.clone());
            make_worktree(runs, order, run, (None, &from))?
        }
    };
    let mut regions = run.regions_around(state);
    let Some(region) = regions.next() else {
        return Ok(Some(own));
    };
    let outer = regions.find_map(|region| run.state.regions.get(region));
    let outer = outer.map_or(&own, |work| &work.worktree);
    let outer = Path::new(&outer.folder);
    if let Some(work) = run.state.regions.get(region) {
        let made = &work.worktree;
        check_worktree(run, made)?;
        worktree::follow(Path::new(&made.folder), outer)?;
        return Ok(Some(made.clone()));
    }
    make_worktree(runs, order, run, (Some(region), outer)).map(Some)
}

/// Takes in what was committed in a worktree: its branch is where the worktree stands then.
///
/// Returns the reason if the branch stays where it was.
///
/// # Errors
///
/// What is there isn't what it says it is; git fails.
pub fn take_in_work(made: &WorktreeMade) -> Result<Option<String>, GitError> {
    let folder = Path::new(&made.folder);
    // A worktree that was removed has nothing that isn't on its branch.
    if !folder.is_dir() {
        return Ok(None);
    }
    borrower::take_in(folder)
}

/// Checks that a recorded worktree is still there.
fn check_worktree(run: &Loaded, made: &WorktreeMade) -> Result<(), GitError> {
    let folder = Path::new(&made.folder);
    worktree::enter(folder, &made.branch)?;
    // Whoever made it may have been killed between the record and this.
    if let Some(project) = project_of_worktree(folder) {
        worktree::finish(project, &Name::new(&run.run, made.region.as_deref()));
    }
    Ok(())
}

fn root_of(runs: &Runs, run: &Loaded) -> Result<PathBuf, GitError> {
    // Another store's journal knows nothing of the folders here.
    let is_own = run.state.imported_by.is_none();
    let root = run.state.root.as_ref().filter(|_| is_own);
    root.map(PathBuf::from)
        .or_else(|| runs.root.clone())
        .ok_or_else(|| GitError::new("making a worktree", "nobody knows the project's root"))
}

/// Makes the worktree of a run, or of a region of it, with the commit of another one, and records it.
fn make_worktree(
    runs: &Runs,
    order: &Order,
    run: &Loaded,
    (region, from): (Option<&str>, &Path),
) -> Result<WorktreeMade, RunError> {
    let root = root_of(runs, run)?;
    let name = Name::new(&run.run, region);
    let new = worktree::make(&root, &name, from)?;
    let made = WorktreeMade {
        region: region.map(str::to_owned),
        folder: absolute(&new.folder),
        root: absolute(&new.root),
        branch: new.branch,
        base: new.base,
    };
    runs.execute(order, &RecordWorktree { made: made.clone() })?;
    worktree::finish(&root, &name);
    Ok(made)
}

/// Does with a worktree of a run that is over what its workflow says.
///
/// # Errors
///
/// Git fails.
pub fn end_worktree(run: &Loaded, made: &WorktreeMade) -> Result<WorktreeEnd, RunError> {
    let folder = Path::new(&made.folder);
    if !folder.is_dir() {
        return Ok(WorktreeEnd::Kept);
    }
    let is_removed = run.workspace_key("worktree_end") == Some("remove");
    let stays_because = match is_removed {
        true => worktree::remove(folder)?,
        false => borrower::take_in(folder)?,
    };
    Ok(match stays_because {
        Some(reason) => WorktreeEnd::KeptFor(reason),
        None if is_removed => WorktreeEnd::Removed,
        None => WorktreeEnd::Kept,
    })
}

/// Returns the worktree of the nearest run above that has one.
///
/// It is that of the state for which the run below it works.
fn worktree_above(runs: &Runs, run: &Loaded) -> Result<Option<PathBuf>, RunError> {
    let mut parent = run.state.parent.clone();
    while let Some(link) = parent {
        let above = match runs.load(&link.run) {
            Ok(above) => above,
            Err(RunError::Store(StoreError::NotFound { .. })) => return Ok(None),
            Err(error) => return Err(error),
        };
        let made = match &link.step {
            Some(step) => above.worktree_of(step),
            None => above.state.worktree.as_ref(),
        };
        if let Some(made) = made {
            return Ok(Some(PathBuf::from(&made.folder)));
        }
        parent = above.state.parent.clone();
    }
    Ok(None)
}
