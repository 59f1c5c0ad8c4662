//! A definition as written: the JSON part of a spec, typed key by key.
//!
//! Nothing is resolved and nothing is defaulted: a key that isn't there is `None` or empty. Every value that a later stage
//! may complain of is a [`Spanned`]. Keys that only hosts read (models, limits, tools) are checked for their type here and
//! kept as JSON in [`State::meta`] and [`Definition::meta`], in the order of the text.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use statemark_runtime::Operator;

use crate::source::{Span, Spanned};

/// A whole definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The object.
    pub span: Span,
    /// `id`.
    pub id: Option<Spanned<String>>,
    /// `title`.
    pub title: Option<Spanned<String>>,
    /// `description`.
    pub description: Option<Spanned<String>>,
    /// `initial`.
    pub initial: Option<Initial>,
    /// `context`: the initial data.
    pub context: Option<Spanned<Value>>,
    /// The places of the values in `context`, by their dotted path.
    pub context_places: BTreeMap<String, Span>,
    /// The fields that an agent's input may set, with their places; they are in `meta`, too.
    pub inputs: Vec<Spanned<String>>,
    /// `events`, in the order of the text.
    pub events: Vec<Named<EventDeclaration>>,
    /// `guards`, in the order of the text.
    pub guards: Vec<Named<Guard>>,
    /// True for `"guards": "declared"`: no guard may be undeclared, and none is declared.
    pub guards_declared: bool,
    /// `actions`, in the order of the text.
    pub actions: Vec<Named<ActionDeclaration>>,
    /// `actions_fail`: whether the host's actions can fail unless they say otherwise.
    pub actions_fail: Option<bool>,
    /// `states`, in the order of the text.
    pub states: Vec<Named<State>>,
    /// `interrupts`, in the order of the text.
    pub interrupts: Vec<Named<Interrupt>>,
    /// `on` of the machine itself: transitions that every state inherits.
    pub on: Vec<Named<Vec<Branch>>>,
    /// Every other key, for hosts.
    ///
    /// These are `version`, `context_schema`, `artifacts`, `documents`, `checks`, `capabilities`, `upstream_servers`,
    /// `properties`, `meta`, `merge`, `untracked_agents` and `deactivate`.
    pub meta: Map<String, Value>,
}

/// A value under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T> {
    /// The key, unescaped, at its place (the quotes included).
    pub name: Spanned<String>,
    /// The value.
    pub value: T,
}

/// One event of `events`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventDeclaration {
    /// `title`.
    pub title: Option<Spanned<String>>,
    /// `description`.
    pub description: Option<Spanned<String>>,
    /// `data`: a JSON Schema.
    pub data: Option<Spanned<Value>>,
}

/// One state of `states`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// `type`.
    pub kind: Option<Spanned<Kind>>,
    /// `history` is `"deep"`.
    pub deep: bool,
    /// `initial`; of a history, its default transition, which may be written `target`, too.
    pub initial: Option<Initial>,
    /// `states`.
    pub states: Vec<Named<State>>,
    /// `on`, in the order of the text.
    pub on: Vec<Named<Vec<Branch>>>,
    /// `always`.
    pub always: Vec<Branch>,
    /// `after`: delays as written.
    pub after: Vec<Named<Vec<Branch>>>,
    /// `on_done`.
    pub on_done: Vec<Branch>,
    /// `invoke`.
    pub invoke: Option<Invocation>,
    /// `entry`.
    pub entry: Vec<Spanned<String>>,
    /// `exit`.
    pub exit: Vec<Spanned<String>>,
    /// `title`.
    pub title: Option<Spanned<String>>,
    /// `description`.
    pub description: Option<Spanned<String>>,
    /// `instructions`.
    pub instructions: Option<Spanned<String>>,
    /// `safe_next`.
    pub safe_next: Option<Spanned<String>>,
    /// `on_max_iterations`: an event.
    pub on_max_iterations: Option<Spanned<String>>,
    /// `outcome`.
    pub outcome: Option<Spanned<Outcome>>,
    /// `while_waiting`: events.
    pub while_waiting: Vec<Spanned<String>>,
    /// The events for which `requires` names something; it is for hosts, too.
    pub requires: Vec<Spanned<String>>,
    /// Every other key, for hosts, under its canonical name (`blocked_env`, not `deny_env`).
    pub meta: Map<String, Value>,
}

/// The beginning of a machine or of a state.
#[derive(Clone, Debug, PartialEq)]
pub struct Initial {
    /// The whole value: a string, a list, or an object.
    pub span: Span,
    /// Its target; several only if they are in different regions of a parallel state.
    pub targets: Vec<Spanned<String>>,
    /// `actions`.
    pub actions: Vec<Spanned<String>>,
}

/// Another workflow that a state waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct Invocation {
    /// `src`: the workflow.
    pub workflow: Spanned<String>,
    /// `input`, as written.
    pub input: Option<Value>,
    /// `on_done`.
    pub on_done: Vec<Branch>,
    /// `on_error`.
    pub on_error: Vec<Branch>,
}

/// `type` of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No children.
    Atomic,
    /// Children, one active.
    Compound,
    /// Children, all active.
    Parallel,
    /// An end.
    Final,
    /// Remembers.
    History,
}

/// `outcome` of a final state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The default.
    Success,
    /// The run has ended without what it was for.
    Failure,
}

/// One alternative of an event, a delay or a completion: the first that holds is taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// The whole value: a string, or an object.
    pub span: Span,
    /// The effect of the branch.
    pub kind: BranchKind,
    /// `guard` and `guards`: all must hold.
    pub guards: Vec<Spanned<GuardUse>>,
    /// `actions`.
    pub actions: Vec<Spanned<String>>,
    /// `internal`, or the opposite of `reenter`.
    pub internal: Option<Spanned<bool>>,
    /// `description`.
    pub description: Option<Spanned<String>>,
    /// `requires_approval` and `approval_message`, for hosts.
    pub meta: Map<String, Value>,
}

/// The effect of a branch.
#[derive(Clone, Debug, PartialEq)]
pub enum BranchKind {
    /// A target state; none for a branch that only acts.
    ///
    /// There are several only if they are in different regions of a parallel state.
    Target(Vec<Spanned<String>>),
    /// Starts another workflow.
    Invoke {
        /// `invoke`.
        workflow: Spanned<String>,
        /// `input`, as written.
        input: Option<Value>,
        /// `on_complete`.
        on_complete: Spanned<String>,
        /// `on_fail`.
        on_fail: Option<Spanned<String>>,
    },
    /// Starts branches side by side.
    Fork(Fork),
}

/// Branches that run side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Fork {
    /// `fork`, the key.
    pub span: Span,
    /// `branches`, in the order of the text.
    pub branches: Vec<Named<ForkBranch>>,
    /// True if `join` is `"any"`: the first branch that is done ends the others.
    pub any: bool,
    /// `on_complete`; `None` if it is missing, which was reported.
    pub on_complete: Option<Spanned<String>>,
    /// `on_fail`.
    pub on_fail: Option<Spanned<String>>,
}

/// One branch of a fork. What is missing was reported.
#[derive(Clone, Debug, PartialEq)]
pub struct ForkBranch {
    /// `initial`.
    pub initial: Option<Spanned<String>>,
    /// `terminal`.
    pub terminal: Option<Spanned<String>>,
}

/// A guard where it is used.
#[derive(Clone, Debug, PartialEq)]
pub enum GuardUse {
    /// A name: of `guards`, else the host's.
    Name(String),
    /// A guard written in place.
    Inline(Guard),
}

/// A guard.
#[derive(Clone, Debug, PartialEq)]
pub enum Guard {
    /// `{field, op, value}`.
    Compare {
        /// `field`.
        field: Spanned<String>,
        /// `op`.
        operator: Spanned<Operator>,
        /// `value`; for `in` the items of the list, for `exists` none.
        values: Vec<Spanned<Value>>,
    },
    /// `{all: […]}`.
    All(Vec<Spanned<Guard>>),
    /// `{any: […]}`.
    Any(Vec<Spanned<Guard>>),
    /// `{not: …}`.
    Not(Box<Spanned<Guard>>),
    /// An expression, or inside `all`, `any`, `not` the name of another guard.
    Text(Spanned<String>),
}

/// One action of `actions`.
#[derive(Clone, Debug, PartialEq)]
pub enum ActionDeclaration {
    /// `{raise: event}`.
    Raise(Spanned<String>),
    /// `{assign: {field: value}}`.
    Assign {
        /// Each field with its value: a text is an expression, anything else a constant.
        fields: Vec<Named<Spanned<Value>>>,
        /// The other keys, for hosts.
        meta: Map<String, Value>,
    },
    /// `{effect: …}`, or an action that only says whether it can fail.
    Host {
        /// `fails`.
        fails: Option<bool>,
        /// The other keys as written, for hosts.
        meta: Map<String, Value>,
    },
}

/// One interrupt.
#[derive(Clone, Debug, PartialEq)]
pub struct Interrupt {
    /// `trigger.file_pattern`.
    pub pattern: Option<Spanned<String>>,
    /// `target`: a state, or `$return`.
    pub target: Option<Spanned<String>>,
}
