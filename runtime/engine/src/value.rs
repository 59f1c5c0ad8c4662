//! One value of the context, seen from the machine, and the operators that programs have.
//!
//! The machine never owns the context. It asks the [`Host`](crate::Host) for a field and gets a borrowed [`Value`]; what
//! programs compute is a [`Datum`]. Deliberately not here: what the operators of expressions do (`operation.rs`).

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::cmp::Ordering;

use crate::datum::{Budget, Datum, fits};
use crate::error::Fault;
use crate::limits::{MAX_DATUM_BYTES, MAX_DATUM_DEPTH};

/// A value of the context, borrowed from the host.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// The field isn't there.
    Absent,
    /// JSON's `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer from `i64::MIN` to `u64::MAX`, exact.
    Int(i128),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// A text.
    Text(&'a str),
    /// A list.
    List(&'a [Datum]),
    /// An object.
    Object(&'a BTreeMap<String, Datum>),
    /// A value that the host has in a form of its own.
    /// It is there, and that is all a program can say about it.
    Opaque,
}

impl Value<'_> {
    /// Copies the value into one that is owned.
    /// Takes time in the size of the value, and never more than [`MAX_DATUM_BYTES`] of it.
    ///
    /// # Errors
    ///
    /// It is absent, opaque, too large or nested too deep, a number that JSON doesn't have (infinite, not a number), or
    /// an integer beyond 64 bits.
    pub fn to_datum(self) -> Result<Datum, Fault> {
        let mut budget = Budget {
            bytes: MAX_DATUM_BYTES,
        };
        match self {
            Value::Absent => Err(Fault::Absent),
            Value::Opaque => Err(Fault::WrongKind),
            Value::Null => Ok(Datum::Null),
            Value::Bool(bool) => Ok(Datum::Bool(bool)),
            Value::Int(int) if fits(int) => Ok(Datum::Int(int)),
            Value::Float(float) if float.is_finite() => Ok(Datum::Float(float)),
            Value::Int(_) | Value::Float(_) => Err(Fault::Overflow),
            Value::Text(text) => {
                budget.spend(text.len())?;
                Ok(Datum::Text(String::from(text)))
            }
            Value::List(items) => {
                budget.take_all(items, MAX_DATUM_DEPTH)?;
                Ok(Datum::List(items.to_vec()))
            }
            Value::Object(fields) => {
                budget.take_fields(fields, MAX_DATUM_DEPTH)?;
                Ok(Datum::Object(fields.clone()))
            }
        }
    }
}

impl Datum {
    /// Returns the value, borrowed.
    #[must_use]
    pub fn value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(bool) => Value::Bool(*bool),
            Self::Int(int) => Value::Int(*int),
            Self::Float(float) => Value::Float(*float),
            Self::Text(text) => Value::Text(text),
            Self::List(items) => Value::List(items),
            Self::Object(fields) => Value::Object(fields),
        }
    }
}

/// An operator by which a guard compares a field with constants.
/// The names are Statewright's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operator {
    /// Equal, and of the same kind: `1` and `1.0` differ.
    Eq,
    /// Present, and not equal.
    Neq,
    /// Greater; numbers only.
    Gt,
    /// Greater or equal; numbers only.
    Gte,
    /// Less; numbers only.
    Lt,
    /// Less or equal; numbers only.
    Lte,
    /// Equal to one of the constants.
    In,
    /// A text that contains the constant text.
    Contains,
    /// Present and not null.
    Exists,
    /// Absent or null.
    NotExists,
}

impl Operator {
    /// Every operator, in the order of their codes in a table.
    pub const ALL: [Self; 10] = [
        Self::Eq,
        Self::Neq,
        Self::Gt,
        Self::Gte,
        Self::Lt,
        Self::Lte,
        Self::In,
        Self::Contains,
        Self::Exists,
        Self::NotExists,
    ];

    /// Returns the operator's name in a definition.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Neq => "neq",
            Self::Gt => "gt",
            Self::Gte => "gte",
            Self::Lt => "lt",
            Self::Lte => "lte",
            Self::In => "in",
            Self::Contains => "contains",
            Self::Exists => "exists",
            Self::NotExists => "not_exists",
        }
    }

    /// Finds the operator of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|operator| operator.name() == name)
    }

    /// Reports whether an absent field leaves the question undecided, and so false.
    #[must_use]
    pub const fn needs_presence(self) -> bool {
        !matches!(self, Self::Exists | Self::NotExists)
    }

    /// Reports whether `field operator constants` holds.
    ///
    /// `constants` has one value, or any number for [`Operator::In`], or none for the two about presence. Total: values
    /// that can't be compared make it false. Integers are compared exactly, never through a float.
    ///
    /// ```
    /// use statemark_runtime::{Operator, Value};
    ///
    /// assert!(Operator::Gt.holds(Value::Int(9_007_199_254_740_993), &[Value::Int(9_007_199_254_740_992)]));
    /// assert!(!Operator::Neq.holds(Value::Absent, &[Value::Text("paid")]));
    /// ```
    #[must_use]
    pub fn holds(self, field: Value<'_>, constants: &[Value<'_>]) -> bool {
        let present = !matches!(field, Value::Absent);
        let first = constants.first().copied().unwrap_or(Value::Absent);
        match self {
            Self::Exists => present && !matches!(field, Value::Null),
            Self::NotExists => matches!(field, Value::Absent | Value::Null),
            Self::Eq => field.same(first),
            Self::Neq => present && !field.same(first),
            Self::Gt => field.order(first) == Some(Ordering::Greater),
            Self::Gte => matches!(
                field.order(first),
                Some(Ordering::Greater | Ordering::Equal)
            ),
            Self::Lt => field.order(first) == Some(Ordering::Less),
            Self::Lte => matches!(field.order(first), Some(Ordering::Less | Ordering::Equal)),
            Self::In => constants.iter().any(|&constant| field.same(constant)),
            Self::Contains => match (field, first) {
                (Value::Text(text), Value::Text(part)) => text.contains(part),
                _ => false,
            },
        }
    }
}

impl Value<'_> {
    /// Reports whether two JSON values of the same kind are equal.
    /// Constants have no lists and objects; values that are absent, opaque, a list or an object equal nothing.
    fn same(self, other: Value<'_>) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a == b,
            (Value::Text(a), Value::Text(b)) => a == b,
            _ => false,
        }
    }

    /// Returns the order of two numbers, exact also between an integer and a float.
    /// There is none where one isn't a number.
    pub(crate) fn order(self, other: Value<'_>) -> Option<Ordering> {
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => Some(a.cmp(&b)),
            (Value::Float(a), Value::Float(b)) => a.partial_cmp(&b),
            (Value::Int(a), Value::Float(b)) => order_int_float(a, b),
            (Value::Float(a), Value::Int(b)) => order_int_float(b, a).map(Ordering::reverse),
            _ => None,
        }
    }
}

/// Compares an integer of at most 65 bits with a float, without rounding the integer.
fn order_int_float(int: i128, float: f64) -> Option<Ordering> {
    /// 2^100: past every integer that a [`Value`] holds, and exact as a float.
    const BEYOND: f64 = 1_267_650_600_228_229_401_496_703_205_376.0;
    if float.is_nan() {
        return None;
    }
    if float >= BEYOND {
        return Some(Ordering::Less);
    }
    if float <= -BEYOND {
        return Some(Ordering::Greater);
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "within 2^100, and cutting the fraction is meant"
    )]
    let whole = float as i128;
    #[expect(
        clippy::cast_precision_loss,
        reason = "`whole` came from a float, so it goes back without loss"
    )]
    let fraction = float - whole as f64;
    Some(
        int.cmp(&whole)
            .then_with(|| 0.0_f64.partial_cmp(&fraction).unwrap_or(Ordering::Equal)),
    )
}

/// An operator on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UnaryOperator {
    /// `-x`: of a number.
    Negate,
    /// `size(x)`: the code points of a text, the items of a list, the keys of an object.
    Size,
}

impl UnaryOperator {
    /// Every operator, in the order of their codes in a table.
    pub const ALL: [Self; 2] = [Self::Negate, Self::Size];

    /// Returns the spelling in an expression.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Negate => "-",
            Self::Size => "size",
        }
    }
}

/// An operator on two values.
/// The names and meanings are CEL's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BinaryOperator {
    /// `a == b`: numbers by their value, whatever their kind; values of different kinds differ.
    Equal,
    /// `a != b`.
    NotEqual,
    /// `a < b`: of numbers, or of texts by code points.
    Less,
    /// `a <= b`.
    LessEqual,
    /// `a > b`.
    Greater,
    /// `a >= b`.
    GreaterEqual,
    /// `a + b`: of numbers of one kind, or of texts.
    Add,
    /// `a - b`.
    Subtract,
    /// `a * b`.
    Multiply,
    /// `a / b`: towards zero for integers.
    Divide,
    /// `a % b`: of integers, with the sign of `a`.
    Remainder,
    /// `a in b`: whether the list has an equal item, or the object that key.
    In,
    /// `a.startsWith(b)`.
    StartsWith,
    /// `a.endsWith(b)`.
    EndsWith,
    /// `a.contains(b)`.
    Contains,
    /// The integer `a`, unless it is less than `b`: what a field whose schema has a `minimum` is assigned.
    /// Has no spelling in expressions.
    AtLeast,
    /// The integer `a`, unless it is greater than `b`. Has no spelling in expressions.
    AtMost,
}

impl BinaryOperator {
    /// Every operator, in the order of their codes in a table.
    pub const ALL: [Self; 17] = [
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::LessEqual,
        Self::Greater,
        Self::GreaterEqual,
        Self::Add,
        Self::Subtract,
        Self::Multiply,
        Self::Divide,
        Self::Remainder,
        Self::In,
        Self::StartsWith,
        Self::EndsWith,
        Self::Contains,
        Self::AtLeast,
        Self::AtMost,
    ];

    /// Returns the spelling in an expression, or in a dump.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::In => "in",
            Self::StartsWith => "startsWith",
            Self::EndsWith => "endsWith",
            Self::Contains => "contains",
            Self::AtLeast => "atLeast",
            Self::AtMost => "atMost",
        }
    }

    /// Reports whether it gives a number or a text; the others give `true` or `false`.
    #[must_use]
    pub const fn is_arithmetic(self) -> bool {
        matches!(
            self,
            Self::Add
                | Self::Subtract
                | Self::Multiply
                | Self::Divide
                | Self::Remainder
                | Self::AtLeast
                | Self::AtMost
        )
    }
}
