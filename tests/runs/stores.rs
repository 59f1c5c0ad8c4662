//! What every store promises, asked of each of them.
//!
//! A promise is a function that is given an empty store and the clock that the store goes by; a store keeps its promises
//! if all of them pass. [`random`] then does the same to a store and to the one in memory, and compares the answers.

mod appending;
mod forking;
mod keeping;
mod leasing;
mod listing;
mod making;
mod proof;
pub(crate) mod random;
pub(crate) mod sqlite;
mod timing;
mod tokens;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use statemark_runs::{
    Actor, Append, Appended, Expect, Hash, Key, ManualClock, NewRecord, PendingTimer, Record, Role,
    RunId, RunSummary, Store, StoreError,
};
use statemark_stores::MemoryStore;

use crate::harness::BEGIN;

/// Something that every store does, in a word or two, and how it is seen.
pub(crate) type Promise = (&'static str, fn(&dyn Store, &ManualClock));

/// An empty store, and the clock that it goes by.
pub(crate) type Made = (Arc<dyn Store>, Arc<ManualClock>);

/// Asks a store for all that stores promise, each time an empty one.
///
/// # Panics
///
/// It breaks a promise; all that it breaks are named.
pub(crate) fn keeps_its_promises(make: impl Fn() -> Made) {
    let all = [
        appending::PROMISES,
        forking::PROMISES,
        keeping::PROMISES,
        leasing::PROMISES,
        listing::PROMISES,
        making::PROMISES,
        timing::PROMISES,
    ];
    let mut broken = Vec::new();
    for (name, check) in all.concat() {
        let (store, clock) = make();
        let kept = catch_unwind(AssertUnwindSafe(|| check(&*store, &clock)));
        broken.extend(kept.is_err().then_some(name));
    }
    for (name, check) in tokens::PROMISES.iter().chain(proof::PROMISES) {
        let made = make();
        let kept = catch_unwind(AssertUnwindSafe(|| check(made)));
        broken.extend(kept.is_err().then_some(*name));
    }
    assert!(broken.is_empty(), "broken promises: {broken:#?}");
}

/// An empty store in memory.
pub(crate) fn in_memory() -> Made {
    let clock = Arc::new(ManualClock::new(BEGIN));
    (Arc::new(MemoryStore::new(Arc::clone(&clock))), clock)
}

#[test]
fn memory_keeps_its_promises() {
    keeps_its_promises(in_memory);
}

pub(crate) fn run(id: &str) -> RunId {
    id.parse().unwrap()
}

fn key(key: &str) -> Key {
    key.parse().unwrap()
}

/// A note at a time.
fn note(time: u64, text: &str) -> NewRecord {
    NewRecord {
        time,
        kind: "note".to_owned(),
        v: 1,
        actor: Actor::new(Role::Agent).with_name("Ann"),
        body: serde_json::json!({ "text": text }).to_string(),
    }
}

/// An append of notes to a run.
pub(crate) fn notes(id: &str, expect: Expect, texts: &[&str]) -> Append {
    Append {
        run: run(id),
        expect,
        key: None,
        fence: None,
        records: texts.iter().map(|text| note(BEGIN, text)).collect(),
        summary: RunSummary {
            workflow: "order".to_owned(),
            status: "running".to_owned(),
            ..RunSummary::default()
        },
        timers: None,
    }
}

/// The same under a key, with a request that is told by a text.
fn under(append: Append, name: &str, request: &str) -> Append {
    Append {
        key: Some((key(name), Hash::digest(request.as_bytes()))),
        ..append
    }
}

/// A run of so many notes: `1`, `2`, …
pub(crate) fn begun(store: &dyn Store, id: &str, count: usize) {
    let texts: Vec<String> = (1..=count).map(|text| text.to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let done = store.append(&notes(id, Expect::NoRun, &texts)).unwrap();
    let last = count as u64;
    assert_eq!(done, Appended::Done { first: 1, last });
}

/// What the notes of a run say.
fn texts(store: &dyn Store, id: &str) -> Vec<String> {
    all(store, id).iter().map(text).collect()
}

fn text(record: &Record) -> String {
    let body: serde_json::Value = serde_json::from_str(&record.body).unwrap();
    body["text"].as_str().unwrap().to_owned()
}

/// All records of a run, which are seen to be dense and chained up to its head.
pub(crate) fn all(store: &dyn Store, id: &str) -> Vec<Record> {
    let head = store.head(&run(id)).unwrap();
    let mut records: Vec<Record> = Vec::new();
    loop {
        let after = records.last().map_or(0, |record| record.seq);
        let page = store.records(&run(id), after, 1_000).unwrap();
        if page.is_empty() {
            break;
        }
        records.extend(page);
    }
    let mut prev = Hash::ZERO;
    for (record, seq) in records.iter().zip(1..) {
        assert_eq!((record.seq, record.prev), (seq, prev));
        prev = record.hash();
    }
    assert_eq!((head.seq, head.hash), (records.len() as u64, prev));
    records
}

fn timer(due: u64, name: &str, seq: u64) -> PendingTimer {
    let name = name.to_owned();
    PendingTimer { due, name, seq }
}

fn conflict<T: std::fmt::Debug>(answer: &Result<T, StoreError>) -> u64 {
    match answer {
        Err(StoreError::Conflict { actual }) => *actual,
        other => panic!("no conflict: {other:?}"),
    }
}

fn is_lost<T>(answer: &Result<T, StoreError>) -> bool {
    matches!(answer, Err(StoreError::NotFound { .. }))
}

fn is_invalid<T>(answer: &Result<T, StoreError>) -> bool {
    matches!(answer, Err(StoreError::Invalid { .. }))
}

fn is_too_large<T>(answer: &Result<T, StoreError>) -> bool {
    matches!(answer, Err(StoreError::TooLarge { .. }))
}
