//! Evaluation of programs: guards, conditions and assignments.
//!
//! Programs are pure, total and bounded: a program runs each of its instructions at most once, since jumps lead forward
//! only (V22), on a stack whose depth is known (V40). What operators make of values is in `operation.rs`; [`compare`] is
//! public because generated Rust asks the same question and must get the same answer and the same note.
//!
//! Deliberately not here: a way to stop in the middle. What a program costs is bounded by its length and by that of the
//! values, [`MAX_DATUM_BYTES`](crate::MAX_DATUM_BYTES).

mod stack;

use alloc::vec::Vec;
use core::ops::Range;

use self::stack::{Slot, Stack};
use crate::configuration::Configuration;
use crate::datum::Datum;
use crate::error::Fault;
use crate::host::{Host, Observer};
use crate::id::{FieldId, TransitionId};
use crate::table::Table;
use crate::table::sections::{Constant, Instruction, list};
use crate::value::{Operator, Value};

/// Compares a field's value with the constants.
/// An absent field that leaves the question undecided is noted with the observer and makes it false.
///
/// ```
/// use statemark_runtime::{FieldId, Operator, Recorder, Value, compare};
///
/// let mut recorder = Recorder::new();
/// let age = FieldId::new(3);
/// assert!(compare(Value::Int(20), age, Operator::Gte, &[Value::Int(18)], &mut recorder));
/// assert!(!compare(Value::Absent, age, Operator::Gte, &[Value::Int(18)], &mut recorder));
/// let record = recorder.finish(None, statemark_runtime::Outcome::Ignored);
/// assert_eq!(record.absent, [age]);
/// ```
#[inline]
pub fn compare<O: Observer>(
    host_value: Value<'_>,
    field: FieldId,
    operator: Operator,
    constants: &[Value<'_>],
    observer: &mut O,
) -> bool {
    if is_undecided(host_value, field, operator, observer) {
        return false;
    }
    operator.holds(host_value, constants)
}

/// Reports whether the transition's guard holds; a transition without one is always enabled.
#[inline(never)]
pub(crate) fn guard<H: Host, O: Observer>(
    table: &Table,
    transition: TransitionId,
    configuration: &Configuration,
    host: &mut H,
    observer: &mut O,
) -> bool {
    match table.guard(transition) {
        [] => true,
        code => holds(table, code, configuration, host, observer),
    }
}

/// Reports whether the program of a condition holds: a range of `code`.
pub(crate) fn program<H: Host, O: Observer>(
    table: &Table,
    range: &Range<u32>,
    configuration: &Configuration,
    host: &mut H,
    observer: &mut O,
) -> bool {
    let code = list(&table.sections.code, range);
    holds(table, code, configuration, host, observer)
}

/// Evaluates a program of the table and returns its value.
/// It is the program of a transition's guard, a condition or an assignment, as their rows hold it. Nothing changes but
/// what `host` makes of its questions.
///
/// # Errors
///
/// The program has no value.
pub fn evaluate<H: Host, O: Observer>(
    table: &Table,
    code: &Range<u32>,
    configuration: &Configuration,
    host: &mut H,
    observer: &mut O,
) -> Result<Datum, Fault> {
    let code = list(&table.sections.code, code);
    run(table, code, configuration, host, observer)?.into_datum(host)
}

/// Carries out an action's assignments, a range of `assigns`.
/// All programs run first, then all fields change.
///
/// # Errors
///
/// A program has no value. Then no field changes.
pub(crate) fn assign<H: Host, O: Observer>(
    table: &Table,
    range: &Range<u32>,
    configuration: &Configuration,
    host: &mut H,
    observer: &mut O,
) -> Result<(), Fault> {
    let rows = list(&table.sections.assigns, range);
    if let [row] = rows {
        let datum = evaluate(table, &row.value, configuration, host, observer)?;
        host.assign(row.field, datum.value());
        return Ok(());
    }
    let values = rows
        .iter()
        .map(|row| evaluate(table, &row.value, configuration, host, observer));
    let values = values.collect::<Result<Vec<_>, _>>()?;
    for (row, datum) in rows.iter().zip(values) {
        host.assign(row.field, datum.value());
    }
    Ok(())
}

/// Reports whether the program's value is `true`.
/// What is one question alone, which most guards are, needs no stack.
fn holds<H: Host, O: Observer>(
    table: &Table,
    code: &[Instruction],
    configuration: &Configuration,
    host: &mut H,
    observer: &mut O,
) -> bool {
    match code {
        [Instruction::Ask(guard)] => host.guard(*guard),
        [Instruction::Compare(field, operator, range)] => {
            let constants = list(&table.sections.constants, range);
            compare_rows(table, host, *field, *operator, constants, observer)
        }
        _ => run(table, code, configuration, host, observer).is_ok_and(|slot| slot.is_true()),
    }
}

/// Runs a program. Its value may still be the host's.
fn run<'t, H: Host, O: Observer>(
    table: &'t Table,
    code: &[Instruction],
    configuration: &Configuration,
    host: &mut H,
    observer: &mut O,
) -> Result<Slot<'t>, Fault> {
    let mut stack = Stack::new();
    let mut rest = code;
    while let Some((instruction, after)) = rest.split_first() {
        rest = after;
        let slot = match instruction {
            Instruction::Ask(guard) => {
                stack.keep(host)?;
                Slot::bool(host.guard(*guard))
            }
            Instruction::Compare(field, operator, range) => {
                let constants = list(&table.sections.constants, range);
                let answer = compare_rows(table, host, *field, *operator, constants, observer);
                Slot::bool(answer)
            }
            Instruction::Not => Slot::bool(!stack.pop().is_true()),
            Instruction::SkipIfFalse(count) | Instruction::SkipIfTrue(count) => {
                let wanted = matches!(instruction, Instruction::SkipIfTrue(_));
                if stack.pop().is_true() != wanted {
                    continue;
                }
                // INVARIANT: V22 keeps jumps within the program; past its end it would be over.
                rest = rest.get(usize::from(*count)..).unwrap_or_default();
                Slot::bool(wanted)
            }
            Instruction::Load(field) => load(host, *field, observer),
            Instruction::Push(range) => {
                let constant = list(&table.sections.constants, range).first();
                Slot::Value(constant.map_or(Value::Absent, |constant| value(table, constant)))
            }
            Instruction::Has(field) => Slot::bool(!matches!(host.field(*field), Value::Absent)),
            Instruction::InState(state) => Slot::bool(configuration.is_active(table, *state)),
            Instruction::Among(range) => {
                let constants = list(&table.sections.constants, range);
                let slot = stack.pop();
                let found = slot.value(host);
                let mut constants = constants.iter().map(|constant| value(table, constant));
                Slot::bool(constants.any(|constant| found.equals(constant)))
            }
            Instruction::Unary(operator) => {
                let slot = stack.pop();
                Slot::from_computed(operator.apply(slot.value(host))?)
            }
            Instruction::Binary(operator) => {
                let (right, left) = (stack.pop(), stack.pop());
                Slot::from_computed(operator.apply(left.value(host), right.value(host))?)
            }
        };
        stack.push(slot);
    }
    Ok(stack.pop())
}

/// Returns a field's value: what is small is copied at once, what isn't stays with the host.
fn load<'t, H: Host, O: Observer>(host: &H, field: FieldId, observer: &mut O) -> Slot<'t> {
    let value = match host.field(field) {
        Value::Absent => {
            observer.absent(field);
            Value::Absent
        }
        Value::Null => Value::Null,
        Value::Bool(bool) => Value::Bool(bool),
        Value::Int(int) => Value::Int(int),
        Value::Float(float) => Value::Float(float),
        Value::Text(_) | Value::List(_) | Value::Object(_) | Value::Opaque => {
            return Slot::Field(field);
        }
    };
    Slot::Value(value)
}

/// Compares a field's value with constants of the table.
fn compare_rows<H: Host, O: Observer>(
    table: &Table,
    host: &H,
    field: FieldId,
    operator: Operator,
    constants: &[Constant],
    observer: &mut O,
) -> bool {
    let found = host.field(field);
    if is_undecided(found, field, operator, observer) {
        return false;
    }
    match operator {
        Operator::In => constants
            .iter()
            .any(|constant| Operator::Eq.holds(found, &[value(table, constant)])),
        _ => match constants.first() {
            Some(constant) => operator.holds(found, &[value(table, constant)]),
            None => operator.holds(found, &[]),
        },
    }
}

/// Notes a field that is absent where it would have to be there.
#[inline]
fn is_undecided<O: Observer>(
    found: Value<'_>,
    field: FieldId,
    operator: Operator,
    observer: &mut O,
) -> bool {
    let undecided = matches!(found, Value::Absent) && operator.needs_presence();
    if undecided {
        observer.absent(field);
    }
    undecided
}

/// Returns the constant as a value.
fn value<'t>(table: &'t Table, constant: &Constant) -> Value<'t> {
    match *constant {
        Constant::Null => Value::Null,
        Constant::Bool(value) => Value::Bool(value),
        Constant::Int(value) => Value::Int(value),
        Constant::Float(value) => Value::Float(value),
        Constant::Text(text) => Value::Text(table.text(text)),
    }
}
