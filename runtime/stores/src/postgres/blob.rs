//! Bytes under their hash, and folds under their run.

use std::collections::BTreeSet;

use super::error::Failure;
use super::row;
use super::session::Session;
use statemark_runs::Hash;
use statemark_runs::RunId;
use statemark_runs::store::{StoreError, TOUCH_AFTER};

/// The server's time, if nobody turns the clock.
const NOW: &str = "coalesce($2::int8, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8)";

pub(super) async fn put(
    session: &Session,
    bytes: &[u8],
    now: Option<i64>,
) -> Result<Hash, Failure> {
    let hash = Hash::digest(bytes);
    let key = hash.as_bytes().as_slice();
    // Most are there already; asking is cheaper than sending them.
    let there = format!(
        "SELECT 1 FROM statemark_blobs WHERE hash = $1 AND kept > {NOW} - {TOUCH_AFTER}::int8"
    );
    if session.query(&there, &[&key, &now]).await?.is_empty() {
        keep(session, &hash, bytes, now).await?;
    }
    Ok(hash)
}

/// Keeps a blob, or says of one that is there that somebody has kept it now.
pub(super) async fn keep(
    session: &Session,
    hash: &Hash,
    bytes: &[u8],
    now: Option<i64>,
) -> Result<(), Failure> {
    let sql = format!(
        "INSERT INTO statemark_blobs (hash, bytes, kept) VALUES ($1, $3, {NOW})
            ON CONFLICT (hash) DO UPDATE SET kept = greatest(statemark_blobs.kept, excluded.kept)"
    );
    let key = hash.as_bytes().as_slice();
    session.execute(&sql, &[&key, &now, &bytes]).await?;
    Ok(())
}

/// Finds the blobs that aren't named and that nobody has kept for a while; removes them if asked.
pub(super) async fn sweep(
    session: &Session,
    named: &BTreeSet<Hash>,
    (idle, now): (i64, Option<i64>),
    really: bool,
) -> Result<Vec<Hash>, Failure> {
    let old =
        format!("SELECT hash FROM statemark_blobs WHERE kept < {NOW} - $1::int8 ORDER BY hash");
    let rows = session.query(&old, &[&idle, &now]).await?;
    let mut gone = Vec::new();
    for found in &rows {
        let hash = row::hash(found, 0)?;
        if named.contains(&hash) {
            continue;
        }
        if really {
            let sql =
                format!("DELETE FROM statemark_blobs WHERE hash = $3 AND kept < {NOW} - $1::int8");
            let key = hash.as_bytes().as_slice();
            session.execute(&sql, &[&idle, &now, &key]).await?;
        }
        gone.push(hash);
    }
    Ok(gone)
}

pub(super) async fn get(session: &Session, hash: &Hash) -> Result<Vec<u8>, Failure> {
    let sql = "SELECT bytes FROM statemark_blobs WHERE hash = $1";
    let rows = session.query(sql, &[&hash.as_bytes().as_slice()]).await?;
    let found = rows.first().ok_or_else(|| StoreError::NotFound {
        what: format!("blob {hash}"),
    })?;
    let bytes: Vec<u8> = found.try_get(0)?;
    if Hash::digest(&bytes) != *hash {
        return Err(Failure::Answer(StoreError::Corrupt {
            run: None,
            seq: None,
            what: format!("the blob {hash} has other bytes"),
        }));
    }
    Ok(bytes)
}

/// Holds the run's row meanwhile, so that no fold is left behind of a run that is being removed.
pub(super) async fn put_fold_cache(
    session: &Session,
    run: &RunId,
    seq: u64,
    fold: &[u8],
) -> Result<(), Failure> {
    let seq = row::stored("a seq", seq)?;
    session.begin().await?;
    let there = "SELECT 1 FROM statemark_runs WHERE run = $1 FOR UPDATE";
    if session.query(there, &[&run.as_str()]).await?.is_empty() {
        return Err(row::no_run(run));
    }
    let sql = "INSERT INTO statemark_folds (run, seq, fold) VALUES ($1, $2, $3)
        ON CONFLICT (run) DO UPDATE SET seq = excluded.seq, fold = excluded.fold";
    session.execute(sql, &[&run.as_str(), &seq, &fold]).await?;
    session.commit().await
}

pub(super) async fn fold(
    session: &Session,
    run: &RunId,
) -> Result<Option<(u64, Vec<u8>)>, Failure> {
    let sql = "SELECT folds.seq, folds.fold FROM statemark_runs runs
        LEFT JOIN statemark_folds folds ON folds.run = runs.run WHERE runs.run = $1";
    let rows = session.query(sql, &[&run.as_str()]).await?;
    let found = rows.first().ok_or_else(|| row::no_run(run))?;
    let seq: Option<i64> = found.try_get(0)?;
    if seq.is_none() {
        return Ok(None);
    }
    Ok(Some((row::number(found, 0)?, found.try_get(1)?)))
}
