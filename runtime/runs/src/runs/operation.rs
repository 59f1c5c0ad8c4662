//! Operations: what can be done to a run or to the store, one type each.
//!
//! An [`Operation`] is a request with everything that belongs to it: the name under which journals know it, the right that
//! its caller needs, the decision, and the outcome. [`Runs::execute`] is the one door that all of them go through:
//!
//! ```text
//! execute ─→ authorize ─→ redact ─→ load ─→ decide ─→ prepare ─→ append ─→ reconcile ─→ outcome
//!                                     ↑                            │
//!                                     └────── somebody wrote ──────┘
//! ```
//!
//! Most operations take one append: they implement [`Decide`], a pure function from a run to the records that follow. What
//! begins a run, or takes several appends, implements [`Operation`] itself and says in [`Operation::carry_out`] how the
//! appends follow one another.
//!
//! What to rely on:
//!
//! - An operation without a right doesn't compile.
//! - An outcome is made of the records that were written, so that the same key gets the same outcome however much later.
//!
//! Deliberately not here: which tools a state grants ([`policy`](crate::policy)). That is asked for a tool's call, before
//! the operation behind it.

use serde::Serialize;

use super::order::{Change, Order, Outcome, Written, bodies_of};
use super::reconcile::commit;
use super::redaction::Redact;
use super::{Loaded, RunError, Runs};
use crate::actor::{Actor, Role};
pub use crate::authority::Right;
use crate::body::Body;

/// One thing that can be done to a run, or to the store as a whole.
pub trait Operation {
    /// Its name in the digests of keys and in recorded refusals, such as `send`.
    const NAME: &'static str;

    /// The right that its caller needs.
    const RIGHT: Right;

    /// The caller and its conditions: an [`Order`] about a run, or the [`Actor`] alone about the store.
    type Order: Asked;

    /// The response of [`Runs::execute`].
    type Response;

    /// Reports whether the operation itself decides who may ask.
    ///
    /// Such operations are those that make the first token of a store.
    fn is_excused(&self) -> bool {
        false
    }

    /// Carries it out. [`Runs::execute`] has checked the right already; nothing else calls this.
    ///
    /// # Errors
    ///
    /// Those of [`Runs::execute`].
    fn carry_out(&self, execution: &Execution<'_, Self::Order>)
    -> Result<Self::Response, RunError>;
}

/// An operation that one append carries out.
pub trait Decide: Serialize + Redact {
    /// Its name; see [`Operation::NAME`].
    const NAME: &'static str;

    /// The right that its caller needs.
    const RIGHT: Right;

    /// Its result, read from its records.
    type Outcome: Outcome;

    /// Checks what needs no run to be wrong.
    ///
    /// # Errors
    ///
    /// [`RunError::Invalid`] says what is wrong with the request.
    fn validate(&self) -> Result<(), RunError> {
        Ok(())
    }

    /// Decides which records follow.
    ///
    /// It is called again with the run as it is then if somebody wrote meanwhile.
    ///
    /// # Errors
    ///
    /// The request makes no sense, or the machine fails. A refusal is no error: it is a record.
    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError>;

    /// Returns the record by which the run is already what was asked for, if nothing had to be written.
    fn settled_by(&self, run: &Loaded) -> Option<u64> {
        let _ = run;
        None
    }
}

/// A caller with its conditions, as operations are handed it.
pub trait Asked: AsRef<Actor> + Sized {
    /// Returns it with the name of its caller, where the run knows one that the caller hasn't said.
    fn named_by_run(&self, runs: &Runs) -> Option<Self> {
        let _ = runs;
        None
    }
}

impl Asked for Actor {}

impl Asked for Order {
    /// Names an agent without a name after the executor in whose attempt it works.
    ///
    /// So the journal says of what a program does itself whose it is. Who may do it isn't decided by that name: it has
    /// the rights of an agent either way.
    fn named_by_run(&self, runs: &Runs) -> Option<Self> {
        let is_nameless = self.actor.role == Role::Agent && self.actor.name.is_none();
        let number = self.attempt.filter(|_| is_nameless)?;
        let loaded = runs.load(&self.run).ok()?;
        let attempt = loaded.state.attempts.get(&number)?;
        let actor = self.actor.clone().with_name(attempt.executor.clone());
        Some(Self {
            actor,
            ..self.clone()
        })
    }
}

/// The context of a decision.
pub struct DecideCx<'c> {
    /// The caller, and the conditions.
    pub order: &'c Order,
    /// The time of the records. Unit: milliseconds since 1970.
    ///
    /// It isn't before the run's last record, unless the clock was set back by more than [`MAX_SKEW`](crate::MAX_SKEW).
    pub now: u64,
    /// The source of tables and artifacts.
    pub(super) runs: &'c Runs,
}

/// The way to the store that [`Runs::execute`] hands to an operation.
pub struct Execution<'d, O = Order> {
    pub(super) runs: &'d Runs,
    pub(super) order: &'d O,
}

impl<O> Execution<'_, O> {
    /// Returns the runs of the store.
    #[must_use]
    pub const fn runs(&self) -> &Runs {
        self.runs
    }

    /// Returns who asks, and on which conditions.
    #[must_use]
    pub const fn order(&self) -> &O {
        self.order
    }
}

impl<O: Decide> Operation for O {
    const NAME: &'static str = <O as Decide>::NAME;
    const RIGHT: Right = <O as Decide>::RIGHT;
    type Order = Order;
    type Response = Written<O::Outcome>;

    fn carry_out(&self, execution: &Execution<'_>) -> Result<Self::Response, RunError> {
        let Execution { runs, order } = *execution;
        let operation = runs.redact_request(self);
        operation.validate()?;
        let request = (<O as Decide>::NAME, &operation);
        let mut written = commit(runs, order, &request, |run, now| {
            operation.decide(run, &DecideCx { order, now, runs })
        })?;
        if written.records.is_empty()
            && let Some(seq) = operation.settled_by(&written.loaded)
        {
            written.records = runs.store.records(&order.run, seq.saturating_sub(1), 1)?;
            written.bodies = bodies_of(&written.records);
            written.replayed = true;
        }
        written.read_outcome()
    }
}

impl Runs {
    /// Carries an operation out: the one door through which a run or the store is changed.
    ///
    /// The same key with the same request gives the first outcome again, and writes nothing.
    ///
    /// # Errors
    ///
    /// [`RunError::ReadOnly`] or [`RunError::NotAPerson`] if the caller lacks the right; [`StoreError::Conflict`](crate::StoreError::Conflict) if the
    /// run isn't at the record that the order expects; [`StoreError::KeyReused`](crate::StoreError::KeyReused); the
    /// store's; those of the operation. What a run refuses is no error but the operation's outcome.
    pub fn execute<O: Operation>(
        &self,
        order: &O::Order,
        operation: &O,
    ) -> Result<O::Response, RunError> {
        if !operation.is_excused() {
            O::RIGHT.check(order.as_ref())?;
        }
        let named = order.named_by_run(self);
        operation.carry_out(&Execution {
            runs: self,
            order: named.as_ref().unwrap_or(order),
        })
    }
}

/// Writes records that no operation would write: for tests that need such a journal.
#[doc(hidden)]
#[derive(Clone)]
pub struct WriteRaw<F>(pub F);

impl<F> Serialize for WriteRaw<F> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl<F: Clone> Redact for WriteRaw<F> {
    fn redact(&mut self, _: &crate::redact::Redactor) {}
}

impl<F: Fn(&Loaded, u64) -> Vec<Body> + Clone> Decide for WriteRaw<F> {
    const NAME: &'static str = "raw";
    const RIGHT: Right = Right::Drive;
    type Outcome = ();

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        let bodies = (self.0)(run, cx.now);
        Ok(Change { bodies })
    }
}
