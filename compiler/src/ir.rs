//! The intermediate representation: one machine, every name resolved.
//!
//! [`crate::lower`] builds it from the syntax trees, [`crate::valid`] checks it, back ends write it. Handles replace names,
//! pseudo-states are gone, and every value knows where its author wrote it.
//!
//! Invariants of every [`Machine`], including those that the checks refuse:
//!
//! - `states[0]` is the root, which stands for the machine itself: it is compound (or atomic where the spec has no state
//!   at all) and the only state without a parent.
//! - States are in document order: a parent before its children, a subtree without gaps (`state..state.end`), siblings in
//!   the order in which the spec first names them.
//! - Transitions are sorted by source, then by their order in the text; `State::transitions` is that range.
//! - Handles point into the arenas of the same machine.
//! - The index of a value in its arena is its id in the table and in generated code, so records of all engines agree.
//! - `lower` has replaced forks, joins and choices by parallel states and guarded transitions. A history remains, as a
//!   state that is never active.

mod expression;

use std::ops::Range;

use serde_json::{Map, Value};
pub use statemark_runtime::{StateKind, Verdict};

use crate::arena::{Arena, Handle};
use crate::source::{FileId, Span, Spanned};

pub use self::expression::{
    BinaryOperator, Constant, Expression, ExpressionKind, Operator, UnaryOperator,
};
pub use crate::front::mermaid::ast::Direction;

/// A JSON object with keys that only hosts read.
pub type Meta = Map<String, Value>;

/// One state machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// The id, with the span that names it.
    ///
    /// That is the heading, the definition's `id` or the front matter; otherwise it is the span of the machine.
    pub id: Spanned<String>,
    /// The file that contains it.
    pub file: FileId,
    /// The section's heading, or the start of a file that contains only a machine.
    pub span: Span,
    /// The parts of the spec.
    pub parts: Parts,
    /// The title for people.
    pub title: Option<String>,
    /// The description for people.
    pub description: Option<String>,
    /// The states in document order; the first is the root.
    pub states: Arena<State>,
    /// The events, in the order in which the spec first names them.
    pub events: Arena<Event>,
    /// The transitions, by source, then in text order.
    pub transitions: Arena<Transition>,
    /// The guards that the host answers.
    pub guards: Arena<HostGuard>,
    /// The fields of the context and of events' data that guards and assignments use.
    pub fields: Arena<Field>,
    /// The actions.
    pub actions: Arena<Action>,
    /// The timers: of `after`, and of delayed sends.
    pub timers: Arena<Timer>,
    /// The labels that lead to several places from one state, by source, then by label.
    pub ambiguities: Vec<Ambiguity>,
    /// Detours that a file edit starts.
    pub interrupts: Vec<Interrupt>,
    /// The initial data.
    pub context: Option<Value>,
    /// The JSON Schema of the context.
    pub context_schema: Option<Value>,
    /// Keys of the definition that only hosts read.
    pub meta: Meta,
    /// The direction of the diagram.
    pub direction: Option<Direction>,
    /// Notes in the diagram.
    pub notes: Vec<Note>,
    /// True if a program's host drives it, not a run.
    pub is_embedded: bool,
}

/// The parts of a spec.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// The span of the diagram, which owns the topology if there is one.
    pub diagram: Option<Span>,
    /// The span of the definition, if there is one.
    pub definition: Option<Span>,
}

/// One state.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The id, unique in the machine; the root has the machine's.
    pub id: String,
    /// The declaration, or else the first mention.
    pub span: Span,
    /// The kind.
    pub kind: StateKind,
    /// The outcome of a run that ends in this final state.
    pub verdict: Verdict,
    /// True if it stands for a `[*]` and has no name in the spec.
    pub implied: bool,
    /// The parent; `None` for the root alone.
    pub parent: Option<Handle<State>>,
    /// The children, in document order.
    pub children: Vec<Handle<State>>,
    /// One past the index of its last descendant.
    pub end: usize,
    /// The initial transition of a compound state, or the default transition of a history.
    pub initial: Option<Initial>,
    /// The actions on entry.
    pub entry: Vec<Handle<Action>>,
    /// The actions on exit.
    pub exit: Vec<Handle<Action>>,
    /// The transitions, as indices into their arena.
    pub transitions: Range<usize>,
    /// The event `done.state.<id>`, if a transition waits for it.
    pub done: Option<Handle<Event>>,
    /// The title for people: the text after its colon in the diagram, or `title`.
    pub title: Option<Spanned<String>>,
    /// The description for people.
    pub description: Option<Spanned<String>>,
    /// The instructions for an agent in this state.
    pub instructions: Option<Spanned<String>>,
    /// The events that are accepted while an approval is open.
    pub while_waiting: Vec<Handle<Event>>,
    /// The event that is sent when all iterations are used up.
    pub on_max_iterations: Option<Handle<Event>>,
    /// Keys of the definition that only hosts read, such as tools, limits and models.
    pub meta: Meta,
}

/// The initial transition of a compound state, or the default transition of a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Initial {
    /// The span of `[*] --> a`, of `initial`, or of the state that it was inferred from.
    pub span: Span,
    /// The descendants to enter; several only in different regions of a parallel state.
    pub targets: Vec<Handle<State>>,
    /// The actions after the ` / ` of its label.
    pub actions: Vec<Handle<Action>>,
    /// True if the spec doesn't contain it.
    pub inferred: bool,
}

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The id, unique in the machine.
    pub id: String,
    /// The first mention.
    pub span: Span,
    /// The origin.
    pub kind: EventKind,
    /// The text of a prose label, or `title`.
    pub title: Option<String>,
    /// The description for people.
    pub description: Option<String>,
    /// The JSON Schema of its data.
    pub data: Option<Value>,
}

/// The origin of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Sent from outside, or raised by an action.
    Named,
    /// `done.state.<id>`: raised when the state has entered a final child, or all its regions are done.
    Completion(Handle<State>),
    /// `after.<id>.<n>`: sent by the host's clock alone, never by its name.
    ///
    /// Other timers may send events of any kind.
    Delayed,
    /// `error.execution`: raised when an assignment has no value.
    Fault,
    /// `error.unknown_event`: sent by a front end for a name that the machine doesn't have (`safe_next`).
    Unknown,
}

impl EventKind {
    /// Reports whether hosts send it by its name.
    #[must_use]
    pub const fn is_sendable(self) -> bool {
        matches!(self, Self::Named | Self::Unknown)
    }
}

/// One transition.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// The whole statement in the diagram, or the branch in the definition.
    pub span: Span,
    /// The source state.
    pub source: Handle<State>,
    /// The events that trigger it; none for an eventless transition.
    pub triggers: Vec<Handle<Event>>,
    /// The condition.
    pub guard: Option<Spanned<Expression>>,
    /// The actions.
    pub actions: Vec<Handle<Action>>,
    /// The target states.
    ///
    /// None for an internal transition that only acts; several only in different regions of a parallel state.
    pub targets: Vec<Handle<State>>,
    /// True if it doesn't exit its source.
    pub internal: bool,
    /// True if the spec doesn't contain it.
    ///
    /// A dead end gets one such transition, and an invoked workflow's two outcomes get one each.
    pub implied: bool,
    /// The label in the diagram.
    pub label: Option<Label>,
    /// The description for people.
    pub description: Option<String>,
    /// Keys of the definition that only hosts read, such as approval.
    pub meta: Meta,
}

/// A transition's label in the diagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The whole text.
    pub text: Spanned<String>,
    /// The text between its brackets, if it has any.
    pub guard: Option<String>,
}

/// A guard that isn't evaluated: the host answers it, or the sender of an event.
#[derive(Clone, Debug, PartialEq)]
pub struct HostGuard {
    /// The name: an identifier, unique among the guards.
    pub name: String,
    /// The author's text: the name, an expression or prose.
    pub text: String,
    /// The first mention.
    pub span: Span,
    /// True for a claim: nothing defines it, so that it holds where the sender of the event says so.
    pub is_claim: bool,
}

/// A field of the context, or of the event's data.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The dotted path; `event.x` is a field of the event's data.
    pub path: String,
    /// The first mention.
    pub span: Span,
    /// The type, as far as context, schema or use determine it.
    pub kind: Type,
    /// True if it is always there, from the start.
    pub present: bool,
}

/// The type of a value, as far as it is known statically.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Type {
    /// Nothing is known.
    #[default]
    Unknown,
    /// `true` or `false`.
    Bool,
    /// An integer, exact.
    Int,
    /// A number with a fraction.
    Float,
    /// An integer or a number with a fraction.
    Number,
    /// A string.
    Text,
    /// A list of such values.
    List(Box<Type>),
    /// An object; its fields have paths of their own.
    Object,
    /// Such a value or `null`.
    Nullable(Box<Type>),
}

/// One action.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// The name: an identifier, unique among the actions.
    pub name: String,
    /// The declaration, or else the first mention.
    pub span: Span,
    /// The operation.
    pub kind: ActionKind,
    /// Keys of the definition that only hosts read: `effect`.
    pub meta: Meta,
}

/// The operation of an action.
#[derive(Clone, Debug, PartialEq)]
pub enum ActionKind {
    /// Calls the host.
    Host,
    /// Calls the host, whose failure fails the step.
    Fallible,
    /// Raises an event from inside.
    Raise(Handle<Event>),
    /// Assigns fields: all expressions are evaluated first, then all fields change.
    Assign(Vec<Assign>),
    /// Has the host send the timer's event after a delay, in milliseconds.
    Schedule(Handle<Timer>, u64),
    /// Has the host cancel the timer.
    Cancel(Handle<Timer>),
    /// Executes one of two lists of actions. INVARIANT: those precede it in the arena.
    If {
        /// The condition.
        guard: Expression,
        /// The actions if it holds.
        then: Vec<Handle<Action>>,
        /// The actions if it doesn't.
        otherwise: Vec<Handle<Action>>,
    },
}

/// One assignment.
#[derive(Clone, Debug, PartialEq)]
pub struct Assign {
    /// A field of the context.
    pub field: Handle<Field>,
    /// The new value.
    pub value: Expression,
}

/// A delay of an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Timer {
    /// The name, unique among the timers: `after.<id>.<n>`, or the author's id.
    pub name: String,
    /// The span.
    pub span: Span,
    /// The event that it sends.
    pub event: Handle<Event>,
    /// The state with this `after`: scheduled on its entry, cancelled on its exit.
    pub of: Option<Handle<State>>,
}

/// A label that leads to several places from one state, where each way has an event of its own.
///
/// INVARIANT: each event triggers a transition of the source; the label triggers none of the source or inside it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ambiguity {
    /// The state.
    pub source: Handle<State>,
    /// The label, an event that hosts can send elsewhere.
    pub label: Handle<Event>,
    /// The events that it may mean there, at least two, in the order of their ids.
    pub events: Vec<Handle<Event>>,
}

/// A detour that a file edit starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Interrupt {
    /// The name.
    pub name: Spanned<String>,
    /// The pattern of the files whose edit starts it.
    pub pattern: String,
    /// The target state; `None` for `$return`.
    pub target: Option<Handle<State>>,
}

/// A note in the diagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The annotated state.
    pub state: Handle<State>,
    /// True if it is to the left of the state.
    pub left: bool,
    /// The text.
    pub text: String,
}

impl Transition {
    /// Returns the first target.
    #[must_use]
    pub fn target(&self) -> Option<Handle<State>> {
        self.targets.first().copied()
    }
}

impl ActionKind {
    /// Reports whether it calls the host.
    #[must_use]
    pub const fn is_host(&self) -> bool {
        matches!(self, Self::Host | Self::Fallible)
    }

    /// Returns the event that it raises immediately.
    #[must_use]
    pub fn raised(&self) -> Option<Handle<Event>> {
        match self {
            Self::Raise(event) => Some(*event),
            _ => None,
        }
    }
}

impl Machine {
    /// Leaves the guards that would be claims to the host, which drives the machine.
    pub(crate) fn ask_host(&mut self) {
        self.is_embedded = true;
        let claims = self.guards.iter().map(|(handle, _)| handle);
        for guard in claims.collect::<Vec<_>>() {
            self.guards.at_mut(guard).is_claim = false;
        }
    }

    /// Returns the root: the state that stands for the machine itself.
    #[must_use]
    pub fn root(&self) -> Handle<State> {
        Handle::at(0)
    }

    /// Returns the states except the root, in document order.
    pub fn named_states(&self) -> impl Iterator<Item = (Handle<State>, &State)> {
        self.states.iter().skip(1)
    }

    /// Returns the transitions of a state, in document order.
    pub fn transitions_of(
        &self,
        state: Handle<State>,
    ) -> impl Iterator<Item = (Handle<Transition>, &Transition)> {
        self.states
            .at(state)
            .transitions
            .clone()
            .filter_map(|index| {
                let handle = Handle::at(index);
                self.transitions
                    .get(handle)
                    .map(|transition| (handle, transition))
            })
    }

    /// Returns a state and its ancestors, the root last.
    pub fn ancestry(&self, state: Handle<State>) -> impl Iterator<Item = Handle<State>> {
        std::iter::successors(Some(state), |&inner| self.states.at(inner).parent)
    }

    /// Reports whether `inner` is `outer` or a descendant of it.
    #[must_use]
    pub fn is_within(&self, inner: Handle<State>, outer: Handle<State>) -> bool {
        (outer.index()..self.states.at(outer).end).contains(&inner.index())
    }

    /// Returns the label that its author wrote for an event of a state's transitions.
    ///
    /// It is another event if it is ambiguous.
    #[must_use]
    pub fn label_of(&self, source: Handle<State>, event: Handle<Event>) -> Handle<Event> {
        let start = self.ambiguities.partition_point(|it| it.source < source);
        let own = self.ambiguities.get(start..).unwrap_or_default().iter();
        let mut own = own.take_while(|it| it.source == source);
        let found = own.find(|it| it.events.binary_search(&event).is_ok());
        found.map_or(event, |ambiguity| ambiguity.label)
    }

    /// Returns the atomic and final states.
    pub fn leaves(&self) -> impl Iterator<Item = (Handle<State>, &State)> {
        self.states.iter().filter(|(_, state)| state.kind.is_leaf())
    }

    /// Returns the leaf in which default entry into a state ends, along the initial transitions.
    ///
    /// Returns `None` if a compound state on the way has no initial transition, or if a parallel state or a history is on
    /// the way, because there isn't a single leaf then.
    #[must_use]
    pub fn default_leaf(&self, state: Handle<State>) -> Option<Handle<State>> {
        let mut entered = state;
        while self.states.at(entered).kind == StateKind::Compound {
            let initial = self.states.at(entered).initial.as_ref()?;
            let &[target] = initial.targets.as_slice() else {
                return None;
            };
            // A proper descendant comes after its ancestor, so this ends.
            let is_descendant = target > entered && self.is_within(target, entered);
            entered = is_descendant.then_some(target)?;
        }
        self.states.at(entered).kind.is_leaf().then_some(entered)
    }

    /// Returns the state of an id, except for the root.
    #[must_use]
    pub fn state_named(&self, id: &str) -> Option<Handle<State>> {
        self.named_states()
            .find(|(_, state)| state.id == id)
            .map(|(handle, _)| handle)
    }

    /// Returns the event of an id.
    #[must_use]
    pub fn event_named(&self, id: &str) -> Option<Handle<Event>> {
        self.events
            .iter()
            .find(|(_, event)| event.id == id)
            .map(|(handle, _)| handle)
    }
}
