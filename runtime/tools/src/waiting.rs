//! Waits of tools.
//!
//! A tool that has to wait says for what, and how its call goes on then; nothing of it stays on a thread. Whoever called
//! it wakes it when the run changes, and at a time at the latest.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use statemark_runs::RunId;

use crate::{Ctx, Outcome, Problem};

/// The rest of a call.
type Rest = Box<dyn FnOnce(&Ctx<'_>) -> Outcome + Send>;

/// A signal that ends a wait.
pub type Signal = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A wait that a tool has asked for.
pub(crate) struct Wait {
    /// The run whose change ends it; none if only time does.
    pub(crate) run: Option<RunId>,
    /// The signal that ends it, if there is one.
    pub(crate) signal: Option<Signal>,
    /// The time at which it ends at the latest.
    pub(crate) until: Instant,
    /// The rest of the call.
    pub(crate) rest: Rest,
}

/// The wait that a call has asked for, if it has.
#[derive(Default)]
pub(crate) struct Waits(Mutex<Option<Wait>>);

impl Waits {
    pub(crate) fn take(&self) -> Option<Wait> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set(&self, wait: Wait) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(wait);
    }
}

impl Ctx<'_> {
    /// Asks that the call goes on when a run changes, or at a time. Returns what it ends its turn with.
    ///
    /// The rest may be called before either has happened, and looks for itself.
    #[must_use]
    pub fn wait(
        &self,
        run: Option<&RunId>,
        until: Instant,
        rest: impl FnOnce(&Ctx<'_>) -> Outcome + Send + 'static,
    ) -> Problem {
        self.set_wait(Wait {
            run: run.cloned(),
            signal: None,
            until,
            rest: Box::new(rest),
        })
    }

    /// Asks that the call goes on when a signal comes, or at a time. Returns what it ends its turn with.
    ///
    /// The rest may be called before either has happened, and looks for itself.
    #[must_use]
    pub fn wait_for(
        &self,
        signal: Signal,
        until: Instant,
        rest: impl FnOnce(&Ctx<'_>) -> Outcome + Send + 'static,
    ) -> Problem {
        self.set_wait(Wait {
            run: None,
            signal: Some(signal),
            until,
            rest: Box::new(rest),
        })
    }

    fn set_wait(&self, wait: Wait) -> Problem {
        if let Some(waits) = self.waits {
            waits.set(wait);
        }
        Problem::new(
            "failed",
            "the call would have to wait, and nothing wakes it",
        )
    }
}
