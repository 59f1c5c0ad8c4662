//! Slots: how many attempts a process makes at once, over all runs.
//!
//! Whoever can't have a slot at once stands in line, so that each drive of a run comes to its turn however many there are.
//! No slot is held by whoever waits for another: an attempt that waits for runs below it is over.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The slots of a process.
pub(crate) struct Slots(Mutex<Line>);

/// The line for slots.
struct Line {
    /// The number of slots.
    most: usize,
    used: usize,
    /// The numbers of those who wait, in their order, and the calls that wake them.
    waiting: VecDeque<(u64, Wake)>,
    /// The number that the next one gets.
    next: u64,
}

type Wake = Box<dyn Fn() + Send>;

/// A slot that is used until it is dropped.
pub(crate) struct Slot<'s>(&'s Slots);

/// A place in the line, which is given up when it is dropped.
pub(crate) struct Turn<'s> {
    slots: &'s Slots,
    number: u64,
}

impl Slots {
    /// Creates so many slots, at least one.
    pub(crate) fn new(most: usize) -> Self {
        Self(Mutex::new(Line {
            most: most.max(1),
            used: 0,
            waiting: VecDeque::new(),
            next: 0,
        }))
    }

    /// Sets how many there are. Those that are used stay so.
    pub(crate) fn set_most(&self, most: usize) {
        let mut line = self.lock();
        line.most = most.max(1);
        line.wake();
    }

    /// Goes to the end of the line. `wake` is called once it may be the turn.
    pub(crate) fn stand_in_line(&self, wake: impl Fn() + Send + 'static) -> Turn<'_> {
        let mut line = self.lock();
        let number = line.next;
        line.next += 1;
        line.waiting.push_back((number, Box::new(wake)));
        Turn {
            slots: self,
            number,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Line> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'s> Turn<'s> {
    /// Takes a slot if it is the turn; it is given up by dropping it.
    pub(crate) fn try_take(&self) -> Option<Slot<'s>> {
        let mut line = self.slots.lock();
        let free = line.free();
        let mut first = line.waiting.iter().take(free);
        if !first.any(|(number, _)| *number == self.number) {
            return None;
        }
        line.leave(self.number);
        line.used += 1;
        Some(Slot(self.slots))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut line = self.slots.lock();
        // Whoever stood behind is nearer now.
        if line.leave(self.number) {
            line.wake();
        }
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut line = self.0.lock();
        line.used = line.used.saturating_sub(1);
        line.wake();
    }
}

impl Line {
    const fn free(&self) -> usize {
        self.most.saturating_sub(self.used)
    }

    /// Takes somebody out of the line. Returns true if it was there.
    fn leave(&mut self, number: u64) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|(other, _)| *other != number);
        self.waiting.len() < before
    }

    /// Wakes those whose turn it is.
    fn wake(&self) {
        for (_, wake) in self.waiting.iter().take(self.free()) {
            wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn whoever_stands_in_line_comes_in_turn() {
        let slots = Slots::new(2);
        let woken: Vec<Arc<AtomicUsize>> = (0..4).map(|_| Arc::default()).collect();
        let mut turns: Vec<Turn<'_>> = woken
            .iter()
            .map(|it| {
                let it = Arc::clone(it);
                slots.stand_in_line(move || {
                    it.fetch_add(1, Ordering::Relaxed);
                })
            })
            .collect();
        let count = |number: usize| woken[number].load(Ordering::Relaxed);
        // The third isn't among the first two, even while nobody has taken a slot yet.
        assert!(turns[2].try_take().is_none());
        let first = turns[0].try_take().unwrap();
        let second = turns[1].try_take().unwrap();
        assert!(turns[2].try_take().is_none() && turns[3].try_take().is_none());
        drop(first);
        assert_eq!((count(2), count(3)), (1, 0));
        assert!(turns[3].try_take().is_none());
        // The third gives up, and the fourth is next.
        turns.remove(2);
        assert_eq!(count(3), 1);
        let fourth = turns[2].try_take().unwrap();
        slots.set_most(1);
        drop((second, fourth));
        let last = slots.stand_in_line(|| {});
        assert!(last.try_take().is_some());
    }
}
