//! Values that are owned: what programs compute, what fields hold, what comes with an event.
//!
//! A [`Datum`] is a value of JSON with exact integers. [`Value`](crate::Value) is the same value borrowed, and knows *absent* besides.
//!
//! What to rely on: a datum that this crate made (read from JSON, computed or kept by a program) has at most
//! [`MAX_DATUM_BYTES`](crate::MAX_DATUM_BYTES), counted as [`Datum::size`] does, and is nested at most [`MAX_DATUM_DEPTH`](crate::MAX_DATUM_DEPTH) deep. What a host
//! builds by hand is the host's; reading it is total in any case.

mod json;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

pub use self::json::JsonError;
use crate::error::Fault;

/// A value of JSON that is owned.
///
/// ```
/// use statemark_runtime::Datum;
///
/// let order = Datum::from_json(r#"{"total": 18446744073709551615, "paid": false}"#)?;
/// assert_eq!(order.to_string(), r#"{"paid":false,"total":18446744073709551615}"#);
/// # Ok::<(), statemark_runtime::JsonError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Datum {
    /// JSON's `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer from `i64::MIN` to `u64::MAX`, exact.
    Int(i128),
    /// A finite number with a fraction or an exponent.
    Float(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Self>),
    /// An object. Its keys are sorted, so that it has one spelling.
    Object(BTreeMap<String, Self>),
}

impl Datum {
    /// Returns the size of the value, which is about what it takes in memory.
    /// Unit: bytes of its texts and keys, and eight for each value in it.
    #[must_use]
    pub fn size(&self) -> usize {
        let mut budget = Budget { bytes: usize::MAX };
        let _ = budget.take(self, usize::MAX);
        usize::MAX - budget.bytes
    }

    /// Returns the value at the end of a path of keys.
    #[must_use]
    pub fn at<K: AsRef<str>>(&self, path: &[K]) -> Option<&Self> {
        path.iter().try_fold(self, |inner, key| match inner {
            Self::Object(fields) => fields.get(key.as_ref()),
            _ => None,
        })
    }
}

/// Reports whether a table, a datum and JSON as others read it all hold the integer.
pub(crate) fn fits(int: i128) -> bool {
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&int)
}

/// The rest of the bytes that a value may have.
pub(crate) struct Budget {
    pub(crate) bytes: usize,
}

impl Budget {
    pub(crate) fn spend(&mut self, bytes: usize) -> Result<(), Fault> {
        self.bytes = self.bytes.checked_sub(bytes).ok_or(Fault::TooLong)?;
        Ok(())
    }

    /// Counts a value that may hold others, nested so deep.
    fn take(&mut self, datum: &Datum, depth: usize) -> Result<(), Fault> {
        self.spend(8)?;
        match datum {
            Datum::Text(text) => self.spend(text.len()),
            Datum::List(items) => self.take_all(items, depth),
            Datum::Object(fields) => self.take_fields(fields, depth),
            Datum::Null | Datum::Bool(_) | Datum::Int(_) | Datum::Float(_) => Ok(()),
        }
    }

    pub(crate) fn take_all(&mut self, items: &[Datum], depth: usize) -> Result<(), Fault> {
        let depth = depth.checked_sub(1).ok_or(Fault::TooLong)?;
        items.iter().try_for_each(|item| self.take(item, depth))
    }

    pub(crate) fn take_fields(
        &mut self,
        fields: &BTreeMap<String, Datum>,
        depth: usize,
    ) -> Result<(), Fault> {
        let depth = depth.checked_sub(1).ok_or(Fault::TooLong)?;
        fields.iter().try_for_each(|(key, field)| {
            self.spend(key.len())?;
            self.take(field, depth)
        })
    }
}

impl From<bool> for Datum {
    fn from(bool: bool) -> Self {
        Self::Bool(bool)
    }
}

impl From<i64> for Datum {
    fn from(int: i64) -> Self {
        Self::Int(i128::from(int))
    }
}

impl From<u64> for Datum {
    fn from(int: u64) -> Self {
        Self::Int(i128::from(int))
    }
}

impl From<&str> for Datum {
    fn from(text: &str) -> Self {
        Self::Text(String::from(text))
    }
}

impl From<String> for Datum {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
