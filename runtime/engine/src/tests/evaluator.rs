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
    let mut stack: Vec<Option<Datum>> = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let constants = |range: &core::ops::Range<u32>| -> Vec<Datum> {
            let rows = &sections.constants[range.start as usize..range.end as usize];
            rows.iter().map(|row| constant(sections, row)).collect()
        };
        let pushed = match &code[at] {
            Instruction::Ask(guard) => Some(Datum::Bool(host.guard(*guard))),
            Instruction::Compare(field, operator, range) => {
                let found = host.field(*field);
                if found == Value::Absent && operator.needs_presence() {
                    recorder.absent(*field);
                }
                let constants = constants(range);
                let values: Vec<_> = constants.iter().map(Datum::value).collect();
                Some(Datum::Bool(operator.holds(found, &values)))
            }
            Instruction::Not => Some(Datum::Bool(stack.pop().unwrap() != TRUE)),
            Instruction::SkipIfFalse(skip) => {
                if stack.pop().unwrap() == TRUE {
                    at += 1;
                    continue;
                }
                at += usize::from(*skip);
                Some(Datum::Bool(false))
            }
            Instruction::SkipIfTrue(skip) => {
                if stack.pop().unwrap() != TRUE {
                    at += 1;
                    continue;
                }
                at += usize::from(*skip);
                TRUE
            }
            Instruction::Load(field) => {
                let found = host.field(*field);
                if found == Value::Absent {
                    recorder.absent(*field);
                    None
                } else {
                    Some(found.to_datum()?)
                }
            }
            Instruction::Push(range) => Some(constants(range).remove(0)),
            Instruction::Has(field) => Some(Datum::Bool(host.field(*field) != Value::Absent)),
            Instruction::InState(state) => Some(Datum::Bool(is_active(state.index()))),
            Instruction::Among(range) => {
                let item = stack.pop().unwrap();
                let found = item.is_some_and(|item| {
                    let mut constants = constants(range).into_iter();
                    constants.any(|constant| item.value().equals(constant.value()))
                });
                Some(Datum::Bool(found))
            }
            Instruction::Unary(operator) => operator.apply(value(&stack.pop().unwrap()))?,
            Instruction::Binary(operator) => {
                let (right, left) = (stack.pop().unwrap(), stack.pop().unwrap());
                operator.apply(value(&left), value(&right))?
            }
        };
        stack.push(pushed);
        at += 1;
    }
    let last = stack.pop().unwrap();
    assert!(stack.is_empty(), "one value is left");
    Ok(last)
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
