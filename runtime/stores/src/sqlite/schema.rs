//! The tables, and how a file comes to have them.
//!
//! Everything begins with the run, nothing refers to a rowid, and no number is made by the database, so that a
//! distributed one can hold the same tables. Rows of records are only ever added.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::connection;
use super::error::{self, Doing as _};
use super::lock::WriterLock;
use statemark_runs::store::{FILE_MARK, StoreError};

/// The steps from each version of the tables to the next.
/// Stores are never downgraded.
const STEPS: [&str; 5] = [
    "
-- What lists, leases and watchers need of a run. `hash` is that of its last record; `version` counts changes of the store.
CREATE TABLE runs (
    run         TEXT    NOT NULL PRIMARY KEY,
    seq         INTEGER NOT NULL,
    hash        BLOB    NOT NULL,
    created     INTEGER NOT NULL,
    updated     INTEGER NOT NULL,
    forked_run  TEXT,
    forked_seq  INTEGER,
    workflow    TEXT    NOT NULL,
    status      TEXT    NOT NULL,
    project     TEXT,
    parent      TEXT,
    summary     TEXT    NOT NULL,
    fence       INTEGER NOT NULL,
    lease_owner TEXT,
    lease_until INTEGER NOT NULL,
    version     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_change  ON runs (updated, run);
CREATE INDEX runs_by_status  ON runs (status, updated, run);
CREATE INDEX runs_by_version ON runs (version);
CREATE INDEX runs_by_parent  ON runs (parent);
CREATE INDEX runs_by_origin  ON runs (forked_run);

-- The journals. Of a fork only what it doesn't share.
CREATE TABLE records (
    run     TEXT    NOT NULL,
    seq     INTEGER NOT NULL,
    time    INTEGER NOT NULL,
    kind    TEXT    NOT NULL,
    v       INTEGER NOT NULL,
    role    TEXT    NOT NULL,
    name    TEXT,
    session TEXT,
    key     TEXT,
    body    TEXT    NOT NULL,
    prev    BLOB    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- What was done under which key.
CREATE TABLE keys (
    run       TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    request   BLOB    NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq  INTEGER NOT NULL,
    PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;

-- What is still to come. `claimed` is until when somebody has it, or 0.
CREATE TABLE timers (
    run     TEXT    NOT NULL,
    due     INTEGER NOT NULL,
    name    TEXT    NOT NULL,
    seq     INTEGER NOT NULL,
    claimed INTEGER NOT NULL,
    PRIMARY KEY (run, due, name, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX timers_by_due ON timers (due, name, seq, run);

CREATE TABLE folds (
    run   TEXT    NOT NULL PRIMARY KEY,
    seq   INTEGER NOT NULL,
    bytes BLOB    NOT NULL
) STRICT;

CREATE TABLE blobs (
    hash  BLOB NOT NULL PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT;

-- How many changes the store has seen: one row.
CREATE TABLE counts (
    name  TEXT    NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counts (name, value) VALUES ('version', 0);
",
    "
-- When somebody has kept a blob last: one that is about to be named mustn't be swept away.
ALTER TABLE blobs ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
",
    // The text is `REQUESTS_MARK`, which lists ask for in the same words.
    r#"
CREATE INDEX runs_by_workflow ON runs (workflow, status, updated, run);
CREATE INDEX runs_by_request  ON runs (updated, run) WHERE instr(summary, '"requests":[') > 0;
"#,
    "
-- The folds of a run before its newest one.
CREATE TABLE older_folds (
    run   TEXT    NOT NULL,
    seq   INTEGER NOT NULL,
    bytes BLOB    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT;
",
    "
-- How many runs there are, the store's journal included: one whose row is removed by hand is missed.
INSERT OR REPLACE INTO counts (name, value) SELECT 'runs', count(*) FROM runs;
",
];

/// Gives the file the tables that this version knows.
///
/// # Errors
///
/// [`StoreError::SchemaTooNew`]; [`StoreError::Failed`] if it is another program's.
pub(super) fn bring_up(
    connection: &mut Connection,
    lock: &mut WriterLock,
) -> Result<(), StoreError> {
    if seen_version(connection)? == STEPS.len() && connection::uses_log(connection)? {
        return Ok(());
    }
    lock.enter()?;
    connection::use_log(connection)?;
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .doing("making the tables")?;
    // Another process may have been quicker.
    let from = version(&transaction)?;
    for (step, to) in STEPS.iter().zip(1_i32..).skip(from) {
        let mark =
            format!("{step}; PRAGMA application_id = {FILE_MARK}; PRAGMA user_version = {to};");
        transaction
            .execute_batch(&mark)
            .doing("making the tables")?;
    }
    transaction.commit().doing("making the tables")?;
    lock.leave();
    Ok(())
}

/// Returns the version of the tables at one moment, whatever others do meanwhile.
fn seen_version(connection: &mut Connection) -> Result<usize, StoreError> {
    let transaction = connection.transaction().doing("opening the store")?;
    let version = version(&transaction)?;
    transaction.finish().doing("opening the store")?;
    Ok(version)
}

/// Returns the version of the tables in a file: zero if it has none.
///
/// It takes several reads. Why a transaction: between two of them another process may have made the tables, and a file
/// that has tables and no mark of ours is another program's.
fn version(connection: &Transaction<'_>) -> Result<usize, StoreError> {
    let number = |sql: &str| {
        connection
            .query_row(sql, [], |row| row.get::<_, i32>(0))
            .doing("reading the store's version")
    };
    let (application, found) = (
        number("PRAGMA application_id")?,
        number("PRAGMA user_version")?,
    );
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    if application != FILE_MARK && (application != 0 || found != 0 || tables != 0) {
        let what = "the file is another program's database".to_owned();
        return Err(error::refused(what));
    }
    let known = STEPS.len();
    match usize::try_from(found) {
        Ok(found) if found <= known => Ok(found),
        _ => Err(StoreError::SchemaTooNew {
            found: u32::try_from(found).unwrap_or(u32::MAX),
            known: u32::try_from(known).unwrap_or(u32::MAX),
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Barrier;
    use std::time::Duration;

    use super::super::files;
    use super::*;

    fn make(path: &Path) -> Result<(), StoreError> {
        let mut lock = WriterLock::new(path, Duration::from_secs(10))?;
        bring_up(&mut connection::writer(path)?, &mut lock)
    }

    /// A process that looks all the time sees a file without tables or one with all of them, while another makes them.
    #[test]
    fn a_file_is_new_or_a_store_at_every_moment() {
        let scratch = files::Scratch::new("schema");
        for round in 0..20 {
            let path = scratch.0.join(format!("{round}.db"));
            files::prepare(&path).unwrap();
            let mut connection = connection::reader(&path).unwrap();
            let barrier = Barrier::new(2);
            std::thread::scope(|scope| {
                let maker = scope.spawn(|| {
                    barrier.wait();
                    make(&path)
                });
                barrier.wait();
                loop {
                    let is_made = maker.is_finished();
                    match seen_version(&mut connection).unwrap() {
                        0 => assert!(!is_made, "the tables aren't seen"),
                        version => break assert_eq!(version, STEPS.len()),
                    }
                }
                maker.join().unwrap().unwrap();
            });
        }
    }
}
