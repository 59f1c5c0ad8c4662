//! Faults: the reasons why a program has no value.

use core::fmt;

/// A reason why a program ended without a value.
/// A guard is then false; an assignment doesn't happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The value is that of a field that is absent, or was computed with one.
    Absent,
    /// A number out of range.
    /// It is an integer beyond 64 bits with a sign or beyond the bounds of its field, or lies beyond every finite
    /// float.
    Overflow,
    /// A division by zero, or a remainder of one.
    DivisionByZero,
    /// An operator doesn't take values of this kind.
    WrongKind,
    /// A text, a list or an object is longer or nested deeper than its limit.
    TooLong,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Absent => "a field is absent",
            Self::Overflow => "a number is too large",
            Self::DivisionByZero => "a division by zero",
            Self::WrongKind => "an operator doesn't take a value of this kind",
            Self::TooLong => "a value is too long or nested too deep",
        })
    }
}

impl core::error::Error for Fault {}
