//! Reading one run: its head, its records and its keys.

use tokio::join;

use super::blob;
use super::error::Failure;
use super::row;
use super::session::{Params, Session};
use statemark_runs::Record;
use statemark_runs::overflow;
use statemark_runs::store::{Expect, Head, KeyUse, MAX_PAGE, StoreError};
use statemark_runs::{Key, RunId};

pub(super) async fn head(session: &Session, run: &RunId) -> Result<Head, Failure> {
    let columns = row::HEAD;
    let sql = format!("SELECT {columns} FROM statemark_runs WHERE run = $1");
    let rows = session.query(&sql, &[&run.as_str()]).await?;
    row::head(rows.first().ok_or_else(|| row::no_run(run))?)
}

pub(super) async fn find_seen(
    session: &Session,
    run: &RunId,
    key: &Key,
) -> Result<Option<KeyUse>, Failure> {
    let params: [&str; 2] = [run.as_str(), key.as_str()];
    let rows = session.query(SEEN, &[&params[0], &params[1]]).await?;
    rows.first().map(read_seen).transpose()
}

/// The records that were written under a key.
pub(super) const SEEN: &str =
    "SELECT request, first_seq, last_seq FROM statemark_keys WHERE run = $1 AND key = $2";

pub(super) fn read_seen(found: &tokio_postgres::Row) -> Result<KeyUse, Failure> {
    Ok(KeyUse {
        request: row::hash(found, 0)?,
        first: row::number(found, 1)?,
        last: row::number(found, 2)?,
    })
}

/// Reads the records after one.
/// Those that a fork shares are its ancestors'.
pub(super) async fn page(
    session: &Session,
    run: &RunId,
    after: u64,
    limit: usize,
) -> Result<Vec<Record>, Failure> {
    let limit = limit.min(MAX_PAGE);
    let own = own_sql();
    let (forks, own) = (session.prepare(FORK).await?, session.prepare(&own).await?);
    // A number that is too large for the database comes after every record.
    let start = i64::try_from(after).unwrap_or(i64::MAX);
    let most = i64::try_from(limit).unwrap_or(i64::MAX);
    let id = run.as_str();
    let of_run: Params<'_> = &[&id];
    let range: Params<'_> = &[&id, &start, &i64::MAX, &most];
    let (fork, mine) = join!(
        biased;
        session.rows(&forks, of_run),
        session.rows(&own, range),
    );
    let fork = fork?;
    let fork = row::forked(fork.first().ok_or_else(|| row::no_run(run))?, 0)?;
    let mut records = match fork {
        Some((from, at)) if after < at => shared(session, from, after, at, limit).await?,
        _ => Vec::new(),
    };
    for found in mine?.iter().take(limit.saturating_sub(records.len())) {
        records.push(row::record(run, found)?);
    }
    for record in &mut records {
        if let Some(hash) = overflow::blob_ref(record) {
            let bytes = match blob::get(session, &hash).await {
                Err(Failure::Answer(StoreError::NotFound { .. } | StoreError::Corrupt { .. })) => {
                    Vec::new()
                }
                found => found?,
            };
            overflow::restore_body(run, record, hash, bytes)?;
        }
    }
    Ok(records)
}

const FORK: &str = "SELECT forked_from, forked_at FROM statemark_runs WHERE run = $1";

fn own_sql() -> String {
    let columns = row::RECORD;
    format!(
        "SELECT {columns} FROM statemark_records
            WHERE run = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4"
    )
}

/// Reads the records of a run and its ancestors after one, up to another.
async fn shared(
    session: &Session,
    run: RunId,
    after: u64,
    upto: u64,
    limit: usize,
) -> Result<Vec<Record>, Failure> {
    let mut parts = vec![(run, upto)];
    while let Some((run, upto)) = parts.last() {
        let fork = session.query(FORK, &[&run.as_str()]).await?;
        let fork = row::forked(fork.first().ok_or_else(|| row::no_run(run))?, 0)?;
        match fork {
            Some((from, at)) if after < at => {
                let upto = at.min(*upto);
                parts.push((from, upto));
            }
            _ => break,
        }
    }
    let sql = own_sql();
    let mut records = Vec::new();
    for (run, upto) in parts.iter().rev() {
        let most = i64::try_from(limit.saturating_sub(records.len())).unwrap_or(i64::MAX);
        let [after, upto] = [after, *upto].map(|seq| i64::try_from(seq).unwrap_or(i64::MAX));
        let rows = session
            .query(&sql, &[&run.as_str(), &after, &upto, &most])
            .await?;
        for found in &rows {
            records.push(row::record(run, found)?);
        }
    }
    Ok(records)
}

/// Reads one record of a run, wherever among its ancestors it is.
pub(super) async fn one(
    session: &Session,
    run: &RunId,
    seq: u64,
) -> Result<Option<Record>, Failure> {
    let Some(after) = seq.checked_sub(1) else {
        return Ok(None);
    };
    let found = page(session, run, after, 1).await?;
    Ok(found.into_iter().find(|record| record.seq == seq))
}

/// Removes a run.
/// The run's row is locked from the first statement on, as by a caller that forks it.
pub(super) async fn remove(session: &Session, run: &RunId, expect: Expect) -> Result<(), Failure> {
    session.begin().await?;
    let there = "SELECT seq, hash FROM statemark_runs WHERE run = $1 FOR UPDATE";
    let found = session.query(there, &[&run.as_str()]).await?;
    let end = found.first().ok_or_else(|| row::no_run(run))?;
    let (seq, hash) = (row::number(end, 0)?, row::hash(end, 1)?);
    if !expect.is_met_by(seq, hash) {
        return Err(Failure::Answer(StoreError::Conflict { actual: seq }));
    }
    let forks = "SELECT run FROM statemark_runs WHERE forked_from = $1 ORDER BY run LIMIT 1";
    if let Some(fork) = session.query(forks, &[&run.as_str()]).await?.first() {
        let fork = row::run(fork, 0)?;
        let what = format!("run `{fork}` is a fork of `{run}`");
        return Err(Failure::Answer(StoreError::Invalid { what }));
    }
    for table in ["records", "keys", "timers", "folds", "older_folds", "runs"] {
        let sql = format!("DELETE FROM statemark_{table} WHERE run = $1");
        session.execute(&sql, &[&run.as_str()]).await?;
    }
    session.commit().await
}
