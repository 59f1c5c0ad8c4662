//! The way of a run through its machine: what it visited, for how long, and by which transitions.

use std::collections::{BTreeMap, BTreeSet};

use super::{RunError, Runs, load_timeline};
use crate::body::{Body, StepRecord};
use crate::id::RunId;
use crate::loaded::Loaded;
use crate::state;

/// The way of a run, without what was taken back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trail {
    /// The ids of the active states, composites included.
    pub active: BTreeSet<String>,
    /// The visits of each state that was visited, by its id.
    pub visits: BTreeMap<String, Stay>,
    /// The number of times that each transition was taken, by its number in the run's table.
    ///
    /// After a migration it has those taken since: older numbers are of another table.
    pub taken: BTreeMap<u16, u64>,
}

/// The visits of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stay {
    /// The number of visits.
    pub count: u64,
    /// The time that they took, up to now. Unit: milliseconds.
    pub milliseconds: u64,
}

/// Loads the way of a run.
///
/// # Errors
///
/// There is no such run, or its journal can't be read.
pub fn load_trail(runs: &Runs, loaded: &Loaded) -> Result<Trail, RunError> {
    let run: &RunId = &loaded.run;
    let mut trail = Trail {
        active: active_states(loaded),
        ..Trail::default()
    };
    let is_over = loaded.state.status().is_over();
    // Time stands still in a run that is over.
    let now = if is_over {
        loaded.state.updated
    } else {
        runs.now()
    };
    for visit in load_timeline(runs, run)?.visits {
        if visit.counts {
            let stay = trail.visits.entry(visit.state).or_default();
            let until = visit.until.unwrap_or(now);
            stay.count += 1;
            stay.milliseconds = stay
                .milliseconds
                .saturating_add(until.saturating_sub(visit.since));
        }
    }
    let live = state::live_records(runs.store(), run, None, &[])?;
    state::for_each_record(runs.store(), run, 0, None, |record| {
        if live.contains(record.seq) {
            match record.read() {
                Ok(Body::Started(started)) => trail.add(&started.step),
                Ok(Body::Forced(forced)) => trail.add(&forced.step),
                Ok(Body::Event(event)) => trail.add(&event.step),
                Ok(Body::Migrated(_)) => trail.taken.clear(),
                // What can't be read changes nothing: whoever drives the run is told so.
                _ => {}
            }
        }
        Ok(())
    })?;
    Ok(trail)
}

impl Trail {
    fn add(&mut self, step: &StepRecord) {
        for number in step.steps.iter().flat_map(|it| &it.transitions) {
            *self.taken.entry(*number).or_default() += 1;
        }
    }
}

/// Returns the active leaves with the states around them.
fn active_states(loaded: &Loaded) -> BTreeSet<String> {
    let mut active: BTreeSet<String> = loaded.state.leaves.iter().cloned().collect();
    let table = loaded.workflow.table();
    for leaf in &loaded.state.leaves {
        if let Some(state) = table.state_named(leaf) {
            let enclosing = table.chain(state).filter(|it| table.parent(*it).is_some());
            active.extend(enclosing.map(|it| table.state_name(it).to_owned()));
        }
    }
    active
}
