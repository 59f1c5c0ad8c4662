//! Evaluation of programs: guards, conditions and assignments.
//!
//! Programs are pure, total and bounded: a program is a tree in preorder, each of whose instructions is evaluated at most
//! once, and the evaluator recurses no deeper than the tree (V40). What operators make of values is in `operation.rs`;
//! [`compare`] is public because generated Rust asks the same question and must get the same answer and the same note.
//!
//! Deliberately not here: a way to stop in the middle. What a program costs is bounded by its length and by that of the
//! values, [`MAX_DATUM_BYTES`](crate::MAX_DATUM_BYTES).

mod slot;

use alloc::vec::Vec;
use core::ops::Range;

use self::slot::Slot;
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
/// What most guards are, one question or a field against a constant, is answered at once.
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
        [
            Instruction::Binary(operator),
            Instruction::Load(field),
            Instruction::Push(range),
        ] => {
            let found = host.field(*field);
            if matches!(found, Value::Absent) {
                observer.absent(*field);
                return false;
            }
            operator.test(found, only(table, range)).unwrap_or(false)
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
    let mut program = Program {
        table,
        code,
        at: 0,
        configuration,
        host,
        observer,
    };
    program.value()
}

/// A program that is being evaluated.
struct Program<'t, 'r, H, O> {
    table: &'t Table,
    code: &'r [Instruction],
    /// The next instruction.
    at: usize,
    configuration: &'r Configuration,
    host: &'r mut H,
    observer: &'r mut O,
}

impl<'t, H: Host, O: Observer> Program<'t, '_, H, O> {
    /// Evaluates the expression that begins at the next instruction, and goes on behind it.
    fn value(&mut self) -> Result<Slot<'t>, Fault> {
        // INVARIANT: V40 and V42: an operand follows wherever one is read.
        let Some(instruction) = self.code.get(self.at) else {
            return Ok(Slot::default());
        };
        self.at += 1;
        let table = self.table;
        Ok(match instruction {
            Instruction::Ask(guard) => Slot::bool(self.host.guard(*guard)),
            Instruction::Compare(field, operator, range) => {
                let constants = list(&table.sections.constants, range);
                let (host, observer) = (&*self.host, &mut *self.observer);
                Slot::bool(compare_rows(
                    table, host, *field, *operator, constants, observer,
                ))
            }
            Instruction::Not => Slot::bool(!self.value()?.is_true()),
            Instruction::All(length) => Slot::bool(!self.has(*length, false)?),
            Instruction::Any(length) => Slot::bool(self.has(*length, true)?),
            Instruction::Load(field) => load(self.host, *field, self.observer),
            Instruction::Push(range) => Slot::Value(only(table, range)),
            Instruction::Has(field) => {
                Slot::bool(!matches!(self.host.field(*field), Value::Absent))
            }
            Instruction::InState(state) => Slot::bool(self.configuration.is_active(table, *state)),
            Instruction::Among(range) => {
                let slot = self.value()?;
                let found = slot.value(self.host);
                let mut constants = list(&table.sections.constants, range).iter();
                Slot::bool(constants.any(|constant| found.equals(value(table, constant))))
            }
            Instruction::Unary(operator) => {
                let slot = self.value()?;
                Slot::from_computed(operator.apply(slot.value(self.host))?)
            }
            Instruction::Binary(operator) => {
                let mut left = self.value()?;
                if self.may_change() {
                    left.keep(self.host)?;
                }
                let right = self.value()?;
                let host = &*self.host;
                Slot::from_computed(operator.apply(left.value(host), right.value(host))?)
            }
        })
    }

    /// Reports whether one of the operands up to that length is true, or isn't, as wanted.
    /// None behind it is evaluated.
    fn has(&mut self, length: u16, wanted: bool) -> Result<bool, Fault> {
        // INVARIANT: V22 keeps them within the program.
        let end = (self.at + usize::from(length)).min(self.code.len());
        while self.at < end {
            if self.value()?.is_true() == wanted {
                self.at = end;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reports whether the host may change its fields while the next operand is evaluated.
    /// It may when it is asked a guard.
    fn may_change(&self) -> bool {
        match self.code.get(self.at..) {
            Some([Instruction::Load(_) | Instruction::Push(_), ..]) | None => false,
            Some(rest) => rest.iter().any(|it| matches!(it, Instruction::Ask(_))),
        }
    }
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

/// Returns the only constant of a range.
fn only<'t>(table: &'t Table, range: &Range<u32>) -> Value<'t> {
    let constant = list(&table.sections.constants, range).first();
    constant.map_or(Value::Absent, |constant| value(table, constant))
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
