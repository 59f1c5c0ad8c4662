//! Data of generated machines as it is saved: each type to a [`Datum`] and back.

use alloc::vec::Vec;

use super::{Plain, String};
use crate::datum::Datum;
use crate::error::Fault;
use crate::saved::{FieldError, FieldFault};

/// Data that is saved and loaded.
pub trait Stored: Sized {
    /// Returns it as it is saved.
    fn store(&self) -> Datum;

    /// Reads what was saved.
    ///
    /// # Errors
    ///
    /// A field of it is missing, unknown, or doesn't hold the value.
    fn load(datum: Datum) -> Result<Self, FieldError>;
}

/// Returns a plain value as it is saved.
pub fn store_plain<T: Plain>(value: &T) -> Datum {
    super::datum(value)
}

/// Reads a plain value.
///
/// # Errors
///
/// The type doesn't hold it.
pub fn load_plain<T: Plain>(datum: &Datum) -> Result<T, FieldError> {
    T::from_value(datum.value()).map_err(|fault| FieldError::new("", FieldFault::Value(fault)))
}

macro_rules! plain {
    ($($kind:ty)*) => {
        $(impl Stored for $kind {
            fn store(&self) -> Datum {
                store_plain(self)
            }

            fn load(datum: Datum) -> Result<Self, FieldError> {
                load_plain(&datum)
            }
        })*
    };
}

plain!(bool i8 i16 i32 i64 u8 u16 u32 u64 String);

/// A number without a fraction is saved as one, too.
impl Stored for f64 {
    fn store(&self) -> Datum {
        store_plain(self)
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "what a float holds is the nearest of what was saved"
    )]
    fn load(datum: Datum) -> Result<Self, FieldError> {
        match datum {
            Datum::Int(int) => Ok(int as Self),
            other => load_plain(&other),
        }
    }
}

impl Stored for Datum {
    fn store(&self) -> Datum {
        self.clone()
    }

    fn load(datum: Datum) -> Result<Self, FieldError> {
        Ok(datum)
    }
}

/// A value or `null`.
impl<T: Stored> Stored for Option<T> {
    fn store(&self) -> Datum {
        self.as_ref().map_or(Datum::Null, T::store)
    }

    fn load(datum: Datum) -> Result<Self, FieldError> {
        match datum {
            Datum::Null => Ok(None),
            other => T::load(other).map(Some),
        }
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn store(&self) -> Datum {
        Datum::List(self.iter().map(T::store).collect())
    }

    fn load(datum: Datum) -> Result<Self, FieldError> {
        match datum {
            Datum::List(items) => items.into_iter().map(T::load).collect(),
            _ => Err(FieldError::new("", FieldFault::Value(Fault::WrongKind))),
        }
    }
}
