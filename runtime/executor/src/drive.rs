//! Driving a run: attempt after attempt, until it ends or waits for somebody, under its lease.
//!
//! Regions of a run are worked on side by side, each by an attempt of its own, and so are the runs below it. The lease is
//! renewed as long as this process can say so; one that was stopped for longer finds another's fence, and writes nothing
//! any more.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use statemark_runs::body::AttemptOutcome;
use statemark_runs::runs::{
    EndAttempt, StartAttempt, TakeCheckpoint, WorktreeEnd, end_worktree, open_worktree,
};
use statemark_runs::state::AttemptState;
use statemark_runs::{
    Actor, Lease, Loaded, Order, Role, RunError, RunId, Status, StoreError, WaitingFor,
    acquire_lease, release_lease, renew_lease,
};
use statemark_tools::{Caller, Credential, Dispatcher, OfAttempt, Problem, Stop, Work, Worked};
use tokio::runtime::Handle;

use crate::attempt::{Attempt, End, LOOK, of_system};
use crate::below::Below;
use crate::budget::{accounts, over_visit};
use crate::happening::{Happened, Happening, Observer};
use crate::model::choose_rung;
use crate::plan::{Assignment, Plan, Who, plan};
use crate::prompt::{BUDGET, Prompt, Voice, assemble};
use crate::settings::{Checkpoints, Settings, ToolStyle};
use crate::slots::{Slot, Slots, Turn};
use crate::surroundings::Surroundings;
use crate::workspace::{branches_below, describe_workspace, take_in, take_in_others};

/// The code of the problem that another executor works on a run.
pub const LEASED: &str = "leased";

/// The code of the problem that nothing can work on a run here, so that no attempt is begun.
///
/// It has no worktree, though its workflow says that it works in one; or no program may have what opens the store.
pub(crate) const UNWORKABLE: &str = "unworkable";

/// The number of drives that this process has begun.
static DRIVES: AtomicU64 = AtomicU64::new(0);

/// The parts that an executor works with.
#[derive(Clone, Copy)]
pub(crate) struct Driver<'d> {
    pub(crate) dispatcher: &'d Dispatcher,
    pub(crate) tokio: &'d Handle,
    pub(crate) settings: &'d Settings,
    pub(crate) surroundings: &'d Surroundings,
    /// The beginning of the names under which leases are taken.
    pub(crate) owner: &'d str,
    /// The attempts that this process makes at once.
    pub(crate) slots: &'d Slots,
    /// The most runs that are driven at once, and runs below one.
    pub(crate) parallel: usize,
    /// True once everything is to end now.
    pub(crate) is_cancelled: &'d (dyn Fn() -> bool + Sync),
    /// True once no further attempt is to begin.
    pub(crate) is_draining: &'d (dyn Fn() -> bool + Sync),
    pub(crate) observe: Observer<'d>,
}

/// A message from a thread of a drive.
enum Message {
    /// An attempt in a state has ended.
    Ended {
        state: String,
        end: Result<End, RunError>,
    },
    /// A run below was driven as far as it goes.
    Driven {
        run: RunId,
        worked: Result<Worked, NotDriven>,
    },
    /// A slot may be free for this drive.
    Turn,
}

/// The reason why a run wasn't driven.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NotDriven {
    /// Another executor has its lease.
    Leased {
        run: RunId,
        /// The name under which that one has it.
        holder: String,
        /// The end of the lease. Unit: milliseconds since 1970.
        until: u64,
    },
    /// A failure to read or write it.
    Failed(Problem),
}

impl From<RunError> for NotDriven {
    fn from(error: RunError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<Problem> for NotDriven {
    fn from(problem: Problem) -> Self {
        Self::Failed(problem)
    }
}

impl From<NotDriven> for Problem {
    fn from(not_driven: NotDriven) -> Self {
        match not_driven {
            NotDriven::Leased { run, holder, until } => {
                let message = format!(
                    "another executor works on `{run}`: `{holder}`, whose lease is prolonged until {} now",
                    time_of(until)
                );
                Self::new(LEASED, message)
            }
            NotDriven::Failed(problem) => problem,
        }
    }
}

/// The room for an attempt, by what was used and tried before.
enum Room {
    /// Enough: it may begin.
    Free,
    /// A limit of the run is reached, and its machine was told.
    Reached,
    /// A limit of a run above is reached: here nothing is to be done.
    Above(String),
}

/// Writes a time. Unit of the argument: milliseconds since 1970.
pub(crate) fn time_of(milliseconds: u64) -> String {
    // The last second of the year 9999: what a damaged row says mustn't end the program.
    let seconds = (milliseconds / 1_000).min(253_402_300_799);
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(seconds)).to_string()
}

impl Driver<'_> {
    /// Drives a run as far as executors can.
    ///
    /// # Errors
    ///
    /// Somebody else drives it; it can't be read or written.
    pub(crate) fn drive(&self, work: &Work, until: Option<&str>) -> Result<Worked, NotDriven> {
        let mut parts = work
            .workdir
            .iter()
            .flat_map(|it| Path::new(it).components());
        if parts.any(|part| !matches!(part, Component::Normal(_) | Component::CurDir)) {
            return Err(Problem::argument("workdir", "it leads out of the project").into());
        }
        self.drive_when_free(work, until)
    }

    /// Drives a run once its lease is free, unless somebody prolongs it.
    ///
    /// An executor that was killed leaves its lease behind, and nobody can tell that from outside: one that is at work
    /// prolongs it.
    fn drive_when_free(&self, work: &Work, until: Option<&str>) -> Result<Worked, NotDriven> {
        let mut first = None;
        loop {
            let leased = match self.drive_at(work, until, 0) {
                Err(leased @ NotDriven::Leased { .. }) => leased,
                worked => return worked,
            };
            let is_other = first.as_ref().is_some_and(|first| *first != leased);
            if is_other || (self.is_cancelled)() || (self.is_draining)() {
                return Err(leased);
            }
            if first.is_none() {
                self.observe_wait(&leased)?;
                first = Some(leased);
            }
            thread::sleep(LOOK);
        }
    }

    /// Tells whoever watches for whom a drive waits.
    fn observe_wait(&self, leased: &NotDriven) -> Result<(), NotDriven> {
        if let NotDriven::Leased { run, holder, until } = leased {
            let loaded = self.dispatcher.runs().load(run)?;
            (self.observe)(&Happened {
                run: run.clone(),
                state: loaded.state.leaves.join(", "),
                attempt: loaded.state.attempted,
                what: Happening::Waits {
                    holder: holder.clone(),
                    until: *until,
                },
            });
        }
        Ok(())
    }

    pub(crate) fn drive_at(
        &self,
        work: &Work,
        until: Option<&str>,
        depth: usize,
    ) -> Result<Worked, NotDriven> {
        let runs = self.dispatcher.runs();
        let milliseconds = crate::model::milliseconds(self.settings.lease());
        // A worker and a call of a tool, in one process, are two.
        let owner = format!("{}-{}", self.owner, DRIVES.fetch_add(1, Ordering::Relaxed));
        let lease = acquire_lease(runs, &work.run, &owner, milliseconds);
        let lease = lease.map_err(|error| match error {
            RunError::Store(StoreError::Busy {
                by,
                until: Some(until),
            }) => NotDriven::Leased {
                run: work.run.clone(),
                holder: by,
                until,
            },
            error => error.into(),
        })?;
        let before = runs.load(&work.run)?.state.attempted;
        let usage = runs.load(&work.run)?.state.usage.clone();
        let is_lost = AtomicBool::new(false);
        let is_done = AtomicBool::new(false);
        // What was done in runs under it.
        let mut below = Below::at(depth);
        let stopped = thread::scope(|scope| {
            scope.spawn(|| self.renew(&lease, &is_lost, &is_done));
            let stopped = self.go_on(work, until, &lease, (&is_lost, &mut below));
            is_done.store(true, Ordering::Release);
            stopped
        });
        let ended = match &stopped {
            Ok((Stop::Ended, _)) => self.end_workspace(&work.run),
            _ => Ok(()),
        };
        drop(release_lease(runs, &lease));
        let (stop, reason) = stopped?;
        ended?;
        let state = &runs.load(&work.run)?.state;
        let cost = state.usage.cost;
        let below = below.worked;
        Ok(Worked {
            stopped: stop,
            reason,
            attempts: (state.attempted.saturating_sub(before)).saturating_add(below.attempts),
            input_tokens: (state.usage.input_tokens.saturating_sub(usage.input_tokens))
                .saturating_add(below.input_tokens),
            output_tokens: (state
                .usage
                .output_tokens
                .saturating_sub(usage.output_tokens))
            .saturating_add(below.output_tokens),
            cost: cost
                .map(|cost| cost.saturating_sub(usage.cost.unwrap_or_default()))
                .map(|cost| cost.saturating_add(below.cost.unwrap_or_default()))
                .or(below.cost),
        })
    }

    /// Renews a lease until the work is done, or the lease is another's.
    fn renew(&self, lease: &Lease, is_lost: &AtomicBool, is_done: &AtomicBool) {
        let time = self.settings.lease();
        let mut renewed = Instant::now();
        while !is_done.load(Ordering::Acquire) {
            thread::sleep(LOOK.min(time / 6));
            if renewed.elapsed() < time / 3 {
                continue;
            }
            let milliseconds = crate::model::milliseconds(time);
            match renew_lease(self.dispatcher.runs(), lease, milliseconds) {
                Ok(_) => renewed = Instant::now(),
                // A store that is away for a moment may be back before the lease is over.
                Err(RunError::Store(error))
                    if !matches!(error, StoreError::Busy { .. }) && renewed.elapsed() < time => {}
                Err(error) => {
                    tracing::warn!(run = %lease.run, "the lease is lost: {error}");
                    is_lost.store(true, Ordering::Release);
                    return;
                }
            }
        }
    }

    /// Makes attempts until none can be made. Returns the reason.
    fn go_on(
        &self,
        work: &Work,
        until: Option<&str>,
        lease: &Lease,
        (is_lost, below): (&AtomicBool, &mut Below),
    ) -> Result<(Stop, String), Problem> {
        let is_ended = || (self.is_cancelled)() || is_lost.load(Ordering::Acquire);
        let (sender, receiver) = mpsc::channel::<Message>();
        let mut busy: BTreeSet<String> = BTreeSet::new();
        let mut not_before: BTreeMap<String, Instant> = BTreeMap::new();
        let mut turns: BTreeMap<String, Turn<'_>> = BTreeMap::new();
        // The reason why a run above lets nothing more begin.
        let mut above: Option<String> = None;
        self.end_lost(&work.run, lease)?;
        thread::scope(|scope| {
            loop {
                let loaded = self.dispatcher.runs().catch_up(&work.run)?;
                let planned = plan(&loaded, self.settings, work);
                let stop = self.stop(&loaded, until, &is_ended, is_lost);
                let stop = stop.or_else(|| above.clone().map(|it| (Stop::Waiting, it)));
                if busy.is_empty()
                    && below.is_idle()
                    && let Some(stop) = stop
                {
                    return Ok(stop);
                }
                let mut is_spent = false;
                let now = Instant::now();
                let ready: Vec<Assignment> = planned.ready.clone();
                turns
                    .retain(|state, _| stop.is_none() && ready.iter().any(|it| it.state == *state));
                for assignment in ready {
                    let is_early = not_before
                        .get(&assignment.state)
                        .is_some_and(|it| *it > now);
                    // Whoever has moved the run may still say its last words, and write its last files.
                    let is_awaited = busy
                        .iter()
                        .any(|former| follows(&loaded, &assignment.state, former));
                    let is_busy = busy.contains(&assignment.state) || is_awaited;
                    if stop.is_some() || is_early || is_busy {
                        continue;
                    }
                    let Some(slot) = self.try_slot(&mut turns, &assignment.state, &sender) else {
                        continue;
                    };
                    match self.spend(&loaded, &assignment, lease)? {
                        Room::Free => {}
                        Room::Reached => {
                            is_spent = true;
                            break;
                        }
                        Room::Above(reason) => {
                            above = Some(reason);
                            is_spent = true;
                            break;
                        }
                    }
                    self.prepare(&work.run, &assignment, lease)?;
                    busy.insert(assignment.state.clone());
                    let (sender, is_ended) = (sender.clone(), &is_ended);
                    scope.spawn(move || {
                        let end = self.attempt(work, &assignment, lease, is_ended);
                        drop(slot);
                        let state = assignment.state;
                        // Whoever waits for it has gone only if this scope is over.
                        drop(sender.send(Message::Ended { state, end }));
                    });
                }
                if is_spent {
                    continue;
                }
                let works = match stop {
                    Some(_) => Vec::new(),
                    None => self.begin_below(below, work, &loaded),
                };
                for work in works {
                    let (sender, depth) = (sender.clone(), below.depth);
                    scope.spawn(move || {
                        let worked = self.drive_at(&work, None, depth + 1);
                        let run = work.run;
                        drop(sender.send(Message::Driven { run, worked }));
                    });
                }
                let waits = planned.ready.iter().any(|it| !busy.contains(&it.state));
                if busy.is_empty() && below.is_idle() && !waits {
                    return Ok(below
                        .wait(&loaded)
                        .unwrap_or_else(|| idle(&loaded, &planned)));
                }
                match receiver.recv_timeout(LOOK) {
                    Ok(Message::Turn) => {}
                    Ok(Message::Driven { run, worked }) => {
                        self.end_below(below, &work.run, run, worked)?;
                    }
                    Ok(Message::Ended { state, end }) => {
                        busy.remove(&state);
                        match end {
                            Ok(end) => {
                                let failures = self.failures(&work.run, &state)?;
                                if end.outcome == AttemptOutcome::Unavailable {
                                    let wait = self.settings.retry_wait();
                                    let wait = wait.saturating_mul(1 << failures.min(6));
                                    not_before.insert(state, Instant::now() + wait);
                                }
                            }
                            Err(RunError::Store(StoreError::Fenced { .. })) => {
                                is_lost.store(true, Ordering::Release);
                            }
                            Err(error) => return Err(error.into()),
                        }
                    }
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
                }
            }
        })
    }

    /// Records the end of attempts whose executor is gone.
    ///
    /// Whoever made them had the lease, which is this one's now. Nobody else would end those in states that the run has left,
    /// and one that is still open counts towards no limit.
    fn end_lost(&self, run: &RunId, lease: &Lease) -> Result<(), Problem> {
        let runs = self.dispatcher.runs();
        let loaded = runs.catch_up(run)?;
        let attempts = loaded.state.attempts.iter();
        for (number, _) in attempts.filter(|(_, it)| it.ended.is_none()) {
            let order = Order {
                attempt: Some(*number),
                ..self.order(run, lease, "executor")
            };
            let lost = EndAttempt {
                outcome: AttemptOutcome::Lost,
                reason: None,
            };
            runs.execute(&order, &lost)?;
        }
        Ok(())
    }

    /// Returns the reason to begin no further attempt, if there is one.
    fn stop(
        &self,
        loaded: &Loaded,
        until: Option<&str>,
        is_ended: &dyn Fn() -> bool,
        is_lost: &AtomicBool,
    ) -> Option<(Stop, String)> {
        let state = &loaded.state;
        if state.status().is_over() {
            let reason = format!("the run has {}", past(state.status()));
            return Some((Stop::Ended, reason));
        }
        if let Some(until) = until.filter(|until| state.is_active(until)) {
            return Some((Stop::Reached, format!("the run is in `{until}`")));
        }
        if is_lost.load(Ordering::Acquire) {
            let reason = "another executor has taken over".to_owned();
            return Some((Stop::Cancelled, reason));
        }
        if is_ended() || (self.is_draining)() {
            return Some((Stop::Cancelled, "the executor was ended".to_owned()));
        }
        if let Some(reason) = &state.paused {
            let reason = if reason.is_empty() {
                "the run is paused".to_owned()
            } else {
                reason.clone()
            };
            return Some((Stop::Paused, reason));
        }
        None
    }

    /// Makes ready what an attempt needs: the worktree, if the state is worked on in one.
    fn prepare(&self, run: &RunId, assignment: &Assignment, lease: &Lease) -> Result<(), Problem> {
        if self.surroundings.store.is_none() && !matches!(assignment.who, Who::Model(_)) {
            let message = format!(
                "`{run}` can't be worked on: a program would get the password of the store, with which it could decide. A \
                 certificate, or `~/.pgpass` of the user that it runs as, opens the store without one in the address or in \
                 `PGPASSWORD`"
            );
            return Err(Problem::new(UNWORKABLE, message));
        }
        let runs = self.dispatcher.runs();
        let order = self.order(run, lease, "executor");
        let loaded = runs.load(run)?;
        take_in_others(runs, &loaded)?;
        match open_worktree(runs, &order, &loaded, &assignment.state) {
            Ok(_) => Ok(()),
            Err(RunError::Git(error)) => {
                let message = format!("`{run}` can't be worked on: {error}");
                Err(Problem::new(UNWORKABLE, message))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Does with the worktrees of a run that is over what its workflow says, and tells whoever watches.
    fn end_workspace(&self, run: &RunId) -> Result<(), Problem> {
        let loaded = self.dispatcher.runs().load(run)?;
        for made in loaded.worktrees() {
            // The run is over either way: a worktree that can't be removed stays.
            let end = end_worktree(&loaded, made).unwrap_or_else(|error| {
                tracing::warn!(run = %run, "its worktree stays: {error}");
                WorktreeEnd::KeptFor(error.to_string())
            });
            let (is_removed, stays_because) = match end {
                WorktreeEnd::Removed => (true, None),
                WorktreeEnd::KeptFor(reason) => (false, Some(reason)),
                WorktreeEnd::Kept => (false, None),
            };
            (self.observe)(&Happened {
                run: run.clone(),
                state: loaded.state.leaves.join(", "),
                attempt: loaded.state.attempted,
                what: Happening::LeftWork {
                    branch: made.branch.clone(),
                    folder: (!is_removed).then(|| made.folder.clone()),
                    stays_because,
                },
            });
        }
        Ok(())
    }

    /// Takes a slot for an attempt in a state, if it is the state's turn.
    fn try_slot<'s>(
        &'s self,
        turns: &mut BTreeMap<String, Turn<'s>>,
        state: &str,
        sender: &Sender<Message>,
    ) -> Option<Slot<'s>> {
        let turn = turns.entry(state.to_owned()).or_insert_with(|| {
            let sender = sender.clone();
            self.slots
                .stand_in_line(move || drop(sender.send(Message::Turn)))
        });
        let slot = turn.try_take()?;
        turns.remove(state);
        Some(slot)
    }

    /// Tells the machine of a limit that is reached before an attempt could begin.
    fn spend(
        &self,
        loaded: &Loaded,
        assignment: &Assignment,
        lease: &Lease,
    ) -> Result<Room, Problem> {
        let state = &assignment.state;
        let runs = self.dispatcher.runs();
        let accounts = accounts(runs, self.settings, loaded, state)?;
        let spent = accounts.iter().find_map(|it| it.spent());
        if let Some(spent) = spent.as_ref().filter(|it| it.is_above) {
            let (order, reached) = spent.report_above();
            runs.execute(&order, &reached)?;
            return Ok(Room::Above(spent.reason_here()));
        }
        let (limit, reason) = if let Some(spent) = spent {
            (spent.limit, spent.reason())
        } else if let Some(end) = over_visit(loaded, assignment) {
            (
                end.limit.unwrap_or_default(),
                end.reason.unwrap_or_default(),
            )
        } else {
            let failed: Vec<_> = failed(loaded, state);
            let most = usize::try_from(assignment.limits.attempts).unwrap_or(usize::MAX);
            if failed.len() < most {
                return Ok(Room::Free);
            }
            let last = failed.last().copied().flatten().unwrap_or_default();
            let count = failed.len();
            let noun = if count == 1 { "attempt" } else { "attempts" };
            (
                "max_attempts",
                format!("{count} {noun} in `{state}` came to nothing: {last}"),
            )
        };
        let reached = statemark_runs::runs::ReachLimit {
            limit: limit.to_owned(),
            state: state.clone(),
            reason,
        };
        let order = of_system(&self.order(&loaded.run, lease, "executor"));
        runs.execute(&order, &reached)?;
        Ok(Room::Reached)
    }

    /// Returns how many attempts in a state have failed.
    fn failures(&self, run: &RunId, state: &str) -> Result<u32, Problem> {
        let loaded = self.dispatcher.runs().load(run)?;
        Ok(u32::try_from(failed(&loaded, state).len()).unwrap_or(u32::MAX))
    }

    fn order(&self, run: &RunId, lease: &Lease, name: &str) -> Order {
        Order {
            fence: Some(lease.fence),
            ..Order::new(run.clone(), Actor::new(Role::Agent).with_name(name))
        }
    }

    /// Makes an attempt.
    fn attempt(
        &self,
        work: &Work,
        assignment: &Assignment,
        lease: &Lease,
        is_ended: &(dyn Fn() -> bool + Sync),
    ) -> Result<End, RunError> {
        let runs = self.dispatcher.runs();
        let name = assignment.who.name();
        let mut order = self.order(&work.run, lease, name);
        if self.settings.checkpoints == Checkpoints::Visit {
            let loaded = runs.load(&work.run)?;
            let worktree = loaded.worktree_of(&assignment.state);
            let folder = worktree.map(|made| PathBuf::from(&made.folder));
            let checkpoint = TakeCheckpoint {
                folder: folder.unwrap_or_else(|| self.surroundings.place.root.clone()),
                name: None,
                reason: Some(format!(
                    "the files before an attempt in `{}`",
                    assignment.state
                )),
            };
            // What is in no repository has nothing to be put back to.
            if let Err(error) = runs.execute(&order, &checkpoint) {
                tracing::warn!(run = %work.run, "the files weren't saved: {error}");
            }
        }
        let loaded = runs.load(&work.run)?;
        let Some(visit) = loaded.state.visits.get(&assignment.state) else {
            return Ok(End::new(AttemptOutcome::Moved));
        };
        let failures = failed(&loaded, &assignment.state).len();
        let rung = match &assignment.who {
            Who::Model(rungs) => choose_rung(self.tokio, rungs, failures),
            _ => 0,
        };
        let task = work.task.as_deref();
        let mut prompt = self.prompt(&loaded, assignment, task)?;
        if let Some(folder) = &work.workdir {
            prompt.text += &format!("\nWork in the folder `{folder}`.\n");
        }
        let start = StartAttempt {
            state: assignment.state.clone(),
            executor: name.to_owned(),
            model: model_of(assignment, rung),
            task: work
                .task
                .clone()
                .filter(|it| Some(it) != loaded.state.task.as_ref()),
            prompt: runs
                .store()
                .put_blob(runs.redactor().redact_str(&prompt.text).as_bytes())?,
            left_out: prompt.left_out.clone(),
        };
        let number = match runs.execute(&order, &start) {
            Ok(written) => written.outcome,
            // Somebody has moved or stopped the run meanwhile.
            Err(RunError::Invalid(_)) => return Ok(End::new(AttemptOutcome::Moved)),
            Err(error) => return Err(error),
        };
        order.attempt = Some(number);
        let caller = Caller {
            actor: order.actor.clone(),
            run: Some(work.run.clone()),
            project: loaded.state.project.clone(),
            credential: Credential::Nothing,
            attempt: Some(OfAttempt {
                run: work.run.clone(),
                number,
                fence: lease.fence,
            }),
        };
        let attempt = Attempt {
            worktree: loaded.worktree_of(&assignment.state),
            dispatcher: self.dispatcher,
            tokio: self.tokio,
            settings: self.settings,
            surroundings: self.surroundings,
            assignment,
            run: &work.run,
            number,
            entered: visit.entered,
            rung,
            prompt: &prompt,
            workdir: work.workdir.as_deref(),
            caller,
            order,
            began: Instant::now(),
            is_ended,
            observe: self.observe,
            spent: OnceLock::new(),
        };
        attempt.observe(Happening::Started {
            executor: name.to_owned(),
            model: start.model,
        });
        let end = attempt.work();
        if let Some(made) = loaded.worktree_of(&assignment.state) {
            take_in(&work.run, made);
        }
        end
    }

    /// Assembles the prompt of an assignment.
    pub(crate) fn prompt(
        &self,
        loaded: &Loaded,
        assignment: &Assignment,
        task: Option<&str>,
    ) -> Result<Prompt, RunError> {
        let voice = match &assignment.who {
            Who::Model(rungs) => match rungs.first().map(|it| it.tools) {
                Some(ToolStyle::Envelope) => Voice::Envelope,
                _ => Voice::Tools,
            },
            Who::Client(..) => Voice::Client,
            Who::Command(..) => Voice::Tools,
        };
        let tokens = self.settings.prompt_tokens.unwrap_or(BUDGET);
        let mut prompt = assemble(loaded, &assignment.state, task, (voice, tokens))?;
        prompt.text += &describe_workspace(
            loaded,
            &assignment.state,
            &branches_below(self.dispatcher.runs(), loaded)?,
        );
        Ok(prompt)
    }
}

/// Reports whether a state was entered when another was left, or later.
fn follows(loaded: &Loaded, state: &str, former: &str) -> bool {
    let visits = &loaded.state.visits;
    let entered = visits.get(state).map(|visit| visit.entered);
    let left = visits.get(former).and_then(|visit| visit.left);
    left.is_some_and(|left| entered.is_some_and(|entered| entered >= left))
}

/// Returns the reasons of the failed attempts in a state that count towards its limit.
fn failed<'l>(loaded: &'l Loaded, state: &'l str) -> Vec<Option<&'l str>> {
    let counted = loaded.state.counted_attempts(state);
    counted.filter_map(AttemptState::failure).collect()
}

/// Returns the model of an attempt.
fn model_of(assignment: &Assignment, rung: usize) -> Option<String> {
    match &assignment.who {
        Who::Model(rungs) => rungs.get(rung).map(|it| it.model.clone()),
        Who::Client(_, _, model) => model.clone(),
        Who::Command(..) => None,
    }
}

/// Returns why nobody can work on a run now.
fn idle(loaded: &Loaded, planned: &Plan) -> (Stop, String) {
    if let Some((state, reason)) = planned.unassigned.first() {
        return (Stop::NoExecutor, format!("`{state}`: {reason}"));
    }
    let state = &loaded.state;
    let waits = state.waiting_for();
    let reason = match waits.first() {
        Some(WaitingFor::Approval { request } | WaitingFor::Question { request }) => {
            format!("a person has to answer `{request}`")
        }
        Some(WaitingFor::Child { run }) => format!("it waits for the run `{run}`"),
        Some(WaitingFor::Workflow { workflow, .. }) => {
            format!(
                "it waits for the workflow `{workflow}`, of which no spec has an accepted definition"
            )
        }
        Some(WaitingFor::Step { step }) => format!("`{step}` waits for something outside"),
        None if !state.timers.is_empty() => "it waits for a timer".to_owned(),
        None if !planned.of_people.is_empty() => {
            format!("`{}` is left to a person", planned.of_people.join("`, `"))
        }
        None => {
            let leaves = state.leaves.join("`, `");
            let message = format!(
                "nothing says who works in `{leaves}`: its key `executor`, or `default` of the configuration's `[executor]`, does"
            );
            return (Stop::NoExecutor, message);
        }
    };
    (Stop::Waiting, reason)
}

fn past(status: Status) -> &'static str {
    match status {
        Status::Cancelled => "been cancelled",
        other => other.name(),
    }
}
