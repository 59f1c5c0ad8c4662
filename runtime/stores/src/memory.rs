//! A store in memory: for tests and examples, and what the others are compared with.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use statemark_runs::Clock;
use statemark_runs::Hash;
use statemark_runs::store::{
    Append, Appended, Cursor, Derived, DueTimer, Expect, Fence, Head, Hint, JournalEnd, KeyUse,
    Lease, MAX_HOLD, MAX_PAGE, Page, PendingTimer, Query, Store, StoreError, Watermark,
    surplus_caches,
};
use statemark_runs::{Key, RunId};
use statemark_runs::{Record, chain};

/// A store in memory.
pub struct MemoryStore {
    clock: Box<dyn Clock>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    runs: BTreeMap<RunId, Run>,
    /// With the time at which somebody has kept them last.
    blobs: BTreeMap<Hash, (Vec<u8>, u64)>,
    /// Counts appends, for watchers.
    version: u64,
}

struct Run {
    head: Head,
    /// Its own records; those of a fork's parent stay there.
    records: Vec<Record>,
    keys: BTreeMap<Key, KeyUse>,
    fence: u64,
    lease: Option<Lease>,
    timers: BTreeMap<PendingTimer, Option<u64>>,
    folds: BTreeMap<u64, Vec<u8>>,
    version: u64,
}

impl MemoryStore {
    /// Returns an empty store, whose leases and claims go by that clock.
    #[must_use]
    pub fn new(clock: impl Clock + 'static) -> Self {
        Self {
            clock: Box::new(clock),
            inner: Mutex::default(),
        }
    }

    /// Locks the store.
    /// A panic of another thread leaves nothing half-changed: each change is prepared before it is made.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reports whether a lease or a claim goes on: its end is to come, and not too far ahead.
const fn is_held(until: u64, now: u64) -> bool {
    until > now && until - now <= MAX_HOLD
}

impl Inner {
    fn run(&self, run: &RunId) -> Result<&Run, StoreError> {
        self.runs
            .get(run)
            .ok_or_else(|| StoreError::missing_run(run))
    }

    fn run_mut(&mut self, run: &RunId) -> Result<&mut Run, StoreError> {
        self.runs
            .get_mut(run)
            .ok_or_else(|| StoreError::missing_run(run))
    }

    /// Returns the runs, without the store's own journal.
    fn runs_to_list(&self) -> impl Iterator<Item = &Run> {
        let runs = self.runs.values();
        runs.filter(|run| !run.head.run.is_store_journal())
    }

    fn record(&self, run: &RunId, seq: u64) -> Option<&Record> {
        let found = self.runs.get(run)?;
        match &found.head.forked {
            Some((parent, at)) if seq <= *at => self.record(parent, seq),
            forked => {
                let before = forked.as_ref().map_or(0, |(_, at)| *at);
                let index = seq.checked_sub(before)?.checked_sub(1)?;
                found.records.get(usize::try_from(index).ok()?)
            }
        }
    }

    fn append(
        &mut self,
        append: &Append,
        start: (u64, Hash),
        forked: Option<(RunId, u64)>,
    ) -> Result<Appended, StoreError> {
        if let Some(done) = self.replayed(append)? {
            return Ok(done);
        }
        let end = self.runs.get(&append.run).map(|run| JournalEnd {
            seq: run.head.seq,
            hash: run.head.hash,
            fence: run.fence,
        });
        let (after, last) = append.predecessor(end.as_ref(), start, forked.is_some())?;
        let key = append.key.as_ref();
        let (records, hash) = chain(&append.records, key.map(|key| &key.0), after, last);
        let (first, seq) = (after + 1, after + records.len() as u64);
        let time = |record: Option<&Record>| record.map_or(0, |record| record.time);
        let (created, updated) = (time(records.first()), time(records.last()));
        self.version += 1;
        let version = self.version;
        let run = self.runs.entry(append.run.clone()).or_insert_with(|| Run {
            head: Head {
                run: append.run.clone(),
                seq,
                hash,
                created,
                updated,
                forked,
                summary: append.summary.clone(),
            },
            records: Vec::new(),
            keys: BTreeMap::new(),
            fence: 0,
            lease: None,
            timers: BTreeMap::new(),
            folds: BTreeMap::new(),
            version,
        });
        run.version = version;
        run.head.seq = seq;
        run.head.hash = hash;
        run.head.updated = updated;
        run.head.summary = append.summary.clone();
        run.records.extend(records);
        if let Some(timers) = &append.timers {
            let claimed = std::mem::take(&mut run.timers);
            let keep = |timer: &PendingTimer| claimed.get(timer).copied().flatten();
            run.timers = timers.iter().map(|it| (it.clone(), keep(it))).collect();
        }
        if let Some((key, request)) = &append.key {
            let (request, last) = (*request, seq);
            let seen = KeyUse {
                request,
                first,
                last,
            };
            run.keys.insert(key.clone(), seen);
        }
        Ok(Appended::Done { first, last: seq })
    }

    /// Returns the records of the same request, if it was made before.
    fn replayed(&self, append: &Append) -> Result<Option<Appended>, StoreError> {
        let Some((key, _)) = &append.key else {
            return Ok(None);
        };
        let run = self.runs.get(&append.run);
        let seen = run.and_then(|run| run.keys.get(key));
        seen.map(|seen| append.answer_repeated(seen)).transpose()
    }
}

impl Store for MemoryStore {
    fn append(&self, append: &Append) -> Result<Appended, StoreError> {
        append.check()?;
        self.lock().append(append, (0, Hash::ZERO), None)
    }

    fn head(&self, run: &RunId) -> Result<Head, StoreError> {
        Ok(self.lock().run(run)?.head.clone())
    }

    fn records(&self, run: &RunId, after: u64, limit: usize) -> Result<Vec<Record>, StoreError> {
        let inner = self.lock();
        let last = inner.run(run)?.head.seq;
        let first = after.saturating_add(1);
        let seqs = (first..=last).take(limit.min(MAX_PAGE));
        Ok(seqs
            .filter_map(|seq| inner.record(run, seq).cloned())
            .collect())
    }

    fn key_use(&self, run: &RunId, key: &Key) -> Result<Option<KeyUse>, StoreError> {
        let inner = self.lock();
        Ok(inner
            .runs
            .get(run)
            .and_then(|run| run.keys.get(key))
            .copied())
    }

    fn list(&self, query: &Query) -> Result<Page, StoreError> {
        let inner = self.lock();
        let place = |head: &Head| Cursor {
            updated: head.updated,
            run: head.run.clone(),
        };
        let heads = inner.runs_to_list().map(|run| &run.head);
        let mut found: Vec<&Head> = heads
            .filter(|head| query.matches(head))
            .filter(|head| {
                query
                    .after
                    .as_ref()
                    .is_none_or(|after| place(head) < *after)
            })
            .collect();
        found.sort_by_key(|head| std::cmp::Reverse(place(head)));
        let limit = query.limit.clamp(1, MAX_PAGE);
        let more = found.len() > limit;
        found.truncate(limit);
        Ok(Page {
            next: found.last().filter(|_| more).map(|head| place(head)),
            heads: found.into_iter().cloned().collect(),
        })
    }

    fn status_counts(&self) -> Result<BTreeMap<String, u64>, StoreError> {
        let mut counts = BTreeMap::new();
        for run in self.lock().runs_to_list() {
            let status = run.head.summary.status.clone();
            *counts.entry(status).or_default() += 1;
        }
        Ok(counts)
    }

    fn fork(&self, from: &RunId, at: u64, append: &Append) -> Result<Appended, StoreError> {
        append.check()?;
        let mut inner = self.lock();
        inner.run(from)?;
        let last = inner.record(from, at).map(Record::hash);
        let last = last.ok_or_else(|| StoreError::missing_record(from, at))?;
        let forked = Some((from.clone(), at));
        inner.append(append, (at, last), forked)
    }

    fn create(&self, from: Option<(&RunId, u64)>, appends: &[Append]) -> Result<(), StoreError> {
        for append in appends {
            append.check()?;
        }
        let Some(run) = appends.first().map(|append| &append.run) else {
            return Ok(());
        };
        let mut inner = self.lock();
        if let Some(found) = inner.runs.get(run) {
            let actual = found.head.seq;
            return Err(StoreError::Conflict { actual });
        }
        let (mut start, mut forked) = ((0, Hash::ZERO), None);
        if let Some((from, at)) = from {
            inner.run(from)?;
            let last = inner.record(from, at).map(Record::hash);
            let last = last.ok_or_else(|| StoreError::missing_record(from, at))?;
            (start, forked) = ((at, last), Some((from.clone(), at)));
        }
        let done = appends.iter().zip(0..).try_for_each(|(append, number)| {
            let expect = if number == 0 {
                Expect::NoRun
            } else {
                Expect::Any
            };
            let append = Append {
                expect,
                ..append.clone()
            };
            let done = inner.append(&append, start, forked.take())?;
            append.expect_done(done)
        });
        if done.is_err() {
            inner.runs.remove(run);
        }
        done
    }

    fn lease(&self, run: &RunId, owner: &str, milliseconds: u64) -> Result<Lease, StoreError> {
        let now = self.clock.now();
        let mut inner = self.lock();
        let found = inner.run_mut(run)?;
        match &found.lease {
            Some(lease) if lease.owner != owner && is_held(lease.until, now) => {
                return Err(StoreError::Busy {
                    by: lease.owner.clone(),
                    until: Some(lease.until),
                });
            }
            Some(lease) if lease.owner == owner && lease.until > now => {}
            _ => found.fence += 1,
        }
        let lease = Lease {
            run: run.clone(),
            owner: owner.to_owned(),
            fence: Fence(found.fence),
            until: now.saturating_add(milliseconds.min(MAX_HOLD)),
        };
        found.lease = Some(lease.clone());
        Ok(lease)
    }

    fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        let mut inner = self.lock();
        let found = inner.run_mut(&lease.run)?;
        let is_held = |held: &Lease| held.fence == lease.fence && held.owner == lease.owner;
        if found.lease.as_ref().is_some_and(is_held) {
            found.lease = None;
        }
        Ok(())
    }

    fn claim_due(&self, now: u64, limit: usize, claim: u64) -> Result<Vec<DueTimer>, StoreError> {
        let clock = self.clock.now();
        let mut inner = self.lock();
        let mut due: Vec<DueTimer> = Vec::new();
        for (id, run) in &inner.runs {
            let timers = run.timers.iter().filter(|(timer, claimed)| {
                timer.due <= now && claimed.is_none_or(|until| !is_held(until, clock))
            });
            due.extend(timers.map(|(timer, _)| DueTimer {
                run: id.clone(),
                timer: timer.clone(),
            }));
        }
        due.sort_by(|one, other| (&one.timer, &one.run).cmp(&(&other.timer, &other.run)));
        due.truncate(limit);
        for claimed in &due {
            let run = inner.run_mut(&claimed.run)?;
            let until = Some(clock.saturating_add(claim));
            run.timers.insert(claimed.timer.clone(), until);
        }
        Ok(due)
    }

    fn derived(&self, run: &RunId) -> Result<Option<Derived>, StoreError> {
        let inner = self.lock();
        let found = inner.run(run)?;
        let summary = &found.head.summary;
        Ok(Some(Derived {
            seq: found.head.seq,
            workflow: summary.workflow.clone(),
            status: summary.status.clone(),
            project: summary.project.clone(),
            parent: summary.parent.as_ref().map(ToString::to_string),
            timers: found.timers.keys().cloned().collect(),
            keys: found.keys.len() as u64,
            cached: found.folds.keys().next_back().copied(),
        }))
    }

    fn next_due(&self) -> Result<Option<u64>, StoreError> {
        let clock = self.clock.now();
        let inner = self.lock();
        let timers = inner.runs.values().flat_map(|run| &run.timers);
        let free = timers.filter(|(_, claimed)| claimed.is_none_or(|until| !is_held(until, clock)));
        Ok(free.map(|(timer, _)| timer.due).min())
    }

    fn changes(&self, since: &Watermark) -> Result<(Watermark, Vec<Hint>), StoreError> {
        let inner = self.lock();
        let changed: BTreeSet<(u64, &RunId, u64)> = inner
            .runs
            .iter()
            .filter(|(id, run)| run.version > since.0 && !id.is_store_journal())
            .map(|(id, run)| (run.version, id, run.head.seq))
            .collect();
        let hints = changed.into_iter().map(|(_, run, seq)| Hint {
            run: run.clone(),
            seq,
        });
        Ok((Watermark(inner.version), hints.collect()))
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Hash, StoreError> {
        let hash = Hash::digest(bytes);
        let now = self.clock.now();
        let mut inner = self.lock();
        let kept = inner.blobs.entry(hash);
        kept.or_insert_with(|| (bytes.to_vec(), now)).1 = now;
        Ok(hash)
    }

    fn blob(&self, hash: &Hash) -> Result<Vec<u8>, StoreError> {
        let inner = self.lock();
        inner
            .blobs
            .get(hash)
            .map(|(bytes, _)| bytes.clone())
            .ok_or_else(|| StoreError::NotFound {
                what: format!("blob {hash}"),
            })
    }

    fn sweep_blobs(
        &self,
        named: &BTreeSet<Hash>,
        idle: u64,
        really: bool,
    ) -> Result<Vec<Hash>, StoreError> {
        let before = self.clock.now().saturating_sub(idle);
        let mut inner = self.lock();
        let old = inner.blobs.iter().filter(|(_, (_, kept))| *kept < before);
        let old = old.map(|(hash, _)| *hash);
        let gone: Vec<Hash> = old.filter(|hash| !named.contains(hash)).collect();
        if really {
            for hash in &gone {
                inner.blobs.remove(hash);
            }
        }
        Ok(gone)
    }

    fn put_fold_cache(&self, run: &RunId, seq: u64, fold: &[u8]) -> Result<(), StoreError> {
        let mut inner = self.lock();
        let folds = &mut inner.run_mut(run)?.folds;
        folds.insert(seq, fold.to_vec());
        let sizes = folds.iter().map(|(seq, it)| (*seq, it.len() as u64));
        let mut sizes: Vec<(u64, u64)> = sizes.collect();
        if let Some((newest, _)) = sizes.pop() {
            for seq in surplus_caches(&sizes, newest) {
                folds.remove(&seq);
            }
        }
        Ok(())
    }

    fn fold_cache(&self, run: &RunId, upto: u64) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
        let inner = self.lock();
        let newest = inner.run(run)?.folds.range(..=upto).next_back();
        Ok(newest.map(|(seq, bytes)| (*seq, bytes.clone())))
    }

    fn remove(&self, run: &RunId, expect: Expect) -> Result<(), StoreError> {
        let mut inner = self.lock();
        let head = &inner.run(run)?.head;
        if !expect.is_met_by(head.seq, head.hash) {
            let actual = head.seq;
            return Err(StoreError::Conflict { actual });
        }
        let is_child = |head: &Head| {
            head.forked
                .as_ref()
                .is_some_and(|(parent, _)| parent == run)
        };
        let mut runs = inner.runs.values();
        if let Some(child) = runs.find(|other| is_child(&other.head)) {
            let what = format!("run `{}` is a fork of `{run}`", child.head.run);
            return Err(StoreError::Invalid { what });
        }
        inner.runs.remove(run);
        inner.version += 1;
        Ok(())
    }
}
