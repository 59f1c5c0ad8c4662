//! Machines that are saved: all that a machine is, by the names of its spec.
//!
//! [`Saved`] outlives a change of the spec: ids may change, names are mapped. It is bytes ([`Saved::to_bytes`]), or whatever
//! `serde` writes (feature `serde`), and says by name what doesn't fit the machine that it is loaded into.
//!
//! ```text
//! 0   label     "stmksave"
//! 8   version   u32, little-endian
//! 12  length    u32: bytes of the body
//! 16  checksum  u32: CRC-32 of the body
//! 20  body      JSON: behavior, states, histories, context, timers, effects, next_key
//! ```
//!
//! What to rely on: reading takes nothing that is longer than [`MAX_SAVED_BYTES`], and allocates in the order of the bytes
//! that are there. Deliberately not here: whether the states can be active together; only a machine knows.

#[cfg(feature = "serde")]
mod serde;
mod table;

use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;

use crate::chart::Chart;
use crate::configuration::Configuration;
use crate::datum::{Datum, JsonError};
use crate::error::Fault;
use crate::id::StateId;
use crate::limits::MAX_DATUM_BYTES;
use crate::table::checksum::crc32;

const LABEL: [u8; 8] = *b"stmksave";

/// The version of the format. Older ones are read as long as there are any.
const VERSION: u32 = 1;

/// Bytes before the body.
const HEAD: usize = 20;

/// Most bytes of a saved machine. Why: the body is a datum, which has as many.
pub const MAX_SAVED_BYTES: usize = MAX_DATUM_BYTES + HEAD;

/// A machine that is saved, by the names of its spec.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Saved {
    /// The hash of the machine's behavior.
    pub behavior: [u8; 32],
    /// The active states without active children.
    pub states: Vec<String>,
    /// The states that each history has recorded.
    pub histories: BTreeMap<String, Vec<String>>,
    /// The context, an object; `None` for a machine without declared data.
    pub context: Option<Datum>,
    /// The timers that wait and the times at which they are due, in that order.
    pub timers: Vec<(String, u64)>,
    /// The effects that aren't settled.
    pub effects: Vec<SavedEffect>,
    /// The key of the next effect.
    pub next_key: u64,
}

/// An effect that was handed over, and isn't settled.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedEffect {
    /// Its key.
    pub key: u64,
    /// Its name in the spec.
    pub effect: String,
    /// The context as it was at its action; `null` for a machine without declared data.
    pub context: Datum,
}

impl Saved {
    /// Renames a state, wherever it is active or recorded, and the timers that its delays have.
    pub fn rename_state(&mut self, from: &str, to: &str) {
        let recorded = self.histories.values_mut().flatten();
        for name in self.states.iter_mut().chain(recorded) {
            if name == from {
                to.clone_into(name);
            }
        }
        for (name, _) in &mut self.timers {
            if let Some(number) = delay_of(name, from) {
                *name = format!("after.{to}.{number}");
            }
        }
    }

    /// Renames a field of the context, and of those that unsettled effects have; of a path, the last key.
    ///
    /// Returns false if the context has no such field.
    pub fn rename_field(&mut self, path: &str, to: &str) -> bool {
        let mut renamed = self.contexts().map(|context| {
            let found = fields_around(context, path);
            let value = found.and_then(|(fields, last)| Some((fields.remove(last)?, fields)));
            value.is_some_and(|(value, fields)| {
                fields.insert(to.to_string(), value);
                true
            })
        });
        let first = renamed.next().unwrap_or_default();
        renamed.for_each(drop);
        first
    }

    /// Removes a field of the context, and of those that unsettled effects have.
    ///
    /// Returns what the context had there.
    pub fn remove_field(&mut self, path: &str) -> Option<Datum> {
        let mut removed = self.contexts().map(|context| {
            let (fields, last) = fields_around(context, path)?;
            fields.remove(last)
        });
        let first = removed.next().flatten();
        removed.for_each(drop);
        first
    }

    /// Sets a field of the context; unsettled effects get it that don't have it.
    ///
    /// Returns false if the context has nothing that could have it.
    pub fn set_field(&mut self, path: &str, value: impl Into<Datum>) -> bool {
        let value = value.into();
        for effect in &mut self.effects {
            if let Some((fields, last)) = fields_around(&mut effect.context, path) {
                fields
                    .entry(last.to_string())
                    .or_insert_with(|| value.clone());
            }
        }
        let context = self.context.as_mut();
        let Some((fields, last)) = context.and_then(|context| fields_around(context, path)) else {
            return false;
        };
        fields.insert(last.to_string(), value);
        true
    }

    /// Adds the fields of an object that the context doesn't have, at any depth.
    ///
    /// The same holds for the contexts of unsettled effects.
    pub fn complete(&mut self, initial: Datum) {
        for effect in &mut self.effects {
            complete(&mut effect.context, initial.clone());
        }
        match &mut self.context {
            Some(context) => complete(context, initial),
            None => self.context = Some(initial),
        }
    }

    /// Renames a timer.
    pub fn rename_timer(&mut self, from: &str, to: &str) {
        for (name, _) in self.timers.iter_mut().filter(|(name, _)| name == from) {
            to.clone_into(name);
        }
    }

    /// Renames an effect that isn't settled.
    pub fn rename_effect(&mut self, from: &str, to: &str) {
        let effects = self.effects.iter_mut();
        for effect in effects.filter(|effect| effect.effect == from) {
            to.clone_into(&mut effect.effect);
        }
    }

    /// Returns the contexts: that of the machine first, then those that unsettled effects have.
    fn contexts(&mut self) -> impl Iterator<Item = &mut Datum> {
        let effects = self.effects.iter_mut().map(|effect| &mut effect.context);
        self.context.iter_mut().chain(effects)
    }

    /// Writes it as bytes.
    ///
    /// # Errors
    ///
    /// It has more than [`MAX_SAVED_BYTES`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, SaveError> {
        let body = self.to_datum().to_string();
        let length = u32::try_from(body.len())
            .ok()
            .filter(|_| body.len() <= MAX_DATUM_BYTES);
        let Some(length) = length else {
            return Err(SaveError { length: body.len() });
        };
        let mut bytes = Vec::with_capacity(HEAD + body.len());
        bytes.extend_from_slice(&LABEL);
        for number in [VERSION, length, crc32(body.as_bytes())] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(body.as_bytes());
        Ok(bytes)
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    ///
    /// # Errors
    ///
    /// The bytes are something else, of another version, cut or changed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        if !bytes.starts_with(&LABEL) {
            return Err(ReadError::OtherLabel);
        }
        let number = |at: usize| {
            let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
            four.map(u32::from_le_bytes).ok_or(ReadError::OtherLength)
        };
        let [version, length, checksum] = [number(8)?, number(12)?, number(16)?];
        if version != VERSION {
            return Err(ReadError::OtherVersion { version });
        }
        let body = bytes.get(HEAD..).unwrap_or_default();
        if bytes.len() > MAX_SAVED_BYTES || usize::try_from(length) != Ok(body.len()) {
            return Err(ReadError::OtherLength);
        }
        if crc32(body) != checksum {
            return Err(ReadError::OtherChecksum);
        }
        let text = str::from_utf8(body).map_err(|_| ReadError::OtherChecksum)?;
        let datum = Datum::from_json(text).map_err(ReadError::Json)?;
        Self::from_datum(datum).map_err(ReadError::Field)
    }

    /// Returns it as an object.
    #[must_use]
    pub fn to_datum(&self) -> Datum {
        let names = |names: &[String]| {
            Datum::List(names.iter().map(|name| Datum::Text(name.clone())).collect())
        };
        let histories = self.histories.iter();
        let histories = histories.map(|(name, states)| (name.clone(), names(states)));
        let timers = self.timers.iter();
        let timers = timers.map(|(name, due)| {
            Datum::List(Vec::from([Datum::Text(name.clone()), Datum::from(*due)]))
        });
        let effects = self.effects.iter().map(|effect| {
            object([
                ("key", Datum::from(effect.key)),
                ("effect", Datum::Text(effect.effect.clone())),
                ("context", effect.context.clone()),
            ])
        });
        let mut behavior = String::new();
        for byte in self.behavior {
            behavior.push_str(&format!("{byte:02x}"));
        }
        let fields = [
            ("behavior", Datum::Text(behavior)),
            ("states", names(&self.states)),
            ("histories", Datum::Object(histories.collect())),
            ("timers", Datum::List(timers.collect())),
            ("effects", Datum::List(effects.collect())),
            ("next_key", Datum::from(self.next_key)),
        ];
        let mut saved = object(fields);
        if let (Datum::Object(fields), Some(context)) = (&mut saved, &self.context) {
            fields.insert("context".to_string(), context.clone());
        }
        saved
    }

    /// Reads what [`to_datum`](Self::to_datum) returns.
    ///
    /// # Errors
    ///
    /// A field is missing, unknown, or has another type.
    pub fn from_datum(datum: Datum) -> Result<Self, FieldError> {
        let mut fields = Fields::new(datum)?;
        let saved = Self {
            behavior: fields.take("behavior", |datum| parse_hash(&text(datum)?))?,
            states: fields.take("states", names)?,
            histories: fields.take("histories", |datum| match datum {
                Datum::Object(all) => {
                    let all = all.into_iter();
                    all.map(|(name, states)| Ok((name, names(states)?)))
                        .collect()
                }
                _ => Err(Fault::WrongKind),
            })?,
            context: fields.take_if_there("context", Ok::<_, Fault>)?,
            timers: fields.take("timers", |datum| items(datum, timer))?,
            effects: fields.take("effects", |datum| items(datum, effect))?,
            next_key: fields.take("next_key", |datum| number(&datum))?,
        };
        fields.finish()?;
        Ok(saved)
    }

    /// Adds what is active and recorded, by the names of states in the order of their ids.
    pub fn add_configuration(&mut self, configuration: &Configuration, names: &[&str]) {
        let name = |state: StateId| {
            let name = names.get(state.index()).copied();
            name.unwrap_or_default().to_string()
        };
        self.states = configuration.leaves().map(name).collect();
        let histories = configuration.history();
        let histories = histories
            .map(|(history, states)| (name(history), states.iter().copied().map(name).collect()));
        self.histories = histories.collect();
    }
}

/// Returns the number of a timer among those that the delays of a state have.
fn delay_of<'n>(timer: &'n str, state: &str) -> Option<&'n str> {
    let (of, number) = timer.strip_prefix("after.")?.rsplit_once('.')?;
    (of == state).then_some(number)
}

/// Returns the object that has the field at the end of a path, and its key there.
fn fields_around<'d, 'p>(
    datum: &'d mut Datum,
    path: &'p str,
) -> Option<(&'d mut BTreeMap<String, Datum>, &'p str)> {
    let (outer, last) = path
        .rsplit_once('.')
        .map_or((None, path), |(outer, last)| (Some(outer), last));
    let mut datum = datum;
    for key in outer.into_iter().flat_map(|outer| outer.split('.')) {
        let Datum::Object(fields) = datum else {
            return None;
        };
        datum = fields.get_mut(key)?;
    }
    match datum {
        Datum::Object(fields) => Some((fields, last)),
        _ => None,
    }
}

/// Adds the fields that an object doesn't have.
fn complete(datum: &mut Datum, initial: Datum) {
    if let (Datum::Object(fields), Datum::Object(initial)) = (datum, initial) {
        for (key, value) in initial {
            match fields.get_mut(&key) {
                // INVARIANT: data is nested at most `MAX_DATUM_DEPTH` deep, the initial context by its spec.
                Some(there) => complete(there, value),
                None => drop(fields.insert(key, value)),
            }
        }
    }
}

fn object<const N: usize>(fields: [(&str, Datum); N]) -> Datum {
    let fields = fields.into_iter();
    Datum::Object(
        fields
            .map(|(key, value)| (key.to_string(), value))
            .collect(),
    )
}

fn text(datum: Datum) -> Result<String, Fault> {
    match datum {
        Datum::Text(text) => Ok(text),
        _ => Err(Fault::WrongKind),
    }
}

fn number(datum: &Datum) -> Result<u64, Fault> {
    match datum {
        Datum::Int(int) => u64::try_from(*int).map_err(|_| Fault::Overflow),
        _ => Err(Fault::WrongKind),
    }
}

fn items<T>(datum: Datum, read: impl FnMut(Datum) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
    match datum {
        Datum::List(items) => items.into_iter().map(read).collect(),
        _ => Err(Fault::WrongKind),
    }
}

fn names(datum: Datum) -> Result<Vec<String>, Fault> {
    items(datum, text)
}

fn timer(datum: Datum) -> Result<(String, u64), Fault> {
    let pair = items(datum, Ok)?;
    let [name, due] = <[Datum; 2]>::try_from(pair).map_err(|_| Fault::WrongKind)?;
    Ok((text(name)?, number(&due)?))
}

fn effect(datum: Datum) -> Result<SavedEffect, Fault> {
    let Datum::Object(mut fields) = datum else {
        return Err(Fault::WrongKind);
    };
    let mut take = |key: &str| fields.remove(key).ok_or(Fault::Absent);
    Ok(SavedEffect {
        key: number(&take("key")?)?,
        effect: text(take("effect")?)?,
        context: take("context")?,
    })
}

/// Reads 64 hexadecimal digits.
fn parse_hash(text: &str) -> Result<[u8; 32], Fault> {
    let mut hash = [0; 32];
    if text.len() != 2 * hash.len() {
        return Err(Fault::WrongKind);
    }
    for (at, byte) in hash.iter_mut().enumerate() {
        let digits = text.get(2 * at..2 * at + 2).ok_or(Fault::WrongKind)?;
        *byte = u8::from_str_radix(digits, 16).map_err(|_| Fault::WrongKind)?;
    }
    Ok(hash)
}

/// The fields of an object, taken one by one.
#[derive(Debug)]
pub struct Fields {
    fields: BTreeMap<String, Datum>,
}

impl Fields {
    /// Begins with all fields of an object.
    ///
    /// # Errors
    ///
    /// It is none.
    pub fn new(datum: Datum) -> Result<Self, FieldError> {
        match datum {
            Datum::Object(fields) => Ok(Self { fields }),
            _ => Err(FieldError::new("", FieldFault::Value(Fault::WrongKind))),
        }
    }

    /// Takes a field that is always there.
    ///
    /// # Errors
    ///
    /// It is missing, or can't be read; `read` may name a field inside of it.
    pub fn take<T, E: IntoFieldError>(
        &mut self,
        name: &str,
        read: impl FnOnce(Datum) -> Result<T, E>,
    ) -> Result<T, FieldError> {
        match self.take_if_there(name, read)? {
            Some(value) => Ok(value),
            None => Err(FieldError::new(name, FieldFault::Missing)),
        }
    }

    /// Takes a field that may be absent.
    ///
    /// # Errors
    ///
    /// It can't be read.
    pub fn take_if_there<T, E: IntoFieldError>(
        &mut self,
        name: &str,
        read: impl FnOnce(Datum) -> Result<T, E>,
    ) -> Result<Option<T>, FieldError> {
        let Some(datum) = self.fields.remove(name) else {
            return Ok(None);
        };
        read(datum)
            .map(Some)
            .map_err(|error| error.into_field_error().inside(name))
    }

    /// Ends the reading.
    ///
    /// # Errors
    ///
    /// Fields are left that nobody has taken.
    pub fn finish(self) -> Result<(), FieldError> {
        match self.fields.into_keys().next() {
            Some(name) => Err(FieldError::new(&name, FieldFault::Unknown)),
            None => Ok(()),
        }
    }
}

/// A source of a [`FieldError`].
pub trait IntoFieldError {
    /// Returns the error, with a path from the value that was read.
    fn into_field_error(self) -> FieldError;
}

impl IntoFieldError for FieldError {
    fn into_field_error(self) -> FieldError {
        self
    }
}

impl IntoFieldError for Fault {
    fn into_field_error(self) -> FieldError {
        FieldError::new("", FieldFault::Value(self))
    }
}

/// A field that doesn't fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The path of the field, such as `place.street`; empty for all of the data.
    pub path: String,
    /// The fault.
    pub fault: FieldFault,
}

/// The way in which a field doesn't fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldFault {
    /// Missing.
    Missing,
    /// The machine has no such field.
    Unknown,
    /// Its value is one that the field doesn't hold.
    Value(Fault),
}

impl FieldError {
    pub(crate) fn new(path: &str, fault: FieldFault) -> Self {
        Self {
            path: path.to_string(),
            fault,
        }
    }

    /// Returns the error with a path that begins further out.
    #[must_use]
    pub fn inside(mut self, outer: &str) -> Self {
        self.path = match self.path.as_str() {
            "" => outer.to_string(),
            inner => format!("{outer}.{inner}"),
        };
        self
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => out.write_str("the data")?,
            path => write!(out, "field `{path}`")?,
        }
        match self.fault {
            FieldFault::Missing => out.write_str(" is missing"),
            FieldFault::Unknown => out.write_str(" isn't one of the machine's"),
            FieldFault::Value(Fault::WrongKind) => {
                out.write_str(" doesn't hold a value as it was saved")
            }
            FieldFault::Value(fault) => write!(out, " doesn't hold what was saved: {fault}"),
        }
    }
}

impl core::error::Error for FieldError {}

/// A machine that is too large to be saved as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaveError {
    /// The bytes that it would have. Unit: bytes.
    pub length: usize,
}

impl fmt::Display for SaveError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "a machine is saved in at most {MAX_SAVED_BYTES} bytes, this one takes {}",
            self.length
        )
    }
}

impl core::error::Error for SaveError {}

/// Bytes that are no saved machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// Bytes that don't begin as a saved machine does.
    OtherLabel,
    /// Bytes in a version of the format that this program doesn't know.
    OtherVersion {
        /// The version.
        version: u32,
    },
    /// Bytes that are cut, too many, or followed by others.
    OtherLength,
    /// Bytes that were changed since they were written.
    OtherChecksum,
    /// Their body isn't JSON.
    Json(JsonError),
    /// Their body isn't that of a saved machine.
    Field(FieldError),
}

impl fmt::Display for ReadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherLabel => out.write_str("these bytes are no saved machine"),
            Self::OtherVersion { version } => write!(
                out,
                "the machine was saved in version {version} of the format, this program reads {VERSION}"
            ),
            Self::OtherLength => {
                out.write_str("the saved machine is cut, too long, or has something behind it")
            }
            Self::OtherChecksum => {
                out.write_str("the saved machine was changed since it was written")
            }
            Self::Json(error) => error.fmt(out),
            Self::Field(error) => error.fmt(out),
        }
    }
}

impl core::error::Error for ReadError {}

/// A saved machine that doesn't fit the one that it is loaded into.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// A save of a machine that behaves otherwise: it has to be mapped.
    OtherBehavior,
    /// The machine has no such state.
    NoState {
        /// The name.
        name: String,
    },
    /// The machine can't be in these states: one is missing, too many, or has states inside.
    NotTogether {
        /// The names of the states.
        names: Vec<String>,
    },
    /// A history of the machine can't have recorded these states, or isn't one.
    NotRecorded {
        /// The name of the history.
        history: String,
        /// The names of the states.
        names: Vec<String>,
    },
    /// The machine has no such timer.
    NoTimer {
        /// The name.
        name: String,
    },
    /// The machine declares no such effect.
    NoEffect {
        /// The name.
        name: String,
        /// The key.
        key: u64,
    },
    /// There is no context, and the machine has one.
    NoContext,
    /// A field of the context doesn't fit.
    Field(FieldError),
}

impl From<FieldError> for LoadError {
    fn from(error: FieldError) -> Self {
        Self::Field(error)
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherBehavior => out.write_str(
                "it was saved by a machine that behaves otherwise: map it onto this one",
            ),
            Self::NoState { name } => write!(out, "this machine has no state `{name}`"),
            Self::NotTogether { names } => {
                write!(
                    out,
                    "this machine can't be in the states `{}`",
                    names.join("`, `")
                )
            }
            Self::NotRecorded { history, names } => write!(
                out,
                "history `{history}` of this machine can't have recorded `{}`",
                names.join("`, `")
            ),
            Self::NoTimer { name } => write!(out, "this machine has no timer `{name}`"),
            Self::NoEffect { name, key } => {
                write!(
                    out,
                    "this machine declares no effect `{name}`, of which one is unsettled (key {key})"
                )
            }
            Self::NoContext => out.write_str("this machine has a context, and none was saved"),
            Self::Field(error) => error.fmt(out),
        }
    }
}

impl core::error::Error for LoadError {}

/// Returns the one state of a saved machine that is in one at a time; `named` finds it by its name.
///
/// # Errors
///
/// There is none of that name, or not one state.
pub fn load_state<S>(saved: &Saved, named: fn(&str) -> Option<S>) -> Result<S, LoadError> {
    let [name] = saved.states.as_slice() else {
        return Err(LoadError::NotTogether {
            names: saved.states.clone(),
        });
    };
    named(name).ok_or_else(|| LoadError::NoState { name: name.clone() })
}

/// Returns the configuration of a saved machine; `named` finds a state by its name.
pub(crate) fn load_configuration<C: Chart>(
    chart: &C,
    has_regions: bool,
    saved: &Saved,
    named: impl Fn(&str) -> Option<StateId>,
) -> Result<Configuration, LoadError> {
    let find = |name: &String| {
        named(name).ok_or_else(|| LoadError::NoState {
            name: name.to_owned(),
        })
    };
    let find_all = |names: &[String]| names.iter().map(find).collect::<Result<Vec<_>, _>>();
    let leaves = find_all(&saved.states)?;
    let made = Configuration::of_leaves(chart, has_regions, &leaves);
    let mut made = made.map_err(|_| LoadError::NotTogether {
        names: saved.states.clone(),
    })?;
    for (history, states) in &saved.histories {
        let recorded = made.recording(chart, find(history)?, &find_all(states)?);
        made = recorded.map_err(|_| LoadError::NotRecorded {
            history: history.clone(),
            names: states.clone(),
        })?;
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved() -> Saved {
        let context = Datum::from_json(r#"{"cents": 250, "place": {"street": "a"}}"#).unwrap();
        Saved {
            behavior: [7; 32],
            states: Vec::from(["open".to_string(), "packed".to_string()]),
            histories: BTreeMap::from([("memory".to_string(), Vec::from(["packed".to_string()]))]),
            context: Some(context.clone()),
            timers: Vec::from([("after.open".to_string(), 77)]),
            effects: Vec::from([SavedEffect {
                key: 3,
                effect: "mail".to_string(),
                context,
            }]),
            next_key: 4,
        }
    }

    #[test]
    fn bytes_read_back_the_same() {
        let bytes = saved().to_bytes().unwrap();
        assert_eq!(Saved::from_bytes(&bytes), Ok(saved()));
        let nothing = Saved::default();
        assert_eq!(Saved::from_bytes(&nothing.to_bytes().unwrap()), Ok(nothing));
    }

    #[test]
    fn every_changed_byte_is_noticed() {
        let bytes = saved().to_bytes().unwrap();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(Saved::from_bytes(&changed).is_err(), "{at}");
            assert!(Saved::from_bytes(&bytes[..at]).is_err(), "{at}");
        }
        let mut longer = bytes;
        longer.push(0);
        assert_eq!(Saved::from_bytes(&longer), Err(ReadError::OtherLength));
    }

    #[test]
    fn a_body_of_other_fields_is_told_by_name() {
        let mut datum = saved().to_datum();
        let Datum::Object(fields) = &mut datum else {
            panic!()
        };
        let states = fields.remove("states").unwrap();
        let error = Saved::from_datum(datum.clone()).unwrap_err();
        assert_eq!(error.to_string(), "field `states` is missing");
        let Datum::Object(fields) = &mut datum else {
            panic!()
        };
        fields.insert("states".to_string(), states);
        fields.insert("more".to_string(), Datum::Null);
        let error = Saved::from_datum(datum).unwrap_err();
        assert_eq!(error.to_string(), "field `more` isn't one of the machine's");
    }

    #[test]
    fn what_is_too_long_isn_t_written() {
        let mut saved = saved();
        assert!(saved.set_field("place.street", "x".repeat(MAX_DATUM_BYTES)));
        assert!(saved.to_bytes().is_err());
    }

    #[test]
    fn names_are_mapped() {
        let mut saved = saved();
        saved.timers = [
            "after.open.1",
            "after.open.packed.1",
            "after.packed.12",
            "packed",
        ]
        .map(|name| (name.to_string(), 7))
        .to_vec();
        saved.rename_state("packed", "ready");
        assert_eq!(saved.states, ["open", "ready"]);
        assert_eq!(saved.histories["memory"], ["ready"]);
        let timers: Vec<_> = saved.timers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            timers,
            [
                "after.open.1",
                "after.open.packed.1",
                "after.ready.12",
                "packed"
            ]
        );
        saved.rename_effect("mail", "write");
        saved.rename_effect("write_to", "mail");
        assert_eq!(saved.effects[0].effect, "write");
    }

    #[test]
    fn fields_are_mapped_in_what_is_due_too() {
        let mut saved = saved();
        assert!(saved.rename_field("place.street", "road"));
        assert!(!saved.rename_field("nowhere.street", "road"));
        assert_eq!(saved.remove_field("cents"), Some(Datum::Int(250)));
        assert_eq!(saved.remove_field("cents"), None);
        assert!(saved.set_field("place.road", "b"));
        assert!(saved.set_field("place.city", "c"));
        assert!(!saved.set_field("place.road.number", 1_u64));
        saved.complete(Datum::from_json(r#"{"place": {"road": "x", "zip": null}}"#).unwrap());
        let [context, due] = [saved.context.unwrap(), saved.effects.remove(0).context];
        assert_eq!(
            context.to_string(),
            r#"{"place":{"city":"c","road":"b","zip":null}}"#
        );
        assert_eq!(
            due.to_string(),
            r#"{"place":{"city":"c","road":"a","zip":null}}"#
        );
    }
}
