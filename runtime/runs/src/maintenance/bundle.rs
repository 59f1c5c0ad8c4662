//! Bundles: whole runs on their way to another store.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;
use statemark_runtime::TransitionId;

use super::{OnProgress, Progress};
use crate::actor::Actor;
use crate::authority::{Authority, Tombstone};
use crate::body::{Body, Imported};
use crate::hash::Hash;
use crate::id::Key;
use crate::record::{NewRecord, Record};
use crate::redact::Redactor;
use crate::runs::{FOLD_EVERY, RunError, Runs};
use crate::state::{self, LiveRecords, RunState};
use crate::store::{Append, Expect, Head, MAX_PAGE, Store, StoreError};
use crate::workflow::Workflow;

/// A run's own records, the requests of its keys, and the blobs that its records refer to.
#[derive(Debug)]
pub(super) struct Bundle {
    pub(super) head: Head,
    pub(super) records: Vec<Record>,
    pub(super) keys: BTreeMap<Key, Hash>,
    pub(super) blobs: BTreeMap<Hash, Vec<u8>>,
}

/// The kind of the record that says that a run came from another store.
const IMPORTED: &str = "run.imported";

/// The outcome of putting a bundle into a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Put {
    /// The run is new.
    New,
    /// The store had the run already.
    Same,
}

/// Returns the hashes of blobs that must exist for a record, and all that may be of blobs.
pub(super) fn blob_refs(record: &Record) -> (BTreeSet<Hash>, BTreeSet<Hash>) {
    let (mut required, mut possible) = (BTreeSet::new(), BTreeSet::new());
    let Ok(body) = serde_json::from_str::<Value>(&record.body) else {
        return (required, possible);
    };
    let hash = |value: &Value| value.as_str().and_then(|text| text.parse::<Hash>().ok());
    for value in Body::blob_fields(&record.kind)
        .iter()
        .filter_map(|field| body.get(field))
    {
        match value {
            Value::Object(named) => required.extend(named.values().filter_map(hash)),
            one => required.extend(hash(one)),
        }
    }
    let mut values = vec![&body];
    while let Some(value) = values.pop() {
        match value {
            Value::Array(items) => values.extend(items),
            Value::Object(fields) => values.extend(fields.values()),
            other => possible.extend(hash(other)),
        }
    }
    (required, possible)
}

/// Somebody who takes runs of another store in.
pub(super) struct Arrival {
    /// The actor who takes them in, and the time.
    actor: Actor,
    time: u64,
    /// The id of the other store, if it is known.
    store: Option<String>,
    /// The authority over the store that they come to.
    authority: Arc<Authority>,
}

impl Arrival {
    /// Makes the arrival of runs that an actor takes in, from a store of this id if it is known.
    pub(super) fn new(runs: &Runs, actor: &Actor, store: Option<&str>) -> Result<Self, RunError> {
        Ok(Self {
            actor: actor.clone(),
            time: runs.now(),
            store: store.map(str::to_owned),
            authority: runs.authority()?,
        })
    }

    /// Makes the record that says that a run has arrived.
    fn record(&self, store: &dyn Store, bundle: &Bundle) -> Result<NewRecord, StoreError> {
        let body = Body::Imported(Imported {
            store: self.store.clone(),
            guarded: bundle.guarded_events(store)?,
        });
        Ok(NewRecord::new(self.time, &self.actor, &body))
    }

    /// Fails if a run of this id was pruned here, and isn't the one that comes.
    fn check_tombstones(&self, bundle: &Bundle) -> Result<(), StoreError> {
        let run = &bundle.head.run;
        let tombstones = self.authority.tombstones(run);
        let is_it = |tombstone: &Tombstone| {
            let same =
                |record: &Record| record.seq == tombstone.seq && record.hash() == tombstone.hash;
            bundle.records.iter().any(same)
        };
        if tombstones.is_empty() || tombstones.iter().any(is_it) {
            return Ok(());
        }
        Err(StoreError::Invalid {
            what: format!(
                "a run `{run}` was pruned here, and this is another: its id isn't given to another history"
            ),
        })
    }
}

impl Bundle {
    /// Reads a run from a store. Counts its records in `progress`.
    pub(super) fn read(
        store: &dyn Store,
        head: Head,
        progress: &mut Progress,
        on_progress: OnProgress<'_>,
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
            progress.add(page.len() as u64, on_progress);
            let page = page.into_iter();
            bundle
                .records
                .extend(page.filter(|record| record.seq <= bundle.head.seq));
        }
        for record in &bundle.records {
            if let Some(key) = &record.key
                && !bundle.keys.contains_key(key)
                && let Some(used) = store.key_use(&run, key)?
            {
                bundle.keys.insert(key.clone(), used.request);
            }
            let (required, possible) = blob_refs(record);
            for hash in required.union(&possible) {
                match store.blob(hash) {
                    Ok(bytes) => {
                        bundle.blobs.insert(*hash, bytes);
                    }
                    Err(StoreError::NotFound { .. }) if !required.contains(hash) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(bundle)
    }

    /// Returns the number of records that it shares with the run that it was forked from.
    pub(super) fn shared(&self) -> u64 {
        self.head.forked.as_ref().map_or(0, |(_, at)| *at)
    }

    /// Checks the bundle against its hashes. An error names the record and the defect.
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
                let what = "the record before it isn't the one that it was written after";
                return Err((Some(seq), what.to_owned()));
            }
            let read = record.read();
            read.map_err(|error| (Some(seq), format!("it can't be read: {error}")))?;
            if let Some(repeated) = record.repeated_key() {
                return Err((Some(seq), repeated));
            }
            prev = record.hash();
        }
        if self.records.is_empty() || (self.head.seq, self.head.hash) != (seq, prev) {
            let what = "the last record isn't the one that the run ends with";
            return Err((Some(seq), what.to_owned()));
        }
        let orphaned = self.records.iter().find(|record| {
            let key = record.key.as_ref();
            key.is_some_and(|key| !self.keys.contains_key(key))
        });
        if let Some(record) = orphaned {
            let what = "the request under its key is missing".to_owned();
            return Err((Some(record.seq), what));
        }
        for (hash, bytes) in &self.blobs {
            if Hash::digest(bytes) != *hash {
                return Err((None, format!("the blob {hash} has other bytes")));
            }
        }
        Ok(())
    }

    /// Finds the first secret in it: the record, if it is in one, and the secret's name.
    ///
    /// Names that its tables declare are no secrets, even if they look like one.
    pub(super) fn find_secret(&self, secrets: &Redactor) -> Option<(Option<u64>, String)> {
        let read = |bytes: &Vec<u8>| Workflow::from_bytes(bytes.clone()).ok();
        let tables: Vec<Workflow> = self.blobs.values().filter_map(read).collect();
        let secrets = secrets.without_words(tables.iter().flat_map(Workflow::names));
        for record in &self.records {
            let actor = &record.actor;
            let names = [&actor.name, &actor.session].into_iter().flatten();
            let key = record.key.as_ref().map(Key::as_str);
            let mut names = names.map(String::as_str).chain(key);
            let in_names = names.find_map(|it| secrets.find(it.as_bytes()));
            let in_body = || {
                let suspected = secrets.may_hold_secret(record.body.as_bytes());
                let value = serde_json::from_str::<Value>(&record.body).ok();
                let value = value.filter(|_| suspected)?;
                secrets.find_in_value(&value)
            };
            if let Some(name) = in_names.or_else(in_body) {
                return Some((Some(record.seq), name));
            }
        }
        let is_table = |hash: &Hash| tables.iter().any(|it| it.hash() == *hash);
        let blobs = self.blobs.iter().filter(|(hash, _)| !is_table(hash));
        let mut found = blobs.filter_map(|(_, bytes)| secrets.find(bytes));
        found.next().map(|name| (None, name))
    }

    /// Puts the run into a store. Its summary and timers come from the records, not from the bundle's head.
    ///
    /// One that arrives from another store ends with the record that says so.
    pub(super) fn put(
        &self,
        store: &dyn Store,
        arrival: Option<&Arrival>,
    ) -> Result<Put, StoreError> {
        match store.head(&self.head.run) {
            Ok(found) => return self.compare(store, &found),
            Err(StoreError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
        let mut state = self.state(store)?;
        let imported = match arrival {
            Some(arrival) => {
                arrival.check_tombstones(self)?;
                Some(arrival.record(store, self)?)
            }
            None => None,
        };
        if let Some(imported) = &imported {
            let seq = self.head.seq.saturating_add(1);
            let record = imported.to_record(seq, None, self.head.hash);
            state.apply(&record).map_err(|error| StoreError::Invalid {
                what: error.to_string(),
            })?;
        }
        for bytes in self.blobs.values() {
            store.put_blob(bytes)?;
        }
        let mut appends = self.appends(&state);
        if let Some(imported) = imported {
            appends.push(Append {
                run: self.head.run.clone(),
                expect: Expect::Any,
                key: None,
                fence: None,
                records: vec![imported],
                summary: state.summary(),
                timers: None,
            });
        }
        if let Some(last) = appends.last_mut() {
            last.timers = Some(state.timers.clone());
        }
        let from = self.head.forked.as_ref().map(|(run, at)| (run, *at));
        match store.create(from, &appends) {
            Ok(()) => {
                if state.seq == self.head.seq {
                    self.cache_state(store, &state);
                }
                Ok(Put::New)
            }
            Err(StoreError::Conflict { .. }) => self.compare(store, &store.head(&self.head.run)?),
            Err(error) => Err(error),
        }
    }

    /// Writes the fold cache of a long run, so that its first reader needn't read all of it.
    fn cache_state(&self, store: &dyn Store, state: &RunState) {
        if self.head.seq < FOLD_EVERY {
            return;
        }
        if let Ok(bytes) = state::encode_cache(state, self.head.hash) {
            // Only a shortcut: without it the journal is read.
            let _ = store.put_fold_cache(&self.head.run, self.head.seq, &bytes);
        }
    }

    fn compare(&self, store: &dyn Store, found: &Head) -> Result<Put, StoreError> {
        let ours = (self.head.seq, self.head.hash, &self.head.forked);
        if (found.seq, found.hash, &found.forked) == ours {
            return Ok(Put::Same);
        }
        // What was imported before goes on here, after the record that says so.
        if found.seq > self.head.seq && found.forked == self.head.forked {
            let next = store.records(&self.head.run, self.head.seq, 1)?;
            let next = next.first();
            if next.is_some_and(|it| it.kind == IMPORTED && it.prev == self.head.hash) {
                return Ok(Put::Same);
            }
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

    /// Returns the state that its records lead to, with those that it shares.
    fn state(&self, store: &dyn Store) -> Result<RunState, StoreError> {
        let mut shared = Vec::new();
        if let Some((from, at)) = &self.head.forked {
            state::for_each_record(store, from, 0, Some(*at), |record| {
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
        let mut live = LiveRecords::default();
        all().for_each(|record| live.push(record));
        let mut state = RunState::default();
        for record in all() {
            live.apply(&mut state, record)
                .map_err(|error| StoreError::Corrupt {
                    run: Some(self.head.run.clone()),
                    seq: Some(record.seq),
                    what: error.to_string(),
                })?;
        }
        Ok(state)
    }

    /// Returns its own records whose events took a transition that needs an approval.
    fn guarded_events(&self, store: &dyn Store) -> Result<Vec<u64>, StoreError> {
        let mut table = match &self.head.forked {
            Some((from, at)) => state::load(store, from, Some(*at))?.table,
            None => None,
        };
        let read = |table: &Hash| {
            let bytes = self.blobs.get(table).cloned();
            let bytes = bytes.or_else(|| store.blob(table).ok())?;
            Workflow::from_bytes(bytes).ok()
        };
        let mut workflow = table.as_ref().and_then(read);
        let mut guarded = Vec::new();
        for record in &self.records {
            let next = match record.read() {
                Ok(Body::Started(started)) => Some(started.table),
                Ok(Body::Migrated(migrated)) => Some(migrated.to),
                Ok(Body::Event(event)) => {
                    let taken = event.step.steps.iter().flat_map(|it| &it.transitions);
                    let needs = |transition: &u16| {
                        let workflow = workflow.as_ref();
                        workflow
                            .is_some_and(|of| of.requires_approval(TransitionId::new(*transition)))
                    };
                    if taken.copied().any(|it| needs(&it)) {
                        guarded.push(record.seq);
                    }
                    None
                }
                _ => None,
            };
            if next.is_some() && next != table {
                table = next;
                workflow = table.as_ref().and_then(read);
            }
        }
        Ok(guarded)
    }

    /// Returns its records as appends: neighbors under one key, or under none, together.
    fn appends(&self, state: &RunState) -> Vec<Append> {
        let mut appends: Vec<Append> = Vec::new();
        for record in &self.records {
            let key = record.key.clone();
            let new = NewRecord::from(record.clone());
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
