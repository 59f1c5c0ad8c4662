//! A working copy is put back, alone or along with a rewind or a fork.
//!
//! In an order that a crash can't tear: what is there is saved and the intent recorded in one append; the files are put
//! back and compared; the end is recorded, and in the same append what the journal takes back. A run with an intent and no
//! end takes no events, and says so; [`Runs::finish_restore`] carries on from wherever it was, as often as it takes.

use std::path::Path;

use serde::Serialize;

use super::checkpoint::checkpoint_record;
use super::operation::{Decide, DecideCx, Execution, Operation, Right};
use super::order::refuse_alone;
use super::reconcile::commit;
use super::{Change, InvalidRequest, Loaded, Order, RunError, Runs, Written};
use crate::blocker::{Blocker, OperationBlocker};
use crate::body::{Body, CheckpointRestored, CheckpointTaken, Refused, Rewound};
use crate::git::{FileChanges, Repository, lock_working_copy};

/// A working copy to be put back.
#[derive(Clone, Debug, Serialize)]
pub struct RestoreFiles {
    /// The checkpoint.
    pub name: String,
}

/// The intent of a restore: the checkpoint and the rewind, or the refusal.
type Intent = Result<(String, Option<Rewound>), Body>;

/// Restores files to a checkpoint; the state of the run stays.
///
/// The overwritten files are kept as a safety copy, which can be restored by its name. It is no checkpoint in any list or
/// default, so that restoring twice is restoring once.
///
/// If git fails, or the files aren't as they were, the intent is recorded, and [`FinishRestore`] tries again.
impl Operation for RestoreFiles {
    const NAME: &'static str = "restore";
    const RIGHT: Right = Right::Drive;
    type Order = Order;
    type Response = Written<Result<(), Refused>>;

    fn carry_out(&self, execution: &Execution<'_>) -> Result<Self::Response, RunError> {
        let Execution { runs, order } = *execution;
        let restore = &runs.redact_request(self);
        let written = restore_files(runs, order, &(Self::NAME, restore), |run, _| {
            let name = &restore.name;
            if run.state.checkpoints.contains_key(name) && run.state.restoring.is_none() {
                return Ok(Ok((name.clone(), None)));
            }
            let blocker = match &run.state.restoring {
                Some(other) => Blocker::Restoring {
                    checkpoint: other.name.clone(),
                },
                None => Blocker::Operation(OperationBlocker::UnknownCheckpoint {
                    name: name.clone(),
                    known: None,
                }),
            };
            Ok(Err(refuse_alone(Self::NAME, None, blocker)))
        })?;
        written.read_outcome()
    }
}

/// Continues an interrupted restore. It is an error if none is under way.
#[derive(Clone, Debug, Serialize)]
pub struct FinishRestore;

impl Operation for FinishRestore {
    const NAME: &'static str = "finish_restore";
    const RIGHT: Right = Right::Drive;
    type Order = Order;
    type Response = Written<Result<(), Refused>>;

    fn carry_out(&self, execution: &Execution<'_>) -> Result<Self::Response, RunError> {
        finish_restore(execution.runs, execution.order, true)?.read_outcome()
    }
}

/// Gives up a restore, for a checkpoint that is lost.
///
/// The run continues where it was, and the journal says that the files may not belong to it. It is an error if no
/// restore is under way.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct GiveUpRestore {
    /// The reason.
    pub reason: String,
}

impl Decide for GiveUpRestore {
    const NAME: &'static str = "give_up_restore";
    const RIGHT: Right = Right::Drive;
    type Outcome = Result<(), Refused>;

    fn decide(&self, run: &Loaded, _: &DecideCx<'_>) -> Result<Change, RunError> {
        let mut restored = restoring(run)?.clone();
        restored.given_up = Some(self.reason.clone());
        restored.rewind = None;
        Ok(Change {
            bodies: vec![Body::CheckpointRestored(restored)],
        })
    }
}

pub(super) fn restore_files(
    runs: &Runs,
    order: &Order,
    request: &impl Serialize,
    mut decide: impl FnMut(&Loaded, u64) -> Result<Intent, RunError>,
) -> Result<Written, RunError> {
    let intended = commit(runs, order, request, |loaded, now| {
        let bodies = match decide(loaded, now)? {
            Ok((name, rewind)) => intent(runs, loaded, &name, rewind, now)?,
            Err(refused) => vec![refused],
        };
        Ok(Change { bodies })
    })?;
    continue_restore(runs, order, intended)
}

/// Does what an append with an intent says, and says that it is done.
pub(super) fn continue_restore(
    runs: &Runs,
    order: &Order,
    mut intended: Written,
) -> Result<Written, RunError> {
    runs.failpoint("restore.intended");
    if intended.loaded.state.restoring.is_none() || !is_meant(&intended) {
        // It was refused, or was asked for again after it was done. What another has begun is another's.
        return Ok(intended);
    }
    let done = finish_restore(runs, order, intended.replayed)?;
    intended.records.extend(done.records);
    intended.bodies.extend(done.bodies);
    intended.loaded = done.loaded;
    Ok(intended)
}

/// Restores the files and records the end.
///
/// After an interruption nobody knows the state of the files: they are saved once more.
fn finish_restore(runs: &Runs, order: &Order, interrupted: bool) -> Result<Written, RunError> {
    let mut order = order.clone();
    (order.key, order.expected) = (None, None);
    let meant = restoring(&runs.load(&order.run)?)?.clone();
    let _lock = lock_working_copy(Path::new(&meant.repository))?;
    let loaded = runs.load(&order.run)?;
    if loaded.state.restoring.as_ref() != Some(&meant) {
        // Whoever had the turn before has done it.
        return Ok(Written::nothing(loaded, true));
    }
    if interrupted {
        commit(runs, &order, &"save", |loaded, now| {
            let meant = restoring(loaded)?;
            let repository = Repository::open(Path::new(&meant.repository), runs.store().file())?;
            let saved = repository.save(Some(&meant.tree))?;
            if saved.matches(&meant.tree) || is_saved(loaded, &saved.tree) {
                return Ok(Change::default());
            }
            let taken = overwritten(loaded, &repository, &saved, now)?;
            Ok(Change {
                bodies: vec![Body::CheckpointTaken(taken)],
            })
        })?;
    }
    let loaded = runs.load(&order.run)?;
    let meant = restoring(&loaded)?;
    let repository = Repository::open(Path::new(&meant.repository), runs.store().file())?;
    let saved = repository.save(Some(&meant.tree))?;
    runs.failpoint("restore.saved");
    repository.restore(&meant.commit, &meant.tree, &saved)?;
    runs.failpoint("restore.compared");
    let done = commit(runs, &order, &"finish", |loaded, _| {
        let mut restored = restoring(loaded)?.clone();
        let rewind = restored.rewind.take();
        restored.done = true;
        let seq = loaded.head.seq + 1;
        let rewind = rewind.map(|mut rewind| {
            for (owed, number) in rewind.compensations.iter_mut().zip(1_u64..) {
                owed.key = format!("{}:{seq}:{number}", loaded.run);
            }
            Body::Rewound(rewind)
        });
        let mut bodies: Vec<Body> = rewind.into_iter().collect();
        bodies.push(Body::CheckpointRestored(restored));
        Ok(Change { bodies })
    })?;
    runs.failpoint("restore.recorded");
    Ok(done)
}

/// Reports whether the restore under way is the one of these records.
fn is_meant(intended: &Written) -> bool {
    let restoring = intended.loaded.state.restoring.as_ref();
    let mut bodies = intended.bodies.iter();
    bodies.any(|body| matches!(body, Body::CheckpointRestored(meant) if restoring == Some(meant)))
}

/// Saves the present files, and returns the records of the intent.
pub(super) fn intent(
    runs: &Runs,
    loaded: &Loaded,
    name: &str,
    rewind: Option<Rewound>,
    now: u64,
) -> Result<Vec<Body>, RunError> {
    let found = loaded.state.checkpoints.get(name);
    let target = &found.ok_or_else(|| InvalidRequest::UnknownCheckpoint {
        name: name.to_owned(),
    })?;
    let target = &target.taken;
    let repository = Repository::open(Path::new(&target.repository), runs.store().file())?;
    if repository.commit_tree(&target.commit)? != target.tree {
        let name = name.to_owned();
        return Err(InvalidRequest::OtherTree { name }.into());
    }
    let saved = repository.save(Some(&target.tree))?;
    let before = overwritten(loaded, &repository, &saved, now)?;
    let restored = CheckpointRestored {
        name: name.to_owned(),
        repository: target.repository.clone(),
        commit: target.commit.clone(),
        tree: target.tree.clone(),
        done: false,
        before: Some(before.name.clone()),
        given_up: None,
        rewind,
    };
    Ok(vec![
        Body::CheckpointTaken(before),
        Body::CheckpointRestored(restored),
    ])
}

/// Returns the fate of the files in a restore of a checkpoint.
pub(super) fn files_to(runs: &Runs, target: &CheckpointTaken) -> Result<FileChanges, RunError> {
    let repository = Repository::open(Path::new(&target.repository), runs.store().file())?;
    // So its absence is told now, and not when it is too late.
    repository.commit_tree(&target.commit)?;
    Ok(repository.changes(&target.tree)?)
}

/// Takes a safety copy of the files that are about to be overwritten.
fn overwritten(
    loaded: &Loaded,
    repository: &Repository,
    saved: &crate::git::Saved,
    now: u64,
) -> Result<CheckpointTaken, RunError> {
    let seq = loaded.head.seq + 1;
    let mut name = format!("before-{seq}");
    while loaded.state.checkpoints.contains_key(&name) {
        name.push('\'');
    }
    let mut taken = checkpoint_record(loaded, repository, saved, name, seq, now)?;
    taken.reason = Some("what was there before files were put back".to_owned());
    taken.safety = true;
    Ok(taken)
}

fn is_saved(loaded: &Loaded, tree: &str) -> bool {
    let mut all = loaded.state.checkpoints.values();
    all.any(|checkpoint| checkpoint.taken.tree == tree)
}

fn restoring(loaded: &Loaded) -> Result<&CheckpointRestored, RunError> {
    let restoring = loaded.state.restoring.as_ref();
    Ok(restoring.ok_or(InvalidRequest::NotRestoring)?)
}
