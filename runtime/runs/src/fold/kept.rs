//! Folds as stores keep them.
//!
//! A line of JSON says by which fold it was made, of which record it is, and the sum of what follows: the state, as JSON
//! too. So a state that another version of the fold would make otherwise, that belongs to another journal or that was
//! damaged on its way is none, and the journal is read.

use serde::{Deserialize, Serialize};

use super::RunState;
use crate::hash::Hash;

/// The version of the fold. It grows whenever one of the same records says or means something else than before: a test
/// holds it against the states of known journals.
pub const VERSION: u32 = 2;

#[derive(Serialize, Deserialize)]
struct Header {
    fold: u32,
    /// The hash of the last record in it.
    last: Hash,
    /// The hash of the state's bytes.
    sum: Hash,
}

/// What was kept.
#[derive(Debug, PartialEq)]
pub(crate) enum Kept {
    /// A state, and the hash of the last record in it.
    State(Box<RunState>, Hash),
    /// Another version's.
    Other,
    /// It isn't as it was written.
    Damaged,
}

/// A state to be kept, with the hash of the last record in it.
///
/// # Errors
///
/// It can't be written as JSON.
pub(crate) fn write(state: &RunState, last: Hash) -> Result<Vec<u8>, serde_json::Error> {
    let state = serde_json::to_vec(state)?;
    let header = Header {
        fold: VERSION,
        last,
        sum: Hash::of(&state),
    };
    let mut bytes = serde_json::to_vec(&header)?;
    bytes.push(b'\n');
    bytes.extend(state);
    Ok(bytes)
}

/// Reads what was kept.
pub(crate) fn read(bytes: &[u8]) -> Kept {
    // Before folds had versions they had no header.
    if !bytes.starts_with(b"{\"fold\":") {
        return Kept::Other;
    }
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let Some((header, state)) = end.and_then(|end| bytes.split_at_checked(end)) else {
        return Kept::Damaged;
    };
    let state = state.get(1..).unwrap_or_default();
    match serde_json::from_slice::<Header>(header) {
        Ok(header) if header.fold != VERSION => Kept::Other,
        Ok(header) if header.sum == Hash::of(state) => match serde_json::from_slice(state) {
            Ok(state) => Kept::State(Box::new(state), header.last),
            Err(_) => Kept::Damaged,
        },
        _ => Kept::Damaged,
    }
}
