//! The rows of a table before anybody vouches for them.
//!
//! [`Sections`] is what the compiler fills in, what [`encode`](crate::encode) writes and what [`decode`](crate::decode)
//! reads back; nothing derived is stored. Ids in it may point anywhere: only [`verify`](crate::verify) turns it into a
//! [`Table`](crate::Table), which the step loop trusts.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use crate::id::{ActionId, EventId, FieldId, GuardId, StateId, TextId};
use crate::value::Operator;

/// The rows of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sections {
    /// The machine's id.
    pub name: TextId,
    /// Opaque JSON about the machine, for hosts: title, context, limits, artifacts.
    pub metadata: Option<TextId>,
    /// The texts that other rows name.
    pub texts: Vec<Box<str>>,
    /// The states in document order. The first is the root, which stands for the machine itself.
    pub states: Vec<StateRow>,
    /// The events.
    pub events: Vec<EventRow>,
    /// The transitions, by source, then in document order.
    pub transitions: Vec<TransitionRow>,
    /// The guards that the host answers, by name.
    pub guards: Vec<TextId>,
    /// The fields that guards read: dotted paths into the context.
    pub fields: Vec<TextId>,
    /// The actions.
    pub actions: Vec<ActionRow>,
    /// Lists of states that transitions and initial transitions lead to; rows hold ranges of it.
    pub targets: Vec<StateId>,
    /// Lists of events that trigger a transition; rows hold ranges of it.
    pub triggers: Vec<EventId>,
    /// Lists of actions; rows hold ranges of it.
    pub calls: Vec<ActionId>,
    /// Guard programs; rows hold ranges of it.
    pub code: Vec<Instruction>,
    /// The constants that instructions compare with; instructions hold ranges of it.
    pub constants: Vec<Constant>,
}

/// What a state is, in SCXML's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateKind {
    /// Has no children.
    Atomic,
    /// Has children, of which exactly one is active.
    Compound,
    /// Ends its parent, and the machine if its parent is the root.
    Final,
}

/// Whether the end that a final state stands for is a success.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// The run has reached what it was for.
    #[default]
    Success,
    /// The run has ended without it.
    Failure,
}

/// One state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateRow {
    /// Its id, unique in the machine.
    pub name: TextId,
    /// What it is.
    pub kind: StateKind,
    /// Of a final state: how the run ended.
    pub verdict: Verdict,
    /// The state around it; only the root has none.
    pub parent: Option<StateId>,
    /// One past its last descendant, as an index into `states`.
    pub end: u16,
    /// Of a compound state: where its initial transition leads, a range of `targets`; empty otherwise.
    pub initial: Range<u32>,
    /// The actions of its initial transition, a range of `calls`.
    pub initial_calls: Range<u32>,
    /// The actions on entry, a range of `calls`.
    pub entry: Range<u32>,
    /// The actions on exit, a range of `calls`.
    pub exit: Range<u32>,
    /// Its transitions, as indexes into `transitions`.
    pub transitions: Range<u16>,
    /// The event `done.state.<id>`, if any transition waits for it.
    pub done: Option<EventId>,
    /// Opaque JSON for hosts: title, instructions, tools, limits.
    pub metadata: Option<TextId>,
}

/// Where an event comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// Sent from outside, or raised by an action.
    Named,
    /// Raised by the machine itself; nobody can send it.
    Internal,
}

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRow {
    /// Its id, unique in the machine.
    pub name: TextId,
    /// Where it comes from.
    pub kind: EventKind,
    /// Opaque JSON for hosts: title, schema of its data.
    pub metadata: Option<TextId>,
}

/// One transition.
#[derive(Clone, Debug, PartialEq)]
pub struct TransitionRow {
    /// The state that it leaves from.
    pub source: StateId,
    /// Whether it stays inside its source: an internal transition without targets exits and enters nothing.
    pub internal: bool,
    /// The events that trigger it, a range of `triggers`; empty for an eventless transition.
    pub triggers: Range<u32>,
    /// Its guard program, a range of `code`; empty for none.
    pub guard: Range<u32>,
    /// Its actions, a range of `calls`.
    pub calls: Range<u32>,
    /// Where it leads, a range of `targets`.
    pub targets: Range<u32>,
    /// Opaque JSON for hosts: approval, description, label.
    pub metadata: Option<TextId>,
}

/// One action.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionRow {
    /// Its name, unique in the machine.
    pub name: TextId,
    /// The event that it raises; `None` for an action that the host carries out.
    pub raises: Option<EventId>,
    /// Opaque JSON for hosts: what the definition says of it.
    pub metadata: Option<TextId>,
}

/// One instruction of a guard program.
///
/// A program works on one truth value, which begins as `true`; at its end that value is the guard's answer. Jumps lead
/// forward only, so that a program ends after at most as many instructions as it has.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Instruction {
    /// The value is what the host answers.
    Ask(GuardId),
    /// The value is whether the field compares with the constants, a range of `constants`.
    Compare(FieldId, Operator, Range<u32>),
    /// The value is turned around.
    Not,
    /// Skips this many instructions if the value is `false`.
    SkipIfFalse(u16),
    /// Skips this many instructions if the value is `true`.
    SkipIfTrue(u16),
}

/// A constant that a guard compares with.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Constant {
    /// JSON's `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer from `i64::MIN` to `u64::MAX`.
    Int(i128),
    /// A finite number with a fraction or an exponent.
    Float(f64),
    /// A text.
    Text(TextId),
}
