//! Random machines: well-formed IR, built directly, the same for the same seed.
//!
//! [`machine`] makes one of a seed and a [`Shape`]. What it makes is what `lower` could have made: every state is in
//! document order, every handle leads somewhere, histories have defaults, several targets are orthogonal. Whether the
//! checks accept it is theirs to say. The build script of this crate uses this module, too, whence the name of its file.

mod actions;
mod chance;
mod claims;
mod expressions;
mod shape;
mod transitions;
mod tree;

use statemark_compiler::arena::{Arena, Handle};
use statemark_compiler::ir::{
    Action, Event, EventKind, Field, HostGuard, Machine, Meta, Parts, State, StateKind, Type,
};
use statemark_compiler::source::{FileId, Sources, Span, Spanned};

pub(crate) use chance::Chance;
pub(crate) use shape::Shape;

/// The machine of a seed.
pub(crate) fn machine(seed: u64, shape: Shape) -> Machine {
    let mut sources = Sources::new();
    let file = sources.add("random.md", "");
    let mut builder = Builder {
        chance: Chance::new(seed),
        shape,
        span: empty_span(file),
        machine: empty(seed, file),
    };
    builder.vocabulary();
    builder.grow_root();
    builder.completions();
    builder.actions();
    builder.timers();
    builder.attach();
    builder.initials();
    builder.transitions();
    builder.claims(seed);
    builder.machine
}

/// A machine under construction.
struct Builder {
    chance: Chance,
    shape: Shape,
    span: Span,
    machine: Machine,
}

impl Builder {
    /// Events, guards and fields: what everything else names.
    fn vocabulary(&mut self) {
        for index in 0..self.shape.events {
            self.event(format!("e{index}"), EventKind::Named);
        }
        if self.shape.content && self.chance.percent(60) {
            self.event("error.execution".to_owned(), EventKind::Fault);
        }
        for index in 0..3 {
            let name = format!("g{index}");
            self.machine.guards.append(HostGuard {
                text: name.clone(),
                name,
                span: self.span,
                is_claim: false,
            });
        }
        let mut context = Meta::new();
        for (path, kind) in self.shape.context() {
            let present = *kind != Type::Unknown && self.chance.percent(40);
            if present {
                let value = match kind {
                    Type::Int => 3.into(),
                    Type::Bool => true.into(),
                    _ => "red".into(),
                };
                context.insert((*path).to_owned(), value);
            }
            self.machine.fields.append(Field {
                path: (*path).to_owned(),
                span: self.span,
                kind: kind.clone(),
                present,
            });
        }
        self.machine.context = Some(context.into());
    }

    fn event(&mut self, id: String, kind: EventKind) -> Handle<Event> {
        self.machine.events.append(Event {
            id,
            span: self.span,
            kind,
            title: None,
            description: None,
            data: None,
        })
    }

    /// Gives some states with children an event for their end.
    fn completions(&mut self) {
        for state in self.machine.states.handles().skip(1).collect::<Vec<_>>() {
            let row = self.machine.states.at(state);
            if row.kind.has_children() && self.chance.percent(50) {
                let id = format!("done.state.{}", row.id);
                let done = self.event(id, EventKind::Completion(state));
                self.machine.states.at_mut(state).done = Some(done);
            }
        }
    }

    fn kind(&self, state: Handle<State>) -> StateKind {
        self.machine.states.at(state).kind
    }

    /// A few of the actions, in any order.
    fn some_actions(&mut self, percent: u64) -> Vec<Handle<Action>> {
        let all: Vec<Handle<Action>> = self.machine.actions.handles().collect();
        let mut list = Vec::new();
        while list.len() < 3 && self.chance.percent(percent) {
            list.extend(self.chance.pick(&all));
        }
        list
    }
}

fn empty_span(file: FileId) -> Span {
    Span {
        file,
        start: 0,
        end: 0,
    }
}

fn empty(seed: u64, file: FileId) -> Machine {
    Machine {
        id: Spanned::new(format!("random_{seed}"), empty_span(file)),
        file,
        span: empty_span(file),
        parts: Parts::default(),
        title: None,
        description: None,
        states: Arena::new(),
        events: Arena::new(),
        transitions: Arena::new(),
        guards: Arena::new(),
        fields: Arena::new(),
        actions: Arena::new(),
        timers: Arena::new(),
        ambiguities: Vec::new(),
        interrupts: Vec::new(),
        context: None,
        context_schema: None,
        meta: Meta::new(),
        direction: None,
        notes: Vec::new(),
        is_embedded: false,
    }
}
