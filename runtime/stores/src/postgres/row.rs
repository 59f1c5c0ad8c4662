//! Numbers, names and JSON in rows, and back.

use serde::de::DeserializeOwned;
use tokio_postgres::Row;

use super::error::Failure;
use statemark_runs::Hash;
use statemark_runs::Record;
use statemark_runs::store::{Head, StoreError};
use statemark_runs::{Key, RunId};

/// The columns of a head, in the order in which [`head`] reads them.
pub(super) const HEAD: &str = "run, seq, hash, created, updated, forked_from, forked_at, summary";

/// The columns of a record, in the order in which [`record`] reads them.
pub(super) const RECORD: &str = "seq, time, kind, v, actor, key, body, prev";

/// Returns a number as the database keeps it.
pub(super) fn stored(what: &str, number: u64) -> Result<i64, StoreError> {
    i64::try_from(number).map_err(|_| StoreError::Invalid {
        what: format!("{what} of {number} is more than this store can keep"),
    })
}

/// Reads a number.
pub(super) fn number(row: &Row, column: usize) -> Result<u64, Failure> {
    let number: i64 = row.try_get(column)?;
    u64::try_from(number).map_err(|_| corrupt(format!("a number below zero ({number})")))
}

/// Reads a hash.
pub(super) fn hash(row: &Row, column: usize) -> Result<Hash, Failure> {
    let bytes: &[u8] = row.try_get(column)?;
    let bytes = <[u8; 32]>::try_from(bytes);
    let bytes = bytes.map_err(|_| corrupt("a hash that isn't 32 bytes long".to_owned()))?;
    Ok(Hash::from_bytes(bytes))
}

/// Reads the id of a run.
pub(super) fn run(row: &Row, column: usize) -> Result<RunId, Failure> {
    let text: &str = row.try_get(column)?;
    RunId::from_stored(text).map_err(|error| corrupt(format!("`{text}`: {error}")))
}

/// Reads the run and the record that a run was forked from, from two columns.
pub(super) fn forked(row: &Row, column: usize) -> Result<Option<(RunId, u64)>, Failure> {
    let from: Option<&str> = row.try_get(column)?;
    if from.is_none() {
        return Ok(None);
    }
    Ok(Some((run(row, column)?, number(row, column + 1)?)))
}

/// Returns the end of a run's journal.
pub(super) fn head(row: &Row) -> Result<Head, Failure> {
    let run = run(row, 0)?;
    let read = || {
        Ok(Head {
            run: run.clone(),
            seq: number(row, 1)?,
            hash: hash(row, 2)?,
            created: number(row, 3)?,
            updated: number(row, 4)?,
            forked: forked(row, 5)?,
            summary: json(row, 7, "what lists show of it")?,
        })
    };
    read().map_err(|fault| located(fault, &run, None))
}

/// Returns an entry of a run's journal.
pub(super) fn record(run: &RunId, row: &Row) -> Result<Record, Failure> {
    let seq = number(row, 0)?;
    let read = || {
        let v: i64 = row.try_get(3)?;
        let key: Option<&str> = row.try_get(5)?;
        let key = key.map(str::parse::<Key>).transpose();
        Ok(Record {
            seq,
            time: number(row, 1)?,
            kind: row.try_get(2)?,
            v: u16::try_from(v).map_err(|_| corrupt(format!("the version {v}")))?,
            actor: json(row, 4, "who wrote it")?,
            key: key.map_err(|error| corrupt(error.to_string()))?,
            body: row.try_get(6)?,
            prev: hash(row, 7)?,
        })
    };
    read().map_err(|fault| located(fault, run, Some(seq)))
}

fn json<T: DeserializeOwned>(row: &Row, column: usize, what: &str) -> Result<T, Failure> {
    let text: &str = row.try_get(column)?;
    serde_json::from_str(text).map_err(|error| corrupt(format!("{what} isn't readable: {error}")))
}

/// Returns JSON for a column.
pub(super) fn to_json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Invalid {
        what: error.to_string(),
    })
}

fn corrupt(what: String) -> Failure {
    Failure::Answer(StoreError::Corrupt {
        run: None,
        seq: None,
        what,
    })
}

/// Adds the position to a damage.
fn located(fault: Failure, run: &RunId, at: Option<u64>) -> Failure {
    match fault {
        Failure::Answer(StoreError::Corrupt { what, .. }) => Failure::Answer(StoreError::Corrupt {
            run: Some(run.clone()),
            seq: at,
            what,
        }),
        other => other,
    }
}

/// Returns the failure for a run that doesn't exist.
pub(super) fn no_run(run: &RunId) -> Failure {
    StoreError::missing_run(run).into()
}
