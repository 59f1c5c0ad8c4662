//! Reads, within a transaction that others have begun.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};

use super::error::{Doing as _, damaged};
use super::row::{self, HEAD, RECORD, get, hash, int, number};
use statemark_runs::Hash;
use statemark_runs::Record;
use statemark_runs::overflow;
use statemark_runs::store::{
    Cursor, Derived, DueTimer, Head, Hint, KeyUse, MAX_HOLD, MAX_PAGE, Page, PendingTimer, Query,
    REQUESTS_MARK, StoreError, Watermark,
};
use statemark_runs::{Key, RunId};

/// Most runs that a fork descends from. Why: a damaged file mustn't lead in a circle.
const MAX_ANCESTORS: usize = 65_536;

/// The condition that leaves out the store's own journal, which is no run.
const NOT_JOURNAL: &str = "run <> '$store'";

/// Returns the rows of a query, each as a value.
pub(super) fn rows<T>(
    connection: &Connection,
    sql: &str,
    params: impl rusqlite::Params,
    read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql).doing("reading")?;
    let mut rows = statement.query(params).doing("reading")?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().doing("reading")? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// Reads the row of a query that has one at most.
pub(super) fn one<T>(
    connection: &Connection,
    sql: &str,
    params: impl rusqlite::Params,
    read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql).doing("reading")?;
    statement
        .query_row(params, |row| Ok(read(row)))
        .optional()
        .doing("reading")?
        .transpose()
}

pub(super) fn head(connection: &Connection, run: &RunId) -> Result<Head, StoreError> {
    let sql = format!("SELECT {HEAD} FROM runs WHERE run = ?1");
    one(connection, &sql, [run.as_str()], row::head)?.ok_or_else(|| StoreError::missing_run(run))
}

/// The last record of a run, and the record of the run from which it was forked.
type Extent = (u64, Option<(RunId, u64)>);

fn extent(connection: &Connection, run: &RunId) -> Result<Option<Extent>, StoreError> {
    let sql = "SELECT seq, forked_run, forked_seq FROM runs WHERE run = ?1";
    one(connection, sql, [run.as_str()], |row| {
        let forked = match get::<Option<String>>(row, 1)? {
            Some(_) => Some((row::run(row, 1)?, number(row, 2)?)),
            None => None,
        };
        Ok((number(row, 0)?, forked))
    })
}

/// Reads the records after one.
/// They lie with the runs that a fork descends from, the oldest first.
pub(super) fn records(
    connection: &Connection,
    run: &RunId,
    after: u64,
    limit: usize,
) -> Result<Vec<Record>, StoreError> {
    let (last, mut forked) =
        extent(connection, run)?.ok_or_else(|| StoreError::missing_run(run))?;
    let limit = limit.min(MAX_PAGE) as u64;
    let last = last.min(after.saturating_add(limit));
    let mut parts: Vec<(RunId, u64, u64)> = Vec::new();
    let (mut owner, mut upto) = (run.clone(), last);
    for _ in 0..MAX_ANCESTORS {
        let before = forked.as_ref().map_or(0, |(_, at)| *at);
        if after.max(before) < upto {
            parts.push((owner, after.max(before), upto));
        }
        let Some((parent, at)) = forked.take().filter(|(_, at)| after < *at) else {
            parts.reverse();
            return joined(connection, run, after, last, &parts);
        };
        upto = upto.min(at);
        forked = extent(connection, &parent)?
            .ok_or_else(|| {
                lost(
                    run,
                    None,
                    format!("run `{parent}`, which it began with, is gone"),
                )
            })?
            .1;
        owner = parent;
    }
    Err(lost(run, None, "its forks lead in a circle".to_owned()))
}

/// Returns the parts one behind another: (run, after, upto).
/// A gap is damage.
fn joined(
    connection: &Connection,
    run: &RunId,
    after: u64,
    last: u64,
    parts: &[(RunId, u64, u64)],
) -> Result<Vec<Record>, StoreError> {
    let sql = format!(
        "SELECT {RECORD} FROM records WHERE run = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq"
    );
    let mut records = Vec::new();
    for (owner, after, upto) in parts {
        let range = params![owner.as_str(), int(*after), int(*upto)];
        records.extend(rows(connection, &sql, range, row::record)?);
    }
    let mut found = records.iter().map(|record: &Record| record.seq);
    match (after.saturating_add(1)..=last).find(|seq| found.next() != Some(*seq)) {
        Some(seq) => Err(lost(run, Some(seq), "the record is missing".to_owned())),
        None => {
            overflow::load_bodies(run, &mut records, |hash| blob(connection, hash))?;
            Ok(records)
        }
    }
}

fn lost(run: &RunId, seq: Option<u64>, what: String) -> StoreError {
    StoreError::Corrupt {
        run: Some(run.clone()),
        seq,
        what,
    }
}

pub(super) fn find_seen(
    connection: &Connection,
    run: &RunId,
    key: &Key,
) -> Result<Option<KeyUse>, StoreError> {
    let sql = "SELECT request, first_seq, last_seq FROM keys WHERE run = ?1 AND key = ?2";
    one(connection, sql, [run.as_str(), key.as_str()], |row| {
        Ok(KeyUse {
            request: hash(row, 0)?,
            first: number(row, 1)?,
            last: number(row, 2)?,
        })
    })
}

pub(super) fn list(connection: &Connection, query: &Query) -> Result<Page, StoreError> {
    let limit = query.limit.clamp(1, MAX_PAGE);
    // Runs of one status lie in order in their index. Those of several don't, so each status is read by itself.
    let statuses = match &query.workflow {
        _ if narrows(query) => Vec::new(),
        Some(workflow) if query.statuses.is_empty() => statuses_of(connection, workflow)?,
        _ => query.statuses.clone(),
    };
    let mut heads = Vec::new();
    if statuses.is_empty() {
        heads = list_part(connection, query, &query.statuses, limit)?;
    } else {
        for status in statuses.iter().collect::<BTreeSet<_>>() {
            heads.extend(list_part(
                connection,
                query,
                std::slice::from_ref(status),
                limit,
            )?);
        }
        heads.sort_by(|one, other| (other.updated, &other.run).cmp(&(one.updated, &one.run)));
    }
    let more = heads.len() > limit;
    heads.truncate(limit);
    let next = heads.last().filter(|_| more).map(|head| Cursor {
        updated: head.updated,
        run: head.run.clone(),
    });
    Ok(Page { heads, next })
}

/// Reports whether the list has an index that leaves few runs, whatever their statuses are.
const fn narrows(query: &Query) -> bool {
    query.has_requests || query.parent.is_some() || query.forked.is_some()
}

/// Returns the statuses that runs of a workflow have, each found in the index after the one before.
fn statuses_of(connection: &Connection, workflow: &str) -> Result<Vec<String>, StoreError> {
    let mut statuses: Vec<String> = Vec::new();
    let mut sql = "SELECT min(status) FROM runs WHERE workflow = ?1 AND status >= ?2";
    loop {
        let row = params![workflow, statuses.last().map_or("", String::as_str)];
        match one(connection, sql, row, |row| get::<Option<String>>(row, 0))?.flatten() {
            Some(status) => statuses.push(status),
            None => return Ok(statuses),
        }
        sql = "SELECT min(status) FROM runs WHERE workflow = ?1 AND status > ?2";
    }
}

/// Reads runs of a list, one more than the limit if there are more.
fn list_part(
    connection: &Connection,
    query: &Query,
    statuses: &[String],
    limit: usize,
) -> Result<Vec<Head>, StoreError> {
    let mut values: Vec<Value> = Vec::new();
    let mut conditions: Vec<String> = vec![NOT_JOURNAL.to_owned()];
    let text = |text: &str| Value::Text(text.to_owned());
    // The sign keeps a column's index out of it where another one selects fewer runs.
    let sign = if narrows(query) { "+" } else { "" };
    if !statuses.is_empty() {
        let marks = vec!["?"; statuses.len()].join(", ");
        conditions.push(format!("{sign}status IN ({marks})"));
        values.extend(statuses.iter().map(|status| text(status)));
    }
    let parent = query.parent.as_ref().map(RunId::as_str);
    let forked = query.forked.as_ref().map(RunId::as_str);
    let equal = [
        (sign, "workflow", query.workflow.as_deref()),
        (sign, "project", query.project.as_deref()),
        ("", "parent", parent),
        ("", "forked_run", forked),
    ];
    for (sign, column, wanted) in equal {
        if let Some(wanted) = wanted {
            conditions.push(format!("{sign}{column} = ?"));
            values.push(text(wanted));
        }
    }
    if query.has_requests {
        conditions.push(format!("instr(summary, '{REQUESTS_MARK}') > 0"));
    }
    if let Some(prefix) = &query.prefix {
        conditions.push("substr(run, 1, length(?)) = ?".to_owned());
        values.extend([text(prefix), text(prefix)]);
    }
    if let Some(Cursor { updated, run }) = &query.after {
        conditions.push("(updated, run) < (?, ?)".to_owned());
        values.extend([Value::Integer(int(*updated)), text(run.as_str())]);
    }
    let conditions = conditions.join(" AND ");
    // One more tells whether there are more.
    let sql = format!(
        "SELECT {HEAD} FROM runs WHERE {conditions} ORDER BY updated DESC, run DESC LIMIT {}",
        limit + 1
    );
    rows(connection, &sql, params_from_iter(values), row::head)
}

/// Returns the number of runs of each status.
pub(super) fn counts(connection: &Connection) -> Result<BTreeMap<String, u64>, StoreError> {
    let sql = format!("SELECT status, count(*) FROM runs WHERE {NOT_JOURNAL} GROUP BY status");
    let counts = rows(connection, &sql, [], |row| {
        Ok((get(row, 0)?, number(row, 1)?))
    })?;
    Ok(counts.into_iter().collect())
}

/// The condition of a timer that nobody has.
///
/// One that is claimed for longer than anybody may was claimed by a clock that was ahead. Those of a copy sleep.
const FREE: &str = "(claimed <= ?1 OR claimed > ?2 AND claimed < 9223372036854775807)";

/// Timers that are due and that nobody has.
pub(super) fn due(
    connection: &Connection,
    now: u64,
    limit: usize,
    clock: u64,
) -> Result<Vec<DueTimer>, StoreError> {
    let sql = format!(
        "SELECT run, due, name, seq FROM timers WHERE due <= ?3 AND {FREE}
         ORDER BY due, name, seq, run LIMIT ?4"
    );
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let longest = clock.saturating_add(MAX_HOLD);
    rows(
        connection,
        &sql,
        params![int(clock), int(longest), int(now), limit],
        |row| {
            Ok(DueTimer {
                run: row::run(row, 0)?,
                timer: timer(row, 1)?,
            })
        },
    )
}

/// Reads the timer that begins at a column.
pub(super) fn timer(row: &Row<'_>, at: usize) -> Result<PendingTimer, StoreError> {
    Ok(PendingTimer {
        due: number(row, at)?,
        name: get(row, at + 1)?,
        seq: number(row, at + 2)?,
    })
}

pub(super) fn next_due(connection: &Connection, clock: u64) -> Result<Option<u64>, StoreError> {
    let sql = format!("SELECT due FROM timers WHERE {FREE} ORDER BY due LIMIT 1");
    let longest = clock.saturating_add(MAX_HOLD);
    one(connection, &sql, [int(clock), int(longest)], |row| {
        number(row, 0)
    })
}

/// Returns a number that changes when another connection has changed the file.
/// It costs no access to the file's pages.
pub(super) fn file_version(connection: &Connection) -> Result<i64, StoreError> {
    one(connection, "PRAGMA data_version", [], |row| get(row, 0))?
        .ok_or_else(|| damaged("no data version"))
}

/// Reports whether the file is a copy that nobody has woken.
pub(super) fn is_asleep(connection: &Connection) -> Result<bool, StoreError> {
    let sql = "SELECT value FROM counts WHERE name = 'asleep'";
    Ok(one(connection, sql, [], |row| number(row, 0))?.is_some())
}

/// Returns the runs that have changed since, and the count of changes up to which that is all.
pub(super) fn changes(
    connection: &Connection,
    since: &Watermark,
) -> Result<(u64, Watermark, Vec<Hint>), StoreError> {
    let sql = "SELECT value FROM counts WHERE name = 'version'";
    let count = one(connection, sql, [], |row| number(row, 0))?
        .ok_or_else(|| damaged("the count of changes is gone"))?;
    let sql = format!(
        "SELECT run, seq, version FROM runs WHERE version > ?1 AND {NOT_JOURNAL} ORDER BY version LIMIT ?2"
    );
    // Who begins with nothing is told of every run.
    let limit = i64::try_from(MAX_PAGE).unwrap_or(i64::MAX);
    let found = rows(connection, &sql, [int(since.0), limit], |row| {
        let hint = Hint {
            run: row::run(row, 0)?,
            seq: number(row, 1)?,
        };
        Ok((number(row, 2)?, hint))
    })?;
    let last = found.last().filter(|_| found.len() == MAX_PAGE);
    let mark = last.map_or(count, |(version, _)| *version);
    let hints = found.into_iter().map(|(_, hint)| hint).collect();
    Ok((count, Watermark(mark), hints))
}

/// Returns when a blob was kept last.
pub(super) fn last_kept(connection: &Connection, hash: &Hash) -> Result<Option<u64>, StoreError> {
    let sql = "SELECT kept FROM blobs WHERE hash = ?1";
    one(connection, sql, [hash.as_bytes()], |row| number(row, 0))
}

/// Returns the blobs that nobody has kept since.
pub(super) fn idle(connection: &Connection, before: u64) -> Result<Vec<Hash>, StoreError> {
    let sql = "SELECT hash FROM blobs WHERE kept < ?1 ORDER BY hash";
    rows(connection, sql, [int(before)], |row| hash(row, 0))
}

pub(super) fn blob(connection: &Connection, hash: &Hash) -> Result<Vec<u8>, StoreError> {
    let sql = "SELECT bytes FROM blobs WHERE hash = ?1";
    one(connection, sql, [hash.as_bytes()], |row| get(row, 0))?.ok_or_else(|| {
        StoreError::NotFound {
            what: format!("blob {hash}"),
        }
    })
}

pub(super) fn fold(
    connection: &Connection,
    run: &RunId,
    upto: u64,
) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
    for table in ["folds", "older_folds"] {
        let sql = format!(
            "SELECT seq, bytes FROM {table} WHERE run = ?1 AND seq <= ?2 ORDER BY seq DESC LIMIT 1"
        );
        let found = one(connection, &sql, params![run.as_str(), int(upto)], |row| {
            Ok((number(row, 0)?, get(row, 1)?))
        })?;
        if found.is_some() {
            return Ok(found);
        }
    }
    extent(connection, run)?.ok_or_else(|| StoreError::missing_run(run))?;
    Ok(None)
}

/// Returns what was derived from a run's records.
pub(super) fn derived(connection: &Connection, run: &RunId) -> Result<Derived, StoreError> {
    let id = run.as_str();
    let sql = "SELECT seq, workflow, status, project, parent FROM runs WHERE run = ?1";
    let found = one(connection, sql, [id], |row| {
        Ok(Derived {
            seq: number(row, 0)?,
            workflow: get(row, 1)?,
            status: get(row, 2)?,
            project: get(row, 3)?,
            parent: get(row, 4)?,
            ..Derived::default()
        })
    })?;
    let timers = "SELECT due, name, seq FROM timers WHERE run = ?1 ORDER BY due, name, seq";
    let keys = "SELECT count(*) FROM keys WHERE run = ?1";
    let cached = "SELECT max(seq) FROM (SELECT seq FROM folds WHERE run = ?1
                  UNION ALL SELECT seq FROM older_folds WHERE run = ?1)";
    let cached = one(connection, cached, [id], |row| get::<Option<i64>>(row, 0))?;
    Ok(Derived {
        timers: rows(connection, timers, [id], |row| timer(row, 0))?,
        keys: one(connection, keys, [id], |row| number(row, 0))?.unwrap_or(0),
        cached: cached.flatten().map(i64::unsigned_abs),
        ..found.ok_or_else(|| StoreError::missing_run(run))?
    })
}

/// Most findings of the library about its own file. Why: the first ones say what is wrong.
const MAX_FINDINGS: usize = 10;

/// The greatest number that counts of a store come to.
///
/// Why: it takes longer than anybody has to count as far, and SQLite counts on as a fraction beyond its own greatest one.
const MAX_COUNT: u64 = 1 << 53;

/// The states of a run's row that no writer of ours leaves, as SQL and in words.
const ODD: [(&str, &str); 3] = [
    ("fence < 0 OR fence > ?1", "has a fence that no lease had"),
    (
        "lease_until < 0 OR (lease_owner IS NULL AND lease_until <> 0)",
        "has a lease of nobody",
    ),
    (
        "version < 1 OR version > (SELECT value FROM counts WHERE name = 'version')",
        "has changed at a time that is still to come",
    ),
];

/// Describes rows without a run, rows that no writer leaves so, and what the library finds.
pub(super) fn table_damage(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut damage = Vec::new();
    for table in ["records", "keys", "timers", "folds", "older_folds"] {
        let sql = format!(
            "SELECT run, count(*) FROM {table} WHERE run NOT IN (SELECT run FROM runs)
             GROUP BY run ORDER BY run LIMIT {MAX_FINDINGS}"
        );
        let orphans = rows(connection, &sql, [], |row| {
            Ok((get::<String>(row, 0)?, number(row, 1)?))
        })?;
        let orphans = orphans.into_iter().map(|(run, count)| {
            let plural = if count == 1 { "" } else { "s" };
            format!("run `{run}` isn't there, and `{table}` has {count} row{plural} of it")
        });
        damage.extend(orphans);
    }
    for (is_odd, what) in ODD {
        let sql = format!(
            "SELECT run FROM runs WHERE ?1 > 0 AND ({is_odd}) ORDER BY run LIMIT {MAX_FINDINGS}"
        );
        let odd = rows(connection, &sql, [int(MAX_COUNT)], |row| {
            get::<String>(row, 0)
        })?;
        damage.extend(odd.into_iter().map(|run| format!("run `{run}` {what}")));
    }
    let sql = "SELECT name FROM counts WHERE value < 0 OR value > ?1 ORDER BY name";
    let odd = rows(connection, sql, [int(MAX_COUNT)], |row| {
        get::<String>(row, 0)
    })?;
    let odd = odd.into_iter();
    damage.extend(odd.map(|name| format!("the count `{name}` is one that nobody counts to")));
    let sql = format!(
        "SELECT type, name FROM sqlite_schema WHERE type IN ('trigger', 'view')
         ORDER BY name LIMIT {MAX_FINDINGS}"
    );
    let foreign = rows(connection, &sql, [], |row| {
        Ok((get::<String>(row, 0)?, get::<String>(row, 1)?))
    })?;
    let foreign = foreign
        .into_iter()
        .map(|(kind, name)| format!("somebody has put a {kind} `{name}` into the file"));
    damage.extend(foreign);
    let sql = format!("PRAGMA integrity_check({MAX_FINDINGS})");
    let found = rows(connection, &sql, [], |row| get::<String>(row, 0))?;
    damage.extend(found.into_iter().filter(|line| line != "ok"));
    Ok(damage)
}
