//! Rows as values, and values as they stand in rows.

use rusqlite::Row;
use rusqlite::types::FromSql;

use super::error::{Doing as _, damaged};
use statemark_runs::Hash;
use statemark_runs::Record;
use statemark_runs::RunId;
use statemark_runs::store::{Head, RunSummary, StoreError};
use statemark_runs::{Actor, Role};

/// The columns that [`head`] reads.
pub(super) const HEAD: &str = "run, seq, hash, created, updated, forked_run, forked_seq, summary";

/// The columns that [`record`] reads.
pub(super) const RECORD: &str = "seq, time, kind, v, role, name, session, key, body, prev";

/// Returns a column's value.
pub(super) fn get<T: FromSql>(row: &Row<'_>, index: usize) -> Result<T, StoreError> {
    row.get(index).doing("reading a row")
}

/// Converts a time or a seq for a row.
/// [`Append::check`](crate::Append::check) has seen to it that seqs are small enough; a timer in 300 million years is
/// as late as can be.
pub(super) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Reads a number.
pub(super) fn number(row: &Row<'_>, index: usize) -> Result<u64, StoreError> {
    u64::try_from(get::<i64>(row, index)?).map_err(|_| damaged("a number below zero"))
}

/// Reads a hash.
pub(super) fn hash(row: &Row<'_>, index: usize) -> Result<Hash, StoreError> {
    let bytes: [u8; 32] = row.get(index).doing("reading a hash")?;
    Ok(Hash::from_bytes(bytes))
}

/// Reads the id of a run.
pub(super) fn run(row: &Row<'_>, index: usize) -> Result<RunId, StoreError> {
    let text: String = get(row, index)?;
    RunId::from_stored(&text).map_err(|error| damaged(format!("`{text}`: {error}")))
}

/// Returns the end of a run.
pub(super) fn head(row: &Row<'_>) -> Result<Head, StoreError> {
    let id = run(row, 0)?;
    let forked = match get::<Option<String>>(row, 5)? {
        Some(_) => Some((run(row, 5)?, number(row, 6)?)),
        None => None,
    };
    let summary: String = get(row, 7)?;
    let summary: RunSummary =
        serde_json::from_str(&summary).map_err(|error| StoreError::Corrupt {
            run: Some(id.clone()),
            seq: None,
            what: format!("its summary can't be read: {error}"),
        })?;
    Ok(Head {
        run: id,
        seq: number(row, 1)?,
        hash: hash(row, 2)?,
        created: number(row, 3)?,
        updated: number(row, 4)?,
        forked,
        summary,
    })
}

/// Reads a record.
pub(super) fn record(row: &Row<'_>) -> Result<Record, StoreError> {
    let role: String = get(row, 4)?;
    let key: Option<String> = get(row, 7)?;
    Ok(Record {
        seq: number(row, 0)?,
        time: number(row, 1)?,
        kind: get(row, 2)?,
        v: get(row, 3)?,
        actor: Actor {
            role: Role::from_name(&role).ok_or_else(|| damaged(format!("no role is `{role}`")))?,
            name: get(row, 5)?,
            session: get(row, 6)?,
        },
        key: key
            .map(|key| key.parse())
            .transpose()
            .map_err(|error| damaged(format!("a key: {error}")))?,
        body: get(row, 8)?,
        prev: hash(row, 9)?,
    })
}
