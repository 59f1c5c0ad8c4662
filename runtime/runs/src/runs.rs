//! Runs: what can be done to them, each as one append.
//!
//! Every operation reads the run, decides by a pure function what its records shall be, and appends them on the condition
//! that nobody else has written since; if somebody has, it reads and decides again. So no lock is held while anybody
//! thinks, and whatever was acknowledged is in the journal.

mod advance;
mod answer;
mod artifact;
mod ask;
mod attempt;
mod binding;
mod change;
mod check;
mod checkpoint;
mod commits;
mod control;
mod create;
mod draft;
mod effect;
mod error;
mod follow;
mod fork;
mod interrupt;
mod lease;
mod migrate;
pub mod operation;
mod order;
mod progress;
mod reconcile;
mod redaction;
mod remembered;
mod replay;
mod restore;
mod rewind;
mod send;
mod session;
mod timeline;
mod timers;
mod tool;
mod trail;
mod usage;
mod worktree;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use advance::{Advance, Advanced, Registered, Report};
pub use answer::{AnswerRequest, Reply, run_of_request};
pub use artifact::{
    ArtifactText, DiscardArtifact, Edit, EditArtifact, FinalizeArtifact, MAX_ARTIFACT, PutArtifact,
    Submitted, check_artifact, check_edit, read_artifact,
};
pub use ask::{OpenRequest, WithdrawRequest};
pub use attempt::{EndAttempt, LIMIT_REACHED, ReachLimit, RecordTurn, StartAttempt};
use binding::Bindings;
pub use binding::{Binding, SESSION_LAPSE};
pub use change::cache_state;
pub use check::{Checked, RecordCheck, RunCheck, RunCheckIn};
pub use checkpoint::TakeCheckpoint;
use commits::Commits;
pub use control::{CancelRun, ContinueRun, ForceState, PauseRun, latest_paused};
pub use create::StartRun;
pub use effect::{OpenEffect, ReportEffect};
pub use error::{InvalidRequest, RunError};
pub use fork::{ForkPlan, ForkRun, plan_fork};
pub use lease::{acquire_lease, release_lease, renew_lease};
pub use migrate::{MigrateRun, MigrationPlan, Obstacle, obstacles_between, plan_migration};
pub use operation::{Operation, WriteRaw};
pub use order::{Change, Order, Outcome, Written};
pub use progress::ReportProgress;
pub use reconcile::reconcile_children;
pub(crate) use remembered::FOLD_EVERY;
use remembered::Remembered;
pub use replay::{Difference, Replay, replay_run};
pub use restore::{FinishRestore, GiveUpRestore, RestoreFiles};
pub use rewind::{EffectLeft, RewindPlan, RewindRun, plan_rewind};
pub use send::{SendEvent, SendOutcome};
pub use session::{BindSession, EndSession, HoldSession, ReleaseSession};
pub use timeline::{Branch, Forking, Mark, Marked, Timeline, Visited, load_timeline};
pub use timers::{Fired, fire_all_due, fire_due};
pub use tool::{DenyTool, RecordCall, ReserveCall, ReserveOutcome};
pub use trail::{Stay, Trail, load_trail};
pub use usage::{TreeUsage, counted_tree_usage, tree_usage};
pub use worktree::{
    RecordWorktree, SeveralWorktrees, WorktreeEnd, end_worktree, open_worktree, take_in_work,
};

use crate::authority::AuthorityCache;
use crate::clock::Clock;
use crate::hash::Hash;
use crate::id::RunId;
use crate::redact::Redactor;
use crate::state::RunState;
use crate::store::{Head, Store, StoreError};
use crate::workflow::{Workflow, Workflows};

pub use crate::loaded::Loaded;

/// The defect of a run without keys whose workflow demands signed decisions.
pub(crate) const UNSIGNED_RUN: &str =
    "its workflow demands signed decisions, and the record names no keys";

/// Most signed runs whose proof is remembered. Unit: runs. Why: a server drives some thousands.
const MAX_PROVEN: usize = 10_000;

/// The runs of a store.
pub struct Runs {
    store: Arc<dyn Store>,
    workflows: Arc<dyn Workflows>,
    clock: Arc<dyn Clock>,
    /// The tables that runs go on under, by hash.
    tables: Mutex<BTreeMap<Hash, Arc<Workflow>>>,
    /// The cached states of runs.
    remembered: Remembered,
    /// By signed run, the hash of the last record up to which its journal was proven.
    proven: Mutex<BTreeMap<RunId, Hash>>,
    /// Takes secrets out of whatever is written.
    redactor: Redactor,
    /// Is told of the points at which a crash could tear something.
    failpoint: Option<Failpoint>,
    /// Wakes those who wait for a change of any run.
    commits: Commits,
    /// The authority over the store, as it was read last.
    pub(crate) authority: AuthorityCache,
    /// The runs that hold callers, as they were read last.
    bindings: Bindings,
    /// The root of the project that runs are started for.
    root: Option<PathBuf>,
}

/// Is told the name of a point that was reached.
pub type Failpoint = Arc<dyn Fn(&str) + Send + Sync>;

impl Runs {
    /// Makes the runs of a store, of workflows, by a clock.
    ///
    /// Secrets of this process' environment aren't written.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        workflows: Arc<dyn Workflows>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            store,
            workflows,
            clock,
            tables: Mutex::default(),
            remembered: Remembered::default(),
            proven: Mutex::default(),
            redactor: Redactor::from_environment(&[]),
            failpoint: None,
            commits: Commits::default(),
            authority: AuthorityCache::default(),
            bindings: Bindings::default(),
            root: None,
        }
    }

    /// Sets the root of the project that runs are started for.
    ///
    /// The checks that they require count if they ran there.
    #[must_use]
    pub fn with_project_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = Some(root.into());
        self
    }

    /// Waits for a commit of this process after the one that was `seen`, at most so long.
    ///
    /// Returns the number of the latest.
    /// The commits of other processes are found by [`Store::changes`] alone.
    #[must_use]
    pub fn wait_for_commit(&self, seen: u64, longest: Duration) -> u64 {
        self.commits.wait(seen, longest)
    }

    /// Sets a function that is called at each point at which a crash could tear something.
    ///
    /// Tests crash there.
    #[must_use]
    pub fn with_failpoint(mut self, failpoint: Failpoint) -> Self {
        self.failpoint = Some(failpoint);
        self
    }

    /// Sets the secrets.
    #[must_use]
    pub fn with_redactor(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    /// Returns the secrets.
    #[must_use]
    pub const fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    fn failpoint(&self, point: &str) {
        if let Some(failpoint) = &self.failpoint {
            failpoint(point);
        }
    }

    /// Returns the store.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Returns the workflows that runs can be started of.
    #[must_use]
    pub fn workflows(&self) -> &dyn Workflows {
        &*self.workflows
    }

    /// Returns the time. Unit: milliseconds since 1970.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.clock.now()
    }

    /// Loads a run as it is now.
    ///
    /// # Errors
    ///
    /// There is no such run, or its journal or table can't be read.
    pub fn load(&self, run: &RunId) -> Result<Loaded, RunError> {
        let head = self.store.head(run)?;
        let state = self.remembered.state(&*self.store, &head)?;
        let loaded = self.loaded(head, state)?;
        if loaded.needs_proof() {
            self.prove(&loaded)?;
        }
        Ok(loaded)
    }

    /// Returns a run as this process left it, if nobody else has written to it lately.
    ///
    /// The store isn't asked: others may have written since. So it is good for an append alone, which the store takes at
    /// the end that this knows ([`Expect::Exactly`](crate::Expect::Exactly)) and nowhere else.
    #[must_use]
    pub fn recall(&self, run: &RunId) -> Option<Loaded> {
        let (head, state) = self.remembered.left(run)?;
        let loaded = self.loaded(head, state).ok()?;
        (!loaded.needs_proof() || self.is_proven(&loaded.head)).then_some(loaded)
    }

    /// Returns the run with this end, in this state.
    fn loaded(&self, head: Head, state: Arc<RunState>) -> Result<Loaded, RunError> {
        let table = state.table.ok_or_else(|| StoreError::Corrupt {
            run: Some(head.run.clone()),
            seq: Some(1),
            what: "the journal doesn't begin with `run.started`".to_owned(),
        })?;
        let workflow = self.workflow_of(&table)?;
        Ok(Loaded {
            is_accepted: state.unreviewed && self.is_accepted_since(&workflow, &state)?,
            workflow,
            run: head.run.clone(),
            head,
            state,
        })
    }

    /// Checks that the journal of a run with signed decisions is what its machine makes of it.
    ///
    /// The fold verifies the signatures, and believes the rest. Who writes to the store past this program could say that
    /// something has happened that never did; so each record is made again.
    fn prove(&self, loaded: &Loaded) -> Result<(), RunError> {
        let corrupt = |seq, what: String| StoreError::Corrupt {
            run: Some(loaded.run.clone()),
            seq: Some(seq),
            what,
        };
        if loaded.state.signing.is_none() {
            return Err(corrupt(1, UNSIGNED_RUN.to_owned()).into());
        }
        if self.is_proven(&loaded.head) {
            return Ok(());
        }
        let replay = replay_run(self, &loaded.run, None)?;
        match replay.difference {
            Some(difference) => Err(corrupt(difference.seq, difference.what).into()),
            None => {
                self.note_proven(&loaded.head);
                Ok(())
            }
        }
    }

    /// Remembers that the journal of a run is proven up to its end.
    fn note_proven(&self, head: &Head) {
        let mut proven = self.proven_runs();
        if proven.len() >= MAX_PROVEN {
            proven.clear();
        }
        proven.insert(head.run.clone(), head.hash);
    }

    /// Reports whether the journal of a run is proven up to its end.
    fn is_proven(&self, head: &Head) -> bool {
        self.proven_runs().get(&head.run) == Some(&head.hash)
    }

    fn proven_runs(&self) -> std::sync::MutexGuard<'_, BTreeMap<RunId, Hash>> {
        self.proven.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the workflow with a table, from the store if no spec has it any more.
    ///
    /// # Errors
    ///
    /// The store doesn't have it, or it can't be used.
    pub fn workflow_of(&self, table: &Hash) -> Result<Arc<Workflow>, RunError> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = tables.get(table) {
            return Ok(Arc::clone(found));
        }
        let bytes = self.store.blob(table)?;
        let workflow = Workflow::from_bytes(bytes).map_err(RunError::Table)?;
        let workflow = Arc::new(workflow);
        tables.insert(*table, Arc::clone(&workflow));
        Ok(workflow)
    }

    fn workflow_named(&self, id: &str) -> Result<Arc<Workflow>, RunError> {
        self.workflows
            .find(id)
            .ok_or_else(|| RunError::no_workflow(&*self.workflows, id))
    }
}
