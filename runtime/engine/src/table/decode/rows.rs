//! One row of each section, in the order in which `encode` writes its parts.

use core::ops::Range;

use super::DecodeError;
use super::reader::Reader;
use crate::id::{EventId, FieldId, GuardId, StateId, TextId, TimerId};
use crate::table::sections::{
    ActionKind, ActionRow, AmbiguityRow, AssignRow, ClaimRow, Constant, EventKind, EventRow,
    Instruction, MergeKind, MergeRow, StateKind, StateRow, TimerRow, TransitionRow, Verdict,
};
use crate::value::{BinaryOperator, Operator, UnaryOperator};

pub(super) fn state(from: &mut Reader<'_>) -> Result<StateRow, DecodeError> {
    Ok(StateRow {
        name: from.text()?,
        kind: match from.u8()? {
            0 => StateKind::Atomic,
            1 => StateKind::Compound,
            2 => StateKind::Final,
            3 => StateKind::Parallel,
            4 => StateKind::History,
            5 => StateKind::DeepHistory,
            found => return Err(from.code("kind", found, 1)),
        },
        verdict: match from.u8()? {
            0 => Verdict::Success,
            1 => Verdict::Failure,
            found => return Err(from.code("verdict", found, 1)),
        },
        parent: from.maybe()?.map(StateId::new),
        end: from.u16()?,
        initial: from.range()?,
        initial_calls: from.range()?,
        entry: from.range()?,
        exit: from.range()?,
        transitions: from.u16()?..from.u16()?,
        done: from.maybe()?.map(EventId::new),
        metadata: from.maybe_text()?,
    })
}

pub(super) fn event(from: &mut Reader<'_>) -> Result<EventRow, DecodeError> {
    Ok(EventRow {
        name: from.text()?,
        kind: match from.u8()? {
            0 => EventKind::Named,
            1 => EventKind::Internal,
            found => return Err(from.code("kind", found, 1)),
        },
        metadata: from.maybe_text()?,
    })
}

pub(super) fn transition(from: &mut Reader<'_>) -> Result<TransitionRow, DecodeError> {
    Ok(TransitionRow {
        source: StateId::new(from.u16()?),
        internal: match from.u8()? {
            0 => false,
            1 => true,
            found => return Err(from.code("flag", found, 1)),
        },
        triggers: from.range()?,
        guard: from.range()?,
        calls: from.range()?,
        targets: from.range()?,
        metadata: from.maybe_text()?,
    })
}

pub(super) fn action(from: &mut Reader<'_>) -> Result<ActionRow, DecodeError> {
    let name = from.text()?;
    let code = from.u8()?;
    let argument = from.u16()?;
    let [first, second, third] = [from.range()?, from.range()?, from.range()?];
    let empty = |range: &Range<u32>| *range == (0..0);
    let rest = empty(&second) && empty(&third);
    let bare = rest && empty(&first);
    let kind = match code {
        0 if bare && argument == 0 => ActionKind::Host,
        1 if bare => ActionKind::Raise(EventId::new(argument)),
        2 if rest && argument == 0 => ActionKind::Assign(first),
        3 if rest => ActionKind::Schedule(TimerId::new(argument), whole(&first)),
        4 if bare => ActionKind::Cancel(TimerId::new(argument)),
        5 if argument == 0 => ActionKind::If {
            guard: first,
            then: second,
            otherwise: third,
        },
        6 if bare && argument == 0 => ActionKind::Fallible,
        0..=6 => return Err(from.not_zero()),
        found => return Err(from.code("kind", found, 27)),
    };
    Ok(ActionRow {
        name,
        kind,
        metadata: from.maybe_text()?,
    })
}

/// Returns the number of 64 bits in the place of a range.
fn whole(range: &Range<u32>) -> u64 {
    u64::from(range.start) | u64::from(range.end) << 32
}

pub(super) fn timer(from: &mut Reader<'_>) -> Result<TimerRow, DecodeError> {
    Ok(TimerRow {
        name: from.text()?,
        event: EventId::new(from.u16()?),
    })
}

pub(super) fn assign(from: &mut Reader<'_>) -> Result<AssignRow, DecodeError> {
    Ok(AssignRow {
        field: FieldId::new(from.u16()?),
        value: from.range()?,
    })
}

pub(super) fn instruction(from: &mut Reader<'_>) -> Result<Instruction, DecodeError> {
    let [code, operator] = from.take()?;
    let argument = from.u16()?;
    let range = from.range()?;
    let plain = operator == 0;
    let bare = plain && range == (0..0);
    let of_stack = argument == 0 && range == (0..0);
    let instruction = match code {
        0 if bare => Instruction::Ask(GuardId::new(argument)),
        1 => {
            let Some(&operator) = Operator::ALL.get(usize::from(operator)) else {
                return Err(from.code("operator", operator, 11));
            };
            Instruction::Compare(FieldId::new(argument), operator, range)
        }
        2 if bare && argument == 0 => Instruction::Not,
        3 if bare => Instruction::All(argument),
        4 if bare => Instruction::Any(argument),
        5 if bare => Instruction::Load(FieldId::new(argument)),
        6 if plain && argument == 0 => Instruction::Push(range),
        7 if bare => Instruction::Has(FieldId::new(argument)),
        8 if bare => Instruction::InState(StateId::new(argument)),
        9 if plain && argument == 0 => Instruction::Among(range),
        10 if of_stack => {
            let Some(&operator) = UnaryOperator::ALL.get(usize::from(operator)) else {
                return Err(from.code("operator", operator, 11));
            };
            Instruction::Unary(operator)
        }
        11 if of_stack => {
            let Some(&operator) = BinaryOperator::ALL.get(usize::from(operator)) else {
                return Err(from.code("operator", operator, 11));
            };
            Instruction::Binary(operator)
        }
        0 | 2..=11 => return Err(from.not_zero()),
        found => return Err(from.code("instruction", found, 12)),
    };
    Ok(instruction)
}

pub(super) fn constant(from: &mut Reader<'_>) -> Result<Constant, DecodeError> {
    let code = from.u8()?;
    let payload = u128::from_le_bytes(from.take()?);
    let constant = match code {
        0 if payload == 0 => Constant::Null,
        1 if payload <= 1 => Constant::Bool(payload == 1),
        2 => Constant::Int(payload.cast_signed()),
        3 => match u64::try_from(payload) {
            Ok(bits) => Constant::Float(f64::from_bits(bits)),
            Err(_) => return Err(from.not_zero()),
        },
        4 => match u32::try_from(payload) {
            Ok(raw) => Constant::Text(TextId::new(raw)),
            Err(_) => return Err(from.not_zero()),
        },
        0 | 1 => return Err(from.not_zero()),
        found => return Err(from.code("constant", found, 17)),
    };
    Ok(constant)
}

pub(super) fn claim(from: &mut Reader<'_>) -> Result<ClaimRow, DecodeError> {
    Ok(ClaimRow {
        guard: GuardId::new(from.u16()?),
        text: from.text()?,
    })
}

pub(super) fn merge(from: &mut Reader<'_>) -> Result<MergeRow, DecodeError> {
    Ok(MergeRow {
        event: from.maybe()?.map(EventId::new),
        kind: match from.u8()? {
            0 => MergeKind::Only,
            1 => MergeKind::Except,
            found => return Err(from.code("kind", found, 1)),
        },
        field: from.maybe_text()?,
    })
}

pub(super) fn ambiguity(from: &mut Reader<'_>) -> Result<AmbiguityRow, DecodeError> {
    Ok(AmbiguityRow {
        state: StateId::new(from.u16()?),
        label: EventId::new(from.u16()?),
        event: EventId::new(from.u16()?),
    })
}
