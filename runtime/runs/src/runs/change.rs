//! The append behind an operation: load, decide, write, and decide again if somebody else wrote first.

use std::sync::Arc;

use serde::Serialize;

use super::follow::follow;
use super::order::{Change, Order, Written, bodies_of};
use super::remembered::FOLD_EVERY;
use super::{Loaded, RunError, Runs};
use crate::actor::{Actor, Role};
use crate::body::{Body, ClockSetBack};
use crate::clock::{MAX_SKEW, time_after};
use crate::hash::Hash;
use crate::id::RunId;
use crate::record::{NewRecord, Record, chain, mark_batch};
use crate::state::{self, LiveRecords, RunState};
use crate::store::{Append, Appended, Expect, MAX_PAGE, Store, StoreError};

/// Records that are about to be appended.
struct Batch {
    /// The run with them.
    after: Loaded,
    new: Vec<NewRecord>,
    /// Their bodies, as they are written.
    bodies: Vec<Body>,
    /// The time of the records.
    now: u64,
}

/// A run, and what becomes of it; nothing if it needn't change.
type Decided = (Loaded, Option<Batch>);

/// Most tries of a decision that others precede.
///
/// Why: with eight busy writers the worst case of thousands of tries was nine.
const TRIES: u32 = 64;

impl Runs {
    /// Changes a run like [`Runs::commit`], and leaves children and waiting events to the caller.
    pub(super) fn commit_alone(
        &self,
        order: &Order,
        request: &impl Serialize,
        mut decide: impl FnMut(&Loaded, u64) -> Result<Change, RunError>,
    ) -> Result<Written, RunError> {
        let digest = self.digest(order, request)?;
        // Nothing else is decided by a guess: only what the journal takes says that the run is still the same.
        if let Some(recalled) = self.recall(&order.run)
            && let Ok(Some((recalled, Some(batch)))) = self.decide_on(order, recalled, &mut decide)
            && let Some(written) = self.write_at_end(order, digest, recalled, batch)?
        {
            return Ok(written);
        }
        if let Some(written) = self.replayed(order, digest)? {
            return Ok(written);
        }
        for _ in 0..TRIES {
            let loaded = self.load(&order.run)?;
            let Some((loaded, batch)) = self.decide_on(order, loaded, &mut decide)? else {
                continue;
            };
            let Some(batch) = batch else {
                return Ok(Written::nothing(loaded, false));
            };
            if let Some(written) = self.write_at_end(order, digest, loaded, batch)? {
                return Ok(written);
            }
        }
        Err(RunError::Contention { tries: TRIES })
    }

    /// Decides what becomes of a run that is as it was loaded. Returns none if somebody else wrote first.
    fn decide_on(
        &self,
        order: &Order,
        loaded: Loaded,
        decide: &mut impl FnMut(&Loaded, u64) -> Result<Change, RunError>,
    ) -> Result<Option<Decided>, RunError> {
        let actual = loaded.head.seq;
        if order.expected.is_some_and(|expected| expected != actual) {
            return Err(StoreError::Conflict { actual }.into());
        }
        let Some(loaded) = self.note_clock(loaded)? else {
            return Ok(None);
        };
        let now = time_after(self.now(), loaded.state.updated);
        let change = decide(&loaded, now)?;
        let bodies = change.bodies;
        let changes = !bodies.is_empty();
        let batch = changes.then(|| self.prepare(order, &loaded, bodies, now));
        let batch = batch.transpose()?;
        Ok(Some((loaded, batch)))
    }

    /// Records that the clock was set back since the run's last record, if it was.
    ///
    /// Returns none if somebody else wrote first. It is a record of its own, before whatever somebody asks for, and no
    /// expected end of the caller's is one that it makes.
    pub(super) fn note_clock(&self, loaded: Loaded) -> Result<Option<Loaded>, RunError> {
        let now = self.now();
        if loaded.state.status().is_over() {
            return Ok(Some(loaded));
        }
        let Some(body) = clock_set_back(&*self.store, &loaded.run, &loaded.state, now)? else {
            return Ok(Some(loaded));
        };
        let order = Order::new(loaded.run.clone(), Actor::new(Role::System));
        let digest = self.digest(&order, &"clock")?;
        let batch = self.prepare(&order, &loaded, vec![body], now)?;
        let written = self.write_at_end(&order, digest, loaded, batch)?;
        Ok(written.map(|written| written.loaded))
    }

    /// Makes the records of a change and of what follows from it, and the state with them.
    fn prepare(
        &self,
        order: &Order,
        loaded: &Loaded,
        bodies: Vec<Body>,
        now: u64,
    ) -> Result<Batch, RunError> {
        let mut batch = Batch {
            after: loaded.clone(),
            new: Vec::new(),
            bodies: Vec::new(),
            now,
        };
        for body in bodies {
            self.add(&mut batch, (now, &order.actor), body)?;
        }
        let system = Actor::new(Role::System);
        for body in follow(loaded, &batch.after, &batch.bodies, now)? {
            self.add(&mut batch, (now, &system), body)?;
        }
        mark_batch(&mut batch.new);
        Ok(batch)
    }

    /// Adds a record without secrets to a batch.
    fn add(
        &self,
        batch: &mut Batch,
        (now, actor): (u64, &Actor),
        body: Body,
    ) -> Result<(), RunError> {
        let after = &mut batch.after;
        let (new, body) = self.redact_record(&after.workflow, (now, actor), body);
        after.apply(&new)?;
        batch.new.push(new);
        batch.bodies.push(body);
        Ok(())
    }

    /// Writes a batch at the end that a run was loaded with. Returns none if it doesn't end so any more.
    fn write_at_end(
        &self,
        order: &Order,
        digest: Hash,
        before: Loaded,
        batch: Batch,
    ) -> Result<Option<Written>, RunError> {
        match self.write(order, digest, before, batch) {
            Err(RunError::Store(StoreError::Conflict { .. })) => Ok(None),
            written => written.map(Some),
        }
    }

    fn write(
        &self,
        order: &Order,
        digest: Hash,
        before: Loaded,
        batch: Batch,
    ) -> Result<Written, RunError> {
        let Batch {
            after,
            new,
            bodies,
            now,
        } = batch;
        let (seq, last) = (before.head.seq, before.head.hash);
        let (records, hash) = chain(&new, order.key.as_ref(), seq, last);
        let rewinds = has_rewind(&records);
        let state = match rewinds {
            true => {
                let store = &*self.store;
                Arc::new(state::load_with(store, &before.run, Some(seq), &records)?)
            }
            // It has hashes of records, which are known now.
            false if before.state.signing.is_some() => {
                let mut signed = before.clone();
                let mut records = records.iter();
                records.try_for_each(|record| signed.apply_record(record))?;
                signed.state
            }
            false => after.state,
        };
        let append = Append {
            run: order.run.clone(),
            expect: Expect::Exactly(seq, last),
            key: order.key.clone().map(|key| (key, digest)),
            fence: order.fence,
            records: new,
            summary: state.summary(),
            timers: (state.timers != before.state.timers).then(|| state.timers.clone()),
        };
        self.failpoint("append");
        match self.store.append(&append)? {
            Appended::Done { last, .. } => {
                self.failpoint("appended");
                self.commits.note();
                let mut head = before.head;
                head.seq = last;
                head.hash = hash;
                head.updated = now;
                head.summary = append.summary;
                let table = state.table.unwrap_or(before.workflow.hash());
                let loaded = Loaded {
                    workflow: self.workflow_of(&table)?,
                    is_accepted: before.is_accepted,
                    run: append.run,
                    head,
                    state,
                };
                self.remembered.put_written(&loaded.head, &loaded.state);
                if loaded.state.signing.is_some() {
                    // It was proven when it was loaded, and these records are ours.
                    self.note_proven(&loaded.head);
                }
                // A rewind makes the cached state worthless.
                let had_fold = seq >= FOLD_EVERY;
                if last / FOLD_EVERY > seq / FOLD_EVERY || (had_fold && rewinds) {
                    // What was asked is done; without a fold the journal is read.
                    let _ = cache_state(self, &loaded);
                }
                Ok(Written {
                    outcome: (),
                    records,
                    bodies,
                    replayed: false,
                    loaded,
                })
            }
            Appended::Replayed { first, last } => self.written_before(order, first, last),
        }
    }

    /// Returns the first answer to the order, if it was made before.
    pub(super) fn replayed(
        &self,
        order: &Order,
        digest: Hash,
    ) -> Result<Option<Written>, RunError> {
        let Some(key) = &order.key else {
            return Ok(None);
        };
        match self.store.key_use(&order.run, key)? {
            None => Ok(None),
            Some(seen) if seen.request == digest => {
                self.written_before(order, seen.first, seen.last).map(Some)
            }
            Some(_) => Err(StoreError::KeyReused { key: key.clone() }.into()),
        }
    }

    /// Returns the first answer, and the run as it is now.
    pub(super) fn written_before(
        &self,
        order: &Order,
        first: u64,
        last: u64,
    ) -> Result<Written, RunError> {
        let count = usize::try_from(last.saturating_sub(first)).unwrap_or(usize::MAX);
        let after = first.saturating_sub(1);
        let limit = count.saturating_add(1);
        let records = self.store.records(&order.run, after, limit)?;
        Ok(Written {
            outcome: (),
            bodies: bodies_of(&records),
            records,
            replayed: true,
            loaded: self.load(&order.run)?,
        })
    }
}

/// Returns the record of a clock that was set back since the last record of a state.
pub(super) fn clock_set_back(
    store: &dyn Store,
    run: &RunId,
    state: &RunState,
    now: u64,
) -> Result<Option<Body>, StoreError> {
    let by = state.updated.saturating_sub(now);
    if by <= MAX_SKEW {
        return Ok(None);
    }
    let mut last = state.seq;
    let after = loop {
        let first = last.saturating_sub(MAX_PAGE as u64);
        let count = usize::try_from(last - first).unwrap_or(MAX_PAGE);
        let page = store.records(run, first, count)?;
        let before = page.iter().rev().find(|record| record.time <= now);
        match before {
            Some(record) => break record.seq,
            None if first == 0 => break 0,
            None => last = first,
        }
    };
    Ok(Some(Body::ClockSetBack(ClockSetBack { by, after })))
}

/// Reports whether records take others back.
fn has_rewind(records: &[Record]) -> bool {
    let mut targets = records.iter().filter_map(LiveRecords::rewind_target);
    targets.next().is_some()
}

/// Keeps the fold of a run, so that reading it needn't begin at its first record.
///
/// # Errors
///
/// The store's.
pub fn cache_state(runs: &Runs, loaded: &Loaded) -> Result<(), RunError> {
    let fold = state::encode_cache(&loaded.state, loaded.head.hash);
    let fold = fold.map_err(|error| StoreError::Invalid {
        what: format!("the fold can't be written: {error}"),
    })?;
    runs.store
        .put_fold_cache(&loaded.run, loaded.head.seq, &fold)?;
    Ok(())
}
