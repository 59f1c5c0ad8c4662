//! The values that expressions work on.

use crate::datum::Datum;
use crate::error::Fault;
use crate::host::Host;
use crate::id::FieldId;
use crate::value::Value;

/// A value of an expression.
#[derive(Debug)]
pub(super) enum Slot<'t> {
    /// A constant of the table, or a value that is copied with it.
    Value(Value<'t>),
    /// A text, a list or an object that the host has.
    /// Nothing changes the host before it is used, see [`Slot::keep`].
    Field(FieldId),
    /// A value that the program computed, or had to keep.
    Own(Datum),
}

impl Slot<'_> {
    pub(super) fn from_computed(computed: Option<Datum>) -> Self {
        match computed {
            None => Self::Value(Value::Absent),
            Some(Datum::Bool(bool)) => Self::Value(Value::Bool(bool)),
            Some(datum) => Self::Own(datum),
        }
    }

    pub(super) const fn bool(bool: bool) -> Self {
        Self::Value(Value::Bool(bool))
    }

    /// Returns the value, read from the host where it is the host's.
    pub(super) fn value<'v, H: Host>(&'v self, host: &'v H) -> Value<'v> {
        match self {
            Self::Value(value) => *value,
            Self::Field(field) => host.field(*field),
            Self::Own(datum) => datum.value(),
        }
    }

    pub(super) const fn is_true(&self) -> bool {
        matches!(self, Self::Value(Value::Bool(true)))
    }

    /// Makes what the host has a value that is owned, before the host may change.
    pub(super) fn keep<H: Host>(&mut self, host: &H) -> Result<(), Fault> {
        if let Self::Field(field) = *self {
            *self = Self::Own(host.field(field).to_datum()?);
        }
        Ok(())
    }

    /// Converts the slot into a value that is owned.
    pub(super) fn into_datum<H: Host>(self, host: &H) -> Result<Datum, Fault> {
        match self {
            Self::Own(datum) => Ok(datum),
            other => other.value(host).to_datum(),
        }
    }
}

impl Default for Slot<'_> {
    fn default() -> Self {
        Self::Value(Value::Absent)
    }
}
