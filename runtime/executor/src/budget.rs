//! Budgets: what attempts may use, of a visit of their state and of the runs that they work for.
//!
//! A run's budget counts what the run uses and what the runs below it use, however far below. So an attempt is held to the
//! budget of its own run and to those of all runs above. It is looked at before an attempt begins and after each turn whose
//! cost is told: work that goes on side by side may use more than is left by a turn each.
//!
//! A limit is reached by the run whose budget is used up: its machine takes `limit.reached`, or it stops for a person. Runs
//! below it make no further attempt meanwhile, and record nothing of their own.

use std::collections::BTreeSet;

use statemark_runs::body::{AttemptOutcome, Usage};
use statemark_runs::runs::{ReachLimit, TreeUsage, counted_tree_usage};
use statemark_runs::{Actor, Loaded, Order, Role, RunError, RunId, Runs, StoreError};

use crate::attempt::End;
use crate::plan::{Assignment, Budget, budget_of_run};
use crate::settings::Settings;

/// A run that has a budget, and what is used of it.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    /// The run.
    pub(crate) run: RunId,
    /// The state of that run in which, or below which, is worked.
    state: String,
    /// True if it is a run above the one that is worked on.
    is_above: bool,
    budget: Budget,
    used: TreeUsage,
}

/// A budget of a run that is used up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spent {
    /// The run.
    run: RunId,
    /// The state of that run in which, or below which, was worked.
    state: String,
    /// True if it is a run above the one that was worked on.
    pub(crate) is_above: bool,
    /// The key of the limit.
    pub(crate) limit: &'static str,
    /// The part that was used of the whole, in words.
    amounts: String,
    /// True if a part of that was used below the run.
    is_below: bool,
}

/// Returns the runs with budgets that work in a state counts for: its own, and those above it.
///
/// # Errors
///
/// A run can't be read.
pub(crate) fn accounts(
    runs: &Runs,
    settings: &Settings,
    loaded: &Loaded,
    state: &str,
) -> Result<Vec<Account>, RunError> {
    let mut accounts = Vec::new();
    let mut seen = BTreeSet::new();
    let mut current = loaded.clone();
    let mut state = state.to_owned();
    while seen.insert(current.run.clone()) {
        let budget = budget_of_run(&current, settings);
        if budget != Budget::default() {
            accounts.push(Account {
                run: current.run.clone(),
                state,
                is_above: current.run != loaded.run,
                budget,
                used: counted_tree_usage(runs, &current)?,
            });
        }
        let Some(parent) = current.state.parent.clone() else {
            break;
        };
        current = match runs.load(&parent.run) {
            Ok(above) => above,
            Err(RunError::Store(StoreError::NotFound { .. })) => break,
            Err(error) => return Err(error),
        };
        let step = parent
            .step
            .or_else(|| current.state.leaves.first().cloned());
        state = step.unwrap_or_default();
    }
    Ok(accounts)
}

impl Account {
    /// Returns the tokens that are used, and the most that may be, if there is a limit of tokens.
    pub(crate) fn tokens(&self) -> Option<(u64, u64)> {
        let most = self.budget.tokens?;
        Some((self.used.total().tokens(), most))
    }

    /// Returns the budget, if it is used up.
    pub(crate) fn spent(&self) -> Option<Spent> {
        let (limit, amounts) = over(&self.budget, &self.used.total())?;
        Some(Spent {
            run: self.run.clone(),
            state: self.state.clone(),
            is_above: self.is_above,
            limit,
            amounts,
            is_below: !self.used.below.is_nothing(),
        })
    }
}

impl Spent {
    /// Says it in the run's own journal.
    pub(crate) fn reason(&self) -> String {
        let (owner, has) = match self.is_below {
            true => ("the run and those below it", "have"),
            false => ("the run", "has"),
        };
        format!("{owner} {has} used {}", self.amounts)
    }

    /// Says it in the journal of the run that was worked on.
    fn reason_below(&self) -> String {
        format!(
            "`{}` and the runs below it have used {}",
            self.run, self.amounts
        )
    }

    /// Says it where it was noticed.
    pub(crate) fn reason_here(&self) -> String {
        match self.is_above {
            true => self.reason_below(),
            false => self.reason(),
        }
    }

    /// Returns the order and the operation that tell a run above.
    ///
    /// Its lease is another drive's, or nobody's: what the store itself records needs none.
    pub(crate) fn report_above(&self) -> (Order, ReachLimit) {
        let order = Order::new(self.run.clone(), Actor::new(Role::System));
        let reached = ReachLimit {
            limit: self.limit.to_owned(),
            state: self.state.clone(),
            reason: self.reason(),
        };
        (order, reached)
    }
}

/// Describes how much of its budget a run and those below it have used; none if it has no budget.
///
/// # Errors
///
/// A run can't be read.
pub fn describe_budget(
    runs: &Runs,
    settings: &Settings,
    loaded: &Loaded,
) -> Result<Option<String>, RunError> {
    let budget = budget_of_run(loaded, settings);
    if budget == Budget::default() {
        return Ok(None);
    }
    let used = counted_tree_usage(runs, loaded)?.total();
    let tokens = budget.tokens.map(|most| tokens_of(&used, most));
    let cost = budget.cost.map(|most| dollars_of(&used, most));
    let amounts: Vec<String> = tokens.into_iter().chain(cost).collect();
    Ok(Some(amounts.join(", ")))
}

/// Returns the end of an attempt by the budget of its state's visit, if that is used up.
pub(crate) fn over_visit(loaded: &Loaded, assignment: &Assignment) -> Option<End> {
    let state = &assignment.state;
    let mut used = Usage::default();
    for attempt in loaded.state.counted_attempts(state) {
        used.add(&attempt.usage);
    }
    let (limit, amounts) = over(&assignment.limits.budget, &used)?;
    let reason = format!("`{state}` has used {amounts}");
    Some(End {
        limit: Some(limit),
        ..End::because(AttemptOutcome::Limit, reason)
    })
}

/// Returns the key of the limit that is used up, if one is, and what was used of how much.
fn over(budget: &Budget, used: &Usage) -> Option<(&'static str, String)> {
    if let Some(most) = budget.tokens.filter(|most| used.tokens() >= *most) {
        return Some(("token_budget", tokens_of(used, most)));
    }
    let cost = used.cost.unwrap_or_default();
    let most = budget.cost.filter(|most| cost >= *most)?;
    Some(("cost_budget", dollars_of(used, most)))
}

fn tokens_of(used: &Usage, most: u64) -> String {
    format!("{} of {most} tokens", used.tokens())
}

fn dollars_of(used: &Usage, most: u64) -> String {
    let used = used.cost.unwrap_or_default();
    format!("{} of {} dollars", dollars(used), dollars(most))
}

/// Writes an amount of money. Unit: millionths of a US dollar.
pub(crate) fn dollars(millionths: u64) -> String {
    let whole = millionths / 1_000_000;
    let rest = format!("{:06}", millionths % 1_000_000);
    let rest = rest.trim_end_matches('0');
    format!("{whole}.{rest:0<2}")
}
