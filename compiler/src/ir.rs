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
//! Deliberately not here: parallel regions, history and delays. `lower` reports them as unsupported until every engine
//! has them.

use std::ops::Range;

use serde_json::{Map, Value};
use statemark_runtime::Operator;
pub use statemark_runtime::{StateKind, Verdict};

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
    /// The fields of the context that guards read.
    pub fields: Arena<Field>,
    /// The actions.
    pub actions: Arena<Action>,
    /// Detours that a file edit starts.
    pub interrupts: Vec<Interrupt>,
    /// The initial data.
    pub context: Option<Value>,
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
    /// Of a compound state: where it begins.
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

/// Where a compound state begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Initial {
    /// The place of `[*] --> a`, of `initial`, or of the state it was inferred from.
    pub span: Span,
    /// A descendant.
    pub target: Handle<State>,
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
    /// `done.state.<id>`: raised when a child of that state that is final was entered.
    Completion(Handle<State>),
    /// `error.unknown_event`: sent by a face in place of a name that the machine doesn't have (`safe_next`).
    Unknown,
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
    /// Where it leads; `None` for an internal transition that only acts.
    pub target: Option<Handle<State>>,
    /// Whether it leaves its source.
    pub internal: bool,
    /// Whether the spec doesn't say it: the way out that a dead end gets, the two ways back from an invoked workflow.
    pub implied: bool,
    /// Its label as written in the diagram.
    pub label: Option<Spanned<String>>,
    /// Description for people.
    pub description: Option<String>,
    /// Keys of the definition that only hosts read: approval.
    pub meta: Meta,
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

/// A field of the context.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Dotted path.
    pub path: String,
    /// Its first mention.
    pub span: Span,
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
    /// The event that it raises; `None` for one that the host carries out.
    pub raises: Option<Handle<Event>>,
    /// What the definition says of it: `assign`, `effect`.
    pub meta: Meta,
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
        self.states
            .iter()
            .filter(|(_, state)| state.kind != StateKind::Compound)
    }

    /// Where default entry into a state ends: the state itself if it is a leaf, else along the initial transitions.
    ///
    /// `None` where a compound state on the way has no initial transition.
    #[must_use]
    pub fn default_leaf(&self, state: Handle<State>) -> Option<Handle<State>> {
        let mut at = state;
        while self.states.at(at).kind == StateKind::Compound {
            let target = self.states.at(at).initial.as_ref()?.target;
            // A proper descendant stands behind its ancestor, so this ends.
            at = (target > at && self.is_within(target, at)).then_some(target)?;
        }
        Some(at)
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
