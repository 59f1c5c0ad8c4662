//! An attempt: the work of one agent in one visit of a state, from its first record to its last.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use statemark_runs::body::{AttemptOutcome, WorktreeMade};
use statemark_runs::runs::{EndAttempt, ReachLimit, RecordTurn};
use statemark_runs::{Actor, Loaded, Order, Role, RunError, RunId, Status};
use statemark_tools::{Caller, Dispatcher};
use tokio::runtime::Handle;

use crate::budget::{Spent, accounts, over_visit};
use crate::happening::{Happened, Happening, Measure, Observer};
use crate::plan::{Assignment, Who};
use crate::prompt::Prompt;
use crate::settings::Settings;
use crate::surroundings::Surroundings;
use crate::{client, command, model};

/// Time between two looks at whether an attempt still has a point.
///
/// Why: a person who cancels waits for a second at most.
pub(crate) const LOOK: Duration = Duration::from_millis(200);

/// An attempt that goes on.
pub(crate) struct Attempt<'a> {
    pub(crate) dispatcher: &'a Dispatcher,
    pub(crate) tokio: &'a Handle,
    pub(crate) settings: &'a Settings,
    pub(crate) surroundings: &'a Surroundings,
    pub(crate) assignment: &'a Assignment,
    pub(crate) run: &'a RunId,
    pub(crate) number: u64,
    /// The record that entered the visit.
    pub(crate) entered: u64,
    /// The rung of the ladder.
    pub(crate) rung: usize,
    pub(crate) prompt: &'a Prompt,
    /// The worktree that its state is worked on in, if it has one.
    pub(crate) worktree: Option<&'a WorktreeMade>,
    /// The folder to work in, below the project's root.
    pub(crate) workdir: Option<&'a str>,
    pub(crate) caller: Caller,
    /// An order with the fence of the lease and the attempt's number.
    pub(crate) order: Order,
    pub(crate) began: Instant,
    /// True once whoever started the executor ends it, or the lease is lost.
    pub(crate) is_ended: &'a (dyn Fn() -> bool + Sync),
    pub(crate) observe: Observer<'a>,
    /// The budget of the run, or of one above it, that was found to be used up.
    pub(crate) spent: OnceLock<Spent>,
}

/// The end of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) outcome: AttemptOutcome,
    pub(crate) reason: Option<String>,
    /// The key of the limit that was reached.
    pub(crate) limit: Option<&'static str>,
    /// The run above whose limit it is, if it isn't the run's own.
    pub(crate) above: Option<Spent>,
}

impl End {
    pub(crate) const fn new(outcome: AttemptOutcome) -> Self {
        Self {
            outcome,
            reason: None,
            limit: None,
            above: None,
        }
    }

    pub(crate) fn because(outcome: AttemptOutcome, reason: impl Into<String>) -> Self {
        Self {
            reason: Some(reason.into()),
            ..Self::new(outcome)
        }
    }

    fn limit(limit: &'static str, reason: String) -> Self {
        Self {
            limit: Some(limit),
            ..Self::because(AttemptOutcome::Limit, reason)
        }
    }
}

impl Attempt<'_> {
    /// Works to the attempt's end, and records it.
    ///
    /// # Errors
    ///
    /// The run can't be read or written: somebody else has its lease, for example.
    pub(crate) fn work(&self) -> Result<End, RunError> {
        let end = match &self.assignment.who {
            Who::Model(rungs) => model::work(self, rungs)?,
            Who::Client(kind, client, model) => {
                client::work(self, *kind, client, model.as_deref())?
            }
            Who::Command(_, command) => command::work(self, command)?,
        };
        let runs = self.dispatcher.runs();
        let ended = EndAttempt {
            outcome: end.outcome,
            reason: end.reason.clone(),
        };
        runs.execute(&self.order, &ended)?;
        if let Some(spent) = &end.above {
            let (order, reached) = spent.report_above();
            runs.execute(&order, &reached)?;
        } else if let Some(limit) = end.limit {
            self.reach(limit, end.reason.clone().unwrap_or_default())?;
        }
        self.observe(Happening::Ended {
            outcome: end.outcome,
            reason: end.reason.clone(),
        });
        Ok(end)
    }

    /// Tells the machine of a limit.
    pub(crate) fn reach(&self, limit: &str, reason: String) -> Result<(), RunError> {
        let reached = ReachLimit {
            limit: limit.to_owned(),
            state: self.assignment.state.clone(),
            reason,
        };
        let order = of_system(&self.order);
        self.dispatcher.runs().execute(&order, &reached)?;
        Ok(())
    }

    /// Tells whoever watches.
    pub(crate) fn observe(&self, what: Happening) {
        (self.observe)(&Happened {
            run: self.run.clone(),
            state: self.assignment.state.clone(),
            attempt: self.number,
            what,
        });
    }

    /// Tells whoever watches how much is used of the budgets that the run counts for.
    ///
    /// Notes one that is used up.
    ///
    /// # Errors
    ///
    /// A run can't be read.
    pub(crate) fn count_budgets(&self) -> Result<(), RunError> {
        let runs = self.dispatcher.runs();
        let loaded = runs.load(self.run)?;
        for account in accounts(runs, self.settings, &loaded, &self.assignment.state)? {
            if let Some((done, total)) = account.tokens() {
                (self.observe)(&Happened {
                    run: account.run.clone(),
                    state: self.assignment.state.clone(),
                    attempt: self.number,
                    what: Happening::Progressed {
                        measure: Measure::Tokens,
                        done,
                        total,
                    },
                });
            }
            if let Some(spent) = account.spent() {
                // The first one counts: one that is nearer is told first.
                let _ = self.spent.set(spent);
            }
        }
        Ok(())
    }

    /// Returns the end of the attempt, if something has ended it.
    ///
    /// That is the run, a limit, or whoever started the executor.
    ///
    /// `is_ours` says that the run was moved by the attempt itself, if it was moved.
    ///
    /// # Errors
    ///
    /// The run can't be read.
    pub(crate) fn look(&self, is_ours: bool) -> Result<Option<End>, RunError> {
        let loaded = self.dispatcher.runs().catch_up(self.run)?;
        Ok(self
            .ended_by(&loaded, is_ours)
            .or_else(|| self.over_limit(&loaded)))
    }

    fn ended_by(&self, loaded: &Loaded, is_ours: bool) -> Option<End> {
        let state = &loaded.state;
        let name = &self.assignment.state;
        let moved = if is_ours {
            AttemptOutcome::Advanced
        } else {
            AttemptOutcome::Moved
        };
        let visit = state.visits.get(name);
        let is_left = visit.is_none_or(|it| it.left.is_some() || it.entered != self.entered);
        // A person's rewind leaves none of it.
        let own = state.attempts.get(&self.number);
        let was_taken_back = own.is_none_or(|it| it.taken_back.is_some());
        let at = || format!("the run is in `{}`", state.leaves.join("`, `"));
        match state.status() {
            Status::Cancelled => {
                let reason = "the run was cancelled";
                return Some(End::because(AttemptOutcome::Moved, reason));
            }
            status if status.is_over() => {
                let reason = format!("the run has {}", status.name());
                return Some(End::because(moved, reason));
            }
            _ if is_left && was_taken_back => {
                let reason = format!("a rewind took it back: {}", at());
                return Some(End::because(AttemptOutcome::Moved, reason));
            }
            _ if is_left => return Some(End::because(moved, at())),
            Status::Paused => {
                let reason = "the run was paused";
                return Some(End::because(AttemptOutcome::Moved, reason));
            }
            _ => {}
        }
        if state.is_held() {
            let reason = "a person has to answer first";
            return Some(End::because(AttemptOutcome::Waiting, reason));
        }
        if (self.is_ended)() {
            return Some(End::new(AttemptOutcome::Cancelled));
        }
        None
    }

    /// Returns the limit that is reached, if one is.
    fn over_limit(&self, loaded: &Loaded) -> Option<End> {
        let limits = &self.assignment.limits;
        if self.began.elapsed() >= limits.time {
            let time = humantime::format_duration(limits.time);
            let reason = format!("an attempt took longer than {time}");
            return Some(End::limit("attempt_timeout", reason));
        }
        let of_run = self.spent.get().map(|spent| End {
            limit: Some(spent.limit),
            above: spent.is_above.then(|| spent.clone()),
            ..End::because(AttemptOutcome::Limit, spent.reason_here())
        });
        of_run.or_else(|| over_visit(loaded, self.assignment))
    }

    /// Returns the end of an attempt whose agent has begun runs that are still open.
    ///
    /// They work below its state, and would be cancelled if the run left it. The state is worked on again when they are over.
    ///
    /// # Errors
    ///
    /// The run can't be read.
    pub(crate) fn wait_below(&self) -> Result<Option<End>, RunError> {
        let loaded = self.dispatcher.runs().catch_up(self.run)?;
        let state = &loaded.state;
        let mut own = state.children.values().filter(|child| {
            child.step.as_ref() == Some(&self.assignment.state) && state.is_current_child(child)
        });
        let waits = own.any(|it| it.ended.is_none());
        let reason = "the runs below it have to end first";
        Ok(waits.then(|| End::because(AttemptOutcome::Waiting, reason)))
    }

    /// Returns the end of an attempt that has led nowhere.
    ///
    /// # Errors
    ///
    /// The run can't be read.
    pub(crate) fn end_nowhere(&self, reason: String) -> Result<End, RunError> {
        let end = self.wait_below()?;
        Ok(end.unwrap_or_else(|| End::because(AttemptOutcome::Failed, reason)))
    }

    /// Records what was said, and its cost.
    ///
    /// # Errors
    ///
    /// The run can't be written.
    pub(crate) fn record(&self, turn: &RecordTurn) -> Result<(), RunError> {
        self.dispatcher.runs().execute(&self.order, turn)?;
        Ok(())
    }

    /// Reports whether the attempt has to end, without a look at the run.
    pub(crate) fn is_out_of_time(&self) -> bool {
        (self.is_ended)() || self.began.elapsed() >= self.assignment.limits.time
    }
}

/// Returns the order of the store itself under a lease.
///
/// What a limit does isn't the agent's to take back.
pub(crate) fn of_system(order: &Order) -> Order {
    Order {
        actor: Actor::new(Role::System),
        attempt: None,
        ..order.clone()
    }
}
