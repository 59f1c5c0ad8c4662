//! What answers for the host: the context, the data of the event at hand, the clock, and what a person said about guards.
//!
//! The clock stands still until a person moves it: nothing here waits.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json};
use statemark_compiler::datum;
use statemark_runtime::{
    Data, Datum, FieldId, GuardId, Host, Merge, Table, TimerId, Timers, Value,
};

use crate::wording::machine_meta;

/// The host of a simulated machine.
#[derive(Clone, Debug)]
pub(super) struct Desk {
    data: Data,
    merge: Merge,
    timers: Timers,
    /// What time it is. Unit: milliseconds since the start.
    now: u64,
    /// What was assigned since the event at hand came in, in order.
    assigned: Vec<(FieldId, Datum)>,
    /// What was said to stand.
    settled: BTreeMap<GuardId, bool>,
    /// What was said for the event at hand alone.
    passing: BTreeMap<GuardId, bool>,
    /// Guards that were asked and that nobody has answered; they count as false.
    unanswered: BTreeSet<GuardId>,
}

impl Desk {
    /// The desk before the first event: the context is the spec's, with these fields over it.
    pub(super) fn new(table: &Table, given: &Map<String, Json>) -> Self {
        let meta = machine_meta(table);
        let merge = datum::merge_rule(&meta);
        let own = meta.get("context").and_then(Json::as_object);
        let mut context = own.cloned().unwrap_or_default();
        context.extend(given.clone());
        Self {
            data: data(table, Some(&Json::Object(context)), &merge),
            merge,
            timers: Timers::new(),
            now: 0,
            assigned: Vec::new(),
            settled: BTreeMap::new(),
            passing: BTreeMap::new(),
            unanswered: BTreeSet::new(),
        }
    }

    pub(super) fn context(&self) -> Json {
        datum::to_json(&self.data.to_datum())
    }

    /// Merges the data of an event as the spec says, and keeps it as `event`.
    pub(super) fn take_data(&mut self, data: &Json) {
        self.data
            .receive(datum::from_json(data).unwrap_or(Datum::Null));
    }

    /// Sets a field of the context; objects on its dotted path are made where they are missing.
    pub(super) fn set(&mut self, table: &Table, path: &str, value: Json) {
        let mut context = self.context();
        let mut at = &mut context;
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
        self.data = data(table, Some(&context), &self.merge);
    }

    /// What a guard answers from now on.
    pub(super) fn settle(&mut self, guard: GuardId, answer: bool) {
        self.settled.insert(guard, answer);
    }

    /// What a guard answers for the event at hand.
    pub(super) fn answer_once(&mut self, guard: GuardId, answer: bool) {
        self.passing.insert(guard, answer);
    }

    /// Forgets what was said for one event alone, and what came with it.
    pub(super) fn next_event(&mut self) {
        self.data.commit();
        self.assigned.clear();
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
    pub(super) fn value(&self, field: FieldId) -> Option<Json> {
        let value = self.data.get(field);
        (value != Value::Absent).then(|| {
            value
                .to_datum()
                .map_or(Json::Null, |it| datum::to_json(&it))
        })
    }

    /// What was assigned since the event at hand came in.
    pub(super) fn assigned(&self) -> impl Iterator<Item = (FieldId, Json)> + '_ {
        let assigned = self.assigned.iter();
        assigned.map(|(field, value)| (*field, datum::to_json(value)))
    }

    /// What time it is. Unit: milliseconds since the start.
    pub(super) const fn now(&self) -> u64 {
        self.now
    }

    /// The timers that wait, the next first, each with the time when it is due.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (TimerId, u64)> + '_ {
        self.timers.iter()
    }

    /// Moves the clock on to the next timer that is due up to then, and takes it; without one, on to then.
    pub(super) fn next_due(&mut self, then: u64) -> Option<TimerId> {
        let due = self.timers.next_due().filter(|&due| due <= then);
        self.now = due.unwrap_or(then).max(self.now);
        self.timers.pop_due(self.now).filter(|_| due.is_some())
    }
}

fn data(table: &Table, context: Option<&Json>, merge: &Merge) -> Data {
    let fields = match context.and_then(datum::from_json) {
        Some(Datum::Object(fields)) => fields,
        _ => BTreeMap::new(),
    };
    Data::new(table, fields).with_merge(merge.clone())
}

impl Host for Desk {
    fn guard(&mut self, guard: GuardId) -> bool {
        self.answer(guard).unwrap_or_else(|| {
            self.unanswered.insert(guard);
            false
        })
    }

    fn field(&self, field: FieldId) -> Value<'_> {
        self.data.field(field)
    }

    fn assign(&mut self, field: FieldId, value: Value<'_>) {
        if let Ok(datum) = value.to_datum() {
            self.assigned.push((field, datum));
        }
        self.data.assign(field, value);
    }

    fn schedule(&mut self, timer: TimerId, delay: u64) {
        self.timers.schedule(timer, self.now.saturating_add(delay));
    }

    fn cancel(&mut self, timer: TimerId) {
        self.timers.cancel(timer);
    }

    fn begin(&mut self) {
        self.data.begin();
        self.timers.begin();
    }

    fn rollback(&mut self) {
        self.assigned.clear();
        self.data.rollback();
        self.timers.rollback();
    }
}
