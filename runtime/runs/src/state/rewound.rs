//! What lasts although it was taken back.
//!
//! A rewind takes back what the journal says of the run. It doesn't take back the world: money that was spent, effects that
//! have left, commits that hold a working copy, runs that have begun for this one. Nor does it hide that somebody had set a state by hand, or had rewound.

use super::{RunState, apply};
use crate::body::Body;
use crate::record::Record;

/// Changes the state by what lasts of a record that doesn't count any more.
pub(super) fn apply(state: &mut RunState, record: &Record) -> Result<(), serde_json::Error> {
    match record.read()? {
        Body::Usage(usage) => apply::spend(state, usage),
        Body::Effect(effect) => apply::affected(state, effect, true),
        Body::Rewound(rewound) => apply::rewind(state, record, rewound),
        Body::Forced(forced) => state.forced.push((record.seq, forced.to)),
        Body::CheckpointTaken(taken) => apply::save(state, record, taken),
        Body::CheckpointRestored(restored) => {
            let over = restored.done || restored.given_up.is_some();
            state.restoring = (!over).then_some(restored);
        }
        Body::ChildStarted(started) => apply::orphan(state, record, started),
        Body::ChildEnded(ended) => apply::outlived(state, &ended),
        _ => {}
    }
    Ok(())
}
