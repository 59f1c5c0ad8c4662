//! Programs run the naive way, for the oracle: every value is owned, and read when it is loaded.
//!
//! It shares [`UnaryOperator::apply`](crate::UnaryOperator::apply) and its like with the engine; `tests/` holds those
//! against another implementation of the same language.

use alloc::vec::Vec;

use crate::{Constant, Datum, Fault, Host, Instruction, Observer, Recorder, Sections, Value};

/// The program's value; `None` for absent.
pub(super) fn run<H: Host>(
    sections: &Sections,
    code: &[Instruction],
    is_active: &dyn Fn(usize) -> bool,
    host: &mut H,
    recorder: &mut Recorder,
) -> Result<Option<Datum>, Fault> {
    let mut rest = code;
    let found = value_of(sections, &mut rest, is_active, host, recorder);
    assert!(
        found.is_err() || rest.is_empty(),
        "a program is one expression"
    );
    found
}

/// The value of the expression that the rest begins with; leaves what is behind it.
fn value_of<H: Host>(
    sections: &Sections,
    rest: &mut &[Instruction],
    is_active: &dyn Fn(usize) -> bool,
    host: &mut H,
    recorder: &mut Recorder,
) -> Result<Option<Datum>, Fault> {
    let constants = |range: &core::ops::Range<u32>| -> Vec<Datum> {
        let rows = &sections.constants[range.start as usize..range.end as usize];
        rows.iter().map(|row| constant(sections, row)).collect()
    };
    let (instruction, after) = rest.split_first().unwrap();
    *rest = after;
    if let Instruction::All(length) | Instruction::Any(length) = instruction {
        let (mut parts, behind) = after.split_at(usize::from(*length));
        *rest = behind;
        let decides = matches!(instruction, Instruction::Any(_));
        while !parts.is_empty() {
            let part = value_of(sections, &mut parts, is_active, host, recorder)?;
            if (part == TRUE) == decides {
                return Ok(Some(Datum::Bool(decides)));
            }
        }
        return Ok(Some(Datum::Bool(!decides)));
    }
    let mut operands = Vec::new();
    for _ in 0..instruction.operands() {
        operands.push(value_of(sections, rest, is_active, host, recorder)?);
    }
    Ok(match (instruction, operands.as_slice()) {
        (Instruction::Ask(guard), _) => Some(Datum::Bool(host.guard(*guard))),
        (Instruction::Compare(field, operator, range), _) => {
            let found = host.field(*field);
            if found == Value::Absent && operator.needs_presence() {
                recorder.absent(*field);
            }
            let constants = constants(range);
            let values: Vec<_> = constants.iter().map(Datum::value).collect();
            Some(Datum::Bool(operator.holds(found, &values)))
        }
        (Instruction::Not, [operand]) => Some(Datum::Bool(*operand != TRUE)),
        (Instruction::Load(field), _) => {
            let found = host.field(*field);
            if found == Value::Absent {
                recorder.absent(*field);
                None
            } else {
                Some(found.to_datum()?)
            }
        }
        (Instruction::Push(range), _) => Some(constants(range).remove(0)),
        (Instruction::Has(field), _) => Some(Datum::Bool(host.field(*field) != Value::Absent)),
        (Instruction::InState(state), _) => Some(Datum::Bool(is_active(state.index()))),
        (Instruction::Among(range), [item]) => {
            let found = item.as_ref().is_some_and(|item| {
                let mut constants = constants(range).into_iter();
                constants.any(|constant| item.value().equals(constant.value()))
            });
            Some(Datum::Bool(found))
        }
        (Instruction::Unary(operator), [operand]) => operator.apply(value(operand))?,
        (Instruction::Binary(operator), [left, right]) => {
            operator.apply(value(left), value(right))?
        }
        other => panic!("an instruction with other operands: {other:?}"),
    })
}

/// Whether a guard holds; no guard always does.
pub(super) fn guard<H: Host>(
    sections: &Sections,
    code: &[Instruction],
    is_active: &dyn Fn(usize) -> bool,
    host: &mut H,
    recorder: &mut Recorder,
) -> bool {
    code.is_empty() || run(sections, code, is_active, host, recorder) == Ok(TRUE)
}

const TRUE: Option<Datum> = Some(Datum::Bool(true));

fn value(slot: &Option<Datum>) -> Value<'_> {
    slot.as_ref().map_or(Value::Absent, Datum::value)
}

fn constant(sections: &Sections, row: &Constant) -> Datum {
    match row {
        Constant::Null => Datum::Null,
        Constant::Bool(bool) => Datum::Bool(*bool),
        Constant::Int(int) => Datum::Int(*int),
        Constant::Float(float) => Datum::Float(*float),
        Constant::Text(text) => Datum::Text(sections.texts[text.index()].as_ref().into()),
    }
}
