//! Executable content: what actions do.
//!
//! Appendix D leaves it to sections 4 and 5.10 of the recommendation: a list of actions is a *block*, carried out in
//! order, and what fails in it ends the block and raises `error.execution`.

use statemark_compiler::arena::Handle;
use statemark_compiler::ir::{Action, ActionKind, Event, EventKind, Transition};
use statemark_runtime::{ActionId, EventId, Observer as _};

use super::datum::{Datum, Fault};
use super::interpret::Failure;
use super::{Host, Interpreter};

/// The block is over, because something in it failed.
struct BlockEnds;

impl<H: Host> Interpreter<'_, H> {
    /// Appendix D, `executeTransitionContent(enabledTransitions)`.
    pub(super) fn execute_transition_content(
        &mut self,
        enabled_transitions: &[Handle<Transition>],
    ) -> Result<(), Failure> {
        for &t in enabled_transitions {
            let machine = self.machine;
            self.execute_content(&machine.transitions.at(t).actions)?;
        }
        Ok(())
    }

    /// `executeContent`: one block.
    pub(super) fn execute_content(&mut self, block: &[Handle<Action>]) -> Result<(), Failure> {
        match self.execute_list(block)? {
            Ok(()) | Err(BlockEnds) => Ok(()),
        }
    }

    fn execute_list(&mut self, list: &[Handle<Action>]) -> Result<Result<(), BlockEnds>, Failure> {
        for &action in list {
            if let Err(ends) = self.execute_one(action)? {
                return Ok(Err(ends));
            }
        }
        Ok(Ok(()))
    }

    fn execute_one(&mut self, action: Handle<Action>) -> Result<Result<(), BlockEnds>, Failure> {
        let machine = self.machine;
        let id = ActionId::from_index(action.index()).unwrap();
        match &machine.actions.at(action).kind {
            ActionKind::Host => {
                self.host.action(action);
                self.recorder.action(id);
            }
            ActionKind::Fallible => {
                if !self.host.try_action(action) {
                    return Err(Failure::Action(action));
                }
                self.recorder.action(id);
            }
            ActionKind::Raise(event) => {
                self.recorder.action(id);
                self.raise(*event);
            }
            ActionKind::Schedule(timer, delay) => {
                self.host.schedule(*timer, *delay);
                self.recorder.action(id);
            }
            ActionKind::Cancel(timer) => {
                self.host.cancel(*timer);
                self.recorder.action(id);
            }
            ActionKind::Assign(assigns) => {
                let mut values = Vec::new();
                for assign in assigns {
                    match self.evaluate(&assign.value) {
                        Ok(Datum::Absent) | Err(Fault) => return self.fault(action).map(Err),
                        Ok(value) => values.push((assign.field, value)),
                    }
                }
                for (field, value) in values {
                    self.host.assign(field, value);
                }
                self.recorder.action(id);
            }
            ActionKind::If {
                guard,
                then,
                otherwise,
            } => {
                let holds = self.holds(guard);
                self.recorder.action(id);
                return self.execute_list(if holds { then } else { otherwise });
            }
        }
        Ok(Ok(()))
    }

    /// `error.execution` is raised if the machine has it; else the step fails.
    fn fault(&mut self, action: Handle<Action>) -> Result<BlockEnds, Failure> {
        let mut events = self.machine.events.iter();
        match events.find(|(_, event)| event.kind == EventKind::Fault) {
            Some((event, _)) => {
                self.raise(event);
                Ok(BlockEnds)
            }
            None => Err(Failure::Execution(action)),
        }
    }

    /// Puts an event into the internal queue.
    pub(super) fn raise(&mut self, event: Handle<Event>) {
        self.internal_queue.push_back(event);
        self.raised_so_far += 1;
        self.recorder
            .raised(EventId::from_index(event.index()).unwrap());
    }
}
