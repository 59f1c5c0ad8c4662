//! One run, whole: what another store needs to have the same.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::progress::{Progress, Tell};
use crate::fold::{self, Live, RunState};
use crate::hash::Hash;
use crate::id::Key;
use crate::record::{NewRecord, Record};
use crate::redact::Redactor;
use crate::runs::FOLD_EVERY;
use crate::store::{Append, Expect, Head, MAX_PAGE, Store, StoreError};
use crate::workflow::Workflow;

/// A run's own records, the requests under its keys, and the blobs that its records name.
#[derive(Debug)]
pub(super) struct Bundle {
    pub(super) head: Head,
    pub(super) records: Vec<Record>,
    pub(super) keys: BTreeMap<Key, Hash>,
    pub(super) blobs: BTreeMap<Hash, Vec<u8>>,
}

/// What became of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Put {
    New,
    /// The same run was there.
    Same,
}

/// The blobs that a record names: those that have to be there, and those that are there by chance.
pub(super) fn named(record: &Record) -> (BTreeSet<Hash>, BTreeSet<Hash>) {
    let (mut needed, mut possible) = (BTreeSet::new(), BTreeSet::new());
    let Ok(body) = serde_json::from_str::<Value>(&record.body) else {
        return (needed, possible);
    };
    let fields: &[&str] = match record.kind.as_str() {
        "run.started" => &["table"],
        "run.migrated" => &["from", "to"],
        "artifact" => &["content"],
        "child.started" => &["table"],
        _ => &[],
    };
    let hash = |value: &Value| value.as_str().and_then(|text| text.parse::<Hash>().ok());
    needed.extend(fields.iter().filter_map(|field| hash(body.get(field)?)));
    if matches!(record.kind.as_str(), "run.started" | "run.migrated") {
        let invokes = body.get("invokes").and_then(Value::as_object);
        needed.extend(invokes.into_iter().flatten().filter_map(|(_, it)| hash(it)));
    }
    let mut values = vec![&body];
    while let Some(value) = values.pop() {
        match value {
            Value::Array(items) => values.extend(items),
            Value::Object(fields) => values.extend(fields.values()),
            other => possible.extend(hash(other)),
        }
    }
    (needed, possible)
}

impl Bundle {
    /// A run of a store; `progress` goes on with its records.
    pub(super) fn read(
        store: &dyn Store,
        head: Head,
        progress: &mut Progress,
        tell: Tell<'_>,
    ) -> Result<Self, StoreError> {
        let mut bundle = Self {
            records: Vec::new(),
            keys: BTreeMap::new(),
            blobs: BTreeMap::new(),
            head,
        };
        let run = bundle.head.run.clone();
        let mut after = bundle.shared();
        while after < bundle.head.seq {
            let page = store.records(&run, after, MAX_PAGE)?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            progress.add(page.len() as u64, tell);
            let page = page.into_iter();
            bundle
                .records
                .extend(page.filter(|record| record.seq <= bundle.head.seq));
        }
        for record in &bundle.records {
            if let Some(key) = &record.key
                && !bundle.keys.contains_key(key)
                && let Some(seen) = store.seen(&run, key)?
            {
                bundle.keys.insert(key.clone(), seen.request);
            }
            let (needed, possible) = named(record);
            for hash in needed.union(&possible) {
                match store.blob(hash) {
                    Ok(bytes) => {
                        bundle.blobs.insert(*hash, bytes);
                    }
                    Err(StoreError::NotFound { .. }) if !needed.contains(hash) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(bundle)
    }

    /// How many records are another run's.
    pub(super) fn shared(&self) -> u64 {
        self.head.forked.as_ref().map_or(0, |(_, at)| *at)
    }

    /// Whether it is what its hashes say: what is wrong, and at which record.
    pub(super) fn check(&self) -> Result<(), (Option<u64>, String)> {
        let mut seq = self.shared();
        let mut prev = self.records.first().map_or(Hash::ZERO, |it| it.prev);
        if seq == 0 && prev != Hash::ZERO {
            return Err((Some(1), "the first record has one before it".to_owned()));
        }
        for record in &self.records {
            seq += 1;
            if record.seq != seq {
                return Err((Some(seq), format!("record {} is in its place", record.seq)));
            }
            if record.prev != prev {
                let what = "the record before it isn't the one that it was written behind";
                return Err((Some(seq), what.to_owned()));
            }
            let read = record.read();
            read.map_err(|error| (Some(seq), format!("it can't be read: {error}")))?;
            prev = record.hash();
        }
        if self.records.is_empty() || (self.head.seq, self.head.hash) != (seq, prev) {
            let what = "the last record isn't the one that the run ends with";
            return Err((Some(seq), what.to_owned()));
        }
        let of_key = |key: &Key| self.keys.get(key);
        let keyless = self.records.iter().find(|record| {
            let key = record.key.as_ref();
            key.is_some_and(|key| of_key(key).is_none())
        });
        if let Some(record) = keyless {
            let what = "the request under its key is missing".to_owned();
            return Err((Some(record.seq), what));
        }
        for (hash, bytes) in &self.blobs {
            if Hash::of(bytes) != *hash {
                return Err((None, format!("the blob {hash} has other bytes")));
            }
        }
        Ok(())
    }

    /// The first secret in it: at which record, if it is in one, and its name. Words of its tables are none.
    pub(super) fn secret(&self, secrets: &Redactor) -> Option<(Option<u64>, String)> {
        let read = |bytes: &Vec<u8>| Workflow::from_bytes(bytes.clone()).ok();
        let tables: Vec<Workflow> = self.blobs.values().filter_map(read).collect();
        let secrets = secrets.beside(tables.iter().flat_map(Workflow::names));
        for record in &self.records {
            let actor = &record.actor;
            let names = [&actor.name, &actor.session].into_iter().flatten();
            let key = record.key.as_ref().map(Key::as_str);
            let mut texts = names.map(String::as_str).chain(key);
            let named = texts.find_map(|it| secrets.finds(it.as_bytes()));
            let body = || {
                let suspected = secrets.suspects(record.body.as_bytes());
                let value = serde_json::from_str::<Value>(&record.body).ok();
                let value = value.filter(|_| suspected)?;
                secrets.finds_in(&value)
            };
            if let Some(name) = named.or_else(body) {
                return Some((Some(record.seq), name));
            }
        }
        let is_table = |hash: &Hash| tables.iter().any(|it| it.hash() == *hash);
        let blobs = self.blobs.iter().filter(|(hash, _)| !is_table(hash));
        let mut found = blobs.filter_map(|(_, bytes)| secrets.finds(bytes));
        found.next().map(|name| (None, name))
    }

    /// Puts it into a store. What lists show and which timers are to come is taken from the records, not from the bundle.
    pub(super) fn put(&self, store: &dyn Store) -> Result<Put, StoreError> {
        match store.head(&self.head.run) {
            Ok(found) => return self.compare(&found),
            Err(StoreError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
        let state = self.fold(store)?;
        for bytes in self.blobs.values() {
            store.put_blob(bytes)?;
        }
        let mut appends = self.appends(&state);
        if let Some(last) = appends.last_mut() {
            last.timers = Some(state.timers.clone());
        }
        let from = self.head.forked.as_ref().map(|(run, at)| (run, *at));
        match store.make(from, &appends) {
            Ok(()) => {
                self.keep_fold(store, &state);
                Ok(Put::New)
            }
            Err(StoreError::Conflict { .. }) => self.compare(&store.head(&self.head.run)?),
            Err(error) => Err(error),
        }
    }

    /// Keeps the fold of a long run, so that whoever reads it first needn't read all of it.
    fn keep_fold(&self, store: &dyn Store, state: &RunState) {
        if self.head.seq < FOLD_EVERY {
            return;
        }
        if let Ok(bytes) = fold::write_kept(state, self.head.hash) {
            // It is a shortcut: without it the journal is read.
            let _ = store.put_fold(&self.head.run, self.head.seq, &bytes);
        }
    }

    fn compare(&self, found: &Head) -> Result<Put, StoreError> {
        let ours = (self.head.seq, self.head.hash, &self.head.forked);
        if (found.seq, found.hash, &found.forked) == ours {
            return Ok(Put::Same);
        }
        let (run, seq) = (&self.head.run, found.seq);
        Err(StoreError::Invalid {
            what: format!(
                "there is a run `{run}` already, which is another or has gone on differently (it ends with record {seq}, \
                 this one with {}); remove it or give another store",
                self.head.seq
            ),
        })
    }

    /// What its records say, with those that it shares.
    fn fold(&self, store: &dyn Store) -> Result<RunState, StoreError> {
        let mut shared = Vec::new();
        if let Some((from, at)) = &self.head.forked {
            fold::each(store, from, 0, Some(*at), |record| {
                shared.push(record.clone());
                Ok(())
            })?;
            let last = shared.last().map(Record::hash);
            if last != self.records.first().map(|record| record.prev) {
                let run = &self.head.run;
                let what =
                    format!("run `{run}` is a fork of another run `{from}` than this store has");
                return Err(StoreError::Invalid { what });
            }
        }
        let all = || shared.iter().chain(&self.records);
        let mut live = Live::default();
        all().for_each(|record| live.push(record));
        let mut state = RunState::default();
        for record in all() {
            fold::take(&mut state, &live, record).map_err(|error| StoreError::Corrupt {
                run: Some(self.head.run.clone()),
                seq: Some(record.seq),
                what: error.to_string(),
            })?;
        }
        Ok(state)
    }

    /// Its records as they were appended: those under one key together.
    fn appends(&self, state: &RunState) -> Vec<Append> {
        let mut appends: Vec<Append> = Vec::new();
        for record in &self.records {
            let key = record.key.clone();
            let new = NewRecord {
                time: record.time,
                kind: record.kind.clone(),
                v: record.v,
                actor: record.actor.clone(),
                body: record.body.clone(),
            };
            match appends.last_mut() {
                Some(last) if last.key.as_ref().map(|(key, _)| key) == key.as_ref() => {
                    last.records.push(new);
                }
                _ => appends.push(Append {
                    run: self.head.run.clone(),
                    expect: Expect::Any,
                    key: key.and_then(|key| {
                        let request = self.keys.get(&key).copied()?;
                        Some((key, request))
                    }),
                    fence: None,
                    records: vec![new],
                    summary: state.summary(),
                    timers: None,
                }),
            }
        }
        appends
    }
}
