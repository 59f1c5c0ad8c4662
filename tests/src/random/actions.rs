//! The actions, the timers, and the lists in which they stand.

use statemark_compiler::arena::Handle;
use statemark_compiler::ir::{
    Action, ActionKind, Assign, Event, EventKind, Meta, StateKind, Timer, Type,
};

use super::Builder;

impl Builder {
    /// The actions to choose from.
    pub(super) fn actions(&mut self) {
        for _ in 0..self.shape.actions {
            let kind = self.action_kind();
            self.action(kind);
        }
    }

    fn action(&mut self, kind: ActionKind) -> Handle<Action> {
        let name = format!("a{}", self.machine.actions.len());
        self.named_action(name, kind)
    }

    fn named_action(&mut self, name: String, kind: ActionKind) -> Handle<Action> {
        self.machine.actions.append(Action {
            name,
            span: self.span,
            kind,
            meta: Meta::new(),
        })
    }

    fn action_kind(&mut self) -> ActionKind {
        let data = self.shape.content;
        match self.chance.below(10) {
            0 | 1 => match self.raisable() {
                Some(event) => ActionKind::Raise(event),
                None => ActionKind::Host,
            },
            2..5 if data => ActionKind::Assign(self.assigns()),
            5 | 6 if data && !self.machine.actions.is_empty() => {
                let guard = self.guard(2);
                ActionKind::If {
                    guard,
                    then: self.some_actions(60),
                    otherwise: self.some_actions(40),
                }
            }
            _ if self.shape.fails > 0 && self.chance.percent(self.shape.fails) => {
                ActionKind::Fallible
            }
            _ => ActionKind::Host,
        }
    }

    fn raisable(&mut self) -> Option<Handle<Event>> {
        let named = |(_, event): &(Handle<Event>, &Event)| event.kind == EventKind::Named;
        let all: Vec<_> = self
            .machine
            .events
            .iter()
            .filter(named)
            .map(|(h, _)| h)
            .collect();
        self.chance.pick(&all)
    }

    fn assigns(&mut self) -> Vec<Assign> {
        let fields: Vec<_> = self
            .machine
            .fields
            .iter()
            .filter(|(_, field)| field.kind != Type::Unknown)
            .map(|(handle, field)| (handle, field.kind.clone()))
            .collect();
        let mut assigns = Vec::new();
        for (field, kind) in fields {
            if assigns.is_empty() || self.chance.percent(25) {
                let value = match kind {
                    Type::Int => {
                        let value = self.int(2);
                        self.bounded(value)
                    }
                    Type::Bool => self.bool(2),
                    // No text that doubles with every step.
                    _ => self.text(0),
                };
                if self.chance.percent(50) || !assigns.is_empty() {
                    assigns.push(Assign { field, value });
                }
            }
        }
        if assigns.is_empty() {
            let field = Handle::at(0);
            assigns.push(Assign {
                field,
                value: self.int(2),
            });
        }
        assigns
    }

    /// Gives some states an `after`: an event, a timer, and the two actions that start and stop it.
    pub(super) fn timers(&mut self) {
        for state in self.machine.states.handles().skip(1).collect::<Vec<_>>() {
            let kind = self.kind(state);
            if kind == StateKind::Final
                || kind.is_history()
                || !self.chance.percent(self.shape.timers)
            {
                continue;
            }
            let name = format!("after.{}.1", self.machine.states.at(state).id);
            let event = self.event(name.clone(), EventKind::Delayed);
            let timer = self.machine.timers.append(Timer {
                name: name.clone(),
                span: self.span,
                event,
                of: Some(state),
            });
            let delay = self.chance.next() % 5 * 1000;
            let cancel = self.named_action(format!("cancel.{name}"), ActionKind::Cancel(timer));
            let schedule = self.named_action(name, ActionKind::Schedule(timer, delay));
            let row = self.machine.states.at_mut(state);
            row.entry.push(schedule);
            row.exit.push(cancel);
        }
    }

    /// Entry and exit actions. What an `after` implies stands first and last.
    pub(super) fn attach(&mut self) {
        for state in self.machine.states.handles().skip(1).collect::<Vec<_>>() {
            if self.kind(state).is_history() {
                continue;
            }
            let (entry, exit) = (self.some_actions(35), self.some_actions(30));
            let row = self.machine.states.at_mut(state);
            row.entry.extend(entry);
            row.exit.splice(0..0, exit);
        }
    }
}
