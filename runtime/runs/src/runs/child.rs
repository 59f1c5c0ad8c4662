//! Runs that work for a state of another: `invoke`.
//!
//! One append touches one run, so what concerns two is done in steps that can be taken up by anybody: the parent's journal
//! says first that there is a child, then the child is started; the child ends, then the parent takes `done` or `error`.
//! [`Runs::tend`] takes the steps that are missing, as often as it is asked. Who left a step undone by dying loses
//! nothing: the next change of either run, or whoever asks, goes on.

use std::collections::BTreeMap;

use serde_json::Value;

use super::draft::Draft;
use super::{Cancel, Change, Loaded, Order, RunError, Runs, Start, Written};
use crate::actor::{Actor, Role};
use crate::body::{Body, Cause, ChildEnded, ChildStarted, Parent};
use crate::hash::Hash;
use crate::id::{MAX_NAME, RunId};
use crate::state::Child;
use crate::step::Stepper;
use crate::store::{Head, StoreError};

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

impl Runs {
    /// Takes the missing steps between a run and its children.
    ///
    /// Starts invoked children, takes the outcomes of those that are over, and cancels those whose state was left;
    /// likewise for its agents. Nothing is done twice.
    ///
    /// # Errors
    ///
    /// The store's, and those of [`Runs::execute`].
    pub fn tend(&self, run: &RunId) -> Result<(), RunError> {
        let mut loaded = self.load(run)?;
        if loaded.uninvoked().next().is_some() {
            self.invoke(&loaded)?;
            loaded = self.load(run)?;
        }
        for id in loaded.orphans() {
            self.let_go(run, &id)?;
        }
        let invoked: Vec<(RunId, Child)> = loaded.invoked().collect();
        for (id, child) in invoked {
            let found = self.come_to(run, &id)?;
            match (child.ended, found) {
                (None, Found::Missing) => match self.start_child(&loaded, &id, &child)? {
                    Ok(()) => self.call_off(run, &id)?,
                    Err(why) => self.child_over(run, &id, false, Some(&why))?,
                },
                (None, Found::Over(success, why)) => {
                    self.child_over(run, &id, success, why.as_deref())?
                }
                (Some(false), Found::Open) => {
                    let step = child.step.unwrap_or_default();
                    self.cancel_child(&id, format!("`{step}` of run `{run}` was left"))?;
                }
                _ => {}
            }
        }
        for id in loaded.agents() {
            let found = self.come_to(run, &id)?;
            // What another run of that id has come to is nothing to this one.
            let is_own =
                || Ok::<_, RunError>(self.store.head(&id)?.summary.parent.as_ref() == Some(run));
            match (found, loaded.let_down(&id)) {
                (Found::Over(success, _), _) if is_own()? => self.agent_over(run, &id, success)?,
                (Found::Open, Some(why)) if is_own()? => {
                    self.cancel_child(&id, why)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Cancels a run that works for another.
    fn cancel_child(&self, id: &RunId, reason: String) -> Result<(), RunError> {
        let order = Order::new(id.clone(), Actor::new(Role::System));
        self.execute(&order, &Cancel::because(reason))?;
        Ok(())
    }

    /// Cancels a child whose start was taken back, and records its end once that is done.
    fn let_go(&self, run: &RunId, id: &RunId) -> Result<(), RunError> {
        const WHY: &str = "what began it was taken back";
        let found = self.come_to(run, id)?;
        if matches!(found, Found::Open) {
            self.cancel_child(id, format!("{WHY} in run `{run}`"))?;
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
            let open = loaded.orphans().contains(id);
            Ok(Change {
                bodies: open.then_some(body).into_iter().collect(),
            })
        })?;
        Ok(())
    }

    /// Cancels a child that was started just now, if nobody waits for it any more.
    ///
    /// Its state was left, or its start taken back, before it was there to be cancelled.
    fn call_off(&self, run: &RunId, id: &RunId) -> Result<(), RunError> {
        let loaded = self.load(run)?;
        let child = loaded.state.children.get(id.as_str());
        let wanted = child.is_some_and(|it| it.ended.is_none());
        if !wanted && matches!(self.come_to(run, id)?, Found::Open) {
            self.cancel_child(id, format!("run `{run}` has gone on without it"))?;
        }
        Ok(())
    }

    /// Returns the parent, if it has taken the run's outcome or given it up.
    pub(super) fn done_for(&self, loaded: &Loaded) -> Result<Option<RunId>, RunError> {
        let Some(parent) = loaded.state.parent.as_ref().map(|it| &it.run) else {
            return Ok(None);
        };
        let state = match self.load(parent) {
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
    fn agent_over(&self, run: &RunId, id: &RunId, success: bool) -> Result<(), RunError> {
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

    /// Reconciles other runs after a change of this one, and takes its waiting events.
    ///
    /// The change is written: if this fails, it is done later.
    pub(super) fn attend(&self, written: &mut Written) {
        self.attend_to_others(written);
        if let Ok(loaded) = self.take_waiting(&written.loaded) {
            written.loaded = loaded;
        }
    }

    /// Reconciles other runs after a change of this one.
    pub(super) fn attend_to_others(&self, written: &mut Written) {
        let is_child = |kind: &str| {
            matches!(
                kind,
                "child.started" | "child.ended" | "run.rewound" | "run.migrated"
            )
        };
        let noted = written.records.iter().any(|it| is_child(&it.kind));
        let loaded = &written.loaded;
        if noted || loaded.uninvoked().next().is_some() || loaded.agents_left() {
            drop(self.tend(&loaded.run));
            if let Ok(loaded) = self.load(&written.loaded.run) {
                written.loaded = loaded;
            }
        }
        let state = &written.loaded.state;
        if let Some(parent) = state.parent.as_ref().filter(|_| state.status().is_over()) {
            drop(self.tend(&parent.run));
        }
    }

    /// Records the children of active states that have none.
    ///
    /// Those are states that the run started in, and those whose workflows only a spec has. A workflow that nobody has
    /// is left out.
    fn invoke(&self, loaded: &Loaded) -> Result<(), RunError> {
        let tables = self.startable(loaded)?;
        let order = Order::new(loaded.run.clone(), Actor::new(Role::System));
        self.commit(&order, &"invoke", |loaded, now| {
            let mut draft = Draft::new(loaded, &order.actor, now);
            draft.children_of(&tables)?;
            Ok(draft.finish())
        })?;
        Ok(())
    }

    fn come_to(&self, parent: &RunId, id: &RunId) -> Result<Found, RunError> {
        let head: Head = match self.store.head(id) {
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
        &self,
        loaded: &Loaded,
        id: &RunId,
        child: &Child,
    ) -> Result<Result<(), String>, RunError> {
        let mut around = loaded.state.parent.as_ref().map(|it| it.run.clone());
        for depth in 0.. {
            let Some(parent) = around else { break };
            if depth >= MAX_DEPTH {
                let why = format!("{MAX_DEPTH} runs around it are the most");
                return Ok(Err(why));
            }
            around = self.store.head(&parent)?.summary.parent;
        }
        let step = child.step.clone().unwrap_or_default();
        let meta = loaded.workflow.table().state_named(&step);
        let meta = meta.map(|state| loaded.workflow.state_meta(state));
        let input = meta.and_then(|it| it.get("input")).cloned();
        let start = Start {
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
        match self.start_of(&order, &start, *table, &loaded.state.invokes) {
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
    fn child_over(
        &self,
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

const fn verb(status: &str) -> &'static str {
    match status.as_bytes() {
        b"failed" => "ended in failure",
        _ => "been cancelled",
    }
}

impl Loaded {
    /// Returns the workflow that a state invokes.
    fn invokes(&self, state: &str) -> Option<&str> {
        let id = self.workflow.table().state_named(state)?;
        self.workflow.invoked_workflow(id)
    }

    /// Reports whether steps between the run and its children may be missing.
    pub(super) fn has_children(&self) -> bool {
        self.uninvoked().next().is_some()
            || self.invoked().next().is_some()
            || !self.orphans().is_empty()
            || self.agents_left()
    }

    /// Returns the children that haven't ended yet, as far as the journal knows.
    pub(crate) fn open_children(&self) -> Vec<RunId> {
        let open = self.invoked().filter(|(_, child)| child.ended.is_none());
        open.map(|(id, _)| id).collect()
    }

    /// Returns the open children whose start was taken back.
    fn orphans(&self) -> Vec<RunId> {
        let orphans = self.state.orphans.iter();
        let open = orphans.filter(|(_, child)| child.ended.is_none());
        open.filter_map(|(id, _)| id.parse().ok()).collect()
    }

    /// Returns the children that states have invoked.
    fn invoked(&self) -> impl Iterator<Item = (RunId, Child)> {
        let children = self.state.children.iter();
        let children = children.filter(|(_, child)| child.table.is_some());
        children.filter_map(|(id, child)| Some((id.parse().ok()?, child.clone())))
    }

    /// Reports whether agents' runs continue that nobody waits for any more.
    fn agents_left(&self) -> bool {
        let agents = self.agents();
        agents.iter().any(|id| self.let_down(id).is_some())
    }

    /// Returns the reason that nobody waits for the run of an agent any more.
    ///
    /// Its parent is over, or its step was left.
    fn let_down(&self, agent: &RunId) -> Option<String> {
        let (state, run) = (&self.state, &self.run);
        if state.cancelled.is_some() {
            return Some(format!("run `{run}` was cancelled"));
        }
        if state.status().is_over() {
            return Some(format!("run `{run}` has ended"));
        }
        let child = state.children.get(agent.as_str())?;
        let step = child.step.as_ref()?;
        let visit = state.visits.get(step)?;
        let left = visit.left.is_some() || child.seq < visit.entered;
        left.then(|| format!("`{step}` of run `{run}` was left"))
    }

    /// Returns the runs of agents under this one that aren't over, as far as its journal says.
    fn agents(&self) -> Vec<RunId> {
        let invoked: Vec<RunId> = self.invoked().map(|(id, _)| id).collect();
        let open = self.state.children.iter();
        let open = open.filter(|(_, child)| child.ended.is_none());
        open.filter_map(|(id, _)| id.parse().ok())
            .filter(|id| !invoked.contains(id))
            .collect()
    }

    /// Returns the active states that invoke a workflow.
    fn invoking(&self) -> impl Iterator<Item = Invoking> {
        let visits = self.state.visits.iter().filter(|(_, it)| it.left.is_none());
        visits.filter_map(|(state, visit)| {
            let workflow = self.invokes(state)?;
            let children = self.invoked().filter(|(_, child)| {
                child.workflow == workflow
                    && child.step.as_ref() == Some(state)
                    && self.state.is_current_child(child)
            });
            // A migration there and back leaves one behind in the same visit.
            let child = children.max_by_key(|(_, child)| (child.ended.is_none(), child.seq));
            Some(Invoking {
                workflow: workflow.to_owned(),
                step: state.clone(),
                visit: visit.count,
                child,
            })
        })
    }

    /// Returns the active states that invoke a workflow and have no child yet.
    ///
    /// While files are restored, none is wanted: they aren't what it would find.
    pub(crate) fn uninvoked(&self) -> impl Iterator<Item = Invoking> {
        let wants = !self.state.status().is_over() && self.state.restoring.is_none();
        self.invoking()
            .filter(move |it| wants && it.child.is_none())
    }

    /// Returns the child that an event is the outcome of.
    ///
    /// The state that invoked it would take the event, and nobody else sends it then. Of several children, the one that
    /// this state has invoked.
    pub(crate) fn outcome_of(
        &self,
        event: &str,
        data: Option<&Value>,
        from: Option<&str>,
    ) -> Result<Option<Invoking>, RunError> {
        if event != "done" && event != "error" {
            return Ok(None);
        }
        let mut invoking = self.invoking().filter(Invoking::is_open).peekable();
        if invoking.peek().is_none() {
            return Ok(None);
        }
        let table = self.workflow.table();
        let mut stepper = Stepper::restored(&self.workflow, &self.state)?;
        let candidates = stepper.candidates(data)?;
        let takers = candidates.iter().filter(|it| it.enabled);
        let takers = takers.filter(|it| table.event_name(it.event) == event);
        let takers = takers.filter_map(|it| table.transition(it.transition));
        let states: Vec<_> = takers.map(|row| table.state_name(row.source)).collect();
        let awaited = invoking.filter(|it| states.contains(&it.step.as_str()));
        // The first of the largest: of several that aren't the state's own, any says why.
        Ok(awaited.max_by_key(|it| from == Some(it.step.as_str())))
    }

    /// Returns an id for a new child.
    ///
    /// One whose start was taken back keeps its id, so that nothing of it is taken for the new one's.
    fn child_id(&self, invoking: &Invoking) -> Option<RunId> {
        let (run, state) = (&self.run, &invoking.step);
        let ids = (invoking.visit..).filter_map(|number| named(&format!("{run}/{state}/{number}")));
        let is_free = |id: &RunId| {
            let id = id.as_str();
            !self.state.children.contains_key(id) && !self.state.orphans.contains_key(id)
        };
        ids.take(self.state.children.len() + self.state.orphans.len() + 1)
            .find(is_free)
    }
}

/// Returns a run's id, or a hash of it if it is too long.
fn named(id: &str) -> Option<RunId> {
    if id.chars().count() <= MAX_NAME {
        return id.parse().ok();
    }
    format!("child-{}", Hash::digest(id.as_bytes()))
        .parse()
        .ok()
}

/// An active state that invokes a workflow.
pub(crate) struct Invoking {
    /// The state.
    pub(crate) step: String,
    /// The workflow's id.
    pub(crate) workflow: String,
    /// The child of this visit, if there is one.
    pub(crate) child: Option<(RunId, Child)>,
    /// The number of the state's visits.
    visit: u64,
}

impl Invoking {
    /// Reports whether its outcome is still to come.
    fn is_open(&self) -> bool {
        let child = self.child.as_ref();
        child.is_none_or(|(_, child)| child.ended.is_none())
    }
}

impl Draft {
    /// Records the children of entered states, and the ends of children of states that were left.
    ///
    /// States whose tables the run doesn't know are left out.
    pub(super) fn children(&mut self) -> Result<(), RunError> {
        let tables = self.state().invokes.clone();
        self.children_of(&tables)
    }

    /// Records starts and ends of children, with the tables of workflows.
    fn children_of(&mut self, tables: &BTreeMap<String, Hash>) -> Result<(), RunError> {
        let current = self.loaded().invoking().filter_map(|it| it.child);
        let current: Vec<RunId> = current.map(|(id, _)| id).collect();
        let over = self.state().status().is_over();
        let left = self.loaded().invoked();
        let left = left.filter(|(id, it)| it.ended.is_none() && (over || !current.contains(id)));
        let why = match (over, self.state().cancelled.is_some()) {
            (_, true) => "the run was cancelled",
            (true, false) => "the run has ended",
            (false, false) => "its state was left",
        };
        for (run, _) in left.collect::<Vec<_>>() {
            self.push(Body::ChildEnded(ChildEnded {
                run,
                success: false,
                reason: Some(why.to_owned()),
            }))?;
        }
        for invoking in self.loaded().uninvoked().collect::<Vec<_>>() {
            let table = tables.get(&invoking.workflow).copied();
            let id = self.loaded().child_id(&invoking);
            let (Some(table), Some(run)) = (table, id) else {
                continue;
            };
            self.push(Body::ChildStarted(ChildStarted {
                run,
                workflow: invoking.workflow,
                table: Some(table),
                step: Some(invoking.step),
                unit: None,
            }))?;
        }
        Ok(())
    }
}
