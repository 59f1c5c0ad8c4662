//! Descendants in a rewind: the runs that it cancels, or whose outcomes it drops.
//!
//! What they have done in the world stays done: their effects were theirs to take back, and nobody goes on with them. What a
//! person has decided in them, a person gives up.

use std::collections::BTreeSet;

use super::plan::{RewindPlan, effects_since, is_decision};
use crate::id::RunId;
use crate::runs::{Loaded, RunError, Runs};
use crate::state;
use crate::store::StoreError;

/// Puts what is given up beneath the run into its plan.
pub(super) fn add_descendants(
    runs: &Runs,
    loaded: &Loaded,
    plan: &mut RewindPlan,
) -> Result<(), RunError> {
    let gone = plan.children.iter().chain(&plan.children_again);
    let mut open: Vec<String> = gone.cloned().collect();
    // A journal that nobody of ours wrote may have runs that are each other's children.
    let mut seen = BTreeSet::from([loaded.run.to_string()]);
    while let Some(id) = open.pop() {
        let Ok(run) = id.parse::<RunId>() else {
            continue;
        };
        if !seen.insert(id) {
            continue;
        }
        let child = match runs.load(&run) {
            // It didn't come to be, or was removed.
            Err(RunError::Store(StoreError::NotFound { .. })) => continue,
            child => child?,
        };
        open.extend(child.state.children.keys().cloned());
        let (left, unreported) = effects_since(&child, 0);
        plan.unreported.extend(unreported);
        plan.effects.extend(left.into_iter().map(|mut effect| {
            // Its own run would take it back, and that isn't gone on with.
            effect.blocks = true;
            effect
        }));
        let live = state::live_records(&*runs.store, &run, Some(child.head.seq), &[])?;
        state::for_each_record(&*runs.store, &run, 0, Some(child.head.seq), |record| {
            if live.contains(record.seq) && is_decision(record) {
                let summary = format!("{} in `{run}`", record.summary());
                plan.persons.push((record.seq, summary));
            }
            Ok(())
        })?;
    }
    Ok(())
}
