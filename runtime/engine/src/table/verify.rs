//! Verification of decoded tables.
//!
//! [`verify`] is the only way from [`Sections`], which came from anywhere, to a [`Table`], which the step loop trusts.
//! Each invariant has a number, a function of the same number, and a file in `tests/broken/` that breaks it. They are
//! checked in the order of the numbers, but V28 right behind V03, and a later one relies on the earlier ones.
//!
//! | number | holds |
//! |---|---|
//! | V01 | no section has more rows than its limit |
//! | V02 | every text that a row names is there |
//! | V03 | every range begins before it ends, within its section |
//! | V04 | every state, event, guard, field and action that a row names is there |
//! | V05 | state 0 is the root: compound, without a parent, around all others |
//! | V06 | every other state has a parent, which stands before it |
//! | V07 | states stand in document order: a subtree is its state and what follows, up to `end` |
//! | V08 | no state is nested deeper than the limit |
//! | V09 | names aren't empty; those of states (the root aside), events, actions, timers, guards and fields don't repeat |
//! | V10 | a state has children if and only if it is compound or parallel |
//! | V11 | only a final state stands for a failure |
//! | V12 | a compound state has initial targets, proper descendants; no other state has any, but histories |
//! | V13 | the root has no entry and no exit actions: it is neither entered nor left |
//! | V14 | a final state has no transitions |
//! | V15 | the states' transitions follow one another without gaps and cover all transitions |
//! | V16 | a transition's source is the state whose it is |
//! | V17 | a transition has targets, or it is internal |
//! | V18 | an internal transition's targets are proper descendants of its source |
//! | V19 | a transition doesn't lead to the root |
//! | V20 | a transition names each of its triggers once |
//! | V21 | no program is longer than the limit |
//! | V22 | the operands of an instruction that has any number stay within its program |
//! | V23 | programs don't overlap |
//! | V24 | an instruction has as many constants as it takes |
//! | V25 | an integer is between `i64::MIN` and `u64::MAX`, a float is finite |
//! | V26 | a `done` event is internal, and its state is compound or parallel and not the root |
//! | V27 | no list of actions is longer than the limit, what conditional ones come to included |
//! | V28 | all lists of targets, of triggers, of constants and of actions are together no longer than the limit |
//! | V29 | no cycle of eventless transitions that are first in line and have no guard: it would never come to rest |
//! | V30 | a parallel state has a child that isn't a history, and none that is final |
//! | V31 | a history has no entry and no exit actions and no transitions |
//! | V32 | a history's default transition leads into its parent |
//! | V33 | several targets of one transition lie in different regions of parallel states |
//! | V34 | the event that a timer sends isn't the `done` event of a state |
//! | V35 | what a conditional action does stands before it |
//! | V36 | what all histories may record is together no longer than the limit |
//! | V40 | an instruction has its operands, and none is nested deeper than the limit |
//! | V41 | the operands of an instruction that has any number end where an expression does |
//! | V42 | a program is one expression |
//! | V43 | what is assigned is a field of the context, not of an event's data |
//! | V44 | no action assigns more fields than the limit |
//! | V45 | the path of a field has no more keys than a value may be nested deep |
//! | V46 | merge rules stand in the order of their events, each of one kind, its fields in the order of their names |
//! | V47 | claims stand in the order of their guards, each once |
//! | V48 | a claim is asked by transitions alone that events from outside trigger: nobody claims anything to a timer |
//! | V50 | ambiguities stand in the order of their states, labels and events, and a label has several events in its state |
//! | V51 | an ambiguous label and its events can be sent; the events trigger transitions of the state, the label none |
//!
//! Deliberately not here: whether the machine is any *good*. The compiler has opinions; the runtime has none.

mod ambiguities;
mod claims;
mod effects;
mod lists;
mod names;
mod programs;
mod regions;
mod rest;
mod states;
mod transitions;

pub(super) use self::programs::is_expression;

use alloc::boxed::Box;
use core::fmt;

use super::Table;
use super::index::Index;
use super::sections::Sections;
use crate::id::TextId;
use crate::limits;

/// Rows that are no machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    number: u8,
    fault: Fault,
}

impl VerifyError {
    /// Returns the number of the invariant that doesn't hold: 7 for V07.
    #[must_use]
    pub const fn number(&self) -> u8 {
        self.number
    }
}

/// The row that breaks an invariant, and the way in which it does.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    place: Place,
    kind: FaultKind,
}

/// A row: what it is, its index, and its name if it has one that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    what: &'static str,
    row: Option<usize>,
    name: Option<Box<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum FaultKind {
    TooMany {
        found: usize,
        limit: usize,
    },
    NoText {
        text: TextId,
    },
    BadRange {
        what: &'static str,
        start: u32,
        end: u32,
        rows: usize,
    },
    Missing {
        what: &'static str,
        index: u16,
    },
    NoRoot,
    RootParent,
    RootKind,
    RootEnd {
        end: u16,
        states: usize,
    },
    NoParent,
    ParentBehind {
        parent: u16,
    },
    BadEnd {
        end: u16,
    },
    WrongParent {
        parent: u16,
        enclosing: u16,
    },
    TooDeep {
        limit: usize,
    },
    EmptyName,
    SameName {
        other: usize,
    },
    Children {
        found: bool,
    },
    Failure,
    NoInitial,
    InitialOutside {
        target: u16,
    },
    InitialOfLeaf,
    RootCalls,
    FinalTransitions,
    Gap {
        start: u16,
        expected: u16,
    },
    Uncovered {
        covered: usize,
    },
    Source {
        source: u16,
        state: usize,
    },
    NoTarget,
    InternalOutside {
        target: u16,
    },
    TargetRoot,
    SameTrigger {
        event: u16,
    },
    Program {
        found: usize,
        limit: usize,
    },
    Operands {
        at: usize,
        length: u16,
        rest: usize,
    },
    Overlap {
        what: &'static str,
        other: usize,
    },
    ConstantCount {
        what: &'static str,
        found: usize,
    },
    IntRange,
    NotFinite,
    DoneOfOther,
    DoneNamed {
        event: u16,
    },
    Calls {
        what: &'static str,
        found: usize,
        limit: usize,
    },
    TogetherTooMany {
        what: &'static str,
        found: usize,
        limit: usize,
    },
    NeverRests,
    NoOperand,
    Levels {
        at: usize,
        limit: usize,
    },
    Unfinished {
        end: usize,
    },
    NoProgram,
    SecondExpression {
        at: usize,
    },
    AssignsEvent {
        field: u16,
    },
    Assigns {
        found: usize,
        limit: usize,
    },
    Path {
        found: usize,
        limit: usize,
    },
    FinalRegion,
    NoRegion,
    HistoryActs,
    NoDefault,
    DefaultOutside {
        target: u16,
    },
    NotApart {
        one: u16,
        other: u16,
    },
    TimerCompletes {
        event: u16,
    },
    ConditionBehind {
        action: u16,
    },
    MergeOrder,
    AmbiguityOrder,
    OneMeaning,
    Unsendable {
        event: u16,
    },
    LabelTriggers {
        transition: u16,
    },
    NoMeaning {
        event: u16,
    },
    ClaimOrder,
    ClaimAsked {
        guard: u16,
    },
}

impl fmt::Display for VerifyError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "V{:02}: {}: {}",
            self.number, self.fault.place, self.fault.kind
        )
    }
}

impl core::error::Error for VerifyError {}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.what)?;
        if let Some(row) = self.row {
            write!(out, " {row}")?;
        }
        if let Some(name) = &self.name {
            write!(out, " `{name}`")?;
        }
        Ok(())
    }
}

impl fmt::Display for FaultKind {
    #[rustfmt::skip]
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany { found, limit } => write!(out, "has {found} rows, at most {limit} are allowed"),
            Self::NoText { text } => write!(out, "names text {}, which isn't there", text.raw()),
            Self::BadRange { what, start, end, rows } => write!(out, "its {what} are rows {start} to {end} of {rows}"),
            Self::Missing { what, index } => write!(out, "names {what} {index}, which isn't there"),
            Self::NoRoot => out.write_str("there is no root"),
            Self::RootParent => out.write_str("is the root, but has a parent"),
            Self::RootKind => out.write_str("is the root, but isn't compound"),
            Self::RootEnd { end, states } => write!(out, "is the root, but ends before state {end} of {states}"),
            Self::NoParent => out.write_str("has no parent, and isn't the root"),
            Self::ParentBehind { parent } => write!(out, "its parent, state {parent}, doesn't stand before it"),
            Self::BadEnd { end } => write!(out, "its subtree can't end before state {end}: it must hold the state and lie within its parent's"),
            Self::WrongParent { parent, enclosing } => write!(out, "its parent is state {parent}, but it stands in state {enclosing}"),
            Self::TooDeep { limit } => write!(out, "is nested more than {limit} deep"),
            Self::EmptyName => out.write_str("has an empty name"),
            Self::SameName { other } => write!(out, "has the same name as row {other}"),
            Self::Children { found: false } => out.write_str("is compound or parallel, but has no children"),
            Self::Children { found: true } => out.write_str("has children, but is neither compound nor parallel"),
            Self::Failure => out.write_str("stands for a failure, but isn't final"),
            Self::NoInitial => out.write_str("is compound, but has no initial target"),
            Self::InitialOutside { target } => write!(out, "its initial target, state {target}, isn't within it"),
            Self::InitialOfLeaf => out.write_str("has an initial transition, but isn't compound"),
            Self::RootCalls => out.write_str("is the root, but has entry or exit actions"),
            Self::FinalTransitions => out.write_str("is final, but has transitions"),
            Self::Gap { start, expected } => write!(out, "its transitions begin at {start} instead of {expected}"),
            Self::Uncovered { covered } => write!(out, "only the first {covered} belong to a state"),
            Self::Source { source, state } => write!(out, "its source is state {source}, but it is one of state {state}'s"),
            Self::NoTarget => out.write_str("has no target, but isn't internal"),
            Self::InternalOutside { target } => write!(out, "is internal, but its target, state {target}, isn't within its source"),
            Self::TargetRoot => out.write_str("leads to the root"),
            Self::SameTrigger { event } => write!(out, "names event {event} twice"),
            Self::Program { found, limit } => write!(out, "its program has {found} instructions, at most {limit} are allowed"),
            Self::Operands { at, length, rest } => write!(out, "instruction {at} of its program has operands of {length} instructions, but only {rest} follow"),
            Self::Overlap { what, other } => write!(out, "its program overlaps that of {what} {other}"),
            Self::ConstantCount { what, found } => write!(out, "`{what}` takes another number of constants than {found}"),
            Self::IntRange => out.write_str("isn't an integer of 64 bits"),
            Self::NotFinite => out.write_str("isn't a finite number"),
            Self::DoneOfOther => out.write_str("has a done event, but isn't a compound or parallel state below the root"),
            Self::DoneNamed { event } => write!(out, "its done event, event {event}, isn't internal"),
            Self::Calls { what, found, limit } => write!(out, "has {found} {what} actions, at most {limit} are allowed"),
            Self::TogetherTooMany { what, found, limit } => write!(out, "have {found} {what} together, at most {limit} are allowed"),
            Self::NeverRests => out.write_str("eventless transitions without guards lead from it back to it: the machine would never rest"),
            Self::FinalRegion => out.write_str("is parallel, but has a final child"),
            Self::NoRegion => out.write_str("is parallel, but all its children are histories"),
            Self::HistoryActs => out.write_str("is a history, but has entry actions, exit actions or transitions"),
            Self::NoDefault => out.write_str("is a history, but has no default target"),
            Self::DefaultOutside { target } => write!(out, "its default target, state {target}, isn't in its parent, or is a history of it"),
            Self::NotApart { one, other } => write!(out, "leads to states {one} and {other}, which aren't in different regions of a parallel state"),
            Self::TimerCompletes { event } => write!(out, "its event, event {event}, says that a state is done"),
            Self::ConditionBehind { action } => write!(out, "does action {action}, which doesn't stand before it"),
            Self::MergeOrder => out.write_str("doesn't follow the row before it by event and field, or is of another kind"),
            Self::AmbiguityOrder => out.write_str("doesn't follow the row before it by state, label and event"),
            Self::OneMeaning => out.write_str("is the only event that its label may mean in its state"),
            Self::Unsendable { event } => write!(out, "names event {event}, which can't be sent"),
            Self::LabelTriggers { transition } => write!(out, "its label triggers transition {transition} of its state"),
            Self::NoMeaning { event } => write!(out, "names event {event}, which triggers no transition of its state"),
            Self::ClaimOrder => out.write_str("doesn't follow the claim before it by its guard"),
            Self::ClaimAsked { guard } => write!(out, "asks guard {guard}, a claim, where no event from outside brings claims"),
            Self::NoOperand => out.write_str("its program ends where an operand must stand"),
            Self::Levels { at, limit } => write!(out, "instruction {at} of its program is nested more than {limit} deep"),
            Self::Unfinished { end } => write!(out, "operands end before instruction {end} of its program, in the middle of an expression"),
            Self::NoProgram => out.write_str("its program is empty"),
            Self::SecondExpression { at } => write!(out, "its program is a whole expression before instruction {at}"),
            Self::AssignsEvent { field } => write!(out, "assigns field {field}, which is of an event's data"),
            Self::Path { found, limit } => write!(out, "its path has {found} keys, at most {limit} are allowed"),
            Self::Assigns { found, limit } => write!(out, "assigns {found} fields, at most {limit} are allowed"),
        }
    }
}

/// An invariant: says which row breaks it.
type Rule = fn(&Sections) -> Result<(), Fault>;

/// All invariants with their numbers, in the order in which they are checked.
const RULES: &[(u8, Rule)] = &[
    (1, lists::v01_sizes),
    (2, names::v02_texts),
    (3, lists::v03_ranges),
    (28, lists::v28_together),
    (4, lists::v04_ids),
    (5, states::v05_root),
    (6, states::v06_parents),
    (7, states::v07_subtrees),
    (8, states::v08_depth),
    (9, names::v09_names),
    (10, states::v10_kinds),
    (11, states::v11_verdicts),
    (12, states::v12_initial),
    (13, states::v13_root_calls),
    (14, states::v14_final),
    (15, transitions::v15_cover),
    (16, transitions::v16_sources),
    (17, transitions::v17_target),
    (18, transitions::v18_internal),
    (19, transitions::v19_target_root),
    (20, transitions::v20_triggers),
    (21, programs::v21_program_length),
    (22, programs::v22_operands),
    (23, programs::v23_overlap),
    (24, programs::v24_constant_count),
    (25, lists::v25_constant_values),
    (26, states::v26_done),
    (27, effects::v27_calls),
    (29, rest::v29_rest),
    (30, regions::v30_parallel),
    (31, regions::v31_history),
    (32, regions::v32_default),
    (33, regions::v33_apart),
    (34, effects::v34_timers),
    (35, effects::v35_conditions),
    (36, regions::v36_recorded),
    (40, programs::v40_nesting),
    (41, programs::v41_ends),
    (42, programs::v42_one_expression),
    (43, programs::v43_assigned),
    (44, programs::v44_assigns),
    (45, programs::v45_paths),
    (46, lists::v46_merges),
    (47, claims::v47_order),
    (48, claims::v48_asked),
    (50, ambiguities::v50_order),
    (51, ambiguities::v51_meanings),
];

/// Verifies rows and derives what makes steps quick.
///
/// The step loop runs a verified table without panic, without endless loop and without leaving its sections, whoever
/// made it. Takes time and memory in the size of the rows, and of the index of states by events where that is built.
///
/// # Errors
///
/// An invariant doesn't hold; the first one, and the first row that breaks it.
pub fn verify(sections: Sections) -> Result<Table, VerifyError> {
    for &(number, rule) in RULES {
        rule(&sections).map_err(|fault| VerifyError { number, fault })?;
    }
    let index = Index::new(&sections);
    Ok(Table { sections, index })
}

impl Place {
    /// Returns the place of a whole section.
    const fn section(what: &'static str) -> Self {
        Self {
            what,
            row: None,
            name: None,
        }
    }

    /// Returns the place of a row without a name.
    const fn row(what: &'static str, row: usize) -> Self {
        Self {
            what,
            row: Some(row),
            name: None,
        }
    }

    /// Returns the place of a row with a name.
    fn with_name(
        sections: &Sections,
        what: &'static str,
        row: usize,
        name: Option<TextId>,
    ) -> Self {
        let name = name
            .and_then(|text| sections.texts.get(text.index()))
            .cloned();
        Self {
            what,
            row: Some(row),
            name,
        }
    }

    /// Returns the place of a state.
    fn state(sections: &Sections, row: usize) -> Self {
        Self::with_name(
            sections,
            "state",
            row,
            sections.states.get(row).map(|row| row.name),
        )
    }

    fn fault(self, kind: FaultKind) -> Fault {
        Fault { place: self, kind }
    }
}

/// Checks that the invariant holds here.
fn ensure(holds: bool, fault: impl FnOnce() -> Fault) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(fault()) }
}

const _: () = assert!(limits::MAX_STATES < u16::MAX as usize);
