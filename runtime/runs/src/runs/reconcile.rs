//! Reconciling: the appends to other runs, and later ones to the same, that a change of a run asks for.
//!
//! One append touches one run. So a change of two runs is made in steps that anybody can take up: the parent's journal says
//! first that there is a child, then the child is started; the child ends, then the parent takes `done` or `error`.
//! [`reconcile_children`] takes the steps that are missing, as often as it is called. A process that dies between two steps
//! loses nothing: the next change of either run, or the next read, continues.
//!
//! What one step asks for is noted ([`Pending`]) and taken after it, not within it. Runs that begin each other in a ring, or
//! by the thousand, have no end; a call takes as many steps as its bound allows, and leaves the others to the next one.

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

/// Most steps between runs that one call takes. Unit: steps.
///
/// Why: a workflow needs some for each child, and one whose children end at once and are begun anew has no end.
const MOST_STEPS: usize = 256;

/// Most steps between runs that a timer asks for. Unit: steps.
///
/// Why: a list may take a thousand timers before it comes. What is left over comes with the next read.
const MOST_TIMER_STEPS: usize = 16;

/// A step that a change asks for.
enum Step {
    /// The steps that are missing between a run and its children.
    Children(RunId),
    /// The queued events of a run that nothing blocks any more.
    Queue(RunId),
}

/// The steps that changes have asked for, the next one at the end.
pub(super) struct Pending<'r> {
    runs: &'r Runs,
    steps: Vec<Step>,
    /// The number of steps that may still be taken.
    left: usize,
}

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
    let written = runs.commit_alone(order, request, decide)?;
    Ok(take_steps(Pending::new(runs, MOST_STEPS), written))
}

/// Changes a run because of a timer, as [`commit`] does.
pub(super) fn commit_timer(
    runs: &Runs,
    order: &Order,
    request: &impl Serialize,
    decide: impl FnMut(&Loaded, u64) -> Result<Change, RunError>,
) -> Result<Written, RunError> {
    let written = runs.commit_alone(order, request, decide)?;
    Ok(take_steps(Pending::new(runs, MOST_TIMER_STEPS), written))
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
    let written = create(runs, order, digest, base, workflow, bodies, now)?;
    Ok(take_steps(Pending::new(runs, MOST_STEPS), written))
}

/// Takes the steps that a change asks for. The change is written: what fails is done later.
fn take_steps(mut pending: Pending<'_>, mut written: Written) -> Written {
    pending.note(&written);
    if pending.take()
        && let Ok(loaded) = pending.runs.load(&written.loaded.run)
    {
        written.loaded = loaded;
    }
    written
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
    let mut pending = Pending::new(runs, MOST_STEPS);
    pending.reconcile(run)?;
    pending.take();
    Ok(())
}

impl<'r> Pending<'r> {
    /// Makes a list of no steps, for a call that may take so many.
    pub(super) const fn new(runs: &'r Runs, left: usize) -> Self {
        Self {
            runs,
            steps: Vec::new(),
            left,
        }
    }

    /// Makes a list of no steps, for a call that may take as many as one does.
    pub(super) const fn of_call(runs: &'r Runs) -> Self {
        Self::new(runs, MOST_STEPS)
    }

    /// Takes steps until there are none, or the bound is reached. Returns whether any was asked for.
    pub(super) fn take(&mut self) -> bool {
        let any = !self.steps.is_empty();
        while let Some(step) = self.steps.pop() {
            let Some(left) = self.left.checked_sub(1) else {
                break;
            };
            self.left = left;
            // The change that asks for it is written: what fails is done later.
            drop(match step {
                Step::Children(run) => self.reconcile(&run),
                Step::Queue(run) => self.drain_queue(&run),
            });
        }
        any
    }

    /// Notes what a change of a run asks for.
    fn note(&mut self, written: &Written) {
        if written.replayed || written.records.is_empty() {
            return;
        }
        let state = &written.loaded.state;
        if !state.queue.is_empty() {
            self.steps.push(Step::Queue(written.loaded.run.clone()));
        }
        self.note_others(written);
    }

    /// Notes what a change of a run asks of other runs.
    fn note_others(&mut self, written: &Written) {
        let is_child = |kind: &str| {
            matches!(
                kind,
                "child.started" | "child.ended" | "run.rewound" | "run.migrated"
            )
        };
        let loaded = &written.loaded;
        let state = &loaded.state;
        if let Some(parent) = state.parent.as_ref().filter(|_| state.status().is_over()) {
            self.steps.push(Step::Children(parent.run.clone()));
        }
        let noted = written.records.iter().any(|it| is_child(&it.kind));
        if noted || loaded.childless_states().next().is_some() || loaded.has_abandoned_agents() {
            self.steps.push(Step::Children(loaded.run.clone()));
        }
    }

    /// Changes a run, and notes what that asks for.
    fn commit(
        &mut self,
        order: &Order,
        request: &impl Serialize,
        decide: impl FnMut(&Loaded, u64) -> Result<Change, RunError>,
    ) -> Result<(), RunError> {
        let written = self.runs.commit_alone(order, request, decide)?;
        self.note(&written);
        Ok(())
    }

    /// Creates a run that another has invoked, with the tables that the other has pinned.
    fn create_pinned(
        &mut self,
        order: &Order,
        start: &StartRun,
        table: Hash,
        pinned: &BTreeMap<String, Hash>,
    ) -> Result<(), RunError> {
        let runs = self.runs;
        let start = &runs.redact_request(start);
        let digest = runs.digest(order, start)?;
        let now = runs.now();
        let workflow = runs.workflow_of(&table)?;
        let (workflow, body) = first_record_of(runs, workflow, pinned, order, start, now)?;
        let base = Base::none();
        let written = create(runs, order, digest, &base, workflow, &[body], now)?;
        self.note(&written);
        Ok(())
    }

    /// Takes queued events that nothing blocks any more, as many as one append takes.
    pub(super) fn drain_queue(&mut self, run: &RunId) -> Result<(), RunError> {
        let loaded = self.runs.load(run)?;
        let waiting = loaded.state.queue.len();
        if waiting == 0 || loaded.state.is_held() || loaded.state.status().is_over() {
            return Ok(());
        }
        let order = Order::new(run.clone(), Actor::new(Role::System));
        let written = self.runs.commit_alone(&order, &"queue", |loaded, now| {
            let mut draft = Draft::new(loaded, &order.actor, now);
            draft.drain()?;
            Ok(draft.finish())
        })?;
        // Those that are left come after what these ask for.
        if written.loaded.state.queue.len() < waiting {
            self.steps.push(Step::Queue(run.clone()));
        }
        self.note_others(&written);
        Ok(())
    }

    /// Takes the missing steps between a run and its children.
    pub(super) fn reconcile(&mut self, run: &RunId) -> Result<(), RunError> {
        let runs = self.runs;
        let mut loaded = runs.load(run)?;
        if loaded.childless_states().next().is_some() {
            self.record_children(&loaded)?;
            loaded = runs.load(run)?;
        }
        for id in loaded.open_orphans() {
            self.release_orphan(run, &id)?;
        }
        for (id, child) in loaded.unsettled_children() {
            let found = child_status(runs, run, &id)?;
            match (child.ended, found) {
                (None, Found::Missing) => match self.start_child(&loaded, &id, &child)? {
                    Ok(()) => self.cancel_unwanted(run, &id)?,
                    Err(why) => self.end_child(run, &id, false, Some(&why))?,
                },
                (None, Found::Over(success, why)) => {
                    self.end_child(run, &id, success, why.as_deref())?
                }
                (Some(false), Found::Open) => {
                    let step = child.step.unwrap_or_default();
                    self.cancel_child(&id, &format!("`{step}` of run `{run}` was left"))?;
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
                (Found::Over(success, _), _) if is_own()? => {
                    self.record_agent_end(run, &id, success)?
                }
                (Found::Open, Some(why)) if is_own()? => {
                    self.cancel_child(&id, &why)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Cancels a run that works for another.
    fn cancel_child(&mut self, id: &RunId, reason: &str) -> Result<(), RunError> {
        let runs = self.runs;
        let order = Order::new(id.clone(), Actor::new(Role::System));
        self.commit(&order, &"cancel", |loaded, _| {
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

    /// Cancels a child whose start was taken back, and records its end once that is done.
    fn release_orphan(&mut self, run: &RunId, id: &RunId) -> Result<(), RunError> {
        const WHY: &str = "what began it was taken back";
        let runs = self.runs;
        let found = child_status(runs, run, id)?;
        if matches!(found, Found::Open) {
            self.cancel_child(id, &format!("{WHY} in run `{run}`"))?;
        }
        let success = matches!(found, Found::Over(true, _));
        let reason = (!success).then(|| WHY.to_owned());
        let order = Order::new(run.clone(), Actor::new(Role::System));
        self.commit(&order, &("orphan", id), |loaded, _| {
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
    fn cancel_unwanted(&mut self, run: &RunId, id: &RunId) -> Result<(), RunError> {
        let runs = self.runs;
        let loaded = runs.load(run)?;
        let child = loaded.state.children.get(id.as_str());
        let wanted = child.is_some_and(|it| it.ended.is_none());
        if !wanted && matches!(child_status(runs, run, id)?, Found::Open) {
            self.cancel_child(id, &format!("run `{run}` has gone on without it"))?;
        }
        Ok(())
    }

    /// Records the end of an agent's run. No event comes of it.
    fn record_agent_end(&mut self, run: &RunId, id: &RunId, success: bool) -> Result<(), RunError> {
        let order = Order::new(run.clone(), Actor::new(Role::System));
        self.commit(&order, &("agent", id, success), |loaded, _| {
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

    /// Records the children of active states that have none.
    ///
    /// Those are states that the run started in, and those whose workflows only a spec has. A workflow that nobody has
    /// is left out.
    fn record_children(&mut self, loaded: &Loaded) -> Result<(), RunError> {
        let runs = self.runs;
        let tables = startable_tables(runs, loaded)?;
        let order = Order::new(loaded.run.clone(), Actor::new(Role::System));
        self.commit(&order, &"invoke", |loaded, now| {
            let mut draft = Draft::new(loaded, &order.actor, now);
            draft.update_children_with(&tables)?;
            Ok(draft.finish())
        })?;
        Ok(())
    }

    /// Starts a child; if it can't be, says why.
    fn start_child(
        &mut self,
        loaded: &Loaded,
        id: &RunId,
        child: &Child,
    ) -> Result<Result<(), String>, RunError> {
        let runs = self.runs;
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
        match self.create_pinned(&order, &start, *table, &loaded.state.invokes) {
            Ok(()) => Ok(Ok(())),
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
        &mut self,
        run: &RunId,
        id: &RunId,
        success: bool,
        why: Option<&str>,
    ) -> Result<(), RunError> {
        let order = Order::new(run.clone(), Actor::new(Role::System));
        self.commit(&order, &("child", id, success), |loaded, now| {
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

const fn verb(status: &str) -> &'static str {
    match status.as_bytes() {
        b"failed" => "ended in failure",
        _ => "been cancelled",
    }
}
