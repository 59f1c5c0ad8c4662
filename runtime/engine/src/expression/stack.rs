//! The stack of a program.

use alloc::vec::Vec;
use core::array;

use crate::datum::Datum;
use crate::error::Fault;
use crate::host::Host;
use crate::id::FieldId;
use crate::value::Value;

/// Number of values that a stack holds without allocating memory.
/// Why: an author's guard needs two or three; verified programs may need up to [`MAX_STACK`](crate::MAX_STACK).
const INLINE: usize = 4;

/// A value on the stack.
#[derive(Debug)]
pub(super) enum Slot<'t> {
    /// A constant of the table, or a value that is copied with it.
    Value(Value<'t>),
    /// A text, a list or an object that the host has.
    /// Nothing changes the host before it is used, see [`Stack::keep`].
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

/// The values that a program works on. Of a verified program V40 bounds their number.
#[derive(Debug)]
pub(super) struct Stack<'t> {
    inline: [Slot<'t>; INLINE],
    far: Vec<Slot<'t>>,
    depth: usize,
}

impl<'t> Stack<'t> {
    pub(super) fn new() -> Self {
        Self {
            inline: array::from_fn(|_| Slot::default()),
            far: Vec::new(),
            depth: 0,
        }
    }

    pub(super) fn push(&mut self, slot: Slot<'t>) {
        match self.inline.get_mut(self.depth) {
            Some(place) => *place = slot,
            None => self.far.push(slot),
        }
        self.depth += 1;
    }

    /// Returns the value on top; absent if there is none, which V40 rules out.
    pub(super) fn pop(&mut self) -> Slot<'t> {
        let Some(depth) = self.depth.checked_sub(1) else {
            return Slot::default();
        };
        self.depth = depth;
        match self.inline.get_mut(depth) {
            Some(place) => core::mem::take(place),
            None => self.far.pop().unwrap_or_default(),
        }
    }

    /// Makes what the host has the stack's own, before the host may change.
    pub(super) fn keep<H: Host>(&mut self, host: &H) -> Result<(), Fault> {
        let slots = self.inline.iter_mut().take(self.depth);
        for slot in slots.chain(&mut self.far) {
            if let Slot::Field(field) = *slot {
                *slot = Slot::Own(host.field(field).to_datum()?);
            }
        }
        Ok(())
    }
}
