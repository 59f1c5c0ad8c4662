//! A run goes on under another table.
//!
//! What the run stands on has to be in the new table: its active states, what its histories have recorded, its timers, and
//! the transitions that wait for an approval. What isn't there by the same name needs another one, or the run stays where
//! it is. Nothing is entered or left by that: no action is carried out, no timer is armed.
//!
//! Who holds an agent to a workflow mustn't find it gone on under a laxer one. So an agent moves a run only to a table that
//! whose behavior and policy are the same, and no state to another; everything else is for a person to decide.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use statemark_runtime::{Configuration, Part, StateId, StateKind, Table, TransitionId};

use super::create::invoking;
use super::create::{invoked_tables, store_tables};
use super::operation::{Decide, DecideCx, Right};
use super::order::refuse_alone;
use super::{Change, Loaded, RunError, Runs};
use crate::actor::Role;
use crate::blocker::{Blocker, OperationBlocker};
use crate::body::{Body, Migrated, Refused};
use crate::compare::{Comparison, compare, same_guard};
use crate::id::RunId;
use crate::workflow::Workflow;

/// The table that a run is to continue under.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MigrateRun {
    /// The workflow, as its spec is now; else the run's.
    pub workflow: Option<String>,
    /// States that have another name there.
    pub states: BTreeMap<String, String>,
    /// Timers that have another name there. Those of a renamed state have its new name by themselves.
    pub timers: BTreeMap<String, String>,
}

/// The plan of a migration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MigrationPlan {
    /// The differences of the tables.
    pub comparison: Comparison,
    /// The obstacles; none if the run can continue there.
    pub obstacles: Vec<Obstacle>,
    /// The record that would be written.
    pub migrated: Migrated,
}

/// Something that the run stands on and that the new table doesn't have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Obstacle {
    /// The kind of obstacle.
    ///
    /// It is the `run` itself, the `person` that it takes, or a `state`, `history`, `detour`, `timer`, `request`,
    /// `mapping` or `configuration`.
    pub what: &'static str,
    /// Its name.
    pub name: String,
    /// The defect, and the way to mend it.
    pub reason: String,
}

/// Moves a run to another table. Refused, and recorded so, if something is in the way.
impl Decide for MigrateRun {
    const NAME: &'static str = "migrate";
    const RIGHT: Right = Right::Drive;
    type Outcome = Result<(), Refused>;

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        let to = target(cx.runs, run, self)?;
        let role = cx.order.actor.role;
        let lax = || Some(for_a_person(run, &to, self, role)?.into());
        let body = match refused(run, &to).or_else(lax) {
            Some(blocker) => refuse_alone("migrate", None, blocker),
            None => {
                let mut plan = planned(run, &to, self);
                // What an agent moves keeps the children that it would have had.
                let pinned = match role {
                    Role::Person | Role::System => &BTreeMap::new(),
                    Role::Observer | Role::Agent => &run.state.invokes,
                };
                let is_reviewed = !run.is_unreviewed();
                plan.migrated.invokes = invoked_tables(cx.runs, &to, pinned, is_reviewed)?;
                if plan.obstacles.is_empty() {
                    cx.runs.store.put_blob(to.bytes())?;
                    store_tables(cx.runs, &plan.migrated.invokes)?;
                    Body::Migrated(plan.migrated)
                } else {
                    let obstacles = plan.obstacles.into_iter().map(|it| it.reason).collect();
                    let blocker = OperationBlocker::NoCounterpart { obstacles };
                    refuse_alone("migrate", None, blocker)
                }
            }
        };
        Ok(Change { bodies: vec![body] })
    }
}

/// Plans a migration by a caller in this role. Writes nothing.
///
/// # Errors
///
/// There is no such run or workflow; as for [`Runs::load`].
pub fn plan_migration(
    runs: &Runs,
    run: &RunId,
    migrate: &MigrateRun,
    role: Role,
) -> Result<MigrationPlan, RunError> {
    let loaded = runs.load(run)?;
    let to = target(runs, &loaded, migrate)?;
    let mut plan = planned(&loaded, &to, migrate);
    let obstacle = |what, reason| Obstacle {
        what,
        name: run.to_string(),
        reason,
    };
    if let Some(blocker) = refused(&loaded, &to) {
        plan.obstacles = vec![obstacle("run", blocker.message())];
    } else if let Some(blocker) = for_a_person(&loaded, &to, migrate, role) {
        plan.obstacles.push(obstacle("person", blocker.to_string()));
    }
    Ok(plan)
}

fn target(runs: &Runs, loaded: &Loaded, migrate: &MigrateRun) -> Result<Arc<Workflow>, RunError> {
    let id = migrate.workflow.as_ref();
    runs.workflow_named(id.unwrap_or(&loaded.state.workflow))
}

/// Returns the reason that there is nothing to be moved.
fn refused(loaded: &Loaded, to: &Workflow) -> Option<Blocker> {
    let status = loaded.state.status();
    if status.is_over() {
        let status = status.name();
        return Some(OperationBlocker::Over { status }.into());
    }
    if let Some(restoring) = &loaded.state.restoring {
        let checkpoint = restoring.name.clone();
        return Some(Blocker::Restoring { checkpoint });
    }
    if loaded.state.signing.is_some() {
        let deed = "another machine";
        return Some(OperationBlocker::SignedRun { deed }.into());
    }
    if to.demands_signatures() {
        let workflow = to.id().to_owned();
        return Some(OperationBlocker::SignedWorkflow { workflow }.into());
    }
    let is_same = to.hash() == loaded.workflow.hash();
    is_same.then_some(OperationBlocker::SameTable.into())
}

/// Returns the reason that a caller in this role can't move the run there, and a person can.
fn for_a_person(
    loaded: &Loaded,
    to: &Workflow,
    migrate: &MigrateRun,
    role: Role,
) -> Option<OperationBlocker> {
    if Right::Decide.is_granted(role) {
        return None;
    }
    let named = migrate.states.iter().chain(&migrate.timers);
    if let Some((old, new)) = named.into_iter().find(|(old, new)| old != new) {
        let (old, new) = (old.clone(), new.clone());
        return Some(OperationBlocker::PersonRenames { old, new });
    }
    let requirements = [Part::Behavior, Part::Policy].into_iter();
    let changed = requirements.filter(|it| loaded.workflow.part_hash(*it) != to.part_hash(*it));
    let requirements: Vec<String> = changed.map(|it| it.name().to_owned()).collect();
    (!requirements.is_empty()).then_some(OperationBlocker::PersonMigrates { requirements })
}

/// The rows of another table that those of one are.
struct Counterparts<'p> {
    from: &'p Workflow,
    old: &'p Table,
    to: &'p Workflow,
    new: &'p Table,
    /// The states of the new table by name, which a table has once each.
    states: BTreeMap<&'p str, StateId>,
    migrate: &'p MigrateRun,
}

/// A migration while it is planned.
struct Planner<'p> {
    loaded: &'p Loaded,
    counterparts: Counterparts<'p>,
    obstacles: Vec<Obstacle>,
}

/// Returns the obstacles of runs of one table that are to go on under another.
///
/// That are all, whatever the runs stand on.
///
/// Each obstacle holds for the runs that stand on what it names: a state, a history, a timer, or a request that is open.
#[must_use]
pub fn obstacles_between(old: &Workflow, new: &Workflow) -> Vec<Obstacle> {
    let migrate = MigrateRun::default();
    let counterparts = Counterparts::new(old, new, &migrate);
    let table = old.table();
    let mut obstacles = Vec::new();
    for (id, row) in table.states() {
        let name = table.state_name(id);
        let found = match row.kind {
            StateKind::History | StateKind::DeepHistory => {
                counterparts.recorded(name, name).map(|_| ())
            }
            StateKind::Final => Ok(()),
            _ if table.is_leaf(id) => counterparts.leaf(name).map(|_| ()),
            _ => Ok(()),
        };
        obstacles.extend(found.err());
    }
    for (_, row) in table.timers() {
        let waits = |source| {
            let mut all = table.transitions();
            all.any(|(id, it)| {
                let state = table.state_name(it.source);
                table.triggers(id).contains(&row.event)
                    && counterparts.map_state(state).1 == Some(source)
            })
        };
        let found = counterparts.pending(table.text(row.name), waits);
        obstacles.extend(found.err());
    }
    for (id, _) in table
        .transitions()
        .filter(|(id, _)| old.requires_approval(*id))
    {
        for event in table.triggers(id) {
            let event = table.event_name(*event);
            if counterparts.waiting(event, id, |_| true).is_none() {
                obstacles.push(Obstacle {
                    what: "request",
                    name: event.to_owned(),
                    reason: format!(
                        "an approval of `{event}` is open, and the new table doesn't take the event as the old one does: decide it first"
                    ),
                });
            }
        }
    }
    obstacles
}

fn planned(loaded: &Loaded, to: &Workflow, migrate: &MigrateRun) -> MigrationPlan {
    let mut planner = Planner {
        loaded,
        counterparts: Counterparts::new(&loaded.workflow, to, migrate),
        obstacles: Vec::new(),
    };
    planner.mapping();
    let mut migrated = Migrated {
        from: loaded.workflow.hash(),
        to: to.hash(),
        workflow: (to.id() != loaded.state.workflow).then(|| to.id().to_owned()),
        invokes: BTreeMap::new(),
        invoking: invoking(to),
        mapping: migrate.states.clone(),
        leaves: Vec::new(),
        history: BTreeMap::new(),
        active: Vec::new(),
        timers: BTreeMap::new(),
        approvals: BTreeMap::new(),
        context: added(loaded, to),
    };
    if let Some(configuration) = planner.configuration() {
        let name = |id: &StateId| to.table().state_name(*id).to_owned();
        migrated.leaves = configuration.leaves().map(|id| name(&id)).collect();
        let history = configuration.history();
        let history = history.map(|(id, all)| (name(&id), all.iter().map(name).collect()));
        migrated.history = history.collect();
        let active = to.table().states().skip(1).map(|(id, _)| id);
        let active = active.filter(|id| configuration.is_active(to.table(), *id));
        migrated.active = active.map(|id| name(&id)).collect();
        migrated.timers = planner.timers(&configuration);
        migrated.approvals = planner.approvals(&configuration);
    }
    MigrationPlan {
        comparison: compare(&loaded.workflow, to),
        obstacles: planner.obstacles,
        migrated,
    }
}

/// Returns the context's fields that the new table starts with and the run doesn't have.
fn added(loaded: &Loaded, to: &Workflow) -> serde_json::Map<String, Value> {
    let initial = to.meta().get("context").and_then(Value::as_object);
    let initial = initial.into_iter().flatten();
    let absent = initial.filter(|(field, _)| loaded.state.context.get(field).is_none());
    absent
        .map(|(field, value)| (field.clone(), value.clone()))
        .collect()
}

impl<'p> Counterparts<'p> {
    fn new(from: &'p Workflow, to: &'p Workflow, migrate: &'p MigrateRun) -> Self {
        let new = to.table();
        // The first stands for the machine, which nobody names as a state.
        let states = new.states().skip(1);
        Self {
            from,
            old: from.table(),
            to,
            new,
            states: states.map(|(id, _)| (new.state_name(id), id)).collect(),
            migrate,
        }
    }

    fn map_state(&self, state: &str) -> (String, Option<StateId>) {
        let name = self.migrate.states.get(state);
        let name = name.map_or(state, String::as_str);
        (name.to_owned(), self.states.get(name).copied())
    }

    fn is_end(&self, new: StateId) -> bool {
        self.new
            .state(new)
            .is_some_and(|row| row.kind == StateKind::Final)
    }

    fn was_end(&self, state: &str) -> bool {
        let row = self
            .old
            .state_named(state)
            .and_then(|id| self.old.state(id));
        row.is_some_and(|row| row.kind == StateKind::Final)
    }

    /// Returns what an active state without states inside is in the new table.
    fn leaf(&self, leaf: &str) -> Result<StateId, Obstacle> {
        let reason = match self.map_state(leaf) {
            (name, Some(id)) if self.is_end(id) && !self.was_end(leaf) => format!(
                "`{leaf}` is active, and `{name}` is an end, where a run comes by its events alone: name another state, or cancel the run"
            ),
            (_, Some(id)) if self.new.is_leaf(id) => return Ok(id),
            (name, Some(_)) => {
                format!("`{leaf}` is active, and `{name}` has states inside: name one of them")
            }
            (_, None) => format!(
                "`{leaf}` is active, and the new table doesn't have it: name what it is there"
            ),
        };
        Err(obstacle("state", leaf, reason))
    }

    /// Returns what a state is there that a history has recorded, or the history itself.
    fn recorded(&self, history: &str, state: &str) -> Result<StateId, Obstacle> {
        self.map_state(state).1.ok_or_else(|| {
            let reason = format!(
                "`{state}` is what history `{history}` needs, and the new table doesn't have it: name what it is there"
            );
            obstacle("history", state, reason)
        })
    }

    /// Returns the new name of a pending timer, for which something active has to wait.
    fn pending(&self, old: &str, is_active: impl Fn(StateId) -> bool) -> Result<String, Obstacle> {
        let new = self.timer(old);
        let row = self.new.timer_named(&new).and_then(|id| self.new.timer(id));
        let waits = row.is_some_and(|row| {
            let mut all = self.new.transitions();
            all.any(|(id, transition)| {
                self.new.triggers(id).contains(&row.event) && is_active(transition.source)
            })
        });
        if waits {
            return Ok(new);
        }
        let reason = format!(
            "timer `{old}` is pending, and nothing active waits for `{new}` in the new table: name the timer that it is there"
        );
        Err(obstacle("timer", old, reason))
    }

    /// Returns a timer's new name: the given one, or that of its renamed state.
    fn timer(&self, old: &str) -> String {
        if let Some(new) = self.migrate.timers.get(old) {
            return new.clone();
        }
        let inner = old
            .strip_prefix("after.")
            .and_then(|it| it.rsplit_once('.'));
        let new = inner.and_then(|(state, number)| {
            let state = self.migrate.states.get(state)?;
            Some(format!("after.{state}.{number}"))
        });
        new.unwrap_or_else(|| old.to_owned())
    }

    /// Returns the transition of the new table that equals one of the old table.
    ///
    /// It has an equal event, condition, target and actions, and needs an approval, too: a person decides about what
    /// they look at.
    fn waiting(
        &self,
        event: &str,
        old: TransitionId,
        is_active: impl Fn(StateId) -> bool,
    ) -> Option<u16> {
        let row = self.old.transition(old)?;
        let (_, source) = self.map_state(self.old.state_name(row.source));
        let targets = self.old.targets(old).iter();
        let targets = targets.map(|id| self.map_state(self.old.state_name(*id)).1);
        let targets = targets.collect::<Option<Vec<StateId>>>()?;
        let event = self.new.event_named(event)?;
        let mut all = self.new.transitions();
        let found = all.find(|(id, transition)| {
            Some(transition.source) == source
                && is_active(transition.source)
                && self.new.triggers(*id).contains(&event)
                && self.new.targets(*id) == targets
                && self.from.requires_approval(old) == self.to.requires_approval(*id)
                && self.does_the_same(old, *id)
                && same_guard((self.old, old), (self.new, *id), |state| {
                    self.map_state(self.old.state_name(state)).1
                })
        });
        found.map(|(id, _)| id.raw())
    }

    /// Reports whether two transitions have equal actions.
    fn does_the_same(&self, old: TransitionId, new: TransitionId) -> bool {
        let (one, other) = (self.from, self.to);
        let of = |workflow: &Workflow, id| -> Vec<(String, Value)> {
            let table = workflow.table();
            let calls = table.transition(id).map(|row| table.calls(&row.calls));
            let actions = calls.unwrap_or_default().iter();
            let names = actions.map(|action| table.action_name(*action));
            let said = names.map(|name| (name.to_owned(), workflow.action_meta(name).clone()));
            said.collect()
        };
        of(one, old) == of(other, new)
    }
}

fn obstacle(what: &'static str, name: &str, reason: String) -> Obstacle {
    Obstacle {
        what,
        name: name.to_owned(),
        reason,
    }
}

impl Planner<'_> {
    fn obstacle(&mut self, what: &'static str, name: &str, reason: String) {
        self.obstacles.push(obstacle(what, name, reason));
    }

    /// Names that are no state's.
    fn mapping(&mut self) {
        for (old, new) in &self.counterparts.migrate.states {
            if self.counterparts.old.state_named(old).is_none() {
                let reason =
                    format!("`{old}` is to be `{new}`, but the run's table has no `{old}`");
                self.obstacle("mapping", old, reason);
            }
            if self.counterparts.new.state_named(new).is_none() {
                let reason = format!("`{old}` is to be `{new}`, which the new table doesn't have");
                self.obstacle("mapping", old, reason);
            }
        }
    }

    /// Returns the configuration in the new table.
    fn configuration(&mut self) -> Option<Configuration> {
        let mut leaves = Vec::new();
        for leaf in &self.loaded.state.leaves {
            match self.counterparts.leaf(leaf) {
                Ok(id) => leaves.push(id),
                Err(obstacle) => self.obstacles.push(obstacle),
            }
        }
        let mut slots = Vec::new();
        for (history, states) in &self.loaded.state.history {
            let mut all = Vec::new();
            for state in std::iter::once(history).chain(states) {
                match self.counterparts.recorded(history, state) {
                    Ok(id) => all.push(id),
                    Err(obstacle) => self.obstacles.push(obstacle),
                }
            }
            slots.push((history, all));
        }
        self.detours();
        if !self.obstacles.is_empty() {
            return None;
        }
        let mut configuration = match Configuration::from_leaves(self.counterparts.new, &leaves) {
            Ok(configuration) => configuration,
            Err(error) => {
                let name = self.loaded.state.leaves.join(", ");
                let reason = format!("the new table can't be in {name} at once: {error}");
                self.obstacle("configuration", &name, reason);
                return None;
            }
        };
        for (history, all) in slots {
            let (slot, states) = all.split_first()?;
            configuration = match configuration.record(self.counterparts.new, *slot, states) {
                Ok(configuration) => configuration,
                Err(error) => {
                    let reason = format!("`{history}` can't have recorded that there: {error}");
                    self.obstacle("history", history, reason);
                    return None;
                }
            };
        }
        Some(configuration)
    }

    /// Checks that the new table has the states that interrupts return to.
    fn detours(&mut self) {
        for leaf in self.loaded.state.detours.iter().flatten() {
            let (name, found) = self.counterparts.map_state(leaf);
            if found.is_none_or(|id| !self.counterparts.new.is_leaf(id)) {
                let reason = format!(
                    "`{leaf}` is what an interrupt comes back to, and the new table has no state `{name}` without states inside: name what it is there"
                );
                self.obstacle("detour", leaf, reason);
            }
        }
    }

    /// Returns the new names of the pending timers.
    fn timers(&mut self, configuration: &Configuration) -> BTreeMap<String, String> {
        let mut renamed = BTreeMap::new();
        for timer in &self.loaded.state.timers {
            let Some(old) = timer.name.strip_prefix("timer:") else {
                continue;
            };
            let is_active = |state| configuration.is_active(self.counterparts.new, state);
            match self.counterparts.pending(old, is_active) {
                Ok(new) if new != old => {
                    renamed.insert(old.to_owned(), new);
                }
                Ok(_) => {}
                Err(obstacle) => self.obstacles.push(obstacle),
            }
        }
        renamed
    }

    /// Returns the new numbers of the transitions that wait for an approval.
    fn approvals(&mut self, configuration: &Configuration) -> BTreeMap<String, Vec<u16>> {
        let mut all = BTreeMap::new();
        for request in self.loaded.state.open_requests() {
            let Some(waiting) = &request.opened.event else {
                continue;
            };
            let id = &request.opened.request;
            let old = waiting.transitions.iter();
            let is_active = |state| configuration.is_active(self.counterparts.new, state);
            let new = old.map(|number| {
                let old = TransitionId::new(*number);
                self.counterparts.waiting(&waiting.event, old, is_active)
            });
            match new.collect::<Option<Vec<u16>>>() {
                Some(new) if self.counterparts.new.event_named(&waiting.event).is_some() => {
                    all.insert(id.clone(), new);
                }
                _ => {
                    let event = &waiting.event;
                    let reason = format!(
                        "request `{id}` is open, and the new table doesn't take `{event}` as the run's does: decide it first"
                    );
                    self.obstacle("request", id, reason);
                }
            }
        }
        all
    }
}
