//! Timers of all runs that are due.

use std::collections::BTreeSet;

use serde::Serialize;

use super::draft::Draft;
use super::reconcile::{MAX_DEPTH, Pending, commit_timer};
use super::{Change, Loaded, Order, RunError, Runs, Written};
use crate::actor::{Actor, Role};
use crate::clock::MAX_SKEW;
use crate::id::RunId;
use crate::store::{Head, MAX_PAGE, PendingTimer, Query};

/// The time for which a timer is its claimer's alone. Unit: milliseconds.
///
/// Why: taking one lasts far less, and who dies with a claim must not hold the timer up for long.
const CLAIM: u64 = 10_000;

/// Most timers of one run that are taken at once. Unit: timers.
///
/// Why: one with a delay of nothing that arms itself again has no end.
const MOST: usize = 256;

/// Most runs that are caught up with the one that is read. Unit: runs.
///
/// Why: a run may have begun any number of others, and a read must come.
const MOST_VISITS: usize = 1024;

/// The number of timers in one round before a list. Unit: timers.
///
/// Why: a list must come, whatever is due. So must be the number of rounds.
const ROUND: usize = 100;
const MOST_ROUNDS: usize = 10;

/// A timer that was due.
#[derive(Debug)]
pub struct Fired {
    /// The run.
    pub run: RunId,
    /// The timer.
    pub timer: PendingTimer,
    /// The result; no records if something blocks it, so that it comes later, or if it is over.
    pub written: Result<Written, RunError>,
}

#[derive(Serialize)]
struct Elapse<'t> {
    timer: &'t PendingTimer,
}

impl Runs {
    /// Loads a run after its due timers are taken and its children are reconciled.
    ///
    /// Front ends use it that nobody runs a clock for.
    ///
    /// # Errors
    ///
    /// As for [`Runs::load`] and [`Runs::execute`].
    pub fn catch_up(&self, run: &RunId) -> Result<Loaded, RunError> {
        self.catch_up_except(run, &mut BTreeSet::new(), &mut Pending::of_call(self), 0)
    }

    /// Returns a run as this process left it ([`recall`](Self::recall)), if nothing is due in it.
    #[must_use]
    pub fn recall_caught_up(&self, run: &RunId) -> Option<Loaded> {
        self.recall(run).filter(|it| self.is_caught_up(it))
    }

    /// Reports whether nothing is due in a run.
    fn is_caught_up(&self, loaded: &Loaded) -> bool {
        let (state, now) = (&loaded.state, self.now());
        !loaded.needs_reconciling()
            && state.queue.is_empty()
            && state.timers.iter().all(|timer| timer.due > now)
            && (state.updated <= now || state.status().is_over())
    }

    /// Catches a run up, except for runs in `seen` and below the greatest depth.
    ///
    /// Why: imported journals can say that runs work for each other in a ring.
    fn catch_up_except(
        &self,
        run: &RunId,
        seen: &mut BTreeSet<RunId>,
        pending: &mut Pending<'_>,
        depth: usize,
    ) -> Result<Loaded, RunError> {
        seen.insert(run.clone());
        let mut loaded = self.load(run)?;
        // What is due there is the other store's to take.
        if self.is_caught_up(&loaded) || self.store.is_asleep()? {
            return Ok(loaded);
        }
        if loaded.needs_reconciling() {
            for child in loaded.open_children() {
                if depth < MAX_DEPTH && seen.len() < MOST_VISITS && !seen.contains(&child) {
                    // What is wrong with a child is the child's; the parent hears of it when it ends.
                    drop(self.catch_up_except(&child, seen, pending, depth + 1));
                }
            }
            pending.reconcile(run)?;
            pending.take();
            loaded = self.load(run)?;
        }
        loaded = match self.note_clock(loaded)? {
            Some(loaded) => loaded,
            None => self.load(run)?,
        };
        if !loaded.state.queue.is_empty() {
            pending.drain_queue(run)?;
            pending.take();
            loaded = self.load(run)?;
        }
        for _ in 0..MOST {
            let now = self.now();
            let due = loaded.state.timers.iter().filter(|it| it.due <= now);
            let due: Vec<PendingTimer> = due.cloned().collect();
            let mut fired = None;
            // One that finds something in its way may stand before the expiry of just that.
            for timer in &due {
                let written = fire_timer(self, run, timer)?;
                if !written.records.is_empty() {
                    fired = Some(written);
                    break;
                }
            }
            let Some(written) = fired else {
                break;
            };
            loaded = written.loaded;
        }
        Ok(loaded)
    }
}

/// Takes the timers of all runs that are due by a time, the earliest first, at most so many.
///
/// Whoever asks first has a timer to itself for a while; one whose claimer dies is anybody's again. However many
/// fire it, its event is taken once: the journal says whether it is still to come. A timer that finds its run paused,
/// or something to be settled first, stays and is taken right behind that.
///
/// # Errors
///
/// The store's, when it is asked what is due. What happens to one run doesn't keep the others from theirs.
pub fn fire_due(runs: &Runs, now: u64, limit: usize) -> Result<Vec<Fired>, RunError> {
    note_clock_everywhere(runs, now, limit)?;
    let due = runs.store.claim_due(now, limit, CLAIM)?;
    let fired = due.into_iter().map(|due| Fired {
        written: fire_timer(runs, &due.run, &due.timer),
        run: due.run,
        timer: due.timer,
    });
    Ok(fired.collect())
}

/// Records that the clock was set back in runs whose last record is later than now, at most so many.
///
/// Their timers would be found by nobody, because they are due at a time that was a mistake. Such runs are the first of a
/// list.
fn note_clock_everywhere(runs: &Runs, now: u64, limit: usize) -> Result<(), RunError> {
    let mut query = Query {
        statuses: ["running", "waiting", "paused"].map(str::to_owned).to_vec(),
        limit: 1,
        ..Query::default()
    };
    let is_ahead = |head: &&Head| head.updated > now.saturating_add(MAX_SKEW);
    // Almost always the latest one says that there is none.
    if runs
        .store
        .list(&query)?
        .heads
        .iter()
        .any(|it| is_ahead(&it))
    {
        query.limit = limit.clamp(1, MAX_PAGE);
    } else {
        return Ok(());
    }
    let page = runs.store.list(&query)?;
    for head in page.heads.iter().take_while(is_ahead) {
        // What is wrong with one run doesn't keep the others from theirs.
        drop(runs.catch_up(&head.run));
    }
    Ok(())
}

/// Takes the due timers of all runs before a list, a great many of them at most.
///
/// # Errors
///
/// As for [`fire_due`].
pub fn fire_all_due(runs: &Runs) -> Result<(), RunError> {
    for _ in 0..MOST_ROUNDS {
        if fire_due(runs, runs.now(), ROUND)?.is_empty() {
            break;
        }
    }
    Ok(())
}

/// Takes one timer of a run, if it is still to come and nothing is in its way.
fn fire_timer(runs: &Runs, run: &RunId, timer: &PendingTimer) -> Result<Written, RunError> {
    let order = Order::new(run.clone(), Actor::new(Role::System));
    commit_timer(runs, &order, &("timer", Elapse { timer }), |loaded, now| {
        let state = &loaded.state;
        let expiry = timer.name.starts_with("request:");
        // A request that holds up others may expire; nothing happens to a run that is paused.
        let held = if expiry {
            state.paused.is_some()
        } else {
            state.is_held()
        };
        if held || state.status().is_over() || !state.timers.contains(timer) {
            return Ok(Change::default());
        }
        let mut draft = Draft::new(loaded, &order.actor, now);
        draft.elapse(timer)?;
        // One that was armed twice by one step is one entry of the store's.
        while draft.state().timers.contains(timer) && !draft.state().is_held() {
            draft.elapse(timer)?;
        }
        Ok(draft.finish())
    })
}
