//! Bytes under their hash, and folds under their run.

use super::fault::Fault;
use super::row;
use super::session::Session;
use crate::hash::Hash;
use crate::id::RunId;
use crate::store::StoreError;

pub(super) async fn put(session: &Session, bytes: &[u8]) -> Result<Hash, Fault> {
    let hash = Hash::of(bytes);
    let key = hash.bytes().as_slice();
    // Most are there already; asking is cheaper than sending them.
    let there = "SELECT 1 FROM statemark_blobs WHERE hash = $1";
    if session.query(there, &[&key]).await?.is_empty() {
        let sql = "INSERT INTO statemark_blobs (hash, bytes) VALUES ($1, $2)
            ON CONFLICT (hash) DO NOTHING";
        session.execute(sql, &[&key, &bytes]).await?;
    }
    Ok(hash)
}

pub(super) async fn get(session: &Session, hash: &Hash) -> Result<Vec<u8>, Fault> {
    let sql = "SELECT bytes FROM statemark_blobs WHERE hash = $1";
    let rows = session.query(sql, &[&hash.bytes().as_slice()]).await?;
    let found = rows.first().ok_or_else(|| StoreError::NotFound {
        what: format!("blob {hash}"),
    })?;
    let bytes: Vec<u8> = found.try_get(0)?;
    if Hash::of(&bytes) != *hash {
        return Err(Fault::Answer(StoreError::Corrupt {
            run: None,
            seq: None,
            what: format!("the blob {hash} has other bytes"),
        }));
    }
    Ok(bytes)
}

/// Holds the run's row meanwhile, so that no fold is left behind of a run that is being removed.
pub(super) async fn put_fold(
    session: &Session,
    run: &RunId,
    seq: u64,
    fold: &[u8],
) -> Result<(), Fault> {
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

pub(super) async fn fold(session: &Session, run: &RunId) -> Result<Option<(u64, Vec<u8>)>, Fault> {
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
