//! What surrounds a machine in a test: its data and a clock that is told what time it is.
//!
//! Knows no compiler, as [`super::play`].

use std::collections::BTreeMap;

use statemark_runtime::Datum;

/// Data and timers of one run.
#[derive(Clone, Debug)]
pub(crate) struct World {
    data: Datum,
    now: u64,
    /// What is due, by time and then by the order of scheduling: indexes of timers.
    due: BTreeMap<(u64, u64), usize>,
    scheduled: u64,
    before: Option<Box<World>>,
}

impl World {
    /// At the beginning, with data in JSON.
    pub(crate) fn of_json(context: &str) -> Self {
        Self {
            data: Datum::from_json(context).expect("a context"),
            now: 0,
            due: BTreeMap::new(),
            scheduled: 0,
            before: None,
        }
    }

    /// The datum at a dotted path.
    pub(crate) fn field(&self, path: &str) -> Option<&Datum> {
        let names: Vec<&str> = path.split('.').collect();
        self.data.at(&names)
    }

    /// Changes the datum at a dotted path.
    pub(crate) fn assign(&mut self, path: &str, value: Datum) {
        let mut at = &mut self.data;
        for name in path.split('.') {
            if !matches!(at, Datum::Object(_)) {
                *at = Datum::Object(BTreeMap::new());
            }
            let Datum::Object(fields) = at else { return };
            at = fields.entry(name.to_owned()).or_default();
        }
        *at = value;
    }

    /// Has a timer elapse later.
    pub(crate) fn schedule(&mut self, timer: usize, delay: u64) {
        self.scheduled += 1;
        let at = self.now.saturating_add(delay);
        self.due.insert((at, self.scheduled), timer);
    }

    /// Forgets what a timer would do.
    pub(crate) fn cancel(&mut self, timer: usize) {
        self.due.retain(|_, other| *other != timer);
    }

    /// A change begins.
    pub(crate) fn begin(&mut self) {
        let before = Self {
            before: None,
            ..self.clone()
        };
        self.before = Some(Box::new(before));
    }

    /// The change didn't happen.
    pub(crate) fn rollback(&mut self) {
        if let Some(before) = self.before.take() {
            *self = *before;
        }
    }

    /// The time in milliseconds.
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// The timer that elapses next, at the latest at that moment; it is forgotten then, and time passes to it.
    pub(crate) fn next_due(&mut self, until: u64) -> Option<usize> {
        let (&key, _) = self.due.first_key_value()?;
        if key.0 > until {
            return None;
        }
        self.now = self.now.max(key.0);
        self.due.remove(&key)
    }

    /// Time passes; to the end of time it doesn't.
    pub(crate) fn pass(&mut self, until: u64) {
        if until < u64::MAX {
            self.now = self.now.max(until);
        }
    }
}
