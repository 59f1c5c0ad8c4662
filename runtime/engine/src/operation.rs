//! The meaning of operators, which the evaluator of programs and generated Rust share.
//!
//! The meanings are CEL's, on JSON's values, with an answer for what is absent: arithmetic with an absent value is
//! absent, a comparison or a test with one is false. Integers are computed with as `i64`, and checked; those beyond it
//! are compared and kept, never computed with. Floats stay finite. Every function is total.

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::cmp::Ordering;

use crate::datum::Datum;
use crate::error::Fault;
use crate::limits::MAX_DATUM_BYTES;
use crate::value::{BinaryOperator, UnaryOperator, Value};

impl UnaryOperator {
    /// Returns the result for a value; `None` for absent.
    ///
    /// ```
    /// use statemark_runtime::{Datum, UnaryOperator, Value};
    ///
    /// assert_eq!(UnaryOperator::Size.apply(Value::Text("né")), Ok(Some(Datum::Int(2))));
    /// assert_eq!(UnaryOperator::Negate.apply(Value::Absent), Ok(None));
    /// ```
    ///
    /// # Errors
    ///
    /// The value is of another kind, or there is no such number.
    pub fn apply(self, value: Value<'_>) -> Result<Option<Datum>, Fault> {
        let datum = match (self, value) {
            (_, Value::Absent) => return Ok(None),
            (Self::Negate, Value::Int(int)) => {
                integer(narrow(int)?.checked_neg().ok_or(Fault::Overflow)?)
            }
            (Self::Negate, Value::Float(float)) => Datum::Float(-float),
            (Self::Size, Value::Text(text)) => count(text.chars().count()),
            (Self::Size, Value::List(items)) => count(items.len()),
            (Self::Size, Value::Object(fields)) => count(fields.len()),
            _ => return Err(Fault::WrongKind),
        };
        Ok(Some(datum))
    }
}

impl BinaryOperator {
    /// Returns the result for two values; `None` for absent.
    ///
    /// ```
    /// use statemark_runtime::{BinaryOperator, Datum, Fault, Value};
    ///
    /// let most = Value::Int(i128::from(i64::MAX));
    /// assert_eq!(BinaryOperator::Add.apply(most, Value::Int(1)), Err(Fault::Overflow));
    /// assert_eq!(BinaryOperator::Equal.apply(Value::Int(1), Value::Float(1.0)), Ok(Some(Datum::Bool(true))));
    /// assert_eq!(BinaryOperator::Less.apply(Value::Absent, most), Ok(Some(Datum::Bool(false))));
    /// ```
    ///
    /// # Errors
    ///
    /// The values are of other kinds, or there is no such number or no text of that length.
    pub fn apply(self, left: Value<'_>, right: Value<'_>) -> Result<Option<Datum>, Fault> {
        if self.is_arithmetic() {
            return self.compute(left, right);
        }
        self.test(left, right).map(Datum::Bool).map(Some)
    }

    /// Returns the answer of a comparison or a test.
    ///
    /// # Errors
    ///
    /// The values are of other kinds than the operator takes, or it is one of arithmetic.
    pub fn test(self, left: Value<'_>, right: Value<'_>) -> Result<bool, Fault> {
        if matches!(left, Value::Absent) || matches!(right, Value::Absent) {
            return Ok(false);
        }
        match self {
            Self::Equal => Ok(left.equals(right)),
            Self::NotEqual => Ok(!left.equals(right)),
            Self::Less => ordering(left, right).map(Ordering::is_lt),
            Self::LessEqual => ordering(left, right).map(Ordering::is_le),
            Self::Greater => ordering(left, right).map(Ordering::is_gt),
            Self::GreaterEqual => ordering(left, right).map(Ordering::is_ge),
            Self::In => within(left, right),
            Self::StartsWith | Self::EndsWith | Self::Contains => {
                let (Value::Text(text), Value::Text(part)) = (left, right) else {
                    return Err(Fault::WrongKind);
                };
                Ok(match self {
                    Self::StartsWith => text.starts_with(part),
                    Self::EndsWith => text.ends_with(part),
                    _ => text.contains(part),
                })
            }
            _ => Err(Fault::WrongKind),
        }
    }

    /// Returns the result of arithmetic, or of texts one behind the other.
    fn compute(self, left: Value<'_>, right: Value<'_>) -> Result<Option<Datum>, Fault> {
        let datum = match (left, right) {
            (Value::Absent, _) | (_, Value::Absent) => return Ok(None),
            // Kept, not computed with, and so not only up to `i64`.
            (Value::Int(left), Value::Int(right))
                if matches!(self, Self::AtLeast | Self::AtMost) =>
            {
                Datum::Int(self.bounded(left, right)?)
            }
            (Value::Int(left), Value::Int(right)) => {
                integer(self.integers(narrow(left)?, narrow(right)?)?)
            }
            (Value::Float(left), Value::Float(right)) => Datum::Float(self.floats(left, right)?),
            (Value::Text(left), Value::Text(right)) if self == Self::Add => {
                Datum::Text(concatenation(left, right)?)
            }
            _ => return Err(Fault::WrongKind),
        };
        Ok(Some(datum))
    }

    /// Computes with integers: the result is exact or a fault.
    /// Division is towards zero, a remainder has the sign of `left`.
    ///
    /// # Errors
    ///
    /// There is no such integer, or the operator isn't one of arithmetic.
    pub fn integers(self, left: i64, right: i64) -> Result<i64, Fault> {
        let result = match self {
            Self::Add => left.checked_add(right),
            Self::Subtract => left.checked_sub(right),
            Self::Multiply => left.checked_mul(right),
            Self::Divide | Self::Remainder if right == 0 => return Err(Fault::DivisionByZero),
            Self::Divide => left.checked_div(right),
            Self::AtLeast | Self::AtMost => return self.bounded(left, right),
            Self::Remainder => left.checked_rem(right),
            _ => return Err(Fault::WrongKind),
        };
        result.ok_or(Fault::Overflow)
    }

    /// Returns the first, if it lies on the right side of the second.
    fn bounded<T: PartialOrd + Copy>(self, value: T, bound: T) -> Result<T, Fault> {
        let lies_within = match self {
            Self::AtLeast => value >= bound,
            _ => value <= bound,
        };
        lies_within.then_some(value).ok_or(Fault::Overflow)
    }

    /// Computes with floats: the result is finite or a fault.
    ///
    /// # Errors
    ///
    /// The result isn't finite, or the operator has none.
    pub fn floats(self, left: f64, right: f64) -> Result<f64, Fault> {
        let result = match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide if right == 0.0 => return Err(Fault::DivisionByZero),
            Self::Divide => left / right,
            _ => return Err(Fault::WrongKind),
        };
        Some(result)
            .filter(|result| result.is_finite())
            .ok_or(Fault::Overflow)
    }
}

impl Value<'_> {
    /// Compares two values as expressions do.
    /// Numbers are equal by their value, exactly; values of different kinds differ; absent and opaque values equal
    /// nothing. Lists and objects are equal if all that is in them is.
    ///
    /// ```
    /// use statemark_runtime::Value;
    ///
    /// assert!(Value::Int(2).equals(Value::Float(2.0)));
    /// assert!(!Value::Int(9_007_199_254_740_993).equals(Value::Float(9_007_199_254_740_992.0)));
    /// ```
    #[must_use]
    pub fn equals(self, other: Value<'_>) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::List(a), Value::List(b)) => same_items(a, b),
            (Value::Object(a), Value::Object(b)) => same_fields(a, b),
            _ => self.order(other) == Some(Ordering::Equal),
        }
    }
}

fn same_items(a: &[Datum], b: &[Datum]) -> bool {
    let mut pairs = a.iter().zip(b);
    a.len() == b.len() && pairs.all(|(a, b)| a.value().equals(b.value()))
}

fn same_fields(a: &BTreeMap<String, Datum>, b: &BTreeMap<String, Datum>) -> bool {
    let mut pairs = a.iter().zip(b);
    a.len() == b.len() && pairs.all(|((k, a), (l, b))| k == l && a.value().equals(b.value()))
}

/// Returns the order of two numbers or of two texts.
fn ordering(left: Value<'_>, right: Value<'_>) -> Result<Ordering, Fault> {
    match (left, right) {
        // UTF-8 sorts as its code points do.
        (Value::Text(a), Value::Text(b)) => Ok(a.cmp(b)),
        _ => left.order(right).ok_or(Fault::WrongKind),
    }
}

/// Reports whether the list has an equal item, or the object that key.
fn within(item: Value<'_>, of: Value<'_>) -> Result<bool, Fault> {
    match of {
        Value::List(items) => Ok(items.iter().any(|other| item.equals(other.value()))),
        Value::Object(fields) => Ok(match item {
            Value::Text(key) => fields.contains_key(key),
            _ => false,
        }),
        _ => Err(Fault::WrongKind),
    }
}

fn concatenation(left: &str, right: &str) -> Result<String, Fault> {
    let length = left.len().saturating_add(right.len());
    if length > MAX_DATUM_BYTES {
        return Err(Fault::TooLong);
    }
    let mut text = String::with_capacity(length);
    text.push_str(left);
    text.push_str(right);
    Ok(text)
}

fn narrow(int: i128) -> Result<i64, Fault> {
    i64::try_from(int).map_err(|_| Fault::Overflow)
}

fn integer(int: i64) -> Datum {
    Datum::Int(i128::from(int))
}

fn count(items: usize) -> Datum {
    // Nothing in memory has more items than an i64 counts.
    integer(i64::try_from(items).unwrap_or(i64::MAX))
}
