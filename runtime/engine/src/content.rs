//! SCXML's executable content, as a verified table has it.
//!
//! A list of actions is a *block*: where an assignment has no value, the event `error.execution` is raised and the rest of
//! the block is skipped, also the rest of the lists around an `if`; a machine without that event fails the macrostep.

use alloc::vec::Vec;
use core::ops::{ControlFlow, Range};

use crate::configuration::Configuration;
use crate::error::StepError;
use crate::expression;
use crate::failure::{ActionError, Cause, Done};
use crate::host::{Host, Observer};
use crate::id::{ActionId, EventId, StateId, TransitionId};
use crate::limits::MAX_RAISED;
use crate::regions;
use crate::table::Table;
use crate::table::sections::{ActionKind, list};

/// The memory of steps, kept from one to the next.
/// It is SCXML's internal queue, the limit, and what the host has done.
#[derive(Debug)]
pub(crate) struct Work {
    /// Events raised in this macrostep, in order; those before `next` are done with.
    raised: Vec<EventId>,
    next: usize,
    /// Most microsteps in a macrostep.
    pub(crate) limit: u32,
    /// The host's actions in this macrostep, in a table whose actions can fail.
    pub(crate) done: Done<ActionId>,
    /// The action that failed in the last macrostep that one did in.
    pub(crate) failure: Option<ActionError<ActionId, Cause>>,
}

/// Between two steps only the limit means anything; a failure stays with the machine that had it.
impl Clone for Work {
    fn clone(&self) -> Self {
        Self::new(self.limit)
    }
}

impl Work {
    pub(crate) const fn new(limit: u32) -> Self {
        Self {
            raised: Vec::new(),
            next: 0,
            limit,
            done: Done::new(),
            failure: None,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.raised.clear();
        self.next = 0;
    }

    /// Adds an event, unless there are so many that the macrostep fails.
    fn push(&mut self, event: EventId) {
        if self.raised.len() <= MAX_RAISED {
            self.raised.push(event);
        }
    }
}

/// The table's actions, for one macrostep.
pub(crate) struct Content<'a, H> {
    pub(crate) table: &'a Table,
    pub(crate) work: &'a mut Work,
    pub(crate) host: &'a mut H,
}

/// True if the block goes on.
type Flow = ControlFlow<()>;

impl<H: Host> Content<'_, H> {
    /// Does the actions of a list, in order: SCXML's `executeContent`.
    #[inline]
    pub(crate) fn run<O: Observer>(
        &mut self,
        calls: &Range<u32>,
        configuration: &Configuration,
        observer: &mut O,
    ) -> Result<(), StepError> {
        if calls.is_empty() {
            return Ok(());
        }
        self.block(calls, configuration, observer).map(|_| ())
    }

    fn block<O: Observer>(
        &mut self,
        calls: &Range<u32>,
        configuration: &Configuration,
        observer: &mut O,
    ) -> Result<Flow, StepError> {
        for &action in list(&self.table.sections.calls, calls) {
            if self.action(action, configuration, observer)?.is_break() {
                return Ok(Flow::Break(()));
            }
        }
        Ok(Flow::Continue(()))
    }

    fn action<O: Observer>(
        &mut self,
        action: ActionId,
        configuration: &Configuration,
        observer: &mut O,
    ) -> Result<Flow, StepError> {
        let table = self.table;
        match table.action(action).map(|row| &row.kind) {
            None | Some(ActionKind::Host) => {
                self.host.action(action);
                self.note_done(action);
                observer.action(action);
            }
            Some(ActionKind::Fallible) => {
                if let Err(cause) = self.host.try_action(action) {
                    self.work.failure = Some(self.work.done.fail(action, cause));
                    return Err(StepError::ActionFailed(action));
                }
                self.note_done(action);
                observer.action(action);
            }
            Some(&ActionKind::Raise(event)) => {
                observer.action(action);
                self.raise(event, observer);
            }
            Some(&ActionKind::Schedule(timer, delay)) => {
                self.host.schedule(timer, delay);
                observer.action(action);
            }
            Some(&ActionKind::Cancel(timer)) => {
                self.host.cancel(timer);
                observer.action(action);
            }
            Some(ActionKind::Assign(rows)) => {
                let host = &mut *self.host;
                if expression::assign(table, rows, configuration, host, observer).is_err() {
                    let Some(event) = table.index.execution else {
                        return Err(StepError::NoValue(action));
                    };
                    self.raise(event, observer);
                    return Ok(Flow::Break(()));
                }
                observer.action(action);
            }
            Some(ActionKind::If {
                guard,
                then,
                otherwise,
            }) => {
                let host = &mut *self.host;
                let holds = expression::program(table, guard, configuration, host, observer);
                observer.action(action);
                // INVARIANT: what is done in it stands before it (V35), so this ends.
                let calls = if holds { then } else { otherwise };
                return self.block(calls, configuration, observer);
            }
        }
        Ok(Flow::Continue(()))
    }

    /// Notes an action of the host's where a later one can fail.
    #[inline]
    fn note_done(&mut self, action: ActionId) {
        if self.table.index.can_fail {
            self.work.done.push(action);
        }
    }

    /// Appends an event to the internal queue: SCXML's `internalQueue.enqueue`.
    fn raise<O: Observer>(&mut self, event: EventId, observer: &mut O) {
        self.work.push(event);
        observer.raised(event);
    }
}

impl<H: Host> regions::Content for Content<'_, H> {
    fn holds<O: Observer>(
        &mut self,
        transition: TransitionId,
        configuration: &Configuration,
        observer: &mut O,
    ) -> bool {
        expression::guard(self.table, transition, configuration, self.host, observer)
    }

    fn exit<O: Observer>(
        &mut self,
        state: StateId,
        configuration: &Configuration,
        observer: &mut O,
    ) -> Result<(), StepError> {
        let row = self.table.state(state);
        row.map_or(Ok(()), |row| self.run(&row.exit, configuration, observer))
    }

    fn act<O: Observer>(
        &mut self,
        transition: TransitionId,
        configuration: &Configuration,
        observer: &mut O,
    ) -> Result<(), StepError> {
        let row = self.table.transition(transition);
        row.map_or(Ok(()), |row| self.run(&row.calls, configuration, observer))
    }

    fn enter<O: Observer>(
        &mut self,
        state: StateId,
        configuration: &Configuration,
        observer: &mut O,
    ) -> Result<(), StepError> {
        let row = self.table.state(state);
        row.map_or(Ok(()), |row| self.run(&row.entry, configuration, observer))
    }

    fn begin<O: Observer>(
        &mut self,
        state: StateId,
        configuration: &Configuration,
        observer: &mut O,
    ) -> Result<(), StepError> {
        let row = self.table.state(state);
        row.map_or(Ok(()), |row| {
            self.run(&row.initial_calls, configuration, observer)
        })
    }

    #[inline]
    fn done<O: Observer>(&mut self, state: StateId, observer: &mut O) {
        if let Some(done) = self.table.state(state).and_then(|row| row.done) {
            self.raise(done, observer);
        }
    }

    #[inline]
    fn next(&mut self) -> Option<EventId> {
        let event = self.work.raised.get(self.work.next).copied();
        match event {
            Some(_) => self.work.next += 1,
            None => self.work.clear(),
        }
        event
    }

    #[inline]
    fn fault(&self) -> Option<StepError> {
        (self.work.raised.len() > MAX_RAISED).then_some(StepError::RaiseLimit)
    }
}
