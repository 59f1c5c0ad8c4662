//! Runs below a run that its states wait for.
//!
//! States invoke such runs, and agents and programs begin them for units of work. They are driven side by side, each under a
//! lease of its own. One that waits for a person, or that another executor has, keeps none of the others from going on.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use statemark_runs::{Loaded, RunId, WaitingFor, reconcile_children};
use statemark_tools::{Problem, Stop, Work, Worked};

use crate::drive::{Driver, NotDriven, UNWORKABLE};
use crate::happening::{Happened, Happening, Measure};

/// Most levels of runs below runs that are driven. Why: a run that starts itself would never end.
const MAX_DEPTH: usize = 8;

/// The runs below a run, as one drive of it knows them.
#[derive(Default)]
pub(crate) struct Below {
    /// The level of the run itself: 0 for one that nobody else drives.
    pub(crate) depth: usize,
    /// The sum of what was done in them.
    pub(crate) worked: Worked,
    /// The runs that are driven now.
    busy: BTreeSet<RunId>,
    /// The runs that were driven as far as they go.
    rested: BTreeMap<RunId, Rest>,
}

/// The way in which a run is left alone.
struct Rest {
    stop: Stop,
    reason: String,
    until: Until,
}

/// The time at which a run is looked at again.
enum Until {
    /// Once it has another record than this.
    Record(u64),
    /// From then on.
    Time(Instant),
}

impl Below {
    /// Creates the knowledge of a drive at a level.
    pub(crate) fn at(depth: usize) -> Self {
        Self {
            depth,
            ..Self::default()
        }
    }

    /// Reports whether none is driven now.
    pub(crate) fn is_idle(&self) -> bool {
        self.busy.is_empty()
    }

    /// Returns why the run itself waits, if it does so for one of them.
    pub(crate) fn wait(&self, loaded: &Loaded) -> Option<(Stop, String)> {
        let waiting = waiting_for(loaded);
        let mut rested = waiting.filter_map(|run| self.rested.get(&run));
        let rest = rested.next_back()?;
        Some((rest.stop, rest.reason.clone()))
    }
}

impl Driver<'_> {
    /// Returns the work on runs below that can begin now, and notes that it does.
    pub(crate) fn begin_below(&self, below: &mut Below, work: &Work, loaded: &Loaded) -> Vec<Work> {
        let room = self.parallel.saturating_sub(below.busy.len());
        if below.depth >= MAX_DEPTH || room == 0 {
            return Vec::new();
        }
        let free = waiting_for(loaded)
            .filter(|run| !below.busy.contains(run) && !self.is_resting(below, run));
        let chosen: Vec<RunId> = free.take(room).collect();
        below.busy.extend(chosen.iter().cloned());
        let works = chosen.into_iter().map(|run| Work {
            task: work.task.clone(),
            model: work.model.clone(),
            url: work.url.clone(),
            ..Work::on(run)
        });
        works.collect()
    }

    /// Notes how far a run below has come.
    ///
    /// # Errors
    ///
    /// It couldn't be driven, and not because another executor works on it.
    pub(crate) fn end_below(
        &self,
        below: &mut Below,
        parent: &RunId,
        run: RunId,
        worked: Result<Worked, NotDriven>,
    ) -> Result<(), Problem> {
        below.busy.remove(&run);
        let runs = self.dispatcher.runs();
        let rest = match worked {
            // The others go on; this one has to be mended by hand.
            Err(NotDriven::Failed(problem)) if problem.code == UNWORKABLE => Rest {
                stop: Stop::Waiting,
                reason: problem.message,
                until: Until::Record(runs.load(&run)?.head.seq),
            },
            Err(NotDriven::Failed(problem)) => return Err(problem),
            Err(not_driven @ NotDriven::Leased { .. }) => Rest {
                stop: Stop::Waiting,
                reason: Problem::from(not_driven).message,
                until: Until::Time(Instant::now() + self.settings.lease() / 2),
            },
            Ok(worked) => {
                below.add(&worked);
                if worked.stopped == Stop::Ended {
                    // Whoever ended it may have been killed before it told the run above.
                    reconcile_children(runs, parent)?;
                    self.observe_below(parent, &run)?;
                    below.rested.remove(&run);
                    return Ok(());
                }
                Rest {
                    stop: worked.stopped,
                    reason: format!("`{run}`: {}", worked.reason),
                    until: Until::Record(runs.load(&run)?.head.seq),
                }
            }
        };
        below.rested.insert(run, rest);
        Ok(())
    }

    /// Tells whoever watches how many of the runs below a state are over, one of which is given.
    fn observe_below(&self, parent: &RunId, run: &RunId) -> Result<(), Problem> {
        let loaded = self.dispatcher.runs().catch_up(parent)?;
        let state = &loaded.state;
        let step = state
            .children
            .get(run.as_str())
            .and_then(|child| child.step.clone());
        let siblings = || {
            let children = state.children.values();
            children.filter(|child| child.step == step && state.is_current_child(child))
        };
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        (self.observe)(&Happened {
            run: parent.clone(),
            attempt: state.attempted,
            what: Happening::Progressed {
                measure: Measure::Runs,
                done: count(siblings().filter(|child| child.ended.is_some()).count()),
                total: count(siblings().count()),
            },
            state: step.clone().unwrap_or_default(),
        });
        Ok(())
    }

    /// Reports whether nobody can go on with a run, as far as is known.
    fn is_resting(&self, below: &Below, run: &RunId) -> bool {
        below.rested.get(run).is_some_and(|rest| match rest.until {
            Until::Time(time) => Instant::now() < time,
            Until::Record(seq) => {
                let head = self.dispatcher.runs().store().head(run);
                head.is_ok_and(|head| head.seq == seq)
            }
        })
    }
}

impl Below {
    fn add(&mut self, worked: &Worked) {
        let sum = &mut self.worked;
        sum.attempts = sum.attempts.saturating_add(worked.attempts);
        sum.input_tokens = sum.input_tokens.saturating_add(worked.input_tokens);
        sum.output_tokens = sum.output_tokens.saturating_add(worked.output_tokens);
        if let Some(cost) = worked.cost {
            sum.cost = Some(sum.cost.unwrap_or_default().saturating_add(cost));
        }
    }
}

/// Returns the runs that the states of a run wait for.
fn waiting_for(loaded: &Loaded) -> impl DoubleEndedIterator<Item = RunId> {
    let waiting = loaded.state.waiting_for().into_iter();
    waiting.filter_map(|waiting| match waiting {
        WaitingFor::Child { run } => run.parse().ok(),
        _ => None,
    })
}
