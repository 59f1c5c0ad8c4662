//! Bindings: the runs that hold a caller, so that no second run widens what the first one grants.
//!
//! An agent with a token is bound to the runs that it has started or acted on. Agents without one can't be told apart: they
//! are one caller for each project, bound to the project's runs. A run binds while it is live, and after an agent has given
//! it up where its states restrict tools ([`RunState::holds`](crate::RunState::holds)).
//!
//! What to rely on: nothing is remembered that the store doesn't say. Who has acted on a run is in its journal, so neither
//! another connection nor another server shakes a binding off. The index here is read from summaries once, and follows
//! what has changed since; a call costs one look at the store's changes, however many runs there are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use statemark_runtime::Part;

use super::{Loaded, RunError, Runs};
use crate::actor::{Actor, Role};
use crate::id::RunId;
use crate::state::{ANY_CALLER, Status};
use crate::store::{Head, MAX_PAGE, Query, Store, StoreError, Watermark, for_each_head, list_all};

/// The statuses of runs that bind their callers. Of cancelled and failed ones those do that hold.
const BINDING: [Status; 5] = [
    Status::Running,
    Status::Waiting,
    Status::Paused,
    Status::Cancelled,
    Status::Failed,
];

/// The time after which a session that has done nothing may have ended. Unit: milliseconds.
///
/// Why: not every client says when a session ends. Until then the run holds no other session of its project.
pub const SESSION_LAPSE: u64 = 60 * 60 * 1_000;

/// Most pages of changes that a look takes in.
///
/// Why: others write meanwhile, and what was there before is among the first.
const MAX_PAGES: usize = 1_000;

/// Most runs that are followed from one to the run that has invoked it. Unit: runs.
const MAX_DEPTH: usize = 32;

/// The identity under which runs hold an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding<'c> {
    /// The holder of a token, by the token's name.
    Token(&'c str),
    /// Everybody without a token who works on a project; on any, if none is known.
    Project(Option<&'c str>),
    /// A client's session in a project, by the names of its own and of those that it was started from.
    Session(Option<&'c str>, &'c [String]),
}

impl Binding<'_> {
    fn binds(self, head: &Head) -> bool {
        let summary = &head.summary;
        match self {
            Self::Token(name) => {
                let mut callers = summary.callers.iter();
                callers.any(|it| it == name || it == ANY_CALLER)
            }
            Self::Project(project) => project.is_none() || summary.project.as_deref() == project,
            Self::Session(project, names) => {
                Self::Project(project).binds(head) && holds(head, names) == Some(true)
            }
        }
    }
}

/// The runs that bind callers, as they were read last.
#[derive(Default)]
pub(super) struct Bindings(Mutex<Option<Index>>);

/// The facts about a run that binds.
struct Bound {
    project: Option<String>,
    callers: Vec<String>,
}

/// The runs that bind, by caller.
#[derive(Default)]
struct Index {
    /// The changes that it has taken in.
    seen: Watermark,
    runs: BTreeMap<RunId, Bound>,
    by_project: BTreeMap<Option<String>, BTreeSet<RunId>>,
    by_name: BTreeMap<String, BTreeSet<RunId>>,
}

impl Index {
    /// Reads the runs of a store.
    fn read(store: &dyn Store) -> Result<Self, StoreError> {
        // What changes while the list is read is taken in afterwards.
        let (seen, _) = store.changes(&Watermark::END)?;
        let mut index = Self {
            seen,
            ..Self::default()
        };
        let query = Query {
            statuses: BINDING.map(|it| it.name().to_owned()).to_vec(),
            ..Query::default()
        };
        for_each_head(store, query, |head| index.put(&head))?;
        Ok(index)
    }

    /// Takes in what has changed.
    fn follow(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        for _ in 0..MAX_PAGES {
            let (seen, hints) = store.changes(&self.seen)?;
            self.seen = seen;
            if hints.is_empty() {
                break;
            }
            for hint in hints {
                match store.head(&hint.run) {
                    Ok(head) => self.put(&head),
                    Err(StoreError::NotFound { .. }) => self.remove(&hint.run),
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    fn put(&mut self, head: &Head) {
        let summary = &head.summary;
        if let Some(known) = self.runs.get(&head.run)
            && is_binding(head)
            && known.project == summary.project
            && known.callers == summary.callers
        {
            return;
        }
        self.remove(&head.run);
        if !is_binding(head) {
            return;
        }
        let bound = Bound {
            project: summary.project.clone(),
            callers: summary.callers.clone(),
        };
        let of_project = self.by_project.entry(bound.project.clone()).or_default();
        of_project.insert(head.run.clone());
        for name in &bound.callers {
            let of_name = self.by_name.entry(name.clone()).or_default();
            of_name.insert(head.run.clone());
        }
        self.runs.insert(head.run.clone(), bound);
    }

    fn remove(&mut self, run: &RunId) {
        let Some(bound) = self.runs.remove(run) else {
            return;
        };
        remove_from(&mut self.by_project, &bound.project, run);
        for name in &bound.callers {
            remove_from(&mut self.by_name, name, run);
        }
    }

    /// Returns the runs that hold a caller, by their ids.
    fn runs_of(&self, caller: Binding<'_>) -> Vec<RunId> {
        let runs: BTreeSet<&RunId> = match caller {
            Binding::Project(None) => self.runs.keys().collect(),
            Binding::Project(Some(project)) => {
                let runs = self.by_project.get(&Some(project.to_owned()));
                runs.into_iter().flatten().collect()
            }
            // Sessions are asked for by those who are told of them alone.
            Binding::Session(..) => BTreeSet::new(),
            Binding::Token(name) => {
                let own = [name, ANY_CALLER].map(|name| self.by_name.get(name));
                own.into_iter().flatten().flatten().collect()
            }
        };
        runs.into_iter().cloned().collect()
    }
}

/// Reports whether a run holds one of the sessions; nothing if it knows none of them.
fn holds(head: &Head, names: &[String]) -> Option<bool> {
    let sessions = &head.summary.sessions;
    let known = names.iter().filter_map(|name| sessions.get(name));
    let known = known.map(|session| !session.released);
    let any = sessions.get(ANY_CALLER).filter(|any| !any.released);
    let known = known.reduce(|one, other| one || other);
    known.or(any.map(|_| true))
}

/// Reports whether a run leaves other sessions alone: it holds one that has done something lately.
///
/// To be bound is no deed: an agent could bind a session that doesn't exist, and go on unheld.
fn is_taken(head: &Head, now: u64) -> bool {
    let sessions = head.summary.sessions.values();
    let mut held = sessions.filter(|it| !it.released && !it.loose && it.acted);
    held.any(|session| now.saturating_sub(session.seen) < SESSION_LAPSE)
}

/// Returns the runs that hold a client's session.
///
/// Those that know it, with the runs that they have invoked; where there are none, those of the project that no other
/// session drives. A run from which a person has released the session doesn't hold it.
fn runs_of_session(heads: &[Head], names: &[String], now: u64) -> Vec<RunId> {
    let by_id: BTreeMap<&RunId, &Head> = heads.iter().map(|head| (&head.run, head)).collect();
    // Whoever drives a run drives those that it has invoked.
    let outer = |head| {
        let mut outer: &Head = head;
        for _ in 0..MAX_DEPTH {
            let parent = outer.summary.parent.as_ref();
            match parent.and_then(|parent| by_id.get(parent)) {
                Some(parent) if outer.summary.sessions.is_empty() => outer = parent,
                _ => break,
            }
        }
        outer
    };
    let all: Vec<(&RunId, &Head)> = heads.iter().map(|it| (&it.run, outer(it))).collect();
    let own = all.iter();
    let own = own.filter(|(_, outer)| holds(outer, names) == Some(true));
    let own: Vec<RunId> = own.map(|(run, _)| (*run).clone()).collect();
    if !own.is_empty() {
        return own;
    }
    let free = all.iter();
    let free = free.filter(|(_, outer)| holds(outer, names).is_none() && !is_taken(outer, now));
    free.map(|(run, _)| (*run).clone()).collect()
}

/// Reports whether a run binds its callers.
fn is_binding(head: &Head) -> bool {
    let summary = &head.summary;
    let is_over = ["completed", "failed", "cancelled"].contains(&summary.status.as_str());
    !is_over || summary.holds
}

/// Removes a run from a set by key, and the set if nothing is left in it.
fn remove_from<K: Ord>(sets: &mut BTreeMap<K, BTreeSet<RunId>>, key: &K, run: &RunId) {
    if let Some(runs) = sets.get_mut(key) {
        runs.remove(run);
        if runs.is_empty() {
            sets.remove(key);
        }
    }
}

impl Runs {
    /// Returns the runs that hold a caller: a tool that states can restrict needs the grant of each.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    pub fn runs_holding(&self, caller: Binding<'_>) -> Result<Vec<RunId>, RunError> {
        if let Binding::Session(project, names) = caller {
            return self.runs_holding_session(project, names);
        }
        let Bindings(index) = &self.bindings;
        let mut index = index.lock().unwrap_or_else(PoisonError::into_inner);
        let store = self.store();
        let index = match &mut *index {
            Some(index) => {
                index.follow(store)?;
                index
            }
            none => none.insert(Index::read(store)?),
        };
        Ok(index.runs_of(caller))
    }

    /// Returns the runs that hold a client's session, by their ids.
    ///
    /// Read anew each time: a hook is a process of its own, and asks once.
    fn runs_holding_session(
        &self,
        project: Option<&str>,
        names: &[String],
    ) -> Result<Vec<RunId>, RunError> {
        let query = Query {
            statuses: BINDING.map(|it| it.name().to_owned()).to_vec(),
            project: project.map(str::to_owned),
            ..Query::default()
        };
        let mut heads = list_all(self.store(), query)?;
        heads.retain(is_binding);
        heads.sort_by(|one, other| one.run.cmp(&other.run));
        Ok(runs_of_session(&heads, names, self.now()))
    }

    /// Reports whether a caller has begun again what an agent gave up.
    ///
    /// A later run with the same behavior and policy has taken its place: the caller is held by that one, or has completed
    /// it, or a person has cancelled it.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    pub fn is_replaced(&self, given_up: &Loaded, caller: Binding<'_>) -> Result<bool, RunError> {
        let statuses = Status::ALL.into_iter().filter(|it| *it != Status::Failed);
        let query = Query {
            statuses: statuses.map(|it| it.name().to_owned()).collect(),
            workflow: Some(given_up.state.workflow.clone()),
            limit: MAX_PAGE,
            ..Query::default()
        };
        let heads = self.store().list(&query)?.heads;
        let later = heads.into_iter().filter(|head| {
            let is_same_project = head.summary.project == given_up.state.project;
            head.created >= given_up.state.updated && is_same_project && caller.binds(head)
        });
        for head in later {
            let later = self.load(&head.run)?;
            let by_other = |by: &Actor| by.role != Role::Person;
            if later.state.cancelled_by.as_ref().is_some_and(by_other) {
                continue;
            }
            let workflow = &later.workflow;
            let is_same = |part| workflow.part_hash(part) == given_up.workflow.part_hash(part);
            if is_same(Part::Behavior) && is_same(Part::Policy) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
