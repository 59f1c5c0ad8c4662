//! Verification of a store: every hash chain, blob, and whatever is derived from records.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use super::anchor::Anchored;
use super::bundle::blob_refs;
use super::{OnProgress, Progress, counted};
use crate::authority::first_difference;
use crate::hash::Hash;
use crate::id::{Key, RunId};
use crate::record::Record;
use crate::state::{self, LiveRecords, RunState};
use crate::store::{Head, MAX_PAGE, MAX_TIME, PendingTimer, Store, StoreError};

/// The report of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// The number of runs.
    pub runs: usize,
    /// The number of records; those that forks share count for each.
    pub records: u64,
    /// The number of blobs.
    pub blobs: usize,
    /// The damage: for each run its first damaged record, and everything else.
    pub differences: Vec<Difference>,
    /// The comparison with anchors, whose differences are among the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchored: Option<Anchored>,
}

impl Verified {
    /// Returns the report with that of a comparison with anchors.
    #[must_use]
    pub fn with_anchors(mut self, mut anchored: Anchored) -> Self {
        self.differences.append(&mut anchored.differences);
        self.anchored = Some(anchored);
        self
    }
}

/// A difference between a run and what was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The run.
    pub run: RunId,
    /// The record, if it is about one.
    pub seq: Option<u64>,
    /// The damage.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.run.is_store_journal() && self.seq.is_none() {
            out.write_str("the store")?;
        } else if self.run.is_store_journal() {
            out.write_str("the store's own journal")?;
        } else {
            write!(out, "run `{}`", self.run)?;
        }
        if let Some(seq) = self.seq {
            write!(out, " at record {seq}")?;
        }
        write!(out, ": {}", self.what)
    }
}

impl fmt::Display for Verified {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for difference in &self.differences {
            writeln!(out, "{difference}")?;
        }
        let records = counted(self.records, "record");
        let blobs = counted(self.blobs, "blob");
        let runs = counted(self.runs, "run");
        match self.differences.len() {
            0 => write!(out, "whole: {runs}, {records}, {blobs}")?,
            count => write!(
                out,
                "{} in {runs}, {records}, {blobs}",
                counted(count, "difference")
            )?,
        }
        match &self.anchored {
            Some(anchored) if self.differences.is_empty() => write!(out, "; {anchored}"),
            _ => Ok(()),
        }
    }
}

/// Verifies all runs, or one. Unit of progress: records.
///
/// Writes nothing. A run that grows meanwhile is verified up to its end at the beginning. Memory holds a page of records
/// and one run state, however long the journal.
///
/// # Errors
///
/// The store can't be read at all, or has no such run. Damage is no error: it is in the report.
pub fn verify(
    store: &dyn Store,
    only: Option<&RunId>,
    on_progress: OnProgress<'_>,
) -> Result<Verified, StoreError> {
    let heads = match only {
        Some(run) => vec![store.head(run)?],
        None => super::all_runs(store)?,
    };
    let mut verified = Verified::default();
    if only.is_none() {
        let store_damage = store
            .loss()?
            .map(|what| format!("records are missing: {what}"));
        let damage = store_damage.into_iter().chain(store.table_damage()?);
        verified.differences.extend(damage.map(|what| Difference {
            run: RunId::store_journal(),
            seq: None,
            what,
        }));
    }
    if only.is_none()
        && let Some((seq, what)) = first_difference(store)?
    {
        verified.differences.push(Difference {
            run: RunId::store_journal(),
            seq: Some(seq),
            what,
        });
    }
    let mut intact_blobs = BTreeSet::new();
    let mut progress = Progress::new(heads.iter().map(|head| head.seq).sum());
    let mut before = 0;
    for head in &heads {
        let mut verifier = RunVerifier {
            store,
            head,
            verified: &mut verified,
            intact_blobs: &mut intact_blobs,
            progress,
            on_progress: &mut *on_progress,
        };
        verifier.verify()?;
        // Records after a damaged one aren't verified.
        before += head.seq;
        progress.done = before;
        on_progress(progress);
    }
    verified.blobs = intact_blobs.len();
    Ok(verified)
}

/// The verification of one run.
struct RunVerifier<'a> {
    store: &'a dyn Store,
    head: &'a Head,
    verified: &'a mut Verified,
    /// The blobs that are known to be intact.
    intact_blobs: &'a mut BTreeSet<Hash>,
    progress: Progress,
    on_progress: OnProgress<'a>,
}

/// The state of the verified records, and the fold caches that are still to be compared with it.
struct Replay {
    state: RunState,
    /// The number of idempotency keys that its own records have, and the last of them.
    keys: (u64, Option<Key>),
    /// The time of its first own record. Unit: milliseconds since 1970.
    created: Option<u64>,
    /// The records that the fold caches go up to, the next at the end.
    caches: Vec<u64>,
}

impl RunVerifier<'_> {
    fn report(&mut self, seq: Option<u64>, what: impl Into<String>) {
        self.verified.differences.push(Difference {
            run: self.head.run.clone(),
            seq,
            what: what.into(),
        });
    }

    /// Reports damage as a difference; returns the value if there is none.
    ///
    /// A store that can't be read is an error.
    fn report_damage<T>(
        &mut self,
        seq: Option<u64>,
        answer: Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        match answer {
            Ok(value) => Ok(Some(value)),
            Err(StoreError::Corrupt { seq: at, what, .. }) => {
                self.report(at.or(seq), what);
                Ok(None)
            }
            Err(error @ StoreError::NotFound { .. }) => {
                self.report(seq, error.to_string());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn verify(&mut self) -> Result<(), StoreError> {
        self.verified.runs += 1;
        if let Some((origin, at)) = &self.head.forked
            && let Some(origin) = self.report_damage(None, self.store.head(origin))?
            && origin.seq < *at
        {
            self.report(
                Some(*at),
                format!("it is run `{}`'s, which is shorter", origin.run),
            );
        }
        let mut replay = Replay {
            state: RunState::default(),
            keys: (0, None),
            created: None,
            caches: Vec::new(),
        };
        // The store finds the last one up to a record.
        let mut next = Some(self.head.seq);
        while let Some(upto) = next {
            let cache = self.store.fold_cache(&self.head.run, upto);
            let seq = self
                .report_damage(None, cache)?
                .flatten()
                .map(|(seq, _)| seq);
            replay.caches.extend(seq);
            next = seq.and_then(|seq| seq.checked_sub(1));
        }
        if self.verify_chain(&mut replay)? {
            self.verify_summary(&replay.state);
            self.verify_derived(&replay)?;
        }
        Ok(())
    }

    /// Verifies the records and their chain of hashes. Returns false at the first damaged record.
    fn verify_chain(&mut self, replay: &mut Replay) -> Result<bool, StoreError> {
        let (mut seq, mut prev) = (0, Hash::ZERO);
        let mut updated = 0;
        let mut limit = MAX_PAGE;
        while seq < self.head.seq {
            let page = self.store.records(&self.head.run, seq, limit);
            if limit > 1 && matches!(page, Err(StoreError::Corrupt { .. })) {
                // One of them can't even be read; another before it may be damaged, too.
                limit = 1;
                continue;
            }
            let Some(page) = self.report_damage(Some(seq + 1), page)? else {
                return Ok(false);
            };
            for record in page.iter().take_while(|it| it.seq <= self.head.seq) {
                seq += 1;
                if !self.verify_record(record, seq, prev)? {
                    return Ok(false);
                }
                prev = record.hash();
                updated = record.time;
                self.count_key(record, replay);
                let applied = self.apply(record, &mut replay.state);
                if self.report_damage(Some(seq), applied)?.is_none() {
                    return Ok(false);
                }
                self.verify_cache(record, replay)?;
            }
            self.progress.add(page.len() as u64, &mut *self.on_progress);
            if page.is_empty() {
                self.report(Some(seq + 1), "it isn't there");
                return Ok(false);
            }
        }
        if prev != self.head.hash {
            self.report(Some(seq), "it isn't the record that the run ends with");
            return Ok(false);
        }
        if updated != self.head.updated {
            self.report(
                None,
                "the time of its last change isn't that of its last record",
            );
        }
        Ok(true)
    }

    fn verify_record(&mut self, record: &Record, seq: u64, prev: Hash) -> Result<bool, StoreError> {
        self.verified.records += 1;
        if record.seq != seq {
            let next = record.seq;
            self.report(Some(seq), format!("it isn't there; the next is {next}"));
            return Ok(false);
        }
        if record.prev != prev {
            let before = seq.saturating_sub(1);
            let is_before = before > 0 && self.is_intact(record)?;
            let changed = if is_before { before } else { seq };
            self.report(Some(changed), "it isn't as it was written");
            return Ok(false);
        }
        if let Err(error) = record.read() {
            self.report(Some(seq), format!("it can't be read: {error}"));
            return Ok(false);
        }
        if let Some(repeated) = record.repeated_key() {
            self.report(Some(seq), repeated);
            return Ok(false);
        }
        self.verify_key(record)?;
        for hash in blob_refs(record).0 {
            if self.intact_blobs.contains(&hash) {
                continue;
            }
            let blob = self.store.blob(&hash);
            if self.report_damage(Some(seq), blob)?.is_some() {
                self.intact_blobs.insert(hash);
            }
        }
        Ok(true)
    }

    /// Reports whether the next record, or the head, confirms this one.
    ///
    /// Then the record before it must have changed.
    fn is_intact(&self, record: &Record) -> Result<bool, StoreError> {
        let mut expected = self.head.hash;
        if record.seq < self.head.seq {
            match self.store.records(&self.head.run, record.seq, 1) {
                Ok(next) => expected = next.first().map_or(Hash::ZERO, |next| next.prev),
                Err(StoreError::Corrupt { .. }) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(expected == record.hash())
    }

    /// Verifies that the store knows a record's key. A lost key would let its request be repeated.
    fn verify_key(&mut self, record: &Record) -> Result<(), StoreError> {
        let shared = self.head.forked.as_ref().map_or(0, |(_, at)| *at);
        let Some(key) = record.key.as_ref().filter(|_| record.seq > shared) else {
            return Ok(());
        };
        let seq = Some(record.seq);
        match self.report_damage(seq, self.store.key_use(&self.head.run, key))? {
            Some(Some(used)) if (used.first..=used.last).contains(&record.seq) => {}
            Some(_) => self.report(seq, format!("its key `{key}` isn't known")),
            None => {}
        }
        Ok(())
    }

    /// Counts the key of a record: those of one append have one.
    fn count_key(&self, record: &Record, replay: &mut Replay) {
        let shared = self.head.forked.as_ref().map_or(0, |(_, at)| *at);
        if record.seq <= shared {
            return;
        }
        replay.created.get_or_insert(record.time);
        let (count, last) = &mut replay.keys;
        if record.key.is_some() && record.key != *last {
            *count += 1;
        }
        last.clone_from(&record.key);
    }

    /// Verifies what the store has derived from the records and keeps apart from them.
    fn verify_derived(&mut self, replay: &Replay) -> Result<(), StoreError> {
        let derived = self.store.derived(&self.head.run);
        let Some(Some(derived)) = self.report_damage(None, derived)? else {
            return Ok(());
        };
        if derived.seq != self.head.seq {
            // The run has gone on since.
            return Ok(());
        }
        let summary = &self.head.summary;
        let parent = summary.parent.as_ref().map(RunId::as_str);
        let columns = [
            ("status", derived.status == summary.status),
            ("workflow", derived.workflow == summary.workflow),
            ("project", derived.project == summary.project),
            ("parent", derived.parent.as_deref() == parent),
        ];
        for (column, is_right) in columns {
            if !is_right {
                self.report(
                    None,
                    format!("lists find it by another {column} than its records say"),
                );
            }
        }
        if replay.created.is_some_and(|time| time != self.head.created) {
            self.report(None, "the time of its start isn't that of its first record");
        }
        let stored = |timer: &PendingTimer| PendingTimer {
            due: timer.due.min(MAX_TIME),
            ..timer.clone()
        };
        let timers: BTreeSet<PendingTimer> = derived.timers.iter().map(stored).collect();
        let expected: BTreeSet<PendingTimer> = replay.state.timers.iter().map(stored).collect();
        if let Some(timer) = expected.difference(&timers).next() {
            let name = &timer.name;
            self.report(Some(timer.seq), format!("its timer `{name}` is missing"));
        }
        if let Some(timer) = timers.difference(&expected).next() {
            let name = &timer.name;
            self.report(None, format!("no record has armed its timer `{name}`"));
        }
        if derived.keys > replay.keys.0 {
            let more = counted(derived.keys - replay.keys.0, "key");
            self.report(None, format!("the store knows {more} that no record has"));
        }
        if derived.cached.is_some_and(|seq| seq > self.head.seq) {
            self.report(
                derived.cached,
                "its fold cache is of a record that isn't there",
            );
        }
        Ok(())
    }

    /// Applies a verified record to the state of those before it.
    fn apply(&self, record: &Record, state: &mut RunState) -> Result<(), StoreError> {
        let run = &self.head.run;
        if LiveRecords::rewind_target(record).is_some() {
            // Caches aren't read here: they are what is verified.
            *state = state::replay(self.store, run, Some(record.seq))?;
            return Ok(());
        }
        let applied = state.apply(record);
        applied.map_err(|error| state::unreadable_record(run, record, &error))
    }

    /// Verifies the fold cache after a record, if there is one.
    fn verify_cache(&mut self, record: &Record, replay: &mut Replay) -> Result<(), StoreError> {
        if replay.caches.last() != Some(&record.seq) {
            return Ok(());
        }
        replay.caches.pop();
        let cache = self.store.fold_cache(&self.head.run, record.seq);
        let Some(Some((seq, bytes))) = self.report_damage(None, cache)? else {
            return Ok(());
        };
        let is_right = match state::decode_cache(&bytes) {
            // It was dropped meanwhile.
            _ if seq != record.seq => true,
            // Nobody reads another version's.
            state::Cached::OtherVersion => true,
            state::Cached::Damaged => false,
            state::Cached::State(cached, last) => last == record.hash() && replay.state == *cached,
        };
        if !is_right {
            self.report(Some(seq), "its fold cache isn't what the records say");
        }
        Ok(())
    }

    /// Verifies the summary against the records.
    fn verify_summary(&mut self, state: &RunState) {
        let mut expected = state.summary();
        if self.head.summary.callers.is_empty() {
            // Rows of former versions have no callers.
            expected.callers.clear();
        }
        if expected != self.head.summary {
            self.report(None, "its summary in lists isn't what its records say");
        }
    }
}
