//! The table: a machine as bytes, as rows, and as what the step loop trusts.
//!
//! ```text
//!  compiler ──► Sections ──encode──► bytes ──decode──► Sections ──verify──► Table ──► Machine
//!               rows: ids may        label, length,    rows again           ids are in range,
//!               point anywhere       checksum                               the tree is a tree, …
//! ```
//!
//! # The bytes
//!
//! Numbers are little-endian and stand where they fall, without padding.
//!
//! ```text
//!   0  label           8 bytes: 89 "statem" 0A
//!   8  version         u32: 3
//!  12  total length    u32, bytes
//!  16  checksum        u32: CRC-32 of everything from byte 20 on
//!  20  directory       entries of (offset u32, count u32): the first 16 sections, and more up to the last that has a row
//!      sections        in the directory's order, without gaps, to the last byte
//!
//!  section      row   holds
//!  machine        8   name text, metadata text?                              exactly one row
//!  texts          4   length u32
//!  bytes          1   the texts' bytes, one behind the other, UTF-8 each
//!  states        52   name text, kind u8, verdict u8, parent state?, end u16, initial range, initial calls range,
//!                     entry range, exit range, transitions (u16, u16), done event?, metadata text?
//!  events         9   name text, kind u8, metadata text?
//!  transitions   39   source state, internal u8, triggers range, guard range, calls range, targets range,
//!                     metadata text?
//!  guards         4   name text
//!  fields         4   path text
//!  actions       35   name text, kind u8, timer u16, three times 8 bytes, metadata text?
//!                     raise: the event in place of the timer; assign: a range; schedule: the delay u64;
//!                     if: three ranges; the rest zero
//!  timers         6   name text, event
//!  assigns       10   field, code range
//!  targets        2   state
//!  triggers       2   event
//!  calls          2   action
//!  code          12   instruction u8, operator u8, argument u16, constants range
//!  constants     17   kind u8, value 16 bytes: a bool, an i128, the bits of an f64, a text; the rest zero
//!  merges         7   event?, kind u8 (0 only, 1 except), field text?
//!  ambiguities    6   state, label event, event
//!  claims         6   guard, words text
//! ```
//!
//! A *text* is a u32, a *range* two u32 (begin, end); other ids are u16. Where `?` stands, all ones mean *none*.
//!
//! | code | state kind | verdict | event kind | action kind | instruction | constant |
//! |---|---|---|---|---|---|---|
//! | 0 | atomic | success | named | host | ask | null |
//! | 1 | compound | failure | internal | raise | compare | bool |
//! | 2 | final | | | assign | not | int |
//! | 3 | parallel | | | schedule | all | float |
//! | 4 | history | | | cancel | any | text |
//! | 5 | deep history | | | if | load | |
//! | 6 | | | | host, can fail | push | |
//! | 7 | | | | | has | |
//! | 8 | | | | | in state | |
//! | 9 | | | | | among | |
//! | 10 | | | | | unary | |
//! | 11 | | | | | binary | |
//!
//! A program is one expression in preorder: an instruction, then its operands. The argument of `all` and `any` is how
//! many instructions their operands take up.
//!
//! Operators have the codes of their places in [`Operator::ALL`](crate::Operator::ALL),
//! [`UnaryOperator::ALL`](crate::UnaryOperator::ALL) and [`BinaryOperator::ALL`](crate::BinaryOperator::ALL).
//!
//! # What to rely on
//!
//! - Format 2, whose programs were in postfix order with jumps, and whose merge rule was in the machine's metadata, is
//!   read as this one; [`encode`] writes 3.
//! - `decode(encode(s)) == s` for all rows that [`encode`] takes (NaN aside, which equals nothing), and
//!   `encode(decode(b)) == b` for all bytes of format 3 that [`decode`] takes: a table has one spelling.
//! - The bytes hold the logical rows only. What makes a step quick (the index of states by events, entry and exit
//!   lists) is derived by [`verify`], so that it can't be wrong and can change without a new format.

pub(crate) mod checksum;
pub(crate) mod decode;
pub(crate) mod dump;
pub(crate) mod encode;
pub(crate) mod index;
pub(crate) mod layout;
pub(crate) mod part;
pub(crate) mod sections;
pub(crate) mod spell;
pub(crate) mod tree;
pub(crate) mod verify;

use alloc::boxed::Box;
use core::ops::Range;

use self::index::Index;
use self::sections::{
    ActionRow, Constant, EventRow, Instruction, MergeKind, MergeRow, Sections, StateKind, StateRow,
    TimerRow, TransitionRow, list,
};
use crate::chart::{Arrow, Chart, EVENTLESS, Node, RegionIndex, Tree};
use crate::id::{
    ActionId, EventId, FieldId, GuardId, ROOT, StateId, TextId, TimerId, TransitionId,
};

/// A verified table. Only [`verify`](crate::verify) makes one.
///
/// Ids that come from another table are answered with `None`, an empty name or an empty list, never with a panic.
#[derive(Clone, Debug)]
pub struct Table {
    pub(crate) sections: Sections,
    pub(crate) index: Index,
}

impl Table {
    /// Returns the rows.
    #[must_use]
    pub const fn sections(&self) -> &Sections {
        &self.sections
    }

    /// Gives the rows back.
    #[must_use]
    pub fn into_sections(self) -> Sections {
        self.sections
    }

    /// Returns the machine's id.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text(self.sections.name)
    }

    /// Returns opaque JSON about the machine.
    #[must_use]
    pub fn metadata(&self) -> Option<&str> {
        self.sections.metadata.map(|text| self.text(text))
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self, id: TextId) -> &str {
        self.sections.texts.get(id.index()).map_or("", Box::as_ref)
    }

    /// Returns the state's row.
    #[must_use]
    pub fn state(&self, id: StateId) -> Option<&StateRow> {
        self.sections.states.get(id.index())
    }

    /// Returns the event's row.
    #[must_use]
    pub fn event(&self, id: EventId) -> Option<&EventRow> {
        self.sections.events.get(id.index())
    }

    /// Returns the transition's row.
    #[must_use]
    pub fn transition(&self, id: TransitionId) -> Option<&TransitionRow> {
        self.sections.transitions.get(id.index())
    }

    /// Returns the action's row.
    #[must_use]
    pub fn action(&self, id: ActionId) -> Option<&ActionRow> {
        self.sections.actions.get(id.index())
    }

    /// Returns the timer's row.
    #[must_use]
    pub fn timer(&self, id: TimerId) -> Option<&TimerRow> {
        self.sections.timers.get(id.index())
    }

    /// Returns all states with their ids, in document order, the root first.
    pub fn states(&self) -> impl ExactSizeIterator<Item = (StateId, &StateRow)> {
        // INVARIANT: V01 keeps all four sections within the numbers of their ids; so no id repeats.
        self.sections
            .states
            .iter()
            .enumerate()
            .map(|(index, row)| (id(index, StateId::new), row))
    }

    /// Returns all events with their ids.
    pub fn events(&self) -> impl ExactSizeIterator<Item = (EventId, &EventRow)> {
        self.sections
            .events
            .iter()
            .enumerate()
            .map(|(index, row)| (id(index, EventId::new), row))
    }

    /// Returns all transitions with their ids: by source, then in document order.
    pub fn transitions(&self) -> impl ExactSizeIterator<Item = (TransitionId, &TransitionRow)> {
        let rows = self.sections.transitions.iter().enumerate();
        rows.map(|(index, row)| (id(index, TransitionId::new), row))
    }

    /// Returns all actions with their ids.
    pub fn actions(&self) -> impl ExactSizeIterator<Item = (ActionId, &ActionRow)> {
        self.sections
            .actions
            .iter()
            .enumerate()
            .map(|(index, row)| (id(index, ActionId::new), row))
    }

    /// Returns all timers with their ids.
    pub fn timers(&self) -> impl ExactSizeIterator<Item = (TimerId, &TimerRow)> {
        self.sections
            .timers
            .iter()
            .enumerate()
            .map(|(index, row)| (id(index, TimerId::new), row))
    }

    /// Returns the state's id in the spec.
    #[must_use]
    pub fn state_name(&self, id: StateId) -> &str {
        self.state(id).map_or("", |row| self.text(row.name))
    }

    /// Returns the event's id in the spec.
    #[must_use]
    pub fn event_name(&self, id: EventId) -> &str {
        self.event(id).map_or("", |row| self.text(row.name))
    }

    /// Returns the action's name in the spec.
    #[must_use]
    pub fn action_name(&self, id: ActionId) -> &str {
        self.action(id).map_or("", |row| self.text(row.name))
    }

    /// Returns the timer's name in the spec.
    #[must_use]
    pub fn timer_name(&self, id: TimerId) -> &str {
        self.timer(id).map_or("", |row| self.text(row.name))
    }

    /// Returns the guard's name in the spec.
    #[must_use]
    pub fn guard_name(&self, id: GuardId) -> &str {
        self.sections
            .guards
            .get(id.index())
            .map_or("", |&name| self.text(name))
    }

    /// Returns the field's path in the context.
    #[must_use]
    pub fn field_name(&self, id: FieldId) -> &str {
        self.sections
            .fields
            .get(id.index())
            .map_or("", |&name| self.text(name))
    }

    /// Finds the state of that name; the root isn't found by its name.
    /// Takes time in the number of states.
    #[must_use]
    pub fn state_named(&self, name: &str) -> Option<StateId> {
        self.states()
            .skip(1)
            .find(|(_, row)| self.text(row.name) == name)
            .map(|(id, _)| id)
    }

    /// Finds the event of that name.
    /// Takes time in the number of events.
    #[must_use]
    pub fn event_named(&self, name: &str) -> Option<EventId> {
        self.events()
            .find(|(_, row)| self.text(row.name) == name)
            .map(|(id, _)| id)
    }

    /// Finds the action of that name.
    /// Takes time in the number of actions.
    #[must_use]
    pub fn action_named(&self, name: &str) -> Option<ActionId> {
        self.actions()
            .find(|(_, row)| self.text(row.name) == name)
            .map(|(id, _)| id)
    }

    /// Finds the timer of that name.
    /// Takes time in the number of timers.
    #[must_use]
    pub fn timer_named(&self, name: &str) -> Option<TimerId> {
        self.timers()
            .find(|(_, row)| self.text(row.name) == name)
            .map(|(id, _)| id)
    }

    /// Finds the guard of that name.
    /// Takes time in the number of guards.
    #[must_use]
    pub fn guard_named(&self, name: &str) -> Option<GuardId> {
        let mut names = self.sections.guards.iter();
        names
            .position(|&text| self.text(text) == name)
            .map(|index| id(index, GuardId::new))
    }

    /// Returns the field of that path.
    /// Takes time in the number of fields.
    #[must_use]
    pub fn field_named(&self, name: &str) -> Option<FieldId> {
        let mut names = self.sections.fields.iter();
        names
            .position(|&text| self.text(text) == name)
            .map(|index| id(index, FieldId::new))
    }

    /// Returns the claims with their author's words: guards that hold if the sender of an event says so.
    pub fn claims(&self) -> impl ExactSizeIterator<Item = (GuardId, &str)> {
        let rows = self.sections.claims.iter();
        rows.map(|row| (row.guard, self.text(row.text)))
    }

    /// Returns the author's words of a claim; none if the guard is no claim.
    #[must_use]
    pub fn claim_text(&self, guard: GuardId) -> Option<&str> {
        let rows = &self.sections.claims;
        let found = rows.binary_search_by_key(&guard, |row| row.guard).ok()?;
        rows.get(found).map(|row| self.text(row.text))
    }

    /// Returns the events that trigger the transition; none for an eventless one.
    #[must_use]
    pub fn triggers(&self, transition: TransitionId) -> &[EventId] {
        self.transition(transition)
            .map_or(&[], |row| list(&self.sections.triggers, &row.triggers))
    }

    /// Returns the targets of the transition; none for an internal transition that only acts.
    #[must_use]
    pub fn targets(&self, transition: TransitionId) -> &[StateId] {
        self.transition(transition)
            .map_or(&[], |row| list(&self.sections.targets, &row.targets))
    }

    /// Returns the actions in a range that a row of this table holds.
    #[must_use]
    pub fn calls(&self, range: &Range<u32>) -> &[ActionId] {
        list(&self.sections.calls, range)
    }

    /// Returns the guard program of the transition; empty for none.
    #[must_use]
    pub fn guard(&self, transition: TransitionId) -> &[Instruction] {
        self.transition(transition)
            .map_or(&[], |row| list(&self.sections.code, &row.guard))
    }

    /// Reports whether a field at the top of an event's data becomes a field of the context.
    ///
    /// Without an event it answers for those that have no rule of their own.
    #[must_use]
    pub fn merges(&self, event: Option<EventId>, field: &str) -> bool {
        let mut rule = self.merge_rule(event);
        if rule.is_empty() {
            rule = self.merge_rule(None);
        }
        let Some(first) = rule.first() else {
            return true;
        };
        let name = |row: &MergeRow| row.field.map(|id| self.text(id));
        let found = rule.binary_search_by(|row| name(row).cmp(&Some(field)));
        found.is_ok() == (first.kind == MergeKind::Only)
    }

    /// Returns the rows of an event's own merge rule.
    fn merge_rule(&self, event: Option<EventId>) -> &[MergeRow] {
        let rows = &self.sections.merges;
        let start = rows.partition_point(|row| row.event < event);
        let rows = rows.get(start..).unwrap_or_default();
        let end = rows.partition_point(|row| row.event <= event);
        rows.get(..end).unwrap_or_default()
    }

    /// Returns the events that a label may mean in a state; none if it isn't ambiguous there.
    pub fn meanings(&self, state: StateId, label: EventId) -> impl Iterator<Item = EventId> {
        let rows = &self.sections.ambiguities;
        let start = rows.partition_point(|row| (row.state, row.label) < (state, label));
        let rows = rows.get(start..).unwrap_or_default().iter();
        let rows = rows.take_while(move |row| (row.state, row.label) == (state, label));
        rows.map(|row| row.event)
    }

    /// Returns the states in which a label is ambiguous, in document order.
    /// Takes time in the number of ambiguities.
    pub fn ambiguous_states(&self, label: EventId) -> impl Iterator<Item = StateId> {
        let rows = self.sections.ambiguities.iter();
        let rows = rows.filter(move |row| row.label == label);
        let mut last = None;
        rows.filter_map(move |row| {
            (last.replace(row.state) != Some(row.state)).then_some(row.state)
        })
    }

    /// Returns the constants in a range that an instruction of this table holds.
    #[must_use]
    pub fn constants(&self, range: &Range<u32>) -> &[Constant] {
        list(&self.sections.constants, range)
    }

    /// Returns the parent of the state; the root has none.
    #[must_use]
    pub fn parent(&self, id: StateId) -> Option<StateId> {
        self.state(id).and_then(|row| row.parent)
    }

    /// Returns the state, then its ancestors, the root last.
    pub fn chain(&self, id: StateId) -> impl Iterator<Item = StateId> {
        core::iter::successors(self.state(id).map(|_| id), |&state| self.parent(state))
    }

    /// Reports whether `state` lies properly within `ancestor`.
    #[must_use]
    pub fn is_descendant(&self, state: StateId, ancestor: StateId) -> bool {
        tree::is_descendant(&self.sections.states, state, ancestor)
    }

    /// Reports whether the machine has parallel states or history.
    /// Its configurations may then have several leaves and records of histories.
    #[must_use]
    #[inline]
    pub const fn has_regions(&self) -> bool {
        self.index.has_regions
    }

    /// Reports whether the state is active without anything active in it.
    #[must_use]
    pub fn is_leaf(&self, id: StateId) -> bool {
        self.state(id).is_some_and(|row| row.kind.is_leaf())
    }

    /// Reports whether the state is a final child of the root: a machine in it has ended.
    #[must_use]
    pub fn is_end(&self, id: StateId) -> bool {
        self.state(id)
            .is_some_and(|row| row.kind == StateKind::Final && row.parent == Some(ROOT))
    }
}

impl Tree for Table {
    #[inline]
    fn node(&self, state: StateId) -> Option<Node<'_>> {
        self.sections.node(state)
    }
}

impl Chart for Table {
    #[inline]
    fn arrow(&self, transition: TransitionId) -> Option<Arrow<'_>> {
        let row = self.transition(transition)?;
        Some(Arrow {
            source: row.source,
            domain: self.index.domain(transition),
            targets: list(&self.sections.targets, &row.targets),
        })
    }

    #[inline]
    fn has_eventless(&self) -> bool {
        !self.index().reactions(EVENTLESS).is_empty()
    }

    #[inline]
    fn index(&self) -> RegionIndex<'_> {
        self.index.of_regions()
    }

    #[inline]
    fn triggered(&self, state: StateId, event: EventId) -> impl Iterator<Item = TransitionId> {
        let rows = self.index.matches(state, event).iter();
        rows.map(|&(_, transition)| transition)
    }
}

/// Returns the id of the row at `index` of a section that V01 has measured.
fn id<T>(index: usize, new: fn(u16) -> T) -> T {
    new(u16::try_from(index).unwrap_or(u16::MAX))
}
