//! A worker: it looks for runs that executors can go on with, and drives some of them at once.
//!
//! Any number of workers share one store. What they agree by is the lease of each run; what one finds busy it leaves alone for
//! a while. Workflows take turns, so that a thousand runs of one don't keep another's waiting.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use statemark_runs::{Head, MAX_PAGE, Query, RunId, StoreError};
use statemark_tools::{Problem, Work};

use crate::drive::Driver;
use crate::plan::plan;

/// Longest time between two looks for work. Why: other processes' commits are found by looking alone.
const IDLE: Duration = Duration::from_secs(1);

/// Most runs that are looked at in one go.
const MOST_SEEN: usize = 10_000;

/// What a worker knows of runs that it leaves alone.
#[derive(Default)]
struct Known {
    /// By run: the record at which there was nothing to do.
    rested: BTreeMap<RunId, u64>,
    /// By run: the time from which on it is looked at again.
    later: BTreeMap<RunId, Instant>,
    /// The runs that are driven now.
    busy: BTreeMap<RunId, String>,
    /// By workflow: when one of its runs was taken last, as a count.
    taken: BTreeMap<String, u64>,
}

impl Driver<'_> {
    /// Takes runs of a project that are ready, and drives some at once, until no further attempt is to begin.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    pub(crate) fn serve(&self, project: Option<&str>, parallel: usize) -> Result<(), StoreError> {
        let known = Mutex::new(Known::default());
        let turns = AtomicU64::new(0);
        thread::scope(|scope| {
            loop {
                if (self.is_draining)() || (self.is_cancelled)() {
                    return Ok(());
                }
                let room = parallel.saturating_sub(lock(&known).busy.len());
                let mut began = false;
                if room > 0 {
                    for head in self.candidates(project)? {
                        if lock(&known).busy.len() >= parallel {
                            break;
                        }
                        let Some(head) = self.choose(&known, head) else {
                            continue;
                        };
                        began = true;
                        let turn = turns.fetch_add(1, Ordering::Relaxed);
                        {
                            let mut known = lock(&known);
                            known
                                .busy
                                .insert(head.run.clone(), head.summary.workflow.clone());
                            known.taken.insert(head.summary.workflow.clone(), turn);
                        }
                        let known = &known;
                        scope.spawn(move || self.take(known, &head.run));
                    }
                }
                let seen = self.dispatcher.runs().wait_for_commit(0, Duration::ZERO);
                let wait = if began {
                    Duration::from_millis(20)
                } else {
                    IDLE / 4
                };
                let _ = self.dispatcher.runs().wait_for_commit(seen, wait);
            }
        })
    }

    /// Lists the live runs, those of workflows first that have waited longest.
    fn candidates(&self, project: Option<&str>) -> Result<Vec<Head>, StoreError> {
        let mut query = Query {
            statuses: vec!["running".to_owned(), "waiting".to_owned()],
            project: project.map(str::to_owned),
            limit: MAX_PAGE,
            ..Query::default()
        };
        let mut heads = Vec::new();
        loop {
            let page = self.dispatcher.runs().store().list(&query)?;
            heads.extend(page.heads);
            match page.next {
                Some(next) if heads.len() < MOST_SEEN => query.after = Some(next),
                _ => break,
            }
        }
        // The least recently changed first, and workflows in turn.
        heads.sort_by_key(|head| head.updated);
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut ordered: Vec<(usize, Head)> = Vec::new();
        for head in heads {
            let place = places.entry(head.summary.workflow.clone()).or_default();
            ordered.push((*place, head));
            *place += 1;
        }
        ordered.sort_by_key(|(place, head)| (*place, head.updated));
        Ok(ordered.into_iter().map(|(_, head)| head).collect())
    }

    /// Returns a run if there is work in it that nobody here has found to be done.
    fn choose(&self, known: &Mutex<Known>, head: Head) -> Option<Head> {
        {
            let known = lock(known);
            let is_later = known
                .later
                .get(&head.run)
                .is_some_and(|it| *it > Instant::now());
            let is_rested = known.rested.get(&head.run) == Some(&head.seq);
            if is_later || is_rested || known.busy.contains_key(&head.run) {
                return None;
            }
            // A run under one that is driven here is driven with it.
            if head
                .summary
                .parent
                .as_ref()
                .is_some_and(|it| known.busy.contains_key(it))
            {
                return None;
            }
        }
        let loaded = self.dispatcher.runs().load(&head.run).ok()?;
        let work = Work::on(head.run.clone());
        if plan(&loaded, self.settings, &work).ready.is_empty() {
            lock(known).rested.insert(head.run, head.seq);
            return None;
        }
        Some(head)
    }

    /// Drives a run, and notes how it is left.
    fn take(&self, known: &Mutex<Known>, run: &RunId) {
        let worked = self.drive(&Work::on(run.clone()), None);
        let head = self.dispatcher.runs().store().head(run);
        let mut known = lock(known);
        known.busy.remove(run);
        match worked {
            Ok(worked) => {
                tracing::info!(run = %run, stopped = worked.stopped.name(), attempts = worked.attempts, "{}", worked.reason);
                if let Ok(head) = head {
                    known.rested.insert(run.clone(), head.seq);
                }
            }
            Err(problem) => {
                if problem.code != "leased" {
                    log(run, &problem);
                }
                let wait = self.settings.lease() / 2;
                known.later.insert(run.clone(), Instant::now() + wait);
            }
        }
        let live: BTreeSet<RunId> = known.busy.keys().cloned().collect();
        if known.rested.len() > MOST_SEEN {
            known.rested.retain(|run, _| live.contains(run));
        }
        let now = Instant::now();
        known.later.retain(|_, at| *at > now);
    }
}

fn log(run: &RunId, problem: &Problem) {
    tracing::warn!(run = %run, code = problem.code, "can't be worked on: {}", problem.message);
}

fn lock(known: &Mutex<Known>) -> std::sync::MutexGuard<'_, Known> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}
