//! A run begins as a copy of another's first records.
//!
//! The other run is untouched, and nothing is copied: the store lets the new journal begin with the old one. What the other
//! run still owes at that record stays the other's: effects are its to carry out, children work for it, and it is the one
//! that a parent waits for. What it waits for is asked anew: each run has to be answered for itself.

mod reset;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::change::clock_set_back;
use super::draft::Base;
use super::draft::Draft;
use super::operation::{Execution, Operation, Right};
use super::reconcile::create_run;
use super::restore::continue_restore;
use super::restore::{files_to, intent};
use super::{InvalidRequest, Order, RunError, Runs, Written};
use crate::actor::{Actor, Role};
use crate::body::{Body, Forked};
use crate::clock::time_after;
use crate::git::FileChanges;
use crate::hash::Hash;
use crate::id::RunId;
use crate::record::Record;
use crate::state::{self, LiveRecords, RunState};
use crate::store::{PendingTimer, StoreError};
use reset::resolve_reset;

/// A branch of a run, and its differences. The order names the new run.
#[derive(Clone, Debug, Serialize)]
pub struct ForkRun {
    /// The other run.
    pub from: RunId,
    /// Its last record that counts in the new run, too.
    pub at: u64,
    /// States to be reset: the new run starts before the first of them was entered.
    ///
    /// Their last visits up to the record count. A run never was before its first records: a state that those entered
    /// stays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reset: Vec<String>,
    /// Fields of the context that are different from here on: an object, or null.
    pub input: Value,
    /// True if it starts without artifacts.
    pub drop_artifacts: bool,
    /// True if the files are restored to the checkpoint of that record.
    pub restore_workspace: bool,
    /// A name for people; else the other run's.
    pub title: Option<String>,
}

impl ForkRun {
    /// Makes a fork without differences.
    #[must_use]
    pub const fn new(from: RunId, at: u64) -> Self {
        Self {
            from,
            at,
            reset: Vec::new(),
            input: Value::Null,
            drop_artifacts: false,
            restore_workspace: false,
            title: None,
        }
    }
}

/// The state that a fork would start with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForkPlan {
    /// The other run.
    pub from: RunId,
    /// Its last record that would count in the new one, too.
    pub at: u64,
    /// The states that would be active.
    pub leaves: Vec<String>,
    /// The machine's data.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
    /// The decisions of persons about the other run that would count, too, as people read them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decided: Vec<String>,
    /// The revisions of artifacts that it would have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<(String, u64)>,
    /// The requests that would be open in it, by their ids in the other run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<String>,
    /// The timers that would be pending, with their times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub timers: Vec<PendingTimer>,
    /// The checkpoint that the files would be put back to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// The fate of the files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<FileChanges>,
}

/// Starts a run with another's first records, in one transaction.
///
/// Timers that were pending there are due when they were due there, and at once if that is past.
///
/// With `restore_workspace` the intent to put the files back is in that transaction, and the end is recorded when they
/// are as they were: until then the new run takes no events, and [`FinishRestore`](super::FinishRestore) carries on.
///
/// [`RunError::Invalid`] if the record isn't there or was taken back, a state to be reset wasn't entered up to it, or no
/// checkpoint was taken up to where the run would begin;
/// [`StoreError::Conflict`] if there is a run of the new id already. Nothing is recorded in the other run. With files
/// as for [`RestoreFiles`](super::RestoreFiles).
impl Operation for ForkRun {
    const NAME: &'static str = "fork";
    const RIGHT: Right = Right::Drive;
    type Order = Order;
    type Response = Written;

    fn carry_out(&self, execution: &Execution<'_>) -> Result<Written, RunError> {
        let Execution { runs, order } = *execution;
        let fork = &runs.redact_request(self);
        let digest = runs.digest(order, &(Self::NAME, fork))?;
        let written = match runs.replayed(order, digest)? {
            Some(written) => written,
            None => branch_off(runs, order, digest, &resolve_reset(runs, fork)?)?,
        };
        if fork.restore_workspace {
            return continue_restore(runs, order, written);
        }
        Ok(written)
    }
}

/// Plans a fork: its first state, and the fate of the files. Writes nothing.
///
/// # Errors
///
/// Those of [`ForkRun`] as an operation.
pub fn plan_fork(runs: &Runs, fork: &ForkRun) -> Result<ForkPlan, RunError> {
    let fork = &resolve_reset(runs, &runs.redact_request(fork))?;
    // The new run has no name yet, and none of what is shown depends on it.
    let run = fork.from.clone();
    let now = runs.now();
    let (base, draft) = draft_fork(runs, &Order::new(run, Actor::new(Role::System)), fork, now)?;
    let state = draft.state();
    let open = base.state.open_requests().into_iter();
    let revisions = state.artifacts.values().flatten().map(|it| &it.artifact);
    let name = checkpoint_of(runs, fork, state)?;
    let kept = name.as_ref().and_then(|it| state.checkpoints.get(it));
    let files = kept.map(|it| files_to(runs, &it.taken)).transpose()?;
    Ok(ForkPlan {
        from: fork.from.clone(),
        at: fork.at,
        leaves: state.leaves.clone(),
        context: state.context.to_map(),
        decided: state.decisions(),
        artifacts: revisions.map(|it| (it.name.clone(), it.revision)).collect(),
        requests: open.map(|it| it.opened.request.clone()).collect(),
        timers: state.timers.clone(),
        checkpoint: name,
        files,
    })
}

fn branch_off(
    runs: &Runs,
    order: &Order,
    digest: Hash,
    fork: &ForkRun,
) -> Result<Written, RunError> {
    order.run.check_chosen()?;
    let now = runs.now();
    let (base, mut draft) = draft_fork(runs, order, fork, now)?;
    let deed = || format!("`{}` can't be forked here", fork.from);
    runs.check_startable(&draft.loaded().workflow, order, deed)?;
    let now = time_after(now, base.state.updated);
    if let Some(name) = checkpoint_of(runs, fork, draft.state())? {
        for body in intent(runs, draft.loaded(), &name, None, now)? {
            draft.push(body)?;
        }
    }
    let workflow = Arc::clone(&draft.loaded().workflow);
    let bodies = draft.finish().bodies;
    create_run(runs, order, digest, &base, workflow, &bodies, now)
}

/// Returns the base of a fork, and the draft with its first record.
fn draft_fork(
    runs: &Runs,
    order: &Order,
    fork: &ForkRun,
    now: u64,
) -> Result<(Base, Draft), RunError> {
    let state = forkable_state(runs, fork, order.actor.role)?;
    let last = runs
        .store
        .records(&fork.from, fork.at.saturating_sub(1), 1)?;
    let last = last.first().map(Record::hash);
    let last = last.ok_or_else(|| missing(fork))?;
    let body = Body::Forked(Forked {
        from: fork.from.clone(),
        at: fork.at,
        input: input(&fork.input)?,
        drop_artifacts: fork.drop_artifacts,
        requests: reopened(&state, &order.run),
        decided: state.decisions(),
        title: fork.title.clone(),
    });
    let table = state.table.ok_or_else(|| missing(fork))?;
    let workflow = runs.workflow_of(&table)?;
    workflow.check_inputs(order.actor.role, &fork.input, false)?;
    if let Some(cause) = fork
        .input
        .as_object()
        .and_then(|it| workflow.context_defect(&state.context, it))
    {
        return Err(InvalidRequest::ForkInput { cause }.into());
    }
    let set_back = clock_set_back(&*runs.store, &fork.from, &state, now)?;
    let now = time_after(now, state.updated);
    let other = Some((fork.from.clone(), fork.at));
    let state = Arc::new(state);
    let base = Base { other, last, state };
    let mut draft = Draft::start_from(&order.run, &order.actor, workflow, &base, body, now)?;
    if let Some(body) = set_back {
        draft.push(body)?;
    }
    Ok((base, draft))
}

/// Returns the checkpoint that has the files of the record, if they are to be restored.
fn checkpoint_of(
    runs: &Runs,
    fork: &ForkRun,
    state: &RunState,
) -> Result<Option<String>, RunError> {
    if !fork.restore_workspace {
        return Ok(None);
    }
    let (from, at) = (&fork.from, fork.at);
    if let Some(restoring) = &runs.load(from)?.state.restoring {
        return Err(RunError::Invalid(InvalidRequest::ForkRestoring {
            run: from.clone(),
            checkpoint: restoring.name.clone(),
        }));
    }
    let name = state.workspace.clone();
    let name = name.ok_or_else(|| InvalidRequest::ForkWithoutCheckpoint {
        run: from.clone(),
        at,
    })?;
    Ok(Some(name))
}

/// Returns the state of the other run at the record, if a run can start there.
///
/// What a person has decided isn't carried into another run by an agent: with other data, or as often as it likes. Nor is a
/// run forked that a person has stopped.
fn forkable_state(runs: &Runs, fork: &ForkRun, role: Role) -> Result<RunState, RunError> {
    let now = runs.load(&fork.from)?;
    if fork.at == 0 || fork.at > now.head.seq {
        return Err(missing(fork).into());
    }
    let live = LiveRecords::after_rewinds(&*runs.store, &fork.from, &now.state)?;
    if !live.contains(fork.at) {
        return Err(RunError::Invalid(InvalidRequest::ForkTakenBack {
            at: fork.at,
            run: fork.from.clone(),
            counting: counting(&live),
        }));
    }
    if let Some(together) = find_append(runs, &fork.from, fork.at)? {
        let message = together.describe("fork", "at");
        return Err(InvalidRequest::ForkWithinAppend { message }.into());
    }
    let state = state::load(&*runs.store, &fork.from, Some(fork.at))?;
    let decisions = state.decisions();
    if state.signing.is_some() && !decisions.is_empty() {
        let run = fork.from.clone();
        return Err(RunError::SignedForks { run, decisions });
    }
    if !Right::Decide.is_granted(role) {
        let mut decisions = state.decisions();
        decisions.extend(now.state.stopped_for_person());
        decisions.dedup();
        if !decisions.is_empty() {
            let run = fork.from.clone();
            return Err(RunError::PersonForks { run, decisions });
        }
    }
    Ok(state)
}

/// Finds the append of a record, if the record isn't its last.
pub(super) fn find_append(runs: &Runs, run: &RunId, at: u64) -> Result<Option<Together>, RunError> {
    let find = |seq: u64| -> Result<Option<Record>, RunError> {
        let Some(after) = seq.checked_sub(1) else {
            return Ok(None);
        };
        Ok(runs.store.records(run, after, 1)?.pop())
    };
    let (mut first, mut last) = (at, at);
    while find(last)?.is_some_and(|record| record.continues()) && find(last + 1)?.is_some() {
        last += 1;
    }
    if last == at {
        return Ok(None);
    }
    while find(first.saturating_sub(1))?.is_some_and(|record| record.continues()) {
        first -= 1;
    }
    Ok(Some(Together { first, at, last }))
}

/// Records that were written all or none: between them the run never was.
pub(super) struct Together {
    first: u64,
    at: u64,
    last: u64,
}

impl Together {
    /// Describes why a record inside can't be chosen, and which ones can.
    pub(super) fn describe(&self, go: &str, to: &str) -> String {
        let Self { first, at, last } = self;
        let before = first.checked_sub(1).filter(|before| *before > 0);
        let before = before.map_or_else(String::new, |before| format!(", or {to} {before}"));
        format!(
            "record {at} is one of {first} to {last}, which were written at once: {go} {to} {last}{before}"
        )
    }
}

/// Describes the records that count.
pub(super) fn counting(live: &LiveRecords) -> String {
    let range = |(first, last): &(u64, u64)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first} to {last}")
        }
    };
    let ranges: Vec<String> = live.ranges().iter().map(range).collect();
    ranges.join(", ")
}

fn missing(fork: &ForkRun) -> StoreError {
    let (at, from) = (fork.at, &fork.from);
    StoreError::NotFound {
        what: format!("record {at} in run `{from}`"),
    }
}

fn input(input: &Value) -> Result<Map<String, Value>, RunError> {
    match input {
        Value::Object(fields) => Ok(fields.clone()),
        Value::Null => Ok(Map::new()),
        other => {
            let found = other.clone();
            Err(InvalidRequest::InputNotObject { found }.into())
        }
    }
}

/// Returns ids for the open requests in the new run.
///
/// They are asked again rather than withdrawn, since the event that waits for an approval waits in the new run, too;
/// and under other ids, since an answer is for one run.
fn reopened(state: &RunState, run: &RunId) -> BTreeMap<String, String> {
    let open = state.open_requests();
    let named = open.into_iter().map(|request| {
        let seq = request.seq;
        let old = request.opened.request.clone();
        (old, format!("{run}:{seq}"))
    });
    let mut taken: BTreeMap<String, u64> = BTreeMap::new();
    named
        .map(|(old, new)| {
            let count = taken.entry(new.clone()).or_default();
            *count += 1;
            // One append can ask several times.
            let new = if *count == 1 {
                new
            } else {
                format!("{new}:{count}")
            };
            (old, new)
        })
        .collect()
}
