//! Whether a store is whole: every chain, every fold, every blob.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use super::bundle::named;
use super::progress::{Progress, Tell};
use super::{counted, runs};
use crate::fold::{self, Live, RunState};
use crate::hash::Hash;
use crate::id::RunId;
use crate::record::Record;
use crate::store::{Head, MAX_PAGE, Store, StoreError};

/// What was looked at, and what is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// How many runs.
    pub runs: usize,
    /// How many records; those that forks share count for each.
    pub records: u64,
    /// How many blobs.
    pub blobs: usize,
    /// What is wrong: for each run the first record that isn't as it was written, and whatever else.
    pub differences: Vec<Difference>,
}

/// Something that isn't as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// In which run.
    pub run: RunId,
    /// At which record, if it is about one.
    pub seq: Option<u64>,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "run `{}`", self.run)?;
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
        let runs = runs(self.runs);
        match self.differences.len() {
            0 => write!(out, "whole: {runs}, {records}, {blobs}"),
            count => write!(
                out,
                "{} in {runs}, {records}, {blobs}",
                counted(count, "difference")
            ),
        }
    }
}

/// Looks at all runs, or at one. Nothing is written; a run that goes on meanwhile is looked at as far as it was. `tell` is
/// told in records. What is kept in memory is a page of records and what a run's fold has, however long its journal.
///
/// # Errors
///
/// The store can't be read at all, or has no such run. What is damaged is no error, but in the report.
pub fn verify(
    store: &dyn Store,
    only: Option<&RunId>,
    tell: Tell<'_>,
) -> Result<Verified, StoreError> {
    let heads = match only {
        Some(run) => vec![store.head(run)?],
        None => super::all(store)?,
    };
    let mut verified = Verified::default();
    let mut known = BTreeSet::new();
    let mut progress = Progress::of(heads.iter().map(|head| head.seq).sum());
    let mut before = 0;
    for head in &heads {
        let mut look = Look {
            store,
            head,
            verified: &mut verified,
            known: &mut known,
            progress,
            tell: &mut *tell,
        };
        look.run()?;
        // What stands behind a damaged record isn't looked at.
        before += head.seq;
        progress.done = before;
        tell(progress);
    }
    verified.blobs = known.len();
    Ok(verified)
}

/// One run that is being looked at.
struct Look<'a> {
    store: &'a dyn Store,
    head: &'a Head,
    verified: &'a mut Verified,
    /// The blobs that were found to be as they should.
    known: &'a mut BTreeSet<Hash>,
    progress: Progress,
    tell: Tell<'a>,
}

/// A fold that is kept: up to which record, and its bytes.
type Kept = Option<(u64, Vec<u8>)>;

/// The fold of the records that were looked at.
struct Walk {
    /// None behind a rewind, which takes some of it back.
    state: Option<RunState>,
    /// The fold that was kept, and of how many records.
    kept: Option<(u64, fold::Kept)>,
    /// Whether that is the fold of as many records, once they were met.
    is_kept: Option<bool>,
}

impl Walk {
    fn new(kept: Option<&Kept>) -> Self {
        let kept = kept.and_then(Option::as_ref);
        let read = |(seq, bytes): &(u64, Vec<u8>)| (*seq, fold::read_kept(bytes));
        Self {
            state: Some(RunState::default()),
            kept: kept.map(read),
            is_kept: None,
        }
    }

    fn take(&mut self, record: &Record) {
        if Live::is_rewind(record).is_some() {
            self.state = None;
        }
        let Some(mut state) = self.state.take() else {
            return;
        };
        if state.apply(record).is_err() {
            return;
        }
        if let Some((seq, fold::Kept::State(kept, last))) = &self.kept
            && *seq == record.seq
        {
            self.is_kept = Some(**kept == state && *last == record.hash());
        }
        self.state = Some(state);
    }
}

impl Look<'_> {
    fn wrong(&mut self, seq: Option<u64>, what: impl Into<String>) {
        self.verified.differences.push(Difference {
            run: self.head.run.clone(),
            seq,
            what: what.into(),
        });
    }

    /// Damage is a finding; a store that can't be asked is an error.
    fn found<T>(
        &mut self,
        seq: Option<u64>,
        answer: Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        match answer {
            Ok(it) => Ok(Some(it)),
            Err(StoreError::Corrupt { seq: at, what, .. }) => {
                self.wrong(at.or(seq), what);
                Ok(None)
            }
            Err(error @ StoreError::NotFound { .. }) => {
                self.wrong(seq, error.to_string());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn run(&mut self) -> Result<(), StoreError> {
        self.verified.runs += 1;
        if let Some((parent, at)) = &self.head.forked
            && let Some(parent) = self.found(None, self.store.head(parent))?
            && parent.seq < *at
        {
            self.wrong(
                Some(*at),
                format!("it is run `{}`'s, which is shorter", parent.run),
            );
        }
        let kept = self.store.fold(&self.head.run);
        let mut walk = Walk::new(kept.as_ref().ok());
        if self.chain(&mut walk)? {
            self.fold(walk, kept)?;
        }
        Ok(())
    }

    /// Whether every record is as it was written.
    fn chain(&mut self, walk: &mut Walk) -> Result<bool, StoreError> {
        let (mut seq, mut prev) = (0, Hash::ZERO);
        let mut updated = 0;
        let mut limit = MAX_PAGE;
        while seq < self.head.seq {
            let page = self.store.records(&self.head.run, seq, limit);
            if limit > 1 && matches!(page, Err(StoreError::Corrupt { .. })) {
                // One of them can't even be read; one before it may be damaged, too.
                limit = 1;
                continue;
            }
            let Some(page) = self.found(Some(seq + 1), page)? else {
                return Ok(false);
            };
            for record in page.iter().take_while(|it| it.seq <= self.head.seq) {
                seq += 1;
                if !self.record(record, seq, prev)? {
                    return Ok(false);
                }
                prev = record.hash();
                updated = record.time;
                walk.take(record);
            }
            self.progress.add(page.len() as u64, &mut *self.tell);
            if page.is_empty() {
                self.wrong(Some(seq + 1), "it isn't there");
                return Ok(false);
            }
        }
        if prev != self.head.hash {
            self.wrong(Some(seq), "it isn't the record that the run ends with");
            return Ok(false);
        }
        if updated != self.head.updated {
            self.wrong(
                None,
                "the time of its last change isn't that of its last record",
            );
        }
        Ok(true)
    }

    fn record(&mut self, record: &Record, seq: u64, prev: Hash) -> Result<bool, StoreError> {
        self.verified.records += 1;
        if record.seq != seq {
            let found = record.seq;
            self.wrong(Some(seq), format!("it isn't there; the next is {found}"));
            return Ok(false);
        }
        if record.prev != prev {
            let before = seq.saturating_sub(1);
            let is_before = before > 0 && self.is_intact(record)?;
            let changed = if is_before { before } else { seq };
            self.wrong(Some(changed), "it isn't as it was written");
            return Ok(false);
        }
        if let Err(error) = record.read() {
            self.wrong(Some(seq), format!("it can't be read: {error}"));
            return Ok(false);
        }
        self.key(record)?;
        for hash in named(record).0 {
            if !self.known.contains(&hash)
                && self.found(Some(seq), self.store.blob(&hash))?.is_some()
            {
                self.known.insert(hash);
            }
        }
        Ok(true)
    }

    /// Whether what comes behind a record says that it is as it was written, so that the one before it must have changed.
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

    /// A key that was forgotten would let its request be done again.
    fn key(&mut self, record: &Record) -> Result<(), StoreError> {
        let shared = self.head.forked.as_ref().map_or(0, |(_, at)| *at);
        let Some(key) = record.key.as_ref().filter(|_| record.seq > shared) else {
            return Ok(());
        };
        let seq = Some(record.seq);
        match self.found(seq, self.store.seen(&self.head.run, key))? {
            Some(Some(seen)) if (seen.first..=seen.last).contains(&record.seq) => {}
            Some(_) => self.wrong(seq, format!("its key `{key}` isn't known")),
            None => {}
        }
        Ok(())
    }

    /// Whether the fold that was kept, and what lists show, are what the records say.
    fn fold(&mut self, walk: Walk, kept: Result<Kept, StoreError>) -> Result<(), StoreError> {
        let run = &self.head.run;
        let anew = |upto| fold::read_anew(self.store, run, Some(upto));
        let state = match walk.state {
            Some(state) => Ok(state),
            None => anew(self.head.seq),
        };
        if let Some(state) = self.found(None, state)?
            && state.summary() != self.head.summary
        {
            self.wrong(None, "what lists show of it isn't what its records say");
        }
        let Some(Some((seq, _))) = self.found(None, kept)? else {
            return Ok(());
        };
        if seq > self.head.seq {
            return Ok(());
        }
        let is_right = match (walk.is_kept, walk.kept) {
            (Some(is_right), _) => is_right,
            (None, Some((_, fold::Kept::State(kept, last)))) => {
                fold::hash_at(self.store, run, seq)? == Some(last)
                    && fold::read_anew(self.store, run, Some(seq))? == *kept
            }
            // Nobody reads another version's.
            (None, Some((_, fold::Kept::Other))) => true,
            (None, Some((_, fold::Kept::Damaged)) | None) => false,
        };
        if !is_right {
            self.wrong(
                Some(seq),
                "the fold that was kept isn't what the records say",
            );
        }
        Ok(())
    }
}
