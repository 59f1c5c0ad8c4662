//! Expressions of generated code: they read, fail and note as the programs of tables do.
//!
//! Operators are [`UnaryOperator::apply`](crate::UnaryOperator::apply), [`BinaryOperator::apply`](crate::BinaryOperator::apply)
//! and [`BinaryOperator::test`](crate::BinaryOperator::test) in both engines.

use crate::datum::Datum;
use crate::fault::Fault;
use crate::host::Observer;
use crate::id::FieldId;
use crate::value::Value;

/// Reports whether a guard holds whose parts may fail: what fails is false as a whole.
#[inline]
pub fn holds(guard: impl FnOnce() -> Result<bool, Fault>) -> bool {
    guard().unwrap_or(false)
}

/// Returns the value of the field of that number; noted where it is absent.
#[inline]
pub fn load<'v, O: Observer>(value: Value<'v>, field: u16, observer: &mut O) -> Value<'v> {
    if matches!(value, Value::Absent) {
        observer.absent(FieldId::new(field));
    }
    value
}

/// Returns what was computed, as an operand.
#[inline]
#[must_use]
pub fn operand(computed: &Option<Datum>) -> Value<'_> {
    computed.as_ref().map_or(Value::Absent, Datum::value)
}

/// Reports whether it is the value `true`.
#[inline]
#[must_use]
pub const fn is_true(value: Value<'_>) -> bool {
    matches!(value, Value::Bool(true))
}

/// Reports whether it equals one of the constants.
#[inline]
#[must_use]
pub fn among(value: Value<'_>, constants: &[Value<'_>]) -> bool {
    constants.iter().any(|&constant| value.equals(constant))
}
