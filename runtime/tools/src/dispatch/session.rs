//! The policy of a client's session, for the tools that a client runs and no server sees.
//!
//! A hook in the client asks before a call and tells after it. Here a call is admitted if every run that holds the client's
//! session grants it and has room for it, by the functions that dispatch asks for tools of servers; it is the same record
//! in the run's journal.
//!
//! What to rely on: nothing is admitted by a run that can't be read. Who only observes is told what would have been refused.
//!
//! Deliberately not here: clients, and the JSON that they send.

use serde_json::Value;
use statemark_runs::policy::{Denial, Gating, StateEnvironment, Verdict};
use statemark_runs::{
    Actor, BindSession, Binding, DenyTool, EndSession, Hash, HoldSession, Loaded, Order,
    RecordCall, ReserveCall, ReserveOutcome, RunError, RunId, Runs, StoreError,
};

use super::authorize::{held_by_given_up, held_by_other};
use crate::OfAttempt;

/// A client's session, and the runs that hold it.
pub struct SessionPolicy<'r> {
    runs: &'r Runs,
    actor: Actor,
    project: Option<String>,
    /// The session's own name first, then those of the sessions that it was started from.
    names: Vec<String>,
    holding: Vec<RunId>,
    /// The run that somebody named for it.
    named: Option<RunId>,
    /// True if a call that policy refuses runs nevertheless.
    observes: bool,
    attempt: Option<OfAttempt>,
}

/// A call of an agent's own tool.
#[derive(Clone, Debug, Default)]
pub struct NativeCall {
    /// The tool, as the client names it.
    pub tool: String,
    /// The id of the call.
    pub id: String,
    /// Its arguments, with paths below the project's root.
    pub arguments: Value,
    /// The calls of other tools that it amounts to, if it does what several do.
    ///
    /// It is granted by its own name, or by those of all of them.
    pub uses: Vec<NativeUse>,
    /// The files that it says it changes.
    pub files: Vec<String>,
    /// True if no state has to grant it, and it doesn't count: it may still be disallowed.
    pub free: bool,
    /// The reason for which it may not run, whatever the states grant.
    pub forbidden: Option<String>,
}

/// One of the things that a call does, as a call of another tool.
#[derive(Clone, Debug)]
pub struct NativeUse {
    /// The tool.
    pub tool: &'static str,
    /// Its arguments.
    pub arguments: Value,
}

/// The answer to a call that may run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Admission {
    /// The reasons for which it would have been refused, if whoever asks only observes.
    pub observed: Vec<String>,
}

/// The answer to a call that may not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The run that refuses it.
    pub run: RunId,
    /// The reason, with the state, its grants, and the events that lead on.
    pub reason: String,
}

impl<'r> SessionPolicy<'r> {
    /// Finds the runs that hold a session.
    ///
    /// `named` is the run that somebody named for it, which holds it besides.
    ///
    /// # Errors
    ///
    /// The store can't be read, or the named run isn't there.
    pub fn new(
        runs: &'r Runs,
        actor: Actor,
        project: Option<String>,
        names: Vec<String>,
        named: Option<&RunId>,
    ) -> Result<Self, RunError> {
        let mut policy = Self {
            runs,
            actor,
            project,
            names,
            holding: Vec::new(),
            named: named.cloned(),
            observes: false,
            attempt: None,
        };
        policy.holding = runs.runs_holding(policy.binding())?;
        if let Some(named) = named {
            let loaded = runs.load(named)?;
            // Whoever was told which run to work in isn't held by those that nobody was told of.
            policy.holding = policy.runs_bound_to(&policy.names)?;
            let binds = !loaded.state.status().is_over() || loaded.state.holds;
            if binds && !policy.holding.contains(named) {
                policy.holding.push(named.clone());
            }
        }
        // Timers that are due may move a run.
        for run in &policy.holding {
            skip_pruned(runs.catch_up(run))?;
        }
        Ok(policy)
    }

    /// Lets calls that policy refuses run, and records that.
    #[must_use]
    pub const fn observing(mut self, observes: bool) -> Self {
        self.observes = observes;
        self
    }

    /// Sets the attempt of an executor that the session works for: its calls are the attempt's.
    #[must_use]
    pub fn for_attempt(mut self, attempt: Option<OfAttempt>) -> Self {
        self.attempt = attempt;
        self
    }

    fn binding(&self) -> Binding<'_> {
        Binding::Session(self.project.as_deref(), &self.names)
    }

    /// Reports whether a run holds the session.
    #[must_use]
    pub fn is_held(&self) -> bool {
        !self.holding.is_empty()
    }

    /// Loads the live runs that hold the session.
    ///
    /// # Errors
    ///
    /// One of them can't be read.
    pub fn live_runs(&self) -> Result<Vec<Loaded>, RunError> {
        let mut live = Vec::new();
        for run in &self.holding {
            if let Some(loaded) = skip_pruned(self.runs.load(run))?
                && !loaded.state.status().is_over()
            {
                live.push(loaded);
            }
        }
        Ok(live)
    }

    /// Returns the environment that the states of the session's live runs give to what is run in them.
    ///
    /// # Errors
    ///
    /// One of them can't be read.
    pub fn environment(&self) -> Result<StateEnvironment, RunError> {
        let runs = self.live_runs()?;
        Ok(runs.iter().map(Loaded::environment).collect())
    }

    /// Reports whether a call of this id runs, as one of the session's live runs has it.
    ///
    /// # Errors
    ///
    /// One of them can't be read.
    pub fn is_running(&self, id: &str) -> Result<bool, RunError> {
        let runs = self.live_runs()?;
        Ok(runs.iter().any(|it| it.state.running.contains(id)))
    }

    /// Returns the runs to which the session was bound itself: those that it is to bring to an end.
    ///
    /// # Errors
    ///
    /// One of them can't be read.
    pub fn own_runs(&self) -> Result<Vec<RunId>, RunError> {
        self.runs_bound_to(self.names.get(..1).unwrap_or_default())
    }

    fn runs_bound_to(&self, names: &[String]) -> Result<Vec<RunId>, RunError> {
        let mut bound = Vec::new();
        for run in &self.holding {
            let Some(loaded) = skip_pruned(self.runs.load(run))? else {
                continue;
            };
            let sessions = &loaded.state.sessions;
            let mut own = names.iter().filter_map(|name| sessions.get(name));
            if own.any(|session| !session.released && !session.loose) {
                bound.push(run.clone());
            }
        }
        Ok(bound)
    }

    /// Binds the session to a run, and to those that hold it already: a second run releases it from none.
    ///
    /// # Errors
    ///
    /// There is no such run, or a run can't be written.
    pub fn bind(&self, run: &RunId) -> Result<(), RunError> {
        let Some(session) = self.names.first() else {
            return Ok(());
        };
        for run in self.holding.iter().chain([run]) {
            let session = session.clone();
            let written = self
                .runs
                .execute(&self.order(run), &BindSession { session });
            skip_pruned(written)?;
        }
        Ok(())
    }

    /// Notes in each run that was bound to the session that the session has ended.
    ///
    /// # Errors
    ///
    /// A run can't be written.
    pub fn end_session(&self) -> Result<(), RunError> {
        let Some(session) = self.names.first() else {
            return Ok(());
        };
        for run in self.own_runs()? {
            let session = session.clone();
            let written = self
                .runs
                .execute(&self.order(&run), &EndSession { session });
            skip_pruned(written)?;
        }
        Ok(())
    }

    /// Admits a call, and takes a place for it in each live run that holds the session. Records a refusal.
    ///
    /// `lines` counts the lines that the call would change; it is asked only where a state limits them.
    ///
    /// # Errors
    ///
    /// The outer one says that a run can't be read or written; the inner one that the call may not run.
    pub fn admit(
        &self,
        call: &NativeCall,
        lines: &dyn Fn() -> u64,
    ) -> Result<Result<Admission, Refusal>, RunError> {
        let mut live = Vec::new();
        let mut observed = Vec::new();
        for run in &self.holding {
            let Some(loaded) = skip_pruned(self.runs.load(run))? else {
                continue;
            };
            self.keep_held(&loaded)?;
            let is_over = loaded.state.status().is_over();
            let mut reason = match &call.forbidden {
                Some(reason) => Some(reason.clone()),
                None => self.ungranted(&loaded, call)?,
            };
            if reason.is_none()
                && !is_over
                && loaded.check_edit(u64::MAX).is_err()
                && !call.files.is_empty()
            {
                reason = loaded.check_edit(lines()).err();
            }
            if let Some(reason) = &reason {
                if !self.observes {
                    return self.refuse(call, run, reason.clone()).map(Err);
                }
                observed.push(reason.clone());
            }
            if !is_over {
                live.push((run, reason));
            }
        }
        // What is free doesn't count, unless somebody wants to see that it would be refused.
        live.retain(|(_, ungranted)| !call.free || ungranted.is_some());
        for (run, ungranted) in live {
            let reserve = ReserveCall {
                tool: call.tool.clone(),
                call: Some(call.id.clone()),
                input: Some(input_hash(call)),
                files: call.files.clone(),
                observe: self.observes,
                ungranted,
            };
            let written = self.runs.execute(&self.order(run), &reserve)?;
            if let ReserveOutcome::No { reason } = written.outcome {
                let reason = self.name_run(run, reason);
                return Ok(Err(Refusal {
                    run: run.clone(),
                    reason,
                }));
            }
        }
        Ok(Ok(Admission { observed }))
    }

    /// Notes that a run holds the session, which it holds as it does all of its project.
    fn keep_held(&self, loaded: &Loaded) -> Result<(), RunError> {
        let sessions = &loaded.state.sessions;
        let is_known = self.names.iter().any(|name| sessions.contains_key(name));
        // A run that another one has invoked holds whom that one holds.
        let parent = loaded.state.parent.as_ref();
        let follows = parent.is_some_and(|parent| self.holding.contains(&parent.run));
        // Whoever was told which run to work in is held by what told it.
        let is_named = self.named.as_ref() == Some(&loaded.run);
        // A sub-agent ends before its session.
        let Some(session) = self
            .names
            .last()
            .filter(|_| !is_known && !follows && !is_named)
        else {
            return Ok(());
        };
        let session = session.clone();
        let held = self
            .runs
            .execute(&self.order(&loaded.run), &HoldSession { session });
        skip_pruned(held).map(drop)
    }

    /// Returns the reason for which the states of a run don't grant a call.
    fn ungranted(&self, loaded: &Loaded, call: &NativeCall) -> Result<Option<String>, RunError> {
        let Verdict::Deny(denial) = decide(loaded, call) else {
            return Ok(None);
        };
        if !loaded.state.status().is_over() {
            return Ok(Some(if self.holding.len() > 1 {
                held_by_other(loaded, denial).message
            } else {
                with_granting_states(denial)
            }));
        }
        if self.runs.is_replaced(loaded, self.binding())? {
            return Ok(None);
        }
        Ok(Some(held_by_given_up(loaded, &call.tool, denial).message))
    }

    fn refuse(&self, call: &NativeCall, run: &RunId, reason: String) -> Result<Refusal, RunError> {
        let denial = DenyTool {
            tool: call.tool.clone(),
            reason: reason.clone(),
        };
        let recorded = self.runs.execute(&self.order(run), &denial);
        skip_pruned(recorded)?;
        Ok(Refusal {
            run: run.clone(),
            reason,
        })
    }

    /// Names the run in a reason, if the session is held by several.
    fn name_run(&self, run: &RunId, reason: String) -> String {
        match self.holding.as_slice() {
            [_] => reason,
            _ => format!("run `{run}`: {reason}"),
        }
    }

    /// Records a call that has run. Returns the runs that it has moved, as they are now.
    ///
    /// # Errors
    ///
    /// A run can't be read or written.
    pub fn record(
        &self,
        call: &NativeCall,
        outcome: &NativeOutcome,
    ) -> Result<Vec<Loaded>, RunError> {
        let mut moved = Vec::new();
        for run in &self.holding {
            let Some(before) = skip_pruned(self.runs.load(run))? else {
                continue;
            };
            let knows = before.state.running.contains(&call.id);
            // What wasn't reserved counts nevertheless: it has run.
            if before.state.status().is_over() && !knows {
                continue;
            }
            let used = RecordCall {
                tool: call.tool.clone(),
                call: Some(call.id.clone()),
                failed: outcome.failed,
                milliseconds: outcome.milliseconds,
                input: Some(input_hash(call)),
                output: Some(outcome.bytes),
                files: if outcome.failed {
                    Vec::new()
                } else {
                    call.files.clone()
                },
            };
            let written = self.runs.execute(&self.order(run), &used)?;
            if written.loaded.state.leaves != before.state.leaves {
                moved.push(written.loaded);
            }
        }
        Ok(moved)
    }

    /// Returns the id of a call to which the client gave one.
    ///
    /// It holds for one tool with one input: whoever used it again would have another call run uncounted. `is_over` asks
    /// for the one that runs, whose input a client may have completed.
    ///
    /// # Errors
    ///
    /// A run can't be read.
    pub fn id_of(&self, id: &str, call: &NativeCall, is_over: bool) -> Result<String, RunError> {
        let content = format!("{} {}", call.tool, call.arguments);
        let hash = Hash::digest(content.as_bytes()).to_string();
        let own = format!("{id}:{}", hash.get(..8).unwrap_or(&hash));
        if !is_over {
            return Ok(own);
        }
        let live = self.live_runs()?;
        let running = || live.iter().flat_map(|it| &it.state.running);
        let is_of_id = |it: &&String| it.rsplit_once(':').is_some_and(|(its, _)| its == id);
        let found = running().find(|it| **it == own);
        Ok(found
            .or_else(|| running().find(is_of_id))
            .cloned()
            .unwrap_or(own))
    }

    /// Returns the id of a call of a client that gives calls no ids.
    ///
    /// The `n`th call of one session with the same arguments has a number; `is_over` asks for the one that runs.
    ///
    /// # Errors
    ///
    /// A run can't be read.
    pub fn make_id(&self, call: &NativeCall, is_over: bool) -> Result<String, RunError> {
        /// Most calls with the same arguments in one visit that are told apart. Unit: calls.
        const MOST: u32 = 10_000;
        let session = self.names.first().map_or("", String::as_str);
        let hash = input_hash(call).to_string();
        let hash = hash.get(..16).unwrap_or(&hash);
        let live = self.live_runs()?;
        let is_running = |id: &String| live.iter().any(|it| it.state.running.contains(id));
        let is_counted = |id: &String| {
            let mut visits = live.iter().flat_map(|it| it.state.visits.values());
            visits.any(|visit| visit.calls.contains(id))
        };
        let ids = (1..=MOST).map(|number| format!("{session}/{}/{hash}/{number}", call.tool));
        let mut last = String::new();
        for id in ids {
            let (runs, counts) = (is_running(&id), is_counted(&id));
            if if is_over { runs } else { !runs && !counts } {
                return Ok(id);
            }
            if is_over && !counts {
                return Ok(id);
            }
            last = id;
        }
        Ok(last)
    }

    fn order(&self, run: &RunId) -> Order {
        let attempt = self.attempt.as_ref().filter(|attempt| attempt.run == *run);
        Order {
            fence: attempt.map(|it| it.fence),
            attempt: attempt.map(|it| it.number),
            ..Order::new(run.clone(), self.actor.clone())
        }
    }
}

/// The outcome of a call that has run.
#[derive(Clone, Copy, Debug, Default)]
pub struct NativeOutcome {
    /// True if it failed.
    pub failed: bool,
    /// The duration. Unit: milliseconds.
    pub milliseconds: Option<u64>,
    /// The size of what the agent got. Unit: bytes.
    pub bytes: u64,
}

/// Decides whether the active states grant a call.
///
/// One that does what several tools do is granted by its own name, or by those of all of them. What disallows one of the
/// names wins.
fn decide(loaded: &Loaded, call: &NativeCall) -> Verdict {
    let own = loaded.may_use(&call.tool, Gating::Counted, &call.arguments);
    let uses = call.uses.iter();
    let uses = uses.map(|it| loaded.may_use(it.tool, Gating::Counted, &it.arguments));
    let mut denials = uses.filter_map(|verdict| match verdict {
        Verdict::Deny(denial) => Some(denial),
        Verdict::Allow => None,
    });
    match own {
        Verdict::Deny(denial) if call.free && denial.code == "not_granted" => Verdict::Allow,
        Verdict::Deny(denial) if call.uses.is_empty() || denial.code != "not_granted" => {
            Verdict::Deny(denial)
        }
        Verdict::Deny(_) => denials.next().map_or(Verdict::Allow, Verdict::Deny),
        Verdict::Allow => {
            let forbidden = denials.find(|denial| denial.code != "not_granted");
            forbidden.map_or(Verdict::Allow, Verdict::Deny)
        }
    }
}

/// Returns the reason of a denial, with the states that would grant the call.
fn with_granting_states(denial: Denial) -> String {
    let Denial {
        reason, granted_in, ..
    } = denial;
    let states: Vec<String> = granted_in.iter().map(|it| format!("`{it}`")).collect();
    match states.as_slice() {
        [] => reason,
        states => format!("{reason} (granted in {})", states.join(", ")),
    }
}

fn input_hash(call: &NativeCall) -> Hash {
    Hash::digest(call.arguments.to_string().as_bytes())
}

/// Takes a run that was pruned a moment ago for none.
fn skip_pruned<T>(loaded: Result<T, RunError>) -> Result<Option<T>, RunError> {
    match loaded {
        Ok(loaded) => Ok(Some(loaded)),
        Err(RunError::Store(StoreError::NotFound { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}
