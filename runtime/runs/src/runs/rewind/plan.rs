//! The records and effects that a rewind would undo.
//!
//! A [`RewindPlan`] is what a dry run shows, and its token is what the rewind itself asks for: whoever rewinds has seen what
//! is undone, and nothing was written in between.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::RewindRun;
use crate::blocker::{Blocker, OperationBlocker};
use crate::body::{EffectStatus, Resolution, Scope, Spent};
use crate::git::FileChanges;
use crate::hash::Hash;
use crate::id::RunId;
use crate::record::Record;
use crate::runs::fork::find_append;
use crate::runs::reconcile::parent_gone_on;
use crate::runs::{Loaded, RunError, Runs};
use crate::state::{self, Child, LiveRecords, RunState, Visit};
use crate::store::{PendingTimer, StoreError};

/// The records and effects that a rewind would undo.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RewindPlan {
    /// The last record that would still count.
    pub to: u64,
    /// The part that would be taken back.
    pub scope: Scope,
    /// The last record that this is true for; refusals behind it change nothing.
    pub at: u64,
    /// The number of records that would count no more, by kind.
    pub records: BTreeMap<String, u64>,
    /// The events among them, in order.
    pub events: Vec<(u64, String)>,
    /// The active states.
    pub leaves: Vec<String>,
    /// The states that would be active.
    pub leaves_then: Vec<String>,
    /// The revisions of artifacts that would be gone.
    pub artifacts: Vec<(String, u64)>,
    /// The requests that were decided since: open again, or gone with those that were opened since.
    pub decided: Vec<(String, Resolution)>,
    /// The requests that were opened since and would be gone.
    pub opened: Vec<String>,
    /// The effects that have left, or may have.
    pub effects: Vec<EffectLeft>,
    /// The effects without a report.
    ///
    /// They may have left unseen, and wouldn't be carried out any more.
    pub unreported: Vec<String>,
    /// The runs under this one that began since. Those that aren't over would be cancelled.
    pub children: Vec<String>,
    /// The records of decisions that only a person takes back, with their summaries.
    pub persons: Vec<(u64, String)>,
    /// The children that have ended since.
    ///
    /// Their outcomes would be gone, and others start in their places.
    pub children_again: Vec<String>,
    /// The timers that would be pending, with their times.
    pub timers: Vec<PendingTimer>,
    /// Returns the checkpoint that the files would be restored to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// The fate of the files. Only a dry run looks: they go on changing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<FileChanges>,
    /// The token that the rewind needs.
    pub token: String,
    /// The record that the token is of.
    #[serde(skip)]
    pub(super) last: Hash,
    /// The use of limits that stays unless a person rewinds.
    #[serde(skip)]
    pub(super) spent: BTreeMap<String, Spent>,
}

/// An effect that has left, or may have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EffectLeft {
    /// Its key.
    pub key: String,
    /// The action's name.
    pub name: String,
    /// Its last status.
    pub status: EffectStatus,
    /// The action that would take it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compensation: Option<String>,
    /// True if nothing takes it back, so that the rewind has to be forced.
    pub blocks: bool,
}

impl RewindPlan {
    /// Returns the effects for which the rewind has to be forced.
    pub fn blocking(&self) -> impl Iterator<Item = &EffectLeft> {
        self.effects.iter().filter(|effect| effect.blocks)
    }
}

/// Plans a rewind, or returns why there can't be one.
pub(super) fn make_plan(
    runs: &Runs,
    loaded: &Loaded,
    rewind: &RewindRun,
) -> Result<Result<RewindPlan, Blocker>, RunError> {
    let (run, head, to) = (&loaded.run, loaded.head.seq, rewind.to);
    if let Some(restoring) = &loaded.state.restoring {
        let checkpoint = restoring.name.clone();
        return Ok(Err(Blocker::Restoring { checkpoint }));
    }
    let live = LiveRecords::after_rewinds(&*runs.store, run, &loaded.state)?;
    if let Some(blocker) = impossible(loaded, rewind, &live) {
        return Ok(Err(blocker.into()));
    }
    if rewind.scope != Scope::Workspace
        && let Some(together) = find_append(runs, run, to)?
    {
        let message = together.describe("go back", "to");
        return Ok(Err(OperationBlocker::WithinAppend { message }.into()));
    }
    if rewind.scope != Scope::Workspace
        && let Some(parent) = parent_gone_on(runs, loaded)?
    {
        let parent = parent.to_string();
        return Ok(Err(OperationBlocker::ParentGoneOn { parent }.into()));
    }
    let then = state::load(&*runs.store, run, Some(to))?;
    let checkpoint = match checkpoint(loaded, &then, rewind) {
        Ok(checkpoint) => checkpoint,
        Err(blocker) => return Ok(Err(blocker.into())),
    };
    let mut plan = compared(loaded, &then, rewind);
    plan.checkpoint = checkpoint;
    let mut spending = Spending::from(then);
    state::for_each_record(
        &*runs.store,
        run,
        to.saturating_sub(1),
        Some(head),
        |record| {
            let counts = live.contains(record.seq) && rewind.scope != Scope::Workspace;
            plan.count(record, counts);
            if record.seq > to && counts {
                let taken = spending.take(record);
                taken.map_err(|error| state::unreadable_record(run, record, &error))?;
            }
            Ok(())
        },
    )?;
    plan.last = state::record_hash(&*runs.store, run, plan.at)?.unwrap_or(plan.last);
    plan.spent = spending.finish();
    add_descendants(runs, loaded, &mut plan)?;
    if plan.at == to && rewind.scope != Scope::Workspace {
        return Ok(Err(OperationBlocker::NothingToRewind { to }.into()));
    }
    plan.token = token(run.as_str(), &plan);
    Ok(Ok(plan))
}

/// Puts what is given up beneath the run into its plan.
fn add_descendants(runs: &Runs, loaded: &Loaded, plan: &mut RewindPlan) -> Result<(), RunError> {
    let gone = plan.children.iter().chain(&plan.children_again);
    let mut open: Vec<String> = gone.cloned().collect();
    // A journal that nobody of ours wrote may have runs that are each other's children.
    let mut seen = BTreeSet::from([loaded.run.to_string()]);
    while let Some(id) = open.pop() {
        let Ok(run) = id.parse::<RunId>() else {
            continue;
        };
        if !seen.insert(id) {
            continue;
        }
        let child = match runs.load(&run) {
            // It didn't come to be, or was removed.
            Err(RunError::Store(StoreError::NotFound { .. })) => continue,
            child => child?,
        };
        open.extend(child.state.children.keys().cloned());
        let (left, unreported) = effects_since(&child, 0);
        plan.unreported.extend(unreported);
        plan.effects.extend(left.into_iter().map(|mut effect| {
            // Its own run would take it back, and that isn't gone on with.
            effect.blocks = true;
            effect
        }));
        let live = state::live_records(&*runs.store, &run, Some(child.head.seq), &[])?;
        state::for_each_record(&*runs.store, &run, 0, Some(child.head.seq), |record| {
            if live.contains(record.seq) && is_decision(record) {
                let summary = format!("{} in `{run}`", record.summary());
                plan.persons.push((record.seq, summary));
            }
            Ok(())
        })?;
    }
    Ok(())
}

impl RewindPlan {
    fn count(&mut self, record: &Record, counts: bool) {
        if record.seq == self.to || record.kind != "refused" {
            self.at = record.seq;
        }
        if record.seq == self.to || !counts {
            return;
        }
        *self.records.entry(record.kind.clone()).or_default() += 1;
        if matches!(record.kind.as_str(), "event" | "run.forced") {
            self.events.push((record.seq, record.summary()));
        }
        if is_decision(record) {
            self.persons.push((record.seq, record.summary()));
        }
    }
}

/// Reports whether only a person takes a record back.
fn is_decision(record: &Record) -> bool {
    let by = record.actor.role;
    record.read().is_ok_and(|body| body.is_decision(by))
}

/// The use of limits in the visits that are taken back.
struct Spending {
    state: RunState,
    before: BTreeMap<String, Visit>,
    most: BTreeMap<String, (u64, u64)>,
}

impl Spending {
    fn from(state: RunState) -> Self {
        Self {
            before: state.visits.clone(),
            most: BTreeMap::new(),
            state,
        }
    }

    fn take(&mut self, record: &Record) -> Result<(), serde_json::Error> {
        self.state.apply(record)?;
        for (name, visit) in &self.state.visits {
            let (calls, bytes) = counted(visit);
            if calls > 0 || bytes > 0 {
                let most = self.most.entry(name.clone()).or_default();
                *most = (most.0.max(calls), most.1.max(bytes));
            }
        }
        Ok(())
    }

    /// Returns the use of limits that exceeds the one after the rewind.
    fn finish(self) -> BTreeMap<String, Spent> {
        let mut all = BTreeMap::new();
        for (name, visit) in self.state.visits {
            let (calls, bytes) = self.most.get(&name).copied().unwrap_or_default();
            let before = self.before.get(&name);
            let then = before.map(counted).unwrap_or_default();
            let visits = before.map_or(0, |it| it.count);
            if visit.count > visits || calls > then.0 || bytes > then.1 {
                let visits = visit.count;
                let spent = Spent {
                    visits,
                    calls,
                    bytes,
                };
                all.insert(name, spent);
            }
        }
        all
    }
}

/// Returns the calls and bytes that count in the present visit, or in the next one.
fn counted(visit: &Visit) -> (u64, u64) {
    match (visit.left, visit.owes) {
        (None, _) => (visit.iterations, visit.bytes),
        (Some(_), owes) => owes.map(|it| (it.calls, it.bytes)).unwrap_or_default(),
    }
}

/// Returns the reason that nothing could be taken back to that record.
fn impossible(loaded: &Loaded, rewind: &RewindRun, live: &LiveRecords) -> Option<OperationBlocker> {
    let (head, to) = (loaded.head.seq, rewind.to);
    if to == 0 || to > head {
        return Some(OperationBlocker::NoSuchRecord { to, last: head });
    }
    if !live.contains(to) {
        let counting = crate::runs::fork::counting(live);
        return Some(OperationBlocker::RecordTakenBack { to, counting });
    }
    if rewind.scope == Scope::Workspace {
        return None;
    }
    if let Some((from, at)) = &loaded.head.forked
        && to <= *at
    {
        let from = from.to_string();
        return Some(OperationBlocker::OthersRecord { to, from });
    }
    None
}

/// Returns the checkpoint that the files would be restored to.
fn checkpoint(
    loaded: &Loaded,
    then: &RunState,
    rewind: &RewindRun,
) -> Result<Option<String>, OperationBlocker> {
    if rewind.scope == Scope::State {
        return Ok(None);
    }
    let to = rewind.to;
    let name = rewind.checkpoint.as_ref().or(then.workspace.as_ref());
    let Some(name) = name else {
        return Err(OperationBlocker::NoCheckpoint { to });
    };
    if loaded.state.checkpoints.contains_key(name) {
        return Ok(Some(name.clone()));
    }
    Err(OperationBlocker::UnknownCheckpoint {
        name: name.clone(),
        known: Some(
            loaded
                .state
                .saved_checkpoints()
                .into_iter()
                .map(|it| it.taken.name.clone())
                .collect(),
        ),
    })
}

/// Compares the run with its state at the record.
fn compared(loaded: &Loaded, then: &RunState, rewind: &RewindRun) -> RewindPlan {
    let (now, to) = (&loaded.state, rewind.to);
    let mut plan = RewindPlan {
        to,
        scope: rewind.scope,
        at: to,
        records: BTreeMap::new(),
        events: Vec::new(),
        leaves: now.leaves.clone(),
        leaves_then: then.leaves.clone(),
        artifacts: Vec::new(),
        decided: Vec::new(),
        opened: Vec::new(),
        effects: Vec::new(),
        unreported: Vec::new(),
        children: Vec::new(),
        persons: Vec::new(),
        children_again: Vec::new(),
        timers: then.timers.clone(),
        checkpoint: None,
        files: None,
        token: String::new(),
        last: Hash::ZERO,
        spent: BTreeMap::new(),
    };
    if rewind.scope == Scope::Workspace {
        plan.leaves_then.clone_from(&now.leaves);
        plan.timers.clone_from(&now.timers);
        return plan;
    }
    for (name, revisions) in &now.artifacts {
        let gone = revisions.iter().filter(|revision| revision.seq > to);
        let gone = gone.map(|it| (name.clone(), it.artifact.revision));
        plan.artifacts.extend(gone);
    }
    for (id, request) in &now.requests {
        if request.seq > to {
            plan.opened.push(id.clone());
        }
        if let Some((resolved, _, seq)) = &request.resolved
            && *seq > to
        {
            plan.decided.push((id.clone(), resolved.resolution));
        }
    }
    let began = now.children.keys();
    let began = began.filter(|id| !then.children.contains_key(*id));
    plan.children.extend(began.cloned());
    let is_open = |child: &Child| child.ended.is_none();
    let awaited = then.children.iter().filter(|(_, child)| is_open(child));
    let ended = awaited.filter(|(id, _)| !now.children.get(*id).is_some_and(is_open));
    plan.children_again.extend(ended.map(|(id, _)| id.clone()));
    (plan.effects, plan.unreported) = effects_since(loaded, to);
    plan
}

/// Returns the effects of steps after the record, and those without a report.
///
/// The latest step comes first: so they would be taken back.
fn effects_since(loaded: &Loaded, to: u64) -> (Vec<EffectLeft>, Vec<String>) {
    let (mut left, mut unreported) = (Vec::new(), Vec::new());
    let mut all: Vec<_> = loaded.state.effects.iter().collect();
    all.sort_by_key(|(key, effect)| std::cmp::Reverse((effect.seq, key.len(), (*key).clone())));
    for (key, effect) in all {
        if effect.seq <= to || effect.taken_back || effect.compensates.is_some() {
            continue;
        }
        let status = match effect.status {
            None => {
                unreported.push(key.clone());
                continue;
            }
            Some(EffectStatus::Failed | EffectStatus::Compensated) => continue,
            Some(status) => status,
        };
        let compensation = loaded.compensation(&effect.name).map(str::to_owned);
        left.push(EffectLeft {
            key: key.clone(),
            name: effect.name.clone(),
            status,
            // What may or may not have happened can't be taken back.
            blocks: status != EffectStatus::Succeeded || compensation.is_none(),
            compensation,
        });
    }
    (left, unreported)
}

/// Returns the token `<at>-<to>-<scope>-<digits>`, from which a refusal can say what has changed.
///
/// It covers effects and decisions of people, because the runs beneath continue without a record here.
fn token(run: &str, plan: &RewindPlan) -> String {
    let (at, to) = (plan.at, plan.to);
    let scope = scope_name(plan.scope);
    let said = (run, at, plan.last, to, scope, &plan.checkpoint);
    let left = (&plan.effects, &plan.unreported, &plan.persons);
    let hash = Hash::digest(&serde_json::to_vec(&(said, left)).unwrap_or_default()).to_string();
    let digits: String = hash.chars().take(16).collect();
    format!("{at}-{to}-{scope}-{digits}")
}

/// Returns the scope's name in tokens and sentences.
pub(super) const fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::State => "state",
        Scope::Workspace => "workspace",
        Scope::Both => "both",
    }
}
