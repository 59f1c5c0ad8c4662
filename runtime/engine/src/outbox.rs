//! Effects that are due: what a machine has decided and the world hasn't heard of.

use alloc::vec::Vec;

/// The effects that a machine has handed over and that aren't settled.
///
/// Each has a key, which is never another's, so that whoever carries it out can tell a repetition. Those of a step that
/// failed are forgotten, and their keys with them. Generated machines have one. A host of the table engine keeps one itself,
/// as it does [`Timers`](crate::Timers), for the actions that its spec declares as effects:
///
/// ```
/// use statemark_runtime::{ActionId, Host, Outbox};
///
/// #[derive(Default)]
/// struct Shop {
///     mails: Outbox<(u64, String)>,
///     customer: String,
/// }
///
/// impl Host for Shop {
///     fn action(&mut self, _: ActionId) {
///         let Self { mails, customer } = self;
///         mails.push(|key| (key, customer.clone()));
///     }
///
///     fn begin(&mut self) {
///         self.mails.begin();
///     }
///
///     fn rollback(&mut self) {
///         self.mails.rollback();
///     }
/// }
///
/// let mut shop = Shop { customer: "ann".to_owned(), ..Shop::default() };
/// shop.begin();
/// shop.action(ActionId::new(0));
/// assert_eq!(shop.mails.due(), [(0, "ann".to_owned())]);
/// assert!(shop.mails.forget(|(key, _)| *key == 0));
/// assert!(shop.mails.due().is_empty());
/// ```
///
/// A table engine tells its host of the beginning of steps that assign or have timers; in others the host calls `begin`
/// before it sends an event, and `rollback` after one that failed.
#[derive(Clone, Debug)]
pub struct Outbox<D> {
    due: Vec<D>,
    next: u64,
    /// The number of effects and the next key when the step began.
    began: (usize, u64),
}

impl<D> Default for Outbox<D> {
    fn default() -> Self {
        Self::new()
    }
}

impl<D> Outbox<D> {
    /// Returns a collection without effects.
    #[must_use]
    pub const fn new() -> Self {
        Self::restored(Vec::new(), 0)
    }

    /// Returns a collection of effects that were saved; `next` is the next key.
    #[must_use]
    pub const fn restored(due: Vec<D>, next: u64) -> Self {
        Self {
            began: (due.len(), next),
            due,
            next,
        }
    }

    /// Adds an effect, which is made with its key.
    pub fn push(&mut self, make: impl FnOnce(u64) -> D) {
        let key = self.next;
        self.next = self.next.saturating_add(1);
        self.due.push(make(key));
    }

    /// Returns the effects that aren't settled, in the order of their keys.
    #[must_use]
    pub fn due(&self) -> &[D] {
        &self.due
    }

    /// Returns the key of the next effect.
    #[must_use]
    pub const fn next_key(&self) -> u64 {
        self.next
    }

    /// Forgets the effects that were carried out. Returns false if there are none.
    pub fn forget(&mut self, is_settled: impl Fn(&D) -> bool) -> bool {
        let before = self.due.len();
        self.due.retain(|due| !is_settled(due));
        self.due.len() < before
    }

    /// Begins a step.
    #[inline]
    pub fn begin(&mut self) {
        self.began = (self.due.len(), self.next);
    }

    /// Forgets the effects of a step that failed.
    pub fn rollback(&mut self) {
        let (count, next) = self.began;
        self.due.truncate(count);
        self.next = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_failed_leaves_neither_effects_nor_keys() {
        let mut outbox = Outbox::new();
        outbox.begin();
        outbox.push(|key| key);
        outbox.begin();
        outbox.push(|key| key);
        outbox.push(|key| key);
        outbox.rollback();
        assert_eq!((outbox.due(), outbox.next_key()), (&[0][..], 1));
        assert!(!outbox.forget(|key| *key == 2));
        assert!(outbox.forget(|key| *key == 0));
        outbox.begin();
        outbox.push(|key| key);
        assert_eq!(outbox.due(), [1]);
    }
}
