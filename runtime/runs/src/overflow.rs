//! Out-of-line storage for large record bodies: the body is a blob, and the row has its hash and size.
//!
//! Only a store knows of it. A record that is read has its whole body, and its hash is that of the whole body, so that a
//! lost or changed blob is damage of that record.

use std::str::FromStr as _;

use crate::hash::Hash;
use crate::id::RunId;
use crate::record::Record;
use crate::store::StoreError;

/// Largest body in a row. Unit: bytes.
///
/// Why: pages of records have to stay small; most records are of hundreds of bytes.
pub const LARGE: usize = 256 << 10;

/// The mark that a row begins with in place of a body. No JSON begins so.
const MARK: &str = "@blob ";

/// Returns the hash of the blob that a body is stored as, if it is too large for a row.
pub fn blob_hash(body: &str) -> Option<Hash> {
    (body.len() > LARGE).then(|| Hash::digest(body.as_bytes()))
}

/// Returns the text that a row has for a body: the body itself, or a reference to its blob.
pub fn to_row(body: &str) -> String {
    blob_hash(body).map_or_else(
        || body.to_owned(),
        |hash| format!("{MARK}{hash} {}", body.len()),
    )
}

/// Loads the bodies that are stored out of line into their records.
///
/// # Errors
///
/// Those of `blob`, and [`StoreError::Corrupt`] for a blob that is missing or has other bytes.
pub fn load_bodies(
    run: &RunId,
    records: &mut [Record],
    mut blob: impl FnMut(&Hash) -> Result<Vec<u8>, StoreError>,
) -> Result<(), StoreError> {
    for record in records {
        let Some(hash) = blob_ref(record) else {
            continue;
        };
        let bytes = match blob(&hash) {
            Ok(bytes) => bytes,
            Err(StoreError::NotFound { .. } | StoreError::Corrupt { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        restore_body(run, record, hash, bytes)?;
    }
    Ok(())
}

/// Returns the hash of the blob that a record's row refers to, if its body is stored out of line.
pub fn blob_ref(record: &Record) -> Option<Hash> {
    let (hash, _) = record.body.strip_prefix(MARK)?.split_once(' ')?;
    Hash::from_str(hash).ok()
}

/// Puts a body that was stored out of line into its record; no bytes mean that the blob is missing.
///
/// # Errors
///
/// [`StoreError::Corrupt`] if the bytes aren't those that the row refers to.
pub fn restore_body(
    run: &RunId,
    record: &mut Record,
    hash: Hash,
    bytes: Vec<u8>,
) -> Result<(), StoreError> {
    let is_whole = Hash::digest(&bytes) == hash;
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
