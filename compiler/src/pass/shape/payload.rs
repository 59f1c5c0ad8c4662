//! Types of events' data, whose fields are read as `event.x` and merged into the context.
//!
//! An event has a [`Payload`] if its schema lists the fields. A read of `event.x` is *open* if an event without a payload
//! may be the one that is handled: its type isn't known then, and the host answers.

use std::collections::BTreeSet;

use super::{Layout, Shape, read};
use crate::arena::Handle;
use crate::ir::{Action, ActionKind, Event, Expression, Field, Machine, State};

/// The data of one event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Payload {
    pub(crate) event: Handle<Event>,
    pub(crate) layout: Layout,
}

/// Returns the path inside an event's data of a field that is read as `event.x`.
pub(crate) fn inside(path: &str) -> Option<&str> {
    path.strip_prefix("event.")
}

/// Returns the data of all events that have a shape.
///
/// If a spec reads `event` as a whole, none has, because that would need every field.
pub(super) fn payloads(machine: &Machine) -> Vec<Payload> {
    let mut fields = machine.fields.iter();
    if fields.any(|(_, field)| field.path == "event") {
        return Vec::new();
    }
    let sendable = machine
        .events
        .iter()
        .filter(|(_, event)| event.kind.is_sendable());
    sendable
        .filter_map(|(handle, event)| {
            let Shape::Struct(members) = read::schema_shape(event.data.as_ref()?) else {
                return None;
            };
            Some(Payload {
                event: handle,
                layout: Layout::with(members),
            })
        })
        .collect()
}

/// Returns the fields of events' data that may be read while an event without a payload is handled.
pub(super) fn open(machine: &Machine, payloads: &[Payload]) -> BTreeSet<Handle<Field>> {
    let has_payload = |event| payloads.iter().any(|payload| payload.event == event);
    let mut raised = BTreeSet::new();
    for (_, action) in machine.actions.iter() {
        raised.extend(action.kind.raised());
    }
    let mut events = machine.events.iter();
    let is_bare = |handle, event: &Event| event.kind.is_sendable() && !has_payload(handle);
    if machine.timers.is_empty() && !events.any(|(handle, event)| is_bare(handle, event)) {
        return BTreeSet::new();
    }
    let mut reads = Reads {
        machine,
        fields: BTreeSet::new(),
    };
    for (_, state) in machine.states.iter() {
        reads.state(state);
    }
    for (_, transition) in machine.transitions.iter() {
        // An event that no action raises comes from outside.
        let mut triggers = transition.triggers.iter();
        let is_known = !transition.triggers.is_empty()
            && triggers.all(|&event| has_payload(event) && !raised.contains(&event));
        if !is_known {
            if let Some(guard) = &transition.guard {
                reads.expression(&guard.value);
            }
            reads.actions(&transition.actions);
        }
    }
    reads.fields
}

/// A collector of the event fields that are read.
struct Reads<'m> {
    machine: &'m Machine,
    fields: BTreeSet<Handle<Field>>,
}

impl Reads<'_> {
    fn state(&mut self, state: &State) {
        self.actions(&state.entry);
        self.actions(&state.exit);
        if let Some(initial) = &state.initial {
            self.actions(&initial.actions);
        }
    }

    fn actions(&mut self, actions: &[Handle<Action>]) {
        for &action in actions {
            match &self.machine.actions.at(action).kind {
                ActionKind::Assign(assigns) => {
                    assigns
                        .iter()
                        .for_each(|assign| self.expression(&assign.value));
                }
                ActionKind::If {
                    guard,
                    then,
                    otherwise,
                } => {
                    self.expression(guard);
                    self.actions(then);
                    self.actions(otherwise);
                }
                ActionKind::Host
                | ActionKind::Fallible
                | ActionKind::Raise(_)
                | ActionKind::Schedule(..)
                | ActionKind::Cancel(_) => {}
            }
        }
    }

    fn expression(&mut self, expression: &Expression) {
        expression.visit(&mut |part| {
            if let Some(field) = part.field() {
                self.field(field);
            }
        });
    }

    fn field(&mut self, field: Handle<Field>) {
        if inside(&self.machine.fields.at(field).path).is_some() {
            self.fields.insert(field);
        }
    }
}

impl Shape {
    /// Returns the type of its own values and of data that is merged into it.
    pub(super) fn absorb(self, data: &Self) -> Self {
        match (self, data) {
            (Self::Struct(mut own), Self::Struct(members)) => {
                let same = own.len() == members.len();
                for member in &mut own {
                    let Some(other) = members.iter().find(|other| other.name == member.name) else {
                        return Self::Free;
                    };
                    let shape = std::mem::replace(&mut member.shape, Self::Free);
                    member.shape = shape.absorb(&other.shape);
                    member.optional |= other.optional;
                }
                if same { Self::Struct(own) } else { Self::Free }
            }
            (Self::List(own), Self::List(items)) => Self::List(Box::new(own.absorb(items))),
            (Self::Nullable(own), Self::Nullable(data)) => own.absorb(data).nullable(),
            (Self::Nullable(own), Self::Null) => Self::Nullable(own),
            (Self::Nullable(own), data) => own.absorb(data).nullable(),
            (own, Self::Nullable(data)) => own.absorb(data).nullable(),
            (own, data) => own.join(data.clone()),
        }
    }
}
