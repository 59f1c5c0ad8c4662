//! A queue of timers, for hosts that have none of their own.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::id::TimerId;

/// The timers that a machine has scheduled and that aren't over yet.
///
/// It has no clock: the host says what time it is, in any unit that counts up, and asks what is due. Timers come due by
/// their time, those of one time in the order in which they were scheduled.
///
/// A host keeps one, and passes on what the machine asks of it:
///
/// ```
/// use statemark_runtime::{Host, TimerId, Timers};
///
/// struct Clocked {
///     now: u64,
///     timers: Timers,
/// }
///
/// impl Host for Clocked {
///     fn schedule(&mut self, timer: TimerId, delay: u64) {
///         self.timers.schedule(timer, self.now.saturating_add(delay));
///     }
///
///     fn cancel(&mut self, timer: TimerId) {
///         self.timers.cancel(timer);
///     }
///
///     fn begin(&mut self) {
///         self.timers.begin();
///     }
///
///     fn rollback(&mut self) {
///         self.timers.rollback();
///     }
/// }
///
/// let [tea, egg] = [0, 1].map(TimerId::new);
/// let mut host = Clocked { now: 1_000, timers: Timers::new() };
/// host.schedule(tea, 180_000);
/// host.schedule(egg, 60_000);
/// host.schedule(egg, 300_000);
/// host.now = host.timers.next_due().unwrap();
/// assert_eq!(host.now, 61_000);
///
/// // Here the host would tell its machine: `machine.elapse(timer)`.
/// assert_eq!(host.timers.pop_due(host.now), Some(egg));
/// assert_eq!(host.timers.pop_due(host.now), None);
///
/// host.cancel(egg);
/// assert_eq!(host.timers.next_due(), Some(181_000));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timers {
    /// By the time at which they are due, then by the order of scheduling.
    waiting: BTreeMap<(u64, u64), TimerId>,
    /// Number of timers that were ever scheduled.
    scheduled: u64,
    /// The changes since the macrostep began, to be undone if it fails.
    done: Vec<Change>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Scheduled((u64, u64)),
    Cancelled((u64, u64), TimerId),
}

impl Timers {
    /// Returns a collection without timers.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            waiting: BTreeMap::new(),
            scheduled: 0,
            done: Vec::new(),
        }
    }

    /// Schedules the timer, once more if it waits already.
    pub fn schedule(&mut self, timer: TimerId, due: u64) {
        let key = (due, self.scheduled);
        self.scheduled = self.scheduled.saturating_add(1);
        self.waiting.insert(key, timer);
        self.done.push(Change::Scheduled(key));
    }

    /// Forgets the timer, however often it waits.
    pub fn cancel(&mut self, timer: TimerId) {
        let done = &mut self.done;
        self.waiting.retain(|&key, &mut other| {
            if other == timer {
                done.push(Change::Cancelled(key, other));
            }
            other != timer
        });
    }

    /// Returns the time at which the next timer is due.
    #[must_use]
    pub fn next_due(&self) -> Option<u64> {
        let (&(due, _), _) = self.waiting.first_key_value()?;
        Some(due)
    }

    /// Takes the next timer if it is due at that time or was before.
    /// To be asked again after each macrostep: what that cancels isn't due any more.
    pub fn pop_due(&mut self, now: u64) -> Option<TimerId> {
        let first = self.waiting.first_entry()?;
        if first.key().0 > now {
            return None;
        }
        let timer = first.remove();
        self.begin();
        Some(timer)
    }

    /// Returns the waiting timers and the times at which they are due, in that order.
    /// They are what is to be kept where a machine is kept; scheduled in this order, they wait as before.
    pub fn iter(&self) -> impl Iterator<Item = (TimerId, u64)> {
        let waiting = self.waiting.iter();
        waiting.map(|(&(due, _), &timer)| (timer, due))
    }

    /// Begins a macrostep: [`Host::begin`](crate::Host::begin).
    pub fn begin(&mut self) {
        self.done.clear();
    }

    /// Forgets what was scheduled since the macrostep began; what was cancelled waits again.
    /// This is [`Host::rollback`](crate::Host::rollback).
    pub fn rollback(&mut self) {
        while let Some(change) = self.done.pop() {
            match change {
                Change::Scheduled(key) => {
                    self.waiting.remove(&key);
                }
                Change::Cancelled(key, timer) => {
                    self.waiting.insert(key, timer);
                }
            }
        }
    }
}
