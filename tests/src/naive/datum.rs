//! Values, as the interpreter has them, and what the operators of expressions make of them.
//!
//! The meanings are CEL's, with two words of our own: what is *absent* makes arithmetic absent and comparisons false,
//! and a *fault* (overflow, division by zero, a value of the wrong kind) leaves the whole expression without a value.

use std::cmp::Ordering;

use statemark_compiler::ir::{BinaryOperator, Constant, UnaryOperator};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Datum {
    Absent,
    Null,
    Bool(bool),
    /// From `i64::MIN` to `u64::MAX`.
    Int(i128),
    Float(f64),
    Text(String),
}

/// The expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault;

impl Datum {
    pub(super) fn of(constant: &Constant) -> Self {
        match constant {
            Constant::Null => Self::Null,
            Constant::Bool(value) => Self::Bool(*value),
            Constant::Int(value) => Self::Int(*value),
            Constant::Float(value) => Self::Float(*value),
            Constant::Text(text) => Self::Text(text.clone()),
        }
    }

    /// Only `true` is true.
    pub(super) fn is_true(&self) -> bool {
        *self == Self::Bool(true)
    }

    /// `==` of expressions: numbers by their value, whatever their kind; what is absent equals nothing.
    pub(super) fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Absent, _) | (_, Self::Absent) => false,
            (Self::Int(_) | Self::Float(_), Self::Int(_) | Self::Float(_)) => {
                numbers(self, other) == Some(Ordering::Equal)
            }
            _ => self == other,
        }
    }

    /// What a unary operator makes of it.
    pub(super) fn unary(self, operator: UnaryOperator) -> Result<Self, Fault> {
        match (operator, self) {
            (_, Self::Absent) => Ok(Self::Absent),
            (UnaryOperator::Negate, Self::Int(value)) => int64(value)?
                .checked_neg()
                .map(|value| Self::Int(value.into()))
                .ok_or(Fault),
            (UnaryOperator::Negate, Self::Float(value)) => Ok(Self::Float(-value)),
            (UnaryOperator::Size, Self::Text(text)) => {
                Ok(Self::Int(i128::try_from(text.chars().count()).unwrap()))
            }
            _ => Err(Fault),
        }
    }

    /// What a binary operator makes of two.
    pub(super) fn binary(&self, operator: BinaryOperator, other: &Self) -> Result<Self, Fault> {
        let absent = *self == Self::Absent || *other == Self::Absent;
        match operator {
            BinaryOperator::Add
            | BinaryOperator::Subtract
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Remainder => {
                if absent {
                    return Ok(Self::Absent);
                }
                arithmetic(operator, self, other)
            }
            BinaryOperator::AtLeast | BinaryOperator::AtMost => {
                if absent {
                    return Ok(Self::Absent);
                }
                let (Datum::Int(value), Datum::Int(bound)) = (self, other) else {
                    return Err(Fault);
                };
                let is_least = operator == BinaryOperator::AtLeast;
                let fits = if is_least {
                    value >= bound
                } else {
                    value <= bound
                };
                fits.then(|| self.clone()).ok_or(Fault)
            }
            _ if absent => Ok(Self::Bool(false)),
            BinaryOperator::Equal => Ok(Self::Bool(self.equals(other))),
            BinaryOperator::NotEqual => Ok(Self::Bool(!self.equals(other))),
            BinaryOperator::Less => Ok(Self::Bool(order(self, other)? == Some(Ordering::Less))),
            BinaryOperator::LessEqual => Ok(Self::Bool(matches!(
                order(self, other)?,
                Some(Ordering::Less | Ordering::Equal)
            ))),
            BinaryOperator::Greater => {
                Ok(Self::Bool(order(self, other)? == Some(Ordering::Greater)))
            }
            BinaryOperator::GreaterEqual => Ok(Self::Bool(matches!(
                order(self, other)?,
                Some(Ordering::Greater | Ordering::Equal)
            ))),
            BinaryOperator::StartsWith => texts(self, other, |text, part| text.starts_with(part)),
            BinaryOperator::EndsWith => texts(self, other, |text, part| text.ends_with(part)),
            BinaryOperator::Contains => texts(self, other, |text, part| text.contains(part)),
            // Lists and objects aren't among these values.
            _ => Err(Fault),
        }
    }
}

fn texts(one: &Datum, other: &Datum, ask: fn(&str, &str) -> bool) -> Result<Datum, Fault> {
    match (one, other) {
        (Datum::Text(one), Datum::Text(other)) => Ok(Datum::Bool(ask(one, other))),
        _ => Err(Fault),
    }
}

/// The order of two numbers or of two texts; nothing else has one.
fn order(one: &Datum, other: &Datum) -> Result<Option<Ordering>, Fault> {
    match (one, other) {
        (Datum::Text(one), Datum::Text(other)) => Ok(Some(one.chars().cmp(other.chars()))),
        (Datum::Int(_) | Datum::Float(_), Datum::Int(_) | Datum::Float(_)) => {
            Ok(numbers(one, other))
        }
        _ => Err(Fault),
    }
}

/// The order of two numbers by value.
pub(super) fn numbers(one: &Datum, other: &Datum) -> Option<Ordering> {
    match (one, other) {
        (Datum::Int(one), Datum::Int(other)) => Some(one.cmp(other)),
        (Datum::Float(one), Datum::Float(other)) => one.partial_cmp(other),
        (Datum::Int(one), Datum::Float(other)) => int_and_float(*one, *other),
        (Datum::Float(one), Datum::Int(other)) => {
            int_and_float(*other, *one).map(Ordering::reverse)
        }
        _ => None,
    }
}

/// Exact: the float's whole part is compared as an integer, then its fraction with nothing.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a float past 128 bits becomes the largest integer, which is as far beyond"
)]
fn int_and_float(int: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    let whole = float.floor() as i128;
    let fraction = float - float.floor();
    Some(match int.cmp(&whole) {
        Ordering::Equal if fraction > 0.0 => Ordering::Less,
        order => order,
    })
}

fn int64(value: i128) -> Result<i64, Fault> {
    i64::try_from(value).map_err(|_| Fault)
}

fn arithmetic(operator: BinaryOperator, one: &Datum, other: &Datum) -> Result<Datum, Fault> {
    match (one, other) {
        (Datum::Int(one), Datum::Int(other)) => {
            let (one, other) = (int64(*one)?, int64(*other)?);
            let value = match operator {
                BinaryOperator::Add => one.checked_add(other),
                BinaryOperator::Subtract => one.checked_sub(other),
                BinaryOperator::Multiply => one.checked_mul(other),
                BinaryOperator::Divide => one.checked_div(other),
                _ => one.checked_rem(other),
            };
            value.map(|value| Datum::Int(value.into())).ok_or(Fault)
        }
        (Datum::Float(one), Datum::Float(other)) => {
            let value = match operator {
                BinaryOperator::Add => one + other,
                BinaryOperator::Subtract => one - other,
                BinaryOperator::Multiply => one * other,
                BinaryOperator::Divide => one / other,
                _ => return Err(Fault),
            };
            value
                .is_finite()
                .then_some(Datum::Float(value))
                .ok_or(Fault)
        }
        (Datum::Text(one), Datum::Text(other)) if operator == BinaryOperator::Add => {
            Ok(Datum::Text(format!("{one}{other}")))
        }
        _ => Err(Fault),
    }
}
