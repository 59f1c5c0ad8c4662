//! A run begins as a copy of another's first records.
//!
//! The other run is untouched, and nothing is copied: the store lets the new journal begin with the old one. What the other
//! run still owes at that record stays the other's: effects are its to carry out, children work for it, and it is the one
//! that a parent waits for. What it waits for is asked anew: each run has to be answered for itself.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::change::FOLD_EVERY;
use super::{Loaded, Order, RunError, Runs, Written};
use crate::body::{Body, Forked};
use crate::fold::{self, Live, RunState};
use crate::id::RunId;
use crate::record::chain;
use crate::store::{Append, Appended, Expect, Head, StoreError};

/// Where a run branches off, and what is different from there on. The order names the new run.
#[derive(Clone, Debug, Serialize)]
pub struct Fork {
    /// The other run.
    pub from: RunId,
    /// Its last record that counts in the new run, too.
    pub at: u64,
    /// Fields of the context that are different from here on: an object, or null.
    pub input: Value,
    /// Whether it begins without artifacts.
    pub drop_artifacts: bool,
    /// A name for people; else the other run's.
    pub title: Option<String>,
}

impl Fork {
    /// A fork without differences.
    #[must_use]
    pub const fn new(from: RunId, at: u64) -> Self {
        Self {
            from,
            at,
            input: Value::Null,
            drop_artifacts: false,
            title: None,
        }
    }
}

impl Runs {
    /// Begins a run as a copy of another's first records: one transaction. Timers that were pending there are due when they
    /// were due there, and at once if that is past.
    ///
    /// # Errors
    ///
    /// [`RunError::Invalid`] if the record isn't there or was taken back; [`StoreError::Conflict`] if there is a run of
    /// the new id already. Nothing is recorded in the other run.
    pub fn fork(&self, order: &Order, fork: &Fork) -> Result<Written, RunError> {
        Self::may_write(&order.actor)?;
        let fork = &self.cleaned(fork);
        let digest = self.digest(order, &("fork", fork))?;
        if let Some(written) = self.replayed(order, digest)? {
            return Ok(written);
        }
        let state = self.forkable(fork)?;
        let last = self
            .store
            .records(&fork.from, fork.at.saturating_sub(1), 1)?;
        let last = last.first().map(crate::record::Record::hash);
        let last = last.ok_or_else(|| missing(fork))?;
        let now = self.now().max(state.updated);
        let body = Body::Forked(Forked {
            from: fork.from.clone(),
            at: fork.at,
            input: input(&fork.input)?,
            drop_artifacts: fork.drop_artifacts,
            requests: reopened(&state, &order.run),
            title: fork.title.clone(),
        });
        let table = state.table.ok_or_else(|| missing(fork))?;
        let workflow = self.workflow_of(&table)?;
        if let Some(error) = fork
            .input
            .as_object()
            .and_then(|it| workflow.unfit(&state.context, it))
        {
            let what = format!(
                "the fork can't go on with this input: its context wouldn't be as `context_schema` says: {error}"
            );
            return Err(RunError::Invalid { what });
        }
        let new = vec![self.sealed(&workflow, (now, &order.actor), &body)];
        let (records, hash) = chain(&new, order.key.as_ref(), fork.at, last);
        let mut state = state;
        for record in &records {
            state.apply(record).map_err(|error| RunError::Invalid {
                what: format!("the first record can't be read back: {error}"),
            })?;
        }
        let append = Append {
            run: order.run.clone(),
            expect: Expect::NoRun,
            key: order.key.clone().map(|key| (key, digest)),
            fence: None,
            records: new,
            summary: state.summary(),
            timers: Some(state.timers.clone()),
        };
        if let Appended::Replayed { first, last } = self.store.fork(&fork.from, fork.at, &append)? {
            return self.written_before(order, first, last);
        }
        let head = Head {
            run: order.run.clone(),
            seq: state.seq,
            hash,
            created: now,
            updated: now,
            forked: Some((fork.from.clone(), fork.at)),
            summary: append.summary,
        };
        let loaded = Loaded {
            workflow,
            run: order.run.clone(),
            head,
            state,
        };
        if fork.at >= FOLD_EVERY {
            // The run is there; without a fold its journal is read.
            let _ = self.keep_fold(&loaded);
        }
        let mut written = Written {
            records,
            replayed: false,
            loaded,
        };
        self.attend(&mut written);
        Ok(written)
    }

    /// The state of the other run at the record, if a run can begin there.
    fn forkable(&self, fork: &Fork) -> Result<RunState, RunError> {
        let head = self.store.head(&fork.from)?;
        if fork.at == 0 || fork.at > head.seq {
            return Err(missing(fork).into());
        }
        let live = fold::live(&*self.store, &fork.from, Some(head.seq), &[])?;
        if !live.counts(fork.at) {
            let (at, from) = (fork.at, &fork.from);
            let counting = counting(&live);
            let what = format!(
                "record {at} of `{from}` was taken back; fork at one that counts: {counting}"
            );
            return Err(RunError::Invalid { what });
        }
        if let Some(together) = self.together(&fork.from, fork.at)? {
            let what = together.told("fork", "at");
            return Err(RunError::Invalid { what });
        }
        Ok(fold::read_anew(&*self.store, &fork.from, Some(fork.at))?)
    }

    /// The records that one was written with, if some of them come behind it.
    pub(super) fn together(&self, run: &RunId, at: u64) -> Result<Option<Together>, RunError> {
        let (mut first, mut last, mut goes_on) = (1, 0, false);
        fold::each(&*self.store, run, 0, None, |record| {
            if !goes_on && record.seq <= at {
                first = record.seq;
            }
            if goes_on || record.seq <= at {
                last = record.seq;
                goes_on = record.goes_on();
            }
            Ok(())
        })?;
        Ok((last > at).then_some(Together { first, at, last }))
    }
}

/// Records that were written all or none: between them the run never was.
pub(super) struct Together {
    first: u64,
    at: u64,
    last: u64,
}

impl Together {
    /// Why a record inside can't be gone to, and which ones can.
    pub(super) fn told(&self, go: &str, to: &str) -> String {
        let Self { first, at, last } = self;
        let before = first.checked_sub(1).filter(|before| *before > 0);
        let before = before.map_or_else(String::new, |before| format!(", or {to} {before}"));
        format!(
            "record {at} is one of {first} to {last}, which were written at once: {go} {to} {last}{before}"
        )
    }
}

/// Which records count, in words.
pub(super) fn counting(live: &Live) -> String {
    let range = |(first, last): &(u64, u64)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first} to {last}")
        }
    };
    let ranges: Vec<String> = live.ranges().iter().map(range).collect();
    ranges.join(", ")
}

fn missing(fork: &Fork) -> StoreError {
    let (at, from) = (fork.at, &fork.from);
    StoreError::NotFound {
        what: format!("record {at} in run `{from}`"),
    }
}

fn input(input: &Value) -> Result<Map<String, Value>, RunError> {
    match input {
        Value::Object(fields) => Ok(fields.clone()),
        Value::Null => Ok(Map::new()),
        other => {
            let what = format!("the input of a run is an object, not `{other}`");
            Err(RunError::Invalid { what })
        }
    }
}

/// Ids for the open requests in the new run. They are asked again rather than withdrawn, since the event that waits for an
/// approval waits in the new run, too; and under other ids, since an answer is for one run.
fn reopened(state: &RunState, run: &RunId) -> BTreeMap<String, String> {
    let open = state.open_requests();
    let named = open.into_iter().map(|request| {
        let seq = request.seq;
        let old = request.opened.request.clone();
        (old, format!("{run}:{seq}"))
    });
    let mut taken: BTreeMap<String, u64> = BTreeMap::new();
    named
        .map(|(old, new)| {
            let count = taken.entry(new.clone()).or_default();
            *count += 1;
            // One append can ask several times.
            let new = if *count == 1 {
                new
            } else {
                format!("{new}:{count}")
            };
            (old, new)
        })
        .collect()
}
