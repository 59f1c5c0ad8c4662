//! The intermediate representation: one machine, every name resolved.
//!
//! [`crate::lower`] makes it of the syntax trees, [`crate::valid`] judges it, back ends write it. Handles replace names,
//! pseudo-states are gone, every value knows where its author wrote it.
//!
//! What holds of every [`Machine`], also of one that the checks refuse:
//!
//! - `states[0]` is the root, which stands for the machine itself: it is compound (or atomic where the spec has no state
//!   at all) and the only state without a parent.
//! - States stand in document order: a parent before its children, a subtree without gaps (`state..state.end`), siblings
//!   in the order in which the spec first names them.
//! - Transitions stand sorted by source, then in the order of the text; `State::transitions` is that range.
//! - Handles point into the arenas of the same machine.
//! - The index of a value in its arena is its id in the table and in generated code, so that records of all engines agree.
//!
//! - Forks, joins and choices are gone: `lower` has made parallel states and guarded transitions of them. History stays,
//!   as a state that is never active.

use std::ops::Range;

use serde_json::{Map, Value};
pub use statemark_runtime::{BinaryOperator, Operator, StateKind, UnaryOperator, Verdict};

use crate::arena::{Arena, Handle};
use crate::source::{FileId, Span, Spanned};

pub use crate::front::mermaid::ast::Direction;

/// Object of JSON keys that only hosts read.
pub type Meta = Map<String, Value>;

/// One state machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Its id, at the place that names it: heading, `id` of the definition, front matter; else the place of the machine.
    pub id: Spanned<String>,
    /// The file that it stands in.
    pub file: FileId,
    /// Where it stands: the section's heading, or the start of a file that is a machine alone.
    pub span: Span,
    /// What the spec consists of.
    pub parts: Parts,
    /// Title for people.
    pub title: Option<String>,
    /// Description for people.
    pub description: Option<String>,
    /// The states in document order; the first is the root.
    pub states: Arena<State>,
    /// The events, in the order in which the spec first names them.
    pub events: Arena<Event>,
    /// The transitions, by source, then in the order of the text.
    pub transitions: Arena<Transition>,
    /// The guards that the host answers.
    pub guards: Arena<HostGuard>,
    /// The fields of the context, and of events' data, that guards and assignments read and write.
    pub fields: Arena<Field>,
    /// The actions.
    pub actions: Arena<Action>,
    /// The timers: of `after`, and of delayed sends.
    pub timers: Arena<Timer>,
    /// Detours that a file edit starts.
    pub interrupts: Vec<Interrupt>,
    /// The initial data.
    pub context: Option<Value>,
    /// JSON Schema of the context.
    pub context_schema: Option<Value>,
    /// Keys of the definition that only hosts read.
    pub meta: Meta,
    /// Which way the diagram is drawn.
    pub direction: Option<Direction>,
    /// Notes in the diagram.
    pub notes: Vec<Note>,
}

/// What a spec consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// The place of the diagram, if there is one; it owns the topology then.
    pub diagram: Option<Span>,
    /// The place of the definition, if there is one.
    pub definition: Option<Span>,
}

/// One state.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Its id, unique in the machine; the root has the machine's.
    pub id: String,
    /// The place that declares it, else its first mention.
    pub span: Span,
    /// What it is.
    pub kind: StateKind,
    /// Of a final state: how the run ended.
    pub verdict: Verdict,
    /// Whether it stands for a `[*]` and has no name in the spec.
    pub implied: bool,
    /// The state around it; `None` for the root alone.
    pub parent: Option<Handle<State>>,
    /// Its children, in document order.
    pub children: Vec<Handle<State>>,
    /// One past the index of its last descendant.
    pub end: usize,
    /// Of a compound state: where it begins. Of a history: its default transition.
    pub initial: Option<Initial>,
    /// The actions on entry.
    pub entry: Vec<Handle<Action>>,
    /// The actions on exit.
    pub exit: Vec<Handle<Action>>,
    /// Its transitions, as indexes into the arena of transitions.
    pub transitions: Range<usize>,
    /// The event `done.state.<id>`, if a transition waits for it.
    pub done: Option<Handle<Event>>,
    /// Title for people: the text behind its colon in the diagram, or `title`.
    pub title: Option<Spanned<String>>,
    /// Description for people.
    pub description: Option<Spanned<String>>,
    /// What an agent is told in this state.
    pub instructions: Option<Spanned<String>>,
    /// Events that are let through while an approval is open.
    pub while_waiting: Vec<Handle<Event>>,
    /// The event that is sent when its iterations are spent.
    pub on_max_iterations: Option<Handle<Event>>,
    /// Keys of the definition that only hosts read: tools, limits, models.
    pub meta: Meta,
}

/// Where a compound state begins, or where its history leads while nothing is recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Initial {
    /// The place of `[*] --> a`, of `initial`, or of the state it was inferred from.
    pub span: Span,
    /// Descendants; several only where they stand in different regions of a parallel state.
    pub targets: Vec<Handle<State>>,
    /// The actions on the way, behind the ` / ` of its label.
    pub actions: Vec<Handle<Action>>,
    /// Whether the spec doesn't say it.
    pub inferred: bool,
}

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its id, unique in the machine.
    pub id: String,
    /// Its first mention.
    pub span: Span,
    /// Where it comes from.
    pub kind: EventKind,
    /// Its text where that isn't the id: of a prose label, or `title`.
    pub title: Option<String>,
    /// Description for people.
    pub description: Option<String>,
    /// JSON Schema of its data.
    pub data: Option<Value>,
}

/// Where an event comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Sent from outside, or raised by an action.
    Named,
    /// `done.state.<id>`: raised when a child of that state that is final was entered, or when all its regions are done.
    Completion(Handle<State>),
    /// `after.<id>.<n>`: sent by the host's clock alone, never by its name. Other timers may send events of any kind.
    Delayed,
    /// `error.execution`: raised when an assignment has no value.
    Fault,
    /// `error.unknown_event`: sent by a face in place of a name that the machine doesn't have (`safe_next`).
    Unknown,
}

impl EventKind {
    /// Whether hosts send it by its name.
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
    /// The state that it leaves from.
    pub source: Handle<State>,
    /// The events that trigger it; none for an eventless transition.
    pub triggers: Vec<Handle<Event>>,
    /// What must hold.
    pub guard: Option<Spanned<Guard>>,
    /// What it does.
    pub actions: Vec<Handle<Action>>,
    /// Where it leads; none for an internal transition that only acts, several only where they stand in different regions
    /// of a parallel state.
    pub targets: Vec<Handle<State>>,
    /// Whether it leaves its source.
    pub internal: bool,
    /// Whether the spec doesn't say it: the way out that a dead end gets, the two ways back from an invoked workflow.
    pub implied: bool,
    /// Its label in the diagram.
    pub label: Option<Label>,
    /// Description for people.
    pub description: Option<String>,
    /// Keys of the definition that only hosts read: approval.
    pub meta: Meta,
}

/// A transition's label in the diagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The whole text.
    pub text: Spanned<String>,
    /// The text between its brackets, if it has some.
    pub guard: Option<String>,
}

/// What must hold for a transition.
#[derive(Clone, Debug, PartialEq)]
pub enum Guard {
    /// The host answers.
    Ask(Handle<HostGuard>),
    /// A field compares with constants.
    Compare {
        /// The field.
        field: Handle<Field>,
        /// How.
        operator: Operator,
        /// With what: one constant, any number for `in`, none for `exists` and `not_exists`.
        constants: Vec<Constant>,
    },
    /// All of them; holds if there is none.
    All(Vec<Guard>),
    /// At least one of them.
    Any(Vec<Guard>),
    /// Not this one.
    Not(Box<Guard>),
    /// An expression.
    Expression(Expression),
}

/// A guard that the host answers.
#[derive(Clone, Debug, PartialEq)]
pub struct HostGuard {
    /// Its name: an identifier, unique among the guards.
    pub name: String,
    /// What the author wrote: the name, an expression, prose.
    pub text: String,
    /// Its first mention.
    pub span: Span,
}

/// A field of the context, or of the event's data.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Dotted path; `event.x` is a field of the event's data.
    pub path: String,
    /// Its first mention.
    pub span: Span,
    /// What it holds, as far as context, schema or use say.
    pub kind: Type,
    /// Whether it is there from the start and always, so that nobody need ask.
    pub present: bool,
}

/// What a value is, as far as it is known before the machine runs.
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
    /// A text.
    Text,
    /// A list of such values.
    List(Box<Type>),
    /// An object; its fields have paths of their own.
    Object,
    /// Such a value or `null`.
    Nullable(Box<Type>),
}

/// An expression over fields, with the place of each of its parts.
///
/// Two are equal if they say the same, wherever they are written.
#[derive(Clone, Debug)]
pub struct Expression {
    /// Where it is written.
    pub span: Span,
    /// What it is.
    pub kind: ExpressionKind,
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpressionKind {
    /// A literal.
    Constant(Constant),
    /// A field's value.
    Field(Handle<Field>),
    /// `has(a.b)`.
    Has(Handle<Field>),
    /// `in_state("a")`.
    InState(Handle<State>),
    /// The host answers.
    Ask(Handle<HostGuard>),
    /// `!a`.
    Not(Box<Expression>),
    /// `a && b && …`: at least two.
    And(Vec<Expression>),
    /// `a || b || …`: at least two.
    Or(Vec<Expression>),
    /// `-a`, `size(a)`.
    Unary(UnaryOperator, Box<Expression>),
    /// `a < b`, `a + b`, `a.startsWith(b)`, …
    Binary(BinaryOperator, Box<[Expression; 2]>),
    /// `a in [1, 2]`.
    Among(Box<Expression>, Vec<Constant>),
}

/// A constant in a guard.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// JSON's `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// From `i64::MIN` to `u64::MAX`.
    Int(i128),
    /// Finite.
    Float(f64),
    /// A text.
    Text(String),
}

/// One action.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// Its name: an identifier, unique among the actions.
    pub name: String,
    /// Its declaration, else its first mention.
    pub span: Span,
    /// What it does.
    pub kind: ActionKind,
    /// What the definition says of it: `effect`.
    pub meta: Meta,
}

/// What an action does.
#[derive(Clone, Debug, PartialEq)]
pub enum ActionKind {
    /// What the host makes of it.
    Host,
    /// Raises an event from inside.
    Raise(Handle<Event>),
    /// Assigns fields: all expressions are evaluated first, then all fields change.
    Assign(Vec<Assign>),
    /// Has the host send the timer's event after a delay, in milliseconds.
    Schedule(Handle<Timer>, u64),
    /// Has the host forget what the timer still has to send.
    Cancel(Handle<Timer>),
    /// Does one of two lists of actions. INVARIANT: they stand before it in the arena.
    If {
        /// Which of the two.
        guard: Guard,
        /// If it holds.
        then: Vec<Handle<Action>>,
        /// If it doesn't.
        otherwise: Vec<Handle<Action>>,
    },
}

/// One assignment.
#[derive(Clone, Debug, PartialEq)]
pub struct Assign {
    /// A field of the context.
    pub field: Handle<Field>,
    /// What it becomes.
    pub value: Expression,
}

/// What delays an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Timer {
    /// Its name, unique among the timers: `after.<id>.<n>`, or the id that the author gave it.
    pub name: String,
    /// Where it is written.
    pub span: Span,
    /// The event that it sends.
    pub event: Handle<Event>,
    /// The state whose `after` it is: scheduled on its entry, cancelled on its exit.
    pub of: Option<Handle<State>>,
}

/// A detour that a file edit starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Interrupt {
    /// Its name.
    pub name: Spanned<String>,
    /// The files whose edit starts it.
    pub pattern: String,
    /// Where it leads; `None` for `$return`.
    pub target: Option<Handle<State>>,
}

/// A note in the diagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The state beside which it stands.
    pub state: Handle<State>,
    /// Whether it stands left of it.
    pub left: bool,
    /// Its text.
    pub text: String,
}

impl Transition {
    /// Its first target.
    #[must_use]
    pub fn target(&self) -> Option<Handle<State>> {
        self.targets.first().copied()
    }
}

impl ActionKind {
    /// The event that it raises at once.
    #[must_use]
    pub fn raised(&self) -> Option<Handle<Event>> {
        match self {
            Self::Raise(event) => Some(*event),
            _ => None,
        }
    }
}

impl Machine {
    /// The root: the state that stands for the machine itself.
    #[must_use]
    pub fn root(&self) -> Handle<State> {
        Handle::at(0)
    }

    /// The states but the root, in document order.
    pub fn named_states(&self) -> impl Iterator<Item = (Handle<State>, &State)> {
        self.states.iter().skip(1)
    }

    /// The transitions of a state, in document order.
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

    /// A state and the states around it, from the inside out, the root last.
    pub fn ancestry(&self, state: Handle<State>) -> impl Iterator<Item = Handle<State>> {
        std::iter::successors(Some(state), |&inner| self.states.at(inner).parent)
    }

    /// Whether `inner` is `outer` or lies inside it.
    #[must_use]
    pub fn is_within(&self, inner: Handle<State>, outer: Handle<State>) -> bool {
        (outer.index()..self.states.at(outer).end).contains(&inner.index())
    }

    /// The states that can be active alone: atomic and final ones.
    pub fn leaves(&self) -> impl Iterator<Item = (Handle<State>, &State)> {
        self.states.iter().filter(|(_, state)| state.kind.is_leaf())
    }

    /// Where default entry into a state ends: the state itself if it is a leaf, else along the initial transitions.
    ///
    /// `None` where a compound state on the way has no initial transition, and where a parallel state or a history is on
    /// the way, so that there isn't one leaf.
    #[must_use]
    pub fn default_leaf(&self, state: Handle<State>) -> Option<Handle<State>> {
        let mut at = state;
        while self.states.at(at).kind == StateKind::Compound {
            let &[target] = self.states.at(at).initial.as_ref()?.targets.as_slice() else {
                return None;
            };
            // A proper descendant stands behind its ancestor, so this ends.
            at = (target > at && self.is_within(target, at)).then_some(target)?;
        }
        self.states.at(at).kind.is_leaf().then_some(at)
    }

    /// The state of that id, the root excepted.
    #[must_use]
    pub fn state_named(&self, id: &str) -> Option<Handle<State>> {
        self.named_states()
            .find(|(_, state)| state.id == id)
            .map(|(handle, _)| handle)
    }

    /// The event of that id.
    #[must_use]
    pub fn event_named(&self, id: &str) -> Option<Handle<Event>> {
        self.events
            .iter()
            .find(|(_, event)| event.id == id)
            .map(|(handle, _)| handle)
    }
}
