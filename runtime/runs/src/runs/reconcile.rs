//! Reconciling: the appends to other runs, and later ones to the same, that a change of a run asks for.
//!
//! One append touches one run. So a change of two runs is made in steps that anybody can take up: the parent's journal says
//! first that there is a child, then the child is started; the child ends, then the parent takes `done` or `error`.
//! [`reconcile_children`] takes the steps that are missing, as often as it is called. A process that dies between two steps
//! loses nothing: the next change of either run, or the next read, continues.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::create::{StartRun, create, first_record_of, startable_tables};
use super::draft::Base;
use super::draft::Draft;
use super::{Change, Loaded, Order, RunError, Runs, Written};
use crate::actor::{Actor, Role};
use crate::body::{Body, Cancelled, Cause, ChildEnded, Parent};
use crate::hash::Hash;
use crate::id::RunId;
use crate::state::{Child, Status};
use crate::store::{Head, StoreError};
use crate::workflow::Workflow;

/// Most runs around one. Why: a workflow that invokes itself would never come to rest.
pub(super) const MAX_DEPTH: usize = 16;

/// The status of a child, as far as its parent cares.
enum Found {
    /// The child doesn't exist yet.
    Missing,
    /// The child isn't over.
    Open,
    /// The child is over: its success, or the reason of its failure.
    Over(bool, Option<String>),
}

/// Changes a run and what depends on it: children are reconciled, and events that waited are taken.
///
/// What is written is decided by a pure function of the run as it is now. `request` tells this order from others under
/// the same key: an operation's name and all that it was given.
///
/// # Errors
///
/// The store's; those of `decide`; [`StoreError::Conflict`] if the run isn't at the record that the order expects.
pub(super) fn commit(
    runs: &Runs,
    order: &Order,
    request: &impl Serialize,
    decide: impl FnMut(&Loaded, u64) -> Result<Change, RunError>,
) -> Result<Written, RunError> {
    let mut written = runs.commit_alone(order, request, decide)?;
    if !written.replayed && !written.records.is_empty() {
        reconcile(runs, &mut written);
    }
    Ok(written)
}

/// Creates a run with its first records, and reconciles it.
pub(super) fn create_run(
    runs: &Runs,
    order: &Order,
    digest: Hash,
    base: &Base,
    workflow: Arc<Workflow>,
    bodies: &[Body],
    now: u64,
) -> Result<Written, RunError> {
    let mut written = create(runs, order, digest, base, workflow, bodies, now)?;
    if !written.replayed {
        reconcile(runs, &mut written);
    }
    Ok(written)
}

/// Creates a run that another has invoked, with the tables that the other has pinned.
fn create_pinned(
    runs: &Runs,
    order: &Order,
    start: &StartRun,
    table: Hash,
    pinned: &BTreeMap<String, Hash>,
) -> Result<Written, RunError> {
    let start = &runs.redact_request(start);
    let digest = runs.digest(order, start)?;
    let now = runs.now();
    let workflow = runs.workflow_of(&table)?;
    let (workflow, body) = first_record_of(runs, workflow, pinned, order, start, now)?;
    create_run(runs, order, digest, &Base::none(), workflow, &[body], now)
}

/// Takes queued events that nothing blocks any more, in as many appends as that needs.
pub(super) fn drain_queue(runs: &Runs, loaded: &Loaded) -> Result<Loaded, RunError> {
    let mut loaded = loaded.clone();
    let order = Order::new(loaded.run.clone(), Actor::new(Role::System));
    loop {
        let waiting = loaded.state.queue.len();
        if waiting == 0 || loaded.state.is_held() || loaded.state.status().is_over() {
            return Ok(loaded);
        }
        let mut written = runs.commit_alone(&order, &"queue", |loaded, now| {
            let mut draft = Draft::new(loaded, &order.actor, now);
            draft.drain()?;
            Ok(draft.finish())
        })?;
        reconcile_others(runs, &mut written);
        loaded = written.loaded;
        if loaded.state.queue.len() >= waiting {
            return Ok(loaded);
        }
    }
}

/// Takes the missing steps between a run and its children.
///
/// Starts invoked children, takes the outcomes of those that are over, and cancels those whose state was left;
/// likewise for its agents. Nothing is done twice.
///
/// # Errors
///
/// The store's, and those of [`Runs::execute`].
pub fn reconcile_children(runs: &Runs, run: &RunId) -> Result<(), RunError> {
    let mut loaded = runs.load(run)?;
    if loaded.childless_states().next().is_some() {
        record_children(runs, &loaded)?;
        loaded = runs.load(run)?;
    }
    for id in loaded.open_orphans() {
        release_orphan(runs, run, &id)?;
    }
    let invoked: Vec<(RunId, Child)> = loaded.invoked_children().collect();
    for (id, child) in invoked {
        let found = child_status(runs, run, &id)?;
        match (child.ended, found) {
            (None, Found::Missing) => match start_child(runs, &loaded, &id, &child)? {
                Ok(()) => cancel_unwanted(runs, run, &id)?,
                Err(why) => end_child(runs, run, &id, false, Some(&why))?,
            },
            (None, Found::Over(success, why)) => {
                end_child(runs, run, &id, success, why.as_deref())?
            }
            (Some(false), Found::Open) => {
                let step = child.step.unwrap_or_default();
                cancel_child(runs, &id, &format!("`{step}` of run `{run}` was left"))?;
            }
            _ => {}
        }
    }
    for id in loaded.open_agents() {
        let found = child_status(runs, run, &id)?;
        // What another run of that id has come to is nothing to this one.
        let is_own =
            || Ok::<_, RunError>(runs.store.head(&id)?.summary.parent.as_ref() == Some(run));
        match (found, loaded.abandonment(&id)) {
            (Found::Over(success, _), _) if is_own()? => record_agent_end(runs, run, &id, success)?,
            (Found::Open, Some(why)) if is_own()? => {
                cancel_child(runs, &id, &why)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Cancels a run that works for another.
fn cancel_child(runs: &Runs, id: &RunId, reason: &str) -> Result<(), RunError> {
    let order = Order::new(id.clone(), Actor::new(Role::System));
    commit(runs, &order, &"cancel", |loaded, _| {
        // Giving up the outer run must not switch off what the inner one restricts.
        let by = if is_given_up(runs, loaded)? {
            Role::Agent
        } else {
            Role::System
        };
        let cancelled = Cancelled {
            reason: Some(reason.to_owned()),
            holds: loaded.holds_if_given_up(by),
        };
        Ok(match loaded.state.status() {
            Status::Cancelled => Change::default(),
            _ => loaded.unless_over("cancel", Body::Cancelled(cancelled)),
        })
    })?;
    Ok(())
}

/// Reports whether an agent has cancelled a run that this one works for.
fn is_given_up(runs: &Runs, child: &Loaded) -> Result<bool, RunError> {
    let mut parent = child.state.parent.as_ref().map(|parent| parent.run.clone());
    for _ in 0..MAX_DEPTH {
        let Some(run) = parent else {
            return Ok(false);
        };
        let state = runs.load(&run)?.state;
        if let Some(by) = &state.cancelled_by
            && by.role != Role::System
        {
            return Ok(by.role == Role::Agent);
        }
        parent = state.parent.as_ref().map(|parent| parent.run.clone());
    }
    Ok(false)
}

/// Cancels a child whose start was taken back, and records its end once that is done.
fn release_orphan(runs: &Runs, run: &RunId, id: &RunId) -> Result<(), RunError> {
    const WHY: &str = "what began it was taken back";
    let found = child_status(runs, run, id)?;
    if matches!(found, Found::Open) {
        cancel_child(runs, id, &format!("{WHY} in run `{run}`"))?;
    }
    let success = matches!(found, Found::Over(true, _));
    let reason = (!success).then(|| WHY.to_owned());
    let order = Order::new(run.clone(), Actor::new(Role::System));
    commit(runs, &order, &("orphan", id), |loaded, _| {
        let body = Body::ChildEnded(ChildEnded {
            run: id.clone(),
            success,
            reason: reason.clone(),
        });
        let open = loaded.open_orphans().contains(id);
        Ok(Change {
            bodies: open.then_some(body).into_iter().collect(),
        })
    })?;
    Ok(())
}

/// Cancels a child that was started just now, if nobody waits for it any more.
///
/// Its state was left, or its start taken back, before it was there to be cancelled.
fn cancel_unwanted(runs: &Runs, run: &RunId, id: &RunId) -> Result<(), RunError> {
    let loaded = runs.load(run)?;
    let child = loaded.state.children.get(id.as_str());
    let wanted = child.is_some_and(|it| it.ended.is_none());
    if !wanted && matches!(child_status(runs, run, id)?, Found::Open) {
        cancel_child(runs, id, &format!("run `{run}` has gone on without it"))?;
    }
    Ok(())
}

/// Returns the parent, if it has taken the run's outcome or given it up.
pub(super) fn parent_gone_on(runs: &Runs, loaded: &Loaded) -> Result<Option<RunId>, RunError> {
    let Some(parent) = loaded.state.parent.as_ref().map(|it| &it.run) else {
        return Ok(None);
    };
    let state = match runs.load(parent) {
        Ok(loaded) => loaded.state,
        Err(RunError::Store(StoreError::NotFound { .. })) => return Ok(None),
        Err(error) => return Err(error),
    };
    let id = loaded.run.as_str();
    let ended = state.children.get(id).is_some_and(|it| it.ended.is_some());
    let done = ended || state.orphans.contains_key(id);
    Ok(done.then(|| parent.clone()))
}

/// Records the end of an agent's run. No event comes of it.
fn record_agent_end(runs: &Runs, run: &RunId, id: &RunId, success: bool) -> Result<(), RunError> {
    let order = Order::new(run.clone(), Actor::new(Role::System));
    commit(runs, &order, &("agent", id, success), |loaded, _| {
        let child = loaded.state.children.get(id.as_str());
        let body = Body::ChildEnded(ChildEnded {
            run: id.clone(),
            success,
            reason: None,
        });
        let open = child.is_some_and(|it| it.ended.is_none());
        Ok(Change {
            bodies: open.then_some(body).into_iter().collect(),
        })
    })?;
    Ok(())
}

/// Reconciles other runs after a change of this one, and takes its waiting events.
///
/// The change is written: if this fails, it is done later.
pub(super) fn reconcile(runs: &Runs, written: &mut Written) {
    reconcile_others(runs, written);
    if let Ok(loaded) = drain_queue(runs, &written.loaded) {
        written.loaded = loaded;
    }
}

/// Reconciles other runs after a change of this one.
pub(super) fn reconcile_others(runs: &Runs, written: &mut Written) {
    let is_child = |kind: &str| {
        matches!(
            kind,
            "child.started" | "child.ended" | "run.rewound" | "run.migrated"
        )
    };
    let noted = written.records.iter().any(|it| is_child(&it.kind));
    let loaded = &written.loaded;
    if noted || loaded.childless_states().next().is_some() || loaded.has_abandoned_agents() {
        drop(reconcile_children(runs, &loaded.run));
        if let Ok(loaded) = runs.load(&written.loaded.run) {
            written.loaded = loaded;
        }
    }
    let state = &written.loaded.state;
    if let Some(parent) = state.parent.as_ref().filter(|_| state.status().is_over()) {
        drop(reconcile_children(runs, &parent.run));
    }
}

/// Records the children of active states that have none.
///
/// Those are states that the run started in, and those whose workflows only a spec has. A workflow that nobody has
/// is left out.
fn record_children(runs: &Runs, loaded: &Loaded) -> Result<(), RunError> {
    let tables = startable_tables(runs, loaded)?;
    let order = Order::new(loaded.run.clone(), Actor::new(Role::System));
    commit(runs, &order, &"invoke", |loaded, now| {
        let mut draft = Draft::new(loaded, &order.actor, now);
        draft.update_children_with(&tables)?;
        Ok(draft.finish())
    })?;
    Ok(())
}

fn child_status(runs: &Runs, parent: &RunId, id: &RunId) -> Result<Found, RunError> {
    let head: Head = match runs.store.head(id) {
        Ok(head) => head,
        Err(StoreError::NotFound { .. }) => return Ok(Found::Missing),
        Err(error) => return Err(error.into()),
    };
    if head.summary.parent.as_ref() != Some(parent) {
        let why = format!("another run has the id `{id}`");
        return Ok(Found::Over(false, Some(why)));
    }
    Ok(match head.summary.status.as_str() {
        "completed" => Found::Over(true, None),
        status @ ("failed" | "cancelled") => {
            Found::Over(false, Some(format!("it has {}", verb(status))))
        }
        _ => Found::Open,
    })
}

/// Starts a child; if it can't be, says why.
fn start_child(
    runs: &Runs,
    loaded: &Loaded,
    id: &RunId,
    child: &Child,
) -> Result<Result<(), String>, RunError> {
    let mut enclosing = loaded.state.parent.as_ref().map(|it| it.run.clone());
    for depth in 0.. {
        let Some(parent) = enclosing else { break };
        if depth >= MAX_DEPTH {
            let why = format!("{MAX_DEPTH} runs around it are the most");
            return Ok(Err(why));
        }
        enclosing = runs.store.head(&parent)?.summary.parent;
    }
    let step = child.step.clone().unwrap_or_default();
    let meta = loaded.workflow.table().state_named(&step);
    let meta = meta.map(|state| loaded.workflow.state_meta(state));
    let input = meta.and_then(|it| it.get("input")).cloned();
    let start = StartRun {
        workflow: child.workflow.clone(),
        input: input.unwrap_or_default(),
        project: loaded.state.project.clone(),
        session: loaded.state.session.clone(),
        title: None,
        parent: Some(Parent {
            run: loaded.run.clone(),
            step: child.step.clone(),
            unit: None,
        }),
    };
    let order = Order::new(id.clone(), Actor::new(Role::System));
    let Some(table) = &child.table else {
        return Ok(Ok(()));
    };
    match create_pinned(runs, &order, &start, *table, &loaded.state.invokes) {
        Ok(_) => Ok(Ok(())),
        // Somebody else has started it just now.
        Err(RunError::Store(StoreError::Conflict { .. })) => Ok(Ok(())),
        // What it is given makes no run of it.
        Err(error @ (RunError::Invalid(_) | RunError::Step(_))) => Ok(Err(error.to_string())),
        // It can't be started here or now, which is no outcome of it.
        Err(error) => Err(error),
    }
}

/// Records the end of a child: its state takes `done` or `error`.
fn end_child(
    runs: &Runs,
    run: &RunId,
    id: &RunId,
    success: bool,
    why: Option<&str>,
) -> Result<(), RunError> {
    let order = Order::new(run.clone(), Actor::new(Role::System));
    commit(runs, &order, &("child", id, success), |loaded, now| {
        let open = loaded.state.children.get(id.as_str());
        let Some(child) = open.filter(|it| it.ended.is_none()) else {
            return Ok(Change::default());
        };
        let mut draft = Draft::new(loaded, &order.actor, now);
        draft.push(Body::ChildEnded(ChildEnded {
            run: id.clone(),
            success,
            reason: why.map(str::to_owned),
        }))?;
        if loaded.state.is_current_child(child) && !loaded.state.status().is_over() {
            let event = if success { "done" } else { "error" };
            let cause = Cause::Child {
                run: id.clone(),
                step: child.step.clone(),
            };
            draft.deliver(event, None, cause)?;
        }
        Ok(draft.finish())
    })?;
    Ok(())
}

const fn verb(status: &str) -> &'static str {
    match status.as_bytes() {
        b"failed" => "ended in failure",
        _ => "been cancelled",
    }
}
