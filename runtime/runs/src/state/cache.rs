//! The fold cache: run states in stores, so that replays needn't begin at the first record.
//!
//! A line of JSON names the version of the fold, the hash of the state's last record, and the checksum of the bytes after
//! it: the state as JSON. A state that another version would compute differently, that belongs to another journal or that
//! was damaged is ignored, and the journal is read.

use serde::{Deserialize, Serialize};

use super::RunState;
use crate::hash::Hash;

/// The version of the fold.
///
/// It grows whenever a record comes to mean something else: a test compares it with the states of known journals.
pub const VERSION: u32 = 10;

#[derive(Serialize, Deserialize)]
struct Header {
    fold: u32,
    /// The hash of the last record in it.
    last: Hash,
    /// The checksum of the state's bytes.
    sum: Hash,
}

/// A decoded cache entry.
#[derive(Debug, PartialEq)]
pub(crate) enum Cached {
    /// A state, and the hash of its last record.
    State(Box<RunState>, Hash),
    /// An entry of another version.
    OtherVersion,
    /// Bytes that aren't as they were written.
    Damaged,
}

/// Encodes a state for the cache, with the hash of its last record.
pub(crate) fn encode(state: &RunState, last: Hash) -> Result<Vec<u8>, serde_json::Error> {
    let state = serde_json::to_vec(state)?;
    let header = Header {
        fold: VERSION,
        last,
        sum: Hash::digest(&state),
    };
    let mut bytes = serde_json::to_vec(&header)?;
    bytes.push(b'\n');
    bytes.extend(state);
    Ok(bytes)
}

/// Decodes a cache entry.
pub(crate) fn decode(bytes: &[u8]) -> Cached {
    // The first version had no header.
    if !bytes.starts_with(b"{\"fold\":") {
        return Cached::OtherVersion;
    }
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let Some((header, state)) = end.and_then(|end| bytes.split_at_checked(end)) else {
        return Cached::Damaged;
    };
    let state = state.get(1..).unwrap_or_default();
    match serde_json::from_slice::<Header>(header) {
        Ok(header) if header.fold != VERSION => Cached::OtherVersion,
        Ok(header) if header.sum == Hash::digest(state) => match serde_json::from_slice(state) {
            Ok(state) => Cached::State(Box::new(state), header.last),
            Err(_) => Cached::Damaged,
        },
        _ => Cached::Damaged,
    }
}
