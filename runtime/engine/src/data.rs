//! A context, ready-made: what fields hold, what came with the event, and how to take a change back.
//!
//! A [`Data`] is built for a table: the paths of its fields are resolved once, so that reading one costs the same in a
//! context of 50 fields and of 5,000. It is a [`Host`] of its own for machines that need no other; a host with guards
//! and actions has one and passes on [`Host::field`], [`Host::assign`], [`Host::begin`] and [`Host::rollback`].
//!
//! What holds:
//!
//! - A field `a.b.c` is the value at that path; it is absent if one of the keys is missing or what is around it is no
//!   object. `event.x` is read from the data of the event that came last, and `event` is all of it.
//! - What is assigned to a field is what is read from it. Objects on the way are made where there are none, also in the
//!   place of what is no object.
//! - The data of an event is merged field by field and no deeper: a field of the event replaces the context's of that
//!   name, whatever was in it.
//! - A change begins with [`receive`](Data::receive) or [`Host::begin`] and is final when the next one begins, or with
//!   [`commit`](Data::commit). Until then it can be taken back, which costs what was changed, however much there is.
//!
//! Deliberately not here: types. Whether a value is what a schema says is asked before it comes in.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::datum::{Datum, JsonError};
use crate::host::Host;
use crate::id::FieldId;
use crate::table::Table;
use crate::value::Value;

/// The context of one machine.
///
/// ```
/// use statemark_runtime::{Data, Datum, Host, Value};
/// # use statemark_runtime::{Sections, TextId};
/// # let mut rows = Sections::default();
/// # rows.texts = vec!["m".into(), "order.total".into(), "s".into()];
/// # rows.fields = vec![TextId::new(1)];
/// # let row = |name, kind, parent, end| statemark_runtime::StateRow {
/// #     name: TextId::new(name), kind, verdict: Default::default(), parent, end, initial: 0..0, initial_calls: 0..0,
/// #     entry: 0..0, exit: 0..0, transitions: 0..0, done: None, metadata: None,
/// # };
/// # let root = statemark_runtime::StateId::new(0);
/// # rows.targets = vec![statemark_runtime::StateId::new(1)];
/// # rows.states = vec![
/// #     statemark_runtime::StateRow { initial: 0..1, ..row(0, statemark_runtime::StateKind::Compound, None, 2) },
/// #     row(2, statemark_runtime::StateKind::Atomic, Some(root), 2),
/// # ];
/// # let table = statemark_runtime::verify(rows).unwrap();
/// let total = table.field_named("order.total").unwrap();
/// let mut data = Data::from_json(&table, r#"{"order": {"total": 3}}"#)?;
/// data.begin();
/// data.assign(total, Value::Int(4));
/// assert_eq!(data.to_string(), r#"{"order":{"total":4}}"#);
/// data.rollback();
/// assert_eq!(data.field(total), Value::Int(3));
/// # Ok::<(), statemark_runtime::JsonError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Data {
    /// The place of each field of the table.
    places: Vec<Place>,
    /// The keys at the top that a field begins with, sorted; `slots` has their values.
    keys: Vec<Box<str>>,
    slots: Vec<Option<Datum>>,
    /// All else at the top.
    rest: BTreeMap<String, Datum>,
    /// The data of the event that came last.
    event: Option<Datum>,
    undo: Vec<Undo>,
    /// True if the change was begun by an event's data, and no macrostep has joined it yet.
    received: bool,
}

/// The place of a field.
#[derive(Clone, Debug)]
enum Place {
    /// In the context: in which slot, and what keys lead on from there.
    Context { slot: usize, path: Box<[Box<str>]> },
    /// In the event's data.
    Event { path: Box<[Box<str>]> },
}

/// A change that can be taken back: the value to put in a place, or none.
#[derive(Clone, Debug)]
enum Undo {
    /// At the beginning of a field's path: after so many keys behind the slot's.
    Field {
        field: FieldId,
        keys: usize,
        old: Option<Datum>,
    },
    Slot {
        slot: usize,
        old: Option<Datum>,
    },
    Rest {
        key: String,
        old: Option<Datum>,
    },
    Event {
        old: Option<Datum>,
    },
}

impl Data {
    /// Returns a context with these fields at the top.
    #[must_use]
    pub fn new(table: &Table, fields: BTreeMap<String, Datum>) -> Self {
        let texts = &table.sections().fields;
        let paths: Vec<&str> = texts.iter().map(|&text| table.text(text)).collect();
        let mut keys: Vec<Box<str>> = paths.iter().map(|path| first(path).into()).collect();
        keys.sort_unstable();
        keys.dedup();
        let places = paths.iter().map(|path| locate(path, &keys)).collect();
        let mut rest = fields;
        let slots = keys.iter().map(|key| rest.remove(&**key)).collect();
        Self {
            places,
            keys,
            slots,
            rest,
            event: None,
            undo: Vec::new(),
            received: false,
        }
    }

    /// Parses a context from JSON.
    /// A value that isn't an object has no fields, and is an empty context.
    ///
    /// # Errors
    ///
    /// The text isn't JSON that a [`Datum`] can hold.
    pub fn from_json(table: &Table, text: &str) -> Result<Self, JsonError> {
        Ok(Self::new(table, fields(Datum::from_json(text)?)))
    }

    /// Returns the context that the spec begins with: `context` of the table's metadata.
    ///
    /// # Errors
    ///
    /// The table's metadata isn't JSON; the compiler writes no such table.
    pub fn initial(table: &Table) -> Result<Self, JsonError> {
        let metadata = table.metadata().map_or(Ok(Datum::Null), Datum::from_json)?;
        let context = fields(metadata).remove("context");
        Ok(Self::new(table, context.map(fields).unwrap_or_default()))
    }

    /// Returns the value of a field; absent if the table has no such field.
    #[must_use]
    pub fn get(&self, field: FieldId) -> Value<'_> {
        let found = match self.places.get(field.index()) {
            Some(Place::Context { slot, path }) => self
                .slots
                .get(*slot)
                .and_then(Option::as_ref)
                .and_then(|datum| datum.at(path)),
            Some(Place::Event { path }) => self.event.as_ref().and_then(|datum| datum.at(path)),
            None => None,
        };
        found.map_or(Value::Absent, Datum::value)
    }

    /// Returns the value of a field at the top.
    #[must_use]
    pub fn top(&self, key: &str) -> Option<&Datum> {
        match self.slot(key) {
            Ok(slot) => self.slots.get(slot)?.as_ref(),
            Err(_) => self.rest.get(key),
        }
    }

    /// Returns the name of the field at the top that a field of the context is in.
    #[must_use]
    pub fn top_of(&self, field: FieldId) -> Option<&str> {
        match self.places.get(field.index())? {
            Place::Context { slot, .. } => self.keys.get(*slot).map(|key| &**key),
            Place::Event { .. } => None,
        }
    }

    /// Returns a context of the same table, with those fields at the top that the table's programs name.
    /// Takes time in their number, however many fields `get` knows.
    #[must_use]
    pub fn with_named(&self, get: impl FnMut(&str) -> Option<Datum>) -> Self {
        let keys = self.keys.iter().map(|key| &**key);
        Self {
            slots: keys.map(get).collect(),
            rest: BTreeMap::new(),
            ..self.clone()
        }
    }

    /// Takes the data of an event that is about to be sent.
    /// Guards see it as `event`, and the context with those fields merged in that `is_merged` says; for the table's rule
    /// it is [`Table::merges`]. A change that was begun by another event's data, and that no macrostep joined because
    /// nothing took the event, is taken back first; every other change is final.
    pub fn receive(&mut self, data: Datum, is_merged: impl Fn(&str) -> bool) {
        if self.received {
            self.rollback();
        }
        self.undo.clear();
        self.received = true;
        if let Datum::Object(fields) = &data {
            for (key, field) in fields.iter().filter(|(key, _)| is_merged(key)) {
                self.set(key, field.clone());
            }
        }
        let old = self.event.replace(data);
        self.undo.push(Undo::Event { old });
    }

    /// Makes what has changed final, and forgets the event's data.
    pub fn commit(&mut self) {
        self.undo.clear();
        self.received = false;
        self.event = None;
    }

    /// Returns all of the context.
    /// Takes time in its size.
    #[must_use]
    pub fn to_datum(&self) -> Datum {
        let slots = self.keys.iter().zip(&self.slots);
        let slots = slots.filter_map(|(key, slot)| Some((String::from(&**key), slot.clone()?)));
        Datum::Object(slots.chain(self.rest.clone()).collect())
    }

    /// Returns the slot of a field at the top, if it has one.
    fn slot(&self, key: &str) -> Result<usize, usize> {
        self.keys.binary_search_by(|other| (**other).cmp(key))
    }

    /// Sets a field at the top.
    fn set(&mut self, key: &str, datum: Datum) {
        match self.slot(key) {
            Ok(slot) => {
                if let Some(place) = self.slots.get_mut(slot) {
                    let old = place.replace(datum);
                    self.undo.push(Undo::Slot { slot, old });
                }
            }
            Err(_) => {
                let old = self.rest.insert(String::from(key), datum);
                let key = String::from(key);
                self.undo.push(Undo::Rest { key, old });
            }
        }
    }

    fn take_back(&mut self, undo: Undo) {
        match undo {
            Undo::Field { field, keys, old } => {
                if let Some(Place::Context { slot, path }) = self.places.get(field.index())
                    && let Some(slot) = self.slots.get_mut(*slot)
                {
                    let path = path.get(..keys).unwrap_or_default();
                    restore(slot, path, old);
                }
            }
            Undo::Slot { slot, old } => {
                if let Some(place) = self.slots.get_mut(slot) {
                    *place = old;
                }
            }
            Undo::Rest { key, old } => {
                match old {
                    Some(old) => self.rest.insert(key, old),
                    None => self.rest.remove(&key),
                };
            }
            Undo::Event { old } => self.event = old,
        }
    }
}

impl Host for Data {
    fn field(&self, field: FieldId) -> Value<'_> {
        self.get(field)
    }

    /// Assigns a field of the context.
    /// Values that can't be kept (see [`Value::to_datum`]) and other fields are ignored; the evaluator assigns neither.
    fn assign(&mut self, field: FieldId, value: Value<'_>) {
        let Ok(datum) = value.to_datum() else { return };
        let Some(Place::Context { slot, path }) = self.places.get(field.index()) else {
            return;
        };
        let Some(slot) = self.slots.get_mut(*slot) else {
            return;
        };
        let (keys, old) = match slot {
            Some(there) => store(there, path, datum),
            None => (0, slot.replace(wrapped(path, datum))),
        };
        self.undo.push(Undo::Field { field, keys, old });
    }

    fn begin(&mut self) {
        if !self.received {
            self.undo.clear();
        }
        self.received = false;
    }

    fn rollback(&mut self) {
        while let Some(undo) = self.undo.pop() {
            self.take_back(undo);
        }
        self.received = false;
    }
}

/// The context as JSON.
impl fmt::Display for Data {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.to_datum())
    }
}

fn first(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

fn locate(path: &str, keys: &[Box<str>]) -> Place {
    let mut parts = path.split('.');
    let first = parts.next().unwrap_or(path);
    let path = parts.map(Box::from).collect();
    match keys.binary_search_by(|key| (**key).cmp(first)) {
        _ if first == "event" => Place::Event { path },
        Ok(slot) | Err(slot) => Place::Context { slot, path },
    }
}

fn fields(datum: Datum) -> BTreeMap<String, Datum> {
    match datum {
        Datum::Object(fields) => fields,
        _ => BTreeMap::new(),
    }
}

/// Puts a value at the end of a path, and objects on the way where there are none.
/// Gives the place that changed first, as a number of keys, and what was there. V45 bounds the path.
pub(crate) fn store<K: AsRef<str>>(
    at: &mut Datum,
    path: &[K],
    datum: Datum,
) -> (usize, Option<Datum>) {
    let Some((key, below)) = path.split_first() else {
        return (0, Some(core::mem::replace(at, datum)));
    };
    match at {
        Datum::Object(fields) => {
            if let Some(inner) = fields.get_mut(key.as_ref()) {
                let (keys, old) = store(inner, below, datum);
                return (keys + 1, old);
            }
            fields.insert(String::from(key.as_ref()), wrapped(below, datum));
            (1, None)
        }
        other => (0, Some(core::mem::replace(other, wrapped(path, datum)))),
    }
}

/// Returns the value in objects of one field each.
pub(crate) fn wrapped<K: AsRef<str>>(path: &[K], datum: Datum) -> Datum {
    path.iter().rev().fold(datum, |inner, key| {
        Datum::Object(BTreeMap::from([(String::from(key.as_ref()), inner)]))
    })
}

/// Puts back what was at the end of a path.
pub(crate) fn restore<K: AsRef<str>>(slot: &mut Option<Datum>, path: &[K], old: Option<Datum>) {
    let Some((last, rest)) = path.split_last() else {
        *slot = old;
        return;
    };
    let parent = rest.iter().try_fold(slot.as_mut(), |at, key| match at {
        Some(Datum::Object(fields)) => Some(fields.get_mut(key.as_ref())),
        _ => None,
    });
    if let Some(Some(Datum::Object(fields))) = parent {
        match old {
            Some(old) => fields.insert(String::from(last.as_ref()), old),
            None => fields.remove(last.as_ref()),
        };
    }
}
