//! From journals to states, and which records of a journal count.

use super::cache::{self, Cached};
use super::{RunState, apply};
use crate::body::{Body, Scope};
use crate::hash::Hash;
use crate::id::RunId;
use crate::record::Record;
use crate::store::{MAX_PAGE, Store, StoreError};

/// The records of a journal that count.
///
/// Those between a `run.rewound` and the record that it goes back to don't; the `run.rewound` itself does. A later rewind
/// may go back past an earlier one. Only records that count can be gone back to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveRecords {
    /// First and last record of each range that counts, in order.
    ranges: Vec<(u64, u64)>,
}

impl LiveRecords {
    /// Returns the last record that still counts, if this one takes back records before it.
    #[must_use]
    pub fn rewind_target(record: &Record) -> Option<u64> {
        if record.kind != "run.rewound" {
            return None;
        }
        match record.read() {
            Ok(Body::Rewound(rewound)) if rewound.scope != Scope::Workspace => Some(rewound.to),
            _ => None,
        }
    }

    /// Adds the next record of the journal.
    pub fn push(&mut self, record: &Record) {
        if let Some(to) = Self::rewind_target(record) {
            self.take_back(to);
        }
        self.extend(record.seq, record.seq);
    }

    /// Returns the records that count of a run in some state. Reads its rewinds alone.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn after_rewinds(
        store: &dyn Store,
        run: &RunId,
        state: &RunState,
    ) -> Result<Self, StoreError> {
        let mut live = Self::default();
        let mut next = 1;
        for (seq, _) in &state.rewinds {
            live.extend(next, seq.saturating_sub(1));
            for record in store.records(run, seq.saturating_sub(1), 1)? {
                live.push(&record);
            }
            next = seq.saturating_add(1);
        }
        live.extend(next, state.seq);
        Ok(live)
    }

    /// Adds records at the end.
    fn extend(&mut self, from: u64, to: u64) {
        match self.ranges.last_mut() {
            _ if from > to => {}
            Some((_, last)) if last.checked_add(1) == Some(from) => *last = to,
            _ => self.ranges.push((from, to)),
        }
    }

    /// Removes the records after one.
    fn take_back(&mut self, to: u64) {
        self.ranges.retain(|(first, _)| *first <= to);
        if let Some((_, last)) = self.ranges.last_mut() {
            *last = to.min(*last);
        }
    }

    /// Reports whether a record counts.
    #[must_use]
    pub fn contains(&self, seq: u64) -> bool {
        let next = self.ranges.partition_point(|(first, _)| *first <= seq);
        let range = next.checked_sub(1).and_then(|at| self.ranges.get(at));
        range.is_some_and(|(_, last)| seq <= *last)
    }

    /// Returns the first and last record of each range that counts.
    #[must_use]
    pub fn ranges(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    /// Applies the next record to a state: all of it if it counts, else only what outlasts a rewind.
    pub(crate) fn apply(
        &self,
        state: &mut RunState,
        record: &Record,
    ) -> Result<(), serde_json::Error> {
        if self.contains(record.seq) {
            state.apply(record)
        } else {
            state.note_caller(&record.actor);
            apply::outlast(state, record, record.read()?);
            Ok(())
        }
    }
}

/// Loads the state of a run up to a record, or to its end.
///
/// Starts from a fold cache where that is sound.
///
/// # Errors
///
/// Those of the store; [`StoreError::Corrupt`] for a record that can't be read.
pub fn load(store: &dyn Store, run: &RunId, upto: Option<u64>) -> Result<RunState, StoreError> {
    load_with(store, run, upto, &[])
}

/// Loads the state of a run up to a record, or to its end, with records that aren't written yet.
///
/// # Errors
///
/// Those of [`load`].
pub fn load_with(
    store: &dyn Store,
    run: &RunId,
    upto: Option<u64>,
    more: &[Record],
) -> Result<RunState, StoreError> {
    let mut before = upto.unwrap_or(u64::MAX);
    while let Some((seq, bytes)) = store.fold_cache(run, before)? {
        // A cache proves nothing, and the decisions of such a run have to be proven.
        if is_signed(store, run)? {
            break;
        }
        let Cached::State(state, last) = cache::decode(&bytes) else {
            break;
        };
        if state.seq != seq || record_hash(store, run, seq)? != Some(last) {
            break;
        }
        if more.is_empty()
            && let Some(state) = catch_up(store, run, (*state, last), upto)?
        {
            return Ok(state);
        }
        let mut live = LiveRecords::default();
        let mut earliest = u64::MAX;
        let mut follows = true;
        each_record(store, run, seq, upto, more, |record| {
            follows &= record.seq != seq + 1 || record.prev == last;
            earliest = earliest.min(LiveRecords::rewind_target(record).unwrap_or(u64::MAX));
            live.push(record);
            Ok(())
        })?;
        if earliest < seq {
            // A rewind goes back past it.
            before = earliest;
        } else if follows && let Cached::State(state, _) = cache::decode(&bytes) {
            return apply_live(store, run, (*state, &live), upto, more);
        } else {
            break;
        }
    }
    replay_with(store, run, upto, more)
}

/// Reports whether a run's first record names keys by which its decisions are signed.
pub(crate) fn is_signed(store: &dyn Store, run: &RunId) -> Result<bool, StoreError> {
    let first = store.records(run, 0, 1)?;
    let body = first.first().map(Record::read);
    Ok(matches!(body, Some(Ok(Body::Started(started))) if started.signing.is_some()))
}

/// Returns the hash of a record, if the run has it.
pub(crate) fn record_hash(
    store: &dyn Store,
    run: &RunId,
    seq: u64,
) -> Result<Option<Hash>, StoreError> {
    let records = store.records(run, seq.saturating_sub(1), 1)?;
    let found = records.first().filter(|record| record.seq == seq);
    Ok(found.map(Record::hash))
}

/// Applies the records after a state, whose last record has the given hash.
///
/// `None` if one of them takes others back, or if they don't follow the record with that hash.
pub(crate) fn catch_up(
    store: &dyn Store,
    run: &RunId,
    (mut state, last): (RunState, Hash),
    upto: Option<u64>,
) -> Result<Option<RunState>, StoreError> {
    let mut diverges = false;
    // Each record names the one before it: the first is enough.
    let mut last = Some(last);
    for_each_record(store, run, state.seq, upto, |record| {
        let follows = last.take().is_none_or(|last| record.prev == last);
        diverges |= !follows || LiveRecords::rewind_target(record).is_some();
        if diverges {
            return Ok(());
        }
        state
            .apply(record)
            .map_err(|error| unreadable_record(run, record, &error))
    })?;
    Ok((!diverges).then_some(state))
}

/// Replays a run from its first record on, without the fold cache.
///
/// # Errors
///
/// Those of [`load`].
pub fn replay(store: &dyn Store, run: &RunId, upto: Option<u64>) -> Result<RunState, StoreError> {
    replay_with(store, run, upto, &[])
}

/// Replays a run from its first record on, with records that aren't written yet at its end.
fn replay_with(
    store: &dyn Store,
    run: &RunId,
    upto: Option<u64>,
    more: &[Record],
) -> Result<RunState, StoreError> {
    let live = live_records(store, run, upto, more)?;
    apply_live(store, run, (RunState::default(), &live), upto, more)
}

/// Applies the records after a state, of which these count, and records that aren't written yet.
fn apply_live(
    store: &dyn Store,
    run: &RunId,
    (mut state, live): (RunState, &LiveRecords),
    upto: Option<u64>,
    more: &[Record],
) -> Result<RunState, StoreError> {
    let after = state.seq;
    each_record(store, run, after, upto, more, |record| {
        let applied = live.apply(&mut state, record);
        applied.map_err(|error| unreadable_record(run, record, &error))
    })?;
    Ok(state)
}

/// Calls a function with each record after one, and with those that aren't written yet.
fn each_record(
    store: &dyn Store,
    run: &RunId,
    after: u64,
    upto: Option<u64>,
    more: &[Record],
    mut call: impl FnMut(&Record) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    for_each_record(store, run, after, upto, &mut call)?;
    more.iter().try_for_each(call)
}

/// Returns the records of a run that count, with records that aren't written yet at its end.
///
/// # Errors
///
/// Those of the store.
pub fn live_records(
    store: &dyn Store,
    run: &RunId,
    upto: Option<u64>,
    more: &[Record],
) -> Result<LiveRecords, StoreError> {
    let mut live = LiveRecords::default();
    for_each_record(store, run, 0, upto, |record| {
        live.push(record);
        Ok(())
    })?;
    more.iter().for_each(|record| live.push(record));
    Ok(live)
}

pub(crate) fn unreadable_record(
    run: &RunId,
    record: &Record,
    error: &serde_json::Error,
) -> StoreError {
    StoreError::Corrupt {
        run: Some(run.clone()),
        seq: Some(record.seq),
        what: format!("`{}` can't be read: {error}", record.kind),
    }
}

/// Calls a function with each record after one, in order. Reads a page at a time.
///
/// # Errors
///
/// Those of the store and of the function.
pub fn for_each_record(
    store: &dyn Store,
    run: &RunId,
    after: u64,
    upto: Option<u64>,
    mut call: impl FnMut(&Record) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut after = after;
    loop {
        let page = store.records(run, after, MAX_PAGE)?;
        for record in &page {
            if upto.is_some_and(|upto| record.seq > upto) {
                return Ok(());
            }
            call(record)?;
            after = record.seq;
        }
        if page.len() < MAX_PAGE {
            return Ok(());
        }
    }
}
