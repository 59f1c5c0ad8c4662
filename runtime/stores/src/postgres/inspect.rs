//! Reading of derived rows, to be compared with records.

use super::error::Failure;
use super::row;
use super::session::Session;
use super::timer::NOW;
use statemark_runs::RunId;
use statemark_runs::store::{Derived, PendingTimer};

/// The tables with rows of runs and of blobs.
const TABLES: [&str; 7] = [
    "runs",
    "records",
    "keys",
    "timers",
    "folds",
    "older_folds",
    "blobs",
];

/// Most runs with leftover rows that are reported of a table. Why: the first ones say what is wrong.
const MAX_FINDINGS: usize = 10;

/// Returns what was derived from a run's records.
pub(super) async fn derived(session: &Session, run: &RunId) -> Result<Derived, Failure> {
    let id = run.as_str();
    let sql = "SELECT seq, workflow, status, project, parent FROM statemark_runs WHERE run = $1";
    let found = session.query(sql, &[&id]).await?;
    let found = found.first().ok_or_else(|| row::no_run(run))?;
    let sql = "SELECT due, name, seq FROM statemark_timers WHERE run = $1 ORDER BY due, name, seq";
    let timers = session.query(sql, &[&id]).await?;
    let timers = timers.iter().map(|timer| {
        Ok(PendingTimer {
            due: row::number(timer, 0)?,
            name: timer.try_get(1)?,
            seq: row::number(timer, 2)?,
        })
    });
    let timers = timers.collect::<Result<Vec<_>, Failure>>()?;
    let sql = "SELECT count(*) FROM statemark_keys WHERE run = $1";
    let keys = session.query(sql, &[&id]).await?;
    let keys = keys
        .first()
        .map(|count| row::number(count, 0))
        .transpose()?;
    let sql = "SELECT max(seq) FROM (SELECT seq FROM statemark_folds WHERE run = $1
        UNION ALL SELECT seq FROM statemark_older_folds WHERE run = $1) AS caches";
    let cached = session.query(sql, &[&id]).await?;
    let cached: Option<i64> = match cached.first() {
        Some(newest) => newest.try_get(0)?,
        None => None,
    };
    // Who finds another end than the one that it knows compares nothing: the run has gone on in between.
    let last = session
        .query("SELECT seq FROM statemark_runs WHERE run = $1", &[&id])
        .await?;
    let last = last.first().ok_or_else(|| row::no_run(run))?;
    let (before, after) = (row::number(found, 0)?, row::number(last, 0)?);
    Ok(Derived {
        seq: before.max(after),
        workflow: found.try_get(1)?,
        status: found.try_get(2)?,
        project: found.try_get(3)?,
        parent: found.try_get(4)?,
        timers,
        keys: keys.unwrap_or(0),
        cached: cached.map(i64::unsigned_abs),
    })
}

/// Describes rows whose run isn't there, and those of runs that no writer leaves so.
pub(super) async fn orphans(session: &Session) -> Result<Vec<String>, Failure> {
    let mut damage = Vec::new();
    for table in ["records", "keys", "timers", "folds", "older_folds"] {
        let sql = format!(
            "SELECT run, count(*) FROM statemark_{table} AS part
                WHERE NOT EXISTS (SELECT 1 FROM statemark_runs WHERE run = part.run)
                GROUP BY run ORDER BY run LIMIT {MAX_FINDINGS}"
        );
        for found in &session.query(&sql, &[]).await? {
            let (run, count): (&str, i64) = (found.try_get(0)?, found.try_get(1)?);
            let plural = if count == 1 { "" } else { "s" };
            damage.push(format!(
                "run `{run}` isn't there, and `{table}` has {count} row{plural} of it"
            ));
        }
    }
    for (is_odd, what) in [
        (
            "fence < 0 OR fence > (1::int8 << 62)",
            "has a fence that no lease had",
        ),
        (
            "lease_until < 0 OR (lease_owner IS NULL AND lease_until <> 0)",
            "has a lease of nobody",
        ),
        (
            "changed > clock.now * 1000 + 3600000000",
            "was changed at a time that hasn't come: watchers of the store skip what comes before it",
        ),
    ] {
        let sql = format!(
            "SELECT run FROM statemark_runs, (SELECT {NOW} AS now) AS clock
                WHERE {is_odd} ORDER BY run LIMIT {MAX_FINDINGS}"
        );
        for found in &session.query(&sql, &[&None::<i64>]).await? {
            let run: &str = found.try_get(0)?;
            damage.push(format!("run `{run}` {what}"));
        }
    }
    let sql = format!(
        "SELECT part.run, runs.seq, count(*) FROM statemark_records AS part
            JOIN statemark_runs AS runs ON runs.run = part.run WHERE part.seq > runs.seq
            GROUP BY part.run, runs.seq ORDER BY part.run LIMIT {MAX_FINDINGS}"
    );
    for found in &session.query(&sql, &[]).await? {
        let (run, last): (&str, i64) = (found.try_get(0)?, found.try_get(1)?);
        let count: i64 = found.try_get(2)?;
        damage.push(format!(
            "run `{run}` ends with record {last}, and {count} stand after it"
        ));
    }
    damage.extend(foreign_parts(session).await?);
    Ok(damage)
}

/// Describes what does something else with our tables than what is asked.
///
/// They are triggers, rules, and views in a table's place. A table without its key lets two writers be first.
async fn foreign_parts(session: &Session) -> Result<Vec<String>, Failure> {
    let mut parts = Vec::new();
    for (kind, sql) in [
        (
            "trigger",
            "SELECT DISTINCT trigger_name::text, event_object_table::text FROM information_schema.triggers
                WHERE event_object_schema = current_schema() AND event_object_table LIKE 'statemark%'",
        ),
        (
            "view",
            "SELECT table_name::text, table_name::text FROM information_schema.views
                WHERE table_schema = current_schema() AND table_name LIKE 'statemark%'",
        ),
        // Only PostgreSQL itself has rules, and this list of them.
        (
            "rule",
            "SELECT rulename::text, tablename::text FROM pg_rules
                WHERE schemaname = current_schema() AND tablename LIKE 'statemark%'",
        ),
    ] {
        let found = match session.query(sql, &[]).await {
            Err(Failure::Refused(_)) if kind == "rule" => continue,
            found => found?,
        };
        for part in &found {
            let (name, table): (&str, &str) = (part.try_get(0)?, part.try_get(1)?);
            parts.push(format!("the {kind} `{name}` on `{table}` isn't ours"));
        }
    }
    let keyless = "SELECT name FROM unnest($1::text[]) AS name WHERE NOT EXISTS (
        SELECT 1 FROM information_schema.table_constraints
            WHERE constraint_type = 'PRIMARY KEY' AND table_schema = current_schema() AND table_name = name)";
    let tables: Vec<String> = TABLES.iter().map(|it| format!("statemark_{it}")).collect();
    for found in &session.query(keyless, &[&tables]).await? {
        let table: &str = found.try_get(0)?;
        parts.push(format!("`{table}` has no primary key"));
    }
    parts.sort();
    Ok(parts)
}
