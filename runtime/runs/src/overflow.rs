//! Bodies that are too large for a journal's rows: they lie beside it as blobs, and the row has their hash and size.
//!
//! Only a store knows that. Whoever reads a record has its body whole, and a record's hash is that of the whole body, so
//! that a blob that was lost or changed is damage of that record.

use std::str::FromStr as _;

use crate::hash::Hash;
use crate::id::RunId;
use crate::record::Record;
use crate::store::StoreError;

/// Largest body of a row. Unit: bytes. Why: what is read page by page has to stay small; most records are of hundreds.
pub const LARGE: usize = 256 << 10;

/// What a row has instead of a body begins so. No JSON does.
const MARK: &str = "@blob ";

/// The body's hash, if it lies beside the journal.
pub fn hash_of(body: &str) -> Option<Hash> {
    (body.len() > LARGE).then(|| Hash::of(body.as_bytes()))
}

/// What stands in the row of a body.
pub fn in_row(body: &str) -> String {
    hash_of(body).map_or_else(
        || body.to_owned(),
        |hash| format!("{MARK}{hash} {}", body.len()),
    )
}

/// Loads the bodies that are stored out of line into their records.
///
/// # Errors
///
/// Those of `blob`, and [`StoreError::Corrupt`] for a blob that is missing or has other bytes.
pub fn whole(
    run: &RunId,
    records: &mut [Record],
    mut blob: impl FnMut(&Hash) -> Result<Vec<u8>, StoreError>,
) -> Result<(), StoreError> {
    for record in records {
        let Some(hash) = lies(record) else { continue };
        let found = match blob(&hash) {
            Ok(bytes) => bytes,
            Err(StoreError::NotFound { .. } | StoreError::Corrupt { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        put(run, record, hash, found)?;
    }
    Ok(())
}

/// Where a record's body lies, if it isn't in its row.
pub fn lies(record: &Record) -> Option<Hash> {
    let (hash, _) = record.body.strip_prefix(MARK)?.split_once(' ')?;
    Hash::from_str(hash).ok()
}

/// Puts a body that was stored out of line into its record; empty bytes are none.
///
/// # Errors
///
/// [`StoreError::Corrupt`] if the bytes aren't those that the row names.
pub fn put(run: &RunId, record: &mut Record, hash: Hash, bytes: Vec<u8>) -> Result<(), StoreError> {
    let is_whole = Hash::of(&bytes) == hash;
    match String::from_utf8(bytes) {
        Ok(text) if is_whole => {
            record.body = text;
            Ok(())
        }
        _ => Err(StoreError::Corrupt {
            run: Some(run.clone()),
            seq: Some(record.seq),
            what: format!("its body, blob {hash}, is missing or has other bytes"),
        }),
    }
}
