//! A running machine: a table, a configuration and a host.
//!
//! [`Machine`] is thin. A step whose whole effect the table's dense index knows is taken here, in a few instructions, and
//! so is one that a machine with regions has learned; everything else is the general step's.

use alloc::vec::Vec;
use core::fmt;

use crate::candidate::{self, Candidate};
use crate::configuration::{Configuration, RestoreError};
use crate::content::Work;
use crate::error::StepError;
use crate::failure::{ActionError, Cause, FailedStart};
use crate::host::{Host, Observer};
use crate::id::{ActionId, EventId, StateId, TimerId, TransitionId};
use crate::learned::{Learner, Listener};
use crate::limits::DEFAULT_STEP_LIMIT;
use crate::quick::{self, Quick};
use crate::record::Outcome;
use crate::scratch::Selection;
use crate::step;
use crate::table::Table;
use crate::table::index::{self, Cell};

/// A running machine.
pub struct Machine<'t, H> {
    table: &'t Table,
    /// The table's dense index, once more: a step is so short that looking it up in the table would show.
    cells: &'t [Cell],
    stride: usize,
    /// The configuration, unless the machine is at a place that `learner` knows.
    /// INVARIANT: it is in a machine with one leaf, and after [`Learner::leave`].
    configuration: Configuration,
    pub(crate) learner: Learner,
    work: Work,
    host: H,
}

impl<H: Clone> Clone for Machine<'_, H> {
    fn clone(&self) -> Self {
        Self {
            table: self.table,
            cells: self.cells,
            stride: self.stride,
            configuration: current(&self.learner, &self.configuration).clone(),
            learner: self.learner.clone(),
            work: self.work.clone(),
            host: self.host.clone(),
        }
    }
}

impl<H: fmt::Debug> fmt::Debug for Machine<'_, H> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let configuration = current(&self.learner, &self.configuration);
        out.debug_struct("Machine")
            .field("name", &self.table.name())
            .field("configuration", configuration)
            .field("host", &self.host)
            .finish_non_exhaustive()
    }
}

/// Returns where a machine is that has this configuration itself.
fn current<'m>(learner: &'m Learner, own: &'m Configuration) -> &'m Configuration {
    learner.configuration().unwrap_or(own)
}

impl<'t, H: Host> Machine<'t, H> {
    /// Returns a machine in its initial configuration, its entry actions carried out.
    ///
    /// # Errors
    ///
    /// The machine doesn't come to rest within [`DEFAULT_STEP_LIMIT`] microsteps or with
    /// [`MAX_RAISED`](crate::MAX_RAISED) events raised, or an action fails.
    pub fn start(table: &'t Table, host: H) -> Result<Self, StepError> {
        Self::start_observed(table, host, &mut ())
    }

    /// Starts a machine as [`Machine::start`] does, with an observer.
    ///
    /// # Errors
    ///
    /// As for [`Machine::start`].
    pub fn start_observed<O: Observer>(
        table: &'t Table,
        host: H,
        observer: &mut O,
    ) -> Result<Self, StepError> {
        Self::try_start(table, host, observer).map_err(|failed| failed.error)
    }

    /// Starts a machine as [`Machine::start_observed`] does, and gives the host back if it can't.
    ///
    /// # Errors
    ///
    /// As for [`Machine::start`]; with the action that failed, if one did.
    pub fn try_start<O: Observer>(
        table: &'t Table,
        host: H,
        observer: &mut O,
    ) -> Result<Self, FailedStart<H>> {
        let mut host = host;
        let mut work = Work::new(DEFAULT_STEP_LIMIT);
        match step::start(table, &mut work, &mut host, observer) {
            Ok(configuration) => Ok(Self::new(table, configuration, work, host)),
            Err(error) => Err(FailedStart {
                error,
                failure: work.failure,
                host,
            }),
        }
    }

    /// Returns a machine in the given configuration.
    /// Nothing is carried out: it was when the configuration was reached.
    ///
    /// Whether the machine would rest there isn't asked. Only its guards could say, and their answers may have changed
    /// since it did; an eventless transition that is enabled now waits until an event has been taken.
    ///
    /// # Errors
    ///
    /// The configuration isn't one of this table's machine.
    pub fn restore(
        table: &'t Table,
        host: H,
        configuration: Configuration,
    ) -> Result<Self, RestoreError> {
        configuration.check(table)?;
        let work = Work::new(DEFAULT_STEP_LIMIT);
        Ok(Self::new(table, configuration, work, host))
    }

    fn new(table: &'t Table, configuration: Configuration, work: Work, host: H) -> Self {
        let (cells, stride) = table.index.dense.cells();
        Self {
            table,
            cells,
            stride,
            configuration,
            learner: Learner::default(),
            work,
            host,
        }
    }

    /// Sends an event: one macrostep.
    ///
    /// # Errors
    ///
    /// The machine has ended, the event isn't one that can be sent, it is a label that leads to several places from an
    /// active state ([`StepError::Ambiguous`]), or the machine doesn't come to rest within the limit of microsteps or with
    /// [`MAX_RAISED`](crate::MAX_RAISED) events raised, or an action fails. The configuration is then the one before the
    /// event; actions that the host has already carried out are the host's to undo, and
    /// [`take_failure`](Self::take_failure) lists them.
    #[inline(always)]
    pub fn send(&mut self, event: EventId) -> Result<Outcome, StepError> {
        self.send_observed(event, &mut ())
    }

    /// Sends an event as [`Machine::send`] does, with an observer.
    ///
    /// # Errors
    ///
    /// As for [`Machine::send`].
    #[inline(always)]
    pub fn send_observed<O: Observer>(
        &mut self,
        event: EventId,
        observer: &mut O,
    ) -> Result<Outcome, StepError> {
        let leaf = self.configuration.leaf;
        let cell = index::cell(self.cells, self.stride, leaf, event);
        let (table, configuration) = (self.table, &self.configuration);
        // There is one call of the general step, so that every other result is a constant for the caller's optimizer.
        let found = match quick::take(table, configuration, (leaf, cell), &mut self.host, observer)
        {
            Quick::Ignored => return Ok(Outcome::Ignored),
            Quick::Moved(next) => {
                self.configuration.leaf = next;
                return Ok(Outcome::Taken);
            }
            Quick::General(found) => found,
        };
        self.send_general(event, found, observer)
    }

    /// Does all there is to do for the event, which takes the transition `found` if that is known.
    ///
    /// The general steps aren't inlined, so that a learned one saves no registers for them.
    #[inline(never)]
    fn send_general<O: Observer>(
        &mut self,
        event: EventId,
        found: Option<TransitionId>,
        observer: &mut O,
    ) -> Result<Outcome, StepError> {
        // A learned step leaves out what an observer would see.
        if !observer.watches()
            && let Some(outcome) = self.learner.take(event, &mut self.host)
        {
            return Ok(outcome);
        }
        if self.table.has_regions() {
            self.learn(event, observer)
        } else {
            self.send_flat(event, found, observer)
        }
    }

    /// Takes the event in a machine with one leaf.
    #[inline(never)]
    fn send_flat<O: Observer>(
        &mut self,
        event: EventId,
        found: Option<TransitionId>,
        observer: &mut O,
    ) -> Result<Outcome, StepError> {
        let Self {
            table,
            configuration,
            work,
            host,
            ..
        } = self;
        match found {
            Some(found) => step::macrostep(table, configuration, found, work, host, observer),
            None => step::send(table, configuration, event, work, host, observer),
        }
    }

    /// Takes the event by the general step in a machine with regions, and learns it unless it is watched.
    #[inline(never)]
    fn learn<O: Observer>(
        &mut self,
        event: EventId,
        observer: &mut O,
    ) -> Result<Outcome, StepError> {
        let Self {
            table,
            configuration: own,
            learner,
            work,
            host,
            ..
        } = self;
        let is_watched = observer.watches();
        let mut step = |own: &mut Configuration, host: &mut Listener<'_, H>| {
            step::send_in_regions(table, own, event, work, host, observer)
        };
        if is_watched {
            learner.leave(own);
        } else if let Some(learned) = learner.ready(table.sections.events.len(), own) {
            return learned.learn(own, event, host, step);
        }
        step(own, &mut Listener::deaf(host))
    }

    /// Brings the configuration up to date, for a step that isn't learned.
    fn leave(&mut self) {
        self.learner.leave(&mut self.configuration);
    }

    /// Sends an event that concerns these states alone, with an observer.
    /// The first of them that is active and has an enabled transition of its own for the event takes it. Other
    /// transitions that the event would trigger aren't considered.
    ///
    /// # Errors
    ///
    /// As for [`Machine::send`].
    pub fn send_to_observed<O: Observer>(
        &mut self,
        event: EventId,
        states: &[StateId],
        observer: &mut O,
    ) -> Result<Outcome, StepError> {
        self.leave();
        let Self {
            table,
            configuration,
            work,
            host,
            ..
        } = self;
        step::send_to(table, configuration, (event, states), work, host, observer)
    }

    /// Takes the event of a timer that is due, as [`Machine::send`] takes others.
    /// Only the host's clock says when; the host forgets a timer that was cancelled, as [`Timers`](crate::Timers) does.
    ///
    /// # Errors
    ///
    /// The machine has no such timer; else as for [`Machine::send`].
    pub fn elapse(&mut self, timer: TimerId) -> Result<Outcome, StepError> {
        self.elapse_observed(timer, &mut ())
    }

    /// Takes a timer's event as [`Machine::elapse`] does, with an observer.
    /// The record is of the timer's event.
    ///
    /// # Errors
    ///
    /// As for [`Machine::elapse`].
    pub fn elapse_observed<O: Observer>(
        &mut self,
        timer: TimerId,
        observer: &mut O,
    ) -> Result<Outcome, StepError> {
        self.leave();
        let Self {
            table,
            configuration,
            work,
            host,
            ..
        } = self;
        step::elapse(table, configuration, timer, work, host, observer)
    }

    /// Enters states by no transition, watched: for those who set a state by hand.
    /// What stands around them and is active stays; regions beside them, too, unless the state around those is left. It
    /// counts as one macrostep, whose first microstep has no transition.
    ///
    /// # Errors
    ///
    /// The machine has ended, it doesn't come to rest, or the targets can't be active together.
    pub fn jump_observed<O: Observer>(
        &mut self,
        targets: &[StateId],
        observer: &mut O,
    ) -> Result<Outcome, StepError> {
        self.leave();
        let Self {
            table,
            configuration,
            work,
            host,
            ..
        } = self;
        step::jump(table, configuration, targets, work, host, observer)
    }

    /// Takes the failed action of the last step that failed by one ([`StepError::ActionFailed`]).
    /// It has the cause and the actions that had run before it. Clones of a machine don't have it.
    pub const fn take_failure(&mut self) -> Option<ActionError<ActionId, Cause>> {
        self.work.failure.take()
    }

    /// Reports whether sending the event would take a transition.
    /// Guards are asked, nothing is done.
    pub fn can(&mut self, event: EventId) -> bool {
        let Self { table, host, .. } = self;
        let configuration = current(&self.learner, &self.configuration);
        if step::accepts(table, configuration, event).is_err() {
            return false;
        }
        if table.has_regions() {
            let mut selection = Selection::default();
            step::select(table, configuration, event, &mut selection, host, &mut ());
            return !selection.enabled.is_empty();
        }
        step::selected(table, configuration, event, host, &mut ()).is_some()
    }

    /// Returns the transitions that an event from outside could take, in the order of selection.
    /// For each leaf, its own transitions come first, then its ancestors', each for each of its events, none twice.
    /// Every guard is asked once. A machine that has ended has no candidates.
    pub fn candidates(&mut self) -> Vec<Candidate> {
        let configuration = current(&self.learner, &self.configuration);
        candidate::candidates(self.table, configuration, &mut self.host)
    }

    /// Returns the active states.
    #[must_use]
    pub fn configuration(&self) -> &Configuration {
        current(&self.learner, &self.configuration)
    }

    /// Reports whether the state is active.
    #[must_use]
    pub fn is_in(&self, state: StateId) -> bool {
        self.configuration().is_active(self.table, state)
    }

    /// Reports whether the machine has reached a top-level final state.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.configuration().is_ended(self.table)
    }

    /// Sets the most microsteps of a macrostep; at least one.
    pub fn set_step_limit(&mut self, limit: u32) {
        self.work.limit = limit.max(1);
        // What was learned may be longer.
        self.set_learning_limit(self.learner.limit());
    }

    /// Sets the most memory in which the machine learns its steps; zero for none.
    /// It forgets what it has learned. Unit: bytes. [`DEFAULT_LEARNING_LIMIT`](crate::DEFAULT_LEARNING_LIMIT) unless it is set.
    ///
    /// Only machines with parallel states or history learn, from steps that nobody watches. What a machine does is the
    /// same; it takes longer without.
    pub fn set_learning_limit(&mut self, limit: usize) {
        self.leave();
        self.learner = Learner::new(limit);
    }

    /// Returns the table that the machine runs.
    #[must_use]
    pub const fn table(&self) -> &'t Table {
        self.table
    }

    /// Returns the host.
    #[must_use]
    pub const fn host(&self) -> &H {
        &self.host
    }

    /// Returns the host, to change.
    pub const fn host_mut(&mut self) -> &mut H {
        &mut self.host
    }

    /// Gives the host back.
    #[must_use]
    pub fn into_host(self) -> H {
        self.host
    }
}
