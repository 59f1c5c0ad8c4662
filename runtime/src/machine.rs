//! A running machine: a table, a configuration and a host.
//!
//! [`Machine`] is thin. A step whose whole effect the table's dense index knows is taken here, in a few instructions;
//! everything else is the general step's.

use alloc::vec;
use alloc::vec::Vec;

use crate::configuration::{Configuration, RestoreError};
use crate::error::StepError;
use crate::expression;
use crate::host::{Host, Observer};
use crate::id::{EventId, StateId, TransitionId};
use crate::limits::DEFAULT_STEP_LIMIT;
use crate::record::Outcome;
use crate::select::select;
use crate::step::{self, Work};
use crate::table::Table;
use crate::table::index::{self, Cell, Check, Contender, Guarded};
use crate::table::sections::EventKind;

/// A running machine.
#[derive(Clone, Debug)]
pub struct Machine<'t, H> {
    table: &'t Table,
    /// The table's dense index, once more: a step is so short that looking it up in the table would show.
    cells: &'t [Cell],
    stride: usize,
    configuration: Configuration,
    work: Work,
    host: H,
}

/// A transition that could be taken next, and what its guard says now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Candidate {
    /// The transition.
    pub transition: TransitionId,
    /// The event that triggers it.
    pub event: EventId,
    /// Whether its guard holds; true where it has none.
    pub holds: bool,
    /// Whether sending the event would take this transition: its guard holds, and no transition comes before it.
    pub enabled: bool,
}

impl<'t, H: Host> Machine<'t, H> {
    /// A machine in its initial configuration, its entry actions carried out.
    ///
    /// # Errors
    ///
    /// The machine doesn't come to rest within [`DEFAULT_STEP_LIMIT`] microsteps or with
    /// [`MAX_RAISED`](crate::MAX_RAISED) events raised.
    pub fn start(table: &'t Table, host: H) -> Result<Self, StepError> {
        Self::start_observed(table, host, &mut ())
    }

    /// [`Machine::start`], watched.
    ///
    /// # Errors
    ///
    /// As for [`Machine::start`].
    pub fn start_observed<O: Observer>(
        table: &'t Table,
        host: H,
        observer: &mut O,
    ) -> Result<Self, StepError> {
        let mut host = host;
        let mut work = Work::new(DEFAULT_STEP_LIMIT);
        let configuration = step::start(table, &mut work, &mut host, observer)?;
        Ok(Self::new(table, configuration, work, host))
    }

    /// A machine in the given configuration. Nothing is carried out: it was when the configuration was reached.
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
            work,
            host,
        }
    }

    /// Sends an event: one macrostep.
    ///
    /// # Errors
    ///
    /// The machine has ended, the event isn't one that can be sent, or the machine doesn't come to rest within the limit
    /// of microsteps or with [`MAX_RAISED`](crate::MAX_RAISED) events raised. The configuration is then the one before
    /// the event; actions that the host has already carried out are the host's to undo.
    #[inline(always)]
    pub fn send(&mut self, event: EventId) -> Result<Outcome, StepError> {
        self.send_observed(event, &mut ())
    }

    /// [`Machine::send`], watched.
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
        // What the general step is asked for, unless the cell says it all: the transition, if it is found already.
        // There is one call of it, so that every other result is a constant for the caller's optimizer.
        let found = 'general: {
            let Some(cell) = index::cell(self.cells, self.stride, leaf, event) else {
                break 'general None;
            };
            let next = match *cell {
                Cell::Nothing => return Ok(Outcome::Ignored),
                Cell::Move { transition, next } => {
                    observer.transition(transition);
                    observer.exited(leaf);
                    observer.entered(next);
                    next
                }
                // The other kinds leave out what an observer would see between the actions.
                _ if observer.watches() => break 'general None,
                Cell::Ask { guard, next } => {
                    if !self.holds(guard) {
                        return Ok(Outcome::Ignored);
                    }
                    next
                }
                Cell::Act {
                    guard,
                    action,
                    next,
                } => {
                    if !self.holds(guard) {
                        return Ok(Outcome::Ignored);
                    }
                    self.host.action(action);
                    next
                }
                Cell::Run {
                    guard,
                    count,
                    at,
                    next,
                } => {
                    if !self.holds(guard) {
                        return Ok(Outcome::Ignored);
                    }
                    self.run(usize::from(at), usize::from(count));
                    next
                }
                Cell::List { at, count } => {
                    let Some(first) = self.first(at as usize, usize::from(count), observer) else {
                        return Ok(Outcome::Ignored);
                    };
                    let Some(next) = first.next() else {
                        break 'general Some(first.transition());
                    };
                    let (at, count) = first.actions();
                    self.run(at, count);
                    next
                }
                Cell::General => break 'general None,
            };
            self.configuration.leaf = next;
            return Ok(Outcome::Taken);
        };
        self.send_general(event, found, observer)
    }

    #[inline(always)]
    fn holds(&mut self, guard: Guarded) -> bool {
        guard.guard().is_none_or(|guard| self.host.guard(guard))
    }

    /// The first contender whose guard holds.
    #[inline(always)]
    fn first<O: Observer>(
        &mut self,
        at: usize,
        count: usize,
        observer: &mut O,
    ) -> Option<&'t Contender> {
        let (table, host, configuration) = (self.table, &mut self.host, &self.configuration);
        let mut contenders = table.index.dense.contenders(at, count).iter();
        contenders.find(|contender| match contender.check() {
            Check::Always => true,
            Check::Ask(guard) => host.guard(guard),
            Check::Program => {
                expression::guard(table, contender.transition(), configuration, host, observer)
            }
        })
    }

    /// Does the actions of a cell or a contender.
    #[inline(always)]
    fn run(&mut self, at: usize, count: usize) {
        for &action in self.table.index.dense.actions(at, count) {
            self.host.action(action);
        }
    }

    /// Does all there is to do for the event, which takes the transition `found` if that is known.
    #[inline(never)]
    fn send_general<O: Observer>(
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

    /// Whether sending the event would take a transition. Guards are asked, nothing is done.
    pub fn can(&mut self, event: EventId) -> bool {
        step::accepts(self.table, &self.configuration, event).is_ok()
            && select(
                self.table,
                &self.configuration,
                event,
                &mut self.host,
                &mut (),
            )
            .is_some()
    }

    /// What could be taken next by an event from outside, in the order of selection: the leaf's transitions first, then
    /// its ancestors', each for each of its events. Every guard is asked once. None if the machine has ended.
    pub fn candidates(&mut self) -> Vec<Candidate> {
        let Self {
            table,
            configuration,
            host,
            ..
        } = self;
        let table: &Table = table;
        let mut candidates = Vec::new();
        if configuration.is_ended(table) {
            return candidates;
        }
        // For each event, whether a transition that would be taken has been seen.
        let mut taken = vec![false; table.events().len()];
        for row in table
            .chain(configuration.leaf)
            .filter_map(|state| table.state(state))
        {
            for transition in row.transitions.clone().map(TransitionId::new) {
                let named = |event: &EventId| {
                    table
                        .event(*event)
                        .is_some_and(|row| row.kind == EventKind::Named)
                };
                let mut events = table
                    .triggers(transition)
                    .iter()
                    .copied()
                    .filter(named)
                    .peekable();
                if events.peek().is_none() {
                    continue;
                }
                let holds = expression::guard(table, transition, configuration, host, &mut ());
                for event in events {
                    let Some(taken) = taken.get_mut(event.index()) else {
                        continue;
                    };
                    let enabled = holds && !*taken;
                    *taken |= holds;
                    candidates.push(Candidate {
                        transition,
                        event,
                        holds,
                        enabled,
                    });
                }
            }
        }
        candidates
    }

    /// The active states.
    #[must_use]
    pub const fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// Whether the state is active.
    #[must_use]
    pub fn is_in(&self, state: StateId) -> bool {
        self.configuration.is_active(self.table, state)
    }

    /// Whether the machine has reached a top-level final state.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.configuration.is_ended(self.table)
    }

    /// Sets the most microsteps of a macrostep; at least one.
    pub fn set_step_limit(&mut self, limit: u32) {
        self.work.limit = limit.max(1);
    }

    /// The table that the machine runs.
    #[must_use]
    pub const fn table(&self) -> &'t Table {
        self.table
    }

    /// The host.
    #[must_use]
    pub const fn host(&self) -> &H {
        &self.host
    }

    /// The host, to change.
    pub const fn host_mut(&mut self) -> &mut H {
        &mut self.host
    }

    /// Gives the host back.
    #[must_use]
    pub fn into_host(self) -> H {
        self.host
    }
}
