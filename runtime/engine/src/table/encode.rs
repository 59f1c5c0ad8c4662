//! From rows to bytes.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use super::checksum::crc32;
use super::layout::{
    CHECKSUM_AT, DIRECTORY_AT, LABEL, LENGTH_AT, NONE_16, NONE_32, Section, VERSION, sections_at,
};
use super::sections::{
    ActionKind, ActionRow, AmbiguityRow, AssignRow, ClaimRow, Constant, EventKind, EventRow,
    Instruction, MergeKind, MergeRow, Sections, StateKind, StateRow, TimerRow, TransitionRow,
    Verdict,
};
use crate::id::{EventId, StateId, TextId};
use crate::limits::MAX_TABLE_BYTES;
use crate::value::{BinaryOperator, Operator, UnaryOperator};

/// Rows that don't fit into the format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError {
    kind: EncodeErrorKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum EncodeErrorKind {
    TooLong { length: usize },
    Reserved { section: Section, row: usize },
}

impl fmt::Display for EncodeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            EncodeErrorKind::TooLong { length } => {
                write!(
                    out,
                    "the table would have {length} bytes, more than {MAX_TABLE_BYTES}"
                )
            }
            EncodeErrorKind::Reserved { section, row } => write!(
                out,
                "row {row} of the section `{}` has an id that the format keeps for *none*",
                section.name()
            ),
        }
    }
}

impl core::error::Error for EncodeError {}

/// Returns the bytes of a table.
/// The same rows always give the same bytes, and [`decode`](crate::decode) gives the rows back.
///
/// Nothing is verified: rows that make no machine have bytes, too.
///
/// # Errors
///
/// The table would be longer than [`MAX_TABLE_BYTES`], or an optional id is the number that the format keeps for *none*
/// (`u16::MAX`; `u32::MAX` for a text).
pub fn encode(sections: &Sections) -> Result<Vec<u8>, EncodeError> {
    let all = directory(sections);
    let length = all
        .iter()
        .try_fold(sections_at(all.len()), |sum, section| {
            let size = count(sections, *section).checked_mul(section.row_size())?;
            size.checked_add(sum)
        })
        .unwrap_or(usize::MAX);
    if length > MAX_TABLE_BYTES {
        return Err(EncodeError {
            kind: EncodeErrorKind::TooLong { length },
        });
    }
    let mut out = Writer {
        bytes: Vec::with_capacity(length),
        section: Section::Machine,
        row: 0,
    };
    out.put(&LABEL);
    out.u32(VERSION);
    out.length(length);
    out.u32(0); // The checksum, once the rest is known.
    let mut at = sections_at(all.len());
    for section in all {
        out.length(at);
        out.length(count(sections, *section));
        at += count(sections, *section) * section.row_size();
    }
    rows(sections, &mut out)?;
    let mut bytes = out.bytes;
    let checksum = crc32(bytes.get(DIRECTORY_AT..).unwrap_or_default());
    if let Some(place) = bytes.get_mut(CHECKSUM_AT..DIRECTORY_AT) {
        place.copy_from_slice(&checksum.to_le_bytes());
    }
    debug_assert_eq!(bytes.len(), length);
    debug_assert_eq!(LENGTH_AT + 4, CHECKSUM_AT);
    Ok(bytes)
}

/// Returns the sections that the directory has.
fn directory(sections: &Sections) -> &'static [Section] {
    let last = Section::ALL
        .iter()
        .rposition(|section| count(sections, *section) > 0);
    let entries = last.map_or(0, |last| last + 1).max(Section::REQUIRED);
    Section::ALL.get(..entries).unwrap_or_default()
}

/// Returns the number of rows of a section.
fn count(sections: &Sections, section: Section) -> usize {
    match section {
        Section::Machine => 1,
        Section::Texts => sections.texts.len(),
        Section::Bytes => sections
            .texts
            .iter()
            .fold(0, |sum: usize, text| sum.saturating_add(text.len())),
        Section::States => sections.states.len(),
        Section::Events => sections.events.len(),
        Section::Transitions => sections.transitions.len(),
        Section::Guards => sections.guards.len(),
        Section::Fields => sections.fields.len(),
        Section::Actions => sections.actions.len(),
        Section::Timers => sections.timers.len(),
        Section::Assigns => sections.assigns.len(),
        Section::Targets => sections.targets.len(),
        Section::Triggers => sections.triggers.len(),
        Section::Calls => sections.calls.len(),
        Section::Code => sections.code.len(),
        Section::Constants => sections.constants.len(),
        Section::Merges => sections.merges.len(),
        Section::Ambiguities => sections.ambiguities.len(),
        Section::Claims => sections.claims.len(),
    }
}

/// Writes the rows of all sections.
fn rows(sections: &Sections, out: &mut Writer) -> Result<(), EncodeError> {
    out.u32(sections.name.raw());
    out.maybe_text(sections.metadata)?;
    for text in &sections.texts {
        out.length(text.len());
    }
    for text in &sections.texts {
        out.put(text.as_bytes());
    }
    out.each(Section::States, &sections.states, state)?;
    out.each(Section::Events, &sections.events, event)?;
    out.each(Section::Transitions, &sections.transitions, transition)?;
    for name in sections.guards.iter().chain(&sections.fields) {
        out.u32(name.raw());
    }
    out.each(Section::Actions, &sections.actions, action)?;
    for row in &sections.timers {
        timer(row, out);
    }
    for row in &sections.assigns {
        assign(row, out);
    }
    for target in &sections.targets {
        out.u16(target.raw());
    }
    for trigger in &sections.triggers {
        out.u16(trigger.raw());
    }
    for call in &sections.calls {
        out.u16(call.raw());
    }
    for instruction in &sections.code {
        code(instruction, out);
    }
    for value in &sections.constants {
        constant(value, out);
    }
    out.each(Section::Merges, &sections.merges, merge)?;
    for row in &sections.ambiguities {
        ambiguity(row, out);
    }
    for row in &sections.claims {
        claim(row, out);
    }
    Ok(())
}

fn state(row: &StateRow, out: &mut Writer) -> Result<(), EncodeError> {
    out.u32(row.name.raw());
    out.put(&[
        match row.kind {
            StateKind::Atomic => 0,
            StateKind::Compound => 1,
            StateKind::Final => 2,
            StateKind::Parallel => 3,
            StateKind::History => 4,
            StateKind::DeepHistory => 5,
        },
        match row.verdict {
            Verdict::Success => 0,
            Verdict::Failure => 1,
        },
    ]);
    out.maybe(row.parent.map(StateId::raw))?;
    out.u16(row.end);
    out.range(&row.initial);
    out.range(&row.initial_calls);
    out.range(&row.entry);
    out.range(&row.exit);
    out.u16(row.transitions.start);
    out.u16(row.transitions.end);
    out.maybe(row.done.map(EventId::raw))?;
    out.maybe_text(row.metadata)
}

fn event(row: &EventRow, out: &mut Writer) -> Result<(), EncodeError> {
    out.u32(row.name.raw());
    out.put(&[match row.kind {
        EventKind::Named => 0,
        EventKind::Internal => 1,
    }]);
    out.maybe_text(row.metadata)
}

fn transition(row: &TransitionRow, out: &mut Writer) -> Result<(), EncodeError> {
    out.u16(row.source.raw());
    out.put(&[u8::from(row.internal)]);
    out.range(&row.triggers);
    out.range(&row.guard);
    out.range(&row.calls);
    out.range(&row.targets);
    out.maybe_text(row.metadata)
}

fn action(row: &ActionRow, out: &mut Writer) -> Result<(), EncodeError> {
    out.u32(row.name.raw());
    let none = || 0..0;
    let (code, argument, ranges) = match &row.kind {
        ActionKind::Host => (0, 0, [none(), none(), none()]),
        ActionKind::Fallible => (6, 0, [none(), none(), none()]),
        ActionKind::Raise(event) => (1, event.raw(), [none(), none(), none()]),
        ActionKind::Assign(list) => (2, 0, [list.clone(), none(), none()]),
        ActionKind::Schedule(timer, delay) => (3, timer.raw(), [halves(*delay), none(), none()]),
        ActionKind::Cancel(timer) => (4, timer.raw(), [none(), none(), none()]),
        ActionKind::If {
            guard,
            then,
            otherwise,
        } => (5, 0, [guard.clone(), then.clone(), otherwise.clone()]),
    };
    out.put(&[code]);
    out.u16(argument);
    for range in &ranges {
        out.range(range);
    }
    out.maybe_text(row.metadata)
}

/// Returns a number of 64 bits in the place of a range: the lower half first.
fn halves(number: u64) -> Range<u32> {
    let [a, b, c, d, e, f, g, h] = number.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])..u32::from_le_bytes([e, f, g, h])
}

fn timer(row: &TimerRow, out: &mut Writer) {
    out.u32(row.name.raw());
    out.u16(row.event.raw());
}

fn assign(row: &AssignRow, out: &mut Writer) {
    out.u16(row.field.raw());
    out.range(&row.value);
}

fn code(row: &Instruction, out: &mut Writer) {
    let (code, operator, argument, range) = match row {
        Instruction::Ask(guard) => (0, 0, guard.raw(), 0..0),
        Instruction::Compare(field, operator, range) => (
            1,
            index_of(&Operator::ALL, operator),
            field.raw(),
            range.clone(),
        ),
        Instruction::Not => (2, 0, 0, 0..0),
        Instruction::All(length) => (3, 0, *length, 0..0),
        Instruction::Any(length) => (4, 0, *length, 0..0),
        Instruction::Load(field) => (5, 0, field.raw(), 0..0),
        Instruction::Push(range) => (6, 0, 0, range.clone()),
        Instruction::Has(field) => (7, 0, field.raw(), 0..0),
        Instruction::InState(state) => (8, 0, state.raw(), 0..0),
        Instruction::Among(range) => (9, 0, 0, range.clone()),
        Instruction::Unary(operator) => (10, index_of(&UnaryOperator::ALL, operator), 0, 0..0),
        Instruction::Binary(operator) => (11, index_of(&BinaryOperator::ALL, operator), 0, 0..0),
    };
    out.put(&[code, operator]);
    out.u16(argument);
    out.range(&range);
}

/// Returns the operator's place among all of its kind.
fn index_of<T: PartialEq>(all: &[T], operator: &T) -> u8 {
    (0_u8..)
        .zip(all)
        .find(|&(_, other)| other == operator)
        .map_or(u8::MAX, |(code, _)| code)
}

fn constant(row: &Constant, out: &mut Writer) {
    let (code, payload) = match row {
        Constant::Null => (0, 0),
        Constant::Bool(value) => (1, u128::from(*value)),
        Constant::Int(value) => (2, value.cast_unsigned()),
        Constant::Float(value) => (3, u128::from(value.to_bits())),
        Constant::Text(text) => (4, u128::from(text.raw())),
    };
    out.put(&[code]);
    out.put(&payload.to_le_bytes());
}

fn merge(row: &MergeRow, out: &mut Writer) -> Result<(), EncodeError> {
    out.maybe(row.event.map(EventId::raw))?;
    out.put(&[match row.kind {
        MergeKind::Only => 0,
        MergeKind::Except => 1,
    }]);
    out.maybe_text(row.field)
}

fn ambiguity(row: &AmbiguityRow, out: &mut Writer) {
    out.u16(row.state.raw());
    out.u16(row.label.raw());
    out.u16(row.event.raw());
}

fn claim(row: &ClaimRow, out: &mut Writer) {
    out.u16(row.guard.raw());
    out.u32(row.text.raw());
}

/// The bytes so far, and which row is being written, for errors.
struct Writer {
    bytes: Vec<u8>,
    section: Section,
    row: usize,
}

impl Writer {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn u16(&mut self, value: u16) {
        self.put(&value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.put(&value.to_le_bytes());
    }

    /// Writes a length, offset or count.
    fn length(&mut self, value: usize) {
        // INVARIANT: everything counted here is at most MAX_TABLE_BYTES, which fits.
        self.u32(u32::try_from(value).unwrap_or(u32::MAX));
    }

    fn range(&mut self, range: &Range<u32>) {
        self.u32(range.start);
        self.u32(range.end);
    }

    fn maybe(&mut self, id: Option<u16>) -> Result<(), EncodeError> {
        if id == Some(NONE_16) {
            return Err(self.reserved());
        }
        self.u16(id.unwrap_or(NONE_16));
        Ok(())
    }

    fn maybe_text(&mut self, id: Option<TextId>) -> Result<(), EncodeError> {
        let raw = id.map(TextId::raw);
        if raw == Some(NONE_32) {
            return Err(self.reserved());
        }
        self.u32(raw.unwrap_or(NONE_32));
        Ok(())
    }

    fn reserved(&self) -> EncodeError {
        EncodeError {
            kind: EncodeErrorKind::Reserved {
                section: self.section,
                row: self.row,
            },
        }
    }

    fn each<T>(
        &mut self,
        section: Section,
        rows: &[T],
        write: fn(&T, &mut Self) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        self.section = section;
        for (index, row) in rows.iter().enumerate() {
            self.row = index;
            write(row, self)?;
        }
        Ok(())
    }
}
