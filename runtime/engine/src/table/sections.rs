//! The rows of a table before anybody vouches for them.
//!
//! [`Sections`] is what the compiler fills in, what [`encode`](crate::encode) writes and what [`decode`](crate::decode)
//! reads back; nothing derived is stored. Ids in it may point anywhere: only [`verify`](crate::verify) turns it into a
//! [`Table`](crate::Table), which the step loop trusts.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use crate::id::{ActionId, EventId, FieldId, GuardId, StateId, TextId, TimerId};
use crate::value::{BinaryOperator, Operator, UnaryOperator};

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
    /// The fields that programs read and assign.
    /// They are dotted paths into the context; `event.x` is a field of the event's data.
    pub fields: Vec<TextId>,
    /// The actions.
    pub actions: Vec<ActionRow>,
    /// The timers.
    pub timers: Vec<TimerRow>,
    /// Lists of fields that actions assign; rows hold ranges of it.
    pub assigns: Vec<AssignRow>,
    /// Lists of states that transitions and initial transitions lead to; rows hold ranges of it.
    pub targets: Vec<StateId>,
    /// Lists of events that trigger a transition; rows hold ranges of it.
    pub triggers: Vec<EventId>,
    /// Lists of actions; rows hold ranges of it.
    pub calls: Vec<ActionId>,
    /// Programs; rows hold ranges of it.
    pub code: Vec<Instruction>,
    /// The constants that instructions work with; instructions hold ranges of it.
    pub constants: Vec<Constant>,
    /// The rules by which fields of events' data become fields of the context.
    ///
    /// The rule of an event is its rows, else those without an event, else that all fields do.
    pub merges: Vec<MergeRow>,
    /// The labels that lead to several places, with the events of their own that the ways have.
    pub ambiguities: Vec<AmbiguityRow>,
    /// The guards that hold where the sender of an event claims so, in the order of their ids.
    pub claims: Vec<ClaimRow>,
}

/// The kind of a state, in SCXML's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateKind {
    /// Has no children.
    Atomic,
    /// Has children, of which exactly one is active.
    Compound,
    /// Ends its parent, and the machine if its parent is the root.
    Final,
    /// Has children, its *regions*, which are all active.
    Parallel,
    /// Stands for the child of its parent that was active last; never active itself.
    History,
    /// Stands for the leaves within its parent that were active last; never active itself.
    DeepHistory,
}

impl StateKind {
    /// Reports whether it has children.
    #[must_use]
    pub const fn has_children(self) -> bool {
        matches!(self, Self::Compound | Self::Parallel)
    }

    /// Reports whether it can be active without active children.
    #[must_use]
    pub const fn is_leaf(self) -> bool {
        matches!(self, Self::Atomic | Self::Final)
    }

    /// Reports whether it is a history of its parent, shallow or deep.
    #[must_use]
    pub const fn is_history(self) -> bool {
        matches!(self, Self::History | Self::DeepHistory)
    }
}

/// True if the end that a final state stands for is a success.
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
    /// The kind.
    pub kind: StateKind,
    /// Of a final state: how the run ended.
    pub verdict: Verdict,
    /// The state around it; only the root has none.
    pub parent: Option<StateId>,
    /// One past its last descendant, as an index into `states`.
    pub end: u16,
    /// The targets of its initial transition; of a history, those of its default transition.
    /// A range of `targets`; empty for other kinds.
    pub initial: Range<u32>,
    /// The actions of that transition, a range of `calls`.
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

/// The origin of an event.
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
    /// The origin.
    pub kind: EventKind,
    /// Opaque JSON for hosts: title, schema of its data.
    pub metadata: Option<TextId>,
}

/// One transition.
#[derive(Clone, Debug, PartialEq)]
pub struct TransitionRow {
    /// The state that it leaves from.
    pub source: StateId,
    /// True if it stays inside its source: an internal transition without targets exits and enters nothing.
    pub internal: bool,
    /// The events that trigger it, a range of `triggers`; empty for an eventless transition.
    pub triggers: Range<u32>,
    /// Its guard program, a range of `code`; empty for none.
    pub guard: Range<u32>,
    /// Its actions, a range of `calls`.
    pub calls: Range<u32>,
    /// The targets, a range of `targets`.
    pub targets: Range<u32>,
    /// Opaque JSON for hosts: approval, description, label.
    pub metadata: Option<TextId>,
}

/// One action.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionRow {
    /// Its name, unique in the machine.
    pub name: TextId,
    /// The kind.
    pub kind: ActionKind,
    /// Opaque JSON for hosts: what the definition says of it.
    pub metadata: Option<TextId>,
}

/// The kind of an action.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ActionKind {
    /// An action that the host carries out.
    Host,
    /// An action that the host carries out or fails to, which fails the step.
    Fallible,
    /// Raises an event from inside.
    Raise(EventId),
    /// Assigns fields: all programs run first, then all fields change. A range of `assigns`.
    Assign(Range<u32>),
    /// Has the host send the timer's event after a delay, in milliseconds.
    Schedule(TimerId, u64),
    /// Has the host forget what the timer still has to send.
    Cancel(TimerId),
    /// A conditional action.
    /// It does one of two lists of actions, ranges of `calls`: the first if the program holds, else the second.
    If {
        /// A range of `code`.
        guard: Range<u32>,
        /// The actions if it holds.
        then: Range<u32>,
        /// The actions if it doesn't.
        otherwise: Range<u32>,
    },
}

impl ActionKind {
    /// Reports whether the host carries it out, by its name.
    #[must_use]
    pub const fn is_host(&self) -> bool {
        matches!(self, Self::Host | Self::Fallible)
    }

    /// Returns the event that it raises at once.
    #[must_use]
    pub const fn raised(&self) -> Option<EventId> {
        match self {
            Self::Raise(event) => Some(*event),
            _ => None,
        }
    }
}

/// One timer.
#[derive(Clone, Debug, PartialEq)]
pub struct TimerRow {
    /// Its name, unique among the timers.
    pub name: TextId,
    /// The event that it sends.
    pub event: EventId,
}

/// One assignment.
#[derive(Clone, Debug, PartialEq)]
pub struct AssignRow {
    /// The field of the context that changes.
    pub field: FieldId,
    /// The program that gives its value, a range of `code`.
    pub value: Range<u32>,
}

/// One instruction of a program.
///
/// A program is one expression in preorder: an instruction, then its operands, each an expression itself. So every
/// expression in it is a range of instructions, which is evaluated from left to right, in at most as many steps as it is
/// long. What is true is the value `true` alone: what reads an absent field is false.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Instruction {
    /// The host's answer.
    Ask(GuardId),
    /// True if the field compares with the constants, a range of `constants`.
    Compare(FieldId, Operator, Range<u32>),
    /// True if its operand isn't.
    Not,
    /// True if all of its operands are, which take up this many instructions.
    /// None after the first that isn't is evaluated.
    All(u16),
    /// True if one of its operands is, which take up this many instructions.
    /// None after the first that is is evaluated.
    Any(u16),
    /// The field's value.
    Load(FieldId),
    /// A constant, the only one of the range of `constants`.
    Push(Range<u32>),
    /// True if the field is there, be it null.
    Has(FieldId),
    /// True if the state is active.
    InState(StateId),
    /// True if its operand equals one of the constants, a range of `constants`.
    Among(Range<u32>),
    /// The result of the operator on its operand.
    Unary(UnaryOperator),
    /// The result of the operator on its two operands, the left one first.
    Binary(BinaryOperator),
}

impl Instruction {
    /// Returns how many operands it has; of `All` and `Any`, which have any number, it is none.
    #[must_use]
    pub const fn operands(&self) -> usize {
        match self {
            Self::Not | Self::Among(_) | Self::Unary(_) => 1,
            Self::Binary(_) => 2,
            _ => 0,
        }
    }
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

/// One field in a rule by which fields of an event's data become fields of the context.
///
/// Rules stand in the order of their events, that without an event first; fields in the order of their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeRow {
    /// The event; none for all events that have no rule of their own.
    pub event: Option<EventId>,
    /// The meaning of the rule's fields; the same in all of its rows.
    pub kind: MergeKind,
    /// The name of a field at the top of the data; none in the only row of a rule without fields.
    pub field: Option<TextId>,
}

/// The meaning of the fields of a merge rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeKind {
    /// Only these become fields of the context.
    Only,
    /// All but these become fields of the context.
    Except,
}

/// One event that a label may mean in a state from which it leads to several places.
///
/// The label triggers nothing there: sending it while the state is active is refused. Rows stand in the order of their
/// states, labels and events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AmbiguityRow {
    /// The state.
    pub state: StateId,
    /// The label, which is an event of the machine.
    pub label: EventId,
    /// An event that it may mean.
    pub event: EventId,
}

/// A guard that nothing defines: in a run it holds if the sender of the event says that it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRow {
    /// The guard.
    pub guard: GuardId,
    /// The author's words, which a sender repeats.
    pub text: TextId,
}

/// Returns the rows of a range, or none if it is out of bounds.
/// V03 rules that out for verified tables.
#[inline]
pub(crate) fn list<'a, T>(rows: &'a [T], range: &Range<u32>) -> &'a [T] {
    rows.get(range.start as usize..range.end as usize)
        .unwrap_or_default()
}
