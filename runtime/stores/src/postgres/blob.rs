//! Bytes under their hash, and folds under their run.

use std::collections::BTreeSet;

use tokio_postgres::Row;

use super::error::Failure;
use super::row;
use super::session::Session;
use statemark_runs::Hash;
use statemark_runs::RunId;
use statemark_runs::store::{StoreError, TOUCH_AFTER, surplus_caches};

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
    let (id, new) = (run.as_str(), row::stored("a seq", seq)?);
    session.begin().await?;
    let there = "SELECT 1 FROM statemark_runs WHERE run = $1 FOR UPDATE";
    if session.query(there, &[&id]).await?.is_empty() {
        return Err(row::no_run(run));
    }
    let newest = "SELECT seq FROM statemark_folds WHERE run = $1";
    let newest = session.query(newest, &[&id]).await?;
    let newest = newest.first().map(|found| row::number(found, 0));
    let newest = newest.transpose()?.unwrap_or(0);
    if newest < seq {
        let sql = "INSERT INTO statemark_older_folds (run, seq, fold)
            SELECT run, seq, fold FROM statemark_folds WHERE run = $1
            ON CONFLICT (run, seq) DO UPDATE SET fold = excluded.fold";
        session.execute(sql, &[&id]).await?;
    }
    let sql = if newest <= seq {
        "INSERT INTO statemark_folds (run, seq, fold) VALUES ($1, $2, $3)
        ON CONFLICT (run) DO UPDATE SET seq = excluded.seq, fold = excluded.fold"
    } else {
        "INSERT INTO statemark_older_folds (run, seq, fold) VALUES ($1, $2, $3)
        ON CONFLICT (run, seq) DO UPDATE SET fold = excluded.fold"
    };
    session.execute(sql, &[&id, &new, &fold]).await?;
    let sql = "SELECT seq, octet_length(fold)::int8 FROM statemark_older_folds
        WHERE run = $1 ORDER BY seq";
    let older = session.query(sql, &[&id]).await?;
    let sizes = older
        .iter()
        .map(|found| Ok((row::number(found, 0)?, row::number(found, 1)?)));
    let older = sizes.collect::<Result<Vec<_>, Failure>>()?;
    for surplus in surplus_caches(&older, newest.max(seq)) {
        let sql = "DELETE FROM statemark_older_folds WHERE run = $1 AND seq = $2";
        let surplus = row::stored("a seq", surplus)?;
        session.execute(sql, &[&id, &surplus]).await?;
    }
    session.commit().await
}

/// Returns the newest fold of a run up to a record.
pub(super) async fn fold(
    session: &Session,
    run: &RunId,
    upto: u64,
) -> Result<Option<(u64, Vec<u8>)>, Failure> {
    let upto = i64::try_from(upto).unwrap_or(i64::MAX);
    let sql = "SELECT folds.seq, folds.fold FROM statemark_runs runs
        LEFT JOIN statemark_folds folds ON folds.run = runs.run AND folds.seq <= $2
        WHERE runs.run = $1";
    let rows = session.query(sql, &[&run.as_str(), &upto]).await?;
    let found = rows.first().ok_or_else(|| row::no_run(run))?;
    if found.try_get::<_, Option<i64>>(0)?.is_some() {
        return Ok(Some((row::number(found, 0)?, found.try_get(1)?)));
    }
    let sql = "SELECT seq, fold FROM statemark_older_folds
        WHERE run = $1 AND seq <= $2 ORDER BY seq DESC LIMIT 1";
    let rows = session.query(sql, &[&run.as_str(), &upto]).await?;
    let found = rows.first();
    let read = |found: &Row| Ok((row::number(found, 0)?, found.try_get(1)?));
    found.map(read).transpose()
}
