//! How far an operation has come.

/// How far an operation has come. Unit: the operation's, which its page names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// What is done.
    pub done: u64,
    /// All that there is to do, as far as is known.
    pub all: u64,
}

/// Is told how far an operation has come: after each page or run, thousands of times a second if they are small.
pub type Tell<'t> = &'t mut dyn FnMut(Progress);

/// For those who don't want to be told.
pub const fn untold(_: Progress) {}

impl Progress {
    /// Of so much.
    pub(super) const fn of(all: u64) -> Self {
        Self { done: 0, all }
    }

    /// So much more is done.
    pub(super) fn add(&mut self, more: u64, tell: Tell<'_>) {
        self.done = self.done.saturating_add(more);
        tell(*self);
    }
}
