//! A working copy is saved.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::operation::{Decide, DecideCx, Right};
use super::order::refuse_alone;
use super::{Change, InvalidRequest, Loaded, RunError};
use crate::blocker::OperationBlocker;
use crate::body::{Body, CheckpointTaken, Refused};
use crate::git::{Repository, Saved, reference};
use crate::state::{Checkpoint, RunState};

/// A working copy to be saved.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TakeCheckpoint {
    /// A folder in it.
    ///
    /// A run with a worktree of its own has that one saved, unless the folder is in that of a region.
    pub folder: PathBuf,
    /// A name, unique in the run; else the number of the record.
    pub name: Option<String>,
    /// The reason.
    pub reason: Option<String>,
}

/// Saves a working copy as a commit of its own: neither branch, index nor stash is touched.
impl Decide for TakeCheckpoint {
    const NAME: &'static str = "checkpoint";
    const RIGHT: Right = Right::Drive;
    type Outcome = Result<(), Refused>;

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        let seq = run.head.seq + 1;
        let name = self.name.clone().unwrap_or_else(|| seq.to_string());
        if run.state.checkpoints.contains_key(&name) {
            let blocker = OperationBlocker::NameTaken { name };
            let body = refuse_alone("checkpoint", None, blocker);
            return Ok(Change { bodies: vec![body] });
        }
        // Of a run that works in worktrees it is one of those, whatever folder its caller is in.
        let attempt = cx.order.attempt;
        let attempt = attempt.and_then(|number| run.state.attempts.get(&number));
        let worktree = run.worktree_at(&self.folder).or_else(|| match attempt {
            Some(attempt) => run.worktree_of(&attempt.state),
            None => run.state.worktree.as_ref(),
        });
        let folder = worktree.map_or(self.folder.as_path(), |made| Path::new(&made.folder));
        let repository = Repository::open(folder, cx.runs.store().file())?;
        let saved = repository.save(None)?;
        let mut taken = checkpoint_record(run, &repository, &saved, name, seq, cx.now)?;
        taken.reason.clone_from(&self.reason);
        Ok(Change {
            bodies: vec![Body::CheckpointTaken(taken)],
        })
    }
}

impl RunState {
    /// Returns the checkpoints in the order of saving, without the safety copies that restores have made.
    #[must_use]
    pub fn saved_checkpoints(&self) -> Vec<&Checkpoint> {
        let all = self.checkpoints.values();
        let mut saved: Vec<&Checkpoint> = all.filter(|it| !it.taken.safety).collect();
        saved.sort_by_key(|it| it.seq);
        saved
    }
}

/// Returns the record of a saved working copy.
///
/// The commit is kept first: a commit without a record is litter, a record without a commit would be a lie.
pub(super) fn checkpoint_record(
    loaded: &Loaded,
    repository: &Repository,
    saved: &Saved,
    name: String,
    seq: u64,
    now: u64,
) -> Result<CheckpointTaken, RunError> {
    let folder = repository.folder().to_str();
    let folder = folder.ok_or(InvalidRequest::FolderNotUnicode)?;
    let run = loaded.run.as_str();
    let notes = saved.notes();
    let message = format!("Checkpoint `{name}` of run `{run}`\n\n{notes}");
    let reference = reference(run, seq);
    Ok(CheckpointTaken {
        commit: repository.commit(&saved.tree, &message, now, &reference)?,
        repository: folder.to_owned(),
        tree: saved.tree.clone(),
        head: repository.head(),
        nested: saved.nested.clone(),
        left_out: saved.left_out.clone(),
        reason: None,
        safety: false,
        name,
    })
}
