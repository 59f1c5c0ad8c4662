//! Evaluation of guard programs.
//!
//! Guards are pure, total and bounded: a program runs each of its instructions at most once, since jumps lead forward
//! only (V22). [`compare`] is public because generated Rust asks the same question and must get the same answer and the
//! same note.

use crate::host::{Host, Observer};
use crate::id::{FieldId, TransitionId};
use crate::table::Table;
use crate::table::list;
use crate::table::sections::{Constant, Instruction};
use crate::value::{Operator, Value};

/// Whether a field's value compares with the constants; an absent field that leaves the question undecided is noted
/// with the observer and makes it false.
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

/// Whether the transition's guard holds; a transition without one is always enabled.
#[inline(never)]
pub(crate) fn guard<H: Host, O: Observer>(
    table: &Table,
    transition: TransitionId,
    host: &mut H,
    observer: &mut O,
) -> bool {
    let mut rest = table.guard(transition);
    let mut value = true;
    while let Some((instruction, after)) = rest.split_first() {
        rest = after;
        let skip = match instruction {
            Instruction::Ask(guard) => {
                value = host.guard(*guard);
                0
            }
            Instruction::Compare(field, operator, range) => {
                let constants = list(&table.sections.constants, range);
                value = compare_rows(table, host, *field, *operator, constants, observer);
                0
            }
            Instruction::Not => {
                value = !value;
                0
            }
            Instruction::SkipIfFalse(count) if !value => *count,
            Instruction::SkipIfTrue(count) if value => *count,
            Instruction::SkipIfFalse(_) | Instruction::SkipIfTrue(_) => 0,
            Instruction::Push(range) => {
                let constant = list(&table.sections.constants, range).first();
                value = constant == Some(&Constant::Bool(true));
                0
            }
            _ => {
                value = false;
                0
            }
        };
        // INVARIANT: V22 keeps jumps within the program; past its end it would be over.
        rest = rest.get(usize::from(skip)..).unwrap_or_default();
    }
    value
}

/// [`compare`] with the constants as the table has them.
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

/// The constant as a value.
fn value<'t>(table: &'t Table, constant: &Constant) -> Value<'t> {
    match *constant {
        Constant::Null => Value::Null,
        Constant::Bool(value) => Value::Bool(value),
        Constant::Int(value) => Value::Int(value),
        Constant::Float(value) => Value::Float(value),
        Constant::Text(text) => Value::Text(table.text(text)),
    }
}
