//! Everything that has become of a run, what was taken back included.
//!
//! A [`Timeline`] is plain data, in the order of the journal, for faces to draw. Its branches are a tree: each grows from a
//! record of an earlier one, and says up to where it still counts.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{RunError, Runs};
use crate::actor::Actor;
use crate::body::{Body, Scope, StepRecord};
use crate::id::RunId;
use crate::record::Record;
use crate::state::{self, LiveRecords};
use crate::store::{Query, StoreError, for_each_head};

/// Loads the history of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Timeline {
    /// Its id.
    pub run: String,
    /// The last record.
    pub seq: u64,
    /// The runs that it was forked from, each with its last common record; the nearest last.
    pub origins: Vec<(RunId, u64)>,
    /// The stretches of the journal between jumps, in order.
    pub branches: Vec<Branch>,
    /// The operations on the run, in order.
    pub marks: Vec<Mark>,
    /// The visits of states, in the order of entering.
    pub visits: Vec<Visited>,
    /// The runs that begin with this one's journal, in the order of the records that they branch off at.
    pub forks: Vec<Forking>,
}

/// Records without a jump between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Branch {
    /// The record that it grows from; none for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// Its first record.
    pub first: u64,
    /// Its last record.
    pub last: u64,
    /// The last of its records that counts; none if all were taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<u64>,
}

/// Something that was done to a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// The record.
    pub seq: u64,
    /// The time. Unit: milliseconds since 1970.
    pub time: u64,
    /// The caller.
    pub actor: Actor,
    /// True if the record counts.
    pub counts: bool,
    /// The text.
    #[serde(flatten)]
    pub what: Marked,
}

/// Operations that mark a timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "what")]
pub enum Marked {
    /// The start.
    Started,
    /// The start as a fork of another.
    Forked {
        /// The other run.
        from: RunId,
        /// Its last record that counts here, too.
        at: u64,
    },
    /// A person set its state.
    Forced {
        /// To what.
        to: String,
    },
    /// A rewind to an earlier record.
    Rewound {
        /// The last record that still counted.
        to: u64,
        /// The scope.
        scope: Scope,
        /// The effects that had left nevertheless.
        crossed: Vec<String>,
    },
    /// The files were saved.
    CheckpointTaken {
        /// Under which name.
        name: String,
    },
    /// The files were put back, or were about to be.
    CheckpointRestored {
        /// To which checkpoint.
        name: String,
        /// True if it is done.
        done: bool,
    },
    /// A migration to another table.
    Migrated {
        /// As a run of which workflow, if it was one of another.
        #[serde(skip_serializing_if = "Option::is_none")]
        workflow: Option<String>,
    },
    /// A pause.
    Paused,
    /// The end of a pause.
    Continued,
    /// A cancellation.
    Cancelled,
    /// A report that closed it.
    Closed,
}

/// One visit of a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Visited {
    /// The state.
    pub state: String,
    /// The number of the visit, from 1, counting only those that counted then.
    pub number: u64,
    /// The record that entered it.
    pub entered: u64,
    /// The time. Unit: milliseconds since 1970.
    pub since: u64,
    /// The record that left it, if it was left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<u64>,
    /// The time. Unit: milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    /// True if the record that entered it counts.
    pub counts: bool,
}

/// A run that begins with another's journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Forking {
    /// The record that it branches off at.
    pub at: u64,
    /// The run.
    pub run: RunId,
    /// The time. Unit: milliseconds since 1970.
    pub created: u64,
    /// Its status.
    pub status: String,
    /// Its active states.
    pub leaves: Vec<String>,
}

/// Loads the history of a run.
///
/// # Errors
///
/// There is no such run, or its journal can't be read.
pub fn load_timeline(runs: &Runs, run: &RunId) -> Result<Timeline, RunError> {
    let head = runs.store.head(run)?;
    let mut drawing = Drawing::default();
    state::for_each_record(&*runs.store, run, 0, Some(head.seq), |record| {
        drawing.push(record).map_err(|error| StoreError::Corrupt {
            run: Some(run.clone()),
            seq: Some(record.seq),
            what: format!("`{}` can't be read: {error}", record.kind),
        })
    })?;
    let mut timeline = drawing.finish();
    timeline.run = run.to_string();
    timeline.seq = head.seq;
    timeline.forks = load_forks(runs, run)?;
    Ok(timeline)
}

/// Returns the forks of a run.
fn load_forks(runs: &Runs, run: &RunId) -> Result<Vec<Forking>, RunError> {
    let query = Query {
        forked: Some(run.clone()),
        ..Query::default()
    };
    let mut forks = Vec::new();
    for_each_head(runs.store(), query, |head| {
        if let Some((_, at)) = head.forked {
            forks.push(Forking {
                at,
                run: head.run,
                created: head.created,
                status: head.summary.status,
                leaves: head.summary.leaves,
            });
        }
    })?;
    forks.sort_by(|one, other| (one.at, &one.run).cmp(&(other.at, &other.run)));
    Ok(forks)
}

/// A timeline while its records come in.
#[derive(Default)]
struct Drawing {
    live: LiveRecords,
    /// By state: the places of its visits that count so far.
    stacks: BTreeMap<String, Vec<usize>>,
    timeline: Timeline,
}

impl Drawing {
    fn push(&mut self, record: &Record) -> Result<(), serde_json::Error> {
        self.live.push(record);
        self.branch(record);
        let body = record.read()?;
        let what = match body {
            Body::Started(started) => {
                self.step(record, &started.step);
                Marked::Started
            }
            Body::Forced(forced) => {
                self.step(record, &forced.step);
                Marked::Forced { to: forced.to }
            }
            Body::Event(event) => {
                self.step(record, &event.step);
                return Ok(());
            }
            Body::Forked(forked) => {
                let (from, at) = (forked.from, forked.at);
                self.timeline.origins.push((from.clone(), at));
                Marked::Forked { from, at }
            }
            Body::Rewound(rewound) => Marked::Rewound {
                to: rewound.to,
                scope: rewound.scope,
                crossed: rewound.crossed,
            },
            Body::CheckpointTaken(taken) => Marked::CheckpointTaken { name: taken.name },
            Body::CheckpointRestored(restored) => Marked::CheckpointRestored {
                name: restored.name,
                done: restored.done,
            },
            Body::Migrated(migrated) => {
                self.rename(&migrated.mapping);
                let workflow = migrated.workflow;
                Marked::Migrated { workflow }
            }
            Body::Paused(_) => Marked::Paused,
            Body::Continued(_) => Marked::Continued,
            Body::Cancelled(_) => Marked::Cancelled,
            Body::Closed(_) => Marked::Closed,
            _ => return Ok(()),
        };
        self.timeline.marks.push(Mark {
            seq: record.seq,
            time: record.time,
            actor: record.actor.clone(),
            counts: true,
            what,
        });
        Ok(())
    }

    /// Adds a record to the last branch; a jump begins a new one.
    fn branch(&mut self, record: &Record) {
        let jump = LiveRecords::rewind_target(record);
        if let Some(to) = jump {
            self.back_to(to);
        }
        match self.timeline.branches.last_mut() {
            Some(last) if jump.is_none() => last.last = record.seq,
            _ => self.timeline.branches.push(Branch {
                from: jump,
                first: record.seq,
                last: record.seq,
                counts: None,
            }),
        }
    }

    /// Visits that began behind the record are no visits; those that ended behind it go on.
    fn back_to(&mut self, to: u64) {
        let visits = &mut self.timeline.visits;
        for stack in self.stacks.values_mut() {
            while let Some(visit) = stack.last().and_then(|at| visits.get_mut(*at)) {
                if visit.entered <= to {
                    if visit.left.is_some_and(|left| left > to) {
                        (visit.left, visit.until) = (None, None);
                    }
                    break;
                }
                stack.pop();
            }
        }
    }

    fn step(&mut self, record: &Record, step: &StepRecord) {
        let visits = &mut self.timeline.visits;
        for microstep in &step.steps {
            for state in &microstep.exited {
                let last = self.stacks.get(state).and_then(|stack| stack.last());
                if let Some(visit) = last.and_then(|at| visits.get_mut(*at)) {
                    (visit.left, visit.until) = (Some(record.seq), Some(record.time));
                }
            }
            for state in &microstep.entered {
                let stack = self.stacks.entry(state.clone()).or_default();
                stack.push(visits.len());
                visits.push(Visited {
                    state: state.clone(),
                    number: stack.len() as u64,
                    entered: record.seq,
                    since: record.time,
                    left: None,
                    until: None,
                    counts: true,
                });
            }
        }
    }

    /// Renames visits that continue under another table.
    fn rename(&mut self, mapping: &BTreeMap<String, String>) {
        let stacks = std::mem::take(&mut self.stacks).into_iter();
        let named = |old: String| mapping.get(&old).cloned().unwrap_or(old);
        self.stacks = stacks.map(|(old, stack)| (named(old), stack)).collect();
        for (state, stack) in &self.stacks {
            let last = stack.last().copied();
            let visit = last.and_then(|at| self.timeline.visits.get_mut(at));
            if let Some(visit) = visit.filter(|visit| visit.left.is_none()) {
                visit.state.clone_from(state);
            }
        }
    }

    fn finish(mut self) -> Timeline {
        let live = &self.live;
        for branch in &mut self.timeline.branches {
            let inside = live.ranges().iter().filter(|(first, last)| {
                // A range that counts may go over a jump's end, but never over its begin.
                *first <= branch.last && *last >= branch.first
            });
            branch.counts = inside.map(|(_, last)| (*last).min(branch.last)).max();
        }
        for mark in &mut self.timeline.marks {
            mark.counts = live.contains(mark.seq);
        }
        for visit in &mut self.timeline.visits {
            visit.counts = live.contains(visit.entered);
        }
        self.timeline
    }
}
