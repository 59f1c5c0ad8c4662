//! Runs that work for a state of another: `invoke`.
//!
//! One append touches one run, so what concerns two is done in steps that can be taken up by anybody: the parent's journal
//! says first that there is a child, then the child is started; the child ends, then the parent takes `done` or `error`.
//! [`Runs::tend`] takes the steps that are missing, as often as it is asked. Who left a step undone by dying loses
//! nothing: the next change of either run, or whoever asks, goes on.

use serde_json::Value;

use super::draft::Draft;
use super::{Change, Loaded, Order, RunError, Runs, Start, Written};
use crate::actor::{Actor, Role};
use crate::body::{Body, Cause, ChildEnded, ChildStarted, Parent};
use crate::fold::Child;
use crate::hash::Hash;
use crate::id::{MAX_NAME, RunId};
use crate::store::{Head, StoreError};

/// Most runs around one. Why: a workflow that invokes itself would never come to rest.
const MAX_DEPTH: usize = 16;

/// What a child has come to, as far as its parent cares.
enum Found {
    /// It isn't there yet.
    Missing,
    /// It goes on.
    Open,
    /// It is over: whether that is a success, and why not.
    Over(bool, Option<String>),
}

impl Runs {
    /// Does what is missing between a run and the children that its states have invoked: starts those that aren't, takes
    /// the outcomes of those that are over, cancels those whose state was left. Nothing is done twice.
    ///
    /// # Errors
    ///
    /// The store's, and those of [`Runs::change`].
    pub fn tend(&self, run: &RunId) -> Result<(), RunError> {
        let loaded = self.load(run)?;
        if loaded.uninvoked().next().is_some() {
            // Nothing but what follows by itself: the states that the run began in.
            self.invoke(run)?;
            return self.tend(run);
        }
        let invoked: Vec<(RunId, Child)> = loaded.invoked().collect();
        for (id, child) in invoked {
            let found = self.come_to(run, &id)?;
            match (child.ended, found) {
                (None, Found::Missing) => {
                    if let Err(why) = self.start_child(&loaded, &id, &child)? {
                        self.child_over(run, &id, false, Some(&why))?;
                    }
                }
                (None, Found::Over(success, why)) => {
                    self.child_over(run, &id, success, why.as_deref())?
                }
                (Some(false), Found::Open) => {
                    let order = Order::new(id.clone(), Actor::new(Role::System));
                    let step = child.step.unwrap_or_default();
                    self.cancel(&order, Some(&format!("`{step}` of run `{run}` was left")))?;
                }
                _ => {}
            }
        }
        for id in loaded.agents() {
            // What another run of that id has come to is nothing to this one.
            if let Found::Over(success, _) = self.come_to(run, &id)?
                && self.store.head(&id)?.summary.parent.as_ref() == Some(run)
            {
                self.agent_over(run, &id, success)?;
            }
        }
        Ok(())
    }

    /// The run of an agent is over: nobody waits for it any more, and no event comes of it.
    fn agent_over(&self, run: &RunId, id: &RunId, success: bool) -> Result<(), RunError> {
        let order = Order::new(run.clone(), Actor::new(Role::System));
        self.change(&order, &("agent", id, success), |loaded, _| {
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

    /// What becomes of other runs by a change of this one. Its own records are written; if this fails, it is done later.
    pub(super) fn attend(&self, written: &mut Written) {
        let is_child = |kind: &str| kind == "child.started" || kind == "child.ended";
        let noted = written.records.iter().any(|it| is_child(&it.kind));
        let loaded = &written.loaded;
        if noted || loaded.uninvoked().next().is_some() {
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

    /// Notes the children of the states that the run began in.
    fn invoke(&self, run: &RunId) -> Result<(), RunError> {
        let order = Order::new(run.clone(), Actor::new(Role::System));
        self.change(&order, &"invoke", |loaded, now| {
            let mut draft = Draft::new(loaded, &order.actor, now);
            draft.children()?;
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
        match self.start(&order, &start) {
            Ok(_) => Ok(Ok(())),
            // Somebody else has started it just now.
            Err(RunError::Store(StoreError::Conflict { .. })) => Ok(Ok(())),
            Err(RunError::Store(error)) => Err(error.into()),
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    /// A child is over: its state takes `done` or `error`.
    fn child_over(
        &self,
        run: &RunId,
        id: &RunId,
        success: bool,
        why: Option<&str>,
    ) -> Result<(), RunError> {
        let order = Order::new(run.clone(), Actor::new(Role::System));
        self.change(&order, &("child", id, success), |loaded, now| {
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
            let active = child
                .step
                .as_ref()
                .is_some_and(|it| loaded.state.is_active(it));
            if active && !loaded.state.status().is_over() {
                let event = if success { "done" } else { "error" };
                let cause = Cause::Child { run: id.clone() };
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
    /// The workflow that a state invokes.
    fn invokes(&self, state: &str) -> Option<&str> {
        let id = self.workflow.table().state_named(state)?;
        self.workflow
            .state_meta(id)
            .get("invoke")
            .and_then(Value::as_str)
    }

    /// Whether something may be missing between the run and children of it.
    pub(super) fn has_children(&self) -> bool {
        self.uninvoked().next().is_some() || self.invoked().next().is_some()
    }

    /// The children that haven't ended yet, as far as the journal knows.
    pub(super) fn open_children(&self) -> Vec<RunId> {
        let open = self.invoked().filter(|(_, child)| child.ended.is_none());
        open.map(|(id, _)| id).collect()
    }

    /// The children that states have invoked.
    fn invoked(&self) -> impl Iterator<Item = (RunId, Child)> {
        let children = self.state.children.iter().filter(|(_, child)| {
            let step = child.step.as_deref().and_then(|step| self.invokes(step));
            child.unit.is_none() && step == Some(&child.workflow)
        });
        children.filter_map(|(id, child)| Some((id.parse().ok()?, child.clone())))
    }

    /// The runs of agents under this one that aren't over, as far as its journal says.
    fn agents(&self) -> Vec<RunId> {
        let invoked: Vec<RunId> = self.invoked().map(|(id, _)| id).collect();
        let open = self.state.children.iter();
        let open = open.filter(|(_, child)| child.ended.is_none());
        open.filter_map(|(id, _)| id.parse().ok())
            .filter(|id| !invoked.contains(id))
            .collect()
    }

    /// The active states that invoke a workflow, with the id of the child of this visit.
    fn invoking(&self) -> impl Iterator<Item = (String, String, RunId)> {
        let visits = self.state.visits.iter().filter(|(_, it)| it.left.is_none());
        visits.filter_map(|(state, visit)| {
            let workflow = self.invokes(state)?.to_owned();
            let id = child_id(&self.run, state, visit.count)?;
            Some((state.clone(), workflow, id))
        })
    }

    /// Those of them whose child the journal doesn't have.
    fn uninvoked(&self) -> impl Iterator<Item = (String, String, RunId)> {
        let over = self.state.status().is_over();
        self.invoking()
            .filter(move |(_, _, id)| !over && !self.state.children.contains_key(id.as_str()))
    }

    /// The child that an event is the outcome of, if nothing else takes the event: nobody else sends it.
    pub(crate) fn outcome_of(&self, event: &str) -> Result<Option<RunId>, RunError> {
        if event != "done" && event != "error" {
            return Ok(None);
        }
        let open = |id: &RunId| {
            let child = self.state.children.get(id.as_str());
            child.is_some_and(|it| it.ended.is_none())
        };
        let invoking: Vec<_> = self.invoking().filter(|(_, _, id)| open(id)).collect();
        let legal = self.legal()?;
        let mut takers = legal
            .iter()
            .filter(|it| it.event == event && it.enabled)
            .peekable();
        let first = takers.peek().map(|it| it.from.clone());
        let all = takers.all(|it| invoking.iter().any(|(state, ..)| *state == it.from));
        let child = invoking
            .into_iter()
            .find(|(state, ..)| Some(state) == first.as_ref());
        Ok(child.filter(|_| all).map(|(_, _, id)| id))
    }
}

/// The id of the child of a visit: it can be told without asking, so that nobody starts a second one.
fn child_id(run: &RunId, state: &str, visit: u64) -> Option<RunId> {
    let id = format!("{run}/{state}/{visit}");
    if id.chars().count() <= MAX_NAME {
        return id.parse().ok();
    }
    format!("child-{}", Hash::of(id.as_bytes())).parse().ok()
}

impl Draft {
    /// Notes the children of states that were entered, and ends those of states that were left.
    pub(super) fn children(&mut self) -> Result<(), RunError> {
        let current: Vec<RunId> = self.loaded().invoking().map(|(_, _, id)| id).collect();
        let over = self.state().status().is_over();
        let left = self.loaded().invoked();
        let left = left.filter(|(id, it)| it.ended.is_none() && (over || !current.contains(id)));
        for (run, _) in left.collect::<Vec<_>>() {
            self.push(Body::ChildEnded(ChildEnded {
                run,
                success: false,
                reason: Some("its state was left".to_owned()),
            }))?;
        }
        for (step, workflow, run) in self.loaded().uninvoked().collect::<Vec<_>>() {
            self.push(Body::ChildStarted(ChildStarted {
                run,
                workflow,
                step: Some(step),
                unit: None,
            }))?;
        }
        Ok(())
    }
}
