//! What answers for the host: the context, the data of the event at hand, and what a person said about guards.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json};
use statemark_runtime::{FieldId, GuardId, Host, Table, Value};

use crate::wording::machine_meta;

/// The host of a simulated machine.
#[derive(Clone, Debug)]
pub(super) struct Desk {
    /// The context, with the data of all events so far.
    context: Json,
    /// The data of the event at hand, which guards see as `event`.
    data: Json,
    /// The path of each field that guards read.
    paths: Vec<Vec<String>>,
    /// What was said to stand.
    settled: BTreeMap<GuardId, bool>,
    /// What was said for the event at hand alone.
    passing: BTreeMap<GuardId, bool>,
    /// Guards that were asked and that nobody has answered; they count as false.
    unanswered: BTreeSet<GuardId>,
}

impl Desk {
    /// The desk before the first event: the context is the spec's.
    pub(super) fn new(table: &Table) -> Self {
        let context = machine_meta(table).remove("context");
        let fields = table.sections().fields.iter();
        Self {
            context: context.unwrap_or_else(|| Json::Object(Map::new())),
            data: Json::Null,
            paths: fields
                .map(|&path| table.text(path).split('.').map(str::to_owned).collect())
                .collect(),
            settled: BTreeMap::new(),
            passing: BTreeMap::new(),
            unanswered: BTreeSet::new(),
        }
    }

    pub(super) const fn context(&self) -> &Json {
        &self.context
    }

    /// Merges the data of an event, field by field, and keeps it as `event`.
    pub(super) fn take_data(&mut self, data: &Json) {
        self.data = data.clone();
        let Some(fields) = data.as_object() else {
            return;
        };
        if !self.context.is_object() {
            self.context = Json::Object(Map::new());
        }
        if let Some(context) = self.context.as_object_mut() {
            context.extend(fields.clone());
        }
    }

    /// Sets a field of the context; objects on its dotted path are made where they are missing.
    pub(super) fn set(&mut self, path: &str, value: Json) {
        let mut at = &mut self.context;
        for key in path.split('.') {
            if !at.is_object() {
                *at = Json::Object(Map::new());
            }
            let Some(object) = at.as_object_mut() else {
                return;
            };
            at = object.entry(key).or_insert(Json::Null);
        }
        *at = value;
    }

    /// What a guard answers from now on.
    pub(super) fn settle(&mut self, guard: GuardId, answer: bool) {
        self.settled.insert(guard, answer);
    }

    /// What a guard answers for the event at hand.
    pub(super) fn answer_once(&mut self, guard: GuardId, answer: bool) {
        self.passing.insert(guard, answer);
    }

    /// Forgets what was said for one event alone.
    pub(super) fn next_event(&mut self) {
        self.passing.clear();
        self.unanswered.clear();
    }

    /// What a guard would answer now, if somebody has said it.
    pub(super) fn answer(&self, guard: GuardId) -> Option<bool> {
        let said = self
            .passing
            .get(&guard)
            .or_else(|| self.settled.get(&guard));
        said.copied()
    }

    /// The guards that were asked in vain for the event at hand.
    pub(super) fn unanswered(&self) -> impl Iterator<Item = GuardId> + '_ {
        self.unanswered.iter().copied()
    }

    /// The value of a field, if it is there.
    pub(super) fn value(&self, field: FieldId) -> Option<&Json> {
        let path = self.paths.get(field.index())?;
        self.find(&self.context, path).or_else(|| {
            let (first, rest) = path.split_first()?;
            (first == "event").then(|| self.find(&self.data, rest))?
        })
    }

    fn find<'d>(&'d self, from: &'d Json, path: &[String]) -> Option<&'d Json> {
        path.iter().try_fold(from, |at, key| at.get(key))
    }
}

impl Host for Desk {
    fn guard(&mut self, guard: GuardId) -> bool {
        self.answer(guard).unwrap_or_else(|| {
            self.unanswered.insert(guard);
            false
        })
    }

    fn field(&self, field: FieldId) -> Value<'_> {
        match self.value(field) {
            None => Value::Absent,
            Some(Json::Null) => Value::Null,
            Some(Json::Bool(value)) => Value::Bool(*value),
            Some(Json::Number(number)) => number_value(number),
            Some(Json::String(text)) => Value::Text(text),
            Some(Json::Array(_) | Json::Object(_)) => Value::Opaque,
        }
    }
}

/// A number, exact if it is an integer of 64 bits.
fn number_value(number: &serde_json::Number) -> Value<'static> {
    let int = number
        .as_i64()
        .map(i128::from)
        .or(number.as_u64().map(i128::from));
    match (int, number.as_f64()) {
        (Some(int), _) => Value::Int(int),
        (None, Some(float)) => Value::Float(float),
        (None, None) => Value::Opaque,
    }
}
