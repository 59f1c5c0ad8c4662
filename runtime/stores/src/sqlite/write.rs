//! Writes, within a transaction that others have begun.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use super::error::Doing as _;
use super::read::{self, one, rows};
use super::row::{self, get, hash, int, number};
use statemark_runs::Hash;
use statemark_runs::RunId;
use statemark_runs::overflow;
use statemark_runs::store::{
    Append, Appended, DueTimer, Expect, Fence, JournalEnd, Lease, MAX_HOLD, PendingTimer,
    StoreError, surplus_caches,
};
use statemark_runs::{Record, chain};

fn run_sql(
    connection: &Connection,
    sql: &str,
    params: impl rusqlite::Params,
) -> Result<usize, StoreError> {
    let mut statement = connection.prepare_cached(sql).doing("writing")?;
    statement.execute(params).doing("writing")
}

fn end(connection: &Connection, run: &RunId) -> Result<Option<JournalEnd>, StoreError> {
    let sql = "SELECT seq, hash, fence FROM runs WHERE run = ?1";
    one(connection, sql, [run.as_str()], |row| {
        Ok(JournalEnd {
            seq: number(row, 0)?,
            hash: hash(row, 1)?,
            fence: number(row, 2)?,
        })
    })
}

/// Appends records to a run, or after a record of another run that it begins with.
pub(super) fn append(
    connection: &Connection,
    append: &Append,
    fork: Option<(&RunId, u64)>,
) -> Result<Appended, StoreError> {
    let start = match fork {
        Some((from, at)) => (at, hash_at(connection, from, at)?),
        None => (0, Hash::ZERO),
    };
    if let Some(done) = replayed(connection, append)? {
        return Ok(done);
    }
    if read::is_asleep(connection)? {
        return Err(StoreError::Asleep);
    }
    let end = end(connection, &append.run)?;
    let (after, last) = append.predecessor(end.as_ref(), start, fork.is_some())?;
    let key = append.key.as_ref();
    let (records, hash) = chain(&append.records, key.map(|key| &key.0), after, last);
    let (first, seq) = (after + 1, after + records.len() as u64);
    for record in &records {
        put_record(connection, &append.run, record)?;
    }
    if let Some((key, request)) = key {
        let sql = "INSERT INTO keys (run, key, request, first_seq, last_seq)
                   VALUES (?1, ?2, ?3, ?4, ?5)";
        let run = append.run.as_str();
        let row = params![run, key.as_str(), request.as_bytes(), int(first), int(seq)];
        run_sql(connection, sql, row)?;
    }
    put_head(connection, append, fork, &records, &hash)?;
    if end.is_none() {
        count_runs(connection, 1)?;
    }
    if let Some(timers) = &append.timers {
        put_timers(connection, &append.run, timers)?;
    }
    Ok(Appended::Done { first, last: seq })
}

/// Makes a run by several appends.
pub(super) fn make(
    connection: &Connection,
    from: Option<(&RunId, u64)>,
    appends: &[Append],
) -> Result<(), StoreError> {
    for (index, one) in appends.iter().enumerate() {
        let is_first = index == 0;
        let one = Append {
            expect: if is_first { Expect::NoRun } else { Expect::Any },
            ..one.clone()
        };
        let found = end(connection, &one.run)?.filter(|_| is_first);
        if let Some(JournalEnd { seq: actual, .. }) = found {
            return Err(StoreError::Conflict { actual });
        }
        one.expect_done(append(connection, &one, from.filter(|_| is_first))?)?;
    }
    Ok(())
}

/// Reads the hash of a record.
fn hash_at(connection: &Connection, run: &RunId, seq: u64) -> Result<Hash, StoreError> {
    let end = end(connection, run)?.ok_or_else(|| StoreError::missing_run(run))?;
    let before = seq.checked_sub(1).filter(|_| seq <= end.seq);
    let found = match before {
        Some(before) => read::records(connection, run, before, 1)?,
        None => Vec::new(),
    };
    found
        .first()
        .map(Record::hash)
        .ok_or_else(|| StoreError::missing_record(run, seq))
}

/// Returns the records of the same request, if it was made before.
fn replayed(connection: &Connection, append: &Append) -> Result<Option<Appended>, StoreError> {
    let Some((key, _)) = &append.key else {
        return Ok(None);
    };
    let seen = read::find_seen(connection, &append.run, key)?;
    seen.map(|seen| append.answer_repeated(&seen)).transpose()
}

fn put_record(connection: &Connection, run: &RunId, record: &Record) -> Result<(), StoreError> {
    let sql = "INSERT INTO records (run, seq, time, kind, v, role, name, session, key, body, prev)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let row = params![
        run.as_str(),
        int(record.seq),
        int(record.time),
        record.kind,
        record.v,
        record.actor.role.name(),
        record.actor.name,
        record.actor.session,
        record.key.as_ref().map(|key| key.as_str()),
        overflow::to_row(&record.body),
        record.prev.as_bytes(),
    ];
    run_sql(connection, sql, row)?;
    match overflow::blob_hash(&record.body) {
        Some(hash) => blob(connection, &hash, record.body.as_bytes(), None),
        None => Ok(()),
    }
}

/// Writes the head of a run, which lists show.
fn put_head(
    connection: &Connection,
    append: &Append,
    fork: Option<(&RunId, u64)>,
    records: &[Record],
    hash: &Hash,
) -> Result<(), StoreError> {
    let (Some(first), Some(last)) = (records.first(), records.last()) else {
        return Ok(());
    };
    let summary = &append.summary;
    let json = serde_json::to_string(summary).map_err(|error| StoreError::Invalid {
        what: format!("the summary can't be written: {error}"),
    })?;
    let version = next_version(connection)?;
    let run = append.run.as_str();
    let parent = summary.parent.as_ref().map(RunId::as_str);
    let sql = "INSERT INTO runs
        (run, seq, hash, created, updated, workflow, status, project, parent, summary, version,
         forked_run, forked_seq, fence, lease_owner, lease_until)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 0, NULL, 0)
        ON CONFLICT (run) DO UPDATE SET seq = excluded.seq, hash = excluded.hash,
            updated = excluded.updated, workflow = excluded.workflow, status = excluded.status,
            project = excluded.project, parent = excluded.parent, summary = excluded.summary,
            version = excluded.version";
    let row = params![
        run,
        int(last.seq),
        hash.as_bytes(),
        int(first.time),
        int(last.time),
        summary.workflow,
        summary.status,
        summary.project,
        parent,
        json,
        version,
        fork.map(|(from, _)| from.as_str()),
        fork.map(|(_, at)| int(at)),
    ];
    run_sql(connection, sql, row)?;
    Ok(())
}

/// Counts a change of the store.
fn next_version(connection: &Connection) -> Result<i64, StoreError> {
    let sql = "UPDATE counts SET value = value + 1 WHERE name = 'version' RETURNING value";
    one(connection, sql, [], |row| get(row, 0))?
        .ok_or_else(|| super::error::damaged("the count of changes is gone"))
}

/// Counts runs that are new, or gone.
fn count_runs(connection: &Connection, more: i64) -> Result<(), StoreError> {
    let sql = "UPDATE counts SET value = value + ?1 WHERE name = 'runs'";
    run_sql(connection, sql, [more]).map(drop)
}

/// Makes the timers of a run these. Those that somebody has claimed stay claimed.
fn put_timers(
    connection: &Connection,
    run: &RunId,
    timers: &[PendingTimer],
) -> Result<(), StoreError> {
    let sql = "SELECT due, name, seq FROM timers WHERE run = ?1";
    let found: BTreeSet<PendingTimer> =
        rows(connection, sql, [run.as_str()], |row| read::timer(row, 0))?
            .into_iter()
            .collect();
    let wanted: BTreeSet<PendingTimer> = timers.iter().cloned().map(storable).collect();
    for timer in found.difference(&wanted) {
        let sql = "DELETE FROM timers WHERE run = ?1 AND due = ?2 AND name = ?3 AND seq = ?4";
        let row = params![run.as_str(), int(timer.due), timer.name, int(timer.seq)];
        run_sql(connection, sql, row)?;
    }
    for timer in wanted.difference(&found) {
        let sql = "INSERT INTO timers (run, due, name, seq, claimed) VALUES (?1, ?2, ?3, ?4, 0)";
        let row = params![run.as_str(), int(timer.due), timer.name, int(timer.seq)];
        run_sql(connection, sql, row)?;
    }
    Ok(())
}

/// Returns the timer as a row can hold it.
fn storable(timer: PendingTimer) -> PendingTimer {
    PendingTimer {
        due: int(timer.due).unsigned_abs(),
        ..timer
    }
}

/// Gives timers to whoever asked, until then.
pub(super) fn claim(
    connection: &Connection,
    due: &[DueTimer],
    until: u64,
) -> Result<(), StoreError> {
    let sql = "UPDATE timers SET claimed = ?5
               WHERE run = ?1 AND due = ?2 AND name = ?3 AND seq = ?4";
    for DueTimer { run, timer } in due {
        let row = params![
            run.as_str(),
            int(timer.due),
            timer.name,
            int(timer.seq),
            int(until)
        ];
        run_sql(connection, sql, row)?;
    }
    Ok(())
}

pub(super) fn lease(
    connection: &Connection,
    run: &RunId,
    owner: &str,
    milliseconds: u64,
    now: u64,
) -> Result<Lease, StoreError> {
    let sql = "SELECT fence, lease_owner, lease_until FROM runs WHERE run = ?1";
    let found = one(connection, sql, [run.as_str()], |row| {
        Ok((
            number(row, 0)?,
            get::<Option<String>>(row, 1)?,
            number(row, 2)?,
        ))
    })?;
    let (fence, holder, until) = found.ok_or_else(|| StoreError::missing_run(run))?;
    let fence = match holder.filter(|_| until > now) {
        Some(by) if by != owner && until - now <= MAX_HOLD => {
            let until = Some(until);
            return Err(StoreError::Busy { by, until });
        }
        Some(by) if by == owner => fence,
        _ => fence + 1,
    };
    let until = now.saturating_add(milliseconds.min(MAX_HOLD));
    let sql = "UPDATE runs SET fence = ?2, lease_owner = ?3, lease_until = ?4 WHERE run = ?1";
    let row = params![run.as_str(), int(fence), owner, int(until)];
    run_sql(connection, sql, row)?;
    Ok(Lease {
        run: run.clone(),
        owner: owner.to_owned(),
        fence: Fence(fence),
        until,
    })
}

pub(super) fn release(connection: &Connection, lease: &Lease) -> Result<(), StoreError> {
    let run = lease.run.as_str();
    end(connection, &lease.run)?.ok_or_else(|| StoreError::missing_run(&lease.run))?;
    let sql = "UPDATE runs SET lease_owner = NULL, lease_until = 0
               WHERE run = ?1 AND fence = ?2 AND lease_owner = ?3";
    run_sql(
        connection,
        sql,
        params![run, int(lease.fence.0), lease.owner],
    )?;
    Ok(())
}

/// Keeps a blob, or says of one that is there that somebody has kept it now.
pub(super) fn blob(
    connection: &Connection,
    hash: &Hash,
    bytes: &[u8],
    now: Option<u64>,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO blobs (hash, bytes, kept)
               VALUES (?1, ?2, coalesce(?3, CAST(unixepoch('subsec') * 1000 AS INTEGER)))
               ON CONFLICT (hash) DO UPDATE SET kept = max(kept, excluded.kept)";
    run_sql(
        connection,
        sql,
        params![hash.as_bytes(), bytes, now.map(int)],
    )?;
    Ok(())
}

/// Removes blobs.
pub(super) fn sweep(connection: &Connection, blobs: &[Hash]) -> Result<(), StoreError> {
    for hash in blobs {
        let sql = "DELETE FROM blobs WHERE hash = ?1";
        run_sql(connection, sql, [hash.as_bytes()])?;
    }
    Ok(())
}

pub(super) fn fold(
    connection: &Connection,
    run: &RunId,
    seq: u64,
    bytes: &[u8],
) -> Result<(), StoreError> {
    end(connection, run)?.ok_or_else(|| StoreError::missing_run(run))?;
    let id = run.as_str();
    let newest = "SELECT seq FROM folds WHERE run = ?1";
    let newest = one(connection, newest, [id], |row| number(row, 0))?.unwrap_or(0);
    let table = if newest <= seq {
        "folds"
    } else {
        "older_folds"
    };
    if newest < seq {
        let sql =
            "INSERT OR REPLACE INTO older_folds SELECT run, seq, bytes FROM folds WHERE run = ?1";
        run_sql(connection, sql, [id])?;
    }
    let sql = format!("INSERT OR REPLACE INTO {table} (run, seq, bytes) VALUES (?1, ?2, ?3)");
    run_sql(connection, &sql, params![id, int(seq), bytes])?;
    let sql = "SELECT seq, length(bytes) FROM older_folds WHERE run = ?1 ORDER BY seq";
    let older = rows(connection, sql, [id], |row| {
        Ok((number(row, 0)?, number(row, 1)?))
    })?;
    for surplus in surplus_caches(&older, newest.max(seq)) {
        let sql = "DELETE FROM older_folds WHERE run = ?1 AND seq = ?2";
        run_sql(connection, sql, params![id, int(surplus)])?;
    }
    Ok(())
}

pub(super) fn remove(
    connection: &Connection,
    run: &RunId,
    expect: Expect,
) -> Result<(), StoreError> {
    let end = end(connection, run)?.ok_or_else(|| StoreError::missing_run(run))?;
    if !expect.is_met_by(end.seq, end.hash) {
        return Err(StoreError::Conflict { actual: end.seq });
    }
    let sql = "SELECT run FROM runs WHERE forked_run = ?1 ORDER BY run LIMIT 1";
    if let Some(fork) = one(connection, sql, [run.as_str()], |row| row::run(row, 0))? {
        let what = format!("run `{fork}` is a fork of `{run}`");
        return Err(StoreError::Invalid { what });
    }
    for table in ["records", "keys", "timers", "folds", "older_folds", "runs"] {
        let sql = format!("DELETE FROM {table} WHERE run = ?1");
        run_sql(connection, &sql, [run.as_str()])?;
    }
    count_runs(connection, -1)?;
    next_version(connection)?;
    Ok(())
}
