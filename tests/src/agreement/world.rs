//! What surrounds a random machine: the same for every engine, by a seed.

use std::collections::BTreeSet;

use statemark_compiler::ir::Machine;
use statemark_runtime::Value;

use crate::naive::Datum;
use crate::random::Chance;

/// Answers guards by chance, keeps fields, and remembers what it was told to do.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct World {
    seed: u64,
    /// How many steps there were.
    moment: u64,
    paths: Vec<String>,
    /// Which guards are claims.
    claims: Vec<bool>,
    fields: Vec<Field>,
    /// What it was told to do in this step.
    deeds: Vec<Deed>,
    /// The fields that were assigned in this step, and what; of a machine that has its data to itself nobody hears.
    assigned: Vec<(usize, Datum)>,
    /// Whether the machine has its data to itself.
    pub(super) is_typed: bool,
    scheduled: BTreeSet<usize>,
    saved: Option<(Vec<Field>, BTreeSet<usize>)>,
    /// The action that failed in this step.
    failed: Option<usize>,
}

#[derive(Clone, Debug, PartialEq)]
enum Field {
    /// A field of the context.
    Kept(Datum),
    /// A field of the event's data: each event has other data.
    Sent,
}

#[derive(Clone, Debug, PartialEq)]
enum Deed {
    Action(usize),
    Schedule(usize, u64),
    Cancel(usize),
}

impl World {
    /// The world of a machine: what is said to be present is there, the rest isn't.
    pub(super) fn new(machine: &Machine, seed: u64) -> Self {
        let context = machine.context.as_ref();
        let fields = machine.fields.iter().map(|(_, field)| {
            if field.path.starts_with("event.") {
                return Field::Sent;
            }
            let value = context.and_then(|context| context.get(&field.path));
            Field::Kept(value.map_or(Datum::Absent, |value| {
                if let Some(int) = value.as_i64() {
                    Datum::Int(int.into())
                } else if let Some(text) = value.as_str() {
                    Datum::Text(text.to_owned())
                } else {
                    Datum::Bool(value.as_bool().unwrap())
                }
            }))
        });
        Self {
            seed,
            moment: 0,
            paths: machine
                .fields
                .iter()
                .map(|(_, field)| field.path.clone())
                .collect(),
            claims: machine
                .guards
                .iter()
                .map(|(_, guard)| guard.is_claim)
                .collect(),
            fields: fields.collect(),
            deeds: Vec::new(),
            assigned: Vec::new(),
            is_typed: false,
            scheduled: BTreeSet::new(),
            saved: None,
            failed: None,
        }
    }

    /// The answer changes with every step and with every deed, but not from question to question.
    ///
    /// Claims come with the event, so that no deed changes them.
    pub(super) fn guard(&self, guard: usize) -> bool {
        let deeds = if self.claims[guard] {
            0
        } else {
            self.deeds.len()
        };
        self.chance(guard as u64 + 100 * deeds as u64) % 5 < 3
    }

    fn chance(&self, question: u64) -> u64 {
        let about = self.moment << 32 | question;
        Chance::new(self.seed.rotate_left(40) ^ about).next()
    }

    pub(super) fn field(&self, field: usize) -> Value<'_> {
        match &self.fields[field] {
            Field::Kept(Datum::Absent) => Value::Absent,
            Field::Kept(Datum::Null) => Value::Null,
            Field::Kept(Datum::Bool(value)) => Value::Bool(*value),
            Field::Kept(Datum::Int(value)) => Value::Int(*value),
            Field::Kept(Datum::Float(value)) => Value::Float(*value),
            Field::Kept(Datum::Text(text)) => Value::Text(text),
            Field::Sent => match self.chance(0xe7e7) % 9 {
                0 | 1 => Value::Absent,
                2 => Value::Null,
                3 => Value::Bool(true),
                4 => Value::Int(4),
                5 => Value::Int(-2),
                6 => Value::Int(u64::MAX.into()),
                7 => Value::Float(2.5),
                _ => Value::Text("red"),
            },
        }
    }

    /// The index of a field.
    pub(super) fn path(&self, path: &str) -> usize {
        self.paths.iter().position(|other| other == path).unwrap()
    }

    pub(super) fn datum(&self, field: usize) -> Datum {
        datum(self.field(field))
    }

    pub(super) fn act(&mut self, action: usize) {
        self.deeds.push(Deed::Action(action));
    }

    /// Carries out an action or fails, by chance, with the number of deeds before as the cause.
    pub(super) fn try_act(&mut self, action: usize) -> Result<(), usize> {
        let before = self.deeds.len();
        let chance = self.chance(action as u64 + 1000 * (1 + before as u64));
        if chance.is_multiple_of(6) {
            self.failed = Some(action);
            return Err(before);
        }
        self.act(action);
        Ok(())
    }

    /// The action that failed in this step, the number of deeds before it, and the actions that were carried out.
    pub(super) fn failure(&self) -> Option<(usize, usize, Vec<usize>)> {
        let done = self.deeds.iter().filter_map(|deed| match deed {
            Deed::Action(action) => Some(*action),
            _ => None,
        });
        Some((self.failed?, self.deeds.len(), done.collect()))
    }

    /// What a failed step leaves as it was.
    pub(super) fn kept(&self) -> impl PartialEq + std::fmt::Debug + use<> {
        (self.fields.clone(), self.scheduled.clone())
    }

    pub(super) fn assign(&mut self, field: usize, value: Datum) {
        self.assigned.push((field, value.clone()));
        self.fields[field] = Field::Kept(value);
    }

    /// What a machine that has its data to itself holds now.
    pub(super) fn read(&mut self, path: &str, value: Value<'_>) {
        let field = self.path(path);
        self.is_typed = true;
        self.fields[field] = Field::Kept(datum(value));
    }

    /// What of this world can be seen in that of a machine that has its data to itself.
    pub(super) fn seen(&self) -> Self {
        Self {
            assigned: Vec::new(),
            is_typed: true,
            ..self.clone()
        }
    }

    pub(super) fn schedule(&mut self, timer: usize, delay: u64) {
        self.deeds.push(Deed::Schedule(timer, delay));
        self.scheduled.insert(timer);
    }

    pub(super) fn cancel(&mut self, timer: usize) {
        self.deeds.push(Deed::Cancel(timer));
        self.scheduled.remove(&timer);
    }

    pub(super) fn begin(&mut self) {
        self.saved = Some((self.fields.clone(), self.scheduled.clone()));
    }

    pub(super) fn rollback(&mut self) {
        if let Some((fields, scheduled)) = self.saved.take() {
            (self.fields, self.scheduled) = (fields, scheduled);
        }
    }

    /// A step is over, so that nothing is rolled back any more.
    pub(super) fn settle(&mut self) {
        self.saved = None;
    }

    /// The next step begins.
    pub(super) fn next(&mut self) {
        self.moment += 1;
        self.deeds.clear();
        self.assigned.clear();
        self.failed = None;
    }
}

/// The runtime's value as the interpreter's.
pub(super) fn datum(value: Value<'_>) -> Datum {
    match value {
        Value::Absent => Datum::Absent,
        Value::Null => Datum::Null,
        Value::Bool(value) => Datum::Bool(value),
        Value::Int(value) => Datum::Int(value),
        Value::Float(value) => Datum::Float(value),
        Value::Text(text) => Datum::Text(text.to_owned()),
        other => panic!("a value that no random machine has: {other:?}"),
    }
}
