//! Values that the states of a run share: what a record doesn't change is copied by no one.
//!
//! A run's state is copied whenever a decision tries records out, and the copy of a process' cache is handed to every
//! reader. [`Shared`] makes such a copy cost nothing until it is changed. [`Context`] does the same field by field, because a
//! machine's data may have thousands of fields of which an event changes one.

use std::io::{self, Write};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use statemark_runtime::{Datum, JsonError, MAX_DATUM_BYTES};

use crate::hash::Hash;

/// Most fields that lie over those of a context before all become one map. Unit: fields.
///
/// Why: each copy of a context copies them, and joining them costs as much as the context is large.
const MAX_OVERLAY: usize = 128;

/// A value that is copied when it is changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared<T>(Arc<T>);

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<'s, T> IntoIterator for &'s Shared<T>
where
    &'s T: IntoIterator,
{
    type Item = <&'s T as IntoIterator>::Item;
    type IntoIter = <&'s T as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::from)
    }
}

/// The data of a run's machine, by the names of its fields.
///
/// A copy shares the fields, and a step costs as much as it changes.
#[derive(Clone, Debug, Default)]
pub struct Context {
    base: Arc<Base>,
    /// The fields that have changed since.
    changed: Shared<Map<String, Value>>,
    /// The length of all keys and values as JSON. Unit: bytes.
    bytes: usize,
}

/// The fields of contexts as they once were.
#[derive(Debug, Default)]
struct Base {
    fields: Map<String, Value>,
    /// Set once a machine was found to be able to hold the fields.
    checked: OnceLock<()>,
}

impl Context {
    /// Returns the value of a field.
    #[must_use]
    pub fn get(&self, field: &str) -> Option<&Value> {
        let changed = self.changed.get(field);
        changed.or_else(|| self.base.fields.get(field))
    }

    /// Reports whether it has no field.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.base.fields.is_empty()
    }

    /// Returns the SHA-256 checksum of its fields as JSON, sorted by name.
    #[must_use]
    pub fn digest(&self) -> Hash {
        let mut digest = hmac_sha256::Hash::new();
        for (field, value) in self.iter() {
            let entry = (field, value);
            // INVARIANT: all maps have texts for keys, and nothing else can fail.
            let text = serde_json::to_vec(&entry).unwrap_or_default();
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text);
        }
        Hash::from_bytes(digest.finalize())
    }

    /// Returns the fields, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        let mut changed = self.changed.iter().peekable();
        let mut base = self.base.fields.iter().peekable();
        std::iter::from_fn(move || match (changed.peek(), base.peek()) {
            (Some((first, _)), Some((other, _))) if first > other => base.next(),
            (Some((first, _)), Some((other, _))) => {
                let is_replaced = first == other;
                base.next_if(|_| is_replaced);
                changed.next()
            }
            (None, _) => base.next(),
            (_, None) => changed.next(),
        })
    }

    /// Returns a copy of the fields.
    #[must_use]
    pub fn to_map(&self) -> Map<String, Value> {
        let fields = self.iter();
        fields
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// Returns its size. Unit: bytes of JSON.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Sets fields that a machine may not be able to hold.
    pub(crate) fn extend(&mut self, fields: Map<String, Value>) {
        if !fields.is_empty() {
            let mut all = self.to_map();
            all.extend(fields);
            *self = Self::from(all);
        }
    }

    /// Sets fields that a machine holds.
    pub(crate) fn apply_step(&mut self, fields: Map<String, Value>) {
        for (name, value) in fields {
            let old = self.get(&name).map_or(0, |old| field_size(&name, old));
            self.bytes = self.bytes.saturating_sub(old) + field_size(&name, &value);
            self.changed.insert(name, value);
        }
        if self.changed.len() > MAX_OVERLAY {
            let checked = self.base.checked.clone();
            let fields = self.to_map();
            self.base = Arc::new(Base { fields, checked });
            self.changed.clear();
        }
    }

    /// Checks that a machine can hold it. Takes time in its size only once.
    ///
    /// # Errors
    ///
    /// It is too long, or a value is too deep or not exact.
    pub(crate) fn check(&self) -> Result<(), JsonError> {
        if self.base.checked.get().is_none() || self.bytes >= MAX_DATUM_BYTES {
            Datum::from_json(&serde_json::to_string(self).unwrap_or_default())?;
            let _ = self.base.checked.set(());
        }
        Ok(())
    }
}

impl From<Map<String, Value>> for Context {
    fn from(fields: Map<String, Value>) -> Self {
        let sizes = fields.iter().map(|(name, value)| field_size(name, value));
        Self {
            bytes: sizes.sum(),
            changed: Shared::default(),
            base: Arc::new(Base {
                fields,
                checked: OnceLock::new(),
            }),
        }
    }
}

impl PartialEq for Context {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Serialize for Context {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Context {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self::from)
    }
}

/// Returns the size of a field with its punctuation. Unit: bytes of JSON.
fn field_size(name: &str, value: &Value) -> usize {
    json_size(name) + json_size(value) + 2
}

/// Returns the length of a value's JSON, which is written nowhere. Unit: bytes.
pub fn json_size(value: &(impl Serialize + ?Sized)) -> usize {
    let mut counter = Counter(0);
    // INVARIANT: the counter takes everything, and what is counted has texts for keys.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

/// A writer that counts bytes.
struct Counter(usize);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
