//! A checker of histories: from what clients were answered and what is in the journals it says what can't be.
//!
//! What to rely on: each [`Fault`] is a broken promise, whatever the order in which calls really took effect. The reverse
//! doesn't hold where an answer was lost, because then both outcomes are allowed. The rules are those of an append-only
//! list for each run whose entries carry keys, as in Elle's list-append; so each is checked in one pass.
//!
//! [`planted`] shows that each rule finds what it is for.

mod check;
mod client;
mod planted;

pub(crate) use check::{Fault, check};
pub(crate) use client::{Client, On, read_log};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use statemark_runs::{Key, Record, RunId, Store};

/// What one client asked, and what it was answered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Call {
    /// Who asked.
    pub(crate) client: String,
    pub(crate) run: RunId,
    pub(crate) ask: Ask,
    /// When it was asked. Unit: nanoseconds since 1970, one clock for all.
    pub(crate) start: u64,
    /// When it was answered, and what; none if nobody knows.
    pub(crate) end: Option<(u64, Answer)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ask {
    /// To append so many records under a key that no other request has.
    Append {
        key: Key,
        count: u64,
        /// The seq that was expected; zero for no run at all.
        expected: Option<u64>,
        fence: Option<u64>,
    },
    /// What the last record is.
    Read,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Answer {
    Done {
        first: u64,
        last: u64,
    },
    Replayed {
        first: u64,
        last: u64,
    },
    Conflict {
        actual: u64,
    },
    Fenced {
        newest: u64,
    },
    /// Another error after which nothing may have been written.
    Refused,
    /// The store doesn't know itself.
    Unknown,
    /// The last record, and its hash as text.
    Read {
        seq: u64,
        hash: String,
    },
}

/// What clients were answered, and the journals as they are at the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    pub(crate) calls: Vec<Call>,
    pub(crate) journals: BTreeMap<RunId, Vec<Record>>,
}

impl History {
    /// The journals of a store, with what clients have logged.
    pub(crate) fn of(store: &dyn Store, calls: Vec<Call>) -> Self {
        let mut journals: BTreeMap<RunId, Vec<Record>> = BTreeMap::new();
        for call in &calls {
            if journals.contains_key(&call.run) || store.head(&call.run).is_err() {
                continue;
            }
            let mut records: Vec<Record> = Vec::new();
            loop {
                let after = records.last().map_or(0, |record| record.seq);
                let page = store.records(&call.run, after, 1_000).unwrap();
                if page.is_empty() {
                    break;
                }
                records.extend(page);
            }
            journals.insert(call.run.clone(), records);
        }
        Self { calls, journals }
    }

    /// How many appends were acknowledged.
    pub(crate) fn acknowledged(&self) -> usize {
        let is_done = |call: &&Call| matches!(call.end, Some((_, Answer::Done { .. })));
        self.calls.iter().filter(is_done).count()
    }
}
