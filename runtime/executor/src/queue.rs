//! A worker: it looks for runs that executors can go on with, and drives some of them at once.
//!
//! Any number of workers share one store. What they agree by is the lease of each run; what one finds busy it leaves alone for
//! a while. Workflows take turns, so that a thousand runs of one don't keep another's waiting.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use statemark_runs::{Head, MAX_PAGE, Query, RunId, StoreError, Watermark};
use statemark_tools::{Problem, Work};

use crate::drive::{Driver, NotDriven};
use crate::plan::plan;

/// Longest time between two questions for changes.
///
/// Why: other processes' commits are found by asking alone.
const IDLE: Duration = Duration::from_millis(250);

/// Shortest time between two lists of runs. Why: each attempt commits several times.
const SHORTEST: Duration = Duration::from_millis(50);

/// Longest time between two lists of runs. Why: a lease that is over changes no run.
const LONGEST: Duration = Duration::from_secs(5);

/// Most runs that are looked at in one go.
const MOST_SEEN: usize = 10_000;

/// The runs that a worker leaves alone, or has.
#[derive(Default)]
struct Known {
    /// By run: the record at which there was nothing to do.
    rested: BTreeMap<RunId, u64>,
    /// By run: the time from which on it is looked at again.
    later: BTreeMap<RunId, Instant>,
    /// The runs that are driven now, with their workflows.
    busy: BTreeMap<RunId, String>,
    /// By workflow: the number of the last run of it that was taken, among all that were.
    taken: BTreeMap<String, u64>,
    /// The number of runs that were taken.
    turns: u64,
    /// True if one has become free since the last list.
    is_freed: bool,
}

impl Known {
    /// Notes that a run is driven from now on.
    fn begin(&mut self, head: &Head) {
        let workflow = &head.summary.workflow;
        self.turns = self.turns.saturating_add(1);
        self.busy.insert(head.run.clone(), workflow.clone());
        self.taken.insert(workflow.clone(), self.turns);
    }

    /// Returns the workflow whose turn it is.
    ///
    /// Of those that have candidates it is the one of which a run was taken longest ago.
    fn next_workflow(&self, candidates: &BTreeMap<String, VecDeque<Head>>) -> Option<String> {
        let names = candidates.keys();
        let next = names.min_by_key(|name| self.taken.get(*name).copied().unwrap_or_default());
        next.cloned()
    }
}

impl Driver<'_> {
    /// Takes runs of a project that are ready, and drives some at once.
    ///
    /// It returns once no further attempt is to begin.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    pub(crate) fn serve(&self, project: Option<&str>) -> Result<(), StoreError> {
        let runs = self.dispatcher.runs();
        let known = Mutex::new(Known::default());
        let (mut mark, _) = runs.store().changes(&Watermark::END)?;
        let mut listed: Option<Instant> = None;
        let mut is_news = true;
        thread::scope(|scope| {
            while !(self.is_draining)() && !(self.is_cancelled)() {
                // What is committed from here on ends the wait.
                let seen = runs.wait_for_commit(0, Duration::ZERO);
                let (next, hints) = runs.store().changes(&mark)?;
                mark = next;
                is_news |= !hints.is_empty();
                is_news |= std::mem::take(&mut lock(&known).is_freed);
                let age = listed.map_or(LONGEST, |at| at.elapsed());
                let has_room = lock(&known).busy.len() < self.parallel;
                if has_room && (is_news && age >= SHORTEST || age >= LONGEST) {
                    is_news = false;
                    listed = Some(Instant::now());
                    for head in self.chosen(&known, project)? {
                        let known = &known;
                        scope.spawn(move || self.take(known, &head.run));
                    }
                }
                let _ = runs.wait_for_commit(seen, if is_news { SHORTEST } else { IDLE });
            }
            Ok(())
        })
    }

    /// Chooses runs to drive, as many as there is room for, and notes that they are driven.
    fn chosen(&self, known: &Mutex<Known>, project: Option<&str>) -> Result<Vec<Head>, StoreError> {
        let mut candidates = self.candidates(project)?;
        let mut chosen = Vec::new();
        loop {
            let workflow = {
                let known = lock(known);
                let has_room = known.busy.len() < self.parallel;
                known.next_workflow(&candidates).filter(|_| has_room)
            };
            let Some(workflow) = workflow else {
                return Ok(chosen);
            };
            let head = candidates.get_mut(&workflow).and_then(VecDeque::pop_front);
            let Some(head) = head else {
                candidates.remove(&workflow);
                continue;
            };
            if self.is_ready(known, &head) {
                lock(known).begin(&head);
                chosen.push(head);
            }
        }
    }

    /// Lists the live runs by workflow, those first that have changed longest ago.
    fn candidates(
        &self,
        project: Option<&str>,
    ) -> Result<BTreeMap<String, VecDeque<Head>>, StoreError> {
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
        heads.sort_by_key(|head| head.updated);
        let mut candidates: BTreeMap<String, VecDeque<Head>> = BTreeMap::new();
        for head in heads {
            let workflow = head.summary.workflow.clone();
            candidates.entry(workflow).or_default().push_back(head);
        }
        Ok(candidates)
    }

    /// Reports whether there is work in a run that nobody here has, or has found to be none.
    fn is_ready(&self, known: &Mutex<Known>, head: &Head) -> bool {
        {
            let known = lock(known);
            let now = Instant::now();
            // A run under one that is driven here is driven with it.
            let parent = head.summary.parent.as_ref();
            if known.later.get(&head.run).is_some_and(|at| *at > now)
                || known.rested.get(&head.run) == Some(&head.seq)
                || known.busy.contains_key(&head.run)
                || parent.is_some_and(|run| known.busy.contains_key(run))
            {
                return false;
            }
        }
        let Ok(loaded) = self.dispatcher.runs().load(&head.run) else {
            return false;
        };
        let is_ready = !plan(&loaded, self.settings, &Work::on(head.run.clone()))
            .ready
            .is_empty();
        if !is_ready {
            lock(known).rested.insert(head.run.clone(), head.seq);
        }
        is_ready
    }

    /// Drives a run, and notes how it is left.
    fn take(&self, known: &Mutex<Known>, run: &RunId) {
        let worked = self.drive_at(&Work::on(run.clone()), None, 0);
        let head = self.dispatcher.runs().store().head(run);
        let mut known = lock(known);
        known.busy.remove(run);
        known.is_freed = true;
        match worked {
            Ok(worked) => {
                tracing::info!(run = %run, stopped = worked.stopped.name(), attempts = worked.attempts, "{}", worked.reason);
                if let Ok(head) = head {
                    known.rested.insert(run.clone(), head.seq);
                }
            }
            Err(not_driven) => {
                if let NotDriven::Failed(problem) = not_driven {
                    log(run, &problem);
                }
                let wait = self.settings.lease() / 2;
                known.later.insert(run.clone(), Instant::now() + wait);
            }
        }
        if known.rested.len() > MOST_SEEN {
            // They are looked at once more.
            known.rested.clear();
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
