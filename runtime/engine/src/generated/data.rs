//! Data and expressions of generated machines.
//!
//! Typed fields are read as [`Value`]s, and written from them. Expressions read, fail and note as the programs of tables
//! do. Operators are [`UnaryOperator::apply`], [`BinaryOperator::apply`] and [`BinaryOperator::test`] in both engines.
//!
//! [`UnaryOperator::apply`]: crate::UnaryOperator::apply
//! [`BinaryOperator::apply`]: crate::BinaryOperator::apply
//! [`BinaryOperator::test`]: crate::BinaryOperator::test
//!
//! A field is absent, a value, or `null`: an `Option` in a context says one of the two others, and the code that reads it
//! knows which. A value that a field's type doesn't hold is a fault, as it is where a table says what a field holds.

pub use alloc::string::String;
pub use alloc::vec::Vec;

use crate::data;
use crate::datum::Datum;
use crate::error::Fault;
use crate::host::Observer;
use crate::id::FieldId;
use crate::value::Value;

/// A value that a field holds.
pub trait Plain: Sized {
    /// Returns the value that expressions see.
    fn value(&self) -> Value<'_>;

    /// Converts a value into this type.
    ///
    /// # Errors
    ///
    /// There is none, or it is of another kind or beyond what the type holds.
    fn from_value(value: Value<'_>) -> Result<Self, Fault>;
}

impl Plain for bool {
    #[inline]
    fn value(&self) -> Value<'_> {
        Value::Bool(*self)
    }

    #[inline]
    fn from_value(value: Value<'_>) -> Result<Self, Fault> {
        match value {
            Value::Bool(bool) => Ok(bool),
            other => Err(refused(other)),
        }
    }
}

macro_rules! integers {
    ($($kind:ty)*) => {
        $(impl Plain for $kind {
            #[inline]
            fn value(&self) -> Value<'_> {
                Value::Int(i128::from(*self))
            }

            #[inline]
            fn from_value(value: Value<'_>) -> Result<Self, Fault> {
                match value {
                    Value::Int(int) => Self::try_from(int).map_err(|_| Fault::Overflow),
                    other => Err(refused(other)),
                }
            }
        })*
    };
}

integers!(i8 i16 i32 i64 u8 u16 u32 u64);

impl Plain for f64 {
    #[inline]
    fn value(&self) -> Value<'_> {
        Value::Float(*self)
    }

    #[inline]
    fn from_value(value: Value<'_>) -> Result<Self, Fault> {
        match value {
            Value::Float(float) if float.is_finite() => Ok(float),
            Value::Float(_) => Err(Fault::Overflow),
            other => Err(refused(other)),
        }
    }
}

impl Plain for String {
    #[inline]
    fn value(&self) -> Value<'_> {
        Value::Text(self)
    }

    #[inline]
    fn from_value(value: Value<'_>) -> Result<Self, Fault> {
        match value.to_datum()? {
            Datum::Text(text) => Ok(text),
            _ => Err(Fault::WrongKind),
        }
    }
}

impl Plain for Datum {
    #[inline]
    fn value(&self) -> Value<'_> {
        Self::value(self)
    }

    #[inline]
    fn from_value(value: Value<'_>) -> Result<Self, Fault> {
        value.to_datum()
    }
}

/// A value or `null`.
impl<T: Plain> Plain for Option<T> {
    #[inline]
    fn value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, Plain::value)
    }

    #[inline]
    fn from_value(value: Value<'_>) -> Result<Self, Fault> {
        match value {
            Value::Null => Ok(None),
            other => T::from_value(other).map(Some),
        }
    }
}

/// Returns the fault of a value that has another type than expected.
const fn refused(value: Value<'_>) -> Fault {
    match value {
        Value::Absent => Fault::Absent,
        _ => Fault::WrongKind,
    }
}

/// Converts an integer into the type that expressions compute with.
///
/// # Errors
///
/// It is beyond 64 bits with a sign.
#[inline]
pub fn narrow(int: impl Into<i128>) -> Result<i64, Fault> {
    i64::try_from(int.into()).map_err(|_| Fault::Overflow)
}

/// Returns a computed integer as one that a field holds.
///
/// # Errors
///
/// The field's type doesn't have it.
#[inline]
pub fn fit<T: TryFrom<i64>>(int: i64) -> Result<T, Fault> {
    T::try_from(int).map_err(|_| Fault::Overflow)
}

/// Returns the number of items in a list.
#[inline]
#[must_use]
pub fn length<T>(items: &[T]) -> Value<'static> {
    Value::Int(i128::try_from(items.len()).unwrap_or(i128::MAX))
}

/// Reports whether an item of the list equals the value.
#[inline]
#[must_use]
pub fn within<T: Plain>(value: Value<'_>, items: &[T]) -> bool {
    let mut items = items.iter();
    items.any(|item| value.equals(item.value()))
}

/// Returns the value at the end of a path in data without a type.
#[must_use]
pub fn at<'d>(datum: &'d Datum, path: &[&str]) -> Value<'d> {
    datum.at(path).map_or(Value::Absent, Datum::value)
}

/// Returns a typed value as one without a type; `null` for a float that isn't a number.
#[must_use]
pub fn datum<T: Plain>(value: &T) -> Datum {
    value.value().to_datum().unwrap_or_default()
}

/// Makes an object of the fields that are present.
#[must_use]
pub fn object<const N: usize>(fields: [(&str, Option<Datum>); N]) -> Datum {
    let there = fields
        .into_iter()
        .filter_map(|(key, value)| Some((String::from(key), value?)));
    Datum::Object(there.collect())
}

/// A field without a type, in which paths may be assigned.
pub trait Free {
    /// Calls back with the field; a field that is always there is there afterwards.
    fn with<R>(&mut self, change: impl FnOnce(&mut Option<Datum>) -> R) -> R;
}

impl Free for Option<Datum> {
    fn with<R>(&mut self, change: impl FnOnce(&mut Self) -> R) -> R {
        change(self)
    }
}

impl Free for Datum {
    fn with<R>(&mut self, change: impl FnOnce(&mut Option<Self>) -> R) -> R {
        let mut slot = Some(core::mem::take(self));
        let result = change(&mut slot);
        *self = slot.unwrap_or_default();
        result
    }
}

/// Puts a value at the end of a path, and objects on the way where there are none.
/// Gives what [`restore`] needs: how many keys lead to the place that changed first, and what was there.
pub fn store(field: &mut impl Free, path: &[&str], datum: Datum) -> (usize, Option<Datum>) {
    field.with(|slot| match slot {
        Some(there) => data::store(there, path, datum),
        None => (0, slot.replace(data::wrapped(path, datum))),
    })
}

/// Takes back what [`store`] did.
pub fn restore(field: &mut impl Free, path: &[&str], keys: usize, old: Option<Datum>) {
    let path = path.get(..keys).unwrap_or_default();
    field.with(|slot| data::restore(slot, path, old));
}

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

/// Returns a computed value as an operand.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_does_not_fit_is_a_fault() {
        assert_eq!(u8::from_value(Value::Int(255)), Ok(255));
        assert_eq!(u8::from_value(Value::Int(256)), Err(Fault::Overflow));
        assert_eq!(u8::from_value(Value::Float(1.0)), Err(Fault::WrongKind));
        assert_eq!(u8::from_value(Value::Absent), Err(Fault::Absent));
        assert_eq!(Option::<u8>::from_value(Value::Null), Ok(None));
        assert_eq!(String::from_value(Value::Null), Err(Fault::WrongKind));
        assert_eq!(narrow(u64::MAX), Err(Fault::Overflow));
        assert_eq!(fit::<u8>(-1), Err(Fault::Overflow));
    }

    #[test]
    fn what_is_there_becomes_an_object() {
        let fields = [
            ("a", Some(datum(&Some(3_u8)))),
            ("b", None),
            ("c", Some(datum(&f64::NAN))),
        ];
        assert_eq!(
            object(fields),
            Datum::from_json(r#"{"a": 3, "c": null}"#).unwrap()
        );
    }

    #[test]
    fn what_is_stored_is_taken_back() {
        let mut plan = Datum::Null;
        let (keys, old) = store(&mut plan, &["step", "name"], Datum::from("dig"));
        assert_eq!(at(&plan, &["step", "name"]), Value::Text("dig"));
        restore(&mut plan, &["step", "name"], keys, old);
        assert_eq!(plan, Datum::Null);

        let mut absent = None;
        let (keys, old) = store(&mut absent, &["step"], Datum::Null);
        assert!(absent.is_some());
        restore(&mut absent, &["step"], keys, old);
        assert_eq!(absent, None);
    }
}
